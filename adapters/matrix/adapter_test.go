package matrix

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/adaptertest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The tests that every adapter must pass.
func TestAdapter(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, s *matrixtest.Server, service bot.Service) adaptertest.Platform {
		c := newClub(t, s)
		c.service = service
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Black", "White")
		return &platform{c: c, people: map[string]*guest{"black": people[0], "white": people[1]}}
	}
	t.Run("InMemory", func(t *testing.T) {
		adaptertest.RunIn(t, synctest.Test, func(t *testing.T, service bot.Service) adaptertest.Platform {
			return start(t, matrixtest.InMemory(t), service)
		})
	})
	t.Run("Dendrite", func(t *testing.T) {
		tier.Change(t)
		adaptertest.Run(t, func(t *testing.T, service bot.Service) adaptertest.Platform {
			return start(t, matrixtest.Shared(t), service)
		})
	})
}

type platform struct {
	c      *club
	people map[string]*guest
	last   id.EventID
}

func (p *platform) Adapter() bot.Adapter { return p.c.a }

func (p *platform) Room() match.Room {
	return match.Room{Platform: Name, Channel: p.people["black"].at.String()}
}

func (p *platform) Says(who, text string) {
	g := p.people[who]
	if strings.HasPrefix(strings.TrimSpace(text), "/") { // as it is typed here
		text = strings.Replace(text, "/", "!", 1)
	}
	p.last = g.asks("", text)
	for _, other := range p.people { // and everybody sees what came of it
		other.Await(other.at, "what was said", func(v matrixtest.View) bool { return v.Message(p.last) != nil })
	}
}

// Again deals with the last event once more, as after a crash between answering
// and writing that down.
func (p *platform) Again() bool {
	g := p.people["black"]
	p.c.again(g.at, p.last)
	p.c.a.wake(g.at)
	p.c.dealt(g.at, p.last)
	return true
}

// Sees gives what somebody sees; of pictures their plain text, which says what is in them.
func (p *platform) Sees(who string) string {
	g := p.people[who]
	p.settled(g)
	var out strings.Builder
	for _, m := range g.View(g.at).From(p.c.user.ID) {
		text := m.Text()
		if m.Kind == "m.image" {
			text = m.Body
		}
		fmt.Fprintln(&out, strings.ReplaceAll(text, "!", "/"))
	}
	return out.String()
}

// settled waits until somebody sees what the bot has sent: it was sent before
// what is said now.
func (p *platform) settled(g *guest) { p.c.dealt(g.at, g.Says(g.at, "…")) }

// OneScreen: there is nothing in Matrix that one person of a room alone can see.
func (p *platform) OneScreen() bool { return true }

func (p *platform) Files(who string) map[string][]byte {
	out := map[string][]byte{}
	g := p.people[who]
	p.settled(g)
	for _, m := range g.View(g.at).From(p.c.user.ID) {
		if m.Kind != "m.file" {
			continue
		}
		name, _ := m.Content["filename"].(string)
		url, _ := m.Content["url"].(string)
		uri, err := id.ParseContentURI(url)
		if err != nil {
			p.c.Fatal(err)
		}
		if out[name], err = g.Client.DownloadBytes(p.c.Context(), uri); err != nil {
			p.c.Fatal(err)
		}
	}
	return out
}

func (p *platform) Stop() error { return p.c.stop() }
