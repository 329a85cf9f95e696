package discordtest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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
	t     testing.TB
	s     *Server
	lines chan Seen

	mu   sync.Mutex
	seen []Seen
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
	folder := install(t)
	script, err := scripts.ReadFile("js/stranger.js")
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(t.TempDir(), "stranger.js")
	if err := os.WriteFile(main, script, 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("node", main, role)
	command.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(folder, "node_modules"), "DISCORDTEST_API="+s.API(), "DISCORDTEST_TOKEN="+s.Token(), "NODE_ENV=production")
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
	w := &Stranger{t: t, s: s, lines: make(chan Seen, 100_000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(w.lines)
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
		seen := Seen{what, data}
		w.mu.Lock()
		w.seen = append(w.seen, seen)
		w.mu.Unlock()
		w.lines <- seen
	}
}

// Next waits for the next thing of that kind and is what came with it; what
// comes before it is passed over. The test fails when it does not come, or when
// discord.js says an error.
func (w *Stranger) Next(what string) map[string]any {
	w.t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case seen, open := <-w.lines:
			if !open {
				w.t.Fatalf("discord.js has ended before %q", what)
			}
			if seen.What == what {
				return seen.Data
			}
			if seen.What == "error" {
				w.t.Fatalf("discord.js says %v", seen.Data)
			}
		case <-late:
			w.t.Fatalf("discord.js saw no %q but %v", what, w.Seen())
		}
	}
}

// Seen is everything that discord.js saw so far.
func (w *Stranger) Seen() []Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Seen(nil), w.seen...)
}

// Disagreements are the messages of the channels that discord.js sees otherwise
// than the double does: another text, other files, alt texts or controls, or
// not at all. It waits a while for discord.js to catch up.
func (w *Stranger) Disagreements(channels ...*Channel) []string {
	late := time.Now().Add(w.s.o.Patience)
	for {
		list := w.disagreements(channels)
		if len(list) == 0 || time.Now().After(late) {
			return list
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *Stranger) disagreements(channels []*Channel) (list []string) {
	last := map[string]map[string]any{}
	for _, seen := range w.Seen() {
		id, _ := seen.Data["id"].(string)
		switch seen.What {
		case "message", "update":
			last[id] = seen.Data
		case "delete":
			delete(last, id)
		}
	}
	for _, c := range channels {
		for _, m := range c.Messages() {
			theirs := last[m.ID]
			delete(last, m.ID)
			if theirs == nil {
				list = append(list, fmt.Sprintf("it has not seen %q", m.Content))
				continue
			}
			var files, controls []string
			for _, f := range m.Attachments {
				files = append(files, f.Name+": "+f.Alt)
			}
			for _, k := range m.Controls {
				controls = append(controls, k.CustomID)
			}
			var sawFiles, sawControls []string
			for _, f := range asList(theirs["files"]) {
				f := f.(object)
				sawFiles = append(sawFiles, text(f["name"])+": "+text(f["alt"]))
			}
			for _, k := range asList(theirs["controls"]) {
				sawControls = append(sawControls, text(k))
			}
			if theirs["content"] != m.Content || !slices.Equal(files, sawFiles) || !slices.Equal(controls, sawControls) {
				list = append(list, fmt.Sprintf("it sees %v, not %q with files %q and controls %q", theirs, m.Content, files, controls))
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

// install is the folder with the modules of stranger.js, kept from run to run
// under the name of their lock file.
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
	files := map[string][]byte{}
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := scripts.ReadFile("js/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
		sum.Write(data)
	}
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("discordtest-%d-%s", os.Getuid(), hex.EncodeToString(sum.Sum(nil)[:8])))
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	fresh, err := os.MkdirTemp("", "discordtest-new-")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(fresh, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = fresh
	npm.WaitDelay = time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		os.RemoveAll(fresh)
		tier.Missing(t, fmt.Sprintf("npm could not install discord.js: %v\n%s", err, out))
	}
	if err := os.Rename(fresh, folder); err != nil {
		os.RemoveAll(fresh)
		if _, err := os.Stat(folder); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
