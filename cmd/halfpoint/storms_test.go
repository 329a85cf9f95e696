package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A storm plays games on several processes that share a database of PostgreSQL, while something
// destroys them, the database, or both. Two people play each game, each in two tabs of their
// browser. Each request is sent with an id of its own to one of the processes, by chance, and
// again with the same id until it is answered. Pages follow the transcript meanwhile.
type storm struct {
	*testing.T
	address   string // of the database, as the processes have it
	owner     string // as the owner of the server has it
	newest    string // of the programs that run
	processes []*process
	dir       string // of the processes
	ended     atomic.Bool
	running   sync.WaitGroup // the processes, and what follows them
	began     time.Time
	requests  atomic.Int64
	answers   atomic.Int64
	silence   atomic.Int64 // how often a process that was asked gave no answer in time, not even that it failed
	restarts  atomic.Int64
	struck    atomic.Int64 // how often something went wrong

	mu      sync.Mutex
	rnd     *rand.Rand
	slowest time.Duration // of the answers
	games   []*played
	pages   []*tab
}

// A process is a program that is started again whenever it ends.
type process struct {
	ahead time.Duration // by which the clock of its machine is ahead

	mu      sync.Mutex
	program string
	now     *exec.Cmd // nil: between two
	url     string    // empty: it does not answer yet
	log     said
}

// lease is after how long without a sign of a process others take over what it does.
const lease = 2 * time.Second

// newStorm starts processes on an empty database, and two tabs that follow the transcript. The clocks
// of the first processes may be ahead.
func newStorm(t *testing.T, address string, processes int, ahead ...time.Duration) *storm {
	s := &storm{T: t, address: address, owner: address, newest: program, dir: t.TempDir(), began: time.Now(), rnd: rand.New(rand.NewPCG(33, 1))}
	t.Cleanup(s.stop)
	for n := range processes {
		p := &process{program: program}
		if n < len(ahead) {
			p.ahead = ahead[n]
		}
		s.processes = append(s.processes, p)
		s.running.Go(func() { s.keep(p) })
	}
	for range 2 {
		p := &tab{}
		s.pages = append(s.pages, p)
		s.running.Go(func() { s.follow(p) })
	}
	return s
}

// up waits until all processes answer: without a database they would not start.
func (s *storm) up() {
	for _, p := range s.processes {
		for p.address() == "" && !s.Failed() {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// stop kills the processes.
func (s *storm) stop() {
	s.ended.Store(true)
	for _, p := range s.processes {
		p.signal(syscall.SIGKILL)
	}
	s.running.Wait()
}

// keep runs a process until the storm is over.
func (s *storm) keep(p *process) {
	for !s.ended.Load() {
		p.mu.Lock()
		c := exec.Command(p.program, "--listen", "127.0.0.1:0", "--log-level", "warn", "--database", s.address)
		p.mu.Unlock()
		c.Dir, c.Stderr = s.dir, &p.log
		c.Env = append(os.Environ(), "HALFPOINT_LIMITS_PERSON=1000000", "HALFPOINT_LIMITS_CHANNEL=1000000", fmt.Sprint("HALFPOINT_LEASE=", lease.Seconds()), clockAhead+"="+p.ahead.String())
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			s.Error(err)
			return
		}
		p.mu.Lock()
		p.now = c
		p.mu.Unlock()
		if s.ended.Load() {
			c.Process.Kill()
		}
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); err == nil {
			p.mu.Lock()
			p.url = strings.TrimPrefix(strings.TrimSpace(line), "halfpoint: local room at ")
			p.mu.Unlock()
		}
		io.Copy(io.Discard, lines)
		c.Wait()
		p.mu.Lock()
		p.now, p.url = nil, ""
		p.mu.Unlock()
		if !s.ended.Load() {
			s.restarts.Add(1)
		}
	}
}

// signal sends a signal to the process, if there is one.
func (p *process) signal(what syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now != nil && p.now.Process.Signal(what) == nil
}

// replace stops a process, and returns when another program has taken its place.
func (s *storm) replace(p *process, program string) {
	p.mu.Lock()
	old := p.now
	p.program = program
	p.mu.Unlock()
	p.signal(syscall.SIGTERM)
	for began := time.Now(); !s.Failed(); time.Sleep(time.Millisecond) {
		p.mu.Lock()
		there := p.now != old && p.url != ""
		p.mu.Unlock()
		if there {
			return
		}
		if time.Since(began) > answerFor {
			s.Errorf("%s does not take the place of another", program)
		}
	}
}

func (p *process) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.url
}

// upTo returns a number from 0 to n-1.
func (s *storm) upTo(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rnd.IntN(n)
}

// within returns a time up to another.
func (s *storm) within(most time.Duration) time.Duration {
	return time.Duration(s.upTo(int(most)))
}

func (s *storm) some() *process { return s.processes[s.upTo(len(s.processes))] }

const (
	tryFor    = 3 * time.Second // one process, before another is asked; longer each time
	answerFor = 3 * time.Minute // in all
)

// ask types something as a person, again and again until it is answered: whether it was carried
// out, or why not.
func (s *storm) ask(who, text string) (done bool, why string, err error) {
	id := uuid(int(s.requests.Add(1)))
	wait := tryFor
	for began := time.Now(); time.Since(began) < answerFor && !s.Failed(); wait += time.Second {
		done, why, err = s.try(s.some().address(), wait, id, who, text)
		if err == nil {
			s.answers.Add(1)
			s.mu.Lock()
			s.slowest = max(s.slowest, time.Since(began))
			s.mu.Unlock()
			return done, why, nil
		}
		if errors.Is(err, context.DeadlineExceeded) {
			s.silence.Add(1)
		}
		time.Sleep(s.within(20 * time.Millisecond))
	}
	return false, "", fmt.Errorf("%s: %q is not answered: %w", who, text, err)
}

// again are the beginnings of answers after which the same request is sent again.
var again = []string{"Many games were opened here"}

func (s *storm) try(url string, wait time.Duration, id, who, text string) (done bool, why string, err error) {
	if url == "" {
		return false, "", fmt.Errorf("nobody is there")
	}
	body, err := json.Marshal(map[string]string{"id": id, "seat": "name:" + who, "text": text})
	if err != nil {
		return false, "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), wait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/ask", bytes.NewReader(body))
	if err != nil {
		return false, "", err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {url}, "Cookie": {"halfpoint-browser=" + who}}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, "", err
	}
	defer r.Body.Close()
	var answer struct {
		Private bool
		Message struct{ Text string }
	}
	if r.StatusCode != http.StatusOK {
		reply, _ := io.ReadAll(r.Body)
		return false, "", fmt.Errorf("%s: %s", r.Status, reply)
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		return false, "", err
	}
	for _, busy := range again {
		if strings.HasPrefix(answer.Message.Text, busy) {
			return false, "", fmt.Errorf("%s", answer.Message.Text)
		}
	}
	return !answer.Private, answer.Message.Text, nil
}

// play plays games until over is closed, and ends each. At each table two people play one game
// after the other.
func (s *storm) play(over <-chan struct{}) {
	var all sync.WaitGroup
	for table := range tables {
		all.Go(func() {
			black, white := fmt.Sprint("black", table), fmt.Sprint("white", table)
			for _, who := range []string{black, white} {
				if done, why, err := s.ask(who, "Hello, I am "+who+"."); !done {
					s.Errorf("%s cannot talk: %s, %v", who, why, err)
					return
				}
			}
			for n := 0; !s.Failed(); n++ {
				g := &played{storm: s, name: fmt.Sprintf("game %d of table %d", n+1, table+1), players: [2]string{black, white}, left: lattice()}
				s.mu.Lock()
				s.games = append(s.games, g)
				s.mu.Unlock()
				g.play(over)
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	all.Wait()
}

// lattice returns points of which no two touch, so that no stone is ever captured.
func lattice() (points []string) {
	for n := range 361 {
		if n%2 == 0 {
			points = append(points, fmt.Sprintf("%c%d", "ABCDEFGHJKLMNOPQRST"[n%19], 1+n/19))
		}
	}
	return points
}

// longest is the number of turns of a game.
const longest = 150

// play plays a game until over is closed or it is long, and then to its end.
func (g *played) play(over <-chan struct{}) {
	open := fmt.Sprintf("/new aga 19x19 color:black opponent:%s", g.players[1])
	for i, text := range []string{open, "/join"} {
		if done, why, err := g.ask(g.players[i], text); !done {
			g.Errorf("%s: %s: %s, %v", g.name, text, why, err)
			return
		}
	}
	var tabs sync.WaitGroup
	for tab := range 4 {
		tabs.Go(func() {
			for !g.Failed() && g.turns() < longest {
				select {
				case <-over:
					return
				default:
					g.turn(tab % 2)
				}
			}
		})
	}
	tabs.Wait()
	for _, player := range []int{1, 0} { // who offers a draw, and who accepts it, unless one was offered already
		g.do(player, "/draw")
	}
}

// turn places a stone, or tries to.
func (g *played) turn(player int) {
	switch dice := g.upTo(100); {
	case dice < 3 && player == 0:
		g.do(player, "/draw")
	case dice < 8:
		if point := g.taken(); point != "" {
			g.do(player, "/place "+point)
		}
	default:
		changed := g.changed()
		point := g.take()
		if point == "" {
			return
		}
		if done := g.do(player, "/place "+point); done {
			return
		}
		g.putBack(point)
		select { // until it may be our turn
		case <-changed:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// end waits until all that is to be shown is shown, kills the processes, and checks that nothing
// that was answered is lost, and that nothing was done twice.
func (s *storm) end() {
	s.Helper()
	s.settled()
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Logf("%d times, with %d restarts; %d games, %d requests in %v; the slowest answer after %v; no answer at once %d times", s.struck.Load(), s.restarts.Load(),
		len(s.games), s.requests.Load(), time.Since(s.began).Round(time.Second), s.slowest.Round(time.Millisecond), s.silence.Load())
	if !s.Failed() {
		s.check()
	}
	if s.Failed() {
		for i, p := range s.processes {
			log := p.log.String()
			s.Logf("process %d:\n%s", i, log[max(0, len(log)-4000):])
		}
	}
}

// A strike is something that goes wrong, once; it returns when all is well again.
type strike func(s *storm)

// tables is how many games are played at the same time.
const tables = 3

// strikes strikes a number of times while games are played, or fewer if the test has to end soon.
func (s *storm) strikes(times int, hit strike) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range times {
			for before := s.answers.Load(); s.answers.Load() < before+4; time.Sleep(time.Millisecond) { // between two they play
				if end, ok := s.Deadline(); s.Failed() || ok && time.Until(end) < answerFor {
					return
				}
			}
			hit(s)
			s.struck.Add(1)
		}
		time.Sleep(s.within(500 * time.Millisecond)) // and they go on
	}()
	s.play(over)
	<-over
	s.end()
}

// kill kills one process. Its supervisor starts it again at once.
func kill(s *storm) {
	time.Sleep(s.within(600 * time.Millisecond))
	for !s.some().signal(syscall.SIGKILL) && !s.Failed() {
		time.Sleep(time.Millisecond)
	}
}

// halt stops a process for longer than its lease, so that others take over, and then lets it go on.
func halt(s *storm) {
	time.Sleep(s.within(300 * time.Millisecond))
	p := s.some()
	for p.address() == "" && !s.Failed() {
		time.Sleep(time.Millisecond)
		p = s.some()
	}
	p.signal(syscall.SIGSTOP)
	time.Sleep(lease/2 + s.within(3*lease/2))
	p.signal(syscall.SIGCONT)
}

// crash crashes a server of PostgreSQL, and starts it again.
func crash(server *pgtest.Server) strike {
	return func(s *storm) {
		time.Sleep(s.within(300 * time.Millisecond))
		server.Crash(s)
		server.Revive(s)
	}
}

// Processes are killed, again and again.
func TestStormOfKills(t *testing.T) {
	tier.Change(t)
	server := pgtest.Start(t)
	for _, processes := range tier.Pick(nil, []int{2}, []int{2, 4}) {
		t.Run(fmt.Sprint(processes, " processes"), func(t *testing.T) {
			newStorm(t, server.Database(t), processes).strikes(tier.Pick(0, 8, 1000), kill)
		})
	}
}

// Processes are stopped, so that others take over, and go on later.
func TestStormOfStops(t *testing.T) {
	tier.Change(t)
	newStorm(t, pgtest.Start(t).Database(t), 3).strikes(tier.Pick(0, 3, 500), halt)
}

// Processes are killed where PostgreSQL allows them together fewer connections than one of them would
// like to have.
func TestStormOfFewConnections(t *testing.T) {
	tier.Soak(t)
	s, _ := limited(t, 10)
	s.strikes(100, kill)
}

// limited starts two processes whose role may have so many connections.
func limited(t *testing.T, connections int) (*storm, *pgtest.Server) {
	t.Helper()
	server := pgtest.New(t)
	server.Exec(t, fmt.Sprint("CREATE ROLE few LOGIN CONNECTION LIMIT ", connections))
	server.Exec(t, "CREATE DATABASE few OWNER few")
	s := newStorm(t, strings.Replace(server.Address("few"), "halfpoint@", "few@", 1), 2)
	s.owner = server.Address("few")
	return s, server
}

// Nobody gets a connection any more, as when other programs have all that PostgreSQL allows.
func TestStormOfNoConnections(t *testing.T) {
	tier.Change(t)
	s, server := limited(t, -1)
	s.up()
	s.strikes(tier.Pick(0, 3, 100), func(s *storm) {
		time.Sleep(s.within(300 * time.Millisecond))
		server.Exec(s, "ALTER ROLE few CONNECTION LIMIT 0")
		server.Exec(s, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'few'")
		time.Sleep(s.within(2 * lease))
		server.Exec(s, "ALTER ROLE few CONNECTION LIMIT -1")
	})
	if n := s.restarts.Load(); n > 0 {
		t.Errorf("%d processes have ended", n)
	}
}

// Processes are killed on machines whose clocks are ten minutes apart. They all go by the clock of
// the database.
func TestStormOfClocksApart(t *testing.T) {
	tier.Change(t)
	const apart = 10 * time.Minute
	s := newStorm(t, pgtest.Start(t).Database(t), 2, -apart/2, apart/2)
	s.strikes(tier.Pick(0, 3, 100), kill)
	st, err := store.Open(t.Context(), s.owner)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	all, err := st.Matches(t.Context(), bot.Query{Limit: len(s.games)})
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	for _, m := range all {
		_, events, err := st.Match(t.Context(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if off := max(s.began.Sub(e.At), time.Until(e.At)); off > apart/4 {
				t.Fatalf("event %d of game %s is %v off", e.Seq, m.ID, off)
			}
		}
	}
}

// PostgreSQL crashes, again and again.
func TestStormOfCrashes(t *testing.T) {
	tier.Change(t)
	server := pgtest.New(t)
	newStorm(t, server.Database(t), 2).strikes(tier.Pick(0, 3, 500), crash(server))
}

// The primary crashes, and its standby is promoted and gets a standby of its own, again and again.
func TestStormOfPromotions(t *testing.T) {
	tier.Change(t)
	for n := range tier.Pick(0, 1, 10) { // the servers of each go at its end
		t.Run(fmt.Sprint(n), func(t *testing.T) { promotions(t, tier.Pick(0, 2, 10)) })
	}
}

func promotions(t *testing.T, times int) {
	primary := pgtest.New(t)
	primary.Exec(t, "CREATE DATABASE club")
	// The processes know two names, of which each stands for one server after another.
	dir := t.TempDir()
	hosts := [2]string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	name := func(host int, server *pgtest.Server) {
		os.Remove(hosts[host])
		if err := os.Symlink(server.Dir, hosts[host]); err != nil {
			t.Fatal(err)
		}
	}
	follow := func(n int) *pgtest.Server {
		standby := primary.Standby(t)
		name(n%2, standby)
		primary.Exec(t, fmt.Sprint("CREATE TABLE standby", n, " ()")) // waits until the standby has all
		return standby
	}
	name(0, primary)
	standby, n := follow(1), 1
	newStorm(t, "postgres://halfpoint@/club?host="+hosts[0]+","+hosts[1], 2).strikes(times, func(s *storm) {
		time.Sleep(s.within(time.Second))
		primary.Crash(t)
		standby.Exec(t, "SELECT pg_promote()")
		primary, n = standby, n+1
		standby = follow(n)
	})
}

// Processes are replaced by the next version, which has more tables and columns, and then by the
// earlier one again: first two at once, and then the one that went on beside them.
func TestStormOfVersions(t *testing.T) {
	tier.Change(t)
	s := newStorm(t, pgtest.Start(t).Database(t), 3)
	s.newest = nextVersion(t)
	step := 0
	s.strikes(tier.Pick(0, 2, 300), func(s *storm) {
		which, version := s.processes[:2], s.newest
		if step%2 == 1 {
			which = s.processes[2:]
		}
		if step%4 >= 2 {
			version = program
		}
		step++
		var all sync.WaitGroup
		for _, p := range which {
			all.Go(func() { s.replace(p, version) })
		}
		all.Wait()
	})
}

// nextVersion builds this program with one migration more, and returns its path.
func nextVersion(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	migrations := filepath.Join(root, "bot", "store", "migrations")
	all, err := filepath.Glob(filepath.Join(migrations, "*.sql"))
	if err != nil || len(all) == 0 {
		t.Fatal("no migrations", err)
	}
	var newest int
	if _, err := fmt.Sscanf(filepath.Base(all[len(all)-1]), "%d_", &newest); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	migration, overlay, built := filepath.Join(dir, "next.sql"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "halfpoint")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(migrations, fmt.Sprintf("%05d_next.sql", newest+1)): migration}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{overlay: string(replace), migration: `-- +goose Up
ALTER TABLE game ADD COLUMN next TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN next BIGINT NOT NULL DEFAULT 0;
ALTER TABLE post ADD COLUMN next TEXT NOT NULL DEFAULT '';
ALTER TABLE unit ADD COLUMN next TEXT NOT NULL DEFAULT '';
CREATE TABLE next (game TEXT NOT NULL REFERENCES game (id), what TEXT NOT NULL);
CREATE INDEX next_game ON next (game);
`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-tags=goolm", "-overlay", overlay, "-o", built, "./cmd/halfpoint")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return built
}
