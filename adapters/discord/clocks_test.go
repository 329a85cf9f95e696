package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// No message says how much a running clock has left: it would soon be wrong. It says
// until when, which Discord shows live. What stands still may be said.
func TestRunningClocks(t *testing.T) {
	until := func(d time.Duration) string {
		return fmt.Sprintf("<t:%d:f> (<t:%[1]d:R>)", monday.Add(d).Unix())
	}
	day := 24 * time.Hour
	for name, x := range map[string]struct {
		clock                        string
		reminder, list, clocks, late string // late: on the third day
	}{
		"a time for every turn": {"3d", "due " + until(3*day), "due " + until(3*day), "Black: 3 days.\nWhite has until " + until(3*day) + ".", ""},
		"periods": {"byoyomi 2d 2x12h", "due " + until(3*day), "due " + until(3*day),
			"Black: 2 days, then 2 periods of 12 hours.\nWhite: until " + until(2*day) + ", then 2 periods of 12 hours.\nWhite has until " + until(3*day) + ".",
			"White: until " + until(5*day/2) + ", then 1 more period of 12 hours.\n"},
		"vacation": {"2d vacation 20", "due " + until(22*day), "due " + until(22*day),
			"Black: 2 days.\nWhite: until " + until(2*day) + ".\nWhite has until " + until(22*day) + ".",
			"White: on vacation until " + until(22*day) + ".\n"},
	} {
		t.Run(name, func(t *testing.T) {
			inClubForDays(t, func(t *testing.T, c *club) {
				thread := c.begin(t, opt("clock", x.clock))
				c.place(c.alice, thread, "C3")
				if now := time.Since(monday); now != 0 {
					t.Fatalf("White's time began %v later", now)
				}
				says := func(what string, m *discordtest.Message, want string) {
					t.Helper()
					if !strings.Contains(m.Content, want) || strings.Contains(m.Content, "left") {
						t.Errorf("%s: %q, want %q", what, m.Content, want)
					}
				}
				c.passes(47 * time.Hour)
				says("a reminder", c.shows(thread, "it is your turn"), x.reminder)
				says("the list of games", c.ok(c.alice.Slash(c.room, "go room games", opt("share", true))), x.list)
				says("the clocks", c.ok(c.alice.Slash(thread, "go time clock", opt("share", true))), x.clocks)
				c.passes(2 * time.Hour)
				says("the clocks later", c.ok(c.alice.Slash(thread, "go time clock", opt("share", true))), x.late)
			})
		})
	}
}
