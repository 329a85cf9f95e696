package bot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/pairing"
	"github.com/halfpoint-go/halfpoint/rules"
)

// eventQuestions are the values of the option "what" of /event that change nothing.
var eventQuestions = map[string]func(q *question, c *contest.Contest) outbox.Post{
	"": howEventStands, "table": howEventStands, "late": lateness, "export": exportEvent, "pairing": nextPairing, "why": whyPaired,
}

// aboutEvent answers a question about an event.
func aboutEvent(q *question) outbox.Post {
	what := strings.ToLower(strings.TrimSpace(q.req.Args["what"]))
	ask := eventQuestions[what]
	if ask == nil {
		return q.refuse(say("event.what", shortened(what)))
	}
	c, refusal, err := q.b.chooseEvent(q.ctx, &q.req, q.by)
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
	settings, err := q.eventSettings(c)
	if err != nil {
		return q.failed(err)
	}
	if p.Refused || !q.b.eventPaged(c, settings) {
		return p
	}
	if p.Path = "/e/" + c.Page; q.b.address != "" {
		p.Link = q.b.address + p.Path
	}
	return p
}

// eventSettings returns the settings of the room of an event, which may not be that of the
// question.
func (q *question) eventSettings(c *contest.Contest) (match.RoomSettings, error) {
	here := q.localizer.here
	var err error
	if c.Where != here.Room {
		here, err = q.b.rooms.Place(q.ctx, c.Where)
	}
	return q.b.settings(here), err
}

// aimAtEvent finds the event of a question, and the players whom it names, before the question
// is stored: with it neither the thread nor the persons are.
func (b *Bot) aimAtEvent(ctx context.Context, r *Request, by match.PersonID) (refusal *match.Reply, err error) {
	if eventQuestions[strings.ToLower(strings.TrimSpace(r.Args["what"]))] == nil {
		return nil, nil
	}
	c, refusal, err := b.chooseEvent(ctx, r, by)
	if c == nil {
		return refusal, err
	}
	r.event, r.thread = c.ID, ""
	r.Args = maps.Clone(r.Args)
	for option, who := range r.Users {
		p, err := b.store.Person(ctx, who)
		if err != nil {
			return nil, err
		}
		n := c.Seat(p)
		if n == 0 {
			return &match.Reply{Texts: []Text{say("event.notplaying", named(p), c.Name)}, Private: true, Refused: true}, nil
		}
		r.Args[option] = "#" + strconv.Itoa(n)
	}
	return nil, nil
}

// player returns the number of the player whom an option names as #3, or says why there is
// none.
func (q *question) player(c *contest.Contest, option string) (n int, refusal *Text) {
	typed := strings.TrimSpace(q.req.Args[option])
	if number, ok := strings.CutPrefix(typed, "#"); ok {
		if n, _ = strconv.Atoi(number); n > 0 && n <= len(c.Players) {
			return n, nil
		}
	}
	if typed == "" {
		return 0, new(say("event.who", option))
	}
	return 0, new(say("event.unknown.user", shortened(typed)))
}

// eventAnswer answers with texts about an event.
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
	texts := sheetTexts(c, q.now, maxNamed, nil)
	player := c.Player(q.by)
	if q.req.Args["player"] != "" {
		var refusal *Text
		if player, refusal = q.player(c, "player"); refusal != nil {
			return q.refuse(*refusal)
		}
	}
	p := q.eventAnswer(texts...)
	if c.State == contest.Playing || c.State == contest.Over {
		games, err := q.b.fixtureGames(q.ctx, c, "")
		if err != nil {
			return q.failed(err)
		}
		who, err := q.b.rooms.People(q.ctx, sheetPeople(c)...)
		if err != nil {
			return q.failed(err)
		}
		p.Sheet = sheetOf(c, player, games, q.lang, who, q.look())
	}
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
	games, err := q.b.fixtureGames(q.ctx, c, "")
	if err != nil {
		return q.failed(err)
	}
	since, err := q.b.store.WaitingSince(q.ctx, c.ID)
	if err != nil {
		return q.failed(err)
	}
	slices.SortStableFunc(open, func(a, b int) int {
		return since[c.Round().Tables[a-1].Game].Compare(since[c.Round().Tables[b-1].Game])
	})
	texts := []Text{say("event.late.title", len(open), c.Name)}
	for _, n := range open[:min(len(open), maxLate)] {
		t := c.Round().Tables[n-1]
		g := games[t.Game]
		names := say("event.versus", named(c.Players[t.Black-1].Person), named(c.Players[t.White-1].Person))
		waits := say("event.late.count")
		if g.ToMove != "" {
			waits = say("event.late.moves", named(g.ToMove), clock.LeftText(q.now.Sub(since[g.ID])))
		}
		if !g.Deadline.IsZero() {
			waits = say("event.late.flag", waits, clock.LeftText(max(g.Deadline.Sub(q.now), 0)))
		}
		texts = append(texts, say("event.late.line", strconv.Itoa(n), strconv.Itoa(g.Number), names, waits))
	}
	if more := len(open) - maxLate; more > 0 {
		texts = append(texts, say("event.late.more", more))
	}
	if q.req.moderates(q.req.Command) || c.Organises(q.by) {
		texts = append(texts, say("event.late.how"))
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

// nextPairing shows an organiser how the next round would be paired now.
func nextPairing(q *question, c *contest.Contest) outbox.Post {
	switch {
	case !q.req.moderates(q.req.Command) && !c.Organises(q.by):
		return q.refuse(say("event.pairing.organisers"))
	case c.System == contest.Groups || c.State != contest.SignUp && c.Asking == nil:
		return q.refuse(say("event.notasking", c.Name))
	case c.System == contest.RoundRobin:
		return q.refuse(say("event.choice.system", c.Name))
	}
	unasked, err := q.b.unasked(q.ctx, c)
	if err != nil {
		return q.failed(err)
	}
	playing := c.Playing(unasked)
	if len(playing) < 2 {
		return q.refuse(say("event.few", len(playing)))
	}
	p, err := c.Pairing(playing, c.Choices)
	if err != nil {
		return q.refuse(text.Explain(err))
	}
	texts := []Text{say("event.pairing", strconv.Itoa(len(c.Rounds)+1), c.Name)}
	for _, pair := range p.Pairs {
		line := say("event.pairing.line", playerText(c, pair.Black+1), playerText(c, pair.White+1))
		if pair.Handicap > 0 {
			line = say("event.pairing.stones", pair.Handicap, line)
		}
		texts = append(texts, line)
	}
	if p.Bye != pairing.NoBye {
		texts = append(texts, say("event.pairing.bye", playerText(c, p.Bye+1)))
	}
	return q.eventAnswer(append(texts, say("event.pairing.how"))...)
}

// whyPaired says why two players met in a round, or why they did not: which costs spoke for
// it, and what the best pairing otherwise would have weighed.
func whyPaired(q *question, c *contest.Contest) outbox.Post {
	if c.System != contest.Swiss && c.System != contest.McMahon {
		return q.refuse(say("event.choice.system", c.Name))
	}
	round := len(c.Rounds)
	if typed := strings.TrimSpace(q.req.Args["round"]); typed != "" {
		round, _ = strconv.Atoi(typed)
	}
	if round < 1 || round > len(c.Rounds) {
		return q.refuse(say("event.bad.round", strconv.Itoa(len(c.Rounds))))
	}
	var numbers [2]int
	for i, option := range []string{"player", "other"} {
		if i == 1 && strings.TrimSpace(q.req.Args[option]) == "" { // the bye
			continue
		}
		var refusal *Text
		if numbers[i], refusal = q.player(c, option); refusal != nil {
			return q.refuse(*refusal)
		}
	}
	h, log, err := q.b.store.Contest(q.ctx, c.ID)
	if err != nil {
		return q.failed(err)
	}
	r := c.Rounds[round-1]
	before, err := contest.Fold(h, log[:r.Seq-1]) // results that came later, or were corrected, did not matter
	if err != nil {
		return q.failed(err)
	}
	before.Bar, before.Floor = c.Bar, c.Floor
	p, err := before.Pairing(r.Players(), r.Choices)
	if err != nil {
		return q.refuse(text.Explain(err))
	}
	reason, err := p.Why(numbers[0]-1, numbers[1]-1)
	if err != nil {
		return q.refuse(say("event.why.absent", strconv.Itoa(round)))
	}
	return q.eventAnswer(reasons(c, round, numbers, reason)...)
}

// reasons says why two players met, or did not.
func reasons(c *contest.Contest, round int, numbers [2]int, reason pairing.Reason) []Text {
	first, second := playerText(c, numbers[0]), Text{}
	key := "event.why.apart"
	if reason.Meet {
		key = "event.why.met"
	}
	if numbers[1] == 0 {
		key += ".bye"
	} else {
		second = playerText(c, numbers[1])
	}
	texts := []Text{say(key, strconv.Itoa(round), first, second)}
	if reason.Chosen {
		return append(texts, say("event.why.chosen"))
	}
	if numbers[1] == 0 {
		return append(texts, say("event.why.bye"))
	}
	texts = append(texts, say("event.why.weight", weightText(reason.Weight)))
	if len(reason.Instead.Pairs) == 0 {
		return append(texts, say("event.why.only"))
	}
	if reason.Less.Total() <= 0 { // then somebody else would have the bye
		return append(texts, say("event.why.other"), say("event.why.bye"))
	}
	key = "event.why.instead"
	if !reason.Meet {
		key = "event.why.together"
	}
	return append(texts, say(key, weightText(reason.Less)))
}

// weightText lists the parts of a weight that are not zero.
func weightText(w pairing.Weight) Text {
	var parts []Text
	for _, part := range []struct {
		key string
		n   int
	}{{"event.weight.new", w.New}, {"event.weight.score", w.Score}, {"event.weight.drawn", w.Drawn}, {"event.weight.seed", w.Seed}, {"event.weight.colors", w.Colors}} {
		if part.n != 0 {
			parts = append(parts, say(part.key, grouped(part.n)))
		}
	}
	if parts == nil {
		return say("event.weight.same")
	}
	return text.List(parts...)
}

// grouped writes a number with a thin space between groups of three digits.
func grouped(n int) string {
	digits := strconv.Itoa(max(n, -n))
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "\u202f" + digits[at:]
	}
	if n < 0 {
		return "−" + digits
	}
	return digits
}
