package outbox

import (
	"testing"
	"time"
)

// A clock that was a year ahead, and is set right, holds nothing up for longer than an hour.
func TestClockBack(t *testing.T) {
	for what, want := range map[string]string{
		"fails":   "b1@3601 b2@3602",
		"limited": "b2@3601",
		"held":    "b2@3601",
		"asker":   "b1@76.3 b2@76.6",
		"header":  "b1@0.3 b2@1.3",
	} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.fates = map[string][]string{"b1": {what}}
				w.begin()
				w.ahead.Store(int64(365 * 24 * time.Hour))
				b1 := board("b1", 1)
				if what == "asker" { // who never comes back
					b1.Asker = true
				}
				w.commit("1", nothing, b1)
				time.Sleep(time.Second)
				w.ahead.Store(0)
				w.commit("2", nothing, board("b2", 2))
				if got := w.after(2 * time.Hour); got != want {
					t.Errorf("%s, not %s", got, want)
				}
			})
		})
	}
}
