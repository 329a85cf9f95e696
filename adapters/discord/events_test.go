package discord

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// organiser is a moderator of the club.
func (c *club) organiser() *discordtest.Person {
	mod := c.guild.Member("Mod")
	c.guild.Permit(mod, discordtest.ManageMessages)
	return mod
}

// drafts has somebody fill in the form of an event, and returns the preview.
func (c *club) drafts(who *discordtest.Person, form map[string]any, options ...discordtest.Option) *discordtest.Message {
	c.Helper()
	return c.ok(who.Submit(who.Slash(c.room, "go event", append(options, opt("what", "new"))...), form))
}

// publishes publishes an event on a small board, and returns its message.
func (c *club) publishes(form map[string]any, options ...discordtest.Option) *discordtest.Message {
	c.Helper()
	mod := c.organiser()
	c.ok(mod.Press(c.drafts(mod, form, append(options, opt("size", "5x5"))...), "Publish"))
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
		m := c.publishes(nil, opt("until", "3d"))
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
		c.drafts(mod, nil)
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
				m := c.publishes(nil)
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
				c.passes(10 * time.Second)
				if content := c.sheet().Content; !strings.Contains(content, "40 have joined: ") {
					t.Errorf("ten seconds after the last the message says %q", content)
				}
				edits, meanwhile := 0, 0
				for _, r := range c.d.Requests("")[before:] {
					if strings.HasPrefix(r.Route, "PATCH ") && r.Message == m.ID {
						edits++
						if r.At.Sub(began) <= within {
							meanwhile++
						}
					}
				}
				t.Logf("answered within %v; %d edits, %d of them in the ten seconds", slowest, edits, meanwhile)
				if slowest > 3*time.Second || meanwhile > 4 {
					t.Error("too slow, or edited too often")
				}
				c.stop()
				c.check()
			})
		})
	}
}

// joins has people join the event of the room, as "Member 1" and so on, and returns them.
func (c *club) joins(m *discordtest.Message, n int) (list []*discordtest.Person) {
	c.Helper()
	for k := range n {
		who := c.guild.Member(fmt.Sprint("Member ", k+1))
		list = append(list, who)
		c.ok(who.Press(m.Now(), "Join"))
	}
	return list
}

// The games of a league of eight have a thread each, and no message in the channel. The threads
// begin one after the other, mention both players, and are called like those of other games.
// However long it takes, there are few messages in the channel.
func TestLeagueOfEight(t *testing.T) {
	lasts := tier.Pick(6*time.Hour, 6*time.Hour, 28*24*time.Hour)
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Limits: discordtest.DefaultLimits()})
		c.overHTTP()
		c.start()
		m := c.publishes(map[string]any{"title": "Spring", "until": "1h", "days": fmt.Sprint(int(lasts.Hours()), "h")})
		players := c.joins(m, 8)
		c.passes(time.Hour)
		began := time.Now()
		c.passes(2*time.Minute + 10*time.Second)
		threads := c.room.Threads()
		if len(threads) != 28 || c.d.Count("POST /channels/{channel_id}/threads") != 28 {
			t.Fatalf("%d threads after %v\n%s\n%s", len(threads), time.Since(began), c.d.Transcript(), c.log.String())
		}
		for _, thread := range threads {
			ms := thread.Messages()
			if len(ms) != 1 || !withBoard(ms[0]) || len(ms[0].Pings) != 2 || !strings.Contains(ms[0].Content, " begins: ") || !strings.Contains(ms[0].Content, "to play") {
				t.Fatalf("in %s: %d messages, %q %v", thread.Name(), len(ms), ms[0].Content, ms[0].Pings)
			}
			if !strings.HasPrefix(thread.Name(), "Game ") || !strings.HasSuffix(thread.Name(), " · Two Button Go") || !strings.Contains(thread.Name(), " – Member ") {
				t.Errorf("a thread is called %q", thread.Name())
			}
		}
		for _, m := range c.room.Messages() {
			if m.Content == threads[0].Name() {
				t.Error("Discord's message about a thread is left")
			}
		}
		links := func() (n int) {
			for _, thread := range threads {
				n += strings.Count(c.sheet().Content, "<#"+thread.ID()+">")
			}
			return n
		}
		if n := links(); n != 28 {
			t.Errorf("the message of the event leads to %d games: %q", n, c.sheet().Content)
		}
		for _, r := range c.d.Requests("") {
			if said, _ := r.Body["content"].(string); r.Message == m.ID && strings.Contains(said, "<#") && strings.Count(said, "<#") != 28 {
				t.Errorf("an edit leads to some of the games: %q", said)
			}
		}
		// One game is played, over a restart; somebody else deletes the thread of another.
		first := threads[0]
		black := players[slices.IndexFunc(players, func(p *discordtest.Person) bool { return strings.Contains(first.Last().Content, p.ID()+"> to play") })]
		c.ok(black.Slash(first, "place", opt("at", "C3")))
		c.again()
		c.passes(time.Minute)
		if last := first.Last(); !strings.Contains(last.Content, "Black C3") || len(labelsOf(first.Messages()[0])) > 0 {
			t.Errorf("after a turn: %q", last.Content)
		}
		c.passes(lasts + 10*time.Minute)
		for _, thread := range threads {
			if last := thread.Last(); !strings.Contains(last.Content, " is over: ") {
				t.Errorf("in %s the last is %q", thread.Name(), last.Content)
			}
		}
		var said []string
		for _, m := range c.room.Messages() {
			first, _, _ := strings.Cut(m.Content, "\n")
			said = append(said, first)
		}
		t.Logf("%d messages in the channel: %q", len(said), said)
		if len(said) > 12 || !strings.HasPrefix(c.sheet().Content, "Spring: over") {
			t.Errorf("there are more than 12, or the event is not over")
		}
		c.stop()
		c.check()
	})
}

// The thread of a game of an event begins once, whatever comes between, and the rules for the
// threads of other games hold for it.
func TestThreadOfAnEvent(t *testing.T) {
	const start, send = "POST /channels/{channel_id}/threads", "POST /channels/{channel_id}/messages"
	type trouble struct {
		fault   discordtest.Fault // while the game begins
		then    func(c *club, thread *discordtest.Channel)
		inRoom  bool // the game goes on in the channel
		threads int
	}
	eachInClub(t, map[string]trouble{
		"nothing":       {threads: 1},
		"no answer":     {fault: discordtest.Fault{Route: start, Drop: discordtest.AfterDone}, threads: 1},
		"killed":        {fault: discordtest.Fault{Route: start, Drop: discordtest.AfterDone, Times: -1}, then: func(c *club, _ *discordtest.Channel) { c.again() }, threads: 1},
		"not done":      {fault: discordtest.Fault{Route: start, Drop: discordtest.BeforeDone}, threads: 1},
		"outage":        {fault: discordtest.Fault{Route: start, Status: 503, Times: 3}, threads: 1},
		"board refused": {fault: discordtest.Fault{Route: send, Status: 503, Times: -1}, then: func(c *club, _ *discordtest.Channel) { c.again() }, threads: 1},
		"limited":       {fault: discordtest.Fault{Route: start, Status: 429, RetryAfter: 20 * time.Second}, threads: 1},
		"not permitted": {fault: discordtest.Fault{Route: start, Status: 403, Code: 50013, Times: -1}, inRoom: true},
		"deleted":       {then: func(_ *club, thread *discordtest.Channel) { thread.Delete() }, inRoom: true},
		"archived":      {then: func(_ *club, thread *discordtest.Channel) { thread.Archive() }, threads: 1},
	}, func(t *testing.T, c *club, x trouble) {
		m := c.publishes(map[string]any{"until": "1h"})
		c.joins(m, 2)
		end := func() {}
		if x.fault.Route != "" {
			x.fault.Path = "/" // not the answers to interactions
			end = c.d.Fault(x.fault)
		}
		c.passes(time.Hour + 2*time.Minute)
		thread := c.room.WaitThread(0)
		if x.then != nil {
			x.then(c, thread)
		}
		end()
		c.passes(2 * time.Minute)
		ctx, where := c.room, "in the channel"
		if !x.inRoom {
			ctx, where = thread, "in the thread"
		}
		if n := len(c.room.Threads()); n != x.threads {
			t.Fatalf("%d threads, not %d\n%s", n, x.threads, c.d.Transcript())
		}
		if boards := count(ctx.Messages(), says("to play, for example")); boards != 1 && x.then == nil {
			t.Errorf("%d boards %s\n%s", boards, where, c.d.Transcript())
		}
		for k := range 2 { // one of them is to play
			c.ok(c.guild.Member(fmt.Sprint("Member ", k+1)).Slash(ctx, "place", opt("at", "C3")))
		}
		c.passes(time.Minute)
		if last := ctx.Last(); !strings.Contains(last.Content, "Black C3") {
			t.Errorf("the turn is not shown %s: %q\n%s", where, last.Content, c.d.Transcript())
		}
		started := func(m *discordtest.Message) bool { return strings.HasPrefix(m.Content, "Game 1: Member") }
		if n := count(c.room.Messages(), started); n > 0 {
			t.Errorf("%d messages say that a thread was started", n)
		}
		said := c.sheet().Content
		if leads := strings.Contains(said, "<#"); x.threads == 1 && !strings.Contains(said, "<#"+thread.ID()+">") || x.threads == 0 && x.then == nil && leads {
			t.Errorf("the message of the event leads to a thread: %v\n%s", leads, said)
		}
	})
}

// Where the games could not have threads, an event is not published, and the organiser hears
// why. Once the bot may begin threads it is.
func TestEventNeedsThreads(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		mod := c.organiser()
		c.room.OverwriteBot(0, discordtest.CreatePublicThreads)
		c.drafts(mod, nil)
		if m := c.ok(mod.Slash(c.room, "go event", opt("what", "publish"))); m.To != "Mod" || !strings.Contains(m.Content, "Grant me Create Public Threads in this channel") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		c.room.OverwriteBot(0, 0)
		if m := c.ok(mod.Slash(c.room, "go event", opt("what", "publish"))); !strings.Contains(m.Content, "is published") {
			t.Errorf("%q", m.Content)
		}
		c.settle()
		c.sheet()
	})
}

// Who organises an event answers the questions in one form, which holds what they answered
// before, and shows those of the system. What is wrong is said, and the rest of it kept.
func TestFormOfAnEvent(t *testing.T) {
	inClubBothWays(t, func(t *testing.T, c *club) {
		mod := c.organiser()
		fields := func(i *discordtest.Interaction) (list []string) {
			c.Helper()
			m := i.Modal()
			if m == nil {
				c.Fatalf("no form\n%s", c.d.Transcript())
			}
			for _, f := range m.Fields {
				list = append(list, f.CustomID+"="+f.Value)
			}
			return list
		}
		is := func(i *discordtest.Interaction, want ...string) *discordtest.Interaction {
			c.Helper()
			if got := fields(i); !slices.Equal(got, want) {
				c.Errorf("the form has %q, not %q", got, want)
			}
			return i
		}
		first := is(mod.Slash(c.room, "go event", opt("what", "new"), opt("rules", "aga"), opt("system", "groups"), opt("until", "3d")),
			"title=", "seats=", "until=3d", "group=", "days=")
		preview := c.ok(mod.Submit(first, map[string]any{"title": "Spring 🌸", "seats": "12", "group": "6", "days": "14"}))
		for _, want := range []string{"“Spring 🌸”", "AGA", "the first 12 who join", "up to 6 players", "14 days"} {
			if !strings.Contains(preview.Content, want) || preview.To != "Mod" {
				t.Errorf("the preview lacks %q: %q", want, preview.Content)
			}
		}
		again := is(mod.Press(preview, "Change…"), "title=Spring 🌸", "seats=12", "until=3d", "group=6", "days=14")
		if m := c.ok(mod.Submit(again, map[string]any{"seats": "", "days": "soon", "title": "Summer"})); m.To != "Mod" || !strings.Contains(m.Content, "“soon”") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		swiss := is(mod.Slash(c.room, "go event", opt("what", "new"), opt("system", "swiss")), "title=Summer", "seats=", "until=3d", "rounds=", "days=14")
		if m := c.ok(mod.Submit(swiss, map[string]any{"rounds": "4"})); !strings.Contains(m.Content, "“Summer”") || !strings.Contains(m.Content, "4 rounds") {
			t.Errorf("%q", m.Content)
		}
	})
}

// A long list of names, with emoji and from right to left, fits into the message of an event:
// the first are named, the others counted.
func TestManyNamesInAnEvent(t *testing.T) {
	inClubForDays(t, func(t *testing.T, c *club) {
		m := c.publishes(nil)
		for k := range 60 {
			c.ok(c.guild.Member(fmt.Sprint("שלום_עולם_🌸_Player_", k+1)).Press(m.Now(), "Join"))
			c.passes(time.Second)
		}
		c.passes(time.Minute)
		now := c.sheet()
		if !strings.Contains(now.Content, "60 have joined: ") || !strings.Contains(now.Content, "and 20 more.") && !strings.Contains(now.Content, "and 50 more.") {
			t.Errorf("%q", now.Content)
		}
		if !slices.Equal(labelsOf(now), []string{"Join", "Leave"}) {
			t.Errorf("%v", labelsOf(now))
		}
	})
}

// A post that mentions more people than fit into one message mentions each once, in several.
func TestManyMentions(t *testing.T) {
	const people = 200
	p := outbox.Post{Kind: match.Notice, ID: "e-1-2-begins", Text: "The event begins."}
	for k := range people {
		p.Notify = append(p.Notify, outbox.User{Platform: Name, ID: fmt.Sprint(1566783936921600000 + k)})
	}
	d := &delivery{p: p, c: content{text: p.Text, notify: p.Notify}}
	if err := d.build(); err != nil {
		t.Fatal(err)
	}
	mentioned := 0
	for _, m := range append([]rest.Message{d.m}, d.more...) {
		if n := len(m.AllowedMentions.Users); n > 100 || utf8.RuneCountInString(*m.Content) > maxContent || strings.Count(*m.Content, "<@") != n {
			t.Errorf("%d mentions in %q", n, *m.Content)
		}
		mentioned += len(m.AllowedMentions.Users)
	}
	if mentioned != people {
		t.Errorf("%d are mentioned", mentioned)
	}
}

// An event in a channel that is deleted, or in which the bot may do nothing any more, comes to
// its end quietly, and one in a server that has left the bot is forgotten with it. Where the bot
// may write again, it says how the event stands.
func TestEventWithoutItsChannel(t *testing.T) {
	type loss struct {
		lose    func(c *club)
		again   func(c *club) // after the end of the event
		passes  time.Duration
		forgets bool
	}
	for name, x := range map[string]loss{
		"deleted": {lose: func(c *club) { c.room.Delete() }},
		"barred": {lose: func(c *club) { c.room.OverwriteBot(0, discordtest.ViewChannel) }, again: func(c *club) {
			c.room.OverwriteBot(0, 0)
			c.ok(c.alice.Slash(c.room, "go event"))
		}},
		"kicked": {lose: func(c *club) { c.guild.Kick() }, passes: 8 * 24 * time.Hour, forgets: true},
	} {
		t.Run(name, func(t *testing.T) {
			if x.passes > 24*time.Hour {
				tier.Soak(t)
			}
			inClubForDays(t, func(t *testing.T, c *club) {
				m := c.publishes(map[string]any{"until": "1h", "days": "6h"})
				c.joins(m, 3)
				c.passes(time.Hour + 2*time.Minute)
				if n := len(c.room.Threads()); n != 3 {
					t.Fatalf("%d threads", n)
				}
				x.lose(c)
				before := len(c.d.Requests(""))
				c.passes(8*time.Hour + x.passes)
				asked := 0
				for _, r := range c.d.Requests("")[before:] {
					if strings.Contains(r.Route, " /channels/") {
						asked++
					}
				}
				if asked > 20 {
					t.Errorf("the channel is asked %d times meanwhile", asked)
				}
				heads, err := c.store.Contests(t.Context(), match.Room{Platform: Name, Channel: c.room.ID()}, nil, 10)
				if err != nil {
					t.Fatal(err)
				}
				if x.forgets != (len(heads) == 0) || !x.forgets && heads[0].State != contest.Over {
					t.Errorf("the events are %+v", heads)
				}
				if strings.Contains(c.log.String(), "level=ERROR") {
					t.Error("errors are logged")
				}
				if x.again != nil {
					x.again(c)
					c.passes(time.Minute)
					if m := c.sheet(); !strings.Contains(m.Content, ": over") {
						t.Errorf("%q", m.Content)
					}
				}
			})
		})
	}
}

// Where players declare their rank, Join opens a form for it. What is no rank is refused to the
// person alone.
func TestJoinWithARank(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		m := c.publishes(nil, opt("ranks", true))
		for _, x := range []struct{ typed, said string }{{"100d", "“100d”"}, {"5k", "You are in"}} {
			i := c.alice.Press(m.Now(), "Join")
			if modal := i.Modal(); modal == nil || len(modal.Fields) != 1 {
				t.Fatalf("no form: %+v", modal)
			}
			if m := c.ok(c.alice.Submit(i, map[string]any{"rank": x.typed})); m.To != "Alice" || !strings.Contains(m.Content, x.said) {
				t.Errorf("%s: %q to %q", x.typed, m.Content, m.To)
			}
		}
		c.passes(5 * time.Second)
		if now := c.sheet(); !strings.Contains(now.Content, "Alice (5k)") && !strings.Contains(now.Content, "Alice 5k") {
			t.Errorf("%q", now.Content)
		}
	})
}
