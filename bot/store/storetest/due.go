package storetest

import (
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// due returns something due for m so long from now.
func (d *fixture) due(m *match.Match, kind string, in time.Duration) match.Due {
	return match.Due{Game: m.ID, Kind: kind, At: d.now.Add(in), Seq: m.Seq}
}

// dueIn returns what is due so long from now.
func (d *fixture) dueIn(in time.Duration) []match.Due {
	d.Helper()
	due, err := d.DueBy(d.ctx(), d.now.Add(in), 100)
	d.must(err)
	return due
}

// next returns when the next thing is due.
func (d *fixture) next() time.Time {
	d.Helper()
	at, err := d.NextDue(d.ctx())
	d.must(err)
	return at
}

// playDue takes the next event of m, after which this is due.
func (d *fixture) playDue(m *match.Match, due ...match.Due) {
	d.Helper()
	step := d.turn(m)
	step.Due = due
	d.must(d.Commit(d.ctx(), step))
	*m = *step.Match
}

func dueReplaced(d *fixture) {
	d.same("before anything is", d.next(), time.Time{})
	d.same("before anything is", d.dueIn(100*day), []match.Due(nil))

	m := d.fresh("g1", garden)
	expire := d.due(m, "expire", 7*day)
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Match: m, New: true, Due: []match.Due{expire}}))
	d.same("of a new match", d.dueIn(7*day), []match.Due{expire})

	other := d.open("g2", garden)
	d.same("after a step of another match", d.dueIn(7*day), []match.Due{expire})
	flag := d.due(other, "flag", 5*day)
	d.playDue(other, flag)

	half, last := d.due(m, "remind", day), d.due(m, "remind", 2*day)
	d.playDue(m, d.due(m, "flag", 3*day), last, half)
	d.same("after a step", d.dueIn(100*day), []match.Due{half, last, d.due(&match.Match{ID: "g1"}, "flag", 3*day), flag})
	d.same("next", d.next(), half.At)

	// The same again, and later.
	d.pass(time.Hour)
	again := d.due(m, "flag", 3*day)
	half.Seq = m.Seq
	d.playDue(m, half, again)
	d.same("after the next", d.dueIn(100*day), []match.Due{half, again, flag})

	// A step that changes the match and adds no event.
	noted := *m
	noted.Deadline = d.now.Add(9 * day)
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Match: &noted, Due: []match.Due{again}}))
	d.same("after a step without events", d.dueIn(100*day), []match.Due{again, flag})
	stored := d.read("g1")
	d.same("deadline", stored.Deadline, noted.Deadline)

	d.playDue(m)
	d.same("after a step that makes nothing due", d.dueIn(100*day), []match.Due{flag})
	d.playDue(other)
	d.same("in the end", d.dueIn(100*day), []match.Due(nil))
	d.same("next, in the end", d.next(), time.Time{})
}

func dueInOrder(d *fixture) {
	// Four matches, and of each something due at the same two times.
	var want []match.Due
	for i := range 4 {
		m := d.open(match.GameID(fmt.Sprint("g", i)), garden)
		d.playDue(m, match.Due{Game: m.ID, Kind: "remind", At: d.now.Add(time.Hour), Seq: 1},
			match.Due{Game: m.ID, Kind: "flag", At: d.now.Add(time.Hour), Seq: 1},
			match.Due{Game: m.ID, Kind: "remind", At: d.now.Add(time.Minute), Seq: 1})
	}
	for _, in := range []time.Duration{time.Minute, time.Hour} {
		for i := range 4 {
			for _, kind := range []string{"flag", "remind"} {
				if in == time.Hour || kind == "remind" {
					want = append(want, match.Due{Game: match.GameID(fmt.Sprint("g", i)), Kind: kind, At: d.now.Add(in), Seq: 1})
				}
			}
		}
	}
	d.same("all", d.dueIn(time.Hour), want)
	d.same("just before their time", d.dueIn(time.Minute-1), []match.Due(nil))
	d.same("at their time", d.dueIn(time.Minute), want[:4])
	d.same("just before the time of the others", d.dueIn(time.Hour-1), want[:4])
	for _, limit := range []int{0, 1, 3, 7, len(want), 1000} {
		got, err := d.DueBy(d.ctx(), d.now.Add(day), limit)
		d.must(err)
		d.same(fmt.Sprint("at most ", limit), append([]match.Due{}, got...), want[:min(limit, len(want))])
	}

	// An action due within less than a millisecond is not done early.
	m := d.open("fine", garden)
	d.playDue(m, d.due(m, "flag", time.Microsecond))
	if early := d.dueIn(0); len(early) > 0 {
		d.Errorf("too early: %v", early)
	}
	at := d.next()
	if late := at.Sub(d.now); late < time.Microsecond || late > time.Millisecond {
		d.Errorf("it is due %v from now instead of 1µs", late)
	}
	d.same("when it says that it is due", len(d.dueIn(at.Sub(d.now))), 1)
}

func runningMatches(d *fixture) {
	away := match.Room{Platform: "matrix", Channel: "garden", Thread: "t"}
	hall := match.Room{Platform: "web", Channel: "hall"}
	for _, where := range []match.Room{garden, hall, away} {
		d.must(d.Belongs(d.ctx(), where, "club"))
	}
	for id, where := range map[match.GameID]match.Room{"a": garden, "b": away, "c": hall, "d": cellar, "e": garden, "f": garden, "B": garden} {
		d.open(id, where, func(m *match.Match) {
			if id != "e" && id != "B" {
				m.Deadline = d.now.Add(day)
			}
		})
	}
	check := func(platform, server string, after match.GameID, limit int, want ...match.GameID) {
		d.Helper()
		ids, err := d.Running(d.ctx(), platform, server, after, limit)
		d.must(err)
		d.same(fmt.Sprintf("%d of %q %q after %q", limit, platform, server, after), ids, want)
	}
	check("", "", "", 10, "a", "b", "c", "d", "f")
	check("", "", "", 2, "a", "b")
	check("", "", "b", 2, "c", "d")
	check("", "", "e", 1, "f") // after one that has none
	check("", "", "f", 10)
	check("", "", "", 0)
	check("web", "", "", 10, "a", "c", "d", "f")
	check("web", "", "c", 1, "d")
	check("matrix", "", "", 10, "b")
	check("matrix", "", "b", 10)
	check("discord", "", "", 10)
	check("web", "club", "", 10, "a", "c", "f")
	check("web", "club", "", 2, "a", "c")
	check("web", "club", "c", 2, "f")
	check("web", "other", "", 10)

	set := func(id match.GameID, deadline time.Time) {
		d.Helper()
		m := d.read(id)
		step := d.turn(&m)
		step.Match.Deadline = deadline
		d.must(d.Commit(d.ctx(), step))
	}
	set("d", time.Time{})
	set("e", d.now.Add(day))
	set("c", d.now.Add(2*day))
	check("", "", "", 10, "a", "b", "c", "e", "f")
}

// matchesAhead has matches of a clock that was ahead: "a" with a deadline, "b" with a timed
// action. In "c" only the log is ahead, in "d" only what is due, and "e" is right.
func matchesAhead(d *fixture) {
	for _, id := range []match.GameID{"a", "b", "c", "d", "e"} {
		step := d.turn(d.open(id, garden))
		step.Match.Deadline = d.now.Add(time.Hour)
		step.Due = []match.Due{{Game: id, Kind: "flag", At: d.now.Add(time.Hour), Seq: 1}}
		if id < "d" {
			step.Events[0].At = d.now.Add(2 * day)
		}
		switch id {
		case "a":
			step.Match.Deadline = d.now.Add(2 * day)
		case "b", "d":
			step.Due[0].At = d.now.Add(2 * day)
		}
		d.must(d.Commit(d.ctx(), step))
	}
	for _, c := range []struct {
		by    time.Duration
		after match.GameID
		limit int
		want  []match.GameID
	}{{day, "", 10, []match.GameID{"a", "b"}}, {day, "a", 10, []match.GameID{"b"}}, {day, "", 1, []match.GameID{"a"}}, {2 * day, "", 10, nil}, {day, "b", 10, nil}} {
		ids, err := d.Ahead(d.ctx(), d.now.Add(c.by), c.after, c.limit)
		d.must(err)
		d.same(fmt.Sprintf("%d of more than %v ahead after %q", c.limit, c.by, c.after), ids, c.want)
	}
}
