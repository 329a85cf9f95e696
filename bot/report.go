package bot

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A Report is what an adapter notices about its platform or one of its rooms: [Away],
// [Back], [Servers], [Reached], [Encrypted], [Moved] or [Restored].
type Report interface {
	take(ctx context.Context, b *Bot) error
}

// Report handles a report; see [Service].
func (b *Bot) Report(ctx context.Context, r Report) error { return r.take(ctx, b) }

// Away reports that some or all of a platform cannot be reached. Until it is Back no flag
// of its games falls, and afterwards that time counts for nobody. A platform that is away
// when the program ends stays away.
type Away struct{ Platform string }

func (r Away) take(ctx context.Context, b *Bot) error { return b.rooms.Away(ctx, r.Platform) }

// Back reports that all of a platform can be reached again. An adapter reports it before
// it asks what has arrived since.
type Back struct{ Platform string }

func (r Back) take(ctx context.Context, b *Bot) error { return b.rooms.Back(ctx, r.Platform) }

// Servers lists all servers of a platform that the bot is in now. While the bot is
// not in a server, no flag of its games falls; if it comes back within a week, that
// time counts for nobody. After a week the bot forgets the server with its games. Organisers of
// events there are told once.
type Servers struct {
	Platform string
	In       []string
}

func (r Servers) take(ctx context.Context, b *Bot) error {
	forgot, left, err := b.rooms.Servers(ctx, r.Platform, r.In)
	if forgot {
		b.cache.clear()
	}
	if err == nil && left {
		err = b.tellOrganisers(ctx, r.Platform)
	}
	return err
}

// Reached reports that the bot can write in a room from now on. Posts that wait for the
// room are shown.
type Reached struct{ Where match.Room }

func (r Reached) take(ctx context.Context, b *Bot) error { return b.unpark(ctx, r.Where, true) }

// Encrypted reports that a room is encrypted. Its games have no pages from then on, also
// if somebody says that it no longer is.
type Encrypted struct{ Where match.Room }

func (r Encrypted) take(ctx context.Context, b *Bot) error { return b.rooms.Seal(ctx, r.Where) }

// Moved reports that a room is now in another place, where nothing of its games was shown:
// the board of each running game is shown again, each open challenge, and the message of each
// event that goes on, once for each place.
type Moved struct {
	Where match.Room
	Place string
}

func (r Moved) take(ctx context.Context, b *Bot) error {
	ms, err := b.store.Matches(ctx, Query{Where: r.Where, States: []match.State{match.Going, match.Open}, Limit: 1000})
	if err != nil {
		return err
	}
	if err := b.inEach(ctx, ms, "moved", r.Place, func(in *match.Input) match.Step { return match.ShowAgain(in, r.Place) }); err != nil {
		return err
	}
	return b.showEvents(ctx, r.Where, "in-"+r.Place, true)
}

// Restored reports that an old copy of the database was restored, after the requests made
// in a room since the copy have been asked again. Each game of the room that has changed
// since then gets a post about it with its state, and the message of each event that goes on
// shows again how it stands, once for each copy.
type Restored struct {
	Where  match.Room
	Copied time.Time // when the copy was made, see [Service]'s Before
	Found  time.Time // when it was known for one
}

func (r Restored) take(ctx context.Context, b *Bot) error {
	ms, err := b.store.Matches(ctx, Query{Where: r.Where, States: []match.State{match.Going, match.Ended}, Limit: 1000}) // the latest
	if err != nil {
		return err
	}
	ms = slices.DeleteFunc(ms, func(m match.Match) bool { return m.Changed.Before(r.Found) })
	copied := strconv.FormatInt(r.Copied.UnixMilli(), 10)
	err = b.inEach(ctx, ms, "restored", copied, func(in *match.Input) match.Step {
		return match.WentBack(in, r.Copied.In(in.Now.Location()), r.Found)
	})
	if err != nil {
		return err
	}
	return b.showEvents(ctx, r.Where, "restored-"+copied, false)
}
