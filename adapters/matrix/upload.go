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
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
)

// When to look again whether an upload is done that takes long, and how many
// there may be at once.
const (
	uploadAgain = 500 * time.Millisecond
	uploadsMost = 64
)

// errUploading is the error of a file that is still being uploaded.
var errUploading = errors.New("the file is still being uploaded")

// upload uploads a file, encrypted if the room is. What was uploaded for the
// same post before is not uploaded again; what takes long goes on meanwhile.
func (a *Adapter) upload(ctx context.Context, dev *device.Device, at id.RoomID, key, name, kind string, data []byte) (message.Picture, error) {
	secret, err := a.lastEncrypted(ctx, dev, at)
	if err != nil {
		return message.Picture{}, fmt.Errorf("ask whether the room is encrypted: %w", err)
	}
	if secret && dev.Crypto == nil {
		return message.Picture{}, e2ee.ErrOff
	}
	sum := sha256.Sum256(data)
	whole := fmt.Sprintf("%s %v %x", key, secret, sum[:8])
	f, fresh := a.sends.flight(key, whole)
	switch {
	case f == nil:
		return message.Picture{}, errUploading
	case fresh:
		go func() {
			a.guarded("upload", func() {
				f.err = errors.New("panicked")
				f.picture, f.err = uploadNow(a.asking(), dev, secret, name, kind, data)
			})
			a.sends.landed(whole, f)
		}()
	}
	timer := time.NewTimer(a.cfg.Slow / 2)
	defer timer.Stop()
	select {
	case <-f.done:
		return f.picture, f.err
	case <-timer.C:
		return message.Picture{}, errUploading
	case <-ctx.Done():
		return message.Picture{}, ctx.Err()
	}
}

// lastEncrypted reports whether a room is encrypted, as far as is known by now:
// the homeserver is asked once. Before the message is sent it is asked again, and
// what was uploaded in the clear is not shown in a room that is encrypted.
func (a *Adapter) lastEncrypted(ctx context.Context, dev *device.Device, at id.RoomID) (bool, error) {
	if _, asked := a.sends.asked.Load(at); asked {
		return dev.State.IsEncrypted(ctx, at)
	}
	is, err := a.encrypted(ctx, dev, at)
	if err == nil {
		a.sends.asked.Store(at, true)
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

// A flight is an upload under way.
type flight struct {
	post    string
	done    chan struct{} // closed when the rest is known
	picture message.Picture
	err     error
	then    func(message.Picture) // may be nil
}

// uploads remembers what was uploaded and is being uploaded, what of each game
// was shown, and what could not be sent.
type uploads struct {
	asked sync.Map // rooms of which it was asked whether they are encrypted

	mu      sync.Mutex
	flights map[string]*flight
	refused map[string]bool      // posts whose last attempt the homeserver has refused
	since   map[string]time.Time // since when nothing can be shown of a game, by channel and root
	told    map[string]bool      // and that this has been said
	began   map[string]time.Time // when the first attempt of a post began to upload
	shown   map[string]int       // by channel and root
	until   time.Time            // before that nothing is to be sent
}

// lateAfter is when a board is late.
const lateAfter = time.Minute

// remembered is how many of each are.
const remembered = 512

// more makes room for one more in a map.
func more[K comparable, V any](m *map[K]V) {
	if *m == nil || len(*m) >= remembered {
		*m = map[K]V{}
	}
}

// flight gives the upload of a file of a post, nil if there are too many. A fresh
// one is to be begun.
func (u *uploads) flight(post, key string) (f *flight, fresh bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if f := u.flights[key]; f != nil {
		return f, false
	}
	flying := 0
	for k, f := range u.flights {
		select {
		case <-f.done:
			if len(u.flights) >= remembered {
				delete(u.flights, k)
			}
		default:
			flying++
		}
	}
	if flying >= uploadsMost {
		return nil, false
	}
	if u.flights == nil {
		u.flights = map[string]*flight{}
	}
	f = &flight{post: post, done: make(chan struct{})}
	u.flights[key] = f
	return f, true
}

// landed ends an upload. One that has failed may be begun anew.
func (u *uploads) landed(key string, f *flight) {
	u.mu.Lock()
	if f.err != nil {
		delete(u.flights, key)
	}
	then := f.then
	u.mu.Unlock()
	close(f.done)
	if then != nil && f.err == nil {
		then(f.picture)
	}
}

// follow has something done with the picture of a post once it is uploaded.
func (u *uploads) follow(post string, then func(message.Picture)) {
	u.mu.Lock()
	var landed *flight
	for _, f := range u.flights {
		if f.post != post {
			continue
		}
		f.then = then
		select {
		case <-f.done:
			landed = f
		default:
		}
	}
	u.mu.Unlock()
	if landed != nil {
		then(landed.picture)
	}
}

// slow reports whether a post has waited for its picture so long that its words
// are to go before.
func (u *uploads) slow(post string, now time.Time, after time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	began, ok := u.began[post]
	if !ok {
		more(&u.began)
		u.began[post], began = now, now
	}
	return now.Sub(began) >= after/2 // the first attempt has waited as long
}

// hold has nothing sent before a time, and wait says how long that still is.
func (u *uploads) hold(until time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if until.After(u.until) {
		u.until = until
	}
}

func (u *uploads) wait(now time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return max(0, u.until.Sub(now))
}

// refuse takes note that a post was not sent at the last attempt, and unsent says
// so.
func (u *uploads) refuse(post string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	more(&u.refused)
	u.refused[post] = true
}

func (u *uploads) unsent(post string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused[post]
}

// perhaps takes note that it is not known whether a post was sent.
func (u *uploads) perhaps(post string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.refused, post)
}

// failed takes note that nothing can be shown of a game, and gives for how long
// that has been so, if it is long and has not been said before.
func (u *uploads) failed(channel, root string, now time.Time) (late time.Duration, tell bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := channel + " " + root
	since, waits := u.since[key]
	if !waits {
		more(&u.since)
		more(&u.told)
		u.since[key], u.told[key] = now, false
		return 0, false
	}
	if late = now.Sub(since); late <= lateAfter || u.told[key] {
		return late, false
	}
	u.told[key] = true
	return late, true
}

// done takes note that a post was sent.
func (u *uploads) done(post, channel, root string, seq int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.since, channel+" "+root)
	delete(u.refused, post)
	delete(u.began, post)
	more(&u.shown)
	u.shown[channel+" "+root] = seq
}

// newest reports whether nothing newer of a game has been shown.
func (u *uploads) newest(channel, root string, seq int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.shown[channel+" "+root] <= seq
}

// late reports whether nothing could be shown of a game for so long that people
// wonder.
func (u *uploads) late(channel, root string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	since, waits := u.since[channel+" "+root]
	return waits && now.Sub(since) > lateAfter
}
