package bot

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// choose finds the game that a request is about: the one it numbers, the one of
// its thread, the only one here in which the person is to move or plays, the
// only one here. If that leaves several it takes the one that was changed last where there
// are no threads, or asks which, by a refusal. Games is how many
// are unfinished here, 0 if it did not look.
func (b *Bot) choose(ctx context.Context, r Request, h handler, by match.PersonID) (m match.Match, games int, refusal *match.Reply, err error) {
	refuse := func(t Text) (match.Match, int, *match.Reply, error) {
		return match.Match{}, 0, &match.Reply{Texts: []Text{t}, Private: true, Refused: true}, nil
	}
	if h.noGame {
		return match.Match{}, 0, nil, nil
	}
	where := r.Where.WithoutThread()
	if n := strings.TrimPrefix(strings.TrimSpace(r.Args["game"]), "#"); n != "" {
		number, err := strconv.Atoi(n)
		if err != nil {
			return refuse(say("bad.game", shortened(n), r.Command))
		}
		m, found, err := b.last(ctx, Query{Where: where, Number: number})
		if err == nil && (!found || number < 1) {
			return refuse(say("no.game.number", strconv.Itoa(number)))
		}
		return m, 0, nil, err
	}
	if r.thread != "" {
		m, err := b.store.Header(ctx, r.thread)
		return m, 0, nil, err
	}
	if r.Where.Thread != "" {
		if m, found, err := b.last(ctx, Query{Where: r.Where}); found || err != nil {
			return m, 0, nil, err
		}
	}
	if h.Name == "rematch" {
		if m, found, err := b.last(ctx, Query{Where: where, Player: by, States: []match.State{match.Ended}}); found || err != nil {
			return m, 0, nil, err
		}
	}
	here, err := b.store.Matches(ctx, Query{Where: where, States: []match.State{match.Open, match.Going, match.Sandbox}, Limit: b.games.look()})
	if err != nil {
		return match.Match{}, 0, nil, err
	}
	for i, candidate := range candidates(h, by) {
		ms := filter(here, func(m match.Match) bool { return (m.State != match.Sandbox || m.Opener == by) && candidate(m) })
		switch {
		case len(ms) > 1 && r.Flat && i < 2 && !slices.Contains(asksWhich, h.Name):
			return ms[0], len(here), nil, nil // whose board was shown last
		case len(ms) == 1:
			return ms[0], len(here), nil, nil
		case len(ms) > 1 && h.toMove && i == 1: // they play in all of them
			return refuse(say("not.your.turn.any"))
		case len(ms) > 1:
			return match.Match{}, 0, which(ms, r), nil
		}
	}
	// Nothing of that is being played: the last game, which is over.
	m, found, err := b.last(ctx, Query{Where: where, States: []match.State{match.Open, match.Going, match.Ended, match.Cancelled}})
	if err == nil && !found {
		return refuse(say("no.game"))
	}
	return m, 0, nil, err
}

// asksWhich are the commands that ask which of several games is meant even where the
// boards of all follow each other, because a guess could cost a game.
var asksWhich = []string{"join", "resign", "delete", "adjudicate", "claim", "draw"}

// candidates tells, from the likeliest to the least likely, which games of a channel
// somebody may mean by a command.
func candidates(h handler, by match.PersonID) []func(match.Match) bool {
	mine := func(m match.Match) bool { return m.Black == by || m.White == by }
	every := func(match.Match) bool { return true }
	switch {
	case h.Name == "join":
		return []func(match.Match) bool{
			func(m match.Match) bool { return m.State == match.Open && m.Invited == by },
			func(m match.Match) bool { return m.State == match.Open && m.Invited == "" && !mine(m) },
			func(m match.Match) bool { return m.State == match.Open },
			every,
		}
	case h.toMove:
		return []func(match.Match) bool{func(m match.Match) bool { return m.ToMove == by }, mine, every}
	}
	return []func(match.Match) bool{mine, every}
}

// which asks which of some games is meant, the newest first.
func which(ms []match.Match, r Request) *match.Reply {
	slices.SortFunc(ms, func(a, b match.Match) int { return b.Number - a.Number })
	reply := &match.Reply{Texts: []Text{say("which.game", strconv.Itoa(ms[0].Number))}, Private: true, Refused: true}
	for _, m := range ms[:min(len(ms), 5)] {
		args := map[string]string{"game": strconv.Itoa(m.Number)}
		for k, v := range r.Args {
			if k != "seq" && k != "game" {
				args[k] = v
			}
		}
		reply.Controls = append(reply.Controls, match.Control{Label: "game.choice", Command: r.Command, Args: args})
	}
	return reply
}

// last returns the match that a query finds first, which was changed last, and
// reports whether there is one.
func (b *Bot) last(ctx context.Context, q Query) (m match.Match, found bool, err error) {
	q.Limit = 1
	ms, err := b.store.Matches(ctx, q)
	if err != nil || len(ms) == 0 {
		return m, false, err
	}
	return ms[0], true, nil
}

func filter(ms []match.Match, keep func(match.Match) bool) []match.Match {
	var out []match.Match
	for _, m := range ms {
		if keep(m) {
			out = append(out, m)
		}
	}
	return out
}
