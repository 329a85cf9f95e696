package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

const (
	callbackRoute = "POST /interactions/{interaction_id}/{interaction_token}/callback"
	sendRoute     = "POST /channels/{channel_id}/messages"
	editRoute     = "PATCH /channels/{channel_id}/messages/{message_id}"
	originalRoute = "GET /webhooks/{webhook_id}/{webhook_token}/messages/@original"
	commandsRoute = "PUT /applications/{application_id}/commands"
)

// The commands are registered when they have changed, and only then.
func TestRegistered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		c.stop()
		if n := c.d.Count(commandsRoute); n != 1 {
			t.Fatalf("registered %d times", n)
		}
		c.start()
		// What comes after registering is there.
		c.ok(c.alice.Slash(c.room, "help"))
		c.stop()
		if n := c.d.Count(commandsRoute); n != 1 {
			t.Errorf("registered %d times, though nothing had changed", n)
		}
		c.check()
	})
}

// In one server the commands are that server's.
func TestRegisteredInOneServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.Guild = c.guild.ID()
		c.start()
		c.ok(c.alice.Slash(c.room, "help"))
		if i := c.d.Guild("elsewhere").Member("Eve").Slash(c.d.Guild("elsewhere").Channel("x"), "help"); i.Refused() == nil {
			t.Error("another server has them too")
		}
		c.stop()
		c.check()
	})
}

// A slow bot is not silent: the interaction is deferred for the person's eyes
// alone, and the board comes as a message.
func TestSlow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		d := &slowService{}
		c.desk = d.before
		c.start()
		thread := c.begin(t)
		slowly := func(i *discordtest.Interaction) *discordtest.Message {
			t.Helper()
			kind, _ := i.First()
			if kind != 5 {
				t.Errorf("first answered by %d", kind)
			}
			d.gate <- true
			return c.ok(i)
		}
		d.gate = make(chan bool)
		if ended := slowly(c.alice.Slash(thread, "place", opt("at", "C3"))); ended.To != "Alice" || ended.Content != c.linkTo(c.shows(thread, "Black C3")) {
			t.Errorf("the deferral ends as %q to %q", ended.Content, ended.To)
		}
		m := thread.Last()
		if !withPicture(m) || m.Nonce == "" {
			t.Errorf("the board is %+v", m)
		}
		// A refusal stays private.
		if m := slowly(c.alice.Slash(thread, "place", opt("at", "C4"))); m.To != "Alice" || !strings.Contains(m.Content, "not your turn") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		// What everybody is to see comes as a message, once.
		if m := slowly(c.alice.Slash(thread, "score", opt("share", true))); m.To != "Alice" || m.Content != c.linkTo(c.shows(thread, "komi")) {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		if m := thread.Last(); m.To != "" {
			t.Errorf("the score is for %q", m.To)
		}
		c.stop()
		c.check()
	})
}

// What was thought about is answered, if late, also when Discord does not take the
// answer for a while.
func TestEndThatIsNotTaken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		d := &slowService{}
		c.desk = d.before
		c.start()
		thread := c.begin(t)
		d.gate = make(chan bool)
		i := c.bob.Slash(thread, "place", opt("at", "C4"))
		if kind, took := i.First(); kind != 5 || took != answerAfter {
			t.Fatalf("first answered by %d after %v", kind, took)
		}
		const edit = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"
		taken := c.d.Fault(discordtest.Fault{Route: edit, Status: 502, Times: -1})
		d.gate <- true
		time.Sleep(10 * time.Second)
		if !strings.Contains(c.log.String(), "end of a deferral not shown") {
			t.Fatal("it was shown")
		}
		taken()
		if m := c.ok(i); m.To != "Bob" || !strings.Contains(m.Content, "not your turn") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		c.stop()
		c.check()
	})
}

// A slowService answers when it is let.
type slowService struct {
	bot.Service
	gate chan bool
}

func (d *slowService) before(service bot.Service) bot.Service {
	d.Service = service
	return d
}

func (d *slowService) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	if d.gate != nil {
		<-d.gate
	}
	return d.Service.Ask(ctx, r)
}

// An interaction that waits behind a slow one in its channel is deferred in its
// own time.
func TestSlowNeighbours(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		d := &slowService{gate: make(chan bool)}
		c.desk = d.before
		c.start()
		var all []*discordtest.Interaction
		for range 6 {
			all = append(all, c.alice.Slash(c.room, "help"))
		}
		for k, i := range all {
			if kind, took := i.First(); kind != 5 || took != answerAfter {
				t.Errorf("the %d. is answered by %d after %v", k+1, kind, took)
			}
		}
		close(d.gate)
		for k, i := range all {
			if m := c.ok(i); !strings.Contains(m.Content, "Type a command") {
				t.Errorf("the %d. ends as %q", k+1, m.Content)
			}
		}
		c.stop()
		c.check()
	})
}

// Whatever becomes of the answer to an interaction, the board is shown once.
func TestLostAnswers(t *testing.T) {
	for name, fault := range map[string]discordtest.Fault{
		"done, and cut":       {Drop: discordtest.AfterDone},
		"half an answer":      {Drop: discordtest.HalfWay},
		"not done, and cut":   {Drop: discordtest.BeforeDone},
		"502":                 {Status: 502},
		"503 from Cloudflare": {Status: 503, HTML: true},
		"429":                 {Status: 429, RetryAfter: 5 * time.Second},
		"unknown interaction": {Status: 404, Code: 10062},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{})
				c.start()
				thread := c.begin(t)
				fault.Route = callbackRoute
				c.d.Fault(fault)
				c.alice.Slash(thread, "place", opt("at", "C3"))
				c.shows(thread, "Black C3")
				c.ok(c.bob.Slash(thread, "place", opt("at", "C4")))
				c.shows(thread, "White C4")
				c.stop()
				is := func(m *discordtest.Message) bool { return strings.Contains(m.Content, "Black C3") }
				if n := count(thread.Messages(), is); n != 1 {
					t.Errorf("shown %d times\n%s", n, c.d.Transcript())
				}
				c.check()
			})
		})
	}
}

// Where the bot can do nothing but answer, an answer that gets lost is given once
// more: there is no other way, and nothing is wrong with the place.
func TestLostAnswersWhereItCanOnlyAnswer(t *testing.T) {
	for name, fault := range map[string]discordtest.Fault{
		"done, and cut":     {Drop: discordtest.AfterDone},
		"not done, and cut": {Drop: discordtest.BeforeDone},
		"502":               {Status: 502},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{})
				c.start()
				eve, street := c.installed()
				fault.Route = callbackRoute
				c.d.Fault(fault)
				if m := c.ok(eve.Slash(street, "new", opt("size", "5x5"), opt("opponent", eve))); !strings.Contains(m.Content, "Game 1 begins") {
					t.Errorf("%q", m.Content)
				}
				board := c.shows(street, "Black to play.")
				c.d.Fault(fault)
				eve.Press(board, "Pass")
				c.shows(street, "Black passes")
				c.stop()
				if n := count(street.Messages(), withBoard); n != 1 {
					t.Errorf("%d boards\n%s", n, c.d.Transcript())
				}
				if n := count(street.Messages(), func(m *discordtest.Message) bool { return strings.Contains(m.Content, "Game 1 begins") }); n != 1 {
					t.Errorf("said %d times\n%s", n, c.d.Transcript())
				}
				if strings.Contains(c.log.String(), "set aside") {
					t.Errorf("the room is set aside\n%s", c.log.String())
				}
				c.check()
			})
		})
	}
}

// What nobody could look for is looked for later before it is given another way, and
// while nobody can it is not.
func TestAnswersNobodyCouldLookFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		eve, street := c.installed()
		c.d.Fault(discordtest.Fault{Route: callbackRoute, Drop: discordtest.AfterDone})
		c.d.Fault(discordtest.Fault{Route: originalRoute, Status: 502, Times: 3})
		i := eve.Slash(street, "new", opt("size", "5x5"), opt("opponent", eve))
		c.shows(street, "Black to play.")
		if n := count(street.Messages(), func(m *discordtest.Message) bool { return strings.Contains(m.Content, "Game 1 begins") }); n != 1 {
			t.Errorf("said %d times\n%s", n, c.d.Transcript())
		}
		c.d.Fault(discordtest.Fault{Route: originalRoute, Status: 502, Times: 3})
		d := delivery{a: c.a, p: outbox.Post{ID: "again", Attempt: 2}, route: route{Token: i.Token(), Alone: true}}
		if _, err := d.answeredBefore(t.Context()); !errors.Is(err, outbox.ErrAmbiguous) {
			t.Errorf("nobody could look: %v", err)
		}
		c.stop()
		c.check()
	})
}

// A board that was to take the place of one that somebody deletes meanwhile is
// shown where that was: its thread is there.
func TestDeletedWhileAnswering(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		var old *discordtest.Message
		c.posts = func(p outbox.Post) {
			if p.Kind == match.Show && old != nil {
				old.Delete()
				old = nil
			}
		}
		c.start()
		c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5"), opt("opponent", c.alice))) // so that nobody is called
		thread := c.room.WaitThread(0)
		m := c.shows(thread, "Black to play")
		old = m
		c.d.Fault(discordtest.Fault{Route: callbackRoute, Drop: discordtest.BeforeDone})
		c.alice.Press(m, "Pass")
		if m := c.shows(thread, "Black passes"); strings.Contains(m.Content, "no longer there") {
			t.Errorf("it says %q", m.Content)
		}
		c.stop()
		if strings.Contains(c.log.String(), "set aside") || count(c.room.Messages(), withBoard) != 0 {
			t.Errorf("the thread is taken for gone\n%s", c.d.Transcript())
		}
		c.check()
	})
}

// A deferral that gets lost is made once more: what is told later to the person
// alone would be told to nobody.
func TestLostDeferrals(t *testing.T) {
	for name, fault := range map[string]discordtest.Fault{
		"done, and cut":     {Drop: discordtest.AfterDone},
		"not done, and cut": {Drop: discordtest.BeforeDone},
		"502":               {Status: 502},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{})
				d := &slowService{gate: make(chan bool)}
				c.desk = d.before
				c.start()
				fault.Route = callbackRoute
				c.d.Fault(fault)
				i := c.alice.Slash(c.room, "help")
				if kind, took := i.First(); kind != 5 || took != answerAfter {
					t.Errorf("first answered by %d after %v", kind, took)
				}
				close(d.gate)
				if m := c.ok(i); m.To != "Alice" || !strings.Contains(m.Content, "Type a command") {
					t.Errorf("it ends as %q to %q", m.Content, m.To)
				}
				c.stop()
				c.check()
			})
		})
	}
}

// Whatever becomes of a message of the bot's own, it is sent once.
func TestLostMessages(t *testing.T) {
	for name, fault := range map[string]discordtest.Fault{
		"done, and cut":     {Drop: discordtest.AfterDone},
		"half an answer":    {Drop: discordtest.HalfWay, Times: 2},
		"not done, and cut": {Drop: discordtest.BeforeDone, Times: 2},
		"500 for long":      {Status: 500, Times: 4},
		"429":               {Status: 429, RetryAfter: 300 * time.Millisecond},
		"429, shared":       {Status: 429, RetryAfter: 300 * time.Millisecond, Scope: "shared"},
		"429, global":       {Status: 429, RetryAfter: 300 * time.Millisecond, Scope: "global"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{})
				c.start()
				fault.Route = sendRoute
				c.d.Fault(fault)
				thread := c.begin(t) // its first board is a message of the bot's own
				c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
				c.shows(thread, "Black C3")
				c.stop()
				if n := count(thread.Messages(), withBoard); n != 2 {
					t.Errorf("%d boards\n%s", n, c.d.Transcript())
				}
				c.check()
			})
		})
	}
}

// After an outage of an hour a message of which nobody knows whether it was sent
// is looked for, however much has been said since, before it is sent again; and
// not sent while nobody can look.
func TestLookedFor(t *testing.T) {
	for name, known := range map[string]bool{"by the same process": true, "after a restart": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{})
				c.start()
				post := outbox.Post{ID: "n1", Where: c.where(c.room), Kind: match.Notice, Game: "g", At: time.Now(), Text: "Anna opens game 1."}
				c.d.Fault(discordtest.Fault{Route: sendRoute, Drop: discordtest.AfterDone, Times: 3})
				if _, err := c.deliver(post); !errors.Is(err, outbox.ErrAmbiguous) {
					t.Fatalf("the answer was lost: %v", err)
				}
				for n := range 130 {
					c.alice.Say(c.room, fmt.Sprint("talk ", n))
				}
				if !known {
					c.stop()
					c.start()
				}
				time.Sleep(time.Hour)
				post.Attempt = 2
				end := c.d.Fault(discordtest.Fault{Route: "GET /channels/{channel_id}/messages", Status: 503, Times: -1})
				if _, err := c.deliver(post); !errors.Is(err, outbox.ErrAmbiguous) {
					t.Errorf("nobody could look: %v", err)
				}
				end()
				sent, err := c.deliver(post)
				if err != nil {
					t.Error(err)
				}
				ours := c.room.Messages()[0]
				if sent != receipt(c.room.ID(), ours.ID) {
					t.Errorf("it is taken for %s, not %s", sent, ours.ID)
				}
				if n := count(c.room.Messages(), func(m *discordtest.Message) bool { return strings.Contains(m.Content, "opens game 1") }); n != 1 {
					t.Errorf("sent %d times", n)
				}
				c.stop()
			})
		})
	}
}

// A program that is killed between deciding and answering shows the board when
// it is back, and ends what the person was waiting for.
func TestKilledBeforeAnswering(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		thread := c.begin(t)
		c.stop()
		time.Sleep(6 * time.Second) // Discord lets nobody identify twice within five
		d := &lateService{bot.New(c.store, bot.Config{}), make(chan bool)}
		_, stop, kill := c.alone(d)
		i := c.alice.Slash(thread, "place", opt("at", "C3"))
		if kind, took := i.First(); kind != 5 || took != answerAfter {
			t.Fatalf("first answered by %d after %v", kind, took)
		}
		synctest.Wait()
		kill()
		if n := count(thread.Messages(), withPicture); n != 1 {
			t.Fatalf("%d boards", n)
		}
		c.start()
		board := c.shows(thread, "Black C3")
		c.settle()
		if m := c.ok(i); m.Content != c.linkTo(board) {
			t.Errorf("it ends as %q", m.Content)
		}
		c.stop()
		close(d.gate)
		stop()
		c.check()
	})
}

// A lateService answers when it is let, and has done it before.
type lateService struct {
	bot.Service
	gate chan bool
}

func (d *lateService) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	answer, err := d.Service.Ask(ctx, r)
	<-d.gate
	return answer, err
}

// A program that is killed after the answer and before it is written down finds
// the answer, and the next post of the same step is not taken for it.
func TestKilledAfterAnswering(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		var kept []outbox.Post
		b := bot.New(c.store, bot.Config{})
		keep := &keeper{Service: b, posts: &kept}
		a, stop, _ := c.alone(keep)
		keep.Adapter = a
		again, err := New(c.cfg) // another process, as if this one had not written down what it delivered
		if err != nil {
			t.Fatal(err)
		}
		defer again.rest.Close()
		i := c.alice.Slash(c.room, "new", opt("size", "5x5"), opt("opponent", c.alice))
		synctest.Wait()
		for tried := 0; tried < 2; { // what begins, and the board
			if len(kept) == tried {
				t.Fatalf("%d posts", tried)
			}
			for ; tried < len(kept); tried++ {
				p := kept[tried]
				p.Attempt = 2
				before := len(c.room.Messages())
				r, _, err := again.Deliver(t.Context(), p)
				if n := len(c.room.Messages()); err != nil || r != keep.receipts[tried] || n != before {
					t.Errorf("post %d is %s and was %s, %v; %d messages, %d before\n%s", tried, r, keep.receipts[tried], err, n, before, c.d.Transcript())
				}
			}
			if _, err := b.Deliver(t.Context(), keep); err != nil {
				t.Fatal(err)
			}
		}
		c.ok(i)
		stop()
		if len(kept) != 2 || kept[0].Kind != match.Notice || kept[1].Kind != match.Show {
			t.Fatalf("%+v", kept)
		}
		c.check()
	})
}

// A keeper stands between an adapter and its service and records the posts shown.
type keeper struct {
	bot.Service
	*Adapter
	posts    *[]outbox.Post
	receipts []outbox.Receipt
}

func (k *keeper) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	r, owes, err := k.Adapter.Deliver(ctx, p)
	if err == nil && (p.Kind == match.Notice || p.Kind == match.Show) {
		*k.posts = append(*k.posts, p)
		k.receipts = append(k.receipts, r)
	}
	return r, owes, err
}

func (k *keeper) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes ...outbox.Owes) error {
	*k.posts = append(*k.posts, p)
	k.receipts = append(k.receipts, r)
	return k.Service.Settle(ctx, p, r, owes...)
}

// What comes twice is done once.
func TestTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		thread := c.begin(t)
		i := c.alice.Slash(thread, "place", opt("at", "C3"))
		i.Again()
		c.ok(i)
		i.Again()
		c.shows(thread, "Black C3")
		c.ok(c.bob.Slash(thread, "place", opt("at", "C4")))
		i.Again()
		c.ok(c.alice.Slash(thread, "place", opt("at", "C2")))
		c.shows(thread, "Black C2")
		c.stop()
		if n := count(thread.Messages(), withPicture); n != 4 {
			t.Errorf("%d boards\n%s", n, c.d.Transcript())
		}
		c.check()
	})
}

// Turns that come in another order than they were made in, and twice, are each
// made once at most, and no board is shown twice.
func TestReordered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		rounds := 4
		if tier.Soaking() {
			rounds = 200
		}
		orders := [][]int{{0, 1, 2, 0, 1, 2}, {0, 0, 1, 1, 2, 2}, {1, 0, 2, 0, 1}, {2, 1, 0, 1, 2}}
		for round := range rounds {
			order := orders[round%len(orders)]
			c := newClub(t, discordtest.Options{})
			c.start()
			thread := c.begin(t)
			release := c.d.Hold()
			turns := []*discordtest.Interaction{
				c.alice.Slash(thread, "place", opt("at", "C3")),
				c.bob.Slash(thread, "place", opt("at", "C4")),
				c.alice.Slash(thread, "place", opt("at", "C2")),
			}
			release(order...)
			for _, i := range turns {
				if m := c.ok(i); m.To == "" && !withPicture(m) {
					t.Errorf("a refusal is for all: %q", m.Content)
				}
			}
			c.shows(thread, []string{"move 3: Black C2", "move 3: Black C2", "move 1: Black C3", "move 3: Black C3"}[round%len(orders)])
			c.stop()
			for n := 1; n <= 3; n++ {
				is := func(m *discordtest.Message) bool { return strings.Contains(m.Content, fmt.Sprintf("move %d:", n)) }
				if shown := count(thread.Messages(), is); shown > 1 {
					t.Errorf("order %v: move %d is shown %d times\n%s", order, n, shown, c.d.Transcript())
				}
			}
			c.check()
		}
	})
}

// A press of a button that should be gone is answered to the person alone.
func TestStale(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		c.d.Fault(discordtest.Fault{Route: editRoute, Status: 403, Code: 50013, Times: -1})
		thread := c.begin(t)
		first := thread.Last()
		c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
		m := c.ok(c.alice.Press(first, "Pass"))
		if m.To != "Alice" || !strings.Contains(m.Content, "moved on") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		c.stop()
		c.check()
	})
}

// A panic is one person's trouble.
func TestPanic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.desk = func(d bot.Service) bot.Service { return panicService{d} }
		c.start()
		if m := c.ok(c.alice.Slash(c.room, "help")); m.To != "Alice" || m.Content != wordFailed {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		c.ok(c.alice.Slash(c.room, "games"))
		c.stop()
		c.check()
	})
}

type panicService struct{ bot.Service }

func (d panicService) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	if r.Command == "help" {
		panic("poison")
	}
	return d.Service.Ask(ctx, r)
}

// Interactions over HTTP are the same.
func TestOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.Listen, c.cfg.PublicKey = "localhost:8080", c.d.PublicKey()
		c.start()
		thread := c.begin(t)
		if m := c.ok(c.bob.Slash(thread, "place", opt("at", "C3"))); m.To != "Bob" {
			t.Errorf("a refusal is for %q", m.To)
		}
		c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
		form := c.bob.Press(c.shows(thread, "Black C3"), "Place a stone…")
		if form.Modal() == nil {
			t.Fatal("no form")
		}
		c.ok(c.bob.Submit(form, map[string]any{"at": "C4"}))
		c.shows(thread, "White C4")
		if choices, err := c.alice.Autocomplete(thread, "place", opt("at", "B")); err != nil || len(choices) != 5 {
			t.Errorf("%v %v", choices, err)
		}
		c.stop()
		c.check()
	})
}

// When Discord cannot be reached the service is told, and told when it can again
// before anything is asked.
func TestAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Patience: time.Hour})
		said := &said{}
		c.desk = func(d bot.Service) bot.Service { return &sayingService{d, said} }
		c.start()
		refused := make([]discordtest.ConnectionFault, 8)
		for i := range refused {
			refused[i].Refuse = 503
		}
		c.d.NextConnections(refused...)
		c.d.Sessions()[0].Cut()
		time.Sleep(awayAfter)
		said.are(t, "back")
		time.Sleep(awayAfter/3 + time.Second)
		said.are(t, "back, away")
		if !c.d.WaitSessions(1) {
			t.Fatal("it does not come back")
		}
		c.ok(c.alice.Slash(c.room, "help"))
		said.are(t, "back, away, back, help")
		c.stop()
		c.check()
	})
}

// said is what a service was told, in order.
type said struct {
	mu  sync.Mutex
	all []string
}

func (s *said) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.all); n == 0 || s.all[n-1] != what {
		s.all = append(s.all, what)
	}
}

// list waits until nothing more happens now.
func (s *said) list() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, ", ")
}

func (s *said) are(t *testing.T, want string) {
	t.Helper()
	if got := s.list(); got != want {
		t.Errorf("the desk was told %q, not %q", got, want)
	}
}

type sayingService struct {
	bot.Service
	said *said
}

func (d *sayingService) Away(ctx context.Context, platform string) error {
	d.said.add("away")
	return d.Service.Away(ctx, platform)
}

func (d *sayingService) Back(ctx context.Context, platform string) error {
	d.said.add("back")
	return d.Service.Back(ctx, platform)
}

func (d *sayingService) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	d.said.add(r.Command)
	return d.Service.Ask(ctx, r)
}

// wrong returns a token of the same shape that Discord does not accept.
func wrong(token bot.Secret) bot.Secret {
	text := token.Reveal()
	return bot.NewSecret(text[:len(text)-1] + "!")
}

// A token that is not accepted ends the program, and says so.
func TestWrongToken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Lenient: true})
		cfg := c.cfg
		cfg.Token = wrong(cfg.Token)
		a, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Run(t.Context(), bot.New(c.store, bot.Config{})); err == nil || strings.Contains(err.Error(), cfg.Token.Reveal()) {
			t.Errorf("Run gives %v", err)
		}
		if n := c.d.Gateway().Identified; n != 0 {
			t.Errorf("identified %d times", n)
		}
		for token, says := range map[string]string{"": "missing", "secret": "shape", "a.b.c": "shape"} {
			if _, err := New(Config{Token: bot.NewSecret(token)}); err == nil || !strings.Contains(err.Error(), says) || token != "" && strings.Contains(err.Error(), token+" ") {
				t.Errorf("%q: %v", token, err)
			}
		}
	})
}

// The check of a configuration finds what is wrong and says what to do.
func TestCheck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Lenient: true})
		check := func(change func(*Config)) (string, error) {
			cfg := c.cfg
			change(&cfg)
			found, err := Check(t.Context(), cfg)
			return strings.Join(found, "\n"), err
		}
		found, err := check(func(cfg *Config) { cfg.Guild = c.guild.ID() })
		if err != nil || !strings.Contains(found, "gateway: answers; 1000 of 1000 connections") || !strings.Contains(found, Invite(c.d.Application())) {
			t.Errorf("%s %v", found, err)
		}
		if _, err := check(func(cfg *Config) { cfg.Guild = c.d.GuildWithout("x").ID() }); err == nil || !strings.Contains(err.Error(), "discord.guild: the bot is not in that server") {
			t.Error(err)
		}
		c.guild.Everyone(discordtest.ViewChannel)
		c.guild.BotPermissions(discordtest.SendMessages)
		c.d.Guild("Rich club") // and x, which the bot is not in
		found, err = check(func(*Config) {})
		if err != nil || !strings.Contains(found, "servers: 2\nserver \"Go club\": the bot lacks Send Messages in Threads, Create Public Threads, Attach Files, Read Message History;") ||
			strings.Contains(found, "Rich club") {
			t.Errorf("%s %v", found, err)
		}
		if _, err := check(func(cfg *Config) { cfg.Guild = c.guild.ID() }); err == nil || !strings.Contains(err.Error(), "lacks Send Messages in Threads, Create Public Threads, Attach Files") {
			t.Error(err)
		}
		if _, err := check(func(cfg *Config) { cfg.Application = "123456789012345678" }); err == nil || !strings.Contains(err.Error(), "discord.application: the token is that of the application "+c.d.Application()) {
			t.Error(err)
		}
		if _, err := check(func(cfg *Config) { cfg.Listen, cfg.PublicKey = "localhost:8080", "00" }); err == nil || !strings.Contains(err.Error(), c.d.PublicKey()) {
			t.Error(err)
		}
		if _, err := check(func(cfg *Config) { cfg.API = "http://127.0.0.1:1/api/v10" }); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
			t.Error(err)
		}
		if _, err := check(func(cfg *Config) { cfg.Token = wrong(cfg.Token) }); err == nil || !strings.Contains(err.Error(), "not accepted") {
			t.Error(err)
		}
		// The gateway is tried, and nobody identifies.
		opened := c.d.Gateway().Opened
		for what, fault := range map[string]discordtest.ConnectionFault{
			"refused": {Refuse: 503}, "nothing is said": {Silent: true}, "no hello": {NoHello: true}, "closed": {HelloClose: 4000},
		} {
			c.d.NextConnections(fault)
			opened++
			began := time.Now()
			found, err := check(func(*Config) {})
			if err == nil || !strings.Contains(err.Error(), "does not answer") || strings.Contains(found, "gateway") {
				t.Errorf("%s: %s %v", what, found, err)
			}
			if d := time.Since(began); d > tryFor {
				t.Errorf("%s: found out after %v", what, d)
			}
		}
		if g := c.d.Gateway(); g.Identified != 0 || g.Opened < opened {
			t.Errorf("identified %d times, opened %d connections", g.Identified, g.Opened)
		}
	})
}
