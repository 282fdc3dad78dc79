package bundle

import (
	"fmt"

	"minido.dev/minido/runtime/bundle/v8text"
)

// messageKind says what workerd would tell of what a Message is about.
type messageKind uint8

const (
	syntaxError  messageKind = iota
	absentModule             // Text is workerd's
	wasmError                // Text is V8's, of a module that cannot be compiled
)

// Uncaught is what workerd says of the first message when it loads the same modules
// unbundled: the exception and its place. Texts of syntax errors are V8's where esbuild's
// tell the same.
func (e *BuildError) Uncaught() string {
	m := e.Messages[0]
	switch m.kind {
	case absentModule:
		return "Error: " + m.Text
	case wasmError:
		return "CompileError: WasmModuleObject::Compile(): " + m.Text
	}
	text, column := v8text.Syntax(m.Text, m.Frame, m.Column-1)
	where := ""
	if m.Line > 0 {
		where = fmt.Sprintf("\n  at %s:%d", m.File, m.Line)
		if column > 0 {
			where += fmt.Sprintf(":%d", column)
		}
	}
	return "SyntaxError: " + text + where
}
