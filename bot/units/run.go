package units

import (
	"context"
	"crypto/rand"
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

// wanted returns the sets of the units that this process wants.
func (k *Keeper) wanted() string {
	sets := map[string]bool{}
	for name := range k.wants {
		sets[set(name)] = true
	}
	return " " + strings.Join(slices.Sorted(maps.Keys(sets)), " ") + " "
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
	k.rows = seen(k.rows, rows, now, func(r Row) string { return r.Name },
		func(a, b Row) bool { return a.Holder == b.Holder && a.Term == b.Term && a.Beat == b.Beat })
	k.processes = seen(k.processes, processes, now, func(p Process) string { return p.ID },
		func(a, b Process) bool { return a.Beat == b.Beat })
	var take, left []sighting[Row]
	shares := map[string]*share{}
	excluded := false
	for _, name := range slices.Sorted(maps.Keys(k.wants)) {
		of := set(name)
		if shares[of] == nil {
			shares[of] = k.share(of)
			held, by := k.others(name, began)
			left = append(left, held...)
			if by != "" && !k.excluded {
				k.cfg.Log.Warn("another process divides the work differently, will wait until it is gone", "wanted", name, "held", by)
			}
			excluded = excluded || by != ""
			shares[of].waits = by != "" || len(held) > 0
		}
		if w, of := k.wants[name], shares[of]; w.lease == nil {
			s, known := k.rows[name]
			if !known {
				s = sighting[Row]{Row{Name: name}, now}
			}
			if !of.waits && k.mayTake(s, began, of) {
				take = append(take, s)
				of.held++
			}
		} else if of.gives && !w.lease.over() {
			k.cfg.Log.Info("giving up a unit, another process has fewer", "unit", name)
			w.lease.end()
			of.gives = false // one at a time
		}
	}
	var dead []string
	for id, p := range k.processes {
		if began-p.at >= 3*k.cfg.Dead {
			dead = append(dead, id)
		}
	}
	k.excluded = excluded
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
	for _, s := range left { // nobody may hold them while another set is held
		row, taken, err := k.cfg.Rows.Take(ctx, s.row, k.holder(), k.cfg.Dead)
		if err == nil && taken {
			err = k.cfg.Rows.Free(ctx, row.Name, row.Holder)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// others returns the units that exclude another one and whose holders are dead, and the name of one
// whose holder may live; empty: none does. The caller holds k.mu.
func (k *Keeper) others(unit string, now time.Duration) (left []sighting[Row], held string) {
	for name, s := range k.rows {
		switch {
		case s.row.Holder == "" || !Exclude(name, unit):
		case k.mine(s.row.Holder) || now-s.at >= max(s.row.Dead, k.cfg.Dead):
			left = append(left, s)
		case held == "" || name < held:
			held = name
		}
	}
	return left, held
}

// seen returns the sightings of rows; those that have not changed keep their time.
func seen[T any](old map[string]sighting[T], rows []T, now time.Duration, id func(T) string, same func(a, b T) bool) map[string]sighting[T] {
	all := make(map[string]sighting[T], len(rows))
	for _, r := range rows {
		s := sighting[T]{r, now}
		if was, known := old[id(r)]; known && same(was.row, r) {
			s.at = was.at
		}
		all[id(r)] = s
	}
	return all
}

// mayTake reports whether this process takes a unit now, by its share of the set. One that nobody
// takes is taken all the same. The caller holds k.mu.
func (k *Keeper) mayTake(s sighting[Row], now time.Duration, of *share) bool {
	free := now - s.at
	if s.row.Holder != "" && !k.mine(s.row.Holder) {
		if free -= max(s.row.Dead, k.cfg.Dead); free < 0 {
			return false
		}
	}
	return of.held < of.most || free >= 2*k.every()
}

// mine reports whether this process is the holder by the table. It does not serve the unit any more
// if it wants it: giving it up has failed.
func (k *Keeper) mine(holder string) bool { return strings.HasPrefix(holder, k.cfg.ID+" ") }

// holder returns a new name by which this process holds a unit.
func (k *Keeper) holder() string { return k.cfg.ID + " " + rand.Text()[:8] }

// A share is what a process has of the units of a set, and what it should have.
type share struct {
	held  int
	most  int  // it takes no more than that
	gives bool // it gives one up
	waits bool // units are held that exclude these
}

// share returns the share of this process in the units of a set. All processes see the same, so as
// many of them give up a unit as others lack. The caller holds k.mu.
func (k *Keeper) share(of string) *share {
	me := k.cfg.ID
	held := map[string]int{me: 0} // by the processes that live
	for id := range k.living(of) {
		held[id] = 0
	}
	all, free := 0, 0
	for name, w := range k.wants {
		if set(name) != of {
			continue
		}
		all++
		holder, _, _ := strings.Cut(k.rows[name].row.Holder, " ")
		if w.lease != nil && !w.lease.over() {
			holder = me
		} else if holder == me {
			holder = "" // soon
		}
		if _, lives := held[holder]; lives {
			held[holder]++
		} else {
			free++
		}
	}
	least, most := all/len(held), (all+len(held)-1)/len(held)
	lack, over, richer := 0, 0, 0
	for id, n := range held {
		lack += max(0, least-n)
		if n > most {
			over = 1
		}
		if n > held[me] || n == held[me] && id < me {
			richer++
		}
	}
	s := &share{held: held[me], most: most, gives: held[me] > least && richer < max(lack, over)-free}
	if lack >= free { // none is left for those who have enough
		s.most = least
	}
	return s
}

// living returns the processes that live and want a set of units; empty: any. The caller holds
// k.mu.
func (k *Keeper) living(wants string) map[string]bool {
	now, ids := k.cfg.Elapsed(), map[string]bool{}
	for id, p := range k.processes {
		if now-p.at < k.cfg.Dead && (wants == "" || strings.Contains(p.row.Wants, " "+wants+" ")) {
			ids[id] = true
		}
	}
	return ids
}

// take takes a unit as it was seen. Its lease counts from before that.
func (k *Keeper) take(ctx context.Context, s sighting[Row], began time.Duration) error {
	row, taken, err := k.cfg.Rows.Take(ctx, s.row, k.holder(), k.cfg.Dead)
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
