package discord

import (
	"os"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/store/storetest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

const releases = "../../bot/store/testdata/release/"

// The first release was killed while two people saw that it thinks: of Alice the move
// was stored and not shown, of Bob the question was not asked. Two minutes later the
// bot shows the move, once, ends both deferrals, and the game goes on.
func TestFirstRelease(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		world, err := os.ReadFile(storetest.Unpack(t, releases+"discord.json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.d.Restore(world); err != nil {
			t.Fatal(err)
		}
		c.guild = c.d.Guild("Go club")
		c.room, c.alice, c.bob = c.guild.Channel("games"), c.guild.Member("Alice"), c.guild.Member("Bob")
		c.cfg.Token = secret.New(c.d.Token())

		time.Sleep(15 * time.Second) // then it was killed
		want, err := os.ReadFile(releases + "discord.txt")
		if err != nil {
			t.Fatal(err)
		}
		got := storetest.Tells(t, storetest.Unpack(t, releases+"discord.db.gz"), time.Now(), outbox.User{Platform: Name, ID: c.alice.ID(), Name: "Alice"},
			match.Room{Platform: Name, Channel: c.room.ID()}, "/games", "/board game:1", "/sgf game:1")
		if diff := gocmp.Diff(string(want), got); diff != "" {
			t.Errorf("the game is another (−release +now):\n%s", diff)
		}

		time.Sleep(2 * time.Minute)
		st, err := store.Open(t.Context(), storetest.Unpack(t, releases+"discord.db.gz"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		c.store = st
		thread := c.room.Threads()[0]
		opening, second := c.room.Messages()[0], thread.Last()
		asked := c.d.Asked()
		moves, asks := asked[len(asked)-2], asked[len(asked)-1]
		c.start()
		c.passes(time.Minute)
		third := thread.Last()
		if !strings.Contains(third.Content, "3\\. Black B4") || !withPicture(third) || len(third.Controls) == 0 || len(second.Now().Controls) > 0 {
			t.Errorf("the move is shown as %q %v, above it stands %v", third.Content, labelsOf(third), labelsOf(second.Now()))
		}
		interrupted := bot.Translated("en", wordInterrupted)
		// Whether the deferral or the move is seen to first is left open.
		if m := c.ok(moves); m.To != "Alice" || m.Content != interrupted && m.Content != c.linkTo(third) {
			t.Errorf("the move's deferral ends as %q to %q", m.Content, m.To)
		}
		if m := c.ok(asks); m.To != "Bob" || m.Content != interrupted {
			t.Errorf("the question's deferral ends as %q to %q", m.Content, m.To)
		}
		c.passes(pace)
		if m := opening.Now(); !strings.Contains(m.Content, "Move 3: Black B4") || !strings.Contains(m.Content, c.linkTo(third)) {
			t.Errorf("the opening says %q", m.Content)
		}

		c.ok(c.bob.Slash(thread, "place", opt("at", "B3")))
		c.shows(thread, "4\\. White B3")
		c.ok(c.alice.Press(thread.Last(), "Pass"))
		c.shows(thread, "5\\. Black passes")
		c.passes(pace)
		if m := opening.Now(); !strings.Contains(m.Content, "Move 5: Black pass") {
			t.Errorf("the opening says %q", m.Content)
		}
		// Nothing is said twice.
		var said []string
		for _, m := range thread.Messages() {
			line, _, _ := strings.Cut(m.Content, "\n")
			line, _, _ = strings.Cut(line, " · ")
			said = append(said, line)
		}
		if diff := gocmp.Diff([]string{"Game 1: Two Button Go.", "Game 1, move 1: Black C3.", "Game 1, move 2: White C4.", "3\\. Black B4",
			"4\\. White B3", "5\\. Black passes"}, said); diff != "" {
			t.Errorf("in the thread (−want +got):\n%s", diff)
		}
		c.stop()
		c.check()
	})
}
