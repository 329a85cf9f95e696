package matrixtest

import (
	"slices"
	"strings"

	"maunium.net/go/mautrix/id"
)

// An Event is an event of a room's timeline as the homeserver sent it.
type Event struct {
	ID       id.EventID     `json:"event_id"`
	Sender   id.UserID      `json:"sender"`
	Type     string         `json:"type"`
	StateKey *string        `json:"state_key"`
	Time     int64          `json:"origin_server_ts"` // milliseconds since 1970
	Content  map[string]any `json:"content"`
	Redacts  id.EventID     `json:"redacts"`
	Unsigned map[string]any `json:"unsigned"`
}

// A View is a room as somebody saw it at one time, edits, reactions and
// redactions resolved. It does not change any more.
type View struct {
	Room      id.RoomID
	Name      string
	Encrypted bool

	// Events is the whole timeline, the oldest event first.
	Events []*Event
	// Messages are the messages and the events that nobody can read here,
	// those of the main timeline and those of threads, in their order.
	Messages []*Message
	// Members says of everybody who was ever here "join", "invite", "leave" or
	// "ban".
	Members map[id.UserID]string
	// Read has what somebody set a public read receipt on.
	Read map[id.UserID][]id.EventID
	// Typed counts how often somebody was seen to begin typing.
	Typed map[id.UserID]int

	names map[id.UserID]string
}

// A Message is a message as it is shown by now.
type Message struct {
	ID      id.EventID
	Sender  id.UserID
	Name    string // the sender's display name
	Kind    string // m.text, m.notice, m.image, …; "" when it is encrypted or redacted
	Body    string
	HTML    string // "" when there is none
	Picture *Picture
	Thread  id.EventID // the thread's root, "" in the main timeline
	ReplyTo id.EventID // "" for none; the fallback of threads is not one

	// Pings are the people whom the message or one of its edits has notified, from
	// m.mentions alone.
	Pings []id.UserID

	Edits     int
	Encrypted bool // m.room.encrypted, which a Player cannot read
	Redacted  bool
	Reactions []Reaction
	Content   map[string]any // the latest, of an edit its m.new_content
}

// A Picture is what a message says of its picture.
type Picture struct {
	Name          string
	URL           string // mxc://…
	Type          string // image/png
	Width, Height int    // pixels
	Size          int    // bytes
	Blurhash      string
}

// A Reaction is a key and who has set it, in the order in which it was set.
type Reaction struct {
	Key string
	By  []id.UserID
}

// Message is the message with that ID, or nil.
func (v View) Message(event id.EventID) *Message {
	for _, m := range v.Messages {
		if m.ID == event {
			return m
		}
	}
	return nil
}

// From are the messages of one person, redacted ones left out.
func (v View) From(user id.UserID) (list []*Message) {
	for _, m := range v.Messages {
		if m.Sender == user && !m.Redacted {
			list = append(list, m)
		}
	}
	return list
}

// In are the messages of a thread without its root, or with "" those of the
// main timeline.
func (v View) In(thread id.EventID) (list []*Message) {
	for _, m := range v.Messages {
		if m.Thread == thread {
			list = append(list, m)
		}
	}
	return list
}

// Pictures are the messages of one person that hold a picture.
func (v View) Pictures(user id.UserID) (list []*Message) {
	for _, m := range v.From(user) {
		if m.Picture != nil {
			list = append(list, m)
		}
	}
	return list
}

// Reacted says whether the person's reaction with that key stands there.
func (m *Message) Reacted(user id.UserID, key string) bool {
	for _, r := range m.Reactions {
		if r.Key == key && slices.Contains(r.By, user) {
			return true
		}
	}
	return false
}

// Text is what a person reads of the message: the HTML as it is shown, else
// the body.
func (m *Message) Text() string {
	if m.HTML != "" {
		return readHTML(m.HTML)
	}
	return m.Body
}

func object(v any) map[string]any { o, _ := v.(map[string]any); return o }
func text(v any) string           { s, _ := v.(string); return s }
func number(v any) int            { f, _ := v.(float64); return int(f) }

func users(content map[string]any) (list []id.UserID) {
	ids, _ := object(content["m.mentions"])["user_ids"].([]any)
	for _, u := range ids {
		list = append(list, id.UserID(text(u)))
	}
	return list
}

// resolve makes a view of the events in their order.
func resolve(room id.RoomID, state, events []*Event) View {
	v := View{Room: room, Events: slices.Clone(events), Members: map[id.UserID]string{}, Read: map[id.UserID][]id.EventID{}, Typed: map[id.UserID]int{}, names: map[id.UserID]string{}}
	gone := map[id.EventID]bool{}
	for _, e := range slices.Concat(state, events) {
		if e.Type == "m.room.redaction" {
			target := e.Redacts // before version 11 of rooms
			if target == "" {
				target = id.EventID(text(e.Content["redacts"]))
			}
			gone[target] = true
		}
		if e.StateKey == nil {
			continue
		}
		switch e.Type {
		case "m.room.name":
			v.Name = text(e.Content["name"])
		case "m.room.encryption":
			v.Encrypted = true
		case "m.room.member":
			user := id.UserID(*e.StateKey)
			v.Members[user] = text(e.Content["membership"])
			if name := text(e.Content["displayname"]); name != "" {
				v.names[user] = name
			}
		}
	}
	edits := map[id.EventID][]*Event{}
	reactions := map[id.EventID][]*Event{}
	for _, e := range events {
		if gone[e.ID] || e.StateKey != nil {
			continue
		}
		relation := object(e.Content["m.relates_to"])
		target := id.EventID(text(relation["event_id"]))
		switch text(relation["rel_type"]) {
		case "m.replace":
			edits[target] = append(edits[target], e)
		case "m.annotation":
			if e.Type == "m.reaction" {
				reactions[target] = append(reactions[target], e)
			}
		}
	}
	for _, e := range events {
		if e.StateKey != nil || e.Type != "m.room.message" && e.Type != "m.room.encrypted" {
			continue
		}
		relation := object(e.Content["m.relates_to"])
		if text(relation["rel_type"]) == "m.replace" {
			continue
		}
		m := &Message{ID: e.ID, Sender: e.Sender, Name: v.NameOf(e.Sender), Redacted: gone[e.ID], Encrypted: e.Type == "m.room.encrypted"}
		v.Messages = append(v.Messages, m)
		if m.Redacted {
			continue
		}
		if text(relation["rel_type"]) == "m.thread" {
			m.Thread = id.EventID(text(relation["event_id"]))
		}
		if relation["is_falling_back"] != true {
			m.ReplyTo = id.EventID(text(object(relation["m.in_reply_to"])["event_id"]))
		}
		m.Content = e.Content
		m.Pings = users(e.Content)
		var last *Event
		for _, edit := range edits[e.ID] {
			fresh := object(edit.Content["m.new_content"])
			if edit.Sender != e.Sender || edit.Type != e.Type || fresh == nil && !m.Encrypted {
				continue
			}
			m.Edits++
			for _, u := range users(edit.Content) {
				if !slices.Contains(m.Pings, u) {
					m.Pings = append(m.Pings, u)
				}
			}
			if last == nil || edit.Time > last.Time || edit.Time == last.Time && edit.ID > last.ID {
				last = edit
			}
		}
		if last != nil && !m.Encrypted {
			m.Content = object(last.Content["m.new_content"])
		}
		m.Kind, m.Body = text(m.Content["msgtype"]), text(m.Content["body"])
		if text(m.Content["format"]) == "org.matrix.custom.html" {
			m.HTML = text(m.Content["formatted_body"])
		}
		if m.Kind == "m.image" {
			m.Picture = picture(m.Content)
			if text(m.Content["filename"]) == "" || m.Content["filename"] == m.Body {
				m.Body = ""
			}
		}
		for _, r := range reactions[e.ID] {
			m.react(text(object(r.Content["m.relates_to"])["key"]), r.Sender)
		}
	}
	return v
}

func (m *Message) react(key string, by id.UserID) {
	for n := range m.Reactions {
		if r := &m.Reactions[n]; r.Key == key {
			if !slices.Contains(r.By, by) {
				r.By = append(r.By, by)
			}
			return
		}
	}
	m.Reactions = append(m.Reactions, Reaction{key, []id.UserID{by}})
}

func picture(content map[string]any) *Picture {
	info := object(content["info"])
	p := &Picture{Name: text(content["filename"]), URL: text(content["url"]), Type: text(info["mimetype"]), Width: number(info["w"]), Height: number(info["h"]), Size: number(info["size"])}
	if p.Name == "" {
		p.Name = text(content["body"])
	}
	p.Blurhash = text(info["xyz.amorgan.blurhash"])
	return p
}

// NameOf is the display name of somebody in the room, or the local part of
// their ID.
func (v View) NameOf(user id.UserID) string {
	if name := v.names[user]; name != "" {
		return name
	}
	local, _, _ := strings.Cut(strings.TrimPrefix(user.String(), "@"), ":")
	return local
}
