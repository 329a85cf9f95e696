package render

import (
	"cmp"
	"image"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fogleman/gg"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A Sheet is the table of an event: of a group in which everybody plays everybody, or of
// a Swiss tournament. It has a row for each player, with games and then totals. Its texts
// are in the language of the readers; Words only joins them.
//
// The picture is legible where a phone shows it 350 pixels wide. It holds the first
// rows of a long table. Where columns have no room it leaves out the oldest games; a
// cross-table keeps all and grows wider.
type Sheet struct {
	Title, Subtitle string
	Games           []SheetHeading // of the columns of games: rounds, or opponents
	Totals          []SheetHeading // of the score and then of tie-breaks
	Rows            []SheetRow     // the first place first
	More            string         // tells how many rows are left out, with %d for their number, two or more; empty: "… +%d"
	Notes           []string       // sentences below the rows
	Below           []Sheet        // the tables of other groups, below this one in the same picture
	Look            Options        // as [Scene] has it; of the whole picture
	Words           *Words         `json:"-"` // nil: [English]
}

// A SheetHeading is the heading of a column.
type SheetHeading struct {
	Short string // above the column: "3", "SOS"
	Long  string // for people who hear it: "round 3", an opponent's name; empty: Short
}

// A SheetRow is a player. Games and Totals may be shorter than the headings.
type SheetRow struct {
	Number    string // "1", counted from above; may be empty. Against and the headings of a cross-table refer to it, because players may share a place
	Name      string // as people typed it, or as [WithHandle] returns it
	Rank      string // "3d"; may be empty. The picture has it where the player plays on
	Games     []SheetGame
	Totals    []SheetTotal
	Withdrawn string // a word that says so, and has the name struck out; empty: the player plays on
}

// A SheetTotal is a score or a tie-break.
type SheetTotal struct {
	Value   rules.Points // in half points
	Quarter bool         // and a quarter of a point: SODOS adds half of an opponent's score for a draw
	Blank   bool         // it does not exist for this player
}

// Quarters returns a total of so many quarters of a point.
func Quarters(n int) SheetTotal { return SheetTotal{Value: rules.Points(n >> 1), Quarter: n&1 == 1} }

// A SheetGame is a game of the player of a row, or a gap.
type SheetGame struct {
	State   SheetState
	Against string       // number of the opponent where the column does not tell: "12"; empty for a bye
	Color   rules.Color  // of the player of the row; None: it is not shown
	Margin  rules.Points // by which a game was won or lost, in half points, not negative; 0: it was not counted
	How     string       // shown instead of the margin: "R", "T"; of an open game the number of turns
	Due     bool         // the player of the row is to act
	Said    string       // all this in words: "won by 3½", "Black to play, 41 turns"; empty: it is not worth telling
}

// A SheetState tells how a game stands.
type SheetState uint8

// The states of games.
const (
	NoGame SheetState = iota // the player sat out, or the game does not count
	Self                     // where the row of a cross-table meets its own column
	Open
	Won
	Drawn
	Lost
)

// sheetSigns tell the states apart without colours.
var sheetSigns = [...]string{NoGame: "–", Self: "", Open: "…", Won: "+", Drawn: "=", Lost: "−"}

// dueSign is the sign of an open game in which the player of the row is to act.
const dueSign = "▸"

func (g *SheetGame) sign() string {
	switch {
	case int(g.State) >= len(sheetSigns):
		return sheetSigns[NoGame]
	case g.State == Open && g.Due:
		return dueSign
	}
	return sheetSigns[g.State]
}

// by returns the margin, or How where there is none.
func (g *SheetGame) by() string {
	if g.Margin != 0 {
		return max(g.Margin, -g.Margin).String()
	}
	return g.How
}

// maxSheetText is how many characters of a title or a note are drawn.
const maxSheetText = 200

// A sheet of more than mostSheetRows rows is cut to sheetRows. The gap between the two keeps
// it from leaving out a row or two that would take no more room than saying so.
const sheetRows, mostSheetRows = 20, 24

// shown returns how many rows the picture has.
func (t *Sheet) shown() int {
	if len(t.Rows) > mostSheetRows {
		return sheetRows
	}
	return len(t.Rows)
}

// more says that n rows are left out; "" for none.
func (t *Sheet) more(n int) string {
	if n <= 0 {
		return ""
	}
	return strings.ReplaceAll(cmp.Or(t.More, "… +%d"), "%d", strconv.Itoa(n))
}

// cross reports whether the sheet is a cross-table, in which each column belongs to a row.
func (t *Sheet) cross() bool {
	return slices.ContainsFunc(t.Rows, func(r SheetRow) bool {
		return slices.ContainsFunc(r.Games, func(g SheetGame) bool { return g.State == Self })
	})
}

func (t *Sheet) words() *Words {
	if t.Words == nil {
		return &English
	}
	return t.Words
}

// heard returns the name of a column for people who hear it.
func (h SheetHeading) heard() string { return isolated(cleaned(cmp.Or(h.Long, h.Short), "", 60)) }

// shownName returns the name in the picture. The number stands for a name that no font has a
// letter of.
func (r *SheetRow) shownName() string {
	if number := drawable(r.Number, ""); number != "" {
		return nameplate(r.Name, "#"+number)
	}
	return nameplate(r.Name, "–")
}

// Picture returns the sheet as a picture; none of nil.
func (t *Sheet) Picture() Picture {
	if t == nil {
		return nil
	}
	return *t
}

// Draw writes the sheet as a PNG, 540, 720 or 1080 pixels wide, a large cross-table up to
// half as much again, and as high as it must be. The same sheet and options give the same
// bytes. It may be called concurrently.
func (t Sheet) Draw(w io.Writer, o Options) error {
	l, err := t.list(o)
	if err != nil {
		return err
	}
	return l.encode(w)
}

// Bounds returns the width and height of the picture in pixels.
func (t Sheet) Bounds(o Options) (w, h int, err error) {
	l, err := t.list(o)
	if err != nil {
		return 0, 0, err
	}
	w, h = l.bounds()
	return w, h, nil
}

// list lays the sheet out.
func (t *Sheet) list(o Options) (*chartList, error) {
	o, err := o.over(t.Look).complete()
	if err != nil {
		return nil, err
	}
	l := newChartList(spritesFor(o, 19, 19), chartWide)
	l.sheet(t)
	return l, nil
}

// The layout of a sheet, in units. A row has two lines: name and rank, and of a game
// its sign and its margin.
const (
	sheetPitch  = 58 // from row to row
	sheetAbove  = 18 // from the top of a row to the middle of its first line
	sheetBelow  = 41 // and of its second
	sheetGap    = 10 // between columns that are no games
	leastGame   = 44 // width of a column of games
	mostGame    = 76
	leastName   = 140
	widestSheet = 1080
	chipRadius  = 9 // of the stone beside a sign
)

// Sizes of the letters of a sheet, in units.
const (
	placeSize   = 28
	sheetName   = 29
	secondLine  = 25 // rank, margin
	signSize    = 34
	scoreSize   = 34
	totalSize   = 28
	headingSize = 22
)

// A sheetPlan is where the columns of a sheet lie, in pixels.
type sheetPlan struct {
	wide   int               // of the picture, in units
	place  int               // where places end
	name   image.Rectangle   // only X counts here, as in all the others
	first  int               // the first column of games that is drawn
	games  []image.Rectangle // from first on
	totals []image.Rectangle // as many as there is room for
	parts  []int             // widths of the parts of a point that hang behind the points of those
}

// plan gives every column its width and what is left to the names, in a picture at least so many
// units wide.
func (l *chartList) plan(t *Sheet, wide int) sheetPlan {
	k := l.k
	rows := t.Rows[:t.shown()]
	place, game := 0, k.u(leastGame)
	for i := range rows {
		r := &rows[i]
		place = max(place, l.style(bold, placeSize, rgb{}).width(drawable(r.Number, "")))
		for j := range r.Games {
			game = max(game, l.gameWidth(&r.Games[j])+k.u(8))
		}
	}
	game = min(game, k.u(mostGame))
	p := sheetPlan{wide: max(wide, chartWide), place: k.u(chartMargin) + min(place, k.u(mostGame))}
	totals := make([]int, len(t.Totals))
	for i, h := range t.Totals {
		points, part := 0, 0
		for j := range rows {
			if i < len(rows[j].Totals) {
				number, st := rows[j].Totals[i].String(), l.totalStyle(i)
				points = max(points, st.width(whole(number)))
				part = max(part, st.width(strings.TrimPrefix(number, whole(number))))
			}
		}
		p.parts = append(p.parts, part)
		totals[i] = min(max(points+part, l.style(regular, headingSize, rgb{}).width(drawable(h.Short, ""))), k.u(2*mostGame)) + k.u(sheetGap)
	}

	from := p.place + k.u(sheetGap)
	room := func() int {
		all := (len(t.Games) - p.first) * game
		for _, w := range totals {
			all += w
		}
		return k.u(p.wide-chartMargin) - from - all - k.u(sheetGap)
	}
	short := func() int { return k.u(leastName) - room() }
	if t.cross() && short() > 0 {
		p.wide = min(p.wide+short()*4/k.quarter+2, widestSheet)
	}
	for p.first < len(t.Games)-1 && short() > 0 {
		p.first++
	}
	for len(totals) > 1 && short() > 0 {
		totals = totals[:len(totals)-1]
	}
	for len(t.Games) > p.first && short() > 0 {
		p.first++
	}
	column := func(width int) image.Rectangle {
		r := image.Rect(from, 0, from+width, 0)
		from += width
		return r
	}
	p.name = column(max(room(), 0))
	from += k.u(sheetGap)
	for range t.Games[p.first:] {
		p.games = append(p.games, column(game))
	}
	for _, w := range totals {
		p.totals = append(p.totals, column(w))
	}
	return p
}

// totalStyle is the style of a column of totals, of which the first is the score.
func (l *chartList) totalStyle(i int) style {
	if i == 0 {
		return l.style(bold, scoreSize, l.k.theme.text)
	}
	return l.style(regular, totalSize, l.k.theme.dim)
}

// String returns the total as people write it: "10¾", or "–" for one that does not exist.
func (n SheetTotal) String() string {
	if n.Blank || !n.Quarter {
		return cellText(Cell{Value: n.Value, Blank: n.Blank})
	}
	quarters, sign := 2*int(n.Value)+1, ""
	if quarters < 0 {
		quarters, sign = -quarters, "−"
	}
	part := map[int]string{1: "¼", 3: "¾"}[quarters%4]
	if quarters < 4 {
		return sign + part
	}
	return sign + strconv.Itoa(quarters/4) + part
}

// whole returns a number without the part of a point that hangs behind it.
func whole(number string) string { return strings.TrimRight(number, "¼½¾") }

// sheet draws everything.
func (l *chartList) sheet(t *Sheet) {
	l.wide = l.plan(t, 0).wide
	for i := range t.Below {
		l.wide = max(l.wide, l.plan(&t.Below[i], 0).wide)
	}
	l.table(t)
	for i := range t.Below {
		l.table(&t.Below[i])
	}
}

// table draws a sheet without those below it.
func (l *chartList) table(t *Sheet) {
	th := l.k.theme
	p := l.plan(t, l.wide)
	l.wrapped(drawable(cut(t.Title, maxSheetText), ""), 44, l.style(bold, 36, th.text))
	l.wrapped(drawable(cut(t.Subtitle, maxSheetText), ""), 35, l.style(regular, 28, th.dim))
	l.y += 10
	l.headings(t, &p)
	n := t.shown()
	for i := range t.Rows[:n] {
		l.player(&t.Rows[i], &p)
	}
	l.box(chartMargin, l.y, l.wide-chartMargin, l.y+2, th.rule)
	l.y += 12
	l.lines(t.more(len(t.Rows)-n), 33, l.style(medium, 26, th.text))
	for _, text := range t.Notes {
		l.lines(cut(text, maxSheetText), 33, l.style(regular, 26, th.dim))
	}
	l.y += 16
}

// headings draws the headings of the columns.
func (l *chartList) headings(t *Sheet, p *sheetPlan) {
	k := l.k
	y, least := k.u(l.y+15), k.u(leastSize)
	st := l.style(regular, headingSize, k.theme.dim)
	for i, box := range p.games {
		text, st := st.fit(drawable(t.Games[p.first+i].Short, ""), box.Dx()-k.u(4), least)
		l.centred((box.Min.X+box.Max.X)/2, y, text, st)
	}
	for i, box := range p.totals {
		text, st := st.fit(drawable(t.Totals[i].Short, ""), box.Dx()-k.u(4), least)
		l.right(box.Max.X, y, text, st)
	}
	if p.first > 0 {
		l.right(p.name.Max.X, y, "…", st)
	}
	l.y += 32
}

// player draws a row.
func (l *chartList) player(r *SheetRow, p *sheetPlan) {
	k, th := l.k, l.k.theme
	l.box(chartMargin, l.y, l.wide-chartMargin, l.y+2, th.rule)
	top, mid := l.y+2, k.u(l.y+2+(sheetPitch-2)/2)
	place, st := l.style(bold, placeSize, th.dim).fit(drawable(r.Number, ""), p.place-k.u(chartMargin), k.u(leastSize))
	l.right(p.place, mid, place, st)
	l.nameOf(r, p.name, top)
	for i := range r.Games[min(p.first, len(r.Games)):] {
		if i < len(p.games) {
			l.game(&r.Games[p.first+i], p.games[i], top)
		}
	}
	for i, box := range p.totals {
		if i >= len(r.Totals) {
			break
		}
		st := l.totalStyle(i)
		if r.Totals[i].Blank {
			st.color = th.faint
		}
		text, st := st.fit(r.Totals[i].String(), box.Dx(), k.u(leastSize))
		x := max(box.Max.X-p.parts[i]-st.width(whole(text)), box.Min.X)
		l.text(x, mid, text, st)
	}
	l.y += sheetPitch
}

// nameOf draws a name above a rank, or on one or two lines.
func (l *chartList) nameOf(r *SheetRow, box image.Rectangle, top int) {
	k, th := l.k, l.k.theme
	st := l.style(medium, sheetName, th.text)
	if r.Withdrawn != "" {
		st.color = th.dim
	}
	name, rank := r.shownName(), drawable(cmp.Or(r.Withdrawn, r.Rank), "")
	lines := []string{name}
	for st.size > k.u(secondLine) && st.width(name) > box.Dx() {
		st.size--
	}
	if two := st.wrap(name, box.Dx()); rank == "" && len(two) == 2 && !isCut(two) {
		lines = two
	}
	ys := []int{k.u(top + (sheetPitch-2)/2)}
	if rank != "" || len(lines) > 1 {
		ys = []int{k.u(top + sheetAbove - 2), k.u(top + sheetBelow)}
	}
	for i, line := range lines {
		line = st.elided(line, box.Dx())
		l.text(box.Min.X, ys[i], line, st)
		if r.Withdrawn != "" {
			l.fill(image.Rect(box.Min.X, ys[i], box.Min.X+st.width(line), ys[i]+max(k.u(2), 1)), st.color)
		}
	}
	if rank != "" {
		second := l.style(regular, secondLine, th.dim)
		l.text(box.Min.X, ys[1], second.cut(rank, box.Dx()), second)
	}
}

// signStyle is how the sign of a game is set.
func (l *chartList) signStyle(g *SheetGame) style {
	th := l.k.theme
	st := l.style(bold, signSize, th.text)
	switch g.State {
	case Won:
		st.color = th.gain
	case Lost:
		st.color = th.loss
	case Open:
		if !g.Due {
			st.color = th.dim
		}
	case NoGame:
		st.color = th.faint
	}
	return st
}

// signWidth returns the width of a sign with the stone before it.
func (l *chartList) signWidth(g *SheetGame) int {
	w := l.signStyle(g).width(g.sign())
	if l.k.chipFor(g.Color) != nil {
		w += l.k.u(2*chipRadius + 3)
	}
	return w
}

func (l *chartList) gameWidth(g *SheetGame) int {
	return max(l.signWidth(g), l.style(medium, secondLine+2, rgb{}).width(drawable(g.Against, "")), l.style(medium, secondLine, rgb{}).width(drawable(g.by(), "")))
}

// game draws a game: the opponent above stone and sign, or stone and sign above the margin.
func (l *chartList) game(g *SheetGame, box image.Rectangle, top int) {
	k, th := l.k, l.k.theme
	x := (box.Min.X + box.Max.X) / 2
	tile := image.Rect(box.Min.X+k.u(2), k.u(top+1), box.Max.X-k.u(2), k.u(top+sheetPitch-3))
	switch {
	case g.State == Self:
		half := k.u(8)
		y := k.u(top + (sheetPitch-2)/2)
		l.fill(image.Rect(x-half, y-half, x+half, y+half), th.rule)
		return
	case g.State == Won:
		l.fill(tile, th.footer)
	case g.State == Open && g.Due:
		l.fill(tile, th.due)
		tile = tile.Inset(k.u(2))
		l.fill(tile, th.panel)
	}
	sign := k.u(top + sheetAbove)
	second := l.style(medium, secondLine, th.text)
	if g.State != Won {
		second.color = th.dim
	}
	least := k.u(leastSize - 3)
	switch against, by := drawable(g.Against, ""), drawable(g.by(), ""); {
	case against != "":
		sign = k.u(top + sheetBelow - 1)
		second.size = k.u(secondLine + 2)
		text, st := second.fit(against, tile.Dx(), least)
		l.centred(x, k.u(top+sheetAbove-2), text, st)
	case by != "":
		text, st := second.fit(by, tile.Dx(), least)
		l.centred(x, k.u(top+sheetBelow), text, st)
	default:
		sign = k.u(top + (sheetPitch-2)/2)
	}
	from := x - l.signWidth(g)/2
	if chip := k.chipFor(g.Color); chip != nil {
		l.stamp(from+k.u(chipRadius), sign, chip)
		from += k.u(2*chipRadius + 3)
	}
	st := l.signStyle(g)
	if g.sign() == sheetSigns[Open] {
		sign -= st.size / 4 // its dots lie on the line
	}
	l.text(from, sign, g.sign(), st)
}

// chipFor returns the stone of a colour, nil of none.
func (g *background) chipFor(c rules.Color) *sprite {
	if int(c) >= len(g.chip) {
		return nil
	}
	return g.chip[c]
}

// chipOf draws the stone beside a sign, which can be seen on every panel.
func (g *background) chipOf(fill rgb) *sprite {
	return g.object(2*chipRadius+2, func(dc *gg.Context) {
		g.circle(dc, 0, 0, chipRadius, g.theme.faint)
		g.circle(dc, 0, 0, chipRadius-2, fill)
	})
}
