package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/render"
)

// do sends a request with headers, "Host" among them, and gives the response
// with its body read. Unless they say otherwise it comes from the room's own page.
func do(t testing.TB, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", originOf(url))
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	resp, err := clientFor(url).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(data)
}

// originOf returns the origin of an address.
func originOf(url string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return "http://" + host
}

// ask submits what is JSON already.
func ask(t testing.TB, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	return do(t, "POST", url+"/ask", body, append(headers, "Content-Type", "application/json")...)
}

// typed is a submission as JSON.
func typed(n int, seat, text string) string {
	data, _ := json.Marshal(submission{ID: id(n), Seat: seat, Text: text})
	return string(data)
}

func TestPage(t *testing.T) {
	url := open(t, newRoom(newLog(t)), fakeService{})
	resp, body := do(t, "GET", url+"/", "")
	if resp.StatusCode != 200 || !strings.Contains(body, `id="message"`) {
		t.Fatalf("%s %s", resp.Status, body)
	}
	for header, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := resp.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	csp := resp.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(csp, "default-src 'self';") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "form-action 'self'") { // its board has forms
		t.Errorf("CSP: %s", csp)
	}
	for _, forbidden := range []string{"<script>", " style=", " onclick=", "http:", "https:"} {
		if strings.Contains(body, forbidden) {
			t.Errorf("the page contains %q", forbidden)
		}
	}
	for _, name := range []string{"/base.css", "/page.css", "/room.css", "/room.js", "/icon.svg"} {
		resp, _ := do(t, "GET", url+name, "")
		again, _ := do(t, "GET", url+name, "", "If-None-Match", resp.Header.Get("ETag"))
		if resp.StatusCode != 200 || again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: %s, then %s", name, resp.Status, again.Status)
		}
	}
	if resp, _ := do(t, "GET", url+"/nothing", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("/nothing: %s", resp.Status)
	}
}

// Pages, scripts and styles are compressed unless they are tiny; streams, pictures and answers
// are not.
func TestCompressed(t *testing.T) {
	st := openStore(t, newFile(t))
	r := newRoom(st)
	b := withPages(st)
	url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
	post(t, url, submission{ID: id(1), Seat: "black", Text: "/new aga 5x5 opponent:me"})
	game := pathOf(t, st)
	for path, want := range map[string]string{"/": "gzip", "/view.js": "gzip", "/room.js": "", "/link": "gzip", "/game.css": "gzip", game: "gzip", game + "/3/board.png": ""} {
		resp, body := do(t, "GET", url+path, "", "Accept-Encoding", "gzip")
		if got := resp.Header.Get("Content-Encoding"); got != want || resp.StatusCode != 200 {
			t.Errorf("%s: %s, %q, %d bytes", path, resp.Status, got, len(body))
		}
	}
	if resp, _ := do(t, "POST", url+"/ask", typed(2, "black", "/help"), "Accept-Encoding", "gzip", "Content-Type", "application/json"); resp.Header.Get("Content-Encoding") != "" {
		t.Errorf("an answer is compressed")
	}
}

// The room comes with the board of its newest unfinished game, if that has a page; and not for
// somebody who may have come through a proxy to a room without an owner.
func TestRoomComesWithBoard(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		owner bool
		head  []string
		want  string // part of the address of the board; empty: none
	}{
		{"no game", nil, false, nil, ""},
		{"a game", []string{"/new aga 5x5 opponent:me", "C3"}, false, nil, `<circle`},
		{"the game is over", []string{"/new aga 5x5 opponent:me", "C3", "/resign confirm:yes"}, false, nil, ""},
		{"no pages", []string{"/settings pages:off", "/new aga 5x5 opponent:me"}, true, nil, ""},
		{"perhaps through a proxy", []string{"/new aga 5x5 opponent:me"}, false, []string{"Origin", ""}, ""},
		{"through a proxy, with an owner", []string{"/new aga 5x5 opponent:me"}, true, []string{"Origin", ""}, "<svg"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := openStore(t, newFile(t))
			r := newRoom(st)
			if c.owner {
				r.cfg.OwnerToken = ownerToken
			}
			b := withPages(st)
			url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
			for i, line := range c.lines {
				post(t, url, submission{ID: id(i + 1), Seat: "black", Text: line}, ownerCookies()...)
			}
			_, body := do(t, "GET", url+"/", "", c.head...)
			has := strings.Contains(body, `<div id="live" lang="en"`) && strings.Contains(body, `<body class="live `) && strings.Contains(body, `data-game="/g/`)
			if has != (c.want != "") || !strings.Contains(body, c.want) || !strings.Contains(body, `id="message"`) {
				t.Errorf("the board comes with it: %v; %s", has, body)
			}
		})
	}
}

// The room's page is sent to everybody. A browser that asks for it too often gets it without
// the board, because drawing that takes work.
func TestRoomComesWithoutBoardInAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the limit is one of requests a minute
		st := openStore(t, newFile(t))
		r := newRoom(st)
		b := withPages(st)
		url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
		post(t, url, submission{ID: id(1), Seat: "black", Text: "/new aga 5x5 opponent:me"})
		r.limits.reads = quota{intake.New(2, 1), intake.New(100, 1)}
		for i, want := range []bool{true, true, false} {
			resp, body := do(t, "GET", url+"/", "")
			if has := strings.Contains(body, `data-game="/g/`); has != want || resp.StatusCode != http.StatusOK {
				t.Errorf("request %d: %s, with a board: %v", i+1, resp.Status, has)
			}
		}
	})
}

// Only the room's own names lead to it: a name that somebody else made to
// resolve to 127.0.0.1 does not.
func TestHosts(t *testing.T) {
	r := New(Config{Listen: "127.0.0.1:0", Log: newLog(t), OwnerToken: ownerToken, Hosts: []string{"go.example.org", "lan.example:9000"}})
	url := open(t, r, fakeService{})
	port := url[strings.LastIndex(url, ":")+1:]
	for host, ok := range map[string]bool{
		"127.0.0.1:" + port:       true,
		"localhost:" + port:       true,
		"LocalHost:" + port:       true,
		"[::1]:" + port:           true,
		"go.example.org":          true,
		"go.example.org:443":      true,
		"lan.example:9000":        true,
		"lan.example:9001":        false,
		"127.0.0.1":               false,
		"127.0.0.1:1":             false,
		"localhost":               false,
		"evil.example:" + port:    false,
		"evil.example":            false,
		"localhost.evil:" + port:  false,
		"127.0.0.1.evil:" + port:  false,
		"192.168.1.1:" + port:     false,
		"go.example.org.evil:443": false,
	} {
		resp, _ := do(t, "GET", url+"/", "", "Host", host)
		if got := resp.StatusCode == 200; got != ok || !ok && resp.StatusCode != http.StatusForbidden {
			t.Errorf("Host %s: %s", host, resp.Status)
		}
	}
}

// Pages of other origins may not ask, nor look at what is only for this one.
func TestOrigins(t *testing.T) {
	l := newLog(t)
	url := open(t, newRoom(l), fakeService{})
	for i, c := range []struct {
		headers []string
		ok      bool
	}{
		{[]string{"Origin", url}, true},
		{[]string{"Origin", strings.ToUpper(url)}, true},
		{[]string{"Origin", url, "Sec-Fetch-Site", "same-origin"}, true},
		{[]string{"Sec-Fetch-Site", "none"}, true},
		{[]string{"Origin", ""}, false},
		{[]string{"Origin", "http://evil.example"}, false},
		{[]string{"Origin", "http://127.0.0.1:1"}, false},
		{[]string{"Origin", strings.Replace(url, "127.0.0.1", "localhost", 1)}, false},
		{[]string{"Origin", "null"}, false},
		{[]string{"Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Origin", url, "Sec-Fetch-Site", "cross-site"}, false},
		{[]string{"Origin", "http://evil.example", "Sec-Fetch-Site", "same-site"}, false},
	} {
		before := len(said(t, l))
		resp, _ := ask(t, url, typed(i, "black", "hello"), c.headers...)
		if got := resp.StatusCode == 200; got != c.ok || !c.ok && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %s", c.headers, resp.Status)
		}
		if got := len(said(t, l)) > before; got != c.ok {
			t.Errorf("%v: said %v", c.headers, got)
		}
	}
	for _, path := range []string{"/events", "/suggest?text=/", "/picture/g1/2.png"} {
		if resp, _ := do(t, "GET", url+path, "", "Sec-Fetch-Site", "cross-site"); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s for another page: %s", path, resp.Status)
		}
	}
	// A link on another page leads here. Nothing else of another page does.
	link := []string{"Origin", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, path := range []string{"/", "/owner"} {
		if resp, _ := do(t, "GET", url+path, "", link...); resp.StatusCode != 200 {
			t.Errorf("a link to %s: %s", path, resp.Status)
		}
		if resp, _ := do(t, "POST", url+path, "", link...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("a form of another page for %s: %s", path, resp.Status)
		}
	}
	for _, other := range [][]string{{"Sec-Fetch-Dest", "iframe"}, {"Sec-Fetch-Dest", "image"}, {"Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Mode", ""}} {
		if resp, _ := do(t, "GET", url+"/owner", "", append(slices.Clone(link), other...)...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("/owner for %v of another page: %s", other, resp.Status)
		}
	}
}

func TestBadSubmissions(t *testing.T) {
	l := newLog(t)
	url := open(t, newRoom(l), fakeService{})
	json := "application/json"
	good := typed(1, "black", "hello")
	for _, c := range []struct {
		what, kind, body string
		status           int
	}{
		{"a form", "application/x-www-form-urlencoded", good, http.StatusUnsupportedMediaType},
		{"plain text", "text/plain", good, http.StatusUnsupportedMediaType},
		{"no type", "", good, http.StatusUnsupportedMediaType},
		{"no JSON", json, "hello", http.StatusBadRequest},
		{"nothing", json, "", http.StatusBadRequest},
		{"no id", json, `{"text":"hello"}`, http.StatusBadRequest},
		{"a bad id", json, `{"id":"1","text":"hello"}`, http.StatusBadRequest},
		{"too large", json, `{"id":"` + id(1) + `","text":"` + strings.Repeat("x", maxUpload) + `"}`, http.StatusRequestEntityTooLarge},
	} {
		resp, _ := do(t, "POST", url+"/ask", c.body, "Content-Type", c.kind)
		if resp.StatusCode != c.status {
			t.Errorf("%s: %s, want %d", c.what, resp.Status, c.status)
		}
	}
	for text, s := range map[string]submission{
		"too long":  {Seat: "black", Text: strings.Repeat("ä", maxText+1)},
		"nothing":   {Seat: "black", Text: " \u202e "},
		"no such":   {Seat: "throne", Text: "hello"},
		"your name": {Seat: "name:\u202e ", Text: "hello"},
		"a seat":    {Seat: "name:BLACK", Text: "hello"},
		"of a seat": {Seat: "name:Вlack", Text: "hello"}, // a Cyrillic letter
		"the name":  {Seat: "name:Ｗhite", Text: "hello"}, // a wide one
		"/pass":     {Seat: "black", Text: "/pasx"},
		"command":   {Seat: "black", Command: "shutdown"},
		"/help":     {Seat: "black", Text: "/"},
	} {
		s.ID = id(2)
		a := post(t, url, s)
		if !a.Private || a.Message == nil || !strings.Contains(a.Message.Text, text) {
			t.Errorf("%s: %+v", text, a.Message)
		}
	}
	equal(t, "everybody reads", said(t, l), nil)
}

// A record of two megabytes arrives whole, as a file in any encoding or typed; everybody
// reads a short line. One that is longer is refused, with the limit.
func TestRecords(t *testing.T) {
	l := newLog(t)
	var asked []bot.Request
	url := open(t, newRoom(l), answering(outbox.Post{}, &asked))
	short, long := "(;C[\xe4])", "(;SZ[9]C[\n"+strings.Repeat("\n", match.MaxDiagram-20)+"])"
	n := 0
	for _, c := range []struct{ text, file, diagram, told string }{
		{"/show", short, short, ""},
		{"/setup rules:aga", long, long, ""},
		{"/show " + strings.Repeat("x", match.MaxDiagram), "", strings.Repeat("x", match.MaxDiagram), ""},
		{"/show\n.X.\n.O.\n...", "", ".X.\n.O.\n...", ""},
		{"/show", "", "", ""},
		{"/show .X.", short, "", wordFileAlone},
		{"/pass", short, "", wordFileAlone},
		{"hello", short, "", wordFileAlone},
		{"/comment " + strings.Repeat("x", maxText), "", "", "at most 1000 characters"},
	} {
		asked = nil
		n++
		s := submission{ID: id(n), Seat: "black", Text: c.text}
		if c.file != "" {
			s.File = &upload{"Söhne\n.sgf", []byte(c.file)}
		}
		a := post(t, url, s)
		if c.told != "" {
			if len(asked) > 0 || !a.Private || !strings.Contains(a.Message.Text, c.told) {
				t.Errorf("%.20q is answered %+v", c.text, a.Message)
			}
		} else if len(asked) != 1 || asked[0].Args["diagram"] != c.diagram {
			t.Errorf("%.20q with a file of %d bytes: the bot is asked %.200q", c.text, len(c.file), fmt.Sprint(asked))
		}
	}
	lines := said(t, l)
	equal(t, "everybody reads", lines, []string{"Black: /show (Söhne .sgf)", "Black: /setup rules:aga (Söhne .sgf)", "Black: /show … (2097158)", "Black: /show\n.X.\n.O.\n...", "Black: /show"})
	resp, body := ask(t, url, `{"id":"`+id(1)+`","text":"/show `+strings.Repeat("x", maxUpload)+`"}`)
	if resp.StatusCode != http.StatusRequestEntityTooLarge || body != "That is too long: at most 2 MB.\n" {
		t.Errorf("too large: %s %s", resp.Status, body)
	}
}

// A page that got no answer asks again with the same id: it happens once.
func TestRetry(t *testing.T) {
	l := newLog(t)
	var mu sync.Mutex
	done := map[string]int{}
	url := open(t, newRoom(l), fakeService{ask: func(ctx context.Context, req bot.Request) (outbox.Post, error) {
		mu.Lock()
		defer mu.Unlock()
		if done[req.ID]++; done[req.ID] == 1 {
			return outbox.Post{}, errors.New("the answer was lost after it was stored")
		}
		return outbox.Post{Text: "shared"}, nil
	}})
	if resp, _ := ask(t, url, typed(7, "black", "/board share:yes")); resp.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("lost: %s", resp.Status)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { post(t, url, submission{ID: id(7), Seat: "black", Text: "/board share:yes"}) })
		wait.Go(func() { post(t, url, submission{ID: id(8), Seat: "white", Text: "hello"}) })
	}
	wait.Wait()
	lines := said(t, l)
	slices.Sort(lines)
	equal(t, "transcript", lines, []string{": shared", "Black: /board share:yes", "White: hello"})
	if len(done) != 1 || done["web:"+id(7)] == 0 {
		t.Errorf("the service was asked %v", done)
	}
}

// A refusal is for the page that asked: no stream has it, nor the command that
// was refused.
func TestRefusalIsPrivate(t *testing.T) {
	sc := scene(1)
	var asked []bot.Request
	url := open(t, newRoom(newLog(t)), answering(outbox.Post{Text: "no", Private: true, Scene: &sc,
		File:     &outbox.File{Name: "game-1.sgf", Type: "application/x-go-sgf", Data: []byte("(;)")},
		Controls: []match.Control{{Label: "Resign", Command: "resign", Args: map[string]string{"confirm": "yes"}}}}, &asked))
	streams := []*reader{follow(t, url, "seat=black", ""), follow(t, url, "seat=white", "")}
	a := post(t, url, submission{ID: id(1), Seat: "black", Text: "/place D4"})
	if !a.Private || a.Message.Text != "no" || !a.Message.Private || a.Message.Alt == "" || len(a.Message.Controls) != 1 {
		t.Errorf("answer: %+v", a.Message)
	}
	if got := asked[0]; got.ID != "web:"+id(1) || got.Who != black || got.Where != here || got.Command != "place" || got.Args["at"] != "D4" ||
		got.Seats == nil || got.Seats.Black != black || got.Seats.White != white {
		t.Errorf("request: %+v", got)
	}
	post(t, url, submission{ID: id(2), Seat: "name:Ada", Text: "good luck"})
	for _, s := range streams {
		equal(t, "stream", s.until("good luck"), []string{"(ready)", "good luck"})
	}
	resp, body := do(t, "GET", url+a.Message.Picture+"&size=small", "", "Cookie", browserFor("black").String())
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "image/png" || len(body) == 0 {
		t.Errorf("its picture: %s", resp.Status)
	}
	for _, path := range []string{a.Message.Picture, a.Message.File.URL} {
		for _, cookie := range []string{"", browserFor("white").String(), browserFor("name:Ada").String()} {
			if resp, _ := do(t, "GET", url+path, "", "Cookie", cookie); resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s for %q: %s", path, cookie, resp.Status)
			}
		}
	}
	resp, body = do(t, "GET", url+a.Message.File.URL, "", "Cookie", browserFor("black").String())
	if body != "(;)" || resp.Header.Get("Content-Disposition") != "attachment; filename=game-1.sgf" {
		t.Errorf("its file: %q %v", body, resp.Header)
	}
}

// A chart is drawn as the page asks for it: in the theme of the page, and as wide as
// its place.
func TestChart(t *testing.T) {
	chart := render.Chart{Title: "By other rules", Rows: []render.ChartRow{{Title: "AGA", Bar: true, Margin: 10, Value: "Black +5"}}}
	var asked []bot.Request
	url := open(t, newRoom(newLog(t)), answering(outbox.Post{Text: "the same game", Chart: &chart}, &asked))
	s := follow(t, url, "seat=white", "")
	post(t, url, submission{ID: id(1), Seat: "black", Text: "/compare share:yes"})
	var m message
	for m.Text != "the same game" {
		e, ok := s.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		m = e.message
	}
	if m.Alt != chart.Text() || m.High == 0 || m.Private {
		t.Errorf("%+v", m)
	}
	drawn := map[string]bool{}
	for query, width := range map[string]int{"": 720, "&size=small": 540, "&size=small&theme=contrast": 540, "&size=large": 1080} {
		resp, body := do(t, "GET", url+m.Picture+query, "")
		img, err := png.Decode(strings.NewReader(body))
		if resp.StatusCode != 200 || err != nil || img.Bounds().Dx() != width || query == "" && img.Bounds().Dy() != m.High || drawn[body] {
			t.Errorf("%s: %s, %v, %v", query, resp.Status, err, img.Bounds())
		}
		drawn[body] = true
	}
}

const token = "correct horse battery"

var ownerToken = secret.New(token)

// A moderator is somebody who has given the owner token in this browser. Being on
// the same machine, or behind a proxy on it, gives no rights.
func TestOwner(t *testing.T) {
	var asked []bot.Request
	d := answering(outbox.Post{}, &asked)
	moderator := func(url, cookie string, headers ...string) bool {
		t.Helper()
		asked = nil
		for i, seat := range []string{"black", "onlooker", "name:Ada"} {
			cookies := browserFor(seat).String()
			if cookie != "" {
				cookies += "; " + ownerCookie + "=" + cookie
			}
			ask(t, url, typed(i, seat, "/help"), append(headers, "Cookie", cookies)...)
		}
		if len(asked) != 3 || asked[0].Moderator != asked[1].Moderator || asked[0].Moderator != asked[2].Moderator {
			t.Fatalf("asked %+v", asked)
		}
		return asked[0].Moderator
	}
	form := func(url, body string, headers ...string) (*http.Response, string) {
		t.Helper()
		return do(t, "POST", url+"/owner", body, append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
	}

	// Without a token nobody is, whatever they give.
	alone := open(t, newRoom(newLog(t)), d)
	if _, page := do(t, "GET", alone+"/owner", ""); !strings.Contains(page, "HALFPOINT_OWNER_TOKEN") || strings.Contains(page, "<form") {
		t.Errorf("without a token /owner is %s", page)
	}
	if resp, _ := form(alone, "token="); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 {
		t.Errorf("no token was taken: %s", resp.Status)
	}
	for _, cookie := range []string{"", ownerProof(""), ownerProof(token)} {
		if moderator(alone, cookie) {
			t.Errorf("the cookie %q makes a moderator of a room that has none", cookie)
		}
	}

	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		url := open(t, New(Config{Listen: listen, Log: newLog(t), OwnerToken: ownerToken}), d)
		if _, page := do(t, "GET", url+"/owner", ""); !strings.Contains(page, "<form") || strings.Contains(page, token) {
			t.Errorf("/owner is %s", page)
		}
		for _, wrong := range []string{"", "token=", "token=correct+horse+batterx", "token=correct+horse"} {
			if resp, page := form(url, wrong); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 || strings.Contains(page, token) {
				t.Errorf("%q: %s, %v", wrong, resp.Status, resp.Cookies())
			}
		}
		resp, page := form(url, "token=correct+horse+battery")
		if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 || !strings.Contains(page, "You are a moderator") {
			t.Fatalf("the token: %s, %s", resp.Status, page)
		}
		c := resp.Cookies()[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge <= 0 || c.Secure || strings.Contains(c.Value, token) {
			t.Errorf("the cookie is %+v", c)
		}
		if !moderator(url, c.Value) || !moderator(url, c.Value, "X-Forwarded-For", "192.0.2.1") {
			t.Error("the owner is no moderator")
		}
		for _, cookie := range []string{"", c.Value[1:], token, ownerProof("another token")} {
			if moderator(url, cookie, "X-Forwarded-For", "192.0.2.2") { // whose guesses count
				t.Errorf("the cookie %q makes a moderator", cookie)
			}
		}
		if resp, _ := form(url, "leave=yes"); len(resp.Cookies()) != 1 || resp.Cookies()[0].MaxAge >= 0 {
			t.Errorf("leaving leaves %v", resp.Cookies())
		}
		resp, _ = form(url, "token=correct+horse+battery", "X-Forwarded-Proto", "https")
		if len(resp.Cookies()) != 1 || !resp.Cookies()[0].Secure {
			t.Errorf("by HTTPS the cookie is %v", resp.Cookies())
		}
		if resp, _ := form(url, "token=correct+horse+battery", "Sec-Fetch-Site", "cross-site"); resp.StatusCode != http.StatusForbidden {
			t.Errorf("another page gave the token: %s", resp.Status)
		}
	}
}

// A room without an owner token refuses whatever came through a proxy, as far as
// that shows; with one it lets it in.
func TestProxy(t *testing.T) {
	alone := open(t, newRoom(newLog(t)), fakeService{})
	owned := open(t, New(Config{Listen: "127.0.0.1:0", Log: newLog(t), OwnerToken: ownerToken}), fakeService{})
	for _, headers := range [][]string{
		{"X-Forwarded-For", "192.0.2.1"},
		{"X-Forwarded-Proto", "https"},
		{"X-Forwarded-Port", "443"},
		{"X-Real-IP", "192.0.2.1"},
		{"Forwarded", "for=192.0.2.1"},
		{"Via", "1.1 example"},
		{"Origin", "https://go.example.org", "Sec-Fetch-Site", "same-origin"},
	} {
		for _, path := range []string{"/", "/owner", "/events"} {
			if resp, body := do(t, "GET", alone+path, "", headers...); resp.StatusCode != http.StatusForbidden || !strings.Contains(body, "owner_token") {
				t.Errorf("%s with %v: %s %s", path, headers, resp.Status, body)
			}
		}
		if resp, _ := do(t, "GET", owned+"/", "", headers...); resp.StatusCode != http.StatusOK {
			t.Errorf("with an owner and %v: %s", headers, resp.Status)
		}
	}
	// A proxy that replaces the Host and says nothing more: a browser shows by Origin or by
	// the cookie of the page where it sees the room, and so does a program that plays by the
	// rules. What gets in without is the same for everybody.
	host := strings.TrimPrefix(alone, "http://")
	for _, c := range []struct {
		headers []string
		ok      bool
	}{
		{nil, false},
		{[]string{"Sec-Fetch-Site", "same-origin"}, false},
		{[]string{"Cookie", hostCookie("go.example.org") + "=1"}, false},
		{[]string{"Cookie", hostCookie("127.0.0.1:1") + "=1"}, false},
		{[]string{"Cookie", hostCookie(host) + "=1"}, true},
		{[]string{"Origin", alone}, true},
		{[]string{"Origin", "http://go.example.org"}, false},
		{[]string{"Origin", "null"}, false},
	} {
		headers := append([]string{"Origin", ""}, c.headers...)
		for path, page := range map[string]bool{"/": true, "/room.js": true, "/owner": true, "/suggest?text=/": false, "/picture/g1/2.png": false} {
			if resp, _ := do(t, "GET", alone+path, "", headers...); (resp.StatusCode == http.StatusOK) != (c.ok || page) {
				t.Errorf("%s with %v: %s", path, c.headers, resp.Status)
			}
			if resp, _ := do(t, "GET", owned+path, "", headers...); resp.StatusCode != http.StatusOK {
				t.Errorf("%s with %v and an owner: %s", path, c.headers, resp.Status)
			}
		}
		if resp, body := ask(t, alone, typed(len(headers), "black", "hello"), headers...); (resp.StatusCode == http.StatusOK) != c.ok || !c.ok && resp.StatusCode != http.StatusForbidden {
			t.Errorf("a post with %v: %s %s", c.headers, resp.Status, body)
		}
		for _, path := range []string{"/records", "/p/abc", "/g/abc/look", "/link"} { // of pages that anybody may read
			if resp, _ := do(t, "POST", alone+path, "", headers...); (resp.StatusCode == http.StatusForbidden) == c.ok {
				t.Errorf("a post to %s with %v: %s", path, c.headers, resp.Status)
			}
		}
	}
	// nginx without settings of its own: HTTP/1.0, and the Host of the room.
	for url, want := range map[string]string{alone: "403", owned: "200"} {
		answer, err := io.ReadAll(dial(t, url, "GET / HTTP/1.0", "Connection: close\r\n"))
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.0 "+want) {
			t.Errorf("by HTTP/1.0: %.80s, %v; want %s", answer, err, want)
		}
	}
}

// The bot is told who speaks and whom they mean.
func TestPeople(t *testing.T) {
	l := newLog(t)
	var asked []bot.Request
	url := open(t, newRoom(l), answering(outbox.Post{}, &asked))
	user := func(name string) outbox.User {
		return outbox.User{Platform: "web", ID: "name:" + strings.ToLower(name), Name: name}
	}
	for i, c := range []struct {
		submission
		who   outbox.User
		users map[string]outbox.User
	}{
		{submission{Seat: "name:  Ada   Lovelace ", Text: "/new opponent:White"}, user("Ada Lovelace"), map[string]outbox.User{"opponent": white}},
		{submission{Seat: "name:Eve", Text: "/new opponent:@Bob"}, user("Eve"), map[string]outbox.User{"opponent": user("Bob")}},
		{submission{Seat: "onlooker", Text: "/games"}, onlooker, nil},
		{submission{Seat: "white", Command: "new", Args: map[string]string{"opponent": "onlooker"}}, white, nil}, // whom nobody is
		{submission{Seat: "white", Command: "new", Args: map[string]string{"opponent": "me"}}, white, nil},
	} {
		c.ID = id(i)
		post(t, url, c.submission)
		if got := asked[i]; got.Who != c.who || (got.Seats != nil) != (c.who == white) || !maps.Equal(got.Users, c.users) {
			t.Errorf("request: %+v", got)
		}
	}
	equal(t, "transcript", said(t, l), []string{"Ada Lovelace: /new opponent:White", "Eve: /new opponent:@Bob", "Onlooker: /games"})
}

// A point without a command is a stone of somebody who is to move; another player is told
// why it is none. Any other command without its slash is said, and who said it is asked
// whether they meant the command. Nobody asks onlookers.
func TestBare(t *testing.T) {
	l := newLog(t)
	var asked []bot.Request
	d := answering(outbox.Post{}, &asked)
	d.expects = black
	url := open(t, newRoom(l), d)
	for i, c := range []struct{ seat, text, place, meant string }{
		{"black", "E5", "E5", ""},
		{"black", "place d4", "d4", ""},
		{"name:Ada", "E5", "", ""},
		{"onlooker", "k9", "", ""},
		{"onlooker", "accept", "", ""},
		{"black", "accept", "", "/accept"},
		{"black", "pass?", "", "/pass"},
		{"black", "E55", "", "/place E55"},
		{"black", "4-4", "", "/place 4-4"},
		{"black", "hello?", "", ""},
		{"black", "hello", "", ""},
	} {
		asked = nil
		a := post(t, url, submission{ID: id(i), Seat: c.seat, Text: c.text})
		if c.place != "" && (len(asked) != 1 || asked[0].Command != "place" || asked[0].Args["at"] != c.place || asked[0].Typed == nil || asked[0].Typed.Text != c.text) ||
			c.place == "" && len(asked) > 0 {
			t.Errorf("%s says %q, and the bot is asked %+v", c.seat, c.text, asked)
		}
		if (a.Message != nil) != (c.meant != "") {
			t.Errorf("%s says %q and is told %+v", c.seat, c.text, a.Message)
		}
		if c.meant == "" {
			continue
		}
		if m := a.Message; !a.Private || m.Text != "That went to the chat. Did you mean "+c.meant+"?" || len(m.Controls) != 1 || m.Controls[0].Label != c.meant {
			t.Errorf("%s says %q and is told %+v", c.seat, c.text, m)
		}
		pressed := post(t, url, submission{ID: id(100 + i), Seat: c.seat, Command: a.Message.Controls[0].Command, Args: a.Message.Controls[0].Args})
		if pressed.Message != nil || len(asked) != 1 || "/"+strings.TrimSpace(asked[0].Command+" "+asked[0].Args["at"]) != c.meant {
			t.Errorf("the button %q asks %+v", c.meant, asked)
		}
	}
	a := post(t, url, submission{ID: id(50), Seat: "white", Text: "E5"})
	if m := a.Message; !a.Private || m == nil || m.Text != "That went to the chat. It is not your turn." || len(m.Controls) > 0 {
		t.Errorf("out of turn: %+v", m)
	}
	equal(t, "transcript", said(t, l), []string{"Black: E5", "Black: place d4", "Ada: E5", "Onlooker: k9", "Onlooker: accept", "Black: accept", "Black: pass?", "Black: E55", "Black: 4-4", "Black: hello?", "Black: hello", "White: E5"})
}

// Words that ask how the game stands are questions, also of onlookers, and nobody else reads them.
func TestBareReadings(t *testing.T) {
	l := newLog(t)
	var asked []bot.Request
	url := open(t, newRoom(l), private(&asked))
	talk := []string{}
	for i, c := range []struct{ text, what, where string }{
		{"last", "last", ""}, {"Clock?", "clock", ""}, {" ledger ", "ledger", ""}, {"row 5", "row", "5"}, {"ROW  19.", "row", "19"}, {"column d", "column", "d"},
		{"chain D4", "chain", "D4"}, {"chain d 4", "chain", "d 4"}, {"liberties D4?", "liberties", "D4"}, {"chain I5", "chain", "I5"}, {"chain Ｄ４", "chain", "D4"},
		{"liberties 4四", "liberties", "4四"}, {"chain 4-4", "chain", "4-4"},
		{"last one!", "", ""}, {"chain reaction", "", ""}, {"row", "", ""}, {"row the boat", "", ""}, {"the ledger", "", ""}, {"liberties", "", ""},
	} {
		asked = nil
		seat := []string{"black", "onlooker"}[i%2]
		a := post(t, url, submission{ID: id(i), Seat: seat, Text: c.text})
		if c.what == "" {
			talk = append(talk, map[string]string{"black": "Black: ", "onlooker": "Onlooker: "}[seat]+c.text)
			if len(asked) > 0 {
				t.Errorf("%q asks %+v", c.text, asked)
			}
			continue
		}
		if !a.Private || len(asked) != 1 || asked[0].Command != "read" || asked[0].Args["what"] != c.what || asked[0].Args["where"] != c.where {
			t.Errorf("%q asks %+v", c.text, asked)
		}
	}
	equal(t, "transcript", said(t, l), talk)
}

// What was said stays talk when the page sends it again: the person may be to move by
// then, and the program may have been started anew.
func TestTalkSentAgain(t *testing.T) {
	l := newLog(t)
	var asked []bot.Request
	d := answering(outbox.Post{}, &asked)
	for _, d.expects = range []outbox.User{black, white} {
		url, stop := run(t, newRoom(l), d)
		post(t, url, submission{ID: id(0), Seat: "white", Text: "E5"})
		stop()
	}
	if len(asked) > 0 {
		t.Errorf("the bot is asked %+v", asked)
	}
	equal(t, "transcript", said(t, l), []string{"White: E5"})
}

// An onlooker, who is everybody and nobody, opens no game and joins none.
func TestOnlookersOnlyWatch(t *testing.T) {
	l := newLog(t)
	var asked []bot.Request
	url := open(t, newRoom(l), answering(outbox.Post{}, &asked))
	for i, text := range []string{"/new 9x9", "/join"} {
		if a := post(t, url, submission{ID: id(i), Seat: "onlooker", Text: text}); a.Message == nil || a.Message.Text != wordOnlooker {
			t.Errorf("%s: %+v", text, a.Message)
		}
	}
	post(t, url, submission{ID: id(2), Seat: "onlooker", Text: "/rules"})
	if len(asked) != 1 || asked[0].Command != "rules" {
		t.Errorf("asked %+v", asked)
	}
	equal(t, "transcript", said(t, l), []string{"Onlooker: /rules"})
}

func TestHostileNames(t *testing.T) {
	l := newLog(t)
	url := open(t, newRoom(l), fakeService{})
	for i, name := range []string{
		strings.Repeat("x", 5000),
		strings.Repeat("\u202e\u0007abc\u2066", 1000),
		"<img src=x onerror=alert(1)>",
		"שלום\u202eevil",
		"a\nb\r\nc\x00d",
		strings.Repeat("e\u0301\u0301\u0301\u0301", 1000),
	} {
		post(t, url, submission{ID: id(i), Seat: "name:" + name, Text: "hello\u202e there\x07\x00"})
	}
	ms := shown(t, l)
	for _, m := range ms {
		if n := utf8.RuneCountInString(m.From); n > 45 || n == 0 {
			t.Errorf("a name of %d characters: %q", n, m.From)
		}
		if i := strings.IndexFunc(m.From, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) && r != '\u2068' && r != '\u2069'
		}); i >= 0 {
			t.Errorf("a mark is left in %q", m.From)
		}
		if strings.Count(m.From, "\u2068") != strings.Count(m.From, "\u2069") {
			t.Errorf("an isolate is left open in %q", m.From)
		}
		if m.Text != "hello there" {
			t.Errorf("text: %q", m.Text)
		}
	}
	if len(ms) != 6 {
		t.Errorf("%d messages", len(ms))
	}
}

// However often a stream breaks, a reader who comes back with the last number
// they saw gets everything once and in order, while others speak.
func TestResume(t *testing.T) {
	l := newLog(t)
	url := open(t, newRoom(l), fakeService{})
	const n = 200
	var wait sync.WaitGroup
	for who := range 4 {
		wait.Go(func() {
			for i := range n / 4 {
				post(t, url, submission{ID: id(1000*who + i), Seat: "black", Text: "m" + strconv.Itoa(1000*who+i)})
			}
		})
	}
	var seen []int64
	last := ""
	for len(seen) < n {
		s := follow(t, url, "seat=white", last)
		for range 1 + len(seen)%7 {
			e, ok := s.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			if e.name != "" {
				continue
			}
			seen, last = append(seen, e.message.N), e.id
			if len(seen) == n {
				break
			}
		}
		s.body.Close()
	}
	wait.Wait()
	for i, got := range seen {
		if got != int64(i)+1 {
			t.Fatalf("message %d came as number %d", got, i+1)
		}
	}
	if texts := follow(t, url, "after=198", "").until("ready"); len(texts) != 2 {
		t.Errorf("after=198: %q", texts)
	}
	// The header knows better than the address, which is from when the page was loaded.
	if texts := follow(t, url, "after=100", "199").until("ready"); len(texts) != 1 {
		t.Errorf("Last-Event-ID 199: %q", texts)
	}
	// Somebody who remembers another transcript begins anew.
	if texts := follow(t, url, "", "5000").until("ready"); len(texts) != 1+n || texts[0] != "(reset)" {
		t.Errorf("Last-Event-ID 5000: %d events, the first %q", len(texts), texts[0])
	}
	// A new page sees the last 200.
	post(t, url, submission{ID: id(9999), Text: "one more"})
	if texts := follow(t, url, "", "").until("ready"); len(texts) != history || texts[history-1] != "one more" {
		t.Errorf("a new page: %d messages", len(texts))
	}
}

// slowStore reads until the reader goes away.
type slowStore struct{ memory }

func (slowStore) Since(ctx context.Context, _ string, _ int64, _ int) ([]outbox.Message, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("read: %w", ctx.Err())
}

// A page that is closed while the transcript is read is nothing to log.
func TestClosedPageIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		r := New(Config{Listen: "127.0.0.1:0", Log: slowStore{newLog(t)}, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
		url := open(t, r, fakeService{})
		conn := dial(t, url, "GET /events HTTP/1.1")
		synctest.Wait()
		conn.Close()
		synctest.Wait()
		if logged.Len() > 0 {
			t.Errorf("logged %s", &logged)
		}
	})
}

func TestTooManyStreams(t *testing.T) {
	url := open(t, newRoom(newLog(t)), fakeService{})
	for range maxStreams {
		follow(t, url, "", "").until("ready")
	}
	if resp, _ := do(t, "GET", url+"/events", ""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %s", resp.Status)
	}
}

func TestPictures(t *testing.T) {
	url := open(t, newRoom(newLog(t)), fakeService{})
	for _, c := range []struct {
		path  string
		width int
	}{
		{"/picture/g1/2.png", 960},
		{"/picture/g1/2.png?theme=slate&size=small", 720},
		{"/picture/g1/2.png?size=large", 1440},
		{"/picture/g1/2.png?layout=portrait", 664},
	} {
		resp, body := do(t, "GET", url+c.path, "")
		img, err := png.DecodeConfig(strings.NewReader(body))
		if err != nil || img.Width != c.width {
			t.Errorf("%s: %s, %d wide, %v", c.path, resp.Status, img.Width, err)
		}
		again, _ := do(t, "GET", url+c.path, "", "If-None-Match", resp.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s again: %s", c.path, again.Status)
		}
		if !strings.Contains(resp.Header.Get("Cache-Control"), "no-cache") {
			t.Errorf("%s: %s", c.path, resp.Header.Get("Cache-Control"))
		}
	}
	resp, _ := do(t, "GET", url+"/picture/g1/2.png?v="+tag(scene(2)), "")
	if !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("with its tag: %s", resp.Header.Get("Cache-Control"))
	}
	for path, status := range map[string]int{
		"/picture/g1/2": 404, "/picture/g1/x.png": 404, "/picture/g2/1.png": 404, "/picture/g1/99.png": 404,
		"/picture/g1/2.png?theme=pink": 400, "/picture/g1/2.png?size=huge": 400, "/picture/g1/2.png?layout=round": 400,
		"/answer/web:1:answer/picture.png": 404, "/answer/web:1:answer/game-1.sgf": 404,
	} {
		if resp, _ := do(t, "GET", url+path, ""); resp.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, resp.Status, status)
		}
	}
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		text, replace string
		values        []string
	}{
		{"", "", nil},
		{"hello", "", nil},
		{"/pl", "/pl", []string{"/place "}},
		{"/PAS", "/PAS", []string{"/pass "}},
		{"/nothing", "/nothing", nil},
		{"/nothing ", "", nil},
		{"/new ", "", []string{"two-button", "button"}},
		{"/new tw", "tw", []string{"two-button"}},
		{"/new button", "button", nil},
		{"/new two-button ", "", []string{"9x9", "13x13", "19x19"}},
		{"/new two-button 1", "1", []string{"13x13", "19x19"}},
		{"/new size:1", "1", []string{"13x13", "19x19"}},
		{"/new size:9x9 ", "", []string{"two-button", "button"}},
		{"/new two-button 9x9 ", "", []string{"komi:", "handicap:", "placement:", "color:", "opponent:", "hints:", "clock:"}},
		{"/new two-button 9x9 ko", "ko", []string{"komi:"}},
		{"/new two-button 9x9 co", "co", []string{"color:"}},
		{"/new two-button 9x9 color:w", "w", []string{"white"}},
		{"/new opponent:", "", []string{"black", "white", "me"}},
		{"/place ", "", nil}, // too many
		{"/place game:2 ", "", nil},
		{"/place d", "d", []string{"D4", "D5"}},
		{"/place D4", "D4", nil},
		{"/place D4 ", "", []string{"game:"}},
		{"/place D4 E", "E", nil},
		{"/place D4 d", "d", []string{"D4", "D5"}},
		{"/why ", "", nil},
		{"/pass C3 c", "c", []string{"C3"}},
		{"/board share:", "", []string{"yes", "no"}},
	} {
		got := complete(t.Context(), fakeService{}, request(black), c.text)
		var values []string
		for _, v := range got.Choices {
			values = append(values, v.Value)
		}
		if got.Replace != c.replace && len(values) > 0 || !slices.Equal(values, c.values) {
			t.Errorf("%q: %q for %q, want %q for %q", c.text, values, got.Replace, c.values, c.replace)
		}
	}
	if got := complete(t.Context(), fakeService{}, request(black), "/place "); got.Hint == "" {
		t.Error("no hint on what /place wants")
	}
	url := open(t, newRoom(newLog(t)), fakeService{})
	if _, body := do(t, "GET", url+"/suggest?seat=black&text=%2Fpl", ""); body != `{"replace":"/pl","choices":[{"value":"/place ","hint":"Place a stone, or your handicap stones"}]}`+"\n" {
		t.Error(body)
	}
	if _, body := do(t, "GET", url+"/suggest?text=hello", ""); !bytes.Contains([]byte(body), []byte(`"choices":[]`)) {
		t.Error(body)
	}
}

func TestLanguageOfABrowser(t *testing.T) {
	for header, want := range map[string]string{
		"":                                    "",
		"de-AT,de;q=0.9,en;q=0.8":             "de",
		"en-GB,en;q=0.9,de;q=0.8":             "en",
		"ja":                                  "ja",
		"fr,de;q=0.5,ja;q=0.9":                "ja", // the best of those that the bot speaks
		"tlh":                                 "tlh",
		"*":                                   "",
		";;;":                                 "",
		strings.Repeat("de,", 100):            "",
		"zz-" + strings.Repeat("-", 50) + "x": "",
	} {
		r := &http.Request{Header: http.Header{"Accept-Language": {header}}}
		if got := browserLanguage(r); got != want && !(want == "" && got == "mul") {
			t.Errorf("%.40q is %q, want %q", header, got, want)
		}
	}
}

// Somebody who reads German is told in German what is wrong with a command, and the
// bot knows their language.
func TestBrowserSpeaks(t *testing.T) {
	var asked []bot.Request
	url := open(t, newRoom(newLog(t)), answering(outbox.Post{Text: "ja", Private: true}, &asked))
	for text, want := range map[string]string{"/pasx": "Meintest du /pass?", "/": "Nach dem Schrägstrich", "": "Darin steht nichts.",
		strings.Repeat("x", maxText+1): "höchstens 1000 Zeichen", "/board": "ja"} {
		if _, got := ask(t, url, typed(1, "black", text), "Accept-Language", "de-CH,en;q=0.1"); !strings.Contains(got, want) {
			t.Errorf("%.20q is answered %s", text, got)
		}
	}
	if len(asked) != 1 || asked[0].Lang != "de" {
		t.Errorf("the bot is asked %+v", asked)
	}
	if _, got := do(t, "GET", url+"/suggest?seat=black&text=/pas", "", "Accept-Language", "ja"); !strings.Contains(got, "パスする") {
		t.Errorf("suggested %s", got)
	}
}

// A refusal for want of rights says how somebody becomes a moderator here.
func TestHowToBecomeModerator(t *testing.T) {
	_, url, _ := openBot(t, openStore(t, newFile(t)))
	for lang, want := range map[string]string{"en": "at /owner, with its owner token.", "de": "unter /owner das Owner-Token", "ja": "/owner を開いて"} {
		if _, got := ask(t, url, typed(len(want), "black", "/settings size:13x13"), "Accept-Language", lang); !strings.Contains(got, want) {
			t.Errorf("in %s: %s", lang, got)
		}
	}
}

// What the page says is translated, all of it, and nothing else.
func TestPageWords(t *testing.T) {
	html, err := page.ReadFile("page/index.html")
	if err != nil {
		t.Fatal(err)
	}
	var js []byte
	for _, name := range assets {
		if strings.HasPrefix(name, "/room/") {
			data, err := page.ReadFile("page" + name)
			if err != nil {
				t.Fatal(err)
			}
			js = append(js, data...)
		}
	}
	said := map[string]bool{"dead": true, "alive": true} // by t(as)
	element := regexp.MustCompile(`<\w+([^>]*\bdata-t\b[^>]*)>([^<]*)`)
	label := regexp.MustCompile(`(?:aria-label|placeholder)="([^"]*)"`)
	for _, m := range element.FindAllStringSubmatch(string(html), -1) {
		labels := label.FindAllStringSubmatch(m[1], -1)
		for _, l := range labels {
			said[l[1]] = true
		}
		if len(labels) == 0 {
			said[m[2]] = true
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:t\(|say\(make\([^\n]*?\), )'([^'\n]*)'`).FindAllStringSubmatch(string(js), -1) {
		said[m[1]] = true
	}
	equal(t, "said", slices.Sorted(maps.Keys(said)), slices.Sorted(slices.Values(pageWords)))
	for _, l := range bot.Languages()[1:] {
		spoken := speak(l)
		for _, english := range pageWords {
			if got := spoken.Words[english]; got == "" || got == english && len(english) > 3 && !strings.Contains(english, "{0}") {
				t.Errorf("%s: %q is not translated", l, english)
			}
		}
	}
	// Nothing in the page stands there without being marked as translated.
	for _, m := range regexp.MustCompile(`<(\w+)([^>]*)>([^<]*\pL[^<]*)<`).FindAllStringSubmatch(string(html), -1) {
		if !strings.Contains(m[2], "data-t") && !slices.Contains([]string{"title", "code", "img", "p"}, m[1]) && !strings.Contains(m[2], "example") {
			t.Errorf("not translated: %q", m[0])
		}
	}
}

// The room and its page speak the language that somebody has chosen, or else that of
// their browser.
func TestRoomSpeaks(t *testing.T) {
	_, url, _ := openBot(t, openStore(t, newFile(t)))
	ready := func(seat string) string {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), "GET", url+"/events?seat="+seat, nil)
		req.Header.Set("Accept-Language", "de")
		req.Header.Set("Origin", url)
		resp, err := clientFor(url).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		in := bufio.NewScanner(resp.Body)
		for in.Scan() && in.Text() != "event: ready" {
		}
		in.Scan()
		return in.Text()
	}
	if got := ready("white"); !strings.Contains(got, `"lang":"de"`) || !strings.Contains(got, `"Send":"Senden"`) {
		t.Errorf("the page is told %.200s", got)
	}
	for i, c := range []struct{ seat, typed, lang, want string }{
		{"black", "", "de", "Darin steht nichts."},
		{"black", "/settings whose:mine language:ja", "ja", "日本語"},
		{"black", "", "ja", "何も書かれていません"},
		{"black", "/pasx", "ja", "/pass"},
		{"onlooker", "/new", "de", "Als Zuschauer"},
		{"black", "/settings whose:mine language:en", "en", "English"},
		{"black", "", "en", "There is nothing in that."},
	} {
		if _, got := ask(t, url, typed(i, c.seat, c.typed), "Accept-Language", "de"); !strings.Contains(got, c.want) || strings.HasPrefix(c.typed, "/settings") && !strings.Contains(got, `"lang":"`+c.lang+`"`) {
			t.Errorf("%s is told %s, want %q in %s", c.seat, got, c.want, c.lang)
		}
	}
	if got := ready("black"); !strings.Contains(got, `"lang":"en"`) {
		t.Errorf("the page is told %.200s", got)
	}
}

// The owner's page is translated, all of it.
func TestOwnerWords(t *testing.T) {
	html, err := page.ReadFile("page/owner.html")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range regexp.MustCompile(`\{\{t \.Lang "([^"]*)"`).FindAllStringSubmatch(string(html), -1) {
		said = append(said, m[1])
	}
	equal(t, "said", said, ownerWords)
	for _, l := range bot.Languages()[1:] {
		for _, english := range append(ownerWords, wordLeft, wordReleased, wordNotReleased, wordNotOwner) {
			if got := bot.Translated(l, english); got == english && english != "Owner token" {
				t.Errorf("%s: %q is not translated", l, english)
			}
		}
	}
	url := open(t, newRoom(newLog(t)), fakeService{})
	if _, got := do(t, "GET", url+"/owner", "", "Accept-Language", "de"); !strings.Contains(got, `<html lang="de" dir="ltr">`) || !strings.Contains(got, "Zurück zum Raum") || !strings.Contains(got, "als HALFPOINT_OWNER_TOKEN in") {
		t.Errorf("the page in German: %s", got)
	}
}
