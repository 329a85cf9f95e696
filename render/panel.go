package render

import (
	"fmt"
	"image"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// The panel right of the board, in units: two tiles, the headline, the ledger
// as a butterfly (Black's numbers, labels, White's numbers), a comment, notes,
// the bowls with the table between them, and the last turn. Whole points end at
// one line and a half point hangs behind it.
const (
	panelLeft    = 675
	panelRight   = 947
	panelWidth   = panelRight - panelLeft
	panelMiddle  = 811
	panelTop     = 15
	panelBottom  = 647
	blackEnds    = 730 // whole points of Black end here
	whiteEnds    = 927
	blackDelta   = 738
	headlineY    = 143
	widestPitch  = 38 // of the rows
	closestPitch = 30
	notePitch    = 24
	noteGap      = 6
	titleHeight  = 26
)

// panel draws the square's neighbour.
func (l *displayList) panel(k *sprites, s *Scene) {
	w := s.words()
	l.tile(k, black, panelLeft, &s.Black, drawable(clean(s.Black.Name, w.Black), w.Black), s.Counted)
	l.tile(k, white, panelLeft+140, &s.White, drawable(clean(s.White.Name, w.White), w.White), s.Counted)
	top := l.headline(k, s)
	bottom := l.footer(k, s) - 10
	l.middle(k, s, top, bottom)
}

// tile draws a player: name and total, or what they may do.
func (l *displayList) tile(k *sprites, color, left int, p *Player, name string, counted bool) {
	due := 0
	if p.Due {
		due = 1
	}
	l.stamp(k.u(left), k.u(panelTop), k.tiles[color][due])
	ink := k.theme.whiteTile
	if color == white {
		ink = k.theme.blackTile
	}
	x, room := k.u(left+tileWidth/2), k.u(116)
	switch {
	case counted:
		name, st := style{medium, k.u(24), ink}.fit(name, room, k.u(18))
		l.centred(x, k.u(panelTop+21), name, st)
		total, st := style{bold, k.u(53), ink}.fit(number(p.Total), room, k.u(20))
		l.centred(x, k.u(panelTop+68), total, st)
	case p.Right != "":
		name, st := style{medium, k.u(29), ink}.fit(name, room, k.u(18))
		l.centred(x, k.u(panelTop+40), name, st)
		right, st := style{regular, k.u(22), ink}.fit(p.Right, room, k.u(16))
		l.centred(x, k.u(panelTop+74), right, st)
	default:
		name, st := style{medium, k.u(29), ink}.fit(name, room, k.u(18))
		l.centred(x, k.u(panelTop+52), name, st)
	}
	if p.Accepted {
		l.stamp(x, k.u(panelTop+tileHeight-3), k.tick)
	}
}

// headline draws the margin and what kind of count it is, or on a banner who
// won, and returns the height in units at which the ledger may begin.
func (l *displayList) headline(k *sprites, s *Scene) int {
	y := headlineY
	st := style{bold, k.u(29), k.theme.text}
	room := k.u(panelWidth)
	switch {
	case s.Headline == "":
	case s.Result != "":
		l.stamp(k.u(panelLeft), k.u(y-16), k.banner)
		st.color = k.theme.onBanner
		room -= k.u(60)
		text, st := st.fit(s.Headline, room, k.u(20))
		x := k.u(panelMiddle)
		if s.Winner != rules.None {
			x += k.u(19)
			l.stamp(x-st.width(text)/2-k.u(24), k.u(y+6), k.icon[s.Winner])
		}
		l.centred(x, k.u(y+6), text, st)
		y += 42
	default:
		if s.Estimate {
			st.color = k.theme.dim
		}
		text, st := st.fit(s.Headline, room, k.u(20))
		l.centred(k.u(panelMiddle), k.u(y), text, st)
		y += 27
	}
	if s.Caption != "" {
		st := style{regular, k.u(20), k.theme.dim}
		lines := st.wrap(capital(drawable(s.Caption, "")), k.u(panelWidth))
		for _, line := range lines[:min(len(lines), 3)] {
			l.centred(k.u(panelMiddle), k.u(y), line, st)
			y += 22
		}
		y += 2
	}
	return y - 10
}

// middle shares the room between headline and footer: first come the rows, at
// their closest; then the comment, the notes, the table and the name of the
// ruleset, each if there is room; then the rows move apart. Rows that have no
// room even so are taken together.
func (l *displayList) middle(k *sprites, s *Scene, top, bottom int) {
	width := k.u(panelWidth)
	room := bottom - top
	comment := style{regular, k.u(23), k.theme.text}
	note := style{regular, k.u(21), k.theme.text}
	const commentPitch, commentLines = 28, 9

	least := 0 // of the room for a comment, if there is one
	var said []string
	if s.Comment != "" {
		said = comment.wrap(drawable(cut(s.Comment, 600), ""), width-k.u(8))
		least = min(len(said), 7)*commentPitch + noteGap
	}
	rows := fewer(s.Rows, max((room-least)/closestPitch, 1), s.words())
	room -= len(rows) * closestPitch
	if n := min(len(said), max((room-noteGap)/commentPitch, 0), commentLines); n < len(said) {
		said = shortened(said, n, comment, width-k.u(8))
	}
	if len(said) > 0 {
		room -= len(said)*commentPitch + noteGap
	}
	var notes [][]string
	for _, n := range s.Notes {
		lines := note.wrap(capital(drawable(n, "")), width)
		fit := min(len(lines), max((room-noteGap)/notePitch, 0))
		if fit == 0 {
			break
		}
		if fit < len(lines) {
			lines = shortened(lines, fit, note, width)
		}
		notes = append(notes, lines)
		room -= len(lines)*notePitch + noteGap
	}
	size := 0 // of the bowls
	if !s.Counted {
		size = 1
	}
	bowls := 2*k.bowls[size].radius + 12
	hasTable := room >= bowls
	if hasTable {
		room -= bowls
	}
	hasTitle := s.Ruleset != "" && room >= titleHeight
	if hasTitle {
		room -= titleHeight
	}
	pitch := closestPitch
	if len(rows) > 0 {
		pitch = min(closestPitch+room/len(rows), widestPitch)
	}

	y := top
	for i := range rows {
		if rows[i].Kind == Sum {
			rule := k.u(y) &^ 1
			l.fill(image.Rect(k.u(panelLeft), rule, k.u(panelRight), rule+2), k.theme.rule)
		}
		l.row(k, &rows[i], y+pitch/2)
		y += pitch
	}
	if len(said) > 0 {
		y += noteGap
		for _, line := range said {
			l.text(k.u(panelLeft+4), k.u(y+commentPitch/2), line, comment)
			y += commentPitch
		}
	}
	for _, lines := range notes {
		y += noteGap
		for _, line := range lines {
			l.centred(k.u(panelMiddle), k.u(y+notePitch/2), line, note)
			y += notePitch
		}
	}
	if hasTitle {
		text, st := style{regular, k.u(20), k.theme.dim}.fit(drawable(s.Ruleset, ""), width, k.u(16))
		l.centred(k.u(panelMiddle), k.u(bottom-titleHeight/2), text, st)
		bottom -= titleHeight
	}
	if hasTable {
		l.table(k, s, bottom-bowls/2, size)
	}
}

// shortened cuts lines to n of them; the last ends with "…".
func shortened(lines []string, n int, st style, width int) []string {
	if n < 1 {
		return nil
	}
	out := slices.Clone(lines[:n])
	out[n-1] = st.cut(out[n-1]+" "+lines[n], width)
	if !strings.HasSuffix(out[n-1], "…") {
		out[n-1] = st.cut(out[n-1]+" …", width)
	}
	return out
}

// fewer returns at most n rows. What is worth nothing goes first, then sums on
// the way, then lines of the count that are empty; what is left over is taken
// together, so that the rows still add up.
func fewer(rows []Row, n int, w *Words) []Row {
	rows = slices.Clone(rows)
	drop := func(may func(i int) bool) {
		for i := len(rows) - 1; i >= 0 && len(rows) > n; i-- {
			if may(i) {
				rows = slices.Delete(rows, i, i+1)
			}
		}
	}
	drop(func(i int) bool { return rows[i].Kind == Aside })
	drop(func(i int) bool { return rows[i].Kind == Sum && i < len(rows)-1 })
	drop(func(i int) bool {
		return rows[i].Kind == Counts && rows[i].Black.Value == 0 && rows[i].White.Value == 0 && rows[i].Black.Delta == 0 && rows[i].White.Delta == 0
	})
	for len(rows) > n && len(rows) > 2 {
		// the last two that count become one
		i := len(rows) - 1
		if rows[i].Kind == Sum {
			i--
		}
		a, b := &rows[i-1], rows[i]
		for _, cells := range []struct{ to, from *Cell }{{&a.Black, &b.Black}, {&a.White, &b.White}} {
			cells.to.Value += cells.from.Value
			cells.to.Delta += cells.from.Delta
			cells.to.Blank = cells.to.Blank && cells.from.Blank
		}
		a.Label = w.Others
		rows = slices.Delete(rows, i, i+1)
	}
	return rows
}

// row draws a line of the ledger at a height in units.
func (l *displayList) row(k *sprites, r *Row, y int) {
	y = k.u(y)
	weightOf, label := medium, style{regular, k.u(24), k.theme.dim}
	if r.Kind == Sum {
		weightOf, label = bold, style{medium, k.u(24), k.theme.text}
	}
	gap := k.u(8)
	_, from := l.cell(k, r.Black, k.u(blackEnds), y, weightOf)
	from = max(from+gap, k.u(blackDelta))
	if r.Black.Delta != 0 {
		st := k.delta(r.Black)
		d := signed(r.Black.Delta)
		l.text(from, y, d, st)
		from += st.width(d) + gap
	}
	to, _ := l.cell(k, r.White, k.u(whiteEnds), y, weightOf)
	to -= gap
	if r.White.Delta != 0 {
		st := k.delta(r.White)
		d := signed(r.White.Delta)
		l.right(to, y, d, st)
		to -= st.width(d) + gap
	}
	text, label := label.fit(drawable(r.Label, "–"), to-from, k.u(17))
	x := k.u(panelMiddle) - label.width(text)/2
	x = max(min(x, to-label.width(text)), from)
	l.text(x, y, text, label)
}

// cell draws a number whose whole points end at x, and returns where it begins
// and ends.
func (l *displayList) cell(k *sprites, cell Cell, x, y int, w weight) (from, to int) {
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
	l.text(from, y, text, st)
	return from, from + st.width(text)
}

func (k *sprites) delta(cell Cell) style {
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

// table draws the bowls and what lies between them, around a height in units.
func (l *displayList) table(k *sprites, s *Scene, y, size int) {
	b := &k.bowls[size]
	for _, side := range []struct {
		p      *Player
		x, in  int // of the bowl, and the direction of the table from there
		stones int // their colour
	}{
		{&s.Black, panelLeft + b.radius + 2, 1, white},
		{&s.White, panelRight - b.radius - 2, -1, black},
	} {
		l.stamp(k.u(side.x), k.u(y), b.lid)
		l.fillBowl(k, b, side.x, y, side.stones, side.p.Bowl)
		for i := range min(side.p.Bowl.Buttons, 3) {
			l.stamp(k.u(side.x+side.in*(b.radius-4)), k.u(y+b.radius-buttonSize/2-i*(buttonSize-8)), k.button)
		}
	}
	if s.Table.Zone {
		l.stamp(k.u(panelMiddle-zoneWidth/2), k.u(y-zoneHeight/2), k.zone)
		l.fill(image.Rect(k.u(panelMiddle)&^1, k.u(y-zoneHeight/2+6), k.u(panelMiddle)&^1+2, k.u(y+zoneHeight/2-6)), k.theme.faint)
		for _, side := range []struct{ in, n, color int }{{-1, s.Black.Bowl.HalfPasses, white}, {1, s.White.Bowl.HalfPasses, black}} {
			x := k.u(panelMiddle + side.in*zoneWidth/4)
			if side.n == 0 {
				l.centred(x, k.u(y), "½", style{regular, k.u(22), k.theme.faint})
			}
			// Two of them lie side by side; there are never more.
			n := min(side.n, 2)
			for i := range n {
				l.stamp(x+k.u((2*i-n+1)*9), k.u(y), k.bowls[0].stone[side.color])
			}
		}
	}
	n := min(s.Table.Buttons, 3)
	for i := range n {
		l.stamp(k.u(panelMiddle+(2*i-n+1)*(buttonSize+6)/2), k.u(y), k.button)
	}
}

// lay is where stones lie in a bowl, in parts of its radius: the first in the
// middle, then rings around it.
var lay = [][2]float64{
	{0, 0},
	{0.40, 0.10}, {-0.40, -0.08}, {0.12, -0.40}, {-0.14, 0.40}, {0.34, -0.30}, {-0.32, 0.28}, {-0.30, -0.42}, {0.30, 0.44},
	{0.58, -0.10}, {-0.58, 0.12}, {0.00, 0.58}, {0.02, -0.60}, {0.54, 0.36}, {-0.56, -0.34}, {-0.42, 0.50}, {0.46, -0.48},
}

// fillBowl draws the stones in a bowl: as many as there are, up to where more
// could not be told apart.
func (l *displayList) fillBowl(k *sprites, b *bowlSprites, x, y, color int, in Bowl) {
	n := min(in.Stones, len(lay)-1)
	at := func(i int) (int, int) {
		return k.u(x) + int(lay[i][0]*float64(k.u(b.radius))), k.u(y) + int(lay[i][1]*float64(k.u(b.radius)))
	}
	first := 0
	if in.Ultimate > 0 || n > 1 {
		first = 1
	}
	for i := n - 1; i >= 0; i-- {
		px, py := at(i + first)
		l.stamp(px, py, b.stone[color])
	}
	if in.Ultimate > 0 {
		px, py := at(0)
		l.stamp(px, py, b.ultimate[color])
	}
}

// footer draws the last turn, the sentences by which it moved things, and what
// is next. It returns the height in units at which it begins.
func (l *displayList) footer(k *sprites, s *Scene) (top int) {
	w := s.words()
	left, room := 726, k.u(panelRight-8-726)
	sentence := style{regular, k.u(20), k.theme.text}
	wide := k.u(panelWidth - 20)
	var lines []string
	for _, why := range s.Why {
		lines = append(lines, sentence.wrap(capital(drawable(why, "")), wide)...)
	}
	if most := len(k.footers) - 1; len(lines) > most {
		lines = shortened(lines, most, sentence, wide)
	}
	height := footerOf(len(lines))
	top = panelBottom - height
	l.stamp(k.u(panelLeft), k.u(top), k.footers[len(lines)])

	title, color := drawable(w.Start, "–"), s.By
	if s.Turn != "" {
		title = strconv.Itoa(s.Move) + "  " + drawable(s.Turn, "–")
	} else if color = rules.Black; s.White.Due && !s.Black.Due {
		color = rules.White
	}
	x, y := k.u(699), k.u(top+34)
	l.stamp(x, y, k.icon[color])
	if s.Last != nil {
		l.stamp(x, y, k.dot[color])
	}
	text, st := style{bold, k.u(29), k.theme.text}.fit(title, room, k.u(20))
	l.text(k.u(left), k.u(top+21), text, st)
	detail := s.Next
	for _, more := range []string{s.Taken, s.Result} {
		if more != "" {
			detail = more + " · " + detail
		}
	}
	if s.Steps > 0 {
		detail = fmt.Sprintf(w.Step, s.Step, s.Steps)
	}
	text, st = style{regular, k.u(24), k.theme.dim}.fit(drawable(detail, "–"), room, k.u(17))
	l.text(k.u(left), k.u(top+51), text, st)
	for i, line := range lines {
		l.text(k.u(panelLeft+12), k.u(top+footerHeight+4+i*sentencePitch+sentencePitch/2), line, sentence)
	}
	return top
}
