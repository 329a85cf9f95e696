package discord

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A log line says that people can play, and where.
func TestStartIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		synctest.Wait()
		const want = `level=INFO msg="connected to Discord" adapter=discord bot=Halfpoint servers=1 commands=`
		if log := c.log.String(); strings.Count(log, want) != 1 {
			t.Errorf("the log lacks %s\n%s", want, log)
		}
	})
}

// Whether people's messages may be read is known before Discord closes the connection.
func TestCheckMessageContent(t *testing.T) {
	for name, granted := range map[string]int{"off": 0, "on": gateway.MessageContent} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{Privileged: granted})
				c.cfg.MessageContent = true
				found, err := Check(t.Context(), c.cfg, "", render.Scene{})
				if refused := err != nil && strings.Contains(err.Error(), "switch on Message Content Intent"); refused != (granted == 0) {
					t.Errorf("%q, %v", found, err)
				}
			})
		})
	}
}

// The check of a channel posts one board there and deletes it; what the bot lacks is
// named, with what to do.
func TestCheckChannel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Lenient: true})
		g, err := rules.New(&rules.TwoButton, rules.Setup{W: 9, H: 9})
		if err != nil {
			t.Fatal(err)
		}
		board := render.Of(g, render.Names{})
		posts := func() (n int) {
			for _, r := range c.d.Requests("") {
				if strings.HasPrefix(r.Route, "POST ") && strings.HasSuffix(r.Route, "/messages") {
					n++
				}
			}
			return n
		}
		check := func(channel string, posted int, wants ...string) {
			t.Helper()
			before := posts()
			found, err := Check(t.Context(), c.cfg, channel, board)
			says := strings.Join(found, "\n")
			if err != nil {
				says += "\n" + err.Error()
			}
			for _, want := range wants {
				if !strings.Contains(says, want) {
					t.Errorf("it does not say %q:\n%s", want, says)
				}
			}
			if n := posts() - before; n != posted {
				t.Errorf("%d boards were posted to %q, not %d", n, channel, posted)
			}
			if left := c.room.Messages(); len(left) > 0 {
				t.Errorf("a board was left: %+v", left[0])
			}
		}
		check(c.room.ID(), 1, "channel #games: the bot has its permissions\nchannel #games: posted a board and deleted it again")
		c.room.OverwriteBot(0, discordtest.AttachFiles)
		check(c.room.ID(), 1, "channel #games: the bot lacks Attach Files; allow them in the channel's settings, under Permissions\nchannel #games: post a board: ")
		c.room.OverwriteBot(0, discordtest.CreatePublicThreads)
		check(c.room.ID(), 1, "channel #games: posted a board and deleted it again\nchannel #games: the bot lacks Create Public Threads;")
		c.room.OverwriteBot(0, discordtest.ViewChannel)
		check(c.room.ID(), 0, "channel "+c.room.ID()+": hidden from the bot; allow it View Channel")
		check("123456789012345678", 0, "channel 123456789012345678: not found; switch on")
		check(c.guild.Forum("posts").ID(), 0, "channel #posts: takes no messages itself")
	})
}
