package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// A hall is the room with a page open in every seat.
type hall struct {
	t    *testing.T
	room *Room
	url  string
	stop func()
	last submission
	n    int
	told map[string]string // by seat, what its page alone was told
}

func (h *hall) Adapter() bot.Adapter { return h.room }
func (h *hall) Room() bot.Room       { return here }
func (h *hall) OneScreen() bool      { return false }
func (h *hall) Stop() error          { h.stop(); return nil }

func (h *hall) Says(who, text string) {
	h.n++
	h.last = submission{ID: id(h.n), Seat: who, Text: text}
	h.send()
}

func (h *hall) Again() bool {
	h.send()
	return true
}

func (h *hall) send() {
	if a := post(h.t, h.url, h.last); a.Private {
		h.told[h.last.Seat] += a.Message.Text + "\n"
	}
}

func (h *hall) Sees(who string) string {
	var b strings.Builder
	s := follow(h.t, h.url, "seat="+who, "")
	for e, ok := s.next(); ok && e.name != "ready"; e, ok = s.next() {
		fmt.Fprintln(&b, e.message.From, e.message.Text, e.message.Alt)
	}
	return b.String() + h.told[who]
}

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, desk bot.Desk) adaptertest.Platform {
		h := &hall{t: t, room: newRoom(&memory{}), told: map[string]string{}}
		h.url, h.stop = run(t, h.room, desk)
		t.Cleanup(h.stop)
		return h
	})
}
