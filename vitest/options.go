package vitest

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/server"
)

// Options describe a run. Immutable; Dir, Clock and Out are required.
type Options struct {
	// Dir is the project's directory.
	Dir string
	// Given is how the directory was named, for lines that replay a finding: "." leaves it
	// out, "" is Dir.
	Given string
	// Files are parts of paths: only test files whose path contains one of them
	// run. Empty runs all.
	Files []string
	// Config is the vitest configuration, relative to Dir; "" looks for one.
	Config string
	// Name is a regular expression: only tests whose full name it matches run.
	Name string
	// Update writes snapshots that are new or differ; without it, New says whether
	// missing ones are written.
	Update, New bool
	// Bail stops after that many failed tests; 0 never does.
	Bail int
	// Retry runs a failed test again up to that many times; -1 leaves it to the
	// configuration.
	Retry int
	// Timeout is testTimeout; 0 leaves it to the configuration.
	Timeout time.Duration
	// Patience is how long a test may compute without a pause, of the machine's time,
	// before it fails; 0 is 10 s, or testTimeout, if it is set to more than 5 s.
	Patience time.Duration
	// Shard and Shards take the Shard-th (from 1) of Shards parts of the files; 0
	// takes all.
	Shard, Shards int
	// Seed is the seed of the simulated worlds.
	Seed uint64
	// Chaos repeats each test that passes with this fault at its effect points.
	Chaos Fault
	// Points bounds the effect points of a test that Chaos takes, evenly spread; 0
	// takes all.
	Points int
	// At, with Chaos, takes the effect point with this number alone.
	At int
	// CacheDir holds transformed modules between runs; "" is below Dir.
	CacheDir string
	// Imports asks for File.Imports.
	Imports bool
	// Clock is the machine's.
	Clock clock.Clock
	// Out gets what the tests log.
	Out io.Writer
	// Environ is the process environment in the form of os.Environ.
	Environ []string
	// Repeat runs everything that many times, each with the next seed, until something fails; 0 is
	// once.
	Repeat int
	// Coverage are options of coverage as JSON (coverage.Options), which go before those of
	// the configuration.
	Coverage json.RawMessage
	// Cancelled, if not nil, says that the run shall end: it is asked between steps of the
	// worker, on the goroutine of Run, which then returns ErrCancelled.
	Cancelled func() bool
	// Progress, if not nil, is told of each file as it ends; Repeated of each whose tests have
	// then been repeated with the fault. Both are called on the goroutine of Run.
	Progress, Repeated func(*File)

	only     []string        // absolute: only these files run; nil for all
	bundles  *server.Bundles // what is kept between runs
	counters *counters       // with bundles; nil: a run has its own
	nodes    *nodes          // processes of Node.js
	measure  *measurement    // nil if nothing is measured
}

// Fault is what Options.Chaos does to objects.
type Fault string

// The faults.
const (
	Evict     Fault = "evict"     // out of memory once idle; sockets are closed
	Hibernate Fault = "hibernate" // out of memory once idle; sockets stay
	Crash     Fault = "crash"     // the object dies at the point
	Kill      Fault = "kill"      // all objects die at the point
)

// ErrCancelled is what Run returns when Options.Cancelled said so.
var ErrCancelled = errors.New("the run was cancelled")

// cancelled reports whether the run shall end.
func (o *Options) cancelled() bool { return o.Cancelled != nil && o.Cancelled() }

// UsageError is a mistake in the project or on the command line, with what to do.
type UsageError struct{ Text string }

// Error implements error.
func (e *UsageError) Error() string { return e.Text }
