package rules

// A Choice is something that the sources of a ruleset leave open, or on which
// they differ, and what the ruleset makes of it.
type Choice struct {
	Open, Chosen string
}

// Choices returns what the sources of the ruleset leave open. It is nil for
// custom rulesets.
func (r *Ruleset) Choices() []Choice {
	if r.IsCustom() {
		return nil
	}
	return choices[r.Name]
}

// Choices that several sources leave open.
var (
	cycles = Choice{"How cycles are treated.",
		"A placement may not lead to a position that has stood before with the same player then to move; the situations that passes and buttons leave count."}
	settling = Choice{"How the players agree on dead stones.",
		"Either marks chains, any change of the marks clears both acceptances, both accept or either resumes. Silence never accepts."}
	naive = Choice{"What territory is.",
		"The empty points of a region that reaches only one colour. Dead or alive, seki or not, plays no part, so unfinished boards count naively."}
	ikedaWords = Choice{"Repetition and suicide.",
		"No earlier position may return, and suicide is no placement. There is no agreement on dead stones: capture before you stop."}
	twoButtonKomi = Choice{"What the komi is.", "6½, as under territory rules, whose margins these are. It is a setting of the game, not a rule."}
)

var choices = map[string][]Choice{
	"tromp-taylor": {
		{"What becomes of the suicide of one stone.", "It would repeat the position, so it never stands; larger suicides do."},
		{"What the komi is.", "7½. It is a setting of the game, not a rule."},
	},
	"area-1": {
		{"What area rules I say: their wording was not at hand.", "Stones on the board alone count, so that groups pay a tax of their own accord."},
		ikedaWords,
	},
	"area-2": {
		{"What ends play.", "Two passes, one after the other."},
		naive, ikedaWords,
	},
	"area-3": {
		{"Who made the last competitive move, and how it is told.",
			"Whoever did not make the first pass of the game: if White made it, Black gives White half a point."},
		{"Whether the first pass counts towards the end.", "Never. After it, two passes one after the other end play; so three passes are the shortest end."},
		naive, ikedaWords,
	},
	"territory-1": {
		{"For whom prisoners count.", "They are points for the opponent of those who lost them. Ikeda counts them against their owner: the same difference."},
		{"What the two passes of the preliminary end cost.", "Nothing. Every later pass hands over a stone."},
		{"Who goes on after the preliminary end.", "The player whose turn it is. Play ends with two passes once both have made equally many turns since."},
		naive, ikedaWords,
	},
	"aga": {
		{"When White's last pass stone changes hands.", "When the count is agreed, if Black's pass stopped play; while settling it is shown as what agreeing would do, and a resumption drops it."},
		settling, naive,
	},
	"button": {
		{"Whether taking the button is a pass.", "It is a play like any other: it lifts every ban of repetition and breaks a run of passes."},
		{"Whether one may pass while the button lies there.", "One may. A button that nobody took is worth nothing."},
		cycles, settling,
	},
	"button-equivalence": {
		{"Whether giving the button is a pass.", "It is a play like any other, as in Button Go: it lifts bans and breaks a run of passes."},
		{"Whether White still makes the last pass.", "Yes: equivalence scoring applies as usual."},
		cycles, settling,
	},
	"reverse-button": {
		{"Which pass is the last.", "The one that stopped play for good. The button changes hands when the count is agreed; a resumption drops it."},
		{"Whether White must be last.", "No: the button is there so that it does not matter."},
		{"What the komi is.", "7, as in Button Go. It is a setting of the game, not a rule."},
		cycles, settling,
	},
	"two-button": {
		{"Whether a button is taken with a pass or instead of one: the page's authors differ.",
			"With the pass, which hands over a stone as always. The other reading is two-button-separate."},
		{"Whether buttons are taken or given.", "Taken, by the player who passes. With the stone that is handed over this comes to half a point lost."},
		{"Whether the first pass counts towards the two that stop play.", "It does."},
		{"Which passes are the first and the last after a resumption.", "The first stays where it was, the last is the one that finally stopped play."},
		settling, twoButtonKomi,
	},
	"two-button-separate": {
		{"Whether a button is taken with a pass or instead of one: the page's authors differ.", "Instead: a button is a turn of its own. The other reading is two-button."},
		{"When the first button may be taken.", "At any turn, also after two passes. Button always means the first while it lies there; it lifts bans as in Button Go."},
		{"When the last button may be taken.", "When the first is gone and the two turns before this one were passes. Taking it stops play, which passes alone never do."},
		{"What a resumption does with the last button.", "The turn that took it is as if it had not been made: the half prisoner returns, its taker is to move, and two new passes are needed."},
		settling, twoButtonKomi,
	},
	"half-pass": {
		{"How cycles are treated: the page skips it.", cycles.Chosen},
		{"Whether a half-pass may end play.", "Only a pass that directly follows a full pass does. So the shortest end is three passes: half, full, half."},
		{"For whom the stones of the zone count.", "Each for the opponent of the player who passed, at half their value."},
		{"What the komi is.", twoButtonKomi.Chosen},
	},
	"half-pass-agreement": {
		{"Whether a first pass that names nothing may be accepted.", "It may: naming no stones says that nothing is dead."},
		{"What becomes of a suggestion that is not accepted.", "Any turn but accepting drops it; a plain pass after it is a full pass."},
		{"How cycles are treated: the page skips it.", cycles.Chosen},
		{"What the komi is.", twoButtonKomi.Chosen},
	},
	"ultimate": {
		{"What happens on boards that are not 19×19.", "The same."},
		{"Whether the empty board has occurred.", "It has: no placement may lead back to it."},
		{"How to give a komi.", "A whole number of stones in the bowls at the start, White's for a komi above 0 and Black's below."},
		{"Whether an empty bowl lets the opponent declare a draw.", "No: the bowl must hold the ultimate stone and nothing else."},
		{"When one may resign.", "On one's own turn."},
	},
	"japanese": {
		{"Life and death by hypothetical play.", "It is not judged: the players mark what is dead and what is alive in seki, and both accept."},
		{"What counts in seki.", "No territory that touches a chain marked as seki; prisoners do. Without such marks all naive territory counts once the dead are removed."},
		{"What ends a cycle.", "A position that stands for the third time with the same player to move may end the game without result, if both accept; otherwise play goes on."},
		{"What the komi is.", "6½. It is a setting of the game, not a rule."},
	},
}

// A Heading is where in a ruleset rules stand, and those of the
// vocabulary that a custom ruleset may put there.
type Heading struct {
	Name  string // as in [Spec]: "start", "moves, pass"
	Rules []string
	Facts []string // that its rules may depend on; of "say" those that it lists
}

// Vocabulary returns the words of custom rulesets, heading by heading. A number in
// a rule stands for any.
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
