package gateway

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
)

// interval is Discord's.
const interval = 41250 * time.Millisecond

// inMemory runs a client and a Discord in a bubble whose time is not real. The
// connection is ready.
func inMemory(t *testing.T, change func(*Config)) (*client, *conn, chan *conn) {
	t.Helper()
	conns := make(chan *conn, 10)
	info := &rest.GatewayBot{URL: "ws://127.0.0.1", Shards: 1, Limit: rest.SessionLimit{Total: 1000, Remaining: 1000, Concurrency: 1}}
	c := run(t, token, func(context.Context) (*rest.GatewayBot, error) { return info, nil }, func(cfg *Config) {
		cfg.Times = Times{}
		cfg.Times.fill()
		cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
			p := newPipe()
			go func() {
				if ws, err := p.accept(); err == nil {
					conns <- &conn{t: t, ws: ws, long: time.Hour}
				}
			}()
			return p.theirs, nil
		}
		change(cfg)
	})
	at := <-conns
	at.hello(interval)
	at.hear(opIdentify)
	at.ready("ws://127.0.0.1/resume")
	<-c.ready
	return c, at, conns
}

// leave ends the connection at a moment when discordgo does nothing: it sleeps
// for a second under a lock then, and who waits for a lock stops a bubble's time.
func (c *conn) leave() {
	time.Sleep(time.Second)
	synctest.Wait()
	c.ws.Close()
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
		at.leave()
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
		at.leave()
	})
}
