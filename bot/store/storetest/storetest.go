// Package storetest says what every store must do, as tests.
package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Storage is what is tested: all that the bot wants kept.
type Storage interface {
	bot.Store
	bot.RoomLog
	// Message returns the message of a key, or ErrNotFound.
	Message(ctx context.Context, key string) (outbox.Message, error)
	Holder(ctx context.Context, platform, id string) (bot.Holder, error)
	Hold(ctx context.Context, h, seen bot.Holder) (bot.Holder, error)
	KeepHolder(ctx context.Context, h bot.Holder) (bool, error)
	Release(ctx context.Context, platform, id string, act *match.Act) error
	Record(ctx context.Context, slug string) (bot.Record, error)
	Records(ctx context.Context, browser string) ([]bot.Record, error)
	KeepRecord(ctx context.Context, slug string, shared bool, visited time.Time) error
	VisitRecord(ctx context.Context, slug string, visited time.Time) error
	DeleteRecord(ctx context.Context, slug string, act *match.Act) error
}

// Run tests a kind of storage. Open returns an empty one and closes it at the end
// of its test.
func Run(t *testing.T, open func(*testing.T) Storage) {
	for _, test := range []struct {
		name string
		run  func(*fixture)
	}{
		{"a step is read back as it was taken", stepReadBack},
		{"a refusal leaves its answer and nothing else", refusal},
		{"a request is taken once", requestTwice},
		{"a step that fails leaves nothing behind", nothingOfAFailedStep},
		{"a step must fit the log, and what it makes due its match", stepsMustFit},
		{"a step that was given up is not taken", givenUp},
		{"of steps from one position one is taken", racingSteps},
		{"what is due is what the last step of its match says", dueReplaced},
		{"what is due comes in order, at its time and not before", dueInOrder},
		{"the matches with a deadline are found in order, of a platform, of a server", runningMatches},
		{"the matches of a clock that was ahead are found in order", matchesAhead},
		{"a match that is not there is not found", noMatch},
		{"matches of a channel are numbered as they come", numbers},
		{"matches opened at once get different numbers", racingNumbers},
		{"matches are found by room, player, state and number", findMatches},
		{"the last changed match comes first", lastChangedFirst},
		{"what has changed in a match is stored, though it is known how it stood", changedStanding},

		{"an event is read back as it was stored", contestReadBack},
		{"a step of an event that comes too late leaves nothing behind", contestConflicts},
		{"a step of an event must fit its log", contestsMustFit},
		{"timed actions of an event stay until they are done", contestDue},
		{"a game knows its table of an event", fixtures},
		{"events are found by place and state, the newest first", findContests},
		{"the events that somebody is in are found", membersOfContests},
		{"a draft counts for a day", drafts},
		{"posts of an event are posts", postsOfContests},
		{"where nothing can be posted about an event is known, until its organisers are told", silences},
		{"who is erased leaves no rank in events", erasedFromContests},
		{"drafts are pruned, and messages of events that are over", prunedContests},

		{"changes of games and events are found in one look", newestSeqs},

		{"what moderators do is stored with its step, and read by room", acts},
		{"what moderators did is pruned after a year", prunedActs},
		{"what moderators did goes with its server", forgottenActs},

		{"a post comes back as it was owed", postReadBack},
		{"a step marks what nothing older waits before", triedByStep},
		{"posts are changed while they wait", changePosts},
		{"answers wait for their persons, beside the games", answers},
		{"decorations", decorations},
		{"settling twice is settling once", settleTwice},
		{"the last receipt of a kind is known", lastReceipt},
		{"the first receipt of a game is known, and the game by it", firstReceipt},
		{"posts of a room out of reach are set aside", park},
		{"and taken up again when it is in reach", unpark},
		{"a game whose thread is out of reach holds up no other", parkGame},
		{"the longer it is out of reach, the more seldom it is tried", parkedLonger},
		{"what is owed to one game waits its time though another's is shown", parkedBesideOthers},

		{"a person keeps one id", onePerson},
		{"a person seen twice at once is one", racingPeople},
		{"a name is kept as it is", strangeNames},
		{"erased and unknown people are left out", erased},
		{"what people have chosen is kept until they are erased", preferences},
		{"what has been chosen for a room is kept", roomSettings},
		{"all that a request needs to know is found in one look", known},
		{"what has been chosen for a server is kept, and what belongs to it", serverSettings},
		{"a server is forgotten with all that belongs to it, and nothing else", forgottenServer},
		{"who is forgotten meanwhile does nothing", strangersStep},

		{"answers are pruned after a month", prunedAnswers},
		{"deleted games are pruned after a month", prunedGames},
		{"posts are pruned that no game needs", prunedPosts},
		{"strangers are pruned", prunedPeople},

		{"a name has one holder", holders},
		{"browsers are a person", links},
		{"records are kept by whoever brought them", records},
		{"records are pruned", prunedRecords},
		{"of many who take a name one gets it", racingHolders},
		{"a bookmark is kept", bookmarks},
		{"an outage is kept until it is dropped", outages},
		{"messages are numbered and read in order", messages},
		{"a message is kept once", messageTwice},
		{"what was typed and shown is kept with its step and post", messagesOfSteps},
		{"a message comes back with all that belongs to it", messageExtra},
		{"messages said at once all get their number", racingMessages},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(&fixture{T: t, Storage: open(t), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)})
		})
	}
}

// A fixture holds the parts of a test: a storage, and a clock that it moves itself.
type fixture struct {
	*testing.T
	Storage
	now      time.Time
	requests int
}

const (
	ada = match.PersonID("ada")
	bob = match.PersonID("bob")
	eve = match.PersonID("eve")
)

var (
	garden = match.Room{Platform: "web", Channel: "garden"}
	attic  = match.Room{Platform: "web", Channel: "attic"}
	cellar = match.Room{Platform: "web", Channel: "cellar"}
)

// ctx is the test's context.
func (d *fixture) ctx() context.Context { return d.Context() }

// must ends the test if err is one.
func (d *fixture) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// pass lets time go by.
func (d *fixture) pass(t time.Duration) { d.now = d.now.Add(t) }

// request returns an id that was not asked before.
func (d *fixture) request() string {
	d.requests++
	return fmt.Sprintf("web:%s:%d", d.Name(), d.requests)
}

// fresh returns a match that is not stored yet, going between Ada and Bob.
func (d *fixture) fresh(id match.GameID, where match.Room) *match.Match {
	return &match.Match{
		ID: id, Rules: "two-button@1", Setup: rules.Setup{W: 9, H: 9, Komi: 13},
		Opener: ada, Where: where, Opened: d.now,
		Standing: match.Standing{State: match.Going, Black: ada, White: bob, ToMove: ada, Changed: d.now},
	}
}

// open stores a new match without events.
func (d *fixture) open(id match.GameID, where match.Room, change ...func(*match.Match)) *match.Match {
	d.Helper()
	m := d.fresh(id, where)
	for _, f := range change {
		f(m)
	}
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Match: m, New: true}))
	return m
}

// turn makes the step of the next event of m, with posts, without taking it.
func (d *fixture) turn(m *match.Match, posts ...match.OutboxPost) *match.Step {
	next := *m
	next.Seq++
	next.Changed = d.now
	return &match.Step{
		Request: d.request(), At: d.now, Match: &next,
		Events: []match.Event{{Seq: next.Seq, At: d.now, By: ada, Body: match.ParseBody(fmt.Sprintf("turn B %d", next.Seq)), Proof: "0123456789abcdef"}},
		Posts:  posts,
	}
}

// play takes the next event of m, with posts.
func (d *fixture) play(m *match.Match, posts ...match.OutboxPost) {
	d.Helper()
	step := d.turn(m, posts...)
	d.must(d.Commit(d.ctx(), step))
	*m = *step.Match
}

// post returns a post about m in its room.
func post(id, kind string, m *match.Match) match.OutboxPost {
	return match.OutboxPost{ID: id, Game: m.ID, Where: m.Where, Kind: kind, Seq: m.Seq, Texts: []bot.Text{{Key: id}}}
}

const day = 24 * time.Hour

// waits returns the posts that wait.
func (d *fixture) waits() []match.OutboxPost {
	d.Helper()
	posts, err := d.Waiting(d.ctx())
	d.must(err)
	return posts
}

// waiting returns their ids.
func (d *fixture) waiting() []string {
	d.Helper()
	ids := []string{}
	for _, p := range d.waits() {
		ids = append(ids, p.ID)
	}
	return ids
}

// settle says that posts were shown, each with a receipt made of its id.
func (d *fixture) settle(ids ...string) {
	d.Helper()
	for _, id := range ids {
		d.must(d.Settle(d.ctx(), id, outbox.Receipt("receipt of "+id), nil, outbox.Decorations{}, nil))
	}
}

// drain settles all posts that wait and returns them, those of each lane in their order.
func (d *fixture) drain() []string {
	d.Helper()
	ids := d.waiting()
	d.settle(ids...)
	return ids
}

// park parks the posts of a room, or of a game there, and reports whether it is the
// first time.
func (d *fixture) park(where match.Room, game match.GameID) bool {
	d.Helper()
	_, first, err := d.Park(d.ctx(), where, game, "not permitted: send messages")
	d.must(err)
	return first
}

func (d *fixture) parks(where match.Room, game match.GameID, first bool) {
	d.Helper()
	d.same("parked for the first time", d.park(where, game), first)
}

// unpark makes the parked posts of a room due again, and reports whether there are any.
func (d *fixture) unpark(where match.Room) bool {
	d.Helper()
	some, err := d.Unpark(d.ctx(), where, d.now, false)
	d.must(err)
	return some
}

func (d *fixture) unparks(where match.Room, some bool) {
	d.Helper()
	d.same("something to take up", d.unpark(where), some)
}

// read returns a match.
func (d *fixture) read(id match.GameID) match.Match {
	d.Helper()
	m, _, err := d.Match(d.ctx(), id)
	d.must(err)
	return m
}

// find returns the matches of a query.
func (d *fixture) find(q bot.Query) []match.Match {
	d.Helper()
	matches, err := d.Matches(d.ctx(), q)
	d.must(err)
	return matches
}
