package message

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
)

// InThread puts a message into the thread of root, or into the room itself if
// root is empty. It answers replyTo, if that is not empty; else clients that
// know no threads show it as an answer to root.
func InThread(m *event.MessageEventContent, root, replyTo id.EventID) *event.MessageEventContent {
	if root == "" {
		m.RelatesTo = nil
		if replyTo != "" {
			m.RelatesTo = &event.RelatesTo{InReplyTo: &event.InReplyTo{EventID: replyTo}}
		}
		return m
	}
	m.RelatesTo = &event.RelatesTo{Type: event.RelThread, EventID: root}
	m.RelatesTo.IsFallingBack = replyTo == ""
	m.RelatesTo.InReplyTo = &event.InReplyTo{EventID: cmp.Or(replyTo, root)}
	return m
}

// Edit makes of a message the event that puts it in the place of target, which
// is the first version and no edit. It names those whom m names, and calls nobody: the
// first version has called them.
func Edit(m *event.MessageEventContent, target id.EventID) *event.MessageEventContent {
	now := *m
	now.RelatesTo, now.NewContent = nil, nil
	if now.Mentions == nil {
		now.Mentions = &event.Mentions{}
	}
	out := now
	out.NewContent, out.Mentions = &now, &event.Mentions{}
	out.RelatesTo = (&event.RelatesTo{}).SetReplace(target)
	out.Body = editMark + now.Body
	if now.FormattedBody != "" {
		out.FormattedBody = editMark + now.FormattedBody
	}
	if size(&out) > maxEdit {
		out.Format, out.FormattedBody = "", ""
		out.Body = cut([]span{{text: out.Body}}, maxFallback)[0].text
	}
	return &out
}

// WithoutControls removes the list of commands from a message that this package has made
// in a language.
func WithoutControls(m *event.MessageEventContent, lang string) *event.MessageEventContent {
	before, after, _ := strings.Cut(bot.Translated(lang, wordControls, holeBegin), holeBegin)
	list := regexp.QuoteMeta(before) + "[^\n<]+" + regexp.QuoteMeta(after)
	out := *m
	out.Body = regexp.MustCompile(`(?m)(\n|\A)`+list+"$").ReplaceAllString(m.Body, "")
	out.FormattedBody = regexp.MustCompile(`(<br>|\A)`+list+`(<details>|\z)`).ReplaceAllString(m.FormattedBody, "$2")
	return &out
}

// editMark begins an edit where it is shown as a message of its own.
const editMark = "* "

// size is how many bytes the JSON of a content takes.
func size(m *event.MessageEventContent) int {
	data, err := json.Marshal(m)
	if err != nil { // never of what is made here
		return maxEdit + 1
	}
	return len(data)
}
