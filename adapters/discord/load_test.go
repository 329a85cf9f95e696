package discord

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Many games at once: every turn is answered by its board. HALFPOINT_TIER=soak plays
// 100 games with Discord's limits on, for 20 seconds at 50 turns a second and for
// a minute at 100, and says how long it took.
func TestManyGames(t *testing.T) {
	if !tier.Soaking() {
		manyGames(t, 6, 10, 3)
		return
	}
	manyGames(t, 100, 50, 20)
	manyGames(t, 100, 50, 20)
	manyGames(t, 100, 100, 60)
}

func manyGames(t *testing.T, games, rate, turns int) {
	o := discordtest.Options{}
	if tier.Soaking() {
		o.Limits, o.Now = discordtest.DefaultLimits(), time.Now
	}
	c := newClub(t, o)
	if tier.Soaking() {
		c.cfg.Answer = 0
	}
	c.start()
	type game struct {
		players [2]*discordtest.Person
		thread  *discordtest.Channel
	}
	all := make([]game, games)
	for k := range all {
		room := c.guild.Channel(fmt.Sprintf("games-%d", k))
		g := &all[k]
		g.players = [2]*discordtest.Person{c.guild.Member(fmt.Sprint("Black ", k)), c.guild.Member(fmt.Sprint("White ", k))}
		m := c.ok(g.players[0].Slash(room, "new", opt("size", "19x19")))
		c.ok(g.players[1].Press(m, "Join"))
		if g.thread = room.WaitThread(0); g.thread == nil {
			t.Fatalf("no thread\n%s", c.log.String())
		}
		c.shows(g.thread, "Black to play")
	}
	var mu sync.Mutex
	var first, shown []time.Duration
	put := 0
	var group sync.WaitGroup
	each := turns // of each game
	if tier.Soaking() {
		each = max(1, turns*rate/games)
	}
	// Each game makes a turn in its time, after the one before is answered.
	start, apart := time.Now(), time.Duration(games)*time.Second/time.Duration(rate)
	for k, g := range all {
		group.Go(func() {
			for turn := range each {
				time.Sleep(time.Until(start.Add(apart*time.Duration(turn) + apart*time.Duration(k)/time.Duration(games))))
				at := string("ACEGJLNQST"[turn%10]) + fmt.Sprint(1+2*(turn/10))
				began := time.Now()
				i := g.players[turn%2].Slash(g.thread, "place", opt("at", at))
				m := i.Answer()
				took := time.Since(began)
				kind, within := i.First()
				mu.Lock()
				if kind == 5 {
					put++
				} else if m == nil || !withPicture(m) {
					t.Errorf("turn %d at %s is answered by %d, %+v", turn, at, kind, m)
				}
				first, shown = append(first, within), append(shown, took)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	c.stop()
	for _, g := range all {
		ms := g.thread.Messages()
		// A board that is put off may be superseded by the next; the last is shown.
		if n := count(ms, withPicture); n > each+1 || n < each+1-put || !strings.Contains(ms[len(ms)-1].Content, fmt.Sprintf("move %d:", each)) {
			t.Errorf("%d boards after %d turns, the last is %q", n, each, ms[len(ms)-1].Content)
		}
	}
	slices.Sort(first)
	slices.Sort(shown)
	at := func(ds []time.Duration, q float64) time.Duration {
		return ds[min(len(ds)-1, int(q*float64(len(ds))))].Round(time.Millisecond)
	}
	t.Logf("%d games, %d turns, %d a second: board shown p50 %v, p99 %v, longest %v; first answer p50 %v, p99.9 %v, longest %v; %d put off",
		games, games*each, rate, at(shown, 0.5), at(shown, 0.99), at(shown, 1), at(first, 0.5), at(first, 0.999), at(first, 1), put)
	if tier.Soaking() && at(first, 1) > 2500*time.Millisecond {
		t.Errorf("a first answer took %v", at(first, 1))
	}
	c.check()
}

// Interactions leave nothing behind. HALFPOINT_TIER=soak makes 100,000.
func TestHeap(t *testing.T) {
	n := 500
	if tier.Soaking() {
		n = 100_000
	}
	c := newClub(t, discordtest.Options{Keep: 100})
	c.cfg.Listen, c.cfg.PublicKey = "127.0.0.1:0", c.d.PublicKey()
	c.start()
	c.a.keep, c.a.people = 10*time.Millisecond, nil
	heap := func() uint64 {
		c.ok(c.alice.Slash(c.room, "rules", opt("name", "button")))
		time.Sleep(2 * c.a.keep)
		c.ok(c.alice.Slash(c.room, "help"))
		c.d.Forget()
		c.log.mu.Lock()
		c.log.text.Reset()
		c.log.mu.Unlock()
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	run := func(n int) {
		var group sync.WaitGroup
		slots := make(chan struct{}, 8)
		for k := range n {
			slots <- struct{}{}
			group.Go(func() {
				defer func() { <-slots }()
				who := c.guild.Member(fmt.Sprint("Member ", k%50))
				who.Slash(c.room, []string{"games", "settings", "clock"}[k%3]).First()
			})
			if k%500 == 499 {
				group.Wait()
				c.d.Forget()
			}
		}
		group.Wait()
	}
	run(500)
	before, goroutines := heap(), c.goroutines()
	run(n)
	after, more := heap(), c.goroutines()-goroutines
	t.Logf("%d interactions: %+d KiB of heap, %d goroutines, %+d", n, (int64(after)-int64(before))>>10, goroutines, more)
	if goroutines < askWorkers || more > 2*8+8 { // connections of those who ask at once
		t.Errorf("%d goroutines before, %+d", goroutines, more)
	}
	if after > before+5<<20 {
		t.Errorf("%d bytes of heap before, %d after", before, after)
	}
	c.stop()
}

// The commands as they are registered keep Discord's limits; the double checks
// each of them. What the bot's list has, Discord's has.
func TestProjection(t *testing.T) {
	for _, guild := range []bool{false, true} {
		out := project(bot.Commands(), guild)
		named := map[string]command{}
		for _, c := range out {
			named[c.Name] = c
			if guild && (c.Contexts != nil || c.Installs != nil) {
				t.Errorf("%s of a server has contexts", c.Name)
			}
		}
		for _, c := range bot.Commands() {
			p, ok := named[c.Name]
			if !ok || len(p.Options) != len(c.Options) || p.Description == "" {
				t.Errorf("%s is registered as %+v", c.Name, p)
			}
			if (p.May != nil) != (reserved[c.Name] != 0) {
				t.Errorf("%s is for %v", c.Name, p.May)
			}
		}
		for name := range reserved {
			if _, ok := named[name]; !ok {
				t.Errorf("there is no command %s to reserve", name)
			}
		}
	}
	// An entry of a menu is there when its command is.
	if out := project([]bot.Command{{Name: "help", Summary: "Help"}}, false); len(out) != 1 {
		t.Errorf("%+v", out)
	}
	for _, m := range menus {
		out := project([]bot.Command{{Name: m.command, Summary: "x", Options: []bot.Option{{Name: m.option, Summary: "y"}}}}, false)
		if len(out) != 2 || out[1].Name != m.name {
			t.Errorf("%+v", out)
		}
	}
	var text strings.Builder
	for _, c := range project(bot.Commands(), false) {
		fmt.Fprintln(&text, c.Name, c.Type)
	}
	for _, want := range []string{"place 1\n", "new 1\n", "adjudicate 1\n", wordMenuInvite + " 2\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

// Who asks too much is not heard, but nobody is left to see that the bot thinks,
// however busy it is.
func TestFloodPutOff(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	c := newClub(t, discordtest.Options{Now: func() time.Time { return begun }})
	c.cfg.Now = func() time.Time { // a busy machine: people are counted after their answer was put off
		time.Sleep(time.Millisecond)
		return begun
	}
	c.cfg.Answer = time.Nanosecond
	c.start()
	eve := c.guild.Member("Eve")
	var all []*discordtest.Interaction
	for range 200 {
		all = append(all, eve.Slash(c.room, "help"))
	}
	c.ok(c.alice.Slash(c.room, "help"))
	c.d.Advance(4 * time.Second) // that is too late for a first answer
	put := 0
	for _, i := range all {
		if kind, _ := i.First(); kind == 5 {
			put++
			if m := i.Answer(); m == nil {
				t.Fatal("she sees that the bot thinks")
			}
		}
	}
	c.stop()
	t.Logf("%d of %d were put off", put, len(all))
}

// Who asks too much is told so, then not heard, while others are.
func TestFlood(t *testing.T) {
	t.Parallel()
	c := newClub(t, discordtest.Options{})
	now := time.Now()
	c.cfg.Now = func() time.Time { return now }
	c.start()
	n := 200
	if tier.Soaking() {
		n = 5000
	}
	asked := make(chan string, n)
	c.a.mu.Lock()
	c.a.desk = countingDesk{c.a.desk, asked}
	c.a.mu.Unlock()
	eve := c.guild.Member("Eve")
	for range n {
		eve.Slash(c.room, "help")
	}
	if m := c.ok(c.alice.Slash(c.room, "help")); m.Content == wordTooMuch {
		t.Error("Alice is not heard")
	}
	c.stop()
	close(asked)
	heard := map[string]int{}
	for who := range asked {
		heard[who]++
	}
	if heard["Eve"] != personAtOnce {
		t.Errorf("Eve was heard %d times", heard["Eve"])
	}
	told := count(eve.Sees(c.room), func(m *discordtest.Message) bool { return m.Content == wordTooMuch })
	if told != personAtOnce-1 {
		t.Errorf("she was told %d times", told)
	}
	c.check()
}

// A person, and a channel, may ask as much as is configured, and later as much again.
func TestConfiguredLimits(t *testing.T) {
	t.Parallel()
	c := newClub(t, discordtest.Options{})
	c.cfg.Person, c.cfg.Channel = 3, 8
	asked := make(chan string, 1000)
	c.desk = func(d bot.Desk) bot.Desk { return countingDesk{d, asked} }
	c.start()
	other := c.guild.Channel("other")
	for range 2 {
		for k := range 12 { // four people, three times each
			c.ok(c.guild.Member(fmt.Sprint("Eve ", k%4)).Slash(c.room, "help"))
		}
		c.ok(c.guild.Member("Eve 3").Slash(other, "help")) // who has asked three times
		c.ok(c.alice.Slash(other, "help"))
		c.d.Advance(2 * time.Minute) // what was too much counts, too
	}
	c.stop()
	close(asked)
	heard := map[string]int{}
	for who := range asked {
		heard[who]++
	}
	if want := (map[string]int{"Eve 0": 4, "Eve 1": 4, "Eve 2": 4, "Eve 3": 4, "Alice": 2}); !maps.Equal(heard, want) {
		t.Errorf("heard were %v", heard)
	}
	c.check()
}

type countingDesk struct {
	bot.Desk
	asked chan string
}

func (d countingDesk) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	d.asked <- r.Who.Name
	return d.Desk.Ask(ctx, r)
}
