package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
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
	Detail  string // the first field that is wrong, and why: "components[0].label: …"
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

// Code is Discord's code in err, 0 if there is none.
func Code(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// Gone reports that the channel, message or interaction exists no more.
func Gone(err error) bool {
	var e *Error
	if !errors.As(err, &e) || isAmbiguous(err) {
		return false
	}
	return e.Status == http.StatusNotFound || e.Code == discordgo.ErrCodeInvalidWebhookTokenProvided || e.Code == discordgo.ErrCodeUnknownInteraction
}

// Forbidden reports that a permission is lacking or that the person does not
// take direct messages.
func Forbidden(err error) bool {
	var e *Error
	if !errors.As(err, &e) || isAmbiguous(err) {
		return false
	}
	return e.Status == http.StatusForbidden || e.Code == discordgo.ErrCodeThreadIsLocked
}

// TooLarge reports that the message or its files are too large.
func TooLarge(err error) bool {
	var e *Error
	return errors.Is(err, errTooLarge) ||
		errors.As(err, &e) && !isAmbiguous(err) && (e.Status == http.StatusRequestEntityTooLarge || e.Code == discordgo.ErrCodeRequestEntityTooLarge)
}

func isAmbiguous(err error) bool {
	var a *Ambiguous
	return errors.As(err, &a)
}

// BotError returns err as [bot.Adapter] knows it; permission is the one that the
// request needs. Any other error stays as it is: it is tried again later.
func BotError(err error, permission string) error {
	var wait *RateLimited
	switch {
	case err == nil:
		return nil
	case isAmbiguous(err):
		return fmt.Errorf("%w: %w", outbox.ErrAmbiguous, err)
	case errors.As(err, &wait):
		return outbox.RetryAfter{Wait: wait.Wait, Account: wait.Scope == ScopeGlobal}
	case TooLarge(err):
		return fmt.Errorf("%w: %w", outbox.ErrTooLarge, err)
	case Forbidden(err):
		return outbox.Forbidden{Permission: permission}
	case Gone(err):
		return fmt.Errorf("%w: %w", outbox.ErrGone, err)
	case refused(err):
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	return err
}

// refused reports that the message itself is not taken: by a moderator's filter,
// or for its form.
func refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == http.StatusBadRequest && e.Code != discordgo.ErrCodePerformedOperationOnArchivedThread && e.Code != discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged
}

// as adds to an error of the client's own waiting the name of what waited.
func as(what string, err error) error {
	var wait *RateLimited
	if errors.As(err, &wait) {
		wait.What = what
		return wait
	}
	return &NotSent{What: what, Cause: err}
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
		e.Code, e.Message = body.Code, body.Message
		e.Detail = firstDetail(body.Errors, "", 0)
	}
	if e.Message == "" {
		e.Message = http.StatusText(resp.StatusCode)
	}
	return e
}

// firstDetail finds the first complaint in Discord's tree of them.
func firstDetail(data json.RawMessage, path string, depth int) string {
	var node map[string]json.RawMessage
	if depth > 16 || json.Unmarshal(data, &node) != nil {
		return ""
	}
	if leaf, ok := node["_errors"]; ok {
		var all []struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(leaf, &all) == nil && len(all) > 0 {
			return strings.TrimPrefix(path+": "+all[0].Message, ": ")
		}
	}
	names := make([]string, 0, len(node))
	for name := range node {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		next := strings.TrimPrefix(path+"."+name, ".")
		if _, err := strconv.Atoi(name); err == nil {
			next = path + "[" + name + "]"
		}
		if s := firstDetail(node[name], next, depth+1); s != "" {
			return s
		}
	}
	return ""
}

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
