package render

import (
	"bytes"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// race reports whether the race detector is on, under which tests do less.
const race = tier.Race

// some reports whether a test tries the i-th of many cases: all in the change tier, each
// third every day, and each tenth under the race detector.
func some(i int) bool {
	if race {
		return i%10 == 0
	}
	return i%tier.Pick(3, 1, 1) == 0
}

func ruleset(t testing.TB, id string) *rules.Ruleset {
	t.Helper()
	r, err := rules.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// play replays turns as people write them: points alternate, other words are
// kinds of turns; "agree" is said by both players, "dead:C3,D4" by Black.
func play(t testing.TB, id string, setup rules.Setup, s string) *rules.Game {
	t.Helper()
	g, err := rules.New(ruleset(t, id), setup)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(s) {
		by := g.ToPlay()
		var lines []string
		switch name, list, _ := strings.Cut(word, ":"); {
		case name == "dead" || name == "seki":
			lines = []string{"B " + name + " " + strings.ReplaceAll(list, ",", " ")}
		case name == "agree":
			lines = []string{"B agree", "W agree"}
		case name == "pass" && list != "":
			lines = []string{by.Letter() + " pass " + strings.ReplaceAll(list, ",", " ")}
		case strings.ToLower(word) == word:
			lines = []string{by.Letter() + " " + word}
		default:
			lines = []string{by.Letter() + " place " + strings.TrimSuffix(word, "x")}
		}
		for _, l := range lines {
			turn, err := rules.ParseTurn(l, setup.W, setup.H)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = g.Play(turn); err != nil {
				t.Fatalf("%s: %v", l, err)
			}
		}
	}
	return g
}

// random plays up to n placements that fill no eye of one point.
func random(t testing.TB, id string, w, h, n int, seed uint64) *rules.Game {
	t.Helper()
	r := ruleset(t, id)
	g, err := rules.New(r, rules.Setup{W: w, H: h, Komi: r.Komi / rules.One * rules.One})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range n {
		board, by := g.Board(), g.ToPlay()
		points := board.Points()
		rnd.Shuffle(len(points), func(i, j int) { points[i], points[j] = points[j], points[i] })
		played := false
		for _, p := range points {
			if board.At(p) != rules.None || eye(&board, p, by) {
				continue
			}
			if next, err := g.Play(rules.Turn{By: by, At: p}); err == nil {
				g, played = next, true
				break
			}
		}
		if !played {
			break
		}
	}
	return g
}

func eye(b *rules.Board, p rules.Point, c rules.Color) bool {
	for _, q := range []rules.Point{{X: p.X - 1, Y: p.Y}, {X: p.X + 1, Y: p.Y}, {X: p.X, Y: p.Y - 1}, {X: p.X, Y: p.Y + 1}} {
		if b.Has(q) && b.At(q) != c {
			return false
		}
	}
	return true
}

func drawn(t testing.TB, s Scene, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := PNG(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decoded(t testing.TB, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

const e1 = `A2 A1 B1x F1 E1 F2 E2 F3 E3 F4 E5 F5 E6 F6 E7 F7 D8 E8 D9 E9 J8 G3 J2 G7 D4 H5 C7 H2 B5 H8 C3 J5 E4 `

const g1 = `E5 C7 C6 B6 D7 D8 D6 B8 B5 F7 A6 B7 G7 F8 F6 E3 D2 D3 C3 E2 G3 C2 B2 D1x B3 G2 H2 F3 H3 H1 G8 G4 H4 G5 H5 F4
	G9 G6 H6 D4 C4 F9 B9 C8 D9 E8 B1 C1 A7 A8 A5 C9 J2 F5 E6 E4 J1 G1 E7 D5 C5 `
