package bot

import (
	"context"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// A Forgetting is somebody who asked to be forgotten.
type Forgetting struct {
	Person match.PersonID
	Who    outbox.User
}

// Errors of a Store.
var (
	// ErrConflict means that another event of the game, or another answer to the
	// request, was stored first: load the game and decide again.
	ErrConflict = outbox.ErrConflict
	// ErrNotFound means that there is no such game.
	ErrNotFound = outbox.ErrNotFound
)

// A Query selects matches. Empty fields match everything.
type Query struct {
	Where  match.Room // an empty Thread matches every thread
	Player match.PersonID
	States []match.State
	Number int
	Event  match.GameID // to which they belong
	Own    bool         // they belong to no event
	Limit  int          // 0: 100
	Any    bool         // in any order, where it only matters whether there are any
}

// A Store keeps all data. Its methods may be called concurrently. What a method
// has stored survives a loss of power.
type Store interface {
	outbox.Rows
	rooms.Store
	// FirstBookmark stores a bookmark unless there is one, and returns the one that there is then.
	FirstBookmark(ctx context.Context, name, value string) (string, error)
	// Forget deletes a person's name, so that no later text uses it, and stores that
	// Erase is to follow. Forgetting returns the people for whom it has not finished.
	Forget(ctx context.Context, f Forgetting) error
	Forgetting(ctx context.Context) ([]Forgetting, error)
	// Erase deletes what is stored about a person: their name, their settings, their
	// comments on games, the ranks that they declared in events, their drafts of events, and
	// the lines of the local room that go with them. The person's id stays in games, events,
	// posts, answers and other lines, and no longer refers to anybody. Another call finishes
	// what was interrupted.
	Erase(ctx context.Context, f Forgetting) error
	// MessagesOf returns the lines of the local room's transcript that go with a person:
	// what they typed, quotes of their comments, and private messages to them.
	MessagesOf(ctx context.Context, p match.PersonID, who outbox.User) ([]outbox.Message, error)
	// EventsBy returns the events that a person caused, by game, in order.
	EventsBy(ctx context.Context, p match.PersonID) (map[match.GameID][]match.Event, error)
	// Delivered returns which of some posts were shown.
	Delivered(ctx context.Context, posts []string) (map[string]bool, error)
	// Answered returns the stored answer to a request, if there is one.
	Answered(ctx context.Context, request string) (match.Reply, bool, error)
	// Match returns a match and its events, or ErrNotFound.
	Match(ctx context.Context, id match.GameID) (match.Match, []match.Event, error)
	// Header returns a match without its events, or ErrNotFound.
	Header(ctx context.Context, id match.GameID) (match.Match, error)
	// Seqs returns the numbers of the newest events of games, and of events (contests) the sum of
	// theirs and those of their games, without those that do not exist.
	Seqs(ctx context.Context, ids []match.GameID) (map[match.GameID]int, error)
	// Page returns the match whose page has a slug, without its events, or ErrNotFound.
	Page(ctx context.Context, slug string) (match.Match, error)
	// Events returns the events of a match with a Seq above after and at most to, which
	// must not be above that of the match.
	Events(ctx context.Context, id match.GameID, after, to int) ([]match.Event, error)
	// Running returns the ids of the matches that have a deadline, in order, beginning
	// after an id, at most limit: those of a platform, or only of a server of it, or
	// of all platforms for "".
	Running(ctx context.Context, platform, server string, after match.GameID, limit int) ([]match.GameID, error)
	// Ahead returns the ids of the matches that have times later than t both in their log
	// and among what is due, in order, beginning after an id, at most limit.
	Ahead(ctx context.Context, t time.Time, after match.GameID, limit int) ([]match.GameID, error)
	// Matches returns the matches that a query selects, the last changed first. With Any
	// its cost depends on the limit, and not on the number of matches.
	Matches(ctx context.Context, q Query) ([]match.Match, error)
	// Commit stores a step, or returns ErrConflict and stores nothing. It sets the
	// Number of s.Match if the match is new.
	Commit(ctx context.Context, s *match.Step) error
	// Contest returns an event and its log, or ErrNotFound.
	Contest(ctx context.Context, id contest.ID) (contest.Head, []contest.Event, error)
	// ContestPage returns the event whose page has a slug, or ErrNotFound.
	ContestPage(ctx context.Context, slug string) (contest.Head, error)
	// Contests returns at most limit events of a place, which may be anything from a thread
	// to all platforms, that are in one of the states, or in any for none, the newest first.
	Contests(ctx context.Context, where match.Room, states []contest.State, limit int) ([]contest.Head, error)
	// ContestsOf returns the events that a person is in, as a player, on the waiting list or
	// as an organiser, also those that are over, the newest first.
	ContestsOf(ctx context.Context, p match.PersonID) ([]contest.Head, error)
	// ContestEventsBy returns the lines in the logs of events that a person caused, and
	// those about them, by event, in order.
	ContestEventsBy(ctx context.Context, p match.PersonID) (map[contest.ID][]contest.Event, error)
	// CommitContest stores a step of an event, or returns ErrConflict and stores nothing. If
	// the event is new, s.Contest is then a copy that has its Number.
	CommitContest(ctx context.Context, s *contest.Step) error
	// Silences returns the events that go on and have posts, or posts of their running games,
	// parked since the last one was shown, once each; but not those whose organisers have been
	// told (contest.SilencedRequest). It forgets that they were told as soon as no such post
	// is parked or tried again.
	Silences(ctx context.Context) ([]contest.Silence, error)
	// WaitingSince returns since when each going game of an event waits: when it last changed, time
	// that was credited to the clocks apart.
	WaitingSince(ctx context.Context, event match.GameID) (map[match.GameID]time.Time, error)
	// Acts returns what moderators did in a channel, and to the whole of its server if it has
	// one, the newest first, at most limit after the first skip.
	Acts(ctx context.Context, where match.Room, server string, skip, limit int) ([]match.Act, error)
	// ActsBy returns what a person did as a moderator, anywhere, the newest first.
	ActsBy(ctx context.Context, p match.PersonID) ([]match.Act, error)
	// Draft returns what somebody has chosen so far of an event that they organise in a
	// channel; empty: nothing, or a day ago.
	Draft(ctx context.Context, p match.PersonID, where match.Room, now time.Time) (string, error)
	// Unpark makes the posts due again that were parked for a channel long enough ago,
	// in their order, and reports whether there are any. The time that is long enough
	// doubles with each attempt; if the room can surely be reached again, none is.
	Unpark(ctx context.Context, where match.Room, now time.Time, sure bool) (some bool, err error)
	// DueBy returns at most limit timed actions of matches and events that are due at or
	// before now, the oldest first. Its cost does not depend on the number of matches.
	DueBy(ctx context.Context, now time.Time, limit int) ([]match.Due, error)
	// NextDue returns the time of the next timed action; zero if there is none.
	NextDue(ctx context.Context) (time.Time, error)
	// Players returns the users behind the ids, and their settings, in one query. It
	// leaves out those erased or unknown.
	Players(ctx context.Context, ids []match.PersonID) (map[match.PersonID]outbox.User, map[match.PersonID]match.Preferences, error)
	// Prune looks at no more than limit rows, those after a place, and deletes the
	// ones that are no longer needed; never games and their events. It returns the
	// place from which to go on, empty at the end. The first place is empty, too.
	Prune(ctx context.Context, now time.Time, after string, limit int) (next string, err error)
	// Shown returns the receipts of two posts of a game that were shown in a channel:
	// the last one of a kind, either public or private (empty if it has been removed
	// since), and the very first, under which the game's thread is.
	Shown(ctx context.Context, game match.GameID, where match.Room, kind string, private bool) (last, first outbox.Receipt, err error)
	// GameUnder returns the game that the message with a receipt shows, or
	// ErrNotFound.
	GameUnder(ctx context.Context, platform string, r outbox.Receipt) (match.GameID, error)
	// Link returns the browser or the address that has a secret, or ErrNotFound, also if the
	// person was forgotten.
	Link(ctx context.Context, secret string) (Link, error)
	// Browsers returns the browsers that are a person, the newest first.
	Browsers(ctx context.Context, p match.PersonID) ([]Link, error)
	// Unlink makes a browser nobody again. There need not be a link.
	Unlink(ctx context.Context, secret string) error
	// AddRecord stores a record, or that it was visited if there is one with its slug. It
	// returns ErrTooMany if there are most of its browser already, and ErrFull if there is no
	// room for more. In a room with most of them the one that was longest not visited is
	// deleted instead.
	AddRecord(ctx context.Context, r Record, most int) error
	// RecordsOf returns the records that a person showed, and those of the browser that holds
	// their name or seat, the newest first.
	RecordsOf(ctx context.Context, p match.PersonID) ([]Record, error)
	Close() error
}
