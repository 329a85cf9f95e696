//go:build goolm

package e2ee

import (
	"context"
	"errors"
	"fmt"

	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/crypto/olm"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// Decrypt decrypts an event of a room. Errors are [ErrNoKey] (try again when
// the key has come), [ErrUnreadable] (for good), or passing ones. The same
// event may be decrypted any number of times. Keys that are not here are asked of the
// account's backup first, if [Machine.Backup] has opened it.
func (m *Machine) Decrypt(ctx context.Context, evt *event.Event) (*event.Event, error) {
	plain, err := m.decrypt(ctx, evt)
	var missing ErrNoKey
	if errors.As(err, &missing) {
		if err := m.fetch(ctx, wanted{missing.Room, missing.Session}); err != nil {
			return nil, fmt.Errorf("decrypt: %w", err)
		}
		plain, err = m.decrypt(ctx, evt) // also if it was not asked: another call may just have done so
	}
	return plain, err
}

// decrypt decrypts an event with the keys that are here.
func (m *Machine) decrypt(ctx context.Context, evt *event.Event) (*event.Event, error) {
	copied, sealed, err := sealedOf(evt)
	if err != nil {
		return nil, ErrUnreadable{Err: err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	m.store().begin()
	var plain *event.Event
	// mautrix panics at a message that says null.
	err = guard(func() (err error) {
		plain, err = m.olm().DecryptMegolmEvent(ctx, copied)
		return err
	})
	if err == nil {
		err = m.checkSender(ctx, evt.Sender, evt.RoomID, sealed.SessionID)
	}
	if err == nil {
		return plain, nil
	}
	noKey := ErrNoKey{Room: evt.RoomID, Session: sealed.SessionID}
	var refusal *event.RoomKeyWithheldEventContent
	switch {
	case m.store().failed != nil || ctx.Err() != nil:
		return nil, fmt.Errorf("decrypt: %w", err)
	case errors.As(err, &refusal):
		owner, dberr := m.store().FindDeviceByKey(ctx, evt.Sender, refusal.SenderKey)
		if dberr != nil {
			return nil, dberr
		}
		// Without an Olm session they try again; and others may not refuse for them.
		if owner == nil || refusal.Code == event.RoomKeyWithheldNoOlmSession {
			return nil, noKey
		}
		return nil, ErrUnreadable{Err: ErrWithheld}
	case errors.Is(err, crypto.ErrNoSessionFound), errors.Is(err, olm.ErrUnknownMessageIndex):
		return nil, noKey
	case errors.Is(err, crypto.ErrDuplicateMessageIndex):
		err = ErrReplayed
	case errors.Is(err, crypto.ErrWrongRoom):
		err = ErrWrongRoom
	}
	return nil, ErrUnreadable{Err: err}
}

// sealedOf returns a copy of an encrypted event, and its content.
func sealedOf(evt *event.Event) (*event.Event, *event.EncryptedEventContent, error) {
	copied := *evt
	copied.Type.Class = event.MessageEventType
	if copied.Content.Parsed == nil {
		if err := copied.Content.ParseRaw(copied.Type); err != nil {
			return nil, nil, err
		}
	}
	sealed, ok := copied.Content.Parsed.(*event.EncryptedEventContent)
	if !ok {
		return nil, nil, crypto.ErrIncorrectEncryptedContentType
	}
	return &copied, sealed, nil
}

// checkSender checks that the session came from the sender that the homeserver names.
// mautrix only lowers a trust level if it did not.
func (m *Machine) checkSender(ctx context.Context, sender id.UserID, room id.RoomID, session id.SessionID) error {
	group, err := m.store().GetGroupSession(ctx, room, session)
	if err != nil {
		return err
	} else if group == nil {
		return crypto.ErrNoSessionFound
	}
	if group.SourceUser == sender {
		return nil
	}
	return ErrNotTheirs
}

// AskForKey asks the sender of an event, once a session, for its key. It may
// or may not come.
func (m *Machine) AskForKey(ctx context.Context, evt *event.Event) error {
	_, sealed, err := sealedOf(evt)
	if err != nil {
		return err
	} else if sealed.SessionID == "" {
		return crypto.ErrIncorrectEncryptedContentType
	}
	// The key may come before it is known here that the server has the request.
	if _, already := m.asks.LoadOrStore(sealed.SessionID, evt.Sender); already {
		return nil
	}
	defer m.asks.Delete(sealed.SessionID)
	var asked bool
	if err := m.DB.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM matrix_key_asked WHERE session_id=$1)", sealed.SessionID).Scan(&asked); err != nil || asked {
		return err
	}
	// Stored only afterwards: a bot that is killed in between asks again.
	err = m.olm().SendRoomKeyRequest(ctx, evt.RoomID, sealed.SenderKey, sealed.SessionID, "",
		map[id.UserID][]id.DeviceID{evt.Sender: {"*"}})
	if err != nil {
		return fmt.Errorf("request a room key: %w", err)
	}
	_, err = m.DB.Exec(context.WithoutCancel(ctx), "INSERT INTO matrix_key_asked (session_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
		sealed.SessionID, evt.Sender)
	return err
}
