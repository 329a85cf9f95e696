package bot

import (
	"context"
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A GameID is the bot's own id of a game.
type GameID string

// A Match is a game's header: what it is played with, by whom, and where. What
// was done in it are its events.
type Match struct {
	ID       GameID
	Rules    string // "two-button@1"
	Setup    rules.Setup
	Clock    clock.Control
	Rated    bool   // its result is to count for a rating, once there is one
	Opener   Person // who asked for the game
	Invited  Person // the only person who may join; empty: anyone
	Where    Room
	Number   int // in its channel, from 1; given by the store
	Opened   time.Time
	Standing // how it stands now
}

// Standing is what may change in a Match. It follows from the events and is
// kept beside them so that lists need no replay.
type Standing struct {
	State        State
	Black, White Person // empty while the seat is open
	ToMove       Person // empty when nobody is to move
	Seq          int    // of the last event
	Result       string
	Deadline     time.Time // when the flag falls if nothing happens; zero: never
	Changed      time.Time
}

// A State is how far a match has come.
type State string

// The states.
const (
	Open      State = "open"      // waits for somebody to join
	Going     State = "going"     // being played or settled
	Ended     State = "ended"     // has a result
	Cancelled State = "cancelled" // ended without one, by agreement or before it began
	Sandbox   State = "sandbox"   // a position to talk about: its opener plays both colours, and nothing counts
	Deleted   State = "deleted"   // is to be forgotten: both wanted that, or a moderator
)

// An Event is one line of a match's log. Body is its written form:
//
//	join W p7        person p7 takes the white seat
//	turn B place D4  a turn, as rules.Turn writes it
//	undo 12          the game is again as after event 12
//	cancel
type Event struct {
	Seq   int // from 1, consecutive, never used twice
	At    time.Time
	By    Person
	Body  string
	Proof string // rules.Game.Proof of the game after it
}

// An Owed post is a post before it is worded: it refers to the game and holds
// words by key, so that it can be worded again at any time.
type Owed struct {
	ID      string
	Game    GameID
	Where   Room
	Kind    string
	Seq     int
	Texts   []Text
	Notify  []Person
	Private bool
	Reply   string
	Attempt int // set by Claim: how often it has been claimed
}

// A Step is everything that one request changes. All of it is stored, or none.
type Step struct {
	Request string // inbox key
	At      time.Time
	Answer  Reply
	Match   *Match    // new or changed; nil when nothing changed
	New     bool      // Match is new: the store gives it its Number
	Was     *Standing // of Match before the step, if known: the store need not write what is the same
	Events  []Event   // consecutive, from Match.Seq before the step + 1
	Posts   []Owed    // in the order in which they are to be read
	Due     []Due     // of Match from now on: they replace all that were due before
	Prefs   *Preferences
	Room    *RoomSettings
	Where   Room     // where it was asked; empty: not known
	People  []Person // who asked, and who is meant: were one forgotten meanwhile it is a conflict

	// Claim is until when the posts are claimed that nothing older in their lanes
	// waits for: whoever stored the step delivers them, and the store sets their
	// Attempt to 1. Zero: none is.
	Claim time.Time

	// Replaces are open challenges that Match, a new one, takes the place of. The
	// bot cancels them once the step is stored; the store ignores them.
	Replaces []GameID

	after *position // the match after Events
}

// A Due is something that is to be done for a match at a time if nothing
// happens before: a flag falls, a reminder is sent, a challenge expires. It is
// done by a request whose id is made of Kind, Game and Seq, so that doing it
// twice is doing it once.
type Due struct {
	Game GameID
	Kind string // "flag", "remind", "expire"; one of each kind and At for a match
	At   time.Time
	Seq  int // of the match when it became due
}

// Preferences are what a person has chosen for themselves. The zero value of
// each field is the default.
type Preferences struct {
	Person Person
	Remind string      // "channel" (default), "direct" or "none"
	Zone   string      // IANA name; empty: UTC
	Quiet  clock.Hours // no reminders between From and To, minutes of the day in Zone
	Lang   string      // BCP 47 tag; empty: that of their program
	Theme  string      // of the pictures that they alone see; empty: that of the room
}

// RoomSettings are what has been chosen for a channel, or for all channels of a
// server. The zero value of each field leaves it to the server, and there to the
// default.
type RoomSettings struct {
	Room   Room   // without its thread; of a server the platform alone
	Server string // the server's id; empty: they are a channel's
	Rules  string // name of the ruleset of new games
	Size   string // "13x13"
	Clock  string // as clock.Parse reads it
	Undo   int    // seconds in which a turn may be taken back freely; 0: 60, below 0: never
	Opens  string // who may open games: "anyone" (default), "moderators" or "nobody"
	Theme  string // of pictures
	Coords string // of pictures
	Lang   string // BCP 47 tag; empty: as the platform says, or English
}

// A Channel is what is known of a channel.
type Channel struct {
	Settings RoomSettings // Room is always set, without a thread
	Server   Server       // that it belongs to, if one is known
	Lang     string       // BCP 47 tag: what the platform says that it speaks; empty: nothing
	Parked   bool         // there are posts that could not be shown there
}

// Known is what is known when somebody asks something.
type Known struct {
	Person  Person // empty: seen for the first time, or erased
	Name    string // that they went by
	Prefs   Preferences
	Channel Channel
	Answer  *Reply // that the request got; nil: it was not taken
}

// A Server is a community of channels, as a platform counts them.
type Server struct {
	Platform string
	ID       string       // empty: there is none
	Left     time.Time    // since when the bot is known not to be there; zero: it is
	Settings RoomSettings // of all its channels
}

// A Reply is an answer as the inbox keeps it: words by key, without names.
type Reply struct {
	Texts    []Text
	Private  bool
	Controls []Control
	Game     GameID // for the scene of an answer that shows the board; else empty
}

// Errors of a Store.
var (
	// ErrConflict means that another event of the game, or another answer to the
	// request, came first: look again and decide anew.
	ErrConflict = errors.New("something else came first")
	// ErrNotFound means that there is no such game.
	ErrNotFound = errors.New("not found")
)

// A Query selects matches. Empty fields select nothing away.
type Query struct {
	Where  Room // Thread only where it is not empty
	Player Person
	States []State
	Number int
	Limit  int // 0: 100
}

// A Store keeps everything. Its methods may be called concurrently. Stored
// means durable: it survives the loss of power.
type Store interface {
	// Person gives the id of a person, a new one at first sight, and keeps the
	// name they go by now.
	Person(ctx context.Context, who Who) (Person, error)
	// People gives who persons are; those erased or unknown are left out.
	People(ctx context.Context, ids []Person) (map[Person]Who, error)
	// Erase forgets who a person is, what they have chosen and what they have said
	// of games. Their id stays in games, posts and answers, and means nobody.
	Erase(ctx context.Context, p Person) error
	// EventsBy gives what a person has done, by game, in order.
	EventsBy(ctx context.Context, p Person) (map[GameID][]Event, error)
	// Answered gives the answer that a request got, if it was taken.
	Answered(ctx context.Context, request string) (Reply, bool, error)
	// Match returns a match and its events, or ErrNotFound.
	Match(ctx context.Context, id GameID) (Match, []Event, error)
	// Header returns a match without its events, or ErrNotFound.
	Header(ctx context.Context, id GameID) (Match, error)
	// Events returns the events of a match with a Seq above after, up to to, which
	// is at most that of the match.
	Events(ctx context.Context, id GameID, after, to int) ([]Event, error)
	// Running gives the ids of the matches of a platform, or of a server of it, or
	// with "" of all, that have a deadline, after the id given, in the order of
	// their ids, at most limit.
	Running(ctx context.Context, platform, server string, after GameID, limit int) ([]GameID, error)
	// Matches gives matches, the last changed first.
	Matches(ctx context.Context, q Query) ([]Match, error)
	// Take stores a step, or gives ErrConflict and stores nothing. It puts the
	// match's Number into s.Match when it is new.
	Take(ctx context.Context, s *Step) error
	// Claim gives the posts to deliver now: of each game and channel the oldest
	// that is neither settled nor parked, if it is due. They are not given again
	// before until. A show or status that a newer one of the same game and
	// channel supersedes is never given.
	Claim(ctx context.Context, now, until time.Time) ([]Owed, error)
	// Settle writes down that a post was shown. Settling twice is settling once.
	Settle(ctx context.Context, post string, r Receipt) error
	// Postpone makes all posts of a channel wait.
	Postpone(ctx context.Context, where Room, until time.Time) error
	// Later makes one post wait, and with it those of its game in that channel.
	Later(ctx context.Context, post string, until time.Time) error
	// Refuse gives up a post that cannot be shown, so that those after it can be.
	Refuse(ctx context.Context, post, why string) error
	// Park sets aside the unsettled posts of a room that cannot be reached, or with
	// a game those of the game there, and reports whether it is the first time.
	Park(ctx context.Context, where Room, game GameID, why string) (first bool, err error)
	// Unpark lets what was set aside for a channel a while ago be tried again, in
	// its order, and reports whether there is any. How long a while is doubles with
	// each attempt.
	Unpark(ctx context.Context, where Room, now time.Time) (some bool, err error)
	// DueBy gives at most limit of what is due at or before now, the longest due
	// first. What it costs does not depend on how many matches there are.
	DueBy(ctx context.Context, now time.Time, limit int) ([]Due, error)
	// NextDue gives when the next thing is due; zero: nothing is.
	NextDue(ctx context.Context) (time.Time, error)
	// Preferences gives what a person has chosen; Person is always set.
	Preferences(ctx context.Context, p Person) (Preferences, error)
	// Known returns what is known when somebody asks something: of them, of the
	// channel and of the request, in one look.
	Known(ctx context.Context, who Who, where Room, request string) (Known, error)
	// Channel returns what is known of a channel.
	Channel(ctx context.Context, where Room) (Channel, error)
	// Rooms gives what has been chosen for each channel of a server for which
	// something has, in the order of their ids.
	Rooms(ctx context.Context, platform, server string) ([]RoomSettings, error)
	// Belongs keeps to which server a channel belongs.
	Belongs(ctx context.Context, where Room, server string) error
	// Servers gives the servers of a platform that are known, in the order of their
	// ids.
	Servers(ctx context.Context, platform string) ([]Server, error)
	// Left keeps since when the bot is not in a server; zero: it is there.
	Left(ctx context.Context, platform, server string, since time.Time) error
	// ForgetServer forgets a server, the games of its channels and all that belongs
	// to them, and people of whom then nothing is kept but who they are.
	ForgetServer(ctx context.Context, platform, server string, now time.Time) error
	// Shown returns the receipts of posts of a game that were shown in a channel: of
	// the last one of a kind, among those for all or those for some alone, or an
	// empty one if it has been removed since; and of the very first, because what is
	// asked below that is about the game.
	Shown(ctx context.Context, game GameID, where Room, kind string, private bool) (last, first Receipt, err error)
	// GameUnder gives the game of which a post became the message with a receipt,
	// or ErrNotFound.
	GameUnder(ctx context.Context, platform string, r Receipt) (GameID, error)
	// Bookmark and SetBookmark keep an adapter's place in its stream of events.
	Bookmark(ctx context.Context, adapter string) (string, error)
	SetBookmark(ctx context.Context, adapter, value string) error
	Close() error
}
