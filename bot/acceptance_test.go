package bot_test

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The first of two players who accept a count is told in a line: the newest board
// stays, and so do the buttons below it, until the marks change.
func TestFirstAcceptance(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new two-button 3x3 opponent:bob", "bob> /join", "ada> /place B2", "bob> /pass")
	_, posts := k.say(t, "ada", "/pass")
	board, press := posts[0], ""
	for _, c := range board.Controls {
		if c.Command == "accept" {
			press = "/accept game:" + c.Args["game"] + " seq:" + c.Args["seq"]
		}
	}
	ask := func(who, text string) (string, int) {
		t.Helper()
		a, posts := k.say(t, who, text)
		for _, p := range posts {
			if p.Kind == match.Show {
				return a.Text, 1
			}
		}
		return a.Text, 0
	}
	r, err := k.request("ada", "/accept")
	must(t, err)
	r.Args["game"], r.Args["seq"] = "1", board.Controls[2].Args["seq"]
	if _, err := k.bot.Ask(t.Context(), r); err != nil || press == "" {
		t.Fatal(err, board.Controls)
	}
	if told := k.posts(t); len(told) != 1 || told[0].Kind != match.Notice || !told[0].Instead || told[0].Notify[0].Name != "Bob" || !strings.HasPrefix(told[0].Text, "Ada accepts the count. ") {
		t.Fatalf("after the first acceptance: %+v", told)
	}
	if status := k.status(t, board.Game); !strings.Contains(status, "play has stopped · Black has accepted\n") {
		t.Errorf("the status does not say who has accepted: %q", status)
	}
	if _, boards := ask("bob", "/dead B2"); boards != 1 {
		t.Error("no board after the marks changed")
	}
	r.ID += " again"
	a, err := own(k.bot.Ask(t.Context(), r))
	if err != nil || !strings.Contains(a.Text, "has moved on") {
		t.Errorf("a button below the board before is answered %q, %v", a.Text, err)
	}
	if status := k.status(t, board.Game); strings.Contains(status, "accepted") {
		t.Errorf("the status says who had accepted other marks: %q", status)
	}
}

// status is the status message of a game as it is now.
func (k *talk) status(t *testing.T, game match.GameID) string {
	t.Helper()
	m, err := k.store.Header(t.Context(), game)
	must(t, err)
	s, err := k.bot.View(t.Context(), bot.Viewing{Game: game, Seq: m.Seq})
	must(t, err)
	return strings.Join(bot.HowItStands(s.Scene), "\n")
}

// Of two who accept that there is no result the first is told in a line, too, and the status
// says who has; the last changes the board.
func TestFirstAcceptsNoResult(t *testing.T) {
	k := newTalk(t)
	var board outbox.Post
	for _, line := range []string{"ada> /new japanese 2x1 komi:0 opponent:bob", "bob> /join", "ada> /place A1", "bob> /place B1", "ada> /pass", "bob> /pass", "ada> /resume",
		"ada> /place A1", "bob> /pass", "ada> /pass", "bob> /resume", "bob> /place B1", "ada> /pass", "bob> /pass", "ada> /resume", "ada> /place A1"} {
		who, text, _ := strings.Cut(line, "> ")
		if _, posts := k.say(t, who, text); len(posts) > 0 {
			board = posts[0]
		}
	}
	_, told := k.say(t, "ada", "/accept no-result")
	if len(told) != 1 || told[0].Kind != match.Notice || !told[0].Instead || told[0].Notify[0].Name != "Bob" || !strings.HasPrefix(told[0].Text, "Ada accepts that the game ends without a result. ") {
		t.Fatalf("after the first: %+v", told)
	}
	if status := k.status(t, board.Game); !strings.Contains(status, "White to play · Black has accepted") {
		t.Errorf("the status does not say who has accepted: %q", status)
	}
	_, last := k.say(t, "bob", "/accept no-result")
	if len(last) == 0 || last[0].Kind != match.Show || !last[0].Agreed {
		t.Errorf("after the second: %+v", last)
	}
}
