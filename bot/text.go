package bot

import (
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

// plural makes a Text of which the first argument is a number; for 1 there is
// another.
func plural(key string, n int, args ...string) Text {
	if n == 1 {
		key += ".one"
	}
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
	return markBegin + strconv.FormatInt(t.UnixMilli(), 10) + markWords + DeadlineWords(t, now, now.Location()) + markEnd
}

// whereTo writes a room so that a platform may make a link of it.
func whereTo(r Room, words string) string {
	return markBegin + r.Platform + roomParts + r.Channel + roomParts + r.Thread + markWords + words + markEnd
}

// number stands for the number of the game in its channel, which the store
// gives it.
const number = "\x02"

// word gives the text in English, a line for each; names are looked up in who,
// and game is the number of the game that it is about.
func word(texts []Text, who map[Person]Who, game ...int) string {
	var lines []string
	for _, t := range texts {
		template, ok := english[t.Key]
		if !ok {
			template = t.Key
		}
		var pairs []string // put in at one go: an argument is not looked into
		for i, a := range t.Args {
			if p, ok := strings.CutPrefix(a, personMark); ok {
				a = CleanName(who[Person(p)].Name)
			}
			if a == number && len(game) > 0 {
				a = strconv.Itoa(game[0])
			}
			pairs = append(pairs, "{"+strconv.Itoa(i)+"}", a)
		}
		template = strings.NewReplacer(pairs...).Replace(template)
		lines = append(lines, template)
	}
	return strings.Join(lines, "\n")
}

// people gives the persons that texts name.
func people(texts []Text) []Person {
	var ps []Person
	for _, t := range texts {
		for _, a := range t.Args {
			if p, ok := strings.CutPrefix(a, personMark); ok {
				ps = append(ps, Person(p))
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
	var b strings.Builder
	n, space, rtl := 0, false, false
	for _, r := range name {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case unicode.IsControl(r), r == unicode.ReplacementChar,
			unicode.Is(unicode.Cf, r) && r != '\u200d', // joins emoji
			unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
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
	switch {
	case n == 0:
		return english["somebody"]
	case rtl:
		return "\u2068" + b.String() + "\u2069"
	}
	return b.String()
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
