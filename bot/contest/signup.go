package contest

import (
	"maps"
	"slices"
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Drafts, and who joins and leaves.

// newEvent adds to the draft of the person asking, and shows what would be published.
func newEvent(in *Input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	for _, name := range []string{"player", "other", "rank", "table", "as"} { // a title of several words without quotation marks ends up there
		if stray := in.arg(name); stray != "" {
			return in.refuse(say("event.stray", text.Shorten(stray)))
		}
	}
	draft := Draft{}
	for name, value := range in.Draft {
		draft[name] = value
	}
	for _, name := range Chosen {
		switch value := in.arg(name); value {
		case "":
		case "default":
			delete(draft, name)
		default:
			draft[name] = value
		}
	}
	terms, wrong := draft.Terms(in.Rulesets, in.Room, in.Zone, in.Now)
	if len(wrong) > 0 {
		s := in.refuse(explain(wrong)...)
		if in.arg("form") == "yes" { // which an adapter shows
			s.Draft = in.readable(draft)
		}
		return s
	}
	s := in.answer(append([]text.Message{say("event.preview", terms.Name)}, append(terms.Words(in.Now, in.Zone), say("event.preview.how"))...)...)
	s.Draft = &match.Draft{Person: in.By, Where: in.Request.Where.WithoutThread(), Text: draft.Encode(), At: in.Now}
	s.Answer.Controls = []match.Control{
		{Label: "label.event.publish", Command: "event", Args: map[string]string{"what": "publish"}},
		{Label: "label.event.change", Command: "event", Args: map[string]string{"what": "new"}, Ask: "title"},
		{Label: "label.event.discard", Command: "event", Args: map[string]string{"what": "discard"}},
	}
	return s
}

// explain says what is wrong with a draft.
func explain(wrong []error) (why []text.Message) {
	for _, err := range wrong {
		why = append(why, text.Explain(err))
	}
	return why
}

// readable returns what can be read of a draft in which something is wrong: who has filled in a
// form need not type the rest again. nil: nothing of it is new.
func (in *Input) readable(draft Draft) *match.Draft {
	kept := Draft{}
	maps.Copy(kept, in.Draft)
	for _, name := range Chosen {
		was, had := kept[name]
		if value, has := draft[name]; has {
			kept[name] = value
		} else {
			delete(kept, name)
		}
		if _, wrong := kept.Terms(in.Rulesets, in.Room, in.Zone, in.Now); len(wrong) > 0 {
			if delete(kept, name); had {
				kept[name] = was
			}
		}
	}
	if len(kept) == 0 || maps.Equal(kept, in.Draft) {
		return nil
	}
	return &match.Draft{Person: in.By, Where: in.Request.Where.WithoutThread(), Text: kept.Encode(), At: in.Now}
}

// closed refuses to organise an event where the person may not.
func (in *Input) closed() (Step, bool) {
	switch {
	case in.Alone:
		return in.refuse(say("event.alone")), true
	case in.Room.Events != "anyone" && !in.Request.Moderator:
		return in.refuse(say("event.moderators")), true
	case in.Room.Opens == "nobody":
		return in.refuse(say("opens.nobody")), true
	case in.Running >= maxRunning:
		return in.refuse(say("event.many", strconv.Itoa(in.Running))), true
	}
	return Step{}, false
}

func discard(in *Input) Step {
	if in.Draft == nil {
		return in.refuse(say("event.nodraft"))
	}
	s := in.answer(say("event.discarded"))
	s.Draft = &match.Draft{Person: in.By, Where: in.Request.Where.WithoutThread(), At: in.Now}
	return s
}

// publish opens the sign-up of the event that the person asking has drafted.
func publish(in *Input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	if in.Draft == nil {
		return in.refuse(say("event.nodraft"))
	}
	terms, wrong := in.Draft.Terms(in.Rulesets, in.Room, in.Zone, in.Now)
	if len(wrong) > 0 {
		return in.refuse(append(explain(wrong), say("event.preview.again"))...)
	}
	for _, c := range []byte(in.NewID) { // which nobody can choose
		terms.Lot = terms.Lot*31 + int64(c)
	}
	where := in.Request.Where.WithoutThread()
	s := in.step([]text.Message{say("event.published", terms.Name)}, Body{Kind: opened, Terms: &terms, Place: &where, Page: in.NewPage})
	s.Draft = &match.Draft{Person: in.By, Where: where, At: in.Now}
	return s
}

// join takes a seat, or a place on the waiting list.
func join(in *Input) Step {
	c := in.Contest
	rank := NoRank
	switch typed := in.arg("rank"); {
	case c.Player(in.By) > 0:
		return in.refuse(c.place(in.By))
	case !in.Now.Before(c.Until):
		return in.refuse(say("event.late", c.Name))
	case len(c.Players) >= 4*MaxPlayers: // with those who left
		return in.refuse(say("event.full", c.Name))
	case c.Ranks && typed == "":
		s := in.refuse(say("event.rank", c.Name))
		s.Answer.Controls = []match.Control{{Label: "label.event.join", Command: "event", Args: in.about("join"), Ask: "rank"}}
		return s
	case c.Ranks:
		var err error
		if rank, err = ParseRank(typed); err != nil {
			return in.refuse(text.Explain(err))
		}
	}
	s := in.step(nil, Body{Kind: joined, Person: in.By, Rank: rankBody(rank)})
	if s.Contest != nil {
		s.Answer.Texts = []text.Message{s.Contest.place(in.By)}
	}
	return s
}

func rankBody(rank int) *int {
	if rank == NoRank {
		return nil
	}
	return &rank
}

// place says where somebody stands in the sign-up.
func (c *Contest) place(p match.PersonID) text.Message {
	n := c.Player(p)
	seated, waiting := c.Seated()
	if i := slices.Index(waiting, n); i >= 0 {
		return say("event.waiting", c.Name, strconv.Itoa(i+1))
	}
	if c.State == SignUp {
		return say("event.joined", c.Name, strconv.Itoa(slices.Index(seated, n)+1))
	}
	return say("event.in", c.Name)
}

// leave takes back a sign-up, or withdraws the person asking from the games that are left.
func leave(in *Input) Step {
	c := in.Contest
	n := c.Player(in.By)
	switch {
	case n == 0:
		return in.refuse(say("event.notin", c.Name))
	case c.State == SignUp:
		return in.step([]text.Message{say("event.left", c.Name)}, Body{Kind: left, Player: n})
	case !in.confirmed():
		return in.sure(say("event.leave.sure", len(c.open(n)), c.Name), "label.event.leave")
	}
	return in.withdraws(n, say("event.leaves", named(in.By), c.Name))
}
