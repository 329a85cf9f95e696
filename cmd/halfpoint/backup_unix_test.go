//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A backup is made while the program runs, and restores.
func TestBackupWhileRunning(t *testing.T) {
	database := filepath.Join(t.TempDir(), "game.db")
	s := serve(t, database)
	for i, text := range []string{"/new aga 9x9", "/place E5"} {
		if _, ok := s.ask(uuid(i+1), "black", text); !ok {
			t.Fatal("no answer")
		}
	}
	if err := s.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	var copies []string
	for deadline := time.Now().Add(30 * time.Second); len(copies) == 0 && time.Now().Before(deadline); {
		if _, ok := s.ask(uuid(3), "white", "/place C3"); !ok { // the same again and again: games go on
			t.Fatal("no answer")
		}
		copies, _ = filepath.Glob(database + ".*.backup")
	}
	if len(copies) != 1 {
		t.Fatalf("backups: %v\n%s", copies, s.stderr.String())
	}
	st, err := store.Open(t.Context(), copies[0])
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	ms, err := st.Matches(t.Context(), bot.Query{})
	if err != nil || len(ms) != 1 || ms[0].Seq < 4 {
		t.Errorf("%+v, %v", ms, err)
	}
}
