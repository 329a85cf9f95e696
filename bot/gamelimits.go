package bot

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// GameLimits bound how many unfinished games there may be in one channel, so that
// nobody can fill it. Zero means the default.
type GameLimits struct {
	Person  int // of each person who opens games; 0: 20
	Channel int // of all; 0: 200
}

// DefaultGameLimits are the limits without any configuration.
var DefaultGameLimits = GameLimits{Person: 20, Channel: 200}

func (l GameLimits) orDefault() GameLimits {
	return GameLimits{cmp.Or(l.Person, DefaultGameLimits.Person), cmp.Or(l.Channel, DefaultGameLimits.Channel)}
}

// look is the number of games of a channel among which a request looks for its own:
// all that the limits allow, and sandboxes.
func (l GameLimits) look() int { return 2 * l.Channel }

// unfinished looks up the games that count against the limits.
func (b *Bot) unfinished(ctx context.Context, in *task) (err error) {
	in.Limits = match.Limits(b.games)
	if s := in.req.Seats; s != nil {
		in.Sat = s.Since.Truncate(time.Millisecond) // as the store keeps the times of games
	}
	here := in.req.Where.WithoutThread()
	in.Here, err = b.store.Matches(ctx, Query{Where: here, States: []match.State{match.Open, match.Going}, Limit: b.games.Channel})
	if err != nil {
		return err
	}
	in.Yours, err = b.store.Matches(ctx, Query{Where: here, Player: in.By, States: []match.State{match.Open, match.Going, match.Sandbox}, Limit: b.games.Person + b.games.look()})
	return err
}

// replace cancels an open challenge that another one has replaced, unless
// somebody has joined it meanwhile. It returns the posts that the adapter of r shows
// itself.
func (b *Bot) replace(ctx context.Context, r Request, old match.GameID, by *match.Match, opener match.PersonID) ([]outbox.Pending, error) {
	request := fmt.Sprintf("replace:%s:%s", old, by.ID)
	return b.act(ctx, r, old, request, b.now(), nil, func(in *match.Input) match.Step { return match.Replace(in, opener, *by) })
}
