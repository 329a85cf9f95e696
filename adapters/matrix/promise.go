package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
)

// A promise is a picture, or another file, that is to follow words that were sent
// without it because it could not be uploaded in time. It is kept when it can be,
// unless a newer board makes it pointless.
//
// Those of boards are on disk: of each game in a channel the newest, which is
// drawn again after a restart. Other files, which may hold names, are not: they
// can be asked for again.
type promise struct {
	Room    id.RoomID
	Root    id.EventID // of the thread
	Post    string     // whose words they are
	Channel string     // as the bot knows the room
	Game    bot.GameID // empty: it is no board
	Number  int
	Seq     int
	Said    bool // the words have been sent
	Since   time.Time

	reply  id.EventID
	file   *bot.File // nil: the board is drawn
	flight *flight   // may be nil
	due    time.Time // of the next try
	tries  int       // of sending it
	asked  bool      // to be kept: it waits for its turn
	held   chan struct{}
}

func (p *promise) board() bool { return p.Game != "" }

func (p *promise) key() string {
	if p.board() {
		return p.Channel + " " + string(p.Game)
	}
	return p.Post
}

// promiseOf begins the promise of a post's picture or file.
func promiseOf(p bot.Post) promise {
	out := promise{Post: p.ID, Channel: p.Where.Channel, Number: p.Number, Seq: p.Seq}
	if p.Kind == bot.Show && !p.Private {
		out.Game = p.Game
	}
	return out
}

// When a promise is tried again, for how long, how long one try may hold up a
// newer board, and how many files are promised besides boards.
const (
	promiseAgain = 5 * time.Minute // at most
	promiseFor   = 24 * time.Hour
	promiseHold  = 5 * time.Second
	promiseFiles = 64
)

type promises struct {
	mu    sync.Mutex
	m     map[string]*promise
	files int // of m
}

// hold gives a promise for its holder alone to change, waiting until nobody else
// holds it; nil if there is none.
func (ps *promises) hold(ctx context.Context, key string) (*promise, error) {
	for {
		ps.mu.Lock()
		p := ps.m[key]
		if p == nil {
			ps.mu.Unlock()
			return nil, nil
		}
		held := p.held
		if held == nil {
			p.held = make(chan struct{})
			ps.mu.Unlock()
			return p, nil
		}
		ps.mu.Unlock()
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// release lets others hold a promise, or drops it.
func (ps *promises) release(p *promise, stays bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	close(p.held)
	p.held = nil
	if stays {
		return
	}
	delete(ps.m, p.key())
	if !p.board() {
		ps.files--
	}
}

func (ps *promises) add(p *promise) {
	if ps.m == nil {
		ps.m = map[string]*promise{}
	}
	if !p.board() {
		if ps.files >= promiseFiles {
			return
		}
		ps.files++
	}
	ps.m[p.key()] = p
}

// promise promises what words are about to be sent without. It takes the place of
// what was promised of an older board.
func (a *Adapter) promise(ctx context.Context, p promise) error {
	p.Since = a.cfg.Now()
	if err := a.unpromise(ctx, p); err != nil {
		return err
	}
	if err := a.writePromise(ctx, &p); err != nil {
		return err
	}
	a.promises.mu.Lock()
	defer a.promises.mu.Unlock()
	a.promises.add(&p)
	return nil
}

// unpromise drops what was promised of a post, or of an older board of its game,
// before something newer is sent. What is being sent of it is waited for.
func (a *Adapter) unpromise(ctx context.Context, p promise) error {
	was, err := a.promises.hold(ctx, p.key())
	if was == nil || err != nil {
		return err
	}
	if was.board() {
		err = a.queue.unmark(ctx, "promise", was.key())
	}
	a.promises.release(was, err != nil)
	return err
}

func (a *Adapter) writePromise(ctx context.Context, p *promise) error {
	if !p.board() {
		return nil
	}
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return a.queue.mark(ctx, "promise", p.key(), string(body), a.cfg.Now())
}

// wordsSent lets a promise be kept, if there is one: the words of its post have
// been sent.
func (a *Adapter) wordsSent(ctx context.Context, of promise) {
	p, err := a.promises.hold(ctx, of.key())
	if p != nil {
		if p.Post == of.Post && !p.Said {
			p.Said, p.due = true, a.cfg.Now()
			err = a.writePromise(ctx, p)
		}
		a.promises.release(p, true)
	}
	if err != nil && ctx.Err() == nil {
		a.log.Warn("that a picture is to follow was not written down", "error", err)
	}
}

// restorePromises finds what was promised before the bot was stopped.
func (a *Adapter) restorePromises(ctx context.Context, q *queue) error {
	marks, err := q.marksOf(ctx, "promise")
	if err != nil {
		return err
	}
	a.promises.mu.Lock()
	defer a.promises.mu.Unlock()
	for key, body := range marks {
		p := &promise{}
		if json.Unmarshal([]byte(body), p) == nil && p.board() && p.key() == key {
			p.tries = 1 // it may have been sent
			a.promises.add(p)
		}
	}
	return nil
}

// keepDue has promises kept that are due, and forgets those that could not be
// kept for long.
func (a *Adapter) keepDue(now time.Time) {
	a.promises.mu.Lock()
	defer a.promises.mu.Unlock()
	for _, p := range a.promises.m {
		if p.held != nil || p.asked {
			continue
		}
		if old := now.Sub(p.Since) > promiseFor; old || p.Said && !now.Before(p.due) {
			p.asked = a.later(func(ctx context.Context) { a.redeem(ctx, p) })
		}
	}
}

// redeem tries to keep a promise.
func (a *Adapter) redeem(ctx context.Context, asked *promise) {
	a.promises.mu.Lock()
	asked.asked = false
	a.promises.mu.Unlock()
	p, _ := a.promises.hold(ctx, asked.key())
	if p == nil { // or somebody else holds it for long: it is due still
		return
	}
	stays := p != asked // another has taken its place
	defer func() { a.promises.release(p, stays) }()
	if stays {
		return
	}
	now := a.cfg.Now()
	var later errLater
	var err error
	switch dev := a.device(); {
	case dev == nil:
		err = errLater{time.Second}
	case now.Sub(p.Since) > promiseFor:
		err = errors.New("it has waited too long")
	default:
		if err = a.sendPromise(ctx, dev, p); err != nil && !refusedBy(err) {
			wait := time.Second // when to look whether it is uploaded
			if errors.As(err, &later) {
				wait = later.wait
			} else if !errors.Is(err, errUploading) {
				wait = max(retryAfter(err), min(time.Second<<min(p.tries, 10), promiseAgain))
				p.tries++
				a.log.Info("a picture could not follow its words yet", "room", p.Room, "error", err, "again", wait)
			}
			err = errLater{wait}
		}
	}
	if errors.As(err, &later) {
		p.due, stays = now.Add(later.wait), true
		return
	}
	if err != nil {
		a.log.Warn("a picture could not follow its words", "room", p.Room, "error", err)
	}
	if p.board() {
		if err := a.queue.unmark(ctx, "promise", p.key()); err != nil {
			p.due, p.tries, stays = now.Add(time.Second), p.tries+1, true
		}
	}
}

// sendPromise sends what was promised, if it is uploaded.
func (a *Adapter) sendPromise(ctx context.Context, dev *device.Device, p *promise) error {
	if p.flight == nil {
		if wait := a.sends.grounded(p.key(), a.cfg.Now()); wait > 0 { // before anything is drawn
			return errLater{wait}
		}
		file := p.file
		if file == nil {
			desk, _ := a.theDesk()
			scene, err := desk.Scene(ctx, p.Game, p.Seq)
			if err != nil {
				return fmt.Errorf("draw: %w", err)
			}
			c := content{scene: &scene, name: boardName(p.Number, p.Seq)}
			if err := c.draw(); err != nil {
				return err
			}
			file = c.file
		}
		f, err := a.uploading(ctx, dev, p.Room, p.key(), p.Post, file)
		if err != nil {
			return err
		}
		p.flight = f
	}
	picture, err := p.flight.result()
	if err != nil {
		select {
		case <-p.flight.done: // it is to be begun anew
			p.flight = nil
		default:
		}
		return err
	}
	m := attached(message.Content{Number: p.Number}, picture)
	message.InThread(m, p.Root, "", p.reply)
	limited, cancel := context.WithTimeout(ctx, promiseHold)
	defer cancel()
	_, err = a.sendOnce(limited, dev, p.Room, m, p.Post+" picture", p.tries > 0)
	if errors.Is(err, errEncryptedMeanwhile) {
		p.flight = nil
	}
	return err
}
