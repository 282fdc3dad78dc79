package vitest

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/bundle/counting"
	"minido.dev/minido/vitest/coverage"
)

// measurement is the coverage of a run. All methods take nil, which measures nothing.
type measurement struct {
	options coverage.Options
	root    string
	scope   *coverage.Scope
	*counters
}

// counters go with bundles: runs that share these share them.
type counters struct {
	counting bundle.Counting
	lowered  *bundle.Options // how the project was bundled last
}

// startMeasuring makes o.measure, if the configuration or the command line asks for it.
func (o *Options) startMeasuring(each []*settings) error {
	options := coverage.Defaults()
	var err error
	if len(each) > 0 {
		if options, err = options.With(each[0].Coverage); err != nil {
			return &UsageError{err.Error()}
		}
	}
	if options, err = options.With(o.Coverage); err != nil {
		return &UsageError{err.Error()}
	}
	if !options.Enabled {
		return nil
	}
	if err := options.Check(); err != nil {
		if len(each) > 0 && each[0].file != "" && o.Coverage == nil { // not from the command line
			return &UsageError{fmt.Sprintf("the configuration %s: %v", inConfig(each[0].file, err.Error()), err)}
		}
		return &UsageError{err.Error()}
	}
	m := &measurement{options: options, root: o.Dir, counters: o.counters}
	if m.counters == nil {
		m.counters = &counters{}
	}
	m.counting.Reset()
	if len(each) == 1 {
		m.root = each[0].root
	}
	var tests []string
	for _, s := range each {
		for _, f := range slices.Concat(s.SetupFiles, s.GlobalSetup) {
			tests = append(tests, filepath.ToSlash(filepath.Clean(f)))
		}
		tests = append(tests, s.Include...)
		if s.file != "" {
			tests = append(tests, filepath.ToSlash(s.file))
		}
	}
	cache := o.CacheDir
	if real, err := filepath.EvalSymlinks(cache); err == nil {
		cache = real
	}
	reports := options.ReportsDirectory
	if !filepath.IsAbs(reports) {
		reports = filepath.Join(m.root, reports)
	}
	if m.scope, err = options.NewScope(m.root, tests, []string{cache, reports}); err != nil {
		return &UsageError{err.Error()}
	}
	m.counting.Wants = m.scope.Wants
	o.measure = m
	return nil
}

// count has a bundle count.
func (m *measurement) count(b *bundle.Options) {
	if m == nil {
		return
	}
	b.Counting = &m.counting
	copied := *b
	m.lowered = &copied
}

// fold is called after each world.
func (m *measurement) fold() {
	if m != nil {
		m.counting.Fold()
	}
}

// result is what was measured, nil if tests failed and that is not reported.
func (m *measurement) result(failed bool, now time.Time) (*coverage.Result, error) {
	if failed && !m.options.ReportOnFailure {
		return nil, nil
	}
	files, err := m.counting.Files()
	if err != nil {
		return nil, &UsageError{err.Error()}
	}
	tested := map[string]bool{}
	for _, f := range files {
		tested[f.Path] = true
	}
	untested, err := m.scope.Untested(tested)
	if err != nil {
		return nil, err
	}
	for _, path := range untested {
		f, err := m.uncounted(path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b *counting.File) int { return cmp.Compare(a.Path, b.Path) })
	return &coverage.Result{Options: m.options, Root: m.root, Files: files, Time: now}, nil
}

// uncounted is a file that no test has reached.
func (m *measurement) uncounted(path string) (*counting.File, error) {
	o := bundle.Options{Dir: m.root, Counting: &m.counting}
	if m.lowered != nil {
		o = *m.lowered
	}
	f, err := bundle.Uncounted(o, path)
	var broken *bundle.BuildError
	if errors.As(err, &broken) {
		return nil, &UsageError{fmt.Sprintf("coverage: %s, which coverage.include names: %v", path, err)}
	}
	return f, err
}
