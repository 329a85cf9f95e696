package web

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// Other sites may show the board of a game in a frame. The document in the frame needs nothing
// else from the room, so that nothing else is open to other sites, not even a stylesheet. It has
// no scripts and no forms, and reads no cookie: what somebody does elsewhere cannot act here.

// embedStyle is the stylesheet of an embedded board, and embedPolicy allows nothing besides.
var embedStyle, embedPolicy = func() (template.CSS, string) {
	var all strings.Builder
	for _, name := range []string{"base.css", "embed.css"} {
		data, err := page.ReadFile("page/" + name)
		if err != nil {
			panic(err)
		}
		all.Write(data)
	}
	all.WriteString(render.SVGCSS())
	hash := sha256.Sum256([]byte(all.String()))
	return template.CSS(all.String()), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors *"
}()

// embeds reports whether a path is that of a board to embed.
func embeds(path string) bool {
	return (strings.HasPrefix(path, "/g/") || strings.HasPrefix(path, "/p/")) && strings.HasSuffix(path, "/embed")
}

// An embedView is the data of an embedded board.
type embedView struct {
	head
	Style           template.CSS
	Players         []player
	Board           template.HTML
	Score, Kind     string
	Told, Next, URL string
}

// embed shows the board of a game, now or after an event, to a frame of another site.
func (s *server) embed(w http.ResponseWriter, r *http.Request) {
	if wait, others := s.limits.reads.spend(client{address: addressOf(r)}, 1, s.cfg.Now()); wait > 0 {
		slowDown(w, browserLanguage(r), wait, others)
		return
	}
	var page []byte
	err := s.inTurn(r.Context(), func() error {
		v, err := s.view(r, readerLanguage(r), outbox.User{})
		if err == nil {
			page = s.page("embed.html", s.embedView(r, v))
		}
		return err
	})
	if err != nil {
		s.failed(w, r, err)
		return
	}
	h := w.Header()
	h.Del("X-Frame-Options")
	s.send(w, http.StatusOK, page, false, embedPolicy)
}

func (s *server) embedView(r *http.Request, v bot.View) embedView {
	scene, query := v.Scene, momentQuery(r, v)
	if counted(v) {
		scene = v.As.Scene
	}
	if scene.Words == nil {
		scene.Words = &render.English
	}
	var board strings.Builder
	if err := render.SVG(&board, scene, render.Options{}); err != nil {
		s.log.Error("drawing a board failed", "error", err)
	}
	return embedView{
		head: head{Lang: v.Lang, Title: v.Title}, Style: embedStyle,
		Players: playersOf(v, scene), Board: template.HTML(board.String()),
		Score: scene.Headline, Kind: scene.Caption, Told: scene.Told, Next: scene.Next,
		URL: strings.TrimSuffix(r.URL.Path, "/embed") + query,
	}
}

// embedCode returns the HTML with which another page shows the board of a page.
func (s *server) embedCode(r *http.Request, v bot.View, query string) string {
	return `<iframe src="` + html.EscapeString(s.address(r, r.URL.Path+"/embed"+query)) + `" title="` + html.EscapeString(v.Title) +
		`" width="400" height="500" loading="lazy"></iframe>`
}
