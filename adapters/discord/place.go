package discord

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"
	"github.com/rivo/uniseg"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/lru"
)

const (
	autoArchive = 7 * 24 * 60 // minutes: the longest there is
	maxThread   = 100         // characters of its name
)

// A cache keeps what was learned of Discord, to ask less.
type cache[T any] = lru.Cache[string, T]

func newCache[T any](size int) *cache[T] { return lru.New[string, T](size) }

// once reports whether it is called with this hint for the first time.
func (a *Adapter) once(what string) bool {
	said, _ := a.hints.ContainsOrAdd(what, struct{}{})
	return !said
}

// A room is a channel as the last interaction there described it.
type room struct {
	kind    discordgo.ChannelType
	guild   string
	parent  string // of a thread
	mayKnow bool   // may is known
	may     rest.Permissions
}

// missing names the permissions that the bot is known to lack.
func (r room) missing(what rest.Permissions) []string {
	if !r.mayKnow {
		return nil
	}
	return r.may.Missing(what)
}

// met learns of the channel of an interaction.
func (a *Adapter) met(in interaction.Interaction) {
	if in.OnlyUser() {
		return
	}
	r := room{kind: in.Channel.Type, guild: in.Guild, parent: in.Channel.Parent, mayKnow: in.Guild != "", may: in.BotMay}
	a.rooms.Add(in.Channel.ID, r)
	if r.mayKnow && !r.may.Has(rest.ViewChannel) {
		a.hidden(in.Channel.ID, in.Guild)
	}
	if in.Channel.IsThread() {
		a.threads.Add(in.Channel.ID, true)
		// Permissions in a thread are those of its channel, except for sending.
	}
}

// room returns a channel, asking Discord if need be.
func (a *Adapter) room(ctx context.Context, id string) (room, error) {
	if r, ok := a.rooms.Get(id); ok {
		return r, nil
	}
	c, err := a.rest.Channel(ctx, id)
	if err != nil {
		return room{}, err
	}
	r := room{kind: c.Type, guild: c.GuildID, parent: c.ParentID}
	a.rooms.Add(id, r)
	return r, nil
}

// mayDo reads what the bot may do in a channel, or in the parent of a thread.
func (a *Adapter) mayDo(ctx context.Context, channel string) (rest.Permissions, error) {
	at, err := a.room(ctx, channel)
	if err != nil {
		return 0, err
	}
	if at.guild == "" {
		return 0, errors.New("not in a server")
	}
	return a.rest.Permissions(ctx, at.guild, channel)
}

// learned writes down what the bot may do in a channel, if it is known.
func (a *Adapter) learned(channel string, may rest.Permissions, known bool) {
	if r, ok := a.rooms.Get(channel); ok {
		r.may, r.mayKnow = may, known
		a.rooms.Add(channel, r)
	}
}

// permits reports whether the bot is known to be permitted something in a channel.
func (a *Adapter) permits(channel string, what rest.Permissions) bool {
	r, ok := a.rooms.Get(channel)
	return ok && r.mayKnow && r.may.Has(what)
}

// needed is what the bot must be permitted where a game is played.
func needed(thread bool) rest.Permissions {
	if thread {
		return rest.ViewChannel | rest.SendMessagesInThreads
	}
	return rest.ViewChannel | rest.SendMessages
}

// opening are the commands that open a game. The game is played where it was opened.
var opening = map[string]bool{"new": true, "join": true, "rematch": true}

// missing names the permissions without which a command had better not be asked.
func (a *Adapter) missing(in interaction.Interaction, command string) string {
	if in.Guild == "" || in.OnlyUser() || !opening[command] {
		return ""
	}
	return strings.Join(in.BotMay.Missing(needed(in.Channel.IsThread())), ", ")
}

// A place is where a post goes.
type place struct {
	channel string
	under   bool   // the game's own thread: were it deleted the game would go on in the channel
	hint    string // to be read with it
}

// threading is what the bot must be permitted for a game to have its thread.
const threading = rest.CreatePublicThreads | rest.SendMessagesInThreads

// place finds out where a post goes, and starts the thread of a game with its first board.
// A game that is played in the channel stays there.
func (a *Adapter) place(ctx context.Context, p outbox.Post, r route) (place, error) {
	parent := place{channel: p.Where.Channel}
	channel, message := readReceipt(p.Under)
	before, _ := readReceipt(p.Previous)
	there, known := a.threads.Get(message)
	switch {
	case p.Kind == match.Answer:
		return place{channel: r.Channel}, nil
	case p.Where.Thread != "":
		return place{channel: p.Where.Thread}, nil
	case channel != p.Where.Channel, r.Alone, p.Opening != "", known && !there:
		return parent, nil
	case known, before == message:
		return under(message), nil
	case before == channel:
		return parent, nil
	}
	at, err := a.room(ctx, channel)
	switch {
	case err != nil:
		return parent, err
	case at.kind != discordgo.ChannelTypeGuildText && at.kind != discordgo.ChannelTypeGuildNews:
		return parent, nil
	case p.Kind == match.Show && p.Apart == nil:
		return a.startThread(ctx, p, at, message)
	}
	_, err = a.rest.Channel(ctx, message)
	switch {
	case err == nil:
		a.threads.Add(message, true)
		return under(message), nil
	case rest.Gone(err):
		err = nil
	}
	return parent, err
}

// startThread starts the thread of a game under its first message. If the channel takes
// none, now or ever, the game stays there.
func (a *Adapter) startThread(ctx context.Context, p outbox.Post, at room, message string) (place, error) {
	parent := place{channel: p.Where.Channel}
	missing := at.missing(threading)
	if len(missing) == 0 {
		_, err := a.rest.StartThreadUnder(ctx, parent.channel, message, rest.NewThread{Name: threadName(p), AutoArchive: autoArchive})
		switch {
		case err == nil, rest.Code(err) == discordgo.ErrCodeThreadAlreadyCreatedForThisMessage:
			a.threads.Add(message, true)
			return under(message), nil
		case !final(err):
			return parent, err
		case rest.Forbidden(err):
			missing = rest.Permissions(0).Missing(threading)
		}
		a.log.Warn("thread not created, game stays in the channel", "channel", parent.channel, "error", err)
	}
	a.threads.Add(message, false)
	if len(missing) > 0 && a.once("thread "+parent.channel) {
		parent.hint = bot.Translated(p.Lang, wordNoThreads, strings.Join(missing, ", "))
	}
	return parent, nil
}

// under is the thread under a message.
func under(message string) place { return place{channel: message, under: true} }

// threadName names the thread of a game after its players and ruleset.
func threadName(p outbox.Post) string {
	var black, white, ruleset string
	switch s := p.Scene; {
	case p.Apart != nil:
		black, white, ruleset = text.CleanName(p.Apart.Black.Name), text.CleanName(p.Apart.White.Name), p.Apart.Ruleset
	case s != nil:
		black, white, ruleset = s.Black.Name, s.White.Name, s.Ruleset
	}
	n := strconv.Itoa(p.Number)
	if black == "" || white == "" {
		return bot.Translated(p.Lang, wordThread, n)
	}
	name := bot.Translated(p.Lang, wordThreadOf, n, black, white)
	if ruleset != "" {
		name += " · " + ruleset
	}
	return clipped(name, maxThread)
}

// clipped shortens a name to most characters as Discord counts them, between those that
// people see: an emoji may be made of several.
func clipped(name string, most int) string {
	if length(name) <= most {
		return name
	}
	out := ""
	for g := uniseg.NewGraphemes(name); g.Next() && length(out+g.Str()) < most; {
		out += g.Str()
	}
	return strings.TrimRight(out, " ·–") + "…"
}

// length is how many characters Discord counts in a text at most.
func length(s string) int { return len(utf16.Encode([]rune(s))) }

// threadsOf takes note of which channels the threads belong to that a post names.
func (a *Adapter) threadsOf(p outbox.Post) {
	channel := p.Where.Channel
	if p.Private || channel == "" || p.Kind == match.Answer {
		return
	}
	_, below := readReceipt(p.Under) // a thread has the id of the message that it is under
	replaced, _ := readReceipt(p.Replaces)
	previous, _ := readReceipt(p.Previous)
	for _, thread := range []string{p.Where.Thread, below, replaced, previous} {
		if thread != "" && thread != channel {
			a.parents.Add(thread, channel)
		}
	}
}
