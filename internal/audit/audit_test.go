package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/audit"
	"github.com/halfpoint-go/halfpoint/internal/pairing"
	"github.com/halfpoint-go/halfpoint/internal/standings"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// An organiser directs an event and writes its export. What it knows grows line by line, as
// the bot's does.
type organiser struct {
	r      *rand.Rand
	e      *audit.Event
	seq    int
	known  pairing.Tournament // each round has a game for two who meet
	counts standings.Event    // each round has a game for each table
}

func (o *organiser) line() int {
	o.seq++
	return o.seq
}

func rank(grade int) string {
	if grade < 0 {
		return fmt.Sprint(-grade, "k")
	}
	return fmt.Sprint(grade+1, "d")
}

func begin(r *rand.Rand, system audit.System, players, rulesets int) *organiser {
	o := &organiser{r: r, e: &audit.Event{Version: audit.Version, ID: "e-1", System: system}, seq: 1}
	o.known.Points, o.known.Sizes = rulesets, pairing.Standard
	o.counts.Options = standings.Options{Bye: 2 * rulesets, Group: system == audit.Groups || system == audit.RoundRobin}
	for i := range rulesets {
		o.e.Options.Rulesets = append(o.e.Options.Rulesets, fmt.Sprint("rules-", i))
	}
	if system == audit.McMahon {
		o.known.McMahon = &pairing.McMahon{Bar: 3, Floor: -20, Handicaps: pairing.StandardHandicaps}
		o.e.Options.Bar, o.e.Options.Floor, o.e.Options.Handicap = "4d", "20k", &audit.Handicap{Most: 9, Less: 1, Even: "1d"}
		o.counts.Options.Absent, o.counts.Options.Handicap = 1, true
	}
	if r.IntN(2) == 0 {
		o.e.Options.Fold, o.known.Sizes.Fold = 3, 3
		o.e.Options.TieBreaks, o.counts.Options.TieBreaks = []audit.TieBreak{audit.SODOS}, []standings.TieBreak{standings.SODOS}
	}
	for p := range players {
		player := pairing.Player{Rating: r.IntN(30), Grade: r.IntN(20) - 12}
		o.known.Players = append(o.known.Players, player)
		start := 0
		if m := o.known.McMahon; m != nil {
			start = 2 * m.Start(player.Grade)
		}
		o.counts.Players = append(o.counts.Players, standings.Player{Start: start})
		o.e.Players = append(o.e.Players, audit.Player{ID: fmt.Sprint("p", p), Rank: rank(player.Grade), Rating: player.Rating, Joined: o.line()})
	}
	return o
}

// seat adds the tables of two who meet to the last round.
func (o *organiser) seat(pair pairing.Pair, weight bool) {
	round := &o.e.Rounds[len(o.e.Rounds)-1]
	for _, ruleset := range o.e.Options.Rulesets {
		p := audit.Pair{Table: len(round.Pairs) + 1, Ruleset: ruleset, Black: pair.Black + 1, White: pair.White + 1, Handicap: pair.Handicap}
		if weight {
			w := audit.Weight(pair.Weight)
			p.Weight = &w
		}
		round.Pairs = append(round.Pairs, p)
		counts := &o.counts.Rounds[len(o.counts.Rounds)-1]
		counts.Games = append(counts.Games, standings.Game{Players: [2]int{pair.Black, pair.White}, Handicap: pair.Handicap})
	}
	known := &o.known.Rounds[len(o.known.Rounds)-1]
	known.Games = append(known.Games, pairing.Game{Black: pair.Black, White: pair.White, Handicap: pair.Handicap})
}

func (o *organiser) round(bye int) {
	o.e.Rounds = append(o.e.Rounds, audit.Round{Seq: o.line(), Bye: bye + 1})
	o.known.Rounds = append(o.known.Rounds, pairing.Round{Bye: bye})
	counts := standings.Round{}
	if bye != pairing.NoBye {
		counts.Byes = []int{bye}
	}
	o.counts.Rounds = append(o.counts.Rounds, counts)
}

// result enters the result of a table, or corrects it.
func (o *organiser) result(round, table int, won [2]int, how audit.How) {
	g := &o.counts.Rounds[round].Games[table]
	met := &o.known.Rounds[round].Games[table/len(o.e.Options.Rulesets)]
	for side := range won {
		if g.State == standings.Played || g.State == standings.Decided {
			met.Won[side] -= g.Won[side]
		}
		if how != audit.Annulled {
			met.Won[side] += won[side]
		}
	}
	g.Won, g.State = won, map[audit.How]standings.State{audit.Played: standings.Played, audit.Typed: standings.Played, audit.Forfeited: standings.Decided, audit.Annulled: standings.Void}[how]
	p := &o.e.Rounds[round].Pairs[table]
	p.Results = append(p.Results, audit.Result{Seq: o.line(), Black: audit.Half(won[0]), White: audit.Half(won[1]), How: how})
}

// results enters some that are missing, and corrects some.
func (o *organiser) results(all bool, drawn bool) {
	wins := [][2]int{{2, 0}, {0, 2}, {0, 0}}
	if drawn {
		wins = append(wins, [2]int{1, 1})
	}
	for i, r := range o.e.Rounds {
		for j, p := range r.Pairs {
			if len(p.Results) == 0 && (all || o.r.IntN(4) > 0) || drawn && len(p.Results) > 0 && o.r.IntN(10) == 0 {
				how := []audit.How{audit.Played, audit.Played, audit.Typed, audit.Forfeited, audit.Annulled}[o.r.IntN(5)]
				if how == audit.Annulled && !drawn {
					how = audit.Typed
				}
				o.result(i, j, wins[o.r.IntN(len(wins))], how)
			}
		}
	}
}

func (o *organiser) leave(p int) {
	if o.e.Players[p].Left == 0 {
		o.e.Players[p].Left = o.line()
		o.counts.Players[p].Withdrawn = true
	}
}

// pair pairs a round of a Swiss or McMahon.
func (o *organiser) pair(t *testing.T) {
	var playing []int
	for p, player := range o.e.Players {
		if player.Left == 0 && o.r.IntN(8) > 0 {
			playing = append(playing, p)
		}
	}
	var choices []pairing.Choice
	var written []audit.Choice
	for len(playing) > 2 && o.r.IntN(3) == 0 {
		at := o.r.Perm(len(playing))
		c := pairing.Choice{Players: [2]int{playing[at[0]], playing[at[1]]}, Meet: o.r.IntN(3) == 0}
		if o.r.IntN(4) == 0 && len(playing)%2 == 1 {
			c.Players[1] = pairing.NoBye
		}
		choices = append(choices, c)
		written = append(written, audit.Choice{Players: [2]int{c.Players[0] + 1, c.Players[1] + 1}, Meet: c.Meet})
	}
	got, err := o.known.Next(playing).Pair(choices...)
	if err != nil {
		choices, written = nil, nil
		if got, err = o.known.Next(playing).Pair(); err != nil {
			t.Fatal(err)
		}
	}
	o.round(got.Bye)
	round := &o.e.Rounds[len(o.e.Rounds)-1]
	round.Choices = written
	for p, player := range o.e.Players {
		if player.Left == 0 && !slices.Contains(playing, p) {
			round.Absent = append(round.Absent, p+1)
		}
	}
	for _, pair := range got.Pairs {
		o.seat(pair, o.r.IntN(2) == 0)
	}
}

// publish publishes the table of some players, or of all.
func (o *organiser) publish(group int, players []int, place map[int]int) {
	table := audit.Table{Seq: o.seq, Group: group}
	for _, row := range o.counts.Table(players...) {
		sos, sodos := audit.Half(row.SOS.Total), audit.Points(row.SODOS.Total)
		out := audit.Row{Player: row.Player + 1, Place: row.Place, Score: audit.Half(row.Score.Total), SOS: &sos, SODOS: &sodos,
			Wins: row.Wins, Draws: row.Draws, Losses: row.Losses, Open: row.Open}
		if place != nil {
			out.Place = place[row.Player+1]
		}
		table.Rows = append(table.Rows, out)
	}
	slices.SortStableFunc(table.Rows, func(a, b audit.Row) int { return a.Place - b.Place })
	o.e.Tables = append(o.e.Tables, table)
}

func direct(t *testing.T, r *rand.Rand, system audit.System, players int) *audit.Event {
	o := begin(r, system, players, 1+r.IntN(2))
	switch system {
	case audit.Swiss, audit.McMahon:
		for round := range 1 + r.IntN(4) {
			o.pair(t)
			o.results(round%2 == 0, true)
			o.publish(0, nil, nil) // with the results so far
			if r.IntN(3) == 0 {
				o.leave(r.IntN(players))
			}
		}
		o.results(true, true)
	case audit.Groups, audit.RoundRobin:
		o.groups()
	case audit.Knockout:
		o.e.Options.Rulesets = o.e.Options.Rulesets[:1]
		o.knockout(t)
	}
	return o.e
}

// groups directs a league, or a round robin in rounds.
func (o *organiser) groups() {
	players := make([]int, len(o.e.Players))
	for i := range players {
		players[i] = i + 1
	}
	o.e.Options.Group = 5
	if o.e.System == audit.RoundRobin {
		o.e.Groups = [][]int{players}
	} else {
		if o.r.IntN(2) == 0 {
			lot := o.r.Int64()
			o.e.Options.Lot = &lot
			players = pairing.Lot(players, uint64(lot))
		} else {
			for p := range players {
				if o.r.IntN(4) == 0 {
					o.known.Players[p].Grade, o.e.Players[p].Rank = -100, ""
				}
			}
			slices.SortStableFunc(players, func(p, q int) int { return o.known.Players[q-1].Grade - o.known.Players[p-1].Grade })
		}
		o.e.Groups = pairing.Groups(players, 5)
		o.round(pairing.NoBye)
	}
	for _, group := range o.e.Groups {
		for _, r := range pairing.RoundRobin(group) {
			if o.e.System == audit.RoundRobin {
				o.round(pairing.NoBye)
			}
			for _, g := range r.Games {
				if o.e.Players[g.Black-1].Left == 0 && o.e.Players[g.White-1].Left == 0 {
					o.seat(pairing.Pair{Black: g.Black - 1, White: g.White - 1}, false)
				}
			}
			if o.r.IntN(3) == 0 {
				o.results(false, true)
				if o.e.System == audit.RoundRobin {
					o.leave(o.r.IntN(len(players)))
				}
			}
		}
	}
	for range 2 {
		for i, group := range o.e.Groups {
			var members []int
			for _, p := range group {
				members = append(members, p-1)
			}
			o.publish(i+1, members, nil)
		}
		o.leave(o.r.IntN(len(players)))
		o.results(false, true)
	}
}

func (o *organiser) knockout(t *testing.T) {
	seeds := make([]int, len(o.e.Players))
	for i := range seeds {
		seeds[i] = i + 1
	}
	seeds = pairing.Lot(seeds, o.r.Uint64())
	o.e.Groups = [][]int{seeds}
	b := pairing.Knockout(seeds)
	for round := b.Next(); round < len(b.Rounds); round = b.Next() {
		o.round(pairing.NoBye)
		for _, m := range b.Rounds[round] {
			if m.Players[0] > 0 && m.Players[1] > 0 {
				o.seat(pairing.Pair{Black: m.Players[m.Black] - 1, White: m.Players[1-m.Black] - 1}, false)
			}
		}
		at := len(o.e.Rounds) - 1
		o.results(true, false)
		for _, p := range o.e.Rounds[at].Pairs {
			won := [2]int{int(p.Results[0].Black) / 2, int(p.Results[0].White) / 2}
			for i, m := range b.Rounds[round] {
				if m.Players == [2]int{p.White, p.Black} {
					won[0], won[1] = won[1], won[0]
				}
				if slices.Contains(m.Players[:], p.Black) {
					if err := b.Decide(round, i, won); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	if len(o.e.Rounds) > 1 { // a correction of what others have been paired after
		won := o.counts.Rounds[0].Games[0].Won
		o.result(0, 0, [2]int{won[1], won[0]}, audit.Typed)
	}
	places := map[int]int{}
	for _, s := range b.Standings() {
		places[s.Player] = s.Place
	}
	o.publish(0, nil, places)
}

func everything(r audit.Report) (all []string) {
	for _, round := range r.Rounds {
		for _, f := range round.Findings {
			all = append(all, fmt.Sprintf("round %d: %s", round.Round, f))
		}
	}
	for _, table := range r.Tables {
		for _, f := range table.Findings {
			all = append(all, fmt.Sprintf("table %d: %s", table.Group, f))
		}
	}
	return all
}

// However an event goes, with late results, corrections, withdrawals and choices: its audit
// finds nothing, also after it was written and read; and each part that somebody changes later
// is found out.
func TestRunLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 5))
	found, changed := 0, 0
	for range tier.Pick(150, 1_000, 50_000) {
		system := []audit.System{audit.Swiss, audit.McMahon, audit.Groups, audit.RoundRobin, audit.Knockout}[r.IntN(5)]
		e := direct(t, r, system, 2+r.IntN(12))
		data, err := json.MarshalIndent(e, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		again, err := audit.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if back, err := json.MarshalIndent(again, "", "\t"); err != nil || !bytes.Equal(back, data) {
			t.Fatalf("written again it is\n%s\n%v, and was\n%s", back, err, data)
		}
		if got := audit.Run(again); !got.Correct || got.Err() != nil {
			t.Fatalf("%s\n%s", strings.Join(everything(got), "\n"), data)
		}
		if len(again.Rounds) == 0 || len(again.Rounds[0].Pairs) == 0 {
			continue
		}
		// Two players of the first round change places.
		pairs := again.Rounds[0].Pairs
		p, q := &pairs[r.IntN(len(pairs))], &pairs[r.IntN(len(pairs))]
		swapped := len(again.Options.Rulesets) == 1 && p != q
		if p.Black, q.Black = q.Black, p.Black; swapped && again.Check() == nil {
			changed++
			if got := audit.Run(again); !got.Correct {
				found++
			}
		}
	}
	// A pairing that weighs the same as ours is no difference.
	if changed == 0 || found < changed*9/10 {
		t.Errorf("of %d changes %d were found", changed, found)
	}
}

// example is a Swiss of five players and two rounds.
func example(t *testing.T) *audit.Event {
	t.Helper()
	o := begin(rand.New(rand.NewPCG(5, 5)), audit.Swiss, 5, 1)
	o.e.Options.Fold, o.known.Sizes.Fold, o.e.Options.TieBreaks, o.counts.Options.TieBreaks = 0, 0, nil, nil
	for p := range o.known.Players {
		o.known.Players[p].Rating, o.e.Players[p].Rating = 100-p, 100-p
	}
	for range 2 {
		got, err := o.known.Next([]int{0, 1, 2, 3, 4}).Pair()
		if err != nil {
			t.Fatal(err)
		}
		o.round(got.Bye)
		for i, pair := range got.Pairs {
			o.seat(pair, true)
			o.result(len(o.e.Rounds)-1, i, [2]int{0, 2}, audit.Played)
		}
	}
	o.publish(0, nil, nil)
	return o.e
}

// What an audit says.
func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(e *audit.Event)
		want   string
	}{
		"all is well": {func(e *audit.Event) {}, ""},
		"another opponent": {func(e *audit.Event) {
			e.Rounds[0].Pairs[0].Black, e.Rounds[0].Pairs[1].Black = 4, 3
			e.Rounds[0].Pairs[0].Weight, e.Rounds[0].Pairs[1].Weight = nil, nil
			e.Rounds, e.Tables = e.Rounds[:1], nil
		}, "round 1: a heavier pairing was possible, by 1600000: 1–3 2–4 instead of 1–4 2–3"},
		"another bye": {func(e *audit.Event) {
			e.Rounds[0].Bye, e.Rounds[0].Pairs[1].Black, e.Rounds[0].Pairs[1].Weight = 4, 5, nil
			e.Rounds[0].Pairs[0].Weight = nil
			e.Rounds, e.Tables = e.Rounds[:1], nil
		}, "round 1: the bye went to player 4; it was the turn of player 5"},
		"another color": {func(e *audit.Event) {
			p := &e.Rounds[1].Pairs[0]
			p.Black, p.White, p.Results = p.White, p.Black, nil
			e.Tables = nil
		}, "round 2: table 1: player 5 has Black; it should be player 1"},
		"a handicap": {func(e *audit.Event) { e.Rounds[1].Pairs[0].Handicap = 2 }, "round 2: table 1: 2 handicap stones; it should be 0"},
		"another weight": {func(e *audit.Event) { e.Rounds[1].Pairs[0].Weight.Seed-- },
			"round 2: table 1: weight.seed is 4444444; it should be 4444445"},
		"a choice that was not kept": {func(e *audit.Event) {
			e.Rounds[0].Choices = []audit.Choice{{Players: [2]int{1, 2}, Meet: true}, {Players: [2]int{5, 0}}}
		}, "round 1: players 1 and 2 were to meet, and do not\nround 1: player 5 and the bye were not to meet, and do\n" +
			"round 1: the bye went to player 5; it was the turn of player 4\nround 1: it cannot be paired as the organiser chose: the same two are to meet and not to meet"},
		"a table too many": {func(e *audit.Event) {
			p := e.Rounds[1].Pairs[0]
			p.Table, p.Results = 3, nil
			e.Rounds[1].Pairs = append(e.Rounds[1].Pairs, p)
			e.Tables = nil
		}, "round 2: players 1 and 5 have 2 tables; it should be 1"},
		"a result": {func(e *audit.Event) {
			e.Rounds[1].Pairs[0].Results[0].White, e.Rounds[1].Pairs[0].Results[0].Black = audit.Half(1), audit.Half(1)
			e.Tables[0].Rows = e.Tables[0].Rows[:2]
		}, `table 0: player 5: place is 1, and should be 2
table 0: player 5: score is 2, and should be 1.5
table 0: player 5: SOS is 1, and should be 1.5
table 0: player 5: SODOS is 1, and should be 0.75
table 0: player 5: wins, draws, losses and open games are [1 0 0 0], and should be [0 1 0 0]
table 0: player 1: place is 2, and should be 1
table 0: player 1: score is 1, and should be 1.5
table 0: player 1: SOS is 3, and should be 2.5
table 0: player 1: SODOS is 1, and should be 1.75
table 0: player 1: wins, draws, losses and open games are [1 0 1 0], and should be [1 1 0 0]
table 0: player 2 is missing
table 0: player 3 is missing
table 0: player 4 is missing`},
		"the table in another order": {func(e *audit.Event) { slices.Reverse(e.Tables[0].Rows[:2]) }, "table 0: player 5 is below a worse place"},
	} {
		t.Run(name, func(t *testing.T) {
			e := example(t)
			c.change(e)
			if err := e.Check(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(everything(audit.Run(e)), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// What an audit says of a league, a round robin and a knock-out.
func TestRunGroups(t *testing.T) {
	for name, c := range map[string]struct {
		system audit.System
		change func(e *audit.Event)
		want   string
	}{
		"another group": {audit.Groups, func(e *audit.Event) {
			e.Groups[0][0], e.Groups[1][0], e.Rounds[0].Pairs, e.Tables = e.Groups[1][0], e.Groups[0][0], nil, nil
		}, "round 1: group 1 should be, by "},
		"a missing pair": {audit.Groups, func(e *audit.Event) {
			e.Rounds[0].Pairs, e.Tables = e.Rounds[0].Pairs[:len(e.Rounds[0].Pairs)-len(e.Options.Rulesets)], nil
		}, " should meet"},
		"a missing table": {audit.Groups, func(e *audit.Event) {
			e.Options.Rulesets, e.Tables = append(e.Options.Rulesets, "another"), nil
		}, "tables; it should be"},
		"other rounds": {audit.RoundRobin, func(e *audit.Event) {
			e.Rounds[0].Pairs, e.Tables = nil, nil
		}, " should meet"},
		"a pair of another round": {audit.RoundRobin, func(e *audit.Event) {
			e.Rounds[1].Pairs, e.Tables = e.Rounds[0].Pairs, nil
			for i := range e.Rounds[1].Pairs {
				e.Rounds[0].Pairs[i].Results = nil
			}
		}, " meet, and should not"},
		"other seeds": {audit.Knockout, func(e *audit.Event) { e.Groups[0][0], e.Groups[0][1] = e.Groups[0][1], e.Groups[0][0] }, " should meet"},
		"a later loser": {audit.Knockout, func(e *audit.Event) {
			e.Rounds[0].Pairs[0].Results[0].Black, e.Rounds[0].Pairs[0].Results[0].White = e.Rounds[0].Pairs[0].Results[0].White, e.Rounds[0].Pairs[0].Results[0].Black
		}, "round 2: players "},
		"a round after the final": {audit.Knockout, func(e *audit.Event) {
			last := e.Rounds[len(e.Rounds)-1]
			last.Seq, last.Pairs = 1000, slices.Clone(last.Pairs)
			last.Pairs[0].Results = nil
			e.Rounds = append(e.Rounds, last)
		}, " meet, and should not"},
	} {
		t.Run(name, func(t *testing.T) {
			e := direct(t, rand.New(rand.NewPCG(8, 3)), c.system, 8)
			if got := everything(audit.Run(e)); len(got) > 0 {
				t.Fatal(got)
			}
			c.change(e)
			if got := strings.Join(everything(audit.Run(e)), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// An export that was changed by hand is refused, with the place in it.
func TestRead(t *testing.T) {
	data, err := json.MarshalIndent(example(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`{`, `[`, "line 2: invalid character ':' after array element"},
		{`"version": 1`, `"version": 2`, "version: 2, and this program reads 1"},
		{`"version": 1`, `"version": "1"`, "line 2: version cannot be a string"},
		{`"swiss"`, `"suisse"`, `system: there is none named "suisse"`},
		{`"swiss"`, `"groups"`, "rounds: groups play in one"},
		{`"swiss"`, `"knockout"`, "groups: 0, and there must be one"},
		{`"swiss"`, `"mcmahon"`, `options.bar: "" is not a rank from 30k to 9d`},
		{`"rules-0"`, ``, "options.rulesets: 0 of them"},
		{`"joined": 2`, `"joined": 0`, "players[0].joined: 0"},
		{`"joined": 2`, `"joined": 2, "left": 1`, "players[0].left: 1 is not after joined, 2"},
		{`"joined": 2`, `"joined": 2, "left": 3`, "rounds[0].pairs[0].white: player 1 joined at 2 and left at 3, and is not in at 7"},
		{`"seq": 7`, `"seq": 70`, "rounds[0].pairs[0].results[0].seq: 8 comes before 70"},
		{`"seq": 10`, `"seq": 7`, "rounds[1].seq: 7 does not come after 7"},
		{`"black": 3`, `"black": 9`, "rounds[0].pairs[0].black: there is no player 9"},
		{`"black": 3`, `"black": 1`, "rounds[0].pairs[0].white: player 1 meets themselves"},
		{`"black": 3`, `"black": 2`, "rounds[0].pairs[1]: player 2 meets 1 too"},
		{`"bye": 5`, `"bye": 1`, "rounds[0].bye: player 1 meets 3"},
		{`"bye": 5`, `"bye": 5, "absent": [1]`, "rounds[0].absent[0]: player 1 plays or has the bye"},
		{`"bye": 5`, `"bye": 5, "choices": [{"players": [1, -1]}]`, "rounds[0].choices[0]: there is no player -1"},
		{`"table": 2`, `"table": 3`, "rounds[0].pairs[1].table: 3, and it must be 2"},
		{`"how": "played"`, `"how": "won"`, `rounds[0].pairs[0].results[0].how: there is no "won"`},
		{`"white": 1,
       "how"`, `"white": 2,
       "how"`, "rounds[0].pairs[0].results[0]: 0 and 2"},
		{`"white": 1,
       "how"`, `"white": 0.25,
       "how"`, "rounds[0].pairs[0].results[0]: 0 and 0.25"},
		{`"white": 1,
       "how"`, `"white": "½",
       "how"`, "rounds[0].pairs[0].results[0]: 0 and not a number of points"},
		{`"place": 1`, `"place": 1.5`, "line 146: tables.rows.place cannot be a number 1.5"},
		{`"sos": `, `"sos": 1e`, "tables[0].rows[0].sos: not a number of points"},
		{`"player": 5`, `"player": 1`, "tables[0].rows[1]: player 1 is there twice"},
		{`"score": 2`, `"score": 2.1`, "tables[0].rows[0].score: not a number of points"},
	} {
		if !strings.Contains(string(data), c.from) {
			t.Errorf("%s is not in the example:\n%s", c.from, data)
			continue
		}
		if _, err := audit.Read(strings.NewReader(strings.Replace(string(data), c.from, c.to, 1))); err == nil || err.Error() != c.want {
			t.Errorf("%s becomes %s: %v, want %s", c.from, c.to, err, c.want)
		}
	}
	if _, err := audit.Read(strings.NewReader(string(data) + "{}")); err == nil || err.Error() != "something follows the event" {
		t.Errorf("two events: %v", err)
	}
	if _, err := audit.Read(strings.NewReader(strings.Repeat(" ", 33<<20))); err == nil || err.Error() != "it is larger than 32 MiB" {
		t.Errorf("a large file: %v", err)
	}
}

// Whatever numbers an export has: it is refused, or audited.
func TestReadLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 6))
	number := regexp.MustCompile(`-?\b[0-9.]+\b`)
	refused, audited := 0, 0
	for range tier.Pick(20, 200, 2_000) {
		data, err := json.Marshal(direct(t, r, []audit.System{audit.Swiss, audit.McMahon, audit.Groups, audit.RoundRobin, audit.Knockout}[r.IntN(5)], 2+r.IntN(6)))
		if err != nil {
			t.Fatal(err)
		}
		places := number.FindAllIndex(data, -1)
		for range 20 {
			at := places[r.IntN(len(places))]
			changed := slices.Concat(data[:at[0]], []byte(strconv.Itoa(r.IntN(12)-2)), data[at[1]:])
			e, err := audit.Read(bytes.NewReader(changed))
			if err != nil {
				refused++
				continue
			}
			audited++
			audit.Run(e)
		}
	}
	if refused == 0 || audited == 0 {
		t.Errorf("%d refused, %d audited", refused, audited)
	}
}

// 200 players in 12 rounds.
func BenchmarkRun200(b *testing.B) {
	o := begin(rand.New(rand.NewPCG(200, 1)), audit.Swiss, 200, 1)
	all := make([]int, 200)
	for p := range all {
		all[p] = p
	}
	for i := range 12 {
		got, err := o.known.Next(all).Pair()
		if err != nil {
			b.Fatal(err)
		}
		o.round(got.Bye)
		for j, pair := range got.Pairs {
			o.seat(pair, true)
			o.result(i, j, [][2]int{{2, 0}, {0, 2}}[o.r.IntN(2)], audit.Played)
		}
	}
	o.publish(0, nil, nil)
	for b.Loop() {
		if r := audit.Run(o.e); !r.Correct {
			b.Fatal(everything(r))
		}
	}
}
