package buffers

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// A SharedArrayBuffer is a buffer of goja that js/builtins.js gave another
// class: it says which buffers are, so that nobody else needs to.

// IsShared reports whether buffer is a SharedArrayBuffer (ECMA-262, 25.2).
// Loop-confined.
func IsShared(e *engine.Engine, buffer *goja.Object) bool {
	return states.Of(e).shared != nil && askShared(e, "has", buffer).ToBoolean()
}

// ShareMemory is another SharedArrayBuffer over the memory of one, which must
// not be growable: goja's buffers grow by new memory. Loop-confined.
func ShareMemory(e *engine.Engine, buffer *goja.Object) *goja.Object {
	memory := buffer.Export().(goja.ArrayBuffer).Bytes()
	return askShared(e, "alias", e.VM().ToValue(e.VM().NewArrayBuffer(memory))).(*goja.Object)
}

func askShared(e *engine.Engine, question string, buffer goja.Value) goja.Value {
	return e.Call(states.Of(e).shared.Get(question), goja.Undefined(), buffer)
}
