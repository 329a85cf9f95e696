package discordtest

import (
	"fmt"
	"slices"
	"time"
)

// Gateway opcodes.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opPresence  = 3
	opVoice     = 4
	opResume    = 6
	opReconnect = 7
	opMembers   = 8
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// Gateway intents.
const (
	intentGuilds         = 1 << 0
	intentMembers        = 1 << 1
	intentPresences      = 1 << 8
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15
	privilegedIntents    = intentMembers | intentPresences | intentContent
	allIntents           = 1<<26 - 1
)

// Documented limits of a gateway connection.
const (
	maxPayload     = 4096 // bytes that a client may send at once
	maxSends       = 120  // in a minute
	maxShardGuilds = 2500
)

type gateway struct {
	sessions    map[string]*Session
	connections []*connection
	faults      []ConnectionFault
	left        int                 // session starts
	since       time.Time           // of the first start counted
	started     map[int][]time.Time // identifies by rate limit key
	opened      int
	identified  int
	resumed     int
	lastSession int
	change      func(event string, data map[string]any)
}

func (g *gateway) resetAfter(now time.Time) time.Duration {
	if g.since.IsZero() {
		return 0
	}
	return max(0, 24*time.Hour-now.Sub(g.since))
}

// A ConnectionFault says how one gateway connection misbehaves.
type ConnectionFault struct {
	Refuse         int           // HTTP status instead of an upgrade
	Silent         bool          // accepts TCP and the upgrade request, and says nothing
	NoHello        bool          // upgrades and says nothing
	NoReady        bool          // swallows identify and resume
	NoAck          bool          // never acknowledges a heartbeat
	Deaf           bool          // acknowledges heartbeats and dispatches nothing
	HelloClose     int           // closes with this code instead of hello
	IdentifyClose  int           // closes with this code on identify
	OnIdentify     int           // answers identify with this op: 7 or 9
	OnResume       int           // answers resume with this op: 7 or 9
	NoResumed      bool          // swallows resume, but answers identify
	ResumeClose    int           // closes with this code on resume
	Resumable      bool          // what op 9 says
	Beat           bool          // asks for a heartbeat right after hello (op 1)
	CutAfter       int           // cuts TCP after so many bytes from the double; 0 never
	Delay          time.Duration // before hello
	OverlapOnReply int           // repeats so many dispatches that were seen already, on resume
}

// NextConnections says how the next gateway connections behave, one each;
// after them connections behave well.
func (s *Server) NextConnections(faults ...ConnectionFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateway.faults = append(s.gateway.faults, faults...)
}

// GatewayStats counts what clients did at the gateway.
type GatewayStats struct {
	Opened     int // connections
	Identified int // identifies that were accepted
	Resumed    int // resumes that were accepted
	Left       int // session starts left today
	Closes     []int
}

// Gateway counts what clients did at the gateway. Closes are the codes with
// which clients closed, 1006 for none.
func (s *Server) Gateway() GatewayStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := GatewayStats{Opened: s.gateway.opened, Identified: s.gateway.identified, Resumed: s.gateway.resumed, Left: s.gateway.left}
	for _, c := range s.gateway.connections {
		if c.closedBy != 0 {
			st.Closes = append(st.Closes, c.closedBy)
		}
	}
	return st
}

func (s *Server) gatewayURL() string { return "ws://" + s.listener.Addr().String() }

// resumeURL differs from the address to start at, so that a test can tell
// whether a client honours it.
func (s *Server) resumeURL() string { return s.gatewayURL() + "/resume" }

func (s *Server) identify(c *connection, d object) {
	fault := c.fault
	switch {
	case c.session != nil:
		c.queue(outgoing{close: 4005})
		return
	case fault.NoReady:
		return
	case fault.IdentifyClose != 0:
		c.queue(outgoing{close: fault.IdentifyClose})
		return
	case fault.OnIdentify != 0:
		c.say(object{"op": fault.OnIdentify, "d": fault.Resumable, "s": nil, "t": nil})
		return
	case text(d["token"]) != s.token && text(d["token"]) != "Bot "+s.token:
		c.queue(outgoing{close: 4004})
		return
	}
	properties, _ := d["properties"].(object)
	if properties == nil {
		s.violation(false, "gateway: identify without properties")
		c.queue(outgoing{close: 4002})
		return
	}
	shard, of := 0, 1
	if list := asList(d["shard"]); list != nil {
		if len(list) != 2 {
			c.queue(outgoing{close: 4010})
			return
		}
		shard, of = number(list[0]), number(list[1])
		if shard < 0 || of < 1 || shard >= of {
			c.queue(outgoing{close: 4010})
			return
		}
	}
	intents := number(d["intents"])
	if intents < 0 || intents > allIntents {
		c.queue(outgoing{close: 4013})
		return
	}
	if intents&privilegedIntents&^s.o.Privileged != 0 {
		c.queue(outgoing{close: 4014})
		return
	}
	mine := 0
	for _, g := range s.guilds {
		if g.botIn && shardOf(g.id, of) == shard {
			mine++
		}
	}
	if mine > maxShardGuilds {
		c.queue(outgoing{close: 4011})
		return
	}
	now := s.now()
	if s.gateway.since.IsZero() || now.Sub(s.gateway.since) >= 24*time.Hour {
		if !s.gateway.since.IsZero() {
			s.gateway.left = s.o.Identifies
		}
		s.gateway.since = now
	}
	if s.gateway.left <= 0 {
		// Discord ends every session and resets the token.
		s.violation(false, "gateway: no session start left; the token was reset")
		s.token = "reset." + s.token
		for _, session := range s.gateway.sessions {
			session.kill()
			if session.connection != nil {
				session.connection.queue(outgoing{close: 4004})
			}
		}
		c.queue(outgoing{close: 4004})
		return
	}
	key := shard % s.o.Concurrency
	recent := slices.DeleteFunc(s.gateway.started[key], func(t time.Time) bool { return now.Sub(t) >= s.o.IdentifyEvery })
	if len(recent) > 0 {
		s.gateway.started[key] = recent
		c.say(object{"op": opInvalid, "d": false, "s": nil, "t": nil})
		return
	}
	s.gateway.started[key] = append(recent, now)
	s.gateway.left--
	s.gateway.identified++
	s.gateway.lastSession++
	session := &Session{
		s: s, id: fmt.Sprintf("%032x", s.gateway.lastSession), shard: shard, of: of, intents: intents,
		compress: d["compress"] == true, base: 1, connection: c, properties: properties,
	}
	s.gateway.sessions[session.id] = session
	c.session, c.next = session, 1
	ready := object{
		"v": 10, "user": s.selfJSON(), "guilds": s.unavailable(session), "session_id": session.id,
		"resume_gateway_url": s.resumeURL(), "application": object{"id": s.appID, "flags": 0},
		"private_channels": []any{}, "relationships": []any{}, "presences": []any{}, "user_settings": object{}, "_trace": []string{"discordtest"},
	}
	if d["shard"] != nil {
		ready["shard"] = []int{shard, of}
	}
	session.dispatch("READY", ready)
	if intents&intentGuilds != 0 {
		for _, g := range s.guildOrder {
			if g.botIn && shardOf(g.id, of) == shard {
				session.dispatch("GUILD_CREATE", s.gatewayJSON(g))
			}
		}
	}
	s.changed.Broadcast()
}

func (s *Server) selfJSON() object {
	o := s.bot.json()
	o["verified"], o["mfa_enabled"], o["email"] = true, false, nil
	return o
}

func (s *Server) unavailable(session *Session) []object {
	list := []object{}
	for _, g := range s.guildOrder {
		if g.botIn && shardOf(g.id, session.of) == session.shard {
			list = append(list, object{"id": g.id, "unavailable": true})
		}
	}
	return list
}

func (s *Server) resume(c *connection, d object) {
	fault := c.fault
	switch {
	case c.session != nil:
		c.queue(outgoing{close: 4005})
		return
	case fault.NoReady, fault.NoResumed:
		return
	case fault.ResumeClose != 0:
		c.queue(outgoing{close: fault.ResumeClose})
		return
	case fault.OnResume != 0:
		if fault.OnResume == opInvalid && !fault.Resumable {
			if old := s.gateway.sessions[text(d["session_id"])]; old != nil {
				old.kill()
			}
		}
		c.say(object{"op": fault.OnResume, "d": fault.Resumable, "s": nil, "t": nil})
		return
	case text(d["token"]) != s.token && text(d["token"]) != "Bot "+s.token:
		c.queue(outgoing{close: 4004})
		return
	}
	session := s.gateway.sessions[text(d["session_id"])]
	if session == nil || session.dead || session.connection == nil && s.now().Sub(session.lost) > s.o.ResumeFor {
		c.say(object{"op": opInvalid, "d": false, "s": nil, "t": nil})
		return
	}
	seq := number(d["seq"])
	if seq > session.seq || seq < 0 {
		session.kill()
		c.queue(outgoing{close: 4007})
		return
	}
	if seq+1 < session.base {
		session.kill()
		c.say(object{"op": opInvalid, "d": false, "s": nil, "t": nil})
		return
	}
	if old := session.connection; old != nil && old != c {
		old.session = nil
		old.queue(outgoing{replaced: true})
	}
	s.gateway.resumed++
	session.resumeCount++
	session.connection, c.session = c, session
	c.next = max(session.base, seq+1-fault.OverlapOnReply)
	session.dispatch("RESUMED", object{"_trace": []string{"discordtest"}})
	s.changed.Broadcast()
}

// WaitCommands waits until somebody has registered commands n times in all.
func (s *Server) WaitCommands(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waitFor(func() bool { return s.commandWrites >= n })
}

// Wait waits until done says so; it is asked whenever something happened. It
// must not call the Server.
func (s *Server) Wait(done func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waitFor(done)
}

// cutAll ends every connection.
func (s *Server) cutAll() {
	s.mu.Lock()
	list := slices.Clone(s.gateway.connections)
	s.mu.Unlock()
	for _, c := range list {
		c.raw.Close()
	}
}
