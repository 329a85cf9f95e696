package bot

import (
	"context"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// An Adapter connects the bot to one chat platform. It turns what people do
// there into requests and shows the bot's posts. It knows nothing of the game of
// Go; the bot knows nothing of the platform.
type Adapter interface {
	// Platform shows posts. Its name is the prefix of every id that the adapter makes,
	// and the value of Room.Platform and Who.Platform.
	outbox.Platform

	// Run connects, and calls service.Ask for each request until ctx is done; then it
	// returns nil. It may repeat a request: the same request id gets the same answer.
	// It saves its place in the platform's stream of events only after Ask has
	// returned.
	Run(ctx context.Context, service Service) error
}

// A Membership is an Adapter that knows who is in a room. Nobody can play on a page in the
// rooms of other adapters.
type Membership interface {
	// Member reports whether a person may read and write in a room now. It may be called
	// concurrently.
	Member(ctx context.Context, who outbox.User, where match.Room) (bool, error)
}

// A Host is an Adapter that needs something for the games of an event. Events of other adapters
// can be published in every room.
type Host interface {
	// Hosts reports whether the games of an event can be opened in a room. Its error is
	// outbox.Forbidden with the permissions that the bot lacks for it, as the platform calls
	// them, or outbox.ErrGone if the room can have none; any other means that this is not
	// known now. It may be called concurrently.
	Hosts(ctx context.Context, where match.Room) error
}

// Forgetful is an Adapter that keeps in memory what people did.
type Forgetful interface {
	// Forgotten drops that, because somebody was forgotten, perhaps by another process. It may
	// be called concurrently, and before Run.
	Forgotten()
}

// Leftovers tells which rows of a table belong to nobody, so that they should have been deleted.
type Leftovers struct {
	Table string // which need not exist
	Where string // in SQL
	Why   string // in words: "the game that they show does not exist"
}

// A Service handles the requests of adapters. All methods may be called concurrently.
type Service interface {
	// Ask handles a request, once: called again with the same id, it changes
	// nothing and answers the same. An error means that the request may or may
	// not have been handled, and that it is safe to ask again.
	Ask(ctx context.Context, r Request) (Answer, error)
	// Bare reports whether text typed without a command is a turn, and returns the
	// request for it. The text is a turn if [BareTurn] reads it as one and it is the
	// person's turn in the game of the thread, or, where there are no threads, in a game
	// that they play there; or if it was a turn before, under the same id. If only
	// [BareTurn] takes it for a turn, why may hold the reason, for the player. Bare needs
	// ID, Who, Where, Under, Flat and Lang of r, and changes nothing. An error means that
	// it is safe to ask again.
	Bare(ctx context.Context, r Request, typed string) (turn Request, ok bool, why string, err error)
	// Here reports whether a message belongs to a game: it is in the game's thread or, on
	// platforms without threads, in a room in which the sender plays a running game. It
	// returns the language to answer in. Here needs the same fields of r as Bare, and
	// changes nothing.
	Here(ctx context.Context, r Request) (lang string, ok bool, err error)
	// Tell stores a message of the adapter's own as an answer to a request, once for each
	// request and text. The bot delivers it.
	Tell(ctx context.Context, r Request, t Text) error
	// Settle stores what came of showing a post of Answer.Posts, with what Deliver would
	// return: that it was shown, and the decorations that follow it. After an error it hands
	// back the post, and the posts after it of the same game, and the bot delivers them. Only
	// then it stores an answer, with the route in Post.Reply. Settling twice has the effect of
	// settling once.
	Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes []outbox.Owes, err error) error
	// Owe stores decorations that follow no post, for the platform of where, and drops
	// those that are done.
	Owe(ctx context.Context, where match.Room, owes ...outbox.Owes) error
	// Suggest returns at most 25 choices for an option of a command that is being
	// typed. It changes nothing.
	Suggest(ctx context.Context, r Request, option, prefix string) []Choice
	// View returns a game at one moment, for pages. Its error is ErrNotFound if there is no
	// such game, page or moment, or if nobody may read the page.
	View(ctx context.Context, v Viewing) (View, error)
	// Before returns when the bot last ran before this start. If an old copy of its
	// database was restored, that is when the copy was made. Zero: it never ran.
	Before(ctx context.Context) (time.Time, error)
	// Report handles what an adapter notices about its platform. It may be called at any
	// time, and again: after an error it is unknown whether it had an effect.
	Report(ctx context.Context, r Report) error
}

// A Request is a person asking for something.
type Request struct {
	ID       string // the platform's id of the event or interaction, prefixed with the platform's name
	Who      outbox.User
	Where    match.Room
	Lang     string                 // BCP 47 tag of the language of the person; empty: unknown
	RoomLang string                 // of the room, where the platform knows one; else empty
	At       time.Time              // the platform's timestamp, if it can be trusted; else zero
	Command  string                 // a Command's name, without slash
	Args     map[string]string      // by option name, as typed
	Users    map[string]outbox.User // the persons meant by options of type User
	// Server is the community to which the room belongs, as the platform counts
	// them; empty: none, or the bot is not in it. Where each room is one by itself
	// it is the room's channel.
	Server string
	// Moderator: the platform says that the person moderates the room.
	Moderator bool
	// Except are the commands for which that is not enough.
	Except []string
	// Manager: the platform says that the person manages the whole server.
	Manager bool
	Seats   *Seats // the persons in the seats of a local room; nil elsewhere
	Under   string // receipt of the message whose thread the request comes from; may be empty
	Reply   string // opaque route for the answer to this request; may be empty
	// Shows: the adapter shows Answer.Posts as Deliver would, and settles each, in order.
	// Otherwise the bot stores and delivers all posts and the answer. It stores questions
	// unanswered, and answers them when it delivers the answer.
	Shows bool
	// NotAfter is when an answer that is still waiting is dropped; zero: after a day.
	NotAfter time.Time
	// Flat: the room has no threads, so the adapter can show all posts of a new game,
	// and not only the first, which starts the thread of the others elsewhere.
	Flat bool
	// Alone: nobody but the person and the bot is in the room, or can come into it.
	Alone bool
	// Direct: nobody but the person and the bot is in the room, though others may come. From
	// there people can do what they do in the events of other rooms.
	Direct bool
	// Typed is what the person typed, if the bot keeps the log of the room. It is stored
	// there together with the outcome of the request, unless the answer is private.
	// Answer.Logged reports whether it was stored.
	Typed *match.Typed
	// Reads: nobody has pressed anything, so the request must change nothing. Of one that would,
	// Ask returns ErrChanges.
	Reads bool
	// Seq is the event after which a question about a game is answered; 0: the last.
	Seq int
	// Elsewhere: the person does not use the platform of Where, but a page that knows them by
	// a [Link]. They can only do what a game asks of its players, if the adapter of the
	// platform is a [Membership] and says that they are in the room. Ask returns the answer,
	// and the bot delivers the rest.
	Elsewhere bool
	thread    match.GameID // the game whose thread the request comes from
	event     contest.ID   // the event under whose message it does
	in        string       // that thread, as Where named it
	told      bool         // tests get the answer from Ask, and public posts delivered
}

// shown reports whether Ask returns the answer.
func (r Request) shown() bool { return r.Shows || r.Elsewhere || r.told }

// moderates reports whether the person counts as a moderator to a command.
func (r Request) moderates(command string) bool {
	return r.Moderator && !slices.Contains(r.Except, command)
}

// direct reports whether the person is alone with the bot.
func (r Request) direct() bool { return r.Alone || r.Direct }

// inServer reports whether the request comes from a server with several channels.
func (r Request) inServer() bool { return r.Server != "" && r.Server != r.Where.Channel }

// Seats are the two persons who play when nobody else is named: in a local
// room anyone may take the seat of Black or White.
type Seats struct {
	Black, White outbox.User
	Since        time.Time // when the person asking took their seat; their games are those opened since
}

// An Answer is what comes of a request.
type Answer struct {
	// Posts are those for the place of the request, in order, if the adapter shows them
	// (Request.Shows): public ones, and last the answer itself, if there is one, which is of
	// the kind [match.Answer]. There are no public ones if an older post of the game is still
	// on its way, or if the request was asked before.
	Posts []outbox.Post
	// Public: what came of the request is for everybody. Otherwise it was refused, or
	// answered to the person alone.
	Public bool
	Logged bool // Request.Typed is in the log of the room
}

// Own returns the post that answers the request; empty if there is none.
func (a Answer) Own() (p outbox.Post) {
	if n := len(a.Posts); n > 0 && a.Posts[n-1].Kind == match.Answer {
		p = a.Posts[n-1]
	}
	return p
}

// Unshared returns an answer without the button that shares it, for places where
// everybody reads private answers anyway. A refusal has no such button: when it asks
// which game is meant, its choices keep the option share of the request.
func Unshared(p outbox.Post) outbox.Post {
	if p.Private && !p.Refused {
		p.Controls = slices.DeleteFunc(slices.Clone(p.Controls), func(c match.Control) bool { return c.Args[shareOption.Name] != "" })
	}
	return p
}

// A Choice is a suggestion while typing: a label for people, and the value.
type Choice struct{ Label, Value string }
