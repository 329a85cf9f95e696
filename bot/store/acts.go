package store

import (
	"context"
	"errors"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

const actsFrom = "SELECT n, platform, channel, server, at, person, what FROM act "

// actsBy finds what a person did, the newest first.
const actsBy = actsFrom + "WHERE person = $1 AND person <> '' ORDER BY n DESC"

// actsIn returns the query for what was done in a channel and to the whole of its server, the
// newest first, at most limit. Both halves follow the index act_room.
func actsIn(limit int) string {
	return actsFrom + "WHERE platform = $1 AND channel = $2 AND server = '' UNION ALL " +
		actsFrom + "WHERE platform = $1 AND channel = '' AND server = $3 ORDER BY n DESC" + limited(limit) + " OFFSET $4"
}

func scanAct(scan scanner) (a match.Act, err error) {
	var n, at int64
	var what string
	if err := scan(&n, &a.Where.Platform, &a.Where.Channel, &a.Server, &at, &a.By, &what); err != nil {
		return a, err
	}
	a.At = moment(at)
	return a, decode(what, &a.What)
}

// Acts returns what moderators did in a channel, and to all channels of its server if it has
// one, the newest first, at most limit after the first skip.
func (s *Store) Acts(ctx context.Context, where match.Room, server string, skip, limit int) (_ []match.Act, err error) {
	defer annotate(&err, "read what moderators did in %s", where.Channel)
	return list(ctx, s.read, scanAct, actsIn(limit), where.Platform, where.Channel, server, skip)
}

// ActsBy returns what a person did as a moderator, anywhere, the newest first.
func (s *Store) ActsBy(ctx context.Context, p match.PersonID) (_ []match.Act, err error) {
	defer annotate(&err, "find what person %s did as a moderator", p)
	return list(ctx, s.costly, scanAct, actsBy, p)
}

// soundAct returns an error for an act of no place.
func soundAct(a *match.Act) error {
	if a != nil && (a.Where.Platform == "" || (a.Where.Channel == "") == (a.Server == "") || a.What.Key == "") {
		return errors.New("step has an act without a place or a text")
	}
	return nil
}

// putAct stores what a moderator did, if that is not nil.
func putAct(ctx context.Context, tx transaction, a *match.Act) error {
	if a == nil {
		return nil
	}
	what, err := encode(a.What)
	if err != nil {
		return err
	}
	var n int64
	err = numbered(ctx, tx, write{query: `
		INSERT INTO act (platform, channel, server, at, person, what, n)
		VALUES ($1, $2, $3, $4, $5, $6, (SELECT COALESCE(MAX(n), 0) + 1 FROM act)) ON CONFLICT DO NOTHING RETURNING n`,
		args: []any{a.Where.Platform, a.Where.Channel, a.Server, millis(a.At), a.By, what},
		row:  []any{&n},
	}, "SELECT 1 WHERE FALSE")
	annotate(&err, "act")
	return err
}
