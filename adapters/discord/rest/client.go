package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// API is where Discord's API is.
const API = "https://discord.com/api/v10"

// Limits that are the client's own.
const (
	answerLimit = 8 << 20                // bytes of an answer
	errorLimit  = 64 << 10               // bytes of an answer that says what went wrong
	tries       = 3                      // of what may be asked again
	pause       = 200 * time.Millisecond // before asking again, doubled each time
	plainTime   = 15 * time.Second       // for a request whose context has no end
	uploadTime  = 60 * time.Second       // for one with files
)

// Config says whose bot it is. Only Token and Application are needed.
type Config struct {
	API         string     // base URL; empty is [API]. http only for a loopback address
	Token       bot.Secret // without "Bot "
	Application string     // id of the application
	Version     string     // of this program, for the User-Agent

	PerSecond    int           // requests a second besides interactions, 0 is 50: Discord's limit for a bot
	LowPerSecond int           // of these, by clients that wait; 0 is 20
	Invalid      int           // requests in ten minutes that Discord may count as invalid; 0 is 500
	Patience     time.Duration // the longest wait for a bucket before RateLimited is returned; 0 is 2 s, negative none

	Dial      func(ctx context.Context, network, address string) (net.Conn, error) // opens connections; nil: TCP
	Transport http.RoundTripper                                                    // nil: one of its own, with Dial
	Log       *slog.Logger                                                         // nil logs nothing
}

// A Client asks Discord. Make it with [New].
type Client struct {
	*core
	low bool
}

// core is what a client and its [Client.Low] share.
type core struct {
	cfg              Config
	base             string
	agent            string
	http             *http.Client
	log              *slog.Logger
	gate             *gate
	buckets          *buckets
	invalid          *budget
	banned           until // by Cloudflare: nothing may be asked
	interactionPause until // the global limit of interaction routes
	refused          refusals
}

// New makes a client. It asks nothing yet.
func New(cfg Config) (*Client, error) {
	if cfg.API == "" {
		cfg.API = API
	}
	base, err := CheckURL(cfg.API, "https", "http")
	if err != nil {
		return nil, fmt.Errorf("discord.api: %w", err)
	}
	if cfg.PerSecond == 0 {
		cfg.PerSecond = 50
	}
	if cfg.LowPerSecond == 0 {
		cfg.LowPerSecond = 20
	}
	if cfg.Invalid == 0 {
		cfg.Invalid = 500
	}
	if cfg.Patience == 0 {
		cfg.Patience = 2 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Version == "" {
		cfg.Version = "0"
	}
	transport := cfg.Transport
	if transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 64
		t.MaxConnsPerHost = 256
		if cfg.Dial != nil {
			t.DialContext = cfg.Dial
		}
		transport = t
	}
	k := &core{
		cfg:   cfg,
		base:  strings.TrimRight(base.String(), "/"),
		agent: "DiscordBot (https://github.com/halfpoint-go/halfpoint, " + cfg.Version + ")",
		http: &http.Client{
			Transport: transport,
			// A redirect would carry the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		log:     cfg.Log,
		gate:    newGate(cfg.PerSecond, cfg.LowPerSecond, cfg.Patience),
		buckets: newBuckets(),
		invalid: &budget{max: cfg.Invalid},
	}
	return &Client{core: k}, nil
}

// Low returns the same client for requests that can wait: others go first, and
// they are at most Config.LowPerSecond a second.
func (c *Client) Low() *Client { return &Client{core: c.core, low: true} }

// Close ends idle connections. The client can still be used.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// CheckURL parses an address to which a token will be sent. The scheme is the
// secure one, or the plain one for a host that is this machine.
func CheckURL(address, secure, plain string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("not a URL")
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case host == "" || u.User != nil || u.Fragment != "":
		return nil, fmt.Errorf("not a URL of the form %s://host/path", secure)
	case u.Scheme == secure || u.Scheme == plain && local:
		return u, nil
	}
	return nil, fmt.Errorf("must begin with %s:// (%s:// is for this machine alone)", secure, plain)
}

// A call is one thing to ask.
type call struct {
	what   string // for errors: "send a message"
	method string
	route  string // what Discord limits together, ids of top-level resources aside
	major  string // the top-level resource: channel, guild, or webhook with token
	path   string
	query  url.Values
	in     any // becomes JSON
	files  []File
	out    any // nil: the answer is not read

	open   bool   // an interaction route: no Authorization, not in the bot's limit
	single bool   // its path is used once, so it has no bucket
	safe   bool   // asking twice does it once
	secret string // an interaction's token, to be kept out of errors
}

// ask asks for a T.
func ask[T any](ctx context.Context, c *Client, q call) (*T, error) {
	var out T
	q.out = &out
	if err := c.do(ctx, q); err != nil {
		return nil, err
	}
	return &out, nil
}

// list asks for several.
func list[T any](ctx context.Context, c *Client, q call) ([]T, error) {
	out, err := ask[[]T](ctx, c, q)
	if err != nil {
		return nil, err
	}
	return *out, nil
}

// do asks, and asks again where that is harmless.
func (c *Client) do(ctx context.Context, q call) error {
	body, kind, err := encode(q.in, q.files)
	if err != nil {
		return &NotSent{What: q.what, Cause: err}
	}
	if _, ok := ctx.Deadline(); !ok {
		limit := plainTime
		if len(q.files) > 0 {
			limit = uploadTime
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	doubt := false // an earlier try may have done it
	for try := 1; ; try++ {
		err := c.once(ctx, q, body, kind)
		var limited *RateLimited
		var unsent *NotSent
		var lost *Ambiguous
		var refused *Error
		wait := pause << (try - 1)
		wait += rand.N(wait / 2)
		again := false
		switch {
		case err == nil:
			return nil
		case errors.As(err, &limited):
			wait = limited.Wait
			again = wait <= c.cfg.Patience
		case errors.As(err, &unsent):
			again = ctx.Err() == nil
		case errors.As(err, &lost):
			doubt = true
			again = q.safe
		case doubt && q.method == http.MethodDelete && errors.As(err, &refused) && refused.Status == http.StatusNotFound:
			return nil // the earlier try did it
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
			again = false
		}
		if !again || try == tries || sleep(ctx, wait) != nil {
			if doubt && lost == nil && (limited != nil || unsent != nil) {
				return &Ambiguous{What: q.what, Cause: err}
			}
			return err
		}
	}
}

// once asks once, when it may.
func (c *Client) once(ctx context.Context, q call, body []byte, kind string) error {
	if err := ctx.Err(); err != nil {
		return &NotSent{What: q.what, Cause: err}
	}
	if err := c.mayAsk(q); err != nil {
		return err
	}
	bucket, err := c.buckets.take(ctx, q)
	if err != nil {
		return err
	}
	if !q.open {
		if err := c.gate.pass(ctx, c.low); err != nil {
			bucket.giveBack()
			return as(q.what, err)
		}
	}
	if wait := c.invalid.begin(time.Now()); wait > 0 {
		bucket.giveBack()
		return &RateLimited{What: q.what, Wait: wait, Scope: ScopeOwn}
	}
	resp, err := c.send(ctx, q, body, kind)
	counted := err == nil && isInvalid(resp)
	c.invalid.end(time.Now(), counted)
	if err != nil {
		bucket.giveBack()
		return err
	}
	defer resp.Body.Close()
	bucket.learn(resp.Header, resp.StatusCode, time.Now())
	return c.read(q, resp)
}

// mayAsk says when everything of this kind has been told to wait.
func (c *Client) mayAsk(q call) error {
	now := time.Now()
	if wait := c.banned.left(now); wait > 0 {
		return &RateLimited{What: q.what, Wait: wait, Scope: ScopeCloudflare}
	}
	if q.open {
		if wait := c.interactionPause.left(now); wait > 0 {
			return &RateLimited{What: q.what, Wait: wait, Scope: ScopeGlobal}
		}
		return nil
	}
	if wait := c.refused.left(now); wait > 0 {
		return &RateLimited{What: q.what, Wait: wait, Scope: ScopeToken}
	}
	return nil
}

// send is one exchange. Its error says whether anything can have arrived.
func (c *Client) send(ctx context.Context, q call, body []byte, kind string) (*http.Response, error) {
	address := c.base + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	var payload io.Reader
	if body != nil {
		payload = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, q.method, address, payload)
	if err != nil {
		return nil, &NotSent{What: q.what, Cause: errors.New("the request has no valid address")}
	}
	r.Header.Set("User-Agent", c.agent)
	if body != nil {
		r.Header.Set("Content-Type", kind)
	}
	if !q.open {
		r.Header.Set("Authorization", "Bot "+c.cfg.Token.Reveal())
	}
	resp, err := c.http.Do(r)
	if err == nil {
		return resp, nil
	}
	err = c.clean(err, q)
	if wrote.Load() {
		return nil, &Ambiguous{What: q.what, Cause: err}
	}
	return nil, &NotSent{What: q.what, Cause: err}
}

// clean takes address and tokens out of a transport's error.
func (c *Client) clean(err error, q call) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return errors.New(c.scrub(err.Error(), q))
}

// scrub replaces tokens in a text that came from elsewhere.
func (c *Client) scrub(text string, q call) string {
	for _, secret := range []string{c.cfg.Token.Reveal(), q.secret} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[token]")
		}
	}
	return text
}

// read makes of an answer what was asked for, or an error.
func (c *Client) read(q call, resp *http.Response) error {
	if !q.open {
		c.refused.learn(resp.StatusCode == http.StatusUnauthorized, time.Now())
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		if q.out == nil || resp.StatusCode == http.StatusNoContent {
			io.Copy(io.Discard, io.LimitReader(resp.Body, answerLimit)) //nolint:errcheck // to use the connection again
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
		switch {
		case err != nil:
			return &Ambiguous{What: q.what, Cause: c.clean(err, q)} // done, but as what is not known
		case len(data) > answerLimit:
			return &Ambiguous{What: q.what, Cause: errors.New("the answer is too long")}
		}
		if err := json.Unmarshal(data, q.out); err != nil {
			return &Ambiguous{What: q.what, Cause: errors.New("the answer is not what it should be")}
		}
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, errorLimit))
	e := readError(q.what, resp, data)
	e.Message, e.Detail = c.scrub(e.Message, q), c.scrub(e.Detail, q)
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return c.limited(q, resp.Header, data)
	case resp.StatusCode >= 500:
		return &Ambiguous{What: q.what, Cause: e}
	case resp.StatusCode == http.StatusForbidden && !isJSON(data):
		c.banned.set(time.Now().Add(bannedTime)) // Cloudflare's page
		c.log.Error("Cloudflare blocked this address, requests paused", "wait", bannedTime)
		return &RateLimited{What: q.what, Wait: bannedTime, Scope: ScopeCloudflare}
	case resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusRequestEntityTooLarge && !isJSON(data):
		// The word of a server in front of Discord says nothing of what was asked for.
		return &NotSent{What: q.what, Cause: fmt.Errorf("%d %s, which is not Discord's word", e.Status, e.Message)}
	}
	return e
}

// How long nothing is asked after answers that do not say.
const (
	bannedTime = time.Minute
	refusedMin = time.Second // after the first refusal of the token, then twice as long each time
	refusedMax = 5 * time.Minute
)

// limited reads a 429 of any kind.
func (c *Client) limited(q call, h http.Header, data []byte) error {
	now := time.Now()
	var body struct {
		RetryAfter float64 `json:"retry_after"`
		Global     bool    `json:"global"`
	}
	e := &RateLimited{What: q.what, Scope: h.Get("X-RateLimit-Scope")}
	if !isJSON(data) || json.Unmarshal(data, &body) != nil {
		e.Scope = ScopeCloudflare
	}
	e.Wait = max(seconds(h.Get("Retry-After")), time.Duration(body.RetryAfter*float64(time.Second)))
	if e.Wait <= 0 {
		e.Wait = time.Second
		if e.Scope == ScopeCloudflare {
			e.Wait = bannedTime
		}
	}
	switch {
	case e.Scope == ScopeCloudflare:
		c.banned.set(now.Add(e.Wait))
		c.log.Error("Cloudflare rate limit, requests paused", "wait", e.Wait)
	case body.Global || h.Get("X-RateLimit-Global") != "" || e.Scope == ScopeGlobal:
		e.Scope = ScopeGlobal
		if q.open {
			c.interactionPause.set(now.Add(e.Wait))
		} else {
			c.gate.close(e.Wait)
		}
	default:
		if e.Scope == "" {
			e.Scope = ScopeUser
		}
	}
	c.log.Warn("rate limited, later requests will wait", "request", q.what, "wait", e.Wait, "scope", e.Scope)
	return e
}

// sleep waits unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
