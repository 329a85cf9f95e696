package clock

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// clockTime26 reads "Mon 2 Nov 12:00" or "2 Jan 2027 12:00", UTC, of 2026 if no
// year is said. A weekday is checked.
func clockTime26(t testing.TB, words []string) time.Time {
	t.Helper()
	s := strings.Join(words, " ")
	for _, layout := range []string{"2 Jan 15:04", "2 Jan 15:04:05", "Mon 2 Jan 15:04", "2 Jan 2006 15:04", "Mon 2 Jan 2006 15:04"} {
		if at, err := time.Parse(layout, s); err == nil {
			if at.Year() == 0 {
				at = time.Date(2026, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
			}
			if strings.HasPrefix(layout, "Mon") && at.Weekday().String()[:3] != words[0] {
				t.Fatalf("%s is a %s", s, at.Weekday())
			}
			return at
		}
	}
	t.Fatalf("cannot read the time %q", s)
	return time.Time{}
}

// control is Parse for what must be right.
func control(t testing.TB, s string) Control {
	t.Helper()
	c, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var letters = map[string]rules.Color{"B": rules.Black, "W": rules.White, "-": rules.None}

// event reads "Mon 2 Nov 12:00 | B", what happened behind the bar:
//
//	start            Black is to play
//	B                a turn of Black, White to play
//	B B              a turn of Black, and again Black to play
//	B -              a turn of Black, and play stops
//	stop, resume W, pause, unpause
//	credit 1 Nov 12:00 to 2 Nov 12:00
//	right           the clock that timed the events before was ahead
//	undo 2, undo 2 agreed
func event(t testing.TB, seq int, s string) Event {
	t.Helper()
	at, what, _ := strings.Cut(s, "|")
	e := Event{Seq: seq, At: clockTime26(t, strings.Fields(at))}
	w := strings.Fields(what)
	switch w[0] {
	case "start":
		e.Kind, e.ToPlay = Start, rules.Black
	case "B", "W":
		e.Kind, e.By, e.ToPlay = Turn, letters[w[0]], letters[w[0]].Opponent()
		if len(w) > 1 {
			e.ToPlay = letters[w[1]]
		}
	case "stop":
		e.Kind = Stop
	case "resume":
		e.Kind, e.ToPlay = Resume, letters[w[1]]
	case "pause":
		e.Kind = Pause
	case "unpause":
		e.Kind = Unpause
	case "credit":
		e.Kind = Credit
		i := slices.Index(w, "to")
		e.From, e.To = clockTime26(t, w[1:i]), clockTime26(t, w[i+1:])
	case "right":
		e.Kind = Right
	case "undo":
		e.Kind, e.Agreed = Undo, len(w) > 2
		e.Back, _ = strconv.Atoi(w[1])
	default:
		t.Fatalf("cannot read %q", s)
	}
	return e
}

func english(m text.Message) string { return text.Fill(text.English.Say(m), text.Format{}) }

// shown writes a reading: "B 2 days, W 3 days, B until Fri 6 Nov 12:00 UTC".
func shown(c Control, r Reading) string {
	s := fmt.Sprintf("B %s, W %s, ", english(r.Black.Text(c)), english(r.White.Text(c)))
	deadline := english(InstantText(r.Deadline, r.At))
	switch {
	case r.Flagged != rules.None:
		return s + r.Flagged.Letter() + " fell " + deadline
	case r.ToPlay == rules.None:
		return s + "nobody"
	case r.Paused:
		return s + r.ToPlay.Letter() + " paused"
	case r.Deadline.IsZero():
		return s + r.ToPlay.Letter() + " for ever"
	}
	return s + r.ToPlay.Letter() + " until " + deadline
}

// TestReadings reads clocks off games. A line that begins with "?" reads the
// clock; what it shows comes after the bar. Events are numbered from 1. In 2026
// the clocks of Paris go forward on Sun 29 March 01:00 UTC, back on Sun 25
// October 01:00 UTC.
func TestReadings(t *testing.T) {
	for _, test := range []struct{ name, control, game string }{
		{"no clock", "none", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | B
			? Tue 3 Nov 2099 12:00 | B no clock, W no clock, W for ever`},

		{"days per turn", "3d", `
			? Mon 2 Nov 11:00 | B 3 days, W 3 days, nobody
			Mon 2 Nov 12:00 | start
			? Mon 2 Nov 12:00 | B 3 days, W 3 days, B until Thu 5 Nov 12:00 UTC
			? Tue 3 Nov 11:00 | B 2 days 1 hour, W 3 days, B until Thu 5 Nov 12:00 UTC
			Wed 4 Nov 12:00 | B
			? Wed 4 Nov 12:00 | B 3 days, W 3 days, W until Sat 7 Nov 12:00 UTC
			? Sat 7 Nov 11:59 | B 3 days, W 1 minute, W until Sat 7 Nov 12:00 UTC
			? Sat 7 Nov 12:00 | B 3 days, W out of time, W fell Sat 7 Nov 12:00 UTC
			? Sun 8 Nov 2099 12:00 | B 3 days, W out of time, W fell Sat 7 Nov 2026 12:00 UTC`},

		{"a clock that was a year ahead", "3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | B
			3 Nov 2027 12:00 | credit 4 Nov 2026 12:00 to 3 Nov 2027 12:00
			? 3 Nov 2027 12:00 | B 3 days, W 2 days, W until Fri 5 Nov 12:00 UTC
			4 Nov 2027 12:00 | W
			4 Nov 2027 12:00 | pause
			4 Nov 2027 12:00 | unpause
			Thu 5 Nov 12:00 | right
			? Thu 5 Nov 12:00 | B 3 days, W 3 days, B until Sun 8 Nov 12:00 UTC
			Fri 6 Nov 12:00 | B
			Fri 6 Nov 13:00 | undo 7
			? Sat 7 Nov 12:00 | B 1 day 1 hour, W 3 days, B until Sun 8 Nov 13:00 UTC`},

		{"what was credited before a clock was ahead stays", "3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | credit 2 Nov 12:00 to 3 Nov 12:00
			3 Nov 2027 12:00 | credit 3 Nov 12:00 to 3 Nov 2027 12:00
			Tue 3 Nov 12:00 | right
			Wed 4 Nov 12:00 | credit 3 Nov 12:00 to 4 Nov 12:00
			? Wed 4 Nov 12:00 | B 3 days, W 3 days, B until Sat 7 Nov 12:00 UTC`},

		{"a late turn does not save from a loss", "3d", `
			Mon 2 Nov 12:00 | start
			Fri 6 Nov 12:00 | B
			? Sat 7 Nov 12:00 | B out of time, W 3 days, B fell Thu 5 Nov 12:00 UTC
			Sat 7 Nov 13:00 | stop
			? Sat 7 Nov 14:00 | B out of time, W 3 days, B fell Thu 5 Nov 12:00 UTC`},

		{"but where the flag must be claimed it does", "3d claim", `
			Mon 2 Nov 12:00 | start
			? Fri 6 Nov 11:00 | B out of time, W 3 days, B fell Thu 5 Nov 12:00 UTC
			Fri 6 Nov 12:00 | B
			? Fri 6 Nov 12:00 | B 3 days, W 3 days, W until Mon 9 Nov 12:00 UTC`},

		{"a claimed flag stays", "3d claim", `
			Mon 2 Nov 12:00 | start
			Fri 6 Nov 12:00 | stop
			? Fri 6 Nov 12:00 | B out of time, W 3 days, B fell Thu 5 Nov 12:00 UTC`},

		{"Fischer: what is left is kept, up to the cap", "fischer 7d+1d max 10d", `
			Mon 2 Nov 12:00 | start
			Wed 4 Nov 12:00 | B
			? Wed 4 Nov 12:00 | B 6 days, W 7 days, W until Wed 11 Nov 12:00 UTC
			Wed 4 Nov 13:00 | W
			Wed 4 Nov 14:00 | B
			Wed 4 Nov 15:00 | W
			Wed 4 Nov 16:00 | B
			Wed 4 Nov 17:00 | W
			Wed 4 Nov 18:00 | B
			Wed 4 Nov 18:00 | W
			? Wed 4 Nov 18:00 | B 8 days 21 hours, W 10 days, B until Fri 13 Nov 15:00 UTC`},

		{"absolute time", "absolute 5d", `
			Mon 2 Nov 12:00 | start
			Wed 4 Nov 12:00 | B
			Thu 5 Nov 12:00 | W
			? Thu 5 Nov 12:00 | B 3 days, W 4 days, B until Sun 8 Nov 12:00 UTC`},

		{"byo-yomi: main time first", "byoyomi 4d 3x2d", `
			Mon 2 Nov 12:00 | start
			? Tue 3 Nov 12:00 | B 3 days, then 3 periods of 2 days, W 4 days, then 3 periods of 2 days, B until Thu 12 Nov 12:00 UTC
			Fri 6 Nov 11:59 | B
			? Fri 6 Nov 11:59 | B 1 minute, then 3 periods of 2 days, W 4 days, then 3 periods of 2 days, W until Mon 16 Nov 11:59 UTC`},

		{"byo-yomi: a turn within a period gives it back", "byoyomi 0d 3x2d", `
			Mon 2 Nov 12:00 | start
			? Wed 4 Nov 11:59 | B 1 minute, then 2 more periods of 2 days, W 2 days, then 2 more periods of 2 days, B until Sun 8 Nov 12:00 UTC
			Wed 4 Nov 11:59 | B
			? Wed 4 Nov 11:59 | B 2 days, then 2 more periods of 2 days, W 2 days, then 2 more periods of 2 days, W until Tue 10 Nov 11:59 UTC`},

		{"byo-yomi: a period that passes is lost", "byoyomi 1d 3x2d", `
			Mon 2 Nov 12:00 | start
			? Thu 5 Nov 12:00 | B 2 days, then 1 more period of 2 days, W 1 day, then 3 periods of 2 days, B until Mon 9 Nov 12:00 UTC
			? Sat 7 Nov 12:00 | B 2 days, the last period, W 1 day, then 3 periods of 2 days, B until Mon 9 Nov 12:00 UTC
			Thu 5 Nov 12:00 | B
			Thu 5 Nov 12:00 | W
			? Thu 5 Nov 12:00 | B 2 days, then 1 more period of 2 days, W 1 day, then 3 periods of 2 days, B until Mon 9 Nov 12:00 UTC
			Sat 7 Nov 13:00 | B
			Sat 7 Nov 13:00 | W
			? Sat 7 Nov 13:00 | B 2 days, the last period, W 1 day, then 3 periods of 2 days, B until Mon 9 Nov 13:00 UTC
			? Mon 9 Nov 13:00 | B out of time, W 1 day, then 3 periods of 2 days, B fell Mon 9 Nov 13:00 UTC`},

		{"Canadian: so many turns in a period", "canadian 1d 3/5d", `
			Mon 2 Nov 12:00 | start
			? Mon 2 Nov 18:00 | B 18 hours, then 3 turns in 5 days, W 1 day, then 3 turns in 5 days, B until Sun 8 Nov 12:00 UTC
			Tue 3 Nov 18:00 | B
			Tue 3 Nov 18:00 | W
			? Tue 3 Nov 18:00 | B 4 days 18 hours for 2 turns, W 1 day, then 3 turns in 5 days, B until Sun 8 Nov 12:00 UTC
			Wed 4 Nov 18:00 | B
			Wed 4 Nov 18:00 | W
			? Wed 4 Nov 18:00 | B 3 days 18 hours for 1 turn, W 1 day, then 3 turns in 5 days, B until Sun 8 Nov 12:00 UTC
			Wed 4 Nov 19:00 | B
			? Wed 4 Nov 19:00 | B 5 days for 3 turns, W 1 day, then 3 turns in 5 days, W until Tue 10 Nov 19:00 UTC`},

		{"weekends do not count", "3d weekends", `
			Fri 6 Nov 12:00 | start
			? Fri 6 Nov 18:00 | B 2 days 18 hours, W 3 days, B until Wed 11 Nov 12:00 UTC
			? Sun 8 Nov 18:00 | B 2 days 12 hours, W 3 days, B until Wed 11 Nov 12:00 UTC
			Sun 8 Nov 18:00 | B
			? Sun 8 Nov 18:00 | B 3 days, W 3 days, W until Thu 12 Nov 00:00 UTC`},

		{"nights do not count", "2d night 23-7", `
			Mon 2 Nov 12:00 | start
			? Tue 3 Nov 03:00 | B 1 day 13 hours, W 2 days, B until Thu 5 Nov 12:00 UTC
			Tue 3 Nov 03:00 | B
			? Tue 3 Nov 03:00 | B 2 days, W 2 days, W until Thu 5 Nov 23:00 UTC`},

		{"a night that loses an hour in spring", "8h night 23-7 Europe/Paris", `
			Sat 28 Mar 18:00 | start
			? Sat 28 Mar 18:00 | B 8 hours, W 8 hours, B until Sun 29 Mar 09:00 UTC
			Sun 29 Mar 05:00 | B
			? Sun 29 Mar 05:00 | B 8 hours, W 8 hours, W until Sun 29 Mar 13:00 UTC`},

		{"a day is 24 hours, whatever the clocks do", "3d Europe/Paris", `
			Sat 28 Mar 12:00 | start
			? Sat 28 Mar 12:00 | B 3 days, W 3 days, B until Tue 31 Mar 12:00 UTC`},

		{"pause by agreement", "3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | pause
			? Tue 10 Nov 12:00 | B 2 days, W 3 days, B paused
			Tue 10 Nov 12:00 | unpause
			? Tue 10 Nov 12:00 | B 2 days, W 3 days, B until Thu 12 Nov 12:00 UTC`},

		{"who likes may play in a pause", "3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | pause
			Wed 4 Nov 12:00 | B
			? Tue 10 Nov 12:00 | B 3 days, W 3 days, W paused
			Tue 10 Nov 12:00 | unpause
			? Wed 11 Nov 12:00 | B 3 days, W 2 days, W until Fri 13 Nov 12:00 UTC`},

		{"an outage costs nobody time", "fischer 3d+1d", `
			Mon 2 Nov 12:00 | start
			Wed 4 Nov 12:00 | credit 3 Nov 12:00 to 4 Nov 12:00
			? Wed 4 Nov 12:00 | B 2 days, W 3 days, B until Fri 6 Nov 12:00 UTC
			Thu 5 Nov 12:00 | B
			? Thu 5 Nov 12:00 | B 2 days, W 3 days, W until Sun 8 Nov 12:00 UTC`},

		{"not even when it is noticed after the flag", "3d", `
			Mon 2 Nov 12:00 | start
			? Fri 6 Nov 12:00 | B out of time, W 3 days, B fell Thu 5 Nov 12:00 UTC
			Fri 6 Nov 12:00 | credit 5 Nov 11:00 to 6 Nov 12:00
			? Fri 6 Nov 12:00 | B 1 hour, W 3 days, B until Fri 6 Nov 13:00 UTC`},

		{"a turn made before an outage was noticed, and delivered after", "3d", `
			Mon 2 Nov 12:00 | start
			Fri 6 Nov 12:00 | credit 5 Nov 12:00 to 6 Nov 12:00
			Thu 5 Nov 11:59 | B
			? Fri 6 Nov 12:00 | B 3 days, W 3 days, W until Mon 9 Nov 11:59 UTC`},

		{"vacation is spent by itself", "3d vacation 10", `
			Mon 2 Nov 12:00 | start
			? Mon 2 Nov 12:00 | B 3 days, W 3 days, B until Sun 15 Nov 12:00 UTC
			? Sat 7 Nov 06:00 | B on vacation, with 8 days 6 hours of it left, W 3 days, B until Sun 15 Nov 12:00 UTC
			Sat 7 Nov 12:00 | B
			Sat 7 Nov 12:00 | W
			? Tue 10 Nov 12:00 | B on vacation, with 8 days of it left, W 3 days, B until Wed 18 Nov 12:00 UTC
			? Wed 18 Nov 12:00 | B out of time, W 3 days, B fell Wed 18 Nov 12:00 UTC`},

		{"a new year of the game brings new vacation", "3d vacation 10", `
			Mon 2 Nov 12:00 | start
			Thu 12 Nov 12:00 | B
			Thu 12 Nov 12:00 | W
			Thu 12 Nov 12:00 | stop
			29 Oct 2027 12:00 | resume B
			? 29 Oct 2027 12:00 | B 3 days, W 3 days, B until Fri 12 Nov 12:00 UTC
			? 2 Nov 2027 11:00 | B on vacation, with 2 days 1 hour of it left, W 3 days, B until Fri 12 Nov 12:00 UTC
			? 2 Nov 2027 12:00 | B on vacation, with 10 days of it left, W 3 days, B until Fri 12 Nov 12:00 UTC
			3 Nov 2027 12:00 | B
			3 Nov 2027 12:00 | stop
			1 Nov 2028 12:00 | resume B
			? 1 Nov 2028 12:00 | B 3 days, W 3 days, B until Tue 14 Nov 12:00 UTC`},

		{"only the player whose time runs makes turns", "3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | W
			? Tue 3 Nov 12:00 | B 2 days, W 3 days, B until Thu 5 Nov 12:00 UTC`},

		{"a game starts once", "absolute 3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | B
			Wed 4 Nov 12:00 | W
			Wed 4 Nov 12:00 | start
			? Wed 4 Nov 12:00 | B 2 days, W 2 days, B until Fri 6 Nov 12:00 UTC`},

		{"nobody's time runs while a game is settled", "fischer 3d+1d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | B
			Wed 4 Nov 12:00 | W -
			? Mon 9 Nov 12:00 | B 3 days, W 3 days, nobody
			Mon 9 Nov 12:00 | resume B
			? Mon 9 Nov 12:00 | B 3 days, W 3 days, B until Thu 12 Nov 12:00 UTC`},

		{"stopped within a turn: what was used is used", "fischer 3d+1d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | stop
			Wed 4 Nov 12:00 | resume B
			? Wed 4 Nov 12:00 | B 2 days, W 3 days, B until Fri 6 Nov 12:00 UTC`},

		{"replacing one's own turn gives no time back", "3d", `
			Mon 2 Nov 12:00 | start
			Thu 5 Nov 11:00 | B
			Thu 5 Nov 11:01 | undo 1
			? Thu 5 Nov 11:01 | B 1 hour, W 3 days, B until Thu 5 Nov 12:01 UTC
			Thu 5 Nov 11:31 | B
			Thu 5 Nov 11:32 | undo 1
			? Thu 5 Nov 11:32 | B 30 minutes, W 3 days, B until Thu 5 Nov 12:02 UTC`},

		{"an undo that is agreed gives the turn its full time", "fischer 3d+1d max 9d", `
			Mon 2 Nov 12:00 | start
			Mon 2 Nov 12:00 | B
			Tue 3 Nov 12:00 | W
			Wed 4 Nov 12:00 | B
			Thu 5 Nov 12:00 | undo 2 agreed
			? Thu 5 Nov 12:00 | B 4 days, W 3 days, W until Sun 8 Nov 12:00 UTC
			Fri 6 Nov 12:00 | W
			? Fri 6 Nov 12:00 | B 4 days, W 3 days, B until Tue 10 Nov 12:00 UTC`},

		{"also if part of the turn had been used by then", "3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | B
			Tue 3 Nov 12:01 | undo 1
			Wed 4 Nov 12:00 | B
			Wed 4 Nov 13:00 | undo 3 agreed
			? Wed 4 Nov 13:00 | B 3 days, W 3 days, B until Sat 7 Nov 13:00 UTC`},

		{"undo does not touch a pause", "3d", `
			Mon 2 Nov 12:00 | start
			Mon 2 Nov 12:00 | B
			Tue 3 Nov 12:00 | pause
			Tue 3 Nov 12:00 | undo 1 agreed
			? Wed 4 Nov 12:00 | B 3 days, W 3 days, B paused
			Wed 4 Nov 12:00 | unpause
			? Wed 4 Nov 12:00 | B 3 days, W 3 days, B until Sat 7 Nov 12:00 UTC`},

		{"an undo takes a fallen flag up", "3d", `
			Mon 2 Nov 12:00 | start
			Tue 3 Nov 12:00 | B
			Fri 6 Nov 12:00 | stop
			? Fri 6 Nov 12:00 | B 3 days, W out of time, W fell Fri 6 Nov 12:00 UTC
			Sat 7 Nov 12:00 | undo 2 agreed
			? Sat 7 Nov 12:00 | B 3 days, W 3 days, W until Tue 10 Nov 12:00 UTC`},

		{"a clock set back gives no time", "fischer 3d+1d max 9d", `
			Mon 2 Nov 12:00 | start
			Wed 4 Nov 12:00 | B
			Tue 3 Nov 12:00 | W
			? Mon 2 Nov 12:00 | B 2 days, W 4 days, B until Fri 6 Nov 12:00 UTC`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := control(t, test.control)
			var events []Event
			for line := range strings.SplitSeq(strings.TrimSpace(test.game), "\n") {
				line = strings.TrimSpace(line)
				question, ok := strings.CutPrefix(line, "?")
				if !ok {
					events = append(events, event(t, len(events)+1, line))
					continue
				}
				at, want, _ := strings.Cut(question, " | ")
				if got := shown(c, c.Read(events, clockTime26(t, strings.Fields(at)))); got != want {
					t.Errorf("%s\n got %s\nwant %s", at, got, want)
				}
			}
		})
	}
}

// quantum is the step of the naive clock. All that happens to it is a multiple.
const quantum = 5 * time.Minute

// A naive ticks: every five minutes it takes five minutes from somebody, if
// they count.
type naive struct {
	control Control
	zone    *time.Location
	credits []span

	year   time.Time // when the next begins
	now    time.Time
	toPlay rules.Color
	began  time.Time
	paused bool
	sides  [2]naiveSide
	fell   time.Time
	loser  rules.Color
}

type naiveSide struct {
	main, rest, vacation time.Duration // rest: of the turn or of the period
	periods, stones      int
}

func (n *naive) side() *naiveSide { return &n.sides[n.toPlay-1] }

func (n *naive) fresh() naiveSide {
	c := n.control
	s := naiveSide{main: c.Main, rest: c.Period, vacation: time.Duration(c.Vacation) * day, periods: c.Periods, stones: c.Stones}
	if c.Kind == PerTurn {
		s.main, s.rest = 0, c.Main
	}
	return s
}

// counts says whether the five minutes from now on count.
func (n *naive) counts() bool {
	t := n.now.In(n.zone)
	if n.control.Weekends && (t.Weekday() == time.Saturday || t.Weekday() == time.Sunday) {
		return false
	}
	if from, to := n.control.Night.From, n.control.Night.To; from != to {
		switch m := t.Hour()*60 + t.Minute(); {
		case from < to && from <= m && m < to, from > to && (m >= from || m < to):
			return false
		}
	}
	for _, c := range n.credits {
		if !n.now.Before(c.from) && n.now.Before(c.to) {
			return false
		}
	}
	return !n.paused
}

// look lets the flag fall, after a new year has begun.
func (n *naive) look() {
	if n.year.IsZero() {
		return
	}
	if n.now.Equal(n.year) {
		n.year = n.year.AddDate(1, 0, 0)
		for i := range n.sides {
			n.sides[i].vacation = max(n.sides[i].vacation, time.Duration(n.control.Vacation)*day)
		}
	}
	if n.toPlay == rules.None || n.loser != rules.None {
		return
	}
	if s := n.side(); s.main == 0 && s.rest == 0 && s.periods <= 1 && s.vacation == 0 {
		n.loser, n.fell = n.toPlay, n.now
	}
}

// tick lets five minutes pass.
func (n *naive) tick() {
	n.look()
	if n.toPlay != rules.None && n.loser == rules.None && n.counts() {
		s := n.side()
		switch {
		case s.main > 0:
			s.main -= quantum
		case s.rest > 0:
			s.rest -= quantum
		default:
			s.vacation -= quantum
		}
		if s.main == 0 && s.rest == 0 && s.periods > 1 {
			s.periods--
			s.rest = n.control.Period
		}
	}
	n.now = n.now.Add(quantum)
}

func (n *naive) until(t time.Time) {
	for n.now.Before(t) {
		n.tick()
	}
	n.look()
}

func (n *naive) begin(c rules.Color) {
	n.toPlay, n.began, n.loser = c, n.now, rules.None
}

// pay ends a turn.
func (n *naive) pay(made bool) {
	if n.toPlay == rules.None {
		return
	}
	s, c := n.side(), n.control
	switch c.Kind {
	case PerTurn:
		s.rest = c.Main
	case Fischer:
		if made {
			s.main = min(s.main+c.Increment, c.Cap)
		}
	case ByoYomi:
		s.rest = c.Period
	case Canadian:
		if made && s.main == 0 {
			if s.stones--; s.stones == 0 {
				s.stones, s.rest = c.Stones, c.Period
			}
		}
	}
}

// naively plays events with a naive clock.
func naively(c Control, events []Event) *naive {
	n := &naive{control: c, now: events[0].At}
	n.zone, _ = time.LoadLocation(c.Zone)
	for _, e := range events {
		if e.Kind == Credit {
			n.credits = append(n.credits, span{e.From, e.To})
		}
	}
	type moment struct {
		seq          int
		after, moved naive
		turn         bool
	}
	var history []moment
	for _, e := range events {
		n.until(e.At)
		before := *n
		turned := false
		switch e.Kind {
		case Start:
			n.year = n.now.AddDate(1, 0, 0)
			n.sides = [2]naiveSide{n.fresh(), n.fresh()}
			n.begin(e.ToPlay)
		case Turn:
			if e.By == n.toPlay && (n.loser == rules.None || c.Claim) {
				turned = true
				n.pay(true)
				n.begin(e.ToPlay)
			}
		case Stop:
			n.pay(false)
			n.toPlay = rules.None
		case Resume:
			n.pay(false)
			n.begin(e.ToPlay)
		case Pause:
			n.paused = true
		case Unpause:
			n.paused = false
		case Undo:
			var then naive
			for _, p := range history {
				if p.seq == e.Back {
					then = p.after
				}
			}
			for i := len(history) - 1; i >= 0 && history[i].seq > e.Back; i-- {
				if history[i].turn && !e.Agreed {
					then = history[i].moved
				}
				history[i].turn = false
			}
			n.began = n.now
			n.toPlay, n.sides, n.loser, n.fell = then.toPlay, then.sides, then.loser, then.fell
		}
		history = append(history, moment{e.Seq, *n, before, turned})
	}
	return n
}

// zonesForTests have seen everything: half hours, changes at midnight, a Friday
// that never was.
var zonesForTests = []struct {
	name  string
	about string // a change of its clock
}{
	{"", "2026-03-01"}, {"Europe/Paris", "2026-03-27"}, {"Europe/Paris", "2026-10-23"},
	{"America/New_York", "2026-03-06"}, {"America/New_York", "2026-10-30"},
	{"America/Sao_Paulo", "2018-11-02"}, {"America/Sao_Paulo", "2018-02-16"}, {"Asia/Beirut", "2026-03-27"},
	{"Asia/Beirut", "2026-10-23"}, {"Australia/Lord_Howe", "2026-04-03"}, {"Australia/Lord_Howe", "2026-10-02"},
	{"Pacific/Apia", "2011-12-28"}, {"America/Nuuk", "2026-03-27"}, {"America/Nuuk", "2026-10-23"},
	{"America/Havana", "2026-03-06"}, {"America/Havana", "2026-10-30"},
	{"Africa/Casablanca", "2026-02-13"}, {"Pacific/Chatham", "2026-09-25"}, {"Asia/Kathmandu", "2026-01-01"},
}

// randomControl returns a time control about some day, with steps of step.
func randomControl(r *rand.Rand, step time.Duration) (Control, time.Time) {
	z := zonesForTests[r.IntN(len(zonesForTests))]
	about, _ := time.Parse(time.DateOnly, z.about)
	some := func(most time.Duration) time.Duration { return step * time.Duration(1+r.Int64N(int64(most/step))) }
	c := Control{Zone: z.name, Weekends: r.IntN(2) == 0, Claim: r.IntN(3) == 0, Main: some(2 * day)}
	if r.IntN(2) == 0 {
		c.Night.From = r.IntN(minutesADay/5) * 5
		c.Night.To = (c.Night.From + 5 + 5*r.IntN(maxNight/5)) % minutesADay
	}
	if r.IntN(2) == 0 {
		c.Vacation = r.IntN(4)
	}
	switch r.IntN(5) {
	case 0:
		c.Kind = PerTurn
	case 1:
		c.Kind, c.Increment = Fischer, some(day)
		c.Cap = max(c.Main, c.Increment) + some(day)
	case 2:
		c.Kind = Absolute
	case 3:
		c.Kind, c.Periods, c.Period = ByoYomi, 1+r.IntN(4), some(day)
	case 4:
		c.Kind, c.Stones, c.Period = Canadian, 1+r.IntN(4), some(day)
	}
	if (c.Kind == ByoYomi || c.Kind == Canadian) && r.IntN(4) == 0 {
		c.Main = 0
	}
	return c, about
}

// randomEvents returns what happens in a game, at times with steps of step.
func randomEvents(r *rand.Rand, c Control, start time.Time, step time.Duration) []Event {
	at := start
	events := []Event{{Kind: Start, Seq: 1, At: at, ToPlay: rules.Black}}
	backs := []int{1}
	toPlay := rules.Black
	stopped, slept := false, false
	for seq := 2; seq < 2+r.IntN(30); seq++ {
		at = at.Add(step * time.Duration(r.Int64N(int64(18*time.Hour/step))))
		e := Event{Seq: seq, At: at}
		switch k := r.IntN(19); {
		case stopped && k < 15:
			e.Kind, e.ToPlay = Resume, rules.Black+rules.Color(r.IntN(2))
			toPlay, stopped = e.ToPlay, false
			if !slept && c.Vacation > 0 && r.IntN(2) == 0 { // nearly a year later
				slept = true
				at = start.AddDate(1, 0, 0).Add(-step * time.Duration(r.Int64N(int64(6*day/step))))
				e.At = at
			}
		case k < 12:
			e.Kind, e.By, e.ToPlay = Turn, toPlay, toPlay.Opponent()
			if r.IntN(8) == 0 {
				e.ToPlay = toPlay
			}
			toPlay = e.ToPlay
		case k == 12:
			e.Kind, stopped = Stop, true
		case k == 13:
			e.Kind = Pause
		case k < 16:
			e.Kind = Unpause
		case k == 16:
			e.Kind = Credit
			e.From = at.Add(-step * time.Duration(r.Int64N(int64(2*day/step))))
			e.To = e.From.Add(step * time.Duration(r.Int64N(int64(3*day/step))))
		default:
			e.Kind, e.Back, e.Agreed = Undo, backs[r.IntN(len(backs))], r.IntN(2) == 0
			// Whose turn it is then is read off the clock, like anybody would.
			events = append(events, e)
			reading := c.Read(events, at)
			toPlay, stopped = reading.ToPlay, reading.ToPlay == rules.None
			continue
		}
		if e.Kind == Turn || e.Kind == Resume {
			backs = append(backs, seq)
		}
		events = append(events, e)
	}
	return events
}

// The clock that is computed shows what the clock that ticks shows.
func TestClockAgainstTicking(t *testing.T) {
	games, fell, spent := 120, 0, 0
	for seed := range uint64(games) {
		r := rand.New(rand.NewPCG(seed, 1))
		c, about := randomControl(r, quantum)
		if err := c.Check(); err != nil {
			t.Fatal(seed, c, err)
		}
		events := randomEvents(r, c, about.Add(quantum*time.Duration(r.IntN(576))), quantum)
		n := naively(c, events)
		last := n.now
		said := c.Read(events, last)
		compare := func() bool {
			got := c.Read(events, n.now)
			if got.ToPlay != n.toPlay || got.Flagged != n.loser || got.Paused != n.paused || got.Deadline != said.Deadline ||
				got.ToPlay != rules.None && !got.Began.Equal(n.began) || got.Flagged != rules.None && !got.Deadline.Equal(n.fell) {
				return false
			}
			for i, s := range n.sides {
				l := got.Left(rules.Black + rules.Color(i))
				want := Left{Main: s.main, Periods: s.periods, Stones: s.stones, Turn: s.main + s.rest, Vacation: s.vacation}
				switch c.Kind {
				case PerTurn:
					want.Main = s.rest
				case Canadian:
					want.Period = s.rest
				case ByoYomi:
					want.Period = s.rest
					want.Turn += time.Duration(s.periods-1) * c.Period
					if want.Turn == 0 {
						want.Periods = 0
					}
				}
				if n.loser == rules.Black+rules.Color(i) {
					want = Left{}
				}
				if l != want {
					t.Logf("%v: %+v, want %+v", rules.Black+rules.Color(i), l, want)
					return false
				}
			}
			return true
		}
		for ok := true; ok; ok = n.now.Before(last.Add(20*day)) && (n.now.Before(said.Deadline) || n.loser == rules.None) {
			n.look()
			if r.IntN(200) == 0 || !n.now.Before(said.Deadline) || n.now.Equal(last) {
				if !compare() {
					t.Fatalf("seed %d, %v, at %v:\n got %+v\nwant %+v\nevents %+v", seed, c, n.now, c.Read(events, n.now), n, events)
				}
			}
			n.tick()
		}
		if n.loser != rules.None {
			fell++
		}
		if said.Due.Before(said.Deadline) {
			spent++
		}
	}
	if fell < games/4 || spent < games/10 {
		t.Errorf("of %d games only %d ended in time trouble, and %d could overrun", games, fell, spent)
	}
}

// What counts is what the wall shows, every minute of a week in which its clock
// changes; and a minute ends where the calendar says.
func TestCalendar(t *testing.T) {
	zones := append(slices.Clone(zonesForTests), struct{ name, about string }{"America/St_Johns", "2006-10-27"}) // at one past midnight
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 6))
		z := zones[r.IntN(len(zones))]
		zone, _ := time.LoadLocation(z.name)
		start, _ := time.Parse(time.DateOnly, z.about)
		c := calendar{r.IntN(2) == 0, Hours{r.IntN(minutesADay), r.IntN(minutesADay)}, zone}
		var want time.Duration
		for m := range 7 * minutesADay {
			at := start.Add(time.Duration(m) * time.Minute)
			wall := at.In(zone)
			night := c.night.hold(wall.Hour()*60 + wall.Minute())
			weekend := c.weekends && wall.Weekday()%6 == 0
			counts := !night && !weekend
			if got, _ := c.next(at.Add(time.Duration(r.Int64N(int64(time.Minute))))); got != counts {
				t.Fatalf("seed %d: %v counts: %v", seed, at.In(zone), got)
			}
			if m%19 == 0 {
				if from, to, ok := c.pause(at); ok == counts || ok && (from.After(at) || !to.After(at)) {
					t.Fatalf("seed %d: %v is in a pause: %v from %v to %v", seed, at.In(zone), ok, from, to)
				}
			}
			if counts {
				want += time.Minute
			}
		}
		l := timeline{calendar: c}
		if got := l.counted(start, start.AddDate(0, 0, 7)); got != want {
			t.Fatalf("seed %d: %v count, want %v", seed, got, want)
		}
		if end := l.after(start, want); l.counted(start, end) != want || want > 0 && l.counted(start, end.Add(-1)) != want-1 {
			t.Fatalf("seed %d: %v count until %v", seed, want, end)
		}
	}
}

// Laws of clocks, to the nanosecond.
func TestClockLaws(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 2))
		c, about := randomControl(r, time.Minute)
		events := randomEvents(r, c, about, 1)
		last := events[len(events)-1].At
		read := c.Read(events, last)
		fail := func(law string, now time.Time, got Reading) {
			t.Helper()
			t.Fatalf("%s: seed %d, %v, at %v:\n first %+v\n  then %+v\nevents %+v", law, seed, c, now, read, got, events)
		}
		if got := c.Read(events, last); !reflect.DeepEqual(got, read) {
			fail("reading twice is reading once", last, got)
		}
		if early := c.Read(events, last.Add(-time.Hour)); events[len(events)-1].Kind != Credit && !reflect.DeepEqual(early, read) {
			fail("reading before the last event is reading at it", last, early)
		}

		// Timestamps that go back are those of what came before.
		jittered, clamped := slices.Clone(events), slices.Clone(events)
		var seen time.Time
		for i := range jittered {
			if jittered[i].Kind == Credit {
				continue
			}
			if r.IntN(3) == 0 {
				jittered[i].At = jittered[i].At.Add(-time.Duration(r.Int64N(int64(40 * day))))
			}
			seen = later(seen, jittered[i].At)
			clamped[i].At = seen
		}
		if a, b := c.Read(jittered, last), c.Read(clamped, last); !reflect.DeepEqual(a, b) {
			fail("a clock that was set back stands still", last, a)
		}

		if read.Deadline.IsZero() || read.Flagged != rules.None {
			continue
		}
		if read.Due.After(read.Deadline) || read.Due.Before(read.Began) || !read.Deadline.After(last) {
			fail("it is due after it began and not after the deadline", last, read)
		}
		toGo := read.Deadline.Sub(last)
		for _, now := range []time.Time{last, last.Add(time.Duration(r.Int64N(int64(toGo)))), read.Deadline.Add(-1)} {
			got := c.Read(events, now)
			if got.Flagged != rules.None || !got.Deadline.Equal(read.Deadline) || !got.Due.Equal(read.Due) {
				fail("before the deadline it has not fallen, and stays where it is", now, got)
			}
			left := got.Left(got.ToPlay)
			if c.Vacation == 0 && !got.line.after(now, left.Turn+left.Vacation).Equal(read.Deadline) {
				fail("what is left lasts until the deadline", now, got)
			}
			turned := append(slices.Clone(events), Event{Kind: Turn, Seq: 99, At: now, By: got.ToPlay, ToPlay: got.ToPlay.Opponent()})
			after := c.Read(turned, now)
			if after.Flagged == got.ToPlay || after.ToPlay != got.ToPlay.Opponent() {
				fail("a turn before the deadline counts", now, after)
			}
			split := append(slices.Clone(events), Event{Kind: Pause, Seq: 99, At: now}, Event{Kind: Unpause, Seq: 99, At: now})
			if again := c.Read(split, now); !again.Deadline.Equal(read.Deadline) {
				fail("a pause of no time changes nothing", now, again)
			}
		}
		for _, now := range []time.Time{read.Deadline, read.Deadline.Add(1), read.Deadline.AddDate(100, 0, 0)} {
			if got := c.Read(events, now); got.Flagged != read.ToPlay || !got.Deadline.Equal(read.Deadline) || got.Left(got.ToPlay) != (Left{}) {
				fail("from the deadline on it has fallen", now, got)
			}
		}

		notEarlier := func(law string, c Control, more ...Event) {
			t.Helper()
			now := last
			if len(more) > 0 {
				now = later(last, more[len(more)-1].At)
			}
			got := c.Read(append(slices.Clone(events), more...), now)
			if got.ToPlay != read.ToPlay || got.Deadline.Before(read.Deadline) {
				fail(law, now, got)
			}
		}
		from := events[0].At.Add(time.Duration(r.Int64N(int64(read.Deadline.Sub(events[0].At)))))
		notEarlier("a credit never shortens", c, Event{Kind: Credit, Seq: 99, At: last, From: from, To: from.Add(time.Duration(r.Int64N(int64(9 * day))))})
		notEarlier("not even one that ends before it begins", c, Event{Kind: Credit, Seq: 99, At: last, From: from, To: from.Add(-day)})
		pause := last.Add(time.Duration(r.Int64N(int64(toGo))))
		notEarlier("a pause never shortens", c, Event{Kind: Pause, Seq: 99, At: pause}, Event{Kind: Unpause, Seq: 99, At: pause.Add(time.Duration(r.Int64N(int64(9 * day))))})
		if !c.Claim && !slices.ContainsFunc(events, func(e Event) bool { return e.Kind == Undo }) {
			off := c
			off.Weekends = true
			notEarlier("weekends off never shorten", off)
		}
	}
}

// Events that happen one by one leave the clocks as they are after all of them,
// unless they change what was before.
func TestClockOneByOne(t *testing.T) {
	added, refused := 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 4))
		c, about := randomControl(r, time.Minute)
		events := randomEvents(r, c, about, 1)
		w := c.Run(nil)
		for i := range events {
			e := &events[i]
			if r.IntN(6) == 0 { // by a clock that was set back
				e.At = e.At.Add(-time.Duration(r.Int64N(int64(40 * day))))
			}
			if r.IntN(50) == 0 {
				*e = Event{Kind: Right, Seq: e.Seq, At: e.At}
			}
			if e.Kind == Credit && r.IntN(2) == 0 { // for time in which nothing has happened yet
				e.From = w.last.Add(time.Duration(r.Int64N(int64(day))))
				if n := len(w.line.off); n > 0 && r.IntN(2) == 0 { // or from the end of another
					e.From = later(w.last, w.line.off[n-1].to)
				}
				e.To = e.From.Add(time.Duration(r.Int64N(int64(3 * day))))
			}
			was := w
			all := c.Run(events[:i+1])
			if w.Add(*e) {
				added++
			} else {
				refused++
				if !reflect.DeepEqual(w, was) {
					t.Fatalf("seed %d: an event that was not added has changed something:\nbefore %+v\n after %+v", seed, was, w)
				}
				w = all
			}
			if !reflect.DeepEqual(w, all) {
				t.Fatalf("seed %d, %v: one by one %+v\n at once %+v\nevents %+v", seed, c, w, all, events[:i+1])
			}
		}
	}
	if added < 4*refused || refused == 0 {
		t.Errorf("%d events were added and %d were not", added, refused)
	}
}

// Strange times do no harm.
func TestClockOfStrangeGames(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		c, about := randomControl(r, time.Minute)
		events := randomEvents(r, c, about, 1)
		strange := []time.Time{{}, never, never.AddDate(90000, 0, 0), time.Unix(-1<<55, 0), time.Date(1883, 11, 18, 17, 0, 0, 0, time.UTC)}
		for i := range events {
			switch e := &events[i]; r.IntN(8) {
			case 0:
				e.At = strange[r.IntN(len(strange))]
			case 1:
				e.From, e.To = strange[r.IntN(len(strange))], strange[r.IntN(len(strange))]
			case 2:
				e.Kind, e.By, e.ToPlay = EventKind(r.IntN(12)), rules.Color(r.IntN(3)), rules.Color(r.IntN(3))
			case 3:
				e.Back = r.IntN(100) - 20
			}
		}
		if seed%4 == 0 {
			c.Period, c.Zone = 0, "Nowhere/At_All"
		}
		for _, now := range append(strange, about) {
			Reminders(c.Read(events, now), Hours{From: 1380, To: 420}, time.UTC)
		}
	}

	now := time.Now()
	ancient := time.Unix(-1<<55, 0)
	control(t, "1d weekends vacation 1").Read([]Event{
		{Kind: Start, At: ancient, ToPlay: rules.Black},
		{Kind: Credit, At: ancient.Add(2 * day), From: ancient.Add(36 * time.Hour), To: never.AddDate(1, 0, 0)},
	}, now)
	r := control(t, "1d").Read([]Event{{Kind: Start, At: now, ToPlay: rules.Black}}, now)
	if strings.Contains(r.Deadline.String()+r.At.String(), "m=") {
		t.Error("the process's own time got into a reading")
	}
}

// TestReminders: when somebody is reminded in a turn that begins on Mon 2 Nov
// 12:00 UTC.
func TestReminders(t *testing.T) {
	for _, test := range []struct{ name, control, quiet, zone, want string }{
		{"half, a quarter, the last hour", "4d", "", "",
			"Wed 4 Nov 12:00, Thu 5 Nov 12:00, Fri 6 Nov 11:00"},
		{"of time that counts", "2d night 12-24", "", "",
			"Wed 4 Nov 12:00, Thu 5 Nov 12:00, Fri 6 Nov 11:00"},
		{"not on a weekend that does not count", "5d weekends", "", "",
			"Thu 5 Nov 00:00, Fri 6 Nov 06:00, Mon 9 Nov 11:00"},
		{"never two within half an hour: the last is given", "5h", "", "",
			"Mon 2 Nov 14:30, Mon 2 Nov 16:00"},
		{"not so soon after the turn began", "55m", "", "", "Mon 2 Nov 12:41"},
		{"nor for a turn that is as short", "30m", "", "", ""},
		{"quiet hours: at their end", "2d", "11:30-13", "",
			"Tue 3 Nov 13:00, Wed 4 Nov 00:00, Wed 4 Nov 11:00"},
		{"quiet hours of the deadline: before they begin", "2d", "10-14", "",
			"Tue 3 Nov 14:00, Wed 4 Nov 00:00, Wed 4 Nov 09:45"},
		{"all night, where the person lives", "20h", "23-8", "America/New_York",
			"Mon 2 Nov 22:00, Tue 3 Nov 03:00, Tue 3 Nov 03:45"},
		{"a whole turn within quiet hours", "2h", "11-15", "", ""},
		{"vacation is told of too", "4d vacation 8", "", "",
			"Wed 4 Nov 12:00, Thu 5 Nov 12:00, Fri 6 Nov 11:00, Fri 6 Nov 12:00, " +
				"Tue 10 Nov 12:00, Thu 12 Nov 12:00, Sat 14 Nov 11:00"},
		{"but the own time is reminded of before it is over", "2d vacation 8", "10-14", "",
			"Tue 3 Nov 14:00, Wed 4 Nov 00:00, Wed 4 Nov 09:45, Wed 4 Nov 14:00, " +
				"Sun 8 Nov 14:00, Tue 10 Nov 14:00, Thu 12 Nov 09:45"},
		{"without a deadline there is nothing to be reminded of", "none", "", "", ""},
	} {
		zone, _ := Zone(test.zone)
		var quiet Hours
		if test.quiet != "" {
			quiet, _ = ParseHours(test.quiet)
		}
		start := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
		events := []Event{{Kind: Start, At: start, ToPlay: rules.Black}}
		for _, now := range []time.Time{start, start.Add(20 * time.Minute)} {
			var got []string
			for _, at := range Reminders(control(t, test.control).Read(events, now), quiet, zone) {
				got = append(got, strings.TrimSuffix(english(InstantText(at, now)), " UTC"))
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
			}
		}
	}
}

func TestReminderLaws(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 4))
		c, about := randomControl(r, time.Minute)
		events := randomEvents(r, c, about, time.Second)
		read := c.Read(events, events[len(events)-1].At)
		zone, _ := time.LoadLocation(zonesForTests[r.IntN(len(zonesForTests))].name)
		var quiet Hours
		if r.IntN(3) > 0 {
			quiet = Hours{r.IntN(48) * 30, r.IntN(48) * 30}
		}
		before := read.Began.Add(remindApart)
		for i, at := range Reminders(read, quiet, zone) {
			local := at.In(zone)
			switch {
			case at.Before(before):
				t.Fatalf("seed %d: reminder %d is too early: %v", seed, i, at)
			case !at.Before(read.Deadline):
				t.Fatalf("seed %d: reminder %d is too late: %v", seed, i, at)
			case quiet.hold(local.Hour()*60 + local.Minute()):
				t.Fatalf("seed %d: reminder %d disturbs: %v in %v", seed, i, local, quiet)
			}
			before = at.Add(remindApart)
		}
	}
}

func TestParse(t *testing.T) {
	for typed, want := range map[string]string{
		"none":                              "none",
		"NONE":                              "none",
		"3d":                                "3d",
		"3 days per turn":                   "3d",
		"simple 12h":                        "12h",
		"1 day 12 hours a move":             "1d12h",
		"90 minutes":                        "1h30m",
		"2 weeks":                           "14d",
		"fischer 7d+1d max 14d":             "fischer 7d+1d max 14d",
		"Fischer 7 days + 1 day, max 14d":   "fischer 7d+1d max 14d",
		"fischer 10d + 36h":                 "fischer 10d+1d12h max 10d",
		"absolute 30d":                      "absolute 30d",
		"byoyomi 10d 3x2d":                  "byoyomi 10d 3x2d",
		"byo-yomi 10d + 3 × 2 days":         "byoyomi 10d 3x2d",
		"byoyomi 0d 5x1d":                   "byoyomi 0d 5x1d",
		"canadian 10d 15/5d":                "canadian 10d 15/5d",
		"canadian 10 days + 15 / 5 days":    "canadian 10d 15/5d",
		"3d weekends":                       "3d weekends",
		"3d weekends off europe/paris":      "3d weekends Europe/Paris",
		"3d night 23-7 Europe/Paris":        "3d night 23-7 Europe/Paris",
		"3d nights 22:30 – 06:45":           "3d night 22:30-6:45",
		"3d night 20-24":                    "3d night 20-0",
		"3d claim vacation 20 days":         "3d vacation 20 claim",
		"3d loss vacation 20 utc":           "3d vacation 20",
		"3d weekends america/port_of_spain": "I know no time zone “america/port_of_spain”. Write Europe/Paris, America/New_York or UTC.",
		"3d America/Port_of_Spain":          "3d America/Port_of_Spain",
		"3d Etc/GMT+3":                      "3d Etc/GMT+3",

		"":                           "I know no clock “”. Try none, 3d, fischer 7d+1d max 14d, byoyomi 10d 3x2d or canadian 10d 15/5d.",
		"fast please":                "I know no clock “fast please”. Try none, 3d, fischer 7d+1d max 14d, byoyomi 10d 3x2d or canadian 10d 15/5d.",
		"fischer":                    "A time is missing, for example: fischer 7d+1d max 14d",
		"fischer 7d":                 "Say how much time each turn adds: fischer 7d+1d",
		"fischer 7d+1d max 5d":       "The cap must be at least the starting time: max 5d is less than 7d.",
		"fischer 1d+2d":              "The cap must be at least the starting time: max 1d is less than 2d.",
		"fischer 7d+30s":             "“30s” is not a length of time. Write days, hours and minutes as 3d, 12h, 90m or 1d12h, for example: fischer 7d+1d max 14d",
		"byoyomi 10d":                "“” does not say what follows the main time. For example: byoyomi 10d 3x2d",
		"byoyomi 10d 3/2d":           "“3/” does not say what follows the main time. For example: byoyomi 10d 3x2d",
		"byoyomi 10d 300x2d":         "“300” is not a number of periods. Choose 1 to 50.",
		"byoyomi 10d 3x99d":          "99 days is too long. Use at most 60 days.",
		"canadian 10d 0/5d":          "“0” is not a number of turns in a period. Choose 1 to 100.",
		"0d":                         "That is too short. Use at least 1 minute.",
		"canadian 10d 15/0d":         "That is too short. Use at least 1 minute.",
		"900000w":                    "728 days is too long. Use at most 366 days.",
		"none weekends":              "A game without a clock has no weekends, nights, vacation or claim. Write just none.",
		"3d night 25-7":              "“25-7” are not hours of the night. For example: night 23-7, or night 22:30-6:45",
		"3d night 7-7":               "“7-7” are not hours of the night. For example: night 23-7, or night 22:30-6:45",
		"3d night 7-6":               "The night 7-6 is too long. Use at most 16 hours.",
		"3d vacation many":           "“many” is not a number of vacation days a year. Choose 0 to 60, for example: vacation 20",
		"3d vacation 61":             "“61” is not a number of vacation days a year. Choose 0 to 60, for example: vacation 20",
		"3d Europe/Atlantis":         "I know no time zone “Europe/Atlantis”. Write Europe/Paris, America/New_York or UTC.",
		"3d right/Europe/Paris":      "I know no time zone “right/Europe/Paris”. Write Europe/Paris, America/New_York or UTC.",
		"3d ../../etc/passwd":        "I know no time zone “../../etc/passwd”. Write Europe/Paris, America/New_York or UTC.",
		"3d Europe/Paris Asia/Tokyo": "A game has one time zone. Is it Europe/Paris or Asia/Tokyo?",
		"3d sundays":                 "I do not understand “sundays” in a clock. You can add weekends, night 23-7, Europe/Paris, vacation 20 or claim.",
		strings.Repeat("3d ", 100):   "That clock is too long. Use at most 200 characters.",
	} {
		c, err := Parse(typed)
		got := c.String()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", typed, got, want)
		}
	}
}

// Encoding and decoding returns the same value.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		c, _ := randomControl(rand.New(rand.NewPCG(seed, 5)), time.Minute)
		if again, err := Parse(c.String()); err != nil || again != c {
			t.Fatalf("%v became %v, %v", c, again, err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var again Control
		if err := json.Unmarshal(text, &again); err != nil || again != c {
			t.Fatalf("%s became %v, %v", text, again, err)
		}
	}
	for _, wrong := range []Control{
		{Kind: "hourglass", Main: day}, {Main: day}, {Kind: PerTurn, Main: day, Periods: 1}, {Kind: PerTurn, Main: time.Second * 90},
		{Kind: PerTurn, Main: day, Zone: "UTC"}, {Kind: PerTurn, Main: day, Zone: "Local"}, {Kind: PerTurn, Main: day, Zone: "CET"},
		{Kind: PerTurn, Main: -day}, {Kind: PerTurn, Main: day, Night: Hours{5, 5}}, {Kind: PerTurn, Main: day, Night: Hours{-5, 5}},
		{Kind: PerTurn, Main: day, Vacation: -1}, {Kind: Fischer, Main: day, Cap: day}, {Kind: Absolute, Main: 367 * day},
	} {
		if text, err := json.Marshal(wrong); err == nil {
			t.Errorf("%+v was written: %s", wrong, text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("fischer 7d+1d max 14d weekends night 23-7 Europe/Paris vacation 20 claim")
	f.Add("byoyomi 10d 3x2d")
	f.Add("canadian 10d 15/5d")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(c.String()); err != nil || again != c {
			t.Fatalf("%q: %v became %v, %v", s, c, again, err)
		}
	})
}

func TestClockWords(t *testing.T) {
	for typed, want := range map[string]string{
		"none":                                   "no clock",
		"3d":                                     "3 days for every turn; you lose if you run out of time",
		"fischer 7d+1d max 14d":                  "7 days at the start plus 1 day after every turn, up to 14 days (Fischer); you lose if you run out of time",
		"absolute 30d claim":                     "30 days for all turns together; the opponent may claim the game when time runs out",
		"byoyomi 10d 3x2d":                       "10 days, then 3 periods of 2 days (byo-yomi); you lose if you run out of time",
		"byoyomi 0d 1x2d":                        "1 period of 2 days (byo-yomi); you lose if you run out of time",
		"canadian 10d 15/5d":                     "10 days, then 15 turns in every 5 days (Canadian); you lose if you run out of time",
		"canadian 0d 15/5d":                      "15 turns in every 5 days (Canadian); you lose if you run out of time",
		"3d weekends":                            "3 days for every turn; weekends do not count (UTC); you lose if you run out of time",
		"36h night 23-7 Europe/Paris vacation 1": "1 day 12 hours for every turn; 23:00–07:00 does not count (Europe/Paris); 1 day of vacation a year, used when all other time is gone; you lose if you run out of time",
		"3d weekends night 22:30-6:45 Asia/Tokyo": "3 days for every turn; weekends and 22:30–06:45 do not count (Asia/Tokyo); you lose if you run out of time",
	} {
		if got := control(t, typed).Words(); got != want {
			t.Errorf("%s\n got %s\nwant %s", typed, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-1:                                "no time",
		0:                                 "no time",
		1:                                 "less than a minute",
		59 * time.Second:                  "less than a minute",
		time.Minute:                       "1 minute",
		2*time.Hour - 8*time.Second:       "1 hour 59 minutes",
		2*time.Hour - 7*time.Second:       "2 hours",
		2 * time.Hour:                     "2 hours",
		day - 2*time.Minute:               "23 hours 58 minutes",
		day - 1:                           "1 day",
		day:                               "1 day",
		day + 58*time.Minute:              "1 day",
		3*day - time.Minute:               "3 days",
		3*day - 5*time.Minute:             "2 days 23 hours",
		30*day - 6*time.Minute:            "29 days 23 hours",
		2*day + 3*time.Hour + time.Minute: "2 days 3 hours",
		366 * day:                         "366 days",
	} {
		if got := english(LeftText(d)); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ at, zone, want string }{
		{"2026-11-24T14:00:59Z", "", "Tue 24 Nov 14:00 UTC"},
		{"2026-11-24T14:00:00Z", "Europe/Paris", "Tue 24 Nov 15:00 CET"},
		{"2026-07-24T23:00:00Z", "Europe/Paris", "Sat 25 Jul 01:00 CEST"},
		{"2026-11-24T14:00:00Z", "America/Sao_Paulo", "Tue 24 Nov 11:00 UTC-03"},
		{"2026-12-31T22:59:00Z", "Europe/Paris", "Thu 31 Dec 23:59 CET"},
		{"2026-12-31T23:00:00Z", "Europe/Paris", "Fri 1 Jan 2027 00:00 CET"},
	} {
		at, _ := time.Parse(time.RFC3339, test.at)
		zone, _ := Zone(test.zone)
		if got := english(InstantText(at, now.In(zone))); got != test.want {
			t.Errorf("%s in %s: %q, want %q", test.at, test.zone, got, test.want)
		}
	}
}

// Until when a player has time is said in the same words for as long as they have that
// time, whenever the clock is read.
func TestUntil(t *testing.T) {
	const until = "until Wed 4 Nov 12:00 UTC"
	for _, x := range []struct {
		control, from, to string // when it is read first and last
		want              string
		plain             bool
	}{
		{"2d", "2 Nov 12:00", "4 Nov 11:59", until, true},
		{"fischer 2d+1d max 9d", "2 Nov 12:00", "4 Nov 11:59", until, true},
		{"absolute 2d vacation 20", "2 Nov 12:00", "4 Nov 11:59", until, false},
		{"absolute 2d vacation 20", "4 Nov 12:00", "24 Nov 11:00", "on vacation until Tue 24 Nov 12:00 UTC", false},
		{"canadian 2d 10/3d", "2 Nov 12:00", "4 Nov 11:59", until + ", then 10 turns in 3 days", false},
		{"canadian 2d 10/3d", "4 Nov 12:00", "7 Nov 11:59", "until Sat 7 Nov 12:00 UTC for 10 turns", false},
		{"byoyomi 2d 2x12h", "2 Nov 12:00", "4 Nov 11:59", until + ", then 2 periods of 12 hours", false},
		{"byoyomi 2d 2x12h", "4 Nov 12:00", "4 Nov 23:59", "until Thu 5 Nov 00:00 UTC, then 1 more period of 12 hours", false},
		{"byoyomi 2d 2x12h", "5 Nov 00:00", "5 Nov 11:59", "until Thu 5 Nov 12:00 UTC, the last period", false},
		{"5d weekends", "2 Nov 12:00", "9 Nov 11:59", "until Mon 9 Nov 12:00 UTC", true},
	} {
		c := control(t, x.control)
		began := event(t, 1, "2 Nov 12:00 | start")
		for at, end := clockTime26(t, strings.Fields(x.from)), clockTime26(t, strings.Fields(x.to)); !at.After(end); at = at.Add(47 * time.Minute) {
			says, plain := c.Read([]Event{began}, at).Until(c)
			if got := english(says); got != x.want || plain != x.plain {
				t.Errorf("%s at %s: %q, plain %v", x.control, at, got, plain)
			}
		}
	}
}
