package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// When the bot was away, that time is credited to every game whose clock ran. With
// many games this takes seconds, in which nobody should have to wait. So an outage
// is written down first, and games are credited one by one: each before anything
// is decided or shown of it, the rest by Tick.

// outagesMark is the bookmark of the outages that not all games have been
// credited with.
const outagesMark = "bot:outages"

// An absence is a time in which the bot was away, in milliseconds of Unix time.
type absence struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// pendingOutages returns the outages that some games may still have to be credited
// with. Callers do not change what they get.
func (b *Bot) pendingOutages(ctx context.Context) ([]absence, error) {
	if known := b.outages.Load(); known != nil {
		return *known, nil
	}
	b.crediting.Lock()
	defer b.crediting.Unlock()
	if known := b.outages.Load(); known != nil {
		return *known, nil
	}
	mark, err := b.store.Bookmark(ctx, outagesMark)
	if err != nil {
		return nil, err
	}
	var list []absence
	if mark != "" {
		if err := json.Unmarshal([]byte(mark), &list); err != nil {
			return nil, fmt.Errorf("outages: %w", err)
		}
	}
	b.outages.Store(&list)
	return list, nil
}

// changeOutages writes the outages down anew.
func (b *Bot) changeOutages(ctx context.Context, change func([]absence) []absence) error {
	if _, err := b.pendingOutages(ctx); err != nil { // reads them
		return err
	}
	b.crediting.Lock()
	defer b.crediting.Unlock()
	list := change(slices.Clone(*b.outages.Load()))
	mark, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		mark = nil
	}
	if err := b.store.SetBookmark(ctx, outagesMark, string(mark)); err != nil {
		return err
	}
	b.outages.Store(&list)
	return nil
}

// absent notes that the bot was away. All games are credited with that before
// anything is decided of them.
func (b *Bot) absent(ctx context.Context, from, to time.Time) error {
	return b.changeOutages(ctx, func(list []absence) []absence {
		return append(list, absence{from.UnixMilli(), to.UnixMilli()})
	})
}

// creditPending credits a game with all outages that it has not been credited
// with. It is to be called before the game is looked at.
func (b *Bot) creditPending(ctx context.Context, id GameID) error {
	list, err := b.pendingOutages(ctx)
	if err != nil || len(list) == 0 || id == "" {
		return err
	}
	m, _, err := b.store.Match(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || m.Deadline.IsZero() {
		return err
	}
	for _, o := range list {
		if err := b.creditOnce(ctx, id, time.UnixMilli(o.From), time.UnixMilli(o.To)); err != nil {
			return err
		}
	}
	return nil
}

// creditedMatches finds matches to list with their deadlines.
func (b *Bot) creditedMatches(ctx context.Context, q Query) ([]Match, error) {
	ms, err := b.store.Matches(ctx, q)
	if err != nil {
		return nil, err
	}
	if list, err := b.pendingOutages(ctx); err != nil || len(list) == 0 {
		return ms, err
	}
	for _, m := range ms {
		if err := b.creditPending(ctx, m.ID); err != nil {
			return nil, err
		}
	}
	return b.store.Matches(ctx, q)
}

// creditOnce credits a game with an outage, unless it has been already, or does
// not replay, so that nothing else can be done with it either.
func (b *Bot) creditOnce(ctx context.Context, id GameID, from, to time.Time) error {
	request := fmt.Sprintf("credit:%s:%d:%d", id, from.UnixMilli(), to.UnixMilli())
	err := b.actOn(ctx, id, request, to, nil, func(in *match.Input) Step { return match.Credit(in, from, to) })
	if err != nil && !errors.Is(err, errNotReplayed) {
		return fmt.Errorf("credit game %s: %w", id, err)
	}
	return nil
}

// creditStep is how many games are credited before others have their turn.
const creditStep = 50

// creditRest credits the games that nothing has been asked of, and then forgets
// the outages. It takes b.ticking for a few games at a time.
func (b *Bot) creditRest(ctx context.Context) error {
	list, err := b.pendingOutages(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	for after := GameID(""); ; {
		ids, err := b.store.Running(ctx, "", "", after, creditStep)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		after = ids[len(ids)-1]
		if err := b.creditSome(ctx, ids, list); err != nil {
			return err
		}
	}
	return b.changeOutages(ctx, func(now []absence) []absence {
		return slices.DeleteFunc(now, func(o absence) bool { return slices.Contains(list, o) })
	})
}

func (b *Bot) creditSome(ctx context.Context, ids []GameID, list []absence) error {
	b.ticking.Lock()
	defer b.ticking.Unlock()
	for _, id := range ids {
		for _, o := range list {
			b.beat(b.now()) // doing much is no outage
			if err := b.creditOnce(ctx, id, time.UnixMilli(o.From), time.UnixMilli(o.To)); err != nil {
				return err
			}
		}
	}
	return nil
}
