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
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A late is a platform that is busy for a while before it shows a board.
type late struct {
	busy  int
	clock *time.Time
}

func (*late) Name() string                                 { return "chat" }
func (*late) Run(ctx context.Context, _ bot.Service) error { <-ctx.Done(); return nil }

func (l *late) Deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if p.Kind == match.Show && l.busy > 0 {
		l.busy--
		return "", nil, outbox.RetryAfter{Wait: 45 * time.Second}
	}
	*l.clock = l.clock.Add(time.Second)
	return outbox.Receipt(p.ID), nil, nil
}

// How long a board took is counted from its turn, however often it was tried.
func TestShownAfter(t *testing.T) {
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	clock := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	var told []string
	b := bot.New(st, bot.Config{Log: silent, Now: func() time.Time { return clock }, Deliveries: 1,
		Shown: func(platform string, after time.Duration) { told = append(told, fmt.Sprint(platform, " ", after)) }})
	l := &late{clock: &clock}
	n := 0
	asks := func(who, command string, args map[string]string) {
		t.Helper()
		n++
		a, err := b.Ask(t.Context(), bot.Request{ID: fmt.Sprint("chat:", n), Who: person(who), Where: match.Room{Platform: "chat", Channel: "club"}, Command: command, Args: args})
		if err != nil || a.Private {
			t.Fatal(a.Text, err)
		}
		if err := b.Flush(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	asks("anna", "new", map[string]string{"rules": "aga", "size": "5x5", "color": "black"})
	asks("bob", "join", nil)
	told = nil
	asks("anna", "place", map[string]string{"at": "C3"})
	l.busy = 2
	asks("bob", "place", map[string]string{"at": "B2"})
	for range 2 {
		clock = clock.Add(45 * time.Second)
		if err := b.Flush(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"chat 1s", "chat 1m31s"}; !slices.Equal(told, want) {
		t.Errorf("boards took %q, want %q", told, want)
	}
}

// A picky is a platform that panics over one channel's boards, and refuses what
// another is owed.
type picky struct {
	shown []string
	tries map[string]int // by game and kind
}

func (*picky) Name() string                                 { return "chat" }
func (*picky) Run(ctx context.Context, _ bot.Service) error { <-ctx.Done(); return nil }

func (p *picky) Deliver(_ context.Context, post outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if p.tries != nil && post.Kind == match.Show {
		p.tries[fmt.Sprint(post.Number)]++
	}
	switch {
	case post.Number == 1 && post.Kind == match.Show:
		panic("cannot draw this")
	case post.Number == 2 && post.Kind == match.Show:
		return "", nil, fmt.Errorf("the platform's filter: %w", outbox.ErrRefused)
	case post.Number == 3 && post.Kind == match.Show:
		return "", nil, outbox.InThread{Err: outbox.ErrGone}
	}
	p.shown = append(p.shown, fmt.Sprintf("%d %s", post.Number, post.Kind))
	return outbox.Receipt(post.ID), nil, nil
}

// What cannot be shown is given up after three tries, and holds up no other game
// of its channel meanwhile.
func TestGivenUp(t *testing.T) {
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	clock := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	b := bot.New(st, bot.Config{Log: silent, Now: func() time.Time { return clock }, Deliveries: 1})
	p := &picky{tries: map[string]int{}}
	n := 0
	asks := func(who, command string, args map[string]string) {
		t.Helper()
		n++
		a, err := b.Ask(t.Context(), bot.Request{ID: fmt.Sprint("chat:", n), Who: person(who), Where: match.Room{Platform: "chat", Channel: "club"}, Command: command, Args: args})
		if err != nil || a.Private {
			t.Fatal(a.Text, err)
		}
	}
	for game := 1; game <= 4; game++ {
		asks("anna", "new", map[string]string{"rules": "aga", "size": "5x5", "color": "black"})
		asks("bob", "join", map[string]string{"game": strconv.Itoa(game)})
		asks("bob", "resign", map[string]string{"game": strconv.Itoa(game), "confirm": "yes"})
	}
	flush := func() []string {
		t.Helper()
		p.shown = nil
		if err := b.Flush(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		slices.Sort(p.shown)
		return p.shown
	}
	if got := flush(); !slices.Contains(got, "4 show") || slices.Contains(got, "1 show") {
		t.Fatalf("at once: %q", got)
	}
	for range 2 {
		if got := flush(); len(got) != 0 {
			t.Errorf("before its time: %q", got)
		}
		clock = clock.Add(30 * time.Second)
		flush()
	}
	b.Ask(t.Context(), bot.Request{ID: "chat:more", Who: person("anna"), Where: match.Room{Platform: "chat", Channel: "club"}, Command: "games"}) //nolint:errcheck // read only
	clock = clock.Add(time.Hour)
	if got := flush(); len(got) != 0 {
		t.Errorf("what was given up comes again: %q", got)
	}
	if p.tries["1"] != 3 || p.tries["2"] != 3 || p.tries["4"] != 1 {
		t.Errorf("the boards were tried so often: %v", p.tries)
	}
	for game := 1; game <= 3; game++ { // and what comes after it is shown
		asks("bob", "rematch", map[string]string{"game": strconv.Itoa(game)})
	}
	if got := flush(); len(got) == 0 {
		t.Error("nothing is shown any more")
	}
}

// A lastMoment is a platform whose message is there when nobody waits for it any more.
type lastMoment struct{ shown map[string]int }

func (*lastMoment) Name() string                                 { return "chat" }
func (*lastMoment) Run(ctx context.Context, _ bot.Service) error { <-ctx.Done(); return nil }

func (l *lastMoment) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	<-ctx.Done()
	l.shown[p.ID]++
	return outbox.Receipt(p.ID), nil, nil
}

// What was shown at the last moment is written down all the same, and not shown
// again by the next process.
func TestShownAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(context.Background(), store.Memory)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		b := bot.New(st, bot.Config{Log: silent})
		_, err = b.Ask(context.Background(), bot.Request{ID: "chat:1", Who: person("anna"), Where: match.Room{Platform: "chat", Channel: "club"},
			Command: "new", Args: map[string]string{"rules": "aga", "size": "5x5", "color": "black"}})
		if err != nil {
			t.Fatal(err)
		}
		l := &lastMoment{shown: map[string]int{}}
		for range 2 {
			if err := b.Flush(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // by the clock of this test
		}
		if len(l.shown) == 0 {
			t.Fatal("nothing was shown")
		}
		for post, n := range l.shown {
			if n != 1 {
				t.Errorf("%s was shown %d times", post, n)
			}
		}
	})
}
