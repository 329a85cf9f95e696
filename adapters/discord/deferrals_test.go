package discord

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// stored returns the decorations of a kind that are stored.
func (c *club) stored(kind string) (rows []outbox.Row) {
	c.Helper()
	all, err := c.store.(*store.Store).Decorations(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	for _, r := range all {
		if r.Kind == kind {
			rows = append(rows, r)
		}
	}
	return rows
}

// A program that is killed while somebody sees that it thinks, before anything is
// decided, tells them when it is back; not who has been answered, nor who asked
// too long ago.
func TestKilledWhileThinking(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		gate := make(chan bool)
		stop, kill := c.alone(&recorder{Service: bot.New(c.store, bot.Config{}), gate: gate})
		thinks := func(who *discordtest.Person) *discordtest.Interaction {
			t.Helper()
			i := who.Slash(c.room, "go study rules")
			if kind, took := i.First(); kind != 5 || took != answerAfter {
				t.Fatalf("first answered by %d after %v", kind, took)
			}
			synctest.Wait()
			var e ending
			rows := c.stored(outbox.Ending)
			if err := json.Unmarshal([]byte(rows[len(rows)-1].Data), &e); err != nil || e.Token != i.Token() {
				t.Errorf("stored is %+v, %v", rows, err)
			}
			return i
		}
		told := thinks(c.alice)
		gate <- true
		said := c.ok(told).Content
		old := thinks(c.alice)
		time.Sleep(routeLife + time.Minute)
		c.bob.Locale("de")
		lost := thinks(c.bob)
		kill()
		time.Sleep(6 * time.Second) // Discord lets nobody identify twice within five
		reads := c.d.Count(originalRoute)
		c.start()
		if m := c.ok(lost); m.To != "Bob" || m.Content != bot.Translated("de", wordInterrupted) {
			t.Errorf("it ends as %q to %q", m.Content, m.To)
		}
		c.passes(2 * time.Second)
		if rows := c.stored(outbox.Ending); len(rows) > 0 {
			t.Errorf("still stored are %+v", rows)
		}
		if m := c.ok(told); m.Content != said {
			t.Errorf("%q became %q", said, m.Content)
		}
		if n := c.d.Count(originalRoute) - reads; n != 1 { // Bob's
			t.Errorf("%d answers are read; %v is too old", n, old)
		}
		c.stop()
		close(gate)
		stop()
		c.check()
	})
}
