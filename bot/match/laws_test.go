package match

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A walk is a game in which people ask for things as it comes. What is decided is held
// to laws that know nothing of how it is decided.
type walk struct {
	*rand.Rand
	*table
	calls map[PersonID]int // how often the turn that the game waits for has called somebody
	turn  waitsFor
	did   map[string]int // commands that were accepted
	tried map[string]int // labels of options that were tried
}

// Laws of decisions, over random games.
func TestLaws(t *testing.T) {
	did, tried := map[string]int{}, map[string]int{}
	for seed := range tier.Pick(200, 500, 20_000) {
		w := &walk{Rand: rand.New(rand.NewPCG(uint64(seed), 41)), did: did, tried: tried, calls: map[PersonID]int{}}
		w.table = &table{t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
		w.begin()
		for range 50 {
			if w.ask(); w.IntN(8) == 0 {
				w.holdsOptions()
			}
		}
		if whole, err := Fold(w.match, w.pos.Events); err != nil {
			t.Errorf("%s", err)
		} else if diff := gocmp.Diff(whole, w.pos, samePosition); diff != "" {
			t.Errorf("the log folds to another position:\n%s", diff)
		}
		if old, err := Verify(w.match, w.pos.Events); old || err != nil {
			t.Errorf("old %t, %v", old, err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for name := range Commands {
		if did[name] == 0 {
			t.Errorf("nobody ever did %s", name)
		}
	}
	for _, o := range slices.Concat(boardOptions, answerOptions, menuOptions) {
		if c := o.control(Match{}, 1); !asks(c) && tried[c.Label] == 0 {
			t.Errorf("nobody ever tried %s", c.Label)
		}
	}
}

func (w *walk) one(of ...string) string { return of[w.IntN(len(of))] }

// begin opens a game of any kind.
func (w *walk) begin() {
	r := rules.Catalogue[w.IntN(len(rules.Catalogue))]
	typed := "new " + r.ID() + w.one(" size:3x3", " size:2x4", " size:4") + w.one("", "", " clock:2d", " clock:1d_claim") + w.one("", " hints:no") +
		w.one("", "", "", " opponent:me", " opponent:bob", " handicap:2 placement:free")
	if w.IntN(20) == 0 {
		typed = "setup diagram:.X./.O./..."
	}
	w.room.Undo = w.IntN(3)*60 - 60
	if w.room.Undo >= 0 { // its games are older than their pages
		w.room.Pages, w.room.Since = LinkPages, w.now.Add(time.Second)
	}
	if w.IntN(20) == 0 { // the board is repeated
		w.decide("ada", "new japanese size:2x1 komi:0 opponent:me")
		for _, typed := range strings.Split("place A1|place B1|pass|pass|resume|place A1|pass|pass|resume|place B1|pass|pass|resume|place A1", "|") {
			w.decide("ada", typed)
		}
		return
	}
	w.decide("ada", typed)
	if w.match.ID == "" { // the board is too small, or the ruleset needs an opponent
		w.decide("ada", "new aga size:3")
	}
	if w.match.State == Open && w.IntN(8) > 0 { // else the walk may
		w.decide("bob", "join")
	}
}

// ask lets somebody ask for something.
func (w *walk) ask() {
	w.now = w.now.Add(time.Duration(w.IntN(90)) * time.Second)
	if w.IntN(40) == 0 {
		w.now = w.now.Add(time.Duration(w.IntN(60)) * time.Hour)
	}
	point := func() string {
		return rules.Point{X: int8(w.IntN(w.match.Setup.W)), Y: int8(w.IntN(w.match.Setup.H))}.String()
	}
	typed := w.one("place "+point(), "place "+point(), "place "+point(), "place "+point()+" "+point(), "pass", "pass", "pass", "pass "+point(),
		"button", "delay", "undo", "undo", "accept", "accept", "accept", "accept no-result:yes", "decline", "decline", "join",
		"dead", "dead "+point(), "dead as:alive "+point(), "dead as:seki "+point(), "resume", "dispute", "dispute back:yes", "draw", "clock pause:yes", "clock",
		"claim", "comment hm", "rematch")
	switch n := len(w.pos.Lines); { // play stops, is disputed and returns more often than by chance
	case w.IntN(3) > 0:
	case w.pos.Game.Phase() == rules.Settling:
		stone := w.input("ada", "").unmarkedStone()
		typed = w.one("dead "+stone, "dead "+stone, "dead as:seki "+stone, "dispute", "resume", "accept", "accept no-result:yes")
	case w.pos.Branch > 0:
		typed = "dispute back:yes"
	case n > 0 && w.pos.Lines[n-1].Turn.Kind == rules.Pass:
		typed = "pass anyway:yes"
	}
	if w.IntN(12) == 0 {
		typed = w.one("resign", "resign confirm:yes", "delete", "delete", "delete forget", "delete cancel", "adjudicate void", "adjudicate count", "adjudicate white", "new aga", "page agree:yes", "page agree:yes")
	}
	if w.IntN(8) == 0 {
		typed += fmt.Sprintf(" seq:%d", max(0, w.match.Seq-w.IntN(4)))
	}
	who := w.one("ada", "bob", string(cmp.Or(w.match.ToMove, "ada")))
	if w.IntN(5) == 0 {
		who = w.one("eve", "mod!", "ada!")
	}
	w.decide(who, typed)
}

// decide lets somebody ask for something, and holds the decision to the laws.
func (w *walk) decide(who, typed string) {
	in := w.input(PersonID(strings.TrimSuffix(who, "!")), strings.ReplaceAll(typed, "/", "\n"))
	in.Request.Moderator = strings.HasSuffix(who, "!")
	if in.Request.Args["opponent"] == "bob" {
		in.Users = map[string]PersonID{"opponent": "bob"}
	}
	in.NewID = GameID("g" + strconv.Itoa(1+w.match.Seq))
	before, args := *in, maps.Clone(in.Request.Args)
	wrong := func(format string, a ...any) {
		w.t.Helper()
		w.t.Errorf("%s: %s (%s, %v): %s", who, typed, w.match.Rules, w.match.State, fmt.Sprintf(format, a...))
	}
	s := Decide(in)
	if again := Decide(in); !reflect.DeepEqual(shown(s), shown(again)) {
		wrong("decided again it is\n%+v\nand was\n%+v", shown(again), shown(s))
	}
	if before.Request.Args = in.Request.Args; !reflect.DeepEqual(before, *in) || !maps.Equal(args, in.Request.Args) {
		wrong("the decision changes its input")
	}
	late := len(s.Events) == 1 && strings.HasPrefix(s.Events[0].Body.String(), "flag ")
	if s.Answer.Refused && !late {
		if !s.Answer.Private || len(s.Answer.Texts) == 0 || !reflect.DeepEqual(s, Step{Request: s.Request, At: s.At, Answer: s.Answer}) {
			wrong("a refusal changes something, or says nothing: %+v", shown(s))
		}
		return
	}
	if s.Match == nil || s.After == nil || len(s.Events) == 0 {
		wrong("it is not refused, and changes nothing")
		return
	}
	w.did[in.Request.Command]++
	w.holdsLog(in, s, wrong)
	w.holdsRights(in, s, late, wrong)
	if s.New && w.match.ID != "" {
		return // the walk goes on in the old game
	}
	w.holdsMentions(in, s, wrong)
	w.take(s)
	if s.New {
		w.match.Number = 1
	}
	// A button that is pressed twice has one effect.
	if in.Request.Args["seq"] != "" {
		again := *in
		again.Match, again.Position = w.match, w.pos
		if twice := Decide(&again); !twice.Answer.Refused && in.Request.Command != "comment" {
			wrong("pressed again it adds %v: %v", twice.Events, bodies(w.pos.Events))
		}
	}
}

// shown is a step without its position, which shares memory.
func shown(s Step) Step {
	s.After = nil
	return s
}

// holdsLog holds a step to its log: the events are numbered, in order of time, and fold to
// the position and the standing that the step says.
func (w *walk) holdsLog(in *Input, s Step, wrong func(string, ...any)) {
	old := in.events()
	if s.New {
		old = nil
	}
	for i, e := range s.Events {
		if e.Seq != len(old)+i+1 || i == 0 && len(old) > 0 && e.At.Before(old[len(old)-1].At) {
			wrong("event %d at %v follows event %d", e.Seq, e.At, len(old)+i)
		}
	}
	if !slices.Equal(s.After.Events, slices.Concat(old, s.Events)) || s.Match.Seq != len(s.After.Events) {
		wrong("the position is not that after its events")
	}
	if err := s.After.Prove(*s.Match); err != nil {
		wrong("%v", err)
	}
	if got := s.After.standing(*s.Match, in.Now); got != s.Match.Standing {
		wrong("the standing is %+v, the events lead to %+v", s.Match.Standing, got)
	}
	for _, d := range s.Due {
		if d.Game != s.Match.ID || d.Seq != s.Match.Seq {
			wrong("%+v is due", d)
		}
	}
}

// holdsRights holds events to who may make them.
func (w *walk) holdsRights(in *Input, s Step, late bool, wrong func(string, ...any)) {
	m, before := in.Match, in.events()
	if s.New {
		old := m
		if m, before = *s.Match, nil; m.Black != m.White && m.State == Going { // both want it
			if asker := old.Seat(in.Position.Asked.By); !in.asked("rematch") || asker == in.By || old.Black != in.By && old.White != in.By {
				wrong("it begins a game of %s and %s", m.Black, m.White)
			}
			return
		}
	}
	if m.State == Open && s.Match.State == Going {
		m = *s.Match // who joins plays
	}
	for _, e := range s.Events {
		if e.By != in.By || !late && !rightful(m, e, before, in.Request.Moderator) {
			wrong("%s did %q in a game of %s and %s", e.By, e.Body, m.Black, m.White)
		}
		before = append(slices.Clip(before), e)
	}
}

// rightful reports whether somebody may have done what an event says.
func rightful(m Match, e Event, before []Event, moderator bool) bool {
	words := strings.Fields(e.Body.String())
	plays, alone := e.By == m.Black || e.By == m.White, m.Black == m.White
	seat := func(letter string) bool { return letter == "B" && e.By == m.Black || letter == "W" && e.By == m.White }
	answers := func(what string) bool { // the other player has asked that last, and nobody has declined
		for _, b := range slices.Backward(before) {
			switch w := strings.Fields(b.Body.String()); w[0] {
			case "ask":
				return w[2] == what && plays && (alone || !seat(w[1]))
			case "deny":
				return false
			}
		}
		return false
	}
	switch words[0] {
	case "open", "sandbox":
		return e.By == m.Opener
	case "join":
		return string(e.By) == words[2]
	case "undo":
		return plays && (len(words) == 2 || answers("undo"))
	case "pause":
		return alone && plays || answers("pause")
	case "page":
		return alone && plays || answers("page")
	case "begin", "unpause", "deny", "return":
		return plays || words[0] == "return" && moderator
	case "turn", "suggest", "ask", "branch":
		return seat(words[1]) || m.State == Sandbox && e.By == m.Opener
	case "stone":
		return e.By == m.Black
	case "drawn":
		return answers("draw")
	case "decline":
		return e.By == m.Invited
	case "cancel":
		return plays || e.By == m.Opener || moderator
	case "comment":
		return m.State == Ended
	case "flag":
		return plays
	case "adjudicate":
		return moderator && (alone || !plays)
	case "delete":
		return plays && (alone || m.Black == "" || m.White == "") || answers("delete") || !plays && moderator
	}
	return false
}

// A waitsFor is what a game waits for: a turn, that both agree, or that one of them does.
type waitsFor struct {
	phase         rules.Phase
	lines, people int
	resumed       int // the event that let the clocks go on
}

// holdsMentions holds a step to whom its posts mention: nobody for what they have done
// themselves; a player once for each turn of theirs, however the board changes meanwhile;
// whoever is asked something; and of a game that ends those who did not end it.
func (w *walk) holdsMentions(in *Input, s Step, wrong func(string, ...any)) {
	m, waits := s.Match, s.Match.WaitsFor(s.After)
	now := waitsFor{phase: s.After.Game.Phase(), people: len(waits), resumed: w.turn.resumed}
	if now.phase == rules.Playing {
		now.lines = len(s.After.Lines)
	}
	question := false
	for _, e := range s.Events {
		if e.Body.String() == "unpause" {
			now.resumed = e.Seq
		}
		question = question || strings.HasPrefix(e.Body.String(), "ask ") || e.Body.String() == "deny"
	}
	if w.turn != now {
		clear(w.calls)
	}
	w.turn = now
	for p := range w.calls {
		if p == in.By || !slices.Contains(waits, p) {
			w.calls[p] = 0
		}
	}
	var mentioned []PersonID
	for _, o := range s.Posts {
		mentioned = append(mentioned, o.Notify...)
	}
	for i, p := range mentioned {
		if p == in.By || slices.Contains(mentioned[:i], p) {
			wrong("it mentions %v", mentioned)
		}
		if question {
			continue
		}
		if w.calls[p]++; w.calls[p] > 1 {
			wrong("it mentions %s for the %d. time in a turn", p, w.calls[p])
		}
	}
	others := slices.DeleteFunc([]PersonID{m.Black, m.White}, func(p PersonID) bool { return p == in.By || p == "" || m.Black == m.White })
	slices.Sort(others)
	slices.Sort(mentioned)
	if over := m.State == Ended || m.State == Cancelled || m.State == Deleted; over && m.State != in.Match.State && !slices.Equal(mentioned, others) {
		wrong("the game is over, and it mentions %v", mentioned)
	}
	if question && m.Black != m.White && !slices.Equal(mentioned, others) {
		wrong("a question or its answer mentions %v", mentioned)
	}
}

// holdsOptions holds what is offered to what is decided: nobody is refused what the menu
// offers to them, and somebody at the board can do what is offered below it, and below a
// question that was just asked.
func (w *walk) holdsOptions() {
	decides := func(p PersonID, c Control) bool {
		in := w.input(p, c.Command)
		in.Request.Args, in.Request.Moderator = maps.Clone(c.Args), p == "mod"
		switch c.Ask {
		case "at":
			g, board := w.pos.Game, w.pos.Game.Board()
			in.Request.Args["at"] = in.exampleFree(1)
			if w.pos.Placing == 0 {
				i := slices.IndexFunc(board.Points(), func(at rules.Point) bool { return g.Allows(rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: at}) })
				if i < 0 {
					return true // the board is full
				}
				in.Request.Args["at"] = board.Points()[i].String()
			}
		case "dead", "points":
			in.Request.Args[c.Ask] = in.unmarkedStone()
			switch {
			case c.Args["as"] == "alive":
				in.Request.Args[c.Ask] = w.pos.Game.Dead()[0].String()
			case in.Request.Args[c.Ask] == "none":
				return true // all are marked
			}
		case "text":
			in.Request.Args["text"] = "well played"
		case "as":
			in.Request.Args["as"] = "black"
		}
		w.tried[c.Label]++
		answer := Decide(in).Answer
		return !answer.Refused || len(answer.Controls) > 0 || strings.HasPrefix(answer.Texts[0].Key, "request.") // after the answer to another question
	}
	people := []PersonID{"ada", "bob", "eve", "mod"}
	for _, p := range people {
		for _, c := range MenuOptions(w.input(p, "more"), func(string) bool { return p == "mod" }) {
			if !asks(c) && !decides(p, c) {
				w.t.Errorf("%s is offered %s in the menu, and refused", p, c.Label)
			}
		}
	}
	offered := slices.Concat(BoardOptions(w.match, w.pos, w.match.Seq), AnswerOptions(w.match, w.pos, w.match.Seq))
	for _, c := range offered {
		if !asks(c) && !slices.ContainsFunc(people, func(p PersonID) bool { return decides(p, c) }) {
			w.t.Errorf("nobody can do what is offered as %s: %v, %v, the last events are %v", c.Label, w.match.State, w.pos.Game.Phase(), bodies(w.pos.Events[max(0, w.pos.Seq()-6):]))
		}
	}
}

// asks reports whether a control changes nothing.
func asks(c Control) bool {
	return c.Args["seq"] == "" && !slices.Contains([]string{"join", "decline", "rematch"}, c.Command)
}

func bodies(events []Event) (out []string) {
	for _, e := range events {
		out = append(out, e.Body.String())
	}
	return out
}
