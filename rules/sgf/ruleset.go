package sgf

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// foreign are names of rules in records, beside those that rules.Find knows: how they begin,
// whatever follows, or what KataGo writes into them, koSIMPLEscoreTERRITORYtaxSEKIsui0.
var foreign = []struct {
	names *regexp.Regexp
	like  *rules.Ruleset
}{
	{regexp.MustCompile(`^(?:jap|jpn\b|nihon|nippon|日本|日韩|японск|nhật|igs\b|korea|hanguk|корейск|韩国|韓国|한국|territory$)|scoreterritory`), &rules.Japanese},
	{regexp.MustCompile(`^(?:chin|китайск|中国|中國|aga\b|area$|ing\b|goe\b|应氏|應氏|nz\b|new zealand|bga\b|french)|scorearea`), &rules.AGA},
}

// suicidal are names of rules that allow suicide, and are read as ones that do not.
var suicidal = regexp.MustCompile(`^(?:nz\b|new zealand|ing\b|goe\b|应氏|應氏)|sui1$`)

// known returns the ruleset that the record names; nil if it names none, or one that nobody
// knows. A name that looks like a misspelling of a ruleset is not taken for it.
func (rec *Record) known() (*rules.Ruleset, error) {
	r, err := rules.Find(rec.RU)
	if err == nil {
		return r, nil
	}
	for _, f := range foreign {
		if f.names.MatchString(strings.ToLower(rec.RU)) {
			return f.like, nil
		}
	}
	var unclear *rules.Unclear
	switch {
	case strings.Contains(rec.RU, "@"):
		return nil, fmt.Errorf("RU[%s]: %w", cut(rec.RU, 40), err)
	case errors.As(err, &unclear) && len(unclear.Choices) == 1 && rules.Known(rec.RU):
		return unclear.Choices[0], nil
	}
	return nil, nil
}

// NamesRules reports whether the record names rules that somebody knows.
func (rec *Record) NamesRules() bool {
	r, err := rec.known()
	return r != nil || err != nil
}

// Ruleset returns the ruleset that the record names, "two-button@1", without a
// version the current one. For names that other programs use it returns the
// nearest ruleset, for no, an ambiguous or an unknown name aga, and a note for the
// person who asked, which tells these apart; the note is empty if the record names one of our rulesets. A name
// with a version that is not in the catalogue is an error.
func (rec *Record) Ruleset() (r *rules.Ruleset, note string, err error) {
	if rec.RU == "" {
		return &rules.AGA, "the record names no rules: they are read as aga", nil
	}
	switch r, err = rec.known(); {
	case err != nil:
		return nil, "", err
	case r == nil:
		return &rules.AGA, fmt.Sprintf("the record's rules %q are unknown: they are read as aga", cut(rec.RU, 40)), nil
	case r.IsCustom() || strings.EqualFold(rec.RU, r.Name) || strings.EqualFold(rec.RU, r.ID()):
		return r, "", nil
	}
	return r, fmt.Sprintf("the record's rules %q are read as %s", cut(rec.RU, 40), r.Name), nil
}
