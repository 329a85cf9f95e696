package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// roomIndex is the page of the room, without a board.
var roomIndex = preloading(page, "index.html")

// roomPage shows the room. It comes with the board that most readers want to see, so that they
// see it before the scripts of the page run.
func (s *server) roomPage(w http.ResponseWriter, r *http.Request) {
	introduce(w, r)
	whole := roomIndex
	var game []byte
	err := bot.ErrNotFound
	wait, _ := s.limits.reads.spend(clientOf(r), 1, s.cfg.Now())
	// Without an owner, a browser that came through a proxy must not see the board.
	if wait == 0 && (direct(r) || !s.cfg.OwnerToken.IsZero()) {
		err = s.inTurn(r.Context(), func() (err error) {
			game, err = s.newestGame(r)
			return err
		})
	}
	if err != nil && !errors.Is(err, bot.ErrNotFound) && r.Context().Err() == nil {
		s.log.Error("making the board of the room's page failed", "error", err)
	} else if err == nil {
		whole = withBoard(whole, game)
	}
	s.send(w, http.StatusOK, whole, false, pagePolicy) // the board has forms
}

// newestGame makes the page of the newest unfinished game of the room, or returns
// bot.ErrNotFound if there is none with a page.
func (s *server) newestGame(r *http.Request) ([]byte, error) {
	boards, err := s.cfg.Log.Boards(r.Context(), match.Room{Platform: platform, Channel: channel}, 1)
	if err != nil {
		return nil, err
	}
	if len(boards) == 0 {
		return nil, bot.ErrNotFound
	}
	v, err := s.service.View(r.Context(), bot.Viewing{Game: boards[0].Game})
	if err != nil {
		return nil, err
	}
	if v.Path == "" {
		return nil, bot.ErrNotFound
	}
	asked := r.Clone(context.WithoutCancel(r.Context()))
	asked.URL = &url.URL{Path: "/g/" + v.Match.Page}
	asked.SetPathValue("slug", v.Match.Page)
	made, err := s.makeGamePage(asked)
	return made.page, err
}

var (
	mainOf = regexp.MustCompile(`(?s)<html (lang="[^"]*" dir="[^"]*").*<main ([^>]*)>(.*)</main>`)
	noGame = []byte(`data-t hidden>
  <div id="live"></div>`)
)

// withBoard puts the main part of a game's page into that of the room.
func withBoard(room, game []byte) []byte {
	m := mainOf.FindSubmatch(game)
	if m == nil {
		return room
	}
	board := bytes.Join([][]byte{[]byte("data-t>\n  <div id=\"live\" "), m[1], []byte(" "), m[2], []byte(">"), m[3], []byte("</div>")}, nil)
	return bytes.Replace(bytes.Replace(room, noGame, board, 1), []byte(`<body class="`), []byte(`<body class="live `), 1)
}
