package web

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
)

// The room limits what a browser may do, and what all browsers of an address may do
// together. A browser can be made up anew for each request, an address cannot. Somebody
// who plays both seats as fast as they can click, or a dozen people behind one address,
// stay far below the limits. Limits live in memory: after a restart they begin anew.

// Requests a minute on other platforms, of a person and of all in a channel.
const (
	personPerMinute  = 60
	channelPerMinute = 120
)

// A request without a cookie counts as strangersPay requests of the one browser that all
// such clients of an address are.
const strangersPay = 5

// costly lists the commands that take much time of the processor or the database, in
// units of about 0.1 seconds.
var costly = map[string]float64{"replay": 5, "privacy": 5, "compare": 2, "sgf": 1, "score": 1, "show": 1, "setup": 1, bringing: 2}

// opening lists the commands that may open a game.
var opening = []string{"new", "rematch", "setup"}

// maxOpen is how many unfinished games the holder of names and seats may have opened, as
// many as one person may by default.
const maxOpen = 20

// limits are the quotas of a room. The zero value allows everything.
type limits struct {
	requests quota
	bytes    quota         // of what is sent to the room
	reads    quota         // pages, pictures, files, suggestions; some count as several
	names    quota         // that nobody held before
	games    quota         // that are opened
	records  quota         // that are brought
	kept     *intake.Limit // bytes of these, of an address: a browser can be made up anew
	costly   quota         // in the units of costly
	guesses  *intake.Limit // of the owner token, by address
}

// What counts as several reads.
const (
	streamReads = 5
	drawReads   = 5 // a picture for visitors, which may take a tenth of a second to draw, and all others wait for it
)

// newLimits returns the limits where other platforms allow a person and a channel so many
// requests a minute; 0: the default.
func newLimits(person, channel int) limits {
	browser := 2 * float64(cmp.Or(person, personPerMinute)) // it plays both seats
	address := 4 * float64(cmp.Or(channel, channelPerMinute))
	return limits{
		requests: quota{intake.New(browser/4, browser), intake.New(address/4, address)},
		bytes:    quota{intake.New(8<<20, 1<<20), intake.New(32<<20, 8<<20)},
		reads:    quota{intake.New(500, 1200), intake.New(5000, 6000)},
		names:    quota{intake.New(10, 1./6), intake.New(40, 1)},
		games:    quota{intake.New(20, 2), intake.New(60, 6)},
		records:  quota{intake.New(20, 2), intake.New(60, 6)},
		kept:     intake.New(32<<20, (32<<20)/(24*60.)),
		costly:   quota{intake.New(20, 20), intake.New(80, 80)},
		guesses:  intake.New(10, 6),
	}
}

// A quota limits something for each browser and for each address.
type quota struct{ browser, address *intake.Limit }

// A client is a browser, by the hash of its secret, at an address. The secret of a client
// that keeps no cookies is empty.
type client struct{ browser, address string }

func clientOf(r *http.Request) client {
	browser := browserOf(r)
	if secret := linkedSecret(r); browser == "" && secret != "" { // the pages of games set no cookie
		browser = bot.HashSecret(secret)
	}
	return client{browser, addressOf(r)}
}

// spend counts n for a client if both limits allow it. Otherwise it returns after how long
// they would, and whether it is for the sake of others at the address.
func (q quota) spend(c client, n float64, now time.Time) (wait time.Duration, others bool) {
	key := cmp.Or(c.browser, "at "+c.address)
	if wait := q.browser.Spend(key, n, now); wait > 0 {
		return wait, false
	}
	wait = q.address.Spend(c.address, n, now)
	if wait > 0 {
		q.browser.Spend(key, -n, now)
	}
	return wait, wait > 0
}

// refused returns how often each limit has refused something.
func (l limits) refused() map[string]uint64 {
	all := map[string]uint64{"storage_limit": l.kept.Refused(), "owner_token_limit": l.guesses.Refused()}
	for reason, q := range map[string]quota{"request_limit": l.requests, "byte_limit": l.bytes, "read_limit": l.reads, "name_limit": l.names,
		bot.RefusedManyGames: l.games, "record_limit": l.records, "cost_limit": l.costly} {
		all[reason] = q.browser.Refused() + q.address.Refused()
	}
	return all
}

// seconds is at least 2, so that the texts need no singular.
func seconds(d time.Duration) int { return max(2, int(math.Ceil(d.Seconds()))) }

// slowDown refuses a request that came too soon, in words for a reader of lang.
func slowDown(w http.ResponseWriter, lang string, wait time.Duration, others bool) {
	text := wordFast
	if others {
		text = wordCrowd
	}
	w.Header().Set("Retry-After", strconv.Itoa(seconds(wait)))
	http.Error(w, bot.Translated(lang, text, strconv.Itoa(seconds(wait))), http.StatusTooManyRequests)
}

// reading limits how often a client reads what h sends.
func (s *server) reading(n float64, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if wait, others := s.limits.reads.spend(clientOf(r), n, s.cfg.Now()); wait > 0 {
			slowDown(w, browserLanguage(r), wait, others)
			return
		}
		h(w, r)
	}
}

// affords returns why a client cannot use a command now; nil: it can.
func (s *server) affords(ctx context.Context, c client, command string) (problem, error) {
	if slices.Contains(opening, command) {
		if c.browser != "" {
			switch n, err := s.cfg.Log.Opened(ctx, platform, c.browser); {
			case err != nil:
				return nil, err
			case n >= maxOpen:
				return problem{wordOpen, strconv.Itoa(n)}, nil
			}
		}
		if wait, _ := s.limits.games.spend(c, 1, s.cfg.Now()); wait > 0 {
			return problem{wordGames, strconv.Itoa(seconds(wait))}, nil
		}
	}
	if wait, _ := s.limits.costly.spend(c, costly[command], s.cfg.Now()); wait > 0 {
		return problem{wordCostly, strconv.Itoa(seconds(wait))}, nil
	}
	return nil, nil
}

// work holds the room's one slot for costly commands while it runs f.
func (s *server) work(ctx context.Context, command string, f func() error) error {
	if costly[command] > 0 {
		select {
		case s.working <- struct{}{}:
			defer func() { <-s.working }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f()
}
