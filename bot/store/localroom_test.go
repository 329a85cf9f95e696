package store_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/adapters/web"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// The cost of a turn in the local room, from the request to the settled board; see
// TestStatementsOfATurn. Of the pages that it writes to the log some are full now and
// then, and parted. In both commits one is that of the counter of messages.
const (
	statementsInTheRoom = 15
	commitsInTheRoom    = 2
	pagesInTheRoom      = 18.5 // on average

	pageSize, logHeader, frameHeader = 2048, 32, 24
)

// What is typed is stored with the turn, and its board with the note that it was
// shown. The board follows the line, and nothing is said twice, though the page asks
// again, or the process dies in between. What is refused nobody else sees.
func TestTurnInTheLocalRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran statements
		defer store.OnStatement(ran.add)()
		file := filepath.Join(t.TempDir(), "halfpoint.db")
		r := openLocalRoom(t, file)
		r.ask(1, "black", "/new two-button 19x19")
		size, turns := 0, 40
		want := []string{"/new two-button 19x19", "Game 1 begins", "@Black to play"}
		for turn := range turns {
			ran.clear()
			before, commits := written(t, file)
			line := fmt.Sprintf("/place %c%d", "ABCDEFGHJKLMNOPQRST"[turn%19], turn/19*4+3)
			r.ask(turn+2, []string{"black", "white"}[turn%2], line)
			want = append(want, line, fmt.Sprintf("%d. ", turn+1))
			all := ran.clear()
			after, n := written(t, file)
			size += after - before
			if turn > 1 && (len(all) != statementsInTheRoom || n-commits != commitsInTheRoom) {
				t.Fatalf("turn %d: %d statements, want %d; %d commits, want %d:\n%s", turn, len(all), statementsInTheRoom,
					n-commits, commitsInTheRoom, strings.Join(all, "\n"))
			}
		}
		if got := float64(size) / float64(turns*(pageSize+frameHeader)); got > pagesInTheRoom {
			t.Errorf("a turn writes %.2f pages, want at most %.2f", got, pagesInTheRoom)
		}
		r.ask(41, "white", "/place A7") // again
		if a := r.answer(42, "black", "/place A3"); !strings.Contains(a, "already a stone") {
			t.Errorf("what is refused is answered with %s", a)
		}
		r.dead.Store(true)
		r.ask(50, "black", "/place T19")
		want = append(want, "/place T19")
		r.said(want)
		r.stop()

		r = openLocalRoom(t, file)
		r.ask(50, "black", "/place T19")
		want = append(want, "41. ")
		r.said(want)
		r.stop()
	})
}

// A localRoom is a local room in memory on a database, until stop is called.
type localRoom struct {
	t      *testing.T
	store  *store.Store
	dead   atomic.Bool // nothing that was shown is stored to be so
	client *http.Client
	stop   func()
}

func openLocalRoom(t *testing.T, file string) *localRoom {
	s, err := store.Open(t.Context(), file)
	must(t, err)
	r := &localRoom{t: t, store: s}
	log := slog.New(slog.DiscardHandler)
	var network memnet.Network
	ready := make(chan string, 1)
	room := web.New(web.Config{Log: s, Person: 1e6, Channel: 1e6, Ready: func(url string) { ready <- url },
		Open: func(string, string) (net.Listener, error) { return network.Listen("127.0.0.1:8080") }})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- bot.New(dying{s, &r.dead}, bot.Config{Log: log}).Run(ctx, room) }()
	<-ready
	transport := &http.Transport{DialContext: network.DialContext}
	r.client = &http.Client{Transport: transport}
	r.stop = sync.OnceFunc(func() {
		transport.CloseIdleConnections()
		stop()
		must(t, <-done)
		must(t, s.Close())
	})
	t.Cleanup(r.stop)
	synctest.Wait()
	return r
}

// ask types a line in a seat, as the nth submission.
func (r *localRoom) ask(n int, seat, line string) {
	r.t.Helper()
	if answer := r.answer(n, seat, line); strings.Contains(answer, `"private":true`) {
		r.t.Fatalf("%s: %s", line, answer)
	}
}

// answer types a line, and returns what its page alone is told.
func (r *localRoom) answer(n int, seat, line string) string {
	r.t.Helper()
	body, _ := json.Marshal(map[string]string{"id": fmt.Sprintf("%08x-0000-4000-8000-000000000000", uint32(n)*2654435761), "seat": seat, "text": line})
	req, err := http.NewRequestWithContext(r.t.Context(), "POST", "http://127.0.0.1:8080/ask", strings.NewReader(string(body)))
	must(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", "http://127.0.0.1:8080")
	resp, err := r.client.Do(req)
	must(r.t, err)
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %s: %s", line, resp.Status, answer)
	}
	synctest.Wait()
	return string(answer)
}

// said checks what the transcript holds: how each message begins.
func (r *localRoom) said(want []string) {
	r.t.Helper()
	ms, err := r.store.Since(r.t.Context(), "local", 0, 1000)
	must(r.t, err)
	for i, m := range ms {
		who, err := r.store.People(r.t.Context(), m.People())
		must(r.t, err)
		m.Text = bot.Fill(bot.Line(m, who), bot.Format{})
		if i >= len(want) || !strings.HasPrefix(m.Text, want[i]) {
			r.t.Fatalf("message %d is %q; want %q…", i, m.Text, want[min(i, len(want)-1):])
		}
	}
	if len(ms) != len(want) {
		r.t.Fatalf("%d messages, want %d", len(ms), len(want))
	}
}

// dying is a store that at some moment stores no longer that anything was shown.
type dying struct {
	*store.Store
	dead *atomic.Bool
}

func (d dying) Settle(ctx context.Context, post string, r outbox.Receipt, m *outbox.Message, c outbox.Decorations, next *match.OutboxPost) error {
	if d.dead.Load() {
		return errors.New("the process has died")
	}
	return d.Store.Settle(ctx, post, r, m, c, next)
}

// written returns how many bytes the write-ahead log of a database holds, and how
// many commits.
func written(t *testing.T, file string) (size, commits int) {
	data, err := os.ReadFile(file + "-wal")
	must(t, err)
	for at := logHeader; at+frameHeader+pageSize <= len(data); at += frameHeader + pageSize {
		if salt := data[16:24]; string(data[at+8:at+16]) != string(salt) {
			break // of an older log
		}
		size += frameHeader + pageSize
		if binary.BigEndian.Uint32(data[at+4:]) > 0 { // the size of the database after it
			commits++
		}
	}
	return size, commits
}
