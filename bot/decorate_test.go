package bot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A wall is a platform that keeps messages: words, perhaps a picture, perhaps
// controls; and above them a header.
type wall struct {
	platform
	mu       sync.Mutex
	posts    []string // ids, in order
	pictures map[string]bool
	controls map[string]bool
	header   int
	edits    int // of the header
	trouble  func(p outbox.Post) (before, after error)
	reacts   bool // each board owes a reaction, six seconds later: after the next was shown
	errors   []string
}

func newWall() *wall {
	w := &wall{pictures: map[string]bool{}, controls: map[string]bool{}}
	w.platform = w.deliver
	return w
}

func (w *wall) deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var after error
	if w.trouble != nil {
		var before error
		if before, after = w.trouble(p); before != nil {
			return "", nil, before
		}
	}
	var owes []outbox.Owes
	switch p.Kind {
	case outbox.Header:
		if p.Scene == nil || p.Seq < w.header {
			w.errors = append(w.errors, fmt.Sprintf("the header of event %d after that of %d", p.Seq, w.header))
		}
		w.header, w.edits = p.Seq, w.edits+1
	case outbox.Attach:
		if p.Scene == nil {
			w.errors = append(w.errors, "nothing is attached")
		}
		w.pictures[p.Replaces] = true
	case outbox.Clear:
		delete(w.controls, p.Replaces)
	case outbox.Reaction:
	default:
		if slices.Contains(w.posts, p.ID) && p.Attempt == 1 {
			w.errors = append(w.errors, p.ID+" comes twice as if for the first time")
		}
		if !slices.Contains(w.posts, p.ID) {
			w.posts = append(w.posts, p.ID)
			w.controls[p.ID] = len(p.Controls) > 0
		}
		if p.Kind == match.Show {
			owes = append(owes, outbox.Owes{Kind: outbox.Header, Key: "header", Every: time.Minute, Target: outbox.Receipt(p.Under)},
				outbox.Owes{Kind: outbox.Attach, Key: p.ID, Target: outbox.Receipt(p.ID)})
			if w.reacts {
				owes = append(owes, outbox.Owes{Kind: outbox.Reaction, Key: p.ID, NotBefore: time.Now().Add(6 * time.Second)})
			}
		}
		if len(p.Controls) > 0 || p.Attempt > 1 && !p.Unsent { // it may have had some
			owes = append(owes, outbox.Owes{Kind: outbox.Clear, Key: p.ID, Target: outbox.Receipt(p.ID)})
		}
	}
	if after != nil {
		return "", nil, after
	}
	return outbox.Receipt(p.ID), owes, nil
}

// stands says what is on the wall in the end.
func (w *wall) stands() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	short := func(id string) string { return id[strings.Index(id, "-")+1:] }
	last, controls := w.posts[len(w.posts)-1], ""
	for id, has := range w.controls {
		if has {
			controls += " " + short(id)
		}
	}
	return fmt.Sprintf("last %s, picture %v, controls on%s, header %d", short(last), w.pictures[last], controls, w.header)
}

const wantOnWall = "last t8-show, picture true, controls on t8-show, header 8"

// play plays five turns, with a restart after the turn given.
func play(t *testing.T, st func(bot.Store) bot.Store, w *wall, restart int) {
	inner := newStore(t)
	r := run(t, st(inner), w)
	defer func() { r.stop() }()
	r.asks("anna", "club", "new", map[string]string{"rules": "aga", "size": "9x9", "color": "black"})
	r.asks("ben", "club", "join", nil)
	time.Sleep(time.Second)
	for turn, point := range []string{"D4", "E5", "F6", "C3", "G7"} {
		r.asks([]string{"anna", "ben"}[turn%2], "club", "place", at(point))
		if turn == restart {
			r.stop()
			r = run(t, st(inner), w)
		}
		if w.reacts {
			time.Sleep(5 * time.Second)
		} else {
			time.Sleep(time.Duration(turn) * 400 * time.Millisecond)
		}
	}
	settle(15 * time.Minute)
	if got := w.stands(); got != wantOnWall {
		t.Errorf("%s\nnot %s", got, wantOnWall)
	}
	for _, e := range w.errors {
		t.Error(e)
	}
	rows, err := inner.Decorations(context.Background())
	if err != nil || len(rows) != 1 || rows[0].Kind != outbox.Clear || !rows[0].Sleeps {
		t.Errorf("left to be done: %v %v", rows, err)
	}
}

// unsettled is a store that loses every third of what is settled or done.
type unsettled struct {
	bot.Store
	mu sync.Mutex
	n  int
}

func (u *unsettled) fails() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n++; u.n%3 == 0 {
		return errors.New("the disk is full")
	}
	return nil
}

func (u *unsettled) Settle(ctx context.Context, id string, r outbox.Receipt, m *outbox.Message, c outbox.Decorations) error {
	if err := u.fails(); err != nil {
		return err
	}
	return u.Store.Settle(ctx, id, r, m, c)
}

func (u *unsettled) Decorate(ctx context.Context, c outbox.Decorations) error {
	if err := u.fails(); err != nil {
		return err
	}
	return u.Store.Decorate(ctx, c)
}

// slowToSettle is a store that takes three seconds to settle a post.
type slowToSettle struct{ bot.Store }

func (s slowToSettle) Settle(ctx context.Context, id string, r outbox.Receipt, line *outbox.Message, c outbox.Decorations) error {
	time.Sleep(3 * time.Second)
	return s.Store.Settle(ctx, id, r, line, c)
}

// Whatever the platform does, and whenever the program is stopped, in the end the
// newest board has its picture and its controls, older ones have none, and the
// header says how the game stands.
func TestFaults(t *testing.T) {
	broken := errors.New("the line is broken")
	faults := map[string]struct{ before, after error }{
		"nothing":             {},
		"fails":               {before: broken},
		"its answer is lost":  {after: broken},
		"ambiguous":           {after: outbox.ErrAmbiguous},
		"asks to wait":        {before: outbox.RetryAfter{Wait: 7 * time.Second}},
		"holds the account":   {before: outbox.RetryAfter{Wait: 7 * time.Second, Account: true}},
		"takes it and panics": {},
	}
	restarts := []int{0, 1, 2, 3, 4, 5}[tier.Pick(4, 0, 0):] // 5: never
	plain := func(st bot.Store) bot.Store { return st }
	lossy := func(st bot.Store) bot.Store { return &unsettled{Store: st} }
	for name, f := range faults {
		for _, kind := range []string{match.Show, match.Notice, outbox.Header, outbox.Attach, outbox.Clear} {
			for _, restart := range restarts {
				if name == "nothing" && kind != match.Show {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/restart %d", kind, name, restart), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newWall()
						tries := map[string]int{}
						w.trouble = func(p outbox.Post) (before, after error) {
							if tries[p.ID]++; p.Kind != kind || tries[p.ID] > 2 {
								return nil, nil
							}
							if name == "takes it and panics" {
								panic("in the middle")
							}
							return f.before, f.after
						}
						play(t, plain, w, restart)
					})
				})
			}
		}
	}
	t.Run("old controls go while it is being stored that they are to go", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWall()
			w.reacts = true
			play(t, func(st bot.Store) bot.Store { return slowToSettle{st} }, w, 5)
		})
	})
	for _, restart := range restarts {
		t.Run(fmt.Sprintf("the store loses what was done/restart %d", restart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, lossy, newWall(), restart) })
		})
	}
}

// The header of a game is edited at most as often as its adapter says, and ends with
// the newest.
func TestHeaderIsNotEditedTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		r := run(t, newStore(t), w)
		defer r.stop()
		r.opens("club", 1, 1)
		w.mu.Lock() // the edit that follows the opening may be under way
		w.edits = 0
		w.mu.Unlock()
		for turn := range 60 {
			r.turn("club", 1, turn, true)
			time.Sleep(5 * time.Second)
		}
		settle(2 * time.Minute)
		if w.edits > 8 || w.header != 63 {
			t.Errorf("%d edits in five minutes, the last of event %d", w.edits, w.header)
		}
	})
}

// A decoration put off before a restart ends after it, and not before.
func TestEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		w := newWall()
		var ended []string
		w.trouble = func(p outbox.Post) (error, error) {
			if p.Kind == outbox.Ending {
				ended = append(ended, p.Data)
				return outbox.ErrGone, nil
			}
			return nil, nil
		}
		r := run(t, st, w)
		owe := func(key string) {
			must(t, r.b.Owe(t.Context(), clubRoom, outbox.Owes{Kind: outbox.Ending, Key: key, Data: "token of " + key,
				NotBefore: time.Now().Add(14 * time.Minute), NotAfter: time.Now().Add(15 * time.Minute)}))
		}
		owe("answered")
		must(t, r.b.Done(t.Context(), clubRoom, outbox.Ending, "answered"))
		owe("thinks")
		settle(time.Minute)
		if len(ended) > 0 {
			t.Errorf("ended while the asker was at it: %q", ended)
		}
		r.stop()
		r = run(t, st, w)
		defer r.stop()
		settle(time.Second)
		if got := fmt.Sprint(ended); got != "[token of thinks]" {
			t.Errorf("ended after the restart: %s", got)
		}
	})
}
