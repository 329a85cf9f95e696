package bot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A line is a line of a game's log that has not been taken back, and the event
// that wrote it.
type line struct {
	seq  int
	turn rules.Turn
}

// A position is a match folded from its events: the game, and what lies beside
// it on the table. Everything shown and decided follows from it.
type position struct {
	game    *rules.Game
	lines   []line // that survive
	clocks  []ClockEvent
	paused  bool
	stones  []rules.Point // handicap stones that Black has placed, where they are placed freely
	placing int           // how many of them are still to be placed
	remarks []remark
	branch  int    // the event that began a branch, on which nothing counts; 0: the game itself
	asked   *ask   // what one player has asked the other, until a turn is made
	result  string // how it ended, if not by the rulebook: "W+T", "0"; else empty
	why     rules.Saying
	dead    []rules.Point // by a moderator's decision
	deleted bool
	sandbox bool
	at      time.Time // of the last event
}

// A remark is what somebody said of a turn, after the game.
type remark struct {
	turn int // 0: before the first
	by   Person
	text string
}

// An ask is what one player asks the other.
type ask struct {
	what string // "undo", "draw", "pause" or "delete"
	by   rules.Color
	back int // undo: the event after which the game would stand again
	seq  int // of the event that asked
}

// over reports whether the match is over, by the rulebook or otherwise.
func (p *position) over() bool { return p.result != "" || p.deleted || p.game.Phase() == rules.Over }

// fold replays a match. Its error means that the log cannot be read.
func fold(m Match, events []Event) (*position, error) {
	r, err := rules.Find(m.Rules)
	if err != nil {
		return nil, err
	}
	p := &position{}
	start, err := p.start(r, m)
	if err != nil {
		return nil, err
	}
	timed := m.Clock.Kind != NoTime
	now := start // the game after each event, as far as the clocks want to know it
	// after[s] is the surviving lines after event s. They share their beginnings.
	after := make([][]line, len(events)+1)
	stones := make([][]rules.Point, len(events)+1) // and those of handicap
	for i, e := range events {
		p.at = e.At
		lines, before, placing := after[i], p.stones, p.placing > 0
		verb, rest, _ := strings.Cut(e.Body, " ")
		words := strings.Fields(rest)
		bad := fmt.Errorf("event %d: cannot read %q", e.Seq, e.Body)
		tick := ClockEvent{Seq: e.Seq, At: e.At}
		switch verb {
		case "join", "open", "cancel", "decline", "expire":
		case "sandbox":
			p.sandbox = true
		case "stone": // stone D4: Black places a handicap stone
			at, err := rules.ParsePoint(rest, m.Setup.W, m.Setup.H)
			if err != nil || p.placing == 0 {
				return nil, bad
			}
			p.stones = append(slices.Clip(p.stones), at)
			if start, err = p.start(r, m); err != nil {
				return nil, fmt.Errorf("event %d: %w", e.Seq, err)
			}
			if now = start; p.placing == 0 {
				tick.Kind, tick.By, tick.ToPlay = ClockTurn, rules.Black, start.ToPlay()
			}
		case "comment": // comment 12 Why not C3?
			if rest == "" { // by somebody who has been forgotten
				break
			}
			n, text, _ := strings.Cut(rest, " ")
			turn, err := strconv.Atoi(n)
			if err != nil {
				return nil, bad
			}
			p.remarks = append(p.remarks, remark{turn, e.By, text})
		case "adjudicate": // adjudicate W+2.5 C3 D5: a moderator has decided the game, these being dead
			if len(words) == 0 {
				return nil, bad
			}
			p.result, p.why, p.asked = words[0], rules.Saying{Text: "a moderator decided it"}, nil
			if p.dead, err = parsePoints(strings.Join(words[1:], " "), m.Setup.W, m.Setup.H); err != nil {
				return nil, fmt.Errorf("event %d: %w", e.Seq, err)
			}
			tick.Kind = ClockStopped
		case "delete":
			p.deleted, p.asked = true, nil
			tick.Kind = ClockStopped
		case "begin":
			tick.Kind, tick.ToPlay = ClockStart, start.ToPlay()
		case "turn":
			t, err := rules.ParseTurn(rest, m.Setup.W, m.Setup.H)
			if err != nil {
				return nil, fmt.Errorf("event %d: %w", e.Seq, err)
			}
			lines = append(slices.Clip(lines), line{e.Seq, t})
			if t.Kind.IsTurn() {
				p.asked = nil
			}
			if timed {
				if now, err = now.Play(t); err != nil {
					return nil, fmt.Errorf("event %d: %w", e.Seq, err)
				}
				tick.Kind, tick.By, tick.ToPlay = clockKind(t, now)
			}
		case "undo":
			s, err := strconv.Atoi(first(words))
			if err != nil || s < 0 || s > i {
				return nil, bad
			}
			lines, p.stones, p.asked = after[s], stones[s], nil
			if !slices.Equal(before, p.stones) {
				if start, err = p.start(r, m); err != nil {
					return nil, fmt.Errorf("event %d: %w", e.Seq, err)
				}
			}
			if !placing { // taking back while placing is placing still
				tick.Kind, tick.Back, tick.Agreed = ClockUndo, s, len(words) > 1
			}
			if timed {
				if now, err = start.Replay(turns(lines)); err != nil {
					return nil, fmt.Errorf("event %d: %w", e.Seq, err)
				}
			}
		case "branch": // branch B: play goes on, to try who is right about the dead
			resume := rules.Turn{Kind: rules.Resume, By: colorOf(first(words))}
			lines = append(slices.Clip(lines), line{e.Seq, resume})
			p.branch, p.asked = e.Seq, nil
			if timed {
				if now, err = now.Play(resume); err != nil {
					return nil, fmt.Errorf("event %d: %w", e.Seq, err)
				}
				tick.Kind, tick.By, tick.ToPlay = clockKind(resume, now)
			}
		case "return": // the game is as it was when the branch began, marks and all
			if p.branch == 0 {
				return nil, bad
			}
			lines, p.branch, p.asked = after[p.branch-1], 0, nil
			tick.Kind = ClockStopped
			if timed {
				if now, err = start.Replay(turns(lines)); err != nil {
					return nil, fmt.Errorf("event %d: %w", e.Seq, err)
				}
			}
		case "ask": // ask W undo 12
			if len(words) < 2 {
				return nil, bad
			}
			p.asked = &ask{what: words[1], by: colorOf(words[0]), seq: e.Seq}
			if len(words) > 2 {
				if p.asked.back, err = strconv.Atoi(words[2]); err != nil {
					return nil, bad
				}
			}
		case "deny":
			p.asked = nil
		case "pause", "unpause":
			p.asked, p.paused = nil, verb == "pause"
			if tick.Kind = ClockUnpause; p.paused {
				tick.Kind = ClockPause
			}
		case "credit": // credit FROM TO, milliseconds of Unix time
			if len(words) != 2 {
				return nil, bad
			}
			from, err1 := strconv.ParseInt(words[0], 10, 64)
			to, err2 := strconv.ParseInt(words[1], 10, 64)
			if err1 != nil || err2 != nil {
				return nil, bad
			}
			tick.Kind, tick.From, tick.To = ClockCredit, time.UnixMilli(from), time.UnixMilli(to)
		case "flag": // flag B: Black's flag has fallen
			c := colorOf(first(words))
			p.result, p.why = c.Opponent().Letter()+"+T", rules.Saying{Text: "{0} ran out of time", Args: []any{c}}
			tick.Kind = ClockStopped
		case "drawn":
			p.result, p.why = "0", rules.Saying{Text: "both agreed on a draw"}
			tick.Kind = ClockStopped
		default:
			return nil, bad
		}
		if tick.Kind != 0 {
			p.clocks = append(p.clocks, tick)
		}
		after[i+1], stones[i+1] = lines, p.stones
	}
	p.lines = after[len(events)]
	if p.game, err = start.Replay(turns(p.lines)); err != nil {
		return nil, err
	}
	return p, nil
}

// start gives the game before the first turn, and counts the handicap stones that
// Black has yet to place.
func (p *position) start(r *rules.Ruleset, m Match) (*rules.Game, error) {
	s := m.Setup
	if p.placing = 0; m.free() {
		s.Black = p.stones
		if p.placing = s.Handicap - len(p.stones); p.placing > 0 {
			s.Handicap = 0
		}
	}
	return rules.New(r, s)
}

// free reports whether Black places the handicap stones where they like, one
// after another, before White's first turn.
func (m Match) free() bool { return m.Setup.Handicap > 0 && len(m.Setup.Black) == 0 }

// foldProved folds a match and fails if the game is not what was proved when
// its last event was stored: then the program no longer plays the ruleset that
// the game began under, and must not go on as if it did.
func foldProved(m Match, events []Event) (*position, error) {
	p, err := fold(m, events)
	if err != nil {
		return nil, err
	}
	if n := len(events); n > 0 && events[n-1].Proof != p.game.Proof() {
		return nil, fmt.Errorf("event %d: the game replays to %s and was proved as %s", n, p.game.Proof(), events[n-1].Proof)
	}
	return p, nil
}

// clockKind says what a line of the log means to the clocks, after is the game
// after it.
func clockKind(t rules.Turn, after *rules.Game) (k ClockEventKind, by, toPlay rules.Color) {
	switch {
	case t.Kind == rules.Resume:
		return ClockResumed, rules.None, after.ToPlay()
	case t.Kind == rules.Resign || after.Phase() == rules.Over && !t.Kind.IsTurn():
		return ClockStopped, rules.None, rules.None
	case !t.Kind.IsTurn():
		return 0, rules.None, rules.None
	case after.Phase() != rules.Playing:
		return ClockTurn, t.By, rules.None
	}
	return ClockTurn, t.By, after.ToPlay()
}

func turns(lines []line) []rules.Turn {
	log := make([]rules.Turn, len(lines))
	for i, l := range lines {
		log[i] = l.turn
	}
	return log
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

// reading gives what the clocks of the match show.
func (p *position) reading(m Match, now time.Time) Reading { return m.Clock.Read(p.clocks, now) }

// standing gives how the match stands, who sits where being known.
func (p *position) standing(m Match, now time.Time) Standing {
	s := m.Standing
	s.ToMove, s.Result, s.Deadline = "", "", time.Time{}
	switch {
	case s.State == Open || s.State == Cancelled || s.State == Deleted:
		return s
	case p.deleted:
		s.State = Deleted
		return s
	case p.sandbox:
		return s
	case p.result != "":
		s.State, s.Result = Ended, p.result
		return s
	case p.game.Phase() == rules.Over:
		s.State, s.Result = Ended, p.game.Result()
		return s
	case p.game.Phase() == rules.Settling:
		for _, c := range []rules.Color{p.game.ToPlay(), p.game.ToPlay().Opponent()} {
			if !p.game.HasAgreed(c) {
				s.ToMove = s.seat(c)
				break
			}
		}
	default:
		s.ToMove = s.seat(p.game.ToPlay())
	}
	if r := p.reading(m, now); !r.Paused {
		s.Deadline = r.Deadline
	}
	return s
}

func (s Standing) seat(c rules.Color) Person {
	if c == rules.White {
		return s.White
	}
	return s.Black
}

// ReadClocks gives what the clocks of a match show after its events.
func ReadClocks(m Match, events []Event, now time.Time) (Reading, error) {
	p, err := fold(m, events)
	if err != nil {
		return Reading{}, err
	}
	return p.reading(m, now), nil
}
