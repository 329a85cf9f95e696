package contest

import (
	"errors"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/pairing"
)

// An Asking is the time between two rounds, in which players say whether they play the next.
type Asking struct {
	Until time.Time // then it is paired
	Must  []int     // players who sit out unless they say that they play
	Plays []int     // who have said so
	Out   []int     // who sit out
	Seq   int       // of the line that asked
}

// A Choice is what an organiser decides about the next round: that two players meet, or that
// they do not. With 0 as one of the two it is about the bye of the other.
type Choice struct {
	Players [2]int `json:"players"`
	Meet    bool   `json:"meet,omitempty"`
}

// answerIn is how long players have to answer, or a quarter of a round if that is less.
const answerIn = day

// next returns the line after a round in a system of rounds: the next round is asked about, or
// the event is over.
func (c *Contest) next(now time.Time) Body {
	still := c.still()
	if len(c.Rounds) >= c.total() || len(still) < 2 {
		return Body{Kind: ended}
	}
	b := Body{Kind: asked, Ends: now.Add(min(answerIn, c.Lasts/4)).UnixMilli()}
	for _, n := range still {
		if c.missed(n) {
			b.Absent = append(b.Absent, n)
		}
	}
	return b
}

// still returns the players of the next round: of a knock-out those who have not lost.
func (c *Contest) still() []int {
	seated, _ := c.Seated()
	if c.System != Knockout || len(c.Rounds) == 0 {
		return seated
	}
	in := map[int]bool{}
	for _, s := range c.Bracket().Standings() {
		in[s.Player] = s.In
	}
	return slices.DeleteFunc(seated, func(n int) bool { return !in[n] })
}

// total returns how many rounds there are.
func (c *Contest) total() int {
	switch c.System {
	case Groups:
		return 1
	case RoundRobin:
		n := len(c.field())
		return n - 1 + n%2
	case Knockout:
		return len(c.Bracket().Rounds)
	}
	return c.Terms.Rounds
}

// field returns the players with whom the event began, in the order in which they were drawn.
func (c *Contest) field() []int {
	if c.Drawn != nil {
		return c.Drawn[0]
	}
	seated, _ := c.Seated()
	return seated
}

// missed reports whether a player lost a game of the last round on time, or played none of it.
func (c *Contest) missed(player int) bool {
	for _, t := range c.Round().Tables {
		if t.Result == nil || t.Result.How != Played || t.Black != player && t.White != player {
			continue
		}
		lost := t.Black == player && t.Result.White > t.Result.Black || t.White == player && t.Result.Black > t.Result.White
		if lost && len(t.Result.Game) > 2 && t.Result.Game[2:] == "T" {
			return true
		}
	}
	return slices.Contains(c.Round().Absent, player)
}

// Playing returns the players of the next round, the waiting list aside. Those who could not be
// asked count as if they had said that they play.
func (c *Contest) Playing(unasked []int) (playing []int) {
	for _, n := range c.still() {
		a := c.Asking
		if a != nil && (slices.Contains(a.Out, n) || slices.Contains(a.Must, n) && !slices.Contains(a.Plays, n) && !slices.Contains(unasked, n)) {
			continue
		}
		playing = append(playing, n)
	}
	return playing
}

// Tournament returns the rounds so far as package pairing needs them. Its players are those
// here, but from 0.
func (c *Contest) Tournament() pairing.Tournament {
	t := pairing.Tournament{Points: len(c.Rules)}
	var numbers []int
	for i := range c.Players {
		numbers = append(numbers, i)
	}
	ratings := make([]int, len(numbers))
	for place, p := range pairing.Lot(numbers, uint64(c.Lot)) {
		ratings[p] = -place
	}
	for i, p := range c.Players {
		rating := ratings[i]
		if c.Ranks {
			rating = p.Seeded
		}
		t.Players = append(t.Players, pairing.Player{Rating: rating, Grade: p.Seeded})
	}
	if c.System == McMahon {
		t.McMahon = c.mcMahon()
	}
	for _, r := range c.Rounds {
		round := pairing.Round{Bye: r.Bye - 1}
		at := map[[2]int]int{}
		for _, tb := range r.Tables {
			if tb.Result != nil && tb.Result.How == Annulled && r.again(tb) > 0 {
				continue
			}
			pair := [2]int{tb.Black - 1, tb.White - 1}
			i, known := at[pair]
			if !known {
				i, at[pair] = len(round.Games), len(round.Games)
				round.Games = append(round.Games, pairing.Game{Black: pair[0], White: pair[1], Handicap: tb.Handicap})
			}
			if tb.Result != nil {
				round.Games[i].Won[0] += tb.Result.Black
				round.Games[i].Won[1] += tb.Result.White
			}
		}
		t.Rounds = append(t.Rounds, round)
	}
	return t
}

// again returns the number of the table that counts in the place of one that counts for nobody; 0: none does.
func (r Round) again(t Table) int {
	return 1 + slices.IndexFunc(r.Tables, func(o Table) bool {
		return o.Game != t.Game && o.Book == t.Book && o.Black == t.Black && o.White == t.White && (o.Result == nil || o.Result.How != Annulled)
	})
}

// mcMahon returns how players start: above the bar alike.
func (c *Contest) mcMahon() *pairing.McMahon {
	return &pairing.McMahon{Bar: c.Bar, Floor: c.Floor, Handicaps: pairing.StandardHandicaps}
}

// Pairing pairs the next round of a Swiss or McMahon among some players, with the choices of the
// organisers. Its players are those here, but from 0. Its error is for the organiser.
func (c *Contest) Pairing(playing []int, choices []Choice) (pairing.Pairing, error) {
	var from0 []int
	for _, n := range playing {
		from0 = append(from0, n-1)
	}
	var chosen []pairing.Choice
	for _, choice := range choices {
		chosen = append(chosen, pairing.Choice{Players: [2]int{choice.Players[0] - 1, choice.Players[1] - 1}, Meet: choice.Meet})
	}
	p, err := c.Tournament().Next(from0).Pair(chosen...)
	switch {
	case errors.Is(err, pairing.ErrNotPlaying):
		err = text.Error("event.choice.absent")
	case errors.Is(err, pairing.ErrTwice):
		err = text.Error("event.choice.twice")
	case errors.Is(err, pairing.ErrContradiction):
		err = text.Error("event.choice.both")
	case err != nil:
		err = text.Error("event.choice.impossible")
	}
	return p, err
}

// pairs returns who meets whom in the next round.
func (c *Contest) pairs(playing []int) (pairs []Pairing, bye int, err error) {
	if c.System == Knockout {
		for _, m := range c.Bracket().Rounds[len(c.Rounds)] {
			p, q := m.Players[m.Black], m.Players[1-m.Black]
			if slices.Contains(playing, p) && slices.Contains(playing, q) {
				pairs = append(pairs, Pairing{Black: p, White: q})
			}
		}
		return pairs, 0, nil
	}
	if c.System == RoundRobin {
		for _, g := range pairing.RoundRobin(c.field())[len(c.Rounds)].Games {
			if slices.Contains(playing, g.Black) && slices.Contains(playing, g.White) {
				pairs = append(pairs, Pairing{Black: g.Black, White: g.White})
			}
		}
		return pairs, 0, nil
	}
	p, err := c.Pairing(playing, c.Choices)
	for _, pair := range p.Pairs {
		pairs = append(pairs, Pairing{Black: pair.Black + 1, White: pair.White + 1, Handicap: pair.Handicap})
	}
	return pairs, p.Bye + 1, err
}

// Bracket returns the bracket of a knock-out, with the results so far. Who sits out a match, or
// has left before it, loses it.
func (c *Contest) Bracket() *pairing.Bracket {
	b := pairing.Knockout(c.field())
	for round := range min(len(b.Rounds), len(c.Rounds)) {
		for n, m := range b.Rounds[round] {
			if m.Players[0] < 1 || m.Players[1] < 1 {
				continue
			}
			if won, open := c.match(round, m.Players); !open {
				_ = b.Decide(round, n, won) // what is drawn stays open
			}
		}
	}
	return b
}

// match returns what two players got in a match of a knock-out, and whether it is still open.
func (c *Contest) match(round int, players [2]int) (won [2]int, open bool) {
	r := c.Rounds[round]
	for _, t := range r.Tables {
		score := func() [2]int { return [2]int{t.Result.Black, t.Result.White} }
		switch {
		case t.Seats() == players && t.Open(), t.Seats() == [2]int{players[1], players[0]} && t.Open():
			return won, true
		case t.Result != nil && t.Result.How == Annulled:
		case t.Seats() == players:
			return score(), false
		case t.Seats() == [2]int{players[1], players[0]}:
			s := score()
			return [2]int{s[1], s[0]}, false
		}
	}
	for i, p := range players { // they did not meet
		if left := c.Players[p-1].Out; (left == 0 || left > r.Seq) && !slices.Contains(r.Absent, p) {
			won[i] = 2
		}
	}
	return won, won == [2]int{2, 2}
}

// says notes what a player says about the next round.
func (in *Input) says(out bool) Step {
	c := in.Contest
	n := c.Player(in.By)
	switch {
	case n == 0:
		return in.refuse(say("event.notin", c.Name))
	case c.Asking == nil:
		return in.refuse(say("event.notasking", c.Name))
	}
	key := "event.plays"
	if out {
		key = "event.sitsout"
	}
	answer := say(key, c.Name, in.moment(c.Asking.Until))
	if out == slices.Contains(c.Asking.Out, n) && (out || slices.Contains(c.Asking.Plays, n)) {
		return in.answer(answer)
	}
	return in.step([]text.Message{answer}, Body{Kind: said, Player: n, Off: out})
}

func play(in *Input) Step { return in.says(false) }

func sitOut(in *Input) Step { return in.says(true) }

// choose decides by hand who meets whom in the next round.
func (in *Input) choose(meet bool) Step {
	c := in.Contest
	if c.System != Swiss && c.System != McMahon {
		return in.refuse(say("event.choice.system", c.Name))
	}
	if c.Asking == nil && len(c.Rounds) > 0 {
		return in.refuse(say("event.notasking", c.Name))
	}
	a, refusal := in.who("player")
	if refusal != nil {
		return in.refuse(*refusal)
	}
	b := 0 // the bye
	if in.arg("other") != "" {
		if b, refusal = in.who("other"); refusal != nil {
			return in.refuse(*refusal)
		}
	}
	if a == b {
		return in.refuse(say("event.choice.same"))
	}
	choice := Choice{Players: [2]int{a, b}, Meet: meet}
	choices := slices.DeleteFunc(slices.Clone(c.Choices), func(o Choice) bool {
		return o.Players == choice.Players || o.Players == [2]int{b, a}
	})
	choices = append(choices, choice)
	if _, err := c.Pairing(c.Playing(in.Unasked), choices); err != nil {
		return in.refuse(text.Explain(err))
	}
	return in.step([]text.Message{say("event.chosen"), say("event.pairing.see")}, Body{Kind: chose, Choices: choices})
}

func meet(in *Input) Step { return in.choose(true) }

func forbid(in *Input) Step { return in.choose(false) }

// swap lets two players change places in the pairing of the next round.
func swap(in *Input) Step {
	c := in.Contest
	if c.System != Swiss && c.System != McMahon {
		return in.refuse(say("event.choice.system", c.Name))
	}
	if c.Asking == nil && len(c.Rounds) > 0 {
		return in.refuse(say("event.notasking", c.Name))
	}
	a, refusal := in.who("player")
	if refusal == nil {
		var b int
		if b, refusal = in.who("other"); refusal == nil {
			p, err := c.Pairing(c.Playing(in.Unasked), c.Choices)
			if err == nil {
				p, err = p.Swap(a-1, b-1)
			}
			if errors.Is(err, pairing.ErrNotPlaying) {
				err = text.Error("event.choice.absent")
			}
			if err != nil {
				return in.refuse(text.Explain(err))
			}
			var choices []Choice
			for _, choice := range p.Choices {
				choices = append(choices, Choice{Players: [2]int{choice.Players[0] + 1, choice.Players[1] + 1}, Meet: choice.Meet})
			}
			return in.step([]text.Message{say("event.chosen"), say("event.pairing.see")}, Body{Kind: chose, Choices: choices})
		}
	}
	return in.refuse(*refusal)
}

// askID returns the id of the private post that asks a player about the next round.
func (c *Contest) askID(player int) string { return c.notice("ask-"+itoa(player), nil).ID }

// AskedBy returns the ids of the posts that asked those who must answer, by player.
func (c *Contest) AskedBy() map[int]string {
	ids := map[int]string{}
	if c.Asking == nil {
		return ids
	}
	at := *c
	at.Seq = c.Asking.Seq
	for _, n := range c.Asking.Must {
		ids[n] = at.askID(n)
	}
	return ids
}

// questions are the posts that ask everybody about the next round.
func (c *Contest) questions() (posts []match.OutboxPost) {
	for _, n := range c.still() {
		p := c.notice("ask-"+itoa(n), []text.Message{say("event.ask", c.Name, itoa(len(c.Rounds)+1), instant(c.Asking.Until, c.Changed))}, c.Players[n-1].Person)
		if slices.Contains(c.Asking.Must, n) {
			p.Texts = append(p.Texts, say("event.ask.must"))
		} else {
			p.Texts = append(p.Texts, say("event.ask.may"))
		}
		p.Private, p.Controls = true, c.askControls()
		posts = append(posts, p)
	}
	return posts
}

func (c *Contest) askControls() []match.Control {
	args := func(what string) map[string]string { return map[string]string{"what": what, "event": itoa(c.Number)} }
	return []match.Control{{Label: "label.event.play", Command: "event", Args: args("play")}, {Label: "label.event.sitout", Command: "event", Args: args("sitout")}}
}

// start ends the sign-up, or the time between two rounds, now.
func start(in *Input) Step {
	c := in.Contest
	playing := c.Playing(in.Unasked)
	switch {
	case c.State == Playing && c.Asking == nil:
		return in.refuse(c.stands())
	case len(playing) < 2:
		return in.refuse(say("event.few", len(playing)))
	case !in.confirmed() && c.State == SignUp:
		return in.sure(say("event.start.sure", len(playing), c.Name), "label.event.start")
	case !in.confirmed():
		return in.sure(say("event.round.sure", len(playing), itoa(len(c.Rounds)+1), c.Name), "label.event.start")
	}
	return in.pair()
}

// pair pairs the next round.
func (in *Input) pair() Step {
	c := in.Contest
	playing := c.Playing(in.Unasked)
	first := len(c.Rounds) == 0
	b := Body{Kind: paired, Lasts: c.Lasts.Milliseconds()}
	if first {
		players := slices.Clone(playing)
		if c.Ranks {
			slices.SortStableFunc(players, func(a, b int) int { return c.Players[b-1].Rank - c.Players[a-1].Rank })
		} else {
			players = pairing.Lot(players, uint64(c.Lot))
		}
		b.Groups = [][]int{players}
		switch c.System {
		case Groups:
			b.Groups = pairing.Groups(players, c.Group)
		case McMahon:
			bar, floor := c.bars(players)
			b.Bar, b.Floor = &bar, &floor
		}
	}
	var pairs []Pairing
	if c.System == Groups {
		for g, group := range b.Groups {
			for _, r := range pairing.RoundRobin(group) {
				for _, game := range r.Games {
					pairs = append(pairs, Pairing{Group: g + 1, Black: game.Black, White: game.White})
				}
			}
		}
	} else {
		draft := c.clone()
		if first { // the field and the bars
			draft.State = Playing
			draft.Drawn = b.Groups
			if b.Bar != nil {
				draft.Bar, draft.Floor = *b.Bar, *b.Floor
			}
		}
		var err error
		if pairs, b.Bye, err = draft.pairs(playing); err != nil { // a choice no longer fits
			draft.Choices = nil
			pairs, b.Bye, err = draft.pairs(playing)
		}
		if err != nil {
			return in.refuse(text.Explain(err))
		}
		for _, n := range c.still() {
			if !slices.Contains(playing, n) {
				b.Absent = append(b.Absent, n)
			}
		}
	}
	for _, t := range pairs {
		for book := range c.Rules {
			t.Book = book
			t.Game, t.Page = in.Fixture(len(c.Rounds)+1, len(b.Tables)+1)
			b.Tables = append(b.Tables, t)
		}
	}
	var bodies []Body
	if c.State == SignUp {
		bodies = in.and(b)
	} else if bodies = in.and(b); len(b.Tables) == 0 && len(bodies) == 1 {
		return in.refuse(say("event.few", len(playing)))
	}
	said := say("event.started", c.Name)
	if !first {
		said = say("event.round.started", itoa(len(c.Rounds)+1), c.Name)
	}
	s := in.step([]text.Message{said}, bodies...)
	if s.Contest != nil && len(b.Tables) > 0 {
		s.Posts = append(s.Posts, s.Contest.announcement())
	}
	return in.finish(s)
}

// bars returns the ranks between which players of a McMahon start with different scores: above
// the upper one a quarter of them, and at least four, start alike.
func (c *Contest) bars(players []int) (bar, floor int) {
	top := min(max(len(players)/4, 4), len(players))
	return c.Players[players[top-1]-1].Rank, c.Players[players[len(players)-1]-1].Rank
}
