package rooms

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// No flag may fall because the process was stopped, the machine slept or somebody
// set its clock. Two things prevent that:
//
//   - The bot looks at the time every few seconds. If two looks are further
//     apart than a pulse, the bot did not run in between, and every clock that ran is
//     credited with the gap.
//   - It reads two clocks, the machine's and one that nobody can set. If they disagree,
//     somebody has set the machine's. The bot uses the other one, and follows
//     the machine's only after the difference has lasted for a while: for long if it is
//     great, because what is stored meanwhile, such as credits, would be as far off.

const (
	// Pulse is the longest time between two looks at the clock: after a longer one the bot was away.
	Pulse = 20 * time.Second

	aliveMark = "bot:alive" // the bookmark of the last look, in milliseconds of Unix time

	clocksDiffer  = time.Second // by which two clocks may differ between two readings
	believedAfter = time.Minute // how long a clock must have been set before the bot follows it,
	farAfter      = time.Hour   // or this long if it is off by more than farOff
	farOff        = 24 * time.Hour
)

// A steadyClock returns the time of day. When its wall clock jumps, it does not follow
// at once. Its methods may be called concurrently.
type steadyClock struct {
	wall    func() time.Time
	elapsed func() time.Duration // since any moment; nil: there is only the wall clock

	mu      sync.Mutex
	at      time.Time     // the last reading that both clocks agreed on
	since   time.Duration // what had elapsed then
	off     time.Duration // by how much the wall clock has been set since; 0: not
	offFrom time.Duration // what had elapsed when it was first seen to be off by that
}

func newSteadyClock(wall func() time.Time, elapsed func() time.Duration) *steadyClock {
	c := &steadyClock{wall: wall, elapsed: elapsed}
	if elapsed != nil {
		c.at, c.since = wall().Round(0), elapsed()
	}
	return c
}

// now returns the time.
func (c *steadyClock) now() time.Time {
	if c.elapsed == nil {
		return c.wall()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// read returns the time, and notes whether the clocks agree. c.mu is held.
func (c *steadyClock) read() time.Time {
	wall, elapsed := c.wall().Round(0), c.elapsed()
	steady := c.at.Add(elapsed - c.since)
	off := wall.Sub(steady)
	if off.Abs() <= clocksDiffer {
		c.at, c.since, c.off = wall, elapsed, 0
		return wall
	}
	if (off - c.off).Abs() > clocksDiffer {
		c.off, c.offFrom = off, elapsed
	}
	return steady
}

// set reports whether the wall clock has been set for long enough to be trusted.
func (c *steadyClock) set() bool {
	if c.elapsed == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	after := believedAfter
	if c.off.Abs() > farOff {
		after = farAfter
	}
	return c.off != 0 && c.elapsed()-c.offFrom >= after
}

// right reports whether the two clocks agreed when they were last read.
func (c *steadyClock) right() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.off == 0
}

// follow sets the time to that of the wall clock.
func (c *steadyClock) follow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.since, c.off = c.wall().Round(0), c.elapsed(), 0
}

// Now returns the time.
func (r *Rooms) Now() time.Time { return r.clock.now() }

// Present returns the time at which a request is decided. If the bot did not run for
// longer than a pulse before, it first stores that as an outage. A decision uses this
// time and reads no clock later: the process could be stopped in between.
func (r *Rooms) Present(ctx context.Context) (time.Time, error) {
	if now := r.Now(); r.beaten.Load() == 0 || r.beat(now) {
		return now, nil
	}
	return r.Look(ctx)
}

// Beat notes that the bot runs: doing much is no outage.
func (r *Rooms) Beat() { r.beat(r.Now()) }

// beat notes that the bot runs now, unless it was away before, or its clock has been
// set. It reports whether it has noted that.
func (r *Rooms) beat(now time.Time) bool {
	for {
		last := r.beaten.Load()
		if last == 0 || now.Sub(time.UnixMilli(last)) > Pulse || r.clock.set() {
			return false
		}
		if now.UnixMilli() <= last || r.beaten.CompareAndSwap(last, now.UnixMilli()) {
			return true
		}
	}
}

// Before returns when the bot last ran before this start; zero: it never did.
func (r *Rooms) Before(ctx context.Context) (time.Time, error) {
	if r.beaten.Load() == 0 {
		if _, err := r.Look(ctx); err != nil {
			return time.Time{}, err
		}
	}
	r.absence.Lock()
	defer r.absence.Unlock()
	return r.before, nil
}

// Look returns the time. If more than a pulse has passed since the last look, it stores
// that time as an outage. Once a pulse it stores that the bot runs.
func (r *Rooms) Look(ctx context.Context) (time.Time, error) {
	r.absence.Lock()
	defer r.absence.Unlock()
	now := r.Now()
	mark, err := r.store.Bookmark(ctx, aliveMark)
	if err != nil {
		return now, err
	}
	written, err := strconv.ParseInt(mark, 10, 64)
	known := err == nil
	if known && r.beaten.Load() == 0 {
		r.before = time.UnixMilli(written)
	}
	from := time.UnixMilli(max(written, r.beaten.Load()))
	if r.clock.set() {
		// Its time so far was right but for the jump.
		from = now
		r.clock.follow()
		now = r.Now()
		r.rightSince.Store(now.UnixMilli())
		r.log.Warn("system clock was set, time since the last heartbeat is corrected", "by", now.Sub(from))
	}
	if known && now.Sub(from) > Pulse {
		if err := r.absent(ctx, "", "", from, now); err != nil {
			return now, err
		}
	}
	every := Pulse
	if r.Shared { // others must see that this process runs
		every = Pulse / 4
	}
	if age := now.Sub(time.UnixMilli(written)); !known || age >= every || age < 0 {
		if err := r.store.SetBookmark(ctx, aliveMark, strconv.FormatInt(now.UnixMilli(), 10)); err != nil {
			return now, err
		}
	}
	r.beaten.Store(now.UnixMilli())
	return now, nil
}

// WhenRight calls do if the clock has been right for farAfter, and again after as long if
// do succeeds: it takes back what was stored while the bot believed a clock that was ahead.
// Times after the limit are surely wrong.
func (r *Rooms) WhenRight(do func(now, limit time.Time) error) error {
	now, since := r.Now(), time.UnixMilli(r.rightSince.Load())
	switch {
	case !r.clock.right() || now.Before(since): // then stored times may be right, and now is wrong
	case now.Sub(since) < farAfter:
		return nil
	default:
		if err := do(now, now.Add(farOff)); err != nil {
			return err
		}
	}
	r.rightSince.Store(now.UnixMilli())
	return nil
}
