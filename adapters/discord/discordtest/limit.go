package discordtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Rate is so many requests in a window.
type Rate struct {
	N   int
	Per time.Duration
}

// Limits are the buckets of the double. Only Global, Invalid and Creations are documented
// by Discord; the rest must be read from headers, and tests should vary it.
type Limits struct {
	Global    Rate            // of requests with the bot's token, interaction routes excepted
	Invalid   int             // 401, 403 and 429 (not shared) in ten minutes before Cloudflare shuts the door
	Ban       time.Duration   // for how long
	Routes    map[string]Rate // by route
	Default   Rate            // of routes that are not in Routes; N 0 means none
	Renames   Rate            // of each thread, which no header tells; N 0 means none
	Creations Rate            // of commands, in each server and everywhere; N 0 means none
	Old       Rate            // of edits of messages older than an hour in a channel, which no header tells; N 0 means none
}

// DefaultLimits are the documented ones, with buckets of the usual size.
func DefaultLimits() *Limits {
	webhook := Rate{5, 2 * time.Second}
	return &Limits{
		Global:    Rate{50, time.Second},
		Invalid:   10_000,
		Ban:       invalidFor,
		Default:   Rate{10, time.Second},
		Renames:   Rate{2, 10 * time.Minute},
		Old:       Rate{3, 20 * time.Second},
		Creations: Rate{200, 24 * time.Hour},
		Routes: map[string]Rate{
			"POST /channels/{channel_id}/messages":                {5, 5 * time.Second},
			"PATCH /channels/{channel_id}/messages/{message_id}":  {5, 5 * time.Second},
			"DELETE /channels/{channel_id}/messages/{message_id}": {5, time.Second},
			routeCallback: {},
			routeFollowUp: webhook,
			"GET /webhooks/{webhook_id}/{webhook_token}/messages/@original":      webhook,
			"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original":    webhook,
			"DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original":   webhook,
			"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": webhook,
			"PUT /applications/{application_id}/commands":                        {5, 20 * time.Second},
			"GET /gateway/bot": {2, 5 * time.Second},
		},
	}
}

// codeOldEdits is the code of a 429 for too many edits of messages older than an hour. How
// many those are is not documented: https://github.com/discord/discord-api-docs/issues/4413.
const codeOldEdits = 30046

// codeCreations is the code of a 429 for too many new commands in a day.
const codeCreations = 30034

// NoLimits has no bucket at all.
func NoLimits() *Limits { return &Limits{} }

// A bucket is a fixed window that starts with its first request.
type bucket struct {
	used  int
	start time.Time
}

// take uses one of a rate, and reports whether there was one.
func (b *bucket) take(rate Rate, now time.Time) bool {
	b.renew(rate, now)
	b.used++
	return b.used <= rate.N
}

// takeAll uses n of a rate, or none if there are not so many.
func (b *bucket) takeAll(n int, rate Rate, now time.Time) bool {
	b.renew(rate, now)
	if b.used+n > rate.N {
		return false
	}
	b.used += n
	return true
}

func (b *bucket) renew(rate Rate, now time.Time) {
	if now.Sub(b.start) >= rate.Per || now.Before(b.start) {
		b.used, b.start = 0, now
	}
}

// wait returns how long until the window ends.
func (b *bucket) wait(rate Rate, now time.Time) time.Duration { return rate.Per - now.Sub(b.start) }

// limit applies the global limit and the route's bucket and writes the headers.
func (s *Server) limit(r *request, a *answer) error {
	l := s.o.Limits
	if l.Global.N > 0 && r.Authorized && !s.global.take(l.Global, r.At) {
		return a.tooMany(s.global.wait(l.Global, r.At), "global")
	}
	rate, known := l.Routes[r.Route]
	if !known {
		rate = l.Default
	}
	if rate.N == 0 {
		return nil
	}
	key := bucketName(r.Route) + ":" + top(r)
	b := s.buckets[key]
	if b == nil {
		b = &bucket{}
		s.buckets[key] = b
	}
	ok := b.take(rate, r.At)
	a.bucket(r, rate.N, max(0, rate.N-b.used), b.wait(rate, r.At))
	if !ok {
		return a.tooMany(b.wait(rate, r.At), "user")
	}
	return nil
}

// bucket writes the headers of a bucket.
func (a *answer) bucket(r *request, limit, remaining int, reset time.Duration) {
	seconds := func(s float64) string { return strconv.FormatFloat(max(s, 0.001), 'f', 3, 64) }
	a.header.Set("X-RateLimit-Limit", itoa(limit))
	a.header.Set("X-RateLimit-Remaining", itoa(remaining))
	a.header.Set("X-RateLimit-Reset", seconds(float64(r.At.Add(reset).UnixMilli())/1000))
	a.header.Set("X-RateLimit-Reset-After", seconds(reset.Seconds()))
	a.header.Set("X-RateLimit-Bucket", bucketName(r.Route))
}

// bucketName returns the hash that Discord shows. Routes of one webhook token share
// theirs.
func bucketName(route string) string {
	if strings.Contains(route, "/webhooks/{webhook_id}/{webhook_token}") {
		route = "webhook"
	}
	sum := sha256.Sum256([]byte(route))
	return hex.EncodeToString(sum[:16])
}

// top returns the resource that a bucket counts by.
func top(r *request) string {
	for _, key := range []string{"webhook_token", "channel_id", "guild_id", "interaction_token"} {
		if v := r.Params[key]; v != "" {
			return v
		}
	}
	return ""
}

// tooMany writes a 429. As documented, the global one says only when to come
// back, that it is global, and its scope.
func (a *answer) tooMany(wait time.Duration, scope string) error {
	a.header.Set("X-RateLimit-Scope", scope)
	a.header.Set("Retry-After", wholeSeconds(wait))
	if scope == "global" {
		a.header.Set("X-RateLimit-Global", "true")
	}
	a.json(429, object{
		"message": "You are being rate limited.", "retry_after": math.Ceil(wait.Seconds()*1000) / 1000,
		"global": scope == "global", "code": 0,
	})
	return refuse(429, 0, "")
}

func wholeSeconds(d time.Duration) string { return itoa(int(math.Ceil(d.Seconds()))) }

func (a *answer) json(status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	a.status, a.text = status, text
}

// html writes what Cloudflare says instead of JSON.
func (a *answer) html(status int) {
	code := status
	if status == 429 {
		code = 1015
	}
	a.status = status
	a.header.Set("Content-Type", "text/html; charset=UTF-8")
	a.header.Set("Server", "cloudflare")
	a.text = fmt.Appendf(nil, "<!doctype html><html><head><title>Access denied</title></head><body>error code: %d</body></html>\n", code)
}

// invalidFor is how long Cloudflare remembers an invalid request.
const invalidFor = 10 * time.Minute

// countInvalid counts towards the ban.
func (s *Server) countInvalid(a *answer) {
	if a.status != 401 && a.status != 403 && (a.status != 429 || a.header.Get("X-RateLimit-Scope") == "shared") {
		return
	}
	now := s.now()
	s.invalid = slices.DeleteFunc(append(s.invalid, now), func(at time.Time) bool { return now.Sub(at) >= invalidFor })
	if l := s.o.Limits; l.Invalid > 0 && len(s.invalid) >= l.Invalid {
		s.banned = now.Add(l.Ban)
		s.violation(false, "banned by Cloudflare: %d invalid requests", len(s.invalid))
	}
}

// When a Drop happens.
const (
	DuringUpload = "upload" // the connection is cut before the body has come
	BeforeDone   = "before" // the connection is cut and nothing was done
	AfterDone    = "after"  // all was done, and the connection is cut without an answer
	HalfWay      = "half"   // all was done, and the answer breaks off in the middle
)

// A Fault is trouble for chosen requests.
type Fault struct {
	Route      string // "POST /channels/{channel_id}/messages"; "" is every route
	Path       string // only paths that hold this, such as a channel's id
	Files      bool   // only requests that carry files
	Skip       int    // let so many pass first
	Times      int    // then strike so many; 0 is once, -1 is for ever
	Every      int    // strike only each so-many-th; 0 and 1 are all
	Delay      time.Duration
	Pause      time.Duration // before each KiB of the body is read
	Drop       string        // DuringUpload, BeforeDone, AfterDone or HalfWay
	Status     int           // answer this and do nothing: 500, 502, 503, 403, 429, …
	RetryAfter time.Duration // of a 429
	Scope      string        // of a 429: "user", "global", "shared"
	HTML       bool          // what Cloudflare says instead of JSON
	Code       int           // Discord's error code of a Status, e.g. 50013
	Message    string
	Meanwhile  func() // called before a connection is cut by BeforeDone or AfterDone; may be nil

	seen, struck int
	over         bool
}

// Fault adds trouble; faults strike in the order in which they were added, one
// for a request. The function that it returns takes it away.
func (s *Server) Fault(f Fault) (end func()) {
	f.Times = cmp.Or(f.Times, 1)
	s.locked(func() { s.faults = append(s.faults, &f) })
	return func() { s.locked(func() { f.over = true }) }
}

// cut ends the connection without an answer.
func (f *Fault) cut() {
	if f.Meanwhile != nil {
		f.Meanwhile()
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) fault(r *request) *Fault {
	for _, f := range s.faults {
		if f.over || f.Route != "" && f.Route != r.Route || !strings.Contains(r.Path, f.Path) || f.Times >= 0 && f.struck >= f.Times ||
			f.Files && !strings.HasPrefix(r.client.Header.Get("Content-Type"), "multipart/") {
			continue
		}
		f.seen++
		if f.seen <= f.Skip || f.Every > 1 && (f.seen-f.Skip)%f.Every != 0 {
			continue
		}
		f.struck++
		return f
	}
	return nil
}

func (f *Fault) answer(r *request, a *answer) {
	switch {
	case f.HTML:
		a.html(f.Status)
		if f.RetryAfter > 0 {
			a.header.Set("Retry-After", wholeSeconds(f.RetryAfter))
		}
	case f.Status == 429 && f.Code == 0:
		scope := cmp.Or(f.Scope, "user")
		a.tooMany(f.RetryAfter, scope)
		if scope != "global" {
			a.bucket(r, 1, 0, f.RetryAfter)
		}
	default:
		a.code = f.Code
		a.json(f.Status, object{"code": f.Code, "message": cmp.Or(f.Message, itoa(f.Status)+": "+http.StatusText(f.Status))})
	}
}
