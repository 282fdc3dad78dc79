package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/crash"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/server"
	"minido.dev/minido/vitest"
	"minido.dev/minido/vitest/report"
)

type testCommand struct {
	Files []string `arg:"" optional:"" help:"Run only test files whose path contains one of these."`

	Dir      string        `default:"." help:"The project's directory."`
	Config   string        `placeholder:"FILE" help:"Vitest configuration. Default: vitest.config.* or vite.config.* in the directory."`
	Name     string        `short:"t" name:"testNamePattern" placeholder:"REGEXP" help:"Run only tests whose full name matches."`
	Reporter []string      `sep:"none" placeholder:"NAME[=FILE]" help:"default, verbose, dot, json, junit, github, tap or tasks (complete results, for programs), to the output or to a file. May be repeated."`
	Bail     int           `placeholder:"N" help:"Stop after N failed tests."`
	Retry    int           `default:"-1" placeholder:"N" help:"Retry a failed test up to N times."`
	Timeout  time.Duration `name:"test-timeout" placeholder:"DURATION" help:"Limit of a test, in virtual time. Default: the configuration's, or 1h."`
	Shard    string        `placeholder:"I/N" help:"Run the I-th of N parts of the test files."`
	Update   bool          `short:"u" help:"Update snapshots that differ."`
	Seed     uint64        `default:"1" help:"Seed of the simulated worlds."`
	Chaos    string        `enum:",evict,hibernate,crash,kill" default:"" placeholder:"FAULT" help:"Rerun each passing test with a fault at each of its effect points: evict, hibernate, crash or kill."`
	Points   int           `placeholder:"N" help:"With --chaos: at most N points of each test, evenly spread."`
	At       int           `placeholder:"N" help:"With --chaos: only the N-th point."`

	Repeat int  `placeholder:"N" help:"Run everything up to N times, each with the next seed, until something fails."`
	Watch  bool `short:"w" help:"Watch files, and rerun the test files that a change affects; keys as in vitest (h lists them)."`

	Coverage coverageFlags `embed:""`

	PassWithNoTests bool   `name:"passWithNoTests" help:"Exit with 0 if there are no test files."`
	CacheDir        string `placeholder:"DIR" help:"Directory for transformed modules. Default: .wrangler/minido-test in the project."`
}

// Help implements kong's HelpProvider.
func (testCommand) Help() string {
	return `Runs a project's vitest suites inside its worker, in simulated worlds with virtual time and without Node.js
(docs/testing.md). The project's own vitest is used; a project without one gets the one that minido contains.

Exit codes: 0 all passed, 1 a test failed or a fault made one fail or coverage is below a threshold, 2 wrong flags, configuration or project,
130 interrupted.`
}

// Run implements kong's command interface.
func (c *testCommand) Run() error { return c.run(os.Stdout) }

func (c *testCommand) run(out io.Writer) error {
	usage := func(format string, args ...any) error {
		return &exitError{exitUsage, fmt.Errorf("minido: "+format, args...)}
	}
	o := vitest.Options{Files: c.Files, Config: c.Config, Name: c.Name, Update: c.Update, New: os.Getenv("CI") == "", Bail: c.Bail, Retry: c.Retry,
		Timeout: c.Timeout, Seed: c.Seed, Chaos: vitest.Fault(c.Chaos), Points: c.Points, Repeat: c.Repeat, At: c.At, CacheDir: c.CacheDir, Clock: clock.Real{}, Out: out, Environ: os.Environ(), Given: c.Dir}
	var err error
	if o.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	if st, err := os.Stat(o.Dir); err != nil || !st.IsDir() {
		return usage("--dir %s: there is no such directory", c.Dir)
	}
	if c.Chaos == "" && (c.Points != 0 || c.At != 0) {
		return usage("--points and --at need --chaos")
	}
	if c.Shard != "" {
		i, n, ok := strings.Cut(c.Shard, "/")
		o.Shard, err = strconv.Atoi(i)
		if err == nil {
			o.Shards, err = strconv.Atoi(n)
		}
		if !ok || err != nil || o.Shard < 1 || o.Shard > o.Shards {
			return usage("--shard %q: write I/N, for example 1/3", c.Shard)
		}
	}
	names := c.Reporter
	if len(names) == 0 {
		names = []string{"default"}
		if os.Getenv("GITHUB_ACTIONS") == "true" {
			names = append(names, "github")
		}
	}
	for _, name := range names {
		kind, _, _ := strings.Cut(name, "=")
		if !report.Known(kind) {
			return usage("--reporter %q: there are %s", kind, strings.Join(report.Names(), ", "))
		}
		o.Imports = o.Imports || kind == report.Tasks
	}
	if o.Coverage, err = c.Coverage.options(); err != nil {
		return err
	}
	shown := progress(&o, names, out)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	threads := crash.NewThreads(o.Clock)
	sched.Attend(threads, "interrupt", func() {
		<-ctx.Done()
		stop() // a second signal ends the process
	})
	if c.Watch {
		return c.watch(ctx, stop, threads, o, names, shown, out)
	}
	o.Cancelled = func() bool { return ctx.Err() != nil }
	r, err := vitest.Run(o)
	if errors.Is(err, vitest.ErrCancelled) {
		return &exitError{exitInterrupted, errors.New("minido: interrupted")}
	}
	if err != nil {
		return explainTest(err)
	}
	if err := shown(); err != nil {
		return err
	}
	for _, name := range names {
		if err := write(name, r, out); err != nil {
			return err
		}
	}
	missed, err := writeCoverage(r, out, os.Stderr)
	if err != nil {
		return explainTest(err)
	}
	if len(r.Files) == 0 && !c.PassWithNoTests {
		return &exitError{exitFailure, errors.New("minido: no test files were found")}
	}
	if r.Failed() || missed {
		return &exitError{exitFailure, nil}
	}
	return nil
}

// progress has reporters that can show each file as it ends. The function returns what went
// wrong so far.
func progress(o *vitest.Options, names []string, out io.Writer) (wrong func() error) {
	var failed error
	show := func(text string) {
		if _, err := io.WriteString(out, text); failed == nil {
			failed = err
		}
	}
	o.Progress = func(f *vitest.File) {
		for _, name := range names {
			if text, ok := report.File(name, f, useColor()); ok {
				show(text)
			}
		}
	}
	o.Repeated = func(f *vitest.File) {
		for _, name := range names {
			show(report.Repeated(name, o.Chaos, f, useColor()))
		}
	}
	return func() error { return failed }
}

// watch runs the suites until the user ends it, by a key or by ending ctx, as stop does.
func (c *testCommand) watch(ctx context.Context, stop func(), threads sched.Scheduler, o vitest.Options, names []string, shown func() error, out io.Writer) (err error) {
	if c.Chaos != "" || c.Repeat > 0 {
		return &exitError{exitUsage, errors.New("minido: --watch goes without --chaos and --repeat")}
	}
	var lines io.Reader = os.Stdin // its reader ends with the process
	waiting := "Waiting for changes (" + vitest.Keys + ")"
	if tty, openErr := openTestKeys(); openErr != nil {
		return openErr
	} else if tty != nil {
		keys, ended := newWatchKeys(out, stop), make(chan struct{})
		sched.Attend(threads, "keys", func() {
			defer close(ended)
			keys.read(tty)
		})
		defer func() {
			tty.interrupt()
			<-ended
			err = errors.Join(err, tty.close())
		}()
		lines, waiting = keys, "Waiting for changes (h: help, q: quit)"
	}
	var wrong error // of writing reports
	show := func(r *vitest.Report) {
		for _, name := range names {
			wrong = errors.Join(wrong, write(name, r, out))
		}
		_, err := writeCoverage(r, out, out)
		wrong = errors.Join(wrong, err)
		_, err = fmt.Fprintf(out, "\n %s\n", waiting)
		wrong = errors.Join(wrong, err)
	}
	failed := func(err error) {
		_, werr := fmt.Fprintln(out, explainTest(err))
		wrong = errors.Join(wrong, werr)
	}
	err = vitest.Watch(ctx, o, lines, threads, show, failed)
	return errors.Join(err, wrong, shown())
}

// openTestKeys is the terminal that a person watches from, nil if nobody does.
func openTestKeys() (*keys, error) {
	if !interactive() {
		return nil, nil
	}
	return openKeys(os.Stdin)
}

// write writes one report; of those that go to out, what progress has not shown.
func write(name string, r *vitest.Report, out io.Writer) error {
	kind, file, toFile := strings.Cut(name, "=")
	if !toFile {
		text, err := report.Rest(kind, r, useColor())
		if err == nil {
			_, err = io.WriteString(out, text)
		}
		return err
	}
	text, err := report.Text(kind, r, false)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// explainTest makes of an error what people read, and its exit code.
func explainTest(err error) error {
	var usage *vitest.UsageError
	var bad *config.ConfigError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &usage), errors.As(err, &syntax):
		return &exitError{exitUsage, fmt.Errorf("minido: %w", err)}
	case errors.As(err, &bad):
		text, _ := server.Explain(err, useColor())
		return &exitError{exitUsage, errors.New(text)}
	}
	return err
}
