package match

import (
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Rulesets are the rulesets that the owner of the bot has composed, for people
// to choose besides the catalogue's.
type Rulesets []*rules.Ruleset

// Find returns a ruleset by what somebody typed: "aga", "custom/three-passes" or
// "three-passes". It never reads a ruleset out of what was typed. Its error is for the
// person who typed, and says which may have been meant.
func (own Rulesets) Find(typed string) (*rules.Ruleset, error) {
	name := strings.ToLower(strings.TrimSpace(typed))
	for _, r := range own {
		if name == r.Name || "custom/"+name == r.Name || name == r.ID() {
			return r, nil
		}
	}
	if !strings.HasPrefix(name, "custom/") && !strings.ContainsAny(name, " {") {
		if r, err := rules.Find(name); err == nil {
			return r, nil
		}
	}
	var names []string
	for _, r := range rules.Catalogue {
		names = append(names, r.Name)
	}
	var hint any = ""
	if near := text.Nearest(name, names); near != "" {
		hint = say("did.you.mean", near)
	}
	return nil, text.Error("bad.rules", shortened(typed), hint)
}
