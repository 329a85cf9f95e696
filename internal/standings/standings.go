// Package standings computes the table of an event from its games, and says where each
// number comes from.
//
// All scores are in half points: a win is 2, a draw is 1. Players are numbers, their places
// in the list of players.
//
// Unplayed games count as in the EGF's Tournament System Rules ("The Effect of Unplayed
// Games") and in OpenGotha. A round without an opponent (a bye, an absence, a game that is
// void and did not begin again) adds to the SOS of a player the score that this player
// started with, which is 0 except under McMahon. A game that somebody lost by default has an
// opponent, and counts like any other. So does the opponent of a game that is still open, in
// the SOS alone. A player who withdraws is absent from then on: they keep their score, and so
// do the sums of others that contain it.
//
// In a group in which everybody plays everybody, this would be unfair: some would have met
// the player who left, others would have got a win for nothing. There the rule of FIDE's
// tournament rules for round robins applies, see [Options.Group].
package standings

import (
	"cmp"
	"slices"
)

// An Event is what a table is computed from.
type Event struct {
	Players []Player
	Rounds  []Round // a league, whose games are all open at once, has one
	Options Options
}

// A Player is somebody who takes part.
type Player struct {
	Start     int // half points at the beginning: under McMahon twice the initial score, else 0
	Withdrawn bool
}

// A Round is a number of games. A player with neither a game nor a bye in it was absent.
type Round struct {
	Games []Game
	Byes  []int
}

// A Game is a game of two players.
type Game struct {
	Players  [2]int
	Won      [2]int // half points of each. (2, 0), (1, 1), and also (0, 0): both lose
	State    State
	Handicap int // stones that the first player got, or the second if it is below 0
}

// A State says whether a game counts.
type State int

// The states of a game.
const (
	Open State = iota // not yet decided
	Played
	Decided // without having been played: one player, or both, lost by default
	Void    // counts for nothing
)

// Options say how to count.
type Options struct {
	Bye    int // half points for a bye, usually 2
	Absent int // half points for an absence: OpenGotha has 1 under McMahon, else 0

	// Group says that everybody plays everybody. If a player withdraws before having played
	// half of their games, these count for nobody. If they leave later, all count, those that
	// they cannot play as losses if the organiser enters these. These are FIDE's rules.
	Group bool

	// Handicap says that the handicap of a game lowers what the opponent's score adds to the
	// SOS of the player who got the stones, and raises it for the other. OpenGotha has this
	// under McMahon, where players with different scores meet with a handicap.
	Handicap bool

	TieBreaks []TieBreak // nil: SOS, then Direct
}

// A TieBreak compares players with equal scores.
type TieBreak int

// The tie-breaks.
const (
	SOS    TieBreak = iota // sum of the scores of the opponents
	Direct                 // the games that the tied played against each other
	SODOS                  // sum of the scores of the opponents whom the player defeated
)

// A Row is the line of a player in a table.
type Row struct {
	Player              int
	Place               int // from 1. Players whom nothing separates share one
	Score               Sum
	SOS                 Sum
	SODOS               Sum   // in quarter points: a draw adds half of the opponent's score
	Direct              []Sum // each time that the player was compared with fewer who were tied
	Wins, Draws, Losses int   // byes are not games
	Byes                int
	Open                int  // games that are not decided yet
	Annulled            bool // the player's games count for nobody, see [Options.Group]
}

// A Sum is a number of a table with its arithmetic. It is in half points unless said
// otherwise.
type Sum struct {
	Total int
	Terms []Term // in the order of the rounds
}

// A Term is a number that a sum adds.
type Term struct {
	From     From
	Round    int // from 0; None for Start
	Game     int // its place in the round; None if this is about no game
	Opponent int // None if there is none
	Score    int // of SOS and SODOS: the opponent's score, before handicap and draw
	Handicap int // of SOS and SODOS: stones that the player got, where this counts
	Value    int // what is added
}

// None is the number of a round, game or player that is not there.
const None = -1

// A From says why something is added.
type From int

// What adds to a sum.
const (
	Start      From = iota // the score that the player started with
	FromGame               // a game
	FromBye                // a bye
	FromAbsent             // a round that the player missed
	FromVoid               // a game that does not count
)

func (s *Sum) add(t Term) {
	s.Total += t.Value
	s.Terms = append(s.Terms, t)
}

// A counted is a game that counts, as one of its players sees it.
type counted struct {
	round, game, opponent, won, handicap int
	open                                 bool
}

// Table returns the rows of some players, the first place first, or of all if none are given.
// Those who share a place are in the order of their numbers. The table of a group has its
// players.
func (e Event) Table(players ...int) []Row {
	if len(players) == 0 {
		for p := range e.Players {
			players = append(players, p)
		}
	}
	rows, games := e.rows()
	for p := range rows {
		e.sums(rows, games[p], p)
	}
	table := make([]Row, len(players))
	for i, p := range players {
		table[i] = rows[p]
	}
	slices.SortFunc(table, func(a, b Row) int { return a.Player - b.Player })
	breaks := e.Options.TieBreaks
	if breaks == nil {
		breaks = []TieBreak{SOS, Direct}
	}
	// Those who are out of the running come last; they compare with nobody.
	out := func(r Row) int {
		if r.Annulled {
			return 1
		}
		return 0
	}
	place := 1
	for _, some := range split(table, func(a, b Row) int { return out(a) - out(b) }) {
		for _, tied := range split(some, func(a, b Row) int { return b.Score.Total - a.Score.Total }) {
			place = rank(tied, breaks, games, place)
		}
	}
	return table
}

// split sorts rows, without changing the order of equal ones, and returns the runs of equal
// ones, which share the memory of the rows.
func split(rows []Row, compare func(a, b Row) int) (runs [][]Row) {
	slices.SortStableFunc(rows, compare)
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && compare(rows[from], rows[to]) == 0 {
			to++
		}
		runs = append(runs, rows[from:to])
		from = to
	}
	return runs
}

// rank gives places to players who are tied so far, from place on, and returns the next one.
func rank(tied []Row, breaks []TieBreak, games [][]counted, place int) int {
	if len(tied) == 1 || len(breaks) == 0 {
		for i := range tied {
			tied[i].Place = place
		}
		return place + len(tied)
	}
	var compare func(a, b Row) int
	rest := breaks[1:]
	switch breaks[0] {
	case SOS:
		compare = func(a, b Row) int { return b.SOS.Total - a.SOS.Total }
	case SODOS:
		compare = func(a, b Row) int { return b.SODOS.Total - a.SODOS.Total }
	case Direct:
		if !direct(tied, games) {
			return rank(tied, rest, games, place)
		}
		compare = func(a, b Row) int { return b.Direct[len(b.Direct)-1].Total - a.Direct[len(a.Direct)-1].Total }
	}
	runs := split(tied, compare)
	for _, run := range runs {
		next := rest
		if breaks[0] == Direct && len(runs) > 1 { // those who are still tied may have an order among them
			next = breaks
		}
		place = rank(run, next, games, place)
	}
	return place
}

// direct adds up what the tied won against each other, if all have met and all these games
// are decided. It reports whether that is so.
func direct(tied []Row, games [][]counted) bool {
	sums := make([]Sum, len(tied))
	for i, row := range tied {
		met := map[int]bool{}
		for _, g := range games[row.Player] {
			if !g.open && slices.ContainsFunc(tied, func(r Row) bool { return r.Player == g.opponent }) {
				met[g.opponent] = true
				sums[i].add(Term{From: FromGame, Round: g.round, Game: g.game, Opponent: g.opponent, Value: g.won})
			}
		}
		if len(met) < len(tied)-1 {
			return false
		}
	}
	for i := range tied {
		tied[i].Direct = append(tied[i].Direct, sums[i])
	}
	return true
}

// rows returns the row of each player, with all that does not depend on the scores of
// others, and the games of each player that count.
func (e Event) rows() ([]Row, [][]counted) {
	rows, games := make([]Row, len(e.Players)), make([][]counted, len(e.Players))
	annulled := e.annulled()
	for p, player := range e.Players {
		rows[p] = Row{Player: p, Annulled: annulled[p]}
		if player.Start != 0 {
			rows[p].Score.add(Term{From: Start, Round: None, Game: None, Opponent: None, Value: player.Start})
		}
	}
	for r, round := range e.Rounds {
		there := make([]bool, len(e.Players))
		for n, g := range round.Games {
			for side, p := range g.Players {
				there[p] = true
				opponent := g.Players[1-side]
				if g.State == Void || annulled[p] || annulled[opponent] {
					rows[p].Score.add(Term{From: FromVoid, Round: r, Game: n, Opponent: opponent})
					continue
				}
				rows[p].count(g, side, Term{From: FromGame, Round: r, Game: n, Opponent: opponent, Value: g.Won[side]})
				games[p] = append(games[p], counted{r, n, opponent, g.Won[side], g.Handicap * (1 - 2*side), g.State == Open})
			}
		}
		for _, p := range round.Byes {
			there[p] = true
			rows[p].Byes++
			rows[p].Score.add(Term{From: FromBye, Round: r, Game: None, Opponent: None, Value: e.Options.Bye})
		}
		for p := range rows {
			if !there[p] {
				rows[p].Score.add(Term{From: FromAbsent, Round: r, Game: None, Opponent: None, Value: e.Options.Absent})
			}
		}
	}
	return rows, games
}

// count adds a game of a side to the row of the player who has it.
func (r *Row) count(g Game, side int, t Term) {
	switch won, lost := g.Won[side], g.Won[1-side]; {
	case g.State == Open:
		r.Open++
		return
	case won > lost:
		r.Wins++
	case won == lost && won > 0:
		r.Draws++
	default:
		r.Losses++
	}
	r.Score.add(t)
}

// annulled reports for each player whether they withdrew from a group before having played
// half of their games.
func (e Event) annulled() []bool {
	games, played := make([]int, len(e.Players)), make([]int, len(e.Players))
	for _, round := range e.Rounds {
		for _, g := range round.Games {
			for _, p := range g.Players {
				games[p]++
				if g.State == Played {
					played[p]++
				}
			}
		}
	}
	out := make([]bool, len(e.Players))
	for p, player := range e.Players {
		out[p] = e.Options.Group && player.Withdrawn && 2*played[p] < games[p]
	}
	return out
}

// sums adds up the scores of a player's opponents.
func (e Event) sums(rows []Row, games []counted, p int) {
	row := &rows[p]
	for _, g := range games {
		t := Term{From: FromGame, Round: g.round, Game: g.game, Opponent: g.opponent, Score: rows[g.opponent].Score.Total}
		if e.Options.Handicap {
			t.Handicap = g.handicap
		}
		t.Value = t.Score - 2*t.Handicap
		row.SOS.add(t)
		if !g.open && g.won > 0 {
			t.Value *= min(g.won, 2) // in quarter points
			row.SODOS.add(t)
		}
	}
	alone := None // the last round without an opponent
	for _, t := range row.Score.Terms {
		if t.From == Start || t.From == FromGame || t.Round == alone || slices.ContainsFunc(games, func(g counted) bool { return g.round == t.Round }) {
			continue
		}
		alone = t.Round
		t.Value = e.Players[p].Start
		row.SOS.add(t)
	}
	slices.SortStableFunc(row.SOS.Terms, func(a, b Term) int { return cmp.Compare(a.Round, b.Round) })
}
