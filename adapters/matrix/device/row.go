package device

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/internal/secret"
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

// oauthTable is what logins in the browser need besides, for each homeserver.
const oauthTable = `CREATE TABLE IF NOT EXISTS matrix_oauth (
	homeserver    TEXT   NOT NULL PRIMARY KEY,
	client_id     TEXT   NOT NULL,
	refresh_token TEXT   NOT NULL,
	expires       BIGINT NOT NULL)` // the device's token, in Unix milliseconds

// row is the device as the database has it. There is one.
type row struct {
	user       id.UserID
	homeserver string
	device     id.DeviceID
	token      secret.Text
	pickle     secret.Text // random
	recovery   secret.Text // the account's recovery key, if an older version has made it
	// generation grows at every start and stop, and now and then in between,
	// here and in the account's data on the server.
	generation int64
	replaced   []id.DeviceID // devices before this one, still to be deleted
	tokens     tokens        // of a login in the browser
}

// readRow returns nil if there is none.
func readRow(ctx context.Context, db *dbutil.Database) (*row, error) {
	var r row
	var token, pickle, recovery, replaced string
	err := db.QueryRow(ctx, `SELECT user_id, homeserver, device_id, token, pickle, recovery_key, generation, replaced FROM matrix_device`).
		Scan(&r.user, &r.homeserver, &r.device, &token, &pickle, &recovery, &r.generation, &replaced)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the matrix device: %w", err)
	}
	r.token, r.pickle, r.recovery = secret.New(token), secret.New(pickle), secret.New(recovery)
	for _, d := range strings.Fields(replaced) {
		r.replaced = append(r.replaced, id.DeviceID(d))
	}
	if r.tokens, err = readTokens(ctx, db, r.homeserver); err != nil {
		return nil, err
	}
	if !r.tokens.refresh.IsZero() {
		r.tokens.access = r.token
	}
	return &r, nil
}

// readTokens returns the login in the browser at a homeserver, without the access token.
func readTokens(ctx context.Context, db *dbutil.Database, homeserver string) (t tokens, err error) {
	if there, err := db.TableExists(ctx, "matrix_oauth"); err != nil || !there {
		return tokens{}, err
	}
	var refresh string
	var expires int64
	err = db.QueryRow(ctx, "SELECT client_id, refresh_token, expires FROM matrix_oauth WHERE homeserver = $1", homeserver).Scan(&t.client, &refresh, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return tokens{}, nil
	} else if err != nil {
		return tokens{}, fmt.Errorf("read the matrix login: %w", err)
	}
	t.refresh, t.expires = secret.New(refresh), time.UnixMilli(expires)
	return t, nil
}

// saveClient stores the bot's id at a homeserver, and forgets the login there.
func saveClient(ctx context.Context, db *dbutil.Database, homeserver, client string) error {
	return (&row{homeserver: homeserver, tokens: tokens{client: client}}).saveTokens(ctx, db)
}

// saveTokens stores the login, or that there is none.
func (r *row) saveTokens(ctx context.Context, db *dbutil.Database) error {
	if r.tokens.client == "" {
		return nil // the bot has never logged in so
	}
	if _, err := db.Exec(ctx, `INSERT INTO matrix_oauth (homeserver, client_id, refresh_token, expires) VALUES ($1, $2, $3, $4)
		ON CONFLICT (homeserver) DO UPDATE SET client_id = excluded.client_id, refresh_token = excluded.refresh_token, expires = excluded.expires`,
		r.homeserver, r.tokens.client, r.tokens.refresh.Reveal(), r.tokens.expires.UnixMilli()); err != nil {
		return fmt.Errorf("save the matrix login: %w", err)
	}
	return nil
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
			r.user, r.homeserver, r.device, r.token.Reveal(), r.pickle.Reveal(), r.recovery.Reveal(), true, r.generation, strings.Join(replaced, " "))
		if err != nil {
			return fmt.Errorf("save the matrix device: %w", err)
		}
		return r.saveTokens(ctx, db)
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

func newPickle() secret.Text { return secret.New(rand.Text() + rand.Text()) }
