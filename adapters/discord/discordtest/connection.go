package discordtest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"
)

// A connection is one WebSocket.
type connection struct {
	s       *Server
	socket  *websocket.Conn
	raw     net.Conn
	fault   ConnectionFault
	path    string
	session *Session

	wake     chan struct{} // something is to be written
	control  []outgoing
	next     int           // sequence number of the next dispatch to write
	done     chan struct{} // reading has ended
	finished chan struct{} // writing has ended
	leaving  bool          // the double is closing it
	replaced bool          // because its session goes on elsewhere
	deaf     bool
	beaten   bool // a heartbeat has come
	sends    []time.Time
	sent     int // bytes
	closedBy int
}

type outgoing struct {
	text  []byte
	close int // a close code instead of text
	cut   bool

	replaced bool // instead of a cut: the client has closed it, or does
	cutAfter int  // bytes of the connection
}

const (
	heartbeat = 41250 * time.Millisecond // between heartbeats
	grace     = 5 * time.Second          // for a missing heartbeat
)

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// serveGateway is the life of a connection.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	c := &connection{s: s, path: r.URL.Path, wake: make(chan struct{}, 1), done: make(chan struct{}), finished: make(chan struct{})}
	s.locked(func() {
		if f := s.gateway.faults; len(f) > 0 {
			c.fault, s.gateway.faults = f[0], f[1:]
		}
		s.gateway.opened++
	})
	if c.fault.Refuse != 0 {
		http.Error(w, http.StatusText(c.fault.Refuse), c.fault.Refuse)
		return
	}
	if c.fault.Silent {
		select {
		case <-r.Context().Done():
		case <-s.ctx.Done():
		}
		return
	}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c.socket, c.raw = socket, socket.NetConn()
	query := r.URL.Query()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		c.raw.Close()
		return
	}
	s.gateway.connections = newest(append(s.gateway.connections, c), s.o.Keep)
	s.running.Go(c.writer)
	s.mu.Unlock()
	defer c.end()
	s.sleep(c.fault.Delay, c.done)
	version := query.Get("v")
	switch {
	case c.fault.HelloClose != 0:
		c.close(c.fault.HelloClose)
	case version != "9" && version != "10":
		c.close(4012)
	case query.Get("encoding") != "" && query.Get("encoding") != "json":
		c.close(4002)
	case !c.fault.NoHello:
		s.locked(func() {
			c.say(opHello, object{"heartbeat_interval": heartbeat.Milliseconds(), "_trace": []string{"discordtest"}})
			if c.fault.Beat {
				c.say(opHeartbeat, nil)
			}
		})
	}
	c.read()
}

// read takes what the client sends until the connection ends.
func (c *connection) read() {
	for {
		c.socket.SetReadDeadline(time.Now().Add(heartbeat*3/2 + grace))
		kind, message, err := c.socket.ReadMessage()
		if err != nil {
			c.ended(err)
			return
		}
		if kind != websocket.TextMessage || len(message) > maxPayload {
			c.close(4002)
			continue
		}
		c.take(message)
	}
}

// ended notes how reading has ended.
func (c *connection) ended(err error) {
	var timeout net.Error
	var closed *websocket.CloseError
	waits := false
	c.s.locked(func() {
		switch mine := !c.leaving || c.replaced; {
		case mine && errors.As(err, &timeout) && timeout.Timeout():
			c.queue(outgoing{close: 4000}) // the session lives: the client is forced to resume
			waits = true
		case mine && errors.As(err, &closed):
			c.closedBy = closed.Code
			if c.session != nil && (closed.Code == 1000 || closed.Code == 1001) {
				c.session.kill() // closing so ends the session
			}
		case !c.leaving:
			c.closedBy = 1006
		}
	})
	if waits {
		<-c.finished
	}
}

// take handles one payload.
func (c *connection) take(message []byte) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	c.sends = append(c.sends, now)
	for now.Sub(c.sends[0]) >= time.Minute {
		c.sends = c.sends[1:]
	}
	if len(c.sends) > maxSends {
		s.violation(false, "gateway: more than %d sends in a minute", maxSends)
		c.queue(outgoing{close: 4008})
		return
	}
	value, err := parseJSON(message)
	payload, isObject := value.(object)
	if err != nil || !isObject {
		s.violation(false, "gateway: %q is no JSON object", message)
		c.queue(outgoing{close: 4002})
		return
	}
	d, _ := payload["d"].(object)
	code := 0
	switch number(payload["op"]) {
	case opHeartbeat:
		c.beaten = true
		c.say(opAck, nil)
		s.changed.Broadcast()
	case opIdentify:
		code = s.identify(c, d)
	case opResume:
		code = s.resume(c, d)
	case opPresence, opVoice, opMembers:
		if c.session == nil {
			code = 4003
		}
	default:
		s.violation(false, "gateway: unknown opcode %v", payload["op"])
		code = 4001
	}
	if code != 0 {
		c.queue(outgoing{close: code})
	}
}

// say queues a payload outside the sequence.
func (c *connection) say(op int, d any) {
	message, err := json.Marshal(object{"op": op, "d": d, "s": nil, "t": nil})
	if err != nil {
		panic(err)
	}
	c.queue(outgoing{text: message})
}

func (c *connection) queue(o outgoing) {
	c.control = append(c.control, o)
	c.replaced = c.replaced || o.replaced && !c.leaving
	c.leaving = c.leaving || o.close != 0 || o.cut || o.replaced
	c.signal()
}

func (c *connection) close(code int) { c.s.locked(func() { c.queue(outgoing{close: code}) }) }

func (c *connection) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end runs when reading has ended.
func (c *connection) end() {
	close(c.done)
	c.raw.Close()
	c.s.locked(func() {
		if session := c.session; session != nil && session.connection == c {
			session.connection = nil
			session.lost = c.s.now()
		}
		c.session = nil
	})
}

// writer sends what is queued: what is outside the sequence first, then
// dispatches.
func (c *connection) writer() {
	defer close(c.finished)
	for {
		select {
		case <-c.done:
			return
		case <-c.wake:
		}
		for o, ok := c.pop(); ok; o, ok = c.pop() {
			if !c.put(o) {
				c.raw.Close()
				return
			}
		}
	}
}

// pop takes the next thing to write.
func (c *connection) pop() (o outgoing, ok bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	session := c.session
	switch {
	case len(c.control) > 0:
		o, c.control = c.control[0], c.control[1:]
	case session != nil && !c.deaf && session.connection == c && c.next >= session.base && c.next-session.base < len(session.events):
		o.text = session.events[c.next-session.base]
		c.next++
	default:
		return o, false
	}
	if session != nil && slices.Contains(fatal, o.close) {
		session.kill()
	}
	o.cutAfter = c.fault.CutAfter
	return o, true
}

// fatal are the close codes after which a session cannot be resumed.
var fatal = []int{1000, 1001, 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014}

// put writes one thing and says whether the connection goes on.
func (c *connection) put(o outgoing) bool {
	c.socket.SetWriteDeadline(time.Now().Add(30 * time.Second))
	switch {
	case o.replaced:
		c.outlast()
		return false
	case o.cut:
		return false
	case o.close != 0:
		message := websocket.FormatCloseMessage(o.close, closeReason[o.close])
		c.socket.WriteControl(websocket.CloseMessage, message, time.Now().Add(time.Second))
		c.outlast()
		return false
	}
	c.s.mu.Lock()
	before := c.sent
	c.sent += len(o.text)
	c.s.mu.Unlock()
	if o.cutAfter > 0 && before+len(o.text) >= o.cutAfter {
		// The frame is begun and breaks off.
		c.raw.SetWriteDeadline(time.Now().Add(time.Second))
		c.raw.Write(partialFrame(o.text, max(0, o.cutAfter-before)))
		return false
	}
	return c.socket.WriteMessage(websocket.TextMessage, o.text) == nil
}

// outlast lets the client close its side; if it does not, the connection is cut.
func (c *connection) outlast() { c.s.sleep(time.Second, c.done) }

// partialFrame returns the beginning of a frame that announces all of message.
func partialFrame(message []byte, n int) []byte {
	frame := binary.BigEndian.AppendUint64([]byte{0x80 | websocket.TextMessage, 127}, uint64(len(message)))
	return append(frame, message[:min(n, len(message))]...)
}

var closeReason = map[int]string{
	4000: "Unknown error.", 4001: "Unknown opcode.", 4002: "Error while decoding payload.", 4003: "Not authenticated.",
	4004: "Authentication failed.", 4005: "Already authenticated.", 4007: "Invalid seq.", 4008: "Rate limited.",
	4009: "Session timed out.", 4010: "Invalid shard.", 4011: "Sharding required.", 4012: "Invalid API version.",
	4013: "Invalid intent(s).", 4014: "Disallowed intent(s).",
}
