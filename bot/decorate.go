package bot

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Decorations follow posts; see package outbox. They are stored with the post that
// they follow and kept in memory as well, so that nobody looks for them on disk. That
// one is done need not be stored at once: doing it again does no harm.
type decorations struct {
	wake    chan struct{}
	reading chan struct{} // guards read: holds a value while what is stored is read
	read    bool

	mu   sync.Mutex
	gone []outbox.Row // done, and not yet stored to be so
}

const (
	decorateFor  = 2 * time.Minute // one
	decorateMost = 5 * time.Minute // between two tries of one
	owedFor      = 24 * time.Hour  // unless the adapter says otherwise
	tidyAfter    = time.Second     // until it is stored that some are done
	maxGone      = 256
)

// rowsOf makes rows of what an adapter owes.
func (b *Bot) rowsOf(where Room, game GameID, seq int, of string, shown Receipt, owes []Owes) []outbox.Row {
	var rows []outbox.Row
	for _, w := range owes {
		r := outbox.Row{Platform: where.Platform, Channel: where.Channel, Thread: where.Thread, Game: string(game), Seq: seq, Of: of,
			Kind: w.Kind, Key: w.Key, Target: string(w.Target), Data: w.Data, Every: w.Every, NotBefore: w.NotBefore, NotAfter: w.NotAfter}
		r.Sleeps = w.Kind == Clear && game != "" && w.Target != "" && w.Target == shown
		if r.NotAfter.IsZero() && !r.Sleeps {
			r.NotAfter = b.now().Add(owedFor)
		}
		rows = append(rows, r)
	}
	b.outbox.Number(rows)
	return rows
}

// settle stores that a post was shown, with what follows from that for decorations.
func (b *Bot) settle(ctx context.Context, o Owed, r Receipt, shown *Message, owes []Owes) error {
	if err := b.readDecorations(ctx); err != nil {
		return err
	}
	rows := b.rowsOf(o.Where, o.Game, o.Seq, o.Kind, r, owes)
	change := Decorations{Put: rows, Gone: b.takeGone()}
	if o.Game != "" && !o.Private {
		woken, dropped := b.outbox.Shown(o.Where.Platform, o.Where.Channel, string(o.Game), o.Seq, o.Kind == Show)
		change.Put = append(change.Put, woken...)
		change.Gone = append(change.Gone, dropped...)
	}
	err := b.store.Settle(ctx, o.ID, r, shown, change)
	if err != nil && !errors.Is(err, ErrNotFound) {
		b.addGone(change.Gone...)
		return err
	}
	b.outbox.Put(rows...)
	if len(change.Put) > 0 {
		b.wakeDecorations()
	}
	return err
}

// Owe stores decorations that follow no post; see [Desk].
func (b *Bot) Owe(ctx context.Context, where Room, owes ...Owes) error {
	if err := b.readDecorations(ctx); err != nil {
		return err
	}
	rows := b.rowsOf(where, "", 0, "", "", owes)
	b.outbox.Put(rows...) // newer rows may come before these are stored
	if err := b.store.Decorate(ctx, Decorations{Put: rows}); err != nil {
		return err
	}
	b.wakeDecorations()
	return nil
}

// Done drops a decoration; see [Desk].
func (b *Bot) Done(_ context.Context, where Room, kind, key string) error {
	if r, ok := b.outbox.Drop(where.Platform, kind, key); ok {
		b.addGone(r)
	}
	return nil
}

func (b *Bot) wakeDecorations() {
	select {
	case b.decorations.wake <- struct{}{}:
	default:
	}
}

// addGone takes note of rows that are done.
func (b *Bot) addGone(rows ...outbox.Row) {
	d := &b.decorations
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = append(d.gone, rows...)
	if len(d.gone) == 1 || len(d.gone) >= maxGone {
		b.wakeDecorations()
	}
}

func (b *Bot) takeGone() []outbox.Row {
	d := &b.decorations
	d.mu.Lock()
	defer d.mu.Unlock()
	gone := d.gone
	d.gone = nil
	return gone
}

func (b *Bot) someGone() bool {
	d := &b.decorations
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.gone) > 0
}

// storeGone stores which decorations are done.
func (b *Bot) storeGone(ctx context.Context) {
	gone := b.takeGone()
	if len(gone) == 0 {
		return
	}
	if err := b.store.Decorate(ctx, Decorations{Gone: gone}); err != nil && ctx.Err() == nil {
		b.log.Error("done decorations not stored, will retry", "error", err)
		b.addGone(gone...)
	}
}

// readDecorations reads once what was stored before this process, before anything
// else is put.
func (b *Bot) readDecorations(ctx context.Context) error {
	d := &b.decorations
	d.reading <- struct{}{}
	defer func() { <-d.reading }()
	if d.read {
		return nil
	}
	rows, err := b.store.Decorations(ctx)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Attempt = max(rows[i].Attempt, 1) // the process may have ended over it
		if rows[i].Kind == Ending {               // nobody else answers what an earlier process put off
			rows[i].NotBefore = time.Time{}
		}
	}
	b.outbox.Put(rows...)
	d.read = true
	return nil
}

// decorating does decorations until ctx is done; what is underway then has until
// finishing is.
func (b *Bot) decorating(ctx, finishing context.Context, adapters []Adapter) {
	var wait sync.WaitGroup
	defer b.storeGone(finishing)
	defer wait.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	tidy := time.Time{}
	for ctx.Err() == nil {
		r, ok, again := b.outbox.Next(b.now())
		if ok {
			wait.Go(func() {
				defer b.wakeDecorations()
				b.decorateOne(finishing, adapters, r)
			})
			continue
		}
		switch now := b.now(); {
		case !b.someGone():
			tidy = time.Time{}
		case tidy.IsZero():
			tidy = now.Add(tidyAfter)
		case !now.Before(tidy):
			b.storeGone(finishing)
			tidy = time.Time{}
		}
		pause := time.Hour
		for _, t := range []time.Time{again, tidy} {
			if !t.IsZero() {
				pause = min(pause, max(t.Sub(b.now()), time.Millisecond))
			}
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
		case <-b.decorations.wake:
		case <-timer.C:
		}
	}
}

// limit tells the outbox what the platforms surely take.
func (b *Bot) limit(adapters []Adapter) {
	for _, a := range adapters {
		if l, ok := a.(Limited); ok {
			perSecond, burst := l.Budget()
			b.outbox.Limit(a.Name(), perSecond, burst)
		}
	}
}

// decorate does the decorations that are due, one after another, and returns how
// many there were.
func (b *Bot) decorate(ctx context.Context, adapters []Adapter) (n int, err error) {
	b.limit(adapters)
	if err := b.readDecorations(ctx); err != nil {
		return 0, err
	}
	defer b.storeGone(ctx)
	for {
		r, ok, _ := b.outbox.Next(b.now())
		if !ok {
			return n, nil
		}
		b.decorateOne(ctx, adapters, r)
		n++
	}
}

// decorateOne does a decoration and notes what became of it.
func (b *Bot) decorateOne(ctx context.Context, adapters []Adapter, r outbox.Row) {
	ctx, cancel := context.WithTimeout(ctx, decorateFor)
	defer cancel()
	log := b.log.With("kind", r.Kind, "channel", r.Channel, "game", r.Game)
	now := b.now()
	adapter := adapterOf(adapters, r.Platform)
	var owes []Owes
	var p Post
	err := errStale
	switch {
	case !r.NotAfter.IsZero() && now.After(r.NotAfter):
		log.Warn("decoration given up: too late", "attempt", r.Attempt)
	case adapter == nil:
		err = RetryAfter{Wait: time.Hour}
	default:
		err = guarded(func() (err error) {
			if p, err = b.decoration(ctx, r); err == nil {
				_, owes, err = adapter.Deliver(ctx, p)
			}
			return err
		})
	}
	var wait RetryAfter
	var panicked errPanic
	later := func(d time.Duration, failed bool) {
		r, ok := b.outbox.Later(r, b.now().Add(d), failed)
		if ok && (failed || d > tidyAfter) {
			if err := b.store.Decorate(ctx, Decorations{Put: []outbox.Row{r}}); err != nil && ctx.Err() == nil {
				log.Error("decoration not stored", "error", err)
			}
		}
	}
	switch {
	case ctx.Err() != nil && err != nil:
		later(retryAfter, false) // the program ends, or it takes too long
	case errors.As(err, &wait):
		if wait.Account {
			b.outbox.Hold(r.Platform, b.now(), wait.Wait)
			time.AfterFunc(wait.Wait+time.Millisecond, b.Wake)
		}
		later(wait.Wait, false)
	case err == nil, errors.Is(err, errStale), errors.Is(err, ErrGone), errors.Is(err, ErrNotFound), errors.Is(err, ErrRefused),
		errors.Is(err, ErrTooLarge), errors.As(err, new(Forbidden)):
		if err != nil && !errors.Is(err, errStale) {
			log.Info("decoration dropped", "error", err)
		}
		rows := b.rowsOf(Room{Platform: r.Platform, Channel: r.Channel, Thread: r.Thread}, GameID(r.Game), r.Seq, r.Of, "", owes)
		if len(rows) > 0 {
			b.outbox.Put(rows...)
			if err := b.store.Decorate(ctx, Decorations{Put: rows}); err != nil && ctx.Err() == nil {
				log.Error("decoration not stored", "error", err)
			}
		}
		b.outbox.Done(r, b.now())
		b.addGone(r)
	case errors.As(err, &panicked) && r.Attempt >= maxTries:
		log.Error("decoration given up", "error", err, "stack", panicked.stack)
		b.outbox.Done(r, b.now())
		b.addGone(r)
	default:
		log.Info("decoration failed, will retry", "attempt", r.Attempt, "error", err)
		later(min(time.Second<<min(r.Attempt, 10), decorateMost), true)
	}
}

// decoration makes a post of a decoration, with what can be drawn and said of the
// game after the event at which it was owed.
func (b *Bot) decoration(ctx context.Context, r outbox.Row) (Post, error) {
	where := Room{Platform: r.Platform, Channel: r.Channel, Thread: r.Thread}
	p := Post{ID: r.Kind + " " + r.Key, Where: where, Kind: r.Kind, Game: GameID(r.Game), Seq: r.Seq,
		Replaces: r.Target, Data: r.Data, Attempt: r.Attempt + 1}
	if r.Game == "" || r.Kind != Header && r.Kind != Attach {
		return p, nil
	}
	m, pos, err := b.at(ctx, p.Game, r.Seq)
	if err != nil {
		return p, err
	}
	room, l, err := b.room(ctx, where)
	if err != nil {
		return p, err
	}
	p.Number, p.State, p.At, p.Lang = m.Number, m.State, pos.At, l.Tag
	if r.Kind == Attach && r.Of == Notice {
		if p.File, err = b.ended(ctx, m, pos, r.Seq); err == nil && p.File == nil {
			err = errStale
		}
		return p, err
	}
	scene, err := b.scene(ctx, m, pos, l, room.look(""))
	if err != nil {
		return p, err
	}
	p.Scene, p.Controls = &scene, labelled(l, controls(m, pos, r.Seq))
	return p, nil
}
