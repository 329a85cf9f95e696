package matrix

import (
	"fmt"
	"net/http"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// What the servers in front of a homeserver answer in its place, while it is started
// anew for example, is no refusal: nothing is lost by it, and no room set aside.
func TestServersInFront(t *testing.T) {
	t.Parallel()
	c := lively(t)
	p := c.through()
	c.start()
	away := func(m matrixtest.Match, status int) (happened func()) {
		o := p.Once(m, matrixtest.Fails(status, ""))
		return func() { t.Helper(); o.Await(t, 1) }
	}
	messages := matrixtest.On("PUT", "/send/m.room.message/")

	anna := &guest{Player: c.server.Player(t, "Anna"), c: c}
	happened := away(matrixtest.Joining, http.StatusNotFound)
	anna.at = anna.Makes(matrixtest.Room{Name: "Go club", Invite: []id.UserID{c.user.ID}})
	happened()
	c.await("the bot to come", func() bool { return c.a.room(anna.at).joined })

	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout} {
		happened = away(messages, status)
		before := c.says(anna, "no game")
		anna.asks("", "!games") // which is answered
		happened()
		c.await(fmt.Sprint("the answer after ", status), func() bool { return c.says(anna, "no game") > before })
	}

	g := c.begins("two-button 5x5")
	c.settled()
	for k, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		happened = away(messages, status)
		g.turns(g.root, 1, k, []string{"C3", "D3"}[k])
		happened()
		c.settled() // the next message is the next board
	}
	board := g.shows("move 2:")
	happened = away(matrixtest.On("GET", "/event/"), http.StatusNotFound)
	g.black.Reacts(g.black.at, board.ID, "⏭️")
	happened()
	g.shows("move 3: Black passes")
}
