package web

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot/store/storetest"
)

const releases = "../../bot/store/testdata/release/"

// The first release was killed before it showed the last move of a game. Two hours
// later the bot shows it, once, and the games go on: those of the seats, and that of
// two who have given names. Nobody's time ran meanwhile.
func TestFirstRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		killed := time.Date(2026, 11, 2, 12, 1, 0, 0, time.UTC)
		time.Sleep(time.Until(killed))
		want, err := os.ReadFile(releases + "web.txt")
		if err != nil {
			t.Fatal(err)
		}
		got := storetest.Tells(t, storetest.Unpack(t, releases+"web.db.gz"), time.Now(), black, here,
			"/games", "/board game:2", "/clock game:2", "/sgf game:2", "/sgf game:1", "/board game:3", "/clock game:3")
		if diff := gocmp.Diff(string(want), got); diff != "" {
			t.Errorf("the games are others (−release +now):\n%s", diff)
		}

		time.Sleep(2 * time.Hour)
		st := openStore(t, storetest.Unpack(t, releases+"web.db.gz"))
		before := transcript(t, st)
		_, url, _ := openBot(t, st)
		n := 1000
		says := func(seat, text string) {
			t.Helper()
			n++
			if a := post(t, url, submission{ID: id(n), Seat: seat, Text: text}); a.Private {
				t.Errorf("%s says %s and is told %q", seat, text, a.Message.Text)
			}
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Minute)
		says("white", "/place A4 game:2")
		says("name:Dave", "/place E4 game:3")
		says("black", "/rematch game:1")
		synctest.Wait()
		var said []string
		for _, m := range shown(t, st)[len(before):] {
			if m.From == "" {
				line, _, _ := strings.Cut(m.Text, "\n")
				said = append(said, line)
			}
		}
		slices.Sort(said) // games in any order
		if diff := gocmp.Diff([]string{
			"Game 2 · 7. Black B2 · @White to play · due Mon 2 Nov 12:13 UTC",
			"Game 2 · 8. White A4 · @Black to play · due Mon 2 Nov 14:15 UTC",
			"Game 3 · 2. White E4 · @Carol to play · due Thu 5 Nov 14:03 UTC",
			"Game 4 begins: Button Go, 5×5, komi 7.",
			"Game 4 · @Black to play, for example /place C3",
			"I was offline from Mon 2 Nov 12:00 UTC to Mon 2 Nov 14:01 UTC. That time does not count in game 2.",
			"I was offline from Mon 2 Nov 12:00 UTC to Mon 2 Nov 14:01 UTC. That time does not count in game 3.",
		}, said); diff != "" {
			t.Errorf("the bot says (−want +got):\n%s", diff)
		}
	})
}
