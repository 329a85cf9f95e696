package bot

import "context"

// Told makes a request of which Ask returns the answer alone.
func Told(r Request) Request {
	r.told = true
	return r
}

// LookForPlayers looks for players of events who can no longer write in the room, as the bot does
// once a day.
func (b *Bot) LookForPlayers(ctx context.Context) { b.lookForPlayers(ctx) }

// Meet lets a bot know the members of an adapter's rooms, without running it.
func (b *Bot) Meet(a Adapter) { b.meet([]Adapter{a}) }
