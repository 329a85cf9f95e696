package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// mostGames is the number of games of a channel among which a request looks for its own:
// all that the limits allow, and sandboxes.
func (b *Bot) mostGames() int { return 2 * b.games.Channel }

// unfinished looks up the games that count against the limits: those of events do not.
func (b *Bot) unfinished(ctx context.Context, in *task) (err error) {
	in.Limits = b.games
	if s := in.req.Seats; s != nil {
		in.Sat = s.Since.Truncate(time.Millisecond) // as the store keeps the times of games
	}
	here := in.req.Where.WithoutThread()
	in.Here, err = b.store.Matches(ctx, Query{Where: here, States: []match.State{match.Open, match.Going}, Own: true, Limit: b.games.Channel})
	if err != nil {
		return err
	}
	in.Yours, err = b.store.Matches(ctx, Query{Where: here, Player: in.By, States: []match.State{match.Open, match.Going, match.Sandbox}, Own: true, Limit: b.games.Person + b.mostGames()})
	return err
}

// replace cancels an open challenge that another one has replaced, unless
// somebody has joined it meanwhile. It returns the posts that the adapter of r shows
// itself.
func (b *Bot) replace(ctx context.Context, r Request, old match.GameID, by *match.Match, opener match.PersonID) ([]outbox.Pending, error) {
	request := fmt.Sprintf("replace:%s:%s", old, by.ID)
	return b.act(ctx, r, old, request, b.now(), nil, func(in *match.Input) match.Step { return match.Replace(in, opener, *by) })
}
