//go:build !goolm

package device

import (
	"context"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// Without encryption an old copy of the database is noticed, too. The device stays, for
// it has no keys that could be used twice.
func TestOldCopyWithoutEncryption(t *testing.T) {
	for name, ends := range map[string]func(*setup, *Device){
		"stopped": (*setup).stops,
		"killed": func(s *setup, d *Device) {
			d.Use()
			time.Sleep(6 * time.Minute)
			s.closeDB()
			_ = d.Close() // cannot write its generation
		},
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s := account(t, server, server.URL, server.Register(t, "Bot"))
				found := 0
				s.OldCopy = func(context.Context) error { found++; return nil }
				s.stops(s.starts())
				d := s.starts()
				if found != 0 {
					t.Error("the newest database is taken for an old copy")
				}
				first, old := d.Client.DeviceID, s.copies()
				ends(s, d)
				s.puts(old)
				d = s.starts()
				if found != 1 || d.New || d.Client.DeviceID != first {
					t.Errorf("found %d old copies; new %v, device %s after %s", found, d.New, d.Client.DeviceID, first)
				}
				s.stops(d)
				s.stops(s.starts())
				if found != 1 {
					t.Errorf("found %d old copies of one", found)
				}
			})
		})
	}
}
