package discord

import (
	"context"
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// tidyFor is how long something is tried that can wait.
const tidyFor = 2 * time.Minute

// bare takes the controls of a message away, unless it is the one that was just
// shown.
func (a *Adapter) bare(old string, shown bot.Receipt) {
	channel, message := readReceipt(old)
	if channel == "" || old == string(shown) {
		return
	}
	a.later(channel, func(ctx context.Context) error {
		_, err := a.low.Edit(ctx, channel, message, rest.Message{Components: []rest.Component{}})
		return err
	})
}

// remove takes a message away.
func (a *Adapter) remove(old string) {
	channel, message := readReceipt(old)
	if channel == "" {
		return
	}
	a.later(channel, func(ctx context.Context) error { return a.low.Delete(ctx, channel, message) })
}

// later does what can wait. It is tried again where Discord asks to wait, and
// forgotten when it is refused or the program ends: a press of an old button is
// answered that the game has moved on.
func (a *Adapter) later(channel string, do func(ctx context.Context) error) {
	placed := a.spare(channel, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, tidyFor)
		defer cancel()
		for ctx.Err() == nil {
			err := do(ctx)
			var wait *rest.RateLimited
			if !errors.As(err, &wait) {
				if err != nil && status(err) != 404 {
					a.log.Debug("a message was not tidied up", "error", err)
				}
				return
			}
			pause(ctx, wait.Wait)
		}
	})
	if !placed {
		a.log.Debug("a message was not tidied up: too much waits")
	}
}

// spare finds a place for what can wait, after what came before under the same
// key. What finds none at once is left, and false reported: people come first.
func (a *Adapter) spare(key string, do func(ctx context.Context)) bool {
	a.mu.Lock()
	work, ctx := a.work, a.ctx
	a.mu.Unlock()
	if work == nil || ctx.Err() != nil {
		return false
	}
	return work.Try(key, func() { do(ctx) }) == nil
}
