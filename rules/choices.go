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
	cycles = Choice{"How does the ruleset treat cycles?",
		"A placement may not repeat a position with the same player to move. The situations that passes and buttons leave count too."}
	settling = Choice{"How do the players agree on dead stones?",
		"Either player marks chains, and every change of the marks clears both acceptances. Then both accept, or either resumes play. Silence never accepts."}
	naive = Choice{"What is territory?",
		"The empty points of a region that reaches only one colour, whether the stones around it are alive, dead or in seki. So the count of an unfinished board means little."}
	ikedaWords = Choice{"What about repetition, suicide and dead stones?",
		"No earlier position may return, and suicide is illegal. The players do not agree on dead stones: capture them before you stop."}
	twoButtonKomi = Choice{"What is the komi?", "6½, as under territory rules, because the margins are the same. Players may choose another."}
)

var choices = map[string][]Choice{
	"tromp-taylor": {
		{"Is the suicide of one stone legal?", "No, because it repeats the position. Larger suicides are legal."},
		{"What is the komi?", "7½. Players may choose another."},
	},
	"area-1": {
		{"What are area rules I? Ikeda's wording was not available.", "Only stones on the board count, so each group pays a tax of the two points that it needs to live."},
		ikedaWords,
	},
	"area-2": {
		{"What ends play?", "Two passes in a row."},
		naive, ikedaWords,
	},
	"area-3": {
		{"Who made the last competitive move?",
			"The player who did not make the first pass of the game. If White passed first, Black gives White half a point."},
		{"Does the first pass count towards the end?", "No. After it, two passes in a row end play, so the shortest end is three passes."},
		naive, ikedaWords,
	},
	"territory-1": {
		{"For whom do prisoners count?", "For the player who took them. Ikeda subtracts them from the player who lost them: the same difference."},
		{"What do the two passes of the preliminary end cost?", "Nothing. Every later pass costs a stone."},
		{"Who goes on after the preliminary end?", "The player whose turn it is. Play ends with two passes in a row once both players have made equally many turns since."},
		naive, ikedaWords,
	},
	"aga": {
		{"When does White give the last pass stone?", "When both players accept the count, if Black's pass stopped play. Until then it is shown as what accepting would do, and resuming play drops it."},
		settling, naive,
	},
	"free-first-pass": {
		{"Which pass is the first after play was resumed?", "The first of the game: it stays the first."},
		{"From which komi is half a point taken?", "From the 7 of the page. Players may choose another."},
		settling, naive,
	},
	"button": {
		{"Is taking the button a pass?", "No. It is a play like any other: it lifts every ban of repetition and interrupts a run of passes."},
		{"May you pass while the button lies there?", "Yes. A button that nobody took is worth nothing."},
		cycles, settling,
	},
	"button-equivalence": {
		{"Is giving the button a pass?", "No. It is a play like any other, as in Button Go: it lifts bans and interrupts a run of passes."},
		{"Does White still make the last pass?", "Yes, as equivalence scoring demands."},
		cycles, settling,
	},
	"reverse-button": {
		{"Which pass is the last?", "The pass that finally stopped play. Its player gets the button when both players accept the count; resuming play drops it."},
		{"Must White pass last?", "No. The button makes that unnecessary."},
		{"What is the komi?", "7, as in Button Go. Players may choose another."},
		cycles, settling,
	},
	"two-button": {
		{"Do you take a button with a pass or instead of one? The authors of the page differ.",
			"With the pass, which gives a stone as always. The other reading is two-button-separate."},
		{"Do you take a button or give it?", "The player who passes takes it. Together with the stone that the pass gives, this costs half a point."},
		{"Does the first pass count towards the two that stop play?", "Yes."},
		{"Which passes are the first and the last after play was resumed?", "The first stays the first. The last is the one that finally stopped play."},
		settling, twoButtonKomi,
	},
	"two-button-separate": {
		{"Do you take a button with a pass or instead of one? The authors of the page differ.", "Instead: a button is a turn of its own. The other reading is two-button."},
		{"When may you take the first button?", "At any turn, also after two passes. While it lies there, button always means the first. It lifts bans as in Button Go."},
		{"When may you take the last button?", "When the first is gone and the two turns before were passes. Taking it stops play, which passes alone never do."},
		{"What happens to the last button when play is resumed?", "It returns to the table as if nobody had taken it: its half point returns, the player who took it is to move, and two new passes are needed."},
		settling, twoButtonKomi,
	},
	"two-button-passes": {
		{"When does the last pass lose its stone?", "When both players accept the count, if its player made the first pass of the game too. Until then the stone is shown; resuming play keeps it."},
		{"Which passes are the first and the last after play was resumed?", "The first stays the first. The last is the one that finally stopped play."},
		settling, twoButtonKomi,
	},
	"half-pass": {
		{"How does the ruleset treat cycles? The page leaves it out.", cycles.Chosen},
		{"May a half-pass end play?", "Only a pass that directly follows a full pass ends play. So the shortest end is three passes: half, full, half."},
		{"For whom do the stones in the zone count?", "Each counts for the opponent of the player who passed, at half its value."},
		twoButtonKomi,
	},
	"half-pass-agreement": {
		{"May the opponent accept a first pass that names nothing?", "Yes. Naming no stones says that nothing is dead."},
		{"What happens to a suggestion that nobody accepts?", "Any turn but accepting drops it. A plain pass after it is a full pass."},
		{"How does the ruleset treat cycles? The page leaves it out.", cycles.Chosen},
		twoButtonKomi,
	},
	"ultimate": {
		{"What about boards that are not 19×19?", "The same rules hold."},
		{"Does the empty board count as a position that has occurred?", "Yes: no placement may lead back to it."},
		{"How do you give a komi?", "As a whole number of stones in the bowls at the start: White's bowl for a komi above 0, Black's for one below."},
		{"May your opponent declare a draw while your bowl is empty?", "No: your bowl must hold the ultimate stone and nothing else."},
		{"When may you resign?", "On your own turn."},
	},
	"japanese": {
		{"Who judges life and death?", "The players: they mark what is dead and what is alive in seki, and both accept. There is no hypothetical play."},
		{"What counts in seki?", "No territory that touches a chain marked as seki; prisoners do count. Without such marks all naive territory counts once the dead stones are removed."},
		{"What ends a cycle?", "When a placement makes a position for the third time with the same player to move, the players may end the game without a result, if both accept. Otherwise play goes on. What passes leave does not count: nothing has moved."},
		{"What is the komi?", "6½. Players may choose another."},
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
