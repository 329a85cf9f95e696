package bot

import (
	"reflect"
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// limits bound how many unfinished games there may be in one channel.
type limits struct {
	Person  int // of each person who opens games
	Channel int // of all
}

// closed refuses to open a game where they are not to be opened.
func (in *input) closed() (Step, bool) {
	if in.room.Opens != "nobody" {
		return Step{}, false
	}
	texts := []Text{say("opens.nobody")}
	if len(in.welcome) > 0 {
		var rooms []Text
		for _, r := range in.welcome {
			rooms = append(rooms, r.Link(say("games.here")))
		}
		texts = append(texts, say("opens.elsewhere", text.List(rooms...)))
	} else {
		texts = append(texts, say("opens.how"))
	}
	return in.refuse(texts...), true
}

// tooMany refuses to open one more game than there may be.
func (in *input) tooMany() (Step, bool) {
	yours := howMany(in.yours, func(m Match) bool { return m.State != Sandbox })
	switch {
	case len(in.here) >= in.limits.Channel:
		return in.refuse(say("too.many.here", strconv.Itoa(len(in.here)))), true
	case yours >= in.limits.Person:
		return in.refuse(say("too.many.yours", strconv.Itoa(yours))), true
	}
	return Step{}, false
}

// replaced gives the open challenges of the same person that in.match, another
// one, takes the place of: those to the same opponent, and of those to anybody
// the ones with the same terms. Whoever asks again has changed their mind, or did
// not see that they had asked.
func (in *input) replaced() (ids []GameID) {
	m := in.match
	for _, old := range in.yours {
		if old.State != Open || old.Opener != in.by || old.Where != m.Where || old.Invited != m.Invited {
			continue
		}
		same := old.Rules == m.Rules && old.Clock == m.Clock && old.Rated == m.Rated && reflect.DeepEqual(old.Setup, m.Setup)
		if m.Invited != "" || same {
			ids = append(ids, old.ID)
		}
	}
	return ids
}

// replace cancels an open challenge that game by of the same opener has replaced,
// unless somebody has joined it meanwhile.
func replace(in *input, opener Person, by int) Step {
	if in.match.State != Open {
		return in.refuse()
	}
	m := in.match
	m.State = Cancelled
	return in.as(opener).with(m.Standing).step([]string{"cancel"}, []Text{say("replaced", strconv.Itoa(by), in.number())}, nil)
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
