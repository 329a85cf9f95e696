package discord

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// Twenty games in one channel, at 300 ms for each request and with Discord's
// limits: of four turns a second none is deferred and each is shown, and so are
// twenty at once.
func TestGamesOfOneChannel(t *testing.T) {
	const games, trip = 20, 300 * time.Millisecond
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Limits: discordtest.DefaultLimits()})
		c.d.Fault(discordtest.Fault{Times: -1, Delay: trip})
		c.start()
		type game struct {
			players [2]*discordtest.Person
			thread  *discordtest.Channel
		}
		var all [games]game
		for k := range all {
			g := &all[k]
			g.players = [2]*discordtest.Person{c.guild.Member(fmt.Sprint("Black ", k)), c.guild.Member(fmt.Sprint("White ", k))}
			c.ok(g.players[1].Press(c.ok(g.players[0].Slash(c.room, "new", opt("size", "9x9"))), "Join"))
			g.thread = c.room.WaitThread(k)
			c.shows(g.thread, "Black to play")
			time.Sleep(5 * time.Second) // of five messages in five seconds each game takes some
		}
		time.Sleep(time.Minute)

		// plays makes a turn, whose board must come as its answer in time.
		var playing sync.WaitGroup
		plays := func(g *game, turn int, within time.Duration, command string, options ...discordtest.Option) {
			began := time.Now()
			i := g.players[turn%2].Slash(g.thread, command, options...)
			playing.Go(func() {
				m := c.ok(i)
				if kind, _ := i.First(); kind != 4 || !withPicture(m) || time.Since(began) > within {
					t.Errorf("turn %d: /%s is answered by type %d after %v: %+v", turn+1, command, kind, time.Since(began), m)
				}
			})
		}
		for n := range 80 { // four a second for 20 s
			turn := n / games
			plays(&all[n%games], turn, 2*trip, "place", opt("at", fmt.Sprintf("%c5", "ABCDEFGHJ"[turn])))
			time.Sleep(time.Second / 4)
		}
		playing.Wait()
		for k := range all {
			plays(&all[k], 4, 2*trip, "pass")
		}
		playing.Wait()
		for k, g := range all {
			if n := count(g.thread.Messages(), withPicture); n != 6 {
				t.Errorf("game %d: %d boards", k+1, n)
			}
		}
		c.stop()
	})
}

// A picture that goes up too slowly has the next ones of its own game follow their
// words for a while, and those of no other.
func TestSlowPictureOfOneGame(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		slow, other := c.begin(t), c.guild.Channel("elsewhere")
		c.ok(c.bob.Press(c.ok(c.alice.Slash(other, "new", opt("size", "5x5"), opt("color", "black"))), "Join"))
		beside := other.WaitThread(0)
		c.shows(beside, "Black to play")
		time.Sleep(time.Minute)
		c.d.Fault(discordtest.Fault{Files: true, Times: 2, Pause: 5 * time.Second}) // the next picture, and when it follows
		words := func(i *discordtest.Interaction) bool {
			m := c.ok(i)
			if kind, _ := i.First(); kind != 4 || !withBoard(m) {
				t.Errorf("answered by type %d: %+v", kind, m)
			}
			return inLetters(m)
		}
		if !words(c.alice.Slash(slow, "place", opt("at", "C3"))) {
			t.Error("the picture is waited for")
		}
		time.Sleep(time.Second)
		if words(c.alice.Slash(beside, "place", opt("at", "C3"))) {
			t.Error("the other game has to do with letters")
		}
		time.Sleep(10 * time.Minute)
		for name, thread := range map[string]*discordtest.Channel{"slow": slow, "other": beside} {
			if m := thread.Last(); !withPicture(m) || inLetters(m) {
				t.Errorf("the %s game shows %q at last", name, m.Content)
			}
		}
	})
}
