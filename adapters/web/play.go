package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A playing is what the page of a game needs for somebody who plays in it from this browser.
type playing struct {
	Seat   string   // as /ask takes it
	As     string   // "You play Black."
	Stone  string   // "b" or "w", which a press on the board would place; empty: none
	Marks  bool     // a press marks a stone as dead, or alive
	Dead   string   // the points of the stones that are marked dead
	Place  string   // arguments of the command that places or marks, as JSON
	Alive  string   // of that which marks as alive
	Offers []button // the rest
}

// A button is something to do besides pressing a point.
type button struct {
	Label, Cost string
	Command     string
	Args        string // as JSON
}

// players returns the seats of a game of this room that the browser of a request holds, the
// one whose turn it is first.
func (s *server) players(ctx context.Context, r *http.Request, m match.Match) (own []outbox.User, err error) {
	browser := browserOf(r)
	if browser == "" || m.Where.Platform != platform || m.State != match.Going && m.State != match.Sandbox {
		return nil, nil
	}
	who, err := s.cfg.Log.People(ctx, []match.PersonID{m.Black, m.White})
	if err != nil {
		return nil, err
	}
	for _, p := range []match.PersonID{m.Black, m.White} {
		u, known := who[p]
		if !known || len(own) > 0 && own[0] == u {
			continue
		}
		holds, _, err := s.holds(ctx, u.ID, browser)
		if err != nil {
			return nil, err
		}
		switch {
		case holds && p == m.ToMove:
			own = append([]outbox.User{u}, own...)
		case holds:
			own = append(own, u)
		}
	}
	return own, nil
}

// play returns what somebody who plays in a game can do on its page; nil: they do not.
func (s *server) play(r *http.Request, v bot.View, who outbox.User) *playing {
	color := rules.Black
	if p, err := s.cfg.Log.People(r.Context(), []match.PersonID{v.Match.White}); err == nil && p[v.Match.White] == who {
		color = rules.White
	}
	if v.Match.Black == v.Match.White { // they play both
		color = rules.Black
		if v.Scene.White.Due {
			color = rules.White
		}
	}
	name, letter := v.Scene.Words.Black, "b"
	if color == rules.White {
		name, letter = v.Scene.Words.White, "w"
	}
	p := &playing{Seat: strings.TrimPrefix(who.ID, "seat:"), As: bot.Translated(v.Lang, wordYouPlay, name)}
	for _, o := range v.Offers {
		args, _ := json.Marshal(o.Args)
		switch {
		case o.Command == "place":
			p.Stone, p.Place = letter, string(args)
		case o.Command == "dead" && o.Args["as"] == "":
			p.Marks, p.Place = true, string(args)
		case o.Command == "dead":
			p.Marks, p.Alive = true, string(args)
		default:
			p.Offers = append(p.Offers, button{o.Label, o.Cost, o.Command, string(args)})
		}
	}
	p.Dead = deadPoints(v.Scene)
	return p
}

func deadPoints(s render.Scene) string {
	var points []string
	for _, stone := range s.Dead {
		points = append(points, stone.At.String())
	}
	return strings.Join(points, " ")
}
