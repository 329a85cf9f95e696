package matrixtest

import (
	"io"
	"net"
	"sync"
)

// A front is the port of a homeserver. Dendrite itself listens on a socket in
// the file system: so no port can be taken by somebody else between choosing
// it and listening, nor while the homeserver restarts.
type front struct {
	listener net.Listener

	mu     sync.Mutex
	socket string // "" while nobody is there
	open   map[*net.TCPConn]bool
}

func listen() (*front, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{listener: l, open: map[*net.TCPConn]bool{}}
	go f.serve()
	return f, nil
}

func (f *front) url() string { return "http://" + f.listener.Addr().String() }

func (f *front) to(socket string) {
	f.mu.Lock()
	f.socket = socket
	f.mu.Unlock()
}

// cut breaks all connections and lets none through until to.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.socket = ""
	for c := range f.open {
		c.SetLinger(0)
		c.Close()
	}
}

func (f *front) close() {
	f.listener.Close()
	f.cut()
}

func (f *front) serve() {
	for {
		outer, err := f.listener.Accept()
		if err != nil {
			return
		}
		go f.join(outer.(*net.TCPConn))
	}
}

func (f *front) join(outer *net.TCPConn) {
	defer outer.Close()
	f.mu.Lock()
	socket := f.socket
	f.open[outer] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.open, outer)
		f.mu.Unlock()
	}()
	c, err := net.Dial("unix", socket)
	if err != nil {
		outer.SetLinger(0)
		return
	}
	inner := c.(*net.UnixConn)
	defer inner.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(inner, outer)
		inner.CloseWrite()
	}()
	io.Copy(outer, inner)
	// The homeserver has closed: nothing more is worth hearing.
	outer.Close()
	<-done
}
