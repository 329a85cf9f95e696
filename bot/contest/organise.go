package contest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// What organisers do once people play.

// extend moves the end of the sign-up, or that of the round with the clocks of its games, or
// between two rounds when the next one is paired.
func extend(in *Input) Step {
	c := in.Contest
	typed := cmp.Or(in.arg("until"), in.arg("days"))
	if n, err := strconv.Atoi(typed); err == nil {
		typed = fmt.Sprint(n, "d")
	}
	if c.State == Playing && len(c.Unopened()) > 0 {
		return in.refuse(say("event.opening", c.Name))
	}
	was := c.ends()
	if typed == "" {
		return in.refuse(say("event.extend.how", in.moment(was)))
	}
	at, err := ParseTime(typed, in.Zone, in.Now)
	if err != nil {
		return in.refuse(text.Explain(err))
	}
	if length, ok := clock.ParseLength(typed); ok {
		at = was.Add(length)
	}
	until := in.moment(at)
	switch {
	case !at.After(was):
		return in.refuse(say("event.extend.later", in.moment(was)))
	case at.Sub(in.Now) > maxLasts:
		return in.refuse(say("event.bad.until", until))
	case c.State == SignUp:
		terms := c.Terms
		terms.Until = at
		return in.tell(in.step([]text.Message{say("event.done")}, Body{Kind: changed, Terms: &terms}), say("event.extended.signup", c.Name, until))
	}
	s := in.step([]text.Message{say("event.done")}, Body{Kind: extended, Ends: at.UnixMilli()})
	if c.Asking != nil {
		return in.tell(s, say("event.extended.asking", c.Name, until))
	}
	for _, n := range c.Unfinished() {
		s.Owes = append(s.Owes, credit(c.ID, c.Round().Tables[n-1].Game, in.Now, in.Now.Add(at.Sub(was)), in.Now))
	}
	return in.tell(s, say("event.extended", c.Name, until))
}

// ends returns when what goes on now ends: the sign-up, the round, or the time between two
// rounds.
func (c *Contest) ends() time.Time {
	switch {
	case c.State == SignUp:
		return c.Until
	case c.Asking != nil:
		return c.Asking.Until
	}
	return c.Round().Ends
}

// who returns the number of the player whom an option names: somebody of the platform, or #3,
// who joined third.
func (in *Input) who(option string) (n int, refusal *text.Message) {
	p, known := in.Users[option]
	typed := in.arg(option)
	if number, ok := strings.CutPrefix(typed, "#"); ok && !known {
		if n, _ = strconv.Atoi(number); n > 0 && n <= len(in.Contest.Players) {
			return n, nil
		}
	}
	switch {
	case typed == "":
		return 0, new(say("event.who", option))
	case !known:
		return 0, new(say("event.unknown.user", text.Shorten(typed)))
	}
	if n = in.Contest.Player(p); n == 0 {
		for i, player := range in.Contest.Players { // who has been withdrawn
			if player.Person == p && in.Contest.State == Playing {
				return i + 1, nil
			}
		}
		return 0, new(say("event.notplaying", named(p), in.Contest.Name))
	}
	return n, nil
}

// withdraw takes a player out of the event.
func withdraw(in *Input) Step {
	c := in.Contest
	n, refusal := in.who("player")
	switch {
	case refusal != nil:
		return in.refuse(*refusal)
	case !c.Players[n-1].In():
		return in.refuse(say("event.already.out", named(c.Players[n-1].Person), c.Name))
	case c.State == SignUp:
		return in.step([]text.Message{say("event.done")}, Body{Kind: left, Player: n})
	case !in.confirmed():
		return in.sure(say("event.withdraw.sure", len(c.open(n)), named(c.Players[n-1].Person), c.Name), "label.event.withdraw")
	}
	return in.withdraws(n, say("event.withdrawn", named(c.Players[n-1].Person), c.Name, named(in.By)))
}

// replace gives the seat of a player to somebody else: with its results, and the games that
// are left begin again.
func replace(in *Input) Step {
	c := in.Contest
	n, refusal := in.who("player")
	if refusal != nil {
		return in.refuse(*refusal)
	}
	next, known := in.Users["other"]
	_, waiting := c.Seated()
	switch typed := in.arg("other"); {
	case typed == "" && len(waiting) > 0:
		next = c.Players[waiting[0]-1].Person
	case typed == "":
		return in.refuse(say("event.who.other", named(c.Players[n-1].Person)))
	case !known:
		return in.refuse(say("event.unknown.user", text.Shorten(typed)))
	}
	at := c.Player(next)
	if at > 0 && !slices.Contains(waiting, at) {
		return in.refuse(say("event.already.in", named(next), c.Name))
	}
	rank := NoRank
	if at > 0 { // they said it when they joined
		rank = c.Players[at-1].Rank
	}
	if typed := in.arg("rank"); typed != "" {
		var err error
		if rank, err = ParseRank(typed); err != nil {
			return in.refuse(text.Explain(err))
		}
	}
	b := Body{Kind: replaced, Player: n, Person: next, Rank: rankBody(rank)}
	var bodies []Body
	if at > 0 { // they leave the waiting list for the seat
		bodies = append(bodies, Body{Kind: left, Player: at})
	}
	if c.State == Playing && c.Asking == nil { // between two rounds no game is left
		if len(c.Unopened()) > 0 {
			return in.refuse(say("event.opening", c.Name))
		}
		round, r := len(c.Rounds), c.Round()
		main := r.Ends.Sub(in.Now) / 2
		if main < time.Minute {
			return in.refuse(say("event.over.soon", c.Name))
		}
		for i, t := range r.Tables {
			if (t.Black != n && t.White != n) || !t.Open() && t.Result.How != Forfeited {
				continue
			}
			other := t.Black + t.White - n
			if b.Scores = append(b.Scores, Score{Round: round, Table: i + 1, How: Annulled}); !c.Players[other-1].In() {
				continue
			}
			again := Pairing{Group: t.Group, Book: t.Book, Black: t.Black, White: t.White, Main: main.Milliseconds()}
			again.Game, again.Page = in.Fixture(round, len(r.Tables)+len(b.Tables)+1)
			b.Tables = append(b.Tables, again)
		}
	}
	s := in.step([]text.Message{say("event.done")}, append(bodies, b)...)
	in.closes(&s, b.Scores)
	notice := say("event.replaced", len(b.Tables), named(next), named(c.Players[n-1].Person), c.Name)
	if len(b.Tables) == 0 {
		notice = say("event.replaced.seat", named(next), named(c.Players[n-1].Person), c.Name)
	}
	return in.tell(s, notice, next)
}

// results are the values of the option "as", with the half points of Black and White.
var results = map[string]Score{"black": {Black: 2}, "white": {White: 2}, "draw": {Black: 1, White: 1}, "both-lose": {}, "void": {How: Annulled}}

// result gives a table a result by hand.
func result(in *Input) Step {
	c := in.Contest
	score, known := results[strings.ToLower(in.arg("as"))]
	if !known {
		return in.refuse(say("event.as"))
	}
	round, table := len(c.Rounds), 0
	if typed := in.arg("round"); typed != "" {
		round, _ = strconv.Atoi(typed)
	}
	if c.System == Knockout && (score.How == Annulled || score.Black == 1) {
		return in.refuse(say("event.knockout.winner"))
	}
	if round < 1 || round > len(c.Rounds) {
		return in.refuse(say("event.bad.round", strconv.Itoa(len(c.Rounds))))
	}
	tables := c.Rounds[round-1].Tables
	if table, _ = strconv.Atoi(in.arg("table")); table < 1 || table > len(tables) {
		return in.refuse(say("event.bad.table", strconv.Itoa(len(tables))))
	}
	t := tables[table-1]
	if again := c.Rounds[round-1].again(t); again > 0 && t.Result != nil && t.Result.How == Annulled {
		return in.refuse(say("event.again", itoa(table), itoa(again), itoa(round)))
	}
	score.Round, score.Table, score.How = round, table, cmp.Or(score.How, Typed)
	said := say("event.result", strconv.Itoa(table), named(c.Players[t.Black-1].Person), named(c.Players[t.White-1].Person), score.words(), named(in.By))
	if !in.confirmed() {
		return in.sure(said, "label.event.result")
	}
	s := in.finish(in.step([]text.Message{say("event.done")}, in.and(Body{Kind: corrected, Scores: []Score{score}})...))
	in.closes(&s, []Score{score})
	return in.tell(s, said, c.Players[t.Black-1].Person, c.Players[t.White-1].Person)
}

// organiser makes somebody an organiser, or no longer one.
func organiser(in *Input) Step {
	c := in.Contest
	p, known := in.Users["player"]
	switch typed := in.arg("player"); {
	case typed == "" && !c.Organises(in.By): // a moderator takes over
		p = in.By
	case typed == "":
		return in.refuse(say("event.who", "player"))
	case !known:
		return in.refuse(say("event.unknown.user", text.Shorten(typed)))
	}
	off := strings.EqualFold(in.arg("as"), "remove")
	switch is := c.Organises(p); {
	case off && !is:
		return in.refuse(say("event.organiser.not", named(p), c.Name))
	case off && len(c.Organisers) == 1:
		return in.refuse(say("event.organiser.last", c.Name))
	case !off && is:
		return in.refuse(say("event.organiser.is", named(p), c.Name))
	}
	key := "event.organiser"
	if off {
		key = "event.organiser.off"
	}
	return in.tell(in.step([]text.Message{say("event.done")}, Body{Kind: organises, Person: p, Off: off}), say(key, named(p), c.Name))
}

// cancel calls the event off. Its games end without a result.
func cancel(in *Input) Step {
	c := in.Contest
	if !in.confirmed() {
		return in.sure(say("event.cancel.sure", c.Name), "label.event.cancel")
	}
	return in.cancels(say("event.cancelled", c.Name, named(in.By)))
}

func (in *Input) cancels(notice text.Message) Step {
	c := in.Contest
	var scores []Score
	for _, n := range c.Unfinished() {
		scores = append(scores, Score{Round: len(c.Rounds), Table: n, How: Annulled})
	}
	s := in.step([]text.Message{say("event.done")}, Body{Kind: cancelled, Scores: scores})
	in.closes(&s, scores)
	return in.tell(s, notice)
}
