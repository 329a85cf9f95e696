package matrix

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// program builds halfpoint as it is shipped, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "halfpoint-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "halfpoint")
	build := exec.Command("go", "build", "-tags", "goolm", "-o", path, "github.com/halfpoint-go/halfpoint/cmd/halfpoint")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	return path, nil
})

// A served program is the real one, which plays on Matrix until it is killed.
type served struct {
	*exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
}

func (c *club) serve(path string) *served {
	c.Helper()
	s := &served{Cmd: exec.Command(path, "--listen", "127.0.0.1:0", "--database", c.file), ended: make(chan struct{})}
	s.Env = append(os.Environ(), "HALFPOINT_MATRIX_HOMESERVER="+c.cfg.Homeserver, "HALFPOINT_MATRIX_USER="+c.user.ID.String(),
		"HALFPOINT_MATRIX_PASSWORD="+c.user.Password)
	s.Dir, s.Stderr = filepath.Dir(c.file), &s.stderr
	out, err := s.StdoutPipe()
	if err != nil {
		c.Fatal(err)
	}
	if err := s.Start(); err != nil {
		c.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.Wait()
		c.Fatalf("the program says %q, %v\n%s", line, err, s.stderr.String())
	}
	go func() { s.Wait(); close(s.ended) }()
	c.Cleanup(s.kill)
	return s
}

func (s *served) kill() {
	s.Process.Kill()
	<-s.ended
}

// The program is killed at any moment, again and again, while two people play in
// each of two rooms, one of them encrypted. Nothing that they say is lost, and
// nothing is done or said twice. HALFPOINT_LONG=1 kills it 1,000 times.
func TestKills(t *testing.T) {
	t.Parallel()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	kills, moves := 8, 20
	if long {
		kills, moves = 1000, 160
	}
	c := newClub(t, matrixtest.Shared(t))
	s := c.serve(path)
	var rooms []*pair
	for _, encrypted := range []bool{false, true} {
		rooms = append(rooms, c.pair(encrypted))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var killed atomic.Int64
	var players sync.WaitGroup
	for _, r := range rooms {
		pauses := rand.New(rand.NewPCG(3, uint64(len(r.people))))
		players.Go(func() {
			for k := range moves {
				r.people[k%2].says(r.root, "!place "+sparse(k))
				time.Sleep(time.Duration(pauses.IntN(100)) * time.Millisecond)
				for int(killed.Load()) < kills*k/moves && !t.Failed() {
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	for ; int(killed.Load()) < kills; killed.Add(1) {
		time.Sleep(time.Duration(rnd.IntN(2000)) * time.Millisecond)
		s.kill()
		s = c.serve(path)
	}
	players.Wait()
	for _, r := range rooms {
		r.people[0].sees(fmt.Sprintf("move %d:", moves))
		r.people[1].says(r.root, "!score") // what is owed before is sent before
		r.people[0].sees("If play stopped now")
	}
	s.Process.Signal(syscall.SIGTERM)
	<-s.ended
	if code := s.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d\n%s", code, s.stderr.String())
	}
	events := c.events()
	for n, r := range rooms {
		var got, want []string
		for _, e := range events[r.at] {
			if strings.HasPrefix(e.Body, "turn ") {
				got = append(got, e.Body)
			}
		}
		for k := range moves {
			want = append(want, fmt.Sprintf("turn %c place %s", "BW"[k%2], sparse(k)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("room %d: the log is %d turns\n%q, want %d\n%q", n, len(got), got, len(want), want)
		}
		said, last := map[string]bool{}, 0
		boards := 0
		for _, m := range r.people[0].heard() {
			mark, _ := m[marker].(string)
			if mark == "" || said[mark] {
				t.Errorf("room %d: without a mark, or twice: %v", n, m["body"])
			}
			said[mark] = true
			if m["m.new_content"] != nil || m["msgtype"] != "m.image" {
				continue
			}
			boards++
			move := 0
			if _, after, ok := strings.Cut(fmt.Sprint(m["body"]), "move "); ok {
				fmt.Sscanf(after, "%d:", &move)
			}
			if move < last || move == last && move > 0 {
				t.Errorf("room %d: move %d is shown after move %d", n, move, last)
			}
			last = move
		}
		if last != moves {
			t.Errorf("room %d: the last board is that of move %d", n, last)
		}
		t.Logf("room %d: %d turns, %d boards, %d messages", n, len(got), boards, len(said))
	}
	t.Logf("killed %d times", killed.Load())
}

// sparse gives points that do not touch each other.
func sparse(k int) string {
	return fmt.Sprintf("%c%d", "ACEGJLNPRTVXZ"[k%13], 1+2*(k/13))
}

// A pair is a game of two people who cannot look into the bot.
type pair struct {
	at     id.RoomID
	root   id.EventID
	people [2]*talker
}

// talkers are two people without a room.
func (c *club) talkers(encrypted bool) *pair {
	c.Helper()
	r := &pair{}
	for i, name := range []string{"Anna", "Bob"} {
		p := &talker{Player: c.server.Player(c.T, name), c: c, r: r}
		if encrypted {
			p.dev = c.secretly(p.User)
		}
		r.people[i] = p
	}
	return r
}

// pair makes a room and begins a game of 25x25 in it.
func (c *club) pair(encrypted bool) *pair {
	c.Helper()
	r := c.talkers(encrypted)
	anna, bob := r.people[0], r.people[1]
	r.at = anna.Makes(matrixtest.Room{Name: "Go club", Encrypted: encrypted, Invite: []id.UserID{bob.ID, c.user.ID}})
	bob.AwaitInvite(r.at)
	bob.Joins(r.at)
	anna.Await(r.at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
	anna.says("", "!new aga 25x25")
	r.root = anna.sees("opens game")
	bob.says(r.root, "!join")
	anna.sees("Black to play")
	return r
}

// A talker is somebody whose messages are encrypted if the room is.
type talker struct {
	*matrixtest.Player
	c   *club
	r   *pair
	dev *secret // nil where nothing is
}

// says says something in a thread, or in the room itself.
func (p *talker) says(thread id.EventID, text string) {
	m := &event.MessageEventContent{MsgType: event.MsgText, Body: text, Mentions: &event.Mentions{}}
	if thread != "" {
		m.RelatesTo = (&event.RelatesTo{}).SetThread(thread, thread)
	}
	if p.dev == nil {
		p.Sends(p.r.at, event.EventMessage, m)
		return
	}
	sealed, err := p.dev.Crypto.Encrypt(context.Background(), p.r.at, event.EventMessage, m)
	if err != nil {
		p.c.Errorf("%s cannot encrypt: %v", p.ID, err)
		return
	}
	p.Sends(p.r.at, event.EventEncrypted, sealed)
}

// heard gives the contents of all that the bot has said, decrypted.
func (p *talker) heard() []map[string]any { return p.heardFrom(p.c.user.ID) }

func (p *talker) heardFrom(user id.UserID) (out []map[string]any) {
	for _, e := range p.View(p.r.at).Events {
		if e.Sender != user || e.StateKey != nil {
			continue
		}
		content := e.Content
		if e.Type == "m.room.encrypted" {
			content = p.dev.opens(p.r.at, e)
		} else if e.Type != "m.room.message" {
			continue
		}
		if content != nil {
			content["id"] = e.ID.String()
			out = append(out, content)
		}
	}
	return out
}

// sees waits until the bot has said something, and gives what.
func (p *talker) sees(what string) id.EventID {
	p.c.Helper()
	var found id.EventID
	p.c.await(what, func() bool {
		for _, m := range p.heard() {
			if strings.Contains(fmt.Sprint(m["body"]), what) {
				found = id.EventID(fmt.Sprint(m["id"]))
			}
		}
		if found == "" {
			time.Sleep(50 * time.Millisecond)
		}
		return found != ""
	})
	return found
}

// A secret is a device that reads along for its keys.
type secret struct {
	*device.Device
	mu    sync.Mutex
	clear map[id.EventID]map[string]any
	hear  func(*event.Event)
}

// hears has something done for each event that is not a state.
func (s *secret) hears(hear func(*event.Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear = hear
}

// secretly logs somebody in with a device that can encrypt.
func (c *club) secretly(user matrixtest.User) *secret {
	c.Helper()
	st, err := store.Open(context.Background(), filepath.Join(c.TempDir(), "keys.db"))
	if err != nil {
		c.Fatal(err)
	}
	raw, err := st.Beside()
	if err != nil {
		c.Fatal(err)
	}
	db, err := dbutil.NewWithDB(raw, "sqlite3")
	if err != nil {
		c.Fatal(err)
	}
	dev, err := device.Open(context.Background(), device.Config{Homeserver: c.server.URL, User: user.ID.String(), Password: user.Password, DB: db, Name: "test"})
	if err != nil {
		c.Fatal(err)
	}
	s := &secret{Device: dev, clear: map[id.EventID]map[string]any{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		since := ""
		for ctx.Err() == nil {
			resp, err := dev.Client.FullSyncRequest(ctx, mautrix.ReqSync{Since: since, Timeout: 10000})
			if err == nil {
				err = dev.Crypto.Sync(ctx, resp, since)
			}
			if err != nil {
				pause(ctx, 100*time.Millisecond)
				continue
			}
			for at, r := range resp.Rooms.Join {
				for _, e := range slices.Concat(r.State.Events, r.Timeline.Events) {
					if e.RoomID = at; e.StateKey == nil {
						s.mu.Lock()
						hear := s.hear
						s.mu.Unlock()
						if hear != nil {
							hear(e)
						}
						continue
					}
					e.Type.Class = event.StateEventType
					_ = e.Content.ParseRaw(e.Type)
					mautrix.UpdateStateStore(ctx, dev.State, e)
					_ = dev.Crypto.MembersChanged(ctx, at)
				}
			}
			since = resp.NextBatch
		}
	}()
	c.Cleanup(func() {
		cancel()
		<-done
		dev.Close()
		raw.Close()
		st.Close()
	})
	return s
}

// opens decrypts an event; nil while its key is missing.
func (s *secret) opens(at id.RoomID, e *matrixtest.Event) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.clear[e.ID]; known != nil {
		return known
	}
	body, err := json.Marshal(e.Content)
	if err != nil {
		return nil
	}
	sealed := &event.Event{ID: e.ID, RoomID: at, Sender: e.Sender, Type: event.EventEncrypted, Timestamp: e.Time}
	if json.Unmarshal(body, &sealed.Content) != nil || sealed.Content.ParseRaw(sealed.Type) != nil {
		return nil
	}
	clear, err := s.Crypto.Decrypt(context.Background(), sealed)
	if err != nil {
		return nil
	}
	s.clear[e.ID] = clear.Content.Raw
	return clear.Content.Raw
}

// events gives the logs of all games in the database.
func (c *club) events() map[id.RoomID][]bot.Event {
	c.Helper()
	st, err := store.Open(context.Background(), c.file)
	if err != nil {
		c.Fatal(err)
	}
	defer st.Close()
	ms, err := st.Matches(context.Background(), bot.Query{})
	if err != nil {
		c.Fatal(err)
	}
	out := map[id.RoomID][]bot.Event{}
	for _, m := range ms {
		_, events, err := st.Match(context.Background(), m.ID)
		if err != nil {
			c.Fatal(err)
		}
		out[id.RoomID(m.Where.Channel)] = append(out[id.RoomID(m.Where.Channel)], events...)
	}
	return out
}
