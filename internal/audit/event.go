// Package audit computes again what an event published: who had to meet whom in each round,
// and the table. It reads the export of an event and nothing else, and shares no code with
// the bot but the arithmetic of packages pairing and standings.
package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/internal/pairing"
)

// Version is the version of the format that Read reads. Fields are added and never renamed;
// programs skip those that they do not know.
const Version = 1

// An Event is the export of an event. Players are numbers from 1, in the order of joining.
// A seq is the number of a line of the event's log, from 1: of two things, the one with the
// lower number was first.
type Event struct {
	Version int      `json:"version"`
	ID      string   `json:"event"`
	Title   string   `json:"title,omitempty"`
	System  System   `json:"system"`
	Options Options  `json:"options"`
	Players []Player `json:"players"`
	Groups  [][]int  `json:"groups,omitempty"` // players, in the order in which they were divided; those of a knock-out in the order of seeding, in one group
	Rounds  []Round  `json:"rounds"`
	Tables  []Table  `json:"tables,omitempty"` // as published; one for each group
}

// A System says who meets whom.
type System string

// The systems.
const (
	Groups     System = "groups"     // everybody in a group plays everybody else, all in one round
	RoundRobin System = "roundrobin" // the same in rounds, in one group
	Swiss      System = "swiss"
	McMahon    System = "mcmahon"
	Knockout   System = "knockout"
)

// Options are the terms of the event that decide about pairing and table.
type Options struct {
	Rulesets  []string   `json:"rulesets"`             // ids; two who meet play under each of them
	Group     int        `json:"group,omitempty"`      // players of a group at most
	Lot       *int64     `json:"lot,string,omitempty"` // the seed if groups are drawn by lot; else they are by rank
	Fold      int        `json:"fold,omitempty"`       // from this round on the first meets the last of those with equal scores
	Bar       string     `json:"bar,omitempty"`        // McMahon: a rank
	Floor     string     `json:"floor,omitempty"`      // McMahon: a rank
	Handicap  *Handicap  `json:"handicap,omitempty"`   // McMahon; without it all games are even
	TieBreaks []TieBreak `json:"tiebreaks,omitempty"`  // default: sos, direct
}

// A Handicap says how many stones Black gets for a difference of scores.
type Handicap struct {
	Most int    `json:"most"`
	Less int    `json:"less"` // so many stones less than points of difference
	Even string `json:"even"` // the rank from which on games are even
}

// A TieBreak orders players with equal scores.
type TieBreak string

// The tie-breaks, see package standings.
const (
	SOS    TieBreak = "sos"
	Direct TieBreak = "direct"
	SODOS  TieBreak = "sodos"
)

// A Player is somebody who joined.
type Player struct {
	ID     string `json:"id"`             // the bot's own id of a person; empty: they are forgotten
	Rank   string `json:"rank,omitempty"` // "12k", "3d": that by which they were paired; empty: none
	Rating int    `json:"rating"`         // orders players with equal scores in a Swiss or McMahon, higher first
	Joined int    `json:"joined"`         // seq
	Left   int    `json:"left,omitempty"` // seq: when they withdrew; 0: they did not
}

// A Round is a round that was paired.
type Round struct {
	Seq     int      `json:"seq"` // of the line that paired it
	Pairs   []Pair   `json:"pairs"`
	Bye     int      `json:"bye,omitempty"`     // the player who had it
	Absent  []int    `json:"absent,omitempty"`  // players who sat out
	Choices []Choice `json:"choices,omitempty"` // what the organiser decided by hand
}

// A Choice says that two players have to meet, or must not. With 0 as one of the two it is about
// the bye of the other.
type Choice struct {
	Players [2]int `json:"players"`
	Meet    bool   `json:"meet"`
}

// A Pair is a table: one game of two players. Two who play under several rulesets have several.
type Pair struct {
	Table    int      `json:"table"` // from 1, in its round
	Ruleset  string   `json:"ruleset,omitempty"`
	Black    int      `json:"black"`
	White    int      `json:"white"`
	Handicap int      `json:"handicap,omitempty"` // stones
	Komi     *Points  `json:"komi,omitempty"`
	Game     string   `json:"game,omitempty"`    // the bot's id of the game
	Weight   *Weight  `json:"weight,omitempty"`  // that the pairing was published with
	Results  []Result `json:"results,omitempty"` // each replaces the one before it: the later ones are corrections
}

// A Weight is what spoke for a pair, see [pairing.Weight].
type Weight struct {
	New    int `json:"new"`
	Score  int `json:"score"`
	Drawn  int `json:"drawn"`
	Seed   int `json:"seed"`
	Colors int `json:"colors"`
}

// A Result is what a table counts in the event.
type Result struct {
	Seq   int    `json:"seq"`
	Black Points `json:"black"` // 1 for a win, 0.5 for a draw
	White Points `json:"white"`
	How   How    `json:"how"`
	Game  string `json:"game,omitempty"` // as the game writes it, "B+3.5"
	By    string `json:"by,omitempty"`   // id of the person who typed it
}

// A How says how a result came about.
type How string

// The ways.
const (
	Played    How = "played"    // the game ended
	Typed     How = "typed"     // the organiser gave it, and it counts as played
	Forfeited How = "forfeited" // decided without play
	Annulled  How = "annulled"  // the table counts for nobody
)

// A Table is a table of standings as it was published.
type Table struct {
	Seq   int   `json:"seq"`             // of the last line of the log that it takes into account
	Group int   `json:"group,omitempty"` // from 1; 0: all players
	Rows  []Row `json:"rows"`
}

// A Row is a line of a table. A number that was not published is left out.
type Row struct {
	Player int     `json:"player"`
	Place  int     `json:"place"`
	Score  Points  `json:"score"`
	SOS    *Points `json:"sos,omitempty"`
	SODOS  *Points `json:"sodos,omitempty"`
	Wins   int     `json:"wins"`
	Draws  int     `json:"draws"`
	Losses int     `json:"losses"`
	Open   int     `json:"open"`
}

// Points are points in quarters, which JSON has as decimals: 6 is 1.5.
type Points int

// unreadable replaces a value that is not a number of points. Check says where it is.
const unreadable Points = 1 << 40

// Half returns half points as Points.
func Half(halves int) Points { return Points(2 * halves) }

// String writes points as JSON has them.
func (p Points) String() string {
	if p == unreadable {
		return "not a number of points"
	}
	sign, n := "", int(p)
	if n < 0 {
		sign, n = "-", -n
	}
	return sign + strconv.Itoa(n/4) + [...]string{"", ".25", ".5", ".75"}[n%4]
}

// MarshalJSON writes a number.
func (p Points) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON reads a number that is a whole number of quarters.
func (p *Points) UnmarshalJSON(data []byte) error {
	digits, negative := strings.CutPrefix(string(data), "-")
	whole, rest, _ := strings.Cut(digits, ".")
	n, err := strconv.ParseUint(whole, 10, 20)
	quarters, known := map[string]int{"": 0, "25": 1, "5": 2, "75": 3}[strings.TrimRight(rest, "0")]
	if *p = Points(4*int(n) + quarters); negative {
		*p = -*p
	}
	if err != nil || !known {
		*p = unreadable
	}
	return nil
}

// Limits of an export, so that a wrong one costs little.
const (
	maxBytes   = 32 << 20
	maxPlayers = 1000
	maxRounds  = 100
)

// Read reads the export of an event. Its error says where the export makes no sense, as a path
// in the JSON: "rounds[1].pairs[3]: …".
func Read(r io.Reader) (*Event, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("it is larger than %d MiB", maxBytes>>20)
	}
	e := &Event{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(e); err != nil {
		line := func(offset int64) int { return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n")) }
		var kind *json.UnmarshalTypeError
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &kind):
			return nil, fmt.Errorf("line %d: %s cannot be a %s", line(kind.Offset), cmp.Or(kind.Field, "an event"), kind.Value)
		case errors.As(err, &syntax):
			return nil, fmt.Errorf("line %d: %w", line(syntax.Offset), err)
		}
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the event")
	}
	return e, e.Check()
}

// Check returns an error if an export makes no sense, as Read does.
func (e *Event) Check() error {
	switch {
	case e.Version != Version:
		return fmt.Errorf("version: %d, and this program reads %d", e.Version, Version)
	case !slices.Contains([]System{Groups, RoundRobin, Swiss, McMahon, Knockout}, e.System):
		return fmt.Errorf("system: there is none named %q", e.System)
	case len(e.Players) > maxPlayers:
		return fmt.Errorf("players: more than %d", maxPlayers)
	case len(e.Rounds) > maxRounds:
		return fmt.Errorf("rounds: more than %d", maxRounds)
	case len(e.Rounds) > 1 && e.System == Groups:
		return errors.New("rounds: groups play in one")
	}
	if err := e.Options.check(e.System); err != nil {
		return fmt.Errorf("options.%w", err)
	}
	for i, p := range e.Players {
		if err := p.check(e.System); err != nil {
			return fmt.Errorf("players[%d].%w", i, err)
		}
	}
	if err := e.checkGroups(); err != nil {
		return err
	}
	seq := 0
	for i, r := range e.Rounds {
		if r.Seq <= seq {
			return fmt.Errorf("rounds[%d].seq: %d does not come after %d", i, r.Seq, seq)
		}
		if err := e.checkRound(r); err != nil {
			return fmt.Errorf("rounds[%d].%w", i, err)
		}
		seq = r.Seq
	}
	for i, t := range e.Tables {
		if err := e.checkTable(t); err != nil {
			return fmt.Errorf("tables[%d].%w", i, err)
		}
	}
	return nil
}

func (o Options) check(system System) error {
	switch {
	case len(o.Rulesets) == 0 || len(o.Rulesets) > 10:
		return fmt.Errorf("rulesets: %d of them", len(o.Rulesets))
	case system == Groups && (o.Group < pairing.MinGroup || o.Group > pairing.MaxGroup):
		return fmt.Errorf("group: %d is not a size from %d to %d", o.Group, pairing.MinGroup, pairing.MaxGroup)
	case o.Fold < 0:
		return fmt.Errorf("fold: %d", o.Fold)
	}
	for i, t := range o.TieBreaks {
		if !slices.Contains([]TieBreak{SOS, Direct, SODOS}, t) || slices.Contains(o.TieBreaks[:i], t) {
			return fmt.Errorf("tiebreaks[%d]: %q", i, t)
		}
	}
	if system != McMahon {
		return nil
	}
	bar, err := grade(o.Bar)
	if err != nil {
		return fmt.Errorf("bar: %w", err)
	}
	floor, err := grade(o.Floor)
	if err != nil {
		return fmt.Errorf("floor: %w", err)
	}
	if floor > bar {
		return fmt.Errorf("floor: %s is above the bar, %s", o.Floor, o.Bar)
	}
	if h := o.Handicap; h != nil {
		if _, err := grade(h.Even); err != nil {
			return fmt.Errorf("handicap.even: %w", err)
		}
		if h.Most < 0 || h.Most > 9 || h.Less < 0 || h.Less > 9 {
			return fmt.Errorf("handicap: most %d, less %d: stones are from 0 to 9", h.Most, h.Less)
		}
	}
	return nil
}

// grade reads a rank: "12k" is -12, "1k" -1, "1d" 0, "9d" 8.
func grade(rank string) (int, error) {
	if digits, ok := strings.CutSuffix(rank, "k"); ok {
		if n, err := strconv.Atoi(digits); err == nil && n >= 1 && n <= 30 {
			return -n, nil
		}
	} else if digits, ok := strings.CutSuffix(rank, "d"); ok {
		if n, err := strconv.Atoi(digits); err == nil && n >= 1 && n <= 9 {
			return n - 1, nil
		}
	}
	return 0, fmt.Errorf("%q is not a rank from 30k to 9d", rank)
}

func (p Player) check(system System) error {
	const most = 1 << 30
	if _, err := grade(p.Rank); err != nil && (p.Rank != "" || system == McMahon) {
		return fmt.Errorf("rank: %w", err)
	}
	switch {
	case p.Rating < -most || p.Rating > most:
		return fmt.Errorf("rating: %d", p.Rating)
	case p.Joined <= 0:
		return fmt.Errorf("joined: %d", p.Joined)
	case p.Left != 0 && p.Left <= p.Joined:
		return fmt.Errorf("left: %d is not after joined, %d", p.Left, p.Joined)
	}
	return nil
}

func (e *Event) player(n int) error {
	if n < 1 || n > len(e.Players) {
		return fmt.Errorf("there is no player %d", n)
	}
	return nil
}

// plays returns an error unless a player is in the event when something happens.
func (e *Event) plays(n, seq int) error {
	if err := e.player(n); err != nil {
		return err
	}
	if p := e.Players[n-1]; p.Joined > seq || p.Left != 0 && p.Left < seq {
		return fmt.Errorf("player %d joined at %d and left at %d, and is not in at %d", n, p.Joined, p.Left, seq)
	}
	return nil
}

func (e *Event) checkGroups() error {
	seen := map[int]bool{}
	for i, group := range e.Groups {
		for j, n := range group {
			if err := e.player(n); err != nil {
				return fmt.Errorf("groups[%d][%d]: %w", i, j, err)
			}
			if seen[n] {
				return fmt.Errorf("groups[%d][%d]: player %d is in two places", i, j, n)
			}
			seen[n] = true
		}
	}
	switch {
	case len(e.Rounds) == 0:
	case e.System == Groups && len(e.Groups) == 0:
		return errors.New("groups: there are none")
	case (e.System == RoundRobin || e.System == Knockout) && len(e.Groups) != 1:
		return fmt.Errorf("groups: %d, and there must be one", len(e.Groups))
	}
	return nil
}

func (e *Event) checkRound(r Round) error {
	opponents := map[int]int{}
	for i, p := range r.Pairs {
		if err := e.checkPair(r, p); err != nil {
			return fmt.Errorf("pairs[%d].%w", i, err)
		}
		if p.Table != i+1 {
			return fmt.Errorf("pairs[%d].table: %d, and it must be %d", i, p.Table, i+1)
		}
		for _, ends := range [][2]int{{p.Black, p.White}, {p.White, p.Black}} {
			if other, known := opponents[ends[0]]; known && other != ends[1] && e.System != Groups {
				return fmt.Errorf("pairs[%d]: player %d meets %d too", i, ends[0], other)
			}
			opponents[ends[0]] = ends[1]
		}
	}
	if r.Bye != 0 {
		if err := e.plays(r.Bye, r.Seq); err != nil {
			return fmt.Errorf("bye: %w", err)
		}
		if other := opponents[r.Bye]; other != 0 {
			return fmt.Errorf("bye: player %d meets %d", r.Bye, other)
		}
	}
	for i, n := range r.Absent {
		if err := e.player(n); err != nil {
			return fmt.Errorf("absent[%d]: %w", i, err)
		}
		if opponents[n] != 0 || n == r.Bye {
			return fmt.Errorf("absent[%d]: player %d plays or has the bye", i, n)
		}
	}
	for i, c := range r.Choices {
		for _, n := range c.Players {
			if err := e.player(n); err != nil && n != 0 {
				return fmt.Errorf("choices[%d]: %w", i, err)
			}
		}
	}
	return nil
}

func (e *Event) checkPair(r Round, p Pair) error {
	if err := e.plays(p.Black, r.Seq); err != nil {
		return fmt.Errorf("black: %w", err)
	}
	if err := e.plays(p.White, r.Seq); err != nil {
		return fmt.Errorf("white: %w", err)
	}
	switch {
	case p.Black == p.White:
		return fmt.Errorf("white: player %d meets themselves", p.Black)
	case p.Handicap < 0 || p.Handicap > 9:
		return fmt.Errorf("handicap: %d stones", p.Handicap)
	case p.Komi != nil && *p.Komi == unreadable:
		return fmt.Errorf("komi: %v", *p.Komi)
	}
	seq := r.Seq
	for i, result := range p.Results {
		switch {
		case result.Seq < seq:
			return fmt.Errorf("results[%d].seq: %d comes before %d", i, result.Seq, seq)
		case !slices.Contains([]How{Played, Typed, Forfeited, Annulled}, result.How):
			return fmt.Errorf("results[%d].how: there is no %q", i, result.How)
		case result.Black%2 != 0 || result.White%2 != 0 || result.Black < 0 || result.White < 0 || result.Black+result.White > Half(2):
			return fmt.Errorf("results[%d]: %v and %v", i, result.Black, result.White)
		}
		seq = result.Seq
	}
	return nil
}

func (e *Event) checkTable(t Table) error {
	if t.Group < 0 || t.Group > len(e.Groups) {
		return fmt.Errorf("group: there is no group %d", t.Group)
	}
	if t.Seq < 0 {
		return fmt.Errorf("seq: %d", t.Seq)
	}
	seen := map[int]bool{}
	for i, r := range t.Rows {
		if err := e.player(r.Player); err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
		if seen[r.Player] {
			return fmt.Errorf("rows[%d]: player %d is there twice", i, r.Player)
		}
		for name, p := range map[string]*Points{"score": &r.Score, "sos": r.SOS, "sodos": r.SODOS} {
			if p != nil && *p == unreadable {
				return fmt.Errorf("rows[%d].%s: %v", i, name, *p)
			}
		}
		seen[r.Player] = true
	}
	return nil
}
