package discord

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
	"github.com/halfpoint-go/halfpoint/bot"
)

// firstAnswer is the time after which Discord takes no first answer.
const firstAnswer = 3 * time.Second

// late is when there is no point in a first answer any more.
func (w *waiting) late() time.Time { return w.since.Add(firstAnswer) }

// How far the first answer to an interaction has come.
type stage int

const (
	open      stage = iota // nobody has answered
	answering              // somebody is about to
	deferring              // it is being put off
	deferred               // it has been put off: the person sees that the bot thinks
	answered
)

// A waiting is an interaction whose first answer is awaited. One of those who
// have something to say takes it; what is said later goes otherwise.
type waiting struct {
	in      interaction.Interaction
	respond interaction.Responder
	since   time.Time
	timer   *time.Timer

	mu       sync.Mutex
	stage    stage
	changed  chan struct{} // closed when a deferral is done
	begun    chan struct{} // closed when the first answer, or a deferral, was given
	accepted bool          // a post is the answer
	promised bool          // the deferral ended before the post came

	ending chan struct{} // holds a value while somebody ends the deferral: one after the other
}

func newWaiting(in interaction.Interaction, respond interaction.Responder) *waiting {
	return &waiting{in: in, respond: respond, since: time.Now(), changed: make(chan struct{}), begun: make(chan struct{}), ending: make(chan struct{}, 1)}
}

// take takes the first answer. Waiting for a deferral that is on its way, it
// reports what the stage was: open if it is the caller's now.
func (w *waiting) take(ctx context.Context) stage {
	for {
		w.mu.Lock()
		was, changed := w.stage, w.changed
		if was == open {
			w.stage = answering
			w.timer.Stop()
		}
		w.mu.Unlock()
		if was != deferring {
			return was
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return answered
		}
	}
}

// set writes down what became of the first answer.
func (w *waiting) set(s stage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.stage
	w.stage = s
	if was == deferring {
		close(w.changed)
	}
	switch {
	case s == open: // it was not to be: the next who has something to say
		w.timer.Reset(time.Until(w.since.Add(answerAfter)))
	case was != deferred && was != answered:
		close(w.begun)
	}
}

// first waits for the first answer.
func (w *waiting) first() { <-w.begun }

// over reports whether nothing more is to be said.
func (w *waiting) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stage == answered
}

// drops leaves an interaction without an answer. It reports false if somebody sees
// already that the bot thinks, or will: that has to be ended.
func (w *waiting) drops() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stage != open {
		return false
	}
	w.timer.Stop()
	w.stage = answered
	close(w.begun)
	return true
}

// keepFor is how long an interaction that is answered is remembered, so that
// what belongs to it finds out, and what comes twice is known.
const keepFor = 15 * time.Second

// receive takes an interaction and returns at once; what is asked is asked in
// the order of its channel. What it gives is nil if the interaction is known.
func (a *Adapter) receive(in interaction.Interaction, respond interaction.Responder) *waiting {
	if in.User.Bot || in.User.ID == "" {
		return nil
	}
	w := newWaiting(in, respond)
	a.mu.Lock()
	if a.waiting[in.ID] != nil || a.asks == nil {
		a.mu.Unlock()
		return nil
	}
	a.sweep(w.since)
	a.waiting[in.ID] = w
	asks, ctx := a.asks, a.ctx
	w.mu.Lock()
	w.timer = time.AfterFunc(answerAfter, func() {
		if in.Kind != interaction.Typing { // choices cannot be put off
			a.putOff(w)
		}
	})
	w.mu.Unlock()
	a.mu.Unlock()
	a.met(in)
	a.leftover(in)
	if in.Kind != interaction.Typing && a.refuses(w) {
		return w
	}
	key, work := "channel "+in.Channel.ID, a.handle
	if in.Kind == interaction.Typing {
		key, work = "typing "+in.User.ID, a.typing
		w.timer.Stop()
	}
	err := asks.Go(ctx, key, func() {
		defer a.caught(w)
		if in.Kind == interaction.Typing {
			defer w.set(answered)
		}
		work(ctx, w)
	})
	switch {
	case errors.Is(err, lanes.ErrFull) && in.Kind != interaction.Typing:
		a.whisper(ctx, w, wordBusy)
	case err != nil: // too much is typed, or the bot ends: what is put off, the next one ends
		w.drops()
	}
	return w
}

// refuses reports whether somebody asks too much, or too much is asked where they
// are. They are told so for a while.
func (a *Adapter) refuses(w *waiting) bool {
	v := a.people.Take(w.in.User.ID, time.Now())
	if v == lanes.Fine {
		v = a.crowds.Take(w.in.Channel.ID, time.Now())
	}
	if v == lanes.Fine {
		return false
	}
	if v == lanes.TooMuch || !w.drops() {
		if err := a.asks.Go(a.ctx, "refused "+w.in.User.ID, func() { a.whisper(a.ctx, w, wordTooMuch) }); err != nil {
			w.drops()
		}
	}
	return true
}

// sweep forgets interactions that are answered. It is called with the lock held.
func (a *Adapter) sweep(now time.Time) {
	if now.Sub(a.swept) < keepFor/4 {
		return
	}
	a.swept = now
	for id, w := range a.waiting {
		if age := now.Sub(w.since); age > routeLife || age > keepFor && w.over() {
			delete(a.waiting, id)
		}
	}
}

// caught ends a panic with the piece of work in which it happened.
func (a *Adapter) caught(w *waiting) {
	if v := recover(); v != nil {
		a.log.Error("a request panicked", "interaction", w.in.ID, "panic", v, "stack", string(debug.Stack()))
		ctx, cancel := context.WithTimeout(context.Background(), firstAnswer)
		defer cancel()
		a.whisper(ctx, w, wordFailed)
		w.set(answered)
	}
}

// asks again what failed, so often and after so long.
const (
	askTries = 3
	askPause = 100 * time.Millisecond
)

// handle asks what an interaction asks for, and tells the answer.
func (a *Adapter) handle(ctx context.Context, w *waiting) {
	in := w.in
	r := request(in, time.Now())
	ok := false
	switch in.Kind {
	case interaction.Command:
		ok = commanded(&r, in.Command)
		r.Moderator = r.Moderator || permitted(in, r.Command)
		if err := a.withRecord(ctx, &r, in.Command); err != nil {
			a.log.Debug("a record was not read", "error", err)
			a.whisper(ctx, w, wordNoRecordIn)
			return
		}
	case interaction.Press, interaction.Form:
		var ask *rest.Response
		if ask, ok = a.pressed(ctx, w, &r); ok && ask != nil {
			a.reply(ctx, w, *ask)
			return
		}
	}
	if !ok {
		a.whisper(ctx, w, wordFailed)
		return
	}
	if missing := a.missing(in, r.Command); missing != "" {
		a.whisper(ctx, w, wordMissing, missing)
		return
	}
	if r.Command == "remind" { // they may have opened their direct messages for it
		a.closed.drop(in.User.ID)
	}
	answer, err := a.theDesk().Ask(ctx, r)
	for try := 1; err != nil && try < askTries && ctx.Err() == nil; try++ {
		a.log.Warn("a request could not be asked", "request", r.ID, "try", try, "error", err)
		pause(ctx, askPause<<try)
		answer, err = a.theDesk().Ask(ctx, r)
	}
	switch {
	case err != nil:
		a.log.Error("a request failed", "request", r.ID, "error", err)
		a.whisper(ctx, w, wordFailed)
	case answer.Text == "" && answer.Scene == nil && answer.File == nil && len(answer.Controls) == 0:
		w.mu.Lock()
		w.accepted = true
		put := w.stage == deferred
		w.mu.Unlock()
		if put {
			a.owes(w)
		}
	default:
		a.tell(ctx, w, r, answer)
	}
}

// putOff defers an interaction that nobody has answered in time.
func (a *Adapter) putOff(w *waiting) {
	w.mu.Lock()
	if w.stage != open {
		w.mu.Unlock()
		return
	}
	w.stage = deferring
	w.mu.Unlock()
	kept := a.deferred()
	kept.begins(w.in.Token, w.in.Locale, time.Now())
	ctx, cancel := context.WithDeadline(context.Background(), w.late())
	defer cancel()
	_, err := w.respond(ctx, rest.Defer(rest.Ephemeral))
	if isAmbiguous(err) {
		_, e := a.original(w)
		if rest.Gone(e) {
			_, err = w.respond(ctx, rest.Defer(rest.Ephemeral))
		}
		if !rest.Gone(e) || rest.Code(err) == rest.CodeAcknowledged {
			err = nil // it is there, or may be
		}
	}
	if err != nil {
		a.log.Warn("an interaction could not be answered in time", "interaction", w.in.ID, "error", err)
		kept.ended(w.in.Token)
		w.set(answered)
		return
	}
	w.set(deferred)
	w.mu.Lock()
	accepted := w.accepted
	w.mu.Unlock()
	if accepted {
		a.owes(w)
	}
}

// shortly is long enough for a request that nobody waits for.
const shortly = 10 * time.Second

// owes waits a while for the post that is the answer to a deferred interaction: its
// delivery ends the deferral. Nothing happens after the end of Run.
func (a *Adapter) owes(w *waiting) {
	a.mu.Lock()
	asking := a.ctx
	a.mu.Unlock()
	time.AfterFunc(owedAfter, func() {
		ctx, cancel := context.WithTimeout(asking, shortly)
		defer cancel()
		a.promise(ctx, w)
	})
}

// promise ends a deferral whose post is still to come, or was not needed any
// more: a newer board has been shown.
func (a *Adapter) promise(ctx context.Context, w *waiting) {
	w.mu.Lock()
	owed := w.stage == deferred
	w.mu.Unlock()
	if !owed {
		return
	}
	if s, err := a.rest.Original(ctx, w.in.Token); err == nil && s.Flags&flagLoading == 0 {
		w.set(answered) // another process has delivered it
		a.deferred().ended(w.in.Token)
		return
	}
	a.ends(ctx, w, bot.Translated(w.in.Locale, wordDone), true)
}

// finish ends a deferral whose answer is a message of the bot's own, or what was
// promised when that took long. It reports false if there is none.
func (a *Adapter) finish(ctx context.Context, w *waiting, text string) bool {
	return a.ends(ctx, w, text, false)
}

// ends ends a deferral; with promise what is said will be said better once the
// post is there.
func (a *Adapter) ends(ctx context.Context, w *waiting, text string, promise bool) bool {
	w.ending <- struct{}{}
	defer func() { <-w.ending }()
	w.mu.Lock()
	promised := w.promised
	mine := w.stage == deferred || promised
	if mine {
		w.stage, w.promised = answered, promise
	}
	w.mu.Unlock()
	if mine && (promised || a.thinks(ctx, w)) { // nobody else ends it
		a.editOriginal(ctx, w.in.Token, rest.Message{Content: &text, Flags: rest.SuppressEmbeds})
	}
	return mine
}

// thinks reports whether the person sees that the bot thinks. Over HTTP the
// deferral may have gone to somebody who has sent an old request once more, and
// what stands as the answer is the answer.
func (a *Adapter) thinks(ctx context.Context, w *waiting) bool {
	if a.cfg.Listen == "" {
		return true // Discord itself refuses a second first answer
	}
	for try := range askTries {
		s, err := a.rest.Original(ctx, w.in.Token)
		switch {
		case err == nil && s.Flags&flagLoading == 0:
			a.log.Warn("an interaction came again that has its answer", "interaction", w.in.ID)
			a.deferred().ended(w.in.Token)
			return false
		case !rest.Gone(err):
			return true
		}
		pause(ctx, askPause<<try) // Discord may still be reading the response
	}
	return true
}

// editOriginal shows the end of a deferral.
func (a *Adapter) editOriginal(ctx context.Context, token string, m rest.Message) {
	_, err := a.rest.EditOriginal(ctx, token, m)
	if err == nil || rest.Gone(err) {
		a.deferred().ended(token)
	}
	if err != nil {
		a.unended(token, m, err)
	}
}

// unended deals with an error of showing the end of a deferral: it is shown as soon
// as Discord takes it, unless the person sees another by then.
func (a *Adapter) unended(token string, m rest.Message, err error) {
	a.log.Warn("the end of a deferral was not shown", "error", err)
	until := time.Now().Add(routeLife)
	var again func(err error, wait time.Duration)
	again = func(err error, wait time.Duration) {
		if final(err) || time.Now().Add(wait).After(until) {
			return
		}
		time.AfterFunc(wait, func() {
			placed := a.spare("end "+token, func(ctx context.Context) {
				ctx, cancel := context.WithTimeout(ctx, tidyFor)
				defer cancel()
				s, err := a.low.Original(ctx, token)
				if err == nil && s.Flags&flagLoading != 0 {
					_, err = a.low.EditOriginal(ctx, token, m)
				}
				if err == nil || rest.Gone(err) {
					a.deferred().ended(token)
				}
				if err != nil {
					again(err, min(2*wait, time.Minute))
				}
			})
			if !placed { // too much waits, or the bot ends
				again(err, min(2*wait, time.Minute))
			}
		})
	}
	again(err, time.Second)
}

// original reads the first answer to an interaction.
func (a *Adapter) original(w *waiting) (*rest.Sent, error) {
	ctx, cancel := context.WithTimeout(context.Background(), shortly)
	defer cancel()
	return a.rest.Original(ctx, w.in.Token)
}

// whisper tells the person alone something of the adapter's own.
func (a *Adapter) whisper(ctx context.Context, w *waiting, english string, args ...string) {
	a.reply(ctx, w, rest.Reply(rest.Message{Content: new(escape(bot.Translated(w.in.Locale, english, args...))), Flags: rest.Ephemeral}))
}

// reply gives the first answer, or what takes the place of a deferral. A form
// that comes too late is not shown.
func (a *Adapter) reply(ctx context.Context, w *waiting, r rest.Response) {
	switch w.take(ctx) {
	case open:
		if err := a.first(ctx, w, r); err != nil {
			a.log.Warn("an interaction was not answered", "interaction", w.in.ID, "error", err)
		}
	case deferred:
		defer w.set(answered)
		if !a.thinks(ctx, w) {
			return
		}
		m := rest.Message{Content: new(bot.Translated(w.in.Locale, wordFailed))}
		if r.Message != nil {
			m = *r.Message
		}
		m.Flags &^= rest.Ephemeral
		a.editOriginal(ctx, w.in.Token, m)
	}
}

// first gives the first answer, which the caller has taken. After an ambiguous
// end it looks whether the answer is there, and says it once more if not.
func (a *Adapter) first(ctx context.Context, w *waiting, r rest.Response) error {
	defer w.set(answered)
	ctx, cancel := context.WithDeadline(ctx, w.late())
	defer cancel()
	_, err := w.respond(ctx, r)
	if !isAmbiguous(err) || r.Type == rest.ResponseModal {
		return err
	}
	if _, e := a.original(w); rest.Gone(e) {
		_, err = w.respond(ctx, r)
	} else if e == nil {
		err = nil
	}
	if rest.Code(err) == rest.CodeAcknowledged {
		err = nil
	}
	return err
}

func isAmbiguous(err error) bool {
	var a *rest.Ambiguous
	return errors.As(err, &a)
}

// tell tells the answer to a request.
func (a *Adapter) tell(ctx context.Context, w *waiting, r bot.Request, answer bot.Answer) {
	in := w.in
	c := content{text: written(answer.Text), lang: answer.Lang, scene: answer.Scene, name: "board.png", file: answer.File, controls: answer.Controls,
		plain: in.Guild != "" && !in.BotMay.Has(rest.AttachFiles)}
	if c.scene != nil && c.plain {
		c.hints = append(c.hints, bot.Translated(answer.Lang, wordNoFiles, filesPermission))
	}
	if answer.Private {
		c.flags = rest.Ephemeral
	}
	ms, err := c.messages()
	if err != nil {
		a.log.Error("an answer cannot be drawn", "request", r.ID, "error", err)
		c.scene = nil
		if ms, err = c.messages(); err != nil {
			return
		}
	}
	switch w.take(ctx) {
	case open:
		as := rest.Reply
		if answer.Private && in.Message != nil && in.Message.Flags&rest.Ephemeral != 0 {
			as = rest.Update // what was for the person alone turns into the answer
		}
		if err := a.firstInTime(ctx, w, c, ms[0], as); err != nil {
			a.log.Warn("an answer was not shown", "request", r.ID, "error", err)
			return
		}
	case deferred:
		defer w.set(answered)
		if !a.thinks(ctx, w) {
			return
		}
		if !answer.Private && !in.OnlyUser() {
			if s, err := a.sendInTime(ctx, in.Channel.ID, rest.Nonce(r.ID), c, ms[0]); err == nil {
				a.editOriginal(ctx, in.Token, rest.Message{Content: new(link(in.Locale, in.Guild, received(s))), Flags: rest.SuppressEmbeds})
				ms = nil
			}
		}
		if ms != nil {
			a.endInTime(ctx, w, c, ms[0])
		}
	default: // by a post, which does not say this
		ms = append([]rest.Message{{}}, ms...)
	}
	for _, m := range ms[min(1, len(ms)):] {
		if _, err := a.rest.FollowUp(ctx, in.Token, m); err != nil {
			a.log.Warn("the rest of an answer was not shown", "request", r.ID, "error", err)
			return
		}
	}
}

// status is the HTTP status of a refusal; 200 of what is none.
func status(err error) int {
	var e *rest.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return http.StatusOK
}

// pause waits unless ctx ends before.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
