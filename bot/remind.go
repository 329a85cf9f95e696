package bot

import (
	"slices"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// reminder words a reminder when it is delivered.
func reminder(m match.Match, p *match.Position, notify []match.PersonID, now time.Time) []Text {
	n := strconv.Itoa(m.Number)
	var who []Text
	for _, p := range notify {
		who = append(who, text.Called(string(p)))
	}
	called := text.List(who...)
	if len(notify) > 1 {
		return []Text{say("remind.settle.both", n, called)}
	}
	other := text.Color(rules.White) // of who plays both
	if m.Black != m.White {
		other = say("player", named(m.Black))
		if len(notify) == 1 && notify[0] == m.Black {
			other = say("player", named(m.White))
		}
	}
	r := p.Reading(now)
	switch {
	case p.Game.Phase() == rules.Settling:
		return []Text{say("remind.settle", n, called, other)}
	case r.Deadline.IsZero():
		return []Text{say("remind.play", n, called, other)}
	}
	return []Text{say("remind.clock", n, called, other, dueBy(timeLeft(m, r), r.Deadline, now))}
}

// dueBy words a deadline, with the time that is left where that stays right.
func dueBy(left Text, deadline, now time.Time) Text {
	until := clock.InstantText(deadline, now)
	return text.Running(say("due.at", until), say("left.until", left, until))
}

// timeLeft words the time that the player to move has left.
func timeLeft(m match.Match, r clock.Reading) Text {
	l := r.Left(r.ToPlay)
	key := "left"
	switch {
	case l.Turn == 0 && l.Vacation > 0: // the words say that it is left
		return l.Text(m.Clock)
	case r.Deadline.After(r.Due) && l.Vacation > 0:
		key = "left.vacation"
	}
	return say(key, l.Text(m.Clock))
}

// clocks answers with the clocks of a game.
func clocks(q *question) outbox.Post {
	m, now := q.match, q.now
	control := say("clock.control", q.number(), m.Clock.Text())
	if m.Clock.Kind == clock.None || m.State != match.Going {
		return q.answer(control)
	}
	r := q.pos.Reading(now)
	left := func(c rules.Color) Text { return say("clock.left", text.Color(c), r.Left(c).Text(m.Clock)) }
	both := []Text{left(rules.Black), left(rules.White)}
	switch {
	case r.Paused:
		return q.answer(control, text.Lines(both...), say("clock.paused"))
	case r.Flagged != rules.None:
		return q.answer(control, text.Lines(both...), say("clock.flagged", text.Color(r.Flagged)))
	case r.Deadline.IsZero():
		return q.answer(control, text.Lines(both...))
	}
	deadline := say("clock.deadline", text.Color(r.ToPlay), clock.InstantText(r.Deadline, now))
	live := slices.Clone(both)
	if until, plain := r.Until(m.Clock); plain {
		live[r.ToPlay-rules.Black] = deadline
	} else {
		live[r.ToPlay-rules.Black] = say("clock.left", text.Color(r.ToPlay), until)
		live = append(live, deadline)
	}
	return q.answer(control, text.Running(text.Lines(live...), text.Lines(append(both, deadline)...)))
}
