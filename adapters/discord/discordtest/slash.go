package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// An Option is what a person filled in: Value is a string, an int, a float64, a
// bool or a *Person.
type Option struct {
	Name  string
	Value any
}

// Opt makes an Option.
func Opt(name string, value any) Option { return Option{name, value} }

// A Choice is one that autocompletion offers.
type Choice struct {
	Name  string
	Value any // string, or float64
}

// Option types.
const (
	optionString  = 3
	optionInteger = 4
	optionBoolean = 5
	optionUser    = 6
)

// Slash types a command. What Discord's client would not let pass is in the Interaction's Refused.
func (p *Person) Slash(c *Channel, name string, options ...Option) *Interaction {
	return p.slash(c, name, "", options)
}

// Autocomplete types a command as far as the named option, which is the last of
// the options given, and is what Discord then offers.
func (p *Person) Autocomplete(c *Channel, name string, options ...Option) ([]Choice, error) {
	if len(options) == 0 {
		return nil, errors.New("nothing is being typed")
	}
	i := p.slash(c, name, options[len(options)-1].Name, options)
	return i.Choices()
}

func (p *Person) slash(c *Channel, name, focused string, options []Option) *Interaction {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	label := "/" + name
	for _, o := range options {
		label += " " + o.Name + ":" + shown(o.Value)
	}
	i := s.newInteraction(p, c.c, kindCommand, label)
	i.name = name
	i.command, i.refused = s.commandOf(p, c.c, i, name, 1)
	if i.refused != nil {
		return &Interaction{s, i}
	}
	resolved := object{}
	data := object{"id": i.command["id"], "name": name, "type": 1}
	if g := text(i.command["guild_id"]); g != "" {
		data["guild_id"] = g
	}
	filled, err := s.fillIn(i.command, options, focused, resolved)
	if err != nil {
		i.refused = err
		return &Interaction{s, i}
	}
	if len(filled) > 0 {
		data["options"] = filled
	}
	if len(resolved) > 0 {
		data["resolved"] = resolved
	}
	if focused != "" {
		i.kind = kindAutocomplete
	}
	s.send(i, data)
	return &Interaction{s, i}
}

func shown(v any) string {
	switch v := v.(type) {
	case *Person:
		return "@" + v.user.name
	}
	return fmt.Sprint(v)
}

func optionNamed(level object, name string) object {
	for _, o := range asList(level["options"]) {
		if o := o.(object); o["name"] == name {
			return o
		}
	}
	return nil
}

// commandOf is the command of that name that a person has here, with the
// installation that it comes by.
func (s *Server) commandOf(p *Person, c *channel, i *interaction, name string, kind int) (object, error) {
	context := "2"
	if c.guild != nil {
		context = "0"
	} else if c.withBot {
		context = "1"
	}
	has := func(list any, n string) bool {
		return slices.ContainsFunc(asList(list), func(v any) bool { return fmt.Sprint(v) == n })
	}
	var found object
	i.owners = object{}
	if c.guild != nil && c.guild.botIn {
		for _, o := range s.commands[c.guild.id] {
			if o["name"] == name && commandType(o) == kind {
				found = o
				i.owners["0"] = c.guild.id
			}
		}
	}
	for _, o := range s.commands[""] {
		if found != nil || o["name"] != name || commandType(o) != kind {
			continue
		}
		if o["contexts"] != nil && !has(o["contexts"], context) {
			continue
		}
		if has(o["integration_types"], "0") {
			if c.guild != nil && c.guild.botIn {
				i.owners["0"] = c.guild.id
			} else if c.withBot {
				i.owners["0"] = "0"
			}
		}
		if has(o["integration_types"], "1") && p.installed {
			i.owners["1"] = p.user.id
		}
		if len(i.owners) > 0 {
			found = o
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s has no command %s here", p.user.name, name)
	}
	if c.guild == nil {
		i.userOnly = i.owners["0"] == nil
		return found, nil
	}
	i.userOnly = i.owners["0"] == nil
	may := c.permissions(p.user)
	if c.guild.members[p.user.id] == nil || !may.Has(ViewChannel) {
		return nil, fmt.Errorf("%s is not in #%s", p.user.name, c.name)
	}
	if !may.Has(UseApplicationCommand) || c.guild.denied[name+"/"+p.user.id] {
		return nil, fmt.Errorf("%s may not use %s here", p.user.name, name)
	}
	if need, ok := found["default_member_permissions"].(string); ok && !c.guild.allowed[name+"/"+p.user.id] {
		var bits Permission
		fmt.Sscan(need, &bits)
		if !may.Has(bits) || bits == 0 && !may.Has(Administrator) {
			return nil, fmt.Errorf("%s may not use %s: it is for moderators", p.user.name, name)
		}
	}
	i.hidden = i.userOnly && !may.Has(UseExternalApps)
	return found, nil
}

// fillIn checks options as Discord's client does and is what it sends.
func (s *Server) fillIn(level object, options []Option, focused string, resolved object) ([]any, error) {
	var out []any
	given := map[string]bool{}
	for _, o := range options {
		def := optionNamed(level, o.Name)
		if def == nil {
			return nil, fmt.Errorf("there is no option %s", o.Name)
		}
		given[o.Name] = true
		kind := number(def["type"])
		value, err := s.optionValue(def, kind, o, focused == o.Name, resolved)
		if err != nil {
			return nil, err
		}
		entry := object{"name": o.Name, "type": kind, "value": value}
		if focused == o.Name {
			if def["autocomplete"] != true {
				return nil, fmt.Errorf("option %s offers nothing", o.Name)
			}
			entry["focused"] = true
		}
		out = append(out, entry)
	}
	if focused != "" {
		return out, nil
	}
	for _, def := range asList(level["options"]) {
		def := def.(object)
		if def["required"] == true && !given[text(def["name"])] {
			return nil, fmt.Errorf("option %s is required", def["name"])
		}
	}
	return out, nil
}

func (s *Server) optionValue(def object, kind int, o Option, focused bool, resolved object) (any, error) {
	wrong := func(want string) error { return fmt.Errorf("option %s wants %s, not %v", o.Name, want, o.Value) }
	add := func(key, id string, v object) {
		m, _ := resolved[key].(object)
		if m == nil {
			m = object{}
			resolved[key] = m
		}
		m[id] = v
	}
	switch v := o.Value.(type) {
	case *Person:
		if kind != optionUser {
			return nil, wrong("something else")
		}
		add("users", v.user.id, v.user.json())
		return v.user.id, nil
	case string:
		if kind != optionString && !focused {
			return nil, wrong("no text")
		}
		if focused {
			return v, nil
		}
		n := utf8.RuneCountInString(v)
		if least := def["min_length"]; least != nil && n < number(least) {
			return nil, wrong("a longer text")
		}
		most := 6000
		if m := def["max_length"]; m != nil {
			most = number(m)
		}
		if n > most {
			return nil, wrong("a shorter text")
		}
	case bool:
		if kind != optionBoolean {
			return nil, wrong("something else")
		}
	case int, float64:
		if kind != optionInteger {
			return nil, wrong("something else")
		}
		f := asFloat(v)
		if f != float64(int64(f)) {
			return nil, wrong("a whole number")
		}
		if least, ok := def["min_value"].(json.Number); ok && f < asFloat(least) {
			return nil, wrong("a larger number")
		}
		if most, ok := def["max_value"].(json.Number); ok && f > asFloat(most) {
			return nil, wrong("a smaller number")
		}
	default:
		return nil, wrong("a string, number, bool or person")
	}
	if choices := asList(def["choices"]); len(choices) > 0 && !focused {
		if !slices.ContainsFunc(choices, func(c any) bool { return fmt.Sprint(c.(object)["value"]) == fmt.Sprint(o.Value) }) {
			return nil, wrong("one of its choices")
		}
	}
	return o.Value, nil
}

func asFloat(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case float64:
		return v
	case json.Number:
		f, _ := v.Float64()
		return f
	}
	return 0
}
