package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A playing is what the page of a game needs for somebody who plays in it from this browser.
type playing struct {
	Seat   string   // as /ask takes it
	Page   string   // slug of the page, if the game is played elsewhere
	As     string   // "You play Black."
	Next   string   // "White to play", or that it is their turn
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
	Hint        string // said at the first press; empty: that does it at once
	Asks        string // the argument for which points are pressed after that; empty: it is to be pressed again
}

// player returns the game of a page as watched does, and who plays in it from the browser of a request, which is
// somebody by a link, or nobody. If it plays for both, that is the player who is asked something, unless
// its query names another, or else whose turn it is; or else who it says it is in its query, if
// it can be them. Zero: nobody. Free are the seats of the players of a game
// that is on in which the browser does not sit, and can.
func (s *server) player(r *http.Request, linked outbox.User) (now bot.View, who outbox.User, free []outbox.User, err error) {
	if isRecord(r) {
		return now, who, nil, nil
	}
	if now, err = s.watched(r.Context(), r.PathValue("slug")); err != nil {
		return now, who, nil, err
	}
	m := now.Match
	if m.Where.Platform != platform && m.Where.Platform != linked.Platform {
		return now, who, nil, nil
	}
	known, err := s.cfg.Log.People(r.Context(), []match.PersonID{m.Black, m.White})
	if err != nil {
		return now, who, nil, err
	}
	if m.Where.Platform != platform {
		for _, u := range known {
			if same(u, linked) {
				who = u
			}
		}
		return now, who, nil, nil
	}
	who, free, err = s.sits(r, now, known, linked)
	return now, who, free, err
}

// sits is player for a game of the room, whose players are known.
func (s *server) sits(r *http.Request, now bot.View, known map[match.PersonID]outbox.User, linked outbox.User) (who outbox.User, free []outbox.User, err error) {
	m := now.Match
	browser, asked := browserOf(r), outbox.User{}
	if seat := r.URL.Query().Get("seat"); seat != "" {
		asked, _ = userOf(seat)
	}
	may := map[outbox.User]bool{}
	for _, u := range []outbox.User{known[m.Black], known[m.White]} {
		if u.ID == "" {
			continue
		}
		own, open, err := s.claim(r.Context(), u, browser)
		if err != nil {
			return who, nil, err
		}
		own = own || same(u, linked)
		if open && !own && !slices.Contains(free, u) {
			free = append(free, u)
		}
		if own || open && u == asked && browser != "" {
			may[u], who = true, u
		}
	}
	if may[asked] {
		who = asked
	}
	if u := known[m.ToMove]; may[u] {
		who = u
	}
	if u := known[now.Asked]; may[u] && (asked == u || asked == outbox.User{}) {
		who = u
	}
	if asked == onlooker {
		who = outbox.User{}
	}
	if m.State != match.Going || r.PathValue("seq") != "" {
		return who, nil, nil
	}
	return who, slices.DeleteFunc(free, func(u outbox.User) bool { return u == who }), nil
}

// sitting returns links that lead to the free seats of a game, unless somebody who looks at
// it has a turn to make first.
func sitting(v bot.View, game string, free []outbox.User, p *playing) (links []link) {
	if p != nil && p.Place != "" {
		return nil
	}
	for _, u := range free {
		color, name := "black", v.Scene.Words.Black
		if u == white {
			color, name = "white", v.Scene.Words.White
		}
		links = append(links, link{"/#" + color + game, bot.Translated(v.Lang, wordSit, name)})
	}
	return links
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
	p := &playing{Seat: seat, As: bot.Translated(v.Lang, wordYouPlay, name), Next: text.Capital(v.Scene.Next)}
	if v.Scene.Next == fmt.Sprintf(v.Scene.Words.ToPlay, name) { // which has just been said
		p.Next = bot.Translated(v.Lang, wordYourTurn)
	}
	if who.Platform != platform {
		p.Seat, p.Page = linkedSeat, v.Match.Page
	}
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
			a := action{Label: o.Label, Cost: o.Cost, Command: o.Command, Args: string(args)}
			if o.Command == "pass" && o.Ask != "" {
				a.Hint, a.Asks = bot.Translated(v.Lang, wordNaming), o.Ask
			} else if o.Command == "pass" && early(v) {
				a.Hint = bot.Translated(v.Lang, wordEarly)
			}
			p.Offers = append(p.Offers, a)
		}
	}
	p.Dead = deadPoints(v.Scene)
	if p.Marks && v.Scene.Headline != "" { // the margin moves with the marks, also where the ledger has no room
		p.Next += " · " + v.Scene.Headline
	}
	return p
}

// early reports whether so much of the board is empty that a pass may be a slip.
func early(v bot.View) bool {
	columns, rows := v.Scene.Size()
	return !v.Trial && 5*v.Number < columns*rows
}

func deadPoints(s render.Scene) string {
	var points []string
	for _, stone := range s.Dead {
		points = append(points, stone.At.String())
	}
	return strings.Join(points, " ")
}
