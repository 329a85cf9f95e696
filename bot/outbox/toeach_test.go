package outbox

import (
	"errors"
	"fmt"
	"testing"
)

// Each person is told something whatever comes of the others.
func TestToEach(t *testing.T) {
	closed, wait := fmt.Errorf("%w: takes no messages", ErrRefused), RetryAfter{Wait: 1}
	lost := errors.New("connection reset")
	for _, c := range []struct {
		to    []error // what comes of each
		first Receipt
		owes  int
		err   error
	}{
		{nil, "", 0, nil},
		{[]error{nil, nil}, "0", 2, nil},
		{[]error{closed, nil}, "1", 1, nil},
		{[]error{nil, closed}, "0", 1, nil},
		{[]error{closed, closed}, "", 0, closed},
		{[]error{closed, lost, nil}, "2", 1, lost},
		{[]error{nil, wait, lost}, "0", 1, wait},
	} {
		var who []User
		for n := range c.to {
			who = append(who, User{ID: fmt.Sprint(n)})
		}
		asked := 0
		first, owes, err := ToEach(who, func(w User) (Receipt, []Owes, error) {
			asked++
			var n int
			fmt.Sscan(w.ID, &n)
			if c.to[n] != nil {
				return "", nil, c.to[n]
			}
			return Receipt(w.ID), []Owes{{Key: w.ID}}, nil
		})
		if first != c.first || len(owes) != c.owes || err != c.err || asked != len(who) {
			t.Errorf("%v: %q with %v, %v after asking %d", c.to, first, owes, err, asked)
		}
	}
}
