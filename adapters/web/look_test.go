package web

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// chooseLook submits the form of a page, and returns what answers it.
func chooseLook(t *testing.T, page string, form url.Values, headers ...string) *http.Response {
	t.Helper()
	resp, _ := do(t, "POST", page+"/look", form.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
	if resp.Request.Response == nil {
		t.Fatalf("%s leads nowhere: %s", form.Encode(), resp.Status)
	}
	return resp.Request.Response
}

var selected = regexp.MustCompile(`<option value="([^"]*)" selected>`)

// Anybody chooses how they see the pages of games. The browser keeps it, and nothing that is
// not there to be chosen.
func TestLook(t *testing.T) {
	room := open(t, newRoom(newLog(t)), library{view: players.view})
	look := func(cookie string) (class, lang string, chosen []string) {
		t.Helper()
		_, body := do(t, "GET", room+"/g/abc/3", "", "Cookie", cookie)
		for _, m := range selected.FindAllStringSubmatch(body, -1) {
			chosen = append(chosen, m[1])
		}
		class = regexp.MustCompile(`<main class="([^"]*)"`).FindStringSubmatch(body)[1]
		if strings.Contains(body, "一") {
			class += " 一"
		}
		return class, regexp.MustCompile(`<html lang="([^"]*)"`).FindStringSubmatch(body)[1], chosen
	}
	for _, c := range []struct{ form, class, lang, chosen string }{
		{"", "game board-auto", "en", "default default default"},
		{"theme=contrast&coordinates=kanji&language=de", "game board-contrast 一", "de", "contrast kanji de"},
		{"theme=slate&coordinates=default&language=default", "game board-slate", "en", "slate default default"},
		{"theme=%22onload%3D&coordinates=hex&language=tlh", "game board-auto", "en", "default default default"},
		{"other=1", "game board-auto", "en", "default default default"},
	} {
		form, _ := url.ParseQuery(c.form)
		form.Set("back", "/g/abc/3?as=aga")
		resp := chooseLook(t, room+"/g/abc", form)
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/g/abc/3?as=aga" {
			t.Fatalf("%s: %s to %s", c.form, resp.Status, resp.Header.Get("Location"))
		}
		set := resp.Header.Get("Set-Cookie")
		for _, want := range []string{lookCookie + "=", "Path=/", "HttpOnly", "SameSite=Lax"} {
			if !strings.Contains(set, want) {
				t.Errorf("%s: the cookie is %s", c.form, set)
			}
		}
		cookie, _, _ := strings.Cut(set, ";")
		if class, lang, chosen := look(cookie); class != c.class || lang != c.lang || strings.Join(chosen, " ") != c.chosen {
			t.Errorf("%s: the page is %q in %s, with %q chosen", c.form, class, lang, chosen)
		}
	}
	for _, cookie := range []string{lookCookie + "=%zz", lookCookie + "=theme%3Dcontrast", lookCookie + "=theme=contrast&x=" + strings.Repeat("x", 200)} {
		if class, lang, _ := look(cookie); class != "game board-auto" || lang != "en" {
			t.Errorf("%.40s: the page is %q in %s", cookie, class, lang)
		}
	}
	for _, back := range []string{"", "//evil.example", "https://evil.example/g/abc", "/g/abcd", "/g/abc\\evil", "/owner", "/g/abc\r\nX: y", "/g/"} {
		if to := chooseLook(t, room+"/g/abc", url.Values{"back": {back}}).Header.Get("Location"); to != "/g/abc" {
			t.Errorf("%q leads to %q", back, to)
		}
	}
	if resp, _ := do(t, "POST", room+"/g/abc/look", "theme=contrast", "Content-Type", "application/x-www-form-urlencoded", "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"); resp.StatusCode != http.StatusForbidden {
		t.Errorf("from another page: %s", resp.Status)
	}
}

// What somebody chooses on the page of their game is their setting, in every browser and for
// all that the bot tells them.
func TestLookOfAPlayer(t *testing.T) {
	st := openStore(t, store.Memory)
	r := newRoom(st)
	b := withPages(st)
	room, _ := inMemory(t, r, func(ctx context.Context) error { return b.Run(ctx, r) })
	seat := browserFor("black")
	post(t, room, submission{ID: id(1), Seat: "black", Text: "/new aga 5x5"}, seat)
	page := room + pathOf(t, st)
	choose := func(form string, cookies string) {
		t.Helper()
		values, _ := url.ParseQuery(form)
		if resp := chooseLook(t, page, values, "Cookie", cookies); resp.StatusCode != http.StatusSeeOther {
			t.Fatal(resp.Status)
		}
	}
	body := func(cookies string) string {
		t.Helper()
		_, body := do(t, "GET", page, "", "Cookie", cookies)
		return body
	}
	choose("theme=contrast&language=ja", seat.String())
	known, err := st.Known(t.Context(), black, request(black).Where, "")
	if err != nil || known.Prefs.Theme != "contrast" || known.Prefs.Lang != "ja" {
		t.Fatalf("%+v, %v", known.Prefs, err)
	}
	if got := body(seat.String()); !strings.Contains(got, `class="game board-contrast playing"`) || !strings.Contains(got, `<html lang="ja"`) || !strings.Contains(got, "黒") {
		t.Errorf("without the cookie the page of Black is\n%.600s", got)
	}
	if got := body(browserFor("white").String()); !strings.Contains(got, `class="game board-auto`) || !strings.Contains(got, `<html lang="en"`) {
		t.Errorf("the page of others is\n%.600s", got)
	}
	post(t, room, submission{ID: id(2), Seat: "black", Text: "/settings whose:mine theme:book"}, seat)
	if got := body(seat.String() + "; " + lookCookie + "=theme=contrast"); !strings.Contains(got, `class="game board-book playing"`) {
		t.Errorf("after the setting the page is\n%.600s", got)
	}
	if _, got := do(t, "GET", page+"?seat=black", "", "Cookie", seat.String()); !strings.Contains(got, `/look?seat=black">`) || !strings.Contains(got, `name="back" value="/">`) {
		t.Errorf("in the room the form is not one of the room:\n%s", got)
	}
	if resp := chooseLook(t, page, url.Values{"back": {"/"}, "theme": {"slate"}}, "Cookie", seat.String()); resp.Header.Get("Location") != "/" {
		t.Errorf("it leads to %s", resp.Header.Get("Location"))
	}
	choose("theme=default&language=default", seat.String())
	if known, _ = st.Known(t.Context(), black, request(black).Where, ""); known.Prefs.Theme != "" || known.Prefs.Lang != "" {
		t.Errorf("afterwards %+v", known.Prefs)
	}
}

// All that can be chosen has words in every language.
func TestLookWords(t *testing.T) {
	for _, o := range lookOptions {
		english := lookChoices(o.name, bot.Languages()[0])
		if !slices.ContainsFunc(english, func(c bot.Choice) bool { return c.Value == noLook }) {
			t.Errorf("%s cannot be taken back", o.name)
		}
		for _, l := range bot.Languages()[1:] {
			if bot.Translated(l, o.label) == o.label {
				t.Errorf("%s: %q is not translated", l, o.label)
			}
		}
	}
}
