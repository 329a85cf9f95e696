package store

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A person's comments on games, and the posts of these comments. The ids of posts contain
// the game and the number of the event that they follow, not counting credits of time,
// which older versions counted.
const (
	noTurn     = "substr(body, 1, 5) <> 'turn '" // exactly as in the index of events by their actors
	commentsBy = "SELECT DISTINCT game FROM event WHERE actor = $1 AND " + noTurn + " AND body LIKE 'comment %'"
	noticesBy  = `SELECT game || '-' || CAST(seq AS TEXT) || '-before' FROM event WHERE actor = $1 AND ` + noTurn + ` AND body LIKE 'comment%'
		UNION ALL
		SELECT game || '-t' || (seq - (SELECT COUNT(*) FROM event c WHERE c.game = event.game AND c.seq < event.seq AND c.body LIKE 'credit %')) || '-before'
		FROM event WHERE actor = $1 AND ` + noTurn + ` AND body LIKE 'comment%'`
	// Within a text a quotation mark is written otherwise.
	answersTo   = `SELECT request FROM inbox WHERE answer LIKE '{"by":"' || $1 || '"%'`
	dropAnswers = "DELETE FROM post WHERE state = 'waiting' AND person = $1"
	recordsBy   = `(person = $1 AND person <> '' OR browser IN (
		SELECT secret FROM holder JOIN person USING (platform, platform_id) WHERE person.id = $1 AND secret <> ''))`
	dropRecords = "DELETE FROM record WHERE " + recordsBy
	saidBy      = "SELECT id FROM post WHERE state <> 'waiting' AND body <> '{}' AND id IN (" + noticesBy + ")"
	// Only the players make turns.
	playedBy = "SELECT id FROM game WHERE opener = $1 UNION SELECT id FROM game WHERE black = $1 UNION SELECT id FROM game WHERE white = $1"
	// Package bot names the record of a game by its number.
	recordsOf = "SELECT 'game-' || CAST(number AS TEXT) || '.sgf' FROM game_channel WHERE platform = '" + bot.LogPlatform + "' AND game IN (" + playedBy +
		" UNION SELECT game FROM event WHERE actor = $1 AND " + noTurn + " AND body LIKE 'comment%')"
	eventsBy = `SELECT game, seq, at, body, proof FROM event WHERE actor = $1 AND ` + noTurn + `
		UNION ALL
		SELECT game, seq, at, body, proof FROM event WHERE actor = $1 AND NOT (` + noTurn + `) AND game IN (` + playedBy + `)
		ORDER BY game, seq`
)

// forgetMark begins the keys of the bookmarks that say who is to be forgotten. The id of
// the person follows.
const forgetMark = "bot:forget:"

// A storedForgetting says as whom the platform knew somebody who is to be forgotten, and
// which messages of the local room are theirs.
type storedForgetting struct {
	Platform string `json:"platform"`
	ID       string `json:"id"`
	Name     string `json:"name"`
	Room     bool   `json:"room,omitempty"`  // the transcript knows them
	Since    int64  `json:"since,omitempty"` // messages of theirs, and to them alone, have a higher number than this,
	Until    int64  `json:"until,omitempty"` // and none higher than this
}

// knownAs returns how a person is found now.
func (s *Store) knownAs(ctx context.Context, who outbox.User) (storedForgetting, error) {
	f := storedForgetting{Platform: who.Platform, ID: who.ID, Name: who.Name, Until: math.MaxInt64}
	if f.Room = who.Platform == bot.LogPlatform; !f.Room || strings.HasPrefix(who.ID, "name:") {
		return f, nil
	}
	// Others may take the seat later.
	h, err := s.Holder(ctx, who.Platform, who.ID)
	if errors.Is(err, bot.ErrNotFound) { // an empty seat, or that of all onlookers
		f.Room = false
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.Since = h.Since
	f.Until, err = s.Last(ctx)
	return f, err
}

// Forget deletes a person's name, so that no later text uses it, and stores that Erase is
// to follow: Forgetting returns the person until that is done.
func (s *Store) Forget(ctx context.Context, f bot.Forgetting) (err error) {
	defer annotate(&err, "take the name off person %s", f.Person)
	now, err := s.knownAs(ctx, f.Who)
	if err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		known := now
		if _, err := tx.ExecContext(ctx, "UPDATE person SET name = '' WHERE id = $1", f.Person); err != nil {
			return err
		}
		for _, query := range []string{dropAnswers, dropRecords, "DELETE FROM link WHERE person = $1"} {
			if _, err := tx.ExecContext(ctx, query, f.Person); err != nil {
				return err
			}
		}
		// What was to be done before stays: the person may have lost their seat since. If not,
		// they may have said more.
		key := forgetMark + string(f.Person)
		before, err := values[string](ctx, tx, "SELECT value FROM bookmark WHERE adapter = $1", key)
		if err != nil {
			return err
		}
		if len(before) > 0 {
			var was storedForgetting
			if err := decode(before[0], &was); err != nil {
				return err
			}
			if was.Room == known.Room && was.Since == known.Since {
				was.Until = max(was.Until, known.Until)
			}
			known = was
		}
		value, err := encode(known)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO bookmark (adapter, value) VALUES ($1, $2)
			ON CONFLICT (adapter) DO UPDATE SET value = excluded.value`, key, value)
		return err
	})
}

// Forgetting returns the people who are to be forgotten.
func (s *Store) Forgetting(ctx context.Context) (_ []bot.Forgetting, err error) {
	defer annotate(&err, "find who is to be forgotten")
	return list(ctx, s.read, func(scan scanner) (f bot.Forgetting, err error) {
		var key, value string
		if err := scan(&key, &value); err != nil {
			return f, err
		}
		var known storedForgetting
		err = decode(value, &known)
		return bot.Forgetting{
			Person: match.PersonID(strings.TrimPrefix(key, forgetMark)),
			Who:    outbox.User{Platform: known.Platform, ID: known.ID, Name: known.Name},
		}, err
	}, "SELECT adapter, value FROM bookmark WHERE adapter > $1 AND adapter < $2 ORDER BY adapter", forgetMark, forgetMark+"~")
}

// Erase deletes what is stored about a person: their name and platform id, their settings,
// their comments on games, the ranks that they declared in events, their drafts of events, and
// in the local room the lines that are theirs. The person's id stays in games, events, posts,
// answers and other lines, and no longer refers to anybody.
//
// It changes a few rows at a time, so that other changes can come in between. After an
// error, or if the process dies, another call finishes the work. Deleted data is
// overwritten with zeros, also in the write-ahead log.
func (s *Store) Erase(ctx context.Context, f bot.Forgetting) (err error) {
	p := f.Person
	defer annotate(&err, "erase person %s", p)
	mark, err := s.Bookmark(ctx, forgetMark+string(p))
	if err != nil {
		return err
	}
	known := storedForgetting{}
	if mark != "" {
		err = decode(mark, &known)
	} else {
		known, err = s.knownAs(ctx, f.Who)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(s.unsay(ctx, p, known), s.unrank(ctx, p)); err != nil {
		return err
	}
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		// On PostgreSQL this waits for the steps that name them.
		if _, err := values[int](ctx, tx, "SELECT 1 FROM person WHERE id = $1"+s.locks("FOR UPDATE"), p); err != nil {
			return err
		}
		for _, query := range []string{
			"DELETE FROM holder WHERE (platform, platform_id) IN (SELECT platform, platform_id FROM person WHERE id = $1)",
			"DELETE FROM link WHERE person = $1",
			"DELETE FROM record WHERE person = $1 AND person <> ''",
			"DELETE FROM person WHERE id = $1",
			"DELETE FROM preference WHERE person = $1",
			"DELETE FROM draft WHERE person = $1",
			"DELETE FROM contest_person WHERE person = $1",
		} {
			if _, err := tx.ExecContext(ctx, query, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.unsay(ctx, p, known); err != nil { // messages written meanwhile
		return err
	}
	if err := s.exec(ctx, "DELETE FROM bookmark WHERE adapter = $1", forgetMark+string(p)); err != nil {
		return err
	}
	return s.scrub(ctx)
}

// unsay deletes a person's lines in the transcript, then their comments on games: the
// notices of those first, because the events identify them. It empties the answers to them
// but keeps the keys, so that requests are still not repeated.
func (s *Store) unsay(ctx context.Context, p match.PersonID, f storedForgetting) error {
	lines, err := s.linesOf(ctx, p, f)
	if err != nil {
		return err
	}
	if err := s.removeLines(ctx, lines); err != nil {
		return err
	}
	requests, err := values[string](ctx, s.costly, answersTo, p)
	if err != nil {
		return err
	}
	if err := s.forEach(ctx, requests, forgetRows, "UPDATE inbox SET answer = '{}' WHERE request IN ids"); err != nil {
		return err
	}
	posts, err := values[string](ctx, s.costly, saidBy, p)
	if err != nil {
		return err
	}
	if err := s.forEach(ctx, posts, forgetRows, "UPDATE post SET body = '{}' WHERE id IN ids"); err != nil {
		return err
	}
	games, err := values[string](ctx, s.costly, commentsBy, p)
	if err != nil {
		return err
	}
	return portions(ctx, s, games, forgetRows, func(ctx context.Context, tx transaction, some []string) error {
		_, err := tx.ExecContext(ctx, `UPDATE event SET body = 'comment', proof = substr(proof, 1, `+strconv.Itoa(match.Unsalted)+`) WHERE actor = $1 AND body LIKE 'comment %'
			AND game IN (`+placeholders(2, len(some))+")", append([]any{p}, anys(some)...)...)
		return err
	})
}

// EventsBy returns the events that a person caused, by game, in order.
func (s *Store) EventsBy(ctx context.Context, p match.PersonID) (_ map[match.GameID][]match.Event, err error) {
	defer annotate(&err, "find what person %s has done", p)
	events := map[match.GameID][]match.Event{}
	_, err = list(ctx, s.costly, func(scan scanner) (game match.GameID, err error) {
		var at int64
		var body string
		e := match.Event{By: p}
		err = scan(&game, &e.Seq, &at, &body, &e.Proof)
		e.At, e.Body = moment(at), match.ParseBody(body)
		events[game] = append(events[game], e)
		return game, err
	}, eventsBy, p)
	return events, err
}
