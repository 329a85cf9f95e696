package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Decorations are stored with the post that they follow and also held in memory, so that
// the disk need not be searched for them. Their completion need not be stored at once,
// because repeating one does no harm.

const (
	decorateFor  = 2 * time.Minute // one
	decorateMost = 5 * time.Minute // between two tries of one
	owedFor      = 24 * time.Hour  // unless the adapter says otherwise
	tidyAfter    = time.Second     // until it is stored that some are done
)

// rowsOf makes rows of an adapter's decorations.
func (b *Outbox) rowsOf(where match.Room, game match.GameID, seq int, of string, shown Receipt, owes []Owes) []Row {
	var rows []Row
	for _, w := range owes {
		if w.Done {
			if r, ok := b.queue.Drop(where.Platform, w.Kind, w.Key); ok {
				b.addGone(r)
			}
			continue
		}
		r := Row{Platform: where.Platform, Channel: where.Channel, Thread: where.Thread, Game: string(game), Seq: seq, Of: of,
			Kind: w.Kind, Key: w.Key, Target: string(w.Target), Data: w.Data, Messages: w.Messages, Every: w.Every, NotBefore: w.NotBefore, NotAfter: w.NotAfter}
		r.Sleeps = w.Kind == Clear && game != "" && w.Target != "" && w.Target == shown && w.NotBefore.IsZero()
		if r.NotAfter.IsZero() && !r.Sleeps {
			r.NotAfter = b.Now().Add(owedFor)
		}
		rows = append(rows, r)
	}
	b.queue.Number(rows)
	return rows
}

// settle stores that a post was shown, with the resulting changes of decorations, and
// that the next post of its lane is being sent, if that comes at once.
func (b *Outbox) settle(ctx context.Context, o match.OutboxPost, r Receipt, line *Message, owes []Owes) error {
	rows := b.rowsOf(o.Where, o.Game, o.Seq, o.Kind, r, owes)
	holder, ok := b.lease(o.Where)
	if !ok {
		return ErrLost
	}
	change := Decorations{Put: rows, Gone: b.takeGone(), Holder: holder}
	if o.Game != "" && !o.Private {
		woken, dropped := b.queue.Shown(o.Where.Platform, o.Where.Channel, string(o.Game), o.Seq, o.Kind == match.Show)
		change.Changed = woken
		change.Gone = append(change.Gone, dropped...)
	}
	next := b.following(o)
	err := b.Rows.Settle(ctx, o.ID, r, line, change, next)
	b.queue.Put(rows...) // after an error, too: they may have been stored
	if len(rows)+len(change.Changed) > 0 {
		wake(b.decorate)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		b.addGone(change.Gone...)
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(o)
	for _, p := range b.lane(o.Lane()).posts {
		if !p.asked.IsZero() {
			p.asked = b.Now() // its asker shows it only now
		}
	}
	if next != nil {
		if p := b.find(*next); p != nil {
			p.Tried = true
		}
	}
	return err
}

// Owe stores decorations that follow no post, for the platform of where. That some are
// done is stored later.
func (b *Outbox) Owe(ctx context.Context, where match.Room, owes ...Owes) error {
	rows := b.rowsOf(where, "", 0, "", "", owes)
	b.queue.Put(rows...) // newer rows may come before these are stored
	if len(rows) == 0 {
		return nil
	}
	holder, ok := b.lease(where)
	if !ok {
		return ErrLost
	}
	if err := b.Rows.Decorate(ctx, Decorations{Put: rows, Holder: holder}); err != nil {
		return err
	}
	wake(b.decorate)
	return nil
}

// addGone takes note of rows that are done.
func (b *Outbox) addGone(rows ...Row) {
	now := b.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.gone) == 0 {
		b.tidyAt = now.Add(tidyAfter)
		wake(b.decorate)
	}
	b.gone = append(b.gone, rows...)
}

func (b *Outbox) takeGone() []Row {
	b.mu.Lock()
	defer b.mu.Unlock()
	gone := b.gone
	b.gone = nil
	return gone
}

// tidy returns when to store which decorations are done; zero if none is.
func (b *Outbox) tidy() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.gone) == 0 {
		return time.Time{}
	}
	return b.tidyAt
}

// storeGone stores which decorations are done.
func (b *Outbox) storeGone(ctx context.Context) {
	gone := b.takeGone()
	if len(gone) == 0 {
		return
	}
	if err := b.Rows.Decorate(ctx, Decorations{Gone: gone}); err != nil && ctx.Err() == nil {
		b.Log.Error("storing finished decorations failed, will retry", "error", err)
		b.addGone(gone...)
	}
}

// decorating does decorations until ctx is done; those under way then have until
// finishing is done.
func (b *Outbox) decorating(ctx, finishing context.Context, platforms []Platform) {
	var wait sync.WaitGroup
	defer b.storeGone(finishing)
	defer wait.Wait()
	b.loop(ctx, b.decorate, &b.adorning, func(now time.Time) time.Time {
		for {
			r, ok, again := b.queue.Next(b.Now())
			if !ok {
				tidy := b.tidy()
				if !tidy.IsZero() && !now.Before(tidy) {
					b.storeGone(finishing)
					tidy = b.tidy()
				}
				return sooner(again, tidy)
			}
			wait.Go(func() {
				defer wake(b.decorate)
				b.decorateOne(finishing, platforms, r)
			})
		}
	})
}

// sooner returns the earlier of two times, of which zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// decorateDue does the decorations that are due, one after another, and returns how
// many there were.
func (b *Outbox) decorateDue(ctx context.Context, platforms []Platform) (n int) {
	defer b.storeGone(ctx)
	for ; ; n++ {
		r, ok, _ := b.queue.Next(b.Now())
		if !ok {
			return n
		}
		b.decorateOne(ctx, platforms, r)
	}
}

// decorateOne does a decoration and notes the outcome.
func (b *Outbox) decorateOne(ctx context.Context, platforms []Platform, r Row) {
	ctx, cancel := context.WithTimeout(ctx, decorateFor)
	defer cancel()
	about := []any{"kind", r.Kind, "channel", r.Channel, "game", r.Game}
	log := b.Log.With(about...)
	now := b.Now()
	holder, ok := b.lease(r.Where())
	if !ok { // another process has read it from the store
		b.queue.Done(r, now)
		return
	}
	ctx, let := b.under(ctx, r.Where())
	defer let()
	platform := named(platforms, r.Platform)
	var owes []Owes
	var p Post
	err := ErrStale
	switch {
	case !r.NotAfter.IsZero() && now.After(r.NotAfter):
		log.Warn("decoration expired, dropped", "attempt", r.Attempt)
	case platform == nil:
		err = RetryAfter{Wait: time.Hour}
	default:
		err = Guarded(func() (err error) {
			if p, err = b.Decoration(ctx, r); err == nil {
				_, owes, err = platform.Deliver(ctx, p)
			}
			return err
		})
	}
	now = b.Now() // it may have taken long
	if unsent(err) {
		b.queue.accounts.of(r.Platform).Spend(now, -r.messages())
	}
	var wait RetryAfter
	var panicked Panic
	later := func(d time.Duration, failed bool) {
		r, ok := b.queue.Later(r, now.Add(d), failed)
		if ok && (failed || d > tidyAfter) {
			b.failed(ctx, b.Rows.Decorate(ctx, Decorations{Changed: []Row{r}}), "decoration not stored", about...)
		}
	}
	switch {
	case ctx.Err() != nil && err != nil:
		later(retryAfter, false) // the program ends, or it takes too long
	case errors.Is(err, ErrMore):
		r.Messages, r.Since = 0, time.Time{}
		later(0, false)
	case errors.As(err, &wait):
		if wait.Account {
			b.queue.accounts.of(r.Platform).hold(now, wait.Wait)
		}
		later(wait.Wait, false)
	case err == nil, errors.Is(err, ErrStale), errors.Is(err, ErrGone), errors.Is(err, ErrNotFound), errors.Is(err, ErrRefused),
		errors.Is(err, ErrTooLarge), errors.As(err, new(Forbidden)):
		if err != nil && !errors.Is(err, ErrStale) {
			log.Info("decoration dropped", "error", err)
		}
		rows := b.rowsOf(r.Where(), match.GameID(r.Game), r.Seq, r.Of, "", owes)
		if len(rows) > 0 {
			b.queue.Put(rows...)
			b.failed(ctx, b.Rows.Decorate(ctx, Decorations{Put: rows, Holder: holder}), "decoration not stored", about...)
		}
		b.queue.Done(r, now)
		b.addGone(r)
	case errors.As(err, &panicked) && r.Attempt >= maxTries:
		log.Error("decoration failed, gave up", "error", err, "stack", panicked.Stack)
		b.queue.Done(r, now)
		b.addGone(r)
	default:
		log.Info("decoration failed, will retry", "attempt", r.Attempt, "error", err)
		later(min(time.Second<<min(r.Attempt, 10), decorateMost), true)
	}
}
