package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Deliver shows a post that nobody who asked shows, or changes a message; see
// [bot.Adapter]. The receipt is "channel/message".
func (a *Adapter) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	direct := p.Private && p.Kind != match.Answer // which names people, and needs no room
	switch {
	case p.Where.Platform != Name, p.Where.Channel == "" && changes[p.Kind] == nil && !direct:
		return "", nil, outbox.ErrGone
	case direct && changes[p.Kind] == nil:
		return outbox.ToEach(p.Notify, func(who outbox.User) (outbox.Receipt, []outbox.Owes, error) {
			sent, err := a.directTo(ctx, p, who)
			return sent, nil, err
		})
	}
	return a.show(ctx, p, nil)
}

// Account allows as many requests a second as Discord takes from a bot.
func (a *Adapter) Account() *outbox.Account { return outbox.NewAccount(50, 50) }

// show shows a post where it belongs, as the answer to x, an interaction that is
// being handled, if it can be, or changes a message; x may be nil.
func (a *Adapter) show(ctx context.Context, p outbox.Post, x *pendingInteraction) (outbox.Receipt, []outbox.Owes, error) {
	a.threadsOf(p)
	if change := changes[p.Kind]; change != nil {
		return outbox.Receipt(p.Replaces), nil, change(a, ctx, p)
	}
	d := &delivery{a: a, p: p, x: x}
	d.route, d.live = readRoute(p.Reply, time.Now())
	d.p.Replaces = d.replaces()
	sent, err := d.show(ctx)
	d.report(ctx, sent, err)
	if err != nil {
		return "", nil, err
	}
	if d.answers() {
		d.finish(ctx, sent)
	} else {
		d.sendMore(ctx)
	}
	return sent, d.owes(sent), nil
}

// inLetters makes the board of a message letters, and says why: in an answer, and
// otherwise once for each channel.
func (d *delivery) inLetters() {
	d.c.plain = true
	if d.p.Scene != nil && (d.answers() || d.a.once("files "+d.at.channel)) {
		d.c.hints = append(d.c.hints, bot.Translated(d.c.lang, wordNoFiles, filesPermission))
	}
}

// A delivery is a post on its way.
type delivery struct {
	a     *Adapter
	p     outbox.Post
	x     *pendingInteraction // that brought it about and is being handled here; or nil
	at    place
	c     content
	m     rest.Message
	more  []rest.Message // that follow m, of an answer that is too long for one
	whole rest.Message   // with the files that follow m
	first bool           // it is the first answer to its interaction
	route route
	live  bool // the route can be used

	apart  bool // it became the thread of its game
	waits  bool // the person sees "thinking…", or that the post follows
	locked bool // the thread is: nothing was sent
}

// answers reports whether the post answers a request, and replies whether that was a
// message that somebody wrote.
func (d *delivery) answers() bool { return d.p.Kind == match.Answer }
func (d *delivery) replies() bool { return d.answers() && d.route.Message != "" }

// build draws the message.
func (d *delivery) build() error {
	ms, err := d.c.messages()
	if err != nil {
		return fmt.Errorf("draw a post: %w", err)
	}
	d.m = ms[0]
	everybody, ids := mention(d.c.notify)
	switch {
	case d.answers(), len(everybody) > maxContent/2: // too many people for one
		d.more = ms[1:]
	case len(ms) > 1: // the others hold some who are called
		text := rest.Clip(*d.m.Content, maxContent-len(everybody)-1)
		call, _ := mention(uncalled(d.c.notify, text))
		d.m.AllowedMentions.Users = ids
		d.m.Content = new(strings.TrimSpace(text + "\n" + call))
	}
	return nil
}

// replaces returns the receipt of the message that the post changes; empty: it becomes a
// new one.
func (d *delivery) replaces() string {
	p, x := d.p, d.x
	switch {
	case d.answers() && p.Private && x.onPrivate():
		return string(x.message())
	case d.answers():
		return ""
	case p.Opening != "":
		return p.Opening
	case len(p.Notify) > 0: // an edit notifies nobody
	case p.Unplayed && (x.onMessage() || x.claim() == answered): // nothing else of a challenge that is off need stay
		return p.Under
	case p.Marked && x.onPrivate(): // by the menu of a board
		return p.Previous
	}
	return p.Replaces
}

// show finds out where the post goes and brings it there.
func (d *delivery) show(ctx context.Context) (sent outbox.Receipt, err error) {
	a, p := d.a, d.p
	if d.begins() {
		if sent, done, err := d.startApart(ctx); done {
			d.apart = err == nil
			return sent, err
		}
		defer func() { // the game has no thread
			if _, message := readReceipt(string(sent)); message != "" {
				a.threads.Add(message, false)
			}
		}()
	}
	if d.at, err = a.place(ctx, p, d.route); err != nil {
		return "", a.refusedBy(ctx, err, p.Where.Channel, false)
	}
	d.c = content{text: a.writtenIn(p.Text, d.at.under), lang: p.Lang, file: p.File, controls: p.Controls, menu: p.Menu, link: p.Link, notify: p.Notify, hints: []string{d.at.hint}}
	if p.Apart != nil && p.Kind == match.Show && p.Previous == "" && d.inThread() { // whom it mentions is in the thread
		d.c.text = joined([]string{a.writtenIn(p.Begins, true), d.c.text})
		d.c.notify = []outbox.User{p.Apart.Black, p.Apart.White}
	}
	d.c.picture, d.c.name = p.Picture()
	switch {
	case d.replies(): // everybody can read it, and press its buttons
		d.c.controls = bot.Unshared(p).Controls
		if p.Private && d.route.Guild != "" {
			d.c.controls = nil
		}
	case d.answers() && p.Private:
		d.c.flags = rest.Ephemeral
	case !d.answers():
		d.c.name = pictureName(p)
	}
	if p.Kind == match.Show && p.Previous == "" && p.Scene != nil && d.inThread() {
		d.c.hints = append(d.c.hints, a.howToMove(p.Lang, p.Scene.Board), small+bot.Translated(p.Lang, wordArchived))
	}
	if d.mayNotAttach() {
		d.inLetters()
	}
	if err := d.build(); err != nil {
		return "", err
	}
	if sent, err = d.showUnlessShown(ctx); err != nil && d.at.under {
		err = outbox.InThread{Err: err}
	}
	return sent, err
}

// inThread reports whether the post goes to a thread.
func (d *delivery) inThread() bool { return d.at.channel != d.p.Where.Channel }

// mayNotAttach reports whether the bot is known to lack the permission to attach files.
func (d *delivery) mayNotAttach() bool {
	if d.x != nil {
		return d.x.mayNotAttach()
	}
	r, _ := d.a.rooms.Get(d.at.channel)
	return len(r.missing(rest.AttachFiles)) > 0
}

// showUnlessShown shows the message by the way that is best now, unless it is there.
func (d *delivery) showUnlessShown(ctx context.Context) (outbox.Receipt, error) {
	if d.p.Replaces != "" {
		if receipt, done, err := d.replace(ctx); done {
			return receipt, err
		}
	}
	if d.x == nil && d.live && (d.p.Kind == match.Show || d.p.Kind == match.Notice || d.answers()) {
		if sent, err := d.answeredBefore(ctx); err != nil || sent != "" {
			return sent, err
		}
	}
	sent, err := d.answerOrSend(ctx)
	if errors.Is(err, outbox.ErrGone) && d.at.under { // somebody has deleted the thread
		if err = d.leaveThread(); err == nil {
			sent, err = d.answerOrSend(ctx)
		}
	}
	return sent, err
}

// answerOrSend shows the message as the answer to its interaction, or else as one of the
// bot's own.
func (d *delivery) answerOrSend(ctx context.Context) (outbox.Receipt, error) {
	if !d.answers() && d.x.onPrivate() { // whose message is to go
		d.a.acknowledge(ctx, d.x)
	} else if d.at.channel == d.route.Channel {
		if sent, err, done := d.answer(ctx); done {
			return sent, err
		}
	}
	switch {
	case d.answers() && !d.replies():
		return d.answerLater(ctx)
	case !d.route.Alone:
		return d.send(ctx)
	case !d.x.pressed():
		d.end(ctx, bot.Translated(d.route.Lang, wordDone)) // the first follow-up would take its place
	}
	return d.followUp(ctx)
}

// answerLater shows an answer after the first answer to its interaction, or in place of
// its deferral.
func (d *delivery) answerLater(ctx context.Context) (sent outbox.Receipt, err error) {
	switch deferral := d.waits || d.x.claim() == deferred && !d.x.pressed(); {
	case !deferral:
		return d.followUp(ctx)
	case d.x != nil && !d.a.thinks(ctx, d.x):
		d.x.state = answered
		d.a.ended(d.x)
		return "", nil
	case !d.p.Private && !d.route.Alone: // the deferral is ephemeral
		if sent, err = d.send(ctx); !errors.As(err, new(outbox.Forbidden)) {
			return sent, err
		}
	}
	s, err := d.upload(ctx, soon(), func(ctx context.Context, m rest.Message) (*rest.Sent, error) {
		m.Flags &^= rest.Ephemeral
		return d.a.rest.EditOriginal(ctx, d.route.Token, m)
	})
	d.waits = false
	if d.x != nil {
		d.x.state = answered
		if err == nil || final(err) {
			d.a.ended(d.x)
		}
	}
	if err != nil {
		return "", outboxError(err, "")
	}
	return d.by(s, ""), nil
}

// by keeps that the token of the interaction can change a message, and returns its
// receipt. message is its id; empty: it is the first answer.
func (d *delivery) by(s *rest.Sent, message string) outbox.Receipt {
	sent := receipt(d.route.Channel, s.ID)
	d.a.keys.Add(string(sent), key{token: d.route.Token, message: message, until: time.UnixMilli(d.route.At).Add(routeLife)})
	return sent
}

// finish sends the rest of an answer that is too long for one message, and the files that
// follow its words.
func (d *delivery) finish(ctx context.Context, sent outbox.Receipt) {
	for _, m := range d.more {
		if _, err := d.a.followUp(ctx, d.route.Token, m); err != nil {
			d.a.log.Warn("answer only partly shown", "post", d.p.ID, "error", err)
			break
		}
	}
	d.follow(ctx, sent)
}

// sendMore sends the rest of a post that mentions too many people for one message. Nobody is
// mentioned twice: Discord recognizes the nonces for some minutes.
func (d *delivery) sendMore(ctx context.Context) {
	for k, m := range d.more {
		m.Nonce = rest.Nonce(d.p.ID + "/" + strconv.Itoa(k+2))
		if _, err := d.a.rest.Send(ctx, d.at.channel, m); err != nil {
			d.a.log.Warn("post only partly shown", "post", d.p.ID, "error", err)
			break
		}
	}
}

// leaveThread leads a post whose thread is no longer there to the channel.
func (d *delivery) leaveThread() error {
	a, thread := d.a, d.at.channel
	a.threads.Add(thread, false)
	d.at = place{channel: d.p.Where.Channel}
	d.c.hints = append(d.c.hints, bot.Translated(d.p.Lang, wordThreadGone))
	return d.build()
}

// answer makes the post the first answer to the interaction that brought it about. It
// reports false if the post must go otherwise.
func (d *delivery) answer(ctx context.Context) (sent outbox.Receipt, err error, done bool) {
	a, x := d.a, d.x
	if x.claim() != open {
		return "", nil, false
	}
	response := rest.Reply
	if d.p.Replaces != "" && d.p.Replaces == string(x.message()) {
		response = rest.Update
	}
	x.state = answered
	respond, cancel := context.WithDeadline(ctx, x.late())
	defer cancel()
	looked := false
	shown, err := d.upload(respond, x.since.Add(slowAfter/2), func(ctx context.Context, m rest.Message) (s *rest.Sent, err error) {
		s, looked, err = a.first(ctx, x, response(m))
		return s, err
	})
	if err == nil && shown == nil { // over HTTP: Discord has not said which message it became
		if d.answers() {
			x.begin()
			return "", nil, true
		}
		if shown, err = a.original(x); err != nil {
			err = &rest.Ambiguous{What: "answer an interaction", Cause: err}
		}
	}
	switch {
	case isAmbiguous(err): // the outbox looks for it
		return "", outboxError(err, ""), true
	case rest.TooLarge(err):
		x.state = open // the post comes again without its picture
		return "", outboxError(err, ""), true
	case err != nil || looked && !d.answers() && !d.mine(*shown):
		a.log.Warn("interaction not answered, will post to the channel", "interaction", x.in.ID, "error", err)
		return "", nil, false
	}
	x.begin()
	d.first = true
	sent = d.by(shown, "")
	a.changedTo(string(sent), d.m, nil)
	return sent, nil, true
}

// answeredBefore finds out whether the post is the answer to its interaction already,
// or whether the person still waits for it. It returns an error where it could not find
// an ordinary message of the bot either.
func (d *delivery) answeredBefore(ctx context.Context) (sent outbox.Receipt, err error) {
	s, err := d.a.rest.Original(ctx, d.route.Token)
	switch {
	case err != nil && !rest.Gone(err) && (d.answers() || d.route.Alone && d.p.Attempt > 1):
		return "", outboxError(err, "")
	case err != nil:
		return "", nil
	case s.Flags&flagLoading != 0:
		d.waits = true
	case (d.answers() || d.p.Attempt > 1 && s.Flags&rest.Ephemeral == 0) && d.mine(*s):
		d.first = true
		d.found(*s)
		return d.by(s, ""), nil
	case s.Flags&rest.Ephemeral != 0:
		d.waits = d.promised(*s)
	}
	return "", nil
}

// promised reports whether an ephemeral first answer is to be replaced: it says that the
// post follows or that the bot was interrupted, or it is the private message whose control
// the person used.
func (d *delivery) promised(s rest.Sent) bool {
	says := strings.ReplaceAll(s.Content, `\\`, "")
	promise := says == bot.Translated(d.route.Lang, wordDone) || says == bot.Translated(d.route.Lang, wordInterrupted)
	return !d.route.Alone && promise || d.answers() && d.p.Private && d.route.Private
}

// found has the files follow if the message that an earlier attempt sent is in words.
func (d *delivery) found(s rest.Sent) {
	if len(s.Attachments) == 0 {
		d.whole = d.m
	}
}

// flagLoading marks the placeholder of a message that follows.
const flagLoading = int(discordgo.MessageFlagsLoading)

// mine reports whether a message is this post.
func (d *delivery) mine(s rest.Sent) bool {
	if s.Nonce == rest.Nonce(d.p.ID) {
		return true
	}
	m := d.m
	if d.replies() {
		return s.Answers.Message == d.route.Message
	}
	if d.c.picture != nil && !d.c.plain {
		if !d.answers() && slices.ContainsFunc(s.Attachments, func(f rest.SentAttachment) bool { return f.Filename == d.c.name }) {
			return true
		}
		words := *d // which may have gone first
		if words.inWords() != nil {
			return false
		}
		m = words.m
	}
	return m.Content != nil && unmentioned(s.Content) == unmentioned(*m.Content)
}

var commandMention = regexp.MustCompile(`<(/[^:>]+):\d+>`)

// unmentioned writes the commands that a text mentions without their ids: when the
// text was sent first, the ids may not have been known.
func unmentioned(text string) string {
	return strings.TrimSpace(commandMention.ReplaceAllString(text, "$1"))
}

// report tells the person who asked what became of the post, unless they see that: where
// it is, why it cannot be shown, or that it follows.
func (d *delivery) report(ctx context.Context, sent outbox.Receipt, err error) {
	var forbidden outbox.Forbidden
	text := link(d.route.Lang, d.route.Guild, sent)
	switch {
	case d.x == nil && !d.waits, err != nil && d.answers(), errors.Is(err, outbox.ErrTooLarge) && d.p.Scene != nil: // which comes again
		return
	case errors.Is(err, outbox.ErrGone), errors.As(err, &forbidden):
		text = d.excuse(forbidden)
	case err == nil && d.x.onPrivate() && d.at.channel != d.route.Channel:
	case d.x.pressed(): // the post speaks for itself, now or later
		d.a.reply(ctx, d.x, rest.DeferUpdate())
		return
	case err != nil && d.x == nil: // it is tried again
		return
	case err != nil:
		text = bot.Translated(d.route.Lang, wordDone)
	case d.p.Opening != "" && d.x != nil, d.withdraw(ctx): // the board follows, or they see the post
		return
	}
	d.end(ctx, text)
}

// withdraw deletes the indicator that the bot is thinking from below a form if the post is
// in the same channel. It reports false if there is something left to say.
func (d *delivery) withdraw(ctx context.Context) bool {
	if d.route.Kind != interaction.Form || d.at.channel != d.route.Channel || d.x != nil && (d.x.claim() != deferred || !d.a.thinks(ctx, d.x)) {
		return false
	}
	if err := d.a.rest.DeleteOriginal(ctx, d.route.Token); err != nil && !rest.Gone(err) {
		return false
	}
	if d.x != nil {
		d.x.state = answered
		d.a.ended(d.x)
	}
	return true
}

// end replaces the indicator that the bot is thinking, or the promise that the post
// follows, by a text; and answers an interaction that has no answer yet.
func (d *delivery) end(ctx context.Context, text string) {
	m := rest.Message{Content: &text, Flags: rest.SuppressEmbeds}
	if d.x != nil {
		m.Flags |= rest.Ephemeral
		d.a.reply(ctx, d.x, rest.Reply(m))
	} else if d.waits {
		d.waits = false
		defer d.a.inTurn(d.route.Token)()
		if _, err := d.a.rest.EditOriginal(ctx, d.route.Token, m); err != nil {
			d.a.log.Warn("deferred interaction not completed", "error", err)
		}
	}
}

// link leads to a message.
func link(lang, guild string, sent outbox.Receipt) string {
	if guild == "" {
		guild = "@me"
	}
	return bot.Translated(lang, wordSee, "https://discord.com/channels/"+guild+"/"+string(sent))
}

// excuse says why a post is not shown, and what would help.
func (d *delivery) excuse(lacks outbox.Forbidden) string {
	board := bot.Mention{Command: "board"}
	if d.p.Number > 0 {
		board.Options = []bot.MentionedOption{{Name: "game", Value: strconv.Itoa(d.p.Number)}}
	}
	look := board.Mark()
	lang := d.route.Lang
	switch {
	case d.locked:
		return d.a.written(bot.Translated(lang, wordLocked, look))
	case lacks.Permission != "":
		return d.a.written(bot.Translated(lang, wordSilenced, lacks.Permission, look))
	}
	return d.a.written(bot.Translated(lang, wordGone, look))
}

// followUp shows the post where the bot can only answer.
func (d *delivery) followUp(ctx context.Context) (outbox.Receipt, error) {
	if !d.live {
		return "", outbox.ErrGone
	}
	s, err := d.upload(ctx, soon(), func(ctx context.Context, m rest.Message) (*rest.Sent, error) {
		return d.a.followUp(ctx, d.route.Token, m)
	})
	if err != nil {
		if c := rest.Code(err); c == rest.CodeTooManyFollowUps || c == discordgo.ErrCodeUnknownWebhook {
			return "", outbox.ErrGone
		}
		return "", outboxError(err, "")
	}
	return d.by(s, s.ID), nil
}

// Of edits of messages older than an hour Discord takes few, and does not say when it takes
// more. That of an event, which many people may change at a time, is edited less often then, and
// if Discord still refuses it a few times, sent anew.
const (
	sheetTries   = 5
	sheetPause   = 4 * time.Second
	oldSheetPace = 7 * time.Second // between two edits
)

// tooSoon returns how long the message of an event, which is in a channel, waits for its next
// edit.
func (d *delivery) tooSoon(message string) time.Duration {
	last, known := d.a.sheets.Get(d.p.Replaces)
	if d.p.Kind != match.Sheet || !known || paceOf(message, time.Now()) == pace {
		return 0
	}
	return max(0, oldSheetPace-time.Since(last))
}

// replace changes the message that the post takes the place of. It reports false
// if there is none any more.
func (d *delivery) replace(ctx context.Context) (sent outbox.Receipt, done bool, err error) {
	channel, message := readReceipt(d.p.Replaces)
	if r, _ := d.a.barred.Get(lockedKey(channel)); channel == "" || r.locked {
		return "", false, nil
	}
	if wait := d.tooSoon(message); wait > 0 {
		return "", true, outbox.RetryAfter{Wait: wait}
	}
	if d.p.Replaces == string(d.x.message()) {
		if sent, err, done := d.answer(ctx); done { // which has no bucket
			return sent, true, err
		}
	}
	_, err = d.upload(ctx, soon(), func(ctx context.Context, m rest.Message) (*rest.Sent, error) {
		return d.a.rest.Edit(ctx, channel, message, m)
	})
	if d.p.Kind == match.Sheet {
		d.a.sheets.Add(d.p.Replaces, time.Now())
		if rest.OldEdits(err) && d.p.Attempt < sheetTries {
			return "", true, outbox.RetryAfter{Wait: sheetPause}
		}
	}
	if status(err) == http.StatusNotFound || status(err) == http.StatusForbidden || rest.Code(err) == discordgo.ErrCodePerformedOperationOnArchivedThread || rest.OldEdits(err) {
		return "", false, nil // a new message wakes an archived thread, too
	}
	return outbox.Receipt(d.p.Replaces), true, outboxError(err, "")
}

// send sends the post as a message of the bot's own, once.
func (d *delivery) send(ctx context.Context) (outbox.Receipt, error) {
	a := d.a
	if err := d.refusedBefore(ctx); err != nil {
		return "", err
	}
	if sent, err := d.lookFor(ctx); err != nil || sent != "" {
		return sent, err
	}
	s, err := d.upload(ctx, soon(), func(ctx context.Context, m rest.Message) (*rest.Sent, error) {
		return a.rest.Send(ctx, d.at.channel, d.own(m))
	})
	if len(d.m.Files) > 0 && rest.Code(err) == discordgo.ErrCodeMissingPermissions && d.mayWrite(ctx) {
		d.inLetters()
		if err := d.build(); err != nil {
			return "", err
		}
		s, err = a.rest.Send(ctx, d.at.channel, d.own(d.m))
	}
	switch {
	case err == nil:
		return receipt(d.at.channel, s.ID), nil
	case rest.Code(err) == discordgo.ErrCodeThreadIsLocked, rest.Code(err) == discordgo.ErrCodePerformedOperationOnArchivedThread:
		d.locked = true
		err = outbox.Forbidden{Permission: strings.Join(rest.Permissions(0).Missing(rest.ManageThreads), ", ") + " (the thread is locked)"}
		return "", a.keepReason(d.at.channel, err)
	case rest.Forbidden(err):
		return "", a.refusedBy(ctx, err, d.at.channel, d.inThread())
	}
	return "", outboxError(err, "")
}

// own returns a message as one of the bot's own: Discord sends it once, and quietly if it
// mentions nobody.
func (d *delivery) own(m rest.Message) rest.Message {
	m.Nonce = rest.Nonce(d.p.ID)
	if d.replies() {
		m.Answers = &rest.Reference{Message: d.route.Message}
	}
	if len(m.AllowedMentions.Users) == 0 {
		m.Flags |= rest.SuppressNotifications
	}
	return m
}

// looked is how many pages of a hundred messages are looked through for one that
// may be there.
const looked = 10

// lookFor looks for a message that an earlier attempt may have sent: Discord knows a
// nonce again for some minutes only. Where that cannot be found out now it is not
// known whether it was sent.
func (d *delivery) lookFor(ctx context.Context) (outbox.Receipt, error) {
	a := d.a
	if d.p.Attempt < 2 || d.p.Unsent {
		return "", nil
	}
	after := ""
	switch {
	case d.replies():
		after = d.route.Message
	case !d.p.At.IsZero(): // no earlier than what it says
		after = snowflake(d.p.At.Add(-time.Minute)) // clocks differ
	}
	for range looked {
		page, err := a.rest.Messages(ctx, d.at.channel, after, 100)
		if rest.Forbidden(err) || rest.Gone(err) { // without looking nothing could ever be sent
			return "", nil
		} else if err != nil {
			return "", outboxError(err, "")
		}
		for _, s := range page {
			if s.Author.ID == a.self && d.mine(s) {
				d.found(s)
				return receipt(d.at.channel, s.ID), nil
			}
		}
		if after == "" || len(page) < 100 {
			break
		}
		after = page[0].ID // the newest
	}
	return "", nil
}

// epoch is when Discord's ids begin, in milliseconds of Unix time.
const epoch = 1420070400000

// snowflake gives the least id of what is made at a time.
func snowflake(t time.Time) string {
	return strconv.FormatInt(max(0, t.UnixMilli()-epoch)<<22, 10)
}

// closedFor is how long nobody is written to directly who took no direct
// messages: they may have opened them.
const closedFor = 24 * time.Hour

// directTo shows a post to a person alone. A person who takes no direct messages is mentioned
// in the channel if the post is about a game, without what it says, once for each turn.
// Otherwise nobody else learns of the post: it is dropped, or, about an event, refused, so that
// nobody counts as asked who was not.
func (a *Adapter) directTo(ctx context.Context, p outbox.Post, who outbox.User) (outbox.Receipt, error) {
	if since, closed := a.dmsClosed.Get(who.ID); closed && time.Since(since) < closedFor {
		return a.call(ctx, p, who)
	}
	channel, known := a.dms.Get(who.ID)
	if !known {
		c, err := a.rest.DM(ctx, who.ID)
		if err != nil {
			return a.closedTo(ctx, p, who, err)
		}
		channel = c.ID
		a.dms.Add(who.ID, channel)
	}
	d := &delivery{a: a, p: p, at: place{channel: channel}, c: content{text: a.written(p.Text), lang: p.Lang, picture: p.Scene.Picture(), name: pictureName(p), file: p.File, controls: p.Controls}}
	d.p.ID = p.ID + "/" + who.ID
	d.p.Unsent = p.Unsent && len(p.Notify) == 1 // else the first may have it
	if err := d.build(); err != nil {
		return "", err
	}
	if c, _ := readReceipt(p.Replaces); c == channel {
		if sent, done, err := d.replace(ctx); done {
			return sent, err
		}
	}
	if sent, err := d.lookFor(ctx); err != nil || sent != "" {
		return sent, err
	}
	d.m.Nonce = rest.Nonce(d.p.ID)
	s, err := a.rest.Send(ctx, channel, d.m)
	if err != nil {
		return a.closedTo(ctx, p, who, err)
	}
	return received(s), nil
}

// closedTo deals with an error on the way to somebody's direct messages.
func (a *Adapter) closedTo(ctx context.Context, p outbox.Post, who outbox.User, err error) (outbox.Receipt, error) {
	if !rest.Forbidden(err) && !rest.Gone(err) && !slices.Contains([]int{discordgo.ErrCodeCannotSendMessagesToThisUser, rest.CodeCannotDMShared, discordgo.ErrCodeOpeningDirectMessagesTooFast}, rest.Code(err)) {
		return "", outboxError(err, "")
	}
	a.log.Warn("direct message refused", "post", p.ID, "error", err)
	if rest.Code(err) != discordgo.ErrCodeOpeningDirectMessagesTooFast { // which says nothing of them
		a.dmsClosed.Add(who.ID, time.Now())
	}
	return a.call(ctx, p, who)
}

// call mentions somebody in the channel to whom a post about a game cannot be shown alone.
func (a *Adapter) call(ctx context.Context, p outbox.Post, who outbox.User) (outbox.Receipt, error) {
	if contest.Is(p.Game) {
		return "", fmt.Errorf("%w: the user takes no direct messages", outbox.ErrRefused)
	}
	if p.Number == 0 {
		a.log.Warn("private message dropped: the user takes no direct messages", "post", p.ID, "user", who.ID)
		return "", nil
	}
	at := p.Where.Channel
	if p.Where.Thread != "" {
		at = p.Where.Thread
	}
	once := fmt.Sprintf("%s called in %s of %s after %d", who.ID, at, p.Game, p.Seq)
	if _, called := a.hints.Get(once); called {
		return "", nil
	}
	text, ids := mention([]outbox.User{who})
	text += " " + a.written(bot.Translated(p.Lang, wordClosed, strconv.Itoa(p.Number)))
	m := rest.Message{Content: &text, Nonce: rest.Nonce(p.ID + "/" + who.ID), AllowedMentions: rest.AllowedMentions{Users: ids}}
	s, err := a.rest.Send(ctx, at, m)
	if err != nil {
		return "", outboxError(err, "")
	}
	a.hints.Add(once, struct{}{})
	return receipt(at, s.ID), nil
}
