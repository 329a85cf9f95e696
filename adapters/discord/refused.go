package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Discord counts what it refuses, and bans a bot that does not learn from it. What a
// channel has refused is therefore asked again only for a reason: an interaction says that
// the bot is permitted it by now, the gateway tells of a change, or hours have passed.
const (
	maxRefusals = 3               // in a row, although the bot seemed to be permitted it
	barredFor   = 6 * time.Hour   // without any other reason
	changedFor  = 2 * time.Minute // after a refusal, until a change that the gateway tells of is a reason
	lookEvery   = time.Minute     // between two looks whether a locked thread is open again
)

// An access is what a request needs to do in a channel.
type access string

const (
	sees     access = "see" // anything at all
	reads    access = "read"
	writes   access = "write"
	attaches access = "attach" // write or edit, with files
	edits    access = "edit"
	deletes  access = "delete"
	starts   access = "start" // a thread
	closes   access = "close" // a thread
)

// needs returns the permissions for an access in a channel or a thread.
func (w access) needs(thread bool) rest.Permissions {
	switch w {
	case writes:
		return needed(thread)
	case attaches:
		return rest.ViewChannel | rest.AttachFiles
	case starts:
		return rest.ViewChannel | rest.CreatePublicThreads
	case reads:
		return rest.ViewChannel | rest.ReadMessageHistory
	}
	return rest.ViewChannel
}

// A refusal is what a channel has refused, last and in a row.
type refusal struct {
	err    error  // Discord's
	why    error  // as Deliver gives it; nil: not found out yet
	locked bool   // the thread is
	guild  string // empty: not known
	times  int
	at     time.Time
	looked time.Time // whether the thread is open again
	heard  bool      // of a change since
}

// A barred error says that Discord was not asked, because it has refused the like before.
// It wraps what Discord said then.
type barred struct{ refusal }

// Error says what was refused.
func (e barred) Error() string { return "not asked again: " + e.err.Error() }

// Unwrap returns Discord's refusal.
func (e barred) Unwrap() error { return e.err }

// A client asks Discord, but does not ask a channel for what it has refused.
type client struct {
	*rest.Client
	a *Adapter
}

// in asks for something in a channel unless that is known to be refused, and takes note
// of the outcome.
func in[T any](c client, channel string, what access, files []rest.File, ask func() (T, error)) (out T, err error) {
	needs := []access{what}
	if len(files) > 0 {
		needs = append(needs, attaches)
	}
	if err := c.a.barredFrom(channel, needs...); err != nil {
		return out, err
	}
	out, err = ask()
	c.a.learn(channel, needs, err)
	return out, err
}

// Send sends a message.
func (c client) Send(ctx context.Context, channel string, m rest.Message) (*rest.Sent, error) {
	return in(c, channel, writes, m.Files, func() (*rest.Sent, error) { return c.Client.Send(ctx, channel, m) })
}

// Edit changes a message of the bot's own. While the token of the interaction lives that
// the message answered, or on which it was pressed, Edit uses that: it needs no
// permission and no place in the channel's bucket.
func (c client) Edit(ctx context.Context, channel, message string, m rest.Message) (*rest.Sent, error) {
	is := string(receipt(channel, message))
	if by, ok := c.a.keys.Get(is); ok && time.Now().Before(by.until) {
		s, err := c.EditFollowUp(ctx, by.token, cmp.Or(by.message, "@original"), m)
		if status(err) == http.StatusOK || isAmbiguous(err) {
			c.a.changedTo(is, m, err)
			return s, err
		}
		c.a.keys.Remove(is)
	}
	s, err := in(c, channel, edits, m.Files, func() (*rest.Sent, error) { return c.Client.Edit(ctx, channel, message, m) })
	c.a.changedTo(is, m, err)
	return s, err
}

// Delete takes a message away.
func (c client) Delete(ctx context.Context, channel, message string) error {
	_, err := in(c, channel, deletes, nil, func() (struct{}, error) { return struct{}{}, c.Client.Delete(ctx, channel, message) })
	return err
}

// Messages reads messages of a channel.
func (c client) Messages(ctx context.Context, channel, after string, limit int) ([]rest.Sent, error) {
	return in(c, channel, reads, nil, func() ([]rest.Sent, error) { return c.Client.Messages(ctx, channel, after, limit) })
}

// Channel reads a channel or a thread.
func (c client) Channel(ctx context.Context, channel string) (*discordgo.Channel, error) {
	return in(c, channel, sees, nil, func() (*discordgo.Channel, error) { return c.Client.Channel(ctx, channel) })
}

// StartThreadUnder starts a thread under a message.
func (c client) StartThreadUnder(ctx context.Context, channel, message string, t rest.NewThread) (*discordgo.Channel, error) {
	return in(c, channel, starts, nil, func() (*discordgo.Channel, error) { return c.Client.StartThreadUnder(ctx, channel, message, t) })
}

// StartThread starts a thread that is under no message.
func (c client) StartThread(ctx context.Context, channel string, t rest.NewThread) (*discordgo.Channel, error) {
	return in(c, channel, starts, nil, func() (*discordgo.Channel, error) { return c.Client.StartThread(ctx, channel, t) })
}

// CloseThread gives a thread a name and archives it.
func (c client) CloseThread(ctx context.Context, thread, name string) error {
	_, err := in(c, thread, closes, nil, func() (struct{}, error) { return struct{}{}, c.Client.CloseThread(ctx, thread, name) })
	return err
}

// barredKey is where the refusal of an access in a channel is kept. What the bot may do in
// public threads is the same in all of a channel, unless one is locked.
func (a *Adapter) barredKey(channel string, what access) string {
	r, ok := a.rooms.Get(channel)
	if parent := a.parentOf(channel); parent != "" && !(ok && r.kind == discordgo.ChannelTypeGuildPrivateThread) {
		if what == sees {
			return parent + " " + string(what)
		}
		return parent + " " + string(what) + " in threads"
	}
	return channel + " " + string(what)
}

// lockedKey is where it is kept that a thread is locked.
func lockedKey(thread string) string { return thread + " " + string(writes) }

// parentOf returns the channel of a thread, if the bot knows it; empty: none.
func (a *Adapter) parentOf(channel string) string {
	if r, ok := a.rooms.Get(channel); ok && r.parent != "" && (&discordgo.Channel{Type: r.kind}).IsThread() {
		return r.parent
	}
	parent, _ := a.parents.Get(channel)
	return parent
}

// barredFrom returns the refusal because of which a channel is not asked for what needs
// these accesses; nil: it is asked.
func (a *Adapter) barredFrom(channel string, needs ...access) error {
	parent := a.parentOf(channel)
	is := func(key string, what access) (r refusal, is bool) {
		r, is = a.barred.Get(key)
		return r, is && !a.mayAgain(r, what.needs(parent != ""), channel, parent)
	}
	for _, what := range append([]access{sees}, needs...) {
		if r, is := is(a.barredKey(channel, what), what); is {
			return barred{r}
		}
	}
	if needs[0] == writes {
		if r, is := is(lockedKey(channel), writes); is {
			return barred{r}
		}
	}
	return nil
}

// mayAgain reports whether there is a reason to ask again for what was refused.
func (a *Adapter) mayAgain(r refusal, needs rest.Permissions, channel, parent string) bool {
	since := time.Since(r.at)
	if r.locked {
		needs = rest.ManageThreads
	}
	permitted := a.permits(channel, needs) || a.permits(parent, needs)
	return since >= barredFor || r.heard && (since >= changedFor || r.locked) || r.times < maxRefusals && permitted
}

// learn takes note of how Discord has answered a request that needs accesses to a channel.
func (a *Adapter) learn(channel string, needs []access, err error) {
	if err == nil {
		for _, what := range append([]access{sees}, needs...) {
			a.barred.Remove(a.barredKey(channel, what))
		}
		if needs[0] == writes {
			a.barred.Remove(lockedKey(channel))
		}
		return
	}
	if !final(err) {
		return
	}
	what, code := needs[len(needs)-1], rest.Code(err)
	locked := needs[0] == writes && (code == discordgo.ErrCodeThreadIsLocked || code == discordgo.ErrCodePerformedOperationOnArchivedThread)
	switch {
	case locked:
	case code == discordgo.ErrCodeMissingAccess:
		what = sees
	case status(err) != http.StatusForbidden || slices.Contains(ofMessage, code):
		return
	}
	parent, key := a.parentOf(channel), a.barredKey(channel, what)
	if locked {
		key = lockedKey(channel)
	} else { // what was heard before is out of date
		if locked := lockedKey(channel); locked != key {
			a.barred.Remove(locked)
		}
		a.learned(channel, 0, false)
		a.learned(parent, 0, false)
	}
	guild := ""
	for _, id := range []string{channel, parent} {
		if r, ok := a.rooms.Get(id); ok {
			guild = cmp.Or(guild, r.guild)
		}
	}
	before, _ := a.barred.Get(key)
	a.barred.Add(key, refusal{err: err, locked: locked, guild: guild, times: before.times + 1, at: time.Now()})
}

// ofMessage are the codes of refusals that concern one message or one person, and not the
// channel.
var ofMessage = []int{discordgo.ErrCodeCannotEditFromAnotherUser, discordgo.ErrCodeCannotSendMessagesToThisUser, discordgo.ErrCodeCannotExecuteActionOnSystemMessage}

// hidden takes note that an interaction says that the bot does not see its channel, which
// need not be asked then.
func (a *Adapter) hidden(channel, guild string) {
	key := a.barredKey(channel, sees)
	r, _ := a.barred.Get(key)
	r.err = &rest.Error{What: "use a channel", Status: http.StatusForbidden, Code: discordgo.ErrCodeMissingAccess, Message: "Missing Access"}
	r.guild, r.at, r.heard = guild, time.Now(), false
	a.barred.Add(key, r)
}

// changed takes note of an event of the gateway after which a channel may permit what it
// refused.
func (a *Adapter) changed(event string, data json.RawMessage) {
	if a.barred.Len() == 0 {
		return
	}
	guild, channels := a.affected(event, data)
	for _, key := range a.barred.Keys() {
		channel, what, _ := strings.Cut(key, " ")
		parent := a.parentOf(channel)
		r, ok := a.barred.Peek(key)
		if !ok || r.heard || !slices.Contains(channels, channel) && !slices.Contains(channels, parent) && (guild == "" || r.guild != guild) {
			continue
		}
		r.heard = true
		a.barred.Add(key, r)
		// A board is refused as a file, also where a text was before: posts wait for either.
		if what == string(sees) || strings.HasPrefix(what, string(writes)) || strings.HasPrefix(what, string(attaches)) {
			after := changedFor - time.Since(r.at)
			if r.locked {
				after = 0
			}
			time.AfterFunc(max(0, after), func() { a.reached(cmp.Or(parent, channel)) })
		}
	}
}

// affected returns the server, or the channels and threads, in which the bot may have other
// permissions after an event of the gateway.
func (a *Adapter) affected(event string, data json.RawMessage) (guild string, channels []string) {
	type named struct {
		ID string `json:"id"`
	}
	var e struct {
		named
		Guild    string  `json:"guild_id"`
		User     named   `json:"user"`
		Channels []named `json:"channels"`
		Threads  []named `json:"threads"`
	}
	if json.Unmarshal(data, &e) != nil {
		return "", nil
	}
	switch event {
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		return "", []string{e.ID}
	case "GUILD_CREATE":
		for _, c := range append(e.Channels, e.Threads...) {
			channels = append(channels, c.ID)
		}
		return e.ID, channels
	case "GUILD_MEMBER_UPDATE":
		if e.User.ID != a.self {
			return "", nil
		}
	}
	return e.Guild, nil
}

// reached has the posts shown that wait for a channel.
func (a *Adapter) reached(channel string) {
	ctx, cancel := context.WithTimeout(a.runCtx, shortly)
	defer cancel()
	if err := a.service.Report(ctx, bot.Reached{Where: match.Room{Platform: Name, Channel: channel}}); err != nil && a.runCtx.Err() == nil {
		a.log.Warn("waiting posts not resumed, they wait for the next command", "channel", channel, "error", err)
	}
}

// unasked returns an error of the outbox's that says so if Discord was not asked.
func unasked(as, err error) error {
	var no outbox.Forbidden
	if errors.As(err, new(barred)) && errors.As(as, &no) {
		no.Unasked = true
		return no
	}
	return as
}

// final reports whether Discord has refused this, and will at another time: not
// what did not arrive, or may have, and not a request that came under a token
// which Discord does not accept for now.
func final(err error) bool {
	var refused *rest.Error
	return errors.As(err, &refused) && !isAmbiguous(err) && refused.Status != http.StatusUnauthorized
}

// keepReason keeps with the refusal of a message why it was not shown, as Deliver gives it, and
// returns that.
func (a *Adapter) keepReason(channel string, why error) error {
	for _, key := range []string{lockedKey(channel), a.barredKey(channel, writes), a.barredKey(channel, attaches)} {
		if r, ok := a.barred.Get(key); ok {
			a.barred.Remove(key)
			if r.why = why; !r.locked {
				key = a.barredKey(channel, writes) // if files were refused, it was not for them
			}
			a.barred.Add(key, r)
			break
		}
	}
	return why
}

// refusedBefore returns why the channel takes no message, if that is known without another
// request. Discord does not report over HTTP that a thread was opened again: refusedBefore looks
// now and then.
func (d *delivery) refusedBefore(ctx context.Context) error {
	a, channel := d.a, d.at.channel
	d.locked = false
	err := a.barredFrom(channel, writes)
	var before barred
	if !errors.As(err, &before) {
		return nil
	}
	if !before.locked {
		return a.refusedBy(ctx, err, channel, d.inThread())
	}
	d.locked = true
	if time.Since(before.looked) < lookEvery {
		return unasked(before.why, err)
	}
	r := before.refusal
	r.looked = time.Now()
	a.barred.Add(lockedKey(channel), r)
	t, err := a.rest.Channel(ctx, channel)
	if err != nil {
		d.locked = false
		return a.refusedBy(ctx, err, channel, true)
	}
	if t.ThreadMetadata != nil && t.ThreadMetadata.Locked {
		return before.why
	}
	a.barred.Remove(lockedKey(channel))
	d.locked = false
	return nil
}

// mayWrite reports whether the bot may write in the channel, so that it was a
// file that was refused; it does if that cannot be found out.
func (d *delivery) mayWrite(ctx context.Context) bool {
	may, err := d.a.mayDo(ctx, d.at.channel)
	if err != nil {
		return true
	}
	d.a.learned(d.at.channel, may, true)
	return may.Has(needed(d.inThread()))
}

// refusedBy returns an error of Discord's as the bot knows it. It names the
// permissions that are missing, and what the bot may do there is known or
// forgotten.
func (a *Adapter) refusedBy(ctx context.Context, err error, channel string, thread bool) error {
	if !rest.Forbidden(err) {
		return outboxError(err, "")
	}
	if rest.Code(err) == discordgo.ErrCodeMissingAccess {
		return unasked(outboxError(err, rest.Permissions(0).Missing(rest.ViewChannel)[0]), err)
	}
	if before := (barred{}); errors.As(err, &before) && before.why != nil {
		return unasked(before.why, err)
	}
	missing := rest.Permissions(0).Missing(needed(thread) &^ rest.ViewChannel) // it is seen, or Discord would have said so
	if may, e := a.mayDo(ctx, channel); e == nil {
		a.learned(channel, may, true)
		if m := may.Missing(needed(thread)); len(m) > 0 {
			missing = m
		}
	}
	return a.keepReason(channel, outboxError(err, strings.Join(missing, ", ")))
}
