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

// A double is the room with a page open in every seat.
type double struct {
	t       testing.TB
	room    *Room
	service *settling
	url     string
	stop    func()
	last    submission
	n       int
	told    map[string]string // by seat, what its page alone was told
}

func (h *double) Adapter() bot.Adapter { return h.room }
func (h *double) Fails(yes bool)       { h.service.fails = yes }
func (h *double) Room() match.Room     { return here }
func (h *double) OneScreen() bool      { return false }
func (h *double) Stop() error          { h.stop(); return nil }

func (h *double) Says(who, text string) {
	h.n++
	h.last = submission{ID: id(h.n), Seat: who, Text: text}
	h.send()
}

func (h *double) Again() bool {
	h.send()
	return true
}

func (h *double) send() {
	if a := post(h.t, h.url, h.last); a.Private {
		h.told[h.last.Seat] += a.Message.Text + "\n"
		for _, c := range a.Message.Controls {
			h.told[h.last.Seat] += "[" + c.Label + "]\n"
		}
	}
}

func (h *double) Sees(who string) string {
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

func (h *double) Files(who string) map[string][]byte {
	files := map[string][]byte{}
	for _, m := range read(follow(h.t, h.url, "seat="+who, "")) {
		if m.File != nil {
			_, body := do(h.t, "GET", h.url+m.File.URL, "")
			files[m.File.Name] = []byte(body)
		}
	}
	return files
}

// A settling service stores messages with their posts, as the bot does.
type settling struct {
	bot.Service
	log   memory
	fails bool
}

func (k *settling) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes []outbox.Owes, err error) error {
	if err != nil {
		return k.Service.Settle(ctx, p, r, owes, err)
	}
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
	return k.Service.Settle(ctx, p, r, owes, nil)
}

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T, service bot.Service) adaptertest.Platform {
		log := newLog(t)
		h := &double{t: t, room: newRoom(log), service: &settling{Service: service, log: log}, told: map[string]string{}}
		h.url, h.stop = run(t, h.room, h.service)
		return h
	})
}
