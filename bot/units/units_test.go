package units_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/units"
)

// A table is the database of several processes.
type table struct {
	mu        sync.Mutex
	units     map[string]units.Row
	processes map[string]units.Process
	away      bool
}

func newTable() *table {
	return &table{units: map[string]units.Row{}, processes: map[string]units.Process{}}
}

var errAway = errors.New("the database is away")

// begin waits for a round trip, and then has the table to itself until the function that it returns is called.
func (t *table) begin(ctx context.Context) (func(), error) {
	l, _ := ctx.Value(lineKey{}).(*line)
	if l == nil {
		l = &line{}
	}
	l.wait()
	select {
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
	t.mu.Lock()
	if t.away || l.isCut() {
		t.mu.Unlock()
		return func() {}, errAway
	}
	return func() { t.mu.Unlock(); l.wait() }, nil
}

// setAway lets the database fail, or answer again.
func (t *table) setAway(is bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = is
}

// A line leads from a process to the table. The context of the process holds it.
type line struct {
	mu      sync.Mutex
	cut     bool
	stopped chan struct{} // closed when the process goes on; nil: it runs
	since   time.Duration // the time at which it stopped
	late    time.Duration // by which the answer to a beat is late
}

type lineKey struct{}

// setCut cuts the line, or mends it.
func (l *line) setCut(is bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = is
}

// stop stops the process and its clock until the function that it returns is called.
func (l *line) stop(now time.Duration) (goOn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	stopped := make(chan struct{})
	l.stopped, l.since = stopped, now
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stopped = nil
		close(stopped)
	}
}

// clock returns the clock of the process.
func (l *line) clock(now func() time.Duration) func() time.Duration {
	return func() time.Duration {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.stopped != nil {
			return l.since
		}
		return now()
	}
}

// setLate has the answers to beats come late.
func (l *line) setLate(by time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = by
}

// delay returns when the answer to a beat comes.
func (l *line) delay() {
	l.mu.Lock()
	late := l.late
	l.mu.Unlock()
	time.Sleep(late)
}

// wait returns when the process is not stopped.
func (l *line) wait() {
	l.mu.Lock()
	stopped := l.stopped
	l.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
}

// isCut reports whether the line is cut.
func (l *line) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

func (t *table) Look(ctx context.Context) ([]units.Row, []units.Process, error) {
	end, err := t.begin(ctx)
	defer end()
	if err != nil {
		return nil, nil, err
	}
	return slices.Collect(maps.Values(t.units)), slices.Collect(maps.Values(t.processes)), nil
}

func (t *table) Renew(ctx context.Context, p units.Process, holders []string) (stand []string, err error) {
	if l, ok := ctx.Value(lineKey{}).(*line); ok {
		defer l.delay()
	}
	end, err := t.begin(ctx)
	defer end()
	if err != nil {
		return nil, err
	}
	t.processes[p.ID] = p
	for name, r := range t.units {
		if slices.Contains(holders, r.Holder) {
			r.Beat++
			t.units[name] = r
			stand = append(stand, r.Holder)
		}
	}
	return stand, nil
}

func (t *table) Take(ctx context.Context, seen units.Row, holder string, dead time.Duration) (units.Row, bool, error) {
	end, err := t.begin(ctx)
	defer end()
	if err != nil {
		return units.Row{}, false, err
	}
	is := t.units[seen.Name]
	if is.Term != seen.Term || is.Beat != seen.Beat || is.Holder != seen.Holder {
		return is, false, err
	}
	for name, r := range t.units {
		if r.Holder != "" && units.Exclude(name, seen.Name) {
			return is, false, err
		}
	}
	is.Name, is.Holder, is.Dead = seen.Name, holder, dead
	is.Term++
	is.Beat++
	t.units[seen.Name] = is
	return is, true, nil
}

func (t *table) Keep(ctx context.Context, name, holder, state string) (bool, error) {
	end, err := t.begin(ctx)
	defer end()
	if err != nil {
		return false, err
	}
	r := t.units[name]
	if r.Holder != holder {
		return false, nil
	}
	r.State = state
	t.units[name] = r
	return true, nil
}

func (t *table) Free(ctx context.Context, name, holder string) error {
	end, err := t.begin(ctx)
	defer end()
	if err != nil {
		return err
	}
	if r := t.units[name]; r.Holder == holder {
		r.Holder = ""
		t.units[name] = r
	}
	return nil
}

func (t *table) Raise(ctx context.Context) (int64, error) {
	end, err := t.begin(ctx)
	defer end()
	if err != nil {
		return 0, err
	}
	r := t.units[units.Epoch]
	r.Name, r.Term, r.Beat = units.Epoch, 1, r.Beat+1
	t.units[units.Epoch] = r
	return r.Beat, nil
}

func (t *table) Gone(ctx context.Context, id string) error {
	end, err := t.begin(ctx)
	defer end()
	if err == nil {
		delete(t.processes, id)
	}
	return err
}

// A club is several processes on one table. It fails if two serve a unit at once.
type club struct {
	*testing.T
	*table
	mu      sync.Mutex
	serving map[string]string
	log     []string // "b took matrix, unserved for 20s"
}

func newClub(t *testing.T) *club {
	return &club{T: t, table: newTable(), serving: map[string]string{}}
}

// A process can be killed.
type process struct {
	*units.Keeper
	line *line
	kill func()
	done chan struct{}
}

func (c *club) say(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

// start starts a process that serves units until it is killed.
func (c *club) start(id string, names ...string) *process {
	l := &line{}
	ctx, cancel := context.WithCancel(context.WithValue(c.Context(), lineKey{}, l))
	p := &process{line: l, kill: cancel, done: make(chan struct{})}
	p.Keeper = units.New(units.Config{Rows: c.table, ID: id})
	beating, end := context.WithCancel(context.WithoutCancel(ctx))
	var group, beats sync.WaitGroup
	for _, name := range names {
		group.Go(func() {
			p.Hold(ctx, name, func(ctx context.Context, h *units.Held) error {
				c.mu.Lock()
				for unit, other := range c.serving {
					if other != "" && (unit == name || units.Exclude(unit, name)) {
						c.Errorf("%s serves %s while %s serves %s", id, name, other, unit)
					}
				}
				c.serving[name] = id
				c.say("%s took %s, unserved for %v, state %q", id, name, h.Absent.Truncate(20*time.Second), h.State)
				c.mu.Unlock()
				h.Keep(ctx, id+"'s")
				<-ctx.Done()
				c.mu.Lock()
				c.serving[name] = ""
				c.say("%s ends %s", id, name)
				c.mu.Unlock()
				return nil
			})
		})
	}
	beats.Go(func() { p.Run(beating) })
	go func() { group.Wait(); end(); beats.Wait(); close(p.done) }()
	return p
}

// die ends a process without a word to the others.
func (p *process) die() {
	p.line.setCut(true)
	p.kill()
	<-p.done
}

// leave ends a process as a signal does.
func (p *process) leave() {
	p.kill()
	<-p.done
}

func (c *club) want(lines ...string) {
	c.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.log, lines) {
		c.Errorf("got:\n%s\nwant:\n%s", strings.Join(c.log, "\n"), strings.Join(lines, "\n"))
	}
	c.log = nil
}

// A unit is served by one process. One that dies has a successor after twenty seconds without a
// beat, one that leaves at once.
func TestTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		a := c.start("a", "matrix")
		time.Sleep(2 * time.Second)
		c.want(`a took matrix, unserved for 0s, state ""`)
		b := c.start("b", "matrix")
		time.Sleep(time.Minute)
		c.want()
		if a.Processes() != 2 || b.Processes() != 2 {
			t.Errorf("a sees %d processes, b %d, want 2", a.Processes(), b.Processes())
		}
		if b.Unserved("matrix") {
			t.Error("the unit is unserved although its holder lives")
		}
		a.die()
		time.Sleep(12 * time.Second)
		if !b.Unserved("matrix") {
			t.Error("the unit is not unserved although its holder is dead")
		}
		time.Sleep(14 * time.Second)
		if b.Unserved("matrix") {
			t.Error("the unit is unserved although somebody took it")
		}
		c.want("a ends matrix", `b took matrix, unserved for 20s, state "a's"`)
		a = c.start("A", "matrix")
		time.Sleep(3 * time.Second)
		b.leave()
		time.Sleep(2 * time.Second)
		c.want("b ends matrix", `A took matrix, unserved for 0s, state "b's"`)
		a.leave()
	})
}

// A lease counts from before its beat was sent, however late the answer comes.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		a := c.start("a", "matrix")
		time.Sleep(2 * time.Second)
		b := c.start("b", "matrix")
		time.Sleep(time.Minute)
		a.line.setLate(9 * time.Second)
		time.Sleep(6 * time.Second)
		a.line.setCut(true) // after a beat whose answer has not come yet
		time.Sleep(time.Minute)
		c.want(`a took matrix, unserved for 0s, state ""`, "a ends matrix", `b took matrix, unserved for 20s, state "a's"`)
		a.leave()
		b.leave()
	})
}

// On a machine that wakes up, no lease from before is one any more, although no timer has fired yet.
func TestMachineThatSlept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		began := time.Now()
		k := units.New(units.Config{Rows: newTable(), Elapsed: func() time.Duration { return time.Since(began) + time.Duration(slept.Load()) }})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { k.Run(ctx) })
		group.Go(func() {
			k.Hold(ctx, "matrix", func(ctx context.Context, _ *units.Held) error { <-ctx.Done(); return nil })
		})
		time.Sleep(2 * time.Second)
		before := k.Holds("matrix")
		slept.Store(int64(16 * time.Second))
		if after := k.Holds("matrix"); !before || after {
			t.Errorf("it holds the unit before: %t, after: %t", before, after)
		}
		cancel()
		group.Wait()
	})
}

// Units of one kind are shared out evenly, also with a process that comes later; one that does not
// want them does not count.
func TestSharing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		shards := []string{"discord/0/4", "discord/1/4", "discord/2/4", "discord/3/4"}
		other := c.start("other", "matrix")
		a := c.start("a", shards...)
		time.Sleep(5 * time.Second)
		holds := func(p *process) (n int) {
			for _, s := range shards {
				if p.Holds(s) {
					n++
				}
			}
			return n
		}
		if n := holds(a); n != 4 {
			t.Errorf("alone, a holds %d shards", n)
		}
		b := c.start("b", shards...)
		time.Sleep(30 * time.Second)
		if holds(a) != 2 || holds(b) != 2 {
			t.Errorf("a holds %d shards, b %d, want 2 each", holds(a), holds(b))
		}
		c.mu.Lock()
		c.log = nil
		c.mu.Unlock()
		d := c.start("d", shards...)
		time.Sleep(30 * time.Second)
		c.want("a ends discord/2/4", `d took discord/2/4, unserved for 0s, state "a's"`) // no more than that
		if x, y, z := holds(a), holds(b), holds(d); x+y+z != 4 || x > 2 || y > 2 || z > 2 || z == 0 {
			t.Errorf("the processes hold %d, %d and %d of 4 shards", x, y, z)
		}
		a.die()
		time.Sleep(41 * time.Second)
		if holds(b) != 2 || holds(d) != 2 {
			t.Errorf("b holds %d shards, d %d, want 2 each", holds(b), holds(d))
		}
		for _, p := range []*process{other, b, d} {
			p.leave()
		}
	})
}

// Of more processes than units none holds two.
func TestSharingOfFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		shards := []string{"discord/0/2", "discord/1/2"}
		all := []*process{c.start("a", shards...)}
		time.Sleep(5 * time.Second) // it takes both
		all = append(all, c.start("b", shards...), c.start("d", shards...))
		time.Sleep(5 * time.Second)
		for _, p := range all {
			if p.Holds(shards[0]) && p.Holds(shards[1]) {
				t.Errorf("%s holds both shards", p.ID())
			}
		}
		for _, p := range all {
			p.leave()
		}
	})
}

// Processes that divide the same work differently do not serve it at the same time: those that come
// later wait until the others are gone, or dead. So they can be replaced one after the other.
func TestAnotherDivision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		two, three := []string{"discord/0/2", "discord/1/2"}, []string{"discord/0/3", "discord/1/3", "discord/2/3"}
		holds := func(what string, p *process, names []string, want int) {
			t.Helper()
			n := 0
			for _, name := range names {
				if p.Holds(name) {
					n++
				}
			}
			if n != want {
				t.Errorf("%s: it holds %d of %v, not %d", what, n, names, want)
			}
		}
		a, b := c.start("a", append(two, "matrix")...), c.start("b", two...)
		time.Sleep(30 * time.Second)
		b.leave()
		d := c.start("d", append(three, "matrix")...)
		time.Sleep(30 * time.Second)
		holds("the first that is replaced waits", d, three, 0)
		holds("the other goes on alone", a, two, 2)
		a.leave()
		time.Sleep(5 * time.Second)
		holds("both are replaced", d, three, 3)
		holds("and the rest is as before", d, []string{"matrix"}, 1)

		e := c.start("e", two...)
		time.Sleep(30 * time.Second)
		holds("one comes back as it was", e, two, 0)
		d.die()
		time.Sleep(18 * time.Second)
		holds("before the lease of the dead is over", e, two, 0)
		time.Sleep(10 * time.Second)
		holds("the other is dead", e, two, 2)
		e.leave()
	})
}

// Of processes that come at the same moment those with one division serve.
func TestDivisionsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		var all []*process
		of := func(p *process, division int) (n int) {
			for i := range division {
				if p.Holds(fmt.Sprintf("discord/%d/%d", i, division)) {
					n++
				}
			}
			return n
		}
		for i := range 4 {
			var names []string
			for shard := range i + 1 {
				names = append(names, fmt.Sprintf("discord/%d/%d", shard, i+1))
			}
			all = append(all, c.start(fmt.Sprint(i+1), names...))
		}
		for len(all) > 0 {
			time.Sleep(5 * time.Second)
			i := slices.IndexFunc(all, func(p *process) bool {
				var division int
				fmt.Sscan(p.ID(), &division)
				return of(p, division) == division
			})
			if i < 0 {
				t.Fatal("nobody serves all")
			}
			all[i].leave()
			all = slices.Delete(all, i, i+1)
		}
	})
}

// While the database is away nobody serves for longer than a lease. Once it answers somebody does.
func TestDatabaseAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		a := c.start("a", "matrix")
		time.Sleep(time.Second)
		b := c.start("b", "matrix")
		time.Sleep(time.Minute)
		c.mu.Lock()
		c.log = nil
		c.mu.Unlock()
		c.setAway(true)
		time.Sleep(time.Hour)
		if a.Holds("matrix") || b.Holds("matrix") {
			t.Error("somebody holds the unit while the database is away")
		}
		c.setAway(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		c.mu.Lock()
		if len(c.log) != 2 || !strings.HasSuffix(c.log[1], `took matrix, unserved for 1h0m0s, state "a's"`) {
			t.Errorf("got %q, want that somebody takes the unit", c.log)
		}
		c.mu.Unlock()
		a.leave()
		b.leave()
	})
}

// Everywhere waits for every process that lives, and not for long for one that is dead.
func TestEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		forgot := map[string]int{}
		start := func(id string) (*process, func()) {
			k := units.New(units.Config{Rows: c.table, ID: id})
			k.OnForget(func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				forgot[id]++
			})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { k.Run(ctx); close(done) }()
			return &process{Keeper: k}, func() { cancel(); <-done }
		}
		a, endA := start("a")
		_, endB := start("b")
		lost := c.start("lost", "matrix")
		time.Sleep(10 * time.Second)
		began := time.Now()
		if err := a.Everywhere(t.Context()); err != nil || time.Since(began) > 3*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if want := map[string]int{"a": 1, "b": 1}; !maps.Equal(forgot, want) {
			t.Errorf("forgot %v, want %v", forgot, want)
		}
		lost.die()
		began = time.Now()
		if err := a.Everywhere(t.Context()); err != nil || time.Since(began) < 10*time.Second || time.Since(began) > 25*time.Second {
			t.Errorf("after %v, although a process has just died: %v", time.Since(began), err)
		}
		endA()
		endB()
	})
}

// A process whose serving fails for good leaves the unit to others.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClub(t)
		k := units.New(units.Config{Rows: c.table, ID: "a"})
		ctx, cancel := context.WithCancel(t.Context())
		go k.Run(ctx)
		rejected := errors.New("token rejected")
		if err := k.Hold(ctx, "matrix", func(context.Context, *units.Held) error { return rejected }); !errors.Is(err, rejected) {
			t.Errorf("Hold returns %v, want that the token is rejected", err)
		}
		b := c.start("b", "matrix")
		time.Sleep(2 * time.Second)
		c.want(`b took matrix, unserved for 0s, state ""`)
		cancel()
		b.leave()
	})
}

// A process that is alone holds everything.
func TestAlone(t *testing.T) {
	var k *units.Keeper
	called := false
	err := k.Hold(t.Context(), "matrix", func(ctx context.Context, h *units.Held) error {
		called = true
		return h.Keep(ctx, "kept")
	})
	if err != nil || !called || !k.Holds("matrix") || k.Processes() != 1 {
		t.Errorf("Hold returned %v, serve was called: %v, holds: %v, processes: %d", err, called, k.Holds("matrix"), k.Processes())
	}
}
