package bot_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A mortal is the store of a process that dies at one of its writes: before it, or after it
// and before the process hears of it. Dead, it writes nothing more.
type mortal struct {
	bot.Store
	left  int  // writes until it dies; below 0: it lives on
	after bool // it dies after the write
	dead  bool
}

// write makes a write, unless the process is dead.
func (m *mortal) write(do func() error) error {
	if m.dead {
		return errDead
	}
	if m.left != 0 {
		m.left--
		return do()
	}
	if m.dead = true; m.after {
		if err := do(); err != nil {
			return err
		}
	}
	return errDead
}

func (m *mortal) Commit(ctx context.Context, s *match.Step) error {
	return m.write(func() error { return m.Store.Commit(ctx, s) })
}

func (m *mortal) CommitContest(ctx context.Context, s *contest.Step) error {
	return m.write(func() error { return m.Store.CommitContest(ctx, s) })
}

func (m *mortal) Settle(ctx context.Context, post string, r outbox.Receipt, line *outbox.Message, c outbox.Decorations, next *match.OutboxPost) error {
	return m.write(func() error { return m.Store.Settle(ctx, post, r, line, c, next) })
}

func (m *mortal) Park(ctx context.Context, where match.Room, game match.GameID, why string) (parked []string, first bool, err error) {
	err = m.write(func() (err error) {
		parked, first, err = m.Store.Park(ctx, where, game, why)
		return err
	})
	return parked, first, err
}

func (m *mortal) Silences(ctx context.Context) ([]contest.Silence, error) {
	if m.dead { // it may write
		return nil, errDead
	}
	return m.Store.Silences(ctx)
}

func (m *mortal) Change(ctx context.Context, o match.OutboxPost, is outbox.State, why string) error {
	return m.write(func() error { return m.Store.Change(ctx, o, is, why) })
}

// A script is an event as people play it: its sign-up, in which nobody dies, and what follows.
type script struct{ signUp, play func(*clinic) }

var scripts = map[string]script{
	"a league": {
		signUp: func(c *clinic) {
			c.says("mod", "/event new title:Spring size:5 until:1d days:10 seats:5")
			c.says("mod", "/event publish")
			for _, who := range []string{"ada", "bob", "eve", "kim", "zoe", "late"} {
				c.says(who, "/event join")
			}
		},
		play: func(c *clinic) {
			c.waits(day)
			c.resigns(1)
			c.says("mod", "/event result table:2 as:draw confirm:yes")
			c.says("mod", "/event replace player:ada other:late")
			c.says("mod", "/event extend until:2d")
			c.says("mod", "/event withdraw player:bob confirm:yes")
			c.says("mod", "/event result table:1 as:void confirm:yes")
			c.waits(13 * day)
		},
	},
	"a Swiss": {
		signUp: func(c *clinic) {
			c.says("mod", "/event new title:Swiss size:5 until:1d days:8 system:swiss rounds:2")
			c.says("mod", "/event publish")
			for _, who := range []string{"ada", "bob", "eve", "kim", "zoe"} {
				c.says(who, "/event join")
			}
		},
		play: func(c *clinic) {
			c.waits(day)
			c.resigns(1)
			c.resigns(2)
			c.says("ada", "/event sitout")
			c.says("mod", "/event start confirm:yes")
			c.waits(9 * day)
		},
	},
}

const day = 24 * time.Hour

// A lifetime says how many writes a process makes that does what a number of others have died of,
// and whether it dies after the last of them or before the next.
type lifetime func(tries int) (left int, after bool)

func immortal(int) (int, bool) { return -1, false }

// A clinic plays one script on one store, with a new process whenever one dies. It remembers
// what the platform shows: a post that is sent again is one message.
type clinic struct {
	*talk
	t      *testing.T
	mortal *mortal
	life   lifetime
	deaths int
	posts  map[string]outbox.Post
}

// plays plays a script with processes that live as long as life says.
func (s script) plays(t *testing.T, life lifetime) *clinic {
	c := &clinic{talk: newTalk(t), t: t, life: immortal, posts: map[string]outbox.Post{}}
	c.channel.platform = func(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
		if c.mortal.dead {
			return "", nil, errDead
		}
		c.posts[p.ID] = p
		return outbox.Receipt(p.ID), nil, nil
	}
	c.begin(0)
	s.signUp(c)
	c.life = life
	c.begin(0)
	s.play(c)
	c.waits(time.Minute) // the message of the event changes every few seconds at most
	return c
}

// begin starts a process to do what others have tried.
func (c *clinic) begin(tries int) {
	c.mortal = &mortal{Store: c.store}
	c.mortal.left, c.mortal.after = c.life(tries)
	c.bot = bot.New(c.mortal, bot.Config{Log: silent, Now: c.clock, Deliveries: 1, Rand: &c.ids})
}

// lives does something again and again, until the process outlives it.
func (c *clinic) lives(do func() error) {
	c.t.Helper()
	for try := range 1000 {
		err := do()
		if !c.mortal.dead {
			must(c.t, err)
			return
		}
		c.deaths++
		c.begin(try + 1)
	}
	c.t.Fatal("each process dies of the same")
}

// says lets somebody ask, as often as it takes.
func (c *clinic) says(who, line string) {
	c.t.Helper()
	c.now = c.now.Add(time.Minute)
	c.settles()
	r, err := c.request(who, line)
	must(c.t, err)
	c.lives(func() error {
		a, err := c.bot.Ask(c.t.Context(), r)
		if err == nil && a.Own().Refused {
			c.t.Errorf("%s> %s: refused: %s", who, line, a.Own().Text)
		}
		return err
	})
	c.settles()
}

// settles runs what is due, and shows what waits.
func (c *clinic) settles() {
	c.t.Helper()
	c.lives(func() error {
		c.alive(c.t)
		_, err := c.bot.Tick(c.t.Context())
		return err
	})
	c.lives(func() error { return c.bot.Flush(c.t.Context(), c.channel) })
}

// waits lets time pass.
func (c *clinic) waits(d time.Duration) {
	c.t.Helper()
	end := c.now.Add(d)
	for c.now.Before(end) {
		next, err := c.store.NextDue(c.t.Context())
		must(c.t, err)
		if c.now = end; !next.IsZero() && next.Before(end) {
			c.now = next
		}
		c.settles()
	}
}

// theEvent loads the event, which is the only one.
func (k *talk) theEvent(t testing.TB) *contest.Contest {
	t.Helper()
	heads, err := k.store.Contests(t.Context(), match.Room{}, nil, 2)
	must(t, err)
	h, log, err := k.store.Contest(t.Context(), heads[0].ID)
	must(t, err)
	e, err := contest.Fold(h, log)
	must(t, err)
	return e
}

// resigns lets Black resign at a table of the round.
func (c *clinic) resigns(table int) {
	c.t.Helper()
	tb := c.theEvent(c.t).Round().Tables[table-1]
	m, err := c.store.Header(c.t.Context(), tb.Game)
	must(c.t, err)
	who, err := c.store.People(c.t.Context(), []match.PersonID{m.Black})
	must(c.t, err)
	c.says(who[m.Black].ID, fmt.Sprintf("/resign game:%d confirm:yes", m.Number))
}

// outcome is all that people can tell afterwards, in lines. Nothing in it depends on who died
// when.
func (c *clinic) outcome() (lines []string) {
	c.t.Helper()
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	e := c.theEvent(c.t)
	add("event %s, %d players, organisers %d", e.State, len(e.Players), len(e.Organisers))
	for r, round := range e.Rounds {
		add("round %d, bye %d, absent %v, began %v, ends %v", r+1, round.Bye, round.Absent, round.Began, round.Ends)
		for n, t := range round.Tables {
			add("round %d, table %d: %s, %d against %d, open %t, %d results before", r+1, n+1, t.Game, t.Black, t.White, t.Open(), len(t.Past))
			if t.Result != nil {
				add("round %d, table %d: %d to %d, %q, %s", r+1, n+1, t.Result.Black, t.Result.White, t.Result.Game, t.Result.How)
			}
		}
	}
	ms, err := c.store.Matches(c.t.Context(), bot.Query{})
	must(c.t, err)
	for _, m := range ms {
		_, log, err := c.store.Match(c.t.Context(), m.ID)
		must(c.t, err)
		who, err := c.store.People(c.t.Context(), []match.PersonID{m.Black, m.White})
		must(c.t, err)
		var said []string
		for _, e := range log {
			said = append(said, strings.NewReplacer(string(m.Black), who[m.Black].ID, string(m.White), who[m.White].ID).Replace(e.Body.String()))
		}
		add("game %s: %s, %s, %v", m.ID, m.State, m.Result, said)
	}
	due, err := c.store.DueBy(c.t.Context(), c.now.AddDate(9, 0, 0), 100)
	must(c.t, err)
	add("due: %v", due)
	waiting, err := c.store.Waiting(c.t.Context())
	must(c.t, err)
	add("posts that wait: %v", waiting)
	last, firsts := 0, 0
	for _, id := range slices.Sorted(maps.Keys(c.posts)) {
		switch p := c.posts[id]; p.Kind {
		case match.Sheet:
			if last = max(last, p.Seq); p.Replaces == "" {
				firsts++
			}
		case match.Show:
			add("board of %s after %d events", p.Game, p.Seq)
		case match.Answer:
		default:
			add("%s: %s", p.Kind, p.Text)
		}
	}
	add("%d messages of the event, the last after line %d of %d", firsts, last, e.Seq)
	slices.Sort(lines)
	return lines
}

// However often the process dies, nothing is paired twice, no game is missing or doubled, and
// people are told everything once: what comes of an event is the same.
func TestEventKills(t *testing.T) {
	for name, s := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := s.plays(t, immortal).outcome()
			kills := 0
			compare := func(why string, life lifetime) {
				t.Helper()
				c := s.plays(t, life)
				if diff := cmp.Diff(want, c.outcome()); diff != "" {
					t.Errorf("%s: %s", why, diff)
				}
				if kills += c.deaths; c.deaths == 0 {
					t.Errorf("%s: nobody died", why)
				}
			}
			compare("each dies after a write", func(tries int) (int, bool) { return tries, true })
			compare("each dies before a write", func(tries int) (int, bool) { return tries, false })
			for seed := range uint64(tier.Pick(2, 10, 500)) {
				r := rand.New(rand.NewPCG(seed, 31))
				compare(fmt.Sprintf("seed %d", seed), func(tries int) (int, bool) { return tries + r.IntN(40), r.IntN(2) == 0 })
			}
			t.Logf("%d deaths", kills)
		})
	}
}

// A message of an event that is out of date when its turn comes does not hide which message the
// next one replaces.
func TestEventMessageInARace(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "mod> /event new title:Spring", "mod> /event publish")
	k.now = k.now.Add(time.Minute)
	k.ask(t, "ada", "/event join")
	other := k.on(k.store)
	r, err := k.request("bob", "/event join")
	must(t, err)
	_, err = other.Ask(t.Context(), r)
	must(t, err)
	posts := k.posts(t)
	k.now = k.now.Add(time.Minute)
	must(t, other.Flush(t.Context(), k.channel))
	if posts = append(posts, k.channel.posts...); len(posts) != 1 {
		t.Fatalf("%d posts are shown, want one", len(posts))
	}
	if p := posts[0]; p.Kind != match.Sheet || p.Replaces == "" || !strings.Contains(p.Text, "2 have joined") {
		t.Errorf("%s after line %d replaces message %q: %s", p.Kind, p.Seq, p.Replaces, p.Text)
	}
}
