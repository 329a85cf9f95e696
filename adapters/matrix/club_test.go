package matrix

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// raced: the race detector looks on, and fewer games are played.
var raced bool

func TestMain(m *testing.M) { matrixtest.Main(m) }

// A club is a homeserver with an account for the bot, which can be started and
// stopped over the same database.
type club struct {
	*testing.T
	server  *matrixtest.Server
	user    matrixtest.User
	cfg     Config
	file    string
	log     *lockedBuffer
	service bot.Service      // instead of a bot's; nil: a bot's
	rand    io.Reader        // see bot.Config; may be nil
	now     func() time.Time // the bot's clock, which stands still but for waits; nil: the machine's
	waits   func()           // lets a moment pass

	between func(bot.Service) bot.Service // stands between adapter and bot; may be nil

	a      *Adapter
	bot    *bot.Bot
	store  *store.Store
	closed func() error
	stop   func() error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newClub(t *testing.T, s *matrixtest.Server) *club {
	t.Helper()
	c := &club{T: t, server: s, user: s.Register(t, "Halfpoint"), file: filepath.Join(databaseDir(t), "halfpoint.db"), log: &lockedBuffer{}}
	c.cfg = Config{Homeserver: s.URL, Dial: s.Dial, User: c.user.ID.String(), Password: secret.New(c.user.Password),
		Person: 6000,                        // people in tests are quick
		Rate:   Unlimited, Burst: Unlimited, // and what can wait need not
		Log: slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelInfo}))}
	c.cfg.RecoveryFile = c.file + ".recovery-key"
	if !s.Virtual() {
		c.cfg.Slow = time.Minute        // it may be the machine that is slow
		c.cfg.Settle = time.Millisecond // nobody competes for the account
	}
	t.Cleanup(func() {
		if c.stop != nil {
			c.halt()
		}
		if t.Failed() {
			t.Logf("the bot's log:\n%s", c.log)
		}
	})
	return c
}

// databaseDir returns a directory for databases. Where the system has a file system in
// memory it is there: each commit waits for the disk, and tests commit often.
func databaseDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "halfpoint-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// openStore opens a store, a file or on PostgreSQL, and the adapter's way into it.
func openStore(t *testing.T, file string) (_ *store.Store, _ *dbutil.Database, closed func() error) {
	t.Helper()
	st, err := store.Open(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := st.OpenAdapterDB("matrix", nil)
	if err != nil {
		t.Fatal(err)
	}
	dialect := "sqlite3"
	if store.IsPostgres(file) {
		dialect = "postgres"
	}
	db, err := dbutil.NewWithDB(raw, dialect)
	if err != nil {
		t.Fatal(err)
	}
	return st, db, func() error { return cmp.Or(raw.Close(), st.Close()) }
}

// open opens the database and makes the adapter.
func (c *club) open() {
	c.Helper()
	c.store, c.cfg.DB, c.closed = openStore(c.T, c.file)
	var err error
	if c.a, err = New(c.cfg); err != nil {
		c.Fatal(err)
	}
}

// start starts the bot and waits until it reads.
func (c *club) start() {
	c.Helper()
	ready := make(chan string, 1)
	c.cfg.Ready = func(user string) { ready <- user }
	c.open()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	if c.service != nil {
		go func() { done <- c.a.Run(ctx, c.service) }()
	} else {
		c.bot = bot.New(c.store, bot.Config{Log: c.cfg.Log, Now: c.now, Rand: c.rand})
		a := between{c.a, c.between}
		go func() { done <- c.bot.Run(ctx, a) }()
	}
	c.stop = func() error {
		c.stop = nil
		cancel()
		err := <-done
		if e := c.closed(); err == nil {
			err = e
		}
		return err
	}
	select {
	case user := <-ready:
		if user != c.user.ID.String() {
			c.Errorf("it is %s and not %s", user, c.user.ID)
		}
	case err := <-done:
		done <- err
		c.Fatalf("it ended: %v", err)
	case <-time.After(c.patience()):
		c.Fatalf("it is not ready\n%s", c.log)
	}
}

// leavesNothing reports rows that belong to nobody.
func (c *club) leavesNothing() {
	c.Helper()
	for _, l := range Leftovers {
		ctx, n := context.Background(), 0
		there, err := c.cfg.DB.TableExists(ctx, l.Table)
		if err == nil && there {
			err = c.cfg.DB.QueryRow(ctx, "SELECT COUNT(*) FROM "+l.Table+" WHERE "+l.Where).Scan(&n)
		}
		if err != nil || n > 0 {
			c.Errorf("%d rows of %s are left over: %s: %v", n, l.Table, l.Why, err)
		}
	}
}

// halt stops the bot as its owner does.
func (c *club) halt() {
	c.Helper()
	c.leavesNothing()
	if err := c.stop(); err != nil {
		c.Fatal(err)
	}
}

// restart halts the bot and starts it again.
func (c *club) restart() {
	c.Helper()
	c.halt()
	c.start()
}

// exec changes the database.
func (c *club) exec(query string, args ...any) {
	c.Helper()
	if _, err := c.cfg.DB.Exec(context.Background(), query, args...); err != nil {
		c.Fatal(err)
	}
}

// dealt waits until the bot has dealt with an event of a room.
func (c *club) dealt(at id.RoomID, e id.EventID) {
	c.Helper()
	c.await("the bot to deal with an event", func() bool { return c.hasRead(at, e) })
}

func (c *club) hasRead(at id.RoomID, e id.EventID) bool {
	ctx := context.Background()
	if state, err := c.a.queue.state(ctx, e); err == nil && state != "" {
		return state != waiting
	}
	if last := c.a.room(at).last; last != e && !c.server.Ordered(at, e, last) {
		return false
	}
	r, err := c.a.queue.next(ctx, at)
	return err == nil && r == nil
}

// A guest is a person at the table of a club.
type guest struct {
	*matrixtest.Player
	c  *club
	at id.RoomID
}

// guest is a person who is in no room yet.
func (c *club) guest(name string) *guest { return &guest{Player: c.server.Player(c.T, name), c: c} }

// room makes a room of people and the bot, and waits until the bot is in it.
func (c *club) room(r matrixtest.Room, names ...string) []*guest {
	c.Helper()
	var all []*guest
	for i, name := range names {
		g := c.guest(name)
		if i == 0 {
			r.Invite = append(r.Invite, c.user.ID)
			g.at = g.Makes(r)
		} else {
			g.at = all[0].at
			all[0].Invites(g.at, g.ID)
			g.AwaitInvite(g.at)
			g.Joins(g.at)
		}
		all = append(all, g)
	}
	if c.stop != nil {
		all[0].Await(all[0].at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		c.await("the bot to know the room", func() bool { return c.a.room(all[0].at).joined })
	}
	return all
}

// patience is how long to wait for the bot and the homeserver.
func (c *club) patience() time.Duration {
	if c.server.Virtual() {
		return 2 * time.Minute
	}
	return tier.Patience(c.T)
}

// await waits until something is so. In a bubble it looks only while nobody works.
func (c *club) await(what string, so func() bool) {
	c.Helper()
	step := 5 * time.Millisecond
	if c.server.Virtual() {
		step = 50 * time.Millisecond
	}
	for late := time.Now().Add(c.patience()); ; time.Sleep(step) {
		if c.server.Virtual() {
			synctest.Wait()
		}
		if so() {
			return
		}
		if time.Now().After(late) {
			c.Fatalf("waited for %s\n%s", what, c.log)
		}
	}
}

// asks says something in a thread, or in the room itself, and waits until the
// bot has dealt with it.
func (g *guest) asks(thread id.EventID, text string) id.EventID {
	g.c.Helper()
	e := g.says(thread, text)
	g.c.dealt(g.at, e)
	return e
}

// says says something in a thread, or in the room itself.
func (g *guest) says(thread id.EventID, text string) id.EventID {
	if thread == "" {
		return g.Says(g.at, text)
	}
	return g.SaysIn(g.at, thread, text)
}

// reads waits until the bot has said something, and gives the newest message
// that does.
func (g *guest) reads(what string) *matrixtest.Message {
	g.c.Helper()
	var found *matrixtest.Message
	g.Await(g.at, fmt.Sprintf("“%s”", what), func(v matrixtest.View) bool {
		for _, m := range v.From(g.c.user.ID) {
			if strings.Contains(m.Text(), what) {
				found = m
			}
		}
		return found != nil
	})
	return found
}

// settled waits until everything that comes of what was dealt with has been
// sent: what the bot owes, reactions, edits.
func (c *club) settled() {
	c.Helper()
	settle := func(what string, left func() int) {
		c.await(what, func() bool {
			if c.waits != nil {
				c.waits()
			}
			return left() == 0
		})
	}
	settle("what the bot owes", c.owed)
	settle("edits and reactions", func() int { return c.decorations("sleeps = 0") })
}

// decorations is how many decorations wait.
func (c *club) decorations(which string) (n int) {
	c.Helper()
	if err := c.cfg.DB.QueryRow(context.Background(), "SELECT COUNT(*) FROM decoration WHERE "+which).Scan(&n); err != nil {
		c.Fatal(err)
	}
	return n
}

// owed is how many posts are to be delivered now.
func (c *club) owed() (n int) {
	now := time.Now
	if c.now != nil {
		now = c.now
	}
	if c.now != nil { // a clock that stands still ends no waiting
		c.hurries(fmt.Sprint("due > ", now().UnixMilli()))
	}
	if err := c.cfg.DB.QueryRow(context.Background(), "SELECT COUNT(*) FROM post WHERE state = 'waiting' AND due <= $1", now().Add(40*time.Second).UnixMilli()).Scan(&n); err != nil {
		c.Fatal(err)
	}
	return n
}

// hurries has those posts delivered now that would be tried again after a while.
func (c *club) hurries(which string) {
	c.Helper()
	for _, q := range []string{`UPDATE post SET due = 0 WHERE state = 'waiting' AND ` + which, `DELETE FROM room_wait`} {
		c.exec(q)
	}
	c.bot.Wake()
}

// kill ends the bot as a crash would: from this moment on it can write nothing
// down.
func (c *club) kill() {
	c.Helper()
	if err := c.closed(); err != nil {
		c.Error(err)
	}
	c.closed = func() error { return nil }
	_ = c.stop() // it complains about its database
}

// between is the adapter, with something between it and the bot.
type between struct {
	bot.Adapter
	wrap func(bot.Service) bot.Service
}

func (b between) Run(ctx context.Context, service bot.Service) error {
	if b.wrap != nil {
		service = b.wrap(service)
	}
	return b.Adapter.Run(ctx, service)
}

// Member has the bot know who may write in a room.
func (b between) Member(ctx context.Context, who outbox.User, where match.Room) (bool, error) {
	return b.Adapter.(bot.Membership).Member(ctx, who, where)
}

// Account has the outbox know the limits of the homeserver.
func (b between) Account() *outbox.Account { return b.Adapter.(outbox.Limited).Account() }

// inMemory runs a test in virtual time, beside others.
func inMemory(t *testing.T, test func(t *testing.T, s *matrixtest.Server)) {
	t.Helper()
	t.Parallel()
	matrixtest.Bubble(t, test)
}
