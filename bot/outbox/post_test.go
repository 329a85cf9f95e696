package outbox

import (
	"errors"
	"fmt"
	"testing"
)

// The permission that an error names is known from its text, as it is stored with posts.
func TestLacks(t *testing.T) {
	lacks := Forbidden{Permission: "View Channel, Send Messages"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{lacks, lacks.Permission},
		{InThread{lacks}, lacks.Permission},
		{fmt.Errorf("%w: %w", lacks, errors.New("M_FORBIDDEN: level 0: too low")), lacks.Permission},
		{Forbidden{}, ""},
		{InThread{fmt.Errorf("%w: channel: 404", ErrGone)}, ""},
	} {
		if got := Lacks(c.err.Error()); got != c.want {
			t.Errorf("%v: %q is lacking, want %q", c.err, got, c.want)
		}
	}
}
