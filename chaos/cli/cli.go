// Package cli is the command line of the harness: kong commands that
// cmd/minido mounts.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/crash"
)

// Chaos is `minido chaos`. Its fields are kong's; a zero value is filled by
// parsing.
type Chaos struct {
	Enumerate Enumerate `cmd:"" help:"Kill at every effect point that a run without faults passes, one run each."`
	Random    Random    `cmd:"" help:"Run random plans of all kinds of faults."`
	Replay    Replay    `cmd:"" help:"Run one plan of faults, such as a finding printed."`
	Shrink    Shrink    `cmd:"" help:"Look for a smaller plan that still fails."`
	Merge     Merge     `cmd:"" help:"Merge the reports of shards."`
	Init      Init      `cmd:"" help:"Write a first scenario for a project."`
	Once      Once      `cmd:"" name:"run" default:"withargs" help:"Run one plan and report it step by step (the default)."`
}

// Help implements kong's HelpProvider.
func (Chaos) Help() string { return help }

// ExitError is how a command ends that did not pass. Its text has been made
// for people; it is empty if everything was said already.
type ExitError struct {
	Code int
	Text string
}

// Error implements error.
func (e *ExitError) Error() string { return e.Text }

// ExitCode is the exit code of the process.
func (e *ExitError) ExitCode() int { return e.Code }

// Color reports whether out is a terminal that wants colours.
func Color(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// untilSignal returns a context that ends at the first SIGINT, SIGTERM or
// SIGHUP, and a function that tells the signal's number, 0 if none came.
func untilSignal() (ctx context.Context, number func() int, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	threads := crash.NewThreads(clock.Real{})
	threads.Go("signals", func() {
		select {
		case s := <-signals:
			signal.Stop(signals) // a second one ends the process at once
			cancel(&signalError{s})
		case <-ctx.Done():
		}
	})
	number = func() int {
		var s *signalError
		if !errors.As(context.Cause(ctx), &s) {
			return 0
		}
		n, ok := s.signal.(syscall.Signal)
		if !ok {
			return int(syscall.SIGINT)
		}
		return int(n)
	}
	return ctx, number, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
		// Its one function ends with ctx, so this does not wait.
		_ = threads.Close(context.Background())
	}
}

type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return "received " + e.signal.String() }
