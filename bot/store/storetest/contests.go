package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// opens returns the step in which Ada opens an event, without taking it.
func (d *fixture) opens(id contest.ID, where match.Room) *contest.Step {
	d.Helper()
	return d.opensFor(ada, id, where)
}

func (d *fixture) opensFor(by match.PersonID, id contest.ID, where match.Room) *contest.Step {
	d.Helper()
	body := contest.Body{Kind: "open", Page: "page of " + string(id), Place: &where, Terms: &contest.Terms{
		Name: "League " + string(id), Rules: []string{"two-button@1"}, Width: 9, Height: 9, System: contest.Groups, Group: 8, Until: d.now.Add(7 * day), Lasts: 28 * day}}
	step := d.writes(&contest.Contest{Head: contest.Head{ID: id}}, by, body)
	step.Opens = true
	return step
}

// writes returns the step that adds lines to the log of an event, without taking it.
func (d *fixture) writes(c *contest.Contest, by match.PersonID, bodies ...contest.Body) *contest.Step {
	d.Helper()
	step := &contest.Step{Step: match.Step{Request: d.request(), At: d.now, By: by, Where: c.Where}}
	for i, body := range bodies {
		step.Log = append(step.Log, contest.Event{Seq: c.Seq + 1 + i, At: d.now, By: by, Body: body})
	}
	next, err := c.With(step.Log...)
	d.must(err)
	step.Contest = next
	return step
}

// commits takes a step of an event and returns the event after it.
func (d *fixture) commits(step *contest.Step) *contest.Contest {
	d.Helper()
	d.must(d.CommitContest(d.ctx(), step))
	return step.Contest
}

// contest reads an event and folds it.
func (d *fixture) contest(id contest.ID) *contest.Contest {
	d.Helper()
	h, log, err := d.Contest(d.ctx(), id)
	d.must(err)
	c, err := contest.Fold(h, log)
	d.must(err)
	return c
}

// heads returns the ids of events.
func (d *fixture) heads(hs []contest.Head, err error) []string {
	d.Helper()
	d.must(err)
	ids := []string{}
	for _, h := range hs {
		ids = append(ids, string(h.ID))
	}
	return ids
}

func joins(p match.PersonID, rank int) contest.Body {
	return contest.Body{Kind: "join", Person: p, Rank: &rank}
}

// timed returns a timed action of an event.
func (d *fixture) timed(c *contest.Contest, kind string, in time.Duration) match.Due {
	return match.Due{Game: c.ID, Kind: kind, At: d.now.Add(in), Seq: c.Seq}
}

func contestReadBack(d *fixture) {
	where := match.Room{Platform: "discord", Channel: "c", Thread: "t"}
	step := d.opens("e-1", where)
	step.Answer = match.Reply{Texts: []bot.Text{{Key: "event.opened"}}, Private: true}
	step.Posts = []match.OutboxPost{{ID: "p1", Game: "e-1", Where: where, Kind: match.Status, Seq: 1, Texts: []bot.Text{{Key: "event"}}}}
	step.Draft = &match.Draft{Person: ada, Where: where, At: d.now}
	decided := step.Contest
	c := d.commits(step)
	d.same("number of the first event of a channel", []int{c.Number, decided.Number}, []int{1, 0}) // nobody may change what was decided
	d.same("event", d.contest("e-1"), c)
	_, log, err := d.Contest(d.ctx(), "e-1")
	d.must(err)
	d.same("log", log, step.Log)
	page, err := d.ContestPage(d.ctx(), "page of e-1")
	d.must(err)
	d.same("by its page", page, c.Head)
	answer, ok, err := d.Answered(d.ctx(), step.Request)
	d.must(err)
	d.same("answer", []any{answer, ok}, []any{step.Answer, true})
	posts := d.waits()
	d.same("posts", []any{len(posts), posts[0].ID, posts[0].Game}, []any{1, "p1", contest.ID("e-1")})
	d.settle("p1")
	of, err := d.GameUnder(d.ctx(), "discord", "receipt of p1")
	d.must(err)
	d.same("the event under a message", of, contest.ID("e-1"))

	d.pass(time.Minute)
	step = d.writes(c, bob, joins(bob, -12), joins(eve, 3))
	step.Typed = &match.Typed{Room: "hall", At: d.now, Text: "/event join"}
	c = d.commits(step)
	d.same("event after a step", d.contest("e-1"), c)
	d.same("heard", len(d.heard("hall", 0, 10)), 1)

	for what, read := range map[string]func() error{
		"event": func() error { _, _, err := d.Contest(d.ctx(), "e-2"); return err },
		"page":  func() error { _, err := d.ContestPage(d.ctx(), "none"); return err },
		"slug":  func() error { _, err := d.ContestPage(d.ctx(), ""); return err },
		"game":  func() error { _, err := d.Header(d.ctx(), "e-1"); return err },
	} {
		if err := read(); !errors.Is(err, bot.ErrNotFound) {
			d.Errorf("%s: error is %v, want %v", what, err, bot.ErrNotFound)
		}
	}
}

func contestConflicts(d *fixture) {
	c := d.commits(d.opens("e-1", garden))
	stale, staleToo := d.writes(c, bob, joins(bob, 0)), d.writes(c, bob)
	c = d.commits(d.writes(c, eve, joins(eve, 0)))
	owed := d.timed(c, "result:g1", 0)
	step := d.writes(c, "")
	step.Timed, step.Owes = []match.Due{d.timed(c, "close", day)}, []match.Due{owed}
	c = d.commits(step)
	want := d.dueIn(100 * day)

	twice := d.writes(c, ada, joins(ada, 0))
	twice.Request = stale.Request
	taken := d.opens("e-2", garden)
	taken.Contest.Page = "page of e-1"
	stale.Draft = &match.Draft{Person: bob, Where: garden, Text: "{}", At: d.now}
	stale.Done, stale.Timed = owed.Kind, []match.Due{d.timed(c, "late", day)}
	for what, step := range map[string]*contest.Step{
		"it comes too late": stale, "it comes too late, without a line": staleToo,
		"it comes too early": d.writes(d.writes(c, ada, joins(ada, 0)).Contest, bob, joins(bob, 0)), "its id is taken": d.opens("e-1", cellar), "its page is taken": taken,
		"its event is not there": d.writes(&contest.Contest{Head: contest.Head{ID: "e-9", Seq: 1, Where: garden}}, ada, joins(ada, 0)),
		"a person was erased":    {Step: match.Step{Request: d.request(), At: d.now, People: []match.PersonID{"nobody"}}},
	} {
		d.conflict(d.CommitContest(d.ctx(), step))
		_, ok, err := d.Answered(d.ctx(), step.Request)
		d.must(err)
		d.same(what+": answered", ok, false)
		d.same(what+": event", d.contest("e-1"), c)
		d.same(what+": due", d.dueIn(100*day), want)
		draft, err := d.Draft(d.ctx(), bob, garden, d.now)
		d.must(err)
		d.same(what+": draft", draft, "")
		d.same(what+": in", d.heads(d.ContestsOf(d.ctx(), bob)), []string{})
	}
	d.commits(twice) // the request of a step that was not stored
	d.conflict(d.CommitContest(d.ctx(), twice))
	d.same("number of the next that is stored", d.commits(d.opens("e-3", garden)).Number, 2)
	d.same("in another channel", d.commits(d.opens("e-4", cellar)).Number, 1)
}

func contestsMustFit(d *fixture) {
	c := d.commits(d.opens("e-1", garden))
	for name, spoil := range map[string]func(*contest.Step){
		"no request":               func(s *contest.Step) { s.Request = "" },
		"a hole":                   func(s *contest.Step) { s.Log[0].Seq++ },
		"ahead of its log":         func(s *contest.Step) { s.Contest.Seq++ },
		"new in its middle":        func(s *contest.Step) { s.Opens = true },
		"a log without an event":   func(s *contest.Step) { s.Contest = nil },
		"the id of a game":         func(s *contest.Step) { s.Contest.ID = "g1" },
		"nowhere":                  func(s *contest.Step) { s.Contest.Where = match.Room{} },
		"timed, of another":        func(s *contest.Step) { s.Timed = []match.Due{{Game: "e-2", Kind: "close", At: d.now}} },
		"timed, at no time":        func(s *contest.Step) { s.Timed = []match.Due{{Game: "e-1", Kind: "close"}} },
		"timed, as if owed":        func(s *contest.Step) { s.Timed = []match.Due{d.timed(c, "result:g1", 0)} },
		"owed, as if timed":        func(s *contest.Step) { s.Owes = []match.Due{d.timed(c, "close", 0)} },
		"done without being owed":  func(s *contest.Step) { s.Done = "close" },
		"the due of a match":       func(s *contest.Step) { s.Due = []match.Due{d.timed(c, "close", 0)} },
		"a draft of nobody":        func(s *contest.Step) { s.Draft = &match.Draft{Where: garden, At: d.now} },
		"a draft for no place":     func(s *contest.Step) { s.Draft = &match.Draft{Person: ada, At: d.now} },
		"a draft of no time":       func(s *contest.Step) { s.Draft = &match.Draft{Person: ada, Where: garden} },
		"owed by a match it lacks": func(s *contest.Step) { s.Step.Owes = []match.Due{d.timed(c, "result:g1", 0)} },
	} {
		step := d.writes(c, bob, joins(bob, 0))
		spoil(step)
		if err := d.CommitContest(d.ctx(), step); err == nil || errors.Is(err, bot.ErrConflict) {
			d.Errorf("%s: error is %v; this is no conflict but a fault", name, err)
		}
	}
	m := d.open("g1", garden, func(m *match.Match) { m.Fixture = match.Fixture{Event: "e-1", Round: 1, Table: 1} })
	for name, owed := range map[string]match.Due{"of another event": {Game: "e-2", Kind: "result:g1", At: d.now}, "of the match": {Game: "g1", Kind: "result:g1", At: d.now},
		"at no time": {Game: "e-1", Kind: "result:g1"}, "not owed": d.timed(c, "close", 0)} {
		step := d.turn(m)
		step.Owes = []match.Due{owed}
		if err := d.Commit(d.ctx(), step); err == nil || errors.Is(err, bot.ErrConflict) {
			d.Errorf("owed %s: error is %v; this is no conflict but a fault", name, err)
		}
	}
	d.same("due", d.dueIn(100*day), []match.Due(nil))
}

// Of the timed actions of an event those that follow from how it stands are replaced by
// each step, and the others stay until they are done.
func contestDue(d *fixture) {
	at := func(step *contest.Step, timed ...match.Due) *contest.Contest {
		d.Helper()
		step.Timed = timed
		return d.commits(step)
	}
	step := d.opens("e-1", garden)
	closing := d.timed(step.Contest, "close", 7*day)
	c := at(step, closing)
	other := d.opens("e-2", garden)
	rest := d.timed(other.Contest, "close", 8*day)
	at(other, rest)
	d.same("of new events", d.dueIn(100*day), []match.Due{closing, rest})

	// The games of two tables end, one of them twice.
	var owed []match.Due
	for i, id := range []match.GameID{"g1", "g2"} {
		m := d.open(id, garden, func(m *match.Match) { m.Fixture = match.Fixture{Event: "e-1", Round: 1, Table: i + 1} })
		owed = append(owed, match.Due{Game: "e-1", Kind: "result:" + string(id), At: d.now, Seq: 1})
		for range 2 - i {
			end := d.turn(m)
			end.Due, end.Owes = []match.Due{d.due(m, "remind", 9*day)}, owed[i:]
			d.must(d.Commit(d.ctx(), end))
			*m = *end.Match
		}
		end := d.turn(m) // nothing else is due of the match
		d.must(d.Commit(d.ctx(), end))
	}
	d.same("with results", d.dueIn(100*day), append(slices.Clone(owed), closing, rest))

	step = d.writes(c, bob, joins(bob, 0))
	ends := d.timed(step.Contest, "ends", 20*day)
	step.Done = owed[0].Kind
	step.Owes = []match.Due{d.timed(step.Contest, "stop:g3", time.Hour)}
	c = at(step, ends)
	d.same("one is done", d.dueIn(100*day), []match.Due{owed[1], step.Owes[0], rest, ends})
	step = d.writes(c, "") // without a line
	step.Done = owed[1].Kind
	at(step)
	d.same("both are done", d.dueIn(100*day), []match.Due{{Game: "e-1", Kind: "stop:g3", At: d.now.Add(time.Hour), Seq: 2}, rest})

	lost := d.open("g4", garden, func(m *match.Match) { m.Fixture.Event = "e-none" })
	end := d.turn(lost)
	end.Owes = []match.Due{{Game: "e-none", Kind: "result:g4", At: d.now}}
	d.must(d.Commit(d.ctx(), end))
	d.same("of an event that is not there", len(d.dueIn(100*day)), 2)

	// Of the matches of a clock that was ahead, and of those that have a deadline, no event is one.
	ahead, err := d.Ahead(d.ctx(), d.now.Add(-day), "", 10)
	d.must(err)
	running, err := d.Running(d.ctx(), "", "", "", 10)
	d.must(err)
	d.same("matches", append(ahead, running...), []match.GameID(nil))
}

func fixtures(d *fixture) {
	d.commits(d.opens("e-1", garden))
	of := func(event match.GameID, round, table int) func(*match.Match) {
		return func(m *match.Match) { m.Fixture = match.Fixture{Event: event, Round: round, Table: table} }
	}
	m := d.open("1", garden, of("e-1", 2, 3))
	d.same("match", d.read("1"), *m)
	d.play(m)
	d.same("match after a turn", d.read("1"), *m)
	d.open("2", garden)
	d.open("3", cellar, of("e-1", 1, 1), func(m *match.Match) { m.State = match.Ended })
	d.open("4", garden, of("e-2", 1, 1))
	for _, c := range []struct {
		name  string
		query bot.Query
		want  []string
	}{
		{"of an event", bot.Query{Event: "e-1"}, []string{"1", "3"}},
		{"of an event, going", bot.Query{Event: "e-1", States: []match.State{match.Going}}, []string{"1"}},
		{"of an event, here", bot.Query{Event: "e-1", Where: cellar}, []string{"3"}},
		{"of no such event", bot.Query{Event: "e-3"}, []string{}},
		{"of none", bot.Query{Own: true}, []string{"2"}},
		{"of none, somebody's", bot.Query{Own: true, Player: ada}, []string{"2"}},
		{"all", bot.Query{}, []string{"1", "2", "3", "4"}},
	} {
		got := []string{}
		for _, m := range d.find(c.query) {
			got = append(got, string(m.ID))
		}
		slices.Sort(got)
		d.same(c.name, got, c.want)
	}
}

func findContests(d *fixture) {
	thread := garden
	thread.Thread = "t"
	away := match.Room{Platform: "matrix", Channel: "garden"}
	for i, where := range []match.Room{garden, cellar, thread, away} {
		d.pass(time.Second)
		d.commits(d.opens(contest.ID(fmt.Sprint("e-", i)), where))
	}
	d.pass(time.Second)
	over := d.writes(d.contest("e-0"), ada, contest.Body{Kind: "cancel"})
	d.commits(over)
	for _, c := range []struct {
		where  match.Room
		states []contest.State
		limit  int
		want   []string
	}{
		{match.Room{}, nil, 10, []string{"e-3", "e-2", "e-1", "e-0"}},
		{match.Room{}, nil, 2, []string{"e-3", "e-2"}},
		{match.Room{Platform: "web"}, nil, 10, []string{"e-2", "e-1", "e-0"}},
		{garden, nil, 10, []string{"e-2", "e-0"}},
		{thread, nil, 10, []string{"e-2"}},
		{garden, []contest.State{contest.SignUp, contest.Playing}, 10, []string{"e-2"}},
		{garden, []contest.State{contest.Cancelled}, 10, []string{"e-0"}},
		{match.Room{Platform: "matrix", Channel: "cellar"}, nil, 10, []string{}},
	} {
		d.same(fmt.Sprintf("%v %v %d", c.where, c.states, c.limit), d.heads(d.Contests(d.ctx(), c.where, c.states, c.limit)), c.want)
	}
	found, err := d.Contests(d.ctx(), garden, []contest.State{contest.Cancelled}, 1)
	d.must(err)
	d.same("as it is", found, []contest.Head{over.Contest.Head})
}

// Who is in an event: its organisers, players and who waits, as long as they are.
func membersOfContests(d *fixture) {
	in := func(what string, want ...string) {
		d.Helper()
		got := []string{}
		for _, p := range []match.PersonID{ada, bob, eve} {
			for _, id := range d.heads(d.ContestsOf(d.ctx(), p)) {
				got = append(got, string(p)+" "+id)
			}
		}
		d.same(what, got, append([]string{}, want...))
	}
	c := d.commits(d.opens("e-1", garden))
	d.pass(time.Second)
	d.commits(d.opens("e-2", cellar))
	in("two events", "ada e-2", "ada e-1")
	c = d.commits(d.writes(c, bob, joins(bob, 0), joins(ada, 1)))
	in("two join", "ada e-2", "ada e-1", "bob e-1")
	c = d.commits(d.writes(c, bob, contest.Body{Kind: "leave", Player: 1}))
	in("one leaves", "ada e-2", "ada e-1")
	c = d.commits(d.writes(c, ada, contest.Body{Kind: "replace", Player: 2, Person: eve}))
	in("the organiser has a seat no more", "ada e-2", "ada e-1", "eve e-1")
	c = d.commits(d.writes(c, ada, contest.Body{Kind: "organiser", Person: bob}, contest.Body{Kind: "organiser", Person: ada, Off: true}))
	in("and organises it no more", "ada e-2", "bob e-1", "eve e-1")
	d.commits(d.writes(c, bob, contest.Body{Kind: "cancel"}))
	in("it is called off", "ada e-2", "bob e-1", "eve e-1")

	lines, err := d.ContestEventsBy(d.ctx(), eve)
	d.must(err)
	_, log, err := d.Contest(d.ctx(), "e-1")
	d.must(err)
	d.same("what was done about somebody", lines, map[contest.ID][]contest.Event{"e-1": {log[4]}})
	lines, err = d.ContestEventsBy(d.ctx(), bob)
	d.must(err)
	d.same("what somebody did", lines, map[contest.ID][]contest.Event{"e-1": {log[1], log[2], log[3], log[5], log[7]}})
	lines, err = d.ContestEventsBy(d.ctx(), "")
	d.must(err)
	d.same("nobody", len(lines), 0)
}

// A draft is somebody's in a channel, and counts for a day.
func drafts(d *fixture) {
	thread := garden
	thread.Thread = "t"
	put := func(p match.PersonID, where match.Room, text string) {
		d.Helper()
		d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Draft: &match.Draft{Person: p, Where: where, Text: text, At: d.now}}))
	}
	is := func(p match.PersonID, where match.Room, want string) {
		d.Helper()
		text, err := d.Draft(d.ctx(), p, where, d.now)
		d.must(err)
		d.same(fmt.Sprint("draft of ", p, " in ", where), text, want)
	}
	is(ada, garden, "")
	put(ada, thread, "1")
	put(ada, cellar, "2")
	put(bob, garden, "3")
	is(ada, garden, "1")
	is(ada, cellar, "2")
	d.pass(day - time.Minute)
	is(ada, garden, "1")
	put(ada, garden, "4")
	put(bob, garden, "")
	is(bob, garden, "")
	d.pass(time.Minute)
	is(ada, garden, "4")
	is(ada, cellar, "")
	d.pass(day)
	is(ada, garden, "")
	put(ada, garden, "5")
	is(ada, garden, "5")
}

// Posts of an event are shown, parked and taken up again like those of a game.
func postsOfContests(d *fixture) {
	c := d.commits(d.opens("e-1", garden))
	says := func(id, kind string) match.OutboxPost {
		return match.OutboxPost{ID: id, Game: "e-1", Where: garden, Kind: kind, Seq: c.Seq}
	}
	step := d.writes(c, bob, joins(bob, 0))
	step.Posts = []match.OutboxPost{says("p1", match.Notice), says("p2", match.Show)}
	c = d.commits(step)
	d.same("tried", []bool{step.Posts[0].Tried, step.Posts[1].Tried}, []bool{true, false})
	d.settle("p1")
	d.parks(garden, "", true)
	d.same("parked", d.waiting(), []string{})
	d.pass(time.Hour)
	d.unparks(garden, true)
	d.settle("p2")
	last, first, err := d.Shown(d.ctx(), "e-1", garden, match.Show, false)
	d.must(err)
	d.same("shown", []outbox.Receipt{last, first}, []outbox.Receipt{"receipt of p2", "receipt of p1"})
	again := d.writes(c, eve, joins(eve, 0))
	again.Posts = []match.OutboxPost{says("p2", match.Show)}
	d.conflict(d.CommitContest(d.ctx(), again))
}

// Organisers are to be told of posts of an event, or of its running games, that are parked, and no
// more than once until nothing is parked or tried again.
func silences(d *fixture) {
	c := d.commits(d.opens("e-1", garden))
	d.commits(d.opens("e-2", garden)) // which waits for nothing
	m := d.open("g1", garden, func(m *match.Match) { m.Fixture = match.Fixture{Event: "e-1", Round: 1, Table: 1} })
	friendly := d.open("g2", garden)
	says := func(id, kind string, change ...func(*match.OutboxPost)) {
		step := d.writes(c, bob, joins(bob, 0))
		step.Posts = []match.OutboxPost{{ID: id, Game: "e-1", Where: garden, Kind: kind, Seq: step.Contest.Seq}}
		for _, f := range change {
			f(&step.Posts[0])
		}
		c = d.commits(step)
	}
	silent := func(when string, want ...contest.ID) {
		d.Helper()
		all, err := d.Silences(d.ctx())
		d.must(err)
		ids := []contest.ID{}
		for _, s := range all {
			if ids = append(ids, s.Event); s.Where != garden || s.Why != "not permitted: send messages" {
				d.Errorf("%s: %+v", when, s)
			}
		}
		d.same("silent "+when, ids, append([]contest.ID{}, want...))
	}
	tell := func() {
		d.Helper()
		d.must(d.Commit(d.ctx(), &match.Step{Request: contest.SilencedRequest + "e-1", At: d.now, Where: garden}))
	}
	unpark := func() {
		d.Helper()
		_, err := d.Unpark(d.ctx(), garden, d.now, true)
		d.must(err)
	}

	silent("at first")
	d.play(friendly, post("f1", match.Show, friendly))
	d.park(garden, "")
	silent("where a game of no event is")
	d.play(m, post("r1", match.Status, m))
	says("n1", match.Notice, func(o *match.OutboxPost) { o.Private, o.Notify = true, []match.PersonID{ada} })
	d.park(garden, "")
	silent("of what would be late")
	d.play(m, post("s1", match.Show, m), post("s2", match.Show, m))
	_, _, err := d.Park(d.ctx(), garden, m.ID, "in the thread: not permitted: send messages in threads")
	d.must(err)
	says("e1", match.Sheet)
	d.park(garden, "")
	silent("of the event and its game", "e-1")
	silent("until they are told", "e-1")
	tell()
	silent("when they are told")
	d.pass(40 * day)
	d.prune()
	silent("when that is long ago")

	unpark()
	silent("when all is tried")
	for _, o := range d.waits() {
		if o.ID == "s1" || o.ID == "e1" { // the first of the lanes
			o.Tried = true
			d.must(d.Change(d.ctx(), o, outbox.Waiting, ""))
		}
	}
	silent("while all is tried")
	d.settle("e1", "f1")
	d.park(garden, "")
	silent("as long as one of both waits")
	unpark()
	for _, o := range d.waits() {
		if o.Tried = false; o.ID == "s1" {
			o.Attempt++
			d.must(d.Change(d.ctx(), o, outbox.Waiting, "not permitted: send messages"))
		}
	}
	silent("when that was refused, and is parked next")
	d.park(garden, "")
	silent("then")
	unpark()
	d.drain()
	silent("when all is shown")
	d.play(m, post("s3", match.Show, m))
	d.park(garden, m.ID)
	silent("the next time", "e-1")
	alone := post("n2", match.Notice, m)
	alone.Private, alone.Notify = true, []match.PersonID{ada}
	d.play(m, alone, post("s4", match.Show, m))
	d.settle("n2")
	d.must(d.Settle(d.ctx(), "s4", "", nil, outbox.Decorations{}, nil)) // out of date, so it was not sent
	silent("when nothing newer is shown there", "e-1")
	d.play(m, post("s5", match.Show, m))
	d.settle("s5")
	silent("when something newer is shown")
	d.play(m, post("s6", match.Show, m))
	d.park(garden, m.ID)
	silent("before the game is over", "e-1")
	m.Standing.State = match.Ended
	d.play(m)
	silent("when the game is over")
	says("e3", match.Sheet)
	d.park(garden, "")
	silent("before the event is called off", "e-1")
	d.commits(d.writes(c, "", contest.Body{Kind: "cancel"}))
	silent("when the event is called off")
}

// Of somebody who is erased ranks and drafts go, and the events that they are in. What happened
// stays, by an id that refers to nobody.
func erasedFromContests(d *fixture) {
	who := outbox.User{Platform: "web", ID: "name:kim", Name: "Kim"}
	kim := d.person(who)
	c := d.commits(d.opens("e-1", garden))
	c = d.commits(d.writes(c, kim, joins(kim, -12), joins(bob, 3)))
	d.commits(d.writes(c, ada, contest.Body{Kind: "replace", Player: 2, Person: kim, Rank: new(int)}, contest.Body{Kind: "organiser", Person: kim}))
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Draft: &match.Draft{Person: kim, Where: garden, Text: "{}", At: d.now}}))
	for range 2 {
		d.must(d.Erase(d.ctx(), bot.Forgetting{Person: kim, Who: who}))
	}
	_, log, err := d.Contest(d.ctx(), "e-1")
	d.must(err)
	ranked := []match.PersonID{}
	for _, e := range log {
		if e.Body.Rank != nil {
			ranked = append(ranked, e.Body.Person)
		}
	}
	d.same("ranks", ranked, []match.PersonID{bob})
	d.same("lines", len(log), 5)
	draft, err := d.Draft(d.ctx(), kim, garden, d.now)
	d.must(err)
	d.same("draft", draft, "")
	d.same("in", d.heads(d.ContestsOf(d.ctx(), kim)), []string{})
	c = d.contest("e-1")
	d.same("players", []match.PersonID{c.Players[0].Person, c.Players[1].Person, c.Players[1].Before[0]}, []match.PersonID{kim, kim, bob})
	d.commits(d.writes(c, ada, contest.Body{Kind: "cancel"}))
	d.same("in, after another line", d.heads(d.ContestsOf(d.ctx(), kim)), []string{})
	d.same("in, others", d.heads(d.ContestsOf(d.ctx(), ada)), []string{"e-1"})
}

// All messages of an event are known until it is over, and then the first and the last. Drafts
// go after a day.
func prunedContests(d *fixture) {
	kim := d.person(outbox.User{Platform: "web", ID: "name:kim", Name: "Kim"})
	c := d.commits(d.opens("e-1", garden))
	for i := range 3 {
		step := d.writes(c, "", joins(match.PersonID(fmt.Sprint("p", i)), 0))
		step.Posts = []match.OutboxPost{{ID: fmt.Sprint(i), Game: "e-1", Where: garden, Kind: match.Notice, Seq: c.Seq}}
		c = d.commits(step)
		d.drain()
	}
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Draft: &match.Draft{Person: kim, Where: garden, Text: "{}", At: d.now}}))
	d.pass(day)
	d.prune()
	d.same("who has a draft", len(d.people(kim)), 1)
	d.pass(time.Millisecond)
	d.prune()
	d.same("who had one", len(d.people(kim)), 0)
	known := func() (posts []int) {
		for i := range 3 {
			switch _, err := d.GameUnder(d.ctx(), "web", outbox.Receipt(fmt.Sprint("receipt of ", i))); {
			case err == nil:
				posts = append(posts, i)
			case !errors.Is(err, bot.ErrNotFound):
				d.must(err)
			}
		}
		return posts
	}
	d.pass(2 * month)
	d.prune()
	d.same("messages of a running event", known(), []int{0, 1, 2})
	d.commits(d.writes(c, ada, contest.Body{Kind: "cancel"}))
	d.pass(2 * month)
	d.prune()
	d.same("messages of one that is over", known(), []int{0, 2})
	d.same("the event", d.contest("e-1").State, contest.Cancelled)
}

func newestSeqs(d *fixture) {
	c := d.commits(d.opens("e-1", garden))
	of := func(event match.GameID) func(*match.Match) {
		return func(m *match.Match) { m.Fixture = match.Fixture{Event: event, Round: 1, Table: 1} }
	}
	one := d.open("1", garden)
	two := d.open("2", garden, of("e-1"))
	d.open("3", garden, of("e-2"))
	ids := []match.GameID{"1", "2", "e-1", "gone"}
	look := func() map[match.GameID]int {
		d.Helper()
		seqs, err := d.Seqs(d.ctx(), ids)
		d.must(err)
		return seqs
	}
	d.same("at first", look(), map[match.GameID]int{"1": 0, "2": 0, "e-1": 1})
	d.play(one)
	d.play(two)
	d.play(two)
	d.commits(d.writes(c, ada, contest.Body{Kind: "join", Person: bob}))
	d.same("after turns", look(), map[match.GameID]int{"1": 1, "2": 2, "e-1": 4})
}
