package buffer

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/nodeapi/node"
)

// bufferNumbers are readUInt8 and its relatives; the prelude adds the spelling Uint.
func (m *module) bufferNumbers() []engine.Func {
	var funcs []engine.Func
	add := func(name string, length int, fn func(c goja.FunctionCall) goja.Value) {
		funcs = append(funcs, engine.Func{Name: name, Length: length, Fn: fn})
	}
	for _, order := range []struct {
		suffix string
		big    bool
	}{{"LE", false}, {"BE", true}} {
		for _, bits := range []int{8, 16, 32} {
			suffix := strconv.Itoa(bits) + order.suffix
			if bits == 8 {
				if order.big {
					continue
				}
				suffix = "8"
			}
			for _, k := range []struct {
				name   string
				signed bool
			}{{"UInt", false}, {"Int", true}} {
				x := integerField{bits / 8, k.signed, order.big}
				add("read"+k.name+suffix, 0, func(c goja.FunctionCall) goja.Value { return m.readInteger(c, x) })
				add("write"+k.name+suffix, 1, func(c goja.FunctionCall) goja.Value { return m.writeInteger(c, x, orZero(m.VM, c.Argument(1))) })
			}
		}
		for _, k := range []struct {
			name   string
			signed bool
		}{{"UInt", false}, {"Int", true}} {
			add("read"+k.name+order.suffix, 2, func(c goja.FunctionCall) goja.Value {
				if node.Absent(c.Argument(0)) {
					m.ThrowArgType("offset", "of type number", c.Argument(0))
				}
				x := integerField{m.fieldWidth(c.Argument(1)), k.signed, order.big}
				return m.readInteger(c, x)
			})
			add("write"+k.name+order.suffix, 3, func(c goja.FunctionCall) goja.Value {
				x := integerField{m.fieldWidth(c.Argument(2)), k.signed, order.big}
				return m.writeInteger(c, x, c.Argument(1))
			})
			name := "Big" + k.name + "64" + order.suffix
			x := integerField{8, k.signed, order.big}
			add("read"+name, 0, func(c goja.FunctionCall) goja.Value { return m.readBig(c, x) })
			add("write"+name, 1, func(c goja.FunctionCall) goja.Value { return m.writeBig(c, x) })
		}
		for _, k := range []struct {
			name string
			size int
		}{{"Float", 4}, {"Double", 8}} {
			x := integerField{k.size, false, order.big}
			add("read"+k.name+order.suffix, 0, func(c goja.FunctionCall) goja.Value {
				raw := x.get(m.field(c, orZero(m.VM, c.Argument(0)), x.size))
				if x.size == 4 {
					return m.VM.ToValue(float64(math.Float32frombits(uint32(raw))))
				}
				return m.VM.ToValue(math.Float64frombits(raw))
			})
			add("write"+k.name+order.suffix, 2, func(c goja.FunctionCall) goja.Value {
				f := c.Argument(0).ToFloat()
				raw := math.Float64bits(f)
				if x.size == 4 {
					raw = uint64(math.Float32bits(float32(f)))
				} else if math.IsNaN(f) {
					raw = 0x7ff8 << 48 // Go's own has a payload
				}
				return m.store(c, orZero(m.VM, c.Argument(1)), x, raw)
			})
		}
	}
	return funcs
}

// integerField is how a number lies in memory.
type integerField struct {
	size   int // bytes
	signed bool
	big    bool // most significant byte first
}

func (x integerField) get(b []byte) (v uint64) {
	for i := range b {
		if x.big {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}

func (x integerField) put(b []byte, v uint64) {
	for i := range b {
		if x.big {
			b[len(b)-1-i] = byte(v)
		} else {
			b[i] = byte(v)
		}
		v >>= 8
	}
}

func (m *module) fieldWidth(v goja.Value) int {
	if !isWhole(v) {
		m.ThrowRange("byteLength", "an integer", v)
	}
	if f := v.ToFloat(); f >= 1 && f <= 6 {
		return int(f)
	}
	m.ThrowRange("byteLength", ">= 1 and <= 6", v)
	return 0
}

func isWhole(v goja.Value) bool {
	return !node.Absent(v) && node.IsNumber(v) && v.ToFloat() == math.Floor(v.ToFloat())
}

// orZero is a default parameter.
func orZero(vm *goja.Runtime, v goja.Value) goja.Value {
	if node.Absent(v) {
		return vm.ToValue(0)
	}
	return v
}

// field is the memory of a number at an offset, checked in the reference's order
// and words: first that the offset lies in the buffer, then that the number does.
func (m *module) field(c goja.FunctionCall, offset goja.Value, size int) []byte {
	b := m.self(c)
	at := int(m.Integer(offset, "offset", 0, float64(len(b))))
	if at+size > len(b) {
		if len(b) < size {
			m.Throw("RangeError", "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds")
		}
		m.ThrowRange("offset", fmt.Sprintf(">= 0 and <= %d", len(b)-size), offset)
	}
	return b[at : at+size]
}

func (m *module) store(c goja.FunctionCall, offset goja.Value, x integerField, v uint64) goja.Value {
	b := m.field(c, offset, x.size)
	x.put(b, v)
	return m.VM.ToValue(node.ToInt64(offset) + int64(x.size))
}

func (m *module) readInteger(c goja.FunctionCall, x integerField) goja.Value {
	v := x.get(m.field(c, orZero(m.VM, c.Argument(0)), x.size))
	if x.signed {
		shift := 64 - 8*x.size
		return m.VM.ToValue(int64(v<<shift) >> shift)
	}
	return m.VM.ToValue(int64(v))
}

func (m *module) writeInteger(c goja.FunctionCall, x integerField, offset goja.Value) goja.Value {
	f := c.Argument(0).ToFloat()
	if x.size == 1 {
		m.Integer(offset, "offset", 0, float64(len(m.self(c))))
	}
	low, high := 0.0, math.Ldexp(1, 8*x.size)-1
	if x.signed {
		low, high = -math.Ldexp(1, 8*x.size-1), math.Ldexp(1, 8*x.size-1)-1
	}
	if f < low || f > high {
		must := fmt.Sprintf(">= %s and <= %s", node.Number(low), node.Number(high))
		if x.size > 4 {
			must = fmt.Sprintf(">= 0 and < 2 ** %d", 8*x.size)
			if x.signed {
				must = fmt.Sprintf(">= -(2 ** %d) and < 2 ** %d", 8*x.size-1, 8*x.size-1)
			}
		}
		m.ThrowRange("value", must, c.Argument(0))
	}
	if math.IsNaN(f) {
		f = 0
	}
	return m.store(c, offset, x, uint64(int64(f)))
}

// uint32 is the operator >>> 0.
func (m *module) uint32(v goja.Value) goja.Value {
	if _, isBig := node.BigOf(v); isBig {
		m.Throw("TypeError", "", "Cannot mix BigInt and other types, use explicit conversions")
	}
	f := orZero(m.VM, v).ToFloat()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	return m.VM.ToValue(int64(uint32(int64(math.Mod(math.Trunc(f), 1<<32)))))
}

func (m *module) readBig(c goja.FunctionCall, x integerField) goja.Value {
	v := x.get(m.field(c, m.uint32(c.Argument(0)), 8))
	if x.signed {
		return m.VM.ToValue(big.NewInt(int64(v)))
	}
	return m.VM.ToValue(new(big.Int).SetUint64(v))
}

func (m *module) writeBig(c goja.FunctionCall, x integerField) goja.Value {
	v, ok := node.BigOf(c.Argument(0))
	if !ok {
		m.Throw("TypeError", "", "Cannot mix BigInt and other types, use explicit conversions")
	}
	if x.signed && !v.IsInt64() {
		m.ThrowRange("value", ">= -(2n ** 63n) and < 2 ** 63n", c.Argument(0))
	}
	if !x.signed && !v.IsUint64() {
		m.ThrowRange("value", ">= 0n and < 2n ** 64n", c.Argument(0))
	}
	raw := v.Uint64()
	if x.signed {
		raw = uint64(v.Int64())
	}
	return m.store(c, orZero(m.VM, c.Argument(1)), x, raw)
}
