package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A listener uses a page by keys, and knows of it only what the accessibility tree says.
type listener struct{ *tab }

// An audible is an element of the accessibility tree.
type audible struct {
	role, name string
	focused    bool
	readonly   bool // a grid in which presses do nothing
	status     bool // in a live region
}

// tree returns all that can be heard of the page.
func (l listener) tree() (all []audible) {
	l.t.Helper()
	tree, err := chromedp.Call(l.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		l.t.Fatal(err)
	}
	live := map[string]bool{}
	for _, node := range tree.Nodes { // parents first
		var a audible
		if node.Role != nil {
			json.Unmarshal(node.Role.Value, &a.role)
		}
		if node.Name != nil {
			json.Unmarshal(node.Name.Value, &a.name)
		}
		a.status = a.role == "status" || live[string(node.ParentID)]
		live[string(node.NodeID)] = a.status
		for _, property := range node.Properties {
			a.readonly = a.readonly || property.Name == accessibility.PropertyNameReadonly && string(property.Value.Value) == "true"
			a.focused = a.focused || a.role != "RootWebArea" && property.Name == accessibility.PropertyNameFocused && string(property.Value.Value) == "true"
		}
		if !node.Ignored {
			all = append(all, a)
		}
	}
	return all
}

// until waits until something can be heard, and returns it. It asks again and again, because
// Chromium does not tell when its accessibility tree has changed.
func (l listener) until(what string, is func(audible) bool) audible {
	l.t.Helper()
	var all []audible
	for end := time.Now().Add(tier.Patience(l.t)); time.Now().Before(end); {
		all = l.tree()
		for _, a := range all {
			if is(a) {
				return a
			}
		}
	}
	var heard []string
	for _, a := range all {
		if a.focused || a.status && a.role == "StaticText" {
			heard = append(heard, a.role+" "+a.name)
		}
	}
	l.t.Fatalf("nothing says %s: %q", what, heard)
	panic("unreachable")
}

// hears waits until a live region says something that begins so, and the board can be used again.
func (l listener) hears(text string) {
	l.t.Helper()
	said := false // the grid stands after the live region
	l.until(text, func(a audible) bool {
		said = a.role != "RootWebArea" && said || a.status && a.role == "StaticText" && strings.HasPrefix(a.name, text)
		return said && a.role == "grid" && !a.readonly
	})
}

// focus returns what has the focus; on a page that has just been opened nothing may have it.
func (l listener) focus() audible {
	l.t.Helper()
	all := l.tree()
	return all[max(0, slices.IndexFunc(all, func(a audible) bool { return a.focused }))]
}

func (l listener) key(key string, modifiers ...chromedp.KeyOption) {
	l.t.Helper()
	l.do(chromedp.KeyEvent(key, modifiers...))
}

// tabTo presses the Tab key until something has the focus, and returns how often.
func (l listener) tabTo(role, name string, modifiers ...chromedp.KeyOption) (n int) {
	l.t.Helper()
	var passed []string
	for n = range 80 {
		a := l.focus()
		if a.role == role && strings.HasPrefix(a.name, name) {
			return n
		}
		passed = append(passed, a.role+" "+a.name)
		l.key(kb.Tab, modifiers...)
	}
	l.t.Fatalf("no %s %s is a stop: %q", role, name, passed)
	panic("unreachable")
}

// Somebody with closed eyes plays a whole game for both and counts it: with keys alone, and
// knowing only what the accessibility tree says.
func TestWholeGameByKeysInChromium(t *testing.T) {
	tier.Change(t)
	st, _, b, url := openPages(t)
	l := listener{blankTab(t, chromium(t))}
	back := chromedp.KeyModifiers(chromedp.ModifierShift)
	l.do(chromedp.Navigate(url))
	l.until("the message box", func(a audible) bool { return a.focused && a.role == "textbox" })
	l.tabTo("combobox", "Seat", back)
	l.key("W")
	l.tabTo("textbox", "Message")
	l.key("hello" + kb.Enter) // which takes the seat
	l.until("the message", func(a audible) bool { return a.role == "StaticText" && a.name == "hello" })
	l.tabTo("combobox", "Seat", back)
	l.key("B")
	l.tabTo("textbox", "Message")
	l.key("/new two-button 9x9" + kb.Enter)
	l.hears("New game. It is your turn: Black to play.")

	l.tabTo("gridcell", "E5")
	x, y := 4, 5
	to := func(at string) {
		t.Helper()
		column, row := strings.IndexByte("ABCDEFGHJ", at[0]), int(at[1]-'0')
		for ; x < column; x++ {
			l.key(kb.ArrowRight)
		}
		for ; x > column; x-- {
			l.key(kb.ArrowLeft)
		}
		for ; y < row; y++ {
			l.key(kb.ArrowUp)
		}
		for ; y > row; y-- {
			l.key(kb.ArrowDown)
		}
	}
	turns := []string{}
	for row := range 9 { // two walls, White's dead stone, and Black's answer to it
		turns = append(turns, fmt.Sprintf("D%d", row+1), fmt.Sprintf("E%d", row+1))
	}
	turns = append(turns, "H5", "B5")
	for i, at := range turns {
		if i == 2 { // the page of the game has no talk, which takes long to read
			l.do(chromedp.Navigate(url + pathOf(t, st)))
			l.tabTo("gridcell", "E1, white, last turn")
			x, y = 4, 1
		}
		to(at)
		l.key(kb.Enter)
		color, other := "Black", "White"
		if i%2 == 1 {
			color, other = other, color
		}
		l.hears(fmt.Sprintf("Move %d: %s %s. It is your turn: %s to play.", i+1, color, at, other))
	}
	l.tabTo("button", "Pass")
	l.key(kb.Enter)
	l.hears("Move 21: Black passes. White +1 pass stone. Black +1 button.")
	l.tabTo("button", "Pass")
	l.key(kb.Enter)
	l.hears("Move 22: White passes.")
	mark := func(at, want string) {
		t.Helper()
		l.tabTo("gridcell", "", back)
		to(at)
		l.key(kb.Enter)
		l.until(want, func(a audible) bool { return a.focused && a.name == want })
	}
	mark("H5", "H5, black, dead, White territory") // as the bot, which has marked both already, does not do it twice
	l.tabTo("button", "Accept")
	l.key(kb.Enter)
	l.hears("Move 22: White passes. Black +1 pass stone. Marked as dead, one stone of each chain: B5 H5. White +15½. Black has accepted.")
	l.tabTo("button", "Accept")
	l.key(kb.Enter)
	end := l.until("the end", func(a audible) bool { return a.status && strings.HasSuffix(a.name, "Game over.") })
	if !strings.HasSuffix(end.name, "Marked as dead, one stone of each chain: B5 H5. White +15½. Game over.") {
		t.Errorf("at the end one hears %s", end.name)
	}

	// However long a game is, few stops lie before the message box.
	say := commands(t, b)
	say("black", "/new aga 9x9")
	for i := range 60 {
		say([]string{"black", "white"}[i%2], fmt.Sprintf("/place %c%d", "ABCDEFGHJ"[i%9], 9-i/9))
	}
	l.do(chromedp.Navigate(url))
	l.hears("Move 60")
	l.until("the message box", func(a audible) bool { return a.focused && a.role == "textbox" })
	if n := l.tabTo("link", "Skip to the message box", back); n > 10 {
		t.Errorf("%d stops lie before the message box", n)
	}
}
