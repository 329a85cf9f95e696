package message_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// permitted are the tags and attributes of the Matrix specification 1.18,
// "m.room.message msgtypes".
var permitted = func() map[string]string {
	tags := map[string]string{"span": "data-mx-bg-color data-mx-color data-mx-spoiler data-mx-maths", "a": "target href",
		"img": "width height alt title src", "ol": "start", "code": "class", "div": "data-mx-maths"}
	for tag := range strings.FieldsSeq(`del h1 h2 h3 h4 h5 h6 blockquote p a ul ol sup sub li b i u strong em s code hr br div
		table thead tbody tr th td caption pre span img details summary`) {
		tags[tag] += ""
	}
	return tags
}()

// maxEncrypted is what may be encrypted so that the event with its envelope
// stays below 65,536 bytes: base64 makes four bytes of three.
const maxEncrypted = 45_000

// hostile are pieces of text that might mean something to somebody.
var hostile = []string{
	"<script>alert(1)</script>", "</pre>", "</details>", "<img src=x onerror=alert(1)>", "<a href=\"javascript:alert(1)\">", "<!--", "-->", "]]>",
	"<![CDATA[", "&lt;", "&#x202e;", "&amp;amp;", "&", "<", ">", "\"", "'", "`", "\\", "<br>", "<mx-reply>", "<font color=red>", "<pre>\n",
	"@room", "@alice:example.org", "[x](javascript:alert(1))", "https://matrix.to/#/@carol:example.org", "<a href=\"https://matrix.to/#/@carol:example.org\">Carol</a>",
	"\u202e", "\u202d", "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u200d", "\ufeff", "\u2028", "\u2029",
	"\x00", "\x01", "\x02", "\x0e0\x0f", "\x0e", "\x0f", "\x1b[31m", "\x7f", "\u0085", "\r\n", "\r", "\n", "\n\n", "\t", "   ", "\xff", "\xff\x03\x91", "\xff\x0e\x91", "\xc3", "\xed\xa0\x80", "\ufffe", "\U0001ffff", "\u3164", "\u2800", "\ufe0f",
	"\x031795269600000\x04Sat 21 Nov, 14:00 UTC\x05", "\x03matrix\x06!room:example.org\x06\x04another room\x05",
	"\x03matrix\x06!room:example.org\x06$thread\x04<b>the thread</b>\x05", "\x03discord\x06123\x06\x04elsewhere\x05",
	"\x03matrix\x06!a\"><script>:example.org\x06$\"'<&\x04there\x05", "\x03matrix\x06!\x06\x04nowhere\x05", "\x03matrix\x06javascript:alert(1)\x06\x04no room\x05", "\x03matrix\x06!room:example.org\x06", "\x03", "\x04", "\x05", "\x06",
	"/place D4", " /pass", "(/join)", "http://example.org/pass", "/me", "/etc/passwd", "“/score”", "!place",
	"Wei", "雀", "אבג", "مرحبا", "👩‍👩‍👧", "✋🏽", "é", "½", "…", "D4", "Black to play.", "word ",
}

// written gives a text of hostile pieces and other characters.
func written(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		switch r.IntN(6) {
		case 0:
			b.WriteRune(rune(r.IntN(unicode.MaxRune)))
		case 1:
			b.WriteByte(byte(r.IntN(256)))
		default:
			b.WriteString(hostile[r.IntN(len(hostile))])
		}
		if r.IntN(200) == 0 {
			b.WriteString(strings.Repeat(hostile[r.IntN(len(hostile))], r.IntN(3000)))
		}
	}
	return b.String()
}

// something gives a content of hostile texts.
func something(r *rand.Rand) message.Content {
	c := message.Content{Text: written(r, 12), Number: r.IntN(3)}
	if r.IntN(2) == 0 {
		c.Board = written(r, 12)
	}
	for range r.IntN(4) {
		c.Notify = append(c.Notify, outbox.User{
			Platform: []string{"matrix", "matrix", "matrix", "discord", ""}[r.IntN(5)],
			ID: []string{"@alice:example.org", "@b&amp;b:example.org", "@o'neill\"<&>\\:example.org", "@a/b=c+d%20_.-:example.org:8448", "@x:[::1]",
				"alice", "@alice", "@alice:", "@a b:example.org", "@" + strings.Repeat("ab", 150) + ":example.org", "", "@é:example.org", "@a\n:example.org"}[r.IntN(13)],
			Name: written(r, 4),
		})
	}
	for range r.IntN(4) {
		control := match.Control{Label: written(r, 3), Command: []string{"pass", "place", "accept", "demo", "dead", "delete", written(r, 2)}[r.IntN(7)], Args: map[string]string{}}
		for range r.IntN(3) {
			control.Args[[]string{"game", "seq", "anyway", "dead", "lesson", "at"}[r.IntN(6)]] = written(r, 2)
		}
		if r.IntN(3) == 0 {
			control.Ask = "at"
		}
		c.Controls = append(c.Controls, control)
	}
	return c
}

// rounds returns how many generated contents a test takes.
func rounds() int { return tier.Pick(2000, 20_000, 1_000_000) }

func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range rounds() {
		check(t, something(r))
		if t.Failed() {
			return
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s, s)
	}
	f.Add("Game 3, move 17: White C4.", "   A B C\n 1 . X O", "Bob")
	f.Fuzz(func(t *testing.T, text, board, name string) {
		check(t, message.Content{Text: text, Board: board, Notify: []outbox.User{{Platform: "matrix", ID: "@bob:example.org", Name: name}}, Number: 3,
			Controls: []match.Control{{Command: "pass", Args: map[string]string{"game": "3"}}, {Command: "place", Ask: "at"}}})
	})
}

// unseen are the characters of which nothing is seen.
var unseen = regexp.MustCompile(`[\p{C}\p{Z}\p{M}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{2065}\x{2800}\x{3164}\x{ffa0}\x{fff0}-\x{fff8}]+`)

// filled is how a text reads on Matrix, links aside.
var filled = bot.Format{Command: bot.Typed("!"), Person: func(on, user, name string) string {
	if on == "matrix" && isUser(user) {
		return seenAs(user, name)
	}
	return name
}}

// isUser reports whether an id can be a user's.
func isUser(user string) bool {
	local, server, ok := strings.Cut(user, ":")
	return ok && server != "" && len(local) > 1 && local[0] == '@' && len(user) <= 255 &&
		!strings.ContainsFunc(user, func(r rune) bool { return r <= ' ' || r > '~' })
}

// seenAs is what a user is called: their id if nothing can be seen of their name.
func seenAs(user, name string) string {
	if clean := bot.CleanName(name); unseen.ReplaceAllString(readable(clean), "") != "" && unseen.ReplaceAllString(readable(name), "") != "" {
		return clean
	}
	return user
}

// check says what holds of everything that is said.
func check(t *testing.T, c message.Content) {
	t.Helper()
	m := message.Text(c)
	fail := func(format string, args ...any) {
		t.Helper()
		for _, s := range []string{fmt.Sprintf(format, args...), c.Text, c.Board, fmt.Sprint(c.Notify), m.Body, m.FormattedBody} {
			t.Errorf("%.2000q", s)
		}
	}

	// Who is called.
	var called []id.UserID
	names := map[id.UserID]string{}
	for _, w := range c.Notify {
		user := id.UserID(w.ID)
		if w.Platform == "matrix" && isUser(w.ID) && names[user] == "" {
			called = append(called, user)
			names[user] = seenAs(w.ID, w.Name)
		}
	}
	if m.Mentions == nil || m.Mentions.Room || !slices.Equal(m.Mentions.UserIDs, called) {
		fail("mentions %v, not %v", m.Mentions, called)
		return
	}
	if want := map[bool]event.MessageType{true: "m.text", false: "m.notice"}[len(called) > 0]; m.MsgType != want {
		fail("an %s for %d persons", m.MsgType, len(called))
	}
	var raw map[string]json.RawMessage
	data, err := json.Marshal(m)
	if err != nil || json.Unmarshal(data, &raw) != nil || len(raw["m.mentions"]) < 2 {
		fail("no m.mentions in %s", data)
	}

	// The plain body.
	if !utf8.ValidString(m.Body) || strings.ContainsFunc(m.Body, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) && r != '\u2068' && r != '\u2069')
	}) {
		fail("there is something in the body that is no text")
	}
	for line := range strings.SplitSeq(m.Body, "\n") {
		open := 0
		for _, r := range line {
			switch r {
			case '\u2068':
				open++
			case '\u2069':
				open--
			}
			if open < 0 || open > 1 {
				fail("isolates do not match in %q", line)
			}
		}
		if open != 0 {
			fail("an isolate stays open in %q", line)
		}
	}
	var parts []string
	if text := readable(bot.Fill(strings.NewReplacer("\x0e", "", "\x0f", "").Replace(strings.ToValidUTF8(c.Text, "\ufffd")), filled)); text != "" {
		parts = append(parts, text)
	}
	var calls []string
	for _, user := range called {
		calls = append(calls, readable(names[user]))
	}
	if len(calls) > 0 {
		parts = append(parts, strings.Join(calls, " "))
	}
	if legend := readable(message.Legend(c.Controls, false, c.Typed)); legend != "" {
		parts = append(parts, "You can: "+legend)
	}
	want := strings.Join(parts, "\n")
	if board := strings.Trim(readable(c.Board), "\n"); board != "" {
		if want != "" {
			want += "\n\n"
		}
		want += board
	}
	if got := readable(m.Body); got != want && !cutOff(got, want) {
		fail("the body reads\n%q, not\n%q", got, want)
	}

	// The formatted body.
	if m.FormattedBody == "" {
		if m.Format != "" || len(called) > 0 || strings.Trim(readable(c.Board), "\n") != "" {
			fail("there is no formatted body")
		}
	} else {
		if m.Format != event.FormatHTML {
			fail("the format is %q", m.Format)
		}
		text, links, problem := read(m.FormattedBody)
		if problem != "" {
			fail("%s", problem)
		}
		if text != m.Body {
			fail("the formatted body reads %q", text)
		}
		pills := map[id.UserID]string{}
		for _, l := range links {
			to := strings.Split(strings.TrimPrefix(l.href, "https://matrix.to/#/"), "/")
			first, err := url.PathUnescape(to[0])
			switch {
			case err != nil:
				fail("a link to %q: %v", l.href, err)
			case strings.HasPrefix(first, "@") && len(to) == 1:
				pills[id.UserID(first)] = l.text
			case !strings.HasPrefix(first, "!") || len(to) > 2 || len(to) == 2 && !strings.HasPrefix(to[1], "$"):
				fail("a link to %q", l.href)
			}
		}
		if len(pills) != len(called) {
			fail("pills of %v", pills)
		}
		for _, user := range called {
			if readable(pills[user]) != readable(names[user]) {
				fail("the pill of %s reads %q", user, pills[user])
			}
		}
	}

	// Its size, also as an edit.
	edit := message.Edit(m, "$target")
	edited, err := json.Marshal(edit)
	if err != nil || len(data) > maxEncrypted || len(edited) > maxEncrypted {
		fail("%d bytes, %d as an edit", len(data), len(edited))
	}
	if edit.FormattedBody != "" {
		if _, _, problem := read(edit.FormattedBody); problem != "" {
			fail("as an edit: %s", problem)
		}
	}
}

// readable is a text without what cannot be seen, and with commands behind a
// slash: as the bot wrote it.
func readable(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("\n\r\u0085\u2028\u2029", r):
			return '\n'
		case r == '\t':
			return ' '
		case r == '!':
			return '/'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
			return -1
		}
		return r
	}, s)
}

// cutOff reports whether the pieces between the ellipses of a text are pieces of
// another, in their order.
func cutOff(short, long string) bool {
	for piece := range strings.SplitSeq(short, "…") {
		at := strings.Index(long, piece)
		if at < 0 {
			return false
		}
		long = long[at+len(piece):]
	}
	return strings.Contains(short, "…") && len(short) > 500
}

type link struct{ href, text string }

// read returns what somebody reads in HTML who opens all details, and where the
// links lead; or what is wrong with it.
func read(formatted string) (text string, links []link, problem string) {
	// What is begun is ended, in order.
	var open []string
	tokens := html.NewTokenizer(strings.NewReader(formatted))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		token := tokens.Token()
		switch {
		case kind == html.StartTagToken && token.Data != "br":
			open = append(open, token.Data)
		case kind == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				return "", nil, "</" + token.Data + "> ends nothing"
			}
			open = open[:len(open)-1]
		case kind != html.StartTagToken && kind != html.TextToken:
			return "", nil, "a " + kind.String()
		}
	}
	if len(open) > 0 {
		return "", nil, open[0] + " does not end"
	}

	nodes, err := html.ParseFragment(strings.NewReader(formatted), &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		return "", nil, err.Error()
	}
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if depth > 100 {
			problem = "more than 100 deep"
			return
		}
		switch {
		case n.Type == html.TextNode:
			text += n.Data
			return
		case n.Type != html.ElementNode:
			problem = "there is a node that is no element"
			return
		}
		attributes, known := permitted[n.Data]
		if !known {
			problem = "the tag " + n.Data
		}
		for _, a := range n.Attr {
			if !slices.Contains(strings.Fields(attributes), a.Key) {
				problem = "the attribute " + a.Key + " of " + n.Data
			}
		}
		before := len(text)
		switch n.Data {
		case "br":
			text += "\n"
		case "summary":
			if text != "" {
				text += "\n\n"
			}
			before = len(text)
		}
		for child := range n.ChildNodes() {
			walk(child, depth+1)
		}
		switch n.Data {
		case "summary": // the headline is no part of what is said
			if text = text[:before]; len(n.Attr) > 0 || n.FirstChild == nil {
				problem = "details without a summary"
			}
		case "a":
			if len(n.Attr) != 1 {
				problem = "a link that leads nowhere"
				break
			}
			u, err := url.Parse(n.Attr[0].Val)
			if err != nil || u.Scheme != "https" || u.Host != "matrix.to" || u.Path != "/" || u.User != nil {
				problem = "a link to " + n.Attr[0].Val
			}
			links = append(links, link{n.Attr[0].Val, text[before:]})
		}
	}
	for _, n := range nodes {
		walk(n, 1)
	}
	return text, links, problem
}
