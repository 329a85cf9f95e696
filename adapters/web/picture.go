package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/render"
)

// seed makes tags differ from one process to the next: another program may
// draw otherwise.
var seed = maphash.MakeSeed()

// tag names what a scene shows: the same scene has the same tag.
func tag(s render.Scene) string {
	s.Words = nil
	data, _ := json.Marshal(s)
	return strconv.FormatUint(maphash.Bytes(seed, data), 36)
}

// picture draws a game as it was shown.
func (s *server) picture(w http.ResponseWriter, r *http.Request) {
	number, ok := strings.CutSuffix(r.PathValue("seq"), ".png")
	seq, err := strconv.Atoi(number)
	if !ok || err != nil {
		http.NotFound(w, r)
		return
	}
	// Games of other platforms are not for whoever has found out their ids.
	game := bot.GameID(r.PathValue("game"))
	m, _, err := s.cfg.Log.Match(r.Context(), game)
	if err != nil || m.Where.Platform != platform || m.Where.Channel != channel {
		http.NotFound(w, r)
		return
	}
	scene, err := s.desk.Scene(r.Context(), game, seq)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	s.draw(w, r, scene)
}

// answerPicture draws what an answer showed.
func (s *server) answerPicture(w http.ResponseWriter, r *http.Request) {
	a, ok := s.answers.get(r.PathValue("key"))
	if !ok || a.scene == nil {
		http.NotFound(w, r)
		return
	}
	s.draw(w, r, *a.scene)
}

// draw sends the picture of a scene in the theme and size that are asked for.
func (s *server) draw(w http.ResponseWriter, r *http.Request, scene render.Scene) {
	q := r.URL.Query()
	o := render.Options{Theme: q.Get("theme"), Size: q.Get("size")}
	if o.Theme != "" && !slices.Contains(render.Themes(), o.Theme) || o.Size != "" && !slices.Contains(render.Sizes(), o.Size) {
		http.Error(w, "There is no such theme or size.", http.StatusBadRequest)
		return
	}
	now := tag(scene)
	key := now + "-" + o.Theme + "-" + o.Size
	data, ok := s.drawn.get(key)
	if !ok {
		var b bytes.Buffer
		if err := render.PNG(&b, scene, o); err != nil {
			s.log.Error("a picture was not drawn", "error", err)
			http.Error(w, "The picture cannot be drawn.", http.StatusInternalServerError)
			return
		}
		data = b.Bytes()
		s.drawn.put(key, data)
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "private, no-cache")
	if q.Get("v") == now {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	serve(w, r, `"`+key+`"`, data)
}

// answerFile sends the file that came with a message: one of the transcript, or
// an answer that only one person saw.
func (s *server) answerFile(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	a, _ := s.answers.get(key)
	f := a.file
	if f == nil {
		m, err := s.cfg.Log.Message(r.Context(), key)
		if err != nil && !errors.Is(err, bot.ErrNotFound) {
			s.log.Error("the transcript cannot be read", "error", err)
			http.Error(w, "The file cannot be read.", http.StatusInternalServerError)
			return
		}
		if ok, err := s.mayRead(r.Context(), m, browserOf(r)); ok && err == nil {
			f = m.File
		}
	}
	if f == nil || f.Name != r.PathValue("file") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.Type)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	serve(w, r, `"`+tagOf(f.Data)+`"`, f.Data)
}

func tagOf(data []byte) string { return strconv.FormatUint(maphash.Bytes(seed, data), 36) }

// serve sends data, or says that the browser has it already.
func serve(w http.ResponseWriter, r *http.Request, tag string, data []byte) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
