package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

// testCase is a test function: how long it takes, and what it covers.
type testCase struct {
	Package string
	Name    string
	Seconds float64
	Covers  map[string][]span // by file, from the top of the repository
}

// span is code that has run, from one place to another.
type span struct{ From, To place }

// covers reports whether the test runs code of a mutant.
func (c testCase) covers(m mutant) bool {
	for _, s := range c.Covers[m.File] {
		if !m.end.before(s.From) && !s.To.before(m.start) {
			return true
		}
	}
	return false
}

// plan is all test functions, the quickest first.
type plan struct {
	Sum   uint32 // of the code and the tests
	Tests []testCase
}

// sumOf is of everything that a verdict depends on: the targets and their tests.
func sumOf(top string) (uint32, error) {
	s := crc32.NewIEEE()
	add := func(path string) error {
		b, err := os.ReadFile(path)
		if err == nil {
			fmt.Fprintln(s, filepath.Base(path), len(b))
			_, err = s.Write(b)
		}
		return err
	}
	for _, t := range targets {
		if err := add(filepath.Join(top, t.file)); err != nil {
			return 0, err
		}
	}
	for _, p := range packages {
		files, err := filepath.Glob(filepath.Join(top, p, "*_test.go"))
		if err != nil {
			return 0, err
		}
		for _, f := range files {
			if err := add(f); err != nil {
				return 0, err
			}
		}
	}
	return s.Sum32(), nil
}

// learn reads what an earlier run has learnt about the tests, or runs each of them.
func (r *runner) learn() error {
	sum, err := sumOf(r.top)
	if err != nil {
		return err
	}
	if b, err := os.ReadFile(r.options.plan); err == nil && json.Unmarshal(b, &r.tests) == nil && r.tests.Sum == sum {
		return nil
	}
	r.tests = plan{Sum: sum}
	for _, p := range packages {
		if err := r.learnPackage(p); err != nil {
			return err
		}
	}
	sort.SliceStable(r.tests.Tests, func(i, j int) bool { return r.tests.Tests[i].Seconds < r.tests.Tests[j].Seconds })
	b, err := json.Marshal(r.tests)
	if err != nil {
		return err
	}
	return os.WriteFile(r.options.plan, b, 0o644)
}

func (r *runner) learnPackage(pkg string) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "covered.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "-covermode=set", "-coverpkg=./sqlstore,./alarms,./durableobject,./runtime/engine", pkg)
	build.Dir = r.top
	if b, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", pkg, err, b)
	}
	list := exec.Command(binary, "-test.list", "^(Test|Fuzz)")
	list.Dir = filepath.Join(r.top, pkg)
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", pkg, err)
	}
	for name := range strings.FieldsSeq(string(names)) {
		profile := filepath.Join(dir, "profile")
		began := r.clock.Now()
		out, err := r.runTests(dir, pkg, binary, []string{name}, 600, "-test.coverprofile", profile)
		took := r.clock.Now().Sub(began).Seconds()
		if err != nil {
			return fmt.Errorf("%s: %s fails without any mutant: %w\n%s", pkg, name, err, out)
		}
		c := testCase{Package: pkg, Name: name, Seconds: took}
		if c.Covers, err = readProfile(profile); err != nil {
			return err
		}
		fmt.Printf("%-16s %6.1fs  %s\n", pkg, took, name)
		r.tests.Tests = append(r.tests.Tests, c)
	}
	return nil
}

// readProfile reads what has run of the targets' files.
func readProfile(path string) (map[string][]span, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	wanted := map[string]bool{}
	for _, t := range targets {
		wanted[t.file] = true
	}
	covers := map[string][]span{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, rest, ok := strings.Cut(lines.Text(), ":")
		name = strings.TrimPrefix(name, "minido.dev/minido/")
		if !ok || !wanted[name] {
			continue
		}
		var s span
		var statements, count int
		if _, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &s.From.Line, &s.From.Column, &s.To.Line, &s.To.Column, &statements, &count); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, rest, err)
		}
		if count > 0 {
			covers[name] = append(covers[name], s)
		}
	}
	return covers, lines.Err()
}
