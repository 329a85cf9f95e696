package matrix

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store/storetest"
)

const releases = "../../bot/store/testdata/release/"

// The first release was killed in the middle of two games. A move of game 1, whose
// room was upgraded, is stored and not shown. Of game 2 the words of a move came
// without their picture, the root does not show the move, and reactions are missing.
// Two minutes later all that comes, once, and the games go on. So it is when all had
// been sent, but the answers had not come.
func TestFirstRelease(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"matrix": false, "encrypted": true} {
		for _, world := range []string{"", "-sent"} {
			t.Run(name+world, func(t *testing.T) {
				inMemory(t, func(t *testing.T, s *matrixtest.Server) { testFirstRelease(t, s, releases+name, world, encrypted) })
			})
		}
	}
}

func testFirstRelease(t *testing.T, s *matrixtest.Server, files, world string, encrypted bool) {
	c := newClub(t, s)
	killed := s.Restore(t, unzipped(t, files+world+".json.gz"))
	s.ForgetTransactions()
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
	got := storetest.Tells(t, storetest.Unpack(t, files+".db.gz"), killed, outbox.User{Platform: Name, ID: id.NewUserID("anna", matrixtest.Name).String(), Name: "Anna"},
		match.Room{Platform: Name, Channel: before.String()}, "/games", "/board game:1", "/sgf game:1", "/board game:2", "/sgf game:2")
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
	readable := world == "" || !encrypted // nobody can read any more what was encrypted for them before
	if readable {
		anna.seesIn(first, "Black D3")
	} else {
		time.Sleep(time.Minute)
	}
	c.settled()
	if readable {
		r.newestSays("* Game 1:", "Move 3: Black D3")
		r.newestSays("* Game 2:", "Move 2: White D4")
	}
	pictures := map[string]int{"game-1-6.png": 1, "game-2-5.png": 1}
	if !readable {
		pictures = map[string]int{"game-1-6.png": 0, "game-2-5.png": 0}
	}
	r.pictures(first, killed, pictures)
	v := anna.View(at)
	for root, want := range map[id.EventID]string{first: "⏭️ ↩️ 🧮", second: "✋ ⏭️ 🔘 ↩️ 🧮"} {
		var keys []string
		for _, e := range v.Events {
			if relates, _ := e.Content["m.relates_to"].(map[string]any); e.Type == "m.reaction" && relates["event_id"] == root.String() {
				keys = append(keys, fmt.Sprint(relates["key"]))
			}
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("the reactions below a root are %s, not %s", got, want)
		}
	}

	bob.says(first, "!place B4")
	anna.seesIn(first, "4. White B4")
	anna.says(second, "!button")
	bob.seesIn(second, "3. Black plays the button")
	if encrypted { // where reactions are no turns
		bob.says(second, "!pass")
	} else {
		bob.Reacts(at, second, "⏭️")
	}
	anna.seesIn(second, "4. White passes")
	c.settled()
	r.newestSays("* Game 1:", "Move 4: White B4")
	r.newestSays("* Game 2:", "Move 4: White passes")
	for _, name := range []string{"game-1-7.png", "game-2-6.png", "game-2-7.png"} {
		pictures[name] = 1
	}
	r.pictures(first, killed, pictures)
	marks, moves := map[string]bool{}, map[string]int{}
	for _, m := range anna.heard() {
		mark, _ := m[marker].(string)
		if world != "" && m["m.new_content"] != nil {
			continue // an edit that comes before its post was settled is made again, and changes nothing
		}
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

// pictures looks whether each of these pictures of boards is so many times in the
// threads of the two games, and looks at those that came after the kill.
func (r *pair) pictures(first id.EventID, killed time.Time, want map[string]int) {
	anna := r.people[0]
	anna.c.Helper()
	sent := map[string]time.Time{}
	for _, e := range anna.View(r.at).Events {
		sent[e.ID.String()] = time.UnixMilli(e.Time)
	}
	got := map[string]int{}
	for name := range want {
		got[name] = 0
	}
	for _, m := range anna.heard() {
		name, _ := m["filename"].(string)
		if _, asked := want[name]; asked && m["thread"] != nil && (m["thread"] == first.String()) == strings.HasPrefix(name, "game-1-") {
			got[name]++
			if sent[fmt.Sprint(m["id"])].After(killed.Add(90 * time.Second)) {
				anna.looks(m)
			}
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		anna.c.Errorf("pictures (−want +got):\n%s", diff)
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
