package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// newLimited returns a room that has its limits. Others come in by a proxy.
func newLimited(l Store) *Room {
	return New(Config{Listen: "127.0.0.1:0", Log: l, OwnerToken: ownerToken})
}

// openLimited runs the whole bot with such a room.
func openLimited(t *testing.T) (url string, st *store.Store) {
	t.Helper()
	st = openStore(t, store.Memory)
	r := newLimited(st)
	url, _ = inMemory(t, r, func(ctx context.Context) error { return bot.New(st, bot.Config{}).Run(ctx, r) })
	return url, st
}

// A visitor sends what they type from an address.
type visitor struct {
	t       *testing.T
	url     string
	address string
	browser string // empty: keeps no cookies
}

var submissions atomic.Int32 // so that each has an id of its own

// says returns the status, and what the visitor is told.
func (v visitor) says(seat, text string) (status int, told string, header http.Header) {
	v.t.Helper()
	headers := []string{"X-Forwarded-For", v.address}
	if v.browser != "" {
		headers = append(headers, "Cookie", browserNamed(v.browser).String())
	}
	resp, body := ask(v.t, v.url, typed(int(submissions.Add(1)), seat, text), headers...)
	return resp.StatusCode, body, resp.Header
}

// A client without a cookie adds at most 30 lines in ten seconds, whatever it says and in
// whichever seat; one that makes up a browser for each line is held by its address; and
// neither keeps others from playing.
func TestFlood(t *testing.T) {
	for _, c := range []struct {
		name    string
		browser func(n int) string
		most    int
	}{
		{"without a cookie", func(int) string { return "" }, 30},
		{"with one browser", func(int) string { return "one" }, 130},
		{"with a browser for each line", func(n int) string { return fmt.Sprint("made up ", n) }, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				url, st := openLimited(t)
				for n := range 1000 {
					v := visitor{t, url, "192.0.2.1", c.browser(n)}
					seat := []string{"onlooker", "black", "white", "name:Ada" + strconv.Itoa(n%100)}[n%4]
					status, told, header := v.says(seat, []string{"hello", "/new 9x9", "/rules share:yes", "/board share:yes"}[n/4%4])
					if status == http.StatusTooManyRequests {
						seconds, err := strconv.Atoi(header.Get("Retry-After"))
						if err != nil || seconds < 2 || seconds > 30 || !strings.Contains(told, fmt.Sprintf("Wait %d seconds.", seconds)) {
							t.Fatalf("told %q, Retry-After %q", told, header.Get("Retry-After"))
						}
					}
					time.Sleep(10 * time.Millisecond)
				}
				synctest.Wait()
				if lines := transcript(t, st); len(lines) > c.most || len(lines) < 10 {
					t.Errorf("%d lines were added", len(lines))
				}
				if status, told, _ := (visitor{t, url, "192.0.2.2", "other"}).says("name:Eve", "/new 9x9"); status != http.StatusOK || strings.Contains(told, "Private") {
					t.Errorf("somebody else is told %s", told)
				}
			})
		})
	}
}

// Limits are not for people: one who plays both seats as fast as they can, and a dozen
// behind one address who arrive together, load the page with all its pictures, take names,
// open games and play.
func TestPeopleDoNotNoticeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := open(t, newLimited(newLog(t)), fakeService{})
		says := func(v visitor, seat, text string) {
			t.Helper()
			if status, told, _ := v.says(seat, text); status != http.StatusOK || strings.Contains(told, `"private":true`) {
				t.Errorf("%s says %s and is told %s", seat, text, told)
			}
		}
		point := func(n int) string { return fmt.Sprintf("/place %c%d", "ABCDEFGHJKLMNOPQRST"[n%19], 1+n/19*2) }
		var all sync.WaitGroup
		all.Go(func() { // on this machine
			v := visitor{t, url, "127.0.0.1", "alone"}
			says(v, "black", "/new aga 19x19")
			for n := range 120 {
				says(v, []string{"black", "white"}[n%2], point(n))
				time.Sleep(time.Second / 2)
			}
			for range 2 {
				for _, text := range []string{"/replay", "/compare", "/sgf", "/score why:yes"} {
					says(v, "white", text)
					time.Sleep(2 * time.Second)
				}
			}
		})
		for who := range 12 {
			all.Go(func() {
				v := visitor{t, url, "192.0.2.1", fmt.Sprint("member ", who)}
				seat := fmt.Sprint("name:Member ", who)
				for range 200 {
					if resp, body := do(t, "GET", url+"/picture/none/1.png", "", "X-Forwarded-For", v.address, "Cookie", browserNamed(v.browser).String()); resp.StatusCode != http.StatusNotFound {
						t.Errorf("a picture: %s %s", resp.Status, body)
					}
				}
				says(v, seat, "/new aga 19x19 opponent:me")
				for n := range 60 {
					says(v, seat, point(n)) // two seconds: quick chess players would
					time.Sleep(2 * time.Second)
				}
				says(v, seat, "good game")
			})
		}
		all.Wait()
	})
}

// Requests of one visitor for many pictures hardly delay the pages of others.
func TestPicturesForVisitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := open(t, newLimited(newLog(t)), library{view: players.view})
		get := func(path, address string) int {
			resp, _ := do(t, "GET", url+path, "", "X-Forwarded-For", address)
			return resp.StatusCode
		}
		drawn := 0
		for get("/g/abc/3/board.png", "192.0.2.1") == http.StatusOK && drawn < 1000 {
			drawn++
		}
		if drawn < 50 || drawn > 100 {
			t.Errorf("one client gets %d pictures at once", drawn)
		}
		if got := get("/g/abc", "192.0.2.2"); got != http.StatusOK {
			t.Errorf("another one gets %d", got)
		}
	})
}

// New names, open games and costly questions have limits of their own, for all names of a
// browser together. A refusal says how long to wait, to its author alone.
func TestLimitsOfABrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url, st := openLimited(t)
		v := visitor{t, url, "192.0.2.1", "one"}
		refused := func(seat, text string) string {
			t.Helper()
			time.Sleep(time.Second)
			status, told, _ := v.says(seat, text)
			if status != http.StatusOK {
				t.Fatalf("%s: %d %s", text, status, told)
			}
			for _, part := range []string{"Take the next one in ", "Open the next one in ", "before you open another", "Ask again in "} {
				if strings.Contains(told, part) {
					if !strings.Contains(told, `"private":true`) {
						t.Errorf("everybody is told %s", told)
					}
					return part
				}
			}
			return ""
		}
		names := 0
		for n := range 40 {
			if refused(fmt.Sprint("name:Ada ", n), "hello") == "" {
				names++
			}
		}
		if names < 10 || names > 12 {
			t.Errorf("one browser took %d names", names)
		}
		games := 0
		for n := range 60 {
			if refused(fmt.Sprint("name:Ada ", n%10), "/new 9x9 opponent:me") == "" {
				games++
			}
			if n == 30 {
				time.Sleep(time.Hour) // time gives no more games
			}
		}
		if games != maxOpen {
			t.Errorf("one browser opened %d games", games)
		}
		before := len(transcript(t, st))
		if got := refused("name:Ada 1", "/rematch game:1"); got != "before you open another" {
			t.Errorf("a rematch is answered %q", got)
		}
		replays := 0
		for n := range 20 {
			if refused(fmt.Sprint("name:Ada ", n%10), "/replay game:1") == "" {
				replays++
			}
		}
		if replays < 4 || replays > 6 {
			t.Errorf("one browser had %d replays in 20 seconds", replays)
		}
		if after := len(transcript(t, st)); after != before {
			t.Errorf("%d lines more are there to read", after-before)
		}
		if got := refused("name:Ada 1", "/board game:1"); got != "" {
			t.Errorf("other questions are refused: %s", got)
		}
	})
}

// The owner token cannot be guessed faster than anybody types it: neither by the form nor
// by a cookie. Somebody who waits, or comes from another address, is let in.
func TestGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := open(t, newLimited(newLog(t)), fakeService{})
		form := func(address, body string, headers ...string) (*http.Response, string) {
			headers = append(headers, "X-Forwarded-For", address, "Content-Type", "application/x-www-form-urlencoded")
			return do(t, "POST", url+"/owner", body, headers...)
		}
		right, cookie := "token="+strings.ReplaceAll(token, " ", "+"), ownerCookie+"="
		looked := map[int]int{}
		for n := range 300 {
			var resp *http.Response
			switch n % 3 {
			case 0:
				resp, _ = form("192.0.2.1", fmt.Sprint("token=guess", n))
			case 1:
				resp, _ = form("192.0.2.1", "release=Bob", "Cookie", cookie+ownerProof(fmt.Sprint("guess", n)))
			case 2:
				resp, _ = do(t, "GET", url+"/owner", "", "X-Forwarded-For", "192.0.2.1", "Cookie", cookie+ownerProof(fmt.Sprint("guess", n)))
			}
			looked[resp.StatusCode]++
		}
		if looked[http.StatusTooManyRequests] != 290 {
			t.Errorf("answers: %v", looked)
		}
		resp, page := form("192.0.2.1", right)
		if resp.StatusCode != http.StatusTooManyRequests || len(resp.Cookies()) > 0 || resp.Header.Get("Retry-After") != "10" || !strings.Contains(page, "Wait 10 seconds, then try again.") {
			t.Errorf("the token after many guesses: %s %s", resp.Status, page)
		}
		if resp, _ := do(t, "GET", url+"/owner", "", "X-Forwarded-For", "192.0.2.1"); resp.StatusCode != http.StatusOK {
			t.Errorf("the form itself: %s", resp.Status)
		}
		for range 30 { // right is not wrong
			if resp, _ := form("192.0.2.2", right); resp.StatusCode != http.StatusOK {
				t.Errorf("elsewhere: %s", resp.Status)
			}
		}
		time.Sleep(10 * time.Second)
		if resp, _ := form("192.0.2.1", right); resp.StatusCode != http.StatusOK {
			t.Errorf("later: %s", resp.Status)
		}
	})
}

// A guess in the cookie of what is typed counts like one at the owner's page, and an address
// that has to wait has no rights.
func TestGuessingInTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []bot.Request
		url := open(t, newLimited(newLog(t)), answering(outbox.Post{}, &asked))
		moderator := func(address, token string) bool {
			t.Helper()
			cookies := browserNamed("one").String() + "; " + ownerCookie + "=" + ownerProof(token)
			resp, body := ask(t, url, typed(int(submissions.Add(1)), "onlooker", "/rules"), "X-Forwarded-For", address, "Cookie", cookies)
			if resp.StatusCode != http.StatusOK {
				t.Errorf("answered %s %s", resp.Status, body)
			}
			return asked[len(asked)-1].Moderator
		}
		for n := range 12 {
			if !moderator("192.0.2.1", token) || moderator("192.0.2.2", fmt.Sprint("guess", n)) {
				t.Error("rights do not follow the token")
			}
			time.Sleep(time.Second / 2)
		}
		if moderator("192.0.2.2", token) {
			t.Error("after many guesses the next one is looked at")
		}
		if time.Sleep(10 * time.Second); !moderator("192.0.2.2", token) {
			t.Error("the owner is not let in later")
		}
	})
}

// A client pays for what the room would read, not for what it claims to send.
func TestClaimedLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := open(t, newLimited(newLog(t)), fakeService{})
		for address, length := range map[string]string{"192.0.2.1": "1000000000000", "192.0.2.2": "1000000000000000000"} {
			conn := dial(t, url, "POST /ask HTTP/1.1", "Content-Type: application/json", "X-Forwarded-For: "+address, "Content-Length: "+length, "")
			synctest.Wait()
			conn.Close()
			if status, told, _ := (visitor{t, url, address, ""}).says("onlooker", "hello"); status != http.StatusOK {
				t.Errorf("after a claim of %s bytes: %s", length, told)
			}
		}
	})
}

// A request to open a game that is sent again has its answer, though no other is allowed.
func TestOpeningSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url, st := openLimited(t)
		v := visitor{t, url, "192.0.2.1", "one"}
		for range maxOpen - 1 {
			v.says("name:Ada", "/new 9x9 opponent:me")
			time.Sleep(time.Second)
		}
		last := typed(int(submissions.Add(1)), "name:Ada", "/new 9x9 opponent:me")
		for range 3 {
			resp, body := ask(t, url, last, "X-Forwarded-For", v.address, "Cookie", browserNamed(v.browser).String())
			if resp.StatusCode != http.StatusOK || strings.Contains(body, `"private":true`) {
				t.Errorf("answered %s %s", resp.Status, body)
			}
			time.Sleep(time.Second)
		}
		if _, told, _ := v.says("name:Ada", "/new 9x9 opponent:me"); !strings.Contains(told, "before you open another") {
			t.Errorf("one game more: %s", told)
		}
		lines := 0
		for _, m := range transcript(t, st) {
			if m.Text == "/new 9x9 opponent:me" {
				lines++
			}
		}
		if lines != maxOpen {
			t.Errorf("%d games were opened", lines)
		}
	})
}

// What others opened from a seat does not count against whoever sits there now.
func TestGamesOfEarlierSitters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url, _ := openLimited(t)
		for range maxOpen {
			if _, told, _ := (visitor{t, url, "192.0.2.1", "one"}).says("black", "/new 9x9"); strings.Contains(told, `"private":true`) {
				t.Errorf("the first is told %s", told)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(seatGrace)
		next := visitor{t, url, "192.0.2.2", "two"}
		opens := func(seat string) (told string, ok bool) {
			time.Sleep(30 * time.Second)
			_, told, _ = next.says(seat, "/new 9x9")
			return told, !strings.Contains(told, `"private":true`)
		}
		for n := range maxOpen {
			if told, ok := opens("black"); !ok {
				t.Errorf("game %d of the next one: %s", n+1, told)
			}
		}
		if told, ok := opens("black"); ok || !strings.Contains(told, "You already have 20 unfinished games") {
			t.Errorf("a game too many: %s", told)
		}
		if told, ok := opens("name:Bob"); !ok {
			t.Errorf("beside the seat: %s", told)
		}
	})
}

// The newest board of a game that is played stays in sight, however much is said after it,
// and so does nothing that is over.
func TestChatLeavesBoards(t *testing.T) {
	st := openStore(t, store.Memory)
	_, url, _ := openBot(t, st)
	for n, text := range []string{"/new 5x5", "/place C3", "/new 5x5", "/place C4", "/resign confirm:yes game:2"} {
		post(t, url, submission{ID: id(n), Seat: "black", Text: text})
	}
	for n := range 600 {
		if _, err := st.Append(t.Context(), outbox.Message{Room: channel, From: "Ada", Text: fmt.Sprint("line ", n)}); err != nil {
			t.Fatal(err)
		}
	}
	ms := read(follow(t, url, "seat=white", ""))
	if len(ms) != history+1 || !strings.Contains(ms[0].Text, "1. Black C3") || len(ms[0].Controls) == 0 || ms[0].Picture == "" || ms[1].Text != "line 400" {
		t.Errorf("a new page sees %d messages, the first %+v", len(ms), ms[0])
	}
}
