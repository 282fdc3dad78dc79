// Package cli is the command line of the harness: kong commands that
// cmd/minido mounts.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"minido.dev/minido/chaos"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// Chaos is `minido chaos`. Its fields are kong's; a zero value is filled by
// parsing.
type Chaos struct {
	Project string `arg:"" help:"The project's directory, or its wrangler file."`
	Args    string `arg:"" optional:"" name:"arguments" help:"Arguments of --call, as a JSON array."`

	Call string `placeholder:"METHOD" help:"Call this method of the agent (one with @callable) over WebSocket."`
	Chat string `placeholder:"TEXT" help:"Send this message to the agent (an AIChatAgent)."`
	On   string `required:"" placeholder:"CLASS/NAME" help:"The agent, as in its URL, for example research-agent/r1."`

	KillAt           string        `placeholder:"POINT" help:"SIGKILL the server at this effect point: a label such as 'commit:after(Agent/a1)/alarm#2', or its number."`
	KillAfter        time.Duration `placeholder:"TIME" help:"SIGKILL it so long after the call was answered, for example 2s."`
	KillAtCheckpoint int           `placeholder:"N" help:"SIGKILL it when a fiber has stored N checkpoints. This is the default, with N = 2."`
	Kills            int           `default:"1" help:"How many times to kill it, each time in the same way."`
	Recover          string        `enum:"alarm,request" default:"alarm" help:"After a restart, alarm: touch nothing, the agent has to wake by itself; request: connect at once."`
	ListPoints       bool          `help:"Run once without a kill and list the effect points at which the server can be killed."`

	Env     string        `short:"e" placeholder:"NAME" help:"Environment of the wrangler file."`
	Var     []string      `placeholder:"KEY:VALUE" help:"Set a variable; may be repeated." sep:"none"`
	Timeout time.Duration `default:"2m" help:"Limit of each wait: for the kill, and for the agent's rest after it."`
	Dir     string        `placeholder:"DIR" help:"Directory of the evidence, which must not hold a run yet. Default: a new one below minido-out."`
}

// Help implements kong's HelpProvider.
func (Chaos) Help() string {
	return `Drives an agent, kills the server with SIGKILL in the middle, starts it again on the same files, waits until
the agent is at rest, and checks what must hold: the recovery hook runs once for each interrupted fiber, with its last
checkpoint; no row is left behind; an alarm is set while a fiber runs.

  minido chaos . '["tides"]' --call startResearch --on research-agent/r1
  minido chaos . --chat "hello" --on chat-agent/c1 --kill-after 2s --recover request
  minido chaos . '["tides"]' --call startResearch --on research-agent/r1 --list-points

Exit codes: 0 everything held, 1 an invariant was violated, 2 wrong flags, configuration or project, 3 the harness or
the server failed by itself, 4 the agent never came to rest, 5 the moment of the kill did not come, 128+n signal n.`
}

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

// Run implements kong's command interface. It handles signals itself: the
// first one ends the run, and its children with it. The error is an *ExitError.
func (c *Chaos) Run() error {
	ctx, cause, stop := untilSignal()
	defer stop()
	return c.run(ctx, cause, os.Stdout)
}

func (c *Chaos) run(ctx context.Context, signalled func() int, out io.Writer) error {
	o := chaos.Options{
		Project: c.Project, Env: c.Env, Vars: c.Var, On: c.On, Call: c.Call, Args: c.Args, Chat: c.Chat,
		KillAt: c.KillAt, KillAfter: c.KillAfter, KillAtCheckpoint: c.KillAtCheckpoint, Kills: c.Kills,
		Recover: chaos.Recovery(c.Recover), Timeout: c.Timeout, Out: out, Color: Color(out), Dir: c.Dir,
	}
	var report chaos.Report
	var err error
	if c.ListPoints {
		report, err = list(ctx, o, out)
	} else {
		report, err = chaos.Run(ctx, o)
	}
	if n := signalled(); n != 0 {
		return &ExitError{Code: chaos.Signal + n, Text: "minido: stopped by a signal"}
	}
	if report.Code == chaos.Pass && err == nil {
		return nil
	}
	text := ""
	if err != nil {
		text = "minido: " + err.Error()
		if !chaos.IsUsage(err) && report.Replay != "" {
			text += "\nreplay with:\n" + report.Replay
		}
	}
	return &ExitError{Code: report.Code, Text: text}
}

// list prints the points of a run without a kill, after its story.
func list(ctx context.Context, o chaos.Options, out io.Writer) (chaos.Report, error) {
	points, report, err := chaos.ListPoints(ctx, o)
	if err != nil {
		return report, err
	}
	var b strings.Builder
	for _, p := range points {
		fmt.Fprintf(&b, "%5d  %s\n", p.N, p.Label)
	}
	if len(points) == 0 {
		return report, errors.New("the server recorded no effect points")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return report, fmt.Errorf("the list: %w", err)
	}
	return report, nil
}

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
	threads := sched.NewThreads(clock.Real{})
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
