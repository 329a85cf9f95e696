package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Option is what a person filled in: Value is a string, an int, a float64, a
// bool, a *Person or a File.
type Option struct {
	Name  string
	Value any
}

// A File is one that a person attaches to a command.
type File struct {
	Name string
	Data []byte
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
	optionSub     = 1
	optionGroup   = 2
	optionString  = 3
	optionInteger = 4
	optionBoolean = 5
	optionUser    = 6
	optionFile    = 11
)

// Slash types a command; "go undo" is a subcommand. What Discord's client would not let pass is in the Interaction's Refused.
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
		switch v := o.Value.(type) {
		case *Person:
			label += " " + o.Name + ":@" + v.user.name
		case File:
			label += " " + o.Name + ":" + v.Name
		default:
			label += fmt.Sprintf(" %s:%v", o.Name, o.Value)
		}
	}
	if focused != "" {
		kind = kindAutocomplete
	}
	return p.act(c.c, kind, label, func(i *interaction) (object, error) {
		path := strings.Fields(name)
		if err := p.s.offer(i, path[0], 1); err != nil {
			return nil, err
		}
		data := object{"id": i.command["id"], "name": path[0], "type": 1}
		if g := text(i.command["guild_id"]); g != "" {
			data["guild_id"] = g
		}
		resolved := map[string]object{}
		def, at, err := descend(i.command, path[1:], data)
		if err != nil {
			return nil, err
		}
		filled, err := p.s.fillIn(c.c, asList(def["options"]), options, focused, resolved)
		if err != nil {
			return nil, err
		}
		if len(filled) > 0 {
			at["options"] = filled
		}
		if len(resolved) > 0 {
			data["resolved"] = resolved
		}
		return data, nil
	})
}

// descend follows the names of subcommands from a command to the one that is meant. It
// returns that with the place in data for its options.
func descend(def object, path []string, data object) (meant, at object, err error) {
	for _, word := range path {
		k := slices.IndexFunc(asList(def["options"]), func(o any) bool { return o.(object)["name"] == word && isSub(o.(object)) })
		if k < 0 {
			return nil, nil, fmt.Errorf("%s has no subcommand %s", def["name"], word)
		}
		def = asList(def["options"])[k].(object)
		inner := object{"name": word, "type": number(def["type"])}
		data["options"], data = []any{inner}, inner
	}
	if list := asList(def["options"]); len(list) > 0 && isSub(list[0].(object)) {
		return nil, nil, fmt.Errorf("%s is no command, but has subcommands", def["name"])
	}
	return def, data, nil
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
// the people and files among them to resolved.
func (s *Server) fillIn(c *channel, defined []any, options []Option, focused string, resolved map[string]object) (out []any, err error) {
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
		switch v := o.Value.(type) {
		case *Person:
			entry["value"] = resolve(resolved, "users", v.user.id, v.user.json())
		case File:
			f := s.store(&message{channel: c}, upload{name: v.Name, data: v.Data}, nil)
			s.files[f.path] = f
			entry["value"] = resolve(resolved, "attachments", f.id, f.json(s))
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

// resolve adds what an option means to what comes with the options, and returns its id.
func resolve(resolved map[string]object, kind, id string, what object) string {
	if resolved[kind] == nil {
		resolved[kind] = object{}
	}
	resolved[kind][id] = what
	return id
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
	case File:
		kind = optionFile
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
