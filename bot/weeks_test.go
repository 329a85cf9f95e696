package bot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A club plays many games by the clock for weeks, in which the bot is away for
// hours now and then. Everything follows from the seed.
type club struct {
	*rand.Rand
	t     *testing.T
	store bot.Store
	bot   *bot.Bot
	now   time.Time
	n     int
	away  []span
	posts map[string]outbox.Post // by id: a key once
	last  map[match.GameID]int   // the last event that was shown, by game
	heard map[string]time.Time
	log   strings.Builder // everything that was shown, for the same seed always the same
}

type span struct{ from, to time.Time }

func (c *club) Name() string                           { return "chat" }
func (c *club) Run(context.Context, bot.Service) error { return nil }

func (c *club) Deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if _, ok := c.posts[p.ID]; ok {
		c.t.Errorf("%s was shown twice", p.ID)
	}
	c.posts[p.ID] = p
	fmt.Fprintln(&c.log, c.now.Format(time.RFC3339), p.ID, p.Kind, p.Replaces, p.Private, len(p.Notify), p.Text)
	switch p.Kind {
	case match.Show:
		c.last[p.Game] = p.Seq
	case match.Status:
		m, _, err := c.store.Match(c.t.Context(), p.Game)
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
	command, args, err := bot.Parse(bot.Commands(), text)
	if err != nil {
		c.t.Fatal(err)
	}
	c.n++
	r := bot.Request{ID: fmt.Sprint("chat:", c.n), Who: person(who), Where: match.Room{Platform: "chat", Channel: "club"}, Command: command, Args: args}
	if o := args["opponent"]; o != "" {
		r.Users = map[string]outbox.User{"opponent": person(o)}
	}
	a, err := c.bot.Ask(c.t.Context(), r)
	if err != nil {
		c.t.Fatal(err)
	}
	fmt.Fprintln(&c.log, r.ID, text, a.Text)
}

// tick lets the bot do what is due, unless it is away.
func (c *club) tick() {
	if _, err := c.bot.Tick(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	if err := c.bot.Flush(c.t.Context(), c); err != nil {
		c.t.Fatal(err)
	}
}

func weeks(t *testing.T, seed uint64) { clubOf(t, seed) }

func clubOf(t *testing.T, seed uint64) *club {
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	c := &club{Rand: rand.New(rand.NewPCG(seed, 3)), t: t, store: st, now: time.Date(2026, 10, 1+int(seed%28), int(seed%24), 0, 0, 0, time.UTC),
		posts: map[string]outbox.Post{}, last: map[match.GameID]int{}, heard: map[string]time.Time{}}
	ids := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	begin := func() {
		c.bot = bot.New(st, bot.Config{Deliveries: 1, Log: silent, Now: func() time.Time { return c.now }, Rand: ids})
	}
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
			if err := c.bot.Away(t.Context(), "chat"); err != nil {
				t.Fatal(err)
			}
			for range 1 + c.IntN(12) {
				c.now = c.now.Add(time.Duration(1+c.IntN(150)) * time.Minute)
				c.pulse()
			}
			if c.IntN(2) == 0 { // it is started again meanwhile
				begin()
			}
			c.away = append(c.away, span{from, c.now})
			if err := c.bot.Back(t.Context(), "chat"); err != nil {
				t.Fatal(err)
			}
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
		if a, b := first.log.String(), second.log.String(); a != b {
			as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
			for i := range as {
				if i >= len(bs) || as[i] != bs[i] {
					t.Fatalf("seed %d: line %d is\n%s\nand then\n%s", seed, i+1, as[i], bs[min(i, len(bs)-1)])
				}
			}
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
	alive := func() {
		if err := c.store.SetBookmark(c.t.Context(), "bot:alive", fmt.Sprint(c.now.UnixMilli())); err != nil {
			c.t.Fatal(err)
		}
	}
	for {
		next, err := c.store.NextDue(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		if next.IsZero() || next.After(to) {
			break
		}
		c.now = next
		alive()
		c.tick()
		if after, _ := c.store.NextDue(c.t.Context()); after.Equal(next) {
			c.t.Fatalf("what was due at %v still is", next)
		}
	}
	c.now = to
	alive()
}

// judge reads every game's log again with nothing but the clock: nobody lost
// early, nobody inside an outage, no fallen flag was missed, and what is shown
// as a deadline is one.
func (c *club) judge() {
	ms, err := c.store.Matches(c.t.Context(), bot.Query{Limit: 100})
	if err != nil {
		c.t.Fatal(err)
	}
	flags := 0
	for _, m := range ms {
		_, events, err := c.store.Match(c.t.Context(), m.ID)
		if err != nil {
			c.t.Fatal(err)
		}
		fell := 0
		for i, e := range events {
			if !strings.HasPrefix(e.Body, "flag ") {
				continue
			}
			fell++
			flags++
			if i != len(events)-1 {
				c.t.Errorf("game %d goes on after its flag: %s", m.Number, events[i+1].Body)
			}
			r, err := clocksAt(m, events[:i], e.At)
			if err != nil || r.Flagged.Letter() != strings.TrimPrefix(e.Body, "flag ") {
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
			if err != nil {
				c.t.Fatal(err)
			}
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

func TestWeeks(t *testing.T) { everySeed(t, 2, tier.Pick(4, 200, 2000), weeks) }

// A bot that was asleep, and is spoken to before it has looked at the time,
// does not take the time it slept for the player's.
func TestSleepCostsNoGame(t *testing.T) {
	k := newTalk(t)
	for _, l := range []string{"ada> /new aga 5x5 clock:12h", "bob> /join", "ada> /place C3"} {
		who, text, _ := strings.Cut(l, "> ")
		k.say(t, who, text)
	}
	k.now = k.now.Add(30 * time.Hour)
	r, err := k.request("bob", "/place B2")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := k.bot.Ask(t.Context(), r); err != nil || a.Text != "" {
		t.Errorf("%q, %v", a.Text, err)
	}
}

// A platform that cannot be reached costs nobody a game, however often the bot
// looks meanwhile, and costs those of other platforms nothing either.
func TestPlatformAway(t *testing.T) {
	for _, told := range []string{"by the adapter", "by the adapter, though somebody is heard", "by the adapter after a restart"} {
		t.Run(told, func(t *testing.T) {
			k := newTalk(t)
			for _, l := range []string{"ada> /new aga 5x5 clock:12h", "bob> /join", "ada> /place C3"} {
				who, text, _ := strings.Cut(l, "> ")
				k.say(t, who, text)
			}
			far := match.Room{Platform: "mail", Channel: "far"}
			say := func(who, text string) {
				t.Helper()
				r, err := k.request(who, text)
				if err != nil {
					t.Fatal(err)
				}
				r.Where = far
				if _, err := k.bot.Ask(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			say("kim", "/new aga 5x5 clock:12h")
			say("lee", "/join")
			if err := k.bot.Away(t.Context(), "chat"); err != nil {
				t.Fatal(err)
			}
			k.wait(t, 20*time.Hour)
			if err := k.bot.Away(t.Context(), "chat"); err != nil { // said again
				t.Fatal(err)
			}
			if told == "by the adapter, though somebody is heard" {
				k.say(t, "eve", "/games")
				k.wait(t, 20*time.Hour)
				// Nor does it fall because somebody says so, or moves.
				k.say(t, "ada", "/claim")
				k.say(t, "bob", "/place D4")
				k.wait(t, 20*time.Hour)
				k.say(t, "ada", "/place E5")
				if ms, err := k.store.Matches(t.Context(), bot.Query{Where: match.Room{Platform: "chat", Channel: "club"}}); err != nil || len(ms) != 1 || ms[0].State != match.Going || ms[0].ToMove != ms[0].White {
					t.Errorf("turns made meanwhile: %v, %v", ms, err)
				}
				k.wait(t, 10*time.Hour)
			}
			if strings.HasSuffix(told, "restart") {
				k.bot = bot.New(k.store, bot.Config{Now: func() time.Time { return k.now }})
			}
			if err := k.bot.Back(t.Context(), "chat"); err != nil {
				t.Fatal(err)
			}
			k.say(t, "bob", "/place B2")
			if n, _ := k.credits(t, nil); told != "by the adapter, though somebody is heard" && n[k.matches(t, bot.Query{Number: 1, Where: match.Room{Platform: "chat", Channel: "club"}})[0].ID] != 1 {
				t.Errorf("credits: %v", n)
			}
			k.wait(t, 11*time.Hour)
			for where, want := range map[match.Room]match.State{{Platform: "chat", Channel: "club"}: match.Going, far: match.Ended} {
				ms, err := k.store.Matches(t.Context(), bot.Query{Where: where})
				if err != nil || len(ms) != 1 || ms[0].State != want {
					t.Errorf("%v: %v, %v", where, ms, err)
				}
			}
			k.wait(t, 2*time.Hour)
			if ms, err := k.store.Matches(t.Context(), bot.Query{States: []match.State{match.Going}}); err != nil || len(ms) != 0 {
				t.Errorf("the flag does not fall afterwards: %v, %v", ms, err)
			}
		})
	}
}

// clocksAt reads the clocks of a match after its events.
func clocksAt(m match.Match, events []match.Event, now time.Time) (clock.Reading, error) {
	p, err := match.Fold(m, events)
	if err != nil {
		return clock.Reading{}, err
	}
	return p.Reading(now), nil
}
