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

	"github.com/halfpoint-go/halfpoint/adapters/intake"
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

// Readers of a process get each line once and in order: at once what people said and played through
// it, within a second what they did through the other one.
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

// What comes with an answer of one process is to be had from the other, and is the same: by everybody
// what was for everybody, and by the browser that asked what was for it alone.
func TestPicturesOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		n := 0
		says := func(seat, text string) *message {
			t.Helper()
			n++
			a := post(t, p.urls[0], submission{ID: id(n), Seat: seat, Text: text})
			time.Sleep(time.Second) // so that there is time for estimates
			if a.Message == nil {
				return &message{}
			}
			return a.Message
		}
		for i, turn := range []string{"/new aga 5x5 hints:on", "C3", "B2", "D4"} {
			says([]string{"black", "black", "white", "black"}[i], turn)
		}
		says("name:Ada", "/new aga 9x9 opponent:me")
		fetch := func(at int, path, seat string) (status int, body string) {
			t.Helper()
			resp, body := do(t, "GET", p.urls[at]+path, "", "Cookie", browserFor(seat).String())
			return resp.StatusCode, body
		}
		diagram := strings.Repeat(".....\n", 5)
		type asked struct {
			seat, text, address string
			here                string
		}
		var all []asked
		for _, c := range []asked{{seat: "black", text: "/board"}, {seat: "name:Ada", text: "/board move:1 game:1"}, {seat: "black", text: "/compare"},
			{seat: "onlooker", text: "/demo 1"}, {seat: "white", text: "/show share:no diagram:\n" + diagram}, {seat: "black", text: "/sgf"}, {seat: "white", text: "/replay"},
			{seat: "black", text: "/privacy what:export"}} {
			m := says(c.seat, c.text)
			if c.address = m.Picture; m.File != nil {
				c.address = m.File.URL
			}
			status, body := fetch(0, c.address, c.seat)
			if status != 200 || c.address == "" {
				t.Errorf("%s: %q is %d: %+v", c.text, c.address, status, m)
			}
			c.here = body
			all = append(all, c)
		}
		says("white", "/place C4") // the game goes on
		for _, c := range all {
			status, there := fetch(1, c.address, c.seat)
			if status != 200 || there != c.here && !strings.Contains(c.text, "privacy") || len(there) < 30 {
				t.Errorf("%s: %d, the same: %v", c.text, status, there == c.here)
			}
			for at := range p.urls {
				if status, _ := fetch(at, c.address, "stranger"); c.seat != "onlooker" && status != 404 {
					t.Errorf("%s: at process %d a stranger gets %d", c.text, at, status)
				}
			}
		}

		// A command that changes something is no question.
		games := func() string {
			ms, err := p.st.Matches(t.Context(), bot.Query{})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(ms)
		}
		before := games()
		for _, q := range []ownQuestion{{Command: "privacy", Args: map[string]string{"what": "delete", "confirm": "yes"}}, {Command: "place", Args: map[string]string{"at": "A1"}},
			{Command: "privacy", Args: map[string]string{"what": "delete\x01", "confirm": "YES"}}, {Command: "event", Args: map[string]string{"what": "new\x01", "title": "League"}},
			{Command: "resign", Args: map[string]string{"confirm": "yes"}}, {Command: "new"}, {Command: "none"}} {
			q.Seat = "black"
			if status, _ := fetch(1, "/answer/x/picture.png?"+q.query(), "black"); status != 404 || games() != before {
				t.Errorf("%s: %d, %s, before %s", q.Command, status, games(), before)
			}
		}
		few := func() quota { return quota{intake.New(5, 1), intake.New(100, 1)} }
		for command, some := range map[string]limits{"board": {requests: few()}, "why": {costly: few()}} {
			p.rooms[1].limits = some
			got := map[int]int{}
			for n := range 10 {
				status, _ := fetch(1, fmt.Sprint("/answer/", command, n, "/picture.png?", ownQuestion{Seat: "black", Command: command}.query()), "black")
				got[status]++
			}
			if got[429] != 5 {
				t.Errorf("a browser asks %s again: %v", command, got)
			}
		}
		p.rooms[1].limits = limits{}
		for _, query := range []string{"", "?again=", "?again=.", "?again=bnVsbA", "?again=e30"} {
			if status, _ := fetch(1, "/answer/x/picture.png"+query, "black"); status != 404 {
				t.Errorf("%q: %d", query, status)
			}
		}
	})
}

// Both processes show a shared answer with the same picture, also to pages that come after the game
// went on.
func TestSharedPicturesOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		open := follow(t, p.urls[1], "seat=onlooker", "")
		read(open)
		n := 0
		says := func(seat, text string) {
			t.Helper()
			n++
			post(t, p.urls[0], submission{ID: id(n), Seat: seat, Text: text})
			time.Sleep(2 * time.Second)
		}
		for i, text := range []string{"/new aga 5x5 hints:on", "C3", "/board share:yes", "/compare share:yes", "/show diagram:\n" + strings.Repeat(".....\n", 5), "B2"} {
			says([]string{"black", "black", "white", "black", "white", "white"}[i], text)
		}
		pictures := func(ms []message) (found []string) {
			for _, m := range ms {
				if strings.HasPrefix(m.Picture, "/answer/") {
					found = append(found, fmt.Sprint(m.N, m.Picture, m.Alt, m.High))
				}
			}
			return found
		}
		all := read(follow(t, p.urls[0], "seat=onlooker", ""))
		want := pictures(all)
		if len(want) != 3 {
			t.Errorf("the pictures are %q", want)
		}
		var heard []message
		for range all {
			m, _ := hears(t, open)
			heard = append(heard, m)
		}
		equal(t, "a page that was open", pictures(heard), want)
		p.rooms[1].Forgotten() // what it has in memory
		equal(t, "a page that is opened later", pictures(read(follow(t, p.urls[1], "seat=white", ""))), want)
		for _, m := range read(follow(t, p.urls[1], "seat=onlooker", "")) {
			if m.Picture == "" {
				continue
			}
			for i, url := range p.urls {
				if resp, _ := do(t, "GET", url+m.Picture, ""); resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
					t.Errorf("process %d, %s: %s", i, m.Picture, resp.Status)
				}
			}
		}
	})
}

// A request that opened a game gets the same answer at the other process, also if the browser may open
// no other game since, or no more at that process for a while. The next one is refused at both.
func TestOpenedAtAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPair(t)
		submit := func(n, at int) (a answer) {
			a = post(t, p.urls[at], submission{ID: id(n), Seat: "name:Ada", Text: "/new aga 9x9 opponent:me"})
			if a.Message != nil {
				a.Message.At, a.Message.After = time.Time{}, 0
			}
			return a
		}
		p.rooms[1].limits.games = quota{intake.New(1, 1), intake.New(1, 1)}
		for n := range maxOpen + 2 {
			if n == maxOpen-1 {
				p.rooms[1].limits.games = quota{}
			}
			answers := make([]answer, 4)
			var sent sync.WaitGroup
			for i := range answers {
				if sent.Go(func() { answers[i] = submit(n, i%2) }); n != maxOpen-1 {
					sent.Wait() // the last is sent to both at the same time
				}
			}
			sent.Wait()
			if answers[0].Private != (n >= maxOpen) {
				t.Errorf("request %d: %+v", n, answers[0].Message)
			}
			for i, a := range answers {
				if d := gocmp.Diff(answers[0], a); d != "" {
					t.Errorf("request %d, sent %d times before, to process %d: %s", n, i, i%2, d)
				}
			}
		}
		if n, err := p.st.Opened(t.Context(), platform, bot.HashSecret(browserFor("name:Ada").Value)); n != maxOpen || err != nil {
			t.Errorf("%d games, %v", n, err)
		}
	})
}
