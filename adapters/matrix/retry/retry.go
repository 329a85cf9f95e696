// Package retry reads how long a homeserver asks its clients to wait.
package retry

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"maunium.net/go/mautrix"
)

// Most bounds how long the bot waits because the homeserver asks for it.
const Most = 10 * time.Minute

// After returns how long the homeserver asks to wait; 0: it does not ask.
func After(err error) time.Duration {
	var e mautrix.HTTPError
	for errors.As(err, &e) && e.Response == nil { // for example of a request that needed new tokens first
		err = e.WrappedError
	}
	if !e.IsStatus(http.StatusTooManyRequests) {
		return 0
	}
	if e.RespError != nil {
		if ms, ok := e.RespError.ExtraData["retry_after_ms"].(float64); ok && ms > 0 {
			return time.Duration(min(ms, float64(Most.Milliseconds()))) * time.Millisecond
		}
	}
	if s, err := strconv.Atoi(e.Response.Header.Get("Retry-After")); err == nil && s > 0 {
		return time.Duration(min(s, int(Most.Seconds()))) * time.Second
	}
	return 5 * time.Second
}
