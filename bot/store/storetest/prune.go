package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// month is how long answers and posts are kept that nothing needs.
const month = 30 * day

// prune does a whole round of pruning in steps that look at few rows.
func (d *fixture) prune() {
	d.Helper()
	for next := ""; ; {
		var err error
		next, err = d.Prune(d.ctx(), d.now, next, 3)
		d.must(err)
		if next == "" {
			return
		}
	}
}

// prunedAnswers: what a request was answered is kept for a month.
func prunedAnswers(d *fixture) {
	var old []string
	for range 10 {
		step := &match.Step{Request: d.request(), At: d.now}
		d.must(d.Commit(d.ctx(), step))
		old = append(old, step.Request)
	}
	kept := func(request string) bool {
		_, ok, err := d.Answered(d.ctx(), request)
		d.must(err)
		return ok
	}
	d.pass(month)
	d.prune()
	d.same("after a month", 10, len(slices.DeleteFunc(slices.Clone(old), func(r string) bool { return !kept(r) })))
	young := &match.Step{Request: d.request(), At: d.now}
	d.must(d.Commit(d.ctx(), young))
	d.pass(time.Millisecond)
	d.prune()
	d.same("after more", 0, len(slices.DeleteFunc(slices.Clone(old), func(r string) bool { return !kept(r) })))
	d.same("the young one is kept", true, kept(young.Request))
}

// prunedGames: games that people have deleted go after a month with all that belongs to
// them, but for the newest of a room, whose number the next game would get.
func prunedGames(d *fixture) {
	var games []*match.Match
	for _, id := range []match.GameID{"deleted", "cancelled", "ended", "newest"} {
		m := d.open(id, garden)
		d.play(m, post(string(id)+"-board", match.Show, m))
		step := d.turn(m)
		step.Match.State = map[match.GameID]match.State{"cancelled": match.Cancelled, "ended": match.Ended}[id]
		if step.Match.State == "" {
			step.Match.State = match.Deleted
		}
		d.must(d.Commit(d.ctx(), step))
		games = append(games, m)
	}
	there := func() (ids []match.GameID) {
		for _, m := range games {
			switch _, _, err := d.Match(d.ctx(), m.ID); {
			case err == nil:
				ids = append(ids, m.ID)
			case !errors.Is(err, bot.ErrNotFound):
				d.must(err)
			}
		}
		return ids
	}
	d.pass(month)
	d.prune()
	d.same("after a month", there(), []match.GameID{"deleted", "cancelled", "ended", "newest"})
	d.pass(time.Millisecond)
	d.prune()
	d.same("after more", there(), []match.GameID{"cancelled", "ended", "newest"})
	next := d.open("next", garden)
	d.same("the number of the next game", next.Number, 5)
	d.prune()
	d.same("once another game follows", there(), []match.GameID{"cancelled", "ended"})
}

// prunedPosts: pruning changes nothing of what is asked of the posts of a game that
// goes on; of one that has ended the first and the last receipt stay.
func prunedPosts(d *fixture) {
	rng := rand.New(rand.NewPCG(5, 5))
	kinds := []string{match.Show, match.Notice, match.Status, match.Remove}
	var games []*match.Match
	var receipts [][]outbox.Receipt
	private := map[outbox.Receipt]bool{}
	for i := range 30 {
		where := match.Room{Platform: "chat", Channel: fmt.Sprint("channel", i%7)}
		m := d.open(match.GameID(fmt.Sprint("game", i)), where)
		games, receipts = append(games, m), append(receipts, nil)
		for j := range rng.IntN(20) {
			p := post(fmt.Sprintf("%s-%d", m.ID, j), kinds[rng.IntN(4)], m)
			p.Private, p.Where.Thread = rng.IntN(3) == 0, []string{"", "t"}[rng.IntN(2)]
			d.pass(time.Second)
			d.play(m, p)
			for waiting := d.waits(); len(waiting) > 0; waiting = d.waits() {
				switch rng.IntN(5) {
				case 0:
					d.must(d.Settle(d.ctx(), p.ID, "", nil, outbox.Decorations{}, nil))
				case 1:
					d.must(d.Change(d.ctx(), waiting[0], outbox.Refused, "no"))
				case 2:
					d.park(p.Where, m.ID)
				default:
					d.settle(p.ID)
					r := outbox.Receipt("receipt of " + p.ID)
					receipts[i], private[r] = append(receipts[i], r), p.Private
				}
			}
		}
	}
	asked := func(m *match.Match) (answers []string) {
		for _, kind := range kinds {
			for _, private := range []bool{false, true} {
				for _, thread := range []string{"", "t"} {
					where := m.Where
					where.Thread = thread
					last, first, err := d.Shown(d.ctx(), m.ID, where, kind, private)
					answers = append(answers, fmt.Sprint(kind, private, thread, last, first, err))
				}
			}
		}
		return answers
	}
	under := func(r outbox.Receipt) match.GameID {
		game, err := d.GameUnder(d.ctx(), "chat", r)
		if !errors.Is(err, bot.ErrNotFound) {
			d.must(err)
		}
		return game
	}
	d.pass(2 * month)
	before := make([][]string, len(games))
	for i, m := range games {
		before[i] = asked(m)
		if i%2 == 0 {
			d.pass(time.Second)
			ended := d.turn(m)
			ended.Match.State = match.Ended
			d.must(d.Commit(d.ctx(), ended))
		}
	}
	d.prune()
	gone := 0
	for i, m := range games {
		d.same("what was shown of "+string(m.ID), before[i], asked(m))
		for j, r := range receipts[i] {
			switch got := under(r); {
			case got == m.ID:
			case i%2 == 1:
				d.Errorf("%s goes on and is not found by %s", m.ID, r)
			case j == 0 || j == len(receipts[i])-1:
				d.Errorf("%s has ended and is not found by %s, its message %d of %d", m.ID, r, j, len(receipts[i]))
			default:
				gone++
			}
		}
	}
	if gone == 0 {
		d.Error("nothing was pruned")
	}
	// Paused posts are tried again as if nothing had been pruned: only after
	// all posts that were shown to all.
	for i := range 7 {
		d.unpark(match.Room{Platform: "chat", Channel: fmt.Sprint("channel", i)})
	}
	for _, id := range d.drain() {
		for i := range receipts {
			for _, r := range receipts[i] {
				var n, later int
				var g, g2 int
				fmt.Sscanf(id, "game%d-%d", &g, &n)
				fmt.Sscanf(string(r), "receipt of game%d-%d", &g2, &later)
				if g == g2 && later > n && !private[r] {
					d.Errorf("%s comes after %s", id, r)
				}
			}
		}
	}
}

// prunedPeople: who has done nothing, chosen nothing and holds nothing is forgotten,
// and nobody else.
func prunedPeople(d *fixture) {
	meet := func(name string) match.PersonID {
		p, err := d.Person(d.ctx(), outbox.User{Platform: "web", ID: "name:" + name, Name: name})
		d.must(err)
		return p
	}
	opener, black, white, invited, speaker, chooser := meet("opener"), meet("black"), meet("white"), meet("invited"), meet("speaker"), meet("chooser")
	holder, asker, stranger := meet("holder"), meet("asker"), meet("stranger")
	organiser, appointed := meet("organiser"), meet("appointed")
	d.commits(d.writes(d.commits(d.opensFor(organiser, "e-1", garden)), organiser, contest.Body{Kind: "organiser", Person: appointed},
		contest.Body{Kind: "organiser", Person: appointed, Off: true}))
	m := d.open("g", garden, func(m *match.Match) { m.Opener, m.Black, m.White, m.Invited = opener, black, white, invited })
	step := d.turn(m)
	step.Events[0].By, step.Events[0].Body = speaker, match.ParseBody("comment 1 Nice")
	d.must(d.Commit(d.ctx(), step))
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, Prefs: &match.Preferences{Person: chooser, Lang: "de"}}))
	_, err := d.Hold(d.ctx(), bot.Holder{Platform: "web", ID: "name:holder", Secret: "s"}, bot.Holder{})
	d.must(err)
	d.must(d.Commit(d.ctx(), &match.Step{Request: d.request(), At: d.now, By: asker, Posts: []match.OutboxPost{{ID: "answer", Kind: match.Answer, Where: garden, For: asker}}}))
	d.prune()
	known, err := d.People(d.ctx(), []match.PersonID{opener, black, white, invited, speaker, chooser, holder, asker, stranger, organiser, appointed})
	d.must(err)
	delete(known, stranger)
	d.same("who is known", 10, len(known))
	d.settle("answer")
	d.prune()
	known, err = d.People(d.ctx(), []match.PersonID{asker})
	d.must(err)
	d.same("who is known once the answer was shown", 0, len(known))
	if again := meet("stranger"); again == stranger {
		d.Error("the stranger was not forgotten")
	}
}
