// Package tier tells tests how much they may cost. The environment variable
// HALFPOINT_TIER chooses:
//
//   - unset, the everyday tier: go test -tags goolm ./... within three minutes;
//   - "change": what has to pass before a change lands, see .ci/run;
//   - "soak": storms, long seeds and exhaustive counts that take hours, see .ci/soak.
//
// Only tests and packages that support tests import it. Its functions panic
// outside of a running test, in the initial value of a variable for instance:
// go test does not notice a variable of the environment that is read so early,
// and would serve the cached result of another tier.
package tier

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// Tests allocate much and keep little, so collecting garbage would be up to half of their
// cost. Benchmarks measure what the program does, which collects as usual.
func init() {
	benchmark := func(arg string) bool { return strings.HasPrefix(arg, "-test.bench") }
	if os.Getenv("GOGC") == "" && !slices.ContainsFunc(os.Args, benchmark) {
		debug.SetGCPercent(400)
	}
}

const (
	everyday = iota
	change
	soak
)

func current() int {
	if !flag.Parsed() {
		panic("tier: called before flags are parsed")
	}
	switch name := os.Getenv("HALFPOINT_TIER"); name {
	case "":
		return everyday
	case "change":
		return change
	case "soak":
		return soak
	default:
		panic(fmt.Sprintf("HALFPOINT_TIER=%s: change, soak or nothing are known", name))
	}
}

// Change skips t in the everyday tier.
func Change(t testing.TB) {
	t.Helper()
	if current() < change {
		t.Skip("change tier: run with HALFPOINT_TIER=change")
	}
}

// Soak skips t in all tiers but soak.
func Soak(t testing.TB) {
	t.Helper()
	if current() < soak {
		t.Skip("soak tier: run with HALFPOINT_TIER=soak")
	}
}

// Soaking reports whether the tier is soak.
func Soaking() bool { return current() == soak }

// Pick returns the value for the tier: a number of games, of seeds, of kills.
func Pick[T any](inEveryday, inChange, inSoak T) T {
	return [...]T{inEveryday, inChange, inSoak}[current()]
}

// Patience returns how long t may wait for a real browser or homeserver: half of the time
// until go test's own timeout, so that no machine is too slow, and a test that waits in vain
// still says for what. Tests in virtual time do not need it.
func Patience(t testing.TB) time.Duration {
	if t, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ok := t.Deadline(); ok {
			return max(time.Until(end)/2, 2*time.Minute)
		}
	}
	return 10 * time.Minute
}

// Missing skips t for lack of something that a machine may do without in the
// everyday tier, such as a browser. In the other tiers, and where CI is set, it
// fails t.
func Missing(t testing.TB, why string) {
	t.Helper()
	if current() > everyday || os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
