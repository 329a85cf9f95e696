package sgf

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A secondGame is what a second reader makes of a record: it cuts the text into words,
// makes a tree of them and walks along its first branches. It is simple and slow and
// shares nothing with Read, which must never make another game of the same text without
// saying what it has repaired.
type secondGame struct {
	w, h    int
	black   string // PB
	stones  map[rules.Point]rules.Color
	turns   []string
	doubled bool // a node has two turns
	stopped bool // what follows is no game any more
	setup   bool // because stones are set up after turns
}

type secondNode [][]string // properties, each its name and its values

type secondTree struct {
	nodes    []secondNode
	branches []*secondTree
}

// empty reports whether a tree has no value.
func (t *secondTree) empty() bool {
	for _, n := range t.nodes {
		for _, p := range n {
			if len(p) > 1 {
				return false
			}
		}
	}
	return !slices.ContainsFunc(t.branches, func(b *secondTree) bool { return !b.empty() })
}

var (
	secondBegins  = regexp.MustCompile(`\([ \t\r\n\v\f]*;`)
	secondWord    = regexp.MustCompile(`(?s)\[(?:[^\]\\]|\\.)*\]|[A-Za-z]+|[();\[]`)
	secondSmall   = regexp.MustCompile(`[a-z]`)
	secondPlayers = regexp.MustCompile(`^([a-z])([0-9]{1,2})$`)
	secondEscape  = regexp.MustCompile(`(?s)\\(?:\r\n|\n\r|\n|\r|(.))`)
)

// second reads a record; ok: it is a whole one.
func second(text string) (g secondGame, ok bool) {
	at := secondBegins.FindStringIndex(text)
	if at == nil {
		return g, false
	}
	words := secondWord.FindAllString(text[at[0]:], -1)
	var tree func() *secondTree
	tree = func() *secondTree {
		t := &secondTree{}
		words = words[1:] // the bracket
		for len(words) > 0 {
			word := words[0]
			switch {
			case word == "(":
				branch := tree()
				if branch == nil {
					return nil
				}
				t.branches = append(t.branches, branch)
				continue
			case word == ")":
				words = words[1:]
				return t
			case word == ";":
				t.nodes = append(t.nodes, nil)
			case len(t.nodes) == 0, word == "[":
				return nil
			case word[0] == '[':
				n := len(t.nodes) - 1
				if len(t.nodes[n]) == 0 || len(t.branches) > 0 {
					return nil
				}
				p := len(t.nodes[n]) - 1
				t.nodes[n][p] = append(t.nodes[n][p], secondEscape.ReplaceAllString(word[1:len(word)-1], "$1"))
			default:
				name := secondSmall.ReplaceAllString(word, "")
				if name == "" {
					name = strings.ToUpper(word)
				}
				n := len(t.nodes) - 1
				t.nodes[n] = append(t.nodes[n], []string{name})
			}
			words = words[1:]
		}
		return nil
	}
	root := tree()
	if root == nil {
		return g, false
	}
	var line []secondNode
	for t := root; t != nil; {
		line = append(line, t.nodes...)
		i := slices.IndexFunc(t.branches, func(b *secondTree) bool { return !b.empty() })
		if i < 0 {
			break
		}
		t = t.branches[i]
	}
	return secondLine(line)
}

func secondLine(line []secondNode) (g secondGame, ok bool) {
	first := map[string]string{}
	for _, n := range line {
		for _, p := range n {
			if _, known := first[p[0]]; !known && len(p) > 1 {
				first[p[0]] = p[1]
			}
		}
	}
	g.w, g.h, g.stones = 19, 19, map[rules.Point]rules.Color{}
	if sz, given := first["SZ"]; given {
		cols, rows, two := strings.Cut(strings.TrimSpace(sz), ":")
		if !two {
			rows = cols
		}
		var errs [2]error
		g.w, errs[0] = strconv.Atoi(cols)
		g.h, errs[1] = strconv.Atoi(rows)
		if errs[0] != nil || errs[1] != nil {
			return g, false
		}
	}
	g.black = first["PB"]
	beyond := string([]byte{'a' + byte(g.w), 'a' + byte(g.h)}) // a pass of some programs
	point := func(s string) (p rules.Point, ok bool) {
		if m := secondPlayers.FindStringSubmatch(strings.ToLower(s)); m != nil {
			x := strings.Index("abcdefghjklmnopqrstuvwxyz", m[1])
			y, _ := strconv.Atoi(m[2])
			return rules.Point{X: int8(x), Y: int8(y - 1)}, x >= 0 && x < g.w && y >= 1 && y <= g.h
		}
		letters := "abcdefghijklmnopqrstuvwxyz"
		if len(s) != 2 || !strings.Contains(letters, s[:1]) || !strings.Contains(letters, s[1:]) {
			return p, false
		}
		return rules.Point{X: int8(strings.Index(letters, s[:1])), Y: int8(g.h - 1 - strings.Index(letters, s[1:]))}, true
	}
	colors := map[string]rules.Color{"AB": rules.Black, "AW": rules.White, "AE": rules.None}
	for _, n := range line {
		for _, p := range n {
			c, setup := colors[p[0]]
			if !setup {
				continue
			}
			if len(g.turns) > 0 {
				g.stopped, g.setup = true, true
				return g, true
			}
			for _, v := range p[1:] {
				from, to, two := strings.Cut(strings.TrimSpace(v), ":")
				if !two {
					to = from
				}
				a, ok := point(from)
				b, ok2 := point(to)
				if !ok || !ok2 {
					return g, false
				}
				for y := min(a.Y, b.Y); y <= max(a.Y, b.Y); y++ {
					for x := min(a.X, b.X); x <= max(a.X, b.X); x++ {
						if g.stones[rules.Point{X: x, Y: y}] = c; c == rules.None {
							delete(g.stones, rules.Point{X: x, Y: y})
						}
					}
				}
			}
		}
		before := len(g.turns)
		for _, p := range n {
			if p[0] != "B" && p[0] != "W" {
				continue
			}
			for _, v := range p[1:] {
				turn := p[0] + " pass"
				if v = strings.TrimSpace(v); v != "" && strings.ToLower(v) != "pass" && (v != "tt" || g.w > 19 || g.h > 19) && v != beyond {
					at, ok := point(v)
					if !ok {
						g.stopped = true
						return g, true
					}
					turn = fmt.Sprintf("%s %v", p[0], at)
				}
				g.turns = append(g.turns, turn)
				g.doubled = g.doubled || len(g.turns) == before+2
			}
		}
	}
	return g, true
}

// said returns the text of a repair, also of one that stands for many.
func said(r Repair) string {
	if r.What.Text == andOthers {
		return r.What.Args[0].(rules.Saying).Text
	}
	return r.What.Text
}

// guessedAt reports whether a record says that Read has guessed where it begins or goes on, or
// what its properties are. The second reader does not guess.
func guessedAt(rec *Record) bool {
	return slices.ContainsFunc(rec.Repairs, func(r Repair) bool {
		return slices.Contains([]string{noNode, textBefore, passedNames}, said(r))
	})
}

// against compares what Read makes of a text with what the second reader does. It reports
// whether both have read it.
func against(t *testing.T, text string) bool {
	t.Helper()
	g, ok := second(text)
	if !ok {
		return false
	}
	rec, err := Read(strings.NewReader(text))
	if err != nil {
		return false // refused, with a reason
	}
	if guessedAt(rec) {
		return false
	}
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s\nof %.2000q, repaired: %v", fmt.Sprintf(format, args...), text, rec.Repairs)
	}
	if rec.Setup.W != g.w || rec.Setup.H != g.h {
		bad("%d×%d, and the second reader has %d×%d", rec.Setup.W, rec.Setup.H, g.w, g.h)
		return true
	}
	if slices.ContainsFunc(rec.Repairs, func(r Repair) bool { return strings.Contains(said(r), "stones are set up: ") }) {
		return true // where the second reader stops
	}
	var turns []string
	for _, turn := range rec.Turns {
		at := "pass"
		if turn.Kind == rules.Place {
			at = turn.At.String()
		}
		turns = append(turns, turn.By.Letter()+" "+at)
	}
	if g.stopped && rec.before > len(g.turns) {
		return true // a setup that changes nothing, among handicap stones, where the second reader stops
	}
	for _, turn := range g.turns[:min(rec.before, len(g.turns))] { // handicap stones that are played
		at, err := rules.ParsePoint(turn[2:], g.w, g.h)
		if err != nil || turn[0] != 'B' {
			bad("%s is no handicap stone", turn)
			return true
		}
		g.stones[at] = rules.Black
	}
	want := g.turns[min(rec.before, len(g.turns)):]
	whole := len(rec.Repairs) == 0 && rec.Stopped == nil
	if whole && g.doubled {
		bad("two turns in a node are not said")
	}
	if whole && g.stopped && !g.setup {
		bad("all of it is read, and the second reader stops after %q", want)
	}
	if whole && !g.setup && !slices.Equal(turns, want) || !slices.Equal(turns[:min(len(turns), len(want))], want[:min(len(turns), len(want))]) {
		bad("read as %q, and by the second reader as %q", turns, want)
	}
	for _, of := range []struct {
		c  rules.Color
		ps []rules.Point
	}{{rules.Black, rec.Setup.Black}, {rules.White, rec.Setup.White}} {
		if slices.ContainsFunc(rec.Repairs, func(r Repair) bool {
			return strings.Contains(said(r), "in two ways at once") || strings.Contains(said(r), "it is passed over")
		}) {
			break
		}
		n := 0
		for _, c := range g.stones {
			if c == of.c {
				n++
			}
		}
		for _, p := range of.ps {
			if g.stones[p] != of.c {
				bad("a stone on %v", p)
			}
		}
		if n != len(of.ps) {
			bad("%d stones of %v are set up, and the second reader has %d", len(of.ps), of.c, n)
		}
	}
	if plain := regexp.MustCompile(`^[A-Za-z]{1,100}$`); plain.MatchString(g.black) && rec.Info.Black != g.black {
		bad("Black is %q, and for the second reader %q", rec.Info.Black, g.black)
	}
	return true
}

// damage makes one change of a text: it takes something away, says it twice, or puts a piece
// in, often after a value.
func damage(rnd *rand.Rand, text string, pieces []string) string {
	at := rnd.IntN(len(text) + 1)
	switch rest := len(text) - at; rnd.IntN(4) {
	case 0:
		return text[:at] + text[at+min(rest, 1+rnd.IntN(8)):]
	case 1:
		n := min(rest, 1+rnd.IntN(30))
		return text[:at+n] + text[at:]
	}
	if i := strings.IndexByte(text[at:], ']'); i >= 0 && rnd.IntN(2) == 0 {
		at += i + 1
	}
	return text[:at] + pieces[rnd.IntN(len(pieces))] + text[at:]
}

// Two readers that share nothing make the same game of records, also of records that were
// damaged, or the first says what it has repaired.
func TestSecondReader(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.sgf")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("testdata/*.sgf")
	var texts []string
	for _, file := range append(files, more...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains([]string{"utf16.sgf", "gib.sgf", "hz.sgf"}, filepath.Base(file)) || guessedAt(read(t, string(data))) {
			continue // which the second reader does not know
		}
		texts = append(texts, string(data))
		if !against(t, string(data)) {
			t.Errorf("%s is not read by both", file)
		}
	}
	pieces := []string{"()", "(;)", "(", ")", ";", "[", "]", `\`, "B[aa]", ";W[bb]", ";B[]", "w[tt]", "AB[cc]", "AW[dd:ee]", "AE[cc]", "sz[9]", "SZ[19]",
		"(;B[dd])", "(;W[ff];B[gg])", "PL[W]", "HA[2]", "KM[0]", "PB[Ada]", "C[a \\] b]", "Black[hh]", " ", "x", "\n"}
	rnd := rand.New(rand.NewPCG(1, 2))
	both, all := 0, tier.Pick(2_000, 10_000, 2_000_000)
	for range all {
		text := texts[rnd.IntN(len(texts))]
		for range 1 + rnd.IntN(4) {
			text = damage(rnd, text, pieces)
		}
		if utf8.ValidString(text) && against(t, text) { // what damage does to other encodings is not for the second reader
			both++
		}
		if t.Failed() {
			return
		}
	}
	if both < all/4 {
		t.Errorf("both have read only %d of %d damaged records", both, all)
	}
	t.Logf("%d of %d damaged records were read by both", both, all)
}
