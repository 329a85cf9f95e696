package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// folded folds the bodies of a log.
func folded(t *testing.T, m match.Match, bodies ...string) *match.Position {
	t.Helper()
	var events []match.Event
	for i, body := range bodies {
		events = append(events, match.Event{Seq: i + 1, At: time.Unix(int64(60*i), 0), By: "ada", Body: match.ParseBody(body)})
	}
	p, err := match.Fold(m, events)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func turnsOf(p *match.Position) string {
	var turns []string
	for _, t := range p.Game.Log() {
		turns = append(turns, t.String())
	}
	return strings.Join(turns, ", ")
}

// after returns a position of so many events.
func after(t *testing.T, events int) *match.Position {
	return folded(t, match.Match{Rules: "aga@1", Setup: rules.Setup{W: 5, H: 5}}, slices.Repeat([]string{"open"}, events)...)
}

func TestCacheKeepsTheLastPositions(t *testing.T) {
	c := newCache()
	for _, n := range []int{4, 2, 3, 9, 3, 5} { // not all come in their order
		c.keep("g", after(t, n), c.now())
	}
	for _, test := range []struct{ seq, want, events int }{{10, 9, 0}, {9, 9, 0}, {8, 5, 8}, {5, 5, 5}, {4, 4, 4}, {3, 0, 3}, {0, 0, 0}} {
		p, events, _ := c.get("g", test.seq)
		got := 0
		if p != nil {
			got = p.Seq()
		}
		if got != test.want || len(events) != test.events {
			t.Errorf("up to event %d: the position after %d, and %d events; want %d and %d", test.seq, got, len(events), test.want, test.events)
		}
	}
	if p, _, _ := c.get("other", 9); p != nil {
		t.Error("another game is there")
	}
}

// Data read before the cache was cleared does not come back.
func TestCacheForgets(t *testing.T) {
	c := newCache()
	epoch := c.now()
	c.keep("g", after(t, 2), epoch)
	c.clear()
	c.keep("g", after(t, 3), epoch)
	if p, events, _ := c.get("g", 3); p != nil || events != nil {
		t.Error("the game is back")
	}
	c.keep("g", after(t, 4), c.now())
	c.keep("h", after(t, 4), c.now())
	c.drop("g")
	if p, _, _ := c.get("g", 4); p != nil {
		t.Error("a game that was dropped is there")
	}
	if p, _, _ := c.get("h", 4); p == nil {
		t.Error("another game was dropped with it")
	}
}

// The games that were not used for longest go first, as many as must, and what is
// kept is never too heavy.
func TestCacheIsBounded(t *testing.T) {
	c := newCache()
	c.most = 10 * (100 + positionWeight)
	games := func() string {
		var out []string
		for e := c.used.Front(); e != nil; e = e.Next() {
			out = append(out, string(e.Value.(*cachedGame).id))
		}
		if len(out) != len(c.games) {
			t.Errorf("%d games are listed, and %d found", len(out), len(c.games))
		}
		return strings.Join(out, " ")
	}
	for i := range 11 {
		c.keep(match.GameID(fmt.Sprint(i)), after(t, 100), c.now())
	}
	if got := games(); got != "10 9 8 7 6 5 4 3 2 1" || c.weight != c.most {
		t.Errorf("%s, weight %d of %d", got, c.weight, c.most)
	}
	c.get("1", 100)
	c.get("2", 7)
	c.keep("long", after(t, 700), c.now())
	if got := games(); got != "long 2 1 10 9" {
		t.Error(got)
	}
	p := after(t, 100)
	c.keep("1", p, c.now()) // the same once more
	c.drop("2")
	c.keep("1", after(t, 101), c.now())
	for i := range 5 {
		c.scene("1", p, sceneKey{lang: fmt.Sprint(i)}, func() render.Scene { return render.Scene{} })
	}
	weight := 0
	for _, e := range c.games {
		weight += e.Value.(*cachedGame).weight()
	}
	if c.weight != weight || weight > c.most {
		t.Errorf("weight %d of %d, and it is %d", c.weight, c.most, weight)
	}
	c.keep("huge", after(t, 1300), c.now())
	if got := games(); got != "huge" {
		t.Error(got) // it is in use
	}
}

// A scene is made once for each language, names and look, as long as its position
// is kept, and not kept for a position that is not.
func TestScenesAreMadeOnce(t *testing.T) {
	c := newCache()
	made := 0
	scene := func(p *match.Position, key sceneKey) {
		c.scene("g", p, key, func() render.Scene { made++; return render.Scene{Move: made} })
	}
	was := func(want int, what string) {
		t.Helper()
		if made != want {
			t.Errorf("%s: %d scenes were made, want %d", what, made, want)
		}
		made = 0
	}
	p, q := after(t, 2), after(t, 2)
	scene(p, sceneKey{})
	scene(p, sceneKey{})
	was(2, "of a game that is not kept")
	c.keep("g", p, c.now())
	for range 3 {
		scene(p, sceneKey{})
		scene(p, sceneKey{lang: "de"})
		scene(p, sceneKey{look: render.Options{Theme: "ink"}})
	}
	was(3, "three kinds")
	scene(q, sceneKey{})
	scene(q, sceneKey{})
	was(2, "of another position")
	scene(p, sceneKey{})
	was(0, "once more")
}

// A logStore holds the log of one match.
type logStore struct {
	Store
	events []match.Event
}

func (l logStore) Events(_ context.Context, _ match.GameID, after, to int) ([]match.Event, error) {
	return l.events[after:to], nil
}

// A position to which the log does not lead is found out by the next event, and
// the whole log read again.
func TestWrongPositionHeals(t *testing.T) {
	m := match.Match{ID: "g", Rules: "aga@1", Setup: rules.Setup{W: 5, H: 5}, Standing: match.Standing{Seq: 3}}
	right := []string{"begin", "turn B place A1", "turn W place B1"}
	var events []match.Event
	for i := range right {
		p := folded(t, m, right[:i+1]...)
		events = append(events, p.Events[i])
		events[i].Proof = p.Game.Proof()
	}
	b := New(logStore{events: events}, Config{})
	b.cache.keep("g", folded(t, m, "begin", "turn B place C3"), b.cache.now())
	if _, err := b.position(t.Context(), m, 3); !errors.Is(err, ErrDamaged) {
		t.Fatalf("the wrong position goes on: %v", err)
	}
	p, err := b.position(t.Context(), m, 3)
	if err != nil || turnsOf(p) != "B place A1, W place B1" {
		t.Errorf("%v, %v", p, err)
	}
}

// A post that has waited is shown as things are then.
func TestRecentIsRecent(t *testing.T) {
	now := time.Unix(1000, 0)
	b := New(nil, Config{Now: func() time.Time { return now }})
	o := outbox.Pending{OutboxPost: match.OutboxPost{Game: "g", Seq: 3}, Left: &situation{match: match.Match{ID: "g", Standing: match.Standing{Seq: 3}}, at: now}}
	if b.recent(o) == nil {
		t.Error("a turn that was just made is not recent")
	}
	if o.Seq = 2; b.recent(o) != nil {
		t.Error("another turn is")
	}
	if o.Seq, now = 3, now.Add(fresh); b.recent(o) != nil {
		t.Error("it is after a while")
	}
	if o.Left = nil; b.recent(o) != nil {
		t.Error("what another process has stored is")
	}
}
