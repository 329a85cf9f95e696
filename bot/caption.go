package bot

import (
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/rules"
)

// caption says in words what the picture of a game after its last line shows:
// what was done, what it moved and by which sentence, how the count stands, and
// who is to play.
func caption(m Match, p *position, now time.Time) []Text {
	var out []Text
	g := p.game
	n := strconv.Itoa(m.Number)
	log := g.Log()
	if k := len(p.stones); len(log) == 0 && k > 0 {
		out = append(out, say("placed", n, p.stones[k-1].String()))
	} else if len(log) == 0 {
		out = append(out, say("start", n, g.Rules().Title))
	} else {
		last := log[len(log)-1]
		if last.Kind.IsTurn() {
			out = append(out, say("turn", n, strconv.Itoa(g.Turns()), last.Words()))
		} else {
			out = append(out, say("said", n, last.Words()))
		}
		if before, err := rules.Replay(g.Rules(), g.Setup(), log[:len(log)-1]); err == nil {
			out = append(out, entries("entry", g.Entries()[len(before.Entries()):])...)
		}
	}
	if p.result != "" {
		return append(out, say("facts", capital(p.why)))
	}
	if p.placing > 0 {
		return append(out, next(m, p, now)...)
	}
	out = append(out, count(g)...)
	for _, fact := range g.Says() {
		out = append(out, say("facts", capital(fact)))
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
		out = append(out, say(key, e.Player.String(), sign, strings.TrimPrefix(e.Thing.Words(e.N), "-"), e.Why))
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
	var things []string
	for t := rules.Prisoner; t <= rules.UltimateStone; t++ {
		if n := g.Holds(c, t); n != 0 {
			things = append(things, t.Words(n))
		}
	}
	if len(things) == 0 {
		return say("holds", c.String(), word([]Text{say("nothing")}, nil))
	}
	return say("holds", c.String(), strings.Join(things, ", "))
}

// lead says who is ahead and by how much: "White +17½".
func lead(margin rules.Points) string {
	switch {
	case margin > 0:
		return word([]Text{say("ahead", rules.Black.String(), margin.String())}, nil)
	case margin < 0:
		return word([]Text{say("ahead", rules.White.String(), (-margin).String())}, nil)
	}
	return word([]Text{say("even")}, nil)
}

// next says whose turn it is and until when, or who must still accept.
func next(m Match, p *position, now time.Time) []Text {
	g := p.game
	if p.over() {
		return nil
	}
	switch g.Phase() {
	case rules.Playing:
		out := []Text{say("to.play", g.ToPlay().String())}
		if r := p.reading(m, now); r.Paused {
			out = append(out, say("clock.paused"))
		} else if !r.Deadline.IsZero() {
			out = []Text{say("to.play.until", g.ToPlay().String(), timeLeft(m, r), instantOf(r.Deadline, now))}
		}
		if p.placing > 0 {
			out = append(out, plural("placing", p.placing))
		}
		if p.branch > 0 {
			out = append(out, say("branch.here"))
		}
		if p.asked != nil {
			out = append(out, say("asked."+p.asked.what, p.asked.by.String(), p.asked.by.Opponent().String()))
		}
		if g.Allows(rules.Turn{Kind: rules.Accept, By: g.ToPlay()}) {
			out = append(out, say("offer.accept", g.ToPlay().String()))
		}
		if g.Rules().Has(rules.NoResult) && g.ThirdTime() {
			waiting := word([]Text{say("both")}, nil)
			switch {
			case g.AcceptedNoResult(rules.Black):
				waiting = rules.White.String()
			case g.AcceptedNoResult(rules.White):
				waiting = rules.Black.String()
			}
			out = append(out, say("offer.no.result", waiting))
		}
		return out
	case rules.Settling:
		waiting := "both"
		switch black, white := g.HasAgreed(rules.Black), g.HasAgreed(rules.White); {
		case black:
			return []Text{say("must.accept", rules.White.String())}
		case white:
			return []Text{say("must.accept", rules.Black.String())}
		}
		return []Text{say("must.accept", word([]Text{say(waiting)}, nil))}
	}
	return nil
}
