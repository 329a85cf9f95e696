// Package interaction holds what people do on Discord besides talking: commands,
// presses of buttons, choices, forms, and what they are typing. It reads the raw
// event, so that what Discord adds later loses nothing that is needed to answer;
// it comes the same way through the gateway ([Parse]) and over HTTP ([Endpoint]).
//
//	in, err := interaction.Parse(event.Data)
//	if in.Token == "" {
//		return // nothing by which it could be answered
//	}
//	switch in.Kind {
//	case interaction.Command:
//		point := in.Command.Option("point").Text
//	case interaction.Typing:
//		option, _ := in.Command.Focused()
//	case interaction.Press:
//		in.Press.ID, in.Press.Values
//	case interaction.Form:
//		in.Form.Value("point")
//	}
package interaction

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// Kind is what kind of thing was done; the numbers are Discord's.
type Kind int

// Kinds of interactions.
const (
	Ping    Kind = 1 // Discord tries whether an endpoint is there
	Command Kind = 2 // a slash command, or one of the menu of a user or a message
	Press   Kind = 3 // a button or a select below a message
	Typing  Kind = 4 // a command is being typed: choices are wanted
	Form    Kind = 5 // a modal was submitted
)

// An Interaction is something that a person did and that waits for an answer:
// the first within three seconds, others within fifteen minutes, of At.
type Interaction struct {
	ID    string
	Token string // to answer by; a secret while it lives
	Kind  Kind
	At    time.Time // by Discord's clock; read from the id

	Guild       string // empty outside of servers
	Channel     Channel
	Locale      string // of the person: "en-GB"
	GuildLocale string

	User    User
	May     rest.Permissions // what the person may do in the channel
	BotMay  rest.Permissions // what the bot may do in the channel
	ByGuild string           // the server that has installed the bot, if one has
	ByUser  string           // the person who has installed it for themselves, if one has

	Command CommandData // of Command and Typing
	Press   PressData
	Form    FormData
	Message *Message // below which the component or the form was
}

// OnlyUser reports whether the bot is here because a person has installed it
// and the server has not: then it can do nothing but answer, with five
// follow-ups.
func (in Interaction) OnlyUser() bool { return in.ByUser != "" && in.ByGuild == "" }

// A User is who did it.
type User struct {
	ID         string `json:"id"`
	Username   string `json:"username"`    // unique: "honinbo"
	GlobalName string `json:"global_name"` // chosen
	Nick       string `json:"-"`           // chosen for this server
	Bot        bool   `json:"bot"`
}

// A Channel is where it was done.
type Channel struct {
	ID     string                `json:"id"`
	Type   discordgo.ChannelType `json:"type"`
	Parent string                `json:"parent_id"` // of a thread
}

// IsThread reports whether it is a thread.
func (c Channel) IsThread() bool {
	return (&discordgo.Channel{Type: c.Type}).IsThread()
}

// CommandData is a command with its options.
type CommandData struct {
	Guild   string // the server in which alone it is registered; empty: everywhere
	Name    string // of a subcommand all of its names: "go room settings"
	Type    discordgo.ApplicationCommandType
	Options []Option
	Target  string // of a menu: the id of the user or message

	Users    map[string]User    // those meant by options or Target, by id
	Messages map[string]Message // the one meant by Target
	Files    map[string]File    // those that options attach, by id
}

// Option finds an option by name; what was not said is the zero Option.
func (c CommandData) Option(name string) Option {
	for _, o := range c.Options {
		if o.Name == name {
			return o
		}
	}
	return Option{}
}

// Focused is the option that is being typed.
func (c CommandData) Focused() (Option, bool) {
	for _, o := range c.Options {
		if o.Focused {
			return o, true
		}
	}
	return Option{}, false
}

// An Option is something said to a command. Text is what was typed: numbers in
// decimal, "true" and "false", ids of users and files.
type Option struct {
	Name    string
	Type    discordgo.ApplicationCommandOptionType
	Text    string
	Focused bool

	within []Option // of a subcommand, or a group of them
}

// UnmarshalJSON reads what can be read of it.
func (o *Option) UnmarshalJSON(data []byte) error {
	var raw struct {
		Name    string                                 `json:"name"`
		Type    discordgo.ApplicationCommandOptionType `json:"type"`
		Value   json.RawMessage                        `json:"value"`
		Focused bool                                   `json:"focused"`
		Options []Option                               `json:"options"`
	}
	json.Unmarshal(data, &raw) //nolint:errcheck // an error here would cost all that follows
	*o = Option{Name: raw.Name, Type: raw.Type, Text: text(raw.Value), Focused: raw.Focused, within: raw.Options}
	return nil
}

// isSub reports whether it is a subcommand, or a group of them.
func (o Option) isSub() bool {
	return o.Type == discordgo.ApplicationCommandOptionSubCommand || o.Type == discordgo.ApplicationCommandOptionSubCommandGroup
}

// PressData is a press of a button or the choice in a select.
type PressData struct {
	ID     string // custom_id
	Type   int    // of the component
	Values []string
}

// FormData is a submitted modal.
type FormData struct {
	ID     string // custom_id
	Values map[string][]string
}

// Value is the first value of a field.
func (f FormData) Value(field string) string {
	if v := f.Values[field]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// A Message is one below which something was pressed, or which a menu's command
// was used on.
type Message struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
	Content string `json:"content"`
	Flags   int    `json:"flags"`
	Files   []File `json:"attachments"`
}

// A File belongs to a message or to an option.
type File struct {
	Name string `json:"filename"`
	URL  string `json:"url"`
	Size int    `json:"size"`
}

// epoch is the first millisecond of Discord's ids.
const epoch = 1420070400000

// Time is when a thing with this id was made, by Discord's clock; zero if it is
// no id.
func Time(id string) time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + epoch).UTC()
}

// A member is a person in a server.
type member struct {
	User        User             `json:"user"`
	Nick        string           `json:"nick"`
	Permissions rest.Permissions `json:"permissions"`
}

// A payload is an interaction as Discord writes it, as far as it is read.
type payload struct {
	ID          string            `json:"id"`
	Type        Kind              `json:"type"`
	Token       string            `json:"token"`
	Guild       string            `json:"guild_id"`
	Channel     Channel           `json:"channel"`
	ChannelID   string            `json:"channel_id"`
	Member      member            `json:"member"`
	User        User              `json:"user"`
	Message     *Message          `json:"message"`
	AppMay      rest.Permissions  `json:"app_permissions"`
	Locale      string            `json:"locale"`
	GuildLocale string            `json:"guild_locale"`
	Owners      map[string]string `json:"authorizing_integration_owners"`

	Data struct {
		Guild    string                           `json:"guild_id"`
		Name     string                           `json:"name"`
		Type     discordgo.ApplicationCommandType `json:"type"`
		Options  []Option                         `json:"options"`
		Target   string                           `json:"target_id"`
		Resolved struct {
			Users    map[string]User    `json:"users"`
			Members  map[string]member  `json:"members"`
			Messages map[string]Message `json:"messages"`
			Files    map[string]File    `json:"attachments"`
		} `json:"resolved"`
		CustomID   string          `json:"custom_id"`
		Component  int             `json:"component_type"`
		Values     []string        `json:"values"`
		Components json.RawMessage `json:"components"`
	} `json:"data"`
}

// ErrMalformed is what Parse says of an event that cannot be answered.
var ErrMalformed = errors.New("not an interaction")

// Parse reads an interaction. If the error is not nil but Token is not empty,
// it can be answered although a part could not be read.
func Parse(raw []byte) (Interaction, error) {
	var p payload
	err := json.Unmarshal(raw, &p) // a field of a wrong type leaves the others filled
	if p.ID == "" || p.Token == "" && (err != nil || p.Type != Ping) {
		return Interaction{}, ErrMalformed
	}
	var odd *json.UnmarshalTypeError
	if errors.As(err, &odd) {
		err = fmt.Errorf("%s cannot be read", odd.Field) // without its words, which people wrote
	}
	in := Interaction{
		ID: p.ID, Token: p.Token, Kind: p.Type, At: Time(p.ID),
		Guild: p.Guild, Channel: p.Channel, Locale: p.Locale, GuildLocale: p.GuildLocale,
		User: p.Member.User, May: p.Member.Permissions, BotMay: p.AppMay, ByGuild: p.Owners["0"], ByUser: p.Owners["1"],
	}
	in.Channel.ID = cmp.Or(in.Channel.ID, p.ChannelID)
	if in.User.ID == "" {
		in.User = p.User
	}
	in.User.Nick = p.Member.Nick
	if p.Message != nil && p.Message.ID != "" {
		in.Message = p.Message
	}
	d := p.Data
	switch p.Type {
	case Command, Typing:
		for len(d.Options) == 1 && d.Options[0].isSub() {
			d.Name, d.Options = d.Name+" "+d.Options[0].Name, d.Options[0].within
		}
		in.Command = CommandData{Guild: d.Guild, Name: d.Name, Type: d.Type, Options: d.Options, Target: d.Target, Users: d.Resolved.Users, Messages: d.Resolved.Messages, Files: d.Resolved.Files}
		for id, u := range d.Resolved.Users {
			u.Nick = d.Resolved.Members[id].Nick
			d.Resolved.Users[id] = u
		}
	case Press:
		in.Press = PressData{ID: d.CustomID, Type: d.Component, Values: d.Values}
	case Form:
		in.Form = FormData{ID: d.CustomID, Values: map[string][]string{}}
		fields(d.Components, in.Form.Values, 0)
	}
	return in, err
}

// text is a value as it was typed.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw) // a number, true or false
}

// fields collects the values of a form, however its components are nested.
func fields(raw json.RawMessage, into map[string][]string, depth int) {
	var list []json.RawMessage
	if depth > 8 || len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, one := range list {
		field(one, into, depth)
	}
}

func field(raw json.RawMessage, into map[string][]string, depth int) {
	var f struct {
		CustomID   string          `json:"custom_id"`
		Value      json.RawMessage `json:"value"`
		Values     []string        `json:"values"`
		Components json.RawMessage `json:"components"`
		Component  json.RawMessage `json:"component"`
	}
	json.Unmarshal(raw, &f) //nolint:errcheck // what is strange is left out
	if f.CustomID != "" {
		values := slices.Clone(f.Values)
		if len(f.Value) > 0 {
			values = append(values, text(f.Value))
		}
		into[f.CustomID] = values
	}
	fields(f.Components, into, depth+1)
	if len(f.Component) > 0 && depth <= 8 {
		field(f.Component, into, depth+1)
	}
}
