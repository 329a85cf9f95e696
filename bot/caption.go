package bot

import (
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// caption returns the line about a game's last event: what happened, who gained what
// by it, and who plays next. The picture shows the rest. If there are several games in
// the place where people read it, the line says which one this is.
func caption(m match.Match, p *match.Position, now time.Time, several bool) []Text {
	g := p.Game
	log := g.Log()
	var line []Text
	switch {
	case p.Result != "":
		line = append(line, text.Begins(p.Why))
	case len(log) > 0:
		last, changed := log[len(log)-1], g.Entries()[len(g.Before().Entries()):]
		if p.Suggested() { // what stopped play, and not the bot's marks
			last, _ = g.LastTurn()
			changed = g.EntriesOf(g.Turns())
		}
		did := text.Turn(last)
		if last.Kind.IsTurn() && last.Kind != rules.Resign {
			did = say("numbered", strconv.Itoa(g.Turns()), did)
		}
		line = append(line, did)
		if g.Phase() != rules.Over {
			line = append(line, gains(changed)...)
		}
	case len(p.Stones) > 0:
		line = append(line, say("placed", p.Stones[len(p.Stones)-1].String()))
	}
	who, more := next(m, p, now)
	line = append(line, who...)
	if len(line) == 0 {
		line = append(line, say("plain", g.Rules().Title))
	}
	out := dots(line...)
	if several {
		out = say("of.game", strconv.Itoa(m.Number), out)
	}
	return append([]Text{out}, more...)
}

// lastTurn returns the line about the last turn of a game and who gained what by it.
func lastTurn(g *rules.Game) []Text {
	last, ok := g.LastTurn()
	if !ok {
		return nil
	}
	did := say("numbered", strconv.Itoa(g.Turns()), text.Turn(last))
	return []Text{dots(append([]Text{did}, gains(g.EntriesOf(g.Turns()))...)...)}
}

// dots joins the parts of a line with dots.
func dots(parts ...Text) Text {
	out := parts[0]
	for _, p := range parts[1:] {
		out = say("dots", out, p)
	}
	return out
}

// gains says briefly what changed hands.
func gains(es []rules.Entry) (out []Text) {
	for _, e := range es {
		key := "gain"
		if e.N < 0 {
			key = "gain.lost"
		}
		out = append(out, say(key, text.Color(e.Player), text.Thing(e.Thing, max(e.N, -e.N))))
	}
	return out
}

// count returns a line with the present count.
func count(g *rules.Game) []Text {
	s := g.Score()
	if s == nil {
		return held(g)
	}
	key := "count.now"
	switch {
	case g.Phase() == rules.Settling:
		key = "count.agree"
	case g.Phase() == rules.Over && strings.HasSuffix(g.Result(), "R"), g.Result() == "Void":
		return nil
	case g.Phase() == rules.Over:
		key = "count.over"
	}
	return []Text{say(key, s.Black.String(), s.White.String(), lead(s.Margin()))}
}

// held says what lies in each bowl that is not empty.
func held(g *rules.Game) []Text {
	var out []Text
	for _, c := range []rules.Color{rules.Black, rules.White} {
		var things []Text
		for t := rules.Prisoner; t <= rules.UltimateStone; t++ {
			if n := g.Holds(c, t); n != 0 {
				things = append(things, text.Thing(t, n))
			}
		}
		if len(things) > 0 {
			out = append(out, say("holds", text.Color(c), text.List(things...)))
		}
	}
	return out
}

// lead says who is ahead and by how much: "White +17½".
func lead(margin rules.Points) Text {
	switch {
	case margin > 0:
		return say("ahead", text.Color(rules.Black), margin.String())
	case margin < 0:
		return say("ahead", text.Color(rules.White), (-margin).String())
	}
	return say("even")
}

// ahead words an estimated margin, in whole points.
func ahead(margin rules.Points) Text {
	c := rules.Black
	if margin < 0 {
		c, margin = rules.White, -margin
	}
	points := (margin + rules.Half) / rules.One
	if points == 0 {
		return say("about.even")
	}
	return say("about", text.Color(c), strconv.Itoa(int(points)))
}

// seat returns the name of a player in a line, so that the platform mentions them, or
// the colour if one person plays both.
func seat(m match.Match, c rules.Color) Text {
	id := m.White
	if c == rules.Black {
		id = m.Black
	}
	if id == "" || m.Black == m.White {
		return text.Color(c)
	}
	return text.Called(string(id))
}

// next returns a line that says whose turn it is and until when, or who must still
// accept, and further lines with what else they may do.
func next(m match.Match, p *match.Position, now time.Time) (line, more []Text) {
	g := p.Game
	if p.Over() {
		return nil, nil
	}
	if m.State == match.Open {
		return []Text{joining(m)}, nil
	}
	switch g.Phase() {
	case rules.Playing:
		line = []Text{say("to.play", seat(m, g.ToPlay()))}
		if len(g.Log()) == 0 {
			board := g.Board()
			line = []Text{say("to.play.first", seat(m, g.ToPlay()), match.Example(board.Rows()))}
		}
		if p.Placing > 0 {
			line = []Text{say("to.place", p.Placing, seat(m, rules.Black))}
		}
		if r := p.Reading(now); r.Paused {
			more = append(more, say("clock.paused"))
		} else if !r.Deadline.IsZero() {
			line = append(line, say("due", clock.AgoText(r.Deadline, now)))
		}
		if p.Branch > 0 {
			line = append(line, say("trial"))
		}
		if p.Asked != nil {
			more = append(more, say("request.open", m.Player(p.Asked.By), say("wish."+p.Asked.What), m.Player(p.Asked.By.Opponent())))
		}
		if g.Allows(rules.Turn{Kind: rules.AcceptSuggestion, By: g.ToPlay()}) {
			more = append(more, say("offer.accept", text.Color(g.ToPlay())))
		}
		if g.MayEndWithoutResult() {
			waiting := say("both")
			switch {
			case g.AcceptedNoResult(rules.Black):
				waiting = text.Color(rules.White)
			case g.AcceptedNoResult(rules.White):
				waiting = text.Color(rules.Black)
			}
			more = append(more, say("offer.no.result", waiting))
		}
	case rules.Settling:
		switch {
		case g.HasAgreed(rules.Black):
			line = []Text{say("must.accept", seat(m, rules.White))}
		case g.HasAgreed(rules.White):
			line = []Text{say("must.accept", seat(m, rules.Black))}
		default:
			line = []Text{say("must.agree", seat(m, rules.Black), seat(m, rules.White))}
		}
	}
	return line, more
}

// joining says whom an open game waits for.
func joining(m match.Match) Text {
	if m.Invited != "" {
		return say("games.reserved", named(m.Invited))
	}
	return say("games.open")
}
