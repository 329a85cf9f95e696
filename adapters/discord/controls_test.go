package discord

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// controlled returns what the messages of a channel begin with that have controls.
func controlled(ch *discordtest.Channel) (out []string) {
	for _, m := range ch.Messages() {
		if len(m.Controls) > 0 {
			first, _, _ := strings.Cut(m.Content, "\n")
			out = append(out, first)
		}
	}
	return out
}

// Only the newest board has controls, and a question only until it is answered or moot:
// also where the program ends before it could take them away.
func TestStaleControls(t *testing.T) {
	for name, moot := range map[string]func(c *club, thread *discordtest.Channel, question *discordtest.Message){
		"a turn": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) { c.place(c.bob, thread, "C4") },
		"withdrawn": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) {
			c.ok(c.alice.Slash(thread, "go ending decline"))
		},
		"no":  func(c *club, _ *discordtest.Channel, question *discordtest.Message) { c.bob.Press(question, "Decline") },
		"yes": func(c *club, _ *discordtest.Channel, question *discordtest.Message) { c.bob.Press(question, "Agree") },
		"resigned": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) {
			c.ok(c.bob.Slash(thread, "go resign", opt("confirm", "yes")))
		},
		"cancelled": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) {
			mod := c.guild.Member("Mod")
			c.guild.Permit(mod, discordtest.ManageMessages)
			c.ok(mod.Slash(thread, "go ending delete", opt("how", "cancel")))
		},
		"no, slowly": func(c *club, thread *discordtest.Channel, _ *discordtest.Message) {
			c.ok(c.bob.Slash(thread, "go ending decline"))
		},
	} {
		eachInClub(t, map[string]bool{name + ", running": false, name + ", restarted": true}, func(t *testing.T, c *club, restarted bool) {
			thread := c.begin(t)
			c.place(c.alice, thread, "C3")
			c.passes(2 * time.Minute)
			end := c.d.Fault(discordtest.Fault{Route: "none"})
			if restarted {
				end = c.d.Fault(discordtest.Fault{Route: editRoute, Path: thread.ID(), Status: 503, Times: -1})
			}
			c.place(c.bob, thread, "B4")
			c.place(c.alice, thread, "B3")
			c.place(c.bob, thread, "D4")
			c.passes(2 * time.Minute)
			c.place(c.alice, thread, "D3")
			c.passes(2 * time.Minute)
			c.ok(c.alice.Slash(thread, "go undo"))
			question := c.shows(thread, "take back")
			if !restarted && len(controlled(thread)) != 2 {
				t.Errorf("while it is asked there are controls on %q", controlled(thread))
			}
			moot(c, thread, question)
			c.passes(10 * time.Second)
			if restarted {
				c.again()
				end()
			}
			c.passes(10 * time.Minute)
			board := thread.Last()
			for _, m := range thread.Messages() {
				if withBoard(m) {
					board = m
				}
			}
			first, _, _ := strings.Cut(board.Content, "\n")
			want := []string{first}
			if name == "resigned" { // its record comes after the last board
				want = []string{"White resigns"}
			}
			if name == "cancelled" {
				want = nil
			}
			if got := controlled(thread); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("controls are on %q, not on %q\n%s", got, want, c.d.Transcript())
			}
		})
	}
}

// Where Discord takes no more changes of old messages for now, the controls of old boards
// go later.
func TestStaleControlsOfOldBoards(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		end := c.d.Fault(discordtest.Fault{Route: editRoute, Path: thread.ID(), Times: -1, Status: 429, Code: 30046})
		for k, at := range []string{"C3", "B4", "B3", "D4"} {
			c.passes(2 * time.Hour)
			c.place([]*discordtest.Person{c.alice, c.bob}[k%2], thread, at)
		}
		c.passes(time.Hour)
		if n := len(controlled(thread)); n != 5 {
			t.Errorf("%d messages have controls", n)
		}
		end()
		c.passes(oldPace)
		if left := controlled(thread); len(left) != 1 {
			t.Errorf("controls stay on %q\n%s", left, c.log.String())
		}
	})
}

// Whatever a post offers is a button that asks for the same, and a command besides.
func TestControlsHaveEquivalents(t *testing.T) {
	for _, c := range match.Controls {
		rows := buttons([]match.Control{c})
		if len(rows) != 1 || len(rows[0].Components) != 1 {
			t.Errorf("%s: no button", c.Label)
			continue
		}
		p, ok := readPress(rows[0].Components[0].CustomID)
		if !ok || p.command != c.Command || p.ask != c.Ask || len(p.args) != len(c.Args) {
			t.Errorf("%s: the button asks for %v", c.Label, p)
		}
		for k, v := range c.Args {
			if p.args[k] != v {
				t.Errorf("%s: the button's %s is %q", c.Label, k, p.args[k])
			}
		}
		if _, ok := bot.FindCommand(c.Command); !ok {
			t.Errorf("%s: no command %s", c.Label, c.Command)
		}
		if _, ok := findOption(c.Command, c.Ask); c.Ask != "" && !ok {
			t.Errorf("%s: nothing to fill in", c.Label)
		}
	}
}

// A game with a named opponent costs two messages until its first board is there, and
// each turn after that one line above its picture.
func TestMessagesOfAGame(t *testing.T) {
	inTable(t, func(t *testing.T, tb *table) {
		said := func() (all []*discordtest.Message) {
			for _, c := range append(tb.room.Threads(), tb.room) {
				for _, m := range c.Messages() {
					if m.Bot {
						all = append(all, m)
					}
				}
			}
			return all
		}
		tb.plays()
		if n := len(said()); n != 2 {
			t.Errorf("%d messages until the first board", n)
		}
		thread := tb.room.WaitThread(0)
		for k, move := range []string{"/place at:C3", "/place at:C4", "/pass", "/place at:B2", "/place at:D3"} {
			tb.does([]string{"alice", "bob"}[k%2], "", move)
			m := thread.Last()
			if len(m.Attachments) != 1 || strings.Contains(m.Content, "\n") {
				t.Errorf("%s: %q with %d pictures", move, m.Content, len(m.Attachments))
			}
		}
		if n := len(said()); n != 7 {
			t.Errorf("%d messages after five turns", n)
		}
	})
}

// A private message with a button goes when the button has done its work: where the outcome
// is shown to everybody it is deleted, and elsewhere it leads there.
func TestPrivateMessagesGo(t *testing.T) {
	inClubBothWays(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		sure := c.ok(c.alice.Slash(thread, "go resign"))
		if kind, _ := c.alice.Press(sure, "Resign").First(); kind != rest.ResponseDeferUpdate {
			t.Errorf("answered by %d", kind)
		}
		if got := c.kept(c.alice, thread); len(got) != 0 {
			t.Errorf("Alice still sees %q", got[0].Content)
		}
		if count(thread.Messages(), says("Black resigns")) != 1 {
			t.Errorf("nobody resigns\n%s", c.d.Transcript())
		}

		other := c.begin(t)
		sure = c.ok(c.alice.Slash(c.room, "go resign", opt("game", 2)))
		c.alice.Press(sure, "Resign").First()
		if got := c.kept(c.alice, c.room); len(got) != 1 || !strings.HasPrefix(got[0].Content, "See https://discord.com/channels/"+c.guild.ID()+"/"+other.ID()) {
			t.Errorf("in the channel Alice sees %+v", got)
		}
	})
}

// Each turn of a game, and its last board, is a message of its own, also where the press
// that made it notifies nobody; dead stones that are marked one after the other change one
// board.
func TestPressesKeepTheBoardsBefore(t *testing.T) {
	inClubBothWays(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		boards := func(want ...string) {
			t.Helper()
			c.settle()
			var lines []string
			for _, m := range thread.Messages() {
				if withBoard(m) {
					line, _, _ := strings.Cut(m.Content, " · ")
					line, _, _ = strings.Cut(line, "\n")
					lines = append(lines, line)
				}
			}
			if got := lines[1:]; !slices.Equal(got, want) {
				t.Errorf("the boards are %q, not %q", got, want)
			}
		}
		press := func(who *discordtest.Person, label string) *discordtest.Interaction {
			t.Helper()
			board := thread.Last()
			for _, m := range thread.Messages() {
				if withBoard(m) {
					board = m
				}
			}
			i := who.Press(board, label)
			if err := i.Refused(); err != nil {
				t.Fatal(err)
			}
			i.First()
			c.passes(2 * time.Second)
			return i
		}
		marks := func(who *discordtest.Person, chain string) {
			t.Helper()
			who.Select(press(who, "Mark dead stones…").Answer(), "", chain).First()
			c.passes(time.Minute)
		}
		c.place(c.alice, thread, "C3")
		c.place(c.bob, thread, "C4")
		press(c.alice, "Pass")
		press(c.bob, "Pass")
		turns := []string{"1\\. Black C3", "2\\. White C4", "3\\. Black passes", "4\\. White passes"}
		boards(turns...)
		marks(c.alice, "C4")
		turns = append(turns, "Black marks C4 dead")
		boards(turns...)
		marks(c.alice, "C3")
		turns[4] = "Black marks C3 dead"
		boards(turns...)
		press(c.alice, "Accept")
		press(c.bob, "Accept")
		boards(append(turns, "White accepts the count", "Game 1 is over: Bob wins by 6½, 9 to 2½.")...)
		if left := controlled(thread); len(left) != 1 {
			t.Errorf("controls are on %q", left)
		}
		for _, who := range []*discordtest.Person{c.alice, c.bob} {
			if got := c.kept(who, thread); len(got) > 0 {
				t.Errorf("%s still sees %q", who.Name(), got[0].Content)
			}
		}
	})
}

// Where the bot is thrown out and let in again, the boards that it has shown before lose their
// buttons with the next turn, or soon after.
func TestControlsAfterKickAndReturn(t *testing.T) {
	eachInClub(t, map[string]func(c *club, thread *discordtest.Channel){
		"between turns": func(c *club, thread *discordtest.Channel) {
			c.guild.Kick()
			c.passes(3 * time.Minute)
			c.guild.Invite()
			c.passes(time.Minute)
			c.place(c.alice, thread, "C3")
		},
		"while a turn is made": func(c *club, thread *discordtest.Channel) {
			c.recorder.shown = func(p outbox.Post, _ outbox.Receipt) {
				if p.Kind == match.Show {
					c.guild.Kick()
				}
			}
			c.place(c.alice, thread, "C3")
			c.recorder.shown = nil
			c.passes(time.Hour)
			c.guild.Invite()
		},
	}, func(t *testing.T, c *club, kicked func(c *club, thread *discordtest.Channel)) {
		thread := c.begin(t)
		c.passes(2 * time.Minute)
		kicked(c, thread)
		c.passes(2 * oldPace)
		if left := controlled(thread); len(left) != 1 || left[0] != "1\\. Black C3 · <@"+c.bob.ID()+"> to play" {
			t.Errorf("controls are on %q\n%s", left, c.log.String())
		}
	})
}

// A challenge that another one replaces leaves one line, in the place of the first message.
func TestReplacedChallenge(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		first := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
		second := c.ok(c.alice.Slash(c.room, "new", opt("size", "5x5")))
		c.passes(time.Minute)
		if was := first.Now(); was.Content != "Game 2 replaces game 1, which nobody had joined." || len(was.Controls) > 0 || len(c.room.Messages()) != 2 {
			t.Errorf("the first says %q %v\n%s", was.Content, labelsOf(was), c.d.Transcript())
		}
		cancelled := c.ok(c.alice.Slash(c.room, "go ending delete", opt("how", "cancel")))
		if c.passes(time.Minute); cancelled.To != "" || len(second.Now().Controls) > 0 || len(c.room.Messages()) != 3 {
			t.Errorf("it is cancelled by %q to %q\n%s", cancelled.Content, cancelled.To, c.d.Transcript())
		}
	})
}

// The newest board has a link to the page of its moment, and so has the end of the game,
// which keeps it when its other buttons go.
func TestLinkToThePage(t *testing.T) {
	const address = "https://go.example.org"
	linkOf := func(m *discordtest.Message) (links []string) {
		for _, c := range m.Now().Controls {
			if c.URL != "" {
				links = append(links, c.Label+" "+c.URL)
			}
		}
		return links
	}
	page := regexp.MustCompile(`^\[Open the board ` + address + `/g/\w+/\d+\]$`)
	inPreparedClub(t, func(c *club) { c.overHTTP(); c.address = address }, func(t *testing.T, c *club) {
		thread := c.begin(t)
		first := c.place(c.alice, thread, "C3")
		was := fmt.Sprint(linkOf(first))
		if last := first.Controls[len(first.Controls)-1]; !page.MatchString(was) || last.URL == "" || len(first.Controls) < 3 {
			t.Errorf("the board has %v and the links %s", labelsOf(first), was)
		}
		second := c.place(c.bob, thread, "B2")
		c.settle()
		if now := fmt.Sprint(linkOf(second)); !page.MatchString(now) || now == was || len(first.Now().Controls) > 0 {
			t.Errorf("the next board links to %s, the one before has %v", now, labelsOf(first.Now()))
		}
		c.ok(c.alice.Slash(thread, "go resign", opt("confirm", "yes")))
		c.settle()
		messages := thread.Messages()
		end, notice := messages[len(messages)-2], messages[len(messages)-1]
		offers := len(end.Controls)
		c.passes(clearAfter + time.Hour)
		if left := end.Now().Controls; offers < 2 || len(left) != 1 || !page.MatchString(fmt.Sprint(linkOf(end))) || len(notice.Now().Controls) != 1 {
			t.Errorf("the end had %d buttons and keeps %v\n%s", offers, labelsOf(end.Now()), c.d.Transcript())
		}
	})
}

// A link never takes the place of a button of the game.
func TestLinkLeavesRoom(t *testing.T) {
	for n, rows := range map[int]string{0: "1", 1: "2", 4: "5", 5: "5 1", 24: "5 5 5 5 5", 25: "5 5 5 5 5"} {
		var controls []match.Control
		for i := range n {
			controls = append(controls, match.Control{Label: "Play on", Command: "place", Args: map[string]string{"seq": strconv.Itoa(i)}})
		}
		var got []string
		own := 0
		for _, row := range linked(buttons(controls), "https://go.example.org/g/x/1", "de") {
			got = append(got, strconv.Itoa(len(row.Components)))
			for _, c := range row.Components {
				if c.CustomID != "" {
					own++
				} else if c.Label != "Brett öffnen" || c.Style != rest.Link {
					t.Errorf("%+v", c)
				}
			}
		}
		if strings.Join(got, " ") != rows || own != n {
			t.Errorf("%d controls: rows of %v, %d of the game", n, got, own)
		}
	}
	if menu := linked(entries("More…", nil), "https://go.example.org/g/x/1", "en"); len(menu) != 2 {
		t.Errorf("a menu and its link: %+v", menu)
	}
	// Discord would refuse the message with these.
	for _, address := range []string{"", "http://localhost:8080/g/x/1", "https://go.example.org/" + strings.Repeat("x", 490)} {
		if rows := linked(nil, address, "en"); len(rows) != 0 {
			t.Errorf("%s: %+v", address, rows)
		}
	}
}
