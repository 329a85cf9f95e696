package discord

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// shardOf is Discord's formula.
func shardOf(t *testing.T, g *discordtest.Guild, of uint64) int {
	id, err := strconv.ParseUint(g.ID(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int((id >> 22) % of)
}

// As many servers as one connection may have cost little, though people type in
// each of them.
func TestManyServers(t *testing.T) {
	servers := tier.Pick(250, 2500, 2500)
	started := func(servers int) (heap int64) {
		inBubble(t, func(t *testing.T) {
			c := newClub(t, discordtest.Options{Keep: 10})
			type seat struct {
				room *discordtest.Channel
				who  *discordtest.Person
			}
			seats := []seat{{c.room, c.alice}}
			for n := 1; n < servers; n++ {
				g := c.d.Guild(fmt.Sprint("club ", n))
				seats = append(seats, seat{g.Channel("games"), g.Member("Alice")})
			}
			before := c.heap()
			c.start()
			for _, s := range seats {
				if _, err := s.who.Autocomplete(s.room, "go study rules", opt("name", "b")); err != nil {
					t.Fatal(err)
				}
			}
			c.settle()
			heap = c.heap() - before
			runtime.KeepAlive(seats)
			c.stop()
		})
		return heap
	}
	started(1)
	one, many := started(1), started(servers)
	t.Logf("%d servers: %+d KiB of heap; one: %+d KiB", servers, many>>10, one>>10)
	if many-one > 5<<20 {
		t.Errorf("%d servers cost %d bytes, one %d", servers, many, one)
	}
}
