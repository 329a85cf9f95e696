package device

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// This file keeps two bots from using one account. Each would take the other's device and
// cross-signing keys for leftovers of a lost database, and replace them.
//
// While it runs a bot writes into the mark in the account's data that it lives, every
// beatEvery. A bot whose database is elsewhere than that of the last one, or lacks what that
// has written, watches the mark before it changes anything: if it changes, another bot is
// alive, and this one stops. The clocks of the two do not matter. A bot that finds the mark of another in place of its own,
// because both took the last one for dead, stops too.

const (
	beatEvery  = 20 * time.Second
	watchEvery = 2 * time.Second
	watchFor   = 50 * time.Second // for two beats and the time that they take
	settleFor  = time.Second      // see Config.Settle
)

// ErrTwin says that another Halfpoint uses the account.
var ErrTwin = errors.New("another Halfpoint is running with this account")

// twin returns the error of finding another bot alive, by the mark that it has written.
func (d *Device) twin(by mark) error {
	which := "which is starting, too"
	if by.Device != "" {
		which = "device " + by.Device.String()
	}
	return fmt.Errorf("matrix.user: %w (%s, %s), so this one stops and has changed nothing; stop the other one, or give each an account of its own",
		ErrTwin, d.Client.UserID, which)
}

// placeOf names where a database is: the machine and the file, or the cluster of PostgreSQL and
// the database in it, hashed. Two containers can have the same.
func (c *Config) placeOf(ctx context.Context) (string, error) {
	if c.DB.Dialect == dbutil.Postgres {
		var place string
		err := c.DB.QueryRow(ctx, "SELECT system_identifier || ' ' || current_database() || ' ' || current_schema() FROM pg_control_system()").Scan(&place)
		if err != nil {
			return "", fmt.Errorf("find out where the database is: %w", err)
		}
		return hashed(place), nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("get the name of this machine: %w", err)
	}
	var n int
	var name, file string
	if err := c.DB.QueryRow(ctx, "PRAGMA database_list").Scan(&n, &name, &file); err != nil {
		return "", fmt.Errorf("find out where the database is: %w", err)
	}
	return hashed(host + "\x00" + file), nil
}

func hashed(place string) string {
	sum := sha256.Sum256([]byte(place))
	return hex.EncodeToString(sum[:8])
}

// elsewhere reports whether the last bot had its database elsewhere than this one, as far as
// is known.
func (d *Device) elsewhere(there mark) bool { return there.Place != "" && there.Place != d.place }

// claim makes the account this bot's, before it changes anything there, or returns [ErrTwin].
// There is the mark as it was found.
func (d *Device) claim(ctx context.Context, there mark) error {
	if d.claimed {
		return nil
	}
	if there.Beat != 0 {
		if d.config.Waiting != nil {
			d.config.Waiting(ctx)
		}
		d.config.Log.Warn("matrix: another Halfpoint has used this account and did not say that it ended, waiting to see whether it still runs",
			"device", there.Device, "seen", time.UnixMilli(there.Beat).UTC(), "for", watchFor)
		for range watchFor / watchEvery {
			if err := backoff.Sleep(ctx, watchEvery); err != nil {
				return err
			} else if now, err := d.readMark(ctx); err != nil {
				return err
			} else if now != there {
				return d.twin(now)
			}
		}
	}
	began := time.Now()
	if now, err := d.readMark(ctx); err != nil {
		return err
	} else if now != there {
		return d.twin(now)
	}
	mine := there
	mine.Run, mine.Place, mine.Term, mine.Beat = d.run, d.place, d.config.Term, time.Now().UnixMilli()
	d.claimed = true // also if the homeserver stores it and does not say so
	if err := d.writeMark(ctx, mine); err != nil {
		return err
	}
	// Another one that starts at this moment may have read the same, and its claim may
	// come later: then that stands.
	if err := backoff.Sleep(ctx, max(d.config.Settle, 4*time.Since(began))); err != nil {
		return err
	}
	if now, err := d.readMark(ctx); err != nil {
		return err
	} else if now.Run != d.run {
		return d.twin(now)
	}
	return nil
}

// release takes back the claim of a start that has failed, so that the next start does not
// wait for it. It needs the login.
func (d *Device) release(ctx context.Context) {
	if !d.claimed {
		return
	}
	d.claimed = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	there, err := d.readMark(ctx)
	if err == nil && there.Run == d.run {
		there.Beat = 0
		err = d.writeMark(ctx, there)
	}
	if err != nil {
		d.config.Log.Info("matrix: the account stays claimed by this start; the next one waits for a while", "for", watchFor, "err", d.config.clean(err))
	}
}

// holds returns [ErrTwin], and closes taken, if another bot has put its mark in place of this
// one's. The mark of a process that had the account before this one, with the same database, does
// not count: it was stopped while it wrote.
func (d *Device) holds(ctx context.Context) error {
	there, err := d.readMark(ctx)
	if err != nil || there.Run == d.run || there.Place == d.place && there.Term < d.config.Term {
		return err
	}
	d.lost.Do(func() { close(d.taken) })
	return d.twin(there)
}

// Taken returns a channel that is closed when another Halfpoint has taken the account over.
// Nothing must be done with the device then but to close it.
func (d *Device) Taken() <-chan struct{} { return d.taken }

// write writes the mark, with the time if the bot keeps running, unless another bot has
// taken the account over.
func (d *Device) write(ctx context.Context, device id.DeviceID, generation int64, alive bool) error {
	if d.claimed {
		if err := d.holds(ctx); err != nil {
			return err
		}
	}
	m := mark{Device: device, Generation: generation, Made: d.made, Run: d.run, Place: d.place, Term: d.config.Term}
	if alive {
		m.Beat = time.Now().UnixMilli()
	}
	if err := d.writeMark(ctx, m); err != nil {
		return err
	}
	d.claimed = true
	return nil
}
