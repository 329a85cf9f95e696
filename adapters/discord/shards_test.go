package discord

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Two processes share four shards: a game in each shard's server is played to the
// end by the process that has the shard, and the other hears nothing of it.
func TestShards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const shards, each = 4, 2
		first := newClub(t, discordtest.Options{Shards: shards, Concurrency: shards})
		second := &club{T: t, d: first.d, cfg: first.cfg, network: first.network, settling: first.settling}
		st, err := store.Open(t.Context(), store.Memory)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		second.store = st
		for k, c := range []*club{first, second} {
			c.cfg.Shards, c.cfg.First, c.cfg.Count = shards, k*each, each
			c.start()
		}
		if !first.d.WaitSessions(shards) {
			t.Fatal("not all shards are connected")
		}
		want := [2]int{}
		for n, at := 0, map[int]bool{}; len(at) < shards; n++ {
			guild := first.d.Guild(fmt.Sprint("club ", n))
			shard := shardOf(t, guild, shards)
			if at[shard] {
				continue
			}
			at[shard] = true
			c := []*club{first, second}[shard/each]
			c.guild, c.room = guild, guild.Channel("games")
			c.alice, c.bob = guild.Member(fmt.Sprint("Black ", shard)), guild.Member(fmt.Sprint("White ", shard))
			thread := c.begin(t)
			c.place(c.alice, thread, "C3")
			c.place(c.bob, thread, "C4")
			c.ok(c.alice.Slash(thread, "go resign"))
			if n := count(thread.Messages(), withPicture); n < 3 {
				t.Errorf("shard %d: %d boards\n%s", shard, n, c.d.Transcript())
			}
			want[shard/each] += 5
		}
		for k, c := range []*club{first, second} {
			c.stop()
			heard := 0
			for who, n := range c.recorder.heard() {
				heard += n
				if n, _ := strconv.Atoi(who[len(who)-1:]); n/each != k {
					t.Errorf("process %d hears %s", k, who)
				}
			}
			if heard < want[k] {
				t.Errorf("process %d was asked %d times, not %d", k, heard, want[k])
			}
		}
		first.check()
	})
}

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
