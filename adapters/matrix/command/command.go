package command

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// maxTyped is the longest command, in bytes: twice what a diagram may have.
const maxTyped = 8_000

// Typed is a message that may be a command.
type Typed struct {
	Body      string
	Formatted string      // formatted_body; empty: there is none
	Mentions  []id.UserID // of m.mentions
	Direct    bool        // in a room of the bot and one person
	Thread    bool        // in a thread, where a turn needs no sign
	Self      id.UserID   // the bot
	SelfName  string      // its display name
	Reply     bool        // to a message, so that the body may begin with a quotation of it
}

// Parsed is what a message asks for. If Problem is not empty it asks for
// nothing, and Problem is what to tell who typed it; Command is the command as
// typed then.
type Parsed struct {
	Command string
	Args    map[string]string    // by option
	Users   map[string]id.UserID // the persons meant by options of type [bot.UserOption]
	Problem string
	Err     error // of [bot.Parse], if that is the problem; for other languages

	// Bare is what was typed, if it may be a turn without a sign, which the bot knows;
	// all else is empty then.
	Bare string
}

// Parse reads a message. It reports false for conversation.
func Parse(known []bot.Command, t Typed) (Parsed, bool) {
	body := strings.TrimSpace(t.Body)
	if t.Reply {
		body = strings.TrimSpace(withoutQuotation(body))
	}
	how, text := t.addressed(body)
	if how == notAddressed {
		if _, _, ok := bot.BareTurn(body); ok && t.Thread {
			return Parsed{Bare: body}, true
		}
		return Parsed{}, false
	}
	word, rest := firstWord(text)
	if how == byName || how == alone {
		word = strings.TrimRight(word, ".!") // people talk to the bot here, and punctuate
	}
	typed := word
	word = strings.ToLower(width.Fold.String(word))
	at, isPoint := point(text)
	_, isCommand := bot.FindCommand(word)
	switch {
	case word == "" && how == byName && rest == "":
		word = "help"
	case isPoint && how != afterBlank && !isCommand && (word != "play" || how == byName || how == alone): // "!play" is for another bot
		word, rest = "place", " "+at
	}
	c, ok := bot.FindCommand(word)
	if !ok {
		if how == afterBlank || !mistyped(known, word) {
			return Parsed{}, false
		}
		_, _, err := bot.Parse("/" + word)
		return problem(typed, err), true
	}
	if len(text) > maxTyped {
		if how == afterBlank {
			return Parsed{}, false
		}
		return Parsed{Command: word, Problem: strings.ReplaceAll(wordTooLong, "{0}", strconv.Itoa(maxTyped))}, true
	}
	name, args, err := bot.Parse("/" + word + t.withUsers(c, rest))
	if how == afterBlank && (err != nil || !plausible(c, args)) {
		return Parsed{}, false // "! why not"
	}
	if err != nil {
		return problem(word, err), true
	}
	return Parsed{Command: name, Args: args, Users: t.users(c, args)}, true
}

// problem tells what is wrong: it begins with a capital, and the commands in it are
// written as they are typed here.
func problem(command string, err error) Parsed {
	text := strings.ReplaceAll(" "+err.Error(), " /", " !")[1:]
	first, size := utf8.DecodeRuneInString(text)
	return Parsed{Command: command, Problem: string(unicode.ToUpper(first)) + text[size:], Err: err}
}

// How a message can be addressed to the bot.
const (
	notAddressed = iota
	byMark       // "!place"
	afterBlank   // "! place"
	byName       // "halfpoint: place"
	alone        // "place", where nobody else listens
)

// addressed reports how a message is addressed to the bot, and returns what stands
// behind that.
func (t Typed) addressed(body string) (how int, text string) {
	if text, ok := t.named(body); ok {
		text = strings.TrimSpace(strings.TrimLeft(text, ":, \t\n"))
		if how, marked := mark(text); how != notAddressed {
			text = marked
		}
		return byName, text
	}
	if how, text = mark(body); how == afterBlank && t.Direct {
		how = byMark
	}
	if how == notAddressed && t.Direct && (unicode.IsLetter(first(body)) || unicode.IsDigit(first(body))) {
		return alone, body
	}
	return how, text
}

// mark reads the mark that a command begins with.
func mark(body string) (how int, text string) {
	r, size := utf8.DecodeRuneInString(body)
	switch r {
	case '!', '/', '！', '／':
	default:
		return notAddressed, ""
	}
	text = body[size:]
	switch next := first(text); {
	case unicode.IsLetter(next):
		return byMark, text
	case next == ' ', next == '\u00a0', next == '\u3000':
		text = strings.TrimSpace(text)
		if r != '/' && r != '／' && unicode.IsLetter(first(text)) {
			return afterBlank, text
		}
	}
	return notAddressed, ""
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// named reports whether a message begins with the name of the bot, and returns the
// rest. Its user id always means the bot; other names do if the message mentions
// it.
func (t Typed) named(body string) (rest string, ok bool) {
	if t.Self == "" {
		return "", false
	}
	if rest, ok := after(unlinked(body), string(t.Self)); ok {
		return rest, true
	}
	names := []string{t.SelfName, t.Self.Localpart()}
	if pills := t.pills(); len(pills) > 0 && pills[0].user == t.Self {
		names = append(names, pills[0].text)
	} else if !slices.Contains(t.Mentions, t.Self) {
		return "", false
	}
	for _, name := range names {
		if name = strings.TrimPrefix(name, "@"); name == "" {
			continue
		}
		if rest, ok := after(strings.TrimPrefix(body, "@"), name); ok {
			return rest, true
		}
	}
	return "", false
}

// after returns what follows a name at the beginning of a text, in either case, if
// the name ends there.
func after(text, name string) (rest string, ok bool) {
	if len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return "", false
	}
	rest = text[len(name):]
	next := first(rest)
	return rest, rest == "" || next == ',' || next == ':' || unicode.IsSpace(next)
}

// withoutQuotation takes off what old clients put before a reply: lines that
// begin with ">", the first with the name of who is quoted.
func withoutQuotation(body string) string {
	if !strings.HasPrefix(body, "> <") && !strings.HasPrefix(body, "> * <") {
		return body
	}
	for strings.HasPrefix(body, ">") {
		_, rest, ok := strings.Cut(body, "\n")
		if !ok {
			return ""
		}
		body = rest
	}
	return body
}

// firstWord cuts a text behind its first word.
func firstWord(text string) (word, rest string) {
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// point reads a text that is a point of a board and nothing else.
func point(text string) (at string, ok bool) {
	command, args, _ := bot.BareTurn(text)
	return args["at"], command == "place"
}

// plausible reports whether arguments are numbers and points where they must be.
func plausible(c bot.Command, args map[string]string) bool {
	for _, o := range c.Options {
		arg, given := args[o.Name]
		if _, err := strconv.Atoi(arg); given && o.Type == bot.IntegerOption && err != nil {
			return false
		}
		if given && o.Type == bot.PointOption && slices.ContainsFunc(strings.Fields(match.TidyPoints(arg)), isNoPoint) {
			return false
		}
	}
	return true
}

func isNoPoint(word string) bool {
	_, ok := point(word)
	return !ok
}

// mistyped reports whether a word is that of a command but for one letter that
// is missing, too many, wrong or in the place of its neighbour. Short words are
// words of the language as often as not.
func mistyped(known []bot.Command, word string) bool {
	if len(word) < 4 || len(word) > 40 {
		return false
	}
	return slices.ContainsFunc(known, func(c bot.Command) bool { return len(c.Name) >= 4 && similar(word, c.Name) })
}

// similar reports whether b differs from a by one letter.
func similar(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch len(b) - len(a) {
	case 1:
		return a[i:] == b[i+1:]
	case 0:
		return i == len(a) || a[i+1:] == b[i+1:] ||
			i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
	return false
}
