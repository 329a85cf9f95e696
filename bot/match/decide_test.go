package match

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A table is a game between ada, who plays Black, and bob.
type table struct {
	t     *testing.T
	match Match
	pos   *Position
	now   time.Time
	last  Step
}

// sit begins a game on a board of n×n.
func sit(t *testing.T, ruleset string, n int) *table {
	t.Helper()
	k := &table{t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), match: Match{
		ID: "g1", Rules: ruleset, Number: 1, Setup: rules.Setup{W: n, H: n}, Opener: "ada",
		Standing: Standing{State: Going, Black: "ada", White: "bob"},
	}}
	k.log("join B ada", "join W bob", "begin")
	return k
}

// log adds events to the log as an earlier version wrote them.
func (k *table) log(bodies ...string) *table {
	k.t.Helper()
	for _, body := range bodies {
		by := PersonID("ada")
		if strings.Contains(" "+body+" ", " W ") {
			by = "bob"
		}
		e := Event{Seq: k.match.Seq + 1, At: k.now, By: by, Body: body}
		var err error
		if k.pos == nil {
			k.pos, err = Fold(k.match, []Event{e})
		} else {
			k.pos, err = k.pos.Next(k.match, e)
		}
		if err != nil {
			k.t.Fatal(err)
		}
		k.match.Seq++
		k.match.Standing = k.pos.standing(k.match, k.now)
	}
	return k
}

// input is the input of a request.
func (k *table) input(by PersonID, kind rules.Kind, args ...string) *Input {
	in := &Input{Request: Request{ID: "r" + strconv.Itoa(k.match.Seq), Args: map[string]string{}}, By: by, Kind: kind,
		Match: k.match, Position: k.pos, Now: k.now, Seated: true}
	for _, a := range args {
		name, value, _ := strings.Cut(a, ":")
		in.Request.Args[name] = value
	}
	return in
}

// take takes a step, unless it refuses something.
func (k *table) take(s Step) *table {
	if k.last = s; s.Match != nil {
		k.match = *s.Match
	}
	if s.After != nil {
		k.pos = s.After
	}
	k.now = k.now.Add(time.Minute)
	return k
}

// do makes a request, which must not be refused.
func (k *table) do(by PersonID, change Change, kind rules.Kind, args ...string) *table {
	k.t.Helper()
	s := Decide(k.input(by, kind, args...), change)
	if s.Answer.Refused {
		k.t.Fatalf("%s is refused: %v", by, s.Answer.Texts)
	}
	return k.take(s)
}

// stopped is a game in which both have passed after a stone each.
func stopped(t *testing.T) *table {
	return sit(t, "aga@1", 5).log("turn B place C3", "turn W place A1", "turn B pass", "turn W pass")
}

// Whoever disputes the count does not accept it, and the other player may have seen in
// the trial that it is wrong.
func TestDisputeWithdrawsAcceptances(t *testing.T) {
	for _, accepts := range []PersonID{"ada", "bob"} {
		for _, disputes := range []PersonID{"ada", "bob"} {
			for name, leave := range map[string]func(k *table){
				"taken back": func(k *table) { k.do("ada", Dispute, 0, "back:yes") },
				"played out": func(k *table) {
					for k.pos.Branch > 0 {
						k.do(k.match.ToMove, MakeTurn, rules.Pass)
					}
				},
			} {
				k := stopped(t).do("bob", Mark, 0, "points:A1").do(accepts, Accept, 0).do(disputes, Dispute, 0)
				leave(k)
				g := k.pos.Game
				if g.Phase() != rules.Settling || len(g.Dead()) != 1 {
					t.Fatalf("the trial leaves %v with %v dead", g.Phase(), g.Dead())
				}
				if g.HasAgreed(rules.Black) || g.HasAgreed(rules.White) {
					t.Errorf("%s accepts, %s disputes, the trial is %s: Black accepts %v, White accepts %v",
						accepts, disputes, name, g.HasAgreed(rules.Black), g.HasAgreed(rules.White))
				}
				if k.do("ada", Accept, 0); k.match.State != Going {
					t.Errorf("%s accepts, %s disputes, the trial is %s: then one acceptance ends the game", accepts, disputes, name)
				}
				if k.do("bob", Accept, 0); k.match.Result != "B+25" {
					t.Errorf("both accept, and the result is %q", k.match.Result)
				}
			}
		}
	}
}

// A game that an earlier version ended after a dispute keeps its result.
func TestEarlierDisputesKeepTheirResults(t *testing.T) {
	k := stopped(t).log("turn B dead A1", "turn W agree", "branch W", "turn B pass", "return", "turn B agree")
	if k.match.State != Ended || k.match.Result != "B+25" {
		t.Errorf("the game is %s with %q", k.match.State, k.match.Result)
	}
}

// Only what changes the count, or doubts it, withdraws acceptances.
func TestWhatWithdrawsAcceptances(t *testing.T) {
	for _, test := range []struct {
		what      string
		do        func(k *table)
		withdraws bool
	}{
		{"a mark", func(k *table) { k.do("bob", Mark, 0, "points:A1") }, true},
		{"a mark of seki", func(k *table) { k.do("bob", Mark, 0, "points:A1", "as:seki") }, true},
		{"marks by suggestion", func(k *table) { k.do("bob", Mark, 0) }, true},
		{"a resumption", func(k *table) { k.do("bob", Resume, rules.Resume).log("turn W pass", "turn B pass") }, true},
		{"a request to delete the game", func(k *table) { k.do("bob", Withdraw, 0, "how:forget") }, false},
		{"time that is credited", func(k *table) { k.log("credit 0 1") }, false},
	} {
		k := sit(t, "japanese@1", 5).log("turn B place C3", "turn W place A1", "turn B place C2", "turn W pass", "turn B pass")
		k.do("ada", Accept, 0)
		test.do(k)
		if got := !k.pos.Game.HasAgreed(rules.Black); got != test.withdraws {
			t.Errorf("%s withdraws acceptances: %v, want %v", test.what, got, test.withdraws)
		}
	}
}

// mentioned lists who is mentioned by the posts of the last step.
func (k *table) mentioned() (who []PersonID) {
	for _, o := range k.last.Posts {
		who = append(who, o.Notify...)
	}
	return who
}

// A game that ends calls those who did not end it, once.
func TestTheEndIsTold(t *testing.T) {
	playing := func(t *testing.T) *table { return sit(t, "aga@1", 5).log("turn B place C3", "turn W place A1") }
	for _, test := range []struct {
		how   string
		after func(t *testing.T) *table
		end   func(k *table)
		want  string
	}{
		{"resignation", playing, func(k *table) { k.do("ada", Resign, rules.Resign, "confirm:yes") }, "[bob]"},
		{"the last acceptance", stopped, func(k *table) { k.do("bob", Accept, 0).do("ada", Accept, 0) }, "[bob]"},
		{"the last pass", func(t *testing.T) *table {
			return sit(t, "area-2@1", 5).log("turn B place C3", "turn W place A1", "turn B pass")
		},
			func(k *table) { k.do("bob", MakeTurn, rules.Pass, "anyway:yes") }, "[ada]"},
		{"an agreed draw", playing, func(k *table) { k.do("ada", Draw, rules.Draw).do("bob", Accept, 0) }, "[ada]"},
		{"a flag that nobody saw fall", timed, func(k *table) {
			k.take(DecideDue(k.input("", 0), Due{Game: "g1", Kind: "flag", At: k.now, Seq: k.match.Seq}))
		}, "[ada bob]"},
		{"a turn that comes too late", timed, func(k *table) { k.take(Decide(k.input("ada", rules.Place, "at:C3"), MakeTurn)) }, "[bob]"},
		{"a claim", func(t *testing.T) *table {
			k := timed(t)
			k.match.Clock.Claim = true
			return k
		}, func(k *table) { k.do("bob", Claim, 0) }, "[ada]"},
		{"a moderator's decision", playing, func(k *table) {
			in := k.input("mod", 0, "as:draw")
			in.Request.Moderator = true
			k.take(Adjudicate(in))
		}, "[ada bob]"},
		{"a moderator's decision in a trial", func(t *testing.T) *table { return stopped(t).do("bob", Dispute, 0) }, func(k *table) {
			in := k.input("mod", 0, "as:count")
			in.Request.Moderator = true
			k.take(Adjudicate(in))
		}, "[ada bob]"},
		{"cancellation", func(t *testing.T) *table { return sit(t, "aga@1", 5) }, func(k *table) { k.do("bob", Withdraw, 0, "how:cancel") }, "[ada]"},
		{"deletion", playing, func(k *table) { k.do("bob", Withdraw, 0).do("ada", Withdraw, 0) }, "[bob]"},
		{"a player who asks to be forgotten", playing, func(k *table) { k.take(Leave(k.input("bob", 0), "bob")) }, "[ada]"},
		{"resignation of one in both seats", func(t *testing.T) *table {
			k := playing(t)
			k.match.White = "ada"
			return k
		}, func(k *table) { k.do("ada", Resign, rules.Resign, "confirm:yes") }, "[]"},
		{"decision of a game of one in both seats", func(t *testing.T) *table {
			k := playing(t)
			k.match.White = "ada"
			return k
		}, func(k *table) {
			in := k.input("mod", 0, "as:draw")
			in.Request.Moderator = true
			k.take(Adjudicate(in))
		}, "[]"},
	} {
		k := test.after(t)
		k.t = t
		test.end(k)
		if k.match.State == Going || k.match.State == Open {
			t.Errorf("%s does not end the game", test.how)
		}
		if got := fmt.Sprint(k.mentioned()); got != test.want {
			t.Errorf("%s mentions %s, want %s", test.how, got, test.want)
		}
	}
}

// timed is a game in which Black has run out of time.
func timed(t *testing.T) *table {
	k := sit(t, "aga@1", 5)
	k.match.Clock, k.match.Seq, k.pos = control("1d"), 0, nil
	k.log("join B ada", "join W bob", "begin")
	k.now = k.now.Add(48 * time.Hour)
	return k
}
