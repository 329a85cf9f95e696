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
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// Deadline is when the first answer must have arrived.
func (in Interaction) Deadline() time.Time { return in.At.Add(3 * time.Second) }

// OnlyUser reports whether the bot is here because a person has installed it
// and the server has not: then it can do nothing but answer, with five
// follow-ups.
func (in Interaction) OnlyUser() bool { return in.ByUser != "" && in.ByGuild == "" }

// A User is who did it.
type User struct {
	ID         string
	Username   string // unique: "honinbo"
	GlobalName string // chosen
	Nick       string // chosen for this server
	Bot        bool
}

// Name is what they are called here.
func (u User) Name() string {
	for _, name := range []string{u.Nick, u.GlobalName} {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return u.Username
}

// A Channel is where it was done. Types are those of package rest.
type Channel struct {
	ID     string
	Type   int
	Parent string // of a thread
}

// IsThread reports whether it is a thread.
func (c Channel) IsThread() bool {
	return c.Type >= rest.ThreadOfAnnouncement && c.Type <= rest.ThreadPrivate
}

// CommandData is a command with what was said to it.
type CommandData struct {
	Guild   string // the server in which alone it is registered; empty: everywhere
	Name    string
	Type    discordgo.ApplicationCommandType
	Options []Option
	Target  string // of a menu: the id of the user or message

	Users    map[string]User    // those meant by options or Target, by id
	Messages map[string]Message // the one meant by Target
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
	ID      string
	Channel string
	Content string
	Flags   int
	Files   []File
}

// A File belongs to a message or to an option.
type File struct {
	Name, URL string
	Size      int
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

// Shapes of Discord's, as far as they are read. Optional fields are raw and
// read by itself, so that one part which cannot be read costs no other.
type (
	payload struct {
		ID          string          `json:"id"`
		Type        Kind            `json:"type"`
		Token       string          `json:"token"`
		Data        json.RawMessage `json:"data"`
		Guild       json.RawMessage `json:"guild_id"`
		Channel     json.RawMessage `json:"channel"`
		ChannelID   json.RawMessage `json:"channel_id"`
		Member      json.RawMessage `json:"member"`
		User        json.RawMessage `json:"user"`
		Message     json.RawMessage `json:"message"`
		AppMay      json.RawMessage `json:"app_permissions"`
		Locale      json.RawMessage `json:"locale"`
		GuildLocale json.RawMessage `json:"guild_locale"`
		Owners      json.RawMessage `json:"authorizing_integration_owners"`
	}
	user struct {
		ID         string `json:"id"`
		Username   string `json:"username"`
		GlobalName string `json:"global_name"`
		Bot        bool   `json:"bot"`
	}
	member struct {
		User        user             `json:"user"`
		Nick        string           `json:"nick"`
		Permissions rest.Permissions `json:"permissions"`
	}
	channel struct {
		ID     string `json:"id"`
		Type   int    `json:"type"`
		Parent string `json:"parent_id"`
	}
	file struct {
		Name string `json:"filename"`
		URL  string `json:"url"`
		Size int    `json:"size"`
	}
	message struct {
		ID          string          `json:"id"`
		Channel     string          `json:"channel_id"`
		Content     string          `json:"content"`
		Flags       int             `json:"flags"`
		Attachments json.RawMessage `json:"attachments"`
	}
	option struct {
		Name    string                                 `json:"name"`
		Type    discordgo.ApplicationCommandOptionType `json:"type"`
		Value   json.RawMessage                        `json:"value"`
		Focused bool                                   `json:"focused"`
	}
	data struct {
		Guild      json.RawMessage                  `json:"guild_id"`
		Name       string                           `json:"name"`
		Type       discordgo.ApplicationCommandType `json:"type"`
		Options    json.RawMessage                  `json:"options"`
		Target     string                           `json:"target_id"`
		Resolved   json.RawMessage                  `json:"resolved"`
		CustomID   string                           `json:"custom_id"`
		Component  int                              `json:"component_type"`
		Values     json.RawMessage                  `json:"values"`
		Components json.RawMessage                  `json:"components"`
	}
)

// A reader collects what could not be read.
type reader struct{ errs []error }

func (r *reader) read(what string, raw json.RawMessage, to any) {
	if len(raw) == 0 {
		return
	}
	if err := json.Unmarshal(raw, to); err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s cannot be read", what)) // without its words, which people wrote
	}
}

// ErrMalformed is what Parse says of an event that cannot be answered.
var ErrMalformed = errors.New("not an interaction")

// Parse reads an interaction. If the error is not nil but Token is not empty,
// it can be answered although a part could not be read.
func Parse(raw []byte) (Interaction, error) {
	var p payload
	if err := json.Unmarshal(raw, &p); err != nil || p.ID == "" || p.Token == "" && p.Type != Ping {
		// One field of a wrong type leaves the others filled.
		if p.ID == "" || p.Token == "" {
			return Interaction{}, ErrMalformed
		}
	}
	r := &reader{}
	in := Interaction{ID: p.ID, Token: p.Token, Kind: p.Type, At: Time(p.ID)}
	r.read("guild_id", p.Guild, &in.Guild)
	r.read("locale", p.Locale, &in.Locale)
	r.read("guild_locale", p.GuildLocale, &in.GuildLocale)
	r.read("app_permissions", p.AppMay, &in.BotMay)

	var c channel
	r.read("channel", p.Channel, &c)
	in.Channel = Channel(c)
	if in.Channel.ID == "" {
		r.read("channel_id", p.ChannelID, &in.Channel.ID)
	}

	var m member
	r.read("member", p.Member, &m)
	in.May = m.Permissions
	if m.User.ID == "" {
		r.read("user", p.User, &m.User)
	}
	in.User = m.User.open(m.Nick)

	var owners map[string]string
	r.read("authorizing_integration_owners", p.Owners, &owners)
	in.ByGuild, in.ByUser = owners["0"], owners["1"]

	var shown message
	r.read("message", p.Message, &shown)
	if shown.ID != "" {
		open := r.message(shown)
		in.Message = &open
	}

	var d data
	r.read("data", p.Data, &d)
	switch p.Type {
	case Command, Typing:
		in.Command = r.command(d)
	case Press:
		in.Press = PressData{ID: d.CustomID, Type: d.Component}
		r.read("values", d.Values, &in.Press.Values)
	case Form:
		in.Form = FormData{ID: d.CustomID, Values: map[string][]string{}}
		r.fields(d.Components, in.Form.Values, 0)
	}
	return in, errors.Join(r.errs...)
}

func (u user) open(nick string) User {
	return User{ID: u.ID, Username: u.Username, GlobalName: u.GlobalName, Nick: nick, Bot: u.Bot}
}

func (r *reader) message(m message) Message {
	open := Message{ID: m.ID, Channel: m.Channel, Content: m.Content, Flags: m.Flags}
	var files []file
	r.read("attachments", m.Attachments, &files)
	for _, f := range files {
		open.Files = append(open.Files, File(f))
	}
	return open
}

// command reads a command.
func (r *reader) command(d data) CommandData {
	c := CommandData{Guild: text(d.Guild), Name: d.Name, Type: d.Type, Target: d.Target, Users: map[string]User{}, Messages: map[string]Message{}}
	var options []option
	r.read("options", d.Options, &options)
	for _, o := range options {
		c.Options = append(c.Options, Option{Name: o.Name, Type: o.Type, Text: text(o.Value), Focused: o.Focused})
	}
	var resolved struct {
		Users    map[string]user    `json:"users"`
		Members  map[string]member  `json:"members"`
		Messages map[string]message `json:"messages"`
	}
	r.read("resolved", d.Resolved, &resolved)
	for id, u := range resolved.Users {
		c.Users[id] = u.open(resolved.Members[id].Nick)
	}
	for id, m := range resolved.Messages {
		c.Messages[id] = r.message(m)
	}
	return c
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
func (r *reader) fields(raw json.RawMessage, into map[string][]string, depth int) {
	var list []json.RawMessage
	if depth > 8 || len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, one := range list {
		r.field(one, into, depth)
	}
}

func (r *reader) field(raw json.RawMessage, into map[string][]string, depth int) {
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
	r.fields(f.Components, into, depth+1)
	if len(f.Component) > 0 && depth <= 8 {
		r.field(f.Component, into, depth+1)
	}
}
