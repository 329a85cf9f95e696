package matrix

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// answers returns the bot's messages that reply to an event.
func (g *guest) answers(to id.EventID) (all []*matrixtest.Message) {
	for _, m := range g.View(g.at).From(g.c.user.ID) {
		if m.ReplyTo == to {
			all = append(all, m)
		}
	}
	return all
}

// again lets the bot handle an event that it has handled, as if it had ended before it could
// store that.
func (c *club) again(at id.RoomID, e id.EventID) {
	c.Helper()
	sent, err := c.a.device().Client.GetEvent(c.Context(), at, e)
	if err != nil {
		c.Fatal(err)
	}
	body, err := sent.MarshalJSON()
	if err != nil {
		c.Fatal(err)
	}
	c.exec("UPDATE matrix_event SET state = 'waiting', body = $1 WHERE event = $2", string(body), e)
}

// While messages fail for a minute, each event is settled at once, and is answered exactly
// once in the end: with words, with a picture, with a file for its author alone. It is so if
// the bot is killed meanwhile.
func TestAnswersDespiteFaults(t *testing.T) {
	for name, fault := range map[string]matrixtest.Fault{
		"429": matrixtest.TooMany(time.Minute),
		"5xx after accepting": func(x *matrixtest.Exchange) {
			if _, err := x.Forward(); err != nil {
				x.Cut()
			}
			matrixtest.Fails(http.StatusBadGateway, "")(x)
		},
		"no connection":             matrixtest.Cuts(),
		"no answer":                 matrixtest.Holds(nil),
		"no answer after accepting": matrixtest.Loses(),
	} {
		for _, killed := range []bool{false, true} {
			t.Run(map[bool]string{true: "killed, "}[killed]+name, func(t *testing.T) {
				inMemory(t, func(t *testing.T, s *matrixtest.Server) {
					c, p, g := playing(t, s)
					c.settle()
					fails := p.Always(matrixtest.Sending, fault)
					refused, replay, export := g.white.says(g.root, "!place C3"), g.black.says(g.root, "!replay"), g.black.says("", "!privacy export")
					for _, e := range []id.EventID{refused, replay, export} {
						c.dealt(g.black.at, e)
					}
					if fails.Await(t, 1); killed {
						c.kill()
						time.Sleep(time.Minute)
					} else {
						time.Sleep(time.Minute)
						for _, e := range []id.EventID{refused, replay, export} { // the same once more
							c.again(g.black.at, e)
						}
						c.a.wake(g.black.at)
					}
					fails.Stop()
					if killed {
						c.start()
					}
					c.await("the file", func() bool {
						with := c.with(g.black)
						return len(with) == 1 && len(g.black.answers(export)) > 0 && len(g.black.answers(replay)) > 0 && len(g.white.answers(refused)) > 0
					})
					c.again(g.black.at, refused)
					c.a.wake(g.black.at)
					c.dealt(g.black.at, refused)
					c.settled()
					caughtUp(g.black.Player, g.black.at)
					for what, x := range map[string]struct {
						who  *guest
						to   id.EventID
						kind event.MessageType
					}{"It is not your turn": {g.white, refused, event.MsgNotice}, "Game 1": {g.black, replay, event.MsgImage}, wordDirectly: {g.black, export, event.MsgNotice}} {
						if all := x.who.answers(x.to); len(all) != 1 || all[0].Kind != string(x.kind) || !strings.Contains(all[0].Text(), what) {
							t.Errorf("%s: %d answers\n%s", what, len(all), x.who.Sees(x.who.at))
						}
					}
					alone := c.with(g.black)[0]
					g.black.Joins(alone)
					caughtUp(g.black.Player, alone)
					if files := g.black.View(alone).From(c.user.ID); len(files) != 1 {
						t.Errorf("%d files", len(files))
					}
					c.once(g.black, g.black.at)
				})
			})
		}
	}
}

// While the homeserver takes nothing, refusals wait: what one person asked in one place is
// answered by one message, a line for each refusal and equal ones once. Boards come first.
func TestRefusalsWaitTogether(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, p, g := playing(t, s)
		c.settled()
		limit := p.Always(matrixtest.Sending, matrixtest.TooMany(time.Minute))
		var said []id.EventID
		for _, typed := range []string{"!place C3", "!plase E5", "!sgf 1 2 3", "!place C3"} {
			said = append(said, g.white.asks(g.root, typed))
		}
		g.black.asks(g.root, "!place B2")
		limit.Stop()
		g.black.reads("1. ")
		c.settled()
		caughtUp(g.white.Player, g.white.at)
		all := g.white.answers(said[0])
		if len(all) != 1 || all[0].Thread != g.root || slices.ContainsFunc(said[1:], func(e id.EventID) bool { return len(g.white.answers(e)) > 0 }) {
			t.Fatalf("%d answers\n%s", len(all), g.white.Sees(g.white.at))
		}
		lines := strings.Split(all[0].Text(), "\n")
		for k, want := range []string{"It is not your turn", "Did you mean", "in !sgf"} {
			if k >= len(lines) || !strings.Contains(lines[k], want) {
				t.Errorf("line %d of %q", k, lines)
			}
		}
	})
}

// The release before stored an event's outcome after it had sent the answer. If it ended
// between the two, the answer is not sent again; if it ended before, it is sent.
func TestAnswersOfTheReleaseBefore(t *testing.T) {
	for name, sent := range map[string]bool{"sent": true, "not sent": false} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := newClub(t, s)
				p := c.through()
				c.start()
				anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
				fails := p.Always(matrixtest.Sending, matrixtest.Fails(http.StatusServiceUnavailable, ""))
				if sent {
					fails.Stop()
				}
				var asked []id.EventID
				for _, typed := range []string{"!settings size:9x9", "!plase E5", "!place A1", "!help place"} {
					asked = append(asked, anna.asks("", typed))
					if sent {
						c.settled()
					}
				}
				for _, e := range asked {
					c.again(anna.at, e)
				}
				c.halt()
				_, db, closed := openStore(t, c.file)
				for _, q := range []string{"DELETE FROM post", "DELETE FROM inbox WHERE request NOT LIKE '%" + asked[0].String() + "'"} { // a step stored the first alone
					if _, err := db.Exec(t.Context(), q); err != nil {
						t.Fatal(err)
					}
				}
				if err := closed(); err != nil {
					t.Fatal(err)
				}
				fails.Stop()
				c.start()
				for _, e := range asked {
					c.dealt(anna.at, e)
				}
				c.settled()
				caughtUp(anna.Player, anna.at)
				sees := anna.Sees(anna.at) // two refusals may share a message, if the first has not been sent when the second comes
				for _, answer := range []string{"New games here", "There is no command !plase", "There is no game here yet", "Place a stone, or your handicap stones"} {
					if n := strings.Count(sees, answer); n != 1 {
						t.Errorf("%q stands there %d times:\n%s", answer, n, sees)
					}
				}
			})
		})
	}
}

// A reaction cannot be replied to, so the answer begins with the name of its author.
func TestAnswerToAReaction(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, _, g := playing(t, s)
		e := g.white.Reacts(g.white.at, g.root, "⏭️")
		c.dealt(g.white.at, e)
		if m := g.white.reads("It is not your turn"); !strings.HasPrefix(m.Text(), "Bob: ") || m.ReplyTo != "" || m.Thread != g.root {
			t.Errorf("%q replies to %q in %q", m.Text(), m.ReplyTo, m.Thread)
		}
	})
}
