package discordtest_test

import (
	"bufio"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/memnet"
)

// want reads the next payload, in which key must have that value.
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

// plainGateway is a double without limits in the way, and a bot that is not logged in.
func plainGateway(t *testing.T, o discordtest.Options) (*discordtest.Server, *bot) {
	o.Now = func() time.Time { return noon }
	o.Limits = discordtest.NoLimits()
	d := discordtest.New(t, o)
	b := newBot(t, d)
	if o.Network != nil {
		b.http.Transport.(*http.Transport).DialContext = o.Network.DialContext
		b.dialer.NetDialContext = o.Network.DialContext
	}
	return d, b
}

func gatewayOf(d *discordtest.Server) string { return strings.Replace(d.Address(), "http", "ws", 1) }

// TestCloseCodes does what each code is documented for.
func TestCloseCodes(t *testing.T) {
	identifies := func(more object) func(*bot) { return func(b *bot) { b.say(2, identify(b.d, more)) } }
	writes := func(text string) func(*bot) {
		return func(b *bot) { b.socket.WriteMessage(websocket.TextMessage, []byte(text)) }
	}
	for _, c := range []struct {
		code int
		name string
		say  func(*bot)
	}{
		{4001, "an unknown opcode", func(b *bot) { b.say(99, nil) }},
		{4002, "no JSON", writes("hello")},
		{4002, "no object", writes("5")},
		{4002, "more than 4096 bytes", identifies(object{"x": strings.Repeat("x", 4096)})},
		{4002, "no properties", identifies(object{"properties": nil})},
		{4003, "too early", func(b *bot) { b.say(3, object{"status": "online"}) }},
		{4004, "a wrong token", identifies(object{"token": "wrong"})},
		{4004, "a wrong token to resume", func(b *bot) { b.say(6, object{"token": "wrong", "session_id": "x", "seq": 1}) }},
		{4010, "a shard beyond the last", identifies(object{"shard": []int{2, 2}})},
		{4010, "half a shard", identifies(object{"shard": []int{0}})},
		{4013, "an unknown intent", identifies(object{"intents": 1 << 30})},
		{4014, "a privileged intent", identifies(object{"intents": 1 << 15})},
		{4005, "twice", func(b *bot) {
			b.say(2, identify(b.d, nil))
			b.want("t", "READY")
			b.say(2, identify(b.d, nil))
		}},
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
		b.open(gatewayOf(d) + "/?v=6")
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
	if s := d.Sessions()[0]; s.Path() != "/resume" || d.Gateway().Resumed != 1 || d.Gateway().Identified != 1 {
		t.Errorf("the session: %s; %+v", s.Path(), d.Gateway())
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

// TestASessionDoesNotLiveForEver, but longer than its connection.
func TestASessionDoesNotLiveForEver(t *testing.T) {
	closes := func(code int) func(*discordtest.Server, *bot) {
		return func(_ *discordtest.Server, b *bot) {
			b.socket.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
		}
	}
	for name, c := range map[string]struct {
		end     func(*discordtest.Server, *bot)
		after   func(*discordtest.Server)
		resumes bool
	}{
		"a long time":      {end: func(d *discordtest.Server, _ *bot) { d.Sessions()[0].Cut() }, after: func(d *discordtest.Server) { d.Advance(4 * time.Minute) }},
		"forgotten":        {end: func(d *discordtest.Server, _ *bot) { d.Sessions()[0].Cut() }, after: func(d *discordtest.Server) { d.Guild("g"); d.Forget() }},
		"lost by Discord":  {end: func(d *discordtest.Server, _ *bot) { s := d.Sessions()[0]; s.Cut(); s.Forget() }},
		"closed with 1000": {end: closes(1000)},
		"closed with 4009": {end: func(d *discordtest.Server, _ *bot) { d.Sessions()[0].Close(4009) }},
		"closed with 4000": {end: closes(4000), resumes: true},
		"invalidated": {end: func(d *discordtest.Server, b *bot) {
			d.Sessions()[0].Invalidate(false)
			b.want("op", 9)
			b.socket.Close()
		}},
		"invalidated, resumable": {end: func(d *discordtest.Server, b *bot) {
			d.Sessions()[0].Invalidate(true)
			b.want("op", 9)
			b.socket.Close()
		}, resumes: true},
		"told to reconnect": {end: func(d *discordtest.Server, b *bot) { d.Sessions()[0].Reconnect(); b.want("op", 7); b.socket.Close() }, resumes: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, b := plainGateway(t, discordtest.Options{Network: &memnet.Network{}})
				b.login(nil)
				c.end(d, b)
				b.next()
				synctest.Wait() // until the double knows that the connection has ended
				if codes := d.Gateway().Closes; name == "closed with 4000" && (len(codes) != 1 || codes[0] != 4000) {
					t.Errorf("closed with %v", codes)
				}
				if c.after != nil {
					c.after(d)
				}
				b.resume(b.seq)
				if c.resumes {
					b.want("t", "RESUMED")
				} else {
					b.want("op", 9)
				}
			})
		})
	}
}

func TestIdentifiesAreLimited(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{Concurrency: 2, Identifies: 3, Lenient: true})
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
	d.Advance(5 * time.Second)
	last := newBot(t, d)
	last.connect()
	last.say(2, identify(d, of(3)))
	last.want("close", 4004) // one too many
	d.Advance(24 * time.Hour)
	newBot(t, d).login(of(3))
}

// TestMisbehaviour: each fault of a connection as it was ordered, and the next
// connection is well.
func TestMisbehaviour(t *testing.T) {
	type fault = discordtest.ConnectionFault
	for name, c := range map[string]struct {
		fault fault
		hears string // when it identifies after hello, and sends a heartbeat after READY
	}{
		"refused":               {fault{Refuse: 502}, "502"},
		"silent":                {fault{Silent: true}, "nothing"},
		"no hello":              {fault{NoHello: true}, "nothing"},
		"a close for hello":     {fault{HelloClose: 4000}, "close 4000"},
		"a beat at once":        {fault{Beat: true}, "op 10, op 1"},
		"no ready":              {fault{NoReady: true}, "op 10, nothing"},
		"a close for ready":     {fault{IdentifyClose: 4009}, "op 10, close 4009"},
		"op 7 for ready":        {fault{OnIdentify: 7}, "op 10, op 7"},
		"op 9 for ready":        {fault{OnIdentify: 9}, "op 10, op 9"},
		"cut in a frame":        {fault{CutAfter: 200}, "op 10, cut"},
		"nothing is the matter": {fault{}, "op 10, READY, op 11"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := &memnet.Network{}
				d, b := plainGateway(t, discordtest.Options{Network: network})
				d.NextConnections(c.fault)
				if heard := strings.Join(b.hears(network), ", "); heard != c.hears {
					t.Errorf("it hears %s", heard)
				}
				synctest.Wait()
				d.Advance(time.Minute) // or it would be too early to identify again
				if heard := strings.Join(b.hears(network), ", "); heard != "op 10, READY, op 11" {
					t.Errorf("then it hears %s", heard)
				}
			})
		})
	}
}

// hears opens a connection, identifies after hello, sends a heartbeat after READY, and
// returns what it is told until nothing comes for a second.
func (b *bot) hears(network *memnet.Network) (heard []string) {
	dialer := &websocket.Dialer{NetDialContext: network.DialContext, HandshakeTimeout: time.Second}
	socket, response, err := dialer.Dial(gatewayOf(b.d)+"/?v=10", nil)
	if err == nil {
		defer socket.Close()
	}
	for err == nil {
		var o object
		socket.SetReadDeadline(time.Now().Add(time.Second))
		if err = socket.ReadJSON(&o); err != nil {
			break
		}
		told := fmt.Sprint("op ", o["op"])
		if o["op"] == 0.0 {
			told = o["t"].(string)
		}
		heard = append(heard, told)
		switch told {
		case "op 10":
			socket.WriteJSON(object{"op": 2, "d": identify(b.d, nil)})
		case "READY":
			socket.WriteJSON(object{"op": 1, "d": 1})
		default:
			return heard
		}
	}
	var timeout net.Error
	var closed *websocket.CloseError
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return append(heard, "nothing")
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return append(heard, fmt.Sprint("close ", closed.Code))
	case response != nil && response.StatusCode != 101:
		return append(heard, fmt.Sprint(response.StatusCode))
	}
	return append(heard, "cut")
}

func TestNoHeartbeatsNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &memnet.Network{}
		d := discordtest.New(t, discordtest.Options{Network: network})
		dialer := &websocket.Dialer{NetDialContext: network.DialContext}
		socket, _, err := dialer.Dial(gatewayOf(d)+"/?v=10", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		began := time.Now()
		for err == nil {
			_, _, err = socket.ReadMessage()
		}
		if took := time.Since(began); !websocket.IsCloseError(err, 4000) || took < 41250*time.Millisecond || took > 90*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestIntents(t *testing.T) {
	for _, c := range []struct {
		intents int
		gets    string // in order
		content string
	}{
		{0, "INTERACTION_CREATE", ""},
		{1, "GUILD_CREATE CHANNEL_CREATE THREAD_CREATE INTERACTION_CREATE THREAD_UPDATE CHANNEL_DELETE GUILD_DELETE GUILD_CREATE", ""},
		{1 << 9, "MESSAGE_CREATE MESSAGE_CREATE MESSAGE_UPDATE INTERACTION_CREATE", ""},
		{1<<9 | 1<<15, "MESSAGE_CREATE MESSAGE_CREATE MESSAGE_UPDATE INTERACTION_CREATE", "Hello"},
		{1 << 12, "INTERACTION_CREATE MESSAGE_CREATE", "Hello"},
	} {
		d, b := plainGateway(t, discordtest.Options{Privileged: 1 << 15})
		club := d.Guild("Go club")
		alice := club.Member("alice")
		b.register(slash("go"))
		b.login(object{"intents": c.intents})
		room := club.Channel("games")
		path := "/channels/" + room.ID() + "/messages"
		sent := b.do("POST", path, object{"content": "Mine"}).want(t, 200)
		alice.Say(room, "Hello")
		b.do("PATCH", path+"/"+sent.id(), object{"content": "Mine, changed"}).want(t, 200)
		b.do("POST", path+"/"+sent.id()+"/threads", object{"name": "t"}).want(t, 201)
		alice.Slash(room, "go")
		alice.Say(alice.DM(), "Hello")
		room.Threads()[0].Lock()
		room.Delete()
		club.Kick()
		club.Invite()
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
	arrives := func(c *discordtest.Channel, shard int) {
		i := alice.Slash(c, "go")
		if got := bots[shard].event("INTERACTION_CREATE"); got["id"] != i.ID() {
			t.Errorf("shard %d gets another interaction", shard)
		}
	}
	used := map[int]bool{}
	for n := range 6 {
		g := d.Guild(fmt.Sprint("g", n))
		g.Member("alice")
		var id uint64
		fmt.Sscan(g.ID(), &id)
		shard := int(id >> 22 % 3)
		used[shard] = true
		arrives(g.Channel("c"), shard)
	}
	if len(used) != 3 {
		t.Errorf("the guilds fall to %d shards", len(used))
	}
	arrives(alice.DM(), 0)
}

// TestInteractionsByPost: the handshake, the signature, an answer in the body
// or by REST; a wrong answer is a violation, and the person sees that it failed.
func TestInteractionsByPost(t *testing.T) {
	d, b := plainGateway(t, discordtest.Options{Lenient: true})
	room := d.Guild("Go club").Channel("games")
	alice := d.Guild("Go club").Member("alice")
	b.register(slash("go"))
	key, _ := hex.DecodeString(d.PublicKey())
	var trusting bool
	pongType := "text/plain"
	answers := make(chan [2]string, 1) // media type and body of each answer
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		signature, _ := hex.DecodeString(r.Header.Get("X-Signature-Ed25519"))
		signed := append([]byte(r.Header.Get("X-Signature-Timestamp")), body...)
		switch {
		case !trusting && (len(signature) != ed25519.SignatureSize || !ed25519.Verify(key, signed, signature)):
			w.WriteHeader(401)
		case strings.Contains(string(body), `"type":1,`):
			w.Header().Set("Content-Type", pongType)
			io.WriteString(w, `{"type":1}`)
		default:
			answer := <-answers
			w.Header().Set("Content-Type", answer[0])
			if answer[1] == "" {
				w.WriteHeader(202)
			}
			io.WriteString(w, answer[1])
		}
	}))
	defer web.Close()
	if d.SetEndpoint(web.URL) == nil {
		t.Error("an endpoint whose PONG is no JSON was taken")
	}
	pongType, trusting = "application/json", true
	if d.SetEndpoint(web.URL) == nil {
		t.Error("an endpoint that trusts any signature was taken")
	}
	trusting = false
	if err := d.SetEndpoint(web.URL); err != nil {
		t.Fatal(err)
	}
	if a := b.do("GET", "/applications/@me", nil).want(t, 200); a.object["interactions_endpoint_url"] != web.URL {
		t.Errorf("the application has %v", a.object["interactions_endpoint_url"])
	}

	asks := func(kind, body string) *discordtest.Interaction {
		answers <- [2]string{kind, body}
		return alice.Slash(room, "go")
	}
	i := asks("application/json", `{"type":4,"data":{"content":"By post."}}`)
	if m := i.Answer(); m == nil || m.Content != "By post." {
		t.Errorf("the answer is %+v", m)
	}
	b.hook("POST", "/webhooks/"+d.Application()+"/"+i.Token(), object{"content": "And more."}).want(t, 200)
	m := asks("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n"+
		`{"type":4,"data":{"attachments":[{"id":"0","description":"A board."}]}}`+
		"\r\n--b\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"b.png\"\r\n\r\nx\r\n--b--\r\n").Answer()
	if m == nil || m.Attachments[0].Alt != "A board." {
		t.Errorf("the answer is %+v", m)
	}
	i = asks("text/plain", "")
	b.hook("POST", "/interactions/"+i.ID()+"/"+i.Token()+"/callback", object{"type": 4, "data": object{"content": "By REST."}}).want(t, 204)
	if m := i.Answer(); m == nil || m.Content != "By REST." {
		t.Errorf("the answer is %+v", m)
	}

	for n, body := range []string{`{"type":4,"data":{"contnet":"x"}}`, `{"type":8,"data":{"choices":[]}}`, `{"type":4,"data":{"content":""}}`, `x`} {
		i := asks("application/json", body)
		for len(d.Violations()) != n+1 {
			time.Sleep(time.Millisecond)
		}
		d.Advance(4 * time.Second)
		if !i.Failed() {
			t.Errorf("%s was taken", body)
		}
	}
}

// TestConnectionInReserve uses a connection long after it was opened: clients open more
// than they need at once.
func TestConnectionInReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &memnet.Network{}
		d := discordtest.New(t, discordtest.Options{Network: network})
		conn, err := network.DialContext(t.Context(), "tcp", strings.TrimPrefix(d.Address(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		time.Sleep(time.Hour)
		r, err := http.NewRequest(http.MethodGet, d.API()+"/gateway", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", "DiscordBot (https://example.org, 1)")
		if err := r.Write(conn); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Error(resp.Status)
		}
	})
}
