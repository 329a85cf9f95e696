package discord

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// request is what an interaction asks for, besides its command and arguments.
func request(in interaction.Interaction, now time.Time) bot.Request {
	r := bot.Request{
		ID:       Name + ":" + in.ID,
		Who:      person(in.User),
		Where:    match.Room{Platform: Name, Channel: in.Channel.ID},
		Lang:     in.Locale,
		RoomLang: in.GuildLocale,
		At:       in.At,
		Manager:  in.Guild != "" && in.May.Has(rest.ManageGuild),
		Args:     map[string]string{},
		Shows:    true,
		Alone:    in.Guild == "" && !in.OnlyUser(),
		Reply: marshal(route{ID: in.ID, Token: in.Token, Channel: in.Channel.ID, Guild: in.Guild, Alone: in.OnlyUser(),
			Kind: in.Kind, At: now.UnixMilli(), Lang: in.Locale, Private: in.Message != nil && in.Message.Flags&rest.Ephemeral != 0}),
		NotAfter: now.Add(routeLife),
	}
	r.Moderator, r.Except = moderates(in)
	if in.Guild != "" && !in.OnlyUser() {
		r.Server = serverOf(in.Guild)
	}
	if in.Channel.IsThread() && in.Channel.Parent != "" {
		inThread(&r, in.Channel.Parent, in.Channel.ID)
	}
	return r
}

// inThread makes a thread of a channel the place of a request.
func inThread(r *bot.Request, channel, thread string) {
	r.Where.Channel, r.Where.Thread = channel, thread
	r.Under = string(receipt(channel, thread))
}

func person(u interaction.User) outbox.User {
	return outbox.User{Platform: Name, ID: u.ID, Name: nameOf(u)}
}

// nameOf returns the name that somebody chose for the server or for Discord, with their
// username if pictures cannot show it; or the username if nothing of those can be seen.
func nameOf(u interaction.User) string {
	for _, name := range []string{u.Nick, u.GlobalName} {
		if text.CleanName(name) != "" {
			return render.WithHandle(name, u.Username)
		}
	}
	return u.Username
}

// commanded puts a slash command or an entry of a menu into a request. It
// reports false if there is no such entry.
func commanded(r *bot.Request, c interaction.CommandData) bool {
	if c.Type != discordgo.ChatApplicationCommand && c.Type != 0 {
		m, ok := entry(c)
		if !ok {
			return false
		}
		r.Command = m.command
		r.Args[m.option] = c.Target
		if u, ok := c.Users[c.Target]; ok {
			r.Users = map[string]outbox.User{m.option: person(u)}
		}
		if said, ok := c.Messages[c.Target]; ok {
			r.Args[m.option] = drawn(said.Content)
		}
		return true
	}
	r.Command = commandAt(c.Name)
	for _, o := range c.Options {
		if o.Type == discordgo.ApplicationCommandOptionAttachment {
			continue // see withFile
		}
		r.Args[o.Name] = o.Text
		if u, ok := c.Users[o.Text]; ok && o.Type == discordgo.ApplicationCommandOptionUser {
			if r.Users == nil {
				r.Users = map[string]outbox.User{}
			}
			r.Users[o.Name] = person(u)
		}
	}
	if c, ok := r.Args["command"]; ok { // of which people want help: they name it as they type it
		r.Args["command"] = commandAt(strings.TrimPrefix(c, "/"))
	}
	return true
}

// noOpponent says why a bot is not challenged.
func (a *Adapter) noOpponent(u interaction.User) string {
	if u.ID == a.self {
		return wordNotMe
	}
	return wordNoBots
}

// entry finds the entry of a menu that somebody has chosen.
func entry(c interaction.CommandData) (menu, bool) {
	for _, m := range menus {
		if m.kind == c.Type && m.name == c.Name {
			return m, true
		}
	}
	return menu{}, false
}

// A route leads from a post back to the interaction or message that brought it about.
type route struct {
	ID      string           `json:"i,omitempty"`
	Token   string           `json:"t,omitempty"`
	Message string           `json:"s,omitempty"` // that somebody wrote; empty: it was an interaction
	Channel string           `json:"c"`           // where it was
	Guild   string           `json:"g,omitempty"`
	Alone   bool             `json:"a,omitempty"` // the bot is not in that channel and can only answer
	Kind    interaction.Kind `json:"k"`
	At      int64            `json:"m"`           // when it came, Unix milliseconds by this machine's clock
	Lang    string           `json:"l,omitempty"` // of the person's program
	Private bool             `json:"p,omitempty"` // the person used a control of a private message
}

// routeLife is how long a route is used: the token lives a little longer.
const routeLife = 14 * time.Minute

// marshal writes a route, or the data of a decoration. Nothing in them can fail.
func marshal(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// readRoute reads the route of a post. It reports whether the post can be an answer to an
// interaction.
func readRoute(s string, now time.Time) (r route, live bool) {
	if s == "" || json.Unmarshal([]byte(s), &r) != nil {
		return route{}, false
	}
	return r, r.Token != "" && now.Sub(time.UnixMilli(r.At)) < routeLife
}

// receipt names a message.
func receipt(channel, message string) outbox.Receipt { return outbox.Receipt(channel + "/" + message) }

// received is the receipt of what was sent.
func received(s *rest.Sent) outbox.Receipt { return receipt(s.Channel, s.ID) }

// readReceipt returns the channel and message of a receipt; empty if it is none.
func readReceipt(r string) (channel, message string) {
	channel, message, _ = strings.Cut(r, "/")
	if channel == "" || message == "" {
		return "", ""
	}
	return channel, message
}

// drawn is what stands between the marks of a block of code, or all there is.
func drawn(text string) string {
	_, block, ok := strings.Cut(text, "```")
	if !ok {
		return text
	}
	block, _, _ = strings.Cut(block, "```")
	if first, rest, ok := strings.Cut(block, "\n"); ok && strings.Trim(first, "abcdefghijklmnopqrstuvwxyz") == "" {
		return rest // without the name of a language
	}
	return block
}

// A key is the token of an interaction by which a message can be changed.
type key struct {
	token   string
	message string // empty: the first answer, or the message whose control was used
	until   time.Time
}

// answeredBy keeps by which interaction a message can be changed: its first answer, or the
// message whose control was used.
func (a *Adapter) answeredBy(x *pendingInteraction, message string) {
	a.keys.Add(string(receipt(x.in.Channel.ID, message)), key{token: x.in.Token, until: x.since.Add(routeLife)})
}
