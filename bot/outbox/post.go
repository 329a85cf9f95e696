package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// A Post is a message for a room, worded and ready to be shown. Pass its Text through
// bot.Fill first.
type Post struct {
	ID       string // the key of this delivery: the same post always has the same
	Where    match.Room
	Kind     string
	Game     match.GameID
	Number   int         // of the game in its channel
	Seq      int         // the event after which the game is shown
	State    match.State // of the game by now
	Unplayed bool        // the game was cancelled before it had two players; only for notices
	Replaces string      // receipt of the message that this one replaces
	Under    string      // receipt of the first message of the game, in whose thread this one belongs; empty: none, or Where names the thread
	Previous string      // receipt of the last post of the kind Show; may be empty. A new board invalidates its controls
	Agreed   bool        // a board that shows what Previous shows, with the end that both have accepted; Previous may be changed into it
	Marked   bool        // a board that shows what Previous shows, with other marks of dead stones; Previous may be changed into it
	Opening  string      // for the notice that a game has begun: receipt of the game's first message, which may be changed to say so; may be empty
	Begins   string      // for that notice and for the first board: the words of the notice; a platform may put them above the board
	Joined   bool        // the game was open before it began, so that its first message is older than these two
	Apart    *Apart      // the game is one of an event; nil: it is none
	LastTurn string      // for a board with Agreed: the line about the last turn
	Instead  bool        // a notice with the state of the game instead of a board
	Notify   []User
	Private  bool      // only for the persons in Notify, or of an answer for Asker
	Secret   bool      // of a private answer: nobody else may read it, also where everybody reads private answers
	Asker    User      // of an answer: who asked; zero if they were forgotten
	At       time.Time // of event Seq; zero if there is no game
	Text     string
	Lang     string          // BCP 47 tag of Text
	Scene    *render.Scene   // nil when there is nothing to draw
	Chart    *render.Chart   // instead of a scene; only in answers
	Sheet    *render.Sheet   // instead of a scene: the table of an event
	Letters  bool            // the room wants it in letters, too
	Path     string          // of the page that shows what it shows, "/g/abc/12"; empty: there is none
	Link     string          // address of that page; empty: there is none, or its host is not known
	File     *File           // something to download that belongs to it, or nil
	Controls []match.Control // instead of those of the post of its kind that was shown before
	Menu     string          // Controls are too many for buttons: one is to be chosen from a menu with this label; empty: they are buttons
	Refused  bool            // of an answer: the command was not carried out; unset if the request was asked before or the asker released the answer
	// Moderators: the command was not carried out because the person is no moderator.
	Moderators bool
	Reply      string // route of the request that made this post, while it lives
	// Stored is the post before it was worded, with all its Texts, and in Notify the ids of
	// the people in Notify. An answer that its asker releases is stored like that.
	Stored  match.OutboxPost
	Data    string // of a decoration: Owes.Data
	Attempt int    // 1 for the first; from 2 on the message may exist already
	Unsent  bool   // no earlier attempt can have sent it, so there is no need to look for it
	// Message is set by an asker that shows the post in a room whose log the bot keeps: the
	// post as a line of that log. It is stored when the post is settled; its N is the
	// receipt.
	Message *Message
}

// Picture returns the picture of a post, and a name for its file; nil if there is none.
func (p Post) Picture() (pic render.Picture, name string) {
	switch {
	case p.Chart != nil:
		return *p.Chart, "compare.png"
	case p.Sheet != nil:
		return *p.Sheet, "table.png"
	}
	return p.Scene.Picture(), "board.png"
}

// Empty reports whether a post has nothing to show.
func (p Post) Empty() bool {
	return p.Text == "" && p.Scene == nil && p.Chart == nil && p.Sheet == nil && p.File == nil && len(p.Controls) == 0
}

// Apart is what a platform with threads needs to begin the thread of a game of an event. Such a
// game has no message of its own in the channel, which would have dozens at a time: its first
// post begins the thread.
type Apart struct {
	Black, White User
	Ruleset      string // its title
}

// A Message is a line of the transcript of the local room, which the bot itself keeps,
// because no chat platform does. It refers to people by their ids, and what the bot says is
// worded when somebody reads it.
type Message struct {
	N        int64  // grows by one with each message of the log; set by Append
	Key      string // identifies the message; empty: it belongs to a step, which is stored once
	Room     string
	At       time.Time
	By       match.PersonID // who typed Text: a person, or a seat that several people use; empty: the bot
	Text     string
	Texts    []text.Message // what the bot says, in the language of Lang
	Lang     string         // BCP 47 tag
	Number   int            // of the game in its room, for Texts
	Game     match.GameID   // of the post, or empty; after event Seq
	Seq      int
	Kind     string // of the post, or empty
	Removed  bool
	Notify   []match.PersonID // who is mentioned
	Controls []match.Control  // the buttons below it
	File     *File            // a file with it, or nil: its name and type alone if
	Question *match.Question  // the answer to this one has it
	// Of lines that an earlier release stored, with names in Text: who typed it, and who is
	// mentioned.
	From string
	To   []string
}

// People returns the ids of all people to whom the message refers.
func (m Message) People() []match.PersonID {
	ids := append([]match.PersonID{m.By}, m.Notify...)
	for _, id := range text.People(m.Texts) {
		ids = append(ids, match.PersonID(id))
	}
	return ids
}

// A File is something to download.
type File struct {
	Name, Type string // "game-3.sgf", "application/x-go-sgf"
	Data       []byte
}

// A User is a person as a platform knows them. Name is their own choice and may be
// anything; it is cleaned before others see it.
type User struct {
	Platform string
	ID       string
	Name     string
}

// ToEach shows a post to each person alone by send, whatever comes of the others. If some of them
// cannot be told, it is shown; its error is that after which trying again may help, or, if
// nobody could be told, [ErrRefused]. When it is tried again, send must find what it has sent.
func ToEach(who []User, send func(User) (Receipt, []Owes, error)) (first Receipt, owes []Owes, err error) {
	var refused, failed error
	told := false
	for _, w := range who {
		sent, more, err := send(w)
		switch {
		case errors.Is(err, ErrRefused):
			refused = cmp.Or(refused, err)
		case err != nil:
			failed = cmp.Or(failed, err)
		default:
			told, first, owes = true, cmp.Or(first, sent), append(owes, more...)
		}
	}
	if failed == nil && !told {
		failed = refused
	}
	return first, owes, failed
}

// A Receipt is the platform's id of a message, opaque to the bot.
type Receipt string

// Owes is a decoration as an adapter requests it.
type Owes struct {
	Kind      string
	Key       string        // of those with the same key the newest counts
	Target    Receipt       // the message that it changes; Post.Replaces
	Data      string        // for the adapter alone; Post.Data
	Messages  int           // how many it sends; 0: one
	Every     time.Duration // the shortest time between two with this key; 0: none
	NotBefore time.Time     // zero: at once
	NotAfter  time.Time     // given up then; zero: after a day
	Done      bool          // drops what was requested before with this kind and key
}

// RetryAfter is the error of a platform that asks the bot to wait before it sends this
// post again, or anything else.
type RetryAfter struct {
	Wait    time.Duration
	Account bool
}

// Error says how long.
func (e RetryAfter) Error() string { return fmt.Sprintf("platform asks to wait %v", e.Wait) }

// Forbidden is the error for a room in which the bot lacks a permission.
type Forbidden struct {
	Permission string
	Unasked    bool // the adapter knew, so nothing was sent
}

const notPermitted = "not permitted"

// Error names the permission, if it is known.
func (e Forbidden) Error() string { return strings.TrimSuffix(notPermitted+": "+e.Permission, ": ") }

// Lacks returns the permission that the text of an error names, which may wrap a [Forbidden] and
// be wrapped in [InThread]; empty: it names none.
func Lacks(why string) string {
	_, lacks, _ := strings.Cut(why, notPermitted+": ")
	lacks, _, _ = strings.Cut(lacks, ": ")
	return lacks
}

// InThread wraps an error that concerns only the thread of a game. The channel can be
// reached, and its other games go on.
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
	// ErrRefused means that the platform rejects the message because of its contents,
	// not for lack of a permission, and will reject it again.
	ErrRefused = errors.New("message refused by the platform")
	// ErrStale means that a post has become pointless.
	ErrStale = errors.New("post is out of date")
	// ErrMore means that a decoration has sent a message and has others to send. It continues
	// when the account permits.
	ErrMore = errors.New("decoration has more to send")
	// ErrConflict means that another change was stored first.
	ErrConflict = errors.New("conflict with another change")
	// ErrNotFound means that there is no such game or post.
	ErrNotFound = errors.New("not found")
	// ErrLost means that another process shows the posts of a room now.
	ErrLost = errors.New("another process shows the posts of the room")
)
