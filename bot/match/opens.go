package match

import (
	"reflect"
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Limits bound how many unfinished games there may be in one channel.
type Limits struct {
	Person  int // of each person who opens games
	Channel int // of all
}

// closed refuses to open a game where they are not to be opened.
func (in *Input) closed() (Step, bool) {
	if in.Room.Opens != "nobody" {
		return Step{}, false
	}
	texts := []text.Message{say("opens.nobody")}
	if len(in.Welcome) > 0 {
		var rooms []text.Message
		for _, r := range in.Welcome {
			rooms = append(rooms, r.Link(say("games.here")))
		}
		texts = append(texts, say("opens.elsewhere", text.List(rooms...)))
	} else {
		texts = append(texts, say("opens.how"))
	}
	return in.Refuse(texts...), true
}

// tooMany refuses to open one more game than there may be.
func (in *Input) tooMany() (Step, bool) {
	yours := howMany(in.Yours, func(m Match) bool { return m.State != Sandbox })
	switch {
	case len(in.Here) >= in.Limits.Channel:
		return in.Refuse(say("too.many.here", strconv.Itoa(len(in.Here)))), true
	case yours >= in.Limits.Person:
		return in.Refuse(say("too.many.yours", strconv.Itoa(yours))), true
	}
	return Step{}, false
}

// replaced gives the open challenges of the same person that in.match, another
// one, takes the place of: those to the same opponent, and of those to anybody
// the ones with the same terms. Whoever asks again has changed their mind, or did
// not see that they had asked.
func (in *Input) replaced() (ids []GameID) {
	m := in.Match
	for _, old := range in.Yours {
		if old.State != Open || old.Opener != in.By || old.Where != m.Where || old.Invited != m.Invited {
			continue
		}
		same := old.Rules == m.Rules && old.Clock == m.Clock && old.Rated == m.Rated && reflect.DeepEqual(old.Setup, m.Setup)
		if m.Invited != "" || same {
			ids = append(ids, old.ID)
		}
	}
	return ids
}

// Replace cancels an open challenge that game by of the same opener has replaced,
// unless somebody has joined it meanwhile.
func Replace(in *Input, opener Person, by int) Step {
	if in.Match.State != Open {
		return in.Refuse()
	}
	m := in.Match
	m.State = Cancelled
	return in.as(opener).with(m.Standing).step([]string{"cancel"}, []text.Message{say("replaced", strconv.Itoa(by), in.number())}, nil)
}

// howMany counts matches.
func howMany(ms []Match, are func(Match) bool) (n int) {
	for _, m := range ms {
		if are(m) {
			n++
		}
	}
	return n
}
