package rules

import "testing"

// Turns and things are said as people say them.
func TestWords(t *testing.T) {
	ps := []Point{{2, 2}, {0, 4}}
	for want, turn := range map[string]Turn{
		"White C3":                        {By: White, At: ps[0]},
		"Black passes":                    {Kind: Pass, By: Black},
		"Black passes, naming C3 dead":    {Kind: Pass, By: Black, Dead: ps[:1]},
		"White passes, naming C3 A5 dead": {Kind: Pass, By: White, Dead: ps},
		"White accepts":                   {Kind: AcceptSuggestion, By: White},
		"Black marks C3 A5 dead":          {Kind: MarkDead, By: Black, Dead: ps},
		"Black marks C3 as alive":         {Kind: Unmark, By: Black, Dead: ps[:1]},
		"Black resumes play":              {Kind: Resume, By: Black},
	} {
		if got := turn.Words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for n, want := range map[int]string{-2: "−2 pass stones", -1: "−1 pass stone", 0: "0 pass stones", 1: "1 pass stone", 2: "2 pass stones"} {
		if got := PassStone.Words(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := number(n) + " " + PassStone.Noun(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The log keeps of a turn what its kind uses, and nothing that the caller may change.
func TestTidyTurns(t *testing.T) {
	g, err := New(&TwoButton, Setup{W: 3, H: 3})
	if err != nil {
		t.Fatal(err)
	}
	at := []Point{{1, 1}}
	for _, turn := range []Turn{{Kind: Place, By: Black, At: at[0], Dead: at}, {Kind: Pass, By: White, At: at[0]}, {Kind: Pass, By: Black, At: at[0]},
		{Kind: MarkDead, By: Black, At: at[0], Dead: at}} {
		if g, err = g.Play(turn); err != nil {
			t.Fatal(err)
		}
	}
	at[0] = Point{2, 2}
	log := g.Log()
	if log[0].Dead != nil || log[1].At != (Point{}) || log[2].At != (Point{}) || log[3].At != (Point{}) || log[3].Dead[0] != (Point{1, 1}) {
		t.Errorf("%+v", log)
	}
}
