package interaction

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// An endpointTest is an endpoint with a Discord that signs and is answered.
type endpointTest struct {
	t        *testing.T
	private  ed25519.PrivateKey
	now      time.Time
	endpoint *Endpoint

	mu        sync.Mutex
	callbacks []string // paths and bodies that came to Discord's API
}

func newEndpointTest(t *testing.T, handle Handler) *endpointTest {
	public, private, err := ed25519.GenerateKey(rand.New(rand.NewSource(1)))
	if err != nil {
		t.Fatal(err)
	}
	e := &endpointTest{t: t, private: private, now: time.Unix(1_800_000_000, 0)}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.callbacks = append(e.callbacks, r.URL.Path+" "+string(body))
		e.mu.Unlock()
		io.WriteString(w, `{"resource":{"type":4,"message":{"id":"99"}}}`) //nolint:errcheck // a test's
	}))
	client, err := rest.New(rest.Config{API: api.URL, Application: "77", Token: secret.New("x")})
	if err != nil {
		t.Fatal(err)
	}
	e.endpoint, err = NewEndpoint(EndpointConfig{
		PublicKey: hex.EncodeToString(public), Client: client, Handle: handle,
		Now: func() time.Time { return e.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.endpoint.Close(); client.Close(); api.Close() })
	return e
}

// signed is a request as Discord makes it.
func (e *endpointTest) signed(body string) *http.Request {
	stamp := fmt.Sprint(e.now.Unix())
	r := httptest.NewRequest(http.MethodPost, "/discord", strings.NewReader(body))
	r.Header.Set("X-Signature-Timestamp", stamp)
	r.Header.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(e.private, []byte(stamp+body))))
	return r
}

func (e *endpointTest) ask(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	e.endpoint.ServeHTTP(w, r)
	return w
}

func nobody(t *testing.T) Handler {
	return func(Interaction, Responder) { t.Error("handled") }
}

func TestPing(t *testing.T) {
	e := newEndpointTest(t, nobody(t))
	w := e.ask(e.signed(`{"type":1,"id":"5","token":"t","application_id":"77"}`))
	if w.Code != 200 || w.Body.String() != `{"type":1}` || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestRefusals(t *testing.T) {
	e := newEndpointTest(t, nobody(t))
	press := `{` + where + `,"type":3,"data":{"custom_id":"x"}}`
	for name, at := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"no signature":       {func(r *http.Request) { r.Header.Del("X-Signature-Ed25519") }, 401},
		"no timestamp":       {func(r *http.Request) { r.Header.Del("X-Signature-Timestamp") }, 401},
		"short signature":    {func(r *http.Request) { r.Header.Set("X-Signature-Ed25519", "00") }, 401},
		"signature of zeros": {func(r *http.Request) { r.Header.Set("X-Signature-Ed25519", strings.Repeat("0", 128)) }, 401},
		"another body":       {func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(press + " ")) }, 401},
		"another timestamp":  {func(r *http.Request) { r.Header.Set("X-Signature-Timestamp", fmt.Sprint(e.now.Unix()+1)) }, 401},
		"no number":          {func(r *http.Request) { r.Header.Set("X-Signature-Timestamp", "now") }, 401},
		"too large": {func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(press), bytes.NewReader(make([]byte, bodyLimit))))
		}, 413},
		"GET": {func(r *http.Request) { r.Method = http.MethodGet }, 405},
	} {
		r := e.signed(press)
		at.change(r)
		if w := e.ask(r); w.Code != at.want {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for name, body := range map[string]string{"rubbish": "rubbish", "no token": `{"id":"5","type":2}`, "nothing": ""} {
		if w := e.ask(e.signed(body)); w.Code != 400 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for _, off := range []time.Duration{6 * time.Minute, -6 * time.Minute} {
		r := e.signed(press)
		e.now = e.now.Add(off)
		if w := e.ask(r); w.Code != 401 {
			t.Errorf("signed %v ago: %d", off, w.Code)
		}
		e.now = e.now.Add(-off)
	}
}

// The answer is the response when nothing is to be known of it afterwards, and
// a request of its own otherwise. The handler sees no difference.
func TestAnswers(t *testing.T) {
	png := []rest.File{{Name: "board.png", Data: []byte("PNG")}}
	for name, at := range map[string]struct {
		answer  rest.Response
		message string // id of the message that the handler is told
		inline  bool
	}{
		"private":           {rest.Reply(rest.Message{Content: new("no"), Flags: rest.Ephemeral}), "", true},
		"deferred":          {rest.Defer(0), "", true},
		"deferred update":   {rest.DeferUpdate(), "", true},
		"suggestions":       {rest.Suggest([]*discordgo.ApplicationCommandOptionChoice{{Name: "D4", Value: "D4"}}), "", true},
		"form":              {rest.Ask(rest.Modal{CustomID: "m", Title: "t", Components: []rest.Component{}}), "", true},
		"update":            {rest.Update(rest.Message{Content: new("x")}), "90", true},
		"public":            {rest.Reply(rest.Message{Content: new("x")}), "99", false},
		"private with file": {rest.Reply(rest.Message{Flags: rest.Ephemeral, Files: png}), "99", false},
		"update with file":  {rest.Update(rest.Message{Files: png}), "99", false},
	} {
		told := make(chan *rest.Sent, 1)
		e := newEndpointTest(t, func(in Interaction, respond Responder) {
			m, err := respond(t.Context(), at.answer)
			if err != nil {
				t.Error(name, err)
			}
			told <- m
		})
		w := e.ask(e.signed(`{` + where + `,"type":3,"data":{"custom_id":"x"},"message":{"id":"90","channel_id":"3"}}`))
		m := <-told
		if (m == nil) != (at.message == "") || m != nil && m.ID != at.message {
			t.Errorf("%s: the handler is told of %+v", name, m)
		}
		if at.inline {
			want, _ := json.Marshal(at.answer.Body())
			if w.Code != 200 || w.Body.String() != string(want) || len(e.callbacks) != 0 {
				t.Errorf("%s: %d %s, and %q", name, w.Code, w.Body, e.callbacks)
			}
		} else if w.Code != 202 || w.Body.Len() != 0 || len(e.callbacks) != 1 || !strings.HasPrefix(e.callbacks[0], "/interactions/1100000000000000000/tok/callback ") {
			t.Errorf("%s: %d %s, and %q", name, w.Code, w.Body, e.callbacks)
		}
	}
}

// A second answer, and one that comes after Discord was told to wait, go by
// requests of their own. A handler that panics or says nothing holds nobody up.
func TestOtherAnswers(t *testing.T) {
	private := rest.Reply(rest.Message{Flags: rest.Ephemeral})
	both := make(chan struct{})
	e := newEndpointTest(t, func(_ Interaction, respond Responder) {
		defer close(both)
		for range 2 {
			if _, err := respond(t.Context(), private); err != nil {
				t.Error(err)
			}
		}
	})
	press := `{` + where + `,"type":3,"data":{"custom_id":"x"}}`
	if w := e.ask(e.signed(press)); w.Code != 200 {
		t.Errorf("%d", w.Code)
	}
	<-both
	if len(e.callbacks) != 1 {
		t.Errorf("second answer: %q", e.callbacks)
	}

	for name, handle := range map[string]Handler{
		"silent": func(Interaction, Responder) {},
		"panic":  func(Interaction, Responder) { panic("poison") },
	} {
		e := newEndpointTest(t, handle)
		if w := e.ask(e.signed(press)); w.Code != 202 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}

	gone, answered := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	e = newEndpointTest(t, func(_ Interaction, respond Responder) {
		cancel() // as if Discord had waited long enough
		<-gone
		_, err := respond(t.Context(), private)
		answered <- err
	})
	if w := e.ask(e.signed(press).WithContext(ctx)); w.Code != 202 {
		t.Errorf("late: %d", w.Code)
	}
	close(gone)
	if err := <-answered; err != nil || len(e.callbacks) != 1 {
		t.Errorf("late: %v, %q", err, e.callbacks)
	}
}

// A response that Discord did not take leaves it open whether it was answered.
func TestLostResponse(t *testing.T) {
	told := make(chan error, 1)
	e := newEndpointTest(t, func(_ Interaction, respond Responder) {
		_, err := respond(t.Context(), rest.Defer(0))
		told <- err
	})
	e.endpoint.ServeHTTP(brokenWriter{httptest.NewRecorder()}, e.signed(`{`+where+`,"type":3,"data":{}}`))
	var doubt *rest.Ambiguous
	if err := <-told; !errors.As(err, &doubt) {
		t.Error(err)
	}
}

type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestPublicKey(t *testing.T) {
	for _, key := range []string{"", "xyz", strings.Repeat("0", 62), strings.Repeat("g", 64)} {
		if _, err := NewEndpoint(EndpointConfig{PublicKey: key}); err == nil {
			t.Errorf("%q is taken for a key", key)
		}
	}
}
