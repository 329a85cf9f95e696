package sgf

import (
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Record is what a file says of a game, before any ruleset has judged it.
type Record struct {
	RU      string // the rules as the record names them; see Ruleset
	Setup   rules.Setup
	HasKomi bool // Setup.Komi is the record's own; without KM it is 0
	HasSize bool // the board's size is the record's own; without SZ it is 19×19
	Turns   []Turn
	Ending  Ending
	Info    Info
	Repairs []Repair // what had to be guessed, by Read and then by Mended
	More    bool     // other games follow in the file; Read has passed them over
	Stopped error    // why Read or Before stopped before the end of the record; nil: they did not

	territory *rules.Board // a stone on each point that is marked as its player's after the last turn; nil: no marks

	ours      bool          // a program of ours wrote it, so nothing of its end is missing
	deadBy    string        // by what Settled proposed the dead stones, ByResult or ByPlayouts; "": it did not
	marksOff  []rules.Point // empty points that the marks of territory, by which Mended settled the count, give to another player than the ruleset, or to nobody
	marksKomi rules.Points  // what makes up for them

	early  bool // Settled found the board too open to be counted
	before int  // turns before the first of Turns: handicap stones that were played, or what was played before a setup
}

// A Repair is something that a record says unclearly or not at all, and how it was
// read: a single line. Of many repairs of a kind there is only the first, which says how
// many more there are.
type Repair struct {
	Move int // of the record; 0: all of it
	What rules.Saying
}

// Says returns "move 97: what was done".
func (r Repair) Says() rules.Saying {
	if r.Move == 0 {
		return r.What
	}
	return says("move {0}: {1}", r.Move, r.What)
}

// String returns what Says does, in English.
func (r Repair) String() string { return r.Says().String() }

const (
	maxAlike  = 4 // repairs of a kind that are listed one by one
	andOthers = "{0} (and {1} more like it)"
)

// kind returns what a repair has in common with others of another point or value.
func (r Repair) kind() string {
	kind := r.What.Text
	for _, a := range r.What.Args {
		if c, ok := a.(rules.Color); ok {
			kind += c.String()
		}
	}
	return kind
}

// folded returns repairs of which those of a kind are one, if they are more than maxAlike.
func folded(repairs []Repair) (out []Repair) {
	alike := map[string]int{}
	for _, r := range repairs {
		alike[r.kind()]++
	}
	for _, r := range repairs {
		kind := r.kind()
		switch n := alike[kind]; {
		case n == 0: // the first has told their number
			continue
		case n > maxAlike && r.What.Text != andOthers:
			r.What = says(andOthers, r.What, n-1)
			alike[kind] = 0
		}
		out = append(out, r)
	}
	return out
}

// says makes a sentence, or an error, that a program can say in another language.
func says(text string, args ...any) rules.Saying { return rules.Saying{Text: text, Args: args} }

// A Turn is a turn of a record.
type Turn struct {
	rules.Turn
	Resumed bool // play was resumed just before it
	Assumed bool // the record does not have it; see Mended
}

// number returns the number that turn i has in the record.
func (rec *Record) number(i int) int {
	n := rec.before + i + 1
	for _, t := range rec.Turns[:min(i+1, len(rec.Turns))] {
		if t.Assumed {
			n--
		}
	}
	return n
}

// Moves returns the number that the last turn has in the record: handicap stones that it
// plays are counted, passes that were assumed are not.
func (rec *Record) Moves() int { return rec.number(len(rec.Turns) - 1) }

// UpTo returns how many turns lead to move n of the record, for [Record.Cut]: passes that
// were assumed have no number of their own. It is more than there are if the record ends
// before that move.
func (rec *Record) UpTo(n int) int {
	turns := 0
	for i, t := range rec.Turns {
		if rec.number(i) > n {
			return turns
		}
		if !t.Assumed {
			turns = i + 1
		}
	}
	if last := len(rec.Turns) - 1; n <= rec.number(last) {
		return turns
	}
	return len(rec.Turns) + 1
}

// An Ending is how the talk after the last turn stands.
type Ending struct {
	Dead, Seki []rules.Point // stones marked as dead and as alive in seki
	Accepted   bool          // both players have accepted the marks
	Resumed    bool          // play was resumed, and nobody has moved yet
	NoResult   bool          // both players have accepted that there is no result
}

// By what the dead stones of a count were chosen.
const (
	ByMarks    = "marks"    // the record's, of stones or of territory
	ByResult   = "result"   // so that the game comes to RE
	ByPlayouts = "playouts" // what looks dead when the position is played out at random
	ByOption   = "option"   // somebody named them who looks at the record
)

// DeadBy returns by what the dead stones were chosen on which the players agreed; "" if they
// did not agree.
func (rec *Record) DeadBy() string {
	switch n := len(rec.Turns); {
	case rec.deadBy != "":
		return rec.deadBy
	case rec.Ending.Accepted, n > 0 && rec.Turns[n-1].Kind == rules.AcceptSuggestion:
		return ByMarks
	}
	return ""
}

// Unmarked returns the record without what its marks of territory change of the count: somebody
// names the dead stones.
func (rec *Record) Unmarked() *Record {
	out := *rec
	out.marksOff, out.marksKomi = nil, 0
	return &out
}

// Dead returns the dead stones on which the players agreed, in the last node or
// by accepting what a pass named; none if they agreed on none.
func (rec *Record) Dead() []rules.Point {
	if rec.Ending.Accepted {
		return rec.Ending.Dead
	}
	if n := len(rec.Turns); n >= 2 && rec.Turns[n-1].Kind == rules.AcceptSuggestion {
		return rec.Turns[n-2].Dead
	}
	return nil
}

// Cut returns the record up to turn n, without the marks and the agreement after its end;
// all its turns if it has no more than that.
func (rec *Record) Cut(n int) *Record {
	out := *rec
	out.Turns, out.Ending, out.deadBy = rec.Turns[:min(max(n, 0), len(rec.Turns))], Ending{}, ""
	out.marksOff, out.marksKomi = nil, 0
	if n <= len(rec.Turns) {
		out.Stopped = nil
	}
	return &out
}
