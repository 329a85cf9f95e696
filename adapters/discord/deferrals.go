package discord

import (
	"context"
	"database/sql"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
	"github.com/halfpoint-go/halfpoint/bot"
)

// What is put off is written down, so that somebody who sees that the bot thinks
// is told, after the program was killed meanwhile, that it does not any more.

// deferralTable holds the deferrals whose end is not known to be shown. The token
// is of no use to anybody after 15 minutes.
const deferralTable = `
CREATE TABLE IF NOT EXISTS discord_deferral (
	token TEXT PRIMARY KEY,
	lang  TEXT NOT NULL,
	at    BIGINT NOT NULL
)`

// expired are those that cannot be ended any more.
const expired = `DELETE FROM discord_deferral WHERE at <= $1`

// writeFor is how long one may take to be written down; nobody waits for it.
const writeFor = 10 * time.Second

// A deferral is one that is written down.
type deferral struct{ token, lang string }

// A deferrals is the table of them. Nil, it keeps nothing.
type deferrals struct {
	db    *sql.DB
	lanes *lanes.Lanes // by token
	fail  func(error)
}

// openDeferrals gives the table, and what was put off before and not ended, and
// can be still.
func openDeferrals(ctx context.Context, db *sql.DB, now time.Time, fail func(error)) (t *deferrals, left []deferral, err error) {
	if db == nil {
		return nil, nil, nil
	}
	if _, err := db.ExecContext(ctx, deferralTable); err != nil {
		return nil, nil, err
	}
	if _, err := db.ExecContext(ctx, expired, now.Add(-routeLife).UnixMilli()); err != nil {
		return nil, nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT token, lang FROM discord_deferral ORDER BY at DESC`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d deferral
		if err := rows.Scan(&d.token, &d.lang); err != nil {
			return nil, nil, err
		}
		left = append(left, d)
	}
	return &deferrals{db: db, fail: fail, lanes: lanes.New(lanes.Config{Workers: 2})}, left, rows.Err()
}

// begins writes a deferral down, without waiting: a database that is slow is one
// reason to put things off.
func (t *deferrals) begins(token, lang string, now time.Time) {
	t.write(token, `INSERT INTO discord_deferral (token, lang, at) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING`, token, lang, now.UnixMilli())
	t.write(token, expired, now.Add(-routeLife).UnixMilli())
}

// ended forgets it.
func (t *deferrals) ended(token string) {
	t.write(token, `DELETE FROM discord_deferral WHERE token = $1`, token)
}

func (t *deferrals) write(token, query string, args ...any) {
	if t == nil {
		return
	}
	err := t.lanes.Try(token, func() {
		ctx, cancel := context.WithTimeout(context.Background(), writeFor)
		defer cancel()
		if _, err := t.db.ExecContext(ctx, query, args...); err != nil {
			t.fail(err)
		}
	})
	if err != nil {
		t.fail(err)
	}
}

// close waits until all is written.
func (t *deferrals) close() {
	if t != nil {
		t.lanes.Close()
	}
}

// interrupted ends what an earlier process has put off. Whether it was done is not
// known here: what is owed for it comes by itself.
func (a *Adapter) interrupted(ctx context.Context, left []deferral) {
	for wait := time.Second; len(left) > 0 && ctx.Err() == nil; wait = min(2*wait, time.Minute) {
		var again []deferral
		for _, d := range left {
			s, err := a.rest.Original(ctx, d.token)
			if err == nil && s.Flags&flagLoading != 0 {
				_, err = a.rest.EditOriginal(ctx, d.token, rest.Message{Content: new(bot.Translated(d.lang, wordInterrupted))})
			}
			switch {
			case err == nil, rest.Gone(err):
				a.deferred().ended(d.token)
			case ctx.Err() == nil:
				a.log.Warn("the end of a deferral was not shown", "error", err)
				again = append(again, d)
			}
		}
		if left = again; len(left) > 0 {
			pause(ctx, wait)
		}
	}
}

func (a *Adapter) deferred() *deferrals {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.kept
}
