package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Names that are words, points, patterns or parts of commands change nothing that others
// have said, no argument of a button and no answer; only whom a message addresses.
func TestForgettingReplacesNoWords(t *testing.T) {
	for _, name := range []string{"1", "e", "E5", "%", "_", "game", "somebody", "Al", "碁打ち", "\u2068דן\u2069", "\u3164", strings.Repeat("a", 10_000)} {
		t.Run(shortName(name), func(t *testing.T) {
			s := memory(t)
			ctx := t.Context()
			cleaned := bot.CleanName(name)
			who := outbox.User{Platform: "web", ID: "name:" + strings.ToLower(cleaned), Name: cleaned}
			p, err := s.Person(ctx, who)
			must(t, err)
			other, err := s.Person(ctx, outbox.User{Platform: "web", ID: "name:bob", Name: "Bob"})
			must(t, err)
			said := func(from, key string) outbox.Message {
				return outbox.Message{Key: key, Room: "local", At: time.UnixMilli(0), From: from, Text: "1 e E5 % _ game somebody Al 碁打ち \u2068דן\u2069 " + name,
					To: []string{cleaned, "Bob"}, File: &outbox.File{Name: name, Data: []byte(name)},
					Controls: []match.Control{{Label: name, Command: "place", Args: map[string]string{"game": "1", "at": "E5", name: name}}}}
			}
			var want []outbox.Message
			for _, m := range []outbox.Message{said("Bob", "1"), said("", "2"), said(cleaned, "3"), said("Bob", "4")} {
				m, err := s.Append(ctx, m)
				must(t, err)
				if m.From != cleaned || m.From == "" {
					m.To = []string{"nobody", "Bob"}
					want = append(want, m)
				}
			}
			answer := match.Reply{Texts: []bot.Text{text.Say("privacy.what", name), text.Say("e 1 E5")}}
			step := &match.Step{Request: "web:1", At: time.UnixMilli(0), People: []match.PersonID{other}, Answer: answer}
			must(t, s.Commit(ctx, step))
			must(t, s.Erase(ctx, bot.Forgetting{Person: p, Who: who, Instead: "nobody"}))
			var left []outbox.Message
			must(t, s.eachMessage(ctx, func(m outbox.Message) { left = append(left, m) }))
			if diff := cmp.Diff(want, left); diff != "" {
				t.Errorf("(-want +left)\n%.3000s", diff)
			}
			if got, ok, err := s.Answered(ctx, "web:1"); err != nil || !ok || len(got.Texts) != 2 {
				t.Errorf("the answer to somebody else is %v, %v, %v", got, ok, err)
			}
		})
	}
}

func shortName(name string) string { return fmt.Sprintf("%.20q", name) }

// What was said in a seat is of whoever sat there then, and what Onlooker said of
// nobody. The number of a message that is gone is not given to another.
func TestForgottenSeat(t *testing.T) {
	s := memory(t)
	ctx := t.Context()
	n := 0
	say := func(room, from, text string) {
		t.Helper()
		n++
		m, err := s.Append(ctx, outbox.Message{Key: fmt.Sprint("k", n), Room: room, At: time.UnixMilli(0), From: from, Text: text})
		if err != nil || m.N != int64(n) {
			t.Fatalf("message %d has the number %d, %v", n, m.N, err)
		}
	}
	seat, onlooker := outbox.User{Platform: "web", ID: "seat:black", Name: "Black"}, outbox.User{Platform: "web", ID: "onlooker", Name: "Onlooker"}
	say("local", "Black", "said by another")
	say("local/seat:black", "", "told to another")
	if _, err := s.Hold(ctx, bot.Holder{Platform: "web", ID: seat.ID, Secret: "s", Since: 2}, ""); err != nil {
		t.Fatal(err)
	}
	say("local", "Onlooker", "said by anybody")
	say("local", "Bob", "Black, your turn")
	say("local/seat:black", "", "told to them")
	say("local", "Black", "said by them")
	for _, who := range []outbox.User{onlooker, seat, {Platform: "chat", ID: "name:bob", Name: "Bob"}} {
		p, err := s.Person(ctx, who)
		must(t, err)
		must(t, s.Erase(ctx, bot.Forgetting{Person: p, Who: who, Instead: "somebody"}))
	}
	say("local", "Bob", "and now?")
	var left []string
	if err := s.eachMessage(ctx, func(m outbox.Message) {
		if m.Room != "" {
			left = append(left, m.From+": "+m.Text)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Black: said by another", ": told to another", "Onlooker: said by anybody", "Bob: Black, your turn", "Bob: and now?"}, left); diff != "" {
		t.Error(diff)
	}
}

// Who is to be forgotten is stored until it is done, with the messages that were theirs
// then: others may have taken the seat since.
func TestForgettingGoesOn(t *testing.T) {
	s := memory(t)
	ctx := t.Context()
	seat := outbox.User{Platform: "web", ID: "seat:black", Name: "Black"}
	say := func(text string) {
		t.Helper()
		_, err := s.Append(ctx, outbox.Message{Room: "local", From: "Black", Text: text})
		must(t, err)
	}
	say("said by another")
	_, err := s.Hold(ctx, bot.Holder{Platform: "web", ID: seat.ID, Secret: "s", Since: 1}, "")
	must(t, err)
	say("said by them")
	p, err := s.Person(ctx, seat)
	must(t, err)
	f := bot.Forgetting{Person: p, Who: seat, Instead: "somebody"}
	must(t, s.Forget(ctx, f))
	say("said by them, as that failed")
	must(t, s.Forget(ctx, f))
	must(t, s.Release(ctx, "web", seat.ID)) // the process dies, the seat is taken
	say("said by the next")
	must(t, s.Forget(ctx, f)) // asked for again
	for range 2 {
		todo, err := s.Forgetting(ctx)
		must(t, err)
		if diff := cmp.Diff([]bot.Forgetting{f}, todo); diff != "" {
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
	must(t, s.eachMessage(ctx, func(m outbox.Message) { left = append(left, m.Text) }))
	if diff := cmp.Diff([]string{"said by another", "said by the next"}, left); diff != "" {
		t.Error(diff)
	}
}
