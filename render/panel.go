package render

import (
	"image"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Sizes of letters and distances of lines, in units.
const (
	widestPitch   = 44 // of the rows
	sentenceSize  = 21
	sentencePitch = 24
	sentenceGap   = 5
	legendSize    = 21
	legendPitch   = 22
	leastSize     = 17 // of words that have little room
	nameSize      = 29 // of a name that has its tile to itself
	nameHigh      = 36 // of the box of a name above a total
)

// panel draws what stands beside the board.
func (l *displayList) panel(k *sprites, scene *Scene) {
	s := &Scene{}
	*s = *scene
	w := s.words()
	l.player(k, black, &s.Black, nameplate(s.Black.Name, w.Black), s.Counted)
	l.player(k, white, &s.White, nameplate(s.White.Name, w.White), s.Counted)
	if l.aim(k, s) {
		s.Aim = s.Aim[1:]
	}
	l.headline(k, s)
	said := l.caption(k, s)
	l.ledger(k, s, append(append(said, s.Why...), s.Notes...))
	switch comment, box, fits := k.comment(s); {
	case comment == nil:
		l.table(k, s)
		l.legend(k, s)
	default:
		if fits {
			l.table(k, s)
		}
		l.set(k, comment, box)
	}
	l.footer(k, s)
}

// player draws a tile: the name, and the total or what they may do.
func (l *displayList) player(k *sprites, color int, p *Player, name string, counted bool) {
	box := k.tiles[color]
	due := 0
	if p.Due {
		due = 1
	}
	l.stamp(k.u(box.Min.X), k.u(box.Min.Y), k.tile[color][due])
	ink := k.theme.whiteTile
	if color == white {
		ink = k.theme.blackTile
	}
	x, _ := middle(box)
	inside := box.Inset(7)
	switch {
	case counted:
		inside.Max.Y = inside.Min.Y + nameHigh
		l.name(k, name, inside, style{medium, 24, ink})
		st := style{bold, k.u(k.total), ink}
		for st.size > k.u(k.number) && st.width(p.Total.String()) > k.u(box.Dx()-8) {
			st.size--
		}
		l.centred(k.u(x), k.u(box.Max.Y-13-k.total*capMille/2000), p.Total.String(), st)
	case p.Right != "":
		inside.Max.Y -= 30
		l.name(k, name, inside, style{medium, nameSize, ink})
		right, st := style{regular, k.u(22), ink}.fit(p.Right, k.u(inside.Dx()), k.u(16))
		l.centred(k.u(x), k.u(box.Max.Y-24), right, st)
	default:
		l.name(k, name, inside, style{medium, nameSize, ink})
	}
	if p.Accepted {
		l.stamp(k.u(x), k.u(box.Max.Y+2), k.tick)
	}
}

// name sets a name in a box.
func (l *displayList) name(k *sprites, name string, box image.Rectangle, st style) {
	l.set(k, k.nameIn(name, box, st), box)
}

// nameIn sets a name on one line, in smaller letters on one or two, on three, in letters
// that are hard to read, and if all that is not enough without its middle.
func (k *sprites) nameIn(name string, box image.Rectangle, st style) *paragraph {
	width := k.u(box.Dx())
	tooLong := func(line string) bool { return st.width(line) > width || strings.HasSuffix(line, "…") }
	for _, try := range []struct{ largest, least, lines int }{{st.size, 18, 2}, {24, 18, 3}, {17, 14, 3}} {
		for size := try.largest; size >= try.least; size-- {
			st.size = k.u(size)
			lines := []string{name}
			if size <= 24 {
				lines = st.wrap(name, width)
			}
			fit := len(lines) == 1 || len(lines) <= try.lines && len(lines)*(size+1) <= box.Dy()+4
			if fit && !slices.ContainsFunc(lines, tooLong) {
				return &paragraph{lines: lines, style: st, pitch: size + 1, centred: true}
			}
		}
	}
	st.size = k.u(18)
	return &paragraph{lines: []string{st.elided(name, width)}, style: st, pitch: 18, centred: true}
}

// A paragraph is lines of a text, set in the middle of a box.
type paragraph struct {
	lines   []string
	style   style // size in pixels
	pitch   int   // units
	centred bool
}

// set draws a paragraph.
func (l *displayList) set(k *sprites, p *paragraph, box image.Rectangle) {
	x, y := middle(box)
	y -= (len(p.lines) - 1) * p.pitch / 2
	for i, line := range p.lines {
		if p.centred {
			l.centred(k.u(x), k.u(y+i*p.pitch), line, p.style)
		} else {
			l.text(k.u(box.Min.X), k.u(y+i*p.pitch), line, p.style)
		}
	}
}

// headline draws the margin, or on a banner who won.
func (l *displayList) headline(k *sprites, s *Scene) {
	if s.Headline == "" {
		return
	}
	x, y := middle(k.headlineBox)
	st := style{bold, k.u(k.number + 3), k.theme.text}
	room := k.u(k.headlineBox.Dx())
	switch {
	case s.Result != "":
		l.stamp(k.u(k.headlineBox.Min.X), k.u(k.headlineBox.Min.Y), k.banner)
		st.color = k.theme.onBanner
		room -= k.u(24)
		if s.Winner == rules.None {
			break
		}
		text := k.mixed(s.Headline, room-k.u(38), st)
		from := k.u(x+19) - text.width()/2
		l.stamp(from-k.u(24), k.u(y), k.icon[s.Winner])
		l.runs(from, k.u(y), text)
		return
	case s.Estimate:
		st.color = k.theme.dim
	}
	text := k.mixed(s.Headline, room, st)
	l.runs(k.u(x)-text.width()/2, k.u(y), text)
}

// aim draws how to win as long as there is no headline, and reports whether it
// does.
func (l *displayList) aim(k *sprites, s *Scene) bool {
	if s.Headline != "" || s.Caption != "" || len(s.Aim) == 0 {
		return false
	}
	box := k.headlineBox.Union(k.captionBox)
	p := &paragraph{style: style{regular, k.u(sentenceSize), k.theme.dim}, pitch: sentencePitch, centred: true}
	p.lines = p.style.wrap(drawable(s.Aim[0], ""), k.u(box.Dx()))
	if isCut(p.lines) || len(p.lines)*p.pitch > box.Dy()+4 {
		return false
	}
	l.set(k, p, box)
	return true
}

// caption draws what kind of count the headline is. What is too long for its line
// it returns as a sentence.
func (l *displayList) caption(k *sprites, s *Scene) []string {
	text := capital(drawable(s.Caption, ""))
	if text == "" || s.decidedByCount() {
		return nil
	}
	st := style{regular, k.u(21), k.theme.dim}
	for ; st.size > k.u(leastSize); st.size-- {
		if st.width(text) <= k.u(k.captionBox.Dx()) {
			break
		}
	}
	if st.width(text) > k.u(k.captionBox.Dx()) {
		return []string{s.Caption}
	}
	x, y := middle(k.captionBox)
	l.centred(k.u(x), k.u(y), text, st)
	return nil
}

// decidedByCount reports whether the caption only repeats the totals.
func (s *Scene) decidedByCount() bool {
	return s.Counted && s.Result != "" && strings.ContainsAny(s.Result, "0123456789")
}

// ledger draws the rows and under them the sentences for which there is room; no
// sentence is cut.
func (l *displayList) ledger(k *sprites, s *Scene, sentences []string) {
	box := k.ledgerBox
	closest := k.number*capMille/1000 + 4
	rows := fewer(s.Rows, box.Dy()/closest, s.words())
	room := box.Dy() - len(rows)*closest
	st := style{regular, k.u(sentenceSize), k.theme.text}
	var said [][]string
	for _, sentence := range sentences {
		lines := st.wrap(capital(drawable(sentence, "")), k.u(box.Dx()))
		if height := len(lines)*sentencePitch + sentenceGap; height <= room && !isCut(lines) {
			said = append(said, lines)
			room -= height
		}
	}
	pitch := closest
	if len(rows) > 0 {
		pitch = min(closest+room/len(rows), widestPitch)
	}
	y, at := box.Min.Y, k.columns(rows)
	counting := slices.ContainsFunc(rows, func(r Row) bool { return r.Kind == Counts })
	for i := range rows {
		l.row(k, &rows[i], at, counting, y+pitch/2)
		y += pitch
	}
	for _, lines := range said {
		y += sentenceGap
		for _, line := range lines {
			x, _ := middle(box)
			l.centred(k.u(x), k.u(y+sentencePitch/2), line, st)
			y += sentencePitch
		}
	}
}

// isCut reports whether a word of some lines was too long for them.
func isCut(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, "…") })
}

// comment returns the comment of a scene, and the box in which it stands instead of
// the legend, and if it is long instead of the bowls, too. A comment that is longer
// still loses its last sentences.
func (k *sprites) comment(s *Scene) (*paragraph, image.Rectangle, bool) {
	text := drawable(cut(s.Comment, 1000), "")
	if text == "" {
		return nil, image.Rectangle{}, false
	}
	all := k.tableBox.Union(k.legendBox)
	set := func(text string, size int, box image.Rectangle) *paragraph {
		p := &paragraph{style: style{regular, k.u(size), k.theme.text}, pitch: size + 4}
		p.lines = p.style.wrap(text, k.u(box.Dx()))
		if len(p.lines)*p.pitch > box.Dy() || isCut(p.lines) && !strings.HasSuffix(text, "…") {
			return nil
		}
		return p
	}
	if p := set(text, 21, k.legendBox); p != nil {
		return p, k.legendBox, true
	}
	for {
		for size := 23; size >= leastSize; size-- {
			if p := set(text, size, all); p != nil {
				return p, all, false
			}
		}
		shorter := strings.TrimRight(text, "….。!?！？ ")
		at := strings.LastIndexAny(shorter, ".。!?！？")
		if at > 0 {
			text = shorter[:at] + "…"
			continue
		}
		if at = strings.LastIndexByte(shorter, ' '); at > 0 {
			text = shorter[:at] + "…"
			continue
		}
		_, n := utf8.DecodeLastRuneInString(shorter)
		text = shorter[:len(shorter)-n] + "…"
	}
}

// fewer returns at most n rows. What is worth nothing goes first; what is left
// over is taken together, so that the rows still add up.
func fewer(rows []Row, n int, w *Words) []Row {
	rows = slices.Clone(rows)
	for i := len(rows) - 1; i >= 0 && len(rows) > n; i-- {
		if rows[i].Kind == Aside {
			rows = slices.Delete(rows, i, i+1)
		}
	}
	for len(rows) > max(n, 1) {
		// the last two become one
		i := len(rows) - 1
		a, b := &rows[i-1], rows[i]
		for _, cells := range []struct{ to, from *Cell }{{&a.Black, &b.Black}, {&a.White, &b.White}} {
			cells.to.Value += cells.from.Value
			cells.to.Delta += cells.from.Delta
			cells.to.Blank = cells.to.Blank && cells.from.Blank
		}
		a.Label = w.Others
		rows = rows[:i]
	}
	return rows
}

// columns are where the whole points of both players end, in pixels. A half point
// hangs behind.
type columns struct{ black, white int }

// columns leaves room for the longest numbers of some rows.
func (k *sprites) columns(rows []Row) columns {
	st := style{medium, k.u(k.number), rgb{}}
	widest, half := st.width("88"), 0
	for i := range rows {
		widest = max(widest, st.width(strings.TrimSuffix(cellText(rows[i].Black), "½")))
		if text := cellText(rows[i].White); strings.HasSuffix(text, "½") {
			half = st.width("½")
		}
	}
	return columns{k.u(k.ledgerBox.Min.X) + widest, k.u(k.ledgerBox.Max.X) - half}
}

// row draws a line of the ledger at a height in units: Black's number, a label,
// White's number, dim if others count and these do not. What the last turn changed
// stands beside the number, if there is room.
func (l *displayList) row(k *sprites, r *Row, at columns, counting bool, y int) {
	gap := k.u(6)
	st := style{medium, k.u(k.number), k.theme.text}
	label := style{regular, k.u(24), k.theme.dim}
	if r.Kind == Aside && counting {
		st.color = k.theme.dim
	}
	y = k.u(y)
	text := drawable(r.Label, "–")
	_, from := l.cell(k, st, r.Black, at.black, y)
	to, _ := l.cell(k, st, r.White, at.white, y)
	from, to = from+gap, to-gap
	tight := label
	tight.size = k.u(leastSize)
	if d, st := k.change(st, r.Black); r.Black.Delta != 0 && from+st.width(d)+gap+tight.width(text) <= to {
		l.text(from, y, d, st)
		from += st.width(d) + gap
	}
	if d, st := k.change(st, r.White); r.White.Delta != 0 && from+st.width(d)+gap+tight.width(text) <= to {
		l.right(to, y, d, st)
		to -= st.width(d) + gap
	}
	text, label = label.fit(text, to-from, k.u(leastSize-3))
	x := (at.black+at.white)/2 - label.width(text)/2
	x = max(min(x, to-label.width(text)), from)
	l.text(x, y, text, label)
}

// cell draws a number whose whole points end at x, and returns where it begins and
// ends.
func (l *displayList) cell(k *sprites, st style, c Cell, x, y int) (from, to int) {
	if c.Value == 0 {
		st.color = k.theme.faint
	}
	text := cellText(c)
	from = x - st.width(strings.TrimSuffix(text, "½"))
	l.text(from, y, text, st)
	return from, from + st.width(text)
}

func cellText(c Cell) string {
	if c.Blank {
		return "–"
	}
	return c.Value.String()
}

// change writes how much the last turn has changed a number: an arrow, so that readers
// do not add it to the number, and the amount.
func (k *sprites) change(st style, cell Cell) (string, style) {
	if cell.Delta < 0 {
		st.color = k.theme.loss
		return "▼" + (-cell.Delta).String(), st
	}
	st.color = k.theme.gain
	return "▲" + cell.Delta.String(), st
}

// signed writes a change in a text: "+4", "−½".
func signed(p rules.Points) string {
	if p > 0 {
		return "+" + p.String()
	}
	return p.String()
}

// table draws the bowls and what lies between them.
func (l *displayList) table(k *sprites, s *Scene) {
	box := k.tableBox
	if box.Empty() {
		return
	}
	mid, y := middle(box)
	for _, side := range []struct {
		p      *Player
		x, in  int // of the bowl, and the direction of the table from there
		stones int // their colour
	}{
		{&s.Black, box.Min.X + bowlRadius + 1, 1, white},
		{&s.White, box.Max.X - bowlRadius - 1, -1, black},
	} {
		l.stamp(k.u(side.x), k.u(y), k.bowl.lid)
		l.fillBowl(k, side.x, y, side.stones, side.p.Bowl)
		for i := range min(side.p.Bowl.Buttons, 3) {
			l.stamp(k.u(side.x+side.in*(bowlRadius-4)), k.u(y+bowlRadius-buttonSize/2-i*(buttonSize-8)), k.button)
		}
	}
	if s.Table.Zone {
		l.stamp(k.u(mid-zoneWidth/2), k.u(y-zoneHeight/2), k.zone)
		l.fill(image.Rect(k.u(mid)&^1, k.u(y-zoneHeight/2+6), k.u(mid)&^1+2, k.u(y+zoneHeight/2-6)), k.theme.faint)
		for _, side := range []struct{ in, n, color int }{{-1, s.Black.Bowl.HalfPasses, white}, {1, s.White.Bowl.HalfPasses, black}} {
			x := k.u(mid + side.in*zoneWidth/4)
			if side.n == 0 {
				l.centred(x, k.u(y), "½", style{regular, k.u(k.number), k.theme.faint})
			}
			// Two of them lie side by side; there are never more.
			n := min(side.n, 2)
			for i := range n {
				l.stamp(x+k.u((2*i-n+1)*9), k.u(y), k.bowl.stone[side.color])
			}
		}
	}
	n := min(s.Table.Buttons, 3)
	for i := range n {
		l.stamp(k.u(mid+(2*i-n+1)*(buttonSize+6)/2), k.u(y), k.button)
	}
}

// legend draws the name of the ruleset, what things are worth, and if there is
// room what the ruleset says of winning and passing.
func (l *displayList) legend(k *sprites, s *Scene) {
	box := k.legendBox
	y := box.Min.Y
	line := func(from int, text string, st style) {
		text, st = st.fit(text, k.u(box.Max.X-from), k.u(leastSize-2))
		l.text(k.u(from), k.u(y+legendPitch/2), text, st)
		y += legendPitch
	}
	if s.Ruleset != "" {
		line(box.Min.X, drawable(s.Ruleset, ""), style{medium, k.u(legendSize), k.theme.text})
	}
	for _, worth := range s.Legend {
		if y+legendPitch > box.Max.Y {
			return
		}
		x := k.u(box.Min.X + 12)
		switch worth.Thing {
		case rules.ButtonThing:
			l.stamp(x, k.u(y+legendPitch/2), k.small)
		case rules.UltimateStone:
			l.stamp(x, k.u(y+legendPitch/2), k.bowl.ultimate[white])
		default:
			l.stamp(x, k.u(y+legendPitch/2), k.bowl.stone[white])
		}
		line(box.Min.X+30, drawable(worth.Text, ""), style{regular, k.u(legendSize), k.theme.dim})
	}
	st := style{regular, k.u(legendSize - 2), k.theme.dim}
	var aim [][]string
	height := 0
	for _, sentence := range s.Aim {
		lines := st.wrap(drawable(sentence, ""), k.u(box.Dx()))
		if isCut(lines) {
			return
		}
		aim = append(aim, lines)
		height += len(lines)*legendPitch + 2
	}
	if y+height > box.Max.Y {
		return
	}
	for _, lines := range aim {
		y += 2
		for _, text := range lines {
			line(box.Min.X, text, st)
		}
	}
}

// lay is where stones lie in a bowl, in parts of its radius: the first in the
// middle, then rings around it.
var lay = [][2]float64{
	{0, 0},
	{0.40, 0.10}, {-0.40, -0.08}, {0.12, -0.40}, {-0.14, 0.40}, {0.34, -0.30}, {-0.32, 0.28}, {-0.30, -0.42}, {0.30, 0.44},
	{0.58, -0.10}, {-0.58, 0.12}, {0.00, 0.58}, {0.02, -0.60}, {0.54, 0.36}, {-0.56, -0.34}, {-0.42, 0.50}, {0.46, -0.48},
}

// fillBowl draws the stones in a bowl: as many as there are, up to the number that
// readers can tell apart.
func (l *displayList) fillBowl(k *sprites, x, y, color int, in Bowl) {
	b := &k.bowl
	n := min(in.Stones, len(lay)-1)
	at := func(i int) (int, int) {
		return k.u(x) + int(lay[i][0]*float64(k.u(bowlRadius))), k.u(y) + int(lay[i][1]*float64(k.u(bowlRadius)))
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

// footer draws the last turn and what is next, and in a lesson how far it has come.
func (l *displayList) footer(k *sprites, s *Scene) {
	box := k.footerBox
	l.stamp(k.u(box.Min.X), k.u(box.Min.Y), k.turn)
	title, color := drawable(s.Told, "–"), s.By
	if s.Turn != "" {
		title = strconv.Itoa(s.Move) + "  " + drawable(s.Turn, "–")
	} else if color = rules.Black; s.White.Due && !s.Black.Due {
		color = rules.White
	}
	x, y := box.Min.X+26, (box.Min.Y+box.Max.Y)/2
	l.stamp(k.u(x), k.u(y), k.icon[color])
	if s.Last != nil {
		l.stamp(k.u(x), k.u(y), k.dot[color])
	}
	left, right := box.Min.X+54, box.Max.X-10
	next := style{regular, k.u(23), k.theme.dim}
	title2 := style{bold, k.u(k.number), k.theme.text}
	said := drawable(s.Next, "–")
	if box.Dx() > 2*k.number*10 { // side by side
		text := k.mixed(title, k.u(right-left)/2, title2)
		l.runs(k.u(left), k.u(y), text)
		said, next = next.fit(said, k.u(right-left)/2-k.u(8), k.u(leastSize))
		l.right(k.u(right), k.u(y), said, next)
	} else {
		l.runs(k.u(left), k.u(box.Min.Y+22), k.mixed(title, k.u(right-left), title2))
		said, next = next.fit(said, k.u(right-left), k.u(leastSize))
		l.text(k.u(left), k.u(box.Max.Y-14), said, next)
	}
	if s.Steps > 0 {
		from, to := k.u(box.Min.X+12), k.u(box.Max.X-12)
		at := from + (to-from)*min(max(s.Step, 0), s.Steps)/s.Steps
		top := k.u(box.Max.Y - 5)
		l.fill(image.Rect(from, top, at, top+k.u(3)), k.theme.due)
		l.fill(image.Rect(at, top, to, top+k.u(3)), k.theme.rule)
	}
}
