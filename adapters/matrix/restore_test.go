//go:build goolm

package matrix

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// copies makes a copy of the database while the bot runs, as its owner does.
func (c *club) copies() (copied string) {
	c.Helper()
	copied = filepath.Join(c.TempDir(), "halfpoint.db.backup")
	if _, err := store.Backup(c.Context(), c.file, copied, time.Now(), nil); err != nil {
		c.Fatal(err)
	}
	return copied
}

// restores puts a copy in the place of the database of a bot that is stopped.
func (c *club) restores(copied string) {
	c.Helper()
	data, err := os.ReadFile(copied)
	if err != nil {
		c.Fatal(err)
	}
	for _, name := range []string{c.file + "-wal", c.file + "-shm"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			c.Fatal(err)
		}
	}
	if err := os.WriteFile(c.file, data, 0o600); err != nil {
		c.Fatal(err)
	}
}

// tries starts the bot while nothing reaches the homeserver, and stops it after a while.
func (c *club) tries(d time.Duration) {
	c.Helper()
	dial := c.cfg.Dial
	c.cfg.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("network is down") }
	c.open()
	c.cfg.Dial = dial
	ctx, cancel := context.WithTimeout(c.Context(), d)
	defer cancel()
	if err := bot.New(c.store, bot.Config{Log: c.cfg.Log, Now: c.now}).Run(ctx, c.a); err != nil {
		c.Error(err)
	}
	if err := c.closed(); err != nil {
		c.Error(err)
	}
}

// board waits for a board, and gives it in letters.
func (p *talker) board(thread id.EventID, what string) string {
	p.c.Helper()
	e := p.seesIn(thread, what)
	for _, m := range p.heard() {
		if m["id"] == e.String() {
			return fmt.Sprint(m["body"])
		}
	}
	return ""
}

// A database is restored that is four moves old, and of before another game was opened. The
// bot reads again what was said since, though the room is encrypted and its device lost,
// plays it, and shows nothing twice.
func TestRestoredDatabase(t *testing.T) {
	for name, encrypted := range map[string]bool{"encrypted": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) { restoring(t, s, encrypted) })
		})
		t.Run(name+" on Dendrite", func(t *testing.T) {
			tier.Change(t)
			t.Parallel()
			restoring(t, matrixtest.Shared(t), encrypted)
		})
	}
}

func restoring(t *testing.T, s *matrixtest.Server, encrypted bool) {
	c := lively(t, s)
	c.start()
	r := c.talkers(encrypted)
	r.gathers()
	people, colors := r.people, []string{"Black ", "White "}
	anna, bob := people[0], people[1]
	begins := func(number, options string) (root id.EventID, play func(turn int, moves ...string)) {
		anna.says("", "!new 5x5 color:black "+options)
		root = anna.sees("opens game " + number)
		bob.says(root, "!join")
		anna.seesIn(root, " to play")
		return root, func(turn int, moves ...string) {
			t.Helper()
			for _, move := range moves {
				by := (turn + 1) % 2
				people[by].says(root, "!place "+move)
				people[by].seesIn(root, fmt.Sprintf("%d. %s%s", turn, colors[by], move))
				turn++
			}
		}
	}
	first, play := begins("1", "clock:1d")
	play(1, "B2", "D4")
	quiet, _ := begins("2", "clock:1d") // in which nothing is played after the copy
	c.settled()
	copied := c.copies()
	play(3, "B3", "D3", "B4", "D2")
	second, playOther := begins("3", "")
	bob.says(quiet, "I am thinking.")
	playOther(1, "C3", "C4")
	bob.says(second, "!place A1") // though it is Black to play
	anna.sees("not your turn")
	if s.Virtual() {
		time.Sleep(time.Hour)
	}
	c.settled()
	c.halt()

	c.restores(copied)
	if s.Virtual() {
		c.tries(20 * time.Minute)
	}
	c.start()
	began := time.Now()
	says := "Restored from a copy of "
	if s.Virtual() {
		says += "Mon 2 Nov 12:00 UTC. "
	}
	for thread, stands := range map[id.EventID]string{first: "Game 1 stands at move 6.", second: "Game 3 stands at move 2."} {
		if read := anna.board(thread, stands); !strings.HasPrefix(read, says) {
			t.Errorf("it says %q", read)
		}
	}
	if took := time.Since(began); s.Virtual() && took > 10*time.Second {
		t.Errorf("it took %v to read again what was said", took)
	}
	c.settled()
	anna.says(first, "!place B5")
	shows := anna.board(first, "7. Black B5")
	for _, row := range []string{"5 . X . . .", "4 . X . O .", "3 . X . O .", "2 . X . O .", "1 . . . . ."} {
		if !strings.Contains(shows, row) {
			t.Errorf("turns are lost:\n%s", shows)
			break
		}
	}
	anna.says(second, "!place C2")
	if shows := anna.board(second, "3. Black C2"); !strings.Contains(shows, "4 . . O . .") {
		t.Errorf("turns are lost:\n%s", shows)
	}
	c.settled()
	shown := map[string]int{}
	for _, m := range anna.heard() {
		body := fmt.Sprint(m["body"])
		turn, _, _ := strings.Cut(body, " · ")
		switch {
		case m["msgtype"] == "m.image":
			shown[fmt.Sprint(m["thread"], " ", turn)]++
		case strings.Contains(body, " opens game "), strings.Contains(body, " begins:"), strings.Contains(body, "not your turn"), strings.HasPrefix(body, says):
			shown[body]++
		}
		if fmt.Sprint(m["thread"]) == quiet.String() && strings.HasPrefix(body, says) {
			t.Errorf("game 2 did not go back: %s", body)
		}
	}
	for what, times := range shown {
		if times != 1 {
			t.Errorf("%s is shown %d times", what, times)
		}
	}
}
