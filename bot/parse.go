package bot

import (
	"errors"
	"fmt"
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
// names of people. A command may have one of its earlier
// names: Parse returns the present one. It returns ErrNotACommand for text that does not
// begin with "/" or "!"; its other errors are for the person who typed, in English, and
// [Explain] translates them.
func Parse(typed string) (string, map[string]string, error) {
	words := strings.Fields(typed)
	lines := map[int]bool{} // words that begin a line
	n := 0
	for i, line := range strings.Split(typed, "\n") {
		lines[n] = i > 0
		n += len(strings.Fields(line))
	}
	if len(words) == 0 {
		return "", nil, ErrNotACommand
	}
	first := width.Fold.String(words[0])
	if len(first) < 2 || first[0] != '/' && first[0] != '!' {
		return "", nil, ErrNotACommand
	}
	name := strings.ToLower(first[1:])
	c, ok := FindCommand(name)
	if !ok {
		return "", nil, unknown(name)
	}
	var typedAs map[string]string
	if !slices.ContainsFunc(c.Options, prose) {
		typedAs = fold(words)
	}
	old := aliases[name]
	words, lines = joined(c, words, lines)
	words, lines = spelled(c, old, words, lines)
	args := map[string]string{}
	rest, more := "", map[string][]string{} // of options that take the rest, what follows the first word
	points := false                         // the option that takes the rest takes points, and no number is one
	for i, word := range words[1:] {
		if k := strings.IndexAny(word, ":="); k > 0 {
			if o := slices.IndexFunc(c.Options, func(o Option) bool { return o.Name == old.option(strings.ToLower(word[:k])) }); o >= 0 {
				opt := c.Options[o]
				args[opt.Name] = word[k+1:]
				delete(more, opt.Name)
				if rest = ""; opt.Rest {
					rest = opt.Name
				}
				points = opt.Rest && opt.Type == PointOption
				continue
			}
		}
		if strings.EqualFold(word, "yes") && args["confirm"] == "" && rest == "" && slices.ContainsFunc(c.Options, func(o Option) bool { return o.Name == "confirm" }) {
			args["confirm"] = "yes"
			continue
		}
		if _, err := strconv.Atoi(word); err == nil && points && !aLetter.MatchString(words[i]) {
			rest, points = "", false // a game
		}
		if rest != "" {
			space := " "
			if lines[i+1] {
				space = "\n"
			}
			more[rest] = append(more[rest], space, word)
			continue
		}
		o := slices.IndexFunc(c.Options, func(o Option) bool {
			_, given := args[o.Name]
			return !given && (o.Type != BoolOption || isYesOrNo(word))
		})
		if o < 0 {
			return "", nil, text.Error("parse.many", c.Name, shortened(word), usage(c))
		}
		args[c.Options[o].Name] = word
		if c.Options[o].Rest {
			rest = c.Options[o].Name
		}
		points = c.Options[o].Rest && c.Options[o].Type == PointOption
	}
	for name, words := range more {
		args[name] = strings.TrimSpace(args[name] + strings.Join(words, ""))
	}
	for _, o := range c.Options {
		if value, given := args[o.Name]; given && !prose(o) {
			if typed, ok := typedAs[value]; ok && o.Type == UserOption {
				value = typed // a person is called as they call themselves
			}
			args[o.Name] = unquoted(value)
		}
	}
	for option, value := range old.args {
		if _, given := args[option]; !given {
			args[option] = value
		}
	}
	return c.Name, args, nil
}

// fold makes full-width letters, digits and signs of words ordinary ones. It returns what
// was typed for each word, and for what stands behind the name of an option.
func fold(words []string) (typedAs map[string]string) {
	typedAs = map[string]string{}
	for i, typed := range words {
		words[i] = width.Fold.String(typed)
		typedAs[words[i]] = typed
		if at := strings.IndexAny(typed, ":：=＝"); at >= 0 {
			_, size := utf8.DecodeRuneInString(typed[at:])
			value := typed[at+size:]
			typedAs[width.Fold.String(value)] = value
		}
	}
	return typedAs
}

// unquoted takes away the quotation marks around a value, which people type and phones
// make curly: clock:"byoyomi 10d 3x2d".
func unquoted(value string) string {
	for _, marks := range []string{`""`, `''`, `“”`, `‘’`, `„“`, `«»`, `「」`} {
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
func spelled(c Command, old alias, words []string, lines map[int]bool) ([]string, map[int]bool) {
	inProse := slices.ContainsFunc(c.Options, prose)
	option := func(i int) (o Option, value, ok bool) {
		if i >= len(words) {
			return Option{}, false, false
		}
		name, _, value := strings.Cut(strings.Replace(words[i], "=", ":", 1), ":")
		name = old.option(strings.ToLower(name))
		at := slices.IndexFunc(c.Options, func(o Option) bool { return o.Name == name })
		if at < 0 {
			return Option{}, value, false
		}
		return c.Options[at], value, true
	}
	out, begin := words[:1:1], map[int]bool{}
	for i := 1; i < len(words); i++ {
		begin[len(out)] = lines[i]
		word, next := words[i], i+1
		o, value, ok := option(i)
		other, _, named := option(next)
		switch {
		case inProse && (!ok || !value && o.Type != BoolOption):
			for ; i < len(words); i++ {
				begin[len(out)] = lines[i]
				out = append(out, words[i])
			}
			return out, begin
		case !ok, value:
		case o.Type == BoolOption && (inProse || next == len(words) || !isYesOrNo(words[next])):
			word += ":yes"
		case named && other.Name == o.Name: // "opponent opponent:@bob:example.org"
			continue
		case next < len(words) && !lines[next] && !named:
			word += ":" + words[next]
			i = next
		}
		out = append(out, word)
	}
	return out, begin
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
func joined(c Command, words []string, lines map[int]bool) ([]string, map[int]bool) {
	if !slices.ContainsFunc(c.Options, func(o Option) bool { return o.Name == "rules" || c.Name == "rules" }) {
		return words, lines
	}
	out, begin := words[:1:1], map[int]bool{}
	for i := 1; i < len(words); {
		n, end := 1, i+1
		for end < len(words) && end < i+maxRulesetWords && !lines[end] && strings.ContainsFunc(words[end], alphanumeric) {
			end++
		}
		for k := end - i; k > 1 && n == 1; k-- {
			name := strings.Join(words[i:i+k], " ")
			if option, value, ok := strings.Cut(name, ":"); ok && (option == "rules" || option == "name") {
				name = value
			}
			if rules.Known(name) {
				n = k
			}
		}
		for k := end - i; k > 1 && n == 1 && i == 1 && !rules.Known(words[1]); k-- {
			if slices.ContainsFunc(words[i:i+k], numeric) {
				continue
			}
			var misspelt *rules.Unclear
			if _, err := rules.Find(strings.Join(words[i:i+k], " ")); errors.As(err, &misspelt) {
				n = k
			}
		}
		begin[len(out)] = lines[i]
		out = append(out, strings.Join(words[i:i+n], " "))
		i += n
	}
	return out, begin
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
