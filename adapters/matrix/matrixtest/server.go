package matrixtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/synapseadmin"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
)

// Name is the server name of every homeserver here: people are
// @anna:halfpoint.test.
const Name = "halfpoint.test"

// secret registers people. The servers listen on loopback only and live as
// long as a test.
const secret = "matrixtest"

// Options of a homeserver in memory.
type Options struct {
	// Takes is how long a request takes, half of it before and half after it is done:
	// so much can happen meanwhile.
	Takes time.Duration
	// Real: it is not in a synctest bubble, because of something that cannot be there.
	Real bool
}

// A Server is a homeserver: Dendrite on loopback, or what InMemory makes. It is safe
// for concurrent use.
type Server struct {
	// URL is http://127.0.0.1:port. In memory it has a meaning for Dial alone.
	URL string

	folder   string // of Dendrite
	programs string
	sockets  string // the folder of Dendrite's socket
	process  *process
	front    *http.Server

	network   *memnet.Network // of double
	double    *double         // nil: Dendrite
	real      bool            // not in a bubble
	transport *http.Transport // to the homeserver

	mu      sync.Mutex
	names   map[string]int
	proxies int
}

// A User is somebody with an account, logged in once by password.
type User struct {
	ID       id.UserID
	Password string
	Token    string
	Device   id.DeviceID
}

// Start builds Dendrite if need be and runs it with empty data until the test
// ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := newServer(t.TempDir(), build(t))
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	s.showsLog(t)
	return s
}

// showsLog has a test that fails show what Dendrite has logged.
func (s *Server) showsLog(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the homeserver's log ends with:\n%s", s.logEnd())
		}
	})
}

var shared struct {
	sync.Mutex
	s *Server
}

// Shared is one homeserver for all tests of this process, started by the first
// that asks and ended by Main.
func Shared(t testing.TB) *Server {
	t.Helper()
	programs := build(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.s == nil {
		folder, err := os.MkdirTemp("", "matrixtest-")
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(folder, programs)
		if err := s.open(); err != nil {
			os.RemoveAll(folder)
			t.Fatal(err)
		}
		shared.s = s
	}
	shared.s.showsLog(t)
	return shared.s
}

// Main is the whole TestMain of a package that uses Shared. Its tests wait more
// than they work, so that more run beside each other, if not told otherwise.
func Main(m *testing.M) {
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := m.Run()
	if s := shared.s; s != nil {
		s.close()
		os.RemoveAll(s.folder)
	}
	os.Exit(code)
}

func newServer(folder, programs string) *Server {
	return &Server{folder: folder, programs: programs, names: map[string]int{}, transport: http.DefaultTransport.(*http.Transport)}
}

func (s *Server) open() error {
	if err := os.WriteFile(filepath.Join(s.folder, "dendrite.yaml"), []byte(s.configuration()), 0o600); err != nil {
		return err
	}
	key := exec.Command(filepath.Join(s.programs, "generate-keys"), "-private-key", "key.pem")
	key.Dir = s.folder
	if out, err := key.CombinedOutput(); err != nil {
		return fmt.Errorf("generate-keys: %v: %s", err, out)
	}
	return s.run()
}

func (s *Server) close() {
	s.front.Close()
	s.process.kill()
	os.RemoveAll(s.sockets)
}

// configuration is Dendrite's: no federation, SQLite, cheap passwords.
func (s *Server) configuration() string {
	var b strings.Builder
	fmt.Fprintf(&b, `version: 2
global:
  server_name: %s
  private_key: key.pem
  disable_federation: true
  trusted_third_party_id_servers: []
  presence: {enable_inbound: false, enable_outbound: false}
  report_stats: {enabled: false}
  cache: {max_size_estimated: 64mb, max_age: 1h}
  jetstream: {in_memory: true, storage_path: %s}
client_api:
  registration_disabled: true
  guests_disabled: true
  registration_shared_secret: %s
  rate_limiting: {enabled: false}
federation_api:
  key_perspectives: []
  deny_networks: ["0.0.0.0/0", "::/0"]
  database: {connection_string: "file:federationapi.db"}
media_api:
  base_path: media
  max_file_size_bytes: 10485760
  dynamic_thumbnails: false
  database: {connection_string: "file:mediaapi.db"}
room_server:
  default_room_version: "11"
  database: {connection_string: "file:roomserver.db"}
key_server:
  database: {connection_string: "file:keyserver.db"}
sync_api:
  database: {connection_string: "file:syncapi.db"}
  search: {enabled: false}
relay_api:
  database: {connection_string: "file:relayapi.db"}
user_api:
  bcrypt_cost: 4
  account_database: {connection_string: "file:userapi.db"}
mscs:
  mscs: []
  database: {connection_string: "file:mscs.db"}
logging:
- {type: std, level: warn}
`, Name, filepath.ToSlash(s.folder)+"/jetstream", secret)
	// Nothing here need outlive a power cut, and who reads need not wait for who
	// writes. Dendrite hands on what stands behind a question mark only if that is
	// hidden in the path.
	quick := ".db%3f_pragma=journal_mode(wal)&_pragma=synchronous(off)\""
	return strings.NewReplacer(`"file:`, `"file://`+filepath.ToSlash(s.folder)+"/", `.db"`, quick).Replace(b.String())
}

// run starts the process and waits until it answers.
func (s *Server) run() error {
	// A path for a socket must be short, a test's folder may be long.
	var err error
	if s.sockets, err = os.MkdirTemp("", "mx"); err != nil {
		return err
	}
	socket := filepath.Join(s.sockets, "s")
	written, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer written.Close()
	command := exec.Command(filepath.Join(s.programs, "dendrite"), "-config", "dendrite.yaml", "-unix-socket", socket)
	command.Dir = s.folder
	command.Stdout, command.Stderr = written, written
	if s.process, err = start(command); err != nil {
		return err
	}
	// Dendrite listens on a socket in the file system, with this process before it: so
	// nobody else can take the port between choosing it and listening.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.process.kill()
		return err
	}
	s.URL = "http://" + listener.Addr().String()
	to := &url.URL{Scheme: "http", Host: listener.Addr().String()}
	proxy := &httputil.ReverseProxy{
		ErrorLog: log.New(appended(s.logFile()), "before Dendrite: ", log.LUTC|log.Ltime|log.Lmicroseconds),
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}},
	}
	s.front = &http.Server{ErrorLog: quietly, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The transport reads once more after the last byte of a body. If the answer has
		// begun by then, the server has closed the body, and the transport takes that for a
		// broken request and breaks the answer off. What is read before cannot be closed.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})}
	go s.front.Serve(listener)
	for late := time.Now().Add(10 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		answer, err := http.Get(s.URL + "/_matrix/client/versions")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(answer.Status)
		}
		select {
		case <-s.process.done:
			s.close()
			return fmt.Errorf("dendrite ended before it was ready: %v\n%s", s.process.err, s.logEnd())
		default:
		}
		if time.Now().After(late) {
			s.close()
			return fmt.Errorf("dendrite is not ready: %v\n%s", err, s.logEnd())
		}
	}
}

// appended is a file to which each line is appended, whoever else writes to it: why an answer
// broke off stands among what Dendrite logs.
type appended string

func (name appended) Write(line []byte) (int, error) {
	f, err := os.OpenFile(string(name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Write(line)
}

func (s *Server) logFile() string { return filepath.Join(s.folder, "dendrite.log") }

// logEnd is the end of what Dendrite has logged, without what it says of
// requests that somebody has given up.
func (s *Server) logEnd() string {
	data, _ := os.ReadFile(s.logFile())
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "context canceled") })
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// Register makes an account. The display name is name; so is the local part of
// the ID, with a number behind it when somebody has it already.
func (s *Server) Register(t testing.TB, name string) User {
	t.Helper()
	local := strings.ToLower(name)
	s.mu.Lock()
	s.names[local]++
	if n := s.names[local]; n > 1 {
		local = fmt.Sprintf("%s-%d", local, n)
	}
	s.mu.Unlock()
	user := User{ID: id.NewUserID(local, Name), Password: passwordOf(local)}
	if s.double != nil {
		s.double.register(user.ID, user.Password, name)
		user.Token, user.Device = s.Login(t, user)
		return user
	}
	client := s.Client(t, s.URL, User{})
	ctx := context.Background()
	account, err := (&synapseadmin.Client{Client: client}).SharedSecretRegister(ctx, secret, synapseadmin.ReqSharedSecretRegister{Username: local, Password: user.Password, Displayname: name})
	if err != nil {
		t.Fatalf("registering %s: %v", local, err)
	}
	if account.UserID != user.ID {
		t.Fatalf("registering %s made %s", user.ID, account.UserID)
	}
	// The device that comes with the account has the same ID for everybody and
	// would stand in everybody's list without keys.
	client.UserID, client.AccessToken = account.UserID, account.AccessToken
	if _, err := client.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	user.Token, user.Device = s.Login(t, user)
	return user
}

// Login makes a further device of the user by password.
func (s *Server) Login(t testing.TB, user User) (token string, device id.DeviceID) {
	t.Helper()
	answer, err := s.login(user, "")
	if err != nil {
		t.Fatalf("%s logs in: %v", user.ID, err)
	}
	return answer.AccessToken, answer.DeviceID
}

// login makes a further device of the user, or one of that name.
func (s *Server) login(user User, device id.DeviceID) (*mautrix.RespLogin, error) {
	client, err := mautrix.NewClient(s.URL, "", "")
	if err != nil {
		return nil, err
	}
	client.Client.Transport = s.transport
	return client.Login(context.Background(), &mautrix.ReqLogin{
		Type:                     mautrix.AuthTypePassword,
		Identifier:               mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: user.ID.String()},
		Password:                 user.Password,
		DeviceID:                 device,
		InitialDeviceDisplayName: "test",
	})
}

// Virtual reports whether this is the homeserver of a Bubble, where time is virtual.
func (s *Server) Virtual() bool { return s.double != nil && !s.real }

// Dial connects to the homeserver and to its proxies; hand it to the bot.
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.network != nil {
		return s.network.DialContext(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// newTransport makes a transport that dials by Dial, until the test ends.
func (s *Server) newTransport(t testing.TB) *http.Transport {
	transport := &http.Transport{DialContext: s.Dial, DisableCompression: true, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Client makes a client for the user, who may be nobody, at the homeserver or at
// another URL that Dial knows.
func (s *Server) Client(t testing.TB, url string, user User) *mautrix.Client {
	t.Helper()
	client, err := mautrix.NewClient(url, user.ID, user.Token)
	if err != nil {
		t.Fatal(err)
	}
	client.DeviceID = user.Device
	client.Client.Transport = s.transport
	return client
}

// listen opens the address of one more proxy.
func (s *Server) listen() (net.Listener, string, error) {
	if s.network == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, "", err
		}
		return listener, "http://" + listener.Addr().String(), nil
	}
	s.mu.Lock()
	s.proxies++
	address := fmt.Sprintf("localhost:%d", 9000+s.proxies)
	s.mu.Unlock()
	listener, err := s.network.Listen(address)
	return listener, "http://" + address, err
}

// serve answers what comes to a listener until the test ends.
func serve(t testing.TB, listener net.Listener, handler http.Handler) {
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{Handler: handler, ErrorLog: quietly, BaseContext: func(net.Listener) context.Context { return ctx }}
	go server.Serve(listener)
	t.Cleanup(func() {
		cancel() // closing alone tells nothing to a handler that waits
		// A handler that still takes its time would outlive a bubble, whose time stands
		// still after the test.
		end, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Shutdown(end); err != nil {
			t.Error("a request to the homeserver never ended:", err)
		}
		server.Close()
	})
}
