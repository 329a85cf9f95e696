package message

import (
	"cmp"
	"encoding/json"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A span is a piece of text that is, or is not, a link.
type span struct {
	text  string // clean
	href  string // empty: it leads nowhere
	plain string // in the plain body; empty: text
}

// html writes the span as HTML.
func (s span) html() string {
	text := strings.ReplaceAll(escape(s.text), "\n", "<br>")
	if s.href == "" {
		return text
	}
	return `<a href="` + escape(s.href) + `">` + text + `</a>`
}

func escape(s string) string { return html.EscapeString(s) }

// Where a link stands in a text while the text is put together.
const (
	holeBegin = "\x0e"
	holeEnd   = "\x0f"
)

// written makes of a text of the bot what is to be read. Instants stay in the
// words of the bot, since Matrix has no way to write them for each reader; rooms
// are links, as are people; commands begin with "!", since clients take what begins with a slash for
// their own and never send it.
func written(text string, inThread bool) []span {
	text = strings.NewReplacer(holeBegin, "", holeEnd, "").Replace(strings.ToValidUTF8(text, "\ufffd"))
	var links []span
	hole := func(s span) string {
		links = append(links, s)
		return holeBegin + strconv.Itoa(len(links)-1) + holeEnd
	}
	text = bot.Fill(text, bot.Format{Thread: inThread, Person: func(on, user, name string) string {
		if on != platform || !valid(id.UserID(user)) {
			return name
		}
		return hole(span{text: nameOf(outbox.User{ID: user, Name: name}), href: id.UserID(user).URI().MatrixToURL()})
	}, Command: bot.Typed("!"), Room: func(where bot.Place, words string) string {
		href, words := link(where), clean(words)
		if href == "" || words == "" { // nobody could press a link without words
			return words
		}
		return hole(span{text: words, href: href})
	}})
	var out []span
	for {
		before, rest, ok := strings.Cut(text, holeBegin)
		if t := clean(before); t != "" {
			out = append(out, span{text: t})
		}
		if !ok {
			return out
		}
		hole, after, _ := strings.Cut(rest, holeEnd)
		if n, err := strconv.Atoi(hole); err == nil && n < len(links) {
			out = append(out, links[n])
		}
		text = after
	}
}

// link leads to a room, a thread in it, or the first message of a game; empty if it is no room of
// Matrix.
func link(where bot.Place) string {
	if room, event, ok := strings.Cut(where.Under, "/$"); ok {
		where.Channel, where.Thread = room, "$"+event
	}
	if where.Platform != platform || len(where.Channel) < 2 || where.Channel[0] != '!' {
		return ""
	}
	if len(where.Thread) < 2 || where.Thread[0] != '$' {
		return id.RoomID(where.Channel).URI().MatrixToURL()
	}
	return id.RoomID(where.Channel).EventURI(id.EventID(where.Thread)).MatrixToURL()
}

// clean returns a text that is valid, without control characters but line breaks,
// and without marks that turn the direction of what follows them. Of these only
// the isolates that [bot.CleanName] puts around a name stay, and end with their
// line.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	isolated := false
	for _, r := range s {
		switch {
		case r == '\n', r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			if isolated {
				b.WriteRune(popIsolate)
			}
			isolated = false
			r = '\n'
		case r == '\t':
			r = ' '
		case r == isolate && !isolated:
			isolated = true
		case r == popIsolate && isolated:
			isolated = false
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
			continue
		}
		b.WriteRune(r)
	}
	if isolated {
		b.WriteRune(popIsolate)
	}
	return strings.ReplaceAll(b.String(), string(isolate)+string(popIsolate), "")
}

// The marks that set a text apart from the direction of the text around it.
const (
	isolate    = '\u2068'
	popIsolate = '\u2069'
)

// cost is how many bytes spans take in the JSON of a content, in both bodies.
func cost(spans []span) int {
	n := 0
	for _, s := range spans {
		n += quoted(cmp.Or(s.plain, s.text)) + quoted(s.html())
	}
	return n
}

// quoted is how many bytes a string takes in JSON.
func quoted(s string) int {
	data, err := json.Marshal(s)
	if err != nil { // never of a string
		return 6 * len(s)
	}
	return len(data) - 2
}

// ellipsis ends what was cut.
const ellipsis = "…"

// cut shortens spans to what costs at most most bytes.
func cut(spans []span, most int) []span {
	most -= 2 * (len(ellipsis) + len(string(popIsolate)))
	used := 0
	for i, s := range spans {
		used += quoted(span{href: s.href}.html())
		for at, r := range s.text {
			used += runeCost(r)
			if used > most {
				s.text = clean(s.text[:at] + ellipsis)
				return append(slices.Clone(spans[:i]), s)
			}
		}
	}
	return spans
}

// runeCost is at least what a character costs.
func runeCost(r rune) int {
	switch {
	case r == '\n', r < 0x80 && strings.ContainsRune(`<>&"'\`, r):
		return quoted(string(r)) + quoted(span{text: string(r)}.html())
	case r == '\u2028', r == '\u2029', r < ' ', r == 0x7f:
		return 12
	}
	return 2 * len(string(r))
}
