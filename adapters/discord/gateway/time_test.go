package gateway

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
)

// A beat that nobody acknowledges ends the connection within an interval and
// five seconds of the last acknowledgement, with a code that keeps the session.
func TestZombie(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		defer c.stop()
		for range 10 {
			at.hear(opHeartbeat)
			at.say(opAck, nil)
		}
		last := time.Now()
		for n := 0; ; n++ {
			if _, err := at.next(); err != nil {
				if !websocket.IsCloseError(err, closeResume) {
					t.Error("ended with ", err)
				}
				break
			}
			at.dispatch("TYPING_START", nil) // it dispatches, but does not acknowledge
		}
		if d := time.Since(last); d < interval || d > interval+5*time.Second {
			t.Errorf("given up after %v", d)
		}
		at = d.accept()
		at.hello(interval)
		at.hear(opResume)
		at.dispatch("RESUMED", nil)
		<-c.ready
		at.hear(opHeartbeat)
		o := <-c.outages
		if o = <-c.outages; !o.Resumed || o.To.Sub(o.From) > interval+10*time.Second {
			t.Errorf("outage %+v", o)
		}
		at.ws.Close()
	})
}

// When events wait for a place for minutes, beats go on and the connection
// stays; nothing is lost.
func TestBackPressure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		got := make(chan int64, 10_000)
		d := newDiscord(t)
		c, at := d.start(func(cfg *Config) {
			cfg.Lanes = lanes.New(lanes.Config{Workers: 1, Total: 10, PerKey: 5})
			cfg.Handle = func(ctx context.Context, e Event) { until(ctx, release); got <- e.Seq }
		})
		defer c.stop()
		const n = 3000
		go func() {
			for i := range n {
				at.dispatch(InteractionCreate, press(i))
			}
		}()
		beats := 0
		began := time.Now()
		for time.Since(began) < 3*interval {
			if p, err := at.next(); err != nil || p.Op != opHeartbeat {
				t.Fatalf("%+v, %v", p, err)
			}
			beats++
		}
		if beats < 3 {
			t.Errorf("%d beats", beats)
		}
		close(release)
		for i := range n {
			if seq := <-got; seq != int64(i)+2 {
				t.Fatalf("event %d came as number %d", seq, i+2)
			}
		}
		at.say(opAck, nil)
		at.hear(opHeartbeat)
		at.say(opAck, nil)
		at.hear(opHeartbeat)
		if len(d.conns) > 0 {
			t.Error("it connected anew")
		}
		if s := c.g.Status()[0]; s.Resumes != 0 || s.Identifies != 1 {
			t.Errorf("status %+v", s)
		}
		at.ws.Close()
	})
}

// Discord sometimes never answers Resume. The shard tries up to three times, or
// for a minute, and then identifies.
func TestResumeUnanswered(t *testing.T) {
	for name, refused := range map[string]struct {
		how    func(*conn)
		tries  int
		within time.Duration
	}{
		"no answer": {func(*conn) {}, 2, time.Minute},
		"only acks": {func(c *conn) {
			for range 100 {
				c.say(opAck, nil)
			}
		}, 2, time.Minute},
		"closed":    {func(c *conn) { c.close(4000) }, 3, 10 * time.Second},
		"op 7":      {func(c *conn) { c.say(opReconnect, nil) }, 3, 10 * time.Second},
		"op 9 true": {func(c *conn) { c.say(opInvalid, true) }, 3, 20 * time.Second},
		"4007":      {func(c *conn) { c.close(4007) }, 1, 5 * time.Second},
		"4009":      {func(c *conn) { c.close(4009) }, 1, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDiscord(t)
				c, at := d.start(nil)
				defer c.stop()
				for round := range 2 { // in the second they are counted from the beginning
					time.Sleep(time.Second) // no two connections are opened within less
					at.ws.Close()
					began := time.Now()
					for range refused.tries {
						at = d.accept()
						at.hello(interval)
						at.hear(opResume)
						refused.how(at)
						defer at.ws.Close()
					}
					at = d.accept()
					at.hello(interval)
					at.hear(opIdentify)
					if d := time.Since(began); d > refused.within {
						t.Errorf("round %d: identified after %v", round, d)
					}
					at.ready(resumeURL)
					if r := <-c.ready; r.Resumed {
						t.Error("told as resumed")
					}
				}
				if s := c.g.Status()[0]; s.Identifies != 3 || s.Resumes != 0 || !s.Connected {
					t.Errorf("status %+v", s)
				}
				at.ws.Close()
			})
		})
	}
}

// A Resume that brings an event was answered, even if the connection ends before
// RESUMED: the session is kept as long as it gets on.
func TestResumeGetsOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		defer c.stop()
		at.ws.Close()
		for seq := int64(2); seq < 12; seq++ {
			at = d.accept()
			at.hello(interval)
			if said := at.hear(opResume); said["seq"] != float64(seq-1) {
				t.Fatalf("resumed with %v", said)
			}
			at.dispatchAt(seq, InteractionCreate, press(1))
			<-c.events
			at.ws.Close()
		}
		for try := range 5 { // also when Discord answers only each third
			for range 2 {
				at = d.accept()
				at.hello(interval)
				at.hear(opResume)
				at.close(4000)
			}
			at = d.accept()
			at.hello(interval)
			at.hear(opResume)
			at.dispatchAt(int64(12+try), "RESUMED", nil)
			if r := <-c.ready; !r.Resumed {
				t.Fatal("the session was given up")
			}
			at.ws.Close()
		}
	})
}

// Giving a session up does not go round the limits of Identify.
func TestResumeUnansweredKeepsLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var remaining atomic.Int64
		remaining.Store(1000)
		d := newDiscord(t)
		c, at := d.start(func(cfg *Config) {
			cfg.Bot = func(context.Context) (*rest.GatewayBot, error) {
				limit := rest.SessionLimit{Total: 1000, Remaining: int(remaining.Load()), ResetAfter: time.Hour.Milliseconds(), Concurrency: 1}
				return &rest.GatewayBot{URL: address, Shards: 1, Limit: limit}, nil
			}
		})
		defer c.stop()
		remaining.Store(500)
		time.AfterFunc(time.Hour, func() { remaining.Store(1000) })
		began := time.Now()
		at.ws.Close()
		for range maxResumes {
			at = d.accept()
			at.hello(interval)
			at.hear(opResume)
			at.close(4000)
		}
		at = d.accept()
		at.hello(interval)
		at.hear(opIdentify)
		if d := time.Since(began); d < time.Hour || d > 2*time.Hour {
			t.Errorf("identified after %v", d)
		}
		at.ready("")
		<-c.ready
		at.ws.Close()
	})
}

// An acknowledgement that had to wait behind events for which there was no place is
// not late, even if it comes a moment after they were taken.
func TestAcknowledgementBehindEvents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		d := newDiscord(t)
		c, at := d.start(func(cfg *Config) {
			cfg.Lanes = lanes.New(lanes.Config{Workers: 1, Total: 10})
			cfg.Handle = func(ctx context.Context, e Event) { until(ctx, release) }
		})
		defer c.stop()
		go func() {
			for i := range 3000 { // more than fit on the way
				at.dispatch(InteractionCreate, press(i))
			}
			time.Sleep(100 * time.Millisecond)
			at.say(opAck, nil)
		}()
		time.Sleep(interval + 5*time.Second - 50*time.Millisecond) // the watchdog is about to fire
		close(release)
		time.Sleep(interval)
		if s := c.g.Status()[0]; !s.Connected || len(c.lost) > 0 || len(d.conns) > 0 {
			t.Errorf("it was given up: %+v", s)
		}
		at.ws.Close()
	})
}

// Where the address at which to resume is out of order, the one at which everybody
// begins is tried as well.
func TestResumesElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(nil)
		at := d.accept()
		at.hello(interval)
		at.hear(opIdentify)
		at.ready("ws://localhost:81") // where nobody listens
		wait(t, "ready", c.ready)
		at.cut()
		at = d.accept()
		if at.path != "/?v=10&encoding=json" {
			t.Errorf("connected to %s", at.path)
		}
		at.hello(interval)
		at.hear(opResume)
		at.dispatch("RESUMED", nil)
		if r := wait(t, "ready", c.ready); !r.Resumed {
			t.Error("the session was given up")
		}
	})
}
