package discord

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// beside is a database for the adapter's tables.
func beside(t *testing.T) *sql.DB {
	t.Helper()
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	db, err := st.Beside()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// noted counts the deferrals that are written down.
func noted(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow(`SELECT COUNT(*) FROM discord_deferral`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// isNoted reports whether one is written down.
func isNoted(t *testing.T, db *sql.DB, i *discordtest.Interaction) bool {
	t.Helper()
	n := 0
	if err := db.QueryRow(`SELECT COUNT(*) FROM discord_deferral WHERE token = $1`, i.Token()).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// A program that is killed while somebody sees that it thinks, before anything is
// decided, tells them when it is back; not who has been answered, nor who asked
// too long ago.
func TestKilledWhileThinking(t *testing.T) {
	t.Parallel()
	c := newClub(t, discordtest.Options{})
	c.cfg.DB = beside(t)
	c.cfg.Answer = 50 * time.Millisecond
	gate := make(chan bool)
	d := &slowDesk{Desk: bot.New(c.store, bot.Config{}), gate: gate}
	a, err := New(c.cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, d) }()
	if !c.d.WaitSessions(1) || !c.d.WaitCommands(1) {
		t.Fatal("not connected")
	}
	thinks := func(who *discordtest.Person) *discordtest.Interaction {
		t.Helper()
		i := who.Slash(c.room, "rules")
		if kind, _ := i.First(); kind != 5 {
			t.Fatalf("first answered by %d", kind)
		}
		return i
	}
	told := thinks(c.alice)
	gate <- true
	said := c.ok(told).Content
	old := thinks(c.alice)
	if !eventually(func() bool { return isNoted(t, c.cfg.DB, old) }) {
		t.Fatal("it is not written down")
	}
	c.d.Advance(14*time.Minute + time.Second)
	c.bob.Locale("de")
	lost := thinks(c.bob)
	if !eventually(func() bool { return isNoted(t, c.cfg.DB, lost) && noted(t, c.cfg.DB) == 1 }) { // the old one is of no use any more
		t.Errorf("%d are written down", noted(t, c.cfg.DB))
	}
	// That process does nothing more; another begins.
	c.cfg.Answer = time.Hour
	c.a = a
	c.start()
	if m := c.ok(lost); m.To != "Bob" || m.Content != bot.Translated("de", wordInterrupted) {
		t.Errorf("it ends as %q to %q", m.Content, m.To)
	}
	if !eventually(func() bool { return noted(t, c.cfg.DB) == 0 }) {
		t.Errorf("%d are written down still", noted(t, c.cfg.DB))
	}
	if m := c.ok(told); m.Content != said {
		t.Errorf("%q became %q", said, m.Content)
	}
	c.stop()
	close(gate)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	c.check()
}

// What is put off and answered leaves nothing behind; and where nothing can be
// written down, people are answered all the same.
func TestDeferralsAreForgotten(t *testing.T) {
	t.Parallel()
	c := newClub(t, discordtest.Options{})
	c.cfg.DB = beside(t)
	d := &slowDesk{}
	c.desk = d.before
	c.start()
	thread := c.begin(t)
	c.a.cfg.Answer = 50 * time.Millisecond
	d.gate = make(chan bool)
	slowly := func(i *discordtest.Interaction) {
		t.Helper()
		if kind, _ := i.First(); kind != 5 {
			t.Errorf("first answered by %d", kind)
		}
		d.gate <- true
		c.ok(i)
	}
	slowly(c.alice.Slash(thread, "place", opt("at", "C3")))
	slowly(c.alice.Slash(thread, "place", opt("at", "C4")))
	slowly(c.alice.Slash(thread, "score", opt("share", true)))
	if !eventually(func() bool { return noted(t, c.cfg.DB) == 0 }) {
		t.Errorf("%d are written down still", noted(t, c.cfg.DB))
	}
	if _, err := c.cfg.DB.Exec(`DROP TABLE discord_deferral`); err != nil {
		t.Fatal(err)
	}
	slowly(c.alice.Slash(thread, "place", opt("at", "C4")))
	c.stop()
	c.check()
}
