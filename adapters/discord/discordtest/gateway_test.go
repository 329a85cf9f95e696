package discordtest_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

func (b *bot) want(key string, value any) object {
	b.t.Helper()
	o := b.next()
	if fmt.Sprint(o[key]) != fmt.Sprint(value) {
		b.t.Fatalf("the next payload is %v, without %s %v", o, key, value)
	}
	return o
}

func (b *bot) resume(seq int) {
	b.t.Helper()
	b.dial(b.ready["resume_gateway_url"].(string) + "?v=10&encoding=json")
	b.say(6, object{"token": b.d.Token(), "session_id": b.ready["session_id"], "seq": seq})
}

// plain is a double without limits in the way, and a bot that is not logged in.
func plainGateway(t *testing.T, o discordtest.Options) (*discordtest.Server, *bot) {
	o.Now = func() time.Time { return noon }
	o.Limits = discordtest.NoLimits()
	d := discordtest.New(t, o)
	return d, newBot(t, d)
}

func TestLogin(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{Shards: 3, Concurrency: 2})
	club := d.Guild("Go club")
	a := b.do("GET", "/gateway/bot", nil).want(t, 200)
	limit := a.object["session_start_limit"].(object)
	if a.object["shards"] != 3.0 || limit["max_concurrency"] != 2.0 || limit["remaining"] != 1000.0 {
		t.Errorf("/gateway/bot is %s", a.text)
	}
	if hello := b.connect(); hello["d"].(object)["heartbeat_interval"] != 41250.0 {
		t.Errorf("hello is %v", hello)
	}
	b.say(2, identify(d, nil))
	ready := b.want("t", "READY")["d"].(object)
	if ready["v"] != 10.0 || ready["user"].(object)["id"] != d.Application() || len(ready["guilds"].([]any)) != 1 || ready["application"].(object)["id"] != d.Application() {
		t.Errorf("READY is %v", ready)
	}
	if g := b.want("t", "GUILD_CREATE")["d"].(object); g["id"] != club.ID() || g["name"] != "Go club" {
		t.Errorf("GUILD_CREATE is %v", g)
	}
	b.say(1, b.seq)
	b.want("op", 11)
	s := d.Sessions()[0]
	if s.Beats() != 1 || s.Intents() != 1 || s.Path() != "/" {
		t.Errorf("the session has %d beats, intents %d, path %s", s.Beats(), s.Intents(), s.Path())
	}
	s.Beat()
	b.want("op", 1)
	limit = b.do("GET", "/gateway/bot", nil).want(t, 200).object["session_start_limit"].(object)
	if limit["remaining"] != 999.0 || limit["reset_after"] != 86400000.0 {
		t.Errorf("the limit is %v", limit)
	}
	b.say(2, identify(d, nil))
	b.want("close", 4005)
}

// TestCloseCodes does what each code is documented for.
func TestCloseCodes(t *testing.T) {
	for _, c := range []struct {
		code int
		name string
		say  func(*bot)
	}{
		{4001, "an unknown opcode", func(b *bot) { b.say(99, nil) }},
		{4002, "no JSON", func(b *bot) { b.socket.WriteMessage(websocket.TextMessage, []byte("hello")) }},
		{4002, "no object", func(b *bot) { b.socket.WriteMessage(websocket.TextMessage, []byte("5")) }},
		{4002, "more than 4096 bytes", func(b *bot) { b.say(2, identify(b.d, object{"x": strings.Repeat("x", 4096)})) }},
		{4002, "no properties", func(b *bot) { b.say(2, object{"token": b.d.Token(), "intents": 0}) }},
		{4003, "too early", func(b *bot) { b.say(3, object{"status": "online"}) }},
		{4004, "a wrong token", func(b *bot) { b.say(2, identify(b.d, object{"token": "wrong"})) }},
		{4004, "a wrong token to resume", func(b *bot) { b.say(6, object{"token": "wrong", "session_id": "x", "seq": 1}) }},
		{4010, "a shard beyond the last", func(b *bot) { b.say(2, identify(b.d, object{"shard": []int{2, 2}})) }},
		{4010, "half a shard", func(b *bot) { b.say(2, identify(b.d, object{"shard": []int{0}})) }},
		{4013, "an unknown intent", func(b *bot) { b.say(2, identify(b.d, object{"intents": 1 << 30})) }},
		{4014, "a privileged intent", func(b *bot) { b.say(2, identify(b.d, object{"intents": 1 << 15})) }},
		{4008, "121 payloads in a minute", func(b *bot) {
			for range 121 {
				b.say(1, nil)
			}
			for range 120 {
				b.want("op", 11)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, b := plainGateway(t, discordtest.Options{Lenient: true})
			b.connect()
			c.say(b)
			b.want("close", c.code)
		})
	}
	t.Run("an unknown version", func(t *testing.T) {
		d, b := plainGateway(t, discordtest.Options{})
		socket, _, err := websocket.DefaultDialer.Dial(strings.Replace(d.Address(), "http", "ws", 1)+"/?v=6", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		b.socket = socket
		b.want("close", 4012)
	})
	t.Run("too many guilds for one shard", func(t *testing.T) {
		d, b := plainGateway(t, discordtest.Options{})
		for n := range 2501 {
			d.Guild(fmt.Sprint("g", n))
		}
		b.connect()
		b.say(2, identify(d, nil))
		b.want("close", 4011)
		b.connect()
		b.say(2, identify(d, object{"shard": []int{1, 2}}))
		if n := len(b.want("t", "READY")["d"].(object)["guilds"].([]any)); n != 1250 {
			t.Errorf("shard 1 of 2 has %d guilds", n)
		}
	})
}

// TestResumeReplaysWhatWasMissed in order and nothing else.
func TestResumeReplaysWhatWasMissed(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{})
	room := d.Guild("Go club").Channel("games")
	alice := d.Guild("Go club").Member("alice")
	b.login(object{"intents": 1 | 1<<9})
	b.event("GUILD_CREATE")
	alice.Say(room, "0")
	b.event("MESSAGE_CREATE")
	seen := b.seq
	d.Sessions()[0].Cut()
	b.next()
	for n := range 5 {
		alice.Say(room, fmt.Sprint(n+1))
	}
	b.resume(seen)
	for n := range 5 {
		o := b.want("t", "MESSAGE_CREATE")
		if int(o["s"].(float64)) != seen+1+n {
			t.Errorf("sequence number %v comes %d-th", o["s"], n+1)
		}
	}
	b.want("t", "RESUMED")
	if s := d.Sessions()[0]; s.Path() != "/resume" || s.Resumes() != 1 || d.Gateway().Resumed != 1 || d.Gateway().Identified != 1 {
		t.Errorf("the session: %s, %d; %+v", s.Path(), s.Resumes(), d.Gateway())
	}

	// What was seen is repeated when the double is told to overlap.
	d.NextConnections(discordtest.ConnectionFault{OverlapOnReply: 2})
	last := b.seq
	b.resume(last)
	if o := b.want("op", 0); int(o["s"].(float64)) != last-1 {
		t.Errorf("the overlap begins at %v", o["s"])
	}
	b.want("op", 0)
	b.want("t", "RESUMED")

	// A number that was never sent ends the session.
	b.resume(b.seq + 100)
	b.want("close", 4007)
	b.resume(b.seq)
	if o := b.want("op", 9); o["d"] != false {
		t.Errorf("a dead session is answered %v", o)
	}
}

func TestASessionDoesNotLiveForEver(t *testing.T) {
	for name, end := range map[string]func(*discordtest.Server, *bot){
		"a long time": func(d *discordtest.Server, b *bot) {
			d.Sessions()[0].Cut()
			b.next()
			d.Wait(func() bool { return true })
			waitGone(d)
			d.Advance(4 * time.Minute)
		},
		"closed with 1000": func(d *discordtest.Server, b *bot) {
			b.socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""))
			b.next()
			waitGone(d)
		},
		"lost by Discord": func(d *discordtest.Server, b *bot) { d.Sessions()[0].Forget() },
		"closed with 4009": func(d *discordtest.Server, b *bot) {
			d.Sessions()[0].Close(4009)
			b.want("close", 4009)
			waitGone(d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, b := plainGateway(t, discordtest.Options{})
			b.login(nil)
			end(d, b)
			b.resume(b.seq)
			b.want("op", 9)
		})
	}
	t.Run("closed with 4000", func(t *testing.T) {
		d, b := plainGateway(t, discordtest.Options{})
		b.login(nil)
		b.socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4000, ""))
		b.next()
		waitGone(d)
		if c := d.Gateway().Closes; len(c) != 1 || c[0] != 4000 {
			t.Errorf("closed with %v", c)
		}
		b.resume(b.seq)
		b.want("t", "RESUMED")
	})
}

func waitGone(d *discordtest.Server) {
	for len(d.Sessions()) > 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestTooManyDispatchesToReplay(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{Remember: 100})
	b.login(nil)
	first := b.seq
	d.Sessions()[0].Cut()
	b.next()
	waitGone(d)
	s := d.Guild("g").Channel("c")
	for n := range 200 {
		s.Overwrite(nil, 0, 0)
		d.Guild("g").Channel(fmt.Sprint("c", n))
	}
	b.resume(first)
	b.want("op", 9)
}

func TestIdentifiesAreLimited(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{Concurrency: 2, Identifies: 4, Lenient: true})
	of := func(shard int) object { return object{"shard": []int{shard, 8}} }
	b.login(of(0))
	newBot(t, d).login(of(1)) // another key
	third := newBot(t, d)
	third.connect()
	third.say(2, identify(d, of(2))) // the key of shard 0
	if o := third.want("op", 9); o["d"] != false {
		t.Errorf("too early: %v", o)
	}
	d.Advance(5 * time.Second)
	third.say(2, identify(d, of(2)))
	third.want("t", "READY")
	if n := d.Gateway().Left; n != 1 {
		t.Errorf("%d starts are left", n)
	}
	d.Advance(5 * time.Second)
	newBot(t, d).login(of(4))
	// The next one is one too many: everybody is thrown out, the token is void.
	token := d.Token()
	d.Advance(5 * time.Second)
	last := newBot(t, d)
	last.connect()
	last.say(2, identify(d, of(5)))
	last.want("close", 4004)
	b.want("close", 4004)
	b.send("GET", "/users/@me", "Bot "+token, nil, nil).want(t, 401)
}

func TestADayLaterThereAreStartsAgain(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{Identifies: 1})
	b.login(nil)
	d.Advance(24 * time.Hour)
	newBot(t, d).login(nil)
}

// TestMisbehaviour: each fault of a connection as it was ordered.
func TestMisbehaviour(t *testing.T) {
	type fault = discordtest.ConnectionFault
	quiet := func(t *testing.T, b *bot) {
		b.socket.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, text, err := b.socket.ReadMessage(); err == nil {
			t.Errorf("it says %s", text)
		} else if e, ok := err.(net.Error); !ok || !e.Timeout() {
			t.Errorf("it ends: %v", err)
		}
	}
	start := func(t *testing.T, f fault) (*discordtest.Server, *bot) {
		d, b := plainGateway(t, discordtest.Options{})
		d.NextConnections(f)
		return d, b
	}
	bare := func(t *testing.T, f fault) *bot {
		d, b := start(t, f)
		socket, _, err := websocket.DefaultDialer.Dial(strings.Replace(d.Address(), "http", "ws", 1)+"/?v=10", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { socket.Close() })
		b.socket = socket
		return b
	}
	t.Run("refused", func(t *testing.T) {
		d, b := start(t, fault{Refuse: 502})
		_, response, err := websocket.DefaultDialer.Dial(strings.Replace(d.Address(), "http", "ws", 1)+"/?v=10", nil)
		if err == nil || response.StatusCode != 502 {
			t.Error(err)
		}
		b.login(nil) // the next one is well
	})
	t.Run("silent", func(t *testing.T) {
		d, _ := start(t, fault{Silent: true})
		dialer := &websocket.Dialer{HandshakeTimeout: 50 * time.Millisecond}
		if _, _, err := dialer.Dial(strings.Replace(d.Address(), "http", "ws", 1)+"/?v=10", nil); err == nil {
			t.Error("it spoke")
		}
	})
	t.Run("no hello", func(t *testing.T) { quiet(t, bare(t, fault{NoHello: true})) })
	t.Run("a close for hello", func(t *testing.T) { bare(t, fault{HelloClose: 4000}).want("close", 4000) })
	t.Run("no ready", func(t *testing.T) {
		d, b := start(t, fault{NoReady: true})
		b.connect()
		b.say(2, identify(d, nil))
		quiet(t, b)
	})
	for _, op := range []int{7, 9} {
		t.Run(fmt.Sprint("op ", op, " for ready"), func(t *testing.T) {
			d, b := start(t, fault{OnIdentify: op})
			b.connect()
			b.say(2, identify(d, nil))
			b.want("op", op)
		})
		t.Run(fmt.Sprint("op ", op, " for resumed"), func(t *testing.T) {
			d, b := start(t, fault{})
			b.login(nil)
			d.NextConnections(fault{OnResume: op, Resumable: true}, fault{OnResume: 9})
			b.resume(b.seq)
			b.want("op", op)
			b.resume(b.seq)
			b.want("op", 9)
			b.resume(b.seq)
			b.want("op", 9) // that one ended the session
		})
	}
	t.Run("a close for ready", func(t *testing.T) {
		d, b := start(t, fault{IdentifyClose: 4009})
		b.connect()
		b.say(2, identify(d, nil))
		b.want("close", 4009)
	})
	t.Run("no answer to resume", func(t *testing.T) {
		d, b := start(t, fault{})
		b.login(nil)
		d.NextConnections(fault{ResumeClose: 4000}, fault{NoResumed: true}, fault{NoResumed: true})
		b.resume(b.seq)
		b.want("close", 4000)
		b.resume(b.seq)
		quiet(t, b)
		d.Advance(time.Minute) // or it would be too early to identify again
		b.login(nil)
	})
	t.Run("no acks", func(t *testing.T) {
		d, b := start(t, fault{NoAck: true})
		b.login(nil)
		b.say(1, 1)
		d.Guild("g")
		b.event("GUILD_CREATE")
		quiet(t, b)
	})
	t.Run("deaf", func(t *testing.T) {
		d, b := start(t, fault{})
		b.login(nil)
		d.Sessions()[0].Deafen()
		d.Guild("g")
		b.say(1, 1)
		b.want("op", 11)
		quiet(t, b)
	})
	t.Run("a zombie", func(t *testing.T) {
		d, b := start(t, fault{})
		b.login(nil)
		d.Sessions()[0].StopAcks()
		b.say(1, 1)
		quiet(t, b)
	})
	t.Run("a beat at once", func(t *testing.T) {
		_, b := start(t, fault{Beat: true})
		b.connect()
		b.want("op", 1)
	})
	t.Run("op 7", func(t *testing.T) {
		d, b := start(t, fault{})
		b.login(nil)
		d.Sessions()[0].Reconnect()
		b.want("op", 7)
	})
	for _, resumable := range []bool{true, false} {
		t.Run(fmt.Sprint("op 9 ", resumable), func(t *testing.T) {
			d, b := start(t, fault{})
			b.login(nil)
			d.Sessions()[0].Invalidate(resumable)
			if o := b.want("op", 9); o["d"] != resumable {
				t.Errorf("it says %v", o)
			}
			b.resume(b.seq)
			if resumable {
				b.want("t", "RESUMED")
			} else {
				b.want("op", 9)
			}
		})
	}
}

// TestCutAtAnyByte: wherever the connection breaks off, a resume brings the
// rest.
func TestCutAtAnyByte(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{})
	room := d.Guild("Go club").Channel("games")
	alice := d.Guild("Go club").Member("alice")
	b.login(object{"intents": 1 << 9})
	said := 0
	for bytes := 1; bytes < 3000; bytes += 233 {
		d.Sessions()[0].CutAfter(bytes)
		want := b.seq
		for range 5 {
			alice.Say(room, "x")
			said++
		}
		got := 0
		for b.next()["error"] == nil {
			got++
		}
		b.resume(b.seq)
		for {
			o := b.next()
			if o["t"] == "RESUMED" {
				break
			}
			got++
		}
		if got != 5 || b.seq != want+6 {
			t.Fatalf("cut after %d bytes, %d of 5 came", bytes, got)
		}
	}
	if n := len(room.Messages()); n != said {
		t.Errorf("%d of %d messages", n, said)
	}
}

func TestNoHeartbeatsNoConnection(t *testing.T) {
	_, b := plainGateway(t, discordtest.Options{Heartbeat: 20 * time.Millisecond, Grace: 20 * time.Millisecond})
	b.connect()
	b.want("close", 4000)
}

func TestIntents(t *testing.T) {
	for _, c := range []struct {
		intents int
		gets    string // in order
		content string
	}{
		{0, "INTERACTION_CREATE", ""},
		{1, "GUILD_CREATE CHANNEL_CREATE INTERACTION_CREATE", ""},
		{1 << 9, "MESSAGE_CREATE INTERACTION_CREATE", ""},
		{1<<9 | 1<<15, "MESSAGE_CREATE INTERACTION_CREATE", "Hello"},
		{1 << 12, "INTERACTION_CREATE MESSAGE_CREATE", "Hello"},
	} {
		d, b := plainGateway(t, discordtest.Options{Privileged: 1 << 15})
		club := d.Guild("Go club")
		alice := club.Member("alice")
		b.register(slash("go"))
		b.login(object{"intents": c.intents})
		room := club.Channel("games")
		alice.Say(room, "Hello")
		alice.Slash(room, "go")
		alice.Say(alice.DM(), "Hello")
		var got []string
		content := ""
		for len(got) < len(strings.Fields(c.gets)) {
			o := b.next()
			got = append(got, o["t"].(string))
			if o["t"] == "MESSAGE_CREATE" {
				content = o["d"].(object)["content"].(string)
			}
		}
		if strings.Join(got, " ") != c.gets || content != c.content {
			t.Errorf("intents %d bring %v with %q", c.intents, got, content)
		}
		b.say(1, nil)
		b.want("op", 11) // and nothing more
	}
}

// TestShards: what is of a guild goes to its shard, what is of none to shard 0.
func TestShards(t *testing.T) {
	d, first := plainGateway(t, discordtest.Options{Concurrency: 3})
	bots := []*bot{first, newBot(t, d), newBot(t, d)}
	first.register(slash("go"))
	for n, b := range bots {
		b.login(object{"shard": []int{n, 3}, "intents": 0})
	}
	alice := d.Person("alice")
	used := map[int]bool{}
	for n := range 6 {
		g := d.Guild(fmt.Sprint("g", n))
		g.Member("alice")
		i := alice.Slash(g.Channel("c"), "go")
		var id uint64
		fmt.Sscan(g.ID(), &id)
		shard := int(id >> 22 % 3)
		used[shard] = true
		if got := bots[shard].event("INTERACTION_CREATE"); got["id"] != i.ID() {
			t.Errorf("guild %d: another interaction", n)
		}
	}
	if len(used) != 3 {
		t.Errorf("the guilds fall to %d shards", len(used))
	}
	i := alice.Slash(alice.DM(), "go")
	if got := bots[0].event("INTERACTION_CREATE"); got["id"] != i.ID() {
		t.Error("direct messages do not go to shard 0")
	}
	i.Again()
	if got := bots[0].event("INTERACTION_CREATE"); got["id"] != i.ID() {
		t.Error("not delivered again")
	}
}

func TestCompression(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{IdentifyEvery: time.Nanosecond})
	address := strings.Replace(d.Address(), "http", "ws", 1) + "/?v=10&encoding=json"
	// Of the transport: one stream over all frames, each flushed.
	socket, _, err := websocket.DefaultDialer.Dial(address+"&compress=zlib-stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	in, out := io.Pipe()
	defer in.Close()
	next := func() {
		kind, text, err := socket.ReadMessage()
		if err != nil || kind != websocket.BinaryMessage || !bytes.HasSuffix(text, []byte{0, 0, 0xff, 0xff}) {
			t.Errorf("a frame of type %d ends with % x (%v)", kind, text[max(0, len(text)-4):], err)
		}
		go out.Write(text)
	}
	next()
	stream, err := zlib.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	read := json.NewDecoder(stream)
	var o object
	if err := read.Decode(&o); err != nil || o["op"] != 10.0 {
		t.Fatalf("%v, %v", o, err)
	}
	socket.WriteJSON(object{"op": 2, "d": identify(d, nil)})
	next()
	if err := read.Decode(&o); err != nil || o["t"] != "READY" {
		t.Fatalf("%v, %v", o, err)
	}
	// Of the payload.
	d.Advance(time.Second)
	b.connect()
	b.say(2, identify(d, object{"compress": true}))
	kind, text, err := b.socket.ReadMessage()
	if err != nil || kind != websocket.BinaryMessage {
		t.Fatal(kind, err)
	}
	payload, err := zlib.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(payload).Decode(&o); err != nil || o["t"] != "READY" {
		t.Fatalf("%v, %v", o, err)
	}
}

func TestGuildsComeAndGo(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{})
	b.login(nil)
	club := d.Guild("Go club")
	b.event("GUILD_CREATE")
	club.Kick()
	if g := b.event("GUILD_DELETE"); g["id"] != club.ID() || g["unavailable"] != nil {
		t.Errorf("GUILD_DELETE is %v", g)
	}
	club.Invite()
	b.event("GUILD_CREATE")
	room := club.Channel("games")
	b.event("CHANNEL_CREATE")
	m := b.do("POST", "/channels/"+room.ID()+"/messages", object{"content": "x"}).want(t, 200)
	b.do("POST", "/channels/"+room.ID()+"/messages/"+m.id()+"/threads", object{"name": "t"}).want(t, 201)
	b.event("THREAD_CREATE")
	room.Threads()[0].Lock()
	if c := b.event("THREAD_UPDATE"); c["thread_metadata"].(object)["locked"] != true {
		t.Errorf("THREAD_UPDATE is %v", c)
	}
	room.Delete()
	b.event("CHANNEL_DELETE")
	club.Outage(true)
	if g := b.event("GUILD_DELETE"); g["unavailable"] != true {
		t.Errorf("GUILD_DELETE is %v", g)
	}
	club.Outage(false)
	d.Change(func(event string, data map[string]any) { data["new"] = event })
	club.Outage(false)
	b.event("GUILD_CREATE")
	if g := b.event("GUILD_CREATE"); g["new"] != "GUILD_CREATE" {
		t.Errorf("GUILD_CREATE is not changed")
	}
	d.Change(nil)
	d.Dispatch("SOMETHING_NEW", object{"x": 1})
	if o := b.event("SOMETHING_NEW"); o["x"] != 1.0 {
		t.Errorf("it is %v", o)
	}
}

// TestInteractionsByPost: the handshake, the signature, an answer in the body
// or by REST.
func TestInteractionsByPost(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{})
	room := d.Guild("Go club").Channel("games")
	alice := d.Guild("Go club").Member("alice")
	b.register(slash("go"))
	e := &endpoint{t: t, key: d.PublicKey()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: e}
	go web.Serve(listener)
	defer web.Shutdown(context.Background()) //nolint:errcheck // waits for the handlers, which use the test
	address := "http://" + listener.Addr().String() + "/interactions"

	for _, fault := range []string{"trusting", "no pong", "as text"} {
		e.fault = fault
		if d.SetEndpoint(address) == nil {
			t.Errorf("%s: the endpoint was taken", fault)
		}
	}
	e.fault = ""
	if err := d.SetEndpoint(address); err != nil {
		t.Fatal(err)
	}
	if a := b.do("GET", "/applications/@me", nil).want(t, 200); a.object["interactions_endpoint_url"] != address {
		t.Errorf("the application has %v", a.object["interactions_endpoint_url"])
	}
	e.answer = func(got object) (int, string, string) {
		return 200, "application/json", `{"type":4,"data":{"content":"By post."}}`
	}
	i := alice.Slash(room, "go")
	if m := i.Answer(); m == nil || m.Content != "By post." {
		t.Errorf("the answer is %+v", m)
	}
	b.hook("POST", "/webhooks/"+d.Application()+"/"+i.Token(), object{"content": "And more."}).want(t, 200)
	e.answer = func(got object) (int, string, string) {
		return 200, "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n" +
			`{"type":4,"data":{"attachments":[{"id":"0","description":"A board."}]}}` +
			"\r\n--b\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"b.png\"\r\n\r\nx\r\n--b--\r\n"
	}
	if m := alice.Slash(room, "go").Answer(); m == nil || m.Attachments[0].Alt != "A board." {
		t.Errorf("the answer is %+v", m)
	}
	e.answer = func(got object) (int, string, string) {
		b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "By REST."}}).want(t, 204)
		return 202, "", ""
	}
	if m := alice.Slash(room, "go").Answer(); m == nil || m.Content != "By REST." {
		t.Errorf("the answer is %+v", m)
	}
	if err := d.SetEndpoint(""); err != nil {
		t.Fatal(err)
	}
	b.login(nil)
	alice.Slash(room, "go")
	b.event("INTERACTION_CREATE")
}

// TestAWrongAnswerToAPost is a violation, and the person sees that it failed.
func TestAWrongAnswerToAPost(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{Lenient: true})
	room := d.Guild("Go club").Channel("games")
	alice := d.Guild("Go club").Member("alice")
	b.register(slash("go"))
	e := &endpoint{t: t, key: d.PublicKey()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: e}
	go web.Serve(listener)
	defer web.Shutdown(context.Background()) //nolint:errcheck // waits for the handlers, which use the test
	if err := d.SetEndpoint("http://" + listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	for n, body := range []string{`{"type":4,"data":{"contnet":"x"}}`, `{"type":8,"data":{"choices":[]}}`, `{"type":4,"data":{"content":""}}`, `x`} {
		e.answer = func(got object) (int, string, string) { return 200, "application/json", body }
		i := alice.Slash(room, "go")
		for len(d.Violations()) != n+1 {
			time.Sleep(time.Millisecond)
		}
		d.Advance(4 * time.Second)
		if !i.Failed() {
			t.Errorf("%s was taken", body)
		}
	}
}
