package discord

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A game is one of many that are played beside each other.
type game struct {
	players [2]*discordtest.Person
	thread  *discordtest.Channel
	turns   int // that were made
}

// opens opens a game in a room.
func (c *club) opens(room *discordtest.Channel, k int) *game {
	c.Helper()
	g := &game{players: [2]*discordtest.Person{c.guild.Member(fmt.Sprint("Black ", k)), c.guild.Member(fmt.Sprint("White ", k))}}
	before := len(room.Threads())
	c.ok(g.players[1].Press(c.ok(g.players[0].Slash(room, "new", opt("size", "19x19"))), "Join"))
	if g.thread = room.WaitThread(before); g.thread == nil {
		c.Fatalf("no thread\n%s", c.log.String())
	}
	c.shows(g.thread, " to play, for example ")
	return g
}

// turn makes the next turn of a game.
func (g *game) turn() *discordtest.Interaction {
	n := g.turns
	g.turns++
	return g.players[n%2].Slash(g.thread, "place", opt("at", string("ACEGJLNQST"[n%10])+fmt.Sprint(1+n/10)))
}

// plays has each game make so many turns, so many a second altogether, each after the
// one before is answered. Each that is not deferred must be answered by its board. It
// returns how long first answers and answers took, in order, and how many were deferred.
func (c *club) plays(all []*game, rate, each int) (first, shown []time.Duration, deferred int) {
	var mu sync.Mutex
	var group sync.WaitGroup
	start, apart := time.Now(), time.Duration(len(all))*time.Second/time.Duration(rate)
	for k, g := range all {
		group.Go(func() {
			for turn := range each {
				time.Sleep(time.Until(start.Add(apart*time.Duration(turn) + apart*time.Duration(k)/time.Duration(len(all)))))
				began := time.Now()
				i := g.turn()
				m := i.Answer()
				took := time.Since(began)
				kind, within := i.First()
				mu.Lock()
				if kind == 5 {
					deferred++
				} else if m == nil || !withPicture(m) {
					c.Errorf("turn %d is answered by %d, %+v", g.turns, kind, m)
				}
				first, shown = append(first, within), append(shown, took)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(first)
	slices.Sort(shown)
	return first, shown, deferred
}

// Twenty games in one channel, at 300 ms for each request and with Discord's
// limits: of four turns a second none is deferred and each is shown, and so are
// twenty at once.
func TestGamesOfOneChannel(t *testing.T) {
	const games, trip = 20, 300 * time.Millisecond
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Limits: discordtest.DefaultLimits()})
		c.d.Fault(discordtest.Fault{Times: -1, Delay: trip})
		c.start()
		var all []*game
		for k := range games {
			all = append(all, c.opens(c.room, k))
			time.Sleep(5 * time.Second) // of five messages in five seconds each game takes some
		}
		time.Sleep(time.Minute)
		for each, rate := range map[int]int{4: 4, 1: 1e9} { // turns, so many a second
			if _, shown, deferred := c.plays(all, rate, each); deferred > 0 || shown[len(shown)-1] > 2*trip {
				t.Errorf("%d turns a second: %d deferred, the slowest took %v", rate, deferred, shown[len(shown)-1])
			}
		}
		for k, g := range all {
			if n := count(g.thread.Messages(), withPicture); n != 6 {
				t.Errorf("game %d: %d boards", k+1, n)
			}
		}
		c.stop()
	})
}

// When an event begins, twenty people press Join in one channel at once: each opening says by
// the answer to its press that the game begins, each first board is there within a few
// seconds, and each opening is edited once.
func TestTwentyJoins(t *testing.T) {
	const games = 20
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Limits: discordtest.DefaultLimits()})
		c.start()
		var openings []*discordtest.Message
		for k := range games {
			openings = append(openings, c.ok(c.guild.Member(fmt.Sprint("Black ", k)).Slash(c.room, "new", opt("size", "9x9"))))
		}
		c.passes(time.Minute)
		before, began := len(c.d.Requests("")), time.Now()
		var group sync.WaitGroup
		for k, m := range openings {
			group.Go(func() {
				i := c.guild.Member(fmt.Sprint("White ", k)).Press(m, "Join")
				if kind, took := i.First(); kind != rest.ResponseUpdate || took > time.Second {
					t.Errorf("game %d: answered by %d after %v", k+1, kind, took)
				}
			})
		}
		group.Wait()
		for k := range games {
			if thread := c.room.WaitThread(k); thread == nil || !thread.Wait(func(ms []*discordtest.Message) bool { return len(ms) > 0 && withBoard(ms[0]) }) {
				t.Fatalf("thread %d has no board", k+1)
			}
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the last first board came after %v", took)
		}
		c.passes(time.Minute)
		edited := map[string]int{}
		for _, r := range c.d.Requests("")[before:] {
			if strings.HasPrefix(r.Route, "PATCH ") {
				edited[r.Message]++
			}
		}
		for k, m := range openings {
			if now := m.Now(); edited[m.ID] != 1 || !strings.Contains(now.Content, "New game") || len(now.Controls) > 0 {
				t.Errorf("opening %d was edited %d times and says %q", k+1, edited[m.ID], now.Content)
			}
		}
		c.stop()
		c.check()
	})
}

// A hundred games in real time with Discord's limits on, for 20 seconds at 50 turns a
// second and for a minute at 100: it is measured how long answers take.
func TestManyGames(t *testing.T) {
	tier.Soak(t)
	const games = 100
	for _, played := range []struct{ rate, seconds int }{{50, 20}, {50, 20}, {100, 60}} {
		c := newRealClub(t, discordtest.Options{Limits: discordtest.DefaultLimits()})
		c.start()
		all := make([]*game, games)
		for k := range all {
			all[k] = c.opens(c.guild.Channel(fmt.Sprint("games-", k)), k)
		}
		each := played.seconds * played.rate / games
		first, shown, deferred := c.plays(all, played.rate, each)
		c.stop()
		for _, g := range all {
			ms := g.thread.Messages()
			// A board that is put off may be superseded by the next; the last is shown.
			if n := count(ms, withPicture); n > each+1 || n < each+1-deferred || !says(fmt.Sprintf("%d\\. ", each))(ms[len(ms)-1]) {
				c.Errorf("%d boards after %d turns, the last is %q", n, each, ms[len(ms)-1].Content)
			}
		}
		at := func(ds []time.Duration, q float64) time.Duration {
			return ds[min(len(ds)-1, int(q*float64(len(ds))))].Round(time.Millisecond)
		}
		c.Logf("%d games, %d turns, %d a second: board shown p50 %v, p99 %v, longest %v; first answer p50 %v, p99.9 %v, longest %v; %d put off",
			games, games*each, played.rate, at(shown, 0.5), at(shown, 0.99), at(shown, 1), at(first, 0.5), at(first, 0.999), at(first, 1), deferred)
		if longest := at(first, 1); longest > 2500*time.Millisecond {
			t.Errorf("a first answer took %v", longest)
		}
		c.check()
	}
}

// heap returns how many bytes of heap are used by what is still needed.
func (c *club) heap() int64 {
	c.d.Forget()
	c.log.mu.Lock()
	c.log.text.Reset()
	c.log.mu.Unlock()
	if c.recorder != nil {
		c.recorder.take()
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Interactions leave nothing behind. HALFPOINT_TIER=soak makes 100,000.
func TestHeap(t *testing.T) {
	if tier.Race {
		return // whose own memory this would be; and so many calls crash it now and then
	}
	n := tier.Pick(500, 500, 100_000)
	inBubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Keep: 100})
		c.overHTTP()
		c.start()
		heap := func() int64 {
			c.ok(c.alice.Slash(c.room, "go study rules", opt("name", "button")))
			c.passes(30 * time.Second)
			c.ok(c.alice.Slash(c.room, "go help"))
			return c.heap()
		}
		run := func(n int) {
			const atOnce = 8
			for k := range n {
				who := c.guild.Member(fmt.Sprint("Member ", k%50))
				who.Slash(c.room, []string{"go room games", "go room settings", "go time clock"}[k%3])
				if k%atOnce == atOnce-1 {
					c.passes(atOnce * time.Minute / channelPerMinute) // as many as a channel may ask
				}
				if k%500 == 499 {
					c.d.Forget()
					c.recorder.take()
				}
			}
		}
		run(500)
		before, goroutines := heap(), c.goroutines()
		run(n)
		after, more := heap(), c.goroutines()-goroutines
		t.Logf("%d interactions: %+d KiB of heap, %d goroutines, %+d", n, (after-before)>>10, goroutines, more)
		if goroutines < askWorkers || more > 2*8+8 { // connections of those who ask at once
			t.Errorf("%d goroutines before, %+d", goroutines, more)
		}
		if after > before+5<<20 {
			t.Errorf("%d bytes of heap before, %d after", before, after)
		}
		c.stop()
	})
}

// The adapter tells a person who sends too many commands to slow down, then ignores
// them, and goes on answering others. It does the same with a room in which hundreds
// send commands at once, and goes on answering other rooms.
func TestFlood(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		n := tier.Pick(200, 200, 5000)
		eve := c.guild.Member("Eve")
		for range n {
			eve.Slash(c.room, "go help")
		}
		if m := c.ok(c.alice.Slash(c.room, "go help")); m.Content == wordTooMuch {
			t.Error("Alice is not heard")
		}
		if heard := c.recorder.heard(); heard["Eve"] != personAtOnce {
			t.Errorf("Eve was heard %d times", heard["Eve"])
		}
		if told := count(eve.Sees(c.room), says(wordTooMuch)); told != personAtOnce-1 {
			t.Errorf("she was told %d times", told)
		}
		c.passes(time.Hour)
		for k := range n {
			c.guild.Member(fmt.Sprint("Member ", k)).Slash(c.room, "go room games")
		}
		if m := c.ok(c.bob.Slash(c.guild.Channel("elsewhere"), "go help")); m.Content == wordTooMuch {
			t.Error("Bob is not heard elsewhere")
		}
		if heard := c.recorder.heard(); len(heard) != channelAtOnce+1 {
			t.Errorf("of %d %d are heard", n, len(heard)-1)
		}
	})
}

// A person, and a channel, may ask as much as is configured, and later as much again.
func TestConfiguredLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.Person, c.cfg.Channel = 3, 8
		c.start()
		other := c.guild.Channel("other")
		for range 2 {
			for k := range 12 { // four people, three times each
				c.ok(c.guild.Member(fmt.Sprint("Eve ", k%4)).Slash(c.room, "go help"))
			}
			c.ok(c.guild.Member("Eve 3").Slash(other, "go help")) // who has asked three times
			c.ok(c.alice.Slash(other, "go help"))
			c.passes(2 * time.Minute) // what was too much counts, too
		}
		if heard, want := c.recorder.heard(), (map[string]int{"Eve 0": 4, "Eve 1": 4, "Eve 2": 4, "Eve 3": 4, "Alice": 2}); !maps.Equal(heard, want) {
			t.Errorf("heard were %v", heard)
		}
		c.stop()
		c.check()
	})
}
