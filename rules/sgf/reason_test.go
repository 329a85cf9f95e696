package sgf

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// comparisons returns the comparisons of every record of the repository and of games
// played at random, finished or not, each with the number of turns played.
func comparisons(t *testing.T) (all []struct {
	name  string
	turns int
	rows  []Row
}) {
	var also []*rules.Ruleset // of which no theorem speaks
	for _, r := range rules.Catalogue {
		custom, err := rules.Custom(rules.Spec{Name: "my-" + r.Name, Base: r.Name, Komi: r.Komi.Decimal()})
		if err != nil {
			t.Fatal(err)
		}
		also = append(also, custom)
	}
	add := func(name string, rec *Record, c Count) {
		c.Also = also
		all = append(all, struct {
			name  string
			turns int
			rows  []Row
		}{name, len(rec.Turns), rec.Compare(c)})
	}
	for file, rec := range everyRecord(t) {
		add(file, rec, Count{})
		add(file, rec, Count{DefaultKomi: true})
		add(file+", cut", rec.Cut(len(rec.Turns)*2/3), Count{})
	}
	for seed := range uint64(100) {
		r := rules.Catalogue[seed%uint64(len(rules.Catalogue))]
		g := randomGame(t, rand.New(rand.NewPCG(seed, 6)), r)
		add(fmt.Sprint(r.Name, " ", seed), Of(g), Count{})
		add(fmt.Sprint(r.Name, " ", seed, ", unfinished"), Of(g.At(g.Turns()/2)), Count{})
	}
	return all
}

// No reason cites a turn that nobody played, although the games that are counted
// have more turns than were played.
func TestReasonsCiteWhatWasPlayed(t *testing.T) {
	move := regexp.MustCompile(`moves? (\d+(?:, \d+)*(?: and \d+)?)`)
	number := regexp.MustCompile(`\d+`)
	cited, added := 0, 0
	for _, c := range comparisons(t) {
		for _, row := range c.rows {
			if row.Err != nil {
				continue
			}
			if row.Game.Turns() > row.played {
				added++
			}
			for _, reason := range row.Reasons() {
				if s := reason.String(); strings.Contains(s, "move") || strings.Contains(s, "w =") || strings.Contains(s, "{") {
					t.Errorf("%s: %s: %s", c.name, row.Rules.Name, s)
				}
			}
			for _, m := range move.FindAllStringSubmatch(row.Why(), -1) {
				for _, s := range number.FindAllString(m[1], -1) {
					n, err := strconv.Atoi(s)
					if cited++; err != nil || n > c.turns {
						t.Errorf("%s: %s cites move %s of %d: %s", c.name, row.Rules.Name, s, c.turns, row.Why())
					}
				}
			}
		}
	}
	if cited < 100 || added < 100 {
		t.Errorf("%d moves cited, %d games with turns added", cited, added)
	}
}

// The changes that the reasons of a row name add up to the difference between the
// area on the board and the count.
func TestReasonsAddUp(t *testing.T) {
	change := regexp.MustCompile(`(Black|White) \+(\d*½?)`)
	for _, c := range comparisons(t) {
		for _, row := range c.rows {
			if !row.counted() {
				continue
			}
			s := row.Game.Setup()
			black, white := row.Board()
			sum := rules.Points(black-white)*rules.One - s.Komi - rules.Points(max(s.Handicap-1, 0))*rules.One
			var said []string
			for _, reason := range row.Reasons() {
				said = append(said, reason.String())
			}
			for _, m := range change.FindAllStringSubmatch(strings.Join(said, "; "), -1) {
				p, err := rules.ParsePoints(m[2])
				if err != nil {
					t.Fatal(m, err)
				}
				if m[1] == "White" {
					p = -p
				}
				sum += p
			}
			if sum != row.margin() {
				t.Errorf("%s: %s: %q come to %v, the count to %v", c.name, row.Rules.Name, said, sum, row.margin())
			}
		}
	}
}

// Each row is in one group; the groups of people differ, and the first is that of
// the record's own ruleset.
func TestGroups(t *testing.T) {
	for _, c := range comparisons(t) {
		if every := Groups(c.rows, true); len(every) != len(c.rows) {
			t.Errorf("%s: %d of %d rows", c.name, len(every), len(c.rows))
		}
		seen, own := map[*rules.Ruleset]bool{}, false
		groups := Groups(c.rows, false)
		for i, g := range groups {
			for _, row := range append([]Row{g.Row}, g.Same...) {
				if seen[row.Rules] || row.Err == rules.ErrNoCount {
					t.Errorf("%s: %s is there twice, or counts nothing", c.name, row.Rules.Name)
				}
				seen[row.Rules] = true
				if own = own || row.Own; row.Own && i > 0 && row.Err == nil {
					t.Errorf("%s: its own ruleset comes %dth", c.name, i)
				}
				if row.Err == nil && (row.margin() != g.Row.margin() || row.Komi != g.Row.Komi || row.Flip != g.Row.Flip) {
					t.Errorf("%s: %s and %s are not the same", c.name, row.Rules.Name, g.Row.Rules.Name)
				}
				if i > 0 && row.Err == nil && row.margin() == groups[0].Row.margin() && row.Komi == groups[0].Row.Komi {
					t.Errorf("%s: %s is as the first, and apart", c.name, row.Rules.Name)
				}
			}
		}
		for _, row := range c.rows {
			if row.Err != rules.ErrNoCount && !seen[row.Rules] {
				t.Errorf("%s: %s is left out", c.name, row.Rules.Name)
			}
		}
	}
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has\n%s\nit says\n%s", name, want, got)
	}
}

// The texts about the published game, and about the same game before anybody has
// passed.
func TestReasonsOfG1(t *testing.T) {
	words := func(rec *Record) string {
		var out []string
		for _, g := range Groups(rec.Compare(Count{}), false) {
			var said []string
			for _, s := range g.Row.Reasons() {
				said = append(said, s.String())
			}
			for _, s := range g.Same {
				said = append(said, "="+s.Rules.Name)
			}
			out = append(out, fmt.Sprint(g.Row.Rules.Name, " ", g.Row.margin(), " ", g.Row.Flip, ": ", strings.Join(said, " ")))
		}
		return "\n" + strings.Join(out, "\n")
	}
	rec := readFile(t, "testdata/g1-two-button.sgf")
	golden(t, "testdata/g1/reasons.txt", "At the end:"+words(rec)+"\n\nBefore the first pass:"+words(rec.Cut(61))+"\n")
}

// A resignation is no pass, a button that is taken after a pass is no first pass, and a
// player who holds nothing has nothing to count.
func TestReasonsNameWhatHappened(t *testing.T) {
	const resigned = "(;SZ[9]RU[aga]KM[6.5];B[ee];W[cc];B[gg];W[gc];B[cg];W[]XT[resign])"
	const earlier = "(;SZ[5]RU[two-button]KM[0];B[cc];W[];B[dd];W[bb];B[];W[])"
	const resumed = "(;SZ[5]RU[area-3]KM[0];B[cc];W[];B[dd];W[bb])"
	const handicap = "(;SZ[3]RU[area-1]HA[3]AB[ab][bb][cb]KM[0];W[];B[])"
	for _, x := range []struct{ record, ruleset, want string }{
		{handicap, "area-1", "territory does not count: White +6"},
		{handicap, "button", "White passed first and so has the button: White +½"},
		{resigned, "area-3", "if White passes first: White +1"},
		{resigned, "button", "if White takes the button: White +½"},
		{resigned, "aga", "Black placed one stone more: White +1"},
		{earlier, "two-button", "White passed first: White +1"},
		{earlier, "two-button-separate", "Black took the first button: nothing is added"},
		{earlier, "button", "Black took the button: Black +½"},
		{resumed, "area-3", "White passed first: White +1"},
		{resumed, "button", "if Black takes the button: Black +½"},
		{resumed, "two-button-separate", "if Black takes the first button, nothing is added"},
	} {
		rec, err := Read(strings.NewReader(x.record))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rec.Compare(Count{}) {
			if row.Rules.Name != x.ruleset {
				continue
			}
			var said []string
			for _, s := range row.Reasons() {
				said = append(said, s.String())
			}
			if got := strings.Join(said, "; "); got != x.want {
				t.Errorf("%s under %s: %s, want %s", x.record, x.ruleset, got, x.want)
			}
		}
	}
}

// Of a game, as many turns are those of a record as agree with it from the first one.
func TestPlayed(t *testing.T) {
	for _, x := range []struct {
		record, game string
		want         int
	}{
		{";B[cc];W[dd]", ";B[cc];W[dd]", 2},
		{";B[cc];W[dd]", ";B[cc];W[dd];B[];W[]", 2},
		{";B[cc];W[dd]", ";B[cc];W[ee]", 1},
		{";B[cc];W[dd]", ";B[cc];W[];B[dd]", 1},
		{";B[cc];W[];B[dd]", ";B[cc];W[aa];B[dd]", 1},
		{";B[cc];W[dd]", ";W[cc];B[dd]", 0},
		{";B[];W[dd]", ";W[];B[dd]", 0},
		{";B[cc];W[dd]", ";B[ee];W[aa];B[cc];W[dd]", 0},
		{";B[]XT[button];W[cc]", ";B[];W[cc]", 2},
		{";B[];W[];B[]XT[resume];W[cc]", ";B[];W[];B[]XT[resume];W[cc]", 4},
		{";B[cc];W[]XT[resign]", ";B[cc];W[]", 1},
	} {
		g, err := read(t, "(;SZ[5]"+x.game+")").Play(&rules.AGA, 0)
		if err != nil {
			t.Fatal(x.game, err)
		}
		if got := read(t, "(;SZ[5]"+x.record+")").played(g); got != x.want {
			t.Errorf("%s of %s: %d, want %d", x.record, x.game, got, x.want)
		}
	}
}
