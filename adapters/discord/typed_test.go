package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// at begins a text with a mention of the bot.
func (c *club) at(text string) string { return "<@" + c.a.self + "> " + text }

// write has somebody write a message, and returns what stands last in the channel once
// all that comes of it has come.
func (c *club) write(who *discordtest.Person, in *discordtest.Channel, text string) string {
	who.Say(in, text)
	c.settle()
	return in.Last().Content
}

// Whoever mentions the bot in a thread makes a turn there. What is wrong with it they
// read in a reply that calls nobody and is deleted after a minute, also by another
// process.
func TestMentioned(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		if hint := "or mention me: " + c.at("C3"); !strings.Contains(thread.Messages()[0].Content, hint) {
			t.Errorf("the thread begins with %q", thread.Messages()[0].Content)
		}
		for _, turn := range []struct {
			who         *discordtest.Person
			text, shows string
		}{
			{c.alice, c.at("C3"), "Black C3"}, {c.bob, c.at("b 3"), "White B3"},
			{c.alice, "4c " + strings.TrimSpace(c.at("")), "Black C4"}, {c.bob, "<@!" + c.a.self + ">: pass", "White passes"},
		} {
			c.write(turn.who, thread, turn.text)
			if m := c.shows(thread, turn.shows); !withBoard(m) || len(m.Pings) != 1 || m.Pings[0] == turn.who.Name() {
				t.Errorf("%q: %+v", turn.text, m)
			}
		}
		replies := []string{}
		for _, wrong := range []struct {
			who         *discordtest.Person
			text, reply string
		}{
			{c.alice, "c3", "There is already a stone on C3"}, {c.alice, "i5", "Go boards have no column I"}, {c.alice, "e55", "E55 is not on this board"},
			{c.alice, "zz3", "is not a point"}, {c.bob, "D3", "not your turn"},
		} {
			if got := c.write(wrong.who, thread, c.at(wrong.text)); !strings.Contains(got, wrong.reply) {
				t.Errorf("%q is answered %q, not %q", wrong.text, got, wrong.reply)
			}
			m := thread.Last()
			replies = append(replies, m.ID)
			if len(m.Pings) > 0 || m.ReplyTo == "" {
				t.Errorf("a reply to %q that calls %v", m.ReplyTo, m.Pings)
			}
		}
		c.again()
		c.passes(2 * time.Minute)
		for _, m := range thread.Messages() {
			if slices.Contains(replies, m.ID) {
				t.Errorf("it stays: %q", m.Content)
			}
		}
	})
}

// Whatever somebody says to the bot where a game is gets an answer: steps of the game
// are carried out, and for all else a reply that is deleted after a minute says what to do.
func TestAddressed(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		for _, m := range []struct {
			who         *discordtest.Person
			text, reply string
		}{
			{c.alice, "help", "Mention me with a point to move, such as C3, or with pass, undo, accept or resign. </go help:"},
			{c.alice, "score", "Please use </score:"}, {c.alice, "Board.", "Please use </board:"}, {c.alice, "komi 7", "I did not understand that."},
			{c.alice, "", "I did not understand that."}, {c.alice, "is a fine bot", "I did not understand that."},
			{c.alice, "hello there", "I did not understand that. Mention me with a point to move"}, {c.alice, "now what", "I did not understand that."},
			{c.alice, "/hepl", "Did you mean </go help:"},
			{c.alice, "plcae C3", "Did you mean </place:"}, {c.alice, "/undo this", "is not the number of a game"}, {c.alice, "undo", "Nothing to take back"},
			{c.alice, "place", "place"}, {c.alice, "place E6", "E6 is not on this board"}, {c.alice, "B3 or C3?", "I did not understand that."},
		} {
			c.passes(10 * time.Second)
			got := c.write(m.who, thread, c.at(m.text))
			if last := thread.Last(); !strings.Contains(got, m.reply) || last.ReplyTo == "" || len(last.Pings) > 0 {
				t.Errorf("%q is answered %q, not %q", m.text, got, m.reply)
			}
		}
		c.passes(10 * time.Second)
		c.write(c.alice, thread, c.at("Place  C3"))
		c.shows(thread, "Black C3")
		c.write(c.alice, thread, c.at("undo, please"))
		if m := c.shows(thread, " to play, for example "); !withBoard(m) || count(thread.Messages(), says("takes back the last turn")) != 1 {
			t.Errorf("undo shows %q", m.Content)
		}
		c.write(c.alice, thread, c.at("pass please"))
		c.shows(thread, "Black passes")
		c.passes(2 * time.Minute)
		for _, m := range thread.Messages() {
			if m.ReplyTo != "" && !withBoard(m) && strings.Contains(m.Content, "not") {
				t.Errorf("it stays: %q", m.Content)
			}
		}
		c.recorder.take()
		for _, chat := range []string{"score", "hello", "C3 is good"} {
			if got := c.write(c.bob, c.room, c.at(chat)); got != c.at(chat) {
				t.Errorf("%q without a game is answered %q", chat, got)
			}
		}
		if got := c.write(c.bob, c.room, c.at("help!")); !strings.HasPrefix(got, "Open a game with </new:") {
			t.Errorf("a call for help without a game is answered %q", got)
		}
		if asked := c.recorder.take(); len(asked) > 0 {
			t.Errorf("the bot was asked %v", asked)
		}
	})
}

// Discord offers the bot's own role beside the bot, and people who choose it mean the bot.
// Discord shows such a message only to a bot that may read all messages.
func TestRoleMentioned(t *testing.T) {
	for _, reads := range []bool{true, false} {
		t.Run(fmt.Sprint("reads messages: ", reads), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{Privileged: gateway.MessageContent})
				c.cfg.MessageContent = reads
				c.start()
				thread := c.begin(t)
				role := "<@&" + c.guild.BotRole() + ">"
				c.guild.Permit(c.bob, 0)
				c.write(c.alice, thread, "<@&"+c.guild.RoleOf(c.bob)+"> C3") // another role
				if m := thread.Last(); m.ReplyTo != "" || withBoard(m) {
					t.Errorf("another role is answered %q", m.Content)
				}
				c.write(c.alice, c.room, role+" what is this?")
				c.write(c.alice, thread, role+" C3")
				if reads {
					c.shows(thread, "Black C3")
					c.write(c.bob, thread, "b3 "+role)
					c.shows(thread, "White B3")
				} else if m := thread.Last(); m.ReplyTo == "" || m.Content != wordRole {
					t.Errorf("answered %q", m.Content)
				}
				if m := c.room.Last(); m.ReplyTo != "" {
					t.Errorf("chat is answered %q", m.Content)
				}
				if n := c.d.Count("GET /guilds/{guild_id}"); n != 1 {
					t.Errorf("the server's roles were read %d times", n)
				}
				c.stop()
				c.check()
			})
		})
	}
}

// When the bot is let into a server again it has another role there.
func TestNewRoleMentioned(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		for range 2 {
			c.write(c.alice, thread, "<@&"+c.guild.BotRole()+"> C3")
			if m := thread.Last(); m.Content != wordRole {
				t.Errorf("answered %q", m.Content)
			}
			c.passes(2 * time.Minute)
			c.guild.Kick()
			c.guild.Invite()
			c.passes(serversEvery)
		}
	})
}

// A reply asks one player to confirm, but everybody reads it: it has no button that the
// opponent could press, and names the command. In direct messages there is nobody else.
func TestConfirmedByNobodyElse(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t, opt("rules", "tromp-taylor"))
		for k, at := range []string{"C2", "A5", "B2", "E5"} {
			c.place([]*discordtest.Person{c.alice, c.bob}[k%2], thread, at)
		}
		for text, reply := range map[string]string{"resign": "</go resign:", "pass": "</pass:"} {
			if got := c.write(c.alice, thread, c.at(text)); !strings.Contains(got, reply) {
				t.Errorf("%q is answered %q", text, got)
			}
			if m := thread.Last(); m.ReplyTo == "" || len(m.Controls) > 0 {
				t.Errorf("everybody can press %+v below %q", m.Controls, m.Content)
			}
		}
		c.write(c.alice, thread, c.at("pass anyway:yes"))
		c.shows(thread, "Black passes")
		c.write(c.bob, thread, c.at("resign confirm:yes"))
		c.shows(thread, "Alice wins")
		dm := c.alice.DM()
		c.ok(c.alice.Slash(dm, "new", opt("size", "5x5"), opt("opponent", c.alice)))
		c.write(c.alice, dm, "<@"+c.a.self+"> resign")
		if m := dm.Last(); len(m.Controls) != 1 {
			t.Errorf("below %q in a direct message: %+v", m.Content, m.Controls)
		}
	})
}

// Discord does not show the bot what others write, and a reply to the answer of an
// interaction mentions nobody.
func TestChat(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		board := c.place(c.alice, thread, "C3") // the answer to a command
		c.recorder.take()
		for _, text := range []string{"B3", "pass", "hello " + c.at("B3 is good"), "<@" + c.alice.ID() + "> B3"} {
			if got := c.write(c.bob, thread, text); got != text {
				t.Errorf("%q is answered %q", text, got)
			}
		}
		c.bob.Reply(board, "B3")
		c.settle()
		if asked := c.recorder.take(); len(asked) > 0 {
			t.Errorf("the bot was asked %v", asked)
		}
		// A message of the bot's own is its author's: then the reply is for the bot.
		c.write(c.bob, thread, c.at("B3"))
		c.alice.Reply(c.shows(thread, "White B3"), "D3")
		c.settle()
		c.shows(thread, "Black D3")
	})
}

// With the intent for what people write, the player to move types points in the thread
// of the game. Elsewhere they are chat, and so is all else.
func TestTyped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Privileged: gateway.MessageContent})
		c.cfg.MessageContent = true
		c.start()
		thread := c.begin(t)
		if hint := "or type a point: C3"; !strings.Contains(thread.Messages()[0].Content, hint) {
			t.Errorf("the thread begins with %q", thread.Messages()[0].Content)
		}
		eve := c.guild.Member("Eve")
		for _, chat := range []struct {
			who  *discordtest.Person
			in   *discordtest.Channel
			text string
		}{{c.bob, thread, "C3"}, {eve, thread, "C3"}, {c.alice, c.room, "C3"}, {c.alice, thread, "C3?"}, {c.alice, thread, "what about c3"}} {
			if got := c.write(chat.who, chat.in, chat.text); got != chat.text {
				t.Errorf("%q is answered %q", chat.text, got)
			}
		}
		c.write(c.alice, thread, "c 3")
		c.shows(thread, "Black C3")
		c.write(c.bob, thread, "c3")
		c.shows(thread, "There is already a stone on C3")
		c.write(c.bob, thread, "Pass")
		c.shows(thread, "White passes")
		c.stop()
		c.check()
	})
}

// In direct messages, which the bot reads, a point is a turn in the only game there.
func TestTypedDirectly(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		dm := c.alice.DM()
		c.ok(c.alice.Slash(dm, "new", opt("size", "5x5"), opt("opponent", c.alice)))
		c.write(c.alice, dm, "C3")
		c.shows(dm, "Black C3")
		if got := c.write(c.alice, dm, "hello"); !strings.HasPrefix(got, "I did not understand that.") {
			t.Errorf("“hello” is answered %q", got)
		}
		c.write(c.alice, dm, "undo, please")
		if count(dm.Messages(), says("takes back the last turn")) != 1 {
			t.Errorf("nothing is taken back\n%s", c.d.Transcript())
		}
		other := c.bob.DM()
		if got := c.write(c.bob, other, "hello"); got != "hello" {
			t.Errorf("“hello” without a game is answered %q", got)
		}
		if got := c.write(c.bob, other, "Help"); !strings.HasPrefix(got, "Open a game with </new:") {
			t.Errorf("“Help” without a game is answered %q", got)
		}
	})
}

// A message that comes twice is one turn, also if another process has heard of it first.
func TestTypedTwice(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.alice.Say(thread, c.at("C3"))
		message := thread.Last()
		c.settle()
		c.write(c.bob, thread, c.at("B3"))
		c.write(c.alice, thread, c.at("B2"))
		boards := count(thread.Messages(), withBoard)
		again := func(asked int) {
			t.Helper()
			c.recorder.take()
			c.d.Dispatch("MESSAGE_CREATE", map[string]any{"id": message.ID, "type": 0, "channel_id": thread.ID(), "guild_id": c.guild.ID(), "content": c.at("C3"),
				"author": map[string]any{"id": c.alice.ID(), "username": "alice", "global_name": "Alice"}})
			c.settle()
			if n := count(thread.Messages(), withBoard); n != boards || len(c.recorder.take()) != asked {
				t.Errorf("%d boards, not %d: %q", n, boards, thread.Last().Content)
			}
		}
		again(0)
		c.again()
		again(1) // the bot knows it
	})
}

// Over HTTP no messages come, and nobody is told that they would.
func TestMentionedOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.overHTTP()
		c.start()
		thread := c.begin(t)
		if m := thread.Messages()[0]; strings.Contains(m.Content, "mention") {
			t.Errorf("the thread begins with %q", m.Content)
		}
		c.stop()
		c.check()
	})
}

func TestUnaddressed(t *testing.T) {
	a := &Adapter{self: "77"}
	mentions := []string{"<@77>", "<@!77>"}
	for text, want := range map[string]string{
		"<@77> E5": "E5", "<@!77> E5": "E5", " <@77>: E5": "E5", "<@77>, e 5 ": "e 5", "<@77>\nE5": "E5", "E5 <@77>": "E5", "<@77>E5": "E5", "<@77>": "",
	} {
		if got, ok := unaddressed(text, mentions...); !ok || got != want {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "E5", "<@78> E5", "<@&77> E5", "@77 E5", "E5 <@77> D5", "<#77> E5"} {
		if got, ok := unaddressed(text, mentions...); ok || got != text {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	for _, raw := range []string{``, `{}`, `{"id":"1","content":"<@77> E5"}`, `[]`, `{"id":"1","content":"<@77> E5","author":{"id":"2","bot":true}}`,
		`{"id":"1","content":"<@77> E5","author":{"id":"2"},"webhook_id":"3"}`, `{"id":"1","content":"<@77> E5","author":{"id":"2"},"type":7}`} {
		if a.readMessage([]byte(raw)) != nil {
			t.Errorf("%s is a turn", raw)
		}
	}
}

// People who write too fast, or while the bot is in trouble, are told once for each burst,
// in the language of the room.
func TestTypedTooFast(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.guild.Locale("de")
		c.ok(c.alice.Slash(c.room, "go help"))
		c.again() // another process knows the language of the room as well
		told := func(english string, who ...*discordtest.Person) {
			t.Helper()
			replies := func() int {
				return count(thread.Messages(), func(m *discordtest.Message) bool {
					return m.ReplyTo != "" && strings.Contains(m.Content, bot.Translated("de", english))
				})
			}
			for range 2 {
				for range personAtOnce + 3 {
					for _, p := range who {
						p.Say(thread, c.at("C3"))
					}
				}
				c.settle()
				c.passes(time.Second)
				if n := replies(); n != len(who) {
					t.Errorf("%d people read %q %d times", len(who), bot.Translated("de", english), n)
				}
				c.passes(2 * time.Minute)
				if n := replies(); n != 0 {
					t.Errorf("%d replies stay", n)
				}
			}
		}
		told(wordTooMuch, c.alice, c.bob)
		c.recorder.broken = true
		told(wordFailed, c.alice)
	})
}

// A reply for one person goes after a minute, also if the program is killed while it
// sends it.
func TestKilledWhileReplying(t *testing.T) {
	for name, when := range map[string]string{"before it was sent": discordtest.BeforeDone, "after it was sent": discordtest.AfterDone} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{})
				c.start()
				thread := c.begin(t)
				c.stop()
				c.passes(6 * time.Second)
				b := bot.New(c.store, bot.Config{})
				stop, kill := c.killable(func(ctx context.Context, a *Adapter) error { return b.Run(ctx, a) })
				c.d.Fault(discordtest.Fault{Route: sendRoute, Drop: when, Meanwhile: kill})
				c.write(c.bob, thread, c.at("C3"))
				replied := thread.Last().ReplyTo != ""
				if replied != (when == discordtest.AfterDone) {
					t.Fatalf("the thread ends with %q", thread.Last().Content)
				}
				c.passes(8 * time.Minute) // Discord no longer knows the nonce
				for n := range 120 {
					c.alice.Say(thread, fmt.Sprint("talk ", n))
				}
				c.start()
				c.passes(2 * time.Minute)
				if n := count(thread.Messages(), func(m *discordtest.Message) bool { return m.ReplyTo != "" }); n > 0 {
					t.Errorf("%d replies stay", n)
				}
				if rows := c.stored(match.Remove); len(rows) > 0 {
					t.Errorf("still stored are %+v", rows)
				}
				c.stop()
				stop()
				c.check()
			})
		})
	}
}
