package match

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/rules"
)

// An action is what an event does, parsed from its body.
type action interface {
	// apply folds the action of an event. Its error is errUnreadable if the action
	// cannot be where it is.
	apply(f *folding, e Event) error
}

// parsers parse what follows the verb of a body, by verb. Their error is
// errUnreadable, or says what is wrong.
var parsers = map[string]func(args string, s rules.Setup) (action, error){
	"join":       parseNothing,
	"open":       parseNothing,
	"cancel":     parseNothing,
	"decline":    parseNothing,
	"expire":     parseNothing,
	"sandbox":    func(string, rules.Setup) (action, error) { return sandboxed{}, nil },
	"stone":      parseStone,
	"comment":    parseComment,
	"adjudicate": parseAdjudication,
	"delete":     func(string, rules.Setup) (action, error) { return deletion{}, nil },
	"begin":      func(string, rules.Setup) (action, error) { return beginning{}, nil },
	"turn":       parseTurn,
	"undo":       parseUndo,
	"branch":     parseBranch,
	"return":     func(string, rules.Setup) (action, error) { return returning{}, nil },
	"ask":        parseAsk,
	"deny":       func(string, rules.Setup) (action, error) { return denial{}, nil },
	"pause":      func(string, rules.Setup) (action, error) { return pausing{on: true}, nil },
	"unpause":    func(string, rules.Setup) (action, error) { return pausing{on: false}, nil },
	"credit":     parseCredit,
	"flag":       parseFlag,
	"drawn":      func(string, rules.Setup) (action, error) { return drawAgreed{}, nil },
}

// parseBody parses the body of an event.
func parseBody(body string, s rules.Setup) (action, error) {
	verb, args, _ := strings.Cut(body, " ")
	parse := parsers[verb]
	if parse == nil {
		return nil, errUnreadable
	}
	return parse(args, s)
}

// nothing is what an event does that changes who plays, and not the game.
type nothing struct{}

func parseNothing(string, rules.Setup) (action, error) { return nothing{}, nil }

func (nothing) apply(*folding, Event) error { return nil }

// sandbox: nothing counts in this game.
type sandboxed struct{}

func (sandboxed) apply(f *folding, _ Event) error {
	f.sandbox = true
	return nil
}

// stone D4: Black places a handicap stone.
type stonePlaced struct{ at rules.Point }

func parseStone(args string, s rules.Setup) (action, error) {
	at, err := rules.ParsePoint(args, s.W, s.H)
	if err != nil {
		return nil, errUnreadable
	}
	return stonePlaced{at}, nil
}

func (a stonePlaced) apply(f *folding, e Event) error {
	if f.Placing == 0 {
		return errUnreadable
	}
	f.Stones = append(slices.Clip(f.Stones), a.at)
	if err := f.restart(); err != nil {
		return err
	}
	if f.Placing > 0 {
		return nil
	}
	return f.tick(e, clock.Event{Kind: clock.Turn, By: rules.Black, ToPlay: f.begun.ToPlay()})
}

// comment 12 Why not C3?: somebody says something of turn 12. Without words it
// was said by somebody who has been forgotten.
type commented struct {
	turn      int
	text      string
	forgotten bool
}

func parseComment(args string, _ rules.Setup) (action, error) {
	if args == "" {
		return commented{forgotten: true}, nil
	}
	n, text, _ := strings.Cut(args, " ")
	turn, err := strconv.Atoi(n)
	if err != nil {
		return nil, errUnreadable
	}
	return commented{turn: turn, text: text}, nil
}

func (a commented) apply(f *folding, e Event) error {
	if !a.forgotten {
		f.Remarks = append(slices.Clip(f.Remarks), Remark{a.turn, e.By, a.text})
	}
	return nil
}

// adjudicate W+2.5 C3 D5: a moderator has decided the game, with these stones
// dead.
type adjudication struct {
	result string
	dead   []rules.Point
}

func parseAdjudication(args string, s rules.Setup) (action, error) {
	words := strings.Fields(args)
	if len(words) == 0 {
		return nil, errUnreadable
	}
	dead, err := ParsePoints(strings.Join(words[1:], " "), s.W, s.H)
	return adjudication{words[0], dead}, err
}

func (a adjudication) apply(f *folding, e Event) error {
	f.Result, f.Why, f.dead, f.Asked = a.result, rules.Saying{Text: "a moderator decided it"}, a.dead, nil
	return f.tick(e, clock.Event{Kind: clock.Stop})
}

// delete: the game is to be forgotten.
type deletion struct{}

func (deletion) apply(f *folding, e Event) error {
	f.Deleted, f.Asked = true, nil
	return f.tick(e, clock.Event{Kind: clock.Stop})
}

// begin: both seats are taken.
type beginning struct{}

func (beginning) apply(f *folding, e Event) error {
	return f.tick(e, clock.Event{Kind: clock.Start, ToPlay: f.begun.ToPlay()})
}

// turn B place D4: a turn, as rules.Turn writes it.
type turnMade struct{ turn rules.Turn }

func parseTurn(args string, s rules.Setup) (action, error) {
	t, err := rules.ParseTurn(args, s.W, s.H)
	return turnMade{t}, err
}

func (a turnMade) apply(f *folding, e Event) error {
	if a.turn.Kind.IsTurn() {
		f.Asked = nil
	}
	return f.turn(e, a.turn)
}

// undo 12: the game is again as after event 12. "undo 12 agreed": the opponent
// has agreed.
type undoing struct {
	to     int
	agreed bool
}

func parseUndo(args string, _ rules.Setup) (action, error) {
	words := strings.Fields(args)
	to, err := strconv.Atoi(first(words))
	if err != nil || to < 0 {
		return nil, errUnreadable
	}
	return undoing{to, len(words) > 1}, nil
}

func (a undoing) apply(f *folding, e Event) error {
	if a.to > len(f.Events) {
		return errUnreadable
	}
	placing := f.Placing > 0
	if err := f.back(a.to); err != nil {
		return err
	}
	f.Asked = nil
	if placing { // taking back while placing is placing still
		return nil
	}
	return f.tick(e, clock.Event{Kind: clock.Undo, Back: a.to, Agreed: a.agreed})
}

// branch B: Black goes on playing, to try who is right about the dead.
type branching struct{ by rules.Color }

func parseBranch(args string, _ rules.Setup) (action, error) {
	return branching{colorOf(first(strings.Fields(args)))}, nil
}

func (a branching) apply(f *folding, e Event) error {
	f.Branch, f.Asked = e.Seq, nil
	return f.turn(e, rules.Turn{Kind: rules.Resume, By: a.by})
}

// return: the game is as it was when the branch began, marks and all.
type returning struct{}

func (returning) apply(f *folding, e Event) error {
	if f.Branch == 0 {
		return errUnreadable
	}
	if err := f.back(f.Branch - 1); err != nil {
		return err
	}
	f.Branch, f.Asked = 0, nil
	return f.tick(e, clock.Event{Kind: clock.Stop})
}

// ask W undo 12: White asks Black whether the game may be again as after event
// 12; or for a draw, a pause, or to delete the game.
type asking struct{ Ask }

func parseAsk(args string, _ rules.Setup) (action, error) {
	words := strings.Fields(args)
	if len(words) < 2 {
		return nil, errUnreadable
	}
	a := Ask{What: words[1], By: colorOf(words[0])}
	if len(words) > 2 {
		var err error
		if a.back, err = strconv.Atoi(words[2]); err != nil {
			return nil, errUnreadable
		}
	}
	return asking{a}, nil
}

func (a asking) apply(f *folding, e Event) error {
	a.Seq = e.Seq
	f.Asked = &a.Ask
	return nil
}

// deny: no, or never mind.
type denial struct{}

func (denial) apply(f *folding, _ Event) error {
	f.Asked = nil
	return nil
}

// pause, unpause: the clocks stop, or run again, by agreement.
type pausing struct{ on bool }

func (a pausing) apply(f *folding, e Event) error {
	f.Asked, f.paused = nil, a.on
	if a.on {
		return f.tick(e, clock.Event{Kind: clock.Pause})
	}
	return f.tick(e, clock.Event{Kind: clock.Unpause})
}

// credit FROM TO, in milliseconds of Unix time: this time does not count.
type crediting struct{ from, to time.Time }

func parseCredit(args string, _ rules.Setup) (action, error) {
	words := strings.Fields(args)
	if len(words) != 2 {
		return nil, errUnreadable
	}
	from, err1 := strconv.ParseInt(words[0], 10, 64)
	to, err2 := strconv.ParseInt(words[1], 10, 64)
	if err1 != nil || err2 != nil {
		return nil, errUnreadable
	}
	return crediting{time.UnixMilli(from), time.UnixMilli(to)}, nil
}

func (a crediting) apply(f *folding, e Event) error {
	return f.tick(e, clock.Event{Kind: clock.Credit, From: a.from, To: a.to})
}

// flag B: Black's flag has fallen.
type flagFall struct{ by rules.Color }

func parseFlag(args string, _ rules.Setup) (action, error) {
	return flagFall{colorOf(first(strings.Fields(args)))}, nil
}

func (a flagFall) apply(f *folding, e Event) error {
	f.Result, f.Why = a.by.Opponent().Letter()+"+T", rules.Saying{Text: "{0} ran out of time", Args: []any{a.by}}
	return f.tick(e, clock.Event{Kind: clock.Stop})
}

// drawn: both agreed on a draw.
type drawAgreed struct{}

func (drawAgreed) apply(f *folding, e Event) error {
	f.Result, f.Why = "0", rules.Saying{Text: "both agreed on a draw"}
	return f.tick(e, clock.Event{Kind: clock.Stop})
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func colorOf(letter string) rules.Color {
	if letter == "W" {
		return rules.White
	}
	return rules.Black
}
