package bot

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// ErrNotACommand is the error of Parse for text that does not begin like a command.
var ErrNotACommand = fmt.Errorf("not a command")

// Parse reads a typed command: "/place D4", "/new two-button 9x9 komi:6.5",
// "/dead C3 D5 as:alive". An option that takes the rest keeps its lines. Options
// come in their order or by name, with ":", "=" or, but for prose, a space: "komi 7". The
// name of a yes-or-no option alone means yes, and yes alone confirms. A number after the
// letter of a point belongs to it: "/place e 5". Full-width letters and digits, as phones
// write them in Japanese and Chinese, are read like others except in prose and in the
// names of people. A command may have its group before it, "/room log", or one of its earlier
// names: Parse returns the present one. It returns ErrNotACommand for text that does not
// begin with "/" or "!"; its other errors are for the person who typed, in English, and
// [Explain] translates them.
func Parse(typed string) (string, map[string]string, error) {
	words := wordsOf(typed)
	if len(words) == 0 {
		return "", nil, ErrNotACommand
	}
	first := width.Fold.String(words[0].text)
	if len(first) < 2 || !strings.ContainsAny(first[:1], "/!") {
		return "", nil, ErrNotACommand
	}
	name := strings.ToLower(first[1:])
	c, ok := FindCommand(name)
	if slices.Contains(groups, name) && len(words) > 1 { // "/room log", as it is typed in Discord
		inside := strings.ToLower(width.Fold.String(words[1].text))
		if in, found := FindCommand(inside); !found {
			name = inside
		} else if in.Group == name {
			c, ok, name, words = in, true, inside, words[1:]
		}
	}
	if !ok {
		return "", nil, unknown(name)
	}
	var typedAs map[string]string
	if !slices.ContainsFunc(c.Options, prose) {
		typedAs = fold(words)
	}
	old := aliases[name]
	words = spelled(c, old, joined(c, quoted(c, old, words)))
	args := map[string]string{}
	var rest Option // the option that takes the rest
	take := func(o Option, value string) {
		args[o.Name], rest = value, Option{}
		if o.Rest {
			rest = o
		}
	}
	for i, w := range words[1:] {
		if o, value, ok := c.option(old, w.text); ok && value != "" {
			take(o, value[1:])
			continue
		}
		confirm, _, _ := c.option(old, "confirm")
		if strings.EqualFold(w.text, "yes") && args["confirm"] == "" && rest.Name == "" && confirm.Name != "" {
			args["confirm"] = "yes"
			continue
		}
		if _, err := strconv.Atoi(w.text); err == nil && rest.Type == PointOption && !aLetter.MatchString(words[i].text) {
			rest = Option{} // no number is a point: it is a game
		}
		if rest.Name != "" {
			args[rest.Name] += w.space + w.text
			continue
		}
		o := slices.IndexFunc(c.Options, func(o Option) bool {
			_, given := args[o.Name]
			return !given && (o.Type != BoolOption || isYesOrNo(w.text))
		})
		if o < 0 {
			return "", nil, text.Error("parse.many", c.Name, shortened(w.text), usage(c))
		}
		take(c.Options[o], w.text)
	}
	for name, value := range args {
		args[name] = strings.TrimSpace(value)
		o, _, _ := c.option(old, name)
		if typed, ok := typedAs[args[name]]; ok && o.Type == UserOption {
			args[name] = typed // a person is called as they call themselves
		}
		if !prose(o) {
			args[name] = unquoted(args[name])
		}
	}
	all := map[string]string{}
	maps.Copy(all, old.args)
	maps.Copy(all, args)
	return c.Name, all, nil
}

// A typedWord is a word of a command, with a space or a line break before it.
type typedWord struct{ space, text string }

func wordsOf(typed string) (words []typedWord) {
	for i, line := range strings.Split(typed, "\n") {
		for j, word := range strings.Fields(line) {
			words = append(words, typedWord{map[bool]string{true: "\n", false: " "}[i > 0 && j == 0], word})
		}
	}
	return words
}

// quoted makes one word of those between quotation marks behind the name of an option:
// title:"Spring league". A command that takes prose keeps its words.
func quoted(c Command, old alias, words []typedWord) []typedWord {
	if slices.ContainsFunc(c.Options, prose) {
		return words
	}
	out := words[:1:1]
	for rest := words[1:]; len(rest) > 0; {
		n := 1
		if _, value, ok := c.option(old, rest[0].text); ok && value != "" {
			for n < len(rest) && unquoted(strings.TrimSpace(value[1:])) == value[1:] && opens(value[1:]) {
				value += rest[n].space + rest[n].text
				n++
			}
			if unquoted(value[1:]) == value[1:] { // the mark is never closed
				n = 1
			}
		}
		out = append(out, typedWord{rest[0].space, phrase(rest[:n])})
		rest = rest[n:]
	}
	return out
}

// opens reports whether a value begins with a quotation mark.
func opens(value string) bool {
	return slices.ContainsFunc(quotationMarks, func(marks string) bool {
		first, _ := utf8.DecodeRuneInString(marks)
		return strings.HasPrefix(value, string(first))
	})
}

// phrase makes one of several words, with a space between them.
func phrase(words []typedWord) string {
	out := words[0].text
	for _, w := range words[1:] {
		out += " " + w.text
	}
	return out
}

// option returns the option that a word names, perhaps by its earlier name, and the value behind
// the name, with the sign before it: ":9x9".
func (c Command) option(old alias, word string) (o Option, value string, ok bool) {
	name := word
	if k := strings.IndexAny(word, ":="); k >= 0 {
		name, value = word[:k], word[k:]
	}
	name = old.option(strings.ToLower(name))
	i := slices.IndexFunc(c.Options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return Option{}, value, false
	}
	return c.Options[i], value, true
}

// fold makes full-width letters, digits and signs of words ordinary ones. It returns what
// was typed for each word, and for what stands behind the name of an option.
func fold(words []typedWord) (typedAs map[string]string) {
	typedAs = map[string]string{}
	for i := range words {
		typed := words[i].text
		words[i].text = width.Fold.String(typed)
		typedAs[words[i].text] = typed
		if at := strings.IndexAny(typed, ":：=＝"); at >= 0 {
			_, size := utf8.DecodeRuneInString(typed[at:])
			value := typed[at+size:]
			typedAs[width.Fold.String(value)] = value
		}
	}
	return typedAs
}

// quotationMarks are pairs of them.
var quotationMarks = []string{`""`, `''`, `“”`, `‘’`, `„“`, `«»`, `「」`}

// unquoted takes away the quotation marks around a value, which people type and phones
// make curly: clock:"byoyomi 10d 3x2d".
func unquoted(value string) string {
	for _, marks := range quotationMarks {
		first, size := utf8.DecodeRuneInString(marks)
		inside, ok := strings.CutPrefix(value, string(first))
		if inside, is := strings.CutSuffix(inside, marks[size:]); ok && is && inside != "" {
			return inside
		}
	}
	return value
}

// aLetter matches a word that ends with a single letter, which a row may follow: "e 5".
var aLetter = regexp.MustCompile(`(?i)(?:^|[:=,])[a-z]$`)

// spelled joins the name of an option and its value with a colon if they are two words,
// "komi 7", and adds the value to a yes-or-no option without one: "share:yes". In prose
// such words are only words, so it stops before an option that takes prose; there a value
// needs its colon.
func spelled(c Command, old alias, words []typedWord) []typedWord {
	inProse := slices.ContainsFunc(c.Options, prose)
	out, end := words[:1:1], append(slices.Clip(words), typedWord{})
	for i := 1; i < len(words); i++ {
		w, next := words[i], end[i+1]
		o, value, ok := c.option(old, w.text)
		other, _, named := c.option(old, next.text)
		switch {
		case inProse && (!ok || value == "" && o.Type != BoolOption):
			return append(out, words[i:]...)
		case !ok, value != "":
		case o.Type == BoolOption && (inProse || !isYesOrNo(next.text)):
			w.text += ":yes"
		case named && other.Name == o.Name: // "opponent opponent:@bob:example.org"
			continue
		case next.space == " " && !named:
			w.text += ":" + next.text
			i++
		}
		out = append(out, w)
	}
	return out
}

// prose reports whether an option takes what somebody wants to say, or a diagram.
func prose(o Option) bool {
	return o.Rest && o.Required && (o.Type == StringOption || o.Type == DiagramOption)
}

func isYesOrNo(word string) bool {
	_, is := yesOrNo[strings.ToLower(word)]
	return is
}

// joined makes one word of several that name a ruleset: "two button", "rules:two
// button". If they come first they may be misspelt, "two buttn". It changes only commands
// with an option for a ruleset.
func joined(c Command, words []typedWord) []typedWord {
	if _, _, ok := c.option(alias{}, "rules"); !ok && c.Name != "rules" {
		return words
	}
	out := words[:1:1]
	for rest := words[1:]; len(rest) > 0; {
		end := 1
		for end < min(len(rest), maxRulesetWords) && rest[end].space == " " && strings.ContainsFunc(rest[end].text, alphanumeric) {
			end++
		}
		n := longest(rest[:end], func(name string) bool {
			return rules.Known(strings.TrimPrefix(strings.TrimPrefix(name, "rules:"), "name:"))
		})
		if n == 1 && len(out) == 1 && !rules.Known(rest[0].text) {
			n = longest(rest[:end], func(name string) bool {
				_, err := rules.Find(name)
				_, misspelt := errors.AsType[*rules.Unclear](err)
				return misspelt && !numeric(name)
			})
		}
		out = append(out, typedWord{rest[0].space, phrase(rest[:n])})
		rest = rest[n:]
	}
	return out
}

// longest returns how many words, from the first on, make a name: at least 1.
func longest(words []typedWord, isName func(string) bool) int {
	n := len(words)
	for n > 1 && !isName(phrase(words[:n])) {
		n--
	}
	return n
}

// maxRulesetWords is the largest number of words of a ruleset's name.
const maxRulesetWords = 6

// usage returns the options of a command, except some, as help shows them: " at [game]".
func usage(c Command, but ...string) string {
	out := ""
	for _, o := range c.Options {
		switch {
		case slices.Contains(but, o.Name):
		case o.Required:
			out += " " + o.Name
		default:
			out += " [" + o.Name + "]"
		}
	}
	return out
}

func numeric(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

func alphanumeric(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
