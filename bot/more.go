package bot

import (
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// more answers with the rarer things that the person may do now in the game.
func more(q *question) outbox.Post {
	in := &task{req: q.req, localizer: q.localizer, Input: match.Input{By: q.by, Match: q.match, Now: q.b.now().UTC()}}
	if err := q.b.prepare(q.ctx, in); err != nil {
		return q.failed(err)
	}
	cs := match.MenuOptions(&in.Input, q.req.moderates)
	if len(cs) == 0 {
		return q.refuse(say("more.none", q.number()))
	}
	a := q.answer(say("more", q.number()))
	a.Controls, a.Menu = labelled(q.lang, cs), q.lang.Say(say("label.more"))
	return a
}
