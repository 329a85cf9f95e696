package bot

import (
	"errors"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Words says what a time control is, to people who are about to play with it,
// in English.
func (c TimeControl) Words() string { return text.English.Say(c.text()) }

func (c TimeControl) text() Text {
	if c.Kind == NoTime {
		return say("clock.words.none")
	}
	main, period := lengthText(c.Main), lengthText(c.Period)
	var kind Text
	switch c.Kind {
	case PerTurn:
		kind = say("clock.words.turn", main)
	case Fischer:
		kind = say("clock.words.fischer", main, lengthText(c.Increment), lengthText(c.Cap))
	case Absolute:
		kind = say("clock.words.absolute", main)
	case ByoYomi:
		kind = say("clock.words.byoyomi", main, say("clock.periods", c.Periods), period)
		if c.Main == 0 {
			kind = say("clock.words.byoyomi.only", say("clock.periods", c.Periods), period)
		}
	case Canadian:
		kind = say("clock.words.canadian", main, say("clock.turns", c.Stones), period)
		if c.Main == 0 {
			kind = say("clock.words.canadian.only", say("clock.turns", c.Stones), period)
		}
	}
	zone := c.Zone
	if zone == "" {
		zone = "UTC"
	}
	night := clockTime(c.Night.From) + "–" + clockTime(c.Night.To)
	var pauses, vacation any = "", ""
	end := say("clock.words.loss")
	switch {
	case c.Weekends && c.Night != (Hours{}):
		pauses = say("clock.words.both", night, zone)
	case c.Weekends:
		pauses = say("clock.words.weekends", zone)
	case c.Night != (Hours{}):
		pauses = say("clock.words.night", night, zone)
	}
	if c.Vacation > 0 {
		vacation = say("clock.words.vacation", say("clock.days", c.Vacation))
	}
	if c.Claim {
		end = say("clock.words.claim")
	}
	return say("joined", kind, pauses, vacation, end)
}

// text says what a player has left for this turn, in a game with the control.
func (l Left) text(c TimeControl) Text {
	switch {
	case c.Kind == NoTime:
		return say("clock.words.none")
	case l.Turn > 0 && l.Main == 0 && c.Kind == ByoYomi && l.Periods == 1:
		return say("clock.left.last", leftText(l.Period))
	case l.Turn > 0 && l.Main == 0 && c.Kind == ByoYomi:
		return say("clock.left.period", leftText(l.Period), say("clock.more", l.Periods-1), lengthText(c.Period))
	case l.Turn > 0 && c.Kind == ByoYomi:
		return say("clock.left.byoyomi", leftText(l.Main), say("clock.periods", l.Periods), lengthText(c.Period))
	case l.Turn > 0 && l.Main == 0 && c.Kind == Canadian:
		return say("clock.left.stones", leftText(l.Period), say("clock.turns", l.Stones))
	case l.Turn > 0 && c.Kind == Canadian:
		return say("clock.left.canadian", leftText(l.Main), say("clock.turns", l.Stones), lengthText(l.Period))
	case l.Turn > 0:
		return leftText(l.Turn)
	case l.Vacation > 0:
		return say("clock.left.vacation", leftText(l.Vacation))
	}
	return say("clock.left.nothing")
}

// Words is text in English.
func (l Left) Words(c TimeControl) string { return text.English.Say(l.text(c)) }

// LeftWords says an amount of time with its two largest units, in English:
// "2 days 3 hours". The rest is cut off, so that nobody is promised more than
// there is.
func LeftWords(d time.Duration) string { return text.English.Say(leftText(d)) }

func leftText(d time.Duration) Text {
	switch {
	case d <= 0:
		return say("clock.left.none")
	case d < time.Minute:
		return say("clock.left.moment")
	case d >= day:
		return lengthText(d.Truncate(time.Hour))
	}
	return lengthText(d)
}

// lengthText says a duration in days, hours and minutes.
func lengthText(d time.Duration) Text {
	var parts []Text
	for _, u := range []struct {
		length time.Duration
		key    string
	}{{day, "clock.days"}, {time.Hour, "clock.hours"}, {time.Minute, "clock.minutes"}} {
		if n := int(d / u.length); n > 0 {
			parts = append(parts, say(u.key, n))
			d -= time.Duration(n) * u.length
		}
	}
	if parts == nil {
		return say("clock.minutes", 0)
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out = say("clock.and", out, p)
	}
	return out
}

// DeadlineWords says an instant as the wall clock of a zone shows it, in English:
// "Tue 24 Nov 14:00 UTC". Seconds are cut off, so that nobody is promised more
// than there is. The year is said if it is not that of now.
func DeadlineWords(t, now time.Time, zone *time.Location) string {
	return text.English.Say(deadlineText(t, now, zone))
}

func deadlineText(t, now time.Time, zone *time.Location) Text {
	t, now = t.In(zone), now.In(zone)
	name, _ := t.Zone()
	if name == "" || name[0] == '+' || name[0] == '-' {
		name = "UTC" + name
	}
	key := "clock.date"
	if t.Year() != now.Year() {
		key = "clock.date.year"
	}
	weekday := say("clock.weekday." + strconv.Itoa(int(t.Weekday())))
	month := say("clock.month." + strconv.Itoa(int(t.Month())))
	return say(key, weekday, strconv.Itoa(t.Day()), month, strconv.Itoa(t.Year()), clockTime(t.Hour()*60+t.Minute()), name)
}

// clockTime writes a minute of the day: "07:00".
func clockTime(minute int) string {
	two := func(n int) string { return strconv.Itoa(n/10) + strconv.Itoa(n%10) }
	return two(minute/60) + ":" + two(minute%60)
}

// A problem is what is wrong with what somebody typed, as an error: its text is
// in English, and [Explain] has it in other languages.
type problem struct{ Text }

func (p *problem) Error() string { return text.English.Say(p.Text) }

// Explain words an error of Parse and of others that are for the person who
// typed, in the language of a BCP 47 tag.
func Explain(err error, tag string) string { return text.BestLanguage(tag).Say(wrong(err)) }

// wrong makes a text of an error that is for the person who typed.
func wrong(err error) Text {
	var p *problem
	if errors.As(err, &p) {
		return p.Text
	}
	return text.Sentence(err)
}

// clockError makes an error for a person who typed.
func clockError(key string, args ...any) error { return &problem{say(key, args...)} }
