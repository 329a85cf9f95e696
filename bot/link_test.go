package bot_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A guild is a channel that knows who may write in it.
type guild struct {
	*channel
	left string // the id of somebody who may not
	err  error
}

func (c *guild) Member(_ context.Context, who outbox.User, _ match.Room) (bool, error) {
	return who.ID != c.left, c.err
}

var secretIn = regexp.MustCompile(`https://go\.example/link#([a-z2-7]{32})\b`)

// links returns the secret of an address that somebody has asked for.
func (k *talk) links(t *testing.T, who string) (secret string) {
	t.Helper()
	a := k.ask(t, who, "/link")
	found := secretIn.FindStringSubmatch(bot.Fill(a.Text, bot.Format{}))
	if found == nil || !a.Private || !a.Secret {
		t.Fatalf("%s gets %+v", who, a)
	}
	return found[1]
}

// goesOn lets a browser open an address.
func (k *talk) goesOn(t *testing.T, secret, browser string) error {
	t.Helper()
	return k.bot.Report(t.Context(), bot.Continued{Secret: secret, Browser: bot.HashSecret(browser), Name: "Firefox"})
}

// is returns who a browser is; empty: nobody.
func (k *talk) is(t *testing.T, browser string) string {
	t.Helper()
	l, err := k.store.Link(t.Context(), bot.HashSecret(browser))
	if errors.Is(err, bot.ErrNotFound) {
		return ""
	}
	must(t, err)
	return l.Who.Name
}

// An address makes one browser the person who asked for it, who is told and can end it.
func TestLink(t *testing.T) {
	k, _ := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join")
	secret := k.links(t, "ada")
	l, err := k.store.Link(t.Context(), bot.HashSecret(secret))
	if err != nil || !l.Usable(k.now) || l.Who != person("ada") {
		t.Errorf("the address is of %+v, %v", l, err)
	}
	must(t, k.goesOn(t, secret, "cookie of firefox"))
	posts := k.posts(t)
	if len(posts) != 1 || !posts[0].Private || posts[0].Where != clubRoom || !slices.Equal(posts[0].Notify, []outbox.User{person("ada")}) ||
		!strings.HasPrefix(posts[0].Text, "Firefox is now you") || len(posts[0].Controls) != 1 {
		t.Fatalf("ada is told %+v", posts)
	}
	if got := k.is(t, "cookie of firefox"); got != "Ada" {
		t.Errorf("the browser is %q", got)
	}
	for name, secret := range map[string]string{"used": secret, "guessed": strings.Repeat("a", 32), "none": "", "the cookie of a browser": "cookie of firefox"} {
		if err := k.goesOn(t, secret, "cookie of chrome"); !errors.Is(err, bot.ErrNotFound) {
			t.Errorf("an address that was %s: %v", name, err)
		}
	}
	if got := k.press(t, "bob", posts[0].Controls[0]); !strings.HasPrefix(got.Text, "No such browser") || k.is(t, "cookie of firefox") == "" {
		t.Errorf("bob ends it: %s", got.Text)
	}
	if got := k.press(t, "ada", posts[0].Controls[0]); got.Text != "Firefox is signed out." || k.is(t, "cookie of firefox") != "" {
		t.Errorf("ada ends it: %s", got.Text)
	}
	must(t, k.goesOn(t, k.links(t, "ada"), "one"))
	must(t, k.goesOn(t, k.links(t, "ada"), "two"))
	must(t, k.goesOn(t, k.links(t, "bob"), "three"))
	all := k.ask(t, "ada", "/link")
	if !strings.Contains(all.Text, "2 browsers are you now") || len(all.Controls) != 1 {
		t.Fatalf("ada has %+v", all)
	}
	if got := k.press(t, "ada", all.Controls[0]); got.Text != "Firefox is signed out.\nFirefox is signed out." {
		t.Errorf("ada signs out: %s", got.Text)
	}
	if got := []string{k.is(t, "one"), k.is(t, "two"), k.is(t, "three")}; !slices.Equal(got, []string{"", "", "Bob"}) {
		t.Errorf("the browsers are %q", got)
	}
}

// Of addresses the newest counts, for ten minutes. A person is at most ten browsers.
func TestLinkEnds(t *testing.T) {
	k, _ := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join")
	first, second := k.links(t, "ada"), k.links(t, "ada")
	if err := k.goesOn(t, first, "one"); !errors.Is(err, bot.ErrNotFound) {
		t.Errorf("an address that another has replaced: %v", err)
	}
	k.now = k.now.Add(10 * time.Minute)
	if err := k.goesOn(t, second, "one"); !errors.Is(err, bot.ErrNotFound) {
		t.Errorf("after ten minutes: %v", err)
	}
	for i := range 11 {
		k.now = k.now.Add(time.Second)
		must(t, k.goesOn(t, k.links(t, "ada"), fmt.Sprint("browser ", i)))
	}
	if got := []string{k.is(t, "browser 0"), k.is(t, "browser 1"), k.is(t, "browser 10")}; !slices.Equal(got, []string{"", "Ada", "Ada"}) {
		t.Errorf("eleven browsers: %q", got)
	}
	last := k.links(t, "ada")
	k.lines(t, "ada> /privacy what:delete confirm:yes")
	if err := k.goesOn(t, last, "one"); !errors.Is(err, bot.ErrNotFound) || k.is(t, "browser 10") != "" {
		t.Errorf("after ada was forgotten: %v, %q", err, k.is(t, "browser 10"))
	}
}

// A repeated request gets the same address.
func TestLinkAskedTwice(t *testing.T) {
	k, _ := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join")
	r, err := k.request("ada", "/link")
	must(t, err)
	var answers [2]string
	for i := range answers {
		a, err := own(k.bot.Ask(t.Context(), r))
		must(t, err)
		answers[i] = a.Text
	}
	if answers[0] != answers[1] {
		t.Errorf("%q", answers)
	}
}

func TestLinkRefused(t *testing.T) {
	k := newTalk(t)
	if got := k.ask(t, "ada", "/link"); !strings.HasPrefix(got.Text, "I do not know my own address") || !got.Refused {
		t.Errorf("without an address: %+v", got)
	}
	// In the local room itself a path is enough.
	k.start(bot.Config{Pages: map[string]match.Pages{"web": match.LinkPages}})
	r, err := k.request("ada@web:local", "/link")
	must(t, err)
	r.Who.Platform, r.Who.ID = "web", "name:ada"
	if a, err := own(k.bot.Ask(t.Context(), r)); err != nil || !strings.Contains(bot.Fill(a.Text, bot.Format{}), ": /link#") {
		t.Errorf("in the local room: %+v, %v", a, err)
	}
	k.lines(t, "ada@web:local> /new aga 5x5", "bob@web:local> /join")
	if a := k.ask(t, "ada@web:local", "/page"); !strings.Contains(bot.Fill(a.Text, bot.Format{}), ": /g/") {
		t.Errorf("the page of a game there: %+v", a)
	}
	k.start(bot.Config{PublicURL: "https://go.example"})
	for id, want := range map[string]string{"seat:black": "Seats change hands", "onlooker": "Seats change hands", "name:ada": "Open this address"} {
		r, err := k.request("ada@web:local", "/link")
		must(t, err)
		r.Who.Platform, r.Who.ID = "web", id
		if a, err := own(k.bot.Ask(t.Context(), r)); err != nil || !strings.HasPrefix(a.Text, want) {
			t.Errorf("%s: %+v, %v", id, a, err)
		}
	}
}

// From a page somebody can do what the game asks of them, if they may write in its room at
// that moment, and nothing that a moderator may.
func TestElsewhere(t *testing.T) {
	k, m := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join")
	c := &guild{channel: k.channel}
	from := func(who, text string) (outbox.Post, []outbox.Post) {
		t.Helper()
		r, err := k.line(who, text)
		must(t, err)
		r.Elsewhere = true
		a, err := own(k.bot.Ask(t.Context(), r))
		must(t, err)
		return a, k.posts(t)
	}
	refused := func(who, text, want string) {
		t.Helper()
		if a, posts := from(who, text); !a.Refused || !strings.HasPrefix(a.Text, want) || posts != nil {
			t.Errorf("%s, %s: %+v, %+v; want %q", who, text, a, posts, want)
		}
	}
	refused("ada", "/place C3", "I cannot find out") // the platform does not know its members
	k.bot.Meet(c)
	if a, posts := from("ada", "/place C3"); a.Refused || len(posts) != 1 || posts[0].Kind != match.Show || posts[0].Where != clubRoom {
		t.Errorf("ada plays: %+v, %+v", a, posts)
	}
	c.left = "bob"
	refused("bob", "/place D4", "You can no longer write")
	c.left, c.err = "", errors.New("away")
	refused("bob", "/place D4", "I cannot find out")
	c.err = nil
	for _, text := range []string{"/settings size:13x13", "/new aga 9x9", "/score", "/privacy what:delete confirm:yes", "/link", "/rematch", "/games"} {
		refused("owner", text, "That cannot be done on the page")
	}
	refused("eve", "/place D4", "You are watching")
	refused("mod", "/adjudicate void", "Only moderators")
	if _, posts := from("bob", "/place D4"); len(posts) != 1 {
		t.Errorf("bob plays: %+v", posts)
	}
	if now, err := k.store.Header(t.Context(), m.ID); err != nil || now.Seq != m.Seq+2 {
		t.Errorf("the game is at event %d, %v", now.Seq, err)
	}
}

// A page lists the other games of somebody, first those that wait for them.
func TestViewMine(t *testing.T) {
	k, _ := paged(t, match.LinkPages, "ada> /new aga 5x5", "bob> /join", // game 1 waits for ada
		"bob> /new aga 7x7", "ada> /join", // 2 for bob
		"ada@hall> /new two-button 9x9", "eve@hall> /join", // game 1 there for ada
		"mod@attic> /settings pages:off", "ada@attic> /new aga 5x5", "bob@attic> /join")
	m := k.matches(t, bot.Query{Where: clubRoom, Number: 1})[0]
	mine := func(who string) (out []string) {
		for _, g := range k.view(t, bot.Viewing{Slug: m.Page, By: person(who)}).Mine {
			out = append(out, fmt.Sprint(g.Text, " ", g.Waits))
			if v := k.view(t, bot.Viewing{Slug: strings.TrimPrefix(g.Path, "/g/")}); v.Match.ID != g.Match.ID {
				t.Errorf("%s leads to %+v", g.Path, v.Match)
			}
		}
		return out
	}
	if got, want := mine("ada"), []string{"Game 1: Two Button Go 9×9, Ada – Eve true", "Game 2: AGA 7×7, Bob – Ada false"}; !slices.Equal(got, want) {
		t.Errorf("ada's: %q, want %q", got, want)
	}
	if got, want := mine("bob"), []string{"Game 2: AGA 7×7, Bob – Ada true"}; !slices.Equal(got, want) {
		t.Errorf("bob's: %q, want %q", got, want)
	}
	if got := mine("joe"); got != nil {
		t.Errorf("joe's: %q", got)
	}
}
