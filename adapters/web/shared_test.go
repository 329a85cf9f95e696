package web

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// A pair is two processes with the room, on one store. A balancer may send each request to either.
type pair struct {
	st    *store.Store
	rooms [2]*Room
	bots  [2]*bot.Bot
	urls  [2]string
	stops [2]func()
}

// openPair runs two processes until the end of the test.
func openPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{st: openStore(t, store.Memory)}
	for i := range p.rooms {
		rows, err := p.st.OpenUnits()
		if err != nil {
			t.Fatal(err)
		}
		keeper := units.New(units.Config{Rows: rows})
		beating, stop := context.WithCancel(context.Background())
		var beats sync.WaitGroup
		beats.Go(func() { keeper.Run(beating) })
		t.Cleanup(func() { stop(); beats.Wait() })
		r := New(Config{Listen: "127.0.0.1:0", Log: p.st, Shared: true, OwnerToken: ownerToken})
		r.limits = limits{}
		b := bot.New(p.st, bot.Config{Pages: map[string]match.Pages{platform: match.LinkPages}, Units: keeper})
		p.rooms[i], p.bots[i] = r, b
		p.urls[i], p.stops[i] = inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
	}
	return p
}

// hears reads the next line of a stream, and how long that took.
func hears(t *testing.T, r *reader) (m message, took time.Duration) {
	t.Helper()
	began := time.Now()
	e, ok := r.next()
	if !ok {
		t.Fatal("the stream ended")
	}
	return e.message, time.Since(began)
}

// What is said and played through one process reaches readers of the other one within a second, each
// line once and in order. Readers of the same process get it at once.
func TestLinesOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		time.Sleep(5 * time.Second)
		var streams [2]*reader
		for i, url := range p.urls {
			streams[i] = follow(t, url, "seat=onlooker", "")
			read(streams[i])
		}
		for n := range 6 {
			time.Sleep(700 * time.Millisecond)
			at := n % 2
			text := fmt.Sprint("line ", n)
			post(t, p.urls[at], submission{ID: id(n), Seat: "name:Ada", Text: text}, browserNamed("ada"))
			for i, s := range streams {
				if m, took := hears(t, s); m.Text != text || i == at && took > 0 || took > time.Second {
					t.Errorf("%q is heard as %q after %v, at the same process: %v", text, m.Text, took, i == at)
				}
			}
		}
		var boards [2][]int64
		for n, turn := range []string{"/new aga 5x5", "C3", "B2", "D4", "C4"} {
			seat := []string{"black", "black", "white", "black", "white"}[n]
			if a := post(t, p.urls[n%2], submission{ID: id(10 + n), Seat: seat, Text: turn}); a.Private {
				t.Errorf("%s: %s", turn, a.Message.Text)
			}
			for i, s := range streams {
				for {
					m, took := hears(t, s)
					if took > 3*time.Second {
						t.Errorf("after %s a board comes after %v", turn, took)
					}
					if m.Kind == match.Show {
						boards[i] = append(boards[i], m.N)
						break
					}
				}
			}
		}
		if len(boards[0]) != 5 || !slices.IsSorted(boards[0]) || !slices.Equal(boards[0], boards[1]) {
			t.Errorf("the boards are %v", boards)
		}
	})
}

// A request that comes to both processes at once has one effect and the same answer.
func TestOneRequestToBothProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		for n, s := range []submission{{Seat: "black", Text: "/new aga 5x5"}, {Seat: "black", Text: "C3"}, {Seat: "white", Text: "hello"}, {Seat: "white", Text: "/place B2"},
			{Seat: "white", Text: "D4"}, {Seat: "name:Ada", Text: "/new aga 9x9"}, {Seat: "black", Text: "/score"}, {Seat: "white", Text: "/resign confirm:yes"}} {
			s.ID = id(n)
			var answers [2]answer
			var both sync.WaitGroup
			for i, url := range p.urls {
				both.Go(func() { answers[i] = post(t, url, s) })
			}
			both.Wait()
			for i := range answers {
				if m := answers[i].Message; m != nil {
					m.At, m.After = time.Time{}, 0
				}
			}
			if d := gocmp.Diff(answers[0], answers[1]); d != "" {
				t.Errorf("%s: the answers differ: %s", s.Text, d)
			}
		}
		time.Sleep(3 * time.Second)
		typed := map[string]int{}
		for _, m := range transcript(t, p.st) {
			if m.By != "" {
				typed[m.Text]++
			}
		}
		for text, n := range typed {
			if n != 1 {
				t.Errorf("%q was typed %d times", text, n)
			}
		}
		games, err := p.st.Matches(t.Context(), bot.Query{})
		if err != nil || len(games) != 2 {
			t.Errorf("%d games, %v", len(games), err)
		}
	})
}

// A seat belongs to one browser, whichever process it asks and whichever has its page.
func TestSeatsOfTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		a, b := p.urls[0], p.urls[1]
		n := 0
		says := func(url, browser, want string) {
			t.Helper()
			n++
			got := told(t, url, n, "black", "hello", browser)
			if want == wordSeatWarm && strings.HasPrefix(got, "Somebody sat there until just now") {
				got = want
			}
			if got != want {
				t.Errorf("%s is told %q, want %q", browser, got, want)
			}
		}
		says(a, "first", "")
		says(b, "second", wordSeatWarm)
		page := follow(t, b, "seat=black", "", browserNamed("first"))
		read(page)
		for range 8 { // its page is at one process, what it says goes to the other
			time.Sleep(25 * time.Second)
			says(a, "second", wordSeatTaken)
			says(b, "second", wordSeatTaken)
		}
		says(a, "first", "")
		for i, url := range p.urls {
			if got := hello(t, url, "black", "second").Seat; got != "white" {
				t.Errorf("process %d offers %q", i, got)
			}
		}
		page.body.Close()
		time.Sleep(19 * time.Second)
		says(a, "second", wordSeatWarm)
		says(b, "second", wordSeatWarm)
		time.Sleep(time.Second)
		says(b, "second", "")
		says(a, "first", wordSeatWarm)
		says(a, "second", "")
		time.Sleep(21 * time.Second)
		says(a, "first", "")
		says(b, "second", wordSeatWarm)

		// The page of a process that dies keeps its seat for less than a minute.
		page = follow(t, a, "seat=black", "", browserNamed("first"))
		read(page)
		says(b, "second", wordSeatTaken)
		p.rooms[0].mu.Lock()
		clear(p.rooms[0].readers)
		p.rooms[0].seats[black.ID].Secret = "" // it can do nothing more
		p.rooms[0].mu.Unlock()
		p.rooms[0].cfg.Shared = false
		page.body.Close()
		time.Sleep(seatKept)
		says(b, "second", "")
	})
}

// Of two browsers that take a free seat through two processes at the same time one gets it.
func TestOneSeatForTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		for n := range 10 {
			var told [2]string
			var both sync.WaitGroup
			for i, url := range p.urls {
				both.Go(func() {
					a := post(t, url, submission{ID: id(2*n + i), Seat: "white", Text: "hello"}, browserNamed(fmt.Sprint(n, " at ", i)))
					if a.Message != nil {
						told[i] = a.Message.Text
					}
				})
			}
			both.Wait()
			if (told[0] == "") == (told[1] == "") {
				t.Errorf("they are told %q", told)
			}
			time.Sleep(21 * time.Second)
		}
	})
}

// What is for somebody alone reaches their browser at whichever process it reads, and no other: also
// if they got their name at the other process after that, and until it is released there.
func TestPrivateLinesOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		bob := outbox.User{Platform: platform, ID: "name:bob", Name: "Bob"}
		his := follow(t, p.urls[1], "seat=name:Bob", "", browserNamed("his"))
		strangers := follow(t, p.urls[1], "seat=name:Bob", "", browserNamed("strangers"))
		read(his)
		read(strangers)
		if got := told(t, p.urls[0], 1, "name:Bob", "hello", "his"); got != "" {
			t.Errorf("Bob is told %q", got)
		}
		hears(t, his)
		hears(t, strangers)
		deliver(t, p.rooms[0], unworded(t, p.st, outbox.Post{ID: "p1", Text: "for Bob", Private: true, Notify: []outbox.User{bob}}))
		if m, _ := hears(t, his); m.Text != "for Bob" {
			t.Errorf("Bob hears %q", m.Text)
		}
		if got := release(t, p.urls[0], "Cookie", ownerCookies()[0].String()); got != 200 {
			t.Errorf("the name is not released: %d", got)
		}
		deliver(t, p.rooms[0], unworded(t, p.st, outbox.Post{ID: "p2", Text: "for nobody", Private: true, Notify: []outbox.User{bob}}))
		told(t, p.urls[0], 2, "onlooker", "the end", "eve")
		for _, r := range []*reader{his, strangers} {
			if m, _ := hears(t, r); m.Text != "the end" {
				t.Errorf("a page hears %q", m.Text)
			}
		}
	})
}

// When somebody is forgotten at one process, the pages of the other begin anew.
func TestForgottenAtAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		time.Sleep(3 * time.Second)
		post(t, p.urls[0], submission{ID: id(1), Seat: "name:Ada", Text: "a secret"})
		page := follow(t, p.urls[1], "seat=onlooker", "")
		if lines := read(page); len(lines) != 1 || lines[0].From != "Ada" {
			t.Errorf("before %+v", lines)
		}
		post(t, p.urls[0], submission{ID: id(2), Seat: "name:Ada", Text: "/privacy delete confirm:yes"})
		for {
			e, ok := page.next()
			if !ok {
				t.Fatal("the page does not begin anew")
			}
			if e.name == "anew" {
				break
			}
		}
		for _, m := range read(follow(t, p.urls[1], "seat=onlooker", "")) {
			if strings.Contains(m.Text, "secret") || m.From == "Ada" {
				t.Errorf("afterwards %+v", m)
			}
		}
	})
}
