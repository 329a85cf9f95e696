package discord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

const mayDo = discordtest.ViewChannel | discordtest.SendMessages | discordtest.SendMessagesInThreads | discordtest.CreatePublicThreads |
	discordtest.AttachFiles | discordtest.ReadMessageHistory

// The invite link asks for what is needed, and the documentation has the link.
func TestInvite(t *testing.T) {
	text, err := os.ReadFile("../../docs/discord.md")
	if err != nil {
		t.Fatal(err)
	}
	if link := Invite("YOUR_APPLICATION_ID"); !strings.Contains(string(text), link) {
		t.Errorf("docs/discord.md lacks %s", link)
	}
}

// With the permissions of the link and no others a game goes its way.
func TestLeastPermissions(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.guild.Everyone(discordtest.ViewChannel | discordtest.UseApplicationCommand)
		c.guild.BotPermissions(discordtest.Permission(Permissions))
		thread := c.begin(t)
		if m := c.place(c.alice, thread, "C3"); !withPicture(m) {
			t.Error("no picture")
		}
	})
}

// Without Attach Files the board is drawn in letters, and why is said once.
func TestWithoutAttachFiles(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.guild.Everyone(discordtest.ViewChannel | discordtest.UseApplicationCommand)
		c.guild.BotPermissions(discordtest.Permission(mayDo &^ discordtest.AttachFiles))
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		c.ok(c.bob.Press(thread.Last(), "Pass"))
		c.shows(thread, "White passes")
		hints := 0
		for _, m := range thread.Messages() {
			if !strings.Contains(m.Content, "```\n") || !strings.Contains(m.Content, " 3 . . ") || withPicture(m) {
				t.Errorf("no board in letters: %q", m.Content)
			}
			if strings.Contains(m.Content, "grant me Attach Files") {
				hints++
			}
		}
		if hints != 1 {
			t.Errorf("why is said %d times\n%s", hints, c.d.Transcript())
		}
	})
}

// Without the permissions for it the game has no thread and stays in the channel, and
// why is said once. Once the bot may, games have their threads again, and those in
// the channel stay there.
func TestWithoutThreads(t *testing.T) {
	eachInClub(t, map[string]discordtest.Permission{
		"Create Public Threads":    discordtest.CreatePublicThreads,
		"Send Messages in Threads": discordtest.SendMessagesInThreads, // nor is one opened in which the bot could not write a word
	}, func(t *testing.T, c *club, lacks discordtest.Permission) {
		c.guild.Everyone(discordtest.ViewChannel | discordtest.UseApplicationCommand)
		c.guild.BotPermissions(mayDo &^ lacks)
		for range 2 {
			m := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
			c.ok(c.bob.Press(m, "Join"))
			c.shows(c.room, " to play, for example ")
		}
		name := rest.Permissions(0).Missing(rest.Permissions(lacks))[0]
		if n := count(c.room.Messages(), says("grant me "+name)); n != 1 || len(c.room.Threads()) != 0 {
			t.Errorf("said %d times, %d threads\n%s", n, len(c.room.Threads()), c.d.Transcript())
		}
		c.guild.BotPermissions(mayDo)
		thread := c.begin(t)
		c.again()
		c.place(c.alice, c.room, "C3", opt("game", 1))
		if n := len(c.room.Threads()); n != 1 {
			t.Errorf("%d threads\n%s", n, c.d.Transcript())
		}
		c.place(c.alice, thread, "C4")
		for _, r := range c.d.Requests("") {
			if r.Status == 403 {
				t.Errorf("%s was refused", r.Route)
			}
		}
	})
}

// When a game's thread is deleted the game goes on in its channel, and whose turn
// it is hears of it: their time runs.
func TestDeletedThread(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t, opt("clock", "1d"))
		thread.Delete()
		m := c.ok(c.alice.Slash(c.room, "place", opt("at", "C3"), opt("game", 1)))
		if m.To != "" || !withPicture(m) || !strings.Contains(m.Content, "Black C3") || !strings.Contains(m.Content, "was deleted") {
			t.Errorf("%q to %q with %d files", m.Content, m.To, len(m.Attachments))
		}
		if n := len(c.bob.Pinged()); n != 1 {
			t.Errorf("Bob was called %d times", n)
		}
		if m := c.place(c.bob, c.room, "C4", opt("game", 1)); strings.Contains(m.Content, "no longer there") {
			t.Errorf("it is said again: %q", m.Content)
		}
		c.again() // another process goes on there, too
		before := len(c.d.Requests(""))
		c.place(c.alice, c.room, "C2", opt("game", 1))
		c.stop()
		for _, r := range c.d.Requests("")[before:] {
			if strings.Contains(r.Route, "/threads") || r.Status == 404 {
				t.Errorf("%s: %d", r.Route, r.Status)
			}
		}
		if n := count(c.room.Messages(), withPicture); n != 3 {
			t.Errorf("%d boards in the channel\n%s", n, c.d.Transcript())
		}
	})
}

// A post that answers nothing reaches the channel as well.
func TestReminderOfADeletedThread(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		under := string(receipt(c.room.ID(), thread.ID()))
		thread.Delete()
		for range 2 {
			err := c.notice(c.where(c.room), func(p *outbox.Post) {
				p.Under, p.Kind, p.Text, p.Notify = under, match.Status, "12 hours left", []outbox.User{{Platform: Name, ID: c.alice.ID(), Name: "Alice"}}
			})
			if m := c.room.Last(); err != nil || !strings.Contains(m.Content, "12 hours left") || !slices.Equal(m.Pings, []string{"Alice"}) {
				t.Errorf("%v, the last message is %q", err, m.Content)
			}
		}
		// A game that was opened inside a thread was that thread's.
		if err := c.notice(c.where(c.room, thread)); !errors.Is(err, outbox.ErrGone) {
			t.Error(err)
		}
	})
}

// How a thread that sleeps is woken is said with the first board in it, in the
// language of the place.
func TestHowToWakeAThread(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.guild.Locale("de")
		m := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
		c.ok(c.bob.Press(m, "Mitspielen"))
		thread := c.room.WaitThread(0)
		c.shows(thread, " ist am Zug, zum Beispiel ")
		c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
		c.shows(thread, "Schwarz C3")
		c.stop()
		var said []int
		for k, m := range thread.Messages() {
			if strings.Contains(m.Content+"\n", "\n-# "+bot.Translated("de", wordArchived)+"\n") {
				said = append(said, k)
			}
		}
		if !slices.Equal(said, []int{0}) {
			t.Errorf("said in the messages %v\n%s", said, c.d.Transcript())
		}
	})
}

// Where the bot may not write, no game is opened, and what is missing is named.
func TestMayNotWrite(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.room.OverwriteBot(0, discordtest.SendMessages)
		m := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
		if m.To != "Alice" || !strings.Contains(m.Content, "Send Messages") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		if m := c.ok(c.alice.Slash(c.room, "go help")); !strings.Contains(m.Content, "Type a command") {
			t.Errorf("help is %q", m.Content)
		}
	})
}

// A game that is opened inside a thread stays there, a post of a forum included;
// one that is opened in the thread of another game stands beside it.
func TestOpenedInsideAThread(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		m := c.ok(c.alice.Slash(thread, "new", opt("size", "5x5"), opt("opponent", c.bob)))
		if m.To != "Alice" || !strings.Contains(m.Content, c.room.ID()) {
			t.Errorf("Alice reads %q", m.Content)
		}
		if last := c.shows(c.room, "opens game 2"); len(last.Controls) != 2 {
			t.Errorf("%+v", last.Controls)
		}

		forum := c.guild.Forum("club games")
		evening := c.alice.Open(forum, "evening", "An evening of Go")
		m = c.ok(c.alice.Slash(evening, "new", opt("size", "5x5")))
		c.ok(c.bob.Press(m, "Join"))
		c.shows(evening, " to play, for example ")
		c.place(c.alice, evening, "C3")
		if len(forum.Threads()) != 1 {
			t.Errorf("%d posts in the forum", len(forum.Threads()))
		}
	})
}

// Notices about an opening stay where it was opened; boards and what follows go
// to the thread, also when somebody speaks in the channel.
func TestChannelAndThread(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		i := c.alice.Slash(c.room, "place", opt("at", "C3"))
		m := c.ok(i)
		if m.To != "Alice" || !strings.Contains(m.Content, "/"+thread.ID()+"/") {
			t.Errorf("Alice reads %q (%s)", m.Content, m.To)
		}
		c.shows(thread, "Black C3")
		if n := count(c.room.Messages(), withPicture); n != 0 {
			t.Errorf("%d boards in the channel", n)
		}
		// Only the player to move is called, and the newest board alone has buttons.
		if last := thread.Last(); !slices.Equal(last.Pings, []string{"Bob"}) {
			t.Errorf("it calls %v", last.Pings)
		}
		bare := func() {
			t.Helper()
			c.passes(time.Minute)
			with := func(m *discordtest.Message) bool { return len(m.Controls) > 0 }
			if count(thread.Messages(), with) != 1 || count(c.room.Messages(), with) != 0 || !with(thread.Last()) {
				t.Errorf("old buttons are still there\n%s", c.d.Transcript())
			}
		}
		bare()
		// A question that nobody needs to answer any more has no buttons, either.
		c.passes(time.Minute) // then it cannot be taken back without asking
		c.ok(c.alice.Slash(thread, "go undo"))
		c.place(c.bob, thread, "C4")
		bare()
	})
}

// deliver delivers a post and gives the message that it became.
func (c *club) deliver(p outbox.Post) (outbox.Receipt, error) {
	if p.Attempt == 0 {
		p.Attempt = 1
	}
	r, _, err := c.a.Deliver(c.Context(), p)
	return r, err
}

// A reminder replaces the last one in place, and is removed; that a message was
// deleted by somebody is no reason to give up the room.
func TestReminders(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		who := []outbox.User{{Platform: Name, ID: c.alice.ID(), Name: "Alice"}}
		post := outbox.Post{ID: "r1", Where: c.where(c.room), Kind: match.Status, Game: "g", Text: "12 hours left", Notify: who}
		first, err := c.deliver(post)
		if err != nil || len(c.alice.Pinged()) != 1 {
			t.Fatalf("%v, %d pings", err, len(c.alice.Pinged()))
		}
		post.ID, post.Text, post.Replaces = "r2", "6 hours left", string(first)
		second, err := c.deliver(post)
		if err != nil || second != first || len(c.room.Messages()) != 1 || len(c.alice.Pinged()) != 1 {
			t.Errorf("%v %q %q, %d messages, %d pings", err, first, second, len(c.room.Messages()), len(c.alice.Pinged()))
		}
		c.room.Last().Delete()
		post.ID, post.Text = "r3", "1 hour left"
		third, err := c.deliver(post)
		if err != nil || third == first || !strings.Contains(c.room.Last().Content, "1 hour left") {
			t.Errorf("after it was deleted: %v", err)
		}
		if _, err := c.deliver(outbox.Post{ID: "x", Where: c.where(c.room), Kind: match.Remove, Replaces: string(third)}); err != nil {
			t.Error(err)
		}
		if !c.room.Wait(func(ms []*discordtest.Message) bool { return len(ms) == 0 }) {
			t.Error("it is still there")
		}
		if _, err := c.deliver(outbox.Post{ID: "y", Where: c.where(c.room), Kind: match.Remove, Replaces: string(third)}); err != nil {
			t.Errorf("taking away what is gone: %v", err)
		}
	})
}

// A token that Discord does not accept for a moment says nothing of a thread, of an
// opening or of a picture.
func TestTokenRefusedForAMoment(t *testing.T) {
	for name, err := range map[string]error{
		"401":      &rest.Error{Status: 401},
		"not sent": &rest.NotSent{Cause: context.DeadlineExceeded},
		"502":      &rest.Ambiguous{Cause: &rest.Error{Status: 502}},
		"wait":     &rest.RateLimited{},
	} {
		if final(err) {
			t.Errorf("%s is taken for final", name)
		}
	}
	if !final(&rest.Error{Status: 403}) || !final(&rest.Error{Status: 404}) || !final(&rest.Error{Status: 400}) {
		t.Error("a refusal is not taken for final")
	}
	inClub(t, func(t *testing.T, c *club) {
		m := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
		c.d.Fault(discordtest.Fault{Route: "POST /channels/{channel_id}/messages/{message_id}/threads", Status: 401})
		c.ok(c.bob.Press(m, "Join"))
		synctest.Wait()
		if !strings.Contains(c.log.String(), "post not delivered") {
			t.Errorf("nothing was refused\n%s", c.log.String())
		}
		if there, known := c.a.threads.Get(m.ID); known {
			t.Errorf("it is known of the thread that it is there: %v", there)
		}
		c.stop()
		if n := count(c.room.Messages(), withBoard); n != 0 {
			t.Errorf("%d boards are in the channel", n)
		}
	})
}

// Who is called in the channel because too many direct messages were opened lately
// is written to the next time.
func TestTooManyDirect(t *testing.T) {
	eachInClub(t, map[string]int{"400": 400, "403": 403}, func(t *testing.T, c *club, status int) {
		c.d.Fault(discordtest.Fault{Route: "POST /users/@me/channels", Status: status, Code: discordgo.ErrCodeOpeningDirectMessagesTooFast})
		for k := range 2 {
			if _, err := c.deliver(c.reminder(fmt.Sprint("r", k), "g", 3)); err != nil {
				t.Error(err)
			}
		}
		if calls, told := len(c.room.Messages()), c.bob.DM().Messages(); calls != 1 || len(told) != 1 || !strings.Contains(told[0].Content, "your turn") {
			t.Errorf("called %d times, %d messages to Bob\n%s", calls, len(told), c.d.Transcript())
		}
	})
}

// reminder is a post for Bob alone about his turn after an event.
func (c *club) reminder(id string, game match.GameID, seq int) outbox.Post {
	return outbox.Post{ID: id, Where: c.where(c.room), Kind: match.Status, Game: game, Number: 7, Seq: seq, Text: "it is your turn", Private: true,
		Notify: []outbox.User{{Platform: Name, ID: c.bob.ID(), Name: "Bob"}}}
}

// What is for one person goes to their direct messages. Who takes none is called where
// the game is, without what the post says: once for each game and turn that waits. After
// a day, or when they ask for reminders anew, they are written to again.
func TestDirectAgain(t *testing.T) {
	inTable(t, func(t *testing.T, c *table) {
		c.bob.CloseDMs()
		n := 0
		remind := func(game string, seq int) (calls, tried int) {
			t.Helper()
			n++
			before, sent := len(c.room.Messages()), c.d.Count(sendRoute)
			if _, err := c.deliver(c.reminder(fmt.Sprint("r", n), match.GameID(game), seq)); err != nil {
				t.Error(err)
			}
			calls = len(c.room.Messages()) - before
			return calls, c.d.Count(sendRoute) - sent - calls
		}
		for _, step := range []struct {
			game         string
			seq          int
			calls, tried int
		}{{"one", 3, 1, 1}, {"one", 3, 0, 0}, {"two", 3, 1, 0}, {"two", 3, 0, 0}, {"one", 5, 1, 0}, {"one", 5, 0, 0}} {
			if calls, tried := remind(step.game, step.seq); calls != step.calls || tried != step.tried {
				t.Errorf("game %s after %d: called %d times, tried %d times", step.game, step.seq, calls, tried)
			}
		}
		if last := c.room.Last(); !slices.Equal(last.Pings, []string{"Bob"}) || !strings.Contains(last.Content, "Game 7") || strings.Contains(last.Content, "your turn") {
			t.Errorf("%q calls %v", last.Content, last.Pings)
		}
		time.Sleep(closedFor)
		if calls, tried := remind("one", 5); calls != 0 || tried != 1 {
			t.Errorf("a day later: called %d times, tried %d times", calls, tried)
		}
		c.bob.OpenDMs()
		if calls, tried := remind("one", 7); calls != 1 || tried != 0 {
			t.Errorf("the same day: called %d times, tried %d times", calls, tried)
		}
		c.ok(c.bob.Slash(c.room, "go time remind", opt("how", "direct")))
		for range 2 {
			before := len(c.bob.DM().Messages())
			if remind("one", 9); len(c.bob.DM().Messages()) != before+1 || !strings.Contains(c.bob.DM().Last().Content, "it is your turn") {
				t.Error("Bob is not written to")
			}
			time.Sleep(closedFor)
		}
	})
}

// What is about no game is for one person alone: nobody else learns of it, also if they take
// no direct messages.
func TestDirectAboutNoGame(t *testing.T) {
	inTable(t, func(t *testing.T, c *table) {
		post := func(id string) outbox.Post {
			return outbox.Post{ID: id, Where: match.Room{Platform: Name}, Kind: match.Notice, Text: "Firefox is now you.", Private: true,
				Notify: []outbox.User{{Platform: Name, ID: c.bob.ID(), Name: "Bob"}}, Controls: []match.Control{{Label: "End it", Command: "link", Args: map[string]string{"end": "1"}}}}
		}
		if sent, err := c.deliver(post("n1")); err != nil || sent == "" {
			t.Errorf("%q, %v", sent, err)
		}
		told := c.bob.DM().Last()
		if told.Content != "Firefox is now you." || len(told.Controls) != 1 || told.Controls[0].Label != "End it" {
			t.Errorf("told %q with %+v", told.Content, told.Controls)
		}
		c.bob.CloseDMs()
		said := len(c.room.Messages())
		for _, id := range []string{"n2", "n3"} { // the second without asking Discord
			if sent, err := c.deliver(post(id)); err != nil || sent != "" {
				t.Errorf("without direct messages: %q, %v", sent, err)
			}
		}
		if len(c.room.Messages()) != said || strings.Count(c.log.String(), "private message dropped") != 2 {
			t.Errorf("the channel has %d messages instead of %d", len(c.room.Messages()), said)
		}
	})
}

// A question about an event does not count as asked if somebody takes no direct messages, and
// nobody is mentioned in the channel, where its buttons are. Others get it.
func TestDirectAboutAnEvent(t *testing.T) {
	inTable(t, func(t *testing.T, c *table) {
		c.bob.CloseDMs()
		post := outbox.Post{ID: "e-1-3-ask", Where: c.where(c.room), Kind: match.Notice, Game: contest.Prefix + "1", Number: 1, Text: "Do you play round 2?", Private: true,
			Notify: []outbox.User{{Platform: Name, ID: c.bob.ID(), Name: "Bob"}}}
		said := len(c.room.Messages())
		for range 3 {
			if _, err := c.deliver(post); !errors.Is(err, outbox.ErrRefused) {
				t.Errorf("Bob is asked: %v", err)
			}
		}
		post.Notify = append(post.Notify, outbox.User{Platform: Name, ID: c.alice.ID(), Name: "Alice"})
		if sent, err := c.deliver(post); err != nil || sent == "" || c.alice.DM().Last().Content != post.Text {
			t.Errorf("Alice is told %q: %v", c.alice.DM().Last().Content, err)
		}
		if len(c.room.Messages()) != said {
			t.Errorf("the channel reads %q", c.room.Last().Content)
		}
	})
}

// What cannot be written to is said to be so, with what would help.
func TestErrors(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		var forbidden outbox.Forbidden
		room, inside := c.where(c.room), c.where(c.room, thread)
		under := func(p *outbox.Post) { p.Under = string(receipt(c.room.ID(), thread.ID())) }
		thread.Archive()
		if err := c.notice(inside); err != nil || thread.Archived() {
			t.Errorf("an archived thread is not woken: %v", err)
		}
		thread.Lock()
		if err := c.notice(inside); !errors.As(err, &forbidden) || !strings.Contains(forbidden.Permission, "Manage Threads") {
			t.Errorf("a locked thread: %v", err)
		}
		if err := c.notice(room, under); !errors.As(err, new(outbox.InThread)) || !errors.As(err, &forbidden) {
			t.Errorf("a game's locked thread: %v", err)
		}
		thread.Reopen()
		c.settle() // until the bot hears of it
		c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 400, Code: 200000, Message: "Message was blocked by automatic moderation"})
		if err := c.notice(room, under); !errors.As(err, new(outbox.InThread)) || !errors.Is(err, outbox.ErrRefused) {
			t.Errorf("a game's thread with a filter: %v", err)
		}
		thread.Delete()
		if err := c.notice(inside); !errors.Is(err, outbox.ErrGone) {
			t.Errorf("a deleted thread: %v", err)
		}
		c.room.OverwriteBot(0, discordtest.SendMessages)
		if err := c.notice(room); !errors.As(err, &forbidden) || forbidden.Permission != "Send Messages" {
			t.Errorf("a channel where it may not write: %v", err)
		}
		c.room.OverwriteBot(discordtest.SendMessages, 0)
		c.ok(c.alice.Slash(c.room, "go help")) // by which the bot hears that it may write again
		c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 413, Code: 40005})
		if err := c.notice(room); !errors.Is(err, outbox.ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
		var wait outbox.RetryAfter
		for _, scope := range []string{"global", ""} {
			c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 429, RetryAfter: 30 * time.Second, Scope: scope})
			if err := c.notice(room); !errors.As(err, &wait) || wait.Wait < 20*time.Second || wait.Account != (scope == "global") {
				t.Errorf("too many, %q: %v", scope, err)
			}
			time.Sleep(30 * time.Second)
		}
		c.room.Delete()
		if err := c.notice(room); !errors.Is(err, outbox.ErrGone) {
			t.Errorf("a deleted channel: %v", err)
		}
		if err := c.notice(match.Room{Platform: "web", Channel: "local"}); !errors.Is(err, outbox.ErrGone) {
			t.Errorf("another platform: %v", err)
		}
	})
}

// installed gives somebody who has installed the bot, in a channel of a server
// without it.
func (c *club) installed() (*discordtest.Person, *discordtest.Channel) {
	elsewhere := c.d.GuildWithout("elsewhere")
	eve := elsewhere.Member("Eve")
	eve.Install()
	elsewhere.Everyone(discordtest.Everyone | discordtest.UseExternalApps)
	return eve, elsewhere.Channel("street")
}

// Where only a person has installed the bot, it can do nothing but answer.
func TestInstalledByAPerson(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		eve, street := c.installed()
		m := c.ok(eve.Slash(street, "new", opt("size", "5x5"), opt("opponent", eve)))
		if !strings.Contains(m.Content, "Game 1 begins") {
			t.Errorf("%q", m.Content)
		}
		if !street.Wait(func(ms []*discordtest.Message) bool { return count(ms, withPicture) == 1 }) {
			t.Errorf("no board\n%s\n%s", c.d.Transcript(), c.log.String())
		}
		c.place(eve, street, "C3")
		if n := c.d.Count(sendRoute); n != 0 {
			t.Errorf("%d messages were sent where it is not", n)
		}
	})
}

// A diagram that somebody wrote, or a record that they attached, becomes a board.
func TestShowAsABoard(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		if _, ok := findOption("show", "diagram"); !ok {
			t.Fatal("there is no command to show a diagram")
		}
		for name, said := range map[string]*discordtest.Message{
			"a block of code": c.alice.Say(c.room, "Look:\n```\n.X.\nXO.\n...\n```\nDead?"),
			"a record":        c.alice.SayFile(c.room, "my game", "game.SGF", []byte("(;FF[4]SZ[3]AB[ba][ab]AW[bb])")),
		} {
			m := c.ok(c.bob.MessageCommand(said, wordMenuShow))
			if !withPicture(m) || !strings.Contains(m.Attachments[0].Alt, "3 . X .\n 2 X O .\n 1 . . .") {
				t.Errorf("%s: %q %+v", name, m.Content, m.Attachments)
			}
		}
		said := c.alice.SayFile(c.room, "", "game.sgf", []byte("not a game"))
		if m := c.ok(c.bob.MessageCommand(said, wordMenuShow)); m.To != "Bob" || withPicture(m) {
			t.Errorf("what is none: %q to %q", m.Content, m.To)
		}
		for _, address := range []string{
			"https://example.org/a.sgf", "http://cdn.discordapp.com/a.sgf", "https://cdn.discordapp.com.example.org/a.sgf", "https://x@cdn.discordapp.com/a.sgf",
			"https://cdn.discordapp.com:8443/a.sgf", "http://127.0.0.1:1/a.sgf", "http://[::1]/a.sgf", "file:///etc/passwd", "https://169.254.169.254/a.sgf",
		} {
			if u, err := url.Parse(address); err == nil && c.a.mayFetch(u) {
				t.Errorf("%s may be fetched", address)
			}
		}
	})
}

// A slash command's option is one line. A diagram comes in a file, or in a form that the
// command opens without one; a record longer than what can be typed is read too.
func TestDiagrams(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		const wall, drawn = "$$B\n$$ . X .\n$$ X O .\n$$ . . .", "3 . X .\n 2 X O .\n 1 . . ."
		long := "(;FF[4]SZ[3]AB[ba][ab]AW[bb]C[" + strings.Repeat("a long comment ", 1000) + "])"
		for name, ask := range map[string]func(command string) *discordtest.Interaction{
			"a file": func(command string) *discordtest.Interaction {
				return c.alice.Slash(c.room, pathOf(command), opt("file", discordtest.File{Name: "game.sgf", Data: []byte(long)}), opt("rules", "aga"))
			},
			"a diagram in a file": func(command string) *discordtest.Interaction {
				return c.alice.Slash(c.room, pathOf(command), opt("file", discordtest.File{Name: "diagram.txt", Data: []byte(wall)}))
			},
			"a form": func(command string) *discordtest.Interaction {
				opened := c.alice.Slash(c.room, pathOf(command), opt("rules", "aga"))
				return c.alice.Submit(opened, map[string]any{"diagram": "```\n" + wall + "\n```"})
			},
			"one line": func(command string) *discordtest.Interaction {
				return c.alice.Slash(c.room, pathOf(command), opt("diagram", "(;FF[4]SZ[3]AB[ba][ab]AW[bb])"))
			},
		} {
			for _, command := range []string{"show", "setup"} {
				m := c.ok(ask(command))
				if command == "setup" {
					threads := c.room.Threads()
					m = threads[len(threads)-1].Last()
				}
				if !withPicture(m) || !strings.Contains(m.Attachments[0].Alt, drawn) {
					t.Errorf("/%s, %s: %q %+v", command, name, m.Content, m.Attachments)
				}
			}
			c.passes(time.Minute) // nobody asks too much
		}
		for reply, f := range map[string]discordtest.File{
			"too large: at most 2 MB":    {Name: "huge.sgf", Data: bytes.Repeat([]byte("x"), maxRecord+1)},
			"I cannot read that diagram": {Name: "cat.png", Data: []byte("\x89PNG\r\n\x1a\n\xff\xfe")},
		} {
			if m := c.ok(c.alice.Slash(c.room, "show", opt("file", f))); m.To != "Alice" || !strings.Contains(m.Content, reply) {
				t.Errorf("%s: %q to %q", f.Name, m.Content, m.To)
			}
		}
		// What the form would have to remember is too long: the bot says what is missing.
		if m := c.ok(c.alice.Slash(c.room, "show", opt("rules", strings.Repeat("x", maxCustomID)))); m.To != "Alice" {
			t.Errorf("%q to %q", m.Content, m.To)
		}
	})
}

// Of a file no more is read than a record may have, whatever Discord says of its size, and
// from nowhere but where Discord keeps files.
func TestFilesAreBounded(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		said := c.alice.SayFile(c.room, "", "huge.sgf", bytes.Repeat([]byte("x"), maxRecord+1))
		f := interaction.File{Name: "huge.sgf", URL: said.Attachments[0].URL, Size: 1}
		if _, err := c.a.fetch(t.Context(), f); !errors.Is(err, errTooLarge) {
			t.Errorf("too much was read: %v", err)
		}
		f.URL = "http://localhost:1/" + f.Name
		if _, err := c.a.fetch(t.Context(), f); err == nil {
			t.Error("a file was fetched from elsewhere")
		}
	})
}

// Whoever may manage messages or the server is a moderator to the bot. Discord shows
// everybody the subcommand that adjudicates; the bot refuses all but those who may manage
// messages.
func TestModerators(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		dave, carol, erin := c.guild.Member("Dave"), c.guild.Member("Carol"), c.guild.Member("Erin")
		c.guild.Permit(dave, discordtest.ManageGuild)
		c.guild.Permit(carol, discordtest.ManageMessages)
		if m := c.ok(c.bob.Slash(c.room, "go room settings", opt("size", "13x13"))); m.To != "Bob" || !strings.Contains(m.Content, "moderators") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		if m := c.ok(dave.Slash(c.room, "go room settings", opt("size", "13x13"))); m.To != "" {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		c.guild.Allow(erin, "go") // which gives her no more than others have
		for _, who := range []*discordtest.Person{c.bob, dave, erin} {
			if m := c.ok(who.Slash(thread, "go room adjudicate", opt("as", "black"))); m.To != who.Name() || !strings.Contains(m.Content, "Only moderators") {
				t.Errorf("%q to %q", m.Content, m.To)
			}
		}
		c.guild.Forbid(erin, "go")
		if i := erin.Slash(thread, "go help"); i.Refused() == nil {
			t.Error("Erin has what the server takes from her")
		}
		c.ok(carol.Slash(thread, "go room adjudicate", opt("as", "black")))
		c.shows(thread, "Moderator Carol decided it")
	})
}

// A text too long for one message comes in several, for the same readers.
func TestLongAnswer(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		text := strings.TrimSpace(strings.Repeat("a line of forty characters and no more.\n", 120))
		c.recorder.answers = func(bot.Request) outbox.Post { return outbox.Post{Text: text, Private: true} }
		i := c.alice.Slash(c.room, "go help")
		all := []string{c.ok(i).Content}
		for _, m := range i.FollowUps() {
			if m.To != "Alice" {
				t.Errorf("a part is for %q", m.To)
			}
			all = append(all, m.Content)
		}
		if strings.Join(all, "\n") != text {
			t.Errorf("%d parts are %q", len(all), all)
		}
	})
}

// A message of the bot's own that calls nobody makes no sound; one that calls
// somebody, and the answer to somebody, are as Discord makes them.
func TestQuiet(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		quiet := func(m *discordtest.Message) bool { return m.Flags&rest.SuppressNotifications != 0 }
		if m := c.place(c.alice, thread, "C3"); quiet(m) {
			t.Error("the answer to a turn is quiet")
		}
		for _, calls := range []bool{false, true} {
			err := c.notice(c.where(c.room), func(p *outbox.Post) {
				if calls {
					p.Notify = []outbox.User{{Platform: Name, ID: c.bob.ID(), Name: "Bob"}}
				}
			})
			if m := c.room.Last(); err != nil || quiet(m) == calls || slices.Equal(m.Pings, []string{"Bob"}) != calls {
				t.Errorf("%v; calls %v; it has the flags %d", err, m.Pings, m.Flags)
			}
		}
	})
}

// What is offered to somebody who types cannot be put off, however long it takes.
func TestTypingIsNotPutOff(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.recorder.muses = 2 * time.Second
		if choices, err := c.alice.Autocomplete(c.room, "go study rules", opt("name", "b")); err != nil || len(choices) == 0 {
			t.Errorf("%v %v", choices, err)
		}
		if n := c.d.Count(callbackRoute); n != 1 {
			t.Errorf("answered %d times", n)
		}
	})
}
