package retry

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"maunium.net/go/mautrix"
)

// Numbers beyond what can be waited for are bounded like others.
func TestAfter(t *testing.T) {
	for _, x := range []struct {
		ms     any
		header string
		want   time.Duration
	}{
		{1500.0, "300", 1500 * time.Millisecond}, {1e13, "", Most}, {1e30, "", Most}, {-1.0, "", 5 * time.Second}, {"soon", "2", 2 * time.Second},
		{nil, "300", 5 * time.Minute}, {nil, "99999999999", Most}, {nil, "18446744074", Most}, {nil, "tomorrow", 5 * time.Second},
	} {
		err := mautrix.HTTPError{Response: &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {x.header}}},
			RespError: &mautrix.RespError{ExtraData: map[string]any{"retry_after_ms": x.ms}}}
		if got := After(fmt.Errorf("send: %w", err)); got != x.want {
			t.Errorf("%v, %q: %v, want %v", x.ms, x.header, got, x.want)
		}
	}
	if got := After(mautrix.HTTPError{Response: &http.Response{StatusCode: http.StatusBadGateway}}); got != 0 {
		t.Errorf("without being asked: %v", got)
	}
}
