package outbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/render"
)

// A Post is something owed to a room, worded and ready to be shown. Its Text is
// to be put through bot.Fill.
type Post struct {
	ID       string // the key of this delivery: the same post always has the same
	Where    match.Room
	Kind     string
	Game     match.GameID
	Number   int         // of the game in its channel
	Seq      int         // the event after which the game is shown
	State    match.State // how far the game has come by now
	Unplayed bool        // it was cancelled before it had two players; of notices alone
	Replaces string      // receipt of the message that this one takes the place of
	Under    string      // receipt of the first message of the game, in whose thread this one belongs; empty: none, or Where names the thread
	Previous string      // receipt of the last post of the kind Show; may be empty. Of a new one its controls are no longer meant
	Opening  string      // of the notice that a game has begun: receipt of its first message, which may say so itself; empty: there is none
	Instead  bool        // a notice that tells how the game stands instead of a board
	Notify   []User
	Private  bool      // to the persons in Notify alone
	At       time.Time // of event Seq; zero: it is about no game
	Text     string
	Lang     string          // BCP 47 tag of what it says
	Scene    *render.Scene   // nil when there is nothing to draw
	File     *File           // something to download that belongs to it, or nil
	Controls []match.Control // instead of those of the post of its kind that was shown before
	Reply    string          // route of the request that made this post, while it lives
	Data     string          // of a decoration, as it was owed
	Attempt  int             // 1 for the first; from 2 on the message may be there already
	Unsent   bool            // no earlier attempt can have sent it: it need not be looked for
	// Message is set by an asker that shows the post in a room whose log the bot keeps:
	// what it is there. It is stored when the post is settled; its N is the receipt.
	Message *Message
}

// A Message is something that was said in a room that the bot itself keeps,
// because no chat platform does: the local room.
type Message struct {
	N        int64  // grows by one with each message of the log; given by Append
	Key      string // the same key is the same message; empty: of a step, which is stored once
	Room     string
	At       time.Time
	From     string // who said it; empty: the bot
	Text     string
	Game     match.GameID // of the post, or empty; after event Seq
	Seq      int
	Kind     string // of the post, or empty
	Removed  bool
	To       []string        // names of those whom it calls
	Controls []match.Control // the buttons below it
	File     *File           // what belongs to it, or nil
}

// A File is something to download.
type File struct {
	Name, Type string // "game-3.sgf", "application/x-go-sgf"
	Data       []byte
}

// A User is a person as a platform knows them. Name is what they call themselves,
// shown to others after cleaning; it may be anything.
type User struct {
	Platform string
	ID       string
	Name     string
}

// A Receipt is the platform's id of a message, opaque to the bot.
type Receipt string

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

// RetryAfter is the error of a platform that asks to wait: with this post, or with
// everything that the account sends.
type RetryAfter struct {
	Wait    time.Duration
	Account bool
}

// Error says how long.
func (e RetryAfter) Error() string { return fmt.Sprintf("platform asks to wait %v", e.Wait) }

// Forbidden is the error of a room in which the bot lacks a permission.
type Forbidden struct{ Permission string }

// Error names the permission, if it is known.
func (e Forbidden) Error() string { return strings.TrimSuffix("not permitted: "+e.Permission, ": ") }

// InThread is an error about the thread in which a game is played, while the
// channel can be reached: other games there go on.
type InThread struct{ Err error }

// Error says what is wrong with the thread.
func (e InThread) Error() string { return "in the thread: " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e InThread) Unwrap() error { return e.Err }

// Errors of Deliver, and of Word and Rows.
var (
	ErrGone      = errors.New("room or message is gone")
	ErrTooLarge  = errors.New("message too large")
	ErrAmbiguous = errors.New("unknown whether the message was sent")
	// ErrRefused means that the platform does not take the message as it is, and
	// will not at another time: by its contents, not for lack of a permission.
	ErrRefused = errors.New("message refused by the platform")
	// ErrStale means that a post has become pointless.
	ErrStale = errors.New("post is out of date")
	// ErrNotFound means that there is no such game or post.
	ErrNotFound = errors.New("not found")
)
