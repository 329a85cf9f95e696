package render

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Where Lines says that a point is, its stone is drawn.
func TestLines(t *testing.T) {
	for _, size := range []rules.Setup{{W: 9, H: 9}, {W: 19, H: 19}, {W: 25, H: 4}, {W: 1, H: 1}} {
		for _, layout := range AllLayouts() {
			for _, o := range []Options{{Layout: layout}, {Layout: layout, Size: "small", Theme: "slate"}} {
				corners := []rules.Point{{}, {X: int8(size.W - 1), Y: int8(size.H - 1)}}
				for _, p := range corners {
					g, err := rules.New(&rules.AGA, size)
					if err != nil {
						t.Fatal(err)
					}
					s := Of(g, Names{})
					row := []byte(s.Board[size.H-1-int(p.Y)])
					row[p.X] = 'X'
					s.Board[size.H-1-int(p.Y)] = string(row)
					var data bytes.Buffer
					if err := PNG(&data, s, o); err != nil {
						t.Fatal(err)
					}
					img, err := png.Decode(&data)
					if err != nil {
						t.Fatal(err)
					}
					x, y, cell, err := s.Lines(o)
					if err != nil {
						t.Fatal(err)
					}
					x, y = x+int(p.X)*cell, y-int(p.Y)*cell
					for _, d := range []int{-cell / 3, 0, cell / 3} { // the stone, and no more than it
						if r, g, b, _ := img.At(x+d, y).RGBA(); r > 0x6000 || g > 0x6000 || b > 0x6000 {
							t.Errorf("%d×%d %+v: no stone on %v at %d, %d", size.W, size.H, o, p, x+d, y)
						}
					}
				}
			}
		}
	}
	if _, _, _, err := (Scene{}).Lines(Options{}); err == nil {
		t.Error("a scene without a board has lines")
	}
}
