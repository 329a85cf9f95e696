package bot

import (
	"context"
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// LogPlatform is the platform whose messages the bot itself stores.
const LogPlatform = "web"

// A RoomLog keeps messages. Its methods may be called concurrently.
type RoomLog interface {
	// Append stores a message and sets its N. If there is a message with its key
	// already, Append returns that message.
	Append(ctx context.Context, m outbox.Message) (outbox.Message, error)
	// Message returns the message with a key, or ErrNotFound.
	Message(ctx context.Context, key string) (outbox.Message, error)
	// Since returns at most limit messages of a room with N above after, in order; if
	// there are more, the newest.
	Since(ctx context.Context, room string, after int64, limit int) ([]outbox.Message, error)
	// After returns at most limit messages of all rooms with N above after, in order; if
	// there are more, the oldest. Messages appended later come after all that it has
	// returned.
	After(ctx context.Context, after int64, limit int) ([]outbox.Message, error)
	// Last returns the N of the newest message of all rooms; 0: there is none.
	Last(ctx context.Context) (int64, error)
}

// ErrAlike means that another browser holds a name that looks like a new one.
var ErrAlike = errors.New("another browser holds a name that looks like it")

// A Holder is the browser that holds a name or a seat in the local room. Only this
// browser may write and read as the person of that name.
type Holder struct {
	Platform string
	ID       string // of the person, as in Who
	Looks    string // what confusable names have in common, see Looks; empty for a seat
	Secret   string // hash of what the browser has; empty: the name is from before names had holders
	Since    int64  // N of the last message for that person that came before the holder
	// Kept: nobody else may have a seat before, where there are several processes; else zero.
	Kept time.Time
}
