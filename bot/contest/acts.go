package contest

import (
	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// What the log of a room's moderators says about what one of them did to an event.

// line returns the line of a kind that a step adds to the log of the event.
func (s Step) line(k Kind) (b Body) {
	for _, e := range s.Log {
		if e.Body.Kind == k {
			b = e.Body
		}
	}
	return b
}

func didPublish(_ *Input, after Step) text.Message {
	return say("act.event.publish", after.Contest.Name)
}

func didStart(_ *Input, after Step) text.Message {
	return say("act.event.start", after.Contest.Name, itoa(len(after.Contest.Rounds)))
}

func didExtend(in *Input, after Step) text.Message {
	return say("act.event.extend", after.Contest.Name, clock.LengthText(after.Contest.ends().Sub(in.Contest.ends())))
}

func didWithdraw(in *Input, after Step) text.Message {
	n := after.line(withdrawn).Player + after.line(left).Player // it is one of the two
	return say("act.event.withdraw", after.Contest.Name, named(in.Contest.Players[n-1].Person))
}

func didReplace(in *Input, after Step) text.Message {
	b := after.line(replaced)
	return say("act.event.replace", after.Contest.Name, named(in.Contest.Players[b.Player-1].Person), named(b.Person))
}

func didResult(in *Input, after Step) text.Message {
	score := after.line(corrected).Scores[0]
	t := in.Contest.Rounds[score.Round-1].Tables[score.Table-1]
	black, white := in.Contest.Players[t.Black-1].Person, in.Contest.Players[t.White-1].Person
	return say("act.event.result", after.Contest.Name, itoa(score.Round), itoa(score.Table), named(black), named(white), score.words())
}

func didOrganiser(_ *Input, after Step) text.Message {
	b := after.line(organises)
	if b.Off {
		return say("act.event.organiser.off", after.Contest.Name, named(b.Person))
	}
	return say("act.event.organiser", after.Contest.Name, named(b.Person))
}

func didChoose(_ *Input, after Step) text.Message {
	return say("act.event.choose", after.Contest.Name, itoa(len(after.Contest.Rounds)+1))
}

func didCancel(_ *Input, after Step) text.Message {
	return say("act.event.cancel", after.Contest.Name)
}
