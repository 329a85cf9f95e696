package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// BenchmarkTurnBesideExports reports the median time of a turn in milliseconds, alone and
// while eight people read all that is stored about them again and again, by turns in one
// run.
func BenchmarkTurnBesideExports(b *testing.B) {
	s, err := store.Open(b.Context(), newFile(b))
	must(b, err)
	defer s.Close()
	for i := range 10_000 {
		_, err := s.Append(b.Context(), outbox.Message{Key: fmt.Sprint(i), Room: "local", At: noon, From: "Ada", Text: "hello, everybody", To: []string{"Bob"}})
		must(b, err)
	}
	step := opening("g", "room")
	must(b, s.Commit(b.Context(), step))
	median := func(n int) float64 {
		var all []time.Duration
		for range n {
			began := time.Now()
			_, err := s.Events(b.Context(), "g", max(0, step.Match.Seq-1), step.Match.Seq)
			must(b, err)
			_, err = s.Matches(b.Context(), bot.Query{Player: "ada"})
			must(b, err)
			step = turn(step.Match)
			must(b, s.Commit(b.Context(), step))
			all = append(all, time.Since(began))
		}
		slices.Sort(all)
		return all[len(all)/2].Seconds() * 1000
	}
	var alone, beside []float64
	for b.Loop() {
		alone = append(alone, median(50))
		stop := make(chan struct{})
		var exports sync.WaitGroup
		for i := range 8 {
			exports.Go(func() {
				who := outbox.User{Platform: bot.LogPlatform, ID: "name:ada", Name: "Ada"}
				for {
					select {
					case <-stop:
						return
					default:
						if _, err := s.MessagesOf(b.Context(), "ada", who); err != nil {
							b.Error(i, err)
							return
						}
					}
				}
			})
		}
		beside = append(beside, median(50))
		close(stop)
		exports.Wait()
	}
	slices.Sort(alone)
	slices.Sort(beside)
	b.ReportMetric(alone[len(alone)/2], "ms-alone/turn")
	b.ReportMetric(beside[len(beside)/2], "ms-beside/turn")
}
