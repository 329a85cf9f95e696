// Package device is the bot's Matrix device: it logs in, keeps the device over
// restarts, signs it, and makes a new one when the old one is lost.
//
// A device must never be used from two copies of its database, nor from an old
// copy put back: its ratchets would give out the same keys twice. So a
// generation is counted, in the database and in the account's data on the
// server. A database that is behind is an old copy; its keys are thrown away
// and a new device is made, signed and the old one deleted, unattended.
//
// The keys of messages are in the account's backup on the server, which the recovery key
// opens: with an old copy of the database the new device reads again what the lost one
// has read since. What was sent to the lost device and never reached it is in no
// backup.
package device

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/sqlstatestore"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// Config is the account and where its device is kept. Errors name its fields as
// the configuration file does: matrix.homeserver, matrix.password and so on.
type Config struct {
	Homeserver  string // URL or server name, http only for loopback; empty: the server of User
	User        string // full id or localpart; may be empty with a token
	Password    secret.Text
	Token       secret.Text
	RecoveryKey secret.Text
	// RecoveryFile is where the bot keeps recovery keys that it makes. If it is empty they
	// last as long as the Device.
	RecoveryFile string
	// LoginFile is where Check keeps its login for Open, which takes it over. If it is empty
	// Check logs out again.
	LoginFile string
	// DB holds the device, mautrix's state store and the keys. It is not closed
	// by Device. On SQLite it should be synchronous=FULL: after a power cut keys
	// that were used must not be used again.
	DB   *dbutil.Database
	Name string // shown in the account's list of devices
	// Waiting is called when a login waits for the account's owner, which may take long;
	// may be nil.
	Waiting func(ctx context.Context)
	Settle  time.Duration                                                        // at least, between a claim of the account and the look whether it stands; 0: one second
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // opens connections to the homeserver; nil: TCP
	// Where several processes have one database, Holds reports whether this one still has the
	// account: without it nothing is asked of the homeserver. Term is for which it has it, and
	// grows each time that it passes to another. Transactions on DB fail without the account. Nil
	// and 0: the process is alone.
	Holds func() bool
	Term  int64
	// OldCopy is called when the database turns out to be an old copy, before that can no
	// longer be seen. After an error it is called again at the next start. May be nil.
	OldCopy func(context.Context) error
	Log     *slog.Logger
}

// Device is a logged-in device.
type Device struct {
	Client *mautrix.Client
	State  *sqlstatestore.SQLStateStore // the client's
	Crypto *e2ee.Machine                // nil in a build without the tag goolm

	// New says that this device did not exist before: there was none, or it was
	// lost, and what was encrypted for it cannot be read.
	New bool
	// Recovery is the recovery key that the bot has made for the account, if it has.
	Recovery secret.Text

	config    Config
	transport checked
	mu        sync.Mutex // row
	row       *row
	oauth     *mautrix.Client // of logins in the browser; without an account
	renewing  sync.Mutex      // tokens, renewal and closed; may be locked after mu, not before
	tokens    tokens          // of a login in the browser
	renewal   *renewal        // nil: none is under way
	closed    bool            // the login is not renewed any more
	unsaved   tokens          // that could not be stored; the renewal's
	useCalls  atomic.Uint64   // of Use
	used      uint64          // uses at the last advance; of Open, then watch's, then Close's
	made      id.Ed25519      // as in the mark; like used
	approve   string          // where the owner has to approve cross-signing keys; like used
	stop      context.CancelFunc
	done      chan struct{}
	run       string        // this start, in the mark
	place     string        // of the database, in the mark
	claimed   bool          // the mark is this run's; like used
	taken     chan struct{} // closed when it is another's
	lost      sync.Once     // closes taken
}

// markType is the account data in which the server keeps the mark.
const markType = "io.github.halfpoint_go.device"

type mark struct {
	Device     id.DeviceID `json:"device_id"`
	Generation int64       `json:"generation"`
	Made       id.Ed25519  `json:"master_key,omitempty"` // the newest master key that the bot has made for the account

	Run   string `json:"run,omitempty"`   // which start of the bot has written this; empty: an earlier version
	Place string `json:"place,omitempty"` // where its database is
	Term  int64  `json:"term,omitempty"`  // see Config
	Beat  int64  `json:"alive,omitempty"` // when it wrote this, in milliseconds of Unix time; 0: it has ended
}

// after reports whether the server has seen more of the bot than the database knows. A
// new device whose first start failed before it made a mark finds that of the device
// which it replaces.
func (m mark) after(r *row) bool {
	if m.Device == r.device {
		return m.Generation > r.generation
	}
	return m.Device != "" && !slices.Contains(r.replaced, m.Device)
}

// agent is how the bot calls itself to the homeserver.
const agent = "halfpoint"

// Open logs in, or takes up the device of the last time, and sees that it is
// cross-signed and no other than the one the server knows.
func Open(ctx context.Context, c Config) (*Device, error) {
	d, err := open(ctx, &c)
	return d, c.clean(err)
}

func open(ctx context.Context, c *Config) (_ *Device, err error) {
	c.defaults()
	d, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.release(ctx)
			d.endRenewals()
			d.transport.CloseIdleConnections()
		}
	}()
	for _, table := range []string{table, oauthTable} {
		if _, err := c.DB.Exec(ctx, table); err != nil {
			return nil, fmt.Errorf("create tables of the matrix device: %w", err)
		}
	}
	if d.place, err = c.placeOf(ctx); err != nil {
		return nil, err
	}
	d.State = sqlstatestore.NewSQLStateStore(c.DB, nil, false)
	if err := d.State.Upgrade(ctx); err != nil {
		return nil, fmt.Errorf("create the tables of the matrix rooms: %w", err)
	}
	d.Client.StateStore = d.State

	if err := d.logIn(ctx); err != nil {
		return nil, err
	}
	if err := d.encrypt(ctx); err != nil {
		return nil, err
	}
	if err := d.advance(ctx, true); err != nil {
		d.closeCrypto()
		return nil, err
	}
	d.deleteReplaced(ctx)
	d.watch(ctx)
	return d, nil
}

func (c *Config) defaults() {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Settle = cmp.Or(c.Settle, settleFor)
}

// connect makes a client that is not logged in.
func (c *Config) connect(ctx context.Context) (*Device, error) {
	home := c.Homeserver
	if _, name, whole := strings.Cut(c.User, ":"); home == "" && whole {
		home = name
	}
	transport := checked{c.transport(), c.Holds}
	base, err := server(ctx, transport, home)
	if err != nil {
		return nil, err
	}
	d := &Device{config: *c, transport: transport, run: rand.Text(), taken: make(chan struct{})}
	for _, client := range []**mautrix.Client{&d.Client, &d.oauth} {
		made, err := mautrix.NewClient(base.String(), "", "")
		if err != nil {
			return nil, fmt.Errorf("matrix.homeserver: %w", err)
		}
		made.Client.Transport = transport
		made.Log = zero(c.Log)
		made.UserAgent = agent
		made.ResponseSizeLimit = 64 << 20
		*client = made
	}
	d.oauth.SaveNewToken = d.saveTokens
	return d, nil
}

func (c *Config) transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if c.Dial != nil {
		t.DialContext = c.Dial
	}
	return t
}

// errElsewhere is the error of a request that is not made because another process may have the
// account.
var errElsewhere = errors.New("another process has the account")

// checked does requests only while this process has the account.
type checked struct {
	*http.Transport
	holds func() bool // nil: it always has
}

// RoundTrip does one request.
func (t checked) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.holds != nil && !t.holds() {
		return nil, errElsewhere
	}
	return t.Transport.RoundTrip(r)
}

// stands returns an error unless the database says that this process has the account, which may
// have been stopped since it last looked.
func (d *Device) stands(ctx context.Context) error {
	if d.config.Term == 0 {
		return nil
	}
	return d.config.DB.DoTxn(ctx, nil, func(context.Context) error { return nil })
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
	if !r.tokens.refresh.IsZero() {
		d.use(r.tokens)
	}
	me, err := d.Client.Whoami(ctx)
	switch {
	case LoggedOut(err) && !r.tokens.refresh.IsZero():
		c.Log.Warn("matrix: the homeserver has ended the login, or the database is an old copy; a new login is needed", "device", r.device)
		d.use(tokens{client: r.tokens.client})
		return d.newDevice(ctx, r)
	case errors.Is(err, mautrix.MUnknownToken):
		soft := isSoftLogout(err)
		c.Log.Warn("matrix: homeserver rejected the stored token, will log in again", "device", r.device, "keeps its device", soft)
		if soft && !c.Password.IsZero() {
			if err := d.password(ctx, r.device); err != nil {
				return err
			}
			if d.Client.DeviceID == r.device {
				r.token = secret.New(d.Client.AccessToken)
				if err := r.save(ctx, c.DB, false); err != nil {
					return err
				}
				break
			}
		}
		return d.newDevice(ctx, r)
	case err != nil:
		return fmt.Errorf("matrix: get the user of the token from %s: %w", home, err)
	case me.UserID != r.user || me.DeviceID != r.device:
		return d.newDevice(ctx, r)
	}
	there, err := d.mark(ctx)
	if err != nil {
		return err
	}
	if there.after(r) || d.elsewhere(there) {
		if err := d.claim(ctx, there); err != nil {
			return err
		}
	}
	switch {
	case !there.after(r):
		return nil
	case !e2ee.Available && there.Device == r.device: // it has no keys that must not be used again
		c.Log.Warn("matrix: database is an old backup", "database", r.generation, "server", there.Generation)
		r.generation = there.Generation
		if c.OldCopy == nil {
			return nil
		}
		return c.OldCopy(ctx)
	case there.Device != r.device:
		c.Log.Warn("matrix: account has a newer device than the database (an old backup was restored, or the bot runs twice), will make a new device",
			"database", r.device, "server", there.Device)
	default:
		c.Log.Warn("matrix: database is an old backup whose keys must not be used again, will make a new device",
			"database", r.generation, "server", there.Generation)
	}
	return d.newDevice(ctx, r)
}

func isSoftLogout(err error) bool {
	var http mautrix.HTTPError
	if errors.As(err, &http) && http.RespError != nil {
		soft, _ := http.RespError.ExtraData["soft_logout"].(bool)
		return soft
	}
	return false
}

// mark reads the account's data, and notes what it says of the account; none is the
// zero mark.
func (d *Device) mark(ctx context.Context) (m mark, err error) {
	if m, err = d.readMark(ctx); err == nil && m != (mark{}) {
		d.made = m.Made
	}
	return m, err
}

func (d *Device) readMark(ctx context.Context) (m mark, err error) {
	err = d.Client.GetAccountData(ctx, markType, &m)
	if errors.Is(err, mautrix.MNotFound) {
		return mark{}, nil
	} else if err != nil {
		return mark{}, fmt.Errorf("matrix: read the bot's account data: %w", err)
	}
	return m, nil
}

func (d *Device) writeMark(ctx context.Context, m mark) error {
	if err := d.Client.SetAccountData(ctx, markType, m); err != nil {
		return fmt.Errorf("matrix: write the bot's account data: %w", err)
	}
	return nil
}

// newDevice logs in as another device than before and forgets the keys of that.
func (d *Device) newDevice(ctx context.Context, before *row) error {
	c := d.config
	claimed := d.claimed
	d.release(ctx) // while the login before is there: the next may fail
	d.end(ctx)
	d.row = nil // no token is its own from now on
	d.Client.ClearCredentials()
	if d.tokens.client == "" {
		known, err := readTokens(ctx, c.DB, d.Client.HomeserverURL.String())
		if err != nil {
			return err
		}
		d.tokens.client = known.client
	}
	if err := d.logInAnew(ctx, before); err != nil {
		return err
	}
	r := &row{user: d.Client.UserID, homeserver: d.Client.HomeserverURL.String(), device: d.Client.DeviceID,
		token: secret.New(d.Client.AccessToken), pickle: newPickle(), tokens: d.tokens}
	if c.User != "" && !r.of(c, r.homeserver) {
		return fmt.Errorf("matrix.user: %s, but the password or token belongs to %s", c.User, r.user)
	}
	if before != nil && before.user == r.user {
		r.recovery = before.recovery
		r.replaced = append(before.replaced, before.device)
	}
	var there mark
	if err := d.insist(func() (err error) {
		if there, err = d.mark(ctx); err == nil && (before == nil || claimed || there.after(before) || d.elsewhere(there)) {
			err = d.claim(ctx, there)
		}
		return err
	}); err != nil {
		if c.Token.IsZero() || r.token != c.Token {
			d.release(ctx)
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
			defer cancel()
			d.logOut(ctx)
		}
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
	if !d.tokens.refresh.IsZero() { // they may have been renewed meanwhile
		r.token, r.tokens = d.tokens.access, d.tokens
	}
	if before != nil && c.OldCopy != nil && there.after(before) {
		if err := c.OldCopy(ctx); err != nil {
			return err
		}
	}
	if err := r.save(ctx, c.DB, true); err != nil {
		return err
	}
	d.row, d.New = r, true
	c.Log.Info("matrix: logged in as a new device", "user", r.user, "device", r.device, "replaces", r.replaced)
	return nil
}

// logInAnew logs in with the password, through the browser, or with the token, which is of no use
// if it is the one of the device before.
func (d *Device) logInAnew(ctx context.Context, before *row) error {
	c := d.config
	switch {
	case !c.Password.IsZero() && (!c.Token.IsZero() || d.passwords(ctx)):
		if taken, err := d.takeLogin(ctx); taken || err != nil {
			return err
		}
		return d.password(ctx, "")
	case c.Token.IsZero():
		if !c.Password.IsZero() {
			c.Log.Warn("matrix: the homeserver takes no password, so matrix.password has no effect; the account logs in through the browser")
		}
		return d.logInByBrowser(ctx)
	}
	err := d.useToken(ctx)
	if err == nil && before != nil && d.Client.DeviceID == before.device {
		return fmt.Errorf("matrix.password: needed once: device %s can no longer be used (its keys are lost or come from an old backup), and a token alone cannot make a new device; or set matrix.token to the token of a new login", before.device)
	}
	return err
}

// useToken logs in with the token of the configuration.
func (d *Device) useToken(ctx context.Context) error {
	d.Client.AccessToken = d.config.Token.Reveal()
	me, err := d.Client.Whoami(ctx)
	switch {
	case errors.Is(err, mautrix.MUnknownToken):
		return errors.New("matrix.token: rejected by the homeserver; set a new one, or matrix.password, with which the bot logs in by itself")
	case err != nil:
		return fmt.Errorf("matrix: get the user of the token from %s: %w", d.Client.HomeserverURL, err)
	case me.DeviceID == "":
		return errors.New("matrix.token: belongs to no device; use the token of a login, or matrix.password")
	}
	d.Client.UserID, d.Client.DeviceID = me.UserID, me.DeviceID
	return nil
}

// logOut ends a login that has made no device of the bot.
func (d *Device) logOut(ctx context.Context) {
	if !d.tokens.refresh.IsZero() {
		d.end(ctx)
		return
	}
	if _, err := d.Client.Logout(ctx); err != nil {
		d.config.Log.Warn("matrix: logging out failed", "device", d.Client.DeviceID, "err", err)
	}
}

// insist has f's requests made up to four times, within half a minute: a login that is not
// stored yet would be lost to a passing fault, and it is dear, to the owner or to the
// homeserver.
func (d *Device) insist(f func() error) error {
	d.Client.DefaultHTTPRetries = 3
	defer func() { d.Client.DefaultHTTPRetries = 0 }()
	return f()
}

// password logs in with it, as the given device or a new one.
func (d *Device) password(ctx context.Context, device id.DeviceID) error {
	c := d.config
	user := c.User
	if d.row != nil && device != "" {
		user = d.row.user.String()
	}
	if user == "" {
		return errors.New("matrix.user: missing; a password needs the account's name")
	}
	_, err := d.Client.Login(ctx, &mautrix.ReqLogin{
		Type:       mautrix.AuthTypePassword,
		Identifier: mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: user},
		Password:   c.Password.Reveal(), DeviceID: device, InitialDeviceDisplayName: c.Name, StoreCredentials: true,
	})
	switch {
	case errors.Is(err, mautrix.MForbidden):
		return fmt.Errorf("matrix.password: rejected by the homeserver for %s", user)
	case retry.After(err) > 0:
		return fmt.Errorf("matrix: %s takes no more logins for now, try again in %v: %w", d.Client.HomeserverURL, retry.After(err).Round(time.Second), err)
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
		d.config.Log.Warn("matrix: keys of the device are lost, will make a new device", "device", d.row.device, "err", err)
		if err := d.newDevice(ctx, d.row); err != nil {
			return err
		}
		machine, err = d.openCrypto(ctx)
	}
	if err != nil {
		return fmt.Errorf("matrix: encryption: %w", err)
	}
	d.Crypto = machine
	err = d.loadRecovery(ctx)
	if err == nil {
		err = d.sign(ctx)
	}
	if err != nil {
		d.closeCrypto()
		return err
	}
	if d.approve == "" { // until then the backup is another's
		d.backUp(ctx)
	}
	return nil
}

// backUp opens the backup of the account's keys, without which the bot plays on, but
// cannot read what a lost device could.
func (d *Device) backUp(ctx context.Context) {
	var recoveryKeys []string
	for _, key := range []secret.Text{d.config.RecoveryKey, d.Recovery} {
		if !key.IsZero() {
			recoveryKeys = append(recoveryKeys, key.Reveal())
		}
	}
	err := d.Crypto.Backup(ctx, recoveryKeys...)
	switch {
	case errors.Is(err, e2ee.ErrNoBackup):
		d.config.Log.Warn("matrix: keys are not backed up; if the device is lost, so is what was written meanwhile in encrypted rooms. Set matrix.recovery_key", "err", err)
	case err != nil:
		d.config.Log.Warn("matrix: opening the key backup failed, will retry", "err", err)
	}
}

func (d *Device) openCrypto(ctx context.Context) (*e2ee.Machine, error) {
	return e2ee.Open(ctx, e2ee.Config{Client: d.Client, DB: d.config.DB, State: d.State,
		Pickle: []byte(d.row.pickle.Reveal()), Log: d.config.Log})
}

// closeCrypto closes Crypto and keeps the pointer: callers that still hold the device get
// ErrClosed, not a device without encryption.
func (d *Device) closeCrypto() {
	if d.Crypto != nil {
		_ = d.Crypto.Close()
	}
}

// sign has the device cross-signed, with the recovery key of the configuration or the
// one that the bot has made itself. While the account's owner has something to do first
// the device stays unsigned, which is no error: see waits.
func (d *Device) sign(ctx context.Context) error {
	c := d.config
	try := func(recoveryKey secret.Text, replace func(id.Ed25519) bool) error {
		before := d.made
		key, err := d.Crypto.CrossSign(ctx, e2ee.CrossSignConfig{Password: c.Password.Reveal(), RecoveryKey: recoveryKey.Reveal(), Replace: replace, Keep: func(made string) error {
			if err := keepRecovery(c.RecoveryFile, d.row.user, secret.New(made)); err != nil {
				return err
			}
			d.Recovery = secret.New(made)
			return nil
		}})
		if err == nil && key != "" {
			d.made, err = d.Crypto.Master(ctx)
		}
		if err == nil && d.made != before {
			c.Log.Warn("matrix: created new cross-signing keys for the account; save a copy of their recovery key", "user", d.row.user, "file", c.RecoveryFile)
		}
		return err
	}
	var unknown error // whether the account is managed
	kept, err := d.Recovery, error(nil)
	if !c.RecoveryKey.IsZero() {
		err = try(c.RecoveryKey, nil)
	}
	if !kept.IsZero() && (c.RecoveryKey.IsZero() || fails(err)) {
		err = try(kept, func(id.Ed25519) bool { return true })
	}
	// A wrong key of the owner's is for the owner to put right. Without one the bot makes
	// signing keys, but replaces none that the owner has made without being told to.
	if c.RecoveryKey.IsZero() && (kept.IsZero() || fails(err)) {
		err = try(secret.Text{}, func(master id.Ed25519) (replace bool) {
			if master == d.made && !c.Password.IsZero() {
				return true
			}
			replace, unknown = d.managed(ctx)
			return replace
		})
	}
	if unknown != nil {
		return unknown
	}
	d.approve = ""
	var approval e2ee.ErrApproval
	switch {
	case errors.As(err, &approval):
		d.approve = approval.URL
		if d.approve == "" {
			d.approve = "the account's page of the homeserver"
		}
	case errors.Is(err, e2ee.ErrIdentity):
		c.Log.Warn("matrix: the bot runs unsigned, so some people cannot read it in encrypted rooms: the account's cross-signing was set up elsewhere; put its recovery key into matrix.recovery_key", "user", d.row.user)
	case errors.Is(err, e2ee.ErrPasswordNeeded):
		return errors.New("matrix.password: needed to sign the bot's device (clients withhold their keys from unsigned devices); or set matrix.recovery_key")
	case errors.Is(err, e2ee.ErrPasswordWrong):
		return fmt.Errorf("matrix.password: rejected by the homeserver for %s when the bot signs its device", d.row.user)
	case fails(err):
		return fmt.Errorf("matrix.recovery_key: needed to sign the bot's device, because the account's cross-signing was set up elsewhere; set the recovery key from there: %w", err)
	case err != nil:
		return fmt.Errorf("matrix: sign the bot's device: %w", err)
	}
	return nil
}

// managed reports whether the account is managed in the browser, by OAuth: its owner is
// asked there before its cross-signing keys are replaced.
func (d *Device) managed(ctx context.Context) (bool, error) {
	_, err := d.metadata(ctx)
	if errors.Is(err, errNoGrant) {
		return false, nil
	}
	return err == nil, err
}

// fails says that a recovery key is not the account's.
func fails(err error) bool {
	return errors.Is(err, e2ee.ErrRecoveryKey) || errors.Is(err, e2ee.ErrOtherIdentity)
}

// change changes the row here and in the database. Tokens may be renewed at any time, so
// nothing else writes it while the device is open.
func (d *Device) change(ctx context.Context, f func(*row)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d.row)
	return d.row.save(ctx, d.config.DB, false)
}

// Use says that the database has changed in a way that an old copy would lack.
func (d *Device) Use() { d.useCalls.Add(1) }

func (d *Device) uses() uint64 {
	n := d.useCalls.Load()
	if d.Crypto != nil {
		n += d.Crypto.Uses()
	}
	return n
}

// advance makes a new generation, in the database first: the server's may be
// behind, never ahead. Alive: the bot keeps running.
func (d *Device) advance(ctx context.Context, alive bool) error {
	uses := d.uses()
	var device id.DeviceID
	var generation int64
	if err := d.change(ctx, func(r *row) {
		r.generation++
		device, generation = r.device, r.generation
	}); err != nil {
		return err
	}
	if err := d.write(ctx, device, generation, alive); err != nil {
		return err
	}
	d.used = uses
	return nil
}

// beat writes that the bot lives.
func (d *Device) beat(ctx context.Context) error {
	if err := d.stands(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	device, generation := d.row.device, d.row.generation
	d.mu.Unlock()
	return d.write(ctx, device, generation, true)
}

// How often the bot uploads its cross-signing keys again while the owner has not
// approved them: often while the owner may be at it, then so that it misses no approval,
// which is good for ten minutes.
const (
	approveOften  = 15 * time.Second
	approveSeldom = 4 * time.Minute
	approveFor    = 10 * time.Minute
	remindSeldom  = 24 * time.Hour
)

// watch advances every few minutes in which the device was used. A copy of the
// database from between two advances is not known as old only if the bot was
// killed before the second. It also says that the bot lives, until another one has taken
// the account over, and waits for the owner's approval.
func (d *Device) watch(ctx context.Context) {
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	d.done = make(chan struct{})
	told, reminder := d.remind(), approveFor
	go func() {
		defer close(d.done)
		tick, beats := time.NewTicker(5*time.Minute), time.NewTicker(beatEvery)
		defer tick.Stop()
		defer beats.Stop()
		var again <-chan time.Time
		if d.approve != "" {
			again = time.After(approveOften)
		}
		for {
			select {
			case <-ctx.Done():
				return
			case <-again:
				again = nil
				wait := approveSeldom
				if time.Since(told) < approveFor {
					wait = approveOften
				}
				asked := d.approve
				if err := d.config.clean(d.sign(ctx)); ctx.Err() != nil {
					return
				} else if err != nil {
					d.approve, wait = asked, max(wait, retry.After(err))
					d.config.Log.Warn("matrix: signing the device failed, will retry", "error", err, "again", wait)
				} else if d.approve == "" {
					d.config.Log.Info("matrix: the device is signed now")
					d.backUp(ctx)
					break
				} else if d.approve != asked || time.Since(told) >= reminder {
					told, reminder = d.remind(), min(2*reminder, remindSeldom)
				}
				again = time.After(wait)
				continue
			case <-beats.C:
				if err := d.config.clean(d.beat(ctx)); errors.Is(err, ErrTwin) {
					return
				} else if err != nil && ctx.Err() == nil {
					d.config.Log.Info("matrix: writing that the bot lives failed, will retry", "err", err)
				}
				continue
			case <-tick.C:
				if d.uses() == d.used {
					continue
				}
			}
			if err := d.config.clean(d.advance(ctx, true)); errors.Is(err, ErrTwin) {
				return
			} else if err != nil && ctx.Err() == nil {
				d.config.Log.Warn("matrix: saving the device's generation failed, will retry", "err", err)
			}
		}
	}()
}

// remind tells the owner where to approve cross-signing keys, if that is needed, and
// returns the time.
func (d *Device) remind() time.Time {
	if d.approve != "" {
		d.config.Log.Warn("matrix: the bot runs unsigned, so some people cannot read it in encrypted rooms: open the address, log in as the bot's account and approve the reset of its cross-signing within ten minutes; or put its recovery key into matrix.recovery_key and start again",
			"user", d.row.user, "address", d.approve)
	}
	return time.Now()
}

// deleteReplaced deletes the devices before this one, which the server lets us
// do with the password only. Failed deletions are tried again at the next start.
func (d *Device) deleteReplaced(ctx context.Context) {
	c := d.config
	var left []id.DeviceID
	for _, old := range d.row.replaced {
		if err := deleteDevice(ctx, d.Client, old, c.Password.Reveal()); err != nil {
			left = append(left, old)
			c.Log.Warn("matrix: deleting an old device failed, will retry at the next start (or delete it yourself)", "where", d.where(ctx), "device", old, "err", c.clean(err))
		} else {
			c.Log.Info("matrix: old device deleted", "device", old)
		}
	}
	if len(left) < len(d.row.replaced) {
		if err := d.change(ctx, func(r *row) { r.replaced = left }); err != nil {
			c.Log.Warn("matrix: saving the list of old devices failed, will retry at the next start", "err", err)
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
// the server how far the device was used. The device stays logged in.
func (d *Device) Close() error {
	d.stop()
	<-d.done
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := d.config.clean(d.advance(ctx, false))
	if errors.Is(err, ErrTwin) { // whose mark stays
		err = nil
	}
	d.endRenewals()
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
