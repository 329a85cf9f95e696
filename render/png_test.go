package render

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// golden is the scenes of testdata.
func golden(t testing.TB) map[string]Scene {
	return map[string]Scene{
		"settling": Of(play(t, "aga", k(9, 9, 15), e1+"pass pass dead:J8,J2"), Names{"Go Seigen", "Miyamoto Naoki"}),
		"capture":  Of(random(t, "button", 19, 19, 281, 7), Names{"Aoi", "Marten"}),
	}
}

// The pictures of testdata are compared pixel by pixel; -update writes them.
// Processors may differ in the last bit of a float, so a shade may too.
func TestGolden(t *testing.T) {
	for name, s := range golden(t) {
		file := filepath.Join("testdata", name+".png")
		got := decoded(t, drawn(t, s, Options{Size: "small"}))
		if *update {
			var b bytes.Buffer
			if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, got); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if far, diff := compare(decoded(t, data), got); far > 0 {
			t.Errorf("%s: %d pixels differ; see %s", name, far, saved(t, name, diff))
		}
	}
}

// compare counts the pixels that differ by more than a shade, and paints them
// red on a faint copy of what was wanted.
func compare(want, got image.Image) (far int, diff image.Image) {
	if want.Bounds() != got.Bounds() {
		return want.Bounds().Dx() * want.Bounds().Dy(), got
	}
	out := image.NewRGBA(want.Bounds())
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			a, b := rgbAt(want, x, y), rgbAt(got, x, y)
			c := a.over(rgb{255, 255, 255}, 0.3)
			if !near(a, b, 16) {
				far++
				c = rgb{255, 0, 0}
			}
			out.Set(x, y, c.alpha(1))
		}
	}
	return far, out
}

func saved(t *testing.T, name string, img image.Image) string {
	f, err := os.CreateTemp("", "halfpoint-"+name+"-*.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

func rgbAt(img image.Image, x, y int) rgb {
	c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
	return rgb{c.R, c.G, c.B}
}

func near(a, b rgb, by int) bool {
	d := func(x, y uint8) bool { return max(int(x)-int(y), int(y)-int(x)) <= by }
	return d(a.r, b.r) && d(a.g, b.g) && d(a.b, b.b)
}

// What lies on a point can be told from the colour of its middle and of a place
// beside it.
func TestPixels(t *testing.T) {
	s := Scene{
		Board:     []string{"X..O.", ".....", "OX..."},
		Last:      &rules.Point{X: 1, Y: 0},
		Ghosts:    []Stone{{rules.Point{X: 2, Y: 1}, rules.White}, {rules.Point{X: 3, Y: 1}, rules.Black}},
		Dead:      []Stone{{rules.Point{X: 4, Y: 0}, rules.Black}},
		Territory: []Stone{{rules.Point{X: 4, Y: 0}, rules.White}, {rules.Point{X: 4, Y: 2}, rules.Black}},
		Seki:      []rules.Point{{X: 3, Y: 2}},
		White:     Player{Due: true},
	}
	for _, theme := range Themes() {
		for _, size := range Sizes() {
			o := Options{Theme: theme, Size: size}
			img := decoded(t, drawn(t, s, o))
			w, h, err := o.Bounds()
			if err != nil || img.Bounds() != image.Rect(0, 0, w, h) {
				t.Fatalf("%v: %v, %d×%d, %v", o, img.Bounds(), w, h, err)
			}
			if p, ok := img.(*image.Paletted); !ok || len(p.Palette) > 256 {
				t.Fatalf("%v: not a table of colours", o)
			}
			memory, err := Image(s, o)
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := compare(img, memory); n > 0 {
				t.Errorf("%v: the picture in memory differs in %d pixels", o, n)
			}
			th := themes[theme]
			kt := kitFor(theme, size, 5, 3)
			g := kt.grid(5, 3)
			at := func(x, y int, dx, dy float64) rgb {
				px, py := g.at(rules.Point{X: int8(x), Y: int8(y)})
				return rgbAt(img, px+int(dx*float64(g.cell)), py+int(dy*float64(g.cell)))
			}
			is := func(what string, got, want rgb, by int) {
				t.Helper()
				if !near(got, want, by) {
					t.Errorf("%v: %s is %v, want %v", o, what, got, want)
				}
			}
			is("a black stone", at(0, 2, 0.1, 0.1), th.blackStone, 12)
			is("a white stone", at(0, 0, 0.1, 0.1), th.whiteStone, 24)
			is("a line", at(2, 0, 0.45, 0), th.line, 4)
			is("wood", at(1, 1, 0.45, -0.45), th.grain(float64(4*(g.x+g.cell*29/20))/float64(g.quarter)), 8)
			is("the last move", at(1, 0, 0, 0), th.markOnBlack, 4)
			is("the ring round it", at(1, 0, 0.26, 0), th.onMark, 16)
			is("the cross on a ghost", at(2, 1, 0, 0), th.mark, 4)
			is("the cross on a black ghost", at(3, 1, 0, 0), th.mark, 4)
			if ghost := at(2, 1, 0.3, 0.05); near(ghost, th.whiteStone, 3) && !th.flat || near(ghost, th.line, 30) {
				t.Errorf("%v: a ghost is %v", o, ghost)
			}
			is("white territory on a dead stone", at(4, 0, 0, 0), th.whiteStone, 8)
			is("black territory", at(4, 2, 0, 0), th.blackStone, 8)
			is("seki", at(3, 2, 0.24, 0), th.blackStone, 24)
			is("the panel", rgbAt(img, g.u(955), g.u(300)), th.panel, 0)
			is("Black's tile", rgbAt(img, g.u(690), g.u(112)), th.blackTile, 0)
			is("White's tile", rgbAt(img, g.u(830), g.u(110)), th.whiteTile, 0)
			is("the frame of White", rgbAt(img, g.u(880), g.u(17)), th.due, 0)
			is("the footer", rgbAt(img, g.u(940), g.u(640)), th.footer, 0)
			px, _ := g.at(rules.Point{X: 1})
			is("the pill", rgbAt(img, px-g.u(10), g.y+g.cell/2+g.u(labelBand)/2), th.mark, 4)
		}
	}
}

// Every size of board can be drawn, and its points lie inside the square.
func TestEverySize(t *testing.T) {
	for w := 1; w <= rules.MaxLines; w++ {
		for h := 1; h <= rules.MaxLines; h++ {
			if (testing.Short() || race) && (w*h)%7 != 1 {
				continue
			}
			s := Of(random(t, "area-2", w, h, 12, 1), Names{})
			if _, err := Image(s, Options{Size: "small"}); err != nil {
				t.Fatal(err)
			}
			for _, size := range Sizes() {
				kt := kitFor("wood", size, w, h)
				g := kt.grid(w, h)
				x0, y0 := g.at(rules.Point{})
				x1, y1 := g.at(rules.Point{X: int8(w - 1), Y: int8(h - 1)})
				band := g.cell/2 + g.u(labelBand) - 1
				if x0-band < 0 || y1-band < 0 || x1+band > g.u(boardSide) || y0+band > g.u(boardSide) || g.cell < 14 {
					t.Errorf("%d×%d %s: from %d,%d to %d,%d, cell %d", w, h, size, x0, y0, x1, y1, g.cell)
				}
			}
		}
	}
}

// Goroutines that draw different scenes do not disturb one another.
func TestConcurrent(t *testing.T) {
	var scenes []Scene
	for i, id := range []string{"aga", "half-pass", "ultimate", "button"} {
		scenes = append(scenes, Of(random(t, id, 5+3*i, 13, 60, uint64(i)), hostile[i]))
	}
	var want [][]byte
	for _, s := range scenes {
		want = append(want, drawn(t, s, Options{}))
	}
	rounds := 3
	if race {
		rounds = 1
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range rounds {
				for i, s := range scenes {
					var b bytes.Buffer
					if err := PNG(&b, s, Options{}); err != nil || !bytes.Equal(b.Bytes(), want[i]) {
						t.Errorf("scene %d: other bytes, %v", i, err)
					}
				}
			}
		})
	}
	wait.Wait()
}

// Nothing that people can type leaves its place: beside and between the parts
// of the panel there is nothing but panel.
func TestPanelKeepsItsMargins(t *testing.T) {
	scenes := []Scene{}
	for i, n := range hostile {
		g := random(t, rules.Catalogue[2*i].Name, 9, 9, 40, uint64(i))
		scenes = append(scenes, Of(g, n))
	}
	setup := k(25, 25, rules.MaxKomi-1)
	scenes = append(scenes, Of(play(t, "two-button", setup, "A1 B1 pass"), hostile[1]))
	setup.Komi = -rules.MaxKomi + 1
	scenes = append(scenes, Of(play(t, "button", setup, "A1"), hostile[1]))
	long := scenes[0]
	for range 40 {
		long.Notes = append(long.Notes, "a sentence that is so long that it takes several lines, and anotherwordthatistoolongforanyline")
		long.Rows = append(long.Rows, Row{Label: "a label that is too long", Black: Cell{Value: 12345, Delta: -99}, White: Cell{Value: -2001, Delta: 999}})
	}
	long.Rows = long.Rows[len(long.Rows)-9:]
	long.Headline, long.Turn, long.Ruleset = long.Notes[len(long.Notes)-1], "a turn with a long name indeed", "a ruleset with a very long name indeed"
	scenes = append(scenes, long, long.Ended("W+12.5", "because"))
	for i, s := range scenes {
		img := decoded(t, drawn(t, s, Options{}))
		for y := range high {
			for _, x := range []int{668, 671, 952, 955, 959} {
				if got := rgbAt(img, x, y); got != wood.panel {
					t.Fatalf("scene %d: %d,%d is %v; see %s", i, x, y, got, saved(t, "panel", img))
				}
			}
		}
		for x := panelLeft; x < panelRight; x++ {
			for _, y := range []int{5, 10, 122, 576, 650} {
				if got := rgbAt(img, x, y); got != wood.panel {
					t.Fatalf("scene %d: %d,%d is %v; see %s", i, x, y, got, saved(t, "panel", img))
				}
			}
		}
	}
}

func TestScenesThatCannotBe(t *testing.T) {
	for _, s := range []Scene{{}, {Board: []string{""}}, {Board: []string{"X", "XO"}}, {Board: []string{"?"}}, {Board: make([]string, 26)},
		{Board: []string{"."}, By: 3}, {Board: []string{"."}, Dead: []Stone{{Color: 7}}}} {
		if err := PNG(&bytes.Buffer{}, s, Options{}); err == nil {
			t.Errorf("%q was drawn", s.Board)
		}
	}
	for _, o := range []Options{{Theme: "plaid"}, {Size: "huge"}} {
		if err := PNG(&bytes.Buffer{}, Scene{Board: []string{"."}}, o); err == nil {
			t.Errorf("%v was drawn", o)
		}
	}
	// Points off the board and stones without a colour are left out.
	s := Scene{Board: []string{"."}, Turn: "x", Last: &rules.Point{X: 30, Y: -1},
		Ghosts: []Stone{{rules.Point{X: 9}, rules.Black}, {}}, Territory: []Stone{{}}, Seki: []rules.Point{{}, {X: -1}}}
	drawn(t, s, Options{})
	Text(s)
}

// The colours of areas and of text are exactly those of the theme.
func TestPalette(t *testing.T) {
	for name, th := range themes {
		p := kitFor(name, "medium", 19, 19).palette
		for _, c := range []rgb{th.panel, th.text, th.mark, th.markOnBlack, th.due, th.footer, th.blackTile, th.whiteTile, th.gain, th.loss} {
			if got := p.colors[p.index(c.r, c.g, c.b)]; !near(got, c, 1) {
				t.Errorf("%s: %v is drawn as %v", name, c, got)
			}
		}
		if p.n > 256 {
			t.Errorf("%s: %d colours", name, p.n)
		}
	}
}
