package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/rules"
)

// SVG writes the board of a scene as an element for an HTML page, without the panel.
//
// The element has a viewBox and no size: it is as large as the page lets it be. It has
// no style of its own but presentation attributes, whose colours are the custom
// properties that [SVGCSS] lists, with those of Options.Theme where the page sets none.
// The names of the lines are set in the font of the page.
//
// Each point is an element with the attribute data-point, "D4", that reaches half way
// to its neighbours and takes presses, also where it is empty. It uses a group that
// holds all that lies there. Ids begin with Options.Prefix, which must differ between
// the boards of a page. With a prefix "b", "bX" and "bO" are the stones of Black and
// White, "bG" and "bH" their ghosts, for what a page lays under the pointer.
//
// For a screen reader the board is one image, labelled with the last turn and what is
// next; the page tells the rest. [SVGGrid] names every point.
//
// The same scene and options give the same bytes. SVG may be called concurrently.
func SVG(w io.Writer, s Scene, o Options) error { return SVGGrid(w, s, o, nil) }

// SVGGrid writes what [SVG] writes as a WAI-ARIA grid of rows and cells, in which name
// returns the accessible name of each point, as the function of [PointNames] does. The
// points have no data-point, which a page can add by row and column. It also decides which
// cell has the focus, and whether the grid is read-only. Where name is nil the board is an
// image.
func SVGGrid(w io.Writer, s Scene, o Options, name func(rules.Point) string) error {
	o, err := o.over(s.Look).complete()
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return err
	}
	if o.Prefix == "" {
		o.Prefix = "b"
	}
	if !isPrefix(o.Prefix) {
		return fmt.Errorf("render: no prefix of ids: %q", o.Prefix)
	}
	v := &svg{Scene: &s, o: o, name: name, band: labelBand, theme: looks[look{o.Theme, o.Panel}]}
	if o.Coordinates == "none" {
		v.band = 4
	}
	v.columns, v.rows = s.Size()
	v.cell = sizeKey{scales["medium"], "landscape"}.cellOf(v.columns, v.rows)
	v.draw()
	_, err = w.Write(v.out.Bytes())
	return err
}

// isPrefix reports whether something can be a prefix. It ends in no digit: ids are a
// prefix with a number or one letter behind it, so no two boards share one.
var isPrefix = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_-]{0,62}[A-Za-z_-])?$`).MatchString

// An svg is a board being written. Lengths are pixels of the medium picture, on the
// board itself cells.
type svg struct {
	*Scene
	o             Options
	name          func(rules.Point) string
	columns, rows int
	cell, band    int
	theme         *theme
	fill          *strings.Replacer
	out           bytes.Buffer
}

// svgProperties are the custom properties of a board, without "--board-". Of a flat
// theme the light of a stone is that of its disc.
var svgProperties = []struct {
	name string
	of   func(t *theme) string
}{
	{"wood", func(t *theme) string { return t.wood[1].over(t.wood[0], 0.5).css() }},
	{"line", func(t *theme) string { return t.line.css() }},
	{"label", func(t *theme) string { return t.label.css() }},
	{"black", func(t *theme) string { return t.blackStone.css() }},
	{"black-light", func(t *theme) string { return t.ifFlat(t.blackStone.css(), "#747476") }},
	{"black-rim", func(t *theme) string { return t.blackRimOr(hex(0x08080A)).css() }},
	{"white", func(t *theme) string { return t.whiteStone.css() }},
	{"white-shade", func(t *theme) string { return t.ifFlat(t.whiteStone.css(), "#BDB6AA") }},
	{"white-rim", func(t *theme) string { return t.rim.css() }},
	{"rim-width", func(t *theme) string { return t.ifFlat(fmt.Sprint(t.lineWidth), "0.02") }},
	{"shadow", func(t *theme) string { return t.ifFlat("transparent", t.shadow.css()) }},
	{"mark", func(t *theme) string { return t.mark.css() }},
	{"mark-on-black", func(t *theme) string { return t.markOnBlack.css() }},
	{"on-mark", func(t *theme) string { return t.onMark.css() }},
	{"pill", func(t *theme) string { return t.pill.css() }},
	{"on-pill", func(t *theme) string { return t.onPill.css() }},
}

func (c rgb) css() string { return fmt.Sprintf("#%02X%02X%02X", c.r, c.g, c.b) }

func (t *theme) ifFlat(flat, round string) string {
	if t.flat {
		return flat
	}
	return round
}

// SVGCSS returns a stylesheet for pages with boards of [SVG]. The classes board-wood,
// board-book, board-slate and board-contrast, on a board or around it, give it that
// theme whatever it was written with; board-auto is wood, and on a dark page slate.
// For those who ask for more contrast or force colours, board-auto and board-yields, which
// may stand beside a theme, are contrast. A page may set the
// custom properties itself.
func SVGCSS() string {
	rule := func(selector, theme string) string {
		var b strings.Builder
		b.WriteString(selector + " {")
		for _, p := range svgProperties {
			fmt.Fprintf(&b, " --board-%s: %s;", p.name, p.of(looks[look{theme, ""}]))
		}
		return b.String() + " }\n"
	}
	css := ".board { user-select: none; }\n.board text { forced-color-adjust: none; }\n"
	for _, theme := range Themes() {
		css += rule(".board-"+theme, theme)
	}
	return css + rule(".board-auto", "wood") +
		"@media (prefers-color-scheme: dark) {\n" + rule(".board-auto", "slate") + "}\n" +
		"@media (prefers-contrast: more), (forced-colors: active) {\n" + rule(".board-auto, .board-yields", "contrast") + "}\n"
}

// svgShapes are what a point is made of, in cells from its middle. A shape stands in
// the document as the prefix and its letter; {name} is a custom property, {#} the prefix;
// {thick} is the thickness of a line, {side}, {half} and {rim} are those of a square.
var svgShapes = []struct{ letter, drawn string }{
	{"E", `<rect x="-.5" y="-.5" width="1" height="1" fill="none" pointer-events="fill"/>`},
	{"B", `<circle r=".478" fill="url(#{#}Y)"/>` + svgRim("black")},
	{"W", `<circle r=".478" fill="url(#{#}Z)"/>` + svgRim("white")},
	{"X", `<circle cx=".055" cy=".085" r=".588" fill="url(#{#}V)" pointer-events="none"/><use href="#{#}B"/>`},
	{"O", `<circle cx=".055" cy=".085" r=".588" fill="url(#{#}V)" pointer-events="none"/><use href="#{#}W"/>`},
	{"G", `<use href="#{#}B" opacity=".42"/>`},
	{"H", `<use href="#{#}W" opacity=".52"/>`},
	{"C", svgStroke(svgCross, ".19", "white") + svgStroke(svgCross, ".1", "mark")},
	{"D", svgStroke(svgCross, ".1", "mark")},
	{"S", `<rect x="-{half}" y="-{half}" width="{side}" height="{side}" fill="{black}" stroke="{black-rim}" stroke-width="{rim}"/>`},
	{"T", `<rect x="-{half}" y="-{half}" width="{side}" height="{side}" fill="{white}" stroke="{line}" stroke-width="{rim}"/>`},
	{"R", `<circle r=".24" fill="none" stroke="{white}" stroke-width=".09"/>`},
	{"Q", `<circle r=".24" fill="none" stroke="{black}" stroke-width=".09"/>`},
	{"K", svgStroke(svgSquare, ".17", "on-pill") + svgStroke(svgSquare, ".09", "pill")},
	{"L", `<circle r=".235" fill="{mark}"/>`},
	{"M", `<circle r=".3" fill="{on-mark}"/><circle r=".225" fill="{mark-on-black}"/>`},
}

const (
	svgCross  = "M-.18-.18l.36.36m0-.36l-.36.36"
	svgSquare = "M-.19-.19h.38v.38h-.38z"
)

func svgRim(color string) string {
	return fmt.Sprintf(`<circle r=".46" fill="none" stroke="{%s-rim}" stroke-width="{rim-width}"/>`, color)
}

func svgStroke(path, width, color string) string {
	return fmt.Sprintf(`<path d="%s" fill="none" stroke="{%s}" stroke-width="%s"/>`, path, color, width)
}

// svgAlways are the letters of the shapes that every board has.
const svgAlways = "EBWXOGH"

// svgStones and svgMarks are the letters of what lies on a point, by colour.
var (
	svgStones = [3]string{"", "X", "O"}
	svgMarks  = [markKinds][3]string{
		ghostMark: {"", "G", "H"}, crossMark: {"", "C", "D"}, squareMark: {"", "S", "T"}, ringMark: {"", "R", "Q"},
		koMark: {"K", "K", "K"}, lastMark: {"L", "M", "L"},
	}
)

// svgGradients are the light on the stones, and their shadow.
const svgGradients = `<radialGradient id="{#}Y" cx=".33" cy=".3" r=".31"><stop stop-color="{black-light}"/><stop offset="1" stop-color="{black}"/></radialGradient>` +
	`<radialGradient id="{#}Z" cx=".35" cy=".32" r=".75"><stop offset=".35" stop-color="{white}"/><stop offset="1" stop-color="{white-shade}"/></radialGradient>` +
	`<radialGradient id="{#}V"><stop offset=".63" stop-color="{shadow}" stop-opacity=".46"/><stop offset="1" stop-color="{shadow}" stop-opacity="0"/></radialGradient>`

// draw writes the whole board.
func (v *svg) draw() {
	cells := func(pixels float64) string { return fmt.Sprintf("%.3g", pixels/float64(v.cell)) }
	line := v.theme.lineOf(v.cell)
	side, rim := markerOf(v.cell, line)
	inside := float64(side - rim) // to the middle of the rim on both sides
	pairs := []string{"{#}", v.o.Prefix, "{thick}", cells(float64(line)), "{side}", cells(inside), "{half}", cells(inside / 2), "{rim}", cells(float64(rim))}
	for _, p := range svgProperties {
		pairs = append(pairs, "{"+p.name+"}", "var(--board-"+p.name+","+p.of(v.theme)+")")
	}
	v.fill = strings.NewReplacer(pairs...)
	wide, high := v.columns*v.cell+2*v.band, v.rows*v.cell+2*v.band
	role := "img"
	if v.name != nil {
		role = "grid"
	}
	words := v.words()
	v.print(`<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="0 0 %d %d" role="%s" aria-label="%s">`,
		wide, high, role, escaped(strings.TrimSpace(words.stopped(v.Told)+words.stopped(v.Next))))
	lies := v.lies()
	groups := v.defs(lies)
	v.print(`<rect width="%d" height="%d" fill="{wood}"/>`, wide, high)
	v.print(`<g stroke-linecap="round" stroke-linejoin="round" transform="translate(%d %d) scale(%d)">`, v.band+v.cell/2, v.band+v.cell/2, v.cell)
	v.lines()
	v.points(lies, groups)
	v.print(`</g>`)
	v.labels()
	v.print(`</svg>`)
}

// print writes a part of the document. It fills properties and prefix into the format,
// and leaves the arguments alone.
func (v *svg) print(format string, args ...any) {
	fmt.Fprintf(&v.out, v.fill.Replace(format), args...)
}

func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

// lies returns the letters of what lies on each point, from below.
func (v *svg) lies() map[rules.Point]string {
	lies := map[rules.Point]string{}
	for y := range v.rows {
		for x := range v.columns {
			p := rules.Point{X: int8(x), Y: int8(y)}
			lies[p] = svgStones[v.at(p)]
		}
	}
	v.marks(func(p rules.Point, kind mark, color rules.Color) {
		if v.has(p) {
			lies[p] += svgMarks[kind][color]
		}
	})
	return lies
}

// defs writes the shapes, and a group for each way in which they lie on points. It
// returns the numbers of the groups.
func (v *svg) defs(lies map[rules.Point]string) map[string]int {
	v.print("<defs>" + svgGradients)
	groups := map[string]int{}
	for _, letters := range lies {
		groups[letters] = 0
	}
	all := slices.Sorted(maps.Keys(groups))
	used := svgAlways + strings.Join(all, "")
	for _, shape := range svgShapes {
		if strings.Contains(used, shape.letter) {
			v.print(`<g id="{#}%s">%s</g>`, shape.letter, v.fill.Replace(shape.drawn))
		}
	}
	for i, letters := range all {
		groups[letters] = i
		v.print(`<g id="{#}%d">`, i)
		for _, letter := range "E" + letters {
			v.print(`<use href="#{#}%c"/>`, letter)
		}
		v.print(`</g>`)
	}
	v.print("</defs>")
	return groups
}

// lines writes the lines and the stars.
func (v *svg) lines() {
	v.print(`<path stroke="{line}" stroke-width="{thick}" stroke-linecap="square" d="`)
	for x := range v.columns {
		v.print("M%d 0v%d", x, v.rows-1)
	}
	for y := range v.rows {
		v.print("M0 %dh%d", y, v.columns-1)
	}
	v.print(`"/>`)
	if points := stars(v.columns, v.rows); len(points) > 0 {
		v.print(`<path stroke="{line}" stroke-width=".24" d="`)
		for _, p := range points {
			v.print("M%d %dh0", p.X, v.rows-1-int(p.Y))
		}
		v.print(`"/>`)
	}
}

// points writes the points, the top row first.
func (v *svg) points(lies map[rules.Point]string, groups map[string]int) {
	row := ""
	if v.name != nil {
		row = `role="row" `
	}
	for y := range v.rows {
		v.print(`<g %stransform="translate(0 %d)">`, row, y)
		for x := range v.columns {
			p := rules.Point{X: int8(x), Y: int8(v.rows - 1 - y)}
			is := `data-point="` + p.String()
			if v.name != nil {
				is = `role="gridcell" aria-label="` + escaped(v.name(p))
			}
			v.print(`<use href="#{#}%d" x="%d" %s"/>`, groups[lies[p]], x, is)
		}
		v.print(`</g>`)
	}
}

// labels writes the names of the lines. Those of one letter share an element, in which
// each letter has a place of its own.
func (v *svg) labels() {
	if v.o.Coordinates == "none" {
		return
	}
	size := v.labelSize()
	v.print(`<g aria-hidden="true" pointer-events="none" text-anchor="middle" font-size="%d" font-weight="500" fill="{label}">`, size)
	away := (v.cell + v.band) / 2
	var xs, ys, letters strings.Builder
	v.Scene.labels(v.o.Coordinates, func(p rules.Point, right, down int, text string, last bool) {
		x := v.band + v.cell/2 + int(p.X)*v.cell + right*away
		y := v.band + v.cell/2 + (v.rows-1-int(p.Y))*v.cell + down*away
		base := y + int(float64(size)*capHeight/2+0.5)
		switch {
		case last:
			side := size * 5 / 8 * 2
			v.print(`<rect x="%d" y="%d" width="%d" height="%[3]d" rx="%d" fill="{pill}"/>`, x-side/2, y-side/2, side, side/5)
			fit := v.fit(text)
			if fit == "" && utf8.RuneCountInString(text) > 1 { // two bold digits are wider than their ground
				fit = fmt.Sprintf(` font-size="%d"`, size*5/6)
			}
			v.print(`<text x="%d" y="%d" font-weight="700" fill="{on-pill}"%s>%s</text>`, x, base, fit, text)
		case utf8.RuneCountInString(text) > 1:
			v.print(`<text x="%d" y="%d"%s>%s</text>`, x, base, v.fit(text), text)
		default:
			fmt.Fprintf(&xs, "%d ", x)
			fmt.Fprintf(&ys, "%d ", base)
			letters.WriteString(text)
		}
	})
	v.print(`<text x="%s" y="%s">%s</text></g>`, strings.TrimSpace(xs.String()), strings.TrimSpace(ys.String()), letters.String())
}

// labelSize returns the size of the names of lines. The font is that of the page, in which
// a J may reach below the line: it must not reach over the edge of the board.
func (v *svg) labelSize() int { return min(labelSize(v.cell, 1), v.band*4/5) }

// fit returns an attribute for a name of a line that is wider than its band otherwise: two
// kanji are.
func (v *svg) fit(text string) string {
	if n := utf8.RuneCountInString(text); n < len(text) && n*v.labelSize() > v.band {
		return fmt.Sprintf(` font-size="%d"`, v.band/n)
	}
	return ""
}
