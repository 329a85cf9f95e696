package discord

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// A twin is another Halfpoint with the same token and another database. Discord sends
// everything to both, and takes the answer of the one that is faster. The processes on one database are no
// twins: each shard has one connection.

// A twinWatch notices a twin: interactions have an answer before this process has sent any.
// Discord may repeat some that a process on the same database has answered, just after the shard
// has moved, and rarely one at another time.
type twinWatch struct {
	mu      sync.Mutex
	from    time.Time // interactions count from then on
	since   time.Time // the first that counts
	answers int
	said    bool
}

const (
	twinAnswers = 3                // interactions that another one answers
	twinWithin  = 10 * time.Minute // so many
	twinSettles = 15 * time.Second // after a connection Discord repeats nothing any more
)

// connected notes that a shard has connected.
func (w *twinWatch) connected() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.from, w.answers = time.Now().Add(twinSettles), 0
}

// answered notes that somebody else has answered an interaction, and reports whether that is news
// of a twin.
func (w *twinWatch) answered() (twin bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.said || now.Before(w.from) {
		return false
	}
	if w.answers == 0 || now.Sub(w.since) > twinWithin {
		w.since, w.answers = now, 0
	}
	w.answers++
	w.said = w.answers == twinAnswers
	return w.said
}

// direct returns what answers an interaction that came through the gateway.
func (a *Adapter) direct(in interaction.Interaction) interaction.Responder {
	respond := interaction.Direct(a.rest.Client, in)
	var tried atomic.Bool
	return func(ctx context.Context, r rest.Response) (*rest.Sent, error) {
		again := tried.Swap(true)
		sent, err := respond(ctx, r)
		if !again && rest.Code(err) == discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged && a.twin.answered() {
			a.log.Warn("another Halfpoint with another database uses the same token: Discord sends every command to both, and people see the answer of one; stop it, or give it a bot of its own")
		}
		return sent, err
	}
}
