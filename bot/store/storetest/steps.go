package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// same compares what came back with what is wanted.
func (d *fixture) same(what string, got, want any) {
	d.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// logOf returns the bodies of a match's events.
func (d *fixture) logOf(id match.GameID) []string {
	d.Helper()
	_, events, err := d.Match(d.ctx(), id)
	d.must(err)
	log := []string{}
	for _, e := range events {
		log = append(log, e.Body.String())
	}
	return log
}

// conflict checks that err says that something else came first.
func (d *fixture) conflict(err error) {
	d.Helper()
	if !errors.Is(err, bot.ErrConflict) {
		d.Errorf("error is %v, want %v", err, bot.ErrConflict)
	}
}

func stepReadBack(d *fixture) {
	m := &match.Match{
		ID: "g1", Rules: "japanese@1", Rated: true,
		Clock: clock.Control{Kind: clock.Fischer, Main: 7 * day, Increment: day, Cap: 14 * day, Weekends: true,
			Night: clock.Hours{From: 23 * 60, To: 7 * 60}, Vacation: 20, Claim: true},
		Setup: rules.Setup{W: 19, H: 13, Komi: -1, Handicap: 2, First: rules.White,
			Black: []rules.Point{{X: 3, Y: 3}, {X: 15, Y: 9}}, White: []rules.Point{{X: 18, Y: 12}}},
		Opener: ada, Invited: bob, Where: match.Room{Platform: "discord", Channel: "c", Thread: "t"}, Opened: d.now,
		Standing: match.Standing{State: match.Ended, Black: bob, White: ada, ToMove: bob, Seq: 2, Result: "B+2.5",
			Changed: d.now.Add(1234 * time.Millisecond), Deadline: d.now.Add(day), Head: "head"},
	}
	events := []match.Event{
		{Seq: 1, At: d.now, By: bob, Body: match.ParseBody("join B bob")},
		{Seq: 2, At: d.now.Add(time.Millisecond), By: ada, Body: match.ParseBody("turn W place D4"), Proof: "00ff00ff00ff00ff"},
	}
	answer := match.Reply{
		Texts:    []bot.Text{text.Say("started", text.Somebody(string(ada)), "<&>\u202e", 12), text.Say("good luck")},
		Private:  true,
		Controls: []match.Control{{Label: "Pass", Command: "pass", Args: map[string]string{"seq": "2"}}, {Label: "Resign", Command: "resign", Ask: "confirm"}},
		Game:     "g1",
	}
	d.must(d.Commit(d.ctx(), &match.Step{Request: "discord:1", At: d.now, Answer: answer, Match: m, New: true, Events: events}))
	if m.Number != 1 {
		d.Errorf("the first match of a channel has number %d", m.Number)
	}

	gotMatch, gotEvents, err := d.Match(d.ctx(), "g1")
	d.must(err)
	d.same("match", gotMatch, *m)
	d.same("events", gotEvents, events)
	header, err := d.Header(d.ctx(), "g1")
	d.must(err)
	d.same("header", header, *m)
	for after := range 3 {
		for to := after; to < 3; to++ {
			some, err := d.Events(d.ctx(), "g1", after, to)
			d.must(err)
			d.same(fmt.Sprintf("events after %d to %d", after, to), append([]match.Event{}, some...), append([]match.Event{}, events[after:to]...))
		}
	}
	if some, err := d.Events(d.ctx(), "g1", 1, 3); err == nil {
		d.Errorf("events that are not there: %v", some)
	}
	gotAnswer, ok, err := d.Answered(d.ctx(), "discord:1")
	d.must(err)
	d.same("answered", ok, true)
	d.same("answer", gotAnswer, answer)
}

func refusal(d *fixture) {
	answer := match.Reply{Texts: []bot.Text{{Key: "the point is not empty"}}, Private: true}
	d.must(d.Commit(d.ctx(), &match.Step{Request: "web:1", At: d.now, Answer: answer}))
	got, ok, err := d.Answered(d.ctx(), "web:1")
	d.must(err)
	d.same("answered", ok, true)
	d.same("answer", got, answer)

	_, ok, err = d.Answered(d.ctx(), "web:2")
	d.must(err)
	d.same("answered what was never asked", ok, false)
	matches := d.find(bot.Query{})
	d.same("matches", len(matches), 0)
	d.same("posts", d.waiting(), []string{})
}

func requestTwice(d *fixture) {
	m := d.open("g1", garden)
	first := d.turn(m, post("p1", match.Notice, m))
	first.Answer.Texts = []bot.Text{{Key: "first"}}
	d.must(d.Commit(d.ctx(), first))

	again := d.turn(first.Match, post("p2", match.Notice, m))
	again.Request = first.Request
	again.Answer.Texts = []bot.Text{{Key: "second"}}
	d.conflict(d.Commit(d.ctx(), again))

	answer, _, err := d.Answered(d.ctx(), first.Request)
	d.must(err)
	d.same("answer", answer, first.Answer)
	d.same("log", d.logOf("g1"), []string{"turn B 1"})
	d.same("posts", d.drain(), []string{"p1"})

	refused := &match.Step{Request: first.Request, At: d.now}
	d.conflict(d.Commit(d.ctx(), refused))
}

func nothingOfAFailedStep(d *fixture) {
	someone := d.person(outbox.User{Platform: "web", ID: "1", Name: "Ada"})
	m := d.open("g1", garden)
	stale := d.turn(m)
	flag := d.due(m, "flag", day)
	first := d.turn(m, post("p1", match.Notice, m))
	first.Due = []match.Due{flag}
	d.must(d.Commit(d.ctx(), first))
	m = first.Match
	twin := d.fresh("g1", cellar)
	for what, step := range map[string]*match.Step{
		"a post is there already": d.turn(m, post("p2", match.Notice, m), post("p1", match.Notice, m)),
		"it comes too late":       stale,
		"its id is taken":         {Request: d.request(), At: d.now, Match: twin, New: true},
	} {
		step.Due = []match.Due{d.due(m, "remind", time.Hour)}
		step.Prefs, step.Room = &match.Preferences{Person: someone, Remind: "none"}, &match.RoomSettings{Room: garden, Size: "9x9"}
		step.Typed = &match.Typed{Room: "hall", At: d.now, By: "seat:black", Text: "/place D4"}
		d.conflict(d.Commit(d.ctx(), step))
		_, ok, err := d.Answered(d.ctx(), step.Request)
		d.must(err)
		prefs := d.preferences(someone)
		room, _ := d.room(garden)
		d.same(what+": answered", ok, false)
		d.same(what+": log", d.logOf("g1"), []string{"turn B 1"})
		d.same(what+": due", d.dueIn(100*day), []match.Due{flag})
		d.same(what+": preferences", prefs, match.Preferences{Person: someone})
		d.same(what+": settings", room, match.RoomSettings{Room: garden})
		d.same(what+": heard", d.heard("hall", 0, 10), []string{})
	}
	d.same("posts", d.drain(), []string{"p1"})
	d.same("number of a match that was not stored", twin.Number, 0)
	d.play(m)
	other := d.open("g2", cellar)
	d.same("number of the next that was", other.Number, 1)
}

func stepsMustFit(d *fixture) {
	m := d.open("g1", garden)
	d.open("g2", garden)
	flag := d.due(m, "flag", day)
	for name, spoil := range map[string]func(*match.Step){
		"due of another match":       func(s *match.Step) { s.Due[0].Game = "g2" },
		"due of no match":            func(s *match.Step) { s.Match, s.Events = nil, nil },
		"due of no kind":             func(s *match.Step) { s.Due[0].Kind = "" },
		"due at no time":             func(s *match.Step) { s.Due[0].At = time.Time{} },
		"due twice":                  func(s *match.Step) { s.Due = append(s.Due, flag) },
		"due twice within a ms":      func(s *match.Step) { s.Due = append(s.Due, d.due(m, "flag", day-time.Microsecond)) },
		"a hole":                     func(s *match.Step) { s.Events[0].Seq++ },
		"an event again":             func(s *match.Step) { s.Events[0].Seq-- },
		"a match ahead of its log":   func(s *match.Step) { s.Match.Seq++ },
		"events of no match":         func(s *match.Step) { s.Match = nil },
		"a new match in its middle":  func(s *match.Step) { s.New, s.Match.Seq, s.Events[0].Seq = true, 5, 5 },
		"a step that nobody asked":   func(s *match.Step) { s.Request = "" },
		"two events with one number": func(s *match.Step) { s.Events = append(s.Events, s.Events[0]) },
	} {
		step := d.turn(m)
		step.Due = []match.Due{flag}
		spoil(step)
		if err := d.Commit(d.ctx(), step); err == nil || errors.Is(err, bot.ErrConflict) {
			d.Errorf("%s: error is %v; this is no conflict but a fault", name, err)
		}
	}
	ahead := d.turn(m)
	ahead.Match.Seq, ahead.Events[0].Seq = 2, 2 // sound, but the log is not there yet
	d.conflict(d.Commit(d.ctx(), ahead))
	absent := d.turn(d.fresh("g9", garden))
	d.conflict(d.Commit(d.ctx(), absent))
	d.same("due", d.dueIn(100*day), []match.Due(nil))
	d.same("log", d.logOf("g1"), []string{})
}

func givenUp(d *fixture) {
	m := d.open("g1", garden)
	ctx, cancel := context.WithCancel(d.ctx())
	cancel()
	if err := d.Commit(ctx, d.turn(m)); !errors.Is(err, context.Canceled) {
		d.Errorf("error is %v, want %v", err, context.Canceled)
	}
	d.same("log", d.logOf("g1"), []string{})
	d.play(m)
}

func racingSteps(d *fixture) {
	m := d.open("g1", garden)
	const rounds, players = 20, 8
	for range rounds {
		var steps []*match.Step
		for range players {
			steps = append(steps, d.turn(m))
		}
		won := 0
		for i, err := range atOnce(players, func(i int) error { return d.Commit(d.ctx(), steps[i]) }) {
			if err == nil {
				won++
				*m = *steps[i].Match
				continue
			}
			d.conflict(err)
		}
		d.same("steps taken", won, 1)
	}
	d.same("events", len(d.logOf("g1")), rounds)
}

// atOnce does f(0) to f(n-1) at the same time and returns their errors.
func atOnce(n int, f func(int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func noMatch(d *fixture) {
	if _, err := d.Header(d.ctx(), "none"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("header: error is %v, want %v", err, bot.ErrNotFound)
	}
	if _, _, err := d.Match(d.ctx(), "g1"); !errors.Is(err, bot.ErrNotFound) {
		d.Errorf("error is %v, want %v", err, bot.ErrNotFound)
	}
}

func numbers(d *fixture) {
	thread := garden
	thread.Thread = "t"
	elsewhere := garden
	elsewhere.Platform = "matrix"
	for i, c := range []struct {
		where match.Room
		want  int
	}{{garden, 1}, {thread, 2}, {cellar, 1}, {elsewhere, 1}, {garden, 3}} {
		m := d.open(match.GameID(fmt.Sprintf("g%d", i)), c.where)
		d.same(fmt.Sprintf("number of match %d", i), m.Number, c.want)
		stored := d.read(m.ID)
		d.same("number stored", stored.Number, c.want)
	}
}

func racingNumbers(d *fixture) {
	const n = 24
	var got []int
	var matches []*match.Match
	for i := range n {
		matches = append(matches, d.fresh(match.GameID(fmt.Sprintf("g%d", i)), garden))
	}
	for _, err := range atOnce(n, func(i int) error {
		for {
			err := d.Commit(d.ctx(), &match.Step{Request: fmt.Sprint("web:", i), At: d.now, Match: matches[i], New: true})
			if !errors.Is(err, bot.ErrConflict) {
				return err
			}
		}
	}) {
		d.must(err)
	}
	for _, m := range matches {
		got = append(got, m.Number)
	}
	slices.Sort(got)
	for i, number := range got {
		d.same("number", number, i+1)
	}
}

func findMatches(d *fixture) {
	thread := match.Room{Platform: "web", Channel: "garden", Thread: "t"}
	state := func(s match.State) func(*match.Match) { return func(m *match.Match) { m.State = s } }
	seats := func(opener, black, white match.PersonID) func(*match.Match) {
		return func(m *match.Match) { m.Opener, m.Black, m.White = opener, black, white }
	}
	d.open("1", garden, seats(ada, ada, bob))
	d.open("2", thread, seats(ada, eve, bob))
	d.open("3", garden, seats(eve, "", ""), state(match.Open))
	d.open("4", cellar, seats(bob, bob, eve), state(match.Ended))
	d.open("5", garden, seats(bob, bob, ada), state(match.Cancelled))

	for _, c := range []struct {
		name  string
		query bot.Query
		want  []string
	}{
		{"all", bot.Query{}, []string{"1", "2", "3", "4", "5"}},
		{"a channel with its threads", bot.Query{Where: garden}, []string{"1", "2", "3", "5"}},
		{"a thread", bot.Query{Where: thread}, []string{"2"}},
		{"another channel", bot.Query{Where: cellar}, []string{"4"}},
		{"nowhere", bot.Query{Where: match.Room{Platform: "matrix", Channel: "garden"}}, []string{}},
		{"black", bot.Query{Player: bob, States: []match.State{match.Ended}}, []string{"4"}},
		{"in any seat", bot.Query{Player: bob}, []string{"1", "2", "4", "5"}},
		{"opener", bot.Query{Player: eve}, []string{"2", "3", "4"}},
		{"nobody", bot.Query{Player: "nobody"}, []string{}},
		{"a state", bot.Query{States: []match.State{match.Going}}, []string{"1", "2"}},
		{"states", bot.Query{States: []match.State{match.Open, match.Ended}}, []string{"3", "4"}},
		{"mine here, going", bot.Query{Where: garden, Player: ada, States: []match.State{match.Going}}, []string{"1", "2"}},
		{"by number", bot.Query{Where: garden, Number: 3}, []string{"3"}},
		{"by number elsewhere", bot.Query{Where: cellar, Number: 3}, []string{}},
	} {
		matches := d.find(c.query)
		got := []string{}
		for _, m := range matches {
			got = append(got, string(m.ID))
		}
		slices.Sort(got)
		d.same(c.name, got, c.want)
	}

	// How a match stands changes what finds it.
	m := d.read("1")
	over := d.turn(&m)
	over.Match.State, over.Match.White, over.Match.Result = match.Ended, eve, "B+R"
	d.must(d.Commit(d.ctx(), over))
	for _, q := range []bot.Query{
		{Where: garden, States: []match.State{match.Ended}},
		{Where: garden, Player: eve, States: []match.State{match.Ended}},
	} {
		matches := d.find(q)
		d.same("after it ended", matches, []match.Match{*over.Match})
	}
	matches := d.find(bot.Query{Where: garden, Player: ada, States: []match.State{match.Going}})
	d.same("going on", len(matches), 1)
}

// changedStanding holds a storage to storing what has changed in a match, also when
// it is told how the match stood and may leave out the rest.
func changedStanding(d *fixture) {
	m := d.open("g1", garden)
	for i, change := range []func(*match.Match){
		func(m *match.Match) { m.ToMove = bob },
		func(m *match.Match) { m.Deadline = d.now.Add(day) },
		func(m *match.Match) { m.White = eve },
		func(m *match.Match) { m.Black = bob },
		func(m *match.Match) { m.Deadline = time.Time{} },
		func(m *match.Match) { m.State, m.Result = match.Ended, "B+2.5" },
	} {
		d.pass(time.Second)
		was := m.Standing
		step := d.turn(m)
		change(step.Match)
		step.Was = &was
		d.must(d.Commit(d.ctx(), step))
		m = step.Match
		read := d.read("g1")
		d.same(fmt.Sprint("match after change ", i), read, *m)
		for _, q := range []bot.Query{{Where: garden, States: []match.State{m.State}}, {Player: m.White}, {Player: m.Black}} {
			found, err := d.Matches(d.ctx(), q)
			d.must(err)
			d.same(fmt.Sprintf("matches after change %d by %v", i, q), found, []match.Match{*m})
		}
	}
}

func lastChangedFirst(d *fixture) {
	var matches []*match.Match
	for i := range 5 {
		matches = append(matches, d.open(match.GameID(fmt.Sprint(i)), garden))
		d.pass(time.Second)
	}
	d.play(matches[1])
	got, err := d.Matches(d.ctx(), bot.Query{Where: garden, Limit: 3})
	d.must(err)
	ids := []match.GameID{}
	for _, m := range got {
		ids = append(ids, m.ID)
	}
	d.same("matches", ids, []match.GameID{"1", "4", "3"})
}
