package matrixtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Proxy stands before a homeserver, writes down what is asked of it and
// makes the faults that a test has ordered. Everything else it passes on as it
// is. It is safe for concurrent use.
type Proxy struct {
	URL string

	server *Server
	client *http.Client

	mu       watched
	orders   []*Order
	requests []*Request
	syncs    map[*Exchange]context.CancelCauseFunc
}

// A Request is what somebody asked of the homeserver.
type Request struct {
	At     time.Time // when it came
	Method string
	Path   string // escaped as it came
	Query  url.Values
	Token  string // the access token
	Body   []byte // at most the first 64 KiB of it if it is JSON, nil for media
	Status int    // what was answered, 0 while nothing was or when the connection was cut
	Fault  bool   // whether an order took it
}

// A Match chooses requests.
type Match func(*Request) bool

// On chooses requests by their method, "" for any, and a regular expression for
// the path.
func On(method, path string) Match {
	pattern := regexp.MustCompile(path)
	return func(r *Request) bool { return (method == "" || r.Method == method) && pattern.MatchString(r.Path) }
}

// Common matches for faults.
var (
	Any         Match = func(*Request) bool { return true }
	Syncing           = On("GET", "/sync$")
	Sending           = On("PUT", "/rooms/[^/]+/(send|state|redact)/") // events, states and redactions
	Uploading         = On("POST", "/_matrix/media/v[0-9]+/upload$")
	Downloading       = On("GET", "/media/(v[0-9]+/)?download/")
	Backfilling       = On("GET", "/rooms/[^/]+/messages$")
	Joining           = On("POST", "/join(/[^/]+)?$")
)

// An Order has faults made until it is stopped or used up.
type Order struct {
	p     *Proxy
	match Match
	fault Fault
	left  int // -1 for ever
	made  int
}

// Proxy is a new proxy before the homeserver until the test ends.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	listener, url, err := s.listen()
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{URL: url, server: s, client: &http.Client{Transport: s.newTransport(t)}, syncs: map[*Exchange]context.CancelCauseFunc{}}
	serve(t, listener, http.HandlerFunc(p.serve))
	return p
}

// Once makes the fault for the next request that matches, Times for the next n,
// Always until the order is stopped. Orders with a number go before those that
// stand always, and of either kind the earlier first; a fault that passes the
// request on leaves it to the next order that takes it. Requests for /sync that
// wait already are looked at again.
func (p *Proxy) Once(m Match, f Fault) *Order { return p.Times(1, m, f) }

// Times makes the fault for the next n requests that match.
func (p *Proxy) Times(n int, m Match, f Fault) *Order {
	o := &Order{p: p, match: m, fault: f, left: n}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orders = append(p.orders, o)
	woken := 0
	for x, cancel := range p.syncs {
		if woken != n && x.order == nil && m(x.Request) {
			x.order = o
			cancel(errAgain)
			woken++
		}
	}
	p.mu.tell()
	return o
}

// Always makes the fault for all requests that match until the order is
// stopped.
func (p *Proxy) Always(m Match, f Fault) *Order { return p.Times(-1, m, f) }

// Stop takes the order back. Faults that are being made go on.
func (o *Order) Stop() {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	o.left = 0
	o.p.mu.tell()
}

// Made is how many faults were begun.
func (o *Order) Made() int {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	return o.made
}

// Await waits until n faults were begun.
func (o *Order) Await(t testing.TB, n int) {
	t.Helper()
	if !o.p.mu.await(o.p.server.patienceOf(t), func() bool { return o.Made() >= n }) {
		t.Fatalf("%d faults of %d", o.Made(), n)
	}
}

// Requests are the requests that match, in the order in which they came.
func (p *Proxy) Requests(m Match) (list []Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.requests {
		if m(r) {
			list = append(list, *r)
		}
	}
	return list
}

// Forget empties the list of requests.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// errAgain ends a waiting /sync so that it is looked at again.
var errAgain = errors.New("an order has come")

// An Exchange is a request that a Fault deals with.
type Exchange struct {
	Request *Request
	W       http.ResponseWriter
	R       *http.Request // Body is still to be read

	p     *Proxy
	ctx   context.Context // that of R, or of one try of a /sync
	order *Order          // what has woken a /sync
	taken []*Order        // what has dealt with it so far
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	x := &Exchange{R: r, W: w, p: p, ctx: r.Context(), Request: &Request{At: time.Now(), Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Token: tokenOf(r)}}
	r.Body = &ear{r.Body, x, strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")}
	x.W = &answer{x: x, ResponseWriter: w}
	p.mu.Lock()
	p.requests = append(p.requests, x.Request)
	p.mu.Unlock()
	x.Pass()
}

// Pass goes on with the request: to the next order that takes it, else to the
// homeserver, whose answer it passes on.
func (x *Exchange) Pass() {
	p := x.p
	for {
		p.mu.Lock()
		order := x.order
		if x.order = nil; order == nil || order.left == 0 {
			order = p.find(x)
		}
		if order != nil {
			if order.left > 0 {
				order.left--
			}
			order.made++
			x.taken = append(x.taken, order)
			x.Request.Fault = true
			p.orders = slices.DeleteFunc(p.orders, func(o *Order) bool { return o.left == 0 })
			p.mu.tell()
			p.mu.Unlock()
			order.fault(x)
			return
		}
		cancel := func(error) {}
		if Syncing(x.Request) {
			x.ctx, cancel = context.WithCancelCause(x.R.Context())
			p.syncs[x] = cancel
			p.mu.tell()
		}
		p.mu.Unlock()
		reply, err := x.Forward()
		p.mu.Lock()
		delete(p.syncs, x)
		p.mu.Unlock()
		again := context.Cause(x.ctx) == errAgain
		cancel(nil)
		x.ctx = x.R.Context()
		switch {
		case err == nil:
			x.Answer(reply)
			return
		case !again:
			x.Cut()
		}
	}
}

// find is the order for a request: the first one with a number, else the first
// that stands always.
func (p *Proxy) find(x *Exchange) *Order {
	for _, always := range []bool{false, true} {
		for _, o := range p.orders {
			if o.left != 0 && o.left < 0 == always && !slices.Contains(x.taken, o) && o.match(x.Request) {
				return o
			}
		}
	}
	return nil
}

// Forward asks the homeserver and is its whole answer; an error when the
// homeserver cannot be reached.
func (x *Exchange) Forward() (*Reply, error) {
	ask, err := http.NewRequestWithContext(x.ctx, x.R.Method, x.p.server.URL+x.Request.Path, x.R.Body)
	if err != nil {
		return nil, err
	}
	ask.URL.RawQuery = x.R.URL.RawQuery
	ask.ContentLength = x.R.ContentLength
	if x.R.ContentLength == 0 {
		ask.Body = nil
	}
	for key, values := range x.R.Header {
		switch key {
		case "Connection", "Accept-Encoding", "Transfer-Encoding", "Upgrade", "Te", "Keep-Alive":
		default:
			ask.Header[key] = values
		}
	}
	got, err := x.p.client.Do(ask)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return nil, err
	}
	return &Reply{got.StatusCode, got.Header, body}, nil
}

// A Reply is an answer of the homeserver.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Answer passes a reply on.
func (x *Exchange) Answer(r *Reply) error {
	for key, values := range r.Header {
		switch key {
		case "Connection", "Content-Length", "Transfer-Encoding", "Keep-Alive":
		default:
			x.W.Header()[key] = values
		}
	}
	x.W.Header().Set("Content-Length", fmt.Sprint(len(r.Body)))
	x.W.WriteHeader(r.Status)
	_, err := x.W.Write(r.Body)
	return err
}

// Cut breaks the connection and does not return.
func (x *Exchange) Cut() { panic(http.ErrAbortHandler) }

// Say answers without the homeserver.
func (x *Exchange) Say(status int, kind, body string) {
	x.Answer(&Reply{status, http.Header{"Content-Type": {kind}}, []byte(body)})
}

// An ear writes down what was read of a body.
type ear struct {
	io.ReadCloser
	x    *Exchange
	json bool
}

func (l *ear) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	l.x.p.mu.Lock()
	r := l.x.Request
	if room := 64<<10 - len(r.Body); room > 0 && l.json {
		r.Body = append(r.Body, b[:min(n, room)]...)
	}
	l.x.p.mu.Unlock()
	return n, err
}

// An answer writes down the status.
type answer struct {
	http.ResponseWriter
	x *Exchange
}

func (a *answer) WriteHeader(status int) {
	a.x.p.mu.Lock()
	a.x.Request.Status = status
	a.x.p.mu.Unlock()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
