package discordtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Session is a gateway session; it outlives its connection for as long as it
// can be resumed.
type Session struct {
	s          *Server
	id         string
	shard, of  int
	intents    int
	events     [][]byte // dispatches, to be replayed
	base       int      // sequence number of events[0]
	seq        int      // of the last dispatch
	connection *connection
	lost       time.Time // when the connection ended
}

const (
	resumeFor      = 3 * time.Minute // by the double's clock, after the connection ended
	keptDispatches = 20_000          // for a resume
)

// expired reports whether a session can no longer be resumed.
func (session *Session) expired() bool {
	return session.connection == nil && session.s.now().Sub(session.lost) > resumeFor
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
	if len(session.events) > keptDispatches*5/4 {
		drop := len(session.events) - keptDispatches
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
	session.events = nil
	delete(session.s.gateway.sessions, session.id)
}

// Sessions returns those with a connection, by shard.
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
	slices.SortFunc(list, func(a, b *Session) int { return cmp.Or(a.shard-b.shard, strings.Compare(a.id, b.id)) })
	return list
}

// WaitSessions waits until n sessions are connected and ready, and says
// whether they were in time.
func (s *Server) WaitSessions(n int) bool {
	return s.Wait(func() bool { return len(s.connected()) >= n })
}

// WaitIdentified waits until identifies were accepted n times in all, and says whether
// they were in time.
func (s *Server) WaitIdentified(n int) bool {
	return s.Wait(func() bool { return s.gateway.identified >= n })
}

// WaitBeat waits until a heartbeat has come over the present connection, and says whether
// it was in time.
func (session *Session) WaitBeat() bool {
	return session.s.Wait(func() bool { return session.connection != nil && session.connection.beaten })
}

// Path returns where the present connection was opened: "/resume" by a client that
// honours the resume address.
func (session *Session) Path() (path string) {
	session.with(func(c *connection) { path = c.path })
	return path
}

// with does something to the session's connection, if there is one.
func (session *Session) with(do func(*connection)) {
	session.s.locked(func() {
		if session.connection != nil {
			do(session.connection)
		}
	})
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
	session.with(func(c *connection) { c.say(opReconnect, nil) })
}

// Invalidate tells the client that its session is invalid (op 9).
func (session *Session) Invalidate(resumable bool) {
	session.with(func(c *connection) {
		if !resumable {
			session.kill()
			c.session = nil
		}
		c.say(opInvalid, resumable)
	})
}

// Forget ends the session without telling anybody, as when Discord loses it.
func (session *Session) Forget() { session.s.locked(session.kill) }

// Deafen stops dispatching, while heartbeats are acknowledged.
func (session *Session) Deafen() { session.with(func(c *connection) { c.deaf = true }) }
