package interaction

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// A Responder sends the first answer to an interaction. The message is nil
// where there is none.
type Responder func(ctx context.Context, r rest.Response) (*rest.Sent, error)

// A Handler does what an interaction asks for. It is called from several
// goroutines, and may be called again for the same interaction.
type Handler func(in Interaction, respond Responder)

// Direct answers by a request of its own. It is the way for interactions that
// came through the gateway.
func Direct(c *rest.Client, in Interaction) Responder {
	return func(ctx context.Context, r rest.Response) (*rest.Sent, error) {
		return c.Respond(ctx, in.ID, in.Token, r)
	}
}

// Limits of an [Endpoint].
const (
	bodyLimit   = 1 << 20                 // bytes
	freshness   = 5 * time.Minute         // between Discord's clock and ours
	holdTime    = 2500 * time.Millisecond // before the response to Discord says 202
	mostHandled = 128                     // at once
)

// An EndpointConfig has the key of the application and the handler.
type EndpointConfig struct {
	PublicKey string           // of the application, in hexadecimal
	Client    *rest.Client     // answers what cannot be answered at once
	Handle    Handler          //
	Now       func() time.Time // nil is time.Now
	Log       *slog.Logger     // nil logs nothing
}

// An Endpoint takes interactions over HTTP: it is what the "interactions
// endpoint URL" of an application leads to. It lets in what Discord has signed
// within the last five minutes, and answers Discord's pings itself.
//
// The first answer goes back as the response when it has no files and its
// message, if any, is private or known already. Otherwise the response is 202, and the
// answer goes by a request of its own, which returns the message. The handler sees no
// difference.
type Endpoint struct {
	cfg  EndpointConfig
	key  ed25519.PublicKey
	room chan struct{} // holds a value for each interaction that is being handled
}

// NewEndpoint makes an endpoint.
func NewEndpoint(cfg EndpointConfig) (*Endpoint, error) {
	key, err := hex.DecodeString(cfg.PublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("discord.public_key: must be the 64 hexadecimal digits of the application's public key")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Endpoint{cfg: cfg, key: key, room: make(chan struct{}, mostHandled)}, nil
}

// Close waits for running handlers. The endpoint then refuses all interactions.
func (e *Endpoint) Close() {
	for range mostHandled {
		e.room <- struct{}{}
	}
}

// ServeHTTP takes one interaction.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		}
		return
	}
	if !e.signed(r, body) {
		http.Error(w, "invalid request signature", http.StatusUnauthorized)
		return
	}
	in, err := Parse(body)
	if in.Kind == Ping {
		reply(w, map[string]int{"type": rest.ResponsePong})
		return
	}
	if in.Token == "" {
		http.Error(w, "not an interaction", http.StatusBadRequest)
		return
	}
	if err != nil {
		e.cfg.Log.Warn("interaction only partly readable, will handle the rest", "interaction", in.ID, "error", err)
	}
	e.take(w, r, in)
}

// signed reports whether Discord has signed this just now.
func (e *Endpoint) signed(r *http.Request, body []byte) bool {
	unix, err := strconv.ParseInt(r.Header.Get("X-Signature-Timestamp"), 10, 64)
	if err != nil || e.cfg.Now().Sub(time.Unix(unix, 0)).Abs() > freshness {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return discordgo.VerifyInteraction(r, e.key)
}

// take has an interaction handled and holds the response open for the answer.
func (e *Endpoint) take(w http.ResponseWriter, r *http.Request, in Interaction) {
	ctx, cancel := context.WithTimeout(r.Context(), holdTime)
	defer cancel()
	select {
	case e.room <- struct{}{}:
	case <-ctx.Done():
		http.Error(w, "too busy", http.StatusServiceUnavailable)
		return
	}
	s := &slot{body: make(chan any, 1), sent: make(chan error, 1)}
	go e.handle(in, s)
	var body any
	select {
	case body = <-s.body:
	case <-ctx.Done():
		s.leave() // or the answer has just been put in
		body = <-s.body
	}
	if body != nil {
		s.sent <- reply(w, body)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// handle has an interaction handled. A panic ends that alone.
func (e *Endpoint) handle(in Interaction, s *slot) {
	defer func() {
		if v := recover(); v != nil {
			e.cfg.Log.Error("panic", "value", v, "stack", string(debug.Stack()))
		}
		s.leave()
		<-e.room
	}()
	e.cfg.Handle(in, s.responder(e.cfg.Client, in))
}

// reply writes JSON.
func reply(w http.ResponseWriter, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		w.WriteHeader(http.StatusAccepted)
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	if err == nil {
		err = http.NewResponseController(w).Flush()
		if errors.Is(err, http.ErrNotSupported) {
			err = nil
		}
	}
	return err
}

// A slot is the response of a request that is held open. One body is put into
// it: the answer, or nil when the answer goes otherwise.
type slot struct {
	once sync.Once
	body chan any
	sent chan error
}

// put puts it in, unless something is in already.
func (s *slot) put(body any) bool {
	first := false
	s.once.Do(func() {
		s.body <- body
		first = true
	})
	return first
}

func (s *slot) leave() { s.put(nil) }

func (s *slot) responder(c *rest.Client, in Interaction) Responder {
	return func(ctx context.Context, r rest.Response) (*rest.Sent, error) {
		known, ok := atOnce(in, r)
		if !ok || !s.put(r.Body()) {
			s.leave()
			return c.Respond(ctx, in.ID, in.Token, r)
		}
		select {
		case err := <-s.sent:
			if err != nil {
				return nil, &rest.Ambiguous{What: "answer an interaction", Cause: errors.New("HTTP response not received")}
			}
			return known, nil
		case <-ctx.Done():
			return nil, &rest.Ambiguous{What: "answer an interaction", Cause: ctx.Err()}
		}
	}
}

// atOnce reports whether an answer can be the response, and which message it
// then is.
func atOnce(in Interaction, r rest.Response) (*rest.Sent, bool) {
	switch {
	case len(r.Files()) > 0:
		return nil, false
	case r.Type == rest.ResponseUpdate && in.Message != nil:
		return &rest.Sent{ID: in.Message.ID, Channel: in.Message.Channel}, true
	case r.Type == rest.ResponseMessage:
		return nil, r.Private()
	}
	return nil, r.Type != rest.ResponseUpdate
}
