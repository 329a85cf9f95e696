package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// A turn typed bare is nothing but a point or the word pass.
func TestBareTurn(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"E5", "place E5"}, {"e5", "place E5"}, {" e 5 ", "place E5"}, {"5e", "place E5"}, {"e5.", "place E5"}, {"E5!", "place E5"},
		{"e,5", "place E5"}, {"t19", "place T19"}, {"25z", "place Z25"},
		{"i5", "place I5"}, {"z9", "place Z9"}, // which are refused on most boards, and say why
		{"pass", "pass"}, {"Pass.", "pass"},
		{"pass please", "pass"}, {"Pass, please!", "pass"}, {"play G3", "place G3"}, {"place g3", "place G3"}, {"Play g 3, please.", "place G3"},
		{"play pass", "pass"}, {"please", "chat"}, {"play", "chat"}, {"play on", "chat"}, {"please pass", "chat"}, {"play E5?", "chat"},
		{"", "chat"}, {"e", "chat"}, {"5", "chat"}, {"e0", "chat"}, {"e26", "chat"}, {"e05", "chat"}, {"b52", "chat"},
		{"e5?", "chat"}, {"e5 d4", "chat"}, {"5 e", "chat"}, {"e5 e", "chat"}, {"E5 is bad", "chat"}, {"e\n5 6", "chat"}, {"5e4", "chat"},
		{"passe", "chat"}, {"I pass", "chat"}, {"pass?", "chat"}, {"resign", "chat"}, {"undo", "chat"}, {"/place E5", "chat"},
		{"é5", "chat"}, {"ｅ5", "place E5"}, {"Ｅ５", "place E5"}, {"ｐａｓｓ", "pass"}, {"e-5", "place E5"}, {"E5。", "place E5"},
		{"3四", "place 3四"}, {"１６四", "place 16四"}, {"四四", "place 四四"}, {"4-4", "chat"}, {"十一", "chat"}, {"一", "chat"}, {"四", "chat"}, {"e" + strings.Repeat(" ", 30) + "5", "chat"},
	} {
		got := "chat"
		if command, args, ok := bot.BareTurn(c.typed); ok {
			got = strings.TrimSpace(command + " " + strings.ToUpper(args["at"]))
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.typed, got, c.want)
		}
	}
}

// A turn typed bare is one for the player to move alone, in the thread of the game, or
// in a place without threads where no other game is played. All else is chat.
func TestBare(t *testing.T) {
	k := newTalk(t)
	typed := func(who, where, text string) string {
		t.Helper()
		r, err := k.request(who, "/board")
		must(t, err)
		switch where {
		case "alone":
			r.Flat = true
		case "room":
		default:
			r.Under, r.Where.Thread = where, "thread-of-"+where
		}
		before := fmt.Sprint(k.matches(t, bot.Query{Where: clubRoom}))
		turn, ok, why, err := k.bot.Bare(t.Context(), r, text)
		must(t, err)
		if after := fmt.Sprint(k.matches(t, bot.Query{Where: clubRoom})); after != before {
			t.Errorf("looking at %q changed the games:\n%s\n%s", text, before, after)
		}
		if !ok {
			return strings.TrimSpace("chat " + bot.Fill(why, bot.Format{}))
		}
		a, err := own(k.bot.Ask(t.Context(), turn))
		must(t, err)
		k.posts(t)
		// What was a turn stays one, although somebody else is to move now.
		again, ok, _, err := k.bot.Bare(t.Context(), r, text)
		must(t, err)
		if b, err := own(k.bot.Ask(t.Context(), again)); err != nil || !ok || b.Text != a.Text {
			t.Errorf("%q again: %v, %+v, %v", text, ok, b, err)
		}
		if a.Refused {
			return a.Text
		}
		return "turn"
	}
	const stopped = "Play has stopped in game 1. Mark dead stones with /dead, /accept the count, or /resume play."
	k.lines(t, "ada> /new aga 9x9 opponent:bob") // under 1
	if got := typed("ada", "1", "E5"); got != "chat" {
		t.Errorf("before the game: %s", got)
	}
	k.lines(t, "bob> /join")
	for _, c := range []struct{ who, where, text, want string }{
		{"ada", "room", "E5", "chat"},
		{"bob", "1", "E5", "chat It is not your turn in game 1: it is Black's."},
		{"eve", "1", "E5", "chat"},
		{"nobody", "1", "E5", "chat"}, // whom the bot has never met
		{"ada", "other", "E5", "chat"},
		{"ada", "1", "what about e5?", "chat"},
		{"ada", "1", "i5", "Go boards have no column I: did you mean J5?"},
		{"ada", "1", "z9", "Z9 is not on this board: its columns go from A to J, its rows from 1 to 9."},
		{"ada", "1", "e 5", "turn"},
		{"ada", "1", "e 5", "chat It is not your turn in game 1: it is White's."},
		{"bob", "1", "5e", "There is already a stone on E5."},
		{"bob", "alone", "d5", "turn"},
		{"ada", "1", "pass", "turn"},
		{"bob", "1", "PASS", "turn"},
		{"ada", "1", "c3", "chat " + stopped}, // which of the stones are dead is talked about
		{"ada", "1", "pass", "chat " + stopped},
		{"eve", "1", "pass", "chat"},
	} {
		if got := typed(c.who, c.where, c.text); got != c.want {
			t.Errorf("%s in %s: %q is %s, want %s", c.who, c.where, c.text, got, c.want)
		}
	}
	k.lines(t, "ada> /resume game:1", "ada> /new aga 9x9 opponent:bob", "bob> /join 2", "ada> /place E5 2")
	// Of two games without threads, the one in which it is their turn.
	for _, c := range []struct{ who, text, want string }{
		{"bob", "c3", "turn"}, // in the second
		{"bob", "d3", "chat It is not your turn in game 2: it is Black's."},
		{"ada", "d3", "turn"}, {"ada", "d4", "turn"}, // in the second, which was played in last, then in the first
	} {
		if got := typed(c.who, "alone", c.text); got != c.want {
			t.Errorf("%s of two games: %q is %s, want %s", c.who, c.text, got, c.want)
		}
	}
	k.lines(t, "eve> /new aga 9x9", "kim> /join 3")
	if got := typed("eve", "alone", "c3"); got != "turn" {
		t.Errorf("of one's only game: %s", got)
	}
	// Somebody who only chats is not written down.
	if strings.Contains(strings.ToLower(k.exports(t)), "nobody") {
		t.Error("the bot keeps the name of somebody who only chatted")
	}
}

// What reads like a command without its slash is one, and talk is none.
func TestSlashed(t *testing.T) {
	for typed, want := range map[string]string{
		"E5": "/place E5", " k9 ": "/place k9", "I5": "/place I5", "place D4": "/place D4", "Place d4": "/place d4",
		"pass": "/pass", "New": "/new", "help": "/help", "accept": "/accept", "new 9x9": "/new 9x9",
		"new two-button 9x9": "/new two-button 9x9", "new 13×13": "/new 13×13", "dead C3 D5": "/dead C3 D5",

		"E55": "/place E55", "４-４": "/place ４-４", "4-4": "/place 4-4", "Ｄ４": "/place D4", "3四": "/place 3四", // the bot says what is wrong with them

		"": "", "/pass": "", "!pass": "", "hello": "", "E5 D4": "", "E": "", "é5": "",
		"pass?": "", "new game anyone?": "", "help me please": "", "why": "", "return": "", "draw in 10 minutes": "",
		"place your stones at once": "", "dead right": "", "play E5": "/place E5", "pass please": "/pass",
	} {
		if got := bot.Slashed(typed); got != want {
			t.Errorf("%q is read as %q, want %q", typed, got, want)
		}
	}
}

// Where there are no threads, a second game does not make every command ask which is
// meant: it is the one that was played in last. Only where a guess could cost a game does
// the bot ask, and it offers the newest first.
func TestSeveralGamesWithoutThreads(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 9x9 opponent:me", "ada> /place E5", "ada> /new two-button 9x9 opponent:me", "ada> /place D4 2")
	for _, c := range []struct{ typed, want string }{
		{"/place C3", "Game 2"}, {"/undo", "Game 2"}, {"/score", "Both buttons are on the table"}, {"/board", "Game 2"},
		{"/place C3 1", "Game 1"}, {"/place C4", "Game 1"}, {"/pass", "Game 1"},
		{"/resign", "Add game:2, or choose"},
	} {
		k.now = k.now.Add(time.Second)
		r, err := k.request("ada", c.typed)
		must(t, err)
		r.Flat = true
		a, err := own(k.bot.Ask(t.Context(), r))
		must(t, err)
		told := bot.Fill(a.Text, bot.Format{})
		if a.Scene != nil {
			told += "Game " + map[bool]string{true: "2", false: "1"}[strings.Contains(a.Scene.Text(), "Two Button")]
		}
		for _, p := range k.posts(t) {
			told += " " + bot.Fill(p.Text, bot.Format{})
		}
		if !strings.Contains(told, c.want) {
			t.Errorf("%s is answered %q, without %q", c.typed, told, c.want)
		}
	}
}
