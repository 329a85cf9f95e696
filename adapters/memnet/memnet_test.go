package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"
)

// A connection does what package net asks of one.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
		c1, c2 = pair("client", "server")
		return c1, c2, func() { c1.Close(); c2.Close() }, nil
	})
}

// In a bubble an hour that a server takes to answer passes at once, and a client
// with less patience gives up on time.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network Network
		listener, err := network.Listen("slow.test:80")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(time.Hour):
				io.WriteString(w, "done")
			case <-r.Context().Done():
			}
		})}
		go server.Serve(listener)
		defer server.Close()
		transport := &http.Transport{DialContext: network.DialContext}
		defer transport.CloseIdleConnections()

		begin := time.Now()
		resp, err := (&http.Client{Transport: transport}).Get("http://slow.test/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "done" || time.Since(begin) != time.Hour {
			t.Errorf("the server answered %q, %v after %v", body, err, time.Since(begin))
		}

		begin = time.Now()
		_, err = (&http.Client{Transport: transport, Timeout: time.Minute}).Get("http://slow.test/")
		if !os.IsTimeout(err) || time.Since(begin) != time.Minute {
			t.Errorf("the client gave up with %v after %v", err, time.Since(begin))
		}
	})
}

// Many connections in a bubble may be told at a time that their deadline has
// passed, as servers do after each request. With a timer for each, the race
// detector dies of it.
func TestDeadlinesInThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ends sync.WaitGroup
		for range 8 {
			c, peer := pair("client", "server")
			defer peer.Close()
			defer c.Close()
			ends.Go(func() {
				for range 20_000 {
					c.SetReadDeadline(time.Unix(1, 0))
				}
				if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("read: %v", err)
				}
			})
		}
		ends.Wait()
	})
}

// Two ends that write at the same time do not hang each other, and more than the
// buffer arrives whole.
func TestBothWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pair("client", "server")
		sent := bytes.Repeat([]byte("0123456789abcdef"), bufferSize/8)
		var wait sync.WaitGroup
		for _, c := range []net.Conn{a, b} {
			wait.Go(func() {
				if _, err := c.Write(sent); err != nil {
					t.Error(err)
				}
			})
			wait.Go(func() {
				got := make([]byte, len(sent))
				if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
			})
		}
		wait.Wait()
	})
}

func TestRefused(t *testing.T) {
	var network Network
	if _, err := network.DialContext(t.Context(), "tcp", "nobody.test:80"); err == nil {
		t.Error("a connection to nobody")
	}
	listener, err := network.Listen("a.test:80")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := network.Listen("a.test:80"); err == nil {
		t.Error("two listeners have one address")
	}
	synctest.Test(t, func(t *testing.T) { // nobody accepts
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var busy Network
		l, err := busy.Listen("busy.test:80")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, err := busy.DialContext(ctx, "tcp", "busy.test:80"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dialled a busy server: %v", err)
		}
	})
	listener.Close()
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener accepts: %v", err)
	}
	if again, err := network.Listen("a.test:80"); err != nil {
		t.Errorf("the address is not free again: %v", err)
	} else {
		again.Close()
	}
}
