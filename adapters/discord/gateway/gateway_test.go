package gateway

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
)

func TestIdentifies(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(func(cfg *Config) { cfg.Shards, cfg.First, cfg.Count = 4, 2, 1 })
		at := d.accept()
		if at.path != "/?v=10&encoding=json" {
			t.Errorf("connected to %s", at.path)
		}
		at.hello(interval)
		said := at.hear(opIdentify)
		if said["token"] != token {
			t.Errorf("token %v", said["token"])
		}
		if fmt.Sprint(said["shard"]) != "[2 4]" || said["intents"] != 0.0 || said["compress"] != false {
			t.Errorf("identified as %v with intents %v, compress %v", said["shard"], said["intents"], said["compress"])
		}
		at.ready("")
		r := wait(t, "ready", c.ready)
		if r.Shard != 2 || r.Shards != 4 || r.Resumed {
			t.Errorf("ready %+v", r)
		}
		if s := c.g.Status(); len(s) != 1 || !s[0].Connected || s[0].Identifies != 1 {
			t.Errorf("status %+v", s)
		}
		if err := c.stop(); err != nil {
			t.Error("Run: ", err)
		}
		if code := at.closed(); code != closeLeave {
			t.Errorf("left with %d: the session stays", code)
		}
		if len(c.lost) > 0 || c.g.Status()[0].Connected {
			t.Error("leaving is told as a loss, or not at all")
		}
	})
}

// What nobody can decode is handed over as it came.
func TestEventsAreRaw(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		strange := map[string]any{"id": "1", "token": "t", "type": 3, "data": map[string]any{"custom_id": "x", "component_type": 99},
			"message": map[string]any{"id": "5", "components": []any{map[string]any{"type": 99, "strange": true}}}}
		at.dispatch("GUILD_CREATE", map[string]any{"id": "7", "members": "not even a list"})
		at.dispatch(InteractionCreate, strange)
		e := wait(t, "event", c.events)
		want, _ := json.Marshal(strange)
		var got, expected any
		json.Unmarshal(e.Data, &got)    //nolint:errcheck // compared
		json.Unmarshal(want, &expected) //nolint:errcheck // compared
		if fmt.Sprint(got) != fmt.Sprint(expected) || e.Type != InteractionCreate || e.Seq != 3 {
			t.Errorf("came %s %d %s", e.Type, e.Seq, e.Data)
		}
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
		"nonsense":  func(c *conn) int { c.ws.WriteMessage(websocket.TextMessage, []byte("{")); return c.closed() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDiscord(t)
				c, at := d.start(nil)
				wait(t, "first outage", c.outages)
				at.dispatch(InteractionCreate, press(1))
				wait(t, "event", c.events)
				if code := end(at); code != 0 && code != closeResume {
					t.Errorf("closed with %d", code)
				}
				wait(t, "loss", c.lost)
				at = d.accept()
				if at.path != "/resume?v=10&encoding=json" {
					t.Errorf("resumed at %s", at.path)
				}
				at.hello(interval)
				said := at.hear(opResume)
				if said["token"] != token || said["session_id"] != "session-1" || said["seq"] != 2.0 {
					t.Errorf("resumed with %v", said)
				}
				at.dispatchAt(2, InteractionCreate, press(1))
				at.dispatchAt(3, InteractionCreate, press(2))
				o := wait(t, "outage", c.outages)
				if !o.Resumed || o.To.Before(o.From) {
					t.Errorf("outage %+v", o)
				}
				at.dispatchAt(4, "RESUMED", nil)
				if r := wait(t, "ready", c.ready); !r.Resumed {
					t.Errorf("ready %+v", r)
				}
				at.dispatchAt(5, InteractionCreate, press(3))
				for _, n := range []int64{3, 5} {
					if e := wait(t, "event", c.events); e.Seq != n {
						t.Errorf("event %d came, not %d", e.Seq, n)
					}
				}
				if s := c.g.Status()[0]; s.Identifies != 1 || s.Resumes != 1 {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
}

// A session that Discord does not know any more is given up, and another begun.
func TestIdentifiesAnew(t *testing.T) {
	for name, end := range map[string]func(*conn){
		"op 9 false": func(c *conn) { c.say(opInvalid, false); c.closed() },
		"4007":       func(c *conn) { c.close(4007) },
		"4009":       func(c *conn) { c.close(4009) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDiscord(t)
				c, at := d.start(nil)
				at.dispatch(InteractionCreate, press(1))
				wait(t, "event", c.events)
				at.cut()
				at = d.accept()
				at.hello(interval)
				at.hear(opResume)
				end(at) // the first thing after Resume
				at = d.accept()
				if at.path != "/?v=10&encoding=json" {
					t.Errorf("connected to %s", at.path)
				}
				at.hello(interval)
				at.hear(opIdentify)
				at.ready("")
				wait(t, "ready", c.ready)
				at.dispatch(InteractionCreate, press(2)) // its number is small again
				if e := wait(t, "event", c.events); e.Seq != 2 {
					t.Errorf("event %d", e.Seq)
				}
			})
		})
	}
}

// Where READY does not come, the connection is given up and a later
// one works.
func TestSilence(t *testing.T) {
	acks := make([]any, 1000)
	for i := range acks {
		acks[i] = packet{Op: opAck}
	}
	for name, silent := range map[string]func(*conn){
		"no hello":         func(c *conn) { c.try(-1) },
		"hello of nothing": func(c *conn) { c.try(0) },
		"no READY":         func(c *conn) { c.try(interval) },
		"acks, no READY":   func(c *conn) { c.try(interval, acks...) },
		"op 7 for READY":   func(c *conn) { c.try(interval, packet{Op: opReconnect}) },
		"op 9 for READY":   func(c *conn) { c.try(interval, packet{Op: opInvalid, Data: json.RawMessage("false")}) },
		"op 1 for READY":   func(c *conn) { c.try(interval, packet{Op: opHeartbeat}) },
		"hello for READY": func(c *conn) {
			c.try(interval, packet{Op: opHello, Data: json.RawMessage(`{"heartbeat_interval":9}`)})
		},
		"unknown op": func(c *conn) { c.try(interval, packet{Op: 77}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDiscord(t)
				c := d.run(nil)
				silent(d.accept())
				d.recover(c)
			})
		})
	}
}

// A handshake that is never answered is given up as well.
func TestDeafServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		var first atomic.Bool
		inner := d.handler
		release := make(chan struct{})
		d.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if first.CompareAndSwap(false, true) {
				<-release
				return
			}
			inner.ServeHTTP(w, r)
		})
		c := d.run(nil)
		d.recover(c)
		close(release)
	})
}

// Beats say what was received, and Discord may ask for one.
func TestHeartbeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		at.dispatch(InteractionCreate, press(1))
		wait(t, "event", c.events)
		at.hear(opHeartbeat) // the first, at once
		at.say(opAck, nil)
		at.say(opHeartbeat, nil)
		p, err := at.next()
		if err != nil || p.Op != opHeartbeat || string(p.Data) != "2" {
			t.Errorf("answered %+v, %v", p, err)
		}
	})
}

func TestFatal(t *testing.T) {
	for code, word := range map[int]string{4004: "token", 4010: "shards", 4011: "shards", 4012: "newer", 4013: "report", 4014: "Message Content Intent"} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDiscord(t)
				c := d.run(nil)
				at := d.accept()
				at.hello(interval)
				at.hear(opIdentify)
				at.close(code)
				err := wait(t, "end of Run", c.result)
				c.result <- err
				var f *Fatal
				if !errors.As(err, &f) || f.Code != code || !strings.Contains(err.Error(), word) {
					t.Errorf("Run: %v", err)
				}
			})
		})
	}
}

// A token that Discord refuses over HTTP costs no session start.
func TestBadToken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(func(cfg *Config) {
			cfg.Bot = func(context.Context) (*rest.GatewayBot, error) {
				return nil, fmt.Errorf("asking: %w", &rest.Error{Status: 401})
			}
		})
		err := wait(t, "end of Run", c.result)
		c.result <- err
		var f *Fatal
		if !errors.As(err, &f) || f.Code != 4004 {
			t.Errorf("Run: %v", err)
		}
		if len(d.conns) > 0 {
			t.Error("it connected")
		}
	})
}

// That a token which was good is refused over HTTP may be a slip: the gateway is
// asked itself, and believed.
func TestTokenRefusedLater(t *testing.T) {
	for name, good := range map[string]bool{"a slip": true, "meant": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d := newDiscord(t)
				var refuse atomic.Bool
				c, at := d.start(func(cfg *Config) {
					cfg.Bot = func(ctx context.Context) (*rest.GatewayBot, error) {
						if refuse.Load() {
							return nil, &rest.Error{Status: 401}
						}
						return d.bot(ctx)
					}
				})
				refuse.Store(true)
				at.close(4007)
				at = d.accept()
				at.hello(interval)
				at.hear(opIdentify)
				if good {
					at.ready("")
					wait(t, "ready", c.ready)
					return
				}
				at.close(4004)
				err := wait(t, "end of Run", c.result)
				c.result <- err
				var f *Fatal
				if !errors.As(err, &f) || f.Code != 4004 {
					t.Errorf("Run: %v", err)
				}
			})
		})
	}
}

// An event for which there was no place when the connection ended is not
// received: it is replayed.
func TestNotReceived(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		release := make(chan struct{})
		got := make(chan Event, 10)
		c := d.run(func(cfg *Config) {
			cfg.Lanes = lanes.New(lanes.Config{Workers: 1, Total: 1})
			cfg.Handle = func(ctx context.Context, e Event) { until(ctx, release); got <- e }
		})
		at := d.accept()
		at.hello(100 * time.Millisecond)
		at.hear(opIdentify)
		at.ready("")
		wait(t, "ready", c.ready)
		for i := range 4 {
			at.dispatch(InteractionCreate, press(i))
		}
		at.cut() // which a beat notices
		at = d.accept()
		at.hello(interval)
		seq := int64(at.hear(opResume)["seq"].(float64))
		if seq > 2 {
			t.Fatalf("resumed from %d: what had no place is lost", seq)
		}
		for n := seq + 1; n <= 5; n++ {
			at.dispatchAt(n, InteractionCreate, press(int(n)))
		}
		close(release)
		for i := range 4 {
			if e := wait(t, "event", got); e.Seq != int64(i+2) {
				t.Errorf("event %d came as number %d", e.Seq, i+2)
			}
		}
	})
}

// Compressed messages are understood, though none are asked for.
func TestCompressed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		fmt.Fprintf(z, `{"op":0,"s":2,"t":%q,"d":{"id":"9"}}`, InteractionCreate)
		z.Close()
		if err := at.ws.WriteMessage(websocket.BinaryMessage, b.Bytes()); err != nil {
			t.Fatal(err)
		}
		if e := wait(t, "event", c.events); string(e.Data) != `{"id":"9"}` {
			t.Errorf("came %s", e.Data)
		}
	})
}

// A storm of cuts, resumed each time: nothing is lost, nothing comes twice.
func TestStorm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c, at := d.start(nil)
		const drops, each = 60, 5
		next, received := 2, int64(1)
		for drop := range drops {
			for range each {
				at.dispatchAt(int64(next), InteractionCreate, press(next))
				next++
			}
			switch drop % 3 {
			case 0:
				at.cut() // what was said last may not have arrived
			case 1:
				at.say(opReconnect, nil)
				at.closed()
			case 2:
				at.close(4000)
			}
			at = d.accept()
			at.hello(interval)
			seq := int64(at.hear(opResume)["seq"].(float64))
			for n := max(seq-2, 1) + 1; n < int64(next); n++ { // overlaps
				at.dispatchAt(n, InteractionCreate, press(int(n)))
			}
			at.dispatchAt(int64(next), "RESUMED", nil)
			next++
		}
		want := drops * each
		for range want {
			e := wait(t, "event", c.events)
			if e.Seq <= received {
				t.Fatalf("event %d came after %d", e.Seq, received)
			}
			received = e.Seq
		}
		if s := c.g.Status()[0]; s.Identifies != 1 {
			t.Errorf("status %+v", s)
		}
		if len(c.events) > 0 {
			t.Errorf("%d too many", len(c.events))
		}
	})
}
