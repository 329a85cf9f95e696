package matrix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // for the size of what is shown
	"image/png"
	"net/http"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// How many uploads there may be at once, and how long there are none after one has
// failed, the longer the more often, unless the homeserver says how long.
const (
	uploadsMost  = 64
	uploadAgain  = 500 * time.Millisecond
	uploadRest   = time.Minute
	uploadsKnown = 512 // results that are remembered
)

// errUploading is the error of a file that is not there yet: its upload takes
// long, or uploads fail. It says nothing of whether the bot may write messages.
var errUploading = errors.New("the file is not uploaded yet")

// uploads remembers what was uploaded and is being uploaded.
type uploads struct {
	asked sync.Map                            // rooms of which it was asked whether they are encrypted
	known *lru.Cache[string, message.Picture] // what was uploaded, by room, name and contents

	mu     sync.Mutex
	lines  map[string]*upload // under way: one in each line
	rests  time.Duration      // for how long nothing was uploaded after the last failure
	ground time.Time          // before that nothing is uploaded
}

// An upload is one that is under way.
type upload struct {
	key     string
	done    chan struct{} // closed when the rest is known
	picture message.Picture
	err     error
}

func newUploads() *uploads {
	known, err := lru.New[string, message.Picture](uploadsKnown)
	if err != nil {
		panic(err)
	}
	return &uploads{known: known, lines: map[string]*upload{}}
}

// begin returns what was uploaded, or else the upload for which to wait: of a line
// that which is under way, which may be another one, or a new one. If nothing is to
// be uploaded now it returns for how long.
func (u *uploads) begin(line, key string, now time.Time, run func() (message.Picture, error)) (known *message.Picture, under *upload, wait time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if p, ok := u.known.Get(key); ok {
		return &p, nil, 0
	}
	if under := u.lines[line]; under != nil {
		return nil, under, 0
	}
	most := uploadsMost
	if u.rests > 0 { // the last has failed: one alone is tried
		most = 1
	}
	switch {
	case now.Before(u.ground):
		return nil, nil, u.ground.Sub(now)
	case len(u.lines) >= most:
		return nil, nil, uploadAgain
	}
	under = &upload{key: key, done: make(chan struct{}), err: errors.New("panicked")}
	u.lines[line] = under
	go func() {
		defer u.end(line, under)
		under.picture, under.err = run()
	}()
	return nil, under, 0
}

func (u *uploads) end(line string, under *upload) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.lines, line)
	if under.err == nil {
		u.known.Add(under.key, under.picture)
	}
	close(under.done)
}

// ended takes note of what came of an upload, and returns for how long there are
// none if it is the first failure for some time that may befall others too.
func (u *uploads) ended(err error, now time.Time) (rests time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil || tooLarge(err) {
		u.rests, u.ground = 0, time.Time{}
		return 0
	}
	if !now.Before(u.ground) { // else it was begun before the last one failed
		u.rests = min(max(2*u.rests, uploadAgain), uploadRest)
		rests = max(u.rests, retryAfter(err))
	}
	if until := now.Add(max(rests, retryAfter(err))); until.After(u.ground) {
		u.ground = until
	}
	return rests
}

// rest returns for how long nothing is uploaded.
func (u *uploads) rest(now time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return max(0, u.ground.Sub(now))
}

// upload uploads a file, encrypted if the room is, and waits for it a while: half as
// long if uploads fail. What takes long goes on meanwhile. In a line, a game's in a
// channel, one upload is under way at a time. What was uploaded is not uploaded again.
func (a *Adapter) upload(ctx context.Context, dev *device.Device, at id.RoomID, line string, file *outbox.File) (message.Picture, error) {
	secret, err := a.lastEncrypted(ctx, dev, at)
	if err != nil {
		return message.Picture{}, fmt.Errorf("ask whether the room is encrypted: %w", err)
	}
	if secret && dev.Crypto == nil {
		return message.Picture{}, e2ee.ErrOff
	}
	key := fmt.Sprintf("%s %v %s %x", at, secret, file.Name, sha256.Sum256(file.Data))
	run := func() (p message.Picture, err error) {
		err = errors.New("panicked")
		a.guarded("upload", func() { p, err = uploadNow(a.asking(), dev, secret, file.Name, file.Type, file.Data) })
		if rests := a.uploads.ended(err, a.cfg.Now()); rests > 0 && a.asking().Err() == nil {
			a.log.Warn("a file could not be uploaded", "room", at, "error", err, "again", rests)
		}
		return p, err
	}
	began := a.cfg.Now()
	limited, cancel := context.WithTimeout(ctx, a.cfg.Slow)
	defer cancel()
	for limited.Err() == nil {
		known, under, wait := a.uploads.begin(line, key, a.cfg.Now(), run)
		switch {
		case known != nil:
			return *known, nil
		case under == nil && a.cfg.Now().Sub(began)+wait >= a.cfg.Slow/2:
			return message.Picture{}, errUploading
		case under == nil:
			pause(limited, wait)
			continue
		}
		select {
		case <-under.done:
			if under.key == key && tooLarge(under.err) {
				return message.Picture{}, under.err
			}
		case <-limited.Done():
		}
	}
	if ctx.Err() != nil {
		return message.Picture{}, ctx.Err()
	}
	return message.Picture{}, errUploading
}

// lastEncrypted reports whether a room is encrypted, as far as is known by now:
// the homeserver is asked once. Before the message is sent it is asked again, and
// what was uploaded in the clear is not shown in a room that is encrypted.
func (a *Adapter) lastEncrypted(ctx context.Context, dev *device.Device, at id.RoomID) (bool, error) {
	if _, asked := a.uploads.asked.Load(at); asked {
		return dev.State.IsEncrypted(ctx, at)
	}
	is, err := a.encrypted(ctx, dev, at)
	if err == nil {
		a.uploads.asked.Store(at, true)
	}
	return is, err
}

func uploadNow(ctx context.Context, dev *device.Device, secret bool, name, kind string, data []byte) (message.Picture, error) {
	p := message.Picture{Name: name, Type: kind, Size: len(data)}
	if strings.HasPrefix(kind, "image/") {
		if kind == "image/png" {
			if img, err := png.Decode(bytes.NewReader(data)); err == nil {
				p.W, p.H, p.Blurhash = img.Bounds().Dx(), img.Bounds().Dy(), message.Blurhash(img)
			}
		} else if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			p.W, p.H = c.Width, c.Height
		}
	}
	if secret {
		data, p.File = e2ee.EncryptFile(data)
		kind, name = "application/octet-stream", ""
	}
	ctx, cancel := context.WithTimeout(ctx, uploadFor)
	defer cancel()
	up, err := dev.Client.UploadBytesWithName(ctx, data, kind, name)
	if err != nil {
		return p, err
	}
	if p.File != nil {
		p.File.URL = up.ContentURI.CUString()
	} else {
		p.URL = up.ContentURI.CUString()
	}
	return p, nil
}

// tooLarge reports whether the homeserver takes nothing of that size.
func tooLarge(err error) bool {
	var e mautrix.HTTPError
	return errors.Is(err, mautrix.MTooLarge) || errors.As(err, &e) && e.IsStatus(http.StatusRequestEntityTooLarge)
}
