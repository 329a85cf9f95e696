package discord

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// Who organises an event answers most questions in one form, which holds what they answered
// before. So the command needs no options for them.

// eventForm marks the form of an event in a custom_id, in place of an option.
const eventForm = "form"

// A question is a field of the form of an event.
type question struct {
	option, label, example string
	systems                []string // only of these; nil: of all
}

// eventQuestions are the fields of the form: five at most for each system.
var eventQuestions = []question{
	{option: "title", label: wordEventTitle},
	{option: "seats", label: wordEventSeats, example: "40"},
	{option: "until", label: wordEventUntil, example: "7d, 12h, 2027-01-31 20:00"},
	{option: "group", label: wordEventGroup, example: "8", systems: []string{"groups"}},
	{option: "rounds", label: wordEventRounds, example: "5", systems: []string{"swiss", "mcmahon"}},
	{option: "days", label: wordEventDays, example: "28, 12h"},
}

// inForm reports whether an option is only in the form: it takes none of the characters that
// Discord allows a command.
func inForm(command, option string) bool {
	switch {
	case command != "event":
		return false
	case option == "confirm": // which only buttons say
		return true
	}
	return option != "until" && slices.ContainsFunc(eventQuestions, func(q question) bool { return q.option == option })
}

// eventPress returns what the form of an event asks for, if an interaction opens that; with the
// options that the person chose in the command.
func eventPress(in interaction.Interaction) (p press, ok bool) {
	switch in.Kind {
	case interaction.Command:
		r := bot.Request{Args: map[string]string{}}
		if !commanded(&r, in.Command) {
			return p, false
		}
		p = press{command: r.Command, args: r.Args}
	case interaction.Press:
		if p, _, ok = pressOf(in); !ok || p.ask == "" {
			return p, false
		}
	}
	if p.command != "event" || p.args["what"] != "new" || slices.ContainsFunc(eventQuestions, func(q question) bool { return q.option != "until" && p.args[q.option] != "" }) {
		return p, false
	}
	p.ask = eventForm
	return p, len(p.String()) <= maxCustomID // else what was typed is enough for the preview
}

// eventModal makes the form of an event, with what the person has answered so far.
func (a *Adapter) eventModal(ctx context.Context, in interaction.Interaction, p press) rest.Response {
	before := func(option string) string {
		r := request(in, in.At)
		r.Command, r.Args = p.command, map[string]string{"what": "new"}
		if choices := a.service.Suggest(ctx, r, option, ""); len(choices) > 0 {
			return choices[0].Value
		}
		return ""
	}
	system := strings.ToLower(cmp.Or(p.args["system"], before("system")))
	modal := rest.Modal{CustomID: p.String(), Title: rest.Clip(bot.Translated(in.Locale, wordEvent), maxTitle)}
	for _, q := range eventQuestions {
		if q.systems != nil && !slices.Contains(q.systems, system) {
			continue
		}
		input := rest.Component{Type: rest.TextInput, CustomID: q.option, Style: rest.Short, Placeholder: q.example, MaxLength: maxForm, Required: new(false),
			Value: rest.Clip(cmp.Or(p.args[q.option], before(q.option)), maxForm)}
		modal.Components = append(modal.Components, rest.Component{Type: rest.Label, Label: rest.Clip(bot.Translated(in.Locale, q.label), 45), Component: &input})
	}
	return rest.Ask(modal)
}

// answeredForm puts what somebody has typed into the form of an event into a request. An empty
// field means the usual value.
func answeredForm(r *bot.Request, f interaction.FormData) {
	r.Args["form"] = "yes"
	for _, q := range eventQuestions {
		if _, asked := f.Values[q.option]; asked {
			r.Args[q.option] = cmp.Or(strings.TrimSpace(f.Value(q.option)), "default")
		}
	}
}
