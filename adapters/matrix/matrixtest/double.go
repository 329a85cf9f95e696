package matrixtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
)

// InMemory is a homeserver of this process's own, in memory, until the test ends. In
// a synctest bubble its time is virtual. It has no federation, checks no signatures
// and forgets everything when the test ends; otherwise it answers as Dendrite does,
// as far as the bot and Player ask: TestHomeserver holds both to the same.
func InMemory(t testing.TB, options ...Options) *Server {
	t.Helper()
	s := &Server{URL: "http://localhost:8008", network: &memnet.Network{}, names: map[string]int{}}
	for _, o := range options {
		s.options = o
	}
	s.double = newDouble(s.options)
	var listener net.Listener
	var err error
	if s.options.TCP {
		s.network = nil
		listener, s.URL, err = s.listen()
	} else {
		listener, err = s.network.Listen("localhost:8008")
	}
	if err != nil {
		t.Fatal(err)
	}
	serve(t, listener, s.double)
	s.transport = s.newTransport(t)
	return s
}

// A double is the homeserver behind InMemory. Everything that happens gets a
// position; a token of /sync or /messages is "t" and the position after which it is.
type double struct {
	http.ServeMux
	maxUpload int64
	takes     time.Duration

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when there is news
	position int64
	made     int // ids
	accounts map[id.UserID]*account
	tokens   map[string]*device
	rooms    map[id.RoomID]*room
	media    map[string]media
	filters  map[string]json.RawMessage
	lists    []listChange
}

// An account is somebody registered.
type account struct {
	user     id.UserID
	password string
	name     string
	devices  map[id.DeviceID]*device
	data     map[string]json.RawMessage
	signing  map[string]keyObject // cross-signing: master, self_signing, user_signing
}

// A device is somewhere that somebody is logged in.
type device struct {
	*account
	id      id.DeviceID
	name    string
	token   string
	keys    keyObject
	oneTime map[string]json.RawMessage
	inbox   []toDevice
	sent    map[string]any // answers by method and path with a transaction's id
}

type media struct {
	kind, name string
	data       []byte
}

func newDouble(o Options) *double {
	d := &double{maxUpload: o.MaxUpload, takes: o.Takes, changed: make(chan struct{}), accounts: map[id.UserID]*account{}, tokens: map[string]*device{},
		rooms: map[id.RoomID]*room{}, media: map[string]media{}, filters: map[string]json.RawMessage{}}
	if d.maxUpload == 0 {
		d.maxUpload = 10 << 20
	}
	d.open("GET /_matrix/client/versions", func(*call) (any, error) {
		return fields{"versions": []string{"r0.6.1", "v1.1", "v1.2", "v1.3", "v1.4", "v1.5", "v1.6", "v1.7", "v1.8", "v1.9", "v1.10", "v1.11"}}, nil
	})
	d.open("POST /_matrix/client/v3/login", d.login)
	d.handle("GET /_matrix/client/v3/capabilities", func(*call) (any, error) {
		return fields{"capabilities": fields{"m.room_versions": fields{"default": roomVersion, "available": fields{roomVersion: "stable"}}}}, nil
	})
	d.handle("GET /_matrix/client/v3/account/whoami", func(c *call) (any, error) {
		return fields{"user_id": c.user, "device_id": c.device.id, "is_guest": false}, nil
	})
	d.handle("POST /_matrix/client/v3/logout", func(c *call) (any, error) { d.logOut(c.device); return fields{}, nil })
	d.handle("GET /_matrix/client/v3/profile/{user}", d.profile)
	d.handle("PUT /_matrix/client/v3/profile/{user}/displayname", d.setName)
	d.handle("GET /_matrix/client/v3/user/{user}/account_data/{type}", d.accountData)
	d.handle("PUT /_matrix/client/v3/user/{user}/account_data/{type}", d.setAccountData)
	d.handle("POST /_matrix/client/v3/user/{user}/filter", d.putFilter)
	d.handle("GET /_matrix/client/v3/user/{user}/filter/{filter}", d.getFilter)
	d.handle("POST /_matrix/media/v3/upload", d.upload)
	d.handle("GET /_matrix/media/v3/download/{server}/{media}", d.download)
	d.handle("GET /_matrix/client/v1/media/download/{server}/{media}", d.download)
	d.handleKeys()
	d.handleRooms()
	d.handle("GET /_matrix/client/v3/sync", d.sync)
	d.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusNotFound, fields{"errcode": "M_UNRECOGNIZED", "error": "Unrecognized request"})
	})
	return d
}

type fields = map[string]any

// A refusal is an error as the specification has it.
type refusal struct {
	status     int
	code, says string
	more       fields
}

func (r *refusal) Error() string { return r.code + ": " + r.says }

func forbidden(says string) error { return &refusal{403, "M_FORBIDDEN", says, nil} }
func notFound(says string) error  { return &refusal{404, "M_NOT_FOUND", says, nil} }

// A call is a request with what is known of it. Its handler holds the lock.
type call struct {
	*device
	w    http.ResponseWriter
	r    *http.Request
	body []byte
}

// path returns a part of the path.
func (c *call) path(name string) string { return c.r.PathValue(name) }

// read reads the body into an object.
func (c *call) read(into any) error {
	if len(c.body) == 0 {
		return nil
	}
	if !json.Valid(c.body) {
		return &refusal{400, "M_NOT_JSON", "not JSON", nil}
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		return &refusal{400, "M_BAD_JSON", err.Error(), nil}
	}
	return nil
}

// open answers requests of anybody.
func (d *double) open(pattern string, f func(*call) (any, error)) {
	d.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { d.answer(&call{w: w, r: r}, f) })
}

// handle answers requests of those who are logged in.
func (d *double) handle(pattern string, f func(*call) (any, error)) {
	d.open(pattern, func(c *call) (any, error) {
		token := strings.TrimPrefix(c.r.Header.Get("Authorization"), "Bearer ")
		if token == "" {
			token = c.r.URL.Query().Get("access_token")
		}
		if token == "" {
			return nil, &refusal{401, "M_MISSING_TOKEN", "no access token", nil}
		}
		if c.device = d.tokens[token]; c.device == nil {
			return nil, &refusal{401, "M_UNKNOWN_TOKEN", "unknown token", nil}
		}
		return f(c)
	})
}

// errHandled is the error of a handler that has answered by itself.
var errHandled = errors.New("handled")

func (d *double) answer(c *call, f func(*call) (any, error)) {
	body, err := io.ReadAll(c.r.Body)
	if err != nil {
		return
	}
	c.body = body
	time.Sleep(d.takes / 2)
	result, err := func() (any, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		result, err := f(c)
		if err == nil { // as it is now
			result = json.RawMessage(must(json.Marshal(result)))
		}
		return result, err
	}()
	time.Sleep(d.takes / 2)
	var no *refusal
	switch {
	case err == nil:
		reply(c.w, http.StatusOK, result)
	case errors.As(err, &no):
		says := fields{"errcode": no.code, "error": no.says}
		for k, v := range no.more {
			says[k] = v
		}
		reply(c.w, no.status, says)
	case !errors.Is(err, errHandled):
		reply(c.w, http.StatusInternalServerError, fields{"errcode": "M_UNKNOWN", "error": err.Error()})
	}
}

func reply(w http.ResponseWriter, status int, body any) {
	data := must(json.Marshal(body))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.WriteHeader(status)
	w.Write(data)
}

// happens gives what happens its position, and wakes those who wait for news.
func (d *double) happens() int64 {
	d.position++
	close(d.changed)
	d.changed = make(chan struct{})
	return d.position
}

// newID makes up an id of a kind: letters that nobody could guess the next of.
func (d *double) newID(kind string) string {
	d.made++
	sum := sha256.Sum256(fmt.Append(nil, kind, d.made))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// once does something once for each transaction of a device.
func (c *call) once(f func() (any, error)) (any, error) {
	key := c.r.Method + " " + c.r.URL.Path
	if before, done := c.device.sent[key]; done {
		return before, nil
	}
	result, err := f()
	if err == nil {
		c.device.sent[key] = result
	}
	return result, err
}

// register makes an account.
func (d *double) register(user id.UserID, password, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.accounts[user] = &account{user: user, password: password, name: name, devices: map[id.DeviceID]*device{}, data: map[string]json.RawMessage{}, signing: map[string]keyObject{}}
}

func (d *double) login(c *call) (any, error) {
	var ask struct {
		Type       string
		Identifier struct{ User string }
		Password   string
		Device     id.DeviceID `json:"device_id"`
		Name       string      `json:"initial_device_display_name"`
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	user := id.UserID(ask.Identifier.User)
	if !strings.HasPrefix(ask.Identifier.User, "@") {
		user = id.NewUserID(ask.Identifier.User, Name)
	}
	who := d.accounts[user]
	switch {
	case ask.Type != "m.login.password":
		return nil, &refusal{400, "M_BAD_JSON", "unknown login type", nil}
	case who == nil || who.password != ask.Password:
		return nil, forbidden("username or password was incorrect")
	}
	if ask.Device == "" {
		ask.Device = id.DeviceID(strings.ToUpper(d.newID("device")[:8]))
	}
	dev := who.devices[ask.Device]
	if dev == nil {
		dev = &device{account: who, id: ask.Device, name: ask.Name, oneTime: map[string]json.RawMessage{}}
		who.devices[ask.Device] = dev
	}
	delete(d.tokens, dev.token)
	dev.token, dev.sent = d.newID("token"), map[string]any{}
	d.tokens[dev.token] = dev
	return fields{"user_id": user, "access_token": dev.token, "device_id": dev.id}, nil
}

// logOut ends a device.
func (d *double) logOut(dev *device) {
	delete(d.tokens, dev.token)
	delete(dev.devices, dev.id)
	d.listChanged(dev.user)
}

func (d *double) profile(c *call) (any, error) {
	who := d.accounts[id.UserID(c.path("user"))]
	if who == nil {
		return nil, notFound("no such user")
	}
	return fields{"displayname": who.name}, nil
}

func (d *double) setName(c *call) (any, error) {
	var ask struct{ Displayname string }
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	if c.path("user") != c.user.String() {
		return nil, forbidden("not you")
	}
	c.account.name = ask.Displayname
	for _, r := range d.rooms {
		if r.membership(c.user) == "join" {
			d.put(r, c.user, "m.room.member", c.user.String(), fields{"membership": "join", "displayname": ask.Displayname})
		}
	}
	return fields{}, nil
}

func (d *double) accountData(c *call) (any, error) {
	content, ok := c.data[c.path("type")]
	if c.path("user") != c.user.String() || !ok {
		return nil, notFound("no such account data")
	}
	return content, nil
}

func (d *double) setAccountData(c *call) (any, error) {
	if c.path("user") != c.user.String() {
		return nil, forbidden("not you")
	}
	var content fields
	if err := c.read(&content); err != nil {
		return nil, err
	}
	c.data[c.path("type")] = c.body
	return fields{}, nil
}

func (d *double) putFilter(c *call) (any, error) {
	var filter fields
	if err := c.read(&filter); err != nil {
		return nil, err
	}
	name := fmt.Sprint(len(d.filters))
	d.filters[name] = c.body
	return fields{"filter_id": name}, nil
}

func (d *double) getFilter(c *call) (any, error) {
	filter, ok := d.filters[c.path("filter")]
	if !ok {
		return nil, notFound("no such filter")
	}
	return filter, nil
}

func (d *double) upload(c *call) (any, error) {
	if int64(len(c.body)) > d.maxUpload {
		return nil, &refusal{413, "M_TOO_LARGE", "too large", nil}
	}
	name := d.newID("media")[:24]
	d.media[name] = media{c.r.Header.Get("Content-Type"), c.r.URL.Query().Get("filename"), c.body}
	return fields{"content_uri": "mxc://" + Name + "/" + name}, nil
}

func (d *double) download(c *call) (any, error) {
	m, ok := d.media[c.path("media")]
	if !ok || c.path("server") != Name {
		return nil, notFound("no such file")
	}
	c.w.Header().Set("Content-Type", m.kind)
	c.w.Header().Set("Content-Length", fmt.Sprint(len(m.data)))
	c.w.Write(m.data)
	return nil, errHandled
}

// confirmed asks for the password, as user-interactive authentication does.
func (d *double) confirmed(c *call) error {
	var ask struct {
		Auth *struct {
			Type, Session, Password, User string
			Identifier                    struct{ User string }
		}
	}
	if err := c.read(&ask); err != nil {
		return err
	}
	flows := fields{"flows": []fields{{"stages": []string{"m.login.password"}}}, "params": fields{}, "session": d.newID("session")}
	switch {
	case ask.Auth == nil:
		return &refusal{401, "M_UNAUTHORIZED", "say your password", flows}
	case ask.Auth.Password != c.password || ask.Auth.Type != "m.login.password":
		return &refusal{401, "M_FORBIDDEN", "username or password was incorrect", flows}
	}
	return nil
}

// waits waits until there is news; it reports false when there is none in time.
func (d *double) waits(ctx context.Context, changed <-chan struct{}, late <-chan time.Time) bool {
	d.mu.Unlock()
	defer d.mu.Lock()
	select {
	case <-changed:
		return true
	case <-late:
	case <-ctx.Done():
	}
	return false
}

// quietly is a log for what http servers say of connections that break.
var quietly = log.New(io.Discard, "", 0)
