package bot

import (
	"context"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// An Adapter connects the bot to one chat platform. It turns what people do
// there into requests and shows what the bot owes them. It knows nothing of
// Go; the bot knows nothing of the platform.
type Adapter interface {
	// Platform shows posts. Its name begins every id that the adapter mints, and is
	// what Room.Platform and Who.Platform say.
	outbox.Platform

	// Run connects, and asks service for each request until ctx is done; then it
	// returns nil. It may ask again what it has asked before: the same request
	// id gets the same answer. It moves whatever marks its place in the stream
	// of events only after Ask has returned.
	Run(ctx context.Context, service Service) error
}

// A Service is where an adapter brings its requests. All methods may be called
// concurrently.
type Service interface {
	// Commands gives what people can ask for, in the order of help.
	Commands() []Command
	// Ask answers a request, once: asked again with the same id, it changes
	// nothing and gives the same answer. An error means that nothing is known to
	// have been done and that asking again is safe.
	Ask(ctx context.Context, r Request) (Answer, error)
	// Bare reports whether something that was typed without a command is a turn, and
	// returns the request for it. It is one if [BareTurn] reads it so and the person is to
	// move in the game in whose thread it was typed, or, where there are no threads, in
	// one that they play there; and if it was one before, under the same id. If it is
	// none although [BareTurn] reads it so, why may tell a player the reason. It needs ID,
	// Who, Where, Under, Flat and Lang of r, and reads only. An error means that asking
	// again is safe.
	Bare(ctx context.Context, r Request, typed string) (turn Request, ok bool, why string, err error)
	// Settle stores that the asker has shown a post of Answer.Posts, and what it owes
	// after it. Settling twice is settling once.
	Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes ...outbox.Owes) error
	// Release gives back a post of Answer.Posts that the asker could not show, and
	// those after it: err says why, as an error of Deliver does, and the bot goes on
	// from there.
	Release(ctx context.Context, p outbox.Post, err error) error
	// Owe stores decorations that follow no post. Where says for which platform.
	Owe(ctx context.Context, where match.Room, owes ...outbox.Owes) error
	// Done drops the decoration of a kind and key, if there is one.
	Done(ctx context.Context, where match.Room, kind, key string) error
	// Suggest gives at most 25 choices for an option of a command that is being
	// typed. It reads only.
	Suggest(ctx context.Context, r Request, option, prefix string) []Choice
	// Scene gives the picture of a game after event seq, for adapters that draw
	// what they have shown before.
	Scene(ctx context.Context, game match.GameID, seq int) (render.Scene, error)
	// Away says that some or all of a platform cannot be reached, and Back that all
	// of it can again, before anything is asked that came from there since. Between the two no flag of
	// its games falls, and afterwards that time counts for nobody. Both may be said
	// again at any time; a platform that is away when the program ends is away
	// until an adapter says that it is back.
	Away(ctx context.Context, platform string) error
	Back(ctx context.Context, platform string) error
	// Knows reports whether a receipt is of a message about a game.
	Knows(ctx context.Context, platform string, r outbox.Receipt) (bool, error)
	// Before returns when the bot was last there before it began: where an old copy of
	// its database was put back, that is when the copy was made. Zero: it never was.
	Before(ctx context.Context) (time.Time, error)
	// Restored says in each running game of a room that an old copy of the database was
	// put back, and where the game stands: once for a copy. Call it when what was said
	// since has been asked again.
	Restored(ctx context.Context, where match.Room, copied time.Time) error
	// Servers says in which servers of a platform the bot is now: all of them. One
	// in which it no longer is, and a week later still is not, is forgotten with its
	// games; meanwhile no flag of them falls, and if it comes back that time counts
	// for nobody. It may be said at any time; after an error nothing is known.
	Servers(ctx context.Context, platform string, in []string) error
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
	Typed  *match.Typed
	thread match.GameID // the game in whose thread it is asked
}

// Seats are the two persons who play when nobody else is named: in a local
// room Black and White are seats in which anyone may sit.
type Seats struct{ Black, White outbox.User }

// An Answer is what the person who asked is told. Its Text is to be put through
// [Fill].
type Answer struct {
	Text     string // may be empty when a post says it all
	Lang     string // BCP 47 tag of what it says
	Private  bool   // for the eyes of the person who asked alone
	Scene    *render.Scene
	Chart    *render.Chart // instead of a scene
	File     *outbox.File
	Controls []match.Control
	Logged   bool // Request.Typed is in the log of the room
	Refused  bool // the command was not carried out; unset if the request was asked before
	// Moderators: it was not carried out because the person is no moderator.
	Moderators bool
	// Posts are the request's own, if it Shows them: those that everybody may see, in
	// the place where it was asked, in order. There are none if an older post of the
	// game is still on its way, or if the request was asked before.
	Posts []outbox.Post
}

// Picture returns the picture of an answer, and a name for its file; nil if there is
// none.
func (a Answer) Picture() (p render.Picture, name string) {
	if a.Chart != nil {
		return *a.Chart, "compare.png"
	}
	return a.Scene.Picture(), "board.png"
}

// Empty reports whether an answer says and shows nothing: its posts say it all.
func (a Answer) Empty() bool {
	return a.Text == "" && a.Scene == nil && a.Chart == nil && a.File == nil && len(a.Controls) == 0
}

// Unshared returns the answer without the button that shares it, for places where
// everybody reads private answers anyway. A refusal has no such button: if it asks which
// game is meant, each of its choices shares, if that was asked for.
func (a Answer) Unshared() Answer {
	if a.Private && !a.Refused {
		a.Controls = slices.DeleteFunc(slices.Clone(a.Controls), func(c match.Control) bool { return c.Args[shareOption.Name] != "" })
	}
	return a
}

// A Choice is a suggestion while typing: what is shown and what is meant.
type Choice struct{ Label, Value string }
