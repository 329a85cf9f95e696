package gateway

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/lanes"
)

const (
	readLimit = 16 << 20             // bytes of a message
	writeTime = 10 * time.Second     // for one message
	fullTime  = 5 * time.Millisecond // before a full lane is tried again
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

// A connection is one WebSocket, from hello to its end. One goroutine reads,
// another writes.
type connection struct {
	s          *shard
	socket     *websocket.Conn
	session    string        // to resume; empty: identify
	identified func(bool)    // called once it has identified
	start      time.Duration // until it must be ready

	ctx    context.Context
	cancel context.CancelFunc
	out    chan packet   // to be written
	beat   chan struct{} // asks for a heartbeat

	// Of the reader.
	greeted bool // op 10 came
	up      bool // an event came
	ready   bool // READY or RESUMED came
	resumed bool // op 6 was sent

	blocked atomic.Bool  // the reader waits for a place on the lanes
	waited  atomic.Int64 // nanoseconds since the last acknowledgement in which it did

	mu       sync.Mutex
	interval time.Duration // between heartbeats
	watchdog *time.Timer   // fires when a heartbeat is not acknowledged

	ending atomic.Bool   // somebody ends it
	end    ending        // why
	ended  chan struct{} // closed when end is set and the socket closed
}

func newConnection(s *shard, socket *websocket.Conn, session string, identified func(bool), start time.Duration) *connection {
	return &connection{s: s, socket: socket, session: session, identified: identified, start: start,
		out: make(chan packet), beat: make(chan struct{}, 1), ended: make(chan struct{})}
}

// run handles messages until the connection ends.
func (c *connection) run(ctx context.Context) ending {
	c.ctx, c.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { c.close(ending{err: ctx.Err()}) })
	defer stop()
	var group sync.WaitGroup
	group.Go(c.write)
	c.read()
	group.Wait()
	<-c.ended
	c.end.ready, c.end.resumed = c.ready, c.resumed
	return c.end
}

// close ends the connection, unless somebody else does.
func (c *connection) close(end ending) {
	if !c.ending.CompareAndSwap(false, true) {
		return
	}
	defer close(c.ended)
	c.end = end
	c.cancel()
	c.mu.Lock()
	if c.watchdog != nil {
		c.watchdog.Stop()
	}
	c.mu.Unlock()
	code := closeResume
	if errors.Is(end.err, context.Canceled) {
		code = closeLeave
	}
	if end.code == 0 {
		text := websocket.FormatCloseMessage(code, "")
		c.socket.WriteControl(websocket.CloseMessage, text, time.Now().Add(time.Second)) //nolint:errcheck // it is gone either way
	}
	c.socket.Close()
}

// read handles what Discord sends.
func (c *connection) read() {
	c.socket.SetReadDeadline(time.Now().Add(c.start)) //nolint:errcheck // reading says so
	c.socket.SetCloseHandler(func(int, string) error { return nil })
	for {
		kind, data, err := c.socket.ReadMessage()
		if err != nil {
			c.close(endingOf(err))
			return
		}
		if kind == websocket.BinaryMessage {
			if data, err = inflate(data); err != nil {
				c.close(ending{err: err})
				return
			}
		}
		var p packet
		if err := json.Unmarshal(data, &p); err != nil {
			c.close(ending{err: errors.New("a message cannot be read")})
			return
		}
		if !c.handle(p) {
			return
		}
		switch {
		case c.ready:
			c.socket.SetReadDeadline(time.Time{}) //nolint:errcheck // see above
		case p.Op == opDispatch:
			c.socket.SetReadDeadline(time.Now().Add(startTime)) //nolint:errcheck // see above
		}
	}
}

// endingOf reads why nothing more can be read.
func endingOf(err error) ending {
	var c *websocket.CloseError
	if errors.As(err, &c) && c.Code != websocket.CloseAbnormalClosure {
		return ending{code: c.Code}
	}
	return ending{err: err}
}

// handle handles one message. It reports false when the connection has ended.
func (c *connection) handle(p packet) bool {
	switch p.Op {
	case opDispatch:
		c.s.heard()
		return c.dispatch(p)
	case opHeartbeat:
		c.heartbeat()
	case opReconnect:
		c.close(ending{err: errors.New("asked to connect anew")})
	case opInvalid:
		c.close(c.s.refused(string(p.Data) == "true"))
	case opHello:
		c.hello(p.Data)
	case opAck:
		c.acknowledged()
	}
	return c.ctx.Err() == nil
}

// hello learns how often to send heartbeats, and identifies or resumes.
func (c *connection) hello(data json.RawMessage) {
	var hello struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	json.Unmarshal(data, &hello) //nolint:errcheck // 0 is refused
	if hello.Interval <= 0 || hello.Interval > int64(time.Hour/time.Millisecond) {
		c.close(ending{err: errors.New("no heartbeat interval was given")})
		return
	}
	c.mu.Lock()
	c.interval = time.Duration(hello.Interval) * time.Millisecond
	c.mu.Unlock()
	if !c.greeted {
		c.greeted = true
		c.begin()
	}
}

// identify is the data of op 2.
type identify struct {
	Token      string            `json:"token"`
	Intents    int               `json:"intents"` // interactions need none
	Shard      [2]int            `json:"shard"`
	Compress   bool              `json:"compress"`
	Properties map[string]string `json:"properties"`
}

// resume is the data of op 6.
type resume struct {
	Token   string `json:"token"`
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
}

// begin identifies, or resumes.
func (c *connection) begin() {
	s := c.s
	if c.session != "" {
		c.resumed = true
		c.send(opResume, resume{s.g.cfg.Token.Reveal(), c.session, s.seq.Load()})
		return
	}
	s.mu.Lock()
	s.identifies++ // before anybody can hear that it is ready
	s.mu.Unlock()
	c.send(opIdentify, identify{Token: s.g.cfg.Token.Reveal(), Shard: [2]int{s.id, s.total},
		Properties: map[string]string{"os": "linux", "browser": "halfpoint", "device": "halfpoint"}})
	c.identified(true)
	s.used = append(s.used[max(0, len(s.used)-perHour):], time.Now())
}

// send has a message written.
func (c *connection) send(op int, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		c.close(ending{err: err})
		return
	}
	select {
	case c.out <- packet{Op: op, Data: text}:
	case <-c.ctx.Done():
	}
}

// heartbeat has a heartbeat sent now, unless one is about to be.
func (c *connection) heartbeat() {
	select {
	case c.beat <- struct{}{}:
	default:
	}
}

// write writes messages, and heartbeats from the first event on, until the
// connection ends.
func (c *connection) write() {
	var next <-chan time.Time
	for {
		var p packet
		select {
		case p = <-c.out:
		case <-c.beat:
			p = c.beating()
		case <-next:
			p = c.beating()
		case <-c.ctx.Done():
			return
		}
		if p.Op == opHeartbeat {
			c.mu.Lock()
			next = time.After(c.interval)
			c.mu.Unlock()
		}
		c.socket.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:errcheck // writing says so
		if err := c.socket.WriteJSON(p); err != nil {
			// Read the rest of Discord's messages before its close.
			if sleep(c.ctx, time.Second) == nil {
				c.close(ending{err: err})
			}
			return
		}
	}
}

// beating returns a heartbeat, which says how far we have received, and starts
// the watchdog.
func (c *connection) beating() packet {
	seq := json.RawMessage("null")
	if n := c.s.seq.Load(); n > 0 {
		seq = strconv.AppendInt(nil, n, 10)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchdog == nil && c.interval > 0 && c.ctx.Err() == nil {
		c.watchdog = time.AfterFunc(c.interval+graceTime, c.onTimeout)
	}
	return packet{Op: opHeartbeat, Data: seq}
}

// acknowledged handles the answer to a heartbeat.
func (c *connection) acknowledged() {
	c.mu.Lock()
	interval := c.interval
	c.mu.Unlock()
	c.s.heard()
	c.waited.Store(0)
	c.extend(interval + graceTime)
}

// extend lets the watchdog wait for so long from now.
func (c *connection) extend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchdog != nil && c.ctx.Err() == nil {
		c.watchdog.Reset(d)
	}
}

// onTimeout ends a connection on which nobody answers, unless it is we who do not
// read.
func (c *connection) onTimeout() {
	if c.blocked.Load() {
		c.mu.Lock()
		interval := c.interval
		c.mu.Unlock()
		c.extend(interval)
		return
	}
	if d := time.Duration(c.waited.Swap(0)); d > 0 {
		c.extend(d) // the acknowledgement may be behind what is not read yet
		return
	}
	c.close(ending{err: errors.New("heartbeats are not acknowledged")})
}

// dispatch handles an event. It reports false when the event was not received: the
// connection has ended, and Discord sends it again.
func (c *connection) dispatch(p packet) bool {
	s := c.s
	if !c.up {
		// After Resume, what was missed comes before RESUMED.
		c.up = true
		s.up(p.Type != "READY")
		c.heartbeat()
	}
	switch {
	case p.Type == "READY":
		c.ready = true
		c.readyEvent(p.Data)
	case p.Type == "RESUMED":
		c.ready = true
		s.ready(Ready{Shard: s.id, Shards: s.total, Resumed: true})
	case p.Seq <= s.seq.Load():
		return true // a replay overlaps
	case p.Type == InteractionCreate:
		if !c.hand(Event{Shard: s.id, Type: p.Type, Seq: p.Seq, Data: p.Data}) {
			return false
		}
	}
	if p.Seq > s.seq.Load() {
		s.seq.Store(p.Seq)
	}
	return c.ctx.Err() == nil
}

// readyEvent begins a session.
func (c *connection) readyEvent(data json.RawMessage) {
	var r struct {
		Session string `json:"session_id"`
		URL     string `json:"resume_gateway_url"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		c.s.log.Warn("READY only partly readable, will use the rest")
	}
	s := c.s
	s.mu.Lock()
	s.session, s.resumeURL = r.Session, r.URL
	if s.resumeURL == "" {
		s.resumeURL = s.base
	}
	s.mu.Unlock()
	s.seq.Store(0)
	s.ready(Ready{Shard: s.id, Shards: s.total})
}

// hand puts an event on the lanes, once they have room for it. It reports false if
// the connection ends before.
func (c *connection) hand(e Event) bool {
	c.blocked.Store(true)
	began := time.Now()
	defer func() {
		c.blocked.Store(false)
		c.waited.Add(int64(time.Since(began)))
	}()
	cfg, lane := &c.s.g.cfg, "shard "+strconv.Itoa(e.Shard)
	for {
		err := cfg.Lanes.Go(c.ctx, lane, func() { cfg.Handle(c.s.ctx, e) })
		switch {
		case !errors.Is(err, lanes.ErrFull):
			return err == nil
		case sleep(c.ctx, fullTime) != nil:
			return false
		}
	}
}

// inflate reads a message that Discord has compressed.
func inflate(data []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("a message cannot be read")
	}
	defer r.Close()
	out, err := io.ReadAll(io.LimitReader(r, readLimit+1))
	if err != nil || len(out) > readLimit {
		return nil, errors.New("a message cannot be read")
	}
	return out, nil
}
