package bot

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strconv"
)

// GameLimits bound how many unfinished games there may be in one channel, so that
// nobody can fill it. Zero stands for the default.
type GameLimits struct {
	Person  int // of each person who opens games; 0: 20
	Channel int // of all; 0: 200
}

// DefaultGameLimits holds where nothing else is said.
var DefaultGameLimits = GameLimits{Person: 20, Channel: 200}

func (l GameLimits) orDefault() GameLimits {
	return GameLimits{cmp.Or(l.Person, DefaultGameLimits.Person), cmp.Or(l.Channel, DefaultGameLimits.Channel)}
}

// look is how many games of a channel a request looks through to find the one
// that it is about: all there may be, and sandboxes besides.
func (l GameLimits) look() int { return 2 * l.Channel }

// unfinished looks up the games that count against the limits.
func (b *Bot) unfinished(ctx context.Context, in *input) (err error) {
	in.limits = b.games
	here := Room{Platform: in.req.Where.Platform, Channel: in.req.Where.Channel}
	in.here, err = b.store.Matches(ctx, Query{Where: here, States: []State{Open, Going}, Limit: b.games.Channel})
	if err != nil {
		return err
	}
	in.yours, err = b.store.Matches(ctx, Query{Where: here, Player: in.by, States: []State{Open, Going, Sandbox}, Limit: b.games.Person + b.games.look()})
	return err
}

// tooMany refuses to open one more game than there may be.
func (in *input) tooMany() (Step, bool) {
	yours := filter(in.yours, func(m Match) bool { return m.State != Sandbox })
	switch {
	case len(in.here) >= in.limits.Channel:
		return in.refuse(say("too.many.here", strconv.Itoa(len(in.here)))), true
	case len(yours) >= in.limits.Person:
		return in.refuse(say("too.many.yours", strconv.Itoa(len(yours)))), true
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

// replace cancels an open challenge that another one has replaced, unless
// somebody has joined it meanwhile.
func (b *Bot) replace(ctx context.Context, old GameID, by *Match, opener Person) error {
	request := fmt.Sprintf("replace:%s:%s", old, by.ID)
	return b.act(ctx, old, request, b.now(), func(in *input) Step {
		if in.match.State != Open {
			return in.refuse()
		}
		m := in.match
		m.State = Cancelled
		return in.as(opener).with(m.Standing).step([]string{"cancel"}, []Text{say("replaced", strconv.Itoa(by.Number), in.number())}, nil)
	})
}
