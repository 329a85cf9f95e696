package discord

import (
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// controlled returns what the messages of a channel begin with that have controls.
func controlled(ch *discordtest.Channel) (out []string) {
	for _, m := range ch.Messages() {
		if len(m.Controls) > 0 {
			first, _, _ := strings.Cut(m.Content, "\n")
			out = append(out, first)
		}
	}
	return out
}

// Only the newest board has controls, and a question only until it is answered or moot:
// also where the program ends before it could take them away.
func TestStaleControls(t *testing.T) {
	for name, moot := range map[string]func(c *club, thread *discordtest.Channel, question *discordtest.Message){
		"a turn": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) { c.place(c.bob, thread, "C4") },
		"withdrawn": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) {
			c.ok(c.alice.Slash(thread, "go ending decline"))
		},
		"no":  func(c *club, _ *discordtest.Channel, question *discordtest.Message) { c.bob.Press(question, "Decline") },
		"yes": func(c *club, _ *discordtest.Channel, question *discordtest.Message) { c.bob.Press(question, "Agree") },
		"resigned": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) {
			c.ok(c.bob.Slash(thread, "go resign", opt("confirm", "yes")))
		},
		"no, slowly": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) {
			c.ok(c.bob.Slash(thread, "go ending decline"))
		},
	} {
		eachInClub(t, map[string]bool{name + ", running": false, name + ", restarted": true}, func(t *testing.T, c *club, restarted bool) {
			thread := c.begin(t)
			c.place(c.alice, thread, "C3")
			c.passes(2 * time.Minute)
			end := c.d.Fault(discordtest.Fault{Route: "none"})
			if restarted {
				end = c.d.Fault(discordtest.Fault{Route: editRoute, Path: thread.ID(), Status: 503, Times: -1})
			}
			c.place(c.bob, thread, "B4")
			c.place(c.alice, thread, "B3")
			c.place(c.bob, thread, "D4")
			c.passes(2 * time.Minute)
			c.place(c.alice, thread, "D3")
			c.passes(2 * time.Minute)
			c.ok(c.alice.Slash(thread, "go undo"))
			question := c.shows(thread, "take back")
			if !restarted && len(controlled(thread)) != 2 {
				t.Errorf("while it is asked there are controls on %q", controlled(thread))
			}
			moot(c, thread, question)
			c.passes(10 * time.Second)
			if restarted {
				c.again()
				end()
			}
			c.passes(10 * time.Minute)
			board := thread.Last()
			for _, m := range thread.Messages() {
				if withBoard(m) {
					board = m
				}
			}
			first, _, _ := strings.Cut(board.Content, "\n")
			want := []string{first}
			if name == "resigned" { // its record comes after the last board
				want = []string{"White resigns"}
			}
			if got := controlled(thread); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("controls are on %q, not on %q\n%s", got, want, c.d.Transcript())
			}
		})
	}
}
