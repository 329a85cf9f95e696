package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Kind is what a player does. Kinds up to Resign are turns; those after it
// belong to the talk about the end of the game and are not counted as moves.
type Kind uint8

// The kinds of turns, and of actions once play has stopped.
const (
	Place            Kind = iota // a stone on a point
	Pass                         // may name dead chains where the ruleset knows that
	AcceptSuggestion             // pass and accept the dead chains that the first pass named (half-pass-agreement)
	Button                       // take or give a button
	Delay                        // return a prisoner (ultimate)
	Draw                         // declare a draw (ultimate)
	Resign

	MarkDead    // mark chains as dead, any stone of each will do
	MarkSeki    // mark chains as alive in seki, where that matters (japanese)
	Unmark      // take marks away
	AcceptScore // accept the marks as they are
	Resume      // go on playing
	NoResult    // accept that a cycle leaves the game without a result (japanese)
	kinds
)

var kindNames = [kinds]string{"place", "pass", "accept", "button", "delay", "draw", "resign",
	"dead", "seki", "alive", "agree", "resume", "no-result"}

func (k Kind) marks() bool { return k == MarkDead || k == MarkSeki || k == Unmark }

// String returns the word for k in logs and transcripts.
func (k Kind) String() string { return kindNames[k] }

// IsTurn reports whether k is a turn of the game and not talk about its end.
func (k Kind) IsTurn() bool { return k <= Resign }

// A Turn is one line of a game's log: who did what. At is for Place; Dead
// names chains, for Pass, MarkDead, MarkSeki and Unmark.
type Turn struct {
	Kind Kind
	By   Color
	At   Point
	Dead []Point
}

// String returns the written form, "B place D4", "W pass", "B dead C3 D5", the
// same in logs, rows and transcripts. [ParseTurn] reads it.
func (t Turn) String() string {
	var b strings.Builder
	b.WriteString(t.By.Letter())
	b.WriteByte(' ')
	b.WriteString(t.Kind.String())
	if t.Kind == Place {
		b.WriteByte(' ')
		b.WriteString(t.At.String())
	}
	for _, p := range t.Dead {
		b.WriteByte(' ')
		b.WriteString(p.String())
	}
	return b.String()
}

// Words returns the turn as a person says it: "White E5", "Black passes".
func (t Turn) Words() string {
	switch t.Kind {
	case Place:
		return fmt.Sprintf("%v %v", t.By, t.At)
	case Pass:
		if len(t.Dead) > 0 {
			return fmt.Sprintf("%v passes, naming %s dead", t.By, Names(t.Dead))
		}
		return t.By.String() + " passes"
	}
	verb := [kinds]string{AcceptSuggestion: "accepts", Button: "plays the button", Delay: "delays", Draw: "declares a draw", Resign: "resigns",
		MarkDead: "marks %s dead", MarkSeki: "marks %s as seki", Unmark: "marks %s as alive", AcceptScore: "accepts the count", Resume: "resumes play", NoResult: "accepts no result"}[t.Kind]
	return t.By.String() + " " + strings.ReplaceAll(verb, "%s", Names(t.Dead))
}

// tidy drops what the kind of turn does not use and keeps nothing of the
// caller's.
func (t Turn) tidy() Turn {
	if t.Kind != Place {
		t.At = Point{}
	}
	switch t.Kind {
	case Pass, MarkDead, MarkSeki, Unmark:
		t.Dead = slices.Clone(t.Dead)
	default:
		t.Dead = nil
	}
	return t
}

// Names lists points, "C3 D5".
func Names(ps []Point) string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.String()
	}
	return strings.Join(names, " ")
}

// ParseTurn reads the written form of a turn on a board of w columns and h
// rows.
func ParseTurn(s string, w, h int) (Turn, error) {
	words := strings.Fields(s)
	if len(words) < 2 {
		return Turn{}, fmt.Errorf("a turn is a colour and a kind, not %q", short(s))
	}
	var t Turn
	switch words[0] {
	case "B":
		t.By = Black
	case "W":
		t.By = White
	default:
		return Turn{}, fmt.Errorf("no such player: %q", short(words[0]))
	}
	k := slices.Index(kindNames[:], words[1])
	if k < 0 {
		return Turn{}, fmt.Errorf("no such turn: %q", short(words[1]))
	}
	t.Kind = Kind(k)
	for _, word := range words[2:] {
		p, err := ParsePoint(word, w, h)
		if err != nil {
			return Turn{}, err
		}
		t.Dead = append(t.Dead, p)
	}
	if t.Kind == Place {
		if len(t.Dead) != 1 {
			return Turn{}, fmt.Errorf("a placement names one point: %q", short(s))
		}
		t.At, t.Dead = t.Dead[0], nil
	}
	return t, nil
}

// A Thing is what players hold, and what a count counts.
type Thing uint8

// Things. The first six can be held; all of them can be counted.
const (
	Prisoner      Thing = iota // a captured stone
	PassStone                  // handed over by a pass; counts as a prisoner
	ButtonThing                // a button
	HalfPassStone              // lies in the half-pass zone
	UltimateStone              // left in the bowl by the first delay
	held                       // how many kinds of things can be held
	Stone         Thing = iota - 1
	Territory
	Adjustment
	Handicap
	Komi
	things
	onTable // of a [word]
)

var thingNames = [things]string{"prisoner", "pass-stone", "button", "half-pass-stone", "ultimate-stone",
	"stone", "territory", "adjustment", "handicap", "komi"}

// String returns the word for t in JSON.
func (t Thing) String() string { return thingNames[t] }

// MarshalText writes the word for t.
func (t Thing) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

var thingWords = [things][2]string{{"prisoner", "prisoners"}, {"pass stone", "pass stones"}, {"button", "buttons"},
	{"half-pass stone", "half-pass stones"}, {"ultimate stone", "ultimate stones"}, {"stone", "stones"},
	{"point of territory", "points of territory"}, {"adjustment", "adjustments"}, {"handicap", "handicap"}, {"komi", "komi"}}

// Words returns n and the thing as people read it: "2 pass stones".
func (t Thing) Words(n int) string {
	if n == 1 || n == -1 {
		return number(n) + " " + thingWords[t][0]
	}
	return number(n) + " " + thingWords[t][1]
}

// number writes a number as people read it, with a minus sign.
func number(n int) string { return strings.ReplaceAll(strconv.Itoa(n), "-", "−") }

// Noun returns the word for n of the thing, without the number: "pass stones".
func (t Thing) Noun(n int) string {
	if n == 1 || n == -1 {
		return thingWords[t][0]
	}
	return thingWords[t][1]
}

// An Entry is a line of the ledger: with turn Move, Player came to hold N more
// of Thing (fewer when N is negative), and Why is the rule
// that did it. Move is 0 for what lay there at the start.
type Entry struct {
	Move   int
	Player Color
	Thing  Thing
	N      int
	Why    string
}

// A Line is a line of the count: N of Thing for Player, worth Each.
type Line struct {
	Player Color
	Thing  Thing
	N      int
	Each   Points
}

// Points returns what the line is worth.
func (l Line) Points() Points { return Points(l.N) * l.Each }
