package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// The page of an event needs no JavaScript: its numbers open by touch and by keyboard, with the
// browser's popovers. The same rules hold for it as for the pages of games.

// An eventView is the data of an event's page.
type eventView struct {
	head
	*bot.EventView
	Path, Theme string
	Seq         int
	Room        bool // the event takes place in the local room
	SignUp      bool
	Playing     []bot.EventGame // those that wait longest first
	Ended       []bot.EventGame
	Files       []link
}

// A sumView is a number of a table, with the id of what says where it comes from.
type sumView struct {
	bot.EventSum
	ID string
}

func sumOf(s bot.EventSum, kind string, group, row int) sumView {
	return sumView{s, fmt.Sprintf("%s%d-%d", kind, group+1, row+1)}
}

// eventFiles are the files of an event, as bot.Viewing.File names them, and what links to them
// say.
var eventFiles = []struct{ file, label string }{{"csv", wordPlayerSheet}, {"games.csv", wordGameSheet}, {"json", wordAuditFile}}

// eventPage shows an event, or sends one of its files.
func (s *server) eventPage(w http.ResponseWriter, r *http.Request) {
	slug, file, _ := strings.Cut(r.PathValue("slug"), ".")
	switch {
	case file == "png":
		s.reading(drawReads, s.eventPicture)(w, r)
		return
	case file != "":
		s.eventFile(w, r, slug, file)
		return
	}
	var page made
	err := s.inTurn(r.Context(), func() (err error) {
		page, err = s.makeEventPage(r, slug)
		return err
	})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	s.send(w, page.status, page.page, page.public, pagePolicy)
}

// makeEventPage makes the page of an event for a request, if it may be read now. It is the same
// for all readers of a language and a look, so it is made once for them.
func (s *server) makeEventPage(r *http.Request, slug string) (made, error) {
	now, err := s.service.View(r.Context(), bot.Viewing{Event: slug, Watch: true})
	if err != nil {
		return made{}, err
	}
	key := shared{"/e/" + slug, s.address(r, ""), readerLanguage(r), fmt.Sprint(lookOf(r)), nil, now.Seq, now.Public, s.cfg.Now().Unix()}
	return s.pages.get(fmt.Sprintf("%#v", key), func() (made, error) {
		v, err := s.service.View(context.WithoutCancel(r.Context()), bot.Viewing{Event: slug, Lang: readerLanguage(r)})
		if err != nil {
			return made{}, err
		}
		return made{http.StatusOK, s.page("event.html", s.eventView(r, v)), v.Public}, nil
	})
}

func (s *server) eventView(r *http.Request, v bot.View) eventView {
	page := eventView{
		head:      head{v.Lang, v.Title, v.Public, &preview{bot.Within(v.Title, previewTitle), bot.Within(v.Text, previewText), s.address(r, v.Path), nil}},
		EventView: v.Event, Path: v.Path, Seq: v.Seq, Theme: lookTheme(r), Room: v.Event.Local, SignUp: v.Event.State == contest.SignUp,
	}
	if v.Sheet != nil {
		alt, _, _ := strings.Cut(v.Sheet.Text(), "\n")
		width, height, _ := v.Sheet.Bounds(render.Options{})
		page.Preview.Image = &image{s.address(r, v.Path+".png"), alt, width, height}
	}
	for _, g := range v.Event.Games {
		if g.Open {
			page.Playing = append(page.Playing, g)
		} else {
			page.Ended = append(page.Ended, g)
		}
	}
	if v.Sheet != nil {
		page.Files = []link{{v.Path + ".png", bot.Translated(v.Lang, wordPicture)}}
	}
	for _, f := range eventFiles {
		page.Files = append(page.Files, link{v.Path + "." + f.file, bot.Translated(v.Lang, f.label)})
	}
	return page
}

// lookTheme returns the class that gives boards the theme which the browser has chosen.
func lookTheme(r *http.Request) string {
	if theme := lookOf(r)["theme"]; theme != "" {
		return "board-" + theme
	}
	return "board-auto"
}

// eventFile sends a file of an event, to keep.
func (s *server) eventFile(w http.ResponseWriter, r *http.Request, slug, file string) {
	var v bot.View
	err := s.inTurn(r.Context(), func() (err error) {
		v, err = s.service.View(r.Context(), bot.Viewing{Event: slug, File: file, Lang: readerLanguage(r)})
		return err
	})
	if err == nil && v.File == nil {
		err = bot.ErrNotFound
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	h := w.Header()
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Type", v.File.Type)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": v.File.Name}))
	serve(w, r, `"`+tagOf(v.File.Data)+`"`, v.File.Data)
}

// eventPicture draws the table of an event.
func (s *server) eventPicture(w http.ResponseWriter, r *http.Request) {
	slug, _, _ := strings.Cut(r.PathValue("slug"), ".")
	v, err := s.service.View(r.Context(), bot.Viewing{Event: slug, Lang: readerLanguage(r)})
	if err == nil && v.Sheet == nil {
		err = bot.ErrNotFound
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	if !v.Public {
		w.Header().Set("X-Robots-Tag", "noindex")
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	s.draw(w, r, s.queued(*v.Sheet), render.Options{Theme: r.URL.Query().Get("theme")})
}

// svgStyle is the stylesheet of a board that is a picture by itself, and svgPolicy allows
// nothing besides.
var svgStyle, svgPolicy = func() (string, string) {
	style := render.SVGCSS()
	hash := sha256.Sum256([]byte(style))
	return "<style>" + style + "</style>", "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}()

// boardSVG sends the board of a game's page as a small picture without names.
func (s *server) boardSVG(w http.ResponseWriter, r *http.Request) {
	var v bot.View
	err := s.inTurn(r.Context(), func() (err error) {
		v, err = s.view(r, "", outbox.User{})
		return err
	})
	var out strings.Builder
	if err == nil {
		v.Scene.Look = render.Options{}
		err = render.SVG(&out, v.Scene, render.Options{Coordinates: "none"})
	}
	if err != nil {
		s.failed(w, r, err)
		return
	}
	svg := strings.Replace(out.String(), `class="board"`, `class="board `+lookTheme(r)+`"`, 1)
	before, after, _ := strings.Cut(svg, ">")
	data := []byte(before + ">" + svgStyle + after)
	h := w.Header()
	if !v.Public {
		h.Set("X-Robots-Tag", "noindex")
	}
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", svgPolicy)
	h.Set("Cache-Control", "private, no-cache")
	serve(w, r, `"`+tagOf(data)+`"`, data)
}
