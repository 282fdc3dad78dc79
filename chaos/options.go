// Package chaos breaks a worker project on purpose and says whether it survived.
//
// Run is its first mode, process mode: the server is a child process with real
// sockets and the real clock, a kill is SIGKILL, and the next child starts on
// the same persist directory. What the run saw is told to a person as it
// happens, and left behind as files: history.ndjson (everything, one event a
// line), server.log, points-N.ndjson (the effect points of the Nth child), and
// the SQLite files as they were at each death and at the end.
package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"minido.dev/minido/internal/killpoint"
)

// The exit codes of the command line, and of Report.Code.
const (
	Pass     = 0 // every invariant held
	Violated = 1 // an invariant was violated
	Usage    = 2 // the command line, the configuration or the project is wrong
	Broken   = 3 // the harness or the server failed by itself
	Restless = 4 // the agent never came to rest
	Missed   = 5 // a kill did not happen where it should
	Signal   = 128
)

// Recovery is who brings an agent back after a restart.
type Recovery string

// The ways of recovery.
const (
	// ByAlarm touches nothing: the agent's own alarm has to wake it.
	ByAlarm Recovery = "alarm"
	// ByRequest connects a client at once.
	ByRequest Recovery = "request"
)

// Defaults of Options.
const (
	DefaultCheckpoint = 2
	DefaultTimeout    = 2 * time.Minute
	// Quiet is how long an agent's files must not change for it to be at rest.
	Quiet = 500 * time.Millisecond
)

// Options say what to run, how to kill it and where to put the evidence.
type Options struct {
	// Project is the project's directory or its wrangler file.
	Project string
	// Env is the environment of the wrangler file; Vars are KEY:VALUE.
	Env  string
	Vars []string
	// On is the agent to drive, as in its URL: research-agent/r1.
	On string
	// Call is the method to call on it, with Args, a JSON array ("" for none).
	// Exactly one of Call and Chat is set.
	Call string
	Args string
	// Chat is the message to send to it.
	Chat string

	// KillAt is the effect point at which each child that is to be killed dies,
	// in the form of killpoint.ParseTarget.
	KillAt string
	// KillAfter kills that long after the call was answered, and for a second
	// kill after the child was ready.
	KillAfter time.Duration
	// KillAtCheckpoint kills when a fiber has stored so many snapshots in one
	// child's life. It is the default, with DefaultCheckpoint; at most one of the
	// three ways is set.
	KillAtCheckpoint int
	// Kills is how many times to kill, default 1.
	Kills int
	// Recover is who brings the agent back, default ByAlarm.
	Recover Recovery
	// Timeout bounds each wait: for the kill and for the rest after it.
	Timeout time.Duration

	// Out is where the story goes. Color allows ANSI colours in it.
	Out   io.Writer
	Color bool
	// Dir is where the evidence goes; "" makes a new one below minido-out.
	Dir string
	// Server is the command that serves, to which the flags of `minido dev` are
	// added. Default: this very program with "dev".
	Server []string
}

// UsageError is a mistake of the caller or of the project under test; its text
// says what to do.
type UsageError struct{ Text string }

// Error implements error.
func (e *UsageError) Error() string { return e.Text }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// complete checks o and fills in the defaults.
func (o Options) complete() (Options, error) {
	if err := o.check(); err != nil {
		return o, err
	}
	if o.KillAt == "" && o.KillAfter == 0 && o.KillAtCheckpoint == 0 {
		o.KillAtCheckpoint = DefaultCheckpoint
	}
	if o.Kills == 0 {
		o.Kills = 1
	}
	if o.Recover == "" {
		o.Recover = ByAlarm
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if len(o.Server) == 0 {
		self, err := os.Executable()
		if err != nil {
			return o, fmt.Errorf("chaos: this program's path: %w", err)
		}
		o.Server = []string{self, "dev"}
	}
	return o, nil
}

func (o Options) check() error {
	ways := 0
	for _, set := range []bool{o.KillAt != "", o.KillAfter != 0, o.KillAtCheckpoint != 0} {
		if set {
			ways++
		}
	}
	switch {
	case o.Project == "":
		return usage("which project? Give its directory or its wrangler file.")
	case o.On == "" || !strings.Contains(o.On, "/"):
		return usage("which agent? Give --on CLASS/NAME as in its URL, for example --on research-agent/r1.")
	case (o.Call == "") == (o.Chat == ""):
		return usage("what should the agent do? Give either --call METHOD [ARGUMENTS] or --chat TEXT.")
	case ways > 1:
		return usage("choose one of --kill-at, --kill-after and --kill-at-checkpoint.")
	case o.KillAfter < 0 || o.KillAtCheckpoint < 0 || o.Kills < 0 || o.Timeout < 0:
		return usage("times and counts must not be negative.")
	case o.Recover != "" && o.Recover != ByAlarm && o.Recover != ByRequest:
		return usage("--recover is %q; write alarm (nobody touches the agent) or request.", o.Recover)
	}
	if o.Args != "" {
		var list []json.RawMessage
		if err := json.Unmarshal([]byte(o.Args), &list); err != nil {
			return usage("the arguments %s are not a JSON array, for example '[\"tides\"]': %v", o.Args, err)
		}
	}
	if o.KillAt != "" {
		if _, err := killpoint.ParseTarget(o.KillAt); err != nil {
			return usage("--kill-at: %v", err)
		}
	}
	return nil
}

// IsUsage reports whether err is a mistake of the caller or of the project.
func IsUsage(err error) bool {
	var u *UsageError
	return errors.As(err, &u)
}
