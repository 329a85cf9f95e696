// Package memnet is a network in memory, for tests. A server listens on it and
// clients dial it as they would dial TCP:
//
//	var network memnet.Network
//	listener, err := network.Listen("discord.test:80")
//	go http.Serve(listener, handler)
//	client := &http.Client{Transport: &http.Transport{DialContext: network.DialContext}}
//	client.Get("http://discord.test/")
//
// It waits only on sync.Cond and package time, so it works in a testing/synctest
// bubble: while all goroutines wait for one another, time passes at once. Each direction of a connection has a buffer, as sockets do. (With
// net.Pipe, which has none, two ends that write at the same time hang.)
package memnet

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// bufferSize is the number of bytes that a connection holds in each direction before
// its writer has to wait for the reader.
const bufferSize = 256 << 10

// A Network is a set of addresses on which servers listen. The zero value is empty. Its
// methods may be called concurrently.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener
}

// Listen opens a listener on an address such as "matrix.test:80", which means
// nothing outside the network. It fails while another listener has the address.
func (n *Network) Listen(address string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[address] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: addr(address), Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	l := &listener{network: n, address: address, accept: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[address] = l
	return l, nil
}

// DialContext connects to the listener at an address, and is refused if there is
// none. It has the signature that [net/http.Transport] and websocket dialers ask
// for; the network's name does not matter.
func (n *Network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	failed := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: addr(address), Err: err}
	}
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return failed(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	client, server := pair(addr("client"), addr(address))
	select {
	case l.accept <- server:
		return client, nil
	case <-l.closed:
		return failed(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case <-ctx.Done():
		return failed(ctx.Err())
	}
}

type listener struct {
	network *Network
	address string
	accept  chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: addr(l.address), Err: net.ErrClosed}
	}
}

// Close frees the address. Connections that were accepted stay open.
func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.network.mu.Lock()
		defer l.network.mu.Unlock()
		delete(l.network.listeners, l.address)
	})
	return nil
}

func (l *listener) Addr() net.Addr { return addr(l.address) }

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

// pair returns the two ends of a connection.
func pair(client, server addr) (net.Conn, net.Conn) {
	up, down := newStream(), newStream()
	return &conn{in: down, out: up, local: client, remote: server}, &conn{in: up, out: down, local: server, remote: client}
}

// A conn is one end of a connection: it reads what the other end has written.
type conn struct {
	in, out       *stream
	local, remote addr
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.named("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.named("write", err)
}

// named adds the failed operation to an error, as package net does.
func (c *conn) named(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends both directions: the other end reads what was written before, then
// io.EOF, and its writes fail.
func (c *conn) Close() error {
	c.in.shut(false)
	c.out.shut(true)
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.in.reader.set(t, c.in.changed)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.out.writer.set(t, c.out.changed)
	return nil
}

// A stream is one direction of a connection.
type stream struct {
	mu                 sync.Mutex
	changed            *sync.Cond
	buffer             []byte
	noWriter, noReader bool // closed at that end
	reader, writer     deadline
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.noReader:
			return 0, net.ErrClosed
		case s.reader.passed():
			return 0, os.ErrDeadlineExceeded
		case len(s.buffer) > 0:
			n := copy(p, s.buffer)
			if s.buffer = s.buffer[n:]; len(s.buffer) == 0 {
				s.buffer = nil
			}
			s.changed.Broadcast()
			return n, nil
		case s.noWriter:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.noWriter:
			return n, net.ErrClosed
		case s.writer.passed():
			return n, os.ErrDeadlineExceeded
		case s.noReader:
			return n, os.NewSyscallError("write", syscall.EPIPE)
		case n == len(p):
			return n, nil
		}
		if room := min(bufferSize-len(s.buffer), len(p)-n); room > 0 {
			s.buffer = append(s.buffer, p[n:n+room]...)
			n += room
			s.changed.Broadcast()
			continue
		}
		s.changed.Wait()
	}
}

// shut closes one side of the stream.
func (s *stream) shut(writer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if writer {
		s.noWriter = true
		s.writer.stop()
	} else {
		s.noReader = true
		s.buffer = nil
		s.reader.stop()
	}
	s.changed.Broadcast()
}

// A deadline wakes the waiting goroutines when it passes.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) set(at time.Time, changed *sync.Cond) {
	d.stop()
	d.at = at
	// A deadline in the past, as net/http sets to end a read, needs no timer. In a
	// bubble of synctest it must not have one: it would run at once, here, with the
	// race detector's state that all timers of the bubble share, and where two
	// goroutines do that at a time the detector crashes (golang/go#78156).
	if in := time.Until(at); !at.IsZero() && in > 0 {
		d.timer = time.AfterFunc(in, func() {
			changed.L.Lock()
			defer changed.L.Unlock()
			changed.Broadcast()
		})
	}
	changed.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }
