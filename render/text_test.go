package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

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

// Goldens of a few scenes; -update writes them.
func TestText(t *testing.T) {
	for name, s := range golden(t) {
		file := filepath.Join("testdata", name+".txt")
		got := Text(s) + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Whatever is played, the text fits, and begins with words.
func TestTextFits(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() || race {
		seeds = 1
	}
	for _, r := range rules.Catalogue {
		for seed := range seeds {
			for _, side := range []int{9, 19, 25} {
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
