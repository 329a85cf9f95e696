package rest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// server is a Discord that limits: a bucket of limit requests every window for
// each top-level resource.
type server struct {
	discord
	limit  int
	window time.Duration

	state   sync.Mutex
	used    map[string]int
	reset   map[string]time.Time
	refused int
}

func newServer(limit int, window time.Duration) *server {
	s := &server{limit: limit, window: window, used: map[string]int{}, reset: map[string]time.Time{}}
	s.answer = func(a asked) answer {
		s.state.Lock()
		defer s.state.Unlock()
		key, now := a.path, a.at
		if !now.Before(s.reset[key]) {
			s.used[key], s.reset[key] = 0, now.Add(s.window)
		}
		after := fmt.Sprintf("%.3f", s.reset[key].Sub(now).Seconds())
		h := map[string]string{"X-RateLimit-Bucket": "b", "X-RateLimit-Limit": fmt.Sprint(s.limit), "X-RateLimit-Reset-After": after}
		if s.used[key] == s.limit {
			s.refused++
			h["X-RateLimit-Remaining"], h["Retry-After"], h["X-RateLimit-Scope"] = "0", after, "user"
			return answer{status: 429, header: h, body: `{"message":"","retry_after":` + after + `,"global":false}`}
		}
		s.used[key]++
		h["X-RateLimit-Remaining"] = fmt.Sprint(s.limit - s.used[key])
		return answer{header: h, after: 50 * time.Millisecond}
	}
	return s
}

// A bucket is learned and never overrun; who must wait too long is told so.
func TestBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(5, 5*time.Second)
		c := newClient(t, &s.discord, nil)
		c.http.Transport = s
		var done, limited int32
		var group sync.WaitGroup
		for range 30 {
			group.Go(func() {
				_, err := c.Send(t.Context(), "3", Message{})
				var wait *RateLimited
				switch {
				case err == nil:
					atomic.AddInt32(&done, 1)
				case errors.As(err, &wait) && wait.Wait > 0 && wait.Wait <= 5*time.Second:
					atomic.AddInt32(&limited, 1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if done != 5 || limited != 25 || s.refused != 0 {
			t.Errorf("%d sent, %d told to wait, %d refused by Discord", done, limited, s.refused)
		}
		time.Sleep(5 * time.Second)
		if _, err := c.Send(t.Context(), "3", Message{}); err != nil {
			t.Errorf("when the bucket is full again: %v", err)
		}
		if _, err := c.Send(t.Context(), "4", Message{}); err != nil {
			t.Errorf("another channel: %v", err)
		}
	})
}

// A short wait is waited for.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(2, time.Second)
		c := newClient(t, &s.discord, nil)
		for i := range 10 {
			if _, err := c.Send(t.Context(), "3", Message{}); err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
		}
		if s.refused != 0 {
			t.Errorf("%d refused", s.refused)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		c.Send(t.Context(), "3", Message{}) //nolint:errcheck // empties the bucket
		if _, err := c.Send(ctx, "3", Message{}); err == nil || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// The first answer to an interaction waits as long as it can still be in time, and no longer.
func TestAnswerWaits(t *testing.T) {
	for wait, want := range map[string]bool{"0.8": true, "1.9": true, "2.5": false} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			d := &discord{answer: func(asked) answer {
				if time.Since(began) < 500*time.Millisecond {
					return answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "user"}, body: `{"retry_after":` + wait + `,"global":false}`}
				}
				return answer{}
			}}
			c := newClient(t, d, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			if _, err := c.Respond(ctx, "5", webhookToken, Defer(0)); (err == nil) != want {
				t.Errorf("asked to wait %s s: %v", wait, err)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("asked to wait %s s it took %v", wait, took)
			}
		})
	}
}

// Different interactions do not wait for one another.
func TestInteractionsAreParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(5, 5*time.Second)
		c := newClient(t, &s.discord, nil)
		began := time.Now()
		var group sync.WaitGroup
		for i := range 300 {
			group.Go(func() {
				token := fmt.Sprint(i)
				if _, err := c.Respond(t.Context(), token, token, Defer(0)); err != nil {
					t.Error(err)
				}
				if _, err := c.EditOriginal(t.Context(), token, Message{}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if d := time.Since(began); d > 150*time.Millisecond {
			t.Errorf("600 requests of 50 ms took %v", d)
		}
	})
}

// The client forgets the buckets of interactions.
func TestForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := map[string]string{"X-RateLimit-Bucket": "b", "X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "4", "X-RateLimit-Reset-After": "5"}
		d := &discord{answer: always(answer{header: h})}
		c := newClient(t, d, nil)
		most := 0
		for i := range 5000 { // a hundred a second
			token := fmt.Sprint("token-", i)
			c.Respond(t.Context(), "5", token, Defer(0))  //nolint:errcheck // counted below
			c.EditOriginal(t.Context(), token, Message{}) //nolint:errcheck // counted below
			c.FollowUp(t.Context(), token, Message{})     //nolint:errcheck // counted below
			most = max(most, len(c.buckets.live))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		c.EditOriginal(t.Context(), "last", Message{}) //nolint:errcheck // counted below
		if most > 2*1600 {                             // two routes, and what comes in five and ten seconds
			t.Errorf("%d buckets were remembered", most)
		}
		if live, names := len(c.buckets.live), len(c.buckets.name); live > 1 || names != 2 {
			t.Errorf("%d buckets and %d names are remembered", live, names)
		}
	})
}

// A 429 of each kind stops what it is about, and nothing else.
func TestKindsOf429(t *testing.T) {
	for name, at := range map[string]struct {
		answer answer
		open   bool // comes on an interaction's route
		scope  string
		wait   time.Duration
		stops  [3]bool // the same channel, another channel, interactions
	}{
		"user": {answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "user", "Retry-After": "7", "X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "7"},
			body: `{"retry_after":7.0,"global":false}`}, false, ScopeUser, 7 * time.Second, [3]bool{true, false, false}},
		"shared": {answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "shared", "Retry-After": "7"},
			body: `{"retry_after":7.25,"global":false}`}, false, ScopeShared, 7250 * time.Millisecond, [3]bool{true, false, false}},
		"global": {answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "global", "X-RateLimit-Global": "true", "Retry-After": "7"},
			body: `{"retry_after":7.0,"global":true}`}, false, ScopeGlobal, 7 * time.Second, [3]bool{true, true, false}},
		"global on an interaction": {answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "global", "X-RateLimit-Global": "true", "Retry-After": "7"},
			body: `{"retry_after":7.0,"global":true}`}, true, ScopeGlobal, 7 * time.Second, [3]bool{false, false, true}},
		"cloudflare": {answer{status: 429, header: map[string]string{"Retry-After": "30", "Content-Type": "text/html"},
			body: "error code: 1015"}, false, ScopeCloudflare, 30 * time.Second, [3]bool{true, true, true}},
		"cloudflare says nothing": {answer{status: 429, body: "<html>"}, false, ScopeCloudflare, bannedTime, [3]bool{true, true, true}},
		"cloudflare forbids":      {answer{status: 403, body: "<html>"}, false, ScopeCloudflare, bannedTime, [3]bool{true, true, true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &discord{answer: always(at.answer)}
			c := newClient(t, d, nil)
			var err error
			if at.open {
				_, err = c.Respond(t.Context(), "5", webhookToken, Defer(0))
			} else {
				_, err = c.Send(t.Context(), "3", Message{})
			}
			var wait *RateLimited
			if !errors.As(err, &wait) || wait.Scope != at.scope || wait.Wait != at.wait {
				t.Errorf("%s: %v", name, err)
			}
			d.answer = always(answer{})
			ask := func() (stopped [3]bool) {
				_, err1 := c.Send(t.Context(), "3", Message{})
				_, err2 := c.Send(t.Context(), "4", Message{})
				_, err3 := c.Respond(t.Context(), "6", webhookToken, Defer(0))
				return [3]bool{err1 != nil, err2 != nil, err3 != nil}
			}
			if got := ask(); got != at.stops {
				t.Errorf("%s stops %v, not %v", name, got, at.stops)
			}
			time.Sleep(at.wait)
			if got := ask(); got != [3]bool{} {
				t.Errorf("%s still stops %v after its time", name, got)
			}
		})
	}
}

// After so many invalid requests nothing more is asked with the token; after ten minutes it
// is again. Interactions are always answered, whoever caused those requests, and count.
func TestInvalid(t *testing.T) {
	for name, at := range map[string]struct {
		bad  answer
		most int
	}{
		"403":    {answer{status: 403, body: `{"code":50013,"message":"Missing Permissions"}`}, mostInvalid},
		"429":    {answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "user", "Retry-After": "0.001"}, body: `{"retry_after":0.001}`}, mostInvalid},
		"shared": {answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "shared", "Retry-After": "0.001"}, body: `{"retry_after":0.001}`}, 2 * mostInvalid},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &discord{answer: always(at.bad)}
			c := newClient(t, d, func(cfg *Config) { cfg.Patience = 0 })
			for i := range mostInvalid {
				c.FollowUp(t.Context(), fmt.Sprint(i), Message{}) //nolint:errcheck // counted
			}
			for i := range mostInvalid {
				time.Sleep(time.Second / 40)
				c.Channel(t.Context(), fmt.Sprint(i)) //nolint:errcheck // counted
			}
			if n := d.count(); n != at.most {
				t.Errorf("%s: asked %d times", name, n)
			}
			_, err := c.Channel(t.Context(), "x")
			var wait *RateLimited
			if at.most == mostInvalid && (!errors.As(err, &wait) || wait.Scope != ScopeOwn || wait.Wait > invalidSpan) {
				t.Fatalf("%s: %v", name, err)
			}
			d.answer = always(answer{})
			_, first := c.Respond(t.Context(), "5", "a", Defer(0))
			_, edit := c.EditOriginal(t.Context(), "a", Message{})
			if _, further := c.FollowUp(t.Context(), "a", Message{}); first != nil || edit != nil || further != nil {
				t.Errorf("%s: interactions are not answered: %v, %v, %v", name, first, edit, further)
			}
			time.Sleep(invalidSpan)
			if _, err := c.Channel(t.Context(), "x"); err != nil {
				t.Errorf("%s: after ten minutes: %v", name, err)
			}
		})
	}
}

// A token that is not accepted is tried again more and more seldom; one refusal
// does not stop everything for long.
func TestUnauthorized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := always(answer{status: 401, body: `{"message":"401: Unauthorized","code":0}`})
		d := &discord{answer: no}
		c := newClient(t, d, func(cfg *Config) { cfg.Patience = 0 })
		began := time.Now()
		var asked []time.Duration
		refused := func() {
			t.Helper()
			var e *Error
			if _, err := c.Me(t.Context()); !errors.As(err, &e) || e.Status != 401 || Gone(err) || Forbidden(err) {
				t.Fatal(err)
			}
			asked = append(asked, time.Since(began))
			for range 50 {
				var wait *RateLimited
				if _, err := c.Send(t.Context(), "3", Message{}); !errors.As(err, &wait) || wait.Scope != ScopeToken || wait.Wait <= 0 || wait.Wait > refusedMax {
					t.Fatal(err)
				}
			}
		}
		for time.Since(began) < time.Hour {
			refused()
			if _, err := c.Respond(t.Context(), "6", webhookToken, Defer(0)); err == nil || d.count() != 2*len(asked) { // without the token
				t.Fatalf("%v after %d", err, d.count())
			}
			time.Sleep(time.Until(c.limits.token))
		}
		if n := len(asked); n != 20 || asked[1] != time.Second || asked[2] != 3*time.Second || asked[n-1]-asked[n-2] != refusedMax {
			t.Errorf("asked after %v", asked)
		}
		d.answer = always(answer{})
		if _, err := c.Send(t.Context(), "3", Message{}); err != nil {
			t.Errorf("accepted again: %v", err)
		}
		d.answer = always(answer{status: 401, body: `{}`, after: time.Second})
		var group sync.WaitGroup
		for i := range 5 { // those that were on their way count once
			group.Go(func() { c.Channel(t.Context(), fmt.Sprint(i)) }) //nolint:errcheck // refused
		}
		group.Wait()
		if wait := time.Until(c.limits.token); wait > refusedMin {
			t.Errorf("it waits %v after refusals at the same time", wait)
		}
		time.Sleep(refusedMin)
		d.answer = always(answer{})
		c.Me(t.Context()) //nolint:errcheck // accepted
		d.answer = no
		refused()
		if wait := time.Until(c.limits.token); wait != refusedMin {
			t.Errorf("it waits %v after one refusal", wait)
		}
	})
}

// In no second are there more than the limit. Nobody waits for a place for longer
// than they have patience, nor after their context has ended.
func TestPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &discord{}
		c := newClient(t, d, nil)
		var sent, limited atomic.Int32
		var group sync.WaitGroup
		began := time.Now()
		for i := range 300 {
			group.Go(func() {
				_, err := c.Send(t.Context(), fmt.Sprint(i), Message{})
				var wait *RateLimited
				switch {
				case err == nil:
					sent.Add(1)
				case errors.As(err, &wait):
					limited.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if d := time.Since(began); d > 5*time.Second || sent.Load() < 2*mostPerSecond || sent.Load()+limited.Load() != 300 {
			t.Errorf("%d sent, %d told to wait, after %v", sent.Load(), limited.Load(), d)
		}
		for i := mostPerSecond; i < len(d.asked); i++ {
			if between := d.asked[i].at.Sub(d.asked[i-mostPerSecond].at); between < time.Second {
				t.Errorf("%d in %v", mostPerSecond+1, between)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, &discord{}, nil)
		for i := range mostPerSecond {
			c.Channel(t.Context(), fmt.Sprint(i)) //nolint:errcheck // takes the second
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		began := time.Now()
		_, err := c.Channel(ctx, "x")
		var unsent *NotSent
		if !errors.As(err, &unsent) || time.Since(began) > 100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// Several processes share what the bot may ask in a second, however many there are now.
func TestSharedPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &discord{}
		var processes atomic.Int32
		c := newClient(t, d, func(cfg *Config) { cfg.Processes = func() int { return int(processes.Load()) } })
		for _, n := range []int{1, 4, 3, 1000, 1} {
			processes.Store(int32(n))
			share := max(1, mostPerSecond/n)
			time.Sleep(time.Minute)
			first := len(d.asked)
			for i := range 2 * share {
				if _, err := c.Channel(t.Context(), fmt.Sprint(i)); err != nil {
					t.Fatal(err)
				}
			}
			asked := d.asked[first:]
			for i := share; i < len(asked); i++ {
				if between := asked[i].at.Sub(asked[i-share].at); between < time.Second {
					t.Errorf("one of %d processes: %d in %v", n, share+1, between)
				}
			}
			if took := asked[share-1].at.Sub(asked[0].at); took > time.Second/2 {
				t.Errorf("one of %d processes: %d take %v", n, share, took)
			}
		}
	})
}
