package bot

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/contest"
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

// A typing is an option of a request that somebody is typing.
type typing struct {
	ctx    context.Context
	b      *Bot
	req    Request
	h      handler
	by     match.PersonID
	lang   *text.Language
	option string
	prefix string
}

// suggests returns all choices for some options; for others those of the command are.
var suggests = map[string]func(typing) []Choice{
	"rules": typing.rulesets, "name": typing.rulesets, "command": typing.commands, "lesson": typing.lessons,
	"game": typing.games, "event": typing.events, "clock": typing.clocks, "at": typing.points, "dead": typing.points, "points": typing.points,
}

// Suggest returns choices for an option that is being typed; see [Service].
func (b *Bot) Suggest(ctx context.Context, r Request, option, prefix string) []Choice {
	now := Current(match.Control{Command: r.Command, Args: r.Args, Ask: option})
	r.Command, r.Args, option = now.Command, now.Args, now.Ask
	h, ok := find(r.Command)
	if !ok || b.inThread(ctx, &r) != nil {
		return nil
	}
	s, err := b.localizer(ctx, r)
	if err != nil {
		return nil
	}
	typed := prefix
	if slices.Contains([]string{"at", "dead", "points"}, option) {
		typed = match.TidyPoints(prefix)
	}
	t := typing{ctx, b, r, h, s.by, s.mine, option, strings.ToLower(strings.TrimSpace(typed))}
	all, ok := suggests[option]
	if !ok {
		all = typing.choices
	}
	var out []Choice
	for _, c := range slices.Concat(t.drafted(), all(t)) {
		if strings.HasPrefix(strings.ToLower(c.Value), t.prefix) || strings.HasPrefix(strings.ToLower(c.Label), t.prefix) {
			out = append(out, c)
		}
	}
	if len(out) == 0 && (option == "rules" || option == "name") {
		out = b.meant(prefix)
	}
	return out[:min(len(out), maxChoices)]
}

// drafted is what the person has chosen for an option of the event that they draft here; nil:
// nothing.
func (t typing) drafted() []Choice {
	if t.h.Name != eventName || t.req.Args["what"] != "new" || !slices.Contains(contest.Chosen, t.option) {
		return nil
	}
	stored, err := t.b.store.Draft(t.ctx, t.by, t.req.Where.WithoutThread(), t.b.now().UTC())
	if err != nil {
		return nil
	}
	draft, err := contest.ParseDraft(stored)
	if value := draft[t.option]; err == nil && value != "" {
		return []Choice{{value, value}}
	}
	return nil
}

// choices are those of the option itself.
func (t typing) choices() (all []Choice) {
	for _, o := range t.h.Options {
		if o.Name == t.option {
			all = choicesIn(t.lang, o.Choices)
		}
	}
	return all
}

func (t typing) rulesets() (all []Choice) {
	for _, r := range slices.Concat(t.b.rulesets, rules.Catalogue) {
		all = append(all, Choice{r.Title, r.Name})
	}
	return all
}

func (t typing) commands() (all []Choice) {
	for _, c := range CommandsIn(t.lang.Tag) {
		all = append(all, Choice{c.Summary, c.Name})
	}
	for _, g := range groups {
		all = append(all, Choice{t.lang.Say(say("group." + g)), g})
	}
	return all
}

func (t typing) lessons() (all []Choice) {
	for _, l := range lessons() {
		all = append(all, Choice{l.title, l.id})
	}
	return all
}

func (t typing) games() (all []Choice) {
	ms, err := t.b.store.Matches(t.ctx, Query{Where: t.req.Where.WithoutThread(), Limit: maxChoices})
	if err != nil {
		return nil
	}
	for _, m := range ms {
		all = append(all, Choice{t.lang.Say(say("game.choice", strconv.Itoa(m.Number))) + ": " + rulesetID(m), strconv.Itoa(m.Number)})
	}
	return all
}

func (t typing) events() []Choice {
	heads, err := t.b.store.Contests(t.ctx, t.req.Where.WithoutThread(), nil, maxChoices)
	if err != nil {
		return nil
	}
	return eventsToChoose(heads)
}

func (t typing) clocks() (all []Choice) {
	for _, typed := range usualClocks {
		if c, err := clock.Parse(typed); err == nil {
			all = append(all, Choice{t.lang.Say(c.Text()), typed})
		}
	}
	return all
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
func (t typing) points() []Choice {
	m, _, refusal, err := t.b.choose(t.ctx, t.req, t.h, t.by)
	if err != nil || refusal != nil {
		return nil
	}
	_, pos, err := t.b.at(t.ctx, m.ID, m.Seq)
	if err != nil {
		return nil
	}
	if t.option == "at" {
		return t.empty(pos)
	}
	g := pos.Game
	board := g.Board()
	seen := map[rules.Point]bool{}
	var out []Choice
	for _, p := range board.Points() {
		if t.option == "points" && g.Phase() == rules.Settling && slices.Contains(g.Dead(), p) != (strings.ToLower(t.req.Args["as"]) == "alive") {
			continue // it is marked so already
		}
		if board.At(p) == rules.None || seen[p] {
			continue
		}
		chain := board.Chain(p)
		for _, q := range chain {
			seen[q] = true
		}
		name := p.String()
		out = append(out, Choice{t.lang.Say(say("stones.of", name, text.Color(board.At(p)), text.Thing(rules.Stone, len(chain)))), name})
	}
	return out
}

// empty suggests points for a stone, those near the last one first. To try a point is to
// try a turn, so it tries only what begins with what was typed.
func (t typing) empty(pos *match.Position) (out []Choice) {
	g := pos.Game
	board := g.Board()
	points := board.Points()
	if t.prefix == "" {
		byDistance(points, lastPoint(pos))
	}
	for _, p := range points {
		name := p.String()
		if len(out) < maxChoices && board.At(p) == rules.None && strings.HasPrefix(strings.ToLower(name), t.prefix) &&
			g.Allows(rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: p}) {
			out = append(out, Choice{name, name})
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
