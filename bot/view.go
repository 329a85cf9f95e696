package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// A Viewing asks how a game was at one moment, for a page of an adapter. If it names none, the
// View has only Mine and MyEvents.
type Viewing struct {
	Slug string // of the game's page; or
	// Event is the slug of an event's page: the View has only Event, Sheet, Path, Lang, Public, Seq,
	// which rises with every change that the page shows, Title, Text and Changed. File may be
	// "json", "csv" or "games.csv".
	Event string
	Game  match.GameID // the game itself, for boards of the adapter's own rooms: the View has only Match, Path, Seq and Scene; or an event: only Path, Lang, Seq and Sheet
	Seq   int          // the event after which; 0: the last
	As    string       // name of another ruleset that counts the position; empty: none
	Lang  string       // BCP 47 tag of the reader's language; empty: that of the room

	// Record is what the page shows instead of a game: the View has no Match but Seq, which
	// is the number of turns and one more, and Guessed and Dead. Dead names stones of chains
	// that the reader takes for dead, or takes for alive if it names the chain twice; empty:
	// as the record says.
	Record *Record
	Dead   string
	File   string // "sgf" or "gif", for View.File; empty: none

	// Rules is the name of a ruleset, for a picture of it: the View has only Lang and Scene.
	Rules string

	By    outbox.User // who looks, for Offers and their settings; zero: nobody in particular
	Held  bool        // for View.Held
	Watch bool        // for Changed: the View has only Match, Path, Public, Seq and that
}

// A View is a game at one moment.
type View struct {
	Match    match.Match       // its header, as it is now
	Path     string            // of the page that shows the moment, "/g/abc/12"; empty: the game has no page
	Public   bool              // search engines may list the page, and previews name the players
	Lang     string            // BCP 47 tag of all words in it; that of Viewing.By if they have chosen one
	Seq      int               // of the moment; events are counted from 1
	Number   int               // turns up to the moment
	Taken    bool              // the last of them was taken back later
	Trial    bool              // the moment is in a branch that tries out what is dead: all words say so
	Scene    render.Scene      // the picture, with the names of the players
	Sheet    *render.Sheet     // instead of a game: the table of an event; nil: there is none
	Card     render.Scene      // the same for previews: without names unless Public
	Title    string            // for previews, likewise: at most 70 bytes
	Text     string            // for previews, likewise: at most 350 bytes
	Heard    string            // what the last turn did, what changed hands and what is asked of Viewing.By, for those who hear a page
	Line     string            // what the last turn did; empty before the first
	Turns    []ViewTurn        // those that stand now, in order
	Rules    string            // name of the ruleset, as people type it
	Clocks   [2]string         // what Black and White have left, in a game with clocks that is being played; only of the newest moment
	Asked    match.PersonID    // the player whom the other asks something; empty: nobody
	Question string            // what one player asks the other; only of the newest moment
	Offers   []Offer           // what Viewing.By may do; only of the newest moment, if Seq was 0
	Own      match.Preferences // what Viewing.By has chosen; the Scene has it, too
	Mine     []Mine            // the other games of Viewing.By that have pages; likewise
	MyEvents []MyEvent         // the running events of Viewing.By that have pages
	Held     []Held            // what has changed hands up to the moment, in order, if Viewing.Held asked for it
	As       *Counted          // the answer to Viewing.As; nil: it was not asked

	Guessed []string     // of a record: how it was read where it is not clear
	File    *outbox.File // likewise: the whole record, as Viewing.File asked
	Dead    string       // likewise: one stone of each chain that is taken for dead
	About   string       // likewise: what it says of the game, "Meijin, 1976-10-03, B+0.5"

	Event *EventView // the event of Viewing.Event

	// Changed is closed when the game, or the event or a game of it, has changed since, if Viewing.Watch asked for it.
	// That the page was revoked is no change of the game.
	Changed <-chan struct{}
}

// An Offer is something that a person may do in a game now.
type Offer struct {
	match.Control
	Cost string // what changes hands by it, in words; empty: nothing does
}

// A Held is a thing that changed hands.
type Held struct {
	Thing  rules.Thing
	Player rules.Color // who got it, or gave it away
	N      int         // how many they got; negative: gave away
	Seq    int         // the event of the turn; 0: before the first, or when both players accept the count
	Text   string      // "4. Black +1 pass stone: a pass gives the opponent a pass stone"
}

// A Mine is a game that somebody plays, and its page.
type Mine struct {
	Match match.Match // its header
	Path  string      // of its page, "/g/abc"
	Text  string      // what it is called: its ruleset, number and players
	Waits bool        // it waits for them
}

// A ViewTurn is a turn that stands.
type ViewTurn struct {
	Seq    int // the event that made it
	Number int // from 1
	Text   string
}

// Counted is a position counted by another ruleset than that of its game.
type Counted struct {
	Rules   string       // name of the ruleset; empty: there is no such ruleset
	Title   string       // of the ruleset
	Scene   render.Scene // with its count
	Differs []string     // sentences: how the count differs, and why
	Err     string       // a sentence: why it cannot be counted so, and there is no more

	game *rules.Game // that was counted
}

// The longest title and text of a preview, in bytes.
const (
	maxTitle    = 70
	maxViewText = 350
)

// View returns a game at one moment; see [Service].
func (b *Bot) View(ctx context.Context, v Viewing) (View, error) {
	if v.Record != nil {
		return b.viewRecord(ctx, v)
	}
	if v.Event != "" {
		return b.viewEvent(ctx, v)
	}
	if v.Rules != "" {
		r, err := b.rulesets.Find(v.Rules)
		if err != nil {
			return View{}, ErrNotFound
		}
		l := text.BestLanguage(v.Lang)
		return View{Lang: l.Tag, Scene: l.PictureWords().EndedNow(exampleOf(r), render.Names{})}, nil
	}
	if v.Slug == "" && v.Game == "" && v.By != (outbox.User{}) {
		l := text.BestLanguage(v.Lang)
		mine, err := b.mine(ctx, v.By, "", l)
		if err != nil {
			return View{}, err
		}
		events, err := b.myEvents(ctx, v.By, l)
		return View{Mine: mine, MyEvents: events}, err
	}
	if contest.Is(v.Game) {
		return b.viewSheet(ctx, v)
	}
	m, err := b.viewed(ctx, v)
	var changed <-chan struct{}
	if v.Watch && err == nil {
		changed = b.changes.next(m.ID)
		m, err = b.viewed(ctx, v) // it may have changed just before
		b.changes.saw(m.ID, m.Seq)
	}
	if err != nil {
		return View{}, err
	}
	here, l, err := b.room(ctx, m.Where)
	if err != nil {
		return View{}, err
	}
	p, err := b.position(ctx, m, cmp.Or(v.Seq, m.Seq))
	if err != nil {
		return View{}, err
	}
	last := p
	if v.Slug != "" {
		if last, err = b.position(ctx, m, m.Seq); err != nil {
			return View{}, err
		}
	}
	settings := b.settings(here)
	paged := m.Paged(last, settings)
	if v.Slug != "" && !paged {
		return View{}, ErrNotFound
	}
	// A page asks for all the boards that it shows, so earlier boards have an estimate only
	// if it is in memory.
	shown := m
	if _, known := b.cache.estimated(m.ID, p); !known && p.Seq() < m.Seq {
		shown.NoHints = true
	}
	var own match.Preferences
	var by match.PersonID
	if v.By != (outbox.User{}) {
		known, err := b.store.Known(ctx, v.By, m.Where, "")
		if err != nil {
			return View{}, err
		}
		own, by = known.Prefs, known.Person
	}
	if found, ok := text.FindLanguage(cmp.Or(own.Lang, v.Lang)); ok {
		l = found
	}
	out := View{Match: m, Changed: changed, Seq: p.Seq(), Lang: l.Tag, Public: m.Listed(settings), Own: own}
	if paged {
		out.Path = pathOf(m, out.Seq)
	}
	if a := last.Asked; a != nil && !last.Over() {
		out.Asked = m.Seat(a.By.Opponent())
	}
	if v.Watch {
		return out, nil
	}
	who, err := b.rooms.People(ctx, m.Black, m.White)
	if err != nil {
		return View{}, err
	}
	out.Scene = b.draw(ctx, shown, p, l, who, here.Look(own))
	if v.Slug == "" {
		return out, nil
	}
	out.describe(shown, last, p, l)
	if p == last {
		out.Question = openQuestion(m, p, l, by)
	}
	out.Heard = l.PictureWords().Sentences(out.heard(m, last, p, l, by)...)
	named := map[match.PersonID]outbox.User{}
	if out.Public {
		named = who
	}
	out.Card = b.draw(ctx, shown, p, l, named, here.Look(match.Preferences{}))
	if !out.Public {
		out.Card.Black.Name, out.Card.White.Name = l.Say(text.Color(rules.Black)), l.Say(text.Color(rules.White))
	}
	out.preview(l)
	if m.State == match.Going && m.Clock.Kind != clock.None && p == last {
		reading := p.Reading(b.now())
		for i, c := range []rules.Color{rules.Black, rules.White} {
			out.Clocks[i] = l.Say(reading.Left(c).Text(m.Clock))
		}
	}
	if v.By != (outbox.User{}) && v.Seq == 0 {
		if out.Offers, err = b.offers(ctx, v.By, m, l); err != nil {
			return View{}, err
		}
		if out.Mine, err = b.mine(ctx, v.By, m.ID, l); err != nil {
			return View{}, err
		}
	}
	if v.Held {
		out.Held = changedHands(p, l)
	}
	if v.As != "" {
		out.As = b.countedAs(v.As, p, l, out.Scene)
	}
	return out, nil
}

// pathOf returns the path of the page that shows a game after an event.
func pathOf(m match.Match, seq int) string { return fmt.Sprintf("/g/%s/%d", m.Page, seq) }

// address tells the address of a game's page, or why it has none.
func address(q *question) outbox.Post {
	settings := q.b.settings(q.localizer.here)
	switch {
	case !q.match.Paged(q.pos, settings):
		return q.refuse(match.NoPage(q.match, settings))
	case !q.b.reachable(q.match.Where):
		return q.answer(say("page.nowhere", q.number()))
	}
	return q.answer(say("page.is", q.number(), text.Address(q.b.address+"/g/"+q.match.Page)))
}

// reachable reports whether people in a room find the pages of the local room: they are in
// it, where paths are enough, or its address is known.
func (b *Bot) reachable(from match.Room) bool { return b.address != "" || from.Platform == LogPlatform }

// viewed finds the game of a viewing, as it is now.
func (b *Bot) viewed(ctx context.Context, v Viewing) (match.Match, error) {
	if v.Seq < 0 {
		return match.Match{}, ErrNotFound
	}
	if v.Slug == "" {
		return b.store.Header(ctx, v.Game)
	}
	return b.store.Page(ctx, v.Slug)
}

// offers returns what a person may do in a match now.
func (b *Bot) offers(ctx context.Context, who outbox.User, m match.Match, l *text.Language) (out []Offer, err error) {
	r := Request{Who: who, Where: m.Where}
	s, err := b.localizer(ctx, r)
	if err != nil {
		return nil, err
	}
	in := &task{req: r, localizer: s, Input: match.Input{By: s.by, Match: m, Now: b.now().UTC()}}
	if err := b.prepare(ctx, in); err != nil {
		return nil, err
	}
	before := len(in.Position.Game.Entries())
	for _, o := range match.Offers(&in.Input) {
		offer := Offer{Control: labelled(l, []match.Control{o.Control})[0]}
		if o.After != nil && len(o.After.Game.Entries()) > before {
			if changed := gains(o.After.Game.Entries()[before:]); len(changed) > 0 {
				offer.Cost = l.Say(dots(changed...))
			}
		}
		out = append(out, offer)
	}
	return out, nil
}

// describe sets what a view tells of a position p of a game that is at last now.
func (v *View) describe(m match.Match, last, p *match.Position, l *text.Language) {
	v.Rules, v.Number = p.Game.Rules().Name, p.Game.Turns()
	v.Line = word(l, lastTurn(p.Game), nil, m.Number)
	trial := " · " + l.PictureWords().Trial
	if v.Trial = p.Branch > 0 && !p.Over(); v.Trial && v.Line != "" {
		v.Line += trial
	}
	v.Taken = len(p.Lines) > 0 && !slices.ContainsFunc(last.Lines, func(line match.Line) bool { return line.Seq == p.Lines[len(p.Lines)-1].Seq })
	for _, line := range last.Lines {
		if line.Turn.Kind.IsTurn() {
			n := len(v.Turns) + 1
			said := l.Say(say("numbered", strconv.Itoa(n), text.Turn(line.Turn)))
			if last.Branch > 0 && line.Seq > last.Branch && !last.Over() {
				said += trial
			}
			v.Turns = append(v.Turns, ViewTurn{line.Seq, n, said})
		}
	}
}

// preview sets the title and the text of a preview from the rest of a view.
func (v *View) preview(l *text.Language) {
	columns, rows := v.Scene.Size()
	title := l.Say(say("view.title", v.Scene.Ruleset, columns, rows, v.Number))
	if v.Public && v.Match.State != match.Sandbox {
		title = v.Scene.Black.Name + " – " + v.Scene.White.Name + " · " + title
	}
	if v.Trial {
		title = l.PictureWords().Trial + " · " + title
	}
	v.Title = Within(title, maxTitle)
	said := []string{v.Line, cmp.Or(v.Card.Next, v.Card.Caption)}
	if v.Card.Headline != "" {
		said = append(said, v.Card.Headline)
	}
	said = append(said, v.Card.Aim...)
	said = slices.DeleteFunc(said, func(s string) bool { return s == "" })
	v.Text = Within(strings.Join(said, " · "), maxViewText)
}

// Within shortens a text to a number of bytes, between two words if possible.
func Within(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	if space := strings.LastIndexByte(s[:end], ' '); space > end/2 {
		end = space
	}
	return strings.TrimRight(s[:end], " ·,.;:") + "…"
}

// countedAs counts a position, of which there is a scene, by a ruleset.
func (b *Bot) countedAs(name string, p *match.Position, l *text.Language, scene render.Scene) *Counted {
	var dead []rules.Point
	if p.Game.Phase() == rules.Settling {
		dead = match.OneOfEach(p.Game.Board(), p.Game.Dead())
	}
	return b.countedIn(name, sgf.Of(p.Game).Compare(sgf.Count{Dead: dead, Also: b.rulesets}), l, scene)
}

// countedBy returns the count of a ruleset among the rows of a comparison.
func countedBy(r *rules.Ruleset, rows []sgf.Row, l *text.Language, scene render.Scene) *Counted {
	c := &Counted{Rules: r.Name, Title: r.Title}
	var err error
	var own, as *sgf.Row
	for i := range rows {
		if rows[i].Own {
			own = &rows[i]
		}
		if rows[i].Rules.Name == r.Name {
			as = &rows[i]
		}
	}
	if as == nil || as.Err != nil {
		if as != nil {
			err = as.Err
		}
		c.Err = l.Say(text.Whole(cmp.Or(err, rules.ErrNoCount)))
		return c
	}
	c.game = as.Game
	c.Scene = l.PictureWords().Of(as.Game, render.Names{Black: scene.Black.Name, White: scene.White.Name})
	c.Scene.Look = scene.Look
	if as.Unfinished() { // the passes that were added to count it are not shown
		c.Scene.Last, c.Scene.Newest, c.Scene.Ghosts, c.Scene.Ko = scene.Last, scene.Newest, scene.Ghosts, scene.Ko
		c.Scene.Move, c.Scene.By, c.Scene.Turn, c.Scene.Told, c.Scene.Next = scene.Move, scene.By, scene.Turn, scene.Told, scene.Next
		c.Scene.Black.Due, c.Scene.White.Due, c.Scene.Result = scene.Black.Due, scene.White.Due, ""
		c.Scene.Caption = l.Say(say("view.unfinished"))
		c.Differs = []string{l.Say(say("view.unfinished"))}
	}
	if as.Own {
		return c
	}
	if own != nil && own.Err == nil {
		c.Differs = append(c.Differs, l.Say(say("view.differs", r.Title, lead(as.Game.Score().Margin()), own.Rules.Title, lead(own.Game.Score().Margin()))))
	}
	for _, reason := range as.Reasons() {
		c.Differs = append(c.Differs, l.Say(text.Whole(reason)))
	}
	return c
}

// changedHands returns what has changed hands up to a position, and in the count what does when
// both players accept it, which its numbers have already.
func changedHands(p *match.Position, l *text.Language) (out []Held) {
	seqs := []int{0} // by number of the turn
	for _, line := range p.Lines {
		if line.Turn.Kind.IsTurn() {
			seqs = append(seqs, line.Seq)
		}
	}
	said := entries(p.Game)
	for i, e := range p.Game.Entries() {
		h := Held{Thing: e.Thing, Player: e.Player, N: e.N, Text: l.Say(said[i])}
		if e.Move < len(seqs) {
			h.Seq = seqs[e.Move]
		}
		out = append(out, h)
	}
	agreed := p.Game.IfAgreed()
	for i, change := range gains(agreed) {
		e := agreed[i]
		out = append(out, Held{Thing: e.Thing, Player: e.Player, N: e.N, Text: l.Say(say("ledger.agreed", change, text.Sentence(e.Why)))})
	}
	return out
}

// mostMine is how many other games a page lists at most.
const mostMine = 20

// mine returns the running games of a person that have pages, without one: first those that
// wait for them.
func (b *Bot) mine(ctx context.Context, who outbox.User, without match.GameID, l *text.Language) (out []Mine, err error) {
	by, err := b.store.Person(ctx, who)
	if err != nil {
		return nil, err
	}
	ms, err := b.store.Matches(ctx, Query{Player: by, States: []match.State{match.Going}, Limit: mostMine + 1})
	if err != nil {
		return nil, err
	}
	var ids []match.PersonID
	for _, m := range ms {
		ids = append(ids, m.Black, m.White)
	}
	names, err := b.rooms.People(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		here, _, err := b.room(ctx, m.Where)
		if err != nil {
			return nil, err
		}
		p, err := b.position(ctx, m, m.Seq)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.ID != without && m.Paged(p, b.settings(here)) {
			called := say("view.mine", strconv.Itoa(m.Number), p.Game.Rules().Title, fmt.Sprintf("%d×%d", m.Setup.W, m.Setup.H), named(m.Black), named(m.White))
			out = append(out, Mine{m, "/g/" + m.Page, word(l, []Text{called}, names, 0), slices.Contains(m.WaitsFor(p), by)})
		}
	}
	slices.SortStableFunc(out, func(x, y Mine) int { // otherwise the last changed first
		switch {
		case x.Waits == y.Waits:
			return 0
		case x.Waits:
			return -1
		}
		return 1
	})
	return out[:min(len(out), mostMine)], nil
}
