package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Catalogue is every ruleset, in the order in which it is shown.
var Catalogue = []*Ruleset{
	&TrompTaylor,
	&Area1, &Area2, &Area3, &Territory1,
	&AreaAgreement,
	&AGA, &FreeFirstPass,
	&ButtonGo, &ButtonEquivalence, &ReverseButton,
	&TwoButton, &TwoButtonSeparate, &TwoButtonPasses,
	&HalfPass, &HalfPassAgreement,
	&Ultimate,
	&Japanese,
}

// earlier are the versions of rulesets that were released and are not played any more,
// but for games that were begun under them.
var earlier = []*Ruleset{&japanese1, aga1, freeFirstPass1, buttonEquivalence1, reverseButton1, twoButton1, twoButtonSeparate1, twoButtonPasses1}

// aliases are the other names under which people know rulesets, as [normal] writes them.
// Names and titles need none.
var aliases = []struct {
	names string
	means []*Ruleset // several, or an ask, and the person has to choose
	note  string     // a sentence for the person; "" for another spelling
	ask   bool       // the ruleset is near, but not near enough to be taken for it
}{
	{"chinese cn china 中国 中國", []*Ruleset{&AreaAgreement}, "For Chinese rules I use area-agreement. Your stones and the points they surround count, and you agree on what is dead.", false},
	{"newzealand nz", []*Ruleset{&AreaAgreement}, "For New Zealand rules I use area-agreement, but suicide is not allowed.", false},
	{"bga british", []*Ruleset{&AGA}, "British rules are the same as aga.", false},
	{"french ffg", []*Ruleset{&AGA}, "For French rules I use aga. They have pass stones too.", false},
	{"korean kr korea 韩国 韓国 日韩 한국", []*Ruleset{&Japanese}, "For Korean rules I use japanese. Territory and prisoners count, and a pass is free.", false},
	{"jp japan nihonkiin 日本 日本棋院 일본", []*Ruleset{&Japanese}, "", false},
	{"american us usa", []*Ruleset{&AGA}, "", false},
	{"tt tromp taylor logical trompandtaylor", []*Ruleset{&TrompTaylor}, "", false},
	{"twobuttons doublebutton", []*Ruleset{&TwoButton}, "", false},
	{"equivalence buttonwithequivalence", []*Ruleset{&ButtonEquivalence}, "", false},
	{"reverse", []*Ruleset{&ReverseButton}, "", false},
	{"spight", []*Ruleset{&FreeFirstPass, &TwoButtonSeparate, &TwoButtonPasses}, "Bill Spight wrote three rulesets.", true},
	{"yaffe", []*Ruleset{&Ultimate}, "", false},
	{"pauli", []*Ruleset{&HalfPass, &HalfPassAgreement}, "Robert Pauli wrote two rulesets.", true},
	{"ikeda", []*Ruleset{&Area1, &Area2, &Area3, &Territory1}, "Ikeda Toshio wrote four rulesets.", true},
	{"area", []*Ruleset{&Area1, &Area2, &Area3, &AreaAgreement, &TrompTaylor, &ButtonGo}, "Several rulesets count area.", true},
	{"territory", []*Ruleset{&Territory1, &AGA, &TwoButton, &Japanese}, "Several rulesets count territory.", true},
	{"ing goe sst 应氏 應氏", []*Ruleset{&AreaAgreement}, "I do not have Ing rules. The nearest is area-agreement: it counts area too.", true},
}

// ErrNoSuchRuleset is wrapped by every error of [Find].
var ErrNoSuchRuleset = errors.New("no such ruleset")

// Unclear is the error of [Find] for a name that may mean any of some rulesets, or
// that is near enough to be a misspelling of one.
type Unclear struct {
	Typed   string // shortened
	Note    string // a sentence about the name; may be empty
	Choices []*Ruleset
}

// Error returns it in one line.
func (e *Unclear) Error() string {
	names := make([]string, len(e.Choices))
	for i, r := range e.Choices {
		names[i] = strconv.Quote(r.Name)
	}
	last := len(names) - 1
	if last > 0 {
		names[last-1] += " or " + names[last]
		names = names[:last]
	}
	s := fmt.Sprintf("%v: %q (did you mean %s?)", ErrNoSuchRuleset, e.Typed, strings.Join(names, ", "))
	if e.Note != "" {
		s += " " + e.Note
	}
	return s
}

// Unwrap returns ErrNoSuchRuleset.
func (e *Unclear) Unwrap() error { return ErrNoSuchRuleset }

// Find returns the ruleset of a name: its id, "two-button", with a version,
// "two-button@1", that version alone; its title, "Two Button Go"; or an alias, "chinese",
// of which [About] has something to say. Case, spaces and hyphens make no difference.
// Its error is an [*Unclear] if the name may mean several, or is misspelt. What
// [Ruleset.Stored] gives of a custom ruleset it reads again; of those it does not
// know the ids.
func Find(name string) (*Ruleset, error) {
	if strings.HasPrefix(name, customPrefix) {
		return findStored(name)
	}
	want := strings.ToLower(strings.TrimSpace(name))
	for _, r := range Catalogue {
		if want == r.Name || want == r.ID() {
			return r, nil
		}
	}
	for _, r := range earlier {
		if want == r.ID() {
			return r, nil
		}
	}
	none := fmt.Errorf("%w: %q", ErrNoSuchRuleset, short(strings.TrimSpace(name)))
	if base, version, ok := strings.Cut(want, "@"); ok {
		if slices.ContainsFunc(Catalogue, func(r *Ruleset) bool { return r.Name == base }) {
			return nil, fmt.Errorf("%w: %s has no version %q", ErrNoSuchRuleset, base, short(version))
		}
		return nil, none
	}
	means, note, ask := meaning(name)
	switch {
	case len(means) == 1 && !ask:
		return means[0], nil
	case means == nil:
		if means = near(normal(name), nil); means == nil {
			return nil, none
		}
	}
	return nil, &Unclear{short(strings.TrimSpace(name)), note, means}
}

// FindAmong finds custom rulesets besides those of the catalogue: by name, with
// "custom/" or without, by id and by title. A misspelling may mean any of them; see [Find].
// It never reads a ruleset out of the name.
func FindAmong(own []*Ruleset, name string) (*Ruleset, error) {
	base := strings.Join(strings.Fields(strings.ToLower(name)), "-")
	for _, r := range own {
		if base == r.Name || customPrefix+base == r.Name || base == r.ID() {
			return r, nil
		}
	}
	base, custom := strings.CutPrefix(base, customPrefix)
	none := fmt.Errorf("%w: %q", ErrNoSuchRuleset, short(strings.TrimSpace(name)))
	if !custom {
		r, err := Find(name)
		if err == nil || Known(name) || strings.Contains(name, "@") {
			return r, err
		}
	}
	s := normal(base)
	for _, r := range own {
		if s != "" && (s == normal(r.shortName()) || s == normal(r.Title)) {
			return r, nil
		}
	}
	if means := near(s, own); means != nil {
		return nil, &Unclear{short(strings.TrimSpace(name)), "", means}
	}
	return nil, none
}

// shortName returns the name of a ruleset without what all custom ones begin with.
func (r *Ruleset) shortName() string { return strings.TrimPrefix(r.Name, customPrefix) }

// About returns a sentence about a name under which [Find] has found a ruleset, if
// the rules that people know by that name are only near to the ruleset; else "".
func About(name string) string {
	_, note, _ := meaning(name)
	return note
}

// Known reports whether a name is that of a ruleset of the catalogue or an alias,
// also one that may mean several.
func Known(name string) bool {
	means, _, _ := meaning(name)
	return means != nil
}

// meaning looks a name up among names, titles and aliases. If ask is true, or there
// are several rulesets, the person has to choose.
func meaning(name string) (means []*Ruleset, note string, ask bool) {
	s := normal(name)
	if s == "" {
		return nil, "", false
	}
	for _, r := range Catalogue {
		if s == normal(r.Name) || s == normal(r.Title) {
			return []*Ruleset{r}, "", false
		}
	}
	for _, a := range aliases {
		if slices.Contains(strings.Fields(a.names), s) {
			return a.means, a.note, a.ask
		}
	}
	return nil, "", false
}

// near returns the rulesets of which the names begin with s, or else those from
// which it differs by at most two letters; of the catalogue and some others.
func near(s string, own []*Ruleset) (out []*Ruleset) {
	all := slices.Concat(Catalogue, own)
	for _, r := range all {
		if len(s) > 1 && strings.HasPrefix(normal(r.shortName()), s) {
			out = append(out, r)
		}
	}
	if out != nil {
		return out
	}
	least := 3
	for _, r := range all {
		name := normal(r.shortName())
		switch d := Distance(s, name); {
		case d < least && 2*d < len(name):
			out, least = []*Ruleset{r}, d
		case d == least && least < 3:
			out = append(out, r)
		}
	}
	return out
}

// normal writes a name of rules as aliases have it: without case, spaces, signs, years
// and words that any of them may have.
func normal(name string) string {
	if utf8.RuneCountInString(name) > 2*maxTitle {
		return ""
	}
	var out strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		switch word {
		case "rules", "rule", "ruleset", "go", "with", "scoring", "the":
			continue
		case "2":
			if out.Len() == 0 {
				word = "two"
			}
		}
		if n, err := strconv.Atoi(word); err != nil || n < 1900 {
			out.WriteString(word)
		}
	}
	s := out.String()
	for _, rules := range []string{"rules", "ルール", "规则", "規則", "규칙", "룰"} {
		s = strings.TrimSuffix(s, rules)
	}
	return s
}
