package buffer

import (
	"bytes"
	"math"
	"strconv"

	"github.com/dop251/goja"
	"golang.org/x/text/encoding/charmap"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// bufferModule are the natives of js/buffer.js.
func bufferModule(base *node.Modules) []engine.Func {
	m := &module{Modules: base}

	return []engine.Func{
		{Name: "adopt", Length: 2, Fn: m.adoptBuffer},
		{Name: "alloc", Length: 3, Fn: m.bufferAlloc},
		{Name: "from", Length: 3, Fn: m.bufferFrom},
		{Name: "concat", Length: 2, Fn: m.bufferConcat},
		{Name: "byteLength", Length: 2, Fn: m.bufferByteLength},
		{Name: "compare", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(bytes.Compare(m.compared(c.Argument(0), "a"), m.compared(c.Argument(1), "b")))
		}},
		{Name: "isEncoding", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			v := c.Argument(0)
			return m.VM.ToValue(node.IsString(v) && node.EncodingByName(v.String()) != node.EncUnknown)
		}},
		{Name: "isBuffer", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			obj, ok := c.Argument(0).(*goja.Object)
			return m.VM.ToValue(ok && m.VM.InstanceOf(obj, m.Buffers.Fast))
		}},
		{Name: "isUtf8", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(isUTF8(m.textBytes(c.Argument(0), "isUtf8")))
		}},
		{Name: "isAscii", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			for _, b := range m.textBytes(c.Argument(0), "isAscii") {
				if b >= 0x80 {
					return m.VM.ToValue(false)
				}
			}
			return m.VM.ToValue(true)
		}},
		{Name: "transcode", Length: 3, Fn: m.transcode},
		{Name: "isBytes", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			k := m.KindOf(c.Argument(0))
			return m.VM.ToValue(k != node.NotBytes && k != node.IsDataView)
		}},
	}
}

// adoptBuffer takes the classes that the prelude made and fills the prototype.
func (m *module) adoptBuffer(c goja.FunctionCall) goja.Value {
	m.Buffers.Ctor, m.Buffers.Fast = c.Argument(0).(*goja.Object), c.Argument(1).(*goja.Object)
	m.Buffers.Proto = m.Buffers.Fast.Get("prototype").(*goja.Object)
	for _, list := range [][]engine.Func{m.bufferMethods(), m.bufferSearch(), m.bufferNumbers(), m.bufferStrings()} {
		for _, f := range list {
			m.Engine.DefineFunc(m.Buffers.Proto, f)
		}
	}
	return goja.Undefined()
}

// textBytes checks for what isUtf8 and isAscii look at.
func (m *module) textBytes(v goja.Value, method string) []byte {
	if m.KindOf(v) != node.IsUint8 {
		m.Throw("TypeError", "", "Failed to execute '%s' on 'BufferUtil': parameter 1 is not of type 'Uint8Array'.", method)
	}
	b, _ := m.Bytes(v)
	return b
}

// compared is what compare and equals take; what it is not they tell by its type.
func (m *module) compared(v goja.Value, name string) []byte {
	if m.KindOf(v) != node.IsUint8 {
		m.ThrowArgType(name, "an instance of Buffer or Uint8Array", m.VM.ToValue(node.TypeOf(v)))
	}
	b, _ := m.Bytes(v)
	return b
}

// self is the memory of a method's receiver.
func (m *module) self(c goja.FunctionCall) []byte { return m.Uint8(c.This, "this") }

func (m *module) size(v goja.Value, name string) int {
	if !node.IsNumber(v) {
		m.ThrowArgType(name, "of type number", v)
	}
	f := v.ToFloat()
	switch {
	case math.IsNaN(f):
		m.Throw("RangeError", "ERR_INVALID_ARG_VALUE", "The argument '%s' is invalid. Received NaN", name)
	case f < 0:
		m.Throw("RangeError", "", "Invalid typed array length: %s", v)
	case f >= node.MaxBufferLength:
		m.ThrowRange(name, "0 to 2147483647", v)
	}
	return int(f)
}

// room is memory for a buffer.
func (m *module) room(size int64) []byte {
	m.Engine.Memory.Allocate(size, "Array buffer allocation failed")
	return make([]byte, size)
}

func (m *module) bufferAlloc(c goja.FunctionCall) goja.Value {
	data := m.room(int64(m.size(c.Argument(0), "size")))
	if v := c.Argument(1); !node.Absent(v) && len(data) > 0 {
		m.fill(data, v, c.Argument(2))
	}
	return m.NewBuffer(data)
}

// fill repeats a value over dst: a string, bytes, or a number.
func (m *module) fill(dst []byte, v, enc goja.Value) {
	var pattern []byte
	if s, ok := v.(goja.String); ok {
		if !node.Absent(enc) && !node.IsString(enc) {
			m.ThrowArgType("encoding", "of type string", enc)
		}
		e := m.EncodingOf(enc)
		pattern = node.Encode(s, e)
		if e == node.EncHex && len(pattern)*2 < s.Length() {
			m.Throw("TypeError", "", "The text is not valid hex")
		}
	} else if k := m.KindOf(v); k == node.IsUint8 {
		b, _ := m.Bytes(v)
		if pattern = append(pattern, b...); len(pattern) == 0 {
			m.Throw("TypeError", "ERR_INVALID_ARG_VALUE", "The argument 'value' is invalid. Received 'zero-length'")
		}
	} else if k != node.NotBytes && k != node.IsArrayBuffer { // other views are taken as text
		pattern = []byte(v.String())
	} else if f := v.ToNumber().ToFloat(); !math.IsInf(f, 0) && !math.IsNaN(f) {
		pattern = []byte{byte(int64(math.Mod(math.Trunc(f), 256)))}
	}
	if len(pattern) == 0 {
		pattern = []byte{0}
	}
	for n := copy(dst, pattern); n > 0 && n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// bufferFrom is Buffer.from for everything but plain iteration, which the
// prelude does first.
func (m *module) bufferFrom(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if s, ok := v.(goja.String); ok {
		return m.NewBuffer(node.Encode(s, m.EncodingOf(c.Argument(1))))
	}
	switch m.KindOf(v) {
	case node.IsArrayBuffer:
		return m.bufferWindow(v, c.Argument(1), c.Argument(2))
	case node.IsUint8:
		b, _ := m.Bytes(v)
		return m.NewBuffer(append([]byte(nil), b...))
	}
	obj, ok := v.(*goja.Object)
	if !ok || engine.IsCallable(v) {
		m.throwFrom(v)
	}
	n := obj.Get("length")
	if node.Absent(n) || !node.IsNumber(n) {
		m.throwFrom(v)
	}
	length := max(node.ToInt64(n), 0)
	if length > node.MaxBufferLength {
		m.ThrowRange("length", ">= 0 && <= 2147483647", n)
	}
	data := m.room(length)
	for i := range data {
		if i%4096 == 0 {
			m.Engine.Natives.Pause()
		}
		data[i] = byteOf(obj.Get(strconv.Itoa(i)))
	}
	return m.NewBuffer(data)
}

// byteOf is ToUint8.
func byteOf(v goja.Value) byte {
	if node.Absent(v) {
		return 0
	}
	return byte(v.ToNumber().ToInteger())
}

func (m *module) throwFrom(v goja.Value) {
	m.ThrowArgType("first argument", "of type string or an instance of Buffer, TypedArray, ArrayBuffer, SharedArrayBuffer, or Array or an Array-like Object", v)
}

// bufferWindow shares an ArrayBuffer's memory.
func (m *module) bufferWindow(ab, offset, length goja.Value) goja.Value {
	total := int64(len(ab.Export().(goja.ArrayBuffer).Bytes()))
	start := node.ToInt64(offset)
	if start < 0 || start > total {
		if start < 0 {
			m.Throw("RangeError", "", "Start offset %d is outside the bounds of the buffer", start)
		}
		m.Throw("RangeError", "ERR_BUFFER_OUT_OF_BOUNDS", "\"offset\" is outside of buffer bounds")
	}
	size := total - start
	if !node.Absent(length) {
		if size = max(node.ToInt64(length), 0); size > total-start {
			m.Throw("RangeError", "ERR_BUFFER_OUT_OF_BOUNDS", "\"length\" is outside of buffer bounds")
		}
	}
	return m.BufferOver(ab, m.VM.ToValue(start), m.VM.ToValue(size))
}

func (m *module) bufferConcat(c goja.FunctionCall) goja.Value {
	list, ok := c.Argument(0).(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		m.ThrowArgType("list", "an (Buffer|Uint8Array)[]", c.Argument(0))
	}
	n := int(node.ToInt64(list.Get("length")))
	if n == 0 {
		return m.NewBuffer(nil)
	}
	parts, total := make([][]byte, n), 0
	for i := range parts {
		item := list.Get(strconv.Itoa(i))
		if m.KindOf(item) != node.IsUint8 {
			if o, ok := item.(*goja.Object); !ok && !node.IsString(item) || ok && node.Absent(o.Get("length")) {
				m.ThrowArgType("list", "an (Buffer|Uint8Array)[]", item)
			}
			m.Throw("TypeError", "", "Incorrect type for array element %d: the provided value is not of type 'Uint8Array'.", i)
		}
		parts[i], _ = m.Bytes(item)
		total += len(parts[i])
	}
	if v := c.Argument(1); !node.Absent(v) {
		if total = int(m.Integer(v, "length", 0, 1<<53-1)); total > node.MaxBufferLength {
			m.ThrowRange("length", "0 to 2147483647", v)
		}
	}
	data := m.room(int64(total))
	at := 0
	for _, p := range parts {
		at += copy(data[at:], p)
	}
	return m.NewBuffer(data)
}

func (m *module) bufferByteLength(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if s, ok := v.(goja.String); ok {
		e := node.EncUTF8
		if node.IsString(c.Argument(1)) {
			if e = node.EncodingByName(c.Argument(1).String()); e == node.EncUnknown {
				e = node.EncUTF8
			}
		}
		return m.VM.ToValue(node.EncodedLength(s, e))
	}
	b, ok := m.Bytes(v)
	if !ok {
		m.ThrowArgType("string", "of type string or an instance of Buffer or ArrayBuffer", v)
	}
	return m.VM.ToValue(len(b))
}

// transcode changes the encoding of bytes; a character that the target lacks
// becomes "?". As in the reference, latin1 and ascii are windows-1252, but for
// bytes that become UTF-16.
func (m *module) transcode(c goja.FunctionCall) goja.Value {
	src, ok := m.Bytes(c.Argument(0))
	if !ok {
		m.ThrowArgType("source", "an instance of ArrayBufferView", m.VM.ToValue(node.TypeOf(c.Argument(0))))
	}
	from, to := m.transcodable(c.Argument(1)), m.transcodable(c.Argument(2))
	if from == node.EncUTF16 && len(src)%2 != 0 {
		m.Throw("Error", "", "UTF-16le input size should be multiple of 2")
	}
	if from == node.EncUTF8 && to == node.EncUTF16 && !isUTF8(src) {
		m.Throw("Error", "", "Unable to transcode buffer")
	}
	single := from == node.EncLatin1 || from == node.EncASCII
	if single && to == node.EncUTF16 {
		from = node.EncLatin1
	} else if single {
		text, err := charmap.Windows1252.NewDecoder().Bytes(src)
		if err != nil {
			m.Throw("Error", "", "Unable to transcode buffer")
		}
		src, from = text, node.EncUTF8
	}
	s := m.Decode(src, from).(goja.String)
	if to == node.EncUTF8 || to == node.EncUTF16 {
		return m.NewBuffer(node.Encode(s, to))
	}
	var out []byte
	for _, r := range s.String() {
		b, known := charmap.Windows1252.EncodeRune(r)
		if !known {
			b = '?'
		}
		out = append(out, b)
	}
	return m.NewBuffer(out)
}

func (m *module) transcodable(v goja.Value) node.Encoding {
	e := m.EncodingOf(v)
	if e > node.EncASCII {
		m.Throw("Error", "", "Unable to transcode buffer due to unsupported encoding")
	}
	return e
}
