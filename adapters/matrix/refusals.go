package matrix

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
)

// This file is what somebody is told that they alone need to know. While the homeserver
// takes nothing it waits, and does not hold up what others say: what one person is to be
// told in one place comes as one message.

// A listener is somebody in a thread, or in a room outside of threads.
type listener struct {
	at   id.RoomID
	root id.EventID
	to   id.UserID
}

// errHeld is the error of an event whose answer, which is words for one person, waits until
// the homeserver takes messages again.
type errHeld struct {
	listener
	reply   id.EventID
	content message.Content
}

func (errHeld) Error() string { return "answer waits for the homeserver" }

// tooSoon returns how long an error asks to wait before anything is sent; 0: it is another.
func tooSoon(err error) time.Duration {
	var later errLater
	if errors.As(err, &later) {
		return later.wait
	}
	return retry.After(err)
}

// heldMost is how many events of a room wait at once for their answers.
const heldMost = 20

// A held event has an answer that waits. It is dealt with once more after a crash.
type held struct {
	*row
	state string
	errHeld
}

// holds reports whether an answer for somebody waits.
func (a *Adapter) holds(who listener) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.held[who.at], func(h held) bool { return h.listener == who })
}

// hold lets an event wait for its answer, and reports whether there is room for that.
func (a *Adapter) hold(h held) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held[h.room]) >= heldMost {
		return false
	}
	a.held[h.room] = append(a.held[h.room], h)
	return true
}

// heldIn returns the events of a room that wait for their answers, the oldest first.
func (a *Adapter) heldIn(at id.RoomID) []held {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.held[at])
}

// heldBack is the key under which it is counted how often the answers that wait in a room
// were too much: boards come first only so often.
func heldBack(at id.RoomID) id.EventID { return id.EventID("held " + at) }

// tellHeld tells in a room what waits there, one message for each person. An error means
// that the rest is to be told later.
func (a *Adapter) tellHeld(ctx context.Context, dev *device.Device, at id.RoomID) error {
	for all := a.heldIn(at); len(all) > 0; all = a.heldIn(at) {
		if wait := a.pace.wait(a.cfg.Now()); wait > 0 {
			return errLater{wait}
		}
		var of []held
		var lines []string
		for _, h := range all {
			if h.listener != all[0].listener {
				continue
			}
			of = append(of, h)
			if state, err := a.queue.state(ctx, h.event); err != nil {
				return err
			} else if state != waiting { // it was taken back
				continue
			}
			lines = append(lines, h.content.Text)
		}
		if last := of[len(of)-1]; len(lines) > 0 {
			c := last.content
			c.Text = strings.Join(lines, "\n")
			m := message.Text(c)
			message.InThread(m, last.root, last.reply)
			_, err := a.sendOnce(ctx, dev, last.listener.at, m, "answer "+last.event.String(), a.hasFailed(last.event))
			if err != nil && tooSoon(err) == 0 {
				err = a.answerFailed(last.evt, err)
			}
			if err != nil {
				a.fails(last.event, 1)
				return err
			}
		}
		for _, h := range of {
			if err := a.queue.settle(ctx, h.row, h.state, ""); err != nil {
				return err
			}
			a.works(h.event)
		}
		a.works(heldBack(at))
		a.mu.Lock()
		a.held[at] = slices.DeleteFunc(a.held[at], func(h held) bool {
			return slices.ContainsFunc(of, func(o held) bool { return o.event == h.event })
		})
		a.mu.Unlock()
	}
	return nil
}
