package matrix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
)

// describe writes the commands into a room, for clients that offer them while
// something is typed (MSC4391): those that have changed since the last time, if
// the bot has the power to, and slowly.
func (a *Adapter) describe(ctx context.Context, at id.RoomID) {
	dev := a.device()
	if dev == nil || !a.cfg.Describe {
		return
	}
	_, commands := a.theDesk()
	for i, c := range commands {
		key, content := command.Describe(c, dev.Client.UserID)
		kind := event.StateMSC4391BotCommand
		if i == 0 {
			if may, err := dev.State.HasPowerLevel(ctx, at, dev.Client.UserID, kind); err != nil || !may {
				return
			}
		}
		body, err := json.Marshal(content)
		if err != nil {
			continue
		}
		sum := sha256.Sum256(body)
		now := hex.EncodeToString(sum[:8])
		if was, err := a.queue.marked(ctx, "described", at.String()+" "+key); err != nil || was == now {
			continue
		}
		if !a.mayDescribe() {
			a.spare.describeLater(at, time.Time{})
			return
		}
		_, err = dev.Client.SendStateEvent(ctx, at, kind, key, content)
		a.paced(err)
		if retryAfter(err) > 0 {
			a.spare.describeLater(at, time.Time{})
			return
		}
		if err != nil {
			if ctx.Err() == nil {
				a.log.Info("a command was not described", "room", at, "error", err)
			}
			if !refusedBy(err) {
				a.spare.describeLater(at, a.cfg.Now().Add(describeAgain))
			}
			return
		}
		if err := a.queue.mark(ctx, "described", at.String()+" "+key, now, a.cfg.Now()); err != nil {
			return
		}
	}
}

// describeAgain is how long nothing is described after that has failed: it may
// fail for ever, and slowly, and then hold up all else that can wait.
const describeAgain = 5 * time.Minute

// mayDescribe reports whether a command may be described now.
func (a *Adapter) mayDescribe() bool {
	now := a.cfg.Now()
	a.spare.mu.Lock()
	soon := now.Before(a.spare.describe)
	a.spare.mu.Unlock()
	return !soon && a.spare.ok(now)
}

// describeLater notes that commands are still to be described in a room, and none
// anywhere before a time.
func (s *spare) describeLater(at id.RoomID, from time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from.After(s.describe) {
		s.describe = from
	}
	if s.undescribed == nil {
		s.undescribed = map[id.RoomID]bool{}
	}
	s.undescribed[at] = true
}

// describeNow gives a room in which commands are still to be described, and takes
// it off the list; empty: there is none.
func (s *spare) describeNow() id.RoomID {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := range s.undescribed {
		delete(s.undescribed, at)
		return at
	}
	return ""
}

// describeDue goes on describing the commands in a room, if there is one where
// they are not all described and the homeserver has room for it.
func (a *Adapter) describeDue() {
	if !a.mayDescribe() {
		return
	}
	if at := a.spare.describeNow(); at != "" {
		a.later(func(ctx context.Context) { a.describe(ctx, at) })
	}
}
