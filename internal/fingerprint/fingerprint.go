// Package fingerprint keeps what tests show, too long to read, as fingerprints in a file.
//
// A law says what is right. A fingerprint says only that something has changed, whatever
// it is, and so notices what no law thought of. Where one differs the test prints what it
// is now; compare that with the same text of the commit before, and if the change was
// meant, write the file anew:
//
//	f := fingerprint.Open(t, "testdata/fingerprints.txt", *update)
//	f.Add("aga", 7, everythingThatGameShows)
package fingerprint

import (
	"fmt"
	"hash/fnv"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A File is a file of fingerprints, a line each. It is for one goroutine.
type File struct {
	t      testing.TB
	update bool
	before map[string]bool // its lines
	now    strings.Builder
	other  int // of the lines now that were not there before
}

// most is how many differences are printed, and how many bytes of each.
const most, mostBytes = 3, 4000

// Open opens the file of that name. With update it is written at the end of the test, else
// the test fails for each fingerprint that the file does not have, and for those that it has
// too many.
func Open(t testing.TB, name string, update bool) *File {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil && !update {
		t.Fatal(err)
	}
	f := &File{t: t, update: update, before: map[string]bool{}}
	for line := range strings.Lines(string(file)) {
		f.before[line] = true
	}
	t.Cleanup(func() {
		now := f.now.String()
		switch {
		case update:
			if err := os.WriteFile(name, []byte(now), 0o644); err != nil {
				t.Error(err)
			}
		case f.other > most:
			t.Errorf("and %d more", f.other-most)
		case f.other == 0 && now != string(file):
			t.Errorf("%s has lines that nothing shows, or in another order", name)
		}
	})
	return f
}

var address = regexp.MustCompile(`\b0x[0-9a-f]{6,}`)

// Add adds the fingerprint of what is shown for a seed. It fails where that shows an
// address, because another build of the same code shows another.
func (f *File) Add(what string, seed uint64, shown string) {
	f.t.Helper()
	if a := address.FindString(shown); a != "" {
		f.t.Errorf("%s %d shows the address %s", what, seed, a)
	}
	h := fnv.New64a()
	h.Write([]byte(shown))
	line := fmt.Sprintf("%s %d: %016x\n", what, seed, h.Sum64())
	f.now.WriteString(line)
	if f.before[line] || f.update {
		return
	}
	if f.other++; f.other <= most {
		f.t.Errorf("%s %d shows something else:\n%s", what, seed, shown[:min(len(shown), mostBytes)])
	}
}
