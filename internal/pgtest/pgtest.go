//go:build unix

// Package pgtest starts a PostgreSQL for tests.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
	env []string
	how string              // options of the program
	as  *syscall.Credential // nil: as whoever runs the test

	stdin io.Closer // whose end stops the server; when nobody refers to it, it is closed
}

// script makes a cluster in $DIR and runs it until standard input ends, as it does when the
// test dies in whatever way.
const script = `
trap '' INT
{ $MAKE; } >"$DIR/make" 2>&1 && { $START; } >"$DIR/start" 2>&1 && echo ready && cat >/dev/null
pg_ctl --pgdata="$DIR/data" --mode=immediate stop >/dev/null 2>&1
rm -rf "$DIR"`

const (
	// Only the role "guarded" needs a password. Names are sorted as people do it, not byte by
	// byte, so that nobody relies on that.
	makeCluster = `initdb --pgdata="$DIR/data" --username=halfpoint --auth=trust --encoding=UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en --no-sync --no-instructions &&
		sed -i '1i local all guarded scram-sha-256' "$DIR/data/pg_hba.conf"`
	copyCluster  = `pg_basebackup --dbname="host=$FROM user=halfpoint application_name=standby" --pgdata="$DIR/data" --write-recovery-conf --checkpoint=fast --no-sync`
	startCluster = `pg_ctl --pgdata="$DIR/data" --log="$DIR/log" --wait --options="-k '$DIR' -c listen_addresses='' -c max_connections=300 $OPTIONS" start`

	careless = "-c fsync=off -c full_page_writes=off -c max_wal_size=64MB"
	durable  = "-c max_wal_size=4GB"
)

// shared is the server that the tests of a program have in common.
var shared = sync.OnceValues(func() (*Server, error) { return start(makeCluster, careless, nil) })

// start starts a server with a cluster that a command makes, or returns nil if there is no
// PostgreSQL here.
func start(make, options string, from *Server) (*Server, error) {
	bin, err := binaries()
	if bin == "" || err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket has at most 107 bytes
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, how: options, env: append(os.Environ(), "DIR="+dir, "OPTIONS="+options, "PATH="+bin+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8")}
	if from != nil {
		s.env = append(s.env, "FROM="+from.Dir)
	}
	if os.Getuid() == 0 { // as root it does not start
		if s.as, err = nobody(); err != nil {
			return nil, err
		}
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return nil, err
		}
	}
	run := s.shell(strings.NewReplacer("$MAKE", make, "$START", startCluster).Replace(script))
	if s.stdin, err = run.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := run.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := run.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("PostgreSQL did not start: %q, %w", line, err)
	}
	return s, nil
}

// shell returns a command that runs a script as the owner of the cluster.
func (s *Server) shell(script string) *exec.Cmd {
	c := exec.Command("sh", "-c", script)
	c.Env, c.Dir = s.env, s.Dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as}
	return c
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

// nobody returns somebody who is not root.
func nobody() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
	}
	return nil, errors.New("there is nobody to run PostgreSQL as")
}

// Start returns the server that the tests of a program have in common, and starts it for the
// first. Without PostgreSQL it skips the test, but in CI it fails.
func Start(t testing.TB) *Server {
	t.Helper()
	return there(t)(shared())
}

// New starts a server for one test, which may kill it.
func New(t testing.TB) *Server {
	t.Helper()
	return forTest(t, there(t)(start(makeCluster, careless, nil)))
}

// Durable starts a server for one test that measures it. It waits for the disk as PostgreSQL does
// where people use it; the others do not.
func Durable(t testing.TB) *Server {
	t.Helper()
	return forTest(t, there(t)(start(makeCluster, durable, nil)))
}

// forTest stops a server at the end of a test.
func forTest(t testing.TB, s *Server) *Server {
	t.Cleanup(func() { s.stdin.Close() })
	return s
}

// Standby starts a server that follows s, which from then on waits for it with each commit.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	standby := forTest(t, there(t)(start(copyCluster, s.how, s)))
	s.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
	s.Exec(t, "SELECT pg_reload_conf()")
	return standby
}

func there(t testing.TB) func(*Server, error) *Server {
	return func(s *Server, err error) *Server {
		t.Helper()
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
}

// Postmaster returns the process of the server without which nobody connects.
func (s *Server) Postmaster(t testing.TB) *os.Process {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(s.Dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Crash stops the server as a crash would: it takes leave of nobody.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	s.Run(t, `pg_ctl --pgdata="$DIR/data" --wait --mode=immediate stop`)
}

// Revive starts it after a crash, with the data that it had then.
func (s *Server) Revive(t testing.TB) {
	t.Helper()
	s.Run(t, startCluster)
}

// Run runs a script of the shell as the owner of the server, with its programs. $DIR is its folder,
// where it has its socket.
func (s *Server) Run(t testing.TB, script string) {
	t.Helper()
	if out, err := s.shell(script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// Full makes the server fail to write beyond a number of bytes of any file, as on a full disk, until
// free is called. If that is in the middle of a page, PostgreSQL says that the disk is full; at the
// beginning of one, that the file is too large. It needs Linux, and changes nothing for a server that
// is started later.
func (s *Server) Full(t testing.TB, bytes int64) (free func()) {
	t.Helper()
	limit := func(to string) {
		t.Helper()
		s.Run(t, `postmaster=$(head -n 1 "$DIR/data/postmaster.pid")
			prlimit --pid "$postmaster" --fsize=`+to+`: || exit # its later children have it, too
			for child in $(cat "/proc/$postmaster/task/$postmaster/children"); do
				prlimit --pid "$child" --fsize=`+to+`: || [ ! -e "/proc/$child" ] || exit
			done`)
	}
	limit(strconv.FormatInt(bytes, 10))
	return func() { t.Helper(); limit("unlimited") }
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
