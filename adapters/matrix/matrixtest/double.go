package matrixtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
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
	var all Options
	for _, o := range options {
		all = o
	}
	s := &Server{URL: "http://localhost:8008", network: &memnet.Network{}, double: newDouble(all.Takes), real: all.Real, names: map[string]int{}}
	listener, err := s.network.Listen("localhost:8008")
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
	takes time.Duration

	mu       watched
	position int64
	made     int // ids
	accounts map[id.UserID]*account
	tokens   map[string]*device
	rooms    map[id.RoomID]*room
	media    map[string]media
	lists    []listChange
}

// An account is somebody registered. The names of its fields, and those of what
// follows, are read by Restore.
type account struct {
	User     id.UserID
	Password string
	Name     string
	Avatar   string
	Data     map[string]json.RawMessage
	Signing  map[string]keyObject // cross-signing: master, self_signing, user_signing
	Backups  []*backup            // of keys, by version
	devices  map[id.DeviceID]*device
}

// A device is somewhere that somebody is logged in.
type device struct {
	*account
	ID      id.DeviceID
	Name    string
	Token   string
	Keys    keyObject
	OneTime map[string]json.RawMessage
	Inbox   []toDevice
	Sent    map[string]any // answers by method and path with a transaction's id
}

// media is a file; as an answer it is sent as it is.
type media struct {
	kind string
	data []byte
}

func newDouble(takes time.Duration) *double {
	d := &double{takes: takes, accounts: map[id.UserID]*account{}, tokens: map[string]*device{},
		rooms: map[id.RoomID]*room{}, media: map[string]media{}}
	d.open("GET client/versions", func(*call) any {
		return fields{"versions": []string{"r0.6.1", "v1.1", "v1.2", "v1.3", "v1.4", "v1.5", "v1.6", "v1.7", "v1.8", "v1.9", "v1.10", "v1.11"}}
	})
	d.open("POST client/v3/login", d.login)
	const of = "client/v3/user/{user}/"
	const in = "client/v3/rooms/{room}/"
	for pattern, f := range map[string]func(*call) any{
		"GET client/v3/account/whoami":                              d.whoami,
		"POST client/v3/logout":                                     d.logout,
		"GET client/v3/profile/{user}":                              d.profile,
		"PUT client/v3/profile/{user}/displayname":                  d.setName,
		"PUT client/v3/profile/{user}/avatar_url":                   d.setAvatar,
		"GET " + of + "account_data/{type}":                         d.accountData,
		"PUT " + of + "account_data/{type}":                         d.setAccountData,
		"POST media/v3/upload":                                      d.upload,
		"GET media/v3/download/{server}/{media}":                    d.download,
		"GET client/v1/media/download/{server}/{media}":             d.download,
		"POST client/v3/keys/upload":                                d.uploadKeys,
		"POST client/v3/keys/query":                                 d.queryKeys,
		"POST client/v3/keys/claim":                                 d.claimKeys,
		"POST client/v3/keys/signatures/upload":                     d.uploadSignatures,
		"POST client/v3/keys/device_signing/upload":                 d.uploadSigningKeys,
		"GET client/v3/room_keys/version":                           d.backup,
		"POST client/v3/room_keys/version":                          d.makeBackup,
		"GET client/v3/room_keys/version/{version}":                 d.backup,
		"DELETE client/v3/room_keys/version/{version}":              d.deleteBackup,
		"PUT client/v3/room_keys/keys":                              d.backUp,
		"GET client/v3/room_keys/keys/{room}/{session}":             d.backedUp,
		"PUT client/v3/sendToDevice/{type}/{txn}":                   d.sendToDevice,
		"GET client/v3/devices":                                     d.getDevices,
		"GET client/v3/devices/{device}":                            d.getDevice,
		"DELETE client/v3/devices/{device}":                         d.deleteDevice,
		"POST client/v3/createRoom":                                 d.createRoom,
		"GET client/v3/joined_rooms":                                d.joinedRooms,
		"POST client/v3/join/{room}":                                d.join,
		"POST " + in + "join":                                       d.join,
		"POST " + in + "leave":                                      d.leave,
		"POST " + in + "invite":                                     d.invite,
		"POST " + in + "kick":                                       d.kick,
		"POST " + in + "ban":                                        d.ban,
		"POST " + in + "unban":                                      d.unban,
		"PUT " + in + "send/{type}/{txn}":                           d.send,
		"PUT " + in + "redact/{event}/{txn}":                        d.redact,
		"PUT " + in + "state/{type}":                                d.setState,
		"PUT " + in + "state/{type}/{key...}":                       d.setState,
		"GET " + in + "state/{type}":                                d.getState,
		"GET " + in + "state/{type}/{key...}":                       d.getState,
		"GET " + in + "event/{event}":                               d.event,
		"GET " + in + "members":                                     d.members,
		"GET " + in + "messages":                                    d.messages,
		"GET client/v1/rooms/{room}/relations/{event}/{rel}":        d.relations,
		"GET client/v1/rooms/{room}/relations/{event}/{rel}/{type}": d.relations,
		"PUT " + in + "typing/{user}":                               d.setTyping,
		"POST " + in + "receipt/{kind}/{event}":                     d.setReceipt,
		"GET client/v3/sync":                                        d.sync,
	} {
		d.open(pattern, func(c *call) any {
			c.device = d.caller(c)
			if c.path("txn") == "" {
				return f(c)
			}
			key := c.r.Method + " " + c.r.URL.Path // a transaction happens once
			if _, done := c.Sent[key]; !done {
				c.Sent[key] = f(c)
			}
			return c.Sent[key]
		})
	}
	d.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusNotFound, "application/json", must(json.Marshal(fields{"errcode": "M_UNRECOGNIZED", "error": "Unrecognized request"})))
	})
	return d
}

type fields = map[string]any

// A refusal is an error as the specification has it. Handlers panic with it.
type refusal struct {
	status int
	body   fields
}

func refuse(status int, code, says string) {
	panic(refusal{status, fields{"errcode": code, "error": says}})
}

func forbid(says string) { refuse(http.StatusForbidden, "M_FORBIDDEN", says) }
func miss(says string)   { refuse(http.StatusNotFound, "M_NOT_FOUND", says) }

// A call is a request and its sender. Its handler holds the lock.
type call struct {
	*device
	r    *http.Request
	body []byte
}

// path returns a part of the path.
func (c *call) path(name string) string { return c.r.PathValue(name) }

// read reads the body.
func read[T any](c *call) T { return parse[T](c.body, "M_NOT_JSON") }

// parse reads JSON, which may be missing; if it is wrong it refuses the request with
// the code.
func parse[T any](data []byte, code string) (ask T) {
	if len(data) > 0 {
		if err := json.Unmarshal(data, &ask); err != nil {
			refuse(http.StatusBadRequest, code, err.Error())
		}
	}
	return ask
}

// open adds a handler for requests of anybody.
func (d *double) open(pattern string, f func(*call) any) {
	method, path, _ := strings.Cut(pattern, " ")
	d.HandleFunc(method+" /_matrix/"+path, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		time.Sleep(d.takes / 2)
		status, kind, data := d.deal(&call{r: r, body: body}, f)
		time.Sleep(d.takes / 2)
		reply(w, status, kind, data)
	})
}

// deal calls a handler under the lock.
func (d *double) deal(c *call, f func(*call) any) (status int, kind string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() {
		switch no := recover().(type) {
		case nil:
		case refusal:
			status, kind, data = no.status, "application/json", must(json.Marshal(no.body))
		default:
			panic(no)
		}
	}()
	result := f(c)
	if file, is := result.(media); is {
		return http.StatusOK, file.kind, file.data
	}
	return http.StatusOK, "application/json", must(json.Marshal(result))
}

func reply(w http.ResponseWriter, status int, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.WriteHeader(status)
	w.Write(data)
}

// tokenOf returns the access token of a request.
func tokenOf(r *http.Request) string {
	if token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); token != "" {
		return token
	}
	return r.URL.Query().Get("access_token")
}

// caller returns the device that has sent a request.
func (d *double) caller(c *call) *device {
	token := tokenOf(c.r)
	if token == "" {
		refuse(http.StatusUnauthorized, "M_MISSING_TOKEN", "no access token")
	}
	if d.tokens[token] == nil {
		refuse(http.StatusUnauthorized, "M_UNKNOWN_TOKEN", "unknown token")
	}
	return d.tokens[token]
}

// happens gives what happens its position, and wakes those who wait for news.
func (d *double) happens() int64 {
	d.position++
	d.mu.tell()
	return d.position
}

// newID makes up an id of a kind: letters that nobody could guess the next of.
func (d *double) newID(kind string) string {
	d.made++
	sum := sha256.Sum256(fmt.Append(nil, kind, d.made))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// register makes an account.
func (d *double) register(user id.UserID, password, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.accounts[user] = &account{User: user, Password: password, Name: name, devices: map[id.DeviceID]*device{}, Data: map[string]json.RawMessage{}, Signing: map[string]keyObject{}}
}

func (d *double) login(c *call) any {
	ask := read[struct {
		Type       string
		Identifier struct{ User string }
		Password   string
		Device     id.DeviceID `json:"device_id"`
		Name       string      `json:"initial_device_display_name"`
	}](c)
	user := id.UserID(ask.Identifier.User)
	if !strings.HasPrefix(ask.Identifier.User, "@") {
		user = id.NewUserID(ask.Identifier.User, Name)
	}
	who := d.accounts[user]
	if ask.Type != "m.login.password" || who == nil || who.Password != ask.Password {
		forbid("username or password was incorrect")
	}
	if ask.Device == "" {
		ask.Device = id.DeviceID(strings.ToUpper(d.newID("device")[:8]))
	}
	dev := who.devices[ask.Device]
	if dev == nil {
		dev = &device{account: who, ID: ask.Device, Name: ask.Name, OneTime: map[string]json.RawMessage{}}
		who.devices[ask.Device] = dev
	}
	delete(d.tokens, dev.Token)
	dev.Token, dev.Sent = d.newID("token"), map[string]any{}
	d.tokens[dev.Token] = dev
	return fields{"user_id": user, "access_token": dev.Token, "device_id": dev.ID}
}

func (d *double) whoami(c *call) any {
	return fields{"user_id": c.User, "device_id": c.ID, "is_guest": false}
}

func (d *double) logout(c *call) any {
	d.end(c.device)
	return fields{}
}

// end ends a device.
func (d *double) end(dev *device) {
	delete(d.tokens, dev.Token)
	delete(dev.devices, dev.ID)
	d.listChanged(dev.User)
}

func (d *double) profile(c *call) any {
	who := d.accounts[id.UserID(c.path("user"))]
	if who == nil {
		miss("no such user")
	}
	seen := fields{"displayname": who.Name}
	if who.Avatar != "" {
		seen["avatar_url"] = who.Avatar
	}
	return seen
}

func (d *double) setAvatar(c *call) any {
	c.themselves()
	c.account.Avatar = read[struct {
		URL string `json:"avatar_url"`
	}](c).URL
	return fields{}
}

// themselves refuses what only the user in the path may do.
func (c *call) themselves() {
	if c.path("user") != c.User.String() {
		forbid("not you")
	}
}

func (d *double) setName(c *call) any {
	c.themselves()
	c.account.Name = read[struct{ Displayname string }](c).Displayname
	for _, r := range d.rooms {
		if r.membership(c.User) == "join" {
			d.put(r, c.User, "m.room.member", c.User.String(), fields{"membership": "join", "displayname": c.account.Name})
		}
	}
	return fields{}
}

func (d *double) accountData(c *call) any {
	c.themselves()
	content, ok := c.Data[c.path("type")]
	if !ok {
		miss("no such account data")
	}
	return content
}

func (d *double) setAccountData(c *call) any {
	c.themselves()
	read[fields](c)
	c.Data[c.path("type")] = c.body
	return fields{}
}

func (d *double) upload(c *call) any {
	if len(c.body) > 10<<20 {
		refuse(http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "too large")
	}
	name := d.newID("media")[:24]
	d.media[name] = media{c.r.Header.Get("Content-Type"), c.body}
	return fields{"content_uri": "mxc://" + Name + "/" + name}
}

func (d *double) download(c *call) any {
	m, ok := d.media[c.path("media")]
	if !ok || c.path("server") != Name {
		miss("no such file")
	}
	return m
}

// confirmed asks for the password, as user-interactive authentication does.
func (d *double) confirmed(c *call) {
	ask := read[struct {
		Auth *struct{ Type, Password string }
	}](c)
	flows := fields{"flows": []fields{{"stages": []string{"m.login.password"}}}, "params": fields{}, "session": d.newID("session")}
	switch {
	case ask.Auth == nil:
		flows["errcode"], flows["error"] = "M_UNAUTHORIZED", "say your password"
	case ask.Auth.Password != c.Password || ask.Auth.Type != "m.login.password":
		flows["errcode"], flows["error"] = "M_FORBIDDEN", "username or password was incorrect"
	default:
		return
	}
	panic(refusal{http.StatusUnauthorized, flows})
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
