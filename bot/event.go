package bot

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Events: leagues and tournaments. Package contest decides what happens to them; this file
// loads what its decisions need, and stores their outcome. eventposts.go words their posts,
// eventquestions.go answers questions about them.

// eventName is the command.
const eventName = "event"

// changeEvent decides a request that changes an event, and stores the outcome. It returns
// ErrConflict if something else was stored meanwhile.
func (b *Bot) changeEvent(ctx context.Context, r Request, s localizer) (Answer, error) {
	if s.answer != nil { // it was asked before
		return b.outcome(ctx, r, s, *s.answer, nil)
	}
	now, err := b.rooms.Present(ctx)
	if err != nil {
		return Answer{}, err
	}
	c, refusal, err := b.chooseEvent(ctx, &r, s.by)
	if err != nil {
		return Answer{}, err
	}
	var step contest.Step
	if refusal != nil {
		step.Answer = *refusal
	} else {
		in, err := b.eventInput(ctx, c, when(r, now))
		if err == nil {
			in.Games, err = b.fixtureGames(ctx, c, "")
		}
		if err == nil {
			err = b.eventAsker(ctx, in, r, s)
		}
		if err != nil {
			return Answer{}, err
		}
		step = contest.Decide(in)
	}
	if step.Opens {
		if no := b.cannotHost(ctx, r); no != nil {
			step = contest.Step{Step: match.Step{Answer: *no}}
		}
	}
	step.Request, step.At, step.By, step.Where = r.ID, when(r, now).Truncate(time.Millisecond), s.by, r.Where.WithoutThread()
	step.People = append(step.People, s.by)
	if !step.Answer.Private {
		step.Typed = r.Typed
	}
	step.Posts = append(step.Posts, b.answering(r, s, step.Answer)...)
	if err := b.commitEvent(ctx, &step); err != nil {
		return Answer{}, err
	}
	b.counter.answered(r, step.Answer.Refused, step.Answer.Texts)
	b.carryOut(ctx, step)
	return b.outcome(ctx, r, s, step.Answer, nil)
}

// cannotHost says why an event cannot be published in the room of a request; nil: it can, or
// the platform cannot say that now.
func (b *Bot) cannotHost(ctx context.Context, r Request) *match.Reply {
	h := b.hosts[r.Where.Platform]
	if h == nil {
		return nil
	}
	var lacks outbox.Forbidden
	refuse := func(t Text) *match.Reply { return &match.Reply{Texts: []Text{t}, Private: true, Refused: true} }
	switch err := h.Hosts(ctx, r.Where); {
	case errors.As(err, &lacks):
		return refuse(say("event.host.lacks", lacks.Permission))
	case errors.Is(err, outbox.ErrGone):
		return refuse(say("event.host.room"))
	case err != nil:
		b.log.Warn("permissions for the games of an event not known, published anyway", "channel", r.Where.Channel, "error", err)
	}
	return nil
}

// commitEvent stores a step and hands its posts to the outbox.
func (b *Bot) commitEvent(ctx context.Context, step *contest.Step) error {
	_, err := b.outbox.Commit(ctx, &step.Step, func() (any, error) {
		if step.Contest == nil {
			return nil, b.store.Commit(ctx, &step.Step)
		}
		return nil, b.store.CommitContest(ctx, step)
	})
	if err == nil && step.Contest != nil {
		b.changes.tell(step.Contest.ID)
	}
	return err
}

// carryOut runs at once what a step made due; what fails is tried again by Tick.
func (b *Bot) carryOut(ctx context.Context, step contest.Step) {
	for _, d := range slices.Concat(step.Owes, step.Timed) {
		if d.At.After(step.At) {
			continue
		}
		if _, err := b.eventDue(ctx, d, step.At); err != nil {
			b.log.Error("timed action of an event failed, will retry", "event", d.Game, "kind", d.Kind, "error", err)
			return
		}
	}
}

// eventInput loads what a decision about an event depends on, but for its games; c is nil for a
// new one.
func (b *Bot) eventInput(ctx context.Context, c *contest.Contest, now time.Time) (*contest.Input, error) {
	in := &contest.Input{Contest: c, Rulesets: b.rulesets, Zone: time.UTC, Now: now.UTC().Truncate(time.Millisecond)}
	if c == nil {
		return in, nil
	}
	var err error
	if in.Unasked, err = b.unasked(ctx, c); err != nil {
		return nil, err
	}
	in.Fixture, err = b.fixtures(ctx, c.ID)
	return in, err
}

// fixtureGames loads games of an event: one, or all for "". A league may have many hundreds.
func (b *Bot) fixtureGames(ctx context.Context, c *contest.Contest, game match.GameID) (map[match.GameID]contest.Game, error) {
	games := map[match.GameID]contest.Game{}
	if c == nil {
		return games, nil
	}
	var ms []match.Match
	var err error
	if game == "" {
		ms, err = b.store.Matches(ctx, Query{Event: c.ID, Limit: fixtures})
	} else {
		var m match.Match
		if m, err = b.store.Header(ctx, game); errors.Is(err, ErrNotFound) {
			return games, nil
		}
		ms = []match.Match{m}
	}
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		g := contest.Game{Match: m}
		if m.State == match.Going && m.Deadline.IsZero() { // play has stopped
			switch p, err := b.position(ctx, m, m.Seq); {
			case errors.Is(err, ErrDamaged):
				g.Disputed = true // nobody but the organiser can decide it
			case err != nil:
				return nil, err
			default:
				g.Disputed = p.Contested()
			}
		}
		games[m.ID] = g
	}
	return games, nil
}

// unasked returns the players whom the question about the next round has not reached.
func (b *Bot) unasked(ctx context.Context, c *contest.Contest) (players []int, err error) {
	posts := c.AskedBy()
	shown, err := b.store.Delivered(ctx, slices.Collect(maps.Values(posts)))
	for player, id := range posts {
		if !shown[id] {
			players = append(players, player)
		}
	}
	return players, err
}

// fixtures is more than the games that an event can have.
const fixtures = 5000

// fixtures returns a function that gives the games of an event their ids, and their pages the
// slugs. Both are hard to guess, and follow from the bot's secret.
func (b *Bot) fixtures(ctx context.Context, id contest.ID) (func(round, table int) (match.GameID, string), error) {
	var secret []byte
	var err error
	if b.rand == nil { // a simulation has the same games each time
		secret, err = b.secret(ctx)
	}
	return func(round, table int) (match.GameID, string) {
		h := hmac.New(sha256.New, secret)
		fmt.Fprint(h, id, " ", round, " ", table)
		drawn := strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil)))
		return match.GameID("g" + drawn[:16]), drawn[16:32]
	}, err
}

// eventAsker adds what depends on the person asking and the room.
func (b *Bot) eventAsker(ctx context.Context, in *contest.Input, r Request, s localizer) error {
	in.Request = match.Request{ID: r.ID, Command: r.Command, Args: r.Args, Where: r.Where, Reply: r.Reply, Moderator: r.moderates(r.Command)}
	in.By, in.Room, in.Alone = s.by, b.settings(s.here), r.Alone
	if zone, ok := clock.Zone(s.prefs.Zone); ok {
		in.Zone = zone
	}
	in.Users = map[string]match.PersonID{}
	for option, who := range r.Users {
		p, err := b.store.Person(ctx, who)
		if err != nil {
			return err
		}
		in.Users[option] = p
	}
	if in.Contest != nil {
		return nil
	}
	draft, err := b.store.Draft(ctx, s.by, r.Where.WithoutThread(), in.Now)
	if err == nil {
		in.Draft, err = contest.ParseDraft(draft)
	}
	if err != nil {
		return err
	}
	running, err := b.store.Contests(ctx, r.Where.WithoutThread(), contest.Runs, 100)
	if err != nil {
		return err
	}
	in.Running = len(running)
	id, page, _, err := b.newID(ctx, r.ID)
	in.NewID, in.NewPage = contest.Prefix+id[1:], page
	return err
}

// chooseEvent finds the event that a request is about, or says why there is none; c is nil if
// it is about none. Somebody who is alone with the bot may mean an event of another room in
// which they are: a question about the next round comes to them there. Being a moderator of
// this room makes them none of that one.
func (b *Bot) chooseEvent(ctx context.Context, r *Request, by match.PersonID) (c *contest.Contest, refusal *match.Reply, err error) {
	if !contest.NeedsEvent(r.Args["what"]) {
		return nil, nil, nil
	}
	if r.thread != "" {
		m, err := b.store.Header(ctx, r.thread)
		if err == nil && m.Fixture.Event != "" {
			c, err = b.contest(ctx, m.Fixture.Event)
		}
		if c != nil || err != nil && !errors.Is(err, ErrNotFound) {
			return c, nil, err
		}
	}
	if r.event != "" {
		c, err := b.contest(ctx, r.event)
		return c, nil, err
	}
	where := r.Where.WithoutThread()
	all, err := b.store.Contests(ctx, where, nil, 100)
	if err == nil && r.direct() {
		all, err = b.withEventsElsewhere(ctx, all, where, by)
	}
	if err == nil {
		c, refusal, err = b.likelyEvent(ctx, r, by, all)
	}
	if c != nil && c.Where != where {
		r.Moderator = false
	}
	return c, refusal, err
}

// withEventsElsewhere adds the events of other rooms of a platform in which a person is.
func (b *Bot) withEventsElsewhere(ctx context.Context, here []contest.Head, where match.Room, by match.PersonID) ([]contest.Head, error) {
	theirs, err := b.store.ContestsOf(ctx, by)
	for _, h := range theirs {
		if h.Where.Platform == where.Platform && h.Where != where {
			here = append(here, h)
		}
	}
	return here, err
}

// likelyEvent finds the event that somebody most likely means: of those with the number or
// title that they typed, or of those that go on, the only one in which they can do it.
func (b *Bot) likelyEvent(ctx context.Context, r *Request, by match.PersonID, all []contest.Head) (c *contest.Contest, refusal *match.Reply, err error) {
	refuse := func(texts ...Text) *match.Reply { return &match.Reply{Texts: texts, Private: true, Refused: true} }
	heads := slices.DeleteFunc(slices.Clone(all), func(h contest.Head) bool { return !slices.Contains(contest.Runs, h.State) })
	typed := strings.TrimSpace(r.Args["event"])
	switch n, _ := strconv.Atoi(typed); {
	case len(all) == 0 && r.direct():
		return nil, refuse(say("event.none.direct")), nil
	case len(all) == 0:
		return nil, refuse(say("event.none")), nil
	case typed != "":
		heads = slices.DeleteFunc(slices.Clone(all), func(h contest.Head) bool { return h.Number != n && !strings.EqualFold(h.Title, typed) })
		if len(heads) == 0 {
			return nil, refuse(say("event.unknown", shortened(typed)), eventList(all)), nil
		}
		if !r.direct() {
			heads = heads[:1]
		}
	case len(heads) == 0: // the last one
		heads = all[:1]
	}
	able := make([]*contest.Contest, 0, len(heads))
	for _, h := range heads {
		if c, err = b.contest(ctx, h.ID); err != nil {
			return nil, nil, err
		}
		if len(heads) == 1 || canAnswer(c, r.Args["what"], by) {
			able = append(able, c)
		}
	}
	if len(able) == 1 {
		return able[0], nil, nil
	}
	reply := refuse(say("event.which"), eventList(heads))
	for _, h := range heads[:min(len(heads), 5)] {
		args := maps.Clone(r.Args)
		args["event"] = strconv.Itoa(h.Number)
		if slices.ContainsFunc(heads, func(o contest.Head) bool { return o.Number == h.Number && o.ID != h.ID }) { // in another room
			args["event"] = h.Title
		}
		reply.Controls = append(reply.Controls, match.Control{Label: h.Title, Command: eventName, Args: args})
	}
	return nil, reply, nil
}

// canAnswer reports whether a person can do now what only players of an event can, and those
// at certain times.
func canAnswer(c *contest.Contest, what string, by match.PersonID) bool {
	switch what {
	case "play", "sitout":
		return c.Asking != nil && c.Player(by) > 0
	case "leave":
		return c.Player(by) > 0
	}
	return false
}

// eventList lists events with their numbers.
func eventList(heads []contest.Head) Text {
	var lines []Text
	for _, h := range heads[:min(len(heads), 10)] {
		lines = append(lines, say("event.line", strconv.Itoa(h.Number), h.Title, say("event.state."+string(h.State))))
	}
	return text.Lines(lines...)
}

// contest loads an event.
func (b *Bot) contest(ctx context.Context, id contest.ID) (*contest.Contest, error) {
	return b.contestAt(ctx, id, 0)
}

// contestAt loads an event as it was after a line of its log; 0: the last.
func (b *Bot) contestAt(ctx context.Context, id contest.ID, seq int) (*contest.Contest, error) {
	h, log, err := b.store.Contest(ctx, id)
	if err != nil {
		return nil, err
	}
	if seq > 0 {
		log = log[:min(seq, len(log))]
	}
	c, err := contest.Fold(h, log)
	if err != nil {
		return nil, fmt.Errorf("event %s does not fold: %w", id, err)
	}
	return c, nil
}

// fixturesAtOnce is how many games are opened before the next look at what else is due.
const fixturesAtOnce = 10

// eventDue runs a timed action of an event, and reports whether it did anything. It changes
// games first, each in a step of its own. If the program is killed in between, the next start
// repeats the action, and the steps that were stored change nothing again.
func (b *Bot) eventDue(ctx context.Context, d match.Due, now time.Time) (bool, error) {
	request := fmt.Sprintf("%s:%s:%d:%d", d.Kind, d.Game, d.Seq, d.At.UnixMilli())
	for range attempts {
		c, err := b.contest(ctx, d.Game)
		if errors.Is(err, ErrNotFound) { // it was forgotten with its server
			return false, nil
		}
		if err != nil {
			return false, err
		}
		what, game, args := contest.Closing(d.Kind)
		switch what {
		case "close", "count":
			err = b.closeFixture(ctx, c, game, what, request, now)
		case "credit":
			err = b.creditFixture(ctx, game, args, request, now)
		}
		if err != nil {
			return false, err
		}
		in, err := b.eventInput(ctx, c, now)
		switch {
		case err != nil:
		case what == "open":
			if in.Games, err = b.fixtureGames(ctx, c, ""); err == nil {
				err = b.openFixtures(ctx, in)
			}
		case what == "links":
			var links []Text
			links, in.Linking, err = b.gameLinks(ctx, c)
			in.Links = len(links)
		case what == "ends", what == "result":
			in.Games, err = b.fixtureGames(ctx, c, game)
		}
		if err != nil {
			return false, err
		}
		in.Request.ID = request
		if in.Away, in.Outage, err = b.eventAway(ctx, c, now); err != nil {
			return false, err
		}
		step := contest.DecideDue(in, d)
		step.Where = c.Where
		if len(step.Log) == 0 && step.Done == "" && len(step.Posts) == 0 {
			step.Request = fmt.Sprint(request, ":", now.UnixMilli()) // it comes again
		}
		err = b.commitEvent(ctx, &step)
		if errors.Is(err, ErrConflict) {
			if _, done, err := b.store.Answered(ctx, step.Request); err != nil || done {
				return false, err
			}
			continue
		}
		if err == nil && len(step.Log) > 0 {
			b.carryOut(ctx, step)
		}
		return true, err
	}
	return false, ErrConflict
}

// eventAway reports whether the place of an event cannot be reached now, and the outage that
// holds or held at the end of its sign-up, or of the time to answer between two rounds.
func (b *Bot) eventAway(ctx context.Context, c *contest.Contest, now time.Time) (away bool, at match.Stretch, err error) {
	place, err := b.rooms.Place(ctx, c.Where)
	if err != nil {
		return false, at, err
	}
	until := c.Waits()
	outages, err := b.rooms.OutagesAt(ctx, c.Where)
	for _, o := range outages {
		away = away || o.Lasts()
		if !o.From.After(until) && until.Before(cmp.Or(o.To, now)) {
			at = match.Stretch{From: o.From, To: cmp.Or(o.To, now)}
		}
	}
	return away || !place.Server.Left.IsZero(), at, err
}

// openFixtures opens some of the games of a round that do not exist yet, and adds them to the
// games of the event.
func (b *Bot) openFixtures(ctx context.Context, of *contest.Input) error {
	n := 0
	for _, number := range of.Contest.Unopened() {
		m := of.Contest.Match(number)
		if _, exists := of.Games[m.ID]; exists {
			continue
		}
		if n++; n > fixturesAtOnce {
			break
		}
		id := fmt.Sprintf("open:%s:%d:%d", m.Fixture.Event, m.Fixture.Round, m.Fixture.Table)
		in := &task{Input: match.Input{Request: match.Request{ID: id, Where: m.Where}, Now: of.Now, Rulesets: b.rulesets}}
		var err error
		if in.localizer.here, err = b.rooms.Place(ctx, m.Where); err == nil {
			err = b.prepare(ctx, in)
		}
		if err != nil {
			return err
		}
		in.Match = m
		if in.who, in.Prefs, err = b.store.Players(ctx, []match.PersonID{m.Black, m.White}); err != nil {
			return err
		}
		step := match.OpenFixture(&in.Input)
		step.Where = m.Where
		if step.Match == nil {
			return fmt.Errorf("table %d cannot begin: %v", number, step.Answer.Texts)
		}
		switch _, err := b.commit(ctx, &step, in, Request{}); {
		case errors.Is(err, ErrConflict): // it was opened meanwhile, and is found next time
		case err != nil:
			return err
		default:
			of.Games[m.ID] = contest.Game{Match: *step.Match}
		}
	}
	return nil
}

// closeFixture ends a game of an event as it is marked, or by the result that it has in the
// event.
func (b *Bot) closeFixture(ctx context.Context, c *contest.Contest, game match.GameID, what, request string, now time.Time) error {
	as, by := what, match.PersonID("")
	if _, _, t := c.Table(game); t != nil && t.Result != nil && what != "count" {
		as, by = t.Result.Verdict(), t.Result.By
	}
	_, err := b.act(ctx, Request{}, game, request+":"+string(game), now, nil, func(in *match.Input) match.Step {
		in.By = by
		return match.CloseFixture(in, as)
	})
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return err
}

// creditFixture credits the clocks of a game with time that does not count.
func (b *Bot) creditFixture(ctx context.Context, game match.GameID, args []string, request string, now time.Time) error {
	if len(args) != 2 {
		return fmt.Errorf("credit of game %s without its time: %v", game, args)
	}
	from, err := strconv.ParseInt(args[0], 10, 64)
	to, err2 := strconv.ParseInt(args[1], 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	_, err = b.act(ctx, Request{}, game, request+":"+string(game), now, nil, func(in *match.Input) match.Step {
		return match.CreditFixture(in, time.UnixMilli(from), time.UnixMilli(to))
	})
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return err
}

// leaveEvents withdraws a person from all events that go on.
func (b *Bot) leaveEvents(ctx context.Context, p match.PersonID) error {
	heads, err := b.store.ContestsOf(ctx, p)
	if err != nil {
		return err
	}
	for _, h := range heads {
		request := fmt.Sprintf("forget:%s:%s", h.ID, p)
		err := b.actEvent(ctx, h.ID, request, func(in *contest.Input) contest.Step { return contest.Leave(in, p) })
		if err != nil {
			return fmt.Errorf("leave event %s: %w", h.ID, err)
		}
	}
	return nil
}

// actEvent makes a step in an event without a request.
func (b *Bot) actEvent(ctx context.Context, id contest.ID, request string, what func(*contest.Input) contest.Step) error {
	for range attempts {
		if _, done, err := b.store.Answered(ctx, request); err != nil || done {
			return err
		}
		c, err := b.contest(ctx, id)
		if err != nil {
			return err
		}
		in, err := b.eventInput(ctx, c, b.now())
		if err == nil {
			in.Games, err = b.fixtureGames(ctx, c, "")
		}
		if err != nil {
			return err
		}
		in.Request.ID = request
		step := what(in)
		step.Where = c.Where
		err = b.commitEvent(ctx, &step)
		if err == nil {
			b.carryOut(ctx, step)
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return ErrConflict
}

// creditEvents extends the sign-up, or the time to answer between two rounds, of the events in
// which it ended in an outage.
func (b *Bot) creditEvents(ctx context.Context, o rooms.Outage) error {
	heads, err := b.store.Contests(ctx, match.Room{Platform: o.Platform}, contest.Runs, fixtures)
	if err != nil {
		return err
	}
	for _, h := range heads {
		c, err := b.contest(ctx, h.ID)
		if err != nil {
			return err
		}
		of, err := b.rooms.OutagesAt(ctx, h.Where)
		if err != nil {
			return err
		}
		if until := c.Waits(); until.Before(o.From) || !until.Before(o.To) || !slices.Contains(of, o) {
			continue
		}
		request := fmt.Sprintf("credit:%s:%d:%d", h.ID, o.From.UnixMilli(), o.To.UnixMilli())
		err = b.actEvent(ctx, h.ID, request, func(in *contest.Input) contest.Step {
			in.Outage = match.Stretch{From: o.From, To: o.To}
			return contest.Credit(in)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", request, err)
		}
	}
	return nil
}

// tellOrganisers tells the organisers of events that go on in rooms that the bot has left, each
// time once.
func (b *Bot) tellOrganisers(ctx context.Context, platform string) error {
	heads, err := b.store.Contests(ctx, match.Room{Platform: platform}, contest.Runs, fixtures)
	if err != nil {
		return err
	}
	for _, h := range heads {
		place, err := b.rooms.Place(ctx, h.Where)
		if err != nil {
			return err
		}
		left := place.Server.Left
		if left.IsZero() {
			continue
		}
		request := fmt.Sprintf("left:%s:%d", h.ID, left.UnixMilli())
		if err := b.actEvent(ctx, h.ID, request, func(in *contest.Input) contest.Step { return contest.SentAway(in, left) }); err != nil {
			return fmt.Errorf("%s: %w", request, err)
		}
	}
	return nil
}

// tellSilenced tells the organisers of events that go on where the bot may not write, once until
// it can again. Those of rooms that it has left are told otherwise.
func (b *Bot) tellSilenced(ctx context.Context) (failed error) {
	silences, err := b.store.Silences(ctx)
	if err != nil {
		return err
	}
	for _, s := range silences {
		place, err := b.rooms.Place(ctx, s.Where)
		if err == nil && place.Server.Left.IsZero() {
			err = b.actEvent(ctx, s.Event, contest.SilencedRequest+string(s.Event), func(in *contest.Input) contest.Step {
				return contest.Silenced(in, outbox.Lacks(s.Why))
			})
		}
		if err != nil { // the others do not wait for it
			failed = errors.Join(failed, fmt.Errorf("tell the organisers of event %s: %w", s.Event, err))
		}
	}
	return failed
}

// showEvents shows the messages of the events of a room again that go on, for a reason that happens
// once.
func (b *Bot) showEvents(ctx context.Context, where match.Room, why string, moved bool) error {
	heads, err := b.store.Contests(ctx, where.WithoutThread(), contest.Runs, fixtures)
	if err != nil {
		return err
	}
	for _, h := range heads {
		request := fmt.Sprintf("again:%s:%s", h.ID, why)
		err := b.actEvent(ctx, h.ID, request, func(in *contest.Input) contest.Step { return contest.ShowAgain(in, why, moved) })
		if err != nil {
			return fmt.Errorf("%s: %w", request, err)
		}
	}
	return nil
}
