//go:build goolm

package e2ee

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/olm"
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
		return identity{}, fmt.Errorf("get the account's keys: %w", err)
	}
	i := identityOf(answer, user, device)
	keys := answer.DeviceKeys[user][device]
	i.signed = i.signed && keys.Keys.GetEd25519(device) == m.olm().GetAccount().SigningKey()
	return i, nil
}

// identityOf reads the homeserver's answer.
func identityOf(answer *mautrix.RespQueryKeys, user id.UserID, device id.DeviceID) identity {
	master, self := answer.MasterKeys[user], answer.SelfSigningKeys[user]
	i := identity{master: master.FirstKey(), self: self.FirstKey()}
	if i.master == "" || i.self == "" {
		return i
	}
	// A signature that cannot be read is none.
	by := func(signed any, key id.Ed25519) bool {
		ok, err := signatures.VerifySignatureJSON(signed, user, key.String(), key)
		return ok && err == nil
	}
	i.exists = by(self, i.master)
	keys, there := answer.DeviceKeys[user][device]
	i.signed = i.exists && there && by(keys, i.self)
	return i
}

// SignedBy reports whether a device is signed by its account, by what the homeserver
// answers.
func SignedBy(answer *mautrix.RespQueryKeys, user id.UserID, device id.DeviceID) bool {
	return identityOf(answer, user, device).signed
}

// Signed says whether this device is signed by its account on the server.
func (m *Machine) Signed(ctx context.Context) (bool, error) {
	i, err := m.identity(ctx)
	return i.exists && i.signed, err
}

// Master returns the public master key of the account; empty: cross-signing is not set up.
func (m *Machine) Master(ctx context.Context) (id.Ed25519, error) {
	i, err := m.identity(ctx)
	return i.master, err
}

// CrossSign sees that this device is signed by its account; call it at every start,
// before anything else is done with the machine. If the device is signed, nothing
// happens. With the recovery key CrossSign fetches the account's signing keys and uses
// them. Without it CrossSign makes new ones and returns their recovery key, for the
// owner to keep: freely if the account has none, else only if c.Replace agrees.
//
// When the homeserver wants the owner's approval first, the error is an [ErrApproval].
// Each further call then uploads the same keys again, whatever c says.
func (m *Machine) CrossSign(ctx context.Context, c CrossSignConfig) (newRecoveryKey string, err error) {
	now, err := m.identity(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case now.exists && now.signed:
		m.pending = nil
		return "", nil
	case m.pending != nil:
		newRecoveryKey, err = m.publish(ctx, now, m.pending, c.Password)
	case now.exists && c.RecoveryKey != "":
		newRecoveryKey, err = m.recover(ctx, now, c)
	case now.exists && (c.Replace == nil || !c.Replace(now.master)):
		return "", ErrIdentity
	default:
		newRecoveryKey, err = m.newIdentity(ctx, now, c)
	}
	if err != nil {
		return newRecoveryKey, err
	}
	if ok, err := m.Signed(ctx); err != nil {
		return newRecoveryKey, err
	} else if !ok {
		return newRecoveryKey, errors.New("homeserver accepted the device's signature but does not return it")
	}
	return newRecoveryKey, nil
}

// Opens reports whether a recovery key opens the account's secret storage and in it the
// account's present master key: nil, [ErrRecoveryKey] or [ErrOtherIdentity]. It reads only.
func Opens(ctx context.Context, client *mautrix.Client, recoveryKey string, master id.Ed25519) error {
	key, err := storageKey(ctx, ssss.NewSSSSMachine(client), recoveryKey)
	if err != nil {
		return err
	}
	stored, err := secret(ctx, client, event.AccountDataCrossSigningMaster)
	if err != nil {
		return err
	}
	seed, err := stored.Decrypt(event.AccountDataCrossSigningMaster.Type, key)
	if err != nil {
		return ErrRecoveryKey
	}
	if pair, err := olm.NewPKSigningFromSeed(seed); err != nil || pair.PublicKey() != master {
		return ErrOtherIdentity
	}
	return nil
}

// storageKey returns the key of the account's secret storage: the default one, or
// another for which the master key is encrypted.
func storageKey(ctx context.Context, storage *ssss.Machine, recoveryKey string) (*ssss.Key, error) {
	keyID, err := storage.GetDefaultKeyID(ctx)
	if err != nil && !errors.Is(err, ssss.ErrNoDefaultKeyID) {
		return nil, fmt.Errorf("secret storage: %w", err)
	}
	master, err := secret(ctx, storage.Client, event.AccountDataCrossSigningMaster)
	if err != nil {
		return nil, err
	}
	ids := slices.Sorted(maps.Keys(master.Encrypted))
	if keyID != "" {
		ids = append([]string{keyID}, ids...)
	}
	for _, keyID := range slices.Compact(ids) {
		data, err := storage.GetKeyData(ctx, keyID)
		if errors.Is(err, mautrix.MNotFound) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("secret storage: %w", err)
		}
		if key, err := data.VerifyRecoveryKey(keyID, recoveryKey); err == nil {
			return key, nil
		}
	}
	return nil, ErrRecoveryKey // without the cause, which may hold the key
}

// secret reads a secret of the account's storage, encrypted as it is; empty if there
// is none.
func secret(ctx context.Context, client *mautrix.Client, name event.Type) (content ssss.EncryptedAccountDataEventContent, err error) {
	err = client.GetAccountData(ctx, name.Type, &content)
	if err != nil && !errors.Is(err, mautrix.MNotFound) {
		return content, fmt.Errorf("secret storage: %w", err)
	}
	return content, nil
}

// recover fetches the private keys from the account's secret storage. Keys that the
// account does not have (yet) were left there by newIdentity.
func (m *Machine) recover(ctx context.Context, now identity, c CrossSignConfig) (newRecoveryKey string, err error) {
	key, err := storageKey(ctx, m.olm().SSSS, c.RecoveryKey)
	if err != nil {
		return "", err
	}
	if err := m.olm().FetchCrossSigningKeysFromSSSS(ctx, key); errors.Is(err, ssss.ErrNotEncryptedForKey) {
		return "", ErrRecoveryKey
	} else if err != nil {
		return "", fmt.Errorf("read cross-signing keys from secret storage: %w", err)
	}
	keys := *m.olm().CrossSigningKeys
	// mautrix takes what it finds for the account's present keys.
	present := keys.MasterKey.PublicKey() == now.master && keys.SelfSigningKey.PublicKey() == now.self
	if !present && (c.Replace == nil || !c.Replace(now.master)) {
		return "", ErrOtherIdentity
	}
	if present && c.Replace == nil { // the owner's
		return "", m.signDevice(ctx)
	}
	return m.publish(ctx, now, &newKeys{storage: key, CrossSigningKeysCache: keys}, c.Password)
}

// newKeys are cross-signing keys that are in secret storage, but perhaps not yet the
// account's.
type newKeys struct {
	crypto.CrossSigningKeysCache
	storage *ssss.Key

	session  string // the session of the request for approval
	approval ErrApproval
	asked    time.Time // since when
}

// newIdentity makes cross-signing keys and puts them into secret storage, beside what
// is there: until the account has them, every older recovery key opens the older ones,
// and a crash leaves either keys that recover can use or nothing that counts.
func (m *Machine) newIdentity(ctx context.Context, now identity, c CrossSignConfig) (recoveryKey string, err error) {
	key, err := m.olm().SSSS.GenerateAndUploadKey(ctx, "")
	if err != nil {
		return "", fmt.Errorf("secret storage: %w", err)
	}
	keys, err := m.olm().GenerateCrossSigningKeys()
	if err != nil {
		return "", err
	}
	if c.Keep != nil {
		if err := c.Keep(key.RecoveryKey()); err != nil {
			return "", fmt.Errorf("store the recovery key: %w", err)
		}
	}
	for _, s := range []struct {
		name event.Type
		seed []byte
	}{ // the master key last: with it all are there
		{event.AccountDataCrossSigningSelf, keys.SelfSigningKey.Seed()},
		{event.AccountDataCrossSigningUser, keys.UserSigningKey.Seed()},
		{event.AccountDataCrossSigningMaster, keys.MasterKey.Seed()},
	} {
		content, err := secret(ctx, m.Client, s.name)
		if err != nil {
			return "", err
		}
		if content.Encrypted == nil {
			content.Encrypted = map[string]ssss.EncryptedKeyData{}
		}
		content.Encrypted[key.ID] = key.Encrypt(s.name.Type, s.seed)
		if err := m.Client.SetAccountData(ctx, s.name.Type, content); err != nil {
			return "", fmt.Errorf("write cross-signing keys to secret storage: %w", err)
		}
	}
	return m.publish(ctx, now, &newKeys{storage: key, CrossSigningKeysCache: *keys}, c.Password)
}

// approvalFor is how long an approval, and the session of its request, are valid at
// least.
const approvalFor = 10 * time.Minute

// publish makes keys in secret storage those of the account, and signs this device
// with them. It returns their recovery key.
func (m *Machine) publish(ctx context.Context, now identity, keys *newKeys, password string) (recoveryKey string, err error) {
	if now.master != keys.MasterKey.PublicKey() || now.self != keys.SelfSigningKey.PublicKey() {
		if err := m.uploadIdentity(ctx, keys, password); err != nil {
			return "", err
		}
	}
	// Older entries of the secrets are of other keys than the account's.
	if err := m.olm().UploadCrossSigningKeysToSSSS(ctx, keys.storage, &keys.CrossSigningKeysCache); err != nil {
		return "", fmt.Errorf("write cross-signing keys to secret storage: %w", err)
	}
	if err := m.olm().SSSS.SetDefaultKeyID(ctx, keys.storage.ID); err != nil {
		return "", fmt.Errorf("secret storage: %w", err)
	}
	if err := m.olm().ImportCrossSigningKeys(crypto.CrossSigningSeeds{MasterKey: keys.MasterKey.Seed(),
		SelfSigningKey: keys.SelfSigningKey.Seed(), UserSigningKey: keys.UserSigningKey.Seed()}); err != nil {
		return "", err
	}
	if err := m.signDevice(ctx); err != nil {
		return "", err
	}
	m.pending = nil
	return keys.storage.RecoveryKey(), nil
}

// uploadIdentity uploads cross-signing keys. The first ones of an account need nothing else;
// for others the homeserver asks for the password, or for an approval by the owner in
// the browser, after which it takes the same upload.
func (m *Machine) uploadIdentity(ctx context.Context, keys *newKeys, password string) error {
	if m.now().Sub(keys.asked) > approvalFor {
		keys.session = ""
	}
	var asked *mautrix.RespUserInteractive
	err := m.olm().PublishCrossSigningKeys(ctx, &keys.CrossSigningKeysCache, func(ui *mautrix.RespUserInteractive) any {
		asked = ui
		switch {
		case password != "" && ui.HasSingleStageFlow(mautrix.AuthTypePassword):
			return &mautrix.ReqUIAuthLogin{
				BaseAuthData: mautrix.BaseAuthData{Type: mautrix.AuthTypePassword, Session: ui.Session},
				User:         m.Client.UserID.String(), Password: password,
			}
		case keys.session != "": // Synapse looks at the approval alone, others at its session
			return struct {
				Session string `json:"session"`
			}{keys.session}
		}
		return nil
	})
	var http mautrix.HTTPError
	switch {
	case err == nil:
		return nil
	case asked == nil, !errors.As(err, &http) || http.Response == nil || http.Response.StatusCode >= 500 || http.IsStatus(429):
		return fmt.Errorf("upload cross-signing keys: %w", err)
	case asked.HasSingleStageFlow(mautrix.AuthTypePassword) && password != "":
		return fmt.Errorf("%w: %w", ErrPasswordWrong, err)
	case asked.HasSingleStageFlow(mautrix.AuthTypePassword):
		return ErrPasswordNeeded
	}
	for _, stage := range []mautrix.AuthType{mautrix.AuthTypeOAuth, stageBefore} {
		if !asked.HasSingleStageFlow(stage) {
			continue
		}
		if keys.session == "" || !http.IsStatus(401) { // or the session has ended
			params, _ := asked.Params[stage].(map[string]any)
			address, _ := params["url"].(string)
			if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				address = "" // not one for a browser
			}
			keys.session, keys.approval, keys.asked = asked.Session, ErrApproval{address}, m.now()
		}
		m.pending = keys
		return keys.approval
	}
	return fmt.Errorf("upload cross-signing keys: the server asks for something unknown: %w", err)
}

// stageBefore is what m.oauth was called before version 1.17 of the specification.
const stageBefore mautrix.AuthType = "org.matrix.cross_signing_reset"

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
		return fmt.Errorf("get the account's keys: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.load(ctx, false)
}
