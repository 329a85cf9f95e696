package matrixtest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"maunium.net/go/mautrix/id"
)

// This file is the double's backup of keys, as the specification has it under "Server-side
// key backups". It looks into no key.

// A backup is a version of an account's backup. The first is "1".
type backup struct {
	Algorithm string
	AuthData  json.RawMessage
	Sessions  map[id.RoomID]map[id.SessionID]backedUp
	Etag      int
	Deleted   bool
}

// backedUp is what is kept of a session.
type backedUp struct {
	First     int             `json:"first_message_index"`
	Forwarded int             `json:"forwarded_count"`
	Verified  bool            `json:"is_verified"`
	Data      json.RawMessage `json:"session_data"`
}

// better reports whether a key replaces another of the same session.
func (b backedUp) better(than backedUp) bool {
	switch {
	case b.Verified != than.Verified:
		return b.Verified
	case b.First != than.First:
		return b.First < than.First
	}
	return b.Forwarded < than.Forwarded
}

func (b *backup) count() (n int) {
	for _, sessions := range b.Sessions {
		n += len(sessions)
	}
	return n
}

// present returns the newest version that was not deleted.
func (a *account) present() (version string, b *backup) {
	for i := len(a.Backups) - 1; i >= 0; i-- {
		if !a.Backups[i].Deleted {
			return strconv.Itoa(i + 1), a.Backups[i]
		}
	}
	return "", nil
}

// version returns the backup that a request names.
func (c *call) version(name string) *backup {
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 || n > len(c.Backups) || c.Backups[n-1].Deleted {
		miss("Unknown backup version")
	}
	return c.Backups[n-1]
}

func (d *double) backup(c *call) any {
	name, b := c.present()
	if asked := c.path("version"); asked != "" {
		name, b = asked, c.version(asked)
	}
	if b == nil {
		miss("No current backup version")
	}
	return fields{"algorithm": b.Algorithm, "auth_data": b.AuthData, "count": b.count(), "etag": strconv.Itoa(b.Etag), "version": name}
}

func (d *double) makeBackup(c *call) any {
	ask := read[struct {
		Algorithm string
		AuthData  json.RawMessage `json:"auth_data"`
	}](c)
	if ask.Algorithm == "" || len(ask.AuthData) == 0 {
		refuse(http.StatusBadRequest, "M_MISSING_PARAM", "algorithm and auth_data are required")
	}
	c.Backups = append(c.Backups, &backup{Algorithm: ask.Algorithm, AuthData: ask.AuthData, Sessions: map[id.RoomID]map[id.SessionID]backedUp{}})
	return fields{"version": strconv.Itoa(len(c.Backups))}
}

func (d *double) deleteBackup(c *call) any {
	b := c.version(c.path("version"))
	b.Deleted, b.Sessions = true, nil
	return fields{}
}

func (d *double) backUp(c *call) any {
	name, b := c.present()
	asked := c.r.URL.Query().Get("version")
	if b == nil {
		miss("Unknown backup version")
	} else if asked != name {
		panic(refusal{http.StatusForbidden, fields{"errcode": "M_WRONG_ROOM_KEYS_VERSION", "error": "Wrong backup version.", "current_version": name}})
	}
	ask := read[struct {
		Rooms map[id.RoomID]struct{ Sessions map[id.SessionID]backedUp }
	}](c)
	for room, r := range ask.Rooms {
		if b.Sessions[room] == nil {
			b.Sessions[room] = map[id.SessionID]backedUp{}
		}
		for session, now := range r.Sessions {
			if was, there := b.Sessions[room][session]; !there || now.better(was) {
				b.Sessions[room][session] = now
				b.Etag++
			}
		}
	}
	return fields{"count": b.count(), "etag": strconv.Itoa(b.Etag)}
}

func (d *double) backedUp(c *call) any {
	found, there := c.version(c.r.URL.Query().Get("version")).Sessions[id.RoomID(c.path("room"))][id.SessionID(c.path("session"))]
	if !there {
		miss("Key not found.")
	}
	return found
}
