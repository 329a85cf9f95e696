package discordtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

type object = map[string]any

// A bot is a client without a library: what it sends is what the test says.
type bot struct {
	t      testing.TB
	d      *discordtest.Server
	http   *http.Client
	dialer websocket.Dialer
	socket *websocket.Conn
	seq    int
	ready  object
}

func newBot(t testing.TB, d *discordtest.Server) *bot {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &bot{t: t, d: d, http: &http.Client{Transport: transport}}
}

// A file is one to upload.
type file struct {
	name string
	data []byte
}

// An answer is what the double said; body is JSON where it is.
type answer struct {
	status int
	header http.Header
	text   []byte
	object object
	list   []any
	err    error
}

func (a answer) code() int { n, _ := a.object["code"].(float64); return int(n) }
func (a answer) id() string {
	id, _ := a.object["id"].(string)
	return id
}

// do sends a request with the bot's token.
func (b *bot) do(method, path string, body any, files ...file) answer {
	return b.send(method, path, "Bot "+b.d.Token(), body, files)
}

// hook sends a request without it, as interaction routes want.
func (b *bot) hook(method, path string, body any, files ...file) answer {
	return b.send(method, path, "", body, files)
}

func (b *bot) send(method, path, authorization string, body any, files []file) answer {
	b.t.Helper()
	var text bytes.Buffer
	kind := "application/json"
	payload, isText := body.(string)
	if !isText && body != nil {
		j, err := json.Marshal(body)
		if err != nil {
			b.t.Fatal(err)
		}
		payload = string(j)
	}
	if files == nil {
		text.WriteString(payload)
	} else {
		w := multipart.NewWriter(&text)
		w.WriteField("payload_json", payload)
		for i, f := range files {
			h := textproto.MIMEHeader{}
			h.Set("Content-Disposition", fmt.Sprintf(`form-data; name="files[%d]"; filename="%s"`, i, f.name))
			h.Set("Content-Type", "application/octet-stream")
			part, _ := w.CreatePart(h)
			part.Write(f.data)
		}
		w.Close()
		kind = w.FormDataContentType()
	}
	r, err := http.NewRequest(method, b.d.API()+path, &text)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("User-Agent", "DiscordBot (https://example.org, 1)")
	r.Header.Set("Content-Type", kind)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	response, err := b.http.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header}
	if a.text, err = io.ReadAll(response.Body); err != nil {
		return answer{err: err}
	}
	json.Unmarshal(a.text, &a.object)
	json.Unmarshal(a.text, &a.list)
	return a
}

// want fails unless the status, and Discord's code where given, are these.
func (a answer) want(t testing.TB, status int, code ...int) answer {
	t.Helper()
	if a.err != nil || a.status != status || len(code) > 0 && a.code() != code[0] {
		t.Fatalf("answered %d %s (%v), wanted %d %v", a.status, a.text, a.err, status, code)
	}
	return a
}

// register sets the global commands.
func (b *bot) register(commands ...object) {
	b.t.Helper()
	b.do("PUT", "/applications/"+b.d.Application()+"/commands", commands).want(b.t, 200)
}

// connect opens a gateway connection and reads hello.
func (b *bot) connect() object {
	b.t.Helper()
	a := b.do("GET", "/gateway/bot", nil).want(b.t, 200)
	return b.dial(a.object["url"].(string) + "?v=10&encoding=json")
}

func (b *bot) dial(address string) object {
	b.t.Helper()
	b.open(address)
	hello := b.next()
	if hello["op"] != 10.0 {
		b.t.Fatalf("the first payload is %v", hello)
	}
	return hello
}

func (b *bot) open(address string) {
	b.t.Helper()
	socket, _, err := b.dialer.Dial(address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.socket = socket
	b.t.Cleanup(func() { socket.Close() })
}

func (b *bot) say(op int, d any) {
	b.t.Helper()
	if err := b.socket.WriteJSON(object{"op": op, "d": d}); err != nil {
		b.t.Fatal(err)
	}
}

// next is the next payload, {"close": code}, or {"error": text} when the
// connection was cut.
func (b *bot) next() object {
	b.t.Helper()
	_, text, err := b.socket.ReadMessage()
	if err != nil {
		if c, ok := err.(*websocket.CloseError); ok && c.Code != websocket.CloseAbnormalClosure {
			return object{"close": c.Code}
		}
		return object{"error": err.Error()}
	}
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		b.t.Fatalf("%q: %v", text, err)
	}
	if o["op"] == 0.0 {
		b.seq = int(o["s"].(float64))
	}
	return o
}

// event reads on to the next dispatch of that name and is its data.
func (b *bot) event(name string) object {
	b.t.Helper()
	for {
		o := b.next()
		if o["t"] == name {
			d, _ := o["d"].(object)
			return d
		}
		if o["close"] != nil || o["error"] != nil {
			b.t.Fatalf("no %s: %v", name, o)
		}
	}
}

func identify(d *discordtest.Server, more object) object {
	o := object{"token": d.Token(), "intents": 1, "properties": object{"os": "linux", "browser": "test", "device": "test"}}
	for key, v := range more {
		o[key] = v
	}
	return o
}

func (b *bot) login(more object) {
	b.t.Helper()
	b.connect()
	b.say(2, identify(b.d, more))
	b.ready = b.event("READY")
}

func slash(name string, options ...object) object {
	return object{"name": name, "description": "Does " + name, "type": 1, "options": options, "contexts": []int{0, 1, 2}, "integration_types": []int{0, 1}}
}

func callbackPath(i object) string {
	return "/interactions/" + i["id"].(string) + "/" + i["token"].(string) + "/callback"
}

func (b *bot) hookPath(i object, rest string) string {
	return "/webhooks/" + b.d.Application() + "/" + i["token"].(string) + rest
}
