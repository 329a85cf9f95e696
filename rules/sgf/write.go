package sgf

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Write writes g as a record in FF[4] and UTF-8, one turn a line, with the
// entries of the ledger as comments. Read and [Record.Play] under the ruleset
// of g make the same game of it, but for what the package does not keep. The
// comment of turn i+1 begins with said[i], if there is one: who made it, when.
//
// Its errors are those of w. A game whose log does not lead to it, as
// [rules.Game.Lift] makes them, is written without the stones that were
// lifted.
func Write(w io.Writer, g *rules.Game, info Info, said ...string) error {
	out := &writer{Writer: bufio.NewWriter(w), said: said}
	out.header(g, info)
	if err := out.turns(g); err != nil {
		return err
	}
	out.WriteString(")\n")
	return out.Flush()
}

type writer struct {
	*bufio.Writer
	said []string // with what the comments of the turns begin
}

func (w *writer) header(g *rules.Game, info Info) {
	s := g.Setup()
	w.WriteString("(;FF[4]GM[1]CA[UTF-8]AP[Halfpoint")
	if version := oneLine(info.Version); version != "" {
		w.WriteString(":" + strings.ReplaceAll(escape(version), ":", `\:`))
	}
	w.WriteString("]\n")
	if s.W == s.H {
		w.property("SZ", fmt.Sprint(s.W))
	} else {
		w.property("SZ", fmt.Sprintf("%d:%d", s.W, s.H))
	}
	w.property("RU", g.Rules().Stored())
	w.property("KM", s.Komi.Decimal())
	if s.Handicap > 0 {
		w.property("HA", fmt.Sprint(s.Handicap))
	}
	w.points("AB", s.Black, s.H)
	w.points("AW", s.White, s.H)
	if s.First != rules.None {
		w.property("PL", s.First.Letter())
	}
	if g.Result() != "" {
		info.Result = g.Result()
	}
	separator := "\n"
	for _, t := range info.texts() {
		if text := oneLine(*t.text); text != "" {
			w.WriteString(separator)
			w.property(t.name, text)
			separator = ""
		}
	}
}

// turns writes the log of g, replaying it to know which entries came with
// what.
func (w *writer) turns(g *rules.Game) error {
	now, err := rules.New(g.Rules(), g.Setup())
	if err != nil {
		return err
	}
	w.comment(ledger(rules.None, now.Entries()))
	resumed := false
	var said []string // what no node has said yet
	for _, t := range g.Log() {
		before := now
		if now, err = before.Play(t); err != nil {
			return err
		}
		by := t.By
		if !t.Kind.IsTurn() {
			by = rules.None // what was agreed, both handed over
		}
		said = append(said, ledger(by, now.Entries()[len(before.Entries()):])...)
		switch {
		case t.Kind == rules.Resume:
			resumed = true
		case t.Kind.IsTurn():
			w.turn(t, resumed, g.Setup().H)
			if now.Phase() == rules.Over {
				said = append(said, decided(now))
			}
			if t.Kind > rules.Pass {
				said = append([]string{t.Words()}, said...)
			}
			if n := now.Turns(); n <= len(w.said) {
				before := strings.Split(w.said[n-1], "\n")
				for i, line := range before {
					before[i] = oneLine(line)
				}
				said = append(slices.DeleteFunc(before, func(line string) bool { return line == "" }), said...)
			}
			w.comment(said)
			resumed, said = false, nil
		}
	}
	w.ending(now, resumed, said)
	return nil
}

// turn writes the node of a turn, without its comment.
func (w *writer) turn(t rules.Turn, resumed bool, h int) {
	w.WriteString("\n;")
	at := ""
	if t.Kind == rules.Place {
		at = name(t.At, h)
	}
	w.property(t.By.Letter(), at)
	var private []string
	if resumed {
		private = append(private, rules.Resume.String())
	}
	if t.Kind > rules.Pass {
		private = append(private, t.Kind.String())
	} else if len(t.Dead) > 0 {
		private = append(private, rules.Pass.String()+" "+rules.Names(t.Dead))
	}
	if len(private) > 0 {
		w.property("XT", private...)
	}
}

// ending writes the last node, if there is anything to say that is no turn.
func (w *writer) ending(g *rules.Game, resumed bool, said []string) {
	agreed := g.HasAgreed(rules.Black) && g.HasAgreed(rules.White)
	var private []string
	for _, x := range []struct {
		is   bool
		word string
	}{{resumed, "resume"}, {agreed, "accept"}, {g.Result() == "Void", "no-result"}} {
		if x.is {
			private = append(private, x.word)
		}
	}
	dead, seki := g.Dead(), g.Seki()
	if !agreed && g.Phase() != rules.Settling {
		dead, seki = nil, nil
	}
	if len(private)+len(dead)+len(seki) == 0 {
		return
	}
	w.WriteString("\n;")
	w.named("XD", dead)
	w.named("XS", seki)
	if len(private) > 0 {
		w.property("XT", private...)
	}
	if agreed {
		black, white := territory(g)
		w.points("TB", black, g.Setup().H)
		w.points("TW", white, g.Setup().H)
	}
	if g.Phase() == rules.Over {
		said = append(said, decided(g))
	}
	w.comment(said)
}

// owners returns to whom the count of a game gives the empty points: those of a region next to a
// stone marked as alive in seki to nobody.
func owners(g *rules.Game) map[rules.Point]rules.Color {
	beside := make(map[rules.Point]bool) // stones in seki
	for _, p := range g.Seki() {
		for _, d := range []rules.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
			beside[rules.Point{X: p.X + d.X, Y: p.Y + d.Y}] = true
		}
	}
	owner := make(map[rules.Point]rules.Color)
	board := g.Counted()
	for _, r := range board.Regions() {
		if r.Owner() == rules.None || slices.ContainsFunc(r.Points, func(p rules.Point) bool { return beside[p] }) {
			continue
		}
		for _, p := range r.Points {
			owner[p] = r.Owner()
		}
	}
	return owner
}

// territory returns the points that the count of a game gives to each player.
func territory(g *rules.Game) (black, white []rules.Point) {
	owner, board := owners(g), g.Counted()
	of := func(c rules.Color) []rules.Point {
		return slices.DeleteFunc(board.Points(), func(p rules.Point) bool { return owner[p] != c })
	}
	return of(rules.Black), of(rules.White)
}

// ledger words entries that came with a turn of a player, None for the start
// and the end of the game.
func ledger(by rules.Color, entries []rules.Entry) []string {
	var out []string
	for _, e := range entries {
		switch {
		case e.N < 0:
			out = append(out, fmt.Sprintf("%v gives back %s: %s", e.Player, e.Thing.Words(-e.N), e.Why))
		case by == e.Player.Opponent():
			out = append(out, fmt.Sprintf("%v gives %v %s: %s", by, e.Player, e.Thing.Words(e.N), e.Why))
		default:
			out = append(out, fmt.Sprintf("%v gets %s: %s", e.Player, e.Thing.Words(e.N), e.Why))
		}
	}
	return out
}

// decided tells the result and why.
func decided(g *rules.Game) string { return g.Result() + ": " + g.Decided().String() }

func (w *writer) property(name string, values ...string) {
	w.WriteString(name)
	for _, v := range values {
		w.WriteString("[" + escape(v) + "]")
	}
}

// points writes a list of points, nothing if it is empty.
func (w *writer) points(property string, ps []rules.Point, h int) {
	if len(ps) == 0 {
		return
	}
	values := make([]string, len(ps))
	for i, p := range ps {
		values[i] = name(p, h)
	}
	w.property(property, values...)
}

// named writes points in the coordinates of players, nothing if there are none.
func (w *writer) named(property string, ps []rules.Point) {
	if len(ps) > 0 {
		w.property(property, rules.Names(ps))
	}
}

func (w *writer) comment(lines []string) {
	if len(lines) > 0 {
		w.property("C", strings.Join(lines, "\n"))
	}
}
