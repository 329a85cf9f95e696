package rooms

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// An Asker wants to see settings, or to change them.
type Asker struct {
	*match.Input
	Here    Place       // where they ask
	Server  bool        // that is one of several channels of a server
	Manager bool        // the platform says that they manage this server
	Pages   match.Pages // of the rooms of this platform that choose nothing
}

func say(key string, args ...any) text.Message { return text.Say(key, args...) }

// A setting is something that an option of /settings chooses.
type setting struct {
	option string
	// put sets a value, in small letters; "" resets the setting. Its error is for the
	// person who typed.
	put func(value string) error
}

// typed returns what was typed for an option, in small letters.
func (in Asker) typed(option string) string {
	return strings.ToLower(strings.TrimSpace(in.Request.Args[option]))
}

// put sets what was typed for each of some settings, and reports whether anything was.
// The value "default" resets a setting.
func (in Asker) put(all []setting) (changed bool, err error) {
	for _, s := range all {
		value := in.typed(s.option)
		if value == "" {
			continue
		}
		if value == "default" {
			value = ""
		}
		if err := s.put(value); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}

// settingsOf returns the settings of a channel or a server.
func (in Asker) settingsOf(rs *match.RoomSettings) []setting {
	return []setting{
		{"rules", read(&rs.Rules, func(v string) (string, error) {
			r, err := in.Rulesets.Find(v)
			if err != nil {
				return "", err
			}
			return r.Name, nil
		})},
		{"size", read(&rs.Size, func(v string) (string, error) {
			if _, _, ok := match.ParseSize(v); !ok {
				return "", text.Error("bad.size", text.Shorten(v))
			}
			return v, nil
		})},
		{"clock", read(&rs.Clock, func(v string) (string, error) {
			c, err := clock.Parse(v)
			return c.String(), err
		})},
		{"theme", oneOf(&rs.Theme, render.Themes(), "settings.theme.bad")},
		{"layout", oneOf(&rs.Layout, render.Layouts(), "settings.layout.bad")},
		{"coordinates", oneOf(&rs.Coords, render.Coordinates(), "settings.coordinates.bad")},
		{"language", read(&rs.Lang, language)},
		{"undo", func(v string) error {
			n, err := strconv.Atoi(cmp.Or(v, "0"))
			if err != nil || n < 0 || n > 3600 {
				return text.Error("settings.undo.bad", text.Shorten(v))
			}
			if rs.Undo = n; v != "" && n == 0 {
				rs.Undo = -1
			}
			return nil
		}},
		{"opens", oneOf(&rs.Opens, []string{"anyone", "moderators", "nobody"}, "settings.opens.bad")},
		{"hints", oneOf(&rs.Hints, []string{"on", "off"}, "settings.hints.bad")},
		{"letters", oneOf(&rs.Letters, []string{"on", "off"}, "settings.letters.bad")},
		{"events", oneOf(&rs.Events, []string{"moderators", "anyone"}, "settings.events.bad")},
		{"pages", in.pages(rs)},
	}
}

// pages returns a function that sets whether games have pages, and whether those are public.
// Only games that are opened afterwards get them, or become public, unless those before were
// so already.
func (in Asker) pages(rs *match.RoomSettings) func(string) error {
	return func(v string) error {
		otherwise, sealed := in.Here.Server.Settings, in.Here.sealed && rs.Server == ""
		if rs.Server != "" {
			otherwise = match.RoomSettings{}
		}
		was := or(*rs, otherwise)
		if err := oneOf((*string)(&rs.Pages), []string{string(match.NoPages), string(match.LinkPages), string(match.PublicPages)}, "settings.pages.bad")(v); err != nil {
			return err
		}
		if sealed && rs.Pages.On() {
			return text.Error("page.sealed")
		}
		before, now := cmp.Or(was.Pages, in.Pages), cmp.Or(rs.Pages, otherwise.Pages, in.Pages)
		rs.Since, rs.Listed = was.Since, was.Listed
		if !before.On() || !now.On() {
			rs.Since = later(rs.Since, in.Now)
		}
		if before != match.PublicPages || now != match.PublicPages {
			rs.Listed = later(rs.Listed, in.Now)
		}
		return nil
	}
}

// read returns a function that sets what a value is read as, or none.
func read(into *string, as func(string) (string, error)) func(string) error {
	return func(v string) (err error) {
		if v != "" {
			v, err = as(v)
		}
		*into = v
		return err
	}
}

// oneOf returns a function that sets one of some values, or none.
func oneOf(into *string, of []string, bad string) func(string) error {
	return read(into, func(v string) (string, error) {
		if !slices.Contains(of, v) {
			return "", text.Error(bad, text.Shorten(v), strings.Join(of, ", "))
		}
		return v, nil
	})
}

// language reads a language: by its tag, "de", or by what it is called.
func language(v string) (tag string, err error) {
	if l, ok := text.LanguageCalled(v); ok {
		return l.Tag, nil
	}
	var tags, called []string
	for _, l := range text.Languages() {
		tags = append(tags, l.Tag+" ("+l.Name+")")
		called = append(called, l.Called()...)
	}
	if near, ok := text.LanguageCalled(text.Nearest(v, called)); ok {
		return "", text.Error("settings.language.near", text.Shorten(v), near.Tag+" ("+near.Name+")")
	}
	return "", text.Error("settings.language.bad", text.Shorten(v), strings.Join(tags, ", "))
}

// Settings shows the settings of a channel, or of all channels of a server, and lets
// moderators change them.
func Settings(in Asker) match.Step {
	rs, may, refusal := in.Here.Own, in.Request.Moderator, say("moderators.only")
	everywhere := false
	switch whose := in.typed("whose"); whose {
	case "mine":
		return ownSettings(in)
	case "server":
		if !in.Server {
			return in.Refuse(say("settings.server.none"))
		}
		rs, may, refusal, everywhere = in.Here.Server.Settings, in.Manager, say("managers.only"), true
	case "", "here":
	default:
		return in.Refuse(say("settings.whose.bad", text.Shorten(whose)))
	}
	was := rs
	all := in.settingsOf(&rs)
	for _, s := range all {
		value := in.typed(s.option)
		switch {
		case may || value == "":
		case slices.Contains(ownOptions, s.option):
			return in.Refuse(refusal, say("settings.mine.how", s.option, text.Shorten(value)))
		default:
			return in.Refuse(refusal)
		}
	}
	changed, err := in.put(all)
	if err != nil {
		return in.Refuse(text.Explain(err))
	}
	var texts []text.Message
	if everywhere {
		texts = told(rs, "settings.new.server")
	} else {
		texts = told(or(rs, in.Here.Server.Settings), "settings.new")
	}
	switch now := or(rs, in.Here.Server.Settings); {
	case in.Here.sealed && !everywhere:
	case cmp.Or(now.Pages, in.Pages).On():
		texts = append(texts, say("settings.pages."+string(cmp.Or(now.Pages, in.Pages))))
	case in.typed("pages") != "":
		texts = append(texts, say("settings.pages.off"))
	}
	if !changed && in.Request.Moderator && !everywhere {
		texts = append(texts, say("settings.how"))
	}
	if !changed && in.Manager && in.Server {
		texts = append(texts, say("settings.how.server"))
	}
	s := match.Step{Request: in.Request.ID, At: in.Now, Answer: match.Reply{Texts: texts, Private: !changed}}
	if changed {
		s.Room, s.RoomWas = &rs, &was
		s.Act = in.act(all, rs)
	}
	return s
}

// act says in the log of moderators which settings the person changed, as they typed them.
func (in Asker) act(all []setting, rs match.RoomSettings) *match.Act {
	var typed []string
	for _, s := range all {
		if value := in.typed(s.option); value != "" {
			typed = append(typed, s.option+":"+text.Shorten(value))
		}
	}
	key := "act.settings"
	if rs.Server != "" {
		key = "act.settings.server"
	}
	return &match.Act{Where: rs.Room, Server: rs.Server, What: say(key, text.List(typed...))}
}

// told lists settings, beginning with those of new games, which the text with a key
// introduces.
func told(rs match.RoomSettings, are string) []text.Message {
	undo := say("settings.undo.free", strconv.Itoa(cmp.Or(rs.Undo, int(match.FreeUndo.Seconds()))))
	if rs.Undo < 0 {
		undo = say("settings.undo.never")
	}
	timed := say("clock.words.none")
	if rs.Clock != "" && rs.Clock != "none" {
		timed = say("settings.clock", rs.Clock)
	}
	texts := []text.Message{say(are, cmp.Or(rs.Rules, rules.TwoButton.Name), cmp.Or(rs.Size, "9x9"), timed), undo,
		say("settings.opens." + cmp.Or(rs.Opens, "anyone"))}
	if rs.Events == "anyone" {
		texts = append(texts, say("settings.events.anyone"))
	}
	if rs.Hints == "off" {
		texts = append(texts, say("settings.hints.off"))
	}
	if rs.Theme != "" || rs.Coords != "" {
		texts = append(texts, say("settings.look", cmp.Or(rs.Theme, render.Themes()[0]), cmp.Or(rs.Coords, render.Coordinates()[0])))
	}
	if rs.Layout != "" {
		texts = append(texts, say("settings.layout", rs.Layout))
	}
	if rs.Letters == "on" {
		texts = append(texts, say("settings.letters.on"))
	}
	if rs.Lang != "" {
		texts = append(texts, say("settings.language", text.BestLanguage(rs.Lang).Name))
	}
	return texts
}

// ownOptions lists the options that a person can set for themselves.
var ownOptions = []string{"language", "theme", "layout", "coordinates"}

// ownSettings shows a person's own settings, for what they alone read and see, and lets
// them change these.
func ownSettings(in Asker) match.Step {
	p := in.Prefs[in.By]
	p.Person = in.By
	mine := match.RoomSettings{Lang: p.Lang, Theme: p.Theme, Layout: p.Layout, Coords: p.Coords}
	for option := range in.Request.Args {
		if in.typed(option) != "" && option != "whose" && option != "seq" && !slices.Contains(ownOptions, option) {
			return in.Refuse(say("settings.mine.others", option, text.Or(ownOptions...)))
		}
	}
	if _, err := in.put(in.settingsOf(&mine)); err != nil {
		return in.Refuse(text.Explain(err))
	}
	p.Lang, p.Theme, p.Layout, p.Coords = mine.Lang, mine.Theme, mine.Layout, mine.Coords
	language, theme := say("settings.mine.language.none"), say("settings.mine.theme.none")
	if p.Lang != "" {
		language = say("settings.mine.language", text.BestLanguage(p.Lang).Name)
	}
	if p.Theme != "" {
		theme = say("settings.mine.theme", p.Theme)
	}
	texts := []text.Message{language, theme}
	if p.Layout != "" {
		texts = append(texts, say("settings.mine.layout", p.Layout))
	}
	if p.Coords != "" {
		texts = append(texts, say("settings.mine.coordinates", p.Coords))
	}
	return in.chosen(p, texts...)
}

// Remind stores how a person wants to be reminded.
func Remind(in Asker) match.Step {
	p := in.Prefs[in.By]
	p.Person = in.By
	switch how := in.typed("how"); how {
	case "":
	case "channel", "direct", "none":
		p.Remind = how
	default:
		return in.Refuse(say("remind.how", text.Shorten(how)))
	}
	if q := in.typed("quiet"); q == "none" {
		p.Quiet = clock.Hours{}
	} else if q != "" {
		h, ok := clock.ParseHours(q)
		if !ok {
			return in.Refuse(say("remind.quiet", text.Shorten(q)))
		}
		p.Quiet = h
	}
	if z := strings.TrimSpace(in.Request.Args["zone"]); z != "" {
		name, ok := clock.ZoneName(z)
		if !ok {
			return in.Refuse(say("remind.zone", text.Shorten(z)))
		}
		p.Zone = name
	}
	texts := []text.Message{say("remind.is." + cmp.Or(p.Remind, "channel"))}
	if p.Quiet != (clock.Hours{}) {
		texts = append(texts, say("remind.is.quiet", p.Quiet.String(), cmp.Or(p.Zone, "UTC")))
	}
	return in.chosen(p, texts...)
}

// chosen returns the step that stores a person's settings, with an answer.
func (in Asker) chosen(p match.Preferences, texts ...text.Message) match.Step {
	was := in.Prefs[in.By]
	return match.Step{Request: in.Request.ID, At: in.Now, Answer: match.Reply{Texts: texts, Private: true}, Prefs: &p, PrefsWas: &was}
}
