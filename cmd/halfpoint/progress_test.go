package main

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A line of progress comes after a second, gives way to what is written, and goes at
// the end.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var terminal bytes.Buffer
		c := &console{w: &terminal}
		e := &env{out: screen{c, &terminal}, errout: c}
		saw := func(want string) {
			t.Helper()
			if got := terminal.String(); got != want {
				t.Errorf("the terminal got %q, want %q", got, want)
			}
			terminal.Reset()
		}
		e.progress("%d of 9", 1)
		time.Sleep(999 * time.Millisecond)
		e.progress("%d of 9", 2)
		saw("")
		time.Sleep(time.Millisecond)
		e.progress("%d of 9", 10)
		saw("\r10 of 9")
		e.progress("%d of 9", 4)
		saw("")
		time.Sleep(100 * time.Millisecond)
		e.progress("%d of 9", 5)
		saw("\r5 of 9 ")
		fmt.Fprintln(e.errout, "halfpoint: a note")
		saw("\r       \rhalfpoint: a note\n")
		fmt.Fprintln(e.out, "done")
		saw("done\n")
		time.Sleep(100 * time.Millisecond)
		counted := &counted{Reader: bytes.NewReader(make([]byte, 2<<20)), e: e, what: "importing", size: 4 << 20}
		counted.Read(make([]byte, 1<<20))
		saw("\rimporting [#####...............]")
		time.Sleep(100 * time.Millisecond)
		counted.Read(make([]byte, 1<<20))
		saw("\rimporting [##########..........]")
		c.Write(nil)
		saw("\r                                \r")
	})
}

// A script sees no progress, however long it takes.
func TestProgressInScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		e := &env{out: &out, errout: &out}
		done := e.watch()
		for range 3 {
			e.progress("working")
			time.Sleep(time.Second)
		}
		done()
		if out.Len() > 0 {
			t.Errorf("it wrote %q", out.String())
		}
	})
}

func TestBar(t *testing.T) {
	for done, want := range map[int]string{0: "[....................]", 1: "[....................]", 99: "[#########...........]", 200: "[####################]"} {
		if got := bar(done, 200); got != want {
			t.Errorf("%d of 200: %s, want %s", done, got, want)
		}
	}
}
