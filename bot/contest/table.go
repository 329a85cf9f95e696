package contest

import (
	"slices"

	"github.com/halfpoint-go/halfpoint/internal/standings"
)

// grouped reports whether the players are in groups.
func (c *Contest) grouped() bool { return len(c.Drawn) > 1 }

// InGroups returns the numbers of the players of each group, in the order in which they were
// drawn, those who have left too. Without groups all are in one.
func (c *Contest) InGroups() [][]int {
	if c.Drawn == nil {
		return [][]int{nil}
	}
	return c.Drawn
}

// Standings returns the event as package standings counts it: its players are those here, but
// from 0. With a book it counts only the tables under this ruleset; below 0 it counts all.
func (c *Contest) Standings(book int) standings.Event {
	e := standings.Event{Options: standings.Options{Bye: 2 * len(c.Rules), Group: c.System == Groups}}
	if book >= 0 {
		e.Options.Bye = 2
	}
	for _, name := range c.Ties {
		e.Options.TieBreaks = append(e.Options.TieBreaks, TieBreaks[name])
	}
	for _, p := range c.Players {
		player := standings.Player{Withdrawn: !p.In()}
		if c.System == McMahon && len(c.Rounds) > 0 {
			player.Start = 2 * c.mcMahon().Start(p.Seeded)
		}
		e.Players = append(e.Players, player)
	}
	if c.System == McMahon {
		e.Options.Absent, e.Options.Handicap = 1, true
	}
	for _, r := range c.Rounds {
		round := standings.Round{}
		for _, t := range r.Tables {
			if book >= 0 && t.Book != book {
				continue
			}
			g := standings.Game{Players: [2]int{t.Black - 1, t.White - 1}, Handicap: t.Handicap}
			if t.Result != nil {
				g.Won = [2]int{t.Result.Black, t.Result.White}
				g.State = map[How]standings.State{Played: standings.Played, Typed: standings.Played, Forfeited: standings.Decided, Annulled: standings.Void}[t.Result.How]
			}
			round.Games = append(round.Games, g)
		}
		if r.Bye > 0 {
			round.Byes = []int{r.Bye - 1}
		}
		e.Rounds = append(e.Rounds, round)
	}
	return e
}

// Standing returns the table of some players, the first place first; Row.Player is their number
// here.
func (c *Contest) Standing(players []int) []standings.Row {
	from0 := make([]int, len(players))
	for i, n := range players {
		from0[i] = n - 1
	}
	rows := c.Standings(-1).Table(from0...)
	for i := range rows {
		rows[i].Player++
	}
	if c.System == Knockout && len(c.Rounds) > 0 { // winners of a round come before its losers
		places := map[int]int{}
		for _, s := range c.Bracket().Standings() {
			places[s.Player] = s.Place
		}
		for i, row := range rows {
			rows[i].Place = places[row.Player]
		}
		slices.SortStableFunc(rows, func(a, b standings.Row) int { return a.Place - b.Place })
	}
	return rows
}

// First returns the numbers of those who share the first place among some players.
func (c *Contest) First(players []int) (first []int) {
	for _, row := range c.Standing(players) {
		if row.Place == 1 {
			first = append(first, row.Player)
		}
	}
	return first
}
