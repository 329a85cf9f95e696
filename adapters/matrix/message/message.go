package message

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// platform is the name of the adapter in [outbox.User] and [match.Room].
const platform = "matrix"

// Content is something to say.
type Content struct {
	Text     string          // of the bot, to be put through [bot.Fill]
	Board    string          // the picture in letters; may be empty
	Unfold   bool            // Board can be unfolded below the text, and is not for those alone who see no picture
	Chart    bool            // it is no board
	Table    bool            // Link is the page of an event
	Notify   []outbox.User   // the persons called: they are mentioned, nobody else is
	Controls []match.Control // the next commands; listed as people type them
	Link     string          // address of the page that shows the same; may be empty
	Typed    bool            // their reactions do not stand below the message, so that it does not name them
	Number   int             // of the game in its channel; 0: it is about no game
	Lang     string          // BCP 47 tag of the language of Text
	Thread   bool            // it stands in the thread of the game that Text is about
	Sealed   bool            // the room is encrypted, and some commands must be typed
}

// A Picture is a file that lies in the media repository.
type Picture struct {
	Name     string                   // "game-3-turn-17.png"
	Type     string                   // "image/png"
	W, H     int                      // pixels; 0 for what has none
	Size     int                      // bytes
	Blurhash string                   // as Blurhash gives it; may be empty
	URL      id.ContentURIString      // empty in an encrypted room
	File     *event.EncryptedFileInfo // where it is and its keys, in an encrypted room
}

// Limits, in bytes of the JSON of a content. Encryption makes four bytes of
// three, and an event carries its envelope besides: 65,536 in all.
const (
	maxContent  = 36_000 // both bodies
	maxBoard    = 10_000 // of these for the board
	maxCalls    = 6_000  // and for the persons called
	maxControls = 4_000  // and for the commands
	maxFallback = 2_000  // of the body of an edit for clients that know no edits
	maxEdit     = 42_000 // an edit with its fallback
	maxName     = 400    // of a file
)

// Text makes a message without a file. It is of the type m.text if somebody is
// called, else m.notice: by the default rules of Matrix a notice never makes a
// sound, even for those whom it mentions.
func Text(c Content) *event.MessageEventContent {
	m := c.content(true)
	m.MsgType = event.MsgNotice
	if len(m.Mentions.UserIDs) > 0 {
		m.MsgType = event.MsgText
	}
	return m
}

// File makes a message of a picture or another file with its caption. Matrix has no
// field for a description of a picture: the plain caption carries the board in letters,
// for clients that show no pictures and no HTML. The formatted one does where c.Unfold
// says so.
func File(c Content, p Picture) *event.MessageEventContent {
	m := c.content(c.Unfold)
	m.MsgType = event.MsgFile
	if strings.HasPrefix(p.Type, "image/") {
		m.MsgType = event.MsgImage
	}
	m.FileName = fileName(p.Name)
	m.Body = cmp.Or(m.Body, m.FileName)
	m.Info = &event.FileInfo{
		MimeType: p.Type, Width: p.W, Height: p.H, Size: p.Size,
		Blurhash: p.Blurhash, AnoaBlurhash: p.Blurhash, IsAnimated: p.Type == "image/gif",
	}
	m.URL, m.File = p.URL, p.File
	return m
}

// fileName makes a name in one line.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '\n' || r == '/' || r == '\\' {
			return '-'
		}
		return r
	}, clean(name))
	if name == "" {
		return "file"
	}
	return cut([]span{{text: name}}, maxName)[0].text
}

// content writes both bodies and the mentions. If the board is not to be unfolded the
// formatted body leaves it out, unless there is nothing else to say. A chart can always
// be unfolded: it comes once, on request.
func (c Content) content(unfold bool) *event.MessageEventContent {
	calls, ids := called(c.Notify)
	var board, legend []span
	if b := strings.Trim(clean(c.Board), "\n"); b != "" {
		board = cut([]span{{text: b}}, maxBoard)
	}
	if l := Legend(c.Controls, c.Sealed, c.Typed); l != "" {
		legend = cut([]span{{text: clean(bot.Translated(c.Lang, wordControls, l))}}, maxControls)
	}
	var link []span
	if c.Link != "" {
		words := bot.Translated(c.Lang, wordOpen)
		if c.Table {
			words = bot.Translated(c.Lang, wordOpenTable)
		}
		link = []span{{text: words, href: c.Link, plain: words + ": " + c.Link}}
	}
	left := maxContent - cost(calls) - cost(board) - cost(legend) - cost(link)
	var lines [][]span
	said := cut(written(c.Text, c.Thread), left)
	calls, _ = called(slices.DeleteFunc(slices.Clone(c.Notify), func(w outbox.User) bool {
		return slices.ContainsFunc(said, func(s span) bool { return s.href == id.UserID(w.ID).URI().MatrixToURL() })
	}))
	for _, part := range [][]span{said, calls, link, legend} {
		if cost(part) > 0 {
			lines = append(lines, part)
		}
	}

	m := &event.MessageEventContent{Mentions: &event.Mentions{UserIDs: ids}}
	var body, formatted strings.Builder
	links := false
	for i, line := range lines {
		if i > 0 {
			body.WriteString("\n")
			formatted.WriteString("<br>")
		}
		for _, s := range line {
			body.WriteString(cmp.Or(s.plain, s.text))
			formatted.WriteString(s.html())
			links = links || s.href != ""
		}
	}
	if len(board) > 0 {
		if len(lines) > 0 {
			body.WriteString("\n\n")
		}
		body.WriteString(board[0].text)
		summary := bot.Translated(c.Lang, wordBoard)
		switch {
		case c.Chart:
			summary = bot.Translated(c.Lang, wordChart)
		case c.Number > 0:
			summary = bot.Translated(c.Lang, wordBoardOf, strconv.Itoa(c.Number))
		}
		if unfold || c.Chart || len(lines) == 0 {
			formatted.WriteString("<details><summary>" + escape(summary) + "</summary><pre>" + escape(board[0].text) + "</pre></details>")
		}
	}
	m.Body = body.String()
	if links || len(board) > 0 { // else there is nothing that plain text could not say
		m.Format, m.FormattedBody = event.FormatHTML, formatted.String()
	}
	return m
}

// called makes a link for each person to be called, and returns their ids.
func called(who []outbox.User) (calls []span, ids []id.UserID) {
	seen := map[id.UserID]bool{}
	for _, w := range who {
		user := id.UserID(w.ID)
		if w.Platform != platform || seen[user] || !valid(user) {
			continue
		}
		seen[user] = true
		call := []span{{text: nameOf(w), href: user.URI().MatrixToURL()}}
		if len(calls) > 0 {
			call = append([]span{{text: " "}}, call...)
		}
		if cost(calls)+cost(call)+quoted(w.ID) > maxCalls {
			break
		}
		calls = append(calls, call...)
		ids = append(ids, user)
	}
	return calls, ids
}

// nameOf is how somebody is called: by id if there is nothing to be seen of
// their name.
func nameOf(w outbox.User) string {
	name := clean(bot.CleanName(w.Name))
	if strings.ContainsFunc(w.Name, visible) && strings.ContainsFunc(name, visible) {
		return name
	}
	return clean(w.ID)
}

// visible reports whether something is seen of a character that stands alone.
func visible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) && r != '\u2800' &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// valid reports whether a user id can be mentioned.
func valid(user id.UserID) bool {
	_, _, err := user.ParseAndValidateRelaxed()
	return err == nil && !strings.ContainsFunc(string(user), func(r rune) bool { return r <= ' ' || r > '~' })
}
