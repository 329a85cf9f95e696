package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
)

// A completion lists continuations of a text that somebody is typing.
type completion struct {
	Hint    string   `json:"hint,omitempty"` // the option that comes next
	Replace string   `json:"replace"`        // the end of the text, which a choice replaces
	Choices []choice `json:"choices"`
}

// A choice is a text to insert, and what it means.
type choice struct {
	Value string `json:"value"`
	Hint  string `json:"hint,omitempty"`
}

// maxChoices is the number that all platforms can show.
const maxChoices = 25

// suggest answers the page with completions.
func (s *server) suggest(w http.ResponseWriter, r *http.Request) {
	who, _ := userOf(r.FormValue("seat"))
	browser, err := s.holderOf(r, who.ID)
	held := true
	if err == nil {
		held, err = s.heldByOther(r.Context(), who, browser)
	}
	if held || err != nil {
		who = onlooker // somebody else's games are not suggested
	}
	text := r.FormValue("text")
	if len(text) > maxBody {
		text = ""
	}
	req := request(who)
	req.Lang = s.languageOf(r.Context(), who, browserLanguage(r))
	c := complete(r.Context(), s.service, req, text)
	if c.Choices == nil {
		c.Choices = []choice{}
	}
	reply(w, c)
}

// complete lists the continuations of text, which reaches to the caret.
func complete(ctx context.Context, service bot.Service, req bot.Request, text string) completion {
	if !strings.HasPrefix(text, "/") {
		return completion{}
	}
	name, rest, spaced := strings.Cut(text, " ")
	if !spaced {
		return completion{Replace: text, Choices: commandsLike(name, req.Lang)}
	}
	commands := bot.Commands()
	i := slices.IndexFunc(commands, func(c bot.Command) bool { return "/"+c.Name == strings.ToLower(name) })
	if i < 0 {
		return completion{}
	}
	c := commands[i].In(req.Lang)
	word := rest[strings.LastIndexByte(rest, ' ')+1:]
	before := text[:len(text)-len(word)]
	prefix, named := word, ""
	if key, value, ok := strings.Cut(word, ":"); ok {
		named, prefix = key+":", value
	}
	var err error
	req.Command = c.Name
	if _, req.Args, err = bot.Parse(before); err != nil {
		return completion{}
	}
	out := completion{Replace: word}
	if o := optionAt(c, before+named); o != nil {
		out.Hint, out.Replace = o.Name+": "+o.Summary, prefix
		again := req.Args[o.Name] != ""
		switch {
		case o.Name == "at" && word == "" && !again:
			return out // empty points are too many to list
		case o.Type == bot.PointOption && word == "" && again: // of a stone there is mostly one
		default:
			out.Choices = valuesLike(ctx, service, req, *o, prefix)
		}
	}
	if named == "" && (word != "" || len(out.Choices) == 0) {
		out.Choices = append(out.Choices, optionsLike(c, req.Args, word)...)
	}
	out.Choices = out.Choices[:min(len(out.Choices), maxChoices)]
	return out
}

// optionAt returns the option of a command to which the next word after before belongs;
// nil: it belongs to none.
func optionAt(c bot.Command, before string) *bot.Option {
	const word = "\u2060"
	_, args, err := bot.Parse(before + word)
	for i, o := range c.Options {
		if err == nil && strings.HasSuffix(args[o.Name], word) {
			return &c.Options[i]
		}
	}
	return nil
}

// optionsLike returns the options that begin like prefix and are not given yet.
func optionsLike(c bot.Command, given map[string]string, prefix string) (out []choice) {
	for _, o := range c.Options {
		if _, has := given[o.Name]; !has && strings.HasPrefix(o.Name, strings.ToLower(prefix)) {
			out = append(out, choice{o.Name + ":", o.Summary})
		}
	}
	return out
}

// commandsLike returns the commands that begin like name, which begins with a
// slash, in the words of a language.
func commandsLike(name, tag string) []choice {
	var out []choice
	for _, c := range bot.Commands() {
		full := "/" + c.Name
		if !strings.HasPrefix(full, strings.ToLower(name)) {
			continue
		}
		value := full
		if len(c.Options) > 0 {
			value += " "
		}
		out = append(out, choice{value, c.In(tag).Summary})
	}
	return unlessTyped(out, name)
}

// valuesLike returns the values of an option that begin like prefix.
func valuesLike(ctx context.Context, service bot.Service, req bot.Request, o bot.Option, prefix string) []choice {
	known := o.Choices
	switch {
	case o.Suggest:
		known = service.Suggest(ctx, req, o.Name, prefix)
	case o.Type == bot.BoolOption:
		known = []bot.Choice{{Label: "yes", Value: "yes"}, {Label: "no", Value: "no"}}
	case o.Type == bot.UserOption:
		known = []bot.Choice{{Label: "Black", Value: "black"}, {Label: "White", Value: "white"}, {Label: "me", Value: "me"}}
	}
	var out []choice
	for _, k := range known {
		if o.Suggest || hasFold(k.Value, prefix) || hasFold(k.Label, prefix) {
			c := choice{k.Value, k.Label}
			if strings.EqualFold(strings.ReplaceAll(k.Label, "×", "x"), k.Value) {
				c.Hint = ""
			}
			out = append(out, c)
		}
	}
	return unlessTyped(out, prefix)
}

// unlessTyped drops the only choice if it is typed already.
func unlessTyped(cs []choice, typed string) []choice {
	if len(cs) == 1 && strings.EqualFold(strings.TrimSpace(cs[0].Value), typed) {
		return nil
	}
	return cs
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
