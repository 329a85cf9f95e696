package device

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"maunium.net/go/mautrix/crypto/utils"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
)

// This file keeps recovery keys that the bot has made, each below a line with its account,
// the newest last. They are in a file of their own, so that copies of the database do not
// open the account.

// readRecovery returns the newest recovery key of an account; the zero secret if there is
// none.
func readRecovery(file string, user id.UserID) (key bot.Secret, err error) {
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
			key = bot.NewSecret(strings.TrimSpace(line))
		}
	}
	return key, nil
}

// keepRecovery adds a recovery key to the file, which only its owner can read.
func keepRecovery(file string, user id.UserID, key bot.Secret) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store the recovery key: %w", err)
	}
	_, err = fmt.Fprintf(f, "\n# %s %s\n%s\n", user, time.Now().UTC().Format(time.RFC3339), key.Reveal())
	if err := errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("store the recovery key: %w", err)
	}
	return nil
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
	return d.change(ctx, func(r *row) { r.recovery = bot.Secret{} })
}
