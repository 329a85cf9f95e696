//go:build unix

package main

import (
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A says is a writer that passes on what is written.
type says chan string

func (s says) Write(p []byte) (int, error) { s <- string(p); return len(p), nil }

// The signal that once made a backup says what does so now, and does not end the program.
func TestSignalOfEarlierBackups(t *testing.T) {
	said := make(says, 1)
	refuseSignal(t.Context(), slog.New(slog.NewTextHandler(said, nil)))
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if line := <-said; !strings.Contains(line, "run halfpoint backup FILE") {
		t.Errorf("it says %q", line)
	}
	s := serve(t, filepath.Join(t.TempDir(), "game.db"))
	for _, signal := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGTERM} {
		if err := s.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, s.stderr.String())
	}
}
