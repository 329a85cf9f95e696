package web

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

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
			for lines.Scan() {
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
		say("black", "/place C3")
		hears("data: 4")
		say("white", "hello") // is no change
		say("white", "/place B2")
		hears("data: 5")
		if resp, _ := do(t, "GET", url+"/g/nobody-knows/follow", ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("a page that is not there: %s", resp.Status)
		}
		seal(t, st)
		say("black", "/place D4")
		hears("event: gone")
		hears("data: ")
		if lines.Scan() && lines.Scan() {
			t.Errorf("the stream goes on: %q", lines.Text())
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.streams != 0 || len(r.clients) != 0 {
			t.Errorf("%d streams are still counted, of %v", r.streams, r.clients)
		}
	})
}

// Somebody watches a game in a browser: the page follows it by itself, keys and a slider
// step through it, and the address bar always has the address of what is shown.
func TestGameFollowedInChromium(t *testing.T) {
	tier.Change(t)
	st := openStore(t, newFile(t))
	r := newRoom(st)
	b := withPages(st)
	url, _ := listen(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
	n := 0
	say := func(seat, text string) {
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
	p.wait(`document.querySelector('[role=status]').textContent.startsWith('3. Black D4')`)
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
	get[bool](p, `(() => { const s = document.querySelector('#turn'); s.value = 1; s.dispatchEvent(new Event('input')); return true })()`)
	shows(game+"/4", "1. Black C3")
	if get[string](p, `document.querySelector('#turn').value`) != "1" {
		t.Error("the slider stands elsewhere")
	}
	p.do(chromedp.KeyEvent(kb.End))
	shows(game, "4. White passes")
	say("black", "/undo")
	seal(t, st)
	say("black", "/resign confirm:yes")
	p.wait(`document.title.includes('404') || !document.querySelector('.steps')`)
}
