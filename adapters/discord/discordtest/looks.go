package discordtest

import (
	"fmt"
	"strings"
	"time"
)

// A Message is how a message looked when it was asked for.
type Message struct {
	ID, ChannelID, Author, Content string
	Bot                            bool
	To                             string // who alone sees it, "" for everybody
	Loading                        bool   // "is thinking…"
	Flags                          int
	Components                     []any // as JSON
	Controls                       []Control
	Attachments                    []Attachment
	Mentions, Pings                []string // names: marked in the text, and notified by it
	Edits                          int
	Deleted                        bool
	Created, Edited                time.Time
	Nonce                          string
	ReplyTo                        string // message id

	m *message
	s *Server
}

// A Control is a button or menu.
type Control struct {
	Type                              int // 2 button, 3 menu, 5–8 menus of people and channels
	Style                             int
	CustomID, Label, URL, Placeholder string
	Disabled                          bool
	Min, Max                          int
	Options                           []SelectOption
}

// A SelectOption is an entry of a menu.
type SelectOption struct {
	Label, Value, Description string
	Default                   bool
}

// An Attachment is a file of a message.
type Attachment struct {
	ID, Name, Alt, Type, URL string
	Width, Height            int // pixels
	Data                     []byte
}

// Now is the message as it is by now.
func (m *Message) Now() *Message {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	return m.s.snapshot(m.m)
}

// Channel is where the message is.
func (m *Message) Channel() *Channel { return &Channel{m.s, m.m.channel} }

// Thread is the thread that was started from the message, or nil.
func (m *Message) Thread() *Channel {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	if m.m.thread == nil {
		return nil
	}
	return &Channel{m.s, m.m.thread}
}

// Delete is what a moderator does.
func (m *Message) Delete() {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.remove(m.m)
}

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
	out := &Message{
		ID: m.id, ChannelID: m.channel.id, Author: m.author.name, Content: m.content, Bot: m.author.bot, Flags: m.flags,
		Loading: m.flags&flagLoading != 0, Components: m.parts, Edits: m.edits, Deleted: m.gone,
		Created: m.created, Edited: m.edited, m: m, s: s,
	}
	if m.only != nil {
		out.To = m.only.name
	}
	if m.nonce != nil {
		out.Nonce = fmt.Sprint(m.nonce)
	}
	if m.reply != nil {
		out.ReplyTo = m.reply.id
	}
	for _, u := range m.mentions {
		out.Mentions = append(out.Mentions, u.name)
	}
	for _, u := range m.pinged {
		out.Pings = append(out.Pings, u.name)
	}
	for _, f := range m.files {
		out.Attachments = append(out.Attachments, Attachment{
			ID: f.id, Name: f.name, Alt: f.description, Type: f.kind, URL: s.Address() + f.path, Width: f.width, Height: f.height, Data: f.data,
		})
	}
	for _, p := range m.parts {
		walkControls(p, func(o object) {
			c := Control{
				Type: number(o["type"]), CustomID: text(o["custom_id"]), Label: buttonText(o), URL: text(o["url"]),
				Placeholder: text(o["placeholder"]), Disabled: o["disabled"] == true,
			}
			if c.Type == partButton {
				c.Style = number(o["style"])
			} else {
				c.Min, c.Max = number(o["min_values"]), number(o["max_values"])
			}
			for _, x := range asList(o["options"]) {
				x := x.(object)
				c.Options = append(c.Options, SelectOption{text(x["label"]), text(x["value"]), text(x["description"]), x["default"] == true})
			}
			out.Controls = append(out.Controls, c)
		})
	}
	return out
}

// walkControls visits buttons and menus in the order in which they are shown.
func walkControls(part any, see func(object)) {
	o, _ := part.(object)
	if kind := number(o["type"]); kind == partButton || kind == partSelect {
		see(o)
	}
	for _, p := range asList(o["components"]) {
		walkControls(p, see)
	}
}

func buttonText(o object) string {
	label := text(o["label"])
	if e, ok := o["emoji"].(object); ok {
		label = strings.TrimSpace(text(e["name"]) + " " + label)
	}
	return label
}
