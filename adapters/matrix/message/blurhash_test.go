package message_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
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

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"

func number(s string) int {
	n := 0
	for _, r := range s {
		n = n*83 + strings.IndexRune(digits, r)
	}
	return n
}

func light(level int) float64 {
	v := float64(level) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// blurred gives the light of a point of what a hash shows, 0 to 1 each way.
func blurred(hash string, x, y float64) (rgb [3]float64) {
	nx, ny := number(hash[:1])%9+1, number(hash[:1])/9+1
	most := float64(number(hash[1:2])+1) / 166
	for j := range ny {
		for i := range nx {
			var c [3]float64
			if i == 0 && j == 0 {
				n := number(hash[2:6])
				c = [3]float64{light(n >> 16), light(n >> 8 & 255), light(n & 255)}
			} else {
				n := number(hash[4+2*(j*nx+i) : 6+2*(j*nx+i)])
				for p, q := range []int{n / 361, n / 19 % 19, n % 19} {
					v := float64(q-9) / 9
					c[p] = math.Copysign(v*v, v) * most
				}
			}
			for p := range c {
				rgb[p] += c[p] * math.Cos(math.Pi*float64(i)*x) * math.Cos(math.Pi*float64(j)*y)
			}
		}
	}
	return rgb
}

// What a client shows of a large picture is about as light as the picture there.
func TestBlurhashShows(t *testing.T) {
	quarters := drawn(800, 600, func(x, y int) (r, g, b int) {
		if (x < 400) == (y < 300) {
			return 230, 180, 90
		}
		return 20, 20, 30
	})
	hash := message.Blurhash(quarters)
	if number(hash[:1]) != 3+3*9 || len(hash) != 6+2*15 {
		t.Fatalf("%q", hash)
	}
	for _, c := range []struct {
		x, y  float64
		light [3]int
	}{{0.25, 0.25, [3]int{230, 180, 90}}, {0.75, 0.75, [3]int{230, 180, 90}}, {0.75, 0.25, [3]int{20, 20, 30}}, {0.25, 0.75, [3]int{20, 20, 30}}} {
		for p, got := range blurred(hash, c.x, c.y) {
			if want := light(c.light[p]); math.Abs(got-want) > 0.15 {
				t.Errorf("at %v, %v colour %d is %.2f, not %.2f", c.x, c.y, p, got, want)
			}
		}
	}

	// The mean is that of the picture, whatever is drawn on it finely.
	fine := message.Blurhash(drawn(777, 555, func(x, y int) (r, g, b int) {
		if x%25 == 0 || y%25 == 0 {
			return 0, 0, 0
		}
		return 220, 179, 92
	}))
	n := number(fine[2:6])
	for p, got := range []int{n >> 16, n >> 8 & 255, n & 255} {
		if want := []float64{220, 179, 92}[p]; math.Abs(light(got)-light(int(want))*24*24/25/25) > 0.05 {
			t.Errorf("colour %d of the mean is %d", p, got)
		}
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
