package sgf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

func find(t testing.TB, id string) *rules.Ruleset {
	t.Helper()
	r, err := rules.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// words returns the log of a game in one line.
func words(g *rules.Game) string {
	var out []string
	for _, t := range g.Log() {
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}

// Records that go on after play has stopped.
func TestAfterPlayHasStopped(t *testing.T) {
	for name, x := range map[string]struct{ id, record, log, phase string }{
		"a placement resumes": {"aga", ";B[ee];W[];B[];W[gg]",
			"B place E5, W pass, B pass, W resume, W place G3", "playing"},
		"a placement resumes, again and again": {"japanese", ";B[];W[];B[ee];W[];B[];W[gg]",
			"B pass, W pass, B resume, B place E5, W pass, B pass, W resume, W place G3", "playing"},
		"a third pass is left out": {"japanese", ";B[ee];W[];B[];W[]",
			"B place E5, W pass, B pass", "settling"},
		"White's last pass stone is handed over when the count is agreed": {"aga", ";B[ee];W[];B[];W[];XT[accept]",
			"B place E5, W pass, B pass, B agree, W agree", "over"},
		"five passes": {"two-button", ";B[ee];W[];B[];W[];B[];W[]",
			"B place E5, W pass, B pass", "settling"},
		"a third pass and a placement: play was resumed with the pass": {"aga", ";B[ee];W[];B[];W[];B[gg]",
			"B place E5, W pass, B pass, W resume, W pass, B place G3", "playing"},
		"four passes and a placement: play was resumed and stopped again": {"aga@1", ";B[];W[];B[];W[];B[gg]",
			"B pass, W pass, B resume, B pass, W pass, B resume, B place G3", "playing"},
		"a third pass after the end of a game played out": {"area-2", ";B[ee];W[];B[];W[]",
			"B place E5, W pass, B pass", "over"},
		"no count accepted in area-3 before three passes": {"area-3", ";B[];W[];B[];W[]",
			"B pass, W pass, B pass", "over"},
		"a resumption that the record tells of": {"aga", ";B[];W[];B[]XT[resume];W[]",
			"B pass, W pass, B resume, B pass, W pass", "over"},
		"the same before there was an end to disputes": {"aga@1", ";B[];W[];B[]XT[resume];W[]",
			"B pass, W pass, B resume, B pass, W pass", "settling"},
		"resumed, and no turn since": {"aga", ";B[];W[];XT[resume]",
			"B pass, W pass, B resume", "playing"},
		"resignation while settling": {"aga", ";B[];W[];B[]XT[resign]",
			"B pass, W pass, B resign", "over"},
		"White resigns out of turn": {"aga", ";W[]XT[resign]", "W resign", "over"},
		"marks without acceptance": {"aga", ";B[ee];W[];B[];XD[E5]",
			"B place E5, W pass, B pass, B dead E5", "settling"},
		"marks for seki": {"japanese", ";B[ee];W[];B[];XS[E5]XT[accept]",
			"B place E5, W pass, B pass, B seki E5, B agree, W agree", "over"},
		"no result": {"japanese@1", ";B[];W[];B[]XT[resume];W[];B[]XT[resume];XT[no-result]",
			"B pass, W pass, B resume, B pass, W pass, B resume, B pass, B no-result, W no-result", "over"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := read(t, "(;SZ[9]"+x.record+")").Play(find(t, x.id), 0)
			if err != nil {
				t.Error(err)
			} else if got := words(g); got != x.log || g.Phase().String() != x.phase {
				t.Errorf("%s; %v\nwant %s; %s", got, g.Phase(), x.log, x.phase)
			}
		})
	}
}

// An illegal turn is named with its number in the record, and the game before
// it is there to look at.
func TestIllegalTurns(t *testing.T) {
	for _, x := range []struct {
		id, record, want string
		err              error
		before           int
	}{
		{"aga", ";B[ee];W[gg];B[cc];W[ee]", "move 4 (White E5): the point is not empty", nil, 3},
		{"aga", ";B[ee];B[gg]", "move 2 (Black G3): it is the other player's turn", rules.ErrNotYourTurn, 1},
		{"aga", ";B[];B[]", "move 2 (Black pass): it is the other player's turn", rules.ErrNotYourTurn, 1},
		{"aga", ";B[];W[];B[];B[]", "move 4 (Black pass): it is the other player's turn", rules.ErrNotYourTurn, 2},
		{"aga", ";B[];W[];W[gg]", "move 3 (White G3): it is the other player's turn", rules.ErrNotYourTurn, 2},
		{"aga", ";B[]XT[button]", "move 1 (Black button): this ruleset has no such turn", rules.ErrNoSuchTurn, 0},
		{"aga", ";B[ee];W[]XT[pass E5]", "move 2 (White pass): in this ruleset a pass does not name dead stones", rules.ErrNoSuggestion, 1},
		{"button", ";B[]XT[button];W[]XT[button]", "move 2 (White button): the button has already been taken", nil, 1},
		{"tromp-taylor", ";B[];W[];B[ee]", "move 3 (Black E5): the game is over", rules.ErrOver, 2},
		{"tromp-taylor", ";B[];W[];B[];W[ee]", "move 4 (White E5): the game is over", rules.ErrOver, 2},
		{"tromp-taylor", ";B[]XT[resign];W[]", "move 2 (White pass): the game is over", rules.ErrOver, 1},
		{"aga", ";B[]XT[resume]", "move 1 (Black resume): play has not stopped", rules.ErrPlaying, 0},
		{"aga", ";B[ee];XT[accept]", "move 2 (Black agree): play has not stopped", rules.ErrPlaying, 1},
		{"aga", ";B[];W[];XD[E5]XT[accept]", "move 3 (Black dead): there is no stone on E5", nil, 2},
		{"area-2", ";B[];W[];XT[accept]", "move 3 (Black agree): the game is over", rules.ErrOver, 2},
		{"aga", ";B[];W[];XS[E5]", "move 3 (Black seki): this ruleset has no such turn", rules.ErrNoSuchTurn, 2},
		{"japanese", ";B[ee];XT[no-result]", "move 2 (Black no-result): no placement has made the same position for the third time with the same player to move", nil, 1},
		{"ultimate", ";B[];W[]", "move 1 (Black pass): this ruleset has no such turn", rules.ErrNoSuchTurn, 0},
	} {
		g, err := read(t, "(;SZ[9]"+x.record+")").Play(find(t, x.id), 0)
		var illegal *rules.Illegal
		if !errors.As(err, &illegal) || err.Error() != x.want || x.err != nil && !errors.Is(err, x.err) {
			t.Errorf("%s %s: %v\nwant %s", x.id, x.record, err, x.want)
		} else if g == nil || g.Turns() != x.before {
			t.Errorf("%s %s: the game before it: %v", x.id, x.record, g)
		}
	}
}

// Where the rules of a record allow the suicide at which its reading stops, that is said.
func TestSuicideOfOtherRules(t *testing.T) {
	const plain = "move 5 (Black A9): the stone would have no liberty (suicide)"
	for ru, want := range map[string]string{
		"NZ": plain + ", which the record's own rules allow", "New Zealand": plain + ", which the record's own rules allow",
		"Ing": plain + ", which the record's own rules allow", "GOE": plain + ", which the record's own rules allow",
		"koPOSITIONALscoreAREAtaxNONEsui1": plain + ", which the record's own rules allow",
		"koPOSITIONALscoreAREAtaxNONEsui0": plain, "Chinese": plain, "": plain,
	} {
		rec := read(t, "(;SZ[9]RU["+ru+"];B[ee];W[ab];B[ff];W[ba];B[aa])")
		_, err := rec.Play(&rules.AGA, 0)
		illegal, ok := errors.AsType[*rules.Illegal](err)
		if !ok {
			t.Fatal(ru, err)
		}
		if got := rec.Before(illegal).Stopped.Error(); got != want {
			t.Errorf("%s: %s\nwant %s", ru, got, want)
		}
	}
	rec := read(t, "(;SZ[9]RU[NZ];B[ee];W[ee])")
	_, err := rec.Play(&rules.AGA, 0)
	if got := rec.Before(err.(*rules.Illegal)).Stopped; got != err {
		t.Error(got)
	}
}

func TestSetupsThatCannotBe(t *testing.T) {
	for record, want := range map[string]string{
		"(;AP[Halfpoint]KM[50000])": "komi is at most 400 points either way",
		"(;SZ[2]AB[aa:ba][ab])":     "",
	} {
		g, err := read(t, record).Play(&rules.AGA, read(t, record).Setup.Komi)
		if want == "" {
			if err != nil {
				t.Error(record, err)
			}
		} else if g != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", record, err, want)
		}
	}
}

// Handicap is worth points where the ruleset says so, and only if HA says that
// it is one.
func TestHandicapCounts(t *testing.T) {
	const stones = "(;SZ[9]HA[3]AB[cc][gg][gc];W[ee];B[];W[];B[])"
	for _, r := range rules.Catalogue {
		if r.Name == "ultimate" {
			continue
		}
		given := 0
		g, err := read(t, stones).Under(r, 0, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		for _, l := range g.Score().Lines {
			if l.Thing == rules.Handicap {
				given = l.N
			}
		}
		want := 0
		if byArea(r) {
			want = 2
		}
		if given != want {
			t.Errorf("%s gives White %d for handicap, want %d", r.Name, given, want)
		}
	}
	g, _ := read(t, strings.Replace(stones, "HA[3]", "", 1)).Under(&rules.TrompTaylor, 0, nil, nil)
	for _, l := range g.Score().Lines {
		if l.Thing == rules.Handicap {
			t.Error("setup stones without HA are no handicap:", l)
		}
	}
}

func TestUnderAnotherBook(t *testing.T) {
	for name, x := range map[string]struct{ id, record, want string }{
		"turns after the last placement fall": {"area-2", ";B[ee];W[];B[];W[];B[]XT[resign]",
			"B place E5, W pass, B pass"},
		"the closing begins with the player to move": {"two-button-separate", ";B[ee];W[gg]",
			"B place E5, W place G3, B button, W pass, B pass, W button, B agree, W agree"},
		"a button and a delay are passes": {"aga", ";B[]XT[button];W[ee];B[]XT[delay];W[gg]",
			"B pass, W place E5, B pass, W place G3, B pass, W pass, B agree, W agree"},
		"what a pass named is forgotten": {"tromp-taylor", ";B[]XT[pass E5];W[ee]",
			"B pass, W place E5, B pass, W pass"},
		"where passes stop play a ruleset that settles resumes": {"aga", ";B[];W[];B[ee]",
			"B pass, W pass, B resume, B place E5, W pass, B pass, B agree, W agree"},
		"a ruleset that plays out has stopped": {"tromp-taylor", ";B[];W[];B[ee]",
			"move 3 (Black E5): the game is over"},
		"a forbidden placement": {"tromp-taylor", ";B[ee];W[];B[cc];W[ee]",
			"move 4 (White E5): the point is not empty"},
		"illegal by its own rules, but not by these": {"japanese", ";B[]XT[button];W[]XT[button];B[ee]",
			"B pass, W pass, B resume, B place E5, W pass, B pass, B agree, W agree"},
		"nobody has moved": {"japanese", "", "B pass, W pass, B agree, W agree"},
		"a button taken back was not taken": {"aga", ";B[ee];W[]XT[button];B[];W[];B[]XT[button];B[]XT[resume];W[];B[gg];W[cc]",
			"B place E5, W pass, B pass, W resume, W pass, B pass, W resume, W pass, B place G3, W place C7, B pass, W pass, B agree, W agree"},
		"a button that the other player resumed after was a pass": {"aga", ";B[ee];W[];B[]XT[button];W[]XT[resume];B[gg]",
			"B place E5, W pass, B pass, W resume, W pass, B place G3, W pass, B pass, B agree, W agree"},
		"a button before the same player moves again": {"aga", ";B[ee];W[]XT[button];W[gg]",
			"move 3 (White G3): it is the other player's turn"},
		"a resignation that was not the end": {"aga", ";B[ee];W[]XT[resign];W[gg]",
			"B place E5, W place G3, B pass, W pass, B agree, W agree"},
		"nothing is counted": {"ultimate", ";B[ee]", "nothing is counted under this ruleset"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := read(t, "(;SZ[9]"+x.record+")").Under(find(t, x.id), 0, nil, nil)
			if err != nil {
				if err.Error() != x.want {
					t.Error(err)
				}
			} else if got := words(g); got != x.want || g.Phase() != rules.Over {
				t.Errorf("%s\nwant %s", got, x.want)
			}
		})
	}
}

// A count asks for dead stones and seki where the ruleset knows them and stones stand, and
// refuses with a reason.
func TestCountAsked(t *testing.T) {
	e5, a1 := rules.Point{X: 4, Y: 4}, rules.Point{}
	none, stone, empty := []rules.Point{}, []rules.Point{e5}, []rules.Point{a1}
	for name, x := range map[string]struct {
		record string
		count  Count
		want   string
	}{
		"as it is":                          {"RU[japanese];B[ee];W[];B[]", Count{}, "B place E5, W pass, B pass"},
		"agreed":                            {"RU[japanese];B[ee];W[];B[]", Count{Dead: stone}, "B place E5, W pass, B pass, B dead E5, B agree, W agree"},
		"a stone that is not there":         {"RU[japanese];B[ee];W[];B[]", Count{Dead: empty}, "no stone stands on A1"},
		"marked as seki, and not accepted":  {"RU[japanese];B[ee];W[];B[];XS[E5]", Count{Dead: stone}, "B place E5, W pass, B pass, B dead E5, B agree, W agree"},
		"accepted as seki":                  {"RU[japanese];B[ee];W[];B[];XS[E5]XT[accept]", Count{Dead: stone}, "E5 cannot be both dead and in seki"},
		"accepted as seki, but not asked":   {"RU[japanese];B[ee];W[];B[];XS[E5]XT[accept]", Count{Seki: none}, "B place E5, W pass, B pass, B agree, W agree"},
		"seki where it does not matter":     {"RU[aga];B[ee];W[];B[]", Count{Seki: stone}, "aga knows no marks for seki"},
		"a game that is played out":         {"RU[tromp-taylor];B[ee];W[];B[]", Count{Dead: stone}, "tromp-taylor: what stands at the end is alive, no dead stones can be named"},
		"dead stones named by a pass":       {"RU[half-pass-agreement];B[ee];W[];B[]", Count{Dead: stone}, "half-pass-agreement: dead stones are named by the first pass, not afterwards"},
		"nothing is counted":                {"RU[ultimate];B[ee]", Count{Dead: none}, "ultimate: nothing is counted under this ruleset"},
		"a game that was resigned":          {"RU[aga];B[ee];W[]XT[resign]", Count{Dead: empty}, "B place E5, W resign"},
		"a ruleset of the future":           {"RU[two-button@99];B[ee];W[];B[]", Count{}, `RU[two-button@99]: no such ruleset: two-button has no version "99"`},
		"a ruleset of the future, and ours": {"RU[two-button@99];B[ee];W[]", Count{Rules: &rules.TrompTaylor}, "B place E5, W pass, B pass"},
		"a draw is no turn elsewhere":       {"RU[ultimate];B[ee];W[]XT[draw]", Count{Rules: &rules.AGA, Stop: true, Move: 9}, "B place E5"},
	} {
		g, _, err := read(t, "(;SZ[9]"+x.record+")").Count(x.count)
		got := fmt.Sprint(err)
		if err == nil {
			got = words(g)
		}
		if got != x.want {
			t.Errorf("%s: %s\nwant %s", name, got, x.want)
		}
	}
}

// The record of a game ends as the game did.
func TestEndOfAGame(t *testing.T) {
	for name, x := range map[string]struct{ id, record, want string }{
		"nobody has agreed":    {"japanese", ";B[ee];W[];B[];XD[E5]", "[] [] false false false"},
		"one has agreed":       {"japanese", ";B[ee];W[];B[]", "[] [] false false false"},
		"both have agreed":     {"japanese", ";B[ee];W[gg];B[];W[];XD[E5]XS[G3]XT[accept]", "[E5] [G3] true false false"},
		"no result":            {"japanese@1", ";B[];W[];B[]XT[resume];W[];B[]XT[resume];XT[no-result]", "[] [] false false true"},
		"resumed":              {"aga", ";B[];W[];XT[resume]", "[] [] false true false"},
		"after a resignation":  {"aga", ";B[];W[];B[]XT[resign]", "[] [] false false false"},
		"of a game played out": {"tromp-taylor", ";B[ee];W[];B[]", "[] [] false false false"},
	} {
		g, err := read(t, "(;SZ[9]"+x.record+")").Play(find(t, x.id), 0)
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "one has agreed" {
			if g, err = g.Play(rules.Turn{Kind: rules.AcceptScore, By: rules.White}); err != nil {
				t.Fatal(err)
			}
		}
		e := Of(g).Ending
		if got := fmt.Sprint(e.Dead, e.Seki, e.Accepted, e.Resumed, e.NoResult); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}

// The theorems speak of games that begin as they say.
func TestAreaOfTheTheorems(t *testing.T) {
	for record, want := range map[string]string{
		"(;SZ[5]RU[two-button];B[cc];W[];B[])":              "25 true",
		"(;SZ[5]RU[aga]HA[2]AB[bb][dd];W[cc];B[];W[])":      "1 true",
		"(;SZ[5]RU[aga];W[cc];B[];W[])":                     "0 false",
		"(;SZ[5]RU[aga]AB[bb][dd];W[cc];B[];W[])":           "0 false",
		"(;SZ[5]RU[aga]AB[bb]AW[dd];B[cc];W[];B[])":         "0 false",
		"(;SZ[5]RU[aga]HA[2]AB[bb][dd]PL[B];B[cc];W[];B[])": "0 false",
	} {
		rec := read(t, record)
		a, ok := rec.Area(rec.Compare(Count{}))
		if got := fmt.Sprint(a, ok); got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
	if _, ok := read(t, "(;SZ[5];B[cc])").Area([]Row{{Rules: &rules.Japanese}, {Rules: &rules.AGA, Err: rules.ErrNoCount}}); ok {
		t.Error("no row has a theorem")
	}
}

// Up to a move a record is counted under any ruleset as the game stood then: a turn that
// only its own ruleset knows is a pass there.
func TestCountUpTo(t *testing.T) {
	rec := read(t, "(;SZ[5]RU[two-button-separate]KM[0];B[cc];W[]XT[button];B[dd];W[bb];B[]XT[button];W[])")
	for move, want := range []string{"", "B place C3", "B place C3, W pass", "B place C3, W pass, B place D2", "B place C3, W pass, B place D2, W place B4"} {
		for _, r := range []*rules.Ruleset{&rules.AGA, &rules.TrompTaylor, &rules.Japanese, &rules.HalfPass} {
			g, assumed, err := rec.Count(Count{Rules: r, Stop: true, Move: move})
			if err != nil || assumed {
				t.Error(r.Name, move, assumed, err)
				continue
			}
			var log []string
			for _, turn := range g.Log() {
				log = append(log, turn.String())
			}
			if got := strings.Join(log, ", "); got != want || g.Rules() != r {
				t.Errorf("%s, up to move %d: %s, want %s", r.Name, move, got, want)
			}
		}
	}
	if g, _, err := rec.Count(Count{Stop: true, Move: 2}); err != nil || g.Log()[1].Kind != rules.Button {
		t.Error("its own ruleset knows the button", err)
	}
}
