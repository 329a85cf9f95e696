package matrixtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
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

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

//go:embed js/package.json js/package-lock.json js/script.mjs py/script.py
var scripts embed.FS

// A Stranger is a person with a client that nobody here wrote, and its own device:
// matrix-js-sdk, whose cryptography is Rust and another than ours, or matrix-nio,
// whose cryptography is libolm. What a Stranger does is done when the call returns,
// and fails the test when it is refused. The methods may be called by several
// goroutines.
type Stranger struct {
	User           // Token is empty: the script keeps it
	Library string // "matrix-js-sdk" or "matrix-nio"

	t     testing.TB
	in    io.WriteCloser
	files string

	mu      watched
	answers map[int]map[string]json.RawMessage
	asked   int
	ended   bool
	errors  []string
	order   []id.EventID
	sights  map[id.EventID]Sight
	member  map[id.RoomID]string
}

// A Sight is an event as the library shows it. matrix-nio knows nothing of signatures
// by owners and of shields, and does not say what is in the clear.
type Sight struct {
	ID       id.EventID     `json:"id"`
	Room     id.RoomID      `json:"room"`
	Sender   id.UserID      `json:"sender"`
	Type     string         `json:"type"` // decrypted
	StateKey *string        `json:"stateKey"`
	Content  map[string]any `json:"content"` // decrypted, of the latest edit

	Key    string     `json:"key"`    // of a reaction
	Thread id.EventID `json:"thread"` // the thread's root, "" for the root itself

	Encrypted bool     `json:"encrypted"` // on its way
	Failure   string   `json:"failure"`   // why it cannot be decrypted, "" when it can
	Clear     []string `json:"clear"`     // the keys of the content that the homeserver sees

	Device        id.DeviceID `json:"device"` // that has encrypted it
	SignedByOwner bool        `json:"signedByOwner"`
	Shield        string      `json:"shield"` // none, grey or red; "" when it is not encrypted
	ShieldReason  string      `json:"shieldReason"`

	Media *Media `json:"media"`
}

// Media is what was downloaded for a picture or another file.
type Media struct {
	Encrypted bool   `json:"encrypted"`
	Error     string `json:"error"` // why it cannot be had, "" when it can
	SHA256    string `json:"sha256"`
}

// Body is the text of a message.
func (s Sight) Body() string { return text(s.Content["body"]) }

// Kind is a message's type: m.text, m.notice, m.image.
func (s Sight) Kind() string { return text(s.Content["msgtype"]) }

// Stranger registers somebody who comes with matrix-js-sdk. The test is skipped
// without Node 20 and npm, and fails instead when CI is set.
func (s *Server) Stranger(t testing.TB, name string) *Stranger {
	t.Helper()
	installScripts(t)
	return NewStranger(t, s.URL, s.Register(t, name))
}

// NewStranger is a Stranger for an account that is there, at an address that
// may be a Proxy's. It resets the account's cross-signing.
func NewStranger(t testing.TB, url string, user User) *Stranger {
	t.Helper()
	return newStranger(t, url, user, true)
}

func newStranger(t testing.TB, url string, user User, signed bool) *Stranger {
	t.Helper()
	modules := installScripts(t)
	folder := t.TempDir()
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return runStranger(t, "matrix-js-sdk", url, user, exec.Command("node", writeScript(t, folder, "js/script.mjs")), signed)
}

// NewNio is a Stranger with matrix-nio for an account that is there. It needs Debian's
// python3-matrix-nio and python3-olm, and signs nothing. The test is skipped without
// them, and fails instead when CI is set.
func NewNio(t testing.TB, url string, user User) *Stranger {
	t.Helper()
	if err := nio(); err != nil {
		tier.Missing(t, "there is no matrix-nio: "+err.Error())
	}
	return runStranger(t, "matrix-nio", url, user, exec.Command(python, "-B", writeScript(t, t.TempDir(), "py/script.py")), false)
}

// python is Debian's: what comes first on PATH may be another, which does not see
// Debian's packages.
const python = "/usr/bin/python3"

var nio = sync.OnceValue(func() error {
	if out, err := exec.Command(python, "-c", "import nio, olm").CombinedOutput(); err != nil {
		return fmt.Errorf("%w %s", err, out)
	}
	return nil
})

// writeScript puts a script into a folder.
func writeScript(t testing.TB, folder, name string) string {
	t.Helper()
	script, err := scripts.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, filepath.Base(name))
	if err := os.WriteFile(path, script, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// runStranger runs a script until the test ends.
func runStranger(t testing.TB, library, url string, user User, command *exec.Cmd, signed bool) *Stranger {
	t.Helper()
	w := &Stranger{User: user, Library: library, t: t, files: t.TempDir(), answers: map[int]map[string]json.RawMessage{}, sights: map[id.EventID]Sight{}, member: map[id.RoomID]string{}}
	w.Token, w.Device = "", ""
	command.Env = append(os.Environ(), "MATRIXTEST_URL="+url, "MATRIXTEST_USER="+user.ID.String(), "MATRIXTEST_PASSWORD="+user.Password, "MATRIXTEST_FILES="+w.files, "NODE_ENV=production")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = log
	out, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout = writer
	if w.in, err = command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p, err := start(command)
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.read(out)
	}()
	t.Cleanup(func() {
		w.in.Close()
		select {
		case <-p.done:
		case <-time.After(10 * time.Second):
			p.kill()
		}
		<-done
		out.Close()
		log.Close()
		if t.Failed() {
			data, _ := os.ReadFile(log.Name())
			lines := strings.SplitAfter(string(data), "\n")
			text := strings.Join(slices.DeleteFunc(lines, isSyncing), "")
			t.Logf("the log of %s, %s, without its long polls, ends with:\n%s", user.ID, library, text[max(0, len(text)-10_000):])
		}
	})
	answer := w.do("start", map[string]any{"unsigned": !signed})
	if err := json.Unmarshal(answer["device"], &w.Device); err != nil {
		t.Fatal(err)
	}
	return w
}

// isSyncing reports whether a line of a log only says that matrix-js-sdk asks for news: while
// a test waits in vain that would be all there is.
func isSyncing(line string) bool {
	return strings.Contains(line, "/v3/sync?") || strings.Contains(line, "receiveSyncChanges took")
}

func (w *Stranger) read(out io.Reader) {
	scan := bufio.NewScanner(out)
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		line := map[string]json.RawMessage{}
		if err := json.Unmarshal(scan.Bytes(), &line); err != nil {
			line = map[string]json.RawMessage{"error": must(json.Marshal(scan.Text()))}
		}
		w.mu.Lock()
		w.take(line)
		w.mu.tell()
		w.mu.Unlock()
	}
	w.mu.Lock()
	w.ended = true
	w.mu.tell()
	w.mu.Unlock()
}

func (w *Stranger) take(line map[string]json.RawMessage) {
	var what, room, membership, problem string
	var answer int
	json.Unmarshal(line["what"], &what)
	switch {
	case json.Unmarshal(line["answer"], &answer) == nil:
		w.answers[answer] = line
	case what == "event":
		var s Sight
		if err := json.Unmarshal(line["event"], &s); err != nil {
			w.errors = append(w.errors, err.Error())
			return
		}
		if _, known := w.sights[s.ID]; !known {
			w.order = append(w.order, s.ID)
		}
		w.sights[s.ID] = s
	case what == "membership":
		json.Unmarshal(line["room"], &room)
		json.Unmarshal(line["membership"], &membership)
		w.member[id.RoomID(room)] = membership
	default:
		json.Unmarshal(line["error"], &problem)
		w.errors = append(w.errors, problem)
	}
}

// await waits until something holds under the lock.
func (w *Stranger) await(what string, so func() bool) {
	w.t.Helper()
	is, ended := false, false
	var problems []string
	in := w.mu.await(tier.Patience(w.t), func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		is, ended, problems = so(), w.ended, w.errors
		return is || ended || len(problems) > 0
	})
	if !in || !is {
		w.t.Fatalf("%s waited for %s; %s has ended: %t, and says %q", w.ID, what, w.Library, ended, problems)
	}
}

func (w *Stranger) do(act string, ask map[string]any) map[string]json.RawMessage {
	w.t.Helper()
	line := map[string]any{"do": act}
	for key, v := range ask {
		line[key] = v
	}
	w.mu.Lock()
	w.asked++
	n := w.asked
	line["id"] = n
	_, err := w.in.Write(append(must(json.Marshal(line)), '\n'))
	w.mu.Unlock()
	if err != nil {
		w.t.Fatalf("%s: %v", act, err)
	}
	var answer map[string]json.RawMessage
	w.await("an answer to "+act, func() bool {
		answer = w.answers[n]
		return answer != nil
	})
	if problem, bad := answer["error"]; bad {
		w.t.Fatalf("%s cannot %s: %s", w.ID, act, problem)
	}
	return answer
}

func (w *Stranger) event(act string, ask map[string]any) id.EventID {
	w.t.Helper()
	var event id.EventID
	json.Unmarshal(w.do(act, ask)["event"], &event)
	return event
}

// Makes makes a room; Power and Direct are left out of account.
func (w *Stranger) Makes(room Room) id.RoomID {
	w.t.Helper()
	invite := room.Invite
	if invite == nil {
		invite = []id.UserID{}
	}
	var made id.RoomID
	json.Unmarshal(w.do("room", map[string]any{"name": room.Name, "encrypted": room.Encrypted, "public": room.Public, "invite": invite})["room"], &made)
	return made
}

// AwaitInvite waits for an invitation to the room.
func (w *Stranger) AwaitInvite(room id.RoomID) {
	w.t.Helper()
	w.await("an invitation", func() bool { return w.member[room] == "invite" || w.member[room] == "join" })
}

// Joins joins a room and waits until the stranger has read its state.
func (w *Stranger) Joins(room id.RoomID) {
	w.t.Helper()
	w.do("join", map[string]any{"room": room})
}

// AwaitMember waits until the stranger sees somebody in the room: what it says
// from then on is encrypted for them, too.
func (w *Stranger) AwaitMember(room id.RoomID, user id.UserID) {
	w.t.Helper()
	w.AwaitSight(room, user.String()+" to join", func(s Sight) bool {
		return s.Type == "m.room.member" && s.StateKey != nil && *s.StateKey == user.String() && s.Content["membership"] == "join"
	})
}

// Says says something in the main timeline, and mentions people.
func (w *Stranger) Says(room id.RoomID, body string, mentions ...id.UserID) id.EventID {
	w.t.Helper()
	return w.event("say", map[string]any{"room": room, "body": body, "mentions": mentions})
}

// SaysIn says something in a thread, and mentions people.
func (w *Stranger) SaysIn(room id.RoomID, thread id.EventID, body string, mentions ...id.UserID) id.EventID {
	w.t.Helper()
	return w.event("say", map[string]any{"room": room, "thread": thread, "body": body, "mentions": mentions})
}

// Shows sends a PNG.
func (w *Stranger) Shows(room id.RoomID, picture []byte) id.EventID {
	w.t.Helper()
	file := filepath.Join(w.files, "sent.png")
	if err := os.WriteFile(file, picture, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return w.event("show", map[string]any{"room": room, "file": file})
}

// Reacts sets a reaction.
func (w *Stranger) Reacts(room id.RoomID, to id.EventID, key string) id.EventID {
	w.t.Helper()
	return w.event("react", map[string]any{"room": room, "event": to, "key": key})
}

// Verifies asks somebody to verify by emoji: in a room, or with an empty one a device. It
// returns the code with which the other side cancels.
func (w *Stranger) Verifies(who id.UserID, room id.RoomID, device id.DeviceID) (code string) {
	w.t.Helper()
	json.Unmarshal(w.do("verify", map[string]any{"user": who, "room": room, "device": device})["cancelled"], &code)
	return code
}

// Sees is everything that the stranger has seen of a room so far, states too,
// in the order in which it came.
func (w *Stranger) Sees(room id.RoomID) []Sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sees(room)
}

func (w *Stranger) sees(room id.RoomID) (list []Sight) {
	for _, event := range w.order {
		if s := w.sights[event]; s.Room == room {
			list = append(list, s)
		}
	}
	return list
}

// Looks has the library look again at everything of a room, with the devices
// and signatures that it knows by now, and is Sees afterwards.
func (w *Stranger) Looks(room id.RoomID) []Sight {
	w.t.Helper()
	w.do("look", map[string]any{"room": room})
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.errors) > 0 {
		w.t.Fatalf("%s cannot look: %q", w.ID, w.errors)
	}
	return w.sees(room)
}

// AwaitSight waits for a sight like that and is the first.
func (w *Stranger) AwaitSight(room id.RoomID, what string, so func(Sight) bool) (found Sight) {
	w.t.Helper()
	w.await(what, func() bool {
		list := w.sees(room)
		n := slices.IndexFunc(list, so)
		if n >= 0 {
			found = list[n]
		}
		return n >= 0
	})
	return found
}

// AwaitEvent waits until the stranger can read the event.
func (w *Stranger) AwaitEvent(room id.RoomID, event id.EventID) Sight {
	w.t.Helper()
	return w.AwaitSight(room, "event "+event.String(), func(s Sight) bool { return s.ID == event && s.Failure == "" })
}

// File is the file or picture of a sight, decrypted. The test fails when it cannot be
// had.
func (w *Stranger) File(s Sight) []byte {
	w.t.Helper()
	if s.Media == nil || s.Media.Error != "" {
		w.t.Fatalf("the file of %q cannot be had: %+v", s.Body(), s.Media)
	}
	data, err := os.ReadFile(filepath.Join(w.files, s.Media.SHA256))
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

// Picture is the picture of a sight, decrypted and decoded. The test fails when
// it cannot be had or the event says another size in bytes or pixels.
func (w *Stranger) Picture(s Sight) image.Image {
	w.t.Helper()
	data := w.File(s)
	shown, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		w.t.Fatalf("the picture %q: %v", s.Body(), err)
	}
	info, size := object(s.Content["info"]), shown.Bounds().Size()
	if number(info["w"]) != size.X || number(info["h"]) != size.Y || number(info["size"]) != len(data) || info["mimetype"] != "image/png" {
		w.t.Fatalf("the picture %q says %v, but its PNG is %v with %d bytes", s.Body(), info, size, len(data))
	}
	return shown
}

var modules = sync.OnceValues(func() (string, error) {
	version, err := exec.Command("node", "--version").Output()
	if err != nil {
		return "", errors.New("node is not here")
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(version)), "v"), ".")
	if n, _ := strconv.Atoi(major); n < 20 {
		return "", errors.New("node is not 20 or newer but " + strings.TrimSpace(string(version)))
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", errors.New("npm is not here")
	}
	sum := sha256.New()
	files := map[string][]byte{}
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := scripts.ReadFile("js/" + name)
		if err != nil {
			return "", err
		}
		files[name] = data
		sum.Write(data)
	}
	return keep("matrix-js-sdk-"+hex.EncodeToString(sum.Sum(nil)[:8]), func(folder string) error {
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
				return err
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
		npm.Dir = folder
		npm.WaitDelay = time.Second
		if out, err := npm.CombinedOutput(); err != nil {
			return fmt.Errorf("npm ci: %v\n%s", err, out)
		}
		return nil
	})
})

// installScripts is the folder with the script's modules, kept in the user's
// cache under the name of their lock file.
func installScripts(t testing.TB) string {
	t.Helper()
	folder, err := modules()
	if err != nil {
		tier.Missing(t, "there is no matrix-js-sdk: "+err.Error())
	}
	return folder
}
