package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A chat is an adapter of another platform, with one room.
type chat struct {
	service bot.Service
	begun   chan bool
	shown   chan outbox.Post // what it was given to show
	asked   int
	gone    atomic.Pointer[string] // the id of somebody who may not write in the room
}

func newChat() *chat { return &chat{begun: make(chan bool), shown: make(chan outbox.Post, 100)} }

func (c *chat) Name() string { return "chat" }

func (c *chat) Run(ctx context.Context, service bot.Service) error {
	c.service = service
	close(c.begun)
	<-ctx.Done()
	return nil
}

func (c *chat) Deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if p.Kind != outbox.Header {
		c.shown <- p
	}
	return outbox.Receipt(p.ID), nil, nil
}

func (c *chat) Member(_ context.Context, who outbox.User, where match.Room) (bool, error) {
	gone := c.gone.Load()
	return where == chatRoom && (gone == nil || *gone != who.ID), nil
}

var chatRoom = match.Room{Platform: "chat", Channel: "club"}

// says has somebody ask for something there.
func (c *chat) says(t *testing.T, who, text string) {
	t.Helper()
	command, args, err := bot.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c.asks(t, who, command, args)
}

func (c *chat) asks(t *testing.T, who, command string, args map[string]string) {
	t.Helper()
	<-c.begun
	c.asked++
	user := outbox.User{Platform: "chat", ID: strings.ToLower(who), Name: who}
	if _, err := c.service.Ask(t.Context(), bot.Request{ID: fmt.Sprint("chat:", c.asked), Who: user, Where: chatRoom, Command: command, Args: args}); err != nil {
		t.Fatal(err)
	}
}

// reads returns the next post there that begins with a text.
func (c *chat) reads(t *testing.T, text string) outbox.Post {
	t.Helper()
	for p := range c.shown {
		if p.Text = bot.Fill(p.Text, bot.Format{}); strings.HasPrefix(p.Text, text) {
			return p
		}
	}
	return outbox.Post{}
}

var secretIn = regexp.MustCompile(`/link#([a-z2-7]{32})`)

// link returns the secret of an address that somebody has asked for there.
func (c *chat) link(t *testing.T, who string) string {
	t.Helper()
	c.says(t, who, "/link")
	return secretIn.FindStringSubmatch(c.reads(t, "Open this address").Text)[1]
}

// A linkWorld is a room beside another platform, on which Ben and Eve play game 1.
type linkWorld struct {
	*testing.T
	*chat
	st   *store.Store
	url  string
	game string // the path of its page
	ids  int
}

func newLinkWorld(t *testing.T, prepare ...func(*Room)) *linkWorld {
	t.Helper()
	st, other := openStore(t, newFile(t)), newChat()
	r := newRoom(st)
	for _, f := range prepare {
		f(r)
	}
	b := bot.New(st, bot.Config{Pages: map[string]match.Pages{platform: match.LinkPages, "chat": match.LinkPages}, PublicURL: "https://go.example.org"})
	url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r, other) })
	other.says(t, "Ben", "/new aga 5x5 color:black")
	other.says(t, "Eve", "/join")
	return &linkWorld{T: t, chat: other, st: st, url: url, game: pathOf(t, st)}
}

// sends sends something to the page of links.
func (w *linkWorld) sends(body linking, headers ...string) (*http.Response, string) {
	w.Helper()
	data, _ := json.Marshal(body)
	return do(w.T, "POST", w.url+"/link", string(data), append([]string{"Content-Type", "application/json"}, headers...)...)
}

// becomes makes a browser somebody of the other platform, and returns its header with cookies.
func (w *linkWorld) becomes(who string) string {
	w.Helper()
	resp, body := w.sends(linking{Secret: w.link(w.T, who)})
	if resp.StatusCode != 200 || len(resp.Cookies()) != 1 {
		w.Fatalf("%s: %s, %v", who, resp.Status, body)
	}
	return linkedCookie + "=" + resp.Cookies()[0].Value
}

// does submits a command from the page of the game, and returns what its reader is told.
func (w *linkWorld) does(cookie, command string, args map[string]string) string {
	w.Helper()
	w.ids++
	data, _ := json.Marshal(submission{ID: id(w.ids), Seat: linkedSeat, Page: strings.TrimPrefix(w.game, "/g/"), Command: command, Args: args})
	resp, body := ask(w.T, w.url, string(data), "Cookie", cookie)
	var a answer
	if err := json.Unmarshal([]byte(body), &a); err != nil || resp.StatusCode != 200 {
		w.Fatalf("%s: %s %s", command, resp.Status, body)
	}
	if a.Message == nil {
		return ""
	}
	return a.Message.Text
}

// seq returns how many events the game has.
func (w *linkWorld) seq() int {
	w.Helper()
	m, err := w.st.Page(w.Context(), strings.TrimPrefix(w.game, "/g/"))
	if err != nil {
		w.Fatal(err)
	}
	return m.Seq
}

func at(point string) map[string]string { return map[string]string{"at": point} }

// Somebody of another platform opens the address that they got there, and plays on the page
// of their game. Others there see the turns as usual.
func TestPlayByLink(t *testing.T) {
	w := newLinkWorld(t)
	ben := w.becomes("Ben")
	told := w.reads(t, "Browser is now you") // of a browser that does not say what it is
	if !told.Private || len(told.Notify) != 1 || told.Notify[0].ID != "ben" || len(told.Controls) != 1 {
		t.Errorf("Ben is told %+v", told)
	}
	page := func(cookie, path string) string {
		t.Helper()
		_, body := do(t, "GET", w.url+path, "", "Cookie", cookie)
		return body
	}
	if got := page(ben, w.game); !strings.Contains(got, `data-seat="linked"`) || !strings.Contains(got, `data-stone="b"`) || !strings.Contains(got, "<bdi>Ben</bdi>") || !strings.Contains(got, `data-command="resign"`) {
		t.Errorf("Ben's page:\n%s", got)
	}
	if got := page(ben, "/link"); !strings.Contains(got, "In this browser you are Ben.") || !strings.Contains(got, `<a href="`+w.game+`">`) || !strings.Contains(got, `<a href="/">To the room</a>`) {
		t.Errorf("the page of links:\n%s", got)
	}
	eve, joe := w.becomes("Eve"), w.becomes("Joe")
	for who, cookie := range map[string]string{"Joe": joe, "nobody": "", "a planted cookie": linkedCookie + "=planted", "an address": linkedCookie + "=" + w.link(t, "Ben")} {
		if got := page(cookie, w.game); strings.Contains(got, `id="play"`) {
			t.Errorf("%s may play", who)
		}
	}
	if told := w.does(ben, "place", at("C3")); told != "" {
		t.Errorf("Ben is told %q", told)
	}
	if p := w.reads(t, "1. Black C3"); p.Where != chatRoom || p.Kind != match.Show || p.Private {
		t.Errorf("others read %+v", p)
	}
	for _, c := range []struct {
		cookie, command string
		args            map[string]string
		want            string
	}{
		{ben, "place", at("D3"), "It is not your turn"},
		{eve, "place", at("C3"), "There is already a stone on C3"},
		{joe, "place", at("D3"), "You are watching"},
		{"", "place", at("D3"), "This browser is signed out"},
		{linkedCookie + "=planted", "place", at("D3"), "This browser is signed out"},
		{eve, "settings", map[string]string{"size": "13x13"}, "That cannot be done on the page"},
		{eve, "privacy", map[string]string{"what": "delete", "confirm": "yes"}, "That cannot be done on the page"},
		{eve, "adjudicate", map[string]string{"as": "void"}, "Only moderators"},
		{eve, "place", map[string]string{"at": "D3", "game": "7"}, ""}, // the page says which game it is
	} {
		if got := w.does(c.cookie, c.command, c.args); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %v: told %q, want %q", c.command, c.args, got, c.want)
		}
	}
	w.reads(t, "2. White D3")

	// Who was removed from the room can do nothing, from the next turn on.
	gone, before := "ben", w.seq()
	w.gone.Store(&gone)
	if got := w.does(ben, "place", at("A1")); !strings.HasPrefix(got, "You can no longer write in the room") || w.seq() != before {
		t.Errorf("Ben, who has gone, is told %q", got)
	}
	w.gone.Store(nil)

	// A turn that a page sends again is made once.
	for range 2 {
		if got := w.does(ben, "place", at("A1")); got != "" || w.seq() != before+1 {
			t.Errorf("told %q, the game has %d events", got, w.seq())
		}
		w.ids--
	}
	w.ids++

	// The button of the message ends it, and so does the page.
	w.asks(t, "Ben", told.Controls[0].Command, told.Controls[0].Args)
	w.reads(t, "Browser is signed out.")
	if got := w.does(ben, "resign", map[string]string{"confirm": "yes"}); !strings.HasPrefix(got, "This browser is signed out") {
		t.Errorf("after the end Ben is told %q", got)
	}
	for back, want := range map[string]string{w.game: w.game, "//evil.example/g/a": "/link", "https://evil.example": "/link", "": "/link"} {
		resp := signOut(t, w.url, eve, back)
		if c := resp.Cookies(); resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != want || len(c) != 1 || c[0].MaxAge >= 0 {
			t.Errorf("back to %q: %s to %q, %v", back, resp.Status, resp.Header.Get("Location"), c)
		}
	}
	if got := w.does(eve, "place", at("A5")); !strings.HasPrefix(got, "This browser is signed out") { // though somebody kept a copy of the cookie
		t.Errorf("signed out, Eve is told %q", got)
	}
}

// signOut presses the button of a page, without following where it leads.
func signOut(t *testing.T, url, cookie, back string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/link/out", strings.NewReader("back="+back))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", originOf(url))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Cookie", cookie)
	resp, err := clientFor(url).Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// An address works once, and only when its button is pressed on the room's own page. The answer
// does not tell why an address is no good. The new cookie contains nothing that the browser sent.
func TestLinksAreUsedOnce(t *testing.T) {
	w := newLinkWorld(t)
	secret := w.link(t, "Ben")
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}, {"Content-Type", "text/plain"}} {
		if resp, body := w.sends(linking{Secret: secret}, headers...); resp.StatusCode < 400 || len(resp.Cookies()) > 0 {
			t.Errorf("%v: %s %s", headers, resp.Status, body)
		}
	}
	if resp, _ := do(t, "POST", w.url+"/link/out", "", "Sec-Fetch-Site", "cross-site"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another page signs out: %s", resp.Status)
	}
	for range 2 { // to look changes nothing
		resp, body := w.sends(linking{Secret: secret, Look: true})
		if resp.StatusCode != 200 || body != `{"go":"Continue as Ben"}`+"\n" || len(resp.Cookies()) > 0 {
			t.Errorf("%s %s %v", resp.Status, body, resp.Cookies())
		}
	}
	planted := linkedCookie + "=planted; " + browserCookie + "=mine"
	resp, body := w.sends(linking{Secret: secret}, "Cookie", planted, "User-Agent", "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0", "X-Forwarded-Proto", "")
	cookies := resp.Cookies()
	if resp.StatusCode != 200 || body != `{"to":"/link"}`+"\n" || len(cookies) != 1 {
		t.Fatalf("%s %s %v", resp.Status, body, cookies)
	}
	if c := cookies[0]; c.Name != linkedCookie || len(c.Value) < 26 || strings.Contains(planted, c.Value) || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
		t.Errorf("the cookie is %v", c)
	}
	w.reads(t, "Firefox (Windows) is now you")
	var answers []string
	for _, s := range []string{secret, strings.Repeat("a", 32), cookies[0].Value, "planted", "", "#" + secret, strings.Repeat("x", 10_000)} {
		for _, look := range []bool{true, false} {
			resp, body := w.sends(linking{Secret: s, Look: look})
			if resp.StatusCode != http.StatusNotFound || len(resp.Cookies()) > 0 {
				t.Errorf("%q: %s, %v", s, resp.Status, resp.Cookies())
			}
			answers = append(answers, body)
		}
	}
	for _, a := range answers {
		if a != answers[0] || !strings.HasPrefix(a, "This link was used or is too old") {
			t.Errorf("answers differ: %q", answers)
			break
		}
	}

	// Another person in the same browser: the link before ends, and nothing is carried over.
	eves := w.link(t, "Eve")
	resp, _ = w.sends(linking{Secret: eves}, "Cookie", linkedCookie+"="+cookies[0].Value)
	if l, err := w.st.Link(t.Context(), bot.HashSecret(cookies[0].Value)); err == nil {
		t.Errorf("the browser is still %+v", l)
	}
	if l, err := w.st.Link(t.Context(), bot.HashSecret(resp.Cookies()[0].Value)); err != nil || l.Who.Name != "Eve" {
		t.Errorf("the browser is %+v, %v", l, err)
	}
}

// However many browsers somebody is, they can send no more than one person.
func TestLinkedPeopleAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a slow machine would stay below the limit
		w := newLinkWorld(t, func(r *Room) { r.limits = newLimits(0, 0) })
		browsers := []string{w.becomes("Joe"), w.becomes("Joe"), w.becomes("Joe")}
		for i := range 60 {
			if got := w.does(browsers[i%len(browsers)], "place", at("C3")); strings.HasPrefix(got, "You are sending too fast") {
				if i < 30 {
					t.Errorf("after %d requests: %q", i, got)
				}
				return
			}
		}
		t.Error("three browsers send 60 requests at once")
	})
}

func TestBrowserName(t *testing.T) {
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                        "Firefox (Windows)",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":           "Edge (Windows)",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":                         "Chrome (Android)",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1": "Safari (iPhone)",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15":                   "Safari (macOS)",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36":                          "Chrome (ChromeOS)",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 OPR/124.0.0.0":                     "Opera (Linux)",
		"Firefox": "Firefox", "": "Browser", "<script>": "Browser",
	} {
		if got := browserName(agent); got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
}

// A name of the room may belong to several browsers: to the one that took it, and to those that
// opened an address that it got there.
func TestNameOfSeveralBrowsers(t *testing.T) {
	w := newLinkWorld(t)
	submit := func(seat, text, cookie string) message {
		t.Helper()
		w.ids++
		resp, body := ask(t, w.url, typed(w.ids, seat, text), "Cookie", cookie)
		var a answer
		if err := json.Unmarshal([]byte(body), &a); err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %s %s", text, resp.Status, body)
		}
		if a.Message == nil {
			return message{}
		}
		return *a.Message
	}
	first, other := browserCookie+"=first", browserCookie+"=other"
	submit("name:Ada", "/new two-button 5x5", first)
	if got := submit("name:Ada", "/board", other); !strings.HasPrefix(got.Text, "That name belongs to another browser") {
		t.Errorf("before the link: %q", got.Text)
	}
	if got := submit("black", "/link", first); !strings.HasPrefix(got.Text, "Seats change hands") {
		t.Errorf("a seat: %q", got.Text)
	}
	asked := submit("name:Ada", "/link", first)
	resp, body := w.sends(linking{Secret: secretIn.FindStringSubmatch(asked.Text)[1]}, "Cookie", other)
	if resp.StatusCode != 200 || body != `{"name":"Ada","to":"/"}`+"\n" {
		t.Fatalf("%s %s", resp.Status, body)
	}
	linked := other + "; " + linkedCookie + "=" + resp.Cookies()[0].Value
	if got := submit("name:Ada", "/games mine", linked); !strings.Contains(got.Text, "Game 1") {
		t.Errorf("Ada elsewhere: %q", got.Text)
	}
	if got := submit("name:Ada", "/games mine", first); !strings.Contains(got.Text, "Game 1") {
		t.Errorf("Ada at first: %q", got.Text)
	}
	for _, c := range [][2]string{{"name:Bob", linked}, {"name:Ada", other}} {
		got := submit(c[0], "/games mine", c[1])
		if c[0] == "name:Ada" && !strings.HasPrefix(got.Text, "That name belongs") || strings.Contains(got.Text, "Ada") {
			t.Errorf("%s: %q", c[0], got.Text)
		}
	}
	if _, page := do(t, "GET", w.url+w.game, "", "Cookie", linked); strings.Contains(page, `id="play"`) {
		t.Error("a name of the room plays on another platform")
	}

	// Once it is signed out, its open page hears nothing more that is for her alone.
	cookies := []*http.Cookie{{Name: browserCookie, Value: "other"}, resp.Cookies()[0]}
	stream := follow(t, w.url, "seat=name:Ada", "", cookies...)
	read(stream)
	signOut(t, w.url, linked, "")
	if resp, body := w.sends(linking{Secret: secretIn.FindStringSubmatch(submit("name:Ada", "/link", first).Text)[1]}); resp.StatusCode != 200 {
		t.Fatalf("%s %s", resp.Status, body)
	}
	for e, ok := stream.next(); ok; e, ok = stream.next() {
		if strings.Contains(e.message.Text, "is now you") {
			t.Errorf("the browser that was signed out reads %q", e.message.Text)
			break
		}
	}

	// Forgetting her in one of her browsers forgets what this one brought, too.
	resp, _ = w.sends(linking{Secret: secretIn.FindStringSubmatch(submit("name:Ada", "/link", first).Text)[1]})
	for _, browser := range []string{"first", "other", "third"} {
		if err := w.st.AddRecord(t.Context(), bot.Record{Slug: browser, Browser: bot.HashSecret(browser), Text: ".X.", Visited: time.Now()}, 1); err != nil {
			t.Fatal(err)
		}
	}
	submit("name:Ada", "/privacy delete yes", other+"; "+linkedCookie+"="+resp.Cookies()[0].Value)
	for browser, want := range map[string]bool{"first": false, "other": false, "third": true} {
		if _, err := w.st.Record(t.Context(), browser); (err == nil) != want {
			t.Errorf("the record of browser %s: %v", browser, err)
		}
	}
}
