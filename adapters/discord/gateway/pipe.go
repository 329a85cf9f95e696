package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
)

// inside is the address at which a discordgo session finds its line.
const inside = "ws://line/"

// A pipe connects a discordgo session to its line, without a network.
type pipe struct{ theirs, ours net.Conn }

func newPipe() *pipe {
	theirs, ours := net.Pipe()
	return &pipe{theirs, ours}
}

// dialer is for the session.
func (p *pipe) dialer() *websocket.Dialer {
	return &websocket.Dialer{NetDialContext: func(context.Context, string, string) (net.Conn, error) { return p.theirs, nil }}
}

// accept is the other end's part of the handshake.
func (p *pipe) accept() (*websocket.Conn, error) {
	r := bufio.NewReader(p.ours)
	req, err := http.ReadRequest(r)
	if err != nil {
		return nil, err
	}
	var up websocket.Upgrader
	return up.Upgrade(&taken{conn: p.ours, rw: bufio.NewReadWriter(r, bufio.NewWriter(p.ours))}, req, nil)
}

func (p *pipe) Close() {
	p.theirs.Close()
	p.ours.Close()
}

// taken is a response whose connection can be taken over.
type taken struct {
	conn   net.Conn
	rw     *bufio.ReadWriter
	header http.Header
}

func (t *taken) Header() http.Header {
	if t.header == nil {
		t.header = http.Header{}
	}
	return t.header
}
func (t *taken) Write(b []byte) (int, error)                  { return t.conn.Write(b) }
func (t *taken) WriteHeader(int)                              {}
func (t *taken) Hijack() (net.Conn, *bufio.ReadWriter, error) { return t.conn, t.rw, nil }

// nowhere answers discordgo's question for the gateway with the address of the
// line, and nothing else: discordgo asks Discord nothing.
type nowhere struct{}

func (nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/gateway") {
		return nil, errors.New("discordgo is to ask Discord nothing")
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(`{"url":"` + inside + `"}`))}, nil
}
