package streams

import (
	"github.com/dop251/goja"

	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/webidl"
)

// views look into buffers and their views, and make them. Loop-confined.
type views struct {
	*webidl.Realm
	getters     *getters                // nil until a view is looked at
	viewClasses map[string]*goja.Object // those that were needed, by their names
}

// view is what an ArrayBufferView shows: off and len are in bytes, size is an
// element's.
type view struct {
	buffer         *goja.Object
	off, len, size int
	class          *goja.Object // its constructor
}

// viewClasses are the classes of typed arrays with the sizes of their elements.
var viewClasses = map[string]int{
	"Int8Array": 1, "Uint8Array": 1, "Uint8ClampedArray": 1, "Int16Array": 2, "Uint16Array": 2, "Float16Array": 2,
	"Int32Array": 4, "Uint32Array": 4, "Float32Array": 4, "Float64Array": 8, "BigInt64Array": 8, "BigUint64Array": 8,
}

// getters are what views are asked with, as it was before user code.
type getters struct {
	isView, tag, buffer, byteOffset, byteLength goja.Callable
	dataBuffer, dataByteOffset, dataByteLength  goja.Callable
}

func (p *views) viewGetters() *getters {
	if p.getters != nil {
		return p.getters
	}
	e := p.Engine
	fn := func(primordial *goja.Object) goja.Callable {
		call, _ := goja.AssertFunction(primordial)
		return call
	}
	p.getters = &getters{
		isView: fn(e.Primordial("ArrayBufferIsView")),
		tag:    fn(e.Primordial("TypedArrayPrototypeGetTag")), buffer: fn(e.Primordial("TypedArrayPrototypeGetBuffer")),
		byteOffset: fn(e.Primordial("TypedArrayPrototypeGetByteOffset")), byteLength: fn(e.Primordial("TypedArrayPrototypeGetByteLength")),
		dataBuffer:     fn(e.Primordial("DataViewPrototypeGetBuffer")),
		dataByteOffset: fn(e.Primordial("DataViewPrototypeGetByteOffset")), dataByteLength: fn(e.Primordial("DataViewPrototypeGetByteLength")),
	}
	return p.getters
}

// viewOf describes a view.
func (p *views) viewOf(v goja.Value) view {
	g := p.viewGetters()
	tag := p.get(g.tag, v)
	if goja.IsUndefined(tag) {
		return view{
			buffer: p.get(g.dataBuffer, v).(*goja.Object),
			off:    int(p.get(g.dataByteOffset, v).ToInteger()), len: int(p.get(g.dataByteLength, v).ToInteger()),
			size: 1, class: p.Engine.Primordial("DataView"),
		}
	}
	name := tag.String()
	return view{
		buffer: p.get(g.buffer, v).(*goja.Object),
		off:    int(p.get(g.byteOffset, v).ToInteger()), len: int(p.get(g.byteLength, v).ToInteger()),
		size: viewClasses[name], class: p.viewClass(name),
	}
}

func (p *views) get(getter goja.Callable, of goja.Value) goja.Value {
	v, err := getter(goja.Undefined(), of)
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return v
}

// viewClass is a class of typed arrays as it was when it was first needed.
func (p *views) viewClass(name string) *goja.Object {
	if name == "Uint8Array" {
		return p.Engine.Primordial(name)
	}
	class := p.viewClasses[name]
	if class == nil {
		class = p.GlobalClass(name)
		p.viewClasses[name] = class
	}
	return class
}

// isView is ArrayBuffer.isView.
func (p *views) isView(v goja.Value) bool {
	_, isObject := v.(*goja.Object)
	return isObject && p.get(p.viewGetters().isView, v).ToBoolean()
}

// newView is `new class(buffer, off, length)`; length is in elements.
func (p *views) newView(class, buffer *goja.Object, off, length int) *goja.Object {
	obj, err := p.VM.New(class, buffer, p.VM.ToValue(off), p.VM.ToValue(length))
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return obj
}

// bytesOver is a Uint8Array over a part of a buffer.
func (p *views) bytesOver(x piece) *goja.Object {
	return p.newView(p.Engine.Primordial("Uint8Array"), x.buffer, x.off, x.len)
}

const textDetachedBuffer = "Unable to use a detached ArrayBuffer."

// memory is a buffer's.
func memory(buffer *goja.Object) []byte { return buffer.Export().(goja.ArrayBuffer).Bytes() }

func detached(buffer *goja.Object) bool { return buffer.Export().(goja.ArrayBuffer).Detached() }

// newBuffer makes an ArrayBuffer of zeros. It throws a RangeError if that is too much.
func (p *views) newBuffer(n int) *goja.Object {
	obj, err := p.VM.New(p.Engine.Primordial("ArrayBuffer"), p.VM.ToValue(n))
	if err != nil {
		p.Engine.Rethrow(err)
	}
	return obj
}

// bufferOver is an ArrayBuffer over data, which is not copied.
func (p *views) bufferOver(data []byte) *goja.Object {
	return p.NewArrayBuffer(data).(*goja.Object)
}

// copyBytes copies between buffers. It throws if one of them has become shorter.
func (p *views) copyBytes(dst *goja.Object, to int, src *goja.Object, from, n int) {
	d, s := memory(dst), memory(src)
	if to+n > len(d) || from+n > len(s) {
		p.Engine.Throw("TypeError", textDetachedBuffer)
	}
	copy(d[to:to+n], s[from:])
}

// transfer moves a buffer's memory into a new one (Streams, section 8.3,
// TransferArrayBuffer). It throws if the buffer cannot be detached.
func (p *views) transfer(buffer *goja.Object) *goja.Object {
	if !webidl.IsArrayBuffer(buffer) || buffers.IsShared(p.Engine, buffer) || buffers.Kept(p.Engine, buffer) {
		p.Engine.Throw("TypeError", "Unable to use non-detachable ArrayBuffer.")
	}
	b := buffer.Export().(goja.ArrayBuffer)
	if b.Detached() {
		p.Engine.Throw("TypeError", textDetachedBuffer)
	}
	data := b.Bytes()
	limit, resizable := buffers.MaxByteLength(p.Engine, buffer)
	b.Detach()
	if resizable {
		return buffers.NewResizableBuffer(p.Engine, data, limit)
	}
	return p.bufferOver(data)
}
