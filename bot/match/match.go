// Package match holds the game that two people play, and all decisions about it.
//
// A [Match] is a header; its log is a list of [Event]s. [Fold] turns the log into a
// [Position], and [Position.Next] returns the position after more events:
//
//	p, err := match.Fold(m, events)
//	p.Game          // the game of Go, as package rules plays it
//	p.Reading(now)  // what the clocks show
//
// To change a match, put everything that the decision depends on into an [Input] and
// call Decide:
//
//	step := match.Decide(&match.Input{
//		Request:  match.Request{ID: "web:0b9f…", Command: "place", Args: map[string]string{"at": "D4"}},
//		By:       "p7",
//		Match:    m,
//		Position: p,
//		Now:      now,
//	})
//
// [Commands] lists all requests. [DecideDue] decides timed actions, such as flags
// and reminders. The [Step] holds everything that changes: an answer, new events, posts,
// and the next timed actions. The same input always leads to the same step, so a step that
// conflicts with another change is thrown away and decided again. [BoardOptions],
// [AnswerOptions] and [MenuOptions] return what may be done now.
//
// events.go lists the events that a log may hold and how each changes a position, and
// fold.go has the fold. decide.go has what all decisions share. Decisions about new
// games are in new.go, about turns in turns.go, about questions between players in
// ask.go, about the end in settle.go, and timed actions in due.go. What is offered is in
// options.go.
//
// The package does no input or output, takes no [context.Context], and uses neither the
// clock nor chance: the caller passes both in. Its functions may be called concurrently.
package match

import (
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A GameID is the bot's own id of a game.
type GameID string

// A PersonID is the bot's own id for somebody. Logs, posts and answers hold only
// this; names are put in on delivery.
type PersonID string

// A Room is where people talk: a channel and, where the platform has them, a
// thread in it.
type Room struct {
	Platform string
	Channel  string
	Thread   string // empty: the channel itself
}

// WithoutThread returns the channel itself.
func (r Room) WithoutThread() Room {
	r.Thread = ""
	return r
}

// Link writes a room so that a platform may make a link of it.
func (r Room) Link(words text.Message) text.Message {
	return text.Link(text.Place{Platform: r.Platform, Channel: r.Channel, Thread: r.Thread}, words)
}

// A Match is a game's header: its rules, its players, and its place. Its events are
// stored beside it.
type Match struct {
	ID      GameID
	Rules   string // "two-button@1"
	Setup   rules.Setup
	Clock   clock.Control
	Rated   bool     // set by an older version, for ratings that never came; shown with the game
	NoHints bool     // the bot does not estimate, suggest or warn: the players decide without help
	Opener  PersonID // who asked for the game
	Invited PersonID // the only person who may join; empty: anyone
	Where   Room
	Number  int // in its channel, from 1; set by the store
	Opened  time.Time
	Fixture Fixture
	Standing
}

// A Fixture is the place of a match in an event: a league or a tournament, see package
// contest. The zero value is that of a match that belongs to none.
type Fixture struct {
	Event        GameID
	Round, Table int // from 1
}

// Standing is the part of a Match that changes. It follows from the events and is
// stored beside them so that lists need no replay.
type Standing struct {
	State        State
	Page         string   // slug in the address of its page, hard to guess; empty: it has none, because it is older than pages
	Black, White PersonID // empty while the seat is open
	ToMove       PersonID // empty when nobody is to move
	Seq          int      // of the last event
	Result       string
	Deadline     time.Time // when the flag falls if nothing happens; zero: never
	Changed      time.Time
	Head         string // of the proof of the match; empty if the last event is older than these
}

// A State is the state of a match.
type State string

// The states.
const (
	Open      State = "open"      // waits for somebody to join
	Going     State = "going"     // being played or settled
	Ended     State = "ended"     // has a result
	Cancelled State = "cancelled" // ended without one, by agreement or before it began
	Sandbox   State = "sandbox"   // a position to talk about: its opener plays both colours, and nothing counts
	Deleted   State = "deleted"   // hidden, and pruned after a month: both players wanted that, or a moderator, or a sandbox has expired
)

// An Event is one line of a match's log.
type Event struct {
	Seq   int // from 1, consecutive, never used twice
	At    time.Time
	By    PersonID
	Body  Body
	Proof string // chains it to those before, see [Position.Prove]
}

// The kinds of posts.
const (
	Show   = "show"   // the board and the ledger; a newer one makes an unsent older one pointless
	Notice = "notice" // something that must be read, each once and in order
	Status = "status" // replaces the last status
	Remove = "remove" // takes a message away
	Sheet  = "sheet"  // shows an event; it replaces the last one in the same message
	Answer = "answer" // answers a request, where it was made
)

// An OutboxPost is a post before it is worded: it refers to the game and holds
// words by key, so that it can be worded again at any time.
type OutboxPost struct {
	ID      string
	Game    GameID
	Where   Room
	Kind    string
	Seq     int
	Texts   []text.Message
	Notify  []PersonID
	Private bool
	Again   bool // a reminder that replaces an earlier one of the same turn; a sheet in a new place, where none is to be replaced
	Reply   string
	N       int       // set by Commit: its place in its lane
	Attempt int       // how many attempts to show it have ended
	Due     time.Time // of the next attempt
	Tried   bool      // it may have been sent; Commit sets it if the post is the first of its lane
	Asker   bool      // the asker shows it, if it can be shown at once; not stored
	// Elsewhere: another process shows it, so Commit does not set Tried. Holder is as which
	// holder of its unit this process shows it, empty if there is one process. Neither is stored.
	Elsewhere bool
	Holder    string

	// Of an answer, which belongs to no game and has Private if only For may read it:
	For      PersonID // the person who asked; empty for other posts
	Question *Question
	Controls []Control
	Refused  bool      // the request was not carried out, and the answer may wait and merge with others for the same person and place
	Lang     string    // BCP 47 tag of the language of the person's program; may be empty
	NotAfter time.Time // then it is dropped
}

// A Question is a request that changes nothing. It is stored in place of its answer, which
// the bot finds when it delivers the post. If an answer has none, its Texts are the answer.
type Question struct {
	Command   string
	Args      map[string]string
	Game      GameID   // or event; empty: it is about none
	Seq       int      // the event of the game after which it was answered; 0: it has no game, or no answer yet
	Moderator bool     // the person is a moderator,
	Except    []string // but not to these commands
}

// Held reports whether the asker shows the post.
func (o OutboxPost) Held() bool { return o.Asker && o.Tried }

// Supersedes reports whether older posts of its kind in its lane are pointless once it waits.
func (o OutboxPost) Supersedes() bool {
	return !o.Private && (o.Kind == Show || o.Kind == Status || o.Kind == Sheet)
}

// A Lane identifies a queue of posts that are shown one after another, in order: the
// posts of a game in a channel, those of a channel that belong to no game, or the answers
// to a person in a place. Lanes do not wait for one another, because platforms limit a
// game's thread, not its channel.
type Lane struct {
	Platform, Channel string
	Game              GameID
	Thread            string // of answers
	For               PersonID
}

// Lane returns the lane of the post.
func (o OutboxPost) Lane() Lane {
	in := Lane{Platform: o.Where.Platform, Channel: o.Where.Channel, Game: o.Game}
	if o.Kind == Answer {
		in.Thread, in.For = o.Where.Thread, o.For
	}
	return in
}

// A Reply is an answer as the inbox stores it: keys of texts, without names.
type Reply struct {
	Texts    []text.Message
	Private  bool
	Refused  bool // nothing was changed; not stored
	Controls []Control
	Game     GameID // for the scene of an answer that shows the board; else empty
}

// A Control is a button below a message. Pressing it makes a request for the command
// with these arguments. They include the seq at which it was made, so that the bot can
// tell when the game has moved on since.
type Control struct {
	Label   string
	Command string
	Args    map[string]string
	Ask     string // the option that the platform asks for first: a point, or some of what Suggest suggests; may be empty
}

// Typed is what somebody typed in a room whose log the store keeps.
type Typed struct {
	Room string
	At   time.Time
	By   PersonID // the seat from which they typed it, if several people use it; empty: Step.By
	Text string
}

// A Step is everything that one request changes. All of it is stored, or none.
type Step struct {
	Request string // inbox key
	At      time.Time
	By      PersonID // who asked; empty: nobody, or nobody known
	Answer  Reply
	Match   *Match       // new or changed; nil when nothing changed
	New     bool         // Match is new: the store gives it its Number
	Was     *Standing    // of Match before the step, if known: the store writes only what differs
	Events  []Event      // consecutive, from Match.Seq before the step + 1
	Posts   []OutboxPost // in the order in which they are to be read
	Due     []Due        // the timed actions of Match from now on; they replace the earlier ones
	Prefs   *Preferences
	Room    *RoomSettings
	// PrefsWas and RoomWas are the settings from which Prefs and Room were decided, if known: the
	// store reports a conflict if others are stored.
	PrefsWas *Preferences
	RoomWas  *RoomSettings
	Link     *Linking
	Draft    *Draft
	Act      *Act // for the log of moderators; nil: it took no moderator's rights
	// Owes are timed actions of the event that Match belongs to; they are added to its others.
	Owes   []Due
	Typed  *Typed     // what was typed, in a room whose log the store keeps; nil: nothing
	Where  Room       // of the request; empty: not known
	People []PersonID // who asked, and who is meant; the store reports a conflict if one was erased meanwhile

	// Replaces lists open challenges that Match, a new game, replaces, and the game
	// whose rematch it is. The bot changes them once the step is stored, see [Replace];
	// the store ignores them.
	Replaces []GameID

	// After is the position after Events, for the cache; the store ignores it.
	After *Position
}

// An Act is something that somebody did as a moderator of a room. The room's moderators read
// who did what there.
type Act struct {
	Where  Room   // without a thread; without a channel: the whole server
	Server string // empty: only the channel
	What   text.Message
	At     time.Time // of a step: that of the step
	By     PersonID  // likewise; empty: nobody known, such as somebody with the owner token of a local room
}

// A Draft is what somebody has chosen so far of an event that they organise in a room. It
// is kept a day.
type Draft struct {
	Person PersonID
	Where  Room
	Text   string // as contest.Draft writes it; empty: there is none any more
	At     time.Time
}

// A Linking changes which browsers are a person. Secrets are hashes.
type Linking struct {
	Person PersonID
	Spends string   // the secret of the address that is used
	Secret string   // of a new browser, or without Name of a new address
	Name   string   // what the browser is called, "Firefox"
	End    []string // the secrets of the browsers that are nobody again
}

// A Due is a timed action of a match, unless something else happens before: a flag
// falls, a reminder is sent, a challenge expires. It is carried out by a request whose
// id consists of Kind, Game and Seq, so that a second attempt has no effect.
type Due struct {
	Game GameID
	Kind string // "flag", "remind", "silent", "expire"; one of each kind and At for a match
	At   time.Time
	Seq  int // of the match when it became due
}

// Preferences are a person's own settings. The zero value of each field is the default.
type Preferences struct {
	Person PersonID
	Remind string      // "channel" (default), "direct" or "none"
	Zone   string      // IANA name; empty: UTC
	Quiet  clock.Hours // no reminders between From and To, minutes of the day in Zone
	Lang   string      // BCP 47 tag; empty: that of their program
	Theme  string      // of the pictures that they alone see; empty: that of the room
	Layout string      // likewise
	Coords string      // likewise: the coordinates
}

// RoomSettings are the settings of a channel, or of all channels of a server. The zero
// value of a field means that of the server, and in the server's settings the default.
type RoomSettings struct {
	Room    Room   // without its thread; of a server the platform alone
	Server  string // the server's id; empty: they are a channel's
	Rules   string // name of the ruleset of new games
	Size    string // "13x13"
	Clock   string // as clock.Parse reads it
	Undo    int    // seconds in which a turn may be taken back freely; 0: 60, below 0: never
	Opens   string // who may open games: "anyone" (default), "moderators" or "nobody"
	Theme   string // of pictures
	Layout  string // of pictures
	Coords  string // of pictures
	Lang    string // BCP 47 tag; empty: the one that the platform names, or English
	Hints   string // "on" (default) or "off": whether new games have them, see Match.NoHints
	Letters string // "on" or "off" (default): whether boards are shown in letters beside their pictures
	Pages   Pages  // whether games have pages
	Events  string // who may organise events: "moderators" (default) or "anyone"
	// Since is when the games that have pages begin: none was opened before. Zero: all have
	// them.
	Since time.Time
	// Listed is the same for the games that search engines may list, if Pages is PublicPages.
	Listed time.Time
}

// Pages says whether the games of a room have pages.
type Pages string

// The values of Pages. The default is the platform's.
const (
	NoPages     Pages = "off"
	LinkPages   Pages = "link"   // for those who have the address
	PublicPages Pages = "public" // and search engines may list them
	SealedPages Pages = "sealed" // the room is encrypted, so they are off whatever it has chosen; never stored
)

// On reports whether games have pages.
func (p Pages) On() bool { return p == LinkPages || p == PublicPages }

// Paged reports whether anybody who has its address may read the page of a match that is
// at p now: those opened since the room has pages, and others if both players have agreed.
func (m Match) Paged(p *Position, room RoomSettings) bool {
	if m.Page == "" || !room.Pages.On() || m.State == Deleted {
		return false
	}
	return !m.Opened.Before(room.Since) || p != nil && !p.Paged.IsZero() && !p.Paged.Before(room.Since)
}

// Listed reports whether search engines may list the page of a match, and previews of it
// name the players.
func (m Match) Listed(room RoomSettings) bool {
	return room.Pages == PublicPages && !m.Opened.Before(room.Listed)
}
