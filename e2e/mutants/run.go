package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/internal/sched"
)

// testAll tests the jobs that have no result yet, prints a table, and counts
// those that live.
func testAll(o options, jobs []job) (alive int, err error) {
	r := &runner{options: o, jobs: jobs}
	if r.results, err = openResults(o.results, o.top); err != nil {
		return 0, err
	}
	defer r.results.file.Close()
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
	tests []testCase // the quickest first; immutable after learn

	mu      sync.Mutex // guards what follows
	results *results
	pending []job // not begun
	failed  error
	ended   sync.WaitGroup
}

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
	threads := sched.NewThreads(r.clock)
	began := r.clock.Now()
	r.ended.Add(r.parallel)
	for range r.parallel {
		threads.Go("mutants", func() {
			defer r.ended.Done()
			for r.limit == 0 || r.clock.Now().Sub(began) < r.limit {
				j, ok := r.take()
				if !ok {
					return
				}
				if err := r.test(j); err != nil {
					r.mu.Lock()
					r.failed = errors.Join(r.failed, err)
					r.mu.Unlock()
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
	if r.failed != nil || len(r.pending) == 0 {
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
	fmt.Printf("%-9s %5.1fs  %s:%d: %s: %s  %s\n", v, took.Seconds(), j.File, j.line, j.Op, j.Text, by)
	return r.results.add(result{Name: j.name(), Verdict: v, By: by})
}

// atOnce is how many seconds of tests run in one process.
const atOnce = 3

// judge runs the tests that cover a mutant until one fails: by package, the
// quickest first, as long as they take no more than o.budget in each package.
func (r *runner) judge(j job) (verdict, string, error) {
	ran, skipped := 0, 0
	for _, pkg := range packages {
		batches, tooLong := r.batches(pkg, j)
		skipped += tooLong
		for _, b := range batches {
			failure, err := r.runBatch(pkg, b, j.id)
			if err != nil {
				return "", "", err
			}
			ran += len(b.names)
			if strings.HasPrefix(failure, timedOut) { // for want of time, perhaps
				if without, err := r.runBatch(pkg, b, 0); err != nil || without != "" {
					return undecided, "without a mutant, too: " + without, err
				}
			}
			if failure != "" {
				return killed, pkg + " " + failure, nil
			}
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
func (r *runner) runBatch(pkg string, b batch, id int) (failure string, err error) {
	out, err := r.runTests(pkg, r.binary(pkg), b.names, 20+5*b.seconds, []string{activeVariable + "=" + strconv.Itoa(id)})
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return firstFailure(out), nil
	}
	return "", err
}

// batch is tests that run in one process.
type batch struct {
	names   []string
	seconds float64
}

// batches are a package's tests that cover a mutant, without those that are too many
// for the budget.
func (r *runner) batches(pkg string, j job) (all []batch, tooLong int) {
	left := r.budget.Seconds()
	var b batch
	for _, c := range r.tests {
		if c.Package != pkg || !c.covers(j.mutant) {
			continue
		}
		if left -= c.Seconds; c.long || left < 0 && j.Op != "named" {
			tooLong++
			continue
		}
		if len(b.names) > 0 && b.seconds+c.Seconds > atOnce {
			all, b = append(all, b), batch{}
		}
		b.names, b.seconds = append(b.names, c.Name), b.seconds+c.Seconds
	}
	if len(b.names) > 0 {
		all = append(all, b)
	}
	return all, tooLong
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
	cmd := exec.Command("sh", args...)
	cmd.Dir = filepath.Join(r.top, pkg)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+files), env...)
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// firstFailure names the test that failed, or the panic.
func firstFailure(output string) string {
	failure := "failed"
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			return name
		}
		if failure == "failed" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
			failure = line
		}
	}
	return failure
}
