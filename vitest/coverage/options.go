// Package coverage reports which of a project's code its tests have run, like vitest's
// provider istanbul: tables, lcov, istanbul's json, html, thresholds.
package coverage

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Options are vitest's options test.coverage; their JSON is that of js/config.js.
// Immutable once a run has begun.
type Options struct {
	Enabled bool
	// Provider is istanbul or v8: the numbers are istanbul's for both.
	Provider string
	// Include are globs of files that are measured, also if no test reaches them. nil
	// takes all files that tests reach. Exclude goes before it.
	Include, Exclude []string
	Reporter         []Reporter
	// ReportsDirectory is relative to the root.
	ReportsDirectory string
	// Clean empties the directory before it is written to.
	Clean bool
	// ReportOnFailure reports also if tests failed.
	ReportOnFailure bool
	// SkipFull leaves what is covered wholly out of tables.
	SkipFull   bool
	Thresholds Thresholds
	Watermarks map[string][2]float64
	// Refused names options that are set and not supported.
	Refused []string
}

// Reporter is a form of report, with its options.
type Reporter struct {
	Name    string
	Options struct {
		File, ProjectRoot   string
		MaxCols             *int
		SkipEmpty, SkipFull bool
	}
}

// Defaults are vitest's.
func Defaults() Options {
	marks := map[string][2]float64{}
	for _, kind := range kinds {
		marks[kind] = [2]float64{50, 80}
	}
	return Options{Provider: "istanbul", Reporter: []Reporter{{Name: "text"}, {Name: "html"}, {Name: "clover"}, {Name: "json"}}, ReportsDirectory: "./coverage", Clean: true, Watermarks: marks}
}

// With is o changed by options as JSON: what they do not name stays. Empty text changes
// nothing.
func (o Options) With(text json.RawMessage) (Options, error) {
	o.Watermarks = maps.Clone(o.Watermarks)
	o.Thresholds = maps.Clone(o.Thresholds)
	if len(text) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("coverage: %w", err)
	}
	return o, nil
}

// Check refuses what is not supported. The error is for the user.
func (o *Options) Check() error {
	refused := slices.Clone(o.Refused)
	if o.Provider != "istanbul" && o.Provider != "v8" {
		refused = append(refused, fmt.Sprintf("coverage.provider %q (there are istanbul and v8, with the same numbers)", o.Provider))
	}
	for _, r := range o.Reporter {
		if writers[r.Name] == nil {
			refused = append(refused, fmt.Sprintf("coverage.reporter %q (there are %s)", r.Name, strings.Join(slices.Sorted(maps.Keys(writers)), ", ")))
		}
	}
	for _, list := range [][]string{o.Include, o.Exclude} {
		for _, glob := range list {
			if _, err := compile(glob, true); err != nil {
				refused = append(refused, err.Error())
			}
		}
	}
	_, err := o.Thresholds.sets()
	if err != nil {
		refused = append(refused, err.Error())
	}
	if len(refused) > 0 {
		return fmt.Errorf("minido test does not support %s", strings.Join(refused, ", "))
	}
	return nil
}

// Scope says which files are measured. Immutable.
type Scope struct {
	root             string
	include, exclude []glob
	files            []glob // include, of whole paths below the root
	without          []string
}

// NewScope makes the scope of a project whose files lie below root. Of exclude are globs,
// of without directories.
func (o *Options) NewScope(root string, exclude, without []string) (*Scope, error) {
	s := &Scope{without: without}
	var err error
	if s.root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("coverage: %w", err)
	}
	include := o.Include
	if include == nil {
		include = []string{"**"}
	}
	if s.include, err = compileAll(include, true); err != nil {
		return nil, err
	}
	if s.files, err = compileAll(o.Include, false); err != nil {
		return nil, err
	}
	s.exclude, err = compileAll(slices.Concat(o.Exclude, exclude, configFiles), true)
	return s, err
}

// configFiles are never measured.
var configFiles = []string{"vitest.config.{ts,mts,cts,js,mjs,cjs}", "vite.config.{ts,mts,cts,js,mjs,cjs}", "**/node_modules/**"}

// Wants reports whether a file with an absolute path is measured.
func (s *Scope) Wants(path string) bool {
	if !strings.HasPrefix(path, s.root+string(filepath.Separator)) {
		return false
	}
	for _, dir := range s.without {
		if strings.HasPrefix(path, dir+string(filepath.Separator)) {
			return false
		}
	}
	path = filepath.ToSlash(path)
	return matches(s.include, path) && !matches(s.exclude, path)
}
