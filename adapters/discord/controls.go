package discord

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Limits of Discord's on components, in characters or pieces.
const (
	maxCustomID  = 100
	maxLabel     = 80
	maxURL       = 512
	maxRow       = 5
	maxRows      = 5
	maxMenu      = 25
	maxOption    = 100
	maxTitle     = 45
	maxForm      = 100 // of what is typed into one
	maxRemark    = 500 // likewise, of whole sentences
	maxParagraph = 4000
)

// styles are the colours of the buttons of commands; others are grey.
var styles = map[string]int{
	"place": rest.Primary, "dead": rest.Primary,
	"accept": rest.Success, "join": rest.Success,
	"resign": rest.Danger, "delete": rest.Danger,
}

// A press is what a component or form asks for. Its written form is the
// component's custom_id, so that nothing about it need be kept:
// "place?game=3&seq=17#at".
type press struct {
	command string
	args    map[string]string
	ask     string // the option that is still missing, or that the menu or form holds
}

func (p press) String() string {
	values := url.Values{}
	for k, v := range p.args {
		values.Set(k, v)
	}
	s := p.command + "?" + values.Encode()
	if p.ask != "" {
		s += "#" + p.ask
	}
	return s
}

// readPress reads a custom_id, which may be old: what it asks for is what that is called
// today.
func readPress(id string) (press, bool) {
	rest, ask, _ := strings.Cut(id, "#")
	command, query, ok := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if !ok || command == "" || err != nil {
		return press{}, false
	}
	args := map[string]string{}
	for k := range values {
		args[k] = values.Get(k)
	}
	now := bot.Current(match.Control{Command: command, Args: args, Ask: ask})
	return press{now.Command, now.Args, now.Ask}, true
}

// buttons makes the controls below a message. Those that do not fit are left
// out: they can be typed.
func buttons(controls []match.Control) []rest.Component {
	rows := []rest.Component{}
	seen := map[string]bool{}
	for _, c := range controls {
		id := press{c.Command, c.Args, c.Ask}.String()
		if len(id) > maxCustomID || seen[id] || len(seen) == maxRow*maxRows {
			continue
		}
		if len(seen)%maxRow == 0 {
			rows = append(rows, rest.Row())
		}
		seen[id] = true
		style := styles[c.Command]
		if style == 0 {
			style = rest.Secondary
		}
		last := &rows[len(rows)-1].Components
		*last = append(*last, rest.Component{Type: rest.Button, CustomID: id, Label: rest.Clip(c.Label, maxLabel), Style: style})
	}
	return rows
}

// linked adds a button that opens an address, if there is room below the controls of the
// game. Discord would refuse the whole message for an address whose host has no dot, such
// as localhost.
func linked(rows []rest.Component, address, lang string) []rest.Component {
	u, err := url.Parse(address)
	if err != nil || !strings.Contains(u.Hostname(), ".") || len(address) > maxURL {
		return rows
	}
	b := rest.Component{Type: rest.Button, Style: rest.Link, URL: address, Label: rest.Clip(bot.Translated(lang, wordPage), maxLabel)}
	last := len(rows) - 1
	if last >= 0 && rows[last].Components[0].Type == rest.Button && len(rows[last].Components) < maxRow {
		rows[last].Components = append(rows[last].Components, b)
	} else if len(rows) < maxRows {
		rows = append(rows, rest.Row(b))
	}
	return rows
}

// entries makes a menu of controls: the value of each entry is the custom_id that its
// button would have. The menu itself asks for nothing.
func entries(label string, controls []match.Control) []rest.Component {
	c := rest.Component{Type: rest.StringSelect, CustomID: press{command: "more"}.String(), Placeholder: rest.Clip(label, 150), MinValues: new(1), MaxValues: 1}
	for _, control := range controls {
		id := press{control.Command, control.Args, control.Ask}.String()
		if len(id) <= maxOption && len(c.Options) < maxMenu {
			c.Options = append(c.Options, rest.SelectOption{Label: rest.Clip(control.Label, maxOption), Value: id})
		}
	}
	return []rest.Component{rest.Row(c)}
}

// form asks for an option to be typed.
func form(p press, o bot.Option, tag string) rest.Response {
	title := bot.Translated(tag, wordForm)
	if n := p.args["game"]; n != "" {
		title = bot.Translated(tag, wordFormTitle, n)
	}
	input := rest.Component{Type: rest.TextInput, CustomID: o.Name, Style: rest.Short, MinLength: 1, MaxLength: maxForm, Required: new(true)}
	label := rest.Component{Type: rest.Label, Label: rest.Clip(o.Summary, 45), Component: &input}
	switch {
	case o.Type == bot.DiagramOption:
		title = bot.Translated(tag, wordDiagram)
		input.Style, input.MaxLength = rest.Paragraph, maxParagraph
		label.Label, label.Description = title, rest.Clip(o.Summary, maxDescription)
	case o.Rest && !o.Suggest:
		input.Style, input.MaxLength = rest.Paragraph, maxRemark
		label.Label, label.Description = title, rest.Clip(o.Summary, maxDescription)
	case !o.Rest:
		input.MaxLength = 10
	}
	return rest.Ask(rest.Modal{CustomID: p.String(), Title: rest.Clip(title, maxTitle), Components: []rest.Component{label}})
}

// formFor returns the form that answers an interaction; nil: it asks for something. It
// asks the bot nothing, and so leaves that of an event empty.
func (a *Adapter) formFor(in interaction.Interaction) *rest.Response {
	if _, ok := eventPress(in); ok {
		return &rest.Response{} // see receive
	}
	switch {
	case in.Kind == interaction.Command:
		return a.lacksDiagram(in)
	case in.Kind != interaction.Press:
		return nil
	}
	p, chosen, ok := pressOf(in)
	o, known := findOption(p.command, p.ask)
	if !ok || chosen || !known || o.Type != bot.PointOption && (o.Suggest || len(o.Choices) > 0) {
		return nil
	}
	return new(form(p, o.In(in.Locale), in.Locale))
}

// pressOf reads the custom_id of a button, a form, a menu or an entry of a menu of
// controls. chosen: its option was chosen from a menu.
func pressOf(in interaction.Interaction) (p press, chosen, ok bool) {
	if in.Kind == interaction.Form {
		p, ok = readPress(in.Form.ID)
		return p, false, ok
	}
	p, ok = readPress(in.Press.ID)
	if chosen = in.Press.Type != rest.Button; ok && chosen && p.ask == "" && len(in.Press.Values) > 0 { // see entries
		p, ok = readPress(in.Press.Values[0])
		chosen = false
	}
	return p, chosen, ok
}

// menuOf lets an option be chosen from what the bot suggests; false if that is
// nothing.
func menuOf(p press, o bot.Option, choices []bot.Choice) (rest.Component, bool) {
	c := rest.Component{Type: rest.StringSelect, CustomID: p.String(), Placeholder: rest.Clip(o.Summary, 150), MinValues: new(1), MaxValues: 1}
	seen := map[string]bool{}
	for _, ch := range choices[:min(len(choices), maxMenu)] {
		if ch.Value == "" || len(ch.Value) > maxOption || seen[ch.Value] {
			continue
		}
		seen[ch.Value] = true
		c.Options = append(c.Options, rest.SelectOption{Label: rest.Clip(ch.Label, maxOption), Value: ch.Value})
	}
	if o.Rest {
		c.MaxValues = len(c.Options)
	}
	return rest.Row(c), len(c.Options) > 0
}

// pressed makes a request of a press, a choice or a form. If the option must be
// chosen from a menu first, that is given instead, and the request is empty.
func (a *Adapter) pressed(ctx context.Context, x *pendingInteraction, r *bot.Request) (ask *rest.Response, ok bool) {
	in := x.in
	p, chosen, ok := pressOf(in)
	if !ok {
		return nil, false
	}
	r.Command = p.command
	for k, v := range p.args {
		r.Args[k] = v
	}
	if p.ask == "" {
		return nil, true
	}
	if in.Kind == interaction.Form && p.ask == eventForm {
		answeredForm(r, in.Form)
		return nil, true
	}
	if in.Kind == interaction.Form {
		r.Args[p.ask] = drawn(in.Form.Value(p.ask))
		return nil, true
	}
	if chosen {
		r.Args[p.ask] = strings.Join(in.Press.Values, " ")
		return nil, true
	}
	o, ok := findOption(p.command, p.ask)
	if !ok {
		return nil, false
	}
	o = o.In(in.Locale)
	typed := bot.Mention{Command: p.command}.Mark()
	choices := a.service.Suggest(ctx, *r, p.ask, "")
	m := rest.Message{Content: new(a.written(bot.Translated(in.Locale, wordChoose, typed))), Flags: rest.Ephemeral, Components: []rest.Component{}}
	if row, ok := menuOf(p, o, choices); ok {
		m.Components = append(m.Components, row)
	} else {
		m.Content = new(a.written(bot.Translated(in.Locale, wordNothing, typed)))
	}
	if x.onPrivate() {
		return new(rest.Update(m)), true
	}
	return new(rest.Reply(m)), true
}

// typing answers a command that is being typed.
func (a *Adapter) typing(ctx context.Context, x *pendingInteraction) {
	r := request(x.in, time.Now())
	var out []*discordgo.ApplicationCommandOptionChoice
	if o, ok := x.in.Command.Focused(); ok && commanded(&r, x.in.Command) {
		known, _ := findOption(r.Command, o.Name)
		delete(r.Args, o.Name)
		prefix, head := o.Text, ""
		if known.Rest && !known.Whole { // the last of several words
			at := strings.LastIndexAny(prefix, " ,;") + 1
			head, prefix = prefix[:at], prefix[at:]
		}
		for _, c := range a.service.Suggest(ctx, r, o.Name, prefix) {
			c.Value = head + c.Value
			if head != "" {
				c.Label = head + c.Label
			}
			if len(c.Value) <= maxChoice && c.Value != "" && c.Label != "" {
				out = append(out, choice(known, c))
			}
		}
	}
	out = slices.Clip(out[:min(len(out), maxChoices)])
	if _, err := x.respond(ctx, rest.Suggest(out)); err != nil {
		a.log.Debug("autocomplete choices not shown", "error", err)
	}
}
