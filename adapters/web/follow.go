package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// follow streams the number of the newest event of a game to a page that shows it: at once,
// and whenever it changes. When the page can no longer be read, the last event is "gone".
func (s *server) follow(w http.ResponseWriter, r *http.Request) {
	newest := func() (bot.View, error) {
		return s.service.View(r.Context(), bot.Viewing{Slug: r.PathValue("slug"), Watch: true})
	}
	v, err := newest()
	switch {
	case errors.Is(err, bot.ErrNotFound):
		s.missing(w, r)
		return
	case err != nil:
		s.failed(w, r, err)
		return
	}
	address := addressOf(r)
	s.mu.Lock()
	counted := s.count(address)
	s.mu.Unlock()
	if !counted {
		http.Error(w, "Too many pages are open here.", http.StatusServiceUnavailable)
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.uncount(address)
	}()
	send := s.streaming(w)
	frame := "retry: 5000\n\n"
	for {
		frame += fmt.Sprintf("data: %d\n\n", v.Match.Seq)
		if send([]byte(frame)) != nil || !s.await(r.Context(), v.Changed, func() error { return send([]byte(": still here\n\n")) }) {
			return
		}
		frame = ""
		if v, err = newest(); err != nil {
			if errors.Is(err, bot.ErrNotFound) {
				_ = send([]byte("event: gone\ndata: \n\n"))
			}
			return
		}
	}
}

// await waits for a change, with a beat now and then, and reports whether it came before the
// reader left or the room stopped.
func (s *server) await(ctx context.Context, changed <-chan struct{}, beat func() error) bool {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-changed:
			return true
		case <-ticker.C:
			if beat() != nil {
				return false
			}
		case <-s.stopping.Done():
			return false
		case <-ctx.Done():
			return false
		}
	}
}
