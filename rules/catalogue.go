package rules

import (
	"fmt"
	"slices"
	"strings"
)

// Catalogue is every ruleset, in the order in which it is shown.
var Catalogue = []*Ruleset{
	&TrompTaylor,
	&Area1, &Area2, &Area3, &Territory1,
	&AGA,
	&ButtonGo, &ButtonEquivalence, &ReverseButton,
	&TwoButton, &TwoButtonSeparate,
	&HalfPass, &HalfPassAgreement,
	&Ultimate,
	&Japanese,
}

// ErrNoSuchRuleset is wrapped by every error of Find.
var ErrNoSuchRuleset = fmt.Errorf("no such ruleset")

// Find returns the ruleset with an id, "two-button", in either case; with a
// version, "two-button@1", that version alone. What [Ruleset.Stored] gives of a
// custom ruleset it reads again; of those it does not know the ids.
func Find(id string) (*Ruleset, error) {
	if strings.HasPrefix(id, customPrefix) {
		return findStored(id)
	}
	want := strings.ToLower(strings.TrimSpace(id))
	for _, r := range Catalogue {
		if want == r.Name || want == r.ID() {
			return r, nil
		}
	}
	name, version, _ := strings.Cut(want, "@")
	i := slices.IndexFunc(Catalogue, func(r *Ruleset) bool { return r.Name == name })
	if i >= 0 {
		return nil, fmt.Errorf("%w: %s has no version %q", ErrNoSuchRuleset, name, short(version))
	}
	return nil, fmt.Errorf("%w: %q", ErrNoSuchRuleset, short(strings.TrimSpace(id)))
}
