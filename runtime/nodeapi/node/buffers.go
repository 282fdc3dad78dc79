package node

import (
	"github.com/dop251/goja"
)

// MaxBufferLength is workerd's buffer.kMaxLength.
const MaxBufferLength = 1<<31 - 1

// Buffers is the class Buffer. Loop-confined.
type Buffers struct {
	Ctor  *goja.Object // Buffer
	Fast  *goja.Object // the Uint8Array subclass whose prototype is Buffer's
	Proto *goja.Object
}

// NewBuffer makes a Buffer over data, which it takes over.
func (m *Modules) NewBuffer(data []byte) *goja.Object {
	return m.BufferOver(m.VM.ToValue(m.VM.NewArrayBuffer(data)))
}

// BufferOver is new Buffer(...args), over memory that is there.
func (m *Modules) BufferOver(args ...goja.Value) *goja.Object {
	if m.Buffers.Fast == nil {
		m.Load("buffer")
	}
	obj, err := m.Prims.uint8Array(m.Buffers.Fast, args...)
	if err != nil {
		m.Engine.Rethrow(err)
	}
	return obj
}

// Uint8 checks for a Buffer or Uint8Array.
func (m *Modules) Uint8(v goja.Value, name string) []byte {
	if m.KindOf(v) != IsUint8 {
		m.ThrowArgType(name, "an instance of Buffer or Uint8Array", v)
	}
	b, _ := m.Bytes(v)
	return b
}

// AnyBytes checks for an ArrayBuffer or a view.
func (m *Modules) AnyBytes(v goja.Value, name string) []byte {
	b, ok := m.Bytes(v)
	if !ok {
		m.ThrowArgType(name, "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", v)
	}
	return b
}
