package rest

import (
	"bytes"
	"cmp"
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

	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/secret"
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
	answerWait  = 2 * time.Second        // the longest wait for a place to answer an interaction, if its context allows that: there is no later
)

// Config says whose bot it is. Only Token and Application are needed.
type Config struct {
	API         string        // base URL; empty is [API]. http only for a loopback address
	Token       secret.Text   // without "Bot "
	Application string        // id of the application
	Version     string        // of this program, for the User-Agent
	Patience    time.Duration // the longest wait for a bucket or a place in a second before RateLimited is returned
	Processes   func() int    // how many processes share what Discord takes from the bot in a second; nil: one

	Dial func(ctx context.Context, network, address string) (net.Conn, error) // opens connections; nil: TCP
	Log  *slog.Logger                                                         // nil logs nothing
}

// A Client asks Discord. Make it with [New].
type Client struct {
	cfg     Config
	base    string
	agent   string
	http    *http.Client
	log     *slog.Logger
	limits  *limits
	buckets *buckets
}

// New makes a client. It asks nothing yet.
func New(cfg Config) (*Client, error) {
	base, err := CheckURL(cmp.Or(cfg.API, API), "https", "http")
	if err != nil {
		return nil, fmt.Errorf("discord.api: %w", err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.MaxConnsPerHost = 256
	if cfg.Dial != nil {
		transport.DialContext = cfg.Dial
	}
	return &Client{
		cfg:   cfg,
		base:  strings.TrimRight(base.String(), "/"),
		agent: "DiscordBot (https://github.com/halfpoint-go/halfpoint, " + cmp.Or(cfg.Version, "0") + ")",
		http: &http.Client{
			Transport: transport,
			// A redirect would carry the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		log:     cfg.Log,
		limits:  newLimits(cfg.Processes),
		buckets: newBuckets(),
	}, nil
}

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
func list[T any](ctx context.Context, c *Client, q call) (out []T, err error) {
	q.out = &out
	err = c.do(ctx, q)
	return out, err
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
		if err == nil || doubt && q.method == http.MethodDelete && refusal(err).Status == http.StatusNotFound {
			return nil
		}
		wait, again := c.again(q, err, try)
		if end, _ := ctx.Deadline(); again && time.Until(end) > wait && try < tries && backoff.Sleep(ctx, wait) == nil {
			_, lost := err.(*Ambiguous)
			doubt = doubt || lost
			continue
		}
		switch err.(type) {
		case *RateLimited, *NotSent:
			if doubt {
				return &Ambiguous{What: q.what, Cause: err}
			}
		}
		return err
	}
}

// again returns how long to wait before a call is tried again that ended with err; false:
// trying again is no use, or may do the same twice.
func (c *Client) again(q call, err error, try int) (wait time.Duration, again bool) {
	wait = backoff.After(try, pause, time.Second)
	wait += rand.N(wait / 2)
	switch err := err.(type) {
	case *RateLimited:
		return err.Wait, err.Wait <= c.cfg.Patience || q.single && err.Wait <= answerWait
	case *NotSent:
		return wait, true
	case *Ambiguous:
		return wait, q.safe
	}
	return 0, false
}

// once asks once, when it may.
func (c *Client) once(ctx context.Context, q call, body []byte, kind string) error {
	if err := ctx.Err(); err != nil {
		return &NotSent{What: q.what, Cause: err}
	}
	bucket, err := c.buckets.take(ctx, q)
	if err != nil {
		return err
	}
	var resp *http.Response
	if err = c.limits.pass(ctx, q, c.cfg.Patience); err == nil {
		resp, err = c.send(ctx, q, body, kind)
	}
	bucket.done(resp)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	c.limits.learn(q, resp)
	return c.read(q, resp)
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
		return nil, &NotSent{What: q.what, Cause: errors.New("request has no valid URL")}
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
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			return end
		}
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

// read decodes a response into the result of the call, or returns an error.
func (c *Client) read(q call, resp *http.Response) error {
	if resp.StatusCode/100 == 2 {
		if q.out == nil || resp.StatusCode == http.StatusNoContent {
			io.Copy(io.Discard, io.LimitReader(resp.Body, answerLimit)) //nolint:errcheck // to use the connection again
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
		switch {
		case err != nil:
			err = c.clean(err, q)
		case len(data) > answerLimit:
			err = errors.New("response too long")
		case json.Unmarshal(data, q.out) != nil:
			err = errors.New("response has an unexpected form")
		default:
			return nil
		}
		return &Ambiguous{What: q.what, Cause: err} // done, but the result is not known
	}
	data, _ := io.ReadAll(io.LimitReader(resp.Body, errorLimit))
	e := readError(q.what, resp, data)
	e.Message, e.Detail = c.scrub(e.Message, q), c.scrub(e.Detail, q)
	switch {
	case OldEdits(e): // of which only this message need know
	case resp.StatusCode == http.StatusTooManyRequests:
		return c.limited(q, resp.Header, data)
	case resp.StatusCode >= 500:
		return &Ambiguous{What: q.what, Cause: e}
	case resp.StatusCode == http.StatusForbidden && !isJSON(data): // Cloudflare's page
		return c.limited(q, resp.Header, nil)
	case resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusRequestEntityTooLarge && !isJSON(data):
		// A server in front of Discord answered: the request may not have arrived.
		return &NotSent{What: q.what, Cause: fmt.Errorf("%d %s from a server in front of Discord", e.Status, e.Message)}
	}
	return e
}

// limited reads a 429 of any kind, or Cloudflare's word in place of Discord's.
func (c *Client) limited(q call, h http.Header, data []byte) error {
	var body struct {
		RetryAfter float64 `json:"retry_after"`
		Global     bool    `json:"global"`
	}
	e := &RateLimited{What: q.what, Scope: cmp.Or(h.Get("X-RateLimit-Scope"), ScopeUser)}
	least := time.Second
	switch {
	case !isJSON(data) || json.Unmarshal(data, &body) != nil:
		e.Scope, least = ScopeCloudflare, bannedTime
	case body.Global || h.Get("X-RateLimit-Global") != "":
		e.Scope = ScopeGlobal
	}
	e.Wait = cmp.Or(max(seconds(h.Get("Retry-After")), time.Duration(body.RetryAfter*float64(time.Second))), least)
	if e.Scope == ScopeCloudflare || e.Scope == ScopeGlobal {
		c.limits.pause(q, e.Scope, e.Wait)
	}
	c.log.Warn("rate limited, later requests will wait", "request", q.what, "wait", e.Wait, "scope", e.Scope)
	return e
}
