package render

import (
	"image"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// The panel right of the board, in units: two tiles, the headline, the ledger
// as a butterfly (Black's numbers, labels, White's numbers), the notes and the
// last turn. Whole points end at one line and a half point hangs behind it.
const (
	panelLeft   = 675
	panelRight  = 947
	panelMiddle = 811
	panelTop    = 15
	blackEnds   = 730 // whole points of Black end here
	whiteEnds   = 927
	blackDelta  = 738
	headlineY   = 143
	footerTop   = 579
)

// panel draws the square's neighbour.
func (c *canvas) panel(k *kit, s *Scene) {
	w := s.words()
	c.tile(k, 1, panelLeft, &s.Black, drawable(clean(s.Black.Name, w.Black), w.Black), s.Counted)
	c.tile(k, 2, panelLeft+140, &s.White, drawable(clean(s.White.Name, w.White), w.White), s.Counted)
	y := c.headline(k, s)
	c.ledger(k, s, y)
	c.footer(k, s)
}

// tile draws a player: name and total.
func (c *canvas) tile(k *kit, color, left int, p *Player, name string, counted bool) {
	due := 0
	if p.Due {
		due = 1
	}
	c.stamp(k.u(left), k.u(panelTop), k.tiles[color][due])
	ink := k.theme.onMark
	if color == 2 {
		ink = k.theme.blackTile
	}
	x := k.u(left + 66)
	if !counted {
		name, st := style{medium, k.u(29), ink}.fit(name, k.u(116), k.u(20))
		c.centred(x, k.u(panelTop+52), name, st)
		return
	}
	name, st := style{medium, k.u(24), ink}.fit(name, k.u(116), k.u(20))
	c.centred(x, k.u(panelTop+21), name, st)
	total, st := style{bold, k.u(53), ink}.fit(number(p.Total), k.u(116), k.u(20))
	c.centred(x, k.u(panelTop+68), total, st)
}

// headline draws the margin and what kind of count it is, and gives the height
// in units at which the ledger may begin.
func (c *canvas) headline(k *kit, s *Scene) int {
	y := headlineY
	if s.Headline != "" {
		text, st := style{bold, k.u(29), k.theme.text}.fit(s.Headline, k.u(panelRight-panelLeft), k.u(20))
		c.centred(k.u(panelMiddle), k.u(y), text, st)
		y += 27
	}
	if s.Caption != "" {
		st := style{regular, k.u(20), k.theme.dim}
		for _, line := range st.wrap(s.Caption, k.u(panelRight-panelLeft)) {
			c.centred(k.u(panelMiddle), k.u(y), line, st)
			y += 22
		}
		y += 2
	}
	return y - 10
}

// ledger draws the rows and, in the room they leave above the footer, the
// notes and the name of the ruleset.
func (c *canvas) ledger(k *kit, s *Scene, top int) {
	const widest, closest = 38, 30
	const linePitch, noteGap = 24, 6
	note := style{regular, k.u(21), k.theme.text}
	var notes [][]string
	tall := 0
	for _, n := range s.Notes {
		lines := note.wrap(capital(n), k.u(panelRight-panelLeft))
		notes = append(notes, lines)
		tall += len(lines)*linePitch + noteGap
	}
	bottom := footerTop - 10
	pitch := widest
	if n := len(s.Rows); n > 0 {
		pitch = min(max((bottom-top-tall-noteGap)/n, closest), widest)
	}
	y := top
	for _, row := range s.Rows {
		if row.Kind == Sum {
			rule := k.u(y) &^ 1
			c.fill(image.Rect(k.u(panelLeft), rule, k.u(panelRight), rule+2), k.theme.rule)
		}
		c.row(k, &row, y+pitch/2)
		y += pitch
	}
	for _, lines := range notes {
		y += noteGap
		for i, line := range lines {
			if y+linePitch > bottom {
				break
			}
			if y+2*linePitch > bottom && i < len(lines)-1 {
				line = note.cut(line+" "+lines[i+1], k.u(panelRight-panelLeft))
			}
			c.centred(k.u(panelMiddle), k.u(y+linePitch/2), line, note)
			y += linePitch
		}
	}
	if title := 24; y+title < bottom {
		text, st := style{regular, k.u(20), k.theme.dim}.fit(s.Ruleset, k.u(panelRight-panelLeft), k.u(16))
		c.centred(k.u(panelMiddle), k.u(bottom-title/2), text, st)
	}
}

// row draws a line of the ledger at a height in units.
func (c *canvas) row(k *kit, r *Row, y int) {
	y = k.u(y)
	weightOf, label := medium, style{regular, k.u(24), k.theme.dim}
	if r.Kind == Sum {
		weightOf, label = bold, style{medium, k.u(24), k.theme.text}
	}
	gap := k.u(8)
	_, from := c.cell(k, r.Black, k.u(blackEnds), y, weightOf)
	from = max(from+gap, k.u(blackDelta))
	if r.Black.Delta != 0 {
		st := k.delta(r.Black)
		d := signed(r.Black.Delta)
		c.text(from, y, d, st)
		from += st.width(d) + gap
	}
	to, _ := c.cell(k, r.White, k.u(whiteEnds), y, weightOf)
	to -= gap
	if r.White.Delta != 0 {
		st := k.delta(r.White)
		d := signed(r.White.Delta)
		c.right(to, y, d, st)
		to -= st.width(d) + gap
	}
	text, label := label.fit(r.Label, to-from, k.u(17))
	x := k.u(panelMiddle) - label.width(text)/2
	x = max(min(x, to-label.width(text)), from)
	c.text(x, y, text, label)
}

// cell draws a number whose whole points end at x, and gives where it begins
// and ends.
func (c *canvas) cell(k *kit, cell Cell, x, y int, w weight) (from, to int) {
	st := style{w, k.u(29), k.theme.text}
	if cell.Value == 0 {
		st.color = k.theme.faint
	}
	text := number(cell.Value)
	if cell.Blank {
		text = "–"
	}
	// A half point hangs behind, so that 12½ and 7 stand right.
	whole := strings.TrimSuffix(text, "½")
	_, st = st.fit(whole, k.u(blackEnds-panelLeft), k.u(17))
	from = x - st.width(whole)
	c.text(from, y, text, st)
	return from, from + st.width(text)
}

func (k *kit) delta(cell Cell) style {
	if cell.Delta > 0 {
		return style{medium, k.u(22), k.theme.gain}
	}
	return style{medium, k.u(22), k.theme.loss}
}

// signed writes a change: "+4", "−½".
func signed(p rules.Points) string {
	if p > 0 {
		return "+" + number(p)
	}
	return number(p)
}

// footer draws the last turn and what is next.
func (c *canvas) footer(k *kit, s *Scene) {
	x, y := k.u(699), k.u(613)
	title := s.words().Start
	color := s.By
	if s.Turn != "" {
		title = strconv.Itoa(s.Move) + "  " + s.Turn
	} else if color = rules.Black; s.White.Due && !s.Black.Due {
		color = rules.White
	}
	c.stamp(x, y, k.icon[color])
	if s.Last != nil {
		c.stamp(x, y, k.dot[color])
	}
	left := 726
	room := k.u(panelRight - 8 - left)
	text, st := style{bold, k.u(29), k.theme.text}.fit(title, room, k.u(20))
	c.text(k.u(left), k.u(600), text, st)
	detail := s.Next
	for _, more := range []string{s.Taken, s.Result} {
		if more != "" {
			detail = more + " · " + detail
		}
	}
	text, st = style{regular, k.u(24), k.theme.dim}.fit(detail, room, k.u(17))
	c.text(k.u(left), k.u(630), text, st)
}
