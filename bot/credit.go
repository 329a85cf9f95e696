package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/rules"
)

// With many games it takes seconds to credit each with an outage, and nobody should have
// to wait for it: a game is credited before it is listed or something is decided about it,
// all others by Tick.

// creditFirst credits a match with outages before it is listed or something is decided
// about it. It credits the outages that have ended. For a request it also credits an
// outage that lasts, if a flag would fall now only because of it, so that the person
// can move, or claim, as if the outage were over. If the match has changed it returns
// ErrConflict, and the caller reads the match again. An outage that ends after the match
// was read is found here, or else crediting it makes the commit fail with a conflict.
func (b *Bot) creditFirst(ctx context.Context, in *task) error {
	if in.Match.ID == "" {
		return nil
	}
	of, err := b.rooms.OutagesAt(ctx, in.Match.Where)
	changed := false
	for _, o := range of {
		if o.Lasts() {
			in.Away = true
			if in.req.ID == "" || in.Match.State != match.Going ||
				in.Position.Reading(in.Now).Flagged == rules.None || in.Position.Reading(o.From).Flagged != rules.None {
				continue
			}
			o.To = rooms.Stamp(in.Now)
		} else if in.Match.Deadline.IsZero() {
			continue
		}
		did, err := b.creditOnce(ctx, in.Match.ID, o)
		if err != nil {
			return err
		}
		changed = changed || did
	}
	if changed {
		return ErrConflict
	}
	return err
}

// creditedMatches finds matches to list with their deadlines.
func (b *Bot) creditedMatches(ctx context.Context, q Query) ([]match.Match, error) {
	ms, err := b.store.Matches(ctx, q)
	if err != nil {
		return nil, err
	}
	changed := false
	for _, m := range ms {
		err := b.creditFirst(ctx, &task{Input: match.Input{Match: m}})
		if err != nil && !errors.Is(err, ErrConflict) {
			return nil, err
		}
		changed = changed || err != nil
	}
	if changed {
		return b.store.Matches(ctx, q)
	}
	return ms, nil
}

// creditOnce credits a game with an outage, and reports whether it has. It does not if
// the game has been credited already, or does not replay. Where two outages overlap, the
// time is credited once.
func (b *Bot) creditOnce(ctx context.Context, id match.GameID, o rooms.Outage) (bool, error) {
	request := fmt.Sprintf("credit:%s:%d:%d", id, o.From.UnixMilli(), o.To.UnixMilli())
	if _, done, err := b.store.Answered(ctx, request); err != nil || done {
		return false, err
	}
	_, err := b.act(ctx, Request{}, id, request, o.To, nil, func(in *match.Input) match.Step { return match.Credit(in, o.From, o.To) })
	if errors.Is(err, ErrDamaged) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("credit game %s: %w", id, err)
	}
	return true, nil
}

// inEach does something in each game, once for each time of it.
func (b *Bot) inEach(ctx context.Context, ms []match.Match, what, when string, does func(*match.Input) match.Step) error {
	for _, m := range ms {
		now, err := b.rooms.Present(ctx)
		if err != nil {
			return err
		}
		request := fmt.Sprintf("%s:%s:%s", what, m.ID, when)
		if _, err = b.act(ctx, Request{}, m.ID, request, now, b.creditFirst, does); err != nil && !errors.Is(err, ErrDamaged) {
			return fmt.Errorf("%s: %w", request, err)
		}
	}
	return nil
}

// creditStep is how many games are looked up at once.
const creditStep = 50

// creditRest credits the games for which there were no requests, and the events, and deletes
// the outages with which all have been credited.
func (b *Bot) creditRest(ctx context.Context) error {
	list, err := b.rooms.Outages(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, o := range list {
		if o.Lasts() {
			continue
		}
		err := b.inSteps(func(after match.GameID) ([]match.GameID, error) {
			return b.store.Running(ctx, o.Platform, o.Server, after, creditStep)
		}, func(id match.GameID) error {
			_, err := b.creditOnce(ctx, id, o)
			return err
		})
		if err == nil {
			err = b.creditEvents(ctx, o)
		}
		if err == nil {
			err = b.rooms.Credited(ctx, o)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// inSteps changes the clocks of many games, some of which are looked up at a time.
func (b *Bot) inSteps(next func(after match.GameID) ([]match.GameID, error), change func(match.GameID) error) (failed error) {
	for after := match.GameID(""); ; {
		ids, err := next(after)
		if err != nil || len(ids) == 0 {
			return errors.Join(failed, err)
		}
		after = ids[len(ids)-1]
		for _, id := range ids {
			b.rooms.Beat()
			err := outbox.Guarded(func() error { return change(id) })
			if errors.As(err, new(outbox.Panic)) { // nothing else can be done with it either
				b.log.Error("changing the clocks of a game failed, skipped", "game", id, "error", err)
			} else if err != nil { // again at the next tick; the others do not wait for it
				failed = err
			}
		}
	}
}

// setRight takes back what was stored while the bot, perhaps of an earlier release,
// believed a clock that was ahead: otherwise deadlines would be as far off.
func (b *Bot) setRight(ctx context.Context) error {
	return b.rooms.WhenRight(func(now, limit time.Time) error {
		return b.inSteps(func(after match.GameID) ([]match.GameID, error) {
			return b.store.Ahead(ctx, limit, after, creditStep)
		}, func(id match.GameID) error {
			request := fmt.Sprintf("right:%s:%d", id, now.UnixMilli())
			_, err := b.act(ctx, Request{}, id, request, now, func(_ context.Context, in *task) error {
				if !in.Position.Ahead(limit) {
					return errNotAhead
				}
				return nil
			}, match.SetRight)
			if errors.Is(err, errNotAhead) || errors.Is(err, ErrDamaged) {
				return nil
			}
			return err
		})
	})
}

var errNotAhead = errors.New("the clock was set right already")

// unpark shows the parked posts of a room whose time has come, or all of them if the room
// can surely be reached.
func (b *Bot) unpark(ctx context.Context, where match.Room, sure bool) error {
	some, err := b.store.Unpark(ctx, where, b.now(), sure)
	if some || err != nil { // then it may have been stored
		b.outbox.Reread()
	}
	return err
}
