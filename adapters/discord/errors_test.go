package discord

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Each kind of failure at Discord is one kind of the outbox's; the rest is tried again.
func TestOutboxErrors(t *testing.T) {
	refusal := func(status, code int) error { return &rest.Error{Status: status, Code: code} }
	limited := func(scope string) error { return &rest.RateLimited{Wait: time.Minute, Scope: scope} }
	kinds := []error{outbox.ErrAmbiguous, outbox.ErrTooLarge, outbox.ErrGone, outbox.ErrRefused}
	for _, at := range []struct {
		err  error
		kind error // nil: none of them
		as   error // the error itself, where it is a value
	}{
		{err: &rest.Ambiguous{Cause: errors.New("lost")}, kind: outbox.ErrAmbiguous},
		{err: &rest.Ambiguous{Cause: limited(rest.ScopeUser)}, kind: outbox.ErrAmbiguous},
		{err: limited(rest.ScopeUser), as: outbox.RetryAfter{Wait: time.Minute}},
		{err: limited(rest.ScopeShared), as: outbox.RetryAfter{Wait: time.Minute}},
		{err: limited(rest.ScopeGlobal), as: outbox.RetryAfter{Wait: time.Minute, Account: true}},
		{err: refusal(http.StatusRequestEntityTooLarge, 0), kind: outbox.ErrTooLarge},
		{err: refusal(http.StatusForbidden, discordgo.ErrCodeMissingPermissions), as: outbox.Forbidden{Permission: "Attach Files"}},
		{err: refusal(http.StatusBadRequest, discordgo.ErrCodeThreadIsLocked), as: outbox.Forbidden{Permission: "Attach Files"}},
		{err: refusal(http.StatusNotFound, 10003), kind: outbox.ErrGone},
		{err: refusal(http.StatusUnauthorized, discordgo.ErrCodeInvalidWebhookTokenProvided), kind: outbox.ErrGone},
		{err: refusal(http.StatusBadRequest, 50035), kind: outbox.ErrRefused},
		{err: refusal(http.StatusBadRequest, discordgo.ErrCodePerformedOperationOnArchivedThread)},
		{err: &rest.NotSent{Cause: errors.New("405 from a server in front of Discord")}},
		{err: nil},
	} {
		got := outboxError(at.err, "Attach Files")
		for _, kind := range kinds {
			if errors.Is(got, kind) != (kind == at.kind) {
				t.Errorf("%v is %v", at.err, got)
			}
		}
		if at.as != nil && got != at.as {
			t.Errorf("%v is %#v, want %#v", at.err, got, at.as)
		}
		if at.as == nil && !errors.Is(got, at.err) {
			t.Errorf("%v does not hold %v", got, at.err)
		}
	}
}
