package web

import (
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// otherAddress returns an address of this machine that is no loopback address, to which
// browsers do not send all headers over plain HTTP; empty: there is none.
func otherAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil && !network.IP.IsLoopback() {
			return network.IP.String()
		}
	}
	return ""
}

// Somebody becomes a moderator with a real browser, from this machine and from others over
// plain HTTP, and follows a link from another page to the owner's page.
func TestOwnerInChromium(t *testing.T) {
	tier.Change(t)
	browser := chromium(t)
	for _, host := range []string{"127.0.0.1", otherAddress(t)} {
		if host == "" {
			t.Log("this machine has no address that is not loopback")
			continue
		}
		url, _ := openTCP(t, New(Config{Listen: "0.0.0.0:0", Log: newLog(t), OwnerToken: ownerToken}), fakeService{})
		url = strings.Replace(url, "127.0.0.1", host, 1)
		p := openTab(t, browser, url)
		refused, moderator := chromedp.WaitVisible(chromedp.CSS("[role=alert]")), chromedp.WaitVisible(chromedp.CSS("button[name=leave]"))
		p.do(chromedp.Navigate(url+"/owner"), chromedp.SendKeys(chromedp.CSS("#token"), "guess"+kb.Enter), refused)
		p.do(chromedp.SendKeys(chromedp.CSS("#token"), token+kb.Enter), moderator)
		p.do(chromedp.Navigate(`data:text/html,<a href="`+url+`/owner">me</a>`), chromedp.Click(chromedp.CSS("a")), moderator)
	}
}

// A second visitor comes to the free seat, a third watches; the title is theirs. Buttons
// and seats are in the language of each reader.
func TestVisitorsInChromium(t *testing.T) {
	tier.Change(t)
	url := openWholeBot(t)
	first := openTab(t, chromium(t), url)
	first.say("/new two-button 9x9")
	first.sees("Black to play")
	visit := func(seat, title string) *tab {
		t.Helper()
		p := openTab(t, chromium(t), url)
		p.wait(`document.querySelector('#seat').value === %q && document.title === %q`, seat, title)
		return p
	}
	first.wait(`document.title === '● Black to play · Halfpoint'`)
	second := visit("white", "Black to play · Halfpoint")
	second.say("hello")
	visit("onlooker", "Black to play · Halfpoint")

	second.say("/settings whose:mine language:de")
	second.wait(`document.documentElement.lang === 'de' && [...document.querySelectorAll('.controls button')].some((b) => b.textContent === 'Passen')`)
	first.wait(`[...document.querySelectorAll('.controls button')].some((b) => b.textContent === 'Pass')`)
	if got := get[string](second, `[...document.querySelectorAll('#seat option')].map((o) => o.textContent).join()`); !strings.HasPrefix(got, "Schwarz,Weiß,") {
		t.Errorf("seats: %s", got)
	}

	// On a phone one sees whose turn it is, also when it is somebody else's.
	second.do(chromedp.EmulateViewport(360, 640, chromedp.EmulateScale(2)))
	second.wait(`innerWidth === 360 && document.querySelector('#turn').checkVisibility() && document.querySelector('#turn').textContent === 'Black to play'`)
	second.narrow(360)
	if dir := os.Getenv("SHOTS"); dir != "" {
		for name, p := range map[string]*tab{"phone": second, "desk": first} {
			png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(dir+"/"+name+".png", png, 0o600)
		}
	}
}

// Somebody who sends too fast is asked to wait, and the page sends it again by itself.
func TestTooFastInChromium(t *testing.T) {
	tier.Change(t)
	l := newLog(t)
	began, going := time.Now(), atomic.Bool{}
	now := func() time.Time { // stands still until the notice was seen, however slow the browser is
		if going.Load() {
			return time.Now()
		}
		return began
	}
	url, _ := openTCP(t, New(Config{Listen: "127.0.0.1:0", Log: l, Person: 8, Now: now}), fakeService{})
	p := openTab(t, chromium(t), url)
	p.do(chromedp.Focus(chromedp.CSS("#message")))
	for _, line := range []string{"one", "two", "three", "four", "five"} {
		p.do(chromedp.KeyEvent(line + kb.Enter))
	}
	p.wait(`/You are sending too fast. Wait \d+ seconds. Trying again/.test(document.querySelector('#outbox').innerText)`)
	going.Store(true)
	p.sees("five")
	p.wait(`!document.querySelector('#outbox').childElementCount`)
	if lines := said(t, l); len(lines) != 5 || lines[4] != "Black: five" {
		t.Errorf("the transcript is %q", lines)
	}
}
