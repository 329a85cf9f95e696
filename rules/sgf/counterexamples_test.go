package sgf

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

var update = flag.Bool("update", false, "write counterexamples, flips and counts as the code has them now; read them before you commit")

// A condition is one that a theorem of docs/theorems.md has. Without it the
// theorem is false, and a smallest game shows that.
type condition struct {
	name, rules string
	comment     string
	// setups gives the setups to begin from on a board, those with the fewest
	// stones first.
	setups func(w, h int) []rules.Setup
	// fails reports whether a finished game breaks the theorem as it would be
	// without the condition.
	fails func(*rules.Game) bool
	// seki gives the stones to mark as alive in seki; nil: none.
	seki func(*rules.Game) []rules.Point
}

var conditions = []condition{
	{"territory-1-early-pass", "territory-1",
		"Black's pass is not one of the two of the preliminary end. D = −1, A = −2, w = 0: White placed one stone more than Black before that end.",
		emptyBoard, func(g *rules.Game) bool { return difference(g) != table(g, rules.Pass) }, nil},
	{"japanese-early-pass", "japanese",
		"A pass before the last placement. D = −1, A = −2, and White made the last placement: passes that cost nothing are not counted as stones.",
		emptyBoard, japaneseFails, nil},
	{"japanese-white-first", "japanese",
		"White moves first. D = −1, A = −2, and White made the last placement: White placed one stone more, and no stone of Black followed.",
		whiteFirst, japaneseFails, nil},
	{"japanese-seki", "japanese",
		"A chain is marked as seki. D = 0, A = 2, and Black made the last placement: what is next to the chain is no territory.",
		emptyBoard, japaneseFails, stones},
	{"handicap", "aga",
		"Two handicap stones. D = 2, A = 3: N-1 is to be subtracted.",
		handicaps, func(g *rules.Game) bool { return difference(g) != table(g, rules.Pass) }, nil},
	{"setup", "aga",
		"A stone that was set up and never played. D = 1, A = 2: where prisoners and pass stones are counted, e is to be subtracted.",
		oneStone, func(g *rules.Game) bool { return difference(g) != table(g, rules.Pass) }, nil},
	{"white-first", "aga",
		"White moves first without handicap stones. D = 1, A = 0: e is -1.",
		whiteFirst, func(g *rules.Game) bool { return difference(g) != table(g, rules.Pass) }, nil},
	{"button-nobody-took", "button",
		"Nobody took the button. D = 0, A = 0: then D is A.",
		emptyBoard, func(g *rules.Game) bool { return difference(g) != table(g, rules.Button) }, nil},
	{"button-equivalence-nobody-took", "button-equivalence",
		"Nobody gave the button. D = 0, A = 0: then D is A.",
		emptyBoard, func(g *rules.Game) bool { return difference(g) != table(g, rules.Button) }, nil},
}

// difference returns Black's score less White's before komi.
func difference(g *rules.Game) rules.Points { return g.Score().Margin() + g.Setup().Komi }

// japaneseFails reports whether T11 says something else of a game.
func japaneseFails(g *rules.Game) bool { return difference(g) != japaneseTable(g) }

// japaneseTable is [table] for japanese, whose theorem asks who made the last placement.
func japaneseTable(g *rules.Game) rules.Points {
	b := g.Board()
	last := 0
	for _, t := range g.Log() {
		if t.Kind == rules.Place {
			last = map[rules.Color]int{rules.Black: 1}[t.By]
		}
	}
	return rules.Points(b.Area()-last) * rules.One
}

// stones returns every stone on the board.
func stones(g *rules.Game) []rules.Point {
	b := g.Board()
	return slices.DeleteFunc(b.Points(), func(p rules.Point) bool { return b.At(p) == rules.None })
}

// table returns what the table of theorems says of a game without asking whether
// its conditions hold. w is 1 if the first turn of the kind was White's.
func table(g *rules.Game, k rules.Kind) rules.Points {
	w := 0
	for _, t := range g.Log() {
		if t.Kind == k {
			if t.By == rules.White {
				w = 1
			}
			break
		}
	}
	b := g.Board()
	d, _ := g.Rules().Difference(b.Area(), w)
	return d
}

func emptyBoard(w, h int) []rules.Setup { return []rules.Setup{{W: w, H: h}} }

func whiteFirst(w, h int) []rules.Setup { return []rules.Setup{{W: w, H: h, First: rules.White}} }

func oneStone(w, h int) []rules.Setup {
	var all []rules.Setup
	b, _ := rules.NewBoard(w, h)
	for _, p := range b.Points() {
		all = append(all, rules.Setup{W: w, H: h, Black: []rules.Point{p}}, rules.Setup{W: w, H: h, White: []rules.Point{p}})
	}
	return all
}

func handicaps(w, h int) []rules.Setup {
	var all []rules.Setup
	b, _ := rules.NewBoard(w, h)
	ps := b.Points()
	for i := range ps {
		for _, q := range ps[:i] {
			all = append(all, rules.Setup{W: w, H: h, Handicap: 2, Black: []rules.Point{q, ps[i]}})
		}
	}
	return all
}

// boards are the smallest, in order.
var boards = [][2]int{{1, 1}, {2, 1}, {3, 1}, {2, 2}, {4, 1}}

// smallest looks at every game of at most most turns, on smaller boards first,
// shorter games first, and gives the first that fails. Every game that stops
// is counted with nothing marked dead.
func smallest(t *testing.T, r *rules.Ruleset, c condition, most int) *rules.Game {
	t.Helper()
	for _, size := range boards {
		for turns := 1; turns <= most; turns++ {
			for _, s := range c.setups(size[0], size[1]) {
				g, err := rules.New(r, s)
				if err != nil {
					continue
				}
				if g = firstFailing(g, c, turns); g != nil {
					return g
				}
			}
		}
	}
	return nil
}

// firstFailing returns a game of exactly turns turns more than g that fails.
func firstFailing(g *rules.Game, c condition, turns int) *rules.Game {
	if turns == 0 {
		if g.Phase() == rules.Settling {
			var seki []rules.Point
			if c.seki != nil {
				seki = c.seki(g)
			}
			g, _ = g.Settled(nil, seki)
		}
		if g.Phase() == rules.Over && c.fails(g) {
			return g
		}
		return nil
	}
	if g.Phase() != rules.Playing {
		return nil
	}
	for _, t := range rules.PerftTurns(g) {
		next, _ := g.Play(t)
		if found := firstFailing(next, c, turns-1); found != nil {
			return found
		}
	}
	return nil
}

// Without each condition the theorem is false: the committed record shows it,
// and no game on a smaller board and no shorter game on the same board does.
func TestCounterexamplesAreSmallest(t *testing.T) {
	page, err := os.ReadFile("../../docs/theorems.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conditions {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join("testdata", "counterexamples", c.name+".sgf")
			found := smallest(t, find(t, c.rules), c, 6)
			if found == nil {
				t.Fatal("there is none: the condition is not needed")
			}
			if *update {
				var out bytes.Buffer
				if err := Write(&out, found, Info{Name: "Smallest counterexample: " + strings.ReplaceAll(c.name, "-", " ")}, c.comment); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			rec := readFile(t, file)
			g, err := rec.Play(find(t, c.rules), 0)
			if err != nil || g.Phase() != rules.Over || !c.fails(g) {
				t.Fatalf("it is none: %v, %v, %v", g.Log(), g.Phase(), err)
			}
			s, f := g.Setup(), found.Setup()
			if s.W != f.W || s.H != f.H || g.Turns() != found.Turns() {
				t.Errorf("%d×%d, %d turns; there is one of %d×%d, %d turns: %v", s.W, s.H, g.Turns(), f.W, f.H, found.Turns(), found.Log())
			}
			b := g.Board()
			if said := fmt.Sprintf("D = %v, A = %v", difference(g), rules.Points(b.Area())*rules.One); !strings.Contains(c.comment, said) {
				t.Errorf("%s; the comment says: %s", said, c.comment)
			}
			row := fmt.Sprintf(`(?m)^\| [^|]+ \| %d×%d[:,][^|]+ \| %v \| %v[ ,]`, s.W, s.H, difference(g), rules.Points(b.Area())*rules.One)
			if !regexp.MustCompile(row).Match(page) {
				t.Errorf("docs/theorems.md has no row like %s", row)
			}
		})
	}
}

// An early pass needs six turns before it tells in territory-1, on whatever board.
func TestNoShorterEarlyPass(t *testing.T) {
	for _, size := range [][2]int{{3, 1}, {2, 2}, {4, 1}, {3, 2}, {3, 3}} {
		g, err := rules.New(find(t, "territory-1"), rules.Setup{W: size[0], H: size[1]})
		if err != nil {
			t.Fatal(err)
		}
		for turns := range 6 {
			if found := firstFailing(g, conditions[0], turns); found != nil {
				t.Error(found.Log())
			}
		}
	}
}

// Which of the rulesets each condition matters to, on the record that shows it.
func TestWhomConditionsConcern(t *testing.T) {
	for name, concerns := range map[string]func(r *rules.Ruleset) bool{
		"handicap":    func(*rules.Ruleset) bool { return true },
		"setup":       func(r *rules.Ruleset) bool { return !byArea(r) },
		"white-first": func(r *rules.Ruleset) bool { return !byArea(r) && r.Name != "japanese" }, // whose own record is japanese-white-first
	} {
		rec := readFile(t, filepath.Join("testdata", "counterexamples", name+".sgf"))
		for _, r := range rules.Catalogue {
			if r.Theorem == "" && r.Name != "japanese" {
				continue
			}
			g, err := rec.Under(r, 0, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			k := rules.Pass
			if r.Has(rules.Button) {
				k = rules.Button
			}
			said := table(g, k)
			if r.Name == "japanese" {
				said = japaneseTable(g)
			}
			if fails := difference(g) != said; fails != concerns(r) {
				t.Errorf("%s: %s: D = %v, the table says %v", name, r.Name, difference(g), said)
			}
		}
	}
}
