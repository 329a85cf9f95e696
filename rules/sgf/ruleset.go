package sgf

import (
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// foreign maps the names that other programs give to rules.
var foreign = map[string]*rules.Ruleset{
	"chinese":     &rules.AGA,
	"cn":          &rules.AGA,
	"aga":         &rules.AGA,
	"bga":         &rules.AGA,
	"newzealand":  &rules.AGA,
	"nz":          &rules.AGA,
	"japanese":    &rules.Japanese,
	"jp":          &rules.Japanese,
	"korean":      &rules.Japanese,
	"kr":          &rules.Japanese,
	"tromptaylor": &rules.TrompTaylor,
	"tt":          &rules.TrompTaylor,
}

// Ruleset returns the ruleset that the record names, "two-button@1", without a
// version the current one. For names that other programs use it returns the
// nearest ruleset, for no or an unknown name aga, and a note for the person
// who asked; the note is empty if the record names one of our rulesets. A name
// with a version that is not in the catalogue is an error.
func (rec *Record) Ruleset() (r *rules.Ruleset, note string, err error) {
	if rec.RU == "" {
		return &rules.AGA, "the record names no rules: they are read as aga", nil
	}
	r, err = rules.Find(rec.RU)
	if err == nil {
		return r, "", nil
	}
	if strings.Contains(rec.RU, "@") {
		return nil, "", fmt.Errorf("RU[%s]: %w", cut(rec.RU, 40), err)
	}
	letters := strings.Map(func(c rune) rune {
		if c < 'a' || c > 'z' {
			return -1
		}
		return c
	}, strings.ToLower(rec.RU))
	r, ok := foreign[strings.TrimSuffix(letters, "rules")]
	if !ok {
		r = &rules.AGA
	}
	return r, fmt.Sprintf("the record's rules %q are read as %s", cut(rec.RU, 40), r.Name), nil
}
