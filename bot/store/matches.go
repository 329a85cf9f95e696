package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// matchesFrom begins every query for matches, as scanMatch reads them.
const matchesFrom = `
	SELECT g.id, g.rules, g.setup, g.opener, g.invited, c.platform, c.channel, c.thread, c.number, g.opened,
		g.state, g.black, g.white, g.to_move, g.seq, g.result, g.changed, g.clock, g.deadline, g.rated, g.page,
		g.contest, g.round, g.tbl, g.head
	FROM game g JOIN game_channel c ON c.game = g.id`

// scanHeader reads a row of matchesFrom.
func scanHeader(scan scanner) (match.Match, error) { return scanMatch(scan) }

// scanMatch reads a match from a row of matchesFrom, and what follows in the row.
func scanMatch(scan scanner, more ...any) (match.Match, error) {
	var m match.Match
	var setup, clock string
	var opened, changed, deadline int64
	err := scan(append([]any{&m.ID, &m.Rules, &setup, &m.Opener, &m.Invited,
		&m.Where.Platform, &m.Where.Channel, &m.Where.Thread, &m.Number, &opened,
		&m.State, &m.Black, &m.White, &m.ToMove, &m.Seq, &m.Result, &changed, &clock, &deadline, &m.Rated, &m.Page,
		&m.Fixture.Event, &m.Fixture.Round, &m.Fixture.Table, &m.Head}, more...)...)
	if err != nil {
		return m, err
	}
	m.Opened, m.Changed, m.Deadline = moment(opened), moment(changed), timed(deadline)
	if m.Setup, m.NoHints, err = decodeSetup(setup); err != nil {
		return m, fmt.Errorf("read the setup of match %s: %w", m.ID, err)
	}
	if err := m.Clock.UnmarshalText([]byte(clock)); err != nil {
		return m, fmt.Errorf("read the clock of match %s: %w", m.ID, err)
	}
	return m, nil
}

// Match returns a match and its events, or ErrNotFound.
func (s *Store) Match(ctx context.Context, id match.GameID) (match.Match, []match.Event, error) {
	m, err := s.Header(ctx, id)
	if err != nil {
		return match.Match{}, nil, err
	}
	events, err := s.Events(ctx, id, 0, m.Seq)
	if err != nil {
		return match.Match{}, nil, err
	}
	return m, events, nil
}

// Header returns a match without its events, or ErrNotFound.
func (s *Store) Header(ctx context.Context, id match.GameID) (m match.Match, err error) {
	defer annotate(&err, "find match %s", id)
	m, err = first(ctx, s.read, scanHeader, matchesFrom+" WHERE g.id = $1", id)
	if errors.Is(err, sql.ErrNoRows) {
		err = bot.ErrNotFound
	}
	return m, err
}

// paged finds the match whose page has a slug.
const paged = matchesFrom + " WHERE g.page = $1 AND g.page <> ''"

// Seqs returns the numbers of the newest events of games, and of events (contests) the sum of
// theirs and those of their games, without those that do not exist.
func (s *Store) Seqs(ctx context.Context, ids []match.GameID) (seqs map[match.GameID]int, err error) {
	defer annotate(&err, "look for changes")
	seqs = map[match.GameID]int{}
	in := "IN (" + placeholders(1, len(ids)) + ")"
	_, err = list(ctx, s.read, func(scan scanner) (id match.GameID, err error) {
		var seq int
		err = scan(&id, &seq)
		seqs[id] = seq
		return id, err
	}, "SELECT id, seq FROM game WHERE id "+in+`
		UNION ALL
		SELECT id, seq + (SELECT CAST(COALESCE(SUM(seq), 0) AS BIGINT) FROM game WHERE game.contest = contest.id AND game.contest <> '')
		FROM contest WHERE id `+in, anys(ids)...)
	return seqs, err
}

// Page returns the match whose page has a slug, without its events, or ErrNotFound.
func (s *Store) Page(ctx context.Context, slug string) (m match.Match, err error) {
	defer annotate(&err, "find a page")
	m, err = first(ctx, s.read, scanHeader, paged, slug)
	if errors.Is(err, sql.ErrNoRows) {
		err = bot.ErrNotFound
	}
	return m, err
}

// Events returns the events of a match after one, up to another that was stored. Events
// never change, so those up to the Seq of a match belong to it, whatever has been stored
// since the match was read.
func (s *Store) Events(ctx context.Context, id match.GameID, after, to int) (_ []match.Event, err error) {
	defer annotate(&err, "find the events of match %s", id)
	if after >= to {
		return nil, nil
	}
	events, err := list(ctx, s.read, scanEvent, "SELECT seq, at, actor, body, proof FROM event WHERE game = $1 AND seq > $2 AND seq <= $3 ORDER BY seq", id, after, to)
	if err == nil && len(events) != to-after {
		err = fmt.Errorf("found %d events after event %d, want %d", len(events), after, to-after)
	}
	return events, err
}

func scanEvent(scan scanner) (e match.Event, err error) {
	var at int64
	var body string
	err = scan(&e.Seq, &at, &e.By, &body, &e.Proof)
	e.At, e.Body = moment(at), match.ParseBody(body)
	return e, err
}

// fewMatches is how many matches a query may ask for that does not wait for costly reads.
const fewMatches = 1000

// Matches returns the matches of a query, the last changed first. Its Where may be
// anything from a thread to a platform.
func (s *Store) Matches(ctx context.Context, q bot.Query) (_ []match.Match, err error) {
	defer annotate(&err, "find matches")
	query, args := matchesQuery(q)
	var db querier = s.read
	if q.Limit > fewMatches {
		db = s.costly
	}
	return list(ctx, db, scanHeader, query, args...)
}

// matchesQuery returns the SQL of a query.
func matchesQuery(q bot.Query) (query string, args []any) {
	var conditions []string
	arg := func(v any) string {
		args = append(args, v)
		return placeholders(len(args), 1)
	}
	is := func(column, value string) {
		if value != "" {
			conditions = append(conditions, column+" = "+arg(value))
		}
	}
	noIndex := "" // added to a column, keeps SQLite from choosing an index of the channel
	if q.Player != "" || q.Event != "" {
		noIndex = " || ''" // a person or an event has fewer games than a channel may have
	}
	is("c.platform"+noIndex, q.Where.Platform)
	is("c.channel"+noIndex, q.Where.Channel)
	is("c.thread", q.Where.Thread)
	if q.Event != "" {
		conditions = append(conditions, "g.contest = "+arg(q.Event), "g.contest <> ''") // as in the index
	}
	if q.Own {
		conditions = append(conditions, "g.contest = ''")
	}
	if q.Number != 0 {
		conditions = append(conditions, "c.number = "+arg(q.Number))
	}
	if q.Player != "" {
		p := arg(q.Player)
		conditions = append(conditions, fmt.Sprintf("(g.black = %[1]s OR g.white = %[1]s OR g.opener = %[1]s)", p))
	}
	if len(q.States) > 0 {
		var states []string
		for _, state := range q.States {
			states = append(states, arg(state))
		}
		in := " IN (" + strings.Join(states, ", ") + ")"
		// The two are the same; said of both tables, either's index serves.
		conditions = append(conditions, "g.state"+in, "c.state"+noIndex+in)
	}
	query = matchesFrom
	if len(conditions) > 0 {
		query += " WHERE " + strings.Join(conditions, " AND ")
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	if !q.Any {
		query += " ORDER BY g.changed DESC, c.number DESC, g.id"
	}
	return query + limited(limit), args
}
