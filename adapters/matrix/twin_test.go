//go:build goolm

package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// marks writes the mark of another bot into the account's data.
func (c *club) marks(fields map[string]any) {
	c.Helper()
	if err := c.a.device().Client.SetAccountData(c.Context(), "io.github.halfpoint_go.device", fields); err != nil {
		c.Fatal(err)
	}
}

// ends waits until the bot ends by itself, and returns why.
func (c *club) ends() (err error) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 5*time.Minute)
	defer cancel()
	c.open()
	err = c.a.Run(ctx, bot.New(c.store, bot.Config{Log: c.cfg.Log, Now: c.now}))
	if ctx.Err() != nil {
		c.Error("it goes on")
	}
	if err := c.closed(); err != nil {
		c.Error(err)
	}
	return err
}

// A second Halfpoint starts with the account of one that runs, and an empty database. It
// stops, and the first one plays on as if nothing had happened.
func TestTwinOnTheSameAccount(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := c.seals()
		c.settled()
		twin := newClub(t, s)
		twin.cfg.User, twin.cfg.Password = c.cfg.User, c.cfg.Password
		if err := twin.ends(); !errors.Is(err, device.ErrTwin) {
			t.Errorf("it ends with %v", err)
		}
		r.people[1].says(r.root, "!place D3")
		r.people[0].sees("2. White D3")
		c.settled()
		for _, m := range []string{"Restored", "opens game"} {
			if n := r.people[0].count(m); n > 1 || m == "Restored" && n > 0 {
				t.Errorf("%s: %d times", m, n)
			}
		}
		if log := c.log.String(); strings.Contains(log, "logged the device out") {
			t.Error("the device of the first one was removed")
		}
	})
}

// A bot whose account another one has taken over stops, and leaves the mark of that.
func TestAccountIsTakenOver(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		ready := make(chan string, 1)
		c.cfg.Ready = func(user string) { ready <- user }
		go func() {
			<-ready
			c.marks(map[string]any{"device_id": "OTHER", "generation": 1, "run": "another", "place": "elsewhere", "alive": 1})
		}()
		if err := c.ends(); !errors.Is(err, device.ErrTwin) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// An earlier version of the bot, which does not say that it lives, has used the account and
// deleted the device of a bot that runs. That logs in again, and does not take its database
// for an old copy: it is in use, and there is no time at which it was copied.
func TestNotAnOldCopy(t *testing.T) {
	for name, starts := range map[string]int{"at the first start": 1, "later": 2} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				for range starts - 1 {
					c.start()
					c.halt()
					time.Sleep(time.Hour)
				}
				c.start()
				r := c.seals()
				c.settled()
				dev := c.a.device()
				c.marks(map[string]any{"device_id": "OTHER", "generation": 7})
				if _, err := dev.Client.Logout(t.Context()); err != nil {
					t.Fatal(err)
				}
				c.await("another device", func() bool { now := c.a.device(); return now != nil && now != dev })
				time.Sleep(time.Minute)
				r.people[1].says(r.root, "!place D3")
				r.people[0].sees("2. White D3")
				c.settled()
				if n := r.people[0].count("Restored"); n != 0 {
					t.Errorf("it is said %d times that the database was restored", n)
				}
				if strings.Contains(c.log.String(), "old copy of the database was put back") {
					t.Error("the log tells of an old copy")
				}
			})
		})
	}
}

// While the bot logs in again what waits does, and nothing of it is a failure.
func TestWaitsForTheLogin(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		c.settled()
		in := make(chan struct{})
		login := p.Once(matrixtest.On("POST", "/login$"), matrixtest.Holds(in))
		if _, err := c.a.device().Client.Logout(t.Context()); err != nil {
			t.Fatal(err)
		}
		login.Await(t, 1)
		e := &event.Event{ID: "$late", RoomID: anna.at, Sender: anna.ID, Type: event.EventMessage, Content: event.Content{VeryRaw: json.RawMessage(`{"msgtype":"m.text","body":"!games"}`)}}
		if _, err := c.a.queue.insert(t.Context(), &row{n: 1 << 20, at: time.Now(), evt: e}); err != nil {
			t.Fatal(err)
		}
		c.a.wake(anna.at)
		time.Sleep(10 * time.Second)
		if log := c.log.String(); strings.Contains(log, "event processing failed") {
			t.Error("the log tells of a failure")
		}
		close(in)
		anna.reads("no game")
	})
}
