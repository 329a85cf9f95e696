// Package web is the local room: a page on which people type commands, sit in
// the seats of Black and White, and see what a chat platform would show. It is
// the whole bot without an account anywhere. It also serves the pages of games, those of
// other platforms too: /g/… shows a game and each of its positions to whoever has the
// address, if the room of the game permits it, /p/… does so for a record that somebody brought,
// and /r/… recites a ruleset.
//
// The page talks to the room by HTTP. It posts what is typed to /ask, under an
// id that it makes once for each thing said and uses again when it must retry.
// It follows the transcript by server-sent events from /events; the id of an
// event is the number of its message, so a page that comes back with the last
// number that it saw gets all that it missed, once. The transcript is a
// [bot.RoomLog]: the room itself holds nothing that must not be lost.
//
// Anyone who can open the page can play, so the room listens on the loopback
// interface unless it has an owner token, and checks for every request which host
// it was sent to and which page sent it: any page that the same browser has open
// can reach the loopback interface too. A moderator is somebody who has given the
// owner token; being on the same machine gives no rights.
package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"

	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/internal/lru"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// platform is the name of this adapter, and channel the one room that it has.
const (
	platform = "web"
	channel  = "local"
)

// Config says how a room is kept.
type Config struct {
	Listen     string           // address; empty is 127.0.0.1:8080, port 0 is any free one
	Log        Store            // keeps the transcript
	Hosts      []string         // names by which others reach the room, beside the loopback ones: "go.example.org"
	PublicURL  string           // where others reach the room: "https://go.example.org"; empty: as each request says
	OwnerToken secret.Text      // makes somebody a moderator; empty: nobody is, and only this machine gets in
	Shared     bool             // other processes use the store at the same time, and requests go to any of them
	Person     int              // requests a minute of one person on other platforms, from which the limits follow; 0: 60
	Channel    int              // and of all in a channel; 0: 120
	Ready      func(url string) // called when the room answers; may be nil
	Logger     *slog.Logger     // nil logs nothing
	Now        func() time.Time // the clock of messages; nil: time.Now

	// Open opens the listener; nil: net.Listen.
	Open func(network, address string) (net.Listener, error)
}

// A Store keeps the transcripts and the holders of names.
type Store interface {
	bot.RoomLog
	// Person returns the id of a person, creating it if necessary, and People the users
	// behind ids, without those erased or unknown.
	Person(ctx context.Context, who outbox.User) (match.PersonID, error)
	People(ctx context.Context, ids []match.PersonID) (map[match.PersonID]outbox.User, error)
	// Known returns a person with their settings.
	Known(ctx context.Context, who outbox.User, where match.Room, request string) (rooms.Known, error)
	// Answered returns the stored answer to a request, if there is one.
	Answered(ctx context.Context, request string) (match.Reply, bool, error)
	// Match returns a game and its events, or bot.ErrNotFound.
	Match(ctx context.Context, id match.GameID) (match.Match, []match.Event, error)
	// Contest returns an event and its log, or bot.ErrNotFound.
	Contest(ctx context.Context, id contest.ID) (contest.Head, []contest.Event, error)
	// Boards returns the newest public board of each unfinished game of a room, as
	// messages in order; if there are more than limit, the newest.
	Boards(ctx context.Context, room match.Room, limit int) ([]outbox.Message, error)
	// Trim deletes the oldest messages until what is left takes at most so many bytes.
	Trim(ctx context.Context, bytes int64) error
	// Opened counts the unfinished games that were opened under the names that belong to a
	// secret, without those of the seats, which change hands.
	Opened(ctx context.Context, platform, secret string) (int, error)
	// Holder returns the holder of a name or seat, or bot.ErrNotFound.
	Holder(ctx context.Context, platform, id string) (bot.Holder, error)
	// Hold makes h the holder if there is none or if the present one has the secret of seen,
	// and is kept as that was. It returns the holder that there is then; or bot.ErrAlike, if there was none
	// and somebody with another secret holds a name that looks like that of h. KeepHolder
	// changes how long a holder is kept, and reports whether h is the holder.
	Hold(ctx context.Context, h, seen bot.Holder) (bot.Holder, error)
	KeepHolder(ctx context.Context, h bot.Holder) (bool, error)
	// AddRecord stores a record: bot.ErrTooMany if its browser has most already, bot.ErrFull if
	// there is no room for any. Record returns one, or bot.ErrNotFound, and Records those of a
	// browser without their texts, the newest first. KeepRecord stores whether one is shared,
	// and when it was visited; VisitRecord that alone, if it is still shared.
	AddRecord(ctx context.Context, r bot.Record, most int) error
	Record(ctx context.Context, slug string) (bot.Record, error)
	Records(ctx context.Context, browser string) ([]bot.Record, error)
	KeepRecord(ctx context.Context, slug string, shared bool, visited time.Time) error
	VisitRecord(ctx context.Context, slug string, visited time.Time) error
	DeleteRecord(ctx context.Context, slug string, act *match.Act) error
	// Release lets anybody hold a name or seat again. There need not be a holder. It and
	// DeleteRecord store what a moderator did by that, if it is not nil.
	Release(ctx context.Context, platform, id string, act *match.Act) error
	// Link returns the browser or the address that has a secret, by its hash, or
	// bot.ErrNotFound. Unlink makes a browser nobody again.
	Link(ctx context.Context, secret string) (bot.Link, error)
	Unlink(ctx context.Context, secret string) error
}

// A Room is the adapter of the local room. It is a [bot.Adapter].
type Room struct {
	cfg     Config
	log     *slog.Logger
	answers cache[string, extras]            // by key of the message, or by ownKey
	boards  cache[boardKey, *board]          // of this room's games
	drawn   cache[string, []byte]            // pictures, by tag, theme, layout and size
	pages   cache[string, made]              // for those who only watch
	changed cache[<-chan struct{}, bot.View] // games after a change, for those who follow them
	frames  *lru.Cache[int64, []byte]        // messages as events, by number
	slow    time.Duration                    // a reader who takes longer for what is sent is dropped
	wake    chan struct{}                    // wakes the publisher
	limits  limits
	working chan struct{} // held while a costly command is carried out
	visits  chan struct{} // holds an entry while something is made for a page
	up      intake.State  // the room answers
	event   intake.Mark   // somebody sent something
	grown   atomic.Int64  // bytes that the transcript has grown since it was trimmed

	mu           sync.Mutex
	readers      map[*stream]bool
	streams      int            // to readers and followers of games
	clients      map[string]int // how many of them go to an address
	backlog      []entry        // what readers may still have to read
	backlogBytes int
	dropped      int              // entries that were in the backlog before
	published    int64            // number of the last message that was collected; collecting guards it, too
	seats        map[string]*seat // Black's and White's, by the id of the person; the map itself does not change
}

// extras come with an answer. The room keeps the newest in memory, and asks again for those that
// it does not have: another process may have answered, or it was before the start.
type extras struct {
	drawing *drawing
	file    *outbox.File
}

// New makes a room.
func New(cfg Config) *Room {
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:8080"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Open == nil {
		cfg.Open = net.Listen
	}
	return &Room{
		cfg:     cfg,
		log:     cfg.Logger.With("adapter", platform),
		answers: cache[string, extras]{Cache: lru.New[string, extras](500)},
		boards:  cache[boardKey, *board]{Cache: lru.New[boardKey, *board](256)},
		drawn:   cache[string, []byte]{Cache: lru.New[string, []byte](128)},
		pages:   cache[string, made]{Cache: lru.New[string, made](64)},
		changed: cache[<-chan struct{}, bot.View]{Cache: lru.New[<-chan struct{}, bot.View](64)},
		frames:  lru.New[int64, []byte](2 * history),
		slow:    10 * time.Second,
		wake:    make(chan struct{}, 1),
		limits:  newLimits(cfg.Person, cfg.Channel),
		working: make(chan struct{}, 1),
		visits:  make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		readers: map[*stream]bool{},
		clients: map[string]int{},
	}
}

// A cache makes each value once for all who want it at the same time, and keeps it.
type cache[K comparable, V any] struct {
	*lru.Cache[K, V]
	flight singleflight.Group
}

func (c *cache[K, V]) get(key K, make func() (V, error)) (V, error) {
	if v, ok := c.Get(key); ok {
		return v, nil
	}
	v, err, _ := c.flight.Do(fmt.Sprint(key), func() (any, error) {
		if v, ok := c.Get(key); ok { // made since
			return v, nil
		}
		v, err := make()
		if err == nil {
			c.Add(key, v)
		}
		return v, err
	})
	return v.(V), err
}

// Name is "web".
func (r *Room) Name() string { return platform }

// Health tells whether the room answers. It has no heartbeat.
func (r *Room) Health() bot.Health {
	h := bot.Health{Event: r.event.At(), Refused: r.limits.refused()}
	h.Connected, h.Since = r.up.Is()
	return h
}

// Deliver puts a post into the transcript. A private one goes into a transcript
// of its own for each person whom it notifies. The receipt is the number of the
// message, or of each of them, "12,14". Pages that have none of those that a post
// takes away do nothing.
func (r *Room) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if p.Where.Platform != platform || p.Where.Channel != channel {
		return "", nil, outbox.ErrGone
	}
	m := r.line(p)
	if !p.Private || p.Kind == match.Remove {
		said, err := r.say(ctx, m)
		return receipt(said), nil, err
	}
	var receipts []string
	for i, who := range p.Notify {
		m.Key, m.Room, m.Notify = p.ID+"/"+who.ID, privateRoom(who), p.Stored.Notify[i:i+1]
		said, err := r.say(ctx, m)
		if err != nil {
			return "", nil, err
		}
		receipts = append(receipts, string(receipt(said)))
	}
	return outbox.Receipt(strings.Join(receipts, ",")), nil, nil
}

// line returns a post as a message of the transcript, and keeps its board for the
// pages.
func (r *Room) line(p outbox.Post) outbox.Message {
	if p.Scene != nil && p.Game != "" && p.Kind == match.Show {
		r.boards.Add(boardKey{p.Game, p.Seq}, newBoard(*p.Scene, p.Path))
	}
	m := outbox.Message{Key: p.ID, Room: channel, At: r.cfg.Now(), Texts: p.Stored.Texts, Lang: p.Lang, Number: p.Number, Game: p.Game, Seq: p.Seq,
		Kind: p.Kind, Removed: p.Kind == match.Remove, Notify: p.Stored.Notify, Controls: p.Controls, File: p.File}
	if m.Texts == nil { // no words of the bot itself
		m.Text = p.Text
	}
	picture, _ := p.Picture()
	if q := p.Stored.Question; q != nil && (p.File != nil || picture != nil) {
		if d := q.Args["diagram"]; len(d) <= maxKeptDiagram && utf8.ValidString(d) {
			m.Question = q
		}
	}
	if p.File != nil && m.Question != nil {
		m.File = &outbox.File{Name: p.File.Name, Type: p.File.Type}
	}
	if p.Kind == match.Answer {
		m.Kind = ""
	}
	if p.Sheet != nil && p.Kind == match.Notice { // so that its table is drawn again, see show
		m.Kind = match.Sheet
	}
	if p.Replaces != "" {
		m.Kind += " " + p.Replaces
	}
	return m
}

func receipt(m outbox.Message) outbox.Receipt { return outbox.Receipt(strconv.FormatInt(m.N, 10)) }

// privateRoom names the transcript of one person's private messages.
func privateRoom(who outbox.User) string { return channel + "/" + who.ID }

// replaced reads what line wrote: the kind of the post, and the messages that
// it takes the place of or removes.
func replaced(m outbox.Message) (kind string, ns []int64) {
	kind, receipts, _ := strings.Cut(m.Kind, " ")
	for receipt := range strings.SplitSeq(receipts, ",") {
		if n, err := strconv.ParseInt(receipt, 10, 64); err == nil {
			ns = append(ns, n)
		}
	}
	return kind, ns
}

// say puts a message into its transcript, once, and wakes the publisher.
func (r *Room) say(ctx context.Context, m outbox.Message) (outbox.Message, error) {
	r.grow(m)
	m, err := r.cfg.Log.Append(ctx, m)
	if err != nil {
		return m, fmt.Errorf("web: transcript: %w", err)
	}
	r.wakePublisher()
	return m, nil
}

// grow counts a message that is about to be added to a transcript.
func (r *Room) grow(m outbox.Message) {
	r.grown.Add(int64(500 + len(m.Text))) // with its key, times, texts and controls
}

// Look makes the room look for lines that another process has stored. It does so by itself, too,
// but later.
func (r *Room) Look() { r.wakePublisher() }

func (r *Room) wakePublisher() {
	select {
	case r.wake <- struct{}{}:
	default: // it has not looked yet, and will
	}
}

// Forgotten drops all that was made ready from the transcript, and has every page begin anew:
// somebody was taken out of it.
func (r *Room) Forgotten() {
	r.purge()
	r.answers.Purge()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped += len(r.backlog)
	r.backlog, r.backlogBytes = nil, 0
	for st := range r.readers {
		st.anew = true
		st.notify()
	}
}
