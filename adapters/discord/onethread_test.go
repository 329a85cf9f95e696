package discord

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// Somebody with a copy of the database cannot speak for the bot: the routes
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
		asks(c.bob.Slash(thread, "go resign", opt("confirm", "yes")))
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
