package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// bytesOfAGame is what an ended game of 60 turns may take in the database, in bytes,
// once it has been pruned, without what it shares with others. It was 33,000 before
// games were pruned.
const bytesOfAGame = 8_000

// A far adapter shows everything at once, under ids as long as Discord's.
type far struct{ n int }

func (*far) Name() string { return "bench" }

func (*far) Run(ctx context.Context, _ bot.Service) error { <-ctx.Done(); return nil }

func (f *far) Deliver(context.Context, outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	f.n++
	return outbox.Receipt(fmt.Sprintf("%019d", f.n)), nil, nil
}

// An archived game takes little more than its events.
func TestBytesOfAGame(t *testing.T) {
	games := tier.Pick(25, 200, 200)
	s := open(t, store.Memory)
	empty := store.PagesInUse(t, s)
	now := noon
	service := bot.New(s, bot.Config{Log: slog.New(slog.DiscardHandler), Deliveries: 1, Now: func() time.Time { return now },
		Rand: rand.NewChaCha8([32]byte{})})
	shown := &far{}
	n := 0
	ask := func(game int, who, command string, args map[string]string) {
		t.Helper()
		n++
		now = now.Add(time.Second)
		a, err := service.Ask(t.Context(), bot.Request{ID: fmt.Sprintf("bench:%019d", n), Command: command, Args: args,
			Who:   outbox.User{Platform: "bench", ID: who, Name: who},
			Where: match.Room{Platform: "bench", Channel: fmt.Sprintf("%019d", game)}})
		if err != nil || !a.Public {
			t.Fatalf("%s: %q, %v", command, a.Own().Text, err)
		}
		must(t, service.Flush(t.Context(), shown))
	}
	for game := range games {
		black, white := fmt.Sprintf("%019d", 2*game), fmt.Sprintf("%019d", 2*game+1)
		ask(game, black, "new", map[string]string{"rules": "two-button", "size": "19x19"})
		ask(game, white, "join", nil)
		for i := range 60 {
			ask(game, []string{black, white}[i%2], "place", map[string]string{"at": fmt.Sprintf("%c%d", "ABCDEFGHJKLMNOPQRS"[i%18], i/18+1)})
		}
		ask(game, black, "resign", map[string]string{"confirm": "yes"})
	}
	before := store.PagesInUse(t, s)
	now = now.AddDate(0, 0, 31)
	for next := ""; ; {
		var err error
		next, err = s.Prune(t.Context(), now, next, 500)
		must(t, err)
		if next == "" {
			break
		}
	}
	after := store.PagesInUse(t, s)
	each := (after - empty) * store.PageSize / games
	t.Logf("an archived game takes %d bytes, with its part of an empty database %d; before pruning %d",
		each, after*store.PageSize/games, (before-empty)*store.PageSize/games)
	if each > bytesOfAGame {
		t.Errorf("an archived game takes %d bytes, want at most %d", each, bytesOfAGame)
	}
}

// The log that a long read has made grow gets short again while the store goes on.
func TestLogGetsShortAgain(t *testing.T) {
	name := newFile(t)
	s := open(t, name)
	must(t, s.SetBookmark(t.Context(), "a", strings.Repeat("a", 1<<20)))
	read, written := make(chan struct{}), make(chan struct{})
	exported := make(chan error)
	go func() { exported <- s.Export(t.Context(), &slowWriter{read: read, written: written}) }()
	<-read
	size := func() int64 {
		i, err := os.Stat(name + "-wal")
		must(t, err)
		return i.Size()
	}
	for i := range 12 {
		must(t, s.SetBookmark(t.Context(), "a", strings.Repeat(string(rune('b'+i)), 1<<20)))
	}
	if n := size(); n < 12<<20 {
		t.Fatalf("the log has only %d bytes", n)
	}
	close(written)
	must(t, <-exported)
	for i := range 3 {
		must(t, s.SetBookmark(t.Context(), "a", fmt.Sprint(i)))
	}
	if n := size(); n > 8<<20 {
		t.Errorf("the log still has %d bytes", n)
	}
}

// A slowWriter takes nothing until something else is written.
type slowWriter struct {
	read, written chan struct{}
	once          sync.Once
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.once.Do(func() {
		close(w.read)
		<-w.written
	})
	return len(p), nil
}
