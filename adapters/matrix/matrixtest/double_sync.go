package matrixtest

import (
	"maps"
	"slices"
	"time"

	"maunium.net/go/mautrix/id"
)

// This file is what the double tells those who ask for news.

// A syncFilter is what somebody wants to know.
type syncFilter struct {
	Room struct {
		State     part
		Timeline  part
		Ephemeral part
	}
}

func (d *double) sync(c *call) any {
	wait := c.numberOf("timeout", 0)
	filter, since := parse[syncFilter]([]byte(c.r.URL.Query().Get("filter")), "M_INVALID_PARAM"), c.positionOf("since", 0)
	first := c.r.URL.Query().Get("since") == ""
	late := time.NewTimer(time.Duration(wait) * time.Millisecond)
	defer late.Stop()
	for {
		changed := d.mu.news()
		answer, news := d.news(c.device, since, filter)
		if news || first || wait == 0 || !d.waits(c.r.Context(), changed, late.C) {
			return answer
		}
		d.caller(c) // who may have been logged out meanwhile
	}
}

// news is what has happened since, and whether anything has.
func (d *double) news(dev *device, since int64, filter syncFilter) (answer fields, any bool) {
	join, invite, leave := fields{}, fields{}, fields{}
	for at, r := range d.rooms {
		member := r.state[stateKey{"m.room.member", dev.User.String()}]
		if member == nil {
			continue
		}
		switch is := member.field("membership"); is {
		case "join":
			if told := r.news(dev, since, d.position, filter); told != nil {
				join[at.String()] = told
			}
		case "invite":
			if member.Position > since {
				invite[at.String()] = fields{"invite_state": fields{"events": r.preview(dev)}}
			}
		case "leave", "ban":
			if since > 0 && member.Position > since {
				if told := r.news(dev, since, member.Position, filter); told != nil {
					delete(told, "ephemeral")
					delete(told, "summary")
					leave[at.String()] = told
				}
			}
		}
	}
	inbox := dev.delivered(since)
	lists := d.listsSince(dev.User, since)
	answer = fields{
		"next_batch": token(d.position), "rooms": fields{"join": join, "invite": invite, "leave": leave},
		"to_device": fields{"events": inbox}, "device_lists": lists, "device_one_time_keys_count": fields{"signed_curve25519": len(dev.OneTime)},
	}
	return answer, len(join)+len(invite)+len(leave)+len(inbox)+len(lists.Changed)+len(lists.Left) > 0
}

// preview is what somebody who is invited is told of the room.
func (r *room) preview(dev *device) (state []fields) {
	for at, e := range r.state {
		switch at.kind {
		case "m.room.create", "m.room.join_rules", "m.room.name", "m.room.encryption", "m.room.canonical_alias", "m.room.avatar":
		case "m.room.member":
			if at.key != dev.User.String() {
				continue
			}
		default:
			continue
		}
		state = append(state, fields{"type": e.Kind, "state_key": at.key, "sender": e.Sender, "content": e.Content})
	}
	return state
}

// news is what has happened in a room since, for somebody who is there or has left
// at the position upTo; nil if it is nothing.
func (r *room) news(dev *device, since, upTo int64, filter syncFilter) fields {
	whole := since == 0 || r.joined[dev.User] > since // all that one who comes has to know
	from := since
	if whole {
		from = 0
	}
	if r.joined[dev.User] == 0 && len(r.readable(dev.User)) == 0 { // they never were here
		from = upTo - 1
	}
	line := slices.Clone(r.between(from, upTo))
	line = slices.DeleteFunc(line, func(e *roomEvent) bool { return !filter.Room.Timeline.takes(e.Kind, e.Sender) })
	limit := filter.Room.Timeline.Limit
	if limit <= 0 {
		limit = 20
	}
	limited := len(line) > limit
	line = line[max(0, len(line)-limit):]
	begin := upTo // of the timeline
	if len(line) > 0 {
		begin = line[0].Position - 1
	}
	state := map[stateKey]*roomEvent{}
	if whole || limited {
		for _, e := range r.between(from, begin) {
			if e.Key != nil && filter.Room.State.takes(e.Kind, e.Sender) {
				state[stateKey{e.Kind, *e.Key}] = e
			}
		}
	}
	members := slices.ContainsFunc(r.between(from, upTo), func(e *roomEvent) bool { return e.Kind == "m.room.member" })
	ephemeral := r.ephemeral(since, whole, filter.Room.Ephemeral)
	if len(line)+len(state)+len(ephemeral) == 0 && !members && !whole {
		return nil
	}
	told := func(list []*roomEvent) []fields {
		out := []fields{}
		for _, e := range list {
			out = append(out, e.seen(r.id, dev))
		}
		return out
	}
	before := slices.SortedFunc(maps.Values(state), func(a, b *roomEvent) int { return int(a.Position - b.Position) })
	out := fields{
		"state":     fields{"events": told(before)},
		"timeline":  fields{"events": told(line), "limited": limited, "prev_batch": token(begin)},
		"ephemeral": fields{"events": ephemeral},
	}
	if members {
		count := map[string]int{}
		for at, e := range r.state {
			if at.kind == "m.room.member" {
				count[e.field("membership")]++
			}
		}
		out["summary"] = fields{"m.joined_member_count": count["join"], "m.invited_member_count": count["invite"]}
	}
	return out
}

// ephemeral is who types and who has read what.
func (r *room) ephemeral(since int64, whole bool, filter part) []fields {
	out := []fields{}
	if (r.typed > since || whole && len(r.typing) > 0) && filter.takes("m.typing", "") {
		users := slices.AppendSeq([]id.UserID{}, maps.Keys(r.typing))
		slices.Sort(users)
		out = append(out, fields{"type": "m.typing", "content": fields{"user_ids": users}})
	}
	read := map[id.EventID]map[string]map[id.UserID]fields{}
	for _, x := range r.receipts {
		if (x.position > since || whole) && x.kind == "m.read" {
			if read[x.event] == nil {
				read[x.event] = map[string]map[id.UserID]fields{x.kind: {}}
			}
			read[x.event][x.kind][x.user] = fields{"ts": x.time}
		}
	}
	if len(read) > 0 && filter.takes("m.receipt", "") {
		out = append(out, fields{"type": "m.receipt", "content": read})
	}
	return out
}
