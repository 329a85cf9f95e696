package match

import (
	"testing"
	"time"
)

// opens lets somebody open a game, and returns what is read above the board, by keys.
func opens(t *testing.T, in *Input) (m *Match, keys []string) {
	t.Helper()
	in.NewID, in.Limits = "g2", Limits{Person: 20, Channel: 200}
	s := Decide(in)
	for _, text := range s.Answer.Texts {
		keys = append(keys, text.Key)
	}
	for _, o := range s.Posts {
		for _, text := range o.Texts {
			keys = append(keys, text.Key)
		}
	}
	return s.Match, keys
}

// Where nobody can join, a new game has one player for both colours, who hears why.
func TestNewGameWhereNobodyCanJoin(t *testing.T) {
	for _, test := range []struct {
		args map[string]string
		says string // how often it is said that nobody can join
		ok   bool
	}{
		{nil, "alone", true},
		{map[string]string{"color": "white"}, "alone", true},
		{map[string]string{"opponent": "me"}, "", true},
		{map[string]string{"opponent": "@bob"}, "alone.opponent", false},
	} {
		in := &Input{Request: Request{ID: "r", Command: "new", Args: test.args}, By: "ada", Alone: true, Now: time.Unix(0, 0)}
		m, keys := opens(t, in)
		if ok := m != nil && m.State == Going && m.Black == "ada" && m.White == "ada"; ok != test.ok {
			t.Errorf("%v opens %+v", test.args, m)
		}
		said := ""
		for _, key := range keys {
			if key == "alone" || key == "alone.opponent" {
				said += key
			}
		}
		if said != test.says {
			t.Errorf("%v: it says %q", test.args, said)
		}
	}
}

// A rematch that is asked for twice, at the seats of a room or by one person alone, is
// one game. When that is over there may be another.
func TestRematchAskedForTwice(t *testing.T) {
	for _, seats := range [][2]PersonID{{"ada", "bob"}, {}} {
		k := sit(t, "aga@1", 5)
		if seats[0] == "" {
			k.match.White = "ada"
		}
		k.log("turn B place C3", "turn W place A1", "turn B resign", "comment 1 hm")
		ask := func(yours ...Match) (*Match, []string) {
			in := k.input("ada", "rematch")
			in.Seats, in.Yours, in.Now = seats, yours, k.now.Add(time.Minute)
			return opens(t, in)
		}
		first, _ := ask()
		if first == nil {
			t.Fatal("no rematch")
		}
		first.Number = 2
		if m, keys := ask(*first); m != nil || keys[0] != "rematch.already" {
			t.Errorf("with seats %v the second opens %v, and says %v", seats, m, keys)
		}
		first.State = Ended
		if m, _ := ask(*first); m == nil {
			t.Errorf("with seats %v there is no other rematch after the first", seats)
		}
		before := *first
		before.State, before.Opened = Going, k.now.Add(-time.Hour)
		if m, _ := ask(before); m == nil {
			t.Errorf("with seats %v a game from before is taken for the rematch", seats)
		}
	}
}
