package matrix

import (
	"fmt"
	"testing"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// A person, and a room, may ask as much as is configured.
func TestConfiguredLimits(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	fine := func(cfg Config, people, rooms int) (n int) {
		t.Helper()
		cfg.Homeserver, cfg.User, cfg.Password, cfg.DB = "example.org", "halfpoint", secret.New("x"), &dbutil.Database{}
		cfg.Now = func() time.Time { return now }
		a, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 600 {
			if a.allows(id.UserID(fmt.Sprint("@", k%people, ":example.org")), id.RoomID(fmt.Sprint("!", k%rooms))) == intake.Fine {
				n++
			}
		}
		return n
	}
	for _, at := range []struct {
		cfg           Config
		people, rooms int
		want          int
	}{
		{Config{}, 1, 1, personAtOnce},
		{Config{Person: 3}, 1, 5, 3},
		{Config{Person: 600}, 1, 1, personAtOnce},
		{Config{}, 600, 1, 600},
		{Config{Room: 7}, 600, 1, 7},
		{Config{Room: 7}, 600, 5, 35},
		{Config{Person: 2, Room: 1000}, 5, 1, 10},
	} {
		if n := fine(at.cfg, at.people, at.rooms); n != at.want {
			t.Errorf("%d people in %d rooms, %d and %d a minute: %d are let through, not %d", at.people, at.rooms, at.cfg.Person, at.cfg.Room, n, at.want)
		}
	}
}
