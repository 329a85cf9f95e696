package web

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A hall is the room with a page open in every seat.
type hall struct {
	t    testing.TB
	room *Room
	desk *keeper
	url  string
	stop func()
	last submission
	n    int
	told map[string]string // by seat, what its page alone was told
}

func (h *hall) Adapter() bot.Adapter { return h.room }
func (h *hall) Fails(yes bool)       { h.desk.fails = yes }
func (h *hall) Room() match.Room     { return here }
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
	for _, m := range read(follow(h.t, h.url, "seat="+who, "")) {
		fmt.Fprintln(&b, m.From, m.Text, m.Alt)
		for _, p := range m.Parts {
			if !strings.Contains(m.Text, p.Text) {
				h.t.Errorf("%q is no part of %q", p.Text, m.Text)
			}
		}
	}
	return b.String() + h.told[who]
}

func (h *hall) Files(who string) map[string][]byte {
	files := map[string][]byte{}
	for _, m := range read(follow(h.t, h.url, "seat="+who, "")) {
		if m.File != nil {
			_, body := do(h.t, "GET", h.url+m.File.URL, "")
			files[m.File.Name] = []byte(body)
		}
	}
	return files
}

// A keeper is a service that stores what is shown, as the bot does.
type keeper struct {
	bot.Service
	log   *memory
	fails bool
}

func (k *keeper) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes ...outbox.Owes) error {
	if k.fails {
		return errors.New("the disk is full")
	}
	if p.Message != nil {
		m, err := k.log.Append(ctx, *p.Message)
		if err != nil {
			return err
		}
		r = receipt(m)
	}
	return k.Service.Settle(ctx, p, r, owes...)
}

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, service bot.Service) adaptertest.Platform {
		log := &memory{}
		h := &hall{t: t, room: newRoom(log), desk: &keeper{Service: service, log: log}, told: map[string]string{}}
		h.url, h.stop = run(t, h.room, h.desk)
		t.Cleanup(h.stop)
		return h
	})
}
