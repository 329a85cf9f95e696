package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/contest"
)

// How long rows are kept that are needed only after accidents, as docs/retention.md says.
const (
	keepAnswers  = 30 * 24 * time.Hour  // answers to requests
	keepPosts    = 30 * 24 * time.Hour  // posts that were shown, once no game needs them
	keepDeleted  = 30 * 24 * time.Hour  // games that were deleted
	keepLinks    = 365 * 24 * time.Hour // browsers that are a person,
	keepUnused   = time.Hour            // and addresses that would have made them that
	keepRecords  = 24 * time.Hour       // records that nobody shares,
	keepShared   = 365 * 24 * time.Hour // and others, after the last visit
	keepActs     = 365 * 24 * time.Hour // what moderators did
	keepMessages = 90 * 24 * time.Hour  // the transcript of the local room,
	leastKept    = 10_000               // or this many of its newest messages, if these are more (Trim bounds their bytes)
)

// A sweep goes through a table in the order of its key and deletes rows that are no
// longer needed.
type sweep struct {
	table, key string
	number     bool          // the key is one; else a text
	keep       time.Duration // $1 in useless is the time this long ago
	useless    string        // condition on a row
	removes    []string      // statements that delete a useless row with what belongs to it; nil: the row alone
	at         int           // how many are deleted in one change by removes
}

// Strangers are people about whom nothing is stored but who they are, and for whom no answer
// waits. Only players make turns, so the index event_actor is enough to find events.
const strangers = `
	NOT EXISTS (SELECT 1 FROM preference WHERE person = person.id)
	AND NOT EXISTS (SELECT 1 FROM link WHERE person = person.id)
	AND NOT EXISTS (SELECT 1 FROM record WHERE person = person.id AND person <> '')
	AND NOT EXISTS (SELECT 1 FROM game WHERE opener = person.id)
	AND NOT EXISTS (SELECT 1 FROM game WHERE black = person.id)
	AND NOT EXISTS (SELECT 1 FROM game WHERE white = person.id)
	AND NOT EXISTS (SELECT 1 FROM game WHERE invited = person.id AND invited <> '')
	AND NOT EXISTS (SELECT 1 FROM post WHERE state = 'waiting' AND post.platform = person.platform AND post.person = person.id)
	AND NOT EXISTS (SELECT 1 FROM event WHERE actor = person.id AND ` + noTurn + `)
	AND NOT EXISTS (SELECT 1 FROM contest_event WHERE actor = person.id AND actor <> '')
	AND NOT EXISTS (SELECT 1 FROM contest_event WHERE person = person.id AND person <> '')
	AND NOT EXISTS (SELECT 1 FROM act WHERE person = person.id AND person <> '')
	AND NOT EXISTS (SELECT 1 FROM draft WHERE person = person.id)`

// lonelyStrangers are those whose name nobody holds, either.
const lonelyStrangers = strangers + `
	AND NOT EXISTS (SELECT 1 FROM holder WHERE holder.platform = person.platform AND holder.platform_id = person.platform_id)`

// sweeps lists all sweeps of Prune. Events are never pruned. Games and their logs are not, unless
// people have deleted them, or they are sandboxes that have expired. Of these the newest of a room stays until another game
// follows, which would get its number.
//
// Of the posts that were shown in a place Prune keeps the first and the last with a
// receipt, the last of each kind, and all with receipts of a running game or event, because
// [Store.Shown], [Store.GameUnder] and [Store.Unpark] look for these.
var sweeps = []sweep{
	{table: "inbox", key: "request", keep: keepAnswers, useless: "at < $1 AND request NOT LIKE '" + contest.SilencedRequest + "%'"}, // see Silences
	{table: "post", key: "id", keep: keepPosts, useless: `due < $1 AND (
		state IN ('superseded', 'refused') OR state = 'settled' AND person <> ''
		OR state = 'settled'
			AND EXISTS (SELECT 1 FROM post newer WHERE ` + sameLane + ` AND newer.n > post.n AND newer.state = 'settled'
				AND newer.kind = post.kind AND newer.private = post.private AND newer.thread = post.thread)
			AND (receipt = ''
				OR NOT EXISTS (SELECT 1 FROM game WHERE id = post.game AND state IN ('open', 'going', 'sandbox'))
				AND NOT EXISTS (SELECT 1 FROM contest WHERE id = post.game AND state IN ('signup', 'playing'))
				AND EXISTS (SELECT 1 FROM post newer WHERE ` + sameLane + ` AND newer.n > post.n AND newer.state = 'settled' AND newer.receipt <> '')
				AND EXISTS (SELECT 1 FROM post newer WHERE ` + sameLane + ` AND newer.n < post.n AND newer.state = 'settled' AND newer.receipt <> '')))`},
	{table: "game", key: "id", keep: keepDeleted, removes: removeGames, at: forgetGames, useless: `state = 'deleted' AND changed < $1 AND EXISTS (
		SELECT 1 FROM game_channel c JOIN game_channel newer ON newer.platform = c.platform AND newer.channel = c.channel AND newer.number > c.number
			WHERE c.game = game.id)`},
	{table: "message", key: "n", number: true, keep: keepMessages,
		useless: "at < $1 AND n <= (SELECT MAX(n) FROM message) - " + strconv.Itoa(leastKept)},
	{table: "record", key: "slug", keep: keepRecords, useless: "visited < $1 - shared * " + strconv.FormatInt((keepShared-keepRecords).Milliseconds(), 10)},
	{table: "link", key: "secret", keep: keepLinks, useless: "at < $1 + CASE name WHEN '' THEN " + strconv.FormatInt((keepLinks-keepUnused).Milliseconds(), 10) + " ELSE 0 END"},
	{table: "act", key: "n", number: true, keep: keepActs, useless: "at < $1"},
	// Somebody's other drafts may have to wait for the next round.
	{table: "draft", key: "person", keep: keepDrafts, useless: "at < $1"},
	// A stranger may be sending a first request at this moment. The store then refuses
	// the step, because it names an unknown person, and the bot decides again.
	{table: "person", key: "id", useless: "CAST($1 AS BIGINT) > 0 AND " + lonelyStrangers, removes: []string{"DELETE FROM person WHERE id IN ids AND " + lonelyStrangers}, at: forgetRows},
}

const sameLane = "newer.platform = post.platform AND newer.channel = post.channel AND newer.game = post.game"

// Prune looks at no more than limit rows, those after a place, and deletes the ones
// that are no longer needed. It returns the place from which to go on, empty at the end.
// The first place is empty, too.
func (s *Store) Prune(ctx context.Context, now time.Time, after string, limit int) (next string, err error) {
	defer annotate(&err, "prune after %q", after)
	i, key, err := placeOfSweep(after)
	if err != nil {
		return "", err
	}
	if after == "" && s.unscrubbed.Load() {
		if err := s.scrub(ctx); err != nil {
			return "", err
		}
	}
	sw := sweeps[i]
	since := millis(now.Add(-sw.keep))
	found, last, err := s.examine(ctx, sw, since, key, limit)
	if err != nil {
		return "", err
	}
	switch {
	case len(found) == 0:
	case sw.removes != nil:
		ids := make([]string, len(found))
		for i, id := range found {
			ids[i] = id.(string)
		}
		if err := s.forEach(ctx, ids, sw.at, s.removes(sw.table, sw.removes...)...); err != nil {
			return "", err
		}
	default:
		err := s.exec(ctx, "DELETE FROM "+sw.table+" WHERE "+sw.key+" IN ("+placeholders(2, len(found))+") AND "+sw.useless, append([]any{since}, found...)...)
		if err != nil {
			return "", err
		}
	}
	switch {
	case last != nil:
		return fmt.Sprintf("%s %v", sw.table, last), nil
	case i+1 < len(sweeps):
		return sweeps[i+1].table, nil
	}
	return "", nil
}

// placeOfSweep reads a place: a table, and the key after which to go on in it.
func placeOfSweep(after string) (i int, key any, err error) {
	table, text, inside := strings.Cut(after, " ")
	for i, sw := range sweeps {
		switch {
		case after != "" && sw.table != table:
			continue
		case !sw.number:
			return i, text, nil
		case !inside:
			return i, int64(-1), nil
		}
		n, err := strconv.ParseInt(text, 10, 64)
		return i, n, err
	}
	return 0, nil, fmt.Errorf("invalid cursor")
}

// examine returns the keys of useless rows among the next limit rows, and the last key
// that it has seen; nil if there are no more rows.
func (s *Store) examine(ctx context.Context, sw sweep, since int64, after any, limit int) (found []any, last any, err error) {
	seen, err := list(ctx, s.costly, func(scan scanner) (key any, err error) {
		var useless bool
		err = scan(&key, &useless)
		if useless {
			found = append(found, key)
		}
		return key, err
	}, "SELECT "+sw.key+", "+sw.useless+" FROM "+sw.table+" WHERE "+sw.key+" > $2 ORDER BY "+sw.key+limited(limit), since, after)
	if n := len(seen); n > 0 && n == limit {
		last = seen[n-1]
	}
	return found, last, err
}
