package web

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// A judge holds what the members of a club were told against what they were
// promised.
type judge struct {
	c       *club
	pings   map[string][]ping    // by name
	visible map[int64]message    // reminders that stand in the transcript
	until   map[string]time.Time // by game, the deadline that was last said,
	saidAt  map[string]time.Time // and when
	boards  map[string][]moment  // by game
	records map[string]int       // by game, how often its file was posted
	posts   map[string]int       // by kind
	gone    map[int64]bool       // messages that were taken away
	flags   int
}

// A ping is somebody being called.
type ping struct {
	at    time.Time
	kind  string
	game  string // what it is about,
	named []int  // and the games that it names
}

// A moment is a board as it was shown.
type moment struct {
	at       time.Time
	settling bool
	waits    []string // names
}

const (
	noSooner = 20 * time.Minute // nobody is called twice about the same within this
	slack    = 2 * time.Minute
)

func newJudge(c *club) *judge {
	return &judge{c: c, pings: map[string][]ping{}, visible: map[int64]message{}, until: map[string]time.Time{}, saidAt: map[string]time.Time{},
		boards: map[string][]moment{}, records: map[string]int{}, posts: map[string]int{}, gone: map[int64]bool{}}
}

// wrong says what is wrong, and when.
func (j *judge) wrong(format string, args ...any) {
	j.c.t.Helper()
	j.c.line("!!! "+format, args...)
	j.c.t.Errorf("%s: %s", j.c.now.UTC().Format("Mon 2 Jan 15:04:05"), fmt.Sprintf(format, args...))
}

// chosen returns how somebody wants to be reminded.
func (j *judge) chosen(name string) match.Preferences {
	i := slices.IndexFunc(j.c.members, func(p *member) bool { return p.name == name })
	id := j.c.person(j.c.members[i])
	_, all, err := j.c.store.Players(j.c.t.Context(), []match.PersonID{id})
	if err != nil {
		j.c.t.Fatal(err)
	}
	return all[id]
}

// match returns a match with its events, and the names of those for whom it waits.
func (j *judge) match(id string) (m match.Match, events []match.Event, waits []string) {
	m, events, err := j.c.store.Match(j.c.t.Context(), match.GameID(id))
	if err != nil {
		j.c.t.Fatal(err)
	}
	switch {
	case m.State != match.Going || m.ToMove == "":
	case undecided(j.c.t, m, events):
		waits = append(waits, j.c.name(m.Black), j.c.name(m.White))
	default:
		waits = append(waits, j.c.name(m.ToMove))
	}
	return m, events, waits
}

// undecided reports whether play has stopped and neither player has accepted the count:
// an acceptance may also be one that a trial has given back.
func undecided(t *testing.T, m match.Match, events []match.Event) bool {
	p, err := match.Fold(m, events)
	if err != nil {
		t.Fatal(err)
	}
	g := p.Game
	return g.Phase() == rules.Settling && !g.HasAgreed(rules.Black) && !g.HasAgreed(rules.White)
}

func (c *club) name(id match.PersonID) string {
	who, err := c.store.People(c.t.Context(), []match.PersonID{id})
	if err != nil {
		c.t.Fatal(err)
	}
	return who[id].Name
}

func numbers(text string) (all []int) {
	for _, found := range gameNumber.FindAllStringSubmatch(text, -1) {
		all = append(all, number(message{Text: found[0]}))
	}
	return all
}

// heard judges a message of the bot.
func (j *judge) heard(m message) {
	j.posts[m.Kind]++
	now := j.c.now
	if !m.At.Equal(now.Truncate(time.Millisecond)) {
		j.wrong("message %d is of %v", m.N, m.At)
	}
	for _, n := range m.Replaces {
		if _, ok := j.visible[n]; !ok && !j.unread(n) {
			j.wrong("message %d takes the place of %d, which is no reminder that stands", m.N, n)
		}
		j.gone[n] = true
		delete(j.visible, n)
	}
	if m.Removed {
		return
	}
	var times []part
	for _, p := range m.Parts {
		if p.Time != nil {
			times = append(times, p)
			if !m.Private && !strings.HasSuffix(p.Text, " UTC") {
				j.wrong("message %d tells everybody of %q", m.N, p.Text)
			}
		}
	}
	if m.Kind == match.Status {
		j.reminded(m)
	}
	for _, name := range m.To {
		j.pings[name] = append(j.pings[name], ping{now, m.Kind, m.Game, numbers(m.Text)})
	}
	switch {
	case m.Kind == match.Status && len(times) > 0:
		j.until[m.Game] = *times[0].Time
	case len(times) > 0:
		j.until[m.Game] = *times[len(times)-1].Time
	case m.Kind == match.Show:
		if game, _, _ := j.match(m.Game); game.State == match.Going {
			j.until[m.Game] = time.Time{} // the clocks stand
		}
	}
	if len(times) > 0 {
		j.saidAt[m.Game] = now
	}
	if m.File != nil {
		j.record(m)
	}
	if m.Kind == match.Notice && m.Game != "" { // somebody has accepted, and no board says so
		if game, events, waits := j.match(m.Game); game.State == match.Going && accepted(events) {
			j.boards[m.Game] = append(j.boards[m.Game], moment{now, true, waits})
		}
	}
	if m.Kind == match.Show {
		game, _, waits := j.match(m.Game)
		for n, old := range j.visible {
			if old.Game == m.Game && !old.Private && !slices.ContainsFunc(waits, func(name string) bool { return slices.Contains(old.To, name) }) {
				j.wrong("game %d has gone on, and reminder %d still stands", game.Number, n)
			}
		}
		_, settling := button(m, "resume")
		j.boards[m.Game] = append(j.boards[m.Game], moment{now, settling, waits})
	}
}

// unread reports whether a message is for one alone, whose page has not been read
// yet.
func (j *judge) unread(n int64) bool {
	return slices.ContainsFunc(j.c.members, func(p *member) bool {
		ms, err := j.c.store.Since(j.c.t.Context(), privateRoom(p.user()), n-1, 100)
		return err == nil && len(ms) > 0 && ms[0].N == n
	})
}

// reminded judges a reminder.
func (j *judge) reminded(m message) {
	now := j.c.now
	if !j.gone[m.N] {
		j.visible[m.N] = m
	}
	game, events, waits := j.match(m.Game)
	if game.State != match.Going || !slices.ContainsFunc(waits, func(name string) bool { return slices.Contains(m.To, name) }) {
		j.wrong("%v are reminded of game %d, which waits for %v", m.To, game.Number, waits)
	}
	for _, name := range m.To {
		p := j.chosen(name)
		expected := j.expected(game, events, p)
		if !slices.ContainsFunc(expected, func(at time.Time) bool { return near(at, now) || j.back(at) }) {
			j.wrong("%s is reminded of game %d, which is due at %v", name, game.Number, expected)
		}
		if p.Remind == "none" || (p.Remind == "direct") != m.Private {
			j.wrong("%s is reminded although they chose %q (private: %v)", name, p.Remind, m.Private)
		}
		zone, _ := time.LoadLocation(p.Zone)
		if h := now.In(zone).Hour(); p.Quiet != (clock.Hours{}) && (h >= 22 || h < 8) && !j.back(now) {
			j.wrong("%s is reminded at %s", name, now.In(zone).Format("15:04"))
		}
		for _, last := range slices.Backward(j.pings[name]) {
			if now.Sub(last.at) >= noSooner {
				break
			}
			if last.game == m.Game && last.kind != match.Notice { // which asks for something else
				j.wrong("%s is called about game %d %v after they were", name, game.Number, now.Sub(last.at))
			} else if last.kind == match.Status && slices.Contains(last.named, game.Number) {
				j.wrong("%s is called about game %d %v after a reminder that named it", name, game.Number, now.Sub(last.at))
			}
		}
	}
}

// expected returns when reminders of the turn are due, as somebody has chosen.
func (j *judge) expected(m match.Match, events []match.Event, p match.Preferences) (at []time.Time) {
	r, err := clocksAt(m, events, j.c.now)
	if err != nil {
		j.c.t.Fatal(err)
	}
	zone, _ := time.LoadLocation(p.Zone)
	if !r.Deadline.IsZero() {
		return clock.Reminders(r, p.Quiet, zone)
	}
	for _, days := range []int{1, 3, 4, 10} {
		t := m.Changed.Add(time.Duration(days) * 24 * time.Hour)
		for local := t.In(zone); p.Quiet != (clock.Hours{}) && (local.Hour() >= 22 || local.Hour() < 8); local = t.In(zone) {
			t = t.Truncate(time.Minute).Add(time.Minute)
		}
		at = append(at, t)
	}
	return at
}

func near(at, now time.Time) bool { return now.Sub(at).Abs() <= slack }

// back reports whether the bot has just come back from being away at a time.
func (j *judge) back(at time.Time) bool {
	return slices.ContainsFunc(j.c.outages, func(s stretch) bool {
		return !at.Before(s.from.Add(-slack)) && !at.After(s.to.Add(slack)) && near(s.to, j.c.now)
	})
}

// answered judges what somebody was told.
func (j *judge) answered(p *member, s submission, a answer) {
	if a.Message == nil {
		return
	}
	for _, fault := range []string{"Something went wrong", "Too many things", "does not replay", "event "} {
		if strings.Contains(a.Message.Text, fault) {
			j.wrong("%s is told %q on %q %s", p.name, a.Message.Text, s.Text, s.Command)
		}
	}
	if strings.Contains(a.Message.Text, "\x03") || strings.Contains(a.Message.Text, "{0}") {
		j.wrong("%s reads %q", p.name, a.Message.Text)
	}
}

// record judges the record that comes with a result.
func (j *judge) record(m message) {
	j.records[m.Game]++
	resp, body := do(j.c.t, "GET", j.c.url+m.File.URL, "")
	game, _, _ := j.match(m.Game)
	r, err := sgf.Read(bytes.NewReader([]byte(body)))
	switch {
	case resp.StatusCode != 200 || err != nil:
		j.wrong("the record of game %d: %s, %v", game.Number, resp.Status, err)
	case !strings.Contains(body, "RE["+game.Result+"]"):
		j.wrong("game %d ended with %q, and its record is %.200q %v", game.Number, game.Result, body, r)
	}
}

// look judges what stands in the transcript when all of it has been read.
func (j *judge) look() {
	for n, old := range j.visible {
		if !old.Private {
			continue
		}
		game, _, waits := j.match(old.Game)
		if !slices.ContainsFunc(waits, func(name string) bool { return slices.Contains(old.To, name) }) {
			j.wrong("game %d has gone on, and reminder %d to %v still stands", game.Number, n, old.To)
			delete(j.visible, n)
		}
	}
}

// sum judges all that happened.
func (j *judge) sum() {
	c := j.c
	st := c.store
	states := map[match.State]int{}
	ms, err := st.Matches(c.t.Context(), bot.Query{Limit: 1000})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, m := range ms {
		states[m.State]++
		id := string(m.ID)
		_, events, _ := j.match(id)
		if want := map[bool]int{true: 1}[m.State == match.Ended]; j.records[id] != want {
			j.wrong("game %d is %s with %q, and its record was posted %d times", m.Number, m.State, m.Result, j.records[id])
		}
		if m.State == match.Open && c.now.Sub(m.Opened) > 7*24*time.Hour+time.Hour {
			j.wrong("game %d has been open since %v", m.Number, m.Opened)
		}
		for i, e := range events {
			if strings.HasPrefix(e.Body.String(), "flag ") {
				j.flags++
				j.flag(m, events[:i], e)
			}
		}
		j.hangs(m, events)
	}
	c.t.Logf("%d submissions; games %v, %d flags; messages %v; away %d times", c.asked, states, j.flags, j.posts, len(c.outages))
}

// flag judges that somebody lost by time when the last message said so, and after the
// reminders that they had chosen.
func (j *judge) flag(m match.Match, events []match.Event, e match.Event) {
	r, err := clocksAt(m, events, e.At)
	if err != nil {
		j.c.t.Fatal(err)
	}
	if r.Flagged.Letter() != strings.TrimPrefix(e.Body.String(), "flag ") {
		j.wrong("game %d: %q at %v, and the deadline is %v", m.Number, e.Body, e.At, r.Deadline)
		return
	}
	// A restart of less than two minutes is credited without a word.
	var credited time.Duration
	for _, s := range j.c.outages {
		if d := s.to.Sub(s.from); d < 2*time.Minute && !s.from.Before(j.saidAt[string(m.ID)]) && s.from.Before(r.Deadline) {
			credited += d
		}
	}
	if said := j.until[string(m.ID)]; r.Deadline.Before(said) || r.Deadline.After(said.Add(credited)) {
		j.wrong("game %d was lost at %v, and the deadline that was said is %v", m.Number, r.Deadline, said)
	}
	loser := m.Black
	if r.Flagged.Letter() == "W" {
		loser = m.White
	}
	name := j.c.name(loser)
	p := j.chosen(name)
	if p.Remind == "none" {
		return
	}
	before, err := clocksAt(m, events, r.Began) // when no flag had fallen
	if err != nil {
		j.c.t.Fatal(err)
	}
	zone, _ := time.LoadLocation(p.Zone)
	for _, at := range clock.Reminders(before, p.Quiet, zone) {
		if pausedAt(events, at) || j.missed(at, p) { // then nobody is reminded, though quiet hours may end in it
			continue
		}
		told := slices.ContainsFunc(j.pings[name], func(p ping) bool {
			if p.kind != match.Status || !slices.Contains(p.named, m.Number) {
				return false
			}
			late := p.at.Sub(at)
			for _, s := range j.c.outages {
				if s.has(at) { // then the next must do
					return p.at.After(s.to)
				}
			}
			return late <= slack && late >= -30*time.Minute
		})
		if !told {
			j.wrong("%s lost game %d at %v without the reminder of %v", name, m.Number, r.Deadline, at)
		}
	}
}

// pausedAt reports whether the players had agreed on a pause at a time.
func pausedAt(events []match.Event, at time.Time) (paused bool) {
	for _, e := range events {
		if e.At.After(at) {
			break
		}
		if e.Body.String() == "pause" || e.Body.String() == "unpause" {
			paused = e.Body.String() == "pause"
		}
	}
	return paused
}

// missed reports whether the bot was away at a time, and when it came back it was
// night for somebody.
func (j *judge) missed(at time.Time, p match.Preferences) bool {
	zone, _ := time.LoadLocation(p.Zone)
	return slices.ContainsFunc(j.c.outages, func(s stretch) bool {
		h := s.to.In(zone).Hour()
		return s.has(at) && p.Quiet != (clock.Hours{}) && (h >= 22 || h < 8)
	})
}

// hangs judges that a game in which nothing runs out was not forgotten: those for
// whom it waited were told.
func (j *judge) hangs(m match.Match, events []match.Event) {
	boards := j.boards[string(m.ID)]
	for i, e := range events {
		from, to := e.At, j.c.now
		if i+1 < len(events) {
			to = events[i+1].At
		} else if m.State != match.Going {
			break
		}
		n := len(boards) - 1
		for n >= 0 && boards[n].at.After(from) {
			n--
		}
		if n < 0 || len(boards[n].waits) == 0 || pausedAt(events, from) {
			continue
		}
		b := boards[n]
		patience := 24 * time.Hour // of a count
		switch {
		case b.settling:
		case m.Clock.Kind != clock.None:
			continue
		default:
			patience = 3 * 24 * time.Hour
		}
		patience += 11 * time.Hour // of the night
		for _, s := range j.c.outages {
			if s.from.After(from) && s.from.Before(from.Add(patience)) {
				patience += s.to.Sub(s.from)
			}
		}
		if to.Sub(from) <= patience {
			continue
		}
		for _, name := range b.waits {
			if j.chosen(name).Remind != "none" && !slices.ContainsFunc(j.pings[name], func(p ping) bool {
				return p.kind == match.Status && p.at.After(from) && p.at.Before(from.Add(patience)) && slices.Contains(p.named, m.Number)
			}) {
				j.wrong("game %d waited for %v from %v to %v (settling: %v), and %s was not told", m.Number, b.waits, from, to, b.settling, name)
			}
		}
	}
}

// clocksAt reads the clocks of a match after its events.
func clocksAt(m match.Match, events []match.Event, now time.Time) (clock.Reading, error) {
	p, err := match.Fold(m, events)
	if err != nil {
		return clock.Reading{}, err
	}
	return p.Reading(now), nil
}
