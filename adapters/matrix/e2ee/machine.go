//go:build goolm

package e2ee

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// Available says whether this build can encrypt.
const Available = true

// Machine is the encryption of one device. Its methods may be called
// concurrently, but Sync one at a time.
//
// Room keys are shared with every device of every member of a room (and of the
// invited, unless the room's history is for the joined only), signed by its
// owner or not: people play from unverified clients. The bot's own device is
// cross-signed, so that clients which exclude unsigned devices take its keys.
type Machine struct {
	Config
	now func() time.Time

	// mu is held around everything that touches Olm or Megolm state. mautrix
	// has locks of its own, but holds them while it waits for the database;
	// with a transaction open on our side that would be a deadlock. No request
	// to the server is made under mu.
	mu       sync.Mutex
	closed   bool
	current  atomic.Pointer[parts]
	ahead    bool      // what is in memory is ahead of the database: load first
	arrived  []arrival // keys that came in the transaction going on
	stuck    stuck     // the to-device event that the database refuses
	otkCheck time.Time // when the number of one-time keys was last asked for
	since    string    // of the last Sync

	asks sync.Map // users (id.UserID) whom the bot is asking for the key of a session

	pending *newKeys // which the owner has to approve; CrossSign's

	onKey  atomic.Pointer[func(id.RoomID, id.SessionID)]
	uses   atomic.Uint64
	rooms  roomLocks
	fresh  freshness
	later  later
	chores chan func(context.Context)

	backup       atomic.Pointer[keyBackup] // nil: none is open
	recoveryKeys []string                  // that may open it
	backupBy     atomic.Int64              // in Unix nanoseconds, when keys no longer wait for it to be opened
	backupAfter  time.Duration             // between a key's arrival and its upload, with others
	unsaved      chan struct{}             // has one when there may be keys to back up

	background context.Context // ends with Close
	stop       context.CancelFunc
	stopped    sync.WaitGroup
}

// parts are what load makes. They are replaced together.
type parts struct {
	store *store
	olm   *crypto.OlmMachine
}

func (m *Machine) store() *store           { return m.current.Load().store }
func (m *Machine) olm() *crypto.OlmMachine { return m.current.Load().olm }

type arrival struct {
	room    id.RoomID
	session id.SessionID
}

// Open makes the tables and the keys of the device if they are not there, and
// uploads what the server lacks of them. It is [ErrOtherKeys] if the server has
// other keys for this device than the database.
func Open(ctx context.Context, c Config) (*Machine, error) {
	m := &Machine{Config: c, now: time.Now, chores: make(chan func(context.Context), 64), unsaved: make(chan struct{}, 1), backupAfter: backupAfter}
	if err := m.load(ctx, true); err != nil {
		return nil, err
	}
	if err := m.checkKeys(ctx); err != nil {
		return nil, err
	}
	count := -1 // as the server counts
	if !m.olm().GetAccount().Shared {
		count = 0
	}
	if err := m.olm().ShareKeys(ctx, count); err != nil {
		return nil, fmt.Errorf("upload device keys: %w", err)
	}
	m.background, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	m.stopped.Go(func() { m.work(m.background) })
	return m, nil
}

// load reads the device from the database. It is called again when a
// transaction was rolled back: what is in memory is ahead of the database then.
func (m *Machine) load(ctx context.Context, first bool) error {
	s := &store{SQLCryptoStore: crypto.NewSQLCryptoStore(m.DB, nil, m.Client.UserID.String(), m.Client.DeviceID, m.Pickle), asks: &m.asks}
	if first {
		if err := s.DB.Upgrade(ctx); err != nil {
			return fmt.Errorf("create the tables of encryption: %w", err)
		}
		for _, table := range ourTables {
			if _, err := s.DB.Exec(ctx, table); err != nil {
				return fmt.Errorf("create the tables of encryption: %w", err)
			}
		}
		device, err := s.FindDeviceID(ctx)
		if err != nil {
			return fmt.Errorf("read the encryption account: %w", err)
		} else if device != "" && device != m.Client.DeviceID {
			return fmt.Errorf("%w: keys of device %s, not %s", ErrOtherKeys, device, m.Client.DeviceID)
		}
	}
	olm := crypto.NewOlmMachine(m.Client, &m.Client.Log, s, m.State)
	// mautrix mends broken Olm sessions from goroutines of its own, against
	// the rule of mu. With a dead context they end at once; we mend ourselves.
	dead, cancel := context.WithCancel(context.Background())
	cancel()
	olm.SetBackgroundCtx(dead)
	// It would ask the server for devices in the middle of our transaction.
	olm.DisableDecryptKeyFetching = true
	// Lists every index that was left out: a member who writes one message with
	// the index 4,000,000,000 would fill the memory.
	olm.DisableRatchetTracking = true
	// We compare the devices at each message ourselves, which also holds when a
	// device list comes while the bot is away.
	olm.DisableDeviceChangeKeyRotation = true
	olm.SessionReceived = func(_ context.Context, room id.RoomID, session id.SessionID, _ uint32) {
		m.arrived = append(m.arrived, arrival{room, session})
	}
	if err := olm.Load(ctx); err != nil {
		return fmt.Errorf("read the device's keys: %w", err)
	}
	if first {
		// Earlier versions believed any key in the backup. The sender of such a key is
		// unknown: the bot asks for it when it needs it.
		res, err := s.DB.Exec(ctx, "DELETE FROM crypto_megolm_inbound_session WHERE key_source=$1 AND key_backup_version NOT LIKE $2", id.KeySourceBackup, "%"+marked)
		if err != nil {
			return fmt.Errorf("drop unproven keys of the key backup: %w", err)
		}
		if n, err := res.RowsAffected(); err == nil && n > 0 {
			m.Log.Info("encryption: dropped keys that an earlier version took from the key backup without proof", "keys", n)
		}
	}
	olm.GetAccount().Keys() // worked out at the first call, without a lock
	m.current.Store(&parts{s, olm})
	return nil
}

// checkKeys compares the server's keys of this device with the database's.
func (m *Machine) checkKeys(ctx context.Context) error {
	answer, err := m.Client.QueryKeys(ctx, &mautrix.ReqQueryKeys{
		DeviceKeys: mautrix.DeviceKeysRequest{m.Client.UserID: {m.Client.DeviceID}}, Timeout: 10_000,
	})
	if err != nil {
		return fmt.Errorf("get the device's keys: %w", err)
	}
	theirs, there := answer.DeviceKeys[m.Client.UserID][m.Client.DeviceID]
	account := m.olm().GetAccount()
	signing, identity := account.Keys()
	switch {
	case there && (theirs.Keys.GetEd25519(m.Client.DeviceID) != signing || theirs.Keys.GetCurve25519(m.Client.DeviceID) != identity):
		return ErrOtherKeys
	case !there && account.Shared:
		return fmt.Errorf("%w: it has no keys", ErrOtherKeys)
	}
	return nil
}

// OnKey sets the function that is called when a key has arrived; there is only one. The
// function is called from within Sync, after the key is stored, and must be quick.
func (m *Machine) OnKey(f func(room id.RoomID, session id.SessionID)) { m.onKey.Store(&f) }

// notify reports the keys that have arrived. The caller must not hold mu.
func (m *Machine) notify(arrived []arrival) {
	if len(arrived) > 0 {
		m.keyStored()
	}
	if f := m.onKey.Load(); f != nil {
		for _, a := range arrived {
			(*f)(a.room, a.session)
		}
	}
}

// Uses returns how often the device's ratchets have moved since Open. When it
// has grown, an older copy of the database must not be used any more.
func (m *Machine) Uses() uint64 { return m.uses.Load() }

// Close ends the work in the background. The database stays open. From then on the
// machine encrypts and decrypts nothing, and returns [ErrClosed]. It may be called twice.
func (m *Machine) Close() error {
	m.stop()
	m.stopped.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		m.olm().Destroy()
	}
	return nil
}

// open is nil until the machine is closed.
func (m *Machine) open() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	return nil
}

// work does chores one after another: what has time and asks the server.
func (m *Machine) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case chore := <-m.chores:
			func() {
				ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
				defer cancel()
				defer func() {
					if r := recover(); r != nil {
						m.Log.Error("encryption: background task panicked", "panic", r)
					}
				}()
				chore(ctx)
			}()
		}
	}
}

// chore queues one. Full means that somebody floods us: it is dropped.
func (m *Machine) chore(f func(context.Context)) {
	select {
	case m.chores <- f:
	default:
		m.Log.Warn("encryption: task queue full, request dropped")
	}
}

// transaction runs f under mu in one database transaction. When it fails, or
// anything in the store did, or f panics, nothing of it has happened. Once the
// machine is closed it does nothing: the database may be another device's.
func (m *Machine) transaction(ctx context.Context, f func(context.Context) error) error {
	if m.closed {
		return ErrClosed
	}
	if m.ahead {
		if err := m.load(ctx, false); err != nil {
			return err
		}
		m.ahead = false
	}
	m.store().begin()
	// dbutil never ends a transaction whose function panics, hence guard inside.
	err := m.DB.DoTxn(ctx, nil, func(ctx context.Context) error {
		if err := guard(func() error { return f(ctx) }); err != nil {
			return err
		}
		return m.store().failed
	})
	if err == nil {
		return nil
	}
	m.arrived = nil
	if again := m.load(context.WithoutCancel(ctx), false); again != nil {
		m.ahead = true
		err = errors.Join(err, again)
	}
	return err
}

// errPanic is a panic of mautrix, of which there are some that a message can cause.
type errPanic struct{ value any }

func (e errPanic) Error() string { return fmt.Sprintf("panic: %v", e.value) }

func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errPanic{r}
		}
	}()
	return f()
}

// roomLocks lets one message a room be encrypted at a time.
type roomLocks struct{ rooms sync.Map } // channels with one place, by id.RoomID

func (l *roomLocks) lock(ctx context.Context, room id.RoomID) (unlock func(), err error) {
	c, _ := l.rooms.LoadOrStore(room, make(chan struct{}, 1))
	place := c.(chan struct{})
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// freshness remembers in which rooms every device that can be reached has the key
// of the session, so that most messages need not look up members and devices.
type freshness struct {
	mu      sync.Mutex
	rooms   map[id.RoomID]freshRoom
	changes int // of rooms and devices so far: what was read before one may lack it
	devices int // of devices alone
}

type freshRoom struct {
	session id.SessionID
	users   []id.UserID // the members, sorted
	again   time.Time   // when to look again, for devices that could not be reached; zero: no need
}

// has reports whether a message with the session needs no look at members and devices.
func (f *freshness) has(room id.RoomID, session id.SessionID, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.rooms[room]
	return ok && r.session == session && (r.again.IsZero() || now.Before(r.again))
}

// count returns how many changes there were so far, and how many of them of devices.
func (f *freshness) count() (changes, devices int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes, f.devices
}

// found stores what came of a look, unless something has changed since it began.
func (f *freshness) found(room id.RoomID, r freshRoom, began int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changes != began {
		return
	}
	if f.rooms == nil {
		f.rooms = map[id.RoomID]freshRoom{}
	}
	f.rooms[room] = r
}

// changed has the next message look in each room that is chosen, after a change of so
// many devices' lists.
func (f *freshness) changed(lists int, chosen func(id.RoomID, freshRoom) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.rooms, chosen)
	f.changes++
	f.devices += lists
}

// roomChanged has the next message in a room look.
func (f *freshness) roomChanged(room id.RoomID) {
	f.changed(0, func(r id.RoomID, _ freshRoom) bool { return r == room })
}

// usersChanged has the next message look in each room that one of the users is in.
func (f *freshness) usersChanged(users ...id.UserID) {
	f.changed(len(users), func(_ id.RoomID, r freshRoom) bool {
		return slices.ContainsFunc(users, func(u id.UserID) bool { _, in := slices.BinarySearch(r.users, u); return in })
	})
}

// clear has the next message look in every room.
func (f *freshness) clear() { f.changed(1, func(id.RoomID, freshRoom) bool { return true }) }

// later remembers what failed and when to try it again: after 1 s, then twice
// as long each time, at most 10 minutes.
type later struct {
	mu sync.Mutex
	at map[any]attempt
}

type attempt struct {
	next  time.Time
	times int
}

func (l *later) due(what any, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !now.Before(l.at[what].next)
}

// failed returns how often it has failed by now.
func (l *later) failed(what any, now time.Time) (times int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	times = l.at[what].times + 1
	if l.at == nil || len(l.at) > 10_000 {
		l.at = make(map[any]attempt)
	}
	l.at[what] = attempt{now.Add(backoff.After(times, time.Second, 10*time.Minute)), times}
	return times
}

// next returns when it is to be tried again; zero: now.
func (l *later) next(what any) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at[what].next
}

// worked forgets that something failed, and reports whether it had.
func (l *later) worked(what any) (failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, failed = l.at[what]
	delete(l.at, what)
	return failed
}
