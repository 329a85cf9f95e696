package web

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Somebody who holds both seats plays and counts a game on its page, by pressing the board
// and the buttons. What is refused is taken back from the board, with the reason.
func TestPlayOnThePageInChromium(t *testing.T) {
	tier.Change(t)
	st := openStore(t, newFile(t))
	r := newRoom(st)
	b := withPages(st)
	url, _ := listen(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
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
	point := func(at string) string { return fmt.Sprintf("[data-point='%s']", at) }
	line := func(said string) {
		t.Helper()
		p.wait(`document.querySelector('.line').textContent.startsWith(%q)`, said)
	}
	press(point("B2"))
	line("1. Black B2")
	press(point("B2")) // occupied
	p.wait(`document.querySelector('#answer').textContent.startsWith('There is already a stone on B2.') && !document.querySelector('[data-at]')`)
	press("[data-command=pass]")
	line("2. White passes")
	press("[data-command=pass]")
	p.wait(`'marks' in document.querySelector('#play').dataset`)
	press(point("B2"))
	p.wait(`document.querySelector('#play').dataset.dead === 'B2'`)
	press(point("B2"))
	p.wait(`document.querySelector('#play').dataset.dead === ''`)
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
		get[bool](p, fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new PointerEvent('click', {bubbles: true, pointerType: 'touch'}))`, point(at)))
	}
	p.wait(`document.querySelector('#play')`)
	tap("C3")
	tap("D4")
	p.wait(`document.querySelectorAll('[data-at]').length === 1 && document.querySelector('[data-at=D4]').getAttribute('href') === '#bG'`)
	tap("D4")
	line("1. Black D4")

	// Who only watches has nothing to press.
	other := blankTab(t, chromium(t))
	other.do(chromedp.Navigate(url + pathOf(t, st)))
	other.wait(`document.querySelector('.line')`)
	if get[bool](other, `!!document.querySelector('#play')`) {
		t.Error("an onlooker may play")
	}
}
