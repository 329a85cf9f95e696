package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/verify"
)

// verified is a bot that somebody verifies.
type verified struct {
	waiting *verify.Verification
	got     []answer
}

func (v *verified) Verification() *verify.Verification { return v.waiting }

func (v *verified) Verify(_ context.Context, id string, match bool) error {
	if v.waiting == nil || v.waiting.ID != id {
		return verify.ErrNone
	}
	v.got, v.waiting = append(v.got, answer{id, match}), nil
	return nil
}

func TestVerifyCommand(t *testing.T) {
	dir, err := os.MkdirTemp("", "hp") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(dir)
	if err := os.WriteFile("halfpoint.db", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says := func(in string, status int, want ...string) {
		t.Helper()
		var out bytes.Buffer
		if got := run([]string{"verify", "--database", "halfpoint.db"}, strings.NewReader(in), &out, &out); got != status {
			t.Errorf("status %d, want %d:\n%s", got, status, out.String())
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("does not say %q:\n%s", w, out.String())
			}
		}
	}
	says("", 1, "no halfpoint with Matrix is running with the database halfpoint.db")
	bot := &verified{}
	for range 2 { // the second after the program was killed
		if err := os.WriteFile(socket("halfpoint.db"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		closed, err := control(filepath.Join(dir, "halfpoint.db"), bot)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(socket("halfpoint.db")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		says("", 1, "nobody is verifying the bot")
		show := func() {
			bot.waiting = &verify.Verification{ID: "$1", User: "@anna:x", Device: "PHONE", Emoji: []string{"🐶 Dog", "🐱 Cat"}}
		}
		show()
		says("", 1, "@anna:x (device PHONE) verifies the bot", "🐶 Dog", "no answer")
		says("perhaps\nYes\n", 0, "Confirmed.")
		show()
		says("no\n", 0, "Refused.")
		if len(bot.got) != 2 || bot.got[0] != (answer{"$1", true}) || bot.got[1] != (answer{"$1", false}) {
			t.Errorf("answers %+v", bot.got)
		}
		bot.got = nil
		if err := closed(); err != nil {
			t.Error(err)
		}
	}
	says("", 1, "no halfpoint with Matrix is running")
}
