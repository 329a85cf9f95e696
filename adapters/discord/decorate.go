package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// This file changes messages that were shown before: it takes them or their
// controls away, puts pictures into them, and has the status message, a game's first
// message above its thread, say how the game stands.

// How often a status message is edited. Of messages older than an hour Discord
// allows few edits (error 30046) and does not say how many: with one in ten minutes
// even the 50 games that a channel can have come to no more than one in twelve
// seconds.
const (
	pace    = time.Minute
	oldPace = 10 * time.Minute
	oldAge  = time.Hour
)

// When a finished game is put away. Earlier nobody could ask for a rematch there. Its
// thread is archived last, because nothing can be changed in an archived thread: the
// outbox holds that back while controls of the game are still to be removed. The bot
// tries for a month, if it is away or Discord refuses for now.
const (
	clearAfter = 24 * time.Hour
	closeAfter = clearAfter + time.Minute
	clearUntil = closeUntil - time.Hour
	closeUntil = 30 * 24 * time.Hour
)

// changes are what the kinds of posts do that change a message.
var changes = map[string]func(*Adapter, context.Context, outbox.Post) error{
	match.Remove:  (*Adapter).remove,
	outbox.Header: (*Adapter).header,
	outbox.Clear:  (*Adapter).clear,
	outbox.Attach: (*Adapter).attach,
	outbox.Ending: (*Adapter).ending,
	outbox.Close:  (*Adapter).close,
	started:       (*Adapter).removeStarted,
}

// remove deletes a message, or the reply to the one that Data names, as earlier releases
// stored it before they sent the reply. If Discord refuses, remove gives up: the channel
// itself is in order.
func (a *Adapter) remove(ctx context.Context, p outbox.Post) error {
	target, err := outbox.Receipt(p.Replaces), error(nil)
	if to, of := readReceipt(p.Data); target == "" && of != "" {
		d := &delivery{a: a, p: outbox.Post{Kind: match.Answer, Attempt: 2}, route: route{Channel: to, Message: of}, at: place{channel: to}}
		target, err = d.lookFor(ctx)
	}
	channel, message := readReceipt(string(target))
	if message != "" {
		err = a.rest.Delete(ctx, channel, message)
	}
	if final(err) {
		return nil
	}
	return outboxError(err, "")
}

// editError is the error of the change of a message, which comes later where too many
// old ones were changed.
func editError(err error) error {
	if rest.OldEdits(err) {
		return outbox.RetryAfter{Wait: oldPace}
	}
	return unasked(outboxError(err, ""), err)
}

// changedTo takes note of whether a message that was changed without an error, or has been
// sent, has controls.
func (a *Adapter) changedTo(message string, m rest.Message, err error) {
	switch {
	case err != nil || m.Components == nil:
	case len(m.Components) == 0:
		a.cleared.Add(message, struct{}{})
	default:
		a.cleared.Remove(message)
	}
}

// clear takes the controls of the game off a message, and leaves the link in Data if there
// is one, unless somebody has archived its thread. Where
// the bot is refused that it tries for a day: it may be let in again.
func (a *Adapter) clear(ctx context.Context, p outbox.Post) error {
	channel, message := readReceipt(p.Replaces)
	if a.cleared.Contains(p.Replaces) {
		return nil
	}
	_, err := a.rest.Edit(ctx, channel, message, rest.Message{Components: linked([]rest.Component{}, p.Data, p.Lang)})
	switch {
	case rest.Code(err) == discordgo.ErrCodePerformedOperationOnArchivedThread:
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	case status(err) == http.StatusForbidden && time.Since(interaction.Time(message)) < clearAfter:
		return outbox.RetryAfter{Wait: oldPace}
	}
	return editError(err)
}

// owes returns the decorations that follow the message that shows the post.
func (d *delivery) owes(sent outbox.Receipt) []outbox.Owes {
	switch {
	case d.answers():
		return d.removes(sent)
	case d.apart:
		return d.announces(sent)
	}
	return slices.Concat(d.clears(sent), d.attaches(sent), d.closes(sent), d.updates(sent), d.movesFrom(sent))
}

// movesFrom returns the removal of the message of an event that was sent anew.
func (d *delivery) movesFrom(sent outbox.Receipt) []outbox.Owes {
	old := outbox.Receipt(d.p.Replaces)
	if d.p.Kind != match.Sheet || old == "" || old == sent {
		return nil
	}
	return []outbox.Owes{{Kind: match.Remove, Key: "sheet " + string(old), Target: old}}
}

// removes returns the removal of a reply that only one person needs. Discord knows no
// message for one person alone but as an answer to an interaction.
func (d *delivery) removes(sent outbox.Receipt) []outbox.Owes {
	if !d.p.Private || !d.replies() {
		return nil
	}
	return []outbox.Owes{{Kind: match.Remove, Key: "reply " + d.route.Message, Target: sent, NotBefore: time.Now().Add(repliesFor)}}
}

// void reports whether a notice ended the game, so that there is no last board.
func void(p outbox.Post) bool { return p.State == match.Cancelled || p.State == match.Deleted }

// clears returns the messages whose controls are removed: the board before this one, the
// message on which the person pressed, and this message, unless it is the newest board or that
// of an event.
func (d *delivery) clears(sent outbox.Receipt) (owes []outbox.Owes) {
	if d.route.Alone { // the bot can only answer
		return nil
	}
	p, over, now := d.p, d.p.State == match.Ended, time.Now()
	clear := func(message outbox.Receipt) outbox.Owes {
		return outbox.Owes{Kind: outbox.Clear, Key: string(message), Target: message}
	}
	// Other notices leave the controls of the board above them.
	if previous := outbox.Receipt(p.Previous); (p.Kind == match.Show || void(p)) && previous != "" && previous != sent {
		owes = append(owes, clear(previous))
	}
	if len(d.c.controls) > 0 && p.Kind != match.Sheet && (p.Kind != match.Show || over) {
		o := clear(sent)
		o.Data = p.Link
		if over { // nothing newer comes
			o.NotBefore, o.NotAfter = now.Add(clearAfter), now.Add(clearUntil)
		}
		owes = append(owes, o)
	}
	if pressed := d.x.message(); pressed != "" && !d.x.onPrivate() && pressed != sent && string(pressed) != p.Previous && !d.a.cleared.Contains(string(pressed)) {
		owes = append(owes, clear(pressed))
	}
	return owes
}

// attaches returns the files that follow a message sent in words.
func (d *delivery) attaches(sent outbox.Receipt) []outbox.Owes {
	if len(d.whole.Files) == 0 {
		return nil
	}
	f := follows{Content: *d.whole.Content, Users: d.whole.AllowedMentions.Users}
	o := outbox.Owes{Kind: outbox.Attach, Key: string(sent), Target: sent}
	if d.route.Alone {
		f.Token, f.Original, o.NotAfter = d.route.Token, d.first, time.UnixMilli(d.route.At).Add(routeLife)
	}
	o.Data = marshal(f)
	return []outbox.Owes{o}
}

// closes returns the thread that is archived with the result of its game in its name.
func (d *delivery) closes(sent outbox.Receipt) []outbox.Owes {
	result := ""
	switch s := d.p.Scene; {
	case d.p.State == match.Ended && s != nil && s.Result != "":
		result = cmp.Or(s.Headline, s.Result)
	case d.p.State == match.Cancelled:
		result = bot.Translated(d.p.Lang, wordCancelled)
	}
	if result == "" || !d.at.under {
		return nil
	}
	now := time.Now()
	return []outbox.Owes{{Kind: outbox.Close, Key: d.at.channel, Target: sent, Data: result, NotBefore: now.Add(closeAfter), NotAfter: now.Add(closeUntil)}}
}

// updates returns the update of the status message above the thread of a game. Without a
// thread the boards stand beside it, and that of a sandbox says that nothing counts: both
// stay as they are.
func (d *delivery) updates(sent outbox.Receipt) []outbox.Owes {
	p := d.p
	channel, message := readReceipt(p.Under)
	thread, _ := readReceipt(string(sent))
	before, refused := d.a.barred.Get(p.Under)
	refused = refused && time.Since(before.at) < barredFor
	if p.Kind != match.Show && !p.Instead && !void(p) || p.Apart != nil || channel == "" || thread == channel || p.State == match.Sandbox || refused {
		return nil
	}
	o := outbox.Owes{Kind: outbox.Header, Key: p.Under, Target: outbox.Receipt(p.Under), Data: string(sent)}
	if !void(p) && (p.Scene == nil || p.Scene.Result == "") { // the end is shown at once
		o.Every = paceOf(message, time.Now())
	}
	return []outbox.Owes{o}
}

// A follows describes a message whose files follow its words.
type follows struct {
	Content  string   // once they are there
	Users    []string `json:",omitempty"` // whom it calls
	Token    string   `json:",omitempty"` // of the interaction, where the bot can only answer;
	Original bool     `json:",omitempty"` // then: it is the first answer
}

// attach puts the files into a message that was shown in words.
func (a *Adapter) attach(ctx context.Context, p outbox.Post) error {
	var f follows
	if err := json.Unmarshal([]byte(p.Data), &f); err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	c := content{name: pictureName(p), file: p.File}
	c.picture, _ = p.Picture()
	ms, err := c.messages()
	if err != nil {
		return fmt.Errorf("draw a post: %w", err)
	}
	if len(ms[0].Files) == 0 {
		return outbox.ErrGone
	}
	m := ms[0]
	m.Content, m.AllowedMentions.Users = &f.Content, f.Users
	m.Components = nil // they may be gone by now
	channel, message := readReceipt(p.Replaces)
	began := time.Now()
	switch {
	case f.Original:
		_, err = a.rest.EditOriginal(ctx, f.Token, m)
	case f.Token != "":
		_, err = a.rest.EditFollowUp(ctx, f.Token, message, m)
	default:
		_, err = a.rest.Edit(ctx, channel, message, m)
	}
	if err == nil {
		a.uploaded(channel, began)
	}
	return editError(err)
}

// close puts the result of a game into the name of its thread and archives the thread,
// if the bot has started it. One that somebody has closed, locked, or opened again after
// that stays as it is.
func (a *Adapter) close(ctx context.Context, p outbox.Post) error {
	thread, _ := readReceipt(p.Replaces)
	c, err := a.rest.Channel(ctx, thread)
	if err != nil {
		return editError(err)
	}
	result := " · " + p.Data
	if c.OwnerID != a.self || c.ThreadMetadata == nil || c.ThreadMetadata.Archived || c.ThreadMetadata.Locked || strings.HasSuffix(c.Name, result) {
		return nil
	}
	return editError(a.rest.CloseThread(ctx, thread, clipped(c.Name, maxThread-length(result))+result))
}

// header has a status message say how its game stands.
func (a *Adapter) header(ctx context.Context, p outbox.Post) error {
	if p.Scene == nil {
		return outbox.ErrGone
	}
	says := standing(p, *p.Scene)
	channel, message := readReceipt(p.Replaces)
	if guild := a.guildOf(ctx, channel, p.Data); guild != "" {
		says += "\n" + link(p.Lang, guild, outbox.Receipt(p.Data))
	}
	_, err := a.rest.Edit(ctx, channel, message, rest.Message{Content: new(rest.Clip(says, maxContent)), Components: []rest.Component{}})
	if final(err) && !rest.OldEdits(err) { // it was deleted, say
		a.barred.Add(p.Replaces, refusal{err: err, at: time.Now()})
	}
	return editError(err)
}

// standing says how a game stands.
func standing(p outbox.Post, s render.Scene) string {
	switch p.State {
	case match.Deleted:
		return bot.Translated(p.Lang, wordStatus, strconv.Itoa(p.Number), bot.Translated(p.Lang, wordDeleted))
	case match.Cancelled: // there is no next player and no count
		s.Next, s.Headline, s.Caption = bot.Translated(p.Lang, wordCancelled), "", ""
	}
	what := s.Ruleset
	if len(s.Board) > 0 {
		what += fmt.Sprintf(" · %d×%d", len(s.Board[0]), len(s.Board))
	}
	if p.Text != "" {
		what += " · " + p.Text
	}
	lines := append([]string{bot.Translated(p.Lang, wordStatus, strconv.Itoa(p.Number), what)}, bot.HowItStands(s)...)
	return escape(strings.Join(lines, "\n"))
}

// paceOf returns the time between two edits of a message.
func paceOf(message string, now time.Time) time.Duration {
	sent, err := discordgo.SnowflakeTimestamp(message)
	if err != nil || now.Sub(sent) > oldAge {
		return oldPace
	}
	return pace
}

// guildOf returns the server of a channel, and of the board in the thread of one of its
// messages; empty if there is none, or it cannot be found out.
func (a *Adapter) guildOf(ctx context.Context, channel, board string) string {
	thread, _ := readReceipt(board)
	at, ok := a.rooms.Get(thread)
	if !ok {
		at, _ = a.room(ctx, channel)
	}
	return at.guild
}
