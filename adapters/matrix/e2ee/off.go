//go:build !goolm

package e2ee

import (
	"context"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// Available says whether this build can encrypt.
const Available = false

// Machine cannot be made in this build.
type Machine struct{}

// Open answers ErrOff.
func Open(context.Context, Config) (*Machine, error) { return nil, ErrOff }

// Opens returns ErrOff.
func Opens(context.Context, *mautrix.Client, string, id.Ed25519) error { return ErrOff }

// SignedBy returns false.
func SignedBy(*mautrix.RespQueryKeys, id.UserID, id.DeviceID) bool { return false }

// Forget does nothing: without encryption there is nothing to forget.
func Forget(context.Context, *dbutil.Database) error { return nil }

// Sync answers ErrOff, as do the other methods.
func (*Machine) Sync(context.Context, *mautrix.RespSync, string) error { return ErrOff }

func (*Machine) Encrypt(context.Context, id.RoomID, event.Type, any) (*event.EncryptedEventContent, error) {
	return nil, ErrOff
}

func (*Machine) Decrypt(context.Context, *event.Event) (*event.Event, error) { return nil, ErrOff }

func (*Machine) OnKey(func(id.RoomID, id.SessionID)) {}

func (*Machine) AskForKey(context.Context, *event.Event) error { return ErrOff }

func (*Machine) MembersChanged(id.RoomID) {}

func (*Machine) CrossSign(context.Context, CrossSignConfig) (string, error) { return "", ErrOff }

func (*Machine) Backup(context.Context, ...string) error { return ErrOff }

func (*Machine) Master(context.Context) (id.Ed25519, error) { return "", ErrOff }

func (*Machine) Signed(context.Context) (bool, error) { return false, ErrOff }

func (*Machine) Uses() uint64 { return 0 }

func (*Machine) Close() error { return nil }
