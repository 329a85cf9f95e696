package sgf

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	if r, err := rec.known(); r != nil || err != nil {
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
			whole := rec.as(r).settled(r, closely)
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
	_, err := rec.as(&rules.AGA).Play(&rules.AGA, rec.Setup.Komi)
	if illegal, ok := errors.AsType[*rules.Illegal](err); ok {
		if _, err := rec.as(&rules.Japanese).Play(&rules.Japanese, rec.Setup.Komi); err == nil {
			return illegal.Move
		}
	}
	return 0
}

// as returns the record as one of a ruleset, mended.
func (rec *Record) as(r *rules.Ruleset) *Record {
	out := *rec
	out.RU = r.Name
	return out.Mended(r)
}

// Settled returns the record, which [Record.Mended] has mended for r, with what another
// program left out of its end: the passes, where RE tells a count; and which stones are dead,
// where passes stopped play and nothing is marked. Both are repairs. A record that stops while
// much of the board is open is left as it is.
//
// Which stones are dead is a proposal. If RE tells a count it is the first of these with
// which the game comes to it: none, what looks dead at a glance, what [rules.Judge] finds
// dead, and that with one unsettled chain more or less; but where a usual komi explains the
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
	if b := g.Board(); g.Phase() == rules.Playing && open(lifted(b, rules.Glance(b, 1).Dead)) {
		out.early = true
		return &out
	}
	end, dead, fits := rec.proposed(g, closely)
	if end == nil {
		return rec
	}
	out.Turns, out.Repairs = slices.Clone(rec.Turns), slices.Clone(rec.Repairs)
	repair := func(text string) {
		out.Repairs = append(out.Repairs, Repair{rec.number(len(rec.Turns) - 1), says(text)})
	}
	if g.Phase() == rules.Playing {
		repair(fmt.Sprintf("the record ends without passes: they are assumed, because RE[%s] is a count", cut(rec.Info.Result, 40)))
	}
	out.Turns = append(out.Turns, assumed(g, end)...)
	if len(r.Settle) == 0 {
		return &out
	}
	out.judged = true
	if r.Has(rules.AcceptScore) {
		out.Ending = Ending{Dead: end.Dead(), Seki: end.Seki(), Accepted: true}
	}
	said := areDead(dead, "looks", "look")
	if fits {
		said = fmt.Sprintf("by RE[%s] %s", cut(rec.Info.Result, 40), areDead(dead, "is", "are"))
	}
	repair("the dead stones are not marked: " + said)
	return &out
}

// lifted returns a board without some of its stones.
func lifted(b rules.Board, stones []rules.Point) rules.Board {
	for _, p := range stones {
		b.Put(p, rules.None)
	}
	return b
}

// open reports whether too much of a board without dead stones is nobody's for the end of a
// game: a quarter. Of real games nearly nothing is at the end, and mostly more than that until a
// tenth of their moves is left. On a board of next to no stones all of it may be one player's.
func open(b rules.Board) bool {
	w, h := b.Size()
	stones := b.Stones(rules.Black) + b.Stones(rules.White)
	black, white := b.Territory()
	return 16*stones < w*h || 4*(w*h-stones-black-white) > w*h
}

// proposed brings a game to its end with the dead stones that Settled proposes. It returns
// a stone of each dead chain, and reports whether the game comes to the result of the
// record. The game is nil if it cannot be ended.
func (rec *Record) proposed(g *rules.Game, closely bool) (end *rules.Game, dead []rules.Point, fits bool) {
	try := func(dead, seki []rules.Point) (*rules.Game, []rules.Point, bool) {
		end, err := closed(g, dead, seki)
		if err != nil || end.Score() == nil {
			return nil, nil, false
		}
		return end, dead, rec.says(end.Score().Margin())
	}
	end, dead, fits = try(nil, nil)
	if fits || len(g.Rules().Settle) == 0 {
		return end, dead, fits
	}
	b := g.Board()
	_, _, told := rec.told()
	if told {
		end, dead, fits := try(chains(b, rules.Glance(b, 1).Dead), nil)
		if fits || !closely || end != nil && rec.usualKomi(end) {
			return end, dead, fits
		}
	}
	j := rules.Judge(b, 1)
	judged := chains(b, j.Dead)
	if told {
		if end, dead, fits := try(judged, nil); fits {
			return end, dead, fits
		}
		for _, p := range chains(b, j.Unsettled) {
			if end, dead, fits := try(toggled(judged, p), nil); fits {
				return end, dead, fits
			}
		}
	}
	return try(judged, chains(b, j.Seki))
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

// Against compares a record's own result with its count under the ruleset that it names;
// nil if it names no result, or g is no count.
func (rec *Record) Against(g *rules.Game) *rules.Recorded {
	want, stones, told := rec.told()
	out := &rules.Recorded{Result: cut(rec.Info.Result, 40)}
	if w := rec.Winner(); w != rules.None {
		out.Winner = strings.ToLower(w.String())
	}
	switch {
	case out.Result == "" || out.Result == "?":
		return nil
	case rec.early:
		out.Why = fmt.Sprintf("it stops at move %d, too early to count", rec.number(len(rec.Turns)-1))
		return out
	case !told || g.Score() == nil || g.Phase() != rules.Over:
		return out
	}
	same := rec.says(g.Score().Margin())
	switch out.Agrees = &same; {
	case !same:
		off := want - g.Score().Margin()
		out.Off, out.Why = &off, rec.whyOff(g, want)
	case stones:
		out.Why = "in stones of two points each"
	}
	return out
}

// usualKomis are the komis that most even games have.
var usualKomis = []rules.Points{0, 5*rules.One + rules.Half, 6*rules.One + rules.Half, 7*rules.One + rules.Half}

// komiOf returns the komi with which a game that is counted comes to the result of the record.
func (rec *Record) komiOf(g *rules.Game) rules.Points {
	want, _, _ := rec.told()
	return g.Setup().Komi - want + g.Score().Margin()
}

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
	if want == -got {
		return "it names the other player as the winner"
	}
	if 2*want == got && sameRules(r, &rules.AGA) {
		return "in stones, which are two points each, it comes out"
	}
	if rec.edited {
		return "what was captured or passed before stones were set up does not count"
	}
	komi := rec.komiOf(g)
	withKomi := fmt.Sprintf("with a komi of %v it comes out", komi)
	if rec.usualKomi(g) {
		if s.Komi == 0 {
			return fmt.Sprintf("with a komi of %v, which the record seems to leave out, it comes out", komi)
		}
		return withKomi
	}
	n := rules.Points(s.Handicap) * rules.One
	if n > 0 && slices.Contains([]rules.Points{n, n - rules.One, rules.One}, max(got-want, want-got)) {
		return "it counts other points for the handicap"
	}
	dead, seki := g.Dead(), g.Seki()
	for _, other := range usual {
		if !sameRules(other, r) {
			if end, err := rec.Under(other, s.Komi, dead, seki); err == nil && rec.says(end.Score().Margin()) {
				return fmt.Sprintf("under %s it comes out", other.Name)
			}
		}
	}
	if open := *rec; !rec.judged && !rec.Ending.empty() {
		open.Ending = Ending{Resumed: rec.Ending.Resumed}
		if before, err := open.Play(r, s.Komi); err == nil {
			if _, dead, fits := rec.proposed(before, true); fits {
				return "it comes out if " + areDead(dead, "is", "are")
			}
		}
	}
	if komi == -s.Komi && komi < -rules.One && !open(g.Counted()) {
		return withKomi
	}
	if max(got-want, want-got) <= rules.One {
		return "a last dame, or a pass that the record leaves out, makes so much"
	}
	return "other stones were dead, or turns are missing"
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

// What RE says of a player, of a win or else a loss, of a count, and of another end.
var (
	players  = regexp.MustCompile(`^(?:(black\b|b\b|黑|黒|흑)|white\b|w\b|白|백)(.*)$`)
	verdicts = regexp.MustCompile(`\+|wins?\b|won|胜|勝|승|(resign|forfeit|los[et]|timed? out|负|負|輸|输|投了|패)`)
	counts   = regexp.MustCompile(`^(?:black|b|黑|黒|흑|white|w|白|백)番? *(?:\+|:|胜|勝|负|負|輸|输|(?:wins?|won|loses|lost)(?: by)?|by)? *` +
		amount + ` *(?:胜|勝|勝ち|負け|승|패)?[.!]?(?: *\([^)]*\))?$`)
	noCounts = regexp.MustCompile(`\+ *[rtf]|resign|forfeit|time|void|no result|中盘|中盤|中押|时|時|投了|불계|시간|기권|认输|認輸|弃|棄|反則|犯规`)
	draws    = []string{"0", "draw", "jigo", "even", "tie", "持碁", "持棋", "和棋", "和局", "和", "ジゴ"}
)

// amount matches points or stones as people write them, once fractions are replaced.
const amount = `([0-9]*)(?:[.,]([0-9]+)|(½))? *(?:(目半|집반)|(子)|目|집|points?|pts?|moku)?`

var fractions = strings.NewReplacer("又", "", "四分之一", ".25", "四分之三", ".75", "二分之一", ".5", "半目", ".5目",
	"一", "1", "二", "2", "三", "3", "四", "4", "五", "5", "六", "6", "七", "7", "八", "8", "九", "9", " 1/2", ".5", "1/4", ".25", "1/2", ".5", "3/4", ".75")

// amountOf reads the groups of a match of amount. Quarters of points, and 子, are stones, of
// two points each.
func amountOf(m []string) (n rules.Points, stones, ok bool) {
	if len(m[0]) > 3 || m[0]+m[1]+m[2] == "" {
		return 0, false, false
	}
	whole, _ := strconv.Atoi("0" + m[0])
	part, ok := map[string]int{"": 0, "25": 1, "5": 2, "75": 3}[strings.TrimRight(m[1], "0")]
	quarters := 4*whole + part
	if m[2]+m[3] != "" { // ½ and 半
		quarters += 2
	}
	if stones = quarters%2 == 1 || m[4] != ""; stones {
		quarters *= 2
	}
	return rules.Points(quarters/2) * rules.Half, stones, ok
}

// result returns RE without capitals and wide letters, "２" and "＋".
func (rec *Record) result() string {
	return strings.ToLower(narrow(rec.Info.Result))
}

// Winner returns who won by RE, however that came about; None if it does not say.
func (rec *Record) Winner() rules.Color {
	m := players.FindStringSubmatch(rec.result())
	if m == nil {
		return rules.None
	}
	winner := rules.White
	if m[1] != "" {
		winner = rules.Black
	}
	if v := verdicts.FindStringSubmatch(m[2]); v != nil && v[1] != "" { // the loser is named
		return winner.Opponent()
	}
	return winner
}

// uncounted reports whether RE names an end of the game other than a count.
func (rec *Record) uncounted() bool { return noCounts.MatchString(rec.result()) }

// told reads RE where it tells a count: "B+2.5", "White + 4", "0", "Draw", "黑胜1又3/4子".
// The margin is in points, also where RE tells it in stones.
func (rec *Record) told() (margin rules.Points, stones, ok bool) {
	re := rec.result()
	if slices.Contains(draws, strings.TrimRight(re, ".!")) {
		return 0, false, true
	}
	m := counts.FindStringSubmatch(fractions.Replace(re))
	if m == nil {
		return 0, false, false
	}
	if margin, stones, ok = amountOf(m[1:]); rec.Winner() == rules.White {
		margin = -margin
	}
	return margin, stones, ok
}

// says reports whether RE tells a margin.
func (rec *Record) says(margin rules.Points) bool {
	want, _, told := rec.told()
	return told && margin == want
}
