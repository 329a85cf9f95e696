package bot

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// attempts is how often a request is decided again after a conflict, before the
// adapter is to ask again later.
const attempts = 8

// Ask handles a request, once; see [Service].
//
// It finds the command in the list, then the person and the room (arrive). A question is
// answered in questions.go. A change finds its match (choose), loads what its
// decision depends on (prepare), decides (match.Decide), and stores the outcome
// (commit). After a conflict with another change all of this is repeated.
func (b *Bot) Ask(ctx context.Context, r Request) (_ Answer, err error) {
	b.counter.asked(r.Where.Platform)
	defer func() { b.counter.failed(ctx, r, err) }()
	now := Current(match.Control{Command: r.Command, Args: r.Args})
	h, known := find(now.Command)
	r.Command = now.Command
	r.Args = make(map[string]string, len(now.Args))
	for name, value := range now.Args {
		if name != "diagram" || utf8.ValidString(value) { // a file in another encoding is a record
			value = text.Typed(value, name == "diagram")
		}
		r.Args[name] = value
	}
	b.estimator.asked(b.now())
	s, err := b.arrive(ctx, &r)
	if err != nil {
		return Answer{}, err
	}
	if s.answer != nil && !r.shown() { // its posts are stored, but an earlier release stored no answer
		for _, o := range b.answering(r, s, *s.answer) {
			err = b.keep(ctx, o.ID, o)
		}
		return Answer{Public: !s.answer.Private}, err
	}
	if !known {
		return b.give(ctx, r, s, s.refuse(wrong(unknown(r.Command))))
	}
	if refusal := h.readYesOrNo(r.Args); refusal != nil {
		return b.give(ctx, r, s, s.refuse(*refusal))
	}
	if r.Reads && (r.Forgets() || !h.asks(r)) {
		return Answer{}, ErrChanges
	}
	if r.Elsewhere {
		r.Moderator, r.Manager = false, false
		if refusal := b.elsewhere(ctx, r, h); refusal != nil && s.answer == nil {
			return b.give(ctx, r, s, s.refuse(*refusal))
		}
	}
	if r.Forgets() {
		if err := b.forget(ctx, r, s.by); err != nil {
			return Answer{}, err
		}
		r.Lang = s.mine.Tag // which their settings no longer say
		return b.give(ctx, r, s, s.tell(say("privacy.deleted")))
	}
	for range attempts {
		var answer Answer
		switch {
		case h.asks(r):
			answer, err = b.question(ctx, r, h, s)
		case h.Name == eventName:
			answer, err = b.changeEvent(ctx, r, s)
		default:
			answer, err = b.change(ctx, r, h, s)
		}
		if !errors.Is(err, ErrConflict) {
			return answer, err
		}
		// The request may have its answer by now, and the person may have been forgotten.
		if s, err = b.localizer(ctx, r); err != nil {
			return Answer{}, err
		}
	}
	return Answer{}, fmt.Errorf("others came first %d times: %w", attempts, ErrConflict)
}

// arrive looks up the person and the room of a request. Since the request came from
// there, the bot may be able to write in the room again.
func (b *Bot) arrive(ctx context.Context, r *Request) (localizer, error) {
	s, err := b.localizer(ctx, *r)
	if err != nil {
		return localizer{}, err
	}
	if s.parked {
		if err := b.unpark(ctx, r.Where, false); err != nil {
			return localizer{}, err
		}
	}
	return s, b.inThread(ctx, r)
}

// inThread finds the game whose thread a request comes from. A request for a new game
// in a thread opens it in the channel, not in the thread.
func (b *Bot) inThread(ctx context.Context, r *Request) (err error) {
	if r.Under == "" {
		return nil
	}
	r.thread, err = b.store.GameUnder(ctx, r.Where.Platform, outbox.Receipt(r.Under))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if contest.Is(r.thread) { // under the message of an event
		r.thread, r.event = "", r.thread
	}
	r.in, r.Where.Thread = r.Where.Thread, ""
	return err
}

// change decides a request that may change something, and stores the outcome. It
// returns ErrConflict if something else was stored meanwhile.
func (b *Bot) change(ctx context.Context, r Request, h handler, s localizer) (Answer, error) {
	if s.answer != nil { // it was asked before
		return b.outcome(ctx, r, s, *s.answer, nil)
	}
	now, err := b.rooms.Present(ctx)
	if err != nil {
		return Answer{}, err
	}
	m, games, refusal, err := b.choose(ctx, r, h, s.by)
	if err != nil {
		return Answer{}, err
	}
	in := &task{req: r, h: h, localizer: s, games: games, Input: match.Input{
		Request: match.Request{ID: r.ID, Command: r.Command, Args: r.Args, Where: r.Where, Reply: r.Reply, Moderator: r.moderates(r.Command)},
		Alone:   r.Alone, By: s.by, Match: m, Now: when(r, now).Truncate(time.Millisecond),
	}}
	var step match.Step
	if refusal != nil {
		step = match.Step{Request: r.ID, At: in.Now, Answer: *refusal}
	} else {
		if in.NewID, in.NewPage, in.Coin, err = b.newID(ctx, r.ID); err != nil {
			return Answer{}, err
		}
		in.Salt = rand.Text()
		if err = b.prepare(ctx, in); err == nil {
			err = b.creditFirst(ctx, in)
		}
		if errors.Is(err, ErrDamaged) {
			return b.give(ctx, r, s, b.damaged(s, r, m, err))
		}
		if err != nil {
			return Answer{}, err
		}
		was := in.Match.Standing
		step = in.decide()
		step.Was, step.People = &was, in.people()
	}
	step.By, step.Where = s.by, r.Where.WithoutThread()
	if !step.Answer.Private {
		step.Typed = r.Typed
	}
	step.Posts = append(step.Posts, b.answering(r, s, step.Answer)...)
	own, err := b.commit(ctx, &step, in, r)
	if err != nil {
		return Answer{}, err
	}
	b.counter.answered(r, step.Answer.Refused, step.Answer.Texts)
	b.carryOut(ctx, contest.Step{Step: match.Step{At: step.At}, Owes: step.Owes})
	for _, old := range step.Replaces {
		more, err := b.replace(ctx, r, old, step.Match, s.by)
		own = append(own, more...)
		if err != nil {
			b.log.Error("closing an earlier challenge failed, it stays open", "game", old, "new", step.Match.ID, "error", err)
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
	return b.outcome(ctx, r, s, step.Answer, own)
}

// trustedDelay is the greatest age of a platform's timestamp that the bot trusts.
const trustedDelay = 10 * time.Minute

// when returns the time at which a request was made: the platform's timestamp if
// it can be trusted, so that a turn made in time counts even if it was delayed.
func when(r Request, now time.Time) time.Time {
	now = now.UTC()
	if !r.At.IsZero() && r.At.Before(now) && now.Sub(r.At) <= trustedDelay {
		return r.At.UTC()
	}
	return now
}

// newID returns an id for the game that a request opens, the slug of its page, and a coin
// for its nigiri. Id and slug must be hard to guess, because anybody who knows one can fetch
// pictures of the game, and short, because the id is stored with every event and the slug is
// shown: each has 80 bits, and neither follows from the other.
//
// All are derived from the request and a secret in the store, so that a request that is
// repeated after an old copy of the database was restored opens the same game. A
// simulation draws both from its own source.
func (b *Bot) newID(ctx context.Context, request string) (id match.GameID, page string, coin bool, err error) {
	drawn := make([]byte, 11)
	if b.rand != nil {
		_, err = io.ReadFull(b.rand, drawn)
		page := sha256.Sum256(drawn)
		drawn = append(drawn, page[:]...)
	} else {
		var secret []byte
		secret, err = b.secret(ctx)
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(request))
		drawn = h.Sum(nil)
	}
	if err != nil {
		return "", "", false, fmt.Errorf("draw the id of a game: %w", err)
	}
	word := func(drawn []byte) string { return strings.ToLower(base32.StdEncoding.EncodeToString(drawn)) }
	return match.GameID("g" + word(drawn[:10])), word(drawn[11:21]), drawn[10]&1 == 1, nil
}

// secretMark is the bookmark of the secret, in hexadecimal digits.
const secretMark = "bot:secret"

// secret returns the store's secret, which it makes when the first game is opened.
func (b *Bot) secret(ctx context.Context) ([]byte, error) {
	if known := b.drawn.Load(); known != nil {
		return *known, nil
	}
	b.drawing.Lock()
	defer b.drawing.Unlock()
	mark, err := b.store.Bookmark(ctx, secretMark)
	if err == nil && mark == "" {
		drawn := make([]byte, 32)
		rand.Read(drawn) // which never fails
		mark, err = b.store.FirstBookmark(ctx, secretMark, hex.EncodeToString(drawn))
	}
	if err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(mark)
	if err != nil {
		return nil, err
	}
	b.drawn.Store(&secret)
	return secret, nil
}

// A task holds what a request's step is decided from, and what the bot itself needs
// to store and show the step. All of it is loaded before the decision.
type task struct {
	match.Input
	req       Request // without an ID if nobody asked, as for timed actions
	h         handler
	localizer localizer
	place     rooms.Place                    // of the match, or of the request
	otherwise match.Pages                    // of the rooms of its platform that choose nothing
	who       map[match.PersonID]outbox.User // the players and the person asking
	epoch     int                            // of the cache, when the position was looked up
	games     int                            // unfinished ones in the room of the request, 2 for more; 0: not known
	links     *links                         // of the person asking, for /link
}

// decide decides what the request changes.
func (in *task) decide() match.Step {
	if in.h.prefer != nil {
		return match.DecideSettings(&in.Input, func(*match.Input) match.Step { return in.h.prefer(in) })
	}
	return match.Decide(&in.Input)
}

// chosen makes f, which decides settings, a handler's function.
func chosen(f func(rooms.Asker) match.Step) func(*task) match.Step {
	return func(in *task) match.Step {
		return f(rooms.Asker{Input: &in.Input, Here: in.place, Server: in.req.inServer(), Manager: in.req.Manager, Pages: in.otherwise})
	}
}

// agreesToRematch reports whether the request may open a game because another player
// has asked for a rematch.
func (in *task) agreesToRematch() bool {
	return (in.h.Name == "accept" || in.h.Name == "join") && in.Position != nil && in.Position.Asked != nil && in.Position.Asked.What == "rematch"
}

// people returns the person asking, the players and everybody the options name, each once.
func (in *task) people() []match.PersonID {
	ps := []match.PersonID{in.By, in.Seats[0], in.Seats[1]}
	for _, p := range in.Users {
		ps = append(ps, p)
	}
	slices.Sort(ps)
	return slices.DeleteFunc(slices.Compact(ps), func(p match.PersonID) bool { return p == "" })
}

// settings returns the settings that apply in a place, with whether games have pages.
func (b *Bot) settings(p rooms.Place) match.RoomSettings {
	return p.WithPages(b.pages[p.Room.Platform])
}

// ErrChanges means that a request that must change nothing would change something.
var ErrChanges = errors.New("the request would change something")

// ErrDamaged means that what is stored of a game does not agree with its proofs, or does not
// replay. The bot leaves the game alone.
var ErrDamaged = errors.New("game is damaged")

// damaged logs that somebody has asked for a damaged game, and returns what they read.
func (b *Bot) damaged(s localizer, r Request, m match.Match, err error) outbox.Post {
	b.log.Error("request refused", "request", r.ID, "command", r.Command, "game", m.ID, "error", err)
	return s.refuse(say("stale.game", strconv.Itoa(m.Number), r.ID))
}

// prepare loads what a decision depends on. Its error may be ErrDamaged.
func (b *Bot) prepare(ctx context.Context, in *task) (err error) {
	in.place, in.otherwise = in.localizer.here, b.pages[in.Request.Where.Platform]
	known := []match.PersonID{in.By} // who may have to be reminded after the step
	if m := in.Match; m.ID != "" {
		in.epoch = b.cache.now()
		if in.Position, err = b.position(ctx, m, m.Seq); err != nil {
			return err
		}
		if in.place.Room != m.Where.WithoutThread() { // nobody asks, or elsewhere
			if in.place, err = b.rooms.Place(ctx, m.Where); err != nil {
				return err
			}
		}
		in.Left = !in.place.Server.Left.IsZero()
		if m.Fixture.Event != "" && in.h.Name == "draw" {
			c, err := b.contest(ctx, m.Fixture.Event)
			if err != nil {
				return err
			}
			in.Decisive = c.System == contest.Knockout
		}
		known = append(known, m.Black, m.White)
	}
	in.Room, in.Rulesets = b.settings(in.place), b.rulesets
	if in.Welcome, err = b.rooms.Welcome(ctx, in.place, in.req.Moderator); err != nil {
		return err
	}
	if in.h.Name == "link" {
		if in.links, err = b.linksOf(ctx, in); err != nil {
			return err
		}
	}
	if in.h.opens || in.agreesToRematch() {
		if err := b.unfinished(ctx, in); err != nil {
			return err
		}
	}
	in.Users = map[string]match.PersonID{}
	for option, who := range in.req.Users {
		if in.Users[option], err = b.store.Person(ctx, who); err != nil {
			return err
		}
	}
	// The people at the board of a local room matter unless both seats of the match are
	// taken already.
	if s := in.req.Seats; s != nil && (in.h.opens || in.Match.Black == "" || in.Match.White == "") {
		for i, who := range []outbox.User{s.Black, s.White} {
			if in.Seats[i], err = b.store.Person(ctx, who); err != nil {
				return err
			}
		}
		known = append(known, in.Seats[:]...)
	}
	in.who, in.Prefs, err = b.store.Players(ctx, known)
	for _, p := range known {
		if _, found := in.Prefs[p]; !found && p != "" && err == nil {
			in.Prefs[p] = match.Preferences{Person: p}
			in.Erased = append(in.Erased, p)
		}
	}
	return err
}

// commit stores a step, which was decided from in, and hands its posts to the outbox.
// It returns the posts that the adapter of r shows itself.
func (b *Bot) commit(ctx context.Context, step *match.Step, in *task, r Request) ([]outbox.Pending, error) {
	for i := range step.Posts {
		if o := &step.Posts[i]; r.Shows && !o.Private && o.Where.WithoutThread() == r.Where.WithoutThread() &&
			(i == 0 || !step.New || r.Flat) { // what follows the first post of a game needs its receipt
			o.Asker = true
		}
	}
	return b.outbox.Commit(ctx, step, func() (any, error) {
		if err := b.store.Commit(ctx, step); err != nil || step.After == nil {
			return nil, err
		}
		b.cache.keep(step.Match.ID, step.After, in.epoch)
		if b.units == nil { // else other processes may change other games of the channel later
			b.cache.changed(*step.Match)
		}
		b.changes.tell(step.Match.ID)
		b.changes.tell(step.Match.Fixture.Event) // whose page shows the game, too
		return &situation{*step.Match, step.After, in.place, in.who, b.now(), in.games}, nil
	})
}

// A situation is what a step has just loaded and changed, so that posts delivered
// right after it need not load it again.
type situation struct {
	match match.Match
	pos   *match.Position
	place rooms.Place // where the match is played
	who   map[match.PersonID]outbox.User
	at    time.Time
	games int // unfinished ones in its room before the step, 2 for more; 0: not known
}

// fresh is how long a situation is used.
const fresh = 2 * time.Second

// recent returns the situation of the step that stored a post, if it is still fresh.
func (b *Bot) recent(o outbox.Pending) *situation {
	s, ok := o.Left.(*situation)
	if ok && o.Game == s.match.ID && o.Seq == s.match.Seq && b.now().Sub(s.at) < fresh {
		return s
	}
	return nil
}

// outcome returns what came of a change, and the posts that its asker shows.
func (b *Bot) outcome(ctx context.Context, r Request, s localizer, stored match.Reply, own []outbox.Pending) (Answer, error) {
	a := Answer{Public: !stored.Private, Logged: r.Typed != nil && !stored.Private}
	p, err := b.reply(ctx, s, stored)
	if err != nil || !r.shown() {
		return a, err
	}
	a.Posts = b.outbox.Give(ctx, own)
	if !p.Empty() {
		a.Posts = append(a.Posts, b.addressed(r, s, p))
	}
	return a, nil
}

// give returns a post as the answer to a request of which nothing is stored, or stores it
// if the asker does not show it.
func (b *Bot) give(ctx context.Context, r Request, s localizer, p outbox.Post) (Answer, error) {
	a := Answer{Public: !p.Private}
	b.counter.answered(r, p.Refused, p.Stored.Texts)
	if p = b.addressed(r, s, p); r.shown() {
		a.Posts = []outbox.Post{p}
		return a, nil
	}
	return a, b.keep(ctx, r.ID, p.Stored)
}

// keep stores an answer that no step has stored, once for a request, and has it delivered.
func (b *Bot) keep(ctx context.Context, request string, o match.OutboxPost) error {
	if o.Question != nil { // which is asked again
		o.Texts = nil
	}
	step := match.Step{Request: request, At: b.now().UTC().Truncate(time.Millisecond), By: o.For, Where: o.Where.WithoutThread(),
		Answer: match.Reply{Private: o.Private}, Posts: []match.OutboxPost{o}}
	_, err := b.outbox.Commit(ctx, &step, func() (any, error) { return nil, b.store.Commit(ctx, &step) })
	if errors.Is(err, ErrConflict) { // it is stored
		return nil
	}
	return err
}

// Tell stores what an adapter tells somebody; see [Service].
func (b *Bot) Tell(ctx context.Context, r Request, t Text) error {
	s, err := b.localizer(ctx, r)
	if err != nil {
		return err
	}
	o := b.stored(r, s, match.OutboxPost{Texts: []Text{t}, Private: true, Refused: true})
	o.ID = r.ID + ":" + t.Identity()
	return b.keep(ctx, o.ID, o)
}

// answerFor is how long an answer waits at most.
const answerFor = 24 * time.Hour

// answering returns the answer of a step as it is stored, unless the asker shows it.
func (b *Bot) answering(r Request, s localizer, a match.Reply) []match.OutboxPost {
	if r.shown() || len(a.Texts)+len(a.Controls) == 0 {
		return nil
	}
	return []match.OutboxPost{b.stored(r, s, match.OutboxPost{Texts: a.Texts, Controls: a.Controls, Private: a.Private, Refused: a.Refused})}
}

// stored adds to an answer for whom it is, and where.
func (b *Bot) stored(r Request, s localizer, o match.OutboxPost) match.OutboxPost {
	o.ID, o.Kind, o.Where, o.For, o.Lang, o.Reply = r.ID+":answer", match.Answer, r.Where, s.by, r.Lang, r.Reply
	o.Where.Thread = cmp.Or(r.in, r.Where.Thread, r.Under) // for its lane, also where Under alone tells threads apart
	if o.NotAfter = r.NotAfter; o.NotAfter.IsZero() {
		o.NotAfter = b.now().Add(answerFor)
	}
	return o
}

// addressed adds to a worded answer for whom it is, and where.
func (b *Bot) addressed(r Request, s localizer, p outbox.Post) outbox.Post {
	p.Stored.Private, p.Stored.Refused = p.Private, p.Refused
	p.Stored = b.stored(r, s, p.Stored)
	p.ID, p.Kind, p.Where, p.Asker, p.Reply, p.Letters = p.Stored.ID, match.Answer, r.Where, r.Who, r.Reply, s.here.Letters == "on"
	return p
}

// wordedAnswer words a stored answer, and those merged with it.
func (b *Bot) wordedAnswer(ctx context.Context, o outbox.Pending) (p outbox.Post, err error) {
	s := localizer{by: o.For}
	if s.here, s.room, err = b.room(ctx, o.Where.WithoutThread()); err != nil {
		return p, err
	}
	who, prefs, err := b.store.Players(ctx, []match.PersonID{o.For})
	if err != nil {
		return p, err
	}
	s.prefs = prefs[o.For]
	s.mine = text.BestLanguage(cmp.Or(s.prefs.Lang, o.Lang, s.room.Tag))
	asker, known := who[o.For]
	r := Request{ID: strings.TrimSuffix(o.ID, ":answer"), Who: asker, Where: o.Where, Lang: o.Lang, Reply: o.Reply, Shows: true}
	switch q := o.Question; {
	case q == nil:
		p, err = b.reply(ctx, s, match.Reply{Texts: merged(o.Texts), Private: o.Private, Controls: o.Controls, Refused: o.Refused})
	case !known:
		err = outbox.ErrStale
	default:
		r.Command, r.Args, r.thread = q.Command, map[string]string{}, q.Game
		if contest.Is(q.Game) {
			r.thread, r.event = "", q.Game
		}
		r.Moderator, r.Except = q.Moderator, q.Except
		maps.Copy(r.Args, q.Args)
		h, _ := find(q.Command)
		r.Where.Thread = ""
		for range attempts {
			if p, err = b.answer(ctx, r, h, s); !errors.Is(err, ErrConflict) {
				break
			}
		}
		if o.Attempt == 0 {
			b.counter.answered(r, p.Refused, p.Stored.Texts)
		}
	}
	p = b.addressed(r, s, p)
	p.ID, p.Where = o.ID, o.Where
	return p, err
}

// merged says equal texts once, with their number.
func merged(texts []Text) (out []Text) {
	var times []int
	for _, t := range texts {
		i := slices.IndexFunc(out, func(o Text) bool { return reflect.DeepEqual(o, t) })
		if i < 0 {
			i, out, times = len(out), append(out, t), append(times, 0)
		}
		times[i]++
	}
	for i, n := range times {
		if n > 1 {
			out[i] = say("times", out[i], strconv.Itoa(n))
		}
	}
	return out
}

// reply words a stored answer.
func (b *Bot) reply(ctx context.Context, s localizer, r match.Reply) (outbox.Post, error) {
	who, err := b.rooms.People(ctx, people(r.Texts)...)
	if err != nil {
		return outbox.Post{}, err
	}
	l := s.room
	if r.Private {
		l = s.mine
	}
	return outbox.Post{
		Text: word(l, r.Texts, who, 0), Private: r.Private, Controls: labelled(l, r.Controls), Lang: l.Tag, Refused: r.Refused,
		Moderators: slices.ContainsFunc(r.Texts, func(t Text) bool { return slices.Contains(forModerators, t.Key) }),
		Secret:     slices.ContainsFunc(r.Texts, func(t Text) bool { return t.Key == "link.is" }),
		Stored:     match.OutboxPost{Texts: r.Texts, Controls: r.Controls},
	}, nil
}

// forModerators are the refusals that a moderator would not get.
var forModerators = []string{"moderators.only", "event.moderators", "event.organisers", "opens.moderators", "opens.nobody", "cancel.not.yours", "delete.whose"}

// tell returns a private answer that names nobody.
func (s localizer) tell(texts ...Text) outbox.Post {
	return outbox.Post{Text: word(s.mine, texts, nil, 0), Private: true, Lang: s.mine.Tag, Stored: match.OutboxPost{Texts: texts}}
}

// refuse returns the answer that says why a command was not carried out.
func (s localizer) refuse(texts ...Text) outbox.Post {
	a := s.tell(texts...)
	a.Refused = true
	return a
}

// labelled words the labels of buttons, which are keys.
func labelled(l *text.Language, cs []match.Control) (out []match.Control) {
	for _, c := range cs {
		c.Label = l.Say(say(c.Label, c.Args["game"]))
		out = append(out, c)
	}
	return out
}
