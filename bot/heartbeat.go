package bot

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
	pulse = 20 * time.Second // longer between two looks at the time, and the bot was away

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

// present returns the time at which a request is decided. If the bot did not run for
// longer than a pulse before, it first stores that as an outage. A decision uses this
// time and reads no clock later: the process could be stopped in between.
func (b *Bot) present(ctx context.Context) (time.Time, error) {
	if now := b.now(); b.beaten.Load() == 0 || b.beat(now) {
		return now, nil
	}
	return b.look(ctx)
}

// beat notes that the bot runs now, unless it was away before, or its clock has been
// set. It reports whether it has noted that.
func (b *Bot) beat(now time.Time) bool {
	for {
		last := b.beaten.Load()
		if last == 0 || now.Sub(time.UnixMilli(last)) > pulse || b.clock.set() {
			return false
		}
		if now.UnixMilli() <= last || b.beaten.CompareAndSwap(last, now.UnixMilli()) {
			return true
		}
	}
}

// Before returns when the bot last ran before this start; see [Service].
func (b *Bot) Before(ctx context.Context) (time.Time, error) {
	if b.beaten.Load() == 0 {
		if _, err := b.look(ctx); err != nil {
			return time.Time{}, err
		}
	}
	b.absence.Lock()
	defer b.absence.Unlock()
	return b.before, nil
}

// look returns the time. If more than a pulse has passed since the last look, it stores
// that time as an outage. Once a pulse it stores that the bot runs.
func (b *Bot) look(ctx context.Context) (time.Time, error) {
	b.absence.Lock()
	defer b.absence.Unlock()
	now := b.now()
	mark, err := b.store.Bookmark(ctx, aliveMark)
	if err != nil {
		return now, err
	}
	written, err := strconv.ParseInt(mark, 10, 64)
	known := err == nil
	if known && b.beaten.Load() == 0 {
		b.before = time.UnixMilli(written)
	}
	from := time.UnixMilli(max(written, b.beaten.Load()))
	if b.clock.set() {
		// Its time so far was right but for the jump.
		from = now
		b.clock.follow()
		now = b.now()
		b.setRightAt.Store(now.UnixMilli())
		b.log.Warn("system clock was set, time since the last heartbeat is corrected", "by", now.Sub(from))
	}
	if known && now.Sub(from) > pulse {
		if err := b.absent(ctx, "", "", from, now); err != nil {
			return now, err
		}
	}
	if age := now.Sub(time.UnixMilli(written)); !known || age >= pulse || age < 0 {
		if err := b.store.SetBookmark(ctx, aliveMark, strconv.FormatInt(now.UnixMilli(), 10)); err != nil {
			return now, err
		}
	}
	b.beaten.Store(now.UnixMilli())
	return now, nil
}
