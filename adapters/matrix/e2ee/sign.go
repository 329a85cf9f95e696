//go:build goolm

package e2ee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/signatures"
	"maunium.net/go/mautrix/crypto/ssss"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// identity is what the server says of our cross-signing. (mautrix answers from
// its database, which does not learn that the owner has reset it elsewhere.)
type identity struct {
	exists bool // there are a master and a self-signing key, the second signed by the first
	signed bool // and this device is signed
	master id.Ed25519
	self   id.Ed25519
}

func (m *Machine) identity(ctx context.Context) (identity, error) {
	user, device := m.Client.UserID, m.Client.DeviceID
	answer, err := m.Client.QueryKeys(ctx, &mautrix.ReqQueryKeys{
		DeviceKeys: mautrix.DeviceKeysRequest{user: {}}, Timeout: 10_000,
	})
	if err != nil {
		return identity{}, fmt.Errorf("ask for the account's keys: %w", err)
	}
	master, self := answer.MasterKeys[user], answer.SelfSigningKeys[user]
	i := identity{master: master.FirstKey(), self: self.FirstKey()}
	if i.master == "" || i.self == "" {
		return i, nil
	}
	if i.exists, err = signatures.VerifySignatureJSON(self, user, i.master.String(), i.master); err != nil || !i.exists {
		return i, nil //nolint:nilerr // a signature that cannot be read is none
	}
	keys, ok := answer.DeviceKeys[user][device]
	if ok && keys.Keys.GetEd25519(device) == m.olm().GetAccount().SigningKey() {
		i.signed, err = signatures.VerifySignatureJSON(keys, user, i.self.String(), i.self)
		i.signed = i.signed && err == nil
	}
	return i, nil
}

// Signed says whether this device is signed by its account on the server.
func (m *Machine) Signed(ctx context.Context) (bool, error) {
	i, err := m.identity(ctx)
	return i.exists && i.signed, err
}

// CrossSign sees that this device is signed by its account; call it at every
// start, before anything else is done with the machine. If it is, nothing happens. With the recovery key the account's signing
// keys are fetched and used. With the password alone new ones are made, and
// their recovery key is returned, for the owner to keep.
func (m *Machine) CrossSign(ctx context.Context, c CrossSignConfig) (newRecoveryKey string, err error) {
	now, err := m.identity(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case now.exists && now.signed:
		return "", nil
	case now.exists && c.RecoveryKey != "":
		err = m.recover(ctx, now, c.RecoveryKey)
		// Storage with other keys than the server shows was left by a crash in newIdentity.
		if errors.Is(err, ErrOtherIdentity) && c.Password != "" {
			newRecoveryKey, err = m.newIdentity(ctx, c)
		}
	case now.exists && c.Password == "":
		return "", ErrPasswordNeeded
	default:
		newRecoveryKey, err = m.newIdentity(ctx, c)
	}
	if err != nil {
		return newRecoveryKey, err
	}
	if ok, err := m.Signed(ctx); err != nil {
		return newRecoveryKey, err
	} else if !ok {
		return newRecoveryKey, errors.New("the server does not show the signature that it took")
	}
	return newRecoveryKey, nil
}

// Opens reports whether a recovery key opens the account's secret storage: nil,
// or ErrRecoveryKey. It reads only.
func Opens(ctx context.Context, client *mautrix.Client, recoveryKey string) error {
	_, err := storageKey(ctx, ssss.NewSSSSMachine(client), recoveryKey)
	return err
}

// storageKey returns the key of the account's secret storage.
func storageKey(ctx context.Context, storage *ssss.Machine, recoveryKey string) (*ssss.Key, error) {
	keyID, data, err := storage.GetDefaultKeyData(ctx)
	if err != nil {
		return nil, fmt.Errorf("secret storage: %w", err)
	}
	key, err := data.VerifyRecoveryKey(keyID, recoveryKey)
	if err != nil {
		return nil, ErrRecoveryKey // not wrapped: it may hold the key
	}
	return key, nil
}

// recover fetches the private keys from the account's secret storage.
func (m *Machine) recover(ctx context.Context, now identity, recoveryKey string) error {
	key, err := storageKey(ctx, m.olm().SSSS, recoveryKey)
	if err != nil {
		return err
	}
	if err := m.olm().FetchCrossSigningKeysFromSSSS(ctx, key); err != nil {
		return fmt.Errorf("cross-signing keys in secret storage: %w", err)
	}
	// mautrix takes what it finds for the account's present keys.
	if public := m.olm().CrossSigningKeys.PublicKeys(); public.MasterKey != now.master || public.SelfSigningKey != now.self {
		return ErrOtherIdentity
	}
	return m.signDevice(ctx)
}

// newIdentity makes cross-signing keys and secret storage for them. The order
// is such that a crash leaves nothing that counts, or what recover can use or
// what is made anew. When the server refuses, the storage is put back.
func (m *Machine) newIdentity(ctx context.Context, c CrossSignConfig) (recoveryKey string, err error) {
	key, err := m.olm().SSSS.GenerateAndUploadKey(ctx, "")
	if err != nil {
		return "", fmt.Errorf("secret storage: %w", err)
	}
	keys, err := m.olm().GenerateCrossSigningKeys()
	if err != nil {
		return "", err
	}
	putBack, err := m.secretStorage(ctx)
	if err != nil {
		return "", fmt.Errorf("secret storage: %w", err)
	}
	defer func() {
		if err != nil {
			putBack()
		}
	}()
	if c.Keep != nil {
		if err := c.Keep(key.RecoveryKey()); err != nil {
			return "", fmt.Errorf("keep the recovery key: %w", err)
		}
	}
	if err := m.olm().UploadCrossSigningKeysToSSSS(ctx, key, keys); err != nil {
		return "", fmt.Errorf("cross-signing keys to secret storage: %w", err)
	}
	if err := m.olm().SSSS.SetDefaultKeyID(ctx, key.ID); err != nil {
		return "", fmt.Errorf("secret storage: %w", err)
	}
	asked := false
	err = m.olm().PublishCrossSigningKeys(ctx, keys, func(ui *mautrix.RespUserInteractive) any {
		asked = true
		if c.Password == "" {
			return nil
		}
		return &mautrix.ReqUIAuthLogin{
			BaseAuthData: mautrix.BaseAuthData{Type: mautrix.AuthTypePassword, Session: ui.Session},
			User:         m.Client.UserID.String(), Password: c.Password,
		}
	})
	switch {
	case err != nil && asked && c.Password == "":
		return "", ErrPasswordNeeded
	case err != nil && asked && isRefusal(err):
		return "", fmt.Errorf("%w: %w", ErrPasswordWrong, err)
	case err != nil:
		return "", fmt.Errorf("upload cross-signing keys: %w", err)
	}
	if again := m.signDevice(ctx); again != nil { // not err: the storage is right now
		return key.RecoveryKey(), again
	}
	return key.RecoveryKey(), nil
}

// secretStorage reads what newIdentity replaces in the account's data, and
// returns what puts it back.
func (m *Machine) secretStorage(ctx context.Context) (putBack func(), err error) {
	before := make(map[string]json.RawMessage)
	for _, t := range []event.Type{event.AccountDataSecretStorageDefaultKey, event.AccountDataCrossSigningMaster,
		event.AccountDataCrossSigningSelf, event.AccountDataCrossSigningUser} {
		var content json.RawMessage
		err := m.Client.GetAccountData(ctx, t.Type, &content)
		if errors.Is(err, mautrix.MNotFound) {
			continue
		} else if err != nil {
			return nil, err
		}
		before[t.Type] = content
	}
	return func() {
		for t, content := range before {
			if err := m.Client.SetAccountData(context.WithoutCancel(ctx), t, content); err != nil {
				m.Log.Error("encryption: restoring secret storage failed", "type", t, "err", err)
			}
		}
	}, nil
}

func isRefusal(err error) bool {
	var http mautrix.HTTPError
	return errors.As(err, &http) && (http.IsStatus(401) || http.IsStatus(403))
}

// signDevice signs this device with the account's key and the account's master
// key with this device's.
func (m *Machine) signDevice(ctx context.Context) error {
	if err := m.olm().SignOwnDevice(ctx, m.olm().OwnIdentity()); err != nil {
		return fmt.Errorf("sign the device: %w", err)
	}
	if err := m.olm().SignOwnMasterKey(ctx); err != nil {
		return fmt.Errorf("sign the master key: %w", err)
	}
	// mautrix keeps our device keys as they were before the signature, and sends
	// them so with each message. The private signing keys need not stay either.
	if _, err := m.fetchKeys(ctx, []id.UserID{m.Client.UserID}); err != nil {
		return fmt.Errorf("ask for the account's keys: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.load(ctx, false)
}
