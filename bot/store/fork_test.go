//go:build unix

package store_test

import (
	"os/exec"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A program that is being started holds what its parent has open for a moment: that
// is nobody who uses the database.
func TestOpenWhileProgramsStart(t *testing.T) {
	name := newFile(t)
	stop := make(chan bool)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					exec.Command("true").Run() //nolint:errcheck // it is only started
				}
			}
		})
	}
	defer wait.Wait()
	defer close(stop)
	for n := range 200 {
		s, err := store.Open(t.Context(), name)
		if err != nil {
			t.Fatal(n, err)
		}
		must(t, s.Close())
	}
}
