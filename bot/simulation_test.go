package bot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A world is a bot on a store and a platform that both fail at times: replies
// are lost after a commit, two requests race for one game, the process dies
// between showing a post and writing that down, the platform asks to wait or
// leaves it open whether it has sent. Everything follows from the seed.
type world struct {
	*rand.Rand
	bot.Store
	t    *testing.T
	bot  *bot.Bot
	now  time.Time
	calm bool // nothing fails any more

	asked   []bot.Request   // to be asked again at times
	public  map[string]bool // what came of requests, by id
	answers map[match.PersonID]string
	racing  bool
	commits map[string]int     // by request
	owed    []match.OutboxPost // everything that was ever owed, in order
	shown   []outbox.Post      // as the platform has it: a key once
	keys    map[string]bool
	asks    int
}

var errLost = errors.New("the connection was lost")

func (w *world) fails(one, in int) bool { return !w.calm && w.IntN(in) < one }

// Commit loses replies, and lets another request in first.
func (w *world) Commit(ctx context.Context, s *match.Step) error {
	if !w.racing && w.fails(1, 6) {
		w.racing = true
		w.ask(w.request())
		w.racing = false
	}
	if err := w.Store.Commit(ctx, s); err != nil {
		return err
	}
	w.commits[s.Request]++
	w.owed = append(w.owed, s.Posts...)
	if w.fails(1, 8) {
		return errLost
	}
	return nil
}

// Settle is what a crash comes before.
func (w *world) Settle(ctx context.Context, id string, r outbox.Receipt, m *outbox.Message, c outbox.Decorations, next *match.OutboxPost) error {
	if w.fails(1, 6) {
		return errLost
	}
	return w.Store.Settle(ctx, id, r, m, c, next)
}

func (w *world) deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	switch {
	case w.fails(1, 10):
		return "", nil, outbox.RetryAfter{Wait: time.Duration(w.IntN(60)) * time.Second}
	case w.fails(1, 12):
		return "", nil, errLost
	}
	if !w.keys[p.ID] {
		w.keys[p.ID] = true
		if w.shown = append(w.shown, p); p.Kind == match.Answer {
			w.told(p)
		}
	}
	if w.fails(1, 12) {
		return "", nil, outbox.ErrAmbiguous
	}
	return outbox.Receipt(p.ID), nil, nil
}

// told takes note of what an answer says. Refusals that waited together are one message.
func (w *world) told(p outbox.Post) {
	w.answers[p.Stored.For] += said(w.t, p.Stored.Texts)
}

// said writes texts as they are stored, so that one can be looked for in others.
func said(t *testing.T, texts []bot.Text) string {
	data, err := json.Marshal(texts)
	must(t, err)
	must(t, json.Unmarshal(data, &texts)) // the digits of a number are one
	data, err = json.Marshal(texts)
	must(t, err)
	return strings.TrimSuffix(strings.TrimPrefix(string(data), "["), "]")
}

// request makes something that somebody may ask.
func (w *world) request() bot.Request {
	if len(w.asked) > 0 && w.IntN(5) == 0 {
		return w.asked[w.IntN(len(w.asked))] // the platform delivers it again
	}
	lines := []string{"/new two-button 3x3", "/new button 2x2 opponent:me", "/join", "/join", "/pass", "/pass", "/accept", "/accept", "/dead B2",
		"/undo", "/button", "/resume", "/resign yes", "/cancel", "/place I1", "/delay", "/new aga 3x3 komi:6.3", "/new area-3 3x3 handicap:2 placement:free",
		"/propose", "/dispute", "/return", "/delete", "/decline", "/comment hm", "/settings undo:5"}
	text := lines[w.IntN(len(lines))]
	if w.IntN(2) == 0 {
		text = fmt.Sprintf("/place %c%d", "ABC"[w.IntN(3)], 1+w.IntN(3))
	}
	who := []string{"ada", "bob", "eve"}[w.IntN(3)]
	if w.IntN(3) > 0 { // mostly the one game there is
		who = []string{"ada", "bob"}[w.IntN(2)]
	}
	r := w.typed(who, text)
	r.Where.Channel = []string{"club", "club", "club", "pub"}[w.IntN(4)]
	w.asked = append(w.asked, r)
	return r
}

// typed is a line that somebody types.
func (w *world) typed(who, text string) bot.Request {
	command, args, err := bot.Parse(text)
	if err != nil {
		w.t.Fatal(err)
	}
	w.asks++
	return bot.Request{ID: fmt.Sprintf("chat:%d", w.asks), Who: person(who), Command: command, Args: args,
		Where: match.Room{Platform: "chat", Channel: "club"}}
}

// ask asks until there is an answer, and holds the bot to the first.
func (w *world) ask(r bot.Request) {
	for try := 0; ; try++ {
		a, err := w.bot.Ask(w.t.Context(), r)
		if errors.Is(err, errLost) && try < 50 {
			continue // the platform asks again
		}
		if err != nil {
			w.t.Fatalf("%v: %v", r, err)
		}
		if first, ok := w.public[r.ID]; ok && first != a.Public {
			w.t.Errorf("%s was for everybody: %v, and then %v", r.ID, first, a.Public)
		}
		w.public[r.ID] = a.Public
		return
	}
}

func newWorld(t *testing.T, st bot.Store, seed uint64) *world {
	return &world{Rand: rand.New(rand.NewPCG(seed, 9)), Store: st, t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
		answers: map[match.PersonID]string{}, public: map[string]bool{}, commits: map[string]int{}, keys: map[string]bool{}}
}

func simulate(t *testing.T, seed uint64) {
	st := newStore(t)
	defer st.Close() // there are many
	w := newWorld(t, st, seed)
	quiet := bot.Config{Deliveries: 1, Log: silent, Now: func() time.Time { return w.now },
		Rand: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})}
	w.bot = bot.New(w, quiet)
	for range 10 + w.IntN(25) {
		w.ask(w.request())
		w.now = w.now.Add(time.Duration(w.IntN(20)) * time.Second)
		if w.IntN(3) > 0 {
			w.bot.Deliver(t.Context(), platform(w.deliver)) // errors are the faults above
		}
		if w.IntN(12) == 0 {
			w.bot = bot.New(w, quiet) // the process died
		}
	}
	w.calm = true
	for range 200 {
		w.now = w.now.Add(time.Minute)
		if n, err := w.bot.Deliver(t.Context(), platform(w.deliver)); err != nil {
			t.Fatal(err)
		} else if n == 0 {
			break
		}
	}
	w.judge()
}

// judge holds what was shown against what was owed: every notice once and in
// order, the last show always, no older show after a newer one; and every
// request took effect at most once, and every game replays.
func (w *world) judge() {
	type line struct {
		game    match.GameID
		channel string
	}
	owed, shown := map[line][]string{}, map[line][]string{}
	lastOwed, lastShown := map[line]int{}, map[line]int{}
	for _, o := range w.owed {
		l := line{o.Game, o.Where.Channel}
		switch o.Kind {
		case match.Notice:
			owed[l] = append(owed[l], o.ID)
		case match.Show:
			lastOwed[l] = o.Seq
		case match.Answer:
			if !strings.Contains(w.answers[o.For], said(w.t, o.Texts)) {
				w.t.Errorf("%s was not told %s, only %s", o.For, said(w.t, o.Texts), w.answers[o.For])
			}
		}
	}
	newest := map[line]int{}
	for _, p := range w.shown {
		l := line{p.Game, p.Where.Channel}
		if p.Seq < newest[l] && !p.Private && p.Game != "" {
			w.t.Errorf("%v: %s, after event %d, was shown after something of event %d", l, p.ID, p.Seq, newest[l])
		}
		newest[l] = max(newest[l], p.Seq)
		switch p.Kind {
		case match.Notice:
			shown[l] = append(shown[l], p.ID)
		case match.Show:
			if p.Seq <= lastShown[l] {
				w.t.Errorf("%v: the board after event %d was shown after %d", l, p.Seq, lastShown[l])
			}
			lastShown[l] = p.Seq
		}
	}
	for l := range owed {
		if !slices.Equal(owed[l], shown[l]) {
			w.t.Errorf("%v: notices owed %v, shown %v", l, owed[l], shown[l])
		}
	}
	for l := range lastOwed {
		if lastOwed[l] != lastShown[l] {
			w.t.Errorf("%v: the last board owed is after %d, the last shown after %d", l, lastOwed[l], lastShown[l])
		}
	}
	for r, n := range w.commits {
		if n > 1 {
			w.t.Errorf("request %s took effect %d times", r, n)
		}
	}
	ms, err := w.Store.Matches(w.t.Context(), bot.Query{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range ms {
		_, events, err := w.Store.Match(w.t.Context(), m.ID)
		if err != nil || len(events) != m.Seq {
			w.t.Errorf("%s: %d events, seq %d, %v", m.ID, len(events), m.Seq, err)
		}
		if old, err := match.Verify(m, events); old || err != nil {
			w.t.Errorf("%s: old %t, %v", m.ID, old, err)
		}
		if _, err := w.bot.View(w.t.Context(), bot.Viewing{Game: m.ID, Seq: m.Seq}); err != nil {
			w.t.Errorf("%s does not replay: %v", m.ID, err)
		}
	}
}

func TestSimulation(t *testing.T) { everySeed(t, 4, tier.Pick(50, 600, 20_000), simulate) }

// everySeed runs a simulation for each of n seeds, on so many shards at once, and
// names the seed that fails.
func everySeed(t *testing.T, shards, n int, simulate func(*testing.T, uint64)) {
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for seed := shard; seed < n; seed += shards {
				simulate(t, uint64(seed))
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}
