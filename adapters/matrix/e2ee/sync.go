//go:build goolm

package e2ee

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/signatures"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// Sync takes in what a sync answer has for this device: to-device events,
// changes of device lists, the number of one-time keys. Call it before the
// events of the answer are handled and before its token is saved: the server
// deletes the to-device events at the next token. It may be called again with
// the same answer, also after a crash. An error loses nothing: call it again.
func (m *Machine) Sync(ctx context.Context, resp *mautrix.RespSync, since string) error {
	for _, evt := range resp.ToDevice.Events {
		if err := m.toDevice(ctx, evt); err != nil {
			return fmt.Errorf("store a to-device event: %w", err)
		}
	}
	if err := m.deviceLists(ctx, &resp.DeviceLists, since); err != nil {
		return fmt.Errorf("update device lists: %w", err)
	}
	for room := range resp.Rooms.Leave { // nobody says who comes and goes there from now on
		m.fresh.roomChanged(room)
	}
	// The hashes by which a repeated Olm message is known are dropped after some
	// save points; the same answer again is not one.
	if since != m.since {
		m.olm().MarkOlmHashSavePoint(ctx)
		m.since = since
	}
	// Never upload on the answer's word: servers leave the count out when it has
	// not changed, and keys above our 100 push out keys that others hold.
	const enough = 50
	if resp.DeviceOTKCount.SignedCurve25519 < enough && m.now().Sub(m.otkCheck) > 10*time.Second {
		m.otkCheck = m.now()
		if err := m.uploadOneTimeKeys(ctx); err != nil {
			m.Log.Warn("encryption: uploading one-time keys failed", "err", err)
			m.otkCheck = time.Time{}
		}
	}
	return nil
}

// uploadOneTimeKeys makes the one-time keys that the server lacks, and uploads them.
// mautrix's ShareKeys does so, too, but nothing else may touch the account while it
// waits for the server.
func (m *Machine) uploadOneTimeKeys(ctx context.Context) error {
	there, err := m.Client.UploadKeys(ctx, &mautrix.ReqUploadKeys{})
	if err != nil {
		return fmt.Errorf("count one-time keys: %w", err)
	}
	keys := make(map[id.KeyID]mautrix.OneTimeKey)
	err = m.changeAccount(ctx, func(account *crypto.OlmAccount) error {
		// Those that an upload before has left are as good as new ones.
		left, err := account.Internal.OneTimeKeys()
		if err != nil {
			return err
		}
		if n := int(account.Internal.MaxNumberOfOneTimeKeys()/2) - there.OneTimeKeyCounts.SignedCurve25519 - len(left); n > 0 {
			if err := account.Internal.GenOneTimeKeys(uint(n)); err != nil {
				return err
			}
			if left, err = account.Internal.OneTimeKeys(); err != nil {
				return err
			}
		}
		for name, public := range left {
			key := mautrix.OneTimeKey{Key: public, IsSigned: true}
			signature, err := account.SignJSON(&key)
			if err != nil {
				return err
			}
			key.Signatures = signatures.NewSingleSignature(m.Client.UserID, id.KeyAlgorithmEd25519, m.Client.DeviceID.String(), signature)
			keys[id.NewKeyID(id.KeyAlgorithmSignedCurve25519, name)] = key
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	if _, err := m.Client.UploadKeys(ctx, &mautrix.ReqUploadKeys{OneTimeKeys: keys}); err != nil {
		return err
	}
	return m.changeAccount(ctx, func(account *crypto.OlmAccount) error {
		account.Internal.MarkKeysAsPublished()
		return nil
	})
}

// changeAccount changes the device's account, and stores it.
func (m *Machine) changeAccount(ctx context.Context, change func(*crypto.OlmAccount) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.transaction(ctx, func(ctx context.Context) error {
		account := m.olm().GetAccount()
		if err := change(account); err != nil {
			return err
		}
		return m.store().PutAccount(ctx, account)
	})
}

// stuck counts how often the database has refused the same event.
type stuck struct {
	event [32]byte
	times int
}

// toDevice takes in one event, with the key it brings and the message's hash in
// one transaction. mautrix stores the hash first and the key last; a crash
// between the two would lose the key, for the hash makes it skip the event.
func (m *Machine) toDevice(ctx context.Context, evt *event.Event) error {
	evt.Type.Class = event.ToDeviceEventType
	if evt.Content.Parsed == nil { // it is parsed at a second call
		if err := evt.Content.ParseRaw(evt.Type); err != nil {
			m.Log.Debug("encryption: to-device event could not be parsed", "type", evt.Type.Type, "sender", evt.Sender, "err", err)
			return nil
		}
	}
	switch content := evt.Content.Parsed.(type) {
	case *event.EncryptedEventContent:
		if content.Algorithm != id.AlgorithmOlmV1 {
			return nil
		}
		return m.receive(ctx, evt, content)
	case *event.RoomKeyWithheldEventContent:
		return m.withheld(ctx, evt, content)
	case *event.RoomKeyRequestEventContent:
		// mautrix answers in a goroutine per request, with this context.
		if content.Action == event.KeyRequestActionRequest {
			sender, request := evt.Sender, *content
			m.chore(func(ctx context.Context) { m.answerKeyRequest(ctx, sender, &request) })
		}
	}
	// Nothing else: secrets are not asked for and not given.
	return nil
}

func (m *Machine) receive(ctx context.Context, evt *event.Event, content *event.EncryptedEventContent) error {
	m.mu.Lock()
	_, ours := content.OlmCiphertext[m.olm().GetAccount().IdentityKey()]
	if !ours {
		m.mu.Unlock()
		return nil
	}
	err := m.transaction(ctx, func(ctx context.Context) error {
		m.olm().HandleToDeviceEvent(ctx, evt)
		return nil
	})
	arrived, read := m.arrived, m.store().olmRead || m.store().olmSeen
	m.arrived = nil
	m.mu.Unlock()

	switch {
	case errors.As(err, new(errPanic)):
		m.Log.Error("encryption: to-device event skipped", "sender", evt.Sender, "err", err)
		return nil
	case err != nil:
		return m.giveUp(ctx, evt, err)
	case !read:
		sender, key := evt.Sender, content.SenderKey
		m.chore(func(ctx context.Context) { m.mend(ctx, sender, key) })
	default:
		m.uses.Add(1)
	}
	m.notify(arrived)
	if read {
		return m.canReach(ctx, who{evt.Sender, content.SenderKey})
	}
	return nil
}

// giveUp lets an event pass that the database has refused five times though it
// takes other things, so that one hostile event cannot hold up all.
func (m *Machine) giveUp(ctx context.Context, evt *event.Event, err error) error {
	if ctx.Err() != nil {
		return err
	}
	probe := m.DB.DoTxn(ctx, nil, func(ctx context.Context) error {
		_, err := m.DB.Exec(ctx, "INSERT INTO matrix_key_asked (session_id, user_id) VALUES ('probe', 'probe')")
		if err == nil {
			_, err = m.DB.Exec(ctx, "DELETE FROM matrix_key_asked WHERE session_id='probe'")
		}
		return err
	})
	if probe != nil {
		return err
	}
	hash := sha256.Sum256(evt.Content.VeryRaw)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stuck.event != hash {
		m.stuck = stuck{event: hash}
	}
	if m.stuck.times++; m.stuck.times < 5 {
		return err
	}
	m.Log.Error("encryption: to-device event skipped after five attempts", "sender", evt.Sender, "err", err)
	m.stuck = stuck{}
	return nil
}

// withheld notes that a sender will not give a key. mautrix takes that from
// anybody about any session; we take it from the owner of the key it names.
func (m *Machine) withheld(ctx context.Context, evt *event.Event, content *event.RoomKeyWithheldEventContent) error {
	if content.SessionID == "" || content.RoomID == "" { // m.no_olm may come without
		return nil
	}
	m.mu.Lock()
	err := m.transaction(ctx, func(ctx context.Context) error {
		device, err := m.store().FindDeviceByKey(ctx, evt.Sender, content.SenderKey)
		if err == nil && device != nil {
			m.olm().HandleRoomKeyWithheld(ctx, content)
		}
		return err
	})
	m.mu.Unlock()
	if err != nil {
		return m.giveUp(ctx, evt, err)
	}
	return nil
}

// deviceLists marks the changed ones in the database; the machine fetches them before it
// encrypts the next message. mautrix asks at once, and when that fails only
// logs it: the change would be lost with the token.
func (m *Machine) deviceLists(ctx context.Context, lists *mautrix.DeviceLists, since string) error {
	if since != "" && len(lists.Changed)+len(lists.Left) == 0 {
		return nil
	}
	// Before and after: lists asked for before must not pass as newer than this,
	// and a look at the marks between the two must be repeated.
	if since == "" { // all may have changed, and no answer says so
		m.fresh.clear()
		defer m.fresh.clear()
		_, err := m.DB.Exec(ctx, "UPDATE crypto_tracked_user SET devices_outdated=true")
		return err
	}
	users := slices.Concat(lists.Changed, lists.Left)
	m.fresh.usersChanged(users...)
	defer m.fresh.usersChanged(users...)
	for _, u := range lists.Changed {
		m.later.worked(u)
	}
	return m.store().MarkTrackedUsersOutdated(ctx, users)
}

// mend makes a new Olm session with a device whose message could not be read,
// and tells it by an empty message to use that; at most once an hour.
func (m *Machine) mend(ctx context.Context, user id.UserID, key id.IdentityKey) {
	device, err := m.store().FindDeviceByKey(ctx, user, key)
	if err == nil && device == nil {
		if !m.later.due(user, m.now()) {
			return
		}
		if _, err = m.fetchKeys(ctx, []id.UserID{user}); err == nil {
			device, err = m.store().FindDeviceByKey(ctx, user, key)
		}
		if err != nil || device == nil {
			m.later.failed(user, m.now())
		}
	}
	if err != nil || device == nil {
		m.Log.Info("encryption: unreadable to-device event from an unknown device, ignored", "sender", user, "err", err)
		return
	}
	m.mu.Lock()
	last, err := m.store().GetNewestSessionCreationTS(ctx, key)
	m.mu.Unlock()
	if err != nil || m.now().Sub(last) < crypto.MinUnwedgeInterval || !m.later.due(mending{key}, m.now()) {
		return
	}
	m.later.failed(mending{key}, m.now())
	m.Log.Info("encryption: messages of a device cannot be decrypted, will open a new session", "user", user, "device", device.DeviceID)
	if _, err := m.claim(ctx, []*id.Device{device}, true); err != nil {
		m.Log.Warn("encryption: opening a new session failed", "user", user, "device", device.DeviceID, "err", err)
		return
	}
	if _, err := m.send(ctx, []*id.Device{device}, event.ToDeviceDummy, &event.Content{Raw: map[string]any{}}); err != nil {
		m.Log.Warn("encryption: opening a new session failed", "user", user, "device", device.DeviceID, "err", err)
	}
}

type mending struct{ key id.IdentityKey }
