package device

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/oauth"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// This file logs in where the homeserver takes no password: by OAuth 2.0, with the device
// authorization grant (RFC 8628). The owner of the account opens an address in any browser
// and lets the bot in. The login lasts, in tokens that replace each other every few
// minutes; each is stored before it is used, for the one before is worth nothing then.

// tokens are a login by OAuth. The zero value is none.
type tokens struct {
	client  string      // the bot's id at the homeserver
	refresh secret.Text // brings the next access token
	access  secret.Text
	expires time.Time // the access token; zero: when the homeserver refuses it
}

// clientURI tells people who let the bot in what it is.
const clientURI = "https://github.com/halfpoint-go/halfpoint"

// LoggedOut reports whether an error means that the homeserver does not know the login
// any more.
func LoggedOut(err error) bool {
	return errors.Is(err, mautrix.MUnknownToken) || errors.Is(err, mautrix.MMissingToken) || errors.Is(err, mautrix.ErrFailedToRefreshToken) &&
		(errors.Is(err, mautrix.ErrOAuthInvalidGrant) || errors.Is(err, mautrix.ErrOAuthInvalidClient) || errors.Is(err, mautrix.ErrOAuthUnauthorizedClient))
}

// use has the client use a login from now on. Call it before requests run beside each other.
func (d *Device) use(t tokens) {
	d.tokens, d.unsaved = t, tokens{}
	d.Client.AccessToken = t.access.Reveal()
	d.Client.Client.Transport = d.transport
	d.oauth.OAuthSetTokens(t.client, t.refresh.Reveal(), t.access.Reveal(), t.expires)
	if !t.refresh.IsZero() {
		d.Client.Client.Transport = renewing{d}
	}
}

// renewing does requests with the present access token, which it renews. mautrix would, too,
// but not safely in requests beside each other, and it repeats for ever what the homeserver
// refuses.
type renewing struct{ d *Device }

// RoundTrip does one request.
func (t renewing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") == "" {
		return t.d.transport.RoundTrip(r)
	}
	token, err := t.d.token(r.Context(), "")
	if err != nil {
		return nil, err
	}
	answer, err := t.send(r, token)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		return answer, err
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, mautrix.ErrorResponseSizeLimit))
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	var e mautrix.RespError
	if json.Unmarshal(body, &e) != nil || !errors.Is(e, mautrix.MUnknownToken) {
		return answer, nil
	}
	// The homeserver's clock may differ, or the login is over.
	if token, err = t.d.token(r.Context(), token); err != nil {
		return nil, err
	}
	if r.GetBody == nil && r.Body != nil && r.Body != http.NoBody {
		return nil, errors.New("the login was renewed, the request is to be sent again")
	}
	return t.send(r, token)
}

func (t renewing) send(r *http.Request, token string) (*http.Response, error) {
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	again.Header.Set("Authorization", "Bearer "+token)
	return t.d.transport.RoundTrip(again)
}

// How long before its end an access token is renewed, and how long that may take.
const (
	renewBefore = 30 * time.Second
	renewFor    = 30 * time.Second
)

// renewal is one that is under way.
type renewal struct {
	done  chan struct{} // closed at its end, after which the rest may be read
	token string
	err   error
}

// token returns the present access token, after it has been renewed if it is nearly over or
// the homeserver has refused it. Requests beside each other wait for one renewal, each as
// long as its context lasts.
func (d *Device) token(ctx context.Context, refused string) (string, error) {
	d.renewing.Lock()
	if token := d.tokens.access.Reveal(); token != refused && (d.tokens.expires.IsZero() || time.Until(d.tokens.expires) > renewBefore) {
		d.renewing.Unlock()
		return token, nil
	}
	if d.closed {
		d.renewing.Unlock()
		return "", mautrix.MUnknownToken // another device renews the login now
	}
	r := d.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		d.renewal = r
		go d.renew(r)
	}
	d.renewing.Unlock()
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done(): // the request is given up, the renewal is not: its tokens count
		return "", ctx.Err()
	}
}

// renew gets new tokens, or stores those that it could not store before.
func (d *Device) renew(r *renewal) {
	ctx, cancel := context.WithTimeout(context.Background(), renewFor)
	defer cancel()
	var err error
	if t := d.unsaved; !t.refresh.IsZero() {
		if err = d.saveTokens(ctx, t.refresh.Reveal(), t.access.Reveal(), t.expires); err == nil {
			d.oauth.OAuthSetTokens(t.client, t.refresh.Reveal(), t.access.Reveal(), t.expires)
		}
	} else if err = d.stands(ctx); err == nil { // a token that another process has used would end the login
		const always = 1000 * 24 * time.Hour // however long the token still lasts
		err = d.oauth.OAuthRefreshToken(ctx, always)
	}
	d.renewing.Lock()
	defer d.renewing.Unlock()
	if err != nil {
		r.err = fmt.Errorf("%w: %w", mautrix.ErrFailedToRefreshToken, err)
	}
	r.token, d.renewal = d.tokens.access.Reveal(), nil
	close(r.done)
}

// endRenewals renews the login no more. It waits for a renewal that is under way: the
// homeserver may know the new tokens already.
func (d *Device) endRenewals() {
	d.renewing.Lock()
	d.closed = true
	r := d.renewal
	d.renewing.Unlock()
	if r != nil {
		<-r.done
	}
}

// saveTokens stores tokens that the homeserver has given, before they are used. Tokens that
// cannot be stored are in unsaved then.
func (d *Device) saveTokens(ctx context.Context, refresh, access string, expires time.Time) error {
	now := tokens{d.tokens.client, secret.New(refresh), secret.New(access), lasts(expires)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.row != nil { // else the login is stored when it is known whose it is
		row := *d.row
		row.token, row.tokens = now.access, now
		if err := row.save(ctx, d.config.DB, false); err != nil {
			d.unsaved = now
			return err
		}
		d.row.token, d.row.tokens = now.access, now
	}
	d.unsaved = tokens{}
	d.renewing.Lock()
	defer d.renewing.Unlock()
	d.tokens = now
	return nil
}

// lasts returns when a new token ends: zero if the homeserver did not say, so that the
// token seems to be over already.
func lasts(expires time.Time) time.Time {
	if !expires.After(time.Now()) {
		return time.Time{}
	}
	return expires
}

// passwords reports whether the homeserver takes passwords.
func (d *Device) passwords(ctx context.Context) bool {
	flows, err := d.Client.GetLoginFlows(ctx)
	return err != nil || flows.HasFlow(mautrix.AuthTypePassword) // the login tells better what is wrong
}

// errNoGrant says that there is no way to log in.
var errNoGrant = errors.New("matrix.password: missing, and the homeserver offers programs no login through the browser (or matrix.token, with which the bot cannot replace a lost device)")

// metadata returns what the homeserver says of logins in the browser, or errNoGrant if it
// has none.
func (d *Device) metadata(ctx context.Context) (*oauth.ServerMetadata, error) {
	meta, err := d.oauth.OAuthGetServerMetadata(ctx)
	var e mautrix.HTTPError
	switch {
	case errors.As(err, &e) && e.Response != nil && e.Response.StatusCode/100 == 4 && !e.IsStatus(http.StatusTooManyRequests):
		return nil, errNoGrant
	case err != nil:
		return nil, fmt.Errorf("matrix: ask %s how to log in: %w", d.Client.HomeserverURL, err)
	}
	return meta, nil
}

// grants checks what the homeserver's login in the browser needs. It returns errNoGrant if there is none.
func (d *Device) grants(ctx context.Context) error {
	meta, err := d.metadata(ctx)
	switch {
	case err != nil:
		return err
	case !slices.Contains(meta.GrantTypesSupported, oauth.GrantTypeDeviceCode):
		return errNoGrant
	}
	for _, address := range []string{meta.DeviceAuthorizationEndpoint, meta.TokenEndpoint, meta.RegistrationEndpoint} {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
			return fmt.Errorf("matrix.homeserver: %s sends logins to %q, which is not an https address", d.Client.HomeserverURL, address)
		}
	}
	return nil
}

// logInByBrowser waits until the account's owner has let the bot in, as a new device.
func (d *Device) logInByBrowser(ctx context.Context) error {
	if err := d.grants(ctx); err != nil {
		return err
	}
	for failures := 0; ; failures++ {
		if err := backoff.Sleep(ctx, backoff.After(failures, 500*time.Millisecond, time.Minute)); err != nil {
			return err
		}
		err := d.ask(ctx)
		switch {
		case errors.Is(err, mautrix.ErrOAuthInvalidClient), errors.Is(err, mautrix.ErrOAuthUnauthorizedClient):
			d.tokens.client = "" // the homeserver has forgotten it
			continue
		case errors.Is(err, mautrix.ErrOAuthExpiredToken), errors.Is(err, mautrix.ErrOAuthInvalidGrant):
			continue // with another code
		case errors.Is(err, mautrix.ErrOAuthAccessDenied):
			return errors.New("matrix: the login was refused in the browser; start the bot again and let it in")
		case err != nil:
			return fmt.Errorf("matrix: log in to %s through the browser: %w", d.Client.HomeserverURL, err)
		}
		var me *mautrix.RespWhoami
		if err := d.insist(func() (err error) { me, err = d.Client.Whoami(ctx); return err }); err != nil {
			return fmt.Errorf("matrix: ask %s who we are: %w", d.Client.HomeserverURL, err)
		}
		if r := (&row{user: me.UserID, homeserver: d.Client.HomeserverURL.String()}); d.config.User != "" && !r.of(d.config, r.homeserver) {
			d.config.Log.Error("matrix: somebody else has logged in; log out in the browser, then log in as the bot's account", "user", me.UserID, "want", d.config.User)
			d.end(ctx)
			continue
		}
		if me.DeviceID == "" {
			return errors.New("matrix: the login through the browser made no device")
		}
		d.Client.UserID, d.Client.DeviceID = me.UserID, me.DeviceID
		return nil
	}
}

// register makes the bot known to the homeserver's login, once.
func (d *Device) register(ctx context.Context) error {
	if d.tokens.client != "" {
		return nil
	}
	got, err := d.oauth.OAuthRegisterClient(ctx, &oauth.ClientMetadata{
		ApplicationType: oauth.ApplicationTypeNative, ClientName: d.config.Name, ClientURI: clientURI,
		GrantTypes: []oauth.GrantType{oauth.GrantTypeDeviceCode, oauth.GrantTypeRefreshToken}, TokenEndpointAuthMethod: oauth.AuthMethodNone,
	})
	if err != nil {
		return fmt.Errorf("matrix: register with the login of %s: %w", d.Client.HomeserverURL, err)
	}
	d.tokens.client = got.ClientID
	return saveClient(ctx, d.config.DB, d.Client.HomeserverURL.String(), got.ClientID)
}

// ask shows the owner one code and waits until it is used or over.
func (d *Device) ask(ctx context.Context) error {
	c := d.config
	if err := d.register(ctx); err != nil {
		return err
	}
	device := id.DeviceID("HALFPOINT" + rand.Text()[:10])
	code, err := d.oauth.OAuthGenerateDeviceCode(ctx, oauth.GenerateDeviceCodeParams{ClientID: d.tokens.client,
		Scopes: oauth.ScopeList{oauth.ScopeClientAPI, oauth.ScopeDevice(device)}})
	if err != nil {
		return err
	}
	until := time.Now().Add(code.ExpiresIn.Duration)
	c.Log.Warn("matrix: waiting for a login: open the address, log in as the bot's account and enter the code",
		"user", c.User, "address", code.VerificationURI, "code", code.UserCode, "until", until.UTC().Format(time.TimeOnly)+" UTC", "both in one", code.VerificationURIComplete)
	if c.Waiting != nil {
		c.Waiting(ctx)
	}
	interval := max(code.Interval.Duration, 5*time.Second)
	for wait := interval; ; wait = interval {
		if time.Now().Add(wait).After(until) {
			return mautrix.ErrOAuthExpiredToken
		}
		if err := backoff.Sleep(ctx, wait); err != nil {
			return err
		}
		start := time.Now()
		got, err := d.oauth.OAuthPollDeviceCode(ctx, oauth.PollDeviceCodeParams{ClientID: d.tokens.client, DeviceCode: code.DeviceCode})
		var http mautrix.HTTPError
		switch {
		case err == nil && (got.AccessToken == "" || got.RefreshToken == ""):
			return errors.New("the homeserver gave no tokens that last")
		case err == nil:
			d.use(tokens{d.tokens.client, secret.New(got.RefreshToken), secret.New(got.AccessToken), lasts(start.Add(got.ExpiresIn.Duration))})
			return nil
		case errors.Is(err, mautrix.ErrOAuthAuthorizationPending):
		case errors.Is(err, mautrix.ErrOAuthSlowDown):
			interval += 5 * time.Second
		case ctx.Err() == nil && (!errors.As(err, &http) || http.Response == nil || http.Response.StatusCode >= 500 || http.IsStatus(429)):
			interval = min(2*interval, time.Minute)
			interval = max(interval, retry.After(err))
		default:
			return err
		}
	}
}

// end ends the present login by OAuth, as far as the homeserver lets it. With it goes its
// device.
func (d *Device) end(ctx context.Context) {
	if d.tokens.refresh.IsZero() {
		return
	}
	if err := d.oauth.OAuthRevokeToken(ctx); err != nil {
		d.config.Log.Warn("matrix: ending a login failed (end it in the browser, on the account's page)", "device", d.Client.DeviceID, "err", err)
	}
	d.use(tokens{client: d.tokens.client})
}

// where names the page of the account for people.
func (d *Device) where(ctx context.Context) string {
	if meta, err := d.oauth.OAuthGetServerMetadata(ctx); err == nil && strings.HasPrefix(meta.AccountManagementURI, "http") {
		return meta.AccountManagementURI
	}
	return "the account's settings"
}
