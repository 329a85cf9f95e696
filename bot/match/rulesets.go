package match

import (
	"errors"
	"maps"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Rulesets are the custom rulesets of the bot's owner, which people can choose
// besides those of the catalogue.
type Rulesets []*rules.Ruleset

// Find returns the ruleset that somebody typed: "aga", "Two Button Go",
// "custom/three-passes" or "three passes"; see [rules.FindAmong]. Its error is for the
// person who typed, and suggests rulesets; if there are several it is an [*Unclear].
func (own Rulesets) Find(typed string) (*rules.Ruleset, error) {
	r, err := rules.FindAmong(own, typed)
	if err == nil {
		return r, nil
	}
	unclear, ok := errors.AsType[*rules.Unclear](err)
	if !ok {
		return nil, text.Error("bad.rules", shortened(typed))
	}
	var names []string
	for _, r := range unclear.Choices {
		names = append(names, r.Name)
	}
	e := &Unclear{text.Error("bad.rules.near", shortened(typed), text.Or(names...)), unclear.Choices}
	switch {
	case unclear.Note != "" && len(names) == 1:
		e.error = text.Error("rules.nearest", text.Sentence(unclear.Note), names[0])
	case unclear.Note != "":
		e.error = text.Error("rules.which", text.Sentence(unclear.Note), text.Or(names...))
	}
	return nil, e
}

// Unclear is the error for a name that may mean several rulesets. It asks which.
type Unclear struct {
	error
	Choices []*rules.Ruleset
}

// Unwrap returns the message as an error.
func (e *Unclear) Unwrap() error { return e.error }

// Choose returns a button for each ruleset among which an [*Unclear] error asks to
// choose. The button makes the request again, with the option set to that ruleset.
func Choose(err error, command, option string, args map[string]string) (cs []Control) {
	var unclear *Unclear
	if !errors.As(err, &unclear) {
		return nil
	}
	for _, r := range unclear.Choices {
		again := maps.Clone(args)
		again[option] = r.Name
		cs = append(cs, Control{Label: r.Title, Command: command, Args: again})
	}
	return cs
}
