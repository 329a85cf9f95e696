package sgf

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A record that names no rules is read by those under which it comes to its result, and
// says so; of several by the most usual. One that tells no count is left as it is.
func TestFitted(t *testing.T) {
	// Black's wall and White's: 10 points to 5, and a stone of Black within, 9 to 5.
	const walls = ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
	const even, odd = walls + ";B[];W[]", walls + ";B[ab];W[];B[]"
	const doomed = walls + ";B[];W[ab];B[];W[]" // a white stone within Black's territory
	for record, want := range map[string]string{
		"RE[B+5]" + even:                     "japanese: RU is missing: RE[B+5] fits japanese and aga, the record is read as japanese",
		"RE[B+4]" + odd:                      "japanese: RU is missing: RE[B+4] fits japanese",
		"RE[B+5]" + odd:                      "aga: RU is missing: RE[B+5] fits aga",
		"RE[B+3]" + odd:                      "aga: RU is missing: RE[B+3] fits neither japanese nor aga, the record is read as aga",
		"RE[W+5]" + odd:                      "aga: RU is missing: RE[W+5] fits neither japanese nor aga, the record is read as aga",
		"KM[0.5]RE[B+4.5]" + odd:             "aga: RU is missing: RE[B+4.5] fits aga",
		"KM[4]RE[Draw]" + odd:                "japanese: RU is missing: RE[Draw] fits japanese",
		"KM[4]RE[0]" + odd:                   "japanese: RU is missing: RE[0] fits japanese",
		"KM[6.5]RE[ white + 2,5 ]" + odd:     "japanese: RU is missing: RE[white + 2,5] fits japanese",
		"RE[B+4]" + walls + ";B[ab]":         "japanese: RU is missing: RE[B+4] fits japanese", // without its passes
		"HA[2]AB[ca][cb]RE[B+5]" + handicap:  "japanese: RU is missing: RE[B+5] fits japanese",
		"HA[2]AB[ca][cb]RE[B+4]" + handicap:  "aga: RU is missing: RE[B+4] fits aga",
		"RE[B+5]" + doomed + "TB[aa:be]":     "aga: RU is missing: RE[B+5] fits aga",
		"RE[B+6]" + doomed + "TB[aa:be]":     "japanese: RU is missing: RE[B+6] fits japanese",
		"RE[B+5]" + doomed + ";AE[ab]":       "aga: RU is missing: RE[B+5] fits aga",
		"RE[B+6]" + doomed:                   "japanese: RU is missing: RE[B+6] fits japanese",
		"RE[B+0]" + doomed + ";TB[cc]TW[ee]": "aga: RU is missing: RE[B+0] fits neither japanese nor aga, the record is read as aga",
		"RE[B+R]" + even:                     "aga: ",
		"RE[]" + even:                        "aga: ",
		"RE[?]" + even:                       "aga: ",
		"RE[Void]" + even:                    "aga: ",
		"RE[B+]" + even:                      "aga: ",
		"RE[B+3.3]" + even:                   "aga: ",
		"RE[B+2.25]" + odd:                   "aga: RU is missing: RE[B+2.25] fits neither japanese nor aga, the record is read as aga",
		"RE[5]" + even:                       "aga: ",
		even:                                 "aga: ",
		"RU[japanese]RE[B+5]" + odd:          "japanese: ",
		"RU[Japaneese]RE[B+5]" + odd:         "japanese: ",
		"RU[Calvinball]RE[B+4]" + odd:        "japanese: RU[Calvinball] is unknown: RE[B+4] fits japanese",
		"RU[Territory II]RE[B+5]" + odd:      "aga: RU[Territory II] is unknown: RE[B+5] fits aga",
		"RU[Calvinball]" + even:              "aga: ",
		"RU[Chinese]RE[B+4]" + odd:           "area-agreement: ",
		"RE[B+5]" + walls + ";B[ca];W[];B[]": "aga: ", // illegal: there is no count
		"RE[B+5]" + walls + ";W[a!];B[]":     "aga: ", // nor where the reading stops
	} {
		rec := read(t, "(;SZ[5]"+record+")")
		before := len(rec.Repairs)
		fitted := rec.Fitted()
		r, _, err := fitted.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		got := r.Name + ": "
		for _, r := range fitted.Repairs[before:] {
			got += r.String()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
		if len(rec.Repairs) != before || !strings.Contains(record, "RU[") && rec.RU != "" {
			t.Errorf("%s: the record itself was changed", record)
		}
	}
}

// Of a record that names no rules and that aga forbids to go on, japanese rules are assumed
// if they allow it.
func TestFittedByItsKos(t *testing.T) {
	data, err := os.ReadFile("testdata/hand/triple-ko-japanese.sgf")
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range []string{"", "RE[Void]", "RE[B+3]"} {
		text := strings.NewReplacer("AP[Halfpoint]", "", "RU[japanese@1]", "", "RE[Void]", result).Replace(string(data))
		text = text[:strings.Index(text, ";XT")] + ")"
		rec := read(t, text).Fitted()
		if got := fmt.Sprint(rec.Repairs); rec.RU != "japanese" || got != "[RU is missing: aga forbids move 6, japanese does not: the record is read as japanese]" {
			t.Errorf("%s: %s, %s", result, rec.RU, got)
		}
		rec = rec.Mended(&rules.Japanese).Settled(&rules.Japanese)
		if g, err := rec.Play(&rules.Japanese, 0); err != nil || len(rec.Turns) < 12 {
			t.Error(result, g, err)
		}
	}
}

// Black with two stones of handicap, whose walls are those of TestFitted.
const handicap = ";W[da];B[cc];W[db];B[cd];W[dc];B[ce];W[dd];B[];W[de];B[];W[]"

// Real games come to the rules under which others, who knew the dead stones, came to
// their result too, in 95 of 100 at least.
func TestRealGamesFitted(t *testing.T) {
	dir, results := realGames(t)
	results = results[:min(tier.Pick(25, len(results), len(results)), len(results))]
	var found, wrong share
	for _, x := range results {
		rec := realGame(t, dir, x.File)
		rec.RU = ""
		var dead []rules.Point
		for _, v := range x.Dead {
			p, err := point(v, rec.Setup.H)
			if err != nil {
				t.Fatal(err)
			}
			dead = append(dead, p)
		}
		margin, _, counted := rec.told()
		if !counted {
			continue
		}
		var fits []string
		for _, r := range usual {
			if g, err := rec.Under(r, rec.Setup.Komi, dead, nil); err == nil && g.Score().Margin() == margin {
				fits = append(fits, r.Name)
			}
		}
		fitted := rec.Fitted()
		says := ""
		for _, r := range fitted.Repairs {
			says += r.String()
		}
		named := strings.Contains(says, "RU is missing") && !strings.Contains(says, "neither")
		if len(fits) > 0 {
			if found.count(named, 1); !named {
				t.Logf("%s: not found, fits %v: %s", x.File, fits, says)
			}
		}
		if named {
			if wrong.count(!slices.Contains(fits, fitted.RU), 1); !slices.Contains(fits, fitted.RU) {
				t.Logf("%s: fits %v: %s", x.File, fits, says)
			}
		}
	}
	if 100*found.n < 95*found.of || 50*wrong.n > wrong.of {
		t.Errorf("the rules of %d of %d games are found, %d wrongly", found.n, found.of, wrong.n)
	}
	t.Logf("found: %d of %d; wrong: %d of %d", found.n, found.of, wrong.n, wrong.of)
}

// What another program left out of the end of a record is filled in, and said.
func TestSettled(t *testing.T) {
	const walls = ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
	const passes = ";B[];W[]"
	for record, want := range map[string]string{
		"RU[japanese]" + walls + passes:                        "B+5; move 12: the dead stones are not marked: none looks dead",
		"RU[japanese]RE[?]" + walls + ";B[];W[ab];B[];W[]":     "B+6; move 14: the dead stones are not marked: A4 looks dead",
		"RU[japanese]RE[B+6]" + walls + ";B[];W[ab];B[];W[]":   "B+6; move 14: the dead stones are not marked: A4 looks dead",
		"RU[japanese]RE[W+5]" + walls + ";B[];W[ab];B[];W[]":   "W+5; move 14: the dead stones are not marked: by RE[W+5] none is dead",
		"RU[japanese]RE[W+6]" + walls + ";B[];W[ab];B[];W[]":   "B+6; move 14: the dead stones are not marked: A4 looks dead",
		"RU[japanese]RE[B+5]" + walls:                          "B+5; move 10: the record ends without passes: they are assumed, because RE[B+5] is a count; move 10: the dead stones are not marked: none looks dead",
		"RU[tromp-taylor]RE[B+5]" + walls:                      "B+5; move 10: the record ends without passes: they are assumed, because RE[B+5] is a count",
		"RU[tromp-taylor]RE[B+6]" + walls + ";B[];W[ab]":       "W+6; move 12: the record ends without passes: they are assumed, because RE[B+6] is a count",
		"RU[japanese]RE[B+5]" + walls + ";B[ca]":               "illegal",
		"RU[two-button]RE[B+5]" + walls:                        "B+5; move 10: the record ends without passes: they are assumed, because RE[B+5] is a count; move 10: the dead stones are not marked: none looks dead",
		"RU[half-pass-agreement]RE[B+5]" + walls:               "B+5; move 10: the record ends without passes: they are assumed, because RE[B+5] is a count",
		"RU[japanese]RE[B+R]" + walls + passes:                 "not settled",
		"RU[japanese]RE[Void]" + walls + passes:                "not settled",
		"RU[japanese]RE[B]" + walls + passes:                   "B+5; move 12: the dead stones are not marked: none looks dead",
		"RU[japanese]RE[W+]" + walls + passes:                  "B+5; move 12: the dead stones are not marked: none looks dead",
		"RU[japanese]RE[B+?]" + walls + passes:                 "B+5; move 12: the dead stones are not marked: none looks dead",
		"RU[japanese]RE[B+]" + walls:                           "not settled",
		"RU[japanese]RE[W+T]" + walls + passes:                 "not settled",
		"RU[japanese]RE[W+Forfeit]" + walls + passes:           "not settled",
		"RU[japanese]RE[Black resigns]" + walls + passes:       "not settled",
		"RU[japanese]RE[黒中押し勝ち]" + walls + passes:              "not settled",
		"RU[japanese]RE[黑超时负]" + walls + passes:                "not settled",
		"RU[japanese]" + walls:                                 "not settled",
		"RU[japanese]AP[Halfpoint:1]" + walls + passes:         "not settled",
		"RU[ultimate]RE[B+5]" + walls:                          "not settled",
		"RU[tromp-taylor]RE[B+4]" + walls + passes:             "B+5",
		"RU[japanese]RE[B+5]" + walls + passes + ";XT[resume]": "not settled",
		"RU[japanese]RE[B+5]" + walls + passes + ";AE[ca]":     "W+25; move 12: stones that are taken off the board after the last pass are read as dead",
		"RU[japanese]RE[B+5]" + walls + ";W[];W[a!]":           "not settled; move 11: White moves twice: a pass of Black is assumed",
	} {
		rec := read(t, "(;SZ[5]"+record+")")
		r, _, err := rec.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		rec = rec.Mended(r).Settled(r)
		g, err := rec.Play(r, 0)
		got := g.Result()
		if err != nil {
			got = "illegal"
		} else if g.Phase() != rules.Over {
			got = "not settled"
		}
		for _, r := range rec.Repairs {
			got += "; " + r.String()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
	}
}

// A result is compared with the count, and the likeliest reason for a difference is named.
func TestAgainst(t *testing.T) {
	const walls = ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
	const odd, doomed = walls + ";B[ab];W[];B[]", walls + ";B[];W[ab];B[];W[]"
	for record, want := range map[string]string{
		"RU[japanese]RE[B+4]" + odd:                                       "B+4, as counted",
		"RU[japanese]RE[ Black + 4 ]" + odd:                               "Black + 4, as counted",
		"RU[japanese]RE[B+5]" + odd:                                       "B+5, 1 more for Black: under aga it comes out",
		"RU[aga]RE[B+4]" + odd:                                            "B+4, 1 more for White: under japanese it comes out",
		"RU[japanese]RE[W+4]" + odd:                                       "W+4, 8 more for White: it names the other player as the winner",
		"RU[japanese]RE[W+2.5]" + odd:                                     "W+2.5, 6½ more for White: with a komi of 6½, which the record seems to leave out, it comes out",
		"RU[japanese]RE[W+1.5]" + odd:                                     "W+1.5, 5½ more for White: with a komi of 5½, which the record seems to leave out, it comes out",
		"RU[japanese]RE[W+3.5]" + odd:                                     "W+3.5, 7½ more for White: with a komi of 7½, which the record seems to leave out, it comes out",
		"RU[japanese]RE[W+4.5]" + odd:                                     "W+4.5, 8½ more for White: no count with a komi of 0 comes to that",
		"RU[japanese]KM[2]RE[W+2.5]" + odd:                                "W+2.5, 4½ more for White: with a komi of 6½ it comes out",
		"RU[japanese]RE[B+3.5]" + odd:                                     "B+3.5, ½ more for White: no count with a komi of 0 comes to that",
		"RU[japanese]HA[2]AB[ca][cb]RE[B+4.5]" + handicap:                 "B+4.5, ½ more for White: with a komi of ½, which the record seems to leave out, it comes out",
		"RU[japanese]KM[4.5]RE[B+8.5]" + odd:                              "B+8.5, 9 more for Black: with a komi of −4½ it comes out",
		"RU[japanese]KM[6.5]RE[B+4]" + odd:                                "B+4, 6½ more for Black: with a komi of 0 it comes out",
		"RU[japanese]HA[2]AB[ca][cb]RE[B+3]" + handicap:                   "B+3, 2 more for White: it counts other points for the handicap",
		"RU[japanese]RE[B+3]" + odd:                                       "B+3, 1 more for White: a turn within territory that the record leaves out would explain it",
		"RU[japanese]RE[B+14]" + odd:                                      "B+14, 10 more for Black: other stones were dead, or turns are missing",
		"RU[japanese]RE[B+6]" + doomed + "TB[aa]":                         "B+6, as counted", // a stray mark
		"RU[japanese]RE[B+6]" + doomed + "TW[ea:ee]":                      "B+6, 11 more for Black: it comes out if A4 is dead",
		"RU[japanese]RE[W+5]" + doomed + ";TB[aa:be]":                     "W+5, 11 more for White: it comes out if none is dead",
		"RU[japanese]RE[黑胜2子]" + odd:                                      "黑胜2子, in stones of two points each, as counted",
		"RU[japanese]RE[B+R]" + odd:                                       "B+R",
		"RU[japanese]RE[B+4]" + walls + ";B[ab];W[];B[ab]":                "B+4", // it is not counted
		"RU[aga]RE[B+2.5]" + odd:                                          "B+2.5, 2½ more for White: it comes out if it is meant in stones, of two points each",
		"RU[aga]KM[7.5]RE[W+1.25]" + odd:                                  "W+1.25, in stones of two points each, as counted",
		"RU[aga]KM[0.5]RE[黑15子胜]" + odd:                                   "黑15子胜, in stones of two points each, as counted",
		"RU[aga]KM[6.5]RE[白10子胜]" + odd:                                   "白10子胜, in stones of two points each, as counted",
		"RU[aga]RE[黑胜2子]" + odd:                                           "黑胜2子, in stones of two points each, 1 more for White: under japanese it comes out",
		"RU[japanese]RE[?]" + odd:                                         "",
		"RU[japanese]RE[B+4]" + odd + "TB[ba:be][aa][ac:ae]TW[ea:ee]":     "B+4, as counted",
		"RU[japanese]RE[B+3]" + odd + "TB[ba][bc:be][aa][ac:ae]TW[ea:ee]": "B+3, as counted",
		"RU[japanese]RE[B+5]" + odd + "TB[ba:be][aa][ac:ae]TW[eb:ee]":     "B+5, as counted",
		"RU[aga]RE[B+6]" + odd:                                            "B+6, 1 more for Black: a last dame, or a pass that the record leaves out would explain it",
		"RU[japanese]KM[7.5]RE[W+2.5]" + odd:                              "W+2.5, 1 more for Black: a turn within territory that the record leaves out would explain it, and so would a komi of 6½",
		"RU[button]RE[B+5.5]" + odd:                                       "B+5.5, ½ more for Black: other stones were dead, or turns are missing",
		"RU[japanese]KM[1]RE[B+5]" + odd:                                  "B+5, 2 more for Black: other stones were dead, or turns are missing",
		"RU[japanese]KM[5.5]RE[0]" + odd:                                  "0, 1½ more for Black: no count with a komi of 5½ comes to that",
		"RU[japanese]RE[13手完, 黒4目勝ち]" + odd:                               "13手完, 黒4目勝ち, as counted",
		"RU[japanese]RE[14手完, 黒4目勝ち]" + odd:                               "14手完, 黒4目勝ち, as counted",
		"RU[japanese]RE[14手完, 黒9目勝ち]" + odd:                               "14手完, 黒9目勝ち, 5 more for Black: it stops at move 13 of 14",
		"RU[japanese]RE[257手完, 黒中押し勝ち]" + odd:                             "257手完, 黒中押し勝ち, but it stops at move 13 of 257",
		"RU[japanese]RE[13手完, 黒中押し勝ち]" + odd:                              "13手完, 黒中押し勝ち",
		"RU[japanese]RE[B]" + walls + ";B[resign]":                        "B, but Black resigns",
		"RU[japanese]RE[W+R]" + walls + ";B[resign]":                      "W+R",
		"RU[japanese]RE[B+3.25]" + odd:                                    "B+3.25, in stones of two points each, 2½ more for Black: no count with a komi of 0 comes to that",
		"RU[japanese]RE[B+0.02]" + odd:                                    "B+0.02, but no count comes to that",
		"RU[japanese]RE[unfinished]" + odd:                                "unfinished",
		"RU[japanese]RE[Black to play]" + odd:                             "Black to play",
		"RU[japanese]RE[B+5 and 2/3]" + odd:                               "B+5 and 2/3, but Halfpoint does not understand by how much",
		"RU[japanese]RE[B+R (2.5 behind)]" + odd:                          "B+R (2.5 behind)",
		"RU[japanese]RE[xyzzy]" + odd:                                     "xyzzy, but Halfpoint does not understand that",
		"RU[japanese]RE[暂无结果]" + odd:                                      "暂无结果",
		"RU[japanese]" + odd:                                              "",
	} {
		rec := read(t, "(;SZ[5]"+record+")")
		r, _, err := rec.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		rec = rec.Mended(r).Settled(r)
		g, err := rec.Play(r, rec.Setup.Komi)
		if err != nil && g == nil {
			t.Fatal(record, err)
		}
		if got := rec.Against(g).Words(); got != want {
			t.Errorf("%s: %s\nwant %s", record, got, want)
		}
	}
}

// A result is compared also where the record names rules that nobody has.
func TestAgainstOtherRules(t *testing.T) {
	rec := read(t, "(;SZ[5]RU[two-button@99]RE[B+4];B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de];B[ab];W[];B[])")
	g, err := rec.Under(&rules.AGA, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "B+4, 1 more for White: under japanese it comes out"
	if got := rec.Against(g).Words(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A record that stops while much of the board is open is not counted, whatever RE tells and
// whatever looks dead.
func TestTooEarly(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 61))
	scattered := ""
	b, _ := rules.NewBoard(19, 19)
	for i, n := range rnd.Perm(361)[:100] {
		p := b.Points()[n]
		scattered += fmt.Sprintf(";%s[%s]", []string{"B", "W"}[i%2], name(p, 19))
	}
	const walls = ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]"
	for record, want := range map[string]string{
		"(;SZ[19]KM[7.5]RU[Chinese]RE[B+0.5];B[pd];W[dd];B[pp];W[dp])": "B+0.5, but it stops at move 4, where too much of the board is open",
		"(;SZ[19]KM[7.5]RU[Chinese]RE[W+7.5];B[pd];W[dd])":             "W+7.5, but it stops at move 2, where too much of the board is open",
		"(;SZ[19]KM[7.5]RU[Chinese]RE[B+352.5];B[pd])":                 "B+352.5, but it stops at move 1, where too much of the board is open",
		"(;SZ[19]KM[7.5]RE[W+7.5];B[pd];W[dd])":                        "W+7.5, but it stops at move 2, where too much of the board is open",
		"(;SZ[19]KM[7.5]RU[Chinese]RE[B+0.5]" + scattered + ")":        "B+0.5, but it stops at move 100, where too much of the board is open",
		"(;SZ[19]KM[7.5]RU[Chinese]RE[B+R];B[pd])":                     "B+R",
		"(;SZ[5]RU[japanese]RE[B+5]" + walls + ")":                     "B+5, as counted",
		"(;SZ[9]KM[0]RU[aga]RE[B+4];B[ee];W[];B[])":                    "B+4, but it stops at move 3, where too much of the board is open", // they passed
		"(;SZ[19]KM[7.5]RU[aga]RE[白胜1/4子];B[pd];W[dd];B[];W[])":        "白胜1/4子, but it stops at move 4, where too much of the board is open",
		"(;SZ[19]KM[7.5]RU[aga]RE[W+7.5];B[pd];W[dd];B[];W[])":         "W+7.5, as counted",
		"(;SZ[19]KM[7.5]RU[aga];B[pd];W[dd];B[];W[])":                  "",
	} {
		rec := read(t, record).Fitted()
		r, _, err := rec.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		rec = rec.Mended(r).Settled(r)
		g, err := rec.Play(r, rec.Setup.Komi)
		if err != nil {
			t.Fatal(record, err)
		}
		if got := rec.Against(g).Words(); got != want {
			t.Errorf("%.70s: %s\nwant %s", record, got, want)
		}
		if early := strings.Contains(want, "early"); early && (g.Phase() != rules.Playing || len(rec.Repairs) > 0) {
			t.Errorf("%.70s: %v, %v", record, g.Phase(), rec.Repairs)
		}
	}
}

// The ways in which programs write who won.
func TestTold(t *testing.T) {
	for re, want := range map[string]string{
		"Lee wins": "White", "Lee Changho wins": "Black", "Lee Changho 3.5": "Black 3½",
		"B+2.5": "Black 2½", "B+2,5": "Black 2½", "b+2.50": "Black 2½", "B + 3": "Black 3", "W+½": "White −½", "W+.5": "White −½",
		"Black+3": "Black 3", "White wins by 3.5": "White −3½", "W+3 points": "White −3", "B+1 moku": "Black 1", "B+0.5 pts.": "Black ½",
		"黑胜1又3/4子": "Black 3½", "黑胜3/4子": "Black 1½", "黒2目半勝ち": "Black 2½", "白3目勝": "White −3", "白1.5目勝ち!": "White −1½", "W+3.25": "White −6½", "B+2子": "Black 4",
		"黒２目半勝ち": "Black 2½", "黒番2目半勝ち": "Black 2½", "흑 2집반승": "Black 2½", "백 3집 승": "White −3", "백 불계승": "White", "흑 시간패": "White", "White wins 2.5": "White −2½", "Black win 2.5": "Black 2½",
		"W+2.50 (moku)": "White −2½", "B+2.5 (estimate)": "Black 2½", "B+R (2.5 behind)": "Black", "白胜一又四分之一子": "White −2½", "黑胜四分之三子": "Black 1½", "黒半目勝ち": "Black ½", "白十二目勝": "White −12",
		"和": "nobody 0", "和局": "nobody 0", "持棋": "nobody 0", "ジゴ": "nobody 0", "jigo.": "nobody 0", "Tie": "nobody 0", "tied": "nobody", "和田": "nobody",
		"0": "nobody 0", "Draw": "nobody 0", "jigo": "nobody 0", "和棋": "nobody 0", "B+0": "Black 0",
		"B+R": "Black", "W+Resign": "White", "B+T": "Black", "W+F": "White", "B+": "Black", "W+?": "White", "黑中盘胜": "Black", "白中押し勝ち": "White",
		"White resigned": "Black", "Black resigns": "White", "W+resigned": "White", "White wins by resignation": "White", "White wins, Black resigned": "White",
		"White resigns. Black wins": "Black", "Black forfeits": "White", "B+Forfeit": "Black", "White lost on time": "Black", "Black timed out": "White",
		"White loses by 2.5": "Black 2½", "黑负2.5目": "White −2½", "黑輸1子": "White −2", "黒2目半負け": "White −2½", "白時間切れ負け": "Black", "黑超时负": "White", "白认输": "Black", "白投了": "Black",
		// Games of Chinese servers, collections of Japan and Korea, and other languages.
		"黑超时/白胜": "White", "白逃跑/黑胜": "Black", "白超时": "Black", "白超时胜": "White", "白棋逃跑": "Black", "白断线": "Black", "白棄權": "Black", "黑逾時": "White", "黑弃权": "White", "白時間切れ": "Black",
		"흑 기권": "White", "흑 기권승": "Black", "257手完, 黒中押し勝ち": "Black", "257手完 黒半目勝ち": "Black ½", "119수 흑불계승": "Black", "294수 흑0.5집승": "Black ½", "共257手 黑中盘胜": "Black", "257手。白胜5目": "White −5",
		"先番中押し勝ち": "Black", "先番六目勝": "Black 6", "後番2目勝ち": "White −2", "柯洁执黑中盘胜": "Black", "執白中盤勝": "White", "白両目半勝": "White −2½",
		"黑胜半子": "Black 1", "흑반집승": "Black ½", "백 3집 반승": "White −3½", "白棋胜3/4子": "White −1½", "白の3目勝ち": "White −3", "白胜黑": "White", "黑185子胜": "Black 9", "白180子胜": "White",
		"無勝負": "nobody", "三劫无胜负": "nobody", "打ち掛け": "nobody", "무승부": "nobody 0", "平局": "nobody 0", "Ничья": "nobody 0", "Unentschieden": "nobody 0", "Partie nulle": "nobody 0", "Tablas": "nobody 0",
		"Noir +3,5": "Black 3½", "Noir gagne de 0.5": "Black ½", "Noir gagne par abandon": "Black", "Blanc abandonne": "Black", "Schwarz +2,5": "Black 2½", "Weiß gewinnt mit 0.5": "White −½", "Schwarz gibt auf": "White",
		"Blanco +4.5": "White −4½", "Negro gana por 2.5 puntos": "Black 2½", "Чёрные +3.5": "Black 3½", "Белые сдались": "Black", "Белые выиграли": "White",
		"Black by resignation": "Black", "Black by 2.5": "Black 2½", "Black wins by half a point": "Black ½", "White wins by ½ point": "White −½", "B (resign)": "nobody",
		"Lee Changho wins by resignation": "Black", "Lee +2.5": "White −2½", "Lee resigns": "Black", "Cho wins": "nobody",
		// The first verdict decides, and a player who leaves has lost.
		"White resigned by letter": "Black", "White Resigned (by timeout)": "Black", "Black forfeits by time": "White", "Black lose by 2.5": "White −2½", "Black resigns: White wins": "White", "White resigns (Black won)": "Black",
		"白投了。黒勝ち": "Black", "黑超时白胜": "White", "黑方超时判白胜": "White", "白の時間切れにより黒勝ち": "Black", "白反則により黒勝ち": "Black", "White (Abby) loses": "Black", "Black (Bobby) resigns": "White",
		"白敗": "Black", "黑败": "White", "白中押し敗": "Black", "白不戦敗": "Black", "黒棄権": "White", "黒反則": "White", "白方犯规": "Black", "White ran out of time": "Black", "Black disqualified": "White",
		"Black quit": "White", "Black left the game": "White", "White defaults": "Black", "White wins by default": "White", "Weiss gab auf": "Black", "Schwarz hat aufgegeben": "White", "Schwarz hat verloren": "White",
		"Noir a perdu de 3 points": "White", "Noir forfait": "White", "Blancas se rinden": "Black", "Blancas perdieron por tiempo": "Black", "Белые просрочили время": "Black",
		"B or W": "nobody", "Black: 35, White: 30": "nobody", "Black/White draw": "nobody", "B-2.5": "nobody", "Black did well": "nobody", "B (R)": "Black", "B. Kim wins": "nobody",
		"白胜（柯洁执黑）": "White", "白中盘胜 李世石执黑": "White", "柯洁执白胜李世石执黑": "White", "Lee Changho执黑胜2.5子": "Black 5", "Lee執白中盤勝": "White",
		"B+3 3/4": "Black 7½", "黑胜 3 3/4子": "Black 7½", "黑胜2子半": "Black 5", "黑胜十二目半": "Black 12½", "白胜二十目": "White −20", "白三十五目勝": "White −35", "Black wins by one point": "Black 1",
		// The other player may be named before it is said who won.
		"Black gives up, W+R": "White", "Black absent, White wins by forfeit": "White", "黑缺席,白胜": "White", "黑先白胜": "White", "黒欠席 白の不戦勝": "White", "흑 접속종료 백승": "White", "Schwarz nicht erschienen, Weiß gewinnt": "nobody",
		"B 40 W 45 W+5": "White", "黑180子,白181子,白胜": "White", "Lee Changho vs Lee, Lee wins": "White", "黑：柯洁 白：芈昱廷 白中盘胜": "White", "黑白双负": "nobody", "Black and White lose": "nobody", "White and Black draw": "nobody",
		"Black (unfinished)": "nobody", "Black (Kim)": "nobody", "White, by resignation": "White", "Victoire de Blanc par abandon": "White", "White/Resign": "nobody", "B: Resign": "nobody", "Lee beat Lee Changho by resignation": "White", "White was defeated by Black": "nobody", "Black leads by 5": "nobody",
		"Black to win": "nobody", "White left the game unfinished": "nobody", "黑白不分胜负": "nobody", "Result: B+R": "Black", "黑赢5目": "Black 5", "白投子": "Black", "黒5目勝ち。": "Black 5", "引き分け": "nobody 0", "Draw (jigo)": "nobody 0",
		"B+7 {Moves after 171 not known}": "Black 7", "B+R (moves beyond 142 not known)": "Black", "Winner: Black": "Black", "结果：白胜1/4子": "White −½", "B+5, komi 6.5": "Black 5", "黑胜3/4子,共257手": "Black 1½", "B+5, 154 moves": "Black 5", "B+5;": "Black 5", "Black (5 points)": "Black 5", "黑胜(3/4子)": "Black 1½", "黑胜185子": "Black 9", "黑胜10子": "Black 20", "257수 끝 흑 불계승": "Black", "257 moves: B+R": "Black", "White timeout": "Black",
		"12手完": "nobody", "Leeway": "nobody", "Black would have won": "nobody", "Mr B. Kim wins": "nobody",
		// Too many stones to win by are what the winner has: on this board, of 361 points.
		"黑144子": "Black 288", "黑145子": "Black", "黑胜180.5子": "Black 361", "黑胜180又3/4子": "Black ½", "白胜181子": "White −1", "White might win": "nobody", "Jigo (White wins jigo)": "nobody 0",
		"Void": "nobody", "?": "nobody", "": "nobody", "unknown": "nobody", "Blackburn": "nobody", "Whitehead": "nobody", "2.5": "nobody", "B+2.3": "Black", "B+1000": "Black", "B+625": "Black 625",
	} {
		rec := &Record{Setup: rules.Setup{W: 19, H: 19}, Info: Info{Black: "Lee Changho", White: "Lee", Result: re}}
		got := "nobody"
		if w := rec.Winner(); w != rules.None {
			got = w.String()
		}
		if m, _, told := rec.told(); told {
			got += " " + m.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", re, got, want)
		}
	}
}

// A result may name the winner by name, with a rank or without, or by the first word of it.
func TestWinnerByName(t *testing.T) {
	for _, x := range []struct {
		black, white string
		winners      map[string]rules.Color
	}{
		{"Lee", "Lee Changho", map[string]rules.Color{"Lee wins": rules.Black, "Lee Changho wins": rules.White}},
		{"白江治彦", "黒沢忠尚 九段", map[string]rules.Color{"白江 半目勝ち": rules.Black, "黒沢 中押し負け": rules.Black,
			"白江治彦1/4子胜": rules.Black, "黒沢忠尚九段の勝ち": rules.White, "白勝": rules.White}},
		// A name that both have, and a single letter, say nothing.
		{"Kim 5d", "Kim 3d", map[string]rules.Color{"Kim wins": rules.None, "Kim 5d wins": rules.Black, "Kim 3d wins": rules.White}},
		{"Lee", "Lee", map[string]rules.Color{"Lee wins": rules.None, "Lee +3": rules.None}},
		{"Lee Changho 9p", "Lee Sedol 9p", map[string]rules.Color{"Lee Changho wins": rules.Black, "Lee Sedol wins": rules.White, "Lee wins": rules.None}},
		{"Cho Chikun", "Kobayashi Koichi", map[string]rules.Color{"Cho wins": rules.Black, "Kobayashi resigns": rules.Black}},
		{"白江治", "柯洁九段", map[string]rules.Color{"柯洁胜": rules.White, "白江胜": rules.Black}},
		{"X", "Draw Smith", map[string]rules.Color{"X wins": rules.None, "Draw": rules.None, "Draw Smith wins": rules.White}},
		// Neither does a word that begins like a name.
		{"Wei", "No", map[string]rules.Color{"No result": rules.None, "Weiß gewinnt": rules.White, "Draw": rules.None, "Wei wins": rules.Black, "NoX wins": rules.None}},
		// A colour is not taken for a player of that name, but a longer name is one.
		{"White Tiger", "Black", map[string]rules.Color{"White+3": rules.White, "W+R": rules.White, "White Tiger wins": rules.Black, "Black wins": rules.Black, "白胜": rules.White}},
	} {
		for re, want := range x.winners {
			rec := &Record{Info: Info{Black: x.black, White: x.white, Result: re}}
			if got := rec.Winner(); got != want {
				t.Errorf("%s against %s, %q: %v, want %v", x.black, x.white, re, got, want)
			}
		}
	}
}

// Of chains that live or die with the next move, the result says which are dead.
func TestSettledByTheResult(t *testing.T) {
	record := func(result string) *Record {
		return read(t, "(;SZ[12:4]RU[japanese]KM[0]RE["+result+"]AB[ea][ha][eb][hb][ac][bc][cc][dc][ec][hc][ic][jc][kc][lc]"+
			"AW[da][ia][ab][bb][cb][db][ib][jb][kb][lb];B[];W[])")
	}
	start, err := record("").Play(&rules.Japanese, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := start.Board()
	if got := strings.Join(b.Rows(), " "); got != "...OX..XO... OOOOX..XOOOO XXXXX..XXXXX ............" {
		t.Fatal(got)
	}
	for result, want := range map[string]string{
		"B+12": "by RE[B+12] none is dead", "B+28": "by RE[B+28] J3 is dead", "B+44": "A3 J3 look dead",
	} {
		rec := record(result).Mended(&rules.Japanese).Settled(&rules.Japanese)
		g, err := rec.Play(&rules.Japanese, 0)
		if err != nil || g.Result() != result || !strings.HasSuffix(fmt.Sprint(rec.Repairs), want+"]") {
			t.Errorf("RE[%s] comes to %s, %v, %v", result, g.Result(), err, rec.Repairs)
		}
		// A count that was made to come to RE does not confirm it.
		said, by := rec.Against(g), map[bool]string{true: ByResult, false: ByPlayouts}[strings.HasPrefix(want, "by")]
		if rec.DeadBy() != by || said.Fits != (by == ByResult) || (said.Agrees != nil) == said.Fits {
			t.Errorf("RE[%s]: dead by %q, %+v", result, rec.DeadBy(), said)
		}
	}
	for result, why := range map[string]string{"B+5": "not fits", "": "no result"} { // of what nothing was chosen to meet
		rec := record(result).Mended(&rules.Japanese).Settled(&rules.Japanese)
		if rec.DeadBy() != ByPlayouts {
			t.Errorf("%s: dead by %q", why, rec.DeadBy())
		}
	}
}

// Settling a record leaves others that share its turns as they are.
func TestSettledSharesNothing(t *testing.T) {
	whole := read(t, "(;SZ[5]RU[aga]RE[B+5];B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de];B[ab];W[ea])")
	was := turnsOf(whole)
	if ended := whole.Cut(11).Settled(&rules.AGA); len(ended.Turns) != 13 {
		t.Fatal(turnsOf(ended))
	}
	if got := turnsOf(whole); got != was {
		t.Errorf("%s\nwas %s", got, was)
	}
}

// A board with a stone for every sixteen points is not too empty to be counted.
func TestOpen(t *testing.T) {
	quarter, err := rules.NewBoard(4, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range quarter.Points() {
		if p.Y != 1 {
			quarter.Put(p, map[bool]rules.Color{true: rules.Black, false: rules.White}[p.Y == 0])
		}
	}
	if open(quarter) {
		t.Error("a quarter of the board is nobody's, and no more")
	}
	for lines, want := range map[int]bool{4: false, 5: true} {
		b, err := rules.NewBoard(lines, lines)
		if err != nil {
			t.Fatal(err)
		}
		b.Put(rules.Point{X: 1, Y: 1}, rules.Black)
		if got := open(b); got != want {
			t.Errorf("a stone on %d×%[1]d: %v", lines, got)
		}
	}
}
