package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"go.uber.org/goleak"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Secrets that must stay where they belong.
const (
	token        = "canary-bot-token"
	webhookToken = "canary-interaction-token"
)

// An asked is a request as a server would see it.
type asked struct {
	at     time.Time
	method string
	path   string
	header http.Header
	kind   string
	body   []byte
}

// json is the body, or the part of it that says so.
func (a asked) json(t *testing.T) map[string]any {
	t.Helper()
	data := a.body
	if parts := a.parts(t); parts != nil {
		data = []byte(parts["payload_json"])
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("body %q: %v", data, err)
	}
	return v
}

// parts are those of a multipart body, by name.
func (a asked) parts(t *testing.T) map[string]string {
	t.Helper()
	kind, params, _ := mime.ParseMediaType(a.kind)
	if kind != "multipart/form-data" {
		return nil
	}
	parts := map[string]string{}
	r := multipart.NewReader(bytes.NewReader(a.body), params["boundary"])
	for {
		p, err := r.NextPart()
		if err == io.EOF {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(p)
		parts[p.FormName()] = string(data)
	}
}

// A discord answers requests in memory, so that time can be a bubble's.
type discord struct {
	mu     sync.Mutex
	asked  []asked
	answer func(asked) answer
}

// An answer is what comes back. Lost: nothing does, though the request arrived.
// Unsent: it did not arrive.
type answer struct {
	status int
	header map[string]string
	body   string
	lost   bool
	unsent bool
	cut    bool
	after  time.Duration
}

func (d *discord) RoundTrip(r *http.Request) (*http.Response, error) {
	a := asked{at: time.Now(), method: r.Method, path: r.URL.RequestURI(), header: r.Header, kind: r.Header.Get("Content-Type")}
	if r.Body != nil {
		a.body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	said := d.answer(a)
	if said.unsent {
		return nil, fmt.Errorf("dial %s with %s: refused", r.URL, r.Header.Get("Authorization"))
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		trace.WroteHeaders()
	}
	d.mu.Lock()
	d.asked = append(d.asked, a)
	d.mu.Unlock()
	if err := backoff.Sleep(r.Context(), said.after); err != nil {
		return nil, err
	}
	if said.lost {
		return nil, fmt.Errorf("reading from %s: reset", r.URL)
	}
	if said.status == 0 {
		said.status = 200
	}
	h := http.Header{}
	for name, value := range said.header {
		h.Set(name, value)
	}
	if said.body == "" && said.status != 204 {
		said.body = `{"id":"1"}`
	}
	var body io.Reader = strings.NewReader(said.body)
	if said.cut {
		body = io.MultiReader(strings.NewReader(said.body[:len(said.body)/2]), cutReader{r.URL.String()})
	}
	return &http.Response{StatusCode: said.status, Header: h, Body: io.NopCloser(body), Request: r}, nil
}

type cutReader struct{ url string }

func (c cutReader) Read([]byte) (int, error) { return 0, fmt.Errorf("reading from %s: reset", c.url) }

func (d *discord) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

func (d *discord) last() asked {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked[len(d.asked)-1]
}

// always answers the same.
func always(a answer) func(asked) answer { return func(asked) answer { return a } }

func newClient(t *testing.T, d *discord, change func(*Config)) *Client {
	t.Helper()
	if d.answer == nil {
		d.answer = always(answer{})
	}
	cfg := Config{Token: secret.New(token), Application: "77", Version: "1.2", Patience: 2 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.http.Transport = d
	return c
}

// only keeps the error of a request.
func only[T any](_ T, err error) error { return err }

// routes is everything that can be asked.
var routes = []struct {
	want string
	open bool
	safe bool
	ask  func(context.Context, *Client) error
}{
	{"POST /interactions/5/" + webhookToken + "/callback?with_response=true", true, false, func(ctx context.Context, c *Client) error {
		return only(c.Respond(ctx, "5", webhookToken, Reply(Message{Content: new("x")})))
	}},
	{"POST /interactions/5/" + webhookToken + "/callback", true, false, func(ctx context.Context, c *Client) error {
		return only(c.Respond(ctx, "5", webhookToken, Defer(Ephemeral)))
	}},
	{"GET /webhooks/77/" + webhookToken + "/messages/@original", true, true, func(ctx context.Context, c *Client) error { return only(c.Original(ctx, webhookToken)) }},
	{"PATCH /webhooks/77/" + webhookToken + "/messages/@original", true, true, func(ctx context.Context, c *Client) error { return only(c.EditOriginal(ctx, webhookToken, Message{})) }},
	{"DELETE /webhooks/77/" + webhookToken + "/messages/@original", true, true, func(ctx context.Context, c *Client) error { return c.DeleteOriginal(ctx, webhookToken) }},
	{"POST /webhooks/77/" + webhookToken + "?wait=true", true, false, func(ctx context.Context, c *Client) error {
		return only(c.FollowUp(ctx, webhookToken, Message{Content: new("x")}))
	}},
	{"PATCH /webhooks/77/" + webhookToken + "/messages/9", true, true, func(ctx context.Context, c *Client) error {
		return only(c.EditFollowUp(ctx, webhookToken, "9", Message{}))
	}},
	{"POST /channels/3/messages", false, false, func(ctx context.Context, c *Client) error { return only(c.Send(ctx, "3", Message{Content: new("x")})) }},
	{"POST /channels/3/messages", false, true, func(ctx context.Context, c *Client) error {
		return only(c.Send(ctx, "3", Message{Content: new("x"), Nonce: Nonce("p")}))
	}},
	{"PATCH /channels/3/messages/4", false, true, func(ctx context.Context, c *Client) error { return only(c.Edit(ctx, "3", "4", Message{})) }},
	{"DELETE /channels/3/messages/4", false, true, func(ctx context.Context, c *Client) error { return c.Delete(ctx, "3", "4") }},
	{"GET /channels/3/messages?after=2&limit=50", false, true, func(ctx context.Context, c *Client) error { return only(c.Messages(ctx, "3", "2", 50)) }},
	{"GET /channels/3", false, true, func(ctx context.Context, c *Client) error { return only(c.Channel(ctx, "3")) }},
	{"POST /channels/3/messages/4/threads", false, false, func(ctx context.Context, c *Client) error {
		return only(c.StartThreadUnder(ctx, "3", "4", NewThread{Name: "Game 1"}))
	}},
	{"POST /users/@me/channels", false, true, func(ctx context.Context, c *Client) error { return only(c.DM(ctx, "8")) }},
	{"GET /gateway/bot", false, true, func(ctx context.Context, c *Client) error { return only(c.GatewayBot(ctx)) }},
	{"GET /applications/@me", false, true, func(ctx context.Context, c *Client) error { return only(c.App(ctx)) }},
	{"GET /users/@me", false, true, func(ctx context.Context, c *Client) error { return only(c.Me(ctx)) }},
	{"GET /applications/77/commands?with_localizations=true", false, true, func(ctx context.Context, c *Client) error { return only(c.Commands(ctx, "")) }},
	{"PUT /applications/77/guilds/6/commands", false, true, func(ctx context.Context, c *Client) error { return only(c.PutCommands(ctx, "6", []any{})) }},
	{"GET /guilds/6", false, true, func(ctx context.Context, c *Client) error { return only(c.Guild(ctx, "6")) }},
	{"GET /guilds/6/members/8", false, true, func(ctx context.Context, c *Client) error { return only(c.Member(ctx, "6", "8")) }},
}

// array is what an answer must be where several are asked for.
func array(path string) string {
	if strings.Contains(path, "commands") || strings.Contains(path, "messages?") {
		return `[{"id":"1"}]`
	}
	return `{"id":"1"}`
}

func TestRoutes(t *testing.T) {
	for _, r := range routes {
		d := &discord{answer: func(a asked) answer { return answer{body: array(a.path)} }}
		c := newClient(t, d, nil)
		if err := r.ask(t.Context(), c); err != nil {
			t.Errorf("%s: %v", r.want, err)
			continue
		}
		a := d.last()
		if got := a.method + " " + strings.TrimPrefix(a.path, "/api/v10"); got != r.want {
			t.Errorf("asked %s, not %s", got, r.want)
		}
		want := []string{"Bot " + token}
		if r.open {
			want = nil
		}
		if got := a.header["Authorization"]; !slices.Equal(got, want) {
			t.Errorf("%s: Authorization %q", r.want, got)
		}
		if agent := a.header.Get("User-Agent"); agent != "DiscordBot (https://github.com/halfpoint-go/halfpoint, 1.2)" {
			t.Errorf("User-Agent %q", agent)
		}
	}
}

// Whatever goes wrong, no token is told.
func TestSecrets(t *testing.T) {
	failures := map[string]answer{
		"unsent": {unsent: true}, "lost": {lost: true}, "cut": {cut: true},
		"500": {status: 500, body: token + webhookToken}, "429": {status: 429, body: "<html>" + token + webhookToken},
		"400": {status: 400, body: `{"code":50035,"message":"` + token + `","errors":{"content":{"_errors":[{"code":"X","message":"` + webhookToken + `"}]}}}`},
		"401": {status: 401, body: `{"message":"` + token + `"}`}, "302": {status: 302, header: map[string]string{"Location": "https://example.org/" + token}},
		"rubbish": {body: webhookToken + token},
	}
	for name, a := range failures {
		for _, r := range routes {
			if !r.open {
				a.body = strings.ReplaceAll(a.body, webhookToken, "") // not known there
			}
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				d := &discord{answer: always(a)}
				c := newClient(t, d, func(cfg *Config) {
					cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				})
				err := r.ask(t.Context(), c)
				if err == nil && !(name == "rubbish" || name == "cut") {
					t.Errorf("%s %s: no error", name, r.want)
				}
				if s := fmt.Sprintf("%v %+v %#v %s", err, err, err, log.String()); strings.Contains(s, "canary") {
					t.Errorf("%s %s tells a secret: %s", name, r.want, s)
				}
				var u interface{ Unwrap() error }
				if errors.As(err, &u) && strings.Contains(fmt.Sprintf("%#v", u.Unwrap()), "canary") {
					t.Errorf("%s %s: the cause tells a secret: %#v", name, r.want, u.Unwrap())
				}
			})
		}
	}
}

// Whether it was done is said, and what is harmless is tried again.
func TestDoubt(t *testing.T) {
	for name, a := range map[string]answer{"lost": {lost: true}, "502": {status: 502, body: "<html>"}, "503": {status: 503}} {
		for _, r := range routes {
			synctest.Test(t, func(t *testing.T) {
				d := &discord{answer: always(a)}
				err := r.ask(t.Context(), newClient(t, d, nil))
				var doubt *Ambiguous
				if !errors.As(err, &doubt) {
					t.Errorf("%s %s: %v", name, r.want, err)
				}
				want := 1
				if r.safe {
					want = tries
				}
				if n := d.count(); n != want {
					t.Errorf("%s %s: asked %d times", name, r.want, n)
				}
			})
		}
	}
	for _, r := range routes {
		synctest.Test(t, func(t *testing.T) {
			first := true
			d := &discord{}
			d.answer = func(a asked) answer {
				if first {
					first = false
					return answer{unsent: true}
				}
				return answer{body: array(a.path)}
			}
			if err := r.ask(t.Context(), newClient(t, d, nil)); err != nil || d.count() != 1 {
				t.Errorf("unsent, then %s: %v", r.want, err)
			}
		})
	}
}

// An earlier try that may have worked makes later refusals doubtful.
func TestDoubtStays(t *testing.T) {
	script := func(list ...answer) *discord {
		d := &discord{}
		d.answer = func(asked) answer {
			a := list[0]
			if len(list) > 1 {
				list = list[1:]
			}
			return a
		}
		return d
	}
	limited := answer{status: 429, header: map[string]string{"X-RateLimit-Scope": "user", "Retry-After": "60"}, body: `{"retry_after":60.0}`}
	synctest.Test(t, func(t *testing.T) {
		_, err := newClient(t, script(answer{lost: true}, limited), nil).Send(t.Context(), "3", Message{Nonce: "n"})
		if !isA[*Ambiguous](err) {
			t.Errorf("lost, then limited: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, err := newClient(t, script(answer{unsent: true}, limited), nil).Send(t.Context(), "3", Message{Nonce: "n"})
		if !isA[*RateLimited](err) || isA[*Ambiguous](err) {
			t.Errorf("unsent, then limited: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		gone := answer{status: 404, body: `{"code":10008,"message":"Unknown Message"}`}
		if err := newClient(t, script(answer{lost: true}, gone), nil).Delete(t.Context(), "3", "4"); err != nil {
			t.Errorf("deleted twice: %v", err)
		}
		if err := newClient(t, script(gone), nil).Delete(t.Context(), "3", "4"); !Gone(err) {
			t.Errorf("deleted what is not there: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := script(answer{cut: true}, answer{})
		m, err := newClient(t, d, nil).Send(t.Context(), "3", Message{Nonce: "n"})
		if err != nil || m.ID != "1" || d.count() != 2 {
			t.Errorf("an answer cut short: %v", err)
		}
	})
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A refusal is of one kind, or of none.
func TestKindsOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := func(status, code int) answer {
			return answer{status: status, body: fmt.Sprintf(`{"code":%d,"message":"m"}`, code)}
		}
		kinds := map[string]func(error) bool{"gone": Gone, "forbidden": Forbidden, "too large": TooLarge, "refused": Refused, "not sent": isA[*NotSent], "limited": isA[*RateLimited]}
		for _, at := range []struct {
			name   string
			answer answer
			kind   string
		}{
			{"unknown channel", api(404, 10003), "gone"},
			{"unknown message", api(404, 10008), "gone"},
			{"expired token", api(401, discordgo.ErrCodeInvalidWebhookTokenProvided), "gone"},
			{"missing permissions", api(403, discordgo.ErrCodeMissingPermissions), "forbidden"},
			{"cannot DM", api(403, discordgo.ErrCodeCannotSendMessagesToThisUser), "forbidden"},
			{"413", answer{status: 413, body: "<html>"}, "too large"},
			{"invalid", api(400, 50035), "refused"},
			{"archived", api(400, discordgo.ErrCodePerformedOperationOnArchivedThread), ""},
			{"404 of a server in front", answer{status: 404, body: "<html>"}, "not sent"},
			{"400 of a server in front", answer{status: 400, body: "bad"}, "not sent"},
			{"405 of a server in front", answer{status: 405, body: "no"}, "not sent"},
			{"403 of a server in front", answer{status: 403, body: "<html>"}, "limited"},
		} {
			_, err := newClient(t, &discord{answer: always(at.answer)}, nil).EditOriginal(t.Context(), webhookToken, Message{})
			for kind, is := range kinds {
				if is(err) != (kind == at.kind) {
					t.Errorf("%s: %v", at.name, err)
				}
			}
		}
		// With a status of 400 these are Refused as well; callers ask for the special kind first.
		for code, is := range map[int]func(error) bool{discordgo.ErrCodeThreadIsLocked: Forbidden, discordgo.ErrCodeRequestEntityTooLarge: TooLarge} {
			if _, err := newClient(t, &discord{answer: always(api(400, code))}, nil).EditOriginal(t.Context(), webhookToken, Message{}); !is(err) {
				t.Errorf("%d: %v", code, err)
			}
		}
		big := Message{Files: []File{{Name: "x.png", Data: make([]byte, RequestLimit)}}}
		d := &discord{}
		if _, err := newClient(t, d, nil).Send(t.Context(), "3", big); !TooLarge(err) || d.count() != 0 {
			t.Errorf("more than a request holds: %v", err)
		}
	})
}

// Discord's complaint names the field.
func TestDetail(t *testing.T) {
	body := `{"code":50035,"message":"Invalid Form Body","errors":{"content":{"_errors":[{"message":"Must be 2000 or fewer in length."}]}}}`
	_, err := newClient(t, &discord{answer: always(answer{status: 400, body: body})}, nil).Send(t.Context(), "3", Message{})
	want := `send a message: 400 Invalid Form Body (50035): {"content":{"_errors":[{"message":"Must be 2000 or fewer in length."}]}}`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestMessages(t *testing.T) {
	d := &discord{}
	c := newClient(t, d, nil)
	png := File{Name: "board.png", Alt: strings.Repeat("é", 2000), Data: []byte("PNG")}
	m := Message{Content: new("It is Black's turn."), Nonce: Nonce("post-1"), AllowedMentions: AllowedMentions{Users: []string{"8"}},
		Files: []File{png, {Name: "a\"b/ü.sgf", Data: []byte("(;)")}}}

	if _, err := c.Send(t.Context(), "3", m); err != nil {
		t.Fatal(err)
	}
	sent := d.last()
	if parts := sent.parts(t); parts["files[0]"] != "PNG" || parts["files[1]"] != "(;)" {
		t.Errorf("parts %v", parts)
	}
	body := sent.json(t)
	if body["enforce_nonce"] != true || len(body["nonce"].(string)) != NonceLimit {
		t.Errorf("nonce %v, %v", body["nonce"], body["enforce_nonce"])
	}
	if got := fmt.Sprint(body["allowed_mentions"]); got != "map[parse:[] users:[8]]" {
		t.Errorf("allowed_mentions %s", got)
	}
	list := body["attachments"].([]any)
	first := list[0].(map[string]any)
	if len(list) != 2 || first["id"] != "0" || first["filename"] != "board.png" || len([]rune(first["description"].(string))) != AltLimit {
		t.Errorf("attachments %v", list)
	}

	// An edit has neither nonce nor reference, and keeps what is named.
	m.Attachments = []Attachment{{ID: "900"}}
	if _, err := c.Edit(t.Context(), "3", "4", m); err != nil {
		t.Fatal(err)
	}
	body = d.last().json(t)
	if body["nonce"] != nil || body["enforce_nonce"] != nil || body["message_reference"] != nil || len(body["attachments"].([]any)) != 3 {
		t.Errorf("edited with %v", body)
	}

	// What is nil is left alone; what is empty is taken away.
	if _, err := c.Edit(t.Context(), "3", "4", Message{Components: []Component{}}); err != nil {
		t.Fatal(err)
	}
	if got := string(d.last().body); got != `{"allowed_mentions":{"parse":[]},"components":[]}` {
		t.Errorf("edited with %s", got)
	}

	for want, r := range map[string]Response{
		`{"type":5}`:                       Defer(0),
		`{"data":{"flags":64},"type":5}`:   Defer(Ephemeral),
		`{"type":6}`:                       DeferUpdate(),
		`{"data":{"choices":[]},"type":8}`: Suggest(nil),
		`{"data":{"custom_id":"m","title":"Where?","components":[{"type":1,"components":[{"type":4,"custom_id":"p","style":1,"label":"Point"}]}]},"type":9}`: Ask(Modal{CustomID: "m", Title: "Where?", Components: []Component{Row(Component{Type: TextInput, CustomID: "p", Style: Short, Label: "Point"})}}),
		`{"data":{"content":"Hi","allowed_mentions":{"parse":[]},"flags":64},"type":4}`:                                                                      Reply(Message{Content: new("Hi"), Flags: Ephemeral, Nonce: "n"}),
	} {
		if _, err := c.Respond(t.Context(), "5", webhookToken, r); err != nil {
			t.Fatal(err)
		}
		if got := string(d.last().body); got != want {
			t.Errorf("answered %s, not %s", got, want)
		}
	}
	if n := len(Suggest(make([]*discordgo.ApplicationCommandOptionChoice, 30)).Choices); n != 25 {
		t.Errorf("%d choices", n)
	}
}

// The answer to an interaction says which message it became.
func TestRespondGivesMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &discord{answer: always(answer{body: `{"interaction":{"id":"5"},"resource":{"type":4,"message":{"id":"99","channel_id":"3","nonce":17,"attachments":[{"filename":"a.png"}]}}}`})}
		m, err := newClient(t, d, nil).Respond(t.Context(), "5", webhookToken, Reply(Message{}))
		if err != nil || m == nil || m.ID != "99" || m.Nonce != 17.0 || m.Attachments[0].Filename != "a.png" {
			t.Errorf("%+v, %v", m, err)
		}
		d.answer = always(answer{status: 204})
		if m, err := newClient(t, d, nil).Respond(t.Context(), "5", webhookToken, Reply(Message{})); err != nil || m != nil {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// The bot's servers come page by page, until one is empty.
func TestGuilds(t *testing.T) {
	pages := map[string]string{"0": `[{"id":"1"},{"id":"2"}]`, "2": `[{"id":"3"}]`, "3": `[]`}
	d := &discord{}
	d.answer = func(a asked) answer {
		_, after, _ := strings.Cut(a.path, "after=")
		after, _, _ = strings.Cut(after, "&")
		return answer{body: pages[after]}
	}
	all, err := newClient(t, d, nil).Guilds(t.Context())
	if err != nil || len(all) != 3 || all[2].ID != "3" {
		t.Errorf("%v, %v", all, err)
	}
	pages["3"] = `[{"id":"3"}]`
	if _, err := newClient(t, d, nil).Guilds(t.Context()); err == nil {
		t.Error("the same page again and again is no error")
	}
}

func TestNonce(t *testing.T) {
	if a, b := Nonce("post-1"), Nonce("post-1"); a != b || len(a) != NonceLimit {
		t.Errorf("%q, %q", a, b)
	}
	if Nonce("post-1") == Nonce("post-2") {
		t.Error("two posts have the same nonce")
	}
}

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "https://discord.com/api/v10": true, "http://127.0.0.1:99/api/v10/": true, "http://[::1]:99": true, "http://localhost:1": true,
		"http://discord.com/api/v10": false, "http://127.0.0.1.example.org": false, "http://localhost.example.org": false, "http://10.0.0.1": false,
		"ftp://127.0.0.1": false, "discord.com": false, "https://": false, "https://user:pw@discord.com": false, "https://a/#b": false, "http://0.0.0.0": false, ":": false,
	} {
		if _, err := New(Config{API: address, Token: secret.New(token)}); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// Too long an answer is not read to its end, and a redirect is not followed.
func TestAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var elsewhere int
		var read int64
		var network memnet.Network
		listener, err := network.Listen("localhost:80")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/channels/1":
				block := bytes.Repeat([]byte(" "), 1<<16)
				for range 1 << 10 {
					n, err := w.Write(block)
					read += int64(n)
					if err != nil {
						return
					}
				}
			case "/channels/2":
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			case "/elsewhere":
				elsewhere++
			}
		})}
		go server.Serve(listener) //nolint:errcheck // until it is closed
		defer server.Close()
		c, err := New(Config{API: "http://localhost", Token: secret.New(token), Dial: network.DialContext})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Channel(t.Context(), "1"); err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("64 MiB: %v", err)
		}
		if _, err := c.Channel(t.Context(), "2"); err == nil || elsewhere > 0 {
			t.Errorf("redirected: %v", err)
		}
	})
}

func TestPermissions(t *testing.T) {
	g := &discordgo.Guild{ID: "1", OwnerID: "9", Roles: []*discordgo.Role{
		{ID: "1", Permissions: int64(ViewChannel | SendMessages)}, {ID: "2", Permissions: int64(AttachFiles)}, {ID: "3", Permissions: int64(Administrator)}}}
	of := func(user string, roles ...string) *discordgo.Member {
		return &discordgo.Member{User: &discordgo.User{ID: user}, Roles: roles}
	}
	channel := func(list ...*discordgo.PermissionOverwrite) *discordgo.Channel {
		return &discordgo.Channel{PermissionOverwrites: list}
	}
	denied := &discordgo.PermissionOverwrite{ID: "1", Deny: int64(SendMessages)}
	deny := channel(denied)
	back := channel(denied, &discordgo.PermissionOverwrite{ID: "2", Allow: int64(SendMessages)}, &discordgo.PermissionOverwrite{ID: "8", Type: 1, Deny: int64(AttachFiles)})
	for _, at := range []struct {
		name string
		m    *discordgo.Member
		ch   *discordgo.Channel
		want Permissions
	}{
		{"everyone", of("8"), channel(), ViewChannel | SendMessages},
		{"a role", of("8", "2"), channel(), ViewChannel | SendMessages | AttachFiles},
		{"denied to everyone", of("8"), deny, ViewChannel},
		{"given back to a role, and another taken from the member", of("8", "2"), back, ViewChannel | SendMessages},
		{"an administrator", of("8", "3"), deny, ^Permissions(0)},
		{"the owner", of("9"), deny, ^Permissions(0)},
	} {
		if got := PermissionsIn(g, at.m, at.ch); got != at.want {
			t.Errorf("%s: %b, not %b", at.name, got, at.want)
		}
	}
	missing := ViewChannel.Missing(ViewChannel | AttachFiles | SendMessages)
	if fmt.Sprint(missing) != "[Send Messages Attach Files]" {
		t.Errorf("missing %v", missing)
	}
	var p Permissions
	if err := json.Unmarshal([]byte(`"1125899906842624"`), &p); err != nil || p != 1<<50 {
		t.Errorf("%d, %v", p, err)
	}
}
