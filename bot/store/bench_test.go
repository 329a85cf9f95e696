package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// opening is the step that opens a match between Ada and Bob.
func opening(id match.GameID, channel string) *match.Step {
	return &match.Step{Request: "open:" + string(id), At: noon, New: true, Match: &match.Match{
		ID: id, Rules: "two-button@1", Setup: rules.Setup{W: 19, H: 19, Komi: 13}, Opener: "ada",
		Where: match.Room{Platform: "web", Channel: channel}, Opened: noon,
		Standing: match.Standing{State: match.Going, Black: "ada", White: "bob", ToMove: "ada", Changed: noon},
	}}
}

// turn is the step of the next event of m: an answer, an event, and the board to
// be shown.
func turn(m *match.Match) *match.Step {
	next := *m
	next.Seq++
	next.Changed = m.Changed.Add(time.Second)
	id := fmt.Sprintf("turn:%s:%d", m.ID, next.Seq)
	return &match.Step{
		Request: id, At: next.Changed, Match: &next,
		Answer: match.Reply{Texts: []bot.Text{text.Say("played", "D4")}, Game: m.ID},
		Events: []match.Event{{Seq: next.Seq, At: next.Changed, By: "ada", Body: match.ParseBody("turn B place D4"), Proof: "0123456789abcdef"}},
		Posts: []match.OutboxPost{{ID: id, Game: m.ID, Where: m.Where, Kind: match.Show, Seq: next.Seq,
			Texts: []bot.Text{text.Say("to move", text.Somebody("bob"))}, Notify: []match.PersonID{"bob"}}},
	}
}

// fill stores n matches of so many events each, ten to a channel.
func fill(b *testing.B, s *store.Store, n, events int) {
	b.Helper()
	for i := range n {
		step := opening(match.GameID(fmt.Sprint("g", i)), fmt.Sprint("room ", i/10))
		for {
			must(b, s.Commit(b.Context(), step))
			m := step.Match
			if m.Seq == events {
				break
			}
			step = turn(m)
			step.Posts = nil
		}
	}
}

func BenchmarkTake(b *testing.B) {
	for _, kind := range []string{"file", "memory"} {
		b.Run(kind, func(b *testing.B) {
			name := store.Memory
			if kind == "file" {
				name = newFile(b)
			}
			s := open(b, name)
			step := opening("g", "room")
			must(b, s.Commit(b.Context(), step))
			for b.Loop() {
				step = turn(step.Match)
				must(b, s.Commit(b.Context(), step))
			}
		})
	}
}

// BenchmarkThousand is what a start and a look at a room cost beside a thousand
// matches.
func BenchmarkThousand(b *testing.B) {
	name := newFile(b)
	s := open(b, name)
	fill(b, s, 1000, 1)
	room := match.Room{Platform: "web", Channel: "room 50"}
	b.Run("mine here", func(b *testing.B) {
		q := bot.Query{Where: room, Player: "bob", States: []match.State{match.Going}}
		for b.Loop() {
			if got, err := s.Matches(b.Context(), q); err != nil || len(got) != 10 {
				b.Fatal(len(got), err)
			}
		}
	})
	b.Run("nothing to deliver", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Waiting(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
	must(b, s.Close())
	b.Run("open and close", func(b *testing.B) {
		for b.Loop() {
			s, err := store.Open(b.Context(), name)
			must(b, err)
			must(b, s.Close())
		}
	})
}
