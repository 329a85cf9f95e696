package outbox

import (
	"sync/atomic"
	"time"
)

// Waits are the posts of a platform that wait.
type Waits struct {
	ByAge  []int         // their number, by age; see Waits
	Oldest time.Duration // age of the oldest
}

// Waits counts the posts that wait, by platform: those younger than the first of some ages,
// which ascend, then those younger than the second, and so on, and last all others. Posts
// that are parked do not wait. The age of a post that an earlier process has tried to show
// counts from the start of this one. It reads only memory.
func (b *Outbox) Waits(ages []time.Duration) map[string]Waits {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, all := b.Now(), map[string]Waits{}
	for l, in := range b.lanes {
		for _, p := range in.posts {
			w := all[l.Platform]
			if w.ByAge == nil {
				w.ByAge = make([]int, len(ages)+1)
			}
			age, i := max(0, now.Sub(p.made)), 0
			for i < len(ages) && age >= ages[i] {
				i++
			}
			w.ByAge[i]++
			w.Oldest = max(w.Oldest, age)
			all[l.Platform] = w
		}
	}
	return all
}

// Busy tells how long a loop has been at the same piece of work. A loop that hangs, for
// example because of a lock, is busy ever longer. Its methods may be called concurrently.
type Busy struct{ since atomic.Int64 } // Unix time in microseconds; 0: the loop waits for work

// Begin notes that the loop begins a piece of work.
func (b *Busy) Begin(now time.Time) { b.since.Store(now.UnixMicro()) }

// End notes that the loop waits for work.
func (b *Busy) End() { b.since.Store(0) }

// For returns how long the loop has been at its work; 0: it waits.
func (b *Busy) For(now time.Time) time.Duration {
	since := b.since.Load()
	if since == 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMicro(since)))
}

// Busy returns how long the loop that chooses posts, or the one that chooses decorations,
// has been at one choice; 0: both wait.
func (b *Outbox) Busy() time.Duration {
	now := b.Now()
	return max(b.posting.For(now), b.adorning.For(now))
}
