package render

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/fogleman/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"

	"github.com/halfpoint-go/halfpoint/rules"
)

var naiveFaces = map[style]font.Face{}

func naiveFace(st style) font.Face {
	st.color = rgb{}
	if naiveFaces[st] == nil {
		face, err := opentype.NewFace(fonts[st.weight](), &opentype.FaceOptions{Size: float64(st.size), DPI: 72})
		if err != nil {
			panic(err)
		}
		naiveFaces[st] = face
	}
	return naiveFaces[st]
}

var naiveWooden *image.RGBA

// naiveWood returns a copy of the wood, which was drawn once.
func naiveWood() *image.RGBA {
	if naiveWooden == nil {
		dc := gg.NewContext(960, 660)
		for x := range 660 {
			dc.DrawRectangle(float64(x), 0, 1, 660)
			dc.SetColor(wood.wood[1].over(wood.wood[0], grainDepth(float64(x))).alpha(1))
			dc.Fill()
		}
		naiveWooden = dc.Image().(*image.RGBA)
	}
	m := *naiveWooden
	m.Pix = slices.Clone(m.Pix)
	return &m
}

// naive draws a scene as one would at first, but for fonts and wood, which it
// keeps: everything anew with gg for each picture, in full colour, encoded with
// the defaults of image/png.
func naive(w io.Writer, s Scene) error {
	dc := gg.NewContextForRGBA(naiveWood())
	t := looks[look{"wood", ""}]
	set := func(c rgb) { dc.SetColor(c.alpha(1)) }
	write := func(x, y, anchor float64, text string, st style) {
		dc.SetFontFace(naiveFace(st))
		set(st.color)
		dc.DrawStringAnchored(text, x, y, anchor, 0.37)
	}
	box := func(x, y, w, h, r float64, c rgb) {
		dc.DrawRoundedRectangle(x, y, w, h, r)
		set(c)
		dc.Fill()
	}

	// lines
	bw, bh := s.Size()
	k, _, _ := spritesOf(&s, Options{}) // for the layout
	g := k.grid(&s, "letters")
	at := func(p rules.Point) (float64, float64) {
		x, y := g.at(p)
		return float64(x), float64(y)
	}
	cell := float64(k.cell)
	far := rules.Point{X: int8(bw - 1), Y: int8(bh - 1)}
	left, bottom := at(rules.Point{})
	right, top := at(far)
	set(t.line)
	dc.SetLineWidth(float64(k.line))
	for i := range bw {
		x := left + float64(i)*cell
		dc.DrawLine(x, top, x, bottom)
		dc.Stroke()
	}
	for i := range bh {
		y := bottom - float64(i)*cell
		dc.DrawLine(left, y, right, y)
		dc.Stroke()
	}
	for _, p := range stars(bw, bh) {
		x, y := at(p)
		dc.DrawCircle(x, y, 0.118*cell)
		dc.Fill()
	}
	away := cell/2 + labelBand/2
	label := style{medium, k.labels, t.label}
	for i := range bw {
		x := left + float64(i)*cell
		letter := rules.Point{X: int8(i)}.String()[:1]
		write(x, top-away, 0.5, letter, label)
		write(x, bottom+away, 0.5, letter, label)
	}
	for i := range bh {
		y := bottom - float64(i)*cell
		write(left-away, y, 0.5, strconv.Itoa(i+1), label)
		write(right+away, y, 0.5, strconv.Itoa(i+1), label)
	}

	// stones
	r := radius * cell
	disc := func(x, y, r float64, g gg.Pattern) {
		dc.DrawCircle(x, y, r)
		dc.SetFillStyle(g)
		dc.Fill()
	}
	radial := func(x, y, r float64, stops ...color.Color) gg.Pattern {
		g := gg.NewRadialGradient(x, y, 0, x, y, r)
		for i, c := range stops {
			g.AddColorStop(float64(i)/float64(len(stops)-1), c)
		}
		return g
	}
	var all []rules.Point
	for y := range bh {
		for x := range bw {
			if p := (rules.Point{X: int8(x), Y: int8(y)}); s.at(p) != rules.None {
				all = append(all, p)
			}
		}
	}
	for _, p := range all {
		x, y := at(p)
		x, y = x+0.055*cell, y+0.085*cell
		disc(x, y, 0.588*cell, radial(x, y, 0.588*cell, t.line.alpha(0.46), t.line.alpha(0.46), t.line.alpha(0)))
	}
	stone := func(x, y float64, c rules.Color) {
		if c == rules.Black {
			disc(x, y, r, radial(x-0.34*r, y-0.4*r, r, hex(0x666666).alpha(1), t.blackStone.alpha(1)))
		} else {
			disc(x, y, r, radial(x-0.3*r, y-0.36*r, 1.5*r, t.whiteStone.alpha(1), hex(0xE6E2DA).alpha(1), hex(0xC3BDB2).alpha(1)))
		}
	}
	for _, p := range all {
		x, y := at(p)
		stone(x, y, s.at(p))
	}
	for _, st := range s.Ghosts {
		x, y := at(st.At)
		disc(x, y, r, gg.NewSolidPattern(t.whiteStone.alpha(0.5)))
		dc.SetLineWidth(0.1 * cell)
		set(t.mark)
		dc.DrawLine(x-0.18*cell, y-0.18*cell, x+0.18*cell, y+0.18*cell)
		dc.DrawLine(x-0.18*cell, y+0.18*cell, x+0.18*cell, y-0.18*cell)
		dc.Stroke()
	}
	if s.Last != nil {
		x, y := at(*s.Last)
		disc(x, y, 0.225*cell, gg.NewSolidPattern(t.mark.alpha(1)))
	}

	// panel
	dc.DrawRectangle(660, 0, 300, 660)
	set(t.panel)
	dc.Fill()
	box(675, 15, 132, 104, 10, t.blackTile)
	box(815, 15, 132, 104, 10, t.whiteTile)
	write(741, 36, 0.5, s.Black.Name, style{medium, 24, t.onMark})
	write(881, 36, 0.5, s.White.Name, style{medium, 24, t.blackTile})
	write(741, 83, 0.5, s.Black.Total.String(), style{bold, 53, t.onMark})
	write(881, 83, 0.5, s.White.Total.String(), style{bold, 53, t.blackTile})
	write(811, 143, 0.5, s.Headline, style{bold, 29, t.text})
	write(811, 170, 0.5, s.Caption, style{regular, 20, t.dim})
	y := 200.0
	for _, row := range s.Rows {
		write(730, y, 1, row.Black.Value.String(), style{medium, 29, t.text})
		write(811, y, 0.5, row.Label, style{regular, 24, t.dim})
		write(927, y, 1, row.White.Value.String(), style{medium, 29, t.text})
		for i, c := range []Cell{row.Black, row.White} {
			if c.Delta != 0 {
				write(750+float64(i)*125, y, 0.5, signed(c.Delta), style{medium, 22, t.gain})
			}
		}
		y += 38
	}
	for _, n := range s.Notes {
		write(811, y, 0.5, n, style{regular, 21, t.text})
		y += 24
	}
	box(675, 579, 272, 68, 12, t.footer)
	stone(699, 613, s.By)
	write(726, 600, 0, strconv.Itoa(s.Move)+"  "+s.Turn, style{bold, 29, t.text})
	write(726, 630, 0, s.Next, style{regular, 24, t.dim})
	return png.Encode(w, dc.Image())
}

// busy is the scene of the benchmarks: 19×19, late in a game, the last turn
// takes stones.
func busy(t testing.TB) Scene {
	return Of(random(t, "area-2", 19, 19, 281, 7), Names{"Aoi", "Marten"})
}

// BenchmarkPicture prints a table: the naive picture, and ours beside it. Each
// figure is the median of 41 rounds, in each of which everything is drawn once,
// so that what else the machine does falls on all alike. "game" is a picture
// after each of the last turns of a game, as a series; the naive
// picture is of the last of them.
//
//	go test ./render -run xxx -bench Picture
func BenchmarkPicture(b *testing.B) {
	const rounds = 41
	s := busy(b)
	game := slices.Collect(Scenes(random(b, "area-2", 19, 19, 281, 7), Names{"Aoi", "Marten"}, 281-rounds, 281))
	for i := range game {
		game[i].Series = "game"
	}
	type variant struct {
		name  string
		draw  func(w io.Writer, round int) error
		took  []time.Duration
		bytes int
		alloc float64
	}
	all := []*variant{{name: "naive gg that keeps fonts and wood", draw: func(w io.Writer, _ int) error { return naive(w, s) }}}
	for _, c := range []struct {
		name string
		o    Options
	}{{"wood, 192 colours", Options{}}, {"slate, 255 colours", Options{Theme: "slate"}}, {"book, 16 colours", Options{Theme: "book"}}, {"contrast, 16 colours", Options{Theme: "contrast"}}} {
		all = append(all, &variant{name: "one  " + c.name, draw: func(w io.Writer, _ int) error { return PNG(w, s, c.o) }})
		all = append(all, &variant{name: "game " + c.name, draw: func(w io.Writer, round int) error { return PNG(w, game[round], c.o) }})
	}
	for b.Loop() {
		var out bytes.Buffer
		for round := -1; round < rounds; round++ {
			for _, v := range all {
				out.Reset()
				start := time.Now()
				if err := v.draw(&out, max(round, 0)); err != nil {
					b.Fatal(err)
				}
				if round >= 0 { // the first draws the sprites
					v.took = append(v.took, time.Since(start))
					v.bytes += out.Len()
				}
			}
		}
	}
	table := "\n"
	for _, v := range all {
		v.alloc = testing.AllocsPerRun(1, func() { _ = v.draw(io.Discard, rounds) })
		slices.Sort(v.took)
		median := v.took[len(v.took)/2]
		table += fmt.Sprintf("%-36s %7.2f ms %8d bytes %8.0f allocations %6.1f times as fast\n", v.name, median.Seconds()*1000, v.bytes/len(v.took), v.alloc,
			float64(all[0].took[len(all[0].took)/2])/float64(median))
	}
	b.Log(table)
}

func BenchmarkText(b *testing.B) {
	s := busy(b)
	for b.Loop() {
		Text(s)
	}
}

func BenchmarkOf(b *testing.B) {
	g := random(b, "area-2", 19, 19, 281, 7)
	for b.Loop() {
		Of(g, Names{})
	}
}
