package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
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
	a, ok := s.answers.Get(r.PathValue("key"))
	if !ok || a.drawing == nil || !a.mayRead(r) {
		http.NotFound(w, r)
		return
	}
	s.draw(w, r, a.drawing, chosen(w, r, a.drawing))
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
	f, err := s.file(r)
	if err != nil {
		s.log.Error("reading a file of the transcript failed", "error", err)
		http.Error(w, "The file cannot be read.", http.StatusInternalServerError)
		return
	}
	if f == nil || f.Name != r.PathValue("file") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.Type)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	serve(w, r, `"`+tagOf(f.Data)+`"`, f.Data)
}

// file returns the file that came with a message, or nil if there is none that the browser
// may read. A question that has a file as its answer is asked again.
func (s *server) file(r *http.Request) (*outbox.File, error) {
	key := r.PathValue("key")
	if a, _ := s.answers.Get(key); a.file != nil && a.mayRead(r) {
		return a.file, nil
	}
	m, err := s.cfg.Log.Message(r.Context(), key)
	if errors.Is(err, bot.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	browser, err := s.holderOf(r, strings.TrimPrefix(m.Room, channel+"/"))
	if err != nil {
		return nil, err
	}
	if ok, err := s.mayRead(r.Context(), m, browser); !ok || err != nil {
		return nil, err
	}
	if m.Question == nil {
		return m.File, nil
	}
	req := request(onlooker)
	req.ID, req.Command, req.Args, req.Shows = platform+":"+key, m.Question.Command, map[string]string{}, true
	maps.Copy(req.Args, m.Question.Args)
	if m.Question.Game != "" {
		req.Args["game"] = strconv.Itoa(m.Number)
	}
	var again bot.Answer
	err = s.work(r.Context(), req.Command, func() error {
		again, err = s.service.Ask(r.Context(), req)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := again.Own().File
	s.answers.Add(key, extras{nil, f, m.Room != channel, browserOf(r)})
	return f, nil
}

// serve sends data, or says that the browser has it already.
func serve(w http.ResponseWriter, r *http.Request, tag string, data []byte) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
