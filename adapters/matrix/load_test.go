package matrix

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// stock has the bot believe that the homeserver has the limits of Synapse.
func (c *club) stock() { c.cfg.Rate, c.cfg.Burst = sendRate, sendBurst }

// Three games of one turn each ten seconds are more than stock Synapse takes. While its
// burst lasts boards come at once; then of each game the newest, soon after its turn;
// and nothing that can wait comes before a board.
func TestMoreThanTheHomeserverTakes(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.stock()
		p := c.through()
		c.start()
		tables := []*board{c.begins("aga 19x19"), c.begins("aga 19x19"), c.begins("aga 19x19")}
		time.Sleep(2 * time.Minute) // the burst is there again
		limit := p.Limit(matrixtest.Sending, sendRate, sendBurst)
		began := time.Now()
		const turns = 18
		for k := range 3 * turns {
			time.Sleep(time.Until(began.Add(time.Duration(k) * 10 * time.Second / 3)))
			g, move := tables[k%3], k/3
			[]*guest{g.black, g.white}[move%2].SaysIn(g.black.at, g.root, fmt.Sprintf("!place %c%d", "ACEGJLNPRT"[move%10], 1+2*(move/10)))
		}
		c.settled()
		limit.Stop()
		var refused time.Time // when the burst was over
		for _, r := range p.Requests(matrixtest.Sending) {
			if r.Status == 429 && (refused.IsZero() || r.At.Before(refused)) {
				refused = r.At
			}
		}
		type span struct{ from, to int64 }
		var waits []span   // of turns for their board, or a newer one
		var others []int64 // when something else was sent
		var early, late []time.Duration
		boards := 0
		for n, g := range tables {
			caughtUp(g.black.Player, g.black.at)
			c.once(g.black, g.black.at)
			var said []int64 // when each turn was said
			at, shown := map[int]int64{}, 0
			for _, e := range g.black.View(g.black.at).Events {
				if e.Time < began.UnixMilli() {
					continue
				}
				kind, _ := e.Content["msgtype"].(string)
				switch body, _ := e.Content["body"].(string); {
				case e.Sender != c.user.ID && strings.HasPrefix(body, "!place"):
					said = append(said, e.Time)
				case e.Sender == c.user.ID && kind == "m.image":
					move := moveOf(body)
					for k := shown + 1; k <= move; k++ {
						at[k] = e.Time
						after := time.Duration(e.Time-said[k-1]) * time.Millisecond
						if time.UnixMilli(e.Time).Before(refused) {
							early = append(early, after)
						} else {
							late = append(late, after)
						}
					}
					shown = move
					boards++
				case e.Sender == c.user.ID:
					others = append(others, e.Time)
				}
			}
			if shown != turns {
				t.Errorf("game %d: the last board is that of move %d", n, shown)
			}
			for k, from := range said {
				waits = append(waits, span{from + time.Second.Milliseconds(), at[k+1]})
			}
		}
		t.Logf("%d boards for %d turns; the burst was over after %v; until then at most %v late, afterwards %v; %d others",
			boards, 3*turns, refused.Sub(began), slices.Max(early), slices.Max(late), len(others))
		if slices.Max(early) > time.Second || slices.Max(late) > 15*time.Second+10*time.Millisecond {
			t.Error("boards come too late")
		}
		for _, w := range waits {
			if i := slices.IndexFunc(others, func(at int64) bool { return w.from < at && at < w.to }); i >= 0 {
				t.Errorf("what can wait comes %v before a board that waits", time.Duration(w.to-others[i])*time.Millisecond)
			}
		}
	})
}

// What was too much for the homeserver comes in turn: boards first, but no refusal waits for
// ever while there are boards.
func TestAnswersComeAfterBoards(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.stock()
		p := c.through()
		c.start()
		g, other := c.begins("aga 19x19"), c.begins("aga 19x19")
		time.Sleep(2 * time.Minute)
		limit := p.Limit(matrixtest.Sending, sendRate, 1)
		var asked, answered, shown time.Time
		for move := range 8 { // as many as the homeserver takes
			[]*guest{g.black, g.white}[move%2].SaysIn(g.black.at, g.root, "!place "+sparse(move))
			if move == 1 {
				asked = time.Now()
				other.white.SaysIn(other.white.at, other.root, "!place A1")
			}
			if time.Sleep(2 * time.Second); move > 0 { // a board waits each time, for three seconds
				time.Sleep(3 * time.Second)
			}
		}
		c.settled()
		limit.Stop()
		for _, g := range []*board{g, other} {
			caughtUp(g.black.Player, g.black.at)
			for _, e := range g.black.View(g.black.at).Events {
				switch body, _ := e.Content["body"].(string); {
				case e.Sender != c.user.ID:
				case strings.Contains(body, "2. ") && e.Content["msgtype"] == "m.image":
					shown = time.UnixMilli(e.Time)
				case strings.Contains(body, "not your turn"):
					answered = time.UnixMilli(e.Time)
				}
			}
		}
		t.Logf("the board came after %v, the answer after %v", shown.Sub(asked), answered.Sub(asked))
		if shown.IsZero() || !shown.Before(answered) || answered.Sub(asked) > 40*time.Second {
			t.Error("not in turn")
		}
	})
}

// A person who begins with a question and has passed soon after sees the board of the
// pass. Refused lines for which the same is said have one answer, with their number.
func TestShortGameUnderLimit(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.stock()
		p := c.through()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		limit := p.Limit(matrixtest.Sending, sendRate, sendBurst)
		anna, bob := people[0], people[1]
		anna.asks("", "!help")
		anna.asks("", "!new two-button 5x5")
		root := anna.reads("opens game 1").ID
		bob.asks(root, "!join")
		g := &board{c, anna, bob, root}
		for k, turn := range []string{"!place C3", "!pass", "!pass"} {
			began := time.Now()
			[]*guest{anna, bob}[k%2].asks(root, turn)
			g.shows(fmt.Sprintf("%d. ", k+1))
			if late := time.Since(began); late > time.Second {
				t.Errorf("%s: the board comes after %v", turn, late)
			}
		}
		var refused []id.EventID
		for range 3 {
			refused = append(refused, anna.asks(root, "!place D3"))
		}
		c.settled()
		limit.Stop()
		caughtUp(anna.Player, anna.at)
		c.once(anna, anna.at)
		var answered []*matrixtest.Message
		for _, m := range anna.View(anna.at).From(c.user.ID) {
			if strings.Contains(m.Text(), "Mark dead stones with") && m.ReplyTo != "" {
				answered = append(answered, m)
			}
		}
		if len(answered) != 1 || answered[0].ReplyTo != refused[0] || !strings.Contains(answered[0].Text(), "3× ") {
			t.Errorf("of %v are answered %v\n%s", refused, answered, anna.Sees(anna.at))
		}
		if n := len(anna.View(anna.at).Message(root).Reactions); n == 0 {
			t.Error("there are no reactions in the end")
		}
	})
}

func moveOf(caption string) (move int) {
	if number, _, ok := strings.Cut(caption, ". "); ok {
		_, number, _ = strings.Cut("· "+number, "· ")
		move, _ = strconv.Atoi(number[strings.LastIndex(number, " ")+1:])
	}
	return move
}

// A homeserver that lets nothing through for long: of each game the newest board
// is shown in the end, the room is told that it is late, and so is the log.
func TestLate(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, p, g := playing(t, s)
		c.settle()
		shut := p.Always(matrixtest.Sending, matrixtest.TooMany(2*time.Second)) // and the bot takes note of each
		for k, at := range []string{"C3", "C4", "D3", "D4"} {
			[]*guest{g.black, g.white}[k%2].asks(g.root, "!place "+at)
		}
		shut.Await(t, 2)
		time.Sleep(2 * time.Minute)
		shut.Stop()
		m := g.shows("4. ")
		if !strings.Contains(m.Text(), wordLate) || !strings.Contains(c.log.String(), "board shown late") {
			t.Errorf("it does not say that it is late: %q", m.Text())
		}
		c.settle()
		if n := len(g.black.View(g.black.at).Pictures(c.user.ID)); n > 3 {
			t.Errorf("%d boards, of which most were old", n)
		}
		g.black.asks(g.root, "!place E4")
		if m := g.shows("5. "); strings.Contains(m.Text(), wordLate) {
			t.Error("it says so of a board that is not late")
		}
		c.once(g.black, g.black.at)
	})
}

// Much was said while the bot was away: it is looked through in bounded memory,
// and little is kept. HALFPOINT_TIER=soak makes it 100,000 events.
func TestBacklog(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		size, each := 5000, 250 // of which one in so many is a command
		if tier.Soaking() {
			size, each = 100_000-1, 100
		}
		c := newClub(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		anna.asks("", "!games")
		c.halt()
		before := len(w.in(anna.at))
		p.Always(matrixtest.Backfilling, func(x *matrixtest.Exchange) {
			from, ok := strings.CutPrefix(x.R.URL.Query().Get("from"), "made-up-")
			if !ok {
				if r, err := x.Forward(); err == nil {
					_ = x.Answer(r)
				}
				return
			}
			n, _ := strconv.Atoi(from)
			var chunk []json.RawMessage
			for ; n > 0 && len(chunk) < 500; n-- {
				text := "a nice game, and a long one"
				if n%each == 0 {
					text = "!games"
				}
				chunk = append(chunk, json.RawMessage(matrixtest.MessageEvent(id.EventID(fmt.Sprintf("$made-up-%s-%d", anna.at, n)), anna.ID, int64(n), text)))
			}
			answer := map[string]any{"start": "x", "chunk": chunk}
			if n > 0 {
				answer["end"] = fmt.Sprintf("made-up-%d", n)
			}
			body, _ := json.Marshal(answer)
			x.Say(200, "application/json", string(body))
		})
		e := anna.Says(anna.at, "!games")
		p.Once(matrixtest.Syncing, matrixtest.Changes(func(body []byte) []byte {
			var whole map[string]any
			_ = json.Unmarshal(body, &whole)
			room := whole["rooms"].(map[string]any)["join"].(map[string]any)[anna.at.String()].(map[string]any)
			line := room["timeline"].(map[string]any)
			line["limited"], line["prev_batch"] = true, fmt.Sprintf("made-up-%d", size)
			body, _ = json.Marshal(whole)
			return body
		}))
		c.start()
		c.dealt(anna.at, e)
		asked := w.in(anna.at)[before:]
		if len(asked) != size/each+1 || asked[len(asked)-1] != e || !strings.HasSuffix(asked[0].String(), fmt.Sprintf("-%d", each)) {
			t.Errorf("%d asked, %v …", len(asked), asked[:min(len(asked), 3)])
		}
		var rows int
		if err := c.cfg.DB.QueryRow(t.Context(), "SELECT COUNT(*) FROM matrix_event").Scan(&rows); err != nil || rows > len(asked)+10 {
			t.Errorf("%d rows on disk for %d commands, %v", rows, len(asked), err)
		}
	})
}

// How long it takes from sending a command to having the picture, beside a bare
// program that uploads and sends a picture whenever something is said.
// It measures, and proves no more than other tests do.
func TestSpeed(t *testing.T) {
	tier.Soak(t)
	const n, apart = 50, 250 * time.Millisecond
	c := newClub(t, matrixtest.Shared(t))
	s := c.serve()
	for _, encrypted := range []bool{false, true} {
		r, echo := c.pair(encrypted), c.bare(encrypted)
		var mine, bare []time.Duration
		for k := range n { // in turn, so that both have the same machine
			mine = append(mine, c.measure(r, k, apart, c.user.ID))
			bare = append(bare, c.measure(echo.pair, k, apart, echo.ID))
		}
		at := func(ds []time.Duration, q int) time.Duration {
			slices.Sort(ds)
			return ds[len(ds)*q/100].Round(100 * time.Microsecond)
		}
		t.Logf("encrypted %v: picture after p50 %v, p95 %v; bare p50 %v, p95 %v; p50 is %.2f of it", encrypted,
			at(mine, 50), at(mine, 95), at(bare, 50), at(bare, 95), float64(at(mine, 50))/float64(at(bare, 50)))
	}
	t.Logf("the program has %d MiB in memory", matrixtest.Resident(s.Process.Pid)>>20)
	s.Kill()
}

// measure has somebody say something, and gives how long it took until they got a
// picture from somebody and downloaded it.
func (c *club) measure(r *pair, k int, apart time.Duration, from id.UserID) (took time.Duration) {
	who := r.people[k%2]
	before := who.pictures(from)
	began := time.Now()
	who.says(r.root, "!place "+sparse(k))
	var got []map[string]any
	for got = before; len(got) == len(before); got = who.pictures(from) {
		who.changed()
		if time.Since(began) > 2*time.Minute {
			c.Fatalf("no picture for the %d. command", k+1)
		}
	}
	who.downloads(got[len(got)-1])
	took = time.Since(began)
	time.Sleep(max(0, apart-took))
	return took
}

// changed waits a moment for something new.
func (p *talker) changed() { time.Sleep(2 * time.Millisecond) }

func (p *talker) pictures(from id.UserID) (out []map[string]any) {
	for _, m := range p.heardFrom(from) {
		if m["msgtype"] == "m.image" {
			out = append(out, m)
		}
	}
	return out
}

// An echo is a program that does nothing but read, upload and send.
type echo struct {
	*pair
	matrixtest.User
}

// bare starts an echo, in a room with two people.
func (c *club) bare(encrypted bool) *echo {
	user := c.server.Register(c.T, "Echo")
	dev := c.secretly(user)
	r := c.talkers(encrypted)
	r.at = r.people[0].Makes(matrixtest.Room{Name: "Echo", Encrypted: encrypted, Invite: []id.UserID{r.people[1].ID, user.ID}})
	r.people[1].AwaitInvite(r.at)
	r.people[1].Joins(r.at)
	picture := noise(10 << 10)
	answer := func(e *event.Event) {
		if e.Sender == user.ID || e.Type.Type != "m.room.message" && e.Type.Type != "m.room.encrypted" {
			return
		}
		ctx := context.Background()
		m := &event.MessageEventContent{MsgType: event.MsgImage, Body: "echo.png", Mentions: &event.Mentions{}}
		if !encrypted {
			up, err := dev.Client.UploadBytes(ctx, picture, "image/png")
			if err != nil {
				return
			}
			m.URL = up.ContentURI.CUString()
			_, _ = dev.Client.SendMessageEvent(ctx, r.at, event.EventMessage, m, mautrix.ReqSendEvent{DontEncrypt: true})
			return
		}
		e.Type = event.EventEncrypted
		if e.Content.ParseRaw(e.Type) != nil {
			return
		}
		for late := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // its key may come after it
			if _, err := dev.Crypto.Decrypt(ctx, e); err == nil {
				break
			} else if time.Now().After(late) {
				return
			}
		}
		data, file := e2ee.EncryptFile(picture)
		up, err := dev.Client.UploadBytes(ctx, data, "application/octet-stream")
		if err != nil {
			return
		}
		m.File = file
		m.File.URL = up.ContentURI.CUString()
		if sealed, err := dev.Crypto.Encrypt(ctx, r.at, event.EventMessage, m); err == nil {
			_, _ = dev.Client.SendMessageEvent(ctx, r.at, event.EventEncrypted, sealed, mautrix.ReqSendEvent{DontEncrypt: true})
		}
	}
	dev.hears(func(e *event.Event) { go answer(e) })
	if _, err := dev.Client.JoinRoomByID(context.Background(), r.at); err != nil {
		c.Fatal(err)
	}
	r.people[0].Await(r.at, "the echo to come", func(v matrixtest.View) bool { return v.Members[user.ID] == "join" })
	return &echo{r, user}
}

// noise is a PNG of about so many bytes.
func noise(size int) []byte {
	rnd := rand.New(rand.NewPCG(7, 8))
	img := image.NewGray(image.Rect(0, 0, 100, size/100))
	for i := range img.Pix {
		img.Pix[i] = byte(rnd.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// The program in many rooms in which nothing happens, half of them encrypted.
// HALFPOINT_TIER=soak makes it 200.
func TestManyRooms(t *testing.T) {
	tier.Change(t)
	rooms := 5
	if tier.Soaking() {
		rooms = 200
	} else {
		t.Parallel()
	}
	c := newClub(t, matrixtest.Shared(t))
	anna := c.server.Player(t, "Anna")
	itself, err := mautrix.NewClient(c.server.URL, c.user.ID, c.user.Token)
	if err != nil {
		t.Fatal(err)
	}
	for n := range rooms {
		at := anna.Makes(matrixtest.Room{Name: fmt.Sprint("Club ", n), Encrypted: n%2 == 1, Invite: []id.UserID{c.user.ID}})
		if _, err := itself.JoinRoomByID(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	s := c.serve()
	heard := func(name string) {
		at := anna.Makes(matrixtest.Room{Name: name, Invite: []id.UserID{c.user.ID}})
		anna.Await(at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		anna.Says(at, "!new two-button 5x5")
		anna.AwaitMessage(at, c.user.ID, "a game", func(m *matrixtest.Message) bool { return strings.Contains(m.Text(), "opens game") })
	}
	heard("One more")
	first := matrixtest.Resident(s.Process.Pid)
	s.Kill()
	s = c.serve()
	heard("Another")
	again := matrixtest.Resident(s.Process.Pid)
	t.Logf("%d rooms: %d MiB in memory, after a restart %d MiB", rooms, first>>20, again>>20)
	if max(first, again) > 80<<20 {
		t.Errorf("%d bytes in memory", max(first, again))
	}
	s.Kill()
}

// Two people play a whole game under the limits of a stock Synapse: quickly at first, then
// after a rest, and to the end. Nothing is refused, since the bot knows the limit; at
// most three events come before the first board; boards come at once; and the reactions of
// a message come while people play, so that the bot may send half of what it ever may afterwards.
func TestWholeGameUnderStockLimits(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.stock()
		p := c.through()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		p.Limit(matrixtest.Sending, sendRate, sendBurst)
		anna, bob := people[0], people[1]
		game := adaptertest.WholeGames[0]
		anna.asks("", "!new "+game.Rules+" "+game.Size+" opponent:"+bob.ID.String())
		root := anna.reads("will you play").ID
		time.Sleep(2 * time.Second)
		bob.asks(root, "!join")
		anna.reads(" to play, for example ")
		latest := time.Duration(0)
		for k, turn := range game.Turns {
			time.Sleep(10 * time.Second)
			if k == 10 {
				time.Sleep(5 * time.Minute)
			}
			began := time.Now()
			[]*guest{anna, bob}[map[bool]int{turn.White: 1}[true]].asks(root, "!"+turn.Command+" "+turn.Args)
			anna.reads(turn.Reads)
			latest = max(latest, time.Since(began))
		}
		anna.reads("Game 1 is over")
		c.settled()
		for _, r := range p.Requests(matrixtest.Sending) {
			if r.Status == http.StatusTooManyRequests {
				t.Errorf("too much at %v: %s", r.At, r.Path)
			}
		}
		caughtUp(anna.Player, anna.at)
		c.once(anna, anna.at)
		before, shown := 0, false
		var rows []string
		var last id.EventID // that was reacted to
		spared := func(tokens float64) {
			t.Helper()
			if tokens < sendBurst/2-2.01 { // boards may come in between
				t.Errorf("after reactions %v messages may be sent at once", tokens)
			}
		}
		tokens, at := float64(sendBurst), time.Time{}
		for _, e := range anna.View(anna.at).Events {
			if e.Sender != c.user.ID || e.StateKey != nil {
				continue
			}
			now := time.UnixMilli(e.Time)
			tokens, at = min(sendBurst, tokens+now.Sub(at).Seconds()*sendRate), now
			relates, _ := e.Content["m.relates_to"].(map[string]any)
			target, _ := relates["event_id"].(string)
			switch emoji, _ := relates["key"].(string); {
			case e.Type == "m.room.redaction":
				spared(tokens - 1)
				last = cmp.Or(last, "gone")
			case e.Type != "m.reaction":
				last = ""
			case last == id.EventID(target):
				rows[len(rows)-1] += " " + emoji
				spared(tokens - 1)
			default:
				last = id.EventID(target)
				rows = append(rows, emoji)
				spared(tokens - 1)
			}
			tokens--
			if kind, _ := e.Content["msgtype"].(string); kind == "m.image" {
				shown = true
			} else if !shown {
				before++
			}
		}
		t.Logf("%d events before the first board; a board is at most %v late; the rows: %q", before, latest, rows)
		if before > 3 || latest > time.Second {
			t.Error("that is too much, or too late")
		}
		if want := "✋ ❌ ⏭️ 🧮 ↩️ ✅ ▶️ ⚔️ 🔁"; strings.Join(rows, " ") != want {
			t.Errorf("rows %q, want %q", rows, want)
		}
	})
}
