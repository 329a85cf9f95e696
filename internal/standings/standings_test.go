package standings_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/standings"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// parse reads an event, a round a line: "0>1" is a win of 0, "0=1" a draw, "0/1" a loss of
// both, "0:1" an open game, "0x1" a void one; a "!" before it says that it was not played,
// "+2" after it that the first got two stones; "bye 3".
func parse(t *testing.T, players int, rounds string) (e standings.Event) {
	t.Helper()
	e.Players, e.Options.Bye = make([]standings.Player, players), 2
	for line := range strings.Lines(rounds) {
		var r standings.Round
		line, byes, _ := strings.Cut(strings.TrimSpace(line), "bye ")
		for _, bye := range strings.Fields(byes) {
			r.Byes = append(r.Byes, number(t, bye))
		}
		for _, word := range strings.Fields(line) {
			word, handicap, _ := strings.Cut(word, "+")
			game, unplayed := strings.CutPrefix(word, "!")
			at := strings.IndexAny(game, ">=/:x")
			if at < 0 {
				t.Fatalf("what is %q?", word)
			}
			g := standings.Game{Players: [2]int{number(t, game[:at]), number(t, game[at+1:])}, State: standings.Played}
			switch game[at] {
			case '>':
				g.Won = [2]int{2, 0}
			case '=':
				g.Won = [2]int{1, 1}
			case ':':
				g.State = standings.Open
			case 'x':
				g.State = standings.Void
			}
			if unplayed {
				g.State = standings.Decided
			}
			if handicap != "" {
				g.Handicap = number(t, handicap)
			}
			r.Games = append(r.Games, g)
		}
		e.Rounds = append(e.Rounds, r)
	}
	return e
}

func number(t *testing.T, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// show writes a table, a row a line: place, player, score, wins-draws-losses, SOS, SODOS and
// the direct comparisons. Half points and quarter points stay what they are.
func show(rows []standings.Row) string {
	var lines []string
	for _, r := range rows {
		line := fmt.Sprintf("%d. #%d %d %d-%d-%d %d %d", r.Place, r.Player, r.Score.Total, r.Wins, r.Draws, r.Losses, r.SOS.Total, r.SODOS.Total)
		for _, d := range r.Direct {
			line += fmt.Sprintf(" =%d", d.Total)
		}
		if r.Open > 0 {
			line += fmt.Sprintf(" open %d", r.Open)
		}
		if r.Annulled {
			line += " annulled"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestTable(t *testing.T) {
	for name, c := range map[string]struct {
		players int
		rounds  string
		change  func(e *standings.Event)
		want    string
	}{
		"nobody": {0, "", nil, ""},
		"not begun, so everybody is first": {2, "0:1", nil, `
			1. #0 0 0-0-0 0 0 open 1
			1. #1 0 0-0-0 0 0 open 1`},
		"the opponents of 1 won more": {4, "0>3 1>2\n 0>1 2>3\n 1>3 0>2", nil, `
			1. #0 6 3-0-0 6 12
			2. #1 4 2-0-1 8 4
			3. #2 2 1-0-2 10 0
			4. #3 0 0-0-3 12 0`},
		"a circle cannot be broken": {3, "0>1 1>2 2>0", nil, `
			1. #0 2 1-0-1 4 4 =2
			1. #1 2 1-0-1 4 4 =2
			1. #2 2 1-0-1 4 4 =2`},
		"four who are tied, then those again who still are": {5, "0>1 0>2 1>2 1>3 3>0 2>3 2>4 3>4", func(e *standings.Event) {
			e.Options.TieBreaks = []standings.TieBreak{standings.Direct}
		}, `
			1. #0 4 2-0-1 12 16 =4 =2
			2. #1 4 2-0-1 12 16 =4 =0
			3. #2 4 2-0-2 12 8 =2 =2
			4. #3 4 2-0-2 12 8 =2 =0
			5. #4 0 0-0-2 8 0`},
		"without a game between them they stay equal": {4, "0>2 1>3", nil, `
			1. #0 2 1-0-0 0 0
			1. #1 2 1-0-0 0 0
			3. #2 0 0-0-1 2 0
			3. #3 0 0-0-1 2 0`},
		"they stay equal if not all of them have met": {6, "0>1 2>3 1>4 3>5", func(e *standings.Event) {
			e.Options.TieBreaks = []standings.TieBreak{standings.Direct}
		}, `
			1. #0 2 1-0-0 2 4
			1. #1 2 1-0-1 2 0
			1. #2 2 1-0-0 2 4
			1. #3 2 1-0-1 2 0
			5. #4 0 0-0-1 2 0
			5. #5 0 0-0-1 2 0`},
		"an open game between them says nothing yet": {3, "0>2 1>2 0:1", nil, `
			1. #0 2 1-0-0 2 0 open 1
			1. #1 2 1-0-0 2 0 open 1
			3. #2 0 0-0-2 4 0`},
		"a draw adds half of a score to SODOS": {3, "0=1 1>2 0=2", nil, `
			1. #1 3 1-1-0 3 4
			2. #0 2 0-2-0 4 4
			3. #2 1 0-1-1 5 2`},
		"lost by default, by one or by both": {4, "!0>1 !2/3", nil, `
			1. #0 2 1-0-0 0 0
			2. #1 0 0-0-1 2 0
			3. #2 0 0-0-1 0 0 =0
			3. #3 0 0-0-1 0 0 =0`},
		"a bye is a win over nobody, an absence nothing": {4, "0>1 bye 2", nil, `
			1. #0 2 1-0-0 0 0
			1. #2 2 0-0-0 0 0
			3. #1 0 0-0-1 2 0
			4. #3 0 0-0-0 0 0`},
		"who left early is out, and so are their games": {4, "0>1 0>2 !3>0 1>2 !1>3 2x3", func(e *standings.Event) {
			e.Options.Group, e.Players[3].Withdrawn = true, true
		}, `
			1. #0 4 2-0-0 2 4
			2. #1 2 1-0-1 4 0
			3. #2 0 0-0-2 6 0
			4. #3 0 0-0-0 0 0 annulled`},
		"half of them is enough": {3, "1>0 0>2 !1>2", func(e *standings.Event) {
			e.Options.Group, e.Players[1].Withdrawn = true, true
		}, `
			1. #1 4 2-0-0 2 4
			2. #0 2 1-0-1 4 0
			3. #2 0 0-0-2 6 0`},
		"who left late is not": {4, "0>1 0>2 3>0 1>2 !1>3 3>2", func(e *standings.Event) {
			e.Options.Group, e.Players[3].Withdrawn = true, true
		}, `
			1. #0 4 2-0-1 8 8 =2
			1. #1 4 2-0-1 8 8 =2
			1. #3 4 2-0-1 8 8 =2
			4. #2 0 0-0-3 12 0`},
		"McMahon: absence, bye and a void game add the own start": {5, "0>1 bye 2\n 0x2 1>3+2", func(e *standings.Event) {
			for p, start := range []int{60, 60, 50, 40, 40} {
				e.Players[p].Start = start
			}
			e.Options.Absent, e.Options.Handicap = 1, true
		}, `
			1. #0 62 1-0-0 122 124
			2. #1 62 1-0-1 99 74
			3. #2 52 0-0-0 100 0
			4. #4 42 0-0-0 80 0
			5. #3 41 0-0-1 106 0`},
		"McMahon: a game that began again has one opponent": {2, "0x1 0>1", func(e *standings.Event) {
			e.Players[0].Start, e.Players[1].Start = 60, 50
		}, `
			1. #0 62 1-0-0 50 100
			2. #1 50 0-0-1 62 0`},
	} {
		t.Run(name, func(t *testing.T) {
			e := parse(t, c.players, strings.TrimSpace(c.rounds))
			if c.change != nil {
				c.change(&e)
			}
			want := strings.ReplaceAll(strings.TrimSpace(c.want), "\t", "")
			if got := show(e.Table()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A number says where it comes from.
func TestArithmetic(t *testing.T) {
	e := parse(t, 4, "0>1 bye 2\n 2>0+3 bye 3")
	e.Options.Handicap = true
	for p := range e.Players {
		e.Players[p].Start = 20
	}
	row := e.Table(0)[0]
	none := standings.None
	for name, c := range map[string]struct{ got, want standings.Sum }{
		"score": {row.Score, standings.Sum{Total: 22, Terms: []standings.Term{
			{From: standings.Start, Round: none, Game: none, Opponent: none, Value: 20},
			{From: standings.FromGame, Round: 0, Opponent: 1, Value: 2},
			{From: standings.FromGame, Round: 1, Opponent: 2, Value: 0},
		}}},
		"SOS": {row.SOS, standings.Sum{Total: 20 + 24 + 6, Terms: []standings.Term{
			{From: standings.FromGame, Round: 0, Opponent: 1, Score: 20, Value: 20},
			{From: standings.FromGame, Round: 1, Opponent: 2, Score: 24, Handicap: -3, Value: 30},
		}}},
		"SODOS": {row.SODOS, standings.Sum{Total: 40, Terms: []standings.Term{
			{From: standings.FromGame, Round: 0, Opponent: 1, Score: 20, Value: 40},
		}}},
	} {
		if c.got.Total != c.want.Total || !slices.Equal(c.got.Terms, c.want.Terms) {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// random plays an event with some of everything.
func random(r *rand.Rand) (e standings.Event) {
	e.Options = standings.Options{Bye: 2, Absent: r.IntN(2), Group: r.IntN(2) == 0, Handicap: r.IntN(2) == 0}
	switch r.IntN(3) {
	case 0:
		e.Options.TieBreaks = []standings.TieBreak{standings.Direct, standings.SODOS}
	case 1:
		e.Options.TieBreaks = []standings.TieBreak{}
	}
	e.Players = make([]standings.Player, r.IntN(9))
	for p := range e.Players {
		e.Players[p] = standings.Player{Start: r.IntN(3), Withdrawn: r.IntN(5) == 0}
	}
	for range r.IntN(6) {
		var round standings.Round
		order := r.Perm(len(e.Players))
		for len(order) > 1 && r.IntN(6) > 0 {
			round.Games = append(round.Games, standings.Game{Players: [2]int{order[0], order[1]},
				Won: [][2]int{{2, 0}, {1, 1}, {0, 2}, {0, 0}}[r.IntN(4)], State: standings.State(r.IntN(4)), Handicap: r.IntN(3) - 1})
			order = order[2:]
		}
		if len(order) > 0 && r.IntN(2) == 0 {
			round.Byes = order[:1]
		}
		e.Rounds = append(e.Rounds, round)
	}
	return e
}

// renumber gives the players other numbers, and every game its sides and rounds their games
// in another order.
func renumber(r *rand.Rand, e standings.Event) (standings.Event, []int) {
	to := r.Perm(len(e.Players))
	out := standings.Event{Options: e.Options, Players: make([]standings.Player, len(e.Players))}
	for p, player := range e.Players {
		out.Players[to[p]] = player
	}
	for _, round := range e.Rounds {
		var other standings.Round
		for _, g := range round.Games {
			g.Players = [2]int{to[g.Players[0]], to[g.Players[1]]}
			if r.IntN(2) == 0 {
				g.Players[0], g.Players[1], g.Won[0], g.Won[1], g.Handicap = g.Players[1], g.Players[0], g.Won[1], g.Won[0], -g.Handicap
			}
			other.Games = append(other.Games, g)
		}
		r.Shuffle(len(other.Games), func(i, j int) { other.Games[i], other.Games[j] = other.Games[j], other.Games[i] })
		for _, p := range round.Byes {
			other.Byes = append(other.Byes, to[p])
		}
		out.Rounds = append(out.Rounds, other)
	}
	return out, to
}

func TestTableLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 1))
	compared, annulled := 0, 0
	for range tier.Pick(2_000, 20_000, 500_000) {
		e := random(r)
		rows := e.Table()
		numbers := map[int]standings.Row{}
		scores, won, games := 0, 0, 0
		for i, row := range rows {
			numbers[row.Player] = row
			for name, sum := range map[string]standings.Sum{"score": row.Score, "SOS": row.SOS, "SODOS": row.SODOS} {
				total := 0
				for _, term := range sum.Terms {
					total += term.Value
				}
				if total != sum.Total {
					t.Fatalf("%s of %d is %d, its terms sum up to %d: %+v", name, row.Player, sum.Total, total, e)
				}
			}
			scores += row.Score.Total
			games += row.Wins + row.Draws + row.Losses
			compared += len(row.Direct)
			if row.Annulled {
				annulled++
			}
			before := standings.Row{Place: 1}
			if i > 0 {
				before = rows[i-1]
			}
			if row.Place != before.Place && row.Place != i+1 || i > 0 && row.Annulled == before.Annulled && row.Score.Total > before.Score.Total {
				t.Fatalf("line %d is wrong after %+v: %+v", i, before, row)
			}
		}
		count := 0
		for _, p := range e.Players {
			won += p.Start
		}
		for _, round := range e.Rounds {
			there := len(round.Byes)
			won += len(round.Byes) * e.Options.Bye
			for _, g := range round.Games {
				there += 2
				if (g.State == standings.Played || g.State == standings.Decided) && !numbers[g.Players[0]].Annulled && !numbers[g.Players[1]].Annulled {
					won += g.Won[0] + g.Won[1]
					count += 2
				}
			}
			won += (len(e.Players) - there) * e.Options.Absent
		}
		if scores != won || games != count {
			t.Fatalf("scores sum up to %d of %d games, and %d was won in %d: %+v", scores, games, won, count, e)
		}
		// Numbers and the order of games change nothing.
		other, to := renumber(r, e)
		for _, row := range other.Table() {
			at := slices.Index(to, row.Player)
			before := numbers[at]
			before.Player = row.Player
			if got, want := show([]standings.Row{row}), show([]standings.Row{before}); got != want {
				t.Fatalf("%d was %s, and as %d is %s: %+v", at, want, row.Player, got, e)
			}
		}
	}
	if compared == 0 || annulled == 0 {
		t.Errorf("%d direct comparisons, %d annulled: this tests less than it says", compared, annulled)
	}
}
