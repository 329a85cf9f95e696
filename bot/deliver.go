package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules"
)

const (
	claimFor   = 30 * time.Second // a post is not given to another delivery for so long
	retryAfter = 5 * time.Second  // after an error that says nothing better; twice as long after the next,
	retryMost  = 30 * time.Second // but no longer than this
	maxTries   = 3                // of what panics or is refused
	deliverFor = 75 * time.Second // for one post: pictures go up slow lines
	finishIn   = 8 * time.Second  // once the program has been told to stop
	settleFor  = 5 * time.Second  // to write down that a post was shown
	renewEvery = 10 * time.Second // claims that are in use
	askerWaits = time.Second      // for older posts of its lane
	againAfter = time.Second      // until a post is claimed again whose delivery was just ending
)

// deliveries is how many lanes of a platform are delivered at once, unless told
// otherwise. At 300 ms for a message that is 100 a second, twice what Discord takes
// from one bot; more would only hold more pictures in memory, a megabyte each.
const deliveries = 32

// Flush delivers until nothing is due, for tests.
func (b *Bot) Flush(ctx context.Context, adapters ...Adapter) error {
	for {
		if n, err := b.Deliver(ctx, adapters...); n == 0 || err != nil {
			return err
		}
	}
}

// Deliver shows the posts that are due, the oldest of each lane, and returns how
// many there were. When it returns 0, calling it again is of no use until
// something new is due.
func (b *Bot) Deliver(ctx context.Context, adapters ...Adapter) (int, error) {
	b.delivery.Lock()
	defer b.delivery.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// What has been taken up is finished, even if the program is told to stop
	// meanwhile: half a delivery would have to be repeated after the restart.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishIn)
	defer cancel()
	var wait sync.WaitGroup
	n, err := b.takeUp(ctx, adapters, &wait)
	wait.Wait()
	if err != nil || ctx.Err() != nil {
		return n, err
	}
	decorated, err := b.decorate(ctx, adapters)
	return n + decorated, err
}

// delivering delivers until ctx is done.
func (b *Bot) delivering(ctx context.Context, adapters []Adapter) {
	finishing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wait sync.WaitGroup
	defer wait.Wait()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishIn, cancel) })()
	if b.slots > 1 {
		b.startLanes(func(l Lane) { wait.Go(func() { b.write(finishing, adapters, l) }) })
		defer b.startLanes(nil)
	}
	b.setRunning(true)
	defer b.setRunning(false)
	wait.Go(func() { b.decorating(ctx, finishing, adapters) })
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		b.renew(ctx)
		n, err := b.takeUp(finishing, adapters, &wait)
		if err != nil && ctx.Err() == nil {
			b.log.Error("deliver", "error", err)
		}
		if n > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-b.wake:
		case <-tick.C:
		}
	}
}

// takeUp claims the posts that are due, starts delivering them in wait, each lane
// on a goroutine of its own, and returns how many there are.
func (b *Bot) takeUp(ctx context.Context, adapters []Adapter, wait *sync.WaitGroup) (int, error) {
	due, begin, err := b.claim(ctx)
	if err != nil {
		return 0, err
	}
	inOrder := map[string][]Lane{}
	for _, l := range begin {
		switch {
		case b.slots == 1: // one after the other, in their order
			b.write(ctx, adapters, l)
		case b.outbox.Narrow(l.Platform, b.now()):
			inOrder[l.Platform] = append(inOrder[l.Platform], l)
		default:
			wait.Go(func() { b.write(ctx, adapters, l) })
		}
	}
	for _, lanes := range inOrder {
		wait.Go(func() {
			for _, l := range lanes {
				b.write(ctx, adapters, l)
			}
		})
	}
	return due, nil
}

// startLanes sets how commit starts to deliver a lane; nil: it leaves that to the
// next claim.
func (b *Bot) startLanes(start func(Lane)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.start = start
}

// A claimed post is one that this process shows.
type claimed struct {
	Owed
	situation *situation // in which this process stored it, or nil
	since     time.Time  // when it was claimed
	renewed   time.Time  // when its claim was made or renewed
}

// A situation is what a step left behind: a post that is delivered right after it
// need not look that up.
type situation struct {
	match Match
	pos   *match.Position
	place place // where the match is played
	who   map[Person]Who
	at    time.Time
}

// fresh is how long a situation is taken for the present one.
const fresh = 2 * time.Second

// recent returns the situation in which a post was stored, if that was just now.
func (b *Bot) recent(o claimed) *situation {
	if s := o.situation; s != nil && o.Game == s.match.ID && o.Seq == s.match.Seq && b.now().Sub(s.at) < fresh {
		return s
	}
	return nil
}

// commit stores a step, which was decided from in unless that is nil, and starts
// to deliver its posts: those that it could claim at once, the others after they
// are claimed. It returns those that the asker is to show, who asked there.
func (b *Bot) commit(ctx context.Context, step *Step, in *task, asker *Request) ([]claimed, error) {
	b.mu.Lock()
	start := b.start != nil
	b.mu.Unlock()
	now := b.now()
	for i := range step.Posts {
		switch o := &step.Posts[i]; {
		case b.outbox.Held(o.Where.Platform, now) > 0:
		case asker != nil && !o.Private && o.Where.Platform == asker.Where.Platform && o.Where.Channel == asker.Where.Channel &&
			(i == 0 || !step.New || asker.Flat): // what follows the first post of a game needs its receipt
			o.For = Asker
		case start && !b.outbox.Narrow(o.Where.Platform, now): // or lanes that have waited longer come first
			o.For = Outbox
		}
		step.Claim = now.Add(claimFor)
	}
	if err := b.store.Take(ctx, step); err != nil {
		return nil, err
	}
	var left *situation
	if step.After != nil {
		b.cache.keep(step.Match.ID, step.After, in.epoch)
		left = &situation{*step.Match, step.After, in.place, in.who, b.now()}
	}
	b.mu.Lock()
	var own []claimed
	var late chan claimed
	for _, o := range step.Posts {
		c := claimed{o, left, now, now}
		switch {
		case o.Held():
			own = append(own, c)
			b.asked[o.ID] = c
		case o.For == Asker && len(own) == 0 && late == nil && b.running:
			late = make(chan claimed, 1)
			b.wanted[o.ID] = late
			b.Wake()
		case o.Attempt == 0 || b.start == nil:
			b.Wake()
		default:
			l := o.Lane()
			posts, busy := b.underway[l]
			b.underway[l] = append(posts, c)
			if !busy {
				b.start(l)
			}
		}
	}
	b.mu.Unlock()
	if late != nil {
		own = b.await(ctx, late)
		for i := range own {
			own[i].situation = left
		}
	}
	return own, nil
}

// await waits a while until the claim is the asker's that is to be handed over.
func (b *Bot) await(ctx context.Context, late chan claimed) []claimed {
	wait := time.NewTimer(askerWaits)
	defer wait.Stop()
	select {
	case c := <-late:
		return []claimed{c}
	case <-wait.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, w := range b.wanted {
		if w == late {
			delete(b.wanted, id)
		}
	}
	select {
	case c := <-late:
		return []claimed{c}
	default:
		return nil
	}
}

// claim claims the posts that are due, and returns how many there are and the
// lanes that nobody delivers yet.
func (b *Bot) claim(ctx context.Context) (n int, begin []Lane, err error) {
	b.mu.Lock()
	b.claims++
	b.mu.Unlock()
	now := b.now()
	due, err := b.store.Claim(ctx, now, now.Add(claimFor), b.outbox.HeldPlatforms(now)...)
	var again []Owed // that are being delivered, or were a moment ago
	defer func() {
		for _, o := range again { // unless that settles them they are due again soon
			if err := b.store.Later(ctx, o.ID, o.Attempt, now.Add(againAfter), true); err != nil && ctx.Err() == nil {
				b.log.Error("claim not released, it runs out by itself", "post", o.ID, "error", err)
			}
		}
	}()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range due {
		l := o.Lane()
		if asker := b.wanted[o.ID]; asker != nil {
			delete(b.wanted, o.ID)
			b.asked[o.ID] = claimed{Owed: o, since: now, renewed: now}
			asker <- b.asked[o.ID]
			continue
		}
		if _, asked := b.asked[o.ID]; asked {
			again = append(again, o)
			continue
		}
		posts, busy := b.underway[l]
		// A delivery may take longer than its claim, and end while the post is
		// claimed once more.
		if b.finished[o.ID] || slices.ContainsFunc(posts, func(p claimed) bool { return p.ID == o.ID }) {
			again = append(again, o)
			continue
		}
		if !busy {
			begin = append(begin, l)
		}
		b.underway[l] = append(posts, claimed{Owed: o, since: now, renewed: now})
	}
	// After a hold there may be room for one: who has waited longest comes first.
	slices.SortStableFunc(begin, func(x, y Lane) int { return b.turns[x].Compare(b.turns[y]) })
	if b.claims--; b.claims == 0 {
		clear(b.finished)
	}
	return len(due), begin, err
}

// write delivers what has been taken up of a lane, until there is no more.
func (b *Bot) write(ctx context.Context, adapters []Adapter, l Lane) {
	slot := b.slotsOf(l.Platform)
	slot <- struct{}{}
	defer func() { <-slot }()
	for {
		b.mu.Lock()
		posts := b.underway[l]
		if len(posts) == 0 {
			delete(b.underway, l)
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		ok := b.inTurn(ctx, adapters, posts[0])
		b.mu.Lock()
		if b.claims > 0 {
			b.finished[posts[0].ID] = true
		}
		rest := b.underway[l][1:]
		if b.underway[l] = rest; !ok {
			delete(b.underway, l)
		}
		b.mu.Unlock()
		if !ok {
			b.letGo(ctx, rest)
		}
		b.Wake() // the next of the same game can be taken up now
		if !ok {
			return
		}
	}
}

// inTurn delivers a post when its turn has come, and reports whether the next of its
// lane may follow. While an account may send nothing, nothing waits for it with a
// claim; after that posts go one at a time for a while.
func (b *Bot) inTurn(ctx context.Context, adapters []Adapter, o claimed) bool {
	platform := o.Where.Platform
	if b.outbox.Narrow(platform, b.now()) {
		turn := b.turnOf(platform)
		turn <- struct{}{}
		defer func() { <-turn }()
	}
	if b.outbox.Held(platform, b.now()) > 0 {
		b.letGo(ctx, []claimed{o})
		return false
	}
	b.outbox.Spend(platform, b.now())
	ctx, cancel := context.WithTimeout(ctx, deliverFor)
	defer cancel()
	return b.deliver(ctx, adapters, o)
}

// letGo ends the claims on posts that are not going to be delivered now.
func (b *Bot) letGo(ctx context.Context, posts []claimed) {
	for _, o := range posts {
		if err := b.store.Later(ctx, o.ID, o.Attempt, b.now(), true); err != nil && ctx.Err() == nil {
			b.log.Error("claim not released, it runs out by itself", "post", o.ID, "error", err)
		}
	}
}

// renew renews the claims that have been in use for a while. One that an asker has
// had for longer than any delivery takes is let go.
func (b *Bot) renew(ctx context.Context) {
	now := b.now()
	var old []Owed
	b.mu.Lock()
	renewed := func(c *claimed) {
		if now.Sub(c.renewed) >= renewEvery {
			c.renewed = now
			old = append(old, c.Owed)
		}
	}
	for _, posts := range b.underway {
		for i := range posts {
			renewed(&posts[i])
		}
	}
	for id, c := range b.asked {
		if now.Sub(c.since) > deliverFor {
			delete(b.asked, id)
			continue
		}
		renewed(&c)
		b.asked[id] = c
	}
	b.mu.Unlock()
	if len(old) == 0 {
		return
	}
	if err := b.store.Renew(ctx, old, now.Add(claimFor)); err != nil && ctx.Err() == nil {
		b.log.Error("claims not renewed", "posts", len(old), "error", err)
	}
}

func (b *Bot) setRunning(is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running = is
}

// turnOf holds a value while a post to a platform is sent that is narrow.
func (b *Bot) turnOf(platform string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.narrow[platform]
	if t == nil {
		t = make(chan struct{}, 1)
		b.narrow[platform] = t
	}
	return t
}

// slotsOf bounds how many lanes of a platform are delivered at once: one platform
// that is slow leaves the others theirs.
func (b *Bot) slotsOf(platform string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.writing[platform]
	if s == nil {
		s = make(chan struct{}, b.slots)
		b.writing[platform] = s
	}
	return s
}

// deliver shows one post and stores what became of it. It reports false if
// nothing more may be shown in its lane now.
func (b *Bot) deliver(ctx context.Context, adapters []Adapter, o claimed) bool {
	adapter := adapterOf(adapters, o.Where.Platform)
	if adapter == nil {
		if err := b.store.Postpone(ctx, o.Where, b.now().Add(time.Hour)); err != nil && ctx.Err() == nil {
			b.log.Error("post not put off", "post", o.ID, "error", err)
		}
		return false
	}
	var post Post
	err := guarded(func() (err error) {
		post, err = b.worded(ctx, o)
		return err
	})
	var receipt Receipt
	var owes []Owes
	if err == nil {
		receipt, owes, err = deliver(ctx, adapter, post)
	}
	return b.delivered(ctx, o, post.At, receipt, owes, err)
}

func adapterOf(adapters []Adapter, platform string) Adapter {
	for _, a := range adapters {
		if a.Name() == platform {
			return a
		}
	}
	return nil
}

// delivered stores what became of a post, and reports whether the next of its lane
// may follow at once.
func (b *Bot) delivered(ctx context.Context, o claimed, at time.Time, receipt Receipt, owes []Owes, err error) bool {
	log := b.log.With("post", o.ID, "channel", o.Where.Channel)
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			log.Error("outcome of a delivery not stored", "error", err)
		}
	}
	now := b.now()
	var wait RetryAfter
	if !errors.As(err, &wait) || !wait.Account {
		b.mu.Lock()
		b.turns[o.Lane()] = now
		if len(b.turns) > maxTurns {
			clear(b.turns)
		}
		b.mu.Unlock()
	}
	var forbidden Forbidden
	var panicked errPanic
	switch {
	case errors.Is(err, errStale):
		failed(b.store.Settle(ctx, o.ID, "", nil, Decorations{}))
		return true
	case err == nil:
		// It was shown, however late: what is not stored is shown again.
		settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
		defer cancel()
		if err := b.settle(settling, o.Owed, receipt, nil, owes); err != nil {
			log.Error("outcome of a delivery not stored", "error", err)
		}
		if b.shown != nil && o.Kind == Show && !at.IsZero() {
			b.shown(o.Where.Platform, max(0, now.Sub(at)))
		}
		return true
	case ctx.Err() != nil:
		// The claim runs out; the post is taken up again after the restart.
	case errors.As(err, &wait):
		if wait.Account {
			b.outbox.Hold(o.Where.Platform, now, wait.Wait)
			time.AfterFunc(wait.Wait+time.Millisecond, b.Wake)
			failed(b.store.Later(ctx, o.ID, o.Attempt, now, true))
			break
		}
		failed(b.store.Later(ctx, o.ID, o.Attempt, now.Add(wait.Wait), true))
	case errors.Is(err, ErrGone), errors.As(err, &forbidden):
		game := GameID("")
		if errors.As(err, new(InThread)) {
			game = o.Game
		}
		first, e := b.store.Park(ctx, o.Where, game, err.Error())
		failed(e)
		if first {
			log.Warn("cannot post to a room; its posts wait until somebody speaks there", "error", err)
		}
	case errors.Is(err, ErrTooLarge):
		log.Error("post too large even without its picture, dropped", "error", err)
		failed(b.store.Settle(ctx, o.ID, "", nil, Decorations{}))
		return true
	case o.Attempt >= maxTries && (errors.Is(err, ErrRefused) || errors.As(err, &panicked)):
		log.Error("post given up", "attempt", o.Attempt, "error", err, "stack", panicked.stack)
		failed(b.store.Refuse(ctx, o.ID, o.Attempt, err.Error()))
		return true
	default: // ErrAmbiguous too: the adapter looks for the message on the next attempt
		log.Warn("post not delivered, will retry", "attempt", o.Attempt, "error", err)
		failed(b.store.Later(ctx, o.ID, o.Attempt, now.Add(min(retryAfter<<min(o.Attempt-1, 10), retryMost)), false))
	}
	return false
}

// maxTurns is of how many lanes it is remembered when they had their turn.
const maxTurns = 10_000

// Settle stores that the asker has shown a post; see [Desk].
func (b *Bot) Settle(ctx context.Context, p Post, r Receipt, owes ...Owes) error {
	o, ok := b.given(p.ID)
	if !ok {
		o = claimed{Owed: Owed{ID: p.ID, Game: p.Game, Where: p.Where, Kind: p.Kind, Seq: p.Seq}}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	defer b.Wake()
	if err := b.settle(ctx, o.Owed, r, p.Message, owes); err != nil {
		return err
	}
	if b.shown != nil && p.Kind == Show && !p.At.IsZero() {
		b.shown(p.Where.Platform, max(0, b.now().Sub(p.At)))
	}
	return nil
}

// Release gives back a post that the asker could not show; see [Desk].
func (b *Bot) Release(ctx context.Context, p Post, why error) error {
	o, ok := b.given(p.ID)
	if !ok {
		return nil // its claim has run out
	}
	ctx = context.WithoutCancel(ctx)
	if errors.Is(why, ErrTooLarge) && p.Scene != nil {
		why = RetryAfter{} // the outbox shows it without its picture
	}
	b.delivered(ctx, o, p.At, "", nil, why)
	b.mu.Lock()
	var after []claimed
	for id, c := range b.asked {
		if c.Lane() == o.Lane() && c.since.Equal(o.since) {
			after = append(after, c)
			delete(b.asked, id)
		}
	}
	b.mu.Unlock()
	b.letGo(ctx, after)
	b.Wake()
	return nil
}

// given ends the asker's hold on a post.
func (b *Bot) given(id string) (claimed, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.asked[id]
	delete(b.asked, id)
	if ok && b.claims > 0 {
		b.finished[id] = true
	}
	return o, ok
}

// give words the posts that the asker is to show. What cannot be worded now the
// outbox shows later.
func (b *Bot) give(ctx context.Context, own []claimed) (posts []Post) {
	for i, o := range own {
		var p Post
		err := guarded(func() (err error) {
			p, err = b.worded(ctx, o)
			return err
		})
		if errors.Is(err, errStale) {
			b.given(o.ID)
			b.delivered(ctx, o, p.At, "", nil, err)
			continue
		}
		if err != nil {
			b.log.Warn("post not worded for its asker, will be delivered", "post", o.ID, "error", err)
			for _, o := range own[i:] {
				b.given(o.ID)
			}
			b.letGo(context.WithoutCancel(ctx), own[i:])
			b.Wake()
			break
		}
		b.outbox.Spend(o.Where.Platform, b.now())
		posts = append(posts, p)
	}
	return posts
}

// deliver has a post shown by its adapter, without its picture if it is too large.
func deliver(ctx context.Context, adapter Adapter, post Post) (r Receipt, owes []Owes, err error) {
	err = guarded(func() (err error) {
		r, owes, err = adapter.Deliver(ctx, post)
		if errors.Is(err, ErrTooLarge) && post.Scene != nil {
			post.Scene = nil // the words say it too
			r, owes, err = adapter.Deliver(ctx, post)
		}
		return err
	})
	return r, owes, err
}

// errPanic is the error of what has panicked: the fault is in one post, and the
// others must not pay for it.
type errPanic struct{ what, stack string }

func (e errPanic) Error() string { return "panic: " + e.what }

// guarded does something; if it panics that is its error.
func guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errPanic{fmt.Sprint(v), string(debug.Stack())}
		}
	}()
	return do()
}

// errStale is the error of wording a post that has become pointless.
var errStale = errors.New("there is nothing to say any more")

// worded puts names, words and the picture into a post.
func (b *Bot) worded(ctx context.Context, o claimed) (Post, error) {
	p := Post{ID: o.ID, Where: o.Where, Kind: o.Kind, Game: o.Game, Seq: o.Seq, Private: o.Private, Reply: o.Reply, Attempt: o.Attempt, Unsent: o.Unsent}
	texts, players := o.Texts, []Person{}
	var draw func(known map[Person]Who)
	room, l, err := b.postLang(ctx, o)
	if err != nil {
		return p, err
	}
	p.Lang = l.Tag
	if o.Game != "" {
		m, pos, err := b.shownAt(ctx, o)
		if err != nil {
			return p, err
		}
		p.Number, p.State, p.At, players = m.Number, m.State, pos.At, []Person{m.Black, m.White}
		kind, private := Status, o.Private
		if o.Kind == Show {
			kind, private = Show, false
		}
		last, first, err := b.store.Shown(ctx, o.Game, o.Where, kind, private)
		if err != nil {
			return p, err
		}
		if o.Where.Thread == "" && !o.Private {
			p.Under = string(first)
		}
		switch o.Kind {
		case Status:
			if m.Seq != o.Seq { // never after the turn
				return p, errStale
			}
			now := b.now().UTC()
			if o.Private && len(o.Notify) == 1 {
				prefs, err := b.store.Preferences(ctx, o.Notify[0])
				if err != nil {
					return p, err
				}
				if zone, ok := clock.Zone(prefs.Zone); ok {
					now = now.In(zone)
				}
			}
			texts = reminder(m, pos, now)
			more, err := b.waiting(ctx, m, o.Owed, now)
			if err != nil {
				return p, err
			}
			if len(more) > 0 {
				texts = append(append([]Text{say("remind.many", strconv.Itoa(len(more)+1))}, texts...), more...)
			}
			if strings.HasSuffix(o.ID, match.AgainMark) {
				p.Replaces = string(last)
			}
		case Remove:
			if last == "" {
				return p, errStale
			}
			p.Replaces = string(last)
		}
		if o.Kind == Show {
			p.Previous = string(last)
			texts = append(texts, caption(m, pos, b.now().UTC())...)
			draw = func(who map[Person]Who) {
				players := map[Person]Who{m.Black: who[m.Black], m.White: who[m.White]} // names are told apart in the picture alone
				scene := b.draw(m, pos, l, tellApart(players), room.look(""))
				p.Scene = &scene
			}
			p.Controls = labelled(l, controls(m, pos, o.Seq))
		}
		if o.Kind == Notice {
			p.Controls = labelled(l, answers(m, pos, o.Seq))
			if p.File, err = b.ended(ctx, m, pos, o.Seq); err != nil {
				return p, err
			}
		}
	}
	known, err := b.peopleIn(ctx, o, append(append(people(texts), o.Notify...), players...))
	if err != nil {
		return p, err
	}
	if draw != nil {
		draw(known)
	}
	who := tellApart(known)
	for _, n := range o.Notify {
		if w, ok := who[n]; ok {
			p.Notify = append(p.Notify, w)
		}
	}
	p.Text = word(l, texts, who, p.Number)
	return p, nil
}

// peopleIn returns who the persons in a post are; those erased are left out.
func (b *Bot) peopleIn(ctx context.Context, o claimed, ids []Person) (map[Person]Who, error) {
	s := b.recent(o)
	if s == nil {
		return b.store.People(ctx, ids)
	}
	known := map[Person]Who{}
	for _, id := range ids {
		who, ok := s.who[id]
		if !ok && id != "" {
			return b.store.People(ctx, ids)
		}
		if ok {
			known[id] = who
		}
	}
	return known, nil
}

// shownAt returns the match that a post is about, and its position then. A status
// needs the match as it is now: it never comes after the next turn.
func (b *Bot) shownAt(ctx context.Context, o claimed) (Match, *match.Position, error) {
	if s := b.recent(o); s != nil && o.Kind != Status {
		return s.match, s.pos, nil
	}
	return b.at(ctx, o.Game, o.Seq)
}

// ended gives the record of a game that the event seq has ended, for the notice
// that says so.
func (b *Bot) ended(ctx context.Context, m Match, p *match.Position, seq int) (*File, error) {
	if m.State != Ended || !p.Over() || p.Deleted {
		return nil, nil
	}
	if before, err := b.position(ctx, m, seq-1); err != nil || before.Over() {
		return nil, err
	}
	who, err := b.who(ctx, concerned(m, p)...)
	if err != nil {
		return nil, err
	}
	return recordFile(m, p, who)
}

// waiting says which other games wait for the person who is reminded of m, in
// the room where they read it.
func (b *Bot) waiting(ctx context.Context, m Match, o Owed, now time.Time) ([]Text, error) {
	if len(o.Notify) != 1 {
		return nil, nil
	}
	ms, err := b.alsoWaiting(ctx, m, o.Notify[0], o.Private)
	if err != nil || len(ms) == 0 {
		return nil, err
	}
	var out []Text
	for _, other := range ms[:min(len(ms), maxDigest)] {
		line := say("remind.also", strconv.Itoa(other.Number))
		if !other.Deadline.IsZero() {
			line = say("remind.also.until", strconv.Itoa(other.Number), clock.LeftText(other.Deadline.Sub(now)), clock.InstantText(other.Deadline, now))
		}
		if other.Where.Channel != m.Where.Channel || other.Where.Thread != m.Where.Thread {
			line = say("remind.elsewhere", line, other.Where.Link(say("games.here")))
		}
		out = append(out, line)
	}
	return out, nil
}

// maxDigest is how many games one reminder lists besides its own.
const maxDigest = 20

// alsoWaiting gives the other games in which somebody is to move: those of the
// same channel, or all of the platform's where only they read it, but for those of
// servers that the bot has left.
func (b *Bot) alsoWaiting(ctx context.Context, m Match, person Person, private bool) ([]Match, error) {
	ms, err := b.creditedMatches(ctx, Query{Player: person, States: []State{Going}})
	if err != nil {
		return nil, err
	}
	ms = filter(ms, func(o Match) bool {
		return o.ID != m.ID && o.ToMove == person && o.Where.Platform == m.Where.Platform && (private || o.Where.Channel == m.Where.Channel)
	})
	slices.SortFunc(ms, func(a, b Match) int {
		return cmp.Or(strings.Compare(a.Where.Channel, b.Where.Channel), cmp.Compare(a.Number, b.Number))
	})
	there := map[string]bool{m.Where.Channel: true} // the bot is, in the channel's server
	for _, o := range ms {
		if _, known := there[o.Where.Channel]; !known {
			here, err := b.place(ctx, o.Where)
			if err != nil {
				return nil, err
			}
			there[o.Where.Channel] = here.server.Left.IsZero()
		}
	}
	return filter(ms, func(o Match) bool { return there[o.Where.Channel] }), nil
}

// label makes a button; its label is a key.
func label(m Match, seq int, key, command, ask string) Control {
	c := Control{Label: key, Command: command, Ask: ask, Args: map[string]string{"game": strconv.Itoa(m.Number)}}
	if seq > 0 {
		c.Args["seq"] = strconv.Itoa(seq)
	}
	return c
}

// controls gives the buttons below a board: what can be done at this moment, for
// as long as nothing else has been done.
func controls(m Match, p *match.Position, seq int) []Control {
	var out []Control
	g := p.Game
	switch {
	case p.Over():
		return nil
	case p.Placing > 0:
		out = append(out, label(m, seq, "label.stones", "handicap", "points"))
		if len(p.Stones) > 0 {
			out = append(out, label(m, seq, "label.undo", "undo", ""))
		}
		return out
	case g.Phase() == rules.Playing:
		out = append(out, label(m, seq, "label.place", "place", "at"))
		for _, k := range []rules.Kind{rules.Pass, rules.Button, rules.Delay, rules.AcceptSuggestion, rules.Draw} {
			if g.Allows(rules.Turn{Kind: k, By: g.ToPlay()}) {
				out = append(out, label(m, seq, "label."+k.String(), k.String(), ""))
			}
		}
		if g.Turns() > 0 {
			out = append(out, label(m, seq, "label.undo", "undo", ""))
		}
		if p.Branch > 0 {
			out = append(out, label(m, seq, "label.return", "return", ""))
		}
	case g.Phase() == rules.Settling:
		out = append(out, label(m, seq, "label.dead", "dead", "points"), label(m, seq, "label.propose", "propose", ""),
			label(m, seq, "label.accept", "accept", ""), label(m, seq, "label.resume", "resume", ""), label(m, seq, "label.dispute", "dispute", ""))
	}
	if len(g.Rules().Count) > 0 {
		out = append(out, label(m, 0, "label.score", "score", ""))
	}
	return out
}

// answers gives the buttons below a notice that asks somebody something.
func answers(m Match, p *match.Position, seq int) []Control {
	switch {
	case m.State == Open:
		out := []Control{label(m, 0, "label.join", "join", "")}
		if m.Invited != "" {
			out = append(out, label(m, 0, "label.decline", "decline", ""))
		}
		return out
	case p.Asked != nil && p.Asked.Seq == seq && p.Asked.What == "delete":
		return []Control{label(m, seq, "label.delete", "delete", ""), label(m, seq, "label.decline", "decline", "")}
	case p.Asked != nil && p.Asked.Seq == seq:
		return []Control{label(m, seq, "label.yes", "accept", ""), label(m, seq, "label.decline", "decline", "")}
	}
	return nil
}
