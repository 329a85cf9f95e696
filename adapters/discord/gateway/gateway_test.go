package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

func TestIdentifies(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.serves(2, 4, Session{}, nil, nil)
		at := d.accept()
		if at.path != "/?v=10&encoding=json" {
			t.Errorf("connected to %s", at.path)
		}
		said := at.greet(opIdentify)
		if said["token"] != token || fmt.Sprint(said["shard"]) != "[2 4]" || said["intents"] != 0.0 || said["compress"] != false {
			t.Errorf("identified with %v", said)
		}
		at.ready("")
		c.resumes(false)
		if s := c.g.Status(); len(s) != 1 || s[0].Shard != 2 || !s[0].Connected {
			t.Errorf("status %+v", s)
		}
		if err := c.stop(); err != nil {
			t.Error("Serve: ", err)
		}
		if code := at.closed(); code != closeLeave {
			t.Errorf("left with %d: the session stays", code)
		}
		if s := c.g.Status(); len(s) > 0 {
			t.Errorf("still served: %+v", s)
		}
	})
}

// Data that cannot be decoded is passed on unchanged.
func TestEventsAreRaw(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		strange := map[string]any{"data": map[string]any{"component_type": 99}, "message": map[string]any{"components": []any{map[string]any{"type": 99}}}}
		at.dispatch("GUILD_CREATE", map[string]any{"id": "7", "members": "not even a list"})
		at.dispatch(InteractionCreate, strange)
		want, _ := json.Marshal(strange)
		if got := wait(t, "interaction", c.events); string(got) != string(want) {
			t.Errorf("came %s", got)
		}
	})
}

// Messages come only with their intents; of them only those that are wanted wait, among
// the interactions, and the others hold up nobody.
func TestMessages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(func(cfg *Config) {
			cfg.Intents = GuildMessages
			cfg.Message = func(raw json.RawMessage) func(func()) {
				if !strings.Contains(string(raw), "wanted") {
					return nil
				}
				return func(done func()) { cfg.Handle(raw, done) }
			}
		})
		for range 2 * mostEvents {
			at.dispatch(MessageCreate, map[string]string{"content": "chat"})
		}
		at.dispatch(InteractionCreate, press(1))
		at.dispatch(MessageCreate, map[string]string{"content": "wanted"})
		at.dispatch(InteractionCreate, press(2))
		c.got(1)
		if got := wait(t, "message", c.events); string(got) != `{"content":"wanted"}` {
			t.Errorf("came %s", got)
		}
		c.got(2)
	})
}

// An interaction whose handling panics costs none of the later ones.
func TestHandlingPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, at := newDiscord(t).start(func(cfg *Config) {
			handle := cfg.Handle
			cfg.Handle = func(raw json.RawMessage, done func()) {
				if strings.Contains(string(raw), `"id":"1"`) {
					panic("an interaction that nobody expected")
				}
				handle(raw, done)
			}
		})
		at.dispatch(InteractionCreate, press(1))
		at.dispatch(InteractionCreate, press(2))
		c.got(2)
	})
}

// After a cut the session goes on where it was, at the address that READY gave,
// from the last event received; what is replayed twice comes once.
func TestResumes(t *testing.T) {
	for name, end := range map[string]func(*conn) int{
		"cut":       func(c *conn) int { c.cut(); return 0 },
		"op 7":      func(c *conn) int { c.say(opReconnect, nil); return c.closed() },
		"op 9 true": func(c *conn) int { c.say(opInvalid, true); return c.closed() },
		"4000":      func(c *conn) int { c.close(4000); return 0 },
		"1001":      func(c *conn) int { c.close(1001); return 0 },
		"nonsense":  func(c *conn) int { c.ws.WriteMessage(websocket.TextMessage, []byte("{]")); return c.closed() },
	} {
		bubbleIn(t, name, func(t *testing.T) {
			d := newDiscord(t)
			c, at := d.start(nil)
			at.dispatch(InteractionCreate, press(1))
			c.got(1)
			if code := end(at); code != 0 && code != closeResume {
				t.Errorf("closed with %d", code)
			}
			at = d.accept()
			if at.path != "/resume?v=10&encoding=json" {
				t.Errorf("resumed at %s", at.path)
			}
			said := at.greet(opResume)
			if said["token"] != token || said["session_id"] != "session-1" || said["seq"] != 2.0 {
				t.Errorf("resumed with %v", said)
			}
			at.dispatchAt(2, InteractionCreate, press(1))
			at.dispatchAt(3, InteractionCreate, press(2))
			c.resumes(true)
			at.dispatchAt(4, "RESUMED", nil)
			at.dispatchAt(5, InteractionCreate, press(3))
			c.got(2, 3)
		})
	}
}

// Beats say what was received, and Discord may ask for one.
func TestHeartbeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		at.dispatch(InteractionCreate, press(1))
		c.got(1)
		at.hear(opHeartbeat) // the first, at once
		at.say(opAck, nil)
		at.say(opHeartbeat, nil)
		p, err := at.next()
		if err != nil || p.Op != opHeartbeat || string(p.Data) != "2" {
			t.Errorf("answered %+v, %v", p, err)
		}
	})
}

// A beat that nobody acknowledges ends the connection within an interval and
// five seconds of the last acknowledgement, with a code that keeps the session.
func TestZombie(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		for range 10 {
			at.hear(opHeartbeat)
			at.say(opAck, nil)
		}
		last := time.Now()
		for {
			if _, err := at.next(); err != nil {
				if !websocket.IsCloseError(err, closeResume) {
					t.Error("ended with ", err)
				}
				break
			}
			at.dispatch("TYPING_START", nil) // it dispatches, but does not acknowledge
		}
		if d := time.Since(last); d < interval || d > interval+5*time.Second {
			t.Errorf("given up after %v", d)
		}
		at = d.accept()
		at.greet(opResume)
		at.dispatch("RESUMED", nil)
		c.resumes(true)
	})
}

func TestFatal(t *testing.T) {
	for code, word := range map[int]string{4004: "token", 4010: "shards", 4011: "shards", 4012: "newer", 4013: "report", 4014: "Message Content Intent"} {
		bubbleIn(t, fmt.Sprint(code), func(t *testing.T) {
			d := newDiscord(t)
			c := d.run(nil)
			at := d.accept()
			at.greet(opIdentify)
			at.close(code)
			c.isFatal(code)
			if err := c.ended(); !strings.Contains(err.Error(), word) {
				t.Errorf("serving: %v", err)
			}
		})
	}
}

// A token that Discord refuses over HTTP costs no session start.
func TestBadToken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(func(cfg *Config) {
			cfg.Bot = func(context.Context) (*discordgo.GatewayBotResponse, error) {
				return nil, fmt.Errorf("asking: %w", &rest.Error{Status: 401})
			}
		})
		c.isFatal(4004)
		if len(d.conns) > 0 {
			t.Error("it connected")
		}
	})
}

// That a token which was good is refused over HTTP may be a slip: the gateway is
// asked itself, and believed.
func TestTokenRefusedLater(t *testing.T) {
	for name, good := range map[string]bool{"a slip": true, "meant": false} {
		bubbleIn(t, name, func(t *testing.T) {
			d := newDiscord(t)
			var refuse atomic.Bool
			c, at := d.start(func(cfg *Config) {
				cfg.Bot = func(ctx context.Context) (*discordgo.GatewayBotResponse, error) {
					if refuse.Load() {
						return nil, &rest.Error{Status: 401}
					}
					return d.bot(ctx)
				}
			})
			refuse.Store(true)
			at.close(4007)
			at = d.accept()
			at.greet(opIdentify)
			if good {
				at.ready("")
				c.resumes(false)
			} else {
				at.close(4004)
				c.isFatal(4004)
			}
		})
	}
}

// Discord sometimes never answers Resume. The shard tries up to three times, or
// for a minute, and then identifies.
func TestResumeUnanswered(t *testing.T) {
	for name, refused := range map[string]struct {
		how    func(*conn)
		tries  int
		within time.Duration
	}{
		"no answer": {func(*conn) {}, 2, time.Minute},
		"only acks": {func(c *conn) {
			for range 100 {
				c.say(opAck, nil)
			}
		}, 2, time.Minute},
		"closed":    {func(c *conn) { c.close(4000) }, 3, 10 * time.Second},
		"op 7":      {func(c *conn) { c.say(opReconnect, nil) }, 3, 10 * time.Second},
		"op 9 true": {func(c *conn) { c.say(opInvalid, true) }, 3, 20 * time.Second},
		"4007":      {func(c *conn) { c.close(4007) }, 1, 5 * time.Second},
		"4009":      {func(c *conn) { c.close(4009) }, 1, 5 * time.Second},
	} {
		bubbleIn(t, name, func(t *testing.T) {
			d := newDiscord(t)
			c, at := d.start(nil)
			for round := range 2 { // in the second they are counted from the beginning
				time.Sleep(time.Second) // no two connections are opened within less
				at.ws.Close()
				began := time.Now()
				for range refused.tries {
					at = d.accept()
					at.greet(opResume)
					refused.how(at)
				}
				at = d.accept()
				at.greet(opIdentify)
				if d := time.Since(began); d > refused.within {
					t.Errorf("round %d: identified after %v", round, d)
				}
				at.ready(resumeURL)
				c.resumes(false)
			}
		})
	}
}

// However long Discord was away, and whether connections were refused or hung, the shard
// dials within fifteen seconds of its return; and if the session is lost by then, it
// identifies within the five seconds that Discord asks for.
func TestOutage(t *testing.T) {
	for _, away := range []time.Duration{20 * time.Second, 70 * time.Second, 10 * time.Minute, 5 * time.Hour} {
		for _, hangs := range []bool{false, true} {
			bubbleIn(t, fmt.Sprint(away, " ", hangs), func(t *testing.T) {
				d := newDiscord(t)
				var back time.Time
				c, at := d.start(func(cfg *Config) {
					dial, bot := cfg.Dial, cfg.Bot
					out := func(ctx context.Context) error {
						if !time.Now().Before(back) {
							return nil
						}
						if hangs {
							<-ctx.Done()
						}
						return errors.New("nobody is there")
					}
					cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
						if err := out(ctx); err != nil {
							return nil, err
						}
						return dial(ctx, network, address)
					}
					cfg.Bot = func(ctx context.Context) (*discordgo.GatewayBotResponse, error) {
						if err := out(ctx); err != nil {
							return nil, err
						}
						return bot(ctx)
					}
				})
				back = time.Now().Add(away)
				at.ws.Close()
				time.Sleep(time.Until(back))
				at = d.accept()
				if after := time.Since(back); after > 15*time.Second {
					t.Errorf("dialled %v after the return", after)
				}
				at.greet(opResume)
				lost := time.Now()
				at.say(opInvalid, false)
				at = d.accept()
				at.greet(opIdentify)
				if after := time.Since(lost); after > 5*time.Second || after < time.Second {
					t.Errorf("identified %v after the session was lost", after)
				}
				at.ready(resumeURL)
				c.resumes(false)
			})
		}
	}
}

// A Resume that brings an event was answered, even if the connection ends before
// RESUMED: the session is kept as long as it gets on.
func TestResumeGetsOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		at.ws.Close()
		for seq := 2; seq < 12; seq++ {
			at = d.accept()
			if said := at.greet(opResume); said["seq"] != float64(seq-1) {
				t.Fatalf("resumed with %v", said)
			}
			at.dispatchAt(int64(seq), InteractionCreate, press(seq))
			c.got(seq)
			at.ws.Close()
		}
		for try := range 5 { // also when Discord answers only each third
			for range 2 {
				at = d.accept()
				at.greet(opResume)
				at.close(4000)
			}
			at = d.accept()
			at.greet(opResume)
			at.dispatchAt(int64(12+try), "RESUMED", nil)
			c.resumes(true)
			at.ws.Close()
		}
	})
}

// Where the address at which to resume is out of order, the one at which everybody
// begins is tried as well.
func TestResumesElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(nil)
		at := d.accept()
		at.greet(opIdentify)
		at.ready("ws://localhost:81") // where nobody listens
		c.resumes(false)
		at.cut()
		at = d.accept()
		if at.path != "/?v=10&encoding=json" {
			t.Errorf("connected to %s", at.path)
		}
		at.greet(opResume)
		at.dispatch("RESUMED", nil)
		c.resumes(true)
	})
}

// pass is the process after another one: it begins with the session that was kept last.
func (d *discord) pass(from Session) *client {
	return d.serves(0, 1, from, func(Session) {}, nil)
}

// A session is passed on to another process, which resumes it before the first event that is
// not done; Discord closes nothing. Before that, the first process waits a while for what it has
// received.
func TestSessionIsPassedOn(t *testing.T) {
	for name, finish := range map[string]bool{"done in time": true, "not done": false} {
		bubbleIn(t, name, func(t *testing.T) {
			d := newDiscord(t)
			var kept []Session // the last one when serving has ended
			done := map[string]func(){}
			c := d.serves(0, 1, Session{}, func(s Session) { kept = append(kept, s) }, func(cfg *Config) {
				cfg.Handle = func(raw json.RawMessage, finished func()) {
					var in struct{ ID string }
					json.Unmarshal(raw, &in) //nolint:errcheck // the test has made it
					done[in.ID] = finished
				}
			})
			at := d.accept()
			at.greet(opIdentify)
			at.ready(resumeURL)
			c.resumes(false)
			synctest.Wait()
			if len(kept) != 1 || kept[0] != (Session{"session-1", resumeURL, 1}) {
				t.Fatalf("at first %+v is kept", kept)
			}
			for n := 1; n <= 3; n++ {
				at.dispatch(InteractionCreate, press(n))
			}
			synctest.Wait()
			done["1"]()
			done["1"]() // twice is once
			done["3"]()
			began := time.Now()
			c.cancel()
			if code := at.closed(); code != closeResume {
				t.Errorf("closed with %d: the session is lost", code)
			}
			want := int64(2)
			if finish {
				time.Sleep(time.Second)
				done["2"]()
				want = 4
			}
			if err := c.ended(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); finish && took > time.Second || took > doneTime {
				t.Errorf("it took %v", took)
			}
			last := kept[len(kept)-1]
			if last.Seq != want {
				t.Errorf("%+v is kept last", last)
			}
			next := d.pass(last)
			at = d.accept()
			if at.path != "/resume?v=10&encoding=json" {
				t.Errorf("resumed at %s", at.path)
			}
			if said := at.greet(opResume); said["session_id"] != "session-1" || said["seq"] != float64(want) {
				t.Errorf("resumed with %v", said)
			}
			for seq := want + 1; seq <= 4; seq++ {
				at.dispatchAt(seq, InteractionCreate, press(int(seq)-1))
			}
			at.dispatchAt(5, "RESUMED", nil)
			next.resumes(true)
			for seq := want + 1; seq <= 4; seq++ {
				next.got(int(seq) - 1)
			}
		})
	}
}

// A session is kept when it begins, and then as it gets on, but not for each event.
func TestSessionIsKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		var kept []Session
		c := d.serves(0, 1, Session{}, func(s Session) { kept = append(kept, s) }, nil)
		at := d.accept()
		at.greet(opIdentify)
		at.ready(resumeURL)
		c.resumes(false)
		const seconds = 30
		for n := range seconds * 20 {
			at.dispatch(InteractionCreate, press(n))
			c.got(n)
			time.Sleep(time.Second / 20)
		}
		synctest.Wait()
		if n := len(kept); n < seconds/5 || n > seconds/5+2 {
			t.Errorf("kept %d times in %d seconds", n, seconds)
		}
		if last := kept[len(kept)-1]; last.Seq < seconds*20-5*20 {
			t.Errorf("%+v is kept last", last)
		}
		before := len(kept)
		at.say(opInvalid, false)
		at = d.accept()
		at.greet(opIdentify)
		synctest.Wait()
		time.Sleep(keepTime)
		synctest.Wait()
		if last := kept[len(kept)-1]; len(kept) != before+1 && last != (Session{}) {
			t.Errorf("the lost session is kept: %+v", last)
		}
	})
}

// A process that is given a session which Discord has forgotten, or whose address nobody can
// use, identifies.
func TestPassedSessionIsLost(t *testing.T) {
	for name, from := range map[string]Session{"forgotten": {"session-0", resumeURL, 7}, "no address": {ID: "session-0", Seq: 7}, "bad address": {"session-0", "ws://example.org", 7}} {
		bubbleIn(t, name, func(t *testing.T) {
			d := newDiscord(t)
			c := d.pass(from)
			at := d.accept()
			at.greet(opResume)
			at.say(opInvalid, false)
			at = d.accept()
			at.greet(opIdentify)
			at.ready(resumeURL)
			c.resumes(false)
		})
	}
}

// Where the number of shards is given, a token that was never good ends the shard all the same.
func TestBadTokenOfShard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(func(cfg *Config) {
			cfg.Shards = 2
			cfg.Bot = func(context.Context) (*discordgo.GatewayBotResponse, error) { return nil, &rest.Error{Status: 401} }
		})
		c.isFatal(4004)
		if len(d.conns) > 0 {
			t.Error("it connected")
		}
	})
}
