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
// the options given, and returns what Discord then offers.
func (p *Person) Autocomplete(c *Channel, name string, options ...Option) ([]Choice, error) {
	if len(options) == 0 {
		return nil, errors.New("nothing is being typed")
	}
	return p.slash(c, name, options[len(options)-1].Name, options).choices()
}

func (p *Person) slash(c *Channel, name, focused string, options []Option) *Interaction {
	label, kind := "/"+name, kindCommand
	for _, o := range options {
		if who, ok := o.Value.(*Person); ok {
			label += " " + o.Name + ":@" + who.user.name
		} else {
			label += fmt.Sprintf(" %s:%v", o.Name, o.Value)
		}
	}
	if focused != "" {
		kind = kindAutocomplete
	}
	return p.act(c.c, kind, label, func(i *interaction) (object, error) {
		if err := p.s.offer(i, name, 1); err != nil {
			return nil, err
		}
		data := object{"id": i.command["id"], "name": name, "type": 1}
		if g := text(i.command["guild_id"]); g != "" {
			data["guild_id"] = g
		}
		users := object{}
		filled, err := fillIn(asList(i.command["options"]), options, focused, users)
		if err != nil {
			return nil, err
		}
		if len(filled) > 0 {
			data["options"] = filled
		}
		if len(users) > 0 {
			data["resolved"] = object{"users": users}
		}
		return data, nil
	})
}

// offer gives an interaction the command of that name that its person has here, with
// the installation that it comes by.
func (s *Server) offer(i *interaction, name string, kind int) error {
	p, c, g := i.person, i.channel, i.channel.guild
	context, installed := "1", "0" // the bot's direct messages
	if g != nil {
		context, installed = "0", ""
		if g.botIn {
			installed = g.id
		}
	}
	has := func(list any, n string) bool {
		return slices.ContainsFunc(asList(list), func(v any) bool { return fmt.Sprint(v) == n })
	}
	is := func(o object) bool { return o["name"] == name && commandType(o) == kind }
	if g != nil && g.botIn {
		if k := slices.IndexFunc(s.commands[g.id], is); k >= 0 {
			i.command, i.owners["0"] = s.commands[g.id][k], g.id
		}
	}
	for _, o := range s.commands[""] {
		if i.command != nil || !is(o) || o["contexts"] != nil && !has(o["contexts"], context) {
			continue
		}
		if has(o["integration_types"], "0") && installed != "" {
			i.owners["0"] = installed
		}
		if has(o["integration_types"], "1") && p.installed {
			i.owners["1"] = p.user.id
		}
		if len(i.owners) > 0 {
			i.command = o
		}
	}
	if i.command == nil {
		return fmt.Errorf("%s has no command %s here", p.user.name, name)
	}
	i.userOnly = i.owners["0"] == nil
	if g == nil {
		return nil
	}
	may := c.permissions(p.user)
	if !may.Has(ViewChannel) {
		return fmt.Errorf("%s is not in #%s", p.user.name, c.name)
	}
	allowed, set := g.commands[name+"/"+p.user.id]
	if !may.Has(UseApplicationCommand) || set && !allowed {
		return fmt.Errorf("%s may not use %s here", p.user.name, name)
	}
	if need, ok := i.command["default_member_permissions"].(string); ok && !set {
		var bits Permission
		fmt.Sscan(need, &bits)
		if !may.Has(bits) || bits == 0 && !may.Has(Administrator) {
			return fmt.Errorf("%s may not use %s: it is for moderators", p.user.name, name)
		}
	}
	i.hidden = i.userOnly && !may.Has(UseExternalApps)
	return nil
}

// fillIn checks options as Discord's client does and returns what it sends. It adds
// the people among them to users.
func fillIn(defined []any, options []Option, focused string, users object) (out []any, err error) {
	given := map[string]bool{}
	for _, o := range options {
		k := slices.IndexFunc(defined, func(d any) bool { return d.(object)["name"] == o.Name })
		if k < 0 {
			return nil, fmt.Errorf("there is no option %s", o.Name)
		}
		def := defined[k].(object)
		given[o.Name] = true
		entry := object{"name": o.Name, "type": number(def["type"]), "value": o.Value}
		if focused == o.Name {
			if def["autocomplete"] != true {
				return nil, fmt.Errorf("option %s offers nothing", o.Name)
			}
			entry["focused"] = true
		} else if wants := mismatch(def, o.Value); wants != "" {
			return nil, fmt.Errorf("option %s wants %s, not %v", o.Name, wants, o.Value)
		}
		if who, ok := o.Value.(*Person); ok {
			entry["value"], users[who.user.id] = who.user.id, who.user.json()
		}
		out = append(out, entry)
	}
	for _, d := range defined {
		if d := d.(object); focused == "" && d["required"] == true && !given[text(d["name"])] {
			return nil, fmt.Errorf("option %s is required", d["name"])
		}
	}
	return out, nil
}

// mismatch tells what an option wants instead of a value; "" if the value fits.
func mismatch(def object, value any) string {
	kind := optionUser
	switch v := value.(type) {
	case string:
		kind = optionString
		n, most := utf8.RuneCountInString(v), 6000
		if m := def["max_length"]; m != nil {
			most = number(m)
		}
		if n < number(def["min_length"]) || n > most {
			return "a text of another length"
		}
	case bool:
		kind = optionBoolean
	case int, float64:
		kind = optionInteger
		f := asFloat(v)
		least, limited := def["min_value"].(json.Number)
		if f != float64(int64(f)) || limited && f < asFloat(least) {
			return "a larger or whole number"
		}
		if most, limited := def["max_value"].(json.Number); limited && f > asFloat(most) {
			return "a smaller number"
		}
	}
	if kind != number(def["type"]) {
		return "another kind of value"
	}
	choices := asList(def["choices"])
	if len(choices) > 0 && !slices.ContainsFunc(choices, func(c any) bool { return fmt.Sprint(c.(object)["value"]) == fmt.Sprint(value) }) {
		return "one of its choices"
	}
	return ""
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
