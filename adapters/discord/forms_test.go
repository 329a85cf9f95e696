package discord

import (
	"fmt"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// A form opens at once, however long others in the same channel keep the bot: after a
// deferral Discord takes none.
func TestFormsDoNotWait(t *testing.T) {
	eachInClub(t, map[string]bool{"through the gateway": false, "over HTTP": true}, func(t *testing.T, c *club, http bool) {
		if http {
			c.overHTTP()
			c.again()
		}
		thread := c.begin(t)
		board := thread.Last()
		c.recorder.gate = make(chan bool)
		slow := []*discordtest.Interaction{c.bob.Slash(thread, "place", opt("at", "C3")), c.bob.Slash(c.room, "go room games")}
		for what, i := range map[string]*discordtest.Interaction{
			"a press": c.alice.Press(board, "Place a stone…"), "a command": c.alice.Slash(c.room, "show"),
		} {
			modal := i.Modal()
			if _, took := i.First(); modal == nil || took != 0 {
				t.Errorf("%s is answered by %+v after %v", what, modal, took)
			}
		}
		close(c.recorder.gate)
		for _, i := range slow {
			c.ok(i)
		}
	})
}

// Where a form does not come in time the person hears so: the button seems dead otherwise.
func TestFormsThatComeTooLate(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		board := thread.Last()
		c.recorder.gate = make(chan bool)
		var slow []*discordtest.Interaction
		for k := range askWorkers {
			slow = append(slow, c.guild.Member(fmt.Sprint("Player ", k)).Slash(c.guild.Channel(fmt.Sprint("room ", k)), "go room games"))
		}
		i := c.alice.Press(board, "Place a stone…")
		if kind, took := i.First(); kind != rest.ResponseMessage || took != answerAfter {
			t.Errorf("answered by %d after %v", kind, took)
		}
		if m := c.ok(i); m.To != "Alice" || m.Content != wordBusy {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		close(c.recorder.gate)
		for _, i := range slow {
			c.ok(i)
		}
		if n := len(i.FollowUps()); n > 0 {
			t.Errorf("%d messages follow", n)
		}
	})
}
