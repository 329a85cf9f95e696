package matrix

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store/storetest"
)

const releases = "../../bot/store/testdata/release/"

// The first release was killed in the middle of two games. A move of game 1, whose
// room was upgraded, is stored and not shown. Of game 2 the words of a move came
// without their picture, the root does not show the move, and reactions are missing.
// Two minutes later all that comes, once, and the games go on.
func TestFirstRelease(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"matrix": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) { testFirstRelease(t, s, releases+name, encrypted) })
		})
	}
}

func testFirstRelease(t *testing.T, s *matrixtest.Server, files string, encrypted bool) {
	c := newClub(t, s)
	killed := s.Restore(t, unzipped(t, files+".json.gz"))
	time.Sleep(time.Until(killed))
	told, err := os.ReadFile(files + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	ids, want, _ := strings.Cut(string(told), "\n")
	ids = strings.NewReplacer(",", "", ";", "").Replace(ids)
	var at, before id.RoomID
	var first, firstBefore, second id.EventID
	if _, err := fmt.Sscanf(ids, "room %s before %s game 1 %s before %s game 2 %s", &at, &before, &first, &firstBefore, &second); err != nil {
		t.Fatal(err)
	}
	got := storetest.Tells(t, storetest.Unpack(t, files+".db.gz"), killed, bot.Who{Platform: Name, ID: id.NewUserID("anna", matrixtest.Name).String(), Name: "Anna"},
		bot.Room{Platform: Name, Channel: before.String()}, "/games", "/board game:1", "/sgf game:1", "/board game:2", "/sgf game:2")
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("the games are others (−release +now):\n%s", diff)
	}

	time.Sleep(2 * time.Minute)
	c.file = storetest.Unpack(t, files+".db.gz")
	r := &pair{at: at}
	for i, name := range []string{"anna", "bob"} {
		user := s.Returning(t, id.NewUserID(name, matrixtest.Name))
		r.people[i] = &talker{Player: s.NewPlayer(t, s.URL, user), c: c, r: r}
		if encrypted {
			r.people[i].dev = c.secretly(user)
		}
	}
	anna, bob := r.people[0], r.people[1]
	c.start()
	anna.seesIn(first, "move 3: Black D3")
	c.settled()
	r.newestSays("* Game 1:", "Move 3: Black D3")
	r.newestSays("* Game 2:", "Move 2: White D4")
	shown := []string{"game-1-6.png", "game-2-5.png"}
	r.pictures(first, shown...)
	v := anna.View(at)
	for root, want := range map[id.EventID]string{first: "⏭️1 ↩️1 🧮1", second: "✋1 ⏭️1 🔘1 ↩️1 🧮1"} {
		var keys []string
		for _, r := range v.Message(root).Reactions {
			keys = append(keys, fmt.Sprint(r.Key, len(r.By)))
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("the reactions below a root are %s, not %s", got, want)
		}
	}

	bob.says(first, "!place B4")
	anna.seesIn(first, "Game 1, move 4: White B4")
	anna.says(second, "!button")
	bob.seesIn(second, "Game 2, move 3: Black plays the button")
	bob.Reacts(at, second, "⏭️")
	anna.seesIn(second, "Game 2, move 4: White passes")
	c.settled()
	r.newestSays("* Game 1:", "Move 4: White B4")
	r.newestSays("* Game 2:", "Move 4: White passes")
	r.pictures(first, append(shown, "game-1-7.png", "game-2-6.png", "game-2-7.png")...)
	marks, moves := map[string]bool{}, map[string]int{}
	for _, m := range anna.heard() {
		mark, _ := m[marker].(string)
		if mark == "" || marks[mark] {
			t.Errorf("said twice: %v", m["body"])
		}
		marks[mark] = true
		if line, _, _ := strings.Cut(fmt.Sprint(m["body"]), "."); strings.Contains(line, ", move ") {
			moves[line]++
		}
	}
	for move, n := range moves {
		if n != 1 {
			t.Errorf("%s: said %d times", move, n)
		}
	}
}

// newestSays looks whether the newest edit that begins so says something.
func (r *pair) newestSays(begins, says string) {
	anna := r.people[0]
	anna.c.Helper()
	newest := ""
	for _, m := range anna.heard() {
		if body := fmt.Sprint(m["body"]); strings.HasPrefix(body, begins) {
			newest = body
		}
	}
	if !strings.Contains(newest, says) {
		anna.c.Errorf("no %q in %q", says, newest)
	}
}

// pictures looks whether these pictures of boards are in the threads of the two
// games, once each, besides those that the release sent, and looks at them.
func (r *pair) pictures(first id.EventID, want ...string) {
	anna := r.people[0]
	anna.c.Helper()
	n := map[string]int{}
	for _, m := range anna.heard() {
		name, _ := m["filename"].(string)
		if slices.Contains(want, name) && (m["thread"] == first.String()) == strings.HasPrefix(name, "game-1-") && m["thread"] != nil {
			n[name]++
			anna.looks(m)
		}
	}
	for _, name := range want {
		if n[name] != 1 {
			anna.c.Errorf("%s is there %d times", name, n[name])
		}
	}
}

func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
