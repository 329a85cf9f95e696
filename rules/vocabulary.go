package rules

import (
	"slices"
)

// The vocabulary: the words that rulesets are written in. Each is a rule
// or a fact, and says what it does in its own name.

// Placement is what all rulesets say of placing a stone, but for repetition.
func Placement(repetition Fact) []Rule {
	return []Rule{Require(PointIsEmpty), PlaceStone, CaptureSurrounded, Require(HasLiberty), Require(repetition)}
}

// PlacementWithSuicide lets a placement take the player's own stones.
func PlacementWithSuicide(repetition Fact) []Rule {
	return []Rule{Require(PointIsEmpty), PlaceStone, CaptureSurrounded, RemoveOwn, Require(repetition)}
}

// Placing stones.
var (
	PointIsEmpty = Fact{"the point is empty", "the point is not empty", func(g *Game) bool {
		return g.board.At(g.turn.At) == None
	}}
	PlaceStone = Rule{"the player places a stone on it", func(g *Game) bool {
		g.board.put(g.board.index(g.turn.At), g.turn.By)
		g.placed[g.turn.By]++
		return true
	}}
	CaptureSurrounded = Rule{"opponent stones without a liberty become prisoners", func(g *Game) bool {
		them := g.turn.By.Opponent()
		g.capture(them, g.board.removeAround(g.board.index(g.turn.At), them))
		return true
	}}
	HasLiberty = Fact{"the stone then has a liberty", "the stone would have no liberty (suicide)", func(g *Game) bool {
		return g.board.hasLiberty(g.board.index(g.turn.At))
	}}
	RemoveOwn = Rule{"the player's own stones without a liberty become the opponent's prisoners", func(g *Game) bool {
		g.capture(g.turn.By, g.board.removeSurrounded(g.board.index(g.turn.At)))
		return true
	}}
)

// capture writes down that stones of colour c were taken off the board.
func (g *Game) capture(c Color, ps []Point) {
	if len(ps) > 0 {
		g.captured[c] += len(ps)
		g.taken = append(g.taken, ps...)
		g.give(c.Opponent(), Prisoner, len(ps))
	}
}

// Repetition.
var (
	NewPosition = Fact{"the position has not occurred before", "", func(g *Game) bool {
		return g.isNew(false)
	}}
	NewSituation = Fact{"the position has not occurred before with the same player to move", "", func(g *Game) bool {
		return g.isNew(true)
	}}
	NotKo = Fact{"the position is not the one before the opponent's last turn (ko)", "", func(g *Game) bool {
		n := len(g.situations) - 2
		return n < g.bansFrom || !g.stood(g.situations[n])
	}}
	LiftBans = Rule{"every ko and superko ban is lifted", func(g *Game) bool {
		g.bansFrom = len(g.situations)
		return true
	}}
	Repeated = Fact{"a placement has made the same position for the third time with the same player to move",
		"no placement has made the same position for the third time with the same player to move", (*Game).repeated}
	RepeatedWhilePlaying = Fact{"a placement has made the same position for the third time with the same player to move: both players may accept no result", "", func(g *Game) bool {
		return g.phase == Playing && g.repeated()
	}}
	// Passes count too: the reading of japanese@1.
	ThirdTimeWhilePlaying = Fact{"the same position has occurred three times with the same player to move: both players may accept no result", "", func(g *Game) bool {
		return g.phase == Playing && g.thirdTime()
	}}
	ThirdTime = Fact{"the same position has occurred three times with the same player to move",
		"the same position has not occurred three times with the same player to move", (*Game).thirdTime}
)

// isNew reports whether the board differs from that of every situation since bans were
// last lifted, and says which it repeats if it does not.
func (g *Game) isNew(toPlay bool) bool {
	for _, s := range g.situations[g.bansFrom:] {
		if s.key == g.board.key && (!toPlay || s.toPlay == g.toPlay) && g.stood(s) {
			return false
		}
	}
	return true
}

// stood reports whether the board is that of s, and says so.
func (g *Game) stood(s situation) bool {
	if s.key != g.board.key || g.boardAt(s.at) != g.board {
		return false
	}
	move := 0
	for _, t := range g.log[:s.at] {
		if t.Kind.IsTurn() {
			move++
		}
	}
	switch ko := move == g.turns-2; {
	case ko && move == 0:
		g.because = saying("the board would be the same as at the start (ko)")
	case ko:
		g.because = saying("the board would be the same as after move {0} (ko)", move)
	case move == 0:
		g.because = saying("the board would be the same as at the start (superko)")
	default:
		g.because = saying("the board would be the same as after move {0} (superko)", move)
	}
	return true
}

// thirdTime reports whether the position has stood three times with the same player to
// move, also after passes.
func (g *Game) thirdTime() bool { return g.times3(func(situation) bool { return true }) }

// repeated reports whether the last turn was a placement that has left the same position
// with the same player to move for the third time, the start included. What passes leave
// is no repetition, because nothing has moved.
func (g *Game) repeated() bool {
	placed := func(s situation) bool { return s.at == 0 || g.log[s.at-1].Kind == Place }
	return placed(g.situations[len(g.situations)-1]) && g.times3(placed)
}

// times3 reports whether the present situation has come three times, of those that count.
func (g *Game) times3(counts func(situation) bool) bool {
	now, n := g.situations[len(g.situations)-1], 0
	for _, s := range g.situations {
		if s.key == now.key && s.toPlay == now.toPlay && counts(s) && g.boardAt(s.at) == g.board {
			n++
		}
	}
	return n >= 3
}

// MayEndWithoutResult reports whether players may accept now that the game ends without a
// result.
func (g *Game) MayEndWithoutResult() bool { return g.Allows(Turn{Kind: NoResult, By: Black}) }

// Passing.
var (
	HandOverStone = Rule{"a pass gives your opponent a pass stone", func(g *Game) bool {
		g.give(g.turn.By.Opponent(), PassStone, 1)
		return true
	}}
	FreePass = Rule{"a pass is free", func(*Game) bool { return true }}

	FirstPass = Fact{"it is the first pass of the game", "", func(g *Game) bool {
		return g.times[Pass] == 1
	}}
	TwoPasses = Fact{"both players have just passed", "", func(g *Game) bool {
		return g.run >= 2
	}}
	TwoPassesAfterTheFirst = Fact{"both players have just passed, not counting the first pass of the game", "", func(g *Game) bool {
		n := g.run
		if g.times[Pass]+g.times[AcceptSuggestion] == g.run { // all the passes there were
			n--
		}
		return n >= 2
	}}
	// TwoPassesAgain is true of the second pass in a row if these passes are all that followed
	// a resumption: the players have then passed twice in succession. Once a stone has been
	// placed there is something new to talk about, and two passes stop play as before.
	TwoPassesAgain = Fact{"both players have passed again at once after play was resumed", "", func(g *Game) bool {
		return g.run >= 2 && g.onlySinceResumption(Pass)
	}}
	// NextPassesAreFinal is what the table hears from a resumption until a stone is placed.
	NextPassesAreFinal = Fact{"if you both pass again now, all stones on the board count as alive", "", func(g *Game) bool {
		return g.phase == Playing && g.onlySinceResumption(Pass)
	}}
	TwoPassesJustBefore = Fact{"the two turns before this one were passes", "the two turns before this one were not both passes", func(g *Game) bool {
		return g.runBefore >= 2
	}}
	WhitePassedFirst = Fact{"White passed first", "", func(g *Game) bool {
		return g.first[Pass] == White
	}}
	BlackPassedFirst = Fact{"Black passed first", "", func(g *Game) bool {
		return g.first[Pass] == Black
	}}
	// WhitePassedFirstAndGains is what the table hears where that decides something.
	WhitePassedFirstAndGains = Fact{"White passed first, so Black gives White half a point", "", WhitePassedFirst.Is}
	BlackStoppedPlay         = Fact{"Black's pass stopped play", "", func(g *Game) bool {
		return g.stopped == Black
	}}
	WhiteStillOwesAPass = Fact{"White must still make the last pass", "", func(g *Game) bool {
		return g.phase == Settling && g.stopped == Black
	}}
	WhiteHandsOverStone = Rule{"White makes the last pass and gives Black a pass stone", func(g *Game) bool {
		g.give(Black, PassStone, 1)
		return true
	}}
)

// Stopping play.
var (
	StopPlay = Rule{"play stops", func(g *Game) bool {
		g.stopped = g.turn.By
		if len(g.rules.Settle) > 0 {
			g.phase = Settling
		} else {
			g.finish()
		}
		return true
	}}
	// CountAllAlive ends a game on which the players could not agree.
	CountAllAlive = Rule{"all stones on the board are alive, and the game is counted", func(g *Game) bool {
		g.stopped = g.turn.By
		g.carryOutAgreed()
		g.finish()
		return true
	}}
	ConcedeGame = Rule{"the opponent wins", func(g *Game) bool {
		g.phase, g.result, g.why = Over, g.turn.By.Opponent().Letter()+"+R", saying("{0} resigned", g.turn.By)
		return true
	}}
	OnOwnTurn = Fact{"it is the player's turn", ErrNotYourTurn.Error(), func(g *Game) bool {
		return g.turn.By == g.toPlay
	}}
)

// carryOutAgreed lets change hands what does so once the count stands.
func (g *Game) carryOutAgreed() {
	for _, r := range g.rules.Agreed {
		g.ruleName = r.Name
		r.Do(g)
	}
}

// finish counts the game and ends it.
func (g *Game) finish() {
	g.phase = Over
	g.score = g.count()
	if g.score == nil {
		return
	}
	switch m := g.score.Margin(); {
	case m > 0:
		g.result = "B+" + m.Decimal()
	case m < 0:
		g.result = "W+" + (-m).Decimal()
	default:
		g.result = "0"
	}
	g.why = saying("Black has {0}, White has {1}", g.score.Black, g.score.White)
}

// Buttons.
var (
	OneButton = Rule{"a button lies on the table", func(g *Game) bool {
		g.table = 1
		return true
	}}
	TwoButtons = Rule{"two buttons lie on the table", func(g *Game) bool {
		g.table = 2
		return true
	}}
	ButtonLies = Fact{"the button lies on the table", "the button has already been taken", func(g *Game) bool {
		return g.table > 0
	}}
	TakeButton            = Rule{"the player takes a button", func(g *Game) bool { return g.takeButton(g.turn.By) }}
	GiveButton            = Rule{"the player gives the opponent a button", func(g *Game) bool { return g.takeButton(g.turn.By.Opponent()) }}
	LastPasserTakesButton = Rule{"the player whose pass stopped play gets a button", func(g *Game) bool { return g.takeButton(g.stopped) }}
	FirstButtonLies       = Fact{"the first button lies on the table", "the first button has already been taken", func(g *Game) bool {
		return g.table == 2
	}}
	TheButtonIsOnTheTable = Fact{"the button is on the table", "", func(g *Game) bool {
		return g.table > 0 && g.phase == Playing
	}}
	OnlyTheLastButtonLies = Fact{"the last button is on the table", "", func(g *Game) bool {
		return g.table == 1 && g.phase == Playing
	}}
)

// takeButton gives a button from the table to a player. Only in a custom ruleset there may
// be none.
func (g *Game) takeButton(c Color) bool {
	if g.table <= 0 {
		g.because = saying("no button lies on the table")
		return false
	}
	g.table--
	g.give(c, ButtonThing, 1)
	return true
}

// Settling: play has stopped, the players mark dead stones and both accept.
var (
	NamesStones = Fact{"there is a stone on every point named", "there is no stone on a point that was named", func(g *Game) bool {
		for _, p := range g.turn.Dead {
			if g.board.At(p) == None {
				g.because = saying("there is no stone on {0}", p)
				return false
			}
		}
		return len(g.turn.Dead) > 0
	}}
	MarkAsDead        = Rule{"the named chains are marked dead", func(g *Game) bool { return g.mark(true, false) }}
	MarkAsSeki        = Rule{"the named chains are marked alive in seki", func(g *Game) bool { return g.mark(false, true) }}
	ClearMarks        = Rule{"the marks on the named chains are removed", func(g *Game) bool { return g.mark(false, false) }}
	ForgetAcceptances = Rule{"both players must accept again", func(g *Game) bool {
		g.agreed = [3]bool{}
		return true
	}}
	HasNotAccepted = Fact{"the player has not accepted yet", "the player has already accepted", func(g *Game) bool {
		return !g.agreed[g.turn.By]
	}}
	AcceptMarks = Rule{"the player accepts the marks; when both players have, dead stones become prisoners and the game is counted", func(g *Game) bool {
		g.agreed[g.turn.By] = true
		if g.agreed[Black] && g.agreed[White] {
			g.liftDead()
			g.carryOutAgreed()
			g.finish()
		}
		return true
	}}
	ResumePlay = Rule{"play goes on: the marks are removed, earlier passes no longer count towards the end, and earlier positions are remembered", func(g *Game) bool {
		g.phase, g.run, g.runBefore, g.stopped = Playing, 0, 0, None
		g.dead, g.seki, g.agreed = nil, nil, [3]bool{}
		return true
	}}
	// Agreement is the talk about dead stones, the same in every ruleset that
	// has it.
	Agreement = map[Kind][]Rule{
		MarkDead:    {Require(NamesStones), MarkAsDead, ForgetAcceptances},
		Unmark:      {Require(NamesStones), ClearMarks, ForgetAcceptances},
		AcceptScore: {Require(HasNotAccepted), AcceptMarks},
		Resume:      {ResumePlay},
		Resign:      {ConcedeGame},
	}
)

// mark sets the marks of the chains that the turn names. It refuses to change
// nothing: that would only take back what the players have accepted.
func (g *Game) mark(dead, seki bool) bool {
	before, beforeSeki := g.dead, g.seki
	for _, p := range g.turn.Dead {
		for _, q := range g.board.Chain(p) {
			g.dead = with(g.dead, q, dead)
			g.seki = with(g.seki, q, seki)
		}
	}
	if slices.Equal(before, g.dead) && slices.Equal(beforeSeki, g.seki) {
		g.because = saying("these stones already have that mark")
		return false
	}
	return true
}

// with returns a sorted copy of ps with or without p.
func with(ps []Point, p Point, in bool) []Point {
	i, found := slices.BinarySearchFunc(ps, p, comparePoints)
	switch {
	case in && !found:
		return slices.Insert(slices.Clone(ps), i, p)
	case !in && found:
		return slices.Delete(slices.Clone(ps), i, i+1)
	}
	return ps
}

func comparePoints(a, b Point) int {
	if a.Y != b.Y {
		return int(a.Y) - int(b.Y)
	}
	return int(a.X) - int(b.X)
}

// liftDead takes the stones marked as dead off the board, as prisoners.
func (g *Game) liftDead() {
	g.ruleName = LiftedDead
	var of [3][]Point
	for _, p := range g.dead {
		c := g.board.At(p)
		of[c] = append(of[c], p)
	}
	g.board.Lift(g.dead)
	g.capture(Black, of[Black])
	g.capture(White, of[White])
	g.taken = nil
}
