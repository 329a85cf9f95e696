package discord

import (
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// withBoard reports whether a message shows a board, drawn or in letters.
func withBoard(m *discordtest.Message) bool { return withPicture(m) || inLetters(m) }

func inLetters(m *discordtest.Message) bool { return strings.Contains(m.Content, "```\n") }

// badUploads are lines on which files do not get through, or slowly.
var badUploads = map[string]discordtest.Fault{
	"slow":              {Pause: time.Second},
	"stalled":           {Pause: time.Hour},
	"done all the same": {Delay: 2500 * time.Millisecond},
	"cut":               {Drop: discordtest.DuringUpload},
	"502":               {Status: 502},
}

// Where pictures do not get through, or take long, a turn is answered in words
// with the board in letters; the picture is put into the message afterwards, and
// nothing is shown twice.
func TestSlowPictures(t *testing.T) {
	eachInClub(t, badUploads, func(t *testing.T, c *club, fault discordtest.Fault) {
		stalled := fault.Pause == time.Hour
		thread := c.begin(t)
		fault.Files, fault.Times = true, -1
		end := c.d.Fault(fault)
		c.alice.Slash(thread, "place", opt("at", "C3"))
		m := c.shows(thread, "Black C3")
		if fault.Delay == 0 && (!inLetters(m) || !strings.Contains(m.Content, " 3 . . X . .")) {
			t.Errorf("the words are %q", m.Content)
		}
		c.ok(c.bob.Press(m, "Pass"))
		c.shows(thread, "White passes")
		end()
		c.passes(crawlsFor)
		if m := thread.Last(); !withPicture(m) && !stalled {
			t.Errorf("the picture does not follow: %q\n%s", m.Content, c.log.String())
		}
		c.place(c.alice, thread, "C2")
		c.passes(time.Minute)
		boards := thread.Messages()
		for k, text := range []string{" to play, for example ", "Black C3", "White passes", "Black C2"} {
			if len(boards) != 4 || !says(text)(boards[k]) {
				t.Fatalf("%d boards, the %d. is not %q\n%s", len(boards), k+1, text, c.d.Transcript())
			}
			if m := boards[k]; withPicture(m) == inLetters(m) || k < 3 && len(m.Controls) > 0 && !stalled {
				t.Errorf("%q, with %d pictures and %d buttons", m.Content, len(m.Attachments), len(m.Controls))
			}
		}
	})
}

// A requested picture comes as text, too, where pictures do not get
// through, and its picture follows: as the first answer, after a deferral, and
// for everybody.
func TestSlowAnswers(t *testing.T) {
	eachInClub(t, badUploads, func(t *testing.T, c *club, fault discordtest.Fault) {
		thread := c.begin(t)
		c.place(c.alice, thread, "C3")
		fault.Files, fault.Times = true, -1
		for k, share := range []bool{false, true, false, true} {
			put := k >= 2
			end := c.d.Fault(fault)
			c.recorder.gate = nil
			if put {
				c.recorder.gate = make(chan bool)
			}
			shown := says("Black C3 · ")
			before := count(c.bob.Sees(thread), shown)
			i := c.bob.Slash(thread, "board", opt("share", share))
			if put {
				c.deferred(i)
			}
			m := c.ok(i)
			if put && share {
				if !strings.HasPrefix(m.Content, "See https://") {
					t.Errorf("the deferral ends as %q", m.Content)
				}
				m = thread.Last()
			}
			if !shown(m) || (m.To == "") != share || !withBoard(m) {
				t.Errorf("for all %v, put off %v: %q to %q", share, put, m.Content, m.To)
			}
			end()
			c.passes(crawlsFor + time.Second)
			seen := count(c.bob.Sees(thread), func(s *discordtest.Message) bool { return s.ID == m.ID && withPicture(s) && !inLetters(s) })
			if seen != 1 && fault.Pause < time.Hour {
				t.Errorf("for all %v, put off %v: the picture does not follow\n%s", share, put, c.log.String())
			}
			if n := count(c.bob.Sees(thread), shown) - before; n != 1 {
				t.Errorf("for all %v, put off %v: %d messages show it\n%s", share, put, n, c.d.Transcript())
			}
		}
	})
}

// A picture that goes up too slowly has the next ones of its own game follow their
// words for a while, and those of no other.
func TestSlowPictureOfOneGame(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		slow, other := c.begin(t), c.guild.Channel("elsewhere")
		c.ok(c.bob.Press(c.ok(c.alice.Slash(other, "new", opt("size", "5x5"), opt("color", "black"))), "Join"))
		beside := other.WaitThread(0)
		c.shows(beside, " to play, for example ")
		time.Sleep(time.Minute)
		c.d.Fault(discordtest.Fault{Files: true, Times: 2, Pause: 5 * time.Second}) // the next picture, and when it follows
		words := func(i *discordtest.Interaction) bool {
			m := c.ok(i)
			if kind, _ := i.First(); kind != 4 || !withBoard(m) {
				t.Errorf("answered by type %d: %+v", kind, m)
			}
			return inLetters(m)
		}
		if !words(c.alice.Slash(slow, "place", opt("at", "C3"))) {
			t.Error("the picture is waited for")
		}
		time.Sleep(time.Second)
		if words(c.alice.Slash(beside, "place", opt("at", "C3"))) {
			t.Error("the other game has to do with letters")
		}
		time.Sleep(10 * time.Minute)
		for name, thread := range map[string]*discordtest.Channel{"slow": slow, "other": beside} {
			if m := thread.Last(); !withPicture(m) || inLetters(m) {
				t.Errorf("the %s game shows %q at last", name, m.Content)
			}
		}
	})
}

// A board in letters becomes a picture also after a restart, and the record of a game that
// has ended is attached.
func TestPictureFollowsAfterARestart(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		end := c.d.Fault(discordtest.Fault{Files: true, Times: -1, Status: 502})
		c.alice.Slash(thread, "place", opt("at", "C3"))
		if m := c.shows(thread, "Black C3"); !inLetters(m) || withPicture(m) {
			t.Fatalf("the words are %q", m.Content)
		}
		c.ok(c.bob.Slash(thread, "go resign", opt("confirm", "yes")))
		c.passes(10 * time.Second)
		c.again()
		end()
		c.passes(10 * time.Minute)
		for _, m := range thread.Messages()[2:] {
			if !withPicture(m) || inLetters(m) { // a board, or the record of the game
				t.Errorf("without its file: %q\n%s", m.Content, c.log.String())
			}
		}
	})
}
