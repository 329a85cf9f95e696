package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// private returns a service whose answers are all private.
func private(asked *[]bot.Request) fakeService {
	return answering(outbox.Post{Text: "done", Private: true}, asked)
}

func browserNamed(name string) *http.Cookie { return &http.Cookie{Name: browserCookie, Value: name} }

// told returns what a browser is told when it says something as somebody.
func told(t *testing.T, url string, n int, seat, text, browser string) string {
	t.Helper()
	a := post(t, url, submission{ID: id(n), Seat: seat, Text: text}, browserNamed(browser))
	if a.Message == nil {
		return ""
	}
	return a.Message.Text
}

// tell delivers a private post.
func tell(t *testing.T, r *Room, id string, who outbox.User, text string) {
	t.Helper()
	deliver(t, r, outbox.Post{ID: id, Text: text, Private: true, Notify: []outbox.User{who},
		File: &outbox.File{Name: "secret.sgf", Type: "application/x-go-sgf", Data: []byte(text)}})
}

// sees returns the private texts that a browser reads as somebody, and tries
// their files with another browser.
func sees(t *testing.T, url, seat, browser string) (texts []string) {
	t.Helper()
	stream := follow(t, url, "seat="+seat, "", browserNamed(browser))
	defer stream.body.Close()
	for _, m := range read(stream) {
		if !m.Private {
			continue
		}
		texts = append(texts, m.Text)
		if _, body := do(t, "GET", url+m.File.URL, "", "Cookie", browserNamed(browser).String()); body != m.Text {
			t.Errorf("%s gets the file of %q as %q", browser, m.Text, body)
		}
		for _, other := range []string{"", browserNamed("stranger").String()} {
			if resp, _ := do(t, "GET", url+m.File.URL, "", "Cookie", other); resp.StatusCode != http.StatusNotFound {
				t.Errorf("a stranger gets the file of %q: %s", m.Text, resp.Status)
			}
		}
	}
	return texts
}

// release asks a room to release the name Bob, and returns the status.
func release(t *testing.T, url string, headers ...string) int {
	t.Helper()
	resp, _ := do(t, "POST", url+"/owner", "release=Bob", append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
	return resp.StatusCode
}

// logged checks what the log of moderators says, by the keys of its lines.
func logged(t *testing.T, st *store.Store, want ...string) {
	t.Helper()
	acts, err := st.Acts(t.Context(), match.Room{Platform: platform, Channel: channel}, "", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, a := range acts {
		keys = append(keys, a.What.Key)
	}
	equal(t, "what moderators did", keys, want)
}

// A name belongs to the browser that used it first, also after a restart. Others
// cannot act as that person, and do not read what is for them alone.
func TestNamesBelongToBrowsers(t *testing.T) {
	st := openStore(t, newFile(t))
	var asked []bot.Request
	room := func() *Room { return New(Config{Listen: "127.0.0.1:0", Log: st, OwnerToken: ownerToken}) }
	r := room()
	url, stop := run(t, r, private(&asked))
	bob := outbox.User{Platform: platform, ID: "name:bob", Name: "Bob"}

	if got := told(t, url, 1, "name:Bob", "/games", "first"); got != "done" {
		t.Fatalf("Bob is told %q", got)
	}
	tell(t, r, "p1", bob, "for Bob")
	for range 2 {
		asked = nil
		for i, seat := range []string{"name:Bob", "name:bob", "name: BOB "} {
			if got := told(t, url, 10+i, seat, "/privacy delete confirm:yes", "stranger"); got != wordNameTaken {
				t.Errorf("a stranger as %q is told %q", seat, got)
			}
			if got := told(t, url, 20+i, seat, "hello", "stranger"); got != wordNameTaken {
				t.Errorf("a stranger as %q says hello and is told %q", seat, got)
			}
		}
		for i, seat := range []string{"name:B\u043eb", "name:\uff22ob", "name:B\u00f3b"} { // Cyrillic, wide, with an accent
			if got := told(t, url, 30+i, seat, "/games", "stranger"); got != wordAlike {
				t.Errorf("a stranger as %q is told %q", seat, got)
			}
		}
		// A client that keeps no cookies is a new browser each time.
		resp, body := ask(t, url, typed(40, "name:Bob", "/games"))
		if !strings.Contains(body, wordNameTaken) || len(resp.Cookies()) != 1 {
			t.Errorf("without a cookie: %s", body)
		}
		if len(asked) > 0 {
			t.Errorf("the bot was asked %+v", asked)
		}
		equal(t, "a stranger sees", sees(t, url, "name:Bob", "stranger"), nil)
		equal(t, "Bob sees", sees(t, url, "name:Bob", "first"), []string{"for Bob"})
		if got := told(t, url, 41, "name:bob", "/games", "first"); got != "done" {
			t.Errorf("Bob is told %q", got)
		}
		stop()
		r = room()
		url, stop = run(t, r, private(&asked))
	}

	// The owner releases the name, and nobody else does.
	if got := release(t, url); got != http.StatusForbidden {
		t.Errorf("a stranger released a name: %d", got)
	}
	page := follow(t, url, "seat=name:Bob", "", browserNamed("first"))
	page.until("ready")
	if got := release(t, url, "Cookie", ownerCookie+"="+ownerProof(token)); got != http.StatusOK {
		t.Errorf("the owner releases a name: %d", got)
	}
	release(t, url, "Cookie", ownerCookie+"="+ownerProof(token)) // nobody has it now
	logged(t, st, "act.release")
	if got := told(t, url, 50, "name:Bob", "/games", "second"); got != "done" {
		t.Errorf("the next browser is told %q", got)
	}
	tell(t, r, "p2", bob, "for the second")
	equal(t, "the second sees", sees(t, url, "name:Bob", "second"), []string{"for the second"})
	deliver(t, r, outbox.Post{ID: "p3", Text: "for all"})
	equal(t, "the page of the first goes on", page.until("for all"), []string{"for all"})
}

// A name from before names had holders belongs to the first browser that uses it
// where only this machine comes in, and else to the one for which it was released.
func TestOldNames(t *testing.T) {
	var asked []bot.Request
	old := func() memory {
		l := newLog(t)
		if _, err := l.Hold(t.Context(), bot.Holder{Platform: platform, ID: "name:bob"}, bot.Holder{}); err != nil {
			t.Fatal(err)
		}
		return l
	}
	alone := open(t, newRoom(old()), private(&asked))
	for _, browser := range []string{"first", "second"} {
		want := map[string]string{"first": "done", "second": wordNameTaken}[browser]
		if got := told(t, alone, 2, "name:Bob", "/games", browser); got != want {
			t.Errorf("%s is told %q, want %q", browser, got, want)
		}
	}
	owned := open(t, New(Config{Listen: "127.0.0.1:0", Log: old(), OwnerToken: ownerToken}), private(&asked))
	if got := told(t, owned, 1, "name:Bob", "/games", "first"); got != wordOldName {
		t.Errorf("where others come in Bob is told %q", got)
	}
	release(t, owned, "Cookie", ownerCookie+"="+ownerProof(token))
	if got := told(t, owned, 2, "name:Bob", "/games", "first"); got != "done" {
		t.Errorf("once it is released Bob is told %q", got)
	}
}

// A seat belongs to the browser that used it last, until its page has been closed
// for seatGrace. Then it is anybody's, without what was for the last one alone.
func TestSeatsChangeHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []bot.Request
		l := newLog(t)
		r := newRoom(l)
		url, stop := run(t, r, private(&asked))
		n := 0
		act := func(seat, browser, want string) {
			t.Helper()
			n++
			if got := told(t, url, n, seat, "/games", browser); got != want {
				t.Errorf("%s as %s is told %q, want %q", browser, seat, got, want)
			}
		}
		left := func(seconds string) string { return bot.Translated("", wordSeatWarm, seconds) }
		// Somebody alone sits in both.
		page := follow(t, url, "seat=black", "", browserNamed("first"))
		page.until("ready")
		tell(t, r, "p0", black, "for nobody yet")
		act("black", "first", "done")
		act("white", "first", "done")
		tell(t, r, "p1", black, "for the first")
		equal(t, "the page that was open sees", page.until("for the first"), []string{"for the first"})
		act("black", "second", wordSeatTaken)
		act("white", "second", left("20"))
		equal(t, "another sees", sees(t, url, "black", "second"), nil)
		equal(t, "without a cookie", sees(t, url, "black", ""), nil)

		// White's page is closed, Black's is not.
		time.Sleep(seatGrace)
		act("white", "second", "done")
		act("white", "first", left("20"))
		act("black", "second", wordSeatTaken)
		page.body.Close()
		synctest.Wait()
		time.Sleep(seatGrace - 1500*time.Millisecond)
		act("black", "second", left("2"))
		time.Sleep(500 * time.Millisecond)
		act("black", "second", left("1"))
		time.Sleep(time.Second)
		act("black", "second", "done")
		tell(t, r, "p2", black, "for the second")
		equal(t, "the new one sees", sees(t, url, "black", "second"), []string{"for the second"})
		equal(t, "the last one sees", sees(t, url, "black", "first"), nil)

		// A restart changes nothing, and leaves them time to come back.
		stop()
		r = newRoom(l)
		url = open(t, r, private(&asked))
		act("black", "first", left("20"))
		equal(t, "after the restart the second sees", sees(t, url, "black", "second"), []string{"for the second"})
		synctest.Wait()
		time.Sleep(seatGrace)
		act("black", "first", "done")
		equal(t, "and the first", sees(t, url, "black", "first"), nil)
		synctest.Wait()

		// A client without cookies may use a free seat, and does not keep it.
		time.Sleep(2 * seatGrace)
		for range 2 {
			n++
			if _, body := ask(t, url, typed(n, "black", "/games")); !strings.Contains(body, "done") {
				t.Errorf("without a cookie: %s", body)
			}
		}
		act("black", "second", "done")
		if _, body := ask(t, url, typed(n, "black", "/games")); !strings.Contains(body, left("20")) {
			t.Errorf("without a cookie in somebody's seat: %s", body)
		}
	})
}

// hello returns what a stream of the room says when it has told what was before.
func hello(t *testing.T, url, seat, browser string) (said spoken) {
	t.Helper()
	s := follow(t, url, "seat="+seat, "", browserNamed(browser))
	defer s.body.Close()
	for s.in.Scan() && s.in.Text() != "event: ready" {
	}
	s.in.Scan()
	if err := json.Unmarshal([]byte(strings.TrimPrefix(s.in.Text(), "data: ")), &said); err != nil {
		t.Fatal(err)
	}
	return said
}

// Tabs share a stream only when it is for the same person in the same browser.
func TestWhoseStream(t *testing.T) {
	url := open(t, newRoom(newLog(t)), fakeService{})
	whose := map[string]string{}
	for _, browser := range []string{"first", "second"} {
		for _, seat := range []string{"black", "white", "onlooker", "name:Ada", "name:Ben"} {
			key := hello(t, url, seat, browser).Whose
			if before, taken := whose[key]; taken || len(key) < 32 {
				t.Errorf("%s in the %s browser shares the stream %q with %s", seat, browser, key, before)
			}
			whose[key] = seat + " in the " + browser
			if hello(t, url, seat, browser).Whose != key {
				t.Errorf("two tabs of %s in the %s browser have streams of their own", seat, browser)
			}
		}
	}
	if key := hello(t, url, "black", "").Whose; key != "" {
		t.Errorf("whoever has no cookie shares the stream %q", key)
	}
}

// Whoever comes to a seat that somebody has is shown the other one, or that of an onlooker.
func TestOtherSeat(t *testing.T) {
	var asked []bot.Request
	url := open(t, newRoom(newLog(t)), private(&asked))
	offered := func(seat, browser, want string) {
		t.Helper()
		if got := hello(t, url, seat, browser).Seat; got != want {
			t.Errorf("%s comes to %s and is offered %q, not %q", browser, seat, got, want)
		}
	}
	offered("black", "second", "")
	told(t, url, 1, "black", "/games", "first")
	offered("black", "first", "")
	offered("black", "second", "white")
	offered("white", "second", "")
	told(t, url, 2, "white", "/games", "second")
	offered("black", "second", "white")
	offered("black", "third", "onlooker")
	offered("white", "third", "onlooker")
	offered("onlooker", "third", "")
	offered("name:Ada", "third", "")
}

// The page gives a browser a secret, once, which scripts cannot read.
func TestBrowserCookie(t *testing.T) {
	url := open(t, newRoom(newLog(t)), fakeService{})
	resp, _ := do(t, "GET", url+"/", "")
	if len(resp.Cookies()) != 1 {
		t.Fatalf("cookies: %v", resp.Cookies())
	}
	c := resp.Cookies()[0]
	if c.Name != browserCookie || len(c.Value) < 26 || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge <= 0 {
		t.Errorf("cookie: %+v", c)
	}
	resp, _ = do(t, "GET", url+"/", "", "Cookie", c.Name+"="+c.Value)
	if again := resp.Cookies(); len(again) != 1 || again[0].Value != c.Value {
		t.Errorf("the second time: %v", again)
	}
	resp, _ = do(t, "GET", url+"/", "")
	if other := resp.Cookies()[0].Value; other == c.Value {
		t.Error("two browsers have one secret")
	}
}

// Nobody is suggested what somebody else could do.
func TestSuggestionsAreTheHolders(t *testing.T) {
	var who outbox.User
	url := open(t, newRoom(newLog(t)), fakeService{suggested: func(u outbox.User) { who = u }})
	for i, name := range []string{"Black", "Bob"} {
		seat := []string{"black", "name:Bob"}[i]
		suggestedTo := func(browser string) string {
			do(t, "GET", url+"/suggest?text=/place+D&seat="+seat, "", "Cookie", browserNamed(browser).String())
			return who.Name
		}
		if got := suggestedTo("anybody"); got != name {
			t.Errorf("before %s is taken it is suggested to %s", name, got)
		}
		told(t, url, i, seat, "/games", "first")
		if got := suggestedTo("first"); got != name {
			t.Errorf("%s's own browser is suggested something as %s", name, got)
		}
		if got := suggestedTo("second"); got != "Onlooker" {
			t.Errorf("another browser is suggested something as %s", got)
		}
	}
}
