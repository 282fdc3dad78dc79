package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
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
	Code    uint32  `json:"code"`  // the sum of the targets
	Tests   uint32  `json:"tests"` // and of their tests
	Verdict verdict `json:"verdict"`
	By      string  `json:"by,omitempty"` // the test that failed, or how many did not
}

// results are what is known of mutants, and the file that keeps it. The runner guards it.
type results struct {
	code, tests uint32 // the sums of now
	known       map[string]result
	file        *os.File
}

// openResults reads what earlier runs have found.
func openResults(path, top string) (*results, error) {
	r := &results{known: map[string]result{}}
	var err error
	if r.code, r.tests, err = sums(top); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := eachLine(path, func(line []byte) error {
		var d result
		err := json.Unmarshal(line, &d)
		r.known[d.Name] = d
		return err
	}); err != nil {
		return nil, err
	}
	r.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return r, err
}

// eachLine calls fn with each line of a file, if there is one.
func eachLine(path string, fn func(line []byte) error) error {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for line := range bytes.Lines(b) {
		if err := fn(line); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// writeLine appends a value to such a file.
func writeLine(f *os.File, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return err
}

func (r *results) add(d result) error {
	d.Code, d.Tests = r.code, r.tests
	r.known[d.Name] = d
	return writeLine(r.file, d)
}

// of is what is known of a mutant. One that was killed stays so while the code is the
// same, whatever tests there are by now; one that lived may be killed by a new one.
func (r *results) of(name string) (result, bool) {
	d, ok := r.known[name]
	return d, ok && d.Code == r.code && (d.Tests == r.tests || d.Verdict == killed || d.Verdict == unbuilt)
}

// decided reports whether a mutant need not be tested again.
func (r *results) decided(name string) bool {
	d, ok := r.of(name)
	return ok && d.Verdict != undecided
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
		if d, ok := r.results.of(j.name()); j.equivalent != "" {
			v = equivalent
		} else if ok {
			v = d.Verdict
		}
		for _, row := range []string{j.File, "all"} {
			counts[row][v]++
			counts[row][total]++
		}
		if v == living {
			alive++
			fmt.Printf("ALIVE %s:%d %s: %s: %s (%s)\n", j.File, j.line, j.Func, j.Op, j.Text, r.results.known[j.name()].By)
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
