package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
)

const routeGuilds = "GET /users/@me/guilds"

// A listed desk keeps in which servers it was told that the bot is.
type listed struct {
	bot.Desk
	mu   sync.Mutex
	told [][]string
	err  error // the desk's own
}

func (l *listed) Servers(ctx context.Context, platform string, in []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if platform != Name {
		in = []string{"of " + platform}
	}
	l.told = append(l.told, in)
	if err := l.err; err != nil {
		l.err = nil
		return err
	}
	return l.Desk.Servers(ctx, platform, in)
}

// wait waits until the desk is told so many times more, and gives what it was
// told from then on.
func (l *listed) wait(c *club, more int) [][]string {
	c.Helper()
	l.mu.Lock()
	before := len(l.told)
	l.mu.Unlock()
	for range 12_000 {
		l.mu.Lock()
		told := slices.Clone(l.told[before:])
		l.mu.Unlock()
		if len(told) >= more {
			return told
		}
		time.Sleep(5 * time.Millisecond)
	}
	c.Fatalf("the desk is not told in which servers the bot is\n%s", c.log.String())
	return nil
}

// The desk is told from time to time in which servers the bot is, whichever way
// interactions come, and never after an error in which it is not.
func TestServersAreTold(t *testing.T) {
	for _, way := range []string{"through the gateway", "over HTTP"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := newClub(t, discordtest.Options{})
			c.cfg.Servers = 20 * time.Millisecond
			if way == "over HTTP" {
				c.cfg.Listen, c.cfg.PublicKey = "127.0.0.1:0", c.d.PublicKey()
			}
			l := &listed{err: errors.New("the disk is full")}
			c.desk = func(d bot.Desk) bot.Desk { l.Desk = d; return l }
			other := c.d.Guild("Another club")
			c.start()
			want := []string{serverOf(c.guild.ID()), serverOf(other.ID())}
			told := l.wait(c, 3)
			c.d.Fault(discordtest.Fault{Route: routeGuilds, Status: 500, Skip: 1, Times: 3}) // in the middle of the list
			c.d.Fault(discordtest.Fault{Route: routeGuilds, Status: 403})
			c.d.Fault(discordtest.Fault{Route: routeGuilds, Status: 429, RetryAfter: 10 * time.Millisecond})
			c.d.Fault(discordtest.Fault{Route: routeGuilds, Drop: discordtest.HalfWay, Times: 3})
			told = append(told, l.wait(c, 3)...)
			for _, in := range told {
				if !slices.Equal(in, want) {
					t.Errorf("told of %v, the bot is in %v", in, want)
				}
			}
			c.guild.Kick()
			if told := l.wait(c, 2); !slices.Equal(told[1], want[1:]) {
				t.Errorf("told of %v after it was thrown out, the bot is in %v", told, want[1:])
			}
			c.guild.Invite()
			if told := l.wait(c, 2); !slices.Equal(told[1], want) {
				t.Errorf("told of %v, the bot is in %v", told, want)
			}
			c.stop()
			c.check()
		})
	}
}

// late lets time pass, in which the bot is there and looks at what is due.
func (tb *table) late(d time.Duration) {
	tb.Helper()
	for end := tb.d.Now().Add(d); tb.d.Now().Before(end); {
		tb.d.Advance(min(time.Hour, end.Sub(tb.d.Now())))
		if err := tb.store.SetBookmark(tb.Context(), "bot:alive", fmt.Sprint(tb.d.Now().UnixMilli())); err != nil {
			tb.Fatal(err)
		}
		if _, err := tb.bot.Tick(tb.Context()); err != nil {
			tb.Fatal(err)
		}
		if err := tb.bot.Flush(tb.Context(), patient{tb.a, nil}); err != nil {
			tb.Fatal(err)
		}
	}
}

func (tb *table) tell() {
	tb.Helper()
	if err := tb.a.tellServers(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err := tb.bot.Flush(tb.Context(), patient{tb.a, nil}); err != nil {
		tb.Fatal(err)
	}
	tb.quiet()
}

// games gives how the games of a server stand.
func (tb *table) games(channels ...*discordtest.Channel) (states []bot.State) {
	tb.Helper()
	for _, c := range channels {
		ms, err := tb.store.Matches(tb.Context(), bot.Query{Where: bot.Room{Platform: Name, Channel: c.ID()}})
		if err != nil {
			tb.Fatal(err)
		}
		for _, m := range ms {
			states = append(states, m.State)
		}
	}
	return states
}

// A server that the bot was thrown out of: nobody loses there meanwhile. If it is
// brought back within a week all is as it was; a week later all is forgotten, with
// the people who played nowhere else.
func TestThrownOut(t *testing.T) {
	tb := newTable(t, false)
	other := tb.d.Guild("Another club")
	far, carol := other.Channel("far"), other.Member("Carol")
	other.Member("Alice")
	asks := func(i *discordtest.Interaction) {
		t.Helper()
		tb.ok(i)
		tb.quiet()
	}
	play := func(room *discordtest.Channel, clock string, black, white *discordtest.Person) *discordtest.Channel {
		t.Helper()
		asks(black.Slash(room, "new", opt("size", "5x5"), opt("clock", clock), opt("rules", "aga")))
		asks(white.Slash(room, "join"))
		asks(black.Slash(room.Threads()[len(room.Threads())-1], "place", opt("at", "C3")))
		return room.Threads()[len(room.Threads())-1]
	}
	thread := play(tb.room, "12h", tb.alice, tb.bob)
	play(far, "30d", tb.alice, carol)
	tb.tell()
	tb.guild.Kick()
	tb.late(time.Hour)
	tb.tell()
	said := len(thread.Messages())
	tb.late(23 * time.Hour)
	tb.tell()
	if got := tb.games(tb.room, far); !slices.Equal(got, []bot.State{bot.Going, bot.Going}) {
		t.Fatalf("thrown out for a day: %v", got)
	}
	for _, r := range tb.d.Requests("") { // nor has it knocked at the door
		if r.At.After(tb.d.Now().Add(-22*time.Hour)) && strings.Contains(r.Path, thread.ID()) {
			t.Errorf("%s %d", r.Route, r.Status)
		}
	}

	tb.guild.Invite()
	tb.tell()
	if m := thread.Last(); len(thread.Messages()) == said || !strings.Contains(m.Content, "does not count") {
		t.Errorf("after the bot came back: %q", m.Content)
	}
	tb.late(10 * time.Hour)
	asks(tb.bob.Slash(thread, "place", opt("at", "B2")))
	if m := thread.Last(); !strings.Contains(m.Content, "White B2") {
		t.Errorf("the game does not go on: %q\n%s", m.Content, tb.log.String())
	}

	asks(tb.bob.Slash(tb.room, "settings")) // nothing of it stays
	tb.guild.Kick()
	tb.tell()
	tb.late(7*24*time.Hour - time.Hour)
	tb.tell()
	if got := tb.games(tb.room, far); !slices.Equal(got, []bot.State{bot.Going, bot.Going}) {
		t.Fatalf("thrown out for less than a week: %v", got)
	}
	tb.late(time.Hour)
	tb.tell()
	if got := tb.games(tb.room, far); !slices.Equal(got, []bot.State{bot.Going}) {
		t.Fatalf("thrown out for a week: %v", got)
	}
	if got := tb.games(far); !slices.Equal(got, []bot.State{bot.Going}) {
		t.Errorf("the other server: %v", got)
	}
	known, err := tb.store.Servers(t.Context(), Name)
	if err != nil {
		t.Fatal(err)
	}
	if len(known) != 1 || known[0].ID != serverOf(other.ID()) {
		t.Errorf("servers known: %v", known)
	}
	var kept strings.Builder
	if err := tb.store.(interface {
		Export(context.Context, io.Writer) error
	}).Export(t.Context(), &kept); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{tb.alice.ID(): true, carol.ID(): true, tb.bob.ID(): false, tb.guild.ID(): false, tb.room.ID(): false,
		thread.ID(): false, other.ID(): true, far.ID(): true, "Bob": false, "Alice": true} {
		if strings.Contains(kept.String(), id) != want {
			t.Errorf("%q is kept: %v", id, !want)
		}
	}
	// Who is there again begins anew.
	tb.guild.Invite()
	asks(tb.bob.Slash(tb.room, "new", opt("size", "5x5")))
	if m := tb.room.Last(); !strings.Contains(m.Content, "opens game 1:") {
		t.Errorf("%q", m.Content)
	}
}

// To which server a request belongs, and who looks after that.
func TestServerOfRequest(t *testing.T) {
	for name, c := range map[string]struct {
		in      interaction.Interaction
		server  string
		manager bool
	}{
		"a member":                           {interaction.Interaction{Guild: "7", ByGuild: "7", May: rest.SendMessages | rest.ManageMessages}, "guild:7", false},
		"who manages the server":             {interaction.Interaction{Guild: "7", ByGuild: "7", May: rest.ManageGuild}, "guild:7", true},
		"an administrator":                   {interaction.Interaction{Guild: "7", ByGuild: "7", ByUser: "1", May: rest.Administrator}, "guild:7", true},
		"somebody who has brought the bot":   {interaction.Interaction{Guild: "7", ByUser: "1", May: rest.SendMessages}, "", false},
		"direct messages":                    {interaction.Interaction{ByUser: "1", Context: interaction.InBotDM}, "", false},
		"direct messages with some nonsense": {interaction.Interaction{May: rest.ManageGuild}, "", false},
	} {
		c.in.Channel.ID = "7" // as the first channel of an old server
		r := request(c.in, time.Unix(0, 0))
		if r.Server != c.server || r.Manager != c.manager || r.Server == r.Where.Channel {
			t.Errorf("%s: server %q, manager %v", name, r.Server, r.Manager)
		}
	}
}

// Who manages the server says where games are opened, and others are told where
// that is.
func TestWhereGamesAreWelcome(t *testing.T) {
	tb := newTable(t, false)
	hall, mod := tb.guild.Channel("hall"), tb.guild.Member("Mod")
	tb.guild.Permit(mod, discordtest.ManageMessages)
	owner := tb.guild.Member("Owner")
	tb.guild.Permit(owner, discordtest.ManageGuild)
	says := func(i *discordtest.Interaction, words string) *discordtest.Message {
		t.Helper()
		m := tb.ok(i)
		tb.quiet()
		if !strings.Contains(m.Content, words) {
			t.Errorf("%q, want %q", m.Content, words)
		}
		return m
	}
	everywhere := opt("whose", "server")
	says(mod.Slash(tb.room, "settings", opt("opens", "nobody"), everywhere), "Only those who manage the whole server")
	says(owner.Slash(tb.room, "settings", opt("opens", "nobody"), everywhere), "Nobody opens games")
	says(mod.Slash(hall, "settings", opt("opens", "anyone")), "Anyone may open games")
	m := says(tb.alice.Slash(tb.room, "new", opt("size", "5x5")), "They are welcome here: <#"+hall.ID()+">.")
	if m.To != "Alice" {
		t.Errorf("it is for %q", m.To)
	}
	says(tb.alice.Slash(hall, "new", opt("size", "5x5")), "opens game 1")
	says(owner.Slash(owner.DM(), "settings", everywhere), "belongs to no server")
	tb.check()
}
