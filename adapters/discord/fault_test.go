package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/render"
)

const (
	callbackRoute = "POST /interactions/{interaction_id}/{interaction_token}/callback"
	sendRoute     = "POST /channels/{channel_id}/messages"
	editRoute     = "PATCH /channels/{channel_id}/messages/{message_id}"
	followUpRoute = "POST /webhooks/{webhook_id}/{webhook_token}"
	originalRoute = "GET /webhooks/{webhook_id}/{webhook_token}/messages/@original"
	messagesRoute = "GET /channels/{channel_id}/messages"
	commandsRoute = "PUT /applications/{application_id}/commands"
)

// The commands are registered when they have changed, and only then.
func TestRegistered(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.again()
		c.ok(c.alice.Slash(c.room, "go help")) // what comes after registering is there
		if n := c.d.Count(commandsRoute); n != 1 {
			t.Errorf("registered %d times, though nothing had changed", n)
		}
	})
}

// Of new commands Discord takes 200 a day. Starts cost none while nothing has changed, nor
// do other descriptions; once there are none left, the bot is there all the same and
// registers its commands later.
func TestRegisteringCostsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		all := len(project(bot.Commands(), false))
		c := newClub(t, discordtest.Options{Limits: &discordtest.Limits{Creations: discordtest.Rate{N: all, Per: 24 * time.Hour}}})
		c.overHTTP()
		c.start()
		for range 3 {
			c.again()
		}
		list, err := c.a.rest.Commands(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		old, err := c.a.registeredAs(list)
		if err != nil {
			t.Fatal(err)
		}
		change := func(how func(*command)) {
			t.Helper()
			how(&old[0])
			if _, err := c.a.rest.PutCommands(t.Context(), "", old); err != nil {
				t.Fatal(err)
			}
			c.again()
			c.settle()
		}
		change(func(o *command) { o.Description = "as in an older version" })
		if n := c.d.Count(commandsRoute); n != 3 || c.registered("") != all {
			t.Errorf("registered %d times, and there are %d commands", n, c.registered(""))
		}
		change(func(*command) { old = old[:all-1] })
		c.ok(c.alice.Slash(c.room, "go help"))
		if n := c.registered(""); n != all-1 {
			t.Errorf("there are %d commands, of %d", n, all)
		}
		c.passes(25 * time.Hour)
		if n := c.registered(""); n != all {
			t.Errorf("a day later there are %d commands, of %d", n, all)
		}
		c.stop()
		c.check()
	})
}

// A slow bot is not silent: the interaction is deferred for the person's eyes
// alone, and the board comes as a message. What is deferred and answered leaves
// nothing behind; and where nothing can be stored, people are answered all the same.
func TestSlow(t *testing.T) {
	eachInClub(t, map[string]bool{"through the gateway": false, "over HTTP": true}, func(t *testing.T, c *club, http bool) {
		if http {
			c.overHTTP()
			c.again()
		}
		thread := c.begin(t)
		c.recorder.gate = make(chan bool)
		slowly := func(i *discordtest.Interaction) *discordtest.Message { return c.ok(c.deferred(i)) }
		if ended := slowly(c.alice.Slash(thread, "place", opt("at", "C3"))); ended.To != "Alice" || ended.Content != c.linkTo(c.shows(thread, "Black C3")) {
			t.Errorf("the deferral ends as %q to %q", ended.Content, ended.To)
		}
		if m := thread.Last(); !withPicture(m) || m.Nonce == "" {
			t.Errorf("the board is %+v", m)
		}
		refused := func() {
			t.Helper()
			if m := slowly(c.alice.Slash(thread, "place", opt("at", "C4"))); m.To != "Alice" || !strings.Contains(m.Content, "not your turn") {
				t.Errorf("%q to %q", m.Content, m.To)
			}
		}
		refused() // which stays private
		// What everybody is to see comes as a message, once.
		if m := slowly(c.alice.Slash(thread, "score", opt("share", true))); m.To != "Alice" || m.Content != c.linkTo(c.shows(thread, "Alice asked for the score")) {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		if m := thread.Last(); m.To != "" {
			t.Errorf("the score is for %q", m.To)
		}
		c.passes(2 * time.Second)
		if rows := c.stored(outbox.Ending); len(rows) > 0 {
			t.Errorf("still stored are %+v", rows)
		}
		c.recorder.full = true
		refused()
	})
}

// A slow press shows nothing but what comes of it: its board, or a reason for the person
// alone. A slow form shows that the bot thinks, and leaves nothing of that.
func TestSlowPress(t *testing.T) {
	eachInClub(t, map[string]bool{"through the gateway": false, "over HTTP": true}, func(t *testing.T, c *club, http bool) {
		if http {
			c.overHTTP()
			c.again()
		}
		thread := c.begin(t)
		c.recorder.gate = make(chan bool)
		read := map[string]bool{}
		news := func(who *discordtest.Person) (says []string) { // that somebody has not read
			t.Helper()
			for _, m := range who.Sees(thread) {
				if !read[m.ID] && m.Bot {
					read[m.ID] = true
					first, _, _ := strings.Cut(m.Content, "\n")
					says = append(says, strings.TrimPrefix(m.To+": ", ": ")+first)
				}
			}
			return says
		}
		comes := func(who *discordtest.Person, want ...string) {
			t.Helper()
			got := news(who)
			if len(got) != len(want) {
				t.Errorf("there comes %q, not %q", got, want)
				return
			}
			for k, w := range want {
				if !strings.Contains(got[k], w) {
					t.Errorf("there comes %q, not %q", got[k], w)
				}
			}
		}
		press := func(who *discordtest.Person, m *discordtest.Message, label string) {
			t.Helper()
			c.deferredBy(rest.ResponseDeferUpdate, who.Press(m, label))
		}
		news(c.alice)
		board := thread.Last()
		press(c.bob, board, "Pass")
		comes(c.bob, "Bob: It is not your turn")
		press(c.alice, board, "Pass")
		comes(c.alice, "1\\. Black passes")
		press(c.bob, thread.Last(), "Score")
		comes(c.bob, "Bob: Black holds 1 button.")
		private := c.bob.Sees(thread)[len(c.bob.Sees(thread))-1]
		press(c.bob, private, "Share with everyone")
		comes(c.bob, "Bob asked for the score")

		board = thread.Messages()[1]
		i := c.bob.Press(board, "Place a stone…")
		form := c.deferred(c.bob.Submit(i, map[string]any{"at": "C3"}))
		comes(c.bob, "2\\. White C3")
		if m := form.Answer(); m != nil {
			t.Errorf("%q is left of the form", m.Content)
		}

		// Where the board has to wait nobody is told so.
		end := c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 429, RetryAfter: time.Second, Times: -1})
		press(c.alice, thread.Last(), "Pass")
		comes(c.alice)
		end()
		c.passes(time.Minute)
		comes(c.alice, "3\\. Black passes")

		// What is refused is told, if late.
		taken := c.d.Fault(discordtest.Fault{Route: followUpRoute, Status: 502, Times: -1})
		press(c.alice, thread.Last(), "Pass")
		comes(c.alice)
		taken()
		c.passes(time.Minute)
		comes(c.alice, "Alice: It is not your turn")
		if rows := c.stored(outbox.Ending); len(rows) > 0 {
			t.Errorf("still stored are %+v", rows)
		}
	})
}

// What was thought about is answered, if late, also when Discord does not take the
// answer for a while.
func TestEndThatIsNotTaken(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.recorder.gate = make(chan bool)
		i := c.bob.Slash(thread, "place", opt("at", "C4"))
		i.First()
		taken := c.d.Fault(discordtest.Fault{Route: "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original", Status: 502, Times: -1})
		c.deferred(i)
		time.Sleep(10 * time.Second)
		if !strings.Contains(c.log.String(), "post not shown with its answer") {
			t.Fatal("it was shown")
		}
		taken()
		if m := c.ok(i); m.To != "Bob" || !strings.Contains(m.Content, "not your turn") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
	})
}

// An interaction that waits behind a slow one in its channel is deferred in its
// own time.
func TestSlowNeighbours(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.recorder.gate = make(chan bool, 6)
		var all []*discordtest.Interaction
		for range cap(c.recorder.gate) {
			all = append(all, c.alice.Slash(c.room, "go help"))
		}
		for _, i := range all {
			i.First()
		}
		for k, i := range all {
			if m := c.ok(c.deferred(i)); !strings.Contains(m.Content, "Type a command") {
				t.Errorf("the %d. ends as %q", k+1, m.Content)
			}
		}
	})
}

// Whatever becomes of the answer to an interaction, the board is shown once.
func TestLostAnswers(t *testing.T) {
	eachInClub(t, map[string]discordtest.Fault{
		"done, and cut":       {Drop: discordtest.AfterDone},
		"half an answer":      {Drop: discordtest.HalfWay},
		"not done, and cut":   {Drop: discordtest.BeforeDone},
		"502":                 {Status: 502},
		"503 from Cloudflare": {Status: 503, HTML: true},
		"429":                 {Status: 429, RetryAfter: 5 * time.Second},
		"unknown interaction": {Status: 404, Code: 10062},
	}, func(t *testing.T, c *club, fault discordtest.Fault) {
		thread := c.begin(t)
		fault.Route = callbackRoute
		c.d.Fault(fault)
		c.alice.Slash(thread, "place", opt("at", "C3"))
		c.shows(thread, "Black C3")
		c.place(c.bob, thread, "C4")
		if n := count(thread.Messages(), says("Black C3")); n != 1 {
			t.Errorf("shown %d times\n%s", n, c.d.Transcript())
		}
	})
}

// lostOnce are answers that get lost, whether they were taken or not.
var lostOnce = map[string]discordtest.Fault{
	"done, and cut":     {Route: callbackRoute, Drop: discordtest.AfterDone},
	"not done, and cut": {Route: callbackRoute, Drop: discordtest.BeforeDone},
	"502":               {Route: callbackRoute, Status: 502},
}

// Where the bot can do nothing but answer, an answer that gets lost is given once
// more: there is no other way, and nothing is wrong with the place.
func TestLostAnswersWhereItCanOnlyAnswer(t *testing.T) {
	eachInClub(t, lostOnce, func(t *testing.T, c *club, fault discordtest.Fault) {
		eve, street := c.installed()
		c.d.Fault(fault)
		if m := c.ok(eve.Slash(street, "new", opt("size", "5x5"), opt("opponent", eve))); !strings.Contains(m.Content, "Game 1 begins") {
			t.Errorf("%q", m.Content)
		}
		board := c.shows(street, " to play, for example ")
		c.d.Fault(fault)
		eve.Press(board, "Pass")
		c.shows(street, "Black passes")
		if boards, begins := count(street.Messages(), withBoard), count(street.Messages(), says("Game 1 begins")); boards != 2 || begins != 1 {
			t.Errorf("%d boards, said %d times\n%s", boards, begins, c.d.Transcript())
		}
		if strings.Contains(c.log.String(), "cannot post to a room") {
			t.Errorf("the room is parked\n%s", c.log.String())
		}
	})
}

// What nobody could look for is looked for later before it is given another way, and
// while nobody can it is not.
func TestAnswersNobodyCouldLookFor(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		eve, street := c.installed()
		c.d.Fault(discordtest.Fault{Route: callbackRoute, Drop: discordtest.AfterDone})
		c.d.Fault(discordtest.Fault{Route: originalRoute, Status: 502, Times: 3})
		i := eve.Slash(street, "new", opt("size", "5x5"), opt("opponent", eve))
		c.shows(street, " to play, for example ")
		if n := count(street.Messages(), func(m *discordtest.Message) bool { return strings.Contains(m.Content, "Game 1 begins") }); n != 1 {
			t.Errorf("said %d times\n%s", n, c.d.Transcript())
		}
		c.d.Fault(discordtest.Fault{Route: originalRoute, Status: 502, Times: 3})
		d := delivery{a: c.a, p: outbox.Post{ID: "again", Attempt: 2}, route: route{Token: i.Token(), Alone: true}}
		if _, err := d.answeredBefore(t.Context()); !errors.Is(err, outbox.ErrAmbiguous) {
			t.Errorf("nobody could look: %v", err)
		}
	})
}

// An opening that somebody deletes while a press is answered by changing it: that the game
// begins is a message of its own, and so is the board. The person sees no failure.
func TestDeletedWhileAnswering(t *testing.T) {
	eachInClub(t, map[string]discordtest.Fault{"deleted": {Route: "none"}, "and lost": {Route: callbackRoute, Drop: discordtest.BeforeDone}},
		func(t *testing.T, c *club, fault discordtest.Fault) {
			opening := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
			c.recorder.posts = func(outbox.Post) { opening.Delete() }
			c.d.Fault(fault)
			i := c.bob.Press(opening, "Join")
			if kind, _ := i.First(); kind != rest.ResponseMessage || i.Failed() {
				t.Errorf("answered by %d", kind)
			}
			c.passes(time.Minute)
			if begins := count(c.room.Messages(), says("Game 1 begins")); begins != 1 || !withBoard(c.room.Last()) {
				t.Errorf("said %d times\n%s", begins, c.d.Transcript())
			}
		})
}

// A deferral that gets lost is made once more: what is told later to the person
// alone would be told to nobody.
func TestLostDeferrals(t *testing.T) {
	eachInClub(t, lostOnce, func(t *testing.T, c *club, fault discordtest.Fault) {
		c.recorder.gate = make(chan bool)
		c.d.Fault(fault)
		if m := c.ok(c.deferred(c.alice.Slash(c.room, "go help"))); m.To != "Alice" || !strings.Contains(m.Content, "Type a command") {
			t.Errorf("it ends as %q to %q", m.Content, m.To)
		}
	})
}

// After an outage of an hour a message of which nobody knows whether it was sent
// is looked for, however much has been said since, before it is sent again; and
// not sent while nobody can look.
func TestLookedFor(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		post := c.losesAnswer(t)
		end := c.d.Fault(discordtest.Fault{Route: messagesRoute, Status: 503, Times: -1})
		if _, err := c.deliver(post); !errors.Is(err, outbox.ErrAmbiguous) {
			t.Errorf("nobody could look: %v", err)
		}
		end()
		sent, err := c.deliver(post)
		if ours := c.room.Messages()[0]; err != nil || sent != receipt(c.room.ID(), ours.ID) {
			t.Errorf("it is taken for %s, not %s: %v", sent, ours.ID, err)
		}
		if n := count(c.room.Messages(), says("opens game 1")); n != 1 {
			t.Errorf("sent %d times", n)
		}
		// That its words have to wait does not mean that its file was not sent.
		c.d.Fault(discordtest.Fault{Route: sendRoute, Files: true, Drop: discordtest.AfterDone, Times: 3})
		c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 429, RetryAfter: time.Hour})
		err = c.notice(c.where(c.room), func(p *outbox.Post) { p.File = &outbox.File{Name: "game.sgf", Data: []byte("(;)")} })
		if !errors.Is(err, outbox.ErrAmbiguous) {
			t.Errorf("its file may be there: %v", err)
		}
		time.Sleep(time.Hour)
		// What was refused before, and surely not sent, is not looked for.
		asked := c.d.Count(messagesRoute)
		if err := c.notice(c.where(c.room), func(p *outbox.Post) { p.Attempt, p.Unsent = 2, true }); err != nil || c.d.Count(messagesRoute) != asked {
			t.Errorf("%v; the channel was read %d times", err, c.d.Count(messagesRoute)-asked)
		}
	})
}

// losesAnswer sends a message of which nobody knows whether it was sent, and returns it
// as it is to be sent an hour later.
func (c *club) losesAnswer(t *testing.T) outbox.Post {
	t.Helper()
	post := outbox.Post{ID: "n1", Where: c.where(c.room), Kind: match.Notice, Game: "g", At: time.Now(), Text: "Anna opens game 1."}
	c.d.Fault(discordtest.Fault{Route: sendRoute, Drop: discordtest.AfterDone, Times: 3})
	if _, err := c.deliver(post); !errors.Is(err, outbox.ErrAmbiguous) {
		t.Fatalf("the answer was lost: %v", err)
	}
	for n := range 130 {
		c.alice.Say(c.room, fmt.Sprint("talk ", n))
	}
	time.Sleep(time.Hour)
	post.Attempt = 2
	return post
}

// It is found also where the application has another id than the bot's user.
func TestLookedForByAnOldApplication(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Application: "77"})
		c.cfg.Application = "77"
		c.start()
		post := c.losesAnswer(t)
		sent, err := c.deliver(post)
		if ours := c.room.Messages()[0]; err != nil || sent != receipt(c.room.ID(), ours.ID) {
			t.Errorf("it is taken for %s, not %s: %v", sent, ours.ID, err)
		}
		c.stop()
		c.check()
	})
}

// A program that is killed after the answer and before it is written down finds
// the answer, and the next post of the same step is not taken for it.
func TestKilledAfterAnswering(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		another, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer another.rest.Close()
		kinds := ""
		c.recorder.shown = func(p outbox.Post, was outbox.Receipt) {
			if p.Kind != match.Notice && p.Kind != match.Show {
				return
			}
			kinds += p.Kind + " "
			p.Attempt = 2
			if r, _, err := another.Deliver(t.Context(), p); err != nil || r != was {
				t.Errorf("%s is %s and was %s: %v", p.ID, r, was, err)
			}
		}
		c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5"), opt("opponent", c.alice)))
		thread := c.room.WaitThread(0)
		c.shows(thread, " to play, for example ")
		if n := len(c.room.Messages()) + len(thread.Messages()); n != 2 || kinds != "notice show " {
			t.Errorf("%d messages of %s\n%s", n, kinds, c.d.Transcript())
		}
	})
}

// The answer is looked for if Discord does not say which message it has become.
func TestAnswerWithoutItsMessage(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		var sent outbox.Receipt
		c.recorder.shown = func(p outbox.Post, r outbox.Receipt) {
			if p.Kind == match.Show {
				sent = r
			}
		}
		c.d.Hold()
		i := c.alice.Slash(thread, "place", opt("at", "C3"))
		in := interaction.Interaction{ID: i.ID(), Token: i.Token(), Kind: interaction.Command, Guild: c.guild.ID(), BotMay: Permissions,
			User:    interaction.User{ID: c.alice.ID(), Username: "Alice"},
			Channel: interaction.Channel{ID: thread.ID(), Type: discordgo.ChannelTypeGuildPublicThread, Parent: c.room.ID()},
			Command: interaction.CommandData{Name: "place", Options: []interaction.Option{{Name: "at", Text: "C3"}}}}
		c.a.receive(in, func(ctx context.Context, r rest.Response) (*rest.Sent, error) {
			_, err := c.a.rest.Respond(ctx, in.ID, in.Token, r)
			return nil, err
		}, func() {})
		m := c.shows(thread, "Black C3")
		c.settle()
		if sent != receipt(thread.ID(), m.ID) || count(thread.Messages(), says("Black C3")) != 1 {
			t.Errorf("shown as %s\n%s", sent, c.d.Transcript())
		}
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
			c.shows(thread, []string{"3\\. Black C2", "3\\. Black C2", "1\\. Black C3", "3\\. Black C3"}[round%len(orders)])
			c.stop()
			for n := 1; n <= 3; n++ {
				is := func(m *discordtest.Message) bool { return strings.Contains(m.Content, fmt.Sprintf("%d\\. ", n)) }
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
	inClub(t, func(t *testing.T, c *club) {
		c.d.Fault(discordtest.Fault{Route: editRoute, Status: 403, Code: 50013, Times: -1})
		thread := c.begin(t)
		first := thread.Last()
		c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
		m := c.ok(c.alice.Press(first, "Pass"))
		if m.To != "Alice" || !strings.Contains(m.Content, "moved on") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
	})
}

// A panic is one person's trouble.
func TestPanic(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.recorder.answers = func(bot.Request) outbox.Post { panic("poison") }
		if m := c.ok(c.alice.Slash(c.room, "go help")); m.To != "Alice" || m.Content != wordFailed {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		c.recorder.answers = nil
		c.ok(c.alice.Slash(c.room, "go room games"))
	})
}

// Interactions over HTTP are the same.
func TestOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.overHTTP()
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

// wrong returns a token of the same shape that Discord does not accept.
func wrong(token secret.Text) secret.Text {
	text := token.Reveal()
	return secret.New(text[:len(text)-1] + "!")
}

// A rejected token ends the program with an error that says so.
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
			t.Errorf("Run returns %v", err)
		}
		if n := c.d.Gateway().Identified; n != 0 {
			t.Errorf("identified %d times", n)
		}
		for token, says := range map[string]string{"": "missing", "secret": "not a bot's token", "a.b.c": "not a bot's token"} {
			if _, err := New(Config{Token: secret.New(token)}); err == nil || !strings.Contains(err.Error(), says) || token != "" && strings.Contains(err.Error(), token+" ") {
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
			found, err := Check(t.Context(), cfg, "", render.Scene{})
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
		for says, change := range map[string]func(*Config){
			"lacks Send Messages in Threads, Create Public Threads, Attach Files":        func(cfg *Config) { cfg.Guild = c.guild.ID() },
			"discord.application: the token belongs to application " + c.d.Application(): func(cfg *Config) { cfg.Application = "123456789012345678" },
			c.d.PublicKey():     func(cfg *Config) { cfg.Listen, cfg.PublicKey = "localhost:8080", "00" },
			"cannot be reached": func(cfg *Config) { cfg.API = "http://127.0.0.1:1/api/v10" },
			"rejected":          func(cfg *Config) { cfg.Token = wrong(cfg.Token) },
		} {
			if _, err := check(change); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v", says, err)
			}
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
