package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// worded puts names, words and the picture into a post.
func (b *Bot) worded(ctx context.Context, o outbox.Pending) (outbox.Post, error) {
	if o.Kind == match.Answer {
		return b.wordedAnswer(ctx, o)
	}
	p := outbox.Post{ID: o.ID, Where: o.Where, Kind: o.Kind, Game: o.Game, Seq: o.Seq, Private: o.Private, Reply: o.Reply, Stored: o.OutboxPost}
	room, l, err := b.postLang(ctx, o)
	if err != nil {
		return p, err
	}
	p.Lang, p.Letters = l.Tag, room.Letters == "on"
	if contest.Is(o.Game) {
		return b.wordedEvent(ctx, o, p, l, room)
	}
	var m match.Match
	var pos *match.Position
	texts := o.Texts
	if o.Game != "" {
		if m, pos, err = b.shownAt(ctx, o); err != nil {
			return p, err
		}
		if texts, err = b.ofGame(ctx, o, &p, m, pos); err != nil {
			return p, err
		}
		p.Controls = labelled(l, p.Controls)
	}
	if o.Game == "" {
		p.Controls = labelled(l, o.Controls)
	}
	known, err := b.peopleIn(ctx, o, slices.Concat(people(texts), o.Notify, []match.PersonID{m.Black, m.White}))
	if err != nil {
		return p, err
	}
	if o.Game != "" && (o.Kind == match.Show || o.Kind == match.Notice && m.State == match.Ended) && m.Paged(pos, b.settings(room)) {
		if p.Path = pathOf(m, o.Seq); b.address != "" {
			p.Link = b.address + p.Path
		}
	}
	if o.Game != "" && o.Kind == match.Show {
		players := map[match.PersonID]outbox.User{m.Black: known[m.Black], m.White: known[m.White]} // the picture alone distinguishes equal names
		scene := b.draw(ctx, m, pos, l, rooms.TellApart(players), room.Look(match.Preferences{}))
		p.Scene = &scene
	}
	who := rooms.TellApart(known)
	p.Stored.Texts, p.Stored.Notify = texts, nil
	for _, n := range o.Notify {
		if w := who[n]; w.Name != "" { // else they are being forgotten
			p.Notify, p.Stored.Notify = append(p.Notify, w), append(p.Stored.Notify, n)
		}
	}
	p.Text = word(l, texts, who, p.Number)
	if m.Fixture.Event != "" && !o.Private && pos != nil && pos.Game != nil {
		p.Apart = &outbox.Apart{Black: who[m.Black], White: who[m.White], Ruleset: pos.Game.Rules().Title}
	}
	if pos.Begins() && !o.Private {
		p.Begins, p.Joined = word(l, []Text{m.Started()}, who, p.Number), pos.Opened()
	}
	if p.Agreed {
		p.LastTurn = word(l, lastTurn(pos.Game), who, p.Number)
	}
	return p, nil
}

// ofGame adds to a post what belongs to its game, except the picture, and returns its
// texts.
func (b *Bot) ofGame(ctx context.Context, o outbox.Pending, p *outbox.Post, m match.Match, pos *match.Position) (texts []Text, err error) {
	p.Number, p.State, p.At = m.Number, m.State, pos.At
	kind, private := match.Status, o.Private
	if o.Kind == match.Show || o.Kind == match.Notice {
		kind, private = match.Show, false
	}
	last, first, err := b.store.Shown(ctx, o.Game, o.Where, kind, private)
	if err != nil {
		return nil, err
	}
	if o.Where.Thread == "" && !o.Private {
		p.Under = string(first)
	}
	switch o.Kind {
	case match.Show:
		p.Previous, p.Controls, p.Agreed = string(last), match.BoardOptions(m, pos, o.Seq), acceptance(pos) && pos.Over()
		p.Marked = remarked(pos)
		several, err := b.several(ctx, o, m)
		return slices.Concat(caption(m, pos, b.now().UTC(), several), o.Texts), err
	case match.Notice:
		p.Previous, p.Instead = string(last), acceptance(pos) && !pos.Over() // the first of two gets no board
		p.Unplayed = m.State == match.Cancelled && (m.Black == "" || m.White == "")
		p.Controls = match.AnswerOptions(m, pos, o.Seq)
		if pos.Begins() && !o.Private {
			p.Opening = string(first)
		}
		if p.File, err = b.ended(ctx, m, pos, o.Seq); p.File != nil {
			p.Stored.Question = Request{Command: "sgf"}.question(m)
		}
	case match.Remove:
		if p.Replaces = string(last); last == "" {
			err = outbox.ErrStale
		}
	case match.Status:
		if m.Seq != o.Seq { // never after the turn
			return nil, outbox.ErrStale
		}
		if o.Again {
			p.Replaces = string(last)
		}
		return b.reminding(ctx, m, pos, o.OutboxPost)
	}
	return o.Texts, err
}

// acceptance reports whether the last event is that somebody accepted the count, or that
// there is no result.
func acceptance(p *match.Position) bool {
	if len(p.Lines) == 0 {
		return false
	}
	last := p.Lines[len(p.Lines)-1]
	return last.Seq == len(p.Events) && (last.Turn.Kind == rules.AcceptScore || last.Turn.Kind == rules.NoResult)
}

// remarked reports whether the last two events are marks of dead stones, or of stones in
// seki, so that their boards differ in nothing else.
func remarked(p *match.Position) bool {
	n := len(p.Lines)
	if n < 2 {
		return false
	}
	for k, l := range p.Lines[n-2:] {
		if l.Seq != len(p.Events)-1+k || l.Turn.Kind != rules.MarkDead && l.Turn.Kind != rules.MarkSeki {
			return false
		}
	}
	return true
}

// several reports whether there are other games in the place where a board is shown.
func (b *Bot) several(ctx context.Context, o outbox.Pending, m match.Match) (bool, error) {
	if s := b.recent(o); s != nil && s.games > 0 {
		return s.games > 1, nil
	}
	ms, err := b.store.Matches(ctx, Query{Where: m.Where, States: []match.State{match.Open, match.Going, match.Sandbox}, Limit: 2, Any: true})
	return slices.ContainsFunc(ms, func(o match.Match) bool { return o.ID != m.ID }), err
}

// reminding returns the texts of a reminder: that it is somebody's turn, and which other
// games wait for them.
func (b *Bot) reminding(ctx context.Context, m match.Match, pos *match.Position, o match.OutboxPost) ([]Text, error) {
	now := b.now().UTC()
	if o.Private && len(o.Notify) == 1 {
		_, prefs, err := b.store.Players(ctx, o.Notify)
		if err != nil {
			return nil, err
		}
		if zone, ok := clock.Zone(prefs[o.Notify[0]].Zone); ok {
			now = now.In(zone)
		}
	}
	texts := reminder(m, pos, o.Notify, now)
	more, err := b.waiting(ctx, m, o, now)
	if err != nil || len(more) == 0 {
		return texts, err
	}
	return slices.Concat([]Text{say("remind.many", strconv.Itoa(len(more)+1))}, texts, more), nil
}

// peopleIn returns the users behind the ids in a post, without those erased.
func (b *Bot) peopleIn(ctx context.Context, o outbox.Pending, ids []match.PersonID) (map[match.PersonID]outbox.User, error) {
	s := b.recent(o)
	if s == nil {
		return b.store.People(ctx, ids)
	}
	known := map[match.PersonID]outbox.User{}
	for _, id := range ids {
		who, ok := s.who[id]
		if !ok && id != "" {
			return b.store.People(ctx, ids)
		}
		if ok {
			known[id] = who
		}
	}
	return known, nil
}

// decoration turns a decoration into a post, with the picture and texts of the game
// after the event for which it was stored.
func (b *Bot) decoration(ctx context.Context, r outbox.Row) (outbox.Post, error) {
	p := outbox.Post{ID: r.Kind + " " + r.Key, Where: r.Where(), Kind: r.Kind, Game: match.GameID(r.Game), Seq: r.Seq,
		Replaces: r.Target, Data: r.Data, Attempt: r.Attempt + 1}
	if r.Kind == outbox.Close { // the game may have been deleted
		m, err := b.store.Header(ctx, p.Game)
		if err == nil && m.State != match.Ended && m.State != match.Cancelled {
			err = outbox.ErrStale
		}
		return p, err
	}
	if r.Game == "" || r.Kind != outbox.Header && r.Kind != outbox.Attach {
		return p, nil
	}
	room, l, err := b.room(ctx, p.Where)
	if err != nil {
		return p, err
	}
	if contest.Is(p.Game) {
		return b.sheetDecoration(ctx, p, l, room)
	}
	m, pos, err := b.at(ctx, p.Game, r.Seq)
	if err != nil {
		return p, err
	}
	p.Number, p.State, p.At, p.Lang = m.Number, m.State, pos.At, l.Tag
	p.Letters = room.Letters == "on"
	if r.Kind == outbox.Attach && r.Of == match.Notice {
		if p.File, err = b.ended(ctx, m, pos, r.Seq); err == nil && p.File == nil {
			err = outbox.ErrStale
		}
		return p, err
	}
	if r.Kind == outbox.Header {
		p.Text = l.Say(say("compare.komi", text.Points(m.Setup.Komi)))
		if m.Clock.Kind != clock.None {
			p.Text += " · " + l.Say(m.Clock.Text())
		}
	}
	scene, err := b.scene(ctx, m, pos, l, room.Look(match.Preferences{}))
	if err != nil {
		return p, err
	}
	p.Scene, p.Controls = &scene, labelled(l, match.BoardOptions(m, pos, r.Seq))
	return p, nil
}

// shownAt returns the match that a post is about, and its position then. A status
// needs the match as it is now: it never comes after the next turn.
func (b *Bot) shownAt(ctx context.Context, o outbox.Pending) (match.Match, *match.Position, error) {
	if s := b.recent(o); s != nil && o.Kind != match.Status {
		return s.match, s.pos, nil
	}
	return b.at(ctx, o.Game, o.Seq)
}

// ended returns the record of a game that the event seq has ended, for the notice of
// the end.
func (b *Bot) ended(ctx context.Context, m match.Match, p *match.Position, seq int) (*outbox.File, error) {
	if m.State != match.Ended || !p.Over() || p.Deleted {
		return nil, nil
	}
	if before, err := b.position(ctx, m, seq-1); err != nil || before.Over() {
		return nil, err
	}
	who, err := b.rooms.People(ctx, concerned(m, p)...)
	if err != nil {
		return nil, err
	}
	return recordFile(m, p, who)
}

// waiting lists the other games that wait for the person who is reminded of m, in the
// room where they read the reminder.
func (b *Bot) waiting(ctx context.Context, m match.Match, o match.OutboxPost, now time.Time) ([]Text, error) {
	if len(o.Notify) != 1 {
		return nil, nil
	}
	also, err := b.alsoWaiting(ctx, m, o.Notify[0], o.Private)
	if err != nil || len(also) == 0 {
		return nil, err
	}
	var out []Text
	for _, w := range also[:min(len(also), maxDigest)] {
		other := w.Match
		line := say("remind.also", strconv.Itoa(other.Number))
		if !other.Deadline.IsZero() {
			left := say("left", clock.LeftText(other.Deadline.Sub(now)))
			line = say("remind.also.due", strconv.Itoa(other.Number), dueBy(left, other.Deadline, now))
		}
		if other.Where.Channel != m.Where.Channel || other.Where.Thread != m.Where.Thread {
			line = say("remind.elsewhere", line, other.Where.Link(say("games.here")))
		}
		out = append(out, line)
	}
	return out, nil
}

// maxDigest is how many games one reminder lists besides its own.
const maxDigest = 20

// alsoWaiting returns the other games that wait for somebody: those of the same
// channel, or in a private message all of the platform, except those of servers that the
// bot has left.
func (b *Bot) alsoWaiting(ctx context.Context, m match.Match, person match.PersonID, private bool) ([]match.Waiting, error) {
	ms, err := b.creditedMatches(ctx, Query{Player: person, States: []match.State{match.Going}})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ms, func(a, b match.Match) int {
		return cmp.Or(strings.Compare(a.Where.Channel, b.Where.Channel), cmp.Compare(a.Number, b.Number))
	})
	var also []match.Waiting
	there := map[string]bool{m.Where.Channel: true} // the bot is, in the channel's server
	for _, o := range ms {
		if o.ID == m.ID || o.Where.Platform != m.Where.Platform || !private && o.Where.Channel != m.Where.Channel {
			continue
		}
		p, err := b.position(ctx, o, o.Seq)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(o.WaitsFor(p), person) {
			continue
		}
		if _, known := there[o.Where.Channel]; !known {
			here, err := b.rooms.Place(ctx, o.Where)
			if err != nil {
				return nil, err
			}
			there[o.Where.Channel] = here.Server.Left.IsZero()
		}
		if there[o.Where.Channel] {
			also = append(also, match.Waiting{Match: o, Position: p})
		}
	}
	return also, nil
}
