package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"minido.dev/minido/vitest"
)

// coverageFlags are vitest's flags of coverage.
type coverageFlags struct {
	Enabled          *bool    `name:"coverage" aliases:"coverage.enabled" negatable:"" help:"Measure the coverage of the project's own code (docs/testing.md)."`
	Include          []string `name:"coverage.include" sep:"none" placeholder:"GLOB" help:"Files to measure, even if no test reaches them. May be repeated. Default: files that tests reach."`
	Exclude          []string `name:"coverage.exclude" sep:"none" placeholder:"GLOB" help:"Files to exclude. May be repeated."`
	Reporter         []string `name:"coverage.reporter" sep:"none" placeholder:"NAME" help:"text, text-summary, html, lcov, lcovonly, text-lcov, json, json-summary, clover or none. May be repeated. Default: text, html, clover, json."`
	ReportsDirectory string   `name:"coverage.reportsDirectory" placeholder:"DIR" help:"Directory of the reports. Default: coverage."`
	Clean            *bool    `name:"coverage.clean" help:"Empty that directory first (the default)."`
	ReportOnFailure  *bool    `name:"coverage.reportOnFailure" help:"Report coverage even if tests fail."`
	SkipFull         *bool    `name:"coverage.skipFull" help:"Omit fully covered files from tables."`
	Lines            *float64 `name:"coverage.thresholds.lines" placeholder:"N" help:"Fail if less than N percent of the lines are covered or, if N is negative, if more than -N lines are not."`
	Functions        *float64 `name:"coverage.thresholds.functions" placeholder:"N" help:"The same for functions."`
	Branches         *float64 `name:"coverage.thresholds.branches" placeholder:"N" help:"The same for branches."`
	Statements       *float64 `name:"coverage.thresholds.statements" placeholder:"N" help:"The same for statements."`
	All              *bool    `name:"coverage.thresholds.100" help:"Set all four to 100."`
	PerFile          *bool    `name:"coverage.thresholds.perFile" help:"Check each file by itself."`
	Provider         string   `name:"coverage.provider" placeholder:"NAME" help:"istanbul or v8; the numbers are istanbul's for both."`
}

// options are the flags as coverage.Options has them.
func (f *coverageFlags) options() (json.RawMessage, error) {
	o, thresholds := map[string]any{}, map[string]any{}
	set := func(in map[string]any, key string, value any, given bool) {
		if given {
			in[key] = value
		}
	}
	set(o, "enabled", f.Enabled, f.Enabled != nil)
	set(o, "include", f.Include, f.Include != nil)
	set(o, "exclude", f.Exclude, f.Exclude != nil)
	set(o, "reportsDirectory", f.ReportsDirectory, f.ReportsDirectory != "")
	set(o, "clean", f.Clean, f.Clean != nil)
	set(o, "reportOnFailure", f.ReportOnFailure, f.ReportOnFailure != nil)
	set(o, "skipFull", f.SkipFull, f.SkipFull != nil)
	set(o, "provider", f.Provider, f.Provider != "")
	var reporters []map[string]string
	for _, name := range f.Reporter {
		reporters = append(reporters, map[string]string{"name": name})
	}
	set(o, "reporter", reporters, reporters != nil)
	set(thresholds, "lines", f.Lines, f.Lines != nil)
	set(thresholds, "functions", f.Functions, f.Functions != nil)
	set(thresholds, "branches", f.Branches, f.Branches != nil)
	set(thresholds, "statements", f.Statements, f.Statements != nil)
	set(thresholds, "100", f.All, f.All != nil)
	set(thresholds, "perFile", f.PerFile, f.PerFile != nil)
	set(o, "thresholds", thresholds, len(thresholds) > 0)
	if len(o) == 0 {
		return nil, nil
	}
	return json.Marshal(o)
}

// writeCoverage writes the reports of coverage, and to errs vitest's messages about
// thresholds; missed says that there are some.
func writeCoverage(r *vitest.Report, out, errs io.Writer) (missed bool, err error) {
	if r.Coverage == nil {
		return false, nil
	}
	if err := r.Coverage.Write(out, useColor(), columns()); err != nil {
		return false, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return false, err
	}
	messages, err := r.Coverage.Missed(dir)
	if err != nil {
		return false, err
	}
	for _, m := range messages {
		if _, err := fmt.Fprintln(errs, m); err != nil {
			return false, err
		}
	}
	return len(messages) > 0, nil
}

// columns is how wide the terminal is: COLUMNS, or 80.
func columns() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 80
}
