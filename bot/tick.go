package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
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
			err := outbox.Guarded(func() (err error) {
				done, err = b.due(ctx, d, now)
				return err
			})
			if err != nil {
				b.log.Error("timed action failed, will retry", "game", d.Game, "kind", d.Kind, "error", err)
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
			b.log.Error("reading timed actions failed, will retry", "error", err)
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

// due does one thing that is due, if it still is.
func (b *Bot) due(ctx context.Context, d match.Due, now time.Time) (bool, error) {
	request := fmt.Sprintf("%s:%s:%d:%d", d.Kind, d.Game, d.Seq, d.At.UnixMilli())
	done := false
	var unknown error
	_, err := b.act(ctx, Request{}, d.Game, request, now, func(ctx context.Context, in *task) error {
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

// others looks up what else waits for the people who are to be reminded, and when
// nobody could be.
func (b *Bot) others(ctx context.Context, in *task) error {
	outages, err := b.outagesOf(ctx, in.Match)
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

// act takes a step in a match that nobody asked for. look looks up what the decision
// depends on besides the match; nil: nothing. After ErrConflict all begins anew. It
// returns the posts that are to be shown by whoever asks r.
func (b *Bot) act(ctx context.Context, r Request, game match.GameID, id string, now time.Time, look func(context.Context, *task) error, what match.Change) ([]outbox.Claimed, error) {
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
		var own []outbox.Claimed
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
