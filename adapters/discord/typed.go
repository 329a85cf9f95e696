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
	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
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
func (a *Adapter) readMessage(raw json.RawMessage) func(done func()) {
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
	a.event.Set(time.Now())
	return func(done func()) { a.takeMessage(m, a.unlessCut(done)) }
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

// takeMessage has a message handled, in the order of its channel, once, and then calls done.
func (a *Adapter) takeMessage(m message, done func()) {
	if known, _ := a.seen.ContainsOrAdd("message "+m.ID, struct{}{}); known {
		done()
		return
	}
	err := a.requests.Go("channel "+m.Channel, func() {
		defer done()
		a.handleMessage(a.drainCtx, m)
	})
	if err != nil {
		a.log.Warn("too much at once, message ignored", "message", m.ID)
		done()
	}
}

// handleMessage asks for the turn that a message may be. The outbox shows what comes of it:
// there is no interaction that it could answer.
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
	var advice *bot.Text
	turn := false
	err = tried(ctx, func() (err error) {
		if m.mentions {
			advice, turn, err = a.addressed(ctx, &r, m)
		} else {
			r, turn, _, err = a.service.Bare(ctx, r, m.Content)
		}
		return err
	})
	if err != nil {
		a.log.Error("message not read", "message", m.ID, "error", err)
	}
	if advice == nil && !turn {
		return
	}
	switch a.limited(m.Author.ID, m.Channel) {
	case intake.Fine:
	case intake.TooMuch:
		a.trouble(ctx, r, wordTooMuch)
		return
	default:
		return
	}
	if advice != nil {
		a.tell(ctx, r, *advice)
		return
	}
	err = tried(ctx, func() error {
		_, err := a.service.Ask(ctx, r)
		return err
	})
	if err != nil {
		a.log.Error("request given up", "request", r.ID, "error", err)
		a.trouble(ctx, r, wordFailed)
	}
}

// addressed reads a message that mentions the bot: the request for a step of a game, or
// advice on what to do instead. Without a game there it is chat, except a call for help.
func (a *Adapter) addressed(ctx context.Context, r *bot.Request, m message) (advice *bot.Text, turn bool, err error) {
	var step bool
	var problem error
	r.Command, r.Args, step, problem = bot.Addressed(m.Content)
	here := true
	if _, _, turn := bot.BareTurn(m.Content); !turn {
		if _, here, err = a.service.Here(ctx, *r); err != nil {
			return nil, false, err
		}
	}
	help := bot.Mention{Command: "help"}.Mark()
	say := func(english string, args ...string) *bot.Text { return new(text.Adapters(english, args...)) }
	switch {
	case !here && (r.Command != "help" || problem != nil):
		return nil, false, nil
	case m.hidden:
		return say(wordRole), false, nil
	case !here:
		return say(wordOpen, bot.Mention{Command: "new"}.Mark(), help), false, nil
	case step:
		return nil, true, nil
	case errors.Is(problem, bot.ErrNotACommand):
		return say(wordUnclear, help), false, nil
	case problem != nil:
		return new(text.Explain(problem)), false, nil
	case r.Command == "help":
		return say(wordHelp, help), false, nil
	}
	return say(wordUse, bot.Mention{Command: r.Command}.Mark()), false, nil
}

// trouble tells somebody why their message was not handled; once while that reply stands,
// so that a burst of messages gets one.
func (a *Adapter) trouble(ctx context.Context, r bot.Request, english string) {
	key, now := r.Who.ID+" "+english, time.Now()
	if until, ok := a.warned.Get(key); ok && now.Before(until) {
		return
	}
	a.warned.Add(key, now.Add(repliesFor))
	a.tell(ctx, r, text.Adapters(english))
}

// tell replies to a message in the adapter's own words: at once if they cannot be stored.
func (a *Adapter) tell(ctx context.Context, r bot.Request, t bot.Text) {
	err := tried(ctx, func() error { return a.service.Tell(ctx, r, t) })
	if err == nil {
		return
	}
	a.log.Error("reply not stored, will send it at once, and it stays", "request", r.ID, "error", err)
	p := outbox.Post{ID: r.ID, Kind: match.Answer, Where: r.Where, Private: true, Text: text.English.Say(t), Reply: r.Reply}
	if _, _, err := a.show(ctx, p, nil); err != nil {
		a.log.Warn("message not answered", "request", r.ID, "error", err)
	}
}

// messageRequest makes a request of a message. The time at which it was written is in
// its id.
func (a *Adapter) messageRequest(ctx context.Context, m message) (bot.Request, error) {
	r := bot.Request{
		ID: Name + ":message:" + m.ID, Who: person(m.Author), Where: match.Room{Platform: Name, Channel: m.Channel},
		At: interaction.Time(m.ID), Flat: m.Guild == "", Alone: m.Guild == "",
		Reply: marshal(route{Message: m.ID, Channel: m.Channel, Guild: m.Guild}), NotAfter: time.Now().Add(repliesAfter),
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

const (
	repliesFor   = time.Minute      // a reply stays that only one person needs
	repliesAfter = 10 * time.Minute // no reply is sent any more
)

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
