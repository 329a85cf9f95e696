package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A phase is a moment of a game, and what the menu behind "More…" offers to whom then.
type phase struct {
	name, script string
	waits        time.Duration // after it
	offers       map[string]string
}

const (
	asked = "Show an earlier board…, Explain every half point, List what changed hands, Compare rulesets, Replay, SGF" // where the board has Score
)

var phases = []phase{
	{name: "nobody has joined", script: "ada> /new two-button 5x5", offers: map[string]string{
		"ada": "Cancel the game",
		"mod": "Cancel the game, Delete the game…"}},
	{name: "cancelled", script: "ada> /new two-button 5x5|bob> /join|ada> /place C3|ada> /delete how:cancel", offers: map[string]string{
		"ada": "Show an earlier board…, Explain every half point, List what changed hands, Compare rulesets, Replay, SGF, Delete the game…"}},
	{name: "a position to talk about", script: "ada> /setup XX./OO./...", offers: map[string]string{
		"ada": "Explain every half point, Resign, Delete the game…"}},
	{name: "nobody has moved", script: "ada> /new two-button 5x5|bob> /join", offers: map[string]string{
		"ada": "Offer a draw, Explain every half point, Resign, Cancel the game, Delete the game…",
		"eve": "Explain every half point"}},
	{name: "both have moved", script: "ada> /new two-button 5x5|bob> /join|ada> /place C3|bob> /place B2", offers: map[string]string{
		"ada": "Offer a draw, " + asked + ", Resign, Delete the game…",
		"bob": "Offer a draw, " + asked + ", Resign, Delete the game…",
		"eve": asked,
		"mod": asked + ", Delete the game…, Decide the game…"}},
	{name: "a request", script: "ada> /new two-button 5x5|bob> /join|ada> /place C3|bob> /place B2|ada> /draw", offers: map[string]string{
		"ada": "Withdraw your request, " + asked + ", Resign",
		"bob": asked + ", Resign"}},
	{name: "a clock", script: "ada> /new two-button 5x5 clock:1d|bob> /join|ada> /place C3", offers: map[string]string{
		"ada": "Offer a draw, Ask to stop the clocks, Show the clocks, " + asked + ", Resign, Cancel the game, Delete the game…",
		"eve": "Show the clocks, " + asked}},
	{name: "a request to stop the clocks", script: "ada> /new two-button 5x5 clock:1d|bob> /join|ada> /place C3|bob> /clock pause:yes", offers: map[string]string{
		"ada": "Ask to stop the clocks, Show the clocks, " + asked + ", Resign, Cancel the game",
		"bob": "Withdraw your request, Show the clocks, " + asked + ", Resign, Cancel the game"}},
	{name: "stopped clocks", script: "ada> /new two-button 5x5 clock:1d|bob> /join|ada> /place C3|bob> /clock pause:yes|ada> /accept", offers: map[string]string{
		"ada": "Offer a draw, Let the clocks run again, Show the clocks, " + asked + ", Resign, Cancel the game, Delete the game…"}},
	{name: "no time left", script: "ada> /new two-button 5x5 clock:1d claim|bob> /join|ada> /place C3", waits: 25 * time.Hour, offers: map[string]string{
		"ada": "Offer a draw, Claim the win on time, Ask to stop the clocks, Show the clocks, " + asked + ", Resign, Cancel the game, Delete the game…",
		"bob": "Offer a draw, Ask to stop the clocks, Show the clocks, " + asked + ", Resign, Cancel the game, Delete the game…"}},
	{name: "the count", script: "ada> /new japanese 5x5|bob> /join|ada> /place C3|bob> /pass|ada> /pass", offers: map[string]string{
		"ada": "Mark as alive in seki…, Take back, " + asked + ", Resign, Delete the game…",
		"bob": "Mark as alive in seki…, " + asked + ", Resign, Delete the game…",
		"eve": asked}},
	{name: "a repetition", script: "ada> /new japanese 2x1 komi:0 opponent:me|" +
		"ada> /place A1|ada> /place B1|ada> /pass|ada> /pass|ada> /resume|ada> /place A1|ada> /pass|ada> /pass|ada> /resume|ada> /place B1|ada> /pass|ada> /pass|ada> /resume|ada> /place A1",
		offers: map[string]string{"ada": "Offer a draw, End the game without a result, " + asked + ", Resign, Delete the game…"}},
	{name: "named stones", script: "ada> /new half-pass-agreement 5x5|bob> /join|ada> /place C3|bob> /place B2", offers: map[string]string{
		"ada": "Offer a draw, Pass and name dead stones…, " + asked + ", Resign, Delete the game…",
		"bob": "Offer a draw, " + asked + ", Resign, Delete the game…"}},
	{name: "nothing is counted", script: "ada> /new ultimate 5x5|bob> /join|ada> /place C3", offers: map[string]string{
		"ada": "Show an earlier board…, List what changed hands, Compare rulesets, Replay, SGF, Cancel the game, Delete the game…",
		"bob": "Show an earlier board…, List what changed hands, Compare rulesets, Replay, SGF, Resign, Cancel the game, Delete the game…"}},
	{name: "a draw can be declared", script: "ada> /new ultimate 5x5|bob> /join|ada> /delay|bob> /delay", offers: map[string]string{
		"ada": "Show an earlier board…, List what changed hands, Compare rulesets, Replay, SGF, Resign, Delete the game…"}},
	{name: "a wish to delete", script: "ada> /new two-button 5x5|bob> /join|bob> /delete how:forget", offers: map[string]string{
		"ada": "Explain every half point, Resign",
		"bob": "Withdraw your request, Explain every half point, Resign"}},
	{name: "handicap stones", script: "ada> /new japanese 5x5 handicap:2 placement:free|bob> /join", offers: map[string]string{
		"ada": "Offer a draw, Score, Explain every half point, Resign, Cancel the game, Delete the game…"}},
	{name: "the end", script: "ada> /new two-button 5x5|bob> /join|ada> /place C3|bob> /resign confirm:yes", offers: map[string]string{
		"ada": "Show an earlier board…, Score, Explain every half point, List what changed hands, Comment on the game…, Delete the game…",
		"eve": "Show an earlier board…, Score, Explain every half point, List what changed hands, Comment on the game…",
		"mod": "Show an earlier board…, Score, Explain every half point, List what changed hands, Comment on the game…, Delete the game…"}},
	{name: "both colours", script: "ada> /new two-button 5x5 opponent:me|ada> /place C3|ada> /place B2", offers: map[string]string{
		"ada": "Offer a draw, " + asked + ", Resign, Delete the game…"}},
}

func (f phase) play(t *testing.T) *talk {
	k := newTalk(t)
	k.lines(t, strings.Split(f.script, "|")...)
	if f.waits > 0 {
		k.wait(t, f.waits)
	}
	return k
}

func labelsOf(cs []match.Control) string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Label)
	}
	return strings.Join(out, ", ")
}

// The menu offers each person what they may do at that moment, and nothing else.
func TestMore(t *testing.T) {
	for _, f := range phases {
		k := f.play(t)
		for who, want := range f.offers {
			if a := k.ask(t, who, "/more"); labelsOf(a.Controls) != want || !a.Private || a.Menu != "More…" || a.Refused {
				t.Errorf("%s: %s is offered %q\nwant %q", f.name, who, labelsOf(a.Controls), want)
			}
		}
	}
}

// Each command about a game is a control in some phase, and so is each of its options or
// there is a reason why not.
func TestEveryCommandHasAControl(t *testing.T) {
	without := map[string]string{
		"game": "which every control has", "confirm": "a button asks for it", "anyway": "likewise", "share": "a button below the answer",
		"theory": "for who reads docs/theorems.md", "replay from": "all of it", "replay to": "all of it", "compare all": "what differs", "compare dead": "as it is marked",
		"/read": "whoever hears the game types it", "comment move": "the last", "adjudicate dead": "as it is marked",
	}
	for _, c := range bot.Commands() {
		if without["/"+c.Name] != "" || !slices.ContainsFunc(c.Options, func(o bot.Option) bool { return o.Name == "game" }) {
			continue
		}
		found := map[string]bool{}
		for _, control := range slices.Concat(match.Controls, match.More) {
			if control.Command == c.Name {
				found[""], found[control.Ask] = true, true
				for name := range control.Args {
					found[name] = true
				}
			}
		}
		if !found[""] {
			t.Errorf("/%s has no control", c.Name)
		}
		for _, o := range c.Options {
			if without[o.Name] == "" && without[c.Name+" "+o.Name] == "" && !found[o.Name] {
				t.Errorf("/%s %s has no control", c.Name, o.Name)
			}
		}
	}
}

// What the menu offers to a moderator as a cancellation is one.
func TestModeratorCancels(t *testing.T) {
	for _, script := range []string{"ada> /new two-button 5x5", "ada> /new two-button 5x5|bob> /join|ada> /place C3"} {
		k := phase{script: script}.play(t)
		cs := k.ask(t, "mod", "/more").Controls
		c := cs[slices.IndexFunc(cs, func(c match.Control) bool { return c.Label == "Cancel the game" })]
		k.press(t, "mod", c)
		if a := k.ask(t, "ada", "/more game:1"); !strings.Contains(labelsOf(a.Controls), "Delete") || strings.Contains(labelsOf(a.Controls), "Cancel") {
			t.Errorf("%s: then ada is offered %s", script, labelsOf(a.Controls))
		}
	}
}

// Whoever reads German is offered it in German, in a room that speaks English.
func TestMoreInTheirLanguage(t *testing.T) {
	k := newTalk(t)
	k.speaks = map[string]string{"bob": "de"}
	k.lines(t, "ada> /new two-button 5x5", "bob> /join", "ada> /place C3")
	a := k.ask(t, "bob", "/more")
	if a.Menu != "Mehr …" || !strings.HasPrefix(labelsOf(a.Controls), "Remis anbieten, ") || a.Lang != "de" {
		t.Errorf("%s: %q of %q", a.Lang, labelsOf(a.Controls), a.Menu)
	}
}
