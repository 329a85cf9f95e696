package bot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A club plays many games by the clock for weeks, in which the bot is away for
// hours now and then. Everything follows from the seed.
type club struct {
	*rand.Rand
	*talk
	t     *testing.T
	away  []span
	posts map[string]outbox.Post // by id: a key once
	last  map[match.GameID]int   // the last event that was shown, by game
	heard map[string]time.Time
	log   strings.Builder // everything that was shown, for the same seed always the same
}

type span struct{ from, to time.Time }

func (c *club) deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if _, ok := c.posts[p.ID]; ok {
		c.t.Errorf("%s was shown twice", p.ID)
	}
	c.posts[p.ID] = p
	fmt.Fprintln(&c.log, c.now.Format(time.RFC3339), p.ID, p.Kind, p.Replaces, p.Private, len(p.Notify), p.Text)
	switch p.Kind {
	case match.Show:
		c.last[p.Game] = p.Seq
	case match.Status:
		m, err := c.store.Header(c.t.Context(), p.Game)
		if err != nil || m.Seq != p.Seq || m.ToMove == "" {
			c.t.Errorf("%s: reminded of a turn that has been made (%d, now %d), %v", p.Game, p.Seq, m.Seq, err)
		}
		if again, ok := c.heard[p.Notify[0].ID+string(p.Game)]; ok && c.now.Sub(again) < 20*time.Minute {
			c.t.Errorf("%s is pinged about %s after %v", p.Notify[0].Name, p.Game, c.now.Sub(again))
		}
		c.heard[p.Notify[0].ID+string(p.Game)] = c.now
	}
	return outbox.Receipt(p.ID), nil, nil
}

var controls = []string{"3d", "12h", "2d weekends", "fischer 2d+12h max 4d", "byoyomi 3d 3x1d", "canadian 2d 5/3d",
	"1d night 23-7 Europe/Paris", "1d vacation 5", "3d claim", "none", "absolute 20d", "2d weekends night 22-8 America/New_York"}

func (c *club) ask(who, text string) {
	fmt.Fprintln(&c.log, text, c.talk.ask(c.t, who, text).Text)
}

// tick lets the bot do what is due, unless it is away.
func (c *club) tick() {
	c.talk.tick(c.t)
	must(c.t, c.bot.Flush(c.t.Context(), platform(c.deliver)))
}

func weeks(t *testing.T, seed uint64) { clubOf(t, seed) }

func clubOf(t *testing.T, seed uint64) *club {
	st := newStore(t)
	defer st.Close() // there are many
	c := &club{Rand: rand.New(rand.NewPCG(seed, 3)), talk: newTalkOn(st), t: t,
		posts: map[string]outbox.Post{}, last: map[match.GameID]int{}, heard: map[string]time.Time{}}
	c.now = time.Date(2026, 10, 1+int(seed%28), int(seed%24), 0, 0, 0, time.UTC)
	ids := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	begin := func() { c.start(bot.Config{Rand: ids}) }
	begin()
	players := []string{"ada", "bob", "eve", "kim", "lee"}
	const games = 20
	type game struct{ black, white string }
	var all []game
	for i := range games {
		g := game{players[i%5], players[(i+1+i/5)%5]}
		all = append(all, g)
		handicap := ""
		if i%7 == 3 {
			handicap = " handicap:2 placement:free"
		}
		c.ask(g.black, "/new aga 4x4 opponent:"+g.white+handicap+" clock:"+controls[c.IntN(len(controls))])
		c.ask(g.white, fmt.Sprint("/join ", i+1))
	}
	c.ask("eve", "/remind channel quiet:22-7 zone:Europe/Paris")
	c.ask("kim", "/remind direct")
	c.ask("lee", "/remind none")
	end := c.now.AddDate(0, 0, 56)
	for c.now.Before(end) {
		c.tick()
		switch c.IntN(60) {
		case 0: // the machine is off for hours, or for more than a day
			from := c.now
			c.now = c.now.Add(time.Duration(1+c.IntN(40)) * time.Hour)
			c.away = append(c.away, span{from, c.now})
			begin()
			c.tick()
		case 1: // the platform cannot be reached, and the bot can do nothing about it
			from := c.now
			must(t, c.bot.Report(t.Context(), bot.Away{Platform: "chat"}))
			for range 1 + c.IntN(12) {
				c.now = c.now.Add(time.Duration(1+c.IntN(150)) * time.Minute)
				c.pulse()
			}
			if c.IntN(2) == 0 { // it is started again meanwhile
				begin()
			}
			c.away = append(c.away, span{from, c.now})
			must(t, c.bot.Report(t.Context(), bot.Back{Platform: "chat"}))
		default:
			// The bot looks often, people come now and then.
			for range 1 + c.IntN(4) {
				c.now = c.now.Add(time.Duration(1+c.IntN(150)) * time.Minute)
				c.pulse()
			}
		}
		i := c.IntN(games)
		who := all[i].black
		if c.IntN(2) == 0 {
			who = all[i].white
		}
		lines := []string{"/pass", "/accept", "/undo", "/decline", "/draw", "/pause", "/claim", "/resume", "/dispute", "/return", "/propose"}
		text := lines[c.IntN(len(lines))]
		if c.IntN(3) > 0 {
			text = fmt.Sprintf("/place %c%d", "ABCD"[c.IntN(4)], 1+c.IntN(4))
		}
		c.ask(who, text+fmt.Sprint(" game:", i+1))
	}
	for range 5 {
		c.now = c.now.Add(time.Minute)
		c.tick()
	}
	c.judge()
	return c
}

// Everything that a club is told follows from its seed.
func TestWeeksAgain(t *testing.T) {
	for seed := range tier.Pick[uint64](1, 3, 3) {
		first, second := clubOf(t, seed), clubOf(t, seed)
		if diff := cmp.Diff(first.log.String(), second.log.String()); diff != "" {
			t.Fatalf("seed %d: first, and then:\n%s", seed, diff)
		}
		if first.log.Len() < 50_000 {
			t.Errorf("seed %d: only %d bytes were said", seed, first.log.Len())
		}
	}
}

// pulse is the bot being there until now. It would have looked every few
// seconds; what matters is that it looks when something is due.
func (c *club) pulse() {
	to := c.now
	for {
		next, err := c.store.NextDue(c.t.Context())
		must(c.t, err)
		if next.IsZero() || next.After(to) {
			break
		}
		c.now = next
		c.alive(c.t)
		c.tick()
		if after, _ := c.store.NextDue(c.t.Context()); after.Equal(next) {
			c.t.Fatalf("what was due at %v still is", next)
		}
	}
	c.now = to
	c.alive(c.t)
}

// judge reads every game's log again with nothing but the clock: nobody lost
// early, nobody inside an outage, no fallen flag was missed, and what is shown
// as a deadline is one.
func (c *club) judge() {
	ms := c.matches(c.t, bot.Query{})
	flags := 0
	for _, m := range ms {
		_, events, err := c.store.Match(c.t.Context(), m.ID)
		must(c.t, err)
		fell := 0
		for i, e := range events {
			if !strings.HasPrefix(e.Body.String(), "flag ") {
				continue
			}
			fell++
			flags++
			if i != len(events)-1 {
				c.t.Errorf("game %d goes on after its flag: %s", m.Number, events[i+1].Body)
			}
			r, err := clocksAt(m, events[:i], e.At)
			if err != nil || r.Flagged.Letter() != strings.TrimPrefix(e.Body.String(), "flag ") {
				c.t.Errorf("game %d: %q at %v, but the deadline is %v, %v", m.Number, e.Body, e.At, r.Deadline, err)
			}
			for _, a := range c.away {
				if r.Deadline.After(a.from) && r.Deadline.Before(a.to) {
					c.t.Errorf("game %d: lost at %v, when the bot was away from %v to %v", m.Number, r.Deadline, a.from, a.to)
				}
			}
			late := e.At.Sub(r.Deadline)
			for _, a := range c.away { // it fell, and before the bot looked it was away
				if a.from.After(r.Deadline) && a.from.Before(e.At) {
					late -= a.to.Sub(a.from)
				}
			}
			if late > 10*time.Minute && !m.Clock.Claim {
				c.t.Errorf("game %d: the flag fell at %v and was seen %v later", m.Number, r.Deadline, late)
			}
		}
		if fell > 1 {
			c.t.Errorf("game %d: %d flags", m.Number, fell)
		}
		if m.State == match.Going {
			r, err := clocksAt(m, events, c.now)
			must(c.t, err)
			if !r.Paused && !r.Deadline.Equal(m.Deadline) {
				c.t.Errorf("game %d: the deadline is %v, and %v is shown", m.Number, r.Deadline, m.Deadline)
			}
			if r.Flagged != 0 && !m.Clock.Claim && c.now.Sub(r.Deadline) > 5*time.Minute {
				c.t.Errorf("game %d: a flag that fell at %v was missed", m.Number, r.Deadline)
			}
		}
		if m.Seq > 2 && c.last[m.ID] == 0 {
			c.t.Errorf("game %d was never shown", m.Number)
		}
	}
	c.t.Logf("%d games, %d flags, %d times away, %d posts", len(ms), flags, len(c.away), len(c.posts))
}

func TestWeeks(t *testing.T) { everySeed(t, 2, tier.Pick(4, 60, 2000), weeks) }

// clocksAt reads the clocks of a match after its events.
func clocksAt(m match.Match, events []match.Event, now time.Time) (clock.Reading, error) {
	p, err := match.Fold(m, events)
	if err != nil {
		return clock.Reading{}, err
	}
	return p.Reading(now), nil
}
