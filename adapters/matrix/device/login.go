package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
)

// This file keeps the login of a check until the bot starts and takes it over.
// Homeservers allow few logins: with Synapse's stock limits five, then one every 5½ minutes.

// A storedLogin is what the file holds: a device that has no keys yet.
type storedLogin struct {
	User       id.UserID   `json:"user_id"`
	Homeserver string      `json:"homeserver"`
	Device     id.DeviceID `json:"device_id"`
	Token      string      `json:"access_token"`
}

// keepLogin stores the client's login in the file, which only its owner can read. It
// reports whether it did: without a file there is nowhere to.
func (d *Device) keepLogin() (bool, error) {
	file := d.config.LoginFile
	if file == "" {
		return false, nil
	}
	text, err := json.Marshal(storedLogin{d.Client.UserID, d.Client.HomeserverURL.String(), d.Client.DeviceID, d.Client.AccessToken})
	if err != nil {
		return false, err
	}
	if err := writeSecret(file, text); err != nil {
		return false, fmt.Errorf("store the login of the check: %w", err)
	}
	return true, nil
}

// useLogin logs in as the device in the file, if there is one of this account that the
// homeserver still knows.
func (d *Device) useLogin(ctx context.Context) (bool, error) {
	c := d.config
	if c.LoginFile == "" {
		return false, nil
	}
	text, err := os.ReadFile(c.LoginFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read the login of the check: %w", err)
	}
	var l storedLogin
	home := d.Client.HomeserverURL.String()
	if json.Unmarshal(text, &l) != nil || l.Token == "" || !(&row{user: l.User, homeserver: l.Homeserver}).of(c, home) {
		return false, nil
	}
	d.Client.UserID, d.Client.DeviceID, d.Client.AccessToken = l.User, l.Device, l.Token
	me, err := d.Client.Whoami(ctx)
	switch {
	case err == nil && me.UserID == l.User && me.DeviceID == l.Device:
		return true, nil
	case err == nil || errors.Is(err, mautrix.MUnknownToken):
		d.Client.ClearCredentials()
		return false, nil
	}
	d.Client.ClearCredentials()
	return false, fmt.Errorf("matrix: get the user of the token from %s: %w", home, err)
}

// takeLogin is useLogin for the bot. The file is gone before the device gets keys: no
// other database may use it.
func (d *Device) takeLogin(ctx context.Context) (bool, error) {
	ok, err := d.useLogin(ctx)
	if err != nil || d.config.LoginFile == "" {
		return false, err
	}
	if err := os.Remove(d.config.LoginFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("remove the login of the check: %w", err)
	}
	return ok, nil
}
