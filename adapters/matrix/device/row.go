package device

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/bot"
)

const table = `CREATE TABLE IF NOT EXISTS matrix_device (
	user_id        TEXT   NOT NULL PRIMARY KEY,
	homeserver     TEXT   NOT NULL,
	device_id      TEXT   NOT NULL,
	token          TEXT   NOT NULL,
	pickle         TEXT   NOT NULL,
	recovery_key   TEXT   NOT NULL,
	recovery_shown BOOLEAN NOT NULL,
	generation     BIGINT NOT NULL,
	replaced       TEXT   NOT NULL)`

// row is the device as the database has it. There is one.
type row struct {
	user       id.UserID
	homeserver string
	device     id.DeviceID
	token      bot.Secret
	pickle     bot.Secret // random
	recovery   bot.Secret // the account's recovery key, if the bot made it
	shown      bool       // the owner has seen it
	// generation grows at every start and stop, and now and then in between,
	// here and in the account's data on the server.
	generation int64
	replaced   []id.DeviceID // devices before this one, still to be deleted
}

// readRow returns nil if there is none.
func readRow(ctx context.Context, db *dbutil.Database) (*row, error) {
	var r row
	var token, pickle, recovery, replaced string
	err := db.QueryRow(ctx, `SELECT user_id, homeserver, device_id, token, pickle, recovery_key, recovery_shown, generation, replaced FROM matrix_device`).
		Scan(&r.user, &r.homeserver, &r.device, &token, &pickle, &recovery, &r.shown, &r.generation, &replaced)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the matrix device: %w", err)
	}
	r.token, r.pickle, r.recovery = bot.NewSecret(token), bot.NewSecret(pickle), bot.NewSecret(recovery)
	for _, d := range strings.Fields(replaced) {
		r.replaced = append(r.replaced, id.DeviceID(d))
	}
	return &r, nil
}

// save stores the row. With anew set it is another device than before, and the
// keys of the one before are deleted along with it.
func (r *row) save(ctx context.Context, db *dbutil.Database, anew bool) error {
	replaced := make([]string, len(r.replaced))
	for i, d := range r.replaced {
		replaced[i] = string(d)
	}
	return db.DoTxn(ctx, nil, func(ctx context.Context) error {
		if anew {
			if err := e2ee.Forget(ctx, db); err != nil {
				return err
			}
		}
		if _, err := db.Exec(ctx, "DELETE FROM matrix_device"); err != nil {
			return fmt.Errorf("save the matrix device: %w", err)
		}
		_, err := db.Exec(ctx, `INSERT INTO matrix_device (user_id, homeserver, device_id, token, pickle, recovery_key, recovery_shown, generation, replaced)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			r.user, r.homeserver, r.device, r.token.Reveal(), r.pickle.Reveal(), r.recovery.Reveal(), r.shown, r.generation, strings.Join(replaced, " "))
		if err != nil {
			return fmt.Errorf("save the matrix device: %w", err)
		}
		return nil
	})
}

// of says whether the row is of the account that the owner configured.
func (r *row) of(c Config, homeserver string) bool {
	switch {
	case c.User == "":
		return r.homeserver == homeserver
	case strings.HasPrefix(c.User, "@") && strings.Contains(c.User, ":"):
		return strings.EqualFold(r.user.String(), c.User)
	}
	return r.homeserver == homeserver && strings.EqualFold(r.user.Localpart(), strings.TrimPrefix(c.User, "@"))
}

func newPickle() bot.Secret { return bot.NewSecret(rand.Text() + rand.Text()) }
