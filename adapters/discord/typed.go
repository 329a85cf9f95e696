package discord

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// This file reads turns that people type in messages instead of commands. Messages come
// through the gateway alone. Discord shows the bot what they say if they mention it or
// are direct messages, and otherwise only with the intent for the content of messages.
// A reply to the bot mentions it too, but not if it replies to the answer of an
// interaction, as most boards are.

// intents are those of the gateway for messages, and for changes of permissions.
func (a *Adapter) intents() int {
	intents := gateway.Guilds | gateway.GuildMessages | gateway.DirectMessages
	if a.cfg.MessageContent {
		intents |= gateway.MessageContent
	}
	return intents
}

// A message is one that somebody has written, as far as it is read.
type message struct {
	ID      string                `json:"id"`
	Type    discordgo.MessageType `json:"type"`
	Channel string                `json:"channel_id"`
	Guild   string                `json:"guild_id"` // empty: a direct message
	Content string                `json:"content"`
	Author  interaction.User      `json:"author"`
	Webhook string                `json:"webhook_id"`
	Member  struct {
		Nick string `json:"nick"`
	} `json:"member"`

	Roles []string `json:"mention_roles"` // that it mentions

	mentions bool // it begins or ends with a mention of the bot; Content is without it
	hidden   bool // it mentions the bot's role, and Discord does not show what it says
}

// readMessage returns what is to be done about a message; nil: nothing, it is chat.
func (a *Adapter) readMessage(raw json.RawMessage) func() {
	var m message
	if json.Unmarshal(raw, &m) != nil || m.ID == "" || m.Author.ID == "" || m.Author.Bot || m.Webhook != "" ||
		m.Type != discordgo.MessageTypeDefault && m.Type != discordgo.MessageTypeReply {
		return nil
	}
	m.Author.Nick = m.Member.Nick
	m.Content, m.mentions = unaddressed(m.Content, "<@"+a.self+">", "<@!"+a.self+">")
	if _, _, turn := bot.BareTurn(m.Content); !turn {
		m.mentions = m.mentions || m.Guild == "" && m.Content != "" // what is written to the bot alone is for it
		if !m.mentions && len(m.Roles) == 0 {
			return nil
		}
	}
	return func() { a.takeMessage(m) }
}

// unaddressed takes one of the mentions off the beginning or end of a text, and reports
// whether there was one.
func unaddressed(text string, mentions ...string) (rest string, found bool) {
	text = strings.TrimSpace(text)
	for _, mention := range mentions {
		if rest, ok := strings.CutPrefix(text, mention); ok {
			return strings.TrimLeft(rest, " \t\n:,"), true
		}
		if rest, ok := strings.CutSuffix(text, mention); ok {
			return strings.TrimRight(rest, " \t\n"), true
		}
	}
	return text, false
}

// byRole reads a message that mentions roles. Discord offers the bot's own role beside the
// bot itself, and people who choose it mean the bot.
func (a *Adapter) byRole(ctx context.Context, m *message) error {
	own, known := a.roles.Get(m.Guild)
	if !known {
		var err error
		if own, err = a.rest.OwnRole(ctx, m.Guild, a.self); err != nil {
			return err
		}
		a.roles.Add(m.Guild, own)
	}
	if own != "" && slices.Contains(m.Roles, own) {
		m.hidden = m.Content == ""
		m.Content, m.mentions = unaddressed(m.Content, "<@&"+own+">")
		m.mentions = m.mentions || m.hidden
	}
	return nil
}

// takeMessage has a message handled, in the order of its channel, once.
func (a *Adapter) takeMessage(m message) {
	if known, _ := a.seen.ContainsOrAdd("message "+m.ID, struct{}{}); known {
		return
	}
	if a.requests.Go("channel "+m.Channel, func() { a.handleMessage(a.drainCtx, m) }) != nil {
		a.log.Warn("too much at once, message ignored", "message", m.ID)
	}
}

// handleMessage asks for the turn that a message may be. The board is shown by the
// outbox: there is no interaction whose answer it could be.
func (a *Adapter) handleMessage(ctx context.Context, m message) {
	r, err := a.messageRequest(ctx, m)
	if err != nil {
		a.log.Warn("channel of a message not found, message ignored", "message", m.ID, "error", err)
		return
	}
	if !m.mentions && len(m.Roles) > 0 && m.Guild != "" {
		if err := a.byRole(ctx, &m); err != nil {
			a.log.Warn("role of the bot not found, message ignored", "message", m.ID, "error", err)
			return
		}
	}
	answer := outbox.Post{Private: true}
	if m.mentions {
		var step, here bool
		var problem error
		r.Command, r.Args, step, problem = bot.Addressed(m.Content)
		if _, _, turn := bot.BareTurn(m.Content); !turn { // elsewhere it is chat, except a call for help
			err := tried(ctx, func() (err error) {
				answer.Lang, here, err = a.service.Here(ctx, r)
				return err
			})
			if err != nil {
				a.log.Error("message not read", "message", m.ID, "error", err)
			}
			if !here && (r.Command != "help" || problem != nil) {
				return
			}
		}
		answer.Text = a.advice(answer.Lang, r.Command, step, problem)
		if !here && r.Command == "help" {
			answer.Text = bot.Translated(answer.Lang, wordOpen, bot.Mention{Command: "new"}.Mark(), bot.Mention{Command: "help"}.Mark())
		}
		if m.hidden {
			answer.Text = bot.Translated(answer.Lang, wordRole)
		}
	} else {
		turn := false
		err := tried(ctx, func() (err error) {
			r, turn, _, err = a.service.Bare(ctx, r, m.Content)
			return err
		})
		if err != nil {
			a.log.Error("message not read", "message", m.ID, "error", err)
		}
		if !turn {
			return
		}
	}
	switch a.limited(m.Author.ID, m.Channel) {
	case intake.Fine:
		if answer.Text != "" {
			break
		}
		err = tried(ctx, func() (err error) {
			r.Tells = true
			got, err := a.service.Ask(ctx, r)
			answer = got.Own()
			return err
		})
	case intake.TooMuch:
		answer = a.trouble(ctx, r, wordTooMuch)
	default:
		return
	}
	if err != nil {
		a.log.Error("request given up", "request", r.ID, "error", err)
		answer = a.trouble(ctx, r, wordFailed)
	}
	if !answer.Empty() {
		a.replyTo(ctx, m, bot.Unshared(answer))
	}
}

// trouble returns the answer of the adapter's own to a request that was not asked, or not
// answered, in the language of the place. It is empty while the last such reply to the
// person stands, so that a burst of messages gets one.
func (a *Adapter) trouble(ctx context.Context, r bot.Request, english string) outbox.Post {
	key, now := r.Who.ID+" "+english, time.Now()
	if until, ok := a.warned.Get(key); ok && now.Before(until) {
		return outbox.Post{}
	}
	a.warned.Add(key, now.Add(repliesFor))
	lang, _, err := a.service.Here(ctx, r)
	if err != nil {
		a.log.Debug("language of a reply not found", "request", r.ID, "error", err)
	}
	return outbox.Post{Text: bot.Translated(lang, english), Lang: lang, Private: true}
}

// advice says what to do instead to somebody who has mentioned the bot with something
// that is no step of a game; empty: it is one.
func (a *Adapter) advice(lang, command string, step bool, problem error) string {
	help := bot.Mention{Command: "help"}.Mark()
	switch {
	case step:
		return ""
	case errors.Is(problem, bot.ErrNotACommand):
		return bot.Translated(lang, wordUnclear, help)
	case problem != nil:
		return bot.Explain(problem, lang)
	case command == "help":
		return bot.Translated(lang, wordHelp, help)
	}
	return bot.Translated(lang, wordUse, bot.Mention{Command: command}.Mark())
}

// messageRequest makes a request of a message. The time at which it was written is in
// its id.
func (a *Adapter) messageRequest(ctx context.Context, m message) (bot.Request, error) {
	r := bot.Request{
		ID: Name + ":message:" + m.ID, Who: person(m.Author), Where: match.Room{Platform: Name, Channel: m.Channel},
		At: interaction.Time(m.ID), Flat: m.Guild == "", Alone: m.Guild == "",
	}
	if m.Guild == "" {
		return r, nil
	}
	r.Server = serverOf(m.Guild)
	at, err := a.room(ctx, m.Channel)
	if err == nil && (interaction.Channel{Type: at.kind}).IsThread() && at.parent != "" {
		inThread(&r, at.parent, m.Channel)
	}
	return r, err
}

// repliesFor is how long a reply stays that only one person needs.
const repliesFor = time.Minute

// replyTo answers a message, quietly. Everybody reads it: Discord knows no message for one
// person alone but as an answer to an interaction. What is for one person is therefore
// deleted again, and in a server it has no buttons: the opponent could press "Resign". The
// text names the command.
func (a *Adapter) replyTo(ctx context.Context, m message, answer outbox.Post) {
	if answer.Private && m.Guild != "" {
		answer.Controls = nil
	}
	ms, err := content{text: a.written(answer.Text), lang: answer.Lang, controls: answer.Controls}.messages()
	if err != nil || len(ms) == 0 {
		a.log.Error("reply not drawn", "message", m.ID, "error", err)
		return
	}
	reply := ms[0]
	reply.Answers, reply.Flags, reply.Nonce = &rest.Reference{Message: m.ID}, rest.SuppressNotifications, rest.Nonce("reply "+m.ID)
	if answer.Private { // the program may be killed while it sends
		a.owesRemoval(ctx, m, "")
	}
	sent, err := a.rest.Send(ctx, m.Channel, reply)
	if err != nil {
		a.log.Warn("message not answered", "message", m.ID, "error", err)
		if answer.Private && final(err) { // there is nothing to delete
			if err := a.service.Owe(ctx, match.Room{Platform: Name, Channel: m.Channel}, outbox.Owes{Kind: match.Remove, Key: "reply " + m.ID, Done: true}); err != nil {
				a.log.Error("removal of a reply that was not sent stays stored", "message", m.ID, "error", err)
			}
		}
		return
	}
	if answer.Private {
		a.owesRemoval(ctx, m, received(sent))
	}
}

// owesRemoval stores that the reply to a message is to be deleted. Before it is sent
// there is no receipt: then it is looked for.
func (a *Adapter) owesRemoval(ctx context.Context, m message, reply outbox.Receipt) {
	goes := outbox.Owes{Kind: match.Remove, Key: "reply " + m.ID, Target: reply, Data: string(receipt(m.Channel, m.ID)), NotBefore: time.Now().Add(repliesFor)}
	if err := a.service.Owe(ctx, match.Room{Platform: Name, Channel: m.Channel}, goes); err != nil {
		a.log.Error("reply may stay: its end is not stored", "message", m.ID, "error", err)
	}
}

// replyOf finds the bot's reply to the message of a receipt; empty: there is none.
func (a *Adapter) replyOf(ctx context.Context, to string) (channel, reply string, err error) {
	channel, message := readReceipt(to)
	if message == "" {
		return "", "", nil
	}
	page, err := a.rest.Messages(ctx, channel, message, 100)
	if i := slices.IndexFunc(page, func(s rest.Sent) bool { return s.Author.ID == a.self && s.Answers.Message == message }); i >= 0 {
		reply = page[i].ID
	}
	return channel, reply, err
}

// howToMove says how people move in the thread of a game, with a point of that board for
// example; empty: they cannot type their moves there.
func (a *Adapter) howToMove(lang string, board []string) string {
	place := a.written(bot.Mention{Command: "place"}.Mark())
	point := match.Example(board)
	switch {
	case a.cfg.Listen != "": // no messages come
		return ""
	case a.cfg.MessageContent:
		return small + bot.Translated(lang, wordType, place, point)
	}
	return small + bot.Translated(lang, wordMention, place, "<@"+a.self+">", point)
}
