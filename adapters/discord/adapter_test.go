package discord

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A hall is a club with the adapter alone, for the suite of all adapters.
type hall struct {
	*club
	last   *discordtest.Interaction
	client strings.Builder // what Discord's own client says
}

func (h *hall) Adapter() bot.Adapter { return h.a }
func (h *hall) Room() match.Room     { return match.Room{Platform: Name, Channel: h.room.ID()} }
func (h *hall) OneScreen() bool      { return false }

// Stop ends the test with the error of Run, if there is one.
func (h *hall) Stop() error {
	h.stop()
	return nil
}

func (h *hall) person(who string) *discordtest.Person {
	if who == "black" {
		return h.alice
	}
	return h.bob
}

// Says fills in a command as Discord's client does from what is typed.
func (h *hall) Says(who, text string) {
	name, args, err := bot.Parse(text)
	if err != nil { // the client sends nothing, and shows which commands there are
		for _, c := range bot.Commands() {
			fmt.Fprintf(&h.client, "/%s\n", c.Name)
		}
		return
	}
	var options []discordtest.Option
	for k, v := range args {
		options = append(options, discordtest.Opt(k, v))
	}
	h.last = h.person(who).Slash(h.room, pathOf(name), options...)
	if err := h.last.Refused(); err != nil {
		h.Fatal(err)
	}
	h.wait()
}

func (h *hall) Again() bool {
	h.last.Again()
	h.wait()
	return true
}

// wait waits until the adapter has dealt with what it was asked.
func (h *hall) wait() {
	h.last.First()
	synctest.Wait()
}

func (h *hall) Sees(who string) string {
	var b strings.Builder
	for _, m := range h.person(who).Sees(h.room) {
		fmt.Fprintln(&b, m.Content)
		for _, f := range m.Attachments {
			fmt.Fprintln(&b, f.Alt)
		}
		for _, c := range m.Controls {
			fmt.Fprintf(&b, "[%s]\n", c.Label)
		}
	}
	return b.String() + h.client.String()
}

func (h *hall) Files(who string) map[string][]byte {
	files := map[string][]byte{}
	for _, m := range h.person(who).Sees(h.room) {
		for _, f := range m.Attachments {
			files[f.Name] = f.Data
		}
	}
	return files
}

func TestAdapter(t *testing.T) {
	adaptertest.RunIn(t, bubble, func(t *testing.T, service bot.Service) adaptertest.Platform {
		h := &hall{club: newClub(t, discordtest.Options{})}
		h.overHTTP()
		h.a, h.stop = h.runs(h.cfg, func(ctx context.Context, a *Adapter) error { return a.Run(ctx, service) })
		return h
	})
}
