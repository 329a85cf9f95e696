package matrix

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// A room in which the bot may not send is hardly asked again, whatever people do there,
// and another room on a homeserver with stock limits notices nothing. Once the bot may
// send, the newest board comes by itself.
func TestRefusedRoom(t *testing.T) {
	levels := func(g *board) *event.PowerLevelsEventContent {
		return &event.PowerLevelsEventContent{Users: map[id.UserID]int{g.black.ID: 100, g.white.ID: 50}}
	}
	for _, is := range []struct {
		name string
		deny func(*event.PowerLevelsEventContent)
	}{
		{"messages", func(l *event.PowerLevelsEventContent) { l.EventsDefault = 50 }},
		{"reactions", func(l *event.PowerLevelsEventContent) {
			l.Events = map[string]int{event.EventReaction.Type: 50, event.EventRedaction.Type: 50}
		}},
	} {
		t.Run(is.name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				c.cfg.Rate, c.cfg.Burst = 0, 0
				p := c.through()
				bots := func(r *matrixtest.Request) bool {
					return matrixtest.Sending(r) && r.Token == c.a.device().Client.AccessToken
				}
				p.Limit(bots, sendRate, sendBurst)
				c.start()
				g, other := c.begins("two-button 5x5"), c.begins("two-button 5x5")
				time.Sleep(5 * time.Minute)
				denied := levels(g)
				is.deny(denied)
				began := time.Now()
				e := g.black.Sets(g.black.at, event.StatePowerLevels, "", denied)
				g.black.AwaitEvent(g.black.at, e)
				for k := range 10 {
					for _, what := range []string{"!place C3", "!place I9", "!board", "!undo"} {
						g.black.says(g.root, what)
						time.Sleep(10 * time.Second)
					}
					g.black.Reacts(g.black.at, g.root, "⏭️")
					time.Sleep(10 * time.Second)
					turn := []string{"A1", "B2", "C3", "D4", "E5", "A2", "B3", "C4", "D5", "A3"}[k]
					at := time.Now()
					other.turns(other.root, 1, k, turn)
					if took := time.Since(at); took > 3*time.Second {
						t.Errorf("the other room's board took %v", took)
					}
				}
				refused, uploads := 0, 0
				for _, r := range p.Requests(matrixtest.Any) {
					path, err := url.PathUnescape(r.Path)
					if err != nil {
						t.Fatal(err)
					}
					switch {
					case r.At.Before(began):
					case matrixtest.Uploading(&r):
						uploads++
					case r.Method != "GET" && strings.Contains(path, g.black.at.String()) && (r.Status >= 400 || is.name == "messages"):
						refused++
					}
				}
				if refused > 10 {
					t.Errorf("%d requests to the room that refuses them", refused)
				}
				if is.name != "messages" {
					return
				}
				if uploads > 10+3 {
					t.Errorf("%d uploads for ten boards that can be shown", uploads)
				}

				var seq int
				if err := c.cfg.DB.QueryRow(t.Context(), "SELECT seq FROM game JOIN game_channel ON game_channel.game = game.id WHERE channel = $1", g.black.at).Scan(&seq); err != nil {
					t.Fatal(err)
				}
				if shown := g.black.View(g.black.at).Pictures(c.user.ID); len(shown) != 1 || seq < 10 {
					t.Fatalf("%d boards were shown of a game with %d events", len(shown), seq)
				}
				g.black.Sets(g.black.at, event.StatePowerLevels, "", levels(g))
				g.black.Await(g.black.at, "the newest board", func(v matrixtest.View) bool {
					pictures := v.Pictures(c.user.ID)
					return len(pictures) > 0 && pictures[len(pictures)-1].Picture.Name == boardName(1, seq)
				})
			})
		})
	}
}
