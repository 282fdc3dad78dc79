package buffers

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// Runtime gives this package's functions of one engine as methods. Loop-confined.
type Runtime struct{ Engine *engine.Engine }

// MaxByteLength is the function MaxByteLength.
func (r Runtime) MaxByteLength(buffer *goja.Object) (limit int, ok bool) {
	return MaxByteLength(r.Engine, buffer)
}

// NewResizableBuffer is the function NewResizableBuffer.
func (r Runtime) NewResizableBuffer(content []byte, limit int) *goja.Object {
	return NewResizableBuffer(r.Engine, content, limit)
}

// ViewOfResizable is the function ViewOfResizable.
func (r Runtime) ViewOfResizable(view *goja.Object) (resizable, tracking, outOfBounds bool) {
	return ViewOfResizable(r.Engine, view)
}

// IsShared is the function IsShared.
func (r Runtime) IsShared(buffer *goja.Object) bool { return IsShared(r.Engine, buffer) }

// ShareMemory is the function ShareMemory.
func (r Runtime) ShareMemory(buffer *goja.Object) *goja.Object { return ShareMemory(r.Engine, buffer) }
