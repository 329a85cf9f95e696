package adaptertest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program builds halfpoint as it is shipped, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "halfpoint-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "halfpoint")
	build := exec.Command("go", "build", "-tags", "goolm", "-o", path, "github.com/halfpoint-go/halfpoint/cmd/halfpoint")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	return path, nil
})

// A Served program is the real one, which runs until it is killed.
type Served struct {
	*exec.Cmd
	Stderr bytes.Buffer // once it has ended
	Ended  chan struct{}
}

// Serve starts the program over a database, a file or on PostgreSQL, and waits until it says where
// its local room is. It is killed when the test ends.
func Serve(t testing.TB, database string, env ...string) *Served {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &Served{Cmd: exec.Command(path, "--listen", "127.0.0.1:0", "--database", database), Ended: make(chan struct{})}
	s.Env = append(append(os.Environ(), env...),
		"HALFPOINT_LIMITS_PERSON=6000", "HALFPOINT_LIMITS_CHANNEL=6000") // players in tests do not wait to think
	s.Cmd.Dir, s.Cmd.Stderr = filepath.Dir(database), &s.Stderr
	if strings.Contains(database, "://") { // each has a machine of its own
		s.Cmd.Dir = t.TempDir()
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.Wait()
		t.Fatalf("the program says %q, %v\n%s", line, err, s.Stderr.String())
	}
	go func() { s.Wait(); close(s.Ended) }()
	t.Cleanup(s.Kill)
	return s
}

// Kill ends the program by SIGKILL.
func (s *Served) Kill() {
	s.Process.Kill()
	<-s.Ended
}
