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
)

// deliveries is how many lanes of a platform are delivered at once, unless told
// otherwise. At 300 ms for a message that is 100 a second, twice what Discord takes
// from one bot; more would only hold more pictures in memory, a megabyte each.
const deliveries = 32

// Flush delivers until nothing is due, for adapters that show what a line of
// input brought about before they read the next.
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
	return n, err
}

// delivering delivers until ctx is done.
func (b *Bot) delivering(ctx context.Context, adapters []Adapter) {
	finishing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wait sync.WaitGroup
	defer wait.Wait()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishIn, cancel) })()
	if b.slots > 1 {
		b.startLanes(func(l lane) { wait.Go(func() { b.write(finishing, adapters, l) }) })
		defer b.startLanes(nil)
	}
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
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

// A lane names posts that are shown one after another, in their order: those of a
// game in a channel, or of a channel that belong to no game. Lanes do not wait for
// one another: platforms limit a game's thread, not its channel.
type lane struct {
	platform, channel string
	game              GameID
}

func laneOf(o Owed) lane { return lane{o.Where.Platform, o.Where.Channel, o.Game} }

// takeUp claims the posts that are due, starts delivering them in wait, each lane
// on a goroutine of its own, and returns how many there are.
func (b *Bot) takeUp(ctx context.Context, adapters []Adapter, wait *sync.WaitGroup) (int, error) {
	due, begin, err := b.claim(ctx)
	if err != nil {
		return 0, err
	}
	for _, l := range begin {
		if b.slots == 1 { // one after the other, in their order
			b.write(ctx, adapters, l)
		} else {
			wait.Go(func() { b.write(ctx, adapters, l) })
		}
	}
	return due, nil
}

// startLanes sets how commit starts to deliver a lane; nil: it leaves that to the
// next claim.
func (b *Bot) startLanes(start func(lane)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.start = start
}

// A claimed post is one that this process delivers.
type claimed struct {
	Owed
	situation *situation // in which this process stored it, or nil
}

// A situation is what a step left behind: a post that is delivered right after it
// need not look that up.
type situation struct {
	match Match
	pos   *position
	place place // where the match is played
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
// are claimed.
func (b *Bot) commit(ctx context.Context, step *Step, in *task) error {
	b.mu.Lock()
	if b.start != nil {
		step.Claim = b.now().Add(claimFor)
	}
	b.mu.Unlock()
	if err := b.store.Take(ctx, step); err != nil {
		return err
	}
	var now *situation
	if step.After != nil {
		b.cache.keep(step.Match.ID, step.After, in.epoch)
		now = &situation{*step.Match, step.After, in.place, b.now()}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range step.Posts {
		if o.Attempt == 0 || b.start == nil {
			b.Wake()
			continue
		}
		l := laneOf(o)
		posts, busy := b.underway[l]
		b.underway[l] = append(posts, claimed{o, now})
		if !busy {
			b.start(l)
		}
	}
	return nil
}

// claim claims the posts that are due, and returns how many there are and the
// lanes that nobody delivers yet.
func (b *Bot) claim(ctx context.Context) (n int, begin []lane, err error) {
	b.mu.Lock()
	b.claims++
	b.mu.Unlock()
	now := b.now()
	due, err := b.store.Claim(ctx, now, now.Add(claimFor))
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range due {
		l := laneOf(o)
		posts, busy := b.underway[l]
		// A delivery may take longer than its claim, and end while the post is
		// claimed once more.
		if b.finished[o.ID] || slices.ContainsFunc(posts, func(p claimed) bool { return p.ID == o.ID }) {
			continue
		}
		if !busy {
			begin = append(begin, l)
		}
		b.underway[l] = append(posts, claimed{Owed: o})
	}
	if b.claims--; b.claims == 0 {
		clear(b.finished)
	}
	return len(due), begin, err
}

// write delivers what has been taken up of a lane, until there is no more.
func (b *Bot) write(ctx context.Context, adapters []Adapter, l lane) {
	slot := b.slotsOf(l.platform)
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
		limited, cancel := context.WithTimeout(ctx, deliverFor)
		ok := b.deliver(limited, adapters, posts[0])
		cancel()
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
			b.release(ctx, rest)
		}
		b.Wake() // the next of the same game can be taken up now
		if !ok {
			return
		}
	}
}

// release ends the claims on posts that are not going to be delivered now.
func (b *Bot) release(ctx context.Context, posts []claimed) {
	for _, o := range posts {
		if err := b.store.Later(ctx, o.ID, b.now()); err != nil && ctx.Err() == nil {
			b.log.Error("release a claimed post", "post", o.ID, "error", err)
		}
	}
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

// deliver shows one post and writes down what became of it. It reports false if
// nothing more may be shown in its lane now.
func (b *Bot) deliver(ctx context.Context, adapters []Adapter, o claimed) bool {
	log := b.log.With("post", o.ID, "channel", o.Where.Channel)
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			log.Error("after a delivery", "error", err)
		}
	}
	var adapter Adapter
	for _, a := range adapters {
		if a.Name() == o.Where.Platform {
			adapter = a
		}
	}
	if adapter == nil {
		failed(b.store.Postpone(ctx, o.Where, b.now().Add(time.Hour)))
		return false
	}
	var post Post
	err := guarded(func() (err error) {
		post, err = b.worded(ctx, o)
		return err
	})
	if errors.Is(err, errStale) {
		failed(b.store.Settle(ctx, o.ID, ""))
		return true
	}
	var receipt Receipt
	if err == nil {
		receipt, err = deliver(ctx, adapter, post)
	}
	var wait RetryAfter
	var forbidden Forbidden
	var panicked errPanic
	switch {
	case err == nil:
		// It was shown, however late: what is not written down is shown again.
		settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
		defer cancel()
		if err := b.store.Settle(settling, o.ID, receipt); err != nil {
			log.Error("after a delivery", "error", err)
		}
		if b.shown != nil && post.Kind == Show && !post.At.IsZero() {
			b.shown(o.Where.Platform, max(0, b.now().Sub(post.At)))
		}
		return true
	case ctx.Err() != nil:
		// The claim runs out; the post is taken up again after the restart.
	case errors.As(err, &wait):
		failed(b.store.Later(ctx, o.ID, b.now().Add(wait.Wait)))
		return true
	case errors.Is(err, ErrGone), errors.As(err, &forbidden):
		game := GameID("")
		if errors.As(err, new(InThread)) {
			game = o.Game
		}
		first, e := b.store.Park(ctx, o.Where, game, err.Error())
		failed(e)
		if first {
			log.Warn("a room cannot be written to; what is owed there is set aside", "error", err)
		}
	case errors.Is(err, ErrTooLarge):
		log.Error("a post is too large even without its picture", "error", err)
		failed(b.store.Settle(ctx, o.ID, ""))
		return true
	case o.Attempt >= maxTries && (errors.Is(err, ErrRefused) || errors.As(err, &panicked)):
		log.Error("a post is given up", "attempt", o.Attempt, "error", err, "stack", panicked.stack)
		failed(b.store.Refuse(ctx, o.ID, err.Error()))
		return true
	default: // ErrAmbiguous too: the adapter looks for the message on the next attempt
		log.Warn("a post was not delivered", "attempt", o.Attempt, "error", err)
		failed(b.store.Later(ctx, o.ID, b.now().Add(min(retryAfter<<min(o.Attempt-1, 10), retryMost))))
		return true
	}
	return false
}

// deliver has a post shown by its adapter, without its picture if it is too large.
func deliver(ctx context.Context, adapter Adapter, post Post) (r Receipt, err error) {
	err = guarded(func() (err error) {
		r, err = adapter.Deliver(ctx, post)
		if errors.Is(err, ErrTooLarge) && post.Scene != nil {
			post.Scene = nil // the words say it too
			r, err = adapter.Deliver(ctx, post)
		}
		return err
	})
	return r, err
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
	p := Post{ID: o.ID, Where: o.Where, Kind: o.Kind, Game: o.Game, Seq: o.Seq, Private: o.Private, Reply: o.Reply, Attempt: o.Attempt}
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
		p.Number, p.State, p.At, players = m.Number, m.State, pos.at, []Person{m.Black, m.White}
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
			if strings.HasSuffix(o.ID, againMark) {
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
	known, err := b.store.People(ctx, append(append(people(texts), o.Notify...), players...))
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

// shownAt returns the match that a post is about, and its position then. A status
// needs the match as it is now: it never comes after the next turn.
func (b *Bot) shownAt(ctx context.Context, o claimed) (Match, *position, error) {
	if s := b.recent(o); s != nil && o.Kind != Status {
		return s.match, s.pos, nil
	}
	return b.at(ctx, o.Game, o.Seq)
}

// ended gives the record of a game that the event seq has ended, for the notice
// that says so.
func (b *Bot) ended(ctx context.Context, m Match, p *position, seq int) (*File, error) {
	if m.State != Ended || !p.over() || p.deleted {
		return nil, nil
	}
	if before, err := b.position(ctx, m, seq-1); err != nil || before.over() {
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
func controls(m Match, p *position, seq int) []Control {
	var out []Control
	g := p.game
	switch {
	case p.over():
		return nil
	case p.placing > 0:
		out = append(out, label(m, seq, "label.stones", "handicap", "points"))
		if len(p.stones) > 0 {
			out = append(out, label(m, seq, "label.undo", "undo", ""))
		}
		return out
	case g.Phase() == rules.Playing:
		out = append(out, label(m, seq, "label.place", "place", "at"))
		for _, k := range []rules.Kind{rules.Pass, rules.Button, rules.Delay, rules.Accept, rules.Draw} {
			if g.Allows(rules.Turn{Kind: k, By: g.ToPlay()}) {
				out = append(out, label(m, seq, "label."+k.String(), k.String(), ""))
			}
		}
		if g.Turns() > 0 {
			out = append(out, label(m, seq, "label.undo", "undo", ""))
		}
		if p.branch > 0 {
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
func answers(m Match, p *position, seq int) []Control {
	switch {
	case m.State == Open:
		out := []Control{label(m, 0, "label.join", "join", "")}
		if m.Invited != "" {
			out = append(out, label(m, 0, "label.decline", "decline", ""))
		}
		return out
	case p.asked != nil && p.asked.seq == seq && p.asked.what == "delete":
		return []Control{label(m, seq, "label.delete", "delete", ""), label(m, seq, "label.decline", "decline", "")}
	case p.asked != nil && p.asked.seq == seq:
		return []Control{label(m, seq, "label.yes", "accept", ""), label(m, seq, "label.decline", "decline", "")}
	}
	return nil
}
