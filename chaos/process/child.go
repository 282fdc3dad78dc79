// Package process runs the server under test as a child process that can be
// killed without warning: SIGKILL, no handlers, nothing flushed. That, and not a
// polite eviction, is what the harness is about.
//
// A Child is started in a process group of its own and never outlives the
// harness: on Linux the kernel kills it when the harness dies, elsewhere Close
// does. Whatever way it ends, it is reaped, and Exit says how it ended and, for a
// child armed with a kill point, whether it died there.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/sched"
)

// The environment variables by which a child is armed.
const (
	// EnvKillPoint holds the point to die at, in the form of killpoint.ParseTarget.
	EnvKillPoint = "MINIDO_KILLPOINT"
	// EnvKillPointLog names the file to which each point appends a JSON line.
	EnvKillPointLog = "MINIDO_KILLPOINT_LOG"
)

// Options say what to run. The zero value of each field but Command and
// Scheduler is usable.
type Options struct {
	// Command is the program and its arguments.
	Command []string
	// Dir is the working directory, "" for the harness's own.
	Dir string
	// Env is added to the harness's environment, each KEY=VALUE.
	Env []string
	// Log gets everything that the child writes, standard output and error
	// interleaved, as whole lines.
	Log io.Writer
	// Stdin is what the child reads; nil is nothing. Stdout gets its standard
	// output, which then is not in Log.
	Stdin  *os.File
	Stdout io.Writer
	// KillPoint arms the child, see EnvKillPoint.
	KillPoint string
	// PointLog is where the child records its points; "" does not record.
	// It must not exist yet.
	PointLog string
	// Scheduler runs the goroutine that reaps the child, and gives the clock.
	Scheduler sched.Scheduler
}

// Child is a running or ended process. It is safe for concurrent use.
type Child struct {
	options Options
	cmd     *exec.Cmd
	output  *output
	exited  chan struct{} // closed once exit is set

	mu     sync.Mutex // guards everything below
	killed bool       // by the harness, through Kill or Close
	reaped bool
	exit   Exit
}

// Exit says how a child ended. Immutable.
type Exit struct {
	// Code is the exit code, -1 if a signal ended the process.
	Code int
	// Killed says that the process was ended by SIGKILL (on Windows: by
	// TerminateProcess).
	Killed bool
	// ByHarness says that the harness asked for the kill.
	ByHarness bool
	// Text describes the end for people: "exit status 1", "signal: killed".
	Text string
}

// SelfKilled reports whether the process killed itself: SIGKILL that the
// harness did not send. LastPoint tells where.
func (e Exit) SelfKilled() bool { return e.Killed && !e.ByHarness }

// ErrExited is returned, wrapped, when a child ended that should be running.
var ErrExited = errors.New("the server ended")

// ExitError is why a child that should be running is not. It wraps ErrExited.
type ExitError struct {
	Exit Exit
	// Tail is the end of what the child wrote, up to 30 lines.
	Tail string
}

// Error implements error.
func (e *ExitError) Error() string {
	text := fmt.Sprintf("%v (%s)", ErrExited, e.Exit.Text)
	if e.Tail != "" {
		text += "; it wrote:\n" + e.Tail
	}
	return text
}

// Unwrap makes errors.Is(err, ErrExited) hold.
func (e *ExitError) Unwrap() error { return ErrExited }

// Start starts the child and returns without waiting until it answers.
func Start(o Options) (*Child, error) {
	if len(o.Command) == 0 || o.Scheduler == nil {
		return nil, errors.New("process: start: Options need Command and Scheduler")
	}
	c := &Child{options: o, exited: make(chan struct{})}
	c.output = newOutput(o.Log)
	c.cmd = exec.Command(o.Command[0], o.Command[1:]...)
	c.cmd.Dir = o.Dir
	c.cmd.Stdout, c.cmd.Stderr = c.output, c.output
	if o.Stdout != nil {
		c.cmd.Stdout = o.Stdout
	}
	if o.Stdin != nil {
		c.cmd.Stdin = o.Stdin
	}
	// A grandchild that keeps the pipe open must not keep us waiting for its end.
	c.cmd.WaitDelay = 2 * time.Second
	c.cmd.Env = append(cleanEnviron(), o.Env...)
	if o.KillPoint != "" {
		c.cmd.Env = append(c.cmd.Env, EnvKillPoint+"="+o.KillPoint)
	}
	if o.PointLog != "" {
		c.cmd.Env = append(c.cmd.Env, EnvKillPointLog+"="+o.PointLog)
	}
	detach(c.cmd)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("process: start: %w", err)
	}
	o.Scheduler.Go("reap "+o.Command[0], c.reap)
	return c, nil
}

// cleanEnviron is our environment without what would arm a child by accident.
func cleanEnviron() []string {
	var out []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, EnvKillPoint) { // and all that begin so
			out = append(out, kv)
		}
	}
	return out
}

func (c *Child) reap() {
	err := c.cmd.Wait()
	// What the leader left behind in its group goes with it.
	killGroup(c.cmd.Process.Pid)
	c.output.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaped = true
	c.exit = Exit{Code: -1, ByHarness: c.killed, Text: "unknown"}
	if state := c.cmd.ProcessState; state != nil {
		c.exit.Code, c.exit.Text = state.ExitCode(), state.String()
		c.exit.Killed = wasKilled(state)
	} else if err != nil {
		c.exit.Text = err.Error()
	}
	close(c.exited)
}

// Pid is the process id; it stays known after the end.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Exited is closed once the child has ended and was reaped.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Exit says how the child ended; ok is false while it runs.
func (c *Child) Exit() (exit Exit, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exit, c.reaped
}

// ExitError describes the end of a child for an error message; it is nil while
// the child runs.
func (c *Child) ExitError() error {
	exit, ok := c.Exit()
	if !ok {
		return nil
	}
	return &ExitError{Exit: exit, Tail: c.output.tail()}
}

var readyLine = lazyregexp.New(`Ready on (https?://[^\s\x1b]+)`)

// Ready waits until the child has said that it answers, and returns the URL
// that it named.
//
// # Errors
//
// An *ExitError if the child ended instead; wait.ErrTimeout after limit, with
// the end of the log.
func (c *Child) Ready(ctx context.Context, limit time.Duration) (url string, err error) {
	err = wait.Until(ctx, c.options.Scheduler.Clock(), limit, "the server's \"Ready on\" line", func() (bool, error) {
		if url = c.output.ready(); url != "" {
			return true, nil
		}
		return false, c.ExitError()
	})
	if errors.Is(err, wait.ErrTimeout) {
		if tail := c.output.tail(); tail != "" {
			err = fmt.Errorf("%w; it wrote:\n%s", err, tail)
		}
	}
	if err != nil {
		return "", fmt.Errorf("process: %w", err)
	}
	return url, nil
}

// Kill ends the child as a crash would: SIGKILL, to it and to whatever it
// started. It returns after the child was reaped. Killing a child that has
// ended does nothing; Exit then tells that it was not this kill.
func (c *Child) Kill() error {
	c.mu.Lock()
	if !c.reaped {
		c.killed = true
		if err := killTree(c.cmd.Process); err != nil {
			c.mu.Unlock()
			return fmt.Errorf("process: kill %d: %w", c.Pid(), err)
		}
	}
	c.mu.Unlock()
	<-c.exited
	return nil
}

// Suspend has the child stand still until Resume: its threads run no more. On
// Windows, which has no such thing, both do nothing; so they do to a child that
// has ended.
func (c *Child) Suspend() error { return c.signal(suspend) }

// Resume ends what Suspend began. A child that runs goes on.
func (c *Child) Resume() error { return c.signal(resume) }

func (c *Child) signal(send func(*os.Process) error) error {
	if err := send(c.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process: signal %d: %w", c.Pid(), err)
	}
	return nil
}

// Stop asks the child to end (SIGINT, as Ctrl-C) and waits for that. One that
// does not end within limit is killed, and the error says so.
func (c *Child) Stop(ctx context.Context, limit time.Duration) error {
	if err := interrupt(c.cmd.Process); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(fmt.Errorf("process: stop: %w", err), c.Kill())
	}
	err := wait.Channel(ctx, c.options.Scheduler.Clock(), limit, "the server's end after SIGINT", c.exited)
	if err != nil {
		return errors.Join(fmt.Errorf("process: %w", err), c.Kill())
	}
	return nil
}

// Close makes sure that nothing is left running.
func (c *Child) Close() error { return c.Kill() }

// Tail is the end of what the child wrote, up to 30 lines.
func (c *Child) Tail() string { return c.output.tail() }

// Output is what the child wrote so far, at most its last MaxOutput bytes.
func (c *Child) Output() string { return c.output.text() }
