package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Somebody follows a pasted link to a game, from another machine and without scripts: steps
// through it, and has the position counted by another ruleset, with the form of the page.
func TestPagesInChromium(t *testing.T) {
	tier.Change(t)
	for _, host := range []string{"127.0.0.1", otherAddress(t)} {
		if host == "" {
			t.Log("this machine has no address that is not loopback")
			continue
		}
		url, _ := openTCP(t, New(Config{Listen: "0.0.0.0:0", Log: newLog(t), OwnerToken: ownerToken}), library{view: players.view})
		url = strings.Replace(url, "127.0.0.1", host, 1)
		p := blankTab(t, chromium(t))
		if _, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
			t.Fatal(err)
		}
		at := func(path string) {
			t.Helper()
			action, compared := strings.CutSuffix(path, "?as=aga") // the page before has another form
			p.do(chromedp.WaitVisible(chromedp.CSS(fmt.Sprintf("%s form[action='%s']", map[bool]string{true: "main.compared", false: "main:not(.compared)"}[compared], action))))
			if got := get[string](p, `location.href`); got != url+path {
				t.Errorf("the page is %s, want %s", got, path)
			}
			if failed := get[[]string](p, `Promise.all([...document.images].map((i) => i.decode().then(() => '', () => i.src))).then((all) => all.filter((a) => a))`); len(failed) > 0 {
				t.Errorf("%s shows no %v", path, failed)
			}
		}
		p.do(chromedp.Navigate(`data:text/html,<a href="`+url+`/g/abc">a game</a>`), chromedp.Click(chromedp.CSS("a")))
		at("/g/abc")
		p.do(chromedp.Click(chromedp.CSS("[rel=prev]")))
		at("/g/abc/3")
		p.do(chromedp.Click(chromedp.CSS("[rel=next]")))
		at("/g/abc/6")
		p.do(chromedp.SetAttributeValue(chromedp.CSS("option"), "value", "aga"), chromedp.Click(chromedp.CSS("form button")))
		at("/g/abc/6?as=aga")
		if get[int](p, `document.querySelectorAll('figure').length`) != 2 {
			t.Error("the count of the other ruleset has no board")
		}
	}
}

// The pages fit every screen, their boards are those of the colour scheme, and axe finds
// nothing to complain about.
func TestPagesAreAccessible(t *testing.T) {
	tier.Change(t)
	event := newLeague(t, match.PublicPages)
	event.play(t)
	r := New(Config{Listen: "127.0.0.1:0", Log: event.st, OwnerToken: ownerToken})
	url, _ := openTCP(t, r, library{view: func(v bot.Viewing) (bot.View, error) {
		if v.Slug == "abc" || v.Slug == "nope" {
			return players.view(v)
		}
		return event.View(context.WithoutCancel(t.Context()), v)
	}})
	p := blankTab(t, chromium(t))
	for _, scheme := range []string{"light", "dark"} {
		p.prefers(scheme)
		for _, path := range []string{"/g/abc", "/g/abc/1", "/g/abc/4", "/g/abc/6?as=aga", "/g/abc/3?as=ultimate", "/g/nope", "/owner", "/link", "/records", "/e/new", event.path} {
			for _, size := range [][2]int64{{360, 640}, {768, 1024}, {1366, 625}, {1920, 1080}} {
				p.do(chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(url+path))
				if got := get[int64](p, `document.documentElement.scrollWidth`); got > size[0] {
					t.Errorf("%s is %d pixels wide on a screen of %d", path, got, size[0])
				}
				for _, fill := range get[[]string](p, `[...document.querySelectorAll('.board > rect')].map((r) => getComputedStyle(r).fill)`) {
					if dark := fill == "rgb(95, 105, 115)"; dark != (scheme == "dark") {
						t.Errorf("%s has a board of %s in %s", path, fill, scheme)
					}
				}
				p.shoot(fmt.Sprintf("%s-%d-%s", strings.NewReplacer("/", "-", "?", "-").Replace(path), size[0], scheme))
			}
			get[bool](p, `document.querySelectorAll('details').forEach((d) => d.open = true), document.querySelector('[popover]')?.showPopover(), true`)
			p.audit(path + " in " + scheme)
			if path == "/g/abc" { // and with the theme of those who need more contrast
				get[bool](p, `document.querySelectorAll('.board-auto').forEach((e) => e.classList.replace('board-auto', 'board-contrast')), true`)
				p.audit(path + " in contrast and " + scheme)
				p.shoot("contrast-" + scheme)
			}
		}
	}
}

// The board of 19×19 is as large as the screen lets it be: so many pixels a point, and it is
// seen whole.
func TestBoardFillsTheScreenInChromium(t *testing.T) {
	tier.Change(t)
	st, _, b, url := openPages(t)
	who, _ := userOf("name:Wolfeschlegelsteinhausenbergerdorff")
	req := request(who)
	req.ID, req.Command, req.Args = id(1), "new", map[string]string{"rules": "two-button", "size": "19x19", "opponent": "me"}
	if a, err := b.Ask(t.Context(), req); err != nil || !a.Public {
		t.Fatal(a, err)
	}
	p := blankTab(t, chromium(t))
	p.do(chromedp.Navigate(url + pathOf(t, st)))
	for _, screen := range screens {
		p.do(chromedp.EmulateViewport(screen.width, screen.height))
		box := get[[]float64](p, `(() => { const x = (at) => document.querySelector(`+"`[data-point=${at}]`"+`).getBoundingClientRect().x, b = document.querySelector('.board').getBoundingClientRect()
			return [(x('T1') - x('A1')) / 18, b.x, b.y, b.right, b.bottom, document.documentElement.scrollWidth] })()`)
		if box[0] < screen.point || box[1] < 0 || box[2] < 0 || box[3] > float64(screen.width) || box[4] > float64(screen.height) || box[5] > float64(screen.width) {
			t.Errorf("%d×%d: %.1f pixels a point, want %v; the board and the width of the page: %v", screen.width, screen.height, box[0], screen.point, box[1:])
		}
	}
}

var axeFolder = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("halfpoint-axe-%d", os.Getuid()))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile("testdata/axe/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	npm.Dir, npm.WaitDelay = folder, time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return folder, nil
})

// axeCore installs axe-core, and returns its script.
func axeCore(t *testing.T) string {
	t.Helper()
	folder, err := axeFolder()
	if err != nil {
		tier.Missing(t, "there is no axe-core: "+err.Error())
	}
	return filepath.Join(folder, "node_modules", "axe-core", "axe.min.js")
}
