package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A heap is posts that wait, and a holder's lease for all rooms.
type heap struct {
	blankDisk
	posts []match.OutboxPost
}

func (h heap) Waiting(context.Context) ([]match.OutboxPost, error) { return h.posts, nil }
func (h heap) Decorations(context.Context) ([]Row, error)          { return nil, nil }
func (h heap) Lease(match.Room) (holder string, ok bool)           { return "b", true }
func (h heap) Under(ctx context.Context, _ match.Room) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// Whoever takes over a room looks for each post that waits there, but does not show boards again
// for which there are newer ones, unless the last holder has tried to send them.
func TestOldBoardsAtATakeover(t *testing.T) {
	tried := board("b1", 1)
	tried.Tried = true
	h := heap{posts: []match.OutboxPost{tried, board("b2", 2), notice("n3", 3), board("b4", 4), board("b5", 5)}}
	for i := range h.posts {
		h.posts[i].N = i + 1
	}
	b := New(Config{Rows: h, Leases: h, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	b.Took("b")
	if err := b.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range b.lane(tried.Lane()).posts {
		got = append(got, fmt.Sprint(p.ID, " ", p.Look))
	}
	if want := "[b1 true n3 true b5 true]"; fmt.Sprint(got) != want {
		t.Errorf("%v wait, not %s", got, want)
	}
}
