package bot

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// eventQuestions are the values of the option "what" of /event that change nothing.
var eventQuestions = map[string]func(q *question, c *contest.Contest) outbox.Post{
	"": howEventStands, "table": howEventStands, "late": lateness,
}

// aboutEvent answers a question about an event.
func aboutEvent(q *question) outbox.Post {
	what := strings.ToLower(strings.TrimSpace(q.req.Args["what"]))
	ask := eventQuestions[what]
	if ask == nil {
		return q.refuse(say("event.what", shortened(what)))
	}
	c, refusal, err := q.b.chooseEvent(q.ctx, q.req)
	if err != nil {
		return q.failed(err)
	}
	if refusal != nil {
		p, err := q.b.reply(q.ctx, q.localizer, *refusal)
		if err != nil {
			return q.failed(err)
		}
		return p
	}
	p := ask(q, c)
	if p.Refused || !q.b.eventPaged(c, q.b.settings(q.localizer.here)) {
		return p
	}
	if p.Path = "/e/" + c.Page; q.b.address != "" {
		p.Link = q.b.address + p.Path
	}
	return p
}

// told answers with texts about an event.
func (q *question) eventAnswer(texts ...Text) outbox.Post {
	var err error
	var ids []match.PersonID
	ids = append(ids, people(texts)...)
	if q.who, err = q.b.rooms.People(q.ctx, ids...); err != nil {
		return q.failed(err)
	}
	return q.answer(texts...)
}

// howEventStands shows an event.
func howEventStands(q *question, c *contest.Contest) outbox.Post {
	p := q.eventAnswer(sheetTexts(c, q.now)...)
	p.Controls = append(p.Controls, labelled(q.lang, ownControls(c, q.by))...)
	return p
}

// ownControls are the buttons of somebody in an event.
func ownControls(c *contest.Contest, by match.PersonID) (cs []match.Control) {
	if c.State != contest.SignUp {
		return nil
	}
	for _, control := range sheetControls(c) {
		if joined := c.Player(by) > 0; control.Args["what"] == "leave" == joined {
			cs = append(cs, control)
		}
	}
	return cs
}

// lateness lists the games of an event that are not over, those that have waited longest
// first.
func lateness(q *question, c *contest.Contest) outbox.Post {
	open := c.Unfinished()
	if len(open) == 0 {
		return q.refuse(say("event.late.none", c.Name))
	}
	in, err := q.b.eventInput(q.ctx, c, q.now)
	if err != nil {
		return q.failed(err)
	}
	slices.SortStableFunc(open, func(a, b int) int {
		return in.Games[c.Round().Tables[a-1].Game].Changed.Compare(in.Games[c.Round().Tables[b-1].Game].Changed)
	})
	texts := []Text{say("event.late.title", len(open), c.Name)}
	for _, n := range open[:min(len(open), maxLate)] {
		t := c.Round().Tables[n-1]
		g := in.Games[t.Game]
		names := say("event.versus", named(c.Players[t.Black-1].Person), named(c.Players[t.White-1].Person))
		waits := say("event.late.count")
		if g.ToMove != "" {
			waits = say("event.late.moves", named(g.ToMove), clock.LeftText(q.now.Sub(g.Changed)))
		}
		if !g.Deadline.IsZero() {
			waits = say("event.late.flag", waits, clock.LeftText(max(g.Deadline.Sub(q.now), 0)))
		}
		texts = append(texts, say("event.late.line", strconv.Itoa(n), strconv.Itoa(g.Number), names, waits))
	}
	if more := len(open) - maxLate; more > 0 {
		texts = append(texts, say("event.late.more", more))
	}
	return q.eventAnswer(texts...)
}

// maxLate is how many games the list of those that wait has at most.
const maxLate = 30

// halves says a number of half points.
func halves(n int) Text { return text.Points(rules.Points(n)) }

// eventsToChoose makes choices of events, those that go on first.
func eventsToChoose(heads []contest.Head) (choices []Choice) {
	slices.SortStableFunc(heads, func(x, y contest.Head) int {
		runs := func(h contest.Head) int {
			if slices.Contains(contest.Runs, h.State) {
				return 0
			}
			return 1
		}
		return cmp.Compare(runs(x), runs(y))
	})
	for _, h := range heads {
		choices = append(choices, Choice{h.Title, strconv.Itoa(h.Number)})
	}
	return choices
}
