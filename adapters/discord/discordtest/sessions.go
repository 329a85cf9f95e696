package discordtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// A Session is a gateway session; it outlives its connection for as long as it
// can be resumed.
type Session struct {
	s           *Server
	id          string
	shard, of   int
	intents     int
	compress    bool
	events      [][]byte // dispatches, to be replayed
	base        int      // sequence number of events[0]
	seq         int      // of the last dispatch
	connection  *connection
	lost        time.Time // when the connection ended
	dead        bool
	properties  object
	resumeCount int
}

// shardOf is Discord's formula. What has no guild goes to shard 0.
func shardOf(guild string, of int) int {
	id, _ := strconv.ParseUint(guild, 10, 64)
	return int((id >> 22) % uint64(of))
}

// dispatch adds an event to the session and wakes its connection.
func (session *Session) dispatch(event string, data any) {
	if change := session.s.gateway.change; change != nil {
		text, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		copied, err := parseJSON(text)
		if err != nil {
			panic(err)
		}
		if o, ok := copied.(object); ok {
			change(event, o)
			data = o
		}
	}
	session.seq++
	message, err := json.Marshal(object{"op": opDispatch, "t": event, "s": session.seq, "d": data})
	if err != nil {
		panic(err)
	}
	session.events = append(session.events, message)
	if most := session.s.o.Remember; len(session.events) > most+most/4 {
		drop := len(session.events) - most
		if c := session.connection; c != nil {
			drop = min(drop, max(0, c.next-session.base))
		}
		session.events = slices.Clone(session.events[drop:])
		session.base += drop
	}
	if c := session.connection; c != nil {
		c.signal()
	}
}

// forget drops what was delivered already.
func (session *Session) forget() {
	drop := len(session.events)
	if c := session.connection; c != nil {
		drop = c.next - session.base
	}
	session.events = slices.Clone(session.events[drop:])
	session.base += drop
}

func (session *Session) kill() {
	session.dead = true
	session.events = nil
	delete(session.s.gateway.sessions, session.id)
}

// Sessions are those with a connection, by shard.
func (s *Server) Sessions() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connected()
}

func (s *Server) connected() []*Session {
	var list []*Session
	for _, session := range s.gateway.sessions {
		if session.connection != nil {
			list = append(list, session)
		}
	}
	slices.SortFunc(list, func(a, b *Session) int {
		if a.shard != b.shard {
			return a.shard - b.shard
		}
		return compareIDs(a.id, b.id)
	})
	return list
}

// WaitSessions waits until n sessions are connected and ready, and says
// whether they were in time.
func (s *Server) WaitSessions(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waitFor(func() bool { return len(s.connected()) >= n })
}

// ID is the session's id.
func (session *Session) ID() string { return session.id }

// Intents are those of its identify.
func (session *Session) Intents() int { return session.intents }

// Resumes is how often the session was resumed.
func (session *Session) Resumes() int {
	session.s.mu.Lock()
	defer session.s.mu.Unlock()
	return session.resumeCount
}

// Beats is how many heartbeats came on the present connection.
func (session *Session) Beats() int {
	session.s.mu.Lock()
	defer session.s.mu.Unlock()
	if session.connection == nil {
		return 0
	}
	return session.connection.beats
}

// Path is where the present connection was opened: "/resume" by a client that
// honours the resume address.
func (session *Session) Path() string {
	session.s.mu.Lock()
	defer session.s.mu.Unlock()
	if session.connection == nil {
		return ""
	}
	return session.connection.path
}

func (session *Session) with(do func(*connection)) {
	session.s.mu.Lock()
	defer session.s.mu.Unlock()
	if session.connection != nil {
		do(session.connection)
	}
}

// Cut cuts the TCP connection without a word.
func (session *Session) Cut() { session.with(func(c *connection) { c.queue(outgoing{cut: true}) }) }

// CutAfter cuts the TCP connection after so many more bytes, wherever that is.
func (session *Session) CutAfter(bytes int) {
	session.with(func(c *connection) { c.fault.CutAfter = c.sent + bytes })
}

// Close closes with a code. The codes after which Discord starts anew end the
// session.
func (session *Session) Close(code int) {
	session.with(func(c *connection) { c.queue(outgoing{close: code}) })
}

// Reconnect tells the client to reconnect (op 7).
func (session *Session) Reconnect() {
	session.with(func(c *connection) { c.say(object{"op": opReconnect, "d": nil, "s": nil, "t": nil}) })
}

// Invalidate tells the client that its session is invalid (op 9).
func (session *Session) Invalidate(resumable bool) {
	session.with(func(c *connection) {
		if !resumable {
			session.kill()
			c.session = nil
		}
		c.say(object{"op": opInvalid, "d": resumable, "s": nil, "t": nil})
	})
}

// Forget ends the session without telling anybody, as when Discord loses it.
func (session *Session) Forget() {
	session.s.mu.Lock()
	defer session.s.mu.Unlock()
	session.kill()
}

// Beat asks the client for a heartbeat now (op 1).
func (session *Session) Beat() {
	session.with(func(c *connection) { c.say(object{"op": opHeartbeat, "d": nil, "s": nil, "t": nil}) })
}

// StopAcks stops acknowledging heartbeats: a zombie connection.
func (session *Session) StopAcks() {
	session.with(func(c *connection) { c.noAck, c.deaf = true, true })
}

// Deafen stops dispatching, while heartbeats are acknowledged.
func (session *Session) Deafen() { session.with(func(c *connection) { c.deaf = true }) }
