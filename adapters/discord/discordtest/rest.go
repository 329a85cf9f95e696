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
	params map[string]string
	query  url.Values
	body   any
	files  []upload
	client *http.Request
	now    time.Time
}

func (r *request) object() object {
	o, _ := r.body.(object)
	return o
}

// A fieldError is one leaf of Discord's tree of form errors.
type fieldError struct {
	path          []string
	code, message string
}

func (e fieldError) String() string {
	return fmt.Sprintf("%s: %s (%s)", strings.Join(e.path, "."), e.message, e.code)
}

// An apiError is an answer that refuses.
type apiError struct {
	status, code int
	message      string
	fields       []fieldError
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %d %s", e.status, e.code, e.message) }

func refuse(status, code int, message string) *apiError {
	return &apiError{status: status, code: code, message: message}
}

// The errors that Discord documents and this double answers.
var (
	errUnauthorized = refuse(401, 0, "401: Unauthorized")
	errNotFound     = refuse(404, 0, "404: Not Found")
	errNotAllowed   = refuse(405, 0, "405: Method Not Allowed")
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
	errToken        = refuse(401, 50027, "Invalid Webhook Token")
	errForm         = refuse(400, 50035, "Invalid Form Body")
	errArchived     = refuse(400, 50083, "Thread is archived")
	errJSON         = refuse(400, 50109, "The request body contains invalid JSON.")
)

func invalid(fields ...fieldError) *apiError {
	e := *errForm
	e.fields = fields
	return &e
}

// A reply is what a handler answers: a status and a JSON body, or nil.
type reply struct {
	status int
	body   any
}

func ok(body any) (reply, error) { return reply{200, body}, nil }

var userAgent = regexp.MustCompile(`^DiscordBot \([^ ,]+, ?[^)]+\)`)

// serve is the way of every request.
func (s *Server) serve(w http.ResponseWriter, client *http.Request) {
	if strings.EqualFold(client.Header.Get("Upgrade"), "websocket") {
		s.serveGateway(w, client)
		return
	}
	if strings.HasPrefix(client.URL.Path, "/attachments/") {
		s.serveFile(w, client)
		return
	}
	path, isAPI := strings.CutPrefix(client.URL.EscapedPath(), "/api/v10/")
	if !isAPI {
		path, isAPI = strings.CutPrefix(client.URL.EscapedPath(), "/api/v9/")
	}
	r := &request{Request: &Request{Route: client.Method + " /" + path, Path: "/" + path}, client: client, query: client.URL.Query()}
	if isAPI {
		if r.route, r.params = s.spec.find(client.Method, path); r.route != nil {
			r.Route, r.Params = r.route.name, r.params
		}
	}

	s.mu.Lock()
	r.now = s.now()
	r.At = r.now
	s.remember(r)
	fault := s.fault(r)
	s.mu.Unlock()
	text, tooLarge := s.readBody(client, fault)
	if fault != nil && fault.Delay > 0 {
		select {
		case <-time.After(fault.Delay):
		case <-client.Context().Done():
		case <-s.ctx.Done():
		}
	}
	if fault != nil && fault.Drop == BeforeDone {
		panic(http.ErrAbortHandler)
	}

	answer := s.locked(r, text, tooLarge, fault)
	if fault != nil && fault.Drop == AfterDone {
		panic(http.ErrAbortHandler)
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
	select {
	case <-time.After(r.pause):
		return n, err
	case <-r.s.ctx.Done():
		return 0, io.ErrUnexpectedEOF
	}
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

func (s *Server) locked(r *request, text []byte, tooLarge bool, fault *Fault) *answer {
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
		a.html(429, "error code: 1015")
		return a
	}
	if fault != nil && fault.Status != 0 {
		fault.answer(s, r, a)
		s.countInvalid(a)
		return a
	}
	var out reply
	err := s.admit(r, a)
	if err == nil && tooLarge {
		err = errTooLarge
	}
	if err == nil {
		err = s.read(r, text)
	}
	if err == nil {
		out, err = s.handle(r)
	}
	var refused *apiError
	switch {
	case errors.As(err, &refused):
		if refused.status == 429 {
			s.countInvalid(a)
			return a // admit wrote it
		}
		out = reply{refused.status, errorBody(refused)}
		a.code = refused.code
		if len(refused.fields) > 0 {
			s.violation(false, "%s: %v", r.Route, refused.fields)
		}
	case err != nil:
		panic(err)
	}
	a.status = out.status
	if out.body != nil {
		var err error
		if a.text, err = json.Marshal(out.body); err != nil {
			panic(err)
		}
		if r.route != nil {
			for _, e := range s.spec.checkResponse(r.route, a.status, a.text) {
				s.violation(true, "the double's own answer to %s (%d): %s", r.Route, a.status, e)
			}
		}
	}
	s.countInvalid(a)
	return a
}

// handle finds who answers.
func (s *Server) handle(r *request) (reply, error) {
	h := handlers[r.Route]
	if h == nil {
		s.violation(true, "%s is not part of the double", r.Route)
		return reply{}, errNotFound
	}
	return h(s, r)
}

// admit checks what comes before a request is looked into: address, sender and
// limits. A refusal for a limit is written to a.
func (s *Server) admit(r *request, a *answer) error {
	if !userAgent.MatchString(r.client.UserAgent()) {
		s.violation(false, "%s: User-Agent %q is not DiscordBot (url, version)", r.Route, r.client.UserAgent())
		return errCloudflare
	}
	if r.route == nil {
		for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if other, _ := s.spec.find(m, strings.TrimPrefix(r.Path, "/")); other != nil {
				return errNotAllowed
			}
		}
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
		text = []byte("{}")
	case err != nil:
		return errJSON
	case kind == "multipart/form-data":
		var refused error
		if text, refused = r.readMultipart(text, params["boundary"]); refused != nil {
			return refused
		}
	case kind != "application/json":
		return errJSON
	}
	if r.body, err = parseJSON(text); err != nil {
		return errJSON
	}
	r.Body = r.object()
	r.body = normal(r.body)
	pointer := r.route.pointer + "/requestBody/content/application~1json/schema"
	if fields := s.requestSpec.checkValue(s.narrow(r, pointer), withoutNulls(r.body)); len(fields) > 0 {
		return invalid(fields...)
	}
	if fields := s.checkOwn(r); len(fields) > 0 {
		return invalid(fields...)
	}
	return nil
}

// narrow picks from the alternatives of a body the one that its type means, so
// that an error speaks of that one alone.
func (s *Server) narrow(r *request, pointer string) string {
	name := ""
	switch r.route.name {
	case routeCallback:
		switch number(r.object()["type"]) {
		case 1:
			name = "PongInteractionCallbackRequest"
		case 4, 5:
			name = "CreateMessageInteractionCallbackRequest"
		case 6, 7:
			name = "UpdateMessageInteractionCallbackRequest"
		case 8:
			name = "ApplicationCommandAutocompleteCallbackRequest"
		case 9:
			name = "ModalInteractionCallbackRequest"
		}
	case "POST /webhooks/{webhook_id}/{webhook_token}":
		name = "IncomingWebhookRequestPartial"
	case "PATCH /channels/{channel_id}":
		name = "UpdateThreadRequestPartial"
	}
	if name == "" {
		return pointer
	}
	return "/components/schemas/" + name
}

// normal changes what Discord's documentation allows and its specification does
// not: permission sets as strings, ids of attachments as numbers.
func normal(v any) any {
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
	return v
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
			return nil, invalid(fieldError{path: []string{part.FormName()}, code: "UNKNOWN_PROPERTY", message: "a part is payload_json or files[n]"})
		case len(r.files) == maxFiles:
			return nil, invalid(fieldError{path: []string{"files"}, code: "BASE_TYPE_MAX_LENGTH", message: "Must be 10 or fewer in length."})
		case len(data) > maxFile:
			return nil, errTooLarge
		default:
			r.files = append(r.files, upload{field: field[1], name: part.FileName(), kind: part.Header.Get("Content-Type"), data: data})
			r.Files = append(r.Files, part.FileName())
		}
	}
}

// errorBody is Discord's error object with its tree of errors.
func errorBody(e *apiError) object {
	o := object{"code": e.code, "message": e.message}
	if len(e.fields) == 0 {
		return o
	}
	tree := object{}
	for _, f := range e.fields {
		at := tree
		for _, step := range f.path {
			next, ok := at[step].(object)
			if !ok {
				next = object{}
				at[step] = next
			}
			at = next
		}
		list, _ := at["_errors"].([]object)
		at["_errors"] = append(list, object{"code": f.code, "message": f.message})
	}
	prune(tree)
	o["errors"] = tree
	return o
}

// prune keeps errors and deeper fields apart: a node of the tree is one or the
// other.
func prune(node object) {
	if _, leaf := node["_errors"]; leaf {
		for key := range node {
			if key != "_errors" {
				delete(node, key)
			}
		}
		return
	}
	for _, v := range node {
		prune(v.(object))
	}
}

func (s *Server) remember(r *request) {
	s.counts[r.Route]++
	s.requests = append(s.requests, r.Request)
	if len(s.requests) > s.o.Keep {
		s.requests = append([]*Request(nil), s.requests[len(s.requests)/4:]...)
	}
}

// Requests are those of one route, or all when route is empty, oldest first.
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

// Count is how many requests of a route ("POST /channels/{channel_id}/messages")
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

// number is a JSON number as an int, or -1.
func number(v any) int {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
	case float64:
		return int(v)
	case int:
		return v
	}
	return -1
}

func text(v any) string {
	t, _ := v.(string)
	return t
}
