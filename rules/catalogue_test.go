package rules

import (
	"errors"
	"strings"
	"testing"
)

// People find rulesets under the names that they know.
func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"two-button": "two-button", "TWO-BUTTON": "two-button", "two button": "two-button", "twobutton": "two-button", "Two Button Go": "two-button",
		" two  Buttons ": "two-button", "2 button": "two-button", "two_button": "two-button", "two-button@1": "two-button", "Two-Button@1": "two-button",
		"Two Button Go, buttons as turns": "two-button-separate",
		"button":                          "button", "Button Go": "button", "button with equivalence scoring": "button-equivalence", "reverse button": "reverse-button",
		"half pass": "half-pass", "halfpass": "half-pass", "Half-pass with agreement": "half-pass-agreement", "half pass agreement": "half-pass-agreement",
		"tromp taylor": "tromp-taylor", "Tromp–Taylor": "tromp-taylor", "TT": "tromp-taylor", "tromp": "tromp-taylor",
		"area 3": "area-3", "Area rules III": "area-3", "territory rules I": "territory-1", "area iii": "area-3", "Japanese 1900": "japanese", "ultimate go": "ultimate", "AGA rules": "aga",
		"Japanese (1989)": "japanese", "chinese": "area-agreement", "Chinese rules": "area-agreement", "nz": "area-agreement", "New Zealand": "area-agreement", "Korean": "japanese", "KR": "japanese",
		"日本ルール": "japanese", "日本规则": "japanese", "中国规则": "area-agreement", "中國規則": "area-agreement", "日韩规则": "japanese", "한국 룰": "japanese", "应氏规则": "area-agreement?",

		"ikeda":                             "area-1 area-2 area-3 territory-1",
		"ing":                               "area-agreement?",
		"ha":                                "half-pass half-pass-agreement",
		"half":                              "half-pass half-pass-agreement",
		"pauli":                             "half-pass half-pass-agreement",
		"spight":                            "free-first-pass two-button-separate two-button-passes",
		"two":                               "two-button two-button-separate two-button-passes",
		"ultim":                             "ultimate?",
		"tow-button":                        "two-button?",
		"two-buton":                         "two-button?",
		"agga":                              "aga?",
		"area-4":                            "area-1 area-2 area-3",
		"area-1@2":                          "none",
		"go":                                "none",
		"":                                  "none",
		"a":                                 "none",
		"x":                                 "none",
		"house":                             "none",
		"custom/mine":                       "none",
		"two-button@x":                      "none",
		strings.Repeat("two button ", 1000): "none",
	} {
		got := "none"
		r, err := Find(name)
		var unclear *Unclear
		switch {
		case err == nil:
			got = r.Name
		case !errors.Is(err, ErrNoSuchRuleset):
			t.Errorf("%q: %v", name, err)
		case errors.As(err, &unclear):
			got = ""
			for _, r := range unclear.Choices {
				got += r.Name + " "
			}
			if got = strings.TrimSpace(got); len(unclear.Choices) == 1 {
				got += "?"
			}
		}
		if got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"ikeda": `no such ruleset: "ikeda" (did you mean "area-1", "area-2", "area-3" or "territory-1"?) Ikeda Toshio wrote four rulesets.`,
		"agga":  `no such ruleset: "agga" (did you mean "aga"?)`,
	} {
		if _, err := Find(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// Custom rulesets are found and meant like the others. A ruleset is never read out of
// what somebody typed.
func TestFindAmong(t *testing.T) {
	r := custom(t, Spec{Base: "aga", Name: "house-rules", Title: "Rules of the House"})
	own := []*Ruleset{r, custom(t, Spec{Base: "aga", Name: "club", Title: strings.Repeat("碁", maxTitle)}), custom(t, Spec{Base: "aga", Name: "club-go"})}
	for name, want := range map[string]string{
		"house-rules": "custom/house-rules", "House Rules": "custom/house-rules", " custom/house-rules": "custom/house-rules", r.ID(): "custom/house-rules",
		"rules of the house": "custom/house-rules", "house": "custom/house-rules", "aga": "aga", "chinese": "area-agreement",
		"huose-rules": "custom/house-rules?", "hous": "custom/house-rules?", "custom/huose": "custom/house-rules?", "custom/agga": "aga?", "two": "two-button two-button-separate two-button-passes",
		"club": "custom/club", "clxx": "none", strings.Repeat("碁", maxTitle): "custom/club", strings.Repeat("-", 2*maxTitle-5) + "house": "custom/house-rules", strings.Repeat("-", 2*maxTitle-4) + "house": "none",
		"club-go": "custom/club-go", "custom/club-go": "custom/club-go", "ikeda": "area-1 area-2 area-3 territory-1",
		"custom/aga": "aga?", "nothing": "none", "custom/": "none", "": "none", r.ID() + "0": "none", r.Stored(): "none", "aga@9": "none",
	} {
		found, err := FindAmong(own, name)
		got := "none"
		if err == nil {
			got = found.Name
		} else if unclear, ok := errors.AsType[*Unclear](err); ok {
			got = ""
			for _, r := range unclear.Choices {
				got += r.Name + " "
			}
			if got = strings.TrimSpace(got); len(unclear.Choices) == 1 {
				got += "?"
			}
		}
		if got != want || err != nil && !errors.Is(err, ErrNoSuchRuleset) {
			t.Errorf("%q is %s, want %s: %v", name, got, want, err)
		}
	}
}

// A name means one thing, and what is near says what it is near to.
func TestAliases(t *testing.T) {
	seen := map[string]string{}
	for _, r := range Catalogue {
		for _, name := range []string{r.Name, r.Title} {
			if found, err := Find(name); found != r {
				t.Errorf("%q: %v %v", name, found, err)
			}
			if About(name) != "" {
				t.Errorf("%q: %q", name, About(name))
			}
			if other := seen[normal(name)]; other != "" && other != r.Name {
				t.Errorf("%q is %s and %s", name, other, r.Name)
			}
			seen[normal(name)] = r.Name
		}
	}
	for _, a := range aliases {
		for _, name := range strings.Fields(a.names) {
			if seen[name] != "" || normal(name) != name {
				t.Errorf("the alias %q is never looked up, or means two things", name)
			}
			seen[name] = "an alias"
			if !Known(name) || About(name) != a.note {
				t.Errorf("%q: %q", name, About(name))
			}
		}
		if a.ask && a.note == "" || !a.ask && len(a.means) > 1 || !a.ask && a.note != "" && !strings.Contains(a.note, a.means[0].Name) {
			t.Errorf("%q: the note %q does not say enough", a.names, a.note)
		}
	}
}
