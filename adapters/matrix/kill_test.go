package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// serve starts the real program, which plays on Matrix until it is killed.
func (c *club) serve(env ...string) *adaptertest.Served {
	c.Helper()
	return adaptertest.Serve(c.T, c.file, append(env, "HALFPOINT_MATRIX_HOMESERVER="+c.cfg.Homeserver, "HALFPOINT_MATRIX_USER="+c.user.ID.String(),
		"HALFPOINT_MATRIX_PASSWORD="+c.user.Password)...)
}

// An instant is a moment on the wire at which the program is killed.
type instant struct {
	name string
	when matrixtest.Match
	news bool // only an answer to /sync that brings some
	how  int
}

const (
	unasked    = iota // before the homeserver hears of it
	unanswered        // when the homeserver has done it, before the answer comes
	answered          // with the answer in the program's hands
)

var instants = []instant{
	{"news are on their way", matrixtest.Syncing, true, unanswered},
	{"news have come", matrixtest.Syncing, true, answered},
	{"a picture is to be uploaded", matrixtest.Uploading, false, unasked},
	{"a picture is uploaded", matrixtest.Uploading, false, unanswered},
	{"a picture's address has come", matrixtest.Uploading, false, answered},
	{"a message is to be sent", matrixtest.Sending, false, unasked},
	{"a message is sent", matrixtest.Sending, false, unanswered},
	{"a message's event has come", matrixtest.Sending, false, answered},
	{"a receipt is to be sent", matrixtest.On("POST", "/receipt/"), false, unasked},
}

// killAt kills the program when something of the kind is next asked of the
// homeserver. It is to be called before what leads to that. The call returns at
// once, what it gives waits until the program has ended.
func (c *club) killAt(p *matrixtest.Proxy, s *adaptertest.Served, at instant, after time.Duration) (ended func()) {
	var once sync.Once
	struck := make(chan struct{})
	kill := func() { once.Do(func() { s.Kill(); close(struck) }) }
	order := p.Always(at.when, func(x *matrixtest.Exchange) {
		if at.how == unasked {
			kill()
			x.Cut()
		}
		reply, err := x.Forward()
		switch {
		case err != nil:
			x.Cut()
		case at.news && !bytes.Contains(reply.Body, []byte(`"m.room.message"`)) && !bytes.Contains(reply.Body, []byte(`"m.room.encrypted"`)):
			x.Answer(reply)
		case at.how == unanswered:
			kill()
			x.Cut()
		default:
			x.Answer(reply)
			http.NewResponseController(x.W).Flush()
			time.Sleep(after) // now before, now after it has written down what it was told
			kill()
		}
	})
	return func() {
		c.Helper()
		defer order.Stop()
		select {
		case <-struck:
		case <-time.After(c.patience()):
			kill()
			c.Errorf("it has not come to be that %s", at.name)
		}
	}
}

// Games that are over soon, one of each kind: who says what, and what is read
// then.
var soonOver = []struct {
	opens string
	turns string
}{
	{"!new two-button 3x3", `
		black !place B2: 1. Black B2
		white !pass:     White passes
		black !pass:     Play has stopped
		white !accept:   accepts the count
		black !accept:   is over`},
	{"!new button 3x3", `
		black !place B2: 1. Black B2
		white !button:   White plays the button
		black !pass:     Black passes
		white !pass:     Play has stopped
		black !accept:   accepts the count
		white !accept:   is over`},
	{"!new half-pass-agreement 3x3", `
		black !place B2: 1. Black B2
		white !pass:     Black may !accept that
		black !accept:   is over`},
	{"!new ultimate 2x2", `
		black !place A1: 1. Black A1
		white !delay:    2. White delays
		black !delay:    3. Black delays
		white !draw:     is over`},
	{"!new area-3 3x3", `
		black !place B2: 1. Black B2
		white !pass:     2. White passes
		black !pass:     Black passes
		white !pass:     is over`},
}

// The program is killed at named instants and at any moment, again and again,
// while two people play in each of four rooms, two of them encrypted: in one of each kind turn upon turn
// without waiting for what comes of it, in the other one game of each kind to its
// end. Nothing that they say is lost, nothing is done or said twice, and they can
// open and see every picture. HALFPOINT_TIER=soak kills it 1,000 times.
func TestKills(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	kills, moves := len(instants)*4/3, 20 // every fourth at any moment
	games := len(soonOver)
	switch {
	case tier.Soaking():
		kills, moves, games = 1000, 160, 40*games
	case raced: // the program itself is built without the detector
		kills, moves, games = 2, 4, 1
	}
	c := newClub(t, matrixtest.Shared(t))
	before := c.through()
	s := c.serve()
	var rooms []*pair
	rnd := rand.New(rand.NewPCG(1, 2))
	var killed atomic.Int64
	var players sync.WaitGroup
	for _, encrypted := range []bool{false, true} {
		r := c.pair(encrypted)
		all := r.elsewhere()
		for k := range moves {
			r.turns = append(r.turns, fmt.Sprintf("turn %c place %s", "BW"[k%2], sparse(k)))
		}
		rooms = append(rooms, r, all)
		// In step with the kills, so that there are some until the end.
		keepsStep := func(done, of int) {
			for int(killed.Load()) < kills*done/of && !t.Failed() {
				time.Sleep(10 * time.Millisecond)
			}
		}
		pauses := rand.New(rand.NewPCG(3, uint64(len(r.people))))
		players.Go(func() {
			for k := range moves {
				r.people[k%2].says(r.root, "!place "+sparse(k))
				time.Sleep(time.Duration(pauses.IntN(100)) * time.Millisecond)
				keepsStep(k, moves)
			}
		})
		players.Go(func() {
			for n := range games {
				all.plays(n, func(part, of int) { keepsStep(n*of+part, games*of) })
			}
		})
	}
	named := 0
	for n := 1; n <= kills && !t.Failed(); n++ {
		if n%4 == 0 {
			killed.Add(1)
			time.Sleep(time.Duration(rnd.IntN(2000)) * time.Millisecond)
			s.Kill()
		} else {
			ended := c.killAt(before, s, instants[named%len(instants)], time.Duration(rnd.IntN(3000))*time.Microsecond)
			named++
			killed.Add(1) // players go on
			ended()
		}
		s = c.serve()
	}
	players.Wait()
	if t.Failed() {
		t.Fatalf("killed %d times\n%s", killed.Load(), s.Stderr.String())
	}
	for _, r := range rooms {
		if r.root != "" {
			r.people[0].sees(fmt.Sprintf("%d. ", moves))
			r.people[1].says(r.root, "!score") // posts that wait are sent before the answer
			r.people[0].sees("If the game ended now")
		}
	}
	s.Process.Signal(syscall.SIGTERM)
	<-s.Ended
	if code := s.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d\n%s", code, s.Stderr.String())
	}
	events := c.events()
	for n, r := range rooms {
		var got []string
		for _, e := range events[r.at] {
			if strings.HasPrefix(e.Body.String(), "turn ") {
				got = append(got, strings.Replace(e.Body.String(), "agree", "accept", 1)) // to a count
			}
		}
		if !slices.Equal(got, r.turns) {
			t.Errorf("room %d: the log is %d turns\n%q, want %d\n%q", n, len(got), got, len(r.turns), r.turns)
		}
		caughtUp(r.people[0].Player, r.at)
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
			r.people[boards%2].looks(m)
			move := moveOf(fmt.Sprint(m["body"]))
			if move < last && r.root != "" || move == last && move > 0 {
				t.Errorf("room %d: move %d is shown after move %d", n, move, last)
			}
			last = move
		}
		if r.root != "" && last != moves {
			t.Errorf("room %d: the last board is that of move %d", n, last)
		}
		want := len(r.turns) + games
		for k, turn := range r.turns[1:] { // the first of two who accept a count is told in a line, and the second changes the board
			if strings.HasSuffix(turn, " accept") && strings.HasSuffix(r.turns[k], " accept") {
				want -= 2
			}
		}
		if r.root == "" && boards != want {
			t.Errorf("room %d: %d boards, not %d", n, boards, want)
		}
		t.Logf("room %d: %d turns, %d boards, %d messages", n, len(got), boards, len(said))
	}
	t.Logf("killed %d times, %d of them at a named instant", killed.Load(), named)
}

// The program is killed while it comes into a room, and while it follows one that
// is upgraded: it is there all the same, and the game goes on.
func TestKilledOnTheWay(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	c := newClub(t, matrixtest.Shared(t))
	before := c.through()
	s := c.serve()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the program says:\n%s", s.Stderr.String())
		}
	})
	killed := func(how int, meanwhile func()) {
		ended := c.killAt(before, s, instant{"the bot comes", matrixtest.Joining, false, how}, 0)
		var again sync.WaitGroup
		again.Go(func() {
			ended()
			s = c.serve()
		})
		meanwhile()
		again.Wait()
	}
	for _, encrypted := range []bool{false, true} {
		instants := []int{unasked, unanswered, answered}
		if encrypted && !tier.Soaking() { // in which it comes and follows as in the other
			instants = instants[1:2]
		}
		people := c.talkers(encrypted)
		for _, how := range instants {
			var r *pair
			killed(how, func() { r = people.elsewhere() })
			anna, bob := r.people[0], r.people[1]
			anna.says("", "!new two-button 3x3")
			root := anna.sees("opens game 1:")
			bob.says(root, "!join")
			anna.sees(" to play, for example ")
			killed(how, func() {
				r.moves(r.successor())
				anna.Await(r.at, "the bot to follow", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
			})
			anna.says("", "!place B2")
			goes := anna.sees("Game 1 goes on here")
			anna.seesIn(goes, "1. Black B2")
			for _, m := range anna.heard() {
				if m["msgtype"] == "m.image" {
					bob.looks(m)
				}
			}
		}
	}
}

// plays plays a game that is over soon to its end, the n-th of the room. Before
// each turn step is called.
func (r *pair) plays(n int, step func(part, of int)) {
	game := soonOver[n%len(soonOver)]
	anna, bob := r.people[0], r.people[1]
	anna.says("", game.opens)
	root := anna.sees(fmt.Sprintf("opens game %d:", n+1))
	bob.says(root, "!join")
	anna.seesIn(root, " to play, for example ") // the board, and not only that it begins
	lines := strings.Split(strings.TrimSpace(game.turns), "\n")
	for k, line := range lines {
		step(k, len(lines))
		who, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		what, read, _ := strings.Cut(rest, ":")
		by, other := anna, bob
		if who == "white" {
			by, other = bob, anna
		}
		by.says(root, what)
		other.seesIn(root, strings.TrimSpace(read))
		r.turns = append(r.turns, fmt.Sprintf("turn %c %s", strings.ToUpper(who)[0], what[1:]))
	}
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
	turns  []string // as they must be in the log
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

// pair makes a room with a game of 25x25 in it.
func (c *club) pair(encrypted bool) *pair {
	c.Helper()
	r := c.talkers(encrypted)
	r.gathers()
	anna, bob := r.people[0], r.people[1]
	anna.says("", "!new aga 25x25")
	r.root = anna.sees("opens game")
	bob.says(r.root, "!join")
	anna.sees(" to play, for example ")
	return r
}

// elsewhere makes another room for the two.
func (r *pair) elsewhere() *pair {
	other := &pair{}
	for i, p := range r.people {
		other.people[i] = &talker{Player: p.Player, c: p.c, r: other, dev: p.dev}
	}
	other.gathers()
	return other
}

// gathers makes a room of the two and the bot.
func (r *pair) gathers() {
	anna, bob := r.people[0], r.people[1]
	bot := anna.c.user.ID
	r.at = anna.Makes(matrixtest.Room{Name: "Go club", Encrypted: anna.dev != nil, Invite: []id.UserID{bob.ID, bot}})
	bob.AwaitInvite(r.at)
	bob.Joins(r.at)
	anna.Await(r.at, "the bot to come", func(v matrixtest.View) bool { return v.Members[bot] == "join" })
}

// successor makes the room that is to take the place of the pair's, without the bot.
func (r *pair) successor() id.RoomID {
	anna, bob := r.people[0], r.people[1]
	anna.c.Helper()
	return anna.Makes(matrixtest.Room{Name: "New club", Succeeds: r.at, Encrypted: anna.dev != nil, Invite: []id.UserID{bob.ID}})
}

// moves has all go on in another room, the bot too.
func (r *pair) moves(to id.RoomID) {
	anna, bob := r.people[0], r.people[1]
	anna.c.Helper()
	anna.Invites(to, anna.c.user.ID)
	anna.Moves(r.at, to)
	r.at = to
	bob.AwaitInvite(to)
	bob.Joins(to)
}

// A talker is somebody whose messages are encrypted if the room is.
type talker struct {
	*matrixtest.Player
	c   *club
	r   *pair
	dev *eavesdropper // nil where nothing is
}

// says says something in a thread, or in the room itself.
func (p *talker) says(thread id.EventID, text string) id.EventID {
	m := &event.MessageEventContent{MsgType: event.MsgText, Body: text, Mentions: &event.Mentions{}}
	if thread != "" {
		m.RelatesTo = (&event.RelatesTo{}).SetThread(thread, thread)
	}
	return p.sends(m)
}

// edits changes what was said before.
func (p *talker) edits(of id.EventID, text string) id.EventID {
	m := &event.MessageEventContent{MsgType: event.MsgText, Body: text, Mentions: &event.Mentions{}}
	m.SetEdit(of)
	return p.sends(m)
}

func (p *talker) sends(m *event.MessageEventContent) id.EventID {
	if p.dev == nil {
		return p.Sends(p.r.at, event.EventMessage, m)
	}
	sealed, err := p.dev.Crypto.Encrypt(context.Background(), p.r.at, event.EventMessage, m)
	if err != nil {
		p.c.Errorf("%s cannot encrypt: %v", p.ID, err)
		return ""
	}
	return p.Sends(p.r.at, event.EventEncrypted, sealed)
}

// heard returns the contents of all that the bot has said, decrypted.
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
			if relates, _ := e.Content["m.relates_to"].(map[string]any); relates["rel_type"] == "m.thread" {
				content["thread"] = relates["event_id"]
			}
			out = append(out, content)
		}
	}
	return out
}

// sees waits until the bot has said something, and gives what.
func (p *talker) sees(what string) id.EventID { return p.seesIn("", what) }

// seesIn does so in a thread, or with "" anywhere.
func (p *talker) seesIn(thread id.EventID, what string) id.EventID {
	p.c.Helper()
	var found id.EventID
	p.c.await(what, func() bool {
		for _, m := range p.heard() {
			if (thread == "" || m["thread"] == thread.String()) && strings.Contains(fmt.Sprint(m["body"]), what) {
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

// looks downloads a picture, opens it if it is encrypted, and decodes it: it is
// what its message says.
func (p *talker) looks(m map[string]any) {
	p.c.Helper()
	data, shown, err := p.downloads(m), image.Image(nil), error(nil)
	if shown, err = png.Decode(bytes.NewReader(data)); err != nil {
		p.c.Errorf("%s cannot see %v: %v", p.ID, m["filename"], err)
		return
	}
	info, _ := m["info"].(map[string]any)
	size := shown.Bounds().Size()
	if info["w"] != float64(size.X) || info["h"] != float64(size.Y) || info["size"] != float64(len(data)) {
		p.c.Errorf("%v says %v, but it is %v with %d bytes", m["filename"], info, size, len(data))
	}
}

// downloads returns the file of a message, decrypted.
func (p *talker) downloads(m map[string]any) []byte {
	p.c.Helper()
	body, err := json.Marshal(m)
	if err != nil {
		p.c.Fatal(err)
	}
	var content event.MessageEventContent
	if err := json.Unmarshal(body, &content); err != nil {
		p.c.Fatal(err)
	}
	if (content.File != nil) != (p.dev != nil) {
		p.c.Errorf("the file of %q: encrypted %t", content.Body, content.File != nil)
	}
	url := content.URL
	if content.File != nil {
		url = content.File.URL
	}
	data, err := p.Client.DownloadBytes(context.Background(), url.ParseOrIgnore())
	if err == nil && content.File != nil {
		err = content.File.DecryptInPlace(data)
	}
	if err != nil {
		p.c.Errorf("%s cannot open the file of %q: %v", p.ID, content.Body, err)
	}
	return data
}

// An eavesdropper is a device that reads along for its keys.
type eavesdropper struct {
	*device.Device
	mu    sync.Mutex
	clear map[id.EventID]map[string]any
	hear  func(*event.Event)
}

// hears has something done for each event that is not a state.
func (s *eavesdropper) hears(hear func(*event.Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear = hear
}

// secretly logs somebody in with a device that can encrypt.
func (c *club) secretly(user matrixtest.User) *eavesdropper { return c.secretlyAt(c.server.URL, user) }

// besides does so beside another device of theirs. As people's devices are like the bot's here,
// it gets account data of its own: neither takes the other for a second bot.
func (c *club) besides(user matrixtest.User) *eavesdropper {
	apart := c.server.Proxy(c.T)
	apart.Always(matrixtest.On("", "/account_data/"), func(x *matrixtest.Exchange) {
		x.Request.Path = strings.Replace(x.Request.Path, "/account_data/", "/account_data/besides.", 1)
		x.Pass()
	})
	return c.secretlyAt(apart.URL, user)
}

func (c *club) secretlyAt(url string, user matrixtest.User) *eavesdropper {
	c.Helper()
	_, db, closed := openStore(c.T, filepath.Join(databaseDir(c.T), "keys.db"))
	dev, err := device.Open(context.Background(), device.Config{Homeserver: url, User: user.ID.String(), Password: secret.New(user.Password), DB: db, Name: "test", Dial: c.server.Dial, Settle: c.cfg.Settle})
	if err != nil {
		c.Fatal(err)
	}
	s := &eavesdropper{Device: dev, clear: map[id.EventID]map[string]any{}}
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
				backoff.Sleep(ctx, 100*time.Millisecond)
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
					dev.Crypto.MembersChanged(at)
				}
			}
			since = resp.NextBatch
		}
	}()
	c.Cleanup(func() {
		cancel()
		<-done
		dev.Close()
		closed()
	})
	return s
}

// sealedEvent is an encrypted event as the library has it, nil if it is none.
func sealedEvent(at id.RoomID, e *matrixtest.Event) *event.Event {
	body, err := json.Marshal(e.Content)
	if err != nil {
		return nil
	}
	sealed := &event.Event{ID: e.ID, RoomID: at, Sender: e.Sender, Type: event.EventEncrypted, Timestamp: e.Time}
	if json.Unmarshal(body, &sealed.Content) != nil || sealed.Content.ParseRaw(sealed.Type) != nil {
		return nil
	}
	return sealed
}

// opens decrypts an event; nil while its key is missing.
func (s *eavesdropper) opens(at id.RoomID, e *matrixtest.Event) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.clear[e.ID]; known != nil {
		return known
	}
	sealed := sealedEvent(at, e)
	if sealed == nil {
		return nil
	}
	clear, err := s.Crypto.Decrypt(context.Background(), sealed)
	if err != nil {
		return nil
	}
	s.clear[e.ID] = clear.Content.Raw
	return clear.Content.Raw
}

// events returns the logs of all games of each room, in their order.
func (c *club) events() map[id.RoomID][]match.Event {
	c.Helper()
	out := map[id.RoomID][]match.Event{}
	for at, games := range c.games() {
		for _, n := range slices.Sorted(maps.Keys(games)) {
			out[at] = append(out[at], games[n]...)
		}
	}
	return out
}

// games returns the logs of all games in the database, by their numbers in each room.
func (c *club) games() map[id.RoomID]map[int][]match.Event {
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
	out := map[id.RoomID]map[int][]match.Event{}
	for _, m := range ms {
		_, events, err := st.Match(context.Background(), m.ID)
		if err != nil {
			c.Fatal(err)
		}
		at := id.RoomID(m.Where.Channel)
		if out[at] == nil {
			out[at] = map[int][]match.Event{}
		}
		out[at][m.Number] = events
	}
	return out
}
