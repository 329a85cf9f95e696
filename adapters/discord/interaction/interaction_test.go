package interaction

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// where is what every interaction in a server has.
const where = `"id":"1100000000000000000","application_id":"77","token":"tok","version":1,"guild_id":"6","channel_id":"3",
	"channel":{"id":"3","type":11,"parent_id":"2","name":"Game 1","new_field":[1]},
	"locale":"de","guild_locale":"en-GB","context":0,"app_permissions":"2048","attachment_size_limit":524288,
	"authorizing_integration_owners":{"0":"6","1":"8"},"entitlements":[],
	"member":{"nick":"Shusaku","permissions":"32","roles":["2"],"user":{"id":"8","username":"honinbo","global_name":"Kuwahara","bot":false}}`

func TestCommand(t *testing.T) {
	in, err := Parse([]byte(`{` + where + `,"type":2,"data":{"id":"50","guild_id":"6","name":"place","type":1,"options":[
		{"name":"point","type":3,"value":"D4"},{"name":"game","type":4,"value":12},{"name":"sure","type":5,"value":true},{"name":"komi","type":10,"value":6.5},
		{"name":"opponent","type":6,"value":"9"}],
		"resolved":{"users":{"9":{"id":"9","username":"other"}},"members":{"9":{"nick":"Shuwa"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := in.Command
	if c.Name != "place" || c.Guild != "6" || c.Type != discordgo.ChatApplicationCommand {
		t.Errorf("command %+v", c)
	}
	for name, text := range map[string]string{"point": "D4", "game": "12", "sure": "true", "komi": "6.5", "opponent": "9", "nothing": ""} {
		if got := c.Option(name); got.Text != text {
			t.Errorf("%s is %+v", name, got)
		}
	}
	if u := c.Users["9"]; u.Nick != "Shuwa" {
		t.Errorf("opponent %+v", u)
	}
	if in.User.ID != "8" || in.User.Nick != "Shusaku" || in.User.Username != "honinbo" || in.May != rest.ManageGuild || in.BotMay != rest.SendMessages {
		t.Errorf("user %+v, may %b, bot may %b", in.User, in.May, in.BotMay)
	}
	if in.Guild != "6" || !in.Channel.IsThread() || in.Channel.Parent != "2" || in.Locale != "de" || in.GuildLocale != "en-GB" {
		t.Errorf("where: %+v", in)
	}
	if in.ByGuild != "6" || in.ByUser != "8" || in.OnlyUser() || in.Kind != Command {
		t.Errorf("installation: %+v", in)
	}
	if want := time.UnixMilli(1100000000000000000>>22 + 1420070400000).UTC(); !in.At.Equal(want) || in.At.Year() != 2023 {
		t.Errorf("made at %v", in.At)
	}
}

func TestTyping(t *testing.T) {
	in, err := Parse([]byte(`{` + where + `,"type":4,"data":{"name":"new","type":1,"options":[
		{"name":"size","type":3,"value":"9x9"},{"name":"id","type":3,"value":"two-b","focused":true}]}}`))
	if err != nil || in.Command.Guild != "" || in.Command.Option("size").Text != "9x9" {
		t.Errorf("%+v, %v", in.Command, err)
	}
	if o, ok := in.Command.Focused(); !ok || o.Name != "id" || o.Text != "two-b" || in.Kind != Typing {
		t.Errorf("focused %+v", o)
	}
}

// A subcommand is named with the command and the group that it belongs to, and has its own
// options.
func TestSubcommands(t *testing.T) {
	for name, options := range map[string]string{
		"go undo":          `{"name":"undo","type":1}`,
		"go dead":          `{"name":"dead","type":1,"options":[{"name":"as","type":3,"value":"seki"},{"name":"points","type":3,"value":"C3","focused":true}]}`,
		"go room settings": `{"name":"room","type":2,"options":[{"name":"settings","type":1,"options":[{"name":"as","type":3,"value":"seki"},{"name":"points","type":3,"value":"C3","focused":true}]}]}`,
	} {
		for _, kind := range []Kind{Command, Typing} {
			in, err := Parse(fmt.Appendf(nil, `{%s,"type":%d,"data":{"name":"go","type":1,"options":[%s]}}`, where, kind, options))
			want := Option{Name: "points", Type: discordgo.ApplicationCommandOptionString, Text: "C3", Focused: true}
			if name == "go undo" {
				want = Option{}
			}
			typed, _ := in.Command.Focused()
			if err != nil || in.Command.Name != name || !reflect.DeepEqual(typed, want) || want.Text != "" && in.Command.Option("as").Text != "seki" {
				t.Errorf("%s: %+v, %v", name, in.Command, err)
			}
		}
	}
}

func TestMenus(t *testing.T) {
	in, err := Parse([]byte(`{` + where + `,"type":2,"data":{"name":"Show as a Go board","type":3,"target_id":"70","resolved":{"messages":{"70":{"id":"70","channel_id":"3",
		"content":"$$ B","author":{"id":"9","username":"x","bot":true},"attachments":[{"id":"71","filename":"a.sgf","url":"https://cdn.discordapp.com/a","size":99}],"components":[{"type":99}]}}}}}`))
	m := in.Command.Messages[in.Command.Target]
	if err != nil || m.Content != "$$ B" || len(m.Files) != 1 || m.Files[0].Name != "a.sgf" || m.Files[0].Size != 99 {
		t.Errorf("%+v, %v", m, err)
	}
	in, err = Parse([]byte(`{` + where + `,"type":2,"data":{"name":"Challenge to Go","type":2,"target_id":"9","resolved":{"users":{"9":{"id":"9","username":"x","global_name":"X"}}}}}`))
	if err != nil || in.Command.Type != discordgo.UserApplicationCommand || in.Command.Users[in.Command.Target].GlobalName != "X" {
		t.Errorf("%+v, %v", in.Command, err)
	}
}

// A press below a message with components that nobody knows yet can be answered.
func TestPress(t *testing.T) {
	in, err := Parse([]byte(`{` + where + `,"type":3,"data":{"id":7,"custom_id":"pass:12:30","component_type":3,"values":["a","b"]},
		"message":{"id":"90","channel_id":"3","flags":64,"author":{"id":"77"},"components":[{"type":99,"components":{"not":"a list"}}],"attachments":[]}}`))
	if err != nil || in.Press.ID != "pass:12:30" || in.Press.Type != 3 || fmt.Sprint(in.Press.Values) != "[a b]" || in.Message == nil || in.Message.ID != "90" || in.Message.Flags != 64 {
		t.Errorf("%+v, %v", in, err)
	}
}

func TestForm(t *testing.T) {
	in, err := Parse([]byte(`{` + where + `,"type":5,"data":{"custom_id":"place:12","components":[
		{"type":1,"components":[{"type":4,"custom_id":"point","value":"D4"}]},
		{"type":18,"component":{"type":3,"custom_id":"dead","values":["C3","E5"]}},
		{"type":21,"custom_id":"later","value":7},{"type":10,"content":"text"}]}}`))
	if err != nil || in.Form.ID != "place:12" || in.Form.Value("point") != "D4" || fmt.Sprint(in.Form.Values["dead"]) != "[C3 E5]" || in.Form.Value("later") != "7" || in.Form.Value("none") != "" {
		t.Errorf("%+v, %v", in.Form, err)
	}
}

func TestElsewhere(t *testing.T) {
	in, err := Parse([]byte(`{"id":"5","token":"t","application_id":"77","type":2,"context":2,"channel_id":"3","user":{"id":"8","username":"honinbo","global_name":null},
		"authorizing_integration_owners":{"1":"8"},"data":{"name":"help","type":1}}`))
	if err != nil || in.Guild != "" || !in.OnlyUser() || in.User.Username != "honinbo" || in.Channel.ID != "3" {
		t.Errorf("%+v, %v", in, err)
	}
	in, _ = Parse([]byte(`{"id":"5","token":"t","type":2,"context":null,"message":null,"channel":null}`))
	if in.Message != nil {
		t.Errorf("%+v", in)
	}
}

// Whatever part is strange, the interaction can still be answered.
func TestStrangeParts(t *testing.T) {
	whole := `{"id":"5","token":"t","type":2,"data":{"name":"x","options":[],"resolved":{}},"member":{"user":{"id":"8"}},"channel":{"id":"3"},
		"message":{"id":"1"},"locale":"en","app_permissions":"1","authorizing_integration_owners":{},"guild_id":"6"}`
	if _, err := Parse([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"data":`, `"options":`, `"resolved":`, `"member":`, `"user":`, `"channel":`, `"message":`, `"locale":`, `"app_permissions":`,
		`"authorizing_integration_owners":`, `"guild_id":`} {
		for _, strange := range []string{`[[]]`, `"\ud800"`, `{"id":{}}`, `-1e99`} {
			// The part's value is what follows; it becomes another field.
			in, err := Parse([]byte(strings.Replace(whole, part, part+strange+`,"was":`, 1)))
			if in.ID != "5" || in.Token != "t" || in.Kind != Command {
				t.Errorf("%s %s: %+v, %v", part, strange, in, err)
			}
		}
	}
	for _, raw := range []string{``, `{}`, `[]`, `null`, `{"id":"5"}`, `{"token":"t"}`, `{"id":5,"token":"t"}`, `"x"`} {
		if in, err := Parse([]byte(raw)); err == nil || in.Token != "" {
			t.Errorf("%s: %+v", raw, in)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{` + where + `,"type":2,"data":{"name":"place","options":[{"name":"a","type":1,"options":[{"name":"b","value":1}]}]}}`))
	f.Add([]byte(`{` + where + `,"type":5,"data":{"custom_id":"x","components":[{"component":{"component":{"custom_id":"y","values":["z"]}}}]}}`))
	f.Add([]byte(`{"id":"5","token":"t","type":3,"data":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := Parse(raw)
		if err == nil && (in.ID == "" || in.Token == "" && in.Kind != Ping) {
			t.Errorf("%+v cannot be answered", in)
		}
	})
}
