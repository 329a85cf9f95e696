package clock

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// maxControl is how long a time control may be when written, in bytes.
const maxControl = 200

// spelling holds the replacements that parsing makes first.
var spelling = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`[,;]`), " "},
	{regexp.MustCompile(`[–—−]`), "-"},
	{regexp.MustCompile(`(\d)\s+(?i:(weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m)\b)`), "$1$2"},
	{regexp.MustCompile(`(\d)\s*[xX×*]\s*(\d)`), "${1}x $2"},
	{regexp.MustCompile(`(\d)\s*/\s*(\d)`), "$1/ $2"},
	{regexp.MustCompile(`(\d[a-zA-Z]*)\s*\+\s*`), "$1 + "},
	{regexp.MustCompile(`(\d)\s*-\s*(\d)`), "$1-$2"},
}

// Parse reads a time control as people type it, of any case and
// spacing:
//
//	none                      no clock
//	3d                        for every turn; also "simple 3d", "3 days per turn"
//	fischer 7d+1d max 14d     bank, increment and cap; without max, the bank is the cap
//	absolute 30d              for the whole game
//	byoyomi 10d 3x2d          main time and 3 periods of 2 days
//	canadian 10d 15/5d        main time, then 15 turns in every 5 days
//
// Durations have weeks, days, hours and minutes: "1w", "1d12h", "90 minutes".
// After it may come, in any order:
//
//	weekends                  they do not count
//	night 23-7                nor do these hours; also 22:30-6:45
//	Europe/Paris              the zone that says when these are, by its IANA name; else UTC
//	vacation 20               days a year for each player, spent by themselves
//	claim                     a fallen flag must be claimed; or loss, which is usual
//
// The errors are for the person who typed.
func Parse(s string) (Control, error) {
	if len(s) > maxControl {
		return Control{}, text.Error("clock.long", strconv.Itoa(maxControl))
	}
	for _, c := range spelling {
		s = c.from.ReplaceAllString(s, c.to)
	}
	p := parser{words: strings.Fields(s)}
	c, err := p.control()
	if err == nil {
		err = p.options(&c)
	}
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return Control{}, err
	}
	return c, nil
}

// A parser has the words that are still to be read.
type parser struct{ words []string }

// peek returns the next word in small letters, or "".
func (p *parser) peek() string {
	if len(p.words) == 0 {
		return ""
	}
	return strings.ToLower(p.words[0])
}

// take takes the next word, if it is one of these.
func (p *parser) take(words ...string) bool {
	for _, w := range words {
		if len(p.words) > 0 && p.peek() == w {
			p.words = p.words[1:]
			return true
		}
	}
	return false
}

// control reads a time control up to its options.
func (p *parser) control() (c Control, err error) {
	switch {
	case p.take("none", "unlimited"):
	case p.take("fischer"):
		c.Kind = Fischer
		if c.Main, err = p.duration("fischer 7d+1d max 14d"); err != nil {
			return c, err
		}
		if !p.take("+") {
			return c, text.Error("clock.increment", durationText(c.Main))
		}
		if c.Increment, err = p.duration("fischer 7d+1d max 14d"); err != nil {
			return c, err
		}
		c.Cap = c.Main
		if p.take("max", "cap") {
			c.Cap, err = p.duration("fischer 7d+1d max 14d")
		}
	case p.take("absolute"):
		c.Kind = Absolute
		c.Main, err = p.duration("absolute 30d")
	case p.take("byoyomi", "byo-yomi", "japanese"):
		c.Kind = ByoYomi
		c.Main, c.Periods, c.Period, err = p.overtime("x", "byoyomi 10d 3x2d")
	case p.take("canadian"):
		c.Kind = Canadian
		c.Main, c.Stones, c.Period, err = p.overtime("/", "canadian 10d 15/5d")
	default:
		simple := p.take("simple")
		if _, ok := ParseLength(p.peek()); !ok && !simple {
			return c, text.Error("clock.unknown", text.Shorten(strings.Join(p.words, " ")))
		}
		c.Kind = PerTurn
		c.Main, err = p.duration("3d")
		if p.take("per", "a", "each", "every") {
			p.take("turn", "move")
		}
	}
	return c, err
}

// overtime reads main time and a number of periods or stones.
func (p *parser) overtime(sign, example string) (main time.Duration, n int, period time.Duration, err error) {
	if main, err = p.duration(example); err != nil {
		return
	}
	p.take("+")
	number, ok := strings.CutSuffix(p.peek(), sign)
	if n, err = strconv.Atoi(number); !ok || err != nil {
		return main, 0, 0, text.Error("clock.overtime", text.Shorten(p.peek()), example)
	}
	p.words = p.words[1:]
	period, err = p.duration(example)
	return
}

// duration reads a duration: "1d12h", or "1d" and "12h".
func (p *parser) duration(example string) (time.Duration, error) {
	if p.peek() == "" {
		return 0, text.Error("clock.missing", example)
	}
	d, ok := ParseLength(p.peek())
	if !ok {
		return 0, text.Error("clock.duration", text.Shorten(p.peek()), example)
	}
	for p.words = p.words[1:]; ; p.words = p.words[1:] {
		more, ok := ParseLength(p.peek())
		if !ok {
			return d, nil
		}
		d += more
	}
}

// options reads all that may follow.
func (p *parser) options(c *Control) error {
	for len(p.words) > 0 {
		word := p.words[0]
		switch {
		case p.take("weekends", "weekend"):
			c.Weekends = true
			p.take("off")
		case p.take("night", "nights"):
			h, ok := ParseHours(p.peek())
			if !ok {
				return text.Error("clock.bad.hours", text.Shorten(p.peek()))
			}
			c.Night = h
			p.words = p.words[1:]
		case p.take("vacation", "vacations"):
			days, err := strconv.Atoi(strings.TrimRight(p.peek(), "days"))
			if err != nil {
				return text.Error("clock.vacation", text.Shorten(p.peek()), strconv.Itoa(maxVacation))
			}
			c.Vacation = days
			p.words = p.words[1:]
		case p.take("claim"):
			c.Claim = true
		case p.take("loss"):
			c.Claim = false
		case strings.Contains(word, "/") || p.peek() == "utc":
			zone, ok := ZoneName(word)
			if !ok {
				return text.Error("clock.zone", text.Shorten(word))
			}
			if c.Zone != "" && c.Zone != zone {
				return text.Error("clock.zones", c.Zone, text.Shorten(word))
			}
			c.Zone = zone
			p.words = p.words[1:]
		default:
			return text.Error("clock.option", text.Shorten(word))
		}
	}
	return nil
}

var durationPart = regexp.MustCompile(`^(\d{1,6})(weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m)`)

// ParseLength reads a length of time, "1d12h" or "2w", and reports whether it is one. It is
// never longer than two years.
func ParseLength(s string) (d time.Duration, ok bool) {
	for s != "" {
		m := durationPart.FindStringSubmatch(s)
		if m == nil {
			return 0, false
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, false
		}
		unit := map[byte]time.Duration{'w': 7 * day, 'd': day, 'h': time.Hour, 'm': time.Minute}[m[2][0]]
		d = min(d+min(time.Duration(n), 2*maxTime/unit)*unit, 2*maxTime) // too much is too much
		s, ok = s[len(m[0]):], true
	}
	return d, ok
}

// durationText writes a duration of whole minutes as ParseLength reads it.
func durationText(d time.Duration) string {
	if d == 0 {
		return "0d"
	}
	s := ""
	for _, u := range []struct {
		length time.Duration
		letter string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := d / u.length; n > 0 {
			s += strconv.Itoa(int(n)) + u.letter
			d -= n * u.length
		}
	}
	return s
}

// ParseHours reads hours of the day: "23-7", "22:30-6:45", "20-24". From and To
// differ.
func ParseHours(s string) (Hours, bool) {
	from, to, ok := strings.Cut(strings.ReplaceAll(s, "–", "-"), "-")
	h := Hours{minuteOfDay(from), minuteOfDay(to)}
	h.To %= minutesADay // 24:00
	return h, ok && 0 <= h.From && h.From < minutesADay && 0 <= h.To && h.From != h.To
}

// minuteOfDay reads "7", "07:00" or "24:00"; it returns -1 for anything else.
func minuteOfDay(s string) int {
	hour, minute, _ := strings.Cut(s, ":")
	if minute == "" {
		minute = "0"
	}
	h, err1 := strconv.ParseUint(hour, 10, 8)
	m, err2 := strconv.ParseUint(minute, 10, 8)
	if err1 != nil || err2 != nil || m > 59 || h*60+m > minutesADay {
		return -1
	}
	return int(h*60 + m)
}

// String writes hours as ParseHours reads them.
func (h Hours) String() string {
	part := func(m int) string {
		if m%60 == 0 {
			return strconv.Itoa(m / 60)
		}
		return fmt.Sprintf("%d:%02d", m/60, m%60)
	}
	return part(h.From) + "-" + part(h.To)
}

// ZoneName returns the IANA name of a zone that somebody typed in any case, and
// reports whether there is one. That of UTC is "".
func ZoneName(s string) (string, bool) {
	if strings.EqualFold(s, "utc") {
		return "", true
	}
	title := []byte(strings.ToLower(s))
	for i := range title {
		if (i == 0 || strings.IndexByte("/_-", title[i-1]) >= 0) && 'a' <= title[i] && title[i] <= 'z' {
			title[i] -= 'a' - 'A'
		}
	}
	for _, name := range []string{s, string(title)} {
		if _, ok := Zone(name); ok {
			return name, true
		}
	}
	return "", false
}

// Check finds what is wrong with a time control, and says it to the person who
// asked for it.
func (c Control) Check() error {
	want := Control{Kind: c.Kind, Main: c.Main, Weekends: c.Weekends, Night: c.Night, Zone: c.Zone, Vacation: c.Vacation, Claim: c.Claim}
	least, shortest := minTime, minTime
	switch c.Kind {
	case None:
		if c != (Control{}) {
			return text.Error("clock.none")
		}
		return nil
	case PerTurn, Absolute:
	case Fischer:
		want.Increment, want.Cap, shortest = c.Increment, c.Cap, c.Increment
	case ByoYomi:
		want.Periods, want.Period, least, shortest = c.Periods, c.Period, 0, c.Period
	case Canadian:
		want.Stones, want.Period, least, shortest = c.Stones, c.Period, 0, c.Period
	default:
		return text.Error("clock.unknown", text.Shorten(string(c.Kind)))
	}
	type mistake struct {
		made bool
		says error
	}
	mistakes := []mistake{
		{c.Kind == Fischer && c.Cap < max(c.Main, c.Increment), text.Error("clock.cap", durationText(c.Cap), durationText(max(c.Main, c.Increment)))},
		{c.Kind == ByoYomi && outside(c.Periods, 1, maxPeriods), text.Error("clock.bad.periods", strconv.Itoa(c.Periods), strconv.Itoa(maxPeriods))},
		{c.Kind == Canadian && outside(c.Stones, 1, maxStones), text.Error("clock.stones", strconv.Itoa(c.Stones), strconv.Itoa(maxStones))},
		{c != want, text.Error("clock.fields", string(c.Kind))},
	}
	for _, d := range []struct{ is, min, max time.Duration }{
		{c.Main, least, maxTime}, {want.Increment, 0, maxTime}, {want.Cap, 0, maxTime}, {want.Period, 0, maxPeriod},
	} {
		mistakes = append(mistakes,
			mistake{d.is < d.min, text.Error("clock.short", LengthText(d.min))},
			mistake{d.is > d.max, text.Error("clock.far", LengthText(d.is), LengthText(d.max))},
			mistake{d.is%time.Minute != 0, text.Error("clock.whole")})
	}
	n := c.Night
	sameEnds := n != (Hours{}) && n.From == n.To
	zone, known := ZoneName(c.Zone)
	place := known && zone == c.Zone && strings.Contains(zone, "/")
	mistakes = append(mistakes,
		mistake{shortest < minTime, text.Error("clock.short", LengthText(minTime))},
		mistake{outside(n.From, 0, minutesADay-1) || outside(n.To, 0, minutesADay-1) || sameEnds, text.Error("clock.bad.hours", n.String())},
		mistake{n.length() > maxNight, text.Error("clock.night", n.String(), strconv.Itoa(maxNight/60))},
		mistake{outside(c.Vacation, 0, maxVacation), text.Error("clock.vacation", strconv.Itoa(c.Vacation), strconv.Itoa(maxVacation))},
		mistake{c.Zone != "" && !place, text.Error("clock.zone", text.Shorten(c.Zone))})
	for _, m := range mistakes {
		if m.made {
			return m.says
		}
	}
	return nil
}

func outside(n, least, most int) bool { return n < least || n > most }

// String writes a time control as Parse reads it.
func (c Control) String() string {
	main := durationText(c.Main)
	s := ""
	switch c.Kind {
	case None:
		return "none"
	case PerTurn:
		s = main
	case Fischer:
		s = "fischer " + main + "+" + durationText(c.Increment) + " max " + durationText(c.Cap)
	case Absolute:
		s = "absolute " + main
	case ByoYomi:
		s = "byoyomi " + main + " " + strconv.Itoa(c.Periods) + "x" + durationText(c.Period)
	case Canadian:
		s = "canadian " + main + " " + strconv.Itoa(c.Stones) + "/" + durationText(c.Period)
	}
	if c.Weekends {
		s += " weekends"
	}
	if c.Night != (Hours{}) {
		s += " night " + c.Night.String()
	}
	if c.Zone != "" {
		s += " " + c.Zone
	}
	if c.Vacation != 0 {
		s += " vacation " + strconv.Itoa(c.Vacation)
	}
	if c.Claim {
		s += " claim"
	}
	return s
}

// MarshalText writes a time control that is right as String does. So its JSON is
// a string.
func (c Control) MarshalText() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (c *Control) UnmarshalText(text []byte) (err error) {
	if *c = (Control{}); string(text) != c.String() { // most games have no clock, and are read often
		*c, err = Parse(string(text))
	}
	return err
}
