package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/lru"
	"github.com/halfpoint-go/halfpoint/render"
)

// However many pages are open, the scene of a turn is computed once; that of a turn
// made just now is the one that came with its post.
func TestSceneOncePerTurn(t *testing.T) {
	var scenes atomic.Int32 // that the bot was asked for
	d := fakeService{draw: func(seq int) (render.Scene, error) {
		scenes.Add(1)
		return scene(seq), nil
	}}
	l := newLog(t)
	r := newRoom(l)
	url, stop := run(t, r, d)
	sc := scene(2)
	var pages []*reader
	for range 20 {
		s := follow(t, url, "", "")
		s.until("ready")
		pages = append(pages, s)
	}
	deliver(t, r, outbox.Post{ID: "p1", Kind: match.Show, Game: "g1", Seq: 2, Text: "board", Scene: &sc})
	var picture string
	for _, s := range pages {
		e, _ := s.next()
		if e.message.Alt != render.Text(sc) {
			t.Fatalf("a page got %+v", e.message)
		}
		picture = e.message.Picture
	}
	if resp, _ := do(t, "GET", url+picture, ""); resp.StatusCode != http.StatusOK {
		t.Errorf("its picture: %s", resp.Status)
	}
	if n := scenes.Load(); n != 0 {
		t.Errorf("the bot was asked for %d scenes", n)
	}
	stop()

	url = open(t, newRoom(l), d) // which has no scene yet
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if ms := read(follow(t, url, "", "")); len(ms) != 1 || ms[0].Picture == "" {
				t.Errorf("a page got %+v", ms)
			}
			do(t, "GET", url+"/picture/g1/2.png", "")
		})
	}
	wait.Wait()
	if n := scenes.Load(); n != 1 {
		t.Errorf("after a restart the bot was asked for %d scenes", n)
	}
}

// Whoever comes while a value is being made, or just when it is, gets that one.
func TestCacheMakesOnce(t *testing.T) {
	c := cache[int, int]{Cache: lru.New[int, int](16)}
	for key := range 10_000 {
		var made atomic.Int32
		var wait sync.WaitGroup
		for range 16 {
			wait.Go(func() {
				c.get(key, func() (int, error) {
					made.Add(1)
					return key, nil
				})
			})
		}
		wait.Wait()
		if n := made.Load(); n != 1 {
			t.Fatalf("value %d was made %d times", key, n)
		}
	}
}

// Boards that are ready do not outlive a change of names for long, and failures are not
// kept at all.
func TestNothingIsKeptForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stones, failure := 0, errors.New("not now")
		r := newRoom(newLog(t))
		url := open(t, r, fakeService{draw: func(int) (render.Scene, error) { return scene(stones), failure }})
		deliver(t, r, outbox.Post{ID: "p1", Kind: match.Show, Game: "g1", Seq: 2, Text: "board"})
		see := func() string {
			s := follow(t, url, "", "")
			defer s.body.Close()
			return read(s)[0].Alt
		}
		if got := see(); got != "" {
			t.Errorf("without a scene a page shows %q", got)
		}
		failure = nil
		before := see()
		if before == "" {
			t.Error("a picture that failed stays away")
		}
		stones = 1
		if see() != before {
			t.Error("a board was made ready twice at once")
		}
		time.Sleep(keptFor + time.Second)
		if see() == before {
			t.Error("what was made ready is kept for ever")
		}
	})
}

// A stuck log is never done with trimming.
type stuck struct{ memory }

func (stuck) Trim(ctx context.Context, _ int64) error {
	<-ctx.Done()
	return ctx.Err()
}

// Pages do not wait until the transcript is trimmed.
func TestTrimmingHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		url := open(t, newRoom(stuck{newLog(t)}), fakeService{})
		page := follow(t, url, "seat=white", "")
		defer time.AfterFunc(time.Minute, func() { page.body.Close() }).Stop()
		post(t, url, submission{ID: id(1), Seat: "black", Text: "hello"})
		for {
			e, ok := page.next()
			if !ok {
				t.Fatal("the page does not see what was said")
			}
			if e.message.Text == "hello" {
				return
			}
		}
	})
}

// A page is written to at most ten times in any second, and gets everything; what
// happens once in a while it gets at once.
func TestFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(newLog(t))
		page := dial(t, open(t, r, fakeService{}), "GET /events HTTP/1.1")
		synctest.Wait()
		var writes []time.Time // of messages
		var got []byte
		reading := make(chan bool)
		go func() {
			defer close(reading)
			buffer := make([]byte, 1<<20)
			for {
				n, err := page.Read(buffer)
				if err != nil {
					return
				}
				if now := time.Now(); bytes.Contains(buffer[:n], []byte("post ")) && (len(writes) == 0 || !writes[len(writes)-1].Equal(now)) {
					writes = append(writes, now)
				}
				got = append(got, buffer[:n]...)
			}
		}()
		say := func(n int) { deliver(t, r, outbox.Post{ID: strconv.Itoa(n), Text: fmt.Sprintf("post %d.", n)}) }
		begin := time.Now()
		say(0)
		time.Sleep(2 * time.Second)
		const n = 300
		for i := 1; i <= n; i++ {
			say(i)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		page.Close()
		<-reading
		at := -1
		for i := range n + 1 {
			next := bytes.Index(got, fmt.Appendf(nil, "post %d.", i))
			if next <= at {
				t.Fatalf("post %d is at %d, after one at %d", i, next, at)
			}
			at = next
		}
		for i := range writes {
			if i >= 10 && writes[i].Sub(writes[i-10]) < time.Second {
				t.Errorf("writes %d to %d within %v", i-10, i, writes[i].Sub(writes[i-10]))
			}
		}
		if len(writes) < 20 || !writes[0].Equal(begin) {
			t.Errorf("%d writes in three seconds, the first after %v", len(writes), writes[0].Sub(begin))
		}
	})
}

// A page that falls too far behind is dropped, and gets what it has missed when it
// comes back.
func TestFarBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(newLog(t))
		r.slow = time.Hour
		url := open(t, r, fakeService{})
		s := follow(t, url, "", "")
		s.until("ready")
		const n = 300
		text := strings.Repeat("x", 100_000)
		for i := range n {
			deliver(t, r, outbox.Post{ID: strconv.Itoa(i), Text: text})
			time.Sleep(time.Second)
		}
		r.mu.Lock()
		if r.backlogBytes > maxBacklog || r.dropped == 0 {
			t.Errorf("a backlog of %d bytes, %d dropped", r.backlogBytes, r.dropped)
		}
		r.mu.Unlock()
		seen, last := 0, ""
		for {
			e, ok := s.next()
			if !ok {
				break
			}
			seen, last = seen+1, e.id
		}
		if seen == 0 || seen == n {
			t.Errorf("before it was dropped the page got %d messages of %d", seen, n)
		}
		for _, m := range read(follow(t, url, "", last)) {
			if seen++; m.N != int64(seen) {
				t.Fatalf("message %d came as number %d", m.N, seen)
			}
		}
		if seen != n {
			t.Errorf("%d messages of %d", seen, n)
		}
	})
}

// One client cannot take all streams. A proxy on this machine says which client it
// is, and others are not believed.
func TestStreamsPerClient(t *testing.T) {
	url := open(t, New(Config{Listen: "127.0.0.1:0", Log: newLog(t), OwnerToken: ownerToken}), fakeService{})
	status := func(address string) int {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", url+"/events", nil)
		req.Header.Set("X-Forwarded-For", "10.0.0.1, "+address)
		resp, err := clientFor(url).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp.StatusCode
	}
	for i := range maxClientStreams {
		if got := status(fmt.Sprintf("2001:db8::%x", i+1)); got != http.StatusOK {
			t.Fatalf("stream %d: %d", i, got)
		}
	}
	if got := status("2001:db8::ffff"); got != http.StatusServiceUnavailable {
		t.Errorf("one more of that network: %d", got)
	}
	for _, other := range []string{"2001:db8:0:1::1", "192.0.2.1"} {
		if got := status(other); got != http.StatusOK {
			t.Errorf("%s: %d", other, got)
		}
	}

	for _, c := range []struct{ peer, forwarded, want string }{
		{"127.0.0.1:5", "", ""},
		{"[::1]:5", "", ""},
		{"192.0.2.1:5", "", "192.0.2.1"},
		{"[::ffff:192.0.2.1]:5", "", "192.0.2.1"},
		{"[2001:db8::1]:5", "", "2001:db8::/64"},
		{"[fe80::1%eth0]:5", "", "fe80::/64"},
		{"127.0.0.1:5", "192.0.2.9", "192.0.2.9"},
		{"127.0.0.1:5", "203.0.113.1, 192.0.2.9", "192.0.2.9"},
		{"172.17.0.2:5", "192.0.2.9", "192.0.2.9"}, // a proxy in a container
		{"192.0.2.1:5", "203.0.113.1", "192.0.2.1"},
		{"127.0.0.1:5", "nonsense", ""},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := addressOf(r); got != c.want {
			t.Errorf("%s for %q is %q, want %q", c.peer, c.forwarded, got, c.want)
		}
	}
}
