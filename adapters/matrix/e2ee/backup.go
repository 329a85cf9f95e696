//go:build goolm

package e2ee

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/backup"
	"maunium.net/go/mautrix/crypto/signatures"
	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// This file keeps the keys of Megolm sessions in the account's backup on the server. They
// are encrypted there for a key that lies in the account's secret storage, which the
// recovery key opens: a new device needs nothing else to read what a lost one could.
//
// mautrix encrypts and decrypts the backup and marks in its database which session is in
// which version of it. What goes when is decided here.
//
// Anybody who knows the public key of the backup can write an entry into it that decrypts,
// above all the homeserver; the MAC of the specification says nothing of the entry. So each
// entry has a MAC of our own, for which one needs the backup's private key. Entries without
// it, those of other clients and of earlier versions of Halfpoint among them, are ignored.

// keyBackup is the account's present backup.
type keyBackup struct {
	version id.KeyBackupVersion
	key     *backup.MegolmBackupKey
}

// mark is how the database marks a session that is in the backup with its MAC. Earlier
// versions marked those that they had uploaded, without one, with the version alone: the
// bot uploads them again.
func (b *keyBackup) mark() id.KeyBackupVersion { return b.version + marked }

const marked = " with MAC"

// backedUp is what the backup holds of a session: what the specification says, who has
// sent the key, and the MAC. A device that knows nobody's devices yet cannot tell from the
// session whose it is.
type backedUp struct {
	backup.MegolmSessionData
	Source id.UserID `json:"io.github.halfpoint_go.source,omitempty"`
	MAC    []byte    `json:"io.github.halfpoint_go.mac,omitempty"`
}

// mac authenticates an entry of the backup, with the place where it belongs.
func (b *keyBackup) mac(room id.RoomID, session id.SessionID, data backedUp) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, b.key.Bytes(), nil, "io.github.halfpoint_go.mac of a key backup", sha256.Size)
	if err != nil {
		return nil, err
	}
	whole, err := json.Marshal([]any{room, session, data.Source, data.Algorithm, data.SenderKey, data.SenderClaimedKeys.Ed25519,
		data.SessionKey, strings.Join(data.ForwardingKeyChain, " "), data.SharedHistory})
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	h.Write(whole)
	return h.Sum(nil), nil
}

// errNotOurs says that an entry of the backup was written by somebody who does not have
// its private key, or for another place.
var errNotOurs = errors.New("no valid MAC: the entry is not of this bot, or of an earlier version of it")

const (
	backupBatch = 100              // sessions in one upload
	backupAfter = time.Second      // see Machine
	backupWait  = 10 * time.Second // for an answer while somebody waits for a key
	backupTries = 7                // that fail before a session is taken for missing
	backupSoon  = 2 * time.Minute  // in which a backup that could not be opened is waited for
)

// Backup uses the account's backup from now on, or makes one: new keys are uploaded in the
// background, and [Machine.Decrypt] asks the backup for keys that it lacks. The first of
// the recovery keys that opens the account's secret storage is used. Without one the device
// can still use the backup that it used before. [ErrNoBackup] wraps why there is none; other
// errors are tried again in the background. Call it once.
func (m *Machine) Backup(ctx context.Context, recoveryKeys ...string) error {
	m.recoveryKeys = recoveryKeys
	err := m.openBackup(ctx)
	if err != nil && !errors.Is(err, ErrNoBackup) {
		m.backupBy.Store(m.now().Add(backupSoon).UnixNano())
	}
	m.stopped.Go(func() { m.keepBackup(m.background, err == nil || errors.Is(err, ErrNoBackup), retry.After(err)) })
	return err
}

// openBackup finds the key of the account's present backup, or makes a backup.
func (m *Machine) openBackup(ctx context.Context) error {
	present, err := m.Client.GetKeyBackupLatestVersion(ctx)
	if errors.Is(err, mautrix.MNotFound) {
		present = nil
	} else if errors.Is(err, mautrix.MUnrecognized) {
		return fmt.Errorf("%w: the homeserver has none: %w", ErrNoBackup, err)
	} else if err != nil {
		return fmt.Errorf("ask for the key backup: %w", err)
	}
	known, err := m.knownBackupKey(ctx)
	if err != nil {
		return err
	}
	storage, err := m.openStorage(ctx)
	if errors.Is(err, ErrNoBackup) && opens(known, present) {
		return m.useBackup(ctx, present.Version, known)
	} else if err != nil {
		return err
	}
	stored, err := m.storedBackupKey(ctx, storage)
	if err != nil {
		return err
	}
	key := stored
	if key == nil || opens(known, present) {
		key = known
	}
	if key == nil {
		if key, err = backup.NewMegolmBackupKey(); err != nil {
			return err
		}
	}
	// First the key's storage: a backup that nobody can open is of no use.
	if stored == nil || !stored.Equal(key.PrivateKey) {
		if err := m.olm().SSSS.SetEncryptedAccountData(ctx, event.AccountDataMegolmBackupKey, key.Bytes(), storage); err != nil {
			return fmt.Errorf("key of the backup to secret storage: %w", err)
		}
	}
	if opens(key, present) {
		return m.useBackup(ctx, present.Version, key)
	}
	version, err := m.newBackup(ctx, key)
	if err != nil {
		return err
	}
	m.Log.Info("encryption: new key backup", "version", version, "replaces one that the recovery key does not open", present != nil)
	return m.useBackup(ctx, version, key)
}

// opens reports whether a key is that of a backup.
func opens(key *backup.MegolmBackupKey, present *mautrix.RespRoomKeysVersion[backup.MegolmAuthData]) bool {
	return key != nil && present != nil && present.Algorithm == id.KeyBackupAlgorithmMegolmBackupV1 &&
		strings.TrimRight(present.AuthData.PublicKey.String(), "=") == publicOf(key)
}

func publicOf(key *backup.MegolmBackupKey) string {
	return base64.RawStdEncoding.EncodeToString(key.PublicKey().Bytes())
}

// openStorage returns the key of the account's secret storage.
func (m *Machine) openStorage(ctx context.Context) (*ssss.Key, error) {
	none := fmt.Errorf("%w: it needs the recovery key", ErrNoBackup)
	for _, recoveryKey := range m.recoveryKeys {
		key, err := storageKey(ctx, m.olm().SSSS, recoveryKey)
		if err == nil {
			return key, nil
		} else if !errors.Is(err, ErrRecoveryKey) {
			return nil, err
		}
		none = fmt.Errorf("%w: %w", ErrNoBackup, err)
	}
	return nil, none
}

// storedBackupKey reads the backup's key from secret storage; nil if none is there that
// this storage key opens.
func (m *Machine) storedBackupKey(ctx context.Context, storage *ssss.Key) (*backup.MegolmBackupKey, error) {
	secret, err := m.olm().SSSS.GetDecryptedAccountData(ctx, event.AccountDataMegolmBackupKey, storage)
	switch {
	case errors.Is(err, mautrix.MNotFound):
		return nil, nil
	case errors.As(err, new(mautrix.HTTPError)) || ctx.Err() != nil:
		return nil, fmt.Errorf("key of the backup in secret storage: %w", err)
	case err == nil:
		var key *backup.MegolmBackupKey
		if key, err = backup.MegolmBackupKeyFromBytes(secret); err == nil {
			return key, nil
		}
	}
	m.Log.Warn("encryption: key of the key backup in secret storage unusable, will be replaced", "err", err)
	return nil, nil
}

// knownBackupKey reads the backup's key from the database; nil if it has none.
func (m *Machine) knownBackupKey(ctx context.Context) (*backup.MegolmBackupKey, error) {
	secret, err := m.store().GetSecret(ctx, id.SecretMegolmBackupV1)
	if err != nil {
		return nil, fmt.Errorf("read the key of the key backup: %w", err)
	} else if secret == "" {
		return nil, nil
	}
	bytes, err := base64.RawStdEncoding.DecodeString(secret)
	if err != nil {
		return nil, fmt.Errorf("read the key of the key backup: %w", err)
	}
	return backup.MegolmBackupKeyFromBytes(bytes)
}

// newBackup makes a new version of the backup, signed by this device.
func (m *Machine) newBackup(ctx context.Context, key *backup.MegolmBackupKey) (id.KeyBackupVersion, error) {
	data := backup.MegolmAuthData{PublicKey: id.Ed25519(publicOf(key))}
	m.mu.Lock()
	signature, err := m.olm().GetAccount().SignJSON(struct {
		PublicKey id.Ed25519 `json:"public_key"`
	}{data.PublicKey})
	m.mu.Unlock()
	if err != nil {
		return "", fmt.Errorf("sign the key backup: %w", err)
	}
	data.Signatures = signatures.NewSingleSignature(m.Client.UserID, id.KeyAlgorithmEd25519, m.Client.DeviceID.String(), signature)
	made, err := m.Client.CreateKeyBackupVersion(ctx, &mautrix.ReqRoomKeysVersionCreate[backup.MegolmAuthData]{
		Algorithm: id.KeyBackupAlgorithmMegolmBackupV1, AuthData: data})
	if err != nil {
		return "", fmt.Errorf("make a key backup: %w", err)
	}
	return made.Version, nil
}

// useBackup uses a backup from now on.
func (m *Machine) useBackup(ctx context.Context, version id.KeyBackupVersion, key *backup.MegolmBackupKey) error {
	if err := m.store().PutSecret(ctx, id.SecretMegolmBackupV1, base64.RawStdEncoding.EncodeToString(key.Bytes())); err != nil {
		return fmt.Errorf("store the key of the key backup: %w", err)
	}
	m.backup.Store(&keyBackup{version, key})
	m.keyStored()
	return nil
}

// keyStored says that there may be keys that are not in the backup.
func (m *Machine) keyStored() {
	select {
	case m.unsaved <- struct{}{}:
	default:
	}
}

// keepBackup uploads keys as they come, until ctx is done. If the backup is not ready it
// is opened first, after a wait.
func (m *Machine) keepBackup(ctx context.Context, ready bool, wait time.Duration) {
	failures := 0
	for {
		if ready {
			select {
			case <-ctx.Done():
				return
			case <-m.unsaved:
			}
		}
		if backoff.Sleep(ctx, max(wait, m.backupAfter)) != nil {
			return
		}
		err := guard(func() (err error) {
			if !ready {
				before := m.backup.Load()
				if err := m.openBackup(ctx); err != nil {
					return err
				} else if before == nil {
					m.notify([]arrival{{}}) // all that is missing may be there
				}
			}
			return m.upload(ctx)
		})
		switch {
		case err == nil:
			ready, wait, failures = true, 0, 0
		case errors.Is(err, ErrNoBackup): // the next key tries again
			ready, wait, failures = true, 0, 0
			m.Log.Warn("encryption: keys are not backed up any more", "err", err)
		case ctx.Err() != nil:
			return
		default:
			// Another client may have replaced or deleted the backup, which servers
			// say in different ways.
			ready = false
			failures++
			wait = max(backoff.After(failures, 2*m.backupAfter, 10*time.Minute), retry.After(err))
			m.Log.Warn("encryption: key backup failed, will retry", "again", wait, "err", err)
		}
	}
}

// upload uploads the keys that are not in the backup, and marks them. After a crash in
// between it uploads them again, which changes nothing there.
func (m *Machine) upload(ctx context.Context) error {
	to := m.backup.Load()
	for to != nil {
		var some []*crypto.InboundGroupSession
		err := m.store().GetGroupSessionsWithoutKeyBackupVersion(ctx, to.mark()).Iter(func(s *crypto.InboundGroupSession) (bool, error) {
			some = append(some, s)
			return len(some) < backupBatch, nil
		})
		if err != nil {
			return fmt.Errorf("read keys that are not backed up: %w", err)
		} else if len(some) == 0 {
			return nil
		}
		request := &mautrix.ReqKeyBackup{Rooms: make(map[id.RoomID]mautrix.ReqRoomKeyBackup)}
		for _, s := range some {
			data, err := to.seal(s)
			if err != nil {
				return fmt.Errorf("seal a key for the backup: %w", err)
			}
			if request.Rooms[s.RoomID].Sessions == nil {
				request.Rooms[s.RoomID] = mautrix.ReqRoomKeyBackup{Sessions: make(map[id.SessionID]mautrix.ReqKeyBackupData)}
			}
			request.Rooms[s.RoomID].Sessions[s.ID()] = data
		}
		if _, err := m.Client.PutKeysInBackup(ctx, to.version, request); err != nil {
			return fmt.Errorf("upload keys: %w", err)
		}
		if err := m.markBackedUp(ctx, some, to.mark()); err != nil {
			return fmt.Errorf("mark keys as backed up: %w", err)
		}
		m.Log.Debug("encryption: keys backed up", "keys", len(some), "version", to.version)
	}
	return nil
}

// seal encrypts a session for the backup.
func (b *keyBackup) seal(s *crypto.InboundGroupSession) (data mautrix.ReqKeyBackupData, err error) {
	first := s.Internal.FirstKnownIndex()
	key, err := s.Internal.Export(first)
	if err != nil {
		return data, err
	}
	chain := s.ForwardingChains
	if len(chain) == 0 || len(chain) == 1 && chain[0] == "" {
		chain = []string{}
	}
	entry := backedUp{MegolmSessionData: backup.MegolmSessionData{
		Algorithm: id.AlgorithmMegolmV1, ForwardingKeyChain: chain, SenderKey: s.SenderKey, SessionKey: string(key),
		SenderClaimedKeys: backup.SenderClaimedKeys{Ed25519: s.SigningKey}, SharedHistory: s.SharedHistory,
	}, Source: s.SourceUser}
	if entry.MAC, err = b.mac(s.RoomID, s.ID(), entry); err != nil {
		return data, err
	}
	sealed, err := backup.EncryptSessionData(b.key, entry)
	if err != nil {
		return data, err
	}
	// Of two entries for a session homeservers keep the verified one, so this replaces one
	// without a MAC.
	data = mautrix.ReqKeyBackupData{FirstMessageIndex: int(first), ForwardedCount: len(chain), IsVerified: true}
	data.SessionData, err = json.Marshal(sealed)
	return data, err
}

// markBackedUp marks sessions as uploaded. mautrix marks by id; a better key that has
// come since for the same session is not marked.
func (m *Machine) markBackedUp(ctx context.Context, uploaded []*crypto.InboundGroupSession, mark id.KeyBackupVersion) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.transaction(ctx, func(ctx context.Context) error {
		for _, s := range uploaded {
			now, err := m.store().GetGroupSession(ctx, s.RoomID, s.ID())
			if err != nil {
				return err
			}
			if now == nil || now.Internal.FirstKnownIndex() != s.Internal.FirstKnownIndex() {
				continue
			}
			if err := m.store().SetGroupSessionKeyBackupVersion(ctx, s.ID(), mark); err != nil {
				return err
			}
		}
		return nil
	})
}

// wanted is the key of a session that is asked of the backup.
type wanted struct {
	room    id.RoomID
	session id.SessionID
}

// fetch asks the backup for the key of a session, unless it was asked just now, and stores
// it. An error means that the backup could not be asked: try again.
func (m *Machine) fetch(ctx context.Context, want wanted) error {
	from := m.backup.Load()
	if from == nil && m.now().UnixNano() < m.backupBy.Load() {
		return errBackupLater
	}
	if from == nil || want.session == "" || !m.later.due(want, m.now()) {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, backupWait)
	defer cancel()
	// mautrix would fail at a key that makes no sense as at no answer.
	var answer mautrix.RespKeyBackupData[json.RawMessage]
	_, err := m.Client.MakeRequest(limited, http.MethodGet, m.Client.BuildURLWithQuery(
		mautrix.ClientURLPath{"v3", "room_keys", "keys", want.room, want.session}, map[string]string{"version": from.version.String()}), nil, &answer)
	if errors.Is(err, mautrix.MNotFound) {
		m.later.failed(want, m.now())
		return nil
	} else if err != nil {
		if m.later.failed(unanswered{want}, m.now()) < backupTries {
			return fmt.Errorf("ask the key backup: %w", err)
		}
		m.Log.Warn("encryption: key backup does not answer, key taken for missing", "room", want.room, "session", want.session, "err", err)
		m.later.failed(want, m.now())
		return nil
	}
	m.later.worked(unanswered{want})
	session, err := m.unseal(ctx, from, want, answer.SessionData)
	if err != nil {
		m.Log.Warn("encryption: key in the key backup ignored", "room", want.room, "session", want.session, "err", err)
		m.later.failed(want, m.now())
		return nil
	}
	m.mu.Lock()
	err = m.transaction(ctx, func(ctx context.Context) error { return m.olm().StoreGroupSession(ctx, session) })
	arrived := m.arrived
	m.arrived = nil
	m.mu.Unlock()
	if err != nil {
		return err
	}
	m.later.failed(want, m.now()) // it has no more than that
	m.notify(arrived)
	return nil
}

var errBackupLater = errors.New("the key backup is not open yet")

// unanswered is a failed request to the backup.
type unanswered struct{ wanted }

// unseal decrypts a session from the backup. mautrix panics at some that make no sense.
func (m *Machine) unseal(ctx context.Context, from *keyBackup, want wanted, data json.RawMessage) (s *crypto.InboundGroupSession, err error) {
	err = guard(func() error {
		var sealed backup.EncryptedSessionData[backedUp]
		if err := json.Unmarshal(data, &sealed); err != nil {
			return err
		}
		data, err := sealed.Decrypt(from.key)
		if err != nil {
			return err
		}
		if mac, err := from.mac(want.room, want.session, *data); err != nil {
			return err
		} else if data.Source == "" || !hmac.Equal(mac, data.MAC) {
			return errNotOurs
		}
		data.ForwardingKeyChain = slices.DeleteFunc(data.ForwardingKeyChain, func(key string) bool { return key == "" })
		s, err = m.olm().ImportRoomKeyFromBackupWithoutSaving(ctx, from.mark(), want.room, nil, want.session, &data.MegolmSessionData)
		if err != nil {
			return err
		}
		s.SourceUser = data.Source
		return nil
	})
	return s, err
}
