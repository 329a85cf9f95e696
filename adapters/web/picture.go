package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// seed makes tags differ from one program to the next, which may draw otherwise. It is the same in
// all processes of one build, as far as that can be told.
var seed = sync.OnceValue(func() []byte {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return []byte(rand.Text())
	}
	build := sha256.New()
	fmt.Fprint(build, info)
	if name, err := os.Executable(); err == nil && (info.Main.Version == "(devel)" || strings.HasSuffix(info.Main.Version, "+dirty")) { // many programs are built so
		if file, err := os.Stat(name); err == nil {
			fmt.Fprint(build, file.Size(), file.ModTime().UnixNano())
		}
	}
	return build.Sum(nil)
})

// tag names what a picture shows: the same picture has the same tag.
func tag(p render.Picture) string {
	data, _ := json.Marshal(p)
	return tagOf(data)
}

func tagOf(data []byte) string {
	h := sha256.New()
	h.Write(seed())
	h.Write(data)
	return strconv.FormatUint(binary.BigEndian.Uint64(h.Sum(nil)), 36)
}

// A board is a scene with its tag and its description, which are made when first
// needed.
type board struct {
	drawing
	scene render.Scene
	path  string // of the page that shows it; empty: it has none
}

// A drawing is a picture with its tag and its description.
type drawing struct {
	picture render.Picture
	tag     func() string
	alt     func() string
}

func newBoard(s render.Scene, path string) *board { return &board{*newDrawing(s), s, path} }

func newDrawing(p render.Picture) *drawing {
	return &drawing{p, sync.OnceValue(func() string { return tag(p) }), sync.OnceValue(p.Text)}
}

// A boardKey names a board of a game of this room: how the game was after an event.
type boardKey struct {
	game match.GameID
	seq  int
}

// board returns a board of a game that was shown in this room, or the table of an event, which
// has no picture before its games begin. Its error is bot.ErrNotFound if there is none.
func (s *server) board(ctx context.Context, game match.GameID, seq int) (*board, error) {
	return s.boards.get(boardKey{game, seq}, func() (*board, error) {
		view, err := s.service.View(context.WithoutCancel(ctx), bot.Viewing{Game: game, Seq: seq}) // it is for others, too
		if err != nil {
			return nil, err
		}
		if view.Sheet != nil {
			return &board{drawing: *newDrawing(*view.Sheet), path: view.Path}, nil
		}
		if contest.Is(game) { // nobody is paired yet
			return &board{path: view.Path}, nil
		}
		return newBoard(view.Scene, view.Path), nil
	})
}

// picture draws a game as it was shown.
func (s *server) picture(w http.ResponseWriter, r *http.Request) {
	number, ok := strings.CutSuffix(r.PathValue("seq"), ".png")
	seq, err := strconv.Atoi(number)
	if !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	game := match.GameID(r.PathValue("game"))
	if !s.boards.Contains(boardKey{game, seq}) {
		// An id of a game on another platform gives no access to it.
		where, err := s.whereOf(r.Context(), game)
		if err != nil || where.Platform != platform || where.Channel != channel {
			http.NotFound(w, r)
			return
		}
	}
	b, err := s.board(r.Context(), game, seq)
	if err != nil || b.picture == nil {
		http.NotFound(w, r)
		return
	}
	s.draw(w, r, &b.drawing, chosen(w, r, &b.drawing))
}

// whereOf returns the room of a game or of an event.
func (s *server) whereOf(ctx context.Context, id match.GameID) (match.Room, error) {
	if contest.Is(id) {
		h, _, err := s.cfg.Log.Contest(ctx, id)
		return h.Where, err
	}
	m, _, err := s.cfg.Log.Match(ctx, id)
	return m.Where, err
}

// answerPicture draws the picture of an answer.
func (s *server) answerPicture(w http.ResponseWriter, r *http.Request) {
	switch a, ok := s.extrasOf(w, r); {
	case !ok:
	case a.drawing == nil:
		http.NotFound(w, r)
	default:
		s.draw(w, r, a.drawing, chosen(w, r, a.drawing))
	}
}

// chosen returns the theme, layout and size that a request names. A page of the room that
// names the tag of the picture, too, may keep it.
func chosen(w http.ResponseWriter, r *http.Request, d *drawing) render.Options {
	q := r.URL.Query()
	w.Header().Set("Cache-Control", "private, no-cache")
	if q.Get("v") == d.tag() {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	return render.Options{Theme: q.Get("theme"), Size: q.Get("size"), Layout: q.Get("layout")}
}

// draw sends a picture.
func (s *server) draw(w http.ResponseWriter, r *http.Request, d *drawing, o render.Options) {
	if _, _, err := o.Bounds(); err != nil {
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, "There is no such theme, layout or size.", http.StatusBadRequest)
		return
	}
	key := d.tag() + "-" + o.Theme + "-" + o.Layout + "-" + o.Size
	data, err := s.drawn.get(key, func() ([]byte, error) {
		var png bytes.Buffer
		err := d.picture.Draw(&png, o)
		return png.Bytes(), err
	})
	if err != nil {
		s.log.Error("drawing a picture failed", "error", err)
		http.Error(w, "The picture cannot be drawn.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	serve(w, r, `"`+key+`"`, data)
}

// answerFile sends the file that came with a message: one of the transcript, or
// an answer that only one person saw.
func (s *server) answerFile(w http.ResponseWriter, r *http.Request) {
	a, ok := s.extrasOf(w, r)
	switch f := a.file; {
	case !ok:
	case f == nil || f.Name != r.PathValue("file"):
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", f.Type)
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
		serve(w, r, `"`+tagOf(f.Data)+`"`, f.Data)
	}
}

// extrasOf returns what came with a message. If the browser cannot have it, extrasOf answers the
// request.
func (s *server) extrasOf(w http.ResponseWriter, r *http.Request) (a extras, ok bool) {
	own := ownKey(r.PathValue("key"), browserOf(r))
	if a, ok = s.answers.Get(own); ok {
		return a, true
	}
	m, err := s.cfg.Log.Message(r.Context(), r.PathValue("key"))
	if errors.Is(err, bot.ErrNotFound) {
		var req bot.Request
		if req, ok, err = s.ownRequest(r); ok {
			wait, others := s.limits.requests.spend(clientOf(r), 1, s.cfg.Now())
			if wait == 0 {
				wait, others = s.limits.costly.spend(clientOf(r), costly[req.Command], s.cfg.Now())
			}
			if wait > 0 {
				slowDown(w, browserLanguage(r), wait, others)
				return a, false
			}
			err = s.work(r.Context(), req.Command, func() (err error) {
				a, err = s.again(r.Context(), own, req)
				return err
			})
		}
	} else if err == nil {
		var browser string
		if browser, err = s.holderOf(r, strings.TrimPrefix(m.Room, channel+"/")); err == nil {
			ok, err = s.mayRead(r.Context(), m, browser)
		}
		if ok {
			command := "" // in memory, or stored
			if _, known := s.answers.Get(m.Key); !known && m.Question != nil {
				command = m.Question.Command
			}
			err = s.work(r.Context(), command, func() (err error) {
				a, err = s.answered(r.Context(), m)
				return err
			})
		}
	}
	switch {
	case errors.Is(err, bot.ErrChanges), errors.Is(err, errNothingCame):
		ok, err = false, nil
		http.NotFound(w, r)
	case err != nil:
		s.log.Error("finding what came with a message failed", "key", r.PathValue("key"), "error", err)
		http.Error(w, "Something went wrong here.", http.StatusInternalServerError)
	case !ok:
		http.NotFound(w, r)
	}
	return a, ok && err == nil
}

// answered returns what came with a message of the transcript. A question is asked again, by
// nobody in particular.
func (s *server) answered(ctx context.Context, m outbox.Message) (extras, error) {
	if m.Question == nil {
		a, known := s.answers.Get(m.Key)
		if !known {
			a.file = m.File
		}
		return a, nil
	}
	req := request(onlooker)
	req.ID, req.Command, req.Args, req.Seq = platform+":"+m.Key, m.Question.Command, askedArgs(m), m.Question.Seq
	return s.again(ctx, m.Key, req)
}

// again returns what came with an answer, by its key in memory. If it is not there, again asks the
// question.
func (s *server) again(ctx context.Context, key string, req bot.Request) (extras, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime) // it is for others, too
	defer cancel()
	return s.answers.get(key, func() (extras, error) {
		req.Shows, req.Reads = true, true
		answer, err := s.service.Ask(ctx, req)
		if own := answer.Own(); err == nil && !own.Refused {
			return extrasIn(own), nil
		}
		return extras{}, cmp.Or(err, errNothingCame)
	})
}

// errNothingCame means that a question has no answer any more.
var errNothingCame = errors.New("the question has no answer")

// extrasIn returns what comes with an answer.
func extrasIn(p outbox.Post) extras {
	a := extras{file: p.File}
	if picture, _ := p.Picture(); picture != nil {
		a.drawing = newDrawing(picture)
	}
	return a
}

// askedArgs returns the arguments of a message's question, with the number of the game.
func askedArgs(m outbox.Message) map[string]string {
	args := map[string]string{}
	maps.Copy(args, m.Question.Args)
	if m.Question.Game != "" && m.Number > 0 {
		args["game"] = strconv.Itoa(m.Number)
	}
	return args
}

// Longer questions are not asked again, in bytes. One whose answer is in the transcript is measured
// by its diagram or record; another one as JSON, since proxies take addresses of 8 KB.
const (
	maxKeptDiagram = 16 << 10
	maxOwnQuestion = 5000
)

// ownKey is the key in memory of an answer that only one browser sees.
func ownKey(key, browser string) string { return key + " " + browser }

// An ownQuestion is a question whose answer only one browser sees. It is in the addresses of what
// comes with the answer: whoever sends it could as well ask it.
type ownQuestion struct {
	Seat    string            `json:"seat"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args,omitempty"`
	Seq     int               `json:"seq,omitempty"`
}

// query returns the question as the query of an address; empty: it is too long.
func (q ownQuestion) query() string {
	data, err := json.Marshal(q)
	if err != nil || len(data) > maxOwnQuestion {
		return ""
	}
	return "again=" + base64.RawURLEncoding.EncodeToString(data)
}

// ownRequest reads the question in an address. It reports false if there is none that the browser
// can ask.
func (s *server) ownRequest(r *http.Request) (req bot.Request, ok bool, err error) {
	var q ownQuestion
	data, err := base64.RawURLEncoding.DecodeString(r.FormValue("again"))
	if err != nil || len(data) > maxOwnQuestion || json.Unmarshal(data, &q) != nil || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return req, false, nil
	}
	who, noSeat := userOf(q.Seat)
	if noSeat != "" {
		return req, false, nil
	}
	now := bot.Current(match.Control{Command: q.Command, Args: q.Args})
	req = request(who)
	req.ID, req.Lang, req.Command, req.Args, req.Seq = platform+":"+r.PathValue("key"), browserLanguage(r), now.Command, now.Args, q.Seq
	req.Moderator, _ = s.checkOwner(r, ownerCookieOf(r))
	browser, err := s.holderOf(r, who.ID)
	if err == nil {
		ok, _, err = s.holds(r.Context(), who.ID, browser)
	}
	return req, ok, err
}

// serve sends data, or says that the browser has it already.
func serve(w http.ResponseWriter, r *http.Request, tag string, data []byte) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
