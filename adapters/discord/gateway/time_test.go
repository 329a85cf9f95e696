package gateway

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
	"github.com/halfpoint-go/halfpoint/adapters/memnet"
)

// interval is Discord's.
const interval = 41250 * time.Millisecond

// inMemory runs a client and a Discord in a bubble whose time is not real. The
// connection is ready.
func inMemory(t *testing.T, change func(*Config)) (*client, *conn, chan *conn) {
	t.Helper()
	conns := make(chan *conn, 10)
	var network memnet.Network
	listener, err := network.Listen("127.0.0.1:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var up websocket.Upgrader
		if ws, err := up.Upgrade(w, r, nil); err == nil {
			conns <- &conn{t: t, ws: ws, long: time.Hour}
		}
	})}
	go server.Serve(listener) //nolint:errcheck // until it is closed
	t.Cleanup(func() { server.Close() })
	info := &rest.GatewayBot{URL: "ws://127.0.0.1", Shards: 1, Limit: rest.SessionLimit{Total: 1000, Remaining: 1000, Concurrency: 1}}
	c := run(t, token, func(context.Context) (*rest.GatewayBot, error) { return info, nil }, func(cfg *Config) {
		cfg.Times = Times{}
		cfg.Times.fill()
		cfg.Dial = network.DialContext
		change(cfg)
	})
	at := <-conns
	at.hello(interval)
	at.hear(opIdentify)
	at.ready("ws://127.0.0.1/resume")
	<-c.ready
	return c, at, conns
}

// A beat that nobody acknowledges ends the connection within an interval and
// five seconds of the last acknowledgement, with a code that keeps the session.
func TestZombie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, at, conns := inMemory(t, func(*Config) {})
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
		at = <-conns
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
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		got := make(chan int64, 10_000)
		c, at, conns := inMemory(t, func(cfg *Config) {
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
		if len(conns) > 0 {
			t.Error("it connected anew")
		}
		if s := c.g.Status()[0]; s.Dropped != 0 || s.Resumes != 0 || s.Identifies != 1 {
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
			synctest.Test(t, func(t *testing.T) {
				c, at, conns := inMemory(t, func(*Config) {})
				defer c.stop()
				for round := range 2 { // in the second they are counted from the beginning
					time.Sleep(time.Second) // no two connections are opened within less
					at.ws.Close()
					began := time.Now()
					for range refused.tries {
						at = <-conns
						at.hello(interval)
						at.hear(opResume)
						refused.how(at)
						defer at.ws.Close()
					}
					at = <-conns
					at.hello(interval)
					at.hear(opIdentify)
					if d := time.Since(began); d > refused.within {
						t.Errorf("round %d: identified after %v", round, d)
					}
					at.ready("ws://127.0.0.1/resume")
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
	synctest.Test(t, func(t *testing.T) {
		c, at, conns := inMemory(t, func(*Config) {})
		defer c.stop()
		at.ws.Close()
		for seq := int64(2); seq < 12; seq++ {
			at = <-conns
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
				at = <-conns
				at.hello(interval)
				at.hear(opResume)
				at.close(4000)
			}
			at = <-conns
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
	synctest.Test(t, func(t *testing.T) {
		var remaining atomic.Int64
		remaining.Store(1000)
		c, at, conns := inMemory(t, func(cfg *Config) {
			cfg.Bot = func(context.Context) (*rest.GatewayBot, error) {
				limit := rest.SessionLimit{Total: 1000, Remaining: int(remaining.Load()), ResetAfter: time.Hour.Milliseconds(), Concurrency: 1}
				return &rest.GatewayBot{URL: "ws://127.0.0.1", Shards: 1, Limit: limit}, nil
			}
		})
		defer c.stop()
		remaining.Store(500)
		time.AfterFunc(time.Hour, func() { remaining.Store(1000) })
		began := time.Now()
		at.ws.Close()
		for range maxResumes {
			at = <-conns
			at.hello(interval)
			at.hear(opResume)
			at.close(4000)
		}
		at = <-conns
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
