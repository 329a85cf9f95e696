package rules

import (
	"maps"
	"slices"
	"sync"
)

// A Ruleset says how a game is played and counted. Read one top to bottom: what lies on the table at
// the start, what a player may do on their turn, what both may do once play
// has stopped, what the end is worth. A released ruleset keeps its behaviour; a
// changed reading is a new Version or a new ruleset.
type Ruleset struct {
	Name     string // the id people type; with Version, what a game remembers
	Version  int
	Title    string
	Aim      string // how one wins, in a sentence or two of at most [MaxSummary] characters
	PassCost string // what a pass costs, likewise
	Source   string // where the prose is, and whose it is
	Note     string // what this reading decides where the prose is silent
	Komi     Points // what a game gets when nobody says otherwise

	Start  []Rule          // before the first turn
	Moves  map[Kind][]Rule // what each turn requires and does, in order
	Settle map[Kind][]Rule // the same once play has stopped; empty: what stands at the end is alive
	Agreed []Rule          // what changes hands when both have accepted the marks
	Count  []Rule          // what the end is worth; empty: no count
	Say    []Fact          // what the table should hear when it is so

	Theorem string // Black's score less White's before komi, from the area difference A and w
	Closing []Kind // the turns with which a game of another ruleset is brought to this one's end

	Choices []Choice    // what its sources leave open; nil for a custom ruleset
	words   []word      // the rules made for it, as custom rulesets may use them
	facts   []condition // likewise

	id, text string // of a custom ruleset: its id, and the whole text from which it is read again
}

// Difference returns what Theorem says: Black's score less White's before komi,
// for an area difference a in whole points and w. It reports false if the
// theorem does not speak of r.
func (r *Ruleset) Difference(a, w int) (Points, bool) {
	d := Points(a) * One
	switch r.Theorem {
	case "A":
		return d, true
	case "A − w":
		return d - Points(w)*One, true
	case "A + ½ − w":
		return d + Half - Points(w)*One, true
	case "A − ½":
		return d - Half, true
	}
	return 0, false
}

// ID returns the name and version of the ruleset: "two-button@1"; of a custom one
// its name and the hash of its text, see [Custom].
func (r *Ruleset) ID() string {
	if r.id != "" {
		return r.id
	}
	return r.Name + "@" + itoa(r.Version)
}

// Has reports whether the ruleset knows this kind of turn at all.
func (r *Ruleset) Has(k Kind) bool { return len(r.Moves[k]) > 0 || len(r.Settle[k]) > 0 }

// EndsDisputes reports whether the game is counted with all stones alive if play that was
// resumed stops again at once, and with which kind of turn: a pass or a button.
func (r *Ruleset) EndsDisputes() (Kind, bool) {
	for _, k := range []Kind{Pass, Button} {
		if slices.ContainsFunc(r.Moves[k], endsDisputes) {
			return k, true
		}
	}
	return 0, false
}

// endsDisputes reports whether a rule is one of those that count all stones as alive when play stops again at once.
func endsDisputes(r Rule) bool {
	return r.Is(When(TwoPassesAgain, CountAllAlive)) || r.Is(When(LastButtonTakenAgain, CountAllAlive))
}

// Undisputed returns the ruleset without that end of disputes, under the same name and version.
// Use it to continue play after passes for another reason than a dispute.
func (r *Ruleset) Undisputed() *Ruleset {
	if _, final := r.EndsDisputes(); !final {
		return r
	}
	if without := undisputed()[r]; without != nil {
		return without
	}
	return r.undisputed()
}

func (r *Ruleset) undisputed() *Ruleset {
	without := version1(*r)
	without.Version, without.id, without.text = r.Version, r.id, r.text
	return without
}

// undisputed holds the rulesets of the catalogue without that end: positions that are alike share theirs.
var undisputed = sync.OnceValue(func() map[*Ruleset]*Ruleset {
	all := map[*Ruleset]*Ruleset{}
	for _, r := range Catalogue {
		all[r] = r.undisputed()
	}
	return all
})

// But returns the rules of r, except that: what changes names replaces what r
// says under the same heading, turn by turn for Moves and Settle. A heading
// that is there and empty takes away. Names, texts, choices and words come from changes
// alone.
func (r Ruleset) But(changes Ruleset) Ruleset {
	out := changes
	out.Moves = merge(r.Moves, changes.Moves)
	out.Settle = merge(r.Settle, changes.Settle)
	if changes.Settle != nil && len(changes.Settle) == 0 {
		out.Settle = nil
	}
	for _, list := range []struct{ out, from *[]Rule }{{&out.Start, &r.Start}, {&out.Agreed, &r.Agreed}, {&out.Count, &r.Count}} {
		if *list.out == nil {
			*list.out = *list.from
		}
	}
	if out.Say == nil {
		out.Say = r.Say
	}
	if out.Closing == nil {
		out.Closing = r.Closing
	}
	return out
}

func merge(a, b map[Kind][]Rule) map[Kind][]Rule {
	out := map[Kind][]Rule{}
	maps.Copy(out, a)
	for k, v := range b {
		if out[k] = v; len(v) == 0 {
			delete(out, k)
		}
	}
	return out
}

// A Rule is one line of a ruleset. Do carries it out on the game that the
// turn leads to, in which the turn is already counted, and reports whether the
// turn may stand. The rules of a turn are carried out in the order in
// which they are read; if one refuses, nothing has happened.
type Rule struct {
	Name string
	Do   func(*Game) bool
}

// Is reports whether two rules are the same. Code that looks for a rule asks this, whatever
// the words of its name are.
func (r Rule) Is(x Rule) bool { return r.Name == x.Name }

// Includes reports whether a rule is in a list.
func Includes(list []Rule, r Rule) bool { return slices.ContainsFunc(list, r.Is) }

// As returns the rule in other words: those of the source.
func (r Rule) As(words string) Rule { return Rule{words, r.Do} }

// A Fact is something that can be true of a game. Not is the sentence for
// people when it is false and a turn needs it.
type Fact struct {
	Name string
	Not  string
	Is   func(*Game) bool
}

// Require makes a fact a condition of the turn.
func Require(f Fact) Rule {
	return Rule{"only if " + f.Name, func(g *Game) bool {
		if f.Is(g) {
			return true
		}
		if g.because.Text == "" {
			g.because = saying(f.Not)
		}
		return false
	}}
}

// When is a conditional rule.
func When(f Fact, r Rule) Rule {
	return Rule{"when " + f.Name + ", " + r.Name, func(g *Game) bool {
		if !f.Is(g) {
			return true
		}
		g.ruleName = r.Name
		return r.Do(g)
	}}
}

// Unless is the other conditional rule.
func Unless(f Fact, r Rule) Rule {
	return Rule{"unless " + f.Name + ", " + r.Name, func(g *Game) bool {
		if f.Is(g) {
			return true
		}
		g.ruleName = r.Name
		return r.Do(g)
	}}
}

// Either is true when one of two facts is.
func Either(a, b Fact) Fact {
	return Fact{a.Name + " or " + b.Name, a.Not, func(g *Game) bool { return a.Is(g) || b.Is(g) }}
}

// A note is what the rules of one ruleset remember of a game besides what every game
// knows: a variable of the ruleset's file, with a value for each game. A value is read-only once
// it is set, for games that go on from this one share it.
type note[T any] struct{ name string }

// of returns the value in a game, the zero value before it is set.
func (n *note[T]) of(g *Game) T {
	v, _ := g.notes[n].(T)
	return v
}

func (n *note[T]) set(g *Game, v T) {
	notes := map[any]any{}
	maps.Copy(notes, g.notes)
	notes[n] = v
	g.notes = notes
}
