package bot

import "github.com/halfpoint-go/halfpoint/bot/match"

// What package match decides about, under the names by which adapters and stores
// know it.
type (
	GameID       = match.GameID
	Person       = match.Person
	Room         = match.Room
	Match        = match.Match
	Standing     = match.Standing
	State        = match.State
	Event        = match.Event
	Step         = match.Step
	Typed        = match.Typed
	Owed         = match.Owed
	Lane         = match.Lane
	Due          = match.Due
	Reply        = match.Reply
	Control      = match.Control
	Preferences  = match.Preferences
	RoomSettings = match.RoomSettings
)

// The states of a match.
const (
	Open      = match.Open
	Going     = match.Going
	Ended     = match.Ended
	Cancelled = match.Cancelled
	Sandbox   = match.Sandbox
	Deleted   = match.Deleted
)

// The kinds of posts.
const (
	Show   = match.Show
	Notice = match.Notice
	Status = match.Status
	Remove = match.Remove
)

// Who shows a post right after the step in which it was stored.
const (
	Asker  = match.Asker
	Outbox = match.Outbox
)
