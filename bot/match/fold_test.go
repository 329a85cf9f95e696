package match

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// samePosition compares everything that positions hold, but for the memory they
// share.
var samePosition = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.FilterPath(func(p cmp.Path) bool { return p.String() != "events" }, cmpopts.EquateEmpty()),
	cmp.Comparer(sameGame),
	cmp.Comparer(func(a, b *time.Location) bool { return a == b }),
	cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "events" }, cmp.Comparer(slices.Equal[[]Event])),
	cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && f.Name() == "backing"
	}, cmp.Ignore()),
}

// sameGame compares what games show. That Play and Replay make the same game in
// all else is a law of package rules.
func sameGame(a, b *rules.Game) bool {
	if a == nil || b == nil {
		return a == b
	}
	agreed := func(g *rules.Game) [2]bool { return [2]bool{g.HasAgreed(rules.Black), g.HasAgreed(rules.White)} }
	return a.Rules() == b.Rules() && a.Proof() == b.Proof() && a.Phase() == b.Phase() && a.ToPlay() == b.ToPlay() &&
		a.Result() == b.Result() && reflect.DeepEqual(a.Decided(), b.Decided()) && agreed(a) == agreed(b) &&
		cmp.Equal(a.Log(), b.Log(), cmpopts.EquateEmpty()) && slices.Equal(a.Entries(), b.Entries()) &&
		slices.Equal(a.Dead(), b.Dead()) && slices.Equal(a.Seki(), b.Seki()) && slices.Equal(a.Taken(), b.Taken()) &&
		reflect.DeepEqual(a.Setup(), b.Setup()) && sameGame(a.Before(), b.Before())
}

// A scribe writes random logs with all verbs.
type scribe struct {
	*rand.Rand
	match Match
	now   time.Time
}

func newScribe(seed uint64) *scribe {
	s := &scribe{Rand: rand.New(rand.NewPCG(seed, 5)), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	r := rules.Catalogue[s.IntN(len(rules.Catalogue))]
	s.match = Match{Rules: r.Stored(), Setup: rules.Setup{W: 2 + s.IntN(3), H: 2 + s.IntN(3), Komi: 12}}
	if s.IntN(3) == 0 {
		s.match.Setup.Handicap = 2 // placed freely
	}
	if s.IntN(4) > 0 {
		s.match.Clock = s.control()
	}
	return s
}

// control returns a time control of any kind. In some of its zones clocks change in
// the month that the game begins in.
func (s *scribe) control() clock.Control {
	some := func() string { return strconv.Itoa(1+s.IntN(2*24*60)) + "m " }
	typed := [...]string{
		some(), "absolute " + some(), "fischer " + some() + "+" + some() + "max 4d ",
		"byoyomi " + some() + "3x" + some(), "canadian 0d 2/" + some(),
	}[s.IntN(5)]
	for _, options := range [][]string{
		{"", "weekends "}, {"", "night 23-7 ", "night 0:05-15:50 "}, {"", "vacation 1 ", "vacation 3 "}, {"", "", "claim "},
		{"", "America/New_York", "Europe/Paris", "Asia/Beirut", "Asia/Kathmandu"},
	} {
		typed += options[s.IntN(len(options))]
	}
	return control(typed)
}

// control returns the time control that somebody types.
func control(typed string) clock.Control {
	c, err := clock.Parse(typed)
	if err != nil {
		panic(err)
	}
	return c
}

// body writes what may come next, possible or not. There is no verb that it does
// not know.
func (s *scribe) body(p *Position) string {
	point := func() string {
		return rules.Point{X: int8(s.IntN(s.match.Setup.W)), Y: int8(s.IntN(s.match.Setup.H))}.String()
	}
	player := []string{"B", "W"}[s.IntN(2)]
	toPlay, last, playing := "B", 0, true
	if p != nil {
		toPlay, last, playing = p.Game.ToPlay().Letter(), p.Seq(), p.Game.Phase() == rules.Playing
	}
	if p != nil && p.Placing > 0 && s.IntN(2) == 0 {
		return "stone " + point()
	}
	if p != nil && s.IntN(5) == 0 {
		switch {
		case p.Branch > 0:
			return []string{"return", leave.String()}[s.IntN(2)]
		case p.Game.Phase() == rules.Settling:
			return "branch " + player
		}
	}
	if n := s.IntN(10); n < 6 {
		switch {
		case !playing:
			kind := []string{"dead", "seki", "alive", "agree", "agree", "resume", "no-result"}[s.IntN(7)]
			if strings.Contains("dead seki alive", kind) {
				kind += " " + point()
			}
			if verb := "suggest "; s.IntN(4) == 0 {
				return verb + player + " " + kind
			}
			return "turn " + player + " " + kind
		case n < 3:
			return "turn " + toPlay + " place " + point()
		}
		return "turn " + toPlay + " " + []string{"pass", "pass", "pass", "accept", "button", "delay", "draw", "resign", "pass " + point()}[s.IntN(9)]
	}
	if last == 0 {
		return "begin"
	}
	back := max(0, last-s.IntN(6))
	if s.IntN(4) == 0 {
		back = s.IntN(last + 2)
	}
	from := s.now.Add(-time.Duration(s.Int64N(int64(3 * 24 * time.Hour))))
	if s.IntN(2) == 0 {
		from = s.now
	}
	all := []string{
		"join " + player + " ada", "open", "begin", "sandbox", fmt.Sprintf("comment %d hm", s.IntN(5)), "comment", "comment x",
		fmt.Sprintf("undo %d", back), fmt.Sprintf("undo %d agreed", back), "undo", "branch " + player, "return", leave.String(),
		fmt.Sprintf("ask %s undo %d", player, back), "ask " + player + " draw", "ask", "deny", "pause", "unpause", "page",
		fmt.Sprintf("credit %d %d", from.UnixMilli(), from.Add(time.Duration(s.Int64N(int64(24*time.Hour)))).UnixMilli()), "credit right", "credit 1", "sing", "stone A1",
	}
	if s.IntN(20) == 0 {
		all = []string{"cancel", "decline", "expire", "delete", "adjudicate B+2.5 " + point(), "adjudicate", "flag " + player, "drawn"}
	}
	return all[s.IntN(len(all))]
}

// event is the next event, with what somebody may have said.
func (s *scribe) event(p *Position) Event {
	s.now = s.now.Add(time.Duration(s.Int64N(int64(6 * time.Hour)))).Truncate(time.Millisecond)
	seq := 1
	if p != nil {
		seq = p.Seq() + 1
	}
	return Event{Seq: seq, At: s.now, By: "ada", Body: ParseBody(s.body(p))}
}

// Folding event by event is folding all at once, after every event; what goes on
// from a position in two ways changes neither it nor the other; and all verbs
// come to pass.
func TestFoldOneByOne(t *testing.T) {
	did := map[EventKind]int{}
	for seed := range uint64(tier.Pick(40, 60, 2000)) {
		s := newScribe(seed)
		var all []*Position
		var p *Position
		for range 60 {
			if len(all) > 0 && s.IntN(10) == 0 {
				p = all[s.IntN(len(all))] // from here in another way
			}
			e := s.event(p)
			var events []Event
			if p != nil {
				events = p.Events
			}
			whole, errWhole := Fold(s.match, append(slices.Clip(events), e))
			next, err := whole, errWhole
			if p != nil {
				next, err = p.Next(s.match, e)
			}
			if fmt.Sprint(err) != fmt.Sprint(errWhole) {
				t.Fatalf("seed %d: %q: at once %v, by itself %v", seed, e.Body, errWhole, err)
			}
			if err != nil {
				continue
			}
			if diff := cmp.Diff(whole, next, samePosition); diff != "" {
				t.Fatalf("seed %d: %q after %d events of %v: at once and by itself:\n%s", seed, e.Body, len(events), s.match, diff)
			}
			did[e.Body.Kind]++
			p, all = next, append(all, next)
		}
		for _, p := range all {
			whole, err := Fold(s.match, p.Events)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(whole, p, samePosition); diff != "" {
				t.Fatalf("seed %d: the position after %d events has changed:\n%s", seed, p.Seq(), diff)
			}
			// In two parts is in one, too.
			n := s.IntN(p.Seq())
			if n == 0 {
				continue
			}
			half, err := Fold(s.match, p.Events[:n])
			if err == nil {
				half, err = half.Next(s.match, p.Events[n:]...)
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(whole, half, samePosition); diff != "" {
				t.Fatalf("seed %d: the position after %d and %d events differs:\n%s", seed, n, p.Seq()-n, diff)
			}
		}
	}
	for kind := range kinds {
		if did[kind] == 0 {
			t.Errorf("%q never came to pass", kind)
		}
	}
}

// folded folds the bodies of a log.
func folded(t *testing.T, m Match, bodies ...string) *Position {
	t.Helper()
	p, err := Fold(m, nil)
	for i, body := range bodies {
		if err == nil {
			p, err = p.Next(m, Event{Seq: i + 1, At: time.Unix(int64(60*i), 0), By: "ada", Body: ParseBody(body)})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An undo can bring back what an earlier one took, though another turn has been
// made in its place.
func TestUndoBringsBack(t *testing.T) {
	for _, typed := range []string{"none", "1d"} {
		m := Match{Rules: "aga@1", Setup: rules.Setup{W: 3, H: 3}, Clock: control(typed)}
		log := []string{"begin", "turn B place A1", "turn W place B1", "turn B place C1", "turn W place A3", "undo 4", "turn W place C3", "undo 5"}
		if got := turnsOf(folded(t, m, log...)); got != "B place A1, W place B1, B place C1, W place A3" {
			t.Errorf("with clock %q: %s", typed, got)
		}
	}
}

func turnsOf(p *Position) string {
	var turns []string
	for _, t := range p.Game.Log() {
		turns = append(turns, t.String())
	}
	return strings.Join(turns, ", ")
}

// A comment after a game in one branch is not in another.
func TestFuturesAreApart(t *testing.T) {
	m := Match{Rules: "aga@1", Setup: rules.Setup{W: 5, H: 5, Handicap: 9}}
	log := []string{"stone A1", "stone A2", "stone A3", "comment 1 a", "comment 1 b", "comment 1 c"}
	p := folded(t, m, log...)
	said := map[string]*Position{}
	for _, body := range []string{"comment 2 x", "stone A5", "comment 3 y", "stone B5"} {
		next, err := p.Next(m, Event{Seq: p.Seq() + 1, Body: ParseBody(body)})
		if err != nil {
			t.Fatal(err)
		}
		said[body] = next
	}
	if got := said["comment 2 x"].Remarks[3].Text + said["comment 3 y"].Remarks[3].Text; got != "xy" {
		t.Errorf("the last remarks are %q", got)
	}
	for body, p := range said {
		if got := p.Events[len(p.Events)-1].Body.String(); got != body {
			t.Errorf("%q is kept as %q", body, got)
		}
		if n := len(p.Stones); strings.HasPrefix(body, "stone") && "stone "+p.Stones[n-1].String() != body {
			t.Errorf("%q placed %v", body, p.Stones[n-1])
		}
	}
}

// The next turn takes as much memory in a long game as in a short one, also when
// something impossible was tried before it.
func TestNextCostsTheSame(t *testing.T) {
	for _, typed := range []string{"none", "1d"} {
		m := Match{Rules: "aga@1", Setup: rules.Setup{W: 25, H: 25}, Clock: control(typed)}
		var bodies []string
		for i := range 300 { // Black has the rows below, White those above
			bodies = append(bodies, fmt.Sprintf("turn B place %v", rules.Point{X: int8(i % 25), Y: int8(i / 25)}),
				fmt.Sprintf("turn W place %v", rules.Point{X: int8(i % 25), Y: int8(24 - i/25)}))
		}
		cost := func(n int) uint64 {
			p := folded(t, m, append([]string{"begin"}, bodies[:n]...)...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, body := range bodies[n : n+50] {
				if _, err := p.Next(m, Event{Seq: p.Seq() + 1, At: p.At, Body: ParseBody(bodies[n-1])}); err == nil {
					t.Fatal("a stone stands there")
				}
				next, err := p.Next(m, Event{Seq: p.Seq() + 1, At: p.At, Body: ParseBody(body)})
				if err != nil {
					t.Fatal(err)
				}
				p = next
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if early, late := cost(20), cost(500); late > early*3/2 {
			t.Errorf("with clock %q 50 turns take %d bytes after turn 20 and %d after turn 500", typed, early, late)
		}
	}
}
