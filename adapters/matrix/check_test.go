package matrix

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
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
