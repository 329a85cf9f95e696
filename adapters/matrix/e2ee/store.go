//go:build goolm

package e2ee

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// ourTables hold what mautrix does not keep: which devices got the key of a
// session for certain, and from which of its messages on; the key requests, with their
// recipients; and which devices know that they have no one-time keys.
var ourTables = []string{
	`CREATE TABLE IF NOT EXISTS matrix_key_sent (
		session_id TEXT NOT NULL, user_id TEXT NOT NULL, identity_key TEXT NOT NULL, message_index BIGINT NOT NULL,
		PRIMARY KEY (session_id, user_id, identity_key))`,
	`CREATE TABLE IF NOT EXISTS matrix_key_asked (
		session_id TEXT NOT NULL PRIMARY KEY, user_id TEXT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS matrix_no_olm (
		user_id TEXT NOT NULL, identity_key TEXT NOT NULL, PRIMARY KEY (user_id, identity_key))`,
}

// cryptoTables are mautrix's and ours, in an order in which rows can be deleted. Which event
// had which message index stays: a new device reads old messages again with keys from the
// backup, and must know a replay of one.
var cryptoTables = []string{
	"matrix_key_sent", "matrix_key_asked", "matrix_no_olm",
	"crypto_account", "crypto_device", "crypto_tracked_user", "crypto_olm_session",
	"crypto_olm_message_hash", "crypto_megolm_inbound_session", "crypto_megolm_outbound_session",
	"crypto_megolm_outbound_session_shared", "crypto_cross_signing_signatures", "crypto_cross_signing_keys",
	"crypto_secrets",
}

// Forget deletes everything of the old device, for a new one to begin. No
// Machine may be open on the database.
func Forget(ctx context.Context, db *dbutil.Database) error {
	return db.DoTxn(ctx, nil, func(ctx context.Context) error {
		for _, table := range cryptoTables {
			there, err := db.TableExists(ctx, table)
			if err == nil && there {
				_, err = db.Exec(ctx, "DELETE FROM "+table)
			}
			if err != nil {
				return fmt.Errorf("delete from %s: %w", table, err)
			}
		}
		return nil
	})
}

// store is mautrix's store with the errors noted that mautrix only logs, and
// with what it lets in refused that nobody asked for. It is used under
// Machine.mu, but for device lists.
type store struct {
	*crypto.SQLCryptoStore
	asks    *sync.Map // see Machine
	failed  error     // the first error since begin
	olmRead bool      // an Olm message was read since begin
	olmSeen bool      // or had been before
}

func (s *store) begin() { s.failed, s.olmRead, s.olmSeen = nil, false, false }

func (s *store) note(err error) error {
	if err != nil && s.failed == nil && !errors.Is(err, crypto.ErrGroupSessionWithheld) {
		s.failed = err
	}
	return err
}

func (s *store) PutAccount(ctx context.Context, a *crypto.OlmAccount) error {
	return s.note(s.SQLCryptoStore.PutAccount(ctx, a))
}

func (s *store) AddSession(ctx context.Context, key id.SenderKey, o *crypto.OlmSession) error {
	return s.note(s.SQLCryptoStore.AddSession(ctx, key, o))
}

func (s *store) UpdateSession(ctx context.Context, key id.SenderKey, o *crypto.OlmSession) error {
	return s.note(s.SQLCryptoStore.UpdateSession(ctx, key, o))
}

func (s *store) GetSessions(ctx context.Context, key id.SenderKey) (crypto.OlmSessionList, error) {
	list, err := s.SQLCryptoStore.GetSessions(ctx, key)
	return list, s.note(err)
}

func (s *store) PutOlmHash(ctx context.Context, hash [32]byte, at time.Time) error {
	s.olmRead = true
	return s.note(s.SQLCryptoStore.PutOlmHash(ctx, hash, at))
}

func (s *store) GetOlmHash(ctx context.Context, hash [32]byte) (time.Time, error) {
	at, err := s.SQLCryptoStore.GetOlmHash(ctx, hash)
	if !at.IsZero() {
		s.olmSeen = true
	}
	return at, s.note(err)
}

// PutGroupSession refuses forwarded keys that were not asked for of the one who
// forwards. mautrix takes them from anybody, and a forged one that comes before
// the true one stays for good: the true one then only changes its label.
func (s *store) PutGroupSession(ctx context.Context, g *crypto.InboundGroupSession) error {
	if g.KeySource == id.KeySourceForward {
		now, asked := s.asks.Load(g.ID()) // before what is written down, which it is next
		var of id.UserID
		err := s.DB.QueryRow(ctx, "SELECT user_id FROM matrix_key_asked WHERE session_id=$1", g.ID()).Scan(&of)
		if errors.Is(err, sql.ErrNoRows) && asked {
			of, err = now.(id.UserID), nil
		}
		if errors.Is(err, sql.ErrNoRows) || err == nil && of != g.SourceUser {
			return nil
		} else if err != nil {
			return s.note(err)
		}
	}
	return s.note(s.SQLCryptoStore.PutGroupSession(ctx, g))
}

func (s *store) GetGroupSession(ctx context.Context, room id.RoomID, session id.SessionID) (*crypto.InboundGroupSession, error) {
	g, err := s.SQLCryptoStore.GetGroupSession(ctx, room, session)
	return g, s.note(err)
}

func (s *store) PutWithheldGroupSession(ctx context.Context, c event.RoomKeyWithheldEventContent) error {
	return s.note(s.SQLCryptoStore.PutWithheldGroupSession(ctx, c))
}

func (s *store) ValidateMessageIndex(ctx context.Context, session id.SessionID, evt id.EventID, index uint, timestamp int64) (bool, error) {
	ok, err := s.SQLCryptoStore.ValidateMessageIndex(ctx, session, evt, index, timestamp)
	return ok, s.note(err)
}

// PutDevices forgets deleted devices whose id is used again with other keys.
// mautrix would keep their old signing key beside the new identity key, and
// nothing encrypted to such a device could be read there.
func (s *store) PutDevices(ctx context.Context, user id.UserID, devices map[id.DeviceID]*id.Device) error {
	return s.DB.DoTxn(ctx, nil, func(ctx context.Context) error {
		for _, d := range devices {
			_, err := s.DB.Exec(ctx, "DELETE FROM crypto_device WHERE user_id=$1 AND device_id=$2 AND deleted=true AND signing_key<>$3",
				user, d.DeviceID, d.SigningKey)
			if err != nil {
				return err
			}
		}
		return s.SQLCryptoStore.PutDevices(ctx, user, devices)
	})
}

// who is a device as others know it: its owner and identity key.
type who struct {
	User id.UserID
	Key  id.IdentityKey
}

// tellsNoOlm notes that a device gets the message that it has no one-time keys, and
// reports whether that is the first.
func (s *store) tellsNoOlm(ctx context.Context, w who) (first bool, err error) {
	res, err := s.DB.Exec(ctx, "INSERT INTO matrix_no_olm (user_id, identity_key) VALUES ($1, $2) ON CONFLICT DO NOTHING", w.User, w.Key)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// hasOlm forgets that a device got the message that it has no one-time keys.
func (s *store) hasOlm(ctx context.Context, w who) error {
	var told bool
	err := s.DB.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM matrix_no_olm WHERE user_id=$1 AND identity_key=$2)", w.User, w.Key).Scan(&told)
	if err == nil && told {
		_, err = s.DB.Exec(ctx, "DELETE FROM matrix_no_olm WHERE user_id=$1 AND identity_key=$2", w.User, w.Key)
	}
	return err
}

// devicesOf returns the devices of some users, in one query for each 500 users.
func (s *store) devicesOf(ctx context.Context, users []id.UserID) (map[who]*id.Device, error) {
	scan := dbutil.ConvertRowFn[*id.Device](func(row dbutil.Scannable) (*id.Device, error) {
		d := new(id.Device)
		return d, row.Scan(&d.UserID, &d.DeviceID, &d.IdentityKey, &d.SigningKey, &d.Trust, &d.Name)
	})
	found := make(map[who]*id.Device)
	for some := range slices.Chunk(users, 500) {
		marks, args := make([]string, len(some)), make([]any, len(some))
		for i, u := range some {
			marks[i], args[i] = fmt.Sprintf("$%d", i+1), u
		}
		list, err := scan.NewRowIter(s.DB.Query(ctx, `SELECT user_id, device_id, identity_key, signing_key, trust, name
			FROM crypto_device WHERE deleted=false AND user_id IN (`+strings.Join(marks, ",")+")", args...)).AsList()
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			found[who{d.UserID, d.IdentityKey}] = d
		}
	}
	return found, nil
}

// holders returns the devices that may have the key of a session (meant) and
// those that it was sent to for certain (sent).
func (s *store) holders(ctx context.Context, session id.SessionID) (meant, sent map[who]bool, err error) {
	scan := dbutil.ConvertRowFn[who](func(row dbutil.Scannable) (w who, err error) {
		err = row.Scan(&w.User, &w.Key)
		return w, err
	})
	read := func(table string) (map[who]bool, error) {
		set := make(map[who]bool)
		err := scan.NewRowIter(s.DB.Query(ctx, "SELECT user_id, identity_key FROM "+table+" WHERE session_id=$1", session)).
			Iter(func(w who) (bool, error) { set[w] = true; return true, nil })
		return set, err
	}
	if meant, err = read("crypto_megolm_outbound_session_shared"); err != nil {
		return nil, nil, err
	}
	sent, err = read("matrix_key_sent")
	return meant, sent, err
}
