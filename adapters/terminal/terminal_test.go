package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A screen is a terminal with somebody at it. The prompt, written when a line
// has been dealt with, tells when to type the next.
type screen struct {
	t      *Terminal
	in     *io.PipeWriter
	ready  chan struct{}
	stop   context.CancelFunc
	done   chan error
	mu     sync.Mutex
	output bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasSuffix(string(p), "> ") {
		s.ready <- struct{}{}
	}
	return s.output.Write(p)
}

func (s *screen) Adapter() bot.Adapter { return s.t }
func (s *screen) Room() match.Room     { return room }
func (s *screen) Again() bool          { return false }
func (s *screen) OneScreen() bool      { return true }
func (s *screen) Stop() error          { s.stop(); return <-s.done }

func (s *screen) Says(who, text string) {
	io.WriteString(s.in, who+"> "+text+"\n")
	<-s.ready
}

func (s *screen) Sees(string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// A word ends the program, at the prompt and in a script.
func TestQuit(t *testing.T) {
	for typed, want := range map[string]int{"quit": 0, " Exit ": 0, "/quit": 0, "quite": 1} {
		for _, prompt := range []bool{true, false} {
			s := &Terminal{In: strings.NewReader(typed + "\n"), Out: io.Discard, Prompt: prompt}
			if err := s.Run(t.Context(), nil); err != io.EOF {
				t.Errorf("%q: %v", typed, err)
			}
			if refused := s.Refused(); refused != want {
				t.Errorf("%q, with a prompt %t: %d lines refused", typed, prompt, refused)
			}
		}
	}
}

// plays has somebody type a line a minute, in virtual time: everything that a line causes is
// shown before the next, however slow the machine is. It returns what is printed, after the
// last line has taken effect.
func plays(t *testing.T, s *Terminal, lines ...string) string {
	t.Helper()
	var out strings.Builder
	s.In, s.Out = &slowly{lines: lines}, &out
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(t.Context(), store.Memory)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := bot.New(st, bot.Config{Deliveries: 1}).Run(t.Context(), s); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
	return out.String()
}

// slowly is somebody who types a line a minute.
type slowly struct{ lines []string }

func (s *slowly) Read(p []byte) (int, error) {
	time.Sleep(time.Minute)
	if len(s.lines) == 0 {
		return 0, io.EOF
	}
	line := s.lines[0] + "\n"
	s.lines = s.lines[1:]
	return copy(p, line), nil
}

// A person is named with @ or without.
func TestPeopleInOptions(t *testing.T) {
	s := &Terminal{}
	got := plays(t, s, "event new", "event publish", "kim> event join", "event withdraw player:@Kim", "zoe> event join", "event withdraw player:#2", "room log")
	if n := strings.Count(got, "Done."); n != 2 || s.Refused() > 0 {
		t.Errorf("%d of 2 are withdrawn:\n%s", n, got)
	}
	for _, who := range []string{"Kim", "Zoe"} { // whoever organises here counts as a moderator
		if !strings.Contains(got, ": withdrew "+who+" from") {
			t.Errorf("the log of moderators lacks %s:\n%s", who, got)
		}
	}
}

// A slash may be left out; somebody who begins is told which letters are whose stones;
// and a board for everybody says who asked for it.
func TestWithoutSlash(t *testing.T) {
	s := &Terminal{Prompt: true}
	rest := plays(t, s, "new two-button 5x5", "E5", "row 5", "place c3", "undo", "C2", "pass", "board share:yes", "helo", "E5", "/")
	for _, want := range []string{
		"X is Black, O is White", "black> Game 1 begins", "black> 1. Black E5", "white> (to white alone) Row 5. A5 to D5, empty. E5, black, last turn.", "white> 2. White C3", "White takes back the last turn",
		"white> 2. White C2", "black> 3. Black passes", "white> White asked for the board of game 1.\nMove 3", "X Black, O White",
		"white> (to white alone) There is no command /helo. Did you mean /help?", "white> (to white alone) There is already a stone on E5",
		"white> A command follows the slash",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %q in\n%s", want, rest)
		}
		rest = after
	}
	if s.Refused() != 3 {
		t.Errorf("%d refused", s.Refused())
	}
}

// Nobody is told to ask a moderator where there is none.
func TestNoModerators(t *testing.T) {
	for lang, want := range map[string]string{"": "That is for moderators, and a terminal has none.", "de_DE.UTF-8": "Das können nur Moderatoren", "ja": "これはモデレーターだけ"} {
		s := &Terminal{Lang: lang}
		if got := plays(t, s, "settings size:13x13", "new 5x5", "adjudicate count"); strings.Count(got, want) != 2 || strings.Contains(got, "Ask") || s.Refused() != 2 {
			t.Errorf("%q: %d refused, told\n%s", lang, s.Refused(), got)
		}
	}
}

// Whoever sits at a terminal organises an event there. Its post is printed once for each state,
// and with it the table in letters.
func TestEvent(t *testing.T) {
	s := &Terminal{}
	got := plays(t, s,
		`black> /event new title:"Spring league" size:2x2 until:1d`,
		"black> /event publish",
		"ada> /event join",
		"bob> /event join",
		"black> /event start yes",
		"black> /event table player:ada",
	)
	if n := strings.Count(got, "\nSpring league: sign-up is open\n"); n != 1 || s.Refused() != 0 {
		t.Errorf("the sign-up is printed %d times, %d lines are refused:\n%s", n, s.Refused(), got)
	}
	if want := "1  Ada  ×"; !strings.Contains(got, want) {
		t.Errorf("no table in\n%s", got)
	}
}

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, service bot.Service) adaptertest.Platform {
		in, out := io.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		s := &screen{in: out, ready: make(chan struct{}, 1), stop: stop, done: make(chan error, 1)}
		s.t = &Terminal{In: in, Out: s, Prompt: true}
		go func() { s.done <- s.t.Run(ctx, service) }()
		t.Cleanup(func() { stop(); in.Close() })
		<-s.ready
		return s
	})
}
