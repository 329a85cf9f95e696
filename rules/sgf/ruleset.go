package sgf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Ruleset returns the ruleset that the record names, "two-button@1", without a
// version the current one. For names that other programs use it returns the
// nearest ruleset, for no, an ambiguous or an unknown name aga, and a note for the
// person who asked; the note is empty if the record names one of our rulesets. A name
// with a version that is not in the catalogue is an error.
func (rec *Record) Ruleset() (r *rules.Ruleset, note string, err error) {
	if rec.RU == "" {
		return &rules.AGA, "the record names no rules: they are read as aga", nil
	}
	r, err = rules.Find(rec.RU)
	for _, counts := range []struct {
		word string // of KataGo, which writes its rules out: koSIMPLEscoreTERRITORYtaxSEKIsui0
		like *rules.Ruleset
	}{{"scoreTERRITORY", &rules.Japanese}, {"scoreAREA", &rules.AGA}} {
		if err != nil && strings.Contains(rec.RU, counts.word) {
			r, err = counts.like, nil
		}
	}
	if err == nil && (r.IsCustom() || strings.EqualFold(rec.RU, r.Name) || strings.EqualFold(rec.RU, r.ID())) {
		return r, "", nil
	}
	if err != nil && strings.Contains(rec.RU, "@") {
		return nil, "", fmt.Errorf("RU[%s]: %w", cut(rec.RU, 40), err)
	}
	var unclear *rules.Unclear
	switch {
	case errors.As(err, &unclear) && len(unclear.Choices) == 1 && rules.Known(rec.RU): // no misspelling
		r = unclear.Choices[0]
	case err != nil:
		r = &rules.AGA
	}
	return r, fmt.Sprintf("the record's rules %q are read as %s", cut(rec.RU, 40), r.Name), nil
}
