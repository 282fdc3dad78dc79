package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/internal/sched"
)

// testAll tests the jobs that have no result yet, prints a table, and counts
// those that live.
func testAll(o options, jobs []job) (alive int, err error) {
	r := &runner{options: o, jobs: jobs, kills: map[killer]int{}, rapid: map[string]bool{}}
	if r.results, err = openResults(o.results, o.top); err != nil {
		return 0, err
	}
	defer r.results.file.Close()
	for _, j := range jobs {
		if d := r.results.known[j.name()]; d.Verdict == killed {
			r.kills[killer{j.File, j.Func, d.By}]++
		}
	}
	if r.dir, err = os.MkdirTemp("", "mutants"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(r.dir)
	if err := r.learn(); err != nil {
		return 0, err
	}
	if err := r.choose(); err != nil {
		return 0, err
	}
	if err := r.all(); err != nil {
		return 0, err
	}
	return r.table(), nil
}

// runner tests mutants, several at the same time.
type runner struct {
	options
	dir   string // of the overlay and the test binaries
	jobs  []job
	tests []testCase      // the quickest first; immutable after learn
	rapid map[string]bool // packages with tests of pgregory.net/rapid; immutable after learn

	mu      sync.Mutex // guards what follows
	results *results
	pending []job // not begun
	kills   map[killer]int
	failed  error
	ended   sync.WaitGroup
}

// killer is a test that has killed mutants of a function.
type killer struct{ file, fn, by string }

// choose takes the mutants to be tested, and builds them.
func (r *runner) choose() error {
	var mutants []numbered
	for _, j := range r.jobs {
		if j.equivalent == "" && !r.results.decided(j.name()) && (r.most == 0 || len(r.pending) < r.most) {
			r.pending = append(r.pending, j)
			mutants = append(mutants, j.numbered)
		}
	}
	if len(mutants) == 0 {
		return nil
	}
	began := r.clock.Now()
	refused, err := r.build(mutants)
	if err != nil {
		return err
	}
	var built []job
	for _, j := range r.pending {
		if text := refused[j.id]; text == "" {
			built = append(built, j)
		} else if err := r.note(j, unbuilt, text, 0); err != nil {
			return err
		}
	}
	fmt.Printf("%d mutants built in %.0f s\n", len(built), r.clock.Now().Sub(began).Seconds())
	r.pending = built
	return nil
}

// all tests what is pending, as long as there is time.
func (r *runner) all() error {
	began := r.clock.Now()
	return r.inParallel(func() (done bool, err error) {
		j, ok := r.take()
		if !ok || r.limit > 0 && r.clock.Now().Sub(began) >= r.limit {
			return true, nil
		}
		return false, r.test(j)
	})
}

// inParallel calls step on as many goroutines as are wanted, on each until it is done or
// one has failed.
func (r *runner) inParallel(step func() (done bool, err error)) error {
	threads := sched.NewThreads(r.clock)
	r.ended.Add(r.parallel)
	for range r.parallel {
		threads.Go("mutants", func() {
			defer r.ended.Done()
			for {
				done, err := step()
				r.mu.Lock()
				r.failed = errors.Join(r.failed, err)
				done = done || r.failed != nil
				r.mu.Unlock()
				if done {
					return
				}
			}
		})
	}
	r.ended.Wait()
	return errors.Join(r.failed, threads.Close(context.Background()))
}

// take gives the next mutant.
func (r *runner) take() (job, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) == 0 {
		return job{}, false
	}
	j := r.pending[0]
	r.pending = r.pending[1:]
	return j, true
}

// test tests one mutant, and writes what was found.
func (r *runner) test(j job) error {
	began := r.clock.Now()
	v, by, err := r.judge(j)
	if err != nil {
		return err
	}
	return r.note(j, v, by, r.clock.Now().Sub(began))
}

// note keeps and prints a verdict.
func (r *runner) note(j job, v verdict, by string, took time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v == killed {
		r.kills[killer{j.File, j.Func, by}]++
	}
	fmt.Printf("%-9s %5.1fs  %s:%d: %s: %s  %s\n", v, took.Seconds(), j.File, j.line, j.Op, j.Text, by)
	return r.results.add(result{Name: j.name(), Verdict: v, By: by})
}

// atOnce is how many seconds of tests run in one process.
const atOnce = 3

// judge runs the tests that cover a mutant until one fails, as long as they take no more
// than o.budget in each package.
func (r *runner) judge(j job) (verdict, string, error) {
	ran := 0
	batches, skipped := r.batches(j)
	for _, b := range batches {
		failure, err := r.runBatch(b, j.id)
		if err != nil {
			return "", "", err
		}
		ran += len(b.names)
		if strings.HasPrefix(failure, timedOut) { // for want of time, perhaps
			if without, err := r.runBatch(b, 0); err != nil || without != "" {
				return undecided, "without a mutant, too: " + without, err
			}
		}
		if failure != "" {
			return killed, b.pkg + " " + failure, nil
		}
	}
	if skipped > 0 {
		return undecided, fmt.Sprintf("%d tests passed, %d were too long", ran, skipped), nil
	}
	return living, fmt.Sprintf("%d tests passed", ran), nil
}

// timedOut begins the failure of tests that have taken too long.
const timedOut = "panic: test timed out"

// runBatch runs tests with a mutant, 0 for none, and answers with what has failed, "" if
// nothing has.
func (r *runner) runBatch(b batch, id int) (failure string, err error) {
	out, err := r.runTests(b.pkg, r.binary(b.pkg), b.names, 10+5*b.seconds, []string{activeVariable + "=" + strconv.Itoa(id)})
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return firstFailure(out), nil
	}
	return "", err
}

// batch is tests of a package that run in one process.
type batch struct {
	pkg     string
	names   []string
	seconds float64
}

// batches are the tests that cover a mutant, in the order in which they run, without those
// that are too many for the budget.
func (r *runner) batches(j job) (all []batch, tooLong int) {
	left := map[string]float64{}
	for _, p := range packages {
		left[p] = r.budget.Seconds()
	}
	for _, c := range r.ordered(j) {
		if c.long || c.Seconds > left[c.Package] && j.Op != "named" {
			tooLong++
			continue
		}
		left[c.Package] -= c.Seconds
		last := len(all) - 1
		if last < 0 || all[last].pkg != c.Package || all[last].seconds+c.Seconds > atOnce {
			all = append(all, batch{pkg: c.Package})
			last++
		}
		all[last].names, all[last].seconds = append(all[last].names, c.Name), all[last].seconds+c.Seconds
	}
	return all, tooLong
}

// ordered are the tests that cover a mutant: what has killed it before the code changed
// comes first, then what has killed most mutants of its function, then the quickest of the
// quickest package.
func (r *runner) ordered(j job) []testCase {
	type rank struct{ killed, kills, pkg int }
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.results.known[j.name()]
	var covering []testCase
	ranks := map[string]rank{}
	for _, c := range r.tests {
		if !c.covers(j.mutant) {
			continue
		}
		by := c.Package + " " + c.Name
		k := rank{kills: r.kills[killer{j.File, j.Func, by}], pkg: slices.Index(packages, c.Package)}
		if before.Verdict == killed && (before.By == by || strings.HasPrefix(before.By, c.Package+" "+timedOut) && strings.HasSuffix(before.By, " "+c.Name)) {
			k.killed = 1
		}
		ranks[by] = k
		covering = append(covering, c)
	}
	slices.SortStableFunc(covering, func(a, b testCase) int {
		x, y := ranks[a.Package+" "+a.Name], ranks[b.Package+" "+b.Name]
		return cmp.Or(y.killed-x.killed, y.kills-x.kills, x.pkg-y.pkg)
	})
	return covering
}

// runTests runs tests of a package with bounds that a mutant may need: on time,
// on memory, on what is written into a file. Their files go when they have ended.
func (r *runner) runTests(pkg, binary string, names []string, seconds float64, env []string, more ...string) (string, error) {
	files, err := os.MkdirTemp(r.dir, "files")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(files)
	args := append([]string{"-c", `ulimit -v 16000000; ulimit -f 4000000; exec "$0" "$@"`, binary, "-test.count=1", "-test.failfast",
		"-test.timeout", time.Duration(seconds * float64(time.Second)).String(),
		"-test.run", "^(" + strings.Join(names, "|") + ")$"}, more...)
	if r.rapid[pkg] {
		args = append(args, "-rapid.nofailfile") // a later mutant would fail with what failed for this one
	}
	cmd := exec.Command("sh", args...)
	cmd.Dir = filepath.Join(r.top, pkg)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+files), env...)
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// firstFailure names the test that failed, or the panic; that of a test that has taken too
// long ends with its name.
func firstFailure(output string) string {
	failure, running := "failed", false
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			return name
		}
		if running {
			name, _, _ := strings.Cut(line, " ")
			return failure + " in " + name
		}
		if failure == "failed" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
			failure = line
		}
		running = line == "running tests:" && strings.HasPrefix(failure, timedOut)
	}
	return failure
}
