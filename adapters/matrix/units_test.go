//go:build goolm

package matrix

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mau.fi/util/dbutil"
	"golang.org/x/sync/errgroup"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// A tenant is the adapter of one of several processes, with its own way into the database and to
// the homeserver. It has the account when the test gives it to it.
type tenant struct {
	*Adapter
	proxy *matrixtest.Proxy
	ready chan string

	mu    sync.Mutex
	row   units.Row
	holds bool // as far as it knows

	begins chan context.Context
	end    context.CancelFunc
	ended  chan error
}

// lease is the tenant's lease on the account.
func (x *tenant) lease() (holder string, term int64, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.row.Holder, x.row.Term, x.holds
}

func (x *tenant) set(row units.Row, holds bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.row, x.holds = row, holds
}

// hold serves whenever the test says so.
func (x *tenant) hold(ctx context.Context, _ string, serve func(context.Context, *units.Held) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case during := <-x.begins:
			during, end := context.WithCancel(during)
			stop := context.AfterFunc(ctx, end)
			x.ended <- serve(during, &units.Held{})
			stop()
			end()
		}
	}
}

// A house is a bot with a store, and the adapters of two processes for it.
type house struct {
	*club
	rows    *store.Units
	row     units.Row
	tenants [2]*tenant
	now     atomic.Pointer[tenant] // which has taken the account last
}

// twoTenants makes two adapters for the club, of which none has the account.
func (c *club) twoTenants() *house {
	c.Helper()
	h := &house{club: c, row: units.Row{Name: Name}}
	c.store, c.cfg.DB, c.closed = openStore(c.T, c.file)
	var err error
	if h.rows, err = c.store.OpenUnits(); err != nil {
		c.Fatal(err)
	}
	closed := []func() error{h.rows.Close}
	for i := range h.tenants {
		x := &tenant{proxy: c.server.Proxy(c.T), ready: make(chan string, 1), begins: make(chan context.Context), ended: make(chan error, 1)}
		raw, err := c.store.OpenAdapterDB(Name, x.lease)
		if err != nil {
			c.Fatal(err)
		}
		closed = append(closed, raw.Close)
		cfg := c.cfg
		if cfg.DB, err = dbutil.NewWithDB(raw, map[bool]string{true: "postgres", false: "sqlite3"}[store.IsPostgres(c.file)]); err != nil {
			c.Fatal(err)
		}
		cfg.Homeserver, cfg.Hold, cfg.Lease, cfg.Ready = x.proxy.URL, x.hold, x.lease, func(user string) { x.ready <- user }
		cfg.RecoveryFile = fmt.Sprintf("%s/recovery-key-%d", databaseDir(c.T), i) // they are on two machines
		if x.Adapter, err = New(cfg); err != nil {
			c.Fatal(err)
		}
		h.tenants[i] = x
		h.now.Store(x)
	}
	store := c.closed
	c.closed = func() error {
		for _, f := range closed {
			if err := f(); err != nil {
				c.Error(err)
			}
		}
		return store()
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	c.bot = bot.New(c.store, bot.Config{Log: c.cfg.Log})
	go func() { done <- c.bot.Run(ctx, h) }()
	c.stop = func() error {
		c.stop = nil
		cancel()
		return errors.Join(<-done, c.closed())
	}
	return h
}

// movedIn makes two adapters, of which the first has the account and a game in an encrypted room.
func (c *club) movedIn() (*house, *pair) {
	c.Helper()
	h := c.twoTenants()
	h.takes(0)
	r := c.seals()
	c.settled()
	return h, r
}

func (h *house) Name() string { return Name }

// Run runs both adapters.
func (h *house) Run(ctx context.Context, service bot.Service) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, x := range h.tenants {
		group.Go(func() error { return x.Run(ctx, service) })
	}
	return group.Wait()
}

// Deliver has the tenant deliver a post that has, or had, the account by what is stored.
func (h *house) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	return h.now.Load().Deliver(ctx, p)
}

// takes gives a tenant the account, whoever else believes to have it.
func (h *house) takes(i int) {
	h.Helper()
	x := h.tenants[i]
	row, taken, err := h.rows.Take(h.Context(), h.row, fmt.Sprintf("tenant %d in term %d", i, h.row.Term+1), units.DefaultDead)
	if err != nil || !taken {
		h.Fatalf("not taken: %v", err)
	}
	h.row = row
	x.set(h.row, true)
	during, end := context.WithCancel(context.Background())
	x.end = end
	h.now.Store(x)
	h.a = x.Adapter
	x.begins <- during
	select {
	case <-x.ready:
	case err := <-x.ended:
		h.Fatalf("it ended: %v", err)
	case <-time.After(h.patience()):
		h.Fatalf("it is not ready\n%s", h.log)
	}
}

// leaves has a tenant give up the account.
func (h *house) leaves(i int) {
	h.Helper()
	h.over(i)
	h.tenants[i].set(units.Row{}, false)
	if err := h.rows.Free(h.Context(), Name, h.row.Holder); err != nil {
		h.Fatal(err)
	}
	h.row.Holder = ""
}

// loses has a tenant find out that it has lost the account.
func (h *house) loses(i int) {
	h.Helper()
	h.tenants[i].set(units.Row{}, false)
	h.over(i)
}

// over ends the service of a tenant.
func (h *house) over(i int) {
	h.Helper()
	h.tenants[i].end()
	select {
	case err := <-h.tenants[i].ended:
		if err != nil {
			h.Errorf("it ended: %v", err)
		}
	case <-time.After(h.patience()):
		h.Fatalf("it does not end\n%s", h.log)
	}
}

// stored returns a sum of each table in which the adapter stores something.
func (h *house) stored() map[string]string {
	h.Helper()
	ctx, sums := h.Context(), map[string]string{}
	tables, err := dbutil.ConvertRowFn[string](dbutil.ScanSingleColumn[string]).NewRowIter(h.cfg.DB.Query(ctx,
		"SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND (tablename LIKE 'matrix_%' OR tablename LIKE 'crypto_%' OR tablename LIKE 'mx_%')")).AsList()
	if err != nil || len(tables) < 10 {
		h.Fatalf("%d tables: %v", len(tables), err)
	}
	for _, table := range tables {
		var sum string
		if err := h.cfg.DB.QueryRow(ctx, "SELECT COALESCE(md5(string_agg(CAST(t AS TEXT), ' ' ORDER BY CAST(t AS TEXT))), '') FROM "+table+" t").Scan(&sum); err != nil {
			h.Fatal(err)
		}
		sums[table] = sum
	}
	return sums
}

// onBoth runs a test on SQLite and on PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, c *club)) {
	t.Run("SQLite", func(t *testing.T) {
		inMemory(t, func(t *testing.T, s *matrixtest.Server) { test(t, lively(t, s)) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := pgtest.Start(t)
		inMemory(t, func(t *testing.T, s *matrixtest.Server) {
			c := lively(t, s)
			c.file = server.Database(t)
			test(t, c)
		})
	})
}

// The account goes from one process to another and back, again and again, in whatever way, while
// two people play in an encrypted room. Each turn is read once and shown once, also one that comes
// while nobody has the account or as it is lost. The device stays the same, and everybody can read
// everything.
func TestAccountMoves(t *testing.T) {
	onBoth(t, func(t *testing.T, c *club) {
		h, r := c.movedIn()
		device := c.a.device().Client.DeviceID
		moves := []func(int){h.leaves, h.loses}
		points := []string{"D3", "C4", "D4", "C2", "D2", "B3", "E3", "B4", "E4"}
		for k, point := range points {
			now := k % 2
			by, other := r.people[(k+1)%2], r.people[k%2]
			if k%3 == 0 { // it has come, and may be in hand
				by.says(r.root, "!place "+point)
				moves[k/2%2](now)
			} else {
				moves[k/2%2](now)
				by.says(r.root, "!place "+point)
			}
			if k == len(points)-1 { // for longer than tokens, marks and limits last
				time.Sleep(time.Hour)
			}
			h.takes(1 - now)
			other.sees(fmt.Sprintf("%d. %s %s", k+2, []string{"White", "Black"}[k%2], point))
		}
		r.people[0].says(r.root, "!score")
		r.people[0].sees("If the game ended now")
		c.settled()
		for k, point := range append([]string{"C3"}, points...) {
			turn := fmt.Sprintf("%d. %s %s", k+1, []string{"Black", "White"}[k%2], point)
			for _, p := range r.people {
				if n := p.count(turn); n != 1 {
					t.Errorf("%s: %d times", turn, n)
				}
			}
		}
		if n := r.people[0].count("If the game ended now"); n != 1 {
			t.Errorf("the answer came %d times", n)
		}
		if now := c.a.device().Client.DeviceID; now != device {
			t.Errorf("device %s has become %s", device, now)
		}
		if said := c.clear(r.people[0].View(r.at), r.root); len(said) > 0 {
			t.Errorf("it has said in the clear: %q", said)
		}
		for line := range strings.Lines(c.log.String()) {
			if strings.Contains(line, "level=ERROR") && !strings.Contains(line, "mautrix: Request failed") {
				t.Error(line)
			}
		}
		c.leavesNothing()
	})
}

// A process that does not have the account asks nothing of the homeserver, delivers nothing, and
// lacks nothing. But it knows who may write in a room.
func TestWithoutTheAccount(t *testing.T) {
	onBoth(t, func(t *testing.T, c *club) {
		h := c.twoTenants()
		idle := h.tenants[1]
		where := match.Room{Platform: Name, Channel: "!room:example.org"}
		if _, err := idle.Member(t.Context(), outbox.User{Platform: Name, ID: "@anna:example.org"}, where); err == nil {
			t.Error("it knows members before there is a device")
		}
		h.takes(0)
		r := c.seals()
		c.settled()
		time.Sleep(time.Minute)
		where.Channel = r.at.String()
		without := func(idle *tenant) {
			t.Helper()
			if h := idle.Health(); !h.Connected || h.Lacks != "" || !h.Heartbeat.IsZero() {
				t.Errorf("it is %+v", h)
			}
			before := len(idle.proxy.Requests(matrixtest.Any))
			_, _, err := idle.Deliver(t.Context(), outbox.Post{ID: "post", Where: where, Kind: match.Notice})
			if !errors.As(err, new(outbox.RetryAfter)) {
				t.Errorf("a delivery: %v", err)
			}
			time.Sleep(10 * time.Minute)
			if n := len(idle.proxy.Requests(matrixtest.Any)); n != before {
				t.Errorf("it asks the homeserver %d times", n-before)
			}
			for who, want := range map[id.UserID]bool{r.people[0].ID: true, "@carl:halfpoint.test": false} {
				if is, err := idle.Member(t.Context(), outbox.User{Platform: Name, ID: who.String()}, where); err != nil || is != want {
					t.Errorf("%s may write: %v, %v", who, is, err)
				}
			}
		}
		without(idle)
		h.loses(0)
		h.takes(1)
		without(h.tenants[0])
	})
}

// A process that was stopped goes on after another one has taken the account, and does not know it
// yet: with an answer of the homeserver in its hands, a post to deliver, and the beat of its device
// due. It stores nothing and says nothing. The account comes back to it later.
func TestOldHolderGoesOn(t *testing.T) {
	server := pgtest.Start(t)
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.file = server.Database(t)
		h, r := c.movedIn()
		old, anna, bob := h.tenants[0], r.people[0], r.people[1]
		goesOn := make(chan struct{})
		stopped := old.proxy.Always(matrixtest.Any, matrixtest.HoldsAnswer(goesOn))
		bob.says(r.root, "!place D3")
		stopped.Await(t, 1)
		h.takes(1)
		anna.sees("2. White D3")
		c.settled()
		time.Sleep(time.Second)
		before, said := h.stored(), len(anna.View(r.at).Events)

		close(goesOn)
		stopped.Stop()
		_, _, err := old.Deliver(t.Context(), outbox.Post{ID: "old", Where: match.Room{Platform: Name, Channel: r.at.String()}, Kind: match.Notice, Text: "Old news"})
		if !errors.Is(err, units.ErrLost) {
			t.Errorf("its delivery: %v", err)
		}
		time.Sleep(time.Minute)
		if log := c.log.String(); !strings.Contains(log, "storing a sync response failed") {
			t.Error("it has not tried to store anything")
		}
		after := h.stored()
		for table, sum := range before {
			if after[table] != sum {
				t.Errorf("%s has changed", table)
			}
		}
		if n := len(anna.View(r.at).Events); n != said {
			t.Errorf("%d events are new in the room", n-said)
		}

		h.loses(0)
		anna.says(r.root, "!place C4")
		bob.sees("3. Black C4")
		h.leaves(1)
		bob.says(r.root, "!place D4")
		h.takes(0)
		anna.sees("4. White D4")
		c.settled()
		for _, turn := range []string{"1. Black C3", "2. White D3", "3. Black C4", "4. White D4"} {
			if n := anna.count(turn); n != 1 {
				t.Errorf("%s: %d times", turn, n)
			}
		}
		if slices.ContainsFunc(strings.Split(c.log.String(), "\n"), func(line string) bool { return strings.Contains(line, "another Halfpoint") }) {
			t.Error("one process takes the other for another Halfpoint")
		}
	})
}

// A process that is stopped while its device says that it lives sees the mark of the next one there.
// That is no other Halfpoint: it waits until it knows that it has lost the account.
func TestNextHolderIsNoTwin(t *testing.T) {
	server := pgtest.Start(t)
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.file = server.Database(t)
		h, r := c.movedIn()
		goesOn := make(chan struct{})
		beat := h.tenants[0].proxy.Once(matrixtest.On("GET", "/account_data/io.github.halfpoint_go.device$"), matrixtest.Holds(goesOn))
		beat.Await(t, 1)
		h.takes(1)
		close(goesOn)
		time.Sleep(time.Minute)
		if dev := h.tenants[0].device(); dev != nil {
			t.Error("it still has the device")
		}
		h.loses(0)
		r.people[1].says(r.root, "!place D3")
		r.people[0].sees("2. White D3")
		h.leaves(1)
		h.takes(0)
		c.settled()
	})
}

// Each time that the adapter has the account it begins without what it remembers of the homeserver
// and of the database. Whoever adds a field decides whether it is such a memory.
func TestBelievesNothingFromBefore(t *testing.T) {
	keeps := strings.Fields(`cfg log mu service known dev queue asks ctx sends inside idle out up heard keys
		personLimit roomLimit making account sending files empty`)
	forgets := strings.Fields(`rooms joins failed verifications done read synced leftover reviewed restored
		origins secret fresh invites newest uploads closed memberships movedRooms`)
	all := slices.Concat(keeps, forgets)
	var fields []string
	for f := range reflect.TypeFor[Adapter]().Fields() {
		fields = append(fields, f.Name)
	}
	slices.Sort(all)
	slices.Sort(fields)
	if !slices.Equal(all, fields) {
		t.Errorf("the fields are %v, and not %v", fields, all)
	}
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		h, r := c.movedIn()
		h.loses(0)
		a, now := h.tenants[0].Adapter, time.Now()
		at, who := id.RoomID("!false:example.org"), id.UserID("@false:example.org")
		a.rooms[at] = &room{id: at, known: r.at, joined: true}
		a.joins[at.String()], a.failed["$false"], a.verifications[who] = &joinAttempt{}, failure{times: 1, since: now}, verification{until: now.Add(time.Hour)}
		a.done, a.leftover = now.Add(time.Hour), -1
		a.restored.copied.Store(7)
		a.restored.untold.Store(true)
		a.restored.earlier.Store(r.at, earlier{})
		for _, m := range []*sync.Map{&a.origins, &a.secret, &a.fresh, &a.uploads.asked} {
			m.Store(at, true)
		}
		a.invites.wait("$false", who, now)
		a.newest.Add("line", 7)
		a.closed.Add(door{r.at, "m.room.message"}, closed{why: errors.New("false"), until: now.Add(time.Hour)})
		a.memberships.Add(member{r.people[0].ID, r.at}, membership{false, now.Add(time.Hour)})
		synced := a.synced.Load()

		h.takes(0)
		a.mu.Lock()
		defer a.mu.Unlock()
		_, told := a.secret.Load(at)
		_, asked := a.uploads.asked.Load(at)
		_, origin := a.origins.Load(at)
		_, fresh := a.fresh.Load(at)
		_, newest := a.newest.Get("line")
		_, closed := a.closed.Get(door{r.at, "m.room.message"})
		_, member := a.memberships.Get(member{r.people[0].ID, r.at})
		_, before := a.restored.earlier.Load(r.at)
		for what, there := range map[string]bool{"rooms": a.rooms[at] != nil, "joins": len(a.joins) > 0, "failed": len(a.failed) > 0,
			"verifications": len(a.verifications) > 0, "done": a.done.After(time.Now()), "leftover": a.leftover <= 0,
			"restored": a.restored.copied.Load() != 0 || a.restored.untold.Load() || before, "origins": origin, "secret": told, "fresh": fresh, "uploads": asked,
			"invites": len(a.invites.asks) > 0, "newest": newest, "closed": closed, "memberships": member, "synced": a.synced.Load() == synced} {
			if there {
				t.Errorf("it still has %s", what)
			}
		}
	})
}
