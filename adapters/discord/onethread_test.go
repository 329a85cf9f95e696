package discord

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// two begins two games in one channel, each in its thread.
func (c *club) two(t *testing.T) (one, two *discordtest.Channel) {
	one = c.begin(t)
	before := len(c.room.Threads())
	c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
	c.ok(c.bob.Press(c.shows(c.room, "Anyone may join"), "Join"))
	if two = c.room.WaitThread(before); two == nil {
		t.Fatal("no second thread")
	}
	c.shows(two, "Black to play")
	return one, two
}

// What is wrong in one game's thread is that game's trouble: the moderators have
// locked it, or their filter takes none of its boards. The other games of the
// channel go on, and their boards are the answers to their turns.
func TestOneThread(t *testing.T) {
	for name, spoil := range map[string]func(c *club, thread *discordtest.Channel){
		"locked": func(_ *club, thread *discordtest.Channel) { thread.Lock() },
		"filtered": func(c *club, thread *discordtest.Channel) {
			c.d.Fault(discordtest.Fault{Route: sendRoute, Path: thread.ID(), Status: 400, Code: 200000, Times: -1, Message: "Message was blocked by automatic moderation"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{Patience: time.Minute})
				c.start()
				one, two := c.two(t)
				spoil(c, one)
				c.alice.Slash(c.room, "place", opt("at", "C3"), opt("game", 1)) // owed to the thread that takes nothing
				for n := range 4 {
					i := []*discordtest.Person{c.alice, c.bob}[n%2].Slash(two, "place", opt("at", fmt.Sprint("C", 2+n)))
					if m := c.ok(i); !withPicture(m) {
						t.Errorf("turn %d is answered by %q", n+1, m.Content)
					}
					c.shows(two, fmt.Sprintf("move %d:", n+1))
				}
				c.stop()
				if n := c.d.Count(sendRoute); n > 8 {
					t.Errorf("%d messages were tried", n)
				}
			})
		})
	}
}

// Whoever reads the database or a copy of it cannot speak for the bot: the routes
// by which it answers are gone once it has.
func TestRoutesAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		path := filepath.Join(t.TempDir(), "halfpoint.db")
		var err error
		if c.store, err = store.Open(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		c.start()
		thread := c.begin(t)
		tokens := []string{}
		asks := func(i *discordtest.Interaction) {
			c.ok(i)
			tokens = append(tokens, i.Token())
		}
		asks(c.alice.Slash(thread, "place", opt("at", "C3")))
		asks(c.bob.Slash(thread, "resign", opt("confirm", "yes")))
		thread.Wait(func(ms []*discordtest.Message) bool { // the record is the last that is owed
			last := ms[len(ms)-1].Attachments
			return len(last) > 0 && strings.HasSuffix(last[0].Name, ".sgf")
		})
		c.stop()
		if err := c.store.Close(); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(path + "*")
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for n, token := range tokens {
				if bytes.Contains(data, []byte(token)) {
					t.Errorf("%s knows the token of interaction %d", filepath.Base(f), n+1)
				}
			}
		}
	})
}
