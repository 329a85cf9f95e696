package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Values of RateLimited.Scope: the limit that was hit.
const (
	ScopeUser       = "user"       // this bot, on this route
	ScopeShared     = "shared"     // everybody, on this channel; does not count as invalid
	ScopeGlobal     = "global"     // this bot, everywhere
	ScopeCloudflare = "cloudflare" // this machine's address
	ScopeOwn        = "own"        // this client: too much at once, or too many invalid requests lately
	ScopeToken      = "token"      // this client: the token was not accepted a moment ago
)

// RateLimited says that it was not done and when to ask again.
type RateLimited struct {
	What  string
	Wait  time.Duration
	Scope string
}

// Error says how long to wait.
func (e *RateLimited) Error() string {
	return fmt.Sprintf("%s: asked to wait %v (%s)", e.What, e.Wait, e.Scope)
}

// An Error is a refusal by Discord: it was not done.
type Error struct {
	What    string
	Status  int    // of HTTP
	Code    int    // Discord's own; 0 if it gave none
	Message string // Discord's words
	Detail  string // Discord's complaints, by field, as JSON
}

// Error returns Discord's words.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %d %s", e.What, e.Status, e.Message)
	if e.Code != 0 {
		s += fmt.Sprintf(" (%d)", e.Code)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// NotSent says that nothing reached Discord, or that a server in front of it
// refused.
type NotSent struct {
	What  string
	Cause error
}

// Error returns the cause.
func (e *NotSent) Error() string { return e.What + ": not sent: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *NotSent) Unwrap() error { return e.Cause }

// Ambiguous says that it is not known whether it was done.
type Ambiguous struct {
	What  string
	Cause error
}

// Error returns the cause.
func (e *Ambiguous) Error() string {
	return e.What + ": it is not known whether it was done: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Ambiguous) Unwrap() error { return e.Cause }

// Codes of Discord's errors that discordgo does not name.
const (
	CodeTooManyFollowUps = 40094
	CodeCannotDMShared   = 50278
)

// refusal returns the refusal in err, an empty one if there is none.
func refusal(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{}
}

// Code is Discord's code in err, 0 if there is none.
func Code(err error) int { return refusal(err).Code }

// OldEdits reports that too many messages older than an hour were edited in a channel.
// Discord says not when it takes more: https://github.com/discord/discord-api-docs/issues/4413.
func OldEdits(err error) bool {
	return Code(err) == discordgo.ErrCodeMaximumNumberOfEditsToMessagesOlderThanOneHourReached
}

// Gone reports that the channel, message or interaction exists no more.
func Gone(err error) bool {
	e := refusal(err)
	return e.Status == http.StatusNotFound || e.Code == discordgo.ErrCodeInvalidWebhookTokenProvided || e.Code == discordgo.ErrCodeUnknownInteraction
}

// Forbidden reports that a permission is lacking or that the person does not
// take direct messages.
func Forbidden(err error) bool {
	e := refusal(err)
	return e.Status == http.StatusForbidden || e.Code == discordgo.ErrCodeThreadIsLocked
}

// TooLarge reports that the message or its files are too large.
func TooLarge(err error) bool {
	e := refusal(err)
	return errors.Is(err, errTooLarge) || e.Status == http.StatusRequestEntityTooLarge || e.Code == discordgo.ErrCodeRequestEntityTooLarge
}

// Refused reports that Discord does not take the message itself: a moderator's filter
// stopped it, or it has a wrong form.
func Refused(err error) bool {
	e := refusal(err)
	return e.Status == http.StatusBadRequest && e.Code != discordgo.ErrCodePerformedOperationOnArchivedThread && e.Code != discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged
}

// readError reads what Discord says of a refusal.
func readError(what string, resp *http.Response, data []byte) *Error {
	e := &Error{What: what, Status: resp.StatusCode}
	var body struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(data, &body) == nil {
		e.Code, e.Message, e.Detail = body.Code, body.Message, Clip(string(body.Errors), maxDetail)
	}
	e.Message = cmp.Or(e.Message, http.StatusText(resp.StatusCode))
	return e
}

// maxDetail is how much of Discord's complaints is kept, in characters.
const maxDetail = 500

// isJSON tells Discord's answers from a page of Cloudflare's.
func isJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && data[0] == '{' && json.Valid(data)
}

// seconds reads a number of seconds, which may have a fraction.
func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f <= 0 || f > 1e8 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}
