package wasm

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/runtime/engine"
)

// traps are V8's texts for wazero's (V8: src/common/message-template.h). wazero
// does not tell a remainder from a division, a null function from an index out of
// bounds, nor which operation overflowed.
var traps = map[string]string{
	"unreachable":                   "unreachable",
	"out of bounds memory access":   "memory access out of bounds",
	"integer divide by zero":        "divide by zero",
	"integer overflow":              "float unrepresentable in integer range",
	"invalid conversion to integer": "float unrepresentable in integer range",
	"invalid table access":          "table index is out of bounds",
	"indirect call type mismatch":   "function signature mismatch",
	"null reference":                "dereferencing a null pointer",
	"uncaught exception":            "an exception of WebAssembly was not caught (minido hands those of standard exception handling, try_table, not to JavaScript)",
}

// trapText is the class and the text of what a call into a module ended with.
func trapText(err error) (class, text string) {
	text, _, _ = strings.Cut(err.Error(), "\n")
	if text == "stack overflow" || text == "wasm error: stack overflow" {
		return "RangeError", "Maximum call stack size exceeded"
	}
	if trap, ok := traps[strings.TrimPrefix(text, "wasm error: ")]; ok {
		return "RuntimeError", trap
	}
	return "RuntimeError", text
}

// wasmFrame is a line of wazero's stack: module.name(types) results, or $index for a
// function without a name.
var wasmFrame = lazyregexp.New(`^\s*(?:[^\s(]*?\.)?(\$?)([^()]+)\(`)

// addFrames puts the frames of the module on top of the error's stack.
func (s *Store) addFrames(made *goja.Object, err error) {
	_, trace, ok := strings.Cut(err.Error(), "wasm stack trace:\n")
	if !ok {
		return
	}
	first, rest, _ := strings.Cut(s.engine.Errors.Stack(made), "\n")
	var b strings.Builder
	b.WriteString(first)
	for line := range strings.SplitSeq(trace, "\n") {
		switch m := wasmFrame.FindStringSubmatch(line); {
		case m == nil:
		case m[1] != "":
			fmt.Fprintf(&b, "\n    at wasm://wasm:wasm-function[%s]", m[2])
		default:
			fmt.Fprintf(&b, "\n    at %s (wasm://wasm)", m[2])
		}
	}
	b.WriteString("\n" + rest)
	made.DefineDataProperty("stack", s.vm.ToValue(b.String()), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// throw raises an error, also of WebAssembly's own classes; it does not return.
func (s *Store) throw(class, format string, args ...any) {
	panic(s.newError(class, fmt.Sprintf(format, args...)))
}

func (s *Store) newError(class, text string) *goja.Object {
	s.namespace()
	if ctor, ok := s.errors[class]; ok {
		made, err := s.vm.New(ctor, s.vm.ToValue(text))
		if err != nil {
			s.engine.Rethrow(err)
		}
		return made
	}
	return s.engine.Errors.New(class, text)
}

// helpers are what JavaScript says best.
type helpers struct {
	int64, collect goja.Callable
}

//go:embed js/wasm.js
var helpersSource string

var helpersPrelude = engine.NewPrelude("wasm.js", helpersSource)

func (s *Store) loadHelpers() {
	o := s.engine.Load(helpersPrelude, nil).(*goja.Object)
	s.errors = map[string]*goja.Object{}
	for _, name := range []string{"CompileError", "LinkError", "RuntimeError"} {
		s.errors[name] = o.Get(name).(*goja.Object)
	}
	s.helpers.int64, _ = goja.AssertFunction(o.Get("int64"))
	s.helpers.collect, _ = goja.AssertFunction(o.Get("collect"))
}
