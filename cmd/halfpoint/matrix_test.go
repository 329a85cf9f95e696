package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// The configuration is tried on the homeserver, and what is wrong is said with
// the key, without the password.
func TestConfigCheckMatrix(t *testing.T) {
	server := matrixtest.Start(t)
	user := server.Register(t, "Halfpoint")
	check := func(homeserver, name, password string) (int, string) {
		t.Setenv("HALFPOINT_MATRIX_HOMESERVER", homeserver)
		t.Setenv("HALFPOINT_MATRIX_USER", name)
		t.Setenv("HALFPOINT_MATRIX_PASSWORD", password)
		t.Setenv("HALFPOINT_DATABASE", filepath.Join(t.TempDir(), "halfpoint.db"))
		var out, errout bytes.Buffer
		status := run([]string{"config", "check"}, nil, &out, &errout)
		return status, out.String() + errout.String()
	}
	for _, c := range []struct {
		homeserver, name, password string
		status                     int
		says                       string
	}{
		{server.URL, user.ID.String(), user.Password, 0, "matrix: "},
		{"", "", "", 0, "matrix: no homeserver, so not used"},
		{server.URL, user.ID.String(), "", 2, "matrix.password: is missing"},
		{server.URL, user.ID.String(), "wrong-" + user.Password, 2, "matrix.password"},
		{"http://127.0.0.1:1", user.ID.String(), user.Password, 2, "matrix.homeserver"},
		{"http://example.org", user.ID.String(), user.Password, 2, "matrix.homeserver"},
	} {
		status, says := check(c.homeserver, c.name, c.password)
		if status != c.status || !strings.Contains(says, c.says) {
			t.Errorf("%s, %s: status %d, says %q", c.homeserver, c.name, status, says)
		}
		if strings.Contains(says, user.Password) {
			t.Errorf("the password is in %q", says)
		}
	}
	_, says := check(server.URL, user.ID.String(), user.Password)
	t.Log(says)
}
