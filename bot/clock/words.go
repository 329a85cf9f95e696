package clock

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Words is [Control.Text] in English.
func (c Control) Words() string { return text.English.Say(c.Text()) }

// Text says what a time control is, to people who are about to play with it.
func (c Control) Text() text.Message {
	if c.Kind == None {
		return text.Say("clock.words.none")
	}
	main, period := LengthText(c.Main), LengthText(c.Period)
	var kind text.Message
	switch c.Kind {
	case PerTurn:
		kind = text.Say("clock.words.turn", main)
	case Fischer:
		kind = text.Say("clock.words.fischer", main, LengthText(c.Increment), LengthText(c.Cap))
	case Absolute:
		kind = text.Say("clock.words.absolute", main)
	case ByoYomi:
		kind = text.Say("clock.words.byoyomi", main, text.Say("clock.periods", c.Periods), period)
		if c.Main == 0 {
			kind = text.Say("clock.words.byoyomi.only", text.Say("clock.periods", c.Periods), period)
		}
	case Canadian:
		kind = text.Say("clock.words.canadian", main, text.Say("clock.turns", c.Stones), period)
		if c.Main == 0 {
			kind = text.Say("clock.words.canadian.only", text.Say("clock.turns", c.Stones), period)
		}
	}
	zone := cmp.Or(c.Zone, "UTC")
	night := clockTime(c.Night.From) + "–" + clockTime(c.Night.To)
	var pauses, vacation any = "", ""
	end := text.Say("clock.words.loss")
	switch {
	case c.Weekends && c.Night != (Hours{}):
		pauses = text.Say("clock.words.both", night, zone)
	case c.Weekends:
		pauses = text.Say("clock.words.weekends", zone)
	case c.Night != (Hours{}):
		pauses = text.Say("clock.words.night", night, zone)
	}
	if c.Vacation > 0 {
		vacation = text.Say("clock.words.vacation", text.Say("clock.days", c.Vacation))
	}
	if c.Claim {
		end = text.Say("clock.words.claim")
	}
	return text.Say("joined", kind, pauses, vacation, end)
}

// Text says what a player has left for this turn, in a game with the control.
func (l Left) Text(c Control) text.Message {
	return l.text(c, LeftText)
}

// Until says until when the player to move, whose clock runs, has what they have left, in
// a game with the control: what Text says, and true for as long as they do not play. It
// reports whether that is just the deadline.
func (r Reading) Until(c Control) (says text.Message, plain bool) {
	l := r.Left(r.ToPlay)
	if l.Turn == 0 {
		return text.Say("clock.left.away", InstantText(r.Deadline, r.At)), false
	}
	end := r.At
	says = l.text(c, func(d time.Duration) text.Message {
		end = r.line.after(r.At, d)
		return text.Say("clock.left.until", InstantText(end, r.At))
	})
	return says, says.Key == "clock.left.until" && end.Equal(r.Deadline)
}

// text is Text with amounts of time worded by amount.
func (l Left) text(c Control, amount func(time.Duration) text.Message) text.Message {
	periods, stones := text.Say("clock.periods", l.Periods), text.Say("clock.turns", l.Stones)
	inPeriods := l.Main == 0
	switch {
	case c.Kind == None:
		return text.Say("clock.words.none")
	case l.Turn <= 0 && l.Vacation > 0:
		return text.Say("clock.left.vacation", amount(l.Vacation))
	case l.Turn <= 0:
		return text.Say("clock.left.nothing")
	case c.Kind == ByoYomi && inPeriods && l.Periods == 1:
		return text.Say("clock.left.last", amount(l.Period))
	case c.Kind == ByoYomi && inPeriods:
		return text.Say("clock.left.period", amount(l.Period), text.Say("clock.more", l.Periods-1), LengthText(c.Period))
	case c.Kind == ByoYomi:
		return text.Say("clock.left.byoyomi", amount(l.Main), periods, LengthText(c.Period))
	case c.Kind == Canadian && inPeriods:
		return text.Say("clock.left.stones", amount(l.Period), stones)
	case c.Kind == Canadian:
		return text.Say("clock.left.canadian", amount(l.Main), stones, LengthText(l.Period))
	}
	return amount(l.Turn)
}

// LeftText says an amount of time with its two largest units: "2 days 3 hours".
// The rest is cut off, to promise no more time than there is, unless a
// thousandth of the time completes the smaller unit: a clock of three days does not
// begin with two.
func LeftText(d time.Duration) text.Message {
	switch {
	case d <= 0:
		return text.Say("clock.left.none")
	case d < time.Minute:
		return text.Say("clock.left.moment")
	}
	unit := time.Minute
	if d >= day {
		unit = time.Hour
	}
	if more := (unit - d%unit) % unit; more <= min(d/1000, 5*time.Minute) {
		d += more
	}
	return LengthText(d.Truncate(unit))
}

// LengthText says a length of time in days, hours and minutes.
func LengthText(d time.Duration) text.Message {
	var parts []text.Message
	for _, u := range []struct {
		length time.Duration
		key    string
	}{{day, "clock.days"}, {time.Hour, "clock.hours"}, {time.Minute, "clock.minutes"}} {
		if n := int(d / u.length); n > 0 {
			parts = append(parts, text.Say(u.key, n))
			d -= time.Duration(n) * u.length
		}
	}
	if parts == nil {
		return text.Say("clock.minutes", 0)
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out = text.Say("clock.and", out, p)
	}
	return out
}

// AgoText is InstantText for an instant of which people want to know how far off it is.
func AgoText(at, now time.Time) text.Message { return text.Ago(at, instantWords(at, now)) }

// InstantText says an instant as the wall clock of the zone of now shows it: "Tue 24
// Nov 14:00 UTC", and lets a platform write it in its own way. Seconds are cut off, to
// promise no more time than there is. The year is left out if it is that of now.
func InstantText(at, now time.Time) text.Message { return text.Instant(at, instantWords(at, now)) }

func instantWords(at, now time.Time) text.Message {
	t := at.In(now.Location())
	name, _ := t.Zone()
	if name == "" || name[0] == '+' || name[0] == '-' {
		name = "UTC" + name
	}
	key := "clock.date"
	if t.Year() != now.Year() {
		key = "clock.date.year"
	}
	weekday := text.Say("clock.weekday." + strconv.Itoa(int(t.Weekday())))
	month := text.Say("clock.month." + strconv.Itoa(int(t.Month())))
	return text.Say(key, weekday, strconv.Itoa(t.Day()), month, strconv.Itoa(t.Year()), clockTime(t.Hour()*60+t.Minute()), name)
}

// clockTime writes a minute of the day: "07:00".
func clockTime(minute int) string {
	return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
}
