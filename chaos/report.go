package chaos

import (
	"fmt"
	"strings"
	"time"

	"minido.dev/minido/chaos/fibers"
)

// Kill is one death of the server.
type Kill struct {
	Pid int
	// At is when, since the start of the run.
	At time.Duration
	// Point is the label of the last effect point that the process passed, ""
	// if it records none. Between it and the next point the crash states are
	// the same, so a kill at this point reproduces this one.
	Point string
	// ByItself says that the process died at a point that it was armed with.
	ByItself bool
	// Interrupted are the fibers that the death cut.
	Interrupted []fibers.Run
	// Recovered is the time from the death until the recovery hook was seen to
	// have run, 0 if it was not.
	Recovered time.Duration
}

// Report is the outcome of a run. Immutable once returned.
type Report struct {
	// Code is the exit code: Pass, Violated and so on.
	Code       int
	Kills      []Kill
	Violations []fibers.Violation
	// HooksVisible says that the agent notes what its hook was given; without it
	// the invariants about the hook were not judged.
	HooksVisible bool
	// Elapsed is the time from start to verdict.
	Elapsed time.Duration
	// Dir holds the evidence.
	Dir string
	// Replay is the command that does this run again.
	Replay string
}

// replayCommand is the command line of o. With a point, the kill is given by
// that point rather than by time.
func replayCommand(o Options, point string) string {
	words := []string{"minido", "chaos", o.Project}
	flag := func(name, value string) { words = append(words, name, value) }
	if o.Call != "" {
		flag("--call", o.Call)
		if o.Args != "" {
			words = append(words, o.Args)
		}
	} else {
		flag("--chat", o.Chat)
	}
	flag("--on", o.On)
	switch {
	case point != "":
		flag("--kill-at", point)
	case o.KillAt != "":
		flag("--kill-at", o.KillAt)
	case o.KillAfter != 0:
		flag("--kill-after", o.KillAfter.String())
	default:
		flag("--kill-at-checkpoint", fmt.Sprint(o.KillAtCheckpoint))
	}
	if o.Kills != 1 {
		flag("--kills", fmt.Sprint(o.Kills))
	}
	flag("--recover", string(o.Recover))
	if o.Env != "" {
		flag("--env", o.Env)
	}
	for _, v := range o.Vars {
		flag("--var", v)
	}
	if o.Timeout != DefaultTimeout {
		flag("--timeout", o.Timeout.String())
	}
	for i, w := range words {
		words[i] = Quote(w)
	}
	return strings.Join(words, " ")
}

// Quote makes a word safe for a POSIX shell.
func Quote(word string) string {
	safe := word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r))
	}) < 0
	if safe {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
