package store

import (
	"context"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Link returns the browser or the address that has a secret, or ErrNotFound.
func (s *Store) Link(ctx context.Context, secret string) (l bot.Link, err error) {
	defer annotate(&err, "find a link")
	found, err := s.links(ctx, "secret = $1", secret)
	if err == nil && len(found) == 0 {
		err = bot.ErrNotFound
	}
	if err != nil {
		return l, err
	}
	return found[0], nil
}

// Browsers returns the browsers that are a person, the newest first.
func (s *Store) Browsers(ctx context.Context, p match.PersonID) (_ []bot.Link, err error) {
	defer annotate(&err, "find the browsers of person %s", p)
	return s.links(ctx, "person = $1 AND link.name <> ''", p)
}

func (s *Store) links(ctx context.Context, where string, args ...any) ([]bot.Link, error) {
	return list(ctx, s.read, func(scan scanner) (l bot.Link, err error) {
		var at int64
		err = scan(&l.Secret, &l.Person, &l.Where.Platform, &l.Where.Channel, &l.Name, &at, &l.Who.Platform, &l.Who.ID, &l.Who.Name)
		l.At = moment(at)
		return l, err
	}, `SELECT secret, person, link.platform, channel, link.name, at, person.platform, person.platform_id, person.name
		FROM link JOIN person ON person.id = link.person WHERE `+where+" ORDER BY at DESC, secret", args...)
}

// putLink stores what a step changes of a person's links: of addresses only the newest
// counts, and each for one browser. It returns ErrConflict if that was spent before, or if
// the person was erased.
func putLink(ctx context.Context, tx transaction, l match.Linking, step *match.Step) error {
	for _, secret := range l.End {
		if _, err := tx.ExecContext(ctx, "DELETE FROM link WHERE secret = $1 AND person = $2", secret, l.Person); err != nil {
			return err
		}
	}
	if l.Spends != "" {
		if err := put(ctx, tx, "spend a link", "DELETE FROM link WHERE secret = $1 AND person = $2 AND name = ''", l.Spends, l.Person); err != nil {
			return err
		}
	}
	if l.Secret == "" {
		return nil
	}
	if l.Name == "" {
		if _, err := tx.ExecContext(ctx, "DELETE FROM link WHERE person = $1 AND name = ''", l.Person); err != nil {
			return err
		}
	}
	return put(ctx, tx, "link a browser", `INSERT INTO link (secret, person, platform, channel, name, at)
		SELECT CAST($1 AS TEXT), id, CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS BIGINT) FROM person WHERE id = $2
		ON CONFLICT DO NOTHING`, l.Secret, l.Person, step.Where.Platform, step.Where.Channel, l.Name, millis(step.At))
}

// Unlink makes a browser nobody again. There need not be a link.
func (s *Store) Unlink(ctx context.Context, secret string) (err error) {
	defer annotate(&err, "unlink a browser")
	return s.exec(ctx, "DELETE FROM link WHERE secret = $1 AND name <> ''", secret)
}
