package bot

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/standings"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// An EventView is an event as it is now, for its page. Its texts are in the language of the
// reader. Players have their names only where the pages of the room are public.
type EventView struct {
	Name      string
	Local     bool // it takes place in the local room
	State     contest.State
	Says      string   // that in words
	Terms     []string // a line for each question that the organiser answered
	Ends      string   // by when all games end; empty: they have not begun, or are over
	Seated    []EventPlayer
	Waiting   []EventPlayer // on the waiting list, the first first
	Groups    []EventGroup  // none before the first round is paired
	Games     []EventGame   // of all rounds: those that wait longest, then those that ended last
	Decisions []string      // of organisers, about results, the last first
}

// An EventPlayer is somebody who has joined.
type EventPlayer struct {
	Name string // or "Player 3"
	Rank string // "12k"; empty: they declared none
	Out  bool   // they have withdrawn
}

// An EventGroup is a table of an event.
type EventGroup struct {
	Name    string   // "Group A"; empty: there is only one
	Columns []string // of the games: the players in the order of rows, or rounds
	Sums    []string // "Score" and what decides between equal scores
	Cross   bool     // they are players
	Rows    []EventRow
}

// An EventRow is the row of a player. Each number says where it comes from.
type EventRow struct {
	EventPlayer
	Number int // counted from above. Games refer to it, because players may share a place
	Place  EventSum
	Sums   []EventSum      // as EventGroup.Sums
	Games  [][]EventResult // by column
}

// An EventResult is a game in the row of a player.
type EventResult struct {
	Text string // "1", "½", "…"; where the column does not tell the opponent also the number of their row: "1 / 4"
	Said string // "Black against Ben, B+3.5"
	Path string // of the game's page; empty: it has none
}

// An EventSum is a number, and the terms that it is the sum of, or for a place what decides it.
type EventSum struct {
	Value string
	Title string // "Score of Ada: 2"
	Why   string // what it is; empty: the title says it all
	Terms []EventTerm
}

// An EventTerm is a part of a sum.
type EventTerm struct {
	Value, Text string
	Path        string // of the game's page; empty: it is about none
}

// An EventGame is a game of an event.
type EventGame struct {
	Round, Table int
	Rules        string // title of the ruleset, if the event has several
	Black, White string
	Open         bool
	Says         string // whose turn it is and for how long, or how it ended
	Path         string // of the game's page at the newest moment, "/g/abc/12"; empty: it has none
}

// A MyEvent is an event that somebody is in, and its page.
type MyEvent struct {
	Path string // "/e/abc"
	Text string // "Spring: games are on"
}

// myEvents returns the running events of a person that have pages, the newest first.
func (b *Bot) myEvents(ctx context.Context, who outbox.User, l *text.Language) (out []MyEvent, err error) {
	by, err := b.store.Person(ctx, who)
	if err != nil {
		return nil, err
	}
	heads, err := b.store.ContestsOf(ctx, by)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		here, _, err := b.room(ctx, h.Where)
		if err != nil {
			return nil, err
		}
		if slices.Contains(contest.Runs, h.State) && b.eventPaged(&contest.Contest{Head: h}, b.settings(here)) && len(out) < mostMine {
			out = append(out, MyEvent{"/e/" + h.Page, Fill(l.Say(say("event.title", h.Title, say("event.state."+string(h.State)))), Format{})})
		}
	}
	return out, nil
}

// viewEvent returns the view of an event, for its page.
func (b *Bot) viewEvent(ctx context.Context, v Viewing) (View, error) {
	h, err := b.store.ContestPage(ctx, v.Event)
	if err != nil {
		return View{}, err
	}
	var changed <-chan struct{}
	if v.Watch {
		changed = b.changes.next(h.ID)
	}
	c, log, err := b.contestLog(ctx, h.ID)
	if err != nil {
		return View{}, err
	}
	here, l, err := b.room(ctx, c.Where)
	if err != nil {
		return View{}, err
	}
	settings := b.settings(here)
	if !b.eventPaged(c, settings) {
		return View{}, ErrNotFound
	}
	if v.By != (outbox.User{}) {
		known, err := b.store.Known(ctx, v.By, c.Where, "")
		if err != nil {
			return View{}, err
		}
		v.Lang = cmp.Or(known.Prefs.Lang, v.Lang)
	}
	if found, ok := text.FindLanguage(v.Lang); ok {
		l = found
	}
	public := settings.Pages == match.PublicPages && !c.Opened.Before(settings.Listed)
	out := View{Path: "/e/" + c.Page, Changed: changed, Lang: l.Tag, Public: public, Seq: c.Seq}
	w, err := b.eventWords(ctx, c, l, settings, log, public && !v.Watch)
	if err != nil {
		return View{}, err
	}
	for _, m := range w.games { // a turn in one of them changes the page, too
		out.Seq += m.Seq
	}
	if v.Watch {
		b.changes.saw(c.ID, out.Seq)
		return out, nil
	}
	switch v.File {
	case "json":
		out.File, err = b.eventJSON(ctx, c)
	case "csv":
		out.File = w.playerSheet()
	case "games.csv":
		out.File = w.gameSheet()
	case "":
		out.Event = w.view()
		out.Sheet = sheetOf(c, 0, nil, l, w.users(), here.Look(match.Preferences{}))
		out.Title = Within(c.Name, maxTitle)
		out.Text = Within(strings.Join(append([]string{text.Capital(out.Event.Says)}, out.Event.Terms...), " · "), maxViewText)
	default:
		err = ErrNotFound
	}
	return out, err
}

// contestLog loads an event and its log.
func (b *Bot) contestLog(ctx context.Context, id contest.ID) (*contest.Contest, []contest.Event, error) {
	h, log, err := b.store.Contest(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	c, err := contest.Fold(h, log)
	return c, log, err
}

// eventWords says what there is to say of an event to a reader.
type eventWords struct {
	bot     *Bot
	contest *contest.Contest
	lang    *text.Language
	room    match.RoomSettings
	games   map[match.GameID]match.Match
	since   map[match.GameID]time.Time // of going games: since when each waits
	named   bool                       // players and organisers have their names
	who     map[match.PersonID]outbox.User
	names   text.Names // of who
	now     time.Time
}

// eventWords loads what there is to say of an event.
func (b *Bot) eventWords(ctx context.Context, c *contest.Contest, l *text.Language, room match.RoomSettings, log []contest.Event, named bool) (*eventWords, error) {
	w := &eventWords{bot: b, contest: c, lang: l, room: room, games: map[match.GameID]match.Match{}, named: named, now: b.now().UTC()}
	games, err := b.store.Matches(ctx, Query{Event: c.ID, Limit: fixtures})
	if err != nil {
		return nil, err
	}
	for _, m := range games {
		w.games[m.ID] = m
	}
	if w.since, err = b.store.WaitingSince(ctx, c.ID); err != nil {
		return nil, err
	}
	if !named {
		return w, nil
	}
	var ids []match.PersonID
	for _, p := range c.Players {
		ids = append(ids, p.Person)
	}
	for _, e := range log {
		ids = append(ids, e.By)
	}
	slices.Sort(ids)
	w.who, err = b.rooms.People(ctx, slices.Compact(ids)...)
	w.names = cleanNames(w.who)
	return w, err
}

// say puts a text into plain words.
func (w *eventWords) say(t Text) string {
	return Fill(w.lang.Word([]Text{t}, w.names, w.contest.Number), Format{})
}

// text names a player.
func (w *eventWords) text(n int) Text {
	if w.named {
		return say("player", named(w.contest.Players[n-1].Person))
	}
	return say("event.view.player", strconv.Itoa(n))
}

// organiser names somebody who decided something.
func (w *eventWords) organiser(p match.PersonID) Text {
	if w.named {
		return say("player", named(p))
	}
	return say("event.view.organiser")
}

// users returns the players under the names that they have on the page.
func (w *eventWords) users() map[match.PersonID]outbox.User {
	if w.named {
		return w.who
	}
	who := map[match.PersonID]outbox.User{}
	for i, p := range w.contest.Players {
		if _, known := who[p.Person]; !known || p.In() { // not the place on the waiting list that they left for a seat
			who[p.Person] = outbox.User{Name: w.name(i + 1)}
		}
	}
	return who
}

func (w *eventWords) name(n int) string { return w.say(w.text(n)) }

func (w *eventWords) player(n int) EventPlayer {
	p := w.contest.Players[n-1]
	return EventPlayer{w.name(n), contest.RankName(p.Rank), !p.In()}
}

func (w *eventWords) players(numbers []int) (out []EventPlayer) {
	for _, n := range numbers {
		out = append(out, w.player(n))
	}
	return out
}

// gamePath returns the path of the page that shows the game of a table as it is now; empty: it
// has none.
func (w *eventWords) gamePath(t contest.Table) string {
	if m, ok := w.games[t.Game]; ok && m.Paged(nil, w.room) {
		return pathOf(m, m.Seq)
	}
	return ""
}

// view returns the whole view.
func (w *eventWords) view() *EventView {
	c := w.contest
	v := &EventView{Name: c.Name, Local: c.Where.Platform == LogPlatform, State: c.State, Says: w.say(say("event.state." + string(c.State)))}
	for _, t := range c.Terms.Words(w.now, time.UTC) {
		v.Terms = append(v.Terms, w.say(t))
	}
	seated, waiting := c.Seated()
	v.Seated, v.Waiting = w.players(seated), w.players(waiting)
	if len(c.Rounds) == 0 {
		return v
	}
	if r := c.Round(); c.State == contest.Playing && !r.Ends.IsZero() {
		v.Ends = w.say(clock.InstantText(r.Ends, w.now))
	}
	groups := c.InGroups()
	for g, players := range groups {
		group := w.group(players)
		if len(groups) > 1 {
			group.Name = w.say(say("event.group.title", contest.GroupName(g+1)))
		}
		v.Groups = append(v.Groups, group)
	}
	v.Games, v.Decisions = w.eventGames(), w.decisions()
	return v
}

// group returns the table of some players.
func (w *eventWords) group(players []int) EventGroup {
	c := w.contest
	rows := c.Standing(players)
	g := EventGroup{Cross: c.System == contest.Groups}
	if g.Cross {
		for _, row := range rows {
			g.Columns = append(g.Columns, w.name(row.Player))
		}
	} else {
		for r := range c.Rounds {
			g.Columns = append(g.Columns, strconv.Itoa(r+1))
		}
	}
	g.Sums = []string{w.say(say("event.view.place.score"))}
	for _, tie := range w.ties() {
		if tie != "direct" {
			g.Sums = append(g.Sums, strings.ToUpper(tie))
		}
	}
	at := map[int]int{} // the index of the row of a player
	for i, row := range rows {
		at[row.Player] = i
	}
	for i, row := range rows {
		out := EventRow{EventPlayer: w.player(row.Player), Number: i + 1, Games: make([][]EventResult, len(g.Columns))}
		out.Place, out.Sums = w.place(row, rows), []EventSum{w.score(row)}
		for _, tie := range w.ties() {
			switch tie {
			case "sos":
				out.Sums = append(out.Sums, w.sos(row))
			case "sodos":
				out.Sums = append(out.Sums, w.sodos(row))
			}
		}
		for r, round := range c.Rounds {
			for _, t := range round.Tables {
				if t.Black != row.Player && t.White != row.Player {
					continue
				}
				other := at[t.Black+t.White-row.Player]
				game, column := w.result(t, row, rows[other]), other
				if !g.Cross {
					game.Text += " / " + strconv.Itoa(other+1)
					column = r
				}
				out.Games[column] = append(out.Games[column], game)
			}
			if round.Bye == row.Player && !g.Cross {
				out.Games[r] = append(out.Games[r], EventResult{Text: w.say(halves(c.Standings(-1).Options.Bye)), Said: w.say(say("event.view.term.bye"))})
			}
		}
		for column, games := range out.Games {
			if len(games) > 1 { // a game that began again is enough
				out.Games[column] = slices.DeleteFunc(games, func(r EventResult) bool { return strings.HasPrefix(r.Text, annulled) })
			}
		}
		g.Rows = append(g.Rows, out)
	}
	return g
}

// annulled is shown of a game that counts for nobody.
const annulled = "–"

// result returns the result of a table for one of its players.
func (w *eventWords) result(t contest.Table, player, opponent standings.Row) EventResult {
	color, won := "color.black", 0
	if t.White == player.Player {
		color = "color.white"
	}
	out := EventResult{Text: "…", Path: w.gamePath(t)}
	if t.Result != nil {
		if won = t.Result.Black; t.White == player.Player {
			won = t.Result.White
		}
		out.Text = w.say(halves(won))
		switch {
		case t.Result.How == contest.Annulled:
			out.Text = annulled
		case player.Annulled || opponent.Annulled:
			out.Text = "(" + out.Text + ")"
		}
	}
	out.Said = w.say(say("event.view.cell", text.Say(color), w.text(opponent.Player), w.outcome(t, w.games[t.Game])))
	return out
}

// outcome says how a game stands, or how its result came about.
func (w *eventWords) outcome(t contest.Table, m match.Match) Text {
	r := t.Result
	if r == nil {
		return w.waits(t, m)
	}
	score := r.Words()
	switch {
	case r.How == contest.Played && r.Game != "" && r.Game != "0" && r.Game != "Draw" && r.Game != "Void":
		return say("event.view.played", score, r.Game)
	case r.How == contest.Typed:
		return say("event.view.typed", score, w.organiser(r.By))
	case r.How == contest.Forfeited:
		return say("event.view.forfeited", score)
	}
	return score
}

// waits says whom an open game waits for.
func (w *eventWords) waits(t contest.Table, m match.Match) Text {
	switch {
	case m.ID == "" || m.State != match.Going:
		return say("event.view.soon")
	case m.ToMove == "":
		return say("event.late.count")
	}
	mover := t.Black
	if w.contest.Players[t.White-1].Person == m.ToMove {
		mover = t.White
	}
	waits := say("event.late.moves", w.text(mover), clock.LeftText(w.now.Sub(w.since[m.ID])))
	if !m.Deadline.IsZero() {
		waits = say("event.late.flag", waits, clock.LeftText(max(m.Deadline.Sub(w.now), 0)))
	}
	return waits
}

// ties returns what decides between equal scores, in order.
func (w *eventWords) ties() []string {
	if w.contest.Ties == nil {
		return []string{"sos", "direct"}
	}
	return w.contest.Ties
}

// score says where a score comes from.
func (w *eventWords) score(row standings.Row) EventSum {
	total := w.say(halves(row.Score.Total))
	return EventSum{total, w.say(say("event.view.score", w.text(row.Player), total)), w.say(say("event.view.score.is")), w.terms(row.Score, "event.view.term.against")}
}

// sos says where a sum of opponents' scores comes from.
func (w *eventWords) sos(row standings.Row) EventSum {
	total := w.say(halves(row.SOS.Total))
	return EventSum{total, w.say(say("event.view.sos", w.text(row.Player), total)), w.say(say("event.view.sos.is")), w.terms(row.SOS, "event.view.term.score")}
}

// sodos says where a sum of defeated opponents' scores comes from, which is in quarter points.
func (w *eventWords) sodos(row standings.Row) EventSum {
	total := render.Quarters(row.SODOS.Total).String()
	out := EventSum{total, w.say(say("event.view.sodos", w.text(row.Player), total)), w.say(say("event.view.sodos.is")), w.terms(row.SODOS, "event.view.term.score")}
	for i, t := range row.SODOS.Terms {
		out.Terms[i].Value = render.Quarters(t.Value).String()
	}
	return out
}

// terms says what a sum adds; key is what it says of a game.
func (w *eventWords) terms(s standings.Sum, key string) (terms []EventTerm) {
	for _, t := range s.Terms {
		terms = append(terms, w.term(t, key))
	}
	return terms
}

// term says what a term of a sum is; key is what it says of a game.
func (w *eventWords) term(t standings.Term, key string) EventTerm {
	out := EventTerm{Value: w.say(halves(t.Value))}
	said := Text{}
	switch t.From {
	case standings.Start:
		said = say("event.view.term.start")
	case standings.FromBye:
		said = say("event.view.term.bye")
	case standings.FromAbsent:
		said = say("event.view.term.absent")
	case standings.FromVoid:
		said = say("event.view.term.void")
		if t.Opponent != standings.None {
			said = say("event.view.term.void.against", w.text(t.Opponent+1))
		}
	case standings.FromGame:
		said = say(key, w.text(t.Opponent+1))
	}
	if t.Round != standings.None && len(w.contest.Rounds) > 1 {
		said = say("event.view.term.round", strconv.Itoa(t.Round+1), said)
	}
	if t.Round != standings.None && t.Game != standings.None {
		out.Path = w.gamePath(w.contest.Rounds[t.Round].Tables[t.Game])
	}
	out.Text = w.say(said)
	return out
}

// maxShares is how many of those who share a place are named: before the first result all do.
const maxShares = 8

// place says what decides about the place of a row.
func (w *eventWords) place(row standings.Row, rows []standings.Row) EventSum {
	n := strconv.Itoa(row.Place)
	out := EventSum{Value: n, Title: w.say(say("event.view.place", w.text(row.Player), n))}
	if row.Annulled {
		out.Why = w.say(say("event.view.place.annulled"))
		return out
	}
	add := func(key, value string) {
		out.Terms = append(out.Terms, EventTerm{Value: value, Text: w.say(say(key))})
	}
	add("event.view.place.score", w.say(halves(row.Score.Total)))
	if w.contest.System == contest.Knockout {
		out.Why = w.say(say("event.view.place.knockout"))
		return out
	}
	for _, tie := range w.ties() {
		switch tie {
		case "sos":
			add("event.view.place.sos", w.say(halves(row.SOS.Total)))
		case "sodos":
			add("event.view.place.sodos", render.Quarters(row.SODOS.Total).String())
		case "direct":
			for _, d := range row.Direct {
				add("event.view.place.direct", w.say(halves(d.Total)))
				out.Terms = append(out.Terms, w.terms(d, "event.view.term.against")...)
			}
		}
	}
	var shares []Text
	for _, other := range rows {
		if other.Place == row.Place && other.Player != row.Player {
			shares = append(shares, w.text(other.Player))
		}
	}
	if out.Why = w.say(say("event.view.place.is")); len(shares) > 0 {
		out.Why = w.say(say("event.view.place.shared", listed(shares, maxShares)))
	}
	return out
}

// eventGames lists the games of an event.
func (w *eventWords) eventGames() (games []EventGame) {
	type sorted struct {
		EventGame
		at time.Time
	}
	var all []sorted
	c := w.contest
	for r, round := range c.Rounds {
		for i, t := range round.Tables {
			m := w.games[t.Game]
			g := EventGame{Round: r + 1, Table: i + 1, Black: w.name(t.Black), White: w.name(t.White), Open: t.Open(), Path: w.gamePath(t)}
			if g.Says = text.Capital(w.say(w.outcome(t, m))); len(c.Rules) > 1 {
				g.Rules = c.Rules[t.Book]
				if r, err := rules.Find(g.Rules); err == nil {
					g.Rules = r.Title
				}
			}
			at := w.since[m.ID]
			if t.Result != nil {
				at = t.Result.At
			}
			all = append(all, sorted{g, at})
		}
	}
	slices.SortStableFunc(all, func(x, y sorted) int {
		switch {
		case x.Open && y.Open:
			return x.at.Compare(y.at)
		case x.Open != y.Open && x.Open:
			return -1
		case x.Open != y.Open:
			return 1
		}
		return y.at.Compare(x.at)
	})
	for _, g := range all {
		games = append(games, g.EventGame)
	}
	return games
}

// decisions lists what organisers have decided about results.
func (w *eventWords) decisions() (said []string) {
	type decision struct {
		seq, table int
		said       Text
	}
	var all []decision
	for r, round := range w.contest.Rounds {
		for i, t := range round.Tables {
			table := strconv.Itoa(i + 1)
			if len(w.contest.Rounds) > 1 {
				table = strconv.Itoa(r+1) + "." + table
			}
			names := say("event.versus", w.text(t.Black), w.text(t.White))
			for n, result := range t.All() {
				if result.By == "" {
					continue
				}
				line := say("event.view.decision", clock.InstantText(result.At, w.now), table, names, result.Words(), w.organiser(result.By))
				if result.How == contest.Forfeited { // the player may have left without an organiser
					line = say("event.view.decision.forfeited", clock.InstantText(result.At, w.now), table, names, result.Words())
				}
				if n > 0 {
					line = say("event.view.decision.before", line, t.All()[n-1].Words())
				}
				all = append(all, decision{result.Seq, i, line})
			}
		}
	}
	slices.SortFunc(all, func(x, y decision) int { return cmp.Or(y.seq-x.seq, x.table-y.table) })
	for _, d := range all {
		said = append(said, w.say(d.said))
	}
	return said
}
