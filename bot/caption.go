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

// caption says in words what the picture of a game after its last line shows:
// what was done, what it moved and by which rule, how the count stands, and
// who is to play.
func caption(m match.Match, p *match.Position, now time.Time) []Text {
	var out []Text
	g := p.Game
	n := strconv.Itoa(m.Number)
	log := g.Log()
	if k := len(p.Stones); len(log) == 0 && k > 0 {
		out = append(out, say("placed", n, p.Stones[k-1].String()))
	} else if len(log) == 0 {
		out = append(out, say("start", n, g.Rules().Title))
	} else {
		last, changed := log[len(log)-1], g.Entries()[len(g.Before().Entries()):]
		if p.Suggested() { // what stopped play, and not the bot's marks
			last, _ = g.LastTurn()
			changed = g.EntriesOf(g.Turns())
		}
		if last.Kind.IsTurn() {
			out = append(out, say("turn", n, strconv.Itoa(g.Turns()), text.Turn(last)))
		} else {
			out = append(out, say("said", n, text.Turn(last)))
		}
		out = append(out, entries("entry", changed)...)
	}
	if p.Result != "" {
		return append(out, say("facts", text.Begins(p.Why)))
	}
	if p.Placing > 0 {
		return append(out, next(m, p, now)...)
	}
	out = append(out, count(g)...)
	for _, fact := range g.Says() {
		out = append(out, say("facts", text.Begins(fact)))
	}
	return append(out, next(m, p, now)...)
}

// entries says what changed hands.
func entries(key string, es []rules.Entry) []Text {
	var out []Text
	for _, e := range es {
		sign := "+"
		if e.N < 0 {
			sign = "−"
		}
		out = append(out, say(key, text.Color(e.Player), sign, text.Thing(e.Thing, max(e.N, -e.N)), text.Sentence(e.Why)))
	}
	return out
}

// count says how the count stands, in a line.
func count(g *rules.Game) []Text {
	s := g.Score()
	if s == nil {
		return []Text{holds(g, rules.Black), holds(g, rules.White)}
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

// holds says what lies in a player's bowl.
func holds(g *rules.Game, c rules.Color) Text {
	var things []Text
	for t := rules.Prisoner; t <= rules.UltimateStone; t++ {
		if n := g.Holds(c, t); n != 0 {
			things = append(things, text.Thing(t, n))
		}
	}
	if len(things) == 0 {
		return say("holds", text.Color(c), say("nothing"))
	}
	return say("holds", text.Color(c), text.List(things...))
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

// ahead says an estimated margin, in whole points.
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

// next says whose turn it is and until when, or who must still accept.
func next(m match.Match, p *match.Position, now time.Time) []Text {
	g := p.Game
	if p.Over() {
		return nil
	}
	switch g.Phase() {
	case rules.Playing:
		out := []Text{say("to.play", text.Color(g.ToPlay()))}
		if r := p.Reading(now); r.Paused {
			out = append(out, say("clock.paused"))
		} else if !r.Deadline.IsZero() {
			out = []Text{say("to.play.until", text.Color(g.ToPlay()), timeLeft(m, r), clock.InstantText(r.Deadline, now))}
		}
		if p.Placing > 0 {
			out = append(out, say("placing", p.Placing))
		}
		if p.Branch > 0 {
			out = append(out, say("branch.here"))
		}
		if p.Asked != nil {
			out = append(out, say("asked."+p.Asked.What, text.Color(p.Asked.By), text.Color(p.Asked.By.Opponent())))
		}
		if g.Allows(rules.Turn{Kind: rules.AcceptSuggestion, By: g.ToPlay()}) {
			out = append(out, say("offer.accept", text.Color(g.ToPlay())))
		}
		if g.Rules().Has(rules.NoResult) && g.ThirdTime() {
			waiting := say("both")
			switch {
			case g.AcceptedNoResult(rules.Black):
				waiting = text.Color(rules.White)
			case g.AcceptedNoResult(rules.White):
				waiting = text.Color(rules.Black)
			}
			out = append(out, say("offer.no.result", waiting))
		}
		return out
	case rules.Settling:
		switch black, white := g.HasAgreed(rules.Black), g.HasAgreed(rules.White); {
		case black:
			return []Text{say("must.accept", text.Color(rules.White))}
		case white:
			return []Text{say("must.accept", text.Color(rules.Black))}
		}
		return []Text{say("must.accept", say("both"))}
	}
	return nil
}
