package engine

import "github.com/dop251/goja"

// A SharedArrayBuffer is a buffer of goja that js/builtins.js gave another
// class: it says which buffers are, so that nobody else needs to.

// IsShared reports whether buffer is a SharedArrayBuffer (ECMA-262, 25.2).
// Loop-confined.
func (e *Engine) IsShared(buffer *goja.Object) bool {
	return e.shared != nil && e.askShared("has", buffer).ToBoolean()
}

// ShareMemory is another SharedArrayBuffer over the memory of one, which must
// not be growable: goja's buffers grow by new memory. Loop-confined.
func (e *Engine) ShareMemory(buffer *goja.Object) *goja.Object {
	memory := buffer.Export().(goja.ArrayBuffer).Bytes()
	return e.askShared("alias", e.vm.ToValue(e.vm.NewArrayBuffer(memory))).(*goja.Object)
}

func (e *Engine) askShared(question string, buffer goja.Value) goja.Value {
	return e.Call(e.shared.Get(question), goja.Undefined(), buffer)
}
