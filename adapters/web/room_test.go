package web

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// memory is a store that forgets everything with the process.
type memory struct {
	mu      sync.Mutex
	ms      []outbox.Message
	holders map[string]bot.Holder
}

func (l *memory) Holder(_ context.Context, _, id string) (bot.Holder, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h, ok := l.holders[id]; ok {
		return h, nil
	}
	return bot.Holder{}, bot.ErrNotFound
}

func (l *memory) Hold(_ context.Context, h bot.Holder, instead string) (bot.Holder, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holders == nil {
		l.holders = map[string]bot.Holder{}
	}
	if now, ok := l.holders[h.ID]; ok && now.Secret != instead {
		return now, nil
	}
	l.holders[h.ID] = h
	return h, nil
}

func (l *memory) Imitates(_ context.Context, h bot.Holder) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.holders {
		if other.Looks != "" && other.Looks == h.Looks && other.Secret != h.Secret {
			return true, nil
		}
	}
	return false, nil
}

func (l *memory) Release(_ context.Context, _, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.holders, id)
	return nil
}

// Match returns the game of the service of these tests, and one of another platform.
func (l *memory) Match(_ context.Context, id match.GameID) (match.Match, []match.Event, error) {
	switch id {
	case "g1":
		return match.Match{ID: id, Where: here}, nil, nil
	case "g2":
		return match.Match{ID: id, Where: match.Room{Platform: "matrix", Channel: channel}}, nil, nil
	}
	return match.Match{}, nil, bot.ErrNotFound
}

func (l *memory) Append(_ context.Context, m outbox.Message) (outbox.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, old := range l.ms {
		if old.Key == m.Key {
			return old, nil
		}
	}
	m.N = int64(len(l.ms)) + 1
	l.ms = append(l.ms, m)
	return m, nil
}

func (l *memory) Since(_ context.Context, room string, after int64, limit int) ([]outbox.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []outbox.Message
	for _, m := range l.ms {
		if m.Room == room && m.N > after {
			out = append(out, m)
		}
	}
	if len(out) > limit {
		out = out[len(out)-limit:]
	}
	return out, nil
}

func (l *memory) After(_ context.Context, after int64, limit int) ([]outbox.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	after = min(after, int64(len(l.ms)))
	return slices.Clone(l.ms[after:min(after+int64(limit), int64(len(l.ms)))]), nil
}

func (l *memory) Last(context.Context) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.ms)), nil
}

func (l *memory) Message(_ context.Context, key string) (outbox.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.ms {
		if m.Key == key {
			return m, nil
		}
	}
	return outbox.Message{}, bot.ErrNotFound
}

// said gives the transcript as lines "from: text".
func (l *memory) said(room string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, m := range l.ms {
		if m.Room == room {
			out = append(out, m.From+": "+m.Text)
		}
	}
	return out
}

// A fakeService is a bot that does what a test tells it to.
type fakeService struct {
	ask func(context.Context, bot.Request) (bot.Answer, error)
}

func (d fakeService) Commands() []bot.Command { return bot.Commands() }

func (d fakeService) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	if d.ask == nil {
		return bot.Answer{}, nil
	}
	return d.ask(ctx, r)
}

func (d fakeService) Away(context.Context, string) error { return nil }

func (d fakeService) Servers(context.Context, string, []string) error { return nil }
func (d fakeService) Back(context.Context, string) error              { return nil }

func (d fakeService) Settle(context.Context, outbox.Post, outbox.Receipt, ...outbox.Owes) error {
	return nil
}
func (d fakeService) Release(context.Context, outbox.Post, error) error      { return nil }
func (d fakeService) Owe(context.Context, match.Room, ...outbox.Owes) error  { return nil }
func (d fakeService) Done(context.Context, match.Room, string, string) error { return nil }

func (d fakeService) Suggest(_ context.Context, _ bot.Request, option, prefix string) []bot.Choice {
	var out []bot.Choice
	for _, c := range map[string][]bot.Choice{
		"size":  {{Label: "9×9", Value: "9x9"}, {Label: "13×13", Value: "13x13"}, {Label: "19×19", Value: "19x19"}},
		"rules": {{Label: "Two Button Go", Value: "two-button"}, {Label: "Button Go", Value: "button"}},
		"at":    {{Label: "D4", Value: "D4"}, {Label: "D5", Value: "D5"}},
		"dead":  {{Label: "C3, White", Value: "C3"}},
		"game":  {{Label: "Game 2", Value: "2"}},

		"points": {{Label: "C3, White", Value: "C3"}, {Label: "D5, Black", Value: "D5"}, {Label: "E1, Black", Value: "E1"}},
	}[option] {
		if strings.HasPrefix(strings.ToLower(c.Value), strings.ToLower(prefix)) {
			out = append(out, c)
		}
	}
	return out
}

func (d fakeService) Scene(_ context.Context, game match.GameID, seq int) (render.Scene, error) {
	if game != "g1" && game != "g2" || seq > 5 {
		return render.Scene{}, bot.ErrNotFound
	}
	return scene(seq), nil
}

// scene is a small board after some placements.
func scene(n int) render.Scene {
	g, _ := rules.New(&rules.TwoButton, rules.Setup{W: 5, H: 5})
	for i := range n {
		g, _ = g.Play(rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: rules.Point{X: int8(i), Y: 2}})
	}
	return render.Of(g, render.Names{Black: "Black", White: "White"})
}

// open runs a room until the end of the test and gives its address.
func open(t testing.TB, r *Room, d bot.Service) string {
	t.Helper()
	url, stop := run(t, r, d)
	t.Cleanup(stop)
	return url
}

// Rooms of tests listen on a network in memory, each on a port of its own.
var (
	network memnet.Network
	port    atomic.Int32
	clients sync.Map // by address: its *http.Client
)

// run runs a room in memory until stop is called.
func run(t testing.TB, r *Room, d bot.Service) (url string, stop func()) {
	t.Helper()
	r.cfg.Open = func(_, address string) (net.Listener, error) {
		host, given, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if given == "0" {
			given = strconv.Itoa(20000 + int(port.Add(1)))
		}
		return network.Listen(net.JoinHostPort(cmp.Or(host, "0.0.0.0"), given))
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		conn, err := network.DialContext(ctx, "tcp", address)
		if _, given, _ := net.SplitHostPort(address); err != nil { // it may listen on all interfaces
			conn, err = network.DialContext(ctx, "tcp", "0.0.0.0:"+given)
		}
		return conn, err
	}}
	url, end := listen(t, r, d)
	clients.Store(strings.TrimPrefix(url, "http://"), &http.Client{Transport: transport})
	return url, func() {
		transport.CloseIdleConnections()
		end()
	}
}

// clientFor returns the client that reaches the room at url.
func clientFor(url string) *http.Client {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	client, _ := clients.Load(host)
	return client.(*http.Client)
}

// listen runs a room, where its configuration says, until stop is called.
func listen(t testing.TB, r *Room, d bot.Service) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	r.cfg.Ready = func(url string) { ready <- url }
	go func() { ended <- r.Run(ctx, d) }()
	select {
	case url = <-ready:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	var once sync.Once
	return url, func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run ended with %v", err)
			}
		})
	}
}

// ownerCookies are those of the owner's browser.
func ownerCookies() []*http.Cookie {
	return []*http.Cookie{{Name: ownerCookie, Value: ownerProof(token)}}
}

func newRoom(l Store) *Room { return New(Config{Listen: "127.0.0.1:0", Log: l}) }

// id makes the id of a submission.
func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// browserFor returns the cookie of a browser. In these tests each seat and name has
// one of its own unless the test says otherwise.
func browserFor(seat string) *http.Cookie {
	return &http.Cookie{Name: browserCookie, Value: hex.EncodeToString([]byte("the browser of " + strings.ToLower(seat)))}
}

// post submits and returns the answer.
func post(t testing.TB, url string, s submission, cookies ...*http.Cookie) answer {
	t.Helper()
	body, _ := json.Marshal(s)
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/ask", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if !slices.ContainsFunc(cookies, func(c *http.Cookie) bool { return c.Name == browserCookie }) {
		cookies = append(cookies, browserFor(s.Seat))
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	resp, err := clientFor(url).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s", resp.Status, text)
	}
	var a answer
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// An event is one of a stream.
type event struct {
	id, name string
	message  message
}

// A reader reads a stream.
type reader struct {
	t    testing.TB
	body io.ReadCloser
	in   *bufio.Scanner
}

// follow opens a stream. last is what a browser says that comes back.
func follow(t testing.TB, url, query, last string, cookies ...*http.Cookie) *reader {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), "GET", url+"/events?"+query, nil)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	if len(cookies) == 0 {
		cookies = append(cookies, browserFor(req.FormValue("seat")))
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	resp, err := clientFor(url).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream: %s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	t.Cleanup(func() { resp.Body.Close() })
	r := &reader{t: t, body: resp.Body, in: bufio.NewScanner(resp.Body)}
	r.in.Buffer(nil, 1<<20)
	return r
}

// next gives the next event, false at the end of the stream.
func (r *reader) next() (event, bool) {
	var e event
	for r.in.Scan() {
		key, value, _ := strings.Cut(r.in.Text(), ": ")
		switch key {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.message); err != nil {
				r.t.Fatalf("%v in %s", err, value)
			}
		case "":
			if e.id != "" || e.name != "" {
				return e, true
			}
		}
	}
	return e, false
}

// read gives the messages that a stream begins with.
func read(r *reader) (ms []message) {
	r.t.Helper()
	for {
		e, ok := r.next()
		if !ok {
			r.t.Fatal("the stream ended")
		}
		if e.name == "ready" {
			return ms
		}
		ms = append(ms, e.message)
	}
}

// until gives the texts of messages up to the event with that name or text.
func (r *reader) until(end string) []string {
	r.t.Helper()
	var texts []string
	for {
		e, ok := r.next()
		if !ok {
			r.t.Fatalf("the stream ended after %q, before %q", texts, end)
		}
		if e.name == end {
			return texts
		}
		if e.name != "" {
			texts = append(texts, "("+e.name+")")
			continue
		}
		if e.id != strconv.FormatInt(e.message.N, 10) {
			r.t.Fatalf("id %s of message %d", e.id, e.message.N)
		}
		texts = append(texts, e.message.Text)
		if e.message.Text == end {
			return texts
		}
	}
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: got %v, want %v", what, got, want)
		}
	}
}

var here = match.Room{Platform: platform, Channel: channel}

func TestDeliver(t *testing.T) {
	l := &memory{}
	r := newRoom(l)
	url := open(t, r, fakeService{})
	ctx := t.Context()
	sc := scene(2)
	board := outbox.Post{ID: "p1", Where: here, Kind: match.Show, Game: "g1", Seq: 2, Text: "Game 1", Scene: &sc,
		Notify: []outbox.User{black}, Controls: []match.Control{{Label: "Accept", Command: "accept", Args: map[string]string{"seq": "2"}}}}
	first, _, err := r.Deliver(ctx, board)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := r.Deliver(ctx, board)
	if err != nil || again != first {
		t.Errorf("delivered again: %q, %v; first %q", again, err, first)
	}
	// p2 takes its place, p3 takes p2 away.
	second, _, err := r.Deliver(ctx, outbox.Post{ID: "p2", Where: here, Kind: match.Status, Replaces: string(first), Text: "status"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Deliver(ctx, outbox.Post{ID: "p3", Where: here, Kind: match.Remove, Replaces: string(second)}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Deliver(ctx, outbox.Post{ID: "p4", Where: match.Room{Platform: "discord", Channel: channel}}); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("a post for another platform: %v", err)
	}

	ms := read(follow(t, url, "", ""))
	if len(ms) != 3 {
		t.Fatalf("%d messages, want 3: %+v", len(ms), ms)
	}
	m := ms[0]
	if m.Kind != match.Show || m.Game != "g1" || m.Alt != render.Text(sc) || m.Next != "Black to play" || len(m.Due) != 1 || m.Due[0] != "black" ||
		len(m.To) != 1 || m.To[0] != "Black" || len(m.Controls) != 1 || m.Controls[0].Args["seq"] != "2" || !strings.HasPrefix(m.Picture, "/picture/g1/2.png?v=") {
		t.Errorf("the board came as %+v", m)
	}
	if !slices.Equal(ms[1].Replaces, []int64{ms[0].N}) || ms[1].Kind != match.Status || !slices.Equal(ms[2].Replaces, []int64{ms[1].N}) || !ms[2].Removed {
		t.Errorf("replaced and removed: %+v", ms[1:])
	}
}

// What belongs to a message is in the transcript: when the program has been
// started anew, whom it calls, its buttons and its file are still there.
func TestRestartKeepsAll(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "halfpoint.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	record := outbox.File{Name: "game 1 ½.sgf", Type: "application/x-go-sgf", Data: []byte("(;C[½])")}
	shared := outbox.File{Name: "shared.sgf", Type: "application/x-go-sgf", Data: []byte("(;C[shared])")}
	secret := outbox.File{Name: "secret.sgf", Type: "application/x-go-sgf", Data: []byte("(;C[secret])")}
	d := fakeService{ask: func(_ context.Context, r bot.Request) (bot.Answer, error) {
		if r.Args["share"] == "" {
			return bot.Answer{Text: "yours", Private: true, File: &secret}, nil
		}
		return bot.Answer{Text: "shared", File: &shared, Controls: []match.Control{{Label: "Move 1", Command: "review"}}}, nil
	}}
	r := newRoom(st)
	url, stop := run(t, r, d)
	sc := scene(2)
	ada := outbox.User{Platform: platform, ID: "name:ada lovelace", Name: "Ada Lovelace"}
	post(t, url, submission{ID: id(0), Seat: "name:Ada Lovelace", Text: "/sgf"})
	for _, p := range []outbox.Post{
		{ID: "p1", Where: here, Kind: match.Show, Game: "g1", Seq: 2, Text: "board", Scene: &sc, Notify: []outbox.User{black, ada},
			Controls: []match.Control{{Label: "Place", Command: "place", Ask: "at", Args: map[string]string{"game": "1", "seq": "2"}}}},
		{ID: "p2", Where: here, Kind: match.Notice, Game: "g1", Seq: 2, Text: "over", File: &record},
		{ID: "p3", Where: here, Kind: match.Notice, Game: "g1", Seq: 2, Text: "for Ada", Private: true, Notify: []outbox.User{ada}, File: &record,
			Controls: []match.Control{{Label: "Rematch", Command: "rematch"}}},
	} {
		if _, _, err := r.Deliver(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	post(t, url, submission{ID: id(1), Seat: "black", Text: "/sgf share:yes"})
	a := post(t, url, submission{ID: id(2), Seat: "black", Text: "/sgf"})
	if _, body := do(t, "GET", url+a.Message.File.URL, ""); body != string(secret.Data) {
		t.Errorf("the file of a private answer: %q", body)
	}
	seat := "seat=name:Ada+Lovelace"
	before := read(follow(t, url, seat, ""))
	stop()

	url = open(t, newRoom(st), d)
	after := read(follow(t, url, seat, ""))
	if diff := gocmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after the restart):\n%s", diff)
	}
	if len(after) != 5 {
		t.Fatalf("%d messages: %+v", len(after), after)
	}
	board, over, forAda, answered := after[0], after[1], after[2], after[4]
	equal(t, "the board calls", board.To, []string{"Black", "Ada Lovelace"})
	if diff := gocmp.Diff([]control{{"Place", "place", map[string]string{"game": "1", "seq": "2"}, "at", "type"}}, board.Controls); diff != "" {
		t.Errorf("buttons of the board (-want +got):\n%s", diff)
	}
	if board.Game != "g1" || over.Game != "g1" || board.Picture == "" || over.Picture != "" {
		t.Errorf("the board has the picture, both are of the game: %+v, %+v", board, over)
	}
	if !forAda.Private || len(forAda.Controls) != 1 || len(answered.Controls) != 1 {
		t.Errorf("private %+v, answered %+v", forAda, answered)
	}
	for _, c := range []struct {
		message
		want outbox.File
	}{{over, record}, {forAda, record}, {answered, shared}} {
		resp, body := do(t, "GET", url+c.File.URL, "", "Cookie", browserFor("name:Ada Lovelace").String())
		_, params, _ := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
		if body != string(c.want.Data) || params["filename"] != c.want.Name || resp.Header.Get("Content-Type") != c.want.Type {
			t.Errorf("file of %q: %s %q %v", c.Text, resp.Status, body, resp.Header)
		}
	}
	for _, address := range []string{a.Message.File.URL, over.File.URL + "x", "/answer/p1/board.png", "/answer/p9/x.sgf"} {
		if resp, _ := do(t, "GET", url+address, ""); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", address, resp.Status)
		}
	}
}

// Where the bot means an instant the page gets the instant, so that it can write
// it as its reader would, and the bot's words.
func TestInstants(t *testing.T) {
	const at = 1795528800000
	instant := time.UnixMilli(at).UTC()
	mark := fmt.Sprintf("\x03%d\x04Tue 24 Nov 14:00 UTC\x05", at)
	if plain := bot.Fill(mark, bot.Format{}); plain != "Tue 24 Nov 14:00 UTC" {
		t.Fatalf("instants are marked otherwise now: %q", plain)
	}
	l := &memory{}
	r := newRoom(l)
	url := open(t, r, fakeService{ask: func(context.Context, bot.Request) (bot.Answer, error) {
		return bot.Answer{Text: "until " + mark, Private: true}, nil
	}})
	for text, want := range map[string][]part{
		"Black to play.": nil,
		"":               nil,
		mark:             {{"Tue 24 Nov 14:00 UTC", &instant}},
		"from " + mark + " to " + mark + ".": {{"from ", nil}, {"Tue 24 Nov 14:00 UTC", &instant}, {" to ", nil},
			{"Tue 24 Nov 14:00 UTC", &instant}, {".", nil}},
		"see \x03web\x06local\x06\x04the room\x05": nil,
	} {
		if diff := gocmp.Diff(want, parts(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if _, _, err := r.Deliver(t.Context(), outbox.Post{ID: "p", Where: here, Kind: match.Notice, Text: "by " + mark}); err != nil {
		t.Fatal(err)
	}
	// What people type means nothing of the kind.
	post(t, url, submission{ID: id(2), Seat: "black", Text: "see " + mark})
	ms := read(follow(t, url, "", ""))
	if ms[0].Text != "by Tue 24 Nov 14:00 UTC" || len(ms[0].Parts) != 2 || !ms[0].Parts[1].Time.Equal(instant) {
		t.Errorf("the post came as %+v", ms[0])
	}
	if ms[1].Parts != nil || ms[1].Text != "see 1795528800000Tue 24 Nov 14:00 UTC" {
		t.Errorf("what was typed came as %+v", ms[1])
	}
	a := post(t, url, submission{ID: id(1), Seat: "black", Text: "/clock"})
	if a.Message.Text != "until Tue 24 Nov 14:00 UTC" || len(a.Message.Parts) != 2 {
		t.Errorf("the answer came as %+v", a.Message)
	}
}

// What a control asks for first is typed or chosen.
func TestPick(t *testing.T) {
	for _, c := range []struct{ command, ask, want string }{
		{"place", "at", "type"}, {"dead", "points", "several"}, {"pass", "dead", "several"}, {"dead", "as", "one"}, {"new", "rules", "one"},
		{"pass", "", ""}, {"place", "where", "type"}, {"nothing", "at", "type"},
	} {
		if got := pick(bot.Commands(), match.Control{Command: c.command, Ask: c.ask}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.command, c.ask, got, c.want)
		}
	}
}

func TestPrivatePost(t *testing.T) {
	l := &memory{}
	r := newRoom(l)
	url := open(t, r, fakeService{ask: func(context.Context, bot.Request) (bot.Answer, error) {
		return bot.Answer{Text: "only you", Private: true}, nil
	}})
	for i, seat := range []string{"black", "white"} { // they sit down
		post(t, url, submission{ID: id(i), Seat: seat, Text: "/help"})
	}
	ctx := t.Context()
	say := func(id, text string, private bool) {
		t.Helper()
		if _, _, err := r.Deliver(ctx, outbox.Post{ID: id, Where: here, Kind: match.Notice, Text: text, Private: private, Notify: []outbox.User{white}}); err != nil {
			t.Fatal(err)
		}
	}
	say("1", "first", false)
	say("2", "for White", true)
	say("2", "for White", true)
	say("3", "last", false)
	equal(t, "Black sees", follow(t, url, "seat=black", "").until("last"), []string{"first", "last"})

	// One for several is one for each, and is taken away from all.
	several := outbox.Post{ID: "4", Where: here, Kind: match.Status, Text: "for both", Private: true, Notify: []outbox.User{white, black}}
	given, _, err := r.Deliver(ctx, several)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Deliver(ctx, outbox.Post{ID: "5", Where: here, Kind: match.Remove, Private: true, Replaces: string(given)}); err != nil {
		t.Fatal(err)
	}
	for _, seat := range []string{"White", "Black"} {
		ms := read(follow(t, url, "after=3&own=3&seat="+strings.ToLower(seat), ""))
		if len(ms) != 2 || !slices.Equal(ms[0].To, []string{seat}) || !ms[1].Removed || !slices.Contains(ms[1].Replaces, ms[0].N) {
			t.Errorf("%s sees %+v", seat, ms)
		}
	}
	equal(t, "White sees", follow(t, url, "seat=white", "").until("last"), []string{"first", "for White", "last"})
	equal(t, "White comes back", follow(t, url, "seat=white", "1").until("last"), []string{"for White", "last"})
	equal(t, "Black sits down as White", follow(t, url, "seat=white&after=6&own=0", "").until("ready"), []string{"for White", "for both"})
	equal(t, "and again", follow(t, url, "seat=white&after=6&own=2", "").until("ready"), []string{"for both"})
}

func TestRunErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	err = New(Config{Listen: address, Log: &memory{}}).Run(t.Context(), fakeService{})
	if err == nil || err.Error() != "listen "+address+": address already in use" {
		t.Errorf("a port in use: %v", err)
	}
	if err := New(Config{Listen: "127.0.0.1:http-but-not", Log: &memory{}}).Run(t.Context(), fakeService{}); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("no port: %v", err)
	}
}

// A room without an owner token listens on loopback addresses only, whatever the
// name that it was given resolves to.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		listen string
		hosts  []string
		early  bool // the address alone shows it
		ok     bool
	}{
		{"127.0.0.1:0", nil, true, true},
		{"[::1]:0", nil, true, true},
		{"[::ffff:127.0.0.1]:0", nil, true, true},
		{"localhost:0", nil, false, true},
		{"0.0.0.0:0", nil, true, false},
		{"[::]:0", nil, true, false},
		{":0", nil, true, false},
		{"192.0.2.7:0", nil, true, false},
		{"public.test:0", nil, false, false},
		{"127.0.0.1:0", []string{"go.example.org"}, true, false},
	} {
		listened := false
		cfg := Config{Listen: c.listen, Hosts: c.hosts, Log: &memory{}, Open: func(_, address string) (net.Listener, error) {
			listened = true
			host, _, _ := net.SplitHostPort(address)
			ip := map[string]string{"localhost": "127.0.0.1", "public.test": "192.0.2.7", "": "::"}[host]
			return network.Listen(net.JoinHostPort(cmp.Or(ip, host), strconv.Itoa(20000+int(port.Add(1)))))
		}}
		if early := CheckAccess(c.listen, c.hosts, ""); c.early && (early == nil) != c.ok || !c.early && early != nil {
			t.Errorf("%s %v is checked with %v", c.listen, c.hosts, early)
		}
		for _, token := range []string{"", "0123456789abcdef"} {
			cfg.OwnerToken = token
			ctx, cancel := context.WithCancel(t.Context())
			cfg.Ready = func(string) { cancel() }
			err := New(cfg).Run(ctx, fakeService{})
			cancel()
			if want := c.ok || token != ""; (err == nil) != want || !want && !strings.Contains(err.Error(), "owner_token") {
				t.Errorf("%s %v with the token %q: %v", c.listen, c.hosts, token, err)
			}
		}
		if !listened {
			t.Errorf("%s: it never listened", c.listen)
		}
	}
}

// When the room stops, what is being asked is answered, and streams end.
func TestDrain(t *testing.T) {
	asked, finish := make(chan bool), make(chan bool)
	r := newRoom(&memory{})
	url, stop := run(t, r, fakeService{ask: func(context.Context, bot.Request) (bot.Answer, error) {
		close(asked)
		<-finish
		return bot.Answer{Text: "done", Private: true}, nil
	}})
	s := follow(t, url, "", "")
	s.until("ready")
	got := make(chan answer, 1)
	go func() { got <- post(t, url, submission{ID: id(1), Text: "/score"}) }()
	<-asked
	stopped := make(chan bool)
	go func() { stop(); close(stopped) }()
	if _, ok := s.next(); ok {
		t.Error("the stream goes on")
	}
	select {
	case <-stopped:
		t.Error("the room stopped before it answered")
	default:
	}
	close(finish)
	if a := <-got; a.Message == nil || a.Message.Text != "done" {
		t.Errorf("answer: %+v", a)
	}
	<-stopped
}

// A reader who does not read is dropped, and nobody waits for them.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(&memory{})
		url := open(t, r, fakeService{})
		host := strings.TrimPrefix(url, "http://")
		conn, err := network.DialContext(t.Context(), "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		synctest.Wait()
		readers := func() int {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.readers)
		}
		if readers() != 1 {
			t.Fatalf("%d readers", readers())
		}
		begin := time.Now()
		text := strings.Repeat("x", 100_000)
		for n := range 10 { // more than the network holds
			if _, _, err := r.Deliver(t.Context(), outbox.Post{ID: strconv.Itoa(n), Where: here, Kind: match.Notice, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("posts waited %v", d)
		}
		time.Sleep(r.slow - time.Second)
		synctest.Wait()
		if readers() != 1 {
			t.Error("dropped too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if readers() != 0 {
			t.Error("a reader who does not read is kept")
		}
	})
}
