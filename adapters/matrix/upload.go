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

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/lru"
)

const (
	uploadsMost  = 64                     // at once
	uploadAgain  = 500 * time.Millisecond // before a failed one is tried again
	uploadsKnown = 512                    // results that are remembered
)

// errUploading is the error of a file that is not there yet: its upload takes
// long, or uploads fail. It says nothing of whether the bot may write messages.
var errUploading = errors.New("file not uploaded yet")

// uploads remembers what was uploaded and is being uploaded.
type uploads struct {
	asked sync.Map                            // rooms of which it was asked whether they are encrypted
	known *lru.Cache[string, message.Picture] // what was uploaded, by room, name and contents

	mu    sync.Mutex
	lines map[string]*upload // under way: one in each line
	until time.Time          // before that the homeserver wants none
}

// An upload is one that is under way.
type upload struct {
	key     string
	done    chan struct{} // closed when the rest is known
	picture message.Picture
	err     error
}

// begin returns the upload for which to wait: of a line that which is under way,
// which may be another one, or a new one; nil if there are too many, or the homeserver
// has asked to wait. An upload whose result is remembered is done already.
func (u *uploads) begin(line, key string, run func() (message.Picture, error)) *upload {
	u.mu.Lock()
	defer u.mu.Unlock()
	fresh := &upload{key: key, done: make(chan struct{})}
	if p, ok := u.known.Get(key); ok {
		fresh.picture = p
		close(fresh.done)
		return fresh
	}
	if under := u.lines[line]; under != nil {
		return under
	}
	if len(u.lines) >= uploadsMost || time.Now().Before(u.until) {
		return nil
	}
	u.lines[line] = fresh
	go func() {
		fresh.picture, fresh.err = run()
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.lines, line)
		if fresh.err == nil {
			u.known.Add(key, fresh.picture)
		} else if wait := retry.After(fresh.err); wait > 0 {
			u.until = time.Now().Add(wait)
		}
		close(fresh.done)
	}()
	return fresh
}

// upload uploads a file, encrypted if the room is, and waits for it a while. A slow upload
// continues in the background; a failed one is tried again once, and then left to the
// outbox. In a line, a game's in a channel, one upload runs at a time. No file is uploaded
// twice.
func (a *Adapter) upload(ctx context.Context, dev *device.Device, at id.RoomID, line string, file *outbox.File) (message.Picture, error) {
	secret, err := a.lastEncrypted(ctx, dev, at)
	if err != nil {
		return message.Picture{}, fmt.Errorf("read the room's encryption: %w", err)
	}
	if secret && dev.Crypto == nil {
		return message.Picture{}, e2ee.ErrOff
	}
	key := fmt.Sprintf("%s %v %s %x", at, secret, file.Name, sha256.Sum256(file.Data))
	run := func() (p message.Picture, err error) {
		err = errors.New("panicked")
		a.guarded("upload", func() { p, err = uploadNow(a.asking(), dev, secret, file.Name, file.Type, file.Data) })
		if err != nil && a.asking().Err() == nil {
			a.log.Warn("upload failed, will retry", "room", at, "name", file.Name, "error", err)
		}
		return p, err
	}
	limited, cancel := context.WithTimeout(ctx, a.cfg.Slow)
	defer cancel()
	for failed := false; limited.Err() == nil; {
		under := a.uploads.begin(line, key, run)
		if under == nil {
			break
		}
		select {
		case <-under.done:
		case <-limited.Done():
			continue
		}
		wait := max(uploadAgain, retry.After(under.err))
		switch stopped := a.asking().Err(); {
		case under.key != key: // another of the line: it is this one's turn now
		case under.err == nil, tooLarge(under.err):
			return under.picture, under.err
		case stopped != nil: // the board comes with its picture after the restart
			return message.Picture{}, stopped
		case failed, wait > a.cfg.Slow/2:
			return message.Picture{}, errUploading
		default:
			failed = true
			backoff.Sleep(limited, wait)
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
