// Package device is the bot's Matrix device: it logs in, keeps the device over
// restarts, signs it, and makes a new one when the old one is lost.
//
// A device must never be used from two copies of its database, nor from an old
// copy put back: its ratchets would give out the same keys twice. So a
// generation is counted, in the database and in the account's data on the
// server. A database that is behind is an old copy; its keys are thrown away
// and a new device is made, signed and the old one deleted, unattended.
//
// There is no backup of message keys on the server. What it could give back to
// a new device is what the lost one could read already, and has read: events
// are decrypted as they arrive. What was sent to the lost device and never
// reached it is in no backup.
package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/sqlstatestore"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/bot"
)

// Config is the account and where its device is kept. Errors name its fields as
// the configuration file does: matrix.homeserver, matrix.password and so on.
type Config struct {
	Homeserver  string // URL or server name, http only for loopback; empty: the server of User
	User        string // full id or localpart; may be empty with a token
	Password    bot.Secret
	Token       bot.Secret
	RecoveryKey bot.Secret
	// DB holds the device, mautrix's state store and the keys. It is not closed
	// by Device. On SQLite it should be synchronous=FULL: after a power cut keys
	// that were used must not be used again.
	DB   *dbutil.Database
	Name string                                                               // shown in the account's list of devices
	Dial func(ctx context.Context, network, address string) (net.Conn, error) // opens connections to the homeserver; nil: TCP
	Log  *slog.Logger
}

// Device is a logged-in device.
type Device struct {
	Client *mautrix.Client
	State  *sqlstatestore.SQLStateStore // the client's
	Crypto *e2ee.Machine                // nil in a build without the tag goolm

	// New says that this device did not exist before: there was none, or it was
	// lost, and what was encrypted for it cannot be read.
	New bool
	// Recovery is a recovery key that the bot has made and that the owner must be
	// shown. It is empty once [Device.Shown] was called.
	Recovery bot.Secret

	config    Config
	transport *http.Transport
	mu        sync.Mutex // row
	row       *row
	used      uint64 // Crypto.Uses at the last advance; of Open, then watch's, then Close's
	stop      context.CancelFunc
	done      chan struct{}
}

// markType is the account data in which the server keeps the mark.
const markType = "io.github.halfpoint_go.device"

type mark struct {
	Device     id.DeviceID `json:"device_id"`
	Generation int64       `json:"generation"`
}

// Open logs in, or takes up the device of the last time, and sees that it is
// cross-signed and no other than the one the server knows.
func Open(ctx context.Context, c Config) (*Device, error) {
	d, err := open(ctx, &c)
	return d, c.clean(err)
}

func open(ctx context.Context, c *Config) (_ *Device, err error) {
	c.defaults()
	if c.Password.IsZero() && c.Token.IsZero() {
		return nil, errors.New("matrix.password: missing (or matrix.token, with which the bot cannot replace a lost device)")
	}
	d, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.transport.CloseIdleConnections()
		}
	}()
	if _, err := c.DB.Exec(ctx, table); err != nil {
		return nil, fmt.Errorf("table matrix_device: %w", err)
	}
	d.State = sqlstatestore.NewSQLStateStore(c.DB, nil, false)
	if err := d.State.Upgrade(ctx); err != nil {
		return nil, fmt.Errorf("tables of the matrix rooms: %w", err)
	}
	d.Client.StateStore = d.State

	if err := d.logIn(ctx); err != nil {
		return nil, err
	}
	if err := d.encrypt(ctx); err != nil {
		return nil, err
	}
	if err := d.advance(ctx); err != nil {
		d.closeCrypto()
		return nil, err
	}
	d.deleteReplaced(ctx)
	d.watch(ctx)
	return d, nil
}

func (c *Config) defaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// connect makes a client that is not logged in.
func (c *Config) connect(ctx context.Context) (*Device, error) {
	home := c.Homeserver
	if _, name, whole := strings.Cut(c.User, ":"); home == "" && whole {
		home = name
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.Dial != nil {
		transport.DialContext = c.Dial
	}
	base, err := server(ctx, transport, home)
	if err != nil {
		return nil, err
	}
	client, err := mautrix.NewClient(base.String(), "", "")
	if err != nil {
		return nil, fmt.Errorf("matrix.homeserver: %w", err)
	}
	client.Client.Transport = transport
	client.Log = zero(c.Log)
	client.UserAgent = "halfpoint"
	client.ResponseSizeLimit = 64 << 20
	return &Device{Client: client, config: *c, transport: transport}, nil
}

// logIn takes up the device in the database, or else makes one.
func (d *Device) logIn(ctx context.Context) error {
	c := d.config
	r, err := readRow(ctx, c.DB)
	if err != nil {
		return err
	}
	home := d.Client.HomeserverURL.String()
	if r != nil && !r.of(c, home) {
		c.Log.Warn("matrix: account changed, the device of the previous account stays logged in", "before", r.user, "device", r.device)
		r = nil
	}
	if r == nil {
		return d.newDevice(ctx, nil)
	}
	r.homeserver = home
	d.row = r
	d.Client.UserID, d.Client.DeviceID, d.Client.AccessToken = r.user, r.device, r.token.Reveal()
	me, err := d.Client.Whoami(ctx)
	switch {
	case errors.Is(err, mautrix.MUnknownToken):
		soft := isSoftLogout(err)
		c.Log.Warn("matrix: the server no longer knows the bot's token, logging in again", "device", r.device, "keeps its device", soft)
		if soft && !c.Password.IsZero() {
			if err := d.password(ctx, r.device); err != nil {
				return err
			}
			if d.Client.DeviceID == r.device {
				r.token = bot.NewSecret(d.Client.AccessToken)
				if err := r.save(ctx, c.DB, false); err != nil {
					return err
				}
				break
			}
		}
		return d.newDevice(ctx, r)
	case err != nil:
		return fmt.Errorf("matrix: ask %s who we are: %w", home, err)
	case me.UserID != r.user || me.DeviceID != r.device:
		return d.newDevice(ctx, r)
	}
	if !e2ee.Available {
		return nil
	}
	there, err := d.mark(ctx)
	if err != nil {
		return err
	}
	if there.Device != "" && there.Device != r.device {
		c.Log.Warn("matrix: the account has had a newer device than the database knows: an old copy was put back, or the bot runs twice; making a new device",
			"database", r.device, "server", there.Device)
		r.replaced = append(r.replaced, there.Device)
		return d.newDevice(ctx, r)
	}
	if there.Generation > r.generation {
		c.Log.Warn("matrix: the database is an old copy; its keys must not be used again, making a new device",
			"database", r.generation, "server", there.Generation)
		return d.newDevice(ctx, r)
	}
	return nil
}

func isSoftLogout(err error) bool {
	var http mautrix.HTTPError
	if errors.As(err, &http) && http.RespError != nil {
		soft, _ := http.RespError.ExtraData["soft_logout"].(bool)
		return soft
	}
	return false
}

// mark reads the account's data; none is the zero mark.
func (d *Device) mark(ctx context.Context) (m mark, err error) {
	err = d.Client.GetAccountData(ctx, markType, &m)
	if errors.Is(err, mautrix.MNotFound) {
		return mark{}, nil
	} else if err != nil {
		return mark{}, fmt.Errorf("matrix: read the bot's account data: %w", err)
	}
	return m, nil
}

// newDevice logs in as another device than before and forgets the keys of that.
func (d *Device) newDevice(ctx context.Context, before *row) error {
	c := d.config
	d.Client.ClearCredentials()
	switch {
	case !c.Password.IsZero():
		if err := d.password(ctx, ""); err != nil {
			return err
		}
	default:
		d.Client.AccessToken = c.Token.Reveal()
		me, err := d.Client.Whoami(ctx)
		if errors.Is(err, mautrix.MUnknownToken) {
			return errors.New("matrix.token: the server does not know it (any more): put a new one, or matrix.password, with which the bot logs in by itself")
		} else if err != nil {
			return fmt.Errorf("matrix: ask %s who we are: %w", d.Client.HomeserverURL, err)
		}
		if me.DeviceID == "" {
			return errors.New("matrix.token: it belongs to no device; use the token of a login, or matrix.password")
		}
		if before != nil && me.DeviceID == before.device {
			return fmt.Errorf("matrix.password: needed once: device %s can no longer be used (its keys are lost or of an old copy of the database), and a token alone cannot make a new one; or put the token of a new login into matrix.token", me.DeviceID)
		}
		d.Client.UserID, d.Client.DeviceID = me.UserID, me.DeviceID
	}
	r := &row{user: d.Client.UserID, homeserver: d.Client.HomeserverURL.String(), device: d.Client.DeviceID,
		token: bot.NewSecret(d.Client.AccessToken), pickle: newPickle()}
	if c.User != "" && !r.of(c, r.homeserver) {
		return fmt.Errorf("matrix.user: %s, but the server says that it is %s", c.User, r.user)
	}
	if before != nil && before.user == r.user {
		r.recovery, r.shown = before.recovery, before.shown
		r.replaced = append(before.replaced, before.device)
	}
	there, err := d.mark(ctx)
	if err != nil {
		return err
	}
	if there.Device != "" {
		r.replaced = append(r.replaced, there.Device)
		if there.Device == r.device {
			r.generation = there.Generation
		}
	}
	slices.Sort(r.replaced)
	r.replaced = slices.DeleteFunc(slices.Compact(r.replaced), func(o id.DeviceID) bool { return o == r.device })
	if err := r.save(ctx, c.DB, true); err != nil {
		return err
	}
	d.row, d.New = r, true
	c.Log.Info("matrix: logged in as a new device", "user", r.user, "device", r.device, "replaces", r.replaced)
	return nil
}

// password logs in with it, as the given device or a new one.
func (d *Device) password(ctx context.Context, device id.DeviceID) error {
	c := d.config
	user := c.User
	if d.row != nil && device != "" {
		user = d.row.user.String()
	}
	if user == "" {
		return errors.New("matrix.user: missing; the password alone does not say whose it is")
	}
	_, err := d.Client.Login(ctx, &mautrix.ReqLogin{
		Type:       mautrix.AuthTypePassword,
		Identifier: mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: user},
		Password:   c.Password.Reveal(), DeviceID: device, InitialDeviceDisplayName: c.Name, StoreCredentials: true,
	})
	switch {
	case errors.Is(err, mautrix.MForbidden):
		return fmt.Errorf("matrix.password: the server does not take it for %s", user)
	case errors.Is(err, mautrix.MUserDeactivated):
		return fmt.Errorf("matrix.user: %s is deactivated", user)
	case err != nil:
		return fmt.Errorf("matrix: log in to %s as %s: %w", d.Client.HomeserverURL, user, err)
	}
	return nil
}

// encrypt opens encryption and signs the device. Keys that do not fit the
// server's make it a lost device.
func (d *Device) encrypt(ctx context.Context) error {
	if !e2ee.Available {
		d.config.Log.Info("matrix: " + e2ee.ErrOff.Error())
		return nil
	}
	machine, err := d.openCrypto(ctx)
	if errors.Is(err, e2ee.ErrOtherKeys) {
		d.config.Log.Warn("matrix: the keys of the device are lost, making a new device", "device", d.row.device, "err", err)
		if err := d.newDevice(ctx, d.row); err != nil {
			return err
		}
		machine, err = d.openCrypto(ctx)
	}
	if err != nil {
		return fmt.Errorf("matrix: encryption: %w", err)
	}
	d.Crypto = machine
	if err := d.sign(ctx); err != nil {
		d.closeCrypto()
		return err
	}
	if !d.row.shown {
		d.Recovery = d.row.recovery
	}
	return nil
}

func (d *Device) openCrypto(ctx context.Context) (*e2ee.Machine, error) {
	return e2ee.Open(ctx, e2ee.Config{Client: d.Client, DB: d.config.DB, State: d.State,
		Pickle: []byte(d.row.pickle.Reveal()), Log: d.config.Log})
}

// closeCrypto leaves Crypto where it is: who still has the device in hand is told
// that it is closed, not that there is no encryption.
func (d *Device) closeCrypto() {
	if d.Crypto != nil {
		_ = d.Crypto.Close()
	}
}

// sign has the device cross-signed, with the recovery key of the configuration
// or the one that the bot has made itself.
func (d *Device) sign(ctx context.Context) error {
	c := d.config
	try := func(recoveryKey bot.Secret) error {
		made, err := d.Crypto.CrossSign(ctx, e2ee.CrossSignConfig{Password: c.Password.Reveal(), RecoveryKey: recoveryKey.Reveal(), Keep: func(made string) error {
			d.row.recovery, d.row.shown = bot.NewSecret(made), false
			return d.row.save(ctx, c.DB, false)
		}})
		if err == nil && made != "" {
			c.Log.Warn("matrix: new cross-signing keys were made for the account; keep their recovery key", "user", d.row.user)
		}
		return err
	}
	kept, err := d.row.recovery, error(nil)
	if !c.RecoveryKey.IsZero() {
		err = try(c.RecoveryKey)
	}
	if !kept.IsZero() && (c.RecoveryKey.IsZero() || fails(err)) {
		err = try(kept)
	}
	// A wrong key of the owner's is for the owner to put right. Without one the
	// account's signing keys are the bot's to make.
	if c.RecoveryKey.IsZero() && (kept.IsZero() || fails(err)) {
		err = try(bot.Secret{})
	}
	switch {
	case errors.Is(err, e2ee.ErrPasswordNeeded):
		return errors.New("matrix.password: needed to sign the bot's device (clients withhold their keys from unsigned ones); or sign it from matrix.recovery_key")
	case errors.Is(err, e2ee.ErrPasswordWrong):
		return fmt.Errorf("matrix.password: the server does not take it for %s when the bot signs its device", d.row.user)
	case fails(err):
		return fmt.Errorf("matrix.recovery_key: needed to sign the bot's device: the account's cross-signing was set up elsewhere, put the recovery key of that: %w", err)
	case err != nil:
		return fmt.Errorf("matrix: sign the bot's device: %w", err)
	}
	return nil
}

// fails says that a recovery key is not the account's.
func fails(err error) bool {
	return errors.Is(err, e2ee.ErrRecoveryKey) || errors.Is(err, e2ee.ErrOtherIdentity)
}

// Shown says that the owner has seen Recovery.
func (d *Device) Shown(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.row.shown, d.Recovery = true, bot.Secret{}
	return d.row.save(ctx, d.config.DB, false)
}

// advance makes a new generation, in the database first: the server's may be
// behind, never ahead.
func (d *Device) advance(ctx context.Context) error {
	if d.Crypto == nil {
		return nil
	}
	uses := d.Crypto.Uses()
	d.mu.Lock()
	d.row.generation++
	now := mark{d.row.device, d.row.generation}
	err := d.row.save(ctx, d.config.DB, false)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	if err := d.Client.SetAccountData(ctx, markType, now); err != nil {
		return fmt.Errorf("matrix: write the bot's account data: %w", err)
	}
	d.used = uses
	return nil
}

// watch advances every few minutes in which the keys were used. A copy of the
// database from between two advances is not known as old only if the bot was
// killed before the second.
func (d *Device) watch(ctx context.Context) {
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	d.done = make(chan struct{})
	go func() {
		defer close(d.done)
		tick := time.NewTicker(5 * time.Minute)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if d.Crypto == nil || d.Crypto.Uses() == d.used {
				continue
			}
			if err := d.config.clean(d.advance(ctx)); err != nil && ctx.Err() == nil {
				d.config.Log.Warn("matrix: saving the generation of the device failed", "err", err)
			}
		}
	}()
}

// deleteReplaced deletes the devices before this one, which the server lets us
// do with the password only. Failed deletions are tried again at the next start.
func (d *Device) deleteReplaced(ctx context.Context) {
	c := d.config
	var left []id.DeviceID
	for _, old := range d.row.replaced {
		if err := deleteDevice(ctx, d.Client, old, c.Password.Reveal()); err != nil {
			left = append(left, old)
			c.Log.Warn("matrix: deleting the old device failed (delete it in the account's settings, or set matrix.password)", "device", old, "err", c.clean(err))
		} else {
			c.Log.Info("matrix: old device deleted", "device", old)
		}
	}
	if len(left) < len(d.row.replaced) {
		d.row.replaced = left
		if err := d.row.save(ctx, c.DB, false); err != nil {
			c.Log.Warn("matrix: saving the device failed", "err", err)
		}
	}
}

// deleteDevice is done when the device is not there, too.
func deleteDevice(ctx context.Context, client *mautrix.Client, device id.DeviceID, password string) error {
	if _, err := client.GetDeviceInfo(ctx, device); errors.Is(err, mautrix.MNotFound) {
		return nil
	}
	request := mautrix.FullRequest{Method: "DELETE", URL: client.BuildClientURL("v3", "devices", device), RequestJSON: struct{}{}}
	body, err := client.MakeFullRequest(ctx, request)
	var http mautrix.HTTPError
	if err == nil || !errors.As(err, &http) || !http.IsStatus(401) {
		return err
	}
	session, err := uiaSession(body)
	if err != nil {
		return err
	}
	if password == "" {
		return e2ee.ErrPasswordNeeded
	}
	// mautrix's DeleteDevice writes the password into the log at debug level.
	request.SensitiveContent = true
	request.RequestJSON = mautrix.ReqDeleteDevice[any]{Auth: &mautrix.ReqUIAuthLogin{
		BaseAuthData: mautrix.BaseAuthData{Type: mautrix.AuthTypePassword, Session: session},
		User:         client.UserID.String(), Password: password,
	}}
	_, err = client.MakeFullRequest(ctx, request)
	return err
}

// Close stops encryption, after which Crypto answers [e2ee.ErrClosed], and notes on
// the server how far the keys were used. The device stays logged in.
func (d *Device) Close() error {
	d.stop()
	<-d.done
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := d.config.clean(d.advance(ctx))
	d.closeCrypto()
	d.transport.CloseIdleConnections()
	return err
}

// clean takes secrets out of an error's text, should a server repeat them.
func (c *Config) clean(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range []string{c.Password.Reveal(), c.Token.Reveal(), c.RecoveryKey.Reveal()} {
		if len(secret) >= 4 { // less is no secret, and in every text
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return cleanError{text, err}
}

type cleanError struct {
	text string
	err  error
}

func (e cleanError) Error() string { return e.text }
func (e cleanError) Unwrap() error { return e.err }
