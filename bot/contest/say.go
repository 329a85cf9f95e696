package contest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

func say(key string, args ...any) text.Message { return text.Say(key, args...) }

func itoa(n int) string { return strconv.Itoa(n) }

func instant(at, now time.Time) text.Message { return clock.InstantText(at, now) }

func named(p match.PersonID) text.Arg { return text.Somebody(string(p)) }

func called(p match.PersonID) text.Message { return text.Called(string(p)) }

// sheet is the post that shows the event as it is: who has joined, or the table. There is
// one message of it in a room, which changes.
func (c *Contest) sheet() match.OutboxPost {
	return match.OutboxPost{ID: fmt.Sprintf("%s-%d-sheet", c.ID, c.Seq), Game: c.ID, Where: c.Where, Kind: match.Sheet, Seq: c.Seq}
}

// notice is a post that people read once.
func (c *Contest) notice(what string, texts []text.Message, mentions ...match.PersonID) match.OutboxPost {
	return match.OutboxPost{ID: fmt.Sprintf("%s-%d-%s", c.ID, c.Seq, what), Game: c.ID, Where: c.Where, Kind: match.Notice, Seq: c.Seq,
		Texts: texts, Notify: mentions}
}

// announcement tells everybody who is paired that the round begins, and with whom.
func (c *Contest) announcement() match.OutboxPost {
	r := c.Round()
	texts := []text.Message{say("event.begins", len(r.Tables), c.Name)}
	if c.System != Groups {
		texts[0] = say("event.round.begins", len(r.Tables), c.Name, itoa(len(c.Rounds)))
	}
	var mentions []match.PersonID
	if c.System == Groups {
		for g, players := range c.InGroups() {
			var names []text.Message
			for _, n := range players {
				if p := c.Players[n-1]; p.In() {
					names, mentions = append(names, called(p.Person)), append(mentions, p.Person)
				}
			}
			if !c.grouped() {
				texts = append(texts, say("event.players", text.List(names...)))
				continue
			}
			texts = append(texts, say("event.group", GroupName(g+1), text.List(names...)))
		}
	} else {
		for n, t := range r.Tables {
			if t.Book > 0 {
				continue
			}
			black, white := c.Players[t.Black-1].Person, c.Players[t.White-1].Person
			texts, mentions = append(texts, say("event.pair", itoa(n+1), called(black), called(white))), append(mentions, black, white)
		}
		if r.Bye > 0 {
			bye := c.Players[r.Bye-1].Person
			texts, mentions = append(texts, say("event.bye", called(bye))), append(mentions, bye)
		}
	}
	texts = append(texts, say("event.clocks", clock.InstantText(r.Paired.Add(c.Lasts), r.Paired), clock.LengthText(c.Lasts/2)))
	return c.notice("begins", texts, mentions...)
}

// GroupName names a group: A, B, C …
func GroupName(group int) string {
	name := ""
	for ; group > 0; group = (group - 1) / 26 {
		name = string(rune('A'+(group-1)%26)) + name
	}
	return name
}

// final tells how the event has ended.
func (c *Contest) final() match.OutboxPost {
	texts := []text.Message{say("event.over", c.Name)}
	for g, players := range c.InGroups() {
		first := c.First(players)
		var names []text.Message
		for _, n := range first {
			names = append(names, called(c.Players[n-1].Person))
		}
		if c.grouped() {
			texts = append(texts, say("event.winner.group", GroupName(g+1), text.List(names...)))
		} else {
			texts = append(texts, say("event.winner", text.List(names...)))
		}
	}
	return c.notice("over", texts)
}

// words says a result.
func (s Score) words() text.Message {
	switch {
	case s.How == Annulled:
		return say("event.score.void")
	case s.Black == s.White && s.Black > 0:
		return say("draw")
	case s.Black > s.White:
		return say("event.score.black")
	case s.White > s.Black:
		return say("event.score.white")
	}
	return say("event.score.both")
}

// stands says why something cannot be done in the present state of the event.
func (c *Contest) stands() text.Message {
	return say("event.is."+string(c.State), c.Name)
}

// callOrganisers mentions the organisers.
func (c *Contest) callOrganisers() text.Message {
	var who []text.Message
	for _, p := range c.Organisers {
		who = append(who, called(p))
	}
	return text.List(who...)
}

// Words says the terms, a line for each of the four questions.
func (t Terms) Words(now time.Time, zone *time.Location) []text.Message {
	var titles []string
	komi := text.Message{}
	for _, id := range t.Rules {
		if r, err := rules.Find(id); err == nil {
			titles = append(titles, r.Title)
			komi = text.Points(r.Komi)
		}
	}
	if t.Komi != nil {
		komi = text.Points(rules.Points(*t.Komi))
	}
	lines := []text.Message{say("event.terms.rules", text.List(titles...), fmt.Sprintf("%d×%d", t.Width, t.Height))}
	if len(t.Rules) == 1 || t.Komi != nil {
		lines[0] = say("event.terms.rules.komi", text.List(titles...), fmt.Sprintf("%d×%d", t.Width, t.Height), komi)
	}
	who := say("event.terms.anyone")
	if t.Seats > 0 {
		who = say("event.terms.seats", t.Seats)
	}
	until := clock.InstantText(t.Until, now.In(zone))
	by := "event.terms.lot"
	if t.Ranks {
		by = "event.terms.ranks"
	}
	how := say("event.terms.groups", strconv.Itoa(t.Group), say(by))
	long := say("event.time", clock.LengthText(t.Lasts), clock.LengthText(t.Lasts/2))
	if t.System != Groups {
		long = say("event.time.round", clock.LengthText(t.Lasts), clock.LengthText(t.Lasts/2))
		how = say("event.terms."+string(t.System), t.Rounds)
	}
	return append(lines, say("event.terms.who", who, until), how, long)
}
