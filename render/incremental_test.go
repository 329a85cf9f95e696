package render

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// games are whole games, each under other rules and on another board, with
// what they are drawn with.
func games(t testing.TB) map[string][]pictured {
	n := Names{"Aoi", "井山裕太"}
	out := map[string][]pictured{}
	for _, x := range []struct {
		name string
		g    *rules.Game
		o    Options
	}{
		{"19x19 button", random(t, "button", 19, 19, 281, 7), Options{}},
		{"9x9 two-button to the end", play(t, "two-button", k(9, 9, 13), e1+"pass pass dead:J8,J2 agree"), Options{Theme: "slate"}},
		{"9x9 two-button upright", play(t, "two-button", k(9, 9, 13), e1+"pass pass dead:J8,J2 agree"), Options{Layout: "portrait", Size: "small"}},
		{"9x9 half-pass", play(t, "half-pass-agreement", k(9, 9, 0), g1+"pass:B9,D9 accept"), Options{Theme: "book", Size: "small"}},
		{"13x9 ultimate", random(t, "ultimate", 13, 9, 150, 2), Options{Theme: "contrast", Panel: "light", Size: "small"}},
		{"9x9 Tromp-Taylor", random(t, "tromp-taylor", 9, 9, 140, 4), Options{Coordinates: "kanji", Size: "small"}},
		{"25x25 in small", random(t, "aga", 25, 25, 120, 4), Options{Size: "small"}},
	} {
		last := x.g.Turns()
		if race {
			last = min(last, 8)
		}
		for s := range Scenes(x.g, n, 0, last) {
			out[x.name] = append(out[x.name], pictured{x.name, s, x.o})
		}
		// and every word of the talk about dead stones
		for i, t := range x.g.Log() {
			if t.Kind.IsTurn() {
				continue
			}
			g, err := rules.Replay(x.g.Rules(), x.g.Setup(), x.g.Log()[:i+1])
			if err == nil {
				out[x.name] = append(out[x.name], pictured{x.name, Of(g, n), x.o})
			}
		}
	}
	return out
}

// Every scene has the same bytes, drawn from scratch or after any other scene of
// its series.
func TestSeriesDrawsWhatPNGDraws(t *testing.T) {
	check := func(c *series, p pictured, what string) {
		t.Helper()
		var got bytes.Buffer
		if err := c.png(&got, &p.scene, p.o); err != nil {
			t.Fatal(err)
		}
		if want := drawn(t, p.scene, p.o); !bytes.Equal(got.Bytes(), want) {
			n, diff := compare(decoded(t, want), decoded(t, got.Bytes()))
			t.Fatalf("%s: %d pixels differ; see %s", what, n, saved(t, "canvas", diff))
		}
	}
	for name, moves := range games(t) {
		var c series
		for i, m := range moves {
			check(&c, m, fmt.Sprintf("%s, picture %d", name, i))
		}
		// back, as after an undo, and by leaps
		for i := len(moves) - 1; i >= 0; i -= 37 {
			check(&c, moves[i], fmt.Sprintf("%s, back to picture %d", name, i))
		}
	}
	// One series for everything.
	var c series
	for i, p := range allCases(t) {
		if race && i%25 > 0 {
			continue
		}
		check(&c, p, p.name)
	}
}

// A series survives a scene that cannot be drawn.
func TestSeriesAfterAnError(t *testing.T) {
	scenes := slices.Collect(Scenes(random(t, "aga", 9, 9, 20, 1), Names{}, 18, 20))
	var c series
	var b bytes.Buffer
	for _, s := range scenes {
		if err := c.png(&b, &Scene{}, Options{}); err == nil {
			t.Fatal("an empty scene was drawn")
		}
		b.Reset()
		if err := c.png(&b, &s, Options{}); err != nil || !bytes.Equal(b.Bytes(), drawn(t, s, Options{})) {
			t.Fatalf("other bytes, %v", err)
		}
	}
}

// From one turn to the next only a small part of the picture is painted.
func TestSeriesPaintsLittle(t *testing.T) {
	area, pictures := 0, 0
	var c series
	for s := range Scenes(random(t, "aga", 19, 19, 120, 5), Names{}, 60, 120) {
		if err := c.draw(&s, Options{}); err != nil {
			t.Fatal(err)
		}
		if pictures++; pictures == 1 {
			continue
		}
		for i, part := range c.parts {
			area += part.Dx() * part.Dy()
			for _, other := range c.parts[:i] {
				if part.Overlaps(other) {
					t.Fatalf("%v and %v are painted twice", part, other)
				}
			}
		}
	}
	if most := 960 * 660 / 8; area/(pictures-1) > most {
		t.Errorf("%d pixels a turn, want at most %d", area/(pictures-1), most)
	}
}

// Sixteen goroutines that draw the same games, from scratch and as series, do not
// disturb one another.
func TestConcurrent(t *testing.T) {
	scenes := []pictured{}
	for i, id := range []string{"aga", "half-pass", "ultimate", "button"} {
		o := Options{Theme: Themes()[i]}
		scenes = append(scenes, pictured{id, Of(random(t, id, 5+3*i, 13, 60, uint64(i)), hostile[i]), o})
	}
	var want [][]byte
	for _, s := range scenes {
		want = append(want, drawn(t, s.scene, s.o))
	}
	rounds := 3
	if race {
		rounds = 1
	}
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			for range rounds {
				for i, s := range scenes {
					for _, name := range []string{"", t.Name(), fmt.Sprint(t.Name(), i)} {
						var got bytes.Buffer
						s.scene.Series = name
						if err := PNG(&got, s.scene, s.o); err != nil || !bytes.Equal(got.Bytes(), want[i]) {
							t.Errorf("scene %d, series %q: other bytes, %v", i, name, err)
						}
					}
				}
			}
		})
	}
	wait.Wait()
}

// The pictures of one game share a series; its themes and sizes, and other games,
// have their own.
func TestSeriesOf(t *testing.T) {
	of := func(name string, o Options) *series {
		c, err := seriesOf(&Scene{Board: []string{"."}, Series: name}, o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := of("TestSeriesOf", Options{})
	if of("TestSeriesOf", Options{}) != a {
		t.Error("the second picture of a game begins anew")
	}
	if of("TestSeriesOf", Options{Theme: "slate"}) == a || of("TestSeriesOf", Options{Size: "small"}) == a || of("TestSeriesOf", Options{Layout: "portrait"}) == a || of("another", Options{}) == a {
		t.Error("different pictures share a series")
	}
	for i := range maxSeries {
		of(fmt.Sprint("TestSeriesOf", i), Options{})
	}
	if recent.Len() > maxSeries || of("TestSeriesOf", Options{}) == a {
		t.Errorf("%d series are kept", recent.Len())
	}
}

// A series takes less than four megabytes.
func TestSeriesMemory(t *testing.T) {
	var c series
	s := busy(t)
	for _, o := range []Options{{}, {Theme: "book"}} {
		if err := c.png(&bytes.Buffer{}, &s, o); err != nil {
			t.Fatal(err)
		}
		size := len(c.canvas.pix) + cap(c.packed) + cap(c.tiles) + 48*(cap(c.now.ops)+cap(c.old.ops))
		if size > 4<<20 {
			t.Errorf("%v: %d bytes", o, size)
		}
	}
}

// A picture of a larger board costs no more allocations.
func TestAllocationsDoNotGrow(t *testing.T) {
	if race {
		return // the race detector empties pools
	}
	count := func(side int) float64 {
		s := Of(random(t, "aga", side, side, side*side*3/4, 1), Names{"A", "B"})
		s.Notes, s.Rows = nil, s.Rows[:1]
		s.Ghosts = nil
		return testing.AllocsPerRun(20, func() {
			if err := PNG(discard{}, s, Options{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if small, large := count(5), count(25); large > small+8 {
		t.Errorf("%v allocations for 5×5, %v for 25×25", small, large)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// The room's choices apply unless somebody overrides them.
func TestLook(t *testing.T) {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 5, H: 5})
	if err != nil {
		t.Fatal(err)
	}
	draw := func(look, o Options) string {
		s := Of(g, Names{})
		s.Look = look
		var b bytes.Buffer
		if err := PNG(&b, s, o); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	book := Options{Theme: "book", Coordinates: "kanji", Size: "small", Layout: "portrait"}
	if draw(book, Options{}) != draw(Options{}, book) {
		t.Error("the look of a scene is not that of its picture")
	}
	if draw(book, Options{Theme: "slate", Coordinates: "letters"}) != draw(Options{}, Options{Theme: "slate", Size: "small", Layout: "portrait"}) {
		t.Error("the look of a scene is stronger than what is asked for")
	}
	s := Of(g, Names{})
	s.Look.Theme = "plaid"
	if err := PNG(&bytes.Buffer{}, s, Options{}); err == nil {
		t.Error("there is no such theme")
	}
}
