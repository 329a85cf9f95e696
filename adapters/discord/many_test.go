package discord

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Loops that find out with large numbers what is true of one: HALFPOINT_TIER=soak
// makes the numbers those that the comments name.

// many is how often something is done: n times, or so often in the long run.
func many(n, inTheLongRun int) int {
	if tier.Soaking() {
		return inTheLongRun
	}
	return n
}

// Of messages whose sending ends in doubt each is there once, and in order.
// HALFPOINT_TIER=soak sends 100,000.
func TestAmbiguousSends(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const each = 20 // in a channel
		c := newClub(t, discordtest.Options{Keep: 1000})
		c.start()
		for _, f := range []discordtest.Fault{
			{Every: 11, Drop: discordtest.AfterDone}, {Every: 13, Drop: discordtest.HalfWay}, {Every: 17, Drop: discordtest.BeforeDone},
			{Every: 19, Status: 502}, {Every: 23, Status: 500}, {Skip: 40, Every: 29, Drop: discordtest.AfterDone},
		} {
			f.Route, f.Times = sendRoute, -1
			c.d.Fault(f)
		}
		struck := make(chan int, 1)
		struck <- 0
		var group sync.WaitGroup
		places := make(chan struct{}, many(8, 64))
		for k := range many(200, 100_000) / each {
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				room := c.guild.Channel(fmt.Sprint("room-", k))
				var want []string
				for n := range each {
					post := outbox.Post{ID: fmt.Sprintf("p%d-%d", k, n), Where: c.where(room), Kind: match.Notice, Game: "g", Text: fmt.Sprintf("notice %d", n)}
					want = append(want, post.Text)
					for post.Attempt = 1; ; post.Attempt++ {
						_, err := c.deliver(post)
						if err == nil {
							break
						}
						struck <- 1 + <-struck
						var wait outbox.RetryAfter
						if errors.As(err, &wait) {
							pause(t.Context(), wait.Wait)
							continue
						}
						if !errors.Is(err, outbox.ErrAmbiguous) || post.Attempt == 20 {
							t.Errorf("attempt %d: %v", post.Attempt, err)
							return
						}
					}
				}
				var got []string
				for _, m := range room.Messages() {
					got = append(got, m.Content)
				}
				if strings.Join(got, "|") != strings.Join(want, "|") {
					t.Errorf("room %d has %q", k, got)
				}
			})
			if k%50 == 49 {
				group.Wait()
				c.d.Forget()
			}
		}
		group.Wait()
		sent, left := c.d.Count(sendRoute), <-struck
		t.Logf("%d messages by %d requests; %d deliveries ended in doubt", many(200, 100_000), sent, left)
		if sent < many(200, 100_000)*6/5 {
			t.Errorf("%d requests: there was nothing to doubt", sent)
		}
		c.stop()
	})
}
