package match

import (
	"errors"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Rulesets are the rulesets that the owner of the bot has composed, for people
// to choose besides the catalogue's.
type Rulesets []*rules.Ruleset

// Find returns a ruleset by what somebody typed: "aga", "custom/three-passes" or
// "three-passes". It never reads a ruleset out of what was typed.
func (own Rulesets) Find(name string) (*rules.Ruleset, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, r := range own {
		if name == r.Name || "custom/"+name == r.Name || name == r.ID() {
			return r, nil
		}
	}
	if strings.HasPrefix(name, "custom/") || strings.ContainsAny(name, " {") {
		return nil, errors.New("no such ruleset")
	}
	return rules.Find(name)
}

// NoRuleset says that there is no such ruleset, and which may have been meant.
func NoRuleset(id string) text.Message {
	var hint any = ""
	if near := text.Nearest(strings.ToLower(id), rulesetNames()); near != "" {
		hint = say("did.you.mean", near)
	}
	return say("bad.rules", shortened(id), hint)
}

func rulesetNames() []string {
	var names []string
	for _, r := range rules.Catalogue {
		names = append(names, r.Name)
	}
	return names
}
