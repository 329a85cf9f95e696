package discordtest

import (
	"fmt"
	"slices"
	"strings"
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

// Transcript returns what a stranger would read over people's shoulders, for the
// messages of tests that fail: each channel that was used, with what was said there,
// in order.
func (s *Server) Transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var order []*channel
	said := map[*channel][]string{}
	for _, l := range s.lines {
		if !slices.Contains(order, l.channel) {
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
	if !i.said && i.kind != kindAutocomplete {
		i.said = true
		s.write(i.channel, "%s: %s", i.person.user.name, i.label)
	}
}

// say writes how a message looks, further lines indented.
func (s *Server) say(m *message, how string) {
	alone := ""
	if m.only != nil {
		alone = " (to " + m.only.name + " alone)"
	}
	lines := []string{s.plain(m.content)}
	for _, f := range m.files {
		lines = append(lines, "[file "+f.name+": "+strings.ReplaceAll(f.description, "\n", " / ")+"]")
	}
	visitParts(m.parts, func(o object) {
		if number(o["type"]) != partRow {
			lines = append(lines, "["+buttonText(o)+text(o["placeholder"])+"]")
		}
	})
	for _, u := range m.pinged {
		lines = append(lines, "(pings "+u.name+")")
	}
	s.write(m.channel, "%s%s%s: %s", m.author.name, alone, how, strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n    "))
}

// sayTo writes what Discord itself shows to the person of an interaction.
func (s *Server) sayTo(i *interaction, what string) {
	s.write(i.channel, "· (to %s alone) %s", i.person.user.name, what)
}

// plain returns a text with the names of the people whom it marks.
func (s *Server) plain(t string) string {
	return userMention.ReplaceAllStringFunc(t, func(found string) string {
		if u := s.users[userMention.FindStringSubmatch(found)[1]]; u != nil {
			return "@" + u.name
		}
		return found
	})
}
