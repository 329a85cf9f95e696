package bot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Short names that nearly every file of this package uses.

// A Text is something to say; see [text.Message].
type Text = text.Message

func say(key string, args ...any) Text { return text.Say(key, args...) }

func named(p match.PersonID) text.Arg { return text.Somebody(string(p)) }

// shortened cuts what somebody typed to a length fit for an answer.
func shortened(s string) string { return text.Shorten(s) }

// wrong returns the message of an error that is for the person who typed.
func wrong(err error) Text { return text.Explain(err) }

// Explain words an error of [Parse] and of others that are for the person who
// typed, in the language of a BCP 47 tag.
func Explain(err error, tag string) string { return text.BestLanguage(tag).Say(wrong(err)) }

// word words texts. who holds the names of people, and game is the number of the game
// that the texts are about.
func word(l *text.Language, texts []Text, who map[match.PersonID]outbox.User, game int) string {
	return l.Word(texts, cleanNames(who), game)
}

// cleanNames returns the names of people as texts have them.
func cleanNames(who map[match.PersonID]outbox.User) text.Names {
	names := make(text.Names, len(who))
	for p, w := range who {
		names[string(p)] = text.User{Name: text.CleanName(w.Name), Platform: w.Platform, ID: w.ID}
	}
	return names
}

// Line words a line of the log of a room, with the names that people have now.
func Line(m outbox.Message, who map[match.PersonID]outbox.User) string {
	if m.Texts == nil { // typed, or worded by an earlier release
		return m.Text
	}
	return word(text.BestLanguage(m.Lang), m.Texts, rooms.TellApart(who), m.Number)
}

// people returns the people whom texts name.
func people(texts []Text) []match.PersonID {
	var ps []match.PersonID
	for _, id := range text.People(texts) {
		ps = append(ps, match.PersonID(id))
	}
	return ps
}

// A Format is a platform's own way to write mentions, times and links; see
// [text.Format].
type Format = text.Format

// A Place is an address that a [Format] may turn into a link.
type Place = text.Place

// Fill writes a text of the bot in a platform's format; see [text.Fill]. A Format
// without Command writes commands with a slash.
func Fill(s string, f Format) string {
	if f.Command == nil {
		f.Command = Typed("/")
	}
	return text.Fill(s, f)
}

// A Mention is a command that a text tells people to use; see [text.Mention].
type Mention = text.Mention

// A MentionedOption is an option of a [Mention].
type MentionedOption = text.MentionedOption

// Quoted returns the value of an option as it is typed behind the name of the option: between
// quotation marks if [Parse] would otherwise take only its first word.
func Quoted(command, option, value string) string {
	h, _ := find(command)
	for _, o := range h.Options {
		if o.Name == option && !o.Rest && !prose(o) && strings.Contains(value, " ") && !rules.Known(value) {
			return `"` + value + `"`
		}
	}
	return value
}

// Typed returns how commands are typed after a prefix, as [Parse] reads them:
// "/new two-button 9x9", "/pass anyway:yes".
func Typed(prefix string) func(Mention) string {
	return func(m Mention) string {
		h, _ := find(m.Command)
		var given []string
		rest := false // the option before takes all words that have no name
		out := prefix + m.Command
		for _, o := range m.Options {
			i := slices.IndexFunc(h.Options, func(o Option) bool { return !slices.Contains(given, o.Name) })
			if !rest && i >= 0 && h.Options[i].Name == o.Name && (h.Options[i].Rest || !strings.Contains(o.Value, " ")) {
				out += " " + o.Value
			} else {
				out += " " + o.Name + ":" + Quoted(m.Command, o.Name, o.Value)
			}
			given = append(given, o.Name)
			rest = rest || i >= 0 && h.Options[i].Rest
		}
		return out
	}
}

// CleanName returns a name as others may see it: see [text.CleanName]; without any
// it is "somebody".
func CleanName(name string) string {
	return cmp.Or(text.CleanName(name), text.English.Say(say("somebody")))
}
