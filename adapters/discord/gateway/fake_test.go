package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const token = "canary-bot-token.which.must-stay-secret"

// patience is how long, in virtual time, a test waits for what must come.
const patience = 24 * time.Hour

// interval is Discord's, between heartbeats.
const interval = 41250 * time.Millisecond

// bubble runs a test in virtual time: it stands still while anybody works, and
// passes at once while everybody waits.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// bubbleIn runs one test of a table in virtual time.
func bubbleIn(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { bubble(t, test) })
}

// A discord is a gateway whose every word is said by the test. It is in memory.
type discord struct {
	t       *testing.T
	network memnet.Network
	conns   chan *conn
	limit   discordgo.SessionInformation
}

// A conn is one connection to it.
type conn struct {
	t    *testing.T
	path string
	ws   *websocket.Conn
	mu   sync.Mutex // for writing
	seq  int64
}

func newDiscord(t *testing.T) *discord {
	d := &discord{t: t, conns: make(chan *conn, 64),
		limit: discordgo.SessionInformation{Total: 1000, Remaining: 1000, ResetAfter: 3600_000, MaxConcurrency: 1}}
	listener, err := d.network.Listen("localhost:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var up websocket.Upgrader
		if ws, err := up.Upgrade(w, r, nil); err == nil {
			d.conns <- &conn{t: t, path: r.URL.String(), ws: ws}
		}
	})}
	go server.Serve(listener) //nolint:errcheck // until it is closed
	t.Cleanup(func() { server.Close() })
	return d
}

// address is where the gateway is; resumeURL is what READY gives.
const (
	address   = "ws://localhost"
	resumeURL = address + "/resume"
)

func (d *discord) bot(context.Context) (*discordgo.GatewayBotResponse, error) {
	return &discordgo.GatewayBotResponse{URL: address, Shards: 1, SessionStartLimit: d.limit}, nil
}

// accept waits for the next connection.
func (d *discord) accept() *conn {
	d.t.Helper()
	select {
	case c := <-d.conns:
		d.t.Cleanup(func() { c.ws.Close() })
		return c
	case <-time.After(patience):
		d.t.Fatal("nobody connected")
		return nil
	}
}

func (c *conn) say(op int, data any) {
	c.t.Helper()
	if err := c.write(map[string]any{"op": op, "d": data, "s": nil, "t": nil}); err != nil {
		c.t.Error("cannot say: ", err)
	}
}

func (c *conn) write(v any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ws.WriteJSON(v)
}

// greet says hello and waits for what follows it: op 2 or 6.
func (c *conn) greet(op int) map[string]any {
	c.t.Helper()
	c.say(opHello, map[string]any{"heartbeat_interval": interval.Milliseconds(), "_trace": []string{"x"}})
	return c.hear(op)
}

func (c *conn) dispatch(name string, data any) {
	c.t.Helper()
	c.seq++
	c.dispatchAt(c.seq, name, data)
}

func (c *conn) dispatchAt(seq int64, name string, data any) {
	c.t.Helper()
	if err := c.write(map[string]any{"op": 0, "d": data, "s": seq, "t": name}); err != nil {
		c.t.Error("cannot dispatch: ", err)
	}
}

func (c *conn) ready(resume string) {
	c.t.Helper()
	c.dispatch("READY", map[string]any{"v": 10, "session_id": "session-1", "resume_gateway_url": resume,
		"user": map[string]any{"id": "42"}, "application": map[string]any{"id": "43"},
		"guilds": []any{map[string]any{"id": "7", "unavailable": true}}, "a_new_field": []int{1}})
}

// hear waits for a message other than a heartbeat, which it acknowledges.
func (c *conn) hear(op int) map[string]any {
	c.t.Helper()
	for {
		p, err := c.next()
		if err != nil {
			c.t.Fatalf("waiting for op %d: %v", op, err)
		}
		if p.Op == opHeartbeat && op != opHeartbeat {
			c.say(opAck, nil)
			continue
		}
		if p.Op != op {
			c.t.Fatalf("op %d came, not %d", p.Op, op)
		}
		var data map[string]any
		json.Unmarshal(p.Data, &data) //nolint:errcheck // a heartbeat's is a number
		return data
	}
}

func (c *conn) next() (packet, error) {
	var p packet
	c.ws.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // reading says so
	err := c.ws.ReadJSON(&p)
	return p, err
}

// closed waits for the connection's end and gives the code that it was closed
// with.
func (c *conn) closed() int {
	c.t.Helper()
	for {
		p, err := c.next()
		if err == nil {
			if p.Op == opHeartbeat {
				c.write(map[string]any{"op": opAck, "d": nil}) //nolint:errcheck // it may be gone
			}
			continue
		}
		if e, ok := err.(*websocket.CloseError); ok {
			return e.Code
		}
		c.t.Fatal("not closed properly: ", err)
	}
}

func (c *conn) close(code int) {
	c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second)) //nolint:errcheck // see cut
	c.ws.Close()
}

// cut ends the connection without a word.
func (c *conn) cut() { c.ws.NetConn().Close() }

// A client is a running gateway with what it told.
type client struct {
	t         *testing.T
	g         *Gateway
	events    chan json.RawMessage
	connected chan bool // whether it resumed
	result    chan error
	cancel    func()
}

// A lockedBuffer is a log.
type lockedBuffer struct {
	mu sync.Mutex
	strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Builder.Write(p)
}

func (d *discord) run(change func(*Config)) *client {
	d.t.Helper()
	return run(d.t, Config{Token: secret.New(token), Bot: d.bot, Dial: d.network.DialContext}, change)
}

// serves has one shard of so many served, beginning with a session.
func (d *discord) serves(id, total int, from Session, keep func(Session), change func(*Config)) *client {
	d.t.Helper()
	return serving(d.t, Config{Token: secret.New(token), Bot: d.bot, Dial: d.network.DialContext}, change,
		func(ctx context.Context, g *Gateway) error { return g.Serve(ctx, id, total, from, keep) })
}

func run(t *testing.T, cfg Config, change func(*Config)) *client {
	t.Helper()
	return serving(t, cfg, change, serveAll)
}

func serving(t *testing.T, cfg Config, change func(*Config), serve func(context.Context, *Gateway) error) *client {
	t.Helper()
	c := &client{t: t, events: make(chan json.RawMessage, 100_000), connected: make(chan bool, 1000), result: make(chan error, 1)}
	var logged lockedBuffer
	cfg.Handle = func(raw json.RawMessage, done func()) {
		c.events <- raw
		done()
	}
	cfg.Connected = func(resumed bool) { c.connected <- resumed }
	cfg.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&cfg)
	}
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.g, c.cancel = g, cancel
	go func() { c.result <- serve(ctx, g) }()
	t.Cleanup(func() {
		c.stop() //nolint:errcheck // the test has looked at it
		if strings.Contains(logged.String(), "canary") || strings.Contains(logged.String(), cfg.Token.Reveal()) {
			t.Error("a token is in the log")
		}
	})
	return c
}

// serveAll serves all shards, as a process that is alone.
func serveAll(ctx context.Context, g *Gateway) error {
	total, err := g.Shards(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for id := range total {
		group.Go(func() error { return g.Serve(ctx, id, total, Session{}, nil) })
	}
	return group.Wait()
}

// stop ends the client and gives what serving gave.
func (c *client) stop() error {
	c.t.Helper()
	c.cancel()
	return c.ended()
}

// ended waits for the end of serving.
func (c *client) ended() error {
	c.t.Helper()
	err := wait(c.t, "end of serving", c.result)
	c.result <- err
	return err
}

// isFatal waits for the end of serving, which must be for a reason with this code.
func (c *client) isFatal(code int) {
	c.t.Helper()
	var f *Fatal
	if err := c.ended(); !errors.As(err, &f) || f.Code != code {
		c.t.Errorf("serving: %v", err)
	}
}

// got waits for interactions with these ids, in this order.
func (c *client) got(ids ...int) {
	c.t.Helper()
	for _, id := range ids {
		var in struct{ ID string }
		if err := json.Unmarshal(wait(c.t, "interaction", c.events), &in); err != nil || in.ID != fmt.Sprint(id) {
			c.t.Fatalf("interaction %s came, not %d, %v", in.ID, id, err)
		}
	}
}

// resumes waits until it is connected, by resuming or not.
func (c *client) resumes(want bool) {
	c.t.Helper()
	if got := wait(c.t, "connection", c.connected); got != want {
		c.t.Errorf("resumed: %v", got)
	}
}

// wait takes the next of what was told.
func wait[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("no ", what)
		panic("unreachable")
	}
}

// start connects a client and makes it ready.
func (d *discord) start(change func(*Config)) (*client, *conn) {
	d.t.Helper()
	c := d.run(change)
	at := d.accept()
	at.greet(opIdentify)
	at.ready(resumeURL)
	c.resumes(false)
	return c, at
}

// press is an interaction as it is told.
func press(n int) map[string]any {
	return map[string]any{"id": fmt.Sprint(n), "token": fmt.Sprint("canary-", n), "type": 3, "data": map[string]any{"custom_id": "x"}}
}
