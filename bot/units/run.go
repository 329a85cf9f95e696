package units

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Run takes the units that this process is to hold, and keeps them, until ctx is done. It must run
// for as long as Hold serves.
func (k *Keeper) Run(ctx context.Context) error {
	if k == nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(k.every())
	defer tick.Stop()
	last := -k.cfg.Dead // when the last beat was sent
	failing := false
	for {
		if now := k.cfg.Elapsed(); now-last >= k.beats() {
			last = now
			if err := k.renew(ctx, now); err != nil {
				last = now - k.beats() + k.every() // soon
				k.failed(ctx, &failing, err)
			} else {
				failing = false
			}
		}
		epoch := k.epoch
		if err := k.look(ctx); err != nil {
			k.failed(ctx, &failing, err)
		}
		if k.epoch != epoch { // somebody waits to be told
			last = -k.beats()
			k.nudge()
		}
		select {
		case <-tick.C:
		case <-k.wake:
		case <-ctx.Done():
			gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.beats())
			defer cancel()
			return k.cfg.Rows.Gone(gone, k.cfg.ID)
		}
		k.expire()
	}
}

// failed logs the first of several errors.
func (k *Keeper) failed(ctx context.Context, failing *bool, err error) {
	if ctx.Err() == nil && !*failing {
		*failing = true
		k.cfg.Log.Warn("looking at the units of the processes failed, will retry", "error", err)
	}
	k.expire()
}

// renew says that this process lives. Its leases count from now, which is before that.
func (k *Keeper) renew(ctx context.Context, now time.Duration) error {
	k.mu.Lock()
	k.beat++
	p := Process{ID: k.cfg.ID, Beat: k.beat, Wants: k.wanted(), Epoch: k.epoch}
	leases := map[string]*lease{}
	for _, w := range k.wants {
		if w.lease != nil && !w.lease.lost {
			leases[w.lease.row.Holder] = w.lease
		}
	}
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, k.believes())
	defer cancel()
	stand, err := k.cfg.Rows.Renew(ctx, p, slices.Sorted(maps.Keys(leases)))
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for holder, l := range leases {
		if slices.Contains(stand, holder) {
			l.until = max(l.until, now+k.believes())
			l.timer.Reset(l.until - k.cfg.Elapsed())
		} else {
			k.lose(l)
		}
	}
	return nil
}

// wanted returns the kinds of the units that this process wants.
func (k *Keeper) wanted() string {
	kinds := map[string]bool{}
	for name := range k.wants {
		kinds[Kind(name)] = true
	}
	return " " + strings.Join(slices.Sorted(maps.Keys(kinds)), " ") + " "
}

// lose ends a lease. The caller holds k.mu.
func (k *Keeper) lose(l *lease) {
	if !l.lost {
		l.lost = true
		close(l.gone)
		l.end()
		k.cfg.Log.Warn("lost a unit", "unit", l.row.Name, "term", l.row.Term)
	}
}

// expire ends the leases whose time is over.
func (k *Keeper) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.cfg.Elapsed()
	for _, w := range k.wants {
		if w.lease != nil && now >= w.lease.until {
			k.lose(w.lease)
		}
	}
}

// look sees what others do, and takes or gives up units.
func (k *Keeper) look(ctx context.Context) error {
	began := k.cfg.Elapsed() // the rows may be as old as that
	ctx, cancel := context.WithTimeout(ctx, k.believes())
	defer cancel()
	rows, processes, err := k.cfg.Rows.Look(ctx)
	if err != nil {
		return err
	}
	now := k.cfg.Elapsed()
	k.mu.Lock()
	k.rows = seen(k.rows, rows, now, func(r Row) string { return r.Name }, func(r Row) string { return fmt.Sprint(r.Holder, " ", r.Term, " ", r.Beat) })
	k.processes = seen(k.processes, processes, now, func(p Process) string { return p.ID }, func(p Process) string { return fmt.Sprint(p.Beat) })
	var take []sighting[Row]
	taking := map[string]int{}
	var dead []string
	for _, name := range slices.Sorted(maps.Keys(k.wants)) {
		if w := k.wants[name]; w.lease == nil {
			s, known := k.rows[name]
			if !known {
				s = sighting[Row]{Row{Name: name}, now}
			}
			if of := Kind(name); k.mayTake(s, began, taking[of]) {
				take, taking[of] = append(take, s), taking[of]+1
			}
		}
	}
	for id, p := range k.processes {
		if began-p.at >= 3*k.cfg.Dead {
			dead = append(dead, id)
		}
	}
	k.giveUp()
	close(k.looked)
	k.looked = make(chan struct{})
	epoch := k.rows[Epoch].row.Beat
	k.mu.Unlock()
	if epoch != k.epoch {
		k.forget()
		k.epoch = epoch
	}
	for _, id := range dead {
		if err := k.cfg.Rows.Gone(ctx, id); err != nil {
			return err
		}
	}
	for _, s := range take {
		if err := k.take(ctx, s, began); err != nil {
			return err
		}
	}
	return nil
}

// seen returns the sightings of rows; those that have not changed keep their time.
func seen[T any](old map[string]sighting[T], rows []T, now time.Duration, id, is func(T) string) map[string]sighting[T] {
	all := make(map[string]sighting[T], len(rows))
	for _, r := range rows {
		s := sighting[T]{r, now}
		if was, known := old[id(r)]; known && is(was.row) == is(r) {
			s.at = was.at
		}
		all[id(r)] = s
	}
	return all
}

// mayTake reports whether this process takes a unit now, after so many of its kind that it is about
// to take: it has no more of them than any other. One that nobody takes is taken all the same. The
// caller holds k.mu.
func (k *Keeper) mayTake(s sighting[Row], now time.Duration, taking int) bool {
	unchanged := now - s.at
	if s.row.Holder != "" && !k.mine(s.row.Holder) {
		return unchanged >= max(s.row.Dead, k.cfg.Dead)
	}
	held, least := k.share(Kind(s.row.Name))
	return held+taking <= least || unchanged >= k.cfg.Dead/2
}

// mine reports whether this process is the holder by the table. It does not serve the unit any more
// if it wants it: giving it up has failed.
func (k *Keeper) mine(holder string) bool { return strings.HasPrefix(holder, k.cfg.ID+" ") }

// share returns how many units of a kind this process holds, and the least that any process holds
// which wants them. The caller holds k.mu.
func (k *Keeper) share(of string) (held, least int) {
	for name, w := range k.wants {
		if Kind(name) == of && w.lease != nil && !w.lease.over() {
			held++
		}
	}
	least = held
	for id := range k.living(of) {
		n := 0
		for name, s := range k.rows {
			if Kind(name) == of && strings.HasPrefix(s.row.Holder, id+" ") {
				n++
			}
		}
		if id != k.cfg.ID {
			least = min(least, n)
		}
	}
	return held, least
}

// living returns the processes that live and want a kind of units; empty: any. The caller holds
// k.mu.
func (k *Keeper) living(wants string) map[string]bool {
	now, ids := k.cfg.Elapsed(), map[string]bool{}
	for id, p := range k.processes {
		if now-p.at < k.cfg.Dead && strings.Contains(p.row.Wants, " "+wants) {
			ids[id] = true
		}
	}
	return ids
}

// giveUp ends one lease of each kind of which another process has at least two fewer. The caller
// holds k.mu.
func (k *Keeper) giveUp() {
	done := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(k.wants)) {
		w, of := k.wants[name], Kind(name)
		if w.lease == nil || w.lease.over() || done[of] {
			continue
		}
		if held, least := k.share(of); held > least+1 {
			k.cfg.Log.Info("giving up a unit, another process has fewer", "unit", name)
			w.lease.end()
		}
		done[of] = true
	}
}

// take takes a unit as it was seen. Its lease counts from before that.
func (k *Keeper) take(ctx context.Context, s sighting[Row], began time.Duration) error {
	row, taken, err := k.cfg.Rows.Take(ctx, s.row, k.cfg.ID+" "+rand.Text()[:8], k.cfg.Dead)
	if err != nil || !taken {
		return err
	}
	ended := make(chan struct{})
	l := &lease{row: row, until: began + k.believes(), ended: ended, gone: make(chan struct{}), end: sync.OnceFunc(func() { close(ended) })}
	l.timer = time.AfterFunc(l.until-k.cfg.Elapsed(), k.expire)
	if s.row.Holder != "" {
		l.absent = began - s.at
	}
	k.mu.Lock()
	w := k.wants[row.Name]
	if w != nil {
		w.lease = l
		w.taken <- l
	}
	k.mu.Unlock()
	if w == nil { // nobody wants it any more
		l.timer.Stop()
		return k.cfg.Rows.Free(ctx, row.Name, row.Holder)
	}
	k.cfg.Log.Info("took a unit", "unit", row.Name, "term", row.Term, "unserved", l.absent)
	return nil
}
