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
	if len(s.lines) >= maxLines {
		s.lines = slices.Clone(s.lines[maxLines/4:])
	}
	s.lines = append(s.lines, line{c, fmt.Sprintf(format, args...)})
}

// Transcript is what a stranger would read over people's shoulders: each
// channel with what was said there, in order; all channels that were used when
// none are given. It holds no ids and no times.
func (s *Server) Transcript(channels ...*Channel) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var order []*channel
	if channels == nil {
		for _, l := range s.lines {
			if !slices.Contains(order, l.channel) {
				order = append(order, l.channel)
			}
		}
	}
	for _, c := range channels {
		order = append(order, c.c)
	}
	var b strings.Builder
	for n, c := range order {
		if n > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "── %s\n", c.title())
		for _, l := range s.lines {
			if l.channel == c {
				b.WriteString(l.text)
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}

func (c *channel) title() string {
	switch {
	case c.kind == typeDM && c.withBot:
		return "direct messages with " + c.recipient.name
	case c.guild == nil:
		return "private messages"
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
	what := i.label
	if i.kind == kindCommand {
		what = ": " + what
	} else {
		what = " " + what
	}
	s.write(i.channel, "%s%s", i.person.user.name, what)
}

func (s *Server) say(m *message) {
	who := m.author.name
	if m.only != nil {
		who += " (to " + m.only.name + " alone)"
	}
	s.write(m.channel, "%s: %s", who, s.look(m))
}

func (s *Server) sayEdit(m *message) {
	to := ""
	if m.only != nil {
		to = " (to " + m.only.name + " alone)"
	}
	s.write(m.channel, "%s%s changes it to: %s", m.author.name, to, s.look(m))
}

func (s *Server) sayRemoved(m *message) {
	first, _, _ := strings.Cut(s.plain(m.content), "\n")
	s.write(m.channel, "(gone: %s)", first)
}

func (s *Server) saySystem(c *channel, what string) { s.write(c, "· %s", what) }

func (s *Server) saySystemTo(i *interaction, what string) {
	s.write(i.channel, "· (to %s alone) %s", i.person.user.name, what)
}

func (s *Server) sayModal(i *interaction) {
	var fields []string
	visitOrdered(i.modal["components"], func(o object) {
		if l := text(o["label"]); l != "" {
			fields = append(fields, l)
		}
	})
	s.write(i.channel, "· (to %s alone) a form “%s”: %s", i.person.user.name, text(i.modal["title"]), strings.Join(fields, ", "))
}

func visitOrdered(v any, see func(object)) {
	switch v := v.(type) {
	case object:
		see(v)
		visitOrdered(v["components"], see)
		visitOrdered(v["component"], see)
	case []any:
		for _, x := range v {
			visitOrdered(x, see)
		}
	}
}

// look is a message as it is seen, further lines indented.
func (s *Server) look(m *message) string {
	var lines []string
	add := func(text string) {
		if text != "" {
			lines = append(lines, strings.Split(s.plain(text), "\n")...)
		}
	}
	add(m.content)
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
		x := x.(object)
		name := text(x["label"])
		if x["default"] == true {
			name += "*"
		}
		names = append(names, name)
	}
	return "[" + text(o["placeholder"]) + " ▾ " + strings.Join(names, " | ") + off + "]"
}

var timeMark = regexp.MustCompile(`<t:(-?\d+)(?::([tTdDfFRsS]))?>`)

// plain is text with its marks as Discord shows them: names for people, and
// how far away a time is.
func (s *Server) plain(t string) string {
	t = userMention.ReplaceAllStringFunc(t, func(mark string) string {
		if u := s.users[userMention.FindStringSubmatch(mark)[1]]; u != nil {
			return "@" + u.name
		}
		return "@unknown-user"
	})
	t = channelMention.ReplaceAllStringFunc(t, func(mark string) string {
		if c := s.channels[channelMention.FindStringSubmatch(mark)[1]]; c != nil {
			return "#" + c.name
		}
		return "#deleted-channel"
	})
	return timeMark.ReplaceAllStringFunc(t, func(mark string) string {
		n, _ := strconv.ParseInt(timeMark.FindStringSubmatch(mark)[1], 10, 64)
		return ago(time.Unix(n, 0).Sub(s.now()))
	})
}

var channelMention = regexp.MustCompile(`<#(\d+)>`)

// ago says a distance in time as Discord does, rounded to its largest unit.
func ago(d time.Duration) string {
	past := d < 0
	d = d.Abs()
	say := func(unit time.Duration, name string) string {
		n := int(d.Round(unit) / unit)
		if n != 1 {
			name += "s"
		}
		if past {
			return fmt.Sprintf("%d %s ago", n, name)
		}
		return fmt.Sprintf("in %d %s", n, name)
	}
	day := 24 * time.Hour
	switch {
	case d < 45*time.Second:
		return say(time.Second, "second")
	case d < 45*time.Minute:
		return say(time.Minute, "minute")
	case d < 22*time.Hour:
		return say(time.Hour, "hour")
	case d < 26*day:
		return say(day, "day")
	case d < 320*day:
		return say(30*day, "month")
	}
	return say(365*day, "year")
}
