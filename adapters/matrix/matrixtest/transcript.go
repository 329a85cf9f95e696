package matrixtest

import (
	"fmt"
	"strings"

	"maunium.net/go/mautrix/id"
)

// String is the room as a stranger would read it: who came and went, and the messages.
// It holds no ids and no times.
func (v View) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "── %s", v.Name)
	if v.Encrypted {
		b.WriteString(" (encrypted)")
	}
	b.WriteString("\n")
	for _, e := range v.Events {
		if e.Type == "m.room.member" && e.StateKey != nil {
			fmt.Fprintf(&b, "· %s: %s\n", v.NameOf(id.UserID(*e.StateKey)), text(e.Content["membership"]))
		} else if m := v.Message(e.ID); m != nil {
			b.WriteString(v.look(m) + "\n")
		}
	}
	return b.String()
}

// summary is who said what, in a line.
func summary(m *Message) string {
	line, _, _ := strings.Cut(strings.Join(m.lines(), "\n"), "\n")
	return m.Name + ": " + line
}

// lines are what a message shows.
func (m *Message) lines() (lines []string) {
	switch {
	case m.Redacted:
		return []string{"(removed)"}
	case m.Encrypted:
		return []string{"(encrypted)"}
	}
	if p := m.Picture; p != nil {
		lines = append(lines, fmt.Sprintf("[picture %s, %d×%d]", p.Name, p.Width, p.Height))
	}
	if body := m.Text(); body != "" {
		lines = append(lines, strings.Split(body, "\n")...)
	}
	return lines
}

func (v View) look(m *Message) string {
	lines := m.lines()
	to := func(how string, event id.EventID) {
		if other := v.Message(event); other != nil {
			lines = append(lines, "("+how+" "+summary(other)+")")
		} else if event != "" {
			lines = append(lines, "("+how+" a message that is not here)")
		}
	}
	to("in the thread of", m.Thread)
	to("to", m.ReplyTo)
	if m.Edits > 0 {
		lines = append(lines, "(edited)")
	}
	if len(m.Pings) > 0 {
		lines = append(lines, "(pings "+v.list(m.Pings)+")")
	}
	for _, r := range m.Reactions {
		lines = append(lines, "("+r.Key+" "+v.list(r.By)+")")
	}
	return m.Name + ": " + strings.Join(lines, "\n    ")
}

func (v View) list(people []id.UserID) string {
	var names []string
	for _, u := range people {
		names = append(names, v.NameOf(u))
	}
	return strings.Join(names, ", ")
}
