package sgf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A kataGame is a game that ends with passes, and what KataGo counts of it by its definitions.
type kataGame struct {
	name     string
	stones   string // the record after its header; marks of territory say what is dead
	handicap int    // stones, also where HA does not name them
	first    rules.Color
	area     int // Black's less White's, in points
	placed   int // stones that Black placed, less White's
}

var kataGames = []kataGame{
	{"walls", ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de];B[];W[];B[];W[]TB[aa:be]TW[ea:ee]", 0, rules.Black, 5, 0},
	{"White passes first", ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[];B[de];W[];B[];W[]TB[aa:be]", 0, rules.White, 12, 2},
	{"a pass amid the game", ";B[ca];W[da];B[cb];W[db];B[];W[dc];B[cc];W[];B[cd];W[dd];B[ce];W[de];B[];W[];B[]TB[aa:be]TW[ea:ee]", 0, rules.Black, 5, 0},
	{"two stones of handicap", "HA[2]AB[ca][cb];W[da];B[cc];W[db];B[cd];W[dc];B[ce];W[dd];B[];W[de];B[];W[];B[]TB[aa:be]TW[ea:ee]", 2, rules.Black, 5, -2},
	{"three stones that HA does not name", "AB[ca][cb][cc]PL[W];W[da];B[cd];W[db];B[ce];W[dc];B[];W[dd];B[];W[de];B[];W[];B[]TB[aa:be]TW[ea:ee]", 3, rules.Black, 5, -3},
	{"a position", "AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de];B[];W[];B[];W[]TB[aa:be]TW[ea:ee]", 0, rules.Black, 5, 0},
	{"an odd position", "AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd]PL[W];W[];B[];W[];B[]TB[aa:be]", 0, rules.White, 11, 0},
	{"no pass", ";B[ca];W[da];B[cb];W[db];B[cc];W[dc];B[cd];W[dd];B[ce];W[de]TB[aa:be]TW[ea:ee]", 0, rules.Black, 5, 0},
}

// A record with the rules of KataGo comes to the margin of KataGo, for every combination of its
// fields, or says what the ruleset as which it is read cannot count.
func TestKataGoRules(t *testing.T) {
	exact, said := 0, 0
	for _, k := range []string{"SIMPLE", "SPIGHT", "POSITIONAL", "SITUATIONAL"}[:tier.Pick(2, 4, 4)] {
		for _, s := range []string{"AREA", "TERRITORY"} {
			for _, x := range []string{"NONE", "SEKI", "ALL"} {
				for _, sui := range []string{"sui0", "sui1"} {
					for _, b := range []string{"", "button1"} {
						for _, w := range []string{"", "whb0", "whbN-1", "whbN"} {
							for _, fpok := range []string{"", "fpok1"} {
								ru := "ko" + k + "score" + s + "tax" + x + sui + b + w + fpok
								for _, game := range kataGames {
									if areaRules == &rules.AGA && strings.Contains(game.stones, "AB") && !strings.Contains(game.stones, "HA") {
										continue // its pass stones come to the area only without set-up stones
									}
									if differs := kataMargin(t, ru, game); differs {
										said++
									} else {
										exact++
									}
								}
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d margins are exact, of %d the group tax or seki is said", exact, said)
	if exact < said {
		t.Error("most are not exact")
	}
}

// kataMargin reads a game under rules of KataGo. It reports whether the points in seki, or a tax on groups,
// are said to be counted otherwise.
func kataMargin(t *testing.T, ru string, game kataGame) (differs bool) {
	t.Helper()
	const komi = 2*rules.One + rules.Half
	rec := read(t, "(;SZ[5]KM[2.5]RU["+ru+"]"+game.stones+")")
	for _, r := range rec.Repairs {
		t.Fatalf("%s: %v", ru, r)
	}
	r, _, err := rec.Ruleset()
	if err != nil {
		t.Fatal(err)
	}
	rec = rec.Mended(r).Settled(r)
	g, err := rec.Play(r, komi)
	if err != nil || g.Phase() != rules.Over {
		t.Fatalf("%s, %s: %v, %v, %v", game.name, ru, err, g.Phase(), rec.Repairs)
	}
	has := func(field string) bool { return strings.Contains(ru, field) }
	want := rules.Points(game.area)*rules.One - komi
	if has("TERRITORY") {
		want -= rules.Points(game.placed) * rules.One
		want -= rules.Points(len(rec.Setup.Black)-len(rec.Setup.White)) * rules.One
	}
	if has("button1") {
		want += map[rules.Color]rules.Points{rules.Black: rules.Half, rules.White: -rules.Half}[game.first]
	}
	if n := game.handicap; n > 0 {
		switch {
		case has("whbN-1"):
			want -= rules.Points(n-1) * rules.One
		case has("whbN"):
			want -= rules.Points(n) * rules.One
		}
	}
	differences := fmt.Sprint(rec.Differences(g))
	if got := g.Score().Margin(); got != want {
		t.Errorf("%s, %s: %v by %s, want %v; %s", game.name, ru, got, g.Rules().Name, want, differences)
	}
	for field, words := range map[string]string{"taxALL": "each living group", "SPIGHT": "lifts the bans", "sui1": "allow suicide"} {
		if has(field) != strings.Contains(differences, words) {
			t.Errorf("%s: %s", ru, differences)
		}
	}
	if seki := has("AREAtaxSEKI"); seki != strings.Contains(differences, "seki") {
		t.Errorf("%s: %s", ru, differences)
	}
	return has("taxALL") || has("AREAtaxSEKI")
}

// What is odd about rules in the manner of KataGo is said.
func TestOddFields(t *testing.T) {
	for ru, want := range map[string]string{
		"koSIMPLEscoreAREAtaxNONEsui0":                   "koSIMPLEscoreAREAtaxNONEsui0button0whb0fpok0",
		"koSITUATIONALscoreAREAtaxNONEsui0button1whbN-1": "koSITUATIONALscoreAREAtaxNONEsui0button1whbN-1fpok0",
		"koSIMPLEscoreAREAtaxNONEsui0whbN":               "koSIMPLEscoreAREAtaxNONEsui0button0whbNfpok0",
		"koSIMPLEscoreAREAtaxNONEsui0whbN-2":             "koSIMPLEscoreAREAtaxNONEsui0button0whbNfpok0; RU[koSIMPLEscoreAREAtaxNONEsui0whbN-2] is read as koSIMPLEscoreAREAtaxNONEsui0whbN",
		"koSIMPLEscoreAREAtaxNONEsui0whbM":               "koSIMPLEscoreAREAtaxNONEsui0button0whb0fpok0; RU[koSIMPLEscoreAREAtaxNONEsui0whbM] is read as koSIMPLEscoreAREAtaxNONEsui0",
		"koSIMPLEscoreAREAtaxNONEsui2":                   "koSIMPLEscoreAREAtaxNONEsui1button0whb0fpok0; RU[koSIMPLEscoreAREAtaxNONEsui2] is read as koSIMPLEscoreAREAtaxNONEsui1",
		"koSIMPLEscoreAREAtaxNONEsui0foo1button1":        "koSIMPLEscoreAREAtaxNONEsui0button1whb0fpok0; RU[koSIMPLEscoreAREAtaxNONEsui0foo1button1] is read as koSIMPLEscoreAREAtaxNONEsui0button1",
		"xkoSIMPLEscoreAREAtaxNONEsui0":                  "koSIMPLEscoreAREAtaxNONEsui0button0whb0fpok0; RU[xkoSIMPLEscoreAREAtaxNONEsui0] is read as koSIMPLEscoreAREAtaxNONEsui0",
		"koSIMPLEscoreAREAtaxNONEsui0button0button1":     "koSIMPLEscoreAREAtaxNONEsui0button1whb0fpok0; RU[koSIMPLEscoreAREAtaxNONEsui0button0button1] is read as koSIMPLEscoreAREAtaxNONEsui0button1",
		"koSIMPLEkoSIMPLEkoSPIGHTscoreAREAtaxNONEsui0":   "koSPIGHTscoreAREAtaxNONEsui0button0whb0fpok0; RU[koSIMPLEkoSIMPLEkoSPIGHTscoreAREAtaxNONEsui0] is read as koSPIGHTscoreAREAtaxNONEsui0",
		"KOsituationalSCOREareaTAXnoneSUI0BUTTON1WHBn-1": "koSITUATIONALscoreAREAtaxNONEsui0button1whbN-1fpok0; RU[KOsituationalSCOREareaTAXnoneSUI0BUTTON1WHBn-1] is read as koSITUATIONALscoreAREAtaxNONEsui0button1whbN-1",
		"score area, ko simple, tax none, sui 0":         "koSIMPLEscoreAREAtaxNONEsui0button0whb0fpok0; RU[score area, ko simple, tax none, sui 0] is read as koSIMPLEscoreAREAtaxNONEsui0",
		"koSIMPLEscoringTERRITORYsui0":                   "koSIMPLEscoreTERRITORYtaxSEKIsui0button0whb0fpok0; RU[koSIMPLEscoringTERRITORYsui0] is read as koSIMPLEscoreTERRITORYtaxSEKIsui0",
		"scoreAREA":                                      "koPOSITIONALscoreAREAtaxNONEsui1button0whb0fpok0; RU[scoreAREA] is read as koPOSITIONALscoreAREAtaxNONEsui1",
		"koSIMPLEscoreAREAtaxNONEsui0komi7":              "koSIMPLEscoreAREAtaxNONEsui0button0whb0fpok0; RU[koSIMPLEscoreAREAtaxNONEsui0komi7] is read as koSIMPLEscoreAREAtaxNONEsui0",
		"Chinese":                                        "", "koala": "", "score": "", "custom/score area": "", "aga@1": "", "": "",
	} {
		f, odd := readFields(ru)
		got := f.String()
		for _, s := range odd {
			got += "; " + s.String()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", ru, got, want)
		}
	}
}

// Names of rules say something of them, too: what the ruleset as which they are read does not have,
// the result says, and for a handicap the komi makes up.
func TestDifferencesOfNames(t *testing.T) {
	const three = "HA[3]AB[ca][cb][cc];W[da];B[cd];W[db];B[ce];W[dc];B[];W[dd];B[];W[de];B[];W[];B[]"
	for _, x := range []struct {
		ru, by string
		margin rules.Points // for three handicap stones, on an area of five points more for Black
		says   []string
	}{
		{"Chinese", areaRules.Name, 2 * rules.One, []string{"White gets 3 for 3 handicap stones"}},
		{"chinese-ogs", areaRules.Name, 2 * rules.One, []string{"White gets 3 for 3 handicap stones"}},
		{"中国规则", areaRules.Name, 2 * rules.One, []string{"White gets 3 for 3 handicap stones"}},
		{"New Zealand", areaRules.Name, 5 * rules.One, []string{"allow suicide", "White gets 0 for 3 handicap stones"}},
		{"GOE", areaRules.Name, 5 * rules.One, []string{"Ing's rules of ko", "allow suicide", "White gets 0 for 3 handicap stones"}},
		{"stone_scoring", areaRules.Name, 5 * rules.One, []string{"each living group pays two points", "White gets 0 for 3 handicap stones"}},
		{"AGA", "aga", 3 * rules.One, nil},
		{"French", "aga", 3 * rules.One, nil},
		{"aga", "aga", 3 * rules.One, nil},
		{"area-2", "area-2", 3 * rules.One, nil},
		{"aga-button", "button", 3*rules.One + rules.Half, nil},
		{"AGA Button", "button", 3*rules.One + rules.Half, nil},
		{"japanese", "japanese", 5 * rules.One, nil},
		{"ancient-territory", "japanese", 5 * rules.One, []string{"each living group pays two points"}},
	} {
		rec := read(t, "(;SZ[5]RU["+x.ru+"]"+three+")")
		r, _, err := rec.Ruleset()
		if err != nil || r.Name != x.by {
			t.Errorf("%s is read as %s, %v", x.ru, r.Name, err)
			continue
		}
		rec = rec.Mended(r).Settled(r)
		g, err := rec.Play(r, 0)
		if err != nil || g.Score().Margin() != x.margin {
			t.Errorf("%s: %v, %v, want %v", x.ru, err, g.Score().Margin(), x.margin)
			continue
		}
		got := rec.Differences(g)
		if len(got) != len(x.says) || slices.ContainsFunc(x.says, func(s string) bool { return !strings.Contains(fmt.Sprint(got), s) }) {
			t.Errorf("%s: %v, want %q", x.ru, got, x.says)
		}
		// Under other rulesets nothing makes up for anything.
		other, err := rec.Under(&rules.Area2, 0, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if other.Setup().Komi != 0 || x.ru != "area-2" && rec.Differences(other) != nil {
			t.Errorf("%s: under area-2 the komi is %v; %v", x.ru, other.Setup().Komi, rec.Differences(other))
		}
	}
}

// A record that goes on after two passes is one of the ruleset that was asked for, and what makes up
// for its marks is said.
func TestDifferencesAfterPlayWentOn(t *testing.T) {
	rec := read(t, "(;SZ[5]KM[0]RU[AGA]AB[ca][cb][cc][cd]AW[da][db][dc][dd][de];B[];W[];B[ce];W[];B[]TB[aa:bd][be]TW[ea:ee])")
	r, _, err := rec.Ruleset()
	if err != nil {
		t.Fatal(err)
	}
	rec = rec.Mended(r).Settled(r)
	g, err := rec.Play(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(rec.Differences(g)); g.Rules().ID() != r.ID() || !strings.Contains(got, "marks A1 otherwise") {
		t.Errorf("%s: %s", g.Rules().ID(), got)
	}
	if own := rec.ownKomi(g); own != 0 || g.Setup().Komi == 0 {
		t.Errorf("the komi is %v, of the record %v", g.Setup().Komi, own)
	}
}

// Stones that are set up without moves are area like any others.
func TestAreaOfSetUpStones(t *testing.T) {
	for _, ru := range []string{"Chinese", "NZ", "Ing", "area", "koSIMPLEscoreAREAtaxNONEsui0", "area-agreement"} {
		rec := read(t, "(;SZ[5]KM[0]RU["+ru+"]AB[ca][cb][cc][cd][ce]AW[da][db][dc][dd][de][ea];B[];W[]TB[aa:be]TW[eb:ee])")
		r, _, err := rec.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		rec = rec.Mended(r).Settled(r)
		g, err := rec.Play(r, 0)
		if err != nil || g.Result() != "B+5" { // 15 to 10, though White has a stone more
			t.Errorf("%s: %v, %v", ru, g.Result(), err)
		}
	}
}
