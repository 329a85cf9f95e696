package matrix

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

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
		has        func() (bool, error)
		set        func() error
	}{
		{"name", p.Name, p.NameChosen, func() (bool, error) {
			now, err := dev.Client.GetProfile(ctx, dev.Client.UserID)
			return err == nil && now.DisplayName != "" && now.DisplayName != dev.Client.UserID.Localpart(), err
		}, func() error { return dev.Client.SetDisplayName(ctx, p.Name) }},
		{"avatar", avatar, p.AvatarChosen, func() (bool, error) {
			now, err := dev.Client.GetProfile(ctx, dev.Client.UserID)
			return err == nil && !now.AvatarURL.IsEmpty(), err
		}, func() error {
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
		has := false
		if !part.chosen {
			if has, err = part.has(); refusedBy(err) { // some have no profile before the first part
				has, err = false, nil
			}
		}
		if err == nil && !has {
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
