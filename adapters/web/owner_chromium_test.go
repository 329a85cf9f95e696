package web

import (
	"net"
	"strings"
	"testing"

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
