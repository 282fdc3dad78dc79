package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// testCase is a test function: how long it takes, and what it covers.
type testCase struct {
	Package string
	Name    string
	Code    uint32 // the sum of the targets
	Sum     uint32 // and of the test's file
	Seconds float64
	Covers  map[string][]span // by file, from the top of the repository
	long    bool              // it has been ended, so what it covers is not known
}

// span is code that has run, from one place to another.
type span struct{ From, To place }

// covers reports whether the test runs code of a mutant.
func (c testCase) covers(m mutant) bool {
	if c.long {
		return true
	}
	for _, s := range c.Covers[m.File] {
		if !m.end.before(s.From) && !s.To.before(m.start) {
			return true
		}
	}
	return false
}

// sums are of everything that a verdict depends on: the targets, and their tests.
func sums(top string) (code, tests uint32, err error) {
	var files []string
	for _, t := range targets {
		files = append(files, filepath.Join(top, t.file))
	}
	if code, err = sumOf(files); err != nil {
		return 0, 0, err
	}
	files = nil
	for _, p := range packages {
		list, err := filepath.Glob(filepath.Join(top, p, "*_test.go"))
		if err != nil {
			return 0, 0, err
		}
		files = append(files, list...)
	}
	tests, err = sumOf(files)
	return code, tests, err
}

func sumOf(files []string) (uint32, error) {
	s := crc32.NewIEEE()
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return 0, err
		}
		fmt.Fprintln(s, filepath.Base(f), len(b))
		if _, err := s.Write(b); err != nil {
			return 0, err
		}
	}
	return s.Sum32(), nil
}

var testFunction = lazyregexp.New(`(?m)^func ((?:Test|Fuzz)\w*)\(`)

// testFiles are the sums of the files of a package's tests.
func (r *runner) testFiles(pkg string) (map[string]uint32, error) {
	files, err := filepath.Glob(filepath.Join(r.top, pkg, "*_test.go"))
	if err != nil {
		return nil, err
	}
	sums := map[string]uint32{}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		r.rapid[pkg] = r.rapid[pkg] || strings.Contains(string(src), `"pgregory.net/rapid"`)
		for _, m := range testFunction.FindAllStringSubmatch(string(src), -1) {
			sums[m[1]] = crc32.ChecksumIEEE(src)
		}
	}
	return sums, nil
}

// learn reads what earlier runs have learnt about the tests, and runs each of those
// that are new, or whose file or target has changed.
func (r *runner) learn() error {
	known := map[string]testCase{}
	if err := eachLine(r.plan, func(line []byte) error {
		var c testCase
		err := json.Unmarshal(line, &c)
		known[c.Package+" "+c.Name] = c
		return err
	}); err != nil {
		return err
	}
	out, err := os.OpenFile(r.plan, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, p := range packages {
		if err := r.learnPackage(p, known, out); err != nil {
			return err
		}
	}
	sort.SliceStable(r.tests, func(i, j int) bool { return r.tests[i].Seconds < r.tests[j].Seconds })
	return nil
}

func (r *runner) learnPackage(pkg string, known map[string]testCase, out *os.File) error {
	sums, err := r.testFiles(pkg)
	if err != nil {
		return err
	}
	binary := filepath.Join(r.dir, "covered.test")
	defer os.Remove(binary)
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if c := known[pkg+" "+name]; c.Code == r.results.code && c.Sum == sums[name] {
			r.tests = append(r.tests, c)
		} else {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	build := exec.Command("go", "test", "-c", "-o", binary, "-covermode=set", "-coverpkg=./"+strings.Join(targetFolders(), ",./"), pkg)
	build.Dir = r.top
	if b, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", pkg, err, b)
	}
	return r.inParallel(func() (done bool, err error) {
		r.mu.Lock()
		if done = len(unknown) == 0; done {
			r.mu.Unlock()
			return done, nil
		}
		name := unknown[0]
		unknown = unknown[1:]
		r.mu.Unlock()
		c, err := r.learnTest(binary, pkg, name)
		if err != nil {
			return false, err
		}
		c.Code, c.Sum = r.results.code, sums[name]
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.tests = append(r.tests, c); !c.long {
			err = writeLine(out, c)
		}
		return false, err
	})
}

// learnTest runs one test in a binary that counts what it covers. A test that takes longer than o.longest is ended; the next run
// tries again.
func (r *runner) learnTest(binary, pkg, name string) (c testCase, err error) {
	profile := filepath.Join(r.dir, name+".profile")
	began := r.clock.Now()
	out, err := r.runTests(pkg, binary, []string{name}, r.longest.Seconds(), nil, "-test.coverprofile", profile)
	c = testCase{Package: pkg, Name: name, Seconds: r.clock.Now().Sub(began).Seconds()}
	if c.long = c.Seconds >= r.longest.Seconds(); c.long {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("%s: %s fails without any mutant: %w\n%s", pkg, name, err, out)
	}
	fmt.Printf("%-16s %6.1fs  %s\n", pkg, c.Seconds, name)
	c.Covers, err = readProfile(profile)
	return c, err
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
