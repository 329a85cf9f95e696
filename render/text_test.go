package render

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// full plays at random until nobody can go on, so that the board is as full as
// it gets.
func full(t testing.TB, id string, w, h int, seed uint64) *rules.Game {
	return random(t, id, w, h, w*h+w*h/4, seed)
}

var hostile = []Names{
	{},
	{strings.Repeat("W", 500), strings.Repeat("🌸", 500)},
	{"\u202egnp.exe\u202c\x00\x1b[2J\r\n", "e" + strings.Repeat("\u0301", 300)},
	{"שלום עולם", "مرحبا"},
	{"X Black, O White\n   A B C", "碁打ち"},
	{"\xff\xfe\xfd", strings.Repeat("a ", 300)},
	{"%s %d %!v", "\u200b\u2060\ufeff"},
}

// The texts of every state; -update writes them.
func TestText(t *testing.T) {
	var b strings.Builder
	for _, c := range stateCases(t) {
		b.WriteString("== " + c.name + "\n" + Text(c.scene) + "\n\n")
	}
	file := filepath.Join("testdata", "texts.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A name keeps its small letters, also at the start of a sentence.
func TestTextOfNames(t *testing.T) {
	g := play(t, "aga", k(5, 5, 0), "C3")
	if got, want := Text(Of(g, Names{Black: "openfoxwq", White: "iPhone"})), "White to play. openfoxwq (Black), iPhone (White).\n"; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The texts alone suffice to follow the game: its turns, the
// board, the ledger and who is next.
func TestGameReadFromTexts(t *testing.T) {
	for _, x := range []struct {
		id    string
		setup rules.Setup
		turns string
	}{
		{"two-button", k(9, 9, 13), e1 + "pass pass dead:J8,J2 agree"},
		{"button", k(9, 9, 14), e1 + "button pass C5 pass pass"},
		{"half-pass", k(9, 9, 13), g1 + "pass pass pass"},
		{"ultimate", k(9, 9, 8), e1 + "delay C5 delay B4"},
		{"tromp-taylor", k(13, 5, -3), "A1 B1 C1 B2 A3 A2 C2 B3 D4 pass pass"},
		{"two-button-separate", k(9, 9, 13), "E5 C3 button pass pass button"},
	} {
		game := play(t, x.id, x.setup, x.turns)
		back, err := rules.New(game.Rules(), x.setup)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n <= game.Turns(); n++ {
			g := game.At(n)
			s := Of(g, Names{"Aoi", "Marten"})
			text := Text(s)
			readBack(t, s, text)
			if n == 0 {
				if !strings.HasPrefix(text, "New game. Black to play.") {
					t.Fatal(text)
				}
				continue
			}
			if back, err = back.Play(heard(t, text, n, x.setup)); err != nil {
				t.Fatalf("%s, move %d: %v, heard %s", x.id, n, err, text)
			}
			if back.Proof() != g.Proof() {
				t.Fatalf("%s, move %d: another game; heard %s", x.id, n, text)
			}
			// what the ledger says is what the game holds
			for _, thing := range []rules.Thing{rules.Prisoner, rules.PassStone, rules.UltimateStone} {
				m := regexp.MustCompile(English.Things[thing] + `: Black (\d+)(?: \(.*?\))?, White (\d+)`).FindStringSubmatch(text)
				if m == nil {
					if g.Holds(rules.Black, thing)+g.Holds(rules.White, thing) > 0 {
						t.Fatalf("%s, move %d: nothing of the %v: %s", x.id, n, thing, text)
					}
					continue
				}
				if m[1] != strconv.Itoa(g.Holds(rules.Black, thing)) || m[2] != strconv.Itoa(g.Holds(rules.White, thing)) {
					t.Fatalf("%s, move %d: %v %v: %s", x.id, n, thing, m[1:], text)
				}
			}
			if score := g.Score(); score != nil && s.Counted && !strings.Contains(text, "Aoi (Black) "+score.Black.String()+", Marten (White) "+score.White.String()) {
				t.Fatalf("%s, move %d: no totals: %s", x.id, n, text)
			}
			if g.Phase() == rules.Playing && !strings.Contains(text, ". "+g.ToPlay().String()+" to play.") {
				t.Fatalf("%s, move %d: who is next? %s", x.id, n, text)
			}
		}
		if r := game.Result(); r != "" && !strings.Contains(Text(Of(game, Names{})), "("+r+")") {
			t.Errorf("%s: the result is not told: %s", x.id, Text(Of(game, Names{})))
		}
	}
}

// heard reads the turn from a text: "Move 3: Black B1, takes 1."
func heard(t *testing.T, text string, n int, setup rules.Setup) rules.Turn {
	t.Helper()
	m := regexp.MustCompile(`^Move (\d+): (Black|White) ([^.]*?)(, takes \d+)?\. `).FindStringSubmatch(text)
	if m == nil || m[1] != strconv.Itoa(n) {
		t.Fatalf("move %d: no turn in %q", n, text)
	}
	turn := rules.Turn{By: rules.Black}
	if m[2] == "White" {
		turn.By = rules.White
	}
	if p, err := rules.ParsePoint(m[3], setup.W, setup.H); err == nil {
		turn.At = p
		return turn
	}
	for kind := rules.Pass; kind <= rules.Resign; kind++ {
		turn.Kind = kind
		if turn.Words() == m[2]+" "+m[3] {
			return turn
		}
	}
	t.Fatalf("move %d: what is %q?", n, m[3])
	return turn
}

// Whatever is played, the text fits, and begins with words.
func TestTextFits(t *testing.T) {
	for _, r := range rules.Catalogue {
		for seed := range tier.Pick[uint64](1, 3, 20) {
			for _, side := range []int{9, 19, 25} {
				if race && side > 9 {
					continue
				}
				if side == 25 && seed > 0 {
					continue
				}
				g := full(t, r.Name, side, side, seed)
				s := Of(g, hostile[(int(seed)+len(r.Name))%len(hostile)])
				text := Text(s)
				if n := utf8.RuneCountInString(text); n > MaxText || n != len([]rune(text)) || !utf8.ValidString(text) {
					t.Fatalf("%s, seed %d, %d×%d: %d characters", r.Name, seed, side, side, n)
				}
				if len(text) > 3*MaxText {
					t.Errorf("%d bytes", len(text))
				}
				if !strings.HasPrefix(text, "Move ") {
					t.Errorf("%s: begins with %q", r.Name, text[:20])
				}
				if side <= 19 {
					readBack(t, s, text)
				}
			}
		}
	}
}

// readBack reads the board from the letters, dead stones lifted.
func readBack(t *testing.T, s Scene, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	h := len(s.Board)
	if len(lines) != h+3 {
		t.Fatalf("%d lines for %d rows:\n%s", len(lines), h, text)
	}
	for i, line := range lines[3:] {
		row := strings.NewReplacer(" ", "", "x", ".", "o", ".").Replace(line[3:])
		if row != s.Board[i] {
			t.Fatalf("row %d is %q, want %q", h-i, row, s.Board[i])
		}
	}
}

func TestTextOfHostileScenes(t *testing.T) {
	g := full(t, "two-button", 19, 19, 3)
	for _, n := range hostile {
		s := Of(g, n)
		text := Text(s)
		words := text[:strings.Index(text, "\n")]
		if strings.ContainsFunc(words, func(r rune) bool { return r < ' ' || r == 0x202e || r == 0x200b }) {
			t.Errorf("%q", words)
		}
		readBack(t, s, text)
		long := strings.Repeat("and so on ", 300)
		s.Told, s.Headline, s.Notes = long, long, []string{long, "short", long}
		s = s.Ended("W+R", long)
		if got := Text(s); length(got) > MaxText {
			t.Errorf("%d characters", length(got))
		}
	}
	if got := Text(Scene{}); length(got) > MaxText {
		t.Errorf("%q", got)
	}
}

// With every board size the letters of the columns and the rows fit together.
func TestTextOfEverySize(t *testing.T) {
	for w := 1; w <= rules.MaxLines; w++ {
		for h := 1; h <= rules.MaxLines; h++ {
			b, err := rules.NewBoard(w, h)
			if err != nil {
				t.Fatal(err)
			}
			s := Scene{Board: b.Rows(), Told: "Nothing"}
			readBack(t, s, Text(s))
		}
	}
}

func TestCut(t *testing.T) {
	for _, x := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"🌸🌸", 4, "🌸🌸"}, {"🌸🌸", 3, "🌸…"}, {"a🌸🌸", 3, "a…"}, {"", 0, ""}, {"a", 0, "…"}} {
		if got := cut(x.s, x.n); got != x.want {
			t.Errorf("cut(%q, %d) = %q, want %q", x.s, x.n, got, x.want)
		}
	}
}
