package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
	"github.com/halfpoint-go/halfpoint/bot"
)

// A description of every kind of option.
func TestDescribe(t *testing.T) {
	key, content := command.Describe(bot.Command{Name: "open", Summary: "Open a game", Options: []bot.Option{
		{Name: "as", Summary: "The colour", Required: true, Choices: []bot.Choice{{Label: "Black", Value: "black"}, {Label: "White", Value: "white"}}},
		{Name: "at", Summary: "The point", Type: bot.Point},
		{Name: "handicap", Summary: "Stones", Type: bot.Integer},
		{Name: "rated", Summary: "Whether it counts", Type: bot.Bool},
		{Name: "opponent", Summary: "Who may join", Type: bot.User},
		{Name: "clock", Summary: "The clock", Rest: true},
	}}, self)
	if want := "9/nUd8nIVcK2n8SxKBNmTUAdOg10KPBTR2SB/OGngQM="; key != want {
		t.Errorf("the state key is %s", key)
	}
	text := func(s string) string {
		return `"description":{"m.text":[{"mimetype":"text/plain","body":"` + s + `"}]}`
	}
	want := `{"command":"open","parameters":[` + strings.Join([]string{
		`{"key":"as","schema":{"schema_type":"union","variants":[{"schema_type":"literal","value":"black"},{"schema_type":"literal","value":"white"},` +
			`{"schema_type":"primitive","type":"string"}]},` + text("The colour") + `}`,
		`{"key":"at","schema":{"schema_type":"primitive","type":"string"},"optional":true,` + text("The point") + `}`,
		`{"key":"handicap","schema":{"schema_type":"primitive","type":"integer"},"optional":true,` + text("Stones") + `}`,
		`{"key":"rated","schema":{"schema_type":"primitive","type":"boolean"},"optional":true,` + text("Whether it counts") + `}`,
		`{"key":"opponent","schema":{"schema_type":"union","variants":[{"schema_type":"primitive","type":"user_id"},{"schema_type":"literal","value":"me"}]},"optional":true,` + text("Who may join") + `}`,
		`{"key":"clock","schema":{"schema_type":"primitive","type":"string"},"optional":true,` + text("The clock") + `}`,
	}, ",") + `],` + text("Open a game") + `,"fi.mau.tail_parameter":"clock"}`
	got, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}

	for _, c := range []struct {
		options []bot.Option
		tail    string
	}{
		{nil, ""},
		{[]bot.Option{{Name: "game"}}, ""},
		{[]bot.Option{{Name: "name"}, {Name: "share"}}, "name"},
		{[]bot.Option{{Name: "at", Required: true}, {Name: "game"}}, ""},
		{[]bot.Option{{Name: "rules"}, {Name: "clock", Rest: true}, {Name: "game"}}, "clock"},
	} {
		if _, content := command.Describe(bot.Command{Name: "open", Options: c.options}, self); content.TailParam != c.tail {
			t.Errorf("%v: the tail is %q, not %q", c.options, content.TailParam, c.tail)
		}
	}
}

// Every command has a description that clients can use, always the same.
func TestDescriptions(t *testing.T) {
	keys := map[string]bool{}
	for _, c := range bot.Commands() {
		key, content := command.Describe(c, self)
		if err := content.Validate(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if keys[key] || key == "" || len(key) > 255 {
			t.Errorf("%s has the state key %q", c.Name, key)
		}
		keys[key] = true
		if other, _ := command.Describe(c, "@another:example.org"); other == key {
			t.Errorf("%s of another bot has the same state key", c.Name)
		}
		if len(content.Parameters) != len(c.Options) {
			t.Errorf("%s has %d parameters", c.Name, len(content.Parameters))
		}
		data, err := json.Marshal(content)
		if err != nil || len(data) > 60_000 {
			t.Errorf("%s takes %d bytes, %v", c.Name, len(data), err)
		}
		_, content = command.Describe(c, self)
		again, err := json.Marshal(content)
		if err != nil || string(data) != string(again) {
			t.Errorf("%s is described in two ways: %s and %s", c.Name, data, again)
		}
	}
}

// values of options, as typed and as JSON.
func values(o bot.Option) [][2]string {
	text := func(s string) [2]string {
		data, _ := json.Marshal(s)
		return [2]string{s, string(data)}
	}
	switch {
	case len(o.Choices) > 0:
		var out [][2]string
		for _, c := range o.Choices {
			out = append(out, text(c.Value))
		}
		return out
	case o.Type == bot.Integer:
		return [][2]string{{"3", "3"}, {"0", "0"}, {"-1", "-1"}}
	case o.Type == bot.Bool:
		return [][2]string{{"yes", "true"}, {"no", "false"}}
	case o.Type == bot.User:
		return [][2]string{text("@bob:example.org"), text("me"), {"@bob:example.org", `"https://matrix.to/#/@bob:example.org"`}, text(self.String())}
	case o.Type == bot.Point:
		return [][2]string{text("D4")}
	case o.Rest:
		return [][2]string{text("C3 D5"), {"C3 D5", `["C3","D5"]`}, text("C3\nD5"), text(".X.\nXO.")}
	}
	return [][2]string{text("6.5"), text("two-button")}
}

// What a client asks for by structure is what is asked for by typing it.
func TestStructured(t *testing.T) {
	for _, c := range bot.Commands() {
		ask := func(typed, arguments string) {
			t.Helper()
			want, ok := command.Parse(bot.Commands(), said("!"+c.Name+typed))
			if !ok || want.Problem != "" {
				t.Fatalf("!%s%s: %+v", c.Name, typed, want)
			}
			got, ok := command.Structured(bot.Commands(), structured(c.Name, arguments, self))
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%s %s: %v %s", c.Name, arguments, ok, diff)
			}
		}
		ask("", `{}`)
		ask("", `null`)
		typed, arguments := "", ""
		for _, o := range c.Options {
			for _, v := range values(o) {
				ask(" "+o.Name+":"+v[0], `{"`+o.Name+`":`+v[1]+`}`)
			}
			typed += " " + o.Name + ":" + values(o)[0][0]
			arguments += `,"` + o.Name + `":` + values(o)[0][1]
		}
		ask(typed, "{"+strings.TrimPrefix(arguments, ",")+"}")
	}
}

// What mautrix makes of a line by our descriptions, we read as the line.
func TestStructuredByDescription(t *testing.T) {
	for _, line := range []string{
		"place D4", "pass", "pass C3 D5", "new 3d", "new --rules=aga --size=9x9 --opponent=@bob:example.org fischer 7d", "handicap D4 Q16",
		"dead C3 D5", "adjudicate count C3", "help place", "rules two-button", "resign yes", "review 17", "demo ko",
		"pass --anyway", "comment well played", "remind channel",
	} {
		name, _, _ := strings.Cut(line, " ")
		for _, c := range bot.Commands() {
			if c.Name != name {
				continue
			}
			_, content := command.Describe(c, self)
			m, err := content.ParseInput(self, []string{"/"}, "/"+line)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			data, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := command.Structured(bot.Commands(), data)
			typed := strings.ReplaceAll(strings.ReplaceAll(line, "--anyway", "anyway:yes"), "--", "")
			if name == "new" { // its last option stands alone in mautrix, ours its first
				typed = strings.ReplaceAll(strings.ReplaceAll(typed, " 3d", " clock:3d"), "fischer", "clock:fischer")
			}
			want, _ := command.Parse(bot.Commands(), said("!"+typed))
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%s: %v %s", line, ok, diff)
			}
		}
	}
}

func structured(name, arguments string, mentions ...id.UserID) json.RawMessage {
	data, err := json.Marshal(map[string]any{
		"msgtype": "m.text", "body": "/" + name, "m.mentions": event.Mentions{UserIDs: mentions},
		"org.matrix.msc4391.command": map[string]any{"command": name, "arguments": json.RawMessage(arguments)},
	})
	if err != nil {
		panic(err)
	}
	return data
}

func TestNotStructured(t *testing.T) {
	for why, content := range map[string]string{
		"nothing":         ``,
		"no object":       `[]`,
		"no command":      `{"body":"!place D4","m.mentions":{"user_ids":["@halfpoint:example.org"]}}`,
		"unknown command": string(structured("castle", `{}`, self)),
		"for nobody":      string(structured("pass", `{}`)),
		"for several":     string(structured("pass", `{}`, self, "@another:example.org")),
		"cut off":         string(structured("pass", `{}`, self)[:60]),
		"no arguments":    string(structured("pass", `"C3"`, self)),
		"deep":            `{"org.matrix.msc4391.command":` + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000) + `}`,
	} {
		if p, ok := command.Structured(bot.Commands(), json.RawMessage(content)); ok {
			t.Errorf("%s: %+v", why, p)
		}
	}
	got, ok := command.Structured(bot.Commands(), structured("place", `{"at":" D4 ","game":null,"seq":"5","share":{"a":1},"deep":[[1]]}`, self))
	if want := (command.Parsed{Command: "place", Args: map[string]string{"at": "D4"}}); !ok || cmp.Diff(want, got) != "" {
		t.Errorf("what is no option of the command counts: %+v", got)
	}
}

func FuzzStructured(f *testing.F) {
	f.Add([]byte(structured("place", `{"at":"D4"}`, self)))
	f.Add([]byte(structured("new", `{"opponent":"@bob:example.org","rated":true,"handicap":2}`, self)))
	commands := bot.Commands()
	f.Fuzz(func(t *testing.T, content []byte) {
		p, ok := command.Structured(commands, content)
		if ok && len(p.Users) > 0 {
			var m struct {
				Mentions event.Mentions `json:"m.mentions"`
			}
			if json.Unmarshal(content, &m) == nil && m.Mentions.UserIDs[0] != self {
				return // another bot's
			}
		}
		check(t, p, ok)
	})
}
