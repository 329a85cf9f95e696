package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// maxFollowed is how many games one stream may follow: all tabs of a browser share it.
const maxFollowed = 16

// follow streams the number of the newest event of a game to a page that shows it: at once,
// whenever it changes, and every heartbeat, so that the page knows that it still listens.
// When the page can no longer be read, the last event is "gone".
func (s *server) follow(w http.ResponseWriter, r *http.Request) {
	slug := r.PathValue("slug")
	v, err := s.watched(r.Context(), slug)
	switch {
	case errors.Is(err, bot.ErrNotFound):
		s.missing(w, r)
	case err != nil:
		s.failed(w, r, err)
	default:
		s.stream(w, r, func(ctx context.Context, frames chan<- []byte) { s.followOne(ctx, slug, "", v, frames) })
	}
}

// followSeveral streams the same of all games and events that a request names, each number after
// the slug of its game, or that of its event with "e/" before it. The stream ends when none of
// the pages can be read any more.
func (s *server) followSeveral(w http.ResponseWriter, r *http.Request) {
	slugs := slices.Compact(slices.Sorted(slices.Values(r.URL.Query()["game"])))
	if len(slugs) == 0 || len(slugs) > maxFollowed {
		http.Error(w, fmt.Sprintf("A stream follows 1 to %d games.", maxFollowed), http.StatusBadRequest)
		return
	}
	s.stream(w, r, func(ctx context.Context, frames chan<- []byte) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var all sync.WaitGroup
		for _, slug := range slugs {
			all.Go(func() {
				v, err := s.watched(ctx, slug)
				if errors.Is(err, bot.ErrNotFound) {
					say(ctx, frames, gone, slug+" ")
				} else if err != nil || !s.followOne(ctx, slug, slug+" ", v, frames) {
					cancel() // the page comes back for all of them
				}
			})
		}
		all.Wait()
	})
}

// stream streams the frames of produce, until it returns or the reader is gone. It counts the
// stream to the client.
func (s *server) stream(w http.ResponseWriter, r *http.Request, produce func(context.Context, chan<- []byte)) {
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
	if send([]byte("retry: 5000\n\n")) != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	frames := make(chan []byte)
	var produced sync.WaitGroup
	produced.Go(func() {
		produce(ctx, frames)
		close(frames)
	})
	defer produced.Wait()
	defer cancel()
	for frame := range frames {
		if send(frame) != nil {
			return
		}
	}
}

// gone is the last event of a game whose page can no longer be read.
const gone = "event: gone\ndata: %s\n\n"

// followOne sends the frames of a game, which is v now, with before in front of their data. It
// reports whether its page is gone; else something failed, or ctx is done.
func (s *server) followOne(ctx context.Context, slug, before string, v bot.View, frames chan<- []byte) bool {
	for say(ctx, frames, "data: %s%d\n\n", before, v.Seq) && s.await(ctx, v.Changed) {
		var err error
		if v, err = s.watchedAfter(ctx, slug, v.Changed); err != nil {
			return errors.Is(err, bot.ErrNotFound) && say(ctx, frames, gone, before)
		}
	}
	return false
}

// say hands a frame to whoever sends it, and reports false when ctx is done first.
func say(ctx context.Context, frames chan<- []byte, format string, args ...any) bool {
	select {
	case frames <- fmt.Appendf(nil, format, args...):
		return true
	case <-ctx.Done():
		return false
	}
}

// watched returns the game of a page, or an event, as it is now, if it may be read. Its View has
// little else.
func (s *server) watched(ctx context.Context, slug string) (bot.View, error) {
	if event, ok := strings.CutPrefix(slug, "e/"); ok {
		return s.service.View(ctx, bot.Viewing{Event: event, Watch: true})
	}
	return s.service.View(ctx, bot.Viewing{Slug: slug, Watch: true})
}

// watchedAfter is watched for somebody who has waited for a change. All whom the same change
// has woken share one answer.
func (s *server) watchedAfter(ctx context.Context, slug string, changed <-chan struct{}) (bot.View, error) {
	select {
	case <-changed:
		return s.changed.get(changed, func() (bot.View, error) { return s.watched(context.WithoutCancel(ctx), slug) })
	default: // it was only a heartbeat
		return s.watched(ctx, slug)
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
