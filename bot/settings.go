package bot

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

// settings says what holds in a channel, or in all of a server where a channel has
// not chosen otherwise, and lets those change it who look after it. A value of
// "default" takes a choice back.
func settings(in *task) match.Step {
	rs, may, refusal := in.place.own, in.req.Moderator, say("moderators.only")
	everywhere := false
	switch whose := strings.ToLower(strings.TrimSpace(in.req.Args["whose"])); whose {
	case "mine":
		return ownSettings(in)
	case "server":
		if !in.inServer() {
			return in.Refuse(say("settings.server.none"))
		}
		rs, may, refusal, everywhere = in.place.server.Settings, in.req.Manager, say("managers.only"), true
	case "", "here":
	default:
		return in.Refuse(say("settings.whose.bad", shortened(whose)))
	}
	changed := false
	for _, set := range []struct {
		name string
		put  func(value string) (Text, bool)
	}{
		{"rules", func(v string) (Text, bool) {
			if v != "" {
				r, err := in.Rulesets.Find(v)
				if err != nil {
					return match.NoRuleset(v), false
				}
				v = r.Name
			}
			rs.Rules = v
			return Text{}, true
		}},
		{"size", func(v string) (Text, bool) {
			if _, _, ok := match.ParseSize(v); !ok && v != "" {
				return say("bad.size", shortened(v)), false
			}
			rs.Size = v
			return Text{}, true
		}},
		{"clock", func(v string) (Text, bool) {
			if v != "" {
				c, err := clock.Parse(v)
				if err != nil {
					return wrong(err), false
				}
				v = c.String()
			}
			rs.Clock = v
			return Text{}, true
		}},
		{"theme", chosen(&rs.Theme, render.Themes(), "settings.theme.bad")},
		{"coordinates", chosen(&rs.Coords, render.Coordinates(), "settings.coordinates.bad")},
		{"language", chosenLanguage(&rs.Lang)},
		{"undo", func(v string) (Text, bool) {
			n, err := strconv.Atoi(v)
			switch {
			case v == "":
				rs.Undo = 0
			case err != nil || n < 0 || n > 3600:
				return say("settings.undo.bad", shortened(v)), false
			case n == 0:
				rs.Undo = -1
			default:
				rs.Undo = n
			}
			return Text{}, true
		}},
		{"opens", func(v string) (Text, bool) {
			switch v {
			case "", "anyone", "moderators", "nobody":
				rs.Opens = v
			default:
				return say("settings.opens.bad", shortened(v)), false
			}
			return Text{}, true
		}},
	} {
		value := strings.ToLower(strings.TrimSpace(in.req.Args[set.name]))
		if value == "" {
			continue
		}
		if !may {
			if set.name == "language" || set.name == "theme" {
				return in.Refuse(refusal, say("settings.mine.how", set.name, shortened(value)))
			}
			return in.Refuse(refusal)
		}
		if value == "default" {
			value = ""
		}
		if problem, ok := set.put(value); !ok {
			return in.Refuse(problem)
		}
		changed = true
	}
	var texts []Text
	if everywhere {
		texts = told(rs, "settings.are.server")
	} else {
		texts = told(or(rs, in.place.server.Settings), "settings.are")
	}
	if !changed && in.req.Moderator && !everywhere {
		texts = append(texts, say("settings.how"))
	}
	if !changed && in.req.Manager && in.inServer() {
		texts = append(texts, say("settings.how.server"))
	}
	s := match.Step{Request: in.Request.ID, At: in.Now, Answer: match.Reply{Texts: texts, Private: !changed}}
	if changed {
		s.Room = &rs
	}
	return s
}

// inServer reports whether it is asked in a server with channels, and not in a
// room that is one by itself.
func (in *task) inServer() bool {
	return in.req.Server != "" && in.req.Server != in.req.Where.Channel
}

// told says what holds, beginning with the words of a key for what new games are
// like.
func told(rs match.RoomSettings, are string) []Text {
	undo := say("settings.undo.free", strconv.Itoa(int(match.FreeUndo.Seconds())))
	switch {
	case rs.Undo < 0:
		undo = say("settings.undo.never")
	case rs.Undo > 0:
		undo = say("settings.undo.free", strconv.Itoa(rs.Undo))
	}
	texts := []Text{say(are, cmp.Or(rs.Rules, rules.TwoButton.Name), cmp.Or(rs.Size, "9x9"), cmp.Or(rs.Clock, "none")), undo,
		say("settings.opens." + cmp.Or(rs.Opens, "anyone"))}
	if rs.Theme != "" || rs.Coords != "" {
		texts = append(texts, say("settings.look", cmp.Or(rs.Theme, render.Themes()[0]), cmp.Or(rs.Coords, render.Coordinates()[0])))
	}
	if rs.Lang != "" {
		texts = append(texts, say("settings.language", text.BestLanguage(rs.Lang).Name))
	}
	return texts
}

// ownSettings says what a person has chosen for themselves, for what they alone
// read and see, and lets them change it.
func ownSettings(in *task) match.Step {
	p := in.Prefs[in.By]
	p.Person = in.By
	for option, value := range in.req.Args {
		if option != "whose" && option != "theme" && option != "language" && option != "seq" && strings.TrimSpace(value) != "" {
			return in.Refuse(say("settings.mine.only", option))
		}
	}
	for _, set := range []struct {
		name string
		put  func(value string) (Text, bool)
	}{
		{"language", chosenLanguage(&p.Lang)},
		{"theme", chosen(&p.Theme, render.Themes(), "settings.theme.bad")},
	} {
		value := strings.ToLower(strings.TrimSpace(in.req.Args[set.name]))
		if value == "" {
			continue
		}
		if value == "default" {
			value = ""
		}
		if problem, ok := set.put(value); !ok {
			return in.Refuse(problem)
		}
	}
	texts := []Text{say("settings.mine.language.none")}
	if p.Lang != "" {
		texts = []Text{say("settings.mine.language", text.BestLanguage(p.Lang).Name)}
	}
	if p.Theme == "" {
		texts = append(texts, say("settings.mine.theme.none"))
	} else {
		texts = append(texts, say("settings.mine.theme", p.Theme))
	}
	return match.Step{Request: in.Request.ID, At: in.Now, Answer: match.Reply{Texts: texts, Private: true}, Prefs: &p}
}

// chosenLanguage puts a language, or none: by its tag, "de", or by what its
// speakers call it.
func chosenLanguage(into *string) func(string) (Text, bool) {
	return func(v string) (Text, bool) {
		if v == "" {
			*into = ""
			return Text{}, true
		}
		var names []string
		for _, l := range text.Languages() {
			if strings.EqualFold(v, l.Tag) || strings.EqualFold(v, l.Name) {
				*into = l.Tag
				return Text{}, true
			}
			names = append(names, l.Tag+" ("+l.Name+")")
		}
		return say("settings.language.bad", shortened(v), strings.Join(names, ", ")), false
	}
}

// look gives how pictures are drawn in the room, in a theme of the reader's own
// if they have one.
func (p place) look(theme string) render.Options {
	return render.Options{Theme: cmp.Or(theme, p.Theme), Coordinates: p.Coords}
}

// chosen puts one of some values, or none.
func chosen(into *string, of []string, bad string) func(string) (Text, bool) {
	return func(v string) (Text, bool) {
		if v != "" && !slices.Contains(of, v) {
			return say(bad, shortened(v), strings.Join(of, ", ")), false
		}
		*into = v
		return Text{}, true
	}
}
