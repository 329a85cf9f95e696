package render

import (
	"bytes"
	"image"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A part of the board is drawn larger; its lines keep their names, and those
// that go on beyond it run on.
func TestView(t *testing.T) {
	g := play(t, "aga", k(19, 19, 15), "R17 Q16 D4")
	s := Of(g, Names{})
	s.View = View{point(t, "O13"), point(t, "T19")}
	kt, _, err := spritesOf(&s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	grid := kt.grid(&s, "letters")
	img := decoded(t, drawn(t, s, Options{}))
	at := func(p string, dx, dy float64) rgb {
		x, y := grid.at(point(t, p))
		return rgbAt(img, x+int(dx*float64(grid.cell)), y+int(dy*float64(grid.cell)))
	}
	if grid.cell != cellOf(4, 6, 7) {
		t.Errorf("cell %d", grid.cell)
	}
	for _, x := range []struct {
		what string
		got  rgb
		want rgb
	}{
		{"the black stone", at("R17", 0.1, 0.1), wood.blackStone},
		{"the white stone", at("Q16", 0.1, 0.1), wood.whiteStone},
		{"the line beyond the left", at("O15", -0.45, 0), wood.line},
		{"the line beyond the bottom", at("P13", 0, 0.45), wood.line},
	} {
		if !near(x.got, x.want, 24) {
			t.Errorf("%s is %v", x.what, x.got)
		}
	}
	for what, c := range map[string]rgb{"right of the edge": at("T16", 0.45, 0), "above the edge": at("P19", 0, -0.45)} {
		if near(c, wood.line, 40) {
			t.Errorf("a line runs %s", what)
		}
	}
	// D4 is the last stone, but not in view: nothing is lit.
	for _, x := range []int{20, 640} {
		for y := range 660 {
			if near(rgbAt(img, x, y), wood.pill, 8) {
				t.Fatalf("a pill at %d,%d", x, y)
			}
		}
	}
	for _, v := range []View{{point(t, "C3"), point(t, "B9")}, {point(t, "A1"), point(t, "Z3")}, {rules.Point{X: -1}, point(t, "C3")}} {
		s.View = v
		if err := PNG(&bytes.Buffer{}, s, Options{}); err == nil {
			t.Errorf("%v was drawn", v)
		}
	}
}

// Each mark has its place and its shape, on stones of both colours and on
// empty points, in every theme.
func TestMarks(t *testing.T) {
	s := Scene{Board: []string{"X.O.", "X.O.", "X.O.", "X.O."}}
	for y, kind := range []MarkKind{Triangle, Square, Circle, Cross} {
		for x := range 3 {
			s.Marks = append(s.Marks, Mark{At: rules.Point{X: int8(x), Y: int8(y)}, Kind: kind})
		}
	}
	bare := s
	bare.Marks = nil
	for _, theme := range Themes() {
		o := Options{Theme: theme}
		kt, _, _ := spritesOf(&s, o)
		g := kt.grid(&s, "letters")
		with, without := decoded(t, drawn(t, s, o)), decoded(t, drawn(t, bare, o))
		shapes := map[string]MarkKind{}
		for _, m := range s.Marks {
			px, py := g.at(m.At)
			var shape strings.Builder
			for dy := -g.cell / 2; dy < g.cell/2; dy += 4 {
				for dx := -g.cell / 2; dx < g.cell/2; dx += 4 {
					at := image.Pt(px+dx, py+dy)
					if near(rgbAt(with, at.X, at.Y), rgbAt(without, at.X, at.Y), 40) {
						shape.WriteByte('.')
					} else {
						shape.WriteByte('#')
					}
				}
			}
			got := shape.String()
			if strings.Count(got, "#") < 20 {
				t.Errorf("%s: %v at %v cannot be seen", theme, m.Kind, m.At)
			}
			if kind, ok := shapes[got]; ok && kind != m.Kind {
				t.Errorf("%s: at %v marks %v and %v look alike", theme, m.At, kind, m.Kind)
			}
			shapes[got] = m.Kind
		}
	}
	if err := PNG(&bytes.Buffer{}, Scene{Board: []string{"."}, Marks: []Mark{{Kind: 9}}}, Options{}); err == nil {
		t.Error("a mark of no kind was drawn")
	}
}

// The last stone carries one mark only.
func TestOneMarkOnTheLastStone(t *testing.T) {
	s := Of(play(t, "aga", k(9, 9, 0), "E5"), Names{})
	kt, _, _ := spritesOf(&s, Options{})
	count := func() (n int) {
		p, err := bufferOf(&s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range p.list.ops {
			if o.sprite != nil && o.sprite == kt.last[black] {
				n++
			}
		}
		return n
	}
	if count() != 1 {
		t.Error("no mark on the last stone")
	}
	s.Marks = []Mark{{At: point(t, "E5"), Label: "1"}}
	if count() != 0 {
		t.Error("a number and a dot")
	}
}

func TestCoordinates(t *testing.T) {
	for _, x := range []struct{ style, columns, rows string }{
		{"letters", "A B C D E F G H J K L M N O P Q R S T U V W X Y Z", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25"},
		{"numbers", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25", "25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1"},
		{"kanji", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25", "廿五 廿四 廿三 廿二 廿一 廿 十九 十八 十七 十六 十五 十四 十三 十二 十一 十 九 八 七 六 五 四 三 二 一"},
	} {
		var columns, rows []string
		for i := range 25 {
			columns = append(columns, columnName(x.style, i))
			rows = append(rows, rowName(x.style, i, 25))
		}
		if got := strings.Join(columns, " "); got != x.columns {
			t.Errorf("%s: %s", x.style, got)
		}
		if got := strings.Join(rows, " "); got != x.rows {
			t.Errorf("%s: %s", x.style, got)
		}
	}
}
