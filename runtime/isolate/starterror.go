package isolate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/bundle"
)

// StartError says why a worker's modules did not load. Immutable.
type StartError struct {
	stack string
	// Uncaught is how workerd tells of it: the exception, and the places of its stack.
	Uncaught string
}

// Error implements error: the exception with its stack as the language shows it.
func (e *StartError) Error() string { return e.stack }

// unsettled is the reference's error of a module whose top-level await nothing
// settles (workerd, jsg/modules.c++), with its place.
func unsettled(p *bundle.Pending) error {
	const text = "Error: Top-level await in module is unsettled."
	where := ""
	if file, line, col, ok := p.Where(); ok {
		where = fmt.Sprintf("\n    at %s:%d:%d", file, line, col)
	}
	return &StartError{text + where, text}
}

// describe shows an error of module code with its source-mapped stack.
func (i *Isolate) describe(err error) error {
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return startError(i, ex.Value())
	}
	if stopped := i.Engine.Health.Stopped(err); stopped != nil {
		return stopped
	}
	return err
}

// startError is what module code has thrown.
func startError(i *Isolate, thrown goja.Value) error {
	stack := i.Engine.Errors.Stack(thrown)
	return &StartError{stack, uncaught(i, thrown, stack)}
}

// known are the names of errors that workerd keeps; others become a part of the message.
var known = []string{"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError", "CompileError", "LinkError", "RuntimeError"}

// frame is a line of a stack: what was called, and where.
var frame = lazyregexp.New(`^\s+at (?:async )?(?:(.*) \()?([^()]+:\d+:\d+)\)?$`)

// uncaught is how workerd tells of what a module has thrown (jsg/util.c++).
func uncaught(i *Isolate, thrown goja.Value, stack string) string {
	if !i.Engine.Errors.Is(thrown) {
		if obj, ok := thrown.(*goja.Object); ok {
			return "Error: " + i.Platform.Clone.Describe(obj)
		}
		return "Error: " + i.Engine.Text(thrown)
	}
	e := i.Engine.Errors.ToEvent(thrown)
	text := e.Name + ": " + e.Message
	if !slices.Contains(known, e.Name) {
		text = "Error: " + text
	}
	for _, line := range strings.Split(stack, "\n") {
		found := frame.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		text += "\n  at " + found[2]
		if found[1] == "Object.<anonymous>" || strings.HasPrefix(found[1], "minido:") { // the top level of a module
			break
		}
		if found[1] != "" {
			text += " in " + found[1]
		}
	}
	return text
}
