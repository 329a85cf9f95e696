package discordtest

import (
	"fmt"
	"maps"
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
	left        int               // session starts
	since       time.Time         // of the first start counted
	started     map[int]time.Time // the last identify by rate limit key
	opened      int
	identified  int
	resumed     int
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
	NoResumed      bool          // swallows resume, as Discord does now and then
	HelloClose     int           // closes with this code instead of hello
	IdentifyClose  int           // closes with this code on identify
	OnIdentify     int           // answers identify with this op: 7 or 9
	Resumable      bool          // what op 9 says
	Beat           bool          // asks for a heartbeat right after hello (op 1)
	CutAfter       int           // cuts TCP after so many bytes from the double; 0 never
	Delay          time.Duration // before hello
	OverlapOnReply int           // repeats so many dispatches that were seen already, on resume
}

// NextConnections says how the next gateway connections behave, one each;
// after them connections behave well.
func (s *Server) NextConnections(faults ...ConnectionFault) {
	s.locked(func() { s.gateway.faults = append(s.gateway.faults, faults...) })
}

// GatewayStats counts what clients did at the gateway.
type GatewayStats struct {
	Opened     int // connections
	Identified int // identifies that were accepted
	Resumed    int // resumes that were accepted
	Closes     []int
}

// Gateway counts what clients did at the gateway. Closes are the codes with
// which clients closed, 1006 for none.
func (s *Server) Gateway() GatewayStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := GatewayStats{Opened: s.gateway.opened, Identified: s.gateway.identified, Resumed: s.gateway.resumed}
	for _, c := range s.gateway.connections {
		if c.closedBy != 0 {
			st.Closes = append(st.Closes, c.closedBy)
		}
	}
	return st
}

func (s *Server) gatewayURL() string { return "ws://" + s.listener.Addr().String() }

// resumeURL returns an address that differs from the address to start at, so that a test can tell
// whether a client honours it.
func (s *Server) resumeURL() string { return s.gatewayURL() + "/resume" }

// identify begins a session, or returns the code with which the connection is closed.
func (s *Server) identify(c *connection, d object) (code int) {
	fault := c.fault
	properties, _ := d["properties"].(object)
	list, intents := asList(d["shard"]), number(d["intents"])
	shard, of := 0, 1
	if len(list) == 2 {
		shard, of = number(list[0]), number(list[1])
	}
	switch {
	case c.session != nil:
		return 4005
	case fault.NoReady:
		return 0
	case fault.IdentifyClose != 0:
		return fault.IdentifyClose
	case fault.OnIdentify != 0:
		c.say(fault.OnIdentify, fault.Resumable)
		return 0
	case !s.authentic(d):
		return 4004
	case properties == nil:
		s.violation(false, "gateway: identify without properties")
		return 4002
	case list != nil && len(list) != 2, shard < 0, of < 1, shard >= of:
		return 4010
	case intents < 0, intents > allIntents:
		return 4013
	case intents&privilegedIntents&^s.o.Privileged != 0:
		return 4014
	}
	mine := slices.DeleteFunc(slices.Clone(s.guildOrder), func(g *guild) bool { return !g.botIn || shardOf(g.id, of) != shard })
	if len(mine) > maxShardGuilds {
		return 4011
	}
	now, key := s.now(), shard%s.o.Concurrency
	if s.gateway.resetAfter(now) == 0 {
		s.gateway.left, s.gateway.since = s.o.Identifies, now
	}
	if s.gateway.left <= 0 {
		// Discord ends every session, too, and resets the token.
		s.violation(false, "gateway: no session start left")
		return 4004
	}
	if last, ok := s.gateway.started[key]; ok && now.Sub(last) < s.o.IdentifyEvery {
		c.say(opInvalid, false)
		return 0
	}
	s.gateway.started[key] = now
	s.gateway.left--
	s.gateway.identified++
	session := &Session{
		s: s, id: fmt.Sprintf("%032x", s.gateway.identified), shard: shard, of: of, intents: intents,
		base: 1, connection: c,
	}
	s.gateway.sessions[session.id] = session
	c.session, c.next = session, 1
	unavailable := []object{}
	for _, g := range mine {
		unavailable = append(unavailable, object{"id": g.id, "unavailable": true})
	}
	me := s.bot.json()
	maps.Copy(me, object{"verified": true, "mfa_enabled": false, "email": nil})
	ready := object{
		"v": 10, "user": me, "guilds": unavailable, "session_id": session.id,
		"resume_gateway_url": s.resumeURL(), "application": object{"id": s.appID, "flags": 0},
		"private_channels": []any{}, "relationships": []any{}, "presences": []any{}, "user_settings": object{}, "_trace": []string{"discordtest"},
	}
	if list != nil {
		ready["shard"] = []int{shard, of}
	}
	session.dispatch("READY", ready)
	if intents&intentGuilds != 0 {
		for _, g := range mine {
			session.dispatch("GUILD_CREATE", s.gatewayJSON(g))
		}
	}
	s.changed.Broadcast()
	return 0
}

// authentic reports whether a payload brings the bot's token.
func (s *Server) authentic(d object) bool {
	return text(d["token"]) == s.token || text(d["token"]) == "Bot "+s.token
}

// resume goes on with a session, or returns the code with which the connection is
// closed.
func (s *Server) resume(c *connection, d object) (code int) {
	session, seq := s.gateway.sessions[text(d["session_id"])], number(d["seq"])
	switch {
	case c.session != nil:
		return 4005
	case c.fault.NoReady, c.fault.NoResumed:
		return 0
	case !s.authentic(d):
		return 4004
	case session == nil || session.expired():
		c.say(opInvalid, false)
		return 0
	case seq > session.seq || seq < 0:
		session.kill()
		return 4007
	case seq+1 < session.base:
		session.kill()
		c.say(opInvalid, false)
		return 0
	}
	if old := session.connection; old != nil && old != c {
		old.session = nil
		old.queue(outgoing{replaced: true})
	}
	s.gateway.resumed++
	session.connection, c.session = c, session
	c.next = max(session.base, seq+1-c.fault.OverlapOnReply)
	session.dispatch("RESUMED", object{"_trace": []string{"discordtest"}})
	s.changed.Broadcast()
	return 0
}
