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
	position int64
	event    fields
}

// delivered drops what a device got by its last answer, and returns what is new.
func (dev *device) delivered(since int64) []fields {
	dev.inbox = slices.DeleteFunc(dev.inbox, func(m toDevice) bool { return m.position <= since })
	out := []fields{}
	for _, m := range dev.inbox[:min(len(dev.inbox), 100)] {
		out = append(out, m.event)
	}
	return out
}

// A listChange is a change of somebody's devices.
type listChange struct {
	position int64
	user     id.UserID
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
			if at.kind == "m.room.member" && e.position > since && e.before.field("membership") == "join" && e.field("membership") != "join" {
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
		if c.position > since && together[c.user] {
			changed[c.user] = true
		}
	}
	maps.DeleteFunc(left, func(u id.UserID, _ bool) bool { return together[u] })
	return lists{slices.Sorted(maps.Keys(changed)), slices.Sorted(maps.Keys(left))}
}

func (d *double) handleKeys() {
	const v3 = "/_matrix/client/v3/"
	d.handle("POST "+v3+"keys/upload", d.uploadKeys)
	d.handle("POST "+v3+"keys/query", d.queryKeys)
	d.handle("POST "+v3+"keys/claim", d.claimKeys)
	d.handle("POST "+v3+"keys/signatures/upload", d.uploadSignatures)
	d.handle("POST "+v3+"keys/device_signing/upload", d.uploadSigningKeys)
	d.handle("PUT "+v3+"sendToDevice/{type}/{txn}", d.sendToDevice)
	d.handle("GET "+v3+"devices", d.getDevices)
	d.handle("GET "+v3+"devices/{device}", d.getDevice)
	d.handle("DELETE "+v3+"devices/{device}", d.deleteDevice)
}

func (d *double) uploadKeys(c *call) (any, error) {
	var ask struct {
		Device  keyObject                  `json:"device_keys"`
		OneTime map[string]json.RawMessage `json:"one_time_keys"`
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	if len(ask.Device) > 0 {
		c.keys = ask.Device
		d.listChanged(c.user)
	}
	maps.Copy(c.oneTime, ask.OneTime)
	return fields{"one_time_key_counts": fields{"signed_curve25519": len(c.oneTime)}}, nil
}

func (d *double) queryKeys(c *call) (any, error) {
	var ask struct {
		Devices map[id.UserID][]id.DeviceID `json:"device_keys"`
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	devices := map[id.UserID]map[id.DeviceID]fields{}
	signing := map[string]map[id.UserID]keyObject{"master": {}, "self_signing": {}, "user_signing": {}}
	for user, only := range ask.Devices {
		who := d.accounts[user]
		if who == nil {
			continue
		}
		devices[user] = map[id.DeviceID]fields{}
		for name, dev := range who.devices {
			if dev.keys == nil || len(only) > 0 && !slices.Contains(only, name) {
				continue
			}
			keys := fields{"unsigned": fields{"device_display_name": dev.name}}
			for k, v := range dev.keys {
				keys[k] = v
			}
			devices[user][name] = keys
		}
		for kind, keys := range who.signing {
			if kind != "user_signing" || user == c.user {
				signing[kind][user] = keys
			}
		}
	}
	return fields{"device_keys": devices, "master_keys": signing["master"], "self_signing_keys": signing["self_signing"], "user_signing_keys": signing["user_signing"], "failures": fields{}}, nil
}

func (d *double) claimKeys(c *call) (any, error) {
	var ask struct {
		Keys map[id.UserID]map[id.DeviceID]string `json:"one_time_keys"`
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	given := map[id.UserID]map[id.DeviceID]map[string]json.RawMessage{}
	for user, devices := range ask.Keys {
		for name := range devices {
			who := d.accounts[user]
			if who == nil || who.devices[name] == nil || len(who.devices[name].oneTime) == 0 {
				continue
			}
			dev := who.devices[name]
			first := slices.Min(slices.Collect(maps.Keys(dev.oneTime)))
			if given[user] == nil {
				given[user] = map[id.DeviceID]map[string]json.RawMessage{}
			}
			given[user][name] = map[string]json.RawMessage{first: dev.oneTime[first]}
			delete(dev.oneTime, first)
		}
	}
	return fields{"one_time_keys": given, "failures": fields{}}, nil
}

func (d *double) uploadSignatures(c *call) (any, error) {
	var ask map[id.UserID]map[string]keyObject
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	for user, objects := range ask {
		who := d.accounts[user]
		if who == nil {
			continue
		}
		for name, signed := range objects {
			if dev := who.devices[id.DeviceID(name)]; dev != nil && dev.keys != nil {
				dev.keys.sign(signed["signatures"])
			}
			for _, keys := range who.signing {
				var public map[string]string
				if json.Unmarshal(keys["keys"], &public) == nil && public["ed25519:"+name] != "" {
					keys.sign(signed["signatures"])
				}
			}
		}
		d.listChanged(user)
	}
	return fields{"failures": fields{}}, nil
}

func (d *double) uploadSigningKeys(c *call) (any, error) {
	var ask map[string]keyObject
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	if c.signing["master"] != nil { // the first need no password
		if err := d.confirmed(c); err != nil {
			return nil, err
		}
	}
	for _, kind := range []string{"master", "self_signing", "user_signing"} {
		if keys := ask[kind+"_key"]; keys != nil {
			c.signing[kind] = keys
		}
	}
	d.listChanged(c.user)
	return fields{}, nil
}

func (d *double) sendToDevice(c *call) (any, error) {
	return c.once(func() (any, error) {
		var ask struct {
			Messages map[id.UserID]map[id.DeviceID]json.RawMessage
		}
		if err := c.read(&ask); err != nil {
			return nil, err
		}
		for user, devices := range ask.Messages {
			who := d.accounts[user]
			if who == nil {
				continue
			}
			for name, content := range devices {
				for _, dev := range who.devices {
					if name == "*" || name == dev.id {
						dev.inbox = append(dev.inbox, toDevice{d.happens(), fields{"type": c.path("type"), "sender": c.user, "content": content}})
					}
				}
			}
		}
		return fields{}, nil
	})
}

func (dev *device) seen() fields {
	return fields{"device_id": dev.id, "user_id": dev.user, "display_name": dev.name}
}

func (d *double) getDevices(c *call) (any, error) {
	list := []fields{}
	for _, dev := range c.devices {
		list = append(list, dev.seen())
	}
	return fields{"devices": list}, nil
}

func (d *double) getDevice(c *call) (any, error) {
	dev := c.devices[id.DeviceID(c.path("device"))]
	if dev == nil {
		return nil, notFound("no such device")
	}
	return dev.seen(), nil
}

func (d *double) deleteDevice(c *call) (any, error) {
	if err := d.confirmed(c); err != nil {
		return nil, err
	}
	if dev := c.devices[id.DeviceID(c.path("device"))]; dev != nil {
		d.logOut(dev)
	}
	return fields{}, nil
}
