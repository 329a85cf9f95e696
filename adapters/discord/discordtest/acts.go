package discordtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// MessageCommand uses an entry of a message's context menu.
func (p *Person) MessageCommand(m *Message, name string) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.newInteraction(p, m.m.channel, kindCommand, fmt.Sprintf("“%s” on a message of %s", name, m.m.author.name))
	i.name = name
	if i.command, i.refused = s.commandOf(p, m.m.channel, i, name, 3); i.refused == nil {
		s.send(i, object{
			"id": i.command["id"], "name": name, "type": 3, "target_id": m.m.id,
			"resolved": object{"messages": object{m.m.id: m.m.json(s)}},
		})
	}
	return &Interaction{s, i}
}

// UserCommand uses an entry of somebody's context menu.
func (p *Person) UserCommand(c *Channel, other *Person, name string) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.newInteraction(p, c.c, kindCommand, fmt.Sprintf("“%s” on %s", name, other.user.name))
	i.name = name
	if i.command, i.refused = s.commandOf(p, c.c, i, name, 2); i.refused == nil {
		resolved := object{"users": object{other.user.id: other.user.json()}}
		if g := c.c.guild; g != nil && g.members[other.user.id] != nil {
			member := g.members[other.user.id].json(false)
			delete(member, "mute")
			delete(member, "deaf")
			member["permissions"] = c.c.permissions(other.user).String()
			resolved["members"] = object{other.user.id: member}
		}
		s.send(i, object{"id": i.command["id"], "name": name, "type": 2, "target_id": other.user.id, "resolved": resolved})
	}
	return &Interaction{s, i}
}

// Press presses the button with that custom_id or label.
func (p *Person) Press(m *Message, which string) *Interaction {
	return p.use(m, which, func(part object) (object, string, error) {
		if number(part["type"]) != partButton || number(part["style"]) >= styleLink {
			return nil, "", fmt.Errorf("%s is no button to press", which)
		}
		return object{"custom_id": part["custom_id"], "component_type": partButton}, "presses [" + buttonText(part) + "]", nil
	})
}

// Select chooses in the menu with that custom_id or placeholder, by values or
// labels; an empty which is the only menu of the message.
func (p *Person) Select(m *Message, which string, values ...string) *Interaction {
	return p.use(m, which, func(part object) (object, string, error) {
		kind := number(part["type"])
		if kind == partButton {
			return nil, "", fmt.Errorf("%s is no menu", which)
		}
		if len(values) < number(part["min_values"]) || len(values) > number(part["max_values"]) {
			return nil, "", fmt.Errorf("%d chosen, of %v to %v", len(values), part["min_values"], part["max_values"])
		}
		sent, labels := []string{}, []string{}
		for _, v := range values {
			k := slices.IndexFunc(asList(part["options"]), func(o any) bool { return o.(object)["value"] == v || o.(object)["label"] == v })
			if k < 0 {
				return nil, "", fmt.Errorf("the menu has no %q", v)
			}
			o := asList(part["options"])[k].(object)
			sent, labels = append(sent, text(o["value"])), append(labels, text(o["label"]))
		}
		return object{"custom_id": part["custom_id"], "component_type": kind, "values": sent}, "chooses " + strings.Join(labels, ", "), nil
	})
}

func (p *Person) use(m *Message, which string, how func(part object) (object, string, error)) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.newInteraction(p, m.m.channel, kindComponent, "presses "+which)
	i.message = m.m
	i.editsThen = m.m.edits
	i.owners = object{}
	if m.m.asked != nil {
		i.owners, i.userOnly, i.hidden = m.m.asked.owners, m.m.asked.userOnly, m.m.asked.hidden && m.m.only != nil
	} else if g := m.m.channel.guild; g != nil {
		i.owners["0"] = g.id
	} else {
		i.owners["0"] = "0"
	}
	part := findPart(m.m.parts, which)
	switch {
	case m.m.gone:
		i.refused = errors.New("the message is gone")
	case m.m.only != nil && m.m.only != p.user:
		i.refused = fmt.Errorf("%s does not see that message", p.user.name)
	case m.m.channel.guild != nil && !m.m.channel.permissions(p.user).Has(ViewChannel):
		i.refused = fmt.Errorf("%s is not in #%s", p.user.name, m.m.channel.name)
	case part == nil:
		i.refused = fmt.Errorf("the message has no %q", which)
	case part["disabled"] == true:
		i.refused = fmt.Errorf("%q is disabled", which)
	}
	if i.refused != nil {
		return &Interaction{s, i}
	}
	data, label, err := how(part)
	if err != nil {
		i.refused = err
		return &Interaction{s, i}
	}
	if id := number(part["id"]); id > 0 {
		data["id"] = id
	}
	i.label = label
	s.send(i, data)
	return &Interaction{s, i}
}

// findPart is the control with a custom_id, label or placeholder; when which is
// empty, the first menu.
func findPart(parts []any, which string) (found object) {
	for _, p := range parts {
		visit(p, func(o object) {
			kind := number(o["type"])
			if found != nil || o["custom_id"] == nil || kind < partButton {
				return
			}
			if o["custom_id"] == which || o["label"] == which || o["placeholder"] == which || which == "" && kind != partButton {
				found = o
			}
		})
	}
	return found
}

// Submit sends a modal that an interaction opened, with values by custom_id; a
// value is a string, or a []string for a menu. Fields not named keep what the
// modal proposed.
func (p *Person) Submit(opened *Interaction, values map[string]any) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	from := opened.i
	s.waitFor(func() bool { return from.answered != 0 || s.late(from) })
	i := s.newInteraction(p, from.channel, kindModal, "submits")
	i.owners, i.userOnly, i.hidden, i.opener, i.message = from.owners, from.userOnly, from.hidden, from, from.message
	if i.message != nil {
		i.editsThen = i.message.edits
	}
	switch {
	case from.modal == nil:
		i.refused = errors.New("no modal is open")
	case from.person != p:
		i.refused = errors.New("that modal is somebody else's")
	}
	if i.refused != nil {
		return &Interaction{s, i}
	}
	left := maps.Clone(values)
	if left == nil {
		left = map[string]any{}
	}
	var labels []string
	parts := s.fillModal(i, asList(from.modal["components"]), left, &labels)
	for key := range left {
		i.refused = fmt.Errorf("the modal has no field %s", key)
	}
	i.label = "submits “" + text(from.modal["title"]) + "”: " + strings.Join(labels, ", ")
	if i.refused == nil {
		s.send(i, object{"custom_id": from.modal["custom_id"], "components": parts})
	}
	return &Interaction{s, i}
}

func (s *Server) fillModal(i *interaction, parts []any, left map[string]any, labels *[]string) []any {
	out := []any{}
	for n, p := range parts {
		p := p.(object)
		kind := number(p["type"])
		filled := object{"type": kind, "id": n + 1}
		switch kind {
		case partRow:
			filled["components"] = s.fillModal(i, asList(p["components"]), left, labels)
		case partLabel:
			inner, _ := p["component"].(object)
			filled["component"] = s.fillModal(i, []any{inner}, left, labels)[0]
		case partInput:
			id := text(p["custom_id"])
			value := text(p["value"])
			if v, ok := left[id].(string); ok {
				value = v
			}
			delete(left, id)
			size := utf8.RuneCountInString(value)
			most := 4000
			if p["max_length"] != nil {
				most = number(p["max_length"])
			}
			switch {
			case size == 0 && p["required"] != false:
				i.refused = fmt.Errorf("field %s is required", id)
			case size > most || size > 0 && p["min_length"] != nil && size < number(p["min_length"]):
				i.refused = fmt.Errorf("field %s has a wrong length", id)
			}
			filled["custom_id"], filled["value"] = id, value
			*labels = append(*labels, value)
		default:
			id := text(p["custom_id"])
			var chosen []string
			switch v := left[id].(type) {
			case []string:
				chosen = v
			case string:
				chosen = []string{v}
			}
			delete(left, id)
			for _, v := range chosen {
				if options := asList(p["options"]); options != nil && !slices.ContainsFunc(options, func(o any) bool { return o.(object)["value"] == v }) {
					i.refused = fmt.Errorf("field %s has no %q", id, v)
				}
			}
			if len(chosen) == 0 && p["required"] != false {
				i.refused = fmt.Errorf("field %s is required", id)
			}
			filled["custom_id"], filled["values"] = id, chosen
			*labels = append(*labels, chosen...)
		}
		out = append(out, filled)
	}
	return out
}
