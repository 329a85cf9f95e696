package rules

import "strings"

// Book recites the ruleset: whose turn it is, and every rule of every list, in order.
func (r *Ruleset) Book() string {
	var b strings.Builder
	b.WriteString(r.Title + " (" + r.ID() + ")\n" + r.Source + "\n")
	if r.Note != "" {
		b.WriteString(r.Note + "\n")
	}
	heading := func(title string, rules []Rule) {
		if len(rules) == 0 {
			return
		}
		b.WriteString("\n" + title + "\n")
		for _, rule := range rules {
			b.WriteString("  - " + rule.Name + "\n")
		}
	}
	b.WriteString("\nTurns\n  - Black moves first; with handicap stones, White does\n  - the players alternate\n")
	if resuming := r.Settle[Resume]; len(resuming) == 1 { // others say who moves
		b.WriteString("  - when play is resumed, the player moves whose turn it was when it stopped\n")
	}
	heading("At the start", r.Start)
	for _, k := range TurnKinds() {
		heading(kindTitles[k], r.Moves[k])
	}
	for _, k := range TurnKinds() {
		if k != Resign {
			heading("Once play has stopped: "+kindTitles[k], r.Settle[k])
		}
	}
	agreed := "When both have accepted"
	if _, final := r.EndsDisputes(); final {
		agreed += ", or all stones are alive"
	}
	heading(agreed, r.Agreed)
	heading("The count", r.Count)
	switch {
	case len(r.Settle) > 0 || len(r.Count) == 0:
	case r.Has(AcceptSuggestion):
		b.WriteString("\nWhat is not named dead and accepted is alive at the end.\n")
	default:
		b.WriteString("\nWhat stands on the board at the end is alive: capture before you stop.\n")
	}
	if len(r.Count) > 0 {
		b.WriteString("\nKomi " + r.Komi.String() + " unless the players agree on another.\n")
	}
	return b.String()
}

// TurnKinds returns every kind of turn and of talk about the end, in order.
func TurnKinds() []Kind {
	ks := make([]Kind, kinds)
	for i := range ks {
		ks[i] = Kind(i)
	}
	return ks
}

var kindTitles = [kinds]string{"Placing a stone", "Passing", "Accepting", "The button", "Delaying", "Declaring a draw", "Resigning",
	"marking dead chains", "marking chains in seki", "taking marks away", "accepting", "resuming", "No result"}
