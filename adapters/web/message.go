package web

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A message is a line of the transcript as the page gets it.
type message struct {
	N        int64     `json:"n,omitempty"`
	After    int64     `json:"after,omitempty"` // an answer: the number of the last message that stands above it
	Key      string    `json:"key,omitempty"`
	At       time.Time `json:"at"`
	From     string    `json:"from,omitempty"` // nobody: the bot
	To       []string  `json:"to,omitempty"`
	Text     string    `json:"text,omitempty"`
	Parts    []part    `json:"parts,omitempty"` // the text again, where it means instants
	Kind     string    `json:"kind,omitempty"`
	Private  bool      `json:"private,omitempty"`
	Replaces []int64   `json:"replaces,omitempty"`
	Removed  bool      `json:"removed,omitempty"`
	Game     string    `json:"game,omitempty"`
	Picture  string    `json:"picture,omitempty"` // its address, to which theme, layout and size are added
	Alt      string    `json:"alt,omitempty"`
	Lines    *lines    `json:"lines,omitempty"` // of the board, while stones can be placed or marked
	High     int       `json:"high,omitempty"`  // pixels, of a chart or a table of the medium size; boards are all alike
	Wide     int       `json:"wide,omitempty"`
	Page     string    `json:"page,omitempty"`  // path of the page of the game at this moment, "/g/abc/12"; empty: it has none
	Turns    int       `json:"turns,omitempty"` // up to this moment
	Next     string    `json:"next,omitempty"`  // "White to play"
	Players  []string  `json:"players,omitempty"`
	Due      []string  `json:"due,omitempty"`   // those of them who have to act,
	Color    string    `json:"color,omitempty"` // and the stones of the only one
	Controls []control `json:"controls,omitempty"`
	File     *file     `json:"file,omitempty"`
}

// Lines tell where a page that is clicked on finds the points of a board: the number of
// lines, and A1 and the distance of lines on the medium picture of each layout, in pixels.
type lines struct {
	Columns   int      `json:"columns"`
	Rows      int      `json:"rows"`
	Dead      []string `json:"dead,omitempty"`  // the points of stones that are marked so
	Point     string   `json:"point,omitempty"` // one that can be named now: the free one nearest to the centre, or a stone
	Landscape [3]int   `json:"landscape"`
	Portrait  [3]int   `json:"portrait"`
}

func linesOf(s render.Scene) *lines {
	var l lines
	l.Columns, l.Rows = s.Size()
	for _, stone := range s.Dead {
		l.Dead = append(l.Dead, stone.At.String())
	}
	l.Point = pointOf(s)
	for layout, to := range map[string]*[3]int{"landscape": &l.Landscape, "portrait": &l.Portrait} {
		x, y, cell, err := s.Lines(render.Options{Layout: layout})
		if err != nil {
			return nil // nor can it be drawn
		}
		*to = [3]int{x, y, cell}
	}
	return &l
}

// pointOf returns a point as an example of what can be placed or marked: of those that
// are free, or have a stone once play has stopped, the nearest to the centre.
func pointOf(s render.Scene) string {
	columns, rows := s.Size()
	nearest, at := columns*columns+rows*rows, ""
	for y := range rows {
		for x := range columns {
			p := rules.Point{X: int8(x), Y: int8(rows - 1 - y)}
			across, up := 2*x+1-columns, 2*y+1-rows
			if free := s.Board[y][x] == '.'; free == s.Playing && !slices.Contains(s.Ko, p) && across*across+up*up < nearest {
				if slices.ContainsFunc(s.Dead, func(dead render.Stone) bool { return dead.At == p }) {
					continue
				}
				nearest, at = across*across+up*up, p.String()
			}
		}
	}
	return at
}

type control struct {
	Label   string            `json:"label"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args,omitempty"`
	Ask     string            `json:"ask,omitempty"`  // the option that the page asks for first,
	Pick    string            `json:"pick,omitempty"` // and how: "type" it, or choose "one" or "several"
}

type file struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// People are the users whom messages name, without those who have been forgotten.
type people map[match.PersonID]outbox.User

func (s *server) people(ctx context.Context, ms []outbox.Message) (people, error) {
	var ids []match.PersonID
	for _, m := range ms {
		ids = append(ids, m.People()...)
	}
	return s.cfg.Log.People(ctx, ids)
}

// show makes a message ready for the page.
func (s *server) show(ctx context.Context, m outbox.Message, who people) message {
	out := message{
		N: m.N, Key: m.Key, At: m.At, From: m.From, To: m.To, Text: bot.Line(m, who), Removed: m.Removed, Private: m.Room != channel, Game: string(m.Game),
	}
	out.Kind, out.Replaces = replaced(m)
	for _, p := range m.Notify {
		if mentioned, ok := who[p]; ok {
			out.To = append(out.To, bot.CleanName(mentioned.Name))
		}
	}
	switch seat := seatWith(string(m.By)); {
	case seat != nil:
		out.From = seat.Name
	case m.By != "":
		out.From = bot.CleanName(who[m.By].Name)
	case m.From == "":
		out.Text, out.Parts = words(out.Text), parts(out.Text)
	}
	if m.At.IsZero() {
		out.At = s.cfg.Now()
	}
	for _, c := range m.Controls {
		c = bot.Current(c)
		out.Controls = append(out.Controls, control{c.Label, c.Command, c.Args, c.Ask, pick(c)})
	}
	if m.File != nil {
		out.File = &file{m.File.Name, "/answer/" + url.PathEscape(m.Key) + "/" + url.PathEscape(m.File.Name)}
	}
	var answered extras
	if m.File == nil {
		var err error
		if answered, err = s.answered(ctx, m); err != nil {
			s.log.Warn("drawing the picture of an answer failed, shown without it", "key", m.Key, "error", err)
		}
	}
	switch {
	case m.Removed:
	case answered.drawing != nil:
		out.draw(answered.drawing, "/answer/"+url.PathEscape(m.Key)+"/picture.png")
	case contest.Is(m.Game):
		if out.Kind != match.Sheet {
			break
		}
		b, err := s.board(ctx, m.Game, m.Seq)
		if err != nil {
			s.log.Warn("drawing a table of the transcript failed, shown without picture", "event", m.Game, "seq", m.Seq, "error", err)
			break
		}
		if out.Page = b.path; b.picture != nil {
			out.draw(&b.drawing, fmt.Sprintf("/picture/%s/%d.png", url.PathEscape(string(m.Game)), m.Seq))
		}
	case m.Game != "" && (out.Kind == match.Show || out.Kind == match.Notice && len(out.To) > 0 && m.Room == channel):
		b, err := s.board(ctx, m.Game, m.Seq)
		if err != nil {
			s.log.Warn("drawing a board of the transcript failed, shown without picture", "game", m.Game, "seq", m.Seq, "error", err)
			break
		}
		if out.Kind == match.Show { // else it calls somebody: who that is has changed
			out.Page, out.Turns = b.path, b.scene.Move
			out.draw(&b.drawing, fmt.Sprintf("/picture/%s/%d.png", url.PathEscape(string(m.Game)), m.Seq))
			if slices.ContainsFunc(out.Controls, func(c control) bool { return c.Command == "place" || c.Command == "dead" }) {
				out.Lines = linesOf(b.scene)
			}
		}
		out.standing(b.scene)
	}
	return out
}

// showOwn makes an answer that only its asker sees ready for the page. Its question is in the
// addresses of what comes with it, because no process keeps it.
func (s *server) showOwn(ctx context.Context, m outbox.Message, with extras, seat string) *message {
	var again string
	if q := m.Question; q != nil {
		again = ownQuestion{seat, q.Command, askedArgs(m), q.Seq}.query()
	}
	m.Question = nil
	out := s.show(ctx, m, nil)
	if with.drawing != nil {
		out.draw(with.drawing, "/answer/"+url.PathEscape(m.Key)+"/picture.png")
		out.Picture = strings.TrimSuffix(out.Picture+"&"+again, "&")
	}
	if out.File != nil {
		out.File.URL = strings.TrimSuffix(out.File.URL+"?"+again, "?")
	}
	return &out
}

// standing says who plays, and who is next.
func (m *message) standing(s render.Scene) {
	m.Next = s.Next
	colors := []string{"black", "white"}
	for i, p := range []render.Player{s.Black, s.White} {
		name := strings.ToLower(p.Name) // by which a seat is known, and it may have the other stones
		m.Players = append(m.Players, name)
		if p.Due {
			m.Due, m.Color = append(m.Due, name), colors[i]
		}
	}
	if len(m.Due) > 1 {
		m.Color = ""
	}
}

// pick says how the page asks for the option that a control asks for.
func pick(c match.Control) string {
	if c.Ask == "" {
		return ""
	}
	command, _ := bot.FindCommand(c.Command)
	for _, o := range command.Options {
		switch {
		case o.Name != c.Ask:
		case o.Type == bot.PointOption: // too many to choose from
			return "type"
		case o.Rest:
			return "several"
		default:
			return "one"
		}
	}
	return "type"
}

func (m *message) draw(b *drawing, address string) {
	switch p := b.picture.(type) {
	case render.Chart:
		m.Wide, m.High, _ = p.Bounds(render.Options{Size: "medium"})
	case render.Sheet:
		m.Wide, m.High, _ = p.Bounds(render.Options{Size: "medium"})
	}
	m.Picture, m.Alt = address+"?v="+b.tag(), b.alt()
}
