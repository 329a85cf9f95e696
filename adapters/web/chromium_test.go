package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// browser is the one browser process of the tests, started by the first that needs
// it.
var browser struct {
	start sync.Once
	ctx   context.Context
	stop  func()
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(code)
}

// chromium opens a profile of its own in the browser until the end of the test, or
// skips the test where there is no browser.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		tier.Missing(t, "there is no Chromium on PATH: install the package chromium")
	}
	browser.start.Do(func() {
		var profile string
		if profile, browser.err = os.MkdirTemp("", "halfpoint-chromium"); browser.err != nil {
			return
		}
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
			chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 900),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
		process, kill := chromedp.NewExecAllocator(context.Background(), options...)
		var cancel context.CancelFunc
		browser.ctx, cancel = chromedp.NewContext(process)
		browser.stop = func() {
			cancel()
			kill()
			os.RemoveAll(profile)
		}
		browser.err = chromedp.Do(browser.ctx)
	})
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// A tab is a page of the room.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// openTab opens the room in a tab of a browser. What goes wrong in the page
// fails the test.
func openTab(t *testing.T, parent context.Context, url string) *tab {
	t.Helper()
	p := blankTab(t, parent)
	p.do(chromedp.Navigate(url))
	p.wait(`document.querySelector('#log').getAttribute('aria-busy') === 'false'`)
	return p
}

// blankTab opens a tab of a browser.
func blankTab(t *testing.T, parent context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	watch(t, ctx)
	return &tab{t, ctx}
}

// watch fails the test when a page throws, or breaks its own security policy.
func watch(t *testing.T, ctx context.Context) {
	t.Helper()
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
		case *log.EventEntryAdded:
			if e.Entry.Source == log.EntrySourceSecurity || e.Entry.Source == log.EntrySourceViolation && e.Entry.Level == log.EntryLevelError {
				t.Errorf("the page: %s", e.Entry.Text)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, tier.Patience(p.t))
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// wait waits until an expression, which is formatted as by fmt.Sprintf, is true in the
// page.
func (p *tab) wait(format string, args ...any) {
	p.t.Helper()
	expression := fmt.Sprintf(format, args...)
	_, err := chromedp.Run(p.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(tier.Patience(p.t))))
	if err != nil {
		page, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`))
		p.t.Fatalf("%v: waiting for %s in\n%s", err, expression, page)
	}
}

// get evaluates an expression in the page.
func get[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, tier.Patience(p.t))
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%v: %s", err, expression)
	}
	return v
}

// sit chooses a seat.
func (p *tab) sit(seat string) {
	p.t.Helper()
	get[bool](p, fmt.Sprintf(`document.querySelector('#seat').value = %q, document.querySelector('#seat').dispatchEvent(new Event('change')), true`, seat))
}

// say puts a text into the message box and sends it, and waits until it was taken.
// (TestKeyboardInChromium types key by key.)
func (p *tab) say(text string) {
	p.t.Helper()
	p.do(chromedp.Focus(chromedp.CSS("#message")))
	if _, err := chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(`document.querySelector('#message').value === '' && !document.querySelector('#outbox').childElementCount`)
}

const lastMessage = `[...document.querySelectorAll('#log .message')].at(-1)`

// sees waits until the transcript has a message with that text.
func (p *tab) sees(text string) {
	p.t.Helper()
	quoted, _ := json.Marshal(text)
	p.wait(`[...document.querySelectorAll('#log .message')].some((m) => m.innerText.includes(%s))`, quoted)
}

// told waits until the last message is private and has that text.
func (p *tab) told(text string) {
	p.t.Helper()
	quoted, _ := json.Marshal(text)
	p.wait(`%s?.matches('[data-private]') && %[1]s.innerText.includes(%s)`, lastMessage, quoted)
}

// narrow fails if anything is wider than the page.
func (p *tab) narrow(width int) {
	p.t.Helper()
	if got := get[int](p, `document.documentElement.scrollWidth`); got > width {
		p.t.Errorf("the page is %d pixels wide, more than %d", got, width)
	}
	wide := get[[]string](p, `[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, dialog'))
		.map((e) => e.tagName + '#' + e.id + '.' + e.className)`)
	if len(wide) > 0 {
		p.t.Errorf("these stick out: %q", wide)
	}
	if hidden := get[bool](p, `document.querySelector('#scroll').scrollWidth > document.querySelector('#scroll').clientWidth`); hidden {
		p.t.Error("the transcript is wider than the page")
	}
}

// openTCP runs a room where a browser reaches it, until stop is called or the test ends.
func openTCP(t *testing.T, r *Room, d bot.Service) (url string, stop func()) {
	t.Helper()
	return listen(t, r, func(ctx context.Context) error { return r.Run(ctx, d) })
}

// openWholeBot opens the whole bot in a room.
func openWholeBot(t *testing.T) string {
	t.Helper()
	st := openStore(t, newFile(t))
	r := newRoom(st)
	url, _ := listen(t, r, func(ctx context.Context) error { return bot.New(st, bot.Config{}).Run(ctx, r) })
	return url
}

// openPages opens the whole bot in a room where games have pages.
func openPages(t *testing.T) (st *store.Store, r *Room, b *bot.Bot, url string) {
	t.Helper()
	st = openStore(t, newFile(t))
	r, b = newRoom(st), withPages(st)
	url, _ = listen(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
	return st, r, b, url
}

// shoot writes a picture of a page into the folder that SHOTS names, for somebody to look at.
func (p *tab) shoot(name string) {
	p.t.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	os.WriteFile(dir+"/"+name+".png", png, 0o600)
}

// prefers sets the colour scheme of a browser. Nothing changes slowly then.
func (p *tab) prefers(scheme string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}); err != nil {
		p.t.Fatal(err)
	}
}

// early runs a script in each page that the tab opens from now on, before those of the page.
func (p *tab) early(script string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		p.t.Fatal(err)
	}
}

// audit fails the test with what axe complains about in a page.
func (p *tab) audit(what string) {
	p.t.Helper()
	axe, err := os.ReadFile(axeCore(p.t))
	if err != nil {
		p.t.Fatal(err)
	}
	get[bool](p, string(axe)+`; true`)
	for _, violation := range get[[]string](p, `axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.map((n) => n.html)))`) {
		p.t.Errorf("%s: %.500s", what, violation)
	}
}

// A whole game: Black has the columns A to D, White F to J, the column between
// is filled stone by stone, and a white stone is left dead in Black's land.
// Black passes first, White last. Black has 27 points, a prisoner, a pass stone
// and a button, White 27, a pass stone, the other button and komi.
func wholeGame() (turns []string) {
	for row := 1; row <= 9; row++ {
		turns = append(turns, fmt.Sprintf("/place D%d", row), fmt.Sprintf("/place F%d", row))
	}
	for row := 1; row <= 9; row++ {
		turns = append(turns, fmt.Sprintf("/place E%d", row))
	}
	return append(turns, "/place B5", "/pass", "/pass")
}

func TestGameInChromium(t *testing.T) {
	browser := chromium(t)
	url := openWholeBot(t)
	p := openTab(t, browser, url)
	watcher := openTab(t, p.ctx, url)
	watcher.sit("onlooker")

	p.wait(`!document.querySelector('#guide').hidden`)
	p.sit("black")
	p.say("/new two-button 9x9")
	p.sees("Black to play")
	seats := []string{"black", "white"}
	for i, turn := range wholeGame() {
		p.sit(seats[i%2])
		p.say(turn)
		p.wait(`[...document.querySelectorAll('#log .text')].slice(-3).some((e) => e.textContent.includes('%d. '))`, i+1)
		switch i {
		case 1: // the wrong player, an occupied point, a point that is not there
			p.say("/place E5")
			p.told("turn")
			p.sit("black")
			p.say("/place D1")
			p.told("already a stone")
			p.say("/place I5")
			p.told("I5")
		}
	}
	p.sees("Play has stopped")
	p.sit("black")
	p.say("/dead B5 as:alive") // the bot has marked it
	p.sees("marks B5 as alive")
	p.say("/dead B5")
	p.sees("marks B5 dead")
	p.say("/accept")
	p.sees("@White, your turn: /accept it too")
	p.sit("white")
	p.say("/accept")
	p.sees("White wins by 5½")
	p.sees("35 to 29½")

	// The onlooker saw it all, and no refusal.
	watcher.sees("White wins by 5½")
	if n := get[int](watcher, `document.querySelectorAll('[data-private]').length`); n != 0 {
		t.Errorf("%d private messages reached somebody else", n)
	}
	if heard := get[string](watcher, `document.querySelector('#log').innerText`); strings.Contains(heard, "I5") {
		t.Error("a refused command reached somebody else")
	}
	if n := get[int](p, `document.querySelectorAll('[data-private]').length`); n != 3 {
		t.Errorf("%d private messages, want 3", n)
	}

	// Pictures are there, and say in words what they show.
	for _, p := range []*tab{p, watcher} {
		p.wait(`[...document.querySelectorAll('#log img')].at(-1).naturalWidth > 0`)
		alt := get[string](p, `[...document.querySelectorAll('#log img')].at(-1).alt`)
		if len(alt) < 100 || !strings.Contains(alt, "35") {
			t.Errorf("alt: %q", alt)
		}
		if words := get[string](p, `[...document.querySelectorAll('#log pre')].at(-1).textContent`); strings.Contains(alt, "\n") || !strings.HasPrefix(words, alt) || !strings.Contains(words, "9 . . . X") {
			t.Errorf("in words: %q, alt: %q", words, alt)
		}
	}

	// What came first comes first, and the board after the command.
	order := get[[]string](watcher, `[...document.querySelectorAll('#log .message .text')].slice(0, 5).map((e) => e.innerText.split('\n')[0])`)
	if len(order) < 5 || order[0] != "/new two-button 9x9" || !strings.HasPrefix(order[1], "Game 1 begins") || !strings.HasPrefix(order[2], "@Black to play, for example /place E5") ||
		order[3] != "/place D1" || !strings.Contains(order[4], "1. Black D1") {
		t.Errorf("transcript: %q", order)
	}

	// The page that comes back has the transcript, but not what was private.
	before := get[int](watcher, `document.querySelectorAll('#log .message').length`)
	p.do(chromedp.Reload())
	p.wait(`document.querySelector('#log')?.getAttribute('aria-busy') === 'false'`)
	p.sees("White wins by 5½")
	if after := get[int](p, `document.querySelectorAll('#log .message').length`); after != before {
		t.Errorf("%d messages after reload, %d before", after, before)
	}
	if got := get[string](p, `document.querySelector('#seat').value`); got != "white" {
		t.Errorf("the seat after reload is %s", got)
	}
	p.say("/sgf")
	p.told("SGF")
	record := get[string](p, `fetch(document.querySelector('a.file').href).then((r) => r.text())`)
	if record == "" {
		t.Error("no record")
	}
}

// Buttons live as long as what they are for; some ask for something first.
func TestControlsInChromium(t *testing.T) {
	tier.Change(t)
	var asked []bot.Request
	r := newRoom(newLog(t))
	url, _ := openTCP(t, r, private(&asked))
	p := openTab(t, chromium(t), url)
	if _, err := chromedp.Call(p.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"}); err != nil {
		t.Fatal(err)
	}
	n := 0
	deliver := func(kind, text string, controls ...match.Control) {
		t.Helper()
		n++
		q := outbox.Post{ID: fmt.Sprint("p", n), Where: here, Kind: kind, Game: "g1", Seq: n, Text: text, Controls: controls}
		if kind == match.Notice {
			q.File = &outbox.File{Name: "game-1.sgf", Type: "application/x-go-sgf", Data: []byte("(;)")}
		}
		if _, _, err := r.Deliver(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		p.wait(`document.querySelectorAll('#log .message[class*=bot]:not([data-private], .status)').length === %d`, n)
	}
	args := map[string]string{"game": "1", "seq": "1"}
	deliver(match.Show, "first board", match.Control{Label: "Place", Command: "place", Ask: "at", Args: args}, match.Control{Label: "Pass", Command: "pass", Args: args},
		match.Control{Label: "Dead", Command: "dead", Ask: "points", Args: args})
	deliver(match.Notice, "until \x031795528800000\x04Tue 24 Nov 14:00 UTC\x05.", match.Control{Label: "Accept", Command: "accept", Args: args})
	buttons := func(want ...string) {
		t.Helper()
		data, _ := json.Marshal(append([]string{}, want...))
		p.wait(`JSON.stringify([...document.querySelectorAll('#log .controls > button')].map((b) => b.textContent)) === %q`, data)
	}
	press := func(label string) {
		t.Helper()
		p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`[...document.querySelectorAll('#log button')].find((b) => b.textContent === %q).click()`, label)))
	}
	buttons("Place", "Pass", "Dead", "Accept")

	// An instant is in the reader's zone; the bot's words and its file are there.
	p.wait(`document.querySelector('#log .text time')?.dateTime === '2026-11-24T14:00:00Z'`)
	if got := get[string](p, `document.querySelector('#log .text').parentElement.parentElement.querySelector('.text time').innerText`); !strings.Contains(got, "11:00") || !strings.Contains(got, "GMT+9") {
		t.Errorf("in Tokyo it is %q", got)
	}
	if got := get[string](p, `document.querySelector('#log .text time').title`); got != "Tue 24 Nov 14:00 UTC" {
		t.Errorf("its title is %q", got)
	}
	if got := get[string](p, `fetch(document.querySelector('a.file').href).then((r) => r.text())`); got != "(;)" {
		t.Errorf("the file is %q", got)
	}

	// A point is typed.
	press("Place")
	p.wait(`document.querySelector('#message').value === '/place game:1 ' && document.activeElement.id === 'message'`)
	p.do(chromedp.KeyEvent("d4" + kb.Enter))
	p.told("done")
	// Chains are chosen; not choosing any is no answer.
	press("Dead")
	p.wait(`document.querySelectorAll('.pick input[type=checkbox]').length === 3 && document.activeElement.type === 'checkbox'`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.wait(`document.querySelector('#hint').textContent.includes('Choose')`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.wait(`!document.querySelector('.pick') && document.activeElement.textContent === 'Dead'`)
	press("Dead")
	p.wait(`document.querySelectorAll('.pick input').length === 3`)
	p.do(chromedp.KeyEvent(" " + kb.Tab + kb.Tab + " " + kb.Enter))
	p.sees("Dead: C3 E1")
	p.wait(`!document.querySelector('.pick') && !document.querySelector('#outbox').childElementCount`)
	if len(asked) != 2 || asked[0].Command != "place" || asked[0].Args["at"] != "d4" || asked[0].Args["game"] != "1" ||
		asked[1].Command != "dead" || asked[1].Args["points"] != "C3 E1" || asked[1].Args["seq"] != "1" || asked[1].Args["game"] != "1" {
		t.Errorf("asked %+v", asked)
	}

	// A notice ends the buttons of another, a board those of all.
	deliver(match.Notice, "second notice", match.Control{Label: "Decline", Command: "decline", Args: args})
	buttons("Place", "Pass", "Dead", "Decline")
	deliver(match.Show, "second board", match.Control{Label: "Undo", Command: "undo", Args: args})
	buttons("Undo")
	p.do(chromedp.Reload())
	p.wait(`document.querySelector('#log')?.getAttribute('aria-busy') === 'false'`)
	buttons("Undo")
	deliver(match.Show, "last board")
	buttons()

	// A reminder that is said again stands at the end, and once.
	first, _, err := r.Deliver(t.Context(), outbox.Post{ID: "first", Where: here, Kind: match.Status, Game: "g1", Text: "first reminder"})
	if err != nil {
		t.Fatal(err)
	}
	p.sees("first reminder")
	deliver(match.Notice, "in between")
	if _, _, err := r.Deliver(t.Context(), outbox.Post{ID: "again", Where: here, Kind: match.Status, Game: "g1", Text: "again", Replaces: string(first)}); err != nil {
		t.Fatal(err)
	}
	p.wait(`[...document.querySelectorAll('#log .text')].at(-1).textContent === 'again' && !document.querySelector('#log').innerText.includes('first reminder')`)
}

// Everything can be done without a mouse.
func TestKeyboardInChromium(t *testing.T) {
	tier.Change(t)
	browser := chromium(t)
	p := openTab(t, browser, openWholeBot(t))
	focused := func(want string) {
		t.Helper()
		p.wait(`document.activeElement.id === %q`, want)
	}
	keys := func(k string) { t.Helper(); p.do(chromedp.KeyEvent(k)) }
	listed := func(want ...string) {
		t.Helper()
		data, _ := json.Marshal(want)
		p.wait(`JSON.stringify([...document.querySelectorAll('#choices:not([hidden]) b')].map((b) => b.textContent)) === %q`, data)
	}
	value := func(want string) {
		t.Helper()
		p.wait(`document.querySelector('#message').value === %q`, want)
	}
	focused("message")

	// Completion: arrows and Enter, then Tab, then Escape; Enter sends.
	keys("/ne")
	listed("/new")
	keys(kb.ArrowDown)
	p.wait(`document.querySelector('#message').getAttribute('aria-activedescendant') === 'choice-0'`)
	p.wait(`document.querySelector('#choice-0').getAttribute('aria-selected') === 'true'`)
	keys(kb.Enter)
	value("/new ")
	keys("two-button-")
	listed("two-button-separate", "two-button-passes")
	keys(kb.Backspace)
	listed("two-button", "two-button-separate", "two-button-passes")
	keys(kb.Tab)
	value("/new two-button")
	keys(" 1")
	listed("13x13", "19x19")
	keys(kb.Escape)
	p.wait(`document.querySelector('#choices').hidden`)
	keys(kb.Backspace)
	listed("9x9", "13x13", "19x19")
	keys(kb.Tab)
	value("/new two-button 9x9")
	keys(kb.Enter)
	p.sees("Black to play")
	keys("/place e5")
	keys(kb.Enter)
	p.sees("White to play")

	// To the seats and back; the seat may follow the turn.
	for get[string](p, `document.activeElement.id`) != "follow" {
		p.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	keys(" ")
	p.wait(`document.querySelector('#seat').value === 'white'`)
	for get[string](p, `document.activeElement.id`) != "seat" {
		p.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	for get[string](p, `document.activeElement.id`) != "message" {
		keys(kb.Tab)
	}
	keys("/place C3")
	keys(kb.Enter)
	p.sees("2. White C3")
	p.wait(`document.querySelector('#seat').value === 'black'`)

	// What was sent comes back with the up key.
	value("")
	keys(kb.ArrowUp)
	value("/place C3")
	keys(kb.ArrowDown)
	value("")

	// Who presses a key before the suggestions are there has it done when they are.
	get[bool](p, `window.quick = window.fetch, window.fetch = async (...a) => { await new Promise((go) => window.go = go); return quick(...a); }, true`)
	for _, k := range []struct{ key, chosen, gives string }{{kb.ArrowDown, "choice-0", ""}, {kb.ArrowUp, "choice-1", ""}, {kb.Tab, "", "/compare "}} {
		keys("/com")
		p.wait(`!!window.go`)
		keys(k.key)
		get[bool](p, `window.go(), window.go = null, true`)
		if k.gives != "" {
			value(k.gives)
		} else {
			p.wait(`document.querySelector('#message').getAttribute('aria-activedescendant') === %q`, k.chosen)
		}
		get[bool](p, `document.querySelector('#message').value = '', document.querySelector('#message').blur(), document.querySelector('#message').focus(), true`)
	}
	get[bool](p, `window.fetch = window.quick, true`)

	// Buttons below a message, and the picture in full size.
	keys("/resign")
	keys(kb.Enter)
	p.told("Resign game 1?")
	for get[string](p, `document.activeElement.textContent`) != "Resign" {
		p.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	keys(kb.Enter)
	p.sees("is over: White wins")
	focused("message")
	for !get[bool](p, `!!document.activeElement.closest('#log')`) { // one stop, in which the arrow keys lead on
		p.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
	}
	for get[string](p, `document.activeElement.textContent`) != "Full size" {
		keys(kb.ArrowUp)
	}
	keys(kb.Enter)
	p.wait(`document.querySelector('dialog').open && document.querySelector('dialog img').naturalWidth === 1440`)
	keys(kb.Escape)
	p.wait(`!document.querySelector('dialog').open`)

	// Tab goes through the whole page and never stays.
	var path []string
	for range 60 {
		keys(kb.Tab)
		path = append(path, get[string](p, `document.activeElement.id || document.activeElement.tagName`))
	}
	for _, id := range []string{"scroll", "seat", "follow", "message", "guide-button"} {
		if !slices.Contains(path, id) {
			t.Errorf("Tab never comes to #%s: %q", id, path)
		}
	}
}

// The names and roles that assistive technology reads.
func TestAccessibilityInChromium(t *testing.T) {
	tier.Change(t)
	p := openTab(t, chromium(t), openWholeBot(t))
	p.say("/new two-button 9x9")
	p.sees("Black to play")
	p.wait(`!!document.querySelector('#log figure')`)
	for _, want := range []struct{ role, name string }{
		{"textbox", "Message"}, {"combobox", "Seat"}, {"log", "Messages"}, {"checkbox", "Change seat after each turn"},
		{"button", "Send"}, {"link", "Skip to the message box"}, {"button", "Full size"},
	} {
		tree, err := chromedp.Call(p.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, node := range tree.Nodes {
			if !node.Ignored && node.Role != nil && node.Name != nil &&
				string(node.Role.Value) == strconv.Quote(want.role) && string(node.Name.Value) == strconv.Quote(want.name) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d elements are a %s called %q", n, want.role, want.name)
		}
	}
	if lang := get[string](p, `document.documentElement.lang`); lang != "en" {
		t.Errorf("lang: %q", lang)
	}
	// A name of their own.
	p.sit("name")
	p.wait(`document.activeElement.id === 'name'`)
	p.do(chromedp.SendKeys(chromedp.CSS("#name"), `<b>Ada</b>`))
	p.say("<i>hello</i>")
	p.sees("<b>Ada</b>")
	p.sees("<i>hello</i>")
	if get[bool](p, `!!document.querySelector('#log i, #log b')`) {
		t.Error("what people write becomes markup")
	}
}

func TestNarrowAndDarkInChromium(t *testing.T) {
	tier.Change(t)
	p := openTab(t, chromium(t), openWholeBot(t))
	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateScale(2)))
	p.wait(`innerWidth === 360 && !document.querySelector('#guide').hidden`)
	p.narrow(360)
	// The examples of the guide fill the message box.
	p.do(chromedp.Click(chromedp.CSS(`.example`)))
	p.wait(`document.querySelector('#message').value === '/new two-button 9x9' && document.querySelector('#guide').hidden`)
	p.do(chromedp.SendKeys(chromedp.CSS("#message"), kb.Enter))
	p.sees("Black to play")
	p.say("/place E5")
	p.sees("1. Black E5") // or the board would come after what is told next
	p.say("/place E5")
	p.told("turn")
	p.say("/compare all:yes")
	p.wait(`document.querySelector('figure.chart img')?.naturalWidth > 0 && document.querySelector('figure.chart img').alt.includes('Area rules I: ')`)
	p.say(strings.Repeat("long", 200))
	p.sees("longlong") // which comes by another way than what is told next
	p.say("/help")
	p.told("/place")
	p.narrow(360)
	p.wait(`[...document.querySelectorAll('#log img')].every((i) => i.getBoundingClientRect().width > 300)`)
	p.wait(`[...document.querySelectorAll('#log img')].every((i) => i.currentSrc.includes('layout=portrait') && i.naturalHeight > i.naturalWidth)`)
	p.do(chromedp.SendKeys(chromedp.CSS("#message"), "/"))
	p.wait(`document.querySelectorAll('#choices li').length > 10`)
	p.narrow(360)

	light := get[string](p, `getComputedStyle(document.body).backgroundColor`)
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}); err != nil {
		t.Fatal(err)
	}
	p.wait(`getComputedStyle(document.body).backgroundColor !== %q`, light)
	p.wait(`[...document.querySelectorAll('#log img')].every((i) => i.currentSrc.includes('theme=slate') && i.naturalWidth > 0)`)
}

// The player to move places stones by pressing the board, in both layouts; others are
// told whose turn it is, and what they are typing stays.
func TestBoardInChromium(t *testing.T) {
	tier.Change(t)
	url := openWholeBot(t)
	p := openTab(t, chromium(t), url)
	p.do(chromedp.EmulateViewport(1366, 768))
	phone := openTab(t, p.ctx, url)
	phone.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateScale(2)))
	p.sit("black")
	phone.sit("white")
	p.say("/new two-button 9x9")
	newest := `[...document.querySelectorAll('#log figure')].at(-1)`
	// The middle of a point of the medium picture, in pixels of the page.
	middle := func(p *tab, at rules.Point, o render.Options) (x, y float64) {
		t.Helper()
		p.wait(`%s.querySelector('img').naturalWidth > 0`, newest)
		g, err := rules.New(&rules.TwoButton, rules.Setup{W: 9, H: 9})
		if err != nil {
			t.Fatal(err)
		}
		left, bottom, cell, err := render.Of(g, render.Names{}).Lines(o)
		if err != nil {
			t.Fatal(err)
		}
		width, _, _ := o.Bounds()
		box := get[[]float64](p, `(({left, top, width}) => [left, top, width])(`+newest+`.querySelector('img').getBoundingClientRect())`)
		scale := box[2] / float64(width)
		return box[0] + float64(left+int(at.X)*cell)*scale, box[1] + float64(bottom-int(at.Y)*cell)*scale
	}
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		t.Helper()
		e := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1}
		if _, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, e); err != nil {
			t.Fatal(err)
		}
	}
	p.sees("Black to play")
	x, y := middle(p, rules.Point{X: 2, Y: 6}, render.Options{})
	mouse(input.DispatchMouseEventTypeMouseMoved, x+5, y-5)
	p.wait(`document.querySelector('.ghost.black:not([hidden])')?.dataset.point === 'C7'`)
	mouse(input.DispatchMouseEventTypeMousePressed, x+5, y-5)
	mouse(input.DispatchMouseEventTypeMouseReleased, x+5, y-5)
	p.sees("1. Black C7")
	// It is not Black's turn.
	p.wait(`document.activeElement.id === 'message'`)
	p.do(chromedp.KeyEvent("hel"))
	x, y = middle(p, rules.Point{X: 4, Y: 4}, render.Options{})
	mouse(input.DispatchMouseEventTypeMousePressed, x, y)
	mouse(input.DispatchMouseEventTypeMouseReleased, x, y)
	p.wait(`document.querySelector('#hint').textContent === 'It is not your turn. White to play.' && !document.querySelector('dialog').open`)
	p.do(chromedp.KeyEvent("lo"))
	p.wait(`document.querySelector('#message').value === 'hello'`)
	p.sit("onlooker")
	mouse(input.DispatchMouseEventTypeMousePressed, x, y)
	mouse(input.DispatchMouseEventTypeMouseReleased, x, y)
	p.wait(`document.querySelector('#hint').textContent === 'You are watching. White to play.'`)
	p.sit("black")
	// An earlier board says that it is one. The picture is enlarged by its own button, and
	// who goes on typing there types into the message box.
	get[bool](p, `document.querySelector('#log figure img').click(), true`)
	p.wait(`document.querySelector('#hint').textContent.includes('earlier board') && !document.querySelector('dialog').open`)
	get[bool](p, newest+`.querySelector('figcaption button').click(), true`)
	p.wait(`document.querySelector('dialog').open`)
	p.do(chromedp.KeyEvent("!"))
	p.wait(`document.querySelector('#message').value === 'hello!' && !document.querySelector('dialog').open`)
	get[bool](p, newest+`.querySelector('figcaption button').click(), true`)
	p.wait(`document.querySelector('dialog').open`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.wait(`!document.querySelector('dialog').open`)
	get[bool](p, `document.querySelector('#message').value = '', true`)

	// A finger presses twice.
	phone.sees("1. Black C7")
	x, y = middle(phone, rules.Point{X: 8}, render.Options{Layout: "portrait"})
	tap := func() {
		t.Helper()
		for _, e := range []input.DispatchTouchEventParams{
			{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}}},
			{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
		} {
			if _, err := chromedp.Call(phone.ctx, input.DispatchTouchEvent, e); err != nil {
				t.Fatal(err)
			}
		}
	}
	tap()
	phone.wait(`document.querySelector('#hint').textContent.includes('Press J1 again')`)
	phone.wait(`document.querySelector('.ghost.white:not([hidden])')?.dataset.point === 'J1'`)
	tap()
	phone.sees("2. White J1")
	if n := get[int](phone, `document.querySelectorAll('.ghost:not([hidden]), dialog[open]').length`); n != 0 {
		t.Error("the mark or a dialog stays")
	}

	// When play has stopped, a press marks stones, and another takes the mark back.
	p.say("pass")
	phone.say("pass")
	phone.sees("Play has stopped")
	for _, as := range []string{"dead", "as alive"} {
		get[bool](phone, newest+`.scrollIntoView({block: 'end'}), true`)
		x, y = middle(phone, rules.Point{X: 8}, render.Options{Layout: "portrait"})
		tap()
		phone.sees("White marks J1 " + as)
	}
}

// A page that shows the newest board shows each new one, with its buttons, although a
// board is longer than a phone; one that has gone back to read stays there.
func TestFollowInChromium(t *testing.T) {
	tier.Change(t)
	url := openWholeBot(t)
	phone := openTab(t, chromium(t), url)
	phone.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateScale(2)))
	p := openTab(t, phone.ctx, url)
	phone.sit("white")
	p.sit("black")
	p.say("/new two-button 9x9")
	tabs := []*tab{p, phone}
	for i, turn := range []string{"E5", "C3", "G3", "pass"} {
		tabs[i%2].say(turn)
		phone.wait(`%s.innerText.includes('%d. ') && Math.abs(%[1]s.getBoundingClientRect().top - document.querySelector('#scroll').getBoundingClientRect().top) < 24`, lastMessage, i+1)
		phone.wait(`document.querySelector('#newest').hidden && [...%s.querySelectorAll('.controls button')].every((b) => b.getBoundingClientRect().bottom < document.querySelector('footer').getBoundingClientRect().top)`, lastMessage)
	}
	// On a laptop the whole message is seen.
	p.do(chromedp.EmulateViewport(1366, 768))
	p.wait(`%s.getBoundingClientRect().height < document.querySelector('#scroll').clientHeight`, lastMessage)

	// A phone that is turned stays at the newest board.
	for _, size := range [][2]int64{{740, 360}, {360, 740}, {390, 844}, {360, 740}} {
		phone.do(chromedp.EmulateViewport(size[0], size[1], chromedp.EmulateScale(2)))
		phone.wait(`innerWidth === %d && (%s.getBoundingClientRect().top - document.querySelector('#scroll').getBoundingClientRect().top < 24)`, size[0], lastMessage)
		phone.wait(`%s.getBoundingClientRect().bottom > 0 && document.querySelector('#newest').hidden`, lastMessage)
	}

	get[bool](phone, `document.querySelector('#scroll').scrollTop = 0, true`)
	p.say("C7")
	phone.sees("5. Black C7")
	phone.wait(`document.querySelector('#scroll').scrollTop === 0 && !document.querySelector('#newest').hidden`)
}

// A page that loses the room says so, and what was typed meanwhile arrives once
// when the room is back.
func TestRestartInChromium(t *testing.T) {
	tier.Change(t)
	l := newLog(t)
	tries := 0
	d := fakeService{ask: func(_ context.Context, r bot.Request) (outbox.Post, error) {
		if tries++; tries == 1 {
			return outbox.Post{}, errors.New("not now")
		}
		return outbox.Post{Text: r.ID}, nil
	}}
	browser := chromium(t)
	url, stop := openTCP(t, newRoom(l), d)
	p := openTab(t, browser, url)
	p.say("before")
	p.sees("before")
	stop()
	p.wait(`!document.querySelector('#line').hidden`)
	p.do(chromedp.SendKeys(chromedp.CSS("#message"), "meanwhile"+kb.Enter))
	p.do(chromedp.SendKeys(chromedp.CSS("#message"), "/board"+kb.Enter))
	p.wait(`document.querySelector('#outbox').innerText.includes('Trying again')`)
	openTCP(t, New(Config{Listen: strings.TrimPrefix(url, "http://"), Log: l}), d)
	p.sees("/board")
	p.sees("web:")
	p.wait(`document.querySelector('#line').hidden && !document.querySelector('#outbox').childElementCount`)
	if lines := said(t, l); len(lines) != 4 || lines[1] != "Black: meanwhile" || lines[2] != "Black: /board" {
		t.Errorf("transcript: %q", lines)
	}
	if n := get[int](p, `document.querySelectorAll('#log .message').length`); n != 4 {
		t.Errorf("%d messages are shown, want 4", n)
	}
}

// The page speaks the language that somebody has chosen: its frame, what it said before,
// and the room.
func TestLanguageInChromium(t *testing.T) {
	tier.Change(t)
	p := openTab(t, chromium(t), openWholeBot(t))
	p.say("/settings size:13x13")
	p.told("moderators")
	if got := get[string](p, `document.querySelector('#log a').getAttribute('href')`); got != "/owner" {
		t.Errorf("the refusal leads to %q", got)
	}
	for _, c := range []struct{ tag, send, dismiss, heading, refusal string }{
		{"de", "Senden", "Ausblenden", "So spielst du", "Darin steht"},
		{"ja", "送信", "隠す", "遊び方", "コマンド"},
		{"en", "Send", "Dismiss", "How to play", "slash"},
	} {
		p.say("/settings whose:mine language:" + c.tag)
		p.wait(`document.documentElement.lang === %q && document.querySelector('#form button[type=submit]').textContent === %q`, c.tag, c.send)
		p.wait(`document.querySelector('#log .quiet').textContent === %q && document.querySelector('#guide h2').textContent === %q`, c.dismiss, c.heading)
		if c.tag == "de" {
			p.narrow(1280)
			continue
		}
		p.say("/")
		p.told(c.refusal)
	}
	p.say("/settings whose:mine language:de")
	p.wait(`document.documentElement.lang === 'de'`)
	p.do(chromedp.EmulateViewport(360, 740))
	p.wait(`innerWidth === 360`)
	p.narrow(360)
	// It is Black's language, and the one after a reload.
	p.do(chromedp.Reload())
	p.wait(`document.querySelector('#log')?.getAttribute('aria-busy') === 'false' && document.documentElement.lang === 'de'`)
	p.sit("white")
	p.wait(`document.documentElement.lang === 'en' && document.querySelector('#form button[type=submit]').textContent === 'Send'`)
}

// The message box and the guide suggest what the person in a seat can do now. After the
// game its last board offers what can be done with it.
func TestSuggestedInChromium(t *testing.T) {
	tier.Change(t)
	p := openTab(t, chromium(t), openWholeBot(t))
	state := func(seat, placeholder string, examples ...string) {
		t.Helper()
		p.sit(seat)
		p.wait(`document.querySelector('#message').placeholder === %q`, placeholder)
		got := get[[]string](p, `[...document.querySelectorAll('.example[data-when]:not(:disabled)')].map((e) => e.textContent)`)
		if strings.Join(got, " ") != strings.Join(examples, " ") {
			t.Errorf("%s is offered %q, not %q", seat, got, examples)
		}
	}
	state("black", "/new two-button 9x9", "/new two-button 9x9")
	state("onlooker", "Write a message")
	p.sit("black")
	p.say("/new two-button 9x9")
	p.sees("Black to play")
	state("black", "E5, /pass, or a message", "E5", "/pass", "/score why:yes", "/compare")
	state("white", "Write a message", "/score why:yes", "/compare")
	state("onlooker", "Write a message", "/score why:yes", "/compare")
	p.sit("black")
	p.say("E5")
	p.sees("1. Black E5")
	state("black", "Write a message", "/undo", "/score why:yes", "/compare")
	state("white", "E6, /pass, or a message", "E6", "/pass", "/score why:yes", "/compare")
	p.say("play G3")
	p.sees("2. White G3")
	p.sit("black")
	p.say("E4")
	p.sees("3. Black E4")
	p.say("E6")
	p.told("That went to the chat. It is not your turn in game 1: it is White's.")
	p.sit("white")
	p.say("pass please")
	p.sees("4. White passes")
	p.sit("black")
	p.say("pass")
	p.sees("Play has stopped")
	p.wait(`document.querySelector('#message').placeholder === '/accept'`)
	p.wait(`%s.querySelector('.controls')?.textContent.includes('Accept')`, lastMessage) // below what is said about the board
	if got := get[[]string](p, `[...document.querySelectorAll('.example[data-when]:not(:disabled)')].map((e) => e.textContent)`); !slices.Contains(got, "/accept") || slices.Contains(got, "/pass") || slices.Contains(got, "E5") {
		t.Errorf("after play has stopped: %q", got)
	}
	if alt := get[string](p, `[...document.querySelectorAll('#log img')].at(-1).alt`); !strings.Contains(alt, "dead stones not agreed yet") {
		t.Errorf("alt: %q", alt)
	}
	p.say("/accept")
	p.sit("white")
	p.say("/accept")
	p.sees("is over")
	p.wait(`[...%s.querySelectorAll('.controls button')].map((b) => b.textContent).join() === 'Rematch,Replay,Compare rulesets,SGF,More…'`, lastMessage)
	state("white", "/new two-button 9x9", "/new two-button 9x9", "/score why:yes", "/compare")
	p.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('.controls button')][2].click()`))
	p.wait(`!!document.querySelector('figure.chart')`)
	press := func(label string) {
		t.Helper()
		p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`[...document.querySelectorAll('.controls button')].findLast((b) => b.textContent === %q).click()`, label)))
	}
	press("More…")
	p.told("What else do you want to do in game 1?")
	press("Comment on the game…") // which begins to type it
	p.wait(`document.querySelector('#message').value === '/comment game:1 '`)
}

// A slowLog shows what was said only when it is told to.
type slowLog struct {
	memory
	show chan struct{}
}

func (l slowLog) After(ctx context.Context, after int64, limit int) ([]outbox.Message, error) {
	select {
	case <-l.show:
		return l.memory.After(ctx, after, limit)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// What the room says to one person about their line stands below the line, even if the
// stream brings the line after the answer.
func TestLateLineInChromium(t *testing.T) {
	tier.Change(t)
	l := slowLog{newLog(t), make(chan struct{})}
	url, _ := openTCP(t, newRoom(l), fakeService{})
	p := openTab(t, chromium(t), url)
	p.sit("white")
	p.say("E5")
	p.told("It is not your turn.")
	p.say("D5")
	p.wait(`document.querySelectorAll('#log [data-private]').length === 2`)
	close(l.show)
	p.wait(`document.querySelectorAll('#log .message').length === 4`)
	got := get[[]string](p, `[...document.querySelectorAll('#log .message .text')].map((e) => e.textContent)`)
	if want := []string{"E5", "That went to the chat. It is not your turn.", "D5", "That went to the chat. It is not your turn."}; !slices.Equal(got, want) {
		t.Errorf("the transcript says %q, not %q", got, want)
	}
}

// After a turn the keyboard stays in the message box, and a screen reader hears the new
// board once: it is one element more, that is not written again. In the dark, all words
// have enough contrast.
func TestHeardAndSeenInChromium(t *testing.T) {
	tier.Change(t)
	p := openTab(t, chromium(t), openWholeBot(t))
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}, {Name: "prefers-reduced-motion", Value: "reduce"}}}); err != nil {
		t.Fatal(err)
	}
	p.say("/new two-button 9x9")
	p.sees("Black to play")
	get[bool](p, `window.heard = [], new MutationObserver((list) => { for (const r of list) for (const e of r.addedNodes) heard.push(...(e.querySelectorAll?.('img') ?? [])) })
		.observe(document.querySelector('#log'), {childList: true, subtree: true}), true`)
	for i, turn := range []string{"E5", "C3", "G3"} {
		p.sit([]string{"black", "white"}[i%2])
		p.say(turn)
		p.wait(`heard.length === %d && document.activeElement.id === 'message'`, i+1)
		if alt := get[string](p, `heard.at(-1).alt`); !strings.Contains(alt, turn) || strings.Contains(alt, "\n") {
			t.Errorf("heard %q", alt)
		}
	}
	p.say("/help")
	p.told("/place")
	p.say("/score why:yes")
	p.told("Share")
	p.do(chromedp.KeyEvent("/"))
	p.wait(`document.querySelectorAll('#choices li').length > 10`)
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	faint := get[[]string](p, `(() => {
		const rgb = (c) => { const [r, g, b, a = 1] = c.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
		const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
		const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
		const out = [];
		for (const e of document.querySelectorAll('body *')) {
			if (!e.checkVisibility() || e.closest('noscript, option') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
			const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
			const ratio = (a + .05) / (b + .05);
			if (ratio < 4.5) out.push(e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
		}
		return out;
	})()`)
	if len(faint) > 0 {
		t.Errorf("too little contrast: %q", faint)
	}
}
