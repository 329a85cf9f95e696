package bot

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A Text is something to say, by key, with what to put into it. Persons and
// the number of the game are put in only when the text is worded: what is
// stored knows no names. They stand behind a control character, which nothing
// that was typed contains.
type Text struct {
	Key  string   `json:"k"`
	Args []string `json:"a,omitempty"`
}

// say makes a Text.
func say(key string, args ...string) Text { return Text{key, args} }

// plural makes a Text of which the first argument is a number, which may want a
// form of its own.
func plural(key string, n int, args ...string) Text {
	return say(key, append([]string{strconv.Itoa(n)}, args...)...)
}

// named makes an argument of a person.
func named(p Person) string { return personMark + string(p) }

const personMark = "\x01"

// A Format is how a platform writes what it has its own way for. A nil function
// leaves the bot's words.
type Format struct {
	Time func(t time.Time, words string) string // an instant; words are "Wed 12 Nov, 14:00 UTC"
	Room func(where Room, words string) string  // a place that somebody may want to go to
}

// Fill makes of a text of the bot what is to be read: where the text means an
// instant or a room, what f writes for it. Every adapter puts the Text of what
// it shows through it; a Format without functions gives plain words.
func Fill(text string, f Format) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, markBegin)
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		inner, after, _ := strings.Cut(rest, markEnd)
		text = after
		what, words, _ := strings.Cut(inner, markWords)
		if ms, err := strconv.ParseInt(what, 10, 64); err == nil {
			if f.Time != nil {
				words = f.Time(time.UnixMilli(ms), words)
			}
		} else if part := strings.Split(what, roomParts); len(part) == 3 && f.Room != nil {
			words = f.Room(Room{part[0], part[1], part[2]}, words)
		}
		out.WriteString(words)
	}
}

// The marks of what Fill fills. Nothing that was typed contains them.
const (
	markBegin = "\x03"
	markWords = "\x04"
	markEnd   = "\x05"
	roomParts = "\x06"
)

// instantOf writes an instant so that a platform may write it its own way. The
// bot's words are in the zone of now.
func instantOf(t, now time.Time) string {
	return nested(say("instant", strconv.FormatInt(t.UnixMilli(), 10), nested(deadlineText(t, now, now.Location()))))
}

// whereTo writes a room so that a platform may make a link of it.
func whereTo(r Room, words Text) string {
	return nested(say("room", r.Platform+roomParts+r.Channel+roomParts+r.Thread, nested(words)))
}

// number stands for the number of the game in its channel, which the store
// gives it.
const number = "\x02"

// nested makes an argument of a text: it is worded in the language of the text
// that it stands in.
func nested(t Text) string {
	data, err := json.Marshal(t)
	if err != nil {
		return t.Key // nothing in it can fail
	}
	return textMark + string(data)
}

const textMark = "\x07"

// inside gives the text of an argument that nested made.
func inside(arg string) (t Text, ok bool) {
	rest, ok := strings.CutPrefix(arg, textMark)
	return t, ok && json.Unmarshal([]byte(rest), &t) == nil
}

// list makes an argument of several, one after the other.
func list(args ...string) string {
	out := args[0]
	for _, a := range args[1:] {
		out = nested(say("list", out, a))
	}
	return out
}

// sentence makes an argument of a sentence of the rules, which quote their
// sources: where a language has no words for it, it is quoted in English.
func sentence(s string) string { return nested(say("sentence", s)) }

// begins makes an argument of a sentence of the rules that begins with it.
func begins(s string) string { return nested(say("sentence.begins", s)) }

// word gives the texts in a language, a line for each; names are looked up in
// who, and game is the number of the game that it is about.
func word(l *language, texts []Text, who map[Person]Who, game ...int) string {
	var lines []string
	for _, t := range texts {
		args := make([]string, len(t.Args))
		for i, a := range t.Args {
			if p, ok := strings.CutPrefix(a, personMark); ok {
				a = nameOf(l, who[Person(p)])
			}
			if inner, ok := inside(a); ok {
				a = word(l, []Text{inner}, who, game...)
			}
			if a == number && len(game) > 0 {
				a = strconv.Itoa(game[0])
			}
			args[i] = a
		}
		lines = append(lines, wordOne(l, t.Key, args))
	}
	return strings.Join(lines, "\n")
}

// wordOne gives one text, its arguments being worded.
func wordOne(l *language, key string, args []string) string {
	if (key == "sentence" || key == "sentence.begins") && len(args) == 1 {
		says, ok := l.sentence(args[0])
		switch {
		case !ok:
			return fillIn(template(l, "quoted", nil), args...)
		case key == "sentence.begins":
			return capital(says)
		}
		return says
	}
	return fillIn(template(l, key, args), args...)
}

// template gives the words for a key. The first argument may be a number that
// wants a form of its own.
func template(l *language, key string, args []string) string {
	n, numbered := 0, false
	if len(args) > 0 {
		var err error
		n, err = strconv.Atoi(args[0])
		numbered = err == nil
	}
	for _, texts := range []struct {
		l   *language
		has map[string]string
	}{{l, l.Texts}, {inEnglish, english}} {
		if numbered {
			if t, ok := texts.has[key+"."+texts.l.form(n)]; ok {
				return t
			}
		}
		if t, ok := texts.has[key]; ok {
			return t
		}
	}
	return key
}

// in words a text that names nobody.
func (t Text) in(l *language) string { return word(l, []Text{t}, nil) }

// people gives the persons that texts name.
func people(texts []Text) []Person {
	var ps []Person
	for _, t := range texts {
		for _, a := range t.Args {
			if p, ok := strings.CutPrefix(a, personMark); ok {
				ps = append(ps, Person(p))
			}
			if inner, ok := inside(a); ok {
				ps = append(ps, people([]Text{inner})...)
			}
		}
	}
	return ps
}

// maxName is how much of a name is shown, in characters.
const maxName = 40

// CleanName gives a name as others may see it: without control characters and
// marks that turn the direction of the text around it, at most 40 characters
// long, and set apart from that text if it is written from right to left.
func CleanName(name string) string {
	if name = cleanName(name); name == "" {
		return english["somebody"]
	}
	return name
}

// nameOf gives how somebody is called in a text.
func nameOf(l *language, who Who) string {
	if name := cleanName(who.Name); name != "" {
		return name
	}
	return say("somebody").in(l)
}

// cleanName is CleanName; empty if nothing is left.
func cleanName(name string) string {
	var b strings.Builder
	n, space, rtl := 0, false, false
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case r == joiner && i > 0 && i+1 < len(runes) && emoji(runes[i-1]) && emoji(runes[i+1]):
		case !unicode.IsGraphic(r), r == unicode.ReplacementChar, strings.ContainsRune(blank, r):
			continue
		}
		if n >= maxName || space && n+1 >= maxName {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
			n++
		}
		rtl = rtl || unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
		b.WriteRune(r)
		n++
	}
	if rtl {
		return "\u2068" + b.String() + "\u2069"
	}
	return b.String()
}

// joiner makes one emoji of two; blank are letters and signs that show nothing.
const (
	joiner = '\u200d'
	blank  = "\u115f\u1160\u2800\u3164\uffa0"
)

// emoji reports whether a joiner may stand beside a sign: between letters it
// would be there for nobody to see, and make two names look alike.
func emoji(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk) || r == '\ufe0f' || r == '♀' || r == '♂'
}

// typed gives what somebody typed without control characters, which would mean
// something in a Text.
func typed(args map[string]string) map[string]string {
	out := make(map[string]string, len(args))
	for k, v := range args {
		out[k] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && (r != '\n' || k != "diagram") {
				return -1
			}
			return r
		}, v)
	}
	return out
}
