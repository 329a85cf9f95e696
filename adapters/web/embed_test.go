package web

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/render"
)

// A board to embed needs nothing but its document, in which nothing can be pressed but the
// link to the page. Where there is no page, there is no embed either.
func TestEmbed(t *testing.T) {
	r := newRoom(newLog(t))
	r.cfg.PublicURL = "https://go.example.org"
	revoked := false
	url := open(t, r, library{view: func(v bot.Viewing) (bot.View, error) {
		if revoked {
			return bot.View{}, bot.ErrNotFound
		}
		return paged{render.Names{Black: `<b>"Ada"`, White: "Grace"}, false}.view(v)
	}})
	frame := []string{"Origin", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}
	for path, says := range map[string][]string{
		"/g/abc/embed":          {`href="/g/abc" target="_blank" rel="noopener"`, "White to play", "&lt;b&gt;&#34;Ada&#34;"},
		"/g/abc/3/embed":        {`href="/g/abc/3" target="_blank" rel="noopener"`, "Black to play"},
		"/g/abc/3/embed?as=aga": {`href="/g/abc/3?as=aga" target="_blank"`, "<strong>"},
	} {
		resp, body := do(t, "GET", url+path, "", frame...)
		_, same := do(t, "GET", url+path, "", append(frame, "Cookie", browserCookie+"=secret")...)
		style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(body)
		if resp.StatusCode != 200 || len(style) != 2 || body != same || len(resp.Cookies()) > 0 {
			t.Fatalf("%s: %s, cookies %v\n%s", path, resp.Status, resp.Cookies(), body)
		}
		hash := sha256.Sum256([]byte(style[1]))
		policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors *"
		for header, want := range map[string]string{"Content-Security-Policy": policy, "X-Frame-Options": "", "X-Robots-Tag": "noindex", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := resp.Header.Get(header); got != want {
				t.Errorf("%s: %s: %q, want %q", path, header, got, want)
			}
		}
		for _, element := range []string{"<script", "<form", "<button", "<input", "<link", "<img", " style=", "tabindex"} {
			if strings.Contains(body, element) {
				t.Errorf("%s has %s", path, element)
			}
		}
		for _, want := range append(says, `<meta name="robots" content="noindex">`, "<svg") {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s:\n%s", path, want, body)
			}
		}
	}
	_, missing := do(t, "GET", url+"/g/nope", "")
	for _, path := range []string{"/g/nope/embed", "/g/abc/0/embed", "/g/abc/7/embed", "/g/abc/x/embed", "/g/abc/turn/embed", "/g/abc/3/embed/x", "/g/embed"} {
		if resp, body := do(t, "GET", url+path, "", "Origin", ""); resp.StatusCode != 404 || body != missing || resp.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
	for _, path := range []string{"/", "/g/abc", "/g/abc/3", "/g/abc/3/board.png", "/r/aga", "/owner", "/room.css", "/embed"} {
		if resp, _ := do(t, "GET", url+path, "", frame...); resp.Header.Get("X-Frame-Options") != "DENY" || path != "/" && resp.StatusCode != 403 {
			t.Errorf("%s in a frame: %s", path, resp.Status)
		}
	}

	// The page says what to copy.
	for path, want := range map[string]string{
		"/g/abc":          `<iframe src="https://go.example.org/g/abc/embed" title="Two Button Go 5×5" width="400" height="500" loading="lazy"></iframe>`,
		"/g/abc/3?as=aga": `<iframe src="https://go.example.org/g/abc/3/embed?as=aga" title="Two Button Go 5×5" width="400" height="500" loading="lazy"></iframe>`,
	} {
		if _, body := do(t, "GET", url+path, ""); !strings.Contains(body, "<pre>"+html.EscapeString(want)+"</pre>") {
			t.Errorf("%s does not say %s", path, want)
		}
	}
	revoked = true
	if resp, body := do(t, "GET", url+"/g/abc/3/embed", "", frame...); resp.StatusCode != 404 || body != missing {
		t.Errorf("a board whose page was revoked: %s %s", resp.Status, body)
	}
}

// A board to embed appears in a page of another site, also in a frame that may do nothing. No
// other page does.
func TestEmbedInChromium(t *testing.T) {
	tier.Change(t)
	url, _ := openTCP(t, newRoom(newLog(t)), library{view: players.view})
	ctx, cancel := chromedp.NewContext(chromium(t))
	t.Cleanup(cancel)
	p := &tab{t, ctx} // which is not watched: the browser refuses most of these pages
	seen := map[string]bool{"/g/abc/embed": true, "/g/abc/3/embed": true, "/g/abc": false, "/g/abc/3?as=aga": false, "/": false, "/owner": false}
	document := "<iframe sandbox src='" + url + "/g/abc/3/embed'></iframe>"
	for path := range seen {
		if path != "/g/abc/3/embed" {
			document += "<iframe src='" + url + path + "'></iframe>"
		}
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, document)
	}))
	defer elsewhere.Close()
	p.do(chromedp.Navigate(strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1))) // which waits for the frames
	targets, err := chromedp.Targets(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range targets {
		path, ok := strings.CutPrefix(frame.URL, url)
		if !ok || frame.Type != "iframe" {
			continue
		}
		ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(frame.TargetID))
		t.Cleanup(cancel)
		got := get[string](&tab{t, ctx}, `document.querySelectorAll('svg.board [data-point]').length + ' ' + getComputedStyle(document.body).display`)
		if want := map[bool]string{true: "25 grid", false: "0 block"}[seen[path]]; got != want {
			t.Errorf("%s in a frame of another site: %s points, want %s", path, got, want)
		}
		delete(seen, path)
	}
	if len(seen) > 0 {
		t.Errorf("no frames of %v", seen)
	}
}
