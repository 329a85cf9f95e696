package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"image/png"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A library is a service with the pages of one game, at /g/abc.
type library struct {
	fakeService
	view func(bot.Viewing) (bot.View, error)
}

func (l library) View(_ context.Context, v bot.Viewing) (bot.View, error) { return l.view(v) }

// A paged game is one of Two Button Go on 5×5: both players place a stone, Black's second is
// taken back and another one placed.
type paged struct {
	names  render.Names
	public bool
}

func (p paged) view(v bot.Viewing) (bot.View, error) {
	moves := [][]string{1: nil, {"C3"}, {"C3", "D3"}, {"C3", "D3", "A1"}, {"C3", "D3"}, {"C3", "D3", "B3"}}
	seq := v.Seq
	if seq == 0 {
		seq = len(moves) - 1
	}
	if v.Slug != "abc" || seq < 1 || seq >= len(moves) {
		return bot.View{}, bot.ErrNotFound
	}
	lang := text.BestLanguage(v.Lang)
	g, _ := rules.New(&rules.TwoButton, rules.Setup{W: 5, H: 5, Komi: rules.TwoButton.Komi})
	for _, at := range moves[seq] {
		point, _ := rules.ParsePoint(at, 5, 5)
		g, _ = g.Play(rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: point})
	}
	out := bot.View{
		Match: match.Match{ID: "g1", Where: here, Standing: match.Standing{Seq: len(moves) - 1}}, Path: fmt.Sprint("/g/abc/", seq),
		Lang: lang.Tag, Public: p.public, Seq: seq, Number: g.Turns(), Taken: seq == 4, Scene: lang.PictureWords().Of(g, p.names),
		Title: "Two Button Go 5×5", Text: "Most points win.", Rules: "two-button",
		Turns: []bot.ViewTurn{{Seq: 2, Number: 1, Text: "1. Black C3"}, {Seq: 3, Number: 2, Text: "2. White D3"}, {Seq: 6, Number: 3, Text: "3. Black B3"}},
	}
	out.Line = out.Scene.Told
	out.Card = out.Scene
	if p.public {
		out.Title = p.names.Black + " – " + p.names.White
	} else {
		out.Card.Black.Name, out.Card.White.Name = "Black", "White"
	}
	switch v.As {
	case "":
	case "ultimate":
		out.As = &bot.Counted{Rules: "ultimate", Title: "Ultimate Go", Err: "Ultimate Go has no count."}
	case "aga", "japanese":
		scene := lang.PictureWords().EndedNow(g, p.names)
		if v.As == "aga" {
			out.Scene = scene
		}
		scene.Black.Total += rules.Half
		out.As = &bot.Counted{Rules: v.As, Title: "AGA", Scene: scene, Differs: []string{"There are no buttons."}}
	default:
		out.As = &bot.Counted{Err: "I know no ruleset “agga”. Did you mean aga?"}
	}
	return out, nil
}

var players = paged{names: render.Names{Black: "Ada", White: "Grace"}}

// What each address answers, and what may be done with it. The address of a game of which
// nothing may be known answers as one that never was.
func TestPagesAnswer(t *testing.T) {
	failing := false
	url := open(t, newRoom(newLog(t)), library{view: func(v bot.Viewing) (bot.View, error) {
		if failing {
			return bot.View{}, errors.New("the disk is broken")
		}
		return players.view(v)
	}})
	_, missing := do(t, "GET", url+"/g/nope", "")
	for path, want := range map[string]int{
		"/g/abc": 200, "/g/abc/1": 200, "/g/abc/6": 200, "/g/abc?as=aga": 200, "/g/abc/3?as=aga": 200, "/g/abc?as=": 200, "/g/abc?as=+": 200,
		"/g/abc?as=ultimate": 200, "/g/abc?as=agga": 400,
		"/g/nope": 404, "/g/nope/1": 404, "/g/abc/7": 404, "/g/abc/0": 404, "/g/abc/-1": 404, "/g/abc/1000000000": 404, "/g/abc/99999999999999999999": 404,
		"/g/abc/x": 404, "/g/abc/03": 404, "/g/abc/+3": 404, "/g/abc/": 404, "/g/abc/3/": 404, "/g/": 404, "/g/abc/3/other.png": 404, "/g/abc/3/card.png/x": 404,
		"/g/abc/x/card.png": 404, "/g/abc/7/card.png": 404, "/g/nope/1/board.png": 404, "/g/%3Cb%3E": 404, "/r/": 404, "/g/g1": 404,
	} {
		resp, body := do(t, "GET", url+path, "")
		if resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, resp.Status, want)
		}
		for header, want := range map[string]string{"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Referrer-Policy": "same-origin",
			"Content-Type": "text/html; charset=utf-8", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY"} {
			if got := resp.Header.Get(header); got != want {
				t.Errorf("%s: %s: %q, want %q", path, header, got, want)
			}
		}
		csp := resp.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'self';") || !strings.Contains(csp, "form-action 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: CSP: %s", path, csp)
		}
		if len(resp.Cookies()) > 0 || strings.Count(body, "<script") != strings.Count(body, `<script type="module" src="/`) || strings.Contains(body, " style=") || strings.Contains(body, "tabindex") || !strings.Contains(body, `<meta name="robots" content="noindex">`) {
			t.Errorf("%s: cookies %v, and the page\n%s", path, resp.Cookies(), body)
		}
		if want == 404 && body != missing {
			t.Errorf("%s tells more than /g/nope:\n%s", path, body)
		}
	}
	for _, path := range []string{"/g/abc/3/board.png", "/g/abc/3/board.png?theme=slate&size=small", "/g/abc/3/board.png?as=aga", "/g/abc/3/card.png", "/g/abc/3/card.png?as=aga"} {
		resp, body := do(t, "GET", url+path, "")
		tag := resp.Header.Get("ETag")
		picture, err := png.DecodeConfig(strings.NewReader(body))
		if resp.StatusCode != 200 || err != nil || resp.Header.Get("Cache-Control") != "private, no-cache" || tag == "" || resp.Header.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s: %s, %v, %v", path, resp.Status, err, resp.Header)
		}
		if strings.Contains(path, "card") && (picture.Width != 1200 || picture.Height != 630) {
			t.Errorf("%s has %d×%d pixels", path, picture.Width, picture.Height)
		}
		resp, again := do(t, "GET", url+path, "", "If-None-Match", tag)
		if resp.StatusCode != http.StatusNotModified || again != "" || resp.Header.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s again: %s, %v", path, resp.Status, resp.Header)
		}
		if resp, _ := do(t, "GET", url+path, "", "If-None-Match", `"of another process"`); resp.StatusCode != 200 {
			t.Errorf("%s with the tag of another process: %s", path, resp.Status)
		}
	}
	if resp, _ := do(t, "GET", url+"/g/abc/3/board.png?theme=none", ""); resp.StatusCode != 400 || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a theme that is none: %s %v", resp.Status, resp.Header)
	}
	if resp, _ := do(t, "POST", url+"/g/abc", ""); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
	failing = true
	for _, path := range []string{"/g/abc", "/g/abc/3/card.png"} {
		if resp, body := do(t, "GET", url+path, "", "Accept-Language", "de"); resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "disk") || !strings.Contains(body, "in einer Minute") {
			t.Errorf("%s fails: %s %s", path, resp.Status, body)
		}
	}
}

// The number of a turn that stands leads to the position after it.
func TestTurnLeadsToItsPosition(t *testing.T) {
	url := open(t, newRoom(newLog(t)), library{view: players.view})
	_, missing := do(t, "GET", url+"/g/nope", "")
	for path, want := range map[string]string{
		"/g/abc/turn/1": "/g/abc/2", "/g/abc/turn/3": "/g/abc/6", "/g/abc/turn/2?as=aga": "/g/abc/3",
		"/g/abc/turn/4": "", "/g/abc/turn/0": "", "/g/abc/turn/-1": "", "/g/abc/turn/03": "", "/g/abc/turn/x": "", "/g/abc/turn/": "", "/g/abc/turn": "",
		"/g/abc/turn/99999999999999999999": "", "/g/nope/turn/1": "", "/g/%2F%2Fevil/turn/1": "",
	} {
		resp, body := do(t, "GET", url+path, "")
		if want == "" {
			if resp.StatusCode != http.StatusNotFound || body != missing {
				t.Errorf("%s: %s\n%s", path, resp.Status, body)
			}
			continue
		}
		led := resp.Request.Response
		if led == nil || led.StatusCode != http.StatusSeeOther || led.Header.Get("Location") != want || led.Header.Get("X-Robots-Tag") != "noindex" || led.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s leads to %s by %v, want %s", path, resp.Request.URL, led, want)
		}
	}
}

// The pages as they are: of a game now, of a turn that was taken back, of one counted by
// another ruleset, of what is missing, in English, German and Japanese.
func TestPagesGolden(t *testing.T) {
	r := newRoom(newLog(t))
	r.cfg.PublicURL = "https://go.example.org/"
	url := open(t, r, library{view: players.view})
	const file = "testdata/pages.txtar"
	var got txtar.Archive
	for _, c := range []struct{ path, lang string }{{"/g/abc", ""}, {"/g/abc/4", "de"}, {"/g/abc/6?as=aga", "ja"}, {"/g/abc/1?as=ultimate", "en"}, {"/g/nope", "de"}} {
		_, body := do(t, "GET", url+c.path, "", "Accept-Language", c.lang)
		got.Files = append(got.Files, txtar.File{Name: c.path + " " + c.lang, Data: []byte(body)})
	}
	if flag.Lookup("update").Value.String() == "true" { // which adaptertest defines
		if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(txtar.Format(&got), want) {
		t.Errorf("the pages are others than in %s; write them with -update and read what differs", file)
	}
}

// meta returns what the head of a page says to previewers.
func meta(page string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`<meta (?:property|name)="([^"]+)" content="([^"]*)">`).FindAllStringSubmatch(page, -1) {
		out[m[1]] = html.UnescapeString(m[2])
	}
	return out
}

// A preview names nobody unless the room is public, whatever people are called, and its
// addresses lead to the room.
func TestPagePreviews(t *testing.T) {
	names := map[string]render.Names{
		"plain":   players.names,
		"HTML":    {Black: `"><script>alert(1)</script>`, White: `</title>&lt;b&gt;`},
		"Arabic":  {Black: "\u202eevil", White: "אבג דהו"},
		"similar": {Black: "Аda", White: "Ada\u200b"},
		"long":    {Black: strings.Repeat("W", 80), White: strings.Repeat("名", 80)},
	}
	for what, n := range names {
		for _, public := range []bool{false, true} {
			url := open(t, newRoom(newLog(t)), library{view: paged{n, public}.view})
			for path, card := range map[string]string{"/g/abc": "/g/abc/6/card.png", "/g/abc/3": "/g/abc/3/card.png", "/g/abc/3?as=aga": "/g/abc/3/card.png?as=aga"} {
				resp, body := do(t, "GET", url+path, "")
				m := meta(body)
				for _, key := range []string{"og:title", "og:description", "og:image:alt", "description"} {
					if m[key] == "" || !utf8.ValidString(m[key]) {
						t.Errorf("%s: %s has %s %q", what, path, key, m[key])
					}
					for _, name := range []string{n.Black, n.White} {
						if strings.Contains(m[key], name) && !public {
							t.Errorf("%s: %s names players in %s: %s", what, path, key, m[key])
						}
					}
				}
				if len(m["og:title"]) > 70 || len(m["og:description"]) > 350 {
					t.Errorf("%s: %s is too long: %q", what, path, m)
				}
				if m["og:url"] != url+path || m["og:image"] != url+card || m["og:image:width"] != "1200" || m["og:image:height"] != "630" || m["twitter:card"] != "summary_large_image" {
					t.Errorf("%s: %s has the preview %q", what, path, m)
				}
				if got := resp.Header.Get("X-Robots-Tag") == ""; got != public || (m["robots"] == "") != public {
					t.Errorf("%s: public %v: robots are told %q and %q", what, public, resp.Header.Get("X-Robots-Tag"), m["robots"])
				}
				title := html.UnescapeString(regexp.MustCompile(`<title>(.*)</title>`).FindStringSubmatch(body)[1])
				if !public && (strings.Contains(title, n.Black) || strings.Contains(title, n.White)) {
					t.Errorf("%s: %s has the title %q", what, path, title)
				}
				if strings.Count(body, "<script") != 1 || strings.Contains(body, "\u202e") && !public {
					t.Errorf("%s: %s is\n%s", what, path, body)
				}
			}
		}
	}
	// Behind a proxy, and where the configuration says it.
	url := open(t, New(Config{Listen: "127.0.0.1:0", Log: newLog(t), OwnerToken: ownerToken, Hosts: []string{"go.example.org"}}), library{view: players.view})
	for want, headers := range map[string][]string{
		"https://go.example.org/g/abc": {"Host", "go.example.org", "X-Forwarded-Proto", "https"},
		"http://go.example.org/g/abc":  {"Host", "go.example.org", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example"},
	} {
		if _, body := do(t, "GET", url+"/g/abc", "", headers...); meta(body)["og:url"] != want {
			t.Errorf("%v: %q, want %q", headers, meta(body)["og:url"], want)
		}
	}
	if resp, body := do(t, "GET", url+"/g/abc", "", "Host", "evil.example"); resp.StatusCode != http.StatusForbidden || strings.Contains(body, "og:") {
		t.Errorf("a host that is not the room's: %s %s", resp.Status, body)
	}
}

// A pasted link leads to a page, with its pictures, also in a browser that was never here
// and in a room without an owner. Other pages get nothing else.
func TestPagesFromElsewhere(t *testing.T) {
	url := open(t, newRoom(newLog(t)), library{view: players.view})
	link := []string{"Origin", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	own := []string{"Origin", "", "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}
	other := []string{"Origin", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}
	frame := []string{"Origin", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}
	for _, c := range []struct {
		path    string
		headers []string
		want    int
	}{
		{"/g/abc", link, 200}, {"/g/abc/3?as=aga", link, 200}, {"/g/abc", []string{"Origin", ""}, 200},
		{"/g/abc/3/board.png", own, 200}, {"/page.css", own, 200}, {"/base.css", own, 200}, {"/g/abc/3/card.png", []string{"Origin", ""}, 200},
		{"/g/abc/3/board.png", other, 403}, {"/g/abc/3/card.png", other, 403}, {"/g/abc", frame, 403},
		{"/g/abc", []string{"Origin", "", "X-Forwarded-For", "192.0.2.1"}, 403}, {"/g/abc/3/card.png", []string{"Origin", "", "Via", "1.1 x"}, 403},
		{"/suggest?text=/", []string{"Origin", ""}, 403},
	} {
		if resp, _ := do(t, "GET", url+c.path, "", c.headers...); resp.StatusCode != c.want {
			t.Errorf("%s with %v: %s, want %d", c.path, c.headers, resp.Status, c.want)
		}
	}
}

// The steps of a page lead from turn to turn, around one that was taken back.
func TestPageSteps(t *testing.T) {
	url := open(t, newRoom(newLog(t)), library{view: players.view})
	for path, want := range map[string]string{
		"/g/abc":          "1 3 - -", // event 6 shows turn 3, so there is nothing after it
		"/g/abc/1":        "- - 2 now",
		"/g/abc/2":        "1 1 3 now",
		"/g/abc/3":        "1 2 6 now",
		"/g/abc/4":        "1 3 6 now", // was taken back
		"/g/abc/5":        "1 2 6 now", // shows the same as 3
		"/g/abc/6":        "1 3 - -",
		"/g/abc/2?as=aga": "1?as=aga 1?as=aga 3?as=aga now?as=aga",
	} {
		_, body := do(t, "GET", url+path, "")
		var got []string
		for _, m := range regexp.MustCompile(`(?:<a href="/g/abc/?([^"]*)"[^>]*|<span class="none" aria-hidden="true")><span|<span class="none"`).FindAllStringSubmatch(body, -1) {
			switch link := strings.HasPrefix(m[0], "<a"); {
			case !link:
				m[1] = "-"
			case m[1] == "" || m[1][0] == '?':
				m[1] = "now" + m[1]
			}
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s leads to %v, want %s", path, got, want)
		}
		if taken := strings.Contains(body, "taken back"); taken != (path == "/g/abc/4") {
			t.Errorf("%s says that it was taken back: %v", path, taken)
		}
	}
}

// A page marks the lines in which another ruleset counts otherwise, and says why it cannot
// count.
func TestPageAs(t *testing.T) {
	url := open(t, newRoom(newLog(t)), library{view: players.view})
	for path, want := range map[string][]string{
		"/g/abc?as=aga":      {"There are no buttons.", `Total <span class="mark"`, "AGA", "/g/abc/6/board.png?as=aga\">"},
		"/g/abc?as=japanese": {"Total</th><td></td><td></td><td>"}, // the game itself is not counted
		"/g/abc?as=ultimate": {"Ultimate Go has no count."},
		"/g/abc?as=agga":     {"Did you mean aga?"},
	} {
		_, body := do(t, "GET", url+path, "")
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s does not say %q:\n%s", path, w, body)
			}
		}
		for _, same := range []string{"Komi", "Prisoners", "Territory"} {
			if strings.Contains(body, same+` <span class="mark"`) {
				t.Errorf("%s: %s differs", path, same)
			}
		}
	}
}

// The pages of the games of a real bot: in the reader's language, with the names of the
// players on the page and nowhere else, and gone at once when the room switches pages off or
// the game is deleted.
func TestPagesOfABot(t *testing.T) {
	st := openStore(t, newFile(t))
	r := New(Config{Listen: "127.0.0.1:0", Log: st, OwnerToken: ownerToken})
	r.limits = limits{}
	met := &acquaintances{Store: st}
	url, _ := inMemory(t, r, func(ctx context.Context) error {
		return bot.New(met, bot.Config{Pages: map[string]match.Pages{platform: match.LinkPages}}).Run(ctx, r)
	})
	n := 0
	says := func(seat, text string) {
		t.Helper()
		n++
		if a := post(t, url, submission{ID: id(n), Seat: seat, Text: text}, append(ownerCookies(), browserFor(seat))...); a.Private && !strings.HasPrefix(text, "/settings") {
			t.Fatalf("%s is answered %q", text, a.Message.Text)
		}
	}
	const name = `<b>Ada</b> אדה`
	her := "name:" + name
	page := func() string { // of the newest game
		t.Helper()
		ms, err := st.Matches(t.Context(), bot.Query{Where: here, Limit: 50})
		if err != nil || len(ms) == 0 {
			t.Fatal(ms, err)
		}
		newest := slices.MaxFunc(ms, func(a, b match.Match) int { return a.Number - b.Number })
		return "/g/" + newest.Page
	}
	status := func(path string) int {
		t.Helper()
		resp, _ := do(t, "GET", url+path, "", "Origin", "")
		return resp.StatusCode
	}
	says(her, "/new two-button 25x25 opponent:me")
	says(her, "/place D4")
	says(her, "/pass")
	first := page()
	_, body := do(t, "GET", url+first, "", "Accept-Language", "de")
	for _, want := range []string{`<html lang="de" dir="ltr">`, "&lt;b&gt;Ada&lt;/b&gt; אדה\u2069</bdi></span>\n<span class=\"prisoners\">Schwarz · ", "Schwarz am Zug", "Zug 2 von 2", "25×25", `<option value="aga">`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q:\n%s", want, body)
		}
	}
	if m := meta(body); strings.Contains(fmt.Sprint(m), "Ada") || len(m["og:title"]) > 70 || len(m["og:description"]) > 350 || !strings.Contains(m["og:image:alt"], "Schwarz") {
		t.Errorf("the preview is %q", m)
	}
	image := strings.TrimPrefix(meta(body)["og:image"], url)
	last := strings.TrimSuffix(image, "/card.png")
	for _, path := range []string{image, last, last + "/board.png", first + "?as=aga", first + "?as=ultimate", first + "/1", "/r/aga"} {
		if got := status(path); got != 200 {
			t.Errorf("%s: %d", path, got)
		}
	}
	if got := status(first + "?as=agga"); got != 400 {
		t.Errorf("a ruleset that is none: %d", got)
	}
	gone := func(why string) {
		t.Helper()
		for _, path := range []string{first, last, image, last + "/board.png", first + "?as=aga"} {
			if got := status(path); got != 404 {
				t.Errorf("%s: %s: %d", why, path, got)
			}
		}
	}
	says(her, "/settings pages:off")
	gone("pages are off")
	says(her, "/settings pages:public")
	gone("the game was opened before pages were on")
	says(her, "/new aga 5x5 opponent:me")
	for _, at := range []string{"C3", "B2", "D4", "D2"} {
		says(her, "/place game:2 "+at)
	}
	first = page()
	resp, body := do(t, "GET", url+first, "")
	if m := meta(body); !strings.Contains(m["og:title"], "<b>Ada</b>") || m["robots"] != "" || resp.Header.Get("X-Robots-Tag") != "" {
		t.Errorf("in public the preview is %q, and robots are told %q", m, resp.Header.Get("X-Robots-Tag"))
	}
	image = strings.TrimPrefix(meta(body)["og:image"], url)
	last = strings.TrimSuffix(image, "/card.png")
	if got := status(image); got != 200 {
		t.Errorf("the card: %d", got)
	}
	says(her, "/delete game:2 yes")
	gone("the game is deleted")
	for _, who := range met.all {
		if who.Name != bot.CleanName(name) && who.Name != name {
			t.Errorf("a visit to the pages stores a person: %+v", who)
		}
	}
}

// Acquaintances are a store that notes who becomes known to it.
type acquaintances struct {
	*store.Store
	all []outbox.User
}

func (a *acquaintances) Person(ctx context.Context, who outbox.User) (match.PersonID, error) {
	a.all = append(a.all, who)
	return a.Store.Person(ctx, who)
}

// Rules are recited with their source, in lists; a name that is none gets suggestions.
func TestRulesPage(t *testing.T) {
	_, url, _ := openBot(t, openStore(t, newFile(t)))
	for _, c := range []struct {
		path, lang string
		status     int
		says       []string
	}{
		{"/r/two-button", "", 200, []string{"<h1>Two Button Go</h1>", `<a href="https://senseis.xmp.net/?TwoButtonGo" rel="noopener">`, "<h2>Passing</h2>\n<ul>\n<li>a pass gives your opponent a pass stone</li>", "<p>Komi 6½"}},
		{"/r/two-button@1", "", 200, []string{"<h1>Two Button Go</h1>", `<a href="/">To the room</a>`}},
		{"/r/chinese", "", 200, []string{"For Chinese rules I use area-agreement."}},
		{"/r/two-button", "de", 200, []string{`<html lang="de" dir="ltr">`, `<h1 lang="en">`, `<a href="/">Zum Raum</a>`, "Passsteine", `<div lang="en">`}},
		{"/r/agga", "", 404, []string{"Did you mean", `<li><a href="/r/aga">AGA</a></li>`}},
		{"/r/%3Cb%3Enope%3C%2Fb%3E", "", 404, []string{"&lt;b&gt;nope"}},
		{"/r/" + strings.Repeat("x", 2000), "", 404, []string{"xxx…"}},
	} {
		resp, body := do(t, "GET", url+c.path, "", "Origin", "", "Accept-Language", c.lang)
		if resp.StatusCode != c.status || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%.40s: %s %v", c.path, resp.Status, resp.Header)
		}
		for _, says := range c.says {
			if !strings.Contains(body, says) {
				t.Errorf("%.40s in %q does not say %q:\n%s", c.path, c.lang, says, body)
			}
		}
	}
}

// The preview of a ruleset's page shows a position and how the ruleset counts it.
func TestRulesCard(t *testing.T) {
	_, url, _ := openBot(t, openStore(t, newFile(t)))
	seen := map[string]bool{}
	for _, c := range []struct{ rules, alt string }{{"two-button", "Move 2: White passes. "}, {"area-3", "Move"}, {"japanese", "New game. "}, {"ultimate", "Move"}} {
		_, page := do(t, "GET", url+"/r/"+c.rules, "")
		image := url + "/r/" + c.rules + "/card.png"
		for _, says := range []string{`<meta property="og:image" content="` + image + `">`, `<meta property="og:image:width" content="1200">`, `<meta property="og:image:alt" content="` + c.alt} {
			if !strings.Contains(page, says) {
				t.Errorf("%s does not say %q:\n%s", c.rules, says, page)
			}
		}
		resp, body := do(t, "GET", image, "")
		if size, err := png.DecodeConfig(strings.NewReader(body)); err != nil || size.Width != 1200 || size.Height != 630 || seen[body] {
			t.Errorf("%s: %s, %v, %v, the same as another: %t", c.rules, resp.Status, size, err, seen[body])
		}
		seen[body] = true
	}
	if resp, _ := do(t, "GET", url+"/r/agga/card.png", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a ruleset that is none: %s", resp.Status)
	}
}

// A picture is drawn once for all who ask for it at the same time, and only a few at once.
func TestDrawingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Room: newRoom(newLog(t))}
		began, release := make(chan int, 100), make(chan bool)
		get := func(n int) {
			w, r := discard{http.Header{}}, &http.Request{Method: "GET"}
			s.draw(w, r, s.queued(slowPicture{N: n, began: began, release: release}), render.Options{})
		}
		for n := range 10 {
			for range 5 {
				go get(n)
			}
		}
		for drawn := range 10 {
			synctest.Wait()
			if got, want := len(began), min(cap(s.visits), 10-drawn); got != want {
				t.Fatalf("%d pictures are drawn at once, want %d", got, want)
			}
			<-began
			release <- true
		}
		synctest.Wait()
		for n := range 10 {
			get(n) // which are kept
		}
		if len(began) > 0 {
			t.Errorf("%d pictures are drawn twice", len(began))
		}
	})
}

// A slowPicture says when somebody begins to draw it, and waits.
type slowPicture struct {
	render.Picture `json:"-"`
	N              int
	began          chan int
	release        chan bool
}

func (p slowPicture) Draw(w io.Writer, _ render.Options) error {
	p.began <- p.N
	<-p.release
	return nil
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// The pages of games are translated, all of them.
func TestGameWords(t *testing.T) {
	said := map[string]bool{}
	for _, name := range []string{"game.html", "held.html", "rules.html", "missing.html", "head.html", "embed.html", "records.html", "link.html", "event.html", "newevent.html"} {
		data, err := page.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\{\{-? ?t \$?\.Lang "([^"]*)"`).FindAllStringSubmatch(string(data), -1) {
			said[m[1]] = true
		}
		for _, m := range regexp.MustCompile(`>([^<{}]*\pL[^<{}]*)<`).FindAllStringSubmatch(string(data), -1) {
			if strings.TrimSpace(m[1]) != "Halfpoint" && strings.TrimSpace(m[1]) != "· Halfpoint" {
				t.Errorf("%s: not translated: %q", name, m[1])
			}
		}
	}
	for _, word := range slices.Concat(gameWords, linkWords, eventWords) {
		if !said[word] {
			t.Errorf("no page says %q", word)
		}
		delete(said, word)
	}
	if len(said) > 0 {
		t.Errorf("missing in gameWords: %v", said)
	}
	for _, l := range bot.Languages()[1:] {
		for _, english := range slices.Concat(gameWords, linkWords, eventWords, formWords(), []string{wordNewEvent, wordPlayerSheet, wordGameSheet, wordAuditFile, wordLinkPage, wordContinue, wordLinkUsed, wordSignedOut}, []string{wordFirst, wordPrevious, wordNext, wordNewest, wordTotal, wordSit, wordEarly, wordNaming, wordRules, wordOnly, wordNotFound, wordNoPage, wordNotNow, wordDamaged,
			wordRecords, wordZip, wordNoForm, wordManyRecords, wordFullRecords}) {
			if bot.Translated(l, english) == english {
				t.Errorf("%s: %q is not translated", l, english)
			}
		}
	}
	for lang, dir := range map[string]string{"en": "ltr", "ja": "ltr", "ar": "rtl", "he": "rtl", "fa": "rtl", "": "ltr", "ug-Latn": "ltr"} {
		if got := direction(lang); got != dir {
			t.Errorf("%q is written %s", lang, got)
		}
	}
}

// The page of a game of 200 turns on 19×19 is small: a phone on a bad line gets it at once.
func TestPageSize(t *testing.T) {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 19, H: 19, Komi: rules.TwoButton.Komi})
	v := bot.View{Path: "/g/0123456789abcdefghij/203", Lang: "en", Seq: 203, Number: 200, Title: "Two Button Go 19×19", Text: strings.Repeat("x", 350), Rules: "two-button"}
	for i := range 200 {
		at := rules.Point{X: int8(i / 2 % 19), Y: int8(i / 38)} // Black below, White above
		if i%2 == 1 {
			at.Y = 18 - at.Y
		}
		turn := rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: at}
		if err == nil {
			g, err = g.Play(turn)
		}
		v.Turns = append(v.Turns, bot.ViewTurn{Seq: i + 4, Number: i + 1, Text: fmt.Sprintf("%d. %s", i+1, turn.Words())})
	}
	if err != nil {
		t.Fatal(err)
	}
	v.Scene = render.Of(g, players.names)
	v.Card, v.Match.Seq = v.Scene, 203
	url := open(t, newRoom(newLog(t)), library{view: func(bot.Viewing) (bot.View, error) { return v, nil }})
	_, body := do(t, "GET", url+"/g/0123456789abcdefghij", "")
	plain, small := len(body), zipped(t, body)
	t.Logf("%d bytes, %d by gzip", plain, small)
	if plain > 48_000 || small > 9_000 {
		t.Errorf("the page has %d bytes, %d by gzip; want at most 48,000 and 9,000", plain, small)
	}
}

func zipped(t *testing.T, text string) int {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write([]byte(text)); err != nil || zip.Close() != nil {
		t.Fatal("cannot compress")
	}
	return out.Len()
}

// The names of the room's seats are in the language of the page, and those of people are not.
func TestSeatNamesOnPage(t *testing.T) {
	german, _ := text.FindLanguage("de")
	for _, c := range []struct{ name, called, plays string }{{"Black", "Schwarz", ""}, {"White", "Weiß", "Schwarz"}, {"Blackadder", "Blackadder", "Schwarz"}, {"", "Schwarz", ""}} {
		p := playerOf(render.Scene{Words: german.PictureWords(), Black: render.Player{Name: c.name}}, rules.Black, true)
		if !strings.Contains(p.Name, c.called) || p.Plays != c.plays {
			t.Errorf("%q is called %q, and plays %q", c.name, p.Name, p.Plays)
		}
	}
}

// Beside a player's name stand their prisoners, and not their pass stones, which lie in the
// same bowl.
func TestPrisonersOnPage(t *testing.T) {
	s := render.Scene{Words: &render.English, Black: render.Player{Bowl: render.Bowl{Stones: 3, Prisoners: 1}}, White: render.Player{Bowl: render.Bowl{Stones: 2}}}
	if b, w := playerOf(s, rules.Black, true).Prisoners, playerOf(s, rules.White, true).Prisoners; b != "Prisoners: 1" || w != "Prisoners: 0" {
		t.Errorf("Black has %q, White %q", b, w)
	}
}
