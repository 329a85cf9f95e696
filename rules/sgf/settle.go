package sgf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/halfpoint-go/halfpoint/rules"
)

// usual are the rulesets by which records that name none are mostly played, the most
// usual first: one that counts territory, and one that comes to the area.
var usual = []*rules.Ruleset{&rules.Japanese, &rules.AGA}

// Fitted returns a record that names no rules, or unknown ones, as one that names those of the
// usual ones under which it comes to its result: of several the first; of none aga, unless it
// forbids a turn that japanese allows. Which it was is a repair. It leaves a record alone that
// names rules, or of which neither the result ("B+R") nor a turn tells them apart.
func (rec *Record) Fitted() *Record {
	if rec.NamesRules() {
		return rec
	}
	_, _, told := rec.told()
	var fit []string
	ended := false
	for _, closely := range []bool{false, true} {
		if !told || fit != nil {
			break
		}
		for _, r := range usual {
			whole := rec.Mended(r).settled(r, closely)
			g, err := whole.Play(r, whole.Setup.Komi)
			if err != nil || whole.Stopped != nil || g.Phase() != rules.Over {
				continue
			}
			ended = true
			if rec.says(g.Score().Margin()) {
				fit = append(fit, r.Name)
			}
		}
	}
	said := "RU is missing: "
	if rec.RU != "" {
		said = fmt.Sprintf("RU[%s] is unknown: ", cut(rec.RU, 40))
	}
	fits := fmt.Sprintf("RE[%s] fits ", cut(rec.Info.Result, 40))
	as := rules.AGA.Name
	var move int
	if fit == nil {
		move = rec.forbidden()
	}
	switch {
	case len(fit) == 1:
		as = fit[0]
		said += fits + as
	case fit != nil:
		as = fit[0]
		said += fits + strings.Join(fit, " and ") + ", the record is read as " + as
	case move > 0:
		as = rules.Japanese.Name
		said += fmt.Sprintf("aga forbids move %d, japanese does not: the record is read as japanese", move)
	case ended:
		said += fits + "neither japanese nor aga, the record is read as aga"
	default:
		return rec
	}
	out := *rec
	out.RU = as
	out.Repairs = append(slices.Clip(rec.Repairs), Repair{What: says(said)})
	return &out
}

// forbidden returns the move that aga forbids of a record that japanese allows, 0 if there is none.
func (rec *Record) forbidden() int {
	_, err := rec.Mended(&rules.AGA).Play(&rules.AGA, rec.Setup.Komi)
	if illegal, ok := errors.AsType[*rules.Illegal](err); ok {
		if _, err := rec.Mended(&rules.Japanese).Play(&rules.Japanese, rec.Setup.Komi); err == nil {
			return illegal.Move
		}
	}
	return 0
}

// Settled returns the record, which [Record.Mended] has mended for r, with what another
// program left out of its end: the passes, where RE tells a count; and which stones are dead,
// where passes stopped play without marks. Both are repairs. A record that stops while
// much of the board is open is left as it is, unless it comes to RE with every stone alive: who
// looks at it cannot tell what is dead.
//
// Which stones are dead is a proposal; see [Record.DeadBy]. If RE tells a count it is the first of these with
// which the game comes to it: none, what looks dead at a glance, what [rules.Judge] finds
// dead, and that with one chain more or less of those that it finds dead or unsettled, or that a
// glance did; but where a usual komi explains the
// difference after a glance, nobody looks closer. Otherwise it is what Judge finds
// dead. A record of ours says itself how it ended, and a game that ended by resignation
// or on time is not counted.
func (rec *Record) Settled(r *rules.Ruleset) *Record { return rec.settled(r, true) }

// settled is Settled; unless it shall look closely, it gives the board no more than a glance.
func (rec *Record) settled(r *rules.Ruleset, closely bool) *Record {
	_, _, told := rec.told()
	if rec.Stopped != nil || !rec.Ending.empty() || !told && (rec.ours || rec.uncounted()) {
		return rec
	}
	g, err := rec.Play(r, rec.Setup.Komi)
	if err != nil || g.Phase() == rules.Over || g.Phase() == rules.Playing && !told {
		return rec
	}
	out := *rec
	if b := g.Board(); open(b) && !(g.Phase() == rules.Settling && rec.standsAs(g)) && open(lifted(b, rules.Glance(b, 1).Dead)) {
		out.early = true
		return &out
	}
	end, dead, by := rec.proposed(g, closely)
	if end == nil {
		return rec
	}
	out.Turns, out.Repairs = slices.Clone(rec.Turns), slices.Clone(rec.Repairs)
	repair := func(text string) {
		out.Repairs = append(out.Repairs, Repair{rec.Moves(), says(text)})
	}
	if g.Phase() == rules.Playing {
		missing := "without passes: they are assumed"
		if last, _ := g.LastTurn(); last.Kind == rules.Pass {
			missing = "with one pass: the other is assumed"
		}
		repair(fmt.Sprintf("the record ends %s, because RE[%s] is a count", missing, cut(rec.Info.Result, 40)))
	}
	out.Turns = append(out.Turns, assumed(g, end)...)
	if len(r.Settle) == 0 {
		return &out
	}
	out.deadBy = by
	if r.Has(rules.AcceptScore) {
		out.Ending = Ending{Dead: end.Dead(), Seki: end.Seki(), Accepted: true}
	}
	said := areDead(dead, "looks", "look")
	if by == ByResult {
		said = fmt.Sprintf("by RE[%s] %s", cut(rec.Info.Result, 40), areDead(dead, "is", "are"))
	}
	repair("the dead stones are not marked: " + said)
	return &out
}

// standsAs reports whether a game whose play has stopped comes to RE with every stone alive.
func (rec *Record) standsAs(g *rules.Game) bool {
	end, err := closed(g, nil, nil)
	return err == nil && end.Score() != nil && rec.says(end.Score().Margin())
}

// lifted returns a board without some of its stones.
func lifted(b rules.Board, stones []rules.Point) rules.Board {
	for _, p := range stones {
		b.Put(p, rules.None)
	}
	return b
}

// open reports whether too much of a board without dead stones is nobody's for the end of a
// game: a quarter. Of a real game it is next to nothing at the end, and mostly more than that until a
// tenth of their moves is left. On a board of next to no stones all of it may be one player's.
func open(b rules.Board) bool {
	w, h := b.Size()
	stones := b.Stones(rules.Black) + b.Stones(rules.White)
	black, white := b.Territory()
	return 16*stones < w*h || 4*(w*h-stones-black-white) > w*h
}

// proposed brings a game to its end with the dead stones that Settled proposes. It returns
// a stone of each dead chain, and by what they were chosen: ByResult only where the playouts alone
// do not come to RE. The game is nil if it cannot be ended.
func (rec *Record) proposed(g *rules.Game, closely bool) (end *rules.Game, dead []rules.Point, by string) {
	want, _, told := rec.told()
	try := func(dead, seki []rules.Point) (end *rules.Game, fits bool) {
		end, err := closed(g, dead, seki)
		if err != nil || end.Score() == nil {
			return nil, false
		}
		return end, told && end.Score().Margin() == want
	}
	end, fits := try(nil, nil)
	if len(g.Rules().Settle) == 0 {
		return end, nil, ""
	}
	b := g.Board()
	glance := rules.Glance(b, 1)
	seen := chains(b, glance.Dead)
	closer := sync.OnceValue(func() rules.Judgement { return rules.Judge(b, 1) })
	alone := func(dead []rules.Point) string { // without RE: where a glance is unsure, a closer look decides
		found := seen
		if closely && len(glance.Unsettled) > 0 {
			found = chains(b, closer().Dead)
		}
		return map[bool]string{true: ByPlayouts, false: ByResult}[slices.Equal(dead, found)]
	}
	if fits {
		return end, nil, alone(nil)
	}
	switch end, fits := try(seen, nil); {
	case fits:
		return end, seen, alone(seen)
	case told && (!closely || end != nil && rec.usualKomi(end)):
		return end, seen, ByPlayouts
	}
	j := closer()
	judged := chains(b, j.Dead)
	likely := [][]rules.Point{judged}
	for _, p := range slices.Concat(chains(b, j.Unsettled), judged) {
		likely = append(likely, toggled(judged, p))
	}
	for _, p := range seen {
		likely = append(likely, toggled(seen, p))
	}
	for i, dead := range likely {
		if end, fits := try(dead, nil); fits {
			return end, dead, map[bool]string{true: ByPlayouts, false: ByResult}[i == 0]
		}
	}
	end, _ = try(judged, rec.inSeki(chains(b, j.Seki)))
	return end, judged, ByPlayouts
}

// inSeki returns those chains in seki that matter by the rules that the record names: none where
// points within a seki count.
func (rec *Record) inSeki(seki []rules.Point) []rules.Point {
	if read, _ := rec.known(); read.says[tax] == "NONE" {
		return nil
	}
	return seki
}

// toggled returns ps with p, or without it if it is one of them.
func toggled(ps []rules.Point, p rules.Point) []rules.Point {
	if i := slices.Index(ps, p); i >= 0 {
		return slices.Delete(slices.Clone(ps), i, i+1)
	}
	return append(slices.Clip(ps), p)
}

// chains returns the first stone of each chain in stones.
func chains(b rules.Board, stones []rules.Point) []rules.Point {
	var out, seen []rules.Point
	for _, p := range stones {
		if !slices.Contains(seen, p) {
			out, seen = append(out, p), append(seen, b.Chain(p)...)
		}
	}
	return out
}

// Against compares a record's own result with its count under the ruleset of g; nil if it names
// no result.
func (rec *Record) Against(g *rules.Game) *rules.Recorded {
	want, stones, told := rec.told()
	out := &rules.Recorded{Result: cut(rec.Info.Result, 40)}
	if w := rec.Winner(); w != rules.None {
		out.Winner = strings.ToLower(w.String())
	}
	if out.Result == "" || out.Result == "?" {
		return nil
	}
	if !told || rec.early || rec.Stopped != nil || g.Score() == nil || g.Phase() != rules.Over {
		out.Why = rec.whyUncounted(g)
		return out
	}
	off := want - g.Score().Margin()
	same := off == 0
	switch out.Stones = stones; {
	case !same:
		out.Agrees, out.Off, out.Why = &same, &off, rec.whyOff(g, want)
	case rec.deadBy == ByResult:
		out.Fits = true // the count says no more than the result did
	default:
		out.Agrees = &same
	}
	return out
}

// whyUncounted returns why a result is not held against a count, where that says more than the
// result itself.
func (rec *Record) whyUncounted(g *rules.Game) string {
	re, at := rec.result(), rec.Moves()
	moves, short := rec.cutShort()
	last, _ := g.LastTurn()
	winner := rec.Winner()
	_, _, told := rec.told()
	why, ok := likeliest([]reason{
		{rec.Stopped != nil, ""},
		{short, fmt.Sprintf("it stops at move %d of %d", at, moves)},
		{rec.early, fmt.Sprintf("it stops at move %d, where too much of the board is open", at)},
		{last.Kind == rules.Resign && winner == last.By, fmt.Sprintf("%v resigns", winner)},
		{told || nobodys.MatchString(re) || undecided.MatchString(re), ""},
		{winner == rules.None, "Halfpoint does not understand that"},
		{rec.uncounted() || !strings.ContainsAny(re, "0123456789"), ""},
		{counts.MatchString(figures(re)), "no count comes to that"},
	})
	if !ok {
		return "Halfpoint does not understand by how much"
	}
	return why
}

// A reason is why a record tells another result, or none, if that is so.
type reason struct {
	is  bool
	why string
}

// likeliest returns the first reason that is so.
func likeliest(all []reason) (why string, ok bool) {
	i := slices.IndexFunc(all, func(r reason) bool { return r.is })
	if i < 0 {
		return "", false
	}
	return all[i].why, true
}

// usualKomis are the komis that most even games have.
var usualKomis = []rules.Points{0, 5*rules.One + rules.Half, 6*rules.One + rules.Half, 7*rules.One + rules.Half}

// komiOf returns the komi with which a game that is counted comes to the result of the record.
func (rec *Record) komiOf(g *rules.Game) rules.Points {
	want, _, _ := rec.told()
	return rec.ownKomi(g) - want + g.Score().Margin()
}

// ownKomi returns the komi of a game without what madeUp adds to it.
func (rec *Record) ownKomi(g *rules.Game) rules.Points { return g.Setup().Komi - rec.madeUp(g.Rules()) }

// usualKomi reports whether that komi is a usual one, and the game was played to its end: on an
// open board any number is a coincidence.
func (rec *Record) usualKomi(g *rules.Game) bool {
	komi := rec.komiOf(g)
	usual := slices.Contains(usualKomis, komi) || komi == g.Rules().Komi || komi == rules.Half && g.Setup().Handicap > 0
	return usual && !open(g.Counted())
}

// whyOff returns the likeliest reason for which a record tells a margin other than the
// count: the first that would explain the difference wholly.
func (rec *Record) whyOff(g *rules.Game, want rules.Points) string {
	r, s, got := g.Rules(), g.Setup(), g.Score().Margin()
	s.Komi = rec.ownKomi(g)
	off, komi := max(got-want, want-got), rec.komiOf(g)
	moves, short := rec.cutShort()
	unmarked, more := rec.unmarked(g)
	usualKomi := rec.usualKomi(g)
	withKomi := fmt.Sprintf("with a komi of %v it comes out", komi)
	missing := "a turn within territory that the record leaves out"
	if counting(r, rules.CountStones.Name, rules.CountPassStones.Name) {
		missing = "a last dame, or a pass that the record leaves out"
	}
	n := rules.Points(s.Handicap) * rules.One
	if why, ok := likeliest([]reason{
		{short, fmt.Sprintf("it stops at move %d of %d", rec.Moves(), moves)},
		{want == -got, "it names the other player as the winner"},
		{2*want == got && sameRules(r, &rules.AGA), "it comes out if it is meant in stones, of two points each"},
		{rec.marksOff == nil && want == got+more, "the record does not mark " + rules.Names(unmarked) + " as territory"},
		{usualKomi && off == rules.One && rec.HasKomi, fmt.Sprintf("%s would explain it, and so would a komi of %v", missing, komi)},
		{usualKomi && s.Komi == 0, fmt.Sprintf("with a komi of %v, which the record seems to leave out, it comes out", komi)},
		{usualKomi, withKomi},
		{n > 0 && slices.Contains([]rules.Points{n, n - rules.One, rules.One}, off), "it counts other points for the handicap"},
	}); ok {
		return why
	}
	dead, seki := g.Dead(), g.Seki()
	own, _, _ := rec.Ruleset()
	for _, other := range append([]*rules.Ruleset{own}, usual...) {
		if other != nil && !sameRules(other, r) {
			if end, err := rec.Under(other, s.Komi, dead, seki); err == nil && rec.says(end.Score().Margin()) {
				return fmt.Sprintf("under %s it comes out", other.Name)
			}
		}
	}
	if open := *rec; rec.deadBy == "" && !rec.Ending.empty() {
		open.Ending, open.marksOff, open.marksKomi = Ending{Resumed: rec.Ending.Resumed}, nil, 0
		if before, err := open.Play(r, s.Komi); err == nil {
			if end, dead, _ := rec.proposed(before, true); end != nil && rec.says(end.Score().Margin()) {
				return "it comes out if " + areDead(dead, "is", "are")
			}
		}
	}
	why, _ := likeliest([]reason{
		{komi == -s.Komi && komi < -rules.One && !open(g.Counted()), withKomi},
		{off%rules.One != 0 && !counting(r, "½"), fmt.Sprintf("no count with a komi of %v comes to that", s.Komi)},
		{off == rules.One, missing + " would explain it"},
		{true, "other stones were dead, or turns are missing"},
	})
	return why
}

// unmarked returns the territory that the marks of a record leave out, and by how much the count
// were more for Black without it: KGS marks no point that has to be filled in the end.
func (rec *Record) unmarked(g *rules.Game) (ps []rules.Point, more rules.Points) {
	if rec.territory == nil {
		return nil, 0
	}
	black, white := territory(g)
	for _, p := range slices.Concat(black, white) {
		if rec.territory.At(p) == rules.None {
			ps = append(ps, p)
			more += map[bool]rules.Points{true: -rules.One, false: rules.One}[slices.Contains(black, p)]
		}
	}
	return ps, more
}

// otherwise returns the empty points that the marks of a record give to another player than a count, or to nobody, and
// the komi with which the count comes to the marks. Marks on less than half of the territory
// are none; points under dead stones need no mark, because some programs mark empty ones alone.
func (rec *Record) otherwise(g *rules.Game) (ps []rules.Point, komi rules.Points) {
	was, counted, owner := g.Board(), g.Counted(), owners(g)
	worth := map[rules.Color]rules.Points{rules.Black: rules.One, rules.White: -rules.One}
	on, marks := 0, map[rules.Color]bool{} // without any mark for a player, the record leaves that territory open
	for _, p := range counted.Points() {
		marks[rec.territory.At(p)] = true
	}
	for _, p := range counted.Points() {
		mark := rec.territory.At(p)
		if counted.At(p) != rules.None || mark == rules.None && was.At(p) != rules.None {
			continue
		}
		if mark != rules.None {
			on++
		} else if !marks[owner[p]] {
			continue
		}
		if mark != owner[p] {
			ps, komi = append(ps, p), komi+worth[owner[p]]-worth[mark]
		}
	}
	if 2*on < len(owner) {
		return nil, 0
	}
	return ps, komi
}

// counting reports whether one of some words is part of a rule by which a ruleset counts.
func counting(r *rules.Ruleset, words ...string) bool {
	return slices.ContainsFunc(r.Count, func(rule rules.Rule) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(rule.Name, word) })
	})
}

// areDead says that the chains of some stones are dead: "none is dead".
func areDead(stones []rules.Point, is, are string) string {
	switch len(stones) {
	case 0:
		return "none " + is + " dead"
	case 1:
		return fmt.Sprintf("%v %s dead", stones[0], is)
	}
	return fmt.Sprintf("%s %s dead", rules.Names(stones), are)
}
