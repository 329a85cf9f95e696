package outbox

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// The kinds of decorations, which follow posts but not in their order. Of the
// decorations with the same platform, kind and key only the newest is done. The most
// urgent first:
const (
	Ending   = "ending"   // ends the indicator that the bot is thinking, after a restart or once NotBefore has passed
	Attach   = "attach"   // adds a picture or file to a message; dropped once a newer board was shown
	Header   = "header"   // updates the status message of a game
	Clear    = "clear"    // removes the controls of a message; sleeps until something newer of the game was shown
	Reaction = "reaction" // adds reactions to a message
	Close    = "close"    // archives the thread of a finished game, after all Clear of the game; Key is the thread
)

// priority is the order of those that have waited equally long. Urgent ones wait as little
// as posts do, to which they belong.
var priority = map[string]int{Ending: 0, Attach: urgent, Header: 2, Clear: 3, Reaction: 4, Close: 5}

const urgent = 1 // the highest priority of urgent kinds

// Decorations are changes of stored decorations. Put are new rows, which replace older
// ones of their platform, kind and key. Changed are rows that have woken or been tried;
// they are changed if they still exist. Gone are rows that are done.
type Decorations struct {
	Put, Changed, Gone []Row
	Holder             string // of the unit of their room, as which they are stored; empty: any
}

// A Row is a decoration.
type Row struct {
	Platform, Channel, Thread string
	Game                      string // empty: none
	Kind, Key                 string // of those of a platform, kind and key the newest counts
	Seq                       int    // of the game when it was stored
	Of                        string // kind of the post that it follows; empty: none
	Target, Data              string // receipt of the message that it changes; what the adapter needs
	Messages                  int    // how many it sends; 0: one. It is not stored
	Every                     time.Duration
	NotBefore, NotAfter       time.Time
	Sleeps                    bool      // until something newer of the game was shown in the channel
	Attempt                   int       // how often it has failed
	N                         int64     // a newer row has a higher one
	Since                     time.Time // when it could first have been sent, or one that it replaced. It is not stored
}

func (r Row) messages() int { return max(1, r.Messages) }

type id struct{ platform, kind, key string }

func (r Row) id() id { return id{r.Platform, r.Kind, r.Key} }

// Where returns the place of the message that it changes.
func (r Row) Where() match.Room {
	return match.Room{Platform: r.Platform, Channel: r.Channel, Thread: r.Thread}
}

type place struct{ platform, channel, game string }

func (r Row) place() place { return place{r.Platform, r.Channel, r.Game} }

// atOnce is how many decorations of a platform are sent at once.
const atOnce = 4

// A queue holds the pending decorations, and the accounts of the platforms. Its methods
// may be called concurrently.
type queue struct {
	accounts accounts

	mu      sync.Mutex
	n       int64
	rows    map[id]Row
	places  map[place]map[id]bool // of the rows of a game in a channel
	awake   map[id]bool           // rows that do not sleep
	busy    map[id]bool           // being sent
	sending map[string]int        // how many of a platform are
	last    map[id]time.Time      // until when a row that names Every is not sent again
}

// newQueue returns an empty queue that numbers its rows from n on. Rows stored before
// must have lower numbers.
func newQueue(n int64) *queue {
	return &queue{n: n, rows: map[id]Row{}, places: map[place]map[id]bool{}, awake: map[id]bool{}, busy: map[id]bool{},
		sending: map[string]int{}, last: map[id]time.Time{}}
}

// Number sets the N of new rows.
func (q *queue) Number(rows []Row) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range rows {
		q.n++
		rows[i].N = q.n
	}
}

// Put adds numbered rows. Of rows with the same platform, kind and key it keeps the
// newest.
func (q *queue) Put(rows ...Row) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range rows {
		q.n = max(q.n, r.N)
		if was, ok := q.rows[r.id()]; ok && was.N > r.N {
			continue
		}
		r.Since = q.rows[r.id()].Since
		q.remove(r.id())
		q.rows[r.id()] = r
		if q.places[r.place()] == nil {
			q.places[r.place()] = map[id]bool{}
		}
		q.places[r.place()][r.id()] = true
		if !r.Sleeps {
			q.awake[r.id()] = true
		}
	}
}

func (q *queue) remove(i id) {
	r, ok := q.rows[i]
	if !ok {
		return
	}
	delete(q.rows, i)
	delete(q.awake, i)
	if in := q.places[r.place()]; in != nil {
		if delete(in, i); len(in) == 0 {
			delete(q.places, r.place())
		}
	}
}

// Shown updates the queue after a post of a game was shown in a channel: older rows there
// that slept wake up, those that take the controls off a notice no longer wait, and a board
// drops the pending pictures of older boards. It returns the rows that woke and those that
// it dropped.
func (q *queue) Shown(platform, channel, game string, seq int, board bool) (woken, dropped []Row) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.places[place{platform, channel, game}] {
		r := q.rows[i]
		switch {
		case r.Seq >= seq:
		case r.Sleeps, r.Kind == Clear && r.Of == match.Notice && !r.NotBefore.IsZero(): // a question that is moot
			r.Sleeps, r.NotBefore = false, time.Time{}
			q.rows[i], q.awake[i] = r, true
			woken = append(woken, r)
		case r.Kind == Attach && board && r.Of != "notice":
			q.remove(i)
			dropped = append(dropped, r)
		}
	}
	byN := func(a, b Row) int { return cmp.Compare(a.N, b.N) }
	slices.SortFunc(woken, byN)
	slices.SortFunc(dropped, byN)
	return woken, dropped
}

// Next returns the row to send now, which belongs to the caller until Done, Later or
// Drop: of a platform the one that has waited longest, so that none waits for ever. If
// there is none it returns when to ask again; zero: after the next change.
func (q *queue) Next(now time.Time) (_ Row, ok bool, again time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := map[string]Row{} // by platform
	for i := range q.awake {
		r := q.rows[i]
		a := q.accounts.of(r.Platform)
		if q.busy[i] || q.sending[r.Platform] >= a.atOnce(now, atOnce) {
			continue // Done will be called
		}
		if r.Kind == Close && q.clears(r.place()) {
			continue // until those are done
		}
		from := r.NotBefore
		if last := q.last[i]; last.After(from) && !last.After(now.Add(r.Every)) { // else the clock was ahead
			from = last
		}
		if now.Before(from) {
			again = sooner(again, from)
			continue
		}
		if r.Since.IsZero() {
			r.Since = now
			q.rows[i] = r
		}
		if f, ok := first[r.Platform]; !ok || before(r, f) {
			first[r.Platform] = r
		}
	}
	var next Row
	for platform, r := range first {
		a := q.accounts.of(platform)
		from := a.held(now)
		if priority[r.Kind] > urgent {
			from = now.Add(a.Wait(now, r.messages(), now.Sub(r.Since)))
		}
		if now.Before(from) {
			again = sooner(again, from)
		} else if !ok || before(r, next) {
			next, ok = r, true
		}
	}
	if !ok {
		return Row{}, false, again
	}
	q.busy[next.id()] = true
	q.sending[next.Platform]++
	q.accounts.of(next.Platform).Spend(now, next.messages())
	return next, true, time.Time{}
}

// clears reports whether controls of a game are still to be removed in a channel, apart
// from those of messages that nothing has made obsolete.
func (q *queue) clears(in place) bool {
	for i := range q.places[in] {
		if r := q.rows[i]; r.Kind == Clear && !r.Sleeps {
			return true
		}
	}
	return false
}

// before reports whether a must be sent before b: urgent ones first, then those that have
// waited longest.
func before(a, b Row) bool {
	p, q := priority[a.Kind], priority[b.Kind]
	return cmp.Or(cmp.Compare(min(p, urgent+1), min(q, urgent+1)), a.Since.Compare(b.Since), cmp.Compare(p, q), cmp.Compare(a.N, b.N)) < 0
}

// free ends the caller's hold on a row.
func (q *queue) free(r Row) {
	if q.busy[r.id()] {
		delete(q.busy, r.id())
		q.sending[r.Platform]--
	}
}

// Done removes a row that was sent, or never will be.
func (q *queue) Done(r Row, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(r)
	if q.rows[r.id()].N == r.N {
		q.remove(r.id())
	}
	for i, until := range q.last { // few: only rows with Every
		if !now.Before(until) {
			delete(q.last, i)
		}
	}
	if r.Every > 0 {
		q.last[r.id()] = now.Add(r.Every)
	}
}

// Later postpones a row that could not be sent. It returns the row to store, and false
// if a newer one has replaced it.
func (q *queue) Later(r Row, at time.Time, failed bool) (Row, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(r)
	if q.rows[r.id()].N != r.N {
		return r, false
	}
	if r.NotBefore = at; failed {
		r.Attempt++
	}
	q.rows[r.id()] = r
	return r, true
}

// Drop removes the row of a platform, kind and key, and returns it if it was there.
func (q *queue) Drop(platform, kind, key string) (Row, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := id{platform, kind, key}
	r, ok := q.rows[i]
	q.remove(i)
	return r, ok
}
