package render

import (
	"math"
	"testing"
)

// How eyes see colours: as they are, without one of the three kinds of cones
// (Machado, Oliveira and Fernandes, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency", 2009, severity 1), and on paper that
// came from a printer without colours. The matrices are for linear light.
var eyes = map[string][9]float64{
	"normal": {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protan": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deutan": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritan": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
	"grey":   {0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722, 0.2126, 0.7152, 0.0722},
}

// linear returns the light of a colour as an eye sees it, red, green and blue
// from 0 to 1.
func (c rgb) linear(eye [9]float64) (out [3]float64) {
	var in [3]float64
	for i, v := range []uint8{c.r, c.g, c.b} {
		x := float64(v) / 255
		if in[i] = x / 12.92; x > 0.04045 {
			in[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	for i := range out {
		out[i] = min(max(eye[3*i]*in[0]+eye[3*i+1]*in[1]+eye[3*i+2]*in[2], 0), 1)
	}
	return out
}

func luminance(l [3]float64) float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

// contrastOf is that of WCAG 2, from 1 to 21.
func contrastOf(a, b rgb, eye [9]float64) float64 {
	x, y := luminance(a.linear(eye)), luminance(b.linear(eye))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// difference is ΔE of 1976 in CIELAB: 2 is just seen, 20 is hard to overlook.
func difference(a, b rgb, eye [9]float64) float64 {
	lab := func(c rgb) [3]float64 {
		l := c.linear(eye)
		f := func(v float64) float64 {
			if v > 216.0/24389 {
				return math.Cbrt(v)
			}
			return (24389.0/27*v + 16) / 116
		}
		x := f((0.4124564*l[0] + 0.3575761*l[1] + 0.1804375*l[2]) / 0.95047)
		y := f(0.2126729*l[0] + 0.7151522*l[1] + 0.0721750*l[2])
		z := f((0.0193339*l[0] + 0.1191920*l[1] + 0.9503041*l[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

func TestMeasures(t *testing.T) {
	eye := eyes["normal"]
	for _, x := range []struct {
		a, b            rgb
		contrast, delta float64
	}{
		{hex(0x000000), hex(0xFFFFFF), 21, 100}, {hex(0x777777), hex(0xFFFFFF), 4.48, 49.96}, {hex(0xFF0000), hex(0x00FF00), 2.91, 170.58},
	} {
		if c := contrastOf(x.a, x.b, eye); math.Abs(c-x.contrast) > 0.01 {
			t.Errorf("contrast of %v and %v: %.2f", x.a, x.b, c)
		}
		if d := difference(x.a, x.b, eye); math.Abs(d-x.delta) > 0.1 {
			t.Errorf("difference of %v and %v: %.2f", x.a, x.b, d)
		}
	}
	// Red and green, which are far apart, come near where one cone is missing.
	red, green := hex(0xB04A2F), hex(0x6F7A2E)
	if n, d := difference(red, green, eye), difference(red, green, eyes["deutan"]); d > n/2 {
		t.Errorf("red and green: %.1f, without the middle cone %.1f", n, d)
	}
}

// Whoever looks, what must be read can be read and what must be told apart can
// be told apart, in every theme.
func TestEyes(t *testing.T) {
	for l, th := range looks {
		if l.panel == "" {
			continue
		}
		board := th.wood[1]
		edge := th.whiteStone // by which a white stone stands out
		if th.flat {
			edge = th.rim
		}
		ghost := th.blackStone.over(board, 0.42)
		type pair struct {
			what string
			a, b rgb
			less float64
		}
		contrasts := []pair{
			{"text on the panel", th.text, th.panel, 10},
			{"text in the footer", th.text, th.footer, 10},
			{"labels on the panel", th.dim, th.panel, 5.5},
			{"labels in the footer", th.dim, th.footer, 4.5},
			{"noughts on the panel", th.faint, th.panel, 3},
			{"gains", th.gain, th.panel, 5.5},
			{"losses", th.loss, th.panel, 5.5},
			{"games that are won", th.gain, th.footer, 4.5},
			{"the frame of a game", th.due, th.panel, 3},
			{"the result", th.onBanner, th.banner, 7},
			{"Black's tile", th.whiteTile, th.blackTile, 10},
			{"the frame of Black's tile", th.due, th.blackTile, 3},
			{"the frame of White's tile beside the panel", max2(th.due, th.whiteTile, th.panel), th.panel, 3},
			{"coordinates", th.label, board, 4},
			{"the coordinates of the last move", th.onPill, th.pill, 4.5},
			{"lines", th.line, board, 2.7},
			{"the mark on a white stone", th.mark, th.whiteStone, 4.5},
			{"the mark on a black stone", th.markOnBlack, th.blackStone, 4.5},
			{"black stones", th.blackStone, board, 2.5},
			{"a button", th.button, th.buttonEdge, 3},
		}
		if l.theme == "contrast" {
			for i := range contrasts {
				contrasts[i].less = max(contrasts[i].less, 4.5)
			}
			contrasts = append(contrasts, pair{"white stones", th.whiteStone, board, 3}, pair{"everything small on the panel", th.dim, th.panel, 10})
		}
		// Without contrast hue must do it.
		differences := []pair{
			{"white stones", edge, board, 12},
			{"black stones and white ones", th.whiteStone, th.blackStone, 70},
			{"the pill", th.pill, board, 20},
			{"the mark on a white stone", th.mark, th.whiteStone, 40},
			{"the mark on a black stone", th.markOnBlack, th.blackStone, 40},
			{"the cross on a ghost", th.mark, th.whiteStone.over(board, 0.52), 20},
			{"black territory", th.blackStone, board, 30},
			{"a ghost", ghost, board, 12},
		}
		for eye, matrix := range eyes {
			for _, p := range contrasts {
				if eye != "normal" && eye != "grey" {
					p.less *= 0.85
				}
				if got := contrastOf(p.a, p.b, matrix); got < p.less {
					t.Errorf("%s %s, %s: %s has contrast %.2f, want %.2f", l.theme, l.panel, eye, p.what, got, p.less)
				}
			}
			for _, p := range differences {
				if got := difference(p.a, p.b, matrix); got < p.less {
					t.Errorf("%s %s, %s: %s is %.1f away, want %.1f", l.theme, l.panel, eye, p.what, got, p.less)
				}
			}
		}
	}
}

// max2 gives which of two colours stands out more.
func max2(a, b, from rgb) rgb {
	if contrastOf(a, from, eyes["normal"]) > contrastOf(b, from, eyes["normal"]) {
		return a
	}
	return b
}

// Marks are blue: red is lost on wood where the long or the middle cone is
// missing, which is why the theme test above would refuse it.
func TestRedWouldNotDo(t *testing.T) {
	board, vermilion := wood.wood[1], hex(0xC8452B)
	blue := min(difference(wood.mark, board, eyes["deutan"]), difference(wood.mark, board, eyes["protan"]))
	red := min(difference(vermilion, board, eyes["deutan"]), difference(vermilion, board, eyes["protan"]))
	if red > blue/2 {
		t.Errorf("vermilion is %.0f from wood, blue %.0f", red, blue)
	}
}
