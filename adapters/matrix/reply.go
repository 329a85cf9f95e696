package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A route says where the answer to an event goes. It is the Reply of requests and of their
// answers, as JSON.
type route struct {
	Room  id.RoomID
	Root  id.EventID `json:",omitempty"` // of the thread
	Reply id.EventID `json:",omitempty"` // the message to reply to; empty: the event is a reaction
	Key   string     // of the answer
	// Look: the event is from before the start. An earlier release, which did not store
	// answers, may have sent the answer.
	Look bool `json:",omitempty"`
}

// route returns how to answer an event in the thread of root.
func (a *Adapter) route(r *row, e *event.Event, root id.EventID) string {
	to := route{Room: e.RoomID, Root: root, Reply: e.ID, Key: "answer " + e.ID.String(), Look: r.n <= a.leftover}
	if r.state == keyless {
		to.Key = "unread " + e.ID.String()
	} else if e.Type.Type == event.EventReaction.Type {
		to.Reply = ""
	} else if first := replaced(e); first != "" {
		to.Reply = first
	}
	data, err := json.Marshal(to)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// answer shows the answer to an event where that was sent. A personal file or a secret goes to
// the person directly, and a message in the room says so.
func (a *Adapter) answer(ctx context.Context, dev *device.Device, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	var to route
	if err := json.Unmarshal([]byte(p.Reply), &to); err != nil {
		return "", nil, fmt.Errorf("%w: read the route of an answer: %w", outbox.ErrRefused, err)
	}
	p = bot.Unshared(p) // everybody in the room can read it
	p.ID = to.Key
	if to.Look {
		p.Attempt++
	}
	if to.Reply == "" && p.Private && p.Text != "" && p.Asker.Name != "" {
		between := " "
		if strings.Contains(p.Text, "\n") {
			between = "\n"
		}
		p.Text = bot.CleanName(p.Asker.Name) + ":" + between + p.Text
	}
	if personal(p) {
		user := id.UserID(p.Asker.ID)
		if alone, err := a.alone(ctx, dev, to.Room, user); err != nil {
			return "", nil, botError(err)
		} else if !alone {
			at, err := a.directly(ctx, dev, user, true)
			if err != nil {
				return "", nil, botError(directError(err))
			}
			m := message.Text(message.Content{Text: bot.Translated(p.Lang, wordDirectly), Lang: p.Lang})
			message.InThread(m, to.Root, to.Reply)
			if _, err := a.sendOnce(ctx, dev, to.Room, m, p.ID+" there", p.Attempt > 1); err != nil {
				return "", nil, botError(err)
			}
			to = route{Room: at}
		}
	}
	return a.post(ctx, dev, to.Room, to.Root, to.Reply, p)
}

// personal reports whether an answer is for the eyes of one person alone: a secret, or a file
// that is made for them: what is kept of them, or an event for a spreadsheet. Records and
// pictures are of games, which all can see.
func personal(p outbox.Post) bool {
	if !p.Private || p.File == nil {
		return p.Private && p.Secret
	}
	kind, _, _ := strings.Cut(p.File.Type, ";")
	return p.Secret || kind == "application/json" || kind == "text/csv"
}
