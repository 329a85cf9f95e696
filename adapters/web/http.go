package web

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/gzhttp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// Limits on requests.
const (
	maxBody   = 64 << 10
	maxUpload = 2*match.MaxDiagram + maxBody // a record as JSON: its line breaks take twice the room, and a file a third more
	maxText   = 1000                         // characters of what is typed
	askTime   = 30 * time.Second
	drainTime = 9 * time.Second // of the ten that the program has
)

//go:embed page
var page embed.FS

// A server is a room while it runs.
type server struct {
	*Room
	service    bot.Service
	port       string
	stopping   context.Context // done when the room is about to stop
	collecting chan struct{}   // held while the backlog is extended
}

// Run listens and answers until ctx is done. Then streams end at once, and
// requests under way still get their answers, if these come in time.
func (r *Room) Run(ctx context.Context, service bot.Service) error {
	listener, err := r.cfg.Open("tcp", r.cfg.Listen)
	if err != nil {
		return listenError(r.cfg.Listen, err)
	}
	address, err := netip.ParseAddrPort(listener.Addr().String())
	if err == nil {
		err = CheckAccess(address.String(), r.cfg.Hosts, r.cfg.OwnerToken)
	}
	if err != nil {
		listener.Close()
		return err
	}
	s := &server{
		Room: r, service: service, port: strconv.Itoa(int(address.Port())),
		stopping: ctx, collecting: make(chan struct{}, 1),
	}
	s.published, err = s.cfg.Log.Last(ctx)
	if err == nil {
		err = s.openSeats(ctx)
	}
	if err != nil {
		listener.Close()
		return fmt.Errorf("web: %w", err)
	}
	publishing, stop := context.WithCancel(ctx)
	var publisher sync.WaitGroup
	publisher.Go(func() { s.publish(publishing) })
	defer publisher.Wait()
	defer stop()
	web := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(r.log.Handler(), slog.LevelWarn),
	}
	unread := unreadConns{conns: map[net.Conn]bool{}}
	web.ConnState = unread.note
	stopped := make(chan error, 1)
	go func() { stopped <- web.Serve(listener) }()
	r.up.Set(true, r.cfg.Now())
	defer func() { r.up.Set(false, r.cfg.Now()) }()
	if r.cfg.Ready != nil {
		r.cfg.Ready(roomURL(address))
	}
	select {
	case err := <-stopped:
		return fmt.Errorf("web: %w", err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	unread.close()
	if err := web.Shutdown(drain); err != nil {
		r.log.Warn("some requests were not answered before the stop", "error", err)
		_ = web.Close()
	}
	<-stopped
	return nil
}

// unreadConns are the connections of which no request has been read. Shutdown would wait for
// them, some seconds.
type unreadConns struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

func (u *unreadConns) note(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if delete(u.conns, c); state == http.StateNew {
		u.conns[c] = true
	}
}

func (u *unreadConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.conns {
		_ = c.Close()
	}
}

// readBody calls read, which reads the body of a request. When the room stops, a body that
// has come in part ends with os.ErrDeadlineExceeded.
func (s *server) readBody(w http.ResponseWriter, read func() error) error {
	end := context.AfterFunc(s.stopping, func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
	defer end()
	return read()
}

// listenError says "listen 127.0.0.1:8080: address already in use".
func listenError(address string, err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if system, ok := errors.AsType[*os.SyscallError](err); ok {
		err = system.Err
	}
	return fmt.Errorf("listen %s: %w", address, err)
}

// roomURL is where a person on this machine finds the room.
func roomURL(a netip.AddrPort) string {
	if a.Addr().IsUnspecified() {
		a = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port())
	}
	return "http://" + a.String()
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.roomPage)
	for _, name := range assets {
		mux.HandleFunc("GET "+name, asset(name[1:]))
	}
	mux.HandleFunc("GET /board.css", served("board.css", []byte(render.SVGCSS())))
	mux.HandleFunc("GET /events", s.reading(streamReads, s.events))
	mux.HandleFunc("GET /suggest", s.reading(1, s.suggest))
	mux.HandleFunc("GET /picture/{game}/{seq}", s.reading(1, s.picture))
	mux.HandleFunc("GET /answer/{key}/picture.png", s.reading(1, s.answerPicture))
	mux.HandleFunc("GET /answer/{key}/{file}", s.reading(1, s.answerFile))
	mux.HandleFunc("GET /g/{slug}", s.reading(1, s.gamePage))
	mux.HandleFunc("GET /g/{slug}/{seq}", s.reading(1, s.gamePage))
	mux.HandleFunc("GET /g/follow", s.reading(streamReads, s.followSeveral))
	mux.HandleFunc("GET /g/{slug}/follow", s.reading(streamReads, s.follow))
	mux.HandleFunc("POST /g/{slug}/look", s.reading(drawReads, s.chooseLook))
	mux.HandleFunc("GET /g/{slug}/turn/{number}", s.reading(1, s.turn))
	mux.HandleFunc("GET /g/{slug}/embed", s.embed)
	mux.HandleFunc("GET /g/{slug}/{seq}/{part}", s.partOfMoment)
	mux.HandleFunc("GET /g/", s.reading(1, s.missing))
	mux.HandleFunc("GET /e/new", s.reading(1, s.eventFormPage))
	mux.HandleFunc("POST /e/new", s.eventFormSubmit)
	mux.HandleFunc("GET /e/{slug}", s.reading(1, s.eventPage))
	mux.HandleFunc("GET /e/", s.reading(1, s.missing))
	mux.HandleFunc("GET /records", s.reading(1, s.recordsPage))
	mux.HandleFunc("POST /records", s.bringRecord)
	mux.HandleFunc("GET /p/{slug}", s.reading(1, s.gamePage))
	mux.HandleFunc("POST /p/{slug}", s.reading(1, s.changeRecord))
	mux.HandleFunc("GET /p/{slug}/{seq}", s.reading(1, s.gamePage))
	mux.HandleFunc("GET /p/{slug}/record.sgf", s.reading(1, s.recordFile))
	mux.HandleFunc("GET /p/{slug}/record.gif", s.reading(drawReads, s.recordFile))
	mux.HandleFunc("POST /p/{slug}/look", s.reading(drawReads, s.chooseLook))
	mux.HandleFunc("GET /p/{slug}/embed", s.embed)
	mux.HandleFunc("GET /p/{slug}/{seq}/{part}", s.partOfMoment)
	mux.HandleFunc("GET /p/", s.reading(1, s.missing))
	mux.HandleFunc("GET /r/{ruleset}", s.reading(1, s.rulesPage))
	mux.HandleFunc("GET /r/{ruleset}/card.png", s.reading(drawReads, s.rulesCard))
	mux.HandleFunc("GET /r/", s.reading(1, s.missing))
	mux.HandleFunc("POST /ask", s.ask)
	mux.HandleFunc("GET /link", s.reading(1, s.linkPage))
	mux.HandleFunc("POST /link", s.link)
	mux.HandleFunc("POST /link/out", s.signOut)
	mux.HandleFunc("GET /owner", s.ownerForm)
	mux.HandleFunc("POST /owner", s.ownerSubmit)
	return s.guard(http.NewCrossOriginProtection().Handler(compressed(mux)))
}

// compressed zips pages, scripts and styles for clients that take that. Streams, pictures
// and answers to submissions stay as they are.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.ContentTypes([]string{"text/html", "text/css", "text/javascript", "image/svg+xml"}))
	if err != nil {
		panic(err)
	}
	small := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && !streams(r.URL.Path) {
			small.ServeHTTP(w, r)
		} else {
			next.ServeHTTP(w, r)
		}
	})
}

// streams reports whether what is at a path does not end.
func streams(path string) bool { return path == "/events" || strings.HasSuffix(path, "/follow") }

// policy is the Content-Security-Policy of every page.
const policy = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"

// assets are the paths of the files that pages load: scripts, styles and the icon.
var assets = findAssets(page)

func findAssets(files embed.FS) (paths []string) {
	err := fs.WalkDir(files, "page", func(name string, _ fs.DirEntry, err error) error {
		if ext := path.Ext(name); ext == ".js" || ext == ".css" || ext == ".svg" {
			paths = append(paths, strings.TrimPrefix(name, "page"))
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	return paths
}

// preloading returns a page with links to all modules that its script imports, so that a
// browser fetches them at once, and not each when it has read the one that imports it.
func preloading(files embed.FS, name string) []byte {
	data, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	const script = `<script type="module" src="`
	before, after, _ := strings.Cut(string(data), script)
	entry, _, _ := strings.Cut(after, `"`)
	var links strings.Builder
	for _, module := range modulesOf(files, entry)[1:] {
		links.WriteString(`<link rel="modulepreload" href="` + module + "\">\n")
	}
	return []byte(before + links.String() + script + after)
}

var imported = regexp.MustCompile(`(?m)^import .*["'](\.[^"']+)["']`)

// modulesOf returns the path of a module, and those of all that it imports.
func modulesOf(files embed.FS, entry string) []string {
	all := []string{entry}
	for i := 0; i < len(all); i++ {
		data, err := files.ReadFile("page" + all[i])
		if err != nil {
			panic(err)
		}
		for _, m := range imported.FindAllStringSubmatch(string(data), -1) {
			if other := path.Join(path.Dir(all[i]), m[1]); !slices.Contains(all, other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// openPaths are what a browser asks for before the page can set its cookie, see direct.
// All of them are the same for everybody.
var openPaths = append([]string{"/", "/board.css", "/owner", "/records", "/link"}, assets...)

// needsNoCookie reports whether a request only reads what anybody may read. The pages of games
// and rulesets set no cookie.
func needsNoCookie(r *http.Request) bool {
	path := r.URL.Path
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return slices.Contains(openPaths, path) || strings.HasPrefix(path, "/g/") || strings.HasPrefix(path, "/p/") || strings.HasPrefix(path, "/r/") || strings.HasPrefix(path, "/e/")
}

// guard refuses requests that were sent to a name that is not the room's, or
// through a proxy while the room has no owner, and tells browsers to keep other
// pages away.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cache-Control", "no-store")
		if !s.known(r) {
			s.log.Info("request refused: unknown host", "host", r.Host)
			http.Error(w, "This room does not answer to that name. The configuration lists those that it does.", http.StatusForbidden)
			return
		}
		if s.cfg.OwnerToken.IsZero() && proxied(r) {
			s.log.Info("request refused: came through a proxy, but owner_token is not set")
			http.Error(w, "This room is open to its own machine alone, and you came through a proxy. "+
				"To let others in, its owner sets owner_token; docs/room.md says how.", http.StatusForbidden)
			return
		}
		if s.cfg.OwnerToken.IsZero() && !direct(r) && !needsNoCookie(r) {
			s.log.Info("request refused: it does not show that it came without a proxy, and owner_token is not set", "path", r.URL.Path)
			http.Error(w, "This room is open to its own machine alone, and you may have come through a proxy. "+
				"To let others in, its owner sets owner_token. A program names the room in the header Origin. docs/room.md explains both.", http.StatusForbidden)
			return
		}
		// CrossOriginProtection asks about what changes things; streams and pictures are
		// nothing for other pages either. A link that somebody follows is, and a board to embed.
		site := r.Header.Get("Sec-Fetch-Site")
		dest := r.Header.Get("Sec-Fetch-Dest")
		link := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && (dest == "document" || dest == "iframe" && embeds(r.URL.Path))
		if site != "" && site != "same-origin" && site != "none" && r.URL.Path != "/" && !link {
			http.Error(w, "Other pages may not ask this room.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known reports whether the request was sent to one of the room's names, and
// not to a name that somebody else made to lead here. An address cannot do
// that, if it is really the one at which the request arrived.
func (s *server) known(r *http.Request) bool {
	name, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		name, port = r.Host, "80"
	}
	for _, host := range s.cfg.Hosts {
		if strings.EqualFold(r.Host, host) || strings.EqualFold(name, host) {
			return true
		}
	}
	if port != s.port {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && ip == at.Addr().Unmap()
}

// asset serves a file of the page.
func asset(name string) http.HandlerFunc {
	data, err := page.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return served(name, data)
}

// served serves data as a file of the page.
func served(name string, data []byte) http.HandlerFunc {
	tag := `"` + tagOf(data) + `"`
	kind := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
		".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
	}[path.Ext(name)]
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		serve(w, r, tag, data)
	}
}

// A submission is a text that somebody typed, or a control that they pressed.
type submission struct {
	ID      string            `json:"id"` // made once, sent again with every retry
	Seat    string            `json:"seat"`
	Page    string            `json:"page"` // slug of the game's page, for linkedSeat
	Text    string            `json:"text"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args"`
	File    *upload           `json:"file"` // the diagram or record of the command in Text

	lang    string      // of the browser
	browser string      // hash of its secret
	holder  string      // the same, or that of the browser that holds the name that this one is by a link
	linked  outbox.User // whom the browser is by a link; zero: nobody
	client  client      // whose limits count; without a secret if the browser has only now been given one
	owner   bool        // somebody gave the owner token in it
}

// An upload is a file as it is: a record need not be in UTF-8.
type upload struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// An answer is the reply to a submission. The page reads answers that are not private
// in the transcript.
type answer struct {
	Private bool     `json:"private"`
	Message *message `json:"message,omitempty"`
	Lang    string   `json:"lang,omitempty"` // of the page, if it may be another now
}

// ask takes a submission: commands to the service, all else into the transcript.
func (s *server) ask(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "Only application/json is taken here.", http.StatusUnsupportedMediaType)
		return
	}
	sub := submission{client: clientOf(r), lang: browserLanguage(r)}
	if wait, others := s.afford(r, sub.client); wait > 0 {
		slowDown(w, sub.lang, wait, others)
		return
	}
	limit := int64(maxBody)
	if r.ContentLength > limit { // which was counted; of a length that is unknown nothing was
		limit = maxUpload
	}
	err := s.readBody(w, func() error { return json.NewDecoder(http.MaxBytesReader(w, r.Body, limit)).Decode(&sub) })
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		http.Error(w, bot.Translated(sub.lang, wordFailed), http.StatusServiceUnavailable)
		return
	case err != nil:
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			http.Error(w, bot.Translated(sub.lang, wordTooLarge, strconv.Itoa(match.MaxDiagram>>20)), http.StatusRequestEntityTooLarge)
			return
		}
		http.Error(w, "That cannot be read.", http.StatusBadRequest)
		return
	}
	if !uuid.MatchString(sub.ID) {
		http.Error(w, "A submission has an id of its own.", http.StatusBadRequest)
		return
	}
	// The bot answers even if the page goes away meanwhile: it comes back with the same
	// id.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), askTime)
	defer cancel()
	sub.browser = browserOf(r)
	sub.owner, _ = s.checkOwner(r, ownerCookieOf(r)) // an address that has to wait has no rights meanwhile
	if sub.browser == "" && strings.HasPrefix(sub.Seat, "name:") {
		sub.browser = introduce(w, r)
	}
	sub.holder = sub.browser
	if sub.linked, err = s.linked(r); err == nil && sub.linked.Platform == platform {
		who, _ := userOf(sub.Seat)
		if same(who, sub.linked) {
			sub.holder, err = s.holderOf(r, who.ID)
		}
	}
	var a answer
	if err == nil {
		a, err = s.submit(ctx, sub)
	}
	if err == nil && a.Private { // the stream has the messages so far, perhaps later
		a.Message.After, err = s.cfg.Log.Last(ctx)
	}
	if err != nil {
		s.log.Error("request failed, the page will retry", "request", sub.ID, "error", err)
		http.Error(w, bot.Translated(sub.lang, wordFailed), http.StatusServiceUnavailable)
		return
	}
	reply(w, a)
}

// afford counts a submission against the limits of a client, before it is read: no more of
// it than will be read, whatever length the client claims.
func (s *server) afford(r *http.Request, c client) (wait time.Duration, others bool) {
	n := 1.
	if c.browser == "" {
		n = strangersPay
	}
	if wait, others = s.limits.requests.spend(c, n, s.cfg.Now()); wait == 0 {
		wait, others = s.limits.bytes.spend(c, float64(min(max(r.ContentLength, 0), maxUpload)), s.cfg.Now())
	}
	return wait, others
}

// submit carries out a submission. After an error it may be sent again.
func (s *server) submit(ctx context.Context, sub submission) (answer, error) {
	s.event.Set(s.cfg.Now())
	if sub.Seat == linkedSeat {
		return s.submitLinked(ctx, sub)
	}
	who, noSeat := userOf(sub.Seat)
	lang := func() string { return s.languageOf(ctx, who, sub.lang) } // for what the room itself says
	if noSeat != "" {
		return s.refusal(bot.Translated(lang(), noSeat)), nil
	}
	line := match.Typed{Room: channel, Text: cleanText(sub.Text), At: s.cfg.Now()}
	if seatWith(who.ID) != nil {
		line.By = match.PersonID(who.ID)
	}
	req := request(who)
	req.ID, req.Moderator, req.Lang = platform+":"+sub.ID, sub.owner, sub.lang
	if refused := sub.read(&req, &line, lang); refused != "" {
		return s.refusal(refused), nil
	}
	why, err := s.permit(ctx, who, sub, req.Command)
	switch {
	case err != nil:
		return answer{}, err
	case why != nil:
		return s.refusal(bot.Translated(lang(), why[0], why[1:]...)), nil
	}
	sayLine := func() (err error) { // beside no turn
		m := outbox.Message{Key: req.ID, Room: line.Room, At: line.At, By: line.By, Text: line.Text}
		if m.By == "" {
			m.By, err = s.cfg.Log.Person(ctx, who)
		}
		if err == nil {
			_, err = s.say(ctx, m)
		}
		return err
	}
	req.Shows, req.Flat = true, true
	if req.Seats != nil {
		req.Seats.Since = s.satSince(who.ID)
	}
	if req.Command == "" {
		turn, ok, why, err := s.service.Bare(ctx, req, line.Text)
		if ok { // unless the page sends again what was talk at first
			if _, err = s.cfg.Log.Message(ctx, req.ID); errors.Is(err, bot.ErrNotFound) {
				err = nil
			} else {
				ok = false
			}
		}
		if err != nil {
			return answer{}, err
		}
		if !ok {
			return s.hint(lang(), who, line.Text, why), sayLine()
		}
		req = turn
	}
	req.Users = users(req.Command, req.Args)
	if line.Text != "" {
		req.Typed = &line
	}
	var all bot.Answer
	err = s.work(ctx, req.Command, func() error {
		all, err = s.service.Ask(ctx, req)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	got := all.Own()
	if got.Moderators {
		got.Text = bot.Translated(lang(), wordModerator, got.Text)
	}
	if req.Typed != nil {
		s.grow(outbox.Message{Text: line.Text})
	}
	answered := s.line(got)
	if req.Forgets() {
		s.Forgotten()
		if err := s.forgetRecords(ctx, sub.browser); err != nil {
			return answer{}, err
		}
	}
	with := extrasIn(got)
	if with != (extras{}) {
		key := answered.Key
		if got.Private {
			key = ownKey(key, sub.browser)
		}
		s.answers.Add(key, with)
	}
	var a answer
	switch {
	case got.Private:
		answered.Room, answered.Texts, answered.Text = privateRoom(who), nil, got.Text
		a = answer{Private: true, Message: s.showOwn(ctx, answered, with, sub.Seat)}
	case line.Text != "" && !all.Logged:
		err = sayLine()
	}
	if err == nil && !got.Private && !got.Empty() {
		_, err = s.say(ctx, answered)
	}
	s.showPosts(ctx, all.Posts, err)
	if req.Command == "settings" || req.Command == "privacy" {
		a.Lang = pageLanguage(lang())
	}
	return a, err
}

// read reads the command of a submission into req, none if it is talk or a turn without a
// command, and sets the line that everybody reads. If that is impossible it says why.
func (sub submission) read(req *bot.Request, line *match.Typed, lang func() string) (refused string) {
	if sub.Command != "" { // pressed, not typed
		line.Text = ""
		pressed := bot.Current(match.Control{Command: sub.Command, Args: sub.Args})
		req.Command, req.Args = pressed.Command, pressed.Args
		if _, ok := bot.FindCommand(req.Command); !ok {
			return bot.Translated(lang(), wordNoCommand)
		}
		return ""
	}
	var err error
	req.Command, req.Args, err = bot.Parse(line.Text)
	if command, args, ok := bot.BareReading(line.Text); ok {
		req.Command, req.Args, err = command, args, nil
	}
	switch {
	case errors.Is(err, bot.ErrNotACommand) && line.Text == "":
		return bot.Translated(lang(), wordNothing)
	case errors.Is(err, bot.ErrNotACommand) && strings.HasPrefix(line.Text, "/"):
		return bot.Translated(lang(), wordSlash)
	case err != nil && !errors.Is(err, bot.ErrNotACommand):
		return bot.Explain(err, lang())
	}
	diagram := diagramOption(req.Command)
	length := utf8.RuneCountInString(sub.Text)
	switch {
	case length > maxText && diagram == "":
		return bot.Translated(lang(), wordTooLong, strconv.Itoa(maxText))
	case length > maxText: // everybody reads what was made of it
		line.Text = fmt.Sprintf("/%s … (%d)", req.Command, length)
	case sub.File != nil && (diagram == "" || req.Args[diagram] != ""):
		return bot.Translated(lang(), wordFileAlone)
	case sub.File != nil:
		req.Args[diagram] = string(sub.File.Data)
		line.Text += " (" + bot.CleanName(sub.File.Name) + ")"
	}
	return ""
}

// permit lets somebody submit a command, or returns the problem.
func (s *server) permit(ctx context.Context, who outbox.User, sub submission, command string) (problem, error) {
	if why, err := s.admit(ctx, who, sub.holder, sub.client); why != nil || err != nil {
		return why, err
	}
	if who == onlooker && slices.Contains(seated, command) {
		return problem{wordOnlooker}, nil
	}
	why, err := s.affords(ctx, sub.client, command)
	if why != nil && slices.Contains(opening, command) { // unless it was carried out, at this process or another
		_, done, err := s.cfg.Log.Answered(ctx, platform+":"+sub.ID)
		if done || err != nil {
			return nil, err
		}
	}
	return why, err
}

// diagramOption returns the option of a command that takes a diagram or record; empty: it
// has none.
func diagramOption(name string) string {
	if c, ok := bot.FindCommand(name); ok {
		for _, o := range c.Options {
			if o.Type == bot.DiagramOption {
				return o.Name
			}
		}
	}
	return ""
}

// seated are the commands that are not for onlookers: everybody shares that place, so
// nobody could play on.
var seated = []string{"new", "join"}

// hint answers a text that everybody reads now, privately: one that reads like a turn by
// why it is none, if the bot knows; one that reads like a command without its slash by
// asking whether it was meant so. Onlookers talk.
func (s *server) hint(lang string, who outbox.User, text, why string) answer {
	if _, _, turn := bot.BareTurn(text); turn && why != "" {
		return s.refusal(bot.Translated(lang, wordSaid, why))
	} else if turn || who == onlooker {
		return answer{}
	}
	meant := bot.Slashed(strings.TrimRight(text, " ?？"))
	command, args, err := bot.Parse(meant)
	if err != nil {
		return answer{}
	}
	a := s.refusal(bot.Translated(lang, wordMeant, meant))
	a.Message.Controls = []control{{Label: meant, Command: command, Args: args}}
	return a
}

// showPosts puts the posts of a request into the transcript as it settles them. If err
// is not nil, or one of them fails, the bot shows the rest later.
func (s *server) showPosts(ctx context.Context, posts []outbox.Post, err error) {
	defer s.wakePublisher() // for what was typed, too
	for _, p := range posts {
		if p.Kind == match.Answer {
			continue
		}
		if err == nil {
			m := s.line(p)
			s.grow(m)
			p.Message = &m
			err = s.service.Settle(ctx, p, "", nil, nil)
		}
		if err != nil {
			s.log.Warn("post not shown with its answer, outbox will deliver it", "post", p.ID, "error", err)
			if err := s.service.Settle(ctx, p, "", nil, err); err != nil {
				s.log.Error("post not released, will be delivered in a minute", "post", p.ID, "error", err)
			}
			return
		}
	}
}

// refusal is an answer that names a problem.
func (s *server) refusal(text string) answer {
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	return answer{Private: true, Message: &message{Private: true, Text: words(text), At: s.cfg.Now()}}
}

// Texts of the room itself. Their translations are with those of the bot.
const (
	wordTooLong   = "That is too long: at most {0} characters."
	wordTooLarge  = "That is too long: at most {0} MB."
	wordFileAlone = "A record goes with /show or /setup, and nothing else is drawn beside it."
	wordNoCommand = "There is no such command."
	wordNothing   = "There is nothing in that."
	wordSlash     = "A command follows the slash: {/help} lists them."
	wordNoSeat    = "There is no such seat."
	wordName      = "Type your name first, beside the seat."
	wordTaken     = "That is the name of a seat. Choose the seat, or another name."
	wordSeatTaken = "Somebody else sits there. Choose another seat, or ask them to leave theirs."
	wordSeatWarm  = "Somebody sat there until just now and may come back. If not, you can have the seat in {0} seconds."
	wordOnlooker  = "An onlooker only watches. To play, choose the seat Black or White, or another name."
	wordMeant     = "That went to the chat. Did you mean {0}?"
	wordSaid      = "That went to the chat. {0}"
	wordModerator = "{0} You become a moderator of this room at /owner, with its owner token."
	wordNameTaken = "That name belongs to another browser. Choose another name."
	wordAlike     = "That name looks like somebody else's. Choose another name."
	wordFailed    = "Something went wrong here, and nothing is known to have been done."
	wordFast      = "You are sending too fast. Wait {0} seconds."
	wordCrowd     = "Too much comes from your network just now. Wait {0} seconds."
	wordNames     = "Many new names were taken here just now. Take the next one in {0} minutes, or use one that you have."
	wordGames     = "Many games were opened here just now. Open the next one in {0} seconds."
	wordOpen      = "You have {0} unfinished games in this browser. Finish or cancel some before you open another."
	wordCostly    = "That takes me a while, and I was asked for much of it just now. Ask again in {0} seconds."
	wordOldName   = "That name was used here before. Ask a moderator to release it for you."
)

// reply sends JSON. A page that is gone meanwhile asks again.
func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
