package discord

import (
	"errors"
	"fmt"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// outboxError returns an error of Discord's as the outbox knows it; permission is the one
// that the request needs. Any other error stays as it is: the outbox tries again later.
func outboxError(err error, permission string) error {
	_, lost := errors.AsType[*rest.Ambiguous](err)
	wait, limited := errors.AsType[*rest.RateLimited](err)
	switch {
	case lost:
		return fmt.Errorf("%w: %w", outbox.ErrAmbiguous, err)
	case limited:
		return outbox.RetryAfter{Wait: wait.Wait, Account: wait.Scope == rest.ScopeGlobal}
	case rest.TooLarge(err):
		return fmt.Errorf("%w: %w", outbox.ErrTooLarge, err)
	case rest.Forbidden(err):
		return outbox.Forbidden{Permission: permission}
	case rest.Gone(err):
		return fmt.Errorf("%w: %w", outbox.ErrGone, err)
	case rest.Refused(err):
		return fmt.Errorf("%w: %w", outbox.ErrRefused, err)
	}
	return err
}
