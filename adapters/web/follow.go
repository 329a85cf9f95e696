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
// whenever it changes, and every heartbeat, so that the page knows that it still listens.
// When the page can no longer be read, the last event is "gone".
func (s *server) follow(w http.ResponseWriter, r *http.Request) {
	v, err := s.watched(r)
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
	send := s.streaming(w, r)
	retry := "retry: 5000\n\n"
	for send(fmt.Appendf(nil, "%sdata: %d\n\n", retry, v.Match.Seq)) == nil && s.await(r.Context(), v.Changed) {
		if v, err = s.watchedAfter(r, v.Changed); err != nil {
			if errors.Is(err, bot.ErrNotFound) {
				_ = send([]byte("event: gone\ndata: \n\n"))
			}
			return
		}
		retry = ""
	}
}

// watched returns the game of a page as it is now, if it may be read. Its View has little else.
func (s *server) watched(r *http.Request) (bot.View, error) {
	return s.service.View(r.Context(), bot.Viewing{Slug: r.PathValue("slug"), Watch: true})
}

// watchedAfter is watched for somebody who has waited for a change. All whom the same change
// has woken share one answer.
func (s *server) watchedAfter(r *http.Request, changed <-chan struct{}) (bot.View, error) {
	select {
	case <-changed:
		return s.changed.get(changed, func() (bot.View, error) {
			return s.watched(r.WithContext(context.WithoutCancel(r.Context())))
		})
	default: // it was only a heartbeat
		return s.watched(r)
	}
}

// await waits for a change, no longer than a heartbeat, and reports whether the reader and
// the room are still there.
func (s *server) await(ctx context.Context, changed <-chan struct{}) bool {
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	select {
	case <-changed:
	case <-beat.C:
	case <-s.stopping.Done():
		return false
	case <-ctx.Done():
		return false
	}
	return true
}
