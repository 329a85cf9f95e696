package bot_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// A reading is a store that writes down what is read of games.
type reading struct {
	bot.Store
	mu    sync.Mutex
	reads []string
}

func (r *reading) note(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads = append(r.reads, what)
}

// take returns what was read since it was called last.
func (r *reading) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	reads := r.reads
	r.reads = nil
	return reads
}

func (r *reading) Match(ctx context.Context, id match.GameID) (match.Match, []match.Event, error) {
	r.note("match")
	return r.Store.Match(ctx, id)
}

func (r *reading) Header(ctx context.Context, id match.GameID) (match.Match, error) {
	r.note("header")
	return r.Store.Header(ctx, id)
}

func (r *reading) Events(ctx context.Context, id match.GameID, after, to int) ([]match.Event, error) {
	r.note(fmt.Sprintf("events %d–%d", after+1, to))
	return r.Store.Events(ctx, id, after, to)
}

func (r *reading) Channel(ctx context.Context, where match.Room) (rooms.Channel, error) {
	r.note("channel")
	return r.Store.Channel(ctx, where)
}

// events returns the reads of events.
func (r *reading) events() []string {
	return slices.DeleteFunc(r.take(), func(s string) bool { return !strings.HasPrefix(s, "events") })
}

// readingTalk is a talk whose reads are written down.
func readingTalk(t *testing.T) (*talk, *reading) {
	k := newTalk(t)
	r := &reading{Store: k.store}
	k.store = r
	k.start(bot.Config{})
	return k, r
}

// game plays so many turns of a new game with two players, and returns ten more
// placements.
func (k *talk) game(t *testing.T, lines int, args string, turns int) (moves []string) {
	t.Helper()
	k.lines(t, fmt.Sprintf("ada> /new aga %dx%d %s", lines, lines, args), "bob> /join")
	moves = placements(t, lines, turns+10)
	for i, at := range moves[:turns] {
		k.lines(t, []string{"ada", "bob"}[i%2]+"> /place "+at)
	}
	return moves[turns:]
}

// A turn reads no log, whatever the game is long, until its board is shown and
// looked at once more; after a restart it reads the log once. A game is folded
// from nothing but what is read.
func TestTurnReadsNoLog(t *testing.T) {
	k, r := readingTalk(t)
	moves := k.game(t, 19, "clock:12h", 60)
	m := k.matches(t, bot.Query{})[0]
	r.take()
	look := func() {
		t.Helper()
		for seq := m.Seq; seq <= k.matches(t, bot.Query{})[0].Seq; seq++ {
			if _, err := k.bot.View(t.Context(), bot.Viewing{Game: m.ID, Seq: seq}); err != nil {
				t.Fatal(err)
			}
		}
	}
	k.lines(t, "ada> /place "+moves[0])
	look()
	if got := r.events(); len(got) != 0 {
		t.Errorf("move 61 reads %q", got)
	}
	k.start(bot.Config{})
	k.alive(t)
	k.lines(t, "bob> /place "+moves[1])
	look()
	if got := r.events(); len(got) != 1 || got[0] != fmt.Sprintf("events 1–%d", m.Seq+1) {
		t.Errorf("move 62, after a restart, reads %q", got)
	}
	k.lines(t, "bob> /undo", "bob> /place "+moves[2], "ada> /score", "ada> /board", "ada> /sgf", "ada> /show")
	if got := r.events(); len(got) != 0 {
		t.Errorf("an undo and questions read %q", got)
	}
}

// To ask which of several games is meant no log is read, unless the command is for games
// of a certain state alone.
func TestChoosingReadsNoLog(t *testing.T) {
	k, r := readingTalk(t)
	for range 3 {
		k.lines(t, "ada> /new aga 5x5 opponent:me")
	}
	k.start(bot.Config{})
	k.alive(t)
	r.take()
	reads := func(line string, want int) {
		t.Helper()
		if a := k.ask(t, "eve", line); !strings.Contains(a.Text, "Which game") {
			t.Errorf("%s: %s", line, a.Text)
		}
		if got := r.events(); len(got) != want {
			t.Errorf("%s reads %q", line, got)
		}
	}
	for _, line := range []string{"/score", "/board", "/place C3", "/resign"} {
		reads(line, 0)
	}
	reads("/resume", 3)
}

// The cache reads the events of another process, and nothing else.
func TestTwoBots(t *testing.T) {
	k, r := readingTalk(t)
	moves := k.game(t, 9, "", 10)
	m := k.matches(t, bot.Query{})[0]
	one, other := k.bot, bot.New(r, bot.Config{Log: silent, Now: k.clock, Deliveries: 1})
	if _, err := other.View(t.Context(), bot.Viewing{Game: m.ID, Seq: m.Seq}); err != nil {
		t.Fatal(err)
	}
	r.take()
	for i := range 6 {
		k.bot = []*bot.Bot{other, one}[i%2]
		k.lines(t, []string{"ada", "bob"}[i%2]+"> /place "+moves[i])
		want := []string{fmt.Sprintf("events %d–%[1]d", m.Seq+i)}
		if i == 0 {
			want = nil
		}
		if got := r.events(); !slices.Equal(got, want) {
			t.Errorf("turn %d reads %q, want %q", i+1, got, want)
		}
	}
	if m := k.matches(t, bot.Query{})[0]; m.Seq != 3+16 {
		t.Errorf("the game has %d events", m.Seq)
	}
}

// A failing store loses its answer after a commit, or fails before it.
type failingTake struct {
	bot.Store
	before, after error
}

func (f *failingTake) Commit(ctx context.Context, s *match.Step) error {
	if f.before != nil {
		return f.before
	}
	if err := f.Store.Commit(ctx, s); err != nil {
		return err
	}
	return f.after
}

// A step that was not stored leaves no trace; one of which that is unknown leaves
// what was stored.
func TestFailedCommitLeavesNoTrace(t *testing.T) {
	k := newTalk(t)
	f := &failingTake{Store: k.store}
	k.store = f
	k.start(bot.Config{})
	moves := k.game(t, 9, "", 4)
	lost := errors.New("lost")
	fails := func(who, text string) {
		t.Helper()
		r, err := k.request(who, text)
		must(t, err)
		if _, err := k.bot.Ask(t.Context(), r); !errors.Is(err, lost) {
			t.Fatalf("%s: %v", text, err)
		}
	}
	f.before = lost
	fails("ada", "/place "+moves[0])
	f.before = nil
	k.lines(t, "ada> /place "+moves[1]) // the same player, elsewhere
	f.after = lost
	fails("bob", "/place "+moves[2])
	f.after = nil
	k.lines(t, "ada> /place "+moves[3])
	m, events := k.matches(t, bot.Query{})[0], k.events(t, 1)
	got := events[len(events)-3:]
	if want := []string{"turn B place " + moves[1], "turn W place " + moves[2], "turn B place " + moves[3]}; !slices.Equal(got, want) {
		t.Errorf("stored %q, want %q", got, want)
	}
	kept, err := k.bot.View(t.Context(), bot.Viewing{Game: m.ID, Seq: m.Seq})
	must(t, err)
	read, err := k.on(k.store).View(t.Context(), bot.Viewing{Game: m.ID, Seq: m.Seq})
	must(t, err)
	if !slices.Equal(kept.Scene.Board, read.Scene.Board) {
		t.Errorf("the bot shows\n%s\nand stored\n%s", strings.Join(kept.Scene.Board, "\n"), strings.Join(read.Scene.Board, "\n"))
	}
}

// A tampered store has logs that do not come to what was proved.
type tampered struct{ bot.Store }

func (s tampered) Events(ctx context.Context, id match.GameID, after, to int) ([]match.Event, error) {
	events, err := s.Store.Events(ctx, id, after, to)
	events[len(events)-1].Proof = "another"
	return events, err
}

// A game that does not replay is left alone, and people are told.
func TestGameThatDoesNotReplay(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5 opponent:me", "ada> /place C3")
	before := k.events(t, 1)
	k.store = tampered{k.store}
	k.start(bot.Config{})
	for text, want := range map[string]string{"/place D4": "The stored log of game 1 is damaged", "/board": "The stored log of game 1 is damaged"} {
		if a := k.ask(t, "ada", text); !strings.HasPrefix(a.Text, want) || !a.Private {
			t.Errorf("%s: %q", text, a.Text)
		}
	}
	if after := k.events(t, 1); !slices.Equal(after, before) {
		t.Errorf("the log was %q and is %q", before, after)
	}
	if refused := k.bot.Counts().Refused; refused[bot.Refusal{Platform: "chat", Reason: bot.RefusedDamaged}] != 2 {
		t.Errorf("refused: %v", refused)
	}
}

// A turn that is delivered at once is shown without another look at the game or
// at the room.
func TestTurnIsHandedOn(t *testing.T) {
	r := &reading{}
	onChat(t, func(st bot.Store) bot.Store {
		r.Store = st
		return r
	}, func(p *playing) {
		p.opens("club", 1, 1)
		r.take()
		p.turn("club", 1, 0, true)
		time.Sleep(time.Second)
		if got := r.take(); len(got) != 0 {
			p.Errorf("a turn reads %q", got)
		}
	})
}

// A turn late in a long game takes as much memory as an early one, with its words
// and its scene, where it has no estimate.
func TestLateTurnCostsTheSame(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 25x25 opponent:me hints:no clock:12h") // an estimate is made beside the turn
	var early, late uint64
	for i, at := range placements(t, 25, 420) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, posts := k.say(t, "ada", "/place "+at)
		runtime.ReadMemStats(&after)
		if len(posts) != 1 || posts[0].Scene == nil {
			t.Fatalf("turn %d: %+v", i+1, posts)
		}
		switch cost := after.TotalAlloc - before.TotalAlloc; {
		case 40 <= i && i < 60:
			early += cost
		case i >= 400:
			late += cost
		}
	}
	if late > early*3/2 {
		t.Errorf("a turn takes %d bytes at turn 50 and %d at turn 410", early/20, late/20)
	}
}

// A page that comes back asks for all the boards that it shows: only the newest is
// estimated anew.
func TestEarlierBoardsAreNotEstimatedAnew(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new two-button 5x5 komi:1 opponent:me")
	for _, at := range strings.Fields("C3 D2 C2 C1 D3 E3 B1 D1 E4 A5 B4 E2") {
		k.lines(t, "ada> /place "+at)
	}
	k.lines(t, "ada> /pass")
	m := k.matches(t, bot.Query{})[0]
	for seq, want := range map[int]bool{m.Seq: true, m.Seq - 1: false} {
		k.start(bot.Config{})
		view, err := k.bot.View(t.Context(), bot.Viewing{Game: m.ID, Seq: seq})
		must(t, err)
		if got := strings.HasPrefix(view.Scene.Headline, "≈"); got != want {
			t.Errorf("after event %d of %d the headline is %q", seq, m.Seq, view.Scene.Headline)
		}
	}
}

// However many damaged games have something to be done, that of others is done, and each is
// logged once.
func TestDamagedGamesKeepNobodyWaiting(t *testing.T) {
	var log strings.Builder
	k := newTalk(t)
	for n := range 101 {
		who := fmt.Sprintf("ada%d", n)
		k.lines(t, fmt.Sprintf("%s> /new aga 5x5 opponent:me clock:%dd", who, 1+n/100))
	}
	k.store = damaged{k.store, k.matches(t, bot.Query{})[0].ID}
	k.bot = bot.New(k.store, bot.Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Now: k.clock, Deliveries: 1})
	for range 3 {
		k.now = k.now.Add(50 * time.Hour)
		k.alive(t)
		_, err := k.bot.Tick(t.Context())
		must(t, err)
	}
	if over := k.matches(t, bot.Query{States: []match.State{match.Ended}}); len(over) != 1 {
		t.Errorf("%d games are over", len(over))
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 100 {
		t.Errorf("%d errors are logged:\n%s", n, log.String())
	}
}

// damaged has but one game that is sound.
type damaged struct {
	bot.Store
	sound match.GameID
}

func (s damaged) Header(ctx context.Context, id match.GameID) (match.Match, error) {
	m, err := s.Store.Header(ctx, id)
	if id != s.sound {
		m.Opener = "eve"
	}
	return m, err
}
