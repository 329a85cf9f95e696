package bot

import (
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// heard returns what those hear of a moment who do not see it: what the last turn did,
// what changed hands, and at the newest moment which stones are marked, who has accepted or
// asked for what, and what is next. It is for the person by, who may be nobody,
// and in sentences without their stops; some are empty.
func (v *View) heard(m match.Match, last, p *match.Position, l *text.Language, by match.PersonID) []string {
	g := p.Game
	said := []string{v.Scene.Told}
	for _, gain := range gains(g.EntriesOf(g.Turns())) {
		said = append(said, l.Say(gain))
	}
	if p.Branch > 0 && !p.Over() {
		said = append(said, l.PictureWords().Trial)
	}
	if p == last {
		said = append(said, v.marked(p, l)...)
		said = append(said, v.Scene.Accepted()...)
		said = append(said, v.Question)
	}
	return append(said, v.asked(m, p, l, by))
}

// openQuestion says what one player asks the other, in other words for the person by who is asked;
// empty: nothing.
func openQuestion(m match.Match, p *match.Position, l *text.Language, by match.PersonID) string {
	a := p.Asked
	switch {
	case a == nil || p.Over() && a.What != "rematch":
		return ""
	case m.Seat(a.By.Opponent()) == by:
		return l.Say(say("view.your.answer", text.Color(a.By), say("wish."+a.What)))
	}
	return l.Say(say("request.open", text.Color(a.By), say("wish."+a.What), text.Color(a.By.Opponent())))
}

// marked says which stones are marked as dead, and what the count is with them.
func (v *View) marked(p *match.Position, l *text.Language) (said []string) {
	g := p.Game
	if g.Phase() == rules.Playing && !p.Over() {
		return nil
	}
	if dead := match.OneOfEach(g.Board(), g.Dead()); len(dead) > 0 {
		said = append(said, l.Say(say("view.dead", rules.Names(dead))))
	} else if !p.Over() {
		said = append(said, l.Say(say("view.dead.none")))
	}
	return append(said, v.Scene.Headline)
}

// asked says what is next, and whether that is for the person by to do.
func (v *View) asked(m match.Match, p *match.Position, l *text.Language, by match.PersonID) string {
	g := p.Game
	if by == "" || m.State != match.Going || p.Over() {
		return v.Scene.Next
	}
	switch g.Phase() {
	case rules.Playing:
		if m.Seat(g.ToPlay()) == by {
			return l.Say(say("view.your.turn", text.Color(g.ToPlay())))
		}
	case rules.Settling:
		for _, c := range []rules.Color{rules.Black, rules.White} {
			if !g.HasAgreed(c) && m.Seat(c) == by {
				return l.Say(say("view.your.count"))
			}
		}
	}
	return v.Scene.Next
}
