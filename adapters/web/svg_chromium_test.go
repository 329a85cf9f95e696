package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	stdimage "image" // pages have a type image
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// boardMarks are the ways to mark a board. Each returns the points that it marks, of some
// free points and some stones.
var boardMarks = []struct {
	name string
	set  func(s *render.Scene, free, stones []render.Stone) []render.Stone
}{
	{"none", func(*render.Scene, []render.Stone, []render.Stone) []render.Stone { return nil }},
	{"last", func(s *render.Scene, _, stones []render.Stone) []render.Stone {
		s.Last = &stones[0].At
		return stones[:1]
	}},
	{"newest", func(s *render.Scene, _, stones []render.Stone) []render.Stone {
		s.Newest = &stones[len(stones)-1].At
		return stones[len(stones)-1:]
	}},
	{"taken", func(s *render.Scene, free, _ []render.Stone) []render.Stone {
		s.Ghosts = free
		return free
	}},
	{"dead", func(s *render.Scene, free, _ []render.Stone) []render.Stone {
		s.Dead = free
		return free
	}},
	{"territory", func(s *render.Scene, free, _ []render.Stone) []render.Stone {
		s.Territory = free
		for _, dead := range free[:len(free)/2] {
			s.Dead = append(s.Dead, render.Stone{At: dead.At, Color: 3 - dead.Color})
		}
		return free
	}},
	{"seki", func(s *render.Scene, _, stones []render.Stone) []render.Stone {
		for _, st := range stones {
			s.Seki = append(s.Seki, st.At)
		}
		return stones
	}},
	{"ko", func(s *render.Scene, free, _ []render.Stone) []render.Stone {
		s.Ghosts = free
		for _, st := range free[:(len(free)+1)/2] {
			s.Ko = append(s.Ko, st.At)
		}
		return free
	}},
}

// A boardCase is a board that is drawn in both ways.
type boardCase struct {
	name     string
	scene    render.Scene
	bare     render.Scene   // without the marks
	marked   []render.Stone // where they lie
	theme    string
	class    string // around the board; empty: the board is written in the theme
	prefix   string
	x, y     int // of A1 on the PNG
	cell     int
	onPage   stdimage.Point // of A1
	png, old stdimage.Image // with and without the marks
}

// boardCases has every mark on every size of board, every theme with every mark and with
// every size, and all coordinates. Every second board takes its theme from the stylesheet.
// The everyday tier leaves out the large boards.
func boardCases(t *testing.T) []*boardCase {
	t.Helper()
	themes, coordinates := render.Themes(), render.Coordinates()
	var all []*boardCase
	sizes := [][2]int{{2, 2}, {3, 5}, {9, 9}, {19, 19}, {25, 25}}
	for i, size := range sizes[:tier.Pick(3, 5, 5)] {
		for j, mark := range boardMarks {
			c := &boardCase{theme: themes[(i+j)%len(themes)], prefix: fmt.Sprintf("b%d-", len(all))}
			look := render.Options{Theme: c.theme, Coordinates: coordinates[(i+2*j)%len(coordinates)]}
			c.name = fmt.Sprintf("%d×%d %s %s", size[0], size[1], mark.name, c.theme)
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			var free, stones []render.Stone
			for y := range size[1] {
				row := ""
				for x := range size[0] {
					st := render.Stone{At: rules.Point{X: int8(x), Y: int8(size[1] - 1 - y)}, Color: rules.Black + rules.Color(rnd.IntN(2))}
					if (x+y)%2 == rnd.IntN(2)*rnd.IntN(2) {
						row += "."
						free = append(free, st)
					} else {
						row += " XO"[st.Color : st.Color+1]
						stones = append(stones, st)
					}
				}
				c.scene.Board = append(c.scene.Board, row)
			}
			c.scene.Look = look
			c.bare = c.scene
			some := func(of []render.Stone) []render.Stone { return of[:(len(of)+1)/2] }
			c.marked = mark.set(&c.scene, some(free), some(stones))
			if (i+j/len(themes))%2 == 1 {
				c.class = "board-" + c.theme
				c.scene.Look.Theme = themes[(i+j+1)%len(themes)]
			}
			c.png, c.old = c.picture(t, c.scene), c.picture(t, c.bare)
			var err error
			if c.x, c.y, c.cell, err = c.bare.Lines(render.Options{}); err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
	}
	return all
}

func (c *boardCase) picture(t *testing.T, s render.Scene) stdimage.Image {
	t.Helper()
	var b bytes.Buffer
	if err := render.PNG(&b, s, render.Options{Theme: c.theme}); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// looksAlike reports whether the surroundings of a point have about the same colours in
// two pictures: on the average of each of four rings around the middle.
func looksAlike(a, b stdimage.Image, ax, ay, bx, by, cell int) bool {
	const rings = 4 // the outermost ends inside of the rim of stones
	var sums [2][rings][3]float64
	var n [rings]float64
	for dy := -cell / 2; dy < cell/2; dy++ {
		for dx := -cell / 2; dx < cell/2; dx++ {
			across, down := (float64(dx)+0.5)/float64(cell), (float64(dy)+0.5)/float64(cell)
			ring := int(math.Hypot(across, down) / 0.095)
			if ring >= rings || min(math.Abs(across), math.Abs(down)) < 0.05 {
				continue // no stone, or on a line
			}
			n[ring]++
			for k, at := range []struct {
				stdimage.Image
				x, y int
			}{{a, ax + dx, ay + dy}, {b, bx + dx, by + dy}} {
				red, green, blue, _ := at.At(at.x, at.y).RGBA()
				for channel, v := range []uint32{red, green, blue} {
					sums[k][ring][channel] += float64(v >> 8)
				}
			}
		}
	}
	for ring := range rings {
		for channel := range 3 {
			if math.Abs(sums[0][ring][channel]-sums[1][ring][channel]) > boardTolerance*n[ring] {
				return false
			}
		}
	}
	return true
}

// boardTolerance is how far the averages of a channel may lie apart, of 255.
const boardTolerance = 40

// The SVG of a board shows what the PNG shows: the same stones, marks and ghosts on every
// point, in every theme, on boards of every size. Where the marks are taken off the PNG,
// the comparison notices on each point.
func TestSVGBoardsInChromium(t *testing.T) {
	if tier.Race {
		return // nothing in it is concurrent
	}
	cases := boardCases(t)
	p, all := openBoards(t, cases)
	for _, c := range cases {
		w, h := c.scene.Size()
		var different, unseen []string
		marked := map[rules.Point]bool{}
		for _, st := range c.marked {
			marked[st.At] = true
		}
		for y := range h {
			for x := range w {
				at := rules.Point{X: int8(x), Y: int8(y)}
				like := func(img stdimage.Image) bool {
					return looksAlike(img, all, c.x+x*c.cell, c.y-y*c.cell, c.onPage.X+x*c.cell, c.onPage.Y-y*c.cell, c.cell)
				}
				if !like(c.png) {
					different = append(different, at.String())
				}
				if marked[at] && like(c.old) {
					unseen = append(unseen, at.String())
				}
			}
		}
		if len(different) > 0 {
			t.Errorf("%s: %q look different", c.name, different)
		}
		if len(unseen) > 0 {
			t.Errorf("%s: the comparison does not see what lies on %q", c.name, unseen)
		}
	}
	// Every point takes presses, up to its corners, on a board of each size.
	missed := get[[]string](p, `[...document.querySelectorAll('div:nth-child(9n + 1) [data-point]')].filter((point) => [[0, 0], [.45, .45], [-.45, -.45]].some(([dx, dy]) => {
		const at = new DOMPoint(point.x.baseVal.value + dx, dy).matrixTransform(point.parentNode.getScreenCTM());
		return document.elementFromPoint(at.x, at.y)?.closest('[data-point]') !== point;
	})).map((point) => point.dataset.point)`)
	if n := len(missed); n > 0 {
		t.Errorf("%d points cannot be pressed, such as %q", n, missed[:min(n, 9)])
	}
}

// openBoards opens a page of boards under the policy of the room's pages, and returns its
// picture. It fills in where the boards lie.
func openBoards(t *testing.T, cases []*boardCase) (*tab, stdimage.Image) {
	t.Helper()
	const css = `body { margin: 0; display: flex; flex-wrap: wrap; align-items: flex-start; } svg { display: block; }`
	var page strings.Builder
	page.WriteString(`<!DOCTYPE html><title>Boards</title><link rel="stylesheet" href="/board.css"><body>`)
	for _, c := range cases {
		var b bytes.Buffer
		if err := render.SVG(&b, c.scene, render.Options{Prefix: c.prefix}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&page, `<div class="%s">%s</div>`, c.class, b.String())
	}
	p := openPage(t, page.String(), render.SVGCSS()+css)
	cells := []int{}
	for _, c := range cases {
		cells = append(cells, c.cell)
	}
	// The cells of a board are made as large as on the PNG, and the page as large as all boards.
	quoted, _ := json.Marshal(cells)
	const wide = 3000
	p.do(chromedp.EmulateViewport(wide, 1000))
	high := get[float64](p, fmt.Sprintf(`(%s).forEach((cell, i) => {
		const svg = document.querySelectorAll('svg')[i], box = svg.viewBox.baseVal;
		const scale = cell / (svg.querySelector('[data-point]').getCTM().a / svg.getCTM().a);
		svg.setAttribute('width', box.width * scale);
		svg.setAttribute('height', box.height * scale);
	}), document.documentElement.scrollHeight`, quoted))
	p.do(chromedp.EmulateViewport(wide, int64(math.Ceil(high))))
	places := get[[][2]float64](p, `[...document.querySelectorAll('[data-point=A1]')].map((point) => {
		const at = point.parentNode.getScreenCTM();
		return [at.e, at.f];
	})`)
	for i, c := range cases {
		c.onPage = stdimage.Pt(int(math.Round(places[i][0])), int(math.Round(places[i][1])))
	}
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return p, img
}

// openPage opens a page with its stylesheet. What breaks the policy of pages fails the test.
func openPage(t *testing.T, page, css string) *tab {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, page)
		case "/board.css":
			w.Header().Set("Content-Type", "text/css")
			io.WriteString(w, css)
		}
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(chromium(t))
	t.Cleanup(cancel)
	watch(t, ctx)
	p := &tab{t, ctx}
	p.do(chromedp.Navigate(server.URL))
	return p
}

// A screen reader finds each point of a grid under its name.
func TestSVGGridInChromium(t *testing.T) {
	s := render.Scene{Board: []string{"X.O", "..."}, Told: "Move 2: White C2", Next: "Black to play"}
	var b bytes.Buffer
	name := func(p rules.Point) string { return "<" + p.String() + ">" }
	if err := render.SVGGrid(&b, s, render.Options{}, name); err != nil {
		t.Fatal(err)
	}
	p := openPage(t, `<!DOCTYPE html><title>Board</title><body>`+b.String(), "")
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, node := range tree.Nodes {
		if !node.Ignored && node.Role != nil && node.Name != nil {
			var role, name string
			json.Unmarshal(node.Role.Value, &role)
			json.Unmarshal(node.Name.Value, &name)
			got = append(got, role+" "+name)
		}
	}
	for _, want := range []string{"grid Move 2: White C2. Black to play.", "gridcell <A2>", "gridcell <B2>", "gridcell <C2>", "gridcell <A1>", "gridcell <B1>", "gridcell <C1>"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
