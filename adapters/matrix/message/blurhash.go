package message

import (
	"image"
	"math"
	"sync"
)

// The blurhash of a picture: componentsX × componentsY cosines.
const (
	componentsX = 4
	componentsY = 4
	samples     = 64 // points looked at in each direction, at most
)

// Blurhash returns the blurhash of a picture, of 4×4 components: what clients show
// of it until it is loaded. It looks at no more than 64×64 points. A picture
// without points has none.
//
// The algorithm is Wolt's: https://github.com/woltapp/blurhash/blob/master/Algorithm.md
func Blurhash(img image.Image) string {
	b := img.Bounds()
	if b.Empty() {
		return ""
	}
	return blurhash(img, min(b.Dx(), samples), min(b.Dy(), samples))
}

// blurhash hashes w×h points of a picture.
func blurhash(img image.Image, w, h int) string {
	b := img.Bounds()
	at := lookup(img)
	cosX, cosY := cosines(w, componentsX), cosines(h, componentsY)
	var sum [componentsY][componentsX][3]float64
	for y := range h {
		var row [componentsX][3]float64
		for x := range w {
			// The middle of a field of the grid.
			c := at(b.Min.X+(2*x+1)*b.Dx()/(2*w), b.Min.Y+(2*y+1)*b.Dy()/(2*h))
			for i := range row {
				k := cosX[i*w+x]
				for p := range c {
					row[i][p] += float64(k * c[p])
				}
			}
		}
		for j := range sum {
			k := cosY[j*h+y]
			for i := range row {
				for p := range row[i] {
					sum[j][i][p] += float64(k * row[i][p])
				}
			}
		}
	}
	most := 0.0
	for j := range sum {
		for i := range sum[j] {
			for p := range sum[j][i] {
				sum[j][i][p] /= float64(w * h)
				if i > 0 || j > 0 {
					sum[j][i][p] *= 2
					most = max(most, math.Abs(sum[j][i][p]))
				}
			}
		}
	}
	out := base83(nil, componentsX-1+(componentsY-1)*9, 1)
	scale := min(max(int(math.Floor(most*166-0.5)), 0), 82)
	out = base83(out, scale, 1)
	d := sum[0][0]
	out = base83(out, gamma(d[0])<<16|gamma(d[1])<<8|gamma(d[2]), 4)
	most = float64(scale+1) / 166
	for j := range sum {
		for i, c := range sum[j] {
			if i > 0 || j > 0 {
				out = base83(out, (level(c[0]/most)*19+level(c[1]/most))*19+level(c[2]/most), 2)
			}
		}
	}
	return string(out)
}

// lookup returns a function for the light of a point: linear, 0 to 1.
func lookup(img image.Image) func(x, y int) [3]float64 {
	if p, ok := img.(*image.Paletted); ok {
		lights := make([][3]float64, 256)
		for i, c := range p.Palette {
			r, g, b, _ := c.RGBA()
			lights[i] = [3]float64{linear()[r>>8], linear()[g>>8], linear()[b>>8]}
		}
		return func(x, y int) [3]float64 { return lights[p.ColorIndexAt(x, y)] }
	}
	return func(x, y int) [3]float64 {
		r, g, b, _ := img.At(x, y).RGBA()
		return [3]float64{linear()[r>>8], linear()[g>>8], linear()[b>>8]}
	}
}

// cosines returns cos(π·i·x/n) at i·n+x.
func cosines(n, components int) []float64 {
	out := make([]float64, n*components)
	for i := range components {
		for x := range n {
			out[i*n+x] = math.Cos(math.Pi * float64(i) * float64(x) / float64(n))
		}
	}
	return out
}

// linear returns the light of a level of sRGB.
var linear = sync.OnceValue(func() *[256]float64 {
	var out [256]float64
	for i := range out {
		v := float64(i) / 255
		if v <= 0.04045 {
			out[i] = v / 12.92
		} else {
			out[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return &out
})

// gamma returns the level of sRGB of a light.
func gamma(light float64) int {
	v := min(max(light, 0), 1)
	if v <= 0.0031308 {
		return int(v*12.92*255 + 0.5)
	}
	return int((1.055*math.Pow(v, 1/2.4)-0.055)*255 + 0.5)
}

// level returns one of 19 levels of a component from -1 to 1.
func level(v float64) int {
	return min(max(int(math.Floor(math.Copysign(math.Sqrt(math.Abs(v)), v)*9+9.5)), 0), 18)
}

const digits83 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"

// base83 appends a number in n digits.
func base83(out []byte, value, n int) []byte {
	at := len(out)
	for range n {
		out = append(out, 0)
	}
	for i := len(out) - 1; i >= at; i-- {
		out[i] = digits83[value%83]
		value /= 83
	}
	return out
}
