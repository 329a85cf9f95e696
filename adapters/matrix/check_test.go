package matrix

import (
	"strings"
	"testing"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A log line says that people can play, and where.
func TestStartIsLogged(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start()
		c.room(matrixtest.Room{}, "Anna")
		c.halt()
		c.start()
		log := c.log.String()
		for _, rooms := range []string{"rooms=0", "rooms=1"} {
			if want := `msg="connected to Matrix" adapter=matrix user=` + c.user.ID.String() + " homeserver=" + s.URL + " " + rooms; strings.Count(log, want) != 1 {
				t.Errorf("the log lacks %s\n%s", want, log)
			}
		}
	})
}

// The check of a room posts one board there and removes it; what keeps it from that
// is named, with what to do. In an encrypted room it posts nothing.
func TestCheckRoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start()
		g, err := rules.New(&rules.TwoButton, rules.Setup{W: 9, H: 9})
		if err != nil {
			t.Fatal(err)
		}
		anna := c.room(matrixtest.Room{}, "Anna")[0]
		sealed := c.room(matrixtest.Room{Encrypted: true}, "Ben")[0]
		check := func(at id.RoomID, want string) {
			t.Helper()
			found, err := Check(t.Context(), c.cfg, at.String(), render.Of(g, render.Names{}))
			says := strings.Join(found, "\n")
			if err != nil {
				says += "\n" + err.Error()
			}
			if !strings.Contains(says, want) {
				t.Errorf("it does not say %q:\n%s", want, says)
			}
		}
		in := "room " + anna.at.String() + ": "
		check(anna.at, in+"the bot is in it\n"+in+"posted a board and removed it again")
		caughtUp(anna.Player, anna.at)
		if all := anna.View(anna.at).Messages; len(all) != 1 || all[0].Sender != c.user.ID || !all[0].Redacted {
			t.Errorf("Anna sees %+v", all)
		}
		check(sealed.at, "encrypted; the bot may write there")
		caughtUp(sealed.Player, sealed.at)
		if seen := sealed.View(sealed.at).From(c.user.ID); len(seen) > 0 {
			t.Errorf("in an encrypted room Ben sees %+v", seen)
		}
		anna.Sets(anna.at, event.StatePowerLevels, "", &event.PowerLevelsEventContent{
			Users: map[id.UserID]int{anna.ID: 100}, Events: map[string]int{event.EventMessage.Type: 50}})
		check(anna.at, in+"the bot may not send m.room.message; raise its power level from 0 to 50")
		check("!elsewhere:halfpoint.test", "the bot is not in it; start halfpoint, then invite "+c.user.ID.String()+" there")
	})
}
