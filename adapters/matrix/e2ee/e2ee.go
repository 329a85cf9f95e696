// Package e2ee is end-to-end encryption for one Matrix device: it keeps the
// device's keys in a database, shares room keys with the people of a room, and
// encrypts and decrypts events and files.
//
// It is built with the tag goolm. Without it everything here answers [ErrOff].
package e2ee

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// seenIn is the version of mautrix in which the faults were seen that this package works
// around. A test tells when another one is in use: read then whether what the comments
// say of mautrix still holds, delete what is needed no more, and change this.
const seenIn = "v0.31.0"

// ErrOff says that this build has no encryption.
var ErrOff = errors.New("encrypted rooms are off: halfpoint was built without -tags goolm")

// ErrClosed says that the machine was closed meanwhile: another may have its place.
// Repeat the operation with that one.
var ErrClosed = errors.New("encryption is closed")

// StateStore is what encryption must know about rooms. A
// *sqlstatestore.SQLStateStore is one; it must be the client's own.
type StateStore interface {
	IsEncrypted(ctx context.Context, room id.RoomID) (bool, error)
	GetEncryptionEvent(ctx context.Context, room id.RoomID) (*event.EncryptionEventContent, error)
	GetHistoryVisibility(ctx context.Context, room id.RoomID) (*event.HistoryVisibilityEventContent, error)
	// FindSharedRooms returns the encrypted rooms in which a user and the bot are.
	FindSharedRooms(ctx context.Context, user id.UserID) ([]id.RoomID, error)
	// HasFetchedMembers says whether all members of a room are known. If not,
	// the machine fetches them before it encrypts anything for the room.
	HasFetchedMembers(ctx context.Context, room id.RoomID) (bool, error)
	// GetAllMembers returns what is known of the people who are, or were, in a room.
	GetAllMembers(ctx context.Context, room id.RoomID) (map[id.UserID]*event.MemberEventContent, error)
	// ReplaceCachedMembers stores all members of a room, for HasFetchedMembers, too.
	ReplaceCachedMembers(ctx context.Context, room id.RoomID, members []*event.Event, only ...event.Membership) error
	// DoTxn has the other methods work in one transaction, with the context it hands on.
	DoTxn(ctx context.Context, opts *dbutil.TxnOptions, work func(context.Context) error) error
	// GetRoomMembers returns the people of a room with one of some memberships.
	GetRoomMembers(ctx context.Context, room id.RoomID, memberships ...event.Membership) (map[id.UserID]*event.MemberEventContent, error)
}

// Config is what a Machine works with. All fields are required.
type Config struct {
	Client *mautrix.Client // logged in: UserID, DeviceID and AccessToken set
	DB     *dbutil.Database
	State  StateStore
	Pickle []byte // the key with which key material is sealed in the database
	Log    *slog.Logger
}

// CrossSignConfig is what cross-signing may need. The recovery key is enough
// where the account is cross-signed already; the first time some homeservers want the
// password.
type CrossSignConfig struct {
	Password    string
	RecoveryKey string
	// Replace reports whether other keys may take the place of the account's present
	// ones: those that RecoveryKey opens, or without it new ones. Nil: never.
	Replace func(master id.Ed25519) bool
	// Keep stores a new recovery key. It is called before anything on the
	// server depends on the key, so that a crash cannot lose it. May be nil.
	Keep func(recoveryKey string) error
}

// Errors of CrossSign that the owner of the account can do something about.
var (
	ErrPasswordNeeded = errors.New("homeserver asks for the account's password to upload cross-signing keys")
	ErrPasswordWrong  = errors.New("homeserver rejected the password")
	ErrRecoveryKey    = errors.New("recovery key does not open the account's secret storage")
	ErrOtherIdentity  = errors.New("recovery key belongs to former cross-signing keys of the account")
	ErrIdentity       = errors.New("the account has cross-signing keys that may not be replaced")
)

// ErrNoBackup says that the account's key backup cannot be used.
var ErrNoBackup = errors.New("no key backup")

// ErrApproval is the error of CrossSign when the owner of the account must approve new
// cross-signing keys in the browser. The approval is good for ten minutes. URL is where;
// empty if the homeserver does not say.
type ErrApproval struct{ URL string }

func (e ErrApproval) Error() string {
	return "the owner of the account must approve new cross-signing keys in the browser: " + cmp.Or(e.URL, "the homeserver does not say where")
}

// ErrOtherKeys is the error of Open when the server and the database disagree
// about the keys of this device: the database is of another time or device.
var ErrOtherKeys = errors.New("homeserver has other keys for this device than the database")

// ErrNoKey says that the key of an event is not there (yet): keep the event
// and decrypt it again when [Machine.OnKey] tells of its session.
type ErrNoKey struct {
	Room    id.RoomID
	Session id.SessionID
}

func (e ErrNoKey) Error() string {
	return fmt.Sprintf("no key yet for session %s of room %s", e.Session, e.Room)
}

// ErrUnreadable says that an event will never be readable: a replay, of
// another room, withheld by its sender, damaged. Errors of [Machine.Decrypt]
// that are neither this nor [ErrNoKey] are passing ones (database, context).
type ErrUnreadable struct{ Err error }

func (e ErrUnreadable) Error() string { return "unreadable event: " + e.Err.Error() }
func (e ErrUnreadable) Unwrap() error { return e.Err }

// Errors that ErrUnreadable wraps, besides those of mautrix.
var (
	ErrReplayed  = errors.New("replayed: another event already had this message index")
	ErrWrongRoom = errors.New("encrypted for another room")
	ErrNotTheirs = errors.New("session belongs to another sender")
	ErrWithheld  = errors.New("sender withholds the key")
)

// EncryptFile encrypts a file for upload as application/octet-stream. Data is
// left as it is. URL must be set in the result before it is sent.
func EncryptFile(data []byte) ([]byte, *event.EncryptedFileInfo) {
	file := attachment.NewEncryptedFile()
	sealed := append([]byte(nil), data...)
	file.EncryptInPlace(sealed)
	return sealed, &event.EncryptedFileInfo{EncryptedFile: *file}
}
