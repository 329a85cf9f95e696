package store

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Lines of somebody who is forgotten go as a whole, and all others stay as they were,
// also if the name is a word, a point, a pattern or part of a command. Those of earlier
// releases have names instead of ids.
func TestForgettingDeletesLines(t *testing.T) {
	for _, name := range []string{"1", "e", "E5", "%", "_", "game", "somebody", "Al", "碁打ち", "Ünal", "\u2068דן\u2069", "\u3164", strings.Repeat("a", 10_000)} {
		t.Run(shortName(name), func(t *testing.T) {
			onBoth(t, func(t *testing.T, s *Store) {
				ctx := t.Context()
				cleaned := bot.CleanName(name)
				who := outbox.User{Platform: "web", ID: "name:" + strings.ToLower(cleaned), Name: cleaned}
				p, err := s.Person(ctx, who)
				must(t, err)
				other, err := s.Person(ctx, outbox.User{Platform: "web", ID: "name:bob", Name: "Bob"})
				must(t, err)
				words := "1 e E5 % _ game somebody Al 碁打ち Ünal \u2068דן\u2069 " + name
				remark := func(by match.PersonID, words any) []bot.Text {
					return []bot.Text{text.Say("board"), text.Say("remark", text.Somebody(string(by)), words)}
				}
				showed := func(by match.PersonID) []bot.Text {
					return []bot.Text{text.Say("shared.show", text.Somebody(string(by)), "")}
				}
				question := func(option string) *match.Question {
					return &match.Question{Command: "show", Args: map[string]string{option: words}, Seq: 3}
				}
				controls := []match.Control{{Label: name, Command: "place", Args: map[string]string{"game": "1", "at": "E5", name: name}}}
				var want []outbox.Message
				for i, line := range []struct {
					goes bool
					outbox.Message
				}{
					{true, outbox.Message{By: p, Text: "mine"}},
					{false, outbox.Message{By: other, Text: words}},
					{true, outbox.Message{Room: "local/" + who.ID, Texts: remark(other, "told")}},
					{false, outbox.Message{Room: "local/name:bob", Texts: remark(other, words)}},
					{true, outbox.Message{Texts: remark(p, "hers")}},
					{false, outbox.Message{Texts: remark(other, `{"k":"remark","a":[{"p":"`+string(p)+`"}`), Notify: []match.PersonID{p, other}, Controls: controls}},
					{false, outbox.Message{Texts: []bot.Text{text.Say("called", text.Somebody(string(p)))}, Lang: "ja", Number: 7}},
					{true, outbox.Message{Texts: showed(p), Question: question("diagram")}},
					{false, outbox.Message{Texts: showed(p), Question: question("game")}},
					{false, outbox.Message{Texts: showed(other), Question: question("diagram")}},
					{true, outbox.Message{From: strings.ToUpper(cleaned), Text: "mine"}},
					{true, outbox.Message{Text: "@" + cleaned + " to play", To: []string{"Bob", cleaned}}},
					{false, outbox.Message{From: "Bob", Text: words, To: []string{"Bob"}, Controls: controls}},
					{false, outbox.Message{Text: words, To: []string{"Bob", "1e"}, File: &outbox.File{Name: "game-1.sgf", Data: []byte(name)}}},
				} {
					line.Key, line.At, line.Room = fmt.Sprint(i), time.UnixMilli(0), cmp.Or(line.Room, "local")
					m, err := s.Append(ctx, line.Message)
					must(t, err)
					if !line.goes {
						want = append(want, m)
					}
				}
				answer := match.Reply{Texts: []bot.Text{text.Say("privacy.what", name), text.Say("e 1 E5")}}
				step := &match.Step{Request: "web:1", At: time.UnixMilli(0), People: []match.PersonID{other}, Answer: answer}
				must(t, s.Commit(ctx, step))
				f := bot.Forgetting{Person: p, Who: who}
				theirs, err := s.MessagesOf(ctx, p, who)
				if err != nil || len(theirs) != 6 {
					t.Errorf("their lines are %+v, %v", theirs, err)
				}
				must(t, s.Erase(ctx, f))
				left, err := s.After(ctx, 0, 100)
				must(t, err)
				if diff := gocmp.Diff(want, left); diff != "" {
					t.Errorf("(-want +left)\n%.3000s", diff)
				}
				if got, ok, err := s.Answered(ctx, "web:1"); err != nil || !ok || len(got.Texts) != 2 {
					t.Errorf("the answer to somebody else is %v, %v, %v", got, ok, err)
				}
			})
		})
	}
}

func shortName(name string) string { return fmt.Sprintf("%.20q", name) }

// What was said in a seat is of whoever sat there then, and what Onlooker said of
// nobody. The number of a message that is gone is not given to another.
func TestForgottenSeat(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		n := 0
		say := func(room string, by match.PersonID, text string) {
			t.Helper()
			n++
			m, err := s.Append(ctx, outbox.Message{Key: fmt.Sprint("k", n), Room: room, At: time.UnixMilli(0), By: by, Text: text})
			if err != nil || m.N != int64(n) {
				t.Fatalf("message %d has the number %d, %v", n, m.N, err)
			}
		}
		seat, onlooker := outbox.User{Platform: "web", ID: "seat:black", Name: "Black"}, outbox.User{Platform: "web", ID: "onlooker", Name: "Onlooker"}
		say("local", "seat:black", "said by another")
		say("local/seat:black", "", "told to another")
		if _, err := s.Hold(ctx, bot.Holder{Platform: "web", ID: seat.ID, Secret: "s", Since: 2}, bot.Holder{}); err != nil {
			t.Fatal(err)
		}
		say("local", "onlooker", "said by anybody")
		say("local", "bob", "Black, your turn")
		say("local/seat:black", "", "told to them")
		say("local", "seat:black", "said by them")
		_, err := s.Append(ctx, outbox.Message{Key: "former", Room: "local", From: "Black", Text: "said by them, too"})
		must(t, err)
		n++
		for _, who := range []outbox.User{onlooker, seat, {Platform: "chat", ID: "name:bob", Name: "Bob"}} {
			p, err := s.Person(ctx, who)
			must(t, err)
			must(t, s.Erase(ctx, bot.Forgetting{Person: p, Who: who}))
		}
		say("local", "bob", "and now?")
		var left []string
		lines, err := s.After(ctx, 0, 100)
		must(t, err)
		for _, m := range lines {
			if m.Room != "" {
				left = append(left, string(m.By)+m.From+": "+m.Text)
			}
		}
		if diff := gocmp.Diff([]string{"seat:black: said by another", ": told to another", "onlooker: said by anybody", "bob: Black, your turn", "bob: and now?"}, left); diff != "" {
			t.Error(diff)
		}
	})
}

// Who is to be forgotten is stored until it is done, with the messages that were theirs
// then: others may have taken the seat since.
func TestForgettingGoesOn(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		seat := outbox.User{Platform: "web", ID: "seat:black", Name: "Black"}
		say := func(text string) {
			t.Helper()
			_, err := s.Append(ctx, outbox.Message{Room: "local", By: "seat:black", Text: text})
			must(t, err)
		}
		say("said by another")
		_, err := s.Hold(ctx, bot.Holder{Platform: "web", ID: seat.ID, Secret: "s", Since: 1}, bot.Holder{})
		must(t, err)
		say("said by them")
		p, err := s.Person(ctx, seat)
		must(t, err)
		f := bot.Forgetting{Person: p, Who: seat}
		must(t, s.Forget(ctx, f))
		say("said by them, as that failed")
		must(t, s.Forget(ctx, f))
		must(t, s.Release(ctx, "web", seat.ID, nil)) // the process dies, the seat is taken
		say("said by the next")
		must(t, s.Forget(ctx, f)) // asked for again
		for range 2 {
			todo, err := s.Forgetting(ctx)
			must(t, err)
			if diff := gocmp.Diff([]bot.Forgetting{f}, todo); diff != "" {
				t.Fatal(diff)
			}
			people, err := s.People(ctx, []match.PersonID{p})
			if err != nil || people[p].Name != "" {
				t.Errorf("their name is still there: %v, %v", people, err)
			}
		}
		must(t, s.Erase(ctx, f))
		todo, err := s.Forgetting(ctx)
		if err != nil || len(todo) != 0 {
			t.Errorf("still to be done: %v, %v", todo, err)
		}
		var left []string
		lines, err := s.After(ctx, 0, 100)
		must(t, err)
		for _, m := range lines {
			left = append(left, m.Text)
		}
		if diff := gocmp.Diff([]string{"said by another", "said by the next"}, left); diff != "" {
			t.Error(diff)
		}
	})
}
