package discord

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Who makes a turn that cannot be shown is told why, and what would help; Discord is
// asked once, however many turns are made, the log says it once, and when they can be
// shown again they are.
func TestTurnsThatCannotBeShown(t *testing.T) {
	lock := func(_ *club, thread *discordtest.Channel) { thread.Lock() }
	reopen := func(_ *club, thread *discordtest.Channel) { thread.Reopen() }
	const locked = "the thread of the game is locked"
	type lost struct {
		take, give func(c *club, thread *discordtest.Channel)
		says       string
	}
	eachInClub(t, map[string]lost{
		"locked":                        {lock, reopen, locked},
		"locked, and in sight":          {func(_ *club, thread *discordtest.Channel) { thread.LockOpen() }, reopen, locked},
		"locked, and the bot is let in": {lock, func(c *club, _ *discordtest.Channel) { c.room.OverwriteBot(discordtest.ManageThreads, 0) }, locked},
		"silenced": {
			func(c *club, _ *discordtest.Channel) { c.room.OverwriteBot(0, discordtest.SendMessagesInThreads) },
			func(c *club, _ *discordtest.Channel) { c.room.OverwriteBot(discordtest.SendMessagesInThreads, 0) },
			"grant me Send Messages in Threads",
		},
	}, func(t *testing.T, c *club, lost lost) {
		thread := c.begin(t)
		lost.take(c, thread)
		before := len(c.d.Requests(""))
		place := func(turn int) *discordtest.Message {
			time.Sleep(5 * time.Second)
			who := []*discordtest.Person{c.alice, c.bob}[turn%2]
			return c.ok(who.Slash(c.room, "place", opt("at", fmt.Sprintf("%c%d", 'A'+turn%5, 1+turn/5)), opt("game", 1)))
		}
		for turn := range 8 {
			m := place(turn)
			if m.To == "" || !strings.Contains(m.Content, lost.says) || !c.mentions(m.Content, "board", "game:1") {
				t.Errorf("turn %d: %q to %q", turn, m.Content, m.To)
			}
		}
		refused := 0
		for _, r := range c.d.Requests("")[before:] {
			if r.Route == sendRoute && r.Status >= 400 {
				refused++
			}
		}
		if logged := strings.Count(c.log.String(), "cannot post to a room"); refused != 1 || logged != 1 {
			t.Errorf("refused %d times, logged %d times", refused, logged)
		}
		if n := count(thread.Messages(), withPicture); n != 1 {
			t.Errorf("%d boards", n)
		}
		lost.give(c, thread)
		m := place(8)
		last := thread.Last()
		if !strings.Contains(last.Content, "9\\. ") || !withPicture(last) || m.Content != c.linkTo(last) {
			t.Errorf("%q; the last message is %q with %d files", m.Content, last.Content, len(last.Attachments))
		}
	})
}

// What Discord refuses although the bot seems to be permitted it, as when
// somebody has put it into time-out, is not asked again and again.
func TestRefusedForNoReason(t *testing.T) {
	inTable(t, func(t *testing.T, c *table) {
		c.ok(c.alice.Slash(c.room, "go help"))
		end := c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 403, Code: 50013, Times: -1})
		notice := func() error {
			c.ok(c.alice.Slash(c.room, "go help"))
			defer time.Sleep(time.Minute)
			return c.notice(c.where(c.room))
		}
		for range 8 {
			var forbidden outbox.Forbidden
			if err := notice(); !errors.As(err, &forbidden) || forbidden.Permission != "Send Messages" {
				t.Errorf("%v", err)
			}
		}
		if n := c.d.Count(sendRoute); n != maxRefusals {
			t.Errorf("asked %d times", n)
		}
		end()
		if err := notice(); err == nil {
			t.Error("it is tried though nothing was heard")
		}
		time.Sleep(barredFor)
		for range 2 {
			if err := notice(); err != nil {
				t.Error(err)
			}
		}
		// What was refused before that is forgotten.
		c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 403, Code: 50013})
		if err := notice(); err == nil {
			t.Error("it was not refused")
		}
		if err := notice(); err != nil {
			t.Error(err)
		}
	})
}

// What is missing is named, and nothing else, also where the bot has heard nothing
// of the channel; and it asks no more before it hears something.
func TestNamesWhatIsMissing(t *testing.T) {
	type lost struct {
		names  string
		thread bool
		heard  bool // in the channel, before
		may    discordtest.Permission
	}
	eachInClub(t, map[string]lost{
		"in the channel":         {names: "Send Messages", may: discordtest.SendMessages},
		"in the thread":          {names: "Send Messages in Threads", may: discordtest.SendMessagesInThreads, thread: true},
		"in a known channel":     {names: "Send Messages", may: discordtest.SendMessages, heard: true},
		"in a known thread":      {names: "Send Messages in Threads", may: discordtest.SendMessagesInThreads, thread: true, heard: true},
		"all of the channel":     {names: "View Channel", may: discordtest.ViewChannel},
		"all that it knew":       {names: "View Channel", may: discordtest.ViewChannel, thread: true, heard: true},
		"all of a known channel": {names: "View Channel", may: discordtest.ViewChannel, heard: true},
		"all of the thread":      {names: "View Channel", may: discordtest.ViewChannel, thread: true},
	}, func(t *testing.T, c *club, lost lost) {
		where := c.where(c.room)
		if lost.thread {
			where = c.where(c.room, c.begin(t))
			c.again() // another process, which has heard nothing
		}
		if lost.heard {
			c.ok(c.alice.Slash(c.room, "go help"))
		}
		c.room.OverwriteBot(0, lost.may)
		before := len(c.d.Requests(""))
		var forbidden outbox.Forbidden
		for k := range 5 {
			if err := c.notice(where); !errors.As(err, &forbidden) || forbidden.Permission != lost.names || forbidden.Unasked != (k > 0) {
				t.Errorf("%+v", err)
			}
		}
		refused := 0
		for _, r := range c.d.Requests("")[before:] {
			if r.Status == 403 {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("refused %d times", refused)
		}
	})
}

// A locked thread that the bot may not even see any more is not looked at again
// and again.
func TestLockedAndHidden(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		notice := func() error { return c.notice(c.where(c.room, thread)) }
		thread.Lock()
		if err := notice(); err == nil || !strings.Contains(err.Error(), "locked") {
			t.Error(err)
		}
		c.room.OverwriteBot(0, discordtest.ViewChannel)
		before := len(c.d.Requests(""))
		for range 4 {
			if err := notice(); err == nil || !strings.Contains(err.Error(), "View Channel") {
				t.Error(err)
			}
		}
		asked := slices.DeleteFunc(c.d.Requests("")[before:], func(r discordtest.Request) bool {
			return strings.HasPrefix(r.Route, "PATCH ") // the opening, which is edited when there is time
		})
		if len(asked) != 1 {
			t.Errorf("asked %d times", len(asked))
		}
		c.room.OverwriteBot(discordtest.ViewChannel, 0)
		thread.Reopen()
		c.ok(c.alice.Slash(c.room, "go help"))
		if err := notice(); err != nil {
			t.Error(err)
		}
	})
}

// Whose answer was put off is not told that it comes before it has come, or has
// kept them waiting; and then they are told what became of it.
func TestPutOff(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.recorder.gate = make(chan bool)
		slowly := func(who *discordtest.Person, at string) *discordtest.Interaction {
			return c.deferred(who.Slash(c.room, "place", opt("at", at), opt("game", 1)))
		}
		thread.Lock()
		if m := c.ok(slowly(c.alice, "C3")); m.To != "Alice" || !strings.Contains(m.Content, "is locked") {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		thread.Reopen()
		if m := c.ok(slowly(c.bob, "C4")); m.To != "Bob" || m.Content != c.linkTo(c.shows(thread, "White C4")) {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		// What takes long is promised, and then linked.
		end := c.d.Fault(discordtest.Fault{Route: sendRoute, Status: 429, RetryAfter: time.Second, Times: -1})
		i := slowly(c.alice, "C2")
		if m := c.ok(i); m.Content != wordDone {
			t.Errorf("%q", m.Content)
		}
		end()
		board := c.shows(thread, "Black C2")
		c.settle()
		if m := c.ok(i); m.Content != c.linkTo(board) {
			t.Errorf("in the end it says %q", m.Content)
		}
	})
}

// Where the bot can only answer, what was put off is for everybody nevertheless.
func TestPutOffWhereItCanOnlyAnswer(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.recorder.gate = make(chan bool)
		eve, street := c.installed()
		i := c.deferred(eve.Slash(street, "new", opt("size", "5x5"), opt("opponent", eve)))
		if m := c.shows(street, " to play, for example "); !withPicture(m) || m.To != "" {
			t.Errorf("%q to %q", m.Content, m.To)
		}
		if m := c.ok(i); m.To != "Eve" || m.Content != wordDone {
			t.Errorf("%q to %q", m.Content, m.To)
		}
	})
}

// A program that is told to stop leaves nobody behind to whom it seems to think;
// one that is killed leaves that to the next, which says where the board is.
func TestStoppedWhilePutOff(t *testing.T) {
	eachInClub(t, map[string]bool{"stopped": false, "killed": true}, func(t *testing.T, c *club, killed bool) {
		thread := c.begin(t)
		c.stop()
		time.Sleep(6 * time.Second) // Discord lets nobody identify twice within five
		gate := make(chan bool)
		stop, kill := c.alone(&recorder{Service: bot.New(c.store, bot.Config{}), gate: gate})
		i := c.alice.Slash(thread, "place", opt("at", "C3"))
		i.First()
		synctest.Wait()
		if killed {
			kill()
		}
		time.AfterFunc(time.Second, func() { close(gate) })
		stop()
		if m := i.Answer(); !killed && m.Content != c.linkTo(thread.Last()) {
			t.Errorf("it ends as %q", m.Content)
		}
		c.start()
		board := c.shows(thread, "Black C3")
		c.passes(time.Minute)
		if m := c.ok(i); m.Content != c.linkTo(board) {
			t.Errorf("it ends as %q", m.Content)
		}
		if n := count(thread.Messages(), withPicture); n != 2 {
			t.Errorf("%d boards", n)
		}
	})
}

// mentions reports whether a text mentions a command as it is registered, with
// options.
func (c *club) mentions(text, command, options string) bool {
	for _, m := range commandMark.FindAllStringSubmatch(text, -1) {
		if m[1] == command && c.d.HasCommand(command, m[2]) && strings.Contains(text, m[0]+" `"+options+"`") {
			return true
		}
	}
	return false
}

// refusedIn counts what was asked of a channel and its threads that Discord has refused, or
// could not find, beginning with a request.
func (c *club) refusedIn(ch *discordtest.Channel, before int) (n int) {
	c.Helper()
	in := map[string]bool{ch.ID(): true}
	for _, t := range ch.Threads() {
		in[t.ID()] = true
	}
	for _, r := range c.d.Requests("")[before:] {
		if in[r.Params["channel_id"]] && (r.Status == 403 || r.Status == 404) {
			n++
		}
	}
	return n
}

// A channel that refuses the bot costs a few requests, whatever is done there: commands,
// presses, typed turns, new games, other games, all at once. What can be done by the token
// of an interaction is done; and where the channel lets the bot in again, it goes on.
func TestRefusedChannelIsLeftAlone(t *testing.T) {
	type lost struct {
		takes discordtest.Permission
		typed bool // messages still come
	}
	eachInClub(t, map[string]lost{
		"hidden":   {takes: discordtest.ViewChannel},
		"silenced": {takes: discordtest.SendMessages | discordtest.SendMessagesInThreads, typed: true},
		"all":      {takes: discordtest.Everyone &^ discordtest.ViewChannel, typed: true},
	}, func(t *testing.T, c *club, lost lost) {
		const games, turns = 3, 8
		all := make([]*game, games)
		for k := range all {
			all[k] = c.opens(c.room, k)
		}
		c.passes(2 * time.Minute)
		c.room.OverwriteBot(0, lost.takes)
		before, began := len(c.d.Requests("")), time.Now()
		for turn := range turns {
			for _, g := range all {
				if lost.typed && turn%2 == 1 {
					who := g.players[g.turns%2]
					who.Say(g.thread, "<@"+c.d.Bot().ID()+"> "+string("ACEGJLNQST"[g.turns%10])+fmt.Sprint(1+g.turns/10))
					who.Say(g.thread, "<@"+c.d.Bot().ID()+"> A1") // which is refused
					g.turns++
				} else {
					g.turn().Answer()
				}
			}
			c.passes(time.Minute)
		}
		c.alice.Slash(c.room, "new").Answer()
		c.passes(10*time.Minute - time.Since(began))
		if n := c.refusedIn(c.room, before); n > 10 {
			t.Errorf("refused %d times in %v\n%s", n, time.Since(began), c.log.String())
		}
		c.room.OverwriteBot(0, 0)
		for k, g := range all {
			c.ok(g.turn())
			c.passes(time.Minute)
			last := g.thread.Last()
			if want := fmt.Sprintf("%d\\. ", turns+1); !strings.Contains(last.Content, want) || !withPicture(last) {
				t.Errorf("game %d: the last message is %q", k+1, last.Content)
			}
			c.passes(oldPace)
			if left := controlled(g.thread); len(left) != 1 {
				t.Errorf("game %d: controls are on %q", k+1, left)
			}
		}
	})
}

// A board that could not be shown comes when a moderator lets the bot in again, without a
// command.
func TestBoardComesWhenTheBotIsLetIn(t *testing.T) {
	type lost struct {
		take, give func(c *club, thread *discordtest.Channel)
	}
	eachInClub(t, map[string]lost{
		"channel": {func(c *club, _ *discordtest.Channel) { c.room.OverwriteBot(0, discordtest.ViewChannel) },
			func(c *club, _ *discordtest.Channel) { c.room.OverwriteBot(0, 0) }},
		"role": {func(c *club, _ *discordtest.Channel) {
			c.guild.Everyone(discordtest.ViewChannel | discordtest.UseApplicationCommand)
			c.guild.BotPermissions(mayDo &^ discordtest.SendMessagesInThreads)
		}, func(c *club, _ *discordtest.Channel) { c.guild.BotPermissions(mayDo) }},
		"thread": {func(_ *club, thread *discordtest.Channel) { thread.Lock() }, func(_ *club, thread *discordtest.Channel) { thread.Reopen() }},
		"kicked": {func(c *club, _ *discordtest.Channel) { c.guild.Kick() }, func(c *club, _ *discordtest.Channel) { c.guild.Invite() }},
	}, func(t *testing.T, c *club, x lost) {
		thread := c.begin(t)
		c.recorder.posts = func(p outbox.Post) {
			c.recorder.posts = nil
			x.take(c, thread)
		}
		c.alice.Slash(c.room, "place", opt("at", "C3"), opt("game", 1)).Answer()
		c.passes(10 * time.Minute)
		if n := count(thread.Messages(), says("Black C3")); n != 0 {
			t.Errorf("it is shown %d times", n)
		}
		x.give(c, thread)
		c.passes(changedFor)
		if last := thread.Last(); !strings.Contains(last.Content, "Black C3") || !withPicture(last) {
			t.Errorf("the last message is %q\n%s", last.Content, c.log.String())
		}
	})
}

// It comes, too, if something else about the bot's role was changed soon after the refusal, so
// that the bot has asked once more in vain.
func TestBoardComesAfterAChangeThatDidNotHelp(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		barred := func() {
			c.guild.Everyone(discordtest.ViewChannel | discordtest.UseApplicationCommand)
			c.guild.BotPermissions(mayDo &^ discordtest.SendMessagesInThreads)
		}
		c.recorder.posts = func(outbox.Post) {
			c.recorder.posts = nil
			barred()
		}
		c.alice.Slash(c.room, "place", opt("at", "C3"), opt("game", 1)).Answer()
		c.passes(time.Second)
		barred()
		c.passes(10 * time.Minute)
		c.guild.BotPermissions(mayDo)
		c.passes(changedFor)
		if last := thread.Last(); !strings.Contains(last.Content, "Black C3") || !withPicture(last) {
			t.Errorf("the last message is %q\n%s", last.Content, c.log.String())
		}
	})
}

// However much one server has made Discord refuse, the players of another get their boards
// as the answers to their turns.
func TestRefusalsOfOneServer(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		g := c.opens(c.guild.Channel("elsewhere"), 1)
		c.passes(2 * time.Minute)
		c.room.OverwriteBot(0, discordtest.ViewChannel)
		for range 500 { // past what the bot knows of the channel
			if _, err := c.a.rest.Client.Edit(t.Context(), c.room.ID(), "1", rest.Message{Content: new("")}); !rest.Forbidden(err) {
				t.Fatal(err)
			}
			time.Sleep(time.Second / 40)
		}
		for turn := range 3 {
			i := g.turn()
			m := c.ok(i)
			if kind, took := i.First(); kind != rest.ResponseMessage || took > time.Second || !withPicture(m) {
				t.Errorf("turn %d is answered by %d after %v: %q", turn, kind, took, m.Content)
			}
			c.passes(time.Second)
		}
		c.passes(10 * time.Minute) // of older boards they go when that is over
		if left := controlled(g.thread); len(left) != 1 {
			t.Errorf("controls are on %q", left)
		}
	})
}
