package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The words of which custom rulesets are made: the rules and facts of the
// vocabulary by the names with which rulesets recite them, and where each may
// stand. A name that was released is never taken away: games are kept in these
// words. One that changes stays readable in formerly.

// A place is where in a ruleset a rule may stand: a set of kinds of turn
// and of the other headings.
type place uint32

const (
	atStart place = 1 << (iota + kinds)
	onAgreed
	inCount
)

func on(ks ...Kind) place {
	var p place
	for _, k := range ks {
		p |= 1 << k
	}
	return p
}

var (
	onTurns = on(Place, Pass, AcceptSuggestion, Button, Delay, Draw)
	onMarks = on(MarkDead, MarkSeki, Unmark)
	always  = onTurns | onMarks | on(Resign, AcceptScore, Resume, NoResult) | atStart | onAgreed | inCount
)

// A word is a rule that a custom ruleset may use.
type word struct {
	Rule
	places place
	gives  Thing // what it makes players hold; things for nothing, onTable for a button there
}

// Rules that the catalogue does not need. LayAnotherButton makes the supply
// of buttons unlimited.
var LayAnotherButton = Rule{"another button is laid on the table", func(g *Game) bool {
	g.table = min(g.table+1, mostButtons)
	return true
}}

const mostButtons = 9

// commonWords are those that several rulesets use or none; the others stand with the
// ruleset that they were made for.
var commonWords = []word{
	{PlaceStone, on(Place), things},
	{CaptureSurrounded, on(Place), Prisoner},
	{RemoveOwn, on(Place), Prisoner},

	{HandOverStone, on(Pass), PassStone},
	{FreePass, on(Pass), things},

	{LayAnotherButton, on(Place, Pass, AcceptSuggestion, Button), onTable},
	{LiftBans, onTurns, things},

	{StopPlay, onTurns &^ on(Draw), things},
	{CountAllAlive, onTurns &^ on(Draw), things},
	{ConcedeGame, on(Resign), things},

	{MarkAsDead, on(MarkDead), Prisoner},
	{ClearMarks, on(Unmark), things},
	{ForgetAcceptances, onMarks, things},
	{AcceptMarks, on(AcceptScore), things},
	{ResumePlay, on(Resume), things},

	{CountStones, inCount, things},
	{CountTerritory, inCount, things},
	{AddHandicap, inCount, things},
	{AddKomi, inCount, things},
}

// words and conditions are all of them.
var words, conditions = allWords()

func allWords() ([]word, []condition) {
	w, c := slices.Clone(commonWords), slices.Clone(commonConditions)
	for _, r := range slices.Concat(Catalogue, earlier) {
		w, c = append(w, r.words...), append(c, r.facts...)
	}
	return w, c
}

// valued is what a rule of the count may name a worth for: "a button is
// worth 1½".
var valued = []struct {
	prefix string
	Thing
}{
	{"a prisoner is worth ", Prisoner},
	{"a pass stone is worth ", PassStone},
	{"a button is worth ", ButtonThing},
	{"a stone in the half-pass zone is worth ", HalfPassStone},
	{"an ultimate stone is worth ", UltimateStone},
}

// MaxWorth is the largest worth of a thing in a custom ruleset.
const MaxWorth = 20 * One

// A condition is a fact that a custom ruleset may ask for, and whether the table may hear it.
type condition struct {
	Fact
	places place
	said   bool
}

var commonConditions = []condition{
	{PointIsEmpty, on(Place), false},
	{HasLiberty, on(Place), false},
	{NewPosition, on(Place), false},
	{NewSituation, on(Place), false},
	{NotKo, on(Place), false},
	{FirstPass, onTurns, false},
	{TwoPasses, onTurns, false},
	{TwoPassesAgain, onTurns, false},
	{NextPassesAreFinal, 0, true},
	{WhitePassedFirst, always &^ atStart, true},
	{BlackPassedFirst, always &^ atStart, true},
	{BlackStoppedPlay, onAgreed | inCount | on(Resume), false},
	{NamesStones, on(Pass) | onMarks, false},
	{HasNotAccepted, on(AcceptScore), false},
}

// A Heading is where in a ruleset rules stand, and those of the
// vocabulary that a custom ruleset may put there.
type Heading struct {
	Name  string // as in [Spec]: "start", "moves, pass"
	Rules []string
	Facts []string // that its rules may depend on; of "say" those that it lists
}

// Vocabulary returns the words of custom rulesets, heading by heading. Any number
// may take the place of a number in a rule.
func Vocabulary() []Heading {
	var out []Heading
	heading := func(name string, p place) {
		h := Heading{Name: name, Facts: factNames(p, false)}
		for _, s := range wordNames(p) {
			if _, ok := cutPrefixFold(s, "only if "); !ok {
				h.Rules = append(h.Rules, s)
			}
		}
		out = append(out, h)
	}
	heading("start", atStart)
	for _, k := range []Kind{Place, Pass, AcceptSuggestion, Button, Delay, Draw, Resign, NoResult} {
		heading("moves, "+k.String(), on(k))
	}
	for _, k := range []Kind{MarkDead, MarkSeki, Unmark, AcceptScore, Resume} {
		heading("settle, "+k.String(), on(k))
	}
	heading("agreed", onAgreed)
	heading("count", inCount)
	say := Heading{Name: "say"}
	for _, f := range conditions {
		if f.said {
			say.Facts = append(say.Facts, f.Name)
		}
	}
	return append(out, say)
}

// formerly has the name of today for each that was released and has changed.
var formerly = map[string]string{
	"both players have passed in turn, the first pass of the game not counted":                            "both players have just passed, not counting the first pass of the game",
	"both players have passed in turn and the final stage has not begun (the preliminary end)":            "both players have just passed and the final stage has not begun (the preliminary end)",
	"in the final stage both players have passed in turn and made equally many turns":                     "both players have just passed in the final stage and made equally many turns in it",
	"both players have passed in turn":                                                                    "both players have just passed",
	"the two turns just before were passes":                                                               "the two turns before this one were passes",
	"the position has not stood before with the same player to move":                                      "the position has not occurred before with the same player to move",
	"the position has not stood before":                                                                   "the position has not occurred before",
	"the same position with the same player to move stands for the third time: both may accept no result": "the same position has occurred three times with the same player to move: both players may accept no result",
	"the same position with the same player to move stands for the third time":                            "the same position has occurred three times with the same player to move",
	"a pass hands the opponent a pass stone":                                                              "a pass gives your opponent a pass stone",
	"a full pass hands the opponent a pass stone":                                                         "a full pass gives your opponent a pass stone",
	"a half-pass puts a stone into the half-pass zone, worth ½ to the opponent":                           "a half-pass puts a stone into the half-pass zone, worth ½ to your opponent",
	"a pass costs nothing":                                  "a pass is free",
	"White passed first (w = 1)":                            "White passed first",
	"Black passed first (w = 0)":                            "Black passed first",
	"White took the button (w = 1)":                         "White took the button",
	"Black took the button (w = 0)":                         "Black took the button",
	"White makes the last pass and hands over a pass stone": "White makes the last pass and gives Black a pass stone",
	"stones are named":                                      "there is a stone on every point named",
	"the chains named are marked as dead":                   "the named chains are marked dead",
	"the chains named are marked as alive in seki":          "the named chains are marked alive in seki",
	"the marks on the chains named are taken away":          "the marks on the named chains are removed",
	"what was accepted before must be accepted again":       "both players must accept again",
	"the player accepts the marks; when both have, marked stones become prisoners and the game is counted":                      "the player accepts the marks; when both players have, dead stones become prisoners and the game is counted",
	"play goes on: the marks are removed, earlier passes no longer count towards the end, and earlier positions stay forbidden": "play goes on: the marks are removed, earlier passes no longer count towards the end, and earlier positions are remembered",
	"play goes on: the marks fall, the run of passes begins anew, earlier positions stay forbidden":                             "play goes on: the marks are removed, earlier passes no longer count towards the end, and earlier positions are remembered",
	"the last button lies on the table again, and the player who took it is to move":                                            "the last button returns to the table, and the player who took it is to move",
	"dead chains are named": "the pass names dead chains",
	"the pass says which chains are dead, none if it names none":                                      "the pass suggests which chains are dead; naming none suggests that none are",
	"an empty point of a region that reaches only one colour, and no chain in seki, is worth 1 to it": "an empty point that reaches only one colour, and no chain in seki, is worth 1 to that colour",
	"an empty point of a region that reaches only one colour is worth 1 to it":                        "an empty point that reaches only one colour is worth 1 to that colour",
	"½ is taken from Black and given to White":                                                        "Black gives White half a point",
	"White is given N-1 points for N handicap stones":                                                 "White gets N − 1 points for N handicap stones",
	"White is given the komi":                                                                         "White gets the komi",
	"each player holds one stone of the opponent":                                                     "each player holds one of the opponent's stones",
	"the player returns a prisoner to the opponent":                                                   "the player gives a prisoner back to the opponent",
	"the right to declare a draw is Black's":                                                          "only Black may declare a draw",
	"the right to declare a draw is White's":                                                          "only White may declare a draw",
	"the player to move has no turn left but resigning":                                               "the player to move can only resign",
	"the player accepts that the game ends without result; when both have, it does":                   "the player accepts that the game ends without a result; when both players have, it does",
}

// today returns the name that a rule or fact has now.
func today(name string) string {
	for before, now := range formerly {
		if strings.EqualFold(before, name) {
			return now
		}
	}
	return name
}

// Passes is the fact that so many passes have been made one after the other.
func Passes(n int) Fact {
	return Fact{fmt.Sprintf("%d passes have been made in a row", n), fmt.Sprintf("there have not been %d passes in a row", n), func(g *Game) bool {
		return g.run >= n
	}}
}

// Buttons lays so many buttons on the table.
func Buttons(n int) Rule {
	return Rule{fmt.Sprintf("%d buttons lie on the table", n), func(g *Game) bool {
		g.table = n
		return true
	}}
}

// findWord returns the rule with a name; errText tells what is wrong with a number in it.
func findWord(name string) (w word, found bool, errText string) {
	name = today(name)
	for _, w := range words {
		if strings.EqualFold(w.Name, name) {
			return w, true, ""
		}
	}
	for _, v := range valued {
		if rest, ok := cutPrefixFold(name, v.prefix); ok {
			p, err := ParsePoints(rest)
			if err != nil {
				return w, false, err.Error()
			}
			if p <= 0 || p > MaxWorth {
				return w, false, fmt.Sprintf("a worth is ½ to %v, not %v", MaxWorth, p)
			}
			return word{Value(v.prefix+p.String(), v.Thing, p), inCount, things}, true, ""
		}
	}
	if rest, ok := cutSuffixFold(name, " buttons lie on the table"); ok {
		n, errText := smallNumber(rest)
		return word{Buttons(n), atStart, onTable}, errText == "", errText
	}
	return w, false, ""
}

// findCondition does so for facts, "A or B" included.
func findCondition(name string) (c condition, found bool, errText string) {
	name = today(name)
	for _, c := range conditions {
		if strings.EqualFold(c.Name, name) {
			return c, true, ""
		}
	}
	if rest, ok := cutSuffixFold(name, " passes have been made in a row"); ok {
		n, errText := smallNumber(rest)
		return condition{Passes(n), onTurns, false}, errText == "", errText
	}
	if first, rest, ok := strings.Cut(name, " or "); ok { // no fact has the word in its name
		a, okA, _ := findCondition(first)
		b, okB, _ := findCondition(rest)
		if okA && okB {
			return condition{Either(a.Fact, b.Fact), a.places & b.places, false}, true, ""
		}
	}
	return c, false, ""
}

// smallNumber reads how many of something there are.
func smallNumber(s string) (n int, errText string) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > mostButtons || strconv.Itoa(n) != s {
		return 0, fmt.Sprintf("%q is not a number from 1 to %d", short(s), mostButtons)
	}
	return n, ""
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if i := len(s) - len(suffix); i >= 0 && strings.EqualFold(s[i:], suffix) {
		return s[:i], true
	}
	return s, false
}
