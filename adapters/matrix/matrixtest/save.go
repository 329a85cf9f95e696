package matrixtest

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"
)

// What a homeserver in memory holds, as JSON: accounts with their devices, and rooms
// with their events. Files, receipts and typing are not saved.
type saved struct {
	Position int64
	Made     int
	Time     time.Time
	Accounts []savedAccount
	Rooms    []savedRoom
	Filters  map[string]json.RawMessage
	Lists    []savedList
}

type savedAccount struct {
	User           id.UserID
	Password, Name string
	Devices        []savedDevice
	Data           map[string]json.RawMessage
	Signing        map[string]keyObject
}

type savedDevice struct {
	ID          id.DeviceID
	Name, Token string
	Keys        keyObject
	OneTime     map[string]json.RawMessage
	Inbox       []savedToDevice
	Sent        map[string]any
}

type savedToDevice struct {
	Position int64
	Event    fields
}

type savedList struct {
	Position int64
	User     id.UserID
}

type savedRoom struct {
	ID     id.RoomID
	Events []savedEvent
}

type savedEvent struct {
	Position int64
	ID       id.EventID
	Sender   id.UserID
	Kind     string
	Key      *string
	Content  json.RawMessage
	Time     int64
	Redacts  id.EventID
	Because  id.EventID
	Device   id.DeviceID // of the sender
	Txn      string
}

// Save returns what a homeserver in memory holds, for Restore.
func (s *Server) Save() []byte {
	d := s.double
	d.mu.Lock()
	defer d.mu.Unlock()
	w := saved{Position: d.position, Made: d.made, Time: time.Now(), Filters: d.filters}
	for _, user := range slices.Sorted(maps.Keys(d.accounts)) {
		a := d.accounts[user]
		sa := savedAccount{User: user, Password: a.password, Name: a.name, Data: a.data, Signing: a.signing}
		for _, name := range slices.Sorted(maps.Keys(a.devices)) {
			dev := a.devices[name]
			sd := savedDevice{ID: name, Name: dev.name, Token: dev.token, Keys: dev.keys, OneTime: dev.oneTime, Sent: dev.sent}
			for _, m := range dev.inbox {
				sd.Inbox = append(sd.Inbox, savedToDevice{m.position, m.event})
			}
			sa.Devices = append(sa.Devices, sd)
		}
		w.Accounts = append(w.Accounts, sa)
	}
	for _, at := range slices.Sorted(maps.Keys(d.rooms)) {
		sr := savedRoom{ID: at}
		for _, e := range d.rooms[at].events {
			se := savedEvent{Position: e.position, ID: e.id, Sender: e.sender, Kind: e.kind, Key: e.key, Content: e.content, Time: e.time, Redacts: e.redacts, Txn: e.txn}
			if e.because != nil {
				se.Because = e.because.id
			}
			if e.device != nil {
				se.Device = e.device.id
			}
			sr.Events = append(sr.Events, se)
		}
		w.Rooms = append(w.Rooms, sr)
	}
	for _, l := range d.lists {
		w.Lists = append(w.Lists, savedList{l.position, l.user})
	}
	return must(json.MarshalIndent(w, "", "\t"))
}

// Restore makes a homeserver in memory hold what Save has returned, and nothing
// else. It returns when that was.
func (s *Server) Restore(t testing.TB, data []byte) time.Time {
	t.Helper()
	var w saved
	if err := json.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	d := s.double
	d.mu.Lock()
	defer d.mu.Unlock()
	d.position, d.made, d.lists = w.Position, w.Made, nil
	clear(d.accounts)
	clear(d.tokens)
	clear(d.rooms)
	maps.Copy(d.filters, w.Filters)
	for _, sa := range w.Accounts {
		a := &account{user: sa.User, password: sa.Password, name: sa.Name, devices: map[id.DeviceID]*device{}, data: map[string]json.RawMessage{}, signing: map[string]keyObject{}}
		maps.Copy(a.data, sa.Data)
		maps.Copy(a.signing, sa.Signing)
		for _, sd := range sa.Devices {
			dev := &device{account: a, id: sd.ID, name: sd.Name, token: sd.Token, keys: sd.Keys, oneTime: map[string]json.RawMessage{}, sent: map[string]any{}}
			maps.Copy(dev.oneTime, sd.OneTime)
			maps.Copy(dev.sent, sd.Sent)
			for _, m := range sd.Inbox {
				dev.inbox = append(dev.inbox, toDevice{m.Position, m.Event})
			}
			a.devices[dev.id], d.tokens[dev.token] = dev, dev
		}
		d.accounts[a.user] = a
	}
	for _, sr := range w.Rooms {
		r := &room{id: sr.ID, state: map[stateKey]*roomEvent{}, joined: map[id.UserID]int64{}, typing: map[id.UserID]*time.Timer{}}
		d.rooms[r.id] = r
		because := map[id.EventID]id.EventID{}
		for _, se := range sr.Events {
			e := &roomEvent{id: se.ID, sender: se.Sender, kind: se.Kind, key: se.Key, content: se.Content, time: se.Time, redacts: se.Redacts, txn: se.Txn}
			if a := d.accounts[se.Sender]; a != nil {
				e.device = a.devices[se.Device]
			}
			r.add(e, se.Position)
			if se.Because != "" {
				because[e.id] = se.Because
			}
		}
		for what, by := range because {
			r.find(what).because = r.find(by)
		}
	}
	for _, l := range w.Lists {
		d.lists = append(d.lists, listChange{l.Position, l.User})
	}
	return w.Time
}

// ForgetTransactions makes a homeserver in memory repeat a request that comes again.
func (s *Server) ForgetTransactions() {
	s.double.mu.Lock()
	defer s.double.mu.Unlock()
	for _, dev := range s.double.tokens {
		clear(dev.sent)
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
