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
	const walls = ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
	const walled = "B place C5, W place D5, B place C4, W place D4, B place C3, W place D3, B place C2, W place D2, B place C1, W place D1"
	for record, want := range map[string]string{
		"(;SZ[9]RU[aga];B[ee];W[gc])":                                                   "B place E5, W place G7",
		"(;SZ[9]RU[aga];B[ee];W[gc];W[cc];B[gg])":                                       "B place E5, W place G7, B pass, W place C7, B place G3; move 3: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];W[gc];W[cc];W[gg])":                                       "B place E5, W place G7, B pass, W place C7, B pass, W place G3; move 3: White moves twice: a pass of Black is assumed; move 4: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];B[ee];W[gc];W[cc])":                                       "B place E5; move 2: Black moves twice: a pass of White is assumed; stopped: move 2 (Black E5): the point is not empty",
		"(;SZ[9]RU[aga];B[aa];W[ba];W[ca];W[da];W[ea];W[fa];W[ga];B[ab];B[bb])":         "B place A9, W place B9, B pass, W place C9, B pass, W place D9, B pass, W place E9, B pass, W place F9, B pass, W place G9, B place A8, W pass, B place B8; move 3: White moves twice: a pass of Black is assumed (and 4 more like it); move 9: Black moves twice: a pass of White is assumed",
		"(;SZ[9]RU[aga];B[ee];W[gc];W[ee];B[aa])":                                       "B place E5, W place G7; move 3: White moves twice: a pass of Black is assumed; stopped: move 3 (White E5): the point is not empty",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];B[];W[])":                              "B place C3, W place A5, B pass, W pass, B pass, W pass; move 5: a pass after play has ended is left out; move 6: a pass after play has ended is left out",
		"(;SZ[9]RU[tromp-taylor];B[ee];W[];W[cc])":                                      "B place E5, W pass; stopped: move 3 (White C7): it is the other player's turn",
		"(;SZ[5]RU[tromp-taylor];B[cc];W[];B[];W[])":                                    "B place C3, W pass, B pass, W pass; move 4: a pass after play has ended is left out",
		"(;SZ[5]RU[japanese];B[cc];W[];B[];W[])":                                        "B place C3, W pass, B pass, W pass; move 4: a pass after play has ended is left out",
		"(;SZ[5]RU[aga];B[cc];W[];B[];W[])":                                             "B place C3, W pass, B pass, W pass",
		"(;SZ[5]RU[aga];B[cc];W[];B[];W[];B[])":                                         "B place C3, W pass, B pass, W pass, B pass; move 5: a pass after play has ended is left out",
		"(;SZ[5]RU[aga];B[cc];W[aa];B[];W[];B[])":                                       "B place C3, W place A5, B pass, W pass, B pass; move 5: a pass after play has ended is left out",
		"(;SZ[5]RU[aga];B[];W[];B[];W[];B[cc];W[];B[];W[bb])":                           "B pass, W pass, B pass, W pass, B place C3, W pass, B pass, W place B4; move 3: play goes on after passes have stopped it: it is read as resumed; move 5: play goes on after passes have stopped it: it is read as resumed; move 8: play goes on after passes have stopped it: it is read as resumed",
		"(;SZ[5]RU[aga];B[];W[];B[cc]XT[resume])":                                       "B pass, W pass, resumed, B place C3",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];B[]XT[resign])":                        "B place C3, W place A5, B pass, W pass, B resign",
		"(;SZ[9]RU[aga];B[ee];W[ee];B[aa])":                                             "B place E5; stopped: move 2 (White E5): the point is not empty",
		"(;SZ[9]RU[aga];B[ee];W[gc];W[cc];B[cc])":                                       "B place E5, W place G7, B pass, W place C7; move 3: White moves twice: a pass of Black is assumed; stopped: move 4 (Black C7): the point is not empty",
		"(;SZ[9]RU[aga]HA[2];B[cc];B[gg];W[ee];W[aa])":                                  "W place E5, B pass, W place A9; move 4: White moves twice: a pass of Black is assumed",
		"(;SZ[9]RU[aga];B[ee];B[ee];W[gc];B[ee])":                                       "B place E5; move 2: Black moves twice: a pass of White is assumed; stopped: move 2 (Black E5): the point is not empty",
		"(;SZ[9]RU[aga];B[ee];B[ee];W[ee])":                                             "B place E5; move 2: Black moves twice: a pass of White is assumed; stopped: move 2 (Black E5): the point is not empty",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];AE[aa])":                               "B place C3, W place A5, B pass, W pass, dead A5; move 4: stones that are taken off the board after the last pass are read as dead",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];AE[aa][aa];AE[aa])":                    "B place C3, W place A5, B pass, W pass, dead A5; move 4: stones that are taken off the board after the last pass are read as dead",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[tt]AE[aa])":                              "B place C3, W place A5, B pass, W pass, dead A5; move 4: stones that are taken off the board after the last pass are read as dead",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[TT]AE[aa])":                                  "; move 2: stones are set up: the game is read on from that position, and what was captured or passed before does not count; stopped: move 3: [TT] is not on the board of 5×5",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];AE[aa];C[x])":                              "B place C3, W place A5, B pass, W pass, dead A5; move 3: stones that are taken off the board after the last pass are read as dead; move 3: the record ends with one pass: the other is assumed, because stones are taken off the board",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];AE[aa];GN[x])":                             "B place C3, W place A5, B pass, W pass, dead A5; move 3: stones that are taken off the board after the last pass are read as dead; move 3: the record ends with one pass: the other is assumed, because stones are taken off the board",
		"(;SZ[5]RU[japanese]AB[cc]AW[aa]PL[B];B[];AE[aa])":                              "B pass, W pass, dead A5; move 1: stones that are taken off the board after the last pass are read as dead; move 1: the record ends with one pass: the other is assumed, because stones are taken off the board",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];TB[ab]TW[ba];GN[x])":                   "B place C3, W place A5, B pass, W pass; move 4: the marks of territory settle the count: no stone is dead",
		"(;SZ[5]RU[japanese]" + walls + ";B[];W[];TB[aa:bc][ad])":                       walled + ", B pass, W pass",
		"(;SZ[5]RU[japanese]" + walls + ";B[];W[];TB[aa:bd])":                           walled + ", B pass, W pass; move 12: the marks of territory settle the count: no stone is dead",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];AE[aa];AW[ee])":                            "; move 3: stones are set up: the game is read on from that position, and what was captured or passed before does not count",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[]AE[aa];W[bb])":                              "B pass, W place B4; move 2: stones are set up: the game is read on from that position, and what was captured or passed before does not count",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[bb]AE[aa])":                                  "B place B4; move 2: stones are set up: the game is read on from that position, and what was captured or passed before does not count",
		"(;SZ[5]RU[japanese]AB[cc]AW[aa];B[]AE[aa])":                                    "B pass, W pass, dead A5; move 1: stones that are taken off the board after the last pass are read as dead; move 1: the record ends with one pass: the other is assumed, because stones are taken off the board",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[]AE[aa]AW[bb])":                          "W pass; move 3: stones are set up: the game is read on from that position, and what was captured or passed before does not count",
		"(;SZ[5]RU[tromp-taylor];B[cc];W[aa];B[];W[];AE[aa])":                           "B place C3, W place A5, B pass, W pass; move 4: stones that are taken off the board after the last pass are read as dead; move 4: what the record says of the end is dropped: tromp-taylor knows no agreement on dead stones",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[]TB[aa:ee])":                             "B place C3, W place A5, B pass, W pass, dead A5; move 4: the marks of territory settle the count: dead stones at A5",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];TB[ab:ee])":                            "B place C3, W place A5, B pass, W pass; move 4: the marks of territory settle the count: no stone is dead",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];TB[ab][ba])":                           "B place C3, W place A5, B pass, W pass, dead A5; move 4: the marks of territory settle the count: dead stones at A5",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];TB[ab]TW[ba])":                         "B place C3, W place A5, B pass, W pass; move 4: the marks of territory settle the count: no stone is dead",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];TW[bc][cb][cd][dc])":                   "B place C3, W place A5, B pass, W pass, dead C3; move 4: the marks of territory settle the count: dead stones at C3",
		"(;SZ[5]RU[japanese];B[cc]TB[aa:ee];W[aa];B[];W[])":                             "B place C3, W place A5, B pass, W pass",
		"(;SZ[5]RU[japanese];B[cc];W[aa]TB[aa:ee])":                                     "B place C3, W place A5",
		"(;SZ[5]RU[tromp-taylor];B[cc];W[aa];B[];W[]TB[aa:ee])":                         "B place C3, W place A5, B pass, W pass",
		"(;SZ[5]RU[japanese];B[cc];W[aa];B[];W[];XT[accept]TB[aa:ee])":                  "B place C3, W place A5, B pass, W pass",
		"(;SZ[5]RU[japanese]" + walls + ";TB[aa:be]TW[ea:ee])":                          walled + ", B pass, W pass; move 10: the record ends without passes: they are assumed, because territory is marked; move 10: the marks of territory settle the count: no stone is dead",
		"(;SZ[5]RU[japanese]" + walls + ";B[];W[ab];TB[aa:be]TW[ea:ee])":                walled + ", B pass, W place A4, B pass, W pass, dead A4; move 12: the record ends without passes: they are assumed, because territory is marked; move 12: the marks of territory settle the count: dead stones at A4",
		"(;SZ[5]RU[japanese]RE[W+R]" + walls + ";TB[aa:be]TW[ea:ee])":                   walled,
		"(;SZ[5]RU[tromp-taylor]" + walls + ";TB[aa:be]TW[ea:ee])":                      walled,
		"(;SZ[5]RU[japanese]" + walls + ";TB[aa]TW[ea])":                                walled,
		"(;SZ[5]RU[japanese]" + walls + ";B[];W[];TB[aa]TW[ea])":                        walled + ", B pass, W pass",
		"(;SZ[5]RU[japanese]" + walls + ";B[];W[];TB[aa:be]TW[ea:ee])":                  walled + ", B pass, W pass; move 12: the marks of territory settle the count: no stone is dead",
		"(;SZ[5]RU[japanese]" + walls + ";B[];W[ab];B[];W[];AE[aa][ab])":                walled + ", B pass, W place A4, B pass, W pass; move 14: stones that are taken off the board after the last pass are read as dead; move 14: what the record says of the end is dropped: move 15 (Black dead): there is no stone on A5",
		"(;SZ[5]RU[japanese]RE[W+R]" + walls + ";B[];W[ab];B[];W[];TB[aa:be]TW[ea:ee])": walled + ", B pass, W place A4, B pass, W pass",
		"(;SZ[5]RU[japanese]" + walls + ";B[];W[];AE[aa]TB[aa:be]TW[ea:ee])":            walled + ", B pass, W pass; move 12: stones that are taken off the board after the last pass are read as dead; move 12: what the record says of the end is dropped: move 13 (Black dead): there is no stone on A5",
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
		"two turns in each node": "(;SZ[9]" + strings.Repeat(";B[]W[]", 10000) + ")",
	} {
		if rec := read(t, record).Mended(&rules.AGA); len(rec.Repairs) > 2*maxRepairs {
			t.Errorf("%s: %d repairs", name, len(rec.Repairs))
		}
	}
}

// Repairs that are folded are not folded again, also not with those of other kinds.
func TestFolded(t *testing.T) {
	var repairs []Repair
	for _, text := range strings.Fields("a b c d e f") {
		for move := range maxAlike + 1 {
			repairs = append(repairs, Repair{move + 1, says(text)})
		}
	}
	once := folded(repairs)
	const want = "[move 1: a (and 4 more like it) move 1: b (and 4 more like it) move 1: c (and 4 more like it) move 1: d (and 4 more like it) move 1: e (and 4 more like it) move 1: f (and 4 more like it)]"
	if got := fmt.Sprint(once); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := fmt.Sprint(folded(once)); got != want {
		t.Errorf("again: %s\nwant %s", got, want)
	}
}

// Read stops where a record does what no ruleset knows, and keeps what stands before.
func TestStopped(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[9];B[ee];AB[jk];W[cc])":         "B place E5: move 2: the position before it lacks a stone: AB: [jk] is not on the board",
		"(;SZ[9];B[ee];W[yy];B[cc])":          "B place E5: move 2: [yy] is not on the board of 9×9",
		"(;SZ[9];B[ee];W[E5!];B[aa])":         "B place E5: move 2: [E5!] is not a point",
		"(;SZ[9];B[ee];AW[x];W[cc])":          "B place E5: move 2: the position before it lacks a stone: AW: [x] is not a point",
		"(;SZ[9];B[ee];W[];B[];AE[ee];W[aa])": "B place E5, W pass, B pass: move 4: a turn comes after the node that ends the game",
		"(;SZ[9];B[ee];XT[accept];W[aa])":     "B place E5: move 2: a turn comes after the node that ends the game",
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

// Stones that are set up after moves begin the game anew, and what follows keeps its number.
func TestEdited(t *testing.T) {
	const said = ": stones are set up: the game is read on from that position, and what was captured or passed before does not count"
	for record, want := range map[string]string{
		"(;SZ[9];B[ee];AB[aa];W[cc])":                   "E5 A9 / : White to play C7: move 1" + said,
		"(;SZ[9];B[ee];AB[aa])":                         "E5 A9 / : White to play: move 1" + said,
		"(;SZ[9];B[ee];AB[aa]PL[B])":                    "E5 A9 / : Black to play: move 1" + said,
		"(;SZ[9]PL[W];W[ee];AB[aa])":                    "A9 / E5: Black to play: move 1" + said,
		"(;SZ[9];B[ee];AE[ee];B[ff])":                   " / : Black to play F4: move 1" + said,
		"(;SZ[9];B[ee];AB[ee];W[cc])":                   " / : Black to play E5 C7", // it stands already
		"(;SZ[9];B[ba];W[aa];B[ab];AW[cc];W[gg])":       "A8 B9 / C7: White to play G3: move 3" + said,
		"(;SZ[9];B[ee];AB[aa];W[cc];AW[ii];B[bb]W[hh])": "E5 A9 / J1 C7: Black to play B8 H2: move 1" + said + "; move 2" + said + "; move 4: two turns stand in one node: they are read in their order",
		"(;SZ[9];B[ab];AW[bb][ac];W[cc])":               "A8 / A7 B8: White to play C7: move 1" + said,
		"(;SZ[9]HA[2];W[ee];AB[aa];B[bb])":              "A9 / E5: Black to play B8: move 1" + said + "; HA[2]: the record does not say where the handicap stones stand: it is read without them",
		"(;SZ[9]HA[2]AB[cc][gg];W[ee];AB[aa];B[bb])":    "G3 C7 A9 / E5: Black to play B8: move 1" + said,
	} {
		rec := read(t, record)
		g, err := rec.Play(&rules.AGA, 0)
		if err != nil || rec.Stopped != nil {
			t.Error(record, err, rec.Stopped)
			continue
		}
		s := g.Setup()
		first, err := rules.New(&rules.AGA, s)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s / %s: %v to play", rules.Names(s.Black), rules.Names(s.White), first.ToPlay())
		for _, turn := range rec.Turns {
			got += " " + turn.At.String()
		}
		for i, r := range rec.Repairs {
			got += []string{": ", "; "}[min(i, 1)] + r.String()
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", record, got, want)
		}
	}
}

// A move has the number that it has in the record, whatever had to be assumed or left out
// before it.
func TestUpTo(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[9]RU[aga];B[aa];W[bb];B[cc])":              "0 1 2 3 4",
		"(;SZ[9]RU[aga];B[aa];W[bb];W[cc];B[dd])":        "0 1 2 4 5 6",
		"(;SZ[9]RU[aga];B[aa];W[bb];W[cc];W[dd];W[bb])":  "0 1 2 4 6 8 9",
		"(;SZ[9]RU[aga];B[aa];W[bb];AB[gg];W[cc];B[dd])": "0 0 0 1 2 3",
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
