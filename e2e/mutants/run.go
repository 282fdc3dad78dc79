package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/internal/sched"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed    verdict = "killed"
	living    verdict = "alive"
	undecided verdict = "undecided" // the budget was spent; the next run tries again
	unbuilt   verdict = "not built" // the compiler refuses it
)

// result is a line of the results file.
type result struct {
	Name    string  `json:"name"`
	Sum     uint32  `json:"sum"` // of the code and the tests
	Verdict verdict `json:"verdict"`
	By      string  `json:"by,omitempty"` // the test that failed, or how many did not
}

// readEquivalents reads the names of mutants that change nothing, and why: lines
// "name => reason".
func readEquivalents(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for n, line := range strings.Split(string(b), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, " => ")
		if !ok || len(reason) < 20 {
			return nil, fmt.Errorf("%s:%d: not \"name => reason\"", path, n+1)
		}
		out[name] = reason
	}
	return out, nil
}

// testAll tests the jobs that have no result yet, prints a table, and counts
// those that live.
func testAll(o options, jobs []job) (alive int, err error) {
	done, err := readResults(o.results)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(o.results), 0o755); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(o.results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	r := &runner{options: o, jobs: jobs, done: done, out: out}
	if err := r.learn(); err != nil {
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
	jobs  []job
	tests plan // immutable after learn

	mu     sync.Mutex // guards what follows
	next   int
	begun  int
	done   map[string]result
	out    *os.File
	failed error
	ended  sync.WaitGroup
}

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

// take gives the next mutant without a result.
func (r *runner) take() (job, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.failed == nil && r.next < len(r.jobs) && (r.most == 0 || r.begun < r.most) {
		j := r.jobs[r.next]
		r.next++
		if d, ok := r.done[j.name()]; j.equivalent == "" && (!ok || d.Sum != r.tests.Sum || d.Verdict == undecided) {
			r.begun++
			return j, true
		}
	}
	return job{}, false
}

// test builds and tests one mutant, and writes what was found.
func (r *runner) test(j job) error {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(r.top, j.File)
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := filepath.Join(dir, filepath.Base(path))
	text := string(src[:j.from]) + j.with + string(src[j.to:])
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return err
	}
	config := filepath.Join(dir, "overlay.json")
	if err := errors.Join(os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(config, overlay, 0o600)); err != nil {
		return err
	}
	began := r.clock.Now()
	found := result{Name: j.name(), Sum: r.tests.Sum}
	if found.Verdict, found.By, err = r.judge(dir, config, j.mutant); err != nil {
		return err
	}
	return r.note(j, found, r.clock.Now().Sub(began))
}

// atOnce is how many seconds of tests run in one process.
const atOnce = 3

// judge runs the tests that cover a mutant until one fails: by package, the
// quickest first, as long as they take no more than o.budget in each package.
func (r *runner) judge(dir, overlay string, m mutant) (verdict, string, error) {
	ran, skipped := 0, 0
	for _, pkg := range packages {
		var names []string
		seconds, left := 0.0, r.budget.Seconds()
		binary := filepath.Join(dir, filepath.Base(pkg)+".test")
		flush := func() (verdict, string, error) {
			if len(names) == 0 {
				return living, "", nil
			}
			if _, err := os.Stat(binary); err != nil {
				if b, err := r.build(binary, overlay, pkg); err != nil {
					return unbuilt, firstError(string(b)), nil
				}
			}
			ran += len(names)
			out, err := r.runTests(dir, pkg, binary, names, 60+5*seconds)
			names, seconds = nil, 0
			var exit *exec.ExitError
			switch {
			case err == nil:
				return living, "", nil
			case errors.As(err, &exit):
				return killed, pkg + " " + firstFailure(out), nil
			}
			return "", "", err
		}
		for _, c := range r.tests.Tests {
			if c.Package != pkg || !c.covers(m) {
				continue
			}
			if left -= c.Seconds; left < 0 && m.Op != "named" {
				skipped++
				continue
			}
			if seconds+c.Seconds > atOnce {
				if v, by, err := flush(); v != living || err != nil {
					return v, by, err
				}
			}
			names, seconds = append(names, c.Name), seconds+c.Seconds
		}
		if v, by, err := flush(); v != living || err != nil {
			return v, by, err
		}
	}
	if skipped > 0 {
		return undecided, fmt.Sprintf("%d tests passed, %d were too long", ran, skipped), nil
	}
	return living, fmt.Sprintf("%d tests passed", ran), nil
}

func (r *runner) build(binary, overlay, pkg string) ([]byte, error) {
	cmd := exec.Command("go", "test", "-c", "-overlay", overlay, "-vet=off", "-o", binary, pkg)
	cmd.Dir = r.top
	return cmd.CombinedOutput()
}

// runTests runs tests of a package with bounds that a mutant may need: on time,
// on memory, on what is written into a file.
func (r *runner) runTests(dir, pkg, binary string, names []string, seconds float64, more ...string) (string, error) {
	args := append([]string{"-c", `ulimit -v 16000000; ulimit -f 4000000; exec "$0" "$@"`, binary, "-test.count=1", "-test.failfast",
		"-test.timeout", time.Duration(seconds * float64(time.Second)).String(),
		"-test.run", "^(" + strings.Join(names, "|") + ")$"}, more...)
	cmd := exec.Command("sh", args...)
	cmd.Dir = filepath.Join(r.top, pkg)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
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

// firstError is the compiler's first complaint.
func firstError(output string) string {
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "#") {
			_, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
			return text
		}
	}
	return ""
}

func (r *runner) note(j job, found result, took time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, err := json.Marshal(found)
	if err != nil {
		return err
	}
	if _, err := r.out.Write(append(b, '\n')); err != nil {
		return err
	}
	r.done[found.Name] = found
	fmt.Printf("%-9s %5.0fs  %s:%d: %s: %s  %s\n", found.Verdict, took.Seconds(), j.File, j.line, j.Op, j.Text, found.By)
	return nil
}

func readResults(path string) (map[string]result, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]result{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]result{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out[r.Name] = r
	}
	return out, lines.Err()
}

// table prints what is known of all jobs, and counts those that live.
func (r *runner) table() (alive int) {
	const equivalent, untested, total verdict = "equivalent", "untested", "mutants"
	counts := map[string]map[verdict]int{"all": {}}
	var files []string
	for _, j := range r.jobs {
		if counts[j.File] == nil {
			counts[j.File] = map[verdict]int{}
			files = append(files, j.File)
		}
		v := untested
		if j.equivalent != "" {
			v = equivalent
		} else if d, ok := r.done[j.name()]; ok && d.Sum == r.tests.Sum {
			v = d.Verdict
		}
		for _, row := range []string{j.File, "all"} {
			counts[row][v]++
			counts[row][total]++
		}
		if v == living {
			alive++
			fmt.Printf("ALIVE %s:%d %s: %s: %s (%s)\n", j.File, j.line, j.Func, j.Op, j.Text, r.done[j.name()].By)
		}
	}
	sort.Strings(files)
	columns := []verdict{total, killed, living, undecided, equivalent, unbuilt, untested}
	fmt.Printf("\n%-28s", "file")
	for _, v := range columns {
		fmt.Printf(" %10s", v)
	}
	for _, f := range append(files, "all") {
		fmt.Printf("\n%-28s", f)
		for _, v := range columns {
			fmt.Printf(" %10d", counts[f][v])
		}
	}
	fmt.Println()
	return alive
}
