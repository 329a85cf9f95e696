package web

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// heard returns the accessible names of the elements of a role, in order, and that of the
// element with the focus.
func (p *tab) heard(role string) (names []string, focused string) {
	p.t.Helper()
	tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, node := range tree.Nodes {
		if node.Ignored || node.Role == nil || node.Name == nil {
			continue
		}
		var is, name string
		json.Unmarshal(node.Role.Value, &is)
		json.Unmarshal(node.Name.Value, &name)
		if is == role {
			names = append(names, name)
		}
		for _, property := range node.Properties {
			if is != "RootWebArea" && property.Name == accessibility.PropertyNameFocused && string(property.Value.Value) == "true" {
				focused = name
			}
		}
	}
	return names, focused
}

// Whoever hears a board moves about in it with keys, and finds on each point what lies there.
// The keys of the page work outside of it.
func TestBoardByKeysInChromium(t *testing.T) {
	tier.Change(t)
	st, _, b, url := openPages(t)
	say := commands(t, b)
	say("black", "/new aga 5x5")
	say("black", "/place C3")
	say("white", "/place B3")
	game := pathOf(t, st)
	p := blankTab(t, chromium(t))
	p.do(chromedp.Navigate(url + game))
	p.wait(`document.querySelectorAll('.board [tabindex]').length === 1`)
	points, _ := p.heard("gridcell")
	if len(points) != 25 {
		t.Fatalf("the grid has the points %q", points)
	}
	if want := []string{"A3, empty", "B3, white, last turn", "C3, black", "D3, empty", "E3, empty"}; !slices.Equal(points[10:15], want) {
		t.Errorf("row 3 is %q, want %q", points[10:15], want)
	}
	if rows, _ := p.heard("row"); len(rows) < 5 {
		t.Errorf("the grid has %d rows", len(rows))
	}
	if get[string](p, `document.querySelector('.board').getAttribute('aria-readonly')`) != "true" {
		t.Error("whoever cannot play hears nothing of that")
	}
	press := func(key, want string, modifiers ...chromedp.KeyOption) {
		t.Helper()
		p.do(chromedp.KeyEvent(key, modifiers...))
		if _, got := p.heard("gridcell"); got != want {
			t.Errorf("a key leads to %q, want %q", got, want)
		}
		if stops := get[int](p, `document.querySelectorAll('.board [tabindex]').length`); stops != 1 {
			t.Errorf("at %s the board has %d tab stops", want, stops)
		}
	}
	for !get[bool](p, `!!document.activeElement.closest('.board')`) {
		p.do(chromedp.KeyEvent(kb.Tab))
	}
	ctrl := chromedp.KeyModifiers(chromedp.ModifierCtrl)
	press(kb.ArrowRight, "C3, black")
	press(kb.ArrowUp, "C4, empty")
	press(kb.ArrowLeft, "B4, empty")
	press(kb.ArrowDown, "B3, white, last turn")
	press(kb.End, "E3, empty")
	press(kb.ArrowRight, "E3, empty")
	press(kb.Home, "A3, empty")
	press(kb.ArrowLeft, "A3, empty")
	press(kb.Home, "A5, empty", ctrl)
	press(kb.ArrowUp, "A5, empty")
	press(kb.End, "E1, empty", ctrl)
	press(kb.ArrowDown, "E1, empty")
	press(kb.ArrowLeft, "D1, empty")
	const ring = `(() => { const [ring, point] = ['.ring rect', '.board :focus'].map((s) => document.querySelector(s).getBoundingClientRect());
		return Math.abs(ring.left - point.left) < 1 && Math.abs(ring.top - point.top) < 1 && ring.width > 10 })()`
	if !get[bool](p, ring) {
		t.Error("no ring shows the focus")
	}
	if dir := os.Getenv("SHOTS"); dir != "" {
		png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(dir+"/grid.png", png, 0o600)
	}
	say("black", "/place D1") // which the page takes over
	p.wait(`document.querySelector('.line').textContent.startsWith('3. Black D1')`)
	press(kb.ArrowRight, "E1, empty")
	press(kb.ArrowLeft, "D1, black, last turn")
	if got := get[string](p, `location.pathname`); got != game {
		t.Errorf("in the board keys lead to %s", got)
	}
	p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.ArrowLeft))
	p.wait(`location.pathname === %q`, game+"/5")
	p.wait(`document.querySelector('.board [tabindex]').dataset.point === 'D1'`)
	if get[string](p, `getComputedStyle(document.querySelector('.ring')).display`) != "none" {
		t.Error("the ring is there without the focus")
	}
}
