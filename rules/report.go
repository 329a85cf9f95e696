package rules

import "fmt"

// A Report is what a game shows to programs. Its JSON keys are stable; amounts
// are JSON numbers in points.
type Report struct {
	Rules    string        `json:"rules"`
	Version  int           `json:"version"`
	Size     [2]int        `json:"size"` // columns, rows
	Komi     Points        `json:"komi"`
	Moves    int           `json:"moves"` // turns so far
	Phase    *Phase        `json:"phase"`
	ToPlay   *string       `json:"toPlay"` // "black" or "white" while playing
	Entries  []ReportEntry `json:"entries,omitzero"`
	Lines    []ReportLine  `json:"lines"` // the count; if play stopped now, until the game is over
	Black    *Points       `json:"black"`
	White    *Points       `json:"white"`
	Margin   *Points       `json:"margin"` // black less white, komi included
	Result   *string       `json:"result"`
	Board    []string      `json:"board"` // the board counted, the top row first: X black, O white
	Assumed  string        `json:"assumed,omitempty"`
	Error    string        `json:"error,omitempty"`
	DeadBy   string        `json:"deadBy,omitempty"`  // by what the dead stones were chosen: "marks", "result", "playouts" or "option"
	Differs  []string      `json:"differs,omitempty"` // in what the rules that the record names differ from this ruleset
	Game     *ReportGame   `json:"game,omitempty"`    // what the record says of the game
	Repairs  []string      `json:"repairs,omitempty"` // what had to be guessed when the record was read
	Stopped  string        `json:"stopped,omitempty"` // why the record could not be read to its end
	Explain  *ReportReason `json:"explain,omitempty"`
	Recorded *Recorded     `json:"recorded,omitempty"` // the result that the record names
	Custom   string        `json:"custom,omitempty"`   // the id of a custom ruleset; Version is 0

	// Of a row of a comparison: what passes, buttons and the like moved, why the
	// row differs from the last counted one above, and "flip" where the other
	// player wins than under the record's own ruleset, "half" where one of the
	// two counts is a jigo.
	Moved []ReportLine `json:"moved,omitempty"`
	Why   string       `json:"why,omitempty"`
	Flip  string       `json:"flip,omitempty"`
}

// A ReportGame is what a record says of its game. Its texts are as the record has them; the
// event is the name of the game if there is no other.
type ReportGame struct {
	Black     string  `json:"black,omitempty"` // the players
	BlackRank string  `json:"blackRank,omitempty"`
	White     string  `json:"white,omitempty"`
	WhiteRank string  `json:"whiteRank,omitempty"`
	Event     string  `json:"event,omitempty"`
	Round     string  `json:"round,omitempty"`
	Place     string  `json:"place,omitempty"`
	Date      string  `json:"date,omitempty"`
	Handicap  int     `json:"handicap,omitempty"` // stones
	Size      *[2]int `json:"size"`               // columns, rows; null: the record names none, which means 19×19
	Komi      *Points `json:"komi"`               // null: the record names none
	Moves     int     `json:"moves"`              // the number of its last one: handicap stones that it plays count, passes that were assumed do not
}

// A Recorded is the result that a record names, beside the count.
type Recorded struct {
	Result string  `json:"result"`           // as the record has it: "B+3.5", "W+R"
	Winner string  `json:"winner,omitempty"` // "black" or "white", if the record names one
	Agrees *bool   `json:"agrees,omitempty"` // whether it is the count; nil: one of the two is no count, or Fits
	Fits   bool    `json:"fits,omitempty"`   // it is the count, but the dead stones were chosen so that it is
	Stones bool    `json:"stones,omitempty"` // it is in stones, of two points each
	Off    *Points `json:"off,omitempty"`    // by how many points it is more for Black than the count
	Why    string  `json:"why,omitempty"`    // the likeliest reason for that; without a comparison why there is none, if that is not plain
}

// Words returns it after "the record says": "B+3.5, as counted", "B+3.5, can be counted so".
func (r *Recorded) Words() string {
	if r == nil {
		return ""
	}
	words := r.Result
	if r.Stones {
		words += ", in stones of two points each"
	}
	switch {
	case r.Fits:
		return words + ", can be counted so"
	case r.Agrees == nil && r.Why != "":
		return words + ", but " + r.Why
	case r.Agrees == nil:
		return words
	case *r.Agrees:
		return words + ", as counted"
	}
	more, player := *r.Off, Black
	if more < 0 {
		more, player = -more, White
	}
	return fmt.Sprintf("%s, %v more for %v: %s", words, more, player, r.Why)
}

// A ReportReason is what stands behind the count.
type ReportReason struct {
	Source string             `json:"source"`
	Lines  []ReportExplained  `json:"lines"`
	Views  []ReportView       `json:"views,omitempty"` // other ways of counting, the ruleset's first
	Read   *ReportTheoremRead `json:"theorem,omitempty"`
}

// A ReportExplained is a line of the count with its rule and the entries
// of the ledger that made it.
type ReportExplained struct {
	ReportLine
	Rule    string        `json:"sentence"`
	Entries []ReportEntry `json:"entries,omitempty"`
}

// A ReportView is a way of counting. What is filled in has a negative n.
type ReportView struct {
	Way    string       `json:"way"`
	Lines  []ReportLine `json:"lines"`
	Black  Points       `json:"black"`
	White  Points       `json:"white"`
	Margin Points       `json:"margin"`
}

// A ReportTheoremRead is a [Reading].
type ReportTheoremRead struct {
	Theorem string `json:"theorem"`
	A       int    `json:"a"`
	W       int    `json:"w"`
	D       Points `json:"d"`
	Counted Points `json:"counted"`
}

// A ReportEntry is a line of the ledger: Player is the holder after it.
type ReportEntry struct {
	Move   int    `json:"move"`
	Player string `json:"player"`
	Thing  Thing  `json:"thing"`
	N      int    `json:"n"`
	Why    string `json:"why"`
}

// A ReportLine is a line of the count.
type ReportLine struct {
	Player string `json:"player"`
	Thing  Thing  `json:"thing"`
	N      int    `json:"n"`
	Each   Points `json:"each"`
	Points Points `json:"points"`
}

// Report returns the report of g.
func (g *Game) Report() Report {
	b := g.Counted()
	r := Report{
		Rules: g.rules.Name, Version: g.rules.Version, Size: [2]int{g.setup.W, g.setup.H}, Komi: g.setup.Komi,
		Moves: g.turns, Phase: &g.phase, Entries: []ReportEntry{}, Board: b.Rows(),
	}
	if g.rules.IsCustom() {
		r.Custom = g.rules.ID()
	}
	if g.phase == Playing {
		r.ToPlay = pointer(side(g.toPlay))
	}
	for _, e := range g.entries {
		r.Entries = append(r.Entries, reportEntry(e))
	}
	if s := g.Score(); s != nil {
		r.Lines = ReportLines(s.Lines)
		r.Black, r.White, r.Margin = &s.Black, &s.White, pointer(s.Margin())
	}
	if g.phase == Over {
		r.Result = &g.result
	}
	return r
}

// Reasons returns what stands behind the count of g, for [Report.Explain]; nil
// under a ruleset without a count.
func (g *Game) Reasons() *ReportReason {
	if g.Score() == nil {
		return nil
	}
	out := &ReportReason{Source: g.rules.Source, Lines: []ReportExplained{}}
	for _, e := range Explain(g) {
		x := ReportExplained{ReportLine: reportLine(e.Line), Rule: e.Rule}
		for _, entry := range e.Entries {
			x.Entries = append(x.Entries, reportEntry(entry))
		}
		out.Lines = append(out.Lines, x)
	}
	for _, v := range g.Views() {
		out.Views = append(out.Views, ReportView{v.Way.String(), ReportLines(v.Lines), v.Black, v.White, v.Margin()})
	}
	if r, err := Read(g); err == nil {
		out.Read = &ReportTheoremRead{r.Theorem, r.A, r.W, r.D, r.Counted}
	}
	return out
}

func reportEntry(e Entry) ReportEntry {
	return ReportEntry{e.Move, side(e.Player), e.Thing, e.N, e.Why}
}

func reportLine(l Line) ReportLine {
	return ReportLine{side(l.Player), l.Thing, l.N, l.Each, l.Points()}
}

// ReportLines returns lines of a count for programs.
func ReportLines(ls []Line) []ReportLine {
	out := make([]ReportLine, len(ls))
	for i, l := range ls {
		out[i] = reportLine(l)
	}
	return out
}

// Uncounted returns the report of a game that cannot be counted under r: why, and
// nulls.
func Uncounted(r *Ruleset, s Setup, why string) Report {
	return Report{Rules: r.Name, Version: r.Version, Size: [2]int{s.W, s.H}, Komi: s.Komi, Error: why}
}

func pointer[T any](v T) *T { return &v }

func side(c Color) string {
	if c == Black {
		return "black"
	}
	return "white"
}
