package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Readers choose how they see the pages of games. A browser keeps the choice in a cookie,
// so that it holds without JavaScript, too. Whoever plays in the game also changes their
// settings, which count before those of the browser.

// lookCookie holds what a browser has chosen, as a query: "theme=contrast&language=de".
const lookCookie = "halfpoint-look"

// lookOptions are what readers choose: options of /settings, with what the page calls them.
var lookOptions = []struct{ name, label string }{{"theme", "Board"}, {"coordinates", "Coordinates"}, {"language", "Language"}}

// noLook is the value of an option that takes a choice back.
const noLook = "default"

// A look is what a browser has chosen, by option; without those that it has not.
type look map[string]string

// lookOf returns what the browser of a request has chosen.
func lookOf(r *http.Request) look {
	if cookie, err := r.Cookie(lookCookie); err == nil && len(cookie.Value) < 200 {
		if values, err := url.ParseQuery(cookie.Value); err == nil {
			return chosenLook(values)
		}
	}
	return look{}
}

// chosenLook returns those of some values that can be chosen.
func chosenLook(values url.Values) look {
	chosen := look{}
	for _, o := range lookOptions {
		value := values.Get(o.name)
		if value != noLook && slices.ContainsFunc(lookChoices(o.name, ""), func(c bot.Choice) bool { return c.Value == value }) {
			chosen[o.name] = value
		}
	}
	return chosen
}

// lookChoices returns what can be chosen for an option, in a language.
func lookChoices(option, lang string) []bot.Choice {
	settings, _ := bot.FindCommand("settings")
	for _, o := range settings.Options {
		if o.Name == option {
			return o.In(lang).Choices
		}
	}
	return nil
}

// A lookField is an option of the form in which readers choose.
type lookField struct {
	Name, Label string
	Choices     []ruling
}

// lookForm returns the form in which a reader chooses how they see the page of a view, set
// to what they have chosen.
func lookForm(v bot.View, chosen look) (fields []lookField) {
	for _, o := range lookOptions {
		f := lookField{Name: o.name, Label: bot.Translated(v.Lang, o.label)}
		value := cmp.Or(chosen[o.name], noLook)
		for _, c := range lookChoices(o.name, v.Lang) {
			f.Choices = append(f.Choices, ruling{c, c.Value == value})
		}
		fields = append(fields, f)
	}
	return fields
}

// looks returns what the reader of a view has chosen: as a person, or else in their browser.
func looks(r *http.Request, v bot.View) look {
	chosen := lookOf(r)
	for option, value := range map[string]string{"theme": v.Own.Theme, "coordinates": v.Own.Coords, "language": v.Own.Lang} {
		if value != "" {
			chosen[option] = value
		}
	}
	return chosen
}

// chooseLook stores what a reader chooses on the page of a game, and leads back to it.
func (s *server) chooseLook(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	if err := s.readBody(w, r.ParseForm); err != nil {
		http.Error(w, "That cannot be read.", http.StatusBadRequest)
		return
	}
	linked, err := s.linked(r)
	var who outbox.User
	if err == nil {
		_, who, _, err = s.player(r, linked)
	}
	if err == nil && who.ID != "" && who.Platform == platform { // others have their settings elsewhere
		req := request(who)
		req.ID, req.Command, req.Args, req.Shows = platform+":look:"+rand.Text(), "settings", map[string]string{"whose": "mine"}, true
		for _, o := range lookOptions {
			req.Args[o.name] = cmp.Or(chosenLook(r.PostForm)[o.name], noLook)
		}
		_, err = s.service.Ask(context.WithoutCancel(r.Context()), req)
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	values := url.Values{}
	for option, value := range chosenLook(r.PostForm) {
		values.Set(option, value)
	}
	http.SetCookie(w, &http.Cookie{Name: lookCookie, Value: values.Encode(), Path: "/", HttpOnly: true, Secure: secure(r),
		SameSite: http.SameSiteLaxMode, MaxAge: int(cookieYears / time.Second)})
	back := r.PostForm.Get("back") // the room, or of this game; a page elsewhere must not lead its readers away from here
	if rest, ok := strings.CutPrefix(back, gamePath(r)); back != "/" && (!ok || rest != "" && rest[0] != '/' && rest[0] != '?' || strings.ContainsAny(rest, "\\\r\n")) {
		back = gamePath(r)
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}
