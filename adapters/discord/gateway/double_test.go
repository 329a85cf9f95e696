package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/bot"
)

// onDouble connects to a double of Discord.
func onDouble(t *testing.T, o discordtest.Options, change func(*discordtest.Server, *rest.Client, *Config)) (*discordtest.Server, *rest.Client, *client) {
	t.Helper()
	time.Sleep(time.Until(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC))) // Discord's ids reach back to 2015
	o.Network, o.Limits = &memnet.Network{}, discordtest.NoLimits()
	d := discordtest.New(t, o)
	r, err := rest.New(rest.Config{API: d.API(), Token: bot.NewSecret(d.Token()), Application: d.Application(), Dial: o.Network.DialContext})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c := run(t, d.Token(), r.GatewayBot, func(cfg *Config) {
		cfg.Dial = o.Network.DialContext
		if change != nil {
			change(d, r, cfg)
		}
	})
	return d, r, c
}

// The three packages together answer what people do.
func TestConversation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var handling sync.WaitGroup
		d, r, c := onDouble(t, discordtest.Options{}, func(_ *discordtest.Server, r *rest.Client, cfg *Config) {
			cfg.Handle = func(ctx context.Context, e Event) {
				handling.Add(1)
				defer handling.Done()
				in, err := interaction.Parse(e.Data)
				if err != nil {
					t.Error(err)
				}
				respond := interaction.Direct(r, in)
				pass := rest.Row(rest.Component{Type: rest.Button, Style: rest.Primary, Label: "Pass", CustomID: "pass"})
				switch in.Kind {
				case interaction.Typing:
					o, _ := in.Command.Focused()
					_, err = respond(ctx, rest.Suggest([]*discordgo.ApplicationCommandOptionChoice{{Name: o.Text + "4", Value: o.Text + "4"}}))
				case interaction.Command:
					board := rest.File{Name: "board.png", Alt: "a board", Data: []byte("\x89PNG\r\n\x1a\n")}
					m := rest.Message{Content: new(in.User.Name() + " plays " + in.Command.Option("at").Text), Components: []rest.Component{pass}, Files: []rest.File{board}}
					var shown *rest.Sent
					if shown, err = respond(ctx, rest.Reply(m)); err == nil && (shown == nil || shown.Attachments[0].Description != "a board") {
						t.Errorf("shown %+v", shown)
					}
				case interaction.Press:
					_, err = respond(ctx, rest.Ask(rest.Modal{CustomID: "sure", Title: "Sure?", Components: []rest.Component{
						rest.Row(rest.Component{Type: rest.TextInput, CustomID: "yes", Label: "Type yes", Style: rest.Short})}}))
				case interaction.Form:
					if _, err = respond(ctx, rest.Defer(rest.Ephemeral)); err == nil {
						_, err = r.EditOriginal(ctx, in.Token, rest.Message{Content: new("You said " + in.Form.Value("yes"))})
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		club := d.Guild("Go club")
		room, alice := club.Channel("games"), club.Member("alice")
		wait(t, "ready", c.ready)
		_, err := r.PutCommands(t.Context(), club.ID(), []any{map[string]any{"name": "place", "description": "Place a stone", "options": []any{
			map[string]any{"type": 3, "name": "at", "description": "Where", "required": true, "autocomplete": true}}}})
		if err != nil {
			t.Fatal(err)
		}
		if choices, err := alice.Autocomplete(room, "place", discordtest.Opt("at", "D")); err != nil || len(choices) != 1 {
			t.Errorf("choices %v, %v", choices, err)
		}
		m := alice.Slash(room, "place", discordtest.Opt("at", "D4")).Answer()
		if m == nil || m.Content != "alice plays D4" {
			t.Fatalf("answered %+v", m)
		}
		if m := alice.Submit(alice.Press(m, "Pass"), map[string]any{"yes": "yes"}).Answer(); m == nil || m.Content != "You said yes" {
			t.Errorf("answered %+v", m)
		}
		handling.Wait()
		for _, v := range d.Violations() {
			t.Error(v)
		}
	})
}

// Every way in which a connection can go wrong at its start is survived.
func TestFaults(t *testing.T) {
	for name, faults := range map[string][]discordtest.ConnectionFault{
		"refused":          {{Refuse: 502}, {Refuse: 429}},
		"silent":           {{Silent: true}},
		"no hello":         {{NoHello: true}},
		"no READY":         {{NoReady: true}},
		"closed for hello": {{HelloClose: 4000}, {HelloClose: 1006 + 2}},
		"closed":           {{IdentifyClose: 4000}, {IdentifyClose: 4008}, {IdentifyClose: 4009}, {IdentifyClose: 1000}},
		"op 7":             {{OnIdentify: 7}, {OnIdentify: 7}},
		"op 9":             {{OnIdentify: 9}, {OnIdentify: 9, Resumable: true}},
		"op 1":             {{Beat: true}},
		"late":             {{Delay: 50 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, _, c := onDouble(t, discordtest.Options{}, func(d *discordtest.Server, _ *rest.Client, cfg *Config) {
					d.NextConnections(faults...)
				})
				wait(t, "ready", c.ready)
				if st := d.Gateway(); st.Opened <= len(faults)-1 {
					t.Errorf("%+v", st)
				}
			})
		})
	}
}

// Cut at any byte of its beginning, of a replay, and of what comes after, it
// comes back, and no event is lost or comes twice.
func TestCutAnywhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		random := rand.New(rand.NewSource(1))
		d, _, c := onDouble(t, discordtest.Options{}, nil)
		wait(t, "ready", c.ready)
		n := 0
		for range 80 {
			// Every second connection is cut at its beginning. Were there three of
			// them in a row, Discord might seem never to answer Resume.
			d.NextConnections(discordtest.ConnectionFault{CutAfter: 1 + random.Intn(1500), OverlapOnReply: random.Intn(5)}, discordtest.ConnectionFault{})
			presses := func(most int) {
				for range random.Intn(most) {
					n++
					d.Dispatch(InteractionCreate, map[string]any{"id": fmt.Sprint(n), "token": fmt.Sprintf("%0*d", random.Intn(400), 0), "type": 3})
				}
			}
			presses(8)
			for _, s := range d.Sessions() {
				switch random.Intn(4) {
				case 0:
					s.Cut()
				case 1:
					s.Reconnect()
				case 2:
					s.Invalidate(true)
				case 3:
					s.CutAfter(random.Intn(400))
				}
			}
			for range 4 { // while it is away, comes back, and after that
				presses(4)
				time.Sleep(time.Duration(random.Intn(4000)) * time.Millisecond)
			}
		}
		for i := range n {
			e := wait(t, "event", c.events)
			var in struct{ ID string }
			json.Unmarshal(e.Data, &in) //nolint:errcheck // compared
			if in.ID != fmt.Sprint(i+1) {
				t.Fatalf("event %s came as number %d", in.ID, i+1)
			}
		}
		if s := c.g.Status()[0]; s.Identifies != 1 {
			t.Errorf("status %+v", s)
		}
		for _, code := range d.Gateway().Closes {
			if code == 1000 || code == 1001 {
				t.Errorf("closed with %d: the session is lost", code)
			}
		}
	})
}

// When Discord loses the session, another is begun, and it goes on.
func TestSessionLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d, _, c := onDouble(t, discordtest.Options{}, nil)
		wait(t, "ready", c.ready)
		for i := range 10 {
			s := d.Sessions()[0]
			switch i % 3 {
			case 0:
				s.Invalidate(false)
			case 1:
				s.Forget()
				s.Cut()
			case 2:
				s.Close(4009)
			}
			if r := wait(t, "ready", c.ready); r.Resumed {
				t.Error("a session is resumed that is lost")
			}
			d.Dispatch(InteractionCreate, map[string]any{"id": fmt.Sprint(i), "token": "t", "type": 3})
			wait(t, "event", c.events)
		}
	})
}

// Without acknowledgements the connection is given up with a code that keeps the
// session.
func TestDeaf(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d, _, c := onDouble(t, discordtest.Options{}, func(d *discordtest.Server, _ *rest.Client, cfg *Config) {
			d.NextConnections(discordtest.ConnectionFault{NoAck: true})
		})
		wait(t, "ready", c.ready)
		if r := wait(t, "ready", c.ready); !r.Resumed {
			t.Error("the session is lost")
		}
		synctest.Wait() // the double may read of the new connection first
		if list := d.Gateway().Closes; len(list) != 1 || list[0] != closeResume {
			t.Errorf("closed with %v", list)
		}
	})
}
