package discordtest

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
)

// TB is the part of testing.TB that a Server uses.
type TB interface {
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Options are a Server's settings; the zero value is Discord as documented.
type Options struct {
	Network       *memnet.Network  // on which the double listens and posts interactions; TCP on loopback when nil
	Now           func() time.Time // the double's clock; time.Now when nil
	Lenient       bool             // bad requests do not fail the test; they are answered and recorded all the same
	Lax           bool             // unknown properties of requests are ignored, as by Discord; libraries send some
	Limits        *Limits          // buckets and limits; DefaultLimits when nil
	Concurrency   int              // max_concurrency of identifies; 1 when 0
	IdentifyEvery time.Duration    // between identifies of one key, by the double's clock; 5 s when 0
	Identifies    int              // session starts left; 1000 when 0
	Application   string           // id of the application; that of the bot's user when empty, as Discord makes them since 2016
	Shards        int              // recommended by GET /gateway/bot; 1 when 0
	Privileged    int              // privileged intents that were granted, a bit set
	Patience      time.Duration    // of Answer and other waits, by package time; 10 s when 0
	Keep          int              // requests, and messages in a channel, that are remembered; 10,000 when 0
}

// A Server is a double of Discord with one application in it.
type Server struct {
	t           TB
	o           Options
	spec        *document
	requestSpec *document
	token       string
	secret      ed25519.PrivateKey
	listener    net.Listener
	web         *http.Server
	poster      *http.Client // for interactions by POST
	running     sync.WaitGroup
	ctx         context.Context
	stop        context.CancelFunc

	mu       sync.Mutex
	changed  *sync.Cond // anything that somebody may wait for
	closed   bool
	advanced time.Duration
	lastID   uint64

	bot           *user
	appID         string
	endpoint      string // of interactions by POST
	users         map[string]*user
	people        map[string]*Person // by name
	guilds        map[string]*guild
	guildOrder    []*guild
	channels      map[string]*channel
	commands      map[string][]object     // by guild id, "" for the global ones
	commandWrites int                     // requests that changed commands
	creations     map[string]*bucket      // of commands, by guild id, "" for the global ones
	tokens        map[string]*interaction // by token
	asked         []*interaction          // the same, oldest first
	holding       bool
	held          []*interaction
	files         map[string]*attachment // by path
	nonces        map[string]nonce
	lines         []line

	buckets    map[string]*bucket
	global     bucket
	invalid    []time.Time
	banned     time.Time // until
	faults     []*Fault
	requests   []*Request
	counts     map[string]int
	violations []string

	gateway gateway
}

// New starts a double. It ends with t, or with Close when t is nil.
func New(t TB, o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limits == nil {
		o.Limits = DefaultLimits()
	}
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	o.IdentifyEvery = cmp.Or(o.IdentifyEvery, 5*time.Second)
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	o.Identifies = cmp.Or(o.Identifies, 1000)
	o.Shards = cmp.Or(o.Shards, 1)
	o.Keep = cmp.Or(o.Keep, 10_000)

	seed := sha256.Sum256([]byte("discordtest"))
	s := &Server{
		t: t, o: o, spec: strict(), requestSpec: strict(),
		secret:   ed25519.NewKeyFromSeed(seed[:]),
		users:    map[string]*user{},
		people:   map[string]*Person{},
		guilds:   map[string]*guild{},
		channels: map[string]*channel{},
		commands: map[string][]object{}, creations: map[string]*bucket{},
		counts:  map[string]int{},
		gateway: gateway{left: o.Identifies, sessions: map[string]*Session{}, started: map[int]time.Time{}},
	}
	s.reset()
	if o.Lax {
		s.requestSpec = lax()
	}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.bot = s.newUser("Halfpoint")
	s.bot.bot = true
	s.appID = cmp.Or(o.Application, s.bot.id)
	s.token = botToken(s.bot.id)

	poster := &http.Transport{DisableKeepAlives: true}
	var err error
	if o.Network == nil {
		s.listener, err = net.Listen("tcp", "127.0.0.1:0")
	} else {
		// Clients send their token over plain HTTP to this machine alone.
		s.listener, err = o.Network.Listen("localhost:80")
		poster.DialContext = o.Network.DialContext
	}
	if err != nil {
		panic(err)
	}
	s.poster = &http.Client{Transport: poster}
	// Without a limit for the header: it would also close a connection that a client has
	// opened in reserve, and in virtual time just when the client begins to use it.
	s.web = &http.Server{Handler: s.mux()}
	s.running.Go(func() { s.web.Serve(s.listener) })
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// Close ends every connection and waits until nothing of the double runs.
func (s *Server) Close() {
	s.locked(func() { s.closed = true })
	s.stop()
	s.web.Close()
	s.mu.Lock()
	list := slices.Clone(s.gateway.connections)
	s.mu.Unlock()
	for _, c := range list {
		c.raw.Close()
	}
	s.running.Wait()
}

// locked runs do with the lock held and wakes who waits for what it does.
func (s *Server) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	s.changed.Broadcast()
}

// API returns the base address of the REST API, such as "http://127.0.0.1:4711/api/v10".
func (s *Server) API() string { return s.Address() + "/api/v10" }

// Address returns the scheme and host of the double.
func (s *Server) Address() string { return "http://" + s.listener.Addr().String() }

// Token returns the bot's token, without "Bot ".
func (s *Server) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Application returns the application's id, which is the bot user's too.
func (s *Server) Application() string { return s.appID }

// PublicKey returns the Ed25519 key of the application in hex, which signs
// interactions that are delivered by POST.
func (s *Server) PublicKey() string {
	return hex.EncodeToString(s.secret.Public().(ed25519.PublicKey))
}

// sleep waits, by package time, unless the double is closed or something else ends it.
func (s *Server) sleep(d time.Duration, end <-chan struct{}) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-end:
	case <-s.ctx.Done():
	}
}

// Now returns the double's time.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// Advance puts the double's clock forward.
func (s *Server) Advance(d time.Duration) { s.locked(func() { s.advanced += d }) }

// Violations returns what clients sent that Discord's specification or
// documentation forbids, and faults of the double's own answers, in order.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Forget drops every message, interaction, request, violation and line of the transcript,
// so that a long run measures its client's memory and not the double's.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		c.messages = nil
	}
	s.reset()
	for _, session := range s.gateway.sessions {
		session.forget()
	}
}

// reset makes new maps: one that is cleared keeps its size.
func (s *Server) reset() {
	s.tokens = map[string]*interaction{}
	s.files = map[string]*attachment{}
	s.nonces = map[string]nonce{}
	s.buckets = map[string]*bucket{}
	s.lines, s.requests, s.asked, s.violations = nil, nil, nil, nil
}

func (s *Server) now() time.Time { return s.o.Now().Add(s.advanced) }

// violation is called with the lock held.
func (s *Server) violation(ours bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.violations = append(s.violations, text)
	if s.t != nil && !s.closed && (ours || !s.o.Lenient) {
		s.t.Errorf("discordtest: %s", text)
	}
}

const epoch = 1420070400000 // Discord's, in milliseconds

// newID returns the next snowflake.
func (s *Server) newID() string {
	id := uint64(s.now().UnixMilli()-epoch) << 22
	if id <= s.lastID {
		id = s.lastID + 1
	}
	s.lastID = id
	return strconv.FormatUint(id, 10)
}

func itoa(n int) string { return strconv.Itoa(n) }

// Wait waits until done says so; it is asked whenever something happened. It
// must not call the Server.
func (s *Server) Wait(done func() bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waitFor(done)
}

// WaitCommands waits until somebody has registered commands n times in all.
func (s *Server) WaitCommands(n int) bool {
	return s.Wait(func() bool { return s.commandWrites >= n })
}

// waitFor waits, with the lock held, until done says so; it gives up when
// the double closes or Options.Patience has passed.
func (s *Server) waitFor(done func() bool) bool {
	late := false
	timer := time.AfterFunc(s.o.Patience, func() {
		s.mu.Lock()
		late = true
		s.changed.Broadcast()
		s.mu.Unlock()
	})
	defer timer.Stop()
	for !done() {
		if late || s.closed {
			return false
		}
		s.changed.Wait()
	}
	return true
}
