package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A tally counts how many records were read whole, in part and not at all, and for what
// reasons. It may be used by several records at a time.
type tally struct {
	mu                 sync.Mutex
	whole, part, never int
	stops, repairs     map[string]int
}

// add counts a record: why it is not read to its end, nil if it is, and what had to be
// guessed. With no game it is not read at all.
func (t *tally) add(game bool, path string, early error, repairs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stops == nil {
		t.stops, t.repairs = map[string]int{}, map[string]int{}
	}
	switch {
	case early == nil:
		t.whole++
	case game:
		t.part++
	default:
		t.never++
	}
	if early != nil {
		t.stops[reason(strings.TrimPrefix(early.Error(), path+": "))]++
	}
	once := map[string]bool{}
	for _, r := range repairs {
		said, _, _ := strings.Cut(reason(r), ": ") // what follows is how it is read
		once[said] = true
	}
	for said := range once {
		t.repairs[said]++
	}
}

// details are what differs between records that have the same flaw.
var details = []struct {
	of *regexp.Regexp
	as string
}{
	{regexp.MustCompile(` \(and \d+ more like it\)$`), ""},
	{regexp.MustCompile(`^move \d+(?: \([^)]*\))?: `), ""},
	{regexp.MustCompile(`\[[^\]]*\]`), "[…]"},
	{regexp.MustCompile(`"(?:[^"\\]|\\.)*"`), `"…"`},
	{regexp.MustCompile(`(^|[^-\w])[A-HJ-Z]?\d+\b`), "${1}N"}, // not the 8 of UTF-8
}

// reason returns a flaw without what belongs to one record: its moves, points and values.
func reason(flaw string) string {
	for _, d := range details {
		flaw = d.of.ReplaceAllString(flaw, d.as)
	}
	return flaw
}

func (t *tally) print(b *bytes.Buffer) {
	all := t.whole + t.part + t.never
	if all == 0 {
		return
	}
	fmt.Fprintf(b, "\nRead to the end: %d of %d %s (%.1f %%)\n", t.whole, all, plural(all, "record"), 100*float64(t.whole)/float64(all))
	for _, list := range []struct {
		head string
		of   map[string]int
	}{{fmt.Sprintf("Read only in part: %d, not at all: %d", t.part, t.never), t.stops}, {"What had to be guessed, in how many records", t.repairs}} {
		if len(list.of) == 0 {
			continue
		}
		fmt.Fprintln(b, list.head)
		for _, why := range slices.SortedFunc(maps.Keys(list.of), func(x, y string) int {
			return cmp.Or(list.of[y]-list.of[x], strings.Compare(x, y))
		}) {
			fmt.Fprintf(b, "  %6d  %s\n", list.of[why], why)
		}
	}
}
