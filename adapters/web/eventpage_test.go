package web

import (
	"bufio"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// leaguePlayers have names that a page has to be careful with.
var leaguePlayers = []string{`<b>Ada</b>`, "אבג דהו", "=1+1", "Dora"}

// A league is an event of the room in which everything has happened that its page shows: games
// that are on, one that is over, a result by hand, and somebody who has left.
type league struct {
	*bot.Bot
	st   *store.Store
	path string
	n    int
}

func newLeague(t *testing.T, pages match.Pages) *league {
	t.Helper()
	st := openStore(t, store.Memory)
	l := &league{Bot: bot.New(st, bot.Config{Pages: map[string]match.Pages{platform: pages}}), st: st}
	l.ask(t, black, "/event new title:Spring size:5 group:4 ranks:yes")
	l.ask(t, black, "/event publish")
	for i, name := range leaguePlayers {
		l.ask(t, named(name), "/event join rank:"+strconv.Itoa(i+1)+"k")
	}
	heads, err := st.Contests(t.Context(), request(black).Where, nil, 1)
	if err != nil || len(heads) != 1 {
		t.Fatal(heads, err)
	}
	l.path = "/e/" + heads[0].Page
	return l
}

func named(name string) outbox.User {
	who, _ := userOf("name:" + name)
	return who
}

// ask carries out a command of a moderator.
func (l *league) ask(t *testing.T, who outbox.User, text string) {
	t.Helper()
	l.n++
	req := request(who)
	req.ID, req.Moderator, req.Shows = id(l.n), true, true
	var err error
	if req.Command, req.Args, err = bot.Parse(text); err != nil {
		t.Fatal(err)
	}
	req.Users = users(req.Command, req.Args)
	if a, err := l.Ask(t.Context(), req); err != nil || a.Own().Refused {
		t.Fatalf("%s: %+v, %v", text, a.Own(), err)
	}
}

// play begins the league.
func (l *league) play(t *testing.T) {
	t.Helper()
	l.ask(t, black, "/event start confirm:yes")
	if _, err := l.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.ask(t, black, "/event result table:1 as:black confirm:yes")
	l.ask(t, black, "/event result table:1 as:draw confirm:yes")
	l.ask(t, named("Dora"), "/event leave confirm:yes")
}

// The page of an event is read by anybody who has its address; all its numbers open what they
// are made of, and its boards are those of the games.
func TestEventPage(t *testing.T) {
	l := newLeague(t, match.LinkPages)
	url := open(t, newRoom(l.st), l)
	_, missing := do(t, "GET", url+"/g/nope", "")
	_, signUp := do(t, "GET", url+l.path, "")
	for _, want := range []string{"sign-up is open", "Who has joined", "Player 4", "3k"} {
		if !strings.Contains(signUp, want) {
			t.Errorf("while people join the page does not say %q:\n%s", want, signUp)
		}
	}
	l.play(t)
	for path, want := range map[string]int{l.path: 200, l.path + ".csv": 200, l.path + ".games.csv": 200, l.path + ".json": 200, "/e/": 404, "/e/abc": 404,
		l.path + ".sgf": 404, l.path + ".": 200, l.path + "/": 404, l.path + "/1": 404, "/e/abc.csv": 404, "/g/" + l.path[3:]: 404, "/e/%3Cb%3E": 404} {
		resp, body := do(t, "GET", url+path, "")
		if resp.StatusCode != want || resp.Header.Get("X-Robots-Tag") != "noindex" || len(resp.Cookies()) > 0 {
			t.Errorf("%s: %s %v", path, resp.Status, resp.Header)
		}
		if want == 404 && body != missing {
			t.Errorf("%s tells more than a page that never was:\n%s", path, body)
		}
		if file := strings.Contains(path, l.path+".") && path != l.path+"."; file && want == 200 != strings.HasPrefix(resp.Header.Get("Content-Disposition"), "attachment; filename=event-1") {
			t.Errorf("%s: %v", path, resp.Header)
		}
		for _, name := range []string{"Ada", "דהו", "1+1", "Dora"} {
			if strings.Contains(body, name) {
				t.Errorf("%s names %s", path, name)
			}
		}
	}
	resp, body := do(t, "GET", url+l.path, "")
	if resp.Header.Get("Cache-Control") != "no-store" || strings.Contains(body, " style=") || strings.Count(body, "<script") != 1 || meta(body)["og:title"] != "Spring" || meta(body)["og:url"] != url+l.path {
		t.Errorf("%v\n%s", resp.Header, body)
	}
	for _, want := range []string{"games are on", "All games end by", "Player 4", "withdrawn", "an organiser decides", "Before: Black wins", "½", "Games that are over: 3", "has had the move for"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q:\n%s", want, body)
		}
	}
	opens := regexp.MustCompile(`popovertarget="([^"]+)"`).FindAllStringSubmatch(body, -1)
	for _, m := range opens {
		if strings.Count(body, `<div id="`+m[1]+`" popover>`) != 1 {
			t.Errorf("%s opens nothing", m[1])
		}
	}
	if len(opens) != 3*4 {
		t.Errorf("%d numbers open, want 12", len(opens))
	}
	boards := regexp.MustCompile(`<img src="([^"]+)" alt="" width="160" height="160" loading="lazy">`).FindAllStringSubmatch(body, -1)
	if len(boards) != 6 {
		t.Fatalf("%d boards", len(boards))
	}
	resp, svg := do(t, "GET", url+boards[0][1], "", "Cookie", lookCookie+"=theme=slate")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(svg, "<svg ") || !strings.Contains(svg, `class="board board-slate"`) ||
		resp.Header.Get("Cache-Control") != "private, no-cache" || !strings.HasPrefix(resp.Header.Get("Content-Security-Policy"), "default-src 'none';") {
		t.Errorf("a board: %s %v\n%.300s", resp.Status, resp.Header, svg)
	}
	if resp, _ := do(t, "GET", url+boards[0][1], "", "Cookie", lookCookie+"=theme=slate", "If-None-Match", resp.Header.Get("ETag")); resp.StatusCode != http.StatusNotModified {
		t.Errorf("the same board again: %s", resp.Status)
	}
	if resp, picture := do(t, "GET", meta(body)["og:image"], ""); meta(body)["og:image"] != url+l.path+".png" || resp.Header.Get("Content-Type") != "image/png" || resp.Header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("the picture of the preview: %s %v %.20q, %v", resp.Status, resp.Header, picture, meta(body))
	}
	if alt := meta(body)["og:image:alt"]; !strings.Contains(alt, "Spring") {
		t.Errorf("the picture is %q", alt)
	}
	var export struct{ Version int }
	if _, body := do(t, "GET", url+l.path+".json", ""); json.Unmarshal([]byte(body), &export) != nil || export.Version != 1 {
		t.Errorf("the export: %s", body)
	}
	for lang, want := range map[string]string{"de": "Laufende Partien", "ja": "対局中"} {
		if _, body := do(t, "GET", url+l.path, "", "Accept-Language", lang); !strings.Contains(body, want) || !strings.Contains(body, `<html lang="`+lang) {
			t.Errorf("in %s there is no %q", lang, want)
		}
	}
	if resp, _ := do(t, "POST", url+l.path, ""); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
	seal(t, l.st)
	if _, body := do(t, "GET", url+l.path, ""); body != missing {
		t.Errorf("the room has no pages any more: %s", body)
	}
}

// Where pages are public, names are shown as they are, and nothing in them is markup or a
// formula.
func TestPublicEventPage(t *testing.T) {
	l := newLeague(t, match.PublicPages)
	url := open(t, newRoom(l.st), l)
	l.play(t)
	resp, body := do(t, "GET", url+l.path, "")
	if resp.Header.Get("X-Robots-Tag") != "" || strings.Contains(body, "<b>") {
		t.Errorf("%v\n%s", resp.Header, body)
	}
	for _, want := range []string{"<bdi>&lt;b&gt;Ada&lt;/b&gt;</bdi>", "דהו", "<bdi>=1&#43;1</bdi>", "Dora"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not name %s:\n%s", want, body)
		}
	}
	if _, sheet := do(t, "GET", url+l.path+".csv", ""); !strings.Contains(sheet, `"'=1+1"`) || !strings.Contains(sheet, `"<b>Ada</b>"`) {
		t.Errorf("the players: %s", sheet)
	}
}

// The page of an event hears of each turn in its games, beside those of games.
func TestEventPageFollows(t *testing.T) {
	l := newLeague(t, match.LinkPages)
	l.play(t)
	url := open(t, newRoom(l.st), l)
	resp, err := clientFor(url).Get(url + "/g/follow?game=" + strings.TrimPrefix(l.path, "/") + "&game=nope")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	hears := func() int {
		t.Helper()
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "data: "+l.path[1:]+" "); ok {
				seq, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				return seq
			}
		}
		t.Fatal("the stream ended", lines.Err())
		return 0
	}
	before := hears()
	m, who := l.waiting(t)
	l.ask(t, who, "/place C3 game:"+strconv.Itoa(m.Number))
	if after := hears(); after <= before {
		t.Errorf("after a turn the page hears %d, before %d", after, before)
	}
}

// eventTab opens the page of a league that is played in Chromium.
func eventTab(t *testing.T) (*league, *tab) {
	tier.Change(t)
	l := newLeague(t, match.LinkPages)
	l.play(t)
	url, _ := openTCP(t, newRoom(l.st), l)
	p := blankTab(t, chromium(t))
	p.do(chromedp.Navigate(url + l.path))
	return l, p
}

// showsBoard asks whether the page of an event shows a game, by its slug, after an event.
const showsBoard = `[...document.querySelectorAll('.games img')].some((i) => i.src.endsWith('/g/%s/%d/board.svg'))`

// The page of an event follows its games, and keeps open what its reader has opened.
func TestEventPageInChromium(t *testing.T) {
	l, p := eventTab(t)
	p.do(chromedp.Click(chromedp.CSS("[popovertarget=s1-1-1]")))
	p.wait(`document.querySelector('#s1-1-1').matches(':popover-open') && [...document.querySelectorAll('.games:not(details) img')].every((i) => i.complete && i.naturalWidth > 0)`)
	m, who := l.waiting(t)
	p.wait(showsBoard, m.Page, m.Seq)
	l.ask(t, who, "/place C3 game:"+strconv.Itoa(m.Number))
	p.wait(showsBoard, m.Page, m.Seq+1)
	if !get[bool](p, `document.querySelector('#s1-1-1').matches(':popover-open')`) {
		t.Error("what the reader had opened is closed")
	}
}

// The page of an event asks for itself once at a time, every ten seconds at most, and not while
// nobody can see it. It reads the clock of the test.
func TestEventPageAsksSeldomInChromium(t *testing.T) {
	l, p := eventTab(t)
	get[bool](p, `(() => {
		const ask = window.fetch, set = window.setTimeout, clear = window.clearTimeout;
		window.held = null, window.looked = 0, window.away = false;
		window.fetch = async (...what) => { await new Promise((done) => { window.answer = done; }); return ask(...what); };
		window.setTimeout = (run, ms, ...others) => run.name === "update" ? (window.held = { run, ms }, -1) : set(run, ms, ...others);
		window.clearTimeout = (timer) => timer === -1 ? (window.looked++, window.held = null) : clear(timer);
		performance.now = () => 1e6;
		Object.defineProperty(document, "hidden", { get: () => window.away });
		window.seen = (yes) => { window.away = !yes; document.dispatchEvent(new Event("visibilitychange")); return window.held?.ms ?? -1; };
		window.go = () => { const { run } = window.held; window.held = null, window.looked = 0; run(); return true; };
		return true;
	})()`)
	turn := func(at string) match.Match {
		t.Helper()
		m, who := l.waiting(t)
		l.ask(t, who, "/place "+at+" game:"+strconv.Itoa(m.Number))
		return m
	}
	waits := func(want int) {
		t.Helper()
		p.wait("window.held")
		if ms := get[int](p, "window.held.ms"); ms != want {
			t.Errorf("it waits %d ms, want %d", ms, want)
		}
		if unseen, seen := get[int](p, "window.seen(false)"), get[int](p, "window.seen(true)"); unseen != -1 || seen != want {
			t.Errorf("it waits %d ms while nobody sees it, then %d; -1: it does not ask", unseen, seen)
		}
		get[bool](p, "window.go()")
	}
	turn("C3")
	p.wait("window.held")
	get[bool](p, "window.go()")
	m := turn("B2")
	p.wait("window.looked")
	if get[bool](p, "window.held !== null") {
		t.Error("it asks again while it is being answered")
	}
	get[bool](p, "(window.answer(), true)")
	p.wait(showsBoard, m.Page, m.Seq+1)
	get[bool](p, "(window.fetch = () => Promise.reject(), true)")
	for _, ms := range []int{10_000, 1000, 2000} { // there was another turn, then the network is away
		waits(ms)
	}
}

// waiting returns a game in which somebody is to move, and who.
func (l *league) waiting(t *testing.T) (match.Match, outbox.User) {
	t.Helper()
	ms, err := l.st.Matches(t.Context(), bot.Query{States: []match.State{match.Going}})
	if err != nil || len(ms) == 0 {
		t.Fatal(ms, err)
	}
	m := ms[slices.IndexFunc(ms, func(m match.Match) bool { return m.ToMove != "" })]
	who, err := l.st.People(t.Context(), []match.PersonID{m.ToMove})
	if err != nil {
		t.Fatal(err)
	}
	return m, who[m.ToMove]
}
