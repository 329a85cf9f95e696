package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
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

// The outbox gives a refused post up after three tries; it delays no other game
// of its channel meanwhile.
func TestGivenUp(t *testing.T) {
	k := newTalk(t)
	var shown []string
	tries := map[int]int{} // of boards, by game
	k.channel.platform = func(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
		if p.Kind == match.Show {
			tries[p.Number]++
			switch p.Number {
			case 1:
				panic("cannot draw this")
			case 2:
				return "", nil, fmt.Errorf("the platform's filter: %w", outbox.ErrRefused)
			case 3:
				return "", nil, outbox.InThread{Err: outbox.ErrGone}
			}
		}
		shown = append(shown, fmt.Sprintf("%d %s", p.Number, p.Kind))
		return outbox.Receipt(p.ID), nil, nil
	}
	flush := func() []string {
		t.Helper()
		shown = nil
		k.posts(t)
		return shown
	}
	for game := 1; game <= 4; game++ {
		k.ask(t, "anna", "/new aga 5x5")
		k.ask(t, "bob", "/join "+strconv.Itoa(game))
		k.ask(t, "bob", "/resign yes game:"+strconv.Itoa(game))
	}
	if got := flush(); !slices.Contains(got, "4 show") || slices.Contains(got, "1 show") {
		t.Fatalf("at once: %q", got)
	}
	for range 2 {
		if got := flush(); len(got) != 0 {
			t.Errorf("before its time: %q", got)
		}
		k.now = k.now.Add(30 * time.Second)
		flush()
	}
	k.ask(t, "anna", "/games")
	k.now = k.now.Add(time.Hour)
	if got := flush(); len(got) != 0 {
		t.Errorf("what was given up comes again: %q", got)
	}
	if tries[1] != 3 || tries[2] != 3 || tries[4] != 1 {
		t.Errorf("the boards were tried so often: %v", tries)
	}
	for game := 1; game <= 3; game++ { // and what comes after it is shown
		k.ask(t, "bob", "/rematch "+strconv.Itoa(game))
	}
	if got := flush(); len(got) == 0 {
		t.Error("nothing is shown any more")
	}
}

// What was shown at the last moment, when nobody waits for it any more, is written
// down all the same, and not shown again by the next process.
func TestShownAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bot.New(newStore(t), bot.Config{Log: silent})
		_, err := b.Ask(context.Background(), bot.Request{ID: "chat:1", Who: person("anna"), Where: clubRoom, Command: "new"})
		must(t, err)
		shown := map[string]int{}
		slow := platform(func(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
			<-ctx.Done()
			shown[p.ID]++
			return outbox.Receipt(p.ID), nil, nil
		})
		for range 2 {
			must(t, b.Flush(context.Background(), slow))
			time.Sleep(time.Hour)
		}
		if len(shown) == 0 {
			t.Fatal("nothing was shown")
		}
		for post, n := range shown {
			if n != 1 {
				t.Errorf("%s was shown %d times", post, n)
			}
		}
	})
}
