package discordtest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A line is something that was seen in a channel.
type line struct {
	channel *channel
	text    string
}

const maxLines = 100_000

func (s *Server) write(c *channel, format string, args ...any) {
	s.lines = newest(append(s.lines, line{c, fmt.Sprintf(format, args...)}), maxLines)
}

// Transcript returns what a stranger would read over people's shoulders: each
// channel with what was said there, in order; all channels that were used when
// none are given. It holds no ids and no times.
func (s *Server) Transcript(channels ...*Channel) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var order []*channel
	for _, c := range channels {
		order = append(order, c.c)
	}
	said := map[*channel][]string{}
	for _, l := range s.lines {
		if channels == nil && !slices.Contains(order, l.channel) {
			order = append(order, l.channel)
		}
		said[l.channel] = append(said[l.channel], l.text+"\n")
	}
	var parts []string
	for _, c := range order {
		parts = append(parts, "── "+c.title()+"\n"+strings.Join(said[c], ""))
	}
	return strings.Join(parts, "\n")
}

func (c *channel) title() string {
	switch {
	case c.guild == nil:
		return "direct messages with " + c.recipient.name
	case c.isThread():
		return c.guild.name + " #" + c.parent.name + " › " + c.name
	}
	return c.guild.name + " #" + c.name
}

// sayAsked writes once what a person did.
func (s *Server) sayAsked(i *interaction) {
	if i.said || i.kind == kindAutocomplete {
		return
	}
	i.said = true
	colon := ""
	if i.kind == kindCommand {
		colon = ":"
	}
	s.write(i.channel, "%s%s %s", i.person.user.name, colon, i.label)
}

func (s *Server) say(m *message) { s.write(m.channel, "%s%s: %s", m.author.name, m.alone(), s.look(m)) }

func (s *Server) sayEdit(m *message) {
	s.write(m.channel, "%s%s changes it to: %s", m.author.name, m.alone(), s.look(m))
}

// alone tells who alone sees a message.
func (m *message) alone() string {
	if m.only == nil {
		return ""
	}
	return " (to " + m.only.name + " alone)"
}

func (s *Server) sayRemoved(m *message) {
	first, _, _ := strings.Cut(s.plain(m.content), "\n")
	s.write(m.channel, "(gone: %s)", first)
}

// sayTo writes what Discord itself shows to the person of an interaction.
func (s *Server) sayTo(i *interaction, what string) {
	s.write(i.channel, "· (to %s alone) %s", i.person.user.name, what)
}

func (s *Server) sayModal(i *interaction) {
	var fields []string
	visitParts(i.modal["components"], func(o object) {
		if l := text(o["label"]); l != "" {
			fields = append(fields, l)
		}
	})
	s.sayTo(i, "a form “"+text(i.modal["title"])+"”: "+strings.Join(fields, ", "))
}

// look returns a message as it is seen, further lines indented.
func (s *Server) look(m *message) string {
	var lines []string
	if m.content != "" {
		lines = strings.Split(s.plain(m.content), "\n")
	}
	for _, f := range m.files {
		lines = append(lines, lookPicture(f.name, f.description))
	}
	for _, p := range m.parts {
		var shown []string
		for _, c := range asList(p.(object)["components"]) {
			shown = append(shown, lookControl(c.(object)))
		}
		lines = append(lines, strings.Join(shown, " "))
	}
	if len(m.pinged) > 0 && m.edits == 0 {
		var names []string
		for _, u := range m.pinged {
			names = append(names, u.name)
		}
		lines = append(lines, "(pings "+strings.Join(names, ", ")+")")
	}
	return strings.Join(lines, "\n    ")
}

func lookPicture(name, alt string) string {
	if alt == "" {
		return "[file " + name + "]"
	}
	return "[picture " + name + ": " + strings.ReplaceAll(alt, "\n", " / ") + "]"
}

func lookControl(o object) string {
	off := ""
	if o["disabled"] == true {
		off = ", disabled"
	}
	if number(o["type"]) == partButton {
		return "[" + buttonText(o) + off + "]"
	}
	var names []string
	for _, x := range asList(o["options"]) {
		name := text(x.(object)["label"])
		if x.(object)["default"] == true {
			name += "*"
		}
		names = append(names, name)
	}
	return "[" + text(o["placeholder"]) + " ▾ " + strings.Join(names, " | ") + off + "]"
}

var mark = regexp.MustCompile(`<(@!?|#|t:)(-?\d+)(?::[tTdDfFRsS])?>`)

// plain returns a text with its marks as Discord shows them: names for people, and
// how far away a time is.
func (s *Server) plain(t string) string {
	return mark.ReplaceAllStringFunc(t, func(found string) string {
		parts := mark.FindStringSubmatch(found)
		switch parts[1] {
		case "t:":
			n, _ := strconv.ParseInt(parts[2], 10, 64)
			return ago(time.Unix(n, 0).Sub(s.now()))
		case "#":
			if c := s.channels[parts[2]]; c != nil {
				return "#" + c.name
			}
			return "#deleted-channel"
		}
		if u := s.users[parts[2]]; u != nil {
			return "@" + u.name
		}
		return "@unknown-user"
	})
}

const day = 24 * time.Hour

// ago tells a distance in time as Discord does, rounded to its largest unit.
func ago(d time.Duration) string {
	for _, unit := range []struct {
		below, long time.Duration
		name        string
	}{
		{45 * time.Second, time.Second, "second"},
		{45 * time.Minute, time.Minute, "minute"},
		{22 * time.Hour, time.Hour, "hour"},
		{26 * day, day, "day"},
		{320 * day, 30 * day, "month"},
		{1<<63 - 1, 365 * day, "year"},
	} {
		if d.Abs() >= unit.below {
			continue
		}
		n, s := int(d.Abs().Round(unit.long)/unit.long), "s"
		if n == 1 {
			s = ""
		}
		if d < 0 {
			return fmt.Sprintf("%d %s%s ago", n, unit.name, s)
		}
		return fmt.Sprintf("in %d %s%s", n, unit.name, s)
	}
	return ""
}
