package sgf

import (
	"regexp"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// fields are what a name of rules says of them, in the words of KataGo, which writes all of them
// one after another: koSIMPLEscoreAREAtaxNONEsui0whbN. Where there is none the name does not say it.
type fields map[string]string

// The fields of KataGo. Button, bonus and friendly are left out where they are 0.
const (
	ko       = "ko"     // SIMPLE, POSITIONAL, SITUATIONAL; SPIGHT, whose passes lift bans; and ING, which is not KataGo's
	score    = "score"  // AREA or TERRITORY
	tax      = "tax"    // NONE; SEKI, no points in seki; ALL, and two points from each group that lives
	suicide  = "sui"    // 1: of several stones it is legal
	button   = "button" // 1: the first pass takes it
	bonus    = "whb"    // what White gets for N handicap stones: 0, N-1 or N
	friendly = "fpok"   // 1: dead stones need not be captured
)

// fieldOrder is the order in which KataGo writes the fields.
var fieldOrder = []string{ko, score, tax, suicide, button, bonus, friendly}

var (
	// fieldNames match what only a string of KataGo has.
	fieldNames = regexp.MustCompile(`(?i)scor(?:e|ing) *(?:area|territory)|^ko *(?:simple|positional|situational|spight)`)
	// The groups, of which two are not empty: the name of a field, and its value.
	fieldValues = regexp.MustCompile(`(?i)(ko) *(simple|positional|situational|spight)|(scor(?:e|ing)) *(area|territory)|(tax) *(none|seki|all)|` +
		`(sui|button|fpok) *([01])|(whb) *(n-1|n|0)`)
)

// readFields reads the rules of KataGo, as KataGo does, and says where they are not as it writes
// them. It returns nil for other names.
func readFields(ru string) (f fields, odd []rules.Saying) {
	ru = strings.TrimSpace(ru)
	if !fieldNames.MatchString(ru) || strings.HasPrefix(ru, "custom/") || rules.Known(ru) {
		return nil, nil
	}
	f = fields{}
	for _, m := range fieldValues.FindAllStringSubmatch(ru, -1) {
		pair := slices.DeleteFunc(m[1:], func(group string) bool { return group == "" })
		name := strings.Replace(strings.ToLower(pair[0]), "scoring", score, 1)
		f[name] = strings.ToUpper(pair[1])
	}
	f.otherwise(fields{ko: "POSITIONAL", score: "AREA", suicide: "1"})
	f.otherwise(fields{tax: map[string]string{"AREA": "NONE", "TERRITORY": "SEKI"}[f[score]]})
	if said := f.String(); said != ru {
		odd = append(odd, says("RU[{0}] is read as {1}", cut(ru, 80), said))
	}
	f.otherwise(fields{button: "0", bonus: "0", friendly: "0"})
	return f, odd
}

// otherwise adds the fields that f does not have.
func (f fields) otherwise(usual fields) {
	for name, value := range usual {
		if _, ok := f[name]; !ok {
			f[name] = value
		}
	}
}

// String returns the fields as KataGo writes them.
func (f fields) String() string {
	var s strings.Builder
	for _, name := range fieldOrder {
		if value, ok := f[name]; ok {
			s.WriteString(name + value)
		}
	}
	return s.String()
}

// nearest returns the ruleset that is nearest to all fields of KataGo. It is never tromp-taylor,
// which leaves stones on the board that KataGo takes off: those within territory that cannot be invaded.
func (f fields) nearest() *rules.Ruleset {
	switch {
	case f[score] == "TERRITORY":
		return territoryRules
	case f[button] == "1":
		return &rules.ButtonGo
	}
	return areaRules
}

// repetitions are the bans of repetition.
var repetitions = map[string]string{"SIMPLE": "simple ko", "POSITIONAL": "positional superko", "SITUATIONAL": "situational superko"}

// repetition returns which ban a ruleset has.
func repetition(r *rules.Ruleset) string {
	for is, fact := range map[string]rules.Fact{"SIMPLE": rules.NotKo, "POSITIONAL": rules.NewPosition, "SITUATIONAL": rules.NewSituation} {
		if rules.Includes(r.Moves[rules.Place], rules.Require(fact)) {
			return is
		}
	}
	return ""
}

// suicidal reports whether a ruleset allows suicide.
func suicidal(r *rules.Ruleset) bool { return rules.Includes(r.Moves[rules.Place], rules.RemoveOwn) }
