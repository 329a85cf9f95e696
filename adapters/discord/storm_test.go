package discord

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A storm is what Discord does on a bad day, to every so-many-th request of any
// kind.
var storm = []discordtest.Fault{
	{Every: 7, Status: 429, RetryAfter: 100 * time.Millisecond},
	{Every: 9, Status: 429, RetryAfter: 100 * time.Millisecond, Scope: "shared"},
	{Every: 11, Status: 429, RetryAfter: 100 * time.Millisecond, Scope: "global"},
	{Every: 41, Status: 429, RetryAfter: time.Second, HTML: true},
	{Every: 8, Status: 502},
	{Every: 13, Status: 503, HTML: true},
	{Every: 10, Drop: discordtest.AfterDone},
	{Every: 17, Drop: discordtest.HalfWay},
	{Every: 12, Drop: discordtest.BeforeDone},
	{Every: 6, Delay: 30 * time.Millisecond},
}

// In a storm each turn is made once and each board is shown once, though many a
// press comes twice; and the bot asks for no more trouble than it is given.
// HALFPOINT_TIER=soak plays for many minutes.
func TestStorm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		games, turns := 3, 8
		if tier.Soaking() {
			games, turns = 4, 120
		}
		c := newClub(t, discordtest.Options{Patience: 15 * time.Minute})
		c.start()
		all := make([]*game, games)
		for k := range all {
			all[k] = c.opens(c.guild.Channel(fmt.Sprint("games-", k)), k)
		}
		for _, f := range storm {
			f.Times = -1
			c.d.Fault(f)
		}
		before, began := len(c.d.Requests("")), time.Now()
		most := c.mostGoroutines()
		var group sync.WaitGroup
		for _, g := range all {
			group.Go(func() {
				for turn := range turns {
					i := g.turn()
					if turn%3 == 0 {
						i.Again()
					}
					c.shows(g.thread, fmt.Sprintf("%d\\. ", turn+1))
					if turn%3 == 1 {
						i.Again()
					}
				}
			})
		}
		group.Wait()
		goroutines := most()
		if goroutines > 200 || goroutines < askWorkers {
			t.Errorf("%d goroutines", goroutines)
		}
		c.stop()
		windows := 1 + int(time.Since(began)/(10*time.Minute))
		for k, g := range all {
			ms := g.thread.Messages()
			for turn := range turns {
				move := says(fmt.Sprintf("%d\\. ", turn+1))
				if n := count(ms, func(m *discordtest.Message) bool { return withBoard(m) && move(m) }); n != 1 {
					t.Errorf("game %d: %d boards of move %d", k, n, turn+1)
				}
			}
			if n := count(ms, withBoard); n != turns+1 {
				t.Errorf("game %d: %d boards after %d turns", k, n, turns)
			}
		}
		requests, struck, invalid := c.d.Requests("")[before:], 0, 0
		for _, r := range requests {
			if r.Status == 429 || r.Status >= 500 || r.Status == 0 {
				struck++
			}
			if r.Status == 401 || r.Status == 403 || r.Status == 429 {
				invalid++
			}
		}
		t.Logf("%d turns: %d requests, %d struck, %d invalid; at most %d goroutines", games*turns, len(requests), struck, invalid, goroutines)
		if struck < len(requests)/5 {
			t.Errorf("%d of %d requests were struck: no storm", struck, len(requests))
		}
		if invalid > 500*windows {
			t.Errorf("%d invalid requests; 500 in ten minutes are few enough", invalid)
		}
		c.check()
	})
}

// Of messages whose sending ends in doubt each is there once, and in order.
// HALFPOINT_TIER=soak sends 100,000.
func TestAmbiguousSends(t *testing.T) {
	bubble(t, func(t *testing.T) {
		messages := tier.Pick(200, 200, 100_000)
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
		places := make(chan struct{}, tier.Pick(8, 8, 64))
		for k := range messages / each {
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
							backoff.Sleep(t.Context(), wait.Wait)
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
		t.Logf("%d messages by %d requests; %d deliveries ended in doubt", messages, sent, left)
		if sent < messages*6/5 {
			t.Errorf("%d requests: there was nothing to doubt", sent)
		}
		c.stop()
	})
}
