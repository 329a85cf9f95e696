package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
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
		{"", "", "", 0, "matrix: off, matrix.homeserver is not set"},
		{server.URL, user.ID.String(), "", 2, "matrix.password: missing"},
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

	// A board is posted in a room, which may be named by its alias, and removed.
	bot := server.Client(t, server.URL, user)
	room, err := bot.CreateRoom(t.Context(), &mautrix.ReqCreateRoom{Preset: "public_chat", RoomAliasName: "go"})
	if err != nil {
		t.Fatal(err)
	}
	alias := "#go:" + user.ID.Homeserver()
	if status, says := halfpoint("config", "check", "--channel", alias); status != 0 || !strings.Contains(says, "matrix: room "+alias+": posted a board and removed it again") {
		t.Errorf("%d %s", status, says)
	}
	// Dendrite tells of a redaction a moment after it has taken it: a sync waits for that.
	boards, removed, since := map[id.EventID]bool{}, map[id.EventID]bool{}, ""
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for len(removed) == 0 {
		got, err := bot.SyncRequest(ctx, 30_000, since, "", false, event.PresenceOffline)
		if err != nil {
			t.Fatal(err)
		}
		since = got.NextBatch
		if in := got.Rooms.Join[room.RoomID]; in != nil {
			for _, e := range in.Timeline.Events {
				switch e.Type {
				case event.EventMessage:
					boards[e.ID] = true
				case event.EventRedaction:
					removed[e.Redacts] = true
				}
			}
		}
	}
	if len(boards) != 1 || !maps.Equal(boards, removed) {
		t.Errorf("posted %v, removed %v", boards, removed)
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

// A homeserver that does not limit the bot's account is sent everything at once.
func TestMatrixUnlimited(t *testing.T) {
	for text, want := range map[string]int{"": 0, "  unlimited: true\n": matrix.Unlimited} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte("matrix:\n  homeserver: example.org\n  user: halfpoint\n  password: x\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := bot.ReadSettings(file, nil)
		if c := matrixConfig(s, nil, nil); err != nil || c.Burst != want || c.Rate != float64(want) {
			t.Errorf("%q: %v a second, %d at once, %v", text, c.Rate, c.Burst, err)
		}
	}
}
