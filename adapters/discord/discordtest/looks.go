package discordtest

import (
	"fmt"
	"strings"
)

// A Message is how a message looked when it was asked for.
type Message struct {
	ID, ChannelID, Content string
	Bot                    bool   // wrote it
	To                     string // the name of the one person who sees it; "" for everybody
	Flags                  int
	Controls               []Control
	Attachments            []Attachment
	Mentions, Pings        []string // names: marked in the text, and notified by it
	Edits                  int
	Nonce                  string
	ReplyTo                string // id of the message that it answers

	m *message
	s *Server
}

// A Control is a button or menu.
type Control struct {
	Type                         int // 2 button, 3 menu
	CustomID, Label, Placeholder string
	URL                          string // of a button that opens it
	Options                      []SelectOption
}

// A SelectOption is an entry of a menu.
type SelectOption struct{ Label, Value string }

// An Attachment is a file of a message.
type Attachment struct {
	Name, Alt, Type, URL string
	Data                 []byte
}

// Now returns the message as it is by now.
func (m *Message) Now() *Message {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return m.s.snapshot(m.m)
}

// Delete is what a moderator does.
func (m *Message) Delete() { m.s.locked(func() { m.s.remove(m.m) }) }

// snapshots returns the messages that u, or everybody, sees in a channel.
func (s *Server) snapshots(c *channel, u *user) []*Message {
	var list []*Message
	for _, m := range c.messages {
		if !m.gone && (m.only == nil || m.only == u) {
			list = append(list, s.snapshot(m))
		}
	}
	return list
}

func (s *Server) snapshot(m *message) *Message {
	out := &Message{ID: m.id, ChannelID: m.channel.id, Content: m.content, Bot: m.author.bot, Flags: m.flags, Edits: m.edits, m: m, s: s}
	if m.only != nil {
		out.To = m.only.name
	}
	if m.reply != nil {
		out.ReplyTo = m.reply.id
	}
	if m.nonce != nil {
		out.Nonce = fmt.Sprint(m.nonce)
	}
	for _, u := range m.mentions {
		out.Mentions = append(out.Mentions, u.name)
	}
	for _, u := range m.pinged {
		out.Pings = append(out.Pings, u.name)
	}
	for _, f := range m.files {
		out.Attachments = append(out.Attachments, Attachment{f.name, f.description, f.kind, s.Address() + f.path, f.data})
	}
	visitParts(m.parts, func(o object) {
		if number(o["type"]) == partRow {
			return
		}
		c := Control{Type: number(o["type"]), CustomID: text(o["custom_id"]), Label: buttonText(o), Placeholder: text(o["placeholder"]), URL: text(o["url"])}
		for _, x := range asList(o["options"]) {
			c.Options = append(c.Options, SelectOption{text(x.(object)["label"]), text(x.(object)["value"])})
		}
		out.Controls = append(out.Controls, c)
	})
	return out
}

// visitParts visits components in the order in which they are shown.
func visitParts(v any, see func(object)) {
	switch v := v.(type) {
	case object:
		see(v)
		visitParts(v["components"], see)
		visitParts(v["component"], see)
	case []any:
		for _, x := range v {
			visitParts(x, see)
		}
	}
}

func buttonText(o object) string {
	label := text(o["label"])
	if e, ok := o["emoji"].(object); ok {
		label = strings.TrimSpace(text(e["name"]) + " " + label)
	}
	return label
}
