package bot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules"
)

// rulesetID returns the id of a game's ruleset, without the text of a custom one.
func rulesetID(m match.Match) string {
	id, _, _ := strings.Cut(m.Rules, " ")
	return id
}

// ReadRulesets reads files that compose rulesets: YAML with the keys of
// [rules.Spec]. Its error is a [BadSettings] that names each file with a mistake, or
// a system error.
func ReadRulesets(files []string) ([]*rules.Ruleset, error) {
	var out []*rules.Ruleset
	var mistakes BadSettings
	for _, name := range files {
		r, err := readRuleset(name)
		var bad *BadSetting
		switch {
		case errors.As(err, &bad):
			mistakes = append(mistakes, bad)
		case err != nil:
			return nil, err
		case slices.ContainsFunc(out, func(other *rules.Ruleset) bool { return other.Name == r.Name }):
			mistakes = append(mistakes, &BadSetting{File: name, Key: "name", Why: fmt.Sprintf("there are two custom rulesets %q", r.Name)})
		default:
			out = append(out, r)
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return out, nil
}

// maxRuleset is the largest size of such a file, in bytes.
const maxRuleset = 64 << 10

// ReadFile reads a file of at most a number of bytes, of a larger one no more than one byte beyond: it may
// be a device that never ends.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// withColon returns the first item of a list that YAML reads as a key and a value: a rule with a
// colon in it that nobody put between quotation marks. It is nil if there is none.
func withColon(n *yaml.Node) *yaml.Node {
	for _, child := range n.Content {
		if n.Kind == yaml.SequenceNode && child.Kind == yaml.MappingNode && len(child.Content) > 0 {
			return child
		}
		if item := withColon(child); item != nil {
			return item
		}
	}
	return nil
}

func readRuleset(name string) (*rules.Ruleset, error) {
	text, err := ReadFile(name, maxRuleset)
	if err != nil {
		return nil, err
	}
	if len(text) > maxRuleset {
		return nil, &BadSetting{File: name, Why: fmt.Sprintf("larger than %d KiB", maxRuleset>>10)}
	}
	var doc yaml.Node
	var keys map[string]any
	if err := cmp.Or(yaml.Unmarshal(text, &doc), yaml.Unmarshal(text, &keys)); err != nil {
		return nil, &BadSetting{File: name, Why: strings.Join(strings.Fields(err.Error()), " ")}
	}
	if item := withColon(&doc); item != nil {
		return nil, &BadSetting{File: name, Why: fmt.Sprintf("line %d: put the rule that begins with “%s:” between quotation marks, because it has a colon in it", item.Line, rules.Shorten(item.Content[0].Value, 60))}
	}
	if komi, ok := keys["komi"]; ok { // a number, for those who leave out the quotes
		keys["komi"] = fmt.Sprint(komi)
	}
	asJSON, err := json.Marshal(keys)
	if err != nil {
		return nil, &BadSetting{File: name, Why: err.Error()}
	}
	var spec rules.Spec
	d := json.NewDecoder(bytes.NewReader(asJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(&spec); err != nil {
		return nil, &BadSetting{File: name, Why: strings.TrimPrefix(err.Error(), "json: ")}
	}
	r, err := rules.Custom(spec)
	if err != nil {
		return nil, &BadSetting{File: name, Why: err.Error()}
	}
	return r, nil
}
