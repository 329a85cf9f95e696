//go:build goolm

package e2ee

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/signatures"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// batch is how many devices get a key in one request.
var batch = 100

// Encrypt encrypts an event for the members of a room as they are now. Devices
// that lack the key get it first. A device that cannot be reached (it has no
// one-time keys, its server is away) holds up nobody and is tried again with
// later messages; the key it then gets opens what comes after.
//
// Content that is an event.Content must be a pointer to one.
func (m *Machine) Encrypt(ctx context.Context, room id.RoomID, t event.Type, content any) (*event.EncryptedEventContent, error) {
	unlock, err := m.rooms.lock(ctx, room)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := m.open(); err != nil {
		return nil, err
	}
	for range 2 { // the session can run out between the two steps
		if err := m.share(ctx, room); err != nil {
			return nil, err
		}
		var sealed *event.EncryptedEventContent
		m.mu.Lock()
		if m.closed {
			m.mu.Unlock()
			return nil, ErrClosed
		}
		err = guard(func() (err error) {
			sealed, err = m.olm().EncryptMegolmEvent(ctx, room, t, content)
			return err
		})
		m.mu.Unlock()
		m.uses.Add(1)
		if err == nil {
			return sealed, nil
		} else if !crypto.IsShareError(err) {
			break
		}
	}
	return nil, fmt.Errorf("encrypt for %s: %w", room, err)
}

// MembersChanged says that somebody has joined or left a room, or may have. Call
// it after the state store knows. The next message there uses a new session if
// somebody who has the key of the present one left.
func (m *Machine) MembersChanged(room id.RoomID) { m.fresh.roomChanged(room) }

// share sees that the room has a session and that the devices of its members
// have the key. mautrix's own ShareGroupSession calls a session shared once it
// has tried: a device without one-time keys at that moment never gets the key.
func (m *Machine) share(ctx context.Context, room id.RoomID) error {
	session, err := m.session(ctx, room)
	if err != nil {
		return err
	}
	if session != nil && m.fresh.has(room, session.ID(), m.now()) {
		return nil
	}
	began, _ := m.fresh.count()
	users, err := m.recipients(ctx, room)
	if err != nil {
		return fmt.Errorf("get the members of %s: %w", room, err)
	}
	unknown, err := m.refresh(ctx, users)
	if err != nil {
		return fmt.Errorf("get the devices of the members of %s: %w", room, err)
	}
	devices, err := m.store().devicesOf(ctx, users)
	if err != nil {
		return err
	}
	delete(devices, who{m.Client.UserID, m.olm().GetAccount().IdentityKey()})

	var meant, sent map[who]bool
	if session != nil {
		if meant, sent, err = m.store().holders(ctx, session.ID()); err != nil {
			return err
		}
		for w := range meant {
			if devices[w] == nil { // left, or logged out
				session = nil
				break
			}
		}
	}
	if session == nil {
		if session, err = m.newSession(ctx, room); err != nil {
			return fmt.Errorf("create a session for %s: %w", room, err)
		}
		meant, sent = nil, nil
	}

	var missing []*id.Device
	var unreached []any // users and devices, as later knows them
	for _, u := range unknown {
		unreached = append(unreached, u)
	}
	for w, d := range devices {
		switch {
		case sent[w] || d.Trust == id.TrustStateBlacklisted:
		case m.later.due(w, m.now()):
			missing = append(missing, d)
		default:
			unreached = append(unreached, w)
		}
	}
	for some := range slices.Chunk(missing, batch) {
		reached, err := m.give(ctx, session, some)
		if err != nil {
			return fmt.Errorf("share the key of %s: %w", room, err)
		}
		for _, d := range some {
			if !slices.Contains(reached, d) {
				unreached = append(unreached, who{d.UserID, d.IdentityKey})
			}
		}
	}
	fresh := freshRoom{session: session.ID(), users: users}
	for i, u := range unreached {
		if next := m.later.next(u); i == 0 || next.Before(fresh.again) {
			fresh.again = next
		}
	}
	if len(unreached) == 0 || !fresh.again.IsZero() {
		m.fresh.found(room, fresh, began)
	}
	return nil
}

// session returns the room's session, or nil if it needs a new one.
func (m *Machine) session(ctx context.Context, room id.RoomID) (*crypto.OutboundGroupSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.store().GetOutboundGroupSession(ctx, room)
	if err != nil {
		return nil, fmt.Errorf("read the session of %s: %w", room, err)
	}
	if s != nil && s.Expired() {
		return nil, nil
	}
	return s, nil
}

// recipients returns the users who may read new messages in the room.
func (m *Machine) recipients(ctx context.Context, room id.RoomID) ([]id.UserID, error) {
	if err := FetchMembers(ctx, m.Client, m.State, room); err != nil {
		return nil, err
	}
	memberships := []event.Membership{event.MembershipJoin, event.MembershipInvite}
	visibility, err := m.State.GetHistoryVisibility(ctx, room)
	if err != nil {
		return nil, err
	}
	if visibility != nil && visibility.HistoryVisibility == event.HistoryVisibilityJoined {
		memberships = memberships[:1]
	}
	members, err := m.State.GetRoomMembers(ctx, room, memberships...)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(members)), nil
}

// refresh asks for the devices of those whose list is not known or has changed.
// It returns the users whose list stays unknown because their server is away.
func (m *Machine) refresh(ctx context.Context, users []id.UserID) (unknown []id.UserID, err error) {
	outdated, err := m.store().GetOutdatedTrackedUsers(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[id.UserID]bool)
	for chunk := range slices.Chunk(users, 500) {
		tracked, err := m.store().FilterTrackedUsers(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, u := range tracked {
			known[u] = true
		}
	}
	for _, u := range outdated {
		delete(known, u)
	}
	var ask []id.UserID
	for _, u := range users {
		if known[u] {
			continue
		}
		if m.later.due(u, m.now()) {
			ask = append(ask, u)
		} else {
			unknown = append(unknown, u)
		}
	}
	for chunk := range slices.Chunk(ask, 250) {
		got, err := m.fetchKeys(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, u := range chunk {
			if _, ok := got[u]; ok {
				m.later.worked(u)
			} else {
				m.later.failed(u, m.now())
				unknown = append(unknown, u)
			}
		}
	}
	return unknown, nil
}

// fetchKeys asks the server for the devices of some users and stores them.
func (m *Machine) fetchKeys(ctx context.Context, users []id.UserID) (map[id.UserID]map[id.DeviceID]*id.Device, error) {
	_, began := m.fresh.count()
	got, err := m.olm().FetchKeys(ctx, users, true)
	if err != nil {
		return nil, err
	}
	// mautrix takes the marks of changed lists away, also of a change that came
	// after the server had answered.
	if _, now := m.fresh.count(); now != began {
		err = m.store().MarkTrackedUsersOutdated(ctx, users)
	}
	return got, err
}

// newSession makes a session for a room, with our own copy of its key. It is
// called shared at once: who has it is in our own tables.
func (m *Machine) newSession(ctx context.Context, room id.RoomID) (*crypto.OutboundGroupSession, error) {
	encryption, err := m.State.GetEncryptionEvent(ctx, room)
	if err != nil {
		return nil, err
	}
	if encryption != nil && encryption.Algorithm != "" && encryption.Algorithm != id.AlgorithmMegolmV1 {
		return nil, fmt.Errorf("%w: %s", crypto.ErrUnsupportedAlgorithm, encryption.Algorithm)
	}
	visibility, err := m.State.GetHistoryVisibility(ctx, room)
	if err != nil {
		return nil, err
	}
	session, err := crypto.NewOutboundGroupSession(room, encryption, visibility)
	if err != nil {
		return nil, err
	}
	session.Shared = true

	m.mu.Lock()
	defer m.mu.Unlock()
	signing, identity := m.olm().GetAccount().Keys()
	own, err := crypto.NewInboundGroupSession(identity, signing, room, session.Internal.Key(),
		session.MaxAge, session.MaxMessages, session.SharedHistory, false)
	if err != nil {
		return nil, err
	}
	own.SourceUser = m.Client.UserID
	err = m.transaction(ctx, func(ctx context.Context) error {
		if err := m.olm().StoreGroupSession(ctx, own); err != nil {
			return err
		}
		return m.store().AddOutboundGroupSession(ctx, session)
	})
	m.arrived = nil // our own
	m.keyStored()
	return session, err
}

// give sends the key of a session, as it is at its present message, to some
// devices. It returns those that were reached.
func (m *Machine) give(ctx context.Context, session *crypto.OutboundGroupSession, devices []*id.Device) ([]*id.Device, error) {
	able, err := m.claim(ctx, devices, false)
	if err != nil {
		return nil, err
	}
	m.sayNoOlm(ctx, session, devices, able)
	if len(able) == 0 {
		return nil, nil
	}
	// First that they may have it, then that they have it: after a crash in
	// between they get it twice, and their leaving still makes a new session.
	note := func(f func(ctx context.Context, d *id.Device) error) error {
		return m.DB.DoTxn(ctx, nil, func(ctx context.Context) error {
			for _, d := range able {
				if err := f(ctx, d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = note(func(ctx context.Context, d *id.Device) error {
		return m.store().MarkOutboundGroupSessionShared(ctx, d.UserID, d.IdentityKey, session.ID())
	})
	if err != nil {
		return nil, err
	}
	content, from := session.ShareContent(), session.Internal.MessageIndex()
	able, err = m.send(ctx, able, event.ToDeviceRoomKey, &content)
	if err != nil {
		return nil, err
	}
	return able, note(func(ctx context.Context, d *id.Device) error {
		if err := m.canReach(ctx, who{d.UserID, d.IdentityKey}); err != nil {
			return err
		}
		_, err := m.DB.Exec(ctx, "INSERT INTO matrix_key_sent (session_id, user_id, identity_key, message_index) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
			session.ID(), d.UserID, d.IdentityKey, int64(from))
		return err
	})
}

// canReach notes that there is an Olm session with a device. If there was none, the
// device may lack the keys of other rooms, too.
func (m *Machine) canReach(ctx context.Context, w who) error {
	if m.later.worked(w) {
		m.fresh.usersChanged(w.User)
	}
	return m.store().hasOlm(ctx, w)
}

// sayNoOlm notes the devices with which there is no Olm session, and tells each once
// why it will not read the messages: it may then make a session with us.
func (m *Machine) sayNoOlm(ctx context.Context, session *crypto.OutboundGroupSession, devices, able []*id.Device) {
	var told []who
	notices := make(map[id.UserID]map[id.DeviceID]*event.Content)
	for _, d := range devices {
		if slices.Contains(able, d) {
			continue
		}
		w := who{d.UserID, d.IdentityKey}
		m.later.failed(w, m.now())
		m.Log.Info("encryption: device has no one-time keys, will send the room key later", "user", d.UserID, "device", d.DeviceID)
		if first, err := m.store().tellsNoOlm(ctx, w); err != nil || !first {
			continue
		}
		told = append(told, w)
		put(notices, d, &event.Content{Parsed: &event.RoomKeyWithheldEventContent{
			RoomID: session.RoomID, Algorithm: id.AlgorithmMegolmV1, SessionID: session.ID(),
			SenderKey: m.olm().GetAccount().IdentityKey(),
			Code:      event.RoomKeyWithheldNoOlmSession, Reason: "the device has no one-time keys",
		}})
	}
	if len(notices) == 0 {
		return
	}
	if _, err := m.Client.SendToDevice(ctx, event.ToDeviceRoomKeyWithheld, &mautrix.ReqSendToDevice{Messages: notices}); err != nil {
		m.Log.Debug("encryption: notifying devices without one-time keys failed", "err", err)
		for _, w := range told {
			_ = m.store().hasOlm(ctx, w)
		}
	}
}

// put stores a value for a device.
func put[T any](in map[id.UserID]map[id.DeviceID]T, d *id.Device, value T) {
	if in[d.UserID] == nil {
		in[d.UserID] = make(map[id.DeviceID]T)
	}
	in[d.UserID][d.DeviceID] = value
}

// claim makes Olm sessions with devices that have none yet, or anyway if anew,
// and returns the devices that have one after it. (mautrix would do so inside
// its own functions, with the request to the server under its lock.)
func (m *Machine) claim(ctx context.Context, devices []*id.Device, anew bool) ([]*id.Device, error) {
	ask := make(mautrix.OneTimeKeysRequest)
	m.mu.Lock()
	for _, d := range devices {
		if anew || !m.store().HasSession(ctx, d.IdentityKey) {
			put(ask, d, id.KeyAlgorithmSignedCurve25519)
		}
	}
	m.mu.Unlock()
	if len(ask) == 0 {
		return devices, nil
	}
	answer, err := m.Client.ClaimKeys(ctx, &mautrix.ReqClaimKeys{OneTimeKeys: ask, Timeout: 10_000})
	if err != nil {
		return nil, fmt.Errorf("claim one-time keys: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var able []*id.Device
	err = m.transaction(ctx, func(ctx context.Context) error {
		for _, d := range devices {
			if _, asked := ask[d.UserID][d.DeviceID]; asked {
				for keyID, key := range answer.OneTimeKeys[d.UserID][d.DeviceID] {
					if algorithm, _ := keyID.Parse(); algorithm != id.KeyAlgorithmSignedCurve25519 {
						continue
					}
					if err := m.newOlm(ctx, d, key); err != nil {
						m.Log.Warn("encryption: one-time key unusable, device skipped", "user", d.UserID, "device", d.DeviceID, "err", err)
						continue
					}
					break
				}
			}
			if m.store().HasSession(ctx, d.IdentityKey) {
				able = append(able, d)
			}
		}
		return nil
	})
	return able, err
}

func (m *Machine) newOlm(ctx context.Context, d *id.Device, key mautrix.OneTimeKey) error {
	ok, err := signatures.VerifySignatureJSON(key.RawData, d.UserID, d.DeviceID.String(), d.SigningKey)
	if err != nil {
		return err
	} else if !ok {
		return errors.New("one-time key has an invalid signature")
	}
	return guard(func() error {
		olm, err := m.olm().GetAccount().Internal.NewOutboundSession(d.IdentityKey, key.Key)
		if err != nil {
			return err
		}
		now := m.now()
		return m.store().AddSession(ctx, d.IdentityKey, &crypto.OlmSession{Internal: olm, ExpirationMixin: crypto.ExpirationMixin{
			TimeMixin: crypto.TimeMixin{CreationTime: now, LastEncryptedTime: now, LastDecryptedTime: now}}})
	})
}

// send sends one content, encrypted, to devices that have an Olm session, and
// returns those it was sent to.
func (m *Machine) send(ctx context.Context, devices []*id.Device, t event.Type, content *event.Content) ([]*id.Device, error) {
	plain := &mautrix.ReqSendToDevice{Messages: make(map[id.UserID]map[id.DeviceID]*event.Content)}
	for _, d := range devices {
		put(plain.Messages, d, content)
	}
	var sealed *mautrix.ReqSendToDevice
	m.mu.Lock()
	err := m.transaction(ctx, func(ctx context.Context) (err error) {
		sealed, err = m.olm().EncryptToDevices(ctx, t, plain)
		return err
	})
	m.mu.Unlock()
	m.uses.Add(1)
	if err != nil {
		return nil, err
	}
	if _, err := m.Client.SendToDevice(ctx, event.ToDeviceEncrypted, sealed); err != nil {
		return nil, fmt.Errorf("send to devices: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(devices), func(d *id.Device) bool {
		return sealed.Messages[d.UserID][d.DeviceID] == nil
	}), nil
}

// answerKeyRequest sends a key again to a device that had it, from the message
// on from which it had it (mautrix sends it from the first one, which somebody
// who joined later must not read), and to the bot's own verified devices.
// Others get no answer.
func (m *Machine) answerKeyRequest(ctx context.Context, sender id.UserID, request *event.RoomKeyRequestEventContent) {
	if sender == m.Client.UserID && request.RequestingDeviceID == m.Client.DeviceID {
		return
	}
	device, err := m.store().GetDevice(ctx, sender, request.RequestingDeviceID)
	if err != nil || device == nil { // one we gave a key to is known
		return
	}
	again := asking{who{sender, device.IdentityKey}, request.Body.SessionID}
	if !m.later.due(again, m.now()) {
		return
	}
	m.later.failed(again, m.now())
	group, key, err := m.keyAgain(ctx, device, request.Body)
	if err != nil {
		m.Log.Warn("encryption: answering a key request failed", "user", sender, "err", err)
		return
	} else if group == nil {
		return
	}
	content := &event.Content{Parsed: &event.ForwardedRoomKeyEventContent{
		RoomKeyEventContent: event.RoomKeyEventContent{
			Algorithm: id.AlgorithmMegolmV1, RoomID: group.RoomID, SessionID: group.ID(),
			SessionKey: string(key), SharedHistory: group.SharedHistory,
		},
		SenderKey: group.SenderKey, ForwardingKeyChain: group.ForwardingChains, SenderClaimedKey: group.SigningKey,
	}}
	able, err := m.claim(ctx, []*id.Device{device}, false)
	if err == nil && len(able) > 0 {
		_, err = m.send(ctx, able, event.ToDeviceForwardedRoomKey, content)
	}
	if err != nil {
		m.Log.Warn("encryption: answering a key request failed", "user", sender, "err", err)
	}
}

// keyAgain returns a key that a device may have again, or nil.
func (m *Machine) keyAgain(ctx context.Context, device *id.Device, body event.RequestedKeyInfo) (*crypto.InboundGroupSession, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.olm().AllowKeyShare(ctx, device, body) != nil {
		return nil, nil, nil
	}
	group, err := m.store().GetGroupSession(ctx, body.RoomID, body.SessionID)
	if group == nil || err != nil {
		return nil, nil, err
	}
	from := group.Internal.FirstKnownIndex()
	if device.UserID != m.Client.UserID {
		var index int64
		err := m.DB.QueryRow(ctx, "SELECT message_index FROM matrix_key_sent WHERE session_id=$1 AND user_id=$2 AND identity_key=$3",
			body.SessionID, device.UserID, device.IdentityKey).Scan(&index)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil, nil // gets it with the next message
		} else if err != nil {
			return nil, nil, err
		}
		from = max(from, uint32(index))
	}
	key, err := group.Internal.Export(from)
	return group, key, err
}

type asking struct {
	who
	session id.SessionID
}
