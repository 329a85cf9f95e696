package bot

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	cldr "golang.org/x/text/feature/plural"
	bcp47 "golang.org/x/text/language"
)

// A language is what its file holds. {0}, {1} … stand for arguments. It is not
// to be changed.
type language struct {
	Tag  string `json:"-"`    // BCP 47: "de"
	Name string `json:"name"` // what its speakers call it: "Deutsch"

	// Texts are those of the bot by their keys. A key with ".one", ".few" or
	// ".many" behind it is for a first argument that is such a number.
	Texts map[string]string `json:"texts"`
	// Commands are the summaries of commands and options and the labels of
	// choices, by the English ones.
	Commands map[string]string `json:"commands"`
	// Picture are the words in pictures and in their descriptions.
	Picture map[string]string `json:"picture"`
	// Adapters are what adapters say of their own, by the English.
	Adapters map[string]string `json:"adapters"`
	// Sentences are those of the rules, by the English; where one is missing it
	// is quoted. Those of the rulebooks quote their sources: they are not here.
	Sentences map[string]string `json:"sentences"`
	// Missing are the keys of Texts that are left in English on purpose.
	Missing []string `json:"missing"`

	tag      bcp47.Tag
	patterns []pattern
}

// A pattern is a sentence with arguments.
type pattern struct {
	is   *regexp.Regexp
	says string
}

// inEnglish has nothing: it is in the code.
var inEnglish = &language{Tag: "en", Name: "English", tag: bcp47.English}

// What people read in languages other than English: a file for each, de.json.
// English is in the code, and stands wherever a file lacks something.
//
//go:embed lang/*.json
var languageFiles embed.FS

// languages gives the languages, English first. A file that cannot be read is a fault
// of the program, which a test finds.
var languages = sync.OnceValue(func() []*language {
	names, err := languageFiles.ReadDir("lang")
	if err != nil {
		panic(err)
	}
	all := []*language{inEnglish}
	for _, f := range names {
		text, err := languageFiles.ReadFile("lang/" + f.Name())
		if err != nil {
			panic(err)
		}
		l, err := readLanguage(strings.TrimSuffix(f.Name(), path.Ext(f.Name())), text)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", f.Name(), err))
		}
		all = append(all, l)
	}
	return all
})

func readLanguage(tag string, text []byte) (*language, error) {
	l := &language{Tag: tag}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	var err error
	if l.tag, err = bcp47.Parse(tag); err != nil {
		return nil, err
	}
	for english, says := range l.Sentences {
		if !strings.Contains(english, "{") {
			continue
		}
		is := regexp.MustCompile(`\\\{\d\\\}`).ReplaceAllString(regexp.QuoteMeta(english), "(.+?)")
		l.patterns = append(l.patterns, pattern{regexp.MustCompile("^" + is + "$"), says})
	}
	slices.SortFunc(l.patterns, func(a, b pattern) int { return len(b.is.String()) - len(a.is.String()) }) // the most particular first
	return l, nil
}

// findLanguage gives the language of a BCP 47 tag or of a locale such as "de_AT.UTF-8",
// or false if the bot does not speak it.
func findLanguage(tag string) (*language, bool) {
	base := strings.ToLower(tag)
	if i := strings.IndexAny(base, "-_.@"); i >= 0 {
		base = base[:i]
	}
	for _, l := range languages() {
		if l.Tag == base {
			return l, true
		}
	}
	return inEnglish, false
}

// bestLanguage gives the language of the first tag that the bot speaks, or English.
func bestLanguage(tags ...string) *language {
	for _, tag := range tags {
		if l, ok := findLanguage(tag); ok {
			return l
		}
	}
	return inEnglish
}

var forms = map[cldr.Form]string{cldr.Zero: "zero", cldr.One: "one", cldr.Two: "two", cldr.Few: "few", cldr.Many: "many"}

// form gives the plural form that a number takes: "one", "few" …; empty: that
// which has no name of its own.
func (l *language) form(n int) string {
	if n < 0 {
		n = -n
	}
	return forms[cldr.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]
}

// sentence gives a sentence of the rules in this language, or false if it has
// none for it. English leaves it as it is.
func (l *language) sentence(s string) (string, bool) {
	if l == inEnglish {
		return s, true
	}
	if says, ok := l.Sentences[s]; ok {
		return says, true
	}
	for _, p := range l.patterns {
		if args := p.is.FindStringSubmatch(s); args != nil {
			for i, a := range args[1:] {
				if known, ok := l.Sentences[a]; ok { // a colour
					args[i+1] = known
				}
			}
			return fillIn(p.says, args[1:]...), true
		}
	}
	return s, false
}

// fillIn puts arguments into a template at one go: an argument is not looked
// into.
func fillIn(template string, args ...string) string {
	pairs := make([]string, 0, 2*len(args))
	for i, a := range args {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", a)
	}
	return strings.NewReplacer(pairs...).Replace(template)
}
