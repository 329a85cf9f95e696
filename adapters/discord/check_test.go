package discord

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
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
