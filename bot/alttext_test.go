package bot

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// playAround returns a game of so many turns in which anything is done, passing
// more often towards its end, and what is left to be accepted is accepted.
func playAround(t *testing.T, r *rules.Ruleset, s rules.Setup, n int, seed uint64) *rules.Game {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	g, err := rules.New(r, s)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; g.Phase() == rules.Playing && i < 4*n; i++ {
		var all []rules.Turn
		for k := rules.Place + 1; k < rules.Resign; k++ {
			if turn := (rules.Turn{Kind: k, By: g.ToPlay()}); g.Allows(turn) && (i > n || rng.IntN(8) == 0) {
				all = append(all, turn)
			}
		}
		board := g.Board()
		for tries := 0; len(all) == 0 && tries < 200; tries++ {
			p := rules.Point{X: int8(rng.IntN(s.W)), Y: int8(rng.IntN(s.H))}
			if turn := (rules.Turn{By: g.ToPlay(), At: p}); board.At(p) == rules.None && g.Allows(turn) {
				all = append(all, turn)
			}
		}
		if len(all) == 0 {
			all = []rules.Turn{{Kind: rules.Resign, By: g.ToPlay()}}
		}
		if g, err = g.Play(all[rng.IntN(len(all))]); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []rules.Color{rules.Black, rules.White} {
		if agreed, err := g.Play(rules.Turn{Kind: rules.AcceptScore, By: c}); err == nil {
			g = agreed
		}
	}
	return g
}

// inverse returns what reads what a template has written: one group for each of
// its arguments.
func inverse(template string) string {
	verb := regexp.MustCompile(`%(\\\[\d\\\])?[sdv]`)
	return verb.ReplaceAllString(regexp.QuoteMeta(template), `(.+?)`)
}

// Whoever hears nothing but the descriptions of its pictures can follow a game
// in every language: what each turn was, how the board stands, who is next, the
// count, and how it ends.
func TestGameReadInEveryLanguage(t *testing.T) {
	for _, l := range text.Languages() {
		w := l.PictureWords()
		move := regexp.MustCompile("^" + inverse(w.Move) + "(?:, " + inverse(w.Takes) + ")?" + regexp.QuoteMeta(w.Stop))
		for i, r := range rules.Catalogue {
			s := rules.Setup{W: 7, H: 5, Komi: r.Komi}
			game := playAround(t, r, s, 30, uint64(i))
			back, err := rules.New(r, s)
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; n <= game.Turns(); n++ {
				g := game.At(n)
				scene := w.Of(g, render.Names{Black: "Aoi", White: "Marten"})
				text := render.Text(scene)
				if n == 0 {
					if !strings.HasPrefix(text, w.Start+w.Stop) {
						t.Fatalf("%s, %s begins: %s", l.Tag, r.Name, text)
					}
				} else {
					read := move.FindStringSubmatch(text)
					if read == nil || read[1] != fmt.Sprint(n) {
						t.Fatalf("%s, %s: no turn %d in %s", l.Tag, r.Name, n, text)
					}
					turn := readTurn(t, l, read[2], back)
					if back, err = back.Play(turn); err != nil {
						t.Fatalf("%s, %s: %q is read as %v: %v", l.Tag, r.Name, read[2], turn, err)
					}
				}
				if board := back.Board(); scene.Dead == nil && !slices.Equal(lettersOf(text, s.H), board.Rows()) {
					t.Fatalf("%s, %s, turn %d: the board is %q in\n%s", l.Tag, r.Name, n, board.Rows(), text)
				}
				wants := []string{}
				if g.Phase() == rules.Playing {
					wants = append(wants, fmt.Sprintf(w.ToPlay, map[rules.Color]string{rules.Black: w.Black, rules.White: w.White}[back.ToPlay()]))
				}
				if s := g.Score(); s != nil && scene.Counted {
					wants = append(wants, fmt.Sprintf("Aoi (%s) %s", w.Black, strings.Replace(s.Black.String(), "-", "−", 1)),
						fmt.Sprintf("Marten (%s) %s", w.White, strings.Replace(s.White.String(), "-", "−", 1)))
				}
				if g.Phase() == rules.Over {
					wants = append(wants, "("+g.Result()+")", w.Over)
				}
				for _, want := range wants {
					if !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
						t.Fatalf("%s, %s, turn %d: no %q in %s", l.Tag, r.Name, n, want, text)
					}
				}
			}
			if g, h := game, back; g.Phase() == rules.Over && h.Phase() == rules.Over && g.Result() != h.Result() {
				t.Errorf("%s, %s ended %s and was read as %s", l.Tag, r.Name, g.Result(), h.Result())
			}
		}
	}
}

// readTurn finds the one turn that the words say.
func readTurn(t *testing.T, l *text.Language, words string, g *rules.Game) rules.Turn {
	t.Helper()
	var found []rules.Turn
	try := func(turn rules.Turn) {
		if strings.EqualFold(l.Say(text.Turn(turn)), words) {
			found = append(found, turn)
		}
	}
	board := g.Board()
	for _, by := range []rules.Color{rules.Black, rules.White} {
		for _, p := range board.Points() {
			try(rules.Turn{By: by, At: p})
		}
		for k := rules.Place + 1; k <= rules.Resign; k++ {
			try(rules.Turn{Kind: k, By: by})
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s: %q may be %v", l.Tag, words, found)
	}
	return found[0]
}

// lettersOf reads the board at the end of a description.
func lettersOf(text string, rows int) []string {
	lines := strings.Split(text, "\n")
	var out []string
	for _, line := range lines[max(len(lines)-rows, 0):] {
		if len(line) > 3 {
			out = append(out, strings.ReplaceAll(line[3:], " ", ""))
		}
	}
	return out
}

// Descriptions are never longer than there is room for, whatever is on the board
// and whoever plays, and the board is never left out up to 19 lines.
func TestDescriptionsFitInEveryLanguage(t *testing.T) {
	names := []render.Names{{}, {Black: strings.Repeat("黒", 100), White: strings.Repeat("👩‍🚀", 100)}, {Black: strings.Repeat("W", 500), White: "שלום"}}
	for _, l := range text.Languages() {
		for i, r := range rules.Catalogue {
			for _, size := range []int{9, 19, 25} {
				game := playAround(t, r, rules.Setup{W: size, H: size, Komi: r.Komi}, size*size/2, uint64(i))
				for _, n := range []int{0, 1, game.Turns() / 2, game.Turns()} {
					text := render.Text(l.PictureWords().Of(game.At(n), names[i%len(names)]))
					if got := len(utf16.Encode([]rune(text))); got > render.MaxText {
						t.Errorf("%s, %s, turn %d: %d characters", l.Tag, r.Name, n, got)
					}
					if size <= 19 && len(lettersOf(text, size)) != size {
						t.Errorf("%s, %s, turn %d: no board in %s", l.Tag, r.Name, n, text)
					}
				}
			}
		}
	}
}
