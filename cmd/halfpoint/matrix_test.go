package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The configuration is tried on the homeserver, and what is wrong is said with
// the key, without the password.
func TestConfigCheckMatrix(t *testing.T) {
	tier.Change(t)
	server := matrixtest.Start(t)
	user := server.Register(t, "Halfpoint")
	for _, c := range []struct {
		homeserver, name, password string
		status                     int
		says                       string
	}{
		{"", "", "", 0, "matrix: no homeserver, so not used"},
		{server.URL, user.ID.String(), "", 2, "matrix.password: is missing"},
		{server.URL, user.ID.String(), "wrong-" + user.Password, 2, "matrix.password"},
		{"http://127.0.0.1:1", user.ID.String(), user.Password, 2, "matrix.homeserver"},
		{"http://example.org", user.ID.String(), user.Password, 2, "matrix.homeserver"},
		{server.URL, user.ID.String(), user.Password, 0, "matrix: "}, // last: the settings stay for what follows
	} {
		t.Setenv("HALFPOINT_MATRIX_HOMESERVER", c.homeserver)
		t.Setenv("HALFPOINT_MATRIX_USER", c.name)
		t.Setenv("HALFPOINT_MATRIX_PASSWORD", c.password)
		t.Setenv("HALFPOINT_DATABASE", filepath.Join(t.TempDir(), "halfpoint.db"))
		status, says := halfpoint("config", "check")
		if status != c.status || !strings.Contains(says, c.says) {
			t.Errorf("%s, %s: status %d, says %q", c.homeserver, c.name, status, says)
		}
		if strings.Contains(says, user.Password) {
			t.Errorf("the password is in %q", says)
		}
	}

	// Beside a bot that runs it looks at what that has, and disturbs nothing.
	database := filepath.Join(t.TempDir(), "halfpoint.db")
	s := serve(t, database)
	t.Setenv("HALFPOINT_DATABASE", database)
	for late := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		status, says := halfpoint("config", "check")
		if status == 0 && strings.Contains(says, "there is a recovery key") {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("beside the running program: %d\n%s\n%s", status, says, s.stderr.String())
		}
	}
	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("%v\n%s", err, s.stderr.String())
	}
}
