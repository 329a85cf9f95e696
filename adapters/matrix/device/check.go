package device

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/sqlstatestore"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// uiaSession reads the answer with which a server asks for the password.
func uiaSession(body []byte) (string, error) {
	var ui mautrix.RespUserInteractive
	if err := json.Unmarshal(body, &ui); err != nil {
		return "", errors.New("homeserver asks for the password in an unknown form")
	}
	if !slices.ContainsFunc(ui.Flows, func(f mautrix.UIAFlow) bool {
		return len(f.Stages) == 1 && f.Stages[0] == mautrix.AuthTypePassword
	}) {
		return "", errors.New("homeserver asks for more than a password")
	}
	return ui.Session, nil
}

// Check returns lines that say what works and what is missing, as `halfpoint config
// check` prints them, and an error for what keeps the bot from working. If it has to log
// in, it keeps the login in LoginFile, or else logs out again; it changes nothing else. If
// all is well it calls then, which may be nil, while it is logged in, and adds the result.
// DB may be nil.
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

	kept, err := c.stored(ctx)
	if err != nil {
		return lines, err
	}
	if kept != nil && !kept.of(*c, home) {
		kept = nil
	}
	how, err := d.checkLogin(ctx, kept)
	if err != nil {
		return lines, err
	}
	left := false
	if how == byPassword {
		if left, err = d.keepLogin(); err != nil {
			say("%v", err) // then as without a file
		}
	}
	if how == byPassword && !left {
		defer func() {
			_, out := d.Client.Logout(context.WithoutCancel(ctx))
			if out != nil && err == nil {
				err = fmt.Errorf("matrix: log out of the test login: %w", out)
			}
		}()
	}
	switch how {
	case byBrowser:
		say("accounts log in through the browser: start halfpoint, and it logs an address where you let it in")
		return lines, nil
	case byRenewal:
		say("logged in as %s through the browser; the token must be renewed, which only the running halfpoint may do, so the rest is not checked", kept.user)
		return lines, nil
	}
	say("logged in as %s %s", d.Client.UserID, how)
	if err := d.checkKeys(ctx, kept, how, say); err != nil || then == nil {
		return lines, err
	}
	more, err := then(ctx, d.Client)
	return append(lines, more...), err
}

// stored reads the device; nil if there is none.
func (c *Config) stored(ctx context.Context) (*row, error) {
	if c.DB == nil {
		return nil, nil
	}
	if there, err := c.DB.TableExists(ctx, "matrix_device"); err != nil || !there {
		return nil, err
	}
	return readRow(ctx, c.DB)
}

// Stored returns the device that another process uses, to ask the homeserver something with: its
// Client and State are all that it has, and nothing is changed. It is nil if there is no device. A
// token that has run out is not renewed; that is for the process that uses the device.
func Stored(ctx context.Context, c Config) (*Device, error) {
	c.defaults()
	r, err := c.stored(ctx)
	if err != nil || r == nil || !r.of(c, r.homeserver) {
		return nil, err
	}
	client, err := mautrix.NewClient(r.homeserver, r.user, r.token.Reveal())
	if err != nil {
		return nil, fmt.Errorf("read the matrix device: %w", err)
	}
	transport := c.transport()
	transport.DisableKeepAlives = true // it is not closed
	client.Client.Transport, client.DeviceID, client.Log, client.UserAgent = transport, r.device, zero(c.Log), agent
	return &Device{Client: client, State: sqlstatestore.NewSQLStateStore(c.DB, nil, false)}, nil
}

// checkKeys says whether encrypted rooms work.
func (d *Device) checkKeys(ctx context.Context, before *row, how login, say func(format string, args ...any)) error {
	c := d.config
	if !e2ee.Available {
		say("%s", e2ee.ErrOff)
		return nil
	}
	answer, err := d.Client.QueryKeys(ctx, &mautrix.ReqQueryKeys{DeviceKeys: mautrix.DeviceKeysRequest{d.Client.UserID: {}}})
	if err != nil {
		return fmt.Errorf("matrix: get the account's keys: %w", err)
	}
	say("encrypted rooms are on")
	master, exists := answer.MasterKeys[d.Client.UserID]
	var device id.DeviceID
	if slices.Contains([]login{byKept, byToken}, how) {
		device = d.Client.DeviceID
	}
	signed := e2ee.SignedBy(answer, d.Client.UserID, device)
	opens := func(key secret.Text) error {
		if key.IsZero() || !exists {
			return e2ee.ErrRecoveryKey
		}
		return e2ee.Opens(ctx, d.Client, key.Reveal(), master.FirstKey())
	}
	opened, err := c.checkRecovery(d.Client.UserID, before, opens, exists, signed, say)
	if err != nil {
		return err
	}
	if _, err := d.mark(ctx); err != nil {
		return err
	}
	managed, err := d.managed(ctx)
	if err != nil {
		return err
	}
	if managed {
		say("the account is managed in the browser (OAuth)")
	}
	switch {
	case opened:
		say("cross-signing is set up, and there is a recovery key to sign the bot's device with")
	case exists:
		own := d.made == master.FirstKey() && !c.Password.IsZero() && !managed
		say("cross-signing is set up, but its recovery key is not in matrix.recovery_key: %s", withoutKey(own, signed, managed))
	case managed, !c.Password.IsZero():
		say("cross-signing is not set up yet: the bot will do so, and log in which file it keeps the recovery key")
	default:
		say("cross-signing is not set up yet, and a token alone may not be able to: set matrix.password if the start fails")
	}
	return nil
}

// checkRecovery reports whether the recovery key of the owner or the one that the bot has made opens
// the account's cross-signing, if that exists.
func (c *Config) checkRecovery(user id.UserID, before *row, opens func(secret.Text) error, exists, signed bool, say func(string, ...any)) (opened bool, err error) {
	made, err := readRecovery(c.RecoveryFile, user)
	if err != nil {
		return false, err
	}
	if made.IsZero() && before != nil {
		made = before.recovery
	}
	kept := opens(made)
	if kept != nil && !fails(kept) {
		return false, fmt.Errorf("read the account's recovery key: %w", kept)
	}
	owners := opens(c.RecoveryKey)
	const advice = "set the key of the account's current cross-signing"
	switch {
	case c.RecoveryKey.IsZero() || !exists || owners == nil:
	case fails(owners) && (signed || kept == nil):
		say("matrix.recovery_key: %v; it is not needed now, but "+advice, owners)
	case fails(owners):
		return false, fmt.Errorf("matrix.recovery_key: %w; "+advice, owners)
	default:
		return false, fmt.Errorf("matrix.recovery_key: %w", owners)
	}
	return exists && (owners == nil || kept == nil), nil
}

// withoutKey says what happens while no recovery key opens the account's cross-signing: whether the
// bot has made it, and the device is signed, and the account is managed in the browser.
func withoutKey(own, signed, managed bool) string {
	switch {
	case own && signed:
		return "if the bot loses its device, it makes new keys, and clients warn that the identity was reset"
	case own:
		return "the bot, which set it up, makes new keys, and clients warn that the identity was reset"
	case signed:
		return "if the bot loses its device, the next one is unsigned until the key is there"
	case managed:
		return "the bot will run unsigned and log an address where you approve new keys. Better put the recovery key there"
	}
	return "the bot will run unsigned, and some people cannot read it in encrypted rooms. Put the recovery key there"
}

type login string

const (
	byKept     login = "with the device of the last time"
	byToken    login = "with the token"
	byCheck    login = "with the login of the last check, so the password is not tried"
	byPassword login = "with the password"
	byBrowser  login = "through the browser, later"
	byRenewal  login = "through the browser, with a token that is over"
)

func (d *Device) checkLogin(ctx context.Context, kept *row) (login, error) {
	c := d.config
	if kept != nil {
		d.Client.UserID, d.Client.DeviceID, d.Client.AccessToken = kept.user, kept.device, kept.token.Reveal()
		_, err := d.Client.Whoami(ctx)
		if err == nil {
			return byKept, nil
		} else if LoggedOut(err) && !kept.tokens.refresh.IsZero() && !time.Now().Before(kept.tokens.expires) {
			return byRenewal, nil // a token to renew it with is good once, and the bot's
		} else if !errors.Is(err, mautrix.MUnknownToken) {
			return "", fmt.Errorf("matrix: get the user of the token from %s: %w", d.Client.HomeserverURL, err)
		}
		d.Client.ClearCredentials()
	}
	switch {
	case !c.Password.IsZero() && (!c.Token.IsZero() || d.passwords(ctx)):
		if there, err := d.useLogin(ctx); there || err != nil {
			return byCheck, err
		}
		return byPassword, d.password(ctx, "")
	case c.Token.IsZero():
		return byBrowser, d.grants(ctx)
	}
	return byToken, d.useToken(ctx)
}
