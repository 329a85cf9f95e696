package discord

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// Discord counts what it refuses, and bars who does not learn from it.
const (
	maxRefusals = 3              // in a row, in one channel
	barredFor   = 24 * time.Hour // and then it is left alone
)

// A refusal is why the last message to a channel was not sent.
type refusal struct {
	why    error // as Deliver gives it
	locked bool  // the thread is
	times  int   // in a row
	at     time.Time
}

// final reports whether Discord has refused this, and will at another time: not
// what did not arrive, or may have, and not a request that came under a token
// which Discord does not accept for now.
func final(err error) bool {
	var refused *rest.Error
	return errors.As(err, &refused) && !isAmbiguous(err) && refused.Status != http.StatusUnauthorized
}

// refuse writes down that the message was refused, and gives why.
func (d *delivery) refuse(why error) error {
	a, channel := d.a, d.at.channel
	if channel != d.p.Where.Channel && !d.locked {
		a.learned(d.p.Where.Channel, 0, false) // what was heard of it before is out of date
	}
	r, _ := a.barred.Get(channel)
	a.barred.Add(channel, refusal{why: why, locked: d.locked, times: r.times + 1, at: time.Now()})
	return why
}

// shut is why nothing may be sent to the channel, if that is known without being
// refused once more: that a thread is open again can be seen, and what the bot may
// do is heard with whatever is asked there.
func (d *delivery) shut(ctx context.Context) error {
	a := d.a
	r, ok := a.barred.Get(d.at.channel)
	if !ok {
		return nil
	}
	may := func(what rest.Permissions) bool {
		return a.permits(d.at.channel, what) || a.permits(d.p.Where.Channel, what)
	}
	d.locked = r.locked
	switch {
	case r.times >= maxRefusals && time.Since(r.at) < barredFor:
		return r.why
	case !r.locked:
		if !may(needed(d.at.channel != d.p.Where.Channel)) {
			return r.why
		}
	case !may(rest.ManageThreads):
		thread, err := a.rest.Channel(ctx, d.at.channel)
		if err != nil {
			d.locked = false
			why := a.refusedBy(ctx, err, d.at.channel, true)
			if rest.Forbidden(err) {
				d.refuse(why)
			}
			return why
		}
		if thread.ThreadMetadata != nil && thread.ThreadMetadata.Locked {
			return r.why
		}
	}
	d.locked = false
	return nil
}

// mayWrite reports whether the bot may write in the channel, so that it was a
// file that was refused; it does if that cannot be found out.
func (d *delivery) mayWrite(ctx context.Context) bool {
	may, err := d.a.mayDo(ctx, d.at.channel)
	if err != nil {
		return true
	}
	d.a.learned(d.at.channel, may, true)
	return may.Has(needed(d.at.channel != d.p.Where.Channel))
}

// refusedBy returns an error of Discord's as the bot knows it. It names the
// permissions that are missing, and what the bot may do there is known or
// forgotten.
func (a *Adapter) refusedBy(ctx context.Context, err error, channel string, thread bool) error {
	if !rest.Forbidden(err) {
		return rest.BotError(err, "")
	}
	a.learned(channel, 0, false)
	if rest.Code(err) == discordgo.ErrCodeMissingAccess {
		return rest.BotError(err, rest.Permissions(0).Missing(rest.ViewChannel)[0])
	}
	missing := rest.Permissions(0).Missing(needed(thread) &^ rest.ViewChannel) // it is seen, or Discord would have said so
	if may, e := a.mayDo(ctx, channel); e == nil {
		a.learned(channel, may, true)
		if m := may.Missing(needed(thread)); len(m) > 0 {
			missing = m
		}
	}
	return rest.BotError(err, strings.Join(missing, ", "))
}
