package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// program is halfpoint in a process of its own: TestMain has put it on PATH.
const program = "halfpoint"

// A served program answers at url until it is killed or told to stop.
type served struct {
	*exec.Cmd
	url    string
	out    io.Reader // standard output
	stderr said
}

// said is what a program writes to standard error.
type said struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed when there is more
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until a text is there.
func (s *said) await(text string) {
	for {
		s.mu.Lock()
		if strings.Contains(s.text.String(), text) {
			s.mu.Unlock()
			return
		}
		if s.more == nil {
			s.more = make(chan struct{})
		}
		more := s.more
		s.mu.Unlock()
		<-more
	}
}

func serve(t testing.TB, database string, flags ...string) *served {
	t.Helper()
	s := start(t, database, flags...)
	s.ready(t)
	return s
}

// start starts the program, which has no url before it is ready.
func start(t testing.TB, database string, flags ...string) *served {
	t.Helper()
	s := &served{Cmd: exec.Command(program, append(flags, "--listen", "127.0.0.1:0", "--database", database)...)}
	if s.Dir = filepath.Dir(database); store.IsPostgres(database) {
		s.Dir = t.TempDir()
	}
	s.Env = append(os.Environ(), "HALFPOINT_LIMITS_PERSON=100000", "HALFPOINT_LIMITS_CHANNEL=100000") // faster than people
	s.Stderr = &s.stderr
	var err error
	if s.out, err = s.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill(); s.Wait() })
	return s
}

// ready waits until the program has opened the local room.
func (s *served) ready(t testing.TB) {
	t.Helper()
	line, err := bufio.NewReader(s.out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "halfpoint: local room at ")
	if err != nil || !ok {
		s.Wait()
		t.Fatalf("the program says %q, %v\n%s", line, err, s.stderr.String())
	}
	s.url = url
}

// ask types text in a seat, as the page does. It reports false if the program
// could not be reached.
func (s *served) ask(id, seat, text string) (answer string, ok bool) {
	body, _ := json.Marshal(map[string]string{"id": id, "seat": seat, "text": text})
	req, err := http.NewRequest("POST", s.url+"/ask", bytes.NewReader(body))
	if err != nil {
		return "", false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", s.url)
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer r.Body.Close()
	reply, err := io.ReadAll(r.Body)
	return string(reply), err == nil && r.StatusCode == http.StatusOK
}

func uuid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// The program is killed at any moment, again and again, while a game is being
// played; each request is sent again with the same id until it is answered.
// Nothing that was answered is lost, nothing is done twice.
func TestKillAndRestart(t *testing.T) {
	tier.Change(t)
	t.Run("SQLite", func(t *testing.T) { killAndRestart(t, filepath.Join(t.TempDir(), "game.db")) })
	t.Run("PostgreSQL", func(t *testing.T) { killAndRestart(t, pgtest.Start(t).Database(t)) })
}

func killAndRestart(t *testing.T, database string) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := serve(t, database)
	n, restarts, rounds := 0, 0, tier.Pick(0, 12, 60) // of six turns each, on 361 points
	done := func(seat, text string) {
		n++
		for try := 0; ; try++ {
			if _, ok := s.ask(uuid(n), seat, text); ok {
				return
			}
			if try > 20 {
				t.Fatalf("%s was not answered\n%s", text, s.stderr.String())
			}
			s.Wait()
			s = serve(t, database)
			restarts++
		}
	}
	done("black", "/new aga 19x19")
	placed := 0
	for range rounds {
		victim, struck := s, make(chan struct{})
		kill := time.AfterFunc(time.Duration(rnd.IntN(25))*time.Millisecond, func() {
			victim.Process.Kill()
			close(struck)
		})
		for range 6 {
			done([]string{"black", "white"}[placed%2], fmt.Sprintf("/place %c%d", "ABCDEFGHJKLMNOPQRST"[placed%19], 1+placed/19))
			placed++
		}
		if kill.Stop() {
			continue
		}
		if <-struck; s == victim { // it came after the last answer
			s.Wait()
			s = serve(t, database)
		}
	}
	if restarts == 0 {
		t.Error("it was never killed while it was asked")
	}
	t.Logf("killed and started again %d times in %d rounds", restarts, rounds)
	s.Process.Signal(syscall.SIGTERM)
	if err := s.Wait(); err != nil {
		t.Errorf("stopped with %v\n%s", err, s.stderr.String())
	}
	st, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	ms, err := st.Matches(t.Context(), bot.Query{})
	if err != nil || len(ms) != 1 {
		t.Fatalf("%d games, %v", len(ms), err)
	}
	_, events, err := st.Match(t.Context(), ms[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	for i, e := range events {
		if e.Seq != i+1 {
			t.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		if strings.HasPrefix(e.Body.String(), "turn ") {
			turns++
		}
	}
	if turns != placed {
		t.Errorf("%d turns were answered, %d are stored", placed, turns)
	}
}

// The log says which configuration was read and which platforms are on; --log-level
// keeps it quiet.
func TestStartIsLogged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for level, want := range map[string]string{"info": `msg="configuration read" file=` + file + `
msg="local room open" address=URL database=halfpoint.db
msg="Discord is off: discord.token is not set"
msg="Matrix is off: matrix.homeserver is not set"
`, "warn": ""} {
		s := serve(t, filepath.Join(t.TempDir(), "halfpoint.db"), "--config", file, "--log-level", level)
		if err := s.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
		var says strings.Builder
		for line := range strings.Lines(s.stderr.String()) {
			_, msg, _ := strings.Cut(line, " level=INFO ")
			says.WriteString(msg)
		}
		if got := strings.NewReplacer(s.url, "URL", s.Dir+"/", "").Replace(says.String()); got != want {
			t.Errorf("%s: it logs\n%s", level, s.stderr.String())
		}
	}
}

// A service that cannot start reports it in one line and changes nothing.
func TestRefusesToStart(t *testing.T) {
	fails := func(status int, want string, args ...string) {
		t.Helper()
		c := exec.Command(program, args...)
		c.Dir = t.TempDir()
		out, err := c.CombinedOutput()
		if err == nil || c.ProcessState.ExitCode() != status || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fails(1, "address already in use", "--listen", l.Addr().String())

	corrupt := filepath.Join(t.TempDir(), "corrupt.db")
	noise := bytes.Repeat([]byte("this is not a database. "), 500)
	if err := os.WriteFile(corrupt, noise, 0o644); err != nil {
		t.Fatal(err)
	}
	fails(1, "corrupt.db", "--listen", "127.0.0.1:0", "--database", corrupt)
	if now, err := os.ReadFile(corrupt); err != nil || !bytes.Equal(now, noise) {
		t.Error("the corrupt file was touched", err)
	}
	fails(1, "nowhere", "--listen", "127.0.0.1:0", "--database", filepath.Join(t.TempDir(), "nowhere", "x.db"))

	// Other machines get in only where somebody looks after the room.
	untouched := filepath.Join(t.TempDir(), "new.db")
	fails(2, "owner_token", "--listen", "0.0.0.0:0", "--database", untouched)
	if _, err := os.Stat(untouched); err == nil {
		t.Error("a program that refuses to start made a database")
	}

	database := filepath.Join(t.TempDir(), "game.db")
	serve(t, database)
	fails(1, "another halfpoint is using", "--listen", "127.0.0.1:0", "--database", database)
}
