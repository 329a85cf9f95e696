package discord

import (
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// An asking is something that is answered, and how the answer begins, or the name of its
// file.
type asking struct {
	asks func(c *club, thread *discordtest.Channel) *discordtest.Interaction
	says string
	file string
}

var askings = map[string]asking{
	"refusal": {asks: func(c *club, thread *discordtest.Channel) *discordtest.Interaction {
		return c.bob.Slash(thread, "place", opt("at", "C4"))
	}, says: "not your turn"},
	"refused press": {asks: func(c *club, thread *discordtest.Channel) *discordtest.Interaction {
		return c.bob.Press(thread.Last(), "Pass")
	}, says: "not your turn"},
	"refused form": {asks: func(c *club, thread *discordtest.Channel) *discordtest.Interaction {
		return c.bob.Submit(c.bob.Press(thread.Last(), "Place a stone…"), map[string]any{"at": "C4"})
	}, says: "not your turn"},
	"export": {asks: func(c *club, thread *discordtest.Channel) *discordtest.Interaction {
		return c.bob.Slash(thread, pathOf("privacy"), opt("what", "export"))
	}, file: "halfpoint.json"},
	"replay": {asks: func(c *club, thread *discordtest.Channel) *discordtest.Interaction {
		return c.bob.Slash(thread, pathOf("replay"))
	}, file: "game-1.gif"},
	"for everybody": {asks: func(c *club, thread *discordtest.Channel) *discordtest.Interaction {
		return c.bob.Slash(thread, "score", opt("share", true))
	}, says: "asked for the score"},
}

// answers returns the messages in a channel that Bob sees and that answer.
func (a asking) answers(c *club, in *discordtest.Channel) (list []*discordtest.Message) {
	for _, m := range c.bob.Sees(in) {
		file := len(m.Attachments) > 0 && m.Attachments[0].Name == a.file
		if m = m.Now(); a.file != "" && file || a.file == "" && strings.Contains(m.Content, a.says) {
			list = append(list, m)
		}
	}
	return list
}

// An answer that Discord does not take now is shown later, once, and for the same people: a
// refusal, an export, a replay, a form, and an answer for everybody. Only a follow-up of
// which nobody knows whether it was sent comes again.
func TestAnswersWait(t *testing.T) {
	faults := map[string]discordtest.Fault{
		"429 for a minute":    {Status: 429, RetryAfter: time.Minute, Times: -1},
		"5xx":                 {Status: 502, Times: -1},
		"done, and cut":       {Drop: discordtest.AfterDone},
		"nothing is answered": {Delay: time.Hour, Times: -1},
	}
	for what, ask := range askings {
		t.Run(what, func(t *testing.T) {
			eachInClub(t, faults, func(t *testing.T, c *club, fault discordtest.Fault) {
				thread := c.begin(t)
				c.recorder.gate = make(chan bool)
				i := ask.asks(c, thread)
				if err := i.Refused(); err != nil {
					t.Fatal(err)
				}
				i.First()
				ends := []func(){}
				for _, route := range []string{followUpRoute, "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original", sendRoute} {
					fault.Route = route
					ends = append(ends, c.d.Fault(fault))
				}
				c.recorder.gate <- true
				fault.Route = originalRoute
				read := c.d.Fault(fault)
				c.passes(time.Minute)
				for _, end := range ends {
					end()
				}
				c.passes(time.Minute) // nobody can look yet what was taken
				read()
				c.passes(2 * time.Minute)
				shown := ask.answers(c, thread)
				again := what == "refused press" && fault.Status == 0
				if len(shown) != 1 && !again || len(shown) == 0 {
					t.Fatalf("shown %d times\n%s", len(shown), c.d.Transcript())
				}
				if (shown[0].To == "Bob") != (what != "for everybody") {
					t.Errorf("%q is for %q", shown[0].Content, shown[0].To)
				}
				if m := i.Answer(); what == "for everybody" && (m == nil || !strings.HasPrefix(m.Content, "See https://")) {
					t.Errorf("the deferral ends as %+v", m)
				}
				c.recorder.gate = nil
				c.place(c.alice, thread, "C3")
			})
		})
	}
}

// An answer that waits is dropped when the token of its interaction ends. It does not hold
// up the boards, and the room is not parked.
func TestTokenEndsWhileAnAnswerWaits(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.recorder.gate = make(chan bool)
		i := askings["refusal"].asks(c, thread)
		end := c.d.Fault(discordtest.Fault{Path: "/webhooks/", Status: 502, Times: -1})
		c.deferred(i)
		c.recorder.gate = nil
		c.passes(time.Minute)
		c.place(c.alice, thread, "C3")
		c.passes(routeLife)
		end()
		c.passes(2 * time.Minute)
		if shown := askings["refusal"].answers(c, thread); len(shown) > 0 {
			t.Errorf("shown after the token has ended: %q", shown[0].Content)
		}
		if log := c.log.String(); !strings.Contains(log, "answer dropped") || strings.Contains(log, "cannot post to a room") {
			t.Errorf("%s", log)
		}
		c.place(c.bob, thread, "B2")
	})
}

// A request that comes once more to another process, while its answer waits and after that
// was shown, gets no second answer.
func TestAskedAgainWhileItsAnswerWaits(t *testing.T) {
	for what, ask := range askings {
		t.Run(what, func(t *testing.T) {
			inClub(t, func(t *testing.T, c *club) {
				thread := c.begin(t)
				c.recorder.gate = make(chan bool)
				i := ask.asks(c, thread)
				if err := i.Refused(); err != nil {
					t.Fatal(err)
				}
				i.First()
				ends := []func(){c.d.Fault(discordtest.Fault{Path: "/webhooks/", Status: 502, Times: -1}), c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 502, Times: -1})}
				c.recorder.gate <- true
				c.passes(10 * time.Second)
				c.again()
				i.Again()
				c.passes(10 * time.Second)
				for _, end := range ends {
					end()
				}
				c.passes(2 * time.Minute)
				i.Again()
				c.passes(time.Minute)
				if shown := ask.answers(c, thread); len(shown) != 1 {
					t.Errorf("shown %d times\n%s", len(shown), c.d.Transcript())
				}
			})
		})
	}
}

// What comes of a button of a private message takes the place of that message, also if
// Discord does not take it at once.
func TestPrivateMessageIsReplacedLater(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		m := c.ok(c.bob.Slash(thread, "board"))
		c.recorder.gate = make(chan bool)
		i := c.bob.Press(m, "Move 0")
		end := c.d.Fault(discordtest.Fault{Path: "/webhooks/", Status: 502, Times: -1})
		c.deferredBy(rest.ResponseDeferUpdate, i)
		c.passes(10 * time.Second)
		if m = m.Now(); !strings.Contains(m.Content, "Black C3") {
			t.Fatalf("it is replaced at once: %q", m.Content)
		}
		end()
		if left := c.kept(c.bob, thread); len(left) != 1 || strings.Contains(left[0].Now().Content, "Black C3") || !withPicture(left[0].Now()) {
			t.Errorf("Bob sees %d messages: %q", len(left), left[0].Now().Content)
		}
	})
}

// Refusals of messages that Discord does not take come later, as one reply, which is
// deleted after a minute; after ten minutes they are dropped. The game goes on.
func TestRepliesWait(t *testing.T) {
	for name, x := range map[string]struct {
		outage  time.Duration
		replies int
	}{"for a minute": {time.Minute, 1}, "for too long": {11 * time.Minute, 0}} {
		t.Run(name, func(t *testing.T) {
			inClub(t, func(t *testing.T, c *club) {
				thread := c.begin(t)
				end := c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 429, RetryAfter: 5 * time.Second, Times: -1})
				for _, at := range []string{"C3", "C3", "C4"} {
					c.write(c.bob, thread, c.at(at))
				}
				c.passes(x.outage)
				end()
				replies := func() (list []*discordtest.Message) {
					for _, m := range thread.Messages() {
						if m.ReplyTo != "" && strings.Contains(m.Content, "not your turn") {
							list = append(list, m)
						}
					}
					return list
				}
				c.passes(40 * time.Second)
				if got := replies(); len(got) != x.replies || x.replies == 1 && !strings.HasPrefix(got[0].Content, "3× ") {
					t.Errorf("%d replies\n%s", len(got), c.d.Transcript())
				}
				c.passes(2 * time.Minute)
				if got := replies(); len(got) > 0 {
					t.Errorf("it stays: %q", got[0].Content)
				}
				c.write(c.alice, thread, c.at("C3"))
				c.shows(thread, "Black C3")
			})
		})
	}
}
