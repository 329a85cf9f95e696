package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// keepDrafts is how long a draft counts, and is kept.
const keepDrafts = 24 * time.Hour

// contestsFrom begins every query for events, as scanHead reads them.
const contestsFrom = "SELECT c.id, c.page, c.platform, c.channel, c.thread, c.number, c.title, c.state, c.seq, c.opened, c.changed FROM contest c"

// contestsOf finds the events that a person is in.
const contestsOf = contestsFrom + " JOIN contest_person p ON p.contest = c.id WHERE p.person = $1" + newestContests

const newestContests = " ORDER BY c.opened DESC, c.number DESC, c.id"

// scanHead reads an event from a row of contestsFrom.
func scanHead(scan scanner) (h contest.Head, err error) {
	var opened, changed int64
	err = scan(&h.ID, &h.Page, &h.Where.Platform, &h.Where.Channel, &h.Where.Thread, &h.Number, &h.Title, &h.State, &h.Seq, &opened, &changed)
	h.Opened, h.Changed = moment(opened), moment(changed)
	return h, err
}

// Contest returns an event and its log, or ErrNotFound.
func (s *Store) Contest(ctx context.Context, id contest.ID) (h contest.Head, log []contest.Event, err error) {
	defer annotate(&err, "find event %s", id)
	if h, err = s.head(ctx, "c.id = $1", id); err != nil {
		return h, nil, err
	}
	// Lines never change their numbers, so those up to Seq belong to the event as it was read.
	log, err = list(ctx, s.read, func(scan scanner) (contest.Event, error) { return scanContestEvent(scan) },
		"SELECT seq, at, actor, body FROM contest_event WHERE contest = $1 AND seq <= $2 ORDER BY seq", id, h.Seq)
	if err == nil && len(log) != h.Seq {
		err = fmt.Errorf("found %d lines of the log, want %d", len(log), h.Seq)
	}
	return h, log, err
}

func scanContestEvent(scan scanner, before ...any) (e contest.Event, err error) {
	var at int64
	var body string
	if err := scan(append(before, &e.Seq, &at, &e.By, &body)...); err != nil {
		return e, err
	}
	e.At = moment(at)
	if e.Body, err = contest.ParseBody(body); err != nil {
		err = fmt.Errorf("line %d: %w", e.Seq, err)
	}
	return e, err
}

// ContestPage returns the event whose page has a slug, or ErrNotFound.
func (s *Store) ContestPage(ctx context.Context, slug string) (_ contest.Head, err error) {
	defer annotate(&err, "find the page of an event")
	return s.head(ctx, "c.page = $1 AND c.page <> ''", slug)
}

func (s *Store) head(ctx context.Context, which string, arg any) (contest.Head, error) {
	h, err := first(ctx, s.read, scanHead, contestsFrom+" WHERE "+which, arg)
	if errors.Is(err, sql.ErrNoRows) {
		err = bot.ErrNotFound
	}
	return h, err
}

// Contests returns the events of a place, which may be anything from a thread to all
// platforms, that are in one of the states, or in any for none, the newest first.
func (s *Store) Contests(ctx context.Context, where match.Room, states []contest.State, limit int) (_ []contest.Head, err error) {
	defer annotate(&err, "find events")
	query, args := contestsQuery(where, states)
	return list(ctx, s.read, scanHead, query+limited(limit), args...)
}

func contestsQuery(where match.Room, states []contest.State) (query string, args []any) {
	var conditions []string
	for _, c := range []struct{ column, is string }{{"c.platform", where.Platform}, {"c.channel", where.Channel}, {"c.thread", where.Thread}} {
		if c.is != "" {
			args = append(args, c.is)
			conditions = append(conditions, fmt.Sprintf("%s = $%d", c.column, len(args)))
		}
	}
	if len(states) > 0 {
		conditions = append(conditions, "c.state IN ("+placeholders(len(args)+1, len(states))+")")
		for _, state := range states {
			args = append(args, state)
		}
	}
	query = contestsFrom
	if len(conditions) > 0 {
		query += " WHERE " + strings.Join(conditions, " AND ")
	}
	return query + newestContests, args
}

// ContestsOf returns the events that a person is in, as a player, on the waiting list or as
// an organiser, the newest first.
func (s *Store) ContestsOf(ctx context.Context, p match.PersonID) (_ []contest.Head, err error) {
	defer annotate(&err, "find the events of person %s", p)
	return list(ctx, s.read, scanHead, contestsOf, p)
}

// waitingSince finds the last event of each going game of an event, one that credits clocks
// apart.
const waitingSince = `SELECT g.id, (SELECT e.at FROM event e WHERE e.game = g.id AND e.body NOT LIKE 'credit %' ORDER BY e.seq DESC LIMIT 1)
	FROM game g WHERE g.contest = $1 AND g.contest <> '' AND g.state = 'going'`

// WaitingSince returns since when each going game of an event waits: when it last changed,
// time that was credited to the clocks apart.
func (s *Store) WaitingSince(ctx context.Context, event match.GameID) (_ map[match.GameID]time.Time, err error) {
	defer annotate(&err, "find since when the games of event %s wait", event)
	since := map[match.GameID]time.Time{}
	_, err = list(ctx, s.read, func(scan scanner) (id match.GameID, err error) {
		var at int64
		err = scan(&id, &at)
		since[id] = moment(at)
		return id, err
	}, waitingSince, event)
	return since, err
}

// Conditions of silences and heardAgain.
const (
	// An event c goes on, and a post p is about it or one of its running games.
	postsOfContest = `c.state IN ('signup', 'playing') AND p.platform = c.platform AND p.channel = c.channel AND p.private = 0 AND p.kind <> 'status'
		AND (p.game = c.id OR EXISTS (SELECT 1 FROM game g WHERE g.id = p.game AND g.contest = c.id AND g.state = 'going'))`
	// A post is parked, and none has been shown after it: the room is still as it was.
	isHeld = `p.state = 'parked' AND NOT EXISTS (
		SELECT 1 FROM post newer WHERE newer.platform = p.platform AND newer.channel = p.channel AND newer.game = p.game AND newer.n > p.n
			AND newer.state = 'settled' AND newer.private = 0 AND newer.receipt <> '')`
	// A post is being tried, perhaps after it was parked: it may be parked again.
	isTried = "p.state = 'waiting' AND (p.attempt > 0 OR p.tried = 1)"
)

// silences finds events whose organisers are to be told, the reason of the event's own posts first.
const silences = `SELECT c.id, c.platform, c.channel, c.thread, p.why FROM contest c CROSS JOIN post p
	WHERE ` + postsOfContest + " AND " + isHeld + `
		AND NOT EXISTS (SELECT 1 FROM inbox WHERE request = '` + contest.SilencedRequest + `' || c.id)
	ORDER BY c.id, p.game <> c.id, p.n`

// heardAgain finds the requests that told organisers of events in whose rooms the bot can write again.
var heardAgain = fmt.Sprintf(`SELECT request FROM inbox WHERE request > '%[1]s' AND request < '%[1]s~'
	AND NOT EXISTS (SELECT 1 FROM contest c CROSS JOIN post p WHERE c.id = substr(request, %[2]d) AND %[3]s AND %[4]s)
	AND NOT EXISTS (SELECT 1 FROM contest c CROSS JOIN post p WHERE c.id = substr(request, %[2]d) AND %[3]s AND %[5]s)`,
	contest.SilencedRequest, len(contest.SilencedRequest)+1, postsOfContest, isHeld, isTried)

// Silences returns the events that go on and have posts, or posts of their running games, parked
// since the last one was shown, once each; but not those whose organisers have been told
// (contest.SilencedRequest). It forgets that they were told as soon as no such post is parked or
// tried again.
func (s *Store) Silences(ctx context.Context) (_ []contest.Silence, err error) {
	defer annotate(&err, "find events in whose rooms nothing can be posted")
	heard, err := values[string](ctx, s.read, heardAgain)
	if err == nil && len(heard) > 0 {
		err = s.exec(ctx, "DELETE FROM inbox WHERE request IN ("+heardAgain+")")
	}
	if err != nil {
		return nil, err
	}
	all, err := list(ctx, s.read, func(scan scanner) (x contest.Silence, err error) {
		err = scan(&x.Event, &x.Where.Platform, &x.Where.Channel, &x.Where.Thread, &x.Why)
		return x, err
	}, silences)
	return slices.CompactFunc(all, func(a, b contest.Silence) bool { return a.Event == b.Event }), err
}

// contestEventsBy finds the lines that a person caused, and those about them.
const contestEventsBy = `SELECT contest, seq, at, actor, body FROM contest_event WHERE actor = $1 AND actor <> ''
	UNION SELECT contest, seq, at, actor, body FROM contest_event WHERE person = $1 AND person <> '' ORDER BY contest, seq`

// ContestEventsBy returns the lines in the logs of events that a person caused, and those
// about them, by event, in order.
func (s *Store) ContestEventsBy(ctx context.Context, p match.PersonID) (_ map[contest.ID][]contest.Event, err error) {
	defer annotate(&err, "find what person %s has done in events", p)
	events := map[contest.ID][]contest.Event{}
	_, err = list(ctx, s.costly, func(scan scanner) (id contest.ID, err error) {
		e, err := scanContestEvent(scan, &id)
		events[id] = append(events[id], e)
		return id, err
	}, contestEventsBy, p)
	return events, err
}

// Draft returns what somebody has chosen so far of an event that they organise in a channel;
// empty: nothing, or a day ago.
func (s *Store) Draft(ctx context.Context, p match.PersonID, where match.Room, now time.Time) (text string, err error) {
	defer annotate(&err, "find the draft of person %s", p)
	text, err = single[string](ctx, s.read, "SELECT text FROM draft WHERE person = $1 AND platform = $2 AND channel = $3 AND at > $4",
		p, where.Platform, where.Channel, millis(now.Add(-keepDrafts)))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return text, err
}

func putDraft(ctx context.Context, tx transaction, d match.Draft) (err error) {
	if d.Text == "" {
		_, err = tx.ExecContext(ctx, "DELETE FROM draft WHERE person = $1 AND platform = $2 AND channel = $3", d.Person, d.Where.Platform, d.Where.Channel)
	} else {
		_, err = tx.ExecContext(ctx, `INSERT INTO draft (person, platform, channel, at, text) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (person, platform, channel) DO UPDATE SET at = excluded.at, text = excluded.text`,
			d.Person, d.Where.Platform, d.Where.Channel, millis(d.At), d.Text)
	}
	if err != nil {
		err = fmt.Errorf("store a draft: %w", err)
	}
	return err
}

// CommitContest stores a step of an event, or returns ErrConflict and stores nothing: if the
// request has been stored before, if the event has changed since the step was decided, or if
// its page is taken. If the event is new, step.Contest is then a copy that has its
// Number.
func (s *Store) CommitContest(ctx context.Context, step *contest.Step) (err error) {
	defer annotate(&err, "commit %s", step.Request)
	if err := soundContest(step); err != nil {
		return err
	}
	number := 0
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		if err := s.putAnswer(ctx, tx, &step.Step); err != nil {
			return err
		}
		var err error
		switch c := step.Contest; {
		case c == nil:
		case step.Opens:
			number, err = newContest(ctx, tx, c.Head)
		default:
			err = put(ctx, tx, "event", "UPDATE contest SET title = $1, state = $2, seq = $3, changed = $4 WHERE id = $5 AND seq = $6",
				c.Title, c.State, c.Seq, millis(c.Changed), c.ID, c.Seq-len(step.Log))
		}
		if err == nil && step.Contest != nil {
			err = putContest(ctx, tx, step)
		}
		if err != nil {
			return err
		}
		return s.putRest(ctx, tx, &step.Step)
	})
	if err == nil && step.Opens {
		c := *step.Contest
		c.Number = number
		step.Contest = &c
	}
	s.hintAt(&step.Step)
	return err
}

// soundContest returns an error for a step that no decision should have made.
func soundContest(step *contest.Step) error {
	if err := sound(&step.Step); err != nil {
		return err
	}
	c := step.Contest
	if c == nil {
		if step.Opens || len(step.Log)+len(step.Timed)+len(step.Owes) > 0 || step.Done != "" {
			return errors.New("step changes an event and has none")
		}
		return nil
	}
	if !contest.Is(c.ID) || c.Where.Platform == "" || c.Where.Channel == "" {
		return fmt.Errorf("event %q has no place, or an id that no event has", c.ID)
	}
	before := c.Seq - len(step.Log)
	if step.Opens != (before == 0) {
		return fmt.Errorf("event %s is new, or is at line %d and has none before", c.ID, c.Seq)
	}
	for i, e := range step.Log {
		if e.Seq != before+1+i {
			return fmt.Errorf("line %d of event %s must be line %d", e.Seq, c.ID, before+1+i)
		}
	}
	if step.Done != "" && !contest.Owed(step.Done) {
		return fmt.Errorf("step of event %s does %q, which nobody owes", c.ID, step.Done)
	}
	for _, d := range step.Timed {
		if err := soundDue(d, c.ID, false); err != nil {
			return err
		}
	}
	for _, d := range step.Owes {
		if err := soundDue(d, c.ID, true); err != nil {
			return err
		}
	}
	return nil
}

// soundDue returns an error for a timed action that is not one of an event, or owed although
// it should not be.
func soundDue(d match.Due, of contest.ID, owed bool) error {
	if d.Game != of || d.Game == "" || d.Kind == "" || d.At.IsZero() || contest.Owed(d.Kind) != owed {
		return fmt.Errorf("step of event %s has an invalid timed action: %v", of, d)
	}
	return nil
}

// newContest stores a new event and returns its number, the next of its channel.
func newContest(ctx context.Context, tx transaction, h contest.Head) (number int, err error) {
	err = numbered(ctx, tx, write{query: `
		INSERT INTO contest (id, page, platform, channel, thread, title, state, seq, opened, changed, number)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
			(SELECT COALESCE(MAX(number), 0) + 1 FROM contest WHERE platform = $3 AND channel = $4))
		ON CONFLICT DO NOTHING RETURNING number`,
		args: []any{h.ID, h.Page, h.Where.Platform, h.Where.Channel, h.Where.Thread, h.Title, h.State, h.Seq, millis(h.Opened), millis(h.Changed)},
		row:  []any{&number},
	}, "SELECT 1 FROM contest WHERE id = $1 OR page = $2 AND page <> ''", h.ID, h.Page)
	if err != nil {
		return 0, fmt.Errorf("event: %w", err)
	}
	return number, nil
}

// putContest stores what a step changes of an event besides its own row.
func putContest(ctx context.Context, tx transaction, step *contest.Step) error {
	id := step.Contest.ID
	for _, e := range step.Log {
		body, err := e.Body.Encode()
		if err != nil {
			return fmt.Errorf("encode line %d: %w", e.Seq, err)
		}
		err = put(ctx, tx, fmt.Sprintf("line %d", e.Seq), `INSERT INTO contest_event (contest, seq, at, actor, person, body)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`, id, e.Seq, millis(e.At), e.By, e.Body.Person, body)
		if err != nil {
			return err
		}
	}
	if len(step.Log) > 0 {
		if err := putMembers(ctx, tx, step.Contest, step.Log); err != nil {
			return fmt.Errorf("store who is in: %w", err)
		}
	}
	if _, err := tx.ExecContext(ctx, forgetTimed, id); err != nil {
		return fmt.Errorf("drop timed actions: %w", err)
	}
	if step.Done != "" {
		if _, err := tx.ExecContext(ctx, "DELETE FROM due WHERE game = $1 AND kind = $2", id, step.Done); err != nil {
			return fmt.Errorf("drop what is done: %w", err)
		}
	}
	if err := addDue(ctx, tx, id, step.Timed); err != nil {
		return err
	}
	return owe(ctx, tx, step.Owes)
}

// putMembers stores who is in an event after lines of its log. Few lines change that, so it
// writes only differences. Somebody who was erased meanwhile does not come back: nobody comes
// in without a line that names them.
func putMembers(ctx context.Context, tx transaction, c *contest.Contest, log []contest.Event) error {
	was, err := values[match.PersonID](ctx, tx, "SELECT person FROM contest_person WHERE contest = $1", c.ID)
	if err != nil {
		return err
	}
	is := slices.Clone(c.Organisers)
	for _, p := range c.Players {
		if p.In() {
			is = append(is, p.Person)
		}
	}
	for _, p := range is {
		named := slices.ContainsFunc(log, func(e contest.Event) bool { return e.By == p || e.Body.Person == p })
		if slices.Contains(was, p) || !named {
			continue
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO contest_person (person, contest) VALUES ($1, $2) ON CONFLICT DO NOTHING", p, c.ID)
		if err != nil {
			return err
		}
	}
	for _, p := range was {
		if slices.Contains(is, p) {
			continue
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM contest_person WHERE person = $1 AND contest = $2", p, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// linesAbout finds the lines of events that are about a person.
const linesAbout = "SELECT contest, seq, at, actor, body FROM contest_event WHERE person = $1 AND person <> ''"

// unrank deletes the ranks that a person has declared in events.
func (s *Store) unrank(ctx context.Context, p match.PersonID) error {
	type line struct {
		contest.Event
		of contest.ID
	}
	lines, err := list(ctx, s.costly, func(scan scanner) (l line, err error) {
		l.Event, err = scanContestEvent(scan, &l.of)
		return l, err
	}, linesAbout, p)
	if err != nil {
		return err
	}
	lines = slices.DeleteFunc(lines, func(l line) bool { return l.Body.Rank == nil })
	return portions(ctx, s, lines, forgetRows, func(ctx context.Context, tx transaction, some []line) error {
		for _, l := range some {
			l.Body.Rank = nil
			body, err := l.Body.Encode()
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "UPDATE contest_event SET body = $1 WHERE contest = $2 AND seq = $3", body, l.of, l.Seq); err != nil {
				return err
			}
		}
		return nil
	})
}
