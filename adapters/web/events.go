package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The publisher, one goroutine, reads new messages of the transcripts, prepares them once,
// appends them to a backlog in memory and wakes the pages.
// Every page has a goroutine that writes the shared bytes of the backlog from where
// it has got to. What a new page has missed comes from the store.

const (
	history    = 200  // messages that a new page sees
	catchUp    = 2000 // messages that a page may have missed before it must begin anew
	heartbeat  = 15 * time.Second
	maxStreams = 2048
	// maxClientStreams limits the pages of one client address. A club may share one.
	maxClientStreams = 64

	// A page is written to at most ten times in any second: flushRate, and flushBurst
	// at once, for the line that somebody typed and the board that follows.
	flushRate  = 8
	flushBurst = 2

	// A page that falls behind by more than the backlog is dropped, and comes back for
	// what it has missed.
	maxBacklog        = 16 << 20 // bytes
	maxBacklogEntries = 4096

	// The transcripts keep their newest maxTranscript bytes. They are trimmed at the start
	// and whenever they have grown by trimEvery.
	maxTranscript = 64 << 20
	trimEvery     = 1 << 20

	// A new page sees the boards of this many unfinished games, however long ago they
	// were shown.
	maxBoards = 50

	// Names may change, and people be forgotten: nothing that was drawn or made ready
	// is kept longer than this.
	keptFor = 10 * time.Minute
)

// beginAnew is an event that makes a page connect again with the number of a message that
// does not exist, so that it gets all messages again.
const beginAnew = "id: 9007199254740991\nevent: anew\ndata: {}\n\n"

// An entry of the backlog is messages for everybody that follow each other, or one
// private message, ready to be sent.
type entry struct {
	room string     // the transcript that they are in
	n    int64      // number of the private message,
	to   bot.Holder // who had the name or seat when it came
	data []byte
}

// publish keeps the backlog up to date until ctx is done.
func (s *server) publish(ctx context.Context) {
	limiter := rate.NewLimiter(flushRate, flushBurst)
	old := time.NewTicker(keptFor)
	defer old.Stop()
	var others <-chan time.Time // when to look for what other processes wrote
	if s.cfg.Shared {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		others = tick.C
	}
	s.grown.Store(trimEvery)
	var trimmer sync.WaitGroup
	defer trimmer.Wait()
	trimming := make(chan struct{}, 1) // held while the transcript is trimmed: the pages do not wait for that
	for {
		if s.grown.Load() >= trimEvery {
			select {
			case trimming <- struct{}{}:
				s.grown.Store(0)
				trimmer.Go(func() {
					defer func() { <-trimming }()
					if err := s.cfg.Log.Trim(ctx, maxTranscript); err != nil && ctx.Err() == nil {
						s.log.Error("trimming the transcript failed, will retry when it has grown", "error", err)
					}
				})
			default: // it is trimmed again after that
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-old.C:
			s.purge()
			continue
		case <-others:
			if !s.followed() { // nobody reads
				continue
			}
		case <-s.wake:
		}
		if limiter.Wait(ctx) != nil {
			return
		}
		if err := s.collect(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("reading the transcript failed, will retry", "error", err)
			time.AfterFunc(time.Second, s.wakePublisher)
		}
		s.mu.Lock()
		for st := range s.readers {
			if st.next < s.dropped+len(s.backlog) {
				st.notify()
			}
		}
		s.mu.Unlock()
	}
}

// collect appends the new messages of all transcripts to the backlog.
func (s *server) collect(ctx context.Context) error {
	select { // one at a time
	case s.collecting <- struct{}{}:
		defer func() { <-s.collecting }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		if skipped, err := s.skip(ctx); skipped || err != nil {
			return err
		}
		ms, err := s.cfg.Log.After(ctx, s.published, catchUp)
		if err != nil || len(ms) == 0 {
			return err
		}
		entries, err := s.entries(ctx, ms)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.published = ms[len(ms)-1].N
		s.backlog = append(s.backlog, entries...)
		for _, e := range entries {
			s.backlogBytes += len(e.data)
		}
		s.trim()
		s.mu.Unlock()
		if len(ms) < catchUp {
			return nil
		}
	}
}

// entries makes messages ready for the backlog, of the private ones those for somebody
// with an open page.
func (s *server) entries(ctx context.Context, ms []outbox.Message) (entries []entry, err error) {
	who, err := s.people(ctx, ms)
	if err != nil {
		return nil, err
	}
	wanted := s.privateRooms()
	for _, m := range ms {
		var to bot.Holder
		private := m.Room != channel
		if private {
			id, ok := wanted[m.Room]
			if !ok {
				continue
			}
			if to, _, err = s.holder(ctx, id); err != nil {
				return nil, err
			}
		}
		data, err := s.frame(ctx, m, who)
		if err != nil {
			return nil, err
		}
		if n := len(entries); n > 0 && !private && entries[n-1].room == channel {
			entries[n-1].data = append(entries[n-1].data, data...)
			continue
		}
		entries = append(entries, entry{m.Room, m.N, to, slices.Clone(data)})
	}
	return entries, nil
}

// trim drops the oldest entries of a backlog that is too long. The caller holds s.mu.
func (s *server) trim() {
	for len(s.backlog) > 1 && (s.backlogBytes > maxBacklog || len(s.backlog) > maxBacklogEntries) {
		s.backlogBytes -= len(s.backlog[0].data)
		s.backlog = s.backlog[1:]
		s.dropped++
	}
}

// purge drops what was made ready for all.
func (r *Room) purge() {
	r.frames.Purge()
	r.boards.Purge()
	r.drawn.Purge()
}

// followed reports whether a page is open.
func (s *server) followed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.readers) > 0
}

// skip leaves new messages out of the backlog, and reports true, if no page is open:
// the next one finds them in the store.
func (s *server) skip(ctx context.Context) (bool, error) {
	if s.followed() {
		return false, nil
	}
	n, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.readers) > 0 { // somebody has come meanwhile
		return false, nil
	}
	s.published = n
	return true, nil
}

// privateRooms returns the private transcripts of all users with an open page, and their ids.
func (s *server) privateRooms() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	rooms := map[string]string{}
	for st := range s.readers {
		rooms[privateRoom(st.who)] = st.who.ID
	}
	return rooms
}

// frame returns a message as an event of a stream. The caller does not change it.
func (s *server) frame(ctx context.Context, m outbox.Message, who people) ([]byte, error) {
	if data, ok := s.frames.Get(m.N); ok {
		return data, nil
	}
	shown := s.show(ctx, m, who)
	text, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}
	data := fmt.Appendf(nil, "id: %d\ndata: %s\n\n", m.N, text)
	pictured := shown.Kind == match.Show || m.Question != nil && m.File == nil
	if !pictured || shown.Picture != "" { // else the picture failed, and may come the next time
		s.frames.Add(m.N, data)
	}
	return data, nil
}

// A stream is a page that follows the transcript. Room.mu guards what can change.
type stream struct {
	who     outbox.User
	browser string
	address string // of the client; empty: this machine
	wake    chan struct{}

	anew bool // it is to begin anew
	next int  // entry of the backlog that comes next, counted from the start
}

// reads reports whether an entry of the backlog is for a stream.
func (st *stream) reads(e entry) bool {
	switch e.room {
	case channel:
		return true
	case privateRoom(st.who):
		return st.who == onlooker || st.browser != "" && st.browser == e.to.Secret && e.n > e.to.Since
	}
	return false
}

// whose names the person and the browser that a stream is for, so that other tabs of the
// browser know whether what it brings is for them, too; empty: nobody knows which browser it is.
func (st *stream) whose() string {
	if st.browser == "" {
		return ""
	}
	return bot.HashSecret(st.who.ID + "\n" + st.browser)
}

// notify wakes the stream's goroutine.
func (st *stream) notify() {
	select {
	case st.wake <- struct{}{}:
	default: // it has not read yet, and will
	}
}

// count counts a stream to a client's address, or reports that too many are open. The caller
// holds mu, and calls uncount at the end of the stream.
func (r *Room) count(address string) bool {
	if r.streams >= maxStreams || address != "" && r.clients[address] >= maxClientStreams {
		return false
	}
	r.streams++
	r.clients[address]++
	return true
}

// uncount uncounts a stream. The caller holds mu.
func (r *Room) uncount(address string) {
	r.streams--
	if r.clients[address]--; r.clients[address] == 0 {
		delete(r.clients, address)
	}
}

// open registers a stream and returns the number of the message up to which the
// store has what comes before the backlog. It reports false if too many are open.
// Otherwise the caller calls close at its end.
func (s *server) open(ctx context.Context, st *stream) (upTo int64, ok bool, err error) {
	if err := s.collect(ctx); err != nil { // messages from before it opened come first
		return 0, false, err
	}
	s.mu.Lock()
	if !s.count(st.address) {
		s.mu.Unlock()
		return 0, false, nil
	}
	defer s.mu.Unlock()
	s.readers[st] = true
	st.next = s.dropped + len(s.backlog)
	return s.published, true, nil
}

func (s *server) close(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, st)
	s.uncount(st.address)
}

// take returns the entries of the backlog that are new to a stream. It
// reports false if the stream has to end: it has fallen too far behind, or is to
// begin anew.
func (s *server) take(st *stream) (data [][]byte, ok bool) {
	s.mu.Lock()
	if st.anew {
		s.mu.Unlock()
		return [][]byte{[]byte(beginAnew)}, false
	}
	if st.next < s.dropped {
		s.mu.Unlock()
		return nil, false
	}
	entries := s.backlog[st.next-s.dropped:]
	st.next += len(entries)
	s.mu.Unlock()
	for _, e := range entries {
		if st.reads(e) {
			data = append(data, e.data)
		}
	}
	return data, true
}

// events streams the transcript as the person in a seat sees it, from the number that
// the reader has seen last.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	who, _ := userOf(r.FormValue("seat"))
	at, resumed := readPlace(r)
	st := &stream{who: who, address: addressOf(r), wake: make(chan struct{}, 1)}
	failed := func(what string, err error) {
		if r.Context().Err() == nil { // else the page was closed
			s.log.Error(what, "error", err)
		}
	}
	var upTo int64
	var ok bool
	var err error
	if st.browser, err = s.holderOf(r, who.ID); err == nil {
		upTo, ok, err = s.open(r.Context(), st)
	}
	switch {
	case err != nil:
		failed("opening a stream failed", err)
		http.Error(w, "Something went wrong here.", http.StatusServiceUnavailable)
		return
	case !ok:
		http.Error(w, "Too many pages are open here.", http.StatusServiceUnavailable)
		return
	}
	sit := func(ctx context.Context) {
		if _, err := s.keep(ctx, who.ID, st.browser, always); err != nil {
			failed("keeping a seat failed, will retry", err)
		}
	}
	defer func() {
		s.close(st)
		sit(context.WithoutCancel(r.Context()))
	}()
	sit(r.Context())

	send := s.streaming(w, r)
	if send([]byte("retry: 1000\n\n")) != nil {
		return
	}
	missed, reset, err := s.missed(r.Context(), st, at, resumed, upTo)
	if err != nil {
		failed("reading the transcript failed", err)
		return
	}
	if reset {
		missed = slices.Insert(missed, 0, []byte("event: reset\ndata: {}\n\n"))
	}
	hello := speak(s.languageOf(r.Context(), who, browserLanguage(r)))
	hello.URL, hello.Whose = s.cfg.PublicURL, st.whose()
	if hello.Seat, err = s.otherSeat(r.Context(), who, st.browser); err != nil {
		failed("looking for a free seat failed", err)
		return
	}
	spoken, err := json.Marshal(hello)
	if err != nil {
		failed("the words of the page cannot be sent", err)
		return
	}
	if send(append(missed, fmt.Appendf(nil, "event: ready\ndata: %s\n\n", spoken))...) != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-st.wake:
			if st.browser != browserOf(r) { // somebody by a link, which may have ended since
				if now, err := s.holderOf(r, who.ID); err != nil || now != st.browser {
					return
				}
			}
			data, ok := s.take(st)
			if len(data) > 0 && send(data...) != nil || !ok {
				return
			}
		case <-beat.C:
			sit(r.Context())
			if send([]byte("event: beat\ndata: {}\n\n")) != nil {
				return
			}
		case <-s.stopping.Done():
			return
		case <-r.Context().Done():
			return
		}
	}
}

// streaming begins a stream of server-sent events. What it returns sends frames of it, and
// fails where only the headers were asked for.
func (s *server) streaming(w http.ResponseWriter, r *http.Request) (send func(frames ...[]byte) error) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // a stream has no end
	return func(frames ...[]byte) error {
		if r.Method == http.MethodHead {
			return http.ErrBodyNotAllowed
		}
		if err := out.SetWriteDeadline(time.Now().Add(s.slow)); err != nil {
			return err
		}
		for _, frame := range frames {
			if _, err := w.Write(frame); err != nil {
				return err
			}
		}
		return out.Flush()
	}
}

// addressOf returns the address of a client, for limits: of an IPv6 address the
// network, and empty for this machine. A proxy on this machine or a private network
// is believed.
func addressOf(r *http.Request) string {
	ip := netip.IPv6Loopback()
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		ip = peer.Addr().Unmap()
	}
	if forwarded := r.Header.Values("X-Forwarded-For"); len(forwarded) > 0 && (ip.IsLoopback() || ip.IsPrivate()) {
		hops := strings.Split(forwarded[len(forwarded)-1], ",")
		if given, err := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1])); err == nil {
			ip = given.Unmap()
		}
	}
	if ip.IsLoopback() {
		return ""
	}
	if ip.Is6() {
		if network, err := ip.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}

// A place is the last message that somebody has read: of the transcript of all, and of
// their own.
type place struct{ all, own int64 }

// readPlace reads where a reader has got to. A browser that lost the stream
// says the last number it saw; a page that changes its seat says how far it has
// read in each transcript.
func readPlace(r *http.Request) (at place, resumed bool) {
	if n, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		return place{n, n}, true
	}
	n, err := strconv.ParseInt(r.FormValue("after"), 10, 64)
	if err != nil {
		return place{}, false
	}
	own, err := strconv.ParseInt(r.FormValue("own"), 10, 64)
	if err != nil {
		own = n
	}
	return place{n, own}, true
}

// missed returns the messages that a stream has missed after a place, up to a message.
// A page that missed too many, or remembers a transcript that is gone, must begin
// anew: then reset is true.
func (s *server) missed(ctx context.Context, st *stream, at place, resumed bool, upTo int64) (frames [][]byte, reset bool, err error) {
	if resumed && max(at.all, at.own) > upTo {
		at, resumed, reset = place{}, false, true
	}
	limit := catchUp
	if at == (place{}) && !resumed {
		limit = history
	}
	all, err := s.cfg.Log.Since(ctx, channel, at.all, limit)
	if err != nil {
		return nil, false, err
	}
	if len(all) == catchUp {
		frames, _, err = s.missed(ctx, st, place{}, false, upTo)
		return frames, true, err
	}
	if limit == history && len(all) == history {
		boards, err := s.cfg.Log.Boards(ctx, match.Room{Platform: platform, Channel: channel}, maxBoards)
		if err != nil {
			return nil, false, err
		}
		boards = slices.DeleteFunc(boards, func(m outbox.Message) bool { return m.N >= all[0].N })
		all = append(boards, all...)
	}
	own, since, err := s.holds(ctx, st.who.ID, st.browser)
	if err != nil {
		return nil, false, err
	}
	if own {
		mine, err := s.cfg.Log.Since(ctx, privateRoom(st.who), max(at.own, since), limit)
		if err != nil {
			return nil, false, err
		}
		all = append(all, mine...)
		slices.SortFunc(all, func(a, b outbox.Message) int { return cmp.Compare(a.N, b.N) })
	}
	who, err := s.people(ctx, all)
	if err != nil {
		return nil, false, err
	}
	for _, m := range all {
		if m.N > upTo { // it comes with the backlog
			break
		}
		data, err := s.frame(ctx, m, who)
		if err != nil {
			return nil, false, err
		}
		frames = append(frames, data)
	}
	return frames, reset, nil
}
