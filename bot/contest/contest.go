// Package contest holds an event: a league or a tournament that people play in games of
// package match, and all decisions about it. Halfpoint calls it an event when it speaks to
// people; in the code an event is a line of a log.
//
// An event has a log of its own. [Fold] turns the log into a [Contest]: the terms, who plays,
// the rounds with their tables and results. Like package match, this one decides and does
// nothing: [Decide] and [DecideDue] return a [Step], which holds everything that changes.
// The games are matches with a [match.Fixture]; the step that ends such a match owes the
// event a timed action, which takes the result into the log of the event.
//
// contest.go has the data, events.go the lines of a log and the fold, terms.go what an
// organiser chooses, and table.go the standings. decide.go has what all decisions share;
// those of people are in signup.go, rounds.go and organise.go, those of time in due.go. The
// posts are in say.go, what the moderators of the room read about all that in acts.go.
//
// The package does no input or output and uses neither the clock nor chance: the caller
// passes both in. Its functions may be called concurrently.
package contest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules"
)

// An ID is the bot's own id of an event. Posts and timed actions refer to a game or to an
// event in the same way, so it has the type of a game's, and a prefix that no game has.
type ID = match.GameID

// Prefix begins the id of every event.
const Prefix = "e-"

// Is reports whether an id is that of an event.
func Is(id match.GameID) bool { return strings.HasPrefix(string(id), Prefix) }

// A State is the state of an event.
type State string

// The states.
const (
	SignUp    State = "signup"    // people may join
	Playing   State = "playing"   // a round is paired
	Over      State = "over"      // all results are there
	Cancelled State = "cancelled" // called off
)

// A Silence is that the bot may not write where an event is played: posts wait there.
type Silence struct {
	Event ID
	Where match.Room
	Why   string // the text of the error with which the platform refused a post
}

// SilencedRequest begins the request of the step that tells the organisers of an event of a
// [Silence]; the id of the event follows. Its answer is kept until the bot can write there again.
const SilencedRequest = "silenced:"

// Runs are the states of an event that is not over.
var Runs = []State{SignUp, Playing}

// A Head is what lists of events need: it is stored beside the log, from which it follows.
type Head struct {
	ID      ID
	Page    string     // slug in the address of its page, hard to guess
	Where   match.Room // its first place
	Number  int        // in its channel, from 1; set by the store
	Title   string
	State   State
	Seq     int // of the last event of the log
	Opened  time.Time
	Changed time.Time
}

// A Contest is an event, folded from its log. Nobody may change it or what it refers to.
type Contest struct {
	Head
	Terms
	Places     []match.Room
	Organisers []match.PersonID // the first published it; each once
	Players    []Player         // in the order of joining; a player's number is the place here, from 1
	Drawn      [][]int          // the players of each group, in the order in which they were drawn; nil: not yet
	Rounds     []Round
	Asking     *Asking  // between two rounds; else nil
	Choices    []Choice // about the next round
	Bar, Floor int      // McMahon: the ranks above and below which all start alike
}

// A Player is somebody who has joined.
type Player struct {
	Person match.PersonID // the present one, if the player was replaced
	Rank   int            // see ParseRank; NoRank: none
	Seeded int            // the rank by which the seat is paired: that of its player when the first round was drawn
	Joined time.Time
	Left   time.Time        // when they left, or were withdrawn; zero: they are in
	Before []match.PersonID // whom they replaced, oldest first
	Group  int              // from 1, once groups are drawn
	Seq    int              // of the line with which they joined
	Out    int              // of the line with which they left; 0: they are in
}

// In reports whether the player has not left.
func (p Player) In() bool { return p.Left.IsZero() }

// A Round is a round of the event. A league has one.
type Round struct {
	Paired  time.Time
	Began   time.Time // when the last game existed and the clocks began; zero: not yet
	Ends    time.Time // when the clocks have surely run down; zero until it began
	Tables  []Table   // by number, from 1
	Bye     int       // the player without an opponent; 0: none
	Absent  []int     // players who sit out
	Choices []Choice  // of the organisers
	Seq     int       // of the line that paired it
}

// A Table is a game of a round.
type Table struct {
	Group        int // 0: there are none
	Handicap     int // stones
	Book         int // which of the rulesets of the event, from 0
	Black, White int // players
	Game         match.GameID
	Page         string        // slug of the game's page
	Main         time.Duration // each player's time; 0: half of the round
	Opened       bool          // the game exists
	Result       *Result       // nil: none yet
	Past         []Result      // those before it, which were corrected
}

// A Result is what a table counts in the event, which may differ from that of its game.
type Result struct {
	Black, White int    // half points: 2 for a win, 1 for each of a draw
	Game         string // as the game writes it, "B+3.5" or "W+T"; empty: it was typed, or given without a game
	How          How
	By           match.PersonID // who typed it; empty: nobody
	Seq          int            // of the line that gave it
	At           time.Time
}

// Verdict returns the result as match.CloseFixture takes it.
func (r Result) Verdict() string {
	switch {
	case r.How == Annulled, r.Black == r.White && r.Black == 0:
		return "void"
	case r.Black > r.White:
		return "black"
	case r.White > r.Black:
		return "white"
	}
	return "draw"
}

// A How says how a result came about.
type How string

// The ways.
const (
	Played    How = "played"    // the game ended
	Typed     How = "typed"     // the organiser gave it
	Forfeited How = "forfeited" // a player was withdrawn
	Annulled  How = "annulled"  // the table counts for nobody
)

// Running reports whether people play in it, or may still join.
func (c *Contest) Running() bool { return c.State == SignUp || c.State == Playing }

// Organises reports whether somebody may direct the event.
func (c *Contest) Organises(p match.PersonID) bool {
	return p != "" && slices.Contains(c.Organisers, p)
}

// Player returns the number of a person who has joined and not left, or 0.
func (c *Contest) Player(p match.PersonID) int {
	for i, player := range c.Players {
		if p != "" && player.Person == p && player.In() {
			return i + 1
		}
	}
	return 0
}

// Seat returns the number of a person who has joined, also if they have left or were replaced
// since, or 0.
func (c *Contest) Seat(p match.PersonID) int {
	if n := c.Player(p); n > 0 {
		return n
	}
	for i, player := range c.Players {
		if player.Person == p || slices.Contains(player.Before, p) {
			return i + 1
		}
	}
	return 0
}

// Seated returns the numbers of those who have a seat, and of those on the waiting list,
// both in order.
func (c *Contest) Seated() (seated, waiting []int) {
	for i, p := range c.Players {
		drawn := func(group []int) bool { return slices.Contains(group, i+1) }
		switch {
		case !p.In():
		case c.Drawn != nil && !slices.ContainsFunc(c.Drawn, drawn): // also when somebody has left since
			waiting = append(waiting, i+1)
		case c.Drawn != nil, len(seated) < c.Most():
			seated = append(seated, i+1)
		default:
			waiting = append(waiting, i+1)
		}
	}
	return seated, waiting
}

// Most returns how many can play.
func (c *Contest) Most() int {
	if c.Seats == 0 {
		return MaxPlayers
	}
	return c.Seats
}

// Round returns the round that is played, or was played last; nil: none is paired.
func (c *Contest) Round() *Round {
	if len(c.Rounds) == 0 {
		return nil
	}
	return &c.Rounds[len(c.Rounds)-1]
}

// Players returns the numbers of those who play in the round.
func (r Round) Players() (players []int) {
	for _, t := range r.Tables {
		for _, n := range t.Seats() {
			if !slices.Contains(players, n) {
				players = append(players, n)
			}
		}
	}
	if r.Bye > 0 {
		players = append(players, r.Bye)
	}
	slices.Sort(players)
	return players
}

// Table returns a table by the game that is played at it, with its round and number; nil:
// there is none.
func (c *Contest) Table(game match.GameID) (round, number int, t *Table) {
	for r := range c.Rounds {
		for i := range c.Rounds[r].Tables {
			if t := &c.Rounds[r].Tables[i]; t.Game == game {
				return r + 1, i + 1, t
			}
		}
	}
	return 0, 0, nil
}

// Open reports whether a table has no result yet.
func (t Table) Open() bool { return t.Result == nil }

// Seats returns the players of a table, Black first.
func (t Table) Seats() [2]int { return [2]int{t.Black, t.White} }

// Unopened returns the numbers of the tables of the last round whose games do not exist yet.
func (c *Contest) Unopened() (numbers []int) {
	if r := c.Round(); r != nil {
		for i, t := range r.Tables {
			if !t.Opened && t.Open() {
				numbers = append(numbers, i+1)
			}
		}
	}
	return numbers
}

// Unfinished returns the numbers of the tables of the last round that have no result.
func (c *Contest) Unfinished() (numbers []int) {
	if r := c.Round(); r != nil {
		for i, t := range r.Tables {
			if t.Open() {
				numbers = append(numbers, i+1)
			}
		}
	}
	return numbers
}

// Match returns the game of a table of the last round, as it is before it begins.
func (c *Contest) Match(number int) match.Match {
	r := c.Round()
	t := r.Tables[number-1]
	black, white := c.Players[t.Black-1].Person, c.Players[t.White-1].Person
	return match.Match{
		ID: t.Game, Rules: c.Rules[t.Book], Setup: c.Setup(t.Book, t.Handicap), Clock: c.clock(t), Where: c.Where,
		Opener:   black, // not an organiser, among whose games it would be
		Fixture:  match.Fixture{Event: c.ID, Round: len(c.Rounds), Table: number},
		Standing: match.Standing{Page: t.Page, Black: black, White: white},
	}
}

// clock returns the clock of a game: half of the time of a round for each player, so that no
// game outlasts it.
func (c *Contest) clock(t Table) clock.Control {
	return clock.Control{Kind: clock.Absolute, Main: cmp.Or(t.Main, c.Lasts/2).Truncate(time.Minute)}
}

// Setup returns the board of a game under a ruleset of the event. With a handicap White has only
// the half point that prevents draws.
func (c *Contest) Setup(book, handicap int) rules.Setup {
	s := rules.Setup{W: c.Width, H: c.Height}
	if handicap > 0 {
		for ; handicap > 1; handicap-- { // small boards have fewer star points
			if stones, err := rules.HandicapPoints(c.Width, c.Height, handicap); err == nil {
				s.Handicap, s.Black = handicap, stones
				break
			}
		}
		s.Komi = 1
		return s
	}
	switch r, err := rules.Find(c.Rules[book]); {
	case c.Komi != nil:
		s.Komi = rules.Points(*c.Komi)
	case err == nil:
		s.Komi = r.Komi
	}
	return s
}

// A Step is everything that one request or timed action changes of an event. All of it is
// stored, or none. Of the match.Step in it Match, Events and Due are empty.
type Step struct {
	match.Step
	Contest *Contest // after Log; nil: nothing changed
	Opens   bool     // it is new: the store gives it its Number
	Log     []Event  // consecutive, from the Seq before the step + 1
	// Timed are the timed actions that follow from the state of the event. They replace the
	// earlier ones of these kinds.
	Timed []match.Due
	// Owes are added: results of games that have ended, and games to close. Each is carried
	// out once, by the step in which it is Done.
	Owes []match.Due
	Done string // the kind of the owed action that this step carries out; empty: none
}

// Owed reports whether timed actions of a kind stay until they are done. The others follow from
// the state of the event.
func Owed(kind string) bool { return strings.Contains(kind, ":") }

// Tables returns the tables of all rounds.
func (c *Contest) Tables() (all []Table) {
	for _, r := range c.Rounds {
		all = append(all, r.Tables...)
	}
	return all
}
