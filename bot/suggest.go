package bot

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// maxChoices is how many suggestions a platform can show.
const maxChoices = 25

// usualClocks are the time controls that are suggested, one of each kind for games of an hour
// and of weeks.
var usualClocks = []string{"3d", "1d", "7d", "fischer 7d+1d max 14d", "byoyomi 10d 3x2d", "canadian 10d 15/5d", "absolute 30d",
	"fischer 20m+1m", "byoyomi 30m 5x1m", "canadian 30m 20/10m", "absolute 1h", "none"}

// Suggest returns choices for an option that is being typed; see [Service].
func (b *Bot) Suggest(ctx context.Context, r Request, option, prefix string) []Choice {
	now := Current(match.Control{Command: r.Command, Args: r.Args, Ask: option})
	r.Command, r.Args, option = now.Command, now.Args, now.Ask
	h, ok := find(r.Command)
	if !ok {
		return nil
	}
	if b.inThread(ctx, &r) != nil {
		return nil
	}
	s, err := b.localizer(ctx, r)
	if err != nil {
		return nil
	}
	var all []Choice
	switch {
	case option == "rules" || option == "name":
		for _, r := range slices.Concat(b.rulesets, rules.Catalogue) {
			all = append(all, Choice{r.Title, r.Name})
		}
	case option == "command":
		for _, c := range CommandsIn(s.mine.Tag) {
			all = append(all, Choice{c.Summary, c.Name})
		}
		for _, g := range groups {
			all = append(all, Choice{s.mine.Say(say("group." + g)), g})
		}
	case option == "lesson":
		for _, l := range lessons() {
			all = append(all, Choice{l.title, l.id})
		}
	case option == "game":
		ms, err := b.store.Matches(ctx, Query{Where: r.Where.WithoutThread(), Limit: maxChoices})
		if err != nil {
			return nil
		}
		for _, m := range ms {
			all = append(all, Choice{s.mine.Say(say("game.choice", strconv.Itoa(m.Number))) + ": " + rulesetID(m), strconv.Itoa(m.Number)})
		}
	case option == "clock":
		for _, typed := range usualClocks {
			if c, err := clock.Parse(typed); err == nil {
				all = append(all, Choice{s.mine.Say(c.Text()), typed})
			}
		}
	case option == "at" || option == "dead" || option == "points":
		prefix = match.TidyPoints(prefix)
		all = b.points(ctx, r, h, s.by, s.mine, option, prefix)
	default:
		for _, o := range h.Options {
			if o.Name == option {
				all = choicesIn(s.mine, o.Choices)
			}
		}
	}
	var out []Choice
	p := strings.ToLower(strings.TrimSpace(prefix))
	for _, c := range all {
		if strings.HasPrefix(strings.ToLower(c.Value), p) || strings.HasPrefix(strings.ToLower(c.Label), p) {
			if out = append(out, c); len(out) == maxChoices {
				break
			}
		}
	}
	if len(out) == 0 && (option == "rules" || option == "name") {
		out = b.meant(prefix)
	}
	return out
}

// meant returns the rulesets that somebody may mean who typed no beginning of a name.
func (b *Bot) meant(typed string) (out []Choice) {
	r, err := b.rulesets.Find(typed)
	if err == nil {
		return []Choice{{r.Title, r.Name}}
	}
	if unclear, ok := errors.AsType[*match.Unclear](err); ok {
		for _, r := range unclear.Choices {
			out = append(out, Choice{r.Title, r.Name})
		}
	}
	return out
}

// points suggests empty points to place a stone on, or one stone of each chain to
// mark that is not marked so.
func (b *Bot) points(ctx context.Context, r Request, h handler, by match.PersonID, l *text.Language, option, prefix string) []Choice {
	m, _, refusal, err := b.choose(ctx, r, h, by)
	if err != nil || refusal != nil {
		return nil
	}
	_, pos, err := b.at(ctx, m.ID, m.Seq)
	if err != nil {
		return nil
	}
	g := pos.Game
	board := g.Board()
	seen := map[rules.Point]bool{}
	var out []Choice
	points := board.Points()
	if option == "at" && prefix == "" {
		byDistance(points, lastPoint(pos))
	}
	for _, p := range points {
		name := p.String()
		if option == "at" {
			// Only points that begin with the prefix: to try a point is to try a turn.
			if board.At(p) == rules.None && strings.HasPrefix(strings.ToLower(name), strings.ToLower(prefix)) &&
				(len(out) < maxChoices) && g.Allows(rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: p}) {
				out = append(out, Choice{name, name})
			}
			continue
		}
		if option == "points" && g.Phase() == rules.Settling && slices.Contains(g.Dead(), p) != (strings.ToLower(r.Args["as"]) == "alive") {
			continue // it is marked so already
		}
		if board.At(p) != rules.None && !seen[p] {
			chain := board.Chain(p)
			for _, q := range chain {
				seen[q] = true
			}
			out = append(out, Choice{l.Say(say("stones.of", name, text.Color(board.At(p)), text.Thing(rules.Stone, len(chain)))), name})
		}
	}
	return out
}

// lastPoint returns the point of the last stone that was placed, or else an empty one near
// the centre of the board.
func lastPoint(pos *match.Position) rules.Point {
	for _, l := range slices.Backward(pos.Lines) {
		if l.Turn.Kind == rules.Place {
			return l.Turn.At
		}
	}
	board := pos.Game.Board()
	w, h := board.Size()
	p, err := rules.ParsePoint(match.Example(board.Rows()), w, h)
	if err != nil { // the board has no empty point
		return rules.Point{}
	}
	return p
}

// byDistance sorts points by how far they are from one.
func byDistance(points []rules.Point, from rules.Point) {
	far := func(p rules.Point) int {
		x, y := int(p.X)-int(from.X), int(p.Y)-int(from.Y)
		return x*x + y*y
	}
	slices.SortStableFunc(points, func(a, b rules.Point) int { return far(a) - far(b) })
}
