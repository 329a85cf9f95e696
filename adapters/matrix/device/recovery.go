package device

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"maunium.net/go/mautrix/crypto/utils"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// This file keeps recovery keys that the bot has made, each below a line with its account,
// the newest last. They are in a file of their own, so that copies of the database do not
// open the account.

// readRecovery returns the newest recovery key of an account; the zero secret if there is
// none.
func readRecovery(file string, user id.UserID) (key secret.Text, err error) {
	if file == "" {
		return key, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return key, nil
	} else if err != nil {
		return key, fmt.Errorf("read the recovery key: %w", err)
	}
	whose := ""
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "#":
			whose = fields[1%len(fields)]
		case !strings.HasSuffix(line, "\n") && utils.DecodeBase58RecoveryKey(strings.TrimSpace(line)) == nil: // the machine stopped while it was written
		case whose == user.String():
			key = secret.New(strings.TrimSpace(line))
		}
	}
	return key, nil
}

// keepRecovery adds a recovery key to the file, which only its owner can read.
func keepRecovery(file string, user id.UserID, key secret.Text) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store the recovery key: %w", err)
	}
	text = fmt.Appendf(text, "\n# %s %s\n%s\n", user, time.Now().UTC().Format(time.RFC3339), key.Reveal())
	if err := writeSecret(file, text); err != nil {
		return fmt.Errorf("store the recovery key: %w", err)
	}
	return nil
}

// writeSecret writes a file that only its owner can read, from its first byte on. Whatever
// happens, the file has either the old text or the new.
func writeSecret(file string, text []byte) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, "."+filepath.Base(file)+".*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // where directories cannot be synced
		return nil
	}
	in, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(in.Sync(), in.Close())
}

// loadRecovery reads the recovery key that the bot has made. Older versions had it in the
// database, from which it moves into the file.
func (d *Device) loadRecovery(ctx context.Context) (err error) {
	file := d.config.RecoveryFile
	if d.Recovery, err = readRecovery(file, d.row.user); err != nil {
		return err
	}
	former := d.row.recovery
	if former.IsZero() || file == "" {
		return nil
	}
	if d.Recovery.IsZero() {
		if err := keepRecovery(file, d.row.user, former); err != nil {
			return err
		}
		d.Recovery = former
	}
	return d.change(ctx, func(r *row) { r.recovery = secret.Text{} })
}
