package bot

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Bot answers requests and delivers posts. What it keeps in memory it can read
// again. It may be asked from any number of goroutines.
type Bot struct {
	store Store
	log   *slog.Logger
	clock *steadyClock
	now   func() time.Time // clock.now
	rand  io.Reader
	games GameLimits
	cache *cache

	outbox *outbox.Outbox

	rulesets match.Rulesets // besides the catalogue

	serving sync.Mutex               // one look at servers
	absence sync.Mutex               // one look at the time or change of outages; after serving
	outages atomic.Pointer[[]Outage] // all that are stored; nil: not read yet
	beaten  atomic.Int64             // the last look at the time, in milliseconds of Unix time; 0: none yet
}

// Config is what a Bot may be told besides its store.
type Config struct {
	Log *slog.Logger     // nil: slog.Default
	Now func() time.Time // nil: time.Now

	// Elapsed tells how much time has passed since any fixed moment, however the
	// clock of Now is set meanwhile. Nil: the monotonic clock, or with a Now of its
	// own the bot trusts that.
	Elapsed func() time.Duration

	// Rand is the source of new games' ids and of nigiri. It must be safe for
	// concurrent use; nil: crypto/rand.Reader. Simulations pass a seeded one.
	Rand io.Reader

	// Rulesets are those that people may choose besides the catalogue's.
	Rulesets []*rules.Ruleset

	// Games limits how many games people can open.
	Games GameLimits

	// Shown is told of each board that was shown: where, and how long after the
	// event that it shows. It may be called from several goroutines; nil: nobody
	// is told.
	Shown func(platform string, after time.Duration)

	// Deliveries is how many games of a platform are written to at once; 0: 32.
	// With 1 posts come in one order, as simulations and terminals need.
	Deliveries int
}

// New gives a bot on a store.
func New(store Store, c Config) *Bot {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
		if start := time.Now(); c.Elapsed == nil {
			c.Elapsed = func() time.Duration { return time.Since(start) }
		}
	}
	clock := newSteadyClock(c.Now, c.Elapsed)
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	b := &Bot{
		cache: newCache(), games: c.Games.orDefault(), rulesets: c.Rulesets,
		store: store, log: c.Log, clock: clock, now: clock.now, rand: c.Rand,
	}
	b.outbox = outbox.New(outbox.Config{
		Rows: store, Word: b.worded, Decoration: b.decoration, Now: b.now, Log: c.Log, Shown: c.Shown, Lanes: c.Deliveries,
	})
	return b
}

var _ Service = (*Bot)(nil)

// Commands gives what people can ask for, in the order of help.
func (b *Bot) Commands() []Command { return Commands() }

// attempts is how often a request is decided anew after something else came
// first, before the person is asked to try again.
const attempts = 8

// Ask answers a request, once; see [Service].
func (b *Bot) Ask(ctx context.Context, r Request) (Answer, error) {
	h, ok := find(r.Command)
	if !ok {
		return Answer{Text: text.English.Say(say("no.command", shortened(r.Command))), Private: true}, nil
	}
	args := r.Args
	r.Args = make(map[string]string, len(args))
	for name, value := range args {
		r.Args[name] = text.Typed(value, name == "diagram")
	}
	s, err := b.speech(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	// Where somebody is heard from the bot may be able to write again.
	if s.parked {
		if some, err := b.store.Unpark(ctx, r.Where, b.now()); err != nil {
			return Answer{}, err
		} else if some {
			b.outbox.Wake()
		}
	}
	if err := b.inThread(ctx, &r); err != nil {
		return Answer{}, err
	}
	if r.Server != "" && (s.here.server.ID != r.Server || !s.here.server.Left.IsZero()) {
		if err := b.meet(ctx, r); err != nil {
			return Answer{}, err
		}
		if s, err = b.speech(ctx, r); err != nil {
			return Answer{}, err
		}
	}
	if h.whole != nil {
		return h.whole(ctx, b, s.mine, r, s.by)
	}
	for range attempts {
		answer, err := b.ask(ctx, r, h, s)
		if !errors.Is(err, ErrConflict) {
			return answer, err
		}
		// The request may have its answer by now, and who asks may be forgotten.
		if s, err = b.speech(ctx, r); err != nil {
			return Answer{}, err
		}
	}
	return Answer{Text: s.mine.Say(say("internal.conflict")), Private: true, Lang: s.mine.Tag}, nil
}

func (b *Bot) ask(ctx context.Context, r Request, h handler, s speech) (Answer, error) {
	now, err := b.present(ctx)
	if err != nil {
		return Answer{}, err
	}
	by := s.by
	if h.question == nil && s.answer != nil {
		return b.changed(ctx, *s.answer, r, s)
	}
	m, refusal, err := b.choose(ctx, r, h, by)
	if err != nil {
		return Answer{}, err
	}
	if h.question != nil {
		if refusal != nil {
			return b.reply(ctx, refusal.Answer, s)
		}
		if err := b.creditFirst(ctx, &task{Input: match.Input{Match: m}}); err != nil {
			return Answer{}, err
		}
		return b.question(ctx, r, h, by, m, s), nil
	}
	step := match.Step{}
	var in *task
	if refusal != nil {
		step = *refusal
	} else {
		in = &task{req: r, h: h, speech: s, Input: match.Input{
			Request: match.Request{ID: r.ID, Command: r.Command, Args: r.Args, Where: r.Where, Reply: r.Reply, Moderator: r.Moderator}, Kind: h.kind,
			By: by, Match: m, Now: when(r, now).Truncate(time.Millisecond),
		}}
		if in.NewID, in.Coin, err = newID(b.rand); err != nil {
			return Answer{}, err
		}
		if answer, ok, err := b.prepare(ctx, in); err != nil || !ok {
			return answer, err
		}
		if err := b.creditFirst(ctx, in); err != nil {
			return Answer{}, err
		}
		was := in.Match.Standing
		step = in.decide()
		step.Was, step.People = &was, in.people()
	}
	step.Where = match.Room{Platform: r.Where.Platform, Channel: r.Where.Channel}
	if !step.Answer.Private {
		step.Typed = r.Typed
	}
	var asker *Request
	if r.Shows {
		asker = &r
	}
	own, err := b.commit(ctx, &step, in, asker)
	if err != nil {
		return Answer{}, err
	}
	for _, old := range step.Replaces {
		more, err := b.replace(ctx, asker, old, step.Match, by)
		own = append(own, more...)
		if err != nil {
			b.log.Error("an earlier challenge stays open beside the new one", "game", old, "new", step.Match.ID, "error", err)
		}
	}
	if step.Room != nil { // they may have chosen another language
		if s.here, s.room, err = b.room(ctx, r.Where); err != nil {
			return Answer{}, err
		}
	}
	if step.Prefs != nil {
		s.mine = text.BestLanguage(cmp.Or(step.Prefs.Lang, r.Lang, s.room.Tag))
	}
	answer, err := b.changed(ctx, step.Answer, r, s)
	if err == nil {
		answer.Posts = b.outbox.Give(ctx, own)
	}
	return answer, err
}

// A task is a request on its way to a step: what the step is decided from, and
// what the bot itself knows besides. Everything is looked up before the decision.
type task struct {
	match.Input
	req    Request
	h      handler
	speech speech
	place  place                          // where the match is played, or where it is asked
	who    map[match.PersonID]outbox.User // the players and who asks
	epoch  int                            // of the cache, when the position was looked up
}

// decide decides what the request changes.
func (in *task) decide() match.Step {
	what := in.h.change
	if in.h.prefer != nil {
		what = func(*match.Input) match.Step { return in.h.prefer(in) }
	}
	return match.Decide(&in.Input, what)
}

// newID draws an id for a game, and a coin for its nigiri. The id must be hard to
// guess: whoever knows it can fetch pictures of the game. 80 bits, and short,
// because it is stored with every event.
func newID(from io.Reader) (id match.GameID, coin bool, err error) {
	var drawn [11]byte
	if _, err := io.ReadFull(from, drawn[:]); err != nil {
		return "", false, fmt.Errorf("draw the id of a game: %w", err)
	}
	return match.GameID("g" + strings.ToLower(base32.StdEncoding.EncodeToString(drawn[:10]))), drawn[10]&1 == 1, nil
}

// inThread finds the game in whose thread something is asked. A new game that is
// opened there belongs beside the thread, not into it.
func (b *Bot) inThread(ctx context.Context, r *Request) (err error) {
	if r.Under == "" {
		return nil
	}
	r.thread, err = b.store.GameUnder(ctx, r.Where.Platform, outbox.Receipt(r.Under))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	r.Where.Thread = ""
	return err
}

// trustedDelay is for how long a platform's timestamp is believed.
const trustedDelay = 10 * time.Minute

// when gives the time at which a request was made: the platform's timestamp, if
// it has one that can be trusted, so that a turn made in time is in time although
// it was long on its way.
func when(r Request, now time.Time) time.Time {
	now = now.UTC()
	if !r.At.IsZero() && r.At.Before(now) && now.Sub(r.At) <= trustedDelay {
		return r.At.UTC()
	}
	return now
}

// prepare looks up what a decision depends on. It reports false, with an
// answer, when there can be no decision.
func (b *Bot) prepare(ctx context.Context, in *task) (Answer, bool, error) {
	if in.h.opens {
		if err := b.unfinished(ctx, in); err != nil {
			return Answer{}, false, err
		}
	}
	if m := in.Match; m.ID != "" {
		var err error
		in.epoch = b.cache.now()
		if in.Position, err = b.position(ctx, m, m.Seq); errors.As(err, new(errLog)) {
			b.log.Error("a game does not replay", "game", m.ID, "request", in.Request.ID, "error", err)
			return in.speech.tell(say("stale.game", strconv.Itoa(m.Number), in.Request.ID)), false, nil
		}
		if err != nil {
			return Answer{}, false, err
		}
		in.place = in.speech.here
		if in.place.Room != (match.Room{Platform: m.Where.Platform, Channel: m.Where.Channel}) { // nobody asks, or elsewhere
			if in.place, err = b.place(ctx, m.Where); err != nil {
				return Answer{}, false, err
			}
		}
		in.Room, in.Left = in.place.RoomSettings, !in.place.server.Left.IsZero()
		if in.Welcome, err = b.welcome(ctx, in); err != nil {
			return Answer{}, false, err
		}
		if err := b.seat(ctx, in); err != nil {
			return Answer{}, false, err
		}
		return Answer{}, true, b.preferences(ctx, in, m.Black, m.White, in.By)
	}
	var err error
	in.place = in.speech.here
	in.Room = in.place.RoomSettings
	if in.Welcome, err = b.welcome(ctx, in); err != nil {
		return Answer{}, false, err
	}
	in.Rulesets = b.rulesets
	in.Users = map[string]match.PersonID{}
	for option, who := range in.req.Users {
		if in.Users[option], err = b.store.Person(ctx, who); err != nil {
			return Answer{}, false, err
		}
	}
	if err := b.seat(ctx, in); err != nil {
		return Answer{}, false, err
	}
	return Answer{}, true, b.preferences(ctx, in, in.By, in.Seats[0], in.Seats[1])
}

// people gives who asks and who is meant, each once.
func (in *task) people() []match.PersonID {
	ps := []match.PersonID{in.By, in.Seats[0], in.Seats[1]}
	for _, p := range in.Users {
		ps = append(ps, p)
	}
	slices.Sort(ps)
	return slices.DeleteFunc(slices.Compact(ps), func(p match.PersonID) bool { return p == "" })
}

// preferences looks up who those are and what they have chosen who may have to be
// reminded after the step.
func (b *Bot) preferences(ctx context.Context, in *task, people ...match.PersonID) (err error) {
	in.who, in.Prefs, err = b.store.Players(ctx, people)
	for _, p := range people {
		if _, known := in.Prefs[p]; !known && p != "" && err == nil {
			in.Prefs[p] = match.Preferences{Person: p} // erased
		}
	}
	return err
}

// seat looks up who sits at the board of a local room, unless both seats of the
// match are taken already.
func (b *Bot) seat(ctx context.Context, in *task) (err error) {
	s := in.req.Seats
	if s == nil || in.Match.Black != "" && in.Match.White != "" && !in.h.opens {
		return nil
	}
	if in.Seats[0], err = b.store.Person(ctx, s.Black); err != nil {
		return err
	}
	in.Seats[1], err = b.store.Person(ctx, s.White)
	return err
}

// choose finds the game that a request is about: the one it numbers, the one of
// its thread, the only one here in which the person is to move or plays, the
// only one here. If that leaves several it asks which.
func (b *Bot) choose(ctx context.Context, r Request, h handler, by match.PersonID) (match.Match, *match.Step, error) {
	refuse := func(texts ...Text) (match.Match, *match.Step, error) {
		return match.Match{}, &match.Step{Request: r.ID, At: b.now(), Answer: match.Reply{Texts: texts, Private: true}}, nil
	}
	if h.noGame {
		return match.Match{}, nil, nil
	}
	where := match.Room{Platform: r.Where.Platform, Channel: r.Where.Channel}
	one := func(ms []match.Match) (match.Match, *match.Step, error) { return ms[0], nil, nil }
	if n := strings.TrimPrefix(strings.TrimSpace(r.Args["game"]), "#"); n != "" {
		number, err := strconv.Atoi(n)
		if err != nil {
			return refuse(say("bad.number", shortened(n)))
		}
		ms, err := b.store.Matches(ctx, Query{Where: where, Number: number, Limit: 1})
		if err != nil {
			return match.Match{}, nil, err
		}
		if len(ms) == 0 || number < 1 {
			return refuse(say("no.game.number", strconv.Itoa(number)))
		}
		return one(ms)
	}
	if r.thread != "" {
		m, err := b.store.Header(ctx, r.thread)
		return m, nil, err
	}
	if r.Where.Thread != "" {
		where.Thread = r.Where.Thread
		if ms, err := b.store.Matches(ctx, Query{Where: where, Limit: 1}); err != nil || len(ms) > 0 {
			if err != nil {
				return match.Match{}, nil, err
			}
			return one(ms)
		}
		where.Thread = ""
	}
	if h.Name == "rematch" {
		ended, err := b.store.Matches(ctx, Query{Where: where, Player: by, States: []match.State{match.Ended}, Limit: 1})
		if err != nil {
			return match.Match{}, nil, err
		}
		if len(ended) == 1 {
			return one(ended)
		}
	}
	here, err := b.store.Matches(ctx, Query{Where: where, States: []match.State{match.Open, match.Going, match.Sandbox}, Limit: b.games.look()})
	if err != nil {
		return match.Match{}, nil, err
	}
	here = filter(here, func(m match.Match) bool { return m.State != match.Sandbox || m.Opener == by })
	mine := func(m match.Match) bool { return m.Black == by || m.White == by }
	var candidates [][]match.Match
	if h.Name == "decline" {
		here = append(filter(here, func(m match.Match) bool { return m.State == match.Open && m.Invited == by }), filter(here, func(m match.Match) bool { return m.Invited != by || m.State != match.Open })...)
	}
	if h.Name == "join" {
		candidates = [][]match.Match{
			filter(here, func(m match.Match) bool { return m.State == match.Open && m.Invited == by }),
			filter(here, func(m match.Match) bool { return m.State == match.Open && m.Invited == "" && !mine(m) }),
			filter(here, func(m match.Match) bool { return m.State == match.Open }),
			here,
		}
	} else {
		candidates = [][]match.Match{
			filter(here, func(m match.Match) bool { return m.ToMove == by }),
			filter(here, mine),
			here,
		}
		if h.question != nil || h.kind == 0 && h.Name != "place" || h.Name == "draw" || h.kind >= rules.Resign {
			candidates = candidates[1:] // these are not for the player to move alone
		}
	}
	for _, ms := range candidates {
		switch {
		case len(ms) == 1:
			return one(ms)
		case len(ms) > 1:
			slices.SortFunc(ms, func(a, b match.Match) int { return a.Number - b.Number })
			_, s, _ := refuse(say("which.game", strconv.Itoa(ms[0].Number)))
			for _, m := range ms[:min(len(ms), 5)] {
				args := map[string]string{"game": strconv.Itoa(m.Number)}
				for k, v := range r.Args {
					if k != "seq" && k != "game" {
						args[k] = v
					}
				}
				s.Answer.Controls = append(s.Answer.Controls, match.Control{Label: "game.choice", Command: r.Command, Args: args})
			}
			return match.Match{}, s, nil
		}
	}
	// Nothing of that is being played: the last game, which is over.
	if last, err := b.store.Matches(ctx, Query{Where: where, States: []match.State{match.Open, match.Going, match.Ended, match.Cancelled}, Limit: 1}); err != nil || len(last) > 0 {
		if err != nil {
			return match.Match{}, nil, err
		}
		return one(last)
	}
	return refuse(say("no.game"))
}

func filter(ms []match.Match, keep func(match.Match) bool) []match.Match {
	var out []match.Match
	for _, m := range ms {
		if keep(m) {
			out = append(out, m)
		}
	}
	return out
}

// question answers what changes nothing.
func (b *Bot) question(ctx context.Context, r Request, h handler, by match.PersonID, m match.Match, s speech) Answer {
	q := &question{ctx: ctx, b: b, req: r, by: by, match: m, now: b.now().UTC(), lang: s.room, speech: s}
	if !q.shared() {
		q.lang, q.theme = s.mine, s.prefs.Theme
		if zone, ok := clock.Zone(s.prefs.Zone); ok {
			q.now = q.now.In(zone)
		}
	}
	if m.ID != "" {
		var err error
		if q.pos, err = b.position(ctx, m, m.Seq); err == nil {
			q.game = q.pos.Game
			q.who, err = b.who(ctx, concerned(m, q.pos)...)
		}
		if err != nil {
			return q.failed(err)
		}
		if q.match.State == match.Deleted {
			return q.refuse(say("game.deleted", q.number()))
		}
	}
	return h.question(q)
}

// failed answers that something went wrong, and logs what.
func (q *question) failed(err error) Answer {
	q.b.log.Error("a request failed", "request", q.req.ID, "command", q.req.Command, "error", err)
	return q.refuse(say("failed", q.req.ID))
}

// tell tells the person who asks something that names nobody.
func (s speech) tell(t Text) Answer {
	return Answer{Text: s.mine.Say(t), Private: true, Lang: s.mine.Tag}
}

// changed words the answer to a request that is in the inbox.
func (b *Bot) changed(ctx context.Context, answer match.Reply, r Request, s speech) (Answer, error) {
	a, err := b.reply(ctx, answer, s)
	a.Logged = r.Typed != nil && !a.Private
	return a, err
}

// reply words an answer of the inbox.
func (b *Bot) reply(ctx context.Context, r match.Reply, s speech) (Answer, error) {
	who, err := b.who(ctx, people(r.Texts)...)
	if err != nil {
		return Answer{}, err
	}
	l := s.room
	if r.Private {
		l = s.mine
	}
	return Answer{Text: word(l, r.Texts, who, 0), Private: r.Private, Controls: labelled(l, r.Controls), Lang: l.Tag}, nil
}

// labelled words the labels of buttons, which are keys.
func labelled(l *text.Language, cs []match.Control) (out []match.Control) {
	for _, c := range cs {
		c.Label = l.Say(say(c.Label, c.Args["game"]))
		out = append(out, c)
	}
	return out
}

// Scene gives the picture of a game after event seq.
func (b *Bot) Scene(ctx context.Context, id match.GameID, seq int) (render.Scene, error) {
	m, p, err := b.at(ctx, id, seq)
	if err != nil {
		return render.Scene{}, err
	}
	room, l, err := b.room(ctx, m.Where)
	if err != nil {
		return render.Scene{}, err
	}
	return b.scene(ctx, m, p, l, room.look(""))
}

// scene draws a match in the words of a language.
func (b *Bot) scene(ctx context.Context, m match.Match, p *match.Position, l *text.Language, look render.Options) (render.Scene, error) {
	who, err := b.who(ctx, m.Black, m.White)
	if err != nil {
		return render.Scene{}, err
	}
	return b.draw(m, p, l, who, look), nil
}

// sceneOf draws a match whose players are known.
func sceneOf(m match.Match, p *match.Position, l *text.Language, who map[match.PersonID]outbox.User, look render.Options) render.Scene {
	scene := l.PictureWords().Of(p.Final(), render.Names{Black: seatName(l, m.Black, who), White: seatName(l, m.White, who)})
	if p.Result != "" {
		scene = scene.Ended(p.Result, l.Say(text.Sentence(p.Why)))
	}
	scene.Look, scene.Series = look, string(m.ID)
	return scene
}

// at returns a match, and its position as it was after event seq.
func (b *Bot) at(ctx context.Context, id match.GameID, seq int) (match.Match, *match.Position, error) {
	m, err := b.store.Header(ctx, id)
	if err != nil {
		return m, nil, err
	}
	p, err := b.position(ctx, m, seq)
	return m, p, err
}

// Run connects the adapters and delivers until ctx is done. If one of them
// fails it stops the others and gives its error.
func (b *Bot) Run(ctx context.Context, adapters ...Adapter) error {
	// An outage is known before anybody can say anything.
	if _, err := b.look(ctx); err != nil {
		return fmt.Errorf("look at the time: %w", err)
	}
	if err := b.outbox.Open(ctx, platforms(adapters)...); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, a := range adapters {
		group.Go(func() error {
			if err := a.Run(ctx, b); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("%s: %w", a.Name(), err)
			}
			return nil
		})
	}
	group.Go(func() error {
		b.Watch(ctx)
		return nil
	})
	group.Go(func() error {
		b.prune(ctx)
		return nil
	})
	group.Go(func() error {
		b.outbox.Run(ctx, platforms(adapters)...)
		return nil
	})
	return group.Wait()
}
