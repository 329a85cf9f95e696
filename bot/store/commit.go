package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A changer makes changes in transactions.
type changer interface {
	// change stores what write writes. After an error of write nothing is stored; after any
	// other error it may or may not have been stored. write may be called again, with another
	// transaction, when nothing of the last one was stored: it is a function of its arguments.
	change(ctx context.Context, write func(context.Context, transaction) error) error
	// reach says why no change could be made at this moment; nil: one could.
	reach(ctx context.Context) error
	// stop ends it when the changes that are under way have been made.
	stop()
}

// A transaction is where a change is made.
type transaction interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	// now runs a write.
	now(ctx context.Context, w write) error
	// later runs a write at once or, on PostgreSQL, in one message with the next statement that is not
	// for later, or before the end of the transaction. If it fails then, nothing is stored.
	later(ctx context.Context, w write) error
}

// A write is a statement of a transaction.
type write struct {
	what  string // for errors; may be empty
	query string
	args  []any
	least int64 // how many rows it must write or find
	less  error // returned if they are fewer; nil: ErrConflict
	row   []any // if the query returns a row, where its columns go; they stay as they are if there is none
}

// outcome returns the error of a write that has run.
func (w write) outcome(rows int64, err error) error {
	if err == nil && rows < w.least {
		err = cmp.Or(w.less, bot.ErrConflict)
	}
	if err != nil && w.what != "" {
		err = fmt.Errorf("%s: %w", w.what, err)
	}
	return err
}

// simple is a transaction whose writes run one by one.
type simple struct{ *sql.Tx }

func (t simple) later(ctx context.Context, w write) error { return t.now(ctx, w) }

func (t simple) now(ctx context.Context, w write) error {
	if w.row != nil {
		err := t.QueryRowContext(ctx, w.query, w.args...).Scan(w.row...)
		if errors.Is(err, sql.ErrNoRows) {
			return w.outcome(0, nil)
		}
		return w.outcome(1, err)
	}
	result, err := t.ExecContext(ctx, w.query, w.args...)
	if err != nil {
		return w.outcome(0, err)
	}
	return w.outcome(result.RowsAffected())
}

// A watcher is told of each commit, once there is a function for that.
type watcher struct {
	f atomic.Pointer[func(changes int, took time.Duration, failed error)]
}

// tell says how many changes were committed, since when, and why that failed.
func (w *watcher) tell(changes int, began time.Time, failed error) {
	if f := w.f.Load(); f != nil {
		(*f)(changes, time.Since(began), failed)
	}
}

// A committer makes changes, one after another. Changes that arrive while the disk is
// busy share the next commit, because a commit is nearly all of the cost of a change
// and costs the same for any number of rows.
type committer struct {
	db      *sql.DB
	check   func() error // what must succeed before a transaction begins
	watcher *watcher
	queue   chan change
	asked   chan chan error // see reach
	quit    chan struct{}
	done    chan struct{}
	finish  func()
}

// A change is something to write as a whole, and the channel for its outcome.
type change struct {
	ctx   context.Context
	write func(context.Context, transaction) error
	err   chan error
}

// together is the largest number of changes in one commit.
const together = 64

var errClosed = errors.New("store is closed")

func startCommitter(db *sql.DB, check func() error, w *watcher) *committer {
	c := &committer{db: db, check: check, watcher: w, queue: make(chan change), asked: make(chan chan error), quit: make(chan struct{}), done: make(chan struct{})}
	c.finish = sync.OnceFunc(func() { close(c.quit); <-c.done })
	go c.run()
	return c
}

// change calls write once.
func (c *committer) change(ctx context.Context, write func(context.Context, transaction) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	mine := change{ctx, write, make(chan error, 1)}
	select {
	case c.queue <- mine:
		return <-mine.err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.quit:
		return errClosed
	}
}

// reach returns once no commit is under way.
func (c *committer) reach(ctx context.Context) error {
	answer := make(chan error, 1)
	select {
	case c.asked <- answer:
		return <-answer
	case <-ctx.Done():
		return ctx.Err()
	case <-c.quit:
		return errClosed
	}
}

func (c *committer) stop() { c.finish() }

func (c *committer) run() {
	defer close(c.done)
	for {
		select {
		case first := <-c.queue:
			changes := c.waiting(first)
			began := time.Now()
			errs := c.commit(changes)
			c.watcher.tell(len(changes), began, failure(errs))
			for i, err := range errs {
				changes[i].err <- err
			}
		case answer := <-c.asked:
			answer <- c.check()
		case <-c.quit:
			return
		}
	}
}

// waiting returns first and those that wait at this moment.
func (c *committer) waiting(first change) []change {
	changes := []change{first}
	for len(changes) < together {
		select {
		case next := <-c.queue:
			changes = append(changes, next)
		default:
			return changes
		}
	}
	return changes
}

// commit makes changes in one transaction and returns the error of each.
func (c *committer) commit(changes []change) []error {
	errs := make([]error, len(changes))
	fail := func(err error) []error {
		for i := range errs {
			if errs[i] == nil {
				errs[i] = err
			}
		}
		return errs
	}
	if err := c.check(); err != nil {
		return fail(err)
	}
	begun, err := c.db.BeginTx(context.Background(), nil)
	if err != nil {
		return fail(err)
	}
	tx := simple{begun}
	if len(changes) == 1 { // it has the transaction to itself
		if errs[0] = changes[0].write(context.WithoutCancel(changes[0].ctx), tx); errs[0] != nil {
			tx.Rollback()
			return errs
		}
		return fail(tx.Commit())
	}
	for i, change := range changes {
		refused, err := attempt(tx, change)
		if err != nil {
			tx.Rollback() // if there is still one
			errs[i] = errors.Join(refused, err)
			return fail(err)
		}
		errs[i] = refused
	}
	return fail(tx.Commit())
}

// failure returns the first error that is a fault of the database; nil: there is none. By the
// others changes were only refused.
func failure(errs []error) error {
	for _, err := range errs {
		if err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

// refused reports whether an error is no fault of the database.
func refused(err error) bool {
	return slices.ContainsFunc([]error{bot.ErrConflict, bot.ErrNotFound, bot.ErrTooMany, bot.ErrFull, bot.ErrAlike, outbox.ErrLost, context.Canceled},
		func(e error) bool { return errors.Is(err, e) })
}

// attempt makes a change, or rolls it back and returns the reason. Any other error
// means that the state of the transaction is unknown, for example because the database
// aborted it when the disk was full.
func attempt(tx transaction, c change) (refused, err error) {
	// A cancelled statement would abort the whole transaction, with the changes of
	// others.
	ctx := context.WithoutCancel(c.ctx)
	if _, err := tx.ExecContext(ctx, "SAVEPOINT change"); err != nil {
		return nil, fmt.Errorf("begin savepoint: %w", err)
	}
	refused = c.write(ctx, tx)
	end := "RELEASE SAVEPOINT change"
	if refused != nil {
		end = "ROLLBACK TO SAVEPOINT change"
	}
	if _, err := tx.ExecContext(ctx, end); err != nil {
		return refused, fmt.Errorf("end savepoint: %w", err)
	}
	return refused, nil
}
