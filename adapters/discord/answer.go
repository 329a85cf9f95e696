package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// firstAnswer is the time after which Discord takes no first answer.
const firstAnswer = 3 * time.Second

// An ackState is how far the first answer to an interaction has come.
type ackState int

const (
	unclaimed ackState = iota // the timer may defer it
	open                      // its handler answers it
	deferred                  // the person sees that the bot thinks
	answered
)

// A pendingInteraction is an interaction that is being handled. One goroutine does
// that at a time, and it alone looks at state; a timer defers the interaction if
// it takes long.
type pendingInteraction struct {
	in      interaction.Interaction
	respond interaction.Responder
	since   time.Time
	form    *rest.Response // that answers it; nil: it asks for something

	state    ackState
	timer    *time.Timer
	deferral chan ackState // has what became of the deferral once the timer has fired
	looked   bool          // the deferral may be another one's, or no deferral but an answer
	showing  bool          // another goroutine shows the posts that answer it
	stored   chan struct{} // closed when the deferral is stored, or cannot be

	begun chan struct{} // closed once the first answer or a deferral was given, or none will be
	begin func()        // closes it
	done  func()        // called when nothing is left to do
}

func newPending(in interaction.Interaction, respond interaction.Responder, done func()) *pendingInteraction {
	x := &pendingInteraction{in: in, respond: respond, done: done, since: time.Now(), deferral: make(chan ackState, 1), begun: make(chan struct{})}
	x.begin = sync.OnceFunc(func() { close(x.begun) })
	return x
}

// late is when there is no point in a first answer any more.
func (x *pendingInteraction) late() time.Time { return x.since.Add(firstAnswer) }

// claim returns how far the first answer has come, after waiting for the timer's deferral
// if that has begun. If it is open, the caller must give it. Without an interaction there
// is none to give.
func (x *pendingInteraction) claim() ackState {
	if x == nil {
		return answered
	}
	if x.state == unclaimed {
		if x.state = open; x.timer != nil && !x.timer.Stop() {
			x.state = <-x.deferral
		}
	}
	return x.state
}

// pressed reports whether the person used a control of a message, or the form that a
// control of a private message opens. Such an interaction is deferred invisibly, and its
// answer is a message of its own.
func (x *pendingInteraction) pressed() bool {
	return x.onMessage() && (x.in.Kind == interaction.Press || x.onPrivate())
}

// onPrivate reports whether the controls are those of a message that only this person
// sees: the outcome replaces that message.
func (x *pendingInteraction) onPrivate() bool {
	return x.onMessage() && x.in.Message.Flags&rest.Ephemeral != 0
}

// onMessage reports whether the person used the controls of a message, or the form that
// one opens.
func (x *pendingInteraction) onMessage() bool {
	return x != nil && (x.in.Kind == interaction.Press || x.in.Kind == interaction.Form) && x.in.Message != nil
}

// mayNotAttach reports whether the bot lacks the permission to attach files to the answer.
func (x *pendingInteraction) mayNotAttach() bool {
	return x.in.Guild != "" && !x.in.BotMay.Has(rest.AttachFiles)
}

// message returns the receipt of the message whose controls the person used; empty: there
// is none.
func (x *pendingInteraction) message() outbox.Receipt {
	if !x.onMessage() {
		return ""
	}
	return receipt(x.in.Channel.ID, x.in.Message.ID)
}

// receive takes an interaction and returns at once; requests are asked in the order
// of their channel. A form waits for nobody: Discord shows none after a deferral. It
// returns nil if the interaction is known. When nothing is left to do, done is called.
func (a *Adapter) receive(in interaction.Interaction, respond interaction.Responder, done func()) *pendingInteraction {
	if in.User.Bot || in.User.ID == "" {
		done()
		return nil
	}
	if known, _ := a.seen.ContainsOrAdd(in.ID, struct{}{}); known {
		done()
		return nil
	}
	a.event.Set(time.Now())
	a.met(in)
	a.removeStaleCommands(in)
	x := newPending(in, respond, done)
	key, work := "channel "+in.Channel.ID, a.handle
	if x.form = a.formFor(in); x.form != nil {
		key, work = "form "+in.ID, func(ctx context.Context, x *pendingInteraction) {
			form := *x.form
			if p, ok := eventPress(in); ok {
				form = a.eventModal(ctx, in, p)
			}
			a.reply(ctx, x, form)
		}
	}
	if in.Kind == interaction.Typing {
		key, work = "typing "+in.User.ID, func(ctx context.Context, x *pendingInteraction) {
			defer x.begin()
			a.typing(ctx, x)
		}
	} else {
		switch a.limited(in.User.ID, in.Channel.ID) {
		case intake.Fine:
		case intake.TooMuch:
			key, work = "refused "+in.User.ID, func(ctx context.Context, x *pendingInteraction) { a.replyEphemeral(ctx, x, wordTooMuch) }
		default:
			x.begin()
			done()
			return x
		}
		x.timer = time.AfterFunc(answerAfter, func() { a.deferAnswer(x) })
	}
	ctx := a.drainCtx
	err := a.requests.Go(key, func() {
		a.guarded(x, func() { work(ctx, x) })
		if !x.showing {
			done()
		}
	})
	switch {
	case errors.Is(err, intake.ErrFull) && in.Kind != interaction.Typing:
		a.replyEphemeral(ctx, x, wordBusy)
		done()
	case err != nil: // too much is typed, or the bot ends: what is deferred, the next process ends
		if x.timer != nil {
			x.timer.Stop()
		}
		x.begin()
		done()
	}
	return x
}

// limited reports whether a person asks too much, or too much is asked in a channel.
func (a *Adapter) limited(person, channel string) intake.Verdict {
	if v := a.personLimit.Take(person, time.Now()); v != intake.Fine {
		return v
	}
	return a.channelLimit.Take(channel, time.Now())
}

// guarded does a piece of work for an interaction. A panic ends that piece alone.
func (a *Adapter) guarded(x *pendingInteraction, work func()) {
	defer func() {
		if v := recover(); v != nil {
			a.log.Error("request panicked", "interaction", x.in.ID, "panic", v, "stack", string(debug.Stack()))
			ctx, cancel := context.WithTimeout(context.Background(), firstAnswer)
			defer cancel()
			a.replyEphemeral(ctx, x, wordFailed)
			x.begin()
		}
	}()
	work()
}

// The service is asked again if it fails, so often and after so long.
const (
	askTries = 3
	askPause = 100 * time.Millisecond
)

// tried does something until it succeeds, but no more than a few times.
func tried(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == askTries || ctx.Err() != nil {
			return err
		}
		backoff.Sleep(ctx, backoff.After(try+1, askPause, time.Second))
	}
}

// handle asks what an interaction asks for, and has the answer shown.
func (a *Adapter) handle(ctx context.Context, x *pendingInteraction) {
	r, ok := a.requested(ctx, x)
	if !ok {
		return
	}
	var answer bot.Answer
	err := tried(ctx, func() (err error) {
		if answer, err = a.service.Ask(ctx, r); err != nil {
			a.log.Warn("request failed", "request", r.ID, "error", err)
		}
		return err
	})
	if err != nil {
		a.log.Error("request failed, gave up", "request", r.ID, "error", err)
		a.replyEphemeral(ctx, x, wordFailed)
		return
	}
	// Each game is shown beside the others, however slow one is.
	key := x.in.ID
	if len(answer.Posts) > 0 {
		key = cmp.Or(string(answer.Posts[0].Game), key)
	}
	x.showing = true
	err = a.answers.Go(key, func() {
		defer x.done()
		a.guarded(x, func() { a.showPosts(ctx, x, answer) })
	})
	if err != nil {
		x.showing = false
		a.replyEphemeral(ctx, x, wordBusy)
		for _, p := range answer.Posts {
			if p.Kind != match.Answer {
				a.settle(ctx, p, "", nil, err)
			}
		}
	}
}

// requested makes a request of an interaction. It returns false if the interaction
// has been answered instead.
func (a *Adapter) requested(ctx context.Context, x *pendingInteraction) (r bot.Request, ok bool) {
	in := x.in
	r = request(in, time.Now())
	switch in.Kind {
	case interaction.Command:
		ok = commanded(&r, in.Command)
		for _, u := range in.Command.Users {
			if u.Bot { // it could never join
				a.replyEphemeral(ctx, x, a.noOpponent(u), bot.Mention{Command: "new"}.Mark())
				return r, false
			}
		}
		if err := a.withFile(ctx, &r, in.Command); err != nil {
			a.log.Debug("file not read", "error", err)
			if errors.Is(err, errTooLarge) {
				a.replyEphemeral(ctx, x, wordTooLarge, strconv.Itoa(maxRecord>>20))
			} else {
				a.replyEphemeral(ctx, x, wordNoRecordIn)
			}
			return r, false
		}
	case interaction.Press, interaction.Form:
		var ask *rest.Response
		if ask, ok = a.pressed(ctx, x, &r); ok && ask != nil {
			a.reply(ctx, x, *ask)
			return r, false
		}
	}
	if !ok {
		a.replyEphemeral(ctx, x, wordFailed)
		return r, false
	}
	if missing := a.missing(in, r.Command); missing != "" {
		a.replyEphemeral(ctx, x, wordMissing, missing)
		return r, false
	}
	if r.Command == "remind" { // they may have opened their direct messages for it
		a.dmsClosed.Remove(in.User.ID)
	}
	return r, true
}

// showPosts shows the posts of an answer, and settles or releases each.
func (a *Adapter) showPosts(ctx context.Context, x *pendingInteraction, answer bot.Answer) {
	defer x.begin()
	var released match.GameID
	for _, p := range answer.Posts {
		if p.Game != "" && p.Game == released { // with the one before
			continue
		}
		receipt, owes, err := a.show(ctx, p, x)
		if errors.Is(err, outbox.ErrTooLarge) && p.Scene != nil {
			p.Scene = nil // the words say it too
			receipt, owes, err = a.show(ctx, p, x)
		}
		if err != nil {
			a.log.Info("post not shown with its answer, outbox will deliver it", "post", p.ID, "error", err)
			released = p.Game
		}
		a.settle(ctx, p, receipt, owes, err)
	}
	switch {
	case answer.Own().Kind != "":
	case x.pressed():
		a.dismiss(ctx, x)
	default: // the outbox shows it, or has before
		a.replyEphemeral(ctx, x, wordDone)
	}
}

// settle stores what came of showing a post.
func (a *Adapter) settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes []outbox.Owes, shown error) {
	if err := a.service.Settle(ctx, p, r, owes, shown); err != nil {
		a.log.Error("storing the outcome of a post failed, will look for it again", "post", p.ID, "error", err)
	}
}

// acknowledge gives a first answer that shows nothing, before what comes of a press is
// shown as a message of its own.
func (a *Adapter) acknowledge(ctx context.Context, x *pendingInteraction) {
	if x.claim() != open {
		return
	}
	a.owesEnding(x)
	if _, _, err := a.first(ctx, x, rest.DeferUpdate()); err != nil {
		a.log.Warn("interaction not answered", "interaction", x.in.ID, "error", err)
	}
	x.state = deferred
	x.begin()
}

// dismiss acknowledges a press whose outcome is shown elsewhere, and deletes the private
// message on which it was made.
func (a *Adapter) dismiss(ctx context.Context, x *pendingInteraction) {
	a.reply(ctx, x, rest.DeferUpdate())
	if !x.onPrivate() {
		return
	}
	err := tried(ctx, func() error {
		err := a.rest.DeleteOriginal(ctx, x.in.Token)
		if rest.Gone(err) && a.cfg.Listen == "" { // over HTTP Discord may still be reading the response
			return nil
		}
		return err
	})
	if err != nil {
		a.log.Info("private message not deleted, its controls stay", "interaction", x.in.ID, "error", err)
	}
}

// deferAnswer defers an interaction that nobody has answered in time.
func (a *Adapter) deferAnswer(x *pendingInteraction) {
	state := answered
	defer func() {
		x.deferral <- state
		x.begin()
	}()
	if x.form != nil {
		if _, _, err := a.first(context.Background(), x, a.ephemeral(x, wordBusy)); err != nil {
			a.log.Warn("form not shown in time", "interaction", x.in.ID, "error", err)
		}
		return
	}
	a.owesEnding(x)
	deferral := rest.Defer(rest.Ephemeral)
	if x.pressed() {
		deferral = rest.DeferUpdate()
	}
	_, looked, err := a.first(context.Background(), x, deferral)
	x.looked = looked
	if err != nil && !isAmbiguous(err) { // else it may be there
		a.log.Warn("interaction not answered in time", "interaction", x.in.ID, "error", err)
		a.ended(x)
		return
	}
	state = deferred
}

// shortly is long enough for a request that nobody waits for.
const shortly = 10 * time.Second

// An ending is stored for a deferred interaction. If the program is killed meanwhile,
// the next start uses it to end the "thinking…" that the person still sees.
type ending struct {
	Token string
	Lang  string
	Text  string `json:",omitempty"` // empty: that it was interrupted
}

// owe stores that the deferral of an interaction ends with a text, at a time or when the
// program starts again.
func (a *Adapter) owe(x *pendingInteraction, text string, from time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), shortly)
	defer cancel()
	data := marshal(ending{Token: x.in.Token, Lang: x.in.Locale, Text: text})
	err := a.service.Owe(ctx, x.room(), outbox.Owes{Kind: outbox.Ending, Key: x.in.ID, Data: data, NotBefore: from, NotAfter: x.since.Add(routeLife + time.Minute)})
	if err != nil {
		a.log.Error("end of a deferred interaction not stored, its placeholder may stay", "interaction", x.in.ID, "error", err)
	}
}

// owesEnding stores that an interaction is about to be deferred, unless that shows
// nothing. It does not wait for long: a database that is slow is one reason to defer.
func (a *Adapter) owesEnding(x *pendingInteraction) {
	x.stored = make(chan struct{})
	if x.pressed() {
		close(x.stored)
		return
	}
	go func() {
		defer close(x.stored)
		a.owe(x, "", x.since.Add(routeLife))
	}()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-x.stored:
	case <-wait.C:
	}
}

func (x *pendingInteraction) room() match.Room {
	return match.Room{Platform: Name, Channel: x.in.Channel.ID}
}

// ended notes that nobody sees any more that the bot thinks.
func (a *Adapter) ended(x *pendingInteraction) {
	<-x.stored
	ctx, cancel := context.WithTimeout(context.Background(), shortly)
	defer cancel()
	if err := a.service.Owe(ctx, x.room(), outbox.Owes{Kind: outbox.Ending, Key: x.in.ID, Done: true}); err != nil {
		a.log.Error("cleanup of a deferred interaction not stored", "interaction", x.in.ID, "error", err)
	}
}

// ending ends a deferral that an earlier process has left, or whose end Discord did
// not take. Whether the request was done is not known here: its posts come by
// themselves.
func (a *Adapter) ending(ctx context.Context, p outbox.Post) error {
	var e ending
	if err := json.Unmarshal([]byte(p.Data), &e); err != nil {
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	defer a.inTurn(e.Token)() // between the look and the edit nobody else edits it
	s, err := a.rest.Original(ctx, e.Token)
	if err == nil && s.Flags&flagLoading != 0 {
		text := cmp.Or(e.Text, bot.Translated(e.Lang, wordInterrupted))
		_, err = a.rest.EditOriginal(ctx, e.Token, rest.Message{Content: &text, Flags: rest.SuppressEmbeds})
	}
	return outboxError(err, "")
}

// inTurn has the first answer to an interaction changed by one after the other: it waits for its
// turn, and the function that it returns ends that.
func (a *Adapter) inTurn(token string) (done func()) {
	turn := a.originals[crc32.ChecksumIEEE([]byte(token))%uint32(len(a.originals))]
	turn <- struct{}{}
	return func() { <-turn }
}

// end shows a message in place of a deferral. If Discord does not take it now, the outbox
// shows its words later.
func (a *Adapter) end(ctx context.Context, x *pendingInteraction, m rest.Message) {
	x.state = answered
	if x.pressed() {
		m.Flags |= rest.Ephemeral
		if _, err := a.followUp(ctx, x.in.Token, m); err != nil {
			a.log.Warn("press not answered", "interaction", x.in.ID, "error", err)
		}
		return
	}
	if a.thinks(ctx, x) {
		m.Flags &^= rest.Ephemeral
		if _, err := a.rest.EditOriginal(ctx, x.in.Token, m); err != nil {
			a.log.Warn("deferred interaction not completed", "interaction", x.in.ID, "error", err)
			if !final(err) {
				<-x.stored
				a.owe(x, *m.Content, time.Now().Add(time.Second))
				return
			}
		}
	}
	a.ended(x)
}

// followUp sends a further message in answer to an interaction that has its first one. Over
// HTTP Discord may still be reading that, and does not know the token until it has.
func (a *Adapter) followUp(ctx context.Context, token string, m rest.Message) (s *rest.Sent, err error) {
	for try := range askTries {
		s, err = a.rest.FollowUp(ctx, token, m)
		if !rest.Gone(err) || a.cfg.Listen == "" {
			break
		}
		backoff.Sleep(ctx, backoff.After(try+1, askPause, time.Second))
	}
	return s, err
}

// thinks reports whether the person sees that the bot thinks. Another process may have
// answered the interaction, and over HTTP the deferral may have gone to a sender that
// repeated an old request: then the message that Discord has is the answer.
func (a *Adapter) thinks(ctx context.Context, x *pendingInteraction) bool {
	if a.cfg.Listen == "" && !x.looked {
		return true // Discord itself has taken the deferral
	}
	for try := range askTries {
		s, err := a.rest.Original(ctx, x.in.Token)
		switch {
		case err == nil && s.Flags&flagLoading == 0:
			a.log.Warn("interaction received again, already answered, ignored", "interaction", x.in.ID)
			return false
		case !rest.Gone(err):
			return true
		}
		backoff.Sleep(ctx, backoff.After(try+1, askPause, time.Second)) // Discord may still be reading the response
	}
	return true
}

// original reads the first answer to an interaction.
func (a *Adapter) original(x *pendingInteraction) (*rest.Sent, error) {
	ctx, cancel := context.WithTimeout(context.Background(), shortly)
	defer cancel()
	return a.rest.Original(ctx, x.in.Token)
}

// replyEphemeral tells the person alone something of the adapter's own.
func (a *Adapter) replyEphemeral(ctx context.Context, x *pendingInteraction, english string, args ...string) {
	a.reply(ctx, x, a.ephemeral(x, english, args...))
}

func (a *Adapter) ephemeral(x *pendingInteraction, english string, args ...string) rest.Response {
	return rest.Reply(rest.Message{Content: new(a.written(bot.Translated(x.in.Locale, english, args...))), Flags: rest.Ephemeral})
}

// reply sends the first answer, or what replaces a deferral; nothing if
// there is an answer.
func (a *Adapter) reply(ctx context.Context, x *pendingInteraction, r rest.Response) {
	switch x.claim() {
	case open:
		x.state = answered
		if _, _, err := a.first(ctx, x, r); err != nil {
			a.log.Warn("interaction not answered", "interaction", x.in.ID, "error", err)
		}
		x.begin()
	case deferred:
		if r.Type == rest.ResponseDeferUpdate { // it is acknowledged
			x.state = answered
			return
		}
		a.end(ctx, x, *r.Message)
	}
}

// first sends the first answer, which the caller has claimed, and returns its message,
// if there is one. If it is not known whether Discord took it, first looks for the
// message: it returns that, or sends the answer again if there is none.
func (a *Adapter) first(ctx context.Context, x *pendingInteraction, r rest.Response) (shown *rest.Sent, looked bool, err error) {
	ctx, cancel := context.WithDeadline(ctx, x.late())
	defer cancel()
	for try := range 3 {
		shown, err = x.respond(ctx, r)
		there := rest.Code(err) == discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged
		if rest.Code(err) == discordgo.ErrCodeUnknownMessage && r.Type == rest.ResponseUpdate && !x.in.OnlyUser() {
			r.Type = rest.ResponseMessage // what it was to change is gone
			continue
		}
		if try == 2 || !there && !isAmbiguous(err) || r.Type == rest.ResponseModal || ctx.Err() != nil {
			break
		}
		is, e := a.original(x)
		if e == nil {
			return is, true, nil
		}
		if !rest.Gone(e) {
			return nil, true, &rest.Ambiguous{What: "answer an interaction", Cause: e}
		}
	}
	if err == nil && (r.Type == rest.ResponseDeferUpdate || r.Type == rest.ResponseUpdate) {
		a.answeredBy(x, x.in.Message.ID)
	}
	return shown, false, err
}

func isAmbiguous(err error) bool {
	var a *rest.Ambiguous
	return errors.As(err, &a)
}

// status is the HTTP status of a refusal; 200 of what is none.
func status(err error) int {
	var e *rest.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return http.StatusOK
}

// atLeast returns how long to wait after an error before the next try: so long, or
// longer if Discord asks for that.
func atLeast(wait time.Duration, err error) time.Duration {
	var limited *rest.RateLimited
	if errors.As(err, &limited) {
		return max(wait, limited.Wait)
	}
	return wait
}
