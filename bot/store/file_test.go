//go:build unix

package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"go.uber.org/goleak"
)

// A test that needs another process runs this very program again, which then
// plays the part named in the environment.
const partVariable = "HALFPOINT_STORE_TEST_PART"

var parts = map[string]func(ctx context.Context, file string) error{
	"play":           playForever,
	"hold":           hold,
	"poor":           openAsNobody,
	"back up":        dies(backUpAndDie),
	"write and hold": writeAndHold,
	"empty the log":  emptyLog,
	"export":         dies(exportAndDie),
	"import":         dies(importAndDie),
	"check":          checkAndDie,
}

func TestMain(m *testing.M) {
	if part, ok := parts[os.Getenv(partVariable)]; ok {
		if err := part(context.Background(), os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// A child is this program in another part.
type child struct {
	*exec.Cmd
	out *bufio.Scanner
}

// start starts a child, to be killed at the end of the test if not before.
func start(t *testing.T, part, file string) *child { return startWith(t, part, file) }

// startWith is start, with arguments for the part, of which the first is a file.
func startWith(t *testing.T, part string, args ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), partVariable+"="+part)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe() // open as long as we live: a child reads it to know when to end
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{cmd, bufio.NewScanner(out)}
	t.Cleanup(func() {
		c.kill()
		in.Close()
	})
	return c
}

// line returns the next line that the child prints.
func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the child has ended: %v", c.out.Err())
	}
	return c.out.Text()
}

// kill ends the child as a loss of power would, and gives what it had still
// printed.
func (c *child) kill() (last []string) {
	if c.ProcessState != nil {
		return nil
	}
	c.Process.Kill()
	for c.out.Scan() {
		last = append(last, c.out.Text())
	}
	c.Wait()
	return last
}

// hold opens the file, says so, and keeps it until it is told to end.
func hold(ctx context.Context, file string) error {
	s, err := store.Open(ctx, file)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("open")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// playForever goes on with match g, and says the number of each event when it
// is stored.
func playForever(ctx context.Context, file string) error {
	s, err := store.Open(ctx, file)
	if err != nil {
		return err
	}
	defer s.Close()
	step := opening("g", "room")
	switch m, _, err := s.Match(ctx, "g"); {
	case errors.Is(err, bot.ErrNotFound):
	case err != nil:
		return err
	default:
		step = turn(&m)
	}
	for {
		if err := s.Commit(ctx, step); err != nil {
			return err
		}
		fmt.Println(step.Match.Seq)
		step = turn(step.Match)
	}
}

func TestNothingIsLostWhenKilled(t *testing.T) {
	rounds := tier.Pick(5, 15, 1000)
	name := newFile(t)
	rng := rand.New(rand.NewPCG(1, 2))
	said := 0 // the last event that a child said was stored
	for round := range rounds {
		c := start(t, "play", name)
		var lines []string
		for range 1 + rng.IntN(40) {
			lines = append(lines, c.line(t))
		}
		for _, line := range append(lines, c.kill()...) {
			seq, err := strconv.Atoi(line)
			if err != nil {
				t.Fatalf("round %d: the child said %q", round, line)
			}
			said = seq
		}

		s, err := store.Open(t.Context(), name)
		must(t, err)
		m, events, err := s.Match(t.Context(), "g")
		must(t, err)
		if len(events) < said || len(events) > said+1 {
			t.Errorf("round %d: %d events are there, %d were said to be", round, len(events), said)
		}
		for i, e := range events {
			if e.Seq != i+1 {
				t.Fatalf("round %d: event %d is number %d", round, i+1, e.Seq)
			}
			request := fmt.Sprintf("turn:g:%d", e.Seq)
			if _, ok, err := s.Answered(t.Context(), request); err != nil || !ok {
				t.Errorf("round %d: request %s was answered: %v, %v", round, request, ok, err)
			}
		}
		if m.Seq > 0 {
			// Its post came with it.
			posts, err := s.Waiting(t.Context())
			must(t, err)
			if len(posts) != m.Seq || posts[m.Seq-1].Seq != m.Seq {
				t.Errorf("round %d: after event %d these posts are owed: %v", round, m.Seq, posts)
			}
			again := turn(&match.Match{ID: "g", Standing: match.Standing{Seq: m.Seq - 1, Changed: noon}})
			if err := s.Commit(t.Context(), again); !errors.Is(err, bot.ErrConflict) {
				t.Errorf("round %d: the last request, asked again: %v", round, err)
			}
		}
		must(t, s.Close())
	}
	t.Logf("%d kills, %d events", rounds, said)
}

func TestOneProcessPerFile(t *testing.T) {
	name := newFile(t)
	inUse := func() {
		t.Helper()
		s, err := store.Open(t.Context(), name)
		if err == nil {
			s.Close()
			t.Fatal("the file was opened twice")
		}
		if want := "another halfpoint is using " + name; !errors.Is(err, store.ErrInUse) || err.Error() != want {
			t.Errorf("error is %q, want %q", err, want)
		}
	}
	other := start(t, "hold", name)
	if got := other.line(t); got != "open" {
		t.Fatal(got)
	}
	inUse()
	other.kill()
	s := open(t, name) // though it had no time to say goodbye
	inUse()

	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(name, link))
	if _, err := store.Open(t.Context(), link); !errors.Is(err, store.ErrInUse) {
		t.Errorf("under another name: error is %v, want %v", err, store.ErrInUse)
	}
	must(t, s.Close())
	open(t, link)
}

// database returns the content of a closed database with a few matches in it.
func database(t *testing.T) []byte {
	t.Helper()
	name := newFile(t)
	s := open(t, name)
	for i := range 20 {
		must(t, s.Commit(t.Context(), opening(match.GameID(fmt.Sprint(i)), "room")))
	}
	must(t, s.Close())
	if got := slices.Collect(maps.Keys(folder(t, filepath.Dir(name)))); len(got) != 1 {
		t.Errorf("a closed database leaves %v", got)
	}
	data, err := os.ReadFile(name)
	must(t, err)
	return data
}

// sqlDo runs SQL on a database file behind the store's back.
func sqlDo(t *testing.T, name string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", name)
	must(t, err)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// sqlWhile is sqlDo, and calls f before the database is closed.
func sqlWhile(t *testing.T, name string, f func(), statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", name)
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	f()
}

func owner(t *testing.T, name string) uint32 {
	t.Helper()
	info, err := os.Stat(name)
	must(t, err)
	return info.Sys().(*syscall.Stat_t).Uid
}

func TestUnusableFileIsLeftAsItIs(t *testing.T) {
	good := database(t)
	garbage := make([]byte, 3*4096)
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(garbage)
	write := func(data []byte) func(*testing.T, string) {
		return func(t *testing.T, name string) {
			must(t, os.WriteFile(name, data, 0o600))
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, file string)
		want error
		says string
	}{
		{"a text", write([]byte("Dear diary,\n")), store.ErrUnreadable, "not a halfpoint database"},
		{"garbage", write(garbage), store.ErrUnreadable, "not a halfpoint database"},
		{"a header and garbage", write(slices.Concat(good[:100], garbage)), store.ErrUnreadable, "malformed"},
		{"half a database", write(good[:len(good)/2/4096*4096]), store.ErrUnreadable, "malformed"},
		{"a few bytes of one", write(good[:50]), store.ErrUnreadable, "not a halfpoint database"},
		{"a damaged list of tables", write(slices.Concat(good[:100], garbage[:3996], good[4096:])), store.ErrUnreadable, "malformed"},
		{"another program's database", func(t *testing.T, name string) {
			sqlDo(t, name, "CREATE TABLE diary (day TEXT)", "INSERT INTO diary VALUES ('Monday')")
		}, store.ErrUnreadable, "not a halfpoint database"},
		{"a database from the future", func(t *testing.T, name string) {
			write(good)(t, name)
			sqlDo(t, name, "INSERT INTO halfpoint_version (version_id, is_applied) VALUES (99, 1)")
		}, store.ErrNewer, "written by a newer halfpoint: schema version 99, this program knows "},
		{"a directory", func(t *testing.T, name string) {
			must(t, os.Mkdir(name, 0o700))
		}, nil, "is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "halfpoint.db")
			c.make(t, name)
			var before map[string]string
			if c.want != nil {
				before = folder(t, dir)
			}
			s, err := store.Open(t.Context(), name)
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if c.want != nil {
				if !errors.Is(err, c.want) {
					t.Errorf("error is %q, want %q", err, c.want)
				}
				if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
					t.Errorf("the directory changed (-before +after):\n%.500s", diff)
				}
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %q and should be one line with %q and the name of the file", err, c.says)
			}
		})
	}
}

// openAsNobody opens the file as somebody who may do little, whom no
// superuser's rights help.
func openAsNobody(ctx context.Context, file string) error {
	if os.Geteuid() == 0 {
		if err := syscall.Setuid(65534); err != nil {
			return err
		}
	}
	s, err := store.Open(ctx, file)
	if err != nil {
		return err
	}
	return errors.Join(errors.New("it was opened"), s.Close())
}

func TestPlaceThatMayNotBeWritten(t *testing.T) {
	good := database(t)
	for _, c := range []struct {
		name      string
		dir, file fs.FileMode // no file if 0
		says      string
	}{
		{"a new file in a directory that may not be written", 0o555, 0, "create lock file: permission denied"},
		{"a file in a directory that may not be written", 0o555, 0o666, "create lock file: permission denied"},
		{"a file that may not be written", 0o777, 0o444, "permission denied"},
		{"a directory that may not be entered", 0o700, 0o666, "permission denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.dir == 0o700 && os.Geteuid() != 0 {
				t.Skip("only a superuser can make a directory that its owner may not enter and look into it afterwards")
			}
			dir := t.TempDir()
			if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil { // nobody may get this far
				t.Fatal(err)
			}
			name := filepath.Join(dir, "halfpoint.db")
			if c.file != 0 {
				must(t, os.WriteFile(name, good, c.file))
				if err := os.Chmod(name, c.file); err != nil { // whatever the umask
					t.Fatal(err)
				}
			}
			before := folder(t, dir)
			must(t, os.Chmod(dir, c.dir))
			t.Cleanup(func() { os.Chmod(dir, 0o700) })
			said := start(t, "poor", name).line(t)
			if want := "open " + name + ": " + c.says; said != want {
				t.Errorf("error is %q, want %q", said, want)
			}
			if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
				t.Errorf("the directory changed (-before +after):\n%.500s", diff)
			}
		})
	}
}

// Another program may hold the file for a while: a backup, an operator.
func TestWaitsForOthersAndGivesUpInTime(t *testing.T) {
	name := newFile(t)
	s := open(t, name)
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", "#", "%23").Replace(name)+"?_txlock=immediate")
	must(t, err)
	defer db.Close()
	other, err := db.Begin()
	must(t, err)
	step := opening("g", "room")
	if err := s.Commit(t.Context(), step); err == nil || errors.Is(err, bot.ErrConflict) {
		t.Errorf("error is %v; the file is locked by somebody else", err)
	}
	if _, _, err := s.Match(t.Context(), "g"); !errors.Is(err, bot.ErrNotFound) {
		t.Errorf("reading meanwhile: %v", err)
	}
	must(t, other.Rollback())
	if err := s.Commit(t.Context(), step); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestUnusablePlace(t *testing.T) {
	if s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "no", "halfpoint.db")); err == nil {
		s.Close()
		t.Error("a database was made in a directory that is not there")
	} else if want := "directory: no such file or directory"; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error is %q, want %q", err, want)
	}
}

// A new file is for its owner alone, and so is a copy that was put back and that others
// may read, from then on.
func TestOwnerOnly(t *testing.T) {
	name := newFile(t)
	for range 2 {
		s := open(t, name)
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if i, err := os.Stat(name + suffix); err != nil || i.Mode().Perm() != 0o600 {
				t.Errorf("others may use the file %q: %v, %v", suffix, i.Mode(), err)
			}
		}
		must(t, s.Close())
		must(t, os.Chmod(name, 0o644))
	}
}
