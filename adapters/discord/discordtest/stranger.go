package discordtest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

//go:embed js/package.json js/package-lock.json js/stranger.js
var scripts embed.FS

// A Stranger is discord.js, a client that nobody here wrote, logged into the
// double.
type Stranger struct {
	t testing.TB
	s *Server

	mu      sync.Mutex
	changed *sync.Cond // seen or ended
	seen    []Seen
	passed  int // of seen, by Next
	ended   bool
}

// Seen is one thing that discord.js saw: What is "ready", "message", "update",
// "delete", "thread", "resumed", "error", …, and Data what came with it.
type Seen struct {
	What string
	Data map[string]any
}

// Watch starts discord.js as an onlooker with every message intent, which
// reads along and answers nobody. MESSAGE_CONTENT must be in
// Options.Privileged (1<<15). It has its own session on shard 0, so a bot that
// identifies within the identify window of it is told to wait, as at Discord.
// Without Node 20 and npm see tier.Missing.
func Watch(t testing.TB, s *Server) *Stranger { return stranger(t, s, "watch") }

// stranger runs js/stranger.js until the test ends.
func stranger(t testing.TB, s *Server, role string) *Stranger {
	t.Helper()
	command := exec.Command("node", filepath.Join(install(t), "js", "stranger.js"), role)
	command.Env = append(os.Environ(), "DISCORDTEST_API="+s.API(), "DISCORDTEST_TOKEN="+s.Token(), "NODE_ENV=production")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	w := &Stranger{t: t, s: s}
	w.changed = sync.NewCond(&w.mu)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.read(out)
	}()
	t.Cleanup(func() {
		in.Close()
		kill := time.AfterFunc(5*time.Second, func() { command.Process.Kill() })
		<-done
		command.Wait()
		kill.Stop()
	})
	return w
}

func (w *Stranger) read(out io.Reader) {
	scan := bufio.NewScanner(out)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var data map[string]any
		if err := json.Unmarshal(scan.Bytes(), &data); err != nil {
			data = map[string]any{"what": "error", "text": scan.Text()}
		}
		what, _ := data["what"].(string)
		w.locked(func() { w.seen = append(w.seen, Seen{what, data}) })
	}
	w.locked(func() { w.ended = true })
}

// locked runs do with the lock held, and wakes who waits for what it does.
func (w *Stranger) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	w.changed.Broadcast()
}

// await waits, with the lock held, until something holds of what discord.js saw, and
// reports false if it never does.
func (w *Stranger) await(so func() bool) bool {
	late := false
	timer := time.AfterFunc(max(w.s.o.Patience, tier.Patience(w.t)), func() { w.locked(func() { late = true }) })
	defer timer.Stop()
	for !so() {
		if late || w.ended {
			return false
		}
		w.changed.Wait()
	}
	return true
}

// Next waits for the next thing of that kind and returns what came with it; what
// comes before it is passed over. The test fails when it does not come, or when
// discord.js says an error.
func (w *Stranger) Next(what string) (data map[string]any) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var problem map[string]any
	found := w.await(func() bool {
		for ; w.passed < len(w.seen); w.passed++ {
			switch seen := w.seen[w.passed]; seen.What {
			case what:
				w.passed++
				data = seen.Data
				return true
			case "error":
				problem = seen.Data
				return true
			}
		}
		return false
	})
	if problem != nil {
		w.t.Fatalf("discord.js says %v", problem)
	}
	if !found {
		w.t.Fatalf("discord.js saw no %q but %v", what, w.seen)
	}
	return data
}

// Await waits until discord.js shows a message like that in a channel, and returns the
// newest: its "id", "content", "files", "controls" and what else js/stranger.js says of
// it. The test fails when there is none.
func (w *Stranger) Await(c *Channel, what string, so func(content string, files []string) bool) (found map[string]any) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.await(func() bool {
		shown := w.shown()
		for _, id := range slices.SortedFunc(maps.Keys(shown), compareIDs) {
			var files []string
			for _, f := range asList(shown[id]["files"]) {
				files = append(files, text(f.(object)["name"]))
			}
			if shown[id]["channel"] == c.ID() && so(text(shown[id]["content"]), files) {
				found = shown[id]
			}
		}
		return found != nil
	}) {
		w.t.Fatalf("discord.js shows no %s in %s", what, c.ID())
	}
	return found
}

// Seen returns everything that discord.js saw so far.
func (w *Stranger) Seen() []Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// Disagreements returns the messages of the channels that discord.js sees otherwise
// than the double does: another text, other files, alt texts or controls, or
// not at all. It waits a while for discord.js to catch up.
func (w *Stranger) Disagreements(channels ...*Channel) (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.await(func() bool {
		list = w.disagreements(channels)
		return len(list) == 0
	})
	return list
}

// shown returns each message as discord.js saw it last, by id.
func (w *Stranger) shown() map[string]map[string]any {
	last := map[string]map[string]any{}
	for _, seen := range w.seen {
		id, _ := seen.Data["id"].(string)
		switch seen.What {
		case "message", "update":
			last[id] = seen.Data
		case "delete":
			delete(last, id)
		}
	}
	return last
}

func (w *Stranger) disagreements(channels []*Channel) (list []string) {
	last := w.shown()
	for _, c := range channels {
		for _, m := range c.Messages() {
			theirs := last[m.ID]
			delete(last, m.ID)
			if theirs == nil {
				list = append(list, fmt.Sprintf("it has not seen %q", m.Content))
				continue
			}
			var files, controls, sawFiles []string
			for _, f := range m.Attachments {
				files = append(files, f.Name+": "+f.Alt)
			}
			for _, k := range m.Controls {
				controls = append(controls, k.CustomID)
			}
			for _, f := range asList(theirs["files"]) {
				sawFiles = append(sawFiles, text(f.(object)["name"])+": "+text(f.(object)["alt"]))
			}
			ours, saw := fmt.Sprintf("%q %q %q", m.Content, files, controls), fmt.Sprintf("%q %q %q", theirs["content"], sawFiles, theirs["controls"])
			if ours != saw {
				list = append(list, "it sees "+saw+", not "+ours)
			}
		}
		for id, theirs := range last {
			if theirs["channel"] == c.ID() {
				list = append(list, fmt.Sprintf("it sees message %s, which is not there: %v", id, theirs))
			}
		}
	}
	return list
}

var installing sync.Mutex

// install returns the folder with stranger.js and its modules, kept from run to run
// under a name that tells what is in it.
func install(t testing.TB) string {
	t.Helper()
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		tier.Missing(t, "discord.js needs node, which is not here")
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(version)), "v"), ".")
	if n, _ := strconv.Atoi(major); n < 20 {
		tier.Missing(t, "discord.js needs node 20; here is "+strings.TrimSpace(string(version)))
	}
	if _, err := exec.LookPath("npm"); err != nil {
		tier.Missing(t, "discord.js needs npm, which is not here")
	}
	installing.Lock()
	defer installing.Unlock()
	sum := sha256.New()
	files, err := fs.Glob(scripts, "js/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := scripts.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(data)
	}
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("discordtest-%d-%x", os.Getuid(), sum.Sum(nil)[:8]))
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	fresh, err := os.MkdirTemp("", "discordtest-new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh) // unless it was renamed
	if err := os.CopyFS(fresh, scripts); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = filepath.Join(fresh, "js")
	npm.WaitDelay = time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		tier.Missing(t, fmt.Sprintf("npm could not install discord.js: %v\n%s", err, out))
	}
	if err := os.Rename(fresh, folder); err != nil {
		if _, err := os.Stat(folder); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
