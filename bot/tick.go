package bot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules"
)

const dueAtOnce = 100

// Tick does what is due, and returns when to come again: when the next thing is
// due, or after a pulse. It is to be called every few seconds: a longer gap means
// that the bot was away, and is credited to every clock that ran.
func (b *Bot) Tick(ctx context.Context) (time.Time, error) {
	again, err := b.doDue(ctx)
	if err == nil {
		err = b.creditRest(ctx)
	}
	return again, err
}

// doDue does what is due, and returns when to come again.
func (b *Bot) doDue(ctx context.Context) (time.Time, error) {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	now, err := b.look(ctx)
	if err != nil {
		return now.Add(pulse), err
	}
	for {
		ds, err := b.store.DueBy(ctx, now, dueAtOnce)
		if err != nil {
			return now.Add(pulse), err
		}
		progress := false
		for _, d := range ds {
			b.beat(b.now()) // doing much is no outage
			done := false
			err := guarded(func() (err error) {
				done, err = b.due(ctx, d, now)
				return err
			})
			if err != nil {
				b.log.Error("something that is due was not done", "game", d.Game, "kind", d.Kind, "error", err)
			}
			progress = progress || done
		}
		if len(ds) < dueAtOnce || !progress {
			break
		}
	}
	again := now.Add(pulse)
	next, err := b.store.NextDue(ctx)
	if err == nil && !next.IsZero() && next.Before(again) && next.After(now) {
		again = next
	}
	return again, err
}

// lookEvery is the longest time between two ticks.
const lookEvery = 5 * time.Second

// Watch looks at the time and does what is due until ctx is done.
func (b *Bot) Watch(ctx context.Context) {
	for ctx.Err() == nil {
		again, err := b.Tick(ctx)
		if err != nil && ctx.Err() == nil {
			b.log.Error("what is due", "error", err)
		}
		wait := time.NewTimer(min(max(again.Sub(b.now()), 100*time.Millisecond), lookEvery))
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// When the store is pruned: in small steps, between which turns have it.
const (
	pruneFirst = time.Minute    // after the start
	pruneEvery = 24 * time.Hour // after the last step
	prunePause = time.Second    // between two steps
	pruneRows  = 500            // that a step looks at
)

// prune deletes what nothing needs any more until ctx is done.
func (b *Bot) prune(ctx context.Context) {
	wait, after := pruneFirst, ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		next, err := b.store.Prune(ctx, b.now(), after, pruneRows)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			b.log.Error("pruning the database failed, will retry", "error", err)
			wait = pruneFirst
			continue
		case next == "":
			wait = pruneEvery
		default:
			wait = prunePause
		}
		after = next
	}
}

// credit adds the time from and to, in which the bot, a platform or a server could
// not be reached, to every clock that runs there, or with "" to all. Crediting
// the same twice is crediting it once, and where two outages overlap the time is
// credited once.
func (b *Bot) credit(ctx context.Context, platform, server string, from, to time.Time) error {
	after := GameID("")
	for {
		ids, err := b.store.Running(ctx, platform, server, after, creditStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			after = id
			if err := b.creditOnce(ctx, id, from, to); err != nil {
				return err
			}
		}
	}
}

// awayMark begins the bookmark in which it is written since when a platform
// cannot be reached.
const awayMark = "bot:away:"

// awaySince gives since when a platform cannot be reached; zero: it can.
func (b *Bot) awaySince(ctx context.Context, platform string) (time.Time, error) {
	if known, ok := b.away.Load(platform); ok {
		return known.(time.Time), nil
	}
	mark, err := b.store.Bookmark(ctx, awayMark+platform)
	if err != nil {
		return time.Time{}, err
	}
	since := time.Time{}
	if ms, err := strconv.ParseInt(mark, 10, 64); err == nil {
		since = time.UnixMilli(ms)
	}
	known, _ := b.away.LoadOrStore(platform, since)
	return known.(time.Time), nil
}

// Away says that a platform cannot be reached; see [Desk].
func (b *Bot) Away(ctx context.Context, platform string) error {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	b.cut.Store(platform, true)
	if since, err := b.awaySince(ctx, platform); err != nil || !since.IsZero() {
		return err
	}
	now := b.now()
	if err := b.store.SetBookmark(ctx, awayMark+platform, strconv.FormatInt(now.UnixMilli(), 10)); err != nil {
		return err
	}
	b.away.Store(platform, now)
	return nil
}

// Back says that a platform can be reached again; see [Desk]. An outage shorter
// than a pulse is not credited.
func (b *Bot) Back(ctx context.Context, platform string) error {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	since, err := b.awaySince(ctx, platform)
	if err != nil || since.IsZero() {
		if err == nil {
			b.cut.Delete(platform)
		}
		return err
	}
	if now := b.now(); now.Sub(since) > pulse {
		if err := b.credit(ctx, platform, "", since, now); err != nil {
			return err
		}
	}
	if err := b.store.SetBookmark(ctx, awayMark+platform, ""); err != nil {
		return err
	}
	b.cut.Delete(platform)
	b.away.Store(platform, time.Time{})
	return nil
}

// creditFirst credits the outage of a platform to a game of which a flag would
// fall now by that outage alone, so that whoever is heard meanwhile moves, and
// claims, as if it were over. It reports whether it has.
func (b *Bot) creditFirst(ctx context.Context, in *task) (bool, error) {
	if in.Position == nil || in.Match.State != Going || in.Match.Clock.Kind == clock.None {
		return false, nil
	}
	since, err := b.awaySince(ctx, in.Match.Where.Platform)
	if err != nil || since.IsZero() || in.Position.Reading(in.Now).Flagged == rules.None || in.Position.Reading(since).Flagged != rules.None {
		return false, err
	}
	request := fmt.Sprintf("credit:%s:%d:%d", in.Match.ID, since.UnixMilli(), in.Now.UnixMilli())
	return true, b.act(ctx, in.Match.ID, request, in.Now, nil, func(now *match.Input) Step { return match.Credit(now, since, in.Now) })
}

// due does one thing that is due, if it still is.
func (b *Bot) due(ctx context.Context, d Due, now time.Time) (bool, error) {
	request := fmt.Sprintf("%s:%s:%d:%d", d.Kind, d.Game, d.Seq, d.At.UnixMilli())
	done := false
	var unknown error
	err := b.act(ctx, d.Game, request, now, func(in *task) {
		done = in.Match.Seq == d.Seq
		unknown = b.around(ctx, in, d)
	}, func(in *match.Input) Step { return match.DecideDue(in, d) })
	return done, errors.Join(err, unknown)
}

// around looks up what a decision on a due depends on besides its match. What
// cannot be found out it takes to be so that nobody loses by it: an error leaves
// the platform away, and one reminder too many is better than none.
func (b *Bot) around(ctx context.Context, in *task, d Due) (unknown error) {
	if d.Kind == "remind" && in.Match.State == Going && in.Match.ToMove != "" {
		if unknown = b.others(ctx, in); unknown != nil {
			in.Others = nil
		}
	}
	since, err := b.awaySince(ctx, in.Match.Where.Platform)
	in.Away = err != nil || !since.IsZero()
	return errors.Join(unknown, err)
}

// others looks up what else waits for the person who is to be reminded.
func (b *Bot) others(ctx context.Context, in *task) error {
	person := in.Match.ToMove
	ms, err := b.alsoWaiting(ctx, in.Match, person, in.Prefs[person].Remind == "direct")
	if err != nil {
		return err
	}
	for _, m := range ms {
		p, err := b.position(ctx, m, m.Seq)
		if errors.As(err, new(errLog)) {
			continue
		}
		if err != nil {
			return err
		}
		if m.ToMove == person {
			in.Others = append(in.Others, match.Waiting{Match: m, Position: p})
		}
	}
	return nil
}

// act takes a step in a match that nobody asked for. look looks up what the
// decision depends on besides the match; nil: nothing.
func (b *Bot) act(ctx context.Context, game GameID, id string, now time.Time, look func(*task), what match.Change) error {
	if err := b.creditPending(ctx, game); err != nil {
		return err
	}
	return b.actOn(ctx, game, id, now, look, what)
}

// errNotReplayed is the error of acting on a game whose log does not replay.
var errNotReplayed = errors.New("the game does not replay")

// actOn is act on a match that has been credited.
func (b *Bot) actOn(ctx context.Context, game GameID, id string, now time.Time, look func(*task), what match.Change) error {
	_, err := b.actFor(ctx, nil, game, id, now, look, what)
	return err
}

// actFor is actOn, and returns the posts that the asker is to show, unless it is nil.
func (b *Bot) actFor(ctx context.Context, asker *Request, game GameID, id string, now time.Time, look func(*task), what match.Change) ([]claimed, error) {
	for range attempts {
		if _, done, err := b.store.Answered(ctx, id); err != nil || done {
			return nil, err
		}
		m, err := b.store.Header(ctx, game)
		if err != nil {
			return nil, err
		}
		in := &task{Input: match.Input{Request: match.Request{ID: id}, Match: m, Now: now.UTC().Truncate(time.Millisecond)}}
		if answer, ok, err := b.prepare(ctx, in); err != nil || !ok {
			if err == nil {
				err = fmt.Errorf("%w: %s", errNotReplayed, answer.Text)
			}
			return nil, err
		}
		if look != nil {
			look(in)
		}
		was := in.Match.Standing
		step := what(&in.Input)
		step.Was, step.Where = &was, in.Match.Where
		if own, err := b.commit(ctx, &step, in, asker); !errors.Is(err, ErrConflict) {
			return own, err
		}
	}
	return nil, ErrConflict
}
