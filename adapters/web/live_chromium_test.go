package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// screens are those on which all that a turn needs is seen without scrolling, with so many
// pixels between two lines of a board of 19×19. The second is a phone with the bars of its browser.
var screens = []struct {
	width, height int64
	point         float64
}{{360, 640, 17}, {360, 560, 15}, {768, 1024, 35}, {1366, 625, 26}, {1920, 1080, 44}}

// fits waits until a page shows somebody's turn on a screen, and fails unless it is seen whole.
// Besides, there are other elements to be seen.
func (p *tab) fits(width, height int64, point float64, besides ...string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
	p.wait(`innerWidth === %d && innerHeight === %d && document.querySelector('#play [data-command=resign]')`, width, height)
	between := get[float64](p, `(() => {
		const x = (at) => { const r = document.querySelector('[data-point=' + at + ']').getBoundingClientRect(); return r.left + r.width / 2 };
		return (x('T1') - x('A1')) / 18 })()`)
	if between < point {
		p.t.Errorf("%d×%d: a point has %.1f pixels, want %v", width, height, between, point)
	}
	needed := append([]string{".board", ".player", ".clock", "#play > p:first-child", "#play button"}, besides...)
	for _, what := range get[[]string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter((e) => { const r = e.getBoundingClientRect();
		return !e.checkVisibility() || r.top < 0 || r.left < 0 || r.bottom > innerHeight + .5 || r.right > innerWidth + .5 || !r.width }).map((e) => e.localName + ' ' + e.innerText)`, strings.Join(needed, ", "))) {
		p.t.Errorf("%d×%d: %.60s is not seen whole", width, height, what)
	}
	if n := get[int](p, `document.querySelectorAll('.clock').length`); n != 2 {
		p.t.Errorf("%d×%d: %d clocks are shown", width, height, n)
	}
	if wide := get[int64](p, `document.documentElement.scrollWidth`); wide > width {
		p.t.Errorf("%d×%d: the page is %d wide", width, height, wide)
	}
}

// The room has the live board of its game beside the talk: large enough to press, with all
// that a turn needs on one screen. Two people play on it, each in their seat, and see what
// the talk says; where both have no room, one press leads from one to the other.
func TestLiveBoardInChromium(t *testing.T) {
	tier.Change(t)
	st, _, _, url := openPages(t)
	p := openTab(t, chromium(t), url)
	p.wait(`document.querySelector('#game').hidden && !document.querySelector('#guide').hidden`)
	p.say("/new two-button 19x19 clock:3d")
	p.wait(`document.querySelector('#play [data-command=pass]') && document.body.matches('.live')`)
	for _, c := range append(slices.Clone(screens), struct {
		width, height int64
		point         float64
	}{1024, 768, 24}) {
		var talk []string // where it has room, too
		if c.width > 1000 {
			talk = []string{"#message", "#scroll"}
		}
		p.fits(c.width, c.height, c.point, talk...)
		if got := get[bool](p, `document.querySelector('#scroll').checkVisibility()`); got != (talk != nil) {
			t.Errorf("%d×%d: the talk is seen: %v", c.width, c.height, got)
		}
		p.shoot(fmt.Sprintf("live-%d-%d", c.width, c.height))
	}
	p.do(chromedp.EmulateViewport(1366, 625))

	// A second visitor comes by the address of the game, and takes the free seat with one press.
	second := blankTab(t, chromium(t))
	second.do(chromedp.Navigate(url + pathOf(t, st)))
	second.wait(`document.querySelector('.steps') && [...document.querySelectorAll('.sit a')].map((a) => a.textContent).join() === 'Sit as White'`)
	second.shoot("live-visitor")
	second.do(chromedp.Click(chromedp.CSS(".sit a")), chromedp.WaitVisible(chromedp.CSS("#play")))
	second.wait(`document.querySelector('#seat').value === 'white' && document.querySelector('#play')?.dataset.seat === 'white' && !document.querySelector('#play').dataset.stone`)
	press := func(p *tab, at string) {
		t.Helper()
		p.wait(`document.querySelector('#play').dataset.stone && !('sending' in document.body.dataset)`)
		p.do(chromedp.Click(chromedp.CSS("[data-point=" + at + "]")))
	}
	command := func(p *tab, name string) {
		t.Helper()
		what := "#play [data-command=" + name + "]"
		p.wait(`document.querySelector(%q) && !('sending' in document.body.dataset)`, what) // else the press does nothing
		get[bool](p, fmt.Sprintf(`document.querySelector(%q).click(), true`, what))
	}
	press(p, "D4")
	second.wait(`document.querySelector('#live .line').textContent.startsWith('1. Black D4')`)
	press(second, "Q16")
	p.sees("2. White Q16")
	p.wait(`document.querySelector('#live .line').textContent.startsWith('2. White Q16') && document.querySelector('#play').dataset.stone === 'b'`)
	if size := get[float64](p, `[...document.querySelectorAll('#log img')].at(-1).getBoundingClientRect().width`); size > 150 {
		t.Errorf("beside the live board a picture in the talk is %v pixels wide", size)
	}
	get[bool](p, `[...document.querySelectorAll('#log img')].at(-1).click(), true`)
	p.wait(`document.querySelector('dialog').open`)
	get[bool](p, `document.querySelector('dialog').close(), true`)

	// What one asks is a question to the other, with its answers.
	answers := func(p *tab, want string) {
		t.Helper()
		p.wait(`[...document.querySelectorAll('#play :is([data-command=accept], [data-command=decline])')].map((b) => b.textContent).join() === %q`, want)
	}
	second.wait(`document.querySelector('#live .line').textContent.startsWith('2. White Q16')`)
	command(second, "draw")
	p.wait(`document.querySelector('#play strong')?.textContent === 'White asks you for the draw: accept or decline.'`)
	answers(p, "Agree,Decline")
	answers(second, "Withdraw your request")
	p.shoot("live-question")
	command(p, "decline")
	second.wait(`!document.querySelector('#play strong')`)
	answers(second, "")
	second.sees("@White, Black declines the draw") // all of the talk that is not counted below

	// Keys step through the turns, and the talk stays.
	get[bool](p, `document.activeElement.blur(), true`)
	p.do(chromedp.KeyEvent("\u0302")) // the left arrow key
	p.wait(`document.querySelector('#live .line').textContent.startsWith('1. Black D4') && location.pathname === '/'`)
	p.do(chromedp.KeyEvent("\u0305"))

	// On a phone one press leads to the ledger, one to the talk, and back.
	second.do(chromedp.EmulateViewport(360, 640), chromedp.Click(chromedp.CSS(".prisoners a")))
	second.wait(`(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.querySelector('#ledger table').getBoundingClientRect())`)
	second.audit("the board on a phone")
	second.shoot("live-ledger")
	second.wait(`!document.querySelector('#message').checkVisibility()`)
	p.say("hello there")
	second.wait(`document.querySelector('#switch').textContent === 'Talk (1)'`)
	second.do(chromedp.Click(chromedp.CSS("#switch")))
	second.sees("hello there")
	second.wait(`document.querySelector('#message').checkVisibility() && !document.querySelector('#live').checkVisibility() && document.querySelector('#switch').textContent === 'Board'`)
	second.narrow(360)
	second.audit("the talk on a phone")
	second.shoot("live-talk")
	second.do(chromedp.Click(chromedp.CSS("#switch")))
	second.wait(`document.querySelector('#live').checkVisibility()`)

	for _, scheme := range []string{"light", "dark"} {
		p.prefers(scheme)
		p.audit(scheme)
		p.shoot("live-" + scheme)
	}

	// A third visitor watches.
	third := openTab(t, chromium(t), url)
	third.wait(`document.querySelector('#seat').value === 'onlooker' && document.querySelector('#live .steps') && !document.querySelector('#play')`)

	// Below the talk are only the buttons that the board has not.
	for _, p := range []*tab{p, third} {
		p.wait(`[...document.querySelectorAll('#log .controls button')].filter((b) => b.checkVisibility()).map((b) => b.textContent).join() === 'Score,More…'`)
	}

	// Whoever takes another seat has the buttons of that seat, without a turn in between.
	p.sit("onlooker")
	p.wait(`!document.querySelector('#play')`)
	p.sit("black")
	p.wait(`document.querySelector('#play [data-command=pass]')`)

	// With several games one chooses the board; those that wait for oneself come first.
	p.say("/new aga 9x9")
	p.wait(`document.querySelectorAll('#games a').length === 2 && document.querySelector('#games [aria-current]').textContent.startsWith('Game 2')`)
	p.wait(`document.querySelector('#live h1').textContent.includes('9×9')`)
	second.wait(`[...document.querySelectorAll('#games a')].map((a) => a.textContent).join() === 'Game 2 Black to play,Game 1 Black to play'`)
	get[bool](p, `document.querySelector('#live [data-point=A1]').dispatchEvent(new FocusEvent('focusin', {bubbles: true}))`)
	p.wait(`document.querySelector('#message').placeholder.startsWith('E5,')`)
	p.do(chromedp.Click(chromedp.CSS("#games a:not([aria-current])")))
	p.wait(`document.querySelector('#live h1').textContent.includes('19×19')`)
	if at := get[string](p, `document.querySelector('#live [role=gridcell][tabindex]').dataset.point`); at != "Q16" {
		t.Errorf("keys enter the board of another game at %s, want Q16, the last stone", at)
	}
	p.wait(`!document.querySelector('#message').placeholder.startsWith('E5,')`)
	p.shoot("live-several")
	names := get[[]string](p, `[...document.querySelectorAll('#games .mine')].map((a) => a.textContent)`)
	if !slices.Equal(names, []string{"Game 2 Black to play", "Game 1 Black to play"}) {
		t.Errorf("these wait for Black: %q", names)
	}

	// Long words, another game and a button more leave room for a turn.
	p.say("/settings whose:mine language:de")
	p.sit("onlooker")
	p.sit("black")
	p.wait(`document.querySelector('#play [data-command=undo]')?.textContent === 'Zurücknehmen'`)
	for _, c := range screens[:2] {
		p.fits(c.width, c.height, c.point)
		p.shoot(fmt.Sprintf("live-german-%d", c.height))
	}
}
