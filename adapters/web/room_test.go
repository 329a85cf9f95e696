package web

import (
	"bufio"
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
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A memory is a store in memory with games of its own.
type memory struct{ *store.Store }

func newLog(t testing.TB) memory { return memory{openStore(t, store.Memory)} }

// openStore opens a database until the end of the test.
func openStore(t testing.TB, file string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "halfpoint.db") }

// Match returns the game of the service of these tests, and one of another platform.
func (memory) Match(_ context.Context, id match.GameID) (match.Match, []match.Event, error) {
	switch id {
	case "g1":
		return match.Match{ID: id, Where: here}, nil, nil
	case "g2":
		return match.Match{ID: id, Where: match.Room{Platform: "matrix", Channel: channel}}, nil, nil
	}
	return match.Match{}, nil, bot.ErrNotFound
}

// transcript returns what everybody has read in a room.
func transcript(t testing.TB, st bot.RoomLog) []outbox.Message {
	t.Helper()
	ms, err := st.Since(t.Context(), channel, 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// shown returns the transcript as a page gets it.
func shown(t testing.TB, st Store) (lines []message) {
	t.Helper()
	s := &server{Room: newRoom(st), service: fakeService{}}
	ms := transcript(t, st)
	who, err := s.people(t.Context(), ms)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		lines = append(lines, s.show(t.Context(), m, who))
	}
	return lines
}

// said returns the transcript as lines "from: text".
func said(t testing.TB, st Store) (lines []string) {
	t.Helper()
	for _, m := range shown(t, st) {
		lines = append(lines, m.From+": "+m.Text)
	}
	return lines
}

// unworded adds to a post what its words are made of.
func unworded(t testing.TB, st Store, p outbox.Post) outbox.Post {
	t.Helper()
	p.Stored.Texts = []bot.Text{text.Say("lines", p.Text)}
	for _, who := range p.Notify {
		id, err := st.Person(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		p.Stored.Notify = append(p.Stored.Notify, id)
	}
	return p
}

// A fakeService is a bot that does what a test tells it to.
type fakeService struct {
	bot.Service // nil: the room needs no more of it
	ask         func(context.Context, bot.Request) (outbox.Post, error)
	draw        func(seq int) (render.Scene, error) // nil: as many stones as events
	suggested   func(outbox.User)                   // told for whom something is suggested, if not nil
	expects     outbox.User                         // a turn
}

func (d fakeService) Ask(ctx context.Context, r bot.Request) (a bot.Answer, err error) {
	if d.ask == nil {
		return a, nil
	}
	p, err := d.ask(ctx, r)
	if p.ID, p.Kind, p.Asker = r.ID+":answer", match.Answer, r.Who; !p.Empty() {
		a.Posts = []outbox.Post{p}
	}
	return a, err
}

func (d fakeService) Bare(_ context.Context, r bot.Request, typed string) (turn bot.Request, ok bool, why string, err error) {
	command, args, ok := bot.BareTurn(typed)
	if !ok || r.Who != d.expects {
		return r, false, map[outbox.User]string{white: "It is not your turn."}[r.Who], nil
	}
	r.Command, r.Args = command, args
	return r, true, "", nil
}

// answering is a service that gives the same answer to everything, and notes what it
// was asked.
func answering(a outbox.Post, asked *[]bot.Request) fakeService {
	return fakeService{ask: func(_ context.Context, r bot.Request) (outbox.Post, error) {
		*asked = append(*asked, r)
		return a, nil
	}}
}

func (d fakeService) Suggest(_ context.Context, r bot.Request, option, prefix string) []bot.Choice {
	if d.suggested != nil {
		d.suggested(r.Who)
	}
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

func (d fakeService) View(_ context.Context, v bot.Viewing) (view bot.View, err error) {
	if v.Game == "e-1" {
		view.Path = "/e/spring"
		if v.Seq > 2 { // before that people still join
			view.Sheet = &render.Sheet{Title: "Spring", Rows: []render.SheetRow{{Number: "1", Name: "Ada"}}}
		}
		return view, nil
	}
	if v.Game != "g1" && v.Game != "g2" || v.Seq > 5 {
		return view, bot.ErrNotFound
	}
	if d.draw != nil {
		view.Scene, err = d.draw(v.Seq)
		return view, err
	}
	view.Scene = scene(v.Seq)
	return view, nil
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
	url, _ := run(t, r, d)
	return url
}

// openBot runs the whole bot, with a room, until stop is called or the test ends.
func openBot(t testing.TB, st *store.Store) (r *Room, url string, stop func()) {
	t.Helper()
	r = newRoom(st)
	url, stop = inMemory(t, r, func(ctx context.Context) error { return bot.New(st, bot.Config{}).Run(ctx, r) })
	return r, url, stop
}

// Rooms of tests listen on a network in memory, each on a port of its own.
var (
	network memnet.Network
	port    atomic.Int32
	clients sync.Map // by address: its *http.Client
)

// run runs a room in memory until stop is called or the test ends.
func run(t testing.TB, r *Room, d bot.Service) (url string, stop func()) {
	t.Helper()
	return inMemory(t, r, func(ctx context.Context) error { return r.Run(ctx, d) })
}

// inMemory runs what serves a room, in memory, until stop is called or the test ends.
func inMemory(t testing.TB, r *Room, serve func(context.Context) error) (url string, stop func()) {
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
	// No connection waits for the next request: in virtual time the server would now and
	// then close it as idle just when it is used.
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		conn, err := network.DialContext(ctx, "tcp", address)
		if _, given, _ := net.SplitHostPort(address); err != nil { // it may listen on all interfaces
			conn, err = network.DialContext(ctx, "tcp", "0.0.0.0:"+given)
		}
		return conn, err
	}}
	url, stop = listen(t, r, serve)
	clients.Store(strings.TrimPrefix(url, "http://"), &http.Client{Transport: transport})
	t.Cleanup(stop)
	return url, stop
}

// dial sends the head of a request to the room at url, and leaves the rest to the
// caller.
func dial(t testing.TB, url, request string, headers ...string) net.Conn {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := network.DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "%s\r\nHost: %s\r\nOrigin: http://%[2]s\r\n%[3]s\r\n", request, host, strings.Join(headers, "\r\n"))
	return conn
}

// clientFor returns the client that reaches the room at url.
func clientFor(url string) *http.Client {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	client, _ := clients.Load(host)
	return client.(*http.Client)
}

// listen runs what serves a room, where its configuration says, until stop is called or
// the test ends.
func listen(t testing.TB, r *Room, serve func(context.Context) error) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	r.cfg.Ready = func(url string) { ready <- url }
	go func() { ended <- serve(ctx) }()
	select {
	case url = <-ready:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	t.Cleanup(stop)
	return url, stop
}

// ownerCookies are those of the owner's browser.
func ownerCookies() []*http.Cookie {
	return []*http.Cookie{{Name: ownerCookie, Value: ownerProof(token)}}
}

// newRoom returns a room without limits: tests are faster than people.
func newRoom(l Store) *Room {
	r := New(Config{Listen: "127.0.0.1:0", Log: l})
	r.limits = limits{}
	return r
}

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
	if !slices.ContainsFunc(cookies, func(c *http.Cookie) bool { return c.Name == browserCookie }) {
		cookies = append(cookies, browserFor(s.Seat))
	}
	var header []string
	for _, c := range cookies {
		header = append(header, c.String())
	}
	data, _ := json.Marshal(s)
	resp, body := ask(t, url, string(data), "Cookie", strings.Join(header, "; "))
	var a answer
	if err := json.Unmarshal([]byte(body), &a); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", resp.Status, body)
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
	for _, c := range append(cookies, &http.Cookie{Name: hostCookie(req.URL.Host), Value: "1"}) {
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

// next returns the next event that is no heartbeat, false at the end of the stream.
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
			if e.name == "beat" {
				e = event{}
			} else if e.id != "" || e.name != "" {
				return e, true
			}
		}
	}
	return e, false
}

// read returns the messages that a stream begins with.
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

// until returns the texts of messages up to the event with that name or text.
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
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// deliver has a room show posts, as the bot does, and returns their receipts. Room
// and kind of a post may be left out.
func deliver(t testing.TB, r *Room, posts ...outbox.Post) (receipts []string) {
	t.Helper()
	for _, p := range posts {
		p.Where, p.Kind = here, cmp.Or(p.Kind, match.Notice)
		receipt, _, err := r.Deliver(t.Context(), unworded(t, r.cfg.Log, p))
		if err != nil {
			t.Fatal(err)
		}
		receipts = append(receipts, string(receipt))
	}
	return receipts
}

var here = match.Room{Platform: platform, Channel: channel}

func TestDeliver(t *testing.T) {
	r := newRoom(newLog(t))
	url := open(t, r, fakeService{})
	sc := scene(2)
	board := deliver(t, r, outbox.Post{ID: "p1", Kind: match.Show, Game: "g1", Seq: 2, Text: "Game 1", Scene: &sc,
		Notify: []outbox.User{black}, Controls: []match.Control{{Label: "Accept", Command: "accept", Args: map[string]string{"seq": "2"}}}})
	status := deliver(t, r, outbox.Post{ID: "p2", Kind: match.Status, Replaces: board[0], Text: "status"})
	deliver(t, r, outbox.Post{ID: "p3", Kind: match.Remove, Replaces: status[0]})
	if _, _, err := r.Deliver(t.Context(), outbox.Post{ID: "p4", Where: match.Room{Platform: "discord", Channel: channel}}); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("a post for another platform: %v", err)
	}

	ms := read(follow(t, url, "", ""))
	if len(ms) != 3 {
		t.Fatalf("%d messages, want 3: %+v", len(ms), ms)
	}
	m := ms[0]
	if m.Kind != match.Show || m.Game != "g1" || m.Alt != render.Text(sc) || m.Next != "Black to play" || !slices.Equal(m.Due, []string{"black"}) ||
		!slices.Equal(m.To, []string{"Black"}) || len(m.Controls) != 1 || m.Controls[0].Args["seq"] != "2" || !strings.HasPrefix(m.Picture, "/picture/g1/2.png?v=") {
		t.Errorf("the board came as %+v", m)
	}
	if !slices.Equal(ms[1].Replaces, []int64{ms[0].N}) || ms[1].Kind != match.Status || !slices.Equal(ms[2].Replaces, []int64{ms[1].N}) || !ms[2].Removed {
		t.Errorf("replaced and removed: %+v", ms[1:])
	}
}

// The transcript keeps all that belongs to a message: after a restart the people whom
// it notifies, its buttons and its file are still there.
func TestRestartKeepsAll(t *testing.T) {
	st := openStore(t, newFile(t))
	record := outbox.File{Name: "game 1 ½.sgf", Type: "application/x-go-sgf", Data: []byte("(;C[½])")}
	shared := outbox.File{Name: "shared.sgf", Type: "application/x-go-sgf", Data: []byte("(;C[shared])")}
	secret := outbox.File{Name: "secret.sgf", Type: "application/x-go-sgf", Data: []byte("(;C[secret])")}
	d := fakeService{ask: func(_ context.Context, r bot.Request) (outbox.Post, error) {
		if r.Args["share"] == "" {
			return outbox.Post{Text: "yours", Private: true, File: &secret}, nil
		}
		return outbox.Post{Text: "shared", File: &shared, Controls: []match.Control{{Label: "Move 1", Command: "review"}}}, nil
	}}
	r := newRoom(st)
	url, stop := run(t, r, d)
	sc := scene(2)
	ada := outbox.User{Platform: platform, ID: "name:ada lovelace", Name: "Ada Lovelace"}
	post(t, url, submission{ID: id(0), Seat: "name:Ada Lovelace", Text: "/sgf"})
	deliver(t, r,
		outbox.Post{ID: "p1", Kind: match.Show, Game: "g1", Seq: 2, Text: "board", Scene: &sc, Notify: []outbox.User{black, ada},
			Controls: []match.Control{{Label: "Place", Command: "place", Ask: "at", Args: map[string]string{"game": "1", "seq": "2"}}}},
		outbox.Post{ID: "p2", Game: "g1", Seq: 2, Text: "over", File: &record},
		outbox.Post{ID: "p3", Game: "g1", Seq: 2, Text: "for Ada", Private: true, Notify: []outbox.User{ada}, File: &record,
			Controls: []match.Control{{Label: "Rematch", Command: "rematch"}}})
	post(t, url, submission{ID: id(1), Seat: "black", Text: "/sgf share:yes"})
	a := post(t, url, submission{ID: id(2), Seat: "black", Text: "/sgf"})
	if _, body := do(t, "GET", url+a.Message.File.URL, "", "Cookie", browserFor("black").String()); body != string(secret.Data) {
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
	equal(t, "the board notifies", board.To, []string{"Black", "Ada Lovelace"})
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

// Where the bot means an instant or an address the page gets that, so that it can write an
// instant as its reader would, and make links of addresses.
func TestInstants(t *testing.T) {
	const at = 1795528800000
	instant := time.UnixMilli(at).UTC()
	mark := fmt.Sprintf("\x03%d\x04Tue 24 Nov 14:00 UTC\x05", at)
	then := part{Text: "Tue 24 Nov 14:00 UTC", Time: &instant}
	for text, want := range map[string][]part{
		"Black to play.":                       nil,
		"":                                     nil,
		mark:                                   {then},
		"from " + mark + " to " + mark + ".":   {{Text: "from "}, then, {Text: " to "}, then, {Text: "."}},
		"at " + mark + ": \x03^\x04/g/abc\x05": {{Text: "at "}, then, {Text: ": "}, {Text: "/g/abc", Link: true}},
		"see \x03web\x06local\x06\x04the room\x05": nil,
	} {
		if diff := gocmp.Diff(want, parts(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	// What people type means nothing of the kind.
	r := newRoom(newLog(t))
	url := open(t, r, fakeService{})
	deliver(t, r, outbox.Post{ID: "p", Text: "by " + mark})
	post(t, url, submission{ID: id(2), Seat: "black", Text: "see " + mark})
	ms := read(follow(t, url, "", ""))
	if ms[0].Text != "by Tue 24 Nov 14:00 UTC" || len(ms[0].Parts) != 2 || !ms[0].Parts[1].Time.Equal(instant) {
		t.Errorf("the post came as %+v", ms[0])
	}
	if ms[1].Parts != nil || ms[1].Text != "see 1795528800000Tue 24 Nov 14:00 UTC" {
		t.Errorf("what was typed came as %+v", ms[1])
	}
}

// A page is told which seat is to move, whatever stones it has.
func TestDue(t *testing.T) {
	r := newRoom(newLog(t))
	url := open(t, r, fakeService{draw: func(seq int) (render.Scene, error) {
		s := scene(1)
		s.Black.Name, s.White.Name = "White", "Black"
		s.Black.Due, s.White.Due = seq > 1, true
		return s, nil
	}})
	deliver(t, r, outbox.Post{ID: "p1", Kind: match.Show, Game: "g1", Seq: 1}, outbox.Post{ID: "p2", Kind: match.Show, Game: "g1", Seq: 2})
	for _, m := range read(follow(t, url, "seat=onlooker", "")) {
		if got, want := fmt.Sprint(m.Due, m.Color), []string{"", "[black]white", "[white black]"}[m.N]; got != want {
			t.Errorf("after event %d it is the turn of %s, want %s", m.N, got, want)
		}
	}
}

// The input that a control needs first is typed or chosen.
func TestPick(t *testing.T) {
	for _, c := range []struct{ command, ask, want string }{
		{"place", "at", "type"}, {"dead", "points", "several"}, {"pass", "dead", "several"}, {"dead", "as", "one"}, {"new", "rules", "one"},
		{"pass", "", ""}, {"place", "where", "type"}, {"nothing", "at", "type"},
	} {
		if got := pick(match.Control{Command: c.command, Ask: c.ask}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.command, c.ask, got, c.want)
		}
	}
}

func TestPrivatePost(t *testing.T) {
	r := newRoom(newLog(t))
	var asked []bot.Request
	url := open(t, r, answering(outbox.Post{Text: "only you", Private: true}, &asked))
	for i, seat := range []string{"black", "white"} { // they sit down
		post(t, url, submission{ID: id(i), Seat: seat, Text: "/help"})
	}
	forWhite := outbox.Post{ID: "2", Text: "for White", Private: true, Notify: []outbox.User{white}}
	deliver(t, r, outbox.Post{ID: "1", Text: "first"}, forWhite, forWhite, outbox.Post{ID: "3", Text: "last"})
	equal(t, "Black sees", follow(t, url, "seat=black", "").until("last"), []string{"first", "last"})

	// One for several is one for each, and is taken away from all.
	given := deliver(t, r, outbox.Post{ID: "4", Kind: match.Status, Text: "for both", Private: true, Notify: []outbox.User{white, black}})
	deliver(t, r, outbox.Post{ID: "5", Kind: match.Remove, Private: true, Replaces: given[0]})
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

// The post of an event is one line of the transcript, whatever happens. Once games are played
// it has the table as a picture, with an address.
func TestSheetOfAnEvent(t *testing.T) {
	r := newRoom(newLog(t))
	url := open(t, r, fakeService{})
	sheet := outbox.Post{ID: "1", Kind: match.Sheet, Game: "e-1", Seq: 1, Text: "sign-up is open"}
	receipt := deliver(t, r, sheet)[0]
	sheet.ID, sheet.Seq, sheet.Text, sheet.Replaces = "2", 2, "Ada has joined", receipt
	deliver(t, r, sheet, outbox.Post{ID: "3", Text: "said meanwhile"})
	sheet.ID, sheet.Seq, sheet.Text, sheet.Replaces = "4", 3, "games are on", "2"
	sheet.Sheet = &render.Sheet{}
	over := outbox.Post{ID: "5", Kind: match.Notice, Game: "e-1", Seq: 4, Text: "the winner: Ada", Sheet: sheet.Sheet}
	deliver(t, r, sheet, over)
	ms := read(follow(t, url, "seat=black", ""))
	if len(ms) != 5 || len(ms[0].Replaces) != 0 || !slices.Equal(ms[1].Replaces, []int64{1}) || !slices.Equal(ms[3].Replaces, []int64{2}) {
		t.Fatalf("the transcript has %+v", ms)
	}
	if ms[1].Picture != "" {
		t.Errorf("there is a picture before the games begin: %s", ms[1].Picture)
	}
	for _, m := range []message{ms[3], ms[4]} {
		if m.Kind != match.Sheet || m.Page != "/e/spring" || m.Alt != "Spring. 1 Ada." || m.Wide == 0 || m.High == 0 {
			t.Errorf("shown as %+v", m)
		}
	}
	if ms[4].Replaces != nil {
		t.Errorf("the end replaces %v", ms[4].Replaces)
	}
	var again []message
	for _, address := range []string{ms[3].Picture, "/picture/e-1/2.png"} {
		answer, _ := do(t, "GET", url+address, "")
		again = append(again, message{Text: answer.Header.Get("Content-Type"), High: answer.StatusCode})
	}
	if again[0].Text != "image/png" || again[1].High != http.StatusNotFound {
		t.Errorf("the pictures are %+v", again)
	}
}

func TestRunErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	err = New(Config{Listen: address}).Run(t.Context(), fakeService{})
	if err == nil || err.Error() != "listen "+address+": address already in use" {
		t.Errorf("a port in use: %v", err)
	}
	if err := New(Config{Listen: "127.0.0.1:http-but-not"}).Run(t.Context(), fakeService{}); err == nil || strings.Contains(err.Error(), "\n") {
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
		cfg := Config{Listen: c.listen, Hosts: c.hosts, Log: newLog(t), Open: func(_, address string) (net.Listener, error) {
			listened = true
			host, _, _ := net.SplitHostPort(address)
			ip := map[string]string{"localhost": "127.0.0.1", "public.test": "192.0.2.7", "": "::"}[host]
			return network.Listen(net.JoinHostPort(cmp.Or(ip, host), strconv.Itoa(20000+int(port.Add(1)))))
		}}
		if early := CheckAccess(c.listen, c.hosts, secret.Text{}); c.early && (early == nil) != c.ok || !c.early && early != nil {
			t.Errorf("%s %v is checked with %v", c.listen, c.hosts, early)
		}
		for _, token := range []secret.Text{{}, ownerToken} {
			cfg.OwnerToken = token
			ctx, cancel := context.WithCancel(t.Context())
			cfg.Ready = func(string) { cancel() }
			err := New(cfg).Run(ctx, fakeService{})
			cancel()
			if want := c.ok || !token.IsZero(); (err == nil) != want || !want && !strings.Contains(err.Error(), "owner_token") {
				t.Errorf("%s %v with a token %t: %v", c.listen, c.hosts, !token.IsZero(), err)
			}
		}
		if !listened {
			t.Errorf("%s: it never listened", c.listen)
		}
	}
}

// A room that stops answers the requests that it has, and ends its streams.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan bool)
		url, stop := run(t, newRoom(newLog(t)), fakeService{ask: func(context.Context, bot.Request) (outbox.Post, error) {
			<-finish
			return outbox.Post{Text: "done", Private: true}, nil
		}})
		s := follow(t, url, "", "")
		s.until("ready")
		var got answer
		go func() { got = post(t, url, submission{ID: id(1), Text: "/score"}) }()
		synctest.Wait()
		stopped := false
		go func() { stop(); stopped = true }()
		if _, ok := s.next(); ok {
			t.Error("the stream goes on")
		}
		synctest.Wait()
		if stopped {
			t.Error("the room stopped before it answered")
		}
		close(finish)
		time.Sleep(time.Second)
		synctest.Wait()
		if got.Message == nil || got.Message.Text != "done" || !stopped {
			t.Errorf("stopped: %t, answer: %+v", stopped, got)
		}
	})
}

// A room that stops waits for no request that has come in part.
func TestHalfSent(t *testing.T) {
	for _, sent := range []string{
		"POST /ask HTTP/1.1\r\nHost: %[1]s\r\nOrigin: http://%[1]s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"POST /owner HTTP/1.1\r\nHost: %[1]s\r\nOrigin: http://%[1]s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ntoken=",
		"GET / HTTP/1.1\r\nHost: ",
		"",
	} {
		synctest.Test(t, func(t *testing.T) {
			url, stop := run(t, newRoom(newLog(t)), fakeService{})
			conn, err := network.DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			io.WriteString(conn, strings.ReplaceAll(sent, "%[1]s", strings.TrimPrefix(url, "http://")))
			synctest.Wait()
			begin := time.Now()
			stop()
			if d := time.Since(begin); d > time.Second {
				t.Errorf("%.20q delays the stop by %v", sent, d)
			}
		})
	}
}

// A reader who does not read is dropped, and nobody waits for them.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(newLog(t))
		dial(t, open(t, r, fakeService{}), "GET /events HTTP/1.1")
		readers := func() int {
			synctest.Wait()
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
			deliver(t, r, outbox.Post{ID: strconv.Itoa(n), Text: text})
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("posts waited %v", d)
		}
		time.Sleep(r.slow - time.Second)
		if readers() != 1 {
			t.Error("dropped too early")
		}
		time.Sleep(2 * time.Second)
		if readers() != 0 {
			t.Error("a reader who does not read is kept")
		}
	})
}
