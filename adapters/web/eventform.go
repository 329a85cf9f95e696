package web

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The form with which somebody in the room organises an event needs no JavaScript. It makes the
// requests that people make on other platforms: a draft, which the bot keeps for a day, and
// then its publication.

// formFields are the options of /event in the form, by question.
var formFields = []struct {
	Question string
	Fields   []formField
}{
	{"", []formField{{Name: "title", Label: "Name of the event"}}},
	{"Rules and board?", []formField{{Name: "rules", Label: "Rulesets, with commas between them", Value: "two-button"}, {Name: "size", Label: "Board", Value: "9x9"}, {Name: "komi", Label: "Komi, if not that of the rules"}}},
	{"Who, until when?", []formField{{Name: "seats", Label: "How many can play; empty: all who join"}, {Name: "ranks", Label: "Players say their rank", Options: yesOrNo},
		{Name: "until", Label: "Sign-up ends, for example in 7d or on 2026-12-20", Value: "7d"}}},
	{"Groups or Swiss, how many rounds?", []formField{{Name: "system", Label: "Who meets whom", Value: "groups"}, {Name: "group", Label: "Groups: players of each, 4 to 8", Value: "8"}, {Name: "rounds", Label: "Swiss and McMahon: rounds", Value: "5"}}},
	{"How long?", []formField{{Name: "days", Label: "Days of a league, or of each round; hours as 12h", Value: "28"}}},
}

var yesOrNo = []bot.Choice{{Label: "No", Value: "no"}, {Label: "Yes", Value: "yes"}}

// A formField is an option of /event in the form.
type formField struct {
	Name, Label string
	Value       string       // its default, or what was typed
	Options     []bot.Choice // all there are; none: it is typed
	Problem     string       // what is wrong with it; empty: nothing
}

// An eventForm is the data of the form.
type eventForm struct {
	head
	ID        string // of the requests that the form makes, so that sending it twice publishes once
	Name      string // of whoever organises, or their seat
	Problem   string // what is wrong with no field
	NameWrong string // what is wrong with the name
	Questions []formQuestion
	Shows     []string // what would be published; empty: nothing yet
}

type formQuestion struct {
	Question string
	Fields   []formField
}

// wrongIn returns what a refusal says, by the field of the form that each of its lines is
// about; empty: none.
func wrongIn(p outbox.Post) map[string]string {
	lines := strings.Split(words(p.Text), "\n")
	if len(lines) != len(p.Stored.Texts) {
		return map[string]string{"": words(p.Text)}
	}
	wrong := map[string]string{}
	for i, t := range p.Stored.Texts {
		field := fieldOf(t)
		wrong[field] = strings.TrimSpace(wrong[field] + " " + lines[i])
	}
	return wrong
}

// fieldOf returns the field that a line of a refusal is about; empty: none.
func fieldOf(refused bot.Text) string {
	switch key := refused.Key; key {
	case "event.bad.number":
		if len(refused.Args) > 0 {
			return fmt.Sprint(refused.Args[0].Value)
		}
	case "bad.size", "bad.komi":
		return strings.TrimPrefix(key, "bad.")
	case "event.bad.time":
		return "until"
	case "event.one.ruleset", "event.knockout.draws":
		return "rules"
	case "event.knockout.komi":
		return "komi"
	default:
		if field, ok := strings.CutPrefix(key, "event.bad."); ok {
			return field
		}
		if strings.HasPrefix(key, "bad.rules") {
			return "rules"
		}
	}
	return ""
}

// form returns the form with some values, and with what is wrong, by field.
func (s *server) form(lang string, values, wrong map[string]string) eventForm {
	f := eventForm{head: head{Lang: lang, Title: bot.Translated(lang, wordNewEvent)}, ID: rand.Text(), Name: values["name"],
		Problem: wrong[""], NameWrong: wrong["name"]}
	command, _ := bot.FindCommand("event")
	for _, q := range formFields {
		question := formQuestion{Question: q.Question, Fields: slices.Clone(q.Fields)}
		if question.Question != "" {
			question.Question = bot.Translated(lang, question.Question)
		}
		for i := range question.Fields {
			field := &question.Fields[i]
			if typed, ok := values[field.Name]; ok {
				field.Value = typed
			}
			field.Label = bot.Translated(lang, field.Label)
			field.Options = slices.Clone(field.Options)
			for j, o := range field.Options {
				field.Options[j].Label = bot.Translated(lang, o.Label)
			}
			for _, o := range command.Options {
				if o.Name == field.Name && field.Name == "system" {
					field.Options = o.In(lang).Choices
				}
			}
			field.Problem = wrong[field.Name]
		}
		f.Questions = append(f.Questions, question)
	}
	return f
}

// eventFormPage shows the form, with its defaults.
func (s *server) eventFormPage(w http.ResponseWriter, r *http.Request) {
	lang := pageLanguage(browserLanguage(r))
	values := map[string]string{}
	if seat := r.URL.Query().Get("seat"); seat != "" && seat != "onlooker" {
		values["name"] = strings.TrimPrefix(seat, "name:")
	} else if who, err := s.linked(r); err == nil && who.Platform == platform {
		values["name"] = bot.CleanName(who.Name)
	}
	introduce(w, r)
	s.write(w, http.StatusOK, "newevent.html", false, s.form(lang, values, nil))
}

// organiserOf returns the seat of somebody who gives a name, or that of the board.
func organiserOf(name, lang string) string {
	name = strings.TrimSpace(name)
	for seat, called := range map[string]string{"black": black.Name, "white": white.Name} {
		if strings.EqualFold(name, called) || strings.EqualFold(name, bot.Translated(lang, called)) {
			return seat
		}
	}
	return "name:" + name
}

// formID is what an eventForm has as its ID.
var formID = regexp.MustCompile("^[A-Z2-7]{26}$")

// eventFormSubmit drafts an event from the form and shows what would be published, or publishes
// it.
func (s *server) eventFormSubmit(w http.ResponseWriter, r *http.Request) {
	sub := submission{client: clientOf(r), lang: browserLanguage(r)}
	lang := pageLanguage(sub.lang)
	if wait, others := s.afford(r, sub.client); wait > 0 {
		slowDown(w, lang, wait, others)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := s.readBody(w, r.ParseForm); err != nil {
		s.write(w, http.StatusBadRequest, "newevent.html", false, s.form(lang, nil, map[string]string{"": bot.Translated(lang, wordNoForm)}))
		return
	}
	values := map[string]string{"name": cleanText(r.PostForm.Get("name"))}
	args := map[string]string{"what": "new"}
	for _, q := range formFields {
		for _, f := range q.Fields {
			values[f.Name] = cleanText(r.PostForm.Get(f.Name))
			if args[f.Name] = values[f.Name]; args[f.Name] == "" {
				args[f.Name] = "default"
			}
		}
	}
	refuse := func(wrong map[string]string) {
		s.write(w, http.StatusUnprocessableEntity, "newevent.html", false, s.form(lang, values, wrong))
	}
	sub.Seat, sub.browser = organiserOf(values["name"], lang), browserOf(r)
	who, why := userOf(sub.Seat)
	if why != "" {
		refuse(map[string]string{"name": bot.Translated(lang, why)})
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), askTime)
	defer cancel()
	holder, err := s.holderOf(r, who.ID)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	if sub.ID, sub.holder = r.PostForm.Get("id"), holder; !formID.MatchString(sub.ID) {
		sub.ID = rand.Text()
	}
	switch problem, err := s.permit(ctx, who, sub, "event"); {
	case err != nil:
		s.failed(w, r, err)
		return
	case problem != nil:
		refuse(map[string]string{"name": bot.Translated(lang, problem[0], problem[1:]...)})
		return
	}
	owner, _ := s.checkOwner(r, ownerCookieOf(r))
	ask := func(args map[string]string) (outbox.Post, error) {
		req := request(who)
		req.ID, req.Moderator, req.Lang, req.Shows, req.Flat = platform+":event:"+sub.ID+":"+args["what"], owner, sub.lang, true, true
		req.Command, req.Args = "event", maps.Clone(args)
		all, err := s.service.Ask(ctx, req)
		s.showPosts(ctx, all.Posts, err)
		return all.Own(), err
	}
	got, err := ask(args)
	if err == nil && !got.Refused && r.PostForm.Get("do") == "publish" {
		got, err = ask(map[string]string{"what": "publish"})
		if err == nil && !got.Refused {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
	}
	switch {
	case err != nil:
		s.failed(w, r, err)
	case got.Refused:
		wrong := wrongIn(got)
		if got.Moderators {
			wrong = map[string]string{"": bot.Translated(lang, wordModerator, words(got.Text))}
		}
		refuse(wrong)
	default:
		f := s.form(lang, values, nil)
		f.Shows = strings.Split(words(got.Text), "\n")
		if n := len(f.Shows) - 1; n > 1 { // its last line tells how to change it elsewhere
			f.Shows = f.Shows[:n]
		}
		s.write(w, http.StatusOK, "newevent.html", false, f)
	}
}
