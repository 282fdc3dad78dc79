// Package chaos holds what all packages of the harness share: exit codes, the type of
// user errors, and the search for a project. The harness itself is in its folders:
// campaign runs cases, each in a world of real processes or in a simulation; cli is
// the command line.
package chaos

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of the command line, and of a campaign's report.
const (
	Pass     = 0 // every invariant held
	Violated = 1 // an invariant was violated
	Usage    = 2 // the command line, the configuration or the project is wrong
	Broken   = 3 // the harness or the server failed by itself
	Restless = 4 // the system never became idle
	Missed   = 5 // a fault did not happen where it should
	Signal   = 128
)

// Recovery is who brings a system back after a restart.
type Recovery string

// The ways of recovery.
const (
	// ByAlarm sends nothing: the object's own alarm has to wake it.
	ByAlarm Recovery = "alarm"
	// ByRequest connects a client at once.
	ByRequest Recovery = "request"
)

// UsageError is a mistake of the caller or of the project under test; its text
// says what to do.
type UsageError struct{ Text string }

// Error implements error.
func (e *UsageError) Error() string { return e.Text }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// IsUsage reports whether err is a mistake of the caller or of the project.
func IsUsage(err error) bool {
	var u *UsageError
	return errors.As(err, &u)
}

// CodeOf is the exit code that goes with an error.
func CodeOf(err error) int {
	if IsUsage(err) {
		return Usage
	}
	return Broken
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
