package matrix

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
)

// The bot cannot be verified by emoji: nobody is there to compare them. Its account signs its
// device instead, if it can. A request is cancelled, so that the other side does not wait.

const (
	verificationLasts = 10 * time.Minute // then the other side gives up by itself
	verificationsMost = 64               // that wait to be cancelled; anybody can ask
)

// A verification is somebody's request to verify the bot.
type verification struct {
	device id.DeviceID
	room   id.RoomID // empty: it was sent to the bot's device
	id     string    // of the transaction
	until  time.Time // the other side gives up by itself then
}

// asksToVerify reports whether an event of a room is a request to verify the bot.
func asksToVerify(dev *device.Device, e *event.Event) bool {
	return e.StateKey == nil && e.Type.Type == event.EventMessage.Type &&
		e.Content.Raw["msgtype"] == event.ToDeviceVerificationRequest.Type && e.Content.Raw["to"] == dev.Client.UserID.String()
}

// askedToVerify lets tidy cancel a request, which came in a room or to the device. The newest
// request of each user counts.
func (a *Adapter) askedToVerify(e *event.Event) {
	from, _ := e.Content.Raw["from_device"].(string)
	v := verification{device: id.DeviceID(from), room: e.RoomID, id: e.ID.String(), until: time.UnixMilli(e.Timestamp).Add(verificationLasts)}
	if v.room == "" {
		v.id, _ = e.Content.Raw["transaction_id"].(string)
		sent, _ := e.Content.Raw["timestamp"].(float64)
		v.until = time.UnixMilli(int64(sent)).Add(verificationLasts)
	}
	if from == "" || v.id == "" || time.Until(v.until) > 2*verificationLasts {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.verifications[e.Sender]; known || len(a.verifications) < verificationsMost {
		a.verifications[e.Sender] = v
	}
}

// cancelVerification cancels one request, a second later again unless that is done or
// refused. In rooms it takes only what boards leave of the budget, so that a flood of requests
// holds up nothing.
func (a *Adapter) cancelVerification(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	busy := a.account.Wait(a.cfg.Now(), 1, 0) > 0
	var user id.UserID
	var v verification
	a.mu.Lock()
	for u, w := range a.verifications {
		if time.Now().After(w.until) {
			delete(a.verifications, u)
		} else if w.room == "" || !busy {
			user, v = u, w
		}
	}
	a.mu.Unlock()
	dev := a.device()
	if user == "" || dev == nil {
		return
	}
	content := map[string]any{"code": event.VerificationCancelCodeUnknownMethod, "reason": wordNoEmoji}
	var err error
	if v.room == "" {
		content["transaction_id"] = v.id
		_, err = dev.Client.SendToDevice(ctx, event.ToDeviceVerificationCancel, &mautrix.ReqSendToDevice{
			Messages: map[id.UserID]map[id.DeviceID]*event.Content{user: {v.device: {Raw: content}}}})
	} else {
		content["m.relates_to"] = map[string]any{"rel_type": event.RelReference, "event_id": v.id}
		a.account.Spend(a.cfg.Now(), 1)
		_, err = a.sendEvent(ctx, dev, v.room, event.InRoomVerificationCancel, &event.Content{Raw: content}, "verification "+v.id)
	}
	switch {
	case err == nil:
		a.log.Info("verification request cancelled: the bot cannot be verified by emoji", "user", user, "room", v.room)
	case refusedBy(err), errors.Is(err, e2ee.ErrOff):
		a.log.Info("verification request not cancelled", "user", user, "room", v.room, "error", err)
	default:
		return // it is tried again
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.verifications[user] == v {
		delete(a.verifications, user)
	}
}
