package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Body says what happened in an event. Stores and exports hold it as the text that
// String returns and ParseBody reads, which never changes:
//
//	join W p7        person p7 takes the white seat
//	turn B place D4  a turn, as rules.Turn writes it
//	undo 12          the game is as it was after event 12
//	cancel
type Body struct {
	Kind EventKind
	Args string
}

// An EventKind is a kind of event: the first word of its written body.
type EventKind string

// body returns the body of an event of a kind; the arguments are separated by spaces.
func body(k EventKind, args ...any) Body {
	return Body{k, strings.TrimSpace(fmt.Sprintln(args...))}
}

// ParseBody reads what String returns.
func ParseBody(s string) Body {
	kind, args, _ := strings.Cut(s, " ")
	return Body{EventKind(kind), args}
}

// String returns the written form of the body.
func (b Body) String() string {
	if b.Args == "" {
		return string(b.Kind)
	}
	return string(b.Kind) + " " + b.Args
}

// Suggested reports whether the bot marked stones, on behalf of the person who stopped play.
func (e Event) Suggested() bool { return e.Body.Kind == eventSuggest }

// credits reports whether an event changes nothing but the clocks, without a player.
func (e Event) credits() bool { return e.Body.Kind == eventCredit }

// kinds holds how each kind of event is folded. The error is errUnreadable if the arguments
// have no meaning, or none at this point of the log.
var kinds = map[EventKind]func(f *folding, e Event, args string) error{}

func kind(name EventKind, fold func(f *folding, e Event, args string) error) EventKind {
	kinds[name] = fold
	return name
}

// All events that a log may hold.
var (
	eventJoin, eventOpen, eventCancel = kind("join", nothing), kind("open", nothing), kind("cancel", nothing)
	eventDecline, eventExpire         = kind("decline", nothing), kind("expire", nothing)

	// begin: both seats are taken.
	eventBegin = kind("begin", func(f *folding, e Event, _ string) error {
		return f.tick(e, clock.Event{Kind: clock.Start, ToPlay: f.begun.ToPlay()})
	})
	// sandbox: nothing counts in this game.
	eventSandbox = kind("sandbox", func(f *folding, _ Event, _ string) error {
		f.sandbox = true
		return nil
	})
	// stone D4: Black places a handicap stone.
	eventStone = kind("stone", func(f *folding, e Event, args string) error {
		at, err := rules.ParsePoint(args, f.match.Setup.W, f.match.Setup.H)
		if err != nil || f.Placing == 0 {
			return errUnreadable
		}
		f.Stones = append(slices.Clip(f.Stones), at)
		if err := f.restart(f.begun.Rules()); err != nil || f.Placing > 0 {
			return err
		}
		return f.tick(e, clock.Event{Kind: clock.Turn, By: rules.Black, ToPlay: f.begun.ToPlay()})
	})
	// turn B place D4: a turn, as rules.Turn writes it.
	eventTurn = kind("turn", func(f *folding, e Event, args string) error {
		t, err := rules.ParseTurn(args, f.match.Setup.W, f.match.Setup.H)
		if err != nil {
			return err
		}
		if t.Kind.IsTurn() {
			f.Asked = nil
		}
		return f.turn(e, t)
	})
	// suggest W dead C3 D5: the bot marks what looks dead to it, or alive in seki, on
	// behalf of White, who has stopped play.
	eventSuggest = kind("suggest", func(f *folding, e Event, args string) error {
		t, err := rules.ParseTurn(args, f.match.Setup.W, f.match.Setup.H)
		if err != nil {
			return err
		}
		if t.Kind != rules.MarkDead && t.Kind != rules.MarkSeki {
			return errUnreadable
		}
		return f.turn(e, t)
	})
	// undo 12: the game is as it was after event 12. "undo 12 agreed": the opponent
	// has agreed.
	eventUndo = kind("undo", func(f *folding, e Event, args string) error {
		number, agreed, _ := strings.Cut(args, " ")
		to, err := strconv.Atoi(number)
		if err != nil || to < 0 || to > len(f.Events) {
			return errUnreadable
		}
		placing := f.Placing > 0
		if err := f.back(to, f.begun.Rules()); err != nil {
			return err
		}
		f.Asked = nil
		if placing { // taking back while placing is placing still
			return nil
		}
		return f.tick(e, clock.Event{Kind: clock.Undo, Back: to, Agreed: agreed != ""})
	})
	// branch B: Black continues to play, to try out what is dead.
	eventBranch = kind("branch", func(f *folding, e Event, args string) error {
		f.Branch, f.Asked = e.Seq, nil
		if r := f.begun.Rules(); r != r.Undisputed() { // passing again only ends the branch
			if err := f.restart(r.Undisputed()); err != nil {
				return err
			}
		}
		return f.turn(e, rules.Turn{Kind: rules.Resume, By: colorOf(args)})
	})
	// return unaccepted: the game is as it was when the branch began, marks and all, but
	// nobody accepts the count any more. Earlier versions wrote "return", after which
	// acceptances from before the branch still count.
	eventReturn = kind("return", func(f *folding, e Event, args string) error {
		if f.Branch == 0 {
			return errUnreadable
		}
		r, err := rules.Find(f.match.Rules)
		if err != nil {
			return err
		}
		if err := f.back(f.Branch-1, r); err != nil {
			return err
		}
		if args != "" {
			f.withdraw()
		}
		f.Branch, f.Asked = 0, nil
		return f.tick(e, clock.Event{Kind: clock.Stop})
	})
	// ask W undo 12: White asks Black to go back to the game after event 12; or for a
	// draw, a pause, a rematch, a page, or to delete the game.
	eventAsk = kind("ask", func(f *folding, e Event, args string) error {
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
	})
	// deny: no, or never mind.
	eventDeny = kind("deny", func(f *folding, _ Event, _ string) error {
		f.Asked = nil
		return nil
	})
	// pause, unpause: the clocks stop, or run again, by agreement.
	eventPause = kind("pause", func(f *folding, e Event, _ string) error {
		f.Asked, f.paused = nil, true
		return f.tick(e, clock.Event{Kind: clock.Pause})
	})
	eventUnpause = kind("unpause", func(f *folding, e Event, _ string) error {
		f.Asked, f.paused = nil, false
		return f.tick(e, clock.Event{Kind: clock.Unpause})
	})
	// credit FROM TO, in milliseconds of Unix time: this time does not count.
	//
	// credit right: the clock that timed the events before was ahead.
	eventCredit = kind("credit", func(f *folding, e Event, args string) error {
		if args == "right" {
			return f.tick(e, clock.Event{Kind: clock.Right})
		}
		var from, to int64
		if _, err := fmt.Sscan(args, &from, &to); err != nil {
			return errUnreadable
		}
		return f.tick(e, clock.Event{Kind: clock.Credit, From: time.UnixMilli(from), To: time.UnixMilli(to)})
	})
	// flag B: Black's flag has fallen.
	eventFlag = kind("flag", func(f *folding, e Event, args string) error {
		by := colorOf(args)
		return f.end(e, by.Opponent().Letter()+"+T", rules.Saying{Text: "{0} ran out of time", Args: []any{by}})
	})
	// page: both players agreed that the game has a page.
	eventPage = kind("page", func(f *folding, e Event, _ string) error {
		f.Asked, f.Paged = nil, e.At
		return nil
	})
	// drawn: both players agreed on a draw.
	eventDrawn = kind("drawn", func(f *folding, e Event, _ string) error {
		return f.end(e, "0", rules.Saying{Text: "both players agreed on a draw"})
	})
	// adjudicate W+2.5 C3 D5: a moderator has decided the game, with these stones
	// dead; or in a game of an event its organiser. Without an actor, the event itself.
	eventAdjudicate = kind("adjudicate", func(f *folding, e Event, args string) (err error) {
		result, dead, _ := strings.Cut(args, " ")
		if result == "" {
			return errUnreadable
		}
		if f.dead, err = ParsePoints(dead, f.match.Setup.W, f.match.Setup.H); err != nil {
			return err
		}
		f.Asked = nil
		return f.end(e, result, rules.Saying{Text: f.match.decidedBy(e.By, result)})
	})
	// delete: the game is deleted.
	eventDelete = kind("delete", func(f *folding, e Event, _ string) error {
		f.Deleted, f.Asked = true, nil
		return f.tick(e, clock.Event{Kind: clock.Stop})
	})
	// comment 12 Why not C3?: a comment on turn 12. Without words its author was
	// forgotten.
	eventComment = kind("comment", func(f *folding, e Event, args string) error {
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
	})
)

// Bodies that more than one decision needs.
var (
	// setRight: the clock that timed the events before was ahead; now times are right again.
	setRight = body(eventCredit, "right")
	// leave ends a branch. A player who disputes a count does not accept it, and the branch may
	// show the other player that it is wrong: both have to accept again.
	leave = body(eventReturn, "unaccepted")
)

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
