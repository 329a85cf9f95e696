package matrixtest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Monday is when the time of a Bubble begins.
var Monday = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// Bubble runs a test in virtual time, with a homeserver in memory. Time stands still
// while anybody works, and passes at once while everybody waits.
func Bubble(t *testing.T, test func(t *testing.T, s *Server), options ...Options) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(Monday))
		test(t, InMemory(t, options...))
	})
}

// Each runs a test in a Bubble and, in the change tier, against Dendrite too, beside
// each other.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	t.Run("InMemory", func(t *testing.T) {
		t.Parallel()
		Bubble(t, test)
	})
	t.Run("Dendrite", func(t *testing.T) {
		tier.Change(t)
		t.Parallel()
		test(t, Shared(t))
	})
}

// rest waits in a Bubble until nobody works any more, and for a moment as people need
// between two things that they do.
func (s *Server) rest() {
	if s.Virtual() {
		synctest.Wait()
		time.Sleep(10 * time.Millisecond)
	}
}
