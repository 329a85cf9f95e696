package discord

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/render"
)

// plays has a game begun at a table and gives its opening.
func (tb *table) plays() *discordtest.Message {
	tb.Helper()
	tb.does("alice", "#games", "/new size:5x5 opponent:@Bob color:black")
	m := tb.room.Last()
	tb.does("bob", "#games", "[Join]")
	tb.opens(m, "New game · Black to play")
	return m
}

// opens is what an opening says.
func (tb *table) opens(m *discordtest.Message, says string) {
	tb.Helper()
	if now := m.Now(); !strings.Contains(now.Content, says) || len(now.Controls) > 0 {
		tb.Errorf("the opening does not say %q but %q %v", says, now.Content, labelsOf(now))
	}
}

func labelsOf(m *discordtest.Message) (out []string) {
	for _, c := range m.Controls {
		out = append(out, c.Label)
	}
	return out
}

// edits returns how often what a message says was to be changed, except by answers to
// presses. What a fault struck counts, of which the double reads no body.
func (c *club) edits(m *discordtest.Message) int {
	n := 0
	for _, r := range c.d.Requests("") {
		_, says := r.Body["content"]
		if strings.HasPrefix(r.Route, "PATCH ") && (says || r.Body == nil) && (r.Params["message_id"] == m.ID || r.Message == m.ID) {
			n++
		}
	}
	return n
}

// passes lets time pass, and waits until what is due then is done.
func (tb *table) passes(d time.Duration) {
	time.Sleep(d)
	flushing{tb.bot, tb}.flush()
	tb.quiet()
}

// While a game goes its opening is edited once a minute, and shows the newest
// board then; when it is old, every ten minutes. That calls nobody, whatever people
// are called.
func TestOpeningIsEditedNowAndThen(t *testing.T) {
	inTable(t, func(t *testing.T, tb *table) {
		tb.alice.Rename("@everyone <@" + tb.bob.ID() + ">")
		opening := tb.plays()
		after := func(says string, edits int) {
			t.Helper()
			tb.opens(opening, says)
			if n := tb.edits(opening); n != edits {
				t.Errorf("edited %d times, not %d", n, edits)
			}
		}
		after("New game", 1)
		tb.does("alice", "", "/place at:C3")
		after("New game", 1)
		tb.passes(59 * time.Second)
		tb.does("bob", "", "/place at:C4")
		after("New game", 1)
		tb.passes(time.Second)
		after("Move 2: White C4 · Black to play", 2)
		if link := fmt.Sprintf("https://discord.com/channels/%s/%s/%s", tb.guild.ID(), tb.here.ID(), tb.here.Last().ID); !strings.HasSuffix(opening.Now().Content, "See "+link) {
			t.Errorf("no link to the newest board: %q", opening.Now().Content)
		}
		tb.passes(10 * time.Minute)
		after("Move 2", 2)
		tb.does("alice", "", "/place at:D3") // nothing was edited for long
		after("Move 3", 3)

		tb.passes(time.Hour)
		tb.does("bob", "", "/place at:D4")
		after("Move 4", 4)
		tb.does("alice", "", "/place at:B3")
		tb.passes(9 * time.Minute)
		tb.does("bob", "", "/place at:B4")
		after("Move 4", 4)
		tb.passes(time.Minute)
		after("Move 6", 5)
		for _, r := range tb.d.Requests("") {
			if !strings.HasPrefix(r.Route, "PATCH ") {
				continue
			}
			if allowed, _ := r.Body["allowed_mentions"].(map[string]any); len(allowed) == 0 || allowed["users"] != nil || allowed["roles"] != nil {
				t.Errorf("it may call: %v", r.Body)
			}
		}
	})
}

// From a challenge to the first board there are two messages, the opening and the board:
// that the game has begun the opening says itself, whatever happens meanwhile. Without a
// thread the board stands below it.
func TestOpeningSaysThatTheGameBegins(t *testing.T) {
	type how struct {
		join  func(c *club, opening *discordtest.Message)
		room  []string // what there is to read in the room afterwards
		board bool     // the last of it is the board
	}
	stands, begins := "Game 1: Two Button Go", "Game 1 begins: Two Button Go"
	press := func(c *club, opening *discordtest.Message) { c.bob.Press(opening, "Join") }
	broken := func(f discordtest.Fault) func(c *club, opening *discordtest.Message) {
		return func(c *club, opening *discordtest.Message) {
			c.d.Fault(f)
			press(c, opening)
		}
	}
	eachInClub(t, map[string]how{
		"pressed":    {press, []string{stands}, false},
		"by command": {func(c *club, _ *discordtest.Message) { c.bob.Slash(c.room, "go join") }, []string{stands}, false},
		"slowly": {func(c *club, opening *discordtest.Message) {
			c.recorder.gate = make(chan bool)
			c.deferredBy(rest.ResponseDeferUpdate, c.bob.Press(opening, "Join"))
		}, []string{stands}, false},
		"answer lost":   {broken(discordtest.Fault{Route: callbackRoute, Drop: discordtest.AfterDone}), []string{stands}, false},
		"answer broken": {broken(discordtest.Fault{Route: callbackRoute, Drop: discordtest.BeforeDone}), []string{stands}, false},
		"killed": {func(c *club, opening *discordtest.Message) {
			c.stop()
			time.Sleep(6 * time.Second)
			gate := make(chan bool)
			stop, kill := c.alone(&recorder{Service: bot.New(c.store, bot.Config{}), gate: gate})
			press(c, opening)
			synctest.Wait()
			kill()
			close(gate)
			stop()
			c.start()
		}, []string{stands}, false},
		"deleted": {func(c *club, opening *discordtest.Message) {
			c.recorder.posts = func(p outbox.Post) { opening.Delete() }
			c.bob.Slash(c.room, "go join")
		}, []string{begins, " to play, for example "}, true},
		"no threads": {func(c *club, opening *discordtest.Message) {
			c.guild.Everyone(discordtest.ViewChannel | discordtest.UseApplicationCommand)
			c.guild.BotPermissions(mayDo &^ discordtest.CreatePublicThreads)
			press(c, opening)
		}, []string{begins, " to play, for example "}, true},
	}, func(t *testing.T, c *club, x how) {
		x.join(c, c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5"), opt("opponent", c.bob))))
		c.passes(2 * time.Minute)
		all := c.room.Messages()
		if len(all) != len(x.room) {
			t.Fatalf("%d messages in the room, not %d\n%s\n%s", len(all), len(x.room), c.d.Transcript(), c.log.String())
		}
		for k, want := range x.room {
			board := x.board && k == len(all)-1
			if m := all[k]; !strings.Contains(m.Content, want) || withBoard(m) != board || !board && len(m.Controls) > 0 {
				t.Errorf("message %d says %q, not %q", k+1, m.Content, want)
			}
		}
		if threads := c.room.Threads(); !x.board {
			if len(threads) != 1 || len(threads[0].Messages()) != 1 || !withBoard(threads[0].Last()) {
				t.Errorf("there is no thread of one board\n%s", c.d.Transcript())
			}
		}
		for _, m := range c.bob.Sees(c.room) {
			if m.To != "" && m.Content != c.linkTo(c.room.Threads()[0].Last()) {
				t.Errorf("Bob reads %q", m.Content)
			}
		}
	})
}

// The end of a game is shown at once, however lately the opening was edited.
func TestEndIsShownAtOnce(t *testing.T) {
	inTable(t, func(t *testing.T, tb *table) {
		opening := tb.plays()
		tb.does("alice", "", "/place at:C3")
		tb.does("bob", "", "/go resign confirm:yes")
		tb.opens(opening, "Move 2: White resigns · game over\nBlack wins")
		if n := tb.edits(opening); n != 2 {
			t.Errorf("edited %d times", n)
		}
	})
}

// An opening that was deleted, or may not be edited, is left alone, and the game
// goes on.
func TestOpeningThatCannotBeEdited(t *testing.T) {
	eachInTable(t, map[string]bool{"deleted": true, "refused": false}, func(t *testing.T, tb *table, deleted bool) {
		opening := tb.plays()
		tb.passes(routeLife) // of the interactions by which it could be edited
		if deleted {
			opening.Delete()
		} else {
			tb.d.Fault(discordtest.Fault{Route: editRoute, Path: "/messages/" + opening.ID, Status: 403, Code: discordgo.ErrCodeMissingPermissions, Times: -1})
		}
		for k, at := range []string{"C3", "C4", "B3", "B4"} {
			tb.passes(2 * time.Minute)
			tb.does([]string{"alice", "bob"}[k%2], "", "/place at:"+at)
		}
		tb.passes(time.Hour)
		if n := tb.edits(opening); n != 2 { // one was before
			t.Errorf("edited %d times", n)
		}
		tb.passes(24 * time.Hour)
		tb.does("alice", "", "/place at:D3")
		if n := tb.edits(opening); n != 3 {
			t.Errorf("edited %d times by the next day", n)
		}
		if last := tb.here.Last(); !strings.Contains(last.Content, "5\\. Black D3") {
			t.Errorf("the last board says %q", last.Content)
		}
	})
}

// Where Discord asks to wait the end of a game is shown later, and what belongs
// in the thread is there already.
func TestOpeningHasToWait(t *testing.T) {
	eachInTable(t, map[string]discordtest.Fault{
		"limited":          {Status: 429, RetryAfter: 10 * time.Second}, // longer than anybody has patience
		"edited too often": {Status: 400, Code: discordgo.ErrCodeMaximumNumberOfEditsToMessagesOlderThanOneHourReached},
	}, func(t *testing.T, tb *table, fault discordtest.Fault) {
		opening := tb.plays()
		tb.passes(routeLife) // of the interactions by which it could be edited
		fault.Route, fault.Path = editRoute, "/messages/"+opening.ID
		tb.d.Fault(fault)
		tb.does("alice", "", "/go resign confirm:yes")
		tb.opens(opening, "New game")
		if last := tb.here.Last(); !strings.Contains(last.Content, "Game 1 is over: Bob wins") {
			t.Errorf("the thread ends with %q", last.Content)
		}
		tb.passes(cmp.Or(fault.RetryAfter, oldPace) - time.Second)
		tb.opens(opening, "New game")
		tb.passes(time.Second)
		tb.opens(opening, "game over")
		if n := tb.edits(opening); n != 3 { // one was before
			t.Errorf("edited %d times", n)
		}
	})
}

// Where the boards are in the same place as the opening it stays as it is.
func TestOpeningBesideItsBoards(t *testing.T) {
	eachInTable(t, map[string]func(*table) (where string, at *discordtest.Channel){
		"direct messages": func(tb *table) (string, *discordtest.Channel) { return "DM", tb.alice.DM() },
		"no thread": func(tb *table) (string, *discordtest.Channel) {
			tb.guild.Everyone(discordtest.ViewChannel | discordtest.UseApplicationCommand)
			tb.guild.BotPermissions(discordtest.Permission(mayDo &^ discordtest.CreatePublicThreads))
			return "#games", tb.room
		},
		"a post of a forum": func(tb *table) (string, *discordtest.Channel) {
			tb.here = tb.alice.Open(tb.guild.Forum("club games"), "evening", "An evening of Go")
			return "", tb.here
		},
	}, func(t *testing.T, tb *table, in func(*table) (string, *discordtest.Channel)) {
		where, at := in(tb)
		before := len(at.Messages())
		tb.does("alice", where, "/new size:5x5 opponent:@Alice")
		tb.here = at
		tb.does("alice", where, "/place at:C3")
		tb.passes(time.Hour)
		all := at.Messages()
		if count(all, withPicture) < 2 {
			t.Fatalf("no boards\n%s", tb.out.String())
		}
		for _, m := range all[before:] {
			if n := tb.edits(m); n != 0 {
				t.Errorf("%q was edited %d times", m.Content, n)
			}
		}
	})
}

// An opening is in the language of the room.
func TestOpeningInTheLanguageOfTheRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for tag, want := range map[string]string{
			"de": "Partie 1: Two Button Go · 5×5 · Komi 6½\n⚫ Alice – ⚪ Bob\nZug 1: Schwarz C3 · Weiß am Zug\n",
			"ja": "対局1：Two Button Go · 5×5 · コミ6目半\n⚫ Alice – ⚪ Bob\n1手目：黒C3 · 白の番\n",
		} {
			tb := newTable(t)
			tb.guild.Locale(tag)
			tb.does("alice", "#games", "/new size:5x5 opponent:@Bob color:black")
			opening := tb.room.Last()
			tb.ok(tb.bob.Press(opening, bot.Translated(tag, opening.Controls[0].Label)))
			tb.quiet()
			tb.look(tb.room)
			tb.passes(time.Minute)
			tb.does("alice", "", "/place at:C3")
			if says := opening.Now().Content; !strings.HasPrefix(says, want) {
				t.Errorf("%s: the opening says %q", tag, says)
			}
		}
	})
}

// What a game says of itself, in which names mean nothing to Discord.
func TestStanding(t *testing.T) {
	s := render.Scene{Board: []string{".X.", "..."}, Ruleset: "my_rules", Black: render.Player{Name: "**a** @here"}, White: render.Player{Name: "# b\n<@1>"}, Next: "Black to play"}
	got := standing(outbox.Post{Number: 7}, s)
	if want := `Game 7: my\_rules · 3×2` + "\n" + `⚫ \*\*a\*\* \@here – ⚪ # b \<\@1\>` + "\nBlack to play"; got != want {
		t.Errorf("it says %q, not %q", got, want)
	}
}

// How often an opening is edited depends on its age, which is in its id.
func TestPace(t *testing.T) {
	const id = "175928847299117063" // the example of Discord's documentation
	sent := time.UnixMilli(1462015105796)
	for _, x := range []struct {
		id   string
		at   time.Time
		want time.Duration
	}{{id, sent.Add(oldAge), pace}, {id, sent.Add(oldAge + time.Millisecond), oldPace}, {"x", sent, oldPace}} {
		if got := paceOf(x.id, x.at); got != x.want {
			t.Errorf("%s at %v: once in %v", x.id, x.at, got)
		}
	}
}

// The opening of a position to talk about goes on saying that nothing counts.
func TestOpeningOfASetup(t *testing.T) {
	inTable(t, func(t *testing.T, tb *table) {
		tb.does("alice", "#games", "/go study setup diagram:.XO./XO../..../..12")
		opening := tb.room.Last()
		thread := tb.room.WaitThread(0)
		if thread == nil {
			t.Fatalf("no thread\n%s", tb.out.String())
		}
		tb.here = thread
		tb.does("alice", "#games", "/place at:D4")
		tb.passes(time.Hour)
		if m := opening.Now(); tb.edits(m) != 0 || !strings.Contains(m.Content, "nothing counts") {
			t.Errorf("the opening says %q\n%s", m.Content, tb.out.String())
		}
	})
}
