//go:build goolm

package matrix

import (
	"fmt"
	"slices"
	"testing"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// settles plays a game until one player has accepted the count, and returns its root.
func (r *pair) settles() (root id.EventID) {
	anna, bob := r.people[0], r.people[1]
	anna.says("", "!new two-button 3x3")
	root = anna.sees("opens game 1:")
	bob.says(root, "!join")
	anna.seesIn(root, " to play, for example ")
	anna.says(root, "!place B2")
	bob.seesIn(root, "1. Black B2")
	bob.says(root, "!pass")
	anna.seesIn(root, "2. White passes")
	anna.says(root, "!pass")
	bob.seesIn(root, "Play has stopped")
	bob.says(root, "!accept")
	anna.seesIn(root, "accepts the count")
	return root
}

// boards returns the events with pictures of boards, and below the first versions of those
// that changed the names of what they became.
func (r *pair) boards() (events []id.EventID, names map[id.EventID]string) {
	names = map[id.EventID]string{}
	v := r.people[0].View(r.at)
	for _, m := range r.people[0].heard() {
		e := id.EventID(fmt.Sprint(m["id"]))
		if m["msgtype"] != string(event.MsgImage) {
			continue
		}
		if now, _ := m["m.new_content"].(map[string]any); now != nil {
			i := slices.IndexFunc(v.Events, func(o *matrixtest.Event) bool { return o.ID == e })
			relates, _ := v.Events[i].Content["m.relates_to"].(map[string]any)
			of, _ := relates["event_id"].(string)
			names[id.EventID(of)] += fmt.Sprint(now["filename"])
			r.people[1].looks(now)
			continue
		}
		events, names[e] = append(events, e), fmt.Sprint(m["filename"], " ")
	}
	return events, names
}

// When both have accepted the count the last board becomes that of the end, and asks for a
// rematch then; no other comes, even if the program ends before it hears that.
func TestAgreedCount(t *testing.T) {
	for name, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				p := c.through()
				c.start()
				r := c.talkers(encrypted)
				r.gathers()
				anna, bob := r.people[0], r.people[1]
				root := r.settles()
				c.settled()
				before, _ := r.boards()
				last := before[len(before)-1]

				release := make(chan struct{})
				lost := p.Once(matrixtest.On("PUT", "/send/m.room.(message|encrypted)/"), matrixtest.HoldsAnswer(release))
				anna.says(root, "!accept")
				lost.Await(t, 1)
				caughtUp(anna.Player, r.at)
				c.kill()
				close(release)
				c.start()
				c.hurries("TRUE") // what it had in hand
				bob.seesIn(root, "is over")
				c.settled()
				_, seq := c.game(1)
				after, names := r.boards()
				if len(after) != len(before) || names[last] != fmt.Sprintf("%s %s", boardName(1, seq-2), boardName(1, seq)) {
					t.Errorf("%d boards, %d before; they became %v", len(after), len(before), names)
				}
				bob.Reacts(r.at, last, "🔁")
				anna.sees("would like a rematch")
			})
		})
	}
}

// Words whose picture is still to follow stay, and the board of the end comes by itself.
func TestAgreedCountWithoutPicture(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		r := c.talkers(false)
		r.gathers()
		failing := p.Always(matrixtest.Uploading, matrixtest.Fails(500, "M_UNKNOWN"))
		root := r.settles()
		failing.Stop()
		r.people[0].says(root, "!accept")
		r.people[1].seesIn(root, "is over")
		c.settled()
		_, seq := c.game(1)
		boards, names := r.boards()
		if last := boards[len(boards)-1]; names[last] != boardName(1, seq)+" " {
			t.Errorf("the boards are %v", names)
		}
	})
}
