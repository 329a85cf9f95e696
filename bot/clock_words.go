package bot

import (
	"strconv"
	"strings"
	"time"
)

// Words says what a time control is, to people who are about to play with it.
func (c TimeControl) Words() string {
	if c.Kind == NoTime {
		return clockWord("clock.words.none")
	}
	main, period := durationWords(c.Main), durationWords(c.Period)
	text := ""
	switch c.Kind {
	case PerTurn:
		text = clockWord("clock.words.turn", main)
	case Fischer:
		text = clockWord("clock.words.fischer", main, durationWords(c.Increment), durationWords(c.Cap))
	case Absolute:
		text = clockWord("clock.words.absolute", main)
	case ByoYomi:
		text = clockWord("clock.words.byoyomi", main, clockCount(c.Periods, "period"), period)
		if c.Main == 0 {
			text = clockWord("clock.words.byoyomi.only", clockCount(c.Periods, "period"), period)
		}
	case Canadian:
		text = clockWord("clock.words.canadian", main, clockCount(c.Stones, "turn"), period)
		if c.Main == 0 {
			text = clockWord("clock.words.canadian.only", clockCount(c.Stones, "turn"), period)
		}
	}
	zone := c.Zone
	if zone == "" {
		zone = "UTC"
	}
	night := clockTime(c.Night.From) + "–" + clockTime(c.Night.To)
	switch {
	case c.Weekends && c.Night != (Hours{}):
		text += clockWord("clock.words.both", night, zone)
	case c.Weekends:
		text += clockWord("clock.words.weekends", zone)
	case c.Night != (Hours{}):
		text += clockWord("clock.words.night", night, zone)
	}
	if c.Vacation > 0 {
		text += clockWord("clock.words.vacation", clockCount(c.Vacation, "day"))
	}
	if c.Claim {
		return text + clockWord("clock.words.claim")
	}
	return text + clockWord("clock.words.loss")
}

// Words says what a player has left for this turn, in a game with the control.
func (l Left) Words(c TimeControl) string {
	switch {
	case c.Kind == NoTime:
		return clockWord("clock.words.none")
	case l.Turn > 0 && l.Main == 0 && c.Kind == ByoYomi && l.Periods == 1:
		return clockWord("clock.left.last", LeftWords(l.Period))
	case l.Turn > 0 && l.Main == 0 && c.Kind == ByoYomi:
		return clockWord("clock.left.period", LeftWords(l.Period), clockCount(l.Periods-1, "more period"), durationWords(c.Period))
	case l.Turn > 0 && c.Kind == ByoYomi:
		return clockWord("clock.left.byoyomi", LeftWords(l.Main), clockCount(l.Periods, "period"), durationWords(c.Period))
	case l.Turn > 0 && l.Main == 0 && c.Kind == Canadian:
		return clockWord("clock.left.stones", LeftWords(l.Period), clockCount(l.Stones, "turn"))
	case l.Turn > 0 && c.Kind == Canadian:
		return clockWord("clock.left.canadian", LeftWords(l.Main), clockCount(l.Stones, "turn"), durationWords(l.Period))
	case l.Turn > 0:
		return LeftWords(l.Turn)
	case l.Vacation > 0:
		return clockWord("clock.left.vacation", LeftWords(l.Vacation))
	}
	return clockWord("clock.left.nothing")
}

// LeftWords says an amount of time with its two largest units: "2 days 3 hours".
// The rest is cut off, so that nobody is promised more than there is.
func LeftWords(d time.Duration) string {
	switch {
	case d <= 0:
		return clockWord("clock.left.none")
	case d < time.Minute:
		return clockWord("clock.left.moment")
	case d >= day:
		return durationWords(d.Truncate(time.Hour))
	}
	return durationWords(d)
}

// durationWords says a duration in days, hours and minutes.
func durationWords(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		length time.Duration
		word   string
	}{{day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.length); n > 0 {
			parts = append(parts, clockCount(n, u.word))
			d -= time.Duration(n) * u.length
		}
	}
	if parts == nil {
		return clockCount(0, "minute")
	}
	return strings.Join(parts, " ")
}

// DeadlineWords says an instant as the wall clock of a zone shows it: "Tue 24 Nov
// 14:00 UTC". Seconds are cut off, so that nobody is promised more than there
// is. The year is said if it is not that of now.
func DeadlineWords(t, now time.Time, zone *time.Location) string {
	t, now = t.In(zone), now.In(zone)
	name, _ := t.Zone()
	if name == "" || name[0] == '+' || name[0] == '-' {
		name = "UTC" + name
	}
	date := clockWord("clock.date", clockWords("clock.weekdays")[t.Weekday()], strconv.Itoa(t.Day()), clockWords("clock.months")[t.Month()-1])
	if t.Year() != now.Year() {
		date += " " + strconv.Itoa(t.Year())
	}
	return date + " " + clockTime(t.Hour()*60+t.Minute()) + " " + name
}

// clockTime writes a minute of the day: "07:00".
func clockTime(minute int) string {
	two := func(n int) string { return strconv.Itoa(n/10) + strconv.Itoa(n%10) }
	return two(minute/60) + ":" + two(minute%60)
}

// clockCount says how many: "1 day", "2 days".
func clockCount(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strconv.Itoa(n) + " " + clockWord("clock.unit."+word)
}

// clockWords gives a list of words.
func clockWords(key string) []string { return strings.Fields(clockEnglish[key]) }

// clockWord puts arguments into what a key stands for.
func clockWord(key string, args ...string) string {
	text := clockEnglish[key]
	for i, a := range args {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", a)
	}
	return text
}

// clockEnglish is everything that is said of clocks, by key. {0}, {1} … are
// arguments.
var clockEnglish = map[string]string{
	"clock.words.none":          "no clock",
	"clock.words.turn":          "{0} for every turn",
	"clock.words.fischer":       "{0} to begin with and {1} more after every turn, up to {2} (Fischer)",
	"clock.words.absolute":      "{0} for all turns together",
	"clock.words.byoyomi":       "{0}, then {1} of {2} (byo-yomi)",
	"clock.words.byoyomi.only":  "{0} of {1} (byo-yomi)",
	"clock.words.canadian":      "{0}, then {1} in every {2} (Canadian)",
	"clock.words.canadian.only": "{0} in every {1} (Canadian)",
	"clock.words.weekends":      "; weekends do not count ({0})",
	"clock.words.night":         "; {0} does not count ({1})",
	"clock.words.both":          "; weekends and {0} do not count ({1})",
	"clock.words.vacation":      "; {0} of vacation a year, spent only when all else is gone",
	"clock.words.claim":         "; when time is out, the opponent may claim the game",
	"clock.words.loss":          "; who runs out of time loses",

	"clock.left.byoyomi":  "{0}, then {1} of {2}",
	"clock.left.period":   "{0}, then {1} of {2}",
	"clock.left.last":     "{0}, the last period",
	"clock.left.canadian": "{0}, then {1} in {2}",
	"clock.left.stones":   "{0} for {1}",
	"clock.left.vacation": "on vacation, with {0} of it left",
	"clock.left.nothing":  "out of time",
	"clock.left.none":     "no time",
	"clock.left.moment":   "less than a minute",

	"clock.unit.day": "day", "clock.unit.days": "days",
	"clock.unit.hour": "hour", "clock.unit.hours": "hours",
	"clock.unit.minute": "minute", "clock.unit.minutes": "minutes",
	"clock.unit.turn": "turn", "clock.unit.turns": "turns",
	"clock.unit.period": "period", "clock.unit.periods": "periods",
	"clock.unit.more period": "more period", "clock.unit.more periods": "more periods",

	"clock.date":     "{0} {1} {2}",
	"clock.weekdays": "Sun Mon Tue Wed Thu Fri Sat",
	"clock.months":   "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",

	"clock.unknown":   "I know no clock “{0}”. Try none, 3d, fischer 7d+1d max 14d, byoyomi 10d 3x2d or canadian 10d 15/5d.",
	"clock.long":      "That is too long for a clock: at most {0} characters.",
	"clock.duration":  "“{0}” is not a length of time. Days, hours and minutes are written 3d, 12h, 90m or 1d12h, for example: {1}",
	"clock.increment": "Fischer time needs what a turn adds to the bank: fischer {0}+1d",
	"clock.overtime":  "“{0}” does not say what follows the main time, for example: {1}",
	"clock.cap":       "A bank cannot hold more than its cap: max {0} must be at least {1}.",
	"clock.periods":   "“{0}” periods cannot be: there are 1 to {1}.",
	"clock.stones":    "“{0}” turns in a period cannot be: there are 1 to {1}.",
	"clock.short":     "That is too short: at least {0}.",
	"clock.far":       "{0} is too long: at most {1}.",
	"clock.minutes":   "Clocks count in whole minutes.",
	"clock.hours":     "“{0}” are not hours of the night, for example: night 23-7, or night 22:30-6:45",
	"clock.night":     "The night {0} is too long: at most {1} hours.",
	"clock.vacation":  "“{0}” is not a number of vacation days a year: 0 to {1}, for example: vacation 20",
	"clock.zone":      "I know no zone “{0}”. Zones are written like Europe/Paris, America/New_York or UTC.",
	"clock.zones":     "A game has one zone: is it {0} or {1}?",
	"clock.none":      "A game without a clock has no weekends, nights, vacation or flag: just none.",
	"clock.fields":    "A clock of kind {0} has something that belongs to another kind.",
	"clock.option":    "I do not understand “{0}” in a clock. After it may come weekends, night 23-7, Europe/Paris, vacation 20, claim.",
}
