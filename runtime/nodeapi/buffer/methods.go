package buffer

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

func isUTF8(b []byte) bool { return utf8.Valid(b) }

// clampIndex reads an index that counts from the end when negative.
func clampIndex(v goja.Value, length, fallback int) int {
	if node.Absent(v) {
		return fallback
	}
	f := v.ToFloat()
	switch {
	case math.IsNaN(f):
		return 0
	case f < 0:
		return int(max(math.Trunc(f)+float64(length), 0))
	}
	return int(min(math.Trunc(f), float64(length)))
}

// span reads start and end arguments of a method that clamps them.
func span(c goja.FunctionCall, i, length int) (start, end int) {
	f := func(v goja.Value, fallback int) int {
		if node.Absent(v) {
			return fallback
		}
		x := v.ToFloat()
		if math.IsNaN(x) || x < 0 {
			return 0
		}
		return int(min(math.Trunc(x), float64(length)))
	}
	start, end = f(c.Argument(i), 0), f(c.Argument(i+1), length)
	return start, max(start, end)
}

// bufferMethods are those of Buffer.prototype that move whole ranges.
func (m *module) bufferMethods() []engine.Func {
	return []engine.Func{
		{Name: "subarray", Length: 2, Fn: m.bufferSlice},
		{Name: "slice", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
			for i, v := range c.Arguments { // the reference's ~~: an infinity is 0
				if i < 2 && !node.Absent(v) && math.IsInf(v.ToFloat(), 0) {
					c.Arguments = slices.Clone(c.Arguments)
					c.Arguments[i] = m.VM.ToValue(0)
				}
			}
			return m.bufferSlice(c)
		}},
		{Name: "copy", Length: 4, Fn: m.bufferCopy},
		{Name: "fill", Length: 4, Fn: m.bufferFill},
		{Name: "equals", Length: 1, Fn: func(c goja.FunctionCall) goja.Value {
			return m.VM.ToValue(bytes.Equal(m.self(c), m.compared(c.Argument(0), "b")))
		}},
		{Name: "compare", Length: 5, Fn: func(c goja.FunctionCall) goja.Value {
			a, b := m.self(c), m.Uint8(c.Argument(0), "target")
			bs := m.Index(c.Argument(1), "targetStart", 0, node.MaxBufferLength)
			be := m.Index(c.Argument(2), "targetEnd", len(b), len(b))
			as := m.Index(c.Argument(3), "sourceStart", 0, node.MaxBufferLength)
			ae := m.Index(c.Argument(4), "sourceEnd", len(a), len(a))
			return m.VM.ToValue(bytes.Compare(part(a, as, ae), part(b, bs, be)))
		}},
		{Name: "swap16", Fn: func(c goja.FunctionCall) goja.Value { return m.swap(c, 2) }},
		{Name: "swap32", Fn: func(c goja.FunctionCall) goja.Value { return m.swap(c, 4) }},
		{Name: "swap64", Fn: func(c goja.FunctionCall) goja.Value { return m.swap(c, 8) }},
		{Name: "toJSON", Fn: func(c goja.FunctionCall) goja.Value {
			b := m.self(c)
			items := make([]any, len(b))
			for i, x := range b {
				items[i] = m.VM.ToValue(int64(x))
			}
			o := m.VM.NewObject()
			m.Define(o, "type", m.VM.ToValue("Buffer"))
			m.Define(o, "data", m.VM.NewArray(items...))
			return o
		}},
	}
}

func part(b []byte, start, end int) []byte {
	start, end = min(start, len(b)), min(end, len(b))
	return b[start:max(start, end)]
}

// bufferSlice is a view on the same memory.
func (m *module) bufferSlice(c goja.FunctionCall) goja.Value {
	n := len(m.self(c))
	start := clampIndex(c.Argument(0), n, 0)
	end := max(clampIndex(c.Argument(1), n, n), start)
	offset := m.Prims.ViewOffset(node.This(c.This)).ToInteger() + int64(start)
	return m.BufferOver(m.Prims.ViewBuffer(node.This(c.This)), m.VM.ToValue(offset), m.VM.ToValue(end-start))
}

func (m *module) bufferCopy(c goja.FunctionCall) goja.Value {
	src := m.self(c)
	dst := m.Uint8(c.Argument(0), "target")
	// What is no number of bytes, Infinity too, stands for 0.
	position := func(i int, name string, fallback int) int {
		v := c.Argument(i)
		if node.Absent(v) || i == 3 && goja.IsNull(v) {
			return fallback
		}
		f := math.Floor(v.ToFloat())
		if math.IsNaN(f) || math.Abs(f) > 1<<53-1 {
			f = 0
		}
		if f < 0 {
			m.ThrowRange(name, ">= 0", v)
		}
		if i > 1 && f >= 1<<32 {
			m.ThrowRange(name, "< 4294967296", v)
		}
		return int(f)
	}
	to, from, end := position(1, "targetStart", 0), position(2, "sourceStart", 0), position(3, "sourceEnd", len(src))
	if to >= len(dst) || len(src) == 0 || from >= end && end > 0 {
		return m.VM.ToValue(0)
	}
	// The reference copies from a part that lies beyond the end, or ends before its
	// start, as subarray() cuts it, and counts with the numbers it was given.
	end = min(end, len(src))
	if len(dst)-to < end-from {
		end = len(dst) - to + from
	}
	copy(dst[to:], part(src, from, end))
	return m.VM.ToValue(end - from)
}

// bufferFill is buf.fill(value[, offset[, end]][, encoding]).
func (m *module) bufferFill(c goja.FunctionCall) goja.Value {
	b := m.self(c)
	offset, end, enc := c.Argument(1), c.Argument(2), c.Argument(3)
	if node.IsString(c.Argument(0)) {
		switch {
		case node.IsString(offset):
			offset, end, enc = nil, nil, offset
		case node.IsString(end):
			end, enc = nil, end
		}
	}
	number := func(v goja.Value, name string, fallback float64) float64 {
		if node.Absent(v) {
			return fallback
		}
		if !node.IsNumber(v) {
			m.ThrowArgType(name, "of type number", v)
		}
		return v.ToFloat()
	}
	if node.IsString(c.Argument(0)) {
		m.EncodingOf(enc) // an unknown one is told before the range is looked at
	}
	start, stop := number(offset, "start", 0), number(end, "end", float64(len(b)))
	if stop < 0 || stop > float64(len(b)) {
		m.ThrowRange("end", fmt.Sprintf("0 to %d", len(b)), end)
	}
	if start < 0 || start > float64(len(b)) {
		m.ThrowRange("start", "0 to end", offset)
	}
	if from, to := whole(start), whole(stop); from < to {
		m.fill(b[from:to], c.Argument(0), enc)
	}
	return c.This
}

// whole is the operator >>> 0 for what lies within a buffer.
func whole(f float64) int {
	if math.IsNaN(f) {
		return 0
	}
	return int(f)
}

func (m *module) swap(c goja.FunctionCall, width int) goja.Value {
	b := m.self(c)
	if len(b)%width != 0 {
		m.Throw("RangeError", "ERR_INVALID_BUFFER_SIZE", "Buffer size must be a multiple of %d-bits", 8*width)
	}
	for ; len(b) > 0; b = b[width:] {
		for i, j := 0, width-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return c.This
}

// bufferSearch are indexOf and its relatives.
func (m *module) bufferSearch() []engine.Func {
	return []engine.Func{
		{Name: "indexOf", Length: 3, Fn: func(c goja.FunctionCall) goja.Value { return m.VM.ToValue(m.search(c, false)) }},
		{Name: "lastIndexOf", Length: 3, Fn: func(c goja.FunctionCall) goja.Value { return m.VM.ToValue(m.search(c, true)) }},
		{Name: "includes", Length: 3, Fn: func(c goja.FunctionCall) goja.Value { return m.VM.ToValue(m.search(c, false) >= 0) }},
	}
}

func (m *module) search(c goja.FunctionCall, last bool) int {
	b, v, at, enc := m.self(c), c.Argument(0), c.Argument(1), c.Argument(2)
	if node.IsString(at) {
		at, enc = nil, at
	}
	var needle []byte
	step := 1
	switch {
	case node.IsNumber(v):
		needle = []byte{byteOf(v)}
	case node.IsString(v):
		e := m.NamedEncoding(enc)
		if e == node.EncUTF16 {
			step = 2
		}
		needle = node.Encode(v.(goja.String), e)
	case m.KindOf(v) == node.IsUint8:
		needle, _ = m.Bytes(v)
	default:
		m.ThrowArgType("value", "one of type number or string or an instance of Buffer or Uint8Array", v)
	}
	from := 0
	if last {
		from = len(b)
	}
	if !node.Absent(at) && !math.IsNaN(at.ToFloat()) {
		f := math.Trunc(at.ToFloat())
		if f < 0 {
			f += float64(len(b))
		}
		if f < 0 && last {
			return -1
		}
		from = int(max(min(f, float64(len(b))), 0))
	}
	if last {
		return lastIndex(b, needle, from, step)
	}
	return firstIndex(b, needle, from, step)
}

func firstIndex(b, needle []byte, from, step int) int {
	for from <= len(b) {
		i := bytes.Index(b[from:], needle)
		if i < 0 {
			return -1
		}
		if i += from; i%step == 0 {
			return i
		}
		from = i + 1
	}
	return -1
}

func lastIndex(b, needle []byte, from, step int) int {
	end := min(from+len(needle), len(b))
	for {
		i := bytes.LastIndex(b[:end], needle)
		if i < 0 || i%step == 0 {
			return i
		}
		end = i + len(needle) - 1
	}
}

// bufferStrings turn ranges into text and text into ranges.
func (m *module) bufferStrings() []engine.Func {
	toString := func(c goja.FunctionCall) goja.Value {
		b := m.textBytes(c.This, "toString")
		if len(c.Arguments) == 0 {
			return m.Decode(b, node.EncUTF8)
		}
		start, end := span(c, 1, len(b))
		enc := c.Argument(0)
		if goja.IsNull(enc) {
			m.Throw("TypeError", "ERR_UNKNOWN_ENCODING", "Unknown encoding: null")
		}
		return m.Decode(b[start:end], m.NamedEncoding(enc))
	}
	funcs := []engine.Func{
		{Name: "toString", Length: 3, Fn: toString},
		{Name: "write", Length: 4, Fn: m.bufferWrite},
	}
	for _, x := range []struct {
		name string
		e    node.Encoding
	}{{"utf8", node.EncUTF8}, {"ucs2", node.EncUTF16}, {"latin1", node.EncLatin1}, {"ascii", node.EncASCII}, {"base64", node.EncBase64}, {"base64url", node.EncBase64URL}, {"hex", node.EncHex}} {
		funcs = append(funcs,
			engine.Func{Name: x.name + "Slice", Length: 2, Fn: func(c goja.FunctionCall) goja.Value {
				b := m.self(c)
				start, end := m.Integer(c.Argument(0), "start", 0, float64(len(b))), m.Integer(c.Argument(1), "end", 0, float64(len(b)))
				return m.Decode(part(b, int(start), int(end)), x.e)
			}},
			engine.Func{Name: x.name + "Write", Length: 3, Fn: func(c goja.FunctionCall) goja.Value {
				b := m.self(c)
				start := m.Index(orUndefined(c.Argument(1)), "offset", 0, len(b))
				length := orUndefined(c.Argument(2))
				if node.Absent(length) {
					length = m.VM.ToValue(len(b))
				}
				n := int(m.Integer(length, "length", 0, float64(len(b)-start)))
				return m.VM.ToValue(put(part(b, start, start+n), m.stringOf(c.Argument(0)), x.e))
			}})
	}
	return funcs
}

// stringOf is a string, or what String() makes of another value.
func (m *module) stringOf(v goja.Value) goja.String {
	if s, ok := v.(goja.String); ok {
		return s
	}
	return m.StringOf(node.OrUndefined(v).String())
}

// orUndefined is the operator ?? with undefined.
func orUndefined(v goja.Value) goja.Value {
	if v != nil && goja.IsNull(v) {
		return goja.Undefined()
	}
	return v
}

// put writes as much of a string as fits, whole characters only.
func put(dst []byte, s goja.String, e node.Encoding) int {
	data := node.Encode(s, e)
	n := min(len(data), len(dst))
	switch e {
	case node.EncUTF8:
		n = node.CutUTF8(data, len(dst))
	case node.EncUTF16:
		n &^= 1
	}
	return copy(dst, data[:n])
}

// bufferWrite is buf.write(string[, offset[, length]][, encoding]).
func (m *module) bufferWrite(c goja.FunctionCall) goja.Value {
	b := m.self(c)
	s := m.stringOf(c.Argument(0))
	offset, length, enc := c.Argument(1), c.Argument(2), c.Argument(3)
	switch {
	case node.Absent(offset): // what follows does not count
		length, enc = nil, nil
	case node.IsString(offset):
		offset, length, enc = nil, nil, offset
	case node.IsString(length):
		length, enc = nil, length
	}
	start := m.Index(offset, "offset", 0, len(b))
	n := min(m.Index(length, "length", len(b)-start, len(b)), len(b)-start)
	return m.VM.ToValue(put(b[start:start+n], s, m.NamedEncoding(enc)))
}
