package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

func svgOf(t testing.TB, s Scene, o Options, name func(rules.Point) string) string {
	t.Helper()
	var b bytes.Buffer
	if err := SVGGrid(&b, s, o, name); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// An svgElement is an element of an SVG with its attributes, and what it lies in.
type svgElement struct {
	name   string
	attr   map[string]string
	parent *svgElement
}

// parsed returns the elements of an SVG, in order.
func parsed(t testing.TB, svg string) (all []*svgElement) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var in *svgElement
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &svgElement{token.Name.Local, map[string]string{}, in}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			all, in = append(all, e), e
		case xml.EndElement:
			in = in.parent
		}
	}
}

// svgPoints returns what lies on each point: the letters of the shapes in the group that its
// element uses. It reports what is wrong with the document.
func svgPoints(t testing.TB, svg string) map[string]string {
	t.Helper()
	ids, groups := map[string]bool{}, map[string]string{}
	all := parsed(t, svg)
	for _, e := range all {
		if id := e.attr["id"]; id != "" {
			if ids[id] {
				t.Errorf("two elements have the id %s", id)
			}
			ids[id] = true
		}
		if e.attr["style"] != "" || slices.Contains([]string{"style", "script", "foreignObject"}, e.name) {
			t.Errorf("%s %v: the policy of pages forbids it", e.name, e.attr)
		}
		if e.name == "use" && e.parent.attr["id"] != "" {
			groups["#"+e.parent.attr["id"]] += e.attr["href"][len(e.attr["href"])-1:]
		}
	}
	for _, ref := range regexp.MustCompile(`(?:url\(|href=")#([^")]*)`).FindAllStringSubmatch(svg, -1) {
		if !ids[ref[1]] {
			t.Errorf("nothing has the id %s", ref[1])
		}
	}
	points := map[string]string{}
	for _, e := range all {
		if name := e.attr["data-point"]; name != "" {
			if _, twice := points[name]; twice {
				t.Errorf("two elements are %s", name)
			}
			points[name] = strings.TrimPrefix(groups[e.attr["href"]], "E")
		}
	}
	return points
}

// Every point is there once and holds what lies on it, in every scene that there is to
// look at.
func TestSVGShowsTheScene(t *testing.T) {
	for i, c := range allCases(t) {
		if !some(i) {
			continue
		}
		svg := svgOf(t, c.scene, c.o, nil)
		points := svgPoints(t, svg)
		w, h := c.scene.Size()
		if len(points) != w*h {
			t.Errorf("%s: %d points", c.name, len(points))
		}
		for y := range h {
			for x := range w {
				p := rules.Point{X: int8(x), Y: int8(y)}
				want := map[rules.Color]string{rules.Black: "X", rules.White: "O"}[c.scene.at(p)]
				if got, ok := points[p.String()]; !ok || !strings.HasPrefix(got, want) || want == "" && strings.ContainsAny(got, "XO") {
					t.Errorf("%s: %q lies on %s, want %q", c.name, got, p, want)
				}
			}
		}
		if svgOf(t, c.scene, c.o, nil) != svg {
			t.Errorf("%s: the same scene has other bytes", c.name)
		}
	}
}

// All marks that there are, one beside the other.
func TestSVGMarks(t *testing.T) {
	at := func(name string) rules.Point { return point(t, name) }
	s := Scene{
		Board:     []string{"X..O.", ".....", "OX..X"},
		Last:      &rules.Point{X: 1},
		Ghosts:    []Stone{{at("C2"), rules.White}, {at("D2"), rules.Black}, {at("A2"), rules.White}, {at("Z9"), rules.White}},
		Dead:      []Stone{{at("D1"), rules.Black}, {at("C1"), rules.White}},
		Territory: []Stone{{at("D1"), rules.White}, {at("E3"), rules.Black}},
		Seki:      []rules.Point{at("D3"), at("E1"), at("B3")},
		Ko:        []rules.Point{at("A2")},
	}
	got := svgPoints(t, svgOf(t, s, Options{}, nil))
	for name, want := range map[string]string{
		"A3": "X", "D3": "OQ", "A1": "O", "B1": "XM", "E1": "XR", "C2": "HD", "D2": "GC", "A2": "HK",
		"D1": "GT", "C1": "HD", "E3": "S", "B3": "", "B2": "", "C3": "", "E2": "",
	} {
		if got[name] != want {
			t.Errorf("%q lies on %s, want %q", got[name], name, want)
		}
	}
	s.Last, s.Newest = nil, &rules.Point{}
	if got := svgPoints(t, svgOf(t, s, Options{}, nil)); got["A1"] != "OL" || got["B1"] != "X" {
		t.Errorf("after a pass: %v", got)
	}
}

// Whoever hears a board hears on each point what it shows there.
func TestPointNames(t *testing.T) {
	at := func(name string) rules.Point { return point(t, name) }
	last := at("A3")
	s := Scene{
		Board:     []string{"X..O.", ".....", "OX..X"},
		Last:      &last,
		Ghosts:    []Stone{{at("C2"), rules.White}, {at("A2"), rules.White}, {at("Z9"), rules.White}},
		Dead:      []Stone{{at("D1"), rules.Black}, {at("C1"), rules.White}},
		Territory: []Stone{{at("D1"), rules.White}, {at("E3"), rules.Black}},
		Seki:      []rules.Point{at("D3")},
		Ko:        []rules.Point{at("A2")},
	}
	heard := func(s Scene, names map[string]string) {
		t.Helper()
		name := PointNames(s)
		for at, want := range names {
			if got := name(point(t, at)); got != at+want {
				t.Errorf("%s is %q, want %q", at, got, at+want)
			}
		}
	}
	heard(s, map[string]string{
		"A3": ", black, last turn", "A1": ", white", "B2": ", empty", "C2": ", empty, white captured", "A2": ", empty, white captured, may not take here",
		"D1": ", black, dead, White territory", "C1": ", white, dead", "E3": ", empty, Black territory", "D3": ", white, in seki",
	})
	s.Last, s.Newest = nil, &last
	heard(s, map[string]string{"A3": ", black, last stone"})
	words := English
	words.Lies, words.Comma = [...]string{"空点", "黒", "白"}, "、"
	s.Words = &words
	heard(s, map[string]string{"A1": "、白", "B2": "、空点"})
}

// Two boards on a page share no id, and no prefix is markup.
func TestSVGPrefix(t *testing.T) {
	s := Scene{Board: []string{"X.O"}, Last: &rules.Point{}}
	seen := map[string]bool{}
	for _, prefix := range []string{"", "bX", "bX-", "now"} {
		for _, e := range parsed(t, svgOf(t, s, Options{Prefix: prefix}, nil)) {
			if id := e.attr["id"]; id != "" {
				if seen[id] {
					t.Errorf("two boards have the id %s", id)
				}
				seen[id] = true
			}
		}
	}
	for _, prefix := range []string{`"`, "1", "b1", "a b", "é", "x>", strings.Repeat("x", 65)} {
		if err := SVG(io.Discard, s, Options{Prefix: prefix}); err == nil {
			t.Errorf("%q is taken as a prefix", prefix)
		}
	}
	if err := SVG(io.Discard, Scene{}, Options{}); err == nil {
		t.Error("a scene without a board was drawn")
	}
}

// A grid has rows of cells, each with its name, whatever that contains.
func TestSVGGrid(t *testing.T) {
	hostile := `<b class="x">&{mark}%d'` + "\x00"
	s := Scene{Board: []string{"X..", "..."}, Told: hostile, Next: "White to play"}
	name := func(p rules.Point) string { return p.String() + hostile }
	cells := map[string]int{}
	points := []string{"A2", "B2", "C2", "A1", "B1", "C1"}
	for _, e := range parsed(t, svgOf(t, s, Options{}, name)) {
		switch e.attr["role"] {
		case "gridcell":
			want := strings.ReplaceAll(points[cells["gridcell"]]+hostile, "\x00", "\uFFFD")
			if e.attr["aria-label"] != want || e.parent.attr["role"] != "row" {
				t.Errorf("%v in %v", e.attr, e.parent.attr)
			}
		case "row":
			if e.parent.parent.attr["role"] != "grid" {
				t.Errorf("a row lies in %v", e.parent.attr)
			}
		case "grid":
			if label := e.attr["aria-label"]; !strings.Contains(label, `{mark}%d'`) || !strings.HasSuffix(label, ". White to play.") {
				t.Errorf("the board is %q", label)
			}
		}
		cells[e.attr["role"]]++
	}
	if cells["grid"] != 1 || cells["row"] != 2 || cells["gridcell"] != 6 {
		t.Errorf("%v", cells)
	}
	if svg := svgOf(t, s, Options{}, nil); !strings.Contains(svg, ` role="img" aria-label="`) || strings.Contains(svg, "gridcell") {
		t.Errorf("without names: %s", svg)
	}
}

// The names of lines lie on the board, also where the J of the page's font reaches below the
// line by a quarter of its size; and two bold digits lie on their ground.
func TestSVGLabels(t *testing.T) {
	label := regexp.MustCompile(`<g aria-hidden="true"[^>]* font-size="(\d+)"[^>]*>`)
	lit := regexp.MustCompile(`<rect x="\d+" y="\d+" width="(\d+)"[^>]*/><text [^>]*?(?: font-size="(\d+)")?>(\d+)<`)
	low := regexp.MustCompile(`<text x="[^"]*" y="([^"]*)"`)
	for _, size := range []int{2, 9, 13, 19, 25} {
		last := rules.Point{X: 1, Y: int8(size - 1)}
		svg := svgOf(t, Scene{Board: strings.Fields(strings.Repeat(strings.Repeat(".", size)+" ", size)), Last: &last}, Options{}, nil)
		var high, em int
		fmt.Sscanf(svg[strings.Index(svg, "viewBox"):], `viewBox="0 0 %d`, &high)
		fmt.Sscan(label.FindStringSubmatch(svg)[1], &em)
		for _, text := range low.FindAllStringSubmatch(svg, -1) {
			for _, y := range strings.Fields(text[1]) {
				var base int
				if fmt.Sscan(y, &base); base+em/4 > high {
					t.Fatalf("%d×%d: a label of %d reaches from %d over the edge at %d", size, size, em, base, high)
				}
			}
		}
		for _, found := range lit.FindAllStringSubmatch(svg, -1) {
			wide, em := 0, em
			fmt.Sscan(found[1], &wide)
			fmt.Sscan(found[2], &em)
			if 7*em*len(found[3]) > 10*wide { // a digit is 0.7 of its size wide
				t.Errorf("%d×%d: %s in %d is wider than its ground of %d", size, size, found[3], em, wide)
			}
		}
	}
}

// A full board with its points takes at most 20 kB.
func TestSVGSize(t *testing.T) {
	s := Of(full(t, "two-button", 19, 19, 3), Names{})
	for _, coordinates := range Coordinates() {
		if n := len(svgOf(t, s, Options{Coordinates: coordinates}, nil)); n > 20_000 {
			t.Errorf("%s: %d bytes", coordinates, n)
		}
	}
}

// The stylesheet sets every property that a board uses, to what a board of that theme
// has without it.
func TestSVGCSS(t *testing.T) {
	css := SVGCSS()
	for _, theme := range Themes() {
		rule := regexp.MustCompile(`(?m)^\.board-` + theme + ` \{(.*)\}$`).FindStringSubmatch(css)
		if rule == nil {
			t.Fatalf("no class for %s in\n%s", theme, css)
		}
		s := Scene{Board: []string{"XO..."}, Last: &rules.Point{}, Ko: []rules.Point{{X: 2}}, Ghosts: []Stone{{rules.Point{X: 3}, rules.White}}, Territory: []Stone{{rules.Point{X: 4}, rules.White}}}
		used := regexp.MustCompile(`var\((--board-[a-z-]+),([^)]*)\)`).FindAllStringSubmatch(svgOf(t, s, Options{Theme: theme}, nil), -1)
		seen := map[string]bool{}
		for _, x := range used {
			seen[x[1]] = true
			if !strings.Contains(rule[1], fmt.Sprintf(" %s: %s;", x[1], x[2])) {
				t.Errorf("%s: %s is %s on the board, but not in\n%s", theme, x[1], x[2], rule[1])
			}
		}
		if len(seen) != len(svgProperties) {
			t.Errorf("%d properties are used, of %d", len(seen), len(svgProperties))
		}
	}
	if strings.Count(css, "{") != strings.Count(css, "}") || strings.Count(css, ".board-auto {") != 2 || strings.Count(css, ".board-auto, .board-yields {") != 1 {
		t.Error(css)
	}
}
