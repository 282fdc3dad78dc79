package nodeapi

import (
	"math"

	"bytes"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
)

// maxBufferLength is workerd's buffer.kMaxLength.
const maxBufferLength = 1<<31 - 1

// bufferState is the class Buffer. Loop-confined.
type bufferState struct {
	ctor  *goja.Object // Buffer
	fast  *goja.Object // the Uint8Array subclass whose prototype is Buffer's
	proto *goja.Object
}

// newBuffer makes a Buffer over data, which it takes over.
func (m *Modules) newBuffer(data []byte) *goja.Object {
	return m.bufferOver(m.vm.ToValue(m.vm.NewArrayBuffer(data)))
}

func (m *Modules) bufferOver(args ...goja.Value) *goja.Object {
	if m.buffers.fast == nil {
		m.load("buffer")
	}
	obj, err := m.prims.uint8Array(m.buffers.fast, args...)
	if err != nil {
		m.engine.Rethrow(err)
	}
	return obj
}

// bufferModule are the natives of js/buffer.js.
func bufferModule(m *Modules) []engine.Func {
	return []engine.Func{
		{Name: "adopt", Length: 2, Fn: m.adoptBuffer},
		{Name: "alloc", Length: 3, Fn: m.bufferAlloc},
		{Name: "from", Length: 3, Fn: m.bufferFrom},
		{Name: "concat", Length: 2, Fn: m.bufferConcat},
		{Name: "byteLength", Length: 2, Fn: m.bufferByteLength},
		{Name: "compare", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.vm.ToValue(bytes.Compare(m.uint8(c.Argument(0), "buf1"), m.uint8(c.Argument(1), "buf2")))
		}},
		{Name: "isEncoding", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			v := c.Argument(0)
			return m.vm.ToValue(isString(v) && encodingByName(v.String()) != encUnknown)
		}},
		{Name: "isBuffer", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			obj, ok := c.Argument(0).(*goja.Object)
			return m.vm.ToValue(ok && m.vm.InstanceOf(obj, m.buffers.fast))
		}},
		{Name: "isUtf8", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.vm.ToValue(isUTF8(m.textBytes(c.Argument(0))))
		}},
		{Name: "isAscii", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			for _, b := range m.textBytes(c.Argument(0)) {
				if b >= 0x80 {
					return m.vm.ToValue(false)
				}
			}
			return m.vm.ToValue(true)
		}},
		{Name: "transcode", Length: 3, Fn: m.transcode},
		{Name: "isBytes", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			k := m.kindOf(c.Argument(0))
			return m.vm.ToValue(k != notBytes && k != isDataView)
		}},
	}
}

// adoptBuffer takes the classes that the prelude made and fills the prototype.
func (m *Modules) adoptBuffer(c goja.FunctionCall) goja.Value {
	m.buffers.ctor, m.buffers.fast = c.Argument(0).(*goja.Object), c.Argument(1).(*goja.Object)
	m.buffers.proto = m.buffers.fast.Get("prototype").(*goja.Object)
	for _, list := range [][]engine.Func{m.bufferMethods(), m.bufferSearch(), m.bufferNumbers(), m.bufferStrings()} {
		for _, f := range list {
			m.engine.DefineFunc(m.buffers.proto, f)
		}
	}
	return goja.Undefined()
}

// uint8 checks for a Buffer or Uint8Array.
func (m *Modules) uint8(v goja.Value, name string) []byte {
	if m.kindOf(v) != isUint8 {
		m.throwArgType(name, "an instance of Buffer or Uint8Array", v)
	}
	b, _ := m.bytes(v)
	return b
}

// textBytes checks for what isUtf8 and isAscii look at.
func (m *Modules) textBytes(v goja.Value) []byte {
	if m.kindOf(v) == isDataView || m.kindOf(v) == notBytes {
		m.throwArgType("input", "an instance of ArrayBuffer, Buffer, or TypedArray", v)
	}
	b, _ := m.bytes(v)
	return b
}

// anyBytes checks for an ArrayBuffer or a view.
func (m *Modules) anyBytes(v goja.Value, name string) []byte {
	b, ok := m.bytes(v)
	if !ok {
		m.throwArgType(name, "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", v)
	}
	return b
}

// self is the memory of a method's receiver.
func (m *Modules) self(c goja.FunctionCall) []byte { return m.uint8(c.This, "this") }

func (m *Modules) size(v goja.Value, name string) int {
	if !isNumber(v) {
		m.throwArgType(name, "of type number", v)
	}
	f := v.ToFloat()
	switch {
	case math.IsNaN(f):
		m.throw("RangeError", "ERR_INVALID_ARG_VALUE", "The argument '%s' is invalid. Received NaN", name)
	case f < 0:
		m.throw("RangeError", "", "Invalid typed array length: %s", v)
	case f > maxBufferLength:
		m.throwRange(name, "0 to 2147483647", v)
	}
	return int(f)
}

func (m *Modules) bufferAlloc(c goja.FunctionCall) goja.Value {
	data := make([]byte, m.size(c.Argument(0), "size"))
	if v := c.Argument(1); !absent(v) && len(data) > 0 {
		m.fill(data, v, c.Argument(2))
	}
	return m.newBuffer(data)
}

// fill repeats a value over dst: a string, bytes, or a number.
func (m *Modules) fill(dst []byte, v, enc goja.Value) {
	var pattern []byte
	if s, ok := v.(goja.String); ok {
		if !absent(enc) && !isString(enc) {
			m.throwArgType("encoding", "of type string", enc)
		}
		if pattern = encode(s, m.encodingOf(enc)); len(pattern) == 0 && s.Length() > 0 {
			m.throw("TypeError", "ERR_INVALID_ARG_VALUE", "The argument 'value' is invalid. Received %s", m.brief(v))
		}
	} else if b, isBytes := m.bytes(v); isBytes {
		if pattern = append(pattern, b...); len(pattern) == 0 {
			m.throw("TypeError", "ERR_INVALID_ARG_VALUE", "The argument 'value' is invalid. Received 'zero-length'")
		}
	} else if f := v.ToFloat(); !math.IsInf(f, 0) && !math.IsNaN(f) {
		pattern = []byte{byte(int64(math.Mod(math.Trunc(f), 256)))}
	}
	if len(pattern) == 0 {
		pattern = []byte{0}
	}
	for n := copy(dst, pattern); n > 0 && n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// toInt64 is ToInteger for numbers, 0 for what is none.
func toInt64(v goja.Value) int64 {
	if absent(v) || goja.IsNull(v) {
		return 0
	}
	return v.ToInteger()
}

// bufferFrom is Buffer.from for everything but plain iteration, which the
// prelude does first.
func (m *Modules) bufferFrom(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if s, ok := v.(goja.String); ok {
		return m.newBuffer(encode(s, m.encodingOf(c.Argument(1))))
	}
	switch m.kindOf(v) {
	case isArrayBuffer:
		return m.bufferWindow(v, c.Argument(1), c.Argument(2))
	case isUint8:
		b, _ := m.bytes(v)
		return m.newBuffer(append([]byte(nil), b...))
	}
	obj, ok := v.(*goja.Object)
	if !ok || engine.IsCallable(v) {
		m.throwFrom(v)
	}
	n := obj.Get("length")
	if absent(n) || !isNumber(n) {
		m.throwFrom(v)
	}
	length := max(toInt64(n), 0)
	if length > maxBufferLength {
		m.throwRange("length", ">= 0 && <= 2147483647", n)
	}
	data := make([]byte, length)
	for i := range data {
		data[i] = byteOf(obj.Get(itoa(i)))
	}
	return m.newBuffer(data)
}

// byteOf is ToUint8.
func byteOf(v goja.Value) byte {
	if absent(v) {
		return 0
	}
	return byte(v.ToNumber().ToInteger())
}

func (m *Modules) throwFrom(v goja.Value) {
	m.throwArgType("first argument", "of type string or an instance of Buffer, TypedArray, ArrayBuffer, SharedArrayBuffer, or Array or an Array-like Object", v)
}

// bufferWindow shares an ArrayBuffer's memory.
func (m *Modules) bufferWindow(ab, offset, length goja.Value) goja.Value {
	total := int64(len(ab.Export().(goja.ArrayBuffer).Bytes()))
	start := toInt64(offset)
	if start < 0 || start > total {
		if start < 0 {
			m.throw("RangeError", "", "Start offset %d is outside the bounds of the buffer", start)
		}
		m.throw("RangeError", "ERR_BUFFER_OUT_OF_BOUNDS", "\"offset\" is outside of buffer bounds")
	}
	size := total - start
	if !absent(length) {
		if size = max(toInt64(length), 0); size > total-start {
			m.throw("RangeError", "ERR_BUFFER_OUT_OF_BOUNDS", "\"length\" is outside of buffer bounds")
		}
	}
	return m.bufferOver(ab, m.vm.ToValue(start), m.vm.ToValue(size))
}

func (m *Modules) bufferConcat(c goja.FunctionCall) goja.Value {
	list, ok := c.Argument(0).(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		m.throwArgType("list", "an (Buffer|Uint8Array)[]", c.Argument(0))
	}
	n := int(toInt64(list.Get("length")))
	if n == 0 {
		return m.newBuffer(nil)
	}
	parts, total := make([][]byte, n), 0
	for i := range parts {
		item := list.Get(itoa(i))
		if m.kindOf(item) != isUint8 {
			m.throwArgType("list["+itoa(i)+"]", "an instance of Buffer or Uint8Array", item)
		}
		parts[i], _ = m.bytes(item)
		total += len(parts[i])
	}
	if v := c.Argument(1); !absent(v) {
		if total = int(m.integer(v, "length", 0, 1<<53-1)); total > maxBufferLength {
			m.throwRange("length", "0 to 2147483647", v)
		}
	}
	data := make([]byte, total)
	at := 0
	for _, p := range parts {
		at += copy(data[at:], p)
	}
	return m.newBuffer(data)
}

func (m *Modules) bufferByteLength(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if s, ok := v.(goja.String); ok {
		e := encUTF8
		if isString(c.Argument(1)) {
			if e = encodingByName(c.Argument(1).String()); e == encUnknown {
				e = encUTF8
			}
		}
		return m.vm.ToValue(encodedLength(s, e))
	}
	b, ok := m.bytes(v)
	if !ok {
		m.throwArgType("string", "of type string or an instance of Buffer or ArrayBuffer", v)
	}
	return m.vm.ToValue(len(b))
}

// transcode changes the encoding of bytes; a character that the target lacks
// becomes "?".
func (m *Modules) transcode(c goja.FunctionCall) goja.Value {
	src := m.uint8(c.Argument(0), "source")
	from, to := m.transcodable(c.Argument(1)), m.transcodable(c.Argument(2))
	if from == encASCII {
		from = encLatin1
	}
	if from == encUTF16 && len(src)%2 != 0 {
		m.throw("Error", "", "UTF-16le input size should be multiple of 2")
	}
	if from == encUTF8 && to == encUTF16 && !isUTF8(src) {
		m.throw("Error", "", "Unable to transcode buffer")
	}
	s := m.decode(src, from).(goja.String)
	if to == encUTF8 || to == encUTF16 {
		return m.newBuffer(encode(s, to))
	}
	limit := rune(0xff)
	if to == encASCII {
		limit = 0x7f
	}
	var out []byte
	for _, r := range s.String() {
		if r > limit {
			r = '?'
		}
		out = append(out, byte(r))
	}
	return m.newBuffer(out)
}

func (m *Modules) transcodable(v goja.Value) encoding {
	e := m.encodingOf(v)
	if e > encASCII {
		m.throw("Error", "", "Unable to transcode buffer due to unsupported encoding")
	}
	return e
}
