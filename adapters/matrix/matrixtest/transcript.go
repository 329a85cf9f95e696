package matrixtest

import (
	"fmt"
	"strings"

	"maunium.net/go/mautrix/id"
)

// String is the room as a stranger would read it: the main timeline, then each
// thread under the first line of its root. It holds no ids and no times.
func (v View) String() string {
	var b strings.Builder
	title := v.Name
	if title == "" {
		title = "a room without a name"
	}
	lock := ""
	if v.Encrypted {
		lock = " (encrypted)"
	}
	fmt.Fprintf(&b, "── %s%s\n", title, lock)
	messages := map[id.EventID]*Message{}
	var threads []id.EventID
	inThread := map[id.EventID][]*Message{}
	for _, m := range v.Messages {
		messages[m.ID] = m
		if m.Thread != "" {
			if inThread[m.Thread] == nil {
				threads = append(threads, m.Thread)
			}
			inThread[m.Thread] = append(inThread[m.Thread], m)
		}
	}
	members := map[string]string{}
	for _, e := range v.Events {
		if e.StateKey != nil {
			if line := v.lookState(e, members); line != "" {
				b.WriteString("· " + line + "\n")
			}
		} else if m := messages[e.ID]; m != nil && m.Thread == "" {
			b.WriteString(v.look(m, messages) + "\n")
		}
	}
	for _, root := range threads {
		first := "a message that is not here"
		if m := messages[root]; m != nil {
			first = summary(m)
		}
		fmt.Fprintf(&b, "\n── %s%s › %s\n", title, lock, first)
		for _, m := range inThread[root] {
			b.WriteString(v.look(m, messages) + "\n")
		}
	}
	return b.String()
}

// summary is who said what, in a line.
func summary(m *Message) string {
	switch {
	case m.Redacted:
		return m.Name + ": (removed)"
	case m.Encrypted:
		return m.Name + ": (encrypted)"
	case m.Text() == "" && m.Picture != nil:
		return m.Name + ": " + lookPicture(m.Picture)
	}
	line, _, _ := strings.Cut(m.Text(), "\n")
	return m.Name + ": " + line
}

func (v View) look(m *Message, messages map[id.EventID]*Message) string {
	var lines []string
	switch {
	case m.Redacted:
		lines = append(lines, "(removed)")
	case m.Encrypted:
		lines = append(lines, "(encrypted)")
	default:
		if to := messages[m.ReplyTo]; to != nil {
			lines = append(lines, "(to "+summary(to)+")")
		} else if m.ReplyTo != "" {
			lines = append(lines, "(to a message that is not here)")
		}
		if m.Picture != nil {
			lines = append(lines, lookPicture(m.Picture))
		}
		if body := m.Text(); body != "" {
			lines = append(lines, strings.Split(body, "\n")...)
		}
	}
	if m.Edits > 0 {
		lines = append(lines, "(edited)")
	}
	if len(m.Pings) > 0 {
		lines = append(lines, "(pings "+v.list(m.Pings)+")")
	}
	if len(m.Reactions) > 0 {
		var shown []string
		for _, r := range m.Reactions {
			shown = append(shown, r.Key+" "+v.list(r.By))
		}
		lines = append(lines, "("+strings.Join(shown, "; ")+")")
	}
	return m.Name + ": " + strings.Join(lines, "\n    ")
}

func lookPicture(p *Picture) string {
	return fmt.Sprintf("[picture %s, %d×%d]", p.Name, p.Width, p.Height)
}

func (v View) list(people []id.UserID) string {
	var names []string
	for _, u := range people {
		names = append(names, v.NameOf(u))
	}
	return strings.Join(names, ", ")
}

// lookState is what clients write of a change of the room, "" for what they
// leave out. It keeps the memberships so far.
func (v View) lookState(e *Event, members map[string]string) string {
	who := v.NameOf(e.Sender)
	switch e.Type {
	case "m.room.create":
		return who + " makes the room"
	case "m.room.encryption":
		return who + " switches encryption on"
	case "m.room.tombstone":
		return who + " replaces the room by a new one"
	case "m.room.member":
		whom := v.NameOf(id.UserID(*e.StateKey))
		before, now := members[*e.StateKey], text(e.Content["membership"])
		members[*e.StateKey] = now
		switch {
		case now == before:
			return ""
		case now == "join":
			return whom + " joins"
		case now == "invite":
			return who + " invites " + whom
		case now == "leave" && who == whom:
			return whom + " leaves"
		case now == "leave":
			return who + " removes " + whom
		case now == "ban":
			return who + " bans " + whom
		}
	}
	return ""
}
