package gateway

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/lanes"
)

const (
	readLimit = 16 << 20             // bytes of a message
	writeTime = 10 * time.Second     // for one message
	fullTime  = 5 * time.Millisecond // before a full lane is tried again
	raw       = "raw:"               // before the names of events, so that discordgo decodes none
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
	Seq  *int64          `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
	Data json.RawMessage `json:"d"`
}

// A line is one connection, with a discordgo session at its near end and
// Discord at the far one.
type line struct {
	s          *shard
	far        *websocket.Conn
	near       *websocket.Conn
	pipe       *pipe
	session    string        // to resume; empty: identify
	identified func(bool)    // to be told when it is
	start      time.Duration // until it must be ready
	resumed    bool          // op 6 was sent; of fromNear

	ctx    context.Context
	cancel context.CancelFunc

	writing sync.Mutex // to far
	told    bool       // an event has been passed on; of fromFar
	blocked atomic.Bool
	waited  atomic.Int64 // nanoseconds since the last acknowledgement in which we did not listen
	ready   atomic.Bool

	watch    sync.Mutex
	interval time.Duration
	dog      *time.Timer // barks when a beat is not acknowledged
	beat     time.Time   // when the last was sent

	handling sync.Mutex // while an event is handled
	over     bool       // no more are
	up       bool       // one has been

	ended sync.Once
	end   ending
}

func newLine(s *shard, far *websocket.Conn, session string, identified func(bool), start time.Duration) *line {
	return &line{s: s, far: far, session: session, identified: identified, start: start, pipe: newPipe()}
}

// run passes messages until the connection ends.
func (l *line) run(ctx context.Context) ending {
	l.ctx, l.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { l.close(ending{err: ctx.Err()}) })
	defer stop()
	l.open()
	var group sync.WaitGroup
	group.Go(l.fromNear)
	l.fromFar()
	group.Wait()
	l.end.ready, l.end.resumed = l.ready.Load(), l.resumed
	return l.end
}

// open starts a discordgo session at the near end.
func (l *line) open() {
	d, err := discordgo.New("")
	if err != nil {
		l.close(ending{err: err})
		return
	}
	d.LogLevel = -1
	d.StateEnabled = false
	d.SyncEvents = true
	d.ShouldReconnectOnError = false
	d.ShouldReconnectVoiceOnSessionError = false
	d.Compress, d.Identify.Compress = false, false
	d.Identify.Intents = discordgo.Intent(l.s.g.cfg.Intents)
	d.Identify.Shard = &[2]int{l.s.id, l.s.total}
	d.Dialer = l.pipe.dialer()
	d.Client.Transport = nowhere{}
	gone := make(chan struct{})
	leave := sync.OnceFunc(func() { close(gone) })
	d.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { leave() })
	d.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { l.event(e) })
	l.s.sessions.Go(func() {
		if err := d.Open(); err != nil {
			l.close(ending{err: err})
			return
		}
		<-gone
	})
	if l.near, err = l.pipe.accept(); err != nil {
		l.close(ending{err: err})
	}
}

// close ends the line, once.
func (l *line) close(end ending) {
	l.ended.Do(func() {
		l.end = end
		l.cancel()
		l.handling.Lock()
		l.over = true
		l.handling.Unlock()
		l.watch.Lock()
		if l.dog != nil {
			l.dog.Stop()
		}
		l.watch.Unlock()
		code := closeResume
		if errors.Is(end.err, context.Canceled) {
			code = closeLeave
		}
		if end.code == 0 {
			text := websocket.FormatCloseMessage(code, "")
			l.far.WriteControl(websocket.CloseMessage, text, time.Now().Add(time.Second)) //nolint:errcheck // it is gone either way
		}
		l.far.Close()
		l.pipe.Close()
	})
}

// fromFar reads what Discord says.
func (l *line) fromFar() {
	l.far.SetReadDeadline(time.Now().Add(l.start)) //nolint:errcheck // reading says so
	l.far.SetCloseHandler(func(int, string) error { return nil })
	for {
		kind, data, err := l.far.ReadMessage()
		if err != nil {
			l.close(endingOf(err))
			return
		}
		if kind == websocket.BinaryMessage {
			if data, err = inflate(data); err != nil {
				l.close(ending{err: err})
				return
			}
		}
		var p packet
		if err := json.Unmarshal(data, &p); err != nil {
			l.close(ending{err: errors.New("a message cannot be read")})
			return
		}
		if !l.hear(p) {
			return
		}
		switch {
		case l.ready.Load():
			l.far.SetReadDeadline(time.Time{}) //nolint:errcheck // see above
		case p.Op == opDispatch:
			l.far.SetReadDeadline(time.Now().Add(l.s.g.cfg.Times.Start)) //nolint:errcheck // see above
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

// hear takes one message from Discord; false ends the line.
func (l *line) hear(p packet) bool {
	switch p.Op {
	case opDispatch:
		l.told = true
		l.s.heard(0)
		if p.Type == "READY" || p.Type == "RESUMED" {
			l.ready.Store(true)
		} else if !l.s.g.cfg.Want(p.Type) {
			p.Data = json.RawMessage("null")
		}
		p.Type = raw + p.Type
	case opHeartbeat:
		return l.heartbeat()
	case opReconnect:
		l.close(ending{err: errors.New("asked to connect anew")})
		return false
	case opInvalid:
		l.close(l.s.refused(string(p.Data) == "true"))
		return false
	case opHello:
		var hello struct {
			Interval int64 `json:"heartbeat_interval"` // milliseconds
		}
		json.Unmarshal(p.Data, &hello) //nolint:errcheck // 0 is refused
		if hello.Interval <= 0 || hello.Interval > int64(time.Hour/time.Millisecond) {
			l.close(ending{err: errors.New("no heartbeat interval was given")})
			return false
		}
		l.watch.Lock()
		again := l.interval > 0
		l.interval = time.Duration(hello.Interval) * time.Millisecond
		l.watch.Unlock()
		if again {
			return true
		}
	case opAck:
		l.acknowledged()
		if !l.told {
			return true // discordgo would lock itself up: it expects an event after Hello
		}
	default:
		return true // nothing that is known
	}
	l.blocked.Store(true)
	began := time.Now()
	err := l.near.WriteJSON(p)
	l.blocked.Store(false)
	l.waited.Add(int64(time.Since(began)))
	if err != nil {
		l.close(ending{err: errors.New("the session ended")})
		return false
	}
	return true
}

// fromNear reads what discordgo says.
func (l *line) fromNear() {
	if l.near == nil {
		return
	}
	for {
		var p packet
		if err := l.near.ReadJSON(&p); err != nil {
			l.close(ending{err: errors.New("the session ended")})
			return
		}
		ok := true
		switch p.Op {
		case opHeartbeat:
			ok = l.heartbeat()
		case opIdentify:
			ok = l.begin(p.Data)
		default:
			ok = l.tell(p)
		}
		if !ok {
			return
		}
	}
}

// begin identifies, or resumes. discordgo has not been given the token.
func (l *line) begin(identify json.RawMessage) bool {
	if l.session != "" {
		data, err := json.Marshal(struct {
			Token   string `json:"token"`
			Session string `json:"session_id"`
			Seq     int64  `json:"seq"`
		}{l.s.g.cfg.Token, l.session, l.s.seq.Load()})
		l.resumed = true
		return err == nil && l.tell(packet{Op: opResume, Data: data})
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(identify, &fields); err != nil {
		l.close(ending{err: err})
		return false
	}
	fields["token"] = json.RawMessage(strconv.Quote(l.s.g.cfg.Token))
	fields["properties"] = json.RawMessage(`{"os":"linux","browser":"halfpoint","device":"halfpoint"}`)
	data, err := json.Marshal(fields)
	if err != nil {
		return false
	}
	l.s.mu.Lock()
	l.s.identifies++ // before anybody can hear that it is ready
	l.s.mu.Unlock()
	if !l.tell(packet{Op: opIdentify, Data: data}) {
		return false
	}
	l.identified(true)
	now := time.Now()
	l.s.used = append(l.s.used[max(0, len(l.s.used)-perHour):], now)
	return true
}

// heartbeat says how far we have received.
func (l *line) heartbeat() bool {
	seq := json.RawMessage("null")
	if n := l.s.seq.Load(); n > 0 {
		seq = strconv.AppendInt(nil, n, 10)
	}
	l.watch.Lock()
	l.beat = time.Now()
	if l.dog == nil && l.interval > 0 {
		l.dog = time.AfterFunc(l.interval+l.s.g.cfg.Times.Grace, l.bark)
	}
	l.watch.Unlock()
	return l.tell(packet{Op: opHeartbeat, Data: seq})
}

// acknowledged is for the answer to a beat.
func (l *line) acknowledged() {
	l.watch.Lock()
	latency := time.Since(l.beat)
	l.watch.Unlock()
	l.s.heard(latency)
	l.waited.Store(0)
	l.calm(l.interval + l.s.g.cfg.Times.Grace)
}

// calm gives the dog more time.
func (l *line) calm(d time.Duration) {
	l.watch.Lock()
	defer l.watch.Unlock()
	if l.dog != nil && l.ctx.Err() == nil {
		l.dog.Reset(d)
	}
}

// bark ends a line on which nobody answers, unless it is we who do not listen.
func (l *line) bark() {
	if l.blocked.Load() {
		l.calm(l.interval)
		return
	}
	if d := time.Duration(l.waited.Swap(0)); d > 0 {
		l.calm(d) // the acknowledgement may be behind what is not read yet
		return
	}
	l.close(ending{err: errors.New("heartbeats are not acknowledged")})
}

// tell sends to Discord.
func (l *line) tell(p packet) bool {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.far.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:errcheck // writing says so
	if err := l.far.WriteJSON(p); err != nil {
		// What Discord said before it hung up is still to be read.
		time.AfterFunc(time.Second, func() { l.close(ending{err: err}) })
	}
	return true
}

// event is called by discordgo for each event, in order.
func (l *line) event(e *discordgo.Event) {
	name, ok := strings.CutPrefix(e.Type, raw)
	if !ok {
		return
	}
	l.handling.Lock()
	defer l.handling.Unlock()
	if l.over {
		return
	}
	s := l.s
	if !l.up {
		// After Resume, what was missed comes before RESUMED.
		l.up = true
		s.up(name != "READY")
	}
	switch {
	case name == "READY":
		l.readyEvent(e.RawData)
	case name == "RESUMED":
		s.ready(Ready{Shard: s.id, Shards: s.total, Resumed: true})
	case e.Sequence <= s.seq.Load():
		return // a replay overlaps
	case s.g.cfg.Want(name):
		if !l.hand(Event{Shard: s.id, Type: name, Seq: e.Sequence, Data: bytes.Clone(e.RawData)}) {
			l.over = true // it is not received, and nothing after it
			return
		}
	}
	if e.Sequence > s.seq.Load() {
		s.seq.Store(e.Sequence)
	}
}

// readyEvent begins a session.
func (l *line) readyEvent(data json.RawMessage) {
	var r struct {
		Session string `json:"session_id"`
		URL     string `json:"resume_gateway_url"`
		User    struct {
			ID string `json:"id"`
		} `json:"user"`
		Application struct {
			ID string `json:"id"`
		} `json:"application"`
		Guilds []struct {
			ID string `json:"id"`
		} `json:"guilds"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		l.s.log.Warn("part of READY cannot be read")
	}
	s := l.s
	s.mu.Lock()
	s.session, s.resumeURL = r.Session, r.URL
	if s.resumeURL == "" {
		s.resumeURL = s.base
	}
	s.mu.Unlock()
	s.seq.Store(0)
	ready := Ready{Shard: s.id, Shards: s.total, User: r.User.ID, Application: r.Application.ID}
	for _, g := range r.Guilds {
		ready.Guilds = append(ready.Guilds, g.ID)
	}
	s.ready(ready)
}

// hand gives an event a place on the lanes; false if it has none.
func (l *line) hand(e Event) bool {
	cfg := &l.s.g.cfg
	for {
		err := cfg.Lanes.Go(l.ctx, l.s.g.key(e), func() { cfg.Handle(l.s.ctx, e) })
		switch {
		case !errors.Is(err, lanes.ErrFull):
			return err == nil
		case cfg.Key != nil:
			l.s.mu.Lock()
			l.s.dropped++
			l.s.mu.Unlock()
			l.s.log.Warn("too many events for one game or channel; one is dropped", "type", e.Type)
			return true
		case sleep(l.ctx, fullTime) != nil: // it is not a flood under one key: all events have this one
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
