package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Rate is so many requests in a window.
type Rate struct {
	N   int
	Per time.Duration
}

// Limits are the buckets of the double. Only Global and Invalid are documented
// by Discord; the rest must be read from headers, and tests should vary it.
type Limits struct {
	Global  Rate            // of requests with the bot's token, interaction routes excepted
	Invalid Rate            // 401, 403 and 429 (not shared) before Cloudflare shuts the door
	Ban     time.Duration   // for how long
	Routes  map[string]Rate // by route
	Default Rate            // of routes that are not in Routes; N 0 means none
	Scope   string          // said by a bucket's 429: "user" when empty, or "shared"
}

// DefaultLimits are the documented ones, with buckets of the usual size.
func DefaultLimits() *Limits {
	return &Limits{
		Global:  Rate{50, time.Second},
		Invalid: Rate{10_000, 10 * time.Minute},
		Ban:     10 * time.Minute,
		Default: Rate{10, time.Second},
		Routes: map[string]Rate{
			"POST /channels/{channel_id}/messages":                               {5, 5 * time.Second},
			"PATCH /channels/{channel_id}/messages/{message_id}":                 {5, 5 * time.Second},
			"DELETE /channels/{channel_id}/messages/{message_id}":                {5, time.Second},
			"POST /channels/{channel_id}/typing":                                 {5, 5 * time.Second},
			"PATCH /channels/{channel_id}":                                       {5, 15 * time.Second},
			routeCallback:                                                        {},
			"POST /webhooks/{webhook_id}/{webhook_token}":                        {5, 2 * time.Second},
			"GET /webhooks/{webhook_id}/{webhook_token}/messages/@original":      {5, 2 * time.Second},
			"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original":    {5, 2 * time.Second},
			"DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original":   {5, 2 * time.Second},
			"GET /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}":   {5, 2 * time.Second},
			"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": {5, 2 * time.Second},
			"PUT /applications/{application_id}/commands":                        {5, 20 * time.Second},
			"GET /gateway/bot": {2, 5 * time.Second},
		},
	}
}

// NoLimits has no bucket at all.
func NoLimits() *Limits { return &Limits{} }

// A bucket is a fixed window that starts with its first request.
type bucket struct {
	used  int
	start time.Time
}

// take uses one of a rate; when none is left it says how long until the window
// ends.
func (b *bucket) take(rate Rate, now time.Time) (wait time.Duration, ok bool) {
	if now.Sub(b.start) >= rate.Per || now.Before(b.start) {
		b.used, b.start = 0, now
	}
	if b.used >= rate.N {
		return rate.Per - now.Sub(b.start), false
	}
	b.used++
	return 0, true
}

// limit applies the global limit and the route's bucket and writes the headers.
func (s *Server) limit(r *request, a *answer) error {
	l := s.o.Limits
	if l.Global.N > 0 && r.Authorized {
		if wait, ok := s.global.take(l.Global, r.now); !ok {
			s.tooMany(a, wait, "global")
			return refuse(429, 0, "")
		}
	}
	rate, known := l.Routes[r.route.name]
	if !known {
		rate = l.Default
	}
	if rate.N == 0 {
		return nil
	}
	name := bucketName(r.route.name)
	key := name + ":" + top(r)
	b := s.buckets[key]
	if b == nil {
		b = &bucket{}
		s.buckets[key] = b
	}
	wait, ok := b.take(rate, r.now)
	reset := b.start.Add(rate.Per)
	a.header.Set("X-RateLimit-Limit", itoa(rate.N))
	a.header.Set("X-RateLimit-Remaining", itoa(rate.N-b.used))
	a.header.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(reset.UnixMilli())/1000, 'f', 3, 64))
	a.header.Set("X-RateLimit-Reset-After", seconds(reset.Sub(r.now)))
	a.header.Set("X-RateLimit-Bucket", name)
	if !ok {
		scope := l.Scope
		if scope == "" {
			scope = "user"
		}
		s.tooMany(a, wait, scope)
		return refuse(429, 0, "")
	}
	if len(s.buckets) > max(s.pruneAt, 10_000) {
		for k, old := range s.buckets {
			if r.now.Sub(old.start) > time.Minute {
				delete(s.buckets, k)
			}
		}
		s.pruneAt = 2 * len(s.buckets)
	}
	return nil
}

// bucketName is the hash that Discord shows. Routes of one webhook token share
// theirs.
func bucketName(route string) string {
	if strings.Contains(route, "/webhooks/{webhook_id}/{webhook_token}") {
		route = "webhook"
	}
	sum := sha256.Sum256([]byte(route))
	return hex.EncodeToString(sum[:16])
}

// top is the resource that a bucket counts by.
func top(r *request) string {
	for _, key := range []string{"webhook_token", "channel_id", "guild_id", "interaction_token"} {
		if v := r.params[key]; v != "" {
			return v
		}
	}
	return ""
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(d.Seconds(), 0.001), 'f', 3, 64)
}

// tooMany writes a 429. As documented, the global one says only when to come
// back, that it is global, and its scope.
func (s *Server) tooMany(a *answer, wait time.Duration, scope string) {
	a.status = 429
	a.header.Set("X-RateLimit-Scope", scope)
	a.header.Set("Retry-After", itoa(int(math.Ceil(wait.Seconds()))))
	if scope == "global" {
		a.header.Set("X-RateLimit-Global", "true")
	}
	a.text, _ = json.Marshal(object{
		"message": "You are being rate limited.", "retry_after": math.Ceil(wait.Seconds()*1000) / 1000,
		"global": scope == "global", "code": 0,
	})
}

func (a *answer) html(status int, text string) {
	a.status = status
	a.header.Set("Content-Type", "text/html; charset=UTF-8")
	a.header.Set("Server", "cloudflare")
	a.text = []byte("<!doctype html><html><head><title>Access denied</title></head><body>" + text + "</body></html>\n")
}

// countInvalid counts towards the ban.
func (s *Server) countInvalid(a *answer) {
	l := s.o.Limits
	if a.status != 401 && a.status != 403 && (a.status != 429 || a.header.Get("X-RateLimit-Scope") == "shared") {
		return
	}
	now := s.now()
	s.invalid = append(s.invalid, now)
	for len(s.invalid) > 0 && now.Sub(s.invalid[0]) >= 10*time.Minute {
		s.invalid = s.invalid[1:]
	}
	recent := 0
	for _, at := range s.invalid {
		if now.Sub(at) < l.Invalid.Per {
			recent++
		}
	}
	if l.Invalid.N > 0 && recent >= l.Invalid.N {
		s.banned = now.Add(l.Ban)
		s.violation(false, "banned by Cloudflare: %d invalid requests", len(s.invalid))
	}
}

// Invalid is how many requests in the last ten minutes count towards
// Cloudflare's ban: 401, 403 and 429, shared ones excepted.
func (s *Server) Invalid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, at := range s.invalid {
		if s.now().Sub(at) < 10*time.Minute {
			n++
		}
	}
	return n
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

	seen, struck int
	over         bool
}

// Fault adds trouble; faults strike in the order in which they were added, one
// for a request. The function that it returns takes it away.
func (s *Server) Fault(f Fault) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.over = true
	}
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

func (f *Fault) answer(s *Server, r *request, a *answer) {
	switch {
	case f.HTML:
		a.html(f.Status, map[bool]string{true: "error code: 1015", false: "error code: " + itoa(f.Status)}[f.Status == 429])
		if f.RetryAfter > 0 {
			a.header.Set("Retry-After", itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		}
	case f.Status == 429:
		scope := f.Scope
		if scope == "" {
			scope = "user"
		}
		s.tooMany(a, f.RetryAfter, scope)
		if scope != "global" {
			a.header.Set("X-RateLimit-Bucket", bucketName(r.Route))
			a.header.Set("X-RateLimit-Remaining", "0")
			a.header.Set("X-RateLimit-Limit", "1")
			a.header.Set("X-RateLimit-Reset-After", seconds(f.RetryAfter))
			a.header.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(r.now.Add(f.RetryAfter).UnixMilli())/1000, 'f', 3, 64))
		}
	default:
		message := f.Message
		if message == "" {
			message = itoa(f.Status) + ": " + http.StatusText(f.Status)
		}
		a.status, a.code = f.Status, f.Code
		a.text, _ = json.Marshal(object{"code": f.Code, "message": message})
	}
}
