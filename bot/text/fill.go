package text

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Format is a platform's own way to write commands, mentions, times and links. A nil
// function leaves the words as they are.
type Format struct {
	Time    func(t time.Time, words string) string // an instant; words are "Wed 12 Nov, 14:00 UTC"
	Room    func(to Place, words string) string    // a place that somebody may want to go to
	Command func(m Mention) string                 // a command, as people type it there
	Person  func(platform, id, name string) string // somebody who is mentioned; nil: "@Ada"
	// Address is a web address in the bot's own text, see [Linked]; nil: as it is.
	Address func(address string) string
	// Ago is an instant for which the distance from now matters; nil: as Time.
	Ago func(t time.Time, words string) string
	// Live: instants are shown with how far off they are now; see [Running].
	Live bool
	// Thread leaves out which game a line is about, for the thread of that game.
	Thread bool
}

// A Mention is a command that a text tells people to use, with its options in order.
// Templates write it {/new rules:two-button size:9x9}.
type Mention struct {
	Command string
	Options []MentionedOption
}

// A MentionedOption is an option of a [Mention].
type MentionedOption struct{ Name, Value string }

// String writes a mention as templates do: "/new rules:two-button size:9x9".
func (m Mention) String() string {
	var b strings.Builder
	b.WriteString("/" + m.Command)
	for _, o := range m.Options {
		b.WriteString(" " + o.Name + ":" + o.Value)
	}
	return b.String()
}

// Mark returns a mention as a worded text contains it, for [Fill].
func (m Mention) Mark() string {
	spec := m.String()
	return markBegin + spec + markWords + spec + markEnd
}

// parseMention reads what String writes. A value ends at the next option, so it may
// contain spaces.
func parseMention(spec string) Mention {
	words := strings.Fields(strings.TrimPrefix(spec, "/"))
	if len(words) == 0 {
		return Mention{}
	}
	m := Mention{Command: words[0]}
	for _, w := range words[1:] {
		name, value, ok := strings.Cut(w, ":")
		if last := len(m.Options) - 1; ok && optionName.MatchString(name) {
			m.Options = append(m.Options, MentionedOption{name, value})
		} else if last >= 0 {
			m.Options[last].Value += " " + w
		}
	}
	return m
}

var (
	optionName = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	// mentions finds the commands in a template; their values may contain arguments.
	mentions = regexp.MustCompile(`\{(/(?:[^{}]|\{\d+\})+)\}`)
)

// markMentions puts the commands in a template between the marks that Fill finds. It
// runs before the arguments are put in, so that text which people typed cannot contain
// mentions.
func markMentions(template string) string {
	if !strings.Contains(template, "{/") {
		return template
	}
	return mentions.ReplaceAllString(template, markBegin+"$1"+markWords+"$1"+markEnd)
}

// A Place is a channel of a platform, a thread in it, or a game there.
type Place struct {
	Platform, Channel, Thread string
	Under                     string // receipt of the first message of the game; empty: the place is no game
}

// Fill returns a worded text as people read it, with its instants, rooms, mentions and
// commands written by f. Every adapter passes all texts that it shows through Fill; the
// zero Format leaves plain words.
func Fill(text string, f Format) string {
	var out strings.Builder
	hidden := false // the half of a Running that is not for this platform
	for {
		before, rest, ok := strings.Cut(text, markBegin)
		if !hidden {
			out.WriteString(before)
		}
		if !ok {
			return out.String()
		}
		inner, after, _ := strings.Cut(rest, markEnd)
		text = after
		what, words, _ := strings.Cut(inner, markWords)
		if half, ok := strings.CutPrefix(what, markRunning); ok {
			hidden = half != "" && (half == halfLive) != f.Live
		} else if !hidden {
			out.WriteString(f.fill(what, words))
		}
	}
}

// fill writes one part; what says which kind it is.
func (f Format) fill(what, words string) string {
	kind, rest := "", what
	if what != "" {
		kind, rest = what[:1], what[1:]
	}
	switch kind {
	case "/":
		if f.Command != nil {
			return f.Command(parseMention(what))
		}
		return words
	case markPerson:
		platform, id, _ := strings.Cut(rest, roomParts)
		if f.Person != nil {
			return f.Person(platform, id, words)
		}
		return "@" + words
	case markAddress:
		if f.Address != nil {
			return f.Address(words)
		}
		return words
	case markGame:
		if f.Thread {
			return ""
		}
		return words
	case markAgo:
		if ms, err := strconv.ParseInt(rest, 10, 64); err == nil && f.Ago != nil {
			return f.Ago(time.UnixMilli(ms), words)
		}
		what = rest
	}
	if ms, err := strconv.ParseInt(what, 10, 64); err == nil {
		if f.Time != nil {
			return f.Time(time.UnixMilli(ms), words)
		}
	} else if part := strings.Split(what, roomParts); len(part) >= 3 && f.Room != nil {
		part = append(part, "")
		return f.Room(Place{part[0], part[1], part[2], part[3]}, words)
	}
	return words
}

// The marks around the parts that Fill fills in. Typed text cannot contain them: see
// [Typed].
const (
	markBegin = "\x03"
	markWords = "\x04"
	markEnd   = "\x05"
	roomParts = "\x06"

	// A part that is neither a room nor an instant begins with one of these. No
	// platform's name does.
	markPerson  = "@"
	markGame    = "#"
	markAgo     = "~"
	markAddress = "^"
	markRunning = "?" // and which half of a Running follows; none: it has ended

	halfLive, halfStill = "+", "-"
)

// Instant is an argument for an instant, which a platform may write in its own way;
// words are in the zone of the reader.
func Instant(t time.Time, words Message) Message { return Say("instant", t.UnixMilli(), words) }

// Ago is an argument for an instant for which the distance from now matters.
func Ago(t time.Time, words Message) Message { return Say("ago", t.UnixMilli(), words) }

// Running is an argument for what a running clock has left. That soon is wrong in a
// message that stays, so platforms that show instants live say live instead, until when.
// Neither may contain another Running.
func Running(live, left Message) Message { return Say("running", live, left) }

// Called is an argument for a mention of a person, in the platform's own way. The post
// must notify them as well.
func Called(id string) Message { return Say("called", Somebody(id)) }

// Linked is an argument for one of the program's own texts, in which a platform may turn
// web addresses into links. Addresses that people type stay words.
func Linked(s string) any {
	at := address.FindStringIndex(s)
	if at == nil {
		return s
	}
	return Say("linked", s[:at[0]], s[at[0]:at[1]], Linked(s[at[1]:]))
}

// Address is an argument for a web address, or a path of the local room.
func Address(s string) Message { return Say("linked", "", s, "") }

var address = regexp.MustCompile(`https://[^\s,;()<>"]+`)

// Link is an argument for a place, which a platform may turn into a link.
func Link(to Place, words Message) Message {
	where := []string{to.Platform, to.Channel, to.Thread}
	if to.Under != "" {
		where = append(where, to.Under)
	}
	return Say("room", strings.Join(where, roomParts), words)
}
