package audit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/internal/pairing"
	"github.com/halfpoint-go/halfpoint/internal/standings"
)

// A Report says what an audit has found.
type Report struct {
	Event   string        `json:"event"`
	Rounds  []RoundReport `json:"rounds"`
	Tables  []TableReport `json:"tables"`
	Correct bool          `json:"correct"` // nothing differs
}

// A RoundReport says whether a round was paired as it should have been.
type RoundReport struct {
	Round   int `json:"round"` // from 1
	Pairs   int `json:"pairs"` // of players, under however many rulesets they play
	Choices int `json:"choices,omitempty"`
	// Weight is what the pairs weigh together, of a Swiss or a McMahon, and Most what the
	// heaviest pairing weighs that keeps to the choices, which is proved.
	Weight   int      `json:"weight,omitempty"`
	Most     int      `json:"most,omitempty"`
	Findings []string `json:"findings,omitempty"` // what differs; none: all is as it should be
}

// A TableReport says whether a table has the right numbers.
type TableReport struct {
	Group    int      `json:"group,omitempty"`
	Rows     int      `json:"rows"`
	Findings []string `json:"findings,omitempty"`
}

func (r *RoundReport) find(format string, args ...any) {
	r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
}

func (r *TableReport) find(format string, args ...any) {
	r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
}

// Run audits an event that Read has read, or that passes Check.
func Run(e *Event) Report {
	out := Report{Event: e.ID, Correct: true, Rounds: []RoundReport{}, Tables: []TableReport{}}
	for i, round := range e.Rounds {
		r := RoundReport{Round: i + 1, Pairs: len(meetings(round)), Choices: len(round.Choices)}
		switch e.System {
		case Groups:
			e.auditGroups(&r)
			e.auditMeetings(round, e.expected(-1), &r)
		case RoundRobin:
			e.auditMeetings(round, e.expected(i), &r)
		case Knockout:
			e.auditMeetings(round, e.matches(i), &r)
		case Swiss, McMahon:
			e.auditPairing(i, &r)
		}
		out.Rounds = append(out.Rounds, r)
		out.Correct = out.Correct && len(r.Findings) == 0
	}
	for _, t := range e.Tables {
		r := e.auditTable(t)
		out.Tables = append(out.Tables, r)
		out.Correct = out.Correct && len(r.Findings) == 0
	}
	return out
}

// before returns the last result of a table among those that came before a line of the log;
// nil if there is none.
func (p Pair) before(seq int) (last *Result) {
	for i := range p.Results {
		if p.Results[i].Seq < seq {
			last = &p.Results[i]
		}
	}
	return last
}

// won returns the half points that a player of a table has by a result.
func (p Pair) won(r *Result, player int) int {
	if player == p.Black {
		return int(r.Black) / 2
	}
	return int(r.White) / 2
}

// A meeting is two players and their tables in a round.
type meeting struct {
	players [2]int // the lower number first
	tables  []Pair
}

// annulled reports whether a table counts for nobody in the end.
func (p Pair) annulled() bool {
	return len(p.Results) > 0 && p.Results[len(p.Results)-1].How == Annulled
}

// counting returns how many of the tables count.
func (m meeting) counting() (n int) {
	for _, p := range m.tables {
		if !p.annulled() {
			n++
		}
	}
	return n
}

// meetings returns the pairs of players in a round, in the order of tables.
func meetings(r Round) (all []meeting) {
	at := map[[2]int]int{}
	for _, p := range r.Pairs {
		ends := [2]int{min(p.Black, p.White), max(p.Black, p.White)}
		i, known := at[ends]
		if !known {
			i, at[ends] = len(all), len(all)
			all = append(all, meeting{players: ends})
		}
		all[i].tables = append(all[i].tables, p)
	}
	return all
}

// tournament returns a Swiss or McMahon as it was when a round was paired.
func (e *Event) tournament(round int) pairing.Tournament {
	t := pairing.Tournament{Sizes: pairing.Standard, Points: len(e.Options.Rulesets), McMahon: e.mcmahon()}
	t.Sizes.Fold = e.Options.Fold
	for _, p := range e.Players {
		level, _ := grade(p.Rank)
		t.Players = append(t.Players, pairing.Player{Rating: p.Rating, Grade: level})
	}
	seq := e.Rounds[round].Seq
	for _, r := range e.Rounds[:round] {
		played := pairing.Round{Bye: r.Bye - 1} // 0 becomes NoBye
		for _, m := range meetings(r) {
			g := pairing.Game{Black: m.tables[0].Black - 1, White: m.tables[0].White - 1, Handicap: m.tables[0].Handicap}
			for _, table := range m.tables {
				if result := table.before(seq); result != nil && result.How != Annulled {
					g.Won[0] += table.won(result, g.Black+1)
					g.Won[1] += table.won(result, g.White+1)
				}
			}
			played.Games = append(played.Games, g)
		}
		t.Rounds = append(t.Rounds, played)
	}
	return t
}

func (e *Event) mcmahon() *pairing.McMahon {
	if e.System != McMahon {
		return nil
	}
	m := &pairing.McMahon{}
	m.Bar, _ = grade(e.Options.Bar)
	m.Floor, _ = grade(e.Options.Floor)
	if h := e.Options.Handicap; h != nil {
		m.Handicaps = pairing.Handicaps{Most: h.Most, Less: h.Less}
		m.Handicaps.Even, _ = grade(h.Even)
	}
	return m
}

// auditPairing audits a round of a Swiss or McMahon.
func (e *Event) auditPairing(round int, r *RoundReport) {
	published := e.Rounds[round]
	met := meetings(published)
	playing := published.playing()
	d := e.tournament(round).Next(playing)
	choices := published.choices(playing, met, r)
	want, err := d.Pair(choices...)
	if err == nil && want.Bye != published.Bye-1 && published.Bye != 0 {
		r.find("the bye went to player %d; it was the turn of player %d", published.Bye, want.Bye+1)
		want, err = d.Pair(append(choices, pairing.Choice{Players: [2]int{published.Bye - 1, pairing.NoBye}, Meet: true})...)
	}
	if err != nil {
		r.find("it cannot be paired as the organiser chose: %v", cmp.Or(errors.Unwrap(err), err)) // without numbers from 0
		return
	}
	for _, m := range met {
		should := d.Seats(m.players[0]-1, m.players[1]-1)
		r.Weight += should.Weight.Total()
		e.auditSeats(m, should, r)
	}
	for _, pair := range want.Pairs {
		r.Most += pair.Weight.Total()
	}
	if r.Weight < r.Most {
		mine, theirs := differing(want, met)
		r.find("a heavier pairing was possible, by %d: %s instead of %s", r.Most-r.Weight, mine, theirs)
	}
}

// playing returns the players who play in a round or have the bye, from 0.
func (r Round) playing() (players []int) {
	for _, m := range meetings(r) {
		players = append(players, m.players[0]-1, m.players[1]-1)
	}
	if r.Bye != 0 {
		players = append(players, r.Bye-1)
	}
	slices.Sort(players)
	return players
}

// choices returns the organiser's choices that are about players of the round, from 0, and
// reports those that the round does not keep to.
func (r Round) choices(playing []int, met []meeting, report *RoundReport) (choices []pairing.Choice) {
	for _, c := range r.Choices {
		p, q := min(c.Players[0], c.Players[1]), max(c.Players[0], c.Players[1])
		meet := p == 0 && q == r.Bye || slices.ContainsFunc(met, func(m meeting) bool { return m.players == [2]int{p, q} })
		switch {
		case c.Meet && !meet:
			report.find("%s were to meet, and do not", names(p, q))
		case !c.Meet && meet:
			report.find("%s were not to meet, and do", names(p, q))
		}
		if (p == 0 || slices.Contains(playing, p-1)) && slices.Contains(playing, q-1) {
			choices = append(choices, pairing.Choice{Players: [2]int{p - 1, q - 1}, Meet: c.Meet}) // 0 becomes NoBye
		}
	}
	return choices
}

// auditSeats compares the tables of two players with what they should be.
func (e *Event) auditSeats(m meeting, should pairing.Pair, r *RoundReport) {
	for _, p := range m.tables {
		if p.annulled() {
			continue
		}
		if p.Black-1 != should.Black {
			r.find("table %d: player %d has Black; it should be player %d", p.Table, p.Black, should.Black+1)
		}
		if p.Handicap != should.Handicap {
			r.find("table %d: %d handicap stones; it should be %d", p.Table, p.Handicap, should.Handicap)
		}
		if p.Weight != nil {
			p.Weight.audit(p.Table, should.Weight, r)
		}
	}
	if n, all := m.counting(), len(e.Options.Rulesets); n > all || len(m.tables) < all {
		r.find("players %d and %d have %d tables; it should be %d", m.players[0], m.players[1], n, all)
	}
}

// audit compares the published weight of a table with what it should be.
func (w Weight) audit(table int, should pairing.Weight, r *RoundReport) {
	for _, part := range []struct {
		name   string
		is, be int
	}{{"new", w.New, should.New}, {"score", w.Score, should.Score}, {"drawn", w.Drawn, should.Drawn}, {"seed", w.Seed, should.Seed}, {"colors", w.Colors, should.Colors}} {
		if part.is != part.be {
			r.find("table %d: weight.%s is %d; it should be %d", table, part.name, part.is, part.be)
		}
	}
}

// differing lists the pairs of two pairings that are not in both.
func differing(want pairing.Pairing, met []meeting) (mine, theirs string) {
	var only [2][]string
	published := map[[2]int]bool{}
	for _, m := range met {
		published[m.players] = true
	}
	for _, p := range want.Pairs {
		ends := [2]int{min(p.Black, p.White) + 1, max(p.Black, p.White) + 1}
		if !published[ends] {
			only[0] = append(only[0], fmt.Sprintf("%d–%d", ends[0], ends[1]))
		}
		delete(published, ends)
	}
	for _, m := range met {
		if published[m.players] {
			only[1] = append(only[1], fmt.Sprintf("%d–%d", m.players[0], m.players[1]))
		}
	}
	return strings.Join(only[0], " "), strings.Join(only[1], " ")
}

// names writes two players, the lower number first, which is 0 for the bye.
func names(p, q int) string {
	if p == 0 {
		return fmt.Sprintf("player %d and the bye", q)
	}
	return fmt.Sprintf("players %d and %d", p, q)
}

// auditGroups audits how players were divided.
func (e *Event) auditGroups(r *RoundReport) {
	players := slices.Concat(e.Groups...)
	slices.Sort(players)
	by := "rank"
	if e.Options.Lot != nil {
		by, players = "lot", pairing.Lot(players, uint64(*e.Options.Lot))
	} else {
		rank := func(n int) int {
			if level, err := grade(e.Players[n-1].Rank); err == nil {
				return level
			}
			return -100 // the last
		}
		slices.SortStableFunc(players, func(p, q int) int { return rank(q) - rank(p) })
	}
	for i, group := range pairing.Groups(players, e.Options.Group) {
		if i >= len(e.Groups) || !slices.Equal(group, e.Groups[i]) {
			r.find("group %d should be, by %s, %v", i+1, by, group)
			return
		}
	}
}

// expected returns the pairs of a round of a round robin, or with -1 those of all rounds.
func (e *Event) expected(round int) (all []pairing.Pair) {
	for _, group := range e.Groups {
		for i, r := range pairing.RoundRobin(group) {
			for _, g := range r.Games {
				if round < 0 || round == i {
					all = append(all, pairing.Pair{Black: g.Black - 1, White: g.White - 1})
				}
			}
		}
	}
	return all
}

// matches returns the pairs of a round of a knock-out.
func (e *Event) matches(round int) (all []pairing.Pair) {
	b := e.bracket(round, e.Rounds[round].Seq)
	now := b.Next()
	if now == len(b.Rounds) {
		return nil
	}
	for _, m := range b.Rounds[now] {
		if m.Players[0] >= 0 && m.Players[1] >= 0 {
			all = append(all, pairing.Pair{Black: m.Players[m.Black] - 1, White: m.Players[1-m.Black] - 1})
		}
	}
	return all
}

// bracket returns a knock-out with the results of the rounds before one that came before a
// line of the log.
func (e *Event) bracket(rounds, seq int) *pairing.Bracket {
	b := pairing.Knockout(e.Groups[0])
	for i, r := range e.Rounds[:rounds] {
		now := b.Next() // there can be fewer rounds, if both players of a match lose
		if now == len(b.Rounds) {
			return b
		}
		until := seq
		if i+1 < len(e.Rounds) { // a later correction pairs no round again
			until = min(until, e.Rounds[i+1].Seq)
		}
		for _, p := range r.Pairs {
			if result := p.before(until); result != nil && result.How != Annulled {
				p.decide(b, now, result)
			}
		}
	}
	return b
}

// decide enters a result into a round of a knock-out. A draw decides nothing; the next round
// shows it.
func (p Pair) decide(b *pairing.Bracket, round int, result *Result) {
	for i, m := range b.Rounds[round] {
		if m.Players == [2]int{p.White, p.Black} || m.Players == [2]int{p.Black, p.White} {
			_ = b.Decide(round, i, [2]int{p.won(result, m.Players[0]), p.won(result, m.Players[1])})
		}
	}
}

// auditMeetings compares the pairs of a round with those that it should have.
func (e *Event) auditMeetings(published Round, expected []pairing.Pair, r *RoundReport) {
	met := map[[2]int]meeting{}
	for _, m := range meetings(published) {
		met[m.players] = m
	}
	for _, pair := range expected {
		ends := [2]int{min(pair.Black, pair.White) + 1, max(pair.Black, pair.White) + 1}
		if m, known := met[ends]; known {
			e.auditSeats(m, pair, r)
		} else if e.in(ends[0], published.Seq) && e.in(ends[1], published.Seq) {
			r.find("players %d and %d should meet", ends[0], ends[1])
		}
		delete(met, ends)
	}
	for _, m := range meetings(published) {
		if _, left := met[m.players]; left {
			r.find("players %d and %d meet, and should not", m.players[0], m.players[1])
		}
	}
}

// in reports whether a player has joined and not left.
func (e *Event) in(n, seq int) bool { return e.plays(n, seq) == nil }

// end comes after every line of a log.
const end = 1 << 60

// played returns the players, from 0, who had a game or a bye up to a line of the log. Some are
// there more than once.
func (e *Event) played(seq int) (players []int) {
	for _, r := range e.Rounds {
		if r.Seq <= seq {
			players = append(players, r.playing()...)
		}
	}
	return players
}

// Standings returns an event as package standings counts it, after a line of its log.
func (e *Event) Standings(seq int) standings.Event {
	out := standings.Event{Options: standings.Options{Bye: 2 * len(e.Options.Rulesets), Group: e.System == Groups || e.System == RoundRobin, Handicap: e.System == McMahon}}
	for _, t := range e.Options.TieBreaks {
		out.Options.TieBreaks = append(out.Options.TieBreaks, map[TieBreak]standings.TieBreak{SOS: standings.SOS, Direct: standings.Direct, SODOS: standings.SODOS}[t])
	}
	m := e.mcmahon()
	if m != nil {
		out.Options.Absent = 1
	}
	for _, p := range e.Players {
		player := standings.Player{Withdrawn: p.Left != 0 && p.Left <= seq}
		if m != nil {
			level, _ := grade(p.Rank)
			player.Start = 2 * m.Start(level)
		}
		out.Players = append(out.Players, player)
	}
	for _, r := range e.Rounds {
		if r.Seq <= seq {
			out.Rounds = append(out.Rounds, r.standings(seq))
		}
	}
	return out
}

// standings returns a round as package standings counts it, after a line of the log.
func (r Round) standings(seq int) (out standings.Round) {
	for _, p := range r.Pairs {
		g := standings.Game{Players: [2]int{p.Black - 1, p.White - 1}, Handicap: p.Handicap}
		if result := p.before(seq + 1); result != nil {
			g.Won = [2]int{p.won(result, p.Black), p.won(result, p.White)}
			g.State = map[How]standings.State{Played: standings.Played, Typed: standings.Played, Forfeited: standings.Decided, Annulled: standings.Void}[result.How]
		}
		out.Games = append(out.Games, g)
	}
	if r.Bye != 0 {
		out.Byes = []int{r.Bye - 1}
	}
	return out
}

// auditTable audits a published table.
func (e *Event) auditTable(t Table) TableReport {
	r := TableReport{Group: t.Group, Rows: len(t.Rows)}
	want := e.rows(t)
	for i, row := range t.Rows {
		should, ok := want[row.Player]
		if !ok {
			r.find("player %d is not in the group", row.Player)
			continue
		}
		delete(want, row.Player)
		row.audit(should, &r)
		if i > 0 && t.Rows[i-1].Place > row.Place {
			r.find("player %d is below a worse place", row.Player)
		}
	}
	for n := range e.Players {
		if _, missing := want[n+1]; missing {
			r.find("player %d is missing", n+1)
		}
	}
	return r
}

// rows returns the rows that a table should have, by player.
func (e *Event) rows(t Table) map[int]standings.Row {
	seq := cmp.Or(t.Seq, end)
	var players []int // from 0
	if t.Group > 0 {
		for _, n := range e.Groups[t.Group-1] {
			players = append(players, n-1)
		}
	} else { // players who left before they played need not be there
		players = e.played(seq)
		for _, row := range t.Rows {
			players = append(players, row.Player-1)
		}
		slices.Sort(players)
		players = slices.Compact(players)
	}
	rows := map[int]standings.Row{}
	if len(players) == 0 {
		return rows
	}
	for _, row := range e.Standings(seq).Table(players...) {
		rows[row.Player+1] = row
	}
	if e.System == Knockout && len(e.Groups) == 1 {
		for _, s := range e.bracket(len(e.Rounds), seq+1).Standings() {
			if row, ok := rows[s.Player]; ok {
				row.Place = s.Place
				rows[s.Player] = row
			}
		}
	}
	return rows
}

// audit compares a published row with what it should be.
func (row Row) audit(should standings.Row, r *TableReport) {
	if row.Place != should.Place {
		r.find("player %d: place is %d, and should be %d", row.Player, row.Place, should.Place)
	}
	for _, n := range []struct {
		name   string
		is     *Points
		should Points
	}{{"score", &row.Score, Half(should.Score.Total)}, {"SOS", row.SOS, Half(should.SOS.Total)}, {"SODOS", row.SODOS, Points(should.SODOS.Total)}} {
		if n.is != nil && *n.is != n.should {
			r.find("player %d: %s is %v, and should be %v", row.Player, n.name, *n.is, n.should)
		}
	}
	is, be := [4]int{row.Wins, row.Draws, row.Losses, row.Open}, [4]int{should.Wins, should.Draws, should.Losses, should.Open}
	if is != be {
		r.find("player %d: wins, draws, losses and open games are %v, and should be %v", row.Player, is, be)
	}
}

// Err returns an error that counts what an audit has found; nil if all is as it should be.
func (r Report) Err() error {
	n := 0
	for _, round := range r.Rounds {
		n += len(round.Findings)
	}
	for _, table := range r.Tables {
		n += len(table.Findings)
	}
	switch n {
	case 0:
		return nil
	case 1:
		return errors.New("1 difference")
	}
	return fmt.Errorf("%d differences", n)
}
