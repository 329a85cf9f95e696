package discord

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// organiser is a moderator of the club.
func (c *club) organiser() *discordtest.Person {
	mod := c.guild.Member("Mod")
	c.guild.Permit(mod, discordtest.ManageMessages)
	return mod
}

// publishes publishes an event with these options, and returns its message.
func (c *club) publishes(options ...discordtest.Option) *discordtest.Message {
	c.Helper()
	mod := c.organiser()
	c.ok(mod.Slash(c.room, "go event", append(options, opt("what", "new"))...))
	c.ok(mod.Slash(c.room, "go event", opt("what", "publish")))
	c.passes(time.Second)
	return c.sheet()
}

// sheets are the messages of events in the room.
func (c *club) sheets() (list []*discordtest.Message) {
	for _, m := range c.room.Messages() {
		if strings.Contains(m.Content, ": sign-up is open") || strings.Contains(m.Content, ": games are on") || strings.Contains(m.Content, ": over") {
			list = append(list, m)
		}
	}
	return list
}

// sheet is the message of the event in the room, of which there must be one.
func (c *club) sheet() *discordtest.Message {
	c.Helper()
	list := c.sheets()
	if len(list) != 1 {
		c.Fatalf("%d messages of the event\n%s\n%s", len(list), c.d.Transcript(), c.log.String())
	}
	return list[0]
}

// A press of Join is answered to the person alone, and the message of the event changes in
// its place. It keeps its buttons.
func TestEventIsOneMessage(t *testing.T) {
	inClubBothWays(t, func(t *testing.T, c *club) {
		m := c.publishes(opt("until", "3d"))
		if m := c.ok(c.alice.Press(m, "Join")); m.To != "Alice" || !strings.HasPrefix(m.Content, "You are in") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		c.passes(2 * time.Minute)
		now := c.sheet()
		if now.ID != m.ID || !strings.Contains(now.Content, "1 has joined: Alice.") || !slices.Equal(labelsOf(now), []string{"Join", "Leave"}) {
			t.Errorf("%q %v", now.Content, now.Controls)
		}
		c.ok(c.alice.Press(now, "Leave"))
		c.passes(5 * time.Second)
		if now = c.sheet(); !strings.Contains(now.Content, "Nobody has joined yet.") {
			t.Errorf("%q", now.Content)
		}
	})
}

// There is one message of an event, whatever comes between: a message that was sent and not
// settled is found, and one that is gone or cannot be changed any more is sent anew.
func TestEventIsNeverShownTwice(t *testing.T) {
	const send = "POST /channels/{channel_id}/messages"
	type trouble struct {
		published discordtest.Fault // from before the event is published
		then      func(c *club, m *discordtest.Message)
		anew      bool
	}
	eachInClub(t, map[string]trouble{
		"nothing":     {},
		"answer lost": {published: discordtest.Fault{Route: send, Drop: discordtest.AfterDone}},
		"killed":      {published: discordtest.Fault{Route: send, Drop: discordtest.AfterDone, Times: -1}, then: func(c *club, _ *discordtest.Message) { c.again() }},
		"restart":     {then: func(c *club, _ *discordtest.Message) { c.again() }},
		"deleted":     {then: func(_ *club, m *discordtest.Message) { m.Delete() }, anew: true},
		"many edits": {then: func(c *club, _ *discordtest.Message) {
			c.d.Fault(discordtest.Fault{Route: editRoute, Status: 429, Code: 30046, Times: 2})
		}},
		"no more edits": {then: func(c *club, _ *discordtest.Message) {
			c.d.Fault(discordtest.Fault{Route: editRoute, Status: 429, Code: 30046, Times: -1})
		}, anew: true},
	}, func(t *testing.T, c *club, x trouble) {
		mod := c.organiser()
		c.ok(mod.Slash(c.room, "go event", opt("what", "new")))
		end := func() {}
		if x.published.Route != "" {
			end = c.d.Fault(x.published)
		}
		c.ok(mod.Slash(c.room, "go event", opt("what", "publish")))
		c.ok(c.alice.Slash(c.room, "go event", opt("what", "join")))
		if x.then != nil {
			c.passes(10 * time.Second)
			m := c.sheet()
			x.then(c, m)
			c.ok(c.bob.Slash(c.room, "go event", opt("what", "join")))
			end()
			c.passes(5 * time.Minute)
			if now := c.sheet(); now.ID != m.ID != x.anew || !strings.Contains(now.Content, "2 have joined: Alice, Bob.") {
				t.Errorf("anew %v: %q", now.ID != m.ID, now.Content)
			}
			return
		}
		c.passes(time.Minute)
		if m := c.sheet(); !strings.Contains(m.Content, "1 has joined: Alice.") {
			t.Errorf("%q", m.Content)
		}
	})
}

// Forty people press Join within ten seconds, with Discord's limits, on a new message and on
// one that is so old that Discord takes few edits: each hears from the bot at once, and the
// message is edited a few times and says in the end who is in.
func TestFortyJoin(t *testing.T) {
	for name, age := range map[string]time.Duration{"new": 0, "old": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const people, within = 40, 10 * time.Second
				c := newClub(t, discordtest.Options{Limits: discordtest.DefaultLimits()})
				c.d.Fault(discordtest.Fault{Times: -1, Delay: 300 * time.Millisecond})
				if age > 0 {
					c.overHTTP()
				}
				c.start()
				m := c.publishes()
				c.passes(age + 10*time.Second)
				before, began := len(c.d.Requests("")), time.Now()
				var mu sync.Mutex
				var slowest time.Duration
				var group sync.WaitGroup
				for k := range people {
					group.Go(func() {
						time.Sleep(within * time.Duration(k) / (people - 1))
						pressed := time.Now()
						said := c.guild.Member(fmt.Sprint("Member ", k+1)).Press(m.Now(), "Join").Answer()
						took := time.Since(pressed)
						mu.Lock()
						defer mu.Unlock()
						if slowest = max(slowest, took); said == nil || said.To == "" || !strings.HasPrefix(said.Content, "You are in") {
							t.Errorf("member %d is answered by %+v", k+1, said)
						}
					})
				}
				group.Wait()
				last := time.Now()
				for !strings.Contains(c.sheet().Content, "40 have joined: ") && time.Since(last) < time.Minute {
					time.Sleep(100 * time.Millisecond)
				}
				settled := time.Since(last)
				edits, meanwhile := 0, 0
				for _, r := range c.d.Requests("")[before:] {
					if strings.HasPrefix(r.Route, "PATCH ") && r.Message == m.ID {
						edits++
						if r.At.Sub(began) <= within {
							meanwhile++
						}
					}
				}
				t.Logf("answered within %v; final %v after the last; %d edits, %d of them in the ten seconds", slowest, settled, edits, meanwhile)
				if slowest > 3*time.Second || settled > 10*time.Second || meanwhile > 4 {
					t.Error("too slow, or edited too often")
				}
				c.stop()
				c.check()
			})
		})
	}
}
