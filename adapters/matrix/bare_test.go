package matrix

import (
	"slices"
	"strings"
	"testing"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// In the thread of a game a point or "pass" is a turn of the player to move. All else
// that people say there without a sign is between them.
func TestBareTurns(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		w := c.watch()
		c.start()
		g := c.begins("two-button 5x5")
		at := g.black.at
		eve := &guest{Player: s.Player(t, "Eve"), c: c, at: at}
		g.black.Invites(at, eve.ID)
		eve.AwaitInvite(at)
		eve.Joins(at)
		c.settled()
		other := g.white.Says(at, "look at this")
		said := func() int { return len(g.black.View(at).From(c.user.ID)) }
		before, asked := said(), len(w.in(at))
		for _, chat := range []struct {
			who    *guest
			thread id.EventID
			text   string
		}{
			{g.white, g.root, "C3"}, {eve, g.root, "C3"}, {g.black, g.root, "C3?"}, {g.black, g.root, "c3 is best"},
			{g.black, "", "C3"}, {g.black, other, "C3"}, {g.black, g.root, "score"},
		} {
			chat.who.asks(chat.thread, chat.text)
		}
		c.settled()
		if said() != before || len(w.in(at)) != asked {
			t.Errorf("the bot heard of %v and said %d things", w.in(at)[asked:], said()-before)
		}

		for _, turn := range []struct {
			who         *guest
			text, shows string
		}{
			{g.black, "c 3", "1. Black C3"}, {g.white, "4c", "2. White C4"}, {g.black, "D4.", "3. Black D4"},
			{g.white, "Pass", "4. White passes"},
		} {
			if m := sees(g, turn.who, turn.text, turn.shows); m.Thread != g.root {
				t.Errorf("%q is shown elsewhere than in the thread", turn.text)
			}
		}

		// A reply to the bot's board is about its game, also outside of the thread. A reply
		// to what people say is chat, and so is one of somebody who is not to move.
		board := g.shows("4. White passes").ID
		before, asked = said(), len(w.in(at))
		for _, chat := range []struct {
			who  *guest
			to   id.EventID
			text string
		}{{g.black, other, "E3"}, {g.white, board, "E3"}, {eve, board, "E3"}, {g.black, board, "E3 or pass?"}} {
			c.dealt(at, chat.who.replies(chat.to, chat.text))
		}
		c.settled()
		if said() != before || len(w.in(at)) != asked {
			t.Errorf("the bot heard of replies %v and said %d things", w.in(at)[asked:], said()-before)
		}
		c.dealt(at, g.black.replies(board, "D4"))
		if m := g.black.reads("already a stone on D4"); m.Thread != "" {
			t.Error("a reply in the room is answered in the thread")
		}
		c.dealt(at, g.black.replies(board, "A1"))
		g.shows("5. Black A1")
		c.dealt(at, g.white.replies(g.root, "A2")) // to the opening
		g.shows("6. White A2")

		// A turn that cannot be is refused, and what it is edited into is played.
		refused := g.black.asks(g.root, "d4")
		g.black.reads("There is already a stone on D4")
		c.dealt(at, g.black.Edits(at, refused, "e4"))
		g.shows("7. Black E4")
		c.dealt(at, g.black.Edits(at, refused, "e5"))
		g.black.reads("Editing a message does not change")

		// Chat that is edited into a turn is one. It is none once it is somebody else's.
		chat := g.white.asks(g.root, "hm")
		c.dealt(at, g.white.Edits(at, chat, "b2"))
		g.shows("8. White B2")
		late := g.white.asks(g.root, "b1?")
		c.dealt(at, g.white.Edits(at, late, "b1"))
		c.settled()
		if c.says(g.black, "White B1") > 0 || slices.Contains(w.in(at), late) {
			t.Error("a turn out of turn")
		}
		c.once(g.black, at)
	})
}

// Of several games in a room a reply is about the one whose message it answers, with or
// without a sign, and it becomes what it is edited into.
func TestRepliesNameTheGame(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		g := c.begins("two-button 5x5")
		second := g.another("button 5x5", 2)
		at, black := g.black.at, g.black
		last := func(root id.EventID, what string) *matrixtest.Message {
			t.Helper()
			return black.AwaitMessage(at, c.user.ID, what, func(m *matrixtest.Message) bool { return m.Thread == root && strings.Contains(m.Text(), what) })
		}
		first, other := last(g.root, "to play, for example").ID, last(second, "to play, for example").ID
		c.dealt(at, black.replies(other, "!place A1"))
		last(second, "1. Black A1")
		c.dealt(at, black.replies(first, "B2"))
		last(g.root, "1. Black B2")
		c.dealt(at, g.white.Edits(at, g.white.replies(second, "hm"), "C3"))
		last(second, "2. White C3")
		c.once(black, at)
	})
}

// replies says something outside of threads in reply to a message.
func (g *guest) replies(to id.EventID, text string) id.EventID {
	m := &event.MessageEventContent{MsgType: event.MsgText, Body: text, RelatesTo: &event.RelatesTo{InReplyTo: &event.InReplyTo{EventID: to}}}
	return g.Sends(g.at, event.EventMessage, m)
}

func sees(g *board, who *guest, text, shows string) *matrixtest.Message {
	who.asks(g.root, text)
	return g.shows(shows)
}
