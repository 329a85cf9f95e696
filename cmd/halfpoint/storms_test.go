package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A storm plays a game on two processes on one database of PostgreSQL, of which one works and
// one is the spare, while something destroys them. Each request is sent again with the same id
// until it is answered.
type storm struct {
	*testing.T
	address string
	works   *served
	over    chan struct{} // closed when works has ended
	spare   *served

	requests, placed, takeovers int
	slowest                     time.Duration // of the answers
}

func newStorm(t *testing.T, address string) *storm {
	s := &storm{T: t, address: address, spare: start(t, address)}
	s.takeOver()
	s.done("black", "/new aga 19x19")
	return s
}

// takeOver waits until the spare works, and starts another.
func (s *storm) takeOver() {
	s.Helper()
	if s.works != nil {
		s.works.Wait()
		s.takeovers++
	}
	s.works, s.over = s.spare, make(chan struct{})
	s.works.ready(s)
	go func(out io.Reader, over chan struct{}) {
		io.Copy(io.Discard, out) // until the program ends
		close(over)
	}(s.works.out, s.over)
	s.spare = start(s, s.address)
}

// done asks until it is answered.
func (s *storm) done(seat, text string) {
	s.Helper()
	s.requests++
	for began := time.Now(); ; {
		if _, ok := s.works.ask(uuid(s.requests), seat, text); ok {
			s.slowest = max(s.slowest, time.Since(began))
			return
		}
		if time.Since(began) > 2*time.Minute {
			s.Fatalf("%s was not answered\n%s", text, s.works.stderr.String())
		}
		select {
		case <-s.over:
			s.takeOver()
		case <-time.After(20 * time.Millisecond): // the database is away, or it is about to end
		}
	}
}

// place places a stone.
func (s *storm) place() {
	s.Helper()
	s.done([]string{"black", "white"}[s.placed%2], fmt.Sprintf("/place %c%d", "ABCDEFGHJKLMNOPQRST"[s.placed%19], 1+s.placed%361/19))
	s.placed++
	if s.placed%361 == 0 {
		s.Fatal("the board is full")
	}
}

// end checks that nothing that was answered is lost, and that nothing was done twice.
func (s *storm) end() {
	s.Helper()
	s.Logf("%d requests, %d takeovers, the slowest answer after %v", s.requests, s.takeovers, s.slowest.Round(time.Millisecond))
	for _, p := range []*served{s.spare, s.works} {
		p.Process.Kill()
		p.Wait()
	}
	if status, says := halfpoint("check", "--database", s.address); status != 0 {
		s.Errorf("check: %d, %s", status, says)
	}
	st, err := store.Open(s.Context(), s.address)
	if err != nil {
		s.Fatal(err)
	}
	defer st.Close()
	games, err := st.Matches(s.Context(), bot.Query{})
	if err != nil {
		s.Fatal(err)
	}
	turns := 0
	for _, g := range games {
		_, events, err := st.Match(s.Context(), g.ID)
		if err != nil {
			s.Fatal(err)
		}
		for _, e := range events {
			if strings.HasPrefix(e.Body.String(), "turn ") {
				turns++
			}
		}
	}
	if len(games) != 1 || turns != s.placed {
		s.Errorf("%d games; %d turns were answered, %d are stored", len(games), s.placed, turns)
	}
}

// within returns a moment, up to a time, at random.
func within(rnd *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rnd.Int64N(int64(most)))
}

// The process that works is killed, again and again.
func TestStormOfKills(t *testing.T) {
	tier.Change(t)
	rnd := rand.New(rand.NewPCG(33, 1))
	for range tier.Pick(0, 1, 20) {
		s := newStorm(t, pgtest.Start(t).Database(t))
		for range tier.Pick(0, 3, 25) {
			victim := s.works
			kill := time.AfterFunc(within(rnd, 40*time.Millisecond), func() { victim.Process.Kill() })
			for range 8 {
				s.place()
			}
			if kill.Stop() {
				continue
			}
			if victim == s.works { // it came after the last answer
				<-s.over
				s.takeOver()
			}
		}
		s.end()
	}
}

// The database crashes, again and again.
func TestStormOfCrashes(t *testing.T) {
	tier.Change(t)
	rnd := rand.New(rand.NewPCG(33, 2))
	server := pgtest.New(t)
	for range tier.Pick(0, 1, 20) {
		s := newStorm(t, server.Database(t))
		for range tier.Pick(0, 2, 25) {
			back := make(chan struct{})
			time.AfterFunc(within(rnd, 100*time.Millisecond), func() {
				defer close(back)
				server.Crash(t)
				server.Revive(t)
			})
			for range 8 {
				s.place()
			}
			<-back
		}
		s.end()
	}
}
