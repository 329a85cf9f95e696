package e2ee

import (
	"context"
	"fmt"
	"net/http"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// FetchMembers stores all members of a room, for which it asks the homeserver unless they are
// known. What /sync says of somebody meanwhile is newer than the answer, and stays. The
// client's own method would replace it: who joins just then would get no keys, and who
// leaves would still get them.
func FetchMembers(ctx context.Context, client *mautrix.Client, state StateStore, room id.RoomID) error {
	if known, err := state.HasFetchedMembers(ctx, room); err != nil || known {
		return err
	}
	before, err := state.GetAllMembers(ctx, room)
	if err != nil {
		return err
	}
	var answer mautrix.RespMembers
	if _, err := client.MakeRequest(ctx, http.MethodGet, client.BuildClientURL("v3", "rooms", room, "members"), nil, &answer); err != nil {
		return err
	}
	return state.DoTxn(ctx, nil, func(ctx context.Context) error {
		now, err := state.GetAllMembers(ctx, room)
		if err != nil {
			return err
		}
		// Who was there is dropped when the bot leaves. Nobody says from then on who goes.
		if self := client.UserID; before[self] != nil && now[self] == nil {
			return fmt.Errorf("left %s while its members were asked for", room)
		}
		var members []*event.Event
		for _, e := range answer.Chunk {
			if e.StateKey == nil {
				continue
			}
			if user := id.UserID(*e.StateKey); sameMember(before[user], now[user]) {
				_ = e.Content.ParseRaw(event.StateMember) // one that cannot be read is left out
				members = append(members, e)
			}
		}
		for user, m := range now {
			if !sameMember(before[user], m) {
				key := user.String()
				members = append(members, &event.Event{StateKey: &key, Content: event.Content{Parsed: m}})
			}
		}
		return state.ReplaceCachedMembers(ctx, room, members) // and marks them as fetched
	})
}

// sameMember reports whether the store says the same of somebody; nil: nothing.
func sameMember(a, b *event.MemberEventContent) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Membership == b.Membership && a.Displayname == b.Displayname && a.AvatarURL == b.AvatarURL
}
