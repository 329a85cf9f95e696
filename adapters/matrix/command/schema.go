package command

import (
	"bytes"
	"encoding/json"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/event/cmdschema"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
)

// Describe makes the state event by which clients know a command: the key and
// the content of org.matrix.msc4391.command_description.
//
// Source: MSC4391, as mautrix v0.31.0 has it.
func Describe(c bot.Command, self id.UserID) (stateKey string, content *cmdschema.EventContent) {
	content = &cmdschema.EventContent{Command: c.Name, Description: event.MakeExtensibleText(c.Summary)}
	for _, o := range c.Options {
		content.Parameters = append(content.Parameters, &cmdschema.Parameter{
			Key: o.Name, Schema: schema(o), Optional: !o.Required, Description: event.MakeExtensibleText(o.Summary),
		})
		// What is typed behind the last required option belongs to this one.
		if o.Rest || content.TailParam == "" && !o.Required && len(content.Parameters) == 1 && o.Name != "game" && o.Name != "share" {
			content.TailParam = o.Name
		}
	}
	return content.StateKey(self), content
}

// schema says what an option takes. Where there are choices, what is typed may
// still be something else: the bot says what is wrong with it.
func schema(o bot.Option) *cmdschema.ParameterSchema {
	switch o.Type {
	case bot.Integer:
		return cmdschema.PrimitiveTypeInteger.Schema()
	case bot.Bool:
		return cmdschema.PrimitiveTypeBoolean.Schema()
	case bot.User:
		return cmdschema.Union(cmdschema.PrimitiveTypeUserID.Schema(), cmdschema.Literal("me"))
	}
	var variants []*cmdschema.ParameterSchema
	for _, c := range o.Choices {
		variants = append(variants, cmdschema.Literal(c.Value))
	}
	if len(variants) == 0 {
		return cmdschema.PrimitiveTypeString.Schema()
	}
	return cmdschema.Union(append(variants, cmdschema.PrimitiveTypeString.Schema())...)
}

// Structured reads the content of a message that carries a command as its client
// understood it (MSC4391). It reports false if there is none, or none that is
// known. It is for the one bot that m.mentions names, of which the caller must
// have seen that it is this one.
func Structured(known []bot.Command, content json.RawMessage) (Parsed, bool) {
	if !bytes.Contains(content, []byte("org.matrix.msc4391.command")) {
		return Parsed{}, false
	}
	var m struct {
		Input struct {
			Command   string                     `json:"command"`
			Arguments map[string]json.RawMessage `json:"arguments"`
		} `json:"org.matrix.msc4391.command"`
		Mentions event.Mentions `json:"m.mentions"`
	}
	if json.Unmarshal(content, &m) != nil || len(m.Mentions.UserIDs) != 1 {
		return Parsed{}, false
	}
	name := strings.ToLower(strings.TrimSpace(m.Input.Command))
	for _, c := range known {
		if c.Name != name {
			continue
		}
		p := Parsed{Command: c.Name, Args: map[string]string{}}
		for _, o := range c.Options {
			if value, ok := argument(m.Input.Arguments[o.Name]); ok {
				p.Args[o.Name] = value
			}
		}
		p.Users = Typed{Self: m.Mentions.UserIDs[0]}.users(c, p.Args)
		return p, true
	}
	return Parsed{}, false
}

// argument writes an argument as it would have been typed. It reports false for
// what stands for nothing, and for what is no argument.
func argument(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || len(raw) > maxTyped {
		return "", false
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case string:
		v = strings.TrimSpace(v)
		return v, v != ""
	case bool:
		if v {
			return "yes", true
		}
		return "no", true
	case json.Number:
		return v.String(), true
	case []any:
		var words []string
		for _, word := range v {
			if s, ok := word.(string); ok && s != "" {
				words = append(words, s)
			}
		}
		return strings.Join(words, " "), len(words) > 0
	}
	return "", false
}
