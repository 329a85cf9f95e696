package matrix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"maunium.net/go/mautrix"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
)

// Profile is how people see the bot's account.
type Profile struct {
	Name   string // empty: left as it is
	Avatar []byte // a picture; empty: left as it is
	// Chosen says of each that the owner has chosen it. Otherwise it is only for an account
	// that has none.
	NameChosen, AvatarChosen bool
}

// introduce sets the account's name and avatar, once each: what somebody changes afterwards
// stays until the configuration changes.
func (a *Adapter) introduce(ctx context.Context, dev *device.Device) {
	p := a.cfg.Profile
	avatar := ""
	if len(p.Avatar) > 0 {
		sum := sha256.Sum256(p.Avatar)
		avatar = hex.EncodeToString(sum[:])
	}
	for _, part := range []struct {
		what, want string
		chosen     bool
		has        func(*mautrix.RespUserProfile) bool
		set        func() error
	}{
		{"name", p.Name, p.NameChosen, func(now *mautrix.RespUserProfile) bool {
			return now.DisplayName != "" && now.DisplayName != dev.Client.UserID.Localpart()
		}, func() error { return dev.Client.SetDisplayName(ctx, p.Name) }},
		{"avatar", avatar, p.AvatarChosen, func(now *mautrix.RespUserProfile) bool { return !now.AvatarURL.IsEmpty() }, func() error {
			up, err := dev.Client.UploadBytes(ctx, p.Avatar, http.DetectContentType(p.Avatar))
			if err != nil {
				return err
			}
			return dev.Client.SetAvatarURL(ctx, up.ContentURI)
		}},
	} {
		key, value := part.what+" "+dev.Client.UserID.String(), part.want
		if !part.chosen { // it may be the owner's choice later
			value = "default " + part.want
		}
		set, err := a.queue.marked(ctx, "profile", key)
		if err != nil || part.want == "" || set == value {
			continue
		}
		now := &mautrix.RespUserProfile{}
		if !part.chosen {
			if now, err = dev.Client.GetProfile(ctx, dev.Client.UserID); refusedBy(err) { // some have no profile before the first part
				now, err = &mautrix.RespUserProfile{}, nil
			}
		}
		if err == nil && (part.chosen || !part.has(now)) {
			err = part.set()
		}
		if err == nil {
			err = a.queue.mark(ctx, "profile", key, value, a.cfg.Now())
		}
		if err != nil && ctx.Err() == nil {
			a.log.Warn("setting the account's profile failed, will retry at the next start", "what", part.what, "error", err)
		}
	}
}
