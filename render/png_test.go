package render

import (
	"bytes"
	adler "hash/adler32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// goldenCases are the pictures of testdata: every state, the end under every
// ruleset, every look and size.
func goldenCases(t testing.TB) []pictured {
	var out []pictured
	for _, c := range stateCases(t) {
		c.o.Size = "small"
		out = append(out, c)
	}
	last := map[string]pictured{}
	for _, c := range rulesetCases(t) {
		_, id, _ := strings.Cut(c.name, " ")
		c.name, c.o.Size = "ruleset "+id, "small"
		last[id] = c
	}
	for _, r := range rules.Catalogue {
		out = append(out, last[r.Name])
	}
	for _, c := range lookCases(t) {
		if strings.HasPrefix(c.name, "settling") || strings.HasPrefix(c.name, "coordinates") {
			c.o.Size = "small"
			out = append(out, c)
		}
	}
	for _, c := range nameCases(t) {
		c.o.Size = "small"
		out = append(out, c)
	}
	for _, size := range []string{"medium", "large"} {
		c := stateCases(t)[4]
		c.name, c.o = "size "+size, Options{Size: size}
		out = append(out, c)
	}
	return append(out, cardCases(t)...)
}

// The pictures of testdata are compared pixel by pixel; -update writes them.
func TestGolden(t *testing.T) {
	files := map[string]bool{"texts.txt": true}
	for i, c := range goldenCases(t) {
		name := strings.ReplaceAll(c.name, " ", "-")
		if strings.HasPrefix(name, "names") {
			name = "names-" + strconv.Itoa(i) // which a file system may not like
		}
		file := filepath.Join("testdata", name+".png")
		if files[name+".png"] {
			t.Fatalf("two pictures are called %s", name)
		}
		files[name+".png"] = true
		if race && i%20 > 0 {
			continue
		}
		got, err := imageOf(c.scene, c.o)
		if err != nil {
			t.Fatal(name, err)
		}
		golden(t, file, name, got)
	}
	all, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if !f.IsDir() && !files[f.Name()] {
			if *update {
				if err := os.Remove(filepath.Join("testdata", f.Name())); err != nil {
					t.Fatal(err)
				}
				continue
			}
			t.Errorf("testdata/%s belongs to no picture", f.Name())
		}
	}
}

// golden compares a picture with a file of testdata, or with -update writes the file.
func golden(t *testing.T, file, name string, got image.Image) {
	t.Helper()
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
	// Edges of letters come from floats, which processors round otherwise; on
	// arm64 up to three pixels of a picture take the neighbouring colour.
	if far, diff := compare(decoded(t, data), got); far > 8 {
		t.Errorf("%s: %d pixels differ; see %s", name, far, saved(t, name, diff))
	}
}

// compare counts the pixels that differ by more than two shades, and paints them
// red on a faint copy of what was wanted.
func compare(want, got image.Image) (far int, diff image.Image) {
	if want.Bounds() != got.Bounds() {
		return want.Bounds().Dx() * want.Bounds().Dy(), got
	}
	if a, ok := want.(*image.Paletted); ok {
		b, ok := got.(*image.Paletted)
		if ok && bytes.Equal(a.Pix, b.Pix) && slices.Equal(a.Palette, b.Palette) {
			return 0, got
		}
	}
	out := image.NewRGBA(want.Bounds())
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			a, b := rgbAt(want, x, y), rgbAt(got, x, y)
			c := a.over(rgb{255, 255, 255}, 0.3)
			if !near(a, b, 2) {
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

// A card has the size that previews ask for, whatever else is asked for.
func TestCardSize(t *testing.T) {
	s := Scene{Board: []string{".X", "O."}}
	for _, size := range Sizes() {
		o := Options{Layout: "card", Size: size}
		w, h, err := o.Bounds()
		if err != nil || w != 1200 || h != 630 {
			t.Errorf("%s: %d×%d, %v", size, w, h, err)
		}
		if got := decoded(t, drawn(t, s, o)).Bounds(); got != image.Rect(0, 0, 1200, 630) {
			t.Errorf("%s: %v", size, got)
		}
	}
}

// The content of a point can be told from the colour of its middle and of a place
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
			if race && size != "small" {
				continue
			}
			img := decoded(t, drawn(t, s, o))
			w, h, err := o.Bounds()
			if err != nil || img.Bounds() != image.Rect(0, 0, w, h) {
				t.Fatalf("%v: %v, %d×%d, %v", o, img.Bounds(), w, h, err)
			}
			if p, ok := img.(*image.Paletted); !ok || len(p.Palette) > 256 {
				t.Fatalf("%v: not a table of colours", o)
			}
			memory, err := imageOf(s, o)
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := compare(img, memory); n > 0 {
				t.Errorf("%v: the picture in memory differs in %d pixels", o, n)
			}
			kt, _, err := spritesOf(&s, o)
			if err != nil {
				t.Fatal(err)
			}
			th := kt.theme
			g := kt.grid(&s, "letters")
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
			is("Black's tile", rgbAt(img, g.u(690), g.u(105)), th.blackTile, 0)
			is("White's tile", rgbAt(img, g.u(830), g.u(105)), th.whiteTile, 0)
			is("the frame of White", rgbAt(img, g.u(880), g.u(15)), th.due, 0)
			is("the footer", rgbAt(img, g.u(940), g.u(640)), th.footer, 0)
			px, _ := g.at(rules.Point{X: 1})
			is("the pill", rgbAt(img, px-g.u(11), g.y+g.cell/2+g.u(labelBand)/2), th.pill, 4)
		}
	}
}

// Every size of board can be drawn, and its points lie inside the square.
func TestEverySize(t *testing.T) {
	for w := 1; w <= rules.MaxLines; w++ {
		for h := 1; h <= rules.MaxLines; h++ {
			if (race || tier.Pick(true, false, false)) && (w*h)%41 != 1 {
				continue
			}
			s := Of(random(t, "area-2", w, h, 12, 1), Names{})
			if _, err := imageOf(s, Options{Size: "small"}); err != nil {
				t.Fatal(err)
			}
			for _, size := range Sizes() {
				kt, _, err := spritesOf(&s, Options{Size: size})
				if err != nil {
					t.Fatal(err)
				}
				g := kt.grid(&s, "letters")
				x0, y0 := g.at(rules.Point{})
				x1, y1 := g.at(rules.Point{X: int8(w - 1), Y: int8(h - 1)})
				band := g.cell/2 + g.u(labelBand) - 1
				if x0-band < 0 || y1-band < 0 || x1+band > g.u(660) || y0+band > g.u(660) || g.cell < 14 {
					t.Errorf("%d×%d %s: from %d,%d to %d,%d, cell %d", w, h, size, x0, y0, x1, y1, g.cell)
				}
			}
		}
	}
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
		for y := range 660 {
			for _, x := range []int{668, 671, 952, 955, 959} {
				if got := rgbAt(img, x, y); got != darkPanel.panel {
					t.Fatalf("scene %d: %d,%d is %v; see %s", i, x, y, got, saved(t, "panel", img))
				}
			}
		}
		for x := 675; x < 947; x++ {
			for _, y := range []int{5, 10, 650} {
				if got := rgbAt(img, x, y); got != darkPanel.panel {
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
	for _, o := range []Options{{Theme: "plaid"}, {Size: "huge"}, {Layout: "round"}} {
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
	for l, th := range looks {
		p := newPalette(th)
		if p.n > maxColors || th.few != nil && p.n > 16 {
			t.Errorf("%v: %d colours", l, p.n)
		}
		for _, c := range []rgb{th.panel, th.text, th.mark, th.markOnBlack, th.due, th.footer, th.blackTile, th.whiteTile, th.gain, th.loss, th.pill, th.label, th.line, th.banner} {
			if got := p.colors[p.index(c.r, c.g, c.b)]; !near(got, c, 1) {
				t.Errorf("%v: %v is drawn as %v", l, c, got)
			}
		}
	}
}

// The table of a palette gives what looking at every colour gives.
func TestNearest(t *testing.T) {
	p := newPalette(looks[look{"wood", "dark"}])
	for i := 0; i < len(p.nearest); i += 7 {
		c := rgb{uint8(i>>12<<2 | 2), uint8(i>>6<<2 | 2), uint8(i<<2 | 2)}
		got := p.colors[p.nearest[i]]
		want, d := closest(p.colors[:p.n], c)
		if _, g := closest([]rgb{got}, c); g != d && p.exact[got] != p.nearest[i] {
			t.Fatalf("%v is drawn as %v, want %v", c, got, p.colors[want])
		}
	}
}

func TestAdler32(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 8, 9, 100, 5551, 5552, 5553, 70000} {
		for _, fill := range []byte{0, 255, 1} {
			p := make([]byte, n)
			for i := range p {
				p[i] = fill
				if fill == 1 {
					p[i] = byte(rnd.Uint32())
				}
			}
			if got, want := adler32(p), adler.Checksum(p); got != want {
				t.Errorf("%d bytes: %08x, want %08x", n, got, want)
			}
		}
	}
}

// imageOf returns the picture of a scene in memory.
func imageOf(s Scene, o Options) (*image.Paletted, error) {
	p, err := bufferOf(&s, o)
	if err != nil {
		return nil, err
	}
	defer buffers[p.sprites.sizeKey].Put(p)
	img := image.NewPaletted(p.canvas.bounds(), p.sprites.palette.model())
	for y := range p.canvas.h {
		copy(img.Pix[y*img.Stride:], p.canvas.span(y, 0, p.canvas.w))
	}
	return img, nil
}

// model returns the colours as package image has them.
func (p *palette) model() color.Palette {
	out := make(color.Palette, p.n)
	for i, c := range p.colors[:p.n] {
		out[i] = color.RGBA{c.r, c.g, c.b, 255}
	}
	return out
}
