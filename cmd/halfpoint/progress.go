package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// A console is standard error on a terminal, with a line of progress at the bottom that
// other output replaces. Its methods may be called concurrently.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	begun time.Time // when the work began
	shown time.Time // when the line was last written
	width int       // of the line, 0 if there is none
}

// How long work takes before its progress is shown, and how often it is shown.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// Write removes the line of progress and writes p.
func (c *console) Write(p []byte) (int, error) { return c.write(c.w, p) }

func (c *console) write(to io.Writer, p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	return to.Write(p)
}

// A screen is standard output on the terminal of a console.
type screen struct {
	c *console
	w io.Writer
}

func (s screen) Write(p []byte) (int, error) { return s.c.write(s.w, p) }

// progress shows how far the work is, once it has taken a second.
func (c *console) progress(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.begun.IsZero() {
		c.begun = now
	}
	if now.Sub(c.begun) < progressAfter || now.Sub(c.shown) < progressEvery {
		return
	}
	line := fmt.Sprintf(format, args...)
	n := utf8.RuneCountInString(line)
	fmt.Fprint(c.w, "\r"+line+strings.Repeat(" ", max(c.width-n, 0)))
	c.shown, c.width = now, max(c.width, n)
}

func (c *console) clear() {
	if c.width > 0 {
		fmt.Fprint(c.w, "\r"+strings.Repeat(" ", c.width)+"\r")
		c.width = 0
	}
}

// bar draws how many of all are done.
func bar(done, all int) string {
	const width = 20
	n := done * width / all
	return "[" + strings.Repeat("#", n) + strings.Repeat(".", width-n) + "]"
}

// progress shows the progress of a long command on a terminal, and nothing to a script.
func (e *env) progress(format string, args ...any) {
	if c, ok := e.errout.(*console); ok {
		c.progress(format, args...)
	}
}

// working shows the progress of work on a database.
func (e *env) working(what string, done, all int) {
	if all > 0 {
		what += " " + bar(min(done, all), all)
	}
	e.progress("%s", what)
}

// watch lets a command show progress if standard error is a terminal. It returns the
// function that removes the line of progress.
func (e *env) watch() (done func()) {
	if !isTerminal(e.errout) {
		return func() {}
	}
	c := &console{w: e.errout}
	if isTerminal(e.out) {
		e.out = screen{c, e.out}
	}
	e.errout = c
	return func() { c.Write(nil) }
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// A counted reader shows how much of its size it has read.
type counted struct {
	io.Reader
	e       *env
	what    string
	n, size int64
}

// Read reads and shows progress.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	c.e.working(c.what, int(c.n), int(c.size))
	return n, err
}
