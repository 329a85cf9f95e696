package bot

import (
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The log of what moderators did in a room, which its moderators can read. Each line is stored
// together with what it tells, see match.Act.

// actsShown is how many lines of the log an answer has.
const actsShown = 20

// maxActsPage is the last page of the log that can be asked for.
const maxActsPage = 10_000

// moderation shows a moderator what moderators did in the room, the newest first.
func moderation(q *question) outbox.Post {
	if !q.req.moderates(q.req.Command) {
		p, err := q.b.reply(q.ctx, q.localizer, match.Reply{Texts: []Text{say("moderators.only")}, Private: true, Refused: true})
		if err != nil {
			return q.failed(err)
		}
		return p
	}
	page, err := match.Number(q.req.Args, "page", 1)
	switch {
	case err != nil:
		return q.refuse(wrong(err))
	case page < 1, page > maxActsPage:
		return q.refuse(say("log.end"))
	}
	acts, err := q.b.store.Acts(q.ctx, q.req.Where.WithoutThread(), q.localizer.here.Server.ID, (page-1)*actsShown, actsShown+1)
	switch {
	case err != nil:
		return q.failed(err)
	case len(acts) == 0 && page == 1:
		return q.refuse(say("log.none"))
	case len(acts) == 0:
		return q.refuse(say("log.end"))
	}
	texts := []Text{say("log.title")}
	for _, a := range acts[:min(len(acts), actsShown)] {
		who := any(named(a.By))
		if a.By == "" {
			who = say("log.owner")
		}
		texts = append(texts, say("log.line", clock.InstantText(a.At, q.now), who, a.What))
	}
	if q.who, err = q.b.rooms.People(q.ctx, people(texts)...); err != nil {
		return q.failed(err)
	}
	p := q.answer(texts...)
	if len(acts) > actsShown {
		args := map[string]string{"page": strconv.Itoa(page + 1)}
		p.Controls = labelled(q.lang, []match.Control{{Label: "label.log", Command: q.req.Command, Args: args}})
	}
	return p
}

// ReleasedName says in the log of moderators that somebody's name was released.
func ReleasedName(p match.PersonID) Text { return say("act.release", named(p)) }

// DeletedRecord says in the log of moderators that a shared record was deleted.
func DeletedRecord(slug string) Text { return say("act.record", "/p/"+slug) }
