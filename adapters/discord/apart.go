package discord

import (
	"context"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Games of events: an event can open dozens at a time, so they have no messages of their own
// in the channel. The notice that such a game begins becomes its thread, which is under no
// message, and the first board says what the notice says. The receipt of the notice is
// "channel/thread", as if a message of the channel had begun the thread. Commands in the
// thread therefore mean the game, and its later posts go there.

// hosting is what the bot must be permitted where an event is organised.
const hosting = rest.ViewChannel | rest.SendMessages | threading

// apartEvery is the time between the beginnings of two threads of games in a channel.
const apartEvery = 3 * time.Second

// Hosts reports whether the games of an event can have threads in a room; see [bot.Host].
func (a *Adapter) Hosts(ctx context.Context, where match.Room) error {
	at, err := a.room(ctx, where.Channel)
	switch {
	case rest.Forbidden(err), rest.Gone(err), err == nil && apartType(at) == 0:
		return outbox.ErrGone
	case err != nil:
		return err
	}
	may := at.may
	if !at.mayKnow || where.Thread != "" {
		if may, err = a.mayDo(ctx, where.Channel); err != nil {
			return err
		}
		a.learned(where.Channel, may, true)
	}
	if missing := may.Missing(hosting); len(missing) > 0 {
		return outbox.Forbidden{Permission: strings.Join(missing, ", ")}
	}
	return nil
}

// apartType returns the type of threads under no message of a channel; 0: it has none.
func apartType(at room) discordgo.ChannelType {
	switch at.kind {
	case discordgo.ChannelTypeGuildText:
		return discordgo.ChannelTypeGuildPublicThread
	case discordgo.ChannelTypeGuildNews:
		return discordgo.ChannelTypeGuildNewsThread
	}
	return 0
}

// begins reports whether the post is the notice that becomes the thread of its game.
func (d *delivery) begins() bool {
	p := d.p
	return p.Apart != nil && p.Kind == match.Notice && p.Begins != "" && p.Under == "" && p.Where.Thread == "" && d.x == nil && p.State != match.Cancelled
}

// startApart starts the thread of a game of an event, unless an earlier attempt has. It reports
// false if the channel takes none: the game is played there.
func (d *delivery) startApart(ctx context.Context) (sent outbox.Receipt, done bool, err error) {
	a, p, channel := d.a, d.p, d.p.Where.Channel
	at, err := a.room(ctx, channel)
	if err != nil {
		return "", true, a.refusedBy(ctx, err, channel, false)
	}
	kind := apartType(at)
	if kind == 0 || len(at.missing(threading)) > 0 {
		return "", false, nil
	}
	if wait := a.turnOf(channel, string(p.Game)); wait > 0 {
		return "", true, outbox.RetryAfter{Wait: wait}
	}
	name, thread := threadName(p), ""
	if p.Attempt > 1 && !p.Unsent {
		if thread, err = d.lookForThread(ctx, name); err != nil {
			return "", true, err
		}
	}
	if thread == "" {
		t, err := a.rest.StartThread(ctx, channel, rest.NewThread{Name: name, AutoArchive: autoArchive, Type: kind})
		if final(err) && status(err) != 0 && !rest.Gone(err) {
			a.log.Warn("thread not created, game stays in the channel", "channel", channel, "error", err)
			return "", false, nil
		}
		if err != nil {
			return "", true, outboxError(err, "")
		}
		thread = t.ID
	}
	a.threads.Add(thread, true)
	a.parents.Add(thread, channel)
	return receipt(channel, thread), true, nil
}

// turnOf returns how long a game waits for its turn to begin a thread in a channel.
func (a *Adapter) turnOf(channel, game string) time.Duration {
	a.apart.Lock()
	defer a.apart.Unlock()
	now := time.Now()
	at, has := a.turns.Get(game)
	if !has {
		next, _ := a.turns.Get("next in " + channel)
		if at = now; next.After(now) {
			at = next
		}
		a.turns.Add("next in "+channel, at.Add(apartEvery))
		a.turns.Add(game, at)
	}
	return at.Sub(now)
}

// lookForThread looks for the thread that an earlier attempt may have started: Discord said so
// in a message.
func (d *delivery) lookForThread(ctx context.Context, name string) (thread string, err error) {
	err = d.a.threadMessages(ctx, d.p.Where.Channel, d.p.At.Add(-time.Minute), func(s rest.Sent) bool { // clocks differ
		if s.Content == name {
			thread = s.Answers.Channel
		}
		return thread != ""
	})
	return thread, err
}

// threadMessages passes the messages after a time that say that the bot has started a thread in a
// channel, until done returns true. Where the bot may read none there are none.
func (a *Adapter) threadMessages(ctx context.Context, channel string, from time.Time, done func(rest.Sent) bool) error {
	for range looked {
		page, err := a.rest.Messages(ctx, channel, snowflake(from), 100)
		if rest.Forbidden(err) || rest.Gone(err) {
			return nil
		} else if err != nil {
			return outboxError(err, "")
		}
		for _, s := range page {
			if s.Author.ID == a.self && s.Type == int(discordgo.MessageTypeThreadCreated) && done(s) {
				return nil
			}
		}
		if len(page) < 100 {
			break
		}
		from = interaction.Time(page[0].ID).Add(time.Millisecond) // after the newest
	}
	return nil
}

// started is the kind of the decoration that removes the message by which Discord says in a
// channel that the bot has started a thread.
const started = "thread-started"

// announces returns the removal of that message.
func (d *delivery) announces(sent outbox.Receipt) []outbox.Owes {
	_, thread := readReceipt(string(sent))
	return []outbox.Owes{{Kind: started, Key: thread, Target: sent}}
}

// removeStarted removes the message that says that a thread was started. If it is not there, or
// Discord refuses, it stays: nothing depends on it.
func (a *Adapter) removeStarted(ctx context.Context, p outbox.Post) error {
	channel, thread := readReceipt(p.Replaces)
	message := ""
	err := a.threadMessages(ctx, channel, interaction.Time(thread).Add(-time.Second), func(s rest.Sent) bool {
		if s.Answers.Channel == thread {
			message = s.ID
		}
		return message != ""
	})
	if err != nil || message == "" {
		return err
	}
	if err = a.rest.Delete(ctx, channel, message); final(err) {
		return nil
	}
	return outboxError(err, "")
}
