package text

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	cldr "golang.org/x/text/feature/plural"
	bcp47 "golang.org/x/text/language"
)

// A Language words messages. It is the content of its file, lang/TAG.json; {0}, {1} …
// are arguments. It is read-only and may be used concurrently.
type Language struct {
	Tag  string `json:"-"`    // BCP 47: "de"
	Name string `json:"name"` // what its speakers call it: "Deutsch"

	// Texts are the words of messages by key. A key that ends with a CLDR plural
	// category (".one", ".few", ".many" …) is for a first argument of that kind.
	Texts map[string]string `json:"texts"`
	// Commands are the summaries of commands and options and the labels of
	// choices, by the English ones.
	Commands map[string]string `json:"commands"`
	// Picture are the words in pictures and in their descriptions.
	Picture map[string]string `json:"picture"`
	// Adapters are the adapters' own texts, by the English ones.
	Adapters map[string]string `json:"adapters"`
	// Sentences are the sentences of the rules, by the English ones. Rules that quote
	// their sources are not among them: they stay English, in quotes.
	Sentences map[string]string `json:"sentences"`
	// Missing are the keys of Texts, and those of Commands, that stay English on
	// purpose.
	Missing []string `json:"missing"`

	tag bcp47.Tag
}

// English is the language of last resort. Its words are in the code, and replace those
// that another language lacks.
var English = &Language{Tag: "en", Name: "English", tag: bcp47.English}

//go:embed lang/*.json
var languageFiles embed.FS

// Languages returns all languages, English first.
var Languages = sync.OnceValue(func() []*Language {
	names, err := languageFiles.ReadDir("lang")
	if err != nil {
		panic(err)
	}
	all := []*Language{English}
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

func readLanguage(tag string, text []byte) (*Language, error) {
	l := &Language{Tag: tag}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	var err error
	if l.tag, err = bcp47.Parse(tag); err != nil {
		return nil, err
	}
	return l, nil
}

// FindLanguage returns the language of a BCP 47 tag or of a locale such as
// "de_AT.UTF-8", and whether there is one; if not, the language is English.
func FindLanguage(tag string) (*Language, bool) {
	base := strings.ToLower(tag)
	if i := strings.IndexAny(base, "-_.@"); i >= 0 {
		base = base[:i]
	}
	for _, l := range Languages() {
		if l.Tag == base {
			return l, true
		}
	}
	return English, false
}

// Called returns the names of a language, in small letters: its tag, what its speakers call
// it, and what it is called in the others, "german", "ドイツ語".
func (l *Language) Called() []string {
	names := []string{l.Tag, strings.ToLower(l.Name)}
	for _, in := range Languages() {
		key := "language." + l.Tag
		if name := in.template(key, nil); name != key {
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// LanguageCalled returns the language that a name means: "de", "Deutsch" or "german".
func LanguageCalled(name string) (*Language, bool) {
	for _, l := range Languages() {
		if name != "" && slices.Contains(l.Called(), strings.ToLower(name)) {
			return l, true
		}
	}
	return English, false
}

// BestLanguage returns the language of a tag, or English.
func BestLanguage(tag string) *Language {
	l, _ := FindLanguage(tag)
	return l
}

var forms = map[cldr.Form]string{cldr.Zero: "zero", cldr.One: "one", cldr.Two: "two", cldr.Few: "few", cldr.Many: "many"}

// form returns the CLDR plural category of a number: "one", "few" …, or "" for
// "other".
func (l *Language) form(n int) string {
	if n < 0 {
		n = -n
	}
	return forms[cldr.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]
}

// fillIn puts arguments into a template, all at once, so that a {0} in an argument is
// not replaced.
func fillIn(template string, args ...string) string {
	var out strings.Builder
	rest := markMentions(template)
	for {
		before, after, found := strings.Cut(rest, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		number, behind, _ := strings.Cut(after, "}")
		if i, err := strconv.Atoi(number); err == nil && i >= 0 && i < len(args) {
			out.WriteString(args[i])
			rest = behind
		} else {
			out.WriteByte('{')
			rest = after
		}
	}
}

// Names maps the ids of people to users.
type Names map[string]User

// A User is a person as their platform knows them.
type User struct{ Name, Platform, ID string }

// Word words messages, a line for each. People without a name become "somebody"; game is
// the number for [ThisGame].
func (l *Language) Word(ms []Message, names Names, game int) string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = l.word(m, names, game)
	}
	return strings.Join(lines, "\n")
}

// Say words a message that names nobody.
func (l *Language) Say(m Message) string { return l.word(m, nil, 0) }

func (l *Language) word(m Message, names Names, game int) string {
	args := make([]string, len(m.Args))
	for i, a := range m.Args {
		switch a.Kind {
		case Person:
			who := names[a.Value]
			args[i] = cmp.Or(who.Name, l.Say(Say("somebody")))
			if m.Key == "called" && who.ID != "" {
				return markBegin + markPerson + who.Platform + roomParts + who.ID + markWords + args[i] + markEnd
			}
		case Game:
			args[i] = strconv.Itoa(game)
		case Number:
			args[i] = strings.Replace(a.Value, "-", "−", 1)
		case Nested:
			args[i] = l.word(*a.Message, names, game)
		default:
			args[i] = a.Value
		}
	}
	if how, ok := strings.CutPrefix(m.Key, "sentence"); ok && len(args) > 0 {
		says, ok := l.Sentences[args[0]]
		switch {
		case args[0] == "": // a game that was deleted does not say why it is over
			return ""
		case l == English:
			says = fillIn(args[0], args[1:]...)
		case !ok:
			says = fillIn(l.template("quoted", nil), English.word(Message{"sentence", m.Args}, names, game))
		default:
			says = fillIn(says, args[1:]...)
		}
		return l.sentence(how, says)
	}
	if m.Key == adapters && len(args) > 0 {
		return l.Adapter(args[0], args[1:]...)
	}
	return fillIn(l.template(m.Key, m.Args), args...)
}

// sentence translates a sentence of the rules. With how "" it stays as it is, with
// ".begins" it gets a capital letter, with ".whole" a capital letter and a stop.
func (l *Language) sentence(how, says string) string {
	if how == "" {
		return says
	}
	says = Capital(says)
	if stop := strings.TrimSpace(l.PictureWords().Stop); how == ".whole" && !strings.HasSuffix(says, stop) && !strings.ContainsAny(says[len(says)-1:], "?!") && !strings.HasSuffix(says, "？") {
		says += stop
	}
	return says
}

// template returns the words for a key, in the plural form of the first argument if
// that is a number.
func (l *Language) template(key string, args []Arg) string {
	for _, in := range []struct {
		*Language
		texts map[string]string
	}{{l, l.Texts}, {English, english}, {English, former}} {
		if len(args) > 0 && args[0].Kind == Number {
			if n, err := strconv.Atoi(args[0].Value); err == nil {
				if t, ok := in.texts[key+"."+in.form(n)]; ok {
					return t
				}
			}
		}
		if t, ok := in.texts[key]; ok {
			return t
		}
	}
	return key
}

// Adapter translates an adapter's own text, with arguments for {0}, {1} …. If there is no
// translation it stays English.
func (l *Language) Adapter(english string, args ...string) string {
	return fillIn(cmp.Or(l.Adapters[english], english), args...)
}

// Mentions yields the commands in the language's own texts, with the keys of the texts.
func (l *Language) Mentions() iter.Seq2[string, Mention] {
	texts := l.Texts
	if l == English {
		texts = english
	}
	return func(yield func(string, Mention) bool) {
		for key, template := range texts {
			for _, m := range mentions.FindAllStringSubmatch(template, -1) {
				if !yield(key, parseMention(m[1])) {
					return
				}
			}
		}
	}
}

// Command translates the summary of a command or an option, or the label of a
// choice.
func (l *Language) Command(english string) string { return cmp.Or(l.Commands[english], english) }

// Capital returns s with a capital letter.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
