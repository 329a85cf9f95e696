package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

func TestReplaceName(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"Al plays. Also Al's, @Al: (Al) Al", "Al", "- plays. Also -'s, @-: (-) -"},
		{"al Al2 2Al AlAl", "Al", "al Al2 2Al AlAl"},
		{"碁打ちさんの番です", "碁打ち", "-さんの番です"},
		{"\u2068דן\u2069 plays", "דן", "\u2068-\u2069 plays"},
		{"½ is ½", "½", "- is -"},
		{"", "Al", ""},
	} {
		if got := replaceName(c.text, c.name, "-"); got != c.want {
			t.Errorf("%q without %q is %q, want %q", c.text, c.name, got, c.want)
		}
	}
}

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
		must(t, s.Erase(ctx, p, who, "somebody"))
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
