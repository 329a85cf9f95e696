// Mutate changes the rules and the reader of records mechanically, one place at a
// time, and reports the changes that no test notices. No file is touched: the
// compiler sees each change through an overlay. Run it by .ci/mutate.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// folders hold what is mutated. A change is tested in its own folder and in those
// after it.
var folders = []string{"rules", "rules/sgf"}

// judge are the files of the judge, which tries at random: a change there makes it
// judge a little worse, and only many games would show that.
var judge = map[string]bool{"rules/dead.go": true, "rules/estimate.go": true, "rules/playout.go": true, "rules/policy.go": true, "rules/trial.go": true}

// slow are the tests that take a second or more, and never those of the judge and those that
// only read large or many records.
const (
	slow = "TestReasonsCiteWhatWasPlayed|TestReasonsAddUp|TestRecordsKeepTheGame$|TestGroups|TestVariants|TestPerftTables|" +
		"TestCatalogueInItsOwnWords|TestFingerprints|TestNoShorterEarlyPass|TestNoFlipIsMissing|TestSecondReader|TestReachablePositions|TestCompleteTrompTaylorGames"
	never = "TestJudge|TestEstimate|TestPlayout|TestHostile|TestRealGames|TestLongestGames|Benchmark"
)

// rounds are the flags with which the tests of a folder are run: what the quick ones do not
// notice is shown to the slow ones.
var rounds = [][]string{
	{"-test.skip", "^(" + slow + "|" + never + ")"},
	{"-test.run", "^(" + slow + ")"},
}

func main() {
	sample := flag.Int("sample", 0, "try so many mutants, chosen by the seed; 0: all")
	seed := flag.String("seed", "", "chooses the sample")
	list := flag.Bool("list", false, "print the mutants and try none")
	jobs := flag.Int("jobs", runtime.NumCPU(), "mutants tried at the same time")
	reasons := flag.String("explained", ".ci/mutate.explained", "the mutants that may survive, with the reason")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: mutate [flags] [file]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	ok, err := run(*sample, *seed, *list, *jobs, *reasons, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(sample int, seed string, list bool, jobs int, reasons string, files []string) (ok bool, err error) {
	all, err := mutants(".", folders, judge)
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(reasons)
	if err != nil {
		return false, err
	}
	may, err := explained(string(text))
	if err != nil {
		return false, fmt.Errorf("%s: %w", reasons, err)
	}
	for _, f := range files {
		if !slices.ContainsFunc(all, func(m mutant) bool { return m.file == f }) {
			return false, fmt.Errorf("no mutants in %s", f)
		}
	}
	if len(files) > 0 {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(files, m.file) })
	}
	total := len(all)
	if sample > 0 {
		slices.SortStableFunc(all, func(a, b mutant) int { return cmp.Compare(a.rank(seed), b.rank(seed)) })
	}
	if list {
		for i, m := range all {
			if sample > 0 && i == sample {
				break
			}
			fmt.Printf("%s\n%s\n\n", m.place(), m)
		}
		return true, nil
	}
	t, err := newTrial()
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(t.dir)
	began := time.Now()
	counts := map[verdict]int{}
	unexplained := 0
	tried := 0 // that compile to another program
	for v := range t.verdicts(all, jobs) {
		if counts[v.verdict]++; v.err != nil {
			return false, v.err
		}
		switch v.verdict {
		case survived:
			tried++
			if why := may[v.mutant.String()]; why != "" {
				fmt.Printf("%s survives, as explained\n%s\n%s\n\n", v.mutant.place(), v.mutant, why)
			} else {
				unexplained++
				fmt.Printf("%s survives\n%s\n\n", v.mutant.place(), v.mutant)
			}
		case killed, late:
			tried++
			if why := may[v.mutant.String()]; why != "" {
				unexplained++
				fmt.Printf("%s is explained, but a test notices it\n%s\n\n", v.mutant.place(), v.mutant)
			}
		}
		if sample > 0 && tried == sample {
			break
		}
	}
	fmt.Printf("%d mutants of %d tried in %.0f s: %d killed (%d by time), %d survive, %d of them without a reason; %d compile to the same program, %d do not compile\n",
		tried, total, time.Since(began).Seconds(), counts[killed]+counts[late], counts[late], counts[survived], unexplained, counts[same], counts[broken])
	return unexplained == 0, nil
}

type verdict int

const (
	killed   verdict = iota
	late             // killed by running longer than the tests do
	survived         // no test notices it
	same             // it compiles to the same program
	broken           // it does not compile
)

type outcome struct {
	mutant  mutant
	verdict verdict
	err     error
}

// A trial tests mutants against the tests of the code as it stands.
type trial struct {
	root, dir string
	sum       map[string][32]byte        // of the test binary of each folder
	limit     map[string][]time.Duration // for its tests, in each round
}

func newTrial() (*trial, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	t := &trial{root: root, dir: dir, sum: map[string][32]byte{}, limit: map[string][]time.Duration{}}
	for _, folder := range folders {
		binary := filepath.Join(dir, path.Base(folder)+".test")
		if out, err := t.build(folder, binary, ""); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
		}
		if t.sum[folder], err = sum(binary); err != nil {
			return nil, err
		}
		for round := range rounds {
			t.limit[folder] = append(t.limit[folder], 10*time.Minute)
			began := time.Now()
			if out, err := t.test(folder, binary, round); err != nil {
				return nil, fmt.Errorf("%s fails without a change: %w\n%s", folder, err, out)
			}
			took := time.Since(began)
			t.limit[folder][round] = 20*time.Second + 5*took
			fmt.Fprintf(os.Stderr, "round %d of the tests of %s takes %.1f s\n", round+1, folder, took.Seconds())
		}
	}
	return t, nil
}

func sum(name string) ([32]byte, error) {
	b, err := os.ReadFile(name)
	return sha256.Sum256(b), err
}

func (t *trial) build(folder, binary, overlay string) ([]byte, error) {
	args := []string{"test", "-c", "-vet=off", "-trimpath", "-ldflags=-s -w -buildid=", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, "./"+folder)...)
	cmd.Dir = t.root
	return cmd.CombinedOutput()
}

var errLate = errors.New("it takes too long")

// test runs a round of the tests of a folder with bounded memory.
func (t *trial) test(folder, binary string, round int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), t.limit[folder][round])
	defer cancel()
	args := append([]string{"-c", `ulimit -v 6000000; exec "$0" "$@"`, binary, "-test.failfast"}, rounds[round]...)
	cmd := exec.CommandContext(ctx, "bash", args...)
	cmd.Dir = filepath.Join(t.root, filepath.FromSlash(folder))
	cmd.WaitDelay = time.Second
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "HALFPOINT_TIER=") { // a mutant is for the everyday tier
			cmd.Env = append(cmd.Env, e)
		}
	}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return out, errLate
	}
	return out, err
}

// verdicts tries mutants and yields the outcomes in their order.
func (t *trial) verdicts(all []mutant, jobs int) func(yield func(outcome) bool) {
	return func(yield func(outcome) bool) {
		done := make([]chan outcome, len(all))
		for i := range done {
			done[i] = make(chan outcome, 1)
		}
		stop, free := make(chan struct{}), make(chan struct{}, max(1, jobs))
		var running sync.WaitGroup
		running.Go(func() {
			for i, m := range all {
				select {
				case <-stop:
					return
				case free <- struct{}{}:
				}
				running.Go(func() {
					v, err := t.try(m, i)
					done[i] <- outcome{m, v, err}
					<-free
				})
			}
		})
		defer running.Wait()
		defer close(stop)
		for _, d := range done {
			if !yield(<-d) {
				return
			}
		}
	}
}

func (t *trial) try(m mutant, i int) (verdict, error) {
	dir, err := os.MkdirTemp(t.dir, "")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, m.text, 0o600); err != nil {
		return 0, err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(t.root, filepath.FromSlash(m.file)): changed}})
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return 0, err
	}
	result, differs := same, map[string]bool{}
	for round := range rounds {
		for _, folder := range folders[slices.Index(folders, path.Dir(m.file)):] {
			binary := filepath.Join(dir, path.Base(folder)+".test")
			if round == 0 {
				if _, err := t.build(folder, binary, overlay); err != nil {
					return broken, nil
				}
				s, err := sum(binary)
				if err != nil {
					return 0, err
				}
				differs[folder] = s != t.sum[folder]
			}
			if !differs[folder] {
				continue
			}
			result = survived
			if _, err := t.test(folder, binary, round); errors.Is(err, errLate) {
				return late, nil
			} else if err != nil {
				return killed, nil
			}
		}
	}
	return result, nil
}
