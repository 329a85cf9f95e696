//go:build goolm && unix

package matrix

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Two programs on one PostgreSQL have the account in turn, while two people play in an encrypted
// room: the programs are killed and started again, stopped for longer than a lease, and ended as
// their owner does. Each turn is done once, and each board is shown once; everybody can read it.
// HALFPOINT_TIER=soak does so 300 times.
func TestProcessesTakeTurns(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	strikes, moves := 12, 24
	if tier.Soaking() {
		strikes, moves = 300, 160
	}
	c := newClub(t, matrixtest.Shared(t))
	c.file = pgtest.Start(t).Database(t)
	starts := func() *adaptertest.Served { return c.serve("HALFPOINT_LEASE=2") }
	programs := []*adaptertest.Served{starts(), starts()}
	said := ""
	ended := func(k int) {
		<-programs[k].Ended
		said += programs[k].Stderr.String()
	}
	t.Cleanup(func() {
		if t.Failed() {
			for k := range programs {
				programs[k].Kill()
				ended(k)
			}
			t.Logf("the programs say:\n%s", said)
		}
	})
	r := c.pair(true)
	var struck atomic.Int64
	var players sync.WaitGroup
	rnd := rand.New(rand.NewPCG(1, 2))
	players.Go(func() {
		for k := range moves {
			r.turns = append(r.turns, fmt.Sprintf("turn %c place %s", "BW"[k%2], sparse(k)))
			r.people[k%2].says(r.root, "!place "+sparse(k))
			time.Sleep(50 * time.Millisecond)
			for int(struck.Load()) < strikes*k/moves && !t.Failed() {
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
	for n := range strikes {
		time.Sleep(time.Duration(rnd.IntN(2000)) * time.Millisecond)
		k := rnd.IntN(2)
		switch p := programs[k].Process; n % 3 {
		case 0:
			p.Kill()
			ended(k)
			programs[k] = starts()
		case 1:
			p.Signal(syscall.SIGSTOP)
			time.Sleep(4 * time.Second)
			p.Signal(syscall.SIGCONT)
		case 2:
			p.Signal(syscall.SIGTERM)
			ended(k)
			if code := programs[k].ProcessState.ExitCode(); code != 0 {
				t.Errorf("ended with %d", code)
			}
			programs[k] = starts()
		}
		struck.Add(1)
	}
	players.Wait()
	r.people[0].sees(fmt.Sprintf("%d. ", moves))
	r.people[1].says(r.root, "!score") // posts that wait are sent before the answer
	r.people[0].sees("If the game ended now")
	for k := range programs {
		programs[k].Process.Signal(syscall.SIGTERM)
		ended(k)
	}
	var got []string
	for _, e := range c.events()[r.at] {
		if strings.HasPrefix(e.Body.String(), "turn ") {
			got = append(got, e.Body.String())
		}
	}
	if !slices.Equal(got, r.turns) {
		t.Errorf("the log is %d turns\n%q, want %d\n%q", len(got), got, len(r.turns), r.turns)
	}
	caughtUp(r.people[0].Player, r.at)
	marks, last := map[string]bool{}, 0
	for _, m := range r.people[0].heard() {
		mark, _ := m[marker].(string)
		if mark == "" || marks[mark] {
			t.Errorf("without a mark, or twice: %v", m["body"])
		}
		marks[mark] = true
		if m["m.new_content"] != nil || m["msgtype"] != "m.image" {
			continue
		}
		r.people[1].looks(m)
		move := moveOf(fmt.Sprint(m["body"]))
		if move < last || move == last && move > 0 {
			t.Errorf("move %d is shown after move %d", move, last)
		}
		last = move
	}
	if last != moves {
		t.Errorf("the last board is that of move %d", last)
	}
	if n := strings.Count(said, "logged in as a new device"); n != 1 {
		t.Errorf("%d devices were made", n)
	}
	t.Logf("%d turns, %d messages, the account was taken %d times", len(got), len(marks), strings.Count(said, "took a unit\" unit=matrix"))
}
