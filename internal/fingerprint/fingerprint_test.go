package fingerprint

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A fake is a test that notes what fails.
type fake struct {
	testing.TB
	cleanup []func()
	failed  []string
}

func (f *fake) Helper()           {}
func (f *fake) Cleanup(do func()) { f.cleanup = append(f.cleanup, do) }
func (f *fake) Error(args ...any) { f.failed = append(f.failed, fmt.Sprint(args...)) }
func (f *fake) Errorf(format string, args ...any) {
	f.failed = append(f.failed, fmt.Sprintf(format, args...))
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "prints.txt")
	run := func(update bool, shown ...string) string {
		var f fake
		file := Open(&f, name, update)
		for seed, s := range shown {
			file.Add("game", uint64(seed), s)
		}
		for _, do := range f.cleanup {
			do()
		}
		return strings.Join(f.failed, "; ")
	}
	for _, x := range []struct {
		update bool
		shown  []string
		want   string
	}{
		{true, []string{"a", "b", "c", "d", "e"}, ""},
		{false, []string{"a", "b", "c", "d", "e"}, ""},
		{false, []string{"a", "B", "c", "d", "e"}, "game 1 shows something else:\nB"},
		{false, []string{"A", "B", "C", "D", "E"}, "game 0 shows something else:\nA; game 1 shows something else:\nB; game 2 shows something else:\nC; and 2 more"},
		{false, []string{"a", "b"}, name + " has lines that nothing shows, or in another order"},
		{true, []string{"a", "B"}, ""},
		{false, []string{"a", "B"}, ""},
		{true, []string{"a", "at 0x8e6390"}, "game 1 shows the address 0x8e6390"},
	} {
		if got := run(x.update, x.shown...); got != x.want {
			t.Errorf("%q: %s\nwant %s", x.shown, got, x.want)
		}
	}
}
