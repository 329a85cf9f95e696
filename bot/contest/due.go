package contest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// DecideDue decides a timed action. If it has become pointless, the step holds only the next
// ones. The games that an action opens, closes or credits are matches: the bot changes those
// first, and then this takes note.
func DecideDue(in *Input, d match.Due) Step {
	c := in.Contest
	s := Step{Step: match.Step{Request: in.Request.ID, At: in.Now}, Contest: c, Timed: c.timed(in.Now)}
	kind, _, _ := strings.Cut(d.Kind, ":")
	switch {
	case in.Away && !Owed(d.Kind) && kind != "open": // nobody can answer
		s.Timed = []match.Due{{Game: c.ID, Kind: d.Kind, At: in.Now.Add(awayWait), Seq: c.Seq}}
	case kind == "links" && in.Linking:
		s.Owes = []match.Due{{Game: c.ID, Kind: d.Kind, At: in.Now.Add(time.Minute)}}
	case kind == "links" && in.Links > 0:
		p := c.sheet()
		p.ID += "-" + d.Kind
		s.Posts = append(s.Posts, p)
	case kind == "result":
		s = in.ended(s, match.GameID(strings.TrimPrefix(d.Kind, "result:")))
	case c.State == SignUp && kind == "signup" && !in.Now.Before(c.Until):
		s = in.signedUp()
	case c.State == Playing && kind == "pair" && c.Asking != nil && !in.Now.Before(c.Asking.Until):
		s = in.pairNext(s)
	case c.State == Playing && kind == "open":
		s = in.opened(s)
	case c.State == Playing && kind == "ends" && len(c.Unopened()) == 0:
		s = in.timeIsUp(s)
	}
	if Owed(d.Kind) {
		s.Done = d.Kind
	}
	s.Answer = match.Reply{} // nobody asked
	return s
}

// awayWait is the time between looks at what waits until people can be reached.
const awayWait = 5 * time.Minute

// signedUp ends the sign-up. If nobody could be reached at its end, people have as much time
// as was left then.
func (in *Input) signedUp() Step {
	if s := Credit(in); len(s.Log) > 0 {
		return s
	}
	if seated, _ := in.Contest.Seated(); len(seated) < 2 {
		return in.cancels(say("event.nobody", len(seated), in.Contest.Name))
	}
	return in.pair()
}

// Waits returns until when people can join, or say whether they play; zero: they cannot now.
func (c *Contest) Waits() time.Time {
	switch {
	case c.State == SignUp:
		return c.Until
	case c.State == Playing && c.Asking != nil:
		return c.Asking.Until
	}
	return time.Time{}
}

// Credit returns the step after an outage, in.Outage, in which people could not join or say
// whether they play: they have as much time afterwards as was left. The step is empty if the
// time was not over in the outage.
func Credit(in *Input) Step {
	c, o := in.Contest, in.Outage
	until := c.Waits()
	later := o.To.Add(max(until.Sub(o.From), time.Minute))
	switch {
	case until.IsZero() || until.Before(o.From) || !until.Before(o.To) || !later.After(in.Now):
		return Step{Step: match.Step{Request: in.Request.ID, At: in.Now}}
	case c.Asking != nil:
		return in.step(nil, Body{Kind: extended, Ends: later.UnixMilli()})
	}
	terms := c.Terms
	terms.Until = later
	return in.step(nil, Body{Kind: changed, Terms: &terms})
}

// pairNext pairs the next round, once the time to answer is over. If nobody could be reached at
// its end, people have as much time as was left then. If too few play, they have some more days,
// and then the event is over; at once if nobody is left to wait for.
func (in *Input) pairNext(s Step) Step {
	c := in.Contest
	if s := Credit(in); len(s.Log) > 0 {
		return s
	}
	switch {
	case len(c.Playing(in.Unasked)) >= 2:
		return in.pair()
	case len(c.still()) < 2 || in.Now.Sub(c.Asking.Until) >= patience:
		return in.finish(in.step(nil, Body{Kind: ended}))
	}
	s.Timed = []match.Due{{Game: c.ID, Kind: "pair", At: in.Now.Add(answerIn), Seq: c.Seq}}
	return s
}

// patience is how long a round waits for a second player.
const patience = 3 * day

// finish adds the last notice to a step with which the event ends.
func (in *Input) finish(s Step) Step {
	if s.Contest != nil && s.Contest.State == Over && in.Contest.State != Over {
		s.Posts = append(s.Posts, s.Contest.final())
	}
	return s
}

// opened takes note that the games of all tables exist. The clocks of those that were opened
// before the last one get the time until then.
func (in *Input) opened(s Step) Step {
	c := in.Contest
	r := c.Round()
	for _, n := range c.Unopened() {
		if _, exists := in.Games[r.Tables[n-1].Game]; !exists {
			return s
		}
	}
	ends := r.Ends
	if r.Began.IsZero() {
		ends = in.Now.Add(c.Lasts)
	}
	s = in.step(nil, Body{Kind: begun, Ends: ends.UnixMilli()})
	s.Owes = append(s.Owes, match.Due{Game: c.ID, Kind: "links:" + itoa(s.Contest.Seq), At: in.Now.Add(time.Duration(len(c.Unopened())+1) * linkEvery)})
	for _, n := range c.Unopened() {
		if g := in.Games[r.Tables[n-1].Game]; g.Opened.Before(in.Now) {
			s.Owes = append(s.Owes, credit(c.ID, g.ID, g.Opened, in.Now, in.Now))
		}
	}
	return s
}

// linkEvery is the time for each new game after which the message of the event leads to them all.
// Platforms post their first messages one after the other.
const linkEvery = 4 * time.Second

// ended takes the result of a game into the log.
func (in *Input) ended(s Step, game match.GameID) Step {
	round, number, t := in.Contest.Table(game)
	g, known := in.Games[game]
	if t == nil || !known || !t.Open() {
		return s
	}
	score := Score{Round: round, Table: number, Game: g.Result, How: Played}
	switch {
	case g.State != match.Ended:
		score.How, score.Game = Annulled, ""
	case strings.HasPrefix(g.Result, "B+"):
		score.Black = 2
	case strings.HasPrefix(g.Result, "W+"):
		score.White = 2
	default: // a draw, or no result
		score.Black, score.White = 1, 1
	}
	if in.Contest.System == Knockout && score.Black == score.White { // a moderator may have decided so
		p := in.Contest.notice("undecided-"+itoa(number), nil, in.Contest.Organisers...)
		p.Texts = []text.Message{say("event.undecided", in.Contest.Name, itoa(number), in.Contest.callOrganisers(), itoa(in.Contest.Number))}
		s.Posts = append(s.Posts, p)
		return s
	}
	return in.finish(in.step(nil, in.and(Body{Kind: scored, Scores: []Score{score}})...))
}

// timeIsUp ends the games of a round that are left, and comes again each day until there are none. A count that
// is not accepted stands as it is marked; a game that players try out is left to the
// organiser. Where clocks run for longer, because the bot or its platform was away, the round
// does, too.
func (in *Input) timeIsUp(s Step) Step {
	c := in.Contest
	later := c.Round().Ends
	var disputed []int
	for _, n := range c.Unfinished() {
		g, known := in.Games[c.Round().Tables[n-1].Game]
		switch {
		case !known || g.State != match.Going: // its result is on its way
		case g.Deadline.After(later):
			later = g.Deadline
		case !g.Deadline.IsZero(): // the flag falls any moment
		case g.Disputed:
			disputed = append(disputed, n)
		default:
			s.Owes = append(s.Owes, match.Due{Game: c.ID, Kind: "count:" + string(g.ID), At: in.Now})
		}
	}
	if later.After(c.Round().Ends) {
		owes := s.Owes
		s = in.step(nil, Body{Kind: extended, Ends: later.UnixMilli()})
		s.Owes = owes
		return s
	}
	if len(disputed) == 0 {
		return s
	}
	p := c.notice("disputed-"+strconv.FormatInt(in.Now.UnixMilli(), 10), nil, c.Organisers...) // each day, though no line is added
	for _, n := range disputed {
		p.Texts = append(p.Texts, say("event.disputed", c.Name, itoa(n), c.callOrganisers(), itoa(c.Number)))
	}
	s.Posts = append(s.Posts, p)
	return s
}

// ShowAgain returns the step that shows the message of an event again, for a reason that happens
// once: in a new place of its room, as a new message.
func ShowAgain(in *Input, why string, moved bool) Step {
	s := Step{Step: match.Step{Request: in.Request.ID, At: in.Now}}
	if in.Contest.Running() {
		p := in.Contest.sheet()
		p.ID, p.Again = p.ID+"-"+why, moved
		s.Posts = append(s.Posts, p)
	}
	return s
}

// SentAway returns the step that tells the organisers, directly, that the bot has left the room
// of the event.
func SentAway(in *Input, left time.Time) Step {
	return in.directly("left", left, say("event.sent.away", in.Contest.Name, instant(left.Add(week), in.Now)))
}

// Silenced returns the step that tells the organisers, directly, that the bot may not write where
// the event is played, and what it lacks; empty: it cannot reach the place.
func Silenced(in *Input, lacks string) Step {
	what := say("event.silenced.gone")
	if lacks != "" {
		what = say("event.silenced.lacks", text.Adapters(lacks))
	}
	return in.directly("silenced", in.Now, say("event.silenced", in.Contest.Name), what)
}

// directly returns a step that only tells each organiser something, which happened at a time.
func (in *Input) directly(what string, at time.Time, texts ...text.Message) Step {
	c := in.Contest
	s := Step{Step: match.Step{Request: in.Request.ID, At: in.Now}}
	for n, organiser := range c.Organisers {
		p := c.notice(what+"-"+strconv.FormatInt(at.UnixMilli(), 10)+"-"+itoa(n+1), texts, organiser)
		p.Private, p.Where = true, match.Room{Platform: c.Where.Platform} // posts to the room itself wait
		s.Posts = append(s.Posts, p)
	}
	return s
}

// Expected returns the players who still have something to play, each with the id of the post
// that tells the organisers that they can no longer write in the room. Whoever takes a seat over
// has another.
func (c *Contest) Expected() map[int]string {
	ids := map[int]string{}
	for _, n := range c.still() {
		if c.State == SignUp || c.State == Playing && (len(c.Rounds) < c.total() || len(c.open(n)) > 0) {
			ids[n] = fmt.Sprintf("%s-gone-%d-%d", c.ID, n, len(c.Players[n-1].Before))
		}
	}
	return ids
}

// Gone returns the step that tells the organisers, directly, that a player can no longer write
// in the room. Its request is the id of the post. Nothing is done to the player: they may come
// back.
func Gone(in *Input, player int) Step {
	c := in.Contest
	s := Nothing(in)
	who := slices.DeleteFunc(slices.Clone(c.Organisers), func(p match.PersonID) bool { return c.Player(p) == player })
	if c.Expected()[player] != in.Request.ID || len(who) == 0 {
		return s
	}
	p := c.notice("", []text.Message{say("event.gone", named(c.Players[player-1].Person), c.Name)}, who...)
	p.ID, p.Private = in.Request.ID, true
	p.Controls = []match.Control{{Label: "label.event.withdraw", Command: "event",
		Args: map[string]string{"what": "withdraw", "event": itoa(c.Number), "player": "#" + itoa(player)}}}
	s.Posts = append(s.Posts, p)
	return s
}

// Nothing returns the step that only keeps that a request was carried out.
func Nothing(in *Input) Step { return Step{Step: match.Step{Request: in.Request.ID, At: in.Now}} }

// week is how long the bot keeps what belongs to a room that it has left.
const week = 7 * day

// credit returns the timed action that credits the clocks of a game.
func credit(id ID, game match.GameID, from, to, at time.Time) match.Due {
	kind := strings.Join([]string{"credit", strconv.FormatInt(from.UnixMilli(), 10), strconv.FormatInt(to.UnixMilli(), 10), string(game)}, ":")
	return match.Due{Game: id, Kind: kind, At: at}
}

// Closing returns the game that an owed action closes, credits or counts, and what is to be
// done with it.
func Closing(kind string) (what string, game match.GameID, arguments []string) {
	words := strings.Split(kind, ":")
	if len(words) < 2 {
		return kind, "", nil
	}
	last := len(words) - 1
	return words[0], match.GameID(words[last]), slices.Clone(words[1:last])
}
