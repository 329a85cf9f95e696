//go:build goolm

package matrix

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// When both players delete a game, all that the bot has said of it goes, but for the notice
// of that: in an encrypted room, under the limits of a stock homeserver, and if the bot is
// killed meanwhile. Other games and what people said stay.
func TestDeletedGame(t *testing.T) {
	for name, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) { deletesAGame(t, s, encrypted) })
		})
	}
}

func deletesAGame(t *testing.T, s *matrixtest.Server, encrypted bool) {
	c := newClub(t, s)
	rests := func(d time.Duration) {
		if s.Virtual() {
			time.Sleep(d)
		}
	}
	if s.Virtual() {
		c.stock()
	}
	p := c.through()
	c.start()
	r := c.talkers(encrypted)
	r.gathers()
	anna, bob := r.people[0], r.people[1]
	root := r.settles() // in no time
	rests(5 * time.Minute)
	if s.Virtual() {
		p.Limit(matrixtest.Sending, sendRate, sendBurst)
	}
	anna.says(root, "!accept")
	bob.seesIn(root, "is over")
	rests(5 * time.Minute)
	anna.says("", "!new 5x5")
	other := anna.sees("opens game 2:")
	anna.says(root, "!delete how:forget")
	bob.seesIn(root, "asks")
	bob.says(root, "!delete how:forget")
	notice := anna.seesIn(root, "Bob deletes game 1.")
	rests(time.Minute)
	c.kill()
	c.start()
	rests(20 * time.Minute)
	c.settled()
	caughtUp(anna.Player, r.at)
	gone := func(e id.EventID) bool {
		now, err := anna.Client.GetEvent(t.Context(), r.at, e)
		return err == nil && now.Unsigned.RedactedBecause != nil
	}
	c.await("the opening to go", func() bool { return gone(root) })
	said := 0
	for _, e := range anna.View(r.at).Events {
		if e.Type != "m.room.message" && e.Type != "m.room.encrypted" || e.StateKey != nil {
			continue
		}
		relates, _ := e.Content["m.relates_to"].(map[string]any)
		of := fmt.Sprint(relates["event_id"])
		stays := e.Sender != c.user.ID || e.ID == notice || e.ID == other || of == other.String()
		if gone(e.ID) == stays {
			t.Errorf("%s of %s is to stay: %v", e.ID, e.Sender, stays)
		}
		said++
	}
	if said < 15 {
		t.Errorf("only %d messages", said)
	}
	for _, x := range p.Requests(matrixtest.Sending) {
		if x.Status == http.StatusTooManyRequests {
			t.Errorf("too much at %v: %s", x.At, x.Path)
		}
	}
}

// Where the bot may not remove its messages it says so, once.
func TestDeletedGameStays(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := c.talkers(false)
		r.gathers()
		anna, bob := r.people[0], r.people[1]
		root := r.settles()
		c.settled()
		var levels event.PowerLevelsEventContent
		if err := anna.Client.StateEvent(t.Context(), r.at, event.StatePowerLevels, "", &levels); err != nil {
			t.Fatal(err)
		}
		levels.Events = map[string]int{"m.room.redaction": 50}
		anna.Sets(r.at, event.StatePowerLevels, "", &levels)
		anna.says(root, "!delete how:forget")
		bob.seesIn(root, "asks")
		bob.says(root, "!delete how:forget")
		anna.seesIn(root, "Bob deletes game 1.")
		c.settled()
		c.restart()
		c.settled()
		caughtUp(anna.Player, r.at)
		told := 0
		for _, m := range anna.View(r.at).In(root) {
			if strings.Contains(m.Text(), "not allowed to remove") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("it says %d times that they stay", told)
		}
	})
}
