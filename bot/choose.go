package bot

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// choose finds the game that a request is about: the one it numbers, the one of
// its thread, the only one here in which the person is to move or plays, the
// only one here. If that leaves several it takes the one that was changed last where there
// are no threads, or asks which, by a refusal. Games is how many are unfinished here, 2 for
// more, 0 if it did not look.
func (b *Bot) choose(ctx context.Context, r Request, h handler, by match.PersonID) (m match.Match, games int, refusal *match.Reply, err error) {
	if h.noGame {
		return match.Match{}, 0, nil, nil
	}
	m, found, refusal, err := b.pointed(ctx, r, h, by)
	if found || refusal != nil || err != nil {
		return m, 0, refusal, err
	}
	return b.likely(ctx, r, h, by)
}

func refusal(t Text) *match.Reply {
	return &match.Reply{Texts: []Text{t}, Private: true, Refused: true}
}

// pointed finds the game to which a request points by a number or a thread, or which a
// rematch follows.
func (b *Bot) pointed(ctx context.Context, r Request, h handler, by match.PersonID) (m match.Match, found bool, no *match.Reply, err error) {
	where := r.Where.WithoutThread()
	if n := strings.TrimPrefix(strings.TrimSpace(r.Args["game"]), "#"); n != "" {
		number, err := strconv.Atoi(n)
		if err != nil {
			return m, false, refusal(say("bad.game", shortened(n), r.Command)), nil
		}
		m, found, err = b.last(ctx, Query{Where: where, Number: number})
		if err == nil && (!found || number < 1) {
			no = refusal(say("no.game.number", strconv.Itoa(number)))
		}
		return m, found, no, err
	}
	if r.thread != "" {
		m, err := b.store.Header(ctx, r.thread)
		return m, true, nil, err
	}
	if r.Where.Thread != "" {
		m, found, err = b.last(ctx, Query{Where: r.Where})
	}
	if !found && err == nil && h.Name == "rematch" {
		m, found, err = b.last(ctx, Query{Where: where, Player: by, States: []match.State{match.Ended}})
	}
	return m, found, nil, err
}

// likely finds the game that somebody most likely means who points to none.
func (b *Bot) likely(ctx context.Context, r Request, h handler, by match.PersonID) (m match.Match, games int, no *match.Reply, err error) {
	where := r.Where.WithoutThread()
	// A room may have many games, and is asked for two: one is all that there are.
	here, err := b.store.Matches(ctx, Query{Where: where, States: unfinished, Limit: 2, Any: true})
	if err != nil {
		return m, 0, nil, err
	}
	games = len(here)
	flat, listed := r.Flat && !slices.Contains(asksWhich, h.Name), games < 2
	if flat && !listed {
		if m, found, err := b.newest(ctx, where, h, by); found || err != nil {
			return m, games, nil, err
		}
	}
	conditions := candidates(h, by)
	for i, candidate := range conditions {
		// Most people play in few of the games of a room, so all of these are listed only if
		// theirs leave no candidate. Joining and declining may be about games of others, but not
		// about those of an event, of which there may be many more.
		query := Query{Where: where, States: unfinished, Limit: b.mostGames()}
		if h.Name == "join" || h.Name == "decline" {
			query.Own = true
		} else if i == 0 {
			query.Player = by
		}
		if !listed && (i == 0 || i == len(conditions)-1) {
			if here, err = b.store.Matches(ctx, query); err != nil {
				return m, 0, nil, err
			}
			listed = query.Player == ""
		}
		ms := filter(here, func(m match.Match) bool { return (m.State != match.Sandbox || m.Opener == by) && candidate(m) })
		if len(ms) > 1 {
			if ms, err = b.able(ctx, ms, h, by); err != nil {
				return m, 0, nil, err
			}
		}
		switch {
		case len(ms) == 1, len(ms) > 1 && flat && i < 2: // whose board was shown last
			return ms[0], games, nil, nil
		case len(ms) > 1 && match.Commands[h.Name].ToMove && i == 1: // they play in all of them
			return m, 0, refusal(say("not.your.turn.any")), nil
		case len(ms) > 1:
			return m, 0, which(ms, r, by), nil
		}
	}
	// Nothing of that is being played: the last game, which is over.
	m, found, err := b.last(ctx, Query{Where: where, States: []match.State{match.Open, match.Going, match.Ended, match.Cancelled}})
	if err == nil && !found {
		no = refusal(say("no.game"))
	}
	return m, 0, no, err
}

// asksWhich are the commands that ask which of several games is meant even where the
// boards of all follow each other, because a guess could cost a game.
var asksWhich = []string{"join", "resign", "delete", "adjudicate", "claim", "draw"}

// candidates returns conditions for the game that somebody means by a command, from
// the most to the least likely.
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
	case h.Name == "decline":
		return []func(match.Match) bool{func(m match.Match) bool { return mine(m) || m.State == match.Open && m.Invited == by }, every}
	case match.Commands[h.Name].ToMove:
		return []func(match.Match) bool{func(m match.Match) bool { return m.ToMove == by }, mine, every}
	}
	return []func(match.Match) bool{mine, every}
}

// unfinished are the states of games that commands may be about without a number.
var unfinished = []match.State{match.Open, match.Going, match.Sandbox}

// newest returns the game of a channel that was changed last, if it is of those that
// somebody most likely means: then it comes first of them, however many there are.
func (b *Bot) newest(ctx context.Context, channel match.Room, h handler, by match.PersonID) (m match.Match, found bool, err error) {
	id := b.cache.last(channel)
	if id == "" {
		return m, false, nil
	}
	m, err = b.store.Header(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return m, false, nil
	}
	if err != nil || !slices.Contains(unfinished, m.State) || m.State == match.Sandbox && m.Opener != by || !candidates(h, by)[0](m) {
		return m, false, err
	}
	found, err = b.can(ctx, m, h, by)
	return m, found, err
}

// able leaves of several games those that can take a command now; all, if none can.
func (b *Bot) able(ctx context.Context, ms []match.Match, h handler, by match.PersonID) ([]match.Match, error) {
	var out []match.Match
	for _, m := range ms {
		can, err := b.can(ctx, m, h, by)
		if err != nil {
			return nil, err
		}
		if can {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return ms, nil
	}
	return out, nil
}

// can reports whether a game can take a command now.
func (b *Bot) can(ctx context.Context, m match.Match, h handler, by match.PersonID) (bool, error) {
	command := match.Commands[h.Name]
	if !command.Rare {
		return !command.Seated || m.State != match.Open, nil
	}
	p, err := b.position(ctx, m, m.Seq)
	if errors.Is(err, ErrDamaged) {
		return true, nil
	}
	return err == nil && match.Takes(m, p, h.Name, by), err
}

// asked is how many games a question which one is meant names, and gives a button for.
const asked = 5

// which asks which of some games is meant, the newest first, and says against whom each is.
func which(ms []match.Match, r Request, by match.PersonID) *match.Reply {
	slices.SortFunc(ms, func(a, b match.Match) int { return b.Number - a.Number })
	var games []Text
	for _, m := range ms[:min(len(ms), asked)] {
		games = append(games, say("which.one", strconv.Itoa(m.Number), against(m, by)))
	}
	if len(ms) > asked {
		games = append(games, say("lines", "…"))
	}
	reply := &match.Reply{Texts: []Text{say("which.games", text.List(games...), strconv.Itoa(ms[0].Number))}, Private: true, Refused: true}
	for _, m := range ms[:min(len(ms), asked)] {
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

// against names the other player of a game, or both for who plays in neither seat.
func against(m match.Match, by match.PersonID) any {
	other := m.Black
	switch {
	case m.Black == by && m.White == by:
		return say("which.alone")
	case m.Black == by:
		other = m.White
	case m.White != by && m.State != match.Open:
		return say("which.both", named(m.Black), named(m.White))
	case m.White != by:
		return named(m.Opener)
	}
	switch {
	case other != "":
		return named(other)
	case m.Invited != "":
		return named(m.Invited)
	}
	return say("which.open")
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
