package web

import (
	"fmt"
	"testing"

	emulated "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Somebody who holds both seats plays and counts a game on its page, by pressing the board
// and the buttons. What is refused is taken back from the board, with the reason.
func TestPlayOnThePageInChromium(t *testing.T) {
	tier.Change(t)
	st, _, _, url := openPages(t)
	p := openTab(t, chromium(t), url)
	p.sit("white")
	p.say("hello")
	p.sit("black")
	p.say("/new two-button 3x3")
	p.sees("Black to play")
	game := pathOf(t, st)
	p.do(chromedp.Navigate(url + game))
	press := func(what string) {
		t.Helper()
		p.wait(`document.querySelector(%q) && !('sending' in document.body.dataset)`, what)
		p.do(chromedp.Click(chromedp.CSS(what)))
	}
	open := func(text string) string {
		t.Helper()
		p.do(chromedp.Navigate(url))
		p.wait(`document.querySelector('#log').getAttribute('aria-busy') === 'false'`)
		n := get[int](p, `document.querySelectorAll('#log .message').length`)
		p.say(text)
		p.wait(`document.querySelectorAll('#log .message.show').length && document.querySelectorAll('#log .message').length > %d + 2`, n)
		return pathOf(t, st)
	}
	point := func(at string) string { return fmt.Sprintf("[data-point='%s']", at) }
	line := func(said string) {
		t.Helper()
		p.wait(`document.querySelector('.line').textContent.startsWith(%q)`, said)
	}
	p.wait(`!document.querySelector('.bell').hidden && !document.querySelector('#bell').checked`)
	get[bool](p, `window.rung = 0, AudioContext = class extends AudioContext {
			state = 'suspended' // at first, as in some browsers
			resume() { return new Promise((runs) => setTimeout(() => { Object.defineProperty(this, 'state', { value: 'running' }); runs() })) }
		}, AudioContext.prototype.createOscillator = new Proxy(AudioContext.prototype.createOscillator, { apply: (f, it, args) => (rung++, f.apply(it, args)) }),
		document.querySelector('.look').open = true`)
	press("#bell")
	p.wait(`rung === 2`) // as an example, as soon as the audio runs
	get[bool](p, `rung = 0, document.querySelector('.look').open = false, Object.defineProperty(document, 'hidden', { get: () => true, configurable: true }), true`)
	press(point("B2"))
	line("1. Black B2")
	p.wait(`rung === 2 && document.querySelector('#bell').checked`)
	get[bool](p, `delete document.hidden`)
	press(point("B2")) // occupied
	p.wait(`document.querySelector('#answer').textContent.startsWith('There is already a stone on B2.') && !document.querySelector('[data-at]')`)
	press("[data-command=pass]") // which may be a slip on a board that is nearly empty
	p.wait(`document.querySelector('#answer').textContent.startsWith('Most of the board is empty.')`)
	press("#answer [data-command=pass]")
	line("2. White passes")
	press("[data-command=pass]")
	p.wait(`'marks' in document.querySelector('#play').dataset`)
	press(point("B2"))
	p.wait(`document.querySelector('#play').dataset.dead === 'B2'`)
	press(point("B2"))
	p.wait(`document.querySelector('#play').dataset.dead === ''`)
	// A number of the ledger tells where it comes from, on the page.
	number := ".count a[href*='of=button&by=white']"
	p.do(chromedp.Click(chromedp.CSS(number)))
	p.wait(`document.querySelector('.count .entries')?.textContent.trim().startsWith('2. White +1 button')`)
	p.shoot("ledger")
	p.do(chromedp.Click(chromedp.CSS(number)))
	p.wait(`!document.querySelector('.count .entries')`)
	// To try out what is dead is marked on the board itself.
	press("[data-command=dispute]")
	p.wait(`document.querySelector('.trial h1')?.textContent.startsWith('Trial · ')`)
	p.shoot("trial")
	p.do(chromedp.EmulateViewport(360, 560))
	p.wait(`document.querySelector('.badge').checkVisibility() && document.querySelector('#play').getBoundingClientRect().bottom <= 560 && document.querySelector('.board').clientWidth > 320`)
	p.shoot("trial-phone")
	p.do(chromedp.EmulateViewport(1280, 800))
	press("[data-command=dispute]")
	p.wait(`!document.querySelector('.badge') && 'marks' in document.querySelector('#play').dataset`)
	first := get[string](p, `document.querySelector('#play').dataset.seat`)
	press("[data-command=accept]")
	p.wait(`document.querySelector('#play').dataset.seat !== %q`, first)
	press("[data-command=accept]")
	p.wait(`!document.querySelector('#play')`)
	if got := get[string](p, `document.querySelector('caption').textContent`); got == "" {
		t.Error("the page does not tell the result")
	}

	// On a phone the first press is a ghost, and the second the stone.
	p.do(chromedp.Navigate(url))
	p.wait(`document.querySelector('#log').getAttribute('aria-busy') === 'false'`)
	p.say("/new aga 5x5")
	p.sees("Game 2")
	p.do(chromedp.Navigate(url + pathOf(t, st)))
	tap := func(at string) {
		t.Helper()
		p.wait(`document.querySelector('#play[data-stone]') && !('sending' in document.body.dataset)`)
		get[bool](p, fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new PointerEvent('click', {bubbles: true, pointerType: 'touch'}))`, point(at)))
	}
	p.wait(`document.querySelector('#play')`)
	tap("C3")
	tap("D4")
	p.wait(`document.querySelectorAll('[data-at]').length === 1 && document.querySelector('[data-at=D4]').getAttribute('href') === '#bG'`)
	tap("D4")
	line("1. Black D4")

	// One press is enough if this browser chooses so.
	get[bool](p, `(() => { const s = document.querySelector('#presses'); s.value = '1'; s.dispatchEvent(new Event('change', {bubbles: true})); return !s.closest('[hidden]') })()`)
	tap("C2")
	line("2. White C2")

	// A stone stands at once, however far the room is.
	latency := func(ms float64) {
		t.Helper()
		conditions := []*emulated.Conditions{{Latency: ms, DownloadThroughput: -1, UploadThroughput: -1}}
		if _, err := chromedp.Call(p.ctx, emulated.EmulateNetworkConditionsByRule, emulated.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: conditions}); err != nil {
			t.Fatal(err)
		}
	}
	latency(150)
	p.wait(`!('sending' in document.body.dataset) && document.querySelector('#play[data-stone]')`)
	took := get[float64](p, `new Promise((done) => {
		const from = performance.now(), point = document.querySelector("[data-point='E5']")
		point.dispatchEvent(new PointerEvent('click', {bubbles: true, pointerType: 'touch'}))
		requestAnimationFrame(() => setTimeout(() => done(document.querySelector("[data-at='E5']") ? performance.now() - from : -1)))
	})`)
	if t.Logf("at 150 ms the stone stood after %.1f ms", took); took < 0 {
		t.Error("at 150 ms the stone does not stand when the page is drawn next")
	}
	line("3. Black E5")
	latency(0)

	// To resign asks first.
	press("[data-command=resign]")
	press("#answer [data-command=resign]")
	p.wait(`!document.querySelector('#play') && document.querySelector('caption')`)

	// Handicap stones are placed by pressing, too.
	game = open("/new aga 5x5 handicap:2 placement:free")
	p.do(chromedp.Navigate(url + game))
	for _, at := range []string{"B2", "D4"} {
		p.wait(`document.querySelector('#play[data-stone=b]')`)
		press(point(at))
		p.wait(`document.querySelector('.board [data-point=%s]').getAttribute('aria-label').includes('black')`, at)
	}
	p.wait(`document.querySelector('#play[data-stone=w]')`)

	// With a pass somebody may name the stones that are dead, where the rules know that, and
	// the other accepts.
	p.do(chromedp.Navigate(url + open("/new half-pass-agreement 5x5")))
	press(point("C3"))
	line("1. Black C3")
	press(point("A1"))
	line("2. White A1")
	press("[data-asks=dead]")
	p.wait(`document.querySelector('#answer').textContent.startsWith('Press the stones') && document.querySelector('[data-asks]').getAttribute('aria-pressed') === 'true'`)
	press(point("C3"))
	press(point("A1"))
	press(point("C3"))
	p.wait(`[...document.querySelectorAll('[data-at]')].map((e) => e.dataset.at).join() === 'A1'`)
	press("[data-asks=dead]")
	line("3. Black passes")
	press("[data-command=accept]")
	p.wait(`!document.querySelector('#play') && document.querySelector('caption')`)

	// Who only watches has nothing to press.
	other := blankTab(t, chromium(t))
	other.do(chromedp.Navigate(url + pathOf(t, st)))
	other.wait(`document.querySelector('.line')`)
	if get[bool](other, `!!document.querySelector('#play')`) {
		t.Error("an onlooker may play")
	}
}

// On every screen whoever plays has the board, both players, whose turn it is and the buttons
// before them without scrolling, and points large enough to press.
func TestPlayingFitsScreensInChromium(t *testing.T) {
	tier.Change(t)
	st, _, _, url := openPages(t)
	p := openTab(t, chromium(t), url)
	p.sit("black")
	p.say("/new two-button 19x19 clock:3d")
	p.sees("Black to play")
	game := pathOf(t, st)
	p.do(chromedp.Navigate(url + game))
	for _, c := range screens {
		p.fits(c.width, c.height, c.point)
	}
}
