package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// memberFor is how long the homeserver is not asked again who is in a room. A person who was
// removed can play from elsewhere for so long.
const memberFor = 30 * time.Second

// membersKept is how many answers of the homeserver about that are kept.
const membersKept = 2048

// A membership is whether somebody is in a room, until it is asked again.
type membership struct {
	is    bool
	until time.Time
}

// A member is a person in a room.
type member struct {
	user id.UserID
	at   id.RoomID
}

// Member reports whether a person has joined a room and may write messages there; see
// [bot.Membership]. In a room that the bot is no longer in, nobody may.
func (a *Adapter) Member(ctx context.Context, who outbox.User, where match.Room) (bool, error) {
	if who.Platform != Name || where.Platform != Name || who.ID == "" || where.Channel == "" {
		return false, nil
	}
	dev, at, err := a.whereToAsk(ctx, id.RoomID(where.Channel))
	if err != nil {
		return false, err
	}
	m := member{id.UserID(who.ID), at}
	now := a.cfg.Now()
	known, ok := a.memberships.Get(m)
	if !ok || !now.Before(known.until) {
		// Not from the state that is kept: the homeserver leaves out of it most who say nothing.
		ctx, cancel := context.WithTimeout(ctx, sendFor)
		defer cancel()
		body, err := a.get(ctx, dev, mautrix.ClientURLPath{"v3", "rooms", m.at, "state", event.StateMember.Type, m.user}, nil)
		if err != nil && !refusedBy(err) {
			return false, fmt.Errorf("get a member of the room: %w", err)
		}
		var c struct{ Membership event.Membership }
		known = membership{err == nil && json.Unmarshal(body, &c) == nil && c.Membership == event.MembershipJoin, now.Add(memberFor)}
		a.memberships.Add(m, known)
	}
	if !known.is {
		return false, nil
	}
	levels, err := dev.State.GetPowerLevels(ctx, m.at)
	if err != nil {
		return false, fmt.Errorf("read the room's power levels: %w", err)
	}
	kind := event.EventMessage
	if sealed, err := dev.State.IsEncrypted(ctx, m.at); err != nil {
		return false, fmt.Errorf("read the room's encryption: %w", err)
	} else if sealed {
		kind = event.EventEncrypted
	}
	return levels == nil || levels.GetUserLevel(m.user) >= levels.GetEventLevel(kind), nil
}

// whereToAsk returns the device with which the homeserver can be asked about a room, and the
// room's id now. A process that does not have the account reads both from the database.
func (a *Adapter) whereToAsk(ctx context.Context, known id.RoomID) (dev *device.Device, at id.RoomID, err error) {
	if !a.idle.Load() {
		if dev = a.device(); dev == nil {
			return nil, "", errNotSynced
		}
		return dev, a.current(known).id, nil
	}
	if dev, err = device.Stored(ctx, a.deviceConfig()); err == nil && dev == nil {
		err = errNotSynced
	}
	if err == nil {
		at, err = (&queue{a.cfg.DB}).current(ctx, known)
	}
	return dev, at, err
}
