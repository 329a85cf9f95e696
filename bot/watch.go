package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// What somebody who runs the bot can see of it. All of this is in memory, and may be read
// every second.

// A Watched adapter tells how its connection to the platform is.
type Watched interface {
	// Health may be called concurrently, and before Run.
	Health() Health
}

// A Health is how the connection of an adapter to its platform is.
type Health struct {
	Connected bool              // with all of the platform that this process serves, which may be nothing
	Lacks     string            // what is not connected, for people who run the bot: "1 of 2 shards"; may be empty
	Since     time.Time         // when Connected changed last; zero: it never has
	Event     time.Time         // when the platform last sent something that people did there; zero: it never has
	Heartbeat time.Time         // when the platform last answered; zero: it never has, or there is none to answer
	Refused   map[string]uint64 // requests that the adapter refused, by reason, of which there are few
}

// A Refusal is why requests on a platform were refused.
type Refusal struct{ Platform, Reason string }

// Reasons why the bot refuses requests.
const (
	RefusedFailed    = "failed"        // a fault of the program or its database: the request may be asked again
	RefusedDamaged   = "damaged_game"  // the game is damaged; see ErrDamaged
	RefusedConflict  = "conflict"      // other requests came first, again and again; likewise
	RefusedOutdated  = "outdated"      // the game has moved on since the button was made
	RefusedNotMay    = "not_permitted" // the person may not do that: a moderator, an organiser or a player could
	RefusedManyGames = "game_limit"    // too many games are open
	RefusedElse      = "other"         // the rules, the state of the game, or a request that makes no sense
)

// RefusalReasons are all of these.
var RefusalReasons = []string{RefusedFailed, RefusedDamaged, RefusedConflict, RefusedOutdated, RefusedNotMay, RefusedManyGames, RefusedElse}

// whyRefused has the reasons of refusals by the keys of their texts; all others are RefusedElse.
var whyRefused = map[string]string{
	"failed": RefusedFailed, "stale.game": RefusedDamaged,
	"moved.on": RefusedOutdated, "too.late": RefusedOutdated,
	"onlooker": RefusedNotMay, "not.invited": RefusedNotMay, "sandbox.whose": RefusedNotMay,
	"too.many.yours": RefusedManyGames, "too.many.here": RefusedManyGames, "sandbox.many": RefusedManyGames,
}

func reasonOf(texts []Text) string {
	for _, t := range texts {
		if slices.Contains(forModerators, t.Key) {
			return RefusedNotMay
		}
		if r, ok := whyRefused[t.Key]; ok {
			return r
		}
	}
	return RefusedElse
}

// Counts are how many requests came since the start, by platform, and how many of them were
// refused.
type Counts struct {
	Requests map[string]uint64
	Refused  map[Refusal]uint64
}

// A counter counts requests. Its methods may be called concurrently.
type counter struct {
	mu sync.Mutex
	Counts
}

func newCounter() *counter {
	return &counter{Counts: Counts{Requests: map[string]uint64{}, Refused: map[Refusal]uint64{}}}
}

// asked counts a request.
func (c *counter) asked(platform string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Requests[platform]++
}

// refused counts a refusal.
func (c *counter) refused(platform, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Refused[Refusal{platform, reason}]++
}

// answered counts an answer if it is a refusal.
func (c *counter) answered(r Request, refused bool, texts []Text) {
	if refused {
		c.refused(r.Where.Platform, reasonOf(texts))
	}
}

// failed counts a request that could not be handled, unless its asker has gone.
func (c *counter) failed(ctx context.Context, r Request, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && ctx.Err() == nil {
		reason := RefusedFailed
		if errors.Is(err, ErrConflict) {
			reason = RefusedConflict
		}
		c.refused(r.Where.Platform, reason)
	}
}

// Counts returns how many requests came, and how many were refused.
func (b *Bot) Counts() Counts {
	b.counter.mu.Lock()
	defer b.counter.mu.Unlock()
	return Counts{maps.Clone(b.counter.Requests), maps.Clone(b.counter.Refused)}
}

// Waits returns the posts that wait to be shown; see [outbox.Outbox.Waits].
func (b *Bot) Waits(ages []time.Duration) map[string]outbox.Waits { return b.outbox.Waits(ages) }

// Busy returns how long each of the bot's main loops has been at one piece of work; 0: it
// waits for some. One that is busy for a minute hangs.
func (b *Bot) Busy() map[string]time.Duration {
	return map[string]time.Duration{"timed actions": b.ticking.For(b.now()), "posts": b.outbox.Busy()}
}
