package bot

import (
	"context"
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A Channel is what is known of a channel.
type Channel struct {
	Settings match.RoomSettings // Room is always set, without a thread
	Server   Server             // that it belongs to, if one is known
	Lang     string             // BCP 47 tag: what the platform says that it speaks; empty: nothing
	Parked   bool               // there are posts that could not be shown there
}

// Known is what is known when somebody asks something.
type Known struct {
	Person  match.PersonID // empty: seen for the first time, or erased
	Name    string         // that they went by
	Prefs   match.Preferences
	Channel Channel
	Answer  *match.Reply // that the request got; nil: it was not taken
}

// A Server is a community of channels, as a platform counts them.
type Server struct {
	Platform string
	ID       string             // empty: there is none
	Left     time.Time          // since when the bot is known not to be there; zero: it is
	Settings match.RoomSettings // of all its channels
}

// Errors of a Store.
var (
	// ErrConflict means that another event of the game, or another answer to the
	// request, came first: look again and decide anew.
	ErrConflict = errors.New("conflict with another change")
	// ErrNotFound means that there is no such game.
	ErrNotFound = outbox.ErrNotFound
)

// A Query selects matches. Empty fields select nothing away.
type Query struct {
	Where  match.Room // Thread only where it is not empty
	Player match.PersonID
	States []match.State
	Number int
	Limit  int // 0: 100
}

// A Store keeps everything. Its methods may be called concurrently. Stored
// means durable: it survives the loss of power.
type Store interface {
	outbox.Rows
	// Person gives the id of a person, a new one at first sight, and keeps the
	// name they go by now.
	Person(ctx context.Context, who outbox.User) (match.PersonID, error)
	// People gives who persons are; those erased or unknown are left out.
	People(ctx context.Context, ids []match.PersonID) (map[match.PersonID]outbox.User, error)
	// Unname takes a person's name off, so that nothing more is said of them by it.
	Unname(ctx context.Context, p match.PersonID) error
	// Erase forgets a person, who were known as who: their name, what they have
	// chosen and what they have said of games and in the local room, where others'
	// lines have instead where they had the name. The person's id stays in games,
	// posts and answers, and means nobody.
	Erase(ctx context.Context, p match.PersonID, who outbox.User, instead string) error
	// MessagesOf returns what the transcript of the local room has of a person: what
	// they have said, what quotes it, and what was for them alone.
	MessagesOf(ctx context.Context, p match.PersonID, who outbox.User) ([]outbox.Message, error)
	// EventsBy gives what a person has done, by game, in order.
	EventsBy(ctx context.Context, p match.PersonID) (map[match.GameID][]match.Event, error)
	// Answered gives the answer that a request got, if it was taken.
	Answered(ctx context.Context, request string) (match.Reply, bool, error)
	// Match returns a match and its events, or ErrNotFound.
	Match(ctx context.Context, id match.GameID) (match.Match, []match.Event, error)
	// Header returns a match without its events, or ErrNotFound.
	Header(ctx context.Context, id match.GameID) (match.Match, error)
	// Events returns the events of a match with a Seq above after, up to to, which
	// is at most that of the match.
	Events(ctx context.Context, id match.GameID, after, to int) ([]match.Event, error)
	// Running gives the ids of the matches of a platform, or of a server of it, or
	// with "" of all, that have a deadline, after the id given, in the order of
	// their ids, at most limit.
	Running(ctx context.Context, platform, server string, after match.GameID, limit int) ([]match.GameID, error)
	// Matches gives matches, the last changed first.
	Matches(ctx context.Context, q Query) ([]match.Match, error)
	// Commit stores a step, or gives ErrConflict and stores nothing. It puts the
	// match's Number into s.Match when it is new.
	Commit(ctx context.Context, s *match.Step) error
	// Unpark lets what was set aside for a channel a while ago be tried again, in
	// its order, and reports whether there is any. How long a while is doubles with
	// each attempt.
	Unpark(ctx context.Context, where match.Room, now time.Time) (some bool, err error)
	// DueBy gives at most limit of what is due at or before now, the longest due
	// first. What it costs does not depend on how many matches there are.
	DueBy(ctx context.Context, now time.Time, limit int) ([]match.Due, error)
	// NextDue gives when the next thing is due; zero: nothing is.
	NextDue(ctx context.Context) (time.Time, error)
	// Preferences gives what a person has chosen; Person is always set.
	Preferences(ctx context.Context, p match.PersonID) (match.Preferences, error)
	// Players gives who persons are and what they have chosen, in one look. Those
	// erased or unknown are left out.
	Players(ctx context.Context, ids []match.PersonID) (map[match.PersonID]outbox.User, map[match.PersonID]match.Preferences, error)
	// Known returns what is known when somebody asks something: of them, of the
	// channel and of the request, in one look.
	Known(ctx context.Context, who outbox.User, where match.Room, request string) (Known, error)
	// Channel returns what is known of a channel.
	Channel(ctx context.Context, where match.Room) (Channel, error)
	// Rooms gives what has been chosen for each channel of a server for which
	// something has, in the order of their ids.
	Rooms(ctx context.Context, platform, server string) ([]match.RoomSettings, error)
	// Belongs keeps to which server a channel belongs.
	Belongs(ctx context.Context, where match.Room, server string) error
	// Servers gives the servers of a platform that are known, in the order of their
	// ids.
	Servers(ctx context.Context, platform string) ([]Server, error)
	// Left keeps since when the bot is not in a server; zero: it is there.
	Left(ctx context.Context, platform, server string, since time.Time) error
	// Outages returns all outages that are stored, in the order of their beginning.
	Outages(ctx context.Context) ([]Outage, error)
	// ChangeOutages stores outages, or when they end, and drops others. They are known
	// by their platform, server and beginning. Doing it twice is doing it once.
	ChangeOutages(ctx context.Context, put, drop []Outage) error
	// ForgetServer forgets a server, the games of its channels and all that belongs
	// to them, and people of whom then nothing is kept but who they are.
	ForgetServer(ctx context.Context, platform, server string) error
	// Prune looks at no more than limit rows, those after a place, and deletes the
	// ones that are no longer needed; never games and their events. It returns the
	// place from which to go on; empty: it has seen all. The first place is empty, too.
	Prune(ctx context.Context, now time.Time, after string, limit int) (next string, err error)
	// Shown returns the receipts of posts of a game that were shown in a channel: of
	// the last one of a kind, among those for all or those for some alone, or an
	// empty one if it has been removed since; and of the very first, because what is
	// asked below that is about the game.
	Shown(ctx context.Context, game match.GameID, where match.Room, kind string, private bool) (last, first outbox.Receipt, err error)
	// GameUnder gives the game of which a post became the message with a receipt,
	// or ErrNotFound.
	GameUnder(ctx context.Context, platform string, r outbox.Receipt) (match.GameID, error)
	// Bookmark and SetBookmark keep an adapter's place in its stream of events.
	Bookmark(ctx context.Context, adapter string) (string, error)
	SetBookmark(ctx context.Context, adapter, value string) error
	Close() error
}
