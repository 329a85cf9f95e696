package bot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// No platform tells the bot that a player of an event can no longer write in its room, so once a
// day it asks.

// lookForPlayers looks in all events that go on for players who can no longer write in the room.
func (b *Bot) lookForPlayers(ctx context.Context) {
	for _, platform := range slices.Sorted(maps.Keys(b.members)) {
		heads, err := b.store.Contests(ctx, match.Room{Platform: platform}, contest.Runs, fixtures)
		for _, h := range heads {
			err = errors.Join(err, b.lookForPlayersOf(ctx, b.members[platform], h.ID))
		}
		if err != nil && ctx.Err() == nil {
			b.log.Error("looking for players who can no longer write failed, will retry tomorrow", "platform", platform, "error", err)
		}
	}
}

// lookForPlayersOf tells the organisers of an event, once for each, which players can no longer
// write in its room. Where nobody can, something is wrong with the room and not with them.
func (b *Bot) lookForPlayersOf(ctx context.Context, in Membership, id contest.ID) error {
	now := b.now().UTC()
	looked := fmt.Sprintf("players:%s:%s", id, now.Format(time.DateOnly))
	if _, done, err := b.store.Answered(ctx, looked); err != nil || done {
		return err
	}
	c, err := b.contest(ctx, id)
	if err != nil {
		return err
	}
	if away, _, err := b.eventAway(ctx, c, now); err != nil || away {
		return err
	}
	posts := c.Expected()
	told, err := b.store.Delivered(ctx, slices.Collect(maps.Values(posts)))
	if err != nil {
		return err
	}
	who, err := b.store.People(ctx, sheetPeople(c))
	if err != nil {
		return err
	}
	here := false
	var gone []int
	for _, n := range slices.Sorted(maps.Keys(posts)) {
		user := who[c.Players[n-1].Person]
		if told[posts[n]] || user.Platform != c.Where.Platform {
			continue
		}
		switch is, err := in.Member(ctx, user, c.Where); {
		case err != nil:
			b.log.Warn("not known whether a player can still write in the room of an event", "event", id, "player", n, "error", err)
		case is:
			here = true
		default:
			gone = append(gone, n)
		}
		if err := backoff.Sleep(ctx, prunePause); err != nil {
			return err
		}
	}
	if !here {
		gone = nil
	}
	for _, n := range gone {
		if err := b.actEvent(ctx, id, posts[n], func(in *contest.Input) contest.Step { return contest.Gone(in, n) }); err != nil {
			return err
		}
	}
	return b.actEvent(ctx, id, looked, contest.Nothing)
}
