package clock

import (
	"slices"
	"sort"
	"sync"
	"time"
)

// Hours are hours of every day by local time, in minutes after midnight: From 1380 To
// 420 is from 23:00 to 07:00 of the next morning. The zero value is empty.
type Hours struct{ From, To int }

// hold reports whether a minute of the day lies in the hours.
func (h Hours) hold(minute int) bool {
	if h.From <= h.To {
		return h.From <= minute && minute < h.To
	}
	return minute >= h.From || minute < h.To
}

// length returns how long the hours are, in minutes.
func (h Hours) length() int { return (h.To - h.From + minutesADay) % minutesADay }

// Until returns when the hours around t end, by the local time of a zone, and reports
// whether t lies in them.
func (h Hours) Until(t time.Time, zone *time.Location) (end time.Time, within bool) {
	_, end, within = calendar{night: h, zone: zone}.pause(t)
	return end, within
}

const minutesADay = 24 * 60

// never is later than any meaningful time.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// instant returns a time as the clocks use it: in UTC, without the monotonic reading,
// which no log stores, and not after never.
func instant(t time.Time) time.Time { return earlier(t.UTC(), never) }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// A calendar defines which time counts, by the local time of a zone.
type calendar struct {
	weekends bool  // Saturdays and Sundays do not count
	night    Hours // nor do these
	zone     *time.Location
}

// next reports whether time counts at t, and until when that surely does not change.
//
// Between two changes of its offset a zone's clock runs like any other, so the next
// change is found by adding; the zone says where its offset changes. Hours that a zone
// skips or repeats therefore need no special treatment: local time decides what counts.
func (c calendar) next(t time.Time) (counts bool, until time.Time) {
	if !c.weekends && c.night == (Hours{}) {
		return true, never
	}
	t = t.In(c.zone)
	h, m, s := t.Clock()
	second := (h*60+m)*60 + s
	change := minutesADay * 60
	for _, edge := range [...]int{c.night.From * 60, c.night.To * 60} {
		if second < edge && edge < change {
			change = edge
		}
	}
	until = time.Unix(t.Unix()+int64(change-second), 0).UTC()
	if _, end := t.ZoneBounds(); !end.IsZero() {
		until = earlier(until, end.UTC())
	}
	weekend := c.weekends && (t.Weekday() == time.Saturday || t.Weekday() == time.Sunday)
	return !weekend && !c.night.hold(h*60+m), until
}

// pause returns the span around t that does not count, if there is one.
func (c calendar) pause(t time.Time) (from, to time.Time, ok bool) {
	from = t.Add(-4 * 24 * time.Hour) // a weekend and its nights are shorter
	for at := from; ; {
		counts, until := c.next(at)
		switch {
		case counts && at.After(t):
			return from, at, true
		case counts && until.After(t):
			return t, t, false
		case counts:
			from = until
		}
		at = until
	}
}

// A span is the time between two instants, without the second.
type span struct{ from, to time.Time }

// A timeline defines which time counts in a game: that of its calendar, except the spans
// that were paused or credited.
type timeline struct {
	calendar
	off []span // in order, apart from each other
}

// union returns spans, in order and apart from each other, with one more. It does not
// change all.
func union(all []span, s span) []span {
	if !s.from.Before(s.to) {
		return all
	}
	i := sort.Search(len(all), func(i int) bool { return !all[i].to.Before(s.from) })
	j := i
	for ; j < len(all) && !all[j].from.After(s.to); j++ {
		s = span{earlier(s.from, all[j].from), later(s.to, all[j].to)}
	}
	return slices.Concat(all[:i], []span{s}, all[j:])
}

// next is like the calendar's.
func (l timeline) next(t time.Time) (counts bool, until time.Time) {
	i := sort.Search(len(l.off), func(i int) bool { return l.off[i].to.After(t) })
	if i < len(l.off) && !l.off[i].from.After(t) {
		return false, l.off[i].to
	}
	counts, until = l.calendar.next(t)
	if i < len(l.off) {
		until = earlier(until, l.off[i].from)
	}
	return counts, until
}

// counted returns how much of the time between two instants counts.
func (l timeline) counted(from, to time.Time) time.Duration {
	var d time.Duration
	for from.Before(to) {
		counts, until := l.next(from)
		until = earlier(until, to)
		if counts {
			d += until.Sub(from)
		}
		from = until
	}
	return d
}

// after returns the first instant by which d has counted since t.
func (l timeline) after(t time.Time, d time.Duration) time.Time {
	for d > 0 {
		counts, until := l.next(t)
		if !until.After(t) {
			return never
		}
		if counts {
			if s := until.Sub(t); s < d {
				d -= s
			} else {
				return t.Add(d)
			}
		}
		t = until
	}
	return t
}

// zones caches the zones that were used. There are about six hundred.
var zones sync.Map

// Zone returns a zone by its IANA name; "" is UTC. It refuses "Local", and other names
// that mean different things on different machines ("right/…").
func Zone(name string) (*time.Location, bool) {
	if name == "" {
		return time.UTC, true
	}
	if z, ok := zones.Load(name); ok {
		return z.(*time.Location), true
	}
	if name == "Local" || name[0] < 'A' || name[0] > 'Z' || len(name) > 64 {
		return time.UTC, false
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC, false
	}
	zones.Store(name, z)
	return z, true
}
