package matrixtest

import (
	"encoding/json"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"
)

// Restore makes a homeserver in memory hold what is written in a file of
// bot/store/testdata/release, and nothing else: accounts with their devices, and rooms
// with their events. It returns when that was written.
func (s *Server) Restore(t testing.TB, data []byte) time.Time {
	t.Helper()
	var saved struct {
		Position int64
		Made     int
		Time     time.Time
		Accounts []struct {
			account
			Devices []*device
		}
		Rooms []struct {
			ID     id.RoomID
			Events []struct {
				roomEvent
				Because id.EventID
				Device  id.DeviceID // of the sender
			}
		}
		Lists []listChange
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	d := s.double
	d.mu.Lock()
	defer d.mu.Unlock()
	d.position, d.made, d.lists = saved.Position, saved.Made, saved.Lists
	clear(d.accounts)
	clear(d.tokens)
	clear(d.rooms)
	for i := range saved.Accounts {
		a := &saved.Accounts[i].account
		a.devices = map[id.DeviceID]*device{}
		for _, dev := range saved.Accounts[i].Devices {
			dev.account = a
			a.devices[dev.ID], d.tokens[dev.Token] = dev, dev
		}
		d.accounts[a.User] = a
	}
	for _, sr := range saved.Rooms {
		r := d.newRoom(sr.ID)
		for i := range sr.Events {
			e := &sr.Events[i]
			e.device = d.device(e.Sender, e.Device)
			r.add(&e.roomEvent, e.Position)
		}
		for i := range sr.Events {
			sr.Events[i].because = r.find(sr.Events[i].Because)
		}
	}
	return saved.Time
}

// ForgetTransactions makes a homeserver in memory repeat a request that comes again.
func (s *Server) ForgetTransactions() {
	s.double.mu.Lock()
	defer s.double.mu.Unlock()
	for _, dev := range s.double.tokens {
		clear(dev.Sent)
	}
}

// Returning logs somebody whom Restore has brought in, with a new device.
func (s *Server) Returning(t testing.TB, user id.UserID) User {
	t.Helper()
	back := User{ID: user, Password: passwordOf(user.Localpart())}
	back.Token, back.Device = s.Login(t, back)
	return back
}

func passwordOf(local string) string { return "a good password of " + local }
