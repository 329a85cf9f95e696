package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
)

// Where the homeserver leaves messages out, the gap is stored in its
// place in the queue, and it is filled when its turn comes: page by page
// backwards, how far is on disk. Other rooms do not wait for it, and what was
// said after it in the same room does.

const (
	page   = 500     // events of a gap at a time
	maxGap = 100_000 // events of a gap that are looked through
)

// gap is the type of the entry for a gap in the queue.
var gap = event.NewEventType("halfpoint.gap")

// A gapAt says what is still missing: what came before a place, back to an event
// that was seen.
type gapAt struct {
	From  string     `json:"from"`
	Until id.EventID `json:"until,omitempty"` // empty: until the bot came
	Found int        `json:"found"`           // events looked at

	Sealed bool       `json:"sealed,omitempty"` // the room is encrypted, as far as has been looked
	Switch id.EventID `json:"switch,omitempty"` // by this event, before which it was not; empty: it was before the gap
}

func newGap(at id.RoomID, from string, until id.EventID, s sealing) *event.Event {
	return gapAt{From: from, Until: until, Sealed: s.gap, Switch: s.by}.entry(event.Event{Type: gap, RoomID: at, ID: id.EventID("gap " + at.String() + " " + from)})
}

// entry returns the entry for a gap in the queue with g as its content.
func (g gapAt) entry(e event.Event) *event.Event {
	body, err := json.Marshal(g)
	if err != nil {
		panic(err)
	}
	e.Content = event.Content{VeryRaw: body}
	return &e
}

// fill fetches what a gap is missing. An error means that the rest is to be
// fetched later.
func (a *Adapter) fill(ctx context.Context, dev *device.Device, r *row) error {
	var g gapAt
	if err := json.Unmarshal(r.evt.Content.VeryRaw, &g); err != nil {
		return fmt.Errorf("read a stored gap: %w", err)
	}
	at := a.room(r.room)
	for {
		events, end, err := a.messages(ctx, dev, r.room, g.From)
		if refusedBy(err) {
			a.log.Error("homeserver refuses missed events, skipped", "room", r.room, "error", err)
			return nil
		} else if err != nil {
			return fmt.Errorf("fetch missed events: %w", err)
		}
		var found []*row
		var gone []redaction
		done := len(events) == 0 || end == "" || end == g.From
		for _, e := range events { // the newest first
			if g.Until != "" && e.ID == g.Until || came(dev, []*event.Event{e}) == 0 {
				done = true
				break
			}
			g.Found++
			if g.Switch != "" && e.ID == g.Switch {
				g.Sealed = false
			}
			keep, back := a.sift(ctx, dev, at, e, g.Sealed)
			if keep {
				found = append(found, &row{n: r.n, part: int64(-g.Found), live: r.live, at: r.at, evt: e})
			}
			if back != nil {
				gone = append(gone, *back)
			}
		}
		if g.Found >= maxGap && !done {
			a.log.Error("too many missed events, oldest skipped", "room", r.room, "events", g.Found)
			done = true
		}
		g.From = end
		body, err := json.Marshal(g.entry(*r.evt))
		if err != nil {
			return err
		}
		closed, err := a.queue.fill(ctx, r, found, gone, body, done)
		if err != nil {
			return err
		}
		if closed {
			a.log.Info("fetched missed events", "room", r.room, "events", g.Found)
			return nil
		}
	}
}

// messages returns a page of the messages of a room before from, the newest first, and
// where the next page begins.
func (a *Adapter) messages(ctx context.Context, dev *device.Device, at id.RoomID, from string) (events []*event.Event, end string, err error) {
	filter, err := json.Marshal(&mautrix.FilterPart{Types: read, LazyLoadMembers: true})
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, uploadFor)
	defer cancel()
	data, err := a.get(ctx, dev, mautrix.ClientURLPath{"v3", "rooms", at, "messages"},
		map[string]string{"dir": "b", "from": from, "limit": fmt.Sprint(page), "filter": string(filter)})
	if err != nil {
		return nil, "", err
	}
	events, end, bad, err := readPage(data)
	if bad > 0 {
		a.log.Warn("malformed events ignored", "room", at, "events", bad)
	}
	return slices.DeleteFunc(events, func(e *event.Event) bool { return e.ID == "" }), end, err
}
