package vitest

import (
	"fmt"
	"slices"
	"time"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/vitest/coverage"
)

// Report is the outcome of a run.
type Report struct {
	Dir      string
	Version  string // of the project's vitest
	Files    []*File
	Seed     uint64 // of the last run
	Findings []Finding
	// Chaos is the fault of the run, Checked how often a test was repeated with it,
	// Skips the tests that opted out.
	Chaos   Fault
	Checked int
	// Lost are the runs in which a connection of the test itself was lost and the test let
	// that fail it: they say nothing about the worker.
	Lost  []Lost
	Skips []Skip
	// Updates says that snapshots were to be updated (Options.Update).
	Updates bool
	Time    time.Duration // of the machine
	// Coverage is what was measured, nil if nothing was, or tests failed.
	Coverage *coverage.Result `json:"-"`
}

// File is the outcome of one test file.
type File struct {
	Path      string // relative to Dir, with slashes
	Abs       string // absolute
	Root      *Task  // nil if it did not get as far
	Unhandled []Error
	Snapshot  Snapshot
	// Fatal says why the file could not run, "" if it did.
	Fatal string
	Time  time.Duration // of the machine
	// Runs is how often the tests of the file were repeated with a fault, Findings how often
	// that made one fail.
	Runs, Findings int
	// Imports are the project's own files that it reaches, itself among them, absolute;
	// nil unless Options.Imports asked for them.
	Imports []string `json:",omitempty"`
}

// Task is a file, suite or test as vitest describes it.
type Task struct {
	Name, Type, Mode, State, Note string
	Line                          int
	Duration                      float64 // milliseconds of virtual time
	Retries                       int
	Errors                        []Error
	ChaosSkip                     string
	Leaks                         []string // what a test left open: timers, connections, calls
	Tasks                         []*Task
}

// Error is an error of a test. Diff has the colours that vitest gives it, as escape sequences of
// terminals (ECMA-48). Test names the test that ran when a rejection that nobody handled came up.
// Bare says that what was thrown has neither a message nor a stack.
type Error struct {
	Name, Message, Stack, Diff, Cause, Test string

	Bare bool `json:",omitempty"`
}

// Snapshot counts what happened to a file's snapshots.
type Snapshot struct {
	Added, Matched, Unmatched, Updated int
	Unchecked                          int
	FileDeleted                        bool
	UncheckedKeys                      []string // of snapshots that no test asks for any more
}

// Finding is a test that fails with a fault at one effect point, or, with a Number of 0, without
// one when it runs alone.
type Finding struct {
	File, Test string
	Point      string // label
	Number     int    // of the point within the test
	Errors     []Error
	Replay     string // a command line
	// Note is what else may be the cause, "" for nothing.
	Note string `json:",omitempty"`
}

// With says what the test failed with, a fault of that kind or none.
func (x Finding) With(fault Fault) string {
	if x.Number == 0 {
		return "alone and without a fault (does it need what other tests leave?)"
	}
	return fmt.Sprintf("with %s at %s", fault, x.Point)
}

// Lost is a run of a test that says nothing about the worker, and why, a sentence.
type Lost struct {
	File, Test string
	Point      string // label
	Number     int    // of the point within the test
	Why        string
}

// Skip is a test that opted out of faults.
type Skip struct{ File, Test, Reason string }

// Test is a test with its place.
type Test struct {
	*Task
	Path []string // names of its suites and its own
}

// FullName is the names of the suites and the test as -t compares them.
func (t Test) FullName() string { return join(t.Path, " ") }

// Tests lists the tests of a file, in order.
func (f *File) Tests() (all []Test) {
	var walk func(t *Task, path []string)
	walk = func(t *Task, path []string) {
		for _, c := range t.Tasks {
			at := append(path[:len(path):len(path)], c.Name)
			if c.Type == "test" {
				all = append(all, Test{c, at})
				continue
			}
			walk(c, at)
		}
	}
	if f.Root != nil {
		walk(f.Root, nil)
	}
	return all
}

// escapes are the escape sequences in a diff.
var escapes = lazyregexp.New("\x1b\\[[0-9;]*m")

// PlainDiff is Diff without its colours.
func (e Error) PlainDiff() string { return escapes.ReplaceAllString(e.Diff, "") }

// allErrors lists those of a task and of what is below it. Those of a test that passed when it
// was tried again are none.
func (t *Task) allErrors() (all []Error) {
	if t.Type != "test" || t.State == "fail" {
		all = slices.Clone(t.Errors)
	}
	for _, c := range t.Tasks {
		all = append(all, c.allErrors()...)
	}
	return all
}

// Failed reports whether anything of the file failed.
func (f *File) Failed() bool {
	return f.Fatal != "" || len(f.Unhandled) > 0 || f.Root == nil || failed(f.Root)
}

func failed(t *Task) bool {
	if t.State == "fail" || t.Type != "test" && len(t.Errors) > 0 {
		return true
	}
	for _, c := range t.Tasks {
		if failed(c) {
			return true
		}
	}
	return false
}

// Failed reports whether anything of the run failed.
func (r *Report) Failed() bool {
	for _, f := range r.Files {
		if f.Failed() {
			return true
		}
	}
	return len(r.Findings) > 0
}
