package rooms

import (
	"context"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// No flag may fall because people could not reach the bot. An outage is a row of the
// store from its beginning until every game whose clock ran has been credited with it.

// An Outage is a time in which people could not reach the bot.
type Outage struct {
	Platform string    // empty: all, because the bot was away
	Server   string    // of the platform; empty: all
	From, To time.Time // in UTC and whole milliseconds; To is zero while it lasts
}

// concerns reports whether games in a channel of a server stood still.
func (o Outage) concerns(where match.Room, server string) bool {
	return o.Platform == "" || o.Platform == where.Platform && (o.Server == "" || o.Server == server)
}

// Lasts reports whether the outage has not ended.
func (o Outage) Lasts() bool { return o.To.IsZero() }

// same reports whether they are one outage, which may have ended since.
func (o Outage) same(other Outage) bool {
	other.To = o.To
	return o == other
}

// Outages returns all outages that are stored. Callers do not change the slice.
func (r *Rooms) Outages(ctx context.Context) ([]Outage, error) {
	if r.Shared {
		return r.store.Outages(ctx)
	}
	if known := r.outages.Load(); known != nil {
		return *known, nil
	}
	r.absence.Lock()
	defer r.absence.Unlock()
	return r.readOutages(ctx)
}

// readOutages is Outages for callers that hold r.absence.
func (r *Rooms) readOutages(ctx context.Context) ([]Outage, error) {
	if known := r.outages.Load(); known != nil && !r.Shared {
		return *known, nil
	}
	list, err := r.store.Outages(ctx)
	if err == nil {
		r.outages.Store(&list)
	}
	return list, err
}

// changeOutages stores outages, and deletes others. The caller holds r.absence.
func (r *Rooms) changeOutages(ctx context.Context, put, drop []Outage) error {
	list, err := r.readOutages(ctx)
	if err != nil {
		return err
	}
	if err := r.store.ChangeOutages(ctx, put, drop); err != nil {
		r.outages.Store(nil) // the change may be stored all the same
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(o Outage) bool {
		return slices.ContainsFunc(put, o.same) || slices.ContainsFunc(drop, o.same)
	})
	list = append(list, put...)
	r.outages.Store(&list)
	return nil
}

// absent stores that the bot was away, or was not in a server. The caller holds
// r.absence.
func (r *Rooms) absent(ctx context.Context, platform, server string, from, to time.Time) error {
	return r.changeOutages(ctx, []Outage{{platform, server, Stamp(from), Stamp(to)}}, nil)
}

// Missed stores that nobody has served a platform for a while. A short one is not credited.
func (r *Rooms) Missed(ctx context.Context, platform string, from, to time.Time) error {
	if to.Sub(from) < Pulse {
		return nil
	}
	r.absence.Lock()
	defer r.absence.Unlock()
	return r.absent(ctx, platform, "", from, to)
}

// Stamp rounds a time as the store does.
func Stamp(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }

// lasting returns the place in a list of the outage of a platform that has not ended; -1:
// there is none.
func lasting(list []Outage, platform string) int {
	return slices.IndexFunc(list, func(o Outage) bool { return o.Platform == platform && o.Lasts() })
}

// Away stores that a platform cannot be reached.
func (r *Rooms) Away(ctx context.Context, platform string) error {
	r.absence.Lock()
	defer r.absence.Unlock()
	list, err := r.readOutages(ctx)
	if err != nil || lasting(list, platform) >= 0 {
		return err
	}
	return r.changeOutages(ctx, []Outage{{Platform: platform, From: Stamp(r.Now())}}, nil)
}

// Back stores that a platform can be reached again. Outages shorter than a pulse are not
// credited.
func (r *Rooms) Back(ctx context.Context, platform string) error {
	r.absence.Lock()
	defer r.absence.Unlock()
	list, err := r.readOutages(ctx)
	if err != nil {
		return err
	}
	i := lasting(list, platform)
	if i < 0 {
		return nil
	}
	o := list[i]
	if o.To = Stamp(r.Now()); o.To.Sub(o.From) <= Pulse {
		return r.changeOutages(ctx, nil, []Outage{o})
	}
	return r.changeOutages(ctx, []Outage{o}, nil)
}

// OutagesAt returns the outages that concern the games of a room.
func (r *Rooms) OutagesAt(ctx context.Context, where match.Room) (at []Outage, err error) {
	list, err := r.Outages(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	here, err := r.Place(ctx, where)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if o.concerns(where, here.Server.ID) {
			at = append(at, o)
		}
	}
	return at, nil
}

// Credited deletes an outage with which every game has been credited, unless it has become
// longer meanwhile.
func (r *Rooms) Credited(ctx context.Context, o Outage) error {
	r.absence.Lock()
	defer r.absence.Unlock()
	if list, err := r.readOutages(ctx); err != nil || !slices.Contains(list, o) {
		return err
	}
	return r.changeOutages(ctx, nil, []Outage{o})
}
