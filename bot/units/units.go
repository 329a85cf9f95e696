// Package units shares out among several processes on one database what only one of them may do
// at a time. A unit is what one connection to a platform serves, a shard or an account, or a duty:
// "discord/0/2", "matrix", "time". The process that holds it in a term serves it.
//
// # Leases
//
// A holder raises the beat of its units now and then. Clocks of different machines are not
// compared: whoever wants a unit takes it once it has seen the same term and beat for
// [Config.Dead] of the holder, by its own clock. A holder believes in its lease for three quarters of that,
// counted from before it sent the last beat. So nobody else holds the unit while the holder
// thinks that it does, unless it is stopped between a look at its clock and what it then does.
// Therefore what a holder stores is stored only if its row still stands.
//
// The holder of a unit is a new name at each takeover: after the loss of a database's last
// seconds a term may come twice.
//
// # Sharing
//
// Units of a set are shared out evenly among the processes that want them: one that has more than
// others gives up one after the other. "discord/0/2" and "discord/1/2" are of the same set. Units of
// the same kind and another set, as "discord/0/3", divide the same work differently. So no two sets
// of a kind are held at a time: a process that wants another set than others hold waits until these
// are gone.
package units

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// A Row is a unit as it is stored.
type Row struct {
	Name   string
	Holder string        // who holds it; empty: nobody
	Term   int64         // grows by one with each takeover
	Beat   int64         // grows while the holder lives
	Dead   time.Duration // Config.Dead of the holder
	State  string        // what its holders keep for each other
}

// A Process is one that uses the database.
type Process struct {
	ID    string
	Beat  int64  // grows while it lives
	Wants string // the sets of the units that it wants, with spaces around each
	Epoch int64  // that it has seen
}

// Epoch is the name of a row that is no unit: its beat counts how often processes had to forget
// what they remember of the database.
const Epoch = "epoch"

// Rows stores units and processes. Its methods may be called concurrently, and by several
// processes.
type Rows interface {
	// Look returns all units and processes.
	Look(ctx context.Context) ([]Row, []Process, error)
	// Renew stores a process with the next beat, and the next beat of the units of some
	// holders. It returns which holders still hold theirs.
	Renew(ctx context.Context, p Process, holders []string) (stand []string, err error)
	// Take makes somebody whose Config.Dead is dead the holder of a unit in the next term if it
	// is still as it was seen, and nobody holds a unit that excludes it; one without a term did not
	// exist. It returns the unit, and whether it did that. It waits for transactions that are guarded
	// by the former holder's lease.
	Take(ctx context.Context, seen Row, holder string, dead time.Duration) (Row, bool, error)
	// Keep stores the state of a unit if the holder still holds it, and reports whether.
	Keep(ctx context.Context, name, holder, state string) (bool, error)
	// Free makes a unit nobody's if the holder still holds it.
	Free(ctx context.Context, name, holder string) error
	// Raise begins a new epoch and returns it.
	Raise(ctx context.Context) (int64, error)
	// Gone deletes a process.
	Gone(ctx context.Context, id string) error
}

// Config configures a Keeper. Only Rows is needed.
type Config struct {
	Rows Rows
	ID   string        // of this process, without spaces, different from that of every other; empty: a random one
	Dead time.Duration // without a sign of this process until another takes its units; 0: DefaultDead
	// Elapsed returns the time that has passed since some fixed moment. It should go on while
	// the machine sleeps. Nil: Go's monotonic clock, which on Linux does not.
	Elapsed func() time.Duration
	Log     *slog.Logger // nil logs nothing
}

// DefaultDead is how long a holder may give no sign.
const DefaultDead = 20 * time.Second

// A Keeper holds units for this process. Its methods may be called concurrently. A nil Keeper is
// that of a process which is alone: it holds every unit.
type Keeper struct {
	cfg  Config
	wake chan struct{}

	mu        sync.Mutex
	wants     map[string]*want
	rows      map[string]sighting[Row]
	processes map[string]sighting[Process]
	beat      int64
	epoch     int64
	forget    func()
	looked    chan struct{} // closed after the next look
	excluded  bool          // another set of units than this process wants was held at the last look
}

// A sighting is what a row was when it was last seen to change.
type sighting[T any] struct {
	row T
	at  time.Duration // of Elapsed
}

// A want is a unit that this process would serve.
type want struct {
	name  string
	taken chan *lease
	lease *lease // nil: the process does not hold it
}

// A lease is the hold of this process on a unit in one term.
type lease struct {
	row    Row
	absent time.Duration
	until  time.Duration // of Elapsed
	ended  chan struct{} // closed when it is lost or to be given up
	end    func()
	lost   bool
	gone   chan struct{} // closed when it is lost
	timer  *time.Timer   // ends it in time
}

// Held is a unit that this process holds.
type Held struct {
	State  string        // what the last holder kept; empty: nothing
	Absent time.Duration // how long at least nobody served it, if its last holder died; 0: it was given up, or never held
	keep   func(ctx context.Context, state string) error
}

// ErrLost means that this process does not hold a unit any more.
var ErrLost = errors.New("another process may hold the unit")

// Keep stores the state of the unit for its next holder, or returns ErrLost. A process that is
// alone keeps nothing.
func (h *Held) Keep(ctx context.Context, state string) error {
	if h.keep == nil {
		return nil
	}
	return h.keep(ctx, state)
}

// New returns a Keeper that holds nothing until Run is called.
func New(c Config) *Keeper {
	if c.ID == "" {
		c.ID = rand.Text()
	}
	if c.Dead == 0 {
		c.Dead = DefaultDead
	}
	if start := time.Now(); c.Elapsed == nil {
		c.Elapsed = func() time.Duration { return time.Since(start) }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Keeper{cfg: c, forget: func() {}, looked: make(chan struct{}), wake: make(chan struct{}, 1), wants: map[string]*want{},
		rows: map[string]sighting[Row]{}, processes: map[string]sighting[Process]{}}
}

// How often a process looks, and says that it lives; and how long it believes in a lease.
func (k *Keeper) every() time.Duration    { return k.cfg.Dead / 20 }
func (k *Keeper) beats() time.Duration    { return k.cfg.Dead / 4 }
func (k *Keeper) believes() time.Duration { return k.cfg.Dead * 3 / 4 }

// Hold calls serve whenever this process holds a unit, until ctx is done; then it returns nil.
// The context of serve ends when the unit is lost, is to be given up, or ctx is done. If serve
// returns for another reason, Hold returns its error, and the process does not take the unit again. It is called once at a time for a unit. A process that is alone serves at once, and
// Hold returns with serve.
func (k *Keeper) Hold(ctx context.Context, unit string, serve func(context.Context, *Held) error) error {
	if k == nil {
		return serve(ctx, &Held{})
	}
	w := &want{name: unit, taken: make(chan *lease, 1)}
	k.mu.Lock()
	k.wants[unit] = w
	k.mu.Unlock()
	k.nudge()
	defer func() {
		k.mu.Lock()
		delete(k.wants, unit)
		k.mu.Unlock()
		select {
		case l := <-w.taken: // meanwhile
			k.free(ctx, w, l)
		default:
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case l := <-w.taken:
			err := k.serve(ctx, l, serve)
			over := l.over() // before it is given up
			k.free(ctx, w, l)
			if !over && ctx.Err() == nil {
				return err
			}
			if err != nil && ctx.Err() == nil {
				k.cfg.Log.Info("serving ended with the lease", "unit", unit, "error", err)
			}
		}
	}
}

// serve calls serve in a context that ends with the lease.
func (k *Keeper) serve(ctx context.Context, l *lease, serve func(context.Context, *Held) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ends := make(chan struct{})
	defer close(ends)
	go func() {
		select {
		case <-l.ended:
			cancel(ErrLost)
		case <-ends:
		}
	}()
	return serve(ctx, &Held{State: l.row.State, Absent: l.absent, keep: func(ctx context.Context, state string) error {
		if !k.Holds(l.row.Name) {
			return ErrLost
		}
		stands, err := k.cfg.Rows.Keep(ctx, l.row.Name, l.row.Holder, state)
		if err == nil && !stands {
			err = ErrLost
		}
		return err
	}})
}

// over reports whether the lease was lost or is to be given up.
func (l *lease) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// free gives up a unit.
func (k *Keeper) free(ctx context.Context, w *want, l *lease) {
	l.end()
	l.timer.Stop()
	k.mu.Lock()
	w.lease = nil
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.beats())
	defer cancel()
	if err := k.cfg.Rows.Free(ctx, l.row.Name, l.row.Holder); err != nil {
		k.cfg.Log.Warn("giving up a unit failed, others take it when its lease is over", "unit", l.row.Name, "error", err)
	}
	k.nudge()
}

// Holds reports whether this process holds a unit now.
func (k *Keeper) Holds(unit string) bool {
	_, _, ok := k.Lease(unit)
	return ok
}

// Lease returns as which holder and in which term this process holds a unit now. A process that
// is alone holds it as nobody.
func (k *Keeper) Lease(unit string) (holder string, term int64, ok bool) {
	if k == nil {
		return "", 0, true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.wants[unit]
	if w == nil || w.lease == nil || w.lease.lost || k.cfg.Elapsed() >= w.lease.until {
		return "", 0, false
	}
	return w.lease.row.Holder, w.lease.row.Term, true
}

// Under returns a context that also ends when this process loses a unit, but not when it is to give
// it up. The caller calls the function.
func (k *Keeper) Under(ctx context.Context, unit string) (context.Context, context.CancelFunc) {
	if k == nil {
		return ctx, func() {}
	}
	under, cancel := context.WithCancelCause(ctx)
	k.mu.Lock()
	w := k.wants[unit]
	if w == nil || w.lease == nil || w.lease.lost {
		k.mu.Unlock()
		cancel(ErrLost)
		return under, func() {}
	}
	gone := w.lease.gone
	k.mu.Unlock()
	go func() {
		select {
		case <-gone:
			cancel(ErrLost)
		case <-under.Done():
		}
	}()
	return under, func() { cancel(nil) }
}

// OnForget has f called when another process has called Everywhere, and from it. Call it before
// Run.
func (k *Keeper) OnForget(f func()) {
	if k != nil {
		k.forget = f
	}
}

// Everywhere returns once every process has forgotten what it remembers of the database, and
// will read it anew, or is dead.
func (k *Keeper) Everywhere(ctx context.Context) error {
	if k == nil {
		return nil
	}
	epoch, err := k.cfg.Rows.Raise(ctx)
	if err != nil {
		return err
	}
	k.nudge()
	for {
		k.mu.Lock()
		behind, looked := false, k.looked
		for id := range k.living("") {
			behind = behind || k.processes[id].row.Epoch < epoch
		}
		k.mu.Unlock()
		if !behind {
			return nil
		}
		select {
		case <-looked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Processes returns how many processes live, this one included.
func (k *Keeper) Processes() int {
	if k == nil {
		return 1
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return max(1, len(k.living("")))
}

// Units returns all units as they were at the last look.
func (k *Keeper) Units() []Row {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	rows := make([]Row, 0, len(k.rows))
	for name, s := range k.rows {
		if name != Epoch {
			rows = append(rows, s.row)
		}
	}
	return rows
}

// Unserved reports whether a unit may be without a process that serves it, for no longer than others
// take to notice.
func (k *Keeper) Unserved(unit string) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s, known := k.rows[unit]
	since := k.cfg.Elapsed() - s.at
	return known && (s.row.Holder == "" || since > k.beats()+k.beats()/2) && since < 2*k.cfg.Dead
}

// ID returns the id of this process; empty: it is alone.
func (k *Keeper) ID() string {
	if k == nil {
		return ""
	}
	return k.cfg.ID
}

func (k *Keeper) nudge() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Kind returns what units that divide the same work have in common: the beginning of their names.
func Kind(unit string) string {
	kind, _, _ := strings.Cut(unit, "/")
	return kind
}

// set returns what units that are shared out together have in common: "discord/2".
func set(unit string) string {
	kind, rest, _ := strings.Cut(unit, "/")
	_, of, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix(kind+"/"+of, "/")
}

// Exclude reports whether two units are of the same kind and different sets, so that only one of
// them can be held at a time.
func Exclude(a, b string) bool { return Kind(a) == Kind(b) && set(a) != set(b) }
