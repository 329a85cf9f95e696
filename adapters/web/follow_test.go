package web

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// withPages is the bot where the games of the room have pages.
func withPages(st *store.Store) *bot.Bot {
	return bot.New(st, bot.Config{Pages: map[string]match.Pages{platform: match.LinkPages}})
}

// pathOf returns the path of the newest game of the room.
func pathOf(t *testing.T, st *store.Store) string {
	t.Helper()
	ms, err := st.Matches(t.Context(), bot.Query{})
	if err != nil || len(ms) == 0 {
		t.Fatalf("%d games, %v", len(ms), err)
	}
	return "/g/" + ms[0].Page
}

// seal ends all pages of the room.
func seal(t *testing.T, st *store.Store) {
	t.Helper()
	if err := withPages(st).Report(t.Context(), bot.Encrypted{Where: match.Room{Platform: platform, Channel: channel}}); err != nil {
		t.Fatal(err)
	}
}

// commands returns a function that carries out a command of a seat, which everybody sees.
func commands(t *testing.T, b *bot.Bot) func(seat, text string) {
	n := 0
	return func(seat, text string) {
		t.Helper()
		n++
		who, _ := userOf(seat)
		req := request(who)
		req.ID = id(n)
		var err error
		if req.Command, req.Args, err = bot.Parse(text); err != nil {
			t.Fatal(err)
		}
		if a, err := b.Ask(t.Context(), req); err != nil || !a.Public {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

// A page that follows a game hears of each change at once, and when it can no longer be
// read. The same limits hold as for the pages of the room.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t, store.Memory)
		r := newRoom(st)
		url, _ := inMemory(t, r, func(ctx context.Context) error { return withPages(st).Run(ctx, r) })
		n := 0
		say := func(seat, text string) {
			t.Helper()
			n++
			if a := post(t, url, submission{ID: id(n), Seat: seat, Text: text}); a.Private {
				t.Errorf("%s says %s and is told %q", seat, text, a.Message.Text)
			}
			synctest.Wait()
		}
		say("black", "/new aga 5x5")
		resp, err := clientFor(url).Get(url + pathOf(t, st) + "/follow")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		hears := func(want string) {
			t.Helper()
			for n := 0; n < 20 && lines.Scan(); n++ {
				if line := lines.Text(); line != "" && line[0] != ':' && !strings.HasPrefix(line, "retry:") {
					if line != want {
						t.Errorf("the page hears %q, want %q", line, want)
					}
					return
				}
			}
			t.Errorf("the stream ended before %q: %v", want, lines.Err())
		}
		hears("data: 3")
		host := strings.TrimPrefix(url, "http://")
		conn, err := network.DialContext(t.Context(), "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, path := range []string{pathOf(t, st) + "/follow", "/events"} { // the headers alone hold no stream
			fmt.Fprintf(conn, "HEAD %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\n\r\n", path, host, url)
			resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: "HEAD"})
			if err != nil || resp.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("HEAD %s: %v, %v", path, resp, err)
			}
			synctest.Wait()
			r.mu.Lock()
			if r.streams != 1 {
				t.Errorf("HEAD %s: %d streams, want that of the page", path, r.streams)
			}
			r.mu.Unlock()
		}
		say("black", "/place C3")
		hears("data: 4")
		say("white", "hello") // is no change
		say("white", "/place B2")
		hears("data: 5")
		if resp, _ := do(t, "GET", url+"/g/nobody-knows/follow", ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a page that is not there: %s", resp.Status)
		}
		time.Sleep(heartbeat)
		hears("data: 5") // so the page knows that it still listens
		seal(t, st)
		time.Sleep(heartbeat)
		hears("event: gone") // though nobody plays on
		hears("data: ")
		if lines.Scan(); lines.Scan() { // the frame ends with an empty line
			t.Errorf("the stream goes on: %q", lines.Text())
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.streams != 0 || len(r.clients) != 0 {
			t.Errorf("%d streams are still counted, of %v", r.streams, r.clients)
		}
	})
}

// One stream follows several games, for all tabs of a browser. It says of which game each
// number is, goes on when one of the pages is gone, and ends with the last.
func TestFollowSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t, store.Memory)
		r := newRoom(st)
		b := withPages(st)
		url, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
		say := commands(t, b)
		say("black", "/new aga 5x5")
		first := strings.TrimPrefix(pathOf(t, st), "/g/")
		say("black", "/new aga 5x5")
		second := strings.TrimPrefix(pathOf(t, st), "/g/")
		resp, err := clientFor(url).Get(url + "/g/follow?game=nobody-knows&game=" + first + "&game=" + second + "&game=" + first)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body := bufio.NewReader(resp.Body)
		hears := func(want ...string) { // in any order
			t.Helper()
			var got []string
			for len(got) < len(want) {
				frame := ""
				for !strings.HasSuffix(frame, "\n\n") {
					line, err := body.ReadString('\n')
					if err != nil {
						t.Fatalf("the stream ended after %q: %v", got, err)
					}
					frame += line
				}
				if !strings.HasPrefix(frame, "retry:") {
					got = append(got, strings.TrimSpace(frame))
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("the page hears %q, want %q", got, want)
			}
		}
		hears("data: "+first+" 3", "data: "+second+" 3", "event: gone\ndata: nobody-knows")
		say("black", "/place C3 game:2")
		hears("data: " + second + " 4")
		say("black", "/place C3 game:1")
		hears("data: " + first + " 4")
		r.mu.Lock()
		if r.streams != 1 {
			t.Errorf("%d streams are counted, want 1", r.streams)
		}
		r.mu.Unlock()
		time.Sleep(heartbeat)
		hears("data: "+first+" 4", "data: "+second+" 4")
		seal(t, st)
		time.Sleep(heartbeat)
		hears("event: gone\ndata: "+first, "event: gone\ndata: "+second)
		if line, err := body.ReadString('\n'); err == nil {
			t.Errorf("the stream goes on: %q", line)
		}
		for _, n := range []int{0, maxFollowed + 1} {
			query := ""
			for i := range n {
				query += fmt.Sprintf("&game=x%d", i)
			}
			if resp, body := do(t, "GET", url+"/g/follow?"+query, ""); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%d games are followed: %s %s", n, resp.Status, body)
			}
		}
	})
}

// A counting room counts how often its service is asked for a view, and how often only for
// what may be known of a game.
type counting struct {
	*Room
	views, watches atomic.Int32
}

func (c *counting) Run(ctx context.Context, s bot.Service) error {
	return c.Room.Run(ctx, countedService{s, c})
}

type countedService struct {
	bot.Service
	*counting
}

func (s countedService) View(ctx context.Context, v bot.Viewing) (bot.View, error) {
	if v.Watch {
		s.watches.Add(1)
	} else {
		s.views.Add(1)
	}
	return s.Service.View(ctx, v)
}

// After a turn all who watch ask for the page at once. It is made once for all of them who
// get the same one, and none of them gets what may no longer be read or is no longer so.
func TestOnlookersShareAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t, store.Memory)
		r := &counting{Room: newRoom(st)}
		url, _ := inMemory(t, r.Room, func(ctx context.Context) error { return withPages(st).Run(ctx, r) })
		post(t, url, submission{ID: id(1), Seat: "black", Text: "/new aga 5x5"})
		path, before := pathOf(t, st), r.views.Load()
		reads := func(made int, query, says string, headers ...string) {
			t.Helper()
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if resp, body := do(t, "GET", url+path+query, "", headers...); !strings.Contains(body, says) {
						t.Errorf("%s does not say %q: %s\n%s", query, says, resp.Status, body)
					}
				})
			}
			all.Wait()
			if n := int(r.views.Load() - before); n != made {
				t.Errorf("for %q %v the page is made %d times, want %d", query, headers, n, made)
			}
			before = r.views.Load()
		}
		reads(1, "", "Black to play")
		reads(0, "", "Black to play")
		reads(1, "", "Schwarz", "Accept-Language", "de")
		reads(1, "", "board-contrast", "Cookie", lookCookie+"=theme=contrast")
		reads(1, "?as=japanese", "Japanese")
		reads(1, "/3", "Black to play")
		post(t, url, submission{ID: id(2), Seat: "black", Text: "/place C3"})
		reads(1, "", "1. Black C3") // in the same second
		time.Sleep(time.Second)
		reads(1, "", "1. Black C3") // the clocks go on

		// Those who follow the game and are told of a turn share what may be known of it, too.
		for range 20 {
			resp, err := clientFor(url).Get(url + path + "/follow")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
		}
		synctest.Wait()
		watches := r.watches.Load()
		post(t, url, submission{ID: id(3), Seat: "white", Text: "/place B2"})
		synctest.Wait()
		if n := r.watches.Load() - watches; n != 1 {
			t.Errorf("for 20 followers the game is looked at %d times after a turn", n)
		}
		seal(t, st)
		reads(0, "", "Perhaps the address is not complete")
	})
}

// Each board of the room has the address of its page, at once and when the room has started
// again; where pages are off it has none.
func TestBoardsHaveTheirPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := openStore(t, store.Memory)
		for started, want := range []string{"0 PATH/3\n1 PATH/4\n", "0 PATH/3\n1 PATH/4\n", "0 \n1 \n"} {
			if started == 2 {
				seal(t, st)
			}
			r := newRoom(st)
			b := withPages(st)
			url, stop := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
			if started == 0 {
				for i, typed := range []string{"/new aga 5x5", "/place C3"} {
					post(t, url, submission{ID: id(i), Seat: "black", Text: typed})
				}
				synctest.Wait()
			}
			boards := ""
			for _, m := range read(follow(t, url, "seat=white", "")) {
				if m.Picture != "" {
					boards += fmt.Sprintln(m.Turns, m.Page)
				}
			}
			if want = strings.ReplaceAll(want, "PATH", pathOf(t, st)); boards != want {
				t.Errorf("start %d: the boards are\n%swant\n%s", started, boards, want)
			}
			stop()
		}
	})
}

// In the room a board leads to its page, whose address can be copied, and what people say
// leads to the turns of the game that they talk about.
func TestRoomLeadsToPagesInChromium(t *testing.T) {
	tier.Change(t)
	st := openStore(t, newFile(t))
	r := newRoom(st)
	r.cfg.PublicURL = "https://go.example.org"
	url, _ := listen(t, r, func(ctx context.Context) error { return withPages(st).Run(ctx, r) })
	p := openTab(t, chromium(t), url)
	p.sit("black")
	p.say("no game yet: #1")
	p.say("/new aga 5x5")
	p.sees("Black to play")
	p.say("/place C3")
	p.sees("1. Black C3")
	game := pathOf(t, st)
	const opens = `[...document.querySelectorAll('#log figure')].map((f) => f.querySelector('a')).map((a) => a.textContent + ' ' + a.getAttribute('href'))`
	equal(t, "links", get[[]string](p, opens), []string{"Open the board " + game + "/3", "Open the board " + game + "/4"})
	p.say("<b>#1</b> and #2, #01, a#1, #1a, &#1; אבג #1")
	p.sees("אבג")
	const turns = `[...document.querySelectorAll('#log .text a')].map((a) => a.textContent + ' ' + a.getAttribute('href') + ' ' + a.closest('.text').dir)`
	equal(t, "turns", get[[]string](p, turns), []string{"#1 " + game + "/turn/1 auto", "#1 " + game + "/turn/1 auto"})
	if get[bool](p, `!!document.querySelector('#log b')`) {
		t.Error("what people write becomes markup")
	}
	get[bool](p, `navigator.clipboard.writeText = async (text) => { window.copied = text }, [...document.querySelectorAll('#log figcaption button')].filter((b) => b.textContent === 'Copy address').at(-1).click(), true`)
	p.wait(`window.copied === %q && document.querySelector('#hint').textContent === 'The address is copied.'`, r.cfg.PublicURL+game+"/4")
	p.say("/settings whose:mine language:de")
	p.wait(`document.querySelector('#log figcaption a').textContent === 'Brett öffnen'`)
	p.do(chromedp.EmulateViewport(360, 640))
	p.narrow(360)
	p.do(chromedp.Navigate(url + game + "/turn/1"))
	p.wait(`location.pathname === %q`, game+"/4")
}

// A trial says on its page, too, that it does not count.
func TestTrialOnThePage(t *testing.T) {
	st := openStore(t, store.Memory)
	r := newRoom(st)
	url, _ := inMemory(t, r, func(ctx context.Context) error { return withPages(st).Run(ctx, r) })
	for i, line := range []string{"black /new aga 5x5", "black /place C3", "white /pass", "black /pass", "black /dispute", "white /place B2"} {
		seat, text, _ := strings.Cut(line, " ")
		post(t, url, submission{ID: id(i + 1), Seat: seat, Text: text})
		_, body := do(t, "GET", url+pathOf(t, st), "")
		if got := strings.Contains(body, `<p class="notice" role="note">Trial: does not count</p>`); got != (i >= 4) {
			t.Errorf("after %s it says that it is a trial: %v", line, got)
		}
		for _, where := range []string{`<title>Trial · AGA`, `content="Trial · AGA`, `<h1>Trial · AGA`, ` trial"`, `<p class="badge">Trial: does not count</p>`} {
			if got := strings.Contains(body, where); got != (i >= 4) {
				t.Errorf("after %s it has %s: %v", line, where, got)
			}
		}
		for _, where := range []string{`<p class="line">4. White B2 · Trial</p>`, `>4. White B2 · Trial</a>`} {
			if got := strings.Contains(body, where); got != (i == 5) {
				t.Errorf("after %s it has %s: %v", line, where, got)
			}
		}
		if strings.Contains(body, "C3 · Trial") {
			t.Errorf("after %s a turn of the game itself is said to be a trial", line)
		}
	}
	// The moments of a trial that has ended are still those of a trial.
	post(t, url, submission{ID: id(9), Seat: "white", Text: "/dispute back:yes"})
	if _, body := do(t, "GET", url+pathOf(t, st), ""); strings.Contains(body, "Trial") {
		t.Error("the game is said to be a trial after it has ended")
	}
	if _, body := do(t, "GET", url+pathOf(t, st)+"/8", ""); !strings.Contains(body, `<p class="line">4. White B2 · Trial</p>`) {
		t.Errorf("an ended trial is not said to be one: %s", body)
	}
}

// Somebody watches a game in a browser: the page follows it by itself, keys and a slider
// step through it, and the address bar always names the moment on the page.
func TestGameFollowedInChromium(t *testing.T) {
	tier.Change(t)
	st, r, b, url := openPages(t)
	say := commands(t, b)
	say("black", "/new aga 5x5")
	say("black", "/place C3")
	say("white", "/place B2")
	game := pathOf(t, st)
	p := blankTab(t, chromium(t))
	shows := func(path, line string) {
		t.Helper()
		p.wait(`location.pathname === %q && document.querySelector('.line').textContent.startsWith(%q)`, path, line)
	}
	p.do(chromedp.Navigate(url + game))
	shows(game, "2. White B2")
	say("black", "/place D4")
	shows(game, "3. Black D4")
	p.wait(`document.querySelector('[role=status]').lastChild?.textContent === 'Move 3: Black D4. White to play.'`)
	p.do(chromedp.KeyEvent(kb.ArrowLeft))
	shows(game+"/5", "2. White B2")
	p.do(chromedp.KeyEvent(kb.ArrowLeft))
	shows(game+"/4", "1. Black C3")
	say("white", "/pass") // what is looked at stays, and has one more turn after it
	p.wait(`document.querySelectorAll('nav li').length === 4`)
	shows(game+"/4", "1. Black C3")
	p.do(chromedp.KeyEvent(kb.ArrowRight))
	shows(game+"/5", "2. White B2")
	p.do(chromedp.KeyEvent(kb.End))
	shows(game, "4. White passes")
	p.do(chromedp.Click(chromedp.CSS("[rel=prev]")))
	shows(game+"/6", "3. Black D4")
	p.do(chromedp.NavigateBack())
	shows(game, "4. White passes")
	get[bool](p, `(() => { const s = document.querySelector('#moment'); s.value = 1; s.dispatchEvent(new Event('input')); return true })()`)
	shows(game+"/4", "1. Black C3")
	if get[string](p, `document.querySelector('#moment').value`) != "1" {
		t.Error("the slider stands elsewhere")
	}
	drag := func(to float64, kind input.DispatchMouseEventType) {
		box := get[[]float64](p, `(() => { const b = document.querySelector('#moment').getBoundingClientRect(); return [b.x, b.width, b.y + b.height / 2] })()`)
		e := input.DispatchMouseEventParams{Type: kind, X: box[0] + box[1]*to, Y: box[2], Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}
		if _, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, e); err != nil {
			t.Fatal(err)
		}
	}
	drag(0.25, input.DispatchMouseEventTypeMousePressed) // the hand holds the slider while the page changes under it
	for _, to := range []float64{0.5, 0.75} {
		drag(to, input.DispatchMouseEventTypeMouseMoved)
		shows(fmt.Sprint(game, "/", 3+4*to), fmt.Sprint(4*to, "."))
	}
	drag(0.75, input.DispatchMouseEventTypeMouseReleased)
	p.do(chromedp.KeyEvent(kb.End))
	shows(game, "4. White passes")
	get[bool](p, `document.querySelector('summary').focus(), document.querySelector('select').value = 'japanese', true`)
	get[bool](p, `(() => { const real = fetch, refused = [503, 429]
		fetch = (...a) => refused.length ? Promise.resolve(new Response('Not now.', {status: refused.shift()})) : real(...a); return true })()`)
	say("black", "/place E5") // and the page does not fall behind for good if it is refused at first
	shows(game, "5. Black E5")
	if got := get[string](p, `document.activeElement.textContent + document.querySelector('select').value`); got != "All turnsjapanese" {
		t.Errorf("of what the reader has chosen there is %q", got)
	}
	r.mu.Lock()
	r.streams += maxStreams
	r.mu.Unlock()
	p.early(`const later = setTimeout; setTimeout = (f, ms, ...a) => later(f, ms / 20, ...a)`)
	p.do(chromedp.Reload())
	shows(game, "5. Black E5")
	p.wait(`performance.getEntriesByType('resource').some((e) => e.name.includes('/follow'))`)
	say("white", "/place A1") // the server had no room for it, and is asked again
	r.mu.Lock()
	r.streams -= maxStreams
	r.mu.Unlock()
	shows(game, "6. White A1")
	say("black", "/place A2")
	shows(game, "7. Black A2")
	if get[bool](p, `(() => { let taken; addEventListener('click', (e) => { taken = e.defaultPrevented; e.preventDefault() }, {once: true})
		document.querySelector("a[href$='board.png']").click(); return taken })()`) {
		t.Error("the script takes a picture for a page")
	}

	// The tabs of a browser share a stream. When the one that has it is closed, another goes on.
	say("black", "/new aga 3x3")
	browser := chromium(t)
	var tabs []*tab
	for i, path := range []string{game, game, pathOf(t, st)} {
		p := blankTab(t, browser)
		tabs = append(tabs, p)
		p.early(`streams = 0; EventSource = class extends EventSource { constructor(a) { super(a); streams++ } close() { super.close(); streams-- } }`)
		p.do(chromedp.Navigate(url + path))
		p.wait(`performance.getEntriesByType('resource').some((e) => e.name.includes('/follow')) && streams === %d`, map[bool]int{i == 0: 1}[true])
	}
	if err := chromedp.Cancel(tabs[0].ctx); err != nil {
		t.Fatal(err)
	}
	say("white", "/place B1 game:1")
	say("black", "/place B2 game:2")
	tabs[1].wait(`document.querySelector('.line').textContent.startsWith('8. White B1')`)
	tabs[2].wait(`document.querySelector('.line').textContent.startsWith('1. Black B2')`)
	shows(game, "8. White B1")
	say("white", "/undo game:1")
	seal(t, st)
	say("black", "/resign confirm:yes game:1")
	p.wait(`document.title.includes('404') || !document.querySelector('.steps')`)
}
