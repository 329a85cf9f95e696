package rules

// A Report is what a game shows to programs. Its JSON keys are stable; amounts
// are JSON numbers in points.
type Report struct {
	Rules   string        `json:"rules"`
	Version int           `json:"version"`
	Size    [2]int        `json:"size"` // columns, rows
	Komi    Points        `json:"komi"`
	Moves   int           `json:"moves"` // turns so far
	Phase   *Phase        `json:"phase"`
	ToPlay  *string       `json:"toPlay"` // "black" or "white" while playing
	Entries []ReportEntry `json:"entries,omitzero"`
	Lines   []ReportLine  `json:"lines"` // the count; if play stopped now, until the game is over
	Black   *Points       `json:"black"`
	White   *Points       `json:"white"`
	Margin  *Points       `json:"margin"` // black less white, komi included
	Result  *string       `json:"result"`
	Board   []string      `json:"board"` // the board counted, the top row first: X black, O white
	Assumed string        `json:"assumed,omitempty"`
	Error   string        `json:"error,omitempty"`
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

// Report gives the report of g.
func (g *Game) Report() Report {
	b := g.Counted()
	r := Report{
		Rules: g.rules.Name, Version: g.rules.Version, Size: [2]int{g.setup.W, g.setup.H}, Komi: g.setup.Komi,
		Moves: g.turns, Phase: &g.phase, Entries: []ReportEntry{}, Board: b.Rows(),
	}
	if g.phase == Playing {
		r.ToPlay = pointer(side(g.toPlay))
	}
	for _, e := range g.entries {
		r.Entries = append(r.Entries, ReportEntry{e.Move, side(e.Player), e.Thing, e.N, e.Why})
	}
	if s := g.Score(); s != nil {
		r.Lines = []ReportLine{}
		for _, l := range s.Lines {
			r.Lines = append(r.Lines, ReportLine{side(l.Player), l.Thing, l.N, l.Each, l.Points()})
		}
		r.Black, r.White, r.Margin = &s.Black, &s.White, pointer(s.Margin())
	}
	if g.phase == Over {
		r.Result = &g.result
	}
	return r
}

// Uncounted gives the report of a game that cannot be counted under r: why, and
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
