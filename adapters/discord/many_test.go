package discord

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Loops that find out with large numbers what is true of one: HALFPOINT_TIER=soak
// makes the numbers those that the comments name.

// many is how often something is done: n times, or so often in the long run.
func many(n, inTheLongRun int) int {
	if tier.Soaking() {
		return inTheLongRun
	}
	return n
}

// Of messages whose sending ends in doubt each is there once, and in order.
// HALFPOINT_TIER=soak sends 100,000.
func TestAmbiguousSends(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const each = 20 // in a channel
		c := newClub(t, discordtest.Options{Keep: 1000})
		c.start()
		for _, f := range []discordtest.Fault{
			{Every: 11, Drop: discordtest.AfterDone}, {Every: 13, Drop: discordtest.HalfWay}, {Every: 17, Drop: discordtest.BeforeDone},
			{Every: 19, Status: 502}, {Every: 23, Status: 500}, {Skip: 40, Every: 29, Drop: discordtest.AfterDone},
		} {
			f.Route, f.Times = sendRoute, -1
			c.d.Fault(f)
		}
		struck := make(chan int, 1)
		struck <- 0
		var group sync.WaitGroup
		places := make(chan struct{}, many(8, 64))
		for k := range many(200, 100_000) / each {
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				room := c.guild.Channel(fmt.Sprint("room-", k))
				var want []string
				for n := range each {
					post := outbox.Post{ID: fmt.Sprintf("p%d-%d", k, n), Where: c.where(room), Kind: match.Notice, Game: "g", Text: fmt.Sprintf("notice %d", n)}
					want = append(want, post.Text)
					for post.Attempt = 1; ; post.Attempt++ {
						_, err := c.deliver(post)
						if err == nil {
							break
						}
						struck <- 1 + <-struck
						var wait outbox.RetryAfter
						if errors.As(err, &wait) {
							pause(t.Context(), wait.Wait)
							continue
						}
						if !errors.Is(err, outbox.ErrAmbiguous) || post.Attempt == 20 {
							t.Errorf("attempt %d: %v", post.Attempt, err)
							return
						}
					}
				}
				var got []string
				for _, m := range room.Messages() {
					got = append(got, m.Content)
				}
				if strings.Join(got, "|") != strings.Join(want, "|") {
					t.Errorf("room %d has %q", k, got)
				}
			})
			if k%50 == 49 {
				group.Wait()
				c.d.Forget()
			}
		}
		group.Wait()
		sent, left := c.d.Count(sendRoute), <-struck
		t.Logf("%d messages by %d requests; %d deliveries ended in doubt", many(200, 100_000), sent, left)
		if sent < many(200, 100_000)*6/5 {
			t.Errorf("%d requests: there was nothing to doubt", sent)
		}
		c.stop()
	})
}

// Turns that come again, at once and later, and beside those of other games, are
// made once. HALFPOINT_TIER=soak delivers 100,000.
func TestDuplicates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const turns = 60
		c := newClub(t, discordtest.Options{Keep: 1000})
		c.start()
		var deliveries atomic.Int64
		for round := 0; deliveries.Load() < int64(many(40, 100_000)); round++ {
			games, each := 2, many(12, turns)
			if tier.Soaking() {
				games = 8
			}
			var group sync.WaitGroup
			for g := range games {
				group.Go(func() {
					room := c.guild.Channel(fmt.Sprintf("games-%d-%d", round, g))
					m := c.ok(c.alice.Slash(room, "new", opt("size", "9x9")))
					c.ok(c.bob.Press(m, "Join"))
					thread := room.WaitThread(0)
					c.shows(thread, "Black to play")
					var before *discordtest.Interaction
					for turn := range each {
						who := []*discordtest.Person{c.alice, c.bob}[turn%2]
						i := who.Slash(thread, "place", opt("at", fmt.Sprintf("%c%d", "ABCDEFGHJ"[turn%9], 1+turn/9)))
						deliveries.Add(1)
						switch turn % 10 {
						case 1, 6:
							i.Again() // at once
							deliveries.Add(1)
						case 4:
							before.Again() // after the next
							deliveries.Add(1)
						}
						c.shows(thread, fmt.Sprintf("move %d:", turn+1))
						time.Sleep(2 * time.Second) // as quick as people may be
						before = i
					}
					if n := count(thread.Messages(), withPicture); n != each+1 {
						t.Errorf("round %d, game %d: %d boards after %d turns", round, g, n, each)
					}
					c.ok(c.alice.Slash(thread, "resign", opt("confirm", "yes")))
				})
			}
			group.Wait()
			c.d.Forget()
			if t.Failed() {
				break
			}
		}
		t.Logf("%d deliveries", deliveries.Load())
		c.stop()
	})
}

// While one board of a game is on its way the others wait as one: of twenty turns
// the first board and the last are shown. HALFPOINT_TIER=soak does it 200 times.
func TestCoalescing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		d := &settlingService{}
		c.desk = d.before
		c.start()
		for round := range many(1, 200) {
			room := c.guild.Channel(fmt.Sprint("games-", round))
			c.ok(c.alice.Slash(room, "new", opt("size", "9x9")))
			c.ok(c.bob.Press(c.shows(room, "Anyone may join"), "Join"))
			thread := room.WaitThread(0)
			c.shows(thread, "Black to play")
			gate, arrived := make(chan bool), make(chan bool, 1)
			d.hold(gate, arrived)
			var turns []*discordtest.Interaction
			for turn := range 20 {
				who := []*discordtest.Person{c.alice, c.bob}[turn%2]
				turns = append(turns, who.Slash(thread, "place", opt("at", fmt.Sprintf("%c%d", "ABCDEFGHJ"[turn%9], 1+turn/9))))
				if turn == 0 {
					<-arrived
				}
				time.Sleep(time.Second) // as quick as people may be
			}
			for turn, i := range turns[1:] {
				if m := c.ok(i); m.Content != wordDone {
					t.Errorf("turn %d is answered %q", turn+1, m.Content)
				}
			}
			d.hold(nil, nil)
			close(gate)
			c.shows(thread, "move 20:")
			if n := count(thread.Messages(), withPicture); n != 3 {
				t.Errorf("%d boards\n%s", n, c.d.Transcript())
			}
			c.d.Forget()
		}
		c.stop()
	})
}

// A settlingService hears of boards that were shown when it is let.
type settlingService struct {
	bot.Service
	mu            sync.Mutex
	gate, arrived chan bool
}

func (d *settlingService) before(service bot.Service) bot.Service {
	d.Service = service
	return d
}

func (d *settlingService) hold(gate, arrived chan bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gate, d.arrived = gate, arrived
}

func (d *settlingService) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes ...outbox.Owes) error {
	d.mu.Lock()
	gate, arrived := d.gate, d.arrived
	d.mu.Unlock()
	if gate != nil && p.Kind == match.Show {
		arrived <- true
		<-gate
	}
	return d.Service.Settle(ctx, p, r, owes...)
}

// A room in which hundreds ask at once is told to wait, and then not heard;
// others are, in other rooms. HALFPOINT_TIER=soak asks 5,000 times and has 10,000
// press one button. The heap is looked at, so that nothing else goes beside it.
func TestFloodedRoom(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Keep: 200})
		d := recorded(c)
		heap := func() uint64 {
			c.d.Forget()
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		other := c.guild.Channel("elsewhere")
		challenge := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
		c.ok(c.bob.Slash(other, "help"))
		members := make([]*discordtest.Person, many(100, 10_000))
		for k := range members {
			members[k] = c.guild.Member(fmt.Sprint("Member ", k))
		}
		before := heap()
		flood := func(n int, does func(who *discordtest.Person)) {
			t.Helper()
			c.passes(time.Hour)
			d.take()
			for k := range n {
				does(members[k%len(members)])
				if k == n/2 {
					if m := c.ok(c.bob.Slash(other, "help")); m.Content == wordTooMuch {
						t.Error("Bob is not heard elsewhere")
					}
				}
			}
			c.ok(c.bob.Slash(other, "help"))
			synctest.Wait()
			heard := 0
			for _, r := range d.take() {
				if r.Where.Channel == c.room.ID() {
					heard++
				}
			}
			if heard != channelAtOnce {
				t.Errorf("of %d %d are heard", n, heard)
			}
		}
		flood(many(200, 5000), func(who *discordtest.Person) { who.Slash(c.room, "games") })
		flood(len(members), func(who *discordtest.Person) { who.Press(challenge, "Join") })
		if after := heap(); after > before+64<<20 {
			t.Errorf("%d bytes of heap before, %d after", before, after)
		}
		c.stop()
		c.check()
	})
}
