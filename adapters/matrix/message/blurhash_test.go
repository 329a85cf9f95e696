package message_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// drawn is a picture of w×h points.
func drawn(w, h int, at func(x, y int) (r, g, b int)) image.Image {
	img := image.NewNRGBA(image.Rect(3, 5, 3+w, 5+h))
	for y := range h {
		for x := range w {
			r, g, b := at(x, y)
			img.Set(3+x, 5+y, color.NRGBA{uint8(r), uint8(g), uint8(b), 255})
		}
	}
	return img
}

// Hashes of 4×4 components that github.com/bbrks/go-blurhash 1.1.1 gives, and
// the npm package blurhash 2.0.5 where no component but the first is further
// below zero than any is above: of the others it takes the largest alone.
func TestBlurhashReference(t *testing.T) {
	for _, c := range []struct {
		what string
		w, h int
		at   func(x, y int) (r, g, b int)
		want string
	}{
		{"black", 8, 8, func(x, y int) (r, g, b int) { return 0, 0, 0 }, "U00000fQfQfQfQfQfQfQfQfQfQfQfQfQfQfQ"},
		{"white", 8, 8, func(x, y int) (r, g, b int) { return 255, 255, 255 }, "UfTSUA~qfQ~q~qt7fQt7fQfQfQfQ~qt7fQt7"},
		{"wood", 5, 7, func(x, y int) (r, g, b int) { return 220, 179, 92 }, "UlPOk7~8fQ~8^ht5fQt5fQfQfQfQ^ht5fQt5"},
		{"a gradient", 8, 8, func(x, y int) (r, g, b int) { return x * 36, y * 36, (x + y) * 18 }, "UxH.QO31a^xuumRofSnPf4fSfRfPxuSwfPoe"},
		{"stripes", 12, 9, func(x, y int) (r, g, b int) { return (1 - x%2) * 255, (1 - x%2) * 255, (1 - x%2) * 255 }, "URLqe9~qfQ~q?bt7fQt7fQfQfQfQ?bt7fQt7"},
		{"halves", 10, 6, func(x, y int) (r, g, b int) {
			if x < 5 {
				return 0, 0, 0
			}
			return 255, 200, 100
		}, "U~Lo[D0iEN=^%0NIWCs.fQfQfQfQ%0NIWCs."},
		{"noise", 16, 16, func(x, y int) (r, g, b int) {
			return (x*73 + y*151) % 256, (x*199 + y*31) % 256, (x*x + y*y*7) % 256
		}, "UCHen9%Vj1%h%XWPV}XLq@aERVWYyWRhe]Ri"},
		{"a dot", 9, 9, func(x, y int) (r, g, b int) {
			if x == 2 && y == 6 {
				return 255, 0, 0
			}
			return 220, 179, 92
		}, "URPOg~~8ja~8~8t5bGs.babHbGjZ~8sojat5"},
		{"a point", 1, 1, func(x, y int) (r, g, b int) { return 1, 2, 3 }, "U009m+tStStStStStStStStStStStStStStS"},
	} {
		if got := message.Blurhash(drawn(c.w, c.h, c.at)); got != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
	if got := message.Blurhash(image.NewGray(image.Rect(5, 5, 5, 9))); got != "" {
		t.Errorf("a picture without points: %q", got)
	}
}

// position is the picture of a game.
func position(t testing.TB, at ...rules.Point) *image.Paletted {
	t.Helper()
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 19, H: 19})
	for i, p := range at {
		if err == nil {
			g, err = g.Play(rules.Turn{Kind: rules.Place, By: []rules.Color{rules.Black, rules.White}[i%2], At: p})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := render.PNG(&b, render.Of(g, render.Names{}), render.Options{}); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img.(*image.Paletted)
}

// A picture with a palette has the hash that it has without.
func TestBlurhashPalette(t *testing.T) {
	img := position(t, rules.Point{X: 3, Y: 3}, rules.Point{X: 15, Y: 15}, rules.Point{X: 16, Y: 3})
	b := img.Bounds()
	same := image.NewRGBA(b)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			same.Set(x, y, img.At(x, y))
		}
	}
	hash := message.Blurhash(img)
	if other := message.Blurhash(same); other != hash || hash != message.Blurhash(img) {
		t.Errorf("%q and %q", hash, other)
	}
	if other := message.Blurhash(position(t)); other == hash {
		t.Errorf("another position has the hash %q as well", other)
	}
}

func BenchmarkBlurhash(b *testing.B) {
	img := position(b, rules.Point{X: 3, Y: 3})
	b.ReportAllocs()
	for b.Loop() {
		message.Blurhash(img)
	}
	b.ReportMetric(float64(img.Rect.Dx()), "wide")
}

func BenchmarkText(b *testing.B) {
	c := message.Content{Text: strings.Repeat("Game 3, move 17: White C4.\n", 10), Board: strings.Repeat(". X O . . . . . . . . . . . . . . . .\n", 19), Number: 3}
	for b.Loop() {
		message.Text(c)
	}
}
