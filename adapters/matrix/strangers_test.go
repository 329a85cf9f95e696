//go:build goolm

package matrix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Two people with clients that nobody here wrote play whole games of five rulesets side
// by side, in a room that is encrypted and in one that is not, with the program as it is
// shipped. It is killed between turns and while it deals with them. They say each turn
// once, can read everything, see every picture, see that the bot is who it says, and
// open the records. In the soak tier each game is played in both rooms by every pair of
// clients.
func TestStrangers(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	pairs := [][2]string{{"matrix-js-sdk", "matrix-nio"}}
	if tier.Soaking() {
		pairs = append(pairs, [2]string{"matrix-nio", "matrix-js-sdk"}, [2]string{"matrix-js-sdk", "matrix-js-sdk"}, [2]string{"matrix-nio", "matrix-nio"})
	}
	for _, libraries := range pairs {
		t.Run(strings.Join(libraries[:], "+"), func(t *testing.T) { strangers(t, libraries) })
	}
}

// A strangersGame is one that two strangers play in a thread.
type strangersGame struct {
	adaptertest.WholeGame
	at     id.RoomID
	number int // in the room
	root   id.EventID
}

func strangers(t *testing.T, libraries [2]string) {
	c := lively(t, matrixtest.Shared(t))
	// Dendrite does not say that it knows threads, without which matrix-js-sdk
	// makes none of its own.
	proxy := c.server.Proxy(t)
	proxy.Always(matrixtest.On("GET", "/client/versions$"), matrixtest.Changes(func(body []byte) []byte {
		return bytes.Replace(body, []byte(`"v1.2"`), []byte(`"v1.2","v1.3","v1.4"`), 1)
	}))
	var people [2]*matrixtest.Stranger
	for k, name := range []string{"Zoe", "Yan"} {
		user := c.server.Register(t, name)
		if libraries[k] == "matrix-nio" {
			people[k] = matrixtest.NewNio(t, proxy.URL, user)
		} else {
			people[k] = matrixtest.NewStranger(t, proxy.URL, user)
		}
	}
	zoe, yan := people[0], people[1]
	before := c.through()
	s := c.serve()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the program says:\n%s", s.Stderr.String())
		}
	})
	var rooms []id.RoomID
	for _, encrypted := range []bool{true, false} {
		at := zoe.Makes(matrixtest.Room{Name: "Go club", Encrypted: encrypted, Invite: []id.UserID{yan.ID, c.user.ID}})
		yan.AwaitInvite(at)
		yan.Joins(at)
		for _, user := range []id.UserID{yan.ID, c.user.ID} {
			zoe.AwaitMember(at, user)
			yan.AwaitMember(at, user)
		}
		rooms = append(rooms, at)
	}
	t.Cleanup(func() {
		for _, at := range rooms {
			for _, s := range zoe.Sees(at) {
				if t.Failed() && s.StateKey == nil {
					t.Logf("%s %s: %.30q%s in %s %s", s.Sender, s.Type, s.Body(), s.Key, s.Thread, s.Failure)
				}
			}
		}
	})
	// reads waits until the bot has said something in a thread, or with "" in the
	// room itself.
	reads := func(who *matrixtest.Stranger, at id.RoomID, thread id.EventID, what string) matrixtest.Sight {
		t.Helper()
		return who.AwaitSight(at, what, func(s matrixtest.Sight) bool {
			return s.Sender == c.user.ID && s.Thread == thread && s.Failure == "" && strings.Contains(s.Body(), what)
		})
	}

	var games []*strangersGame
	numbers, boards := map[id.RoomID]int{}, map[id.RoomID]int{}
	for n, g := range adaptertest.WholeGames {
		for k, at := range rooms {
			if !tier.Soaking() && n%2 != k {
				continue
			}
			numbers[at]++
			boards[at] += g.Boards()
			if last := g.Turns[len(g.Turns)-2:]; last[0].Command == "accept" && last[1].Command == "accept" {
				boards[at]-- // the last board becomes that of the end
			}
			games = append(games, &strangersGame{WholeGame: g, at: at, number: numbers[at]})
		}
	}
	rounds := 0
	for n, g := range games {
		rounds = max(rounds, len(g.Turns))
		zoe.Says(g.at, "!new "+g.Rules+" "+g.Size)
		g.root = reads(yan, g.at, "", fmt.Sprintf("opens game %d:", g.number)).ID
		if n%2 == 0 {
			yan.Reacts(g.at, g.root, "✋")
		} else {
			yan.SaysIn(g.at, g.root, "!join")
		}
		reads(zoe, g.at, g.root, " to play, for example ")
	}
	kills := 0
	for k := range rounds {
		var ended func()
		if k%4 == 3 || k%2 == 1 && tier.Soaking() {
			ended = c.killAt(before, s, instants[kills%len(instants)], 0)
		}
		for _, g := range games {
			if k >= len(g.Turns) {
				continue
			}
			turn, who := g.Turns[k], zoe
			if turn.White {
				who = yan
			}
			says := strings.TrimSpace("!" + turn.Command + " " + turn.Args)
			if turn.Command == "place" && k%3 == 2 {
				says = turn.Args // which is enough in the thread of a game
			}
			who.SaysIn(g.at, g.root, says)
		}
		if ended != nil {
			ended()
			s = c.serve()
			kills++
		}
		for _, g := range games {
			if k < len(g.Turns) {
				reads(zoe, g.at, g.root, g.Turns[k].Reads)
				reads(yan, g.at, g.root, g.Turns[k].Reads)
			}
		}
		if k%4 == 1 {
			s.Kill()
			s = c.serve()
			kills++
		}
	}
	for _, g := range games {
		for _, who := range people {
			over := reads(who, g.at, g.root, fmt.Sprintf("Game %d is over: %s", g.number, g.Says("Zoe", "Yan")))
			if over.Kind() != "m.file" {
				t.Errorf("%s is told without the record that %q", who.ID, over.Body())
			} else if err := g.Record(who.File(over)); err != nil {
				t.Errorf("the record of %s: %v", g.Rules, err)
			}
		}
	}
	s.Process.Signal(syscall.SIGTERM)
	<-s.Ended
	events := c.games()
	for _, g := range games {
		if err := g.Log(events[g.at][g.number]); err != nil {
			t.Errorf("%s: %v", g.Rules, err)
		}
	}
	t.Logf("%d games, killed %d times", len(games), kills)

	c.start()
	// What is for her eyes alone comes in a room that the bot makes for her, which
	// is encrypted wherever she asks.
	zoe.Says(rooms[1], "!privacy export")
	reads(yan, rooms[1], "", "I have sent it to you directly")
	alone, err := c.a.queue.marked(t.Context(), "direct", zoe.ID.String())
	if err != nil {
		t.Fatal(err)
	}
	rooms = append(rooms, id.RoomID(alone))
	zoe.AwaitInvite(id.RoomID(alone))
	zoe.Joins(id.RoomID(alone))
	if got := reads(zoe, id.RoomID(alone), "", "everything that I store about you"); got.Kind() != "m.file" || !got.Encrypted || got.Failure != "" || got.Content["file"] == nil {
		t.Errorf("she sees %+v", got)
	}
	c.settled()
	for _, at := range rooms[:2] { // what was said before is seen before
		last := zoe.Says(at, "…")
		zoe.AwaitEvent(at, last)
		yan.AwaitEvent(at, last)
	}
	for _, who := range people {
		for k, at := range rooms[:2] {
			// Once more, with all signatures known.
			c.seen(who, who.Looks(at), k == 0, boards[at])
		}
	}
}

// seen is what holds of what a stranger sees of the bot in a room.
func (c *club) seen(who *matrixtest.Stranger, all []matrixtest.Sight, encrypted bool, boards int) {
	c.Helper()
	pictures := map[string]bool{}
	for _, s := range all {
		if s.Sender != c.user.ID || s.StateKey != nil {
			continue
		}
		if s.Failure != "" {
			c.Errorf("%s cannot read %s: %s", who.ID, s.ID, s.Failure)
			continue
		}
		if s.Type == "m.reaction" || s.Type == "m.room.redaction" {
			continue // which nobody encrypts
		}
		c.wellFormed(s.Content)
		if s.Encrypted != encrypted {
			c.Errorf("%s sees that it is encrypted: %t: %q", who.ID, s.Encrypted, s.Body())
		}
		if encrypted {
			if s.Device == "" {
				c.Errorf("%s sees no device of the bot: %q", who.ID, s.Body())
			}
			if who.Library == "matrix-js-sdk" && (!s.SignedByOwner || s.Shield != "none") {
				c.Errorf("%s sees the shield %q (%s): %q", who.ID, s.Shield, s.ShieldReason, s.Body())
			}
			for _, key := range s.Clear {
				if !slices.Contains([]string{"algorithm", "ciphertext", "device_id", "sender_key", "session_id", "m.relates_to"}, key) {
					c.Errorf("%s is in the clear: %q", key, s.Body())
				}
			}
		}
		if _, edit := s.Content["m.new_content"]; s.Kind() == "m.image" && !edit { // whose picture is seen where it belongs
			if s.Media == nil || s.Media.Encrypted != encrypted {
				c.Errorf("the media of %q: %+v", s.Body(), s.Media)
				continue
			}
			who.Picture(s)
			name, _ := s.Content["filename"].(string)
			if pictures[name] {
				c.Errorf("%s sees %s twice", who.ID, name)
			}
			pictures[name] = true
		}
	}
	if len(pictures) != boards {
		c.Errorf("%s has seen %d boards and not %d", who.ID, len(pictures), boards)
	}
}
