package bot

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// While more requests come in than a quiet server has, nothing is estimated, and for
// a second after.
func TestCrowdsGetNoEstimate(t *testing.T) {
	e, now := newEstimator(), time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	free := func() bool {
		if !e.hold(t.Context(), now) {
			return false
		}
		<-e.slot
		return true
	}
	for range calmBurst {
		e.asked(now)
	}
	if !free() {
		t.Error("a few requests at once are a crowd")
	}
	e.asked(now)
	if now = now.Add(crowdStays - time.Millisecond); free() {
		t.Error("more are none")
	}
	if now = now.Add(time.Millisecond); !free() {
		t.Error("a crowd stays")
	}
	for range 100 * calmRequests { // ten times as many as there may be
		now = now.Add(time.Second / calmRequests / 10)
		e.asked(now)
	}
	if free() {
		t.Error("a steady stream of requests is no crowd")
	}
	for range 100 {
		now = now.Add(time.Second)
		e.asked(now)
	}
	if !free() {
		t.Error("a request a second is a crowd")
	}
}

// Who finds another estimate under way waits a moment for it and not longer; nobody
// waits whose request is over.
func TestEstimatesAreMadeOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEstimator()
		if !e.hold(t.Context(), time.Now()) {
			t.Fatal("the first waits")
		}
		begun := time.Now()
		if e.hold(t.Context(), begun) || time.Since(begun) != estimateWait {
			t.Error("the second did not give up in time")
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if begun = time.Now(); e.hold(over, begun) || time.Since(begun) != 0 {
			t.Error("who is gone waits")
		}
		go func() {
			time.Sleep(estimateWait / 2)
			<-e.slot
		}()
		if !e.hold(t.Context(), time.Now()) {
			t.Error("the second does not get its turn")
		}
	})
}
