package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
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

// A shelf is a heap that others add to, and that cannot be read at times.
type shelf struct {
	heap
	mu    sync.Mutex
	posts []match.OutboxPost
	row   Row
	fails bool
	lost  error         // of the next change
	slow  time.Duration // a reading of the posts
}

func (s *shelf) Waiting(context.Context) ([]match.OutboxPost, error) {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return nil, errAway
	}
	return slices.Clone(s.posts), nil
}

func (s *shelf) Decorations(context.Context) ([]Row, error) {
	if s.row.Kind == "" {
		return nil, nil
	}
	return []Row{s.row}, nil
}

func (s *shelf) Change(context.Context, match.OutboxPost, State, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.lost
	s.lost = nil
	return err
}

func (s *shelf) Settle(_ context.Context, id string, _ Receipt, _ *Message, _ Decorations, _ *match.OutboxPost) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts = slices.DeleteFunc(s.posts, func(o match.OutboxPost) bool { return o.ID == id })
	return nil
}

var errAway = errors.New("the database is away")

// If the first read after a takeover fails, the next one still is the first: its posts are looked
// for, and the decorations are taken over.
func TestFailedReadAtATakeover(t *testing.T) {
	s := &shelf{fails: true, row: Row{Platform: "chat", Channel: "club", Kind: Header, Key: "g", N: 1}}
	o := notice("n1", 1)
	o.N = 1
	s.posts = []match.OutboxPost{o}
	b := New(Config{Rows: s, Leases: s, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	b.Took("b")
	if err := b.read(t.Context()); !errors.Is(err, errAway) {
		t.Fatal(err)
	}
	b.queue.Drop("chat", Header, "g") // it may have been done, and another is there by now
	s.row.N, s.fails = 2, false
	if err := b.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if posts := b.lane(o.Lane()).posts; len(posts) != 1 || !posts[0].Look {
		t.Errorf("%+v wait, and none is looked for", posts)
	}
	if r, ok := b.queue.Drop("chat", Header, "g"); !ok || r.N != 2 {
		t.Errorf("the decorations are not taken over: %+v", r)
	}
}

// A member of a chat notes which posts it is shown.
type member struct{ shown chan string }

func (member) Name() string { return "chat" }
func (m member) Deliver(_ context.Context, p Post) (Receipt, []Owes, error) {
	m.shown <- p.ID
	return Receipt(p.ID), nil, nil
}

// What another process stores is shown within a second or two, also while a post here waits much
// longer for its next attempt.
func TestPostOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := notice("later", 1)
		later.N, later.Attempt, later.Due = 1, 1, time.Now().Add(10*time.Minute)
		s := &shelf{posts: []match.OutboxPost{later}}
		b := New(Config{Rows: s, Leases: s, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Word: func(_ context.Context, p Pending) (Post, error) { return Post{ID: p.ID, Where: p.Where}, nil }})
		b.Took("b")
		ctx, stop := context.WithCancel(t.Context())
		m := member{make(chan string, 9)}
		var run sync.WaitGroup
		run.Go(func() { b.Run(ctx, m) })
		time.Sleep(5 * time.Second)
		other := notice("other", 1)
		other.N, other.Game = 1, "g2"
		s.mu.Lock()
		s.posts = append(s.posts, other)
		s.mu.Unlock()
		time.Sleep(3 * time.Second)
		select {
		case id := <-m.shown:
			if id != "other" {
				t.Errorf("%s was shown", id)
			}
		default:
			t.Error("the post of the other process was not shown")
		}
		stop()
		run.Wait()
	})
}

// A process that loses a room and gets it back at once does not show the second post there first.
func TestLostAndTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{posts: []match.OutboxPost{notice("n1", 1), notice("n2", 2)}, lost: ErrLost}
		for i := range s.posts {
			s.posts[i].N = i + 1
		}
		b := New(Config{Rows: s, Leases: s, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Word: func(_ context.Context, p Pending) (Post, error) { return Post{ID: p.ID, Where: p.Where}, nil }})
		b.Took("b")
		m := member{make(chan string, 9)}
		for range 4 {
			if _, err := b.Deliver(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		close(m.shown)
		if got := fmt.Sprint(slices.Collect(func(yield func(string) bool) {
			for id := range m.shown {
				yield(id)
			}
		})); got != "[n1 n2]" {
			t.Errorf("%s were shown", got)
		}
	})
}

// However long the list of the posts that wait is: what other processes store is shown soon after
// their hint, and hints do not hold up the posts that are known.
func TestHints(t *testing.T) {
	for slow, want := range map[time.Duration]string{time.Millisecond: "all known after 2s, the other after 0s", time.Second: "all known after 3s, the other after 8.02s"} {
		synctest.Test(t, func(t *testing.T) {
			s := &shelf{slow: slow}
			for n := range 100 {
				o := notice(fmt.Sprint("n", n), n)
				o.N, o.Game = 1, match.GameID(o.ID)
				s.posts = append(s.posts, o)
			}
			b := New(Config{Rows: s, Leases: s, Now: time.Now, Log: slog.New(slog.DiscardHandler), Lanes: 1,
				Word: func(_ context.Context, p Pending) (Post, error) { return Post{ID: p.ID, Where: p.Where}, nil }})
			b.Took("b")
			ctx, stop := context.WithCancel(t.Context())
			m := member{make(chan string)}
			var run sync.WaitGroup
			run.Go(func() { b.Run(ctx, m) })
			began := time.Now()
			for range 100 {
				time.Sleep(20 * time.Millisecond)
				b.Look()
				<-m.shown
			}
			known := time.Since(began)
			other := notice("other", 100)
			other.N, other.Game = 1, "other"
			s.mu.Lock()
			s.posts = append(s.posts, other)
			s.mu.Unlock()
			began = time.Now()
			b.Look()
			<-m.shown
			if got := fmt.Sprintf("all known after %v, the other after %v", known.Round(time.Second), time.Since(began).Round(10*time.Millisecond)); got != want {
				t.Errorf("%v for a list: %s, want %s", slow, got, want)
			}
			stop()
			run.Wait()
		})
	}
}

// A lodger is a shelf for which this process has a lease at times.
type lodger struct {
	*shelf
	holder string // empty: none
}

func (l *lodger) Lease(match.Room) (holder string, ok bool) { return l.holder, l.holder != "" }

// A process that loses a room while its asker shows a post there, and gets it back, has dropped the
// posts behind that one. It reads them again before it shows newer ones.
func TestPostsDroppedWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lodger{shelf: &shelf{}}
		m := member{make(chan string, 9)}
		b := New(Config{Rows: l, Leases: l, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Word: func(_ context.Context, p Pending) (Post, error) {
				return Post{ID: p.ID, Game: p.Game, Where: p.Where}, nil
			}})
		deliver := func() {
			t.Helper()
			if _, err := b.Deliver(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		commit := func(o match.OutboxPost) []Post {
			t.Helper()
			step := &match.Step{Posts: []match.OutboxPost{o}, At: time.Now()}
			own, err := b.Commit(t.Context(), step, func() (any, error) {
				p := &step.Posts[0]
				p.N = o.Seq
				p.Tried = len(l.posts) == 0 && !p.Elsewhere
				stored := *p
				stored.Asker = false
				l.posts = append(l.posts, stored)
				return nil, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return b.Give(t.Context(), own)
		}
		l.holder = "b"
		b.Took("b")
		deliver()
		first := notice("n1", 1)
		first.Asker = true
		given := commit(first)
		if len(given) != 1 {
			t.Fatalf("the asker shows %v", given)
		}
		commit(notice("n2", 2))
		l.holder = ""
		deliver()
		l.holder = "c"
		commit(board("b3", 3))
		if err := b.Settle(t.Context(), given[0], "n1"); err != nil && !errors.Is(err, ErrLost) {
			t.Fatal(err)
		}
		deliver()
		b.Took("c")
		for range 4 {
			deliver()
			time.Sleep(time.Minute)
		}
		close(m.shown)
		got := ""
		for id := range m.shown {
			got += id + " "
		}
		if got != "n2 b3 " && got != "n1 n2 b3 " { // the chat would find n1
			t.Errorf("%sare shown", got)
		}
	})
}

// An asker whose room was lost lets go of all its posts, also if the one that it could not settle
// has been dropped meanwhile: whoever has the room next shows them, which may be this process again.
func TestReleaseAfterTheLeaseWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lodger{shelf: &shelf{}, holder: "b"}
		m := member{make(chan string, 9)}
		b := New(Config{Rows: l, Leases: l, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Word: func(_ context.Context, p Pending) (Post, error) {
				return Post{ID: p.ID, Game: p.Game, Where: p.Where, Seq: p.Seq}, nil
			}})
		deliver := func() {
			t.Helper()
			if _, err := b.Deliver(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		b.Took("b")
		deliver()
		step := &match.Step{Posts: []match.OutboxPost{notice("n1", 1), board("b1", 1)}, At: time.Now()}
		own, err := b.Commit(t.Context(), step, func() (any, error) {
			for i := range step.Posts {
				p := &step.Posts[i]
				p.N, p.Asker, p.Tried = i+1, true, true
				stored := *p
				stored.Asker = false
				l.posts = append(l.posts, stored)
			}
			return nil, nil
		})
		if err != nil || len(own) != 2 {
			t.Fatalf("the asker shows %v, %v", own, err)
		}
		given := b.Give(t.Context(), own)
		l.holder = ""
		err = b.Settle(t.Context(), given[0], "n1")
		if !errors.Is(err, ErrLost) {
			t.Fatal(err)
		}
		deliver()
		b.Release(t.Context(), given[0], err)
		l.holder = "c"
		b.Took("c")
		for range 10 {
			deliver()
			time.Sleep(time.Second)
		}
		close(m.shown)
		got := ""
		for id := range m.shown {
			got += id + " "
		}
		if got != "n1 b1 " {
			t.Errorf("%qare shown within ten seconds", got)
		}
	})
}

// A lease alone is not enough: before the outbox has been told of it, nothing is shown.
func TestNothingIsShownBeforeItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{posts: []match.OutboxPost{notice("n1", 1)}}
		s.posts[0].N = 1
		b := New(Config{Rows: s, Leases: s, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Word: func(_ context.Context, p Pending) (Post, error) { return Post{ID: p.ID, Where: p.Where}, nil }})
		m := member{make(chan string, 9)}
		for _, shown := range []int{0, 1} {
			if _, err := b.Deliver(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			if n := len(m.shown); n != shown {
				t.Errorf("%d posts are shown, not %d", n, shown)
			}
			b.Took("b")
		}
	})
}

// An interrupted shelf is one where something happens while its posts are read.
type interrupted struct {
	*shelf
	during func()
}

func (i interrupted) Waiting(ctx context.Context) ([]match.OutboxPost, error) {
	i.during()
	return i.shelf.Waiting(ctx)
}

// A room that is taken while the posts are read has its posts looked for, too. A hint that comes then
// is not forgotten: the posts are read again as soon as that may be.
func TestWhileThePostsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := notice("n1", 1)
		o.N = 1
		s := interrupted{shelf: &shelf{posts: []match.OutboxPost{o}, slow: 30 * time.Millisecond}}
		var b *Outbox
		s.during = func() {
			b.Took("b")
			b.Look()
		}
		b = New(Config{Rows: s, Leases: s, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		began := time.Now()
		if err := b.read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if posts := b.lane(o.Lane()).posts; len(posts) != 1 || !posts[0].Look {
			t.Errorf("%+v wait, and none is looked for", posts)
		}
		if after := b.looksAt().Sub(began); after != 300*time.Millisecond {
			t.Errorf("they are read again after %v", after)
		}
	})
}
