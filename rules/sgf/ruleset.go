package sgf

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// areaRules and territoryRules are the rulesets as which the usual names of rules that count area, and
// of rules that count territory, are read.
var (
	areaRules      = &rules.AreaAgreement
	territoryRules = &rules.Japanese
)

// foreign are names of rules in records, beside those that rules.Find knows: how they begin,
// whatever follows, and what such rules say; nil if that is what the ruleset says.
var foreign = []struct {
	names *regexp.Regexp
	like  *rules.Ruleset
	says  fields
}{
	{regexp.MustCompile(`^aga[-_ ]?button\b`), &rules.ButtonGo, fields{score: "AREA", button: "1", bonus: "N-1"}},
	{regexp.MustCompile(`^(?:ancient[-_ ]?area|stone[-_ ]?scoring)\b`), areaRules, fields{score: "AREA", tax: "ALL", bonus: "0"}},
	{regexp.MustCompile(`^ancient[-_ ]?territory\b`), territoryRules, fields{score: "TERRITORY", tax: "ALL", bonus: "0"}},
	{regexp.MustCompile(`^tromp[-_ ]?taylor\b`), &rules.TrompTaylor, nil},
	{regexp.MustCompile(`^(?:jap|jpn\b|nihon|nippon|日本|日韩|японск|nhật|igs\b|korea|hanguk|корейск|韩国|韓国|한국|territory$)`), territoryRules, nil},
	{regexp.MustCompile(`^(?:chin|cn$|китайск|中国|中國)`), areaRules, fields{score: "AREA", bonus: "N"}},
	{regexp.MustCompile(`^(?:nz\b|new[-_ ]?zealand)`), areaRules, fields{score: "AREA", suicide: "1", bonus: "0"}},
	{regexp.MustCompile(`^(?:ing\b|goe\b|应氏|應氏)`), areaRules, fields{score: "AREA", ko: "ING", suicide: "1", bonus: "0"}},
	{regexp.MustCompile(`^area$`), areaRules, nil},
	{regexp.MustCompile(`^(?:aga\b|bga\b|french)`), &rules.AGA, nil},
}

// A namedRules is how the rules that a record names are read.
type namedRules struct {
	like *rules.Ruleset
	says fields // what the record's rules say, where they are not those of like
	odd  []rules.Saying
}

// known returns how the rules that the record names are read: the ruleset is nil if it names none, or
// some that nobody knows. A name that looks like a misspelling of a ruleset is not taken for it.
func (rec *Record) known() (namedRules, error) {
	if rec.RU == "" {
		return namedRules{}, nil
	}
	r, err := rules.Find(rec.RU)
	if err == nil && rec.calls(r) {
		return namedRules{like: r}, nil
	}
	if says, odd := readFields(rec.RU); says != nil {
		return namedRules{says.nearest(), says, odd}, nil
	}
	for _, f := range foreign {
		if f.names.MatchString(strings.ToLower(strings.TrimSpace(rec.RU))) {
			return namedRules{like: f.like, says: f.says}, nil
		}
	}
	var unclear *rules.Unclear
	switch {
	case err == nil:
		return namedRules{like: r}, nil
	case strings.Contains(rec.RU, "@"):
		return namedRules{}, fmt.Errorf("RU[%s]: %w", cut(rec.RU, 40), err)
	case errors.As(err, &unclear) && len(unclear.Choices) == 1 && rules.Known(rec.RU):
		return namedRules{like: unclear.Choices[0]}, nil
	}
	return namedRules{}, nil
}

// calls reports whether RU is what we call a ruleset.
func (rec *Record) calls(r *rules.Ruleset) bool {
	return r.IsCustom() || strings.EqualFold(rec.RU, r.Name) || strings.EqualFold(rec.RU, r.ID())
}

// NamesRules reports whether the record names rules that somebody knows.
func (rec *Record) NamesRules() bool {
	read, err := rec.known()
	return read.like != nil || err != nil
}

// Ruleset returns the ruleset that the record names, "two-button@1", without a
// version the current one. For names that other programs use it returns the
// nearest ruleset, see [Record.Differences]; for no, an ambiguous or an unknown name aga, and a note for the
// person who asked, which tells these apart; the note is empty if the record names one of our rulesets. A name
// with a version that is not in the catalogue is an error.
func (rec *Record) Ruleset() (r *rules.Ruleset, note string, err error) {
	if rec.RU == "" {
		return &rules.AGA, "the record names no rules: they are read as aga", nil
	}
	read, err := rec.known()
	switch r = read.like; {
	case err != nil:
		return nil, "", err
	case r == nil:
		return &rules.AGA, fmt.Sprintf("the record's rules %q are unknown: they are read as aga", cut(rec.RU, 40)), nil
	case rec.calls(r):
		return r, "", nil
	}
	return r, fmt.Sprintf("the record's rules %q are read as %s", cut(rec.RU, 60), r.Name), nil
}

// Differences says in what the rules that the record names differ from the ruleset of g, as which
// they are read: of what that ruleset cannot say. It says, too, what of the komi makes up for such a difference,
// so that the count comes out exactly. It is empty under other rulesets than the record's own.
func (rec *Record) Differences(g *rules.Game) (out []rules.Saying) {
	read, _ := rec.known()
	r := g.Rules()
	if !sameRules(read.like, r) {
		return nil
	}
	english := says // only the command line tells of them, untranslated
	if rec.marksOff != nil {
		out = append(out, english("the record marks {0} otherwise than {1} counts: the komi of {2} makes up for that", rules.Names(rec.marksOff), r.Name, g.Setup().Komi))
	}
	f, territory := read.says, read.says[score] == "TERRITORY"
	has, allows := repetition(r), suicidal(r)
	n, by, like := rec.bonus(read)
	for _, d := range []struct {
		field, value string // what the record's rules say
		differs      bool
		saying       rules.Saying
	}{
		{ko, "ING", true, english("the record's rules have Ing's rules of ko, which {0} does not know", r.Name)},
		{ko, "SPIGHT", true, english("by the record's rules a pass lifts the bans of repetition, in {0} it does not", r.Name)},
		{ko, f[ko], repetitions[f[ko]] != "" && f[ko] != has, english("the record's rules have {0}, {1} has {2}", repetitions[f[ko]], r.Name, repetitions[has])},
		{suicide, "1", !allows, english("the record's rules allow suicide, {0} does not", r.Name)},
		{suicide, "0", allows, english("{0} allows suicide, the record's rules do not", r.Name)},
		{tax, "ALL", true, english("by the record's rules each living group pays two points, in {0} it does not", r.Name)},
		{tax, "SEKI", !territory, english("by the record's rules points that are surrounded in seki do not count, in {0} they do", r.Name)},
		{tax, "NONE", territory && len(g.Seki()) > 0, english("by the record's rules points that are surrounded in seki count, in {0} they do not", r.Name)},
		{friendly, "0", !territory && len(g.Dead()) > 0 && rec.deadBy == ByPlayouts,
			english("by the record's rules stones that are not captured are mostly alive, here those that look dead are taken off")},
		{bonus, f[bonus], by != like, english("by the record's rules White gets {0} for {1} handicap stones, in {2} {3}: the komi of {4} makes up for that",
			rules.Points(by)*rules.One, n, r.Name, rules.Points(like)*rules.One, g.Setup().Komi)},
		{button, "1", territory, english("by the record's rules the first pass gains half a point, in {0} it does not: the komi of {1} makes up for that", r.Name, g.Setup().Komi)},
	} {
		if f[d.field] == d.value && d.differs {
			out = append(out, d.saying)
		}
	}
	return out
}

// madeUp returns the komi, beside that of the record, with which a game of the record's own
// ruleset r comes to the count of the rules that it names.
func (rec *Record) madeUp(r *rules.Ruleset) (komi rules.Points) {
	read, _ := rec.known()
	if !sameRules(read.like, r) {
		return 0
	}
	_, by, like := rec.bonus(read)
	komi = rec.marksKomi + rules.Points(by-like)*rules.One
	if read.says[button] == "1" && read.says[score] == "TERRITORY" {
		komi += map[rules.Color]rules.Points{rules.Black: -rules.Half, rules.White: rules.Half}[rec.firstToPass()]
	}
	return komi
}

// bonus returns the number of handicap stones, and how many points White gets for them by the rules
// that the record names, and in the ruleset as which they are read.
func (rec *Record) bonus(read namedRules) (n, by, like int) {
	s := rec.Setup
	n = s.Handicap
	if n > 0 && (sameRules(read.like, &rules.AGA) || rules.Includes(read.like.Count, rules.AddHandicap)) {
		like = n - 1 // aga's in pass stones
	}
	if n == 0 && read.says[friendly] != "" && len(s.White) == 0 {
		n = len(s.Black) // KataGo does not ask HA
	}
	by = like
	if said, ok := map[string]int{"0": 0, "N-1": n - 1, "N": n}[read.says[bonus]]; ok && n >= 2 {
		by = said
	}
	return n, by, like
}

// firstToPass returns who passes first or, if nobody does, whose turn it is when the record ends.
func (rec *Record) firstToPass() rules.Color {
	next := rec.Setup.First
	if next == rules.None {
		next = map[bool]rules.Color{false: rules.Black, true: rules.White}[rec.Setup.Handicap > 0]
	}
	for _, t := range rec.Turns {
		if next = t.By.Opponent(); t.Kind == rules.Pass {
			return t.By
		}
	}
	return next
}
