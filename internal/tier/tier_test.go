package tier_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// recorder is a test that only remembers how it ended.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Skip(args ...any)  { r.stop("skips: ", args) }
func (r *recorder) Fatal(args ...any) { r.stop("fails: ", args) }

func (r *recorder) stop(how string, args []any) {
	r.end = how + fmt.Sprint(args...)
	runtime.Goexit()
}

func outcome(t *testing.T, f func(t testing.TB)) string {
	r := &recorder{TB: t, end: "runs"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.end
}

func TestTiers(t *testing.T) {
	const (
		needsChange = "skips: change tier: run with HALFPOINT_TIER=change"
		needsSoak   = "skips: soak tier: run with HALFPOINT_TIER=soak"
	)
	for _, c := range []struct {
		tier, ci              string
		change, soak, missing string
		soaking               bool
		picked                int
	}{
		{"", "", needsChange, needsSoak, "skips: no browser", false, 1},
		{"", "1", needsChange, needsSoak, "fails: no browser", false, 1},
		{"change", "", "runs", needsSoak, "fails: no browser", false, 2},
		{"soak", "", "runs", "runs", "fails: no browser", true, 3},
	} {
		t.Run(c.tier+c.ci, func(t *testing.T) {
			t.Setenv("HALFPOINT_TIER", c.tier)
			t.Setenv("CI", c.ci)
			if got := outcome(t, tier.Change); got != c.change {
				t.Errorf("Change: %s, want %s", got, c.change)
			}
			if got := outcome(t, tier.Soak); got != c.soak {
				t.Errorf("Soak: %s, want %s", got, c.soak)
			}
			if got := outcome(t, func(t testing.TB) { tier.Missing(t, "no browser") }); got != c.missing {
				t.Errorf("Missing: %s, want %s", got, c.missing)
			}
			if tier.Soaking() != c.soaking || tier.Pick(1, 2, 3) != c.picked {
				t.Errorf("Soaking: %t, Pick: %d", tier.Soaking(), tier.Pick(1, 2, 3))
			}
		})
	}
}

func TestUnknownTier(t *testing.T) {
	t.Setenv("HALFPOINT_TIER", "nightly")
	defer func() {
		if recover() == nil {
			t.Error("an unknown tier is taken for another")
		}
	}()
	tier.Soaking()
}
