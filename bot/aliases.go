package bot

import (
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// What package match decides about, under the names by which adapters and stores
// know it.
type (
	GameID       = match.GameID
	PersonID     = match.PersonID
	Room         = match.Room
	Match        = match.Match
	Standing     = match.Standing
	State        = match.State
	Event        = match.Event
	Step         = match.Step
	Typed        = match.Typed
	OutboxPost   = match.OutboxPost
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

// What package outbox delivers, and what comes of it, for adapters and stores as well.
type (
	User        = outbox.User
	File        = outbox.File
	Message     = outbox.Message
	Post        = outbox.Post
	Receipt     = outbox.Receipt
	Owes        = outbox.Owes
	Limited     = outbox.Limited
	Decorations = outbox.Decorations
	RetryAfter  = outbox.RetryAfter
	Forbidden   = outbox.Forbidden
	InThread    = outbox.InThread
)

// The kinds of decorations.
const (
	Header   = outbox.Header
	Attach   = outbox.Attach
	Clear    = outbox.Clear
	Reaction = outbox.Reaction
	Ending   = outbox.Ending
)

// Errors of Deliver.
var (
	ErrGone      = outbox.ErrGone
	ErrTooLarge  = outbox.ErrTooLarge
	ErrAmbiguous = outbox.ErrAmbiguous
	ErrRefused   = outbox.ErrRefused
)
