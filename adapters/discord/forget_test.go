package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

const routeGuilds = "GET /users/@me/guilds"

// A listed service passes on in which servers it was told that the bot is.
type listed struct {
	bot.Service
	told chan []string
	err  chan error // the service's own
}

func (l *listed) Report(ctx context.Context, r bot.Report) error {
	servers, ok := r.(bot.Servers)
	if !ok {
		return l.Service.Report(ctx, r)
	}
	if servers.Platform != Name {
		servers.In = []string{"of " + servers.Platform}
	}
	l.told <- servers.In
	select {
	case err := <-l.err:
		return err
	default:
		return l.Service.Report(ctx, servers)
	}
}

// The service is told from time to time in which servers the bot is, and never after
// an error in which it is not.
func TestServersAreTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		l := &listed{bot.New(c.store, bot.Config{}), make(chan []string), make(chan error, 1)}
		other := c.d.Guild("Another club")
		both, one := []string{serverOf(c.guild.ID()), serverOf(other.ID())}, []string{serverOf(other.ID())}
		c.alone(l)
		next := func(after time.Duration, want []string) {
			t.Helper()
			from := time.Now()
			got := <-l.told
			if d := time.Since(from).Round(time.Minute); d != after || !slices.Equal(got, want) {
				t.Errorf("after %v told of %v, not after %v of %v", d, got, after, want)
			}
		}
		l.err <- errors.New("the disk is full")
		next(serversFirst, both)
		next(serversAgain, both)
		next(serversEvery, both)
		c.d.Fault(discordtest.Fault{Route: routeGuilds, Status: 500, Skip: 1, Times: 3}) // in the middle of the list
		c.d.Fault(discordtest.Fault{Route: routeGuilds, Status: 403})
		c.d.Fault(discordtest.Fault{Route: routeGuilds, Status: 429, RetryAfter: 30 * time.Minute})
		c.d.Fault(discordtest.Fault{Route: routeGuilds, Drop: discordtest.HalfWay, Times: 3})
		next(serversEvery+2*serversAgain+30*time.Minute+serversAgain, both)
		c.guild.Kick()
		next(serversEvery, one)
		c.guild.Invite()
		next(serversEvery, both)
		c.check()
	})
}

// late lets time pass, in which the bot is there and looks at what is due.
func (tb *table) late(d time.Duration) {
	tb.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(time.Hour, time.Until(end)))
		if err := tb.store.SetBookmark(tb.Context(), "bot:alive", fmt.Sprint(time.Now().UnixMilli())); err != nil {
			tb.Fatal(err)
		}
		if _, err := tb.bot.Tick(tb.Context()); err != nil {
			tb.Fatal(err)
		}
		if err := tb.bot.Flush(tb.Context(), patient{tb.a}); err != nil {
			tb.Fatal(err)
		}
	}
}

func (tb *table) tell() {
	tb.Helper()
	if err := tb.a.tellServers(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	if err := tb.bot.Flush(tb.Context(), patient{tb.a}); err != nil {
		tb.Fatal(err)
	}
	tb.quiet()
}

// A server that the bot was thrown out of: nobody loses there meanwhile, and Discord is
// not asked about it. If it is brought back within a week all is as it was; a week
// later all is forgotten.
func TestThrownOut(t *testing.T) {
	inTable(t, func(t *testing.T, tb *table) {
		asks := func(i *discordtest.Interaction) {
			t.Helper()
			tb.ok(i)
			tb.quiet()
		}
		asks(tb.alice.Slash(tb.room, "new", opt("size", "5x5"), opt("clock", "12h"), opt("rules", "aga")))
		asks(tb.bob.Slash(tb.room, "go join"))
		thread := tb.room.Threads()[0]
		asks(tb.alice.Slash(thread, "place", opt("at", "C3")))
		goes := func(what string, want ...match.State) {
			t.Helper()
			ms, err := tb.store.Matches(t.Context(), bot.Query{Where: tb.where(tb.room)})
			if err != nil || len(ms) != len(want) || len(ms) > 0 && ms[0].State != want[0] {
				t.Fatalf("%s: %v %v", what, ms, err)
			}
		}
		tb.tell()
		tb.guild.Kick()
		tb.late(time.Hour)
		tb.tell()
		said, asked := len(thread.Messages()), len(tb.d.Requests(""))
		tb.late(23 * time.Hour)
		tb.tell()
		goes("thrown out for a day", match.Going)
		for _, r := range tb.d.Requests("")[asked:] {
			if strings.Contains(r.Path, thread.ID()) {
				t.Errorf("%s %d", r.Route, r.Status)
			}
		}

		tb.guild.Invite()
		tb.tell()
		tb.late(5 * time.Second) // games that nobody touches are credited when the bot looks next
		if m := thread.Last(); len(thread.Messages()) == said || !strings.Contains(m.Content, "does not count") {
			t.Errorf("after the bot came back: %q", m.Content)
		}
		tb.late(10 * time.Hour)
		asks(tb.bob.Slash(thread, "place", opt("at", "B2")))
		if m := thread.Last(); !strings.Contains(m.Content, "White B2") {
			t.Errorf("the game does not go on: %q\n%s", m.Content, tb.log.String())
		}

		tb.guild.Kick()
		tb.tell()
		tb.late(7*24*time.Hour - time.Hour)
		tb.tell()
		goes("thrown out for less than a week", match.Going)
		tb.late(time.Hour)
		tb.tell()
		goes("thrown out for a week")
		// Who is there again begins anew.
		tb.guild.Invite()
		asks(tb.bob.Slash(tb.room, "new", opt("size", "5x5")))
		if m := tb.room.Last(); !strings.Contains(m.Content, "opens game 1:") {
			t.Errorf("%q", m.Content)
		}
	})
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
		"direct messages":                    {interaction.Interaction{ByUser: "1"}, "", false},
		"direct messages with some nonsense": {interaction.Interaction{May: rest.ManageGuild}, "", false},
	} {
		c.in.Channel.ID = "7" // as the first channel of an old server
		r := request(c.in, time.Unix(0, 0))
		if r.Server != c.server || r.Manager != c.manager || r.Server == r.Where.Channel {
			t.Errorf("%s: server %q, manager %v", name, r.Server, r.Manager)
		}
	}
}
