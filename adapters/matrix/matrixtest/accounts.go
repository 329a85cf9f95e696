package matrixtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
)

// Accounts is a service that manages a person's account in the browser by OAuth 2.0, as
// the Matrix Authentication Service does: before an order of the proxy's asks the
// homeserver, Accounts answers for logging in, for the account's devices and for its
// cross-signing keys. Passwords are off unless a test turns them on.
type Accounts struct {
	Passwords bool          // log in still
	Lifetime  time.Duration // of an access token
	Stage     []string      // what the approval is called; as Synapse has it by default
	Session   bool          // an approval counts in its session alone, as the specification has it
	Forgets   bool          // a refresh token is good once, whatever became of the answer

	p    *Proxy
	user User

	mu       sync.Mutex
	made     int
	approved map[string]time.Time // by session
	clients  map[string]bool
	codes    map[string]*code  // by device code
	access   map[string]*grant // by access token
	refresh  map[string]*grant // by refresh token, used or not
}

// approvedFor is how long an approval is good for.
const approvedFor = 10 * time.Minute

// A code is a login that waits for its owner.
type code struct {
	user, client string
	device       id.DeviceID
	until        time.Time
	says         string // an error, empty: not answered
	ok           bool
}

// A grant is a pair of tokens and what the homeserver takes in their place.
type grant struct {
	token, refresh string
	home, client   string
	until          time.Time
	used           bool   // the access token
	next           *grant // what the refresh token has brought
	ended          bool
}

// Accounts puts such a service for somebody before the homeserver.
func (p *Proxy) Accounts(t testing.TB, user User) *Accounts {
	a := &Accounts{p: p, user: user, Lifetime: 5 * time.Minute, Stage: []string{"m.oauth", "org.matrix.cross_signing_reset"},
		approved: map[string]time.Time{}, clients: map[string]bool{}, codes: map[string]*code{}, access: map[string]*grant{}, refresh: map[string]*grant{}}
	p.Always(Any, a.known)
	p.Always(On("GET", "/v3/login$"), a.flows)
	p.Always(On("POST", "/v3/login$"), a.login)
	p.Always(On("DELETE", "/v3/devices/"), Fails(http.StatusNotFound, "M_UNRECOGNIZED"))
	p.Always(On("POST", "/v3/keys/device_signing/upload$"), a.keys)
	p.Always(On("GET", "/v1/auth_metadata$"), a.metadata)
	p.Always(On("POST", "/oauth2/registration$"), a.register)
	p.Always(On("POST", "/oauth2/device$"), a.device)
	p.Always(On("POST", "/oauth2/token$"), a.tokens)
	p.Always(On("POST", "/oauth2/revoke$"), a.revoke)
	return a
}

func tell(x *Exchange, status int, body any) {
	x.Say(status, "application/json", string(must(json.Marshal(body))))
}

// newID makes up an id. The caller holds the mutex.
func (a *Accounts) newID(kind string) string {
	a.made++
	return fmt.Sprintf("%s-%s-%d", kind, a.user.ID.Localpart(), a.made)
}

// Page is the address at which the owner approves the reset of cross-signing keys.
func (a *Accounts) Page() string {
	return a.p.URL + "/account/?action=org.matrix.cross_signing_reset"
}

// Reset approves the reset of the account's cross-signing keys, as its owner does at the
// address that the client has shown.
func (a *Accounts) Reset(address string) {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, a.Page()) {
		panic("the owner is sent to " + address)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.approved[u.Query().Get("session")] = time.Now()
}

// keys takes the first cross-signing keys, and others once they are approved.
func (a *Accounts) keys(x *Exchange) {
	body, err := io.ReadAll(x.R.Body)
	if err != nil {
		x.Cut()
	}
	ask := map[string]any{}
	if err := json.Unmarshal(body, &ask); err != nil {
		x.Cut()
	}
	auth, _ := ask["auth"].(map[string]any)
	delete(ask, "auth")
	send := func() *Reply {
		x.R.Body = io.NopCloser(bytes.NewReader(must(json.Marshal(ask))))
		x.R.ContentLength = -1
		reply, err := x.Forward()
		if err != nil {
			x.Cut()
		}
		return reply
	}
	reply := send()
	if reply.Status != http.StatusUnauthorized {
		x.Answer(reply)
		return
	}
	a.mu.Lock()
	session, page := "", a.Page()
	if said, _ := auth["session"].(string); a.Session && said != "" {
		session = said
	}
	at, approved := a.approved[session]
	if a.Session && session == "" {
		session, approved = a.newID("session"), false
		page += "&session=" + session
	} else if a.Session {
		page += "&session=" + session
	}
	a.mu.Unlock()
	if approved && time.Since(at) < approvedFor {
		ask["auth"] = fields{"type": mautrix.AuthTypePassword, "user": a.user.ID, "password": a.user.Password, "identifier": fields{"type": "m.id.user", "user": a.user.ID}}
		x.Answer(send())
		return
	}
	if session == "" {
		session = "dummy"
	}
	flows, params := []fields{}, fields{}
	for _, stage := range a.Stage {
		flows, params[stage] = append(flows, fields{"stages": []string{stage}}), fields{"url": page}
	}
	tell(x, http.StatusUnauthorized, fields{"session": session, "flows": flows, "params": params,
		"msg": "To reset your end-to-end encryption cross-signing identity, you first need to approve it at " + page + " and then try again."})
}

func (a *Accounts) flows(x *Exchange) {
	flows := []fields{{"type": "m.login.sso", "oauth_aware_preferred": true}, {"type": "m.login.token"}}
	if a.Passwords {
		flows = append(flows, fields{"type": mautrix.AuthTypePassword})
	}
	tell(x, http.StatusOK, fields{"flows": flows})
}

func (a *Accounts) login(x *Exchange) {
	if a.Passwords {
		x.Pass()
		return
	}
	Fails(http.StatusForbidden, "M_FORBIDDEN")(x)
}

func (a *Accounts) metadata(x *Exchange) {
	at := a.p.URL + "/oauth2/"
	tell(x, http.StatusOK, fields{"issuer": a.p.URL + "/", "authorization_endpoint": a.p.URL + "/authorize", "token_endpoint": at + "token",
		"registration_endpoint": at + "registration", "revocation_endpoint": at + "revoke", "device_authorization_endpoint": at + "device",
		"response_types_supported": []string{"code"}, "response_modes_supported": []string{"query", "fragment"}, "code_challenge_methods_supported": []string{"S256"},
		"grant_types_supported":  []string{"authorization_code", "refresh_token", deviceCode},
		"account_management_uri": a.p.URL + "/account/", "account_management_actions_supported": []string{"org.matrix.cross_signing_reset"}})
}

const deviceCode = "urn:ietf:params:oauth:grant-type:device_code"

// form reads what an OAuth request says.
func form(x *Exchange) url.Values {
	body, err := io.ReadAll(x.R.Body)
	if err != nil {
		x.Cut()
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		x.Cut()
	}
	return values
}

func no(x *Exchange, code string) { tell(x, http.StatusBadRequest, fields{"error": code}) }

// register takes a client as RFC 7591 and the specification describe it.
func (a *Accounts) register(x *Exchange) {
	body, _ := io.ReadAll(x.R.Body)
	var ask struct {
		URI    string   `json:"client_uri"`
		Method string   `json:"token_endpoint_auth_method"`
		Grants []string `json:"grant_types"`
		Types  []string `json:"response_types"`
	}
	if json.Unmarshal(body, &ask) != nil || !strings.HasPrefix(ask.URI, "https://") || ask.Method != "none" ||
		!slices.Contains(ask.Grants, deviceCode) || !slices.Contains(ask.Grants, "refresh_token") || slices.Contains(ask.Grants, "authorization_code") {
		no(x, "invalid_client_metadata")
		return
	}
	a.mu.Lock()
	name := a.newID("client")
	a.clients[name] = true
	a.mu.Unlock()
	tell(x, http.StatusCreated, fields{"client_id": name, "client_uri": ask.URI, "grant_types": ask.Grants, "token_endpoint_auth_method": "none"})
}

// ForgetClients makes the service forget which clients have registered.
func (a *Accounts) ForgetClients() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.clients)
}

func (a *Accounts) device(x *Exchange) {
	ask := form(x)
	a.mu.Lock()
	if !a.clients[ask.Get("client_id")] {
		a.mu.Unlock()
		tell(x, http.StatusUnauthorized, fields{"error": "invalid_client"})
		return
	}
	c := &code{client: ask.Get("client_id"), until: time.Now().Add(20 * time.Minute)}
	for _, scope := range strings.Fields(ask.Get("scope")) {
		if name, ok := strings.CutPrefix(scope, "urn:matrix:client:device:"); ok {
			c.device = id.DeviceID(name)
		}
	}
	if c.device == "" || !strings.Contains(ask.Get("scope"), "urn:matrix:client:api:*") {
		a.mu.Unlock()
		no(x, "invalid_scope")
		return
	}
	name := a.newID("code")
	c.user = fmt.Sprintf("WDJB-%04d", a.made)
	a.codes[name] = c
	a.mu.Unlock()
	tell(x, http.StatusOK, fields{"device_code": name, "user_code": c.user, "verification_uri": a.p.URL + "/link",
		"verification_uri_complete": a.p.URL + "/link?code=" + c.user, "expires_in": 1200, "interval": 5})
}

// Approve lets a client in, as the account's owner does who types its code; an error,
// such as access_denied, refuses it.
func (a *Accounts) Approve(userCode, refusal string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.codes {
		if c.user == userCode {
			c.ok, c.says = refusal == "", refusal
			return
		}
	}
	panic("no such code: " + userCode)
}

func (a *Accounts) tokens(x *Exchange) {
	ask := form(x)
	switch ask.Get("grant_type") {
	case deviceCode:
		a.mu.Lock()
		var c code
		known := a.codes[ask.Get("device_code")]
		if known != nil {
			c = *known
		}
		a.mu.Unlock()
		switch {
		case known == nil || c.client != ask.Get("client_id"):
			no(x, "invalid_grant")
		case time.Now().After(c.until):
			no(x, "expired_token")
		case c.says != "":
			no(x, c.says)
		case !c.ok:
			no(x, "authorization_pending")
		default:
			login, err := a.p.server.login(a.user, c.device)
			if err != nil {
				no(x, "server_error")
				return
			}
			a.mu.Lock()
			delete(a.codes, ask.Get("device_code"))
			a.mu.Unlock()
			a.give(x, &grant{home: login.AccessToken, client: c.client})
		}
	case "refresh_token":
		a.mu.Lock()
		g := a.refresh[ask.Get("refresh_token")]
		good := g != nil && !g.ended && g.client == ask.Get("client_id")
		if good && g.next != nil { // the answer may have got lost
			good = !a.Forgets && !g.next.used && g.next.next == nil
			g.next.ended = true
		}
		if !good {
			a.mu.Unlock()
			no(x, "invalid_grant")
			return
		}
		next := &grant{home: g.home, client: g.client}
		g.next, g.until = next, time.Time{}
		a.mu.Unlock()
		a.give(x, next)
	default:
		no(x, "unsupported_grant_type")
	}
}

func (a *Accounts) give(x *Exchange, g *grant) {
	a.mu.Lock()
	g.token, g.refresh, g.until = a.newID("access"), a.newID("refresh"), time.Now().Add(a.Lifetime)
	a.access[g.token], a.refresh[g.refresh] = g, g
	a.mu.Unlock()
	tell(x, http.StatusOK, fields{"access_token": g.token, "refresh_token": g.refresh, "token_type": "Bearer", "expires_in": int(a.Lifetime.Seconds())})
}

func (a *Accounts) revoke(x *Exchange) {
	token := form(x).Get("token")
	a.mu.Lock()
	var home string
	for _, g := range []*grant{a.access[token], a.refresh[token]} {
		if g != nil && !g.ended {
			home = g.home
		}
	}
	a.mu.Unlock()
	a.End(home)
	tell(x, http.StatusOK, fields{})
}

// End ends all logins that go on, as their owner does in the browser, or one of them.
func (a *Accounts) End(only string) {
	a.mu.Lock()
	ended := map[string]bool{}
	for _, g := range a.refresh {
		if !g.ended && (only == "" || g.home == only) {
			g.ended = true
			ended[g.home] = true
		}
	}
	a.mu.Unlock()
	for home := range ended {
		client, err := mautrix.NewClient(a.p.server.URL, a.user.ID, home)
		if err != nil {
			panic(err)
		}
		client.Client.Transport = a.p.server.transport
		client.Logout(context.Background()) //nolint:errcheck // it may be gone
	}
}

// known puts the homeserver's token in the place of the service's, and refuses what is
// over.
func (a *Accounts) known(x *Exchange) {
	token := tokenOf(x.R)
	a.mu.Lock()
	g := a.access[token]
	over := g == nil || g.ended || time.Now().After(g.until)
	if !over {
		g.used = true
	}
	a.mu.Unlock()
	switch {
	case !strings.HasPrefix(token, "access-"):
		x.Pass()
	case over:
		UnknownToken(true)(x)
	default:
		x.R.Header.Set("Authorization", "Bearer "+g.home)
		x.Pass()
	}
}
