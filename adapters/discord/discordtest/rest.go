package discordtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// Limits on sizes that Discord documents.
const (
	maxRequest = 25 << 20
	maxFile    = 10 << 20
	maxFiles   = 10
)

// A Request is one that a client made, and how it went.
type Request struct {
	Route      string            // "POST /channels/{channel_id}/messages", or method and path when unknown
	Path       string            // with its values
	Params     map[string]string // the values
	Message    string            // id of the message that it was about, by whatever name; empty: none, or not looked for
	Authorized bool              // brought the bot's token
	Body       map[string]any    // JSON, or payload_json; nil when it was no object
	Files      []string          // names of the files sent
	Status     int               // 0 when the answer was lost
	Code       int               // Discord's error code
	At         time.Time         // by the double's clock
}

// An upload is one file of a multipart body.
type upload struct {
	field, name, kind string
	data              []byte
}

// A request on its way through the double.
type request struct {
	*Request
	route  *route
	query  url.Values
	body   any
	files  []upload
	client *http.Request

	// The objects that its path names.
	guild   *guild
	channel *channel
	asked   *interaction
	message *message
}

func (r *request) object() object {
	o, _ := r.body.(object)
	return o
}

// A fieldError is one leaf of Discord's tree of form errors. The steps of its path
// are parted by dots.
type fieldError struct{ path, code, message string }

func (e fieldError) String() string { return fmt.Sprintf("%s: %s (%s)", e.path, e.message, e.code) }

// An apiError is an answer that refuses.
type apiError struct {
	status, code int
	message      string
	fields       []fieldError
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %d %s", e.status, e.code, e.message) }

// tooOften is the error of a limit that no bucket shows.
type tooOften struct {
	wait time.Duration
	code int // Discord's error code, or 0
}

func (e tooOften) Error() string { return "too often" }

func refuse(status, code int, message string) *apiError {
	return &apiError{status: status, code: code, message: message}
}

// The errors that Discord documents and this double answers.
var (
	errUnauthorized = refuse(401, 0, "401: Unauthorized")
	errNotFound     = refuse(404, 0, "404: Not Found")
	errApplication  = refuse(404, 10002, "Unknown Application")
	errChannel      = refuse(404, 10003, "Unknown Channel")
	errGuild        = refuse(404, 10004, "Unknown Guild")
	errMember       = refuse(404, 10007, "Unknown Member")
	errMessage      = refuse(404, 10008, "Unknown Message")
	errUser         = refuse(404, 10013, "Unknown User")
	errWebhook      = refuse(404, 10015, "Unknown Webhook")
	errInteraction  = refuse(404, 10062, "Unknown interaction")
	errTooLarge     = refuse(413, 40005, "Request entity too large")
	errAcknowledged = refuse(400, 40060, "Interaction has already been acknowledged.")
	errFollowUps    = refuse(400, 40094, "This interaction has reached the maximum number of follow-up messages")
	errHasThread    = refuse(400, 160004, "A thread has already been created for this message")
	errLocked       = refuse(400, 160005, "Thread is locked")
	errCloudflare   = refuse(403, 40333, "internal network error")
	errAccess       = refuse(403, 50001, "Missing Access")
	errNotAuthor    = refuse(403, 50005, "Cannot edit a message authored by another user")
	errEmpty        = refuse(400, 50006, "Cannot send an empty message")
	errNoDM         = refuse(403, 50007, "Cannot send messages to this user")
	errNotText      = refuse(400, 50008, "Cannot send messages in a non-text channel")
	errPermission   = refuse(403, 50013, "Missing Permissions")
	errChannelType  = refuse(400, 50024, "Cannot execute action on this channel type")
	errToken        = refuse(401, 50027, "Invalid Webhook Token")
	errForm         = refuse(400, 50035, "Invalid Form Body")
	errArchived     = refuse(400, 50083, "Thread is archived")
	errJSON         = refuse(400, 50109, "The request body contains invalid JSON.")
)

func invalid(path, code, message string) *apiError {
	return invalidFields([]fieldError{{path, code, message}})
}

func invalidFields(fields []fieldError) *apiError {
	e := *errForm
	e.fields = fields
	return &e
}

var userAgent = regexp.MustCompile(`^DiscordBot \([^ ,]+, ?[^)]+\)`)

var placeholder = regexp.MustCompile(`{(\w+)}`)

// mux leads requests to the handlers of their routes, files and the gateway.
func (s *Server) mux() *http.ServeMux {
	mux := http.NewServeMux()
	for name := range handlers {
		method, path, _ := strings.Cut(name, " ")
		mux.HandleFunc(method+" /api/{version}"+path, func(w http.ResponseWriter, client *http.Request) {
			params := map[string]string{}
			for _, found := range placeholder.FindAllStringSubmatch(path, -1) {
				params[found[1]] = client.PathValue(found[1])
			}
			at := strings.TrimPrefix(client.URL.Path, "/api/"+client.PathValue("version"))
			s.serve(w, &request{Request: &Request{Route: name, Path: at, Params: params}, route: s.spec.routes[name], client: client})
		})
	}
	mux.HandleFunc("/attachments/", s.serveFile)
	mux.HandleFunc("/", func(w http.ResponseWriter, client *http.Request) {
		if websocket.IsWebSocketUpgrade(client) {
			s.serveGateway(w, client)
			return
		}
		s.serve(w, &request{Request: &Request{Route: client.Method + " " + client.URL.Path, Path: client.URL.Path}, client: client})
	})
	return mux
}

// serve is the way of every request to the API.
func (s *Server) serve(w http.ResponseWriter, r *request) {
	client := r.client
	r.query = client.URL.Query()
	s.mu.Lock()
	r.At = s.now()
	s.counts[r.Route]++
	s.requests = newest(append(s.requests, r.Request), s.o.Keep)
	fault := s.fault(r)
	s.mu.Unlock()
	text, tooLarge := s.readBody(client, fault)
	if fault != nil {
		s.sleep(fault.Delay, client.Context().Done())
	}
	if fault != nil && fault.Drop == BeforeDone {
		fault.cut()
	}

	answer := s.process(r, text, tooLarge, fault)
	if fault != nil && fault.Drop == AfterDone {
		fault.cut()
	}
	if fault != nil && fault.Drop == HalfWay && len(answer.text) > 1 {
		w.Header().Set("Content-Length", itoa(len(answer.text)))
		answer.send(w, answer.text[:len(answer.text)/2])
		http.NewResponseController(w).Flush() // or the half would stay here
		panic(http.ErrAbortHandler)
	}
	answer.send(w, answer.text)
}

// readBody reads a request's body, as slowly as the fault wants.
func (s *Server) readBody(client *http.Request, fault *Fault) (text []byte, tooLarge bool) {
	var body io.Reader = client.Body
	if fault != nil && fault.Pause > 0 {
		body = bufio.NewReaderSize(slowly{s, body, fault.Pause}, kibibyte)
	}
	if fault != nil && fault.Drop == DuringUpload {
		io.CopyN(io.Discard, body, client.ContentLength*9/10)
		panic(http.ErrAbortHandler)
	}
	text, err := io.ReadAll(io.LimitReader(body, maxRequest+1))
	if err != nil {
		panic(http.ErrAbortHandler) // half a request is none
	}
	io.Copy(io.Discard, body) // else net/http lingers over the connection
	return text, len(text) > maxRequest
}

const kibibyte = 1024

// slowly reads a kibibyte and pauses.
type slowly struct {
	s     *Server
	from  io.Reader
	pause time.Duration
}

func (r slowly) Read(p []byte) (int, error) {
	n, err := io.ReadFull(r.from, p[:min(len(p), kibibyte)])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // there is no more than this
	}
	if n == 0 {
		return 0, err
	}
	r.s.sleep(r.pause, nil)
	if r.s.ctx.Err() != nil {
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// An answer is ready to be written.
type answer struct {
	status, code int
	header       http.Header
	text         []byte
}

func (a *answer) send(w http.ResponseWriter, text []byte) {
	for key, values := range a.header {
		w.Header()[key] = values
	}
	if len(a.text) > 0 && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	w.Write(text)
}

func (s *Server) process(r *request, text []byte, tooLarge bool, fault *Fault) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.answer(r, text, tooLarge, fault)
	r.Status, r.Code = a.status, a.code
	if fault != nil && fault.Drop == AfterDone {
		r.Status = 0
	}
	s.changed.Broadcast()
	return a
}

// answer runs with the lock held.
func (s *Server) answer(r *request, text []byte, tooLarge bool, fault *Fault) *answer {
	a := &answer{header: http.Header{}}
	if s.now().Before(s.banned) {
		a.html(429)
		return a
	}
	if fault != nil && fault.Status != 0 {
		fault.answer(r, a)
		s.countInvalid(a)
		return a
	}
	err := s.admit(r, a)
	if err == nil && tooLarge {
		err = errTooLarge
	}
	var out any
	if err == nil {
		out, err = s.handle(r, text)
	}
	var refused *apiError
	var often tooOften
	switch {
	case errors.As(err, &often):
		a.tooMany(often.wait, "user")
		if often.code != 0 {
			a.code = often.code
			a.json(429, object{"message": "You are being rate limited.", "retry_after": often.wait.Seconds(), "global": false, "code": often.code})
		}
		s.countInvalid(a)
		return a
	case errors.As(err, &refused):
		if refused.status == 429 {
			s.countInvalid(a)
			return a // admit wrote it
		}
		a.status, a.code = refused.status, refused.code
		out = errorBody(refused)
		if len(refused.fields) > 0 {
			s.violation(false, "%s: %v", r.Route, refused.fields)
		}
	case err != nil:
		panic(err)
	case out == nil:
		a.status = 204
	case r.Route == routeThread, r.Route == routeApart:
		a.status = 201
	default:
		a.status = 200
	}
	if out != nil {
		a.json(a.status, out)
		if r.route != nil {
			for _, e := range s.spec.checkResponse(r.route, a.status, a.text) {
				s.violation(true, "the double's own answer to %s (%d): %s", r.Route, a.status, e)
			}
		}
	}
	s.countInvalid(a)
	return a
}

// handle validates a request and lets its handler answer.
func (s *Server) handle(r *request, text []byte) (any, error) {
	h := handlers[r.Route]
	missing := s.lookUp(r, h.need)
	if err := s.read(r, text); err != nil {
		return nil, err
	}
	if missing != nil {
		return nil, missing
	}
	return h.do(s, r)
}

// admit checks what comes before a request is looked into: address, sender and
// limits. A refusal for a limit is written to a.
func (s *Server) admit(r *request, a *answer) error {
	if !userAgent.MatchString(r.client.UserAgent()) {
		s.violation(false, "%s: User-Agent %q is not DiscordBot (url, version)", r.Route, r.client.UserAgent())
		return errCloudflare
	}
	if r.route == nil {
		s.violation(true, "%s is not part of the double", r.Route)
		return errNotFound
	}
	authorization := r.client.Header.Get("Authorization")
	r.Authorized = authorization == "Bot "+s.token
	if (r.route.needsBot || authorization != "") && !r.Authorized && r.route.name != "GET /gateway" {
		return errUnauthorized
	}
	return s.limit(r, a)
}

// read parses and validates the body.
func (s *Server) read(r *request, text []byte) error {
	kind, params, err := mime.ParseMediaType(r.client.Header.Get("Content-Type"))
	switch {
	case !r.route.body:
		return nil
	case len(text) == 0:
		text, kind = []byte("{}"), "application/json"
	case err != nil:
		return errJSON
	}
	return s.parse(r, kind, params["boundary"], text)
}

// parse parses and validates a body of a media type.
func (s *Server) parse(r *request, kind, boundary string, text []byte) (err error) {
	switch kind {
	case "application/json":
	case "multipart/form-data":
		if text, err = r.readMultipart(text, boundary); err != nil {
			return err
		}
	default:
		return errJSON
	}
	if r.body, err = parseJSON(text); err != nil {
		return errJSON
	}
	r.Body = r.object()
	normalize(r.body)
	fields := s.requestSpec.checkValue(r.schema(), withoutNulls(r.body))
	if len(fields) == 0 {
		fields = checkOwn(r)
	}
	if len(fields) > 0 {
		return invalidFields(fields)
	}
	return nil
}

// narrowed are the alternatives of a body that are meant, so that an error speaks of
// that one alone.
var (
	narrowed         = map[string]string{routeFollowUp: "IncomingWebhookRequestPartial", routeChannel: "UpdateThreadRequestPartial"}
	narrowedCallback = map[int]string{
		answerPong:      "PongInteractionCallbackRequest",
		answerMessage:   "CreateMessageInteractionCallbackRequest",
		answerDefer:     "CreateMessageInteractionCallbackRequest",
		answerDeferEdit: "UpdateMessageInteractionCallbackRequest",
		answerUpdate:    "UpdateMessageInteractionCallbackRequest",
		answerChoices:   "ApplicationCommandAutocompleteCallbackRequest",
		answerModal:     "ModalInteractionCallbackRequest",
	}
)

// schema returns where the specification describes the body of a request.
func (r *request) schema() string {
	name := narrowed[r.Route]
	if r.Route == routeCallback {
		name = narrowedCallback[number(r.object()["type"])]
	}
	if name == "" {
		return r.route.pointer + "/requestBody/content/application~1json/schema"
	}
	return "/components/schemas/" + name
}

// normalize changes what Discord's documentation allows and its specification does
// not: permission sets as strings, ids of attachments as numbers.
func normalize(v any) {
	visit(v, func(o object) {
		if p, ok := o["default_member_permissions"].(string); ok {
			if _, err := strconv.ParseUint(p, 10, 53); err == nil {
				o["default_member_permissions"] = json.Number(p)
			}
		}
		for _, a := range asList(o["attachments"]) {
			if a, ok := a.(object); ok {
				if n, ok := a["id"].(json.Number); ok {
					a["id"] = n.String()
				}
			}
		}
	})
}

var fileField = regexp.MustCompile(`^files\[(\d+)\]$`)

func (r *request) readMultipart(text []byte, boundary string) ([]byte, error) {
	reader := multipart.NewReader(bytes.NewReader(text), boundary)
	payload := []byte("{}")
	for {
		part, err := reader.NextPart()
		if err == io.EOF {
			return payload, nil
		}
		if err != nil {
			return nil, errJSON
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, errJSON
		}
		field := fileField.FindStringSubmatch(part.FormName())
		switch {
		case part.FormName() == "payload_json":
			payload = data
		case field == nil:
			return nil, invalid(part.FormName(), "UNKNOWN_PROPERTY", "a part is payload_json or files[n]")
		case len(r.files) == maxFiles:
			return nil, invalid("files", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
		case len(data) > maxFile:
			return nil, errTooLarge
		default:
			r.files = append(r.files, upload{field: field[1], name: part.FileName(), kind: part.Header.Get("Content-Type"), data: data})
			r.Files = append(r.Files, part.FileName())
		}
	}
}

// errorBody returns Discord's error object with its tree of errors.
func errorBody(e *apiError) object {
	o := object{"code": e.code, "message": e.message}
	if len(e.fields) == 0 {
		return o
	}
	tree := object{}
	for _, f := range e.fields {
		at := tree
		for step := range strings.FieldsFuncSeq(f.path, func(c rune) bool { return c == '.' }) {
			if at["_errors"] != nil {
				break // a node has errors or fields, not both
			}
			if at[step] == nil {
				at[step] = object{}
			}
			at = at[step].(object)
		}
		list, _ := at["_errors"].([]object)
		clear(at)
		at["_errors"] = append(list, object{"code": f.code, "message": f.message})
	}
	o["errors"] = tree
	return o
}

// Requests returns those of one route, or all when route is empty, oldest first.
func (s *Server) Requests(route string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Request
	for _, r := range s.requests {
		if route == "" || r.Route == route {
			list = append(list, *r)
		}
	}
	return list
}

// Count returns how many requests of a route ("POST /channels/{channel_id}/messages")
// came since the start, Forget or not.
func (s *Server) Count(route string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[route]
}

func (s *Server) serveFile(w http.ResponseWriter, client *http.Request) {
	s.mu.Lock()
	file := s.files[client.URL.Path]
	s.mu.Unlock()
	if file == nil {
		http.NotFound(w, client)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Write(file.data)
}

// number returns a JSON number as an int, or -1.
func number(v any) int {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
	case int:
		return v
	}
	return -1
}

func text(v any) string {
	t, _ := v.(string)
	return t
}
