package match

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A tampering changes what is stored of a match, and returns which event is damaged then; 0: the
// match itself; -1: nothing, the change is none.
type tampering func(r *rand.Rand, m *Match, events []Event) ([]Event, int)

// change is a tampering with one event.
func change(with func(e *Event)) tampering {
	return func(r *rand.Rand, m *Match, events []Event) ([]Event, int) {
		i := r.IntN(len(events))
		before := events[i]
		with(&events[i])
		if events[i] == before {
			return events, -1
		}
		return events, i + 1
	}
}

// alter is a tampering with the row of the match.
func alter(with func(m *Match)) tampering {
	return func(_ *rand.Rand, m *Match, events []Event) ([]Event, int) {
		before := fmt.Sprint(*m)
		if with(m); fmt.Sprint(*m) == before {
			return events, -1
		}
		return events, 0
	}
}

var tamperings = map[string]tampering{
	"swapped seats": alter(func(m *Match) { m.Black, m.White = m.White, m.Black }),
	"komi":          alter(func(m *Match) { m.Setup.Komi++ }),
	"ruleset":       alter(func(m *Match) { m.Rules += " " }),
	"opener":        alter(func(m *Match) { m.Opener = "eve" }),
	"opened":        alter(func(m *Match) { m.Opened = m.Opened.Add(time.Millisecond) }),
	"table":         alter(func(m *Match) { m.Fixture.Table++ }),
	"result":        alter(func(m *Match) { m.Result = "B+R" }),
	"state":         alter(func(m *Match) { m.State = Cancelled }),
	"deadline":      alter(func(m *Match) { m.Deadline = m.Changed.Add(time.Hour) }),
	"page":          alter(func(m *Match) { m.Page = "another" }),
	"head":          alter(func(m *Match) { m.Head = "" }),
	"half a head":   alter(func(m *Match) { m.Head = m.Head[:30] }),
	"time":          change(func(e *Event) { e.At = e.At.Add(time.Millisecond) }),
	"actor":         change(func(e *Event) { e.By = "eve" }),
	"body":          change(func(e *Event) { e.Body.Args += " " }),
	"kind":          change(func(e *Event) { e.Body.Kind = eventDeny }),
	"proof":         change(func(e *Event) { e.Proof = strings.ToUpper(e.Proof) }),
	"no proof":      change(func(e *Event) { e.Proof = "" }),
	"old proof":     change(func(e *Event) { e.Proof = "0123456789abcdef" }),
	"turns swapped": func(r *rand.Rand, _ *Match, events []Event) ([]Event, int) {
		i := r.IntN(len(events) - 1)
		a, b := &events[i], &events[i+1]
		if a.Body == b.Body && a.By == b.By && a.At.Equal(b.At) {
			return events, -1
		}
		*a, *b = *b, *a
		a.Seq, b.Seq = b.Seq, a.Seq
		return events, i + 1
	},
	"an event less": func(r *rand.Rand, _ *Match, events []Event) ([]Event, int) {
		i := r.IntN(len(events))
		return slices.Delete(events, i, i+1), i + 1
	},
	"an event cut out": func(r *rand.Rand, m *Match, events []Event) ([]Event, int) {
		i := r.IntN(len(events) - 1)
		events = slices.Delete(events, i, i+1)
		for j := range events[i:] {
			events[i+j].Seq--
		}
		m.Seq--
		return events, i + 1
	},
	"the end cut off": func(r *rand.Rand, m *Match, events []Event) ([]Event, int) {
		m.Seq--
		return events[:m.Seq], 0
	},
	"an event more": func(r *rand.Rand, m *Match, events []Event) ([]Event, int) {
		e := events[len(events)-1]
		e.Seq++
		return append(events, e), e.Seq
	},
}

// Verify finds every change of what is stored, and names the event; the second where only the
// first has lost its link, as if an earlier version had written that.
func TestTampering(t *testing.T) {
	found := map[string]int{}
	for seed := range 50 {
		w := &walk{Rand: rand.New(rand.NewPCG(uint64(seed), 43)), did: map[string]int{}, tried: map[string]int{}, calls: map[PersonID]int{}}
		w.table = &table{t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
		w.begin()
		for range 25 {
			w.ask()
		}
		if old, err := Verify(w.match, w.pos.Events); old || err != nil {
			t.Fatalf("seed %d: old %t, %v", seed, old, err)
		}
		if len(w.pos.Events) < 3 { // nobody joined
			continue
		}
		for name, tamper := range tamperings {
			m := w.match
			events, want := tamper(w.Rand, &m, slices.Clone(w.pos.Events))
			if want < 0 {
				continue
			}
			_, err := Verify(m, events)
			var damage *Damage
			if !errors.As(err, &damage) || damage.Seq != want && !(strings.HasSuffix(name, "proof") && damage.Seq == 2) {
				t.Errorf("seed %d, %s: event %d of %d is damaged, and I am told %v", seed, name, want, w.match.Seq, err)
			}
			found[name]++
		}
	}
	for name := range tamperings {
		if found[name] < 10 {
			t.Errorf("%s: tried %d times", name, found[name])
		}
	}
}

// Whoever forgets the author of a comment deletes words and salt, and nothing else may be changed.
func TestForgottenComment(t *testing.T) {
	k := sit(t, "aga@1", 5)
	k.pos, k.match.Seq = nil, 0
	k.do("ada", "new aga size:5 opponent:me").do("ada", "place C3").do("ada", "resign confirm:yes").do("ada", "comment Why_not_B2? move:1").do("ada", "comment again move:1")
	at := slices.IndexFunc(k.pos.Events, func(e Event) bool { return e.Body.Kind == eventComment })
	for name, x := range map[string]struct {
		change func(e *Event)
		ok     bool
	}{
		"forgotten":     {func(e *Event) { e.Body.Args, e.Proof = "", e.Proof[:Unsalted] }, true},
		"words gone":    {func(e *Event) { e.Body.Args = "" }, false},
		"salt gone":     {func(e *Event) { e.Proof = e.Proof[:Unsalted] }, false},
		"other words":   {func(e *Event) { e.Body.Args = "1 Why not C2?" }, false},
		"another move":  {func(e *Event) { e.Body.Args = strings.Replace(e.Body.Args, "1", "0", 1) }, false},
		"another salt":  {func(e *Event) { e.Proof += "x" }, false},
		"digest gone":   {func(e *Event) { e.Proof = e.Proof[:linkSize] }, false},
		"another day":   {func(e *Event) { e.At = e.At.AddDate(0, 0, 1) }, false},
		"not a comment": {func(e *Event) { e.Body = Body{Kind: eventDeny} }, false},
	} {
		events := slices.Clone(k.pos.Events)
		x.change(&events[at])
		_, err := Verify(k.match, events)
		var damage *Damage
		if x.ok != (err == nil) || !x.ok && (!errors.As(err, &damage) || damage.Seq != at+1) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strings.Contains(k.pos.Events[at].Proof, "Why") {
		t.Errorf("the proof quotes the comment: %q", k.pos.Events[at].Proof)
	}
}

// A game of an earlier version goes on, and from then on its log has links.
func TestProofsOfEarlierVersions(t *testing.T) {
	k := sit(t, "two-button@1", 5).log("turn B place C3")
	k.pos.Events[len(k.pos.Events)-1].Proof = k.pos.Game.Proof()
	if old, err := Verify(k.match, k.pos.Events); !old || err != nil {
		t.Fatalf("old %t, %v", old, err)
	}
	k.do("bob", "place A1").do("ada", "place B2")
	if old, err := Verify(k.match, k.pos.Events); !old || err != nil {
		t.Fatalf("it goes on: old %t, %v", old, err)
	}
	for name, x := range map[string]struct {
		change func(m *Match, events []Event)
		seq    int
	}{
		"an old turn":                  {func(_ *Match, e []Event) { e[3].Body.Args = "B place D3" }, 4},
		"an old proof":                 {func(_ *Match, e []Event) { e[3].Proof = "0123456789abcdef" }, 5},
		"the first link":               {func(_ *Match, e []Event) { e[4].Proof = "" }, 6},
		"all links":                    {func(_ *Match, e []Event) { e[4].Proof, e[5].Proof = "", "" }, 6},
		"all links and the head":       {func(m *Match, e []Event) { e[4].Proof, e[5].Proof, m.Head = "", "", "" }, 6},
		"seats":                        {func(m *Match, e []Event) { m.Black, m.White = m.White, m.Black }, 0},
		"the komi":                     {func(m *Match, e []Event) { m.Setup.Komi++ }, 0},
		"the last turn, without links": {func(m *Match, e []Event) { e[5].Body.Args = "B place D3" }, 6},
	} {
		m, events := k.match, slices.Clone(k.pos.Events)
		x.change(&m, events)
		_, err := Verify(m, events)
		var damage *Damage
		if !errors.As(err, &damage) || damage.Seq != x.seq {
			t.Errorf("%s: %v", name, err)
		}
	}
}
