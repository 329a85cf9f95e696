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
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
)

// When to look again whether an upload is done that takes long, how many there
// may be at once, and how long there are none after one has failed: the longer
// the more often, unless the homeserver says how long.
const (
	uploadAgain = 500 * time.Millisecond
	uploadsMost = 64
	uploadRest  = time.Minute
)

// errUploading is the error of a file that is not there yet: its upload takes
// long, has failed and will be tried again, or waits for others. It says nothing
// of whether the bot may write messages.
var errUploading = errors.New("the file is not uploaded yet")

// upload uploads a file, encrypted if the room is, and waits for it a while. Of
// the uploads of one line only the newest counts; see [uploads.begin].
func (a *Adapter) upload(ctx context.Context, dev *device.Device, at id.RoomID, line, key string, file *bot.File) (message.Picture, error) {
	f, err := a.uploading(ctx, dev, at, line, key, file)
	if err != nil {
		return message.Picture{}, err
	}
	timer := time.NewTimer(a.cfg.Slow / 2)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
	case <-ctx.Done():
		return message.Picture{}, ctx.Err()
	}
	return f.result()
}

// uploading begins to upload a file. What was uploaded for the same post before
// is not uploaded again; what takes long goes on meanwhile.
func (a *Adapter) uploading(ctx context.Context, dev *device.Device, at id.RoomID, line, key string, file *bot.File) (*flight, error) {
	secret, err := a.lastEncrypted(ctx, dev, at)
	if err != nil {
		return nil, fmt.Errorf("ask whether the room is encrypted: %w", err)
	}
	if secret && dev.Crypto == nil {
		return nil, e2ee.ErrOff
	}
	sum := sha256.Sum256(file.Data)
	f := &flight{key: fmt.Sprintf("%s %v %x", key, secret, sum[:8]), done: make(chan struct{})}
	f.fly = func() {
		f.err = errors.New("panicked")
		a.guarded("upload", func() { f.picture, f.err = uploadNow(a.asking(), dev, secret, file.Name, file.Type, file.Data) })
		if rests := a.sends.landed(f.err, a.cfg.Now()); rests > 0 && a.asking().Err() == nil {
			a.log.Warn("a file could not be uploaded", "room", at, "error", f.err, "again", rests)
		}
	}
	if begun := a.sends.begin(line, f, a.cfg.Now()); begun != nil {
		return begun, nil
	}
	return nil, errUploading
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

// tooLarge reports whether the homeserver takes nothing of that size.
func tooLarge(err error) bool {
	var e mautrix.HTTPError
	return errors.Is(err, mautrix.MTooLarge) || errors.As(err, &e) && e.IsStatus(http.StatusRequestEntityTooLarge)
}

// A flight is an upload: one that waits, is under way, or is done.
type flight struct {
	key     string
	fly     func()        // uploads; nil once it is done
	done    chan struct{} // closed when the rest is known
	picture message.Picture
	err     error
}

// result gives what was uploaded. The error is errUploading unless there is no
// point in trying again.
func (f *flight) result() (message.Picture, error) {
	select {
	case <-f.done:
	default:
		return message.Picture{}, errUploading
	}
	if f.err != nil && !tooLarge(f.err) {
		return message.Picture{}, errUploading
	}
	return f.picture, f.err
}

// uploads remembers what was uploaded and is being uploaded, and what could not
// be sent.
type uploads struct {
	asked sync.Map // rooms of which it was asked whether they are encrypted

	mu      sync.Mutex
	flights map[string]*flight   // by their keys
	lines   map[string]*flight   // what waits in each line in which something is under way; may be nil
	rests   time.Duration        // for how long nothing was uploaded after the last failure
	ground  time.Time            // before that nothing is uploaded
	refused map[string]bool      // posts whose last attempt the homeserver has refused
	since   map[string]time.Time // since when nothing can be shown of a game, by channel and root
	told    map[string]bool      // and that this has been said
	began   map[string]time.Time // when the first attempt of a post began to upload
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

// begin begins an upload, and gives the one that is to be waited for: if the same
// was begun before, that. In a line one is under way at a time and one waits, the
// newest: what waited before is given up. It gives nil if nothing is to be uploaded
// now; see [uploads.grounded].
func (u *uploads) begin(line string, f *flight, now time.Time) *flight {
	u.mu.Lock()
	defer u.mu.Unlock()
	if was := u.flights[f.key]; was != nil {
		return was
	}
	if u.notBefore(line, now) > 0 {
		return nil
	}
	waits, busy := u.lines[line]
	if len(u.flights) >= remembered {
		maps.DeleteFunc(u.flights, func(_ string, f *flight) bool { return f.fly == nil })
	}
	if u.flights == nil {
		u.flights, u.lines = map[string]*flight{}, map[string]*flight{}
	}
	u.flights[f.key] = f
	if busy {
		u.lines[line] = f
		u.end(waits, errUploading)
		return f
	}
	u.lines[line] = nil
	go u.fly(line, f)
	return f
}

// grounded says for how long nothing is to be uploaded in a line; 0: it may be now.
// There may be too many, or the last has failed: then one alone is tried.
func (u *uploads) grounded(line string, now time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.notBefore(line, now)
}

func (u *uploads) notBefore(line string, now time.Time) time.Duration {
	if now.Before(u.ground) {
		return u.ground.Sub(now)
	}
	most := uploadsMost
	if u.rests > 0 {
		most = 1
	}
	if _, busy := u.lines[line]; !busy && len(u.lines) >= most {
		return time.Second
	}
	return 0
}

// fly uploads what there is in a line, one after the other.
func (u *uploads) fly(line string, f *flight) {
	for f != nil {
		f.fly()
		u.mu.Lock()
		failed := f.err != nil && !tooLarge(f.err)
		u.end(f, f.err)
		next := u.lines[line]
		if failed { // it would fail too
			u.end(next, errUploading)
			next = nil
		}
		if f = next; f == nil {
			delete(u.lines, line)
		} else {
			u.lines[line] = nil
		}
		u.mu.Unlock()
	}
}

// end ends an upload. One that has failed may be begun anew.
func (u *uploads) end(f *flight, err error) {
	if f == nil {
		return
	}
	if f.err, f.fly = err, nil; err != nil {
		delete(u.flights, f.key)
	}
	close(f.done)
}

// landed takes note of what came of an upload, and gives for how long there are
// none if it is the first failure for some time that may befall others too.
func (u *uploads) landed(err error, now time.Time) (rests time.Duration) {
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

// slow reports whether a post has waited for its picture so long that its words
// are to go before, or would have to: nobody waits for what has just failed.
func (u *uploads) slow(post string, now time.Time, after time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	began, ok := u.began[post]
	if !ok {
		more(&u.began)
		u.began[post], began = now, now
	}
	return max(now.Sub(began), u.ground.Sub(now)) >= after/2 // the first attempt has waited as long
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
func (u *uploads) done(post, channel, root string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.since, channel+" "+root)
	delete(u.refused, post)
	delete(u.began, post)
}

// late reports whether nothing could be shown of a game for so long that people
// wonder.
func (u *uploads) late(channel, root string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	since, waits := u.since[channel+" "+root]
	return waits && now.Sub(since) > lateAfter
}
