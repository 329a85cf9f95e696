package web

import (
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
	Offers []action // the rest
}

// An action is something to do besides pressing a point.
type action struct {
	Label, Cost string
	Command     string
	Args        string // as JSON
}

// player returns who plays in the game of a page from the browser of a request: whose turn it
// is, if it plays for both. Zero: nobody, or the game is played elsewhere.
func (s *server) player(r *http.Request) (who outbox.User, err error) {
	browser := browserOf(r)
	if browser == "" {
		return who, nil
	}
	v, err := s.service.View(r.Context(), bot.Viewing{Slug: r.PathValue("slug"), Watch: true})
	m := v.Match
	if err != nil || m.Where.Platform != platform {
		return who, err
	}
	known, err := s.cfg.Log.People(r.Context(), []match.PersonID{m.Black, m.White})
	for _, p := range []match.PersonID{m.Black, m.White, m.ToMove} {
		if u := known[p]; u.ID != "" && err == nil {
			var own bool
			if own, _, err = s.holds(r.Context(), u.ID, browser); own {
				who = u
			}
		}
	}
	return who, err
}

// play returns what somebody who plays in a game can do on its page; nil: they do not.
func (s *server) play(r *http.Request, v bot.View, who outbox.User) *playing {
	if state := v.Match.State; who.ID == "" || state != match.Going && state != match.Sandbox {
		return nil
	}
	color := rules.Black
	white, err := s.cfg.Log.People(r.Context(), []match.PersonID{v.Match.White})
	if v.Match.Black != v.Match.White && err == nil && white[v.Match.White] == who || v.Match.Black == v.Match.White && v.Scene.White.Due {
		color = rules.White
	}
	name, letter := v.Scene.Words.Black, "b"
	if color == rules.White {
		name, letter = v.Scene.Words.White, "w"
	}
	seat := "name:" + who.Name
	if seatWith(who.ID) != nil {
		seat = strings.TrimPrefix(who.ID, "seat:")
	}
	p := &playing{Seat: seat, As: bot.Translated(v.Lang, wordYouPlay, name)}
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
			p.Offers = append(p.Offers, action{o.Label, o.Cost, o.Command, string(args)})
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
