package contest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// An Event is one line of the log of an event.
type Event struct {
	Seq  int // from 1, consecutive
	At   time.Time
	By   match.PersonID // empty: nobody; the time had come, or a game ended
	Body Body
}

// A Body says what happened. Which fields it has depends on its kind. Stores and exports
// hold it as JSON, whose names never change.
type Body struct {
	Kind    Kind           `json:"kind"`
	Terms   *Terms         `json:"terms,omitempty"`
	Place   *match.Room    `json:"place,omitempty"`
	Page    string         `json:"page,omitempty"`
	Person  match.PersonID `json:"person,omitempty"`
	Rank    *int           `json:"rank,omitempty"`
	Player  int            `json:"player,omitempty"`
	Groups  [][]int        `json:"groups,omitempty"` // players
	Tables  []Pairing      `json:"tables,omitempty"`
	Bye     int            `json:"bye,omitempty"`
	Absent  []int          `json:"absent,omitempty"`
	Lasts   int64          `json:"lasts,omitempty"` // in milliseconds
	Ends    int64          `json:"ends,omitempty"`  // in milliseconds of Unix time
	Scores  []Score        `json:"scores,omitempty"`
	Off     bool           `json:"off,omitempty"`
	Bar     *int           `json:"bar,omitempty"`
	Floor   *int           `json:"floor,omitempty"`
	Choices []Choice       `json:"choices,omitempty"`
}

// A Pairing is a table as the log has it.
type Pairing struct {
	Group    int          `json:"group,omitempty"`
	Book     int          `json:"book,omitempty"`
	Handicap int          `json:"handicap,omitempty"` // stones
	Black    int          `json:"black"`
	White    int          `json:"white"`
	Game     match.GameID `json:"game"`
	Page     string       `json:"page,omitempty"` // of the game
	Main     int64        `json:"main,omitempty"` // each player's time in milliseconds, if it is not half a round
}

// A Score is the result of a table as the log has it.
type Score struct {
	Round int    `json:"round"`
	Table int    `json:"table"`
	Black int    `json:"black"` // half points
	White int    `json:"white"`
	Game  string `json:"game,omitempty"`
	How   How    `json:"how"`
}

// A Kind is a kind of line.
type Kind string

// The kinds.
const (
	opened    Kind = "open"      // somebody publishes the event, with terms, place and page
	changed   Kind = "terms"     // the organiser changes terms during the sign-up
	joined    Kind = "join"      // person joins, with a rank
	left      Kind = "leave"     // player leaves during the sign-up
	withdrawn Kind = "withdraw"  // player leaves while rounds are played; scores of their open tables
	replaced  Kind = "replace"   // person takes over from player; the open tables begin again as tables
	organises Kind = "organiser" // person is an organiser, or with off no longer
	paired    Kind = "pair"      // a round: groups, tables, bye, absent, lasts, and of McMahon bar and floor
	asked     Kind = "ask"       // everybody is asked about the next round, until ends; absent sit out unless they answer
	said      Kind = "say"       // player plays, or with off sits out
	chose     Kind = "choose"    // the organiser decides who meets whom in the next round: choices
	begun     Kind = "begin"     // all games of the round exist; it ends at ends
	scored    Kind = "result"    // games of tables have ended
	corrected Kind = "correct"   // the organiser gives tables another result
	extended  Kind = "extend"    // the round ends at ends, or between two rounds the next is paired then
	ended     Kind = "end"       // all results are there
	cancelled Kind = "cancel"    // the organiser calls it off
)

// Encode returns the written form of a body.
func (b Body) Encode() (string, error) {
	text, err := json.Marshal(b)
	return string(text), err
}

// ParseBody reads what Encode returns.
func ParseBody(text string) (b Body, err error) {
	err = json.Unmarshal([]byte(text), &b)
	return b, err
}

// Fold folds an event from its log. Its error means that the log cannot be read.
func Fold(h Head, events []Event) (*Contest, error) {
	c := &Contest{Head: h}
	c.Seq = 0
	for _, e := range events {
		if err := c.take(e); err != nil {
			return nil, fmt.Errorf("event %d, %s: %w", e.Seq, e.Body.Kind, err)
		}
	}
	return c, nil
}

// With returns the event after more lines of its log; c does not change.
func (c *Contest) With(events ...Event) (*Contest, error) {
	next := c.clone()
	for _, e := range events {
		if err := next.take(e); err != nil {
			return nil, fmt.Errorf("event %d, %s: %w", e.Seq, e.Body.Kind, err)
		}
	}
	return next, nil
}

func (c *Contest) clone() *Contest {
	next := *c
	next.Places, next.Organisers = slices.Clone(c.Places), slices.Clone(c.Organisers)
	next.Players, next.Rounds = slices.Clone(c.Players), slices.Clone(c.Rounds)
	for i := range next.Rounds {
		next.Rounds[i].Tables = slices.Clone(next.Rounds[i].Tables)
	}
	return &next
}

var (
	errOrder    = fmt.Errorf("it cannot come here")
	errNoPlayer = fmt.Errorf("there is no such player")
	errNoTable  = fmt.Errorf("there is no such table")
	errKind     = fmt.Errorf("of an unknown kind")
)

// take changes the event as a line of its log says.
func (c *Contest) take(e Event) error {
	if e.Seq != c.Seq+1 || (c.Seq == 0) != (e.Body.Kind == opened) {
		return errOrder
	}
	change, known := changes[e.Body.Kind]
	if !known {
		return errKind
	}
	if err := change(c, e); err != nil {
		return err
	}
	c.Seq, c.Changed = e.Seq, e.At
	return nil
}

// changes are what each kind of line does to an event.
var changes = map[Kind]func(c *Contest, e Event) error{
	opened:    (*Contest).opens,
	changed:   (*Contest).changesTerms,
	joined:    (*Contest).joins,
	left:      (*Contest).leaves,
	withdrawn: (*Contest).leaves,
	replaced:  (*Contest).replaces,
	organises: (*Contest).organisers,
	paired:    (*Contest).addsRound,
	asked:     (*Contest).asks,
	said:      (*Contest).says,
	chose:     func(c *Contest, e Event) error { c.Choices = e.Body.Choices; return nil },
	begun:     (*Contest).begins,
	extended:  (*Contest).extends,
	scored:    (*Contest).score,
	corrected: (*Contest).score,
	ended:     func(c *Contest, _ Event) error { c.State, c.Asking = Over, nil; return nil },
	cancelled: func(c *Contest, e Event) error { c.State, c.Asking = Cancelled, nil; return c.score(e) },
}

func (c *Contest) opens(e Event) error {
	b := e.Body
	if b.Terms == nil || b.Place == nil {
		return errOrder
	}
	c.Terms, c.Places, c.Where, c.Page = *b.Terms, []match.Room{*b.Place}, *b.Place, b.Page
	c.Organisers, c.State, c.Opened, c.Head.Title = []match.PersonID{e.By}, SignUp, e.At, b.Terms.Name
	return nil
}

func (c *Contest) changesTerms(e Event) error {
	if e.Body.Terms == nil || c.State != SignUp {
		return errOrder
	}
	c.Terms, c.Head.Title = *e.Body.Terms, e.Body.Terms.Name
	return nil
}

func (c *Contest) joins(e Event) error {
	rank := rankOf(e.Body.Rank)
	c.Players = append(c.Players, Player{Person: e.Body.Person, Rank: rank, Seeded: rank, Joined: e.At, Seq: e.Seq})
	return nil
}

func (c *Contest) leaves(e Event) error {
	p, err := c.player(e.Body.Player)
	if err != nil {
		return err
	}
	p.Left, p.Out = e.At, e.Seq
	return c.score(e)
}

func (c *Contest) replaces(e Event) error {
	b := e.Body
	p, err := c.player(b.Player)
	if err != nil {
		return err
	}
	p.Before = append(slices.Clip(p.Before), p.Person)
	p.Person, p.Left, p.Out, p.Rank = b.Person, time.Time{}, 0, rankOf(b.Rank)
	if c.State == SignUp && p.Rank != NoRank { // nothing has been drawn yet
		p.Seeded = p.Rank
	}
	if err := c.score(e); err != nil {
		return err
	}
	return c.seat(b.Tables)
}

func (c *Contest) organisers(e Event) error {
	b := e.Body
	c.Organisers = slices.DeleteFunc(c.Organisers, func(p match.PersonID) bool { return p == b.Person })
	if !b.Off {
		c.Organisers = append(c.Organisers, b.Person)
	}
	return nil
}

func (c *Contest) addsRound(e Event) error {
	b := e.Body
	if b.Groups != nil {
		c.Drawn = b.Groups
	}
	for g, group := range b.Groups {
		for _, n := range group {
			p, err := c.player(n)
			if err != nil {
				return err
			}
			p.Group = g + 1
		}
	}
	c.State = Playing
	c.Rounds = append(c.Rounds, Round{Paired: e.At, Bye: b.Bye, Absent: b.Absent, Choices: c.Choices, Seq: e.Seq})
	if c.Asking, c.Choices = nil, nil; b.Bar != nil && b.Floor != nil {
		c.Bar, c.Floor = *b.Bar, *b.Floor
	}
	return c.seat(b.Tables)
}

func (c *Contest) asks(e Event) error {
	c.Asking = &Asking{Until: time.UnixMilli(e.Body.Ends).UTC(), Must: e.Body.Absent, Seq: e.Seq}
	return nil
}

// says notes who plays the next round, or does not.
func (c *Contest) says(e Event) error {
	b := e.Body
	if _, err := c.player(b.Player); err != nil || c.Asking == nil {
		return errOrder
	}
	a := *c.Asking
	none := func(n int) bool { return n == b.Player }
	a.Plays, a.Out = slices.DeleteFunc(slices.Clone(a.Plays), none), slices.DeleteFunc(slices.Clone(a.Out), none)
	if b.Off {
		a.Out = append(a.Out, b.Player)
	} else {
		a.Plays = append(a.Plays, b.Player)
	}
	c.Asking = &a
	return nil
}

func (c *Contest) begins(e Event) error {
	r := c.Round()
	if r == nil {
		return errOrder
	}
	for i := range r.Tables {
		r.Tables[i].Opened = true
	}
	if r.Began.IsZero() {
		r.Began = e.At
	}
	r.Ends = time.UnixMilli(e.Body.Ends).UTC()
	return nil
}

// extends moves the end of the question who plays, or else of the round.
func (c *Contest) extends(e Event) error {
	ends := time.UnixMilli(e.Body.Ends).UTC()
	switch r := c.Round(); {
	case r == nil:
		return errOrder
	case c.Asking != nil:
		a := *c.Asking
		a.Until, c.Asking = ends, &a
	default:
		r.Ends = ends
	}
	return nil
}

func rankOf(r *int) int {
	if r == nil {
		return NoRank
	}
	return *r
}

func (c *Contest) player(n int) (*Player, error) {
	if n < 1 || n > len(c.Players) {
		return nil, errNoPlayer
	}
	return &c.Players[n-1], nil
}

// seat adds tables to the last round.
func (c *Contest) seat(tables []Pairing) error {
	r := c.Round()
	if r == nil {
		if len(tables) > 0 {
			return errOrder
		}
		return nil
	}
	for _, t := range tables {
		for _, n := range []int{t.Black, t.White} {
			if _, err := c.player(n); err != nil {
				return err
			}
		}
		if t.Book < 0 || t.Book >= len(c.Rules) {
			return errNoTable
		}
		r.Tables = append(r.Tables, Table{Group: t.Group, Book: t.Book, Handicap: t.Handicap, Black: t.Black, White: t.White, Game: t.Game, Page: t.Page,
			Main: time.Duration(t.Main) * time.Millisecond})
	}
	return nil
}

// score gives tables the results in a line.
func (c *Contest) score(e Event) error {
	for _, s := range e.Body.Scores {
		if s.Round < 1 || s.Round > len(c.Rounds) || s.Table < 1 || s.Table > len(c.Rounds[s.Round-1].Tables) {
			return errNoTable
		}
		t := &c.Rounds[s.Round-1].Tables[s.Table-1]
		if t.Result != nil {
			t.Past = append(slices.Clip(t.Past), *t.Result)
		}
		t.Result = &Result{Black: s.Black, White: s.White, Game: s.Game, How: s.How, By: e.By, At: e.At, Seq: e.Seq}
	}
	return nil
}
