package web

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// A message is a line of the transcript as the page gets it.
type message struct {
	N        int64     `json:"n,omitempty"`
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
	High     int       `json:"high,omitempty"` // pixels, of a chart of the medium size; boards are all alike
	Next     string    `json:"next,omitempty"` // "White to play"
	Due      []string  `json:"due,omitempty"`  // seats of which something is awaited
	Controls []control `json:"controls,omitempty"`
	File     *file     `json:"file,omitempty"`
}

type control struct {
	Label   string            `json:"label"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args,omitempty"`
	Ask     string            `json:"ask,omitempty"`  // the option to be asked for first,
	Pick    string            `json:"pick,omitempty"` // and how: "type" it, or choose "one" or "several"
}

type file struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// show makes a message ready for the page.
func (s *server) show(ctx context.Context, m outbox.Message) message {
	out := message{
		N: m.N, Key: m.Key, At: m.At, From: m.From, To: m.To, Text: m.Text, Removed: m.Removed, Private: m.Room != channel, Game: string(m.Game),
	}
	out.Kind, out.Replaces = replaced(m)
	if m.From == "" {
		out.Text, out.Parts = words(m.Text), parts(m.Text)
	}
	if m.At.IsZero() {
		out.At = s.cfg.Now()
	}
	for _, c := range m.Controls {
		c = bot.Current(c)
		out.Controls = append(out.Controls, control{c.Label, c.Command, c.Args, c.Ask, pick(s.service.Commands(), c)})
	}
	if m.File != nil {
		out.File = &file{m.File.Name, "/answer/" + url.PathEscape(m.Key) + "/" + url.PathEscape(m.File.Name)}
	}
	answered, _ := s.answers.Get(m.Key)
	switch {
	case m.Removed:
	case answered.drawing != nil:
		out.draw(answered.drawing, "/answer/"+url.PathEscape(m.Key)+"/picture.png")
	case m.Game != "" && (out.Kind == match.Show || out.Kind == match.Notice && len(m.To) > 0 && m.Room == channel):
		b, err := s.board(ctx, m.Game, m.Seq)
		if err != nil {
			s.log.Warn("no picture for a board of the transcript", "game", m.Game, "seq", m.Seq, "error", err)
			break
		}
		if out.Kind == match.Show { // else it calls somebody: who that is has changed
			out.draw(&b.drawing, fmt.Sprintf("/picture/%s/%d.png", url.PathEscape(string(m.Game)), m.Seq))
		}
		out.Next = b.scene.Next
		if b.scene.Black.Due {
			out.Due = append(out.Due, "black")
		}
		if b.scene.White.Due {
			out.Due = append(out.Due, "white")
		}
	}
	return out
}

// pick says how the page asks for the option that a control asks for.
func pick(commands []bot.Command, c match.Control) string {
	if c.Ask == "" {
		return ""
	}
	for _, command := range commands {
		for _, o := range command.Options {
			switch {
			case command.Name != c.Command || o.Name != c.Ask:
			case o.Type == bot.PointOption: // too many to choose from
				return "type"
			case o.Rest:
				return "several"
			default:
				return "one"
			}
		}
	}
	return "type"
}

func (m *message) draw(b *drawing, address string) {
	if c, ok := b.picture.(render.Chart); ok {
		_, m.High, _ = c.Bounds(render.Options{Size: "medium"})
	}
	m.Picture, m.Alt = address+"?v="+b.tag(), b.alt()
}
