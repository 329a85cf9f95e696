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

// place finds out where a post goes, and starts its thread if it has none. A game
// that is played in the channel stays there.
func (a *Adapter) place(ctx context.Context, p outbox.Post, r route) (place, error) {
	if p.Where.Thread != "" {
		return place{channel: p.Where.Thread}, nil
	}
	parent := place{channel: p.Where.Channel}
	channel, message := readReceipt(p.Under)
	if channel != p.Where.Channel || r.Alone || p.Opening != "" {
		return parent, nil
	}
	if there, known := a.threads.Get(message); known {
		if there {
			return under(message), nil
		}
		return parent, nil
	}
	switch before, _ := readReceipt(p.Previous); before {
	case message:
		return under(message), nil
	case channel:
		return parent, nil
	}
	at, err := a.room(ctx, channel)
	if err != nil {
		return parent, err
	}
	if at.kind != discordgo.ChannelTypeGuildText && at.kind != discordgo.ChannelTypeGuildNews {
		return parent, nil
	}
	if p.Kind != match.Show { // the thread begins with the first board
		switch _, err := a.rest.Channel(ctx, message); {
		case err == nil:
			a.threads.Add(message, true)
			return under(message), nil
		case rest.Gone(err):
			return parent, nil
		default:
			return parent, err
		}
	}
	if missing := at.may.Missing(threading); at.mayKnow && len(missing) > 0 {
		a.threads.Add(message, false)
		return a.without(parent, p.Lang, missing), nil
	}
	_, err = a.rest.StartThreadUnder(ctx, channel, message, rest.NewThread{Name: threadName(p), AutoArchive: autoArchive})
	switch {
	case err == nil, rest.Code(err) == discordgo.ErrCodeThreadAlreadyCreatedForThisMessage:
		a.threads.Add(message, true)
		return under(message), nil
	case final(err): // not permitted, the message is gone, no threads there
		a.threads.Add(message, false)
		a.log.Warn("thread not created, game stays in the channel", "channel", channel, "error", err)
		if rest.Forbidden(err) {
			return a.without(parent, p.Lang, rest.Permissions(0).Missing(threading)), nil
		}
		return parent, nil
	}
	return parent, err
}

// under is the thread under a message.
func under(message string) place { return place{channel: message, under: true} }

// without returns the channel as the place of a game that has no thread because the bot
// lacks permissions. A hint says so once for each channel.
func (a *Adapter) without(parent place, lang string, missing []string) place {
	if a.once("thread " + parent.channel) {
		parent.hint = bot.Translated(lang, wordNoThreads, strings.Join(missing, ", "))
	}
	return parent
}

// threadName names the thread of a game after its players and ruleset.
func threadName(p outbox.Post) string {
	n := strconv.Itoa(p.Number)
	if p.Scene == nil || p.Scene.Black.Name == "" || p.Scene.White.Name == "" {
		return bot.Translated(p.Lang, wordThread, n)
	}
	name := bot.Translated(p.Lang, wordThreadOf, n, p.Scene.Black.Name, p.Scene.White.Name)
	if p.Scene.Ruleset != "" {
		name += " · " + p.Scene.Ruleset
	}
	return clipped(name, maxThread)
}

// clipped shortens a name to most characters as Discord counts them, between those that
// people see: an emoji may be made of several.
func clipped(name string, most int) string {
	if units(name) <= most {
		return name
	}
	out := ""
	for g := uniseg.NewGraphemes(name); g.Next() && units(out+g.Str()) < most; {
		out += g.Str()
	}
	return strings.TrimRight(out, " ·–") + "…"
}

// units is how many characters Discord counts in a text at most.
func units(s string) int { return len(utf16.Encode([]rune(s))) }

// threadsOf takes note of which channels the threads belong to that a post names.
func (a *Adapter) threadsOf(p outbox.Post) {
	channel := p.Where.Channel
	if p.Private || channel == "" {
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
