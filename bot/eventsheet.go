package bot

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// This file makes the picture of the table of an event.

// A picture of the groups of an event has at most so many rows: that is about as high as a
// phone.
const maxSheetRows = 24

// shownGroups returns how many groups the picture for everybody has, of how many.
func shownGroups(c *contest.Contest) (shown, all int) {
	rows := 0
	for _, players := range c.InGroups() {
		if rows += len(players); rows <= maxSheetRows || all == 0 {
			shown++
		}
		all++
	}
	return shown, all
}

// A sheeting is what the picture of an event is made of.
type sheeting struct {
	*contest.Contest
	lang  *text.Language
	who   map[match.PersonID]outbox.User
	games map[match.GameID]contest.Game // as they are now; nil: the picture does not tell who is to move
	signs []string                      // those that the notes explain
}

// sheetOf returns the picture of the table of an event, in a language and a look; nil while
// nobody is paired. Of several groups it has that of a player, by number; with 0 it has the
// first groups, as many as there is room for.
func sheetOf(c *contest.Contest, player int, games map[match.GameID]contest.Game, l *text.Language, who map[match.PersonID]outbox.User, look render.Options) *render.Sheet {
	if c.State != contest.Playing && c.State != contest.Over {
		return nil
	}
	t := &sheeting{Contest: c, lang: l, who: rooms.TellApart(who), games: games}
	groups, first := c.InGroups(), 0
	shown, _ := shownGroups(c)
	for g, players := range groups {
		if player > 0 && slices.Contains(players, player) {
			first, shown = g, 1
		}
	}
	var sheets []render.Sheet
	for g, players := range groups[first : first+shown] {
		sheets = append(sheets, t.group(first+g+1, players))
	}
	sheet := &sheets[0]
	sheet.Title, sheet.Look, sheet.Below = c.Name, look, sheets[1:]
	sheets[len(sheets)-1].Notes = t.notes()
	return sheet
}

// say words something in the language of the picture.
func (t *sheeting) say(key string, args ...any) string { return t.lang.Say(say(key, args...)) }

// name returns the name of a player.
func (t *sheeting) name(player int) string {
	return seatName(t.lang, t.Players[player-1].Person, t.who)
}

// group returns the table of a group, or of all players where there are none.
func (t *sheeting) group(group int, players []int) render.Sheet {
	s := render.Sheet{Subtitle: t.subtitle(group), Words: t.lang.PictureWords(), More: t.say("event.sheet.more", "%d")}
	s.Totals = []render.SheetHeading{{Short: t.say("event.sheet.score"), Long: t.say("event.sheet.score.long")}, {Short: t.say("event.sheet.sos")}}
	sodos := slices.Contains(t.Ties, "sodos")
	if sodos {
		s.Totals = append(s.Totals, render.SheetHeading{Short: t.say("event.sheet.sodos")})
	}
	table := t.Standing(players)
	at := map[int]int{} // the row of a player, from 1
	for i, row := range table {
		at[row.Player] = i + 1
	}
	cross := t.System == contest.Groups || t.System == contest.RoundRobin
	if !cross {
		for r := range t.Rounds {
			s.Games = append(s.Games, render.SheetHeading{Short: strconv.Itoa(r + 1), Long: t.say("event.sheet.round", strconv.Itoa(r+1))})
		}
	}
	for i, row := range table {
		p := t.Players[row.Player-1]
		line := render.SheetRow{Number: strconv.Itoa(i + 1), Name: t.name(row.Player), Rank: contest.RankName(p.Rank)}
		if !p.In() {
			line.Withdrawn = t.say("event.sheet.withdrawn")
		}
		line.Totals = []render.SheetTotal{{Value: rules.Points(row.Score.Total), Blank: row.Annulled}, {Value: rules.Points(row.SOS.Total), Blank: row.Annulled}}
		if sodos {
			quarters := render.Quarters(row.SODOS.Total)
			quarters.Blank = row.Annulled
			line.Totals = append(line.Totals, quarters)
		}
		if cross {
			s.Games = append(s.Games, render.SheetHeading{Short: line.Number, Long: line.Name})
			for j, other := range table {
				g := t.against(row.Player, other.Player, row.Annulled || other.Annulled)
				if j < i || g.State == render.Open && t.games == nil { // told in the other's row, or nothing to tell
					g.Said = ""
				}
				line.Games = append(line.Games, g)
			}
		} else {
			for r := range t.Rounds {
				line.Games = append(line.Games, t.inRound(row.Player, r, at))
			}
		}
		s.Rows = append(s.Rows, line)
	}
	return s
}

// subtitle says which group or round it is, and how many of its games are over.
func (t *sheeting) subtitle(group int) string {
	tables := t.Round().Tables
	if t.System == contest.Groups {
		tables = slices.DeleteFunc(t.Tables(), func(table contest.Table) bool { return table.Group > 0 && table.Group != group })
	}
	over, all := 0, 0
	for _, table := range tables {
		if counts(table) {
			if all++; !table.Open() {
				over++
			}
		}
	}
	said := t.say("event.sheet.played", over, strconv.Itoa(all))
	if over == all {
		said = t.say("event.sheet.all")
	}
	switch {
	case t.System != contest.Groups:
		return t.say("dots", t.say("event.sheet.round.title", strconv.Itoa(len(t.Rounds))), said)
	case len(t.InGroups()) > 1:
		return t.say("dots", t.say("event.group.title", contest.GroupName(group)), said)
	}
	return said
}

// counts reports whether the game of a table counts; one that began again does not.
func counts(t contest.Table) bool { return t.Open() || t.Result.How != contest.Annulled }

// against returns the games of two players of a group, which may be annulled.
func (t *sheeting) against(player, other int, annulled bool) render.SheetGame {
	if player == other {
		return render.SheetGame{State: render.Self}
	}
	var between []contest.Table
	for _, table := range t.Tables() {
		if seats := table.Seats(); slices.Contains(seats[:], player) && slices.Contains(seats[:], other) {
			between = append(between, table)
		}
	}
	if annulled {
		return render.SheetGame{Said: t.say("event.sheet.void")}
	}
	return t.oneOf(player, between)
}

// inRound returns the game of a player in a round, from 0, with the row of the opponent.
func (t *sheeting) inRound(player, round int, at map[int]int) render.SheetGame {
	r := t.Rounds[round]
	var mine []contest.Table
	for _, table := range r.Tables {
		if seats := table.Seats(); slices.Contains(seats[:], player) {
			mine = append(mine, table)
		}
	}
	switch {
	case r.Bye == player:
		return render.SheetGame{State: render.Won, Said: t.say("event.sheet.bye")}
	case len(mine) == 0:
		return render.SheetGame{}
	}
	g := t.oneOf(player, mine)
	last := mine[len(mine)-1]
	other := last.Black + last.White - player
	g.Against = strconv.Itoa(at[other])
	g.Said = t.say("event.versus.said", t.name(other), g.Said)
	return g
}

// oneOf returns the games of a player at tables, all against one opponent, as one: there are
// several if the event has several rulesets, or if a game began again.
func (t *sheeting) oneOf(player int, tables []contest.Table) (out render.SheetGame) {
	last := map[int]contest.Table{} // by ruleset
	for _, table := range tables {
		if was, ok := last[table.Book]; !ok || counts(table) || !counts(was) {
			last[table.Book] = table
		}
	}
	if len(last) == 1 {
		return t.one(player, last[tables[0].Book])
	}
	won, lost, open := 0, 0, 0
	for _, table := range last {
		switch r := table.Result; {
		case r == nil:
			open++
		case table.Black == player:
			won, lost = won+r.Black, lost+r.White
		default:
			won, lost = won+r.White, lost+r.Black
		}
	}
	score := rules.Points(won).String() + ":" + rules.Points(lost).String()
	switch out.Said = score; {
	case open > 0 && won+lost == 0:
		out.State, out.Said = render.Open, t.say("event.sheet.open")
		return out
	case open > 0:
		out.State, out.Said = render.Open, t.say("event.sheet.several.open", open, score)
	case won > lost:
		out.State = render.Won
	case won < lost:
		out.State = render.Lost
	default:
		out.State = render.Drawn
	}
	out.How = score
	return out
}

// one returns the game of a player at a table.
func (t *sheeting) one(player int, table contest.Table) (out render.SheetGame) {
	r, color := table.Result, rules.White
	if table.Black == player {
		color = rules.Black
	}
	if r == nil {
		out = render.SheetGame{State: render.Open, Color: color, Said: t.say("event.sheet.open")}
		if g, known := t.games[table.Game]; known && g.ToMove != "" {
			mover := rules.White
			if g.ToMove == t.Players[table.Black-1].Person {
				mover = rules.Black
			}
			out.Due, out.Said = mover == color, t.say("event.sheet.moves", text.Color(mover))
			t.sign("▸")
		}
		return out
	}
	own, other := r.Black, r.White
	if color == rules.White {
		own, other = other, own
	}
	key := "event.sheet.lost"
	switch {
	case r.How == contest.Annulled:
		return render.SheetGame{Said: t.say("event.sheet.void")}
	case own > other:
		out.State, key = render.Won, "event.sheet.won"
	case own == other && own > 0:
		return render.SheetGame{State: render.Drawn, Color: color, Said: t.lang.Say(say("draw"))}
	default:
		out.State = render.Lost
	}
	out.Color = color
	_, how, _ := strings.Cut(r.Game, "+")
	by, err := rules.ParsePoints(how)
	switch {
	case r.How == contest.Typed:
		out.How = "*"
	case r.How == contest.Forfeited, how == "F":
		out.How = "F"
	case how == "R", how == "T":
		out.How = how
	case err == nil && how != "":
		out.Margin, out.Said = by, t.say(key+".by", text.Points(by))
		return out
	default:
		out.Said = t.say(key)
		return out
	}
	t.sign(out.How)
	out.Said = t.say(key + "." + map[string]string{"R": "resigned", "T": "time", "F": "forfeit", "*": "typed"}[out.How])
	return out
}

// sign has the notes explain a sign.
func (t *sheeting) sign(sign string) {
	if !slices.Contains(t.signs, sign) {
		t.signs = append(t.signs, sign)
	}
}

// notes explains the signs that occur.
func (t *sheeting) notes() []string {
	var said []string
	for _, s := range []string{"▸", "R", "T", "F", "*"} {
		if slices.Contains(t.signs, s) {
			said = append(said, t.say("event.sheet.sign."+map[string]string{"▸": "moves", "R": "resigned", "T": "time", "F": "forfeit", "*": "typed"}[s]))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return []string{strings.Join(said, " · ")}
}

// maxLeaders is how many players and how many groups are named as leaders.
const (
	maxLeaders      = 4
	maxLeaderGroups = 8
)

// viewSheet returns the picture of the table of an event, for an adapter's own room.
func (b *Bot) viewSheet(ctx context.Context, v Viewing) (View, error) {
	c, err := b.contestAt(ctx, v.Game, v.Seq)
	if err != nil {
		return View{}, err
	}
	here, l, err := b.room(ctx, c.Where)
	if err != nil {
		return View{}, err
	}
	who, err := b.rooms.People(ctx, sheetPeople(c)...)
	if err != nil {
		return View{}, err
	}
	out := View{Seq: c.Seq, Lang: l.Tag, Sheet: sheetOf(c, 0, nil, l, who, here.Look(match.Preferences{}))}
	if b.eventPaged(c, b.settings(here)) {
		out.Path = "/e/" + c.Page
	}
	return out, nil
}

// leaderTexts say who leads an event, or has won it, in each of its groups.
func leaderTexts(c *contest.Contest) (texts []Text) {
	groups := c.InGroups()
	for g, players := range groups[:min(len(groups), maxLeaderGroups)] {
		table := c.Standing(players)
		if len(table) == 0 || table[0].Score.Total == 0 {
			continue
		}
		var names []Text
		for _, row := range table {
			if row.Place == 1 {
				names = append(names, playerText(c, row.Player))
			}
		}
		key := "event.leads"
		if c.State == contest.Over {
			key = "event.first"
		}
		args := []any{text.List(names...), halves(table[0].Score.Total)}
		if len(names) > maxLeaders {
			key, args[0] = key+".many", strconv.Itoa(len(names))
		}
		if len(groups) > 1 {
			key, args = key+".group", append(args, contest.GroupName(g+1))
		}
		texts = append(texts, say(key, args...))
	}
	return texts
}

// sheetPeople are the people whom the picture of an event names.
func sheetPeople(c *contest.Contest) (ids []match.PersonID) {
	for _, p := range c.Players {
		ids = append(ids, p.Person)
	}
	return slices.Compact(slices.SortedFunc(slices.Values(ids), cmp.Compare[match.PersonID]))
}
