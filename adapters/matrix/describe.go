package matrix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

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
		if !a.spare.ok(a.cfg.Now()) {
			a.spare.describeLater(at)
			return
		}
		_, err = dev.Client.SendStateEvent(ctx, at, kind, key, content)
		a.paced(err)
		if refusedBy(err) {
			a.log.Info("a command was not described", "room", at, "error", err)
			return
		}
		if err != nil {
			a.spare.describeLater(at)
			return
		}
		if err := a.queue.mark(ctx, "described", at.String()+" "+key, now, a.cfg.Now()); err != nil {
			return
		}
	}
}

// describeLater notes that commands are still to be described in a room.
func (s *spare) describeLater(at id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	if !a.spare.ok(a.cfg.Now()) {
		return
	}
	if at := a.spare.describeNow(); at != "" {
		a.later(func(ctx context.Context) { a.describe(ctx, at) })
	}
}
