package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

const (
	readLimit     = 16 << 20         // bytes of a message
	writeTime     = 10 * time.Second // for one message
	handshakeTime = 10 * time.Second // to open a connection, of startTime
)

// Operations of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// A packet is a message of the gateway.
type packet struct {
	Op   int             `json:"op"`
	Seq  int64           `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
	Data json.RawMessage `json:"d"`
}

// An ending is how a connection ended.
type ending struct {
	code    int           // by which Discord closed it; 0 if it did not
	err     error         // otherwise
	ready   bool          // READY or RESUMED had come
	resumed bool          // op 6 was sent
	again   bool          // the session cannot be resumed
	wait    time.Duration // that Discord asks for before the next connection
}

// A connection is one WebSocket, from hello to its end. One goroutine reads; once
// it has identified or resumed, another writes heartbeats.
type connection struct {
	s          *shard
	socket     *websocket.Conn
	address    string
	session    Session // to resume; without an id: identify
	identified func()  // called when it identifies

	interval time.Duration // between heartbeats; 0 before hello
	beat     chan struct{} // asks for a heartbeat now
	up       bool          // an event came
	end      ending
}

// dial opens a connection to a gateway's address, over TCP if how is nil.
func dial(ctx context.Context, address string, how func(ctx context.Context, network, addr string) (net.Conn, error), within time.Duration) (*websocket.Conn, error) {
	u, err := rest.CheckURL(address, "wss", "ws")
	if err != nil {
		return nil, err
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.RawQuery = "v=10&encoding=json"
	d := websocket.Dialer{NetDialContext: how, HandshakeTimeout: min(within, handshakeTime)}
	if how == nil {
		d.Proxy = http.ProxyFromEnvironment
	}
	conn, resp, err := d.DialContext(ctx, u.String(), nil)
	if resp != nil {
		resp.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(readLimit)
	return conn, nil
}

// Try opens a connection to the gateway at an address, waits until Discord says
// hello, and closes it. It does not identify, so it uses no session start. It takes
// no longer than within. A nil dialer means TCP, as in [Config].
func Try(ctx context.Context, address string, dialer func(ctx context.Context, network, addr string) (net.Conn, error), within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	conn, err := dial(ctx, address, dialer, within)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	var hello packet
	err = conn.ReadJSON(&hello)
	hangUp(conn, closeLeave)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("wait for hello: %w", ctx.Err())
	case err == nil && hello.Op != opHello:
		return errors.New("first message is not hello")
	}
	return err
}

// hangUp closes a connection with a code, if it is still there.
func hangUp(socket *websocket.Conn, code int) {
	text := websocket.FormatCloseMessage(code, "")
	socket.WriteControl(websocket.CloseMessage, text, time.Now().Add(time.Second)) //nolint:errcheck // it ends either way
	socket.Close()
}

// run handles messages until the connection ends. It must be ready within a time.
func (c *connection) run(ctx context.Context, within time.Duration) ending {
	ctx, cancel := context.WithCancel(ctx)
	var beating sync.WaitGroup
	defer beating.Wait()
	defer cancel()
	leave := closeLeave
	if c.s.keep != nil {
		leave = closeResume
	}
	stop := context.AfterFunc(ctx, func() { hangUp(c.socket, leave) })
	defer stop()
	c.socket.SetCloseHandler(func(int, string) error { return nil })
	c.extend(within)
	for c.end.err == nil {
		var p packet
		c.end.err = c.socket.ReadJSON(&p)
		if c.end.err == nil {
			c.end.err = c.handle(ctx, p, &beating)
		}
	}
	closed, ok := errors.AsType[*websocket.CloseError](c.end.err)
	switch {
	case ok && closed.Code != websocket.CloseAbnormalClosure:
		c.end.code, c.end.err = closed.Code, nil
		c.socket.Close()
	case ctx.Err() != nil:
		hangUp(c.socket, leave)
	default:
		hangUp(c.socket, closeResume)
	}
	return c.end
}

// extend has the connection end unless more is read within a time.
func (c *connection) extend(d time.Duration) {
	c.socket.SetReadDeadline(time.Now().Add(d)) //nolint:errcheck // reading says so
}

// handle handles one message. An error ends the connection.
func (c *connection) handle(ctx context.Context, p packet, beating *sync.WaitGroup) error {
	switch p.Op {
	case opDispatch:
		return c.dispatch(ctx, p)
	case opHeartbeat:
		c.heartbeat()
	case opReconnect:
		return errors.New("asked to reconnect")
	case opInvalid: // Discord asks to wait for one to five seconds
		c.end.again = string(p.Data) != "true"
		c.end.wait = time.Second + rand.N(invalidTime-time.Second+1)
		return errors.New("session invalidated")
	case opHello:
		if c.interval > 0 {
			return nil
		}
		if err := c.hello(p.Data); err != nil {
			return err
		}
		beating.Go(func() { c.beats(ctx) })
	case opAck:
		c.s.acknowledged()
		if c.end.ready {
			c.extend(c.interval + graceTime)
		}
	}
	return nil
}

// hello learns how often to send heartbeats, and identifies or resumes.
func (c *connection) hello(data json.RawMessage) error {
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	json.Unmarshal(data, &hello) //nolint:errcheck // 0 is refused
	if hello.Interval <= 0 || hello.Interval > time.Hour.Milliseconds() {
		return errors.New("hello without a heartbeat interval")
	}
	c.interval = time.Duration(hello.Interval) * time.Millisecond
	s := c.s
	token := s.g.cfg.Token.Reveal()
	if c.session.ID != "" {
		c.end.resumed = true
		return c.write(opResume, map[string]any{"token": token, "session_id": c.session.ID, "seq": c.session.Seq})
	}
	s.starts.Allow()
	c.identified()
	return c.write(opIdentify, map[string]any{
		"token":      token,
		"intents":    s.g.cfg.Intents, // interactions need none
		"shard":      [2]int{s.id, s.total},
		"compress":   false,
		"properties": map[string]string{"os": "linux", "browser": "halfpoint", "device": "halfpoint"},
	})
}

func (c *connection) write(op int, data any) error {
	c.socket.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:errcheck // writing says so
	return c.socket.WriteJSON(map[string]any{"op": op, "d": data})
}

// heartbeat has a heartbeat sent now, unless one is about to be.
func (c *connection) heartbeat() {
	select {
	case c.beat <- struct{}{}:
	default:
	}
}

// beats writes heartbeats with the number of the last event received until the
// connection ends: one when beat asks for it, and then one per interval. If one cannot
// be written, Discord acknowledges none, and reading ends.
func (c *connection) beats(ctx context.Context) {
	var next <-chan time.Time
	for {
		select {
		case <-c.beat:
		case <-next:
		case <-ctx.Done():
			return
		}
		var seq *int64
		if n := c.s.at.seq(); n > 0 {
			seq = &n
		}
		if c.write(opHeartbeat, seq) != nil {
			return
		}
		next = time.After(c.interval)
	}
}

// dispatch handles an event. After an error it was not received, and Discord sends
// it again.
func (c *connection) dispatch(ctx context.Context, p packet) error {
	s := c.s
	if !c.up {
		// After Resume, what was missed comes before RESUMED.
		c.up = true
		s.up(p.Type != "READY")
		c.heartbeat()
	}
	switch {
	case p.Type == "READY":
		c.end.ready = true
		s.begin(p.Data, c.address)
	case p.Type == "RESUMED":
		c.end.ready = true
	case p.Seq <= s.at.seq():
		return nil // a replay overlaps
	default:
		if event := s.g.event(p); event != nil {
			done := s.at.begin(p.Seq)
			select {
			case s.events <- func() { s.handle(event, done) }:
			case <-ctx.Done():
				done()
				return ctx.Err()
			}
		}
	}
	s.at.receive(p.Seq)
	if p.Type == "READY" {
		select {
		case s.begun <- struct{}{}:
		default:
		}
	}
	switch {
	case !c.end.ready:
		c.extend(startTime)
	case p.Type == "READY" || p.Type == "RESUMED":
		c.extend(c.interval + graceTime)
	}
	return nil
}
