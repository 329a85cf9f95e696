package web

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The proxies for which docs/room.md has a configuration, and how a test starts them with it.
var proxies = []struct {
	name, begins string // of the block in docs/room.md
	started      string // what it logs when it listens
	// wraps returns a configuration that may be used without the rights of a system, with the
	// port and the certificate of the test.
	wraps func(block, dir, port string) string
	args  []string // with CONFIG for its file
}{
	{"nginx", "```nginx\n", "start worker process ", func(block, dir, port string) string {
		block = strings.Replace(block, "listen 443 ssl", "listen "+port+" ssl", 1)
		block = strings.Replace(block, "/etc/letsencrypt/live/go.example.org", dir, 2)
		return fmt.Sprintf("daemon off; pid %[1]s/pid; error_log stderr notice; events {}\nhttp { access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; "+
			"fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;\n%[2]s}", dir, block)
	}, []string{"-e", "stderr", "-c", "CONFIG"}},
	{"caddy", "```caddyfile\n", "serving initial configuration", func(block, dir, port string) string {
		block = strings.Replace(block, "{", fmt.Sprintf("{\n    tls %[1]s/fullchain.pem %[1]s/privkey.pem", dir), 1)
		return fmt.Sprintf("{\n    admin off\n    auto_https disable_redirects\n    https_port %s\n    storage file_system %s\n}\n%s", port, dir, block)
	}, []string{"run", "--adapter", "caddyfile", "--config", "CONFIG"}},
}

// Behind each proxy of docs/room.md the room works as without it: events come at once, browsers
// are told apart by their address, and pages of other sites may do nothing.
func TestProxies(t *testing.T) {
	tier.Change(t)
	docs, err := os.ReadFile("../../docs/room.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, proxy := range proxies {
		t.Run(proxy.name, func(t *testing.T) {
			program, err := exec.LookPath(proxy.name)
			if err != nil {
				tier.Missing(t, "there is no "+proxy.name+": install the package")
			}
			_, rest, found := strings.Cut(string(docs), proxy.begins)
			block, _, _ := strings.Cut(rest, "```")
			if !found || !strings.Contains(block, "go.example.org") || !strings.Contains(block, "127.0.0.1:8080") {
				t.Fatalf("docs/room.md has no configuration for go.example.org: %s", block)
			}
			st := openStore(t, newFile(t))
			r := newRoom(st)
			r.cfg.Hosts, r.cfg.OwnerToken = []string{"go.example.org"}, ownerToken
			room, _ := listen(t, r, func(ctx context.Context) error { return withPages(st).Run(ctx, r) })
			dir, port := t.TempDir(), freePort(t)
			certify(t, dir)
			block = strings.Replace(block, "127.0.0.1:8080", strings.TrimPrefix(room, "http://"), 1)
			config := filepath.Join(dir, "config")
			if err := os.WriteFile(config, []byte(proxy.wraps(block, dir, port)), 0o600); err != nil {
				t.Fatal(err)
			}
			start(t, proxy.started, program, strings.Fields(strings.ReplaceAll(strings.Join(proxy.args, " "), "CONFIG", config))...)

			address := "127.0.0.1"
			if other := otherAddress(t); other != "" {
				address = other
			}
			client := http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
				DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(address, port))
				}}}
			defer client.CloseIdleConnections()
			const site = "https://go.example.org"
			do := func(method, path, body string, headers ...string) *http.Response {
				t.Helper()
				req, err := http.NewRequestWithContext(t.Context(), method, site+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(headers); i += 2 {
					req.Header.Set(headers[i], headers[i+1])
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { resp.Body.Close() })
				return resp
			}
			n := 0
			ask := func(text, file string, headers ...string) (int, string) {
				n++
				said := fmt.Sprintf(`{"id": %q, "seat": "black", "text": %q, "file": %s}`, id(n), text, file)
				resp := do("POST", "/ask", said, append([]string{"Content-Type", "application/json"}, headers...)...)
				answer, _ := io.ReadAll(resp.Body)
				return resp.StatusCode, string(answer)
			}

			if resp := do("GET", "/", ""); resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || !strings.Contains(resp.Header.Get("Set-Cookie"), "Secure") {
				t.Errorf("the room answers %s %s and sets %q", resp.Proto, resp.Status, resp.Header["Set-Cookie"])
			}
			if status, answer := ask("/new aga 5x5", "null", "Origin", site, "Sec-Fetch-Site", "same-origin"); status != http.StatusOK {
				t.Fatalf("its own page opens no game: %d %s", status, answer)
			}
			for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Origin", site, "Sec-Fetch-Site", "cross-site"}} {
				if status, answer := ask("/place A1", "null", headers...); status != http.StatusForbidden {
					t.Errorf("a page with %q may place a stone: %d %s", headers, status, answer)
				}
			}
			game := pathOf(t, st)
			page, _ := io.ReadAll(do("GET", game, "").Body)
			if !strings.Contains(string(page), `content="`+site+game) {
				t.Errorf("the preview names another address:\n%s", page)
			}

			// What a browser says of its address counts for nothing.
			lines := bufio.NewScanner(do("GET", game+"/follow", "", "X-Forwarded-For", "203.0.113.9", "Accept-Encoding", "gzip").Body)
			hears := func(want string) {
				t.Helper()
				for lines.Scan() {
					if line := lines.Text(); strings.HasPrefix(line, "data:") {
						if line != want {
							t.Errorf("the stream says %q, want %q", line, want)
						}
						return
					}
				}
				t.Fatalf("the stream ended before %q: %v", want, lines.Err())
			}
			hears("data: 3")
			r.mu.Lock()
			if want := strings.TrimPrefix(address, "127.0.0.1"); r.clients[want] != 1 || len(r.clients) != 1 {
				t.Errorf("the streams go to %v, want one to %q", r.clients, want)
			}
			r.mu.Unlock()
			ask("/place C3", "null", "Origin", site)
			hears("data: 4")

			const name = `{"name": "a.sgf", "data": ""}`
			data := strings.Repeat("A", maxUpload-500)
			if status, answer := ask("/show", strings.Replace(name, `""`, `"`+data+`"`, 1), "Origin", site); status == http.StatusRequestEntityTooLarge {
				t.Errorf("it passes on no large record: %s", answer)
			}
		})
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// start starts a program, waits until it logs a text, and ends it with the test.
func start(t *testing.T, logs, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan bool)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-read
		_ = cmd.Wait()
	})
	lines, said := bufio.NewScanner(stderr), ""
	for lines.Scan() {
		said += lines.Text() + "\n"
		if strings.Contains(lines.Text(), logs) {
			go func() { defer close(read); _, _ = io.Copy(io.Discard, stderr) }()
			return
		}
	}
	close(read)
	t.Fatalf("%s ended:\n%s", program, said)
}

// certify writes a certificate for the name of the documentation, and its key.
func certify(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "go.example.org"}, DNSNames: []string{"go.example.org"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"fullchain.pem": {Type: "CERTIFICATE", Bytes: certificate}, "privkey.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
