package discord

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// What is allowed to whom is the bot's to decide, and tried there. Here it is
// tried that the bot is told who asks, and what they are, by Discord alone:
// never by a control, and never from what was so before.

// Each control of a board pressed by each kind of person: it is they who ask,
// and what they are in the server at that moment. Who does not play changes
// nothing.
func TestWhoPresses(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		d := c.recorder
		thread := c.begin(t)
		mod, boss := c.guild.Member("Mod"), c.guild.Member("Boss")
		c.guild.Permit(mod, discordtest.ManageMessages)
		c.guild.Permit(boss, discordtest.ManageGuild)
		for who, moderates := range map[*discordtest.Person]bool{c.guild.Member("Eve"): false, mod: true, boss: true, c.bob: false} {
			board := thread.Last()
			for _, control := range board.Controls {
				d.take()
				i := who.Press(board, control.Label)
				if modal := i.Modal(); modal != nil {
					i = who.Submit(i, map[string]any{modal.Fields[0].CustomID: "C3"})
				}
				m := c.ok(i)
				if control.Label != "Score" && m.To != who.Name() {
					t.Errorf("%s presses %s: %q is for %q", who.Name(), control.Label, m.Content, m.To)
				}
				asked := d.take()
				if len(asked) != 1 || asked[0].Who.ID != who.ID() || asked[0].Moderator != moderates {
					t.Errorf("%s presses %s: asked %+v", who.Name(), control.Label, asked)
				}
			}
			if thread.Last().ID != board.ID {
				t.Fatalf("%s has changed something: %q", who.Name(), thread.Last().Content)
			}
		}
		// What somebody was counts no more.
		for _, may := range []bool{true, false} {
			if !may {
				c.guild.Leave(mod)
				mod = c.guild.Member("Mod") // again, without a role
			}
			c.ok(mod.Slash(c.room, "go room settings"))
			if asked := d.take(); len(asked) != 1 || asked[0].Moderator != may {
				t.Errorf("asked %+v, moderator: %v", asked, may)
			}
		}
		// Nobody looks after direct messages.
		c.ok(boss.Slash(boss.DM(), "go room settings", opt("size", "13x13")))
		if asked := d.take(); len(asked) != 1 || asked[0].Moderator {
			t.Errorf("in direct messages: %+v", asked)
		}
	})
}

// A control that says more than it should gives nobody another name or rank:
// what it says are options of a command, as somebody could type them.
func TestForgedControls(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		d := c.recorder
		thread := c.begin(t)
		board := thread.Last()
		eve := c.guild.Member("Eve")
		forged := ""
		var mu sync.Mutex
		c.d.Change(func(event string, data map[string]any) {
			mu.Lock()
			defer mu.Unlock()
			if pressed, ok := data["data"].(map[string]any); ok && event == "INTERACTION_CREATE" && forged != "" && pressed["custom_id"] != nil {
				pressed["custom_id"] = forged
			}
		})
		alice := c.alice.ID()
		var ids []string
		for _, command := range append(bot.Commands(), bot.Command{Name: "nothing"}) {
			for _, args := range []string{"", "game=1", "game=1&seq=3", "game=1&confirm=yes", "game=1&who=" + alice + "&user=" + alice + "&by=" + alice,
				"game=1&moderator=true&Moderator=1&permissions=8", "game=1&as=void", "opponent=" + alice, "size=13x13&whose=here", "game=1&at=C3&name=Alice"} {
				ids = append(ids, command.Name+"?"+args)
			}
		}
		ids = append(ids, "?", "??", "#", "place", "place?game=%zz", "place?game=1#nothing", "place?game=1#", "\x00?\xff", strings.Repeat("a", 100)+"?", "dead?game=1#points")
		step := 1
		if !tier.Soaking() {
			step = 5
		}
		opens := func(command string) bool {
			return slices.Contains([]string{"new", "setup", "privacy", "remind", "settings", "show"}, command)
		}
		for k := 0; k < len(ids); k += step {
			if command, _, _ := strings.Cut(ids[k], "?"); opens(command) {
				continue // which are everybody's
			}
			mu.Lock()
			forged = ids[k]
			mu.Unlock()
			c.passes(time.Second) // as quick as she may be
			d.take()
			eve.Press(board, "Pass").First()
			for _, r := range d.take() {
				if r.Who.ID != eve.ID() || r.Moderator || len(r.Users) > 0 || r.Seats != nil || r.Where.Channel != c.room.ID() {
					t.Errorf("%q asks %+v", ids[k], r)
				}
			}
			if thread.Last().ID != board.ID || strings.Contains(thread.Last().Content, "1\\. ") {
				t.Fatalf("%q has changed something: %q", ids[k], thread.Last().Content)
			}
		}
		mu.Lock()
		forged = ""
		mu.Unlock()
		c.ok(c.alice.Press(board, "Pass"))
		c.shows(thread, "1\\. Black passes")
	})
}

// Other bots, webhooks and the bot itself are not heard, whatever they do; two
// bots that answer each other stop before they begin. HALFPOINT_TIER=soak tries
// 1,000 times.
func TestBots(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		d := c.recorder
		thread := c.begin(t)
		board := thread.Last()
		echo := c.guild.Member("Echo")
		kind := 0
		c.d.Change(func(event string, data map[string]any) {
			member, _ := data["member"].(map[string]any)
			user, _ := member["user"].(map[string]any)
			if event != "INTERACTION_CREATE" || user["id"] != echo.ID() {
				return
			}
			user["bot"] = true
			switch kind++; kind % 5 {
			case 1: // typing
				data["type"] = 4
			case 2: // a form
				data["type"], data["data"] = 5, map[string]any{"custom_id": "pass?game=1", "components": []any{}}
			case 3: // itself
				user["id"] = c.d.Application()
			case 4: // a webhook: nobody
				data["member"], data["user"] = nil, nil
			}
		})
		n := 40
		if tier.Soaking() {
			n = 1000
		}
		d.take()
		before, known := c.d.Count(callbackRoute), len(thread.Messages())
		for k := range n {
			echo.Press(board, "Pass")
			echo.Slash(thread, "place", opt("at", "C3"))
			for _, author := range []map[string]any{{"id": c.d.Application(), "bot": true}, {"id": echo.ID(), "bot": true}, {"id": fmt.Sprint(k + 1)}} {
				c.d.Dispatch("MESSAGE_CREATE", map[string]any{"id": fmt.Sprint(1000 + k), "channel_id": thread.ID(), "guild_id": c.guild.ID(), "author": author,
					"webhook_id": "17", "content": "/place at:C3", "timestamp": "2026-11-02T12:00:00Z"})
			}
		}
		c.ok(c.bob.Slash(thread, "go help")) // after all of them, in the same channel
		for _, r := range d.take() {
			if r.Command != "help" || r.Who.ID != c.bob.ID() {
				t.Errorf("asked %+v", r)
			}
		}
		if sent := c.d.Count(callbackRoute) - before; sent != 1 {
			t.Errorf("%d answers, to one person", sent)
		}
		if now := len(thread.Messages()); now != known {
			t.Errorf("%d messages, %d before", now, known)
		}
	})
}
