package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// A table is a game between ada, who plays Black, and bob.
type table struct {
	t     *testing.T
	match Match
	pos   *Position
	now   time.Time
	last  Step
	room  RoomSettings
	prefs map[PersonID]Preferences
	dues  []Due
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
		e := Event{Seq: k.match.Seq + 1, At: k.now, By: by, Body: ParseBody(body)}
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
		k.match.Changed = k.now
	}
	return k
}

// input is the input of a request, as somebody types it: "place C3".
func (k *table) input(by PersonID, typed string) *Input {
	command, args := read(typed)
	return &Input{Request: Request{ID: "r" + strconv.Itoa(k.match.Seq), Command: command, Args: args}, By: by,
		Match: k.match, Position: k.pos, Now: k.now, Limits: Limits{Person: 20, Channel: 200}, NewID: "g2", NewPage: "page", Salt: "salt", Room: k.room, Prefs: k.prefs}
}

// read splits a request into its command and arguments, "place C3" or "delete how:forget".
func read(typed string) (command string, args map[string]string) {
	args = map[string]string{}
	command, rest, _ := strings.Cut(typed, " ")
	for word := range strings.FieldsSeq(rest) {
		name, value, named := strings.Cut(word, ":")
		if !named {
			name, value = first[command], word
		}
		args[name] = strings.TrimSpace(args[name] + " " + strings.ReplaceAll(value, "_", " "))
	}
	return command, args
}

// first is the argument that needs no name.
var first = map[string]string{"new": "rules", "place": "at", "pass": "dead", "dead": "points", "adjudicate": "as", "comment": "text", "delete": "how"}

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
func (k *table) do(by PersonID, typed string) *table {
	k.t.Helper()
	s := Decide(k.input(by, typed))
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
				"taken back": func(k *table) { k.do("ada", "dispute back:yes") },
				"played out": func(k *table) {
					for k.pos.Branch > 0 {
						k.do(k.match.ToMove, "pass")
					}
				},
			} {
				k := stopped(t).do("bob", "dead A1").do(accepts, "accept").do(disputes, "dispute")
				leave(k)
				g := k.pos.Game
				if g.Phase() != rules.Settling || len(g.Dead()) != 1 {
					t.Fatalf("the trial leaves %v with %v dead", g.Phase(), g.Dead())
				}
				if g.HasAgreed(rules.Black) || g.HasAgreed(rules.White) {
					t.Errorf("%s accepts, %s disputes, the trial is %s: Black accepts %v, White accepts %v",
						accepts, disputes, name, g.HasAgreed(rules.Black), g.HasAgreed(rules.White))
				}
				if k.do("ada", "accept"); k.match.State != Going {
					t.Errorf("%s accepts, %s disputes, the trial is %s: then one acceptance ends the game", accepts, disputes, name)
				}
				if k.do("bob", "accept"); k.match.Result != "B+25" {
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
		{"a mark", func(k *table) { k.do("bob", "dead A1") }, true},
		{"a mark of seki", func(k *table) { k.do("bob", "dead A1 as:seki") }, true},
		{"marks by suggestion", func(k *table) { k.do("bob", "dead") }, true},
		{"a resumption", func(k *table) { k.do("bob", "resume").log("turn W pass", "turn B pass") }, true},
		{"a request to delete the game", func(k *table) { k.do("bob", "delete how:forget") }, false},
		{"time that is credited", func(k *table) { k.log("credit 0 1") }, false},
	} {
		k := sit(t, "japanese@1", 5).log("turn B place C3", "turn W place A1", "turn B place C2", "turn W pass", "turn B pass")
		k.do("ada", "accept")
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
		{"resignation", playing, func(k *table) { k.do("ada", "resign confirm:yes") }, "[bob]"},
		{"the last acceptance", stopped, func(k *table) { k.do("bob", "accept").do("ada", "accept") }, "[bob]"},
		{"the last pass", func(t *testing.T) *table {
			return sit(t, "area-2@1", 5).log("turn B place C3", "turn W place A1", "turn B pass")
		},
			func(k *table) { k.do("bob", "pass anyway:yes") }, "[ada]"},
		{"an agreed draw", playing, func(k *table) { k.do("ada", "draw").do("bob", "accept") }, "[ada]"},
		{"a flag that nobody saw fall", timed, func(k *table) {
			k.take(DecideDue(k.input("", ""), Due{Game: "g1", Kind: "flag", At: k.now, Seq: k.match.Seq}))
		}, "[ada bob]"},
		{"a turn that comes too late", timed, func(k *table) { k.take(Decide(k.input("ada", "place C3"))) }, "[bob]"},
		{"a claim", func(t *testing.T) *table {
			k := timed(t)
			k.match.Clock.Claim = true
			return k
		}, func(k *table) { k.do("bob", "claim") }, "[ada]"},
		{"a moderator's decision", playing, func(k *table) {
			in := k.input("mod", "adjudicate draw")
			in.Request.Moderator = true
			k.take(Decide(in))
		}, "[ada bob]"},
		{"a moderator's decision in a trial", func(t *testing.T) *table { return stopped(t).do("bob", "dispute") }, func(k *table) {
			in := k.input("mod", "adjudicate count")
			in.Request.Moderator = true
			k.take(Decide(in))
		}, "[ada bob]"},
		{"cancellation", func(t *testing.T) *table { return sit(t, "aga@1", 5) }, func(k *table) { k.do("bob", "delete how:cancel") }, "[ada]"},
		{"deletion", playing, func(k *table) { k.do("bob", "delete").do("ada", "delete") }, "[bob]"},
		{"a player leaves, whom the bot forgets", playing, func(k *table) { k.take(Leave(k.input("bob", ""), "bob")) }, "[ada]"},
		{"resignation of one in both seats", func(t *testing.T) *table {
			k := playing(t)
			k.match.White = "ada"
			return k
		}, func(k *table) { k.do("ada", "resign confirm:yes") }, "[]"},
		{"decision of a game of one in both seats", func(t *testing.T) *table {
			k := playing(t)
			k.match.White = "ada"
			return k
		}, func(k *table) {
			in := k.input("mod", "adjudicate draw")
			in.Request.Moderator = true
			k.take(Decide(in))
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

// warned returns the stones that a pass is warned about.
func (k *table) warned() (stones []rules.Point) {
	k.t.Helper()
	s := Decide(k.input(k.match.ToMove, "pass"))
	if !s.Answer.Refused {
		return nil
	}
	if s.Answer.Texts[0].Key != "pass.standing" {
		k.t.Fatalf("a pass is refused: %v", s.Answer.Texts)
	}
	g := k.pos.Game
	dead, _, _ := judged(g)
	_, stones = captureFirst(g, dead)
	return stones
}

// White, who is to move, has the lower side, with a dead black stone in it.
const wall = "turn B place C1, turn W place D1, turn B place C2, turn W place D2, turn B place C3, turn W place D3, " +
	"turn B place C4, turn W place D4, turn B place C5, turn W place D5, turn B place E3"

// A pass that cannot end play is no mistake while dead stones stand: capturing them
// first may cost half a point.
func TestOnlyAPassThatCanEndPlayIsWarned(t *testing.T) {
	for _, test := range []struct {
		ruleset string
		passes  string // before
		warned  bool
	}{
		{"half-pass@1", "", false},
		{"area-3@1", "", false},
		{"territory-1@1", "", false},
		{"tromp-taylor@1", "", true},
		{"area-2@1", "", true},
		{"half-pass@1", ", turn W pass, turn B pass", true},
		{"area-3@1", ", turn W pass, turn B pass", true},
		{"territory-1@1", ", turn W pass, turn B pass", true},
		{"aga@1", "", false},
		{"ultimate@1", ", turn W delay, turn B delay", false},
	} {
		k := sit(t, test.ruleset, 5).log(strings.Split(wall+test.passes, ", ")...)
		if test.ruleset == "ultimate@1" {
			k.log("turn W place A1", "turn B place A2")
			if s := Decide(k.input("bob", "pass")); s.Answer.Texts[0].Key == "pass.standing" {
				t.Error("in Ultimate Go nothing is counted")
			}
			continue
		}
		if got := k.warned(); (len(got) > 0) != test.warned {
			t.Errorf("%s after %q: warned of %v", test.ruleset, test.passes, got)
		}
	}
}

// Obeying the warning never ends worse than passing and, if play goes on, capturing
// then, whichever liberties are filled first, if the opponent goes on passing.
func TestObeyingTheWarningCostsNothing(t *testing.T) {
	warned := map[string]int{}
	for seed := range uint64(tier.Pick(60, 100, 1000)) {
		r := rand.New(rand.NewPCG(seed, 7))
		ruleset := rules.Catalogue[int(seed)%len(rules.Catalogue)]
		if ruleset.Has(rules.AcceptScore) || len(ruleset.Count) == 0 {
			continue
		}
		k := sit(t, ruleset.ID(), 3+r.IntN(3))
		for range 40 {
			g := k.pos.Game
			if g.Phase() != rules.Playing {
				break
			}
			by := g.ToPlay()
			pass := rules.Turn{Kind: rules.Pass, By: by}
			if g.Allows(pass) {
				if stones := k.warned(); len(stones) > 0 {
					warned[ruleset.ID()]++
					next, err := g.Play(pass)
					if err != nil {
						t.Fatal(err)
					}
					passed, obeyed := obey(t, r, next, by, stones), obey(t, r, g, by, stones)
					if lead(obeyed, by) < lead(passed, by) {
						t.Errorf("%s: %v: passing ends with %v for %v, capturing %v first with %v", ruleset.ID(), g.Log(), lead(passed, by), by, stones, lead(obeyed, by))
					}
				}
			}
			turns := g.Legal()
			turn := turns[r.IntN(len(turns))]
			if r.IntN(3) == 0 && g.Allows(pass) {
				turn = pass
			}
			if turn.Kind == rules.Resign {
				continue
			}
			k.log("turn " + turn.String())
		}
	}
	for _, ruleset := range rules.Catalogue {
		if !ruleset.Has(rules.AcceptScore) && !ruleset.Has(rules.AcceptSuggestion) && len(ruleset.Count) > 0 && warned[ruleset.ID()] == 0 {
			t.Errorf("%s: no pass was warned", ruleset.ID())
		}
	}
}

// Where the first pass of the game is worth more than the dead stones, nobody is advised
// to leave it to the opponent.
func TestAWarningThatCostsMoreIsNotGiven(t *testing.T) {
	for worth, warned := range map[string]bool{"1": true, "20": false} {
		r, err := rules.Custom(rules.Spec{Name: "first-pass", Base: "area-2",
			Start: []string{"a button lies on the table"},
			Moves: map[string][]string{"pass": {"a pass is free", "when it is the first pass of the game, the player takes a button", "when both players have just passed, play stops"}},
			Count: []string{"a stone on the board is worth 1", "an empty point that reaches only one colour is worth 1 to that colour", "a button is worth " + worth},
		})
		if err != nil {
			t.Fatal(err)
		}
		k := sit(t, r.Stored(), 5).log(strings.Split(wall, ", ")...)
		if got := k.warned(); (len(got) > 0) != warned {
			t.Errorf("the first pass is worth %s: warned of %v", worth, got)
		}
	}
}

// obey captures the stones in some order, while the opponent passes, and passes then.
func obey(t *testing.T, r *rand.Rand, g *rules.Game, by rules.Color, stones []rules.Point) *rules.Game {
	t.Helper()
	left := func() (liberties []rules.Point) {
		board := g.Board()
		for _, p := range stones {
			if board.At(p) == by.Opponent() {
				liberties = append(liberties, around(board, p)...)
			}
		}
		r.Shuffle(len(liberties), func(i, j int) { liberties[i], liberties[j] = liberties[j], liberties[i] })
		return liberties
	}
	for g.Phase() == rules.Playing {
		turn := rules.Turn{Kind: rules.Pass, By: g.ToPlay()}
		if g.ToPlay() == by {
			for _, p := range left() {
				if place := (rules.Turn{Kind: rules.Place, By: by, At: p}); g.Allows(place) {
					turn = place
					break
				}
			}
		}
		next, err := g.Play(turn)
		if err != nil {
			t.Fatal(err)
		}
		g = next
	}
	return g
}

// A player who never accepts keeps no game from being counted: both are told what passing
// again will do, once play has stopped and once it is resumed, and then it does. A trial is
// no resumption: passes only end it, and nobody is told otherwise.
func TestPassingAgainCounts(t *testing.T) {
	told := func(k *table) string {
		var keys []string
		for _, p := range k.last.Posts {
			for _, m := range p.Texts {
				keys = append(keys, m.Key)
			}
		}
		return strings.Join(keys, " ")
	}
	says := func(k *table) bool { return slices.Contains(k.pos.Game.Says(), rules.NextPassesAreFinal.Name) }
	for _, id := range []string{"aga", "area-agreement", "two-button", "button-equivalence"} {
		k := sit(t, id, 5).log("turn B place C3", "turn W place A1", "turn B pass").do("bob", "pass")
		k.do("bob", "dispute")
		if says(k) {
			t.Errorf("%s: the trial says that passing again is final", id)
		}
		for k.pos.Branch > 0 {
			k.do(k.match.ToMove, "pass")
		}
		if g := k.pos.Game; g.Phase() != rules.Settling || g.Rules() != ruleset(t, id) {
			t.Fatalf("%s: the trial leaves %v under %s", id, g.Phase(), g.Rules().ID())
		}
		k.do("bob", "resume")
		if !strings.Contains(told(k), "resumed.final.pass") || !says(k) {
			t.Errorf("%s: when play is resumed: %s, %q", id, told(k), k.pos.Game.Says())
		}
		k.do("ada", "pass anyway:yes").do("bob", "pass anyway:yes")
		if g := k.pos.Game; k.match.State != Ended || g.Captured(rules.White) > 0 {
			t.Errorf("%s: %s, %v after both have passed again", id, k.match.State, g.Phase())
		}
	}
	// Games under the first version go on as they began.
	k := stopped(t).do("bob", "resume")
	if strings.Contains(told(k), "resumed.final") {
		t.Errorf("aga@1: %s", told(k))
	}
	if k.do("ada", "pass").do("bob", "pass"); k.match.State != Going {
		t.Errorf("aga@1: %s after both have passed again", k.match.State)
	}
}

// The record of a game that was resigned in a trial names the version by which it was begun, and
// can be read again.
func TestRecordOfAGameResignedInATrial(t *testing.T) {
	for _, id := range []string{"aga", "area-agreement", "two-button"} {
		k := sit(t, id, 5).log("turn B place C3", "turn W place A1", "turn B pass").do("bob", "pass").do("bob", "dispute")
		k.do(k.match.ToMove, "pass").do("ada", "resign confirm:yes")
		rec := sgf.Of(k.pos.Game)
		r, _, err := rec.Ruleset()
		if err != nil || r != ruleset(t, id) {
			t.Errorf("%s: RU[%s], %v", id, rec.RU, err)
			continue
		}
		if g, err := rec.Play(r, rec.Setup.Komi); err != nil || g.Result() != "W+R" {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func ruleset(t *testing.T, id string) *rules.Ruleset {
	t.Helper()
	r, err := rules.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// However far a clock goes back, the times of a log do not, until it is known which of
// them were right. Reminders count from there.
func TestLogDoesNotGoBack(t *testing.T) {
	for _, back := range []time.Duration{time.Hour, 48 * time.Hour} {
		k := sit(t, "aga@1", 5).do("ada", "place C3")
		last := k.pos.Events[len(k.pos.Events)-1].At
		k.now = last.Add(-back)
		k.do("bob", "place A1")
		if at := k.pos.Events[len(k.pos.Events)-1].At; !at.Equal(last) {
			t.Errorf("%v back: the turn is at %v, the one before at %v", back, at, last)
		}
		if !k.match.Changed.Equal(last) || !k.pos.Ahead(k.now) || k.pos.Ahead(last) {
			t.Errorf("%v back: it changed at %v, the turn before at %v", back, k.match.Changed, last)
		}
		s := SetRight(k.input("", ""))
		if k.take(s); !k.match.Changed.Equal(s.At) || k.pos.Ahead(s.At) {
			t.Errorf("%v back: when it is %v, it changed at %v", back, s.At, k.match.Changed)
		}
	}
}

// After a clock was ahead and is set right, what it timed is as old as that: no turn is
// taken back freely later, and a reminder tells of the game.
func TestTimesOfAClockThatWasAheadEnd(t *testing.T) {
	k := sit(t, "aga@1", 5).do("ada", "place C3")
	turn := k.pos.Events[len(k.pos.Events)-1].At
	k.now = turn.Add(-96 * time.Hour)
	k.take(SetRight(k.input("", "")))
	right := k.pos.At
	for after, free := range map[time.Duration]bool{FreeUndo: true, FreeUndo + time.Second: false} {
		k.now = right.Add(after)
		s := Decide(k.input("ada", "undo"))
		if took := s.Events[0].Body.String() == "undo 3"; took != free {
			t.Errorf("%v after: %v", after, s.Events)
		}
	}
	other := sit(t, "aga@1", 5)
	other.match.ID = "g2"
	other.now = right.Add(-together / 2)
	other.log("turn B place C3") // its reminder is sent first, and lists this game
	k.now = right.Add(slowTurns[0])
	in := k.input("", "")
	in.Others = map[PersonID][]Waiting{"bob": {{other.match, other.pos}}}
	if s := DecideDue(in, Due{k.match.ID, "remind", k.now, k.match.Seq}); len(s.Posts) != 0 {
		t.Errorf("bob is reminded again: %v", s.Posts)
	}
}

// In a game without a clock the player who waits may end it after thirty silent days, and
// is told once when that is possible.
func TestThirtySilentDays(t *testing.T) {
	k := sit(t, "aga@1", 5).do("ada", "place C3").do("bob", "place A1").do("ada", "place C2")
	var due Due
	for _, d := range k.last.Due {
		if d.Kind == "silent" {
			due = d
		}
	}
	if due.At.Sub(k.match.Changed) != 30*24*time.Hour {
		t.Fatalf("it is due at %v", due.At)
	}
	ends := func(by PersonID) bool { return !Decide(k.input(by, "delete how:cancel")).Answer.Refused }
	if k.now = due.At.Add(-time.Minute); ends("ada") || ends("bob") {
		t.Error("the game may be cancelled before")
	}
	k.now = due.At
	for _, reach := range []func(*Input){func(in *Input) { in.Away = true }, func(in *Input) { in.Left = true }} {
		in := k.input("ada", "delete cancel")
		reach(in)
		if !Decide(in).Answer.Refused {
			t.Error("ada may cancel a game that bob cannot reach")
		}
		s := DecideDue(in, due)
		later := slices.ContainsFunc(s.Due, func(d Due) bool { return d.Kind == "silent" && d.At.After(due.At) })
		if len(s.Posts) != 0 || !later {
			t.Errorf("while bob cannot reach it: posts %v, due %v", s.Posts, s.Due)
		}
	}
	if k.take(DecideDue(k.input("", ""), due)); fmt.Sprint(k.mentioned()) != "[ada]" {
		t.Errorf("the bot tells %v", k.mentioned())
	}
	for _, d := range k.last.Due {
		if d.Kind == "silent" {
			t.Errorf("the bot would tell it again: %v", d)
		}
	}
	if !ends("ada") || ends("bob") {
		t.Error("only ada may cancel the game now")
	}
	if k.do("ada", "delete how:cancel"); k.match.State != Cancelled || fmt.Sprint(k.mentioned()) != "[bob]" {
		t.Errorf("the game is %s, and %v is told", k.match.State, k.mentioned())
	}
	if len(timed(t).match.left(timed(t).pos)) != 0 {
		t.Error("with a clock a flag falls")
	}
}
