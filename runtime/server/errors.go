package server

import (
	"errors"
	"fmt"

	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/config"
)

// AddressError says that the listener could not be opened.
type AddressError struct {
	Address string
	Err     error
}

// Error implements error.
func (e *AddressError) Error() string {
	return fmt.Sprintf("cannot listen on %s: %v; stop what uses the port, or choose another with --port", e.Address, e.Err)
}

// Unwrap is the system's error.
func (e *AddressError) Unwrap() error { return e.Err }

// Explain is the text of an error of Start for a person, with code frames where
// there are, and whether it is the project's: its configuration or its code are
// wrong.
func Explain(err error, color bool) (text string, ofProject bool) {
	var ce *config.ConfigError
	var be *bundle.BuildError
	var le *LoadError
	switch {
	case errors.As(err, &ce):
		return ce.Render(color), true
	case errors.As(err, &be):
		return be.Render(color), true
	}
	return err.Error(), errors.As(err, &le)
}

// LoadError says that the worker's module code threw.
type LoadError struct{ Text string }

// Error implements error.
func (e *LoadError) Error() string { return "the worker threw while it was loaded:\n" + e.Text }
