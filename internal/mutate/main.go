// Mutate changes the rules, the reader of records and the core of the bot mechanically,
// one place at a time, and reports the changes that no test notices. No file is touched: the
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
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// targets are the folders that hold what is mutated.
var targets = []string{"rules", "rules/sgf", "bot/match", "bot/outbox", "bot/store"}

// judges are the folders whose tests a change in a target must get past, in this order.
var judges = map[string][]string{
	"rules":      {"rules", "rules/sgf"},
	"rules/sgf":  {"rules/sgf"},
	"bot/match":  {"bot/match", "bot", "bot/store"},
	"bot/outbox": {"bot/outbox", "bot", "bot/store"},
	"bot/store":  {"bot/store", "bot"},
}

// judge are the files of the judge, which tries at random: a change there makes it
// judge a little worse, and only many games would show that.
var judge = map[string]bool{"rules/dead.go": true, "rules/estimate.go": true, "rules/playout.go": true, "rules/policy.go": true, "rules/trial.go": true}

// slower and slowest are the tests that take long, and never those of the judge and those that
// only read large or many records.
const (
	slower = "TestButtonLifts|TestCatalogueLifts|TestCustomID|TestExplained|TestFacts|TestLaws|TestManyFlaws|TestMemory|TestNoFlipIsMissing|" +
		"TestNoShorter|TestPlacementLifts|TestReachable|TestRefusals|TestSecondReader|TestSiblings|TestSummariesOfCustom|TestTheorem|" +
		"TestTooEarly|TestViewsAgree|TestWhoseTurn|TestWhy"
	slowest = "TestCatalogueInItsOwnWords|TestCompleteTrompTaylorGames|TestFingerprints|TestGroups|TestPerftTables|TestReasonsAddUp|" +
		"TestReasonsCiteWhatWasPlayed|TestRecordsKeepTheGame|TestVariants"
	never = "TestJudge|TestEstimate|TestPlayout|TestHostile|TestRealGames|TestLongestGames|Benchmark"
)

// rounds returns the flags with which the tests of a folder are run: what the quick ones do
// not notice is shown to the slower ones.
func rounds(folder string) [][]string {
	if strings.HasPrefix(folder, "bot") {
		return [][]string{{"-test.skip", "^Benchmark"}}
	}
	return rulesRounds
}

var rulesRounds = [][]string{
	{"-test.skip", "^(" + slower + "|" + slowest + "|" + never + ")"},
	{"-test.run", "^(" + slower + ")", "-test.skip", "^(" + slowest + "|" + never + ")"},
	{"-test.run", "^(" + slowest + ")"},
}

func main() {
	sample := flag.Int("sample", 0, "try so many mutants, chosen by the seed; 0: all")
	seed := flag.String("seed", "", "chooses the sample")
	list := flag.Bool("list", false, "print the mutants and try none")
	jobs := flag.Int("jobs", runtime.NumCPU(), "mutants tried at the same time")
	reasons := flag.String("explained", ".ci/mutate.explained", "the mutants that may survive, with the reason")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: mutate [flags] [file or folder]...")
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
	all, err := mutants(".", targets, judge)
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
		if !slices.ContainsFunc(all, func(m mutant) bool { return m.file == f || m.folder() == f }) {
			return false, fmt.Errorf("no mutants in %s", f)
		}
	}
	if len(files) > 0 {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(files, m.file) && !slices.Contains(files, m.folder()) })
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
	t, err := newTrial(all)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(t.dir)
	began := time.Now()
	counts := map[verdict]int{}
	seen, unexplained := 0, 0
	tried := 0 // that compile to another program
	batch := 40
	if sample > 0 {
		batch = min(batch, max(1, sample/2))
	}
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	for v := range t.verdicts(all, jobs, batch) {
		if len(interrupt) > 0 { // which the tests that run have heard, too
			break
		}
		if counts[v.verdict]++; v.err != nil {
			return false, v.err
		}
		if seen++; seen%200 == 0 {
			fmt.Fprintf(os.Stderr, "%d of %d in %.0f s\n", seen, total, time.Since(began).Seconds())
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
	sum       map[string][32]byte // of the test binary of each folder
	limit     map[string][]int    // for its tests in each round, in seconds of the processor
}

func newTrial(all []mutant) (*trial, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	t := &trial{root: root, dir: dir, sum: map[string][32]byte{}, limit: map[string][]int{}}
	needed := map[string]bool{}
	for _, m := range all {
		for _, folder := range judges[m.folder()] {
			needed[folder] = true
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(needed)) {
		binary := filepath.Join(dir, path.Base(folder)+".test")
		if out, err := t.build(folder, binary, nil); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
		}
		if t.sum[folder], err = sum(binary); err != nil {
			return nil, err
		}
		for round := range rounds(folder) {
			t.limit[folder] = append(t.limit[folder], 600)
			took, out, err := t.test(folder, binary, round, 0)
			if err != nil {
				return nil, fmt.Errorf("%s fails without a change: %w\n%s", folder, err, out)
			}
			t.limit[folder][round] = 5 + int(2.5*took.Seconds())
			fmt.Fprintf(os.Stderr, "round %d of the tests of %s takes %.1f s of the processor\n", round+1, folder, took.Seconds())
		}
	}
	return t, nil
}

func sum(name string) ([32]byte, error) {
	b, err := os.ReadFile(name)
	return sha256.Sum256(b), err
}

// build builds the tests of a folder with other texts of some files, or with files that are
// not there.
func (t *trial) build(folder, binary string, texts map[string][]byte) ([]byte, error) {
	dir, err := os.MkdirTemp(t.dir, "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for file, text := range texts {
		name := filepath.Join(dir, path.Base(file))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return nil, err
		}
		replace[filepath.Join(t.root, filepath.FromSlash(file))] = name
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-trimpath", "-gcflags=-e", "-ldflags=-s -w -buildid=", "-overlay", list, "-o", binary, "./"+folder)
	cmd.Dir = t.root
	return cmd.CombinedOutput()
}

var errLate = errors.New("it takes too long")

// test runs a round of the tests of a folder with bounded memory and time, and says how much
// time of the processor they took. Where a program holds several mutants, chosen is the one
// that it is.
func (t *trial) test(folder, binary string, round, chosen int) (time.Duration, []byte, error) {
	limit := t.limit[folder][round]
	// Tests that wait for each other take no time of the processor.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+10*time.Duration(limit)*time.Second)
	defer cancel()
	args := append([]string{"-c", fmt.Sprintf(`ulimit -v 6000000 -t %d; exec "$0" "$@"`, limit), binary, "-test.failfast"}, rounds(folder)[round]...)
	cmd := exec.CommandContext(ctx, "bash", args...)
	cmd.Dir = filepath.Join(t.root, filepath.FromSlash(folder))
	cmd.WaitDelay = time.Second
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "HALFPOINT_TIER=") { // a mutant is for the everyday tier
			cmd.Env = append(cmd.Env, e)
		}
	}
	// Collecting garbage less often saves a quarter of the time.
	cmd.Env = append(cmd.Env, "GOGC=400", fmt.Sprint(choice, "=", chosen))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return 0, out, err
	}
	if err != nil && cmd.ProcessState.ExitCode() < 0 { // killed by the limit or the context
		err = errLate
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), out, err
}

// verdicts tries mutants and yields the outcomes in their order.
func (t *trial) verdicts(all []mutant, jobs, batch int) func(yield func(outcome) bool) {
	return func(yield func(outcome) bool) {
		batches := slices.Collect(slices.Chunk(all, batch))
		done := make([]chan []outcome, len(batches))
		for i := range done {
			done[i] = make(chan []outcome, 1)
		}
		stop, free := make(chan struct{}), make(chan struct{}, max(1, jobs))
		var running sync.WaitGroup
		running.Go(func() {
			for i, b := range batches {
				select {
				case <-stop:
					return
				case free <- struct{}{}:
				}
				running.Go(func() {
					done[i] <- t.tryAll(b)
					<-free
				})
			}
		})
		defer running.Wait()
		defer close(stop)
		for _, d := range done {
			for _, o := range <-d {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// tryAll tries mutants. Most are noticed by the tests of their own folder that are not the
// slowest, and many share a program for that.
func (t *trial) tryAll(list []mutant) []outcome {
	found := map[int]verdict{} // by index
	for _, folder := range targets {
		var in []int
		for i, m := range list {
			if m.folder() == folder && m.fn != nil {
				in = append(in, i)
			}
		}
		binary, broke := t.buildAll(folder, list, in)
		for _, i := range in {
			if broke[i] {
				found[i] = broken
				continue
			}
			for round := 0; round < min(2, len(rounds(folder))) && binary != ""; round++ {
				if _, _, err := t.test(folder, binary, round, i+1); err == nil {
					continue
				} else if errors.Is(err, errLate) {
					found[i] = late
				} else {
					found[i] = killed
				}
				break
			}
		}
		os.Remove(binary)
	}
	var all []outcome
	for i, m := range list {
		v, ok := found[i]
		var err error
		if !ok {
			v, err = t.try(m)
		}
		all = append(all, outcome{m, v, err})
	}
	return all
}

// try tries a mutant by itself.
func (t *trial) try(m mutant) (verdict, error) {
	dir, err := os.MkdirTemp(t.dir, "")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	result, differs := same, map[string]bool{}
	for round := range rulesRounds {
		for _, folder := range judges[m.folder()] {
			if round >= len(rounds(folder)) {
				continue
			}
			binary := filepath.Join(dir, path.Base(folder)+".test")
			if round == 0 {
				if _, err := t.build(folder, binary, map[string][]byte{m.file: m.text}); err != nil {
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
			if _, _, err := t.test(folder, binary, round, 0); errors.Is(err, errLate) {
				return late, nil
			} else if err != nil {
				return killed, nil
			}
		}
	}
	return result, nil
}
