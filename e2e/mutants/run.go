package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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

// perTest bounds one call of go test; a mutant that hangs is noticed.
const perTest = "10m"

// job is a mutant to be tested.
type job struct {
	mutant
	tests      []suite
	equivalent string // why it changes nothing, "" if it does
}

// verdict is what became of a mutant.
type verdict string

const (
	killed  verdict = "killed"
	living  verdict = "alive"
	unbuilt verdict = "not built" // the compiler refuses it
)

// result is a line of the results file.
type result struct {
	Name    string  `json:"name"`
	Sum     uint32  `json:"sum"` // of the code and the tests
	Verdict verdict `json:"verdict"`
	By      string  `json:"by,omitempty"` // the test that failed
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

func matches(o options, m mutant, n int) bool {
	return strings.Contains(m.name(), o.only) && n%o.every == 0
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
	r := &runner{options: o, jobs: jobs, done: done, out: out, sums: map[string]uint32{}}
	if err := r.all(); err != nil {
		return 0, err
	}
	return r.table(), nil
}

// runner tests mutants in parallel.
type runner struct {
	options
	jobs []job

	mu     sync.Mutex // guards what follows
	next   int
	done   map[string]result
	out    *os.File
	sums   map[string]uint32 // of packages
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
	for r.failed == nil && r.next < len(r.jobs) {
		j := r.jobs[r.next]
		r.next++
		sum, err := r.sum(j)
		if err != nil {
			r.failed = err
			return job{}, false
		}
		if d, ok := r.done[j.name()]; j.equivalent == "" && (!ok || d.Sum != sum) {
			return j, true
		}
	}
	return job{}, false
}

// sum is of the mutant's file and the tests that guard it.
func (r *runner) sum(j job) (uint32, error) {
	s := crc32.NewIEEE()
	b, err := os.ReadFile(filepath.Join(r.top, j.File))
	if err != nil {
		return 0, err
	}
	s.Write(b)
	for _, t := range j.tests {
		if _, ok := r.sums[t.pkg]; !ok {
			files, err := filepath.Glob(filepath.Join(r.top, t.pkg, "*_test.go"))
			if err != nil {
				return 0, err
			}
			p := crc32.NewIEEE()
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					return 0, err
				}
				p.Write(b)
			}
			r.sums[t.pkg] = p.Sum32()
		}
		fmt.Fprint(s, t, r.sums[t.pkg])
	}
	return s.Sum32(), nil
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
	found := result{Name: j.name(), Verdict: living}
	for _, t := range j.tests {
		if found.Verdict, found.By, err = r.goTest(dir, config, t); err != nil {
			return err
		}
		if found.Verdict != living {
			break
		}
	}
	return r.note(j, found, r.clock.Now().Sub(began))
}

// goTest runs one suite over the mutant.
func (r *runner) goTest(dir, overlay string, t suite) (verdict, string, error) {
	args := []string{"test", "-overlay", overlay, "-vet=off", "-count=1", "-failfast", "-timeout", perTest}
	if t.run != "" {
		args = append(args, "-run", t.run)
	}
	cmd := exec.Command("go", append(args, t.pkg)...)
	cmd.Dir = r.top
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "CGO_ENABLED=0")
	b, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return living, "", nil
	case !errors.As(err, &exit):
		return "", "", err
	case strings.Contains(string(b), "[build failed]"):
		return unbuilt, "", nil
	}
	return killed, t.pkg + " " + firstFailure(string(b)), nil
}

// firstFailure names the test that failed, or the panic.
func firstFailure(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			return name
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return "failed"
}

func (r *runner) note(j job, found result, took time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if found.Sum, err = r.sum(j); err != nil {
		return err
	}
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
	counts := map[string]map[verdict]int{}
	var files []string
	const equivalent, untested verdict = "equivalent", "untested"
	for _, j := range r.jobs {
		if counts[j.File] == nil {
			counts[j.File] = map[verdict]int{}
			files = append(files, j.File)
		}
		v := untested
		if j.equivalent != "" {
			v = equivalent
		} else if d, ok := r.done[j.name()]; ok {
			if sum, err := r.sum(j); err == nil && sum == d.Sum {
				v = d.Verdict
			}
		}
		counts[j.File][v]++
		if v == living {
			alive++
			fmt.Printf("ALIVE %s:%d %s: %s: %s\n", j.File, j.line, j.Func, j.Op, j.Text)
		}
	}
	sort.Strings(files)
	fmt.Printf("\n%-28s %7s %7s %11s %10s %9s\n", "file", killed, living, equivalent, unbuilt, untested)
	for _, f := range files {
		c := counts[f]
		fmt.Printf("%-28s %7d %7d %11d %10d %9d\n", f, c[killed], c[living], c[equivalent], c[unbuilt], c[untested])
	}
	return alive
}
