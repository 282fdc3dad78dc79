package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/crash"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/doctor"
)

type doctorCommand struct {
	Dir string `arg:"" optional:"" default:"." help:"The project's directory."`

	Config string `short:"c" placeholder:"FILE" help:"The wrangler file. Default: found in the directory or one above it."`
	Env    string `short:"e" placeholder:"NAME" help:"Environment of the wrangler file (env.NAME)."`
}

// Help implements kong's HelpProvider.
func (doctorCommand) Help() string {
	return `Loads the worker as "minido dev" does, on empty state and without listening. It lists unsupported bindings, uses of node:
APIs that throw, compatibility flags without effect, packages that are not installed, build errors, and the existing state.
Exit codes: 0 it runs, 1 something throws when it is used, 2 it does not start.`
}

// Run implements kong's command interface.
func (c *doctorCommand) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return c.run(ctx, os.Stdout, useColor())
}

func (c *doctorCommand) run(ctx context.Context, out io.Writer, color bool) (err error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	options := config.Options{Dir: dir, ConfigPath: c.Config, Env: c.Env, Environ: os.Environ()}
	threads := crash.NewThreads(clock.Real{})
	defer func() { err = errors.Join(err, threads.Close(context.WithoutCancel(ctx))) }()
	r, err := doctor.Examine(ctx, doctor.Options{Config: options, Scheduler: threads, Entropy: entropy.System{}, Color: color, BuildOutput: os.Stderr})
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, examined(r)); err != nil {
		return err
	}
	switch r.Worst() {
	case doctor.Stops:
		return &exitError{code: exitUsage}
	case doctor.Throws:
		return &exitError{code: exitFailure}
	}
	return nil
}

// examined is a report as people read it.
func examined(r doctor.Report) string {
	var b strings.Builder
	if r.Failure != "" {
		b.WriteString(strings.TrimRight(r.Failure, "\n") + "\n\n")
	}
	for _, f := range r.Findings {
		where := ""
		if f.Where != "" {
			where = f.Where + ": "
		}
		fmt.Fprintf(&b, "%-7s %s%s\n", f.Level, where, f.Text)
		if f.Hint != "" {
			fmt.Fprintf(&b, "        %s\n", f.Hint)
		}
	}
	for _, ready := range r.Ready {
		fmt.Fprintf(&b, "%-7s env.%s  %s  %s\n", "ready", ready.Name, ready.Kind, ready.Detail)
	}
	for _, line := range r.State {
		fmt.Fprintf(&b, "%-7s %s\n", "state", line)
	}
	switch r.Worst() {
	case doctor.Stops:
		b.WriteString("\nIt does not start. What else would not run shows once this is mended.\n")
	case doctor.Throws:
		b.WriteString("\nIt starts, but not everything of it runs here.\n")
	default:
		b.WriteString("\nIt runs.\n")
	}
	return b.String()
}
