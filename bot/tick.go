package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

const dueAtOnce = 100

// Tick runs the timed actions that are due, and returns when to call it again: when
// the next one is due, or after a pulse. Call it every few seconds: a longer gap means
// that the bot was away, and is credited to every clock that ran.
func (b *Bot) Tick(ctx context.Context) (time.Time, error) {
	again, err := b.doDue(ctx)
	if err == nil {
		err = b.creditRest(ctx)
	}
	if err == nil {
		err = b.setRight(ctx)
	}
	if err == nil {
		err = b.tellSilenced(ctx)
	}
	return again, err
}

// doDue runs the timed actions that are due, and returns when to come again.
func (b *Bot) doDue(ctx context.Context) (time.Time, error) {
	now, err := b.rooms.Look(ctx)
	if err != nil {
		return now.Add(rooms.Pulse), err
	}
	progress, left := false, map[match.Due]bool{}
	for {
		ds, err := b.store.DueBy(ctx, now, dueAtOnce+len(left)) // of which nothing is done
		if err != nil {
			return now.Add(rooms.Pulse), err
		}
		before := len(left)
		progress = false
		for _, d := range ds {
			if left[d] {
				continue
			}
			b.rooms.Beat()
			b.ticking.Begin(b.now())
			done := false
			run := b.due
			if contest.Is(d.Game) {
				run = b.eventDue
			}
			err := outbox.Guarded(func() (err error) {
				done, err = run(ctx, d, now)
				return err
			})
			switch {
			case errors.Is(err, ErrDamaged), errors.Is(err, errUnserved): // the former is logged once
				left[d] = true
			case err != nil:
				b.log.Error("timed action failed, will retry", "game", d.Game, "kind", d.Kind, "error", err)
			}
			progress = progress || done && err == nil
		}
		if len(ds) < dueAtOnce+before || len(left) == before && !progress {
			break
		}
	}
	again := now.Add(rooms.Pulse)
	next, err := b.store.NextDue(ctx)
	switch {
	case err != nil || next.IsZero() || !next.Before(again):
	case next.After(now):
		again = next
	case progress: // an event has more games to open
		again = now
	}
	return again, err
}

// lookEvery is the longest time between two ticks.
const lookEvery = 5 * time.Second

// Watch ticks until ctx is done.
func (b *Bot) Watch(ctx context.Context) {
	for ctx.Err() == nil {
		b.ticking.Begin(b.now())
		again, err := b.Tick(ctx)
		if err != nil && ctx.Err() == nil {
			b.log.Error("reading timed actions failed, will retry", "error", err)
		}
		b.ticking.End()
		backoff.Sleep(ctx, min(max(again.Sub(b.now()), 100*time.Millisecond), lookEvery))
	}
}

// The store is pruned in small steps, so that turns need not wait.
const (
	pruneFirst = time.Minute    // after the start
	pruneEvery = 24 * time.Hour // after the last step
	prunePause = time.Second    // between two steps
	pruneRows  = 500            // that a step looks at
)

// prune deletes data that is no longer needed, until ctx is done. Each round first finishes
// forgetting people, should that have failed, and looks for players of events who are gone.
func (b *Bot) prune(ctx context.Context) {
	wait, after := pruneFirst, ""
	for backoff.Sleep(ctx, wait) == nil {
		if after == "" {
			b.eraseRest(ctx)
			b.lookForPlayers(ctx)
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

// due runs one timed action, if it is still due.
func (b *Bot) due(ctx context.Context, d match.Due, now time.Time) (bool, error) {
	request := fmt.Sprintf("%s:%s:%d:%d", d.Kind, d.Game, d.Seq, d.At.UnixMilli())
	done := false
	var unknown error
	_, err := b.act(ctx, Request{}, d.Game, request, now, func(ctx context.Context, in *task) error {
		if b.units != nil && b.units.Unserved(b.homes.unit(in.Match.Where)) { // whoever takes over first stores that as an outage
			return errUnserved
		}
		if err := b.creditFirst(ctx, in); err != nil {
			return err
		}
		done = in.Match.Seq == d.Seq
		if d.Kind == "remind" && in.Match.State == match.Going {
			if unknown = b.others(ctx, in); unknown != nil {
				in.Others = nil // one reminder too many is better than none
			}
		}
		return nil
	}, func(in *match.Input) match.Step { return match.DecideDue(in, d) })
	return done, errors.Join(err, unknown)
}

// errUnserved means that people may be unable to reach the bot where a game is played.
var errUnserved = errors.New("nobody serves the room")

// others loads the other games that wait for the people to be reminded, and the times
// at which nobody could be reminded.
func (b *Bot) others(ctx context.Context, in *task) error {
	outages, err := b.rooms.OutagesAt(ctx, in.Match.Where)
	if err != nil {
		return err
	}
	for _, o := range outages {
		if o.Platform == "" { // elsewhere reminders were made in time and waited
			in.Offline = append(in.Offline, match.Stretch{From: o.From, To: o.To})
		}
	}
	in.Others = map[match.PersonID][]match.Waiting{}
	for _, person := range in.Match.WaitsFor(in.Position) {
		also, err := b.alsoWaiting(ctx, in.Match, person, in.Prefs[person].Remind == "direct")
		if err != nil {
			return err
		}
		in.Others[person] = also
	}
	return nil
}

// act makes a step in a match without a request. look loads what the decision depends
// on besides the match, if it is not nil. After ErrConflict act starts again. It returns
// the posts that the adapter of r shows itself.
func (b *Bot) act(ctx context.Context, r Request, game match.GameID, id string, now time.Time, look func(context.Context, *task) error, what match.Change) ([]outbox.Pending, error) {
	for range attempts {
		if _, done, err := b.store.Answered(ctx, id); err != nil || done {
			return nil, err
		}
		m, err := b.store.Header(ctx, game)
		if err != nil {
			return nil, err
		}
		in := &task{Input: match.Input{Request: match.Request{ID: id}, Match: m, Now: now.UTC().Truncate(time.Millisecond)}}
		if err := b.prepare(ctx, in); err != nil {
			return nil, err
		}
		if look != nil {
			err = look(ctx, in)
		}
		var own []outbox.Pending
		if err == nil {
			was := in.Match.Standing
			step := what(&in.Input)
			step.Was, step.Where = &was, in.Match.Where
			own, err = b.commit(ctx, &step, in, r)
		}
		if !errors.Is(err, ErrConflict) {
			return own, err
		}
	}
	return nil, ErrConflict
}
