//go:build goolm

package device

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"maunium.net/go/mautrix/crypto/utils"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// The recovery key that the bot makes is in its file alone, which only the owner can read:
// neither in the database nor in the log.
func TestRecoveryKeyIsInItsFile(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		key := d.Recovery.Reveal()
		s.stops(d)
		info, err := os.Stat(s.RecoveryFile)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v %v", info, err)
		}
		if !strings.Contains(s.log.String(), s.RecoveryFile) {
			t.Error("the log does not name the file")
		}
		for name, text := range map[string]string{"log": s.log.String(), "database": string(s.copies())} {
			if strings.Contains(text, key) || strings.Contains(text, strings.ReplaceAll(key, " ", "")) {
				t.Errorf("the key is in the %s", name)
			}
		}
		s.openDB()
		s.finds("there is a recovery key")
		s.loses()
		s.stops(s.starts())
		if n := strings.Count(s.log.String(), "created new cross-signing keys"); n != 1 {
			t.Errorf("the log says %d times that keys were made", n)
		}
		if err := os.WriteFile(s.RecoveryFile, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.RecoveryKey = secret.New("EsTb 4QnQ 9mQF Jjzf 7S1g vPBu YJd8 2oFh Y5XN zNnW C8sB rD5k") // of nothing
		s.openDB()
		lines, err := Check(ctx, s.Config, nil)
		if text := strings.Join(lines, "\n"); err != nil || strings.Contains(text, "there is a recovery key") ||
			!strings.Contains(text, "it is not needed now") {
			t.Errorf("a key that opens nothing, with a signed device: %v\n%s", err, text)
		}
		s.RecoveryKey = secret.Text{}
		s.finds("if the bot loses its device, it makes new keys, and clients warn that the identity was reset")
		s.loses()
		s.openDB()
		s.finds("the bot, which set it up, makes new keys, and clients warn that the identity was reset")
	})
}

// A database of an older version holds the recovery key. It moves into the file.
func TestRecoveryKeyMoves(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		key := d.Recovery
		s.stops(d)
		if err := os.Remove(s.RecoveryFile); err != nil {
			t.Fatal(err)
		}
		s.openDB()
		if _, err := s.raw.Exec("UPDATE matrix_device SET recovery_key = ?, recovery_shown = 0", key.Reveal()); err != nil {
			t.Fatal(err)
		}
		s.finds("there is a recovery key")
		for range 2 {
			d = s.starts()
			if d.Recovery != key || d.New {
				t.Errorf("the key is %v, new %v", d.Recovery, d.New)
			}
			s.stops(d)
		}
		text, err := os.ReadFile(s.RecoveryFile)
		if err != nil || bytes.Count(text, []byte(key.Reveal())) != 1 {
			t.Errorf("%q %v", text, err)
		}
		s.openDB()
		var left string
		if err := s.raw.QueryRow("SELECT recovery_key FROM matrix_device").Scan(&left); err != nil || left != "" {
			t.Errorf("left in the database: %q %v", left, err)
		}
	})
}

// A secret is never in a file that others can read, not even for a moment; and a file that
// cannot be written whole stays as it was.
func TestSecretFile(t *testing.T) {
	dir := t.TempDir()
	file, was, link := filepath.Join(dir, "keys"), filepath.Join(dir, "was"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("# @a:x\nold\n"), 0o644), os.Link(file, was), os.Symlink(file, link)); err != nil {
		t.Skip("no links here: ", err)
	}
	if err := keepRecovery(link, "@a:x", secret.New("EsT1 new")); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(was); err != nil || strings.Contains(string(text), "new") {
		t.Errorf("what others could read has %q: %v", text, err)
	}
	info, err := os.Stat(file)
	if key, e := readRecovery(file, "@a:x"); err != nil || info.Mode().Perm() != 0o600 || e != nil || key.Reveal() != "EsT1 new" {
		t.Errorf("%v %v; the key is %q %v", info, err, key.Reveal(), e)
	}
	names, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(names) > 0 {
		t.Errorf("left are %q: %v", names, err)
	}
	if err := keepRecovery(filepath.Join(dir, "none", "keys"), "@a:x", secret.New("EsT1 new")); err == nil {
		t.Error("written into no directory")
	}
}

// The newest key of an account counts, of those that are wholly written.
func TestRecoveryFile(t *testing.T) {
	file := t.TempDir() + "/keys"
	is := func(user id.UserID, want string) {
		t.Helper()
		if got, err := readRecovery(file, user); err != nil || got != secret.New(want) {
			t.Errorf("the key of %s is %q: %v", user, got.Reveal(), err)
		}
	}
	is("@a:x", "")
	for _, k := range [][2]string{{"@a:x", "EsT1 one"}, {"@b:x", "EsT2 two"}, {"@a:x", "EsT3 three"}} {
		if err := keepRecovery(file, id.UserID(k[0]), secret.New(k[1])); err != nil {
			t.Fatal(err)
		}
	}
	is("@a:x", "EsT3 three")
	is("@b:x", "EsT2 two")
	is("@c:x", "")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-4], 0o600); err != nil {
		t.Fatal(err)
	}
	is("@a:x", "EsT1 one")
	if err := keepRecovery(file, "@a:x", secret.New("EsT4 four")); err != nil {
		t.Fatal(err)
	}
	is("@a:x", "EsT4 four")

	// An editor may have left out the last line's end.
	whole := utils.EncodeBase58RecoveryKey(make([]byte, utils.AESCTRKeyLength))
	for name, last := range map[string]string{whole: whole, "": whole[:len(whole)-3]} {
		if err := os.WriteFile(file, []byte("# @d:x\n"+last), 0o600); err != nil {
			t.Fatal(err)
		}
		is("@d:x", name)
	}
}
