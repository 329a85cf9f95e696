package matrix

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/verify"
)

// newVerifier has a device answer those who want to verify it.
func (a *Adapter) newVerifier(dev *device.Device) *verify.Verifier {
	v := verify.New(verify.Config{User: dev.Client.UserID, Device: dev.Client.DeviceID, Keys: dev.Crypto.Keys, Log: a.log,
		Owner: func(user id.UserID) bool { return slices.Contains(a.cfg.Owners, user.String()) },
		Busy:  func() bool { return a.pace.background(a.cfg.Now(), 1) > 0 },
		Send: func(ctx context.Context, to verify.Peer, kind, key string, content map[string]any) error {
			if to.Room == "" {
				_, err := dev.Client.SendToDevice(ctx, event.NewEventType(kind), &mautrix.ReqSendToDevice{
					Messages: map[id.UserID]map[id.DeviceID]*event.Content{to.User: {to.Device: {Raw: content}}}})
				return err
			}
			if wait := a.pace.wait(a.cfg.Now()); wait > 0 {
				return errLater{wait}
			}
			_, err := a.sendEvent(ctx, dev, to.Room, event.NewEventType(kind), &event.Content{Raw: content}, key)
			if refusedBy(err) {
				a.log.Warn("verification message refused", "room", to.Room, "error", err)
				return nil // the other side will give up
			}
			return err
		}})
	a.mu.Lock()
	a.verifier = v
	a.mu.Unlock()
	dev.Crypto.OnVerification(func(ctx context.Context, e *event.Event) {
		if err := v.Handle(ctx, verify.Event{Type: e.Type.Type, Sender: e.Sender, Content: e.Content.VeryRaw}); err != nil && ctx.Err() == nil {
			a.log.Warn("verification message not answered", "user", e.Sender, "error", err)
		}
	})
	return v
}

// verification returns the type of an event of a verification; empty if it is none. A
// request is a message in a room.
func verification(e *event.Event) string {
	switch kind, _ := e.Content.Raw["msgtype"].(string); {
	case e.StateKey != nil:
		return ""
	case strings.HasPrefix(e.Type.Type, verify.Prefix):
		return e.Type.Type
	case e.Type.Type == event.EventMessage.Type && kind == verify.Request:
		return verify.Request
	}
	return ""
}

// verifies takes in an event of a verification in a room.
func (a *Adapter) verifies(ctx context.Context, dev *device.Device, e *event.Event, kind string) error {
	a.mu.Lock()
	v := a.verifier
	a.mu.Unlock()
	if v == nil {
		return nil
	}
	content, err := json.Marshal(e.Content.Raw)
	if err != nil {
		return nil //nolint:nilerr // it will never be one
	}
	return v.Handle(ctx, verify.Event{Type: kind, Sender: e.Sender, Room: e.RoomID, ID: e.ID, At: time.UnixMilli(e.Timestamp), Content: content})
}

// refuseVerifications cancels a verification that somebody has requested who is no owner.
func (a *Adapter) refuseVerifications(ctx context.Context) {
	a.mu.Lock()
	v := a.verifier
	a.mu.Unlock()
	if v == nil {
		return
	}
	a.aside(ctx, "verification", func(ctx context.Context) {
		if err := v.Refuse(ctx); err != nil && ctx.Err() == nil {
			a.log.Info("cancellation of a verification not sent, will retry", "error", err)
		}
	})
}

// Verification returns the verification by an owner that waits for somebody to compare the
// emoji; nil if none does.
func (a *Adapter) Verification() *verify.Verification {
	a.mu.Lock()
	v := a.verifier
	a.mu.Unlock()
	if v == nil {
		return nil
	}
	return v.Waiting()
}

// Verify says whether the emoji of the verification with an id are the same on both sides.
func (a *Adapter) Verify(ctx context.Context, id string, match bool) error {
	a.mu.Lock()
	v := a.verifier
	a.mu.Unlock()
	if v == nil {
		return verify.ErrNone
	}
	return v.Answer(ctx, id, match)
}
