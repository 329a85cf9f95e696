package units_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"text/tabwriter"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

const (
	fleetShards    = 64
	fleetProcesses = 8
	fleetRate      = 5                // boards a second for each shard
	fleetPhase     = 90 * time.Second // from one accident to the next
)

// A fleet is several processes that hold the shards of one bot. It notes who served each of them,
// and when.
type fleet struct {
	t     *testing.T
	rows  *table
	rnd   *rand.Rand
	names []string
	start time.Time

	mu        sync.Mutex
	served    [][]service // by shard, in the order of their beginnings
	takeovers []takeover
	running   []*member
	began     int // processes, ever
	gone      sync.WaitGroup
}

// A service is the time in which a process served a shard.
type service struct {
	by       *member
	from, to time.Duration // since the start; to is 0 while it goes on
}

type takeover struct {
	at   time.Duration
	dead bool // the holder before had given no sign
}

// A member is a process of a fleet.
type member struct {
	*units.Keeper
	id   string
	line *line
	end  func()
}

func (f *fleet) now() time.Duration { return time.Since(f.start) }

// serve notes that a process serves a shard from now on. The caller holds f.mu.
func (f *fleet) serve(m *member, shard int) {
	if s := f.served[shard]; len(s) > 0 && s[len(s)-1].to == 0 {
		f.t.Errorf("after %v %s and %s serve %s at once", f.now(), s[len(s)-1].by.id, m.id, f.names[shard])
	}
	f.served[shard] = append(f.served[shard], service{by: m, from: f.now()})
}

// rest notes that a process serves a shard no more, if it did. The caller holds f.mu.
func (f *fleet) rest(m *member, shard int) {
	if s := f.served[shard]; len(s) > 0 && s[len(s)-1].by == m && s[len(s)-1].to == 0 {
		s[len(s)-1].to = f.now()
	}
}

// all calls serve or rest for all shards that a process holds by its own clock.
func (f *fleet) all(note func(*member, int), m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for shard, name := range f.names {
		if m.Holds(name) {
			note(m, shard)
		}
	}
}

// within returns a moment, up to a time, at random.
func within(rnd *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rnd.Int64N(int64(most)))
}

// come starts a process at some moment of the next seconds.
func (f *fleet) come() {
	time.Sleep(within(f.rnd, 3*time.Second))
	f.began++
	m := &member{id: fmt.Sprint("p", f.began), line: &line{}}
	m.Keeper = units.New(units.Config{Rows: f.rows, ID: m.id, Elapsed: m.line.clock(f.now)})
	ctx, end := context.WithCancel(context.WithValue(f.t.Context(), lineKey{}, m.line))
	m.end = end
	beating, still := context.WithCancel(context.WithoutCancel(ctx))
	var holds sync.WaitGroup
	for shard, name := range f.names {
		holds.Go(func() {
			m.Hold(ctx, name, func(ctx context.Context, h *units.Held) error {
				f.mu.Lock()
				if m.Holds(name) {
					f.serve(m, shard)
				}
				f.takeovers = append(f.takeovers, takeover{f.now(), h.Absent > 0})
				f.mu.Unlock()
				<-ctx.Done()
				f.mu.Lock()
				f.rest(m, shard)
				f.mu.Unlock()
				return nil
			})
		})
	}
	f.gone.Go(func() { m.Run(beating) })
	go func() { holds.Wait(); still() }()
	f.running = append(f.running, m)
}

// any returns one of the processes that run.
func (f *fleet) any() *member { return f.running[f.rnd.IntN(len(f.running))] }

// leave ends a process as a signal does.
func (f *fleet) leave(m *member) {
	f.running = slices.DeleteFunc(f.running, func(o *member) bool { return o == m })
	m.end()
}

// die ends a process without a word to the others.
func (f *fleet) die(m *member) {
	f.all(f.rest, m)
	m.line.setCut(true)
	f.leave(m)
}

// stop stops a process for a while, as SIGSTOP or a busy host does.
func (f *fleet) stop(m *member, pause time.Duration) {
	f.all(f.rest, m)
	goOn := m.line.stop(f.now())
	time.Sleep(pause)
	goOn()
	f.all(f.serve, m) // what it still holds, by its clock
}

// cutOff cuts a process off from the database for a while. It shows boards as long as its leases last.
func (f *fleet) cutOff(m *member, pause time.Duration) {
	m.line.setCut(true)
	time.Sleep(pause)
	m.line.setCut(false)
}

// An accident is what happens to a fleet in one phase.
type accident struct {
	name  string
	takes int // shards that have to be taken over
	do    func(f *fleet)
}

// share is what a process holds of the shards.
const share = fleetShards / fleetProcesses

var accidents = []accident{
	{"eight processes start", 64 + 32 + 22 + 16 + 13 + 11 + 10 + 8, func(f *fleet) { // the first takes all, each other its share
		for range fleetProcesses {
			f.come()
		}
	}},
	{"nothing", 0, func(f *fleet) {}},
	{"a process dies", share, func(f *fleet) { f.die(f.any()) }},
	{"a new process comes", share, (*fleet).come},
	{"a process leaves", share, func(f *fleet) { f.leave(f.any()) }},
	{"a new process comes", share, (*fleet).come},
	{"a process stops for a minute", 2 * share, func(f *fleet) { f.stop(f.any(), time.Minute) }},
	{"a process is cut off for a minute", 2 * share, func(f *fleet) { f.cutOff(f.any(), time.Minute) }},
	{"the database is away for ten seconds", fleetShards, func(f *fleet) { // longer than a lease since some beats
		f.rows.setAway(true)
		time.Sleep(10 * time.Second)
		f.rows.setAway(false)
	}},
	{"two processes die at once", 2 * share, func(f *fleet) { f.die(f.any()); f.die(f.any()) }},
	{"two new processes come", 2 * share, func(f *fleet) { f.come(); f.come() }},
	{"all are replaced, one after the other", fleetShards, func(f *fleet) {
		for _, m := range slices.Clone(f.running) {
			f.come()
			f.leave(m)
		}
	}},
}

// Sixty-four shards on eight processes, to which accidents happen. Boards come at a steady rate;
// whoever serves the shard shows them at once, otherwise they wait until somebody does. No shard is
// ever served by two, and none stays without service for longer than a lease and a half. With -v the
// test prints how late boards were; docs/scale.md has that table.
func TestShardsOfAFleet(t *testing.T) {
	for seed := range tier.Pick(1, 3, 200) {
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { fleetOf(t, uint64(seed+1)) }) })
	}
}

func fleetOf(t *testing.T, seed uint64) {
	f := &fleet{t: t, rows: newTable(), rnd: rand.New(rand.NewPCG(fleetShards, seed)), start: time.Now(), served: make([][]service, fleetShards)}
	for shard := range fleetShards {
		f.names = append(f.names, fmt.Sprintf("discord/%d/%d", shard, fleetShards))
	}
	for i, a := range accidents {
		time.Sleep(within(f.rnd, 5*time.Second))
		a.do(f)
		time.Sleep(time.Duration(i+1)*fleetPhase - f.now())
	}
	f.mu.Lock()
	f.report(f.now())
	f.mu.Unlock()
	for _, m := range f.running {
		m.end()
	}
	f.gone.Wait()
}

// report checks how the shards were served until a moment, and prints how late boards were. The
// caller holds f.mu.
func (f *fleet) report(to time.Duration) {
	lateness := make([][]time.Duration, len(accidents)+1) // the last: of all
	for shard, served := range f.served {
		free := time.Duration(0)
		for _, s := range append(slices.Clone(served), service{from: to}) {
			if s.from-free > units.DefaultDead*3/2 {
				f.t.Errorf("nobody served %s from %v to %v", f.names[shard], free, s.from)
			}
			free = s.to
			if s.to == 0 {
				free = to
			}
		}
		next := 0
		for at := time.Duration(0); ; {
			at += time.Duration(f.rnd.ExpFloat64() / fleetRate * float64(time.Second))
			if at >= to {
				break
			}
			for next < len(served) && served[next].to != 0 && served[next].to <= at {
				next++
			}
			late := to - at
			if next < len(served) {
				late = max(0, served[next].from-at)
			}
			phase := at / fleetPhase
			lateness[phase] = append(lateness[phase], late)
			lateness[len(accidents)] = append(lateness[len(accidents)], late)
		}
	}
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "boards\tlate by > 1 s\tmedian\t99 %\tworst\ttakeovers\tof the dead\t\f")
	for i, all := range lateness {
		name, begins, ends := "in all", time.Duration(0), to
		if i < len(accidents) {
			name, begins, ends = accidents[i].name, time.Duration(i)*fleetPhase, time.Duration(i+1)*fleetPhase
		}
		slices.Sort(all)
		late := len(all) - func() int { n, _ := slices.BinarySearch(all, time.Second+1); return n }()
		takeovers, dead := 0, 0
		for _, t := range f.takeovers {
			if begins <= t.at && t.at < ends {
				takeovers++
				if t.dead {
					dead++
				}
			}
		}
		at := func(share float64) string {
			return fmt.Sprintf("%.1f s", all[int(share*float64(len(all)-1))].Seconds())
		}
		if i < len(accidents) && takeovers > accidents[i].takes+2 {
			f.t.Errorf("%s: %d takeovers, %d are needed", name, takeovers, accidents[i].takes)
		}
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%d\t%d\t  %s\n", len(all), late, at(.5), at(.99), at(1), takeovers, dead, name)
	}
	w.Flush()
	var holds []string
	for _, m := range f.running {
		n := 0
		for _, name := range f.names {
			if m.Holds(name) {
				n++
			}
		}
		holds = append(holds, fmt.Sprint(n))
		if n > fleetShards/len(f.running)+1 {
			f.t.Errorf("%s holds %d shards in the end", m.id, n)
		}
	}
	f.t.Logf("%d shards, %d processes, %d boards a second for each shard:\n%s\nshards of each process in the end: %s",
		fleetShards, fleetProcesses, fleetRate, out.String(), strings.Join(holds, ", "))
}
