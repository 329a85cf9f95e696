package matrixtest

import (
	"encoding/json"
	"maps"
	"slices"

	"maunium.net/go/mautrix/id"
)

// This file is what the double does for encryption: it keeps public keys and hands
// on what devices send each other. It looks into nothing.

// A keyObject is an object of keys with signatures.
type keyObject map[string]json.RawMessage

// sign adds signatures to those that are there.
func (k keyObject) sign(more json.RawMessage) {
	var now, then map[string]map[string]json.RawMessage
	_ = json.Unmarshal(k["signatures"], &now)
	_ = json.Unmarshal(more, &then)
	if now == nil {
		now = map[string]map[string]json.RawMessage{}
	}
	for user, signatures := range then {
		if now[user] == nil {
			now[user] = map[string]json.RawMessage{}
		}
		maps.Copy(now[user], signatures)
	}
	k["signatures"] = must(json.Marshal(now))
}

// A toDevice is a message to a device, which is there until it was delivered.
type toDevice struct {
	Position int64
	Event    fields
}

// delivered drops what a device got by its last answer, and returns what is new.
func (dev *device) delivered(since int64) []fields {
	dev.Inbox = slices.DeleteFunc(dev.Inbox, func(m toDevice) bool { return m.Position <= since })
	out := []fields{}
	for _, m := range dev.Inbox[:min(len(dev.Inbox), 100)] {
		out = append(out, m.Event)
	}
	return out
}

// A listChange is a change of somebody's devices.
type listChange struct {
	Position int64
	User     id.UserID
}

func (d *double) listChanged(user id.UserID) {
	d.lists = append(d.lists, listChange{d.happens(), user})
}

type lists struct {
	Changed []id.UserID `json:"changed,omitempty"`
	Left    []id.UserID `json:"left,omitempty"`
}

// listsSince says whose devices have changed, of those with whom somebody is in a
// room, who has come into such a room, and who is in none any more.
func (d *double) listsSince(user id.UserID, since int64) (l lists) {
	if since == 0 {
		return l
	}
	changed, left, together := map[id.UserID]bool{}, map[id.UserID]bool{}, map[id.UserID]bool{user: true}
	for _, r := range d.rooms {
		came := r.joined[user]
		for other, at := range r.joined {
			if came > 0 && other != user {
				together[other] = true
				if came > since || at > since {
					changed[other] = true
				}
			}
		}
		for at, e := range r.state {
			if at.kind == "m.room.member" && e.Position > since && e.before.field("membership") == "join" && e.field("membership") != "join" {
				switch {
				case at.key == user.String(): // the others are still here
					for other := range r.joined {
						left[other] = true
					}
				case came > 0:
					left[id.UserID(at.key)] = true
				}
			}
		}
	}
	for _, c := range d.lists {
		if c.Position > since && together[c.User] {
			changed[c.User] = true
		}
	}
	maps.DeleteFunc(left, func(u id.UserID, _ bool) bool { return together[u] })
	return lists{slices.Sorted(maps.Keys(changed)), slices.Sorted(maps.Keys(left))}
}

// device returns somebody's device, or nil.
func (d *double) device(user id.UserID, name id.DeviceID) *device {
	if who := d.accounts[user]; who != nil {
		return who.devices[name]
	}
	return nil
}

func (d *double) uploadKeys(c *call) any {
	ask := read[struct {
		Device  keyObject                  `json:"device_keys"`
		OneTime map[string]json.RawMessage `json:"one_time_keys"`
	}](c)
	if len(ask.Device) > 0 {
		c.Keys = ask.Device
		d.listChanged(c.User)
	}
	maps.Copy(c.OneTime, ask.OneTime)
	return fields{"one_time_key_counts": fields{"signed_curve25519": len(c.OneTime)}}
}

func (d *double) queryKeys(c *call) any {
	ask := read[struct {
		Devices map[id.UserID][]id.DeviceID `json:"device_keys"`
	}](c)
	devices := map[id.UserID]map[id.DeviceID]fields{}
	signing := map[string]map[id.UserID]keyObject{"master": {}, "self_signing": {}, "user_signing": {}}
	for user, only := range ask.Devices {
		who := d.accounts[user]
		if who == nil {
			continue
		}
		devices[user] = map[id.DeviceID]fields{}
		for name, dev := range who.devices {
			if dev.Keys == nil || len(only) > 0 && !slices.Contains(only, name) {
				continue
			}
			keys := fields{"unsigned": fields{"device_display_name": dev.Name}}
			for k, v := range dev.Keys {
				keys[k] = v
			}
			devices[user][name] = keys
		}
		for kind, keys := range who.Signing {
			if kind != "user_signing" || user == c.User {
				signing[kind][user] = keys
			}
		}
	}
	return fields{"device_keys": devices, "master_keys": signing["master"], "self_signing_keys": signing["self_signing"], "user_signing_keys": signing["user_signing"], "failures": fields{}}
}

func (d *double) claimKeys(c *call) any {
	ask := read[struct {
		Keys map[id.UserID]map[id.DeviceID]string `json:"one_time_keys"`
	}](c)
	given := map[id.UserID]map[id.DeviceID]map[string]json.RawMessage{}
	for user, devices := range ask.Keys {
		given[user] = map[id.DeviceID]map[string]json.RawMessage{}
		for name := range devices {
			if dev := d.device(user, name); dev != nil && len(dev.OneTime) > 0 {
				first := slices.Min(slices.Collect(maps.Keys(dev.OneTime)))
				given[user][name] = map[string]json.RawMessage{first: dev.OneTime[first]}
				delete(dev.OneTime, first)
			}
		}
	}
	return fields{"one_time_keys": given, "failures": fields{}}
}

func (d *double) uploadSignatures(c *call) any {
	for user, objects := range read[map[id.UserID]map[string]keyObject](c) {
		who := d.accounts[user]
		if who == nil {
			continue
		}
		for name, signed := range objects {
			if dev := who.devices[id.DeviceID(name)]; dev != nil && dev.Keys != nil {
				dev.Keys.sign(signed["signatures"])
			}
			for _, keys := range who.Signing {
				var public map[string]string
				if json.Unmarshal(keys["keys"], &public) == nil && public["ed25519:"+name] != "" {
					keys.sign(signed["signatures"])
				}
			}
		}
		d.listChanged(user)
	}
	return fields{"failures": fields{}}
}

func (d *double) uploadSigningKeys(c *call) any {
	if c.Signing["master"] != nil { // the first need no password
		d.confirmed(c)
	}
	ask := read[map[string]keyObject](c)
	for _, kind := range []string{"master", "self_signing", "user_signing"} {
		if keys := ask[kind+"_key"]; keys != nil {
			c.Signing[kind] = keys
		}
	}
	d.listChanged(c.User)
	return fields{}
}

func (d *double) sendToDevice(c *call) any {
	ask := read[struct {
		Messages map[id.UserID]map[id.DeviceID]json.RawMessage
	}](c)
	for user, devices := range ask.Messages {
		who := d.accounts[user]
		if who == nil {
			continue
		}
		for name, content := range devices {
			for _, dev := range who.devices {
				if name == "*" || name == dev.ID {
					dev.Inbox = append(dev.Inbox, toDevice{d.happens(), fields{"type": c.path("type"), "sender": c.User, "content": content}})
				}
			}
		}
	}
	return fields{}
}

func (dev *device) seen() fields {
	return fields{"device_id": dev.ID, "user_id": dev.User, "display_name": dev.Name}
}

func (d *double) getDevices(c *call) any {
	list := []fields{}
	for _, dev := range c.devices {
		list = append(list, dev.seen())
	}
	return fields{"devices": list}
}

func (d *double) getDevice(c *call) any {
	dev := c.devices[id.DeviceID(c.path("device"))]
	if dev == nil {
		miss("no such device")
	}
	return dev.seen()
}

func (d *double) deleteDevice(c *call) any {
	d.confirmed(c)
	if dev := c.devices[id.DeviceID(c.path("device"))]; dev != nil {
		d.end(dev)
	}
	return fields{}
}
