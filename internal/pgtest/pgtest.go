//go:build unix

// Package pgtest starts a PostgreSQL for tests.
package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A Server is a PostgreSQL with a cluster of its own, which is thrown away in the end.
type Server struct {
	Dir string // with the cluster, the log and the socket
	bin string
	run *exec.Cmd
}

// script makes a cluster in $DIR and runs it until standard input ends, as it does when the
// test dies in whatever way. Only the role "guarded" needs a password. Names are sorted as people do it, not byte by byte, so that
// nobody relies on that; nothing waits for the disk.
const script = `
trap '' INT
initdb --pgdata="$DIR/data" --username=halfpoint --auth=trust --encoding=UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en --no-sync --no-instructions >"$DIR/initdb" 2>&1 &&
sed -i '1i local all guarded scram-sha-256' "$DIR/data/pg_hba.conf" &&
pg_ctl --pgdata="$DIR/data" --log="$DIR/log" --wait --options="-k '$DIR' -c listen_addresses='' -c fsync=off -c full_page_writes=off -c max_connections=300 -c max_wal_size=64MB" start >"$DIR/start" 2>&1 &&
echo ready && cat >/dev/null
pg_ctl --pgdata="$DIR/data" --mode=immediate stop >/dev/null 2>&1
rm -rf "$DIR"`

// shared is the server that the tests of a program have in common.
var shared = sync.OnceValues(start)

// start starts a server, or returns nil if there is no PostgreSQL here.
func start() (*Server, error) {
	bin, err := binaries()
	if bin == "" || err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket has at most 107 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, bin: bin, run: exec.Command("sh", "-c", script)}
	s.run.Env = append(os.Environ(), "DIR="+dir, "PATH="+bin+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8")
	s.run.Dir = dir
	s.run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 { // as root it does not start
		uid, gid, err := nobody()
		if err != nil {
			return nil, err
		}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return nil, err
		}
		s.run.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	if _, err := s.run.StdinPipe(); err != nil { // open until this process ends
		return nil, err
	}
	out, err := s.run.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.run.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("PostgreSQL did not start: %q, %w", line, err)
	}
	return s, nil
}

// binaries returns the folder with the programs of PostgreSQL, empty if there is none.
func binaries() (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		initdb, err = filepath.EvalSymlinks(initdb)
		return filepath.Dir(initdb), err
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin") // where Debian has them
	if len(found) == 0 || err != nil {
		return "", err
	}
	return found[len(found)-1], nil
}

func nobody() (uid, gid uint32, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return 0, 0, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		return uint32(uid), uint32(gid), err
	}
	return 0, 0, fmt.Errorf("there is nobody to run PostgreSQL as")
}

// Start returns the server that the tests of a program have in common, and starts it for the
// first. Without PostgreSQL it skips the test, but in CI it fails.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	switch {
	case err != nil:
		t.Fatal(err)
	case s == nil && os.Getenv("CI") != "":
		t.Fatal("there is no PostgreSQL here")
	case s == nil:
		t.Skip("there is no PostgreSQL here")
	}
	return s
}

var made atomic.Int64

// Database makes an empty database, which goes with the server, and returns its address.
func (s *Server) Database(t testing.TB) (address string) {
	t.Helper()
	name := fmt.Sprintf("test%d", made.Add(1))
	s.Exec(t, "CREATE DATABASE "+name)
	return s.Address(name)
}

// Address returns the address of a database.
func (s *Server) Address(database string) string {
	return "postgres://halfpoint@/" + database + "?host=" + s.Dir
}

// Exec runs a statement as the owner of the server.
func (s *Server) Exec(t testing.TB, statement string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	c, err := pgx.Connect(ctx, s.Address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", strings.TrimSpace(statement), err)
	}
}
