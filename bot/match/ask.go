package match

import (
	"cmp"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Undo, and the questions that players ask each other.

// FreeUndo is the time in which players may take back their own last turn without
// asking, unless the room has another setting.
const FreeUndo = 60 * time.Second

// undo takes back the person's own last turn: freely for a minute and before it
// is answered, later by asking the opponent.
func undo(in *Input) Step {
	nothing := in.Refuse(say("undo.nothing", in.number()))
	if len(in.Position.Lines) == 0 && len(in.Position.Stones) > 0 {
		return in.undoStone()
	}
	if len(in.Position.Lines) == 0 {
		return nothing
	}
	lines := in.Position.Lines
	for len(lines) > 1 && in.Position.suggested(lines[len(lines)-1]) { // the bot's marks go with the turn that stopped play
		lines = lines[:len(lines)-1]
	}
	last := lines[len(lines)-1]
	mine := func(l Line) bool { return l.Turn.Kind.IsTurn() && in.Match.Seat(l.Turn.By) == in.By }
	alone := in.Match.Black == in.Match.White
	if mine(last) && last.Seq > in.Position.Branch && (alone || in.soon(last.Seq)) {
		return in.step(above(say("undone", named(in.By), text.Turn(last.Turn))), body(eventUndo, last.Seq-1))
	}
	if in.Position.Game.Phase() != rules.Playing {
		return in.Refuse(say("undo.settling", in.number()))
	}
	for i := len(in.Position.Lines) - 1; i >= 0; i-- {
		if l := in.Position.Lines[i]; mine(l) && l.Seq > in.Position.Branch {
			turns := in.Position.since(l.Seq - 1)
			return in.ask("undo "+strconv.Itoa(l.Seq-1), say("request.undo", len(turns), named(in.By), in.other(), in.number(), text.List(turns...)))
		}
	}
	return nothing
}

// soon reports whether an event may be taken back without asking.
func (in *Input) soon(seq int) bool {
	free := cmp.Or(time.Duration(in.Room.Undo)*time.Second, FreeUndo)
	return in.Now.Sub(in.Position.happened(seq-1)) <= free
}

// since returns the turns after an event, which an undo takes back, or the last handicap
// stone if there is none.
func (p *Position) since(seq int) (turns []text.Message) {
	for _, l := range p.Lines {
		if l.Seq > seq && l.Turn.Kind.IsTurn() {
			turns = append(turns, text.Turn(l.Turn))
		}
	}
	if n := len(p.Stones); len(turns) == 0 && n > 0 {
		turns = append(turns, say("stone.words", p.Stones[n-1].String()))
	}
	return turns
}

// other is the opponent, as a question calls them.
func (in *Input) other() text.Message {
	c := in.color().Opponent()
	if in.Match.Black == in.Match.White {
		return text.Color(c)
	}
	return text.Called(string(in.Match.Seat(c)))
}

// ask puts a question to the opponent. It holds until it is answered or a turn
// is made. How, if it is there, tells how to answer it.
func (in *Input) ask(what string, question text.Message, how ...text.Message) Step {
	if a := in.Position.Asked; a != nil && (in.Match.State == Going || in.Match.State == Sandbox || in.asked("delete") || in.asked("rematch") || in.asked("page")) { // else the end has answered it
		if in.Match.Seat(a.By) == in.By {
			return in.alreadyAsked()
		}
		return in.answerFirst()
	}
	if how == nil {
		how = []text.Message{say("request.how")}
	}
	by := in.color()
	w := words{above: append([]text.Message{question}, how...), calls: in.Match.Seat(by.Opponent()), quiet: true}
	return in.step(w, body(eventAsk, by.Letter(), what))
}

// wish names what a question is about: "the undo".
func wish(a *Ask) text.Message { return say("wish." + a.What) }

// byCommand reports whether giving the same command agrees to a question, because /accept
// could mean the count.
func (a *Ask) byCommand() bool { return a.What == "delete" || a.What == "page" }

// alreadyAsked refuses to ask again while the opponent has not answered.
func (in *Input) alreadyAsked() Step {
	a := in.Position.Asked
	return in.Refuse(say("request.waits", in.number(), named(in.Match.Seat(a.By.Opponent())), wish(a)))
}

// answerFirst refuses until the person has answered the opponent.
func (in *Input) answerFirst() Step {
	a, key := in.Position.Asked, "request.answer"
	switch a.What {
	case "delete":
		key = "request.answer.delete"
	case "page":
		key = "request.answer.page"
	}
	return in.Refuse(say(key, in.number(), named(in.Match.Seat(a.By)), wish(a)))
}

// agree answers what the opponent has asked.
func (in *Input) agree() (Step, bool) {
	a := in.Position.Asked
	stopped := in.Position.Game.Phase() != rules.Playing
	switch {
	case in.askedByOther("rematch"):
		return rematch(in), true
	case a != nil && a.byCommand() && !stopped && in.Match.Seat(a.By) != in.By:
		return in.answerFirst(), true
	case a == nil, a.byCommand():
		return Step{}, false
	case stopped && a.What != "rematch" && (a.What != "pause" || in.Match.Seat(a.By) == in.By && in.Request.Args["seq"] == ""): // the count is meant
		return Step{}, false
	case in.Match.Seat(a.By) == in.By && in.Match.Seat(a.By.Opponent()) != in.By:
		return in.alreadyAsked(), true
	}
	switch a.What {
	case "undo":
		turns := in.Position.since(a.back)
		return in.step(above(say("undo.agreed", len(turns), named(in.By), text.List(turns...))), body(eventUndo, a.back, "agreed")), true
	case "draw":
		return in.step(words{below: []text.Message{say("over.plain", in.number(), say("draw"))}}, body(eventDrawn)), true
	}
	return in.pause(), true
}

// decline refuses a challenge or the opponent's question, or takes back the person's
// own question.
func decline(in *Input) Step {
	m := in.Match
	if m.State == Open {
		if m.Invited != in.By {
			return in.Refuse(say("decline.nothing", in.number()))
		}
		return in.close(Cancelled, body(eventDecline), above(say("challenge.declined", named(in.By), in.number(), text.Called(string(m.Opener)))))
	}
	if s, blocked := in.blocked(); blocked {
		return s
	}
	a := in.Position.Asked
	if a == nil {
		return in.Refuse(say("decline.nothing", in.number()))
	}
	key, other := "request.declined", m.Seat(a.By)
	if other == in.By {
		key, other = "request.dropped", m.Seat(a.By.Opponent())
	}
	declined := say(key, named(in.By), in.number(), wish(a), text.Called(string(other)))
	return in.step(words{above: []text.Message{declined}, calls: other, quiet: true}, body(eventDeny))
}

// draw declares a draw in Ultimate Go, and offers one under other rulesets.
func draw(in *Input) Step {
	if in.Position.Game.Rules().Has(rules.Draw) {
		return makeTurn(rules.Draw)(in)
	}
	if in.Match.State == Sandbox {
		return in.Refuse(say("sandbox.draw", in.number()))
	}
	if in.Position.Game.Phase() != rules.Playing {
		return in.Refuse(say("stopped", in.number()))
	}
	if in.askedByOther("draw") {
		s, _ := in.agree()
		return s
	}
	return in.ask("draw", say("request.draw", named(in.By), in.other(), in.number()))
}

// page gives a match a page that is older than those of its room, if both players agree.
func page(in *Input) Step {
	m := in.Match
	if s, gone := in.gone(); gone {
		return s
	}
	switch {
	case m.Paged(in.Position, in.Room):
		return in.Refuse(say("page.already", in.number()))
	case !in.Room.Pages.On():
		return in.Refuse(NoPage(m, in.Room))
	case !in.plays():
		return in.Refuse(say("onlooker", in.number()))
	case m.State == Open:
		return in.Refuse(m.Waiting(in.By))
	case !in.yes("agree"):
		return in.Refuse(NoPage(m, in.Room))
	case m.Black == m.White, in.askedByOther("page"):
		paged := *in
		paged.Match.Page = cmp.Or(m.Page, in.NewPage)
		return paged.step(words{above: []text.Message{say("page.agreed", in.number())}, quiet: true}, body(eventPage))
	}
	return in.ask("page", say("request.page", named(in.By), in.other(), in.number()), say("request.how.page"))
}

// NoPage says why a match has no page.
func NoPage(m Match, room RoomSettings) text.Message {
	switch {
	case room.Pages == SealedPages:
		return say("page.sealed")
	case !room.Pages.On():
		return say("page.off")
	}
	return say("page.older", strconv.Itoa(m.Number))
}

// pause asks to stop the clocks, or lets them run again.
func pause(in *Input) Step {
	switch {
	case in.Match.Clock.Kind == clock.None:
		return in.Refuse(say("pause.noclock", in.number()))
	case in.Position.paused:
		return in.step(above(say("unpaused", named(in.By), in.number())), body(eventUnpause))
	case !in.yes("pause"):
		return in.Refuse(say("pause.running", in.number()))
	case in.Match.Black == in.Match.White, in.askedByOther("pause"):
		return in.pause()
	}
	return in.ask("pause", say("request.pause", named(in.By), in.other(), in.number()))
}

func (in *Input) pause() Step {
	return in.step(above(say("paused", in.number())), body(eventPause))
}

// dispute begins a branch, on which the players try out what is dead, or leaves it and
// returns to the count.
func dispute(in *Input) Step {
	if in.yes("back") {
		return in.leaveBranch()
	}
	if in.Position.Branch > 0 { // the other player may have been faster
		return in.Refuse(say("branch.already", in.number()))
	}
	if !in.Position.Game.Rules().Has(rules.AcceptScore) {
		return in.Refuse(in.noAgreement(in.Position.Game.Rules()))
	}
	if in.Position.Game.Phase() != rules.Settling {
		return in.Refuse(say("playing", in.number()))
	}
	w := words{above: []text.Message{say("trial.begins", named(in.By), in.number())}, calls: in.Match.Seat(in.color().Opponent())}
	return in.step(w, body(eventBranch, in.color().Letter()))
}

func (in *Input) leaveBranch() Step {
	if in.Position.Branch == 0 {
		return in.Refuse(say("branch.none", in.number()))
	}
	return in.step(above(say("trial.left", named(in.By), in.number())), leave)
}
