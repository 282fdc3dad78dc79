package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Limits of names, in bytes. A namespace's directory is called
// "<script>-<Class>", and file systems give a path segment 255 bytes.
const (
	maxScriptName = 255
	maxSegment    = 255
	// maxDNSLabel bounds a worker's name where it becomes a host name below
	// workers.dev; beyond it a deployment works only on routes.
	maxDNSLabel = 63
)

// ErrInvalidName is wrapped by the errors of the Validate functions.
var ErrInvalidName = errors.New("invalid name")

// ValidateScriptName reports whether name can be a worker's name, by
// wrangler's rule: lower-case letters, digits, "-" and "_", not beginning with
// "-", at most 255 bytes. What passes is safe as a path segment.
func ValidateScriptName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: a worker's name must not be empty", ErrInvalidName)
	}
	if len(name) > maxScriptName {
		return fmt.Errorf("%w: a worker's name has at most %d bytes, this one has %d", ErrInvalidName, maxScriptName, len(name))
	}
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
		case r == '-' && i > 0:
		default:
			return fmt.Errorf("%w: %q is not a worker's name, which has only lower-case letters, digits, \"-\" and \"_\", and does not begin with \"-\"", ErrInvalidName, name)
		}
	}
	return nil
}

// ValidateClassName reports whether name can be the name of an exported class:
// a JavaScript identifier. What passes is safe as part of a path segment.
func ValidateClassName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: a class name must not be empty", ErrInvalidName)
	}
	if len(name) > maxSegment {
		return fmt.Errorf("%w: a class name has at most %d bytes, this one has %d", ErrInvalidName, maxSegment, len(name))
	}
	for i, r := range name {
		letter := r == '_' || r == '$' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		inner := unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) || unicode.Is(unicode.Pc, r)
		if !letter && (i == 0 || !inner) {
			return fmt.Errorf("%w: %q is not a JavaScript identifier", ErrInvalidName, name)
		}
	}
	return nil
}

// ValidateEnvironmentName reports whether name can be the name of an
// environment. It becomes part of a worker's name and of file names
// (.dev.vars.<env>).
func ValidateEnvironmentName(name string) error {
	if name == "" || len(name) > maxDNSLabel || strings.HasPrefix(name, ".") {
		return fmt.Errorf("%w: %q cannot name an environment", ErrInvalidName, name)
	}
	for _, r := range name {
		if r != '-' && r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return fmt.Errorf("%w: %q cannot name an environment: it has the character %q", ErrInvalidName, name, r)
		}
	}
	return nil
}

// nameProblem is an error of a Validate function without its general part.
func nameProblem(err error) string {
	return strings.TrimPrefix(err.Error(), ErrInvalidName.Error()+": ")
}

// suggestScriptName turns a refused name into a hint with one that passes.
func suggestScriptName(name string) string {
	fixed := strings.TrimLeft(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
	if ValidateScriptName(fixed) != nil {
		return ""
	}
	return fmt.Sprintf("for example %q", fixed)
}

// UniqueKey is the name of a Durable Object namespace on disk and the input of
// its object ids, as miniflare forms it: "<script>-<Class>".
func UniqueKey(script, class string) string { return script + "-" + class }
