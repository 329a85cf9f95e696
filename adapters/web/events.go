package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/render"
)

// Of streams.
const (
	history   = 200  // messages that a new page sees
	catchUp   = 2000 // messages that a page may have missed before it must begin anew
	heartbeat = 15 * time.Second
)

// A message is a line of the transcript as the page gets it.
type message struct {
	N        int64     `json:"n,omitempty"`
	Key      string    `json:"key,omitempty"`
	At       time.Time `json:"at"`
	From     string    `json:"from,omitempty"` // nobody: the bot
	To       []string  `json:"to,omitempty"`
	Text     string    `json:"text,omitempty"`
	Parts    []part    `json:"parts,omitempty"` // the text again, where it means instants
	Kind     string    `json:"kind,omitempty"`
	Private  bool      `json:"private,omitempty"`
	Replaces []int64   `json:"replaces,omitempty"`
	Removed  bool      `json:"removed,omitempty"`
	Game     string    `json:"game,omitempty"`
	Picture  string    `json:"picture,omitempty"` // its address, to which theme and size are added
	Alt      string    `json:"alt,omitempty"`
	Next     string    `json:"next,omitempty"` // "White to play"
	Due      []string  `json:"due,omitempty"`  // seats of which something is awaited
	Controls []control `json:"controls,omitempty"`
	File     *file     `json:"file,omitempty"`
}

type control struct {
	Label   string            `json:"label"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args,omitempty"`
	Ask     string            `json:"ask,omitempty"`  // the option to be asked for first,
	Pick    string            `json:"pick,omitempty"` // and how: "type" it, or choose "one" or "several"
}

type file struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// show makes a message ready for the page.
func (s *server) show(ctx context.Context, m bot.Message, private bool) message {
	out := message{
		N: m.N, Key: m.Key, At: m.At, From: m.From, To: m.To, Text: m.Text, Removed: m.Removed, Private: private, Game: string(m.Game),
	}
	out.Kind, out.Replaces = replaced(m)
	if m.From == "" {
		out.Text, out.Parts = words(m.Text), parts(m.Text)
	}
	if m.At.IsZero() {
		out.At = s.cfg.Now()
	}
	for _, c := range m.Controls {
		out.Controls = append(out.Controls, control{c.Label, c.Command, c.Args, c.Ask, pick(s.desk.Commands(), c)})
	}
	if m.File != nil {
		out.File = &file{m.File.Name, "/answer/" + url.PathEscape(m.Key) + "/" + url.PathEscape(m.File.Name)}
	}
	answered, _ := s.answers.get(m.Key)
	switch {
	case m.Removed:
	case answered.scene != nil:
		out.draw(*answered.scene, "/answer/"+url.PathEscape(m.Key)+"/picture.png")
	case m.Game != "" && out.Kind == bot.Show:
		scene, err := s.desk.Scene(ctx, m.Game, m.Seq)
		if err != nil {
			if ctx.Err() == nil { // else the page was closed
				s.log.Warn("a picture of the transcript is lost", "game", m.Game, "seq", m.Seq, "error", err)
			}
			break
		}
		out.draw(scene, fmt.Sprintf("/picture/%s/%d.png", url.PathEscape(string(m.Game)), m.Seq))
		out.Next = scene.Next
		if scene.Black.Due {
			out.Due = append(out.Due, "black")
		}
		if scene.White.Due {
			out.Due = append(out.Due, "white")
		}
	}
	return out
}

// pick says how the page asks for the option that a control asks for.
func pick(commands []bot.Command, c bot.Control) string {
	if c.Ask == "" {
		return ""
	}
	for _, command := range commands {
		for _, o := range command.Options {
			switch {
			case command.Name != c.Command || o.Name != c.Ask:
			case o.Type == bot.Point: // too many to choose from
				return "type"
			case o.Rest:
				return "several"
			default:
				return "one"
			}
		}
	}
	return "type"
}

func (m *message) draw(s render.Scene, address string) {
	m.Picture, m.Alt = address+"?v="+tag(s), render.Text(s)
}

// A place is how far somebody has read: in what everybody sees, and in what is
// for them alone.
type place struct{ all, own int64 }

// A stream is a page that follows the transcript. Room.mu guards what can change.
type stream struct {
	who     bot.Who
	browser string
	wake    chan struct{}

	own   bool  // it gets what is for who alone,
	since int64 // after this message
}

// notify wakes the stream's goroutine.
func (st *stream) notify() {
	select {
	case st.wake <- struct{}{}:
	default: // it has not read yet, and will
	}
}

// follow registers a stream. The caller calls leave at its end.
func (s *server) follow(ctx context.Context, st *stream) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers[st] = true
	leave = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.readers, st)
		if seat := s.seats[st.who.ID]; seat != nil && st.own {
			seat.open--
			seat.vacated = time.Now()
		}
	}
	if seat := s.seats[st.who.ID]; seat != nil {
		if st.browser != "" && seat.holder == st.browser {
			st.own, st.since = true, seat.since
			seat.open++
		}
		return leave, nil
	}
	s.mu.Unlock()
	yes, since, err := s.holds(ctx, st.who.ID, st.browser)
	s.mu.Lock()
	st.own, st.since = st.own || yes, max(st.since, since)
	return leave, err
}

// events streams the transcript as the person in a seat sees it: what is after
// the number that the reader has seen last, then whatever is said.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "Too many pages are open here.", http.StatusServiceUnavailable)
		return
	}
	who, _ := sit(r.FormValue("seat"))
	at, resumed := readPlace(r)
	st := &stream{who: who, browser: browserOf(r), wake: make(chan struct{}, 1)}
	leave, err := s.follow(r.Context(), st)
	defer leave()
	if err != nil {
		if r.Context().Err() == nil {
			s.log.Error("opening a stream failed", "error", err)
		}
		http.Error(w, "Something went wrong here.", http.StatusInternalServerError)
		return
	}

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{}) // a stream has no end
	send := func(format string, args ...any) error {
		if err := out.SetWriteDeadline(time.Now().Add(s.slow)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, format, args...)
		return err
	}
	if send("retry: 1000\n\n") != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for fresh := true; ; fresh, resumed = false, true {
		messages, reset, err := s.read(r.Context(), st, &at, resumed)
		if err != nil {
			if r.Context().Err() == nil { // else the page was closed
				s.log.Error("reading the transcript failed", "error", err)
			}
			return
		}
		if reset && send("event: reset\ndata: {}\n\n") != nil {
			return
		}
		for _, m := range messages {
			data, err := json.Marshal(m)
			if err != nil || send("id: %d\ndata: %s\n\n", m.N, data) != nil {
				return
			}
		}
		if fresh && send("event: ready\ndata: {}\n\n") != nil {
			return
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-st.wake:
		case <-beat.C:
			if send(": still here\n\n") != nil {
				return
			}
		case <-s.draining:
			return
		case <-r.Context().Done():
			return
		}
	}
}

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

// read gives what is after a place, and moves the place. Somebody who missed
// too much, or remembers a transcript that is not there any more, must begin
// anew: then reset is true.
func (s *server) read(ctx context.Context, st *stream, at *place, resumed bool) (out []message, reset bool, err error) {
	// Nothing beyond the last number is sent, or what comes in while both
	// transcripts are read could be sent out of order and missed by a reader
	// who resumes.
	s.mu.Lock()
	mine, since := st.own, st.since
	s.mu.Unlock()
	last, err := s.last(ctx, channel, privateRoom(st.who))
	if err != nil {
		return nil, false, err
	}
	if resumed && max(at.all, at.own) > last {
		*at, resumed, reset = place{}, false, true
	}
	limit := catchUp
	if *at == (place{}) && !resumed {
		limit = history
	}
	all, err := s.cfg.Log.Since(ctx, channel, at.all, limit)
	if err != nil {
		return nil, false, err
	}
	if len(all) == catchUp {
		*at = place{}
		out, _, err = s.read(ctx, st, at, false)
		return out, true, err
	}
	var own []bot.Message
	if mine {
		if own, err = s.cfg.Log.Since(ctx, privateRoom(st.who), max(at.own, since), limit); err != nil {
			return nil, false, err
		}
	}
	for _, m := range all {
		if m.N <= last {
			at.all = m.N
			out = append(out, s.show(ctx, m, false))
		}
	}
	for _, m := range own {
		if m.N <= last {
			at.own = m.N
			out = append(out, s.show(ctx, m, true))
		}
	}
	slices.SortStableFunc(out, func(a, b message) int { return cmp.Compare(a.N, b.N) })
	return out, reset, nil
}

// last gives the number of the last message of some transcripts.
func (s *server) last(ctx context.Context, rooms ...string) (int64, error) {
	var n int64
	for _, room := range rooms {
		ms, err := s.cfg.Log.Since(ctx, room, 0, 1)
		if err != nil {
			return 0, err
		}
		for _, m := range ms {
			n = max(n, m.N)
		}
	}
	return n, nil
}
