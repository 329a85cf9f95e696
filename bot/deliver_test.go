package bot_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// How long a board took is counted from its turn, however often it was tried.
func TestShownAfter(t *testing.T) {
	k := newTalk(t)
	var told []string
	k.start(bot.Config{Shown: func(platform string, after time.Duration) { told = append(told, fmt.Sprint(platform, " ", after)) }})
	busy := 0
	k.channel.platform = func(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
		if p.Kind == match.Show && busy > 0 {
			busy--
			return "", nil, outbox.RetryAfter{Wait: 45 * time.Second}
		}
		k.now = k.now.Add(time.Second)
		return outbox.Receipt(p.ID), nil, nil
	}
	k.lines(t, "anna> /new aga 5x5", "bob> /join")
	told = nil
	k.lines(t, "anna> /place C3")
	busy = 2
	k.lines(t, "bob> /place B2")
	for range 2 {
		k.now = k.now.Add(45 * time.Second)
		k.posts(t)
	}
	if want := []string{"chat 1s", "chat 1m31s"}; !slices.Equal(told, want) {
		t.Errorf("boards took %q, want %q", told, want)
	}
}
