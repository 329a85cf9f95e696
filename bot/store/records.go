package store

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"io"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// maxRecords is how many bytes all records together may take, as they are stored.
const maxRecords = 512 << 20

// AddRecord stores a record, or that it was visited if there is one with its slug. It returns
// ErrTooMany if there are most of its browser already, and ErrFull if there is no room for more.
// In a room with most of them the one that was longest not visited is deleted instead.
func (s *Store) AddRecord(ctx context.Context, r bot.Record, most int) (err error) {
	defer annotate(&err, "store record %s", r.Slug)
	body, err := packed(r.Text)
	if err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		done, err := tx.ExecContext(ctx, "UPDATE record SET visited = $2 WHERE slug = $1", r.Slug, millis(r.Visited))
		if err != nil {
			return err
		}
		if known, err := done.RowsAffected(); known > 0 || err != nil {
			return err
		}
		if r.Browser == "" {
			const shown = "browser = '' AND platform = $1 AND channel = $2"
			_, err = tx.ExecContext(ctx, "DELETE FROM record WHERE "+shown+" AND slug NOT IN (SELECT slug FROM record WHERE "+shown+" ORDER BY visited DESC, slug"+limited(most-1)+")",
				r.Where.Platform, r.Where.Channel)
			if err != nil {
				return err
			}
		}
		n, err := single[int](ctx, tx, "SELECT COUNT(*) FROM record WHERE browser = $1 AND platform = $2 AND channel = $3",
			r.Browser, r.Where.Platform, r.Where.Channel)
		if err == nil && n >= most {
			err = bot.ErrTooMany
		}
		if err != nil {
			return err
		}
		size, err := single[int](ctx, tx, "SELECT COALESCE(SUM(size), 0) FROM record")
		if err == nil && size+len(body) > maxRecords {
			err = bot.ErrFull
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO record (slug, platform, channel, person, browser, name, shared, visited, size, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			r.Slug, r.Where.Platform, r.Where.Channel, r.Person, r.Browser, r.Name, flag(r.Shared), millis(r.Visited), len(body), body)
		return err
	})
}

const recordsFrom = "SELECT slug, platform, channel, person, browser, name, shared, visited FROM record "

func scanRecord(scan scanner, more ...any) (r bot.Record, err error) {
	var visited int64
	err = scan(append([]any{&r.Slug, &r.Where.Platform, &r.Where.Channel, &r.Person, &r.Browser, &r.Name, &r.Shared, &visited}, more...)...)
	r.Visited = moment(visited)
	return r, err
}

// Record returns the record with a slug, or ErrNotFound.
func (s *Store) Record(ctx context.Context, slug string) (r bot.Record, err error) {
	defer annotate(&err, "find a record")
	var body string
	found, err := list(ctx, s.read, func(scan scanner) (bot.Record, error) { return scanRecord(scan, &body) },
		"SELECT slug, platform, channel, person, browser, name, shared, visited, body FROM record WHERE slug = $1", slug)
	if err == nil && len(found) == 0 {
		err = bot.ErrNotFound
	}
	if err != nil {
		return r, err
	}
	found[0].Text, err = unpacked(body)
	return found[0], err
}

// Records returns the records of a browser without their texts, the newest first.
func (s *Store) Records(ctx context.Context, browser string) (_ []bot.Record, err error) {
	defer annotate(&err, "find the records of a browser")
	return list(ctx, s.read, func(scan scanner) (bot.Record, error) { return scanRecord(scan) },
		recordsFrom+"WHERE browser = $1 AND browser <> '' ORDER BY visited DESC, slug", browser)
}

// RecordsOf returns the records that a person showed, and those of the browser that holds their
// name or seat, the newest first.
func (s *Store) RecordsOf(ctx context.Context, p match.PersonID) (_ []bot.Record, err error) {
	defer annotate(&err, "find the records of person %s", p)
	var bodies []string
	found, err := list(ctx, s.read, func(scan scanner) (bot.Record, error) {
		var body string
		r, err := scanRecord(scan, &body)
		bodies = append(bodies, body)
		return r, err
	}, "SELECT slug, platform, channel, person, browser, name, shared, visited, body FROM record WHERE "+recordsBy+" ORDER BY visited DESC, slug", p)
	for i := range found {
		if err == nil {
			found[i].Text, err = unpacked(bodies[i])
		}
	}
	return found, err
}

// KeepRecord stores whether a record is shared, and when it was last visited.
func (s *Store) KeepRecord(ctx context.Context, slug string, shared bool, visited time.Time) (err error) {
	defer annotate(&err, "keep record %s", slug)
	return s.exec(ctx, "UPDATE record SET shared = $2, visited = $3 WHERE slug = $1", slug, flag(shared), millis(visited))
}

// VisitRecord stores when a record was last visited, if it is still shared.
func (s *Store) VisitRecord(ctx context.Context, slug string, visited time.Time) (err error) {
	defer annotate(&err, "note a visit of record %s", slug)
	return s.exec(ctx, "UPDATE record SET visited = $2 WHERE slug = $1 AND shared = 1", slug, millis(visited))
}

// DeleteRecord deletes a record, if there is one. It stores what a moderator did by that, if
// that is not nil.
func (s *Store) DeleteRecord(ctx context.Context, slug string, act *match.Act) (err error) {
	defer annotate(&err, "delete record %s", slug)
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM record WHERE slug = $1", slug); err != nil {
			return err
		}
		return putAct(ctx, tx, act)
	})
}

// packed compresses a text, which need not be UTF-8, to one that is.
func packed(text string) (string, error) {
	var out bytes.Buffer
	in := base64.NewEncoder(base64.StdEncoding, &out)
	w, err := flate.NewWriter(in, flate.DefaultCompression)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = in.Close()
	}
	return out.String(), err
}

func unpacked(body string) (string, error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewBufferString(body))), match.MaxDiagram))
	return string(text), err
}
