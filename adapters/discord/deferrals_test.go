package discord

import (
	"database/sql"
	"testing"
	"testing/synctest"
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
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.DB = beside(t)
		gate := make(chan bool)
		_, stop, kill := c.alone(&slowDesk{Desk: bot.New(c.store, bot.Config{}), gate: gate})
		thinks := func(who *discordtest.Person) *discordtest.Interaction {
			t.Helper()
			i := who.Slash(c.room, "rules")
			if kind, took := i.First(); kind != 5 || took != answerAfter {
				t.Fatalf("first answered by %d after %v", kind, took)
			}
			return i
		}
		told := thinks(c.alice)
		gate <- true
		said := c.ok(told).Content
		old := thinks(c.alice)
		synctest.Wait()
		if !isNoted(t, c.cfg.DB, old) {
			t.Fatal("it is not written down")
		}
		time.Sleep(routeLife)
		c.bob.Locale("de")
		lost := thinks(c.bob)
		synctest.Wait()
		if n := noted(t, c.cfg.DB); !isNoted(t, c.cfg.DB, lost) || n != 1 { // the old one is of no use any more
			t.Errorf("%d are written down", n)
		}
		kill()
		time.Sleep(6 * time.Second) // Discord lets nobody identify twice within five
		c.start()
		if m := c.ok(lost); m.To != "Bob" || m.Content != bot.Translated("de", wordInterrupted) {
			t.Errorf("it ends as %q to %q", m.Content, m.To)
		}
		synctest.Wait()
		if n := noted(t, c.cfg.DB); n != 0 {
			t.Errorf("%d are written down still", n)
		}
		if m := c.ok(told); m.Content != said {
			t.Errorf("%q became %q", said, m.Content)
		}
		c.stop()
		close(gate)
		stop()
		c.check()
	})
}

// What is put off and answered leaves nothing behind; and where nothing can be
// written down, people are answered all the same.
func TestDeferralsAreForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.DB = beside(t)
		d := &slowDesk{}
		c.desk = d.before
		c.start()
		thread := c.begin(t)
		d.gate = make(chan bool)
		slowly := func(i *discordtest.Interaction) {
			t.Helper()
			if kind, took := i.First(); kind != 5 || took != answerAfter {
				t.Errorf("first answered by %d after %v", kind, took)
			}
			d.gate <- true
			c.ok(i)
		}
		slowly(c.alice.Slash(thread, "place", opt("at", "C3")))
		slowly(c.alice.Slash(thread, "place", opt("at", "C4")))
		slowly(c.alice.Slash(thread, "score", opt("share", true)))
		synctest.Wait()
		if n := noted(t, c.cfg.DB); n != 0 {
			t.Errorf("%d are written down still", n)
		}
		if _, err := c.cfg.DB.Exec(`DROP TABLE discord_deferral`); err != nil {
			t.Fatal(err)
		}
		slowly(c.alice.Slash(thread, "place", opt("at", "C4")))
		c.stop()
		c.check()
	})
}
