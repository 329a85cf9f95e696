package render

import (
	"image"
	"math"

	"github.com/fogleman/gg"
)

// Sizes of the objects of the panel, in units.
const (
	bowlRadius            = 38
	buttonSize            = 30
	smallButton           = 22
	zoneWidth, zoneHeight = 92, 50
	tickRadius            = 11
)

// draws makes the objects of the panel.
func (g *background) draws() {
	t := g.theme
	for i, border := range []rgb{t.blackBorder, t.due} {
		g.tile[black][i] = g.box(g.tiles[black], 10, 2+3*i, t.blackTile, border)
	}
	for i, border := range []rgb{t.whiteBorder, t.due} {
		g.tile[white][i] = g.box(g.tiles[white], 10, 2+3*i, t.whiteTile, border)
	}
	g.turn = g.box(g.footerBox, 12, 0, t.footer, t.footer)
	g.banner = g.box(g.headlineBox, 10, 0, t.banner, t.banner)
	g.tick = g.object(2*tickRadius+2, func(dc *gg.Context) {
		g.circle(dc, 0, 0, tickRadius, t.panel)
		g.circle(dc, 0, 0, tickRadius-2, t.pill)
		dc.MoveTo(g.px(-4), g.px(0.5))
		dc.LineTo(g.px(-1.2), g.px(3.2))
		dc.LineTo(g.px(4.4), g.px(-3.2))
		stroke(dc, g, 2.4, t.onPill)
	})
	icons := newSprites(g, g.u(32)&^1)
	g.icon, g.dot = icons.stone, icons.mark[lastMark]
	g.chip[black], g.chip[white] = g.chipOf(t.blackTile), g.chipOf(t.whiteTile)
	g.bowl = g.newBowl(bowlRadius)
	g.button = g.object(buttonSize+2, g.buttonOf(buttonSize))
	g.small = g.object(smallButton+2, g.buttonOf(smallButton))
	g.zone = g.box(image.Rect(0, 0, zoneWidth, zoneHeight), 8, 2, t.panel, t.faint)
}

// newBowl draws the lid of a bowl, turned over, and stones that lie in it.
func (g *background) newBowl(r int) bowlSprites {
	t := g.theme
	small := newSprites(g, max(g.u(r*60/100)&^1, 8))
	b := bowlSprites{stone: small.stone}
	b.lid = g.object(2*r+2, func(dc *gg.Context) {
		R := float64(r)
		g.circle(dc, 0, 0, R, t.bowlRim)
		g.circle(dc, 0, 0, R*0.93, t.bowl.over(t.bowlRim, 0.35))
		g.circle(dc, 0, 0, R*0.86, t.bowl)
		if !t.flat {
			arc(dc, 0, 0, g.px(R*0.965), math.Pi*1.05, math.Pi*1.7)
			stroke(dc, g, 1.6, hex(0xFFFFFF).over(t.bowlRim, 0.35))
		}
	})
	for c := black; c <= white; c++ {
		ring := func(dc *gg.Context) {
			arc(dc, 0, 0, 0.40*float64(small.cell), 0, 2*math.Pi)
			dc.SetLineWidth(0.16 * float64(small.cell))
			dc.SetColor(t.button.alpha(1))
			dc.Stroke()
		}
		stone := small.blackStone
		if c == white {
			stone = small.whiteStone
		}
		b.ultimate[c] = small.drawn(0.5, 1, stone, ring)
	}
	return b
}

// buttonOf draws a button with four holes.
func (g *background) buttonOf(size int) func(*gg.Context) {
	return func(dc *gg.Context) { g.drawButton(dc, float64(size)/2) }
}

func (g *background) drawButton(dc *gg.Context, r float64) {
	t := g.theme
	g.circle(dc, 0, 0, r, t.buttonEdge)
	g.circle(dc, 0, 0, r-1.5, t.button)
	arc(dc, 0, 0, g.px(r*0.66), 0, 2*math.Pi)
	stroke(dc, g, 1.6, t.buttonEdge.over(t.button, 0.55))
	for _, x := range []float64{-1, 1} {
		for _, y := range []float64{-1, 1} {
			g.circle(dc, x*r*0.22, y*r*0.22, r*0.13, t.buttonEdge)
		}
	}
}

// object returns the sprite that draw makes around the middle of a square, in
// units.
func (g *background) object(side int, draw func(*gg.Context)) *sprite {
	px := (g.u(side) + 1) &^ 1
	dc := gg.NewContext(px, px)
	dc.Translate(float64(px)/2, float64(px)/2)
	draw(dc)
	return g.palette.sprite(dc.Image(), px/2, px/2)
}

// px turns units into pixels without rounding them.
func (g *background) px(units float64) float64 { return units * float64(g.quarter) / 4 }

// circle fills a circle, lengths in units.
func (g *background) circle(dc *gg.Context, x, y, r float64, c rgb) {
	arc(dc, g.px(x), g.px(y), g.px(r), 0, 2*math.Pi)
	dc.ClosePath()
	dc.SetColor(c.alpha(1))
	dc.Fill()
}

// arc is a part of a circle, clockwise from an angle to another. Its corners
// lie on 64ths of a pixel, and a little beyond: that is what package gg cuts
// them to, and so it does not matter how a processor rounds.
func arc(dc *gg.Context, x, y, r, from, to float64) {
	const steps = 96
	for i := 0; i <= steps; i++ {
		angle := from + float64((to-from)*float64(i)/steps)
		at := func(mid, unit float64) float64 {
			return (math.Floor(float64((mid+float64(r*unit))*64)+0.5) + 0.25) / 64
		}
		dc.LineTo(at(x, math.Cos(angle)), at(y, math.Sin(angle)))
	}
}

// stroke draws along the path, width in units.
func stroke(dc *gg.Context, g *background, width float64, c rgb) {
	dc.SetLineWidth(width * float64(g.quarter) / 4)
	dc.SetLineCapRound()
	dc.SetLineJoinRound()
	dc.SetColor(c.alpha(1))
	dc.Stroke()
}

// box returns a rectangle of the size of another, with round corners, in units. It
// is laid down by its upper left corner.
func (g *background) box(of image.Rectangle, radius, border int, inside, edge rgb) *sprite {
	dc := gg.NewContext(g.u(of.Dx()), g.u(of.Dy()))
	b := float64(g.u(border))
	r := float64(g.u(radius))
	fw, fh := float64(g.u(of.Dx())), float64(g.u(of.Dy()))
	dc.DrawRoundedRectangle(0, 0, fw, fh, r)
	dc.SetColor(edge.alpha(1))
	dc.Fill()
	if border > 0 {
		dc.DrawRoundedRectangle(b, b, fw-2*b, fh-2*b, math.Max(r-b, 1))
		dc.SetColor(inside.alpha(1))
		dc.Fill()
	}
	return g.palette.sprite(dc.Image(), 0, 0)
}
