package web

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// The page of a game has the turns of whoever sits there, and the seats that are free: of a
// browser that says its seat, only what it may do in that seat or in one that it holds.
func TestSeatsOnTheGamePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t, store.Memory)
		r := newRoom(st)
		url, _ := inMemory(t, r, func(ctx context.Context) error { return withPages(st).Run(ctx, r) })
		n := 0
		say := func(browser, seat, text string) {
			t.Helper()
			n++
			if got := told(t, url, n, seat, text, browser); got != "" {
				t.Errorf("%s in seat %s says %s and is told %q", browser, seat, text, got)
			}
		}
		say("ann", "black", "/new aga 5x5")
		page := pathOf(t, st)
		plays, stone, sits := regexp.MustCompile(`data-seat="([^"]*)"`), regexp.MustCompile(`data-stone="(.)"`), regexp.MustCompile(`href="/#(\w+)/g/`)
		shows := func(browser, query, want string) {
			t.Helper()
			cookie := browserNamed(browser).String()
			if browser == "" {
				cookie = ""
			}
			_, body := do(t, "GET", url+page+query, "", "Cookie", cookie)
			var got []string
			for _, of := range []*regexp.Regexp{plays, stone} {
				if m := of.FindStringSubmatch(body); m != nil {
					got = append(got, m[1])
				}
			}
			for _, m := range sits.FindAllStringSubmatch(body, -1) {
				got = append(got, "or "+m[1])
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("%s%s shows %s %q, want %q", page, query, browser, got, want)
			}
		}
		shows("ann", "", "black b")
		shows("ann", "?seat=white", "black b") // it is Black's turn, and she holds that seat
		shows("ben", "", "or white")
		shows("", "", "or white")
		shows("", "?seat=white", "or white") // who keeps no cookie sits nowhere
		shows("ben", "?seat=white", "white")
		shows("ben", "?seat=black", "or white")
		shows("ben", "?seat=name:Ben", "or white")
		say("ann", "black", "/place C3")
		shows("ann", "", "black or white")
		shows("ann", "?seat=white", "white w")
		shows("ann", "?seat=onlooker", "or white")
		say("ben", "white", "/place B2")
		shows("ben", "?seat=white", "white")
		shows("cat", "?seat=white", "")
		time.Sleep(seatGrace)
		shows("cat", "", "or black or white")
		say("ann", "white", "hello") // which takes the seat
		shows("ann", "?seat=white", "black b")
		say("ann", "black", "/undo") // which White is asked for
		shows("ann", "", "white")
		shows("ann", "?seat=white", "white")
		shows("ann", "?seat=black", "black b")
		shows("ann", "?seat=onlooker", "")
	})
}

// Above the buttons stands whose turn it is, said once.
func TestTurnAboveTheButtons(t *testing.T) {
	st := openStore(t, newFile(t))
	r := newRoom(st)
	b := withPages(st)
	url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
	say := commands(t, b)
	post(t, url, submission{ID: id(90), Seat: "black", Text: "/new aga 5x5"})
	for _, turn := range [][2]string{{"You play Black. It is your turn.", "/place C3"}, {"You play Black. White to play", "/resign confirm:yes"}} {
		want := turn[0]
		if _, body := do(t, "GET", url+pathOf(t, st), "", "Cookie", browserFor("black").String()); !strings.Contains(body, "<p>"+want+"</p>") {
			t.Errorf("the page does not say %q:\n%s", want, body)
		}
		say("black", turn[1])
	}
}

// While stones are marked as dead, the margin stands above the buttons of who marks them.
func TestMarginAboveTheButtons(t *testing.T) {
	st := openStore(t, newFile(t))
	r := newRoom(st)
	b := withPages(st)
	url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
	for i, text := range []string{"/new aga 5x5 opponent:me komi:0", "/place C3", "/pass", "/pass"} {
		post(t, url, submission{ID: id(i + 1), Seat: "black", Text: text}, browserFor("black"))
	}
	_, body := do(t, "GET", url+pathOf(t, st), "", "Cookie", browserFor("black").String())
	if !strings.Contains(body, "Play has stopped · Black &#43;25</p>") {
		t.Errorf("the margin is not above the buttons:\n%s", body)
	}
}
