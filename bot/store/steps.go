package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Commit stores a step, or returns ErrConflict and stores nothing: if the request has
// been stored before, or if the match or settings have changed since the step was decided. It
// sets the Number of step.Match if the match is new.
func (s *Store) Commit(ctx context.Context, step *match.Step) (err error) {
	defer annotate(&err, "commit %s", step.Request)
	if err := sound(step); err != nil {
		return err
	}
	number := 0
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		if err := s.putAnswer(ctx, tx, step); err != nil {
			return err
		}
		var err error
		switch {
		case step.Match == nil:
		case step.New:
			number, err = newMatch(ctx, tx, step.Match)
		default:
			err = changeMatch(ctx, tx, step.Match, step.Was, step.Match.Seq-len(step.Events))
		}
		if err != nil {
			return err
		}
		if step.Match != nil {
			if err := putEvents(ctx, tx, step.Match.ID, step.Events); err != nil {
				return err
			}
			if err := putDue(ctx, tx, step.Match.ID, step.Due); err != nil {
				return err
			}
		}
		if err := owe(ctx, tx, step.Owes); err != nil {
			return err
		}
		return s.putRest(ctx, tx, step)
	})
	if err == nil && step.New && step.Match != nil {
		step.Match.Number = number
	}
	s.hintAt(step)
	return err
}

// hintAt hints at what a step has stored for other processes.
func (s *Store) hintAt(step *match.Step) {
	if step.Typed != nil || slices.ContainsFunc(step.Posts, func(o match.OutboxPost) bool { return o.Elsewhere }) {
		s.hint()
	}
}

// putRest stores what a step holds besides its answer and a match or an event: posts, what
// somebody has chosen, what was typed.
func (s *Store) putRest(ctx context.Context, tx transaction, step *match.Step) error {
	for i := range step.Posts {
		// The asker shows a post after those of the same game that it holds already.
		p := &step.Posts[i]
		before := slices.DeleteFunc(slices.Clone(step.Posts[:i]), func(o match.OutboxPost) bool { return o.Lane() != p.Lane() })
		after := len(before) > 0 && !slices.ContainsFunc(before, func(o match.OutboxPost) bool { return !o.Held() })
		if err := putPost(ctx, tx, p, step.At, after && p.Asker); err != nil {
			return err
		}
	}
	if step.Link != nil {
		if err := putLink(ctx, tx, *step.Link, step); err != nil {
			return err
		}
	}
	if step.Draft != nil {
		if err := putDraft(ctx, tx, *step.Draft); err != nil {
			return err
		}
	}
	if step.Act != nil {
		act := *step.Act
		act.At, act.By = step.At, step.By
		if err := putAct(ctx, tx, &act); err != nil {
			return err
		}
	}
	if step.Prefs != nil {
		if err := s.putPreferences(ctx, tx, *step.Prefs, step.PrefsWas); err != nil {
			return err
		}
	}
	if step.Room != nil {
		if err := s.putRoomSettings(ctx, tx, *step.Room, step.RoomWas); err != nil {
			return err
		}
	}
	if step.Typed != nil { // last: until the commit no other message gets a number
		line := outbox.Message{Room: step.Typed.Room, At: step.Typed.At, By: cmp.Or(step.Typed.By, step.By), Text: step.Typed.Text}
		if _, err := putMessage(ctx, tx, line); err != nil {
			return fmt.Errorf("store the typed message: %w", err)
		}
	}
	return nil
}

// sound returns an error for a step that no decision should have made: one that would
// leave gaps in a log, or a match that disagrees with its log.
func sound(step *match.Step) error {
	if step.Request == "" {
		return errors.New("step without a request")
	}
	if step.Prefs != nil && step.Prefs.Person == "" {
		return errors.New("step has preferences without a person")
	}
	if step.Room != nil && (step.Room.Room.Platform == "" || (step.Room.Room.Channel == "") == (step.Room.Server == "")) {
		return errors.New("step has settings without a room")
	}
	if d := step.Draft; d != nil && (d.Person == "" || d.Where.Platform == "" || d.Where.Channel == "" || d.At.IsZero()) {
		return errors.New("step has a draft without a person, a room or a time")
	}
	if err := soundAct(step.Act); err != nil {
		return err
	}
	if step.Match == nil {
		if len(step.Events) > 0 {
			return errors.New("step has events without a match")
		}
		if len(step.Due) > 0 {
			return errors.New("step has timed actions without a match")
		}
		if len(step.Owes) > 0 {
			return errors.New("step owes an event something without a match")
		}
		return nil
	}
	before := step.Match.Seq - len(step.Events)
	if step.New && before != 0 {
		return fmt.Errorf("new match is at event %d but has %d events", step.Match.Seq, len(step.Events))
	}
	for i, e := range step.Events {
		if e.Seq != before+1+i {
			return fmt.Errorf("event %d of match %s must be event %d", e.Seq, step.Match.ID, before+1+i)
		}
	}
	for _, d := range step.Due {
		if d.Game != step.Match.ID || d.Kind == "" || d.At.IsZero() {
			return fmt.Errorf("step of match %s has an invalid timed action: %v", step.Match.ID, d)
		}
	}
	for _, d := range step.Owes {
		if err := soundDue(d, step.Match.Fixture.Event, true); err != nil {
			return err
		}
	}
	return nil
}

// putAnswer stores the answer to a request, if it is the first and none of the people in
// the step has been erased meanwhile. Until the transaction ends nobody erases them.
func (s *Store) putAnswer(ctx context.Context, tx transaction, step *match.Step) error {
	answer, err := encodeReply(step.Answer, step.By)
	if err != nil {
		return err
	}
	args := []any{step.Request, millis(step.At), answer, step.Where.Platform, step.Where.Channel}
	known := "TRUE"
	if people := slices.Compact(slices.Sorted(slices.Values(step.People))); len(people) > 0 {
		known = "(SELECT COUNT(*) FROM (SELECT 1 FROM person WHERE id IN (" + placeholders(7, len(people)) + ") ORDER BY id" + s.locks("FOR KEY SHARE") + ") AS known) = $6"
		args = append(args, len(people))
		for _, p := range people {
			args = append(args, p)
		}
	}
	return putLater(ctx, tx, "answer", `
		INSERT INTO inbox (request, at, answer, platform, channel)
		SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT)
		WHERE `+known+` ON CONFLICT DO NOTHING`, args...)
}

// newMatch stores a match and returns its number, the next of its channel.
func newMatch(ctx context.Context, tx transaction, m *match.Match) (number int, err error) {
	setup, err := encodeSetup(m.Setup, m.NoHints)
	if err != nil {
		return 0, err
	}
	clock, err := m.Clock.MarshalText()
	if err != nil {
		return 0, fmt.Errorf("encode the clock: %w", err)
	}
	err = putLater(ctx, tx, "match", `
		INSERT INTO game (id, rules, setup, opener, invited, opened, state, black, white, to_move, seq, result, changed,
			clock, deadline, rated, page, contest, round, tbl, head)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) ON CONFLICT DO NOTHING`,
		m.ID, m.Rules, setup, m.Opener, m.Invited, millis(m.Opened),
		m.State, m.Black, m.White, m.ToMove, m.Seq, m.Result, millis(m.Changed), string(clock), timer(m.Deadline), flag(m.Rated), m.Page,
		m.Fixture.Event, m.Fixture.Round, m.Fixture.Table, m.Head)
	if err != nil {
		return 0, err
	}
	err = numbered(ctx, tx, write{query: `
		INSERT INTO game_channel (game, platform, channel, thread, state, number)
		VALUES ($1, $2, $3, $4, $5,
			(SELECT COALESCE(MAX(number), 0) + 1 FROM game_channel WHERE platform = $2 AND channel = $3))
		ON CONFLICT DO NOTHING RETURNING number`,
		args: []any{m.ID, m.Where.Platform, m.Where.Channel, m.Where.Thread, m.State},
		row:  []any{&number},
	}, "SELECT 1 FROM game_channel WHERE game = $1", m.ID)
	if err != nil {
		return 0, fmt.Errorf("store the match's number: %w", err)
	}
	return number, nil
}

// changeMatch stores the Standing of a match, if its last event is still before. If the
// earlier Standing, was, is known, it writes indexed columns only if they have changed,
// because each index costs a page.
func changeMatch(ctx context.Context, tx transaction, m *match.Match, was *match.Standing, before int) error {
	if was != nil && was.State == m.State && was.Black == m.Black && was.White == m.White && was.Page == m.Page {
		return putLater(ctx, tx, "match", `
			UPDATE game SET to_move = $1, seq = $2, result = $3, changed = $4, deadline = $5, head = $6 WHERE id = $7 AND seq = $8`,
			m.ToMove, m.Seq, m.Result, millis(m.Changed), timer(m.Deadline), m.Head, m.ID, before)
	}
	err := putLater(ctx, tx, "match", `
		UPDATE game SET state = $1, black = $2, white = $3, to_move = $4, seq = $5, result = $6, changed = $7, deadline = $8, page = $9,
			head = $10
		WHERE id = $11 AND seq = $12`,
		m.State, m.Black, m.White, m.ToMove, m.Seq, m.Result, millis(m.Changed), timer(m.Deadline), m.Page, m.Head, m.ID, before)
	if err != nil {
		return err
	}
	return tx.later(ctx, write{what: "the match's state", args: []any{m.State, m.ID},
		query: "UPDATE game_channel SET state = $1 WHERE game = $2 AND state <> $1"})
}

// putEvents stores events of a match.
func putEvents(ctx context.Context, tx transaction, game match.GameID, events []match.Event) error {
	if len(events) == 0 {
		return nil
	}
	var rows []string
	args := []any{game}
	for _, e := range events {
		rows = append(rows, "($1, "+placeholders(len(args)+1, 5)+")")
		args = append(args, e.Seq, millis(e.At), e.By, e.Body.String(), e.Proof)
	}
	return tx.later(ctx, write{what: "events", args: args, least: int64(len(events)),
		query: "INSERT INTO event (game, seq, at, actor, body, proof) VALUES " + strings.Join(rows, ", ") + " ON CONFLICT DO NOTHING"})
}

// Answered returns the stored answer to a request, if there is one.
func (s *Store) Answered(ctx context.Context, request string) (_ match.Reply, ok bool, err error) {
	defer annotate(&err, "look for the answer to %s", request)
	answer, err := single[string](ctx, s.read, "SELECT answer FROM inbox WHERE request = $1", request)
	if errors.Is(err, sql.ErrNoRows) {
		return match.Reply{}, false, nil
	}
	if err == nil {
		ok, err = s.stands(ctx, request)
	}
	if err != nil || !ok {
		return match.Reply{}, false, err
	}
	r, err := decodeReply(answer)
	return r, err == nil, err
}

// stands returns once it is sure whether the answer to a request, which was read, stays. What
// PostgreSQL shows may still be waiting for a standby, or may never have reached it: a standby that
// is promoted then has not got it. A change that is committed afterwards has waited as long as it
// must, and is made where the row is, or finds none there.
func (s *Store) stands(ctx context.Context, request string) (stays bool, err error) {
	if s.address == "" {
		return true, nil
	}
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		return put(ctx, tx, "answer", "UPDATE inbox SET at = at WHERE request = $1", request)
	})
	if errors.Is(err, bot.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}
