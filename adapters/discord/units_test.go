package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// A process is one of several of the bot of a club.
type process struct {
	*club
	plug plug
	rows cutRows
}

// cutRows are what a process has no connection to while cut is set.
type cutRows struct {
	units.Rows
	cut atomic.Bool
}

func (r *cutRows) Look(ctx context.Context) ([]units.Row, []units.Process, error) {
	if r.cut.Load() {
		return nil, nil, errors.New("the database is away")
	}
	return r.Rows.Look(ctx)
}

func (r *cutRows) Renew(ctx context.Context, p units.Process, holders []string) ([]string, error) {
	if r.cut.Load() {
		return nil, errors.New("the database is away")
	}
	return r.Rows.Renew(ctx, p, holders)
}

func (r *cutRows) Keep(ctx context.Context, name, holder, state string) (bool, error) {
	if r.cut.Load() {
		return false, errors.New("the database is away")
	}
	return r.Rows.Keep(ctx, name, holder, state)
}

// beside returns the same club without its bot.
func (c *club) beside() *club {
	return &club{T: c.T, d: c.d, guild: c.guild, room: c.room, alice: c.alice, bob: c.bob, store: c.store, cfg: c.cfg, network: c.network, settling: c.settling}
}

// processes returns two processes for the bot of a club, which do not run yet.
func processes(c *club) (first, second *process) {
	c.Helper()
	made := [2]*process{}
	for i, id := range []string{"first", "second"} {
		p := &process{club: c.beside()}
		rows, err := c.store.(*store.Store).OpenUnits()
		if err != nil {
			c.Fatal(err)
		}
		p.rows.Rows = rows
		p.plug.dial = c.network.DialContext
		p.cfg.Dial = p.plug.DialContext
		p.units = units.New(units.Config{Rows: &p.rows, ID: id, Log: slog.New(slog.NewTextHandler(&p.log, &logging))})
		ctx, leave := context.WithCancel(context.Background())
		left := make(chan error, 1)
		go func() { left <- p.units.Run(ctx) }()
		c.Cleanup(func() {
			leave()
			if err := <-left; err != nil {
				c.Error(err)
			}
			if c.Failed() {
				c.Logf("the log of the %s process:\n%s", id, p.log.String())
			}
		})
		made[i] = p
	}
	return made[0], made[1]
}

// pair returns a club and two processes for its bot, of which the first runs and holds the only shard.
func pair(t *testing.T) (c *club, first, second *process) {
	t.Helper()
	c = newClub(t, discordtest.Options{})
	first, second = processes(c)
	first.start()
	first.holds(1, 1)
	return c, first, second
}

// dies cuts a process off from Discord and from the units, as if its machine had lost its power.
func (p *process) dies() {
	p.plug.pull()
	p.rows.cut.Store(true)
}

// holds waits until a process holds so many of the shards.
func (p *process) holds(n, of int) {
	p.Helper()
	held := 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); p.passes(time.Second / 2) {
		held = 0
		for shard := range of {
			if p.units.Holds(unitOf(shard, of)) {
				held++
			}
		}
		if held == n && p.a.Health().Connected {
			return
		}
	}
	p.Fatalf("it holds %d of %d shards, not %d: %+v", held, of, n, p.a.Health())
}

// Two processes share four shards: one gives up two, and the other goes on with their sessions. A
// game in each shard's server is played by the process that has the shard, and the other hears
// nothing of it. When one process ends, the other goes on with all games. Nobody identifies again.
func TestShards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const shards, each = 4, 2
		c := newClub(t, discordtest.Options{Shards: shards, Concurrency: shards})
		first, second := processes(c)
		first.start()
		first.holds(shards, shards)
		second.start()
		second.holds(each, shards)
		first.holds(each, shards)
		if n := c.d.Count(commandsRoute); n != 1 {
			t.Errorf("the commands were registered %d times", n)
		}
		type table struct {
			c      *club
			thread *discordtest.Channel
		}
		tables := map[int]table{}
		want := map[*process]int{}
		for n := 0; len(tables) < shards; n++ {
			guild := c.d.Guild(fmt.Sprint("club ", n))
			shard := shardOf(t, guild, shards)
			if tables[shard].thread != nil {
				continue
			}
			p := first
			if second.units.Holds(unitOf(shard, shards)) {
				p = second
			}
			at := p.beside()
			at.guild, at.room = guild, guild.Channel("games")
			at.alice, at.bob = guild.Member(fmt.Sprint("Black ", shard)), guild.Member(fmt.Sprint("White ", shard))
			thread := at.begin(t)
			at.place(at.alice, thread, "C3")
			tables[shard] = table{at, thread}
			want[p] += 3
		}
		for _, p := range []*process{first, second} {
			heard := 0
			for who, n := range p.recorder.heard() {
				heard += n
				var shard int
				fmt.Sscanf(who[strings.LastIndex(who, " "):], "%d", &shard) //nolint:errcheck // the test has made it
				if !p.units.Holds(unitOf(shard, shards)) {
					t.Errorf("a process hears %s", who)
				}
			}
			if heard < want[p] {
				t.Errorf("a process was asked %d times, not %d", heard, want[p])
			}
		}
		first.stop()
		second.holds(shards, shards)
		for shard, x := range tables {
			x.c.place(x.c.bob, x.thread, "C4")
			x.c.ok(x.c.alice.Slash(x.thread, "go resign"))
			if n := count(x.thread.Messages(), withPicture); n < 3 {
				t.Errorf("shard %d: %d boards\n%s", shard, n, c.d.Transcript())
			}
		}
		if got := c.d.Gateway(); got.Identified != shards {
			t.Errorf("at the gateway: %+v", got)
		}
		for _, p := range []*process{first, second} {
			log := p.log.String()
			if led, greeted := strings.Count(log, "took a unit\" unit=discord/0/"), strings.Count(log, "connected to Discord"); greeted != led {
				t.Errorf("a process that took the first shard %d times did %d times what one does for all", led, greeted)
			}
		}
		second.stop()
		c.check()
	})
}

// A process with another number of shards waits until those with the other number are gone, so that
// nothing is heard twice. Meanwhile they go on. So the number is changed in one process after the other.
func TestAnotherNumberOfShards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const before, after = 2, 3
		c := newClub(t, discordtest.Options{Shards: before, Concurrency: after})
		first, second := processes(c)
		first.start() // with as many as Discord recommends
		first.holds(before, before)
		thread := first.begin(t)
		second.cfg.Shards, second.waits = after, true
		second.start()
		second.passes(time.Minute)
		second.holds(0, after)
		if got := strings.Count(second.log.String(), "will wait until it is gone"); got != 1 {
			t.Errorf("it says %d times that it waits:\n%s", got, second.log.String())
		}
		first.holds(before, before)
		first.place(c.alice, thread, "C3")
		typed := "<@" + first.a.self + "> "
		c.bob.Say(thread, typed+"D3")
		first.shows(thread, "White D3")

		first.stop()
		second.holds(after, after)
		second.place(c.alice, thread, "C4")
		c.bob.Say(thread, typed+"D4")
		second.shows(thread, "White D4")
		for _, turn := range []string{"Black C3", "White D3", "Black C4", "White D4"} {
			if n := count(thread.Messages(), func(m *discordtest.Message) bool { return says(turn)(m) && withPicture(m) }); n != 1 {
				t.Errorf("%s is shown %d times\n%s", turn, n, c.d.Transcript())
			}
		}
		if got := c.d.Gateway(); got.Identified != before+after {
			t.Errorf("at the gateway: %+v", got)
		}
		second.stop()
		c.check()
	})
}

// What is cut off when the process ends is not done.
func TestCutIsNotDone(t *testing.T) {
	ctx, cut := context.WithCancel(t.Context())
	a, done := &Adapter{drainCtx: ctx}, 0
	finish := a.unlessCut(func() { done++ })
	finish()
	cut()
	finish()
	if done != 1 {
		t.Errorf("done %d times", done)
	}
}

// A process that gives up its shard while somebody waits for an answer answers, and then another
// goes on: what was asked in between is answered in time, once.
func TestShardGivenUpWhileAnswering(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, first, second := pair(t)
		thread := first.begin(t)
		second.waits = true
		second.start()
		first.passes(5 * time.Second)

		first.recorder.gate = make(chan bool)
		open := sync.OnceFunc(func() { close(first.recorder.gate) })
		c.Cleanup(open)
		turn := c.alice.Slash(thread, "place", opt("at", "C3"))
		typed := "<@" + first.a.self + "> D3"
		first.passes(time.Second / 4)
		stopped := make(chan bool)
		go func() {
			first.stop()
			close(stopped)
		}()
		first.passes(time.Second / 4)
		if n := len(c.d.Sessions()); n != 0 {
			t.Fatalf("%d sessions are connected", n)
		}
		between := c.bob.Slash(c.room, "go help")
		c.d.Fault(discordtest.Fault{Route: callbackRoute, Delay: time.Second / 2}) // of the board
		open()
		if first.passes(time.Second / 4); !first.units.Holds("discord/0/1") {
			t.Error("it does not show what it has decided")
		}
		if m := first.ok(turn); !withPicture(m) || !strings.Contains(m.Content, "Black C3") {
			t.Errorf("the turn is answered by %q", m.Content)
		}
		<-stopped
		if kind, took := between.First(); kind == 0 || took > firstAnswer {
			t.Errorf("what was asked in between is answered by %d after %v", kind, took)
		}
		second.holds(1, 1)
		c.bob.Say(thread, typed)
		second.shows(thread, "White D3")
		second.settle()
		if n := count(thread.Messages(), says("Black C3")); n != 1 {
			t.Errorf("the board was shown %d times\n%s", n, c.d.Transcript())
		}
		if got := c.d.Gateway(); got.Identified != 1 || got.Resumed != 1 {
			t.Errorf("at the gateway: %+v", got)
		}
		second.stop()
		c.check()
	})
}

// When a process dies, another makes the turns that the first had heard of and not made, and that
// were typed in between. What the first has answered is not answered again, also not if it was
// only cut off and comes back.
func TestShardOfDeadProcess(t *testing.T) {
	for name, wakes := range map[string]bool{"dead": false, "cut off": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, first, second := pair(t)
				second.waits = true
				second.start()
				at := "<@" + first.a.self + "> "
				thread := first.begin(t)
				other := first.begin(t)
				first.passes(10 * time.Second)

				gate := make(chan bool)
				open := sync.OnceFunc(func() { close(gate) })
				c.Cleanup(open)
				first.recorder.gate = gate
				c.alice.Say(thread, at+"D3")
				first.passes(time.Second)
				first.recorder.gate = nil
				answered := c.alice.Slash(other, "place", opt("at", "C3"))
				board := first.ok(answered)
				first.ok(c.bob.Slash(other, "score"))
				first.passes(time.Minute) // the session is kept meanwhile
				first.dies()
				first.passes(time.Second)
				c.bob.Say(other, at+"B2")
				second.shows(other, "White B2")
				second.shows(thread, "Black D3")
				if wakes {
					first.rows.cut.Store(false)
					first.plug.mu.Lock()
					first.plug.pulled = false
					first.plug.mu.Unlock()
				}
				open()
				second.passes(time.Minute)
				for text, in := range map[string]*discordtest.Channel{"Black D3": thread, "Black C3": other, "White B2": other} {
					if n := count(in.Messages(), func(m *discordtest.Message) bool { return says(text)(m) && m.Bot && withPicture(m) }); n != 1 {
						t.Errorf("%s is shown %d times\n%s", text, n, c.d.Transcript())
					}
				}
				if now := answered.Answer(); now.ID != board.ID || now.Content != board.Content {
					t.Errorf("the answer became %q", now.Content)
				}
				if got := c.d.Gateway(); got.Identified != 1 {
					t.Errorf("at the gateway: %+v", got)
				}
				asked := map[string]int{}
				for _, r := range second.recorder.take() {
					asked[r.Command]++
				}
				if asked["score"] != 1 || asked["place"] != 3 {
					t.Errorf("the second process was asked %v", asked)
				}
				second.stop()
				first.stop()
				c.check()
			})
		})
	}
}

// A session that Discord does not know any more costs the next process an Identify, and nothing
// else.
func TestShardWhoseSessionIsLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, first, second := pair(t)
		thread := first.begin(t)
		session := c.d.Sessions()[0]
		first.stop()
		session.Forget()
		second.start()
		second.holds(1, 1)
		second.place(c.alice, thread, "C3")
		if got := c.d.Gateway(); got.Identified != 2 {
			t.Errorf("at the gateway: %+v", got)
		}
		second.stop()
	})
}

// A process that has no shard while others have them is well. One that is the only one left and
// has none is not.
func TestProcessWithoutShard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		_, first, second := pair(t)
		second.waits = true
		second.start()
		second.passes(time.Minute)
		if h := second.a.Health(); !h.Connected || h.Since.IsZero() || h.Lacks != "" {
			t.Errorf("without a shard: %+v", h)
		}
		if second.a.commandIDs.Load() == nil {
			t.Error("it does not know the commands")
		}
		second.wasTold("")
		first.wasTold("back")
		first.dies()
		second.passes(22 * time.Second)
		second.wasTold("back")
		if h := second.a.Health(); !h.Connected {
			t.Errorf("with the shard: %+v", h)
		}
		second.stop()
		first.stop()
	})
}

// What a shard is told to stop for stops all of them.
func TestFatalShard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Shards: 2, Concurrency: 2})
		c.d.NextConnections(discordtest.ConnectionFault{}, discordtest.ConnectionFault{IdentifyClose: 4014})
		a, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		b := bot.New(c.store, bot.Config{Log: slog.New(slog.DiscardHandler)})
		var fatal *gateway.Fatal
		if err := a.Run(t.Context(), b); !errors.As(err, &fatal) || fatal.Code != 4014 {
			t.Errorf("it ended with %v", err)
		}
		synctest.Wait() // Discord hears that the other connection has ended
		if n := len(c.d.Sessions()); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

// A room belongs to the shard that hears of its server.
func TestUnit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const shards = 3
		c := newClub(t, discordtest.Options{Shards: shards, Concurrency: shards})
		a, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		where := match.Room{Platform: Name, Channel: "1"}
		if unit := a.Unit(where, serverOf(c.guild.ID())); unit != "" {
			t.Errorf("before Discord was asked: %q", unit)
		}
		c.start()
		for n := range 10 {
			guild := c.d.Guild(fmt.Sprint("club ", n))
			if unit, want := c.a.Unit(where, serverOf(guild.ID())), unitOf(shardOf(t, guild, shards), shards); unit != want {
				t.Errorf("server %s: %q, not %q", guild.ID(), unit, want)
			}
		}
		if unit := c.a.Unit(where, ""); unit != "discord/0/3" {
			t.Errorf("direct messages: %q", unit)
		}
		c.stop()
		c.overHTTP()
		if a, err = New(c.cfg); err != nil || a.Unit(where, serverOf(c.guild.ID())) != Name {
			t.Errorf("over HTTP: %q, %v", a.Unit(where, ""), err)
		}
	})
}

// Over HTTP every process answers, and one at a time does what one does for all, and says when
// Discord is away.
func TestProcessesOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.overHTTP()
		first, second := processes(c)
		second.cfg.Listen = "localhost:8081"
		first.start()
		first.ok(c.alice.Slash(c.room, "go help"))
		second.start() // and Discord sends to that
		second.ok(c.alice.Slash(c.room, "go help"))
		first.wasTold("back, help")
		second.wasTold("help")
		if n := c.d.Count(commandsRoute); n != 1 {
			t.Errorf("the commands were registered %d times", n)
		}
		end := c.d.Fault(discordtest.Fault{Route: "GET /gateway/bot", Status: 503, Times: -1})
		second.passes(3 * awayAfter)
		first.wasTold("back, help, away")
		second.wasTold("help")
		if first.a.Health().Connected || second.a.Health().Connected {
			t.Error("Discord is away, and they are connected")
		}
		first.stop()
		second.passes(3 * awayAfter)
		second.wasTold("help, away")
		end()
		second.passes(3 * awayAfter)
		second.wasTold("help, away, back")
		thread := second.begin(t)
		second.place(c.alice, thread, "C3")
		second.stop()
		c.check()
	})
}
