package outbox

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// A bench is a queue and a clock that moves only when told to.
type bench struct {
	*testing.T
	*queue
	now time.Time
}

func newBench(t *testing.T) *bench { return &bench{t, newQueue(1), noon} }

func (b *bench) put(rows ...Row) {
	for i := range rows {
		if rows[i].Platform == "" {
			rows[i].Platform = "chat"
		}
	}
	b.Number(rows)
	b.Put(rows...)
}

// next returns what is to be sent now, or how long nothing is.
func (b *bench) next() (Row, string) {
	r, ok, again := b.Next(b.now)
	switch {
	case ok:
		return r, r.Kind + " " + r.Key
	case again.IsZero():
		return r, "nothing"
	}
	return r, fmt.Sprint("in ", again.Sub(b.now).Round(time.Millisecond))
}

// all sends everything that can be sent now.
func (b *bench) all() string {
	var sent []string
	for {
		r, name := b.next()
		if r.Kind == "" {
			return strings.Join(append(sent, name), ", ")
		}
		sent = append(sent, name)
		b.Done(r, b.now)
	}
}

func (b *bench) same(what, got, want string) {
	b.Helper()
	if got != want {
		b.Errorf("%s: %s, not %s", what, got, want)
	}
}

func TestOrder(t *testing.T) {
	b := newBench(t)
	b.put(Row{Kind: Reaction, Key: "m1"}, Row{Kind: Clear, Key: "m0"}, Row{Kind: Header, Key: "g2"}, Row{Kind: Header, Key: "g1"},
		Row{Kind: Attach, Key: "p1"}, Row{Kind: Ending, Key: "i1"})
	b.same("by kind, then by age", b.all(), "ending i1, attach p1, header g2, header g1, clear m0, reaction m1, nothing")
}

func TestNewestWins(t *testing.T) {
	b := newBench(t)
	b.put(Row{Kind: Header, Key: "g", Data: "1"}, Row{Kind: Header, Key: "g", Data: "2"}, Row{Kind: Header, Key: "g", Platform: "other", Data: "x"})
	r, _ := b.next()
	b.same("the newest", r.Data, "2")
	b.put(Row{Kind: Header, Key: "g", Data: "3"}) // while the second is being sent
	b.same("one at a time", b.all(), "header g, nothing")
	b.Done(r, b.now)
	again, _ := b.next()
	b.same("what came meanwhile", again.Data, "3")
	if _, ok := b.Later(r, b.now, true); ok {
		t.Error("an old row takes the place of a newer one")
	}
	b.Put(Row{Platform: "chat", Kind: Header, Key: "g", Data: "older", N: r.N})
	b.Done(again, b.now)
	b.same("in the end", b.all(), "nothing")
}

func TestEvery(t *testing.T) {
	b := newBench(t)
	edit := Row{Kind: Header, Key: "g", Every: time.Minute}
	b.put(edit)
	b.same("at first", b.all(), "header g, nothing")
	b.put(edit)
	b.same("at once", b.all(), "in 1m0s")
	b.put(Row{Kind: Header, Key: "g"})
	b.same("the last, which does not wait", b.all(), "header g, nothing")
	b.put(Row{Kind: Header, Key: "g", NotBefore: b.now.Add(time.Second)})
	b.same("before its time", b.all(), "in 1s")
}

func TestShownWakesAndDrops(t *testing.T) {
	b := newBench(t)
	at := func(kind, key, of string, seq int) Row {
		return Row{Kind: kind, Key: key, Channel: "club", Game: "g", Of: of, Seq: seq, Sleeps: kind == Clear}
	}
	elsewhere := at(Clear, "m9", "show", 1)
	elsewhere.Channel = "cellar"
	b.put(at(Clear, "m1", "show", 1), at(Clear, "m2", "show", 2), at(Attach, "p1", "show", 1), at(Attach, "n1", "notice", 1), elsewhere)
	woken, dropped := b.Shown("chat", "club", "g", 2, false)
	b.same("after a notice", fmt.Sprint(len(woken), woken[0].Key, woken[0].Sleeps, len(dropped)), "1m1false 0")
	_, dropped = b.Shown("chat", "club", "g", 2, true)
	b.same("after a board", fmt.Sprint(len(dropped), dropped[0].Key), "1p1")
	b.same("to be done", b.all(), "attach n1, clear m1, nothing")
}

// After the end of a game controls stay for a while. Those of a question go earlier, when
// something newer was shown; those of the last board do not.
func TestShownEndsQuestions(t *testing.T) {
	b := newBench(t)
	for _, of := range []string{"show", "notice"} {
		b.put(Row{Kind: Clear, Key: of, Of: of, Channel: "club", Game: "g", Seq: 1, NotBefore: b.now.Add(time.Hour)})
	}
	b.same("before", b.all(), "in 1h0m0s")
	woken, _ := b.Shown("chat", "club", "g", 2, false)
	b.same("what woke", fmt.Sprint(len(woken), woken[0].Key), "1notice")
	b.same("after", b.all(), "clear notice, in 1h0m0s")
}

// A thread is archived when nothing in it is to be changed any more, except what sleeps.
func TestCloseComesAfterClear(t *testing.T) {
	b := newBench(t)
	in := func(game string, r Row) Row {
		r.Channel, r.Game = "club", game
		return r
	}
	b.put(in("g", Row{Kind: Close, Key: "t1"}), in("g", Row{Kind: Clear, Key: "m1", NotBefore: b.now.Add(time.Minute)}), in("g", Row{Kind: Clear, Key: "m2", Sleeps: true}),
		in("h", Row{Kind: Close, Key: "t2"}))
	b.same("while one is left", b.all(), "close t2, in 1m0s")
	b.now = b.now.Add(time.Minute)
	r, name := b.next()
	b.same("when it is due", name, "clear m1")
	b.same("while it is being done", b.all(), "nothing")
	b.Done(r, b.now)
	b.same("after it", b.all(), "close t1, nothing")
}

// Decorations leave half of the burst for posts, and ever less the longer they wait; in the
// end one token. One of several messages waits for all of its tokens.
func TestBudget(t *testing.T) {
	b := newBench(t)
	b.accounts.Store("chat", NewAccount(0.2, 10))
	for i := range 8 {
		b.put(Row{Kind: Reaction, Key: fmt.Sprint("m", i)})
	}
	b.accounts.of("chat").Spend(b.now, 2)
	b.same("three tokens are spare", b.all(), "reaction m0, reaction m1, reaction m2, in 3.463s")
	b.accounts.of("chat").Spend(b.now, 20) // posts do not ask
	b.same("after many posts", b.all(), "in 1m0.001s")
	b.Drop("chat", Reaction, "m3")
	b.now = b.now.Add(60001 * time.Millisecond)
	b.same("two tokens are left", b.all(), "reaction m4, in 5s")
	b.put(Row{Kind: Header, Key: "g", Platform: "other"})
	b.same("another account", b.all(), "header g, in 5s")
	b.now = b.now.Add(time.Minute)
	b.same("all that waited", b.all(), "reaction m5, reaction m6, reaction m7, nothing")
	b.put(Row{Kind: Reaction, Key: "row", Messages: 4})
	b.same("seven tokens are left", b.all(), "in 6.924s")
	b.put(Row{Kind: Attach, Key: "p"})
	b.same("a picture does not wait", b.all(), "attach p, in 10.386s")
	b.accounts.Store("chat", NewAccount(0.2, 2))
	b.same("more than the burst", b.all(), "reaction row, nothing")
}

// While people play fast, each decoration is sent within a minute, also if there are always
// some of more urgent kinds, and boards always find a token.
func TestNothingStarves(t *testing.T) {
	b := newBench(t)
	account := NewAccount(0.2, 10)
	b.accounts.Store("chat", account)
	since := map[id]time.Time{}
	for second := range 900 {
		b.now = b.now.Add(time.Second)
		if second%10 == 0 { // a board
			if account.Spend(b.now, 1); account.spent > account.burst {
				t.Errorf("no token is left for the board after %d seconds", second)
			}
			for _, r := range []Row{{Kind: Header, Key: "g1"}, {Kind: Header, Key: "g2"}, {Kind: Reaction, Key: "g1", Messages: 3}} {
				if b.put(r); since[id{"chat", r.Kind, r.Key}].IsZero() {
					since[id{"chat", r.Kind, r.Key}] = b.now
				}
			}
		}
		for r, name := b.next(); r.Kind != ""; r, name = b.next() {
			if waited := b.now.Sub(since[r.id()]); waited > time.Minute {
				t.Errorf("%s has waited for %v", name, waited)
			}
			b.Done(r, b.now)
			delete(since, r.id())
		}
	}
	for i, from := range since {
		if waited := b.now.Sub(from); waited > time.Minute {
			t.Errorf("%s still waits after %v", i.kind, waited)
		}
	}
}

// An account that the platform holds sends nothing, and then one thing at a time.
func TestHold(t *testing.T) {
	b := newBench(t)
	b.put(Row{Kind: Header, Key: "g1"}, Row{Kind: Header, Key: "g2"})
	b.accounts.of("chat").hold(b.now, 3*time.Second)
	b.same("held", b.all(), "in 3s")
	b.same("until", fmt.Sprint(b.accounts.of("chat").held(b.now).Sub(b.now)), "3s")
	b.now = b.now.Add(3 * time.Second)
	first, _ := b.next()
	b.same("one at a time", b.all(), "nothing")
	if b.accounts.of("chat").atOnce(b.now, 4) != 1 || b.accounts.of("chat").atOnce(b.now.Add(narrowFor), 4) != 4 || b.accounts.of("other").atOnce(b.now, 4) != 4 {
		t.Error("it is not narrow for as long as it should be")
	}
	b.Done(first, b.now)
	b.same("then the next", b.all(), "header g2, nothing")
}

// Whatever happens, each key ends with its newest row sent or dropped, once.
func TestRandomQueues(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := newBench(t)
		b.accounts.Store("chat", NewAccount(1, 8))
		newest, sent := map[string]int64{}, map[string]int64{}
		var out []Row
		for range 200 {
			b.now = b.now.Add(time.Duration(rng.IntN(3000)) * time.Millisecond)
			switch rng.IntN(5) {
			case 0, 1:
				rows := []Row{{Platform: "chat", Kind: []string{Header, Attach, Reaction}[rng.IntN(3)], Key: fmt.Sprint(rng.IntN(4)), Game: "g", Every: time.Duration(rng.IntN(3)) * time.Second}}
				b.Number(rows)
				b.Put(rows...)
				newest[rows[0].Kind+rows[0].Key] = rows[0].N
			case 2:
				if r, ok, _ := b.Next(b.now); ok {
					if slices.ContainsFunc(out, func(o Row) bool { return o.id() == r.id() }) {
						t.Fatalf("seed %d: %s %s twice at once", seed, r.Kind, r.Key)
					}
					out = append(out, r)
				}
			case 3, 4:
				if len(out) == 0 {
					continue
				}
				k := rng.IntN(len(out))
				r := out[k]
				if out = slices.Delete(out, k, k+1); rng.IntN(3) == 0 {
					b.Later(r, b.now.Add(time.Second), true)
				} else {
					b.Done(r, b.now)
					sent[r.Kind+r.Key] = r.N
				}
			}
		}
		for _, r := range out {
			b.Done(r, b.now)
			sent[r.Kind+r.Key] = r.N
		}
		for range 1000 {
			b.now = b.now.Add(time.Second)
			if r, ok, _ := b.Next(b.now); ok {
				b.Done(r, b.now)
				sent[r.Kind+r.Key] = r.N
			}
		}
		for key, n := range newest {
			if sent[key] != n {
				t.Errorf("seed %d: of %s the last that was sent is %d, not %d", seed, key, sent[key], n)
			}
		}
		if len(b.rows)+len(b.awake)+len(b.busy)+len(b.places) > 0 || b.sending["chat"] != 0 {
			t.Errorf("seed %d: something is left: %d rows", seed, len(b.rows))
		}
	}
}
