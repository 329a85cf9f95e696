package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/audit"
	"github.com/halfpoint-go/halfpoint/internal/pairing"
)

// An event leaves the bot as JSON, which has everything by which halfpoint audit computes
// pairings and tables again, and people as ids; and as two sheets in CSV, for people, with the
// names that the reader may see.

// exportEvent answers with an event as a file: JSON, or for the option "as" a sheet in CSV.
func exportEvent(q *question, c *contest.Contest) outbox.Post {
	c, log, err := q.b.contestLog(q.ctx, c.ID)
	if err != nil {
		return q.failed(err)
	}
	as := strings.ToLower(strings.TrimSpace(q.req.Args["as"]))
	if as == "" || as == "json" {
		p := q.answer(say("event.export", c.Name, text.Linked("halfpoint audit")))
		sheet := func(label, as string) match.Control {
			return match.Control{Label: label, Command: eventName, Args: map[string]string{"what": "export", "as": as, "event": strconv.Itoa(c.Number)}}
		}
		p.Controls = labelled(q.lang, []match.Control{sheet("label.event.csv", "csv"), sheet("label.event.games", "games")})
		if p.File, err = q.b.eventJSON(q.ctx, c); err != nil {
			return q.failed(err)
		}
		return p
	}
	settings, err := q.eventSettings(c)
	if err != nil {
		return q.failed(err)
	}
	w, err := q.b.eventWords(q.ctx, c, q.lang, settings, log, true) // who is in the room knows the names
	if err != nil {
		return q.failed(err)
	}
	p := q.answer(say("event.export.csv", c.Name))
	switch as {
	case "csv":
		p.File = w.playerSheet()
	case "games":
		p.File = w.gameSheet()
	default:
		return q.refuse(say("event.export.as", shortened(as)))
	}
	return p
}

// eventJSON returns an event as package audit reads it.
func (b *Bot) eventJSON(ctx context.Context, c *contest.Contest) (*outbox.File, error) {
	var ids []match.PersonID
	for _, p := range c.Players {
		ids = append(ids, p.Person)
	}
	known, err := b.store.People(ctx, ids)
	if err != nil {
		return nil, err
	}
	e := exported(c)
	for i, p := range c.Players {
		if _, ok := known[p.Person]; !ok { // they are forgotten
			e.Players[i].ID = ""
		}
	}
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("event %s cannot be exported: %w", c.ID, err)
	}
	data, err := json.MarshalIndent(e, "", "  ")
	return &outbox.File{Name: fmt.Sprintf("event-%d.json", c.Number), Type: "application/json", Data: append(data, '\n')}, err
}

// exported returns an event as package audit has it.
func exported(c *contest.Contest) *audit.Event {
	e := &audit.Event{Version: audit.Version, ID: string(c.ID), Title: c.Name, System: audit.System(c.System), Options: exportedOptions(c), Rounds: []audit.Round{}}
	seeds := c.Tournament().Players
	for i, p := range c.Players {
		e.Players = append(e.Players, audit.Player{ID: string(p.Person), Rank: contest.RankName(p.Seeded), Rating: seeds[i].Rating, Joined: p.Seq, Left: p.Out})
	}
	for _, round := range c.Rounds {
		out := audit.Round{Seq: round.Seq, Bye: round.Bye, Absent: round.Absent, Pairs: []audit.Pair{}}
		for _, choice := range round.Choices {
			out.Choices = append(out.Choices, audit.Choice{Players: choice.Players, Meet: choice.Meet})
		}
		for i, t := range round.Tables {
			komi := audit.Half(int(c.Setup(t.Book, t.Handicap).Komi))
			pair := audit.Pair{Table: i + 1, Ruleset: c.Rules[t.Book], Black: t.Black, White: t.White, Handicap: t.Handicap, Komi: &komi, Game: string(t.Game)}
			for _, r := range t.All() {
				pair.Results = append(pair.Results, audit.Result{Seq: r.Seq, Black: audit.Half(r.Black), White: audit.Half(r.White),
					How: audit.How(r.How), Game: r.Game, By: string(r.By)})
			}
			out.Pairs = append(out.Pairs, pair)
		}
		e.Rounds = append(e.Rounds, out)
	}
	if len(c.Rounds) > 0 {
		if c.System == contest.Groups || c.System == contest.RoundRobin || c.System == contest.Knockout {
			e.Groups = c.Drawn
		}
		exportTables(e, c)
	}
	return e
}

// exportedOptions returns the terms of an event that decide about pairing and table.
func exportedOptions(c *contest.Contest) audit.Options {
	o := audit.Options{Rulesets: c.Rules, Group: c.Group}
	for _, name := range c.Ties {
		o.TieBreaks = append(o.TieBreaks, audit.TieBreak(name))
	}
	if c.System == contest.Groups && !c.Ranks {
		o.Lot = &c.Lot
	}
	if c.System == contest.McMahon {
		h := pairing.StandardHandicaps
		o.Bar, o.Floor = contest.RankName(c.Bar), contest.RankName(c.Floor)
		o.Handicap = &audit.Handicap{Most: h.Most, Less: h.Less, Even: contest.RankName(h.Even)}
	}
	return o
}

// exportTables adds the tables of an event as they are now.
func exportTables(e *audit.Event, c *contest.Contest) {
	for g, players := range c.InGroups() {
		t := audit.Table{Seq: c.Seq, Rows: []audit.Row{}}
		if len(e.Groups) > 0 {
			t.Group = g + 1
		}
		for _, row := range c.Standing(players) {
			sos := audit.Half(row.SOS.Total)
			t.Rows = append(t.Rows, audit.Row{Player: row.Player, Place: row.Place, Score: audit.Half(row.Score.Total), SOS: &sos,
				Wins: row.Wins, Draws: row.Draws, Losses: row.Losses, Open: row.Open})
		}
		e.Tables = append(e.Tables, t)
	}
}

// playerSheet returns the players of an event as CSV, the first of each group first, and those
// who have no place last.
func (v *eventWords) playerSheet() *outbox.File {
	s := newSheet("group", "place", "number", "name", "rank", "score", "sos", "wins", "draws", "losses", "byes", "open", "state")
	c := v.contest
	placed := map[int]bool{}
	if len(c.Rounds) > 0 {
		groups := c.InGroups()
		for g, players := range groups {
			name := ""
			if len(groups) > 1 {
				name = contest.GroupName(g + 1)
			}
			for _, row := range c.Standing(players) {
				placed[row.Player] = true
				s.row(name, row.Place, row.Player, v.name(row.Player), contest.RankName(c.Players[row.Player-1].Rank), decimal(row.Score.Total), decimal(row.SOS.Total),
					row.Wins, row.Draws, row.Losses, row.Byes, row.Open, v.stateOf(row.Player))
			}
		}
	}
	for i, p := range c.Players {
		if !placed[i+1] {
			s.row("", "", i+1, v.name(i+1), contest.RankName(p.Rank), "", "", "", "", "", "", "", v.stateOf(i+1))
		}
	}
	return s.file(fmt.Sprintf("event-%d-players.csv", c.Number))
}

// gameSheet returns the games of an event as CSV.
func (v *eventWords) gameSheet() *outbox.File {
	s := newSheet("round", "table", "group", "rules", "black_number", "black", "white_number", "white", "black_points", "white_points", "result", "how", "page")
	c := v.contest
	for r, round := range c.Rounds {
		for i, t := range round.Tables {
			group, result, how := "", "", "open"
			var black, white any = "", ""
			if t.Group > 0 {
				group = contest.GroupName(t.Group)
			}
			if t.Result != nil {
				black, white, result, how = decimal(t.Result.Black), decimal(t.Result.White), t.Result.Game, string(t.Result.How)
			}
			page := v.gamePath(t)
			if page != "" {
				page = v.bot.address + page
			}
			s.row(r+1, i+1, group, c.Rules[t.Book], t.Black, v.name(t.Black), t.White, v.name(t.White), black, white, result, how, page)
		}
	}
	return s.file(fmt.Sprintf("event-%d-games.csv", c.Number))
}

// stateOf says how a player takes part.
func (v *eventWords) stateOf(n int) string {
	_, waiting := v.contest.Seated()
	switch {
	case !v.contest.Players[n-1].In():
		return "withdrawn"
	case slices.Contains(waiting, n):
		return "waiting"
	}
	return "playing"
}

// decimal returns half points as a number.
func decimal(halves int) float64 { return float64(halves) / 2 }

// A sheet is a file in CSV, as RFC 4180 has it. It begins with a byte order mark, without which
// Excel takes names in UTF-8 for something else.
type sheet struct{ out bytes.Buffer }

func newSheet(headings ...any) *sheet {
	s := &sheet{}
	s.out.WriteString("\ufeff")
	s.row(headings...)
	return s
}

// row adds a line of numbers and texts.
func (s *sheet) row(cells ...any) {
	for i, cell := range cells {
		if i > 0 {
			s.out.WriteByte(',')
		}
		switch cell := cell.(type) {
		case string:
			s.out.WriteString(`"` + strings.ReplaceAll(harmless(cell), `"`, `""`) + `"`)
		default:
			fmt.Fprint(&s.out, cell)
		}
	}
	s.out.WriteString("\r\n")
}

func (s *sheet) file(name string) *outbox.File {
	return &outbox.File{Name: name, Type: "text/csv; charset=utf-8", Data: s.out.Bytes()}
}

// harmless returns a text that no spreadsheet takes for a formula, as OWASP advises against CSV
// injection: an apostrophe precedes the signs with which formulas begin. It does so behind each
// sign that may separate cells, too, because in some countries a semicolon does.
func harmless(s string) string {
	var out strings.Builder
	begins := true
	for _, r := range s {
		if begins && strings.ContainsRune("=+-@\t\r\n＝＋－＠−", r) {
			out.WriteByte('\'')
		}
		out.WriteRune(r)
		begins = strings.ContainsRune(",;|\t\r\n\"", r) || begins && r == ' '
	}
	return out.String()
}
