package discord

import (
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

const threadRoute = "PATCH /channels/{channel_id}"

// ends has Black win a game that was just begun in a thread.
func (c *club) ends(thread *discordtest.Channel) {
	c.Helper()
	c.place(c.alice, thread, "C3")
	c.ok(c.bob.Slash(thread, "go resign", opt("confirm", "yes")))
	c.settle()
}

// is checks how a thread is called, whether it is archived, and how often the bot has
// changed one.
func (c *club) is(thread *discordtest.Channel, name string, archived bool, changes int) {
	c.Helper()
	if thread.Name() != name || thread.Archived() != archived || c.d.Count(threadRoute) != changes {
		c.Errorf("%v: the thread is %q, archived %v, after %d changes; not %q, %v, %d",
			time.Since(monday), thread.Name(), thread.Archived(), c.d.Count(threadRoute), name, archived, changes)
	}
}

const (
	threadBefore = "Game 1: Alice – Bob · Two Button Go"
	threadAfter  = threadBefore + " · Black wins"
)

// A day after the result the thread gets the result into its name and is archived, once,
// whatever Discord says meanwhile. Whoever writes in it later has it open.
func TestFinishedThread(t *testing.T) {
	read := "GET /channels/{channel_id}"
	eachInTable(t, map[string]discordtest.Fault{
		"all is well": {Route: "none"},
		"answer lost": {Route: threadRoute, Drop: discordtest.AfterDone},
		"limited":     {Route: read, Status: 429, RetryAfter: 10 * time.Minute},
		"outage":      {Route: read, Status: 503, Times: 3},
	}, func(t *testing.T, tb *table, fault discordtest.Fault) {
		thread := tb.begin(t)
		tb.ends(thread)
		tb.passes(clearAfter)
		tb.is(thread, threadBefore, false, 0)
		tb.d.Fault(fault)
		for range 10 {
			tb.passes(10 * time.Minute)
		}
		tb.is(thread, threadAfter, true, 1)
		if left := controlled(thread); len(left) > 0 {
			t.Errorf("there are controls on %q", left)
		}
		tb.bob.Say(thread, "Well played!")
		tb.does("alice", "", "/score")
		tb.passes(24 * time.Hour)
		tb.is(thread, threadAfter, false, 1)
	})
}

// Nothing can be changed in an archived thread. So it is archived after the last controls
// are gone, however long Discord refuses that.
func TestFinishedThreadIsArchivedLast(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.ends(thread)
		c.passes(clearAfter - time.Minute)
		end := c.d.Fault(discordtest.Fault{Route: editRoute, Path: thread.ID(), Times: -1, Status: 429, Code: 30046})
		c.passes(time.Hour)
		c.is(thread, threadBefore, false, 0)
		end()
		c.passes(2 * oldPace)
		c.is(thread, threadAfter, true, 1)
		if left := controlled(thread); len(left) > 0 {
			t.Errorf("there are controls on %q", left)
		}
		if rows := c.stored(outbox.Clear); len(rows) > 0 {
			t.Errorf("it is tried again: %+v", rows)
		}
	})
}

// What is played becomes nothing when the game is cancelled: the buttons go at once, the
// opening says so, and the thread is put away like that of any finished game. Of a deleted
// game the thread stays, without buttons.
func TestThreadOfAVoidGame(t *testing.T) {
	cancelled := threadBefore + " · cancelled"
	type void struct {
		by            func(c *club, thread *discordtest.Channel)
		opening, name string
		archived      bool
		changes       int
	}
	eachInClub(t, map[string]void{
		"by a player": {func(c *club, thread *discordtest.Channel) {
			c.ok(c.alice.Slash(thread, "go ending delete", opt("how", "cancel")))
		}, "Move 1: Black C3 · cancelled", cancelled, true, 1},
		"by a moderator": {func(c *club, thread *discordtest.Channel) {
			c.place(c.bob, thread, "C4")
			mod := c.guild.Member("Mod")
			c.guild.Permit(mod, discordtest.ManageMessages)
			c.ok(mod.Slash(thread, "go ending delete", opt("how", "cancel")))
		}, "Move 2: White C4 · cancelled", cancelled, true, 1},
		"deleted": {func(c *club, thread *discordtest.Channel) {
			c.ok(c.bob.Slash(thread, "go resign", opt("confirm", "yes")))
			c.ok(c.alice.Slash(thread, "go ending delete"))
			c.ok(c.bob.Slash(thread, "go ending delete"))
		}, "Game 1: deleted", threadBefore, false, 0},
	}, func(t *testing.T, c *club, x void) {
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		x.by(c, thread)
		c.passes(time.Minute)
		if left := controlled(thread); len(left) > 0 {
			t.Errorf("there are controls on %q", left)
		}
		if says := c.room.Messages()[0].Now().Content; !strings.Contains(says, x.opening) || strings.Contains(says, "to play") {
			t.Errorf("the opening says %q", says)
		}
		c.passes(clearAfter + time.Hour)
		c.is(thread, x.name, x.archived, x.changes)
	})
}

// It happens also where the application has another id than the bot's user, as old
// applications do.
func TestFinishedThreadOfAnOldApplication(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Application: "77"})
		c.cfg.Application = "77"
		c.start()
		thread := c.begin(t)
		c.ends(thread)
		c.passes(clearAfter + time.Hour)
		c.is(thread, threadAfter, true, 1)
		c.stop()
		c.check()
	})
}

// It happens although the program was stopped meanwhile, and once.
func TestFinishedThreadAfterARestart(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.ends(thread)
		c.stop()
		time.Sleep(clearAfter - time.Minute)
		c.start()
		c.is(thread, threadBefore, false, 0)
		c.passes(time.Hour)
		c.is(thread, threadAfter, true, 1)
		c.bob.Say(thread, "Well played!")
		c.again()
		c.passes(time.Hour)
		c.is(thread, threadAfter, false, 1)
	})
}

// What somebody else has started, closed, locked or deleted the bot leaves alone.
func TestThreadsThatAreLeftAlone(t *testing.T) {
	ended := func(then func(tb *table, thread *discordtest.Channel)) func(*testing.T, *table) *discordtest.Channel {
		return func(t *testing.T, tb *table) *discordtest.Channel {
			thread := tb.begin(t)
			tb.ends(thread)
			then(tb, thread)
			return thread
		}
	}
	eachInTable(t, map[string]func(*testing.T, *table) *discordtest.Channel{
		"of somebody else": func(_ *testing.T, tb *table) *discordtest.Channel {
			post := tb.alice.Open(tb.guild.Forum("club games"), threadBefore, "An evening of Go")
			tb.ok(tb.alice.Slash(post, "new", opt("size", "5x5"), opt("opponent", tb.alice)))
			tb.ok(tb.alice.Slash(post, "go resign", opt("confirm", "yes")))
			return post
		},
		"closed":  ended(func(_ *table, thread *discordtest.Channel) { thread.Archive() }),
		"locked":  ended(func(_ *table, thread *discordtest.Channel) { thread.LockOpen() }),
		"deleted": ended(func(_ *table, thread *discordtest.Channel) { thread.Delete() }),
		"game deleted": ended(func(tb *table, thread *discordtest.Channel) {
			tb.does("alice", "", "/go ending delete game:1")
			tb.does("bob", "", "/go ending delete game:1")
		}),
		"hidden": ended(func(tb *table, thread *discordtest.Channel) {
			tb.d.Fault(discordtest.Fault{Path: thread.ID(), Status: 403, Code: discordgo.ErrCodeMissingAccess, Times: -1})
		}),
	}, func(t *testing.T, tb *table, plays func(*testing.T, *table) *discordtest.Channel) {
		thread := plays(t, tb)
		closed := thread.Archived()
		for range 4 {
			tb.passes(12 * time.Hour)
		}
		tb.is(thread, threadBefore, closed, 0)
		if rows := tb.stored(outbox.Close); len(rows) > 0 {
			t.Errorf("it is tried again: %+v", rows)
		}
	})
}

// Long names are cut between what people see as characters; the result is not cut.
func TestLongNameOfAThread(t *testing.T) {
	const family = "👨‍👩‍👧‍👦"
	inTable(t, func(t *testing.T, tb *table) {
		tb.alice.Rename(strings.Repeat(family, 5))
		tb.bob.Rename(strings.Repeat("b", 40))
		thread := tb.begin(t)
		named := thread.Name()
		tb.ends(thread)
		tb.passes(closeAfter)
		for _, name := range []string{named, thread.Name()} {
			if n := length(name); n > maxThread || n < maxThread-10 || !strings.Contains(name, strings.Repeat(family, 5)+" – ") {
				t.Errorf("%d characters: %q", n, name)
			}
		}
		if !strings.HasSuffix(thread.Name(), "… · Black wins") {
			t.Errorf("the result is missing: %q", thread.Name())
		}
	})
	for name, want := range map[string]string{
		"": "", "a" + family: "a" + family, "ab" + family: "ab…", "abcdefghijklmn": "abcdefghijk…",
		strings.Repeat("e\u0301", 7): strings.Repeat("e\u0301", 5) + "…",
	} {
		if got := clipped(name, 12); got != want {
			t.Errorf("%q becomes %q, not %q", name, got, want)
		}
	}
}
