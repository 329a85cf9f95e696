package sgf

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A record with flaws is played as far as that can be, and each repair has the number of
// its move in the record.
func TestMended(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[9]RU[aga];B[ee];W[gc])":                                  "B place E5, W place G7",
		"(;SZ[9]RU[aga];B[ee];W[gc];W[cc];B[gg])":                      "B place E5, W place G7, B pass, W place C7, B place G3; move 3: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];W[gc];W[cc];W[gg])":                      "B place E5, W place G7, B pass, W place C7, B pass, W place G3; move 3: White moves twice: a pass of Black is assumed; move 4: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];B[ee];W[gc];W[cc])":                      "B place E5, W place G7, B pass, W place C7; move 2: the same stone is placed again, which is left out; move 4: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];W[ee];B[aa])":                            "B place E5; stopped: move 2 (White E5): the point is not empty",
		"(;SZ[9]RU[aga];B[ee];W[gc];W[cc];B[cc])":                      "B place E5, W place G7, B pass, W place C7; move 3: White moves twice: a pass of Black is assumed; stopped: move 4 (Black C7): the point is not empty",
		"(;SZ[9]RU[aga]HA[2];B[cc];B[gg];W[ee];W[aa])":                 "W place E5, B pass, W place A9; move 4: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];B[ee];W[gc];B[ee])":                      "B place E5, W place G7; move 2: the same stone is placed again, which is left out; stopped: move 4 (Black E5): the point is not empty",
		"(;SZ[9]RU[aga];B[ee];B[ee];W[ee])":                            "B place E5; move 2: the same stone is placed again, which is left out; stopped: move 3 (White E5): the point is not empty",
		"(;SZ[9]RU[aga];B[ee];B[ee];B[ee];W[gc];W[cc])":                "B place E5, W place G7, B pass, W place C7; move 2: the same stone is placed again, which is left out; move 3: the same stone is placed again, which is left out; move 5: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];B[ee];B[ee];W[gc];B[gc])":                "B place E5, W place G7; move 2: the same stone is placed again, which is left out; move 3: the same stone is placed again, which is left out; stopped: move 5 (Black G7): the point is not empty",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];AE[aa])":              "B place C3, W place A5, B pass, W pass, dead A5; move 4: stones that are taken off the board after the last pass are read as dead",
		"(;SZ[5]RU[tromp-taylor];B[cc];W[aa];B[];W[];AE[aa])":          "B place C3, W place A5, B pass, W pass; move 4: stones that are taken off the board after the last pass are read as dead; move 4: what the record says of the end is dropped: tromp-taylor knows no agreement on dead stones",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[]TB[aa:ee])":            "B place C3, W place A5, B pass, W pass, dead A5; move 4: the marks of territory settle the count: dead are A5",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];TB[ab:ee])":           "B place C3, W place A5, B pass, W pass; move 4: the marks of territory settle the count: no stone is dead",
		"(;SZ[5]RU[japanese];B[cc]TB[aa:ee];W[aa];B[];W[])":            "B place C3, W place A5, B pass, W pass",
		"(;SZ[5]RU[japanese];B[cc];W[aa]TB[aa:ee])":                    "B place C3, W place A5",
		"(;SZ[5]RU[tromp-taylor];B[cc];W[aa];B[];W[]TB[aa:ee])":        "B place C3, W place A5, B pass, W pass",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];XT[accept]TB[aa:ee])": "B place C3, W place A5, B pass, W pass",
	} {
		rec := read(t, record)
		r, _, err := rec.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		rec = rec.Mended(r)
		if _, err := rec.Play(r, 0); err != nil {
			illegal, ok := err.(*rules.Illegal)
			if !ok {
				t.Fatal(record, err)
			}
			rec = rec.Before(illegal)
		}
		if _, err := rec.Play(r, 0); err != nil {
			t.Errorf("%s: even so: %v", record, err)
		}
		got := turnsOf(rec)
		if len(rec.Ending.Dead) > 0 {
			got += ", dead " + rules.Names(rec.Ending.Dead)
		}
		for _, r := range rec.Repairs {
			got += "; " + r.String()
		}
		if rec.Stopped != nil {
			got += fmt.Sprintf("; stopped: %v", rec.Stopped)
		}
		if !strings.HasPrefix(got, want) || strings.Count(got, ";") != strings.Count(want, ";") {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
	}
}

// A record with more flaws than a game has turns is played no further.
func TestManyFlaws(t *testing.T) {
	for name, record := range map[string]string{
		"the same stone in nodes":    "(;SZ[9]" + strings.Repeat(";B[ee]", 20000) + ")",
		"the same stone in one node": "(;SZ[9];B" + strings.Repeat("[ee]", 20000) + ")",
		"two turns in each node":     "(;SZ[9]" + strings.Repeat(";B[]W[]", 10000) + ")",
	} {
		if rec := read(t, record).Mended(&rules.AGA); len(rec.Repairs) > 2*maxRepairs {
			t.Errorf("%s: %d repairs", name, len(rec.Repairs))
		}
	}
}

// Read stops where a record does what no ruleset knows, and keeps what stands before.
func TestStopped(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[9];B[ee];AB[aa];W[cc])":     "B place E5: stones are set up after move 1",
		"(;SZ[9];B[ee];W[E5!];B[aa])":     "B place E5: move 2: [E5!] is not a point",
		"(;SZ[9];B[ee];AE[ee])":           "B place E5: stones are set up after move 1",
		"(;SZ[9];B[ee];W[];B[];AB[ee])":   "B place E5, W pass, B pass: stones are set up after move 3",
		"(;SZ[9];B[ee];XT[accept];W[aa])": "B place E5: move 2: a turn comes after the node that ends the game",
	} {
		rec := read(t, record)
		if got := fmt.Sprintf("%s: %v", turnsOf(rec), rec.Stopped); got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
		if rec.Cut(1).Stopped != nil || rec.Cut(99).Stopped == nil {
			t.Error(record, "cut")
		}
	}
}

// A move has the number that it has in the record, whatever had to be assumed or left out
// before it.
func TestUpTo(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[9]RU[aga];B[aa];W[bb];B[cc])":              "0 1 2 3 4",
		"(;SZ[9]RU[aga];B[aa];W[bb];W[cc];B[dd])":        "0 1 2 4 5 6",
		"(;SZ[9]RU[aga];B[aa];W[bb];W[cc];W[dd];W[bb])":  "0 1 2 4 6 7 8",
		"(;SZ[9]RU[aga];B[aa];B[aa];W[bb])":              "0 1 1 2 3",
		"(;SZ[9]RU[aga];B[aa];W[bb];AB[gg];W[cc];B[dd])": "0 1 2 3 3",
		"(;SZ[9]RU[aga])":                                "0 1",
	} {
		rec := read(t, record)
		r, _, err := rec.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		rec = rec.Mended(r)
		var got []string
		for n := range len(strings.Fields(want)) {
			got = append(got, strconv.Itoa(rec.UpTo(n)))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
}
