package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A record or a position that somebody brings has a page like that of a game, at /p/ and its
// slug. It belongs to the browser that brought it, and only that may see it until it is shared.

const (
	maxMine  = 20                          // records of a browser
	maxBring = 64<<10 + 2*match.MaxDiagram // bytes of the form: it may have a file and a text
	tooMuch  = 32 << 20                    // of a form that is too long nobody reads more, to answer it
	bringing = "record"                    // in the list of what is costly
)

// isRecord reports whether a request is for the page of a record.
func isRecord(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/p/") }

// deadQuery returns what the address of a record says of dead stones.
func deadQuery(r *http.Request, v bot.View) string {
	if isRecord(r) && r.URL.Query().Get("dead") != "" {
		return "?dead=" + url.QueryEscape(v.Dead)
	}
	return ""
}

// momentQuery returns what the address of a moment says besides it.
func momentQuery(r *http.Request, v bot.View) string {
	dead, as := deadQuery(r, v), queryOf(v)
	if dead != "" && as != "" {
		return dead + "&" + as[1:]
	}
	return dead + as
}

// A recordView is what the page of a record says besides that of a game.
type recordView struct {
	Name, About string
	Repairs     []string
	Dead        string
	Files       []link
	Mine        bool   // it belongs to the browser, or the browser is a moderator's
	Shared      string // the address that is shared; empty: only its browser may see it
}

// record returns the record that a request names, if its browser may see it. Frames of other
// sites have no browser.
func (s *server) record(r *http.Request) (bot.Record, error) {
	record, err := s.cfg.Log.Record(r.Context(), r.PathValue("slug"))
	if err == nil && !record.Shared && (embeds(r.URL.Path) || !owns(r, record)) {
		err = bot.ErrNotFound
	}
	return record, err
}

func owns(r *http.Request, record bot.Record) bool {
	return record.Browser != "" && record.Browser == browserOf(r)
}

// viewRecord returns the view of a moment of the record that a request names.
func (s *server) viewRecord(r *http.Request, v bot.Viewing) (bot.View, error) {
	record, err := s.record(r)
	if err != nil {
		return bot.View{}, err
	}
	v.Record, v.Dead = &record, strings.TrimSpace(r.URL.Query().Get("dead"))
	view, err := s.service.View(r.Context(), v)
	if now := s.cfg.Now(); err == nil && record.Shared && now.Sub(record.Visited) > 24*time.Hour {
		err = s.cfg.Log.VisitRecord(r.Context(), record.Slug, now)
	}
	return view, err
}

// recordView returns what the page of a record has besides that of a game.
func (s *server) recordView(r *http.Request, v bot.View) (*recordView, error) {
	record, err := s.record(r)
	if err != nil {
		return nil, err
	}
	moderator, _ := s.checkOwner(r, ownerCookieOf(r))
	path := gamePath(r)
	out := &recordView{Name: bot.CleanName(record.Name), About: v.About, Repairs: v.Guessed, Dead: v.Dead, Mine: owns(r, record) || moderator,
		Files: []link{{path + "/record.sgf", "SGF"}, {path + "/record.gif", "GIF"}}}
	if record.Name == "" {
		out.Name = ""
	}
	if record.Shared {
		out.Shared = s.address(r, path)
	}
	return out, nil
}

// recordFile sends a record as a file.
func (s *server) recordFile(w http.ResponseWriter, r *http.Request) {
	kind := strings.TrimPrefix(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/'):], "/record.")
	if kind == "gif" {
		if wait, others := s.limits.costly.spend(clientOf(r), costly["replay"], s.cfg.Now()); wait > 0 {
			slowDown(w, browserLanguage(r), wait, others)
			return
		}
	}
	var v bot.View
	err := s.inTurn(r.Context(), func() (err error) {
		v, err = s.viewRecord(r, bot.Viewing{Lang: readerLanguage(r), File: kind})
		return err
	})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	h := w.Header()
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Type", v.File.Type)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": v.File.Name}))
	serve(w, r, `"`+tagOf(v.File.Data)+`"`, v.File.Data)
}

// A recordsView is the data of the page for records.
type recordsView struct {
	head
	Problem, Text string
	Mine          []mineView
}

// A mineView is a record of the browser that reads the page.
type mineView struct {
	URL, Name string
	Shared    bool
}

// recordsPage shows the form that takes records, and those of the browser.
func (s *server) recordsPage(w http.ResponseWriter, r *http.Request) {
	introduce(w, r)
	s.showRecords(w, r, http.StatusOK, "", "")
}

func (s *server) showRecords(w http.ResponseWriter, r *http.Request, status int, problem, text string) {
	lang := pageLanguage(browserLanguage(r))
	mine, err := s.cfg.Log.Records(r.Context(), browserOf(r))
	if err != nil {
		s.failed(w, r, err)
		return
	}
	v := recordsView{head: head{Lang: lang, Title: bot.Translated(lang, wordRecords)}, Problem: problem, Text: text}
	for _, m := range mine {
		name := m.Name
		if name == "" {
			name = m.Slug
		}
		v.Mine = append(v.Mine, mineView{"/p/" + m.Slug, bot.CleanName(name), m.Shared})
	}
	s.write(w, status, "records.html", false, v)
}

// bringRecord takes a record, and leads to its page.
func (s *server) bringRecord(w http.ResponseWriter, r *http.Request) {
	lang, c := browserLanguage(r), clientOf(r)
	if wait, others := s.afford(r, c); wait > 0 {
		slowDown(w, lang, wait, others)
		return
	}
	says := func(status int, word string, args ...string) {
		s.showRecords(w, r, status, bot.Translated(pageLanguage(lang), word, args...), "")
	}
	name, text, err := s.readForm(w, r)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) || len(text) > match.MaxDiagram:
		says(http.StatusRequestEntityTooLarge, wordTooLarge, strconv.Itoa(match.MaxDiagram>>20))
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		says(http.StatusServiceUnavailable, wordFailed)
		return
	case err != nil:
		says(http.StatusBadRequest, wordNoForm)
		return
	case strings.TrimSpace(text) == "":
		says(http.StatusBadRequest, wordNothing)
		return
	case strings.HasPrefix(text, "PK\x03\x04"):
		says(http.StatusBadRequest, wordZip)
		return
	}
	if wait, _ := s.limits.costly.spend(c, costly[bringing], s.cfg.Now()); wait > 0 {
		says(http.StatusTooManyRequests, wordCostly, strconv.Itoa(seconds(wait)))
		return
	}
	if wait, others := s.limits.records.spend(c, 1, s.cfg.Now()); wait > 0 {
		slowDown(w, lang, wait, others)
		return
	}
	if wait := s.limits.kept.Spend(c.address, float64(len(text)), s.cfg.Now()); wait > 0 {
		slowDown(w, lang, wait, true)
		return
	}
	if name != "" {
		name = bot.CleanName(name) // which is short, whatever was sent
	}
	record := bot.Record{Slug: strings.ToLower(rand.Text())[:20], Browser: introduce(w, r), Name: name, Text: text, Visited: s.cfg.Now()}
	err = s.work(r.Context(), bringing, func() error {
		_, err := s.service.View(r.Context(), bot.Viewing{Record: &record, Lang: pageLanguage(lang)})
		return err
	})
	if err != nil {
		if r.Context().Err() != nil {
			return
		}
		shown := text
		if len(shown) > 4<<10 || !isText(shown) {
			shown = ""
		}
		s.showRecords(w, r, http.StatusBadRequest, bot.Explain(err, pageLanguage(lang)), shown)
		return
	}
	switch err := s.cfg.Log.AddRecord(r.Context(), record, maxMine); {
	case errors.Is(err, bot.ErrTooMany):
		says(http.StatusConflict, wordManyRecords, strconv.Itoa(maxMine))
	case errors.Is(err, bot.ErrFull):
		says(http.StatusInsufficientStorage, wordFullRecords)
	case err != nil:
		s.failed(w, r, err)
	default:
		http.Redirect(w, r, "/p/"+record.Slug, http.StatusSeeOther)
	}
}

// forgetRecords deletes what a browser brought: that of somebody who is forgotten may not be
// the one that holds their name, whose records the bot deletes.
func (s *server) forgetRecords(ctx context.Context, browser string) error {
	records, err := s.cfg.Log.Records(ctx, browser)
	for _, r := range records {
		err = errors.Join(err, s.cfg.Log.DeleteRecord(ctx, r.Slug, nil))
	}
	return err
}

// readForm reads the form of a record: the name of its file, and its text. Of a form that is
// too long it reads the rest, because browsers show an answer only once they have sent all.
func (s *server) readForm(w http.ResponseWriter, r *http.Request) (name, text string, err error) {
	err = s.readBody(w, func() error {
		whole := r.Body
		r.Body = http.MaxBytesReader(w, io.NopCloser(io.LimitReader(whole, tooMuch)), maxBring)
		err := r.ParseMultipartForm(maxBring) // all of it stays in memory
		if large := new(http.MaxBytesError); errors.As(err, &large) {
			_, _ = io.Copy(io.Discard, io.LimitReader(whole, tooMuch))
		}
		return err
	})
	if err != nil {
		return "", "", err
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	text = r.PostFormValue("text")
	file, header, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || err == nil && header.Size == 0 && header.Filename == "" {
		return "", text, nil
	}
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	var data bytes.Buffer
	_, err = data.ReadFrom(file)
	if data.Len() == 0 && text != "" {
		return "", text, err
	}
	return header.Filename, data.String(), err
}

// isText reports whether a form can have something in a field of text.
func isText(s string) bool { return strings.ToValidUTF8(s, "") == s && !strings.ContainsRune(s, 0) }

// changeRecord shares a record, takes that back, or deletes it.
func (s *server) changeRecord(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	if err := s.readBody(w, r.ParseForm); err != nil {
		http.Error(w, "That cannot be read.", http.StatusBadRequest)
		return
	}
	record, err := s.record(r)
	moderator, _ := s.checkOwner(r, ownerCookieOf(r))
	if err == nil && !owns(r, record) && !moderator {
		err = bot.ErrNotFound
	}
	to, ctx := gamePath(r), context.WithoutCancel(r.Context())
	if err == nil {
		switch r.PostForm.Get("do") {
		case "share":
			err = s.cfg.Log.KeepRecord(ctx, record.Slug, true, s.cfg.Now())
		case "hide":
			err = s.cfg.Log.KeepRecord(ctx, record.Slug, false, s.cfg.Now())
		case "delete":
			var act *match.Act
			if !owns(r, record) {
				act = s.act(bot.DeletedRecord(record.Slug))
			}
			err = s.cfg.Log.DeleteRecord(ctx, record.Slug, act)
			to = "/records"
		}
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
