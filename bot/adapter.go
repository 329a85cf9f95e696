package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// An Adapter connects the bot to one chat platform. It turns what people do
// there into requests and shows what the bot owes them. It knows nothing of
// Go; the bot knows nothing of the platform.
type Adapter interface {
	// Name is the platform's name: "web". It begins every id that the adapter
	// mints, and is what Room.Platform and Who.Platform say.
	Name() string

	// Run connects, and asks desk for each request until ctx is done; then it
	// returns nil. It may ask again what it has asked before: the same request
	// id gets the same answer. It moves whatever marks its place in the stream
	// of events only after Ask has returned.
	Run(ctx context.Context, desk Desk) error

	// Deliver shows a post and returns the id of the message it became, and what
	// the adapter owes after it. It is called by one goroutine at a time for each
	// game and channel, at once for different games even in one channel, and may be
	// called again with the same post after an error or a crash: Post.ID is the key
	// by which the platform must recognize it. Its errors are RetryAfter, ErrGone,
	// Forbidden, ErrTooLarge, ErrRefused and ErrAmbiguous, in InThread where they
	// concern the game's thread alone; any other is tried again later.
	//
	// Decorations come the same way, beside the posts of their game: doing one twice
	// must do no harm.
	Deliver(ctx context.Context, p Post) (Receipt, []Owes, error)
}

// A Limited adapter says what its platform surely allows the bot's account. Posts
// never wait for that, only for [RetryAfter]; decorations are sent while more than
// half of the burst is left.
type Limited interface {
	// Budget returns how many messages a second the platform takes for good, and how
	// many at once.
	Budget() (perSecond float64, burst int)
}

// A Desk is where an adapter brings its requests. All methods may be called
// concurrently.
type Desk interface {
	// Commands gives what people can ask for, in the order of help.
	Commands() []Command
	// Ask answers a request, once: asked again with the same id, it changes
	// nothing and gives the same answer. An error means that nothing is known to
	// have been done and that asking again is safe.
	Ask(ctx context.Context, r Request) (Answer, error)
	// Settle stores that the asker has shown a post of Answer.Posts, and what it owes
	// after it. Settling twice is settling once.
	Settle(ctx context.Context, p Post, r Receipt, owes ...Owes) error
	// Release gives back a post of Answer.Posts that the asker could not show, and
	// those after it: err says why, as an error of Deliver does, and the bot goes on
	// from there.
	Release(ctx context.Context, p Post, err error) error
	// Owe stores decorations that follow no post. Where says for which platform.
	Owe(ctx context.Context, where Room, owes ...Owes) error
	// Done drops the decoration of a kind and key, if there is one.
	Done(ctx context.Context, where Room, kind, key string) error
	// Suggest gives at most 25 choices for an option of a command that is being
	// typed. It reads only.
	Suggest(ctx context.Context, r Request, option, prefix string) []Choice
	// Scene gives the picture of a game after event seq, for adapters that draw
	// what they have shown before.
	Scene(ctx context.Context, game GameID, seq int) (render.Scene, error)
	// Away says that some or all of a platform cannot be reached, and Back that all
	// of it can again, before anything is asked that came from there since. Between the two no flag of
	// its games falls, and afterwards that time counts for nobody. Both may be said
	// again at any time; a platform that is away when the program ends is away
	// until an adapter says that it is back.
	Away(ctx context.Context, platform string) error
	Back(ctx context.Context, platform string) error
	// Servers says in which servers of a platform the bot is now: all of them. One
	// in which it no longer is, and a week later still is not, is forgotten with its
	// games; meanwhile no flag of them falls, and if it comes back that time counts
	// for nobody. It may be said at any time; after an error nothing is known.
	Servers(ctx context.Context, platform string, in []string) error
}

// Who is a person as a platform knows them. Name is what they call themselves,
// shown to others after cleaning; it may be anything.
type Who struct {
	Platform string
	ID       string
	Name     string
}

// A Request is a person asking for something.
type Request struct {
	ID       string // the platform's id of the event or interaction, prefixed with the platform's name
	Who      Who
	Where    Room
	Lang     string            // BCP 47 tag of the language of the person; empty: unknown
	RoomLang string            // of the room, where the platform knows one; else empty
	At       time.Time         // the platform's timestamp, if it can be trusted; else zero
	Command  string            // a Command's name, without slash
	Args     map[string]string // by option name, as typed
	Users    map[string]Who    // the persons meant by options of type User
	// Server is the community to which the room belongs, as the platform counts
	// them; empty: none, or the bot is not in it. Where each room is one by itself
	// it is the room's channel.
	Server string
	// Moderator: the platform says that the person looks after the room.
	Moderator bool
	// Manager: the platform says that the person looks after the whole server.
	Manager bool
	Seats   *Seats // the persons who sit at the board of a local room; nil elsewhere
	Under   string // receipt of the message in whose thread it is asked; may be empty
	Reply   string // opaque route by which this very request can be answered; may be empty
	Shows   bool   // the asker shows Answer.Posts as Deliver would, and settles or releases each, in order
	// Flat: there are no threads where it is asked, so that of a new game the asker
	// shows more than the first post, to which others would have to refer.
	Flat bool
	// Typed is what the person typed, if the bot keeps the log of the room: it is stored
	// there together with what comes of the request, unless the answer is private.
	// Answer.Logged reports whether it was.
	Typed  *Typed
	thread GameID // the game in whose thread it is asked
}

// Seats are the two persons who play when nobody else is named: in a local
// room Black and White are seats in which anyone may sit.
type Seats struct{ Black, White Who }

// An Answer is what the person who asked is told. Its Text is to be put through
// [Fill].
type Answer struct {
	Text     string // may be empty when a post says it all
	Lang     string // BCP 47 tag of what it says
	Private  bool   // for the eyes of the person who asked alone
	Scene    *render.Scene
	File     *File
	Controls []Control
	Logged   bool // Request.Typed is in the log of the room
	// Posts are the request's own, if it Shows them: those that everybody may see, in
	// the place where it was asked, in order. There are none if an older post of the
	// game is still on its way, or if the request was asked before.
	Posts []Post
}

// A File is something to download.
type File struct {
	Name, Type string // "game-3.sgf", "application/x-go-sgf"
	Data       []byte
}

// A Choice is a suggestion while typing: what is shown and what is meant.
type Choice struct{ Label, Value string }

// The kinds of decorations: what follows posts, outside their order. Of those of a
// platform, kind and key only the newest is done.
const (
	Header   = outbox.Header   // has the first message of a game say how the game stands
	Attach   = outbox.Attach   // puts a picture or file where its words are; dropped once a newer board was shown
	Clear    = outbox.Clear    // takes the controls off a message; sleeps until something newer of the game was shown
	Reaction = outbox.Reaction // has a message carry these reactions
	Ending   = outbox.Ending   // ends what shows that the bot still thinks, after a restart or once NotBefore has passed
)

// Owes is a decoration as an adapter owes it.
type Owes struct {
	Kind      string
	Key       string        // of those with the same key the newest counts
	Target    Receipt       // the message that it changes; Post.Replaces
	Data      string        // for the adapter alone; Post.Data
	Every     time.Duration // at most so often, by key; 0: as soon as possible
	NotBefore time.Time     // zero: at once
	NotAfter  time.Time     // given up then; zero: a day after it was owed
}

// A Post is something owed to a room, worded and ready to be shown. Its Text is
// to be put through [Fill].
type Post struct {
	ID       string // the key of this delivery: the same post always has the same
	Where    Room
	Kind     string
	Game     GameID
	Number   int    // of the game in its channel
	Seq      int    // the event after which the game is shown
	State    State  // how far the game has come by now
	Replaces string // receipt of the message that this one takes the place of
	Under    string // receipt of the first message of the game, in whose thread this one belongs; empty: none, or Where names the thread
	Previous string // receipt of the last post of the kind Show, whose controls are no longer meant; may be empty
	Notify   []Who
	Private  bool      // to the persons in Notify alone
	At       time.Time // of event Seq; zero: it is about no game
	Text     string
	Lang     string        // BCP 47 tag of what it says
	Scene    *render.Scene // nil when there is nothing to draw
	File     *File         // something to download that belongs to it, or nil
	Controls []Control     // instead of those of the post of its kind that was shown before
	Reply    string        // route of the request that made this post, while it lives
	Data     string        // of a decoration, as it was owed
	Attempt  int           // 1 for the first; from 2 on the message may be there already
	Unsent   bool          // no earlier attempt can have sent it: it need not be looked for
	// Message is set by an asker that shows the post in a room whose log the bot keeps:
	// what it is there. It is stored when the post is settled; its N is the receipt.
	Message *Message
}

// A Receipt is the platform's id of a message, opaque to the bot.
type Receipt string

// RetryAfter is the error of a platform that asks to wait: with this post, or with
// everything that the account sends.
type RetryAfter struct {
	Wait    time.Duration
	Account bool
}

// Error says how long.
func (e RetryAfter) Error() string { return fmt.Sprintf("the platform asks to wait %v", e.Wait) }

// Forbidden is the error of a room in which the bot lacks a permission.
type Forbidden struct{ Permission string }

// Error names the permission.
func (e Forbidden) Error() string { return "not permitted: " + e.Permission }

// InThread is an error about the thread in which a game is played, while the
// channel can be reached: other games there go on.
type InThread struct{ Err error }

// Error says what is wrong with the thread.
func (e InThread) Error() string { return "in the thread: " + e.Err.Error() }

// Unwrap gives what is wrong.
func (e InThread) Unwrap() error { return e.Err }

// Errors of Deliver.
var (
	ErrGone      = errors.New("the room or message is gone")
	ErrTooLarge  = errors.New("the message is too large")
	ErrAmbiguous = errors.New("it is not known whether the message was sent")
	// ErrRefused means that the platform does not take the message as it is, and
	// will not at another time: by its contents, not for lack of a permission.
	ErrRefused = errors.New("the platform refuses the message")
)
