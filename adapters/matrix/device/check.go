package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
)

// uiaSession reads the answer with which a server asks for the password.
func uiaSession(body []byte) (string, error) {
	var ui mautrix.RespUserInteractive
	if err := json.Unmarshal(body, &ui); err != nil {
		return "", errors.New("the server's question for the password is not understood")
	}
	if !slices.ContainsFunc(ui.Flows, func(f mautrix.UIAFlow) bool {
		return len(f.Stages) == 1 && f.Stages[0] == mautrix.AuthTypePassword
	}) {
		return "", errors.New("the server asks for more than a password")
	}
	return ui.Session, nil
}

// Check returns lines that say what works and what is missing, as `halfpoint config
// check` prints them, and an error for what keeps the bot from working. It logs in
// if it has to, and then out again; it changes nothing. Where nothing is wrong it calls
// then, which may be nil, while it is logged in, and adds what that returns. DB may
// be nil.
func Check(ctx context.Context, c Config, then func(context.Context, *mautrix.Client) ([]string, error)) (lines []string, err error) {
	lines, err = check(ctx, &c, then)
	return lines, c.clean(err)
}

func check(ctx context.Context, c *Config, then func(context.Context, *mautrix.Client) ([]string, error)) (lines []string, err error) {
	c.defaults()
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	d, err := c.connect(ctx)
	if err != nil {
		return lines, err
	}
	defer d.transport.CloseIdleConnections()
	home := d.Client.HomeserverURL.String()
	versions, err := d.Client.Versions(ctx)
	if err != nil {
		return lines, fmt.Errorf("matrix.homeserver: %s does not answer: %w", home, err)
	}
	say("homeserver %s answers (Matrix up to %s)", home, versions.GetLatest())

	var kept *row
	if c.DB != nil {
		if there, err := c.DB.TableExists(ctx, "matrix_device"); err != nil {
			return lines, fmt.Errorf("read the matrix device: %w", err)
		} else if there {
			if kept, err = readRow(ctx, c.DB); err != nil {
				return lines, err
			}
			if kept != nil && !kept.of(*c, home) {
				kept = nil
			}
		}
	}
	how, err := d.checkLogin(ctx, kept)
	if err != nil {
		return lines, err
	}
	if how == byPassword {
		defer func() {
			_, out := d.Client.Logout(context.WithoutCancel(ctx))
			if out != nil && err == nil {
				err = fmt.Errorf("matrix: log out again: %w", out)
			}
		}()
	}
	say("logged in as %s %s", d.Client.UserID, how)
	if err := d.checkKeys(ctx, kept, how, say); err != nil || then == nil {
		return lines, err
	}
	more, err := then(ctx, d.Client)
	return append(lines, more...), err
}

// checkKeys says whether encrypted rooms work.
func (d *Device) checkKeys(ctx context.Context, kept *row, how login, say func(format string, args ...any)) error {
	c := d.config
	if !e2ee.Available {
		say("%s", e2ee.ErrOff)
		return nil
	}
	answer, err := d.Client.QueryKeys(ctx, &mautrix.ReqQueryKeys{DeviceKeys: mautrix.DeviceKeysRequest{d.Client.UserID: {}}})
	if err != nil {
		return fmt.Errorf("matrix: ask for the account's keys: %w", err)
	}
	say("encrypted rooms are on")
	recovery := !c.RecoveryKey.IsZero() || kept != nil && !kept.recovery.IsZero()
	_, exists := answer.MasterKeys[d.Client.UserID]
	var device id.DeviceID
	if how != byPassword {
		device = d.Client.DeviceID
	}
	_, known := answer.DeviceKeys[d.Client.UserID][device]
	if exists && !c.RecoveryKey.IsZero() {
		if err := e2ee.Opens(ctx, d.Client, c.RecoveryKey.Reveal()); errors.Is(err, e2ee.ErrRecoveryKey) && (known || kept != nil && !kept.recovery.IsZero()) {
			say("matrix.recovery_key: %v; it is not needed now, but put the one of the account's present cross-signing", err)
		} else if errors.Is(err, e2ee.ErrRecoveryKey) {
			return fmt.Errorf("matrix.recovery_key: %w; put the one of the account's present cross-signing", err)
		} else if err != nil {
			return fmt.Errorf("matrix.recovery_key: %w", err)
		}
	}
	switch {
	case exists && recovery:
		say("cross-signing is set up, and there is a recovery key to sign the bot's device with")
	case exists && known:
		say("cross-signing is set up; without matrix.recovery_key a lost device makes the bot set it up anew, and people have to verify it again")
	case exists && !c.Password.IsZero():
		say("cross-signing is set up, but matrix.recovery_key is missing: the bot will set it up anew with the password")
	case exists:
		return errors.New("matrix.recovery_key: missing (or matrix.password): the bot cannot sign its device, and clients withhold their keys from unsigned ones")
	case !c.Password.IsZero():
		say("cross-signing is not set up yet: the bot will do so with the password, and show its recovery key once")
	default:
		say("cross-signing is not set up yet, and a token alone may not be able to: set matrix.password if the start fails")
	}
	return nil
}

type login string

const (
	byKept     login = "with the device of the last time"
	byToken    login = "with the token"
	byPassword login = "with the password (and out again)"
)

func (d *Device) checkLogin(ctx context.Context, kept *row) (login, error) {
	c := d.config
	if kept != nil {
		d.Client.UserID, d.Client.DeviceID, d.Client.AccessToken = kept.user, kept.device, kept.token.Reveal()
		_, err := d.Client.Whoami(ctx)
		if err == nil {
			return byKept, nil
		} else if !errors.Is(err, mautrix.MUnknownToken) {
			return "", fmt.Errorf("matrix: ask %s who we are: %w", d.Client.HomeserverURL, err)
		}
		d.Client.ClearCredentials()
	}
	switch {
	case !c.Password.IsZero():
		return byPassword, d.password(ctx, "")
	case c.Token.IsZero():
		return "", errors.New("matrix.password: missing (or matrix.token, with which the bot cannot replace a lost device)")
	}
	d.Client.AccessToken = c.Token.Reveal()
	me, err := d.Client.Whoami(ctx)
	switch {
	case errors.Is(err, mautrix.MUnknownToken):
		return "", errors.New("matrix.token: the server does not know it")
	case err != nil:
		return "", fmt.Errorf("matrix: ask %s who we are: %w", d.Client.HomeserverURL, err)
	case me.DeviceID == "":
		return "", errors.New("matrix.token: it belongs to no device; use the token of a login, or matrix.password")
	}
	d.Client.UserID, d.Client.DeviceID = me.UserID, me.DeviceID
	return byToken, nil
}
