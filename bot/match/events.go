package match

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A verb folds the events whose bodies begin with its name; args is the rest of the
// body. Its error is errUnreadable if the body has no meaning, or none at this point of
// the log.
type verb func(f *folding, e Event, args string) error

// verbs lists all events that a log may hold.
var verbs = map[string]verb{
	// These change the players, not the game.
	"join": nothing, "open": nothing, "cancel": nothing, "decline": nothing, "expire": nothing,

	// begin: both seats are taken.
	"begin": func(f *folding, e Event, _ string) error {
		return f.tick(e, clock.Event{Kind: clock.Start, ToPlay: f.begun.ToPlay()})
	},
	// sandbox: nothing counts in this game.
	"sandbox": func(f *folding, _ Event, _ string) error {
		f.sandbox = true
		return nil
	},
	// stone D4: Black places a handicap stone.
	"stone": func(f *folding, e Event, args string) error {
		at, err := rules.ParsePoint(args, f.match.Setup.W, f.match.Setup.H)
		if err != nil || f.Placing == 0 {
			return errUnreadable
		}
		f.Stones = append(slices.Clip(f.Stones), at)
		if err := f.restart(f.begun.Rules()); err != nil || f.Placing > 0 {
			return err
		}
		return f.tick(e, clock.Event{Kind: clock.Turn, By: rules.Black, ToPlay: f.begun.ToPlay()})
	},
	// turn B place D4: a turn, as rules.Turn writes it.
	"turn": func(f *folding, e Event, args string) error {
		t, err := rules.ParseTurn(args, f.match.Setup.W, f.match.Setup.H)
		if err != nil {
			return err
		}
		if t.Kind.IsTurn() {
			f.Asked = nil
		}
		return f.turn(e, t)
	},
	// suggest W dead C3 D5: the bot marks what looks dead to it, or alive in seki, on
	// behalf of White, who has stopped play.
	"suggest": func(f *folding, e Event, args string) error {
		t, err := rules.ParseTurn(args, f.match.Setup.W, f.match.Setup.H)
		if err != nil {
			return err
		}
		if t.Kind != rules.MarkDead && t.Kind != rules.MarkSeki {
			return errUnreadable
		}
		return f.turn(e, t)
	},
	// undo 12: the game is as it was after event 12. "undo 12 agreed": the opponent
	// has agreed.
	"undo": func(f *folding, e Event, args string) error {
		number, agreed, _ := strings.Cut(args, " ")
		to, err := strconv.Atoi(number)
		if err != nil || to < 0 || to > len(f.Events) {
			return errUnreadable
		}
		placing := f.Placing > 0
		if err := f.back(to); err != nil {
			return err
		}
		f.Asked = nil
		if placing { // taking back while placing is placing still
			return nil
		}
		return f.tick(e, clock.Event{Kind: clock.Undo, Back: to, Agreed: agreed != ""})
	},
	// branch B: Black continues to play, to try out what is dead.
	"branch": func(f *folding, e Event, args string) error {
		f.Branch, f.Asked = e.Seq, nil
		if r := f.begun.Rules(); r != r.Undisputed() { // passing again only ends the branch
			if err := f.restart(r.Undisputed()); err != nil {
				return err
			}
		}
		return f.turn(e, rules.Turn{Kind: rules.Resume, By: colorOf(args)})
	},
	// return unaccepted: the game is as it was when the branch began, marks and all, but
	// nobody accepts the count any more. Earlier versions wrote "return", after which
	// acceptances from before the branch still count.
	"return": func(f *folding, e Event, args string) error {
		if f.Branch == 0 {
			return errUnreadable
		}
		if err := f.back(f.Branch - 1); err != nil {
			return err
		}
		if r, err := rules.Find(f.match.Rules); err != nil {
			return err
		} else if r != r.Undisputed() {
			if err := f.restart(r); err != nil {
				return err
			}
		}
		if args != "" {
			f.withdraw()
		}
		f.Branch, f.Asked = 0, nil
		return f.tick(e, clock.Event{Kind: clock.Stop})
	},
	// ask W undo 12: White asks Black to go back to the game after event 12; or for a
	// draw, a pause, a rematch, or to delete the game.
	"ask": func(f *folding, e Event, args string) error {
		words := strings.Fields(args)
		if len(words) < 2 {
			return errUnreadable
		}
		a := Ask{What: words[1], By: colorOf(words[0]), Seq: e.Seq}
		if len(words) > 2 {
			var err error
			if a.back, err = strconv.Atoi(words[2]); err != nil {
				return errUnreadable
			}
		}
		f.Asked = &a
		return nil
	},
	// deny: no, or never mind.
	"deny": func(f *folding, _ Event, _ string) error {
		f.Asked = nil
		return nil
	},
	// pause, unpause: the clocks stop, or run again, by agreement.
	"pause": func(f *folding, e Event, _ string) error {
		f.Asked, f.paused = nil, true
		return f.tick(e, clock.Event{Kind: clock.Pause})
	},
	"unpause": func(f *folding, e Event, _ string) error {
		f.Asked, f.paused = nil, false
		return f.tick(e, clock.Event{Kind: clock.Unpause})
	},
	// credit FROM TO, in milliseconds of Unix time: this time does not count.
	//
	// credit right: the clock that timed the events before was ahead.
	"credit": func(f *folding, e Event, args string) error {
		if e.Body == right {
			return f.tick(e, clock.Event{Kind: clock.Right})
		}
		first, last, _ := strings.Cut(args, " ")
		from, err1 := strconv.ParseInt(first, 10, 64)
		to, err2 := strconv.ParseInt(last, 10, 64)
		if err1 != nil || err2 != nil {
			return errUnreadable
		}
		return f.tick(e, clock.Event{Kind: clock.Credit, From: time.UnixMilli(from), To: time.UnixMilli(to)})
	},
	// flag B: Black's flag has fallen.
	"flag": func(f *folding, e Event, args string) error {
		by := colorOf(args)
		return f.end(e, by.Opponent().Letter()+"+T", rules.Saying{Text: "{0} ran out of time", Args: []any{by}})
	},
	// drawn: both players agreed on a draw.
	"drawn": func(f *folding, e Event, _ string) error {
		return f.end(e, "0", rules.Saying{Text: "both players agreed on a draw"})
	},
	// adjudicate W+2.5 C3 D5: a moderator has decided the game, with these stones
	// dead.
	"adjudicate": func(f *folding, e Event, args string) (err error) {
		result, dead, _ := strings.Cut(args, " ")
		if result == "" {
			return errUnreadable
		}
		if f.dead, err = ParsePoints(dead, f.match.Setup.W, f.match.Setup.H); err != nil {
			return err
		}
		f.Asked = nil
		return f.end(e, result, rules.Saying{Text: "a moderator decided it"})
	},
	// delete: the game is deleted.
	"delete": func(f *folding, e Event, _ string) error {
		f.Deleted, f.Asked = true, nil
		return f.tick(e, clock.Event{Kind: clock.Stop})
	},
	// comment 12 Why not C3?: a comment on turn 12. Without words its author was
	// forgotten.
	"comment": func(f *folding, e Event, args string) error {
		if args == "" {
			return nil
		}
		number, words, _ := strings.Cut(args, " ")
		turn, err := strconv.Atoi(number)
		if err != nil {
			return errUnreadable
		}
		f.Remarks = append(slices.Clip(f.Remarks), Remark{turn, e.By, words})
		return nil
	},
}

func nothing(*folding, Event, string) error { return nil }

// end ends the match otherwise than by the rulebook.
func (f *folding) end(e Event, result string, why rules.Saying) error {
	f.Result, f.Why = result, why
	return f.tick(e, clock.Event{Kind: clock.Stop})
}

// colorOf reads the letter of a colour.
func colorOf(letter string) rules.Color {
	if letter == "W" {
		return rules.White
	}
	return rules.Black
}
