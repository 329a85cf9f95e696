package match

import "github.com/halfpoint-go/halfpoint/bot/text"

// logged adds to a step of a command what the log of moderators says about it, if the person
// could not have done it without being a moderator.
func (in *Input) logged(c Command, s Step) Step {
	if !c.Act || !in.Request.Moderator || s.Match == nil {
		return s
	}
	other := *in
	other.Request.Moderator = false
	if c.change(&other).Match != nil {
		return s
	}
	var what text.Message
	switch s.Match.State {
	case Cancelled:
		what = say("act.cancel", in.number())
	case Deleted:
		what = say("act.delete", in.number())
	default:
		what = say("act.decide", in.number(), Outcome(*s.Match, s.After))
	}
	s.Act = &Act{Where: in.Match.Where.WithoutThread(), What: what}
	return s
}
