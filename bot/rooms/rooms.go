// Package rooms knows the house that people play in: the rooms and the servers to which
// they belong, what these have chosen, and when nobody could come in.
//
// It also knows the time, because no clock of a game may run while the bot cannot: see
// [Rooms.Present].
package rooms

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// A Store keeps rooms, servers and outages. Its methods may be called concurrently.
type Store interface {
	// Person returns the id of a person, creating it if necessary, and stores their
	// current name.
	Person(ctx context.Context, who outbox.User) (match.PersonID, error)
	// People returns the users behind the ids, without those erased or unknown.
	People(ctx context.Context, ids []match.PersonID) (map[match.PersonID]outbox.User, error)
	// Known returns what is stored about a person, a channel and a request, in one
	// query.
	Known(ctx context.Context, who outbox.User, where match.Room, request string) (Known, error)
	// Channel returns what is stored about a channel.
	Channel(ctx context.Context, where match.Room) (Channel, error)
	// Rooms returns the settings of the channels of a server that have any, in the
	// order of their ids.
	Rooms(ctx context.Context, platform, server string) ([]match.RoomSettings, error)
	// Belongs stores to which server a channel belongs.
	Belongs(ctx context.Context, where match.Room, server string) error
	// Servers returns the known servers of a platform, in the order of their ids.
	Servers(ctx context.Context, platform string) ([]Server, error)
	// Left stores when the bot left a server; zero: it is there.
	Left(ctx context.Context, platform, server string, since time.Time) error
	// ForgetServer deletes a server, the games and events of its channels with all that
	// belongs to them, and people about whom nothing else is stored then.
	ForgetServer(ctx context.Context, platform, server string) error
	// Outages returns all stored outages, in the order of their beginning.
	Outages(ctx context.Context) ([]Outage, error)
	// ChangeOutages stores outages, or their ends, and deletes others. Platform, server
	// and beginning identify an outage. Repeating a call has no effect.
	ChangeOutages(ctx context.Context, put, drop []Outage) error
	// Bookmark and SetBookmark keep a text under a name.
	Bookmark(ctx context.Context, name string) (string, error)
	SetBookmark(ctx context.Context, name, value string) error
}

// A Channel is what the store knows about a channel.
type Channel struct {
	Settings match.RoomSettings // Room is always set, without a thread
	Server   Server             // to which the channel belongs, if one is known
	Lang     string             // BCP 47 tag of the language that the platform names; empty: none
	Parked   bool               // posts for the channel are parked
	Sealed   bool               // it is encrypted, or was once
}

// Known is what the store knows about a request and the person who makes it.
type Known struct {
	Person  match.PersonID // empty: seen for the first time, or erased
	Name    string         // the name stored last
	Prefs   match.Preferences
	Channel Channel
	Answer  *match.Reply // the stored answer to the request; nil: there is none yet
}

// Rooms are the rooms and servers of all platforms. Its methods may be called concurrently.
type Rooms struct {
	store Store
	log   *slog.Logger
	clock *steadyClock

	Shared bool // other processes use the store, too: what it holds is not remembered. Set it before anything else

	serving sync.Mutex               // one look at servers
	absence sync.Mutex               // one look at the time or change of outages; after serving
	outages atomic.Pointer[[]Outage] // all that are stored; nil: not read yet
	before  time.Time                // when the bot last ran before this start; absence
	beaten  atomic.Int64             // the last look at the time, in milliseconds of Unix time; 0: none yet

	rightSince atomic.Int64 // when the clock was last wrong, or WhenRight last did its work, in the same unit
}

// New returns the rooms in a store. now reads the machine's clock; elapsed returns the time
// since some moment, unaffected by changes of that clock, or is nil.
func New(store Store, now func() time.Time, elapsed func() time.Duration, log *slog.Logger) *Rooms {
	r := &Rooms{store: store, log: log, clock: newSteadyClock(now, elapsed)}
	r.rightSince.Store(r.Now().UnixMilli())
	return r
}

// A Place holds the settings that apply in a channel.
type Place struct {
	match.RoomSettings                    // what the channel has chosen, or else its server
	Own                match.RoomSettings // what the channel has chosen
	Server             Server             // to which the channel belongs, if one is known
	lang               string             // that the platform says it speaks
	sealed             bool
}

// Place loads the settings that apply in a channel.
func (r *Rooms) Place(ctx context.Context, where match.Room) (Place, error) {
	c, err := r.store.Channel(ctx, where)
	return c.Place(), err
}

// Place returns the settings that apply in the channel.
func (c Channel) Place() Place {
	return Place{RoomSettings: or(c.Settings, c.Server.Settings), Own: c.Settings, Server: c.Server, lang: c.Lang, sealed: c.Sealed}
}

// or returns rs with its default fields taken from other.
func or(rs, other match.RoomSettings) match.RoomSettings {
	since, listed := rs.Since, rs.Listed
	if rs.Pages == "" { // else it does not matter what the other does with its pages
		since, listed = later(since, other.Since), later(listed, other.Listed)
	}
	return match.RoomSettings{
		Room: rs.Room, Server: rs.Server,
		Rules: cmp.Or(rs.Rules, other.Rules), Size: cmp.Or(rs.Size, other.Size), Clock: cmp.Or(rs.Clock, other.Clock),
		Undo: cmp.Or(rs.Undo, other.Undo), Opens: cmp.Or(rs.Opens, other.Opens), Theme: cmp.Or(rs.Theme, other.Theme), Layout: cmp.Or(rs.Layout, other.Layout),
		Coords: cmp.Or(rs.Coords, other.Coords), Lang: cmp.Or(rs.Lang, other.Lang), Hints: cmp.Or(rs.Hints, other.Hints),
		Letters: cmp.Or(rs.Letters, other.Letters), Pages: cmp.Or(rs.Pages, other.Pages), Since: since, Listed: listed, Events: cmp.Or(rs.Events, other.Events),
	}
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// WithPages returns the settings that apply in the place, with Pages as they are where
// those of the platform's rooms are otherwise.
func (p Place) WithPages(otherwise match.Pages) match.RoomSettings {
	rs := p.RoomSettings
	rs.Pages = cmp.Or(rs.Pages, otherwise, match.NoPages)
	if p.sealed {
		rs.Pages = match.SealedPages
	}
	return rs
}

// Seal stores that a channel is encrypted: its games have no pages from now on.
func (r *Rooms) Seal(ctx context.Context, where match.Room) error {
	if c, err := r.store.Channel(ctx, where); err != nil || c.Sealed {
		return err
	}
	return r.store.SetBookmark(ctx, SealMark(where), "sealed")
}

// SealMark returns the name of the bookmark that says that a channel is encrypted.
func SealMark(where match.Room) string { return "bot:sealed:" + where.Platform + ":" + where.Channel }

// Language returns the language of a place: the one that its moderators have
// chosen, or the one that the platform names, or English.
func (p Place) Language() *text.Language { return text.BestLanguage(cmp.Or(p.Lang, p.lang)) }

// Look returns how pictures are drawn in the room, for a reader who may have chosen
// theme, layout and coordinates of their own.
func (p Place) Look(own match.Preferences) render.Options {
	return render.Options{Theme: cmp.Or(own.Theme, p.Theme), Layout: cmp.Or(own.Layout, p.Layout), Coordinates: cmp.Or(own.Coords, p.Coords)}
}

// A Visit is somebody asking for something in a room.
type Visit struct {
	Who     outbox.User // without an ID: an unknown reader; nothing is stored about them
	Where   match.Room
	Server  string // to which the room belongs; empty: none, or the bot is not in it
	Lang    string // BCP 47 tag of the language that the platform names for the room
	Request string // id
}

// Enter looks up the person and the room of a visit, and stores what it shows: the name of
// the person, the language and the server of the room, and that the bot is in that server.
func (r *Rooms) Enter(ctx context.Context, v Visit) (Known, error) {
	k, err := r.store.Known(ctx, v.Who, v.Where, v.Request)
	if err != nil {
		return k, err
	}
	if v.Server != "" && (k.Channel.Server.ID != v.Server || !k.Channel.Server.Left.IsZero()) {
		if err := r.meet(ctx, v.Where, v.Server); err != nil {
			return k, err
		}
		if k, err = r.store.Known(ctx, v.Who, v.Where, v.Request); err != nil { // the server and the person may have been forgotten meanwhile
			return k, err
		}
	}
	if v.Who.ID != "" && (k.Person == "" || v.Who.Name != "" && v.Who.Name != k.Name) {
		if k.Person, err = r.store.Person(ctx, v.Who); err != nil {
			return k, err
		}
		k.Prefs.Person = k.Person
	}
	// The language that the platform names for the room is stored for later posts that
	// answer no request.
	if l, ok := text.FindLanguage(v.Lang); ok && l.Tag != cmp.Or(k.Channel.Lang, text.English.Tag) {
		if err := r.store.SetBookmark(ctx, LangMark(v.Where), l.Tag); err != nil {
			return k, err
		}
		k.Channel.Lang = l.Tag
	}
	return k, nil
}

// LangMark returns the name of the bookmark that holds the language that a platform
// names for a channel.
func LangMark(where match.Room) string { return "bot:lang:" + where.Platform + ":" + where.Channel }
