package bot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// A question is a request that changes nothing, and what it is about.
type question struct {
	ctx       context.Context
	b         *Bot
	req       Request
	by        match.PersonID
	match     match.Match
	pos       *match.Position
	who       map[match.PersonID]outbox.User // the players, and others whom the game names
	now       time.Time                      // in the zone of who reads the answer
	lang      *text.Language                 // of who reads it
	localizer localizer
	own       match.Preferences // of the person who asked, for pictures that they alone see
}

// question answers a request that changes nothing. If the adapter does not show the answer,
// question stores the request instead, and the bot answers it when the outbox delivers it.
// It returns ErrConflict if a game must be loaded again.
func (b *Bot) question(ctx context.Context, r Request, h handler, s localizer) (Answer, error) {
	var p outbox.Post
	var err error
	if h.Name == eventName {
		switch refusal, err := b.aimAtEvent(ctx, &r, s.by); {
		case err != nil:
			return Answer{}, err
		case refusal != nil:
			if p, err = b.reply(ctx, s, *refusal); err != nil {
				return Answer{}, err
			}
			return b.give(ctx, r, s, p)
		}
	}
	if r.shown() {
		p, err = b.answer(ctx, r, h, s)
	} else {
		p, err = b.unanswered(ctx, r, h, s)
	}
	if err != nil {
		return Answer{}, err
	}
	return b.give(ctx, r, s, p)
}

// unanswered returns the post that stores a question, or the refusal if choosing its game
// fails.
func (b *Bot) unanswered(ctx context.Context, r Request, h handler, s localizer) (outbox.Post, error) {
	m, _, refusal, err := b.choose(ctx, r, h, s.by)
	switch {
	case err != nil:
		return outbox.Post{}, err
	case refusal != nil:
		return b.reply(ctx, s, *refusal)
	}
	p := outbox.Post{Private: !r.shared()}
	p.Stored.Question = r.question(m)
	return p, nil
}

// question returns what is stored of a question about a match or an event.
func (r Request) question(m match.Match) *match.Question {
	return &match.Question{Command: r.Command, Args: r.Args, Game: cmp.Or(m.ID, r.event), Moderator: r.Moderator, Except: r.Except}
}

// answer answers a question. It returns ErrConflict if a game must be loaded again.
func (b *Bot) answer(ctx context.Context, r Request, h handler, s localizer) (p outbox.Post, err error) {
	if _, err := b.rooms.Present(ctx); err != nil {
		return p, err
	}
	m, _, refusal, err := b.choose(ctx, r, h, s.by)
	if err != nil {
		return p, err
	}
	if refusal != nil {
		return b.reply(ctx, s, *refusal)
	}
	if err := b.creditFirst(ctx, &task{Input: match.Input{Match: m}}); err != nil {
		return p, err
	}
	q := &question{ctx: ctx, b: b, req: r, by: s.by, match: m, now: b.now().UTC(), lang: s.room, localizer: s}
	if !q.shared() {
		q.lang, q.own = s.mine, s.prefs
		if zone, ok := clock.Zone(s.prefs.Zone); ok {
			q.now = q.now.In(zone)
		}
	}
	defer func() {
		p.Stored.Question = r.question(m)
		if q.pos != nil {
			p.Stored.Question.Seq = q.pos.Seq()
		}
	}()
	concerns := []match.PersonID{s.by}
	if m.ID != "" {
		seq := m.Seq
		if r.Seq > 0 {
			seq = min(r.Seq, seq)
		}
		switch q.pos, err = b.position(ctx, m, seq); {
		case errors.Is(err, ErrDamaged):
			return b.damaged(s, r, m, err), nil
		case err != nil:
			return q.failed(err), nil
		}
		if m.State == match.Deleted {
			return q.refuse(say("game.deleted", q.number())), nil
		}
		concerns = append(concerns, concerned(m, q.pos)...)
	}
	if q.who, err = b.rooms.People(ctx, concerns...); err != nil {
		return q.failed(err), nil
	}
	p = h.question(q)
	if drawing := q.req.Args["diagram"]; p.Private && !p.Refused && slices.Contains(arguments, h.Name) && len(drawing) <= maxShared && utf8.ValidString(drawing) {
		p.Controls = append(p.Controls, q.share())
	}
	return p, nil
}

// arguments lists the questions whose answers people show each other: their private
// answers have a button for that.
var arguments = []string{"score", "board", "compare", "rules", "demo", "show", "replay"}

// maxShared is the greatest length of a diagram that a button holds, in bytes.
const maxShared = 64 << 10

// share returns the button that shows the answer to everybody.
func (q *question) share() match.Control {
	args := maps.Clone(q.req.Args)
	args[shareOption.Name] = "yes"
	if q.match.Number > 0 {
		args[gameOption.Name] = q.number()
	}
	return match.Control{Label: q.lang.Say(say("label.share")), Command: q.req.Command, Args: args}
}

// failed logs an error, and returns the answer that something went wrong.
func (q *question) failed(err error) outbox.Post {
	q.b.log.Error("request failed", "request", q.req.ID, "command", q.req.Command, "error", err)
	return q.refuse(say("failed", q.req.ID))
}

// answer words an answer for the person who asked, or for all if they want: then it says
// first who asked for what.
func (q *question) answer(texts ...Text) outbox.Post {
	if q.shared() {
		texts = slices.Insert(texts, 0, say("shared."+q.req.Command, named(q.by), q.number()))
	}
	return outbox.Post{Text: word(q.lang, texts, q.who, q.match.Number), Number: q.match.Number, Private: !q.shared(), Lang: q.lang.Tag,
		Stored: match.OutboxPost{Texts: texts}}
}

// refuse returns the answer that says what is wrong.
func (q *question) refuse(t Text) outbox.Post { return q.localizer.refuse(t) }

// pictured returns an answer with the picture of a game.
func (q *question) pictured(m match.Match, p *match.Position, texts []Text) outbox.Post {
	scene, err := q.b.scene(q.ctx, m, p, q.lang, q.look())
	if err != nil {
		return q.failed(err)
	}
	a := q.answer(texts...)
	a.Scene = &scene
	return a
}

// shared reports whether the answer is for everybody: if the person asked for that, or,
// for a position to show, if they did not refuse it.
func (q *question) shared() bool { return q.req.shared() }

func (r Request) shared() bool {
	share := r.Args[shareOption.Name]
	return share == "yes" || r.Command == "show" && share == ""
}

func (q *question) number() string { return strconv.Itoa(q.match.Number) }

// look returns how pictures are drawn for the reader of the answer.
func (q *question) look() render.Options { return q.localizer.here.Look(q.own) }

// seatName returns the name of the player in a seat, or words for an empty one.
func seatName(l *text.Language, p match.PersonID, who map[match.PersonID]outbox.User) string {
	if p == "" {
		return l.Say(say("seat.open"))
	}
	return cmp.Or(text.CleanName(who[p].Name), l.Say(say("somebody")))
}

// score shows the present count, or explains it.
func score(q *question) outbox.Post {
	var out []Text
	if theory := q.req.Args["theory"] == "yes"; theory || q.req.Args["why"] == "yes" {
		out = append(out, why(q.pos.Final(), theory)...)
	}
	if q.req.Args["ledger"] == "yes" {
		out = append(out, ledger(q.pos.Game, q.number())...)
	}
	if len(out) == 0 {
		out = standing(q)
	}
	return q.answer(out...)
}

// standing says what the count is and who is next, the most important first.
func standing(q *question) []Text {
	g := q.pos.Final()
	s := g.Score()
	if q.match.State == match.Open {
		return []Text{q.match.Waiting(q.by)}
	}
	if s == nil {
		return append(caption(q.match, q.pos, q.now, true), say("score.none", g.Rules().Title))
	}
	var out []Text
	switch {
	case q.pos.Over():
		out = append(out, say("over.why", q.number(), match.Outcome(q.match, q.pos), text.Whole(decided(q.pos))))
	case g.Phase() == rules.Playing:
		if a := q.b.estimate(q.ctx, q.match, q.pos); a.some {
			out = append(out, ahead(a.margin))
		}
		out = append(out, held(g)...)
		out = append(append(out, count(g)...), say("unfinished"))
	default:
		out = append(out, count(g)...)
	}
	if g.Phase() != rules.Playing {
		for _, l := range s.Lines {
			if l.N != 0 || l.Thing == rules.Territory {
				out = append(out, scoreLine(l))
			}
		}
	}
	for _, fact := range g.Says() {
		out = append(out, text.Whole(fact))
	}
	if m, ok := g.AreaAgrees(); ok && q.pos.Over() {
		out = append(out, say("area.agrees", lead(m)))
	}
	line, more := next(q.match, q.pos, q.now)
	if len(line) > 0 {
		out = append(out, dots(line...))
	}
	return append(out, more...)
}

// scoreLine says what something counts for a player.
func scoreLine(l rules.Line) Text {
	if l.Thing == rules.Komi {
		return say("score.komi", text.Color(l.Player), text.Points(l.Each))
	}
	return say("score.line", text.Color(l.Player), text.Thing(l.Thing, l.N), l.Each.String(), l.Points().String())
}

// linked turns the addresses in a text about a ruleset into links, unless it is the text
// of a custom ruleset.
func linked(r *rules.Ruleset, s string) any {
	if !r.IsCustom() {
		return text.Linked(s)
	}
	return s
}

// why explains the count, line by line, with the rule behind each line and the turns
// that made it; then by the other ways of counting, and if asked by the theorem.
func why(g *rules.Game, theory bool) []Text {
	s := g.Score()
	if s == nil {
		return []Text{say("score.none", g.Rules().Title)}
	}
	out := []Text{say("why.head", g.Rules().Title, linked(g.Rules(), g.Rules().Source))}
	for _, e := range rules.Explain(g) {
		if e.N == 0 {
			continue
		}
		out = append(out, scoreLine(e.Line), say("why.sentence", text.Sentence(e.Rule)))
		for _, r := range e.Reasons() {
			out = append(out, say("why.reason", reason(r)))
		}
	}
	out = append(out, count(g)...)
	for _, v := range g.Views() {
		if v.Way != rules.ByTerritory {
			out = append(out, say("why.view", say("way."+strconv.Itoa(int(v.Way))), v.Black.String(), v.White.String(), lead(v.Margin())))
		}
	}
	if !theory {
		return out
	}
	r, err := rules.Read(g)
	if err != nil {
		return append(out, text.Whole(err))
	}
	return append(out, say("why.theorem", text.Sentence(r.Words())))
}

// reason returns the entries that one rule made, as an argument of a text.
func reason(r rules.Reason) Text {
	var moves []string
	for _, m := range r.Moves {
		moves = append(moves, strconv.Itoa(m))
	}
	when, last := say("when.start"), len(moves)-1
	switch {
	case r.Moves[last] == 0:
	case last == 0:
		when = say("when.move", moves[0])
	default:
		when = say("when.moves", text.List(moves[:last]...), moves[last])
	}
	return say("reason", r.Signed(), when, text.Sentence(r.Why))
}

// decided returns what decided the match.
func decided(p *match.Position) rules.Saying {
	if p.Result != "" {
		return p.Why
	}
	return p.Game.Decided()
}

// ledger lists everything that changed hands, and the count.
func ledger(g *rules.Game, number string) []Text {
	es := entries(g)
	if len(es) == 0 {
		return []Text{say("ledger.empty", number)}
	}
	return append(es, count(g)...)
}

// entries says of each entry in the ledger of a game what changed hands, when and why.
func entries(g *rules.Game) (out []Text) {
	for _, e := range g.Entries() {
		change, why := gains([]rules.Entry{e})[0], text.Sentence(e.Why)
		if e.Move == 0 {
			out = append(out, say("ledger.first", change, why))
		} else {
			out = append(out, say("ledger.entry", strconv.Itoa(e.Move), change, why))
		}
	}
	return out
}

// ended returns a result for a list, in SGF notation if there is a winner.
func ended(result string) any {
	switch result {
	case "0", "Draw":
		return say("draw")
	case "Void":
		return say("void")
	}
	return result
}

func recite(q *question) outbox.Post {
	name := strings.TrimSpace(q.req.Args["name"])
	if name != "" {
		r, err := q.b.rulesets.Find(name)
		if err != nil {
			a := q.refuse(wrong(err))
			a.Controls = match.Choose(err, q.req.Command, "name", q.req.Args)
			return a
		}
		about := text.About(name, r)
		if q.shared() {
			short := slices.Insert(about, len(about)-1, say("rules.short", r.Title, text.Points(r.Komi)))
			return q.answer(append(short, say("rules.whole", r.Name))...)
		}
		return q.answer(append(about, say("lines", linked(r, strings.TrimRight(r.Book(), "\n"))))...)
	}
	var out []Text
	line := func(r *rules.Ruleset, says string) {
		out = append(out, say("rules.line", r.Name, r.Title, text.Sentence(says)))
	}
	said := map[string]bool{}
	for _, first := range rules.Catalogue { // those with the same aim together
		if said[first.Aim] {
			continue
		}
		said[first.Aim] = true
		out = append(out, text.Sentence(first.Aim))
		for _, r := range rules.Catalogue {
			if r.Aim == first.Aim {
				line(r, r.PassCost)
			}
		}
	}
	if len(q.b.rulesets) > 0 {
		out = append(out, say("rules.own"))
	}
	for _, r := range q.b.rulesets {
		line(r, r.Aim)
	}
	return q.answer(append(out, say("rules.more"))...)
}

// board shows the game as it is, or as it was after a turn, with buttons for the turns
// before and after it.
func board(q *question) outbox.Post {
	turns := q.pos.Game.Turns()
	n, err := match.Number(q.req.Args, "move", turns)
	if err != nil {
		return q.refuse(wrong(err))
	}
	if n < 0 || n > turns {
		return q.beyond(n, turns)
	}
	m, at := q.match, q.pos
	if q.req.Args["move"] != "" {
		at = &match.Position{Game: q.pos.Game.At(n)}
		m.Clock = clock.Control{} // what was shown then is gone
	}
	texts := caption(m, at, q.now, true)
	for _, r := range q.pos.Remarks {
		if r.Turn == n {
			texts = append(texts, say("remark", named(r.By), r.Text))
		}
	}
	a := q.pictured(m, at, texts)
	for _, to := range []int{n - 1, n + 1} {
		if to >= 0 && to <= turns {
			a.Controls = append(a.Controls, match.Control{Label: q.lang.Say(say("review.to", strconv.Itoa(to))), Command: "board",
				Args: map[string]string{"move": strconv.Itoa(to), "game": q.number()}})
		}
	}
	return a
}

// beyond refuses to show a turn that the game does not have. The number may be meant as
// that of a game, because that used to be the first option.
func (q *question) beyond(n, turns int) outbox.Post {
	a := q.refuse(say("review.range", q.number(), strconv.Itoa(turns)))
	other, found, err := q.b.last(q.ctx, Query{Where: q.req.Where.WithoutThread(), Number: n})
	switch {
	case err != nil:
		return q.failed(err)
	case n < 1 || !found || other.State == match.Deleted || q.req.Args["game"] != "":
		return a
	}
	game := strconv.Itoa(n)
	a = q.refuse(say("review.game", q.number(), game))
	args := maps.Clone(q.req.Args)
	delete(args, "move")
	args["game"] = game
	a.Controls = []match.Control{{Label: q.lang.Say(say("game.choice", game)), Command: "board", Args: args}}
	return a
}

// For a replay: how long each turn and the last one are shown, in milliseconds, and the
// largest number of turns in one file.
const (
	replayTurn, replayEnd = 800, 4000
	replayTurns           = 400
)

// replay returns the game, or some of it, as an animation.
func replay(q *question) outbox.Post {
	g := q.pos.Game
	first, err := match.Number(q.req.Args, "from", 0)
	last, errLast := match.Number(q.req.Args, "to", g.Turns())
	if err = cmp.Or(err, errLast); err != nil {
		return q.refuse(wrong(err))
	}
	switch {
	case first < 0 || last > g.Turns() || first > last:
		return q.refuse(say("review.range", q.number(), strconv.Itoa(g.Turns())))
	case last-first > replayTurns:
		return q.refuse(say("replay.long", strconv.Itoa(replayTurns)))
	}
	look := q.look()
	look.Size = "small"
	names := render.Names{Black: seatName(q.lang, q.match.Black, q.who), White: seatName(q.lang, q.match.White, q.who)}
	var b bytes.Buffer
	if err := render.GIF(&b, q.lang.PictureWords().Scenes(g, names, first, last), look, replayTurn, replayEnd); err != nil {
		return q.failed(err)
	}
	a := q.answer(say("replay", q.number(), strconv.Itoa(first), strconv.Itoa(last)))
	a.File = &outbox.File{Name: "game-" + q.number() + ".gif", Type: "image/gif", Data: b.Bytes()}
	return a
}

func record(q *question) outbox.Post {
	file, err := recordFile(q.match, q.pos, q.who)
	if err != nil {
		return q.failed(err)
	}
	a := q.answer(say("sgf", q.number()))
	a.File = file
	return a
}

// recordFile returns a game as SGF: who made each turn and when, its entries in the
// ledger, and the comments on it. who must hold everybody whom the record names.
func recordFile(m match.Match, p *match.Position, who map[match.PersonID]outbox.User) (*outbox.File, error) {
	info := sgf.Info{Black: seatName(text.English, m.Black, who), White: seatName(text.English, m.White, who),
		Date: m.Opened.Format("2006-01-02"), Result: m.Result}
	if m.Clock.Kind != clock.None {
		info.Overtime = m.Clock.Words()
	}
	remarks := map[int][]Text{}
	for _, r := range p.Remarks {
		remarks[r.Turn] = append(remarks[r.Turn], say("remark", named(r.By), r.Text))
	}
	var said []string
	for _, l := range p.Lines {
		if l.Turn.Kind.IsTurn() {
			e := p.Events[l.Seq-1]
			said = append(said, seatName(text.English, e.By, who)+", "+e.At.UTC().Format("2006-01-02 15:04 MST"))
			if rs := remarks[len(said)]; rs != nil {
				said[len(said)-1] += "\n" + word(text.English, rs, who, 0)
			}
		}
	}
	if n := len(said); n > 0 && p.Result != "" {
		said[n-1] += "\n" + text.English.Say(text.Whole(p.Why))
	}
	var b bytes.Buffer
	if err := sgf.Write(&b, p.Game, info, said...); err != nil {
		return nil, err
	}
	return &outbox.File{Name: "game-" + strconv.Itoa(m.Number) + ".sgf", Type: "application/x-go-sgf", Data: b.Bytes()}, nil
}

// concerned returns everybody whom a game names.
func concerned(m match.Match, p *match.Position) []match.PersonID {
	ps := []match.PersonID{m.Black, m.White, m.Invited}
	for _, r := range p.Remarks {
		ps = append(ps, r.By)
	}
	return ps
}

// waitsFor returns the people for whom a running game waits, for a list.
func (q *question) waitsFor(m match.Match) (Text, error) {
	p, err := q.b.position(q.ctx, m, m.Seq)
	yours := m.ToMove == q.by && !q.shared()
	switch {
	case err != nil && !errors.Is(err, ErrDamaged):
		return Text{}, err
	case err == nil && p.Game.Phase() == rules.Settling && !p.Game.HasAgreed(rules.Black) && !p.Game.HasAgreed(rules.White):
		return say("games.settling"), nil
	case err == nil && p.Game.Phase() == rules.Settling && yours:
		return say("games.accept.yours"), nil
	case err == nil && p.Game.Phase() == rules.Settling:
		return say("games.accept", named(m.ToMove)), nil
	case yours:
		return say("games.yours"), nil
	}
	return say("games.going", named(m.ToMove)), nil
}

// seatOf names who sits on a seat, or for whom an open one is kept.
func seatOf(m match.Match, p match.PersonID) any {
	switch {
	case p != "":
		return named(p)
	case m.State == match.Open && m.Invited != "":
		return say("seat.reserved", named(m.Invited))
	}
	return say("seat.open")
}

func games(q *question) outbox.Post {
	query := Query{Where: q.req.Where.WithoutThread(),
		States: []match.State{match.Open, match.Going, match.Ended, match.Cancelled}, Limit: 20}
	mine := strings.EqualFold(q.req.Args["whose"], "mine")
	if mine {
		query = Query{Player: q.by, States: []match.State{match.Open, match.Going}, Limit: 20}
	}
	ms, err := q.b.creditedMatches(q.ctx, query)
	if err != nil {
		return q.failed(err)
	}
	if len(ms) == 0 {
		return q.answer(say("games.none"))
	}
	ids := []match.PersonID{q.by}
	for _, m := range ms {
		ids = append(ids, m.Black, m.White, m.Invited)
	}
	if q.who, err = q.b.rooms.People(q.ctx, ids...); err != nil {
		return q.failed(err)
	}
	slices.SortFunc(ms, func(a, b match.Match) int { return a.Number - b.Number })
	var out []Text
	for _, m := range ms {
		title := m.Rules
		if r, err := rules.Find(m.Rules); err == nil {
			title = r.Title
		}
		state := say("games." + string(m.State))
		switch m.State {
		case match.Open:
			state = joining(m)
		case match.Ended:
			state = say("games.ended", ended(m.Result))
		case match.Going:
			if state, err = q.waitsFor(m); err != nil {
				return q.failed(err)
			}
		}
		if m.State == match.Going && !m.Deadline.IsZero() {
			state = say("games.due", state, dueBy(say("left", clock.LeftText(m.Deadline.Sub(q.now))), m.Deadline, q.now))
		}
		if mine && m.Where != q.req.Where {
			state = say("games.where", state, m.Where.Link(say("games.here")))
		}
		out = append(out, say("games.line", strconv.Itoa(m.Number), title, fmt.Sprintf("%d×%d", m.Setup.W, m.Setup.H),
			seatOf(m, m.Black), seatOf(m, m.White), state))
	}
	return q.answer(out...)
}

// help lists the everyday commands and the groups of the others, or explains a group or
// a command.
func help(q *question) outbox.Post {
	want := strings.TrimLeft(strings.ToLower(strings.TrimSpace(q.req.Args["command"])), "/!")
	commands := CommandsIn(q.lang.Tag)
	list := func(group string) (out []Text) {
		for _, c := range commands {
			if c.Group == group {
				out = append(out, say("help.line", c.Name, usage(c, gameOption.Name, shareOption.Name), c.Summary))
			}
		}
		return out
	}
	switch c, found := FindCommand(want); {
	case want == everyday:
		out := append([]Text{say("help")}, list(everyday)...)
		out = append(out, say("help.more"))
		for _, g := range groups {
			out = append(out, say("help.group", g, say("group."+g)))
		}
		return q.answer(out...)
	case slices.Contains(groups, want):
		return q.answer(append([]Text{say("help.heading", say("group."+want))}, list(want)...)...)
	case found:
		c = c.In(q.lang.Tag)
		out := []Text{say("help.line", c.Name, usage(c), c.Summary)}
		if c.Name == "place" {
			out = append(out, say("help.place"))
		}
		for _, o := range c.Options {
			name := o.Name
			if o.Type == BoolOption {
				name += ":yes"
			}
			out = append(out, say("help.option", name, o.Summary))
			if o.Name == "what" && len(o.Choices) > 0 { // which are as many commands
				for _, choice := range o.Choices {
					out = append(out, say("help.option", o.Name+":"+choice.Value, choice.Label))
				}
			}
		}
		return q.answer(out...)
	}
	a := q.refuse(wrong(unknown(want)))
	a.Text = text.Capital(a.Text)
	return a
}

// show draws a position for everybody, or for the person who asked alone.
func show(q *question) outbox.Post {
	g, guessed, err := match.Diagram(q.b.rulesets, q.req.Args, &rules.TrompTaylor)
	if err != nil {
		return q.refuse(wrong(err))
	}
	a := q.answer(guessed...)
	scene := q.lang.PictureWords().Of(g, render.Names{}).Position()
	scene.Look = q.look()
	a.Scene = &scene
	return q.onPage(a, g, "")
}
