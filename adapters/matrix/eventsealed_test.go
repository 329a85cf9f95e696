//go:build goolm

package matrix

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// directly has somebody come into the room in which the bot writes to them alone.
func (p *talker) directly() *talker {
	p.c.Helper()
	var at id.RoomID
	p.c.await("a direct room", func() bool {
		marked, err := p.c.a.queue.marked(p.c.Context(), "direct", p.ID.String())
		if err != nil {
			p.c.Fatal(err)
		}
		at = id.RoomID(marked)
		return at != ""
	})
	p.AwaitInvite(at)
	p.Joins(at)
	p.c.await("the bot to know who is there", func() bool { return p.c.a.room(at).people == 2 })
	return &talker{Player: p.Player, c: p.c, r: &pair{at: at}, dev: p.dev}
}

// An event in an encrypted room: nothing of it is said in the clear, neither there nor
// directly, where people answer.
func TestEventInAnEncryptedRoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := c.talkers(true)
		r.gathers()
		anna, bob := r.people[0], r.people[1]
		anna.says("", "!event new title:Spring system:swiss rounds:2 size:5 days:4h")
		anna.sees("A preview of “Spring”")
		anna.says("", "!event publish")
		bob.sees("sign-up is open")
		bob.says("", "!event join")
		anna.says("", "!event join")
		anna.sees("2 have joined: ")
		anna.says("", "!event start confirm:yes")
		root := bob.sees("Game 1 begins")
		bob.sees("Round 1 of “Spring” begins")
		anna.says(root, "!resign yes")
		bob.sees("  1 ") // the table, in letters
		direct := anna.directly()
		direct.sees("do you play round 2?")
		direct.says("", "!event sitout event:1")
		direct.sees("You sit out the next round of “Spring”")
		direct.says("", "event play")
		direct.sees("You play the next round of “Spring”")
		for _, as := range []string{"", " as:csv", " as:games"} {
			before := len(direct.heard())
			anna.says("", "!event export"+as)
			c.await("the file"+as, func() bool { return len(direct.heard()) == before+1 })
			heard := direct.heard()
			if m := heard[len(heard)-1]; m["msgtype"] != "m.file" || len(direct.downloads(m)) == 0 {
				t.Errorf("for export%s comes %v", as, m["body"])
			}
		}
		if n := anna.count("I have sent it to you directly."); n != 3 {
			t.Errorf("the room hears of %d files", n)
		}
		for _, m := range anna.heard() {
			if m["msgtype"] == "m.file" && !strings.Contains(fmt.Sprint(m["filename"], m["body"]), "game-1.sgf") {
				t.Errorf("the room gets %v", m)
			}
		}
		c.settled()
		for _, v := range []matrixtest.View{anna.View(r.at), direct.View(direct.r.at)} {
			for _, e := range v.Events {
				if e.Sender == c.user.ID && e.Type == "m.room.message" {
					t.Errorf("it has said in the clear: %v", e.Content["body"])
				}
			}
		}
	})
}

// A copy of the database is put back that is older than the pairing of a round, or was made
// while its games opened: the same games go on in the same threads, and nothing is said twice.
func TestRestoredDuringAnEvent(t *testing.T) {
	for name, opening := range map[string]bool{"before the pairing": false, "while games open": true} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				c.start()
				people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben", "Carl", "Dora", "Eva")
				mona := people[0]
				mona.publishes("title:Spring until:1h days:10")
				for _, g := range people {
					g.asks("", "!event join")
				}
				passes(time.Minute)
				copied := c.copies()
				mona.says("", "!event start confirm:yes")
				if n := len(c.tables()); opening {
					if copied = c.copies(); n == 0 || n == 15 {
						t.Fatalf("of 15 games %d are open", n)
					}
				}
				passes(time.Minute)
				was := c.tables()
				if len(was) != 15 {
					t.Fatalf("%d games", len(was))
				}
				roots := map[int]id.EventID{}
				for _, m := range mona.View(mona.at).From(c.user.ID) {
					if n := opens(m); n > 0 {
						roots[n] = m.ID
					}
				}
				black := func(m match.Match) *guest {
					who, err := c.store.People(t.Context(), []match.PersonID{m.Black})
					if err != nil {
						t.Fatal(err)
					}
					for _, g := range people {
						if g.ID.String() == who[m.Black].ID {
							return g
						}
					}
					t.Fatal("nobody plays Black")
					return nil
				}
				for _, m := range []match.Match{was[0], was[14]} {
					black(m).asks(roots[m.Number], "!place C3")
				}
				black(was[7]).asks(roots[was[7].Number], "!resign yes")
				passes(10 * time.Minute)
				was = c.tables()
				said := mona.View(mona.at).From(c.user.ID)
				c.halt()
				c.restores(copied)
				c.start()
				passes(5 * time.Minute)

				now := c.tables()
				if len(now) != 15 {
					t.Fatalf("%d games after the restore", len(now))
				}
				for i, m := range now {
					if w := was[i]; m.ID != w.ID || m.Black != w.Black || m.White != w.White || m.ToMove != w.ToMove || m.State != w.State || m.Result != w.Result {
						t.Errorf("game %d was %+v and is %+v", w.Number, w.Standing, m.Standing)
					}
				}
				caughtUp(mona.Player, mona.at)
				hear := 0
				for _, m := range mona.View(mona.at).From(c.user.ID)[len(said):] {
					switch text := m.Text(); {
					case strings.HasPrefix(text, "Restored from a copy of "):
						hear++
					case !strings.HasPrefix(text, "I was offline from "):
						t.Errorf("it says after the restore: %s", text)
					}
				}
				if hear < 3 {
					t.Errorf("of three games that went back %d hear of it", hear)
				}
			})
		})
	}
}
