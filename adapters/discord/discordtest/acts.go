package discordtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// act makes an interaction and sends it with the data that fill returns, unless
// fill says why Discord's client does not let the person do it.
func (p *Person) act(c *channel, kind int, label string, fill func(*interaction) (object, error)) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.newID()
	i := &interaction{id: id, token: newToken(id), kind: kind, channel: c, person: p, label: label, created: s.now(), owners: object{}}
	data, err := fill(i)
	if i.refused = err; err == nil {
		s.send(i, data)
	}
	return &Interaction{s, i}
}

// MessageCommand uses an entry of a message's context menu.
func (p *Person) MessageCommand(m *Message, name string) *Interaction {
	return p.act(m.m.channel, kindCommand, fmt.Sprintf("“%s” on a message of %s", name, m.m.author.name), func(i *interaction) (object, error) {
		if err := p.s.offer(i, name, 3); err != nil {
			return nil, err
		}
		resolved := object{"messages": object{m.m.id: m.m.json(p.s)}}
		return object{"id": i.command["id"], "name": name, "type": 3, "target_id": m.m.id, "resolved": resolved}, nil
	})
}

// UserCommand uses an entry of somebody's context menu.
func (p *Person) UserCommand(c *Channel, other *Person, name string) *Interaction {
	return p.act(c.c, kindCommand, fmt.Sprintf("“%s” on %s", name, other.user.name), func(i *interaction) (object, error) {
		if err := p.s.offer(i, name, 2); err != nil {
			return nil, err
		}
		resolved := object{"users": object{other.user.id: other.user.json()}}
		if g := c.c.guild; g != nil && g.members[other.user.id] != nil {
			member := g.members[other.user.id].json(false)
			delete(member, "mute")
			delete(member, "deaf")
			member["permissions"] = c.c.permissions(other.user).String()
			resolved["members"] = object{other.user.id: member}
		}
		return object{"id": i.command["id"], "name": name, "type": 2, "target_id": other.user.id, "resolved": resolved}, nil
	})
}

// Press presses the button with that custom_id or label.
func (p *Person) Press(m *Message, which string) *Interaction {
	return p.use(m, which, func(i *interaction, part object) (object, error) {
		if number(part["type"]) != partButton || number(part["style"]) >= styleLink {
			return nil, fmt.Errorf("%s is no button to press", which)
		}
		i.label = "presses [" + buttonText(part) + "]"
		return object{}, nil
	})
}

// Select chooses in the menu with that custom_id or placeholder, by values or
// labels; an empty which is the only menu of the message.
func (p *Person) Select(m *Message, which string, values ...string) *Interaction {
	return p.use(m, which, func(i *interaction, part object) (object, error) {
		if number(part["type"]) == partButton {
			return nil, fmt.Errorf("%s is no menu", which)
		}
		if len(values) < number(part["min_values"]) || len(values) > number(part["max_values"]) {
			return nil, fmt.Errorf("%d chosen, of %v to %v", len(values), part["min_values"], part["max_values"])
		}
		options := asList(part["options"])
		sent, labels := []string{}, []string{}
		for _, v := range values {
			k := slices.IndexFunc(options, func(o any) bool { return o.(object)["value"] == v || o.(object)["label"] == v })
			if k < 0 {
				return nil, fmt.Errorf("the menu has no %q", v)
			}
			o := options[k].(object)
			sent, labels = append(sent, text(o["value"])), append(labels, text(o["label"]))
		}
		i.label = "chooses " + strings.Join(labels, ", ")
		return object{"values": sent}, nil
	})
}

// use uses a control of a message. fill adds to the data what depends on its kind.
func (p *Person) use(m *Message, which string, fill func(*interaction, object) (object, error)) *Interaction {
	return p.act(m.m.channel, kindComponent, "presses "+which, func(i *interaction) (object, error) {
		i.message, i.editsThen = m.m, m.m.edits
		if asked := m.m.asked; asked != nil {
			i.owners, i.userOnly, i.hidden = asked.owners, asked.userOnly, asked.hidden && m.m.only != nil
		} else if g := m.m.channel.guild; g != nil {
			i.owners["0"] = g.id
		} else {
			i.owners["0"] = "0"
		}
		part := findPart(m.m.parts, which)
		switch {
		case m.m.gone:
			return nil, errors.New("the message is gone")
		case m.m.only != nil && m.m.only != p.user:
			return nil, fmt.Errorf("%s does not see that message", p.user.name)
		case !m.m.channel.permissions(p.user).Has(ViewChannel):
			return nil, fmt.Errorf("%s is not in #%s", p.user.name, m.m.channel.name)
		case part == nil:
			return nil, fmt.Errorf("the message has no %q", which)
		case part["disabled"] == true:
			return nil, fmt.Errorf("%q is disabled", which)
		}
		data, err := fill(i, part)
		if err != nil {
			return nil, err
		}
		data["custom_id"], data["component_type"] = part["custom_id"], number(part["type"])
		if id := number(part["id"]); id > 0 {
			data["id"] = id
		}
		return data, nil
	})
}

// findPart returns the control with a custom_id, label or placeholder; when which is
// empty, the first menu.
func findPart(parts []any, which string) (found object) {
	visitParts(parts, func(o object) {
		named := o["custom_id"] == which || o["label"] == which || o["placeholder"] == which || which == "" && number(o["type"]) == partSelect
		if found == nil && o["custom_id"] != nil && named {
			found = o
		}
	})
	return found
}

// Submit sends a modal that an interaction opened, with strings by custom_id. Fields
// not named keep what the modal proposed.
func (p *Person) Submit(opened *Interaction, values map[string]any) *Interaction {
	from := opened.i
	opened.s.Wait(func() bool { return from.answered != 0 || opened.s.late(from) })
	return p.act(from.channel, kindModal, "submits", func(i *interaction) (object, error) {
		i.owners, i.userOnly, i.hidden, i.opener, i.message = from.owners, from.userOnly, from.hidden, from, from.message
		if i.message != nil {
			i.editsThen = i.message.edits
		}
		switch {
		case from.modal == nil:
			return nil, errors.New("no modal is open")
		case from.person != p:
			return nil, errors.New("that modal is somebody else's")
		}
		left := maps.Clone(values)
		parts, said, err := fillModal(asList(from.modal["components"]), left)
		if err != nil {
			return nil, err
		}
		for key := range left {
			return nil, fmt.Errorf("the modal has no field %s", key)
		}
		i.label = "submits “" + text(from.modal["title"]) + "”: " + strings.Join(said, ", ")
		return object{"custom_id": from.modal["custom_id"], "components": parts}, nil
	})
}

// fillModal returns the components of a modal as they are sent, and their values; it
// takes what it used out of left.
func fillModal(parts []any, left map[string]any) (out []any, said []string, err error) {
	for n, p := range parts {
		p := p.(object)
		filled := object{"type": number(p["type"]), "id": n + 1}
		var inner []any
		var words []string
		switch number(p["type"]) {
		case partRow:
			inner, words, err = fillModal(asList(p["components"]), left)
			filled["components"] = inner
		case partLabel:
			inner, words, err = fillModal([]any{p["component"]}, left)
			if err == nil {
				filled["component"] = inner[0]
			}
		default:
			id, value := text(p["custom_id"]), text(p["value"])
			if v, ok := left[id].(string); ok {
				value = v
			}
			delete(left, id)
			size, most := utf8.RuneCountInString(value), 4000
			if p["max_length"] != nil {
				most = number(p["max_length"])
			}
			switch {
			case size == 0 && p["required"] != false:
				err = fmt.Errorf("field %s is required", id)
			case size > most || size > 0 && size < number(p["min_length"]):
				err = fmt.Errorf("field %s has a wrong length", id)
			}
			filled["custom_id"], filled["value"], words = id, value, []string{value}
		}
		if err != nil {
			return nil, nil, err
		}
		out, said = append(out, filled), append(said, words...)
	}
	return out, said, nil
}
