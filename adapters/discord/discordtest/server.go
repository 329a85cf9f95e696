package discordtest

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
)

// TB is the part of testing.TB that a Server uses.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Options are a Server's settings; the zero value is Discord as documented.
type Options struct {
	Network       *memnet.Network  // on which the double listens and posts interactions; TCP on loopback when nil
	Now           func() time.Time // the double's clock; time.Now when nil
	Name          string           // of the bot; "Halfpoint" when empty
	Lenient       bool             // bad requests do not fail the test; they are answered and recorded all the same
	Lax           bool             // unknown properties of requests are ignored, as by Discord; libraries send some
	Limits        *Limits          // buckets and limits; DefaultLimits when nil
	Heartbeat     time.Duration    // between heartbeats, by package time; 41.25 s when 0
	Grace         time.Duration    // for a missing heartbeat, by package time; 5 s when 0
	Concurrency   int              // max_concurrency of identifies; 1 when 0
	IdentifyEvery time.Duration    // between identifies of one key, by the double's clock; 5 s when 0
	Identifies    int              // session starts left; 1000 when 0
	Shards        int              // recommended by GET /gateway/bot; 1 when 0
	Privileged    int              // privileged intents that were granted, a bit set
	Patience      time.Duration    // of Answer and other waits, by package time; 10 s when 0
	Keep          int              // requests, and messages in a channel, that are remembered; 10,000 when 0
	ResumeFor     time.Duration    // by the double's clock; 3 minutes when 0
	Remember      int              // dispatches that a session keeps for a resume; 20,000 when 0
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
	guildNames    map[string]*guild
	guildOrder    []*guild
	channels      map[string]*channel
	commands      map[string][]object // by guild id, "" for the global ones
	commandWrites int                 // requests that changed commands
	interactions  map[string]*interaction
	tokens        map[string]*interaction
	asked         []*interaction // the same, oldest first
	holding       bool
	held          []*interaction
	files         map[string]*attachment // by path
	nonces        map[string]*nonce
	nonceOrder    []*nonce
	lines         []line

	buckets    map[string]*bucket
	pruneAt    int // so many buckets
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
	if o.Name == "" {
		o.Name = "Halfpoint"
	}
	if o.Limits == nil {
		o.Limits = DefaultLimits()
	}
	orDuration := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	orInt := func(n *int, def int) {
		if *n == 0 {
			*n = def
		}
	}
	orDuration(&o.Heartbeat, 41250*time.Millisecond)
	orDuration(&o.Grace, 5*time.Second)
	orDuration(&o.Patience, 10*time.Second)
	orDuration(&o.IdentifyEvery, 5*time.Second)
	orDuration(&o.ResumeFor, 3*time.Minute)
	orInt(&o.Concurrency, 1)
	orInt(&o.Identifies, 1000)
	orInt(&o.Shards, 1)
	orInt(&o.Keep, 10_000)
	orInt(&o.Remember, 20_000)

	seed := sha256.Sum256([]byte("discordtest"))
	s := &Server{
		t: t, o: o, spec: strict(), requestSpec: strict(),
		secret:       ed25519.NewKeyFromSeed(seed[:]),
		users:        map[string]*user{},
		people:       map[string]*Person{},
		guilds:       map[string]*guild{},
		guildNames:   map[string]*guild{},
		channels:     map[string]*channel{},
		commands:     map[string][]object{},
		interactions: map[string]*interaction{},
		tokens:       map[string]*interaction{},
		files:        map[string]*attachment{},
		nonces:       map[string]*nonce{},
		buckets:      map[string]*bucket{},
		counts:       map[string]int{},
	}
	if o.Lax {
		s.requestSpec = lax()
	}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.gateway.left = o.Identifies
	s.gateway.sessions = map[string]*Session{}
	s.gateway.started = map[int][]time.Time{}
	s.bot = s.newUser(o.Name)
	s.bot.bot = true
	s.appID = s.bot.id
	s.token = botToken(s.appID)

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
	s.web = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	s.running.Go(func() { s.web.Serve(s.listener) })
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// Close ends every connection and waits until nothing of the double runs.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	s.stop()
	s.web.Close()
	s.cutAll()
	s.running.Wait()
}

// API is the base address of the REST API, such as "http://127.0.0.1:4711/api/v10".
func (s *Server) API() string { return s.Address() + "/api/v10" }

// Address is the scheme and host of the double.
func (s *Server) Address() string { return "http://" + s.listener.Addr().String() }

// Token is the bot's token, without "Bot ".
func (s *Server) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Application is the application's id, which is the bot user's too.
func (s *Server) Application() string { return s.appID }

// PublicKey is the Ed25519 key of the application in hex, which signs
// interactions that are delivered by POST.
func (s *Server) PublicKey() string {
	return hex.EncodeToString(s.secret.Public().(ed25519.PublicKey))
}

// Now is the double's time.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// Advance puts the double's clock forward.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advanced += d
	s.changed.Broadcast()
}

// Violations are what clients sent that Discord's specification or
// documentation forbids, and faults of the double's own answers, in order.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.violations...)
}

// Forget drops every message, interaction, request, violation and line of the transcript,
// so that a long run measures its client's memory and not the double's.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.channels {
		c.messages = nil
	}
	// New maps: one that is cleared keeps its size.
	s.interactions = map[string]*interaction{}
	s.tokens = map[string]*interaction{}
	s.files = map[string]*attachment{}
	s.nonces = map[string]*nonce{}
	s.buckets = map[string]*bucket{}
	s.lines, s.requests, s.asked, s.nonceOrder, s.violations = nil, nil, nil, nil, nil
	for _, session := range s.gateway.sessions {
		session.forget()
	}
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

// newID is the next snowflake.
func (s *Server) newID() string {
	id := uint64(s.now().UnixMilli()-epoch) << 22
	if id <= s.lastID {
		id = s.lastID + 1
	}
	s.lastID = id
	return strconv.FormatUint(id, 10)
}

func itoa(n int) string { return strconv.Itoa(n) }

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
