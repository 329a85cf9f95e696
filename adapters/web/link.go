package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Somebody of a chat platform, or with a name of this room, is that person in this browser,
// too, after they have opened the address that /link gave them. The address has its secret in
// the fragment, which browsers send nowhere; the page reads it and takes it out of the address
// bar. Nothing that the browser sent makes it that person: it gets a cookie with a new secret.

// linkedCookie holds the secret of a browser that is somebody by a link.
const linkedCookie = "halfpoint-linked"

// linkedSeat is how the page of a game names the person whom its browser is by a link.
const linkedSeat = "linked"

// linkedSecret returns the secret by which a browser may be somebody; empty: it has none.
func linkedSecret(r *http.Request) string {
	if cookie, err := r.Cookie(linkedCookie); err == nil {
		return cookie.Value
	}
	return ""
}

// linked returns whom the browser of a request is by a link; zero: nobody.
func (s *server) linked(r *http.Request) (outbox.User, error) {
	secret := linkedSecret(r)
	if secret == "" {
		return outbox.User{}, nil
	}
	l, err := s.cfg.Log.Link(r.Context(), bot.HashSecret(secret))
	if errors.Is(err, bot.ErrNotFound) || err == nil && l.Name == "" { // that of an address, which is no browser's
		return outbox.User{}, nil
	}
	return l.Who, err
}

// holderOf returns by which browser a request acts as somebody in the room: its own, or for
// the name that it is by a link that of the name's holder.
func (s *server) holderOf(r *http.Request, id string) (string, error) {
	own := browserOf(r)
	who, err := s.linked(r)
	if err != nil || who.Platform != platform || who.ID != id {
		return own, err
	}
	h, err := s.cfg.Log.Holder(r.Context(), platform, id)
	if errors.Is(err, bot.ErrNotFound) {
		return own, nil
	}
	return cmp.Or(h.Secret, own), err
}

// same reports whether two users are one, whatever they are called.
func same(a, b outbox.User) bool { return a.Platform == b.Platform && a.ID == b.ID }

// A linkView is the data of the page of links.
type linkView struct {
	head
	Who    string // the name of the person whom the browser is linked to; empty: none
	Mine   []bot.Mine
	Events []bot.MyEvent
}

// linkPage shows who the browser is, and has a script that reads the fragment of the address.
func (s *server) linkPage(w http.ResponseWriter, r *http.Request) {
	lang := pageLanguage(browserLanguage(r))
	who, err := s.linked(r)
	v := linkView{head: head{Lang: lang, Title: bot.Translated(lang, wordLinkPage)}}
	if err == nil && who.ID != "" {
		v.Who = bot.CleanName(who.Name)
		var all bot.View
		all, err = s.service.View(r.Context(), bot.Viewing{By: who, Lang: lang})
		v.Mine, v.Events = all.Mine, all.MyEvents
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.write(w, http.StatusOK, "link.html", false, v)
}

// A linking is what the page of links sends.
type linking struct {
	Secret string `json:"secret"` // from its address
	Look   bool   `json:"look"`   // only say whose it is
}

// A linkable is what it gets.
type linkable struct {
	Go   string `json:"go,omitempty"`   // "Continue as Ben"
	Name string `json:"name,omitempty"` // the name of this room that the browser has from now on
	To   string `json:"to,omitempty"`   // where to go from here
}

// link says whose an address is, or makes the browser that person. It says the same of an
// address that was used, is too old, or was never given.
func (s *server) link(w http.ResponseWriter, r *http.Request) {
	lang := browserLanguage(r)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "Only application/json is taken here.", http.StatusUnsupportedMediaType)
		return
	}
	if wait, others := s.afford(r, clientOf(r)); wait > 0 {
		slowDown(w, lang, wait, others)
		return
	}
	var in linking
	if err := s.readBody(w, func() error { return json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in) }); err != nil {
		http.Error(w, "That cannot be read.", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), askTime) // a page that is gone must not lose half of it
	defer cancel()
	l, err := s.cfg.Log.Link(ctx, bot.HashSecret(in.Secret))
	if err == nil && !l.Usable(s.cfg.Now()) {
		err = bot.ErrNotFound
	}
	var out linkable
	if err == nil && in.Look {
		out.Go = bot.Translated(lang, wordContinue, bot.CleanName(l.Who.Name))
	} else if err == nil {
		out, err = s.become(ctx, w, r, in.Secret, l.Who)
	}
	switch {
	case errors.Is(err, bot.ErrNotFound):
		http.Error(w, bot.Translated(lang, wordLinkUsed), http.StatusNotFound)
	case err != nil:
		s.log.Error("linking a browser failed", "error", err)
		http.Error(w, bot.Translated(lang, wordFailed), http.StatusServiceUnavailable)
	default:
		reply(w, out)
	}
}

// become spends an address, and makes the browser of a request that person and nobody else.
func (s *server) become(ctx context.Context, w http.ResponseWriter, r *http.Request, secret string, who outbox.User) (out linkable, err error) {
	fresh := rand.Text()
	if err := s.service.Report(ctx, bot.Continued{Secret: secret, Browser: bot.HashSecret(fresh), Name: browserName(r.UserAgent())}); err != nil {
		return out, err
	}
	if before := linkedSecret(r); before != "" {
		if err := s.cfg.Log.Unlink(ctx, bot.HashSecret(before)); err != nil {
			s.log.Warn("a browser that is somebody else now stays linked to the person before", "error", err)
		}
	}
	http.SetCookie(w, s.linkedCookie(r, fresh))
	if who.Platform == platform {
		return linkable{Name: who.Name, To: "/"}, nil
	}
	return linkable{To: "/link"}, nil
}

// linkedCookie makes the cookie with the secret of a linked browser; an empty one takes it away.
func (s *server) linkedCookie(r *http.Request, secret string) *http.Cookie {
	// Not Strict: a browser that follows a link to a game would be nobody there.
	c := &http.Cookie{Name: linkedCookie, Value: secret, Path: "/", HttpOnly: true, Secure: secure(r), SameSite: http.SameSiteLaxMode, MaxAge: int(cookieYears / time.Second)}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

var pagePath = regexp.MustCompile(`^/g/[a-z0-9]+$`)

// signOut makes the browser nobody again, and leads back to the game.
func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := s.readBody(w, r.ParseForm); err != nil {
		http.Error(w, "That cannot be read.", http.StatusBadRequest)
		return
	}
	if secret := linkedSecret(r); secret != "" {
		if err := s.cfg.Log.Unlink(r.Context(), bot.HashSecret(secret)); err != nil {
			s.failed(w, r, err)
			return
		}
	}
	http.SetCookie(w, s.linkedCookie(r, ""))
	back := r.PostFormValue("back")
	if !pagePath.MatchString(back) {
		back = "/link"
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// browserName returns what a browser is called, as its User-Agent says: "Firefox (Windows)".
func browserName(agent string) string {
	find := func(names ...string) string {
		for _, name := range names {
			sign, name, _ := strings.Cut(name, "=")
			if strings.Contains(agent, sign) {
				return cmp.Or(name, sign)
			}
		}
		return ""
	}
	// Browsers name those that they are like, too.
	name := find("Edg=Edge", "OPR=Opera", "SamsungBrowser=Samsung Internet", "Firefox", "FxiOS=Firefox", "Chrome", "CriOS=Chrome", "Safari")
	on := find("Android", "iPhone", "iPad", "Windows", "CrOS=ChromeOS", "Mac OS X=macOS", "Linux")
	switch {
	case name == "":
		return "Browser"
	case on == "":
		return name
	}
	return name + " (" + on + ")"
}

// submitLinked carries out what somebody submits on the page of a game of another platform.
func (s *server) submitLinked(ctx context.Context, sub submission) (answer, error) {
	lang := func(english string, args ...string) answer {
		return s.refusal(bot.Translated(sub.lang, english, args...))
	}
	if sub.linked.ID == "" {
		return lang(wordSignedOut), nil
	}
	key := sub.linked.Platform + " " + sub.linked.ID // however many browsers they have
	if wait := s.limits.requests.browser.Spend(key, 1, s.cfg.Now()); wait > 0 {
		return lang(wordFast, strconv.Itoa(seconds(wait))), nil
	}
	pressed := bot.Current(match.Control{Command: sub.Command, Args: sub.Args})
	v, err := s.service.View(ctx, bot.Viewing{Slug: sub.Page, Watch: true})
	switch {
	case errors.Is(err, bot.ErrNotFound):
		return lang(wordNoPage), nil
	case err != nil:
		return answer{}, err
	case v.Match.Where.Platform != sub.linked.Platform || sub.linked.Platform == platform:
		return lang(wordSignedOut), nil
	}
	req := bot.Request{ID: platform + ":" + sub.ID, Who: sub.linked, Where: v.Match.Where, Lang: sub.lang, Command: pressed.Command, Args: map[string]string{}, Elsewhere: true}
	maps.Copy(req.Args, pressed.Args)
	req.Args["game"] = strconv.Itoa(v.Match.Number)
	all, err := s.service.Ask(ctx, req)
	got := all.Own()
	if err != nil || !got.Private {
		return answer{}, err
	}
	line := s.line(got)
	line.Room, line.Texts, line.Text = privateRoom(sub.linked), nil, got.Text
	m := s.show(ctx, line, nil)
	return answer{Private: true, Message: &m}, nil
}
