package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Person returns the id of a person, creating it if necessary, and stores their current
// name. Without a name from the platform, the stored one stays.
func (s *Store) Person(ctx context.Context, who outbox.User) (id match.PersonID, err error) {
	defer annotate(&err, "find person")
	var name string
	id, err = first(ctx, s.read, func(scan scanner) (id match.PersonID, err error) {
		err = scan(&id, &name)
		return id, err
	}, "SELECT id, name FROM person WHERE platform = $1 AND platform_id = $2", who.Platform, who.ID)
	switch {
	case err == nil && (name == who.Name || who.Name == ""):
		return id, nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return "", err
	}
	// Another change may store the same person at this moment: the second gets the id
	// of the first.
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		return tx.now(ctx, write{args: []any{newPerson(), who.Platform, who.ID, who.Name}, row: []any{&id}, query: `
			INSERT INTO person (id, platform, platform_id, name) VALUES ($1, $2, $3, $4)
			ON CONFLICT (platform, platform_id) DO UPDATE SET name = excluded.name RETURNING id`})
	})
	return id, err
}

// newPerson returns a new id. It is random: an id derived from the platform's could
// reveal that after the person has been erased.
func newPerson() match.PersonID { return match.PersonID("p" + strings.ToLower(rand.Text()[:12])) }

// People returns the users behind ids, without those erased or unknown.
func (s *Store) People(ctx context.Context, ids []match.PersonID) (map[match.PersonID]outbox.User, error) {
	people, _, err := s.Players(ctx, ids)
	return people, err
}

// Players returns the users behind ids, and their settings, in one query, without those
// erased or unknown.
func (s *Store) Players(ctx context.Context, ids []match.PersonID) (_ map[match.PersonID]outbox.User, _ map[match.PersonID]match.Preferences, err error) {
	defer annotate(&err, "find people")
	people, chosen := map[match.PersonID]outbox.User{}, map[match.PersonID]match.Preferences{}
	var args []any
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		if id != "" {
			args = append(args, id)
		}
	}
	if len(args) == 0 {
		return people, chosen, nil
	}
	_, err = list(ctx, s.read, func(scan scanner) (id match.PersonID, err error) {
		var who outbox.User
		var body string
		if err := scan(&id, &who.Platform, &who.ID, &who.Name, &body); err != nil {
			return id, err
		}
		prefs, err := decodePreferences(body)
		prefs.Person = id
		people[id], chosen[id] = who, prefs
		return id, err
	}, `
		SELECT id, platform, platform_id, name, COALESCE(body, '{}') FROM person LEFT JOIN preference ON person = id
		WHERE id IN (`+placeholders(1, len(args))+`)`, args...)
	return people, chosen, err
}

// putPreferences stores a person's settings, unless they were erased meanwhile. It returns
// ErrConflict if they were not these, if that is known.
func (s *Store) putPreferences(ctx context.Context, tx transaction, p match.Preferences, was *match.Preferences) error {
	body, err := encodePreferences(p)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO preference (person, body) SELECT id, '{}' FROM person WHERE id = $1 ON CONFLICT DO NOTHING", p.Person)
	if err != nil {
		return err
	}
	if was != nil {
		before, err := values[string](ctx, tx, "SELECT body FROM preference WHERE person = $1"+s.locks("FOR UPDATE"), p.Person)
		if err != nil {
			return err
		}
		for _, text := range before {
			is, err := decodePreferences(text)
			if err == nil {
				err = alike(encodePreferences, is, *was)
			}
			if err != nil {
				return fmt.Errorf("the settings of a person: %w", err)
			}
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE preference SET body = $2 WHERE person = $1", p.Person, body)
	return err
}
