//go:build !goolm

package e2ee

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestOff(t *testing.T) {
	m, err := Open(context.Background(), Config{})
	if Available || m != nil || !errors.Is(err, ErrOff) || !strings.Contains(err.Error(), "encrypted rooms are off") {
		t.Errorf("available %v, %v, %v", Available, m, err)
	}
}
