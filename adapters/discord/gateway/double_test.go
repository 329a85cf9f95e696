package gateway

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// onDouble connects to a double of Discord whose next connections have faults.
func onDouble(t *testing.T, change func(*Config), faults ...discordtest.ConnectionFault) (*discordtest.Server, *client) {
	t.Helper()
	time.Sleep(time.Until(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC))) // Discord's ids reach back to 2015
	network := &memnet.Network{}
	d := discordtest.New(t, discordtest.Options{Network: network, Limits: discordtest.NoLimits()})
	r, err := rest.New(rest.Config{API: d.API(), Token: secret.New(d.Token()), Application: d.Application(), Dial: network.DialContext})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	d.NextConnections(faults...)
	return d, run(t, Config{Token: secret.New(d.Token()), Bot: r.GatewayBot, Dial: network.DialContext}, change)
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
		bubbleIn(t, name, func(t *testing.T) {
			d, c := onDouble(t, nil, faults...)
			c.resumes(false)
			if st := d.Gateway(); st.Opened <= len(faults)-1 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// Cut at any byte of its beginning, of a replay, and of what comes after, it
// comes back, and no event is lost or comes twice.
func TestCutAnywhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		random := rand.New(rand.NewSource(1))
		d, c := onDouble(t, nil)
		c.resumes(false)
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
			c.got(i + 1)
		}
		for len(c.connected) > 0 {
			c.resumes(true)
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
		d, c := onDouble(t, nil)
		c.resumes(false)
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
			c.resumes(false)
			d.Dispatch(InteractionCreate, press(i))
			c.got(i)
		}
	})
}

// While more interactions wait than there is room for, connections may end for
// want of reading, but no interaction is lost.
func TestBackPressure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		handled := make(chan json.RawMessage, 10*mostEvents)
		d, c := onDouble(t, func(cfg *Config) {
			cfg.Handle = func(raw json.RawMessage, done func()) { <-release; handled <- raw; done() }
		})
		c.events = handled
		c.resumes(false)
		const n = 2 * mostEvents
		for i := range n {
			d.Dispatch(InteractionCreate, press(i))
		}
		time.Sleep(5 * time.Minute)
		close(release)
		for i := range n {
			c.got(i)
		}
		time.Sleep(time.Hour)
		if len(handled) > 0 || !c.g.Status()[0].Connected {
			t.Errorf("%d came twice, %+v", len(handled), c.g.Status())
		}
	})
}
