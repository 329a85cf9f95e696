package render

import (
	"fmt"
	"image"
	"io"
	"strings"
	"unicode"

	"github.com/fogleman/gg"
	"golang.org/x/text/width"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A Chart compares margins: one row for each count, with a bar from a zero line, to the left
// for Black and to the right for White. The texts are those that people read; a chart
// knows no words of its own but the names of the colours.
type Chart struct {
	Title        string
	Black, White string   // the players' names, not cleaned yet; both empty: no names
	Lead         []string // sentences above the rows
	Rows         []ChartRow
	Notes        []string // sentences below the rows
	Look         Options  // as [Scene] has it
	Words        *Words   `json:"-"` // nil: [English]
}

// A ChartRow is a count of a [Chart].
type ChartRow struct {
	Title  string       // what counts: "Two Button Go"
	Label  string       // beside the title, small: "this game"; may be empty
	Bar    bool         // there is a margin
	Margin rules.Points // Black's less White's
	Value  string       // the margin in words: "Black +4", or that there is none
	Flip   string       // says that another player wins, and sets the row off; empty: the same wins
	Why    string       // a sentence; may be empty
	Same   string       // which others come to the same; may be empty
}

// The layout of a chart, in units: pixels of the medium picture. On a phone, where it is
// 350 pixels wide, its digits are 11 pixels high.
const (
	chartWide   = 720
	chartMargin = 26
	chartZero   = chartWide / 2
	barReach    = chartZero - chartMargin // of the longest bar
	barHeight   = 24
	maxRows     = 100 // that are drawn
)

// Text returns the chart in words: the title, every row, the notes. Where that is longer
// than [MaxText] it leaves out what explains a row, from the end, and at last what
// stands around the rows.
func (t Chart) Text() string {
	w := t.words()
	rows, heads, same := "", make([]string, len(t.Rows)), make([]string, len(t.Rows))
	for i, r := range t.Rows {
		head := r.head() + ": " + r.Value
		if r.Flip != "" {
			head += ", " + r.Flip
		}
		heads[i], same[i] = w.stopped(head), w.stopped(r.Same)
		rows += heads[i] + same[i]
	}
	around := func(texts []string) (s string) {
		for _, text := range texts {
			s += w.stopped(text)
		}
		return s
	}
	before, after := w.stopped(t.Title)+w.ended(t.players(written))+around(t.Lead), around(t.Notes)
	if length(before)+length(rows)+length(after) > MaxText {
		after = ""
	}
	if length(before)+length(rows) > MaxText {
		before = ""
	}
	room := MaxText - length(before) - length(rows) - length(after)
	out := before
	for i, r := range t.Rows {
		out += heads[i]
		if why := w.stopped(r.Why); length(why) <= room {
			out += why
			room -= length(why)
		}
		out += same[i]
	}
	return cut(strings.TrimSpace(out+after), MaxText)
}

// Letters returns the chart in lines, the margins under each other.
func (t Chart) Letters() string {
	var b strings.Builder
	for _, text := range append([]string{t.Title, t.players(written)}, t.Lead...) {
		if text != "" {
			fmt.Fprintln(&b, text)
		}
	}
	title, value := 0, 0
	for _, r := range t.Rows {
		title, value = max(title, printed(r.head())), max(value, printed(r.Value))
	}
	for _, r := range t.Rows {
		line := pad(r.head(), title) + "  " + pad(r.Value, value) + "  " + r.Flip
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(line, " "))
		for _, more := range []string{r.Why, r.Same} {
			if more != "" {
				fmt.Fprintf(&b, "  %s\n", more)
			}
		}
	}
	if len(t.Notes) > 0 {
		fmt.Fprintln(&b)
	}
	for _, n := range t.Notes {
		fmt.Fprintln(&b, n)
	}
	return strings.TrimRight(b.String(), "\n")
}

// written returns a name for texts, in which every letter can stand.
func written(name, _ string) string { return isolated(name) }

// players names both players as shown has it, [drawable] or [written]; "" if they have
// no names.
func (t *Chart) players(shown func(name, instead string) string) string {
	if t.Black == "" && t.White == "" {
		return ""
	}
	w := t.words()
	return shown(clean(t.Black, w.Black), w.Black) + " – " + shown(clean(t.White, w.White), w.White)
}

func (r *ChartRow) head() string {
	if r.Label == "" {
		return r.Title
	}
	return r.Title + " (" + r.Label + ")"
}

// pad returns a text with spaces behind it up to a column of a terminal.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(to-printed(s), 0)) }

// printed returns how many columns a text takes in a terminal.
func printed(s string) int {
	n := 0
	for _, r := range s {
		switch k := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case k == width.EastAsianWide || k == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

func (t *Chart) words() *Words {
	if t.Words == nil {
		return &English
	}
	return t.Words
}

// Draw writes the chart as a PNG, 540, 720 or 1080 pixels wide and as high as it must
// be. The same chart and options give the same bytes. It may be called concurrently.
func (t Chart) Draw(w io.Writer, o Options) error {
	l, err := t.list(o)
	if err != nil {
		return err
	}
	return l.encode(w)
}

// Bounds returns the width and height of the picture in pixels.
func (t Chart) Bounds(o Options) (w, h int, err error) {
	l, err := t.list(o)
	if err != nil {
		return 0, 0, err
	}
	w, h = l.bounds()
	return w, h, nil
}

// list lays the chart out.
func (t *Chart) list(o Options) (*chartList, error) {
	o, err := o.over(t.Look).complete()
	if err != nil {
		return nil, err
	}
	k := spritesFor(o, 19, 19) // a common set: of its background alone there is need
	l := newChartList(k, chartWide)
	l.chart(t)
	return l, nil
}

// A chartList collects the ops of a chart or a sheet from the top down.
type chartList struct {
	displayList
	k    *sprites
	wide int // units
	y    int // where the next line begins, in units
}

func newChartList(k *sprites, wide int) *chartList {
	return &chartList{displayList{palette: k.palette}, k, wide, chartMargin}
}

func (l *chartList) bounds() (w, h int) { return l.k.u(l.wide) &^ 1, l.k.u(l.y) }

// encode writes the picture as a PNG.
func (l *chartList) encode(w io.Writer) error {
	k := l.k
	c := newCanvas(l.bounds())
	c.palette = k.palette
	row := make([]uint8, c.w)
	for x := range row {
		row[x] = k.palette.of(k.theme.panel)
	}
	c.paint(&background{sizeKey: k.sizeKey, layout: &layout{}, plain: row}, l.ops, c.bounds())
	return encode(w, c, k.bits, nil)
}

// style returns a style, its size in units.
func (l *chartList) style(w weight, size int, c rgb) style { return style{w, l.k.u(size), c} }

// lines sets a sentence in as many lines as it takes, pitch units apart.
func (l *chartList) lines(text string, pitch int, st style) {
	if text != "" {
		l.wrapped(capital(drawable(text, "")), pitch, st)
	}
}

// wrapped is lines for a text that can be drawn, and keeps its small letters.
func (l *chartList) wrapped(text string, pitch int, st style) {
	if text == "" {
		return
	}
	for _, line := range st.wrap(text, l.k.u(l.wide-2*chartMargin)) {
		l.text(l.k.u(chartMargin), l.k.u(l.y+pitch/2), line, st)
		l.y += pitch
	}
}

// stone draws a stone around x, y, in units.
func (l *chartList) stone(x, y int, fill, edge rgb) {
	l.stamp(l.k.u(x), l.k.u(y), l.k.object(30, func(dc *gg.Context) {
		l.k.circle(dc, 0, 0, 14, edge)
		l.k.circle(dc, 0, 0, 12, fill)
	}))
}

// box fills a rectangle given in units.
func (l *chartList) box(x0, y0, x1, y1 int, c rgb) {
	k := l.k
	l.fill(image.Rect(k.u(x0), k.u(y0), k.u(x1), k.u(y1)), c)
}

func (l *chartList) chart(t *Chart) {
	k, th := l.k, l.k.theme
	right := chartWide - chartMargin
	l.lines(t.Title, 44, l.style(bold, 36, th.text))
	for _, text := range append([]string{t.players(drawable)}, t.Lead...) {
		l.lines(text, 35, l.style(regular, 28, th.dim))
	}
	l.y += 14
	w, side := t.words(), l.style(medium, 28, th.text)
	l.stone(chartMargin+14, l.y+18, th.blackTile, th.blackBorder)
	l.text(k.u(chartMargin+38), k.u(l.y+18), drawable(w.Black, ""), side)
	l.stone(right-14, l.y+18, th.whiteTile, th.whiteBorder)
	l.right(k.u(right-38), k.u(l.y+18), drawable(w.White, ""), side)
	l.y += 44
	most := rules.Points(0)
	for _, r := range t.Rows {
		most = max(most, r.Margin, -r.Margin)
	}
	for i := range t.Rows[:min(len(t.Rows), maxRows)] {
		l.row(&t.Rows[i], most)
	}
	l.y += 12
	for _, text := range t.Notes {
		l.lines(text, 33, l.style(regular, 26, th.dim))
	}
	l.y += 22
}

// row draws a count below a rule: title and margin, the bar, the reason, and which
// others are the same. The rows of another winner have a ground of their own.
func (l *chartList) row(r *ChartRow, most rules.Points) {
	k, th := l.k, l.k.theme
	right := chartWide - chartMargin
	top, ground := l.y, len(l.ops)
	l.y += 12
	value := l.style(bold, 36, th.text)
	at := k.u(right) - value.width(r.Value)
	l.text(at, k.u(l.y+22), r.Value, value)
	if r.Flip != "" {
		flip := l.style(bold, 26, th.onBanner)
		text := drawable(r.Flip, "")
		wide := flip.width(text) + k.u(24)
		at -= wide + k.u(18)
		l.stamp(at, k.u(l.y+4), k.box(image.Rect(0, 0, wide*4/k.quarter, 36), 10, 0, th.banner, th.banner))
		l.text(at+k.u(12), k.u(l.y+22), text, flip)
	}
	room := at*4/k.quarter - 18 - chartMargin
	title := l.style(medium, 32, th.text)
	lines := title.wrap(drawable(r.Title, "–"), k.u(room))
	for i, line := range lines {
		if i > 0 {
			l.y += 36
		}
		l.text(k.u(chartMargin), k.u(l.y+22), line, title)
	}
	if r.Label != "" {
		label := l.style(regular, 27, th.dim)
		x := k.u(chartMargin) + title.width(lines[len(lines)-1]) + k.u(14)
		if x+label.width(r.Label) > k.u(chartMargin+room) {
			x = k.u(chartMargin)
			l.y += 34
		}
		l.text(x, k.u(l.y+22), drawable(r.Label, ""), label)
	}
	l.y += 50
	if r.Bar {
		l.bar(r.Margin, most)
		l.y += barHeight + 10
	}
	l.lines(r.Why, 34, l.style(regular, 28, th.text))
	l.lines(r.Same, 33, l.style(regular, 26, th.dim))
	l.y += 14
	// The background of the row was not known before.
	at, drawn := len(l.ops), l.ops[ground:]
	if r.Flip != "" {
		l.box(0, top, chartWide, l.y, th.footer)
		l.box(0, top, 10, l.y, th.due)
	}
	l.box(chartMargin, top, right, top+2, th.rule)
	under := append([]op(nil), l.ops[at:]...)
	l.ops = append(append(l.ops[:ground:ground], under...), drawn...)
}

// bar draws a margin from the zero line, on the scale of the largest one, in a groove on
// which both colours can be seen.
func (l *chartList) bar(margin, most rules.Points) {
	th := l.k.theme
	l.box(chartMargin, l.y, chartWide-chartMargin, l.y+barHeight, th.rule)
	if margin != 0 {
		reach := max(int(barReach*max(margin, -margin)/most), 6)
		x0, x1, fill, edge := chartZero-reach, chartZero, th.blackTile, th.blackBorder
		if margin < 0 {
			x0, x1, fill, edge = chartZero, chartZero+reach, th.whiteTile, th.whiteBorder
		}
		l.box(x0, l.y, x1, l.y+barHeight, edge)
		l.box(x0+2, l.y+2, x1-2, l.y+barHeight-2, fill)
	}
	l.box(chartZero-1, l.y-6, chartZero+2, l.y+barHeight+6, th.dim)
}
